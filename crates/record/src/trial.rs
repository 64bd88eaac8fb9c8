//! One trial: what it is asked to do, and what it says.

use serde::{Deserialize, Serialize};

use crate::{
    Bytes, Credentials, Failure, HostLoad, KeepWorkload, Nanoseconds, Sample, Setting, Stage,
    TrialResult, Workload,
};

/// The whole standard input of `linerate trial`: one line of JSON. The trial ends at once when its
/// standard input is closed after it, so that no trial outlives the program that asked for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialInput {
    /// What to do.
    pub workload: Workload,
    /// Who logs in, for shares.
    pub credentials: Option<Credentials>,
}

/// The whole standard input of `linerate trial` where a test file is to be kept for other trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeepInput {
    /// The file.
    pub keep: KeepWorkload,
    /// Who logs in, for shares.
    pub credentials: Option<Credentials>,
}

/// One line of a trial's standard output. Its tag is not `kind`, because a failure has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum TrialLine {
    /// The counted time has begun, or another of its intervals is over: for progress.
    Sample(Sample),
    /// The trial is over, well.
    Result(Box<TrialResult>),
    /// The trial is over, badly.
    Failure(Failure),
    /// The test file is there, under this name, until standard input is closed.
    Kept {
        /// The name, for [`Operations::file`](crate::Operations::file).
        file: String,
        /// What operations past the client's cache must be a multiple of, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        direct: Option<Bytes>,
    },
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Measured.
    Measured(Box<TrialResult>),
    /// Not measured, and why.
    Failed(Failure),
}

/// One trial as it stands in a run file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Number of the trial in its run, from 0.
    pub id: u64,
    /// Why it was run.
    pub stage: Stage,
    /// What it did.
    pub workload: Workload,
    /// The settings under test, as read back before it began.
    pub settings: Vec<Setting>,
    /// When it began, since the start of the run.
    pub started: Nanoseconds,
    /// When it ended, since the start of the run.
    pub ended: Nanoseconds,
    /// What came of it.
    pub outcome: Outcome,
    /// What the hosts had to do meanwhile, where somebody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<HostLoad>,
}
