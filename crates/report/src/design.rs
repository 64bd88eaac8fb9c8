//! Experiments over several factors: what was found in words, the numbers, and the pictures.

use analysis::RunAnalysis;
use fit::table::{TableEffect, TableResult};
use fit::{DesignPair, DesignResult, DesignSamples};
use locale::{Message, list, said, say, text};
use maud::{Markup, html};
use record::Design;
use stats::{Estimate, Unit, Verdict};

use crate::page::{Ink, Page, Style, left, right};
use crate::text::width;
use crate::view::{self, Said, Tone};
use crate::{plot, quantity, table};

/// Columns of the name of an arm on a terminal.
const ARM_COLUMNS: usize = 34;
/// Columns of a number of an arm.
const NUMBER_COLUMNS: usize = 12;
/// Pairs of factors that the headline names; of more it says how many act together.
const TOGETHER_NAMED_MAX: usize = 3;
/// Samples of an arm that are listed; the others are in the run file.
const SAMPLES_MAX: usize = 6;
/// Factors whose levels all stand in the name of an arm, however long that is.
const FACTORS_LISTED_MAX: usize = 3;
/// Arms that are all listed on a terminal; of more the first one and the fastest.
const ARMS_MAX: usize = 16;
/// Of more, so many.
const FASTEST: usize = 8;

fn whole(result: &DesignResult) -> impl Iterator<Item = &DesignPair> {
    let main = |pair: &&DesignPair| pair.others.is_empty() && !pair.factor.contains(':');
    result.pairs.iter().filter(main)
}

/// What is known so far, in a line. In a fraction no two arms differ in one factor alone: there it is
/// what is fitted to all of them.
#[must_use]
pub fn so_far(result: &DesignResult) -> String {
    let known: Vec<String> = match result.pairs.is_empty() {
        true => fitted(result).collect(),
        false => whole(result).map(compared_shortly).collect(),
    };
    match known.is_empty() {
        true => text("design-so-far.nothing"),
        false => known.join("; "),
    }
}

fn compared_shortly(pair: &DesignPair) -> String {
    format!(
        "{} {} {}: {}",
        pair.response,
        pair.factor,
        pair.level,
        quantity::signed_difference(&pair.ratio)
    )
}

/// The effects of single factors as they are fitted.
fn fitted(result: &DesignResult) -> impl Iterator<Item = String> {
    let factors = &result.design.factors;
    let effects = result
        .rates
        .iter()
        .flat_map(|table| table.effects.iter().map(move |effect| (table, effect)));
    let main = effects.filter(|(_, effect)| factors.iter().any(|one| one.name == effect.factor));
    main.filter_map(|(table, effect)| Some(fitted_effect(table, effect, effect.estimate?)))
}

fn fitted_effect(table: &TableResult, effect: &TableEffect, estimate: f64) -> String {
    let ratio = effect.ratio.map(|ratio| 100.0 * (ratio - 1.0));
    let percent = ratio.map_or_else(String::new, |percent| format!("{percent:+.1} %, "));
    let unit = &table.unit;
    let known = format!(
        "{} {} {}: {percent}{estimate:+.1} {unit}",
        table.response, effect.factor, effect.level
    );
    match (effect.low, effect.high) {
        (Some(low), Some(high)) => format!("{known} [{low:+.1}, {high:+.1}]"),
        _ => said(&say("design-so-far.unsure").with("effect", known)),
    }
}

/// A level of a factor and what it does to a response: what the experiment was asked.
struct Question<'a> {
    response: &'a str,
    factor: &'a str,
    level: &'a str,
    effect: Option<&'a TableEffect>,
    pair: Option<&'a DesignPair>,
    measured: bool,
}

impl Question<'_> {
    fn verdict(&self) -> Verdict {
        self.effect
            .map_or(Verdict::Undecided, |effect| effect.verdict)
    }
}

fn questions(result: &DesignResult) -> Vec<Question<'_>> {
    let design = &result.design;
    let mut questions = Vec::new();
    for response in &design.responses {
        let mut tables = result.rates.iter();
        let table = tables.find(|table| table.response == response.name);
        for (place, factor) in design.factors.iter().enumerate() {
            for (number, level) in (0..).zip(&factor.levels).skip(1) {
                let mut effects = table.iter().flat_map(|table| &table.effects);
                let at = |samples: &DesignSamples| {
                    let arm = design.arms.get(samples.arm as usize);
                    samples.response == response.name
                        && arm.and_then(|arm| arm.get(place)) == Some(&number)
                        && !samples.rates.is_empty()
                };
                questions.push(Question {
                    response: &response.name,
                    factor: &factor.name,
                    level: &level.name,
                    effect: effects
                        .find(|one| one.factor == factor.name && one.level == level.name),
                    pair: whole(result).find(|pair| {
                        [&pair.response, &pair.factor, &pair.level]
                            == [&response.name, &factor.name, &level.name]
                    }),
                    measured: result.samples.iter().any(at),
                });
            }
        }
    }
    questions
}

/// One sentence for the busy: what makes a difference, whether it depends on something else, and what
/// is not known.
pub(crate) fn headline(analysis: &RunAnalysis) -> Said {
    let Some(result) = &analysis.design else {
        return Said::new(Tone::Doubtful, text("headline-of-run.no-measurement"));
    };
    let alarmed = alarmed(result);
    if !alarmed.is_empty() && alarmed.len() == result.noise.len() {
        return Said::new(Tone::Bad, text("design-headline.alarm"));
    }
    if result.samples.iter().all(|one| one.rates.is_empty()) {
        let why = match result.failures.is_empty() {
            true => text("headline-of-run.no-measurement"),
            false => text("design-headline.all-failed"),
        };
        return Said::new(Tone::Doubtful, why);
    }
    let mut questions = questions(result);
    questions.retain(|question| !alarmed.contains(&question.response));
    let mut sentences = shown(&questions);
    sentences.extend(acting_together(result));
    sentences.dedup();
    let found = !sentences.is_empty();
    let unknown = unknown(&questions);
    let tone = match (found, unknown.is_empty()) {
        (true, _) => Tone::Good,
        (false, false) => Tone::Doubtful,
        (false, true) => Tone::Neutral,
    };
    sentences.extend(unknown);
    let tone = if alarmed.is_empty() {
        tone
    } else {
        Tone::Doubtful
    };
    if let Some((first, others)) = alarmed.split_first() {
        let mut sentence = say("design-headline.alarm-in").with("response", *first);
        if !others.is_empty() {
            sentence = sentence.count("others", others.len());
        }
        sentences.push(said(&sentence));
    }
    match sentences.is_empty() {
        true => Said::new(tone, text("design-headline.equal")),
        false => Said::new(tone, sentences.join("; ")),
    }
}

/// Responses in which the baseline differed from itself.
fn alarmed(result: &DesignResult) -> Vec<&str> {
    let alarms = result.noise.iter().filter(|noise| noise.alarm);
    alarms.map(|noise| noise.response.as_str()).collect()
}

/// The differences that are shown, each change once with all that it does.
fn shown(questions: &[Question<'_>]) -> Vec<String> {
    let mut changes: Vec<(String, Vec<String>)> = Vec::new();
    for question in questions {
        let Some(effect) = question.effect else {
            continue;
        };
        if !matches!(effect.verdict, Verdict::Better | Verdict::Worse) {
            continue;
        }
        let difference = match question.pair {
            Some(pair) => quantity::signed_difference(&pair.ratio),
            // In a fraction no two arms differ in one factor alone.
            None => effect.ratio.map_or_else(String::new, |ratio| {
                format!("{:+.1} %", 100.0 * (ratio - 1.0))
            }),
        };
        let change = say("design-change")
            .with("factor", question.factor)
            .with("level", question.level)
            .with("from", &effect.baseline);
        let change = said(&change);
        let does = format!("{} {difference}", question.response);
        match changes.iter_mut().find(|(known, _)| *known == change) {
            Some((_, all)) => all.push(does),
            None => changes.push((change, vec![does])),
        }
    }
    let changes = changes.iter();
    changes
        .map(|(change, does)| format!("{change}: {}", does.join(", ")))
        .collect()
}

fn acting_together(result: &DesignResult) -> Vec<String> {
    let alone = |name: &str| result.design.factors.iter().any(|one| one.name == name);
    let tables = result.rates.iter();
    let effects = tables.flat_map(|table| table.effects.iter().map(move |effect| (table, effect)));
    let shown = effects.filter(|(_, effect)| {
        !alone(&effect.factor) && matches!(effect.verdict, Verdict::Better | Verdict::Worse)
    });
    let alarmed = alarmed(result);
    // Those of more than two levels may have a joint test only.
    let tests = result.rates.iter();
    let tests = tests.flat_map(|table| table.tests.iter().map(move |test| (table, test)));
    let jointly = tests.filter(|(table, test)| {
        test.over.len() == 1
            && test.p_holm.is_some_and(|p| p < table::SIGNIFICANCE)
            && !alarmed.contains(&table.response.as_str())
    });
    let shown = shown.map(|(table, effect)| (table, effect.factor.as_str()));
    let jointly = jointly.map(|(table, test)| (table, test.over[0].as_str()));
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for (table, pair) in shown.chain(jointly) {
        let both = both(pair);
        match found.iter_mut().find(|(on, _)| *on == table.response) {
            Some((_, known)) if known.contains(&both) => {}
            Some((_, known)) => known.push(both),
            None => found.push((&table.response, vec![both])),
        }
    }
    let sentences = found.into_iter().flat_map(|(on, pairs)| {
        if pairs.len() > TOGETHER_NAMED_MAX {
            // Each has its own sentence and its own row further down.
            let sentence = say("design-together.many").with("pairs", pairs.len().to_string());
            return vec![said(&sentence.with("response", on))];
        }
        let each = pairs.into_iter();
        each.map(|both| {
            let sentence = say("design-together.one").with("factors", both);
            said(&sentence.with("response", on))
        })
        .collect()
    });
    sentences.collect()
}

/// The factors of `a:b`, as one says them.
fn both(pair: &str) -> String {
    let names: Vec<String> = pair.split(':').map(str::to_owned).collect();
    list(&names)
}

/// What cannot be told yet, and what was never measured.
fn unknown(questions: &[Question<'_>]) -> Vec<String> {
    let mut sentences = Vec::new();
    let open = |question: &&Question<'_>| question.verdict() == Verdict::Undecided;
    // Of which responses, where it is not all of them.
    let names = |some: &[&Question<'_>]| {
        let name = |one: &Question<'_>| format!("{} {}", one.factor, one.level);
        let mut names: Vec<String> = Vec::new();
        for one in some {
            let name = name(one);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let with_responses = names.into_iter().map(|change| {
            let of_it = some.iter().filter(|one| name(one) == change);
            let responses: Vec<&str> = of_it.map(|one| one.response).collect();
            let asked = questions.iter().filter(|one| name(one) == change).count();
            match responses.len() == asked {
                true => change,
                false => format!("{change} ({})", responses.join(", ")),
            }
        });
        with_responses.collect::<Vec<_>>().join(", ")
    };
    let (open, missing): (Vec<&Question<'_>>, Vec<&Question<'_>>) =
        questions.iter().filter(open).partition(|one| one.measured);
    if !open.is_empty() {
        let blocks: Option<Vec<usize>> = open
            .iter()
            .map(|one| one.pair.and_then(|pair| pair.blocks_to_settle))
            .collect();
        let mut sentence = say("design-unknown.open").with("names", names(&open));
        if let Some(blocks) = blocks.and_then(|blocks| blocks.into_iter().max()) {
            sentence = sentence.with("blocks", blocks.to_string());
        }
        sentences.push(said(&sentence));
    }
    if !missing.is_empty() {
        sentences.push(said(
            &say("design-unknown.missing").with("names", names(&missing)),
        ));
    }
    sentences
}

/// What form the design has, and how far it got.
fn progress(result: &DesignResult) -> String {
    let sentence = say("design-progress")
        .with("form", &result.design.form)
        .with("done", result.blocks_done.to_string())
        .with("all", result.design.blocks.len().to_string());
    said(&sentence)
}

/// The part of the page on a terminal.
pub(crate) fn terminal(page: &mut Page, result: &DesignResult, style: Style) -> String {
    let design = &result.design;
    page.gap();
    page.row(&[
        (Ink::Strong, &design.title),
        (Ink::Faint, "  "),
        (Ink::Faint, &progress(result)),
    ]);
    for reason in &design.left_out {
        page.paragraph(
            2,
            4,
            &[
                (Ink::Toned(Tone::Doubtful), &text("design-row.left-out")),
                (Ink::Plain, reason),
            ],
        );
    }
    for alias in &design.aliases {
        page.paragraph(
            2,
            4,
            &[
                (Ink::Faint, &text("design-row.aliased")),
                (Ink::Plain, alias),
            ],
        );
    }
    for noise in &result.noise {
        page.paragraph(2, 4, &[(Ink::Faint, &noise_words(noise, design))]);
    }
    for response in &design.responses {
        page.heading(&response.name);
        let (arms, others) = listed(result, &response.name);
        for samples in &arms {
            let name = arm_heading(page, Ink::Plain, &arm_name(samples, design));
            let median = samples
                .median
                .as_ref()
                .map_or_else(|| text("not-measured"), quantity::estimate);
            let rates = rate_list(samples, SAMPLES_MAX);
            page.row(&[
                (Ink::Plain, &format!("  {}", left(&name, ARM_COLUMNS))),
                (Ink::Strong, &right(&median, NUMBER_COLUMNS)),
                (Ink::Faint, &format!("  {rates}")),
            ]);
        }
        processor_rows(page, result, &response.name, &arms);
        let [whole, parts] = pairs_of(result, &response.name);
        // Where not all arms are listed, nor is each with each.
        if others > 0 {
            let hidden = say("design-row.hidden")
                .with("arms", others.to_string())
                .with("comparisons", parts.len().to_string());
            page.paragraph(2, 4, &[(Ink::Faint, &said(&hidden))]);
        }
        let parts = parts.into_iter().filter(|_| others == 0);
        for pair in whole.into_iter().chain(parts) {
            let ink = pair.verdict.map_or(Ink::Plain, |verdict| {
                Ink::Toned(view::verdict_tone(verdict))
            });
            page.paragraph(2, 6, &[(ink, &pair_words(pair))]);
        }
    }
    for failure in &result.failures {
        page.paragraph(
            2,
            4,
            &[
                (Ink::Toned(Tone::Bad), &text("bench.failed")),
                (Ink::Plain, failure),
            ],
        );
    }
    for caveat in &result.caveats {
        page.paragraph(2, 4, &[(Ink::Toned(Tone::Doubtful), caveat)]);
    }
    if let Some(published) = &design.published {
        page.gap();
        page.paragraph(
            2,
            4,
            &[
                (Ink::Strong, &text("design-row.published")),
                (Ink::Plain, published),
            ],
        );
    }
    if result.rates.is_empty() {
        return String::new();
    }
    format!("\n{}", table::text(&result.rates, style))
}

/// An arm by its levels, and whether it is the baseline once more.
fn arm_name(samples: &DesignSamples, design: &Design) -> String {
    let name = level_names(samples, design);
    match Some(samples.arm) == design.baseline_replicate {
        true => said(&say("design-arm.replicate").with("arm", name)),
        false => name,
    }
}

/// Names of an arm's levels; of many factors, what is not at the first level of its factor.
fn level_names(samples: &DesignSamples, design: &Design) -> String {
    let name = samples.levels.join(", ");
    if design.factors.len() <= FACTORS_LISTED_MAX || width(&name) <= ARM_COLUMNS {
        return name;
    }
    let arm = design.arms.get(samples.arm as usize);
    let levels = design.factors.iter().zip(&samples.levels).enumerate();
    let changed = levels.filter(|(place, _)| arm.and_then(|arm| arm.get(*place)) != Some(&0));
    let changed: Vec<String> = changed
        .map(|(_, (factor, level))| format!("{} {level}", factor.name))
        .collect();
    match changed.is_empty() {
        true => text("design-arm.first"),
        false => changed.join(", "),
    }
}

/// What a response says of whole effects, and of parts of one: with one combination of the other factors.
fn pairs_of<'r>(result: &'r DesignResult, response: &str) -> [Vec<&'r DesignPair>; 2] {
    let pairs = result.pairs.iter();
    let pairs = pairs.filter(|pair| pair.response == response);
    let (whole, parts) = pairs.partition(|pair| pair.others.is_empty());
    [whole, parts]
}

/// The arms of a response that a terminal lists, and how many others there are.
fn listed<'r>(result: &'r DesignResult, response: &str) -> (Vec<&'r DesignSamples>, usize) {
    let of_response = result.samples.iter();
    let of_response = of_response.filter(|one| one.response == response);
    let mut arms: Vec<&DesignSamples> = of_response.collect();
    if arms.len() <= ARMS_MAX {
        return (arms, 0);
    }
    let all = arms.len();
    let rate = |one: &DesignSamples| one.median.as_ref().map_or(0.0, |median| median.value);
    let first = arms.remove(0);
    arms.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
    arms.truncate(FASTEST);
    arms.insert(0, first);
    let others = all - arms.len();
    (arms, others)
}

/// What stands before the numbers of an arm: its name, or nothing below a name that is too long for that.
fn arm_heading(page: &mut Page, ink: Ink, name: &str) -> String {
    if width(name) <= ARM_COLUMNS {
        return name.to_owned();
    }
    page.paragraph(2, 4, &[(ink, name)]);
    String::new()
}

/// Whether anybody looked at the server's processors.
fn looked(result: &DesignResult, response: &str) -> bool {
    let mut samples = result.samples.iter();
    samples.any(|one| one.response == response && one.server_cpu_per_byte.is_some())
}

/// What the processors of both ends pay for a response, as far as it is known.
fn processor_rows(page: &mut Page, result: &DesignResult, response: &str, arms: &[&DesignSamples]) {
    let looked = looked(result, response);
    let mut row = |name: &str, [client, server]: [&str; 2]| {
        let server = right(if looked { server } else { "" }, NUMBER_COLUMNS);
        let name = &arm_heading(page, Ink::Faint, name);
        page.row(&[
            (Ink::Faint, &format!("  {}", left(name, ARM_COLUMNS))),
            (Ink::Faint, &right(client, NUMBER_COLUMNS)),
            (Ink::Faint, server.trim_end()),
        ]);
    };
    let samples = arms.iter();
    let mut samples = samples.filter(|one| one.cpu_per_byte.is_some()).peekable();
    if samples.peek().is_some() {
        let [client, server] = ["page.client", "page.server"].map(text);
        row(&text("design-row.processor"), [&client, &server]);
    }
    for one in samples {
        let seconds = |cost: Option<&Estimate>| match cost {
            Some(cost) => format!("{:.2}", cost.value * 1e9),
            None => quantity::UNKNOWN.to_owned(),
        };
        let client = seconds(one.cpu_per_byte.as_ref());
        let server = seconds(one.server_cpu_per_byte.as_ref());
        row(&arm_name(one, &result.design), [&client, &server]);
    }
}

fn noise_words(noise: &fit::DesignNoise, design: &Design) -> String {
    // An effect of one factor among others is known better: more than two arms tell of it.
    let found = match design.factors.len() {
        1 => "design-noise.found",
        _ => "design-noise.distinguished",
    };
    let sentence = match (noise.alarm, noise.smallest_detectable) {
        (true, _) => say("design-noise.alarm"),
        (false, Some(share)) => say(found).with("share", quantity::share(share)),
        (false, None) => say("design-noise.few-blocks"),
    };
    let sentence = sentence
        .with("response", &noise.response)
        .with("ratio", quantity::signed_difference(&noise.ratio));
    said(&sentence)
}

/// Rates in the unit that [`unit_name`] says, without repeating it.
fn rate_list(samples: &DesignSamples, most: usize) -> String {
    let one = |rate: &f64| match samples.unit {
        Unit::BytesPerSecond if *rate < 1e7 => format!("{:.3}", rate / 1e6),
        Unit::BytesPerSecond => format!("{:.1}", rate / 1e6),
        _ => format!("{rate:.1}"),
    };
    let rates = samples.rates.iter().take(most).map(one);
    rates.collect::<Vec<_>>().join(" ")
}

/// What people call the unit of a response's rates.
fn unit_name(result: &DesignResult, response: &str) -> &'static str {
    let mut samples = result.samples.iter();
    let samples = samples.find(|samples| samples.response == response);
    match samples.map(|samples| samples.unit) {
        Some(Unit::OperationsPerSecond) => "operations/s",
        Some(Unit::FramesPerSecond) => "frames/s",
        _ => "MB/s",
    }
}

/// A comparison as one would read it aloud, with the figure of others beside ours.
fn pair_words(pair: &DesignPair) -> String {
    let ours = compared(pair);
    match &pair.published {
        Some(published) => {
            let sentence = say("design-pair.published").with("pair", ours);
            said(&sentence.with("published", published))
        }
        None => ours,
    }
}

fn compared(pair: &DesignPair) -> String {
    let sentence = of_levels(pair)
        .with("difference", quantity::signed_difference(&pair.ratio))
        .with_known("verdict", pair.verdict.map(view::verdict))
        .with_known(
            "blocks",
            pair.blocks_to_settle.map(|blocks| blocks.to_string()),
        );
    said(&sentence)
}

/// What of two levels, or of two factors, a comparison is about.
fn of_levels(pair: &DesignPair) -> Message {
    if let Some((one, other)) = pair.factor.split_once(':') {
        let (level, at) = pair.level.split_once(':').unwrap_or((&pair.level, ""));
        let (_, first) = pair
            .baseline
            .split_once(':')
            .unwrap_or((&pair.baseline, ""));
        return say("design-pair.interaction")
            .with("one", one)
            .with("level", level)
            .with("other", other)
            .with("at", at)
            .with("first", first);
    }
    let sentence = say("design-pair")
        .with("factor", &pair.factor)
        .with("level", &pair.level)
        .with("from", &pair.baseline);
    match pair.others.is_empty() {
        true => sentence,
        false => sentence.with("others", &pair.others),
    }
}

/// What a picture shows: the levels of a factor, by those of another one where there is one.
fn figure_title(design: &Design, [place, other]: [usize; 2]) -> String {
    let factor = &design.factors[place].name;
    if other == place {
        return factor.clone();
    }
    let sentence = say("design-figure.by").with("factor", factor);
    said(&sentence.with("other", &design.factors[other].name))
}

/// The part of the page in a browser.
pub(crate) fn html(result: &DesignResult, id: &str) -> Markup {
    let design = &result.design;
    html! {
        h3 { (design.title) }
        p.quiet.small { (progress(result)) }
        @for reason in &design.left_out { p { (text("design-row.left-out")) " " (reason) } }
        @for alias in &design.aliases { p.quiet { (text("design-row.aliased")) " " (alias) } }
        @for noise in &result.noise { p.quiet { (noise_words(noise, design)) } }
        @if let Some(published) = &design.published { p { b { (text("design-row.published")) " " } (published) } }
        @for (number, response) in design.responses.iter().enumerate() {
            @let unit = unit_name(result, &response.name);
            h4 { (response.name) }
            @for place in 0..design.factors.len() {
                @for other in 0..design.factors.len() {
                    @if other != place || design.factors.len() == 1 {
                        figure {
                            figcaption { b { (figure_title(design, [place, other])) } (said(&say("design-figure.medians").with("unit", unit))) }
                            (plot::interaction(result, &response.name, [place, other], &format!("{id}-effect-{number}-{place}-{other}")))
                        }
                    }
                }
            }
            @let [whole, parts] = pairs_of(result, &response.name);
            ul { @for pair in whole { li { (pair_words(pair)) } } }
            @if !parts.is_empty() {
                details {
                    summary { (text("design-row.combinations")) }
                    ul { @for pair in parts { li { (pair_words(pair)) } } }
                }
            }
            div.scroll tabindex="0" {
                table {
                    thead {
                        tr {
                            th { (text("column.arm")) } th.n { (text("column.median")) } th.n { (text("column.interval")) }
                            th.n { (text("column.cpu")) } @if looked(result, &response.name) { th.n { (text("column.server-cpu")) } }
                            th { (said(&say("design-column.samples").with("unit", unit))) }
                        }
                    }
                    tbody {
                        @for samples in result.samples.iter().filter(|one| one.response == response.name) {
                            tr {
                                td { (arm_name(samples, design)) }
                                td.n { (samples.median.as_ref().map_or_else(String::new, quantity::estimate)) }
                                td.n { (samples.median.as_ref().and_then(quantity::interval_with_unit).unwrap_or_default()) }
                                td.n { (samples.cpu_per_byte.as_ref().map(quantity::estimate).unwrap_or_default()) }
                                @if looked(result, &response.name) { td.n { (samples.server_cpu_per_byte.as_ref().map(quantity::estimate).unwrap_or_default()) } }
                                td.t { (rate_list(samples, usize::MAX)) }
                            }
                        }
                    }
                }
            }
        }
        @for results in [&result.rates, &result.costs] {
            @for one in results {
                h4 { (said(&say("design-effects").with("response", &one.response))) }
                div.scroll tabindex="0" {
                    table {
                        thead {
                            tr {
                                th { (text("table-column.changed")) } th { (text("table-column.from-to")) } th.n { (text("column.effect")) }
                                th.n { (text("table-column.interval")) } th.n { (text("table-column.p")) } th { (text("column.verdict")) }
                            }
                        }
                        tbody {
                            @for effect in &one.effects {
                                tr {
                                    td { (effect.factor) }
                                    td { (table::compared(effect)) }
                                    td.n { @if let Some(change) = table::change(effect) { (change) (table::unit(one)) } @else { (text("design-effects.not-estimated")) } }
                                    td.n { (table::interval(effect).unwrap_or_default()) }
                                    td.n { (effect.p_holm.map(table::probability).unwrap_or_default()) }
                                    td { (view::verdict(effect.verdict)) }
                                }
                            }
                        }
                    }
                }
                @for warning in &one.warnings { p.quiet.small { (warning.text) } }
            }
        }
        @for failure in &result.failures { p { (text("bench.failed")) " " (failure) } }
        @for caveat in &result.caveats { p.quiet { (caveat) } }
    }
}
