//! POSIX systems.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use locale::{Message, say};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{Error, Readers};

mod held_folder;
mod in_use_lock;
mod named_by_another_file;
mod path_resolution;

pub use held_folder::Held;
pub use in_use_lock::{check_unused, lock_and_unlock, show_in_use};
pub use named_by_another_file::read_below;

pub(crate) use path_resolution::enter_named;
pub use path_resolution::resolve;
use path_resolution::{Missing, Trust, walk};

/// Entries of a folder of ours that are looked at.
const ENTRIES_MAX: usize = 1_000_000;
/// The bits by which others than the owner may write.
const OTHERS_WRITE: u32 = 0o022;
/// Only owners may rename and remove what is in such a folder.
const STICKY: u32 = 0o1000;
const ROOT: u32 = 0;

impl Error {
    fn of(path: &Path, reason: Message, hint: Message) -> Self {
        Self::Unsafe {
            path: path.to_owned(),
            reason,
            hint,
        }
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(Errno) -> Error {
    let path = path.to_owned();
    move |errno| Error::System {
        action,
        path,
        source: errno.into(),
    }
}

impl Readers {
    const fn folder_mode(self) -> Mode {
        Mode::from_raw_mode(match self {
            Self::Owner => 0o700,
            Self::All => 0o755,
        })
    }

    const fn file_mode(self) -> Mode {
        Mode::from_raw_mode(match self {
            Self::Owner => 0o600,
            Self::All => 0o644,
        })
    }
}

/// A folder of ours: it belongs to us or to root, no other user can write there or could have put
/// another one in its place.
#[derive(Debug)]
pub struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
    readers: Readers,
}

impl Folder {
    /// Opens a folder that is there; `readers` are those of the files that are made in it.
    ///
    /// # Errors
    /// When it is not there ([`Error::is_missing`]), is a symbolic link, or others can write there or on
    /// the path to it.
    pub fn open(path: &Path, readers: Readers) -> Result<Self, Error> {
        Self::at(path, readers, Missing::Refused)
    }

    /// The same where it is made when it is not there, with what is missing on the path to it.
    ///
    /// # Errors
    /// As [`Folder::open`], and when it cannot be made.
    pub fn make(path: &Path, readers: Readers) -> Result<Self, Error> {
        Self::at(path, readers, Missing::Made(readers.folder_mode()))
    }

    fn at(path: &Path, readers: Readers, missing: Missing) -> Result<Self, Error> {
        let descriptor = walk(path, Trust::Kept, missing)?;
        let folder = Self {
            descriptor,
            path: path.to_owned(),
            readers,
        };
        folder.check_own(&stat(&folder.descriptor, path)?, path)?;
        Ok(folder)
    }

    /// A folder in it, which is made when it is not there.
    ///
    /// # Errors
    /// When it cannot be made, or is not ours as this one is.
    pub fn make_folder(&self, name: &str, readers: Readers) -> Result<Self, Error> {
        let name = self.plain(name)?;
        let path = self.path.join(name);
        match rustix::fs::mkdirat(&self.descriptor, name, readers.folder_mode()) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed("make", &path)(errno)),
        }
        self.folder(name, readers)
    }

    /// A folder in it that is there.
    ///
    /// # Errors
    /// When it is not there, or is not ours as this one is.
    pub fn folder(&self, name: &str, readers: Readers) -> Result<Self, Error> {
        let name = self.plain(name)?;
        let path = self.path.join(name);
        let descriptor = rustix::fs::openat(&self.descriptor, name, READ_FOLDER, Mode::empty());
        let descriptor = descriptor.map_err(|errno| not_opened(&path, errno))?;
        self.check_own(&stat(&descriptor, &path)?, &path)?;
        Ok(Self {
            descriptor,
            path,
            readers,
        })
    }

    /// The path under which it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names in it, in no order; those that are no text are passed over.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let entries = Dir::read_from(&self.descriptor).map_err(failed("list", &self.path))?;
        let mut names = Vec::new();
        for entry in entries.take(ENTRIES_MAX) {
            let entry = entry.map_err(failed("list", &self.path))?;
            let name = String::from_utf8(entry.file_name().to_bytes().to_vec());
            names.extend(name.ok().filter(|name| name != "." && name != ".."));
        }
        Ok(names)
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// When it is not there, or is not ours: a link, no regular file, another user's, or writable for
    /// others.
    pub fn read(&self, name: &str) -> Result<File, Error> {
        self.file(name, "read", OFlags::RDONLY)
    }

    /// Opens a file for adding to its end.
    ///
    /// # Errors
    /// As [`Folder::read`].
    pub fn append(&self, name: &str) -> Result<File, Error> {
        self.file(name, "write", OFlags::WRONLY | OFlags::APPEND)
    }

    /// Opens a file for reading and writing, and makes it where it is not there. What it holds stays.
    ///
    /// # Errors
    /// As [`Folder::read`], and when it cannot be made.
    pub fn open_or_create(&self, name: &str) -> Result<File, Error> {
        self.file(name, "open", OFlags::RDWR | OFlags::CREATE)
    }

    /// Makes a file that is not there.
    ///
    /// # Errors
    /// When it is there, even as a link to nowhere, or cannot be made.
    pub fn create(&self, name: &str) -> Result<File, Error> {
        self.file(name, "create", OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)
    }

    fn file(&self, name: &str, action: &'static str, how: OFlags) -> Result<File, Error> {
        let name = self.plain(name)?;
        let path = self.path.join(name);
        // A pipe would make us wait for its other end.
        let how = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.descriptor, name, how, self.readers.file_mode());
        let opened = opened.map_err(|errno| match errno {
            Errno::LOOP | Errno::NXIO | Errno::ISDIR => not_opened(&path, errno),
            errno => failed(action, &path)(errno),
        })?;
        let now = stat(&opened, &path)?;
        let odd = |id| Error::of(&path, say(id), say("hint-os.not-written-by-us"));
        match FileType::from_raw_mode(now.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(not_opened(&path, Errno::ISDIR)),
            _ => return Err(odd("error-os.not-regular")),
        }
        if now.st_nlink != 1 {
            return Err(odd("error-os.hard-link"));
        }
        self.check_own(&now, &path)?;
        Ok(File::from(opened))
    }

    /// Gives a file another name, here or in another folder of ours. What had it goes.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn rename(&self, from: &str, folder: &Self, to: &str) -> Result<(), Error> {
        let (from, to) = (self.plain(from)?, folder.plain(to)?);
        rustix::fs::renameat(&self.descriptor, from, &folder.descriptor, to)
            .map_err(failed("rename", &self.path.join(from)))
    }

    /// Removes a file.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let name = self.plain(name)?;
        rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty())
            .map_err(failed("remove", &self.path.join(name)))
    }

    /// Waits until its names are on the disk.
    ///
    /// # Errors
    /// When they cannot be.
    pub fn sync(&self) -> Result<(), Error> {
        rustix::fs::fsync(&self.descriptor).map_err(failed("sync", &self.path))
    }

    /// A name that leads to no other folder.
    fn plain<'n>(&self, name: &'n str) -> Result<&'n str, Error> {
        let mut parts = Path::new(name).components();
        let is_plain = matches!(parts.next(), Some(Component::Normal(part)) if part == name);
        if is_plain && parts.next().is_none() {
            return Ok(name);
        }
        let reason = say("error-os.no-such-name").with("name", name.escape_default().to_string());
        Err(Error::of(&self.path, reason, say("hint-os.file-of-folder")))
    }

    fn check_own(&self, now: &Stat, path: &Path) -> Result<(), Error> {
        check_owner(now, path, &[ROOT, us()])?;
        if now.st_mode & OTHERS_WRITE == 0 {
            return Ok(());
        }
        Err(writable(path, now))
    }
}

/// Writes a whole file that a person has named, and makes its folder where that is not there: under
/// another name in the same folder first, and then under its own, all at once. What was there and ours
/// keeps its rights, what was another user's becomes ours and nobody else's to write, and none is written through.
///
/// # Errors
/// When it is there and no regular file (a link, a pipe, a device), or cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let name = path.file_name().ok_or_else(|| no_name(path))?;
    let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
    let missing = Missing::Made(Mode::from_raw_mode(0o777));
    let folder = walk(parent.unwrap_or(Path::new(".")), Trust::Named, missing)?;
    let (mode, first) = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        // Until it has the rights of what it replaces, no other user may look into it.
        Ok(there) if there.st_uid == us() => (Some(regular_mode(&there, path)?), 0o600),
        // It will be ours, so another user does not say who may write it; no more may read it than before.
        Ok(there) => (
            None,
            0o600 | (regular_mode(&there, path)?.as_raw_mode() & 0o644),
        ),
        Err(Errno::NOENT) => (None, 0o666),
        Err(errno) => return Err(failed("look at", path)(errno)),
    };
    let number = getrandom::u64().map_err(|error| Error::System {
        action: "name a new file for",
        path: path.to_owned(),
        source: io::Error::other(error.to_string()),
    })?;
    let draft = format!(".linerate-{number:016x}");
    let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let first = Mode::from_raw_mode(first);
    let file = rustix::fs::openat(&folder, &draft, how, first).map_err(failed("write", path))?;
    let mut file = File::from(file);
    let written = file.write_all(bytes).and_then(|()| {
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, mode)?;
        }
        file.sync_all()?;
        Ok(rustix::fs::renameat(&folder, &draft, &folder, name)?)
    });
    written.map_err(|source| {
        // Nothing of it is to stay; why it failed is known already.
        rustix::fs::unlinkat(&folder, &draft, AtFlags::empty()).ok();
        Error::System {
            action: "write",
            path: path.to_owned(),
            source,
        }
    })
}

/// Locks a file for this handle, and for programs that inherit it; it can be read and written all the same. Not where
/// another one has it locked.
///
/// # Errors
/// When its file system has no locks.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        locked => Ok(locked.map(|()| true)?),
    }
}

/// Opens a file to be read, links followed; a pipe without a writer is not waited for.
///
/// # Errors
/// When it cannot be opened.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    File::options()
        .read(true)
        .custom_flags(without_waiting)
        .open(path)
}

/// Makes a file that a person has named, and that must not be there yet.
///
/// # Errors
/// When it is there, even as a link to nowhere, or cannot be made.
pub fn create(path: &Path) -> Result<File, Error> {
    let how = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
    named(path, "create", how).map(File::from)
}

/// Opens a file that a person has named, for reading it and for adding to its end.
///
/// # Errors
/// When it is not there, no regular file (a link, a pipe, a device) or one of several names, or cannot be opened.
pub fn extend(path: &Path) -> Result<File, Error> {
    let file = named(path, "open", OFlags::RDWR | OFlags::APPEND)?;
    let now = stat(&file, path)?;
    regular_mode(&now, path)?;
    if now.st_nlink != 1 {
        let reason = say("error-os.hard-link");
        return Err(Error::of(path, reason, say("hint-os.copy-it")));
    }
    Ok(File::from(file))
}

fn named(path: &Path, action: &'static str, how: OFlags) -> Result<OwnedFd, Error> {
    let name = path.file_name().ok_or_else(|| no_name(path))?;
    let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let folder = walk(parent, Trust::Named, Missing::Refused)?;
    let how = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder, name, how, Mode::from_raw_mode(0o666));
    file.map_err(|errno| match errno {
        Errno::LOOP | Errno::NXIO | Errno::ISDIR => not_opened(path, errno),
        errno => failed(action, path)(errno),
    })
}

fn no_name(path: &Path) -> Error {
    Error::of(path, say("error-os.no-name"), say("hint-os.name-a-file"))
}

/// The rights of a regular file.
fn regular_mode(there: &Stat, path: &Path) -> Result<Mode, Error> {
    let what = match FileType::from_raw_mode(there.st_mode) {
        FileType::RegularFile => return Ok(Mode::from_raw_mode(there.st_mode & 0o777)),
        FileType::Symlink => "error-os.link-not-written",
        FileType::Directory => "error-os.folder",
        _ => "error-os.not-regular",
    };
    Err(Error::of(path, say(what), say("hint-os.new-or-regular")))
}

const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const READ_FOLDER: OFlags = OFlags::RDONLY.union(FOLDER);
/// One that is only passed through need not be readable.
#[cfg(target_os = "linux")]
const PASS_FOLDER: OFlags = OFlags::PATH.union(FOLDER);
#[cfg(not(target_os = "linux"))]
const PASS_FOLDER: OFlags = READ_FOLDER;

fn us() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn stat(descriptor: &OwnedFd, path: &Path) -> Result<Stat, Error> {
    rustix::fs::fstat(descriptor).map_err(failed("look at", path))
}

fn not_opened(path: &Path, errno: Errno) -> Error {
    let odd = |id| Error::of(path, say(id), say("hint-os.not-made-by-us"));
    match errno {
        Errno::LOOP => odd("error-os.link-not-followed"),
        Errno::NOTDIR => {
            let link = rustix::fs::readlinkat(rustix::fs::CWD, path, Vec::new()).is_ok();
            match link {
                true => not_opened(path, Errno::LOOP),
                false => odd("error-os.not-a-folder"),
            }
        }
        Errno::NXIO => Error::of(
            path,
            say("error-os.not-regular"),
            say("hint-os.name-a-regular-file"),
        ),
        Errno::ISDIR => Error::of(path, say("error-os.folder"), say("hint-os.file-in-it")),
        errno => failed("open", path)(errno),
    }
}

fn check_owner(now: &Stat, path: &Path, owners: &[u32]) -> Result<(), Error> {
    if owners.contains(&now.st_uid) {
        return Ok(());
    }
    let reason = say("error-os.other-owner").count("user", now.st_uid);
    let hint = match us() {
        ROOT => "hint-os.folder-of-root",
        _ => "hint-os.own-folder",
    };
    Err(Error::of(path, reason, say(hint)))
}

/// A folder on the path to one of ours.
fn check_passed(now: &Stat, path: &Path, top: u32) -> Result<(), Error> {
    check_owner(now, path, &[ROOT, us(), top])?;
    if now.st_mode & OTHERS_WRITE == 0 || now.st_mode & STICKY != 0 {
        return Ok(());
    }
    Err(writable(path, now))
}

fn writable(path: &Path, now: &Stat) -> Error {
    let reason = match now.st_mode & 0o002 {
        0 => "error-os.written-by-group",
        _ => "error-os.written-by-everybody",
    };
    let shown = String::from_utf8_lossy(path.as_os_str().as_bytes()).replace('\'', r"'\''");
    let hint = say("hint-os.chmod").with("file", shown);
    Error::of(path, say(reason), hint)
}
