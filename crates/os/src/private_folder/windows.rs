//! Windows, which has no sockets of `ssh` to keep in such folders.

use std::convert::Infallible;
use std::io;
use std::path::Path;

/// There is none.
#[derive(Debug)]
pub(super) struct Folder(Infallible);

impl Folder {
    pub(super) fn make(_: &Path, _: &str) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn path(&self) -> &Path {
        match self.0 {}
    }
}

pub(super) fn sweep(_: &Path, _: &str) {}
