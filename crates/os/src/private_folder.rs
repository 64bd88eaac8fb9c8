//! Folders that only this user can look into, which are gone when they are dropped. What a program leaves of one that is
//! killed, the next one removes.

use std::io;
use std::path::Path;

#[cfg_attr(unix, path = "private_folder/posix.rs")]
#[cfg_attr(windows, path = "private_folder/windows.rs")]
mod imp;

/// A folder that only this user can look into. Everybody can see that it is needed, as long as this is kept.
#[derive(Debug)]
pub struct PrivateFolder(imp::Folder);

impl PrivateFolder {
    /// Makes one whose name begins so.
    ///
    /// # Errors
    /// When it cannot be made, or this system has none.
    pub fn make(parent: &Path, prefix: &str) -> io::Result<Self> {
        imp::Folder::make(parent, prefix).map(Self)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Removes the folders with names that begin so which killed programs of this user have left. Others stay.
pub fn sweep(parent: &Path, prefix: &str) {
    imp::sweep(parent, prefix);
}
