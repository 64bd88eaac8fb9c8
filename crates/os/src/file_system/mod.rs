//! File systems: which one holds a path, and how much room it has.

use std::io;
use std::path::Path;

#[cfg_attr(unix, path = "posix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

/// What holds a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// Its name, as the system calls it.
    pub name: String,
    /// Whether it is beyond a network or a hypervisor.
    pub is_network: bool,
    /// Whether it is a mounted SMB share, or a drive that is one.
    pub is_smb: bool,
    /// Whether it is in memory.
    pub is_memory: bool,
}

/// Which one holds what is there.
///
/// # Errors
/// When nothing is there, or the system does not say.
pub fn of(path: &Path) -> io::Result<FileSystem> {
    imp::of(path)
}

/// The share that a drive of Windows stands for, with what is below it (`\\server\share\folder`); none where a path leads to
/// no share, and on systems that mount them.
#[must_use]
pub fn share_behind_drive(path: &Path) -> Option<String> {
    imp::share_behind_drive(path)
}

/// How many bytes this user may still write there.
///
/// # Errors
/// As [`of`].
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    imp::free_bytes(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_a_folder_and_its_room_are_known() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let found = of(folder.path()).expect("it is there");
        assert!(!found.name.is_empty() && !found.is_smb, "{found:?}");
        assert!(free_bytes(folder.path()).expect("it is there") > 0);
        let missing = folder.path().join("missing");
        assert!(of(&missing).is_err() && free_bytes(&missing).is_err());
    }
}
