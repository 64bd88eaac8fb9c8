//! An experiment over several factors: what is varied, what is measured, in which order.

use serde::{Deserialize, Serialize};

use crate::{Level, Workload};

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
    /// What form of design it is, in words: `full factorial`. Not `kind`, which is the tag of records.
    pub form: String,
    /// What is varied.
    pub factors: Vec<Factor>,
    /// Effects that cannot be told from each other, as `a:b = c:d`.
    pub aliases: Vec<String>,
    /// Factors of the plan that a host does not have, each with the reason.
    pub left_out: Vec<String>,
    /// What is measured.
    pub responses: Vec<Response>,
    /// The arms: for each factor the place of its level.
    pub arms: Vec<Vec<u32>>,
    /// The arm that is the baseline once more, if there is one: what differs between the two is noise.
    pub again: Option<u32>,
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
