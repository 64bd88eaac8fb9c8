//! Entries of folders.

use super::information::{FileTimes, Posix};
use crate::wire::{DirectoryWalk, HEADER_LENGTH, Message as _, PosixWalk, QueryDirectoryResponse};

/// Some entries of a folder, as the server sent them.
#[derive(Debug)]
pub struct Listing {
    /// The whole reply; it has been decoded once.
    pub(crate) message: Vec<u8>,
    /// It is of a folder that was opened by the POSIX extensions.
    pub(crate) posix: bool,
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name, without any path. From the peer: may be `..`, or hold `/` and control characters.
    pub name: String,
    /// Times.
    pub times: FileTimes,
    /// Length.
    pub size: u64,
    /// Space it takes.
    pub allocation: u64,
    /// Attributes.
    pub attributes: u32,
    /// What kind of link it is, when the attributes say it is one.
    pub reparse_tag: u32,
    /// The file's number on its file system.
    pub file_id: u64,
    /// The units of a name that is no Unicode: `name` is only like it, and leads to no such file.
    pub ill_formed: Option<Box<[u16]>>,
    /// What the POSIX extensions tell of it, where its folder was opened by them.
    pub posix: Option<Posix>,
}

impl Listing {
    fn data(&self) -> &[u8] {
        let body = self.message.get(HEADER_LENGTH..).unwrap_or(&[]);
        QueryDirectoryResponse::decode(body).map_or(&[], |reply| reply.data)
    }

    /// How many bytes the entries are.
    pub fn bytes(&self) -> usize {
        self.data().len()
    }

    /// The entries, in the server's order, `.` and `..` among them.
    pub fn entries(
        &self,
    ) -> impl Iterator<Item = Result<DirectoryEntry, crate::error::Malformed>> + '_ {
        let (unix, windows): (&[u8], &[u8]) = match self.posix {
            true => (self.data(), &[]),
            false => (&[], self.data()),
        };
        let windows = DirectoryWalk::new(windows).map(|it| it.map(|record| record.to_entry()));
        let unix = PosixWalk::new(unix).map(|it| it.map(|record| record.to_entry()));
        windows.chain(unix)
    }
}
