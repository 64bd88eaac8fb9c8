//! Operations on a test file: what benchmarks of disks and shares do, whatever carries them out.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Direction, Nanoseconds, SecondMount, ShareAddress, Timing};

/// Where in the test file the operations go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// One block after the other, and from the begin again.
    #[default]
    Sequential,
    /// Any block, each as likely as the others.
    Random,
}

/// What stands in the test file and is written to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// Random bytes: nothing on the way can make them shorter.
    #[default]
    Random,
    /// Zeros, as some benchmarks write: a file system or a link that packs them looks faster.
    Zeros,
}

/// Whether the client's own cache may answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// It may not.
    #[default]
    Direct,
    /// It may, as for most programs.
    Buffered,
}

/// Operations of their own on a test file: `depth` of them under way in each of `threads`, each begun
/// when the one before it has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operations {
    /// Where they go.
    #[serde(default)]
    pub pattern: Pattern,
    /// Threads, 1 to 64.
    pub threads: u32,
    /// Of a hundred operations, so many go the other way than the workload's direction, 0 to 99.
    #[serde(default, rename = "other_way_percent")]
    pub opposite_percent: u32,
    /// What is written.
    #[serde(default)]
    pub data: Data,
    /// The client's cache; our own client of shares has none.
    #[serde(default)]
    pub cache: Cache,
    /// Each write is on its disk before it counts as done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub write_through: bool,
    /// A test file that is there already; without it the trial makes its own.
    #[serde(default)]
    pub file: Option<String>,
}

impl Operations {
    /// One operation after the other in one thread, past the client's cache, with random data and on a file of the
    /// trial's own.
    pub const SEQUENTIAL: Self = Self {
        pattern: Pattern::Sequential,
        threads: 1,
        opposite_percent: 0,
        data: Data::Random,
        cache: Cache::Direct,
        write_through: false,
        file: None,
    };
}

/// What kind of place a folder is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FolderKind {
    /// A mounted share, or any other folder.
    Folder,
    /// A share that the system's own SMB client has mounted, and nothing else.
    Mount,
    /// A folder on a disk of this machine.
    Disk,
}

/// Operations on a test file in a folder, carried out by `fio`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderWorkload {
    /// The folder, as an absolute path on the client.
    pub folder: String,
    /// What it is taken for.
    pub kind: FolderKind,
    /// What is mounted for it and for no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_mount: Option<SecondMount>,
    /// Read or write.
    pub direction: Direction,
    /// Bytes of one operation.
    pub block: Bytes,
    /// Operations under way in each thread.
    pub depth: u32,
    /// Size of the test file.
    pub file_size: Bytes,
    /// The operations.
    pub operations: Operations,
    /// How long.
    pub timing: Timing,
}

/// Where a test file is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// On a share, in the folder that its address names.
    Share {
        /// The share.
        share: ShareAddress,
        /// What the session must be.
        demands: crate::Demands,
    },
    /// In a folder of the client.
    Folder {
        /// Its absolute path.
        folder: String,
        /// What it is taken for.
        kind: FolderKind,
    },
}

/// Makes a test file and keeps it while standard input stays open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeepWorkload {
    /// Where.
    pub place: Place,
    /// Its size.
    pub file_size: Bytes,
    /// What stands in it.
    pub data: Data,
}

/// How long operations took, from the begin of each to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// Operations that ended in the counted time.
    pub operations: u64,
    /// Their mean.
    pub mean: Nanoseconds,
    /// Half of them took no longer.
    pub p50: Nanoseconds,
    /// 95 of a hundred took no longer.
    pub p95: Nanoseconds,
    /// 99 of a hundred took no longer.
    pub p99: Nanoseconds,
    /// 999 of a thousand took no longer.
    pub p999: Nanoseconds,
    /// The longest.
    pub max: Nanoseconds,
}

/// What held the test file of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// The file system's name, as `ext4`.
    pub file_system: String,
    /// Whether it is at the far end of a network.
    pub network: bool,
    /// Whether the client's cache was passed by.
    pub direct: bool,
    /// The folder, where it was not asked for by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}
