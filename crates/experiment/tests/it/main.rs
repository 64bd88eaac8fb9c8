//! Experiments on a simulated rig: whole tunings in milliseconds.

mod plan;
mod rig;
mod tune;
