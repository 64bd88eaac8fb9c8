//! ECHO, CANCEL, breaks and errors (2.2.2, 2.2.23 to 2.2.30).

use bytes::BufMut as _;

use super::{FileId, Message, Reader, index, length32};
use crate::error::Malformed;

super::session_setup_and_tree_connect::empty_message! {
    /// ECHO request.
    EchoRequest, "ECHO Request";
    /// ECHO reply.
    EchoResponse, "ECHO Response";
    /// CANCEL request; it has no reply of its own.
    CancelRequest, "CANCEL Request";
}

/// What a server sends instead of a reply when it refuses, and as an interim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorResponse<'a> {
    /// How many contexts are in the data (3.1.1).
    pub contexts: u8,
    /// More about it.
    pub data: &'a [u8],
}

impl<'a> Message<'a> for ErrorResponse<'a> {
    const NAME: &'static str = "ERROR Response";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(9);
        out.put_u8(self.contexts);
        out.put_u8(0);
        out.put_u32_le(length32(self.data.len()));
        out.put_slice(self.data);
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(9)?;
        let contexts = reader.u8()?;
        reader.skip(1)?;
        let length = reader.u32()?;
        Ok(Self {
            contexts,
            data: reader.bytes(index(length))?,
        })
    }
}

/// The server takes an oplock back; our acknowledgement and its answer look the same
/// (2.2.23.1, 2.2.24.1, 2.2.25.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OplockBreakNotice {
    /// What is left.
    pub level: u8,
    /// Of which file.
    pub file: FileId,
}

impl Message<'_> for OplockBreakNotice {
    const NAME: &'static str = "OPLOCK_BREAK Notification";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(24);
        out.put_u8(self.level);
        out.put_slice(&[0; 5]);
        self.file.encode(out);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(24)?;
        let level = reader.u8()?;
        reader.skip(5)?;
        Ok(Self {
            level,
            file: FileId::decode(&mut reader)?,
        })
    }
}

/// The server takes a lease back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseBreakNotice {
    /// Counts changes of the lease.
    pub epoch: u16,
    /// Bit 0: it wants an acknowledgement.
    pub flags: u32,
    /// Which lease.
    pub key: [u8; 16],
    /// What it was.
    pub current: u32,
    /// What is left.
    pub new: u32,
}

impl LeaseBreakNotice {
    /// Flag: the server waits for an acknowledgement.
    pub const ACKNOWLEDGE: u32 = 1;
}

impl Message<'_> for LeaseBreakNotice {
    const NAME: &'static str = "LEASE_BREAK Notification";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(44);
        out.put_u16_le(self.epoch);
        out.put_u32_le(self.flags);
        out.put_slice(&self.key);
        out.put_u32_le(self.current);
        out.put_u32_le(self.new);
        out.put_slice(&[0; 12]);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(44)?;
        let notice = Self {
            epoch: reader.u16()?,
            flags: reader.u32()?,
            key: reader.array()?,
            current: reader.u32()?,
            new: reader.u32()?,
        };
        reader.skip(12)?;
        Ok(notice)
    }
}

/// We give a lease back; the server's answer looks the same (2.2.24.2, 2.2.25.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseBreakAcknowledgement {
    /// Which lease.
    pub key: [u8; 16],
    /// What is left.
    pub state: u32,
}

impl Message<'_> for LeaseBreakAcknowledgement {
    const NAME: &'static str = "LEASE_BREAK Acknowledgment";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(36);
        out.put_u16_le(0);
        out.put_u32_le(0);
        out.put_slice(&self.key);
        out.put_u32_le(self.state);
        out.put_u64_le(0);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(36)?;
        reader.skip(6)?;
        let acknowledgement = Self {
            key: reader.array()?,
            state: reader.u32()?,
        };
        reader.skip(8)?;
        Ok(acknowledgement)
    }
}

/// Either of the two, told apart by their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakNotice {
    /// An oplock.
    Oplock(OplockBreakNotice),
    /// A lease.
    Lease(LeaseBreakNotice),
}

impl BreakNotice {
    /// Reads the body of an OPLOCK_BREAK notification.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        match OplockBreakNotice::decode(bytes) {
            Ok(notice) => Ok(Self::Oplock(notice)),
            Err(_) => LeaseBreakNotice::decode(bytes).map(Self::Lease),
        }
    }
}
