//! Statistics and diagnosis: pure functions of a run file.
//!
//! Two rooms: `statistics` knows numbers and no NIC, `diagnosis` knows facts and rungs.

mod result;
pub mod statistics;

pub use result::{
    ArmSamples, BenchSamples, Cause, Ceiling, Diagnosis, Effect, Estimate, ExperimentResult, Fix,
    LadderRung, NoiseFloor, RunAnalysis, RungName, Trust, Unit, Verdict,
};
