//! Interventions on linerate's own connections: what a trial changes of them so that a cause is proven without
//! touching a host, and the clocks that say what a transfer waited for.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Bytes, HostName, Nanoseconds};

/// What an arm of a probe changes against its control, which does what the ladder does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// Raw TCP over four streams in place of one.
    Streams,
    /// Smaller segments (`TCP_MAXSEG`).
    Segment,
    /// A smaller receive buffer (`SO_RCVBUF`).
    ReceiveBuffer,
    /// A smaller send buffer (`SO_SNDBUF`).
    SendBuffer,
    /// Another congestion control at our end.
    Congestion,
    /// Two sessions over the same pair of NICs, each with half the requests in flight.
    Sessions,
    /// Two connections of one session over the same pair of NICs, each with half the requests in flight.
    Connections,
    /// More channels.
    Channels,
    /// Another pair of NICs.
    Path,
    /// Both directions at once.
    BothDirections,
    /// More requests in flight.
    Depth,
    /// Fewer requests in flight.
    ShallowDepth,
    /// Larger requests.
    Block,
    /// Smaller requests.
    SmallBlock,
    /// An older dialect.
    Dialect,
    /// Another signing algorithm that protects as well.
    SigningAlgorithm,
    /// Another cipher that protects as well.
    Cipher,
    /// Encryption in place of signing.
    EncryptionForSigning,
    /// One block of the file written over and over, so that no disk has to keep up.
    OneBlock,
    /// A file without content, which no disk has to be read for.
    SparseFile,
    /// Writes that the server may not keep in memory.
    WriteThrough,
    /// What is received is thrown away in place of being kept on a disk.
    Discard,
    /// A thread that keeps a processor of the client awake.
    AwakeProcessor,
    /// All relieving changes at once.
    AllReliefs,
    /// A second mount that speaks the newest dialect.
    MountDialect,
    /// A second mount without `sync`.
    MountSync,
    /// A second mount with larger requests.
    MountRequests,
    /// A second mount with several connections.
    MountConnections,
    /// A second mount with all of these that apply.
    MountOptions,
    /// A second mount without `cache=none`, for what programs get.
    MountCache,
}

/// How the sockets of a workload are made. By default as the system makes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SocketOptions {
    /// The address of ours that connections leave from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// Bytes of the receive buffer; ends its auto-tuning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<Bytes>,
    /// Bytes of the send buffer; ends its auto-tuning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<Bytes>,
    /// The largest payload of a segment, both directions, in bytes (RFC 9293, 3.7.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<u32>,
    /// Congestion control by which our end sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<CongestionControl>,
}

impl SocketOptions {
    /// Whether sockets are as the system makes them.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A congestion control that Linux ships.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CongestionControl {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// Bottleneck bandwidth and round-trip time.
    Bbr,
}

/// What the test file of a share holds, and which part of it is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileUse {
    /// Random content, all of it: the server has it in memory after it was written.
    #[default]
    Whole,
    /// No content: reads give zeros that no disk holds.
    Sparse,
    /// Random content, the first block again and again.
    OneBlock,
}

impl FileUse {
    /// Whether it is what the ladder does.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// An algorithm by which SMB signs (MS-SMB2 2.2.3.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SigningAlgorithm {
    /// Of SMB 2.
    #[serde(rename = "HMAC-SHA256")]
    HmacSha256,
    /// Of SMB 3.0.
    #[serde(rename = "AES-128-CMAC")]
    AesCmac,
    /// Of Windows 11 and Samba 4.15; 3.1.1 only.
    #[serde(rename = "AES-128-GMAC")]
    AesGmac,
}

/// A cipher by which SMB encrypts (MS-SMB2 2.2.3.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cipher {
    /// Of SMB 3.0.
    #[serde(rename = "AES-128-CCM")]
    Aes128Ccm,
    /// Of 3.1.1.
    #[serde(rename = "AES-128-GCM")]
    Aes128Gcm,
    /// 3.1.1 only.
    #[serde(rename = "AES-256-CCM")]
    Aes256Ccm,
    /// 3.1.1 only.
    #[serde(rename = "AES-256-GCM")]
    Aes256Gcm,
}

/// What the threads of our engine did in the counted time, summed over all channels. The parts are disjoint, and
/// their sum is at most [`EngineClock::total`]; the rest is waiting for the server or the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineClock {
    /// Counted time times channels.
    pub total: Nanoseconds,
    /// Processor time of the channels' threads.
    pub processor: Nanoseconds,
    /// There was work to send and the server had granted no credits for it.
    pub credits: Nanoseconds,
    /// There was work to send and no block of memory was free for it.
    pub blocks: Nanoseconds,
}

/// What TCP did in the counted time, for one connection (Linux `tcp_info`): as a sender only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TcpClock {
    /// Counted time.
    pub total: Nanoseconds,
    /// Time in which our end had something to send.
    pub busy: Nanoseconds,
    /// Of that, time in which the far end had no room.
    pub receiver_limited: Nanoseconds,
    /// Of that, time in which our send buffer was too small.
    pub sender_limited: Nanoseconds,
    /// Segments that our end sent.
    pub segments: u64,
    /// Of these, segments that it sent again.
    pub retransmits: u64,
}

/// What passed one NIC of a host in some time, of all programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicLoad {
    /// Its name on that host.
    pub nic: String,
    /// Bytes received, with the headers of frames.
    pub received: Bytes,
    /// Bytes sent, with the headers of frames.
    pub sent: Bytes,
    /// Frames that came damaged (`rx_crc_errors`, or all receive errors where only those are counted).
    pub damaged: u64,
    /// Frames dropped for want of room, both directions.
    pub dropped: u64,
}

/// A fact that could not be had, so that what follows from it stays open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingFact {
    /// Where it was asked for.
    pub host: HostName,
    /// What was asked, as `smb.conf` or `ss`.
    pub fact: String,
    /// Why there is no answer.
    pub reason: String,
}
