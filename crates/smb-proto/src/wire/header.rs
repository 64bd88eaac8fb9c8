//! The frame prefix (2.1) and the header (2.2.1).

use bytes::BufMut as _;

use super::{Message, Reader};
use crate::error::{Defect, Malformed, NtStatus};

/// Bytes of the header.
pub const HEADER_LENGTH: usize = 64;
/// Bytes before each frame on TCP.
pub const PREFIX_LENGTH: usize = 4;

const PROTOCOL: [u8; 4] = [0xFE, b'S', b'M', b'B'];

/// Header flags.
pub mod flags {
    /// From the server.
    pub const RESPONSE: u32 = 0x1;
    /// Carries an AsyncId in place of the TreeId.
    pub const ASYNC: u32 = 0x2;
    /// Belongs to the message before it in a compound.
    pub const RELATED: u32 = 0x4;
    /// Signed.
    pub const SIGNED: u32 = 0x8;
    /// Sent again after a channel was lost.
    pub const REPLAY: u32 = 0x2000_0000;
}

/// What a message is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Command(pub u16);

impl Command {
    /// NEGOTIATE.
    pub const NEGOTIATE: Self = Self(0);
    /// SESSION_SETUP.
    pub const SESSION_SETUP: Self = Self(1);
    /// LOGOFF.
    pub const LOGOFF: Self = Self(2);
    /// TREE_CONNECT.
    pub const TREE_CONNECT: Self = Self(3);
    /// TREE_DISCONNECT.
    pub const TREE_DISCONNECT: Self = Self(4);
    /// CREATE.
    pub const CREATE: Self = Self(5);
    /// CLOSE.
    pub const CLOSE: Self = Self(6);
    /// FLUSH.
    pub const FLUSH: Self = Self(7);
    /// READ.
    pub const READ: Self = Self(8);
    /// WRITE.
    pub const WRITE: Self = Self(9);
    /// LOCK.
    pub const LOCK: Self = Self(10);
    /// IOCTL.
    pub const IOCTL: Self = Self(11);
    /// CANCEL.
    pub const CANCEL: Self = Self(12);
    /// ECHO.
    pub const ECHO: Self = Self(13);
    /// QUERY_DIRECTORY.
    pub const QUERY_DIRECTORY: Self = Self(14);
    /// CHANGE_NOTIFY.
    pub const CHANGE_NOTIFY: Self = Self(15);
    /// QUERY_INFO.
    pub const QUERY_INFO: Self = Self(16);
    /// SET_INFO.
    pub const SET_INFO: Self = Self(17);
    /// OPLOCK_BREAK.
    pub const OPLOCK_BREAK: Self = Self(18);
    /// SERVER_TO_CLIENT_NOTIFICATION.
    pub const NOTIFICATION: Self = Self(19);

    const NAMES: [&'static str; 20] = [
        "NEGOTIATE",
        "SESSION_SETUP",
        "LOGOFF",
        "TREE_CONNECT",
        "TREE_DISCONNECT",
        "CREATE",
        "CLOSE",
        "FLUSH",
        "READ",
        "WRITE",
        "LOCK",
        "IOCTL",
        "CANCEL",
        "ECHO",
        "QUERY_DIRECTORY",
        "CHANGE_NOTIFY",
        "QUERY_INFO",
        "SET_INFO",
        "OPLOCK_BREAK",
        "NOTIFICATION",
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES
            .get(usize::from(self.0))
            .copied()
            .unwrap_or("unknown command")
    }
}

impl std::fmt::Debug for Command {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({})", self.name(), self.0)
    }
}

/// The header of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// How many credits (and consecutive message ids) the request takes.
    pub credit_charge: u16,
    /// In replies the status; in requests of 3.x the low half is the channel sequence.
    pub status: NtStatus,
    /// What it is about.
    pub command: Command,
    /// Credits asked for, or granted.
    pub credits: u16,
    /// See [`flags`].
    pub flags: u32,
    /// Distance to the next message of a compound; zero in the last.
    pub next_command: u32,
    /// Which request.
    pub message_id: u64,
    /// TreeId in the high half and reserved in the low one, or the AsyncId: see [`flags::ASYNC`].
    pub tree_or_async_id: u64,
    /// Which session.
    pub session_id: u64,
    /// Zero when not signed.
    pub signature: [u8; 16],
}

impl Header {
    /// A request's header with nothing in it yet.
    pub fn request(command: Command, message_id: u64) -> Self {
        Self {
            credit_charge: 1,
            status: NtStatus::SUCCESS,
            command,
            credits: 1,
            flags: 0,
            next_command: 0,
            message_id,
            tree_or_async_id: 0,
            session_id: 0,
            signature: [0; 16],
        }
    }

    /// Sets the TreeId.
    pub fn with_tree(mut self, tree_id: u32) -> Self {
        self.tree_or_async_id = u64::from(tree_id) << 32;
        self
    }

    /// The TreeId, of a header that is not asynchronous.
    pub fn tree_id(&self) -> u32 {
        (self.tree_or_async_id >> 32) as u32
    }

    /// Whether all of these flags are set.
    pub fn has(&self, flags: u32) -> bool {
        self.flags & flags == flags
    }

    /// The header's bytes.
    pub fn to_bytes(&self) -> [u8; HEADER_LENGTH] {
        let mut bytes = [0; HEADER_LENGTH];
        let mut out = &mut bytes[..];
        out.put_slice(&PROTOCOL);
        out.put_u16_le(64);
        out.put_u16_le(self.credit_charge);
        out.put_u32_le(self.status.0);
        out.put_u16_le(self.command.0);
        out.put_u16_le(self.credits);
        out.put_u32_le(self.flags);
        out.put_u32_le(self.next_command);
        out.put_u64_le(self.message_id);
        out.put_u64_le(self.tree_or_async_id);
        out.put_u64_le(self.session_id);
        out.put_slice(&self.signature);
        bytes
    }
}

impl Message<'_> for Header {
    const NAME: &'static str = "SMB2 Packet Header";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&self.to_bytes());
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        if reader.array()? != PROTOCOL {
            return Err(reader.malformed(Defect::Invalid("ProtocolId")));
        }
        reader.structure_size(64)?;
        Ok(Self {
            credit_charge: reader.u16()?,
            status: NtStatus(reader.u32()?),
            command: Command(reader.u16()?),
            credits: reader.u16()?,
            flags: reader.u32()?,
            next_command: reader.u32()?,
            message_id: reader.u64()?,
            tree_or_async_id: reader.u64()?,
            session_id: reader.u64()?,
            signature: reader.array()?,
        })
    }
}

/// The four bytes before a frame of this length; at most 0xFF_FFFF fits.
pub fn frame_prefix(length: usize) -> [u8; PREFIX_LENGTH] {
    let length = u32::try_from(length).unwrap_or(u32::MAX).min(0xFF_FFFF);
    length.to_be_bytes()
}

/// The length of the frame behind this prefix.
pub fn frame_length(prefix: [u8; PREFIX_LENGTH]) -> Result<usize, Malformed> {
    if prefix[0] != 0 {
        return Err(Malformed {
            message: "Direct TCP Packet",
            defect: Defect::Invalid("Zero"),
        });
    }
    Ok(super::index(u32::from_be_bytes(prefix)))
}
