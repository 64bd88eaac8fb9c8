//! Giving up rights before bytes of strangers are parsed.
//!
//! A process that is confined keeps its descriptors, its memory and its network, and nothing else: where it
//! was root it is nobody, it opens no file but those named (landlock), and it starts no program (seccomp).
//! What the system lacks of that is said by [`Confined`], never passed over in silence.

#[cfg_attr(target_os = "linux", path = "sandbox/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "sandbox/not_linux.rs")]
mod imp;

use locale::{Message, say};
use std::io;
#[cfg(unix)]
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

#[cfg_attr(unix, path = "sandbox/posix_socket.rs")]
#[cfg_attr(windows, path = "sandbox/no_socket.rs")]
mod socket;

pub use socket::Socket;

/// Whether a process can give up rights on this system.
pub const IS_KNOWN: bool = cfg!(target_os = "linux");

/// What a process keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Which user it is from then on.
    pub user: User,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether it may use keyrings of the kernel (`keyrings(7)`).
    pub keyrings: bool,
    /// Files and folders, with all below them, that it may read, beside the system's own libraries and
    /// what they are configured by.
    pub reads: Vec<PathBuf>,
    /// Files and folders that it may also change. What does not exist cannot be named.
    pub writes: Vec<PathBuf>,
}

/// Which user a process is, where it was root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum User {
    /// The user `nobody`, without a right of root.
    #[default]
    Unprivileged,
    /// Root until [`drop_root`], so that it can open first what root alone may open.
    UnprivilegedLater,
    /// Root.
    Kept,
}

/// How far a process is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confined {
    /// It has none of root's rights, because it never had them or gave them up.
    pub unprivileged: bool,
    /// How much of the files it can open is enforced by landlock.
    pub files: Enforced,
    /// System calls are filtered by seccomp.
    pub system_calls: bool,
}

/// How much of a rule the kernel enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforced {
    /// All of it.
    Fully,
    /// As much as this older kernel knows.
    Partly,
    /// Nothing: the kernel has no landlock, or it is switched off.
    No,
}

impl Confined {
    /// What this system lacks, in a few words each; empty where nothing does.
    #[must_use]
    pub fn missing(&self) -> Vec<Message> {
        if !IS_KNOWN {
            return vec![say("sandbox.unknown")];
        }
        let lacks = [
            (!self.unprivileged, say("sandbox.keeps-root")),
            (self.files == Enforced::No, say("sandbox.files-open")),
            (
                self.files == Enforced::Partly,
                say("sandbox.files-partly-open"),
            ),
            (!self.system_calls, say("sandbox.calls-unfiltered")),
        ];
        let lacks = lacks.into_iter().filter(|(lacking, _)| *lacking);
        lacks.map(|(_, what)| what).collect()
    }
}

/// Confines this process, for good: this thread and those that it starts from now on, and by seccomp all
/// of them. To be called before any other thread is started.
///
/// # Errors
/// When rights cannot be given up that the system lets one give up. The process must not go on then.
pub fn confine(rules: &Rules) -> io::Result<Confined> {
    imp::confine(rules)
}

/// Makes nobody of root in a process that [`User::UnprivilegedLater`] let it be until now; says whether it has none of
/// root's rights by then.
///
/// # Errors
/// When rights cannot be given up that the system lets one give up. The process must not go on then.
pub fn drop_root() -> io::Result<bool> {
    imp::drop_root()
}

/// Has the system keep no memory of this process and of those that it starts where they crash: a password may be
/// in it.
///
/// # Errors
/// When the system has no such limit.
#[cfg(unix)]
pub fn leave_no_core() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    /// Less than any dump has. By 0, a program that Linux pipes dumps to would get them all the same; by 1 it does not
    /// (`core_pattern` of `core(5)`, `coredump_pipe` of the kernel).
    const CORE_BYTES_MAX: u64 = 1;

    let before = getrlimit(Resource::Core);
    let most = before
        .maximum
        .map_or(CORE_BYTES_MAX, |most| most.min(CORE_BYTES_MAX));
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    Ok(setrlimit(Resource::Core, limit)?)
}

/// The same where the system has no such limit: what Windows keeps of programs that crash is up to its settings.
///
/// # Errors
/// Always.
#[cfg(windows)]
pub fn leave_no_core() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Closes every descriptor but the standard ones that this process was started with: a file of root that its
/// shell has open is none for a process without rights. To be called before anything else; what this program
/// opens itself is never inherited.
///
/// # Errors
/// When the system does not tell what is open.
pub fn close_inherited() -> io::Result<()> {
    imp::close_inherited()
}

/// Gives a folder that was just made to the user that [`confine`] makes of root; see
/// [`crate::folder_in_world_writable::Made::give`].
#[cfg(unix)]
pub(crate) fn give(folder: BorrowedFd<'_>, now: &rustix::fs::Stat) -> io::Result<()> {
    imp::give(folder, now)
}

/// A path that leads to an open folder in the processes that this one starts.
#[cfg(unix)]
pub(crate) fn entrance(folder: BorrowedFd<'_>, path: &std::path::Path) -> PathBuf {
    imp::entrance(folder, path)
}

/// Whether a process that [`confine`] lets keep nothing can work in the folder that it was started in.
///
/// # Errors
/// When that folder cannot be looked at.
pub fn can_work_here() -> io::Result<bool> {
    imp::can_work_here()
}
