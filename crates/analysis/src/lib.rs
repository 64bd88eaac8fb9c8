//! Statistics and diagnosis: pure functions of a run file.
//!
//! `phase_effects` and `run_analysis` know trials, `diagnosis` knows facts and rungs.

mod analysis_result;
mod benchmark_figures;
mod diagnosis;
mod ladder_rungs;
mod mount_options;
mod phase_effects;
mod run_analysis;
pub mod rung_and_probe_verdict;

pub use diagnosis::{
    Budget, CAUSES, CauseId, CauseRow, CheckBase, Contradiction, Layer, Means, Mode, Next, Prove,
    Purpose, SharedLink, UnknownCause, contradictions, mount_with_cache, next, quoted,
    shared_links, stream_bytes, system_client_workload,
};
pub use ladder_rungs::{LadderRung, RungName};
pub use mount_options::same_mount;
pub use phase_effects::{PhaseResult, phase};
pub use run_analysis::analyze;

pub use analysis_result::{
    Alone, ArmSamples, BenchSamples, CacheMark, Cause, Ceiling, ChannelPair, ChannelUse,
    ClientChannels, Diagnosis, Effect, ExperimentResult, Fix, HostChange, HostEffort, LimitedBy,
    Multichannel, NoiseFloor, Proof, RunAnalysis, SessionKind, SmallFiles, State, TestFigures,
    Transfer, Trust, Untried, UnusedPair,
};
