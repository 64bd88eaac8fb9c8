//! Many trials in a defensible order, and `tune`.
//!
//! The order of every phase is random in blocks, comes from one recorded seed and is written to the
//! run file before the phase's first trial. Everything that touches machines is behind one trait,
//! [`Testbed`]; a simulated one makes the stop rule, restoring and tuning a matter of milliseconds.

mod decision_reasons;
mod design;
mod error;
mod gaussian_process;
mod phase_execution;
mod random_block_order;
mod search;
mod testbed;
mod tune;
mod tune_plan;

pub use design::{
    ARMS_MAX, Arms, Combination, DesignEnd, DesignHooks, DesignNews, FRACTION_FACTORS_MIN, Stand,
    Visit, combine, order, run_design, visits, whole_plots,
};
pub use error::Error;
pub use phase_execution::{Hooks, Progress, Sink};
pub use search::{CANDIDATES_MAX, SearchPlan, TOGETHER, search};
pub use testbed::{SwitchCost, Testbed, TrialLength, switch_cost};
pub use tune::{Decided, Ended, TuneOutcome, tune};
pub use tune_plan::{
    BASELINE, BLOCKS_DEFAULT, BLOCKS_MAX, Candidate, Durations, PhasePreview, Preview, TunePlan,
};
