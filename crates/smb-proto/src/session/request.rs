//! What can be asked of a session, and the answers.

use std::ops::Range;
use std::sync::Arc;

use crate::block::Block;
use crate::error::Result;
use crate::plan::ServerInterface;
use crate::session::{FileKey, TreeKey};
use crate::wire::{
    CopyChunk, CopyChunksDone, DirectoryWalk, FileId, HEADER_LENGTH, Message as _, PosixWalk,
    QueryDirectoryResponse, ReferralResponse,
};

/// Something to ask of the server. Paths use `/` or `\`, without one in front; `""` is the root. Of what is opened by
/// the POSIX extensions, `\` is a letter of a name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Request {
    /// Connect to a share, by its bare name: [`Reply::Tree`].
    TreeConnect {
        /// As in `data` or `IPC$`.
        share: String,
    },
    /// Disconnect from it: [`Reply::Done`].
    TreeDisconnect {
        /// The share.
        tree: TreeKey,
    },
    /// Open or create: [`Reply::Created`].
    Create {
        /// The share.
        tree: TreeKey,
        /// Where in it.
        path: String,
        /// How.
        options: CreateOptions,
    },
    /// Close: [`Reply::Closed`], with the length that the file has then.
    Close {
        /// The file.
        file: FileKey,
    },
    /// Make what was written durable: [`Reply::Done`].
    Flush {
        /// The file.
        file: FileKey,
    },
    /// Take a range of a file for oneself, or give it back: [`Reply::Done`]. It fails at once where
    /// somebody else has it.
    Lock {
        /// The file.
        file: FileKey,
        /// Where the range begins.
        offset: u64,
        /// How many bytes it has.
        bytes: u64,
        /// Give it back.
        unlock: bool,
    },
    /// The next entries of a folder: [`Reply::Listing`].
    List {
        /// The folder.
        folder: FileKey,
        /// As in `*`; counts in the first call only.
        pattern: String,
        /// Start again from the first entry.
        restart: bool,
        /// How many bytes of entries at most; bounded by the server.
        bytes_max: u32,
    },
    /// Ask about a file or its file system: [`Reply::Information`].
    Query {
        /// The file.
        file: FileKey,
        /// What.
        what: QueryInformation,
    },
    /// Change a file: [`Reply::Done`].
    Set {
        /// The file.
        file: FileKey,
        /// What.
        what: SetInformation,
    },
    /// Read at most [`Self::SMALL_BYTES_MAX`] bytes, without a block: [`Reply::Bytes`].
    Fetch {
        /// The file.
        file: FileKey,
        /// Where in it.
        offset: u64,
        /// How many bytes at most.
        bytes_max: u32,
    },
    /// Write at most [`Self::SMALL_BYTES_MAX`] bytes, without a block: [`Reply::Stored`].
    Store {
        /// The file.
        file: FileKey,
        /// Where in it.
        offset: u64,
        /// What; not empty.
        bytes: Arc<[u8]>,
    },
    /// Several requests about one file in one go: [`Reply::Chain`]. In the requests behind a
    /// [`Self::Create`], [`FileKey::OF_CHAIN`] is what that opens. At most
    /// [`Self::LINKS_MAX`] requests, of which two may be [`Self::List`].
    ///
    /// The server goes on after most failures (3.3.5.2.7.2 only says that it should not), so what
    /// must not be done after a failure does not belong into the same chain. If the server cannot
    /// close the file as asked, it is asked once more, after the chain. With too few credits for a
    /// chain, its requests go one by one.
    Chain(Vec<Request>),
    /// The server's interfaces: [`Reply::Interfaces`]. Any share will do.
    Interfaces {
        /// The share.
        tree: TreeKey,
    },
    /// Where something of a distributed file system is (MS-DFSC): [`Reply::Referrals`]. Asked of the share
    /// `IPC$`, always signed or encrypted where there is a key.
    Referrals {
        /// The share.
        tree: TreeKey,
        /// As in `\server\share\folder`.
        path: String,
    },
    /// The key by which the server finds a file as the source of copies: [`Reply::ResumeKey`].
    ResumeKey {
        /// The source.
        file: FileKey,
    },
    /// Copy on the server, from a file of this session: [`Reply::Copied`] or [`Reply::CopyLimits`].
    CopyChunks {
        /// Into which file.
        to: FileKey,
        /// Of the source.
        key: [u8; 24],
        /// What.
        chunks: Vec<CopyChunk>,
    },
    /// Let a file share the storage of a range with another one, at the same place, until one of
    /// them is changed: [`Reply::Done`]. It must be as long already, and the range a whole number
    /// of clusters.
    Clone {
        /// From which file.
        from: FileKey,
        /// Which one.
        to: FileKey,
        /// Which range of both.
        range: Range<u64>,
    },
    /// Let a file have holes, which take no space and read as zeros: [`Reply::Done`].
    SetSparse {
        /// The file.
        file: FileKey,
    },
    /// Where a file that has holes has none: [`Reply::Allocated`].
    Allocated {
        /// The file.
        file: FileKey,
        /// In which range of it.
        range: Range<u64>,
    },
    /// Where a link leads that is opened as one: [`Reply::Link`].
    ReadLink {
        /// The link.
        file: FileKey,
    },
    /// Make a link of an empty file that was just made: [`Reply::Done`].
    MakeLink {
        /// The file.
        file: FileKey,
        /// Where the link is to lead, from its folder on, with `/` between names.
        target: String,
    },
    /// Write to a pipe and read the answer, or the begin of it: [`Reply::FromPipe`].
    Transceive {
        /// The pipe.
        pipe: FileKey,
        /// What to write.
        input: Vec<u8>,
        /// Most bytes of the answer.
        bytes_max: u32,
    },
    /// More of an answer on a pipe: [`Reply::FromPipe`].
    ReadPipe {
        /// The pipe.
        pipe: FileKey,
        /// Most bytes of it.
        bytes_max: u32,
    },
    /// Agree that the server takes a lease back: [`Reply::Done`]. The session does so by itself.
    AcknowledgeBreak {
        /// The share of its file.
        tree: TreeKey,
        /// Its key.
        key: [u8; 16],
        /// What is left of it.
        state: u32,
    },
    /// A sign of life: [`Reply::Done`].
    Echo,
    /// End the session politely: [`Reply::Done`], after which every channel closes.
    Logoff,
}

impl Request {
    /// Most bytes of [`Self::Fetch`] and [`Self::Store`]: what one credit pays for.
    pub const SMALL_BYTES_MAX: u32 = 1 << 16;
    /// Most requests of a [`Self::Chain`].
    pub const LINKS_MAX: usize = 8;
}

/// The answer to a [`Request`], or the end of a transfer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// It is done.
    Done,
    /// A share is connected.
    Tree(TreeKey, TreeInformation),
    /// A file is open.
    Created(FileKey, Created),
    /// A file is closed.
    Closed {
        /// Its length then, where the server gives it.
        size: Option<u64>,
    },
    /// Some entries of a folder; none when there are no more.
    Listing(Option<Listing>),
    /// What was asked about a file.
    Information(Information),
    /// What was read; empty at the end of the file.
    Bytes(Vec<u8>),
    /// So many bytes were written, at least one.
    Stored(u32),
    /// The answer to each request of a chain. The key in [`Self::Created`] is good unless the
    /// chain closed the file.
    Chain(Vec<Result<Reply>>),
    /// The server's interfaces, as it lists them.
    Interfaces(Vec<ServerInterface>),
    /// Where something is instead, as the server says; names are not checked.
    Referrals(ReferralResponse),
    /// Names a file as the source of copies.
    ResumeKey([u8; 24]),
    /// So much was copied.
    Copied(CopyChunksDone),
    /// Nothing was copied, because the server takes no more than this at once.
    CopyLimits(CopyChunksDone),
    /// Where there is something, as the server says: in any order, and also where nobody asked.
    Allocated {
        /// Everything else is a hole.
        ranges: Vec<Range<u64>>,
        /// Nothing was said about what is behind the last of them.
        more: bool,
    },
    /// Where a link leads, as the server says: perhaps anywhere. None: it is no symbolic link, or what it says is
    /// no Unicode.
    Link(Option<String>),
    /// What was read.
    FromPipe(Vec<u8>),
    /// All pieces have been handed over.
    Read {
        /// How many bytes there were; less than asked for at the end of a file.
        bytes: u64,
    },
    /// All that a source was asked for has been written.
    WrittenFrom {
        /// How many bytes.
        bytes: u64,
    },
    /// All of the payload has been written.
    Written {
        /// The block, to be filled anew.
        block: Block,
    },
}

/// About a connected share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeInformation {
    /// What it is.
    pub share: Share,
    /// Whether the server demands encryption for it.
    pub encrypted: bool,
    /// It is part of a distributed file system, and may refer to other servers.
    pub in_dfs: bool,
    /// The access rights at most.
    pub access_max: u32,
}

/// What a share is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Files.
    Disk,
    /// Named pipes.
    Pipe,
    /// A printer.
    Print,
}

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

/// The server's times, in units of 100 ns since 1601; zero: it keeps none, or leave as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileTimes {
    /// Made.
    pub creation: u64,
    /// Last read.
    pub access: u64,
    /// Content last changed.
    pub write: u64,
    /// Anything last changed.
    pub change: u64,
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

/// What the POSIX extensions tell of a file, as the server says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posix {
    /// Its mode: bits of access as in `chmod(2)`, and more that nobody has to believe.
    pub mode: u32,
    /// Names that it has.
    pub links: u32,
    /// What kind of link it is; zero: none.
    pub reparse_tag: u32,
}

impl Posix {
    /// Who may read, write and execute. A file from elsewhere never gets set-user-ID, set-group-ID or the sticky bit.
    pub const ACCESS: u32 = 0o777;

    /// Those bits of its mode.
    pub const fn access(&self) -> u32 {
        self.mode & Self::ACCESS
    }
}

/// What to ask about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryInformation {
    /// [`Information::Standard`].
    Standard,
    /// [`Information::Basic`].
    Basic,
    /// [`Information::FsSize`], of the file system.
    FsSize,
    /// [`Information::FsAttributes`], of the file system.
    FsAttributes,
    /// [`Information::Path`].
    Path,
    /// [`Information::Posix`], of what is opened by the POSIX extensions.
    Posix,
}

/// The answer to [`QueryInformation`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Information {
    /// Size and state.
    Standard {
        /// Length.
        size: u64,
        /// Space it takes.
        allocation: u64,
        /// A folder.
        folder: bool,
        /// Will be removed when closed.
        delete_pending: bool,
    },
    /// Times and attributes.
    Basic {
        /// Times.
        times: FileTimes,
        /// Attributes.
        attributes: u32,
    },
    /// Of the file system.
    FsSize(FsSize),
    /// What the file system can do.
    FsAttributes {
        /// Files can share storage: [`Request::Clone`].
        clones: bool,
    },
    /// Its path on the server, from the top of the share or of the disk, with `\\` before each name. It has
    /// the name that the file has on the server's disk, also where listings show a stand-in for it.
    Path(String),
    /// What the POSIX extensions tell.
    Posix {
        /// Length.
        size: u64,
        /// Times.
        times: FileTimes,
        /// What only Unix knows.
        posix: Posix,
    },
}

/// The size of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsSize {
    /// In all.
    pub total_bytes: u64,
    /// Free for this user.
    pub available_bytes: u64,
    /// Free for anybody.
    pub free_bytes: u64,
}

/// What to change about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetInformation {
    /// Its length.
    EndOfFile(u64),
    /// Times and attributes; zero leaves one as it is.
    Basic {
        /// Times.
        times: FileTimes,
        /// Attributes.
        attributes: u32,
    },
    /// Its path in the share; needs [`Access::Delete`].
    Rename {
        /// The new path.
        path: String,
        /// Whether a file there may be replaced.
        replace: bool,
    },
    /// Whether it is removed when closed; needs [`Access::Delete`].
    DeleteOnClose(bool),
    /// Its mode, of which only [`Posix::ACCESS`] is set; needs the right to write who may do what (WRITE_DAC), and that
    /// it was opened by the POSIX extensions.
    Mode(u32),
}

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
