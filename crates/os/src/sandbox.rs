//! Giving up rights before bytes of strangers are parsed.
//!
//! A process that is confined keeps its descriptors, its memory and its network, and nothing else: where it
//! was root it is nobody, it opens no file but those named (landlock), and it starts no program (seccomp).
//! What the system lacks of that is said by [`Confined`], never passed over in silence.

#[cfg_attr(target_os = "linux", path = "sandbox/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "sandbox/other.rs")]
mod imp;

use std::io;
use std::path::PathBuf;

/// What a process keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Whether it stays the user who it is. Otherwise root becomes nobody.
    pub keeps_user: bool,
    /// Whether it may use the network.
    pub network: bool,
    /// Files and folders, with all below them, that it may read, beside the system's own libraries and
    /// what they are configured by.
    pub reads: Vec<PathBuf>,
    /// Files and folders that it may also change. What does not exist cannot be named.
    pub writes: Vec<PathBuf>,
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
    pub fn missing(&self) -> Vec<&'static str> {
        let lacks = [
            (!self.unprivileged, "it keeps root's rights"),
            (
                self.files == Enforced::No,
                "the kernel does not confine the files that it can open (landlock)",
            ),
            (
                self.files == Enforced::Partly,
                "the kernel confines the files that it can open only in part (landlock)",
            ),
            (
                !self.system_calls,
                "the system calls that it can make are not filtered (seccomp)",
            ),
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
