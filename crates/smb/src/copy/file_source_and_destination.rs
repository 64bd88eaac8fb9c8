//! Both ends of the copy of one file, whichever side they are on.

use std::ops::Range;
use std::sync::Arc;

use blake3::Hash;

use super::entry::Entry;
use super::extra_sessions::ExtraSession;
use super::partial_file_options::{Begin, Finish};
use super::place::Place;
use super::resume_record::Identity;
use super::{local_files, share};
use crate::error::Error;
use crate::file::File;
use crate::single_path_operations::NotKept;
use crate::tree::Replace;

/// A file that is copied.
pub(super) enum Source {
    Local(Arc<local_files::Source>),
    Share(Box<share::source::Source>),
}

impl Source {
    /// Opens it; `found` is what its folder says of it.
    pub(super) fn open(from: &Place, found: &Entry) -> Result<Self, Error> {
        match from {
            Place::Local(path) => local_files::Source::open(path)
                .map(Arc::new)
                .map(Self::Local),
            Place::Share { tree, path } => share::source::Source::open(tree, path, found)
                .map(Box::new)
                .map(Self::Share),
        }
    }

    pub(super) fn entry(&self) -> &Entry {
        match self {
            Self::Local(source) => &source.entry,
            Self::Share(source) => &source.entry,
        }
    }

    /// The first data stream that is not copied, where its server tells it.
    pub(super) fn alternate_stream(&self) -> Option<&str> {
        match self {
            Self::Local(_) => None,
            Self::Share(source) => source.alternate_stream.as_deref(),
        }
    }

    pub(super) fn identity(&self) -> Identity {
        let Entry {
            size, times, id, ..
        } = self.entry();
        Identity {
            size: *size,
            written: times.write,
            changed: times.change,
            id: *id,
        }
    }

    /// Whether the copy is to have holes.
    pub(super) fn is_sparse(&self) -> bool {
        match self {
            Self::Local(source) => source.is_sparse(),
            Self::Share(source) => source.entry.may_be_sparse(),
        }
    }

    /// Finds out where the holes behind `from` are, and gives up to where that is known now: some
    /// bytes further, unless `from` is the end.
    pub(super) fn query_allocated(&self, from: u64) -> Result<u64, Error> {
        match self {
            Self::Local(source) => Ok(source.entry.size),
            Self::Share(source) => source.query_allocated(from),
        }
    }

    /// The next range at or after `from` that is not a hole, as far as that is known.
    pub(super) fn next_data(&self, from: u64) -> Option<Range<u64>> {
        match self {
            Self::Local(source) => source.next_data(from),
            Self::Share(source) => source.next_data(from),
        }
    }

    /// Goes over one more session, if it is on a share and that can be.
    pub(super) fn add_session(&mut self, session: &ExtraSession) {
        if let Self::Share(source) = self {
            source.add_session(session);
        }
    }

    pub(super) fn check_unchanged(&self) -> Result<(), Error> {
        match self {
            Self::Local(source) => source.check_unchanged(),
            Self::Share(source) => source.check_unchanged(),
        }
    }

    /// The same when nothing more is read of it.
    pub(super) fn close_unchanged(self) -> Result<(), Error> {
        match self {
            Self::Local(source) => source.check_unchanged(),
            Self::Share(source) => source.close_unchanged(),
        }
    }
}

/// A copy that is not complete. It is removed unless it is completed or kept.
pub(super) enum Part {
    Local(local_files::Part),
    Share(Box<share::part::Part>),
    /// Whatever is written to the null device is complete.
    Nowhere,
}

impl Part {
    /// Begins a copy, or goes on with one. Gives where to go on.
    pub(super) fn begin(to: &Place, begin: &Begin) -> Result<(Self, u64), Error> {
        match to {
            nowhere if nowhere.is_nowhere() => Ok((Self::Nowhere, 0)),
            Place::Local(path) => local_files::Part::begin(path, begin)
                .map(|(part, start)| (Self::Local(part), start)),
            Place::Share { tree, path } => share::part::Part::begin(tree, path, begin)
                .map(|(part, start)| (Self::Share(Box::new(part)), start)),
        }
    }

    /// Goes over one more session, if it is on a share, was begun for that, and that can be.
    pub(super) fn add_session(&mut self, session: &ExtraSession) {
        if let Self::Share(part) = self {
            part.add_session(session);
        }
    }

    /// Of a part on a share, the file.
    pub(super) const fn file(&self) -> Option<&File> {
        match self {
            Self::Share(part) => Some(part.file()),
            Self::Local(_) | Self::Nowhere => None,
        }
    }

    /// Writes to a part that is not on a share.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::Local(part) => part.write(offset, bytes),
            Self::Share(part) => part.write(offset, bytes),
            Self::Nowhere => Ok(()),
        }
    }

    /// Puts on storage what was written.
    pub(super) fn sync(&self) -> Result<(), Error> {
        match self {
            Self::Local(part) => part.sync(),
            Self::Share(part) => part.file().flush(),
            Self::Nowhere => Ok(()),
        }
    }

    /// Says in the record how much is on storage.
    pub(super) fn record(&self, complete: u64) -> Result<(), Error> {
        match self {
            Self::Local(part) => part.record(complete),
            Self::Share(part) => part.record(complete),
            Self::Nowhere => Ok(()),
        }
    }

    /// Leaves the part and its record for a later run.
    pub(super) fn keep(&self) {
        match self {
            Self::Local(part) => part.keep(),
            Self::Share(part) => part.keep(),
            Self::Nowhere => {}
        }
    }

    /// Reads back what was written; none where nothing can be.
    pub(super) fn hash(&self, size: u64, stop: &crate::Stop) -> Result<Option<Hash>, Error> {
        match self {
            Self::Local(part) => part.hash(size, stop).map(Some),
            Self::Share(part) => part.hash(size, stop).map(Some),
            Self::Nowhere => Ok(None),
        }
    }

    /// Gives it its name. Why it does not have its times, where it does not.
    pub(super) fn complete(self, finish: &Finish) -> Result<NotKept, Error> {
        match self {
            Self::Local(part) => part.complete(finish),
            Self::Share(part) => part.complete(finish),
            Self::Nowhere => Ok(None),
        }
    }

    /// Whether one piece is to be written after the other, and zeros where holes are.
    pub(super) fn is_written_in_order(&self) -> bool {
        matches!(self, Self::Share(part) if part.is_written_in_order())
    }
}

impl Finish {
    /// Of a file that is copied between these places.
    pub(super) fn of(found: &Entry, [from, to]: [&Place; 2], replace: Replace) -> Self {
        Self {
            size: found.size,
            times: found.times,
            attributes: found.attributes_of_copy(),
            // Whoever copies within this machine has other tools.
            mode: found.mode.filter(|_| from.is_share() || to.is_share()),
            replace,
            sync: false,
        }
    }
}
