//! The experiments of `tune`, for programs.

use analysis::{ArmSamples, ExperimentResult};
use locale::Message;
use record::{Decision, Direction, Level};
use schemars::JsonSchema;
use serde::Serialize;
use stats::Unit;

use crate::shared_wording;

/// One experiment: a change against the baseline.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Experiment<'a> {
    /// What has the same shape in the analysis.
    #[serde(flatten)]
    pub result: &'a ExperimentResult,
    /// What was asked.
    pub question: Question<'a>,
    /// Whether it compares the baseline with itself.
    pub is_baseline: bool,
    /// The trials, by arm, response and phase.
    pub samples: Vec<Samples<'a>>,
    /// What was done about the change; null where nothing was decided.
    pub decision: Option<Decision>,
    /// Why, in a sentence.
    pub reason: Option<&'a Message>,
}

/// A question that an experiment answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Question<'a> {
    /// The baseline.
    pub a: &'a Level,
    /// The change.
    pub b: &'a Level,
    /// The responses: rate of the share in each of these directions.
    pub responses: &'a [Direction],
    /// Half width of practical equivalence as a share of 1: 0.02 is 2 %.
    pub band_share: f64,
    /// Confidence asked of each interval, 0 to 1.
    pub confidence: f64,
}

/// The trials of one arm, response and phase.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Samples<'a> {
    /// What has the same shape in the analysis.
    #[serde(flatten)]
    pub samples: &'a ArmSamples,
    /// Unit of the rates.
    pub rates_unit: Unit,
    /// Files per second at the median, where trials copied many files of one size.
    pub files_per_second: Option<f64>,
}

impl<'a> Experiment<'a> {
    pub(super) fn new(experiment: &'a ExperimentResult) -> Self {
        let (question, decision) = (&experiment.question, experiment.decision.as_ref());
        Self {
            result: experiment,
            question: Question {
                a: &question.a,
                b: &question.b,
                responses: &question.responses,
                band_share: question.band,
                confidence: question.confidence,
            },
            is_baseline: shared_wording::is_baseline(experiment),
            samples: experiment.samples.iter().map(Samples::new).collect(),
            decision: decision.map(|(decision, _)| *decision),
            reason: decision.map(|(_, reason)| reason),
        }
    }
}

impl<'a> Samples<'a> {
    fn new(samples: &'a ArmSamples) -> Self {
        Self {
            samples,
            rates_unit: Unit::BytesPerSecond,
            files_per_second: shared_wording::files_per_second(samples),
        }
    }
}
