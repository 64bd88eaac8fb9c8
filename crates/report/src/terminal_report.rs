//! Pages for the terminal: the verdict first, then what it rests on.

use analysis::{BenchSamples, Effect, ExperimentResult, Fix, LadderRung, RunAnalysis, RungName};
use locale::{counted, said, say, text};
use record::{Direction, Plan};
use stats::Estimate;

use crate::shared_wording::{self, Ladder, Tone};
use crate::terminal_layout::{Ink, Page, Style, bar, left, right};
use crate::text_cleaning_and_width::{clean, shorten, width};
use crate::{bench_recipe_results, column_widths, factorial_experiment, quantity};

/// Causes that are shown: the later ones mostly follow from the first.
const CAUSES_MAX: usize = 3;
/// Fixes that are shown: more would not be read.
const FIXES_MAX: usize = 3;
/// Repetitions of one workload that get a row each; the others are in the run file.
const REPETITIONS_MAX: usize = 20;
/// Columns of a response's name in the pages of `tune`, at least.
const RESPONSE_COLUMNS_MIN: usize = 8;
/// Lines of a list that is read in passing; the others are in the report.
const LINES_MAX: usize = 6;
/// Columns of a cell of a table; a longer text ends in an ellipsis.
const CELL_COLUMNS_MAX: usize = 60;

/// The page of a run, by the command that made it.
#[must_use]
pub fn page(analysis: &RunAnalysis, style: Style) -> String {
    let mut page = Page::new(style);
    title(&mut page, analysis);
    let headline = shared_wording::headline(analysis);
    page.gap();
    page.paragraph(2, 2, &[(Ink::StrongToned(headline.tone), &headline.text)]);
    for alert in shared_wording::alerts(analysis) {
        page.gap();
        page.paragraph(
            2,
            4,
            &[
                (Ink::StrongToned(alert.tone), "!"),
                (Ink::Toned(alert.tone), &alert.text),
            ],
        );
    }
    match analysis.plan {
        Plan::Check { .. } => check(&mut page, analysis),
        Plan::Tune { .. } => tune(&mut page, analysis),
        Plan::Bench { .. } => bench(&mut page, analysis),
        Plan::Experiment { .. } => {}
    }
    let tables = match &analysis.design {
        Some(result) => factorial_experiment::terminal(&mut page, result, style),
        None => String::new(),
    };
    foot(&mut page, analysis);
    format!("{}{tables}", page.finish())
}

/// Columns between two texts beside each other in a table, and before the first and behind the last.
const BETWEEN: usize = 3;
const AROUND: usize = 2;

/// A table for lists such as those of `linerate changes` and `linerate undo`.
#[must_use]
pub fn table(headers: &[&str], rows: &[Vec<String>], style: Style) -> String {
    let cell = |text: &str| shorten(&clean(text), CELL_COLUMNS_MAX);
    let line = comfy_table::LineStyle::none().fill('─').junction('─');
    let borders = comfy_table::TableStyle::new().header_separator(line);
    let mut table = comfy_table::Table::new();
    table
        .load_style(borders)
        .set_content_arrangement(comfy_table::ContentArrangement::Disabled);
    let headers: Vec<String> = headers.iter().map(|text| cell(text)).collect();
    let rows = rows
        .iter()
        .map(|row| row.iter().map(|text| cell(text)).collect());
    let all: Vec<Vec<String>> = std::iter::once(headers).chain(rows).collect();
    let count = all.iter().map(Vec::len).max().unwrap_or(0);
    let lost = BETWEEN * count.saturating_sub(1) + AROUND;
    let widths = column_widths::widths(&all, style.columns().saturating_sub(lost));
    let mut lines = all.iter().map(|row| {
        let cells = row.iter().zip(&widths);
        cells
            .map(|(text, width)| column_widths::wrap(text, *width))
            .collect::<Vec<String>>()
    });
    if let Some(headers) = lines.next() {
        table.set_header(headers);
    }
    for row in lines {
        table.add_row(row);
    }
    let mut text = String::new();
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn title(page: &mut Page, analysis: &RunAnalysis) {
    let date = shared_wording::date(analysis);
    let name = format!("linerate {}", shared_wording::command(&analysis.plan));
    let room = page.columns().saturating_sub(name.len() + date.len() + 4);
    let subject = left(&shared_wording::subject(&analysis.plan), room);
    page.row(&[
        (Ink::Strong, &name),
        (Ink::Plain, "  "),
        (Ink::Plain, &subject),
        (Ink::Plain, "  "),
        (Ink::Faint, &date),
    ]);
}

fn check(page: &mut Page, analysis: &RunAnalysis) {
    ladder(page, analysis);
    causes(page, analysis);
    fixes(page, analysis);
    list(
        page,
        "heading.not-measured",
        &shared_wording::not_measured(analysis),
    );
}

fn ladder(page: &mut Page, analysis: &RunAnalysis) {
    let ladders = shared_wording::ladders(analysis);
    let rates = ladders
        .iter()
        .flat_map(|ladder| &ladder.rungs)
        .filter_map(|rung| rung.rate.as_ref());
    let longest = rates
        .map(|rate| rate.value)
        .filter(|rate| rate.is_finite())
        .fold(0.0, f64::max);
    let loss = analysis
        .diagnosis
        .as_ref()
        .and_then(|found| found.first_loss);
    for ladder in &ladders {
        page.gap();
        ladder_heading(page, ladder);
        for rung in &ladder.rungs {
            ladder_rung(page, rung, longest, rung_ink(rung, loss));
        }
    }
    if !ladders.is_empty() {
        page.gap();
        for reason in shared_wording::ceilings(analysis) {
            page.paragraph(2, 4, &[(Ink::Faint, &reason)]);
        }
        sessions(page, analysis);
        let lines = shared_wording::idle_channels(analysis).into_iter();
        for line in lines.chain(shared_wording::files(analysis)) {
            page.paragraph(2, 4, &[(Ink::Faint, &line)]);
        }
    }
}

fn sessions(page: &mut Page, analysis: &RunAnalysis) {
    for session in shared_wording::sessions(analysis) {
        page.paragraph(2, 4, &[(Ink::Faint, &session)]);
    }
}

/// Columns of a rung's name, of its rate, of its rate in bits, of its share, of its interval.
const RUNG_COLUMNS: [usize; 5] = [9, 11, 12, 11, 20];

/// Columns left for the bar, and whether the interval still has its place beside it.
const fn bar_columns(columns: usize) -> (usize, bool) {
    let [name, rate, bits, share, interval] = RUNG_COLUMNS;
    let wide = 2 + name + rate + bits + share + interval + 4;
    let narrow = 2 + name + rate + 1;
    if columns >= wide + 12 {
        (columns - wide, true)
    } else {
        (columns - narrow, false)
    }
}

fn ladder_heading(page: &mut Page, ladder: &Ladder<'_>) {
    let [name, rate, bits, share, _] = RUNG_COLUMNS;
    let (bar, is_wide) = bar_columns(page.columns());
    let heading = shared_wording::direction_explained(ladder.direction);
    if is_wide {
        let heading = left(&heading, 2 + name + bar + 1 + rate + 1 + bits);
        page.row(&[
            (Ink::Strong, &heading),
            (Ink::Faint, &right(&text("of-ceiling"), share)),
            (
                Ink::Faint,
                &format!("  {}", shared_wording::interval_heading(ladder)),
            ),
        ]);
    } else {
        page.row(&[(Ink::Strong, &heading)]);
    }
}

/// The rung that loses stands out where there is colour; the headline names it anyway.
fn rung_ink(rung: &LadderRung, loss: Option<(RungName, Direction)>) -> Ink {
    match rung.rung {
        _ if loss == Some((rung.rung, rung.direction)) => Ink::Toned(Tone::Bad),
        RungName::Ceiling => Ink::Faint,
        _ => Ink::Plain,
    }
}

fn ladder_rung(page: &mut Page, rung: &LadderRung, longest: f64, ink: Ink) {
    let [name_columns, rate_columns, bits_columns, share_columns, _] = RUNG_COLUMNS;
    let (columns, is_wide) = bar_columns(page.columns());
    let name = format!("  {}", left(&shared_wording::rung(rung.rung), name_columns));
    let Some(rate) = &rung.rate else {
        page.row(&[(Ink::Plain, &name), (Ink::Faint, &text("not-measured"))]);
        return;
    };
    let bar = bar(rate.value / longest, columns);
    let number = format!(" {}", right(&quantity::estimate(rate), rate_columns));
    let share = rung.of_ceiling.as_ref();
    let share = share.map_or_else(String::new, |share| quantity::share(share.value));
    let interval =
        shared_wording::interval_of(rate).unwrap_or_else(|| shared_wording::no_interval(rung));
    let bits = quantity::bit_rate(rate.value);
    let mut row = vec![
        (Ink::Plain, name.as_str()),
        (ink, &bar),
        (Ink::Strong, &number),
    ];
    if is_wide {
        let bits = format!(" {}", right(&bits, bits_columns));
        let share = right(&share, share_columns);
        let interval = format!("  {interval}");
        row.extend([
            (Ink::Faint, bits.as_str()),
            (Ink::Plain, &share),
            (Ink::Faint, &interval),
        ]);
        page.row(&row);
    } else {
        page.row(&row);
        let share = rung.of_ceiling.as_ref().map(shared_wording::of_ceiling);
        let share = share.unwrap_or_default();
        let details = [
            (Ink::Faint, bits.as_str()),
            (Ink::Plain, &share),
            (Ink::Faint, &interval),
        ];
        page.paragraph(2 + name_columns, 2 + name_columns, &details);
    }
}

fn causes(page: &mut Page, analysis: &RunAnalysis) {
    let Some(diagnosis) = &analysis.diagnosis else {
        return;
    };
    page.heading(&text("heading.why"));
    if diagnosis.causes.is_empty() {
        page.paragraph(2, 2, &[(Ink::Plain, &shared_wording::no_cause(diagnosis))]);
    }
    for cause in diagnosis.causes.iter().take(CAUSES_MAX) {
        let trust = format!("({})", shared_wording::state(cause));
        page.paragraph(
            2,
            4,
            &[
                (Ink::Plain, "-"),
                (Ink::Plain, &said(&cause.text)),
                (Ink::Faint, &trust),
            ],
        );
    }
    let more = diagnosis.causes.len().saturating_sub(CAUSES_MAX);
    if more > 0 {
        let more = counted("more.in-report", more);
        page.paragraph(2, 4, &[(Ink::Faint, "-"), (Ink::Faint, &more)]);
    }
    for remark in &diagnosis.remarks {
        page.paragraph(
            2,
            4,
            &[(Ink::Faint, "-"), (Ink::Faint, &said(&remark.text))],
        );
    }
}

fn fixes(page: &mut Page, analysis: &RunAnalysis) {
    let Some(diagnosis) = analysis
        .diagnosis
        .as_ref()
        .filter(|found| !found.fixes.is_empty())
    else {
        return;
    };
    page.heading(&text("heading.fixes"));
    for (index, fix) in diagnosis.fixes.iter().take(FIXES_MAX).enumerate() {
        one_fix(page, index + 1, fix, analysis);
    }
    let more = diagnosis.fixes.len().saturating_sub(FIXES_MAX);
    if more > 0 {
        page.paragraph(5, 5, &[(Ink::Faint, &counted("more.in-report", more))]);
    }
    if diagnosis.fixes.iter().any(|fix| fix.blocked.is_none()) {
        let command = shared_wording::command_line("tune", analysis);
        let prove = said(&say("fix-row.tune").with("command", command));
        page.paragraph(2, 4, &[(Ink::Faint, &prove)]);
    }
}

fn one_fix(page: &mut Page, number: usize, fix: &Fix, analysis: &RunAnalysis) {
    page.paragraph(
        2,
        5,
        &[
            (Ink::Strong, &format!("{number}.")),
            (Ink::Plain, &said(&fix.text)),
        ],
    );
    let predicted = format!("{};", shared_wording::prediction(fix));
    page.paragraph(
        5,
        5,
        &[
            (Ink::Toned(Tone::Good), &predicted),
            (Ink::Faint, &text("fix-row.disturbs")),
            (Ink::Faint, &said(&fix.disturbs)),
        ],
    );
    for command in shared_wording::fix_commands(fix, analysis) {
        page.paragraph(5, 7, &[(Ink::Plain, "$"), (Ink::Strong, &command)]);
    }
    if let Some(reason) = shared_wording::cannot_be_tried(fix) {
        page.paragraph(
            5,
            5,
            &[
                (Ink::Toned(Tone::Doubtful), &text("fix-row.cannot-be-tried")),
                (Ink::Plain, &reason),
            ],
        );
    }
}

fn tune(page: &mut Page, analysis: &RunAnalysis) {
    let noises: Vec<_> = shared_wording::noises(analysis).collect();
    if !noises.is_empty() {
        page.heading(&text("heading.noise"));
        for (band, noise) in noises {
            let response = format!(" {}", shared_wording::direction(noise.response));
            page.labelled(
                &response,
                response_columns(),
                &[(Ink::Plain, &shared_wording::noise(noise, band))],
            );
        }
    }
    for (index, experiment) in shared_wording::candidates(analysis).enumerate() {
        candidate(page, index + 1, experiment);
    }
    list(
        page,
        "heading.screened-out",
        &shared_wording::screened_out(analysis),
    );
    list(
        page,
        "heading.not-tried",
        &shared_wording::not_tried(analysis),
    );
    page.heading(&text("heading.left-changed"));
    for line in shared_wording::left_changed(analysis) {
        page.paragraph(2, 4, &[(Ink::Plain, &line)]);
    }
    ladder(page, analysis);
    list(
        page,
        "heading.not-measured",
        &shared_wording::not_measured(analysis),
    );
}

fn candidate(page: &mut Page, number: usize, experiment: &ExperimentResult) {
    page.gap();
    page.paragraph(
        0,
        3,
        &[(
            Ink::Strong,
            &format!("{number}. {}", shared_wording::question(experiment)),
        )],
    );
    let effects = shared_wording::final_effects(experiment);
    if effects.is_empty() {
        page.paragraph(
            3,
            3,
            &[(Ink::Toned(Tone::Doubtful), &text("effect.nothing-compared"))],
        );
    }
    for effect in effects {
        one_effect(page, experiment, effect);
    }
    for caveat in &experiment.caveats {
        page.paragraph(
            3,
            5,
            &[
                (Ink::Toned(Tone::Doubtful), "!"),
                (Ink::Toned(Tone::Doubtful), &said(caveat)),
            ],
        );
    }
    let decision = shared_wording::decision(experiment);
    page.paragraph(
        3,
        6,
        &[
            (Ink::Plain, "->"),
            (Ink::Toned(decision.tone), &decision.text),
        ],
    );
}

/// Columns of a response's name, with what is around it.
fn response_columns() -> usize {
    let names = shared_wording::DIRECTIONS
        .map(|direction| width(&shared_wording::direction(direction)) + 2);
    names.into_iter().fold(RESPONSE_COLUMNS_MIN, usize::max)
}

fn one_effect(page: &mut Page, experiment: &ExperimentResult, effect: &Effect) {
    let words = shared_wording::effect_words(effect, experiment.question.band);
    let tone = shared_wording::verdict_tone(effect.verdict);
    let response = format!(" {}", shared_wording::direction(effect.response));
    let medians = shared_wording::medians(experiment, effect).map(|medians| format!("({medians})"));
    page.labelled(
        &response,
        response_columns(),
        &[
            (Ink::StrongToned(tone), &words.verdict),
            (Ink::Plain, &words.how_much),
            (Ink::Faint, &medians.unwrap_or_default()),
        ],
    );
    if let Some(paid) = shared_wording::processor_time(experiment, effect) {
        page.labelled("", response_columns(), &[(Ink::Faint, &paid)]);
    }
}

fn bench(page: &mut Page, analysis: &RunAnalysis) {
    if let Some(recipe) = bench_recipe_results::of(analysis) {
        bench_recipe_results::terminal(page, recipe, analysis);
        if !analysis.sessions.is_empty() {
            page.gap();
            sessions(page, analysis);
        }
        return;
    }
    for bench in &analysis.bench {
        bench_workload(page, bench);
    }
    if !analysis.sessions.is_empty() {
        page.gap();
        sessions(page, analysis);
    }
}

fn bench_workload(page: &mut Page, bench: &BenchSamples) {
    page.gap();
    page.paragraph(
        0,
        2,
        &[(Ink::Strong, &shared_wording::workload(&bench.workload))],
    );
    let longest = bench
        .rates
        .iter()
        .copied()
        .filter(|rate| rate.is_finite())
        .fold(0.0, f64::max);
    let columns = page.columns().saturating_sub(2 + 4 + 13 + 1 + 14).min(50);
    for (index, rate) in bench.rates.iter().take(REPETITIONS_MAX).enumerate() {
        page.row(&[
            (
                Ink::Faint,
                &format!("  {} ", right(&(index + 1).to_string(), 3)),
            ),
            (Ink::Plain, &right(&quantity::rate(*rate), 12)),
            (Ink::Faint, &right(&quantity::bit_rate(*rate), 13)),
            (Ink::Plain, "  "),
            (Ink::Plain, &bar(rate / longest, columns)),
        ]);
    }
    let more = bench.rates.len().saturating_sub(REPETITIONS_MAX);
    if more > 0 {
        page.row(&[(
            Ink::Faint,
            &format!("      {}", counted("more.in-run-file", more)),
        )]);
    }
    bench_summary(page, bench);
    for failure in &bench.failures {
        page.paragraph(
            2,
            4,
            &[
                (Ink::Toned(Tone::Bad), &text("bench.failed")),
                (Ink::Plain, &said(failure)),
            ],
        );
    }
}

fn bench_summary(page: &mut Page, bench: &BenchSamples) {
    let Some(median) = &bench.median else {
        let none = format!("  {}", text("bench.no-repetition"));
        page.row(&[(Ink::Toned(Tone::Doubtful), &none)]);
        return;
    };
    let mut facts = vec![(Ink::StrongToned(Tone::Neutral), with_confidence(median))];
    let client = bench.cpu_per_byte.as_ref();
    let client = client.map(quantity::estimate_with_interval);
    let server = bench.server_cpu_per_byte.as_ref();
    let server = server.map(|cpu| {
        let cost = quantity::estimate_with_interval(cpu);
        said(&say("processor-cost.server").with("cost", cost))
    });
    let resent = bench.retransmits;
    let resent = resent.map(|count| said(&say("count.resent").count("count", count)));
    let more = [client, server, resent].into_iter().flatten();
    facts.extend(more.map(|fact| (Ink::Plain, format!("· {fact}"))));
    let facts: Vec<(Ink, &str)> = facts
        .iter()
        .map(|(ink, text)| (*ink, text.as_str()))
        .collect();
    page.paragraph(
        2,
        4,
        &[
            &[(Ink::Strong, text("bench.median").as_str())],
            facts.as_slice(),
        ]
        .concat(),
    );
}

fn with_confidence(estimate: &Estimate) -> String {
    let number = quantity::estimate_with_interval(estimate);
    match estimate.confidence.filter(|_| estimate.interval.is_some()) {
        Some(confidence) if confidence.is_finite() => {
            let sentence = say("bench.at-confidence").with("estimate", number);
            said(&sentence.with("confidence", quantity::share(confidence)))
        }
        _ => said(&say("bench.few-repetitions").with("estimate", number)),
    }
}

fn foot(page: &mut Page, analysis: &RunAnalysis) {
    let known = shared_wording::to_know(analysis);
    short_list(page, "heading.to-know", &known.lines, known.near);
}

fn list(page: &mut Page, heading: &'static str, lines: &[String]) {
    short_list(page, heading, lines, lines.len());
}

/// The first `near` lines, as far as they are read, and how many more there are; nothing where all of it is for the report.
fn short_list(page: &mut Page, heading: &'static str, lines: &[String], near: usize) {
    let shown = near.min(LINES_MAX);
    if shown == 0 {
        return;
    }
    page.heading(&text(heading));
    for line in lines.iter().take(shown) {
        page.paragraph(2, 4, &[(Ink::Plain, "-"), (Ink::Plain, line)]);
    }
    let more = lines.len() - shown;
    if more > 0 {
        let more = counted("more.details", more);
        page.paragraph(2, 4, &[(Ink::Faint, "-"), (Ink::Faint, &more)]);
    }
}
