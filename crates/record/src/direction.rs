//! Which way the data of a trial goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Direction of the data, seen from the client.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From server to client.
    Read,
    /// From client to server.
    Write,
}

impl Direction {
    /// Its name, as files and ids have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl From<Direction> for locale::Message {
    fn from(direction: Direction) -> Self {
        locale::say(match direction {
            Direction::Read => "direction.read",
            Direction::Write => "direction.write",
        })
    }
}

impl From<Direction> for locale::Argument {
    fn from(direction: Direction) -> Self {
        locale::Message::from(direction).into()
    }
}
