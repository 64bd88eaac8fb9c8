//! Experiments on a simulated rig: whole tunings in milliseconds.

mod coverage;
mod design;
mod factorial;
mod landscape;
mod noise;
mod plan;
mod rig;
mod search;
mod tune;
