//! One HTML file: no script, no request to any network, readable on a phone, in the dark and on paper.

use analysis::{Diagnosis, Effect, ExperimentResult, Fix, LadderRung, RunAnalysis, RungName};
use locale::{Language, counted, said, say, text};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::{Arm, Direction, HostFacts, LinkState, Nic, Phase};

use crate::page::finite_max;
use crate::plot;
use crate::text::{clean, clean_lines, shorten};
use crate::view::{self, Ladder, Said, Tone};
use crate::{design, quantity, recipe};

pub(crate) const STYLE: &str = include_str!("style.css");
/// Even if a name found a way into the markup, nothing could be loaded or run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// A longer title, made of somebody's name, would push everything else off the screen.
const TITLE_COLUMNS_MAX: usize = 90;
/// Offloads that decide how many packets the processor sees; the others are noise to a reader.
const OFFLOADS: [(&str, &str); 4] = [
    ("tcp-segmentation-offload", "TSO"),
    ("generic-segmentation-offload", "GSO"),
    ("generic-receive-offload", "GRO"),
    ("large-receive-offload", "LRO"),
];

/// A part of a page that tells a story of several runs.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// Its heading.
    pub heading: String,
    /// Paragraphs at its begin; `` `literals` `` are set as such.
    pub text: Vec<String>,
    /// What it shows.
    pub content: Content<'a>,
}

/// What a section shows.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    /// Its paragraphs only.
    Text,
    /// A whole run.
    Run(&'a RunAnalysis),
    /// A table, such as what an undo read back.
    Table {
        /// Heads of the columns.
        headers: Vec<String>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
}

/// The page of one run.
#[must_use]
pub fn html(analysis: &RunAnalysis) -> String {
    let title = said(
        &say("page.title")
            .with("command", view::command(&analysis.plan))
            .with("subject", view::subject(&analysis.plan)),
    );
    let body = html! {
        main { section { (run(analysis, "run")) } }
    };
    document(&title, Some(&view::date(analysis)), &html! {}, &body)
}

/// One page of several runs and what belongs to them, in the order of the story.
#[must_use]
pub fn html_story(title: &str, sections: &[Section<'_>]) -> String {
    let first = sections.iter().find_map(|section| match section.content {
        Content::Run(analysis) => Some(view::date(analysis)),
        Content::Text | Content::Table { .. } => None,
    });
    let glance = html! {
        ol.glance {
            @for (index, section) in sections.iter().enumerate() {
                li {
                    a href={ "#part-" (index + 1) } { (section.heading) }
                    (glance(section))
                }
            }
        }
    };
    let body = html! {
        main {
            @for (index, section) in sections.iter().enumerate() {
                @let id = format!("part-{}", index + 1);
                section id=(id) {
                    h2 { (index + 1) ". " (section.heading) }
                    @for text in &section.text { p { (prose(text)) } }
                    @match &section.content {
                        Content::Text => {}
                        Content::Run(analysis) => (run(analysis, &id)),
                        Content::Table { headers, rows } => (plain_table(headers, rows)),
                    }
                }
            }
        }
    };
    document(title, first.as_deref(), &glance, &body)
}

fn glance(section: &Section<'_>) -> Markup {
    let said = match section.content {
        Content::Run(analysis) => view::headline(analysis).text,
        Content::Text | Content::Table { .. } => section.text.first().cloned().unwrap_or_default(),
    };
    html! { @if !said.is_empty() { br; (prose(&said)) } }
}

fn document(title: &str, date: Option<&str>, lead: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang=(Language::current().tag()) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "linerate: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p.brand { "linerate" @if let Some(date) = date { " · " (date) } }
                    h1 { (shorten(&clean(title), TITLE_COLUMNS_MAX)) }
                    (lead)
                }
                (body)
                footer { (text("page.footer")) }
            }
        }
    };
    clean_lines(&page.into_string())
}

/// Text whose units stay on the line of their numbers.
fn glued(text: &str) -> String {
    [" %", " MB/s", " Mbit/s", " Gbit/s"]
        .iter()
        .fold(text.to_owned(), |text, unit| {
            text.replace(unit, &unit.replace(' ', "\u{a0}"))
        })
}

/// Text with its `` `literals` `` set as such.
fn prose(text: &str) -> Markup {
    let text = glued(text);
    let parts: Vec<&str> = text.split('`').collect();
    let pairs = parts.len() / 2;
    html! {
        @for (index, part) in parts.iter().enumerate() {
            @if index % 2 == 1 && index / 2 < pairs && index + 1 < parts.len() { code { (part) } }
            @else if index % 2 == 1 { "`" (part) }
            @else { (part) }
        }
    }
}

const fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Doubtful => "doubtful",
        Tone::Neutral => "neutral",
    }
}

fn run(analysis: &RunAnalysis, id: &str) -> Markup {
    let said = view::headline(analysis);
    html! {
        p class={ "verdict " (tone(said.tone)) } { (prose(&said.text)) }
        @for alert in view::alerts(analysis) {
            p class={ "alert " (tone(alert.tone)) } role="note" { (prose(&alert.text)) }
        }
        (tiles(analysis))
        (ladder_part(analysis, id))
        @if let Some(diagnosis) = &analysis.diagnosis { (diagnosis_part(diagnosis, analysis)) }
        @for part in crate::detail::all(analysis) { (titled_list(&part.title, &part.lines)) }
        @for (index, experiment) in view::candidates(analysis).enumerate() {
            (experiment_part(experiment, index + 1, id))
        }
        @for (index, experiment) in analysis.experiments.iter().filter(|one| view::is_baseline(one)).enumerate() {
            (baseline_part(experiment, &format!("{id}-baseline-{}", index + 1)))
        }
        (titled_list(&text("heading.screened-out"), &view::screened_out(analysis)))
        (titled_list(&text("heading.not-tried"), &view::not_tried(analysis)))
        @if let Some(result) = &analysis.design { (design::html(result, id)) }
        (bench_part(analysis, id))
        @if !analysis.experiments.is_empty() {
            h3 { (text("heading.left-changed")) }
            (list(&view::left_changed(analysis)))
        }
        (titled_list(&text("heading.not-measured"), &view::not_measured(analysis)))
        (titled_list(&text("heading.to-know"), &view::to_know(analysis).lines))
        div.group {
            (hosts(&analysis.facts))
            (method(analysis))
        }
    }
}

/// The few numbers that are read first.
fn tiles(analysis: &RunAnalysis) -> Markup {
    let rungs = analysis
        .ladder
        .iter()
        .filter(|rung| rung.rung == RungName::Share);
    html! {
        div.tiles {
            @for rung in rungs {
                @let name = view::rung_in(rung.rung, rung.direction);
                @let share = rung.of_ceiling.as_ref().map(view::of_ceiling);
                @let figure = rung.rate.as_ref().map_or_else(|| text("not-measured"), quantity::estimate);
                (tile("", &name, &figure, &share.unwrap_or_default()))
            }
            @for experiment in view::kept(analysis) {
                @for effect in view::final_effects(experiment) {
                    @let name = format!("{}, {}", view::direction(effect.response), experiment.question.change());
                    (tile(plot::verdict_class(effect.verdict), &name, &quantity::estimate(&effect.ratio), &below_figure(experiment, effect)))
                }
            }
            // A recipe has too many tests for tiles, and its headline names the best.
            @for bench in analysis.bench.iter().filter(|bench| bench.test.is_none()) {
                @if let Some(median) = &bench.median {
                    @let bits = quantity::bit_rate(median.value);
                    (tile("", &view::workload_short(&bench.workload), &quantity::estimate(median), &bits))
                }
            }
        }
    }
}

fn tile(class: &str, name: &str, figure: &str, beside: &str) -> Markup {
    html! {
        div class={ "tile " (class) } {
            span.name { (name) }
            span.figure { (figure) }
            span.beside { (beside) }
        }
    }
}

/// What stands below the figure of a tile: a colour alone would not tell that it is open.
fn below_figure(experiment: &ExperimentResult, effect: &Effect) -> String {
    let medians = medians(experiment, effect);
    match effect.verdict {
        stats::Verdict::Undecided => said(&say("effect.cannot-be-told").with("medians", medians)),
        _ => medians,
    }
}

fn medians(experiment: &ExperimentResult, effect: &Effect) -> String {
    glued(&view::medians(experiment, effect).unwrap_or_default()).replace("->", "→")
}

/// What the scale of the ladders must hold: the highest rate, or end of an interval.
pub(crate) fn longest_rate(ladders: &[Ladder<'_>]) -> f64 {
    let rungs = ladders.iter().flat_map(|ladder| &ladder.rungs);
    let rates = rungs.filter_map(|rung| rung.rate.as_ref());
    finite_max(rates.flat_map(|rate| [rate.value, rate.interval.map_or(0.0, |[_, high]| high)]))
}

fn ladder_part(analysis: &RunAnalysis, id: &str) -> Markup {
    let ladders = view::ladders(analysis);
    let loss = analysis
        .diagnosis
        .as_ref()
        .and_then(|diagnosis| diagnosis.first_loss);
    let longest = longest_rate(&ladders);
    html! {
        @if !ladders.is_empty() {
            h3 { (text("heading.rates")) }
            div.pair {
                @for ladder in &ladders {
                    @let loses = loss.filter(|(_, way)| *way == ladder.direction).map(|(rung, _)| rung);
                    figure {
                        figcaption { b { (view::direction_explained(ladder.direction)) } (text("page.rate-and-share")) }
                        (plot::ladder(ladder, longest, loses, &format!("{id}-ladder-{}", ladder.direction.as_str())))
                    }
                }
            }
            (ladder_table(&ladders))
            @for reason in view::ceiling_reasons(analysis) { p.quiet.small { (prose(&reason)) } }
            @for session in view::sessions(analysis) { p.quiet.small { (prose(&session)) } }
        }
    }
}

fn ladder_table(ladders: &[Ladder<'_>]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th { (text("column.rung")) } th.n { (text("column.rate")) } th.n { (text("column.interval")) } th.n { (text("column.bits")) }
                        th.n { (text("column.of-ceiling")) } th.n { (text("column.of-above")) } th.n { (text("column.confidence")) } th.n { (text("column.trials")) }
                    }
                }
                tbody {
                    @for rung in ladders.iter().flat_map(|ladder| &ladder.rungs) { (ladder_row(rung)) }
                }
            }
        }
    }
}

fn ladder_row(rung: &LadderRung) -> Markup {
    let share = |estimate: &Option<stats::Estimate>| {
        estimate.as_ref().map(|share| quantity::share(share.value))
    };
    let name = view::rung_in(rung.rung, rung.direction);
    let is_computed = rung.rung == RungName::Ceiling;
    html! {
        tr {
            td.w { (name) }
            @if let Some(rate) = &rung.rate {
                td.n { (quantity::estimate(rate)) }
                td.n { (quantity::interval_with_unit(rate).unwrap_or_else(|| view::no_interval(rung))) }
                td.n { (quantity::bit_rate(rate.value)) }
                td.n { (share(&rung.of_ceiling).unwrap_or_default()) }
                td.n { @if !is_computed { (share(&rung.of_above).unwrap_or_default()) } }
                td.n { (confidence(rate)) }
                td.n { @if !is_computed { (rate.n) } }
            } @else {
                td colspan="7" { (text("not-measured")) }
            }
        }
    }
}

fn confidence(estimate: &stats::Estimate) -> String {
    match estimate
        .confidence
        .filter(|_| quantity::finite_interval(estimate).is_some())
    {
        Some(confidence) => quantity::share(confidence),
        None => String::new(),
    }
}

fn diagnosis_part(diagnosis: &Diagnosis, analysis: &RunAnalysis) -> Markup {
    html! {
        h3 { (text("heading.why")) }
        @if diagnosis.causes.is_empty() { p { (view::no_cause(diagnosis)) } }
        @if !diagnosis.causes.is_empty() || !diagnosis.remarks.is_empty() {
            ul {
                @for cause in &diagnosis.causes {
                    li { (prose(&said(&cause.text))) " " span.quiet { "(" (view::state(cause)) ")" } }
                }
                @for remark in &diagnosis.remarks { li.quiet { (prose(&said(&remark.text))) } }
            }
        }
        @if !diagnosis.fixes.is_empty() {
            h3 { (text("heading.fixes")) }
            ol.fixes { @for fix in &diagnosis.fixes { (fix_part(fix, analysis)) } }
            p.small { (prose(&said(&say("fix-row.tune-explained").with("command", view::command_line("tune", analysis))))) }
        }
    }
}

fn fix_part(fix: &Fix, analysis: &RunAnalysis) -> Markup {
    let settings = view::setting_lines(&fix.level);
    html! {
        li {
            div.what { (prose(&said(&fix.text))) }
            div { span.good-word { (view::prediction(fix)) } span.quiet { " · " (text("fix-row.disturbs")) " " (prose(&said(&fix.disturbs))) } }
            @for command in view::fix_commands(fix, analysis) { div { code { (command) } } }
            @if let Some(reason) = view::cannot_be_tried(fix) {
                div { span.doubtful-word { (text("fix-row.cannot-be-tried")) " " } (prose(&reason)) }
            }
            @if !settings.is_empty() {
                div.small.quiet { (text("fix-row.sets")) " " @for (index, line) in settings.iter().enumerate() { @if index > 0 { "; " } (prose(line)) } }
            }
        }
    }
}

fn experiment_part(experiment: &ExperimentResult, number: usize, id: &str) -> Markup {
    let id = format!("{id}-experiment-{number}");
    let decision = view::decision(experiment);
    html! {
        article {
            h3 { (prose(&said(&say("page.experiment").with("number", number.to_string()).with("question", view::question(experiment))))) }
            (effect_list(experiment))
            @for caveat in &experiment.caveats { p.alert.doubtful role="note" { (prose(&said(caveat))) } }
            p { (sentence(&decision)) }
            @if let Some(reason) = view::full_reason(experiment) { p.small.quiet { (text("decision.in-full")) " " (prose(reason)) } }
            (effects_part(experiment, &id))
            (trials_part(experiment, &id))
        }
    }
}

/// The baseline against itself: what a difference must exceed to be seen.
fn baseline_part(experiment: &ExperimentResult, id: &str) -> Markup {
    html! {
        article {
            h3 { (said(&say("page.noise").with("question", view::question(experiment)))) }
            ul.effects {
                @for noise in &experiment.noise {
                    @let class = if noise.alarm { "bad-word" } else { "" };
                    li { b { (view::direction(noise.response)) } span class=(class) { (prose(&view::noise(noise, experiment.question.band))) } }
                }
            }
            @for caveat in &experiment.caveats { p.alert.doubtful role="note" { (prose(&said(caveat))) } }
            (effects_part(experiment, id))
            (trials_part(experiment, id))
        }
    }
}

fn effects_part(experiment: &ExperimentResult, id: &str) -> Markup {
    html! {
        @if let Some(plot) = plot::effects(experiment, &format!("{id}-effects")) {
            figure {
                figcaption { b { (text("column.effect")) } (text("page.effect")) }
                p.legend {
                    span { span.swatch {} (said(&say("page.band").with("band", quantity::round_share(experiment.question.band)))) }
                    @if !view::is_baseline(experiment) { span { (text("page.first-look")) } span { (text("page.counts")) } }
                }
                (plot)
            }
            (effect_table(experiment))
        }
    }
}

fn sentence(said: &Said) -> Markup {
    html! {
        @match said.text.split_once(": ") {
            Some((head, rest)) => { span class={ (tone(said.tone)) "-word" } { (head) } ": " (prose(rest)) }
            None => { span class={ (tone(said.tone)) "-word" } { (said.text) } }
        }
    }
}

fn effect_list(experiment: &ExperimentResult) -> Markup {
    let effects = view::final_effects(experiment);
    html! {
           @if effects.is_empty() { p { span.doubtful-word { (text("effect.nothing-compared")) } } }
           ul.effects {
               @for effect in effects {
                   @let words = view::effect_words(effect, experiment.question.band);
                   li {
                       b { (view::direction(effect.response)) }
                       span { span class={ (plot::verdict_class(effect.verdict)) "-word" } { (words.verdict) } " " (words.how_much)
                       span.quiet { " · " (medians(experiment, effect)) @if let Some(paid) = view::processor_time(experiment, effect) { " · " (paid) } }
    }
                   }
               }
           }
       }
}

fn effect_table(experiment: &ExperimentResult) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th { (text("column.response")) } th { (text("column.part")) } th.n { (text("column.b-over-a")) } th.n { (text("column.interval")) }
                        th.n { (text("column.confidence")) } th.n { (text("column.blocks")) } th { (text("column.verdict")) }
                    }
                }
                tbody {
                    @for noise in &experiment.noise {
                        @let verdict = match (noise.alarm, view::is_unsteady(noise, experiment.question.band)) {
                            (true, _) => "noise-verdict.alarm",
                            (false, true) => "noise-verdict.unsteady",
                            (false, false) => "noise-verdict.steady",
                        };
                        (effect_cells(&view::direction(noise.response), &view::phase(Phase::SameAgainstSame), &noise.ratio, &text(verdict)))
                    }
                    @for effect in &experiment.effects {
                        (effect_cells(&view::direction(effect.response), &view::judged(effect), &effect.ratio, &view::verdict(effect.verdict)))
                    }
                }
            }
        }
    }
}

fn effect_cells(response: &str, part: &str, ratio: &stats::Estimate, verdict: &str) -> Markup {
    html! {
        tr {
            td.w { (response) } td.w { (part) }
            td.n { (quantity::estimate(ratio)) }
            td.n { (quantity::interval(ratio).unwrap_or_else(|| text("interval.few-blocks"))) }
            td.n { (confidence(ratio)) } td.n { (ratio.n) } td.w { (verdict) }
        }
    }
}

fn trials_part(experiment: &ExperimentResult, id: &str) -> Markup {
    let plots: Vec<(Direction, Markup)> = view::DIRECTIONS
        .into_iter()
        .filter_map(|way| {
            Some((
                way,
                plot::trials(experiment, way, &format!("{id}-trials-{}", way.as_str()))?,
            ))
        })
        .collect();
    let cut = view::DIRECTIONS
        .into_iter()
        .any(|way| plot::trials_leave_out_zero(experiment, way));
    html! {
        @if !plots.is_empty() {
            h4 { (text("heading.every-trial")) }
            p.legend {
                span { (plot::legend_dot(Arm::A)) "A: " (experiment.question.a.name) }
                @if !view::is_baseline(experiment) { span { (plot::legend_dot(Arm::B)) "B: " (experiment.question.b.name) } }
                span.quiet { (text("page.medians")) @if cut { (text("page.axis-cut")) } }
            }
            div.pair {
                @for (way, plot) in &plots {
                    figure { figcaption { b { (view::direction(*way)) } (text("page.blocks-in-order")) } (plot) }
                }
            }
            (trials_table(experiment))
        }
    }
}

fn trials_table(experiment: &ExperimentResult) -> Markup {
    let mut samples = experiment.samples.iter();
    let looked = samples.any(|one| one.server_cpu_per_byte.is_some());
    html! {
        details {
            summary { (text("page.trial-numbers")) }
            div.scroll tabindex="0" {
                table {
                    thead {
                        tr {
                            th { (text("column.response")) } th { (text("column.part")) } th { (text("column.arm")) } th.n { (text("column.median")) } th.n { (text("column.interval")) }
                            th.n { (text("column.cpu")) } @if looked { th.n { (text("column.server-cpu")) } }
                            th.n { (text("column.resent")) } th { (text("column.trials-by-block")) }
                        }
                    }
                    tbody {
                        @for samples in &experiment.samples {
                            tr {
                                td.w { (view::direction(samples.response)) }
                                td.w { (view::phase(samples.phase)) }
                                td { @match samples.arm { Arm::A => "A", Arm::B => "B" } }
                                td.n { (quantity::estimate(&samples.median)) }
                                td.n { (quantity::interval_with_unit(&samples.median).unwrap_or_default()) }
                                td.n { (samples.cpu_per_byte.as_ref().map(quantity::estimate).unwrap_or_default()) }
                                @if looked { td.n { (samples.server_cpu_per_byte.as_ref().map(quantity::estimate).unwrap_or_default()) } }
                                td.n { @if let Some(count) = samples.retransmits { (count) } }
                                td.t { (view::rate_list(&samples.rates)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn bench_part(analysis: &RunAnalysis, id: &str) -> Markup {
    let measured: Vec<_> = analysis
        .bench
        .iter()
        .filter(|bench| !bench.rates.is_empty())
        .collect();
    html! {
        @if let Some(recipe) = recipe::of(analysis) {
            (recipe::html(recipe, analysis, id))
        } @else if !analysis.bench.is_empty() {
            h3 { (text("heading.measured")) }
            @if !measured.is_empty() {
                p.legend {
                    span { (plot::legend_dot(Arm::B)) (text("page.one-repetition")) }
                    span { span.swatch {} (text("page.interval-of-median")) }
                    span.quiet { (text("page.line-is-median")) }
                }
                div.pair {
                    @for (index, bench) in measured.iter().enumerate() {
                        figure {
                            figcaption { b { (view::workload_short(&bench.workload)) } (text("page.repetitions-in-order")) }
                            (plot::repetitions(bench, &format!("{id}-bench-{}", index + 1)))
                        }
                    }
                }
            }
            div.scroll tabindex="0" {
                table {
                    thead {
                        tr {
                            th { (text("column.workload")) } th.n { (text("column.median")) } th.n { (text("column.interval")) } th.n { (text("column.confidence")) }
                            th.n { (text("column.cpu")) } th.n { (text("column.resent")) } th { (text("column.repetitions")) }
                        }
                    }
                    tbody {
                        @for bench in &analysis.bench {
                            tr {
                                td.w { (view::workload_short(&bench.workload)) }
                                td.n { (bench.median.as_ref().map_or_else(|| text("not-measured"), quantity::estimate)) }
                                td.n { (bench.median.as_ref().and_then(quantity::interval_with_unit).unwrap_or_default()) }
                                td.n { (bench.median.as_ref().map(confidence).unwrap_or_default()) }
                                td.n { (view::processors(bench)) }
                                td.n { @if let Some(count) = bench.retransmits { (count) } }
                                td.t { (view::rate_list(&bench.rates)) @for failure in &bench.failures { div { (text("bench.failed")) " " (prose(failure)) } } }
                            }
                        }
                    }
                }
            }
            @for session in view::sessions(analysis) { p.quiet.small { (prose(&session)) } }
        }
    }
}

fn hosts(facts: &[HostFacts]) -> Markup {
    html! {
        details {
            summary { (text("page.hosts")) }
            @if facts.is_empty() { p { (text("page.no-host")) } }
            @for (index, host) in facts.iter().enumerate() {
                h4 { (text(if index == 0 { "page.client" } else { "page.server" })) " " code { (host.name) } }
                p.small.quiet { (host_line(host)) }
                (nic_table(&host.nics))
            }
        }
    }
}

fn host_line(host: &HostFacts) -> String {
    let mut parts = vec![
        said(&say("page.kernel").with("kernel", &host.kernel)),
        counted("count.cores", host.cores as usize),
    ];
    if let Some(memory) = host.memory {
        parts.push(said(
            &say("page.memory").with("size", quantity::size(memory)),
        ));
    }
    if let Some(control) = &host.tcp.congestion_control {
        parts.push(said(&say("page.congestion-control").with("name", control)));
    }
    if let Some([_, _, largest]) = host.tcp.receive_buffer {
        let size = quantity::size(record::Bytes::new(largest));
        parts.push(said(&say("page.receive-buffer").with("size", size)));
    }
    parts.join(" · ")
}

fn nic_table(nics: &[Nic]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th { "NIC" } th { (text("column.link")) } th.n { (text("column.speed")) } th.n { "MTU" } th { (text("column.addresses")) } th { (text("column.driver")) }
                        th.n { (text("column.queues")) }
                        @for (_, short) in OFFLOADS { th { (short) } }
                    }
                }
                tbody { @for nic in nics { (nic_row(nic)) } }
            }
        }
    }
}

fn nic_row(nic: &Nic) -> Markup {
    let state = text(match nic.state {
        LinkState::Up => "state.up",
        LinkState::Down => "state.down",
        LinkState::Unknown => "state.unknown",
    });
    let count =
        |count: Option<u32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    html! {
        tr {
            td { (nic.name) }
            td { (state) }
            td.n {
                (nic.speed.map_or_else(|| quantity::UNKNOWN.to_owned(), quantity::line_rate))
                @if let Some(shaped) = nic.shaped { br; span.quiet { (said(&say("page.shaped").with("rate", quantity::line_rate(shaped)))) } }
            }
            td.n { (nic.mtu) }
            td.w { @for address in &nic.addresses { div { (address.address) "/" (address.prefix) } } }
            td { (nic.driver.as_deref().unwrap_or(quantity::UNKNOWN)) }
            td.n { (count(nic.rx_queues)) "/" (count(nic.tx_queues)) }
            @for (long, _) in OFFLOADS {
                td { @match nic.offloads.get(long) { Some(offload) => (text(if offload.on { "state.on" } else { "state.off" })), None => "?" } }
            }
        }
    }
}

fn method(analysis: &RunAnalysis) -> Markup {
    html! {
        details {
            summary { (text("method.title")) }
            (list(&view::method(analysis)))
            p { (prose(&said(&say("method.written-by").with("program", format!("`{}`", analysis.program)).with("started", &analysis.started)))) }
            p { (prose(&said(&say("method.repeat").with("command", format!("`{}`", view::repeat_command(analysis)))))) }
        }
    }
}

fn titled_list(title: &str, lines: &[String]) -> Markup {
    html! { @if !lines.is_empty() { h3 { (title) } (list(lines)) } }
}

fn list(lines: &[String]) -> Markup {
    html! { ul { @for line in lines { li { (prose(line)) } } } }
}

fn plain_table(headers: &[String], rows: &[Vec<String>]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr { @for header in headers { th { (header) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (prose(cell)) } } } } }
            }
        }
    }
}
