//! What becomes of a copy: counters while it runs, events, and the sum of it at the end.

use std::cell::Cell;

use locale::Message;

use super::entry::Kind;
use crate::error::Error;
use crate::std_or_shuttle::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far a copy is, to be shown. All counts only grow.
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

/// How far the copy of one file is. Where it is begun again, what is moved a second time does not
/// count a second time.
pub(super) struct FileProgress<'a> {
    of_all: &'a Progress,
    /// Moved since it was begun last, and what counts.
    moved: Cell<u64>,
    counted: Cell<u64>,
    /// What an earlier run had moved, once that is known.
    earlier: Cell<Option<u64>>,
}

impl<'a> FileProgress<'a> {
    pub(super) const fn new(of_all: &'a Progress) -> Self {
        Self {
            of_all,
            moved: Cell::new(0),
            counted: Cell::new(0),
            earlier: Cell::new(None),
        }
    }

    /// It is begun, for the first time or again, behind so many bytes that are there already.
    pub(super) fn begin(&self, there: u64) {
        self.earlier.set(self.earlier.get().or(Some(there)));
        self.moved.set(0);
        self.advance(there);
    }

    pub(super) fn advance(&self, bytes: u64) {
        let moved = self.moved.get() + bytes;
        self.moved.set(moved);
        if let Some(more) = moved.checked_sub(self.counted.get()) {
            self.counted.set(moved);
            self.of_all.advance(more);
        }
    }

    /// Bytes that were there when it was begun for the first time.
    pub(super) fn earlier(&self) -> u64 {
        self.earlier.get().unwrap_or(0)
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
    /// A symbolic link was copied as one.
    Linked {
        /// Which one.
        path: &'a str,
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
    /// It was copied, and does not have its times or attributes.
    NotKept(&'a Failure),
    /// The server lost some of it, and it was written once more.
    Lost(&'a Failure),
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
    /// Of these, bytes that this run had copied when it was interrupted, and did not copy again.
    pub continued_bytes: u64,
    /// Bytes that the server copied by itself, without sending them to this machine and back.
    pub on_server_bytes: u64,
    /// Why it did not copy more of them, where both ends are on it.
    pub not_on_server: Option<Message>,
    /// Files whose copy was read back and has the hash of its source.
    pub verified: u64,
    /// Files whose copy is there already, by size and time.
    pub unchanged: u64,
    /// Files whose copy is newer, and was left.
    pub newer: u64,
    /// Symbolic links that were copied as links.
    pub links: u64,
    /// Folders that were made.
    pub folders: u64,
    /// Files and folders that were removed, each folder with all in it counted once; of one that could not be emptied, what
    /// was in it.
    pub deleted: u64,
    /// Files and folders that were not removed, because something else in their folder failed, because
    /// they are no longer what was there when the folder was looked into, or, of folders, because they may hold what the
    /// filter leaves out.
    pub kept: u64,
    /// Links, devices and the like that were left out.
    pub skipped: u64,
    /// Parts of copies that were not completed, and their records, which were left out by their names.
    pub unfinished: u64,
    /// Files that `filter` left out.
    pub filtered: u64,
    /// How many could not be copied or removed.
    pub failed: u64,
    /// The first of them, at most [`FAILURES_MAX`].
    pub failures: Vec<Failure>,
    /// How many were copied and do not have their times or attributes, because the server does not take
    /// them.
    pub not_kept: u64,
    /// The first of them, at most [`FAILURES_MAX`].
    pub without: Vec<Failure>,
    /// Files that the server lost some of, and that were written once more.
    pub lost: u64,
    /// The first of them.
    pub first_lost: Option<Failure>,
    /// Files that were copied and have alternate data streams, which were not.
    pub with_streams: u64,
    /// The first of them.
    pub first_stream: Option<AlternateStream>,
    /// BLAKE3 of the copied file, where it was one and the copy was verified.
    pub hash: Option<String>,
    /// What ended the copy before all was done.
    pub ended_by: Option<Error>,
}

/// A data stream that was not copied.
#[derive(Debug)]
pub struct AlternateStream {
    /// The file, relative to what is copied, without anything that could steer a terminal.
    pub path: String,
    /// The stream, as in `:name:$DATA`, the same.
    pub name: String,
}

/// Failures that a summary holds.
pub const FAILURES_MAX: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_begun_again_counts_once() {
        let all = Progress::default();
        let file = FileProgress::new(&all);
        // an earlier run had moved 10 of 50, and this one is interrupted at 40 with 30 on record
        file.begin(10);
        (0..3).for_each(|_| file.advance(10));
        assert_eq!((all.moved(), file.earlier()), (40, 10));
        file.begin(30);
        file.advance(5);
        assert_eq!(all.moved(), 40, "that was moved before");
        // from the begin: nothing of it is there any more
        file.begin(0);
        (0..5).for_each(|_| file.advance(10));
        assert_eq!((all.moved(), file.earlier()), (50, 10));
    }
}
