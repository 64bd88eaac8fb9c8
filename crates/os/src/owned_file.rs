//! Files that must be this user's own, where another user could have put one in their place.

use std::fs::File;
use std::path::{Path, PathBuf};

#[cfg_attr(unix, path = "owned_file/posix.rs")]
#[cfg_attr(windows, path = "owned_file/windows.rs")]
mod imp;

/// Whose a file is, or a link in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This user.
    Us,
    /// Another one, or an unknown one.
    Another,
}

/// Whose a file is; none where nothing has that name.
#[must_use]
pub fn owner(path: &Path) -> Option<Owner> {
    imp::owner(path)
}

/// Whether anybody but this user and root can put something into a folder on the path to a file.
#[must_use]
pub fn is_in_reach_of_another(file: &Path) -> bool {
    imp::is_in_reach_of_another(file)
}

/// Whether every user can read a file, and reach it; not where that is not known.
#[must_use]
pub fn is_readable_by_all(file: &Path) -> bool {
    imp::is_readable_by_all(file)
}

/// Whether anybody but this user and whoever administers the machine may read or write an open file; so it is where that
/// is not known.
#[must_use]
pub fn is_readable_by_others(file: &File) -> bool {
    imp::is_readable_by_others(file)
}

/// Why a file is not taken for this user's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOwned {
    /// It cannot be opened, or is a link.
    Unopened,
    /// The system does not say whose it is.
    OwnerUnknown,
    /// It is another user's.
    Another,
    /// It is a folder, a pipe or a device.
    NoRegularFile,
    /// It has a second name.
    SeveralNames,
    /// Others may write it.
    WritableByOthers,
}

/// A file that was opened and then checked: another user can no longer exchange it.
#[derive(Debug)]
pub struct OwnedFile {
    file: File,
    path: PathBuf,
}

impl OwnedFile {
    /// Opens one to be read: no link is followed, no pipe waited for.
    ///
    /// # Errors
    /// Why it is none.
    pub fn open(path: &Path) -> Result<Self, NotOwned> {
        Ok(Self {
            file: imp::open(path)?,
            path: path.to_owned(),
        })
    }

    /// By which path it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path by which this process reaches it, whatever is done to its own; none where the system has no names for open
    /// files.
    #[must_use]
    pub fn entrance(&self) -> Option<String> {
        imp::entrance(&self.file)
    }
}
