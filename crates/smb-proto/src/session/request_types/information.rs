//! What can be asked about an open file or its file system, and what can be changed about it.

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
    /// [`Information::AlternateStream`].
    Streams,
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
        /// Files can share storage: [`Request::Clone`](super::Request::Clone).
        clones: bool,
        /// Files can have more data streams than the one that everybody reads.
        streams: bool,
    },
    /// Its path on the server, from the top of the share or of the disk, with `\\` before each name. It has
    /// the name that the file has on the server's disk, also where listings show a stand-in for it.
    Path(String),
    /// The first data stream of a file beside the one that everybody reads, as in `:name:$DATA`; none: it has no other.
    AlternateStream(Option<String>),
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
    /// Its path in the share; needs [`Access::Delete`](super::Access::Delete).
    Rename {
        /// The new path.
        path: String,
        /// Whether a file there may be replaced.
        replace: bool,
    },
    /// Whether it is removed when closed; needs [`Access::Delete`](super::Access::Delete).
    DeleteOnClose(bool),
    /// Its mode, of which only [`Posix::ACCESS`] is set; needs the right to write who may do what (WRITE_DAC), and that
    /// it was opened by the POSIX extensions.
    Mode(u32),
}
