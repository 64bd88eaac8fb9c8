//! Experiments on a simulated testbed: whole tunings in milliseconds.

mod design;
mod interval_coverage;
mod search;
mod simulated_factorials;
mod simulated_noise;
mod simulated_seven_knobs;
mod simulated_testbed;
mod tune;
mod tune_plan;
