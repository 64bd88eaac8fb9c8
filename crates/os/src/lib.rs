//! What needs care with the operating system: opening files that linerate keeps or that a person
//! names (`file`), folders of our own where others may write (`folder_in_world_writable`), and giving up
//! rights before bytes of strangers are parsed (`sandbox`), and mounts that nobody else sees.

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

/// Gives the calling thread, and what it starts from then on, mounts of their own: those of all, which others still mount and unmount,
/// and what it mounts, which nobody else sees. They end with the last of these threads and programs
/// (`mount_namespaces(7)`).
///
/// # Errors
/// When this process may not: only root may.
#[cfg(target_os = "linux")]
pub fn own_mounts() -> std::io::Result<()> {
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};

    unshare(CloneFlags::CLONE_NEWNS)?;
    let none = None::<&str>;
    // As they are shared by default, what is mounted would appear to others as well. What others unmount must go here too:
    // a disk that is unplugged then may not be in use any more.
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
    Ok(())
}

/// The same where there is no such thing.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn own_mounts() -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
