//! Two files of results that somebody measured by hand, before and after a change: a verdict on each
//! figure, or why there is none and how many runs would give one.

use locale::{Message, say};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Estimate, Verdict, two_sample, verdict};

use crate::CONFIDENCE_DEFAULT;
use crate::table::{Arms, Better, Figure, better};

/// Run-to-run noise, as a share of 1, that is assumed where one run each tells none.
const NOISE_ASSUMED: f64 = 0.02;
/// Figures that are compared; of more the correction for their number leaves nothing to find.
const FIGURES_MAX: usize = 256;

/// What two files say of one figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The test of the program, where it has several.
    pub test: String,
    /// What was measured, with its unit.
    pub response: &'static str,
    /// Runs before and after.
    pub runs: [usize; 2],
    /// Medians before and after, in that unit.
    pub medians: [f64; 2],
    /// How many times as good as before: above 1 is better, also for times and losses. Its confidence is
    /// the one asked over all figures together.
    pub ratio: Estimate,
    /// Against the band.
    pub verdict: Verdict,
    /// Runs of each file that find the change hoped for four times out of five, where the verdict is open.
    pub runs_needed: Option<usize>,
    /// The run-to-run noise behind that number, as a share of 1, and whether it was measured here.
    pub noise: f64,
    /// Whether the noise was measured in these files, not assumed.
    pub noise_measured: bool,
    /// Why there is no verdict.
    pub reason: Option<Message>,
}

/// What is asked of two files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// Differences within this share of 1 do not matter.
    pub band: f64,
    /// The change hoped for, as a share of 1: what `runs_needed` is for.
    pub hoped: f64,
}

/// Compares the first two arms in each figure that both have and that varies.
#[must_use]
pub fn compare(arms: &Arms, question: Question) -> Vec<Comparison> {
    let figures = arms.figures();
    let both = |figure: &&Figure| {
        let mut arms = figure.arms.iter().take(2);
        figure.arms.len() > 1 && arms.all(|(_, values)| values.iter().any(|value| *value > 0.0))
    };
    let figures: Vec<&Figure> = figures.iter().filter(both).take(FIGURES_MAX).collect();
    let confidence = 1.0 - (1.0 - CONFIDENCE_DEFAULT) / figures.len().max(1) as f64;
    let compared = figures.iter();
    compared
        .filter_map(|figure| one(figure, question, confidence))
        .collect()
}

fn one(figure: &Figure, question: Question, confidence: f64) -> Option<Comparison> {
    let positive = |arm: usize| -> Vec<f64> {
        let values = figure.arms[arm].1.iter().copied();
        values.filter(|value| *value > 0.0).collect()
    };
    let (before, after) = (positive(0), positive(1));
    // Of times and losses fewer are better.
    let ratio = match better(figure.response) {
        Some(Better::Lower) => two_sample::ratio(&after, &before, confidence),
        _ => two_sample::ratio(&before, &after, confidence),
    };
    let mut ratio = ratio?;
    let verdict = verdict(&ratio, question.band, confidence);
    // What holds for each at this confidence holds for all together at the usual one.
    let reached = ratio.confidence;
    if reached.is_some_and(|reached| reached + 1e-12 >= confidence) {
        ratio.confidence = Some(CONFIDENCE_DEFAULT);
    }
    let measured = two_sample::deviation(&before, &after).filter(|deviation| *deviation > 0.0);
    let noise = measured.unwrap_or(NOISE_ASSUMED);
    let runs = [before.len(), after.len()];
    let least = two_sample::runs_min(confidence);
    let reason = (verdict == Verdict::Undecided).then(|| match runs.iter().min() {
        Some(1) => say("no-verdict.one-run"),
        Some(few) if reached.is_none_or(|reached| reached + 1e-12 < confidence) => {
            let text = say("no-verdict.few-runs").count("runs", *few);
            text.count("least", least)
        }
        _ => say("no-verdict.interval"),
    });
    Some(Comparison {
        test: figure.job.clone(),
        response: figure.response,
        runs,
        medians: [median(&before)?, median(&after)?],
        runs_needed: reason
            .as_ref()
            .and_then(|_| two_sample::runs_needed(question.hoped, noise, confidence)),
        ratio,
        verdict,
        noise,
        noise_measured: measured.is_some(),
        reason,
    })
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    stats::median_of_sorted(&sorted)
}
