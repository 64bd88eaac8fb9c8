//! Files and folders of a share.

use std::cell::RefCell;
use std::iter;
use std::ops::Range;

use blake3::Hash;
use smb_proto::NtStatus;
use smb_proto::session::{Access, CreateOptions, Disposition, FileTimes, Posix, SetInformation};

use super::allocated::AllocatedRanges;
use super::extra_sessions::ExtraSession;
use super::hash::FileHash;
use super::name;
use super::part::{Begin, Finish};
use super::place::{
    ATTRIBUTE_ARCHIVE, ATTRIBUTE_FOLDER, ATTRIBUTE_LINK, ATTRIBUTE_READ_ONLY, ATTRIBUTE_SPARSE,
    ATTRIBUTES_KEPT, Entry, Kind, ObjectId, OfFolder, is_absent, joined,
};
use super::record::{self, Identity, Record};
use super::time;
use super::transfer::{RESUME_BYTES_MIN, is_interruption};
use crate::dfs;
use crate::error::Error;
use crate::file::File;
use crate::operation::{self, Content, SMALL_BYTES_MAX, SmallFile, Status};
use crate::signal::Stop;
use crate::small::{self, Attempt, NotKept};
use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use crate::tree::{Tree, as_change};

/// Rights of the handle that writes a copy: data and attributes, those to read it back, and those
/// that renaming and removing need (DELETE, SYNCHRONIZE, read and write data, append, read and
/// write attributes).
const PART_RIGHTS: u32 = 0x0001_0000 | 0x0010_0000 | 0x1 | 0x2 | 0x4 | 0x80 | 0x100;

/// Modes of a new file and folder, less what the server takes from them, where nobody tells that of the source.
const NEW_FILE_MODE: u32 = 0o666;
const NEW_FOLDER_MODE: Option<u32> = Some(0o777);
/// What is not complete yet, its owner can read and write.
const PART_MODE_MIN: u32 = 0o600;

/// Folder and name of a path; the name is empty at the top.
pub(super) fn split<'a>(tree: &Tree, path: &'a str) -> (&'a str, &'a str) {
    let end = match tree.is_posix() {
        true => path.rfind('/'),
        false => path.rfind(['/', '\\']),
    };
    match end {
        Some(end) => (&path[..end], &path[end + 1..]),
        None => ("", path),
    }
}

pub(super) fn stat(tree: &Tree, path: &str) -> Result<Entry, Error> {
    let status = tree.status(path)?;
    Ok(entry(tree, path, &status, status.file_id))
}

/// The same of what a link leads to, where its server follows it.
pub(super) fn stat_target(tree: &Tree, path: &str) -> Result<Entry, Error> {
    let options = CreateOptions {
        disk_id: true,
        ..CreateOptions::open(Access::Attributes)
    };
    let status = operation::status(&tree.open(path, &options)?.created());
    Ok(entry(tree, path, &status, status.file_id))
}

/// Where a folder is that its server says is on another one; none where it says nothing of the kind.
pub(super) fn followed(tree: &Tree, path: &str) -> Result<Option<(Tree, String)>, Error> {
    match dfs::probe(tree, path) {
        Ok(()) => Ok(None),
        Err(refusal) => dfs::follow(tree, path, refusal).map(Some),
    }
}

/// Whether a server says that a folder is on another one.
pub(super) fn is_elsewhere(tree: &Tree, path: &str) -> bool {
    dfs::probe(tree, path).is_err()
}

pub(super) fn id(tree: &Tree, path: &str) -> Option<ObjectId> {
    let options = CreateOptions {
        disk_id: true,
        ..CreateOptions::open(Access::Attributes)
    };
    let file = tree.open(path, &options).ok()?;
    let created = file.created();
    let (number, volume) = created.disk_id.filter(|(number, _)| *number != 0)?;
    Some(ObjectId {
        volume,
        file: number,
        creation: created.times.creation,
    })
}

/// The name of a file or folder on the server's disk, where the server says it.
pub(super) fn true_name(tree: &Tree, path: &str) -> Result<Option<String>, Error> {
    let file = tree.open(path, &CreateOptions::open(Access::Attributes))?;
    file.true_name()
}

pub(super) fn list(
    tree: &Tree,
    path: &str,
) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<>, Error> {
    let entries = tree.entries(path)?;
    Ok(entries.map(|entry| entry.map(Entry::from)))
}

pub(super) fn make_folder(
    tree: &Tree,
    path: &str,
    mode: Option<u32>,
) -> Result<Option<NotKept>, Error> {
    tree.check_new_name(path)?;
    match tree.create_folder_as(path, mode.or(NEW_FOLDER_MODE)) {
        Ok(not_kept) => Ok(Some(not_kept.filter(|_| mode.is_some()))),
        Err(Error::AlreadyExists { object, .. }) => match stat(tree, path)?.kind {
            Kind::Folder => Ok(None),
            _ => Err(Error::Obstructed {
                object: name::printable(&object),
            }),
        },
        Err(error) => Err(error),
    }
}

pub(super) fn finish_folder(tree: &Tree, path: &str, source: &OfFolder) -> Result<NotKept, Error> {
    let attributes = attributes(tree, source.attributes & ATTRIBUTES_KEPT);
    let times = tree.times_as_taken(times_kept(source.times));
    match tree.set_basic(path, times, attributes) {
        Err(error) if error.is_refusal() => Ok(Some(error)),
        set => set.map(|()| None),
    }
}

/// All of a small file, and what the server said of it when it was opened.
pub(super) fn read_small(
    tree: &Tree,
    path: &str,
    found: &Entry,
    bytes_max: u64,
) -> Result<(Entry, Vec<u8>), Error> {
    let Content { status, bytes } = if found.size <= SMALL_BYTES_MAX as u64 {
        tree.read_small(path)?
    } else {
        operation::read_in_steps(tree, path, bytes_max)?
    };
    if bytes.len() as u64 != status.size {
        return Err(changed(path));
    }
    Ok((entry(tree, path, &status, found.id), bytes))
}

/// A small file, which gets its name when it is complete.
pub(super) fn write_small(
    tree: &Tree,
    path: &str,
    bytes: &[u8],
    finish: &Finish,
    attempt: Attempt,
) -> Result<NotKept, Error> {
    if bytes.len() <= SMALL_BYTES_MAX && !finish.sync {
        return write_in_one_go(tree, path, bytes, finish, attempt);
    }
    let write = || {
        let (part, _) = Part::begin(tree, path, &Begin::small(finish))?;
        part.write(0, bytes)?;
        part.complete(finish)
    };
    match write() {
        // From now on each piece waits for the one before.
        Err(Error::Lost { .. }) => write(),
        written => written,
    }
}

fn write_in_one_go(
    tree: &Tree,
    path: &str,
    bytes: &[u8],
    finish: &Finish,
    attempt: Attempt,
) -> Result<NotKept, Error> {
    tree.check_new_name(path)?;
    let (folder, name) = split(tree, path);
    let temporary = joined(folder, &name::of_part(name));
    let small = SmallFile {
        path: path.to_owned(),
        temporary: temporary.clone(),
        replace: finish.replace,
        content: bytes.into(),
        times: times_kept(finish.times),
        attributes: attributes(tree, finish.attributes),
        mode: finish.mode,
    };
    small::write(tree, &small, attempt).map_err(|error| match error {
        Error::AlreadyExists { .. } => Error::Obstructed {
            object: name::printable(path),
        },
        error => busy_or(error, &temporary),
    })
}

/// Another program writes the same copy, if that is what the server says.
fn busy_or(error: Error, part: &str) -> Error {
    match error.status() {
        Some(NtStatus::SHARING_VIOLATION) => Error::Busy {
            object: name::printable(part),
        },
        _ => error,
    }
}

/// Reads a file and hashes it.
pub(super) fn hash(file: &File, size: u64, stop: &Stop) -> Result<Hash, Error> {
    let mut hash = FileHash::new(size);
    for piece in file.read_ranges(iter::once(0..size), stop) {
        let piece = piece?;
        hash.add(piece.offset, piece.payload.bytes());
    }
    hash.finish().ok_or_else(|| Error::Changed {
        object: name::printable(file.path()),
    })
}

/// Attributes of a copy. Where files have modes, those say who may write it, and nobody asks what was backed up; what
/// is left may be nothing, which leaves what there is.
fn attributes(tree: &Tree, wanted: u32) -> u32 {
    match tree.is_posix() {
        true => wanted & ATTRIBUTES_KEPT & !(ATTRIBUTE_READ_ONLY | ATTRIBUTE_ARCHIVE),
        false => wanted,
    }
}

fn entry(tree: &Tree, path: &str, status: &Status, id: u64) -> Entry {
    let kind = match status.attributes {
        attributes if attributes & ATTRIBUTE_LINK != 0 => Kind::Link,
        attributes if attributes & ATTRIBUTE_FOLDER != 0 => Kind::Folder,
        _ => Kind::File,
    };
    Entry {
        name: split(tree, path).1.to_owned(),
        kind,
        size: status.size,
        allocation: status.allocation,
        times: status.times,
        attributes: status.attributes,
        id,
        mode: status.posix.as_ref().map(Posix::access),
    }
}

fn basic(times: FileTimes, attributes: u32) -> SetInformation {
    let times = times_kept(times);
    SetInformation::Basic { times, attributes }
}

fn times_kept(times: FileTimes) -> FileTimes {
    FileTimes {
        // The server's own business.
        change: 0,
        ..times
    }
}

/// A file of a share that is copied.
pub(super) struct Source {
    file: File,
    path: String,
    pub(super) entry: Entry,
    tree: Tree,
    allocated: RefCell<AllocatedRanges>,
}

impl Source {
    pub(super) const fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn open(tree: &Tree, path: &str, found: &Entry) -> Result<Self, Error> {
        let file = tree.open(path, &Self::options())?;
        let entry = entry(tree, path, &operation::status(&file.created()), found.id);
        let allocated = if entry.attributes & ATTRIBUTE_SPARSE != 0 {
            AllocatedRanges::default()
        } else {
            AllocatedRanges::none(entry.size)
        };
        Ok(Self {
            file,
            path: path.to_owned(),
            entry,
            tree: tree.clone(),
            allocated: RefCell::new(allocated),
        })
    }

    fn options() -> CreateOptions {
        CreateOptions {
            folder: Some(false),
            sequential: true,
            disk_id: true,
            ..CreateOptions::open(Access::Read)
        }
    }

    pub(super) fn add_session(&mut self, session: &ExtraSession) {
        // Without it the copy is slower, and no other.
        if let Ok(file) = session.tree(&self.tree).open(&self.path, &Self::options()) {
            self.file.add_handle(file);
        }
    }

    /// Asks the server for what is not known; one that does not tell has no holes.
    pub(super) fn query_allocated(&self, from: u64) -> Result<u64, Error> {
        let size = self.entry.size;
        let mut allocated = self.allocated.borrow_mut();
        if from >= allocated.known && from < size {
            *allocated = match self.file.allocated(from..size) {
                Ok((ranges, more)) => AllocatedRanges::of_server(from..size, &ranges, more),
                Err(error) if error.is_missing_fact() => AllocatedRanges::none(size),
                Err(error) => return Err(error),
            };
        }
        Ok(allocated.known)
    }

    pub(super) fn next_data(&self, from: u64) -> Option<Range<u64>> {
        self.allocated.borrow().next_data(from)
    }

    pub(super) fn check_unchanged(&self) -> Result<(), Error> {
        let (size, times) = self.file.size_and_times()?;
        if size == self.entry.size && times.write == self.entry.times.write {
            Ok(())
        } else {
            Err(changed(&self.path))
        }
    }

    pub(super) fn close_unchanged(self) -> Result<(), Error> {
        if self.file.close_unchanged()? {
            Ok(())
        } else {
            Err(changed(&self.path))
        }
    }
}

fn changed(path: &str) -> Error {
    Error::Changed {
        object: name::printable(path),
    }
}

const REMOVE: u8 = 0;
const KEEP: u8 = 1;
const COMPLETED: u8 = 2;

/// A copy on a share that is not complete. It is removed unless it is completed or kept.
pub(super) struct Part {
    file: File,
    tree: Tree,
    to: String,
    record: String,
    /// What the records say it is a copy of.
    source: Identity,
    is_sparse: bool,
    /// What is written beyond the end of the file may be lost: one piece goes after the other, holes as zeros.
    in_order: bool,
    fate: AtomicU8,
    /// Whether there is a record.
    recorded: AtomicBool,
    /// The record, held open so that nobody else writes this copy: the part is open for others then.
    guard: Option<File>,
}

impl Part {
    /// Begins a copy, or goes on with one. Gives where to go on.
    pub(super) fn begin(tree: &Tree, to: &str, begin: &Begin) -> Result<(Self, u64), Error> {
        tree.check_new_name(to)?;
        let (folder, name) = split(tree, to);
        let path = joined(folder, &name::of_part(name));
        let record = joined(folder, &name::of_record(name));
        let guard = if begin.several {
            let options = CreateOptions {
                disposition: Disposition::OpenOrCreate,
                folder: Some(false),
                share_write: false,
                ..CreateOptions::open(Access::Mask(PART_RIGHTS))
            };
            let guard = tree.open(&record, &options);
            Some(guard.map_err(|error| busy_or(error, &path))?)
        } else {
            None
        };
        let known = match (begin.resume, &guard) {
            (true, Some(guard)) => read_record(guard),
            (true, None) => {
                let found = tree.open(&record, &CreateOptions::open(Access::Read));
                found.ok().and_then(|file| read_record(&file))
            }
            (false, _) => None,
        };
        let options = CreateOptions {
            disposition: match known {
                Some(_) => Disposition::OpenOrCreate,
                None => Disposition::CreateOrTruncate,
            },
            folder: Some(false),
            sequential: true,
            share_write: begin.several,
            disk_id: begin.several,
            all_or_nothing: true,
            // Its owner can go on with it later.
            posix: Some(begin.mode.unwrap_or(NEW_FILE_MODE) | PART_MODE_MIN),
            // A server that lacks the room can say so before anything is sent.
            allocation_bytes: Some(begin.source.size).filter(|_| !begin.is_sparse),
            ..CreateOptions::open(Access::Mask(PART_RIGHTS))
        };
        let open = |options: &CreateOptions| {
            let opened = tree.open(&path, options);
            opened.map_err(|error| busy_or(error, &path))
        };
        let mut file = open(&options)?;
        let length = file.created().size;
        let mut start = known.map_or(0, |known| known.resume_at(&begin.source, length));
        // What follows may be anything, and where nothing is written zeros are expected. All else is
        // written over.
        let is_too_long = length > start && (begin.is_sparse || length > begin.source.size);
        if is_too_long && !has_length(&file, start)? {
            file.close()?;
            file = open(&CreateOptions {
                disposition: Disposition::CreateOrTruncate,
                ..options.clone()
            })?;
            start = 0;
        }
        let mut part = Self {
            file,
            tree: tree.clone(),
            to: to.to_owned(),
            record,
            source: begin.source,
            is_sparse: begin.is_sparse,
            in_order: tree.loses_writes(),
            // What can be gone on with is not lost because this time it cannot.
            fate: AtomicU8::new(if start > 0 { KEEP } else { REMOVE }),
            recorded: AtomicBool::new(start > 0),
            guard,
        };
        if start == 0 {
            part.forget_record()?;
        }
        if begin.is_sparse {
            match part.file.set_sparse() {
                Err(error) if error.status().is_none() => return Err(error),
                // Many file systems need no asking, or have no holes; the bytes are the same.
                _ => {}
            }
            // What is written beyond the end of a file, some servers lose.
            part.in_order |= !has_length(&part.file, begin.source.size)?;
        }
        *part.fate.get_mut() = REMOVE;
        Ok((part, start))
    }

    /// Whether one piece is written after the other, and zeros where holes are.
    pub(super) const fn is_written_in_order(&self) -> bool {
        self.in_order
    }

    /// Writes some of it, and waits for that.
    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        if !self.in_order {
            return self.file.write_at(offset, bytes);
        }
        let most = usize::try_from(self.file.write_bytes_max()).unwrap_or(usize::MAX);
        let mut at = offset;
        for piece in bytes.chunks(most.max(1)) {
            self.file.write_at(at, piece)?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Before any byte is written: what a record of an earlier part says would be believed of this one.
    /// Where the file is too small for a record, one that is there is of another file.
    fn forget_record(&self) -> Result<(), Error> {
        match &self.guard {
            Some(guard) if guard.created().size > 0 => guard.set_size(0),
            None if self.source.size >= RESUME_BYTES_MIN => {
                match self.tree.remove_file(&self.record) {
                    Err(error) if !is_absent(&error) => Err(busy_or(error, self.file.path())),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    pub(super) fn add_session(&mut self, session: &ExtraSession) {
        let options = CreateOptions {
            folder: Some(false),
            sequential: true,
            disk_id: true,
            all_or_nothing: true,
            ..CreateOptions::open(Access::ReadWrite)
        };
        // Without it the copy is slower, and no other.
        if self.guard.is_some()
            && let Ok(file) = session.tree(&self.tree).open(self.file.path(), &options)
        {
            self.file.add_handle(file);
        }
    }

    pub(super) const fn file(&self) -> &File {
        &self.file
    }

    pub(super) const fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(super) fn record(&self, complete: u64) -> Result<(), Error> {
        let record = Record {
            source: self.source,
            complete,
        };
        if let Some(guard) = &self.guard {
            self.recorded.store(true, Ordering::Relaxed);
            guard.write_at(0, record.to_text().as_bytes())?;
            return guard.flush();
        }
        let options = CreateOptions {
            disposition: Disposition::OpenOrCreate,
            folder: Some(false),
            share_write: false,
            ..CreateOptions::open(Access::Write)
        };
        let file = self.tree.open(&self.record, &options)?;
        self.recorded.store(true, Ordering::Relaxed);
        file.write_at(0, record.to_text().as_bytes())?;
        file.flush()?;
        file.close()
    }

    /// Leaves the part for a later run, if its record says how far it is.
    pub(super) fn keep(&self) {
        let unfinished = self.fate.load(Ordering::Relaxed) == REMOVE;
        if unfinished && self.recorded.load(Ordering::Relaxed) {
            self.fate.store(KEEP, Ordering::Relaxed);
        }
    }

    /// Reads back what was written, over a new open, as any other program would.
    pub(super) fn hash(&self, size: u64, stop: &Stop) -> Result<Hash, Error> {
        if self.recorded.load(Ordering::Relaxed) {
            // That takes long, and what is lost meanwhile shall not take all of it along.
            self.or_kept(self.file.flush())?;
        }
        let options = CreateOptions {
            folder: Some(false),
            sequential: true,
            ..CreateOptions::open(Access::Read)
        };
        let read_back = || {
            let file = self.tree.open(self.file.path(), &options)?;
            hash(&file, size, stop)
        };
        match self.or_kept(read_back()) {
            Err(Error::Changed { .. }) => Err(self.lost(self.file.size()?, size)),
            read => read,
        }
    }

    /// The server has less than it said, or more.
    fn lost(&self, size: u64, expected: u64) -> Error {
        self.tree.learn_loses_writes();
        Error::Lost {
            server: self.tree.shared().server.name.clone(),
            object: name::printable(&self.to),
            size,
            expected,
        }
    }

    /// What was interrupted is gone on with, as far as it is on record.
    fn or_kept<T>(&self, done: Result<T, Error>) -> Result<T, Error> {
        if matches!(done, Err(Error::Interrupted { .. })) {
            self.keep();
        }
        done
    }

    pub(super) fn complete(mut self, finish: &Finish) -> Result<NotKept, Error> {
        let completed = self.finish(finish);
        if completed.as_ref().is_err_and(is_interruption) {
            self.keep();
        }
        completed
    }

    fn finish(&mut self, finish: &Finish) -> Result<NotKept, Error> {
        if finish.sync {
            self.file.flush()?;
        }
        // A server sets the time of a file when a handle goes that has written. Of a session that is
        // lost at this moment we would not hear whether it has gone.
        self.file.probe_handles()?;
        self.file.close_handles()?;
        if let Some(guard) = &self.guard {
            // Without it, somebody else may have begun to write this.
            let guarded = guard.size();
            guarded.map_err(|error| busy_or(error, self.file.path()))?;
        }
        let wanted = attributes(&self.tree, finish.attributes);
        // A part that cannot get its name must not be read-only: nobody could remove it.
        let attributes = operation::writable(wanted);
        let mut not_kept = match self.file.set(basic(finish.times, attributes)) {
            Err(error) if error.is_refusal() => Some(error),
            set => set.map(|()| None)?,
        };
        let (size, times) = self.file.size_and_times()?;
        if size != finish.size {
            return Err(self.lost(size, finish.size));
        }
        let mut kept = time::is_kept(finish.times.write, times.write);
        if not_kept.is_none() && !kept {
            let times = as_change(times_kept(finish.times));
            let set = self.file.set(SetInformation::Basic { times, attributes });
            kept = set.is_ok()
                && time::is_kept(finish.times.write, self.file.size_and_times()?.1.write);
        }
        if not_kept.is_none() && !kept {
            let object = name::printable(&self.to);
            not_kept = Some(Error::TimeNotKept { object });
        }
        let posix = self.file.created().posix;
        let mode_not_kept = (self.tree).keep_mode(self.file.path(), finish.mode, posix)?;
        not_kept = not_kept.or(mode_not_kept);
        self.file
            .rename(&self.to, finish.replace)
            .map_err(|error| match error {
                Error::AlreadyExists { .. } => Error::Obstructed {
                    object: name::printable(&self.to),
                },
                error => error,
            })?;
        self.fate.store(COMPLETED, Ordering::Relaxed);
        if attributes != wanted && not_kept.is_none() {
            match self.file.set(basic(finish.times, wanted)) {
                Err(error) if error.is_refusal() => not_kept = Some(error),
                set => set?,
            }
        }
        if self.is_sparse {
            // Samba forgets it when attributes or names are set; the file is whole all the same.
            let _ = self.file.set_sparse();
        }
        self.file.close_now()?;
        Ok(not_kept)
    }
}

/// Gives a file this length. Whether the server has done so: some refuse, and some say that they did and
/// leave it as it was.
fn has_length(file: &File, bytes: u64) -> Result<bool, Error> {
    match file.set_size(bytes) {
        Err(error) if error.is_refusal() => Ok(false),
        set => set.and_then(|()| file.size()).map(|size| size == bytes),
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let fate = self.fate.load(Ordering::Relaxed);
        // What another session still writes must not meet what the next attempt writes.
        let _ = self.file.close_handles();
        // As far as the server still listens; the error that brought us here says more.
        if fate == REMOVE {
            let _ = self.file.set(SetInformation::DeleteOnClose(true));
        }
        // The next attempt opens both, perhaps on a faster channel: it must find them closed.
        if fate != COMPLETED {
            let _ = self.file.close_now();
        }
        match &mut self.guard {
            Some(guard) => {
                if fate != KEEP {
                    let _ = guard.set(SetInformation::DeleteOnClose(true));
                }
                let _ = guard.close_now();
            }
            None if fate != KEEP && self.recorded.load(Ordering::Relaxed) => {
                let _ = self.tree.remove_file(&self.record);
            }
            None => {}
        }
    }
}

fn read_record(file: &File) -> Option<Record> {
    let mut text = vec![0; record::BYTES_MAX];
    let length = file.read_at(0, &mut text).ok()?;
    Record::parse(text.get(..length)?)
}
