//! Why a trial is run: its place in a ladder, a probe, a bench, an experiment or a search.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ProbeKind;

/// A rung of the ladder.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Raw TCP.
    Tcp,
    /// The share, through one channel.
    Share,
    /// Raw TCP over several streams at once.
    Streams,
    /// One small request of the share after the other: its round trip.
    RoundTrip,
    /// The share through as many channels as there is a use for.
    Channels,
    /// The share through the system's own client, which has it mounted: requests past its cache, several at once.
    SystemClient,
    /// A file of the mounted share, read or written one MiB after the other through its cache, as most programs do.
    SystemProgram,
    /// A file of the mounted share, copied from or to the client's memory by `cp`.
    SystemCopy,
    /// A file of the share that the server has to read from its disk.
    Disk,
    /// A file of the share, copied to a disk of the client.
    Copy,
    /// Small files, one after the other.
    SmallFiles,
}

/// One of the two arms that are compared.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Arm {
    /// The baseline.
    A,
    /// With the change.
    B,
}

/// The part of an experiment a trial belongs to.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The baseline against itself: the noise floor.
    SameAgainstSame,
    /// Baseline against change.
    Compare,
    /// The same again on fresh trials, once the change has won.
    Confirm,
}

impl From<Phase> for locale::Message {
    fn from(phase: Phase) -> Self {
        locale::say(match phase {
            Phase::SameAgainstSame => "phase.same",
            Phase::Compare => "phase.compare",
            Phase::Confirm => "phase.confirm",
        })
    }
}

impl From<Phase> for locale::Argument {
    fn from(phase: Phase) -> Self {
        locale::Message::from(phase).into()
    }
}

/// Why a trial was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Stage {
    /// A rung of the ladder.
    Ladder {
        /// Which.
        rung: Rung,
        /// Repetition, from 0.
        repetition: u32,
    },
    /// An arm of a probe: the same measurement with one thing changed of our own connections.
    Probe {
        /// What is measured: raw TCP, the share, its disk or a copy.
        rung: Rung,
        /// Block, from 0 over the whole run: arms are compared within one block only.
        block: u32,
        /// Place within the block, from 0.
        position: u32,
        /// What is changed; none for the control.
        changed: Option<ProbeKind>,
    },
    /// A repetition of one workload by `bench`.
    Bench {
        /// Repetition, from 0.
        repetition: u32,
        /// Name of the test in its recipe.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        test: Option<String>,
        /// Thrown away, as the recipe says.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        discarded: bool,
    },
    /// A visit of an arm of a design.
    Visit {
        /// Block, from 0.
        block: u32,
        /// Place within the block, from 0.
        position: u32,
        /// Which arm of the design.
        arm: u32,
        /// What is measured, by its name in the design.
        response: String,
        /// Run after a switch only to wash it out: not counted.
        discarded: bool,
    },
    /// An arm of an experiment.
    Experiment {
        /// The experiment's id, as in its schedule.
        experiment: String,
        /// Its part.
        phase: Phase,
        /// Block, from 0.
        block: u32,
        /// Place within the block, from 0.
        position: u32,
        /// Which arm.
        arm: Arm,
        /// Run after a switch only to wash it out: not counted.
        discarded: bool,
    },
    /// A setting of a search.
    Search {
        /// The round, as in its record.
        round: u32,
        /// Block, from 0.
        block: u32,
        /// Place within the block, from 0.
        position: u32,
        /// Which of the round's levels, from 0.
        level: u32,
        /// Run after a switch only to wash it out: not counted.
        discarded: bool,
    },
}
