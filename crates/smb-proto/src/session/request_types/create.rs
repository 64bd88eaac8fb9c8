//! How to open a file or folder, and what the server says of it then.

use super::information::{FileTimes, Posix};
use crate::wire::FileId;

/// What to do with a file that is or is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// It must be there.
    Open,
    /// It must not be there.
    Create,
    /// Take it or make it.
    OpenOrCreate,
    /// It must be there and loses its content.
    Truncate,
    /// Made, or loses its content.
    CreateOrTruncate,
}

/// What an open file may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read data and attributes, list folders.
    Read,
    /// Write data and attributes.
    Write,
    /// Both.
    ReadWrite,
    /// Attributes only; never disturbs others.
    Attributes,
    /// Remove or rename it, and read attributes.
    Delete,
    /// Exactly these rights.
    Mask(u32),
}

/// How to open a file or folder.
#[derive(Debug, Clone)]
pub struct CreateOptions {
    /// What for.
    pub access: Access,
    /// If it is there, if it is not.
    pub disposition: Disposition,
    /// Must it be a folder (`Some(true)`), must it not (`Some(false)`), or either.
    pub folder: Option<bool>,
    /// Remove it when it is closed; adds the right to delete.
    pub delete_on_close: bool,
    /// Every WRITE must be on storage before it is answered.
    pub write_through: bool,
    /// The access will be sequential.
    pub sequential: bool,
    /// Open a link itself, not what it points to.
    pub reparse_point: bool,
    /// Let others read it meanwhile.
    pub share_read: bool,
    /// Let others write and remove it meanwhile.
    pub share_write: bool,
    /// Attributes of a new file, as in MS-FSCC; zero: as the server likes.
    pub attributes: u32,
    /// Space to reserve for a new file.
    pub allocation_bytes: Option<u64>,
    /// Ask for the file's number: [`Created::disk_id`].
    pub disk_id: bool,
    /// Ask for a lease: [`Created::lease`].
    pub lease: Option<Lease>,
    /// Ask for a handle that outlives its connection, or take one up again:
    /// [`Created::durable_timeout_ms`]. Servers grant one only with a lease that keeps handles.
    pub durable: Option<Durable>,
    /// By the POSIX extensions, where they were agreed and the share has them ([`Created::posix`] tells): the name is
    /// as Unix has it, links on the way are not followed, and a new file or folder gets this mode, less what the server
    /// takes from it. Such a handle never outlives its connection.
    pub posix: Option<u32>,
    /// Once something that was written may be missing, because all channels were lost before it was
    /// flushed, everything fails with [`crate::Error::FileChanged`] but closing and removing it.
    /// Otherwise only flushing and renaming do.
    pub all_or_nothing: bool,
}

impl CreateOptions {
    /// Open an existing file for this.
    pub fn open(access: Access) -> Self {
        Self {
            access,
            disposition: Disposition::Open,
            folder: None,
            delete_on_close: false,
            write_through: false,
            sequential: false,
            reparse_point: false,
            share_read: true,
            share_write: true,
            attributes: 0,
            allocation_bytes: None,
            disk_id: false,
            lease: None,
            durable: None,
            posix: None,
            all_or_nothing: false,
        }
    }
}

/// The right to keep what a file holds, until the server takes it back (2.2.13.2.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Random; the same for all opens of one file by this client, and for no other file.
    pub key: [u8; 16],
    /// See [`crate::wire::lease_state`].
    pub state: u32,
}

/// A handle that outlives its connection (2.2.13.2.11, 2.2.13.2.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// Open one.
    Request {
        /// Random, for this open alone.
        create_guid: [u8; 16],
        /// How long the server is to keep it, in milliseconds; zero: as it likes.
        timeout_ms: u32,
    },
    /// Take one up after the connection was lost. The lease must be the same.
    Reconnect {
        /// As it was opened with.
        create_guid: [u8; 16],
        /// As the lost connection knew it.
        file: FileId,
    },
}

/// About a file that was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Created {
    /// Whether the file is new.
    pub new: bool,
    /// Its times.
    pub times: FileTimes,
    /// Its length.
    pub size: u64,
    /// Space it takes.
    pub allocation: u64,
    /// Its attributes, as in MS-FSCC (0x10 folder, 0x400 reparse point).
    pub attributes: u32,
    /// The file's number on its volume and the volume's, if asked for and known.
    pub disk_id: Option<(u64, u64)>,
    /// The lease that was granted, if any; its state may be less than was asked for.
    pub lease: Option<Lease>,
    /// The server keeps the handle for so long without a connection; none: it does not.
    pub durable_timeout_ms: Option<u32>,
    /// What the POSIX extensions tell of it; none: it was not opened by them.
    pub posix: Option<Posix>,
}

impl Created {
    /// The file's number on its volume; zero: it was not asked for, or the server tells none.
    pub fn file_id(&self) -> u64 {
        self.disk_id.map_or(0, |(file, _)| file)
    }
}

/// What is known of a file that is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Closed {
    /// The server said that it is closed, and has kept all that it confirmed of what was written through this handle.
    /// False where the connection was lost before it said so, or where it did not keep the handle over a loss:
    /// what an error of its storage would have said, nobody heard.
    pub sure: bool,
    /// The length of the file then, where the server gives it.
    pub size: Option<u64>,
    /// Its times then, where the server gives them.
    pub times: Option<FileTimes>,
}
