//! Experiments on a simulated testbed: whole tunings in milliseconds.

mod coverage;
mod design;
mod landscape;
mod noise;
mod plan;
mod search;
mod simulated_factorials;
mod simulated_testbed;
mod tune;
