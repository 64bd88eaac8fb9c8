//! Whole runs, written by hand, and what is said of them.

mod build;
mod designs;
mod diagnosis;
mod experiments;
mod faults;
mod reference;
