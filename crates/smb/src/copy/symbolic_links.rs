//! Symbolic links that are copied as links: between this machine and shares that have the POSIX extensions.

use super::entry::{Entry, is_absent};
use super::place::Place;
use super::{local_files, share};
use crate::error::Error;
use crate::tree::Replace;

/// The longest target that a link can have on Linux.
const TARGET_BYTES_MAX: usize = 4095;

/// Whether a link in a folder so many folders below the top of what is copied leads to nothing but what is copied,
/// whatever is there, now or later. On its way it may pass through other links, which are bound alike; a `..` behind one
/// would lead out of where that leads to, so all of them must come first: there, each leaves a folder that is none.
pub(crate) fn stays_below(target: &str, depth: usize) -> bool {
    if target.is_empty() || target.len() > TARGET_BYTES_MAX || target.contains('\0') {
        return false;
    }
    if target.starts_with('/') {
        return false;
    }
    let mut parts = target.split('/').filter(|part| !["", "."].contains(part));
    let up = parts.by_ref().take_while(|part| *part == "..");
    // The part that ended this is none of them.
    up.count() <= depth && !parts.any(|part| part == "..")
}

impl Place {
    /// Whether links are links here, and can be made.
    pub(super) fn has_links(&self) -> bool {
        match self {
            Self::Local(_) => os::HAS_POSIX_FILES,
            Self::Share { tree, .. } => tree.is_posix(),
        }
    }

    /// Where a link leads; none where that cannot be told, or is no Unicode.
    pub(super) fn read_link(&self) -> Result<Option<String>, Error> {
        match self {
            Self::Local(path) => local_files::read_link(path),
            Self::Share { tree, path } => tree.read_link(path),
        }
    }

    /// Makes a link.
    pub(super) fn make_link(&self, target: &str, replace: Replace) -> Result<(), Error> {
        let made = match self {
            Self::Local(path) => local_files::make_link(path, target, replace),
            Self::Share { tree, path } => tree
                .check_new_name(path)
                .and_then(|()| tree.make_link(path, target, replace)),
        };
        made.map_err(|error| match error {
            Error::AlreadyExists { .. } => Error::Obstructed {
                object: self.shown(),
            },
            error => error,
        })
    }

    /// What a link leads to: of this machine, and on a share as its server follows it that shows both, the link to those
    /// who use the POSIX extensions, and what is there to others.
    pub(super) fn behind_link(&self) -> Result<Option<(Self, Entry)>, Error> {
        let (tree, path) = match self {
            Self::Share { tree, path } => (tree, path),
            Self::Local(path) => {
                let followed = Self::local(path)?;
                let found = followed.stat()?;
                return Ok(found.map(|found| (followed, found)));
            }
        };
        let followed = Self::Share {
            tree: tree.as_windows(),
            path: path.clone(),
        };
        match share::stat_target(&tree.as_windows(), path) {
            Err(error) if is_absent(&error) => Ok(None),
            found => found.map(|found| Some((followed, found))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_may_lead_elsewhere_is_known() {
        for (target, depth) in [
            ("file", 0),
            ("folder/file", 0),
            ("./a//b/", 0),
            ("../file", 1),
            ("../../a/b", 2),
            (".././../a", 2),
            ("..", 1),
            ("...", 0),
            ("a/..b", 0),
            ("back\\slash", 0),
        ] {
            assert!(stays_below(target, depth), "{target} in {depth}");
        }
        for (target, depth) in [
            ("", 3),
            ("/etc/passwd", 3),
            ("//host/share", 3),
            ("..", 0),
            ("../file", 0),
            ("../../file", 1),
            // What `a` is, nobody knows.
            ("a/..", 3),
            ("a/../../b", 3),
            ("../a/../b", 3),
            ("a/./../b", 3),
            ("a\0b", 3),
        ] {
            assert!(!stays_below(target, depth), "{target:?} in {depth}");
        }
        assert!(!stays_below(&"a/".repeat(2048), 3), "it is too long");
    }
}
