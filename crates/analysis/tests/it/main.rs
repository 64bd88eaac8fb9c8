//! Whole runs, written by hand, and what is said of them.

mod build;
mod client_alone;
mod diagnosis;
mod diagnosis_source_files;
mod experiments;
mod faults;
mod headline_consistency;
mod simulated_checks;
