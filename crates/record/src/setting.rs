//! What can be set, where, and to what.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! word {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the word as it is.
            pub fn new(word: impl Into<String>) -> Self {
                Self(word.into())
            }

            /// The word.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

word!(
    /// A host as the user named it: `local`, `lab://demo/client`.
    HostName
);
impl From<&HostName> for locale::Argument {
    fn from(name: &HostName) -> Self {
        Self::Text(name.to_string())
    }
}

word!(
    /// A knob's id in the catalogue: `nic.mtu`.
    KnobId
);

/// The part of a host that a knob belongs to.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The host as a whole.
    Host,
    /// One network interface, by name.
    Nic(String),
    /// One share that the host offers, by name.
    Share(String),
    /// One share of another host that is mounted here, by its folder.
    Mount(String),
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => formatter.write_str("host"),
            Self::Nic(name) | Self::Share(name) | Self::Mount(name) => formatter.write_str(name),
        }
    }
}

/// The value of a knob or a field. `Unset` is a value: the system's own choice holds.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Nothing is set.
    Unset,
    /// On or off.
    Switch(bool),
    /// A whole number in the knob's unit.
    Integer(i64),
    /// A word.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unset => formatter.write_str("unset"),
            Self::Switch(true) => formatter.write_str("on"),
            Self::Switch(false) => formatter.write_str("off"),
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

/// One setting of a knob on a host, or of a field of the workload.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// A knob of a host.
    Knob {
        /// The host.
        host: HostName,
        /// The part of it.
        target: Target,
        /// The knob.
        id: KnobId,
        /// The value.
        value: Value,
    },
    /// A field of the workload, by its name in `ShareWorkload` or `TcpWorkload` (`channels`).
    Workload {
        /// The field.
        field: String,
        /// The value.
        value: Value,
    },
}

/// A named list of settings that are made together: MTU 9000 on four NICs of two hosts is one level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// How people call it: `MTU 9000`.
    pub name: String,
    /// What it sets; empty for *as it is*.
    pub settings: Vec<Setting>,
}
