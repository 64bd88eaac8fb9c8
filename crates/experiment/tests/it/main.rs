//! Experiments on a simulated rig: whole tunings in milliseconds.

mod coverage;
mod design;
mod noise;
mod plan;
mod rig;
mod tune;
