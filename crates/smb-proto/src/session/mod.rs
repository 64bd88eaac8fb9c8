//! One login over many channels: keys, trees, files, and which byte range goes where.
//!
//! A session is shared: clone the handle. Every method takes a short lock, never waits and never
//! sees payload. What becomes of a request arrives at its [`Sink`].

mod request;

use std::ops::Range;
use std::sync::{Arc, Mutex};

pub use request::{
    Access, CreateOptions, Created, DirectoryEntry, Disposition, FileTimes, FsSize, Information,
    Listing, QueryInformation, Reply, Request, SetInformation, Share, TreeInformation,
};

use crate::block::{BlockPool, Payload};
use crate::error::{Error, Result};

/// A channel's number in its session; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelNumber(pub(crate) u16);

impl std::fmt::Display for ChannelNumber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "channel {}", self.0)
    }
}

/// A connected share of this session. It stays the same when the session reconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TreeKey(pub(crate) u32);

/// An open file or folder of this session. It stays the same when the session reconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileKey(pub(crate) u32);

/// A read under way, to cancel it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TransferKey(pub(crate) u64);

/// Receives what becomes of a request or transfer. Called by the thread that drives a channel,
/// with no lock held; should be quick. May call the session.
pub trait Sink: Send + Sync {
    /// A piece of a read has arrived, at this offset of the file. Pieces come in any order and
    /// from several threads, but all before [`Sink::done`].
    fn piece(&self, offset: u64, payload: Payload) {
        let _ = offset;
        drop(payload);
    }

    /// It is over; called exactly once.
    fn done(&self, outcome: Result<Reply>);
}

/// Whether to sign, beyond what the protocol always signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SigningPolicy {
    /// Sign everything if the server requires it.
    #[default]
    IfRequired,
    /// Sign everything; refuse a server that cannot.
    Required,
}

/// A dialect of SMB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// 3.0
    Smb300,
    /// 3.0.2
    Smb302,
    /// 3.1.1
    Smb311,
}

/// A signing algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SigningAlgorithm {
    /// HMAC-SHA256, cut to 16 bytes.
    HmacSha256,
    /// AES-128-CMAC.
    AesCmac,
    /// AES-128-GMAC.
    AesGmac,
}

/// How a session is to be.
#[derive(Debug, Clone)]
pub struct SessionSettings {
    /// The server's name as the user typed it: goes into share paths and NEGOTIATE.
    pub server_name: String,
    /// Random; the same on all channels of this session and of no other.
    pub client_guid: [u8; 16],
    /// Signing.
    pub signing: SigningPolicy,
    /// Dialects to offer, any order; not empty.
    pub dialects: Vec<Dialect>,
    /// Signing algorithms to offer for 3.1.1, best first; not empty.
    pub signing_algorithms: Vec<SigningAlgorithm>,
    /// Most bytes of one READ or WRITE; also bounded by server, credits and block.
    pub chunk_bytes_max: u32,
    /// Most bytes under way on one channel.
    pub depth_bytes_max: u64,
    /// Most READs and WRITEs under way on one channel.
    pub depth_requests_max: usize,
    /// The id of a session that was lost, so that the server frees what it held.
    pub previous_session_id: u64,
}

impl SessionSettings {
    /// The usual settings.
    pub fn new(server_name: impl Into<String>, client_guid: [u8; 16]) -> Self {
        Self {
            server_name: server_name.into(),
            client_guid,
            signing: SigningPolicy::default(),
            dialects: vec![Dialect::Smb311, Dialect::Smb302, Dialect::Smb300],
            signing_algorithms: vec![
                SigningAlgorithm::AesGmac,
                SigningAlgorithm::HmacSha256,
                SigningAlgorithm::AesCmac,
            ],
            chunk_bytes_max: 1 << 20,
            depth_bytes_max: 8 << 20,
            depth_requests_max: 64,
            previous_session_id: 0,
        }
    }
}

/// What was agreed with the server; the same on every channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// The dialect.
    pub dialect: Dialect,
    /// The signing algorithm.
    pub signing_algorithm: SigningAlgorithm,
    /// Whether everything is signed.
    pub signing: bool,
    /// The server's identity.
    pub server_guid: [u8; 16],
    /// Whether both sides do multichannel.
    pub multichannel: bool,
    /// Most bytes of a READ.
    pub read_bytes_max: u32,
    /// Most bytes of a WRITE.
    pub write_bytes_max: u32,
    /// Most bytes of other payloads.
    pub transact_bytes_max: u32,
}

/// One login over many channels; a handle that can be cloned.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

#[expect(dead_code, reason = "filled in next")]
struct Shared {
    settings: SessionSettings,
    pool: BlockPool,
    state: Mutex<()>,
}

impl Session {
    /// A session that is not logged in yet: the first channel does that, later ones bind to it.
    /// READs land in blocks of `pool`.
    pub fn new(settings: SessionSettings, pool: BlockPool) -> Result<Self> {
        Ok(Self {
            shared: Arc::new(Shared {
                settings,
                pool,
                state: Mutex::new(()),
            }),
        })
    }

    /// Asks the server for something; any channel takes it. `sink` hears exactly once.
    pub fn submit(&self, request: Request, sink: Arc<dyn Sink>) {
        let _ = request;
        sink.done(Err(Error::SessionEnded(None)));
    }

    /// Reads a range of a file. The channels pull chunks of it by demand, and each arrives in a
    /// block of the pool; short READs are asked again. Ends with [`Reply::Read`]. A range beyond
    /// the end of the file is no error: the number of bytes tells.
    pub fn read(&self, file: FileKey, range: Range<u64>, sink: Arc<dyn Sink>) -> TransferKey {
        let _ = (file, range);
        sink.done(Err(Error::SessionEnded(None)));
        TransferKey(0)
    }

    /// Writes a payload at an offset of a file. Whichever channel has depth free takes it; short
    /// WRITEs are continued. Ends with [`Reply::Written`], which gives the block back. A payload
    /// should be at most [`Self::write_bytes_max`] long; a longer one is written in pieces.
    pub fn write(&self, file: FileKey, offset: u64, payload: Payload, sink: Arc<dyn Sink>) {
        let _ = (file, offset, payload);
        sink.done(Err(Error::SessionEnded(None)));
    }

    /// Stops a read: no further chunk is asked for; what is under way comes home and is dropped.
    /// Ends with [`Error::Cancelled`], unless it was over already.
    pub fn cancel(&self, transfer: TransferKey) {
        let _ = transfer;
    }

    /// What was agreed, once the first channel is up.
    pub fn negotiated(&self) -> Option<Negotiated> {
        None
    }

    /// How many bytes one WRITE can take: the least of setting, block and server.
    pub fn write_bytes_max(&self) -> u32 {
        self.shared.settings.chunk_bytes_max
    }

    /// The server's number for this session, for [`SessionSettings::previous_session_id`].
    pub fn id(&self) -> Option<u64> {
        None
    }

    /// Ends everything on our side at once: open requests end with [`Error::SessionEnded`], every
    /// channel gives [`crate::Event::Closed`]. For a polite end submit [`Request::Logoff`] first.
    pub fn end(&self) {}

    /// The channels that can take work now.
    pub fn channels_up(&self) -> Vec<ChannelNumber> {
        Vec::new()
    }
}
