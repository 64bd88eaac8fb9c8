//! How a copy of one file is begun, and what it becomes when it is complete.

use smb_proto::session::FileTimes;

use super::resume_record::Identity;
use crate::tree::Replace;

/// How a part is begun.
pub(super) struct Begin {
    /// Which file it becomes a copy of.
    pub source: Identity,
    /// Whether to go on with a part of an earlier run.
    pub resume: bool,
    /// Whether the copy is to have holes.
    pub is_sparse: bool,
    /// Whether it is to be written over several sessions.
    pub several: bool,
    /// The mode that it gets in the end; none: that of a new file.
    pub mode: Option<u32>,
}

impl Begin {
    /// Of a small file, which is written at once and never resumed.
    pub(super) fn small(finish: &Finish) -> Self {
        Self {
            source: Identity {
                size: finish.size,
                written: finish.times.write,
                changed: 0,
                id: 0,
            },
            resume: false,
            is_sparse: false,
            several: false,
            mode: finish.mode,
        }
    }
}

/// What a part becomes when it is complete.
pub(super) struct Finish {
    pub size: u64,
    pub times: FileTimes,
    pub attributes: u32,
    /// None: that of the file that it replaces, or of a new one.
    pub mode: Option<u32>,
    pub replace: Replace,
    /// Whether it must be on storage before it gets its name.
    pub sync: bool,
}
