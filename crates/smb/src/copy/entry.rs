//! What is found at a place: files, folders and links, with their sizes, times, attributes and numbers.

use smb_proto::session::{DirectoryEntry, FileTimes, Posix};

use super::reparse_tags::Reparse;
use crate::error::Error;

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
    /// A file that is in a cloud: to open it has the server fetch it.
    Cloud,
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
    /// Who may read, write and execute it, as in `chmod(2)`; none where nobody tells. Never more than those bits: nothing
    /// from elsewhere runs with its owner's rights.
    pub mode: Option<u32>,
}

/// What a copy of a folder gets from it.
#[derive(Clone, Copy)]
pub(super) struct OfFolder {
    pub(super) times: FileTimes,
    pub(super) attributes: u32,
    pub(super) mode: Option<u32>,
}

impl From<&Entry> for OfFolder {
    fn from(folder: &Entry) -> Self {
        Self {
            times: folder.times,
            attributes: folder.attributes,
            mode: folder.mode,
        }
    }
}

impl Entry {
    /// Whether some of it may be a hole, which takes no space.
    pub(super) const fn may_be_sparse(&self) -> bool {
        let takes_less = self.allocation < self.size;
        self.attributes & ATTRIBUTE_SPARSE != 0
            || (takes_less && self.attributes & ATTRIBUTE_COMPRESSED == 0)
    }

    /// Whether it is more than its listing shows: perhaps a folder of another server.
    pub(super) const fn is_reparse_point(&self) -> bool {
        self.attributes & ATTRIBUTE_LINK != 0
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
        let is_folder = found.attributes & ATTRIBUTE_FOLDER != 0;
        let reparse =
            (found.attributes & ATTRIBUTE_LINK != 0).then(|| Reparse::of(found.reparse_tag));
        let kind = match reparse {
            Some(reparse) if reparse.is_link() => Kind::Link,
            Some(Reparse::UnixSpecial) => Kind::Other,
            _ if is_folder => Kind::Folder,
            Some(reparse) if reparse.is_fetched(found.attributes) => Kind::Cloud,
            _ => Kind::File,
        };
        Self {
            name: found.name,
            kind,
            size: found.size,
            allocation: found.allocation,
            times: found.times,
            attributes: found.attributes,
            id: found.file_id,
            mode: found.posix.as_ref().map(Posix::access),
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

/// Whether a server knows a file by this number, and not all that it has no number for.
pub(super) fn is_number(number: u64) -> bool {
    ![0, u64::MAX].contains(&number)
}

/// Whether an error says that there is nothing.
pub(super) fn is_absent(error: &Error) -> bool {
    match error {
        Error::NotFound { .. } => true,
        Error::LocalFile { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}
