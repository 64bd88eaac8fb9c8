//! Statistics and diagnosis: pure functions of a run file.
//!
//! Two rooms: `statistics` knows numbers and no NIC, `diagnosis` knows facts and rungs.

mod comparison;
mod design;
mod diagnosis;
mod flips;
mod recipe;
mod result;
mod run;
pub mod statistics;
pub mod table;

pub use comparison::{PhaseResult, phase};
pub use design::{
    DesignNoise, DesignPair, DesignResult, DesignSamples, blocks_counted, design, is_narrow,
};
pub use diagnosis::{
    Contradiction, Means, REMEDIES, Remedy, SharedLink, contradictions, quoted, shared_links,
};
pub use recipe::{rate, unit};
pub use run::analyze;

pub use result::{
    Alone, ArmSamples, BenchSamples, CacheMark, Cause, Ceiling, ChannelPair, ChannelUse,
    ClientChannels, Diagnosis, Effect, Estimate, ExperimentResult, Fix, HostChange, HostEffort,
    LadderRung, LimitedBy, Multichannel, NoiseFloor, RunAnalysis, RungName, SessionKind,
    SmallFiles, TestFigures, Transfer, Trust, Unit, Untried, UnusedPair, Verdict,
};
