//! A folder of our own in one that others may write to. Whoever owns that one can put a link or another folder
//! in its place at any moment, so it is held from the moment when it is made, and never looked up by its path
//! where root's rights depend on it.

use std::{fmt, io};

use locale::{Language, Message, say};

#[cfg_attr(unix, path = "posix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

pub use imp::{Made, Shared};

/// Whoever can write to the folder above has put something else in the place of what was made. It is inside of the
/// [`io::Error`] that says so.
#[derive(Clone, Copy, Debug)]
pub struct Exchanged;

impl Exchanged {
    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(self) -> Message {
        say("error-os.exchanged")
    }
}

impl fmt::Display for Exchanged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

impl std::error::Error for Exchanged {}

pub(crate) fn exchanged() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, Exchanged)
}
