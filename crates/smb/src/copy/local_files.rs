//! Files and folders of this machine. Their folder is held open while something is done in it ([`Held`]), and no link is
//! followed: whoever exchanges a name for a link meanwhile gains nothing.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use locale::{Message, say};
use os::file::Held;
use os::local_file::{self, Facts};
use os::windows_time::{from_system_time, to_system_time};
use smb_proto::session::FileTimes;

use super::entry::{ATTRIBUTE_ARCHIVE, ATTRIBUTE_FOLDER, ATTRIBUTE_READ_ONLY, Entry, Kind};
use super::filetime;
use super::name;
use super::partial_file_options::{Begin, Finish};
use super::resume_record::{self, Identity, Record};
use crate::error::Error;
use crate::signal::{Stop, lock};
use crate::single_path_operations::NotKept;
use crate::std_or_shuttle::Mutex;
use crate::tree::Replace;

mod links;

pub(super) use links::{make_link, read_link};

/// Zeros in a row that are left out as a hole: fewer would cost more calls than space.
const HOLE_BYTES: usize = 64 << 10;

/// A path of this machine that a person means, with its links followed: none is followed from then on.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, Error> {
    os::file::resolve(path)
        .map_err(|error| failed(say("error-smb.cannot-follow"), path, error.into_io()))
}

pub(super) fn stat(path: &Path) -> Result<Entry, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let metadata = Held::enter(path).and_then(|at| at.path().symlink_metadata());
    let metadata =
        metadata.map_err(|source| failed(say("error-smb.cannot-examine"), path, source))?;
    let facts = local_file::facts_of_unopened(path, &metadata);
    Ok(entry(name.into_owned(), &metadata, facts))
}

pub(super) fn list(
    path: &Path,
) -> Result<impl Iterator<Item = Result<Entry, Error>> + use<>, Error> {
    let folder = path.to_owned();
    let failed_here = |source| failed(say("error-smb.cannot-list"), path, source);
    let held = Held::folder(path).map_err(failed_here)?;
    let entries = fs::read_dir(held.path()).map_err(failed_here)?;
    Ok(entries.map(move |found| {
        let found =
            found.map_err(|source| failed(say("error-smb.cannot-list"), &folder, source))?;
        let name = found.file_name();
        let Some(name) = name.to_str() else {
            return Err(Error::Name {
                name: name::printable(&name.to_string_lossy()),
                reason: say("error-smb.name-not-utf8"),
            });
        };
        let there = held.path().join(name);
        let metadata = there.symlink_metadata();
        let metadata = metadata.map_err(|source| {
            failed(say("error-smb.cannot-examine"), &folder.join(name), source)
        })?;
        let facts = local_file::facts_of_unopened(&there, &metadata);
        Ok(entry(name.to_owned(), &metadata, facts))
    }))
}

/// Whether a path is `outer` or leads into it, links followed.
pub(super) fn holds(outer: &Path, inner: &Path) -> bool {
    // What is not there yet cannot be followed; the folder above it can.
    let there = inner
        .ancestors()
        .find_map(|above| Some((above, fs::canonicalize(or_here(above)).ok()?)));
    let (Ok(outer), Some((above, there))) = (fs::canonicalize(or_here(outer)), there) else {
        return false;
    };
    let rest = inner.strip_prefix(above).unwrap_or(Path::new(""));
    there.join(rest).starts_with(outer)
}

fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

/// Makes a folder; a link to one is not taken for one, so that nothing is written elsewhere.
pub(super) fn make_folder(path: &Path, mode: Option<u32>) -> Result<Option<NotKept>, Error> {
    let failed = |source| failed(say("error-smb.cannot-make-folder"), path, source);
    let at = Held::enter(path).map_err(failed)?;
    match local_file::folder_builder(mode).create(at.path()) {
        Ok(()) => Ok(Some(None)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::symlink_metadata(at.path()).is_ok_and(|metadata| metadata.is_dir()) {
                Ok(None)
            } else {
                Err(obstructed(path))
            }
        }
        Err(source) => Err(failed(source)),
    }
}

pub(super) fn remove(path: &Path, kind: Kind) -> Result<(), Error> {
    let removed = Held::enter(path).and_then(|at| match kind {
        Kind::Folder => fs::remove_dir(at.path()),
        _ => fs::remove_file(at.path()),
    });
    removed.map_err(|source| failed(say("error-smb.cannot-remove"), path, source))
}

/// Whether everything that is written there vanishes.
pub(super) fn is_nowhere(path: &Path) -> bool {
    os::file::is_null_device(path)
}

/// A small file, which gets its name when it is complete.
pub(super) fn write_small(path: &Path, bytes: &[u8], finish: &Finish) -> Result<NotKept, Error> {
    if is_nowhere(path) {
        return Ok(None);
    }
    let (part, _) = Part::begin(path, &Begin::small(finish))?;
    part.write(0, bytes)?;
    part.complete(finish)
}

pub(super) fn set_folder_times(path: &Path, times: FileTimes) -> Result<NotKept, Error> {
    // Somebody else may have put a link or a pipe in its place.
    Held::enter(path)
        .and_then(|at| local_file::open_to_set_times(at.path()))
        .and_then(|folder| set_times(&folder, path, times))
        .map_err(|source| failed(say("error-smb.cannot-set-time"), path, source))
}

/// Sets the times of a file or folder, and says if its file system cannot hold that of its last change: Linux then puts the
/// nearest that it can hold in its place.
fn set_times(file: &File, path: &Path, times: FileTimes) -> io::Result<NotKept> {
    file.set_times(file_times(times))?;
    let there = file.metadata()?.modified().map_or(0, from_system_time);
    let is_set = to_system_time(times.write).is_some();
    Ok((is_set && !filetime::is_kept(times.write, there)).then(|| {
        let object = name::printable(&path.to_string_lossy());
        let reason = say("error-smb.time-beyond-file-system");
        Error::NotCopied { object, reason }
    }))
}

fn entry(name: String, metadata: &Metadata, facts: Facts) -> Entry {
    let kind = match metadata.file_type() {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Folder,
        kind if kind.is_symlink() => Kind::Link,
        _ => Kind::Other,
    };
    let mut attributes = match kind {
        Kind::Folder => ATTRIBUTE_FOLDER,
        // As any file that was not backed up.
        _ => ATTRIBUTE_ARCHIVE,
    };
    // Nobody's folders are read-only in the server's sense, which is about the folder's name.
    if kind == Kind::File && metadata.permissions().readonly() {
        attributes |= ATTRIBUTE_READ_ONLY;
    }
    let ticks = |time: io::Result<std::time::SystemTime>| time.map_or(0, from_system_time);
    Entry {
        name,
        kind,
        size: if kind == Kind::File {
            metadata.len()
        } else {
            0
        },
        allocation: facts.allocation,
        times: FileTimes {
            creation: ticks(metadata.created()),
            access: ticks(metadata.accessed()),
            write: ticks(metadata.modified()),
            change: facts.changed.map_or(0, from_system_time),
        },
        attributes,
        id: facts.id.unwrap_or(0),
        mode: facts.mode,
    }
}

fn entry_of_open(name: String, file: &File) -> io::Result<Entry> {
    let metadata = file.metadata()?;
    Ok(entry(name, &metadata, local_file::facts(file, &metadata)))
}

fn file_times(times: FileTimes) -> fs::FileTimes {
    let mut set = fs::FileTimes::new();
    if let Some(write) = to_system_time(times.write) {
        set = set.set_modified(write);
    }
    if let Some(access) = to_system_time(times.access) {
        set = set.set_accessed(access);
    }
    set
}

/// A file of this machine that is copied.
pub(super) struct Source {
    file: File,
    path: PathBuf,
    pub(super) entry: Entry,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        // Opening a pipe would wait for somebody who writes.
        let file = Held::enter(path)
            .and_then(|at| local_file::open(OpenOptions::new().read(true), at.path()))
            .map_err(|source| failed(say("error-smb.cannot-open"), path, source))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let entry = entry_of_open(name.into_owned(), &file)
            .map_err(|source| failed(say("error-smb.cannot-examine"), path, source))?;
        if entry.kind != Kind::File {
            return Err(Error::NotCopied {
                object: name::printable(&path.to_string_lossy()),
                reason: say("error-smb.no-regular-file"),
            });
        }
        let source = Self {
            file,
            path: path.to_owned(),
            entry,
        };
        // Files that the system makes up when they are read, as those of `/proc`.
        if source.entry.size == 0 && source.read(0, &mut [0]).is_ok() {
            return Err(Error::NotCopied {
                object: name::printable(&path.to_string_lossy()),
                reason: say("error-smb.not-empty"),
            });
        }
        Ok(source)
    }

    pub(super) fn read(&self, offset: u64, room: &mut [u8]) -> Result<(), Error> {
        local_file::read_exact_at(&self.file, offset, room).map_err(|source| {
            if source.kind() == io::ErrorKind::UnexpectedEof {
                self.changed()
            } else {
                failed(say("error-smb.cannot-read"), &self.path, source)
            }
        })
    }

    /// All of a small file.
    pub(super) fn read_whole(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; usize::try_from(self.entry.size).unwrap_or(usize::MAX)];
        self.read(0, &mut bytes)?;
        self.check_unchanged()?;
        Ok(bytes)
    }

    /// Whether some of it is a hole. One that is compressed takes less space than it holds too.
    pub(super) fn is_sparse(&self) -> bool {
        self.next_data(0) != (self.entry.size > 0).then_some(0..self.entry.size)
    }

    /// The next range at or after `from` that is not a hole.
    pub(super) fn next_data(&self, from: u64) -> Option<Range<u64>> {
        if from >= self.entry.size {
            return None;
        }
        if self.entry.may_be_sparse() {
            return local_file::next_data(&self.file, from, self.entry.size);
        }
        Some(from..self.entry.size)
    }

    /// Whoever sets the time of its last change of data back changes that of any change.
    pub(super) fn check_unchanged(&self) -> Result<(), Error> {
        let now = entry_of_open(String::new(), &self.file)
            .map_err(|source| failed(say("error-smb.cannot-examine"), &self.path, source))?;
        let of = |entry: &Entry| (entry.size, entry.times.write, entry.times.change);
        if of(&now) == of(&self.entry) {
            Ok(())
        } else {
            Err(self.changed())
        }
    }

    fn changed(&self) -> Error {
        Error::Changed {
            object: name::printable(&self.path.to_string_lossy()),
        }
    }
}

impl crate::Source for Source {
    fn fill(&self, offset: u64, room: &mut [u8]) -> Result<(), Error> {
        self.read(offset, room)
    }

    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }
}

/// A copy on this machine that is not complete; it removes itself unless it is completed or kept.
pub(super) struct Part {
    file: File,
    /// Where it is to have its name at the end.
    at: Held,
    /// Where it is, and its record, as [`Held::sibling`] has it.
    part: PathBuf,
    record: PathBuf,
    /// What people call it, and what it is to become.
    path: PathBuf,
    to: PathBuf,
    /// What the records say it is a copy of.
    source: Identity,
    is_sparse: bool,
    fate: Mutex<Fate>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Remove,
    Keep,
    Completed,
}

impl Part {
    /// Begins a copy, or goes on with one. Gives where to go on.
    pub(super) fn begin(to: &Path, begin: &Begin) -> Result<(Self, u64), Error> {
        let name = to.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| Error::Name {
            name: name::printable(&to.to_string_lossy()),
            reason: say("error-smb.name-no-file"),
        })?;
        let path = to.with_file_name(name::of_part(name));
        let at = Held::enter(to)
            .map_err(|source| failed(say("error-smb.cannot-create"), &path, source))?;
        let part = at.sibling(name::of_part(name));
        let record = at.sibling(name::of_record(name));
        let (file, length) = open_part(&part, &path)?;
        let start = if begin.resume {
            let known = read_record(&record);
            known.map_or(0, |known| known.resume_at(&begin.source, length))
        } else {
            0
        };
        let part = Self {
            file,
            at,
            part,
            record,
            path,
            to: to.to_owned(),
            source: begin.source,
            is_sparse: begin.is_sparse,
            fate: Mutex::new(Fate::Remove),
        };
        if start == 0 {
            // Before the bytes that it speaks of go.
            let _ = fs::remove_file(&part.record);
        }
        if part.is_sparse {
            // Where it cannot be, holes are zeros that take space.
            let _ = local_file::make_sparse(&part.file);
        }
        // What follows may be anything, and where nothing is written zeros are expected.
        if length != start {
            part.file
                .set_len(start)
                .map_err(|source| failed(say("error-smb.cannot-write"), &part.path, source))?;
        }
        Ok((part, start))
    }

    pub(super) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let written = if self.is_sparse {
            self.write_around_holes(offset, bytes)
        } else {
            local_file::write_all_at(&self.file, offset, bytes)
        };
        written.map_err(|source| failed(say("error-smb.cannot-write"), &self.path, source))
    }

    fn write_around_holes(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut offset = offset;
        for run in bytes.chunks(HOLE_BYTES) {
            if run.iter().any(|byte| *byte != 0) {
                local_file::write_all_at(&self.file, offset, run)?;
            }
            offset += run.len() as u64;
        }
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<(), Error> {
        let synced = self.file.sync_data();
        synced.map_err(|source| failed(say("error-smb.cannot-write"), &self.path, source))
    }

    pub(super) fn record(&self, complete: u64) -> Result<(), Error> {
        let record = Record {
            source: self.source,
            complete,
        };
        let written = (|| {
            let mut options = OpenOptions::new();
            options.write(true);
            let mut file =
                local_file::open(options.clone().create(true).truncate(false), &self.record)?;
            if !file.metadata()?.is_file() || !local_file::is_ours(&file) {
                // What another user has put there, or a second name of some file.
                drop(file);
                fs::remove_file(&self.record)?;
                file = local_file::open(options.create_new(true), &self.record)?;
            }
            local_file::write_all_at(&file, 0, record.to_text().as_bytes())?;
            file.sync_data()
        })();
        written.map_err(|source| failed(say("error-smb.cannot-write"), &self.record, source))
    }

    /// Reads back what has come, from the begin on; so much it is with a hole at its end.
    pub(super) fn hash(&self, size: u64, stop: &Stop) -> Result<blake3::Hash, Error> {
        let failed = |source| failed(say("error-smb.cannot-read"), &self.path, source);
        self.file.set_len(size).map_err(failed)?;
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut hasher = blake3::Hasher::new();
        let mut room = vec![0; 1 << 20];
        loop {
            if stop.is_stopped() {
                return Err(Error::Stopped);
            }
            match file.read(&mut room).map_err(failed)? {
                0 => return Ok(hasher.finalize()),
                count => hasher.update(&room[..count]),
            };
        }
    }

    /// Leaves the part for a later run, if its record says how far it is.
    pub(super) fn keep(&self) {
        if self.record.exists() {
            *lock(&self.fate) = Fate::Keep;
        }
    }

    pub(super) fn complete(self, finish: &Finish) -> Result<NotKept, Error> {
        let there = fs::symlink_metadata(self.at.path()).ok();
        // A device is no file that one replaces.
        let is_special = |there: &Metadata| !there.is_file() && !there.is_symlink();
        if there.as_ref().is_some_and(is_special) {
            return Err(obstructed(&self.to));
        }
        let is_read_only = finish.attributes & ATTRIBUTE_READ_ONLY != 0 && finish.mode.is_none();
        let finished = (|| {
            self.file.set_len(finish.size)?;
            if finish.sync || local_file::tells_late(&self.file) {
                self.file.sync_data()?;
            }
            let replaced =
                there.filter(|there| finish.replace == Replace::Existing && there.is_file());
            local_file::publish(&self.file, finish.mode, replaced.as_ref())?;
            let not_kept = set_times(&self.file, &self.to, finish.times)?;
            if is_read_only && os::HAS_POSIX_FILES {
                self.make_read_only()?;
            }
            Ok(not_kept)
        })();
        let not_kept = finished
            .map_err(|source| failed(say("error-smb.cannot-finish"), &self.path, source))?;
        let renamed = match finish.replace {
            Replace::Never => local_file::rename_to_new(&self.part, self.at.path()),
            Replace::Existing => local_file::rename_over(&self.part, self.at.path()),
        };
        renamed.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => obstructed(&self.to),
            _ => failed(say("error-smb.cannot-rename"), &self.to, source),
        })?;
        *lock(&self.fate) = Fate::Completed;
        // Elsewhere a read-only part could be neither renamed nor taken up again.
        if is_read_only && !os::HAS_POSIX_FILES {
            self.make_read_only()
                .map_err(|source| failed(say("error-smb.cannot-finish"), &self.to, source))?;
        }
        Ok(not_kept)
    }

    fn make_read_only(&self) -> io::Result<()> {
        let mut permissions = self.file.metadata()?.permissions();
        permissions.set_readonly(true);
        self.file.set_permissions(permissions)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let fate = *lock(&self.fate);
        // The error that brought us here says more than one about the clean-up.
        if fate == Fate::Remove {
            let _ = fs::remove_file(&self.part);
        }
        if fate != Fate::Keep {
            let _ = fs::remove_file(&self.record);
        }
    }
}

/// Makes a part, or takes up the one that is there, and says how long it is; people call it `shown`. No other
/// user can read it: in a folder where others write too, what they put there is not written to.
fn open_part(path: &Path, shown: &Path) -> Result<(File, u64), Error> {
    let failed = |source| failed(say("error-smb.cannot-create"), shown, source);
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let create = || local_file::open(options.clone().create_new(true), path);
    match create() {
        // It was just made, whoever its file system says that it belongs to.
        Ok(file) => return claim(&file, path, shown).map(|_| (file, 0)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    let file = local_file::open(&options, path).map_err(failed)?;
    let metadata = claim(&file, path, shown)?;
    if !metadata.is_file() {
        return Err(obstructed(shown));
    }
    if local_file::is_ours(&file) {
        local_file::make_private(&file).map_err(failed)?;
        return Ok((file, metadata.len()));
    }
    // On some systems a name is free only once its file is closed.
    drop(file);
    fs::remove_file(path).map_err(failed)?;
    let file = create().map_err(failed)?;
    claim(&file, path, shown)?;
    Ok((file, 0))
}

/// Takes a part for this copy alone, and says what it is.
fn claim(file: &File, path: &Path, shown: &Path) -> Result<Metadata, Error> {
    let busy = || Error::Busy {
        object: name::printable(&shown.to_string_lossy()),
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Err(busy()),
        // A file system without locks.
        Err(fs::TryLockError::Error(_)) => {}
    }
    let metadata = file
        .metadata()
        .map_err(|source| failed(say("error-smb.cannot-examine"), shown, source))?;
    // Who had it may have completed it after it was opened here: then it is somebody's file.
    match local_file::is_at(file, path) {
        true => Ok(metadata),
        false => Err(busy()),
    }
}

fn read_record(path: &Path) -> Option<Record> {
    let file = local_file::open(OpenOptions::new().read(true), path).ok()?;
    let mut text = Vec::new();
    file.take(resume_record::BYTES_MAX as u64)
        .read_to_end(&mut text)
        .ok()?;
    Record::parse(&text)
}

fn obstructed(path: &Path) -> Error {
    Error::Obstructed {
        object: name::printable(&path.to_string_lossy()),
    }
}

pub(super) fn failed(action: Message, path: &Path, source: io::Error) -> Error {
    Error::LocalFile {
        action,
        path: path.to_owned(),
        source,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod exchanged_link_tests;
