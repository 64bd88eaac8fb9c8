//! Where a program keeps what it needs again, as each system has it.

use std::path::PathBuf;

/// That of all users, which only root writes; none where there is none.
#[cfg(unix)]
#[must_use]
pub fn of_root() -> Option<PathBuf> {
    Some(PathBuf::from("/var/lib"))
}

/// The same on Windows: `%ProgramData%`, in which every user may make what is not there, is none.
#[cfg(windows)]
#[must_use]
pub fn of_root() -> Option<PathBuf> {
    None
}

/// That of this user: `XDG_STATE_HOME`, or else its default (XDG Base Directory Specification); none where nothing says
/// where it is.
#[cfg(unix)]
#[must_use]
pub fn of_user() -> Option<PathBuf> {
    absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))
}

/// That of this user on this machine: `LOCALAPPDATA`.
#[cfg(windows)]
#[must_use]
pub fn of_user() -> Option<PathBuf> {
    absolute("LOCALAPPDATA")
}

fn absolute(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    path.filter(|path| path.is_absolute())
}
