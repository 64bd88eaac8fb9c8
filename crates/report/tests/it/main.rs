//! What people read, kept as golden text, and what no name may do to it.

mod factorial_experiment;
mod handmade_runs;
mod html;
mod json;
mod real_run_files;
mod shareable;
mod terminal;

use analysis::RunAnalysis;
use serde_json::Value;

/// The JSON of a run, as programs read it.
fn json(run: &RunAnalysis) -> Value {
    serde_json::to_value(report::json(run)).expect("it is JSON")
}
