//! One machine: run commands on it, look at it, change it, put it back.

mod error;
pub mod exec;

pub use error::Error;
