//! Work on a share that is done once, and not again and again until the time is over.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Bytes, Demands, Direction, Nanoseconds, ShareAddress};

/// Begins the reason why there is no disk of a server to read from.
pub const SHARE_IN_MEMORY: &str = "the share is in the server's memory";

/// A piece of work on a share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobWorkload {
    /// The share and the folder in it.
    pub share: ShareAddress,
    /// Read or write.
    pub direction: Direction,
    /// What is done.
    pub job: Job,
    /// What the session must be.
    #[serde(default)]
    pub demands: Demands,
    /// The longest time it may take; what is done by then counts.
    pub limit: Nanoseconds,
}

/// What a piece of work does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// The share is entered and left: nothing is made there and nothing moved, and what was agreed with
    /// the server is the answer.
    Enter,
    /// A file is read from its begin to its end, once.
    ReadOnce {
        /// Which.
        file: JobFile,
        /// The most that is read of it.
        bytes_max: Bytes,
        /// Whether the server has any of it in memory.
        cache: ServerCache,
    },
    /// A file is copied to a folder of the client, on to its disk, and the copy removed.
    Copy {
        /// Which.
        file: JobFile,
        /// The largest file that is taken where none is named.
        bytes_max: Bytes,
        /// The folder; where none is asked for, the current one or that for temporary files.
        folder: Option<String>,
        /// How often.
        times: u32,
    },
    /// Small files are made in a folder of their own, read one after the other, and removed.
    SmallFiles {
        /// How many.
        count: u32,
        /// Bytes of each.
        size: Bytes,
    },
}

/// A file of a share to work with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobFile {
    /// This one; a path in the share.
    Named(String),
    /// The largest that is found near the top of the folder; it is only read.
    Found,
}

/// Whether a server has a file in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerCache {
    /// It was seen to have none of it.
    Cold,
    /// Nobody could look.
    Unknown,
}
