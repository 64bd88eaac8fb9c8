//! JSON for programs, of which `docs/schema` is made. Its shape is its own and stays: keys are only ever added.
//!
//! An estimate is `{value, unit, interval: [low, high] or null, confidence, n, caveats}`, in base
//! units. A number that is not known, or not finite, is null and never invented. All text is English.

mod bench;
mod demo;
mod diagnosis;
mod experiment;
mod message;

use std::path::Path;

use analysis::{HostChange, LadderRung, RunAnalysis, Untried};
use fit::DesignResult;
use locale::{Language, Message};
use record::{Direction, HostFacts, Identity, PathFacts, SmbSession};
use schemars::JsonSchema;
use serde::Serialize;
use stats::Estimate;

use crate::shared_wording;

pub use bench::{
    Bench, BenchTest, Engine, LatencyDistribution, Playback, Workload, WorkloadDetails,
};
pub use demo::{DemoJumbo, DemoLink, DemoRates, DemoRatios, DemoSummary, demo_summary};
pub use diagnosis::{Cause, CauseState, Diagnosis, FirstLoss, Fix};
pub use experiment::{Experiment, Question, Samples};
pub use message::{ArgumentData, MessageData};

/// Everything that can be said of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report<'a> {
    /// Always `linerate-report`.
    pub format: &'static str,
    /// Version of the format.
    pub version: u32,
    /// The run file, where the command that says this has written it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_file: Option<&'a Path>,
    /// The command that measured: `check`, `bench`, `experiment` or `tune`.
    pub command: &'static str,
    /// The share, folder or host, without user and password.
    pub target: String,
    /// Program and version that wrote the run file.
    pub program: &'a str,
    /// Seed of everything random in the run.
    pub seed: u64,
    /// Wall clock at the start of the run, in UTC (RFC 3339).
    pub started: &'a str,
    /// Whether the run ended by itself, and was not cut short.
    pub finished: bool,
    /// The answer in a sentence.
    pub headline: String,
    /// The computed limit of the slowest hop, for each direction that is known.
    pub ceilings: Vec<Ceiling<'a>>,
    /// The rungs of the ladder from raw TCP to the share, in both directions.
    pub ladder: &'a [LadderRung],
    /// What was agreed with the server, each kind of session once.
    pub sessions: Vec<Session<'a>>,
    /// Causes and fixes, of `check`.
    pub diagnosis: Option<Diagnosis<'a>>,
    /// What was seen of the path before anything was measured on it.
    #[serde(rename = "look")]
    pub path: Option<&'a PathFacts>,
    /// The experiments of `tune`, in their order.
    pub experiments: Vec<Experiment<'a>>,
    /// Candidates of `tune` that were decided without a trial, in their order.
    pub untried: &'a [Untried],
    /// Changes of hosts that the run made.
    pub changes: &'a [HostChange],
    /// The experiment over several factors, of `experiment`: its `design` is that record of the run file, its `rates` and
    /// `costs` are effects as `analyze` prints them of a table.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub design: Option<&'a DesignResult>,
    /// The repetitions of `bench`, each workload once.
    pub bench: Vec<Bench<'a>>,
    /// The hosts at the start of the run, client first, as in the header of the run file.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub facts: &'a [HostFacts],
    /// What else happened, for people.
    #[schemars(with = "Vec<String>")]
    pub notes: &'a [Message],
    /// What is wrong with the run file and could be passed over.
    #[schemars(with = "Vec<String>")]
    pub warnings: &'a [Message],
}

/// The computed limit of the slowest hop.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ceiling<'a> {
    /// The direction.
    pub direction: Direction,
    /// TCP payload per second that fits through it.
    pub rate: &'a Estimate,
    /// Which hop, and how it was computed.
    pub because: &'a locale::Message,
}

/// What was agreed with a server, and over how many channels it was used.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Session<'a> {
    /// Dialect of SMB, as `3.1.1`.
    pub dialect: &'a str,
    /// As what the server took us.
    pub identity: Identity,
    /// Signing algorithm, as `AES-128-GMAC`; null where no more than the login is signed.
    pub signing_algorithm: Option<&'a str>,
    /// Whether the content of files was signed too.
    pub data_signed: bool,
    /// Cipher, as `AES-128-GCM`; null where nothing is encrypted.
    pub encryption: Option<&'a str>,
    /// Channels in use.
    pub channels: usize,
}

/// What was agreed with a server, and over how many channels it was used.
#[must_use]
pub fn session(agreed: &SmbSession, channels: usize) -> Session<'_> {
    Session {
        dialect: &agreed.dialect,
        identity: agreed.identity,
        signing_algorithm: agreed.signing_algorithm.as_deref(),
        data_signed: agreed.data_signed,
        encryption: agreed.encryption.as_deref(),
        channels,
    }
}

/// Everything that can be said of a run, for programs. Where its file is, the caller knows.
#[must_use]
pub fn json(analysis: &RunAnalysis) -> Report<'_> {
    Language::English.within(|| run(analysis))
}

fn run(analysis: &RunAnalysis) -> Report<'_> {
    let ceilings = analysis.ceilings.iter();
    let sessions = analysis.sessions.iter();
    let diagnosis = analysis.diagnosis.as_ref();
    Report {
        format: "linerate-report",
        version: 1,
        run_file: None,
        command: shared_wording::command(&analysis.plan),
        target: shared_wording::subject(&analysis.plan),
        program: &analysis.program,
        seed: analysis.seed,
        started: &analysis.started,
        finished: analysis.finished,
        headline: shared_wording::headline(analysis).text,
        ceilings: ceilings
            .map(|(direction, ceiling)| Ceiling {
                direction: *direction,
                rate: &ceiling.rate,
                because: &ceiling.because,
            })
            .collect(),
        ladder: &analysis.ladder,
        sessions: sessions
            .map(|kind| session(&kind.agreed, kind.channels))
            .collect(),
        diagnosis: diagnosis.map(|found| Diagnosis::new(found, analysis)),
        path: analysis.path.as_ref(),
        experiments: analysis.experiments.iter().map(Experiment::new).collect(),
        untried: &analysis.untried,
        changes: &analysis.changes,
        design: analysis.design.as_ref(),
        bench: analysis.bench.iter().map(Bench::new).collect(),
        facts: &analysis.facts,
        notes: &analysis.notes,
        warnings: &analysis.warnings,
    }
}
