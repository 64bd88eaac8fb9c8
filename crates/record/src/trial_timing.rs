//! How long a trial lasts.

use serde::{Deserialize, Serialize};

use crate::Nanoseconds;

/// How long a trial lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Time that is run but not counted, so that slow start is over.
    pub warm_up: Nanoseconds,
    /// Time that is counted.
    pub measured: Nanoseconds,
    /// Length of one sample inside it.
    pub interval: Nanoseconds,
}
