//! What needs care with the operating system: opening files that linerate keeps or that a person
//! names (`file`), folders of our own where others may write (`folder_in_world_writable`), and giving up
//! rights before bytes of strangers are parsed (`sandbox`).

pub mod file;
pub mod folder_in_world_writable;
pub mod sandbox;

/// Whether this process has root's rights.
#[cfg(unix)]
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether this process has root's rights: there is no such user here.
#[cfg(not(unix))]
#[must_use]
pub fn is_root() -> bool {
    false
}
