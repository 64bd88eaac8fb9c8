//! Experiments on a simulated testbed: whole tunings in milliseconds.

mod coverage;
mod design;
mod factorial;
mod landscape;
mod noise;
mod plan;
mod search;
mod testbed;
mod tune;
