//! What differs between systems, and what needs care with any of them: files that linerate keeps or that a person names
//! (`file`), files that it copies (`local_file`) or that must be the user's own (`owned_file`), folders of our own where
//! others may write (`folder_in_world_writable`) and those that are gone with this process (`private_folder`), connections
//! and interfaces (`network`), libraries (`shared_library`), programs that are started (`process`), where a program keeps what it needs again
//! (`state_folder`), times of Windows (`windows_time`), giving up rights before
//! bytes of strangers are parsed (`sandbox`), and mounts that no other process sees.

pub mod file;
pub mod file_system;
pub mod folder_in_world_writable;
pub mod local_file;
pub mod machine;
pub mod network;
pub mod owned_file;
pub mod private_folder;
pub mod process;
pub mod sandbox;
pub mod shared_library;
pub mod state_folder;
#[cfg(windows)]
mod windows;
pub mod windows_time;

/// Whether files of this machine have the names, modes and symbolic links of POSIX; else they are those of Windows.
pub const HAS_POSIX_FILES: bool = cfg!(unix);

/// Whether this process has root's rights; on Windows, whether it is elevated.
#[cfg(unix)]
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether this process has root's rights; on Windows, whether it is elevated.
#[cfg(windows)]
#[must_use]
pub fn is_root() -> bool {
    windows::is_elevated()
}

/// Processor time of the programs that this process has started and waited for, user and system
/// (`getrusage(2)`, `RUSAGE_CHILDREN`); none where that is not known.
#[cfg(target_os = "linux")]
#[must_use]
pub fn ended_programs_cpu() -> Option<std::time::Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let used = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let microseconds = used.user_time().num_microseconds() + used.system_time().num_microseconds();
    Some(std::time::Duration::from_micros(
        u64::try_from(microseconds).ok()?,
    ))
}

/// The same where it is not known.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn ended_programs_cpu() -> Option<std::time::Duration> {
    None
}

/// Moves the calling thread, with what it starts from then on, to a new mount namespace (`mount_namespaces(7)`). What it
/// mounts there no other process sees; what others mount and unmount happens there too. The namespace ends with the last
/// process in it.
///
/// # Errors
/// When this process may not: only root may.
#[cfg(target_os = "linux")]
pub fn own_mounts() -> std::io::Result<()> {
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};

    unshare(CloneFlags::CLONE_NEWNS)?;
    let none = None::<&str>;
    // Mounts are shared by default, so that others would see it. What others unmount must go here as well: a disk that is
    // unplugged then must not be in use.
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
