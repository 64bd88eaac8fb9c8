//! What becomes of a copy: counters while it runs, events, and the sum of it at the end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::place::Kind;
use crate::error::Error;

/// How far a copy is, for whoever shows it. All counts only grow, but for the totals of
/// [`download`](super::download) and [`upload`](super::upload), which begin anew.
#[derive(Debug, Default)]
pub struct Progress {
    moved: AtomicU64,
    total: AtomicU64,
    files_done: AtomicU64,
    files_total: AtomicU64,
    planned: AtomicBool,
}

impl Progress {
    /// Bytes of files that were moved or turned out to be there already.
    #[must_use]
    pub fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    /// Bytes of all files that were found so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Files that are copied, or failed.
    #[must_use]
    pub fn files_done(&self) -> u64 {
        self.files_done.load(Ordering::Relaxed)
    }

    /// Files to copy that were found so far.
    #[must_use]
    pub fn files_total(&self) -> u64 {
        self.files_total.load(Ordering::Relaxed)
    }

    /// Whether all folders have been looked into, so that the totals are final.
    #[must_use]
    pub fn is_planned(&self) -> bool {
        self.planned.load(Ordering::Relaxed)
    }

    pub(super) fn begin(&self) {
        self.moved.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
    }

    pub(super) fn found(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
        self.files_total.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn advance(&self, bytes: u64) {
        self.moved.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn file_done(&self) {
        self.files_done.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn all_found(&self) {
        self.planned.store(true, Ordering::Relaxed);
    }
}

/// Something that was done, or would be in a dry run. Paths are relative to what is copied and
/// hold nothing that could steer a terminal.
#[derive(Debug)]
pub enum Event<'a> {
    /// A file was copied.
    Copied {
        /// Which one.
        path: &'a str,
        /// Its length.
        bytes: u64,
        /// Whether there was one before.
        replaced: bool,
    },
    /// Something that the source does not have was removed from the destination.
    Deleted {
        /// Which one.
        path: &'a str,
        /// What it was.
        kind: Kind,
    },
    /// Something was left out that is neither a file nor a folder.
    Skipped {
        /// Which one.
        path: &'a str,
        /// What it is.
        kind: Kind,
    },
    /// It could not be copied or removed.
    Failed(&'a Failure),
}

/// Something that could not be copied.
#[derive(Debug)]
pub struct Failure {
    /// Path relative to what is copied, without anything that could steer a terminal.
    pub path: String,
    /// Why not.
    pub error: Error,
}

/// What became of a copy.
#[derive(Debug, Default)]
pub struct Summary {
    /// Files that were copied; in a dry run, that would be.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of these, bytes that an earlier run had copied.
    pub resumed_bytes: u64,
    /// Bytes that the server copied by itself, without sending them to this machine and back.
    pub on_server_bytes: u64,
    /// Why it did not copy more of them, where both ends are on it.
    pub not_on_server: Option<String>,
    /// Files whose copy was read back and has the hash of its source.
    pub verified: u64,
    /// Files whose copy is there already, by size and time.
    pub unchanged: u64,
    /// Files whose copy is newer, and was left.
    pub newer: u64,
    /// Folders that were made.
    pub folders: u64,
    /// Files and folders that were removed, each folder with all in it counted once.
    pub deleted: u64,
    /// Files and folders that were not removed, because something else in their folder failed.
    pub kept: u64,
    /// Links, devices and the like that were left out.
    pub skipped: u64,
    /// Files that `filter` left out.
    pub filtered: u64,
    /// How many could not be copied or removed.
    pub failed: u64,
    /// The first of them, at most [`FAILURES_MAX`].
    pub failures: Vec<Failure>,
    /// BLAKE3 of the copied file, where it was one and the copy was verified.
    pub hash: Option<String>,
    /// What ended the copy before all was done.
    pub ended_by: Option<Error>,
}

/// Failures that a summary holds.
pub const FAILURES_MAX: usize = 1000;
