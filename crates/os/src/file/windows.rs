//! Windows. A folder that is open to be passed through cannot be renamed, nor anything above it.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::OsStringExt as _;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsRawHandle as _;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_SHARE_READ, FILE_SHARE_WRITE,
    FILE_TRAVERSE, GetFinalPathNameByHandleW,
};

use super::Error;

/// Longest path, in units of UTF-16.
const PATH_UNITS_MAX: usize = 32 << 10;

/// A name in a folder that is held open, or such a folder. No link was followed to it, and none can come upon its path as
/// long as this is kept. A last name that is a link by then is followed by whatever follows links.
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
fn hold(path: &Path) -> io::Result<File> {
    let path = match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    };
    let mut options = OpenOptions::new();
    options
        .access_mode(FILE_TRAVERSE)
        // Not to be renamed nor removed.
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
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
/// When it cannot be found.
pub fn resolve(path: &Path) -> Result<PathBuf, Error> {
    let failed = |source| Error::System {
        action: "find",
        path: path.to_owned(),
        source,
    };
    let whole = std::path::absolute(path).map_err(failed)?;
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
