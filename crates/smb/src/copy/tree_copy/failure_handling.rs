//! What becomes of a copy: what failed, was left out or is not all that it should be, and why.

use locale::say;
use smb_proto::session::FileTimes;

use super::{Engine, FileJob, Folder};
use crate::copy::entry::Kind;
use crate::copy::name;
use crate::copy::place::Place;
use crate::copy::progress::{Event, FAILURES_MAX, Failure};
use crate::error::Error;
use crate::signal::lock;
use crate::single_path_operations::NotKept;
use crate::std_or_shuttle::atomic::Ordering;

/// Letters of the path of a failure, of which a thousand are kept.
const FAILURE_LETTERS_MAX: usize = 4096;

impl Engine<'_> {
    /// Notes what is left out.
    pub(super) fn skipped(&self, path: &str, kind: Kind) {
        lock(&self.summary).skipped += 1;
        (self.tell)(&Event::Skipped { path, kind });
    }

    /// Notes what is called like the part of another copy, or its record, which is not copied; it may be a user's file.
    pub(super) fn unfinished(&self, path: &str) {
        lock(&self.summary).unfinished += 1;
        let (path, kind) = (&*name::printable(path), Kind::File);
        (self.tell)(&Event::Skipped { path, kind });
    }

    /// Notes what is there, and is not all that it should be.
    pub(super) fn without(&self, path: &str, not_kept: NotKept) {
        let Some(error) = not_kept else {
            return;
        };
        let without = failure(path, error);
        (self.tell)(&Event::NotKept(&without));
        let mut summary = lock(&self.summary);
        summary.not_kept += 1;
        if summary.without.len() < FAILURES_MAX {
            summary.without.push(without);
        }
    }

    /// Notes what could not be copied, and ends all where nothing more can be.
    pub(super) fn failed(&self, path: &str, error: Error) {
        if self.stop.is_stopped() && matches!(error, Error::Stopped) {
            return;
        }
        if ends_all(&error) {
            return self.end(error);
        }
        let failure = failure(path, error);
        (self.tell)(&Event::Failed(&failure));
        let mut summary = lock(&self.summary);
        summary.failed += 1;
        if summary.failures.len() < FAILURES_MAX {
            summary.failures.push(failure);
        }
    }

    /// The same of something in a folder, from which nothing is removed then: it may be there under another spelling.
    pub(super) fn failed_in(&self, folder: &Folder, path: &str, error: Error) {
        lock(&folder.state).failed = true;
        self.failed(path, error);
    }

    /// The same of a file.
    pub(super) fn failed_file(&self, file: &FileJob, error: Error) {
        match &file.folder {
            Some(folder) => self.failed_in(folder, &file.path, error),
            None => self.failed(&file.path, error),
        }
    }

    pub(super) fn end(&self, error: Error) {
        // The first reason counts; the others follow from it.
        lock(&self.summary).ended_by.get_or_insert(error);
        self.over.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst) || self.stop.is_stopped()
    }
}

/// Whether after this nothing more can be copied.
pub(super) fn ends_all(error: &Error) -> bool {
    match error {
        Error::ConnectionLost { .. }
        | Error::LoginRefused { .. }
        | Error::GuestOnly { .. }
        | Error::Credentials { .. }
        | Error::Incompatible { .. }
        | Error::DiskFull { .. }
        | Error::Protocol { .. }
        | Error::Unreachable { .. }
        | Error::Stopped => true,
        Error::LocalFile { source, .. } => {
            source.kind() == std::io::ErrorKind::StorageFull
                || source.kind() == std::io::ErrorKind::QuotaExceeded
        }
        _ => false,
    }
}

/// Something that is not as it should be; the top of what is copied is shown as a dot.
pub(super) fn failure(path: &str, error: Error) -> Failure {
    let path = match path {
        "" => ".".to_owned(),
        path => name::printable(path),
    };
    let path = match path.char_indices().nth(FAILURE_LETTERS_MAX) {
        Some((end, _)) => format!("{}\u{2026}", &path[..end]),
        None => path,
    };
    Failure { path, error }
}

pub(super) fn nothing_there(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: say("error-smb.nothing-there"),
    }
}

/// What was found under another name is all the same to the destination.
pub(super) fn twin(name: &str) -> Error {
    Error::NotCopied {
        object: name::printable(name),
        reason: say("error-smb.twin"),
    }
}

/// What another source of this copy goes to as well.
pub(super) fn of_two_sources(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: say("error-smb.of-two-sources"),
    }
}

/// That a time of this machine is none that the protocol can carry, from 1601 to 30828 (MS-DTYP 2.3.3).
pub(super) fn not_carried([from, to]: [&Place; 2], times: FileTimes) -> NotKept {
    (to.is_share() && !from.is_share() && times.write == 0).then(|| Error::NotCopied {
        object: to.shown(),
        reason: say("error-smb.time-not-carried"),
    })
}

pub(super) fn no_file(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: say("error-smb.no-file"),
    }
}

pub(super) fn no_folder(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: say("error-smb.no-folder"),
    }
}

pub(super) fn obstructed(place: &Place) -> Error {
    Error::Obstructed {
        object: place.shown(),
    }
}

/// More names than are kept in memory of what folders are said to hold.
pub(super) fn too_many(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: say("error-smb.too-many-names"),
    }
}

/// More folders than can be told apart from links to them.
pub(super) fn too_many_stay(place: &Place) -> Error {
    Error::NotCopied {
        object: place.shown(),
        reason: say("error-smb.too-many-stay"),
    }
}
