//! A change as a pipeline: planned, written down, applied, kept or taken back. Each file uses only those before it:
//! `model`, `read`, `parse_settings`, [`journal`], [`lease`], `restore`, `plan`, `apply`, `undo`.

mod apply;
pub mod journal;
pub mod lease;
pub(crate) mod model;
mod parse_settings;
mod plan;
mod read;
mod restore;
mod undo;

pub use apply::OpenChange;
pub use model::Item;
pub use parse_settings::{Typed, kept, understand};
pub use plan::Change;
pub use read::{Spot, read_back, read_states};
pub use restore::{Foreign, Outcome as UndoOutcome, Report};
pub use undo::{Resolve, UndoMode, Undone};
