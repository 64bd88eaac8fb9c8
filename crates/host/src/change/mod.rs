//! A change as a pipeline: planned, written down, applied, kept or taken back. Each file uses only those before it:
//! `settings_before_and_after`, `read_knobs`, `parse_settings`, [`journal`], [`lease`], `restore_unless_changed`, `plan`, `apply`, `undo`.

mod apply;
pub mod journal;
pub mod lease;
mod parse_settings;
mod plan;
mod read_knobs;
mod restore_unless_changed;
pub(crate) mod settings_before_and_after;
mod undo;

pub use apply::OpenChange;
pub use parse_settings::{Typed, kept, understand};
pub use plan::Change;
pub use read_knobs::{Spot, read_back, read_states};
pub use restore_unless_changed::{Foreign, Outcome as UndoOutcome, Report};
pub use settings_before_and_after::Item;
pub use undo::{Resolve, UndoMode, Undone};
