//! Whole runs, written by hand, and what is said of them.

mod build;
mod client_alone;
mod diagnosis;
mod experiments;
mod faults;
mod headline;
mod simulated_checks;
mod structure;
