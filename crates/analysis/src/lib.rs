//! Statistics and diagnosis: pure functions of a run file.
//!
//! `comparison` and `run` know trials, `diagnosis` knows facts and rungs.

mod benchmark_figures;
mod comparison;
mod diagnosis;
mod result;
mod run;
pub mod sequential;

pub use comparison::{PhaseResult, phase};
pub use diagnosis::{
    Budget, CAUSES, CauseId, CauseRow, CheckBase, Contradiction, Layer, Means, Mode, Next, Prove,
    Purpose, SharedLink, UnknownCause, contradictions, next, quoted, shared_links,
};
pub use run::analyze;

pub use result::{
    Alone, ArmSamples, BenchSamples, CacheMark, Cause, Ceiling, ChannelPair, ChannelUse,
    ClientChannels, Diagnosis, Effect, ExperimentResult, Fix, HostChange, HostEffort, LadderRung,
    LimitedBy, Multichannel, NoiseFloor, Proof, RunAnalysis, RungName, SessionKind, SmallFiles,
    State, TestFigures, Transfer, Trust, Untried, UnusedPair,
};
