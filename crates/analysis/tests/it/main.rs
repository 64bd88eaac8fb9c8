//! Whole runs, written by hand, and what is said of them.

mod client_alone;
mod diagnosis;
mod diagnosis_source_files;
mod experiments;
mod headline_consistency;
mod injected_faults;
mod mount_for_programs;
mod mounted_share;
mod run_builder;
mod several_connections;
mod several_links;
mod simulated_checks;
