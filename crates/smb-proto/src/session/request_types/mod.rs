//! What can be asked of a session, and the answers.

mod create;
mod information;
mod listing;

use std::ops::Range;
use std::sync::Arc;

pub use create::{Access, Closed, CreateOptions, Created, Disposition, Durable, Lease};
pub use information::{FileTimes, FsSize, Information, Posix, QueryInformation, SetInformation};
pub use listing::{DirectoryEntry, Listing};

use crate::error::Result;
use crate::multichannel_plan::ServerInterface;
use crate::payload_block_pool::Block;
use crate::session::{FileKey, TreeKey};
use crate::wire::{CopyChunk, CopyChunksDone, ReferralResponse};

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
    /// Close: [`Reply::Closed`].
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
    Closed(Closed),
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
