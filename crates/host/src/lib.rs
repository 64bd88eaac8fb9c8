//! One machine: run commands on it, look at it, change it, put it back.

pub mod exec;
