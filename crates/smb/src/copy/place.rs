//! Files and folders of either side.

use std::path::PathBuf;

use smb_proto::session::{DirectoryEntry, FileTimes};

use super::{local, name, share};
use crate::error::Error;
use crate::tree::Tree;

/// MS-FSCC 2.6
pub(super) const ATTRIBUTE_READ_ONLY: u32 = 0x1;
pub(super) const ATTRIBUTE_FOLDER: u32 = 0x10;
pub(super) const ATTRIBUTE_ARCHIVE: u32 = 0x20;
const ATTRIBUTE_NORMAL: u32 = 0x80;
pub(super) const ATTRIBUTE_SPARSE: u32 = 0x200;
const ATTRIBUTE_COMPRESSED: u32 = 0x800;
pub(super) const ATTRIBUTE_LINK: u32 = 0x400;
/// Those that are a file's own: read-only, hidden, system, archive. The others say how it is
/// stored.
pub(super) const ATTRIBUTES_KEPT: u32 = 0x1 | 0x2 | 0x4 | 0x20;

/// Where a file or folder is.
#[derive(Clone, Debug)]
pub enum Place {
    /// On this machine.
    Local(PathBuf),
    /// On a share.
    Share {
        /// The share.
        tree: Tree,
        /// The path in it; empty for its top.
        path: String,
    },
}

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link, on this machine or of the server.
    Link,
    /// A device, a pipe or a socket.
    Other,
}

/// A file or folder as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, which on a share comes from the server and may be hostile.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Its length in bytes.
    pub size: u64,
    /// The space it takes, in bytes.
    pub allocation: u64,
    /// Its times, in the server's unit.
    pub times: FileTimes,
    /// Its attributes, as in MS-FSCC 2.6.
    pub attributes: u32,
    /// Its number on its file system, zero where there is none.
    pub id: u64,
}

impl Entry {
    /// Whether some of it may be a hole, which takes no space.
    pub(super) const fn may_have_holes(&self) -> bool {
        let takes_less = self.allocation < self.size;
        self.attributes & ATTRIBUTE_SPARSE != 0
            || (takes_less && self.attributes & ATTRIBUTE_COMPRESSED == 0)
    }

    /// What a copy of this file is given. It is never nothing, which would leave what the server
    /// gives a new file.
    pub(super) const fn attributes_of_copy(&self) -> u32 {
        match self.attributes & ATTRIBUTES_KEPT {
            0 => ATTRIBUTE_NORMAL,
            kept => kept,
        }
    }
}

impl From<DirectoryEntry> for Entry {
    fn from(found: DirectoryEntry) -> Self {
        let kind = if found.attributes & ATTRIBUTE_LINK != 0 && is_link(found.reparse_tag) {
            Kind::Link
        } else if found.attributes & ATTRIBUTE_FOLDER != 0 {
            Kind::Folder
        } else {
            Kind::File
        };
        Self {
            name: found.name,
            kind,
            size: found.size,
            allocation: found.allocation,
            times: found.times,
            attributes: found.attributes,
            id: found.file_id,
        }
    }
}

/// Of the many kinds of reparse points, those that lead elsewhere (MS-FSCC 2.1.2.1): links, mount
/// points, and the links of Windows' two Unix layers. The others are files that are stored in an
/// unusual way.
fn is_link(tag: u32) -> bool {
    matches!(tag, 0xA000_000C | 0xA000_0003 | 0xA000_001D | 0x8000_0014)
}

impl Place {
    /// A file or folder in this folder.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        match self {
            Self::Local(path) => Self::Local(path.join(name)),
            Self::Share { tree, path } => Self::Share {
                tree: tree.clone(),
                path: joined(path, name),
            },
        }
    }

    /// The folder it is in and its name there; none for the top.
    #[must_use]
    pub fn parent(&self) -> Option<(Self, String)> {
        match self {
            Self::Local(path) => {
                let name = path.file_name()?.to_str()?.to_owned();
                let parent = path.parent()?;
                let parent = if parent.as_os_str().is_empty() {
                    PathBuf::from(".")
                } else {
                    parent.to_owned()
                };
                Some((Self::Local(parent), name))
            }
            Self::Share { tree, path } => {
                let (parent, name) = share::split(path);
                (!name.is_empty()).then(|| {
                    let path = parent.to_owned();
                    let tree = tree.clone();
                    (Self::Share { tree, path }, name.to_owned())
                })
            }
        }
    }

    /// Its path, without anything that could steer a terminal.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Local(path) => name::printable(&path.to_string_lossy()),
            Self::Share { path, .. } => name::printable(path),
        }
    }

    /// What is there; none if nothing is.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn look(&self, links: Links) -> Result<Option<Entry>, Error> {
        let found = match self {
            Self::Local(path) => local::look(path, links),
            Self::Share { tree, path } => share::look(tree, path),
        };
        match found {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The entries of a folder. One that cannot be looked at is an error in the list.
    pub(super) fn list(
        &self,
        links: Links,
    ) -> Result<Box<dyn Iterator<Item = Result<Entry, Error>>>, Error> {
        match self {
            Self::Local(path) => Ok(Box::new(local::list(path, links)?)),
            Self::Share { tree, path } => Ok(Box::new(share::list(tree, path)?)),
        }
    }

    /// Makes a folder and those above it. Whether it is new.
    pub(super) fn make_folder(&self) -> Result<bool, Error> {
        let made = match self {
            Self::Local(path) => local::make_folder(path),
            Self::Share { tree, path } => share::make_folder(tree, path),
        };
        match made {
            Err(error) if is_absent(&error) => match self.parent() {
                Some((parent, _)) => {
                    parent.make_folder()?;
                    self.make_folder()
                }
                None => Err(error),
            },
            made => made,
        }
    }

    /// Removes a file or link, or a folder with everything in it.
    pub(super) fn remove(&self, entry: &Entry) -> Result<(), Error> {
        if entry.kind == Kind::Folder {
            for inner in self.list(Links::Skip)? {
                let inner = inner?;
                name::check_from_server(&inner.name).map_err(|reason| Error::Name {
                    name: name::printable(&inner.name),
                    reason,
                })?;
                self.join(&inner.name).remove(&inner)?;
            }
        }
        match self {
            Self::Local(path) => local::remove(path, entry.kind),
            Self::Share { tree, path } if entry.kind == Kind::Folder => tree.remove_folder(path),
            Self::Share { tree, path } => tree.remove_file(path),
        }
    }

    /// Gives a folder the times and attributes of its source.
    pub(super) fn finish_folder(&self, source: &Entry) -> Result<(), Error> {
        match self {
            Self::Local(path) => local::set_folder_times(path, source.times),
            Self::Share { tree, path } => share::finish_folder(tree, path, source),
        }
    }

    pub(super) const fn is_share(&self) -> bool {
        matches!(self, Self::Share { .. })
    }

    /// Whether what is here is `other` or holds it, so that a copy from here to there would copy
    /// into itself. One server under two names, and one folder of it by two shares, are seen
    /// through where the server numbers its files.
    pub(super) fn holds(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local(outer), Self::Local(inner)) => local::holds(outer, inner),
            (
                Self::Share { tree, path },
                Self::Share {
                    tree: to,
                    path: inner,
                },
            ) if tree.is_same_server(to) => {
                let same_share = tree.is_same(to);
                (same_share && is_below(&name::key(inner), &name::key(path)))
                    || self.id().is_some_and(|own| other.has_above(own))
            }
            _ => false,
        }
    }

    /// Whether both are on one server.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Share { tree, .. }, Self::Share { tree: to, .. }) => tree.is_same_server(to),
            _ => false,
        }
    }

    /// Whether it, or a folder above it, is this one.
    fn has_above(&self, id: ObjectId) -> bool {
        self.id() == Some(id)
            || self
                .parent()
                .is_some_and(|(parent, _)| parent.has_above(id))
    }

    /// What its server knows it by; none where nothing is there, or it does not tell.
    pub(super) fn id(&self) -> Option<ObjectId> {
        match self {
            Self::Local(_) => None,
            Self::Share { tree, path } => share::id(tree, path),
        }
    }
}

/// What a server knows a file or folder by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObjectId {
    pub volume: u64,
    pub file: u64,
    /// Servers made from one image may count alike and call themselves alike.
    pub creation: u64,
}

/// Whether a path is `outer` or leads into it.
fn is_below(path: &str, outer: &str) -> bool {
    outer.is_empty()
        || path
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// How to look at a link of this machine. Those of a server are as the server shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// As what it is.
    #[default]
    Skip,
    /// At what it leads to.
    Follow,
}

/// Whether an error says that there is nothing.
pub(super) fn is_absent(error: &Error) -> bool {
    match error {
        Error::NotFound { .. } => true,
        Error::LocalFile { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

pub(super) fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}
