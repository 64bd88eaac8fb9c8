//! Experiments over several factors: what was found in words, the numbers, and the pictures.

mod headline;
mod html;
mod terminal;

use fit::table::{TableEffect, TableResult};
use fit::{DesignPair, DesignResult, DesignSamples};
use locale::{Message, said, say, text};
use record::Design;
use stats::Unit;

use crate::text_cleaning_and_width::width;
use crate::{quantity, shared_wording};

pub(crate) use headline::headline;
pub(crate) use html::html;
pub(crate) use terminal::terminal;

/// Columns of the name of an arm on a terminal.
const ARM_COLUMNS: usize = 34;
/// Factors whose levels all stand in the name of an arm, however long that is.
const FACTORS_LISTED_MAX: usize = 3;

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

/// What form the design has, and how far it got.
fn progress(result: &DesignResult) -> String {
    let design = &result.design;
    let sentence = say("design-progress")
        .with("form", design.message(&design.form))
        .with("done", result.blocks_done.to_string())
        .with("all", design.blocks.len().to_string());
    said(&sentence)
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

/// Whether anybody looked at the server's processors.
fn looked(result: &DesignResult, response: &str) -> bool {
    let mut samples = result.samples.iter();
    samples.any(|one| one.response == response && one.server_cpu_per_byte.is_some())
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
        .with_known("verdict", pair.verdict.map(shared_wording::verdict))
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
