//! Experiments over several factors: their arms, their order, and how they are run and taken up again.

mod execution;
mod factorial;
mod run_order;

pub use execution::{DesignEnd, DesignHooks, DesignNews, Stand, run_design};
pub use factorial::{ARMS_MAX, Arms, Combination, FRACTION_FACTORS_MIN, combine};
pub use run_order::{Visit, order, visits, whole_plots};
