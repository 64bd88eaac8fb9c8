//! Windows. A folder that is open to be passed through cannot be renamed, nor anything above it.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::windows::ffi::OsStringExt as _;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsRawHandle as _;
use std::path::{Component, Path, PathBuf};

use locale::say;
use windows_sys::Win32::Foundation::ERROR_LOCK_VIOLATION;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_LIST_DIRECTORY, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_TRAVERSE,
    GetFinalPathNameByHandleW, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
    MOVEFILE_REPLACE_EXISTING, MOVEFILE_WRITE_THROUGH, READ_CONTROL, UnlockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

use super::{Error, Readers};
use crate::windows::{ITSELF, is_owned_by_us, is_written_by_others, move_file};

/// Entries of a folder of ours that are looked at.
const ENTRIES_MAX: usize = 1_000_000;
/// Where no file has content: the largest end before (ReFS, 2^55). Locks of Windows keep others from what they lock.
const BEYOND: u64 = 1 << 62;

/// Longest path, in units of UTF-16.
const PATH_UNITS_MAX: usize = 32 << 10;

/// A name in a folder that is held open, or such a folder. No link was followed to it, and on NTFS no part of its path can be
/// renamed or removed as long as this is kept; an empty folder can still be made a link of by whoever may write to it. A last
/// name that is a link by then is followed by whatever follows links.
#[derive(Debug)]
pub struct Held {
    #[expect(dead_code, reason = "it is held by being open")]
    folder: File,
    path: PathBuf,
}

impl Held {
    /// Holds the folder that something is in, whether that is there or not.
    ///
    /// # Errors
    /// When it is no folder, is not there, or its path holds a link.
    pub fn enter(path: &Path) -> io::Result<Self> {
        match path.parent() {
            Some(parent) if path.file_name().is_some() => Ok(Self {
                folder: hold(parent)?,
                path: path.to_owned(),
            }),
            _ => Self::folder(path),
        }
    }

    /// Holds a folder itself.
    ///
    /// # Errors
    /// As [`Held::enter`].
    pub fn folder(path: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: hold(path)?,
            path: path.to_owned(),
        })
    }

    /// A path to it that leads through the held folder, as long as this is kept.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Such a path to another name in the folder of one that was entered.
    #[must_use]
    pub fn sibling(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.with_file_name(name)
    }
}

/// Opens a folder so that it stays where it is, and refuses one that links led to.
pub(crate) fn hold(path: &Path) -> io::Result<File> {
    hold_as(path, FILE_TRAVERSE)
}

fn hold_as(path: &Path, access: u32) -> io::Result<File> {
    let path = match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    };
    let mut options = OpenOptions::new();
    options
        .access_mode(access)
        // Not to be renamed nor removed.
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
        .custom_flags(ITSELF);
    let folder = options.open(path)?;
    if !folder.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let meant = without_prefix(&std::path::absolute(path)?);
    if meant != without_prefix(&final_path(&folder)?) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a link leads there, and none is followed",
        ));
    }
    Ok(folder)
}

/// A path as it is compared: letters alike, and without what makes it one of the longest.
fn without_prefix(path: &Path) -> String {
    let text = path.to_string_lossy().to_lowercase();
    let text = match text.strip_prefix(r"\\?\unc\") {
        Some(share) => format!(r"\\{share}"),
        None => text.strip_prefix(r"\\?\").unwrap_or(&text).to_owned(),
    };
    text.trim_end_matches('\\').to_owned()
}

/// Where an open folder is, links followed.
#[expect(unsafe_code, reason = "no safe crate of ours asks for it")]
fn final_path(folder: &File) -> io::Result<PathBuf> {
    let mut units = vec![0_u16; PATH_UNITS_MAX];
    let room = u32::try_from(units.len()).map_err(io::Error::other)?;
    // SAFETY: the handle is open while `folder` is borrowed, and at most `room` units are written to memory that is that
    // long.
    let length =
        unsafe { GetFinalPathNameByHandleW(folder.as_raw_handle(), units.as_mut_ptr(), room, 0) };
    match length as usize {
        0 => Err(io::Error::last_os_error()),
        length => {
            let path = units.get(..length).ok_or(io::ErrorKind::InvalidFilename)?;
            Ok(PathBuf::from(std::ffi::OsString::from_wide(path)))
        }
    }
}

/// A folder of ours: it belongs to us, to an administrator or to the system, and no other user can write there. Who may
/// rename what is above it is not looked at.
#[derive(Debug)]
pub struct Folder {
    #[expect(dead_code, reason = "it is held by being open")]
    held: File,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder that is there. Who may read the files that are made in it is up to the folder, as files of Windows
    /// inherit that.
    ///
    /// # Errors
    /// When it is not there ([`Error::is_missing`]), a link leads there, or others can write there.
    pub fn open(path: &Path, _readers: Readers) -> Result<Self, Error> {
        let path = std::path::absolute(path).map_err(failed("find", path))?;
        let held = hold_as(&path, FILE_LIST_DIRECTORY | FILE_TRAVERSE | READ_CONTROL);
        let held = held.map_err(failed("open", &path))?;
        check_own(&held, &path)?;
        Ok(Self { held, path })
    }

    /// The same where it is made when it is not there, with what is missing on the path to it.
    ///
    /// # Errors
    /// As [`Folder::open`], and when it cannot be made.
    pub fn make(path: &Path, readers: Readers) -> Result<Self, Error> {
        fs::create_dir_all(path).map_err(failed("make", path))?;
        Self::open(path, readers)
    }

    /// A folder in it, which is made when it is not there.
    ///
    /// # Errors
    /// When it cannot be made, or is not ours as this one is.
    pub fn make_folder(&self, name: &str, readers: Readers) -> Result<Self, Error> {
        let path = self.path.join(self.plain(name)?);
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(failed("make", &path)(error))
            }
            _ => Self::open(&path, readers),
        }
    }

    /// A folder in it that is there.
    ///
    /// # Errors
    /// When it is not there, or is not ours as this one is.
    pub fn folder(&self, name: &str, readers: Readers) -> Result<Self, Error> {
        Self::open(&self.path.join(self.plain(name)?), readers)
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
        let entries = fs::read_dir(&self.path).map_err(failed("list", &self.path))?;
        let mut names = Vec::new();
        for entry in entries.take(ENTRIES_MAX) {
            let entry = entry.map_err(failed("list", &self.path))?;
            names.extend(entry.file_name().into_string());
        }
        Ok(names)
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// When it is not there, or is not ours: a link, no regular file, another user's, or writable for others.
    pub fn read(&self, name: &str) -> Result<File, Error> {
        self.file(name, "read", OpenOptions::new().read(true))
    }

    /// Opens a file for adding to its end.
    ///
    /// # Errors
    /// As [`Folder::read`].
    pub fn append(&self, name: &str) -> Result<File, Error> {
        let mut file = self.file(name, "write", OpenOptions::new().read(true).write(true))?;
        // What is opened to be added to could not be cut off again.
        file.seek(SeekFrom::End(0))
            .map_err(failed("write", &self.path.join(name)))?;
        Ok(file)
    }

    /// Opens a file for reading and writing, and makes it where it is not there. What it holds stays.
    ///
    /// # Errors
    /// As [`Folder::read`], and when it cannot be made.
    pub fn open_or_create(&self, name: &str) -> Result<File, Error> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        self.file(name, "open", options)
    }

    /// Makes a file that is not there.
    ///
    /// # Errors
    /// When it is there, even as a link to nowhere, or cannot be made.
    pub fn create(&self, name: &str) -> Result<File, Error> {
        let mut options = OpenOptions::new();
        self.file(
            name,
            "create",
            options.read(true).write(true).create_new(true),
        )
    }

    fn file(
        &self,
        name: &str,
        action: &'static str,
        options: &mut OpenOptions,
    ) -> Result<File, Error> {
        let path = self.path.join(self.plain(name)?);
        let file = open_itself(options, &path).map_err(failed(action, &path))?;
        check_regular(&file, &path, "hint-os.not-written-by-us")?;
        if !crate::local_file::is_ours(&file) {
            let reason = say("error-os.hard-link");
            return Err(Error::of(&path, reason, say("hint-os.not-written-by-us")));
        }
        check_own(&file, &path)?;
        Ok(file)
    }

    /// Gives a file another name, here or in another folder of ours. What had it goes.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn rename(&self, from: &str, folder: &Self, to: &str) -> Result<(), Error> {
        let from = self.path.join(self.plain(from)?);
        let to = folder.path.join(folder.plain(to)?);
        rename(&from, &to).map_err(failed("rename", &from))
    }

    /// Removes a file.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.path.join(self.plain(name)?);
        fs::remove_file(&path).map_err(failed("remove", &path))
    }

    /// Waits until its names are on the disk: they are since they were given, as [`Folder::rename`] waits for it.
    ///
    /// # Errors
    /// When they cannot be.
    #[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
    pub fn sync(&self) -> Result<(), Error> {
        Ok(())
    }

    /// A name that leads to no other folder.
    fn plain<'n>(&self, name: &'n str) -> Result<&'n str, Error> {
        let mut parts = Path::new(name).components();
        let is_plain = matches!(parts.next(), Some(Component::Normal(part)) if part == name);
        // What is behind a colon is another stream of the file.
        if is_plain && parts.next().is_none() && !name.contains(':') {
            return Ok(name);
        }
        let reason = say("error-os.no-such-name").with("name", name.escape_default().to_string());
        Err(Error::of(&self.path, reason, say("hint-os.file-of-folder")))
    }
}

impl Error {
    fn of(path: &Path, reason: locale::Message, hint: locale::Message) -> Self {
        Self::Unsafe {
            path: path.to_owned(),
            reason,
            hint,
        }
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::System {
        action,
        path,
        source,
    }
}

/// Opens what has that name, and not what a link leads to.
fn open_itself(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.custom_flags(ITSELF);
    options.open(path)
}

fn check_regular(file: &File, path: &Path, hint: &'static str) -> Result<(), Error> {
    let found = file.metadata().map_err(failed("look at", path))?;
    let what = match found.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_symlink() => "error-os.link-not-followed",
        kind if kind.is_dir() => "error-os.folder",
        _ => "error-os.not-regular",
    };
    Err(Error::of(path, say(what), say(hint)))
}

/// Whether only we, administrators and the system own it or may write to it.
fn check_own(file: &File, path: &Path) -> Result<(), Error> {
    let refused = |reason| Err(Error::of(path, say(reason), say("hint-os.own-folder")));
    if !is_owned_by_us(file).map_err(failed("look at", path))? {
        return refused("error-os.owner-is-another");
    }
    match is_written_by_others(file).map_err(failed("look at", path))? {
        true => refused("error-os.written-by-everybody"),
        false => Ok(()),
    }
}

/// Gives a file another name, on the disk as well before it returns. What had it goes.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    move_file(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)
}

/// Writes a whole file that a person has named, and makes its folder where that is not there: under
/// another name in the same folder first, and then under its own, all at once. It has the rights that its folder gives it.
///
/// # Errors
/// When it is there and no regular file, or cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let (folder, path) = named(path, true)?;
    if let Ok(there) = open_itself(OpenOptions::new().read(true), &path) {
        check_regular(&there, &path, "hint-os.new-or-regular")?;
    }
    let number = getrandom::u64().map_err(|error| {
        failed("name a new file for", &path)(io::Error::other(error.to_string()))
    })?;
    let draft = path.with_file_name(format!(".linerate-{number:016x}"));
    let written = File::create_new(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        drop(file);
        rename(&draft, &path)
    });
    drop(folder);
    written.map_err(|source| {
        // Nothing of it is to stay; why it failed is known already.
        fs::remove_file(&draft).ok();
        failed("write", &path)(source)
    })
}

/// Makes a file that a person has named, and that must not be there yet.
///
/// # Errors
/// When it is there, even as a link to nowhere, or cannot be made.
pub fn create(path: &Path) -> Result<File, Error> {
    let (_folder, path) = named(path, false)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    open_itself(&mut options, &path).map_err(failed("create", &path))
}

/// Opens a file that a person has named, for reading it and for adding to its end.
///
/// # Errors
/// When it is not there, no regular file or one of several names, or cannot be opened.
pub fn extend(path: &Path) -> Result<File, Error> {
    let (_folder, path) = named(path, false)?;
    let file = open_itself(OpenOptions::new().read(true).append(true), &path);
    let file = file.map_err(failed("open", &path))?;
    check_regular(&file, &path, "hint-os.new-or-regular")?;
    if crate::local_file::has_other_names(&file) {
        let reason = say("error-os.hard-link");
        return Err(Error::of(&path, reason, say("hint-os.copy-it")));
    }
    Ok(file)
}

/// The folder of a file that a person has named, held, and the file's path there.
fn named(path: &Path, makes: bool) -> Result<(File, PathBuf), Error> {
    let no_name = || Error::of(path, say("error-os.no-name"), say("hint-os.name-a-file"));
    let name = path.file_name().ok_or_else(no_name)?;
    let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    if makes {
        fs::create_dir_all(parent).map_err(failed("make", parent))?;
    }
    let parent = resolve(parent)?;
    let held = hold(&parent).map_err(failed("open", &parent))?;
    Ok((held, parent.join(name)))
}

/// Opens a regular file that another file names, to be read. Who wrote that one may be a stranger, so the
/// name leads no further than to what lies in its `folder` or below: it is relative, has no `..`, and no
/// link is followed.
///
/// # Errors
/// When the name leads elsewhere or through a link, when it is no regular file, or cannot be opened.
pub fn read_below(folder: &Path, name: &Path) -> Result<File, Error> {
    let refuse = |id| Error::of(name, say(id), say("hint-os.below"));
    let is_below = name.components().all(|part| match part {
        // What is behind a colon is another stream of the file.
        Component::Normal(part) => !part.to_string_lossy().contains(':'),
        Component::CurDir => true,
        Component::RootDir | Component::Prefix(_) | Component::ParentDir => false,
    });
    if !is_below {
        return Err(refuse("error-os.leads-out"));
    }
    if name.file_name().is_none() {
        return Err(refuse("error-os.no-name-below"));
    }
    let folder = resolve(match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    })?;
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(&folder);
    let _held = hold(parent).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => refuse("error-os.through-link"),
        _ => failed("open", &path)(error),
    })?;
    let file = open_itself(OpenOptions::new().read(true), &path);
    let file = file.map_err(failed("open", &path))?;
    let found = file.metadata().map_err(failed("look at", &path))?;
    match found.file_type() {
        kind if kind.is_file() => Ok(file),
        kind if kind.is_symlink() => Err(refuse("error-os.through-link")),
        _ => Err(refuse("error-os.not-regular")),
    }
}

/// Locks a file for this handle; it can be read and written all the same. Not where another one has it locked.
///
/// # Errors
/// When its file system has no locks.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match lock_beyond(file, LOCKFILE_EXCLUSIVE_LOCK) {
        Err(error) if error.raw_os_error() == Some(ERROR_LOCK_VIOLATION.cast_signed()) => Ok(false),
        locked => locked.map(|()| true),
    }
}

/// Takes a lock on a whole file, and gives it back.
///
/// # Errors
/// Another handle has it locked, or its file system has no locks.
pub fn lock_and_unlock(file: &File) -> io::Result<()> {
    file.try_lock()?;
    file.unlock()
}

/// Shows that a file, which is open to be written, is in use while it is open.
///
/// # Errors
/// Another handle shows that already, or its file system has no locks.
pub fn show_in_use(file: &File) -> io::Result<()> {
    lock_beyond(file, LOCKFILE_EXCLUSIVE_LOCK)
}

/// Finds out whether a file, which is open to be read, is in use.
///
/// # Errors
/// It is, or its file system has no locks, so that this cannot be known.
#[expect(unsafe_code, reason = "the standard library locks whole files")]
pub fn check_unused(file: &File) -> io::Result<()> {
    lock_beyond(file, 0)?;
    let mut place = beyond();
    // SAFETY: the handle is open while `file` is borrowed, and the place lives until the call is over.
    match unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &raw mut place) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[expect(unsafe_code, reason = "the standard library locks whole files")]
fn lock_beyond(file: &File, kind: u32) -> io::Result<()> {
    let mut place = beyond();
    let how = kind | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open while `file` is borrowed, and is none of those that go on later.
    match unsafe { LockFileEx(file.as_raw_handle(), how, 0, 1, 0, &raw mut place) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn beyond() -> OVERLAPPED {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.Offset = BEYOND as u32;
    place.Anonymous.Anonymous.OffsetHigh = (BEYOND >> 32) as u32;
    place
}

/// Opens a file to be read, links followed; nothing is waited for.
///
/// # Errors
/// When it cannot be opened.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Where something is, or would be, that a person has named, as a path without links.
///
/// # Errors
/// When it cannot be found, or this is an administrator and a link of another user is on the path: it could lead anywhere.
pub fn resolve(path: &Path) -> Result<PathBuf, Error> {
    if super::is_null_device(path) {
        return Ok(path.to_owned());
    }
    let failed = |error| failed("find", path)(error);
    let whole = std::path::absolute(path).map_err(failed)?;
    check_links(&whole)?;
    let mut missing = Vec::new();
    let mut there = whole.as_path();
    loop {
        match there.canonicalize() {
            Ok(found) => return Ok(missing.iter().rev().fold(found, |at, name| at.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else {
                    return Err(failed(error));
                };
                missing.push(name.to_owned());
                there = parent;
            }
            Err(error) => return Err(failed(error)),
        }
    }
}

fn check_links(path: &Path) -> Result<(), Error> {
    if !crate::is_root() {
        return Ok(());
    }
    let is_link = |at: &&Path| at.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let is_anothers =
        |at: &&Path| crate::owned_file::owner(at) != Some(crate::owned_file::Owner::Us);
    match path.ancestors().filter(is_link).find(is_anothers) {
        None => Ok(()),
        Some(link) => {
            let reason = say("error-os.link-not-followed");
            Err(Error::of(link, reason, say("hint-os.links-of-root")))
        }
    }
}
