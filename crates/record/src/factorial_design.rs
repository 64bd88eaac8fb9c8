//! An experiment over several factors: what is varied, what is measured, in which order.

use locale::{Kept, Message, say};
use serde::{Deserialize, Serialize};

use crate::{Level, TRIALS_MAX, Workload};

/// Most factors, levels of one, arms and blocks, as many as a plan can have.
const FACTORS_MAX: usize = 32;
const LEVELS_MAX: usize = 64;
const ARMS_MAX: usize = 257;
const BLOCKS_MAX: usize = 1_000;
/// Most arms times responses times factors, and the bytes of so many names: they stand in a report.
const NAMES_MAX: usize = 1 << 12;
const NAMES_BYTES_MAX: usize = 1 << 19;

/// Something that is varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factor {
    /// Its name: `mtu`.
    pub name: String,
    /// What it is set to in turn; the first is what the others are compared with.
    pub levels: Vec<Level>,
}

/// Something that is measured on every visit of an arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// Its name, unique in the design: `SEQ 1 MiB Q8 T1 read`.
    pub name: String,
    /// The trial, with all that the factors do not say.
    pub workload: Workload,
}

/// When an experiment is over; fixed before its first trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopRule {
    /// It ends earlier, after a block, once it has taken so many seconds.
    #[serde(default)]
    pub budget_seconds: Option<u64>,
    /// It ends earlier, after a block, once every interval of a main effect is narrower than this
    /// share of 1, whatever the effect is.
    #[serde(default)]
    pub width: Option<f64>,
}

/// A whole experiment, with its schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// Its name.
    pub name: String,
    /// What it is about, for people.
    pub title: String,
    /// What form of design it is, in English: `full factorial`. [`Self::message`] is what it says. Not `kind`, which is
    /// the tag of records.
    pub form: String,
    /// What is varied.
    pub factors: Vec<Factor>,
    /// Effects that cannot be told from each other, as `a:b = c:d`.
    pub aliases: Vec<String>,
    /// Factors of the plan that a host does not have, each with the reason, in English like the form.
    pub left_out: Vec<String>,
    /// What these texts say, so that they can be said in another language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Kept>,
    /// What is measured.
    pub responses: Vec<Response>,
    /// The arms: for each factor the place of its level.
    pub arms: Vec<Vec<u32>>,
    /// The arm that is the baseline once more, if there is one: what differs between the two is noise.
    #[serde(rename = "again")]
    pub baseline_replicate: Option<u32>,
    /// Factors whose switch resets links: they are switched seldom, and have an error of their own.
    pub whole_plots: Vec<u32>,
    /// The order of the arms, a row for each block.
    pub blocks: Vec<Vec<u32>>,
    /// When it is over before its last block.
    pub stop: StopRule,
    /// Half width of practical equivalence as a share of 1.
    pub band: f64,
    /// What others published about the same question.
    #[serde(default)]
    pub published: Option<String>,
    /// What others published of single levels, to stand beside our own figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<PublishedFigure>,
}

/// A figure of somebody else, as it was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedFigure {
    /// Name of the response that it is like.
    pub response: String,
    /// The factor.
    pub factor: String,
    /// The level, against the first one of the factor.
    pub level: String,
    /// The figure with its unit: `x1.88`.
    pub text: String,
}

impl Design {
    /// What its form or a factor that was left out says, as it can be said in any language.
    pub fn message(&self, text: &str) -> Message {
        Kept::of_text(text, &self.messages)
    }

    /// Says what is too much of it, if something is: the work grows with products of these numbers.
    ///
    /// # Errors
    /// What is too much, in a sentence.
    pub fn check(&self) -> Result<(), Message> {
        let levels = self.factors.iter().map(|factor| factor.levels.len());
        let visits = self.blocks.iter().map(Vec::len).sum::<usize>();
        let names = self.arms.len() * self.responses.len() * self.factors.len();
        let widest = self.arms.iter().map(Vec::len).max();
        let responses = self.responses.iter().map(|response| response.name.len());
        let of_arm = self.factors.iter().map(|factor| {
            let levels = factor.levels.iter().map(|level| level.name.len());
            factor.name.len() + levels.max().unwrap_or(0)
        });
        let bytes = of_arm.sum::<usize>() + responses.max().unwrap_or(0);
        let bytes = bytes * self.arms.len() * self.responses.len();
        let levels = levels.max().unwrap_or(0);
        let trials = visits * self.responses.len();
        let most = [
            (self.factors.len(), FACTORS_MAX, "error-file.factors"),
            (levels, LEVELS_MAX, "error-file.levels-of-factor"),
            (self.arms.len(), ARMS_MAX, "error-file.arms"),
            (widest.unwrap_or(0), FACTORS_MAX, "error-file.levels-in-arm"),
            (self.blocks.len(), BLOCKS_MAX, "error-file.blocks"),
            (trials, TRIALS_MAX, "error-file.trials"),
            (names, NAMES_MAX, "error-file.names"),
            (bytes, NAMES_BYTES_MAX, "error-file.bytes-of-names"),
        ];
        match most.into_iter().find(|(number, most, _)| number > most) {
            Some((number, most, id)) => Err(say(id).count("number", number).count("most", most)),
            None => Ok(()),
        }
    }

    /// What an arm sets, with the names of its levels; `None` where there is no such arm.
    #[must_use]
    pub fn level(&self, arm: u32) -> Option<Level> {
        let places = self.arms.get(arm as usize)?;
        let levels: Vec<&Level> = self
            .factors
            .iter()
            .zip(places)
            .map(|(factor, place)| factor.levels.get(*place as usize))
            .collect::<Option<_>>()?;
        let names: Vec<&str> = levels.iter().map(|level| level.name.as_str()).collect();
        Some(Level {
            name: names.join(", "),
            settings: levels
                .iter()
                .flat_map(|level| level.settings.clone())
                .collect(),
        })
    }
}
