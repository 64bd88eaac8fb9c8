//! Paths in the form of the wire.

use locale::say;

use crate::error::{Error, Result};
use crate::wire::utf16;

/// A path in the form of the wire.
pub(super) fn name_bytes(path: &str) -> Result<Vec<u8>> {
    let bytes = utf16::encode(path);
    if u16::try_from(bytes.len()).is_err() {
        return Err(Error::InvalidRequest(say("invalid-request.path-length")));
    }
    Ok(bytes)
}

/// What parts the names of a path in a share.
#[derive(Clone, Copy)]
pub(super) enum Paths {
    /// `\`, and `/` is taken for it.
    Windows,
    /// `/` alone, as the POSIX extensions have it: `\` is a letter like others.
    Unix,
}

impl Paths {
    pub(super) fn of(posix: bool) -> Self {
        match posix {
            true => Self::Unix,
            false => Self::Windows,
        }
    }

    /// A path in a share in the form of the wire.
    pub(super) fn bytes(self, path: &str) -> Result<Vec<u8>> {
        match self {
            Self::Windows => name_bytes(path.replace('/', "\\").trim_start_matches('\\')),
            Self::Unix => name_bytes(path.trim_start_matches('/')),
        }
    }
}
