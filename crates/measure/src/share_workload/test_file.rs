//! Test files on a share: their names, how they are opened, and how they are removed.

use std::fmt::Display;
use std::thread;
use std::time::{Duration, Instant};

use record::{Bytes, Direction, ShareWorkload};
use smb::{Access, ChannelStatus, Disposition, File, OpenOptions, Session, Tree};

use super::ANSWER_LOOK;
use crate::{Error, Stop, fill_random, read_copy_small_files};

/// The shortest file of somebody's that is read where none of our own can be made.
const FOUND_BYTES_MIN: u64 = 1 << 20;
/// The share must have room for the test file and this part of it more.
pub(crate) const SPARE_SHARE: u64 = 10;
/// How long a file that is to be emptied waits for its last writes.
const SETTLE_MAX: Duration = Duration::from_secs(2);

/// The file of a trial, open.
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) path: String,
    /// Whether it is ours and empty.
    pub(super) is_new: bool,
    /// Bytes of it that are worth going through.
    pub(super) size: Bytes,
}

impl Opened {
    /// The one that is kept for several trials, or a new one. Who may not write reads what is there,
    /// unless operations of their own are wanted, which take a file of our own.
    pub(super) fn of(tree: &Tree, workload: &ShareWorkload, stop: &Stop) -> Result<Self, Error> {
        let size = workload.file_size;
        let operations = workload.operations.as_ref();
        if let Some(path) = operations.and_then(|operations| operations.file.clone()) {
            let file = tree.open(&path, &as_kept_file(workload))?;
            return Ok(Self {
                file,
                path,
                is_new: false,
                size,
            });
        }
        let only_streams = workload.direction == Direction::Read && operations.is_none();
        match Self::new(tree, workload) {
            Err(error) if only_streams && error.is_of_writing() => {
                Self::found(tree, workload, error, stop)
            }
            made => made,
        }
    }

    /// The one that another session has written for this trial.
    pub(super) fn prepared(
        tree: &Tree,
        workload: &ShareWorkload,
        path: String,
    ) -> Result<Self, Error> {
        if only_reads(workload) {
            return Self::there(tree, &path, workload.file_size);
        }
        Ok(Self {
            file: tree.open(&path, &as_kept_file(workload))?,
            path,
            is_new: false,
            size: workload.file_size,
        })
    }

    /// One that is there already, to be read.
    fn there(tree: &Tree, path: &str, size: Bytes) -> Result<Self, Error> {
        Ok(Self {
            file: tree.open(path, &as_file_that_is_there())?,
            path: path.to_owned(),
            is_new: false,
            size,
        })
    }

    /// The one of another session of the same trial: where nothing is written, the same once more.
    pub(super) fn of_other_session(
        tree: &Tree,
        path: &str,
        workload: &ShareWorkload,
    ) -> Result<Self, Error> {
        match only_reads(workload) {
            true => Self::there(tree, path, workload.file_size),
            false => Self::new(tree, workload),
        }
    }

    /// Closes it, and removes it if it is ours.
    pub(super) fn end(self, session: &Session) -> Result<(), Error> {
        match self.is_new {
            true => {
                settle(session);
                remove(self.file)
            }
            false => Ok(self.file.close()?),
        }
    }

    fn new(tree: &Tree, workload: &ShareWorkload) -> Result<Self, Error> {
        let path = test_path(&workload.share.path)?;
        check_free_space(tree, workload)?;
        let file = tree.open(&path, &as_test_file(workload))?;
        Ok(Self {
            file,
            path,
            is_new: true,
            size: workload.file_size,
        })
    }

    /// Somebody's file: of those that are long enough the shortest, for the longest is read once to tell
    /// of the disk, and otherwise the longest.
    fn found(
        tree: &Tree,
        workload: &ShareWorkload,
        why: Error,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let wanted = workload.file_size.get();
        let in_flight = workload.block.get() * u64::from(workload.depth);
        let least = in_flight.max(FOUND_BYTES_MIN);
        let rank = |size: u64| match size >= wanted {
            true => u64::MAX - (size - wanted),
            false => size,
        };
        let mut goes_on = || match stop.is_asked() {
            true => Err(Error::Stopped),
            false => Ok(true),
        };
        let folder = &workload.share.path;
        let found =
            read_copy_small_files::find(tree, folder, least..=u64::MAX, &rank, &mut goes_on)?;
        let Some((path, size)) = found else {
            return Err(Error::NothingToRead {
                share: workload.share.to_string(),
                least,
                source: Box::new(why),
            });
        };
        Self::there(tree, &path, Bytes::new(size.min(wanted)))
    }
}

pub(super) fn check_free_space(tree: &Tree, workload: &ShareWorkload) -> Result<(), Error> {
    let available = tree.free_space()?.available_bytes;
    check_space(&workload.share, available, workload.file_size.get())
}

/// Refuses to fill somebody's disk, of which so many bytes are free.
pub(crate) fn check_space(place: &dyn Display, available: u64, size: u64) -> Result<(), Error> {
    let needed = size.saturating_add(size / SPARE_SHARE);
    match available < needed {
        false => Ok(()),
        true => Err(Error::NoSpace {
            share: place.to_string(),
            needed,
            available,
        }),
    }
}

/// A name that nobody else uses, in the folder that was asked for.
pub(super) fn test_path(folder: &str) -> Result<String, Error> {
    Ok(joined(folder.trim_matches('/'), &test_name()?))
}

/// The path of something in a folder of a share.
pub(crate) fn joined(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// The name of a test file.
pub(crate) fn test_name() -> Result<String, Error> {
    let mut random = [0; 8];
    fill_random(&mut random)?;
    Ok(format!(".linerate-{:016x}.tmp", u64::from_ne_bytes(random)))
}

/// Whether nothing is written while it is measured.
pub(super) fn only_reads(workload: &ShareWorkload) -> bool {
    let operations = workload.operations.as_ref();
    let mixed = operations.is_some_and(|operations| operations.opposite_percent > 0);
    workload.direction == Direction::Read && !mixed
}

pub(super) fn as_file_that_is_there() -> OpenOptions {
    OpenOptions {
        folder: Some(false),
        ..OpenOptions::open(Access::Read)
    }
}

/// Waits for what is under way, though not for long: a write that ends later makes the file long again.
fn settle(session: &Session) {
    let deadline = Instant::now() + SETTLE_MAX;
    let is_busy = |channel: &ChannelStatus| channel.alive && channel.in_flight > 0;
    while session.channels().iter().any(is_busy) && Instant::now() < deadline {
        thread::sleep(ANSWER_LOOK);
    }
}

/// Closes a test file of ours, with which the server removes it. Its content goes first: a server with a
/// recycle bin would keep it.
pub(super) fn remove(file: File) -> Result<(), Error> {
    // One that cannot be made shorter is removed all the same.
    file.set_size(0).ok();
    Ok(file.close()?)
}

pub(super) fn writes_through(workload: &ShareWorkload) -> bool {
    let operations = workload.operations.as_ref();
    operations.is_some_and(|operations| operations.write_through)
}

fn as_kept_file(workload: &ShareWorkload) -> OpenOptions {
    OpenOptions {
        disposition: Disposition::Open,
        write_through: writes_through(workload),
        folder: Some(false),
        share_write: true,
        ..OpenOptions::open(Access::ReadWrite)
    }
}

pub(super) fn as_test_file(workload: &ShareWorkload) -> OpenOptions {
    OpenOptions {
        disposition: Disposition::Create,
        write_through: writes_through(workload),
        folder: Some(false),
        delete_on_close: true,
        share_write: false,
        ..OpenOptions::open(Access::ReadWrite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share_workload::tests::{operations, workload};

    #[test]
    fn what_must_be_written_through_is_opened_so() {
        for through in [false, true] {
            let workload = ShareWorkload {
                operations: Some(operations(through)),
                ..workload()
            };
            assert_eq!(as_test_file(&workload).write_through, through);
            assert_eq!(as_kept_file(&workload).write_through, through);
        }
        assert!(!as_test_file(&workload()).write_through);
    }

    #[test]
    fn test_files_have_names_of_their_own() {
        let (first, second) = (test_path("").unwrap(), test_path("/a/b/").unwrap());
        assert!(
            first.starts_with(".linerate-") && first.ends_with(".tmp"),
            "{first}"
        );
        assert!(second.starts_with("a/b/.linerate-"), "{second}");
        assert_ne!(first, test_path("").unwrap());
    }
}
