//! What a change consists of: settings with their values before and after, and what else could move with them.

use record::{HostName, KnobId, System, Target, Value};
use serde::{Deserialize, Serialize};

use crate::Place;
use crate::knob::{Remembered, Step};

/// Which machine a host was when it was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostIdentity {
    pub(crate) name: HostName,
    pub(crate) system: System,
    pub(crate) machine_id: Option<String>,
    pub(crate) boot_id: Option<String>,
}

/// One setting of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The host.
    pub host: HostName,
    /// The part of it.
    pub target: Target,
    /// The knob.
    pub knob: KnobId,
    /// Its value before the change.
    pub before: Value,
    /// Its value with the change.
    pub after: Value,
    /// What its value before does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remembered: Option<Remembered>,
    /// How it is made. The journal does not hold it: what is put back later is worked out then.
    #[serde(skip)]
    pub(crate) steps: Vec<Step>,
}

impl Item {
    /// Which knob of what.
    #[must_use]
    pub fn place(&self) -> Place {
        Place {
            host: self.host.clone(),
            target: self.target.clone(),
            knob: self.knob.clone(),
        }
    }
}

/// The value of one knob in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) host: HostName,
    pub(crate) target: Target,
    pub(crate) knob: KnobId,
    pub(crate) value: Value,
}

impl Entry {
    pub(crate) fn place(&self) -> Place {
        Place {
            host: self.host.clone(),
            target: self.target.clone(),
            knob: self.knob.clone(),
        }
    }
}
