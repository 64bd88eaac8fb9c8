//! Files that linerate keeps, and files that a person names. Each is checked after it was opened:
//! what was read is checked, not what was named.
//!
//! What is kept is in a [`Folder`]. The path to it is walked one name at a time, from `/` on; only root
//! and the user may be able to exchange anything on it. From there on only the open folder counts,
//! and no name in it is followed to another place. What a person names is written by [`replace`].

use std::path::PathBuf;
use std::{fmt, io};

use locale::{Language, Message, say};

#[cfg_attr(unix, path = "file/posix.rs")]
#[cfg_attr(windows, path = "file/windows.rs")]
mod imp;

pub use imp::*;

/// A file could not be opened, written, or trusted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system says no.
    System {
        /// What we were doing.
        action: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// It could be opened, and others could have put there what they like.
    Unsafe {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it, in a sentence that does not name it.
        reason: Message,
        /// What to do about it.
        hint: Message,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

impl Error {
    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        let (message, path) = match self {
            Self::System { action, path, .. } => (cannot(action), path),
            Self::Unsafe { path, reason, .. } => (reason.clone(), path),
        };
        message.with("path", path.display().to_string())
    }

    /// Whether it is because there is no such file or folder.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether it is because there is such a file already.
    #[must_use]
    pub fn exists(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::AlreadyExists)
    }

    /// Whether it is because this user may not look there.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::System { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }

    /// What to do next, where we know it.
    #[must_use]
    pub fn hint(&self) -> Option<Message> {
        match self {
            Self::System { .. } => None,
            Self::Unsafe { hint, .. } => Some(hint.clone()),
        }
    }

    /// The same as an error of the system.
    #[must_use]
    pub fn into_io(self) -> io::Error {
        match self {
            Self::System { source, .. } => source,
            error @ Self::Unsafe { .. } => io::Error::new(io::ErrorKind::PermissionDenied, error),
        }
    }
}

/// What the system does not let us do.
fn cannot(action: &str) -> Message {
    match action {
        "create" => say("error-os.cannot-create"),
        "find" => say("error-os.cannot-find"),
        "follow" => say("error-os.cannot-follow"),
        "list" => say("error-os.cannot-list"),
        "look at" => say("error-os.cannot-look-at"),
        "make" => say("error-os.cannot-make"),
        "name a new file for" => say("error-os.cannot-name-new-file"),
        "open" => say("error-os.cannot-open"),
        "read" => say("error-os.cannot-read"),
        "remove" => say("error-os.cannot-remove"),
        "rename" => say("error-os.cannot-rename"),
        "sync" => say("error-os.cannot-sync"),
        "write" => say("error-os.cannot-write"),
        other => say("error-os.cannot").with("action", other),
    }
}

/// Whether what is written there vanishes.
#[must_use]
pub fn is_null_device(path: &std::path::Path) -> bool {
    match crate::HAS_POSIX_FILES {
        true => path == std::path::Path::new("/dev/null"),
        false => path.as_os_str().eq_ignore_ascii_case("nul"),
    }
}

/// Who may read what linerate keeps. Only its owner may ever write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner.
    Owner,
    /// Every user of the machine.
    All,
}
