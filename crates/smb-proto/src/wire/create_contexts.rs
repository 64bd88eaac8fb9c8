//! The contexts of a CREATE (2.2.13.2, 2.2.14.2): what more is asked for, and what was granted.
//!
//! Request and reply of one name often differ; then they are two structures here.

use bytes::BufMut as _;

use super::{FileId, Message, Reader};
use crate::error::Malformed;

/// Names of contexts.
pub mod context {
    /// Space to reserve: eight bytes.
    pub const ALLOCATION_SIZE: &[u8] = b"AlSi";
    /// What may the user do with it? The request is empty.
    pub const MAXIMAL_ACCESS: &[u8] = b"MxAc";
    /// Which file is it? The request is empty.
    pub const DISK_ID: &[u8] = b"QFid";
    /// A lease, of either version.
    pub const LEASE: &[u8] = b"RqLs";
    /// A handle that outlives its connection.
    pub const DURABLE_REQUEST: &[u8] = b"DH2Q";
    /// Such a handle, taken up again.
    pub const DURABLE_RECONNECT: &[u8] = b"DH2C";
    /// The POSIX extensions are for this file.
    pub const POSIX: &[u8] = &crate::wire::POSIX_TAG;
}

/// What a lease lets its holder do.
pub mod lease_state {
    /// Keep what was read.
    pub const READ: u32 = 1;
    /// Keep the file open after it was closed.
    pub const HANDLE: u32 = 2;
    /// Keep what was written.
    pub const WRITE: u32 = 4;
}

/// Reply of [`context::MAXIMAL_ACCESS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaximalAccess {
    /// Zero when the server could tell.
    pub status: u32,
    /// Access mask.
    pub access: u32,
}

impl Message<'_> for MaximalAccess {
    const NAME: &'static str = "SMB2_CREATE_QUERY_MAXIMAL_ACCESS_RESPONSE";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32_le(self.status);
        out.put_u32_le(self.access);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        Ok(Self {
            status: reader.u32()?,
            access: reader.u32()?,
        })
    }
}

/// Reply of [`context::DISK_ID`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskId {
    /// Number of the file on its volume.
    pub file: u64,
    /// Number of the volume.
    pub volume: u64,
}

impl Message<'_> for DiskId {
    const NAME: &'static str = "SMB2_CREATE_QUERY_ON_DISK_ID";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64_le(self.file);
        out.put_u64_le(self.volume);
        out.put_slice(&[0; 16]);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let id = Self {
            file: reader.u64()?,
            volume: reader.u64()?,
        };
        reader.skip(16)?;
        Ok(id)
    }
}

/// [`context::LEASE`], the same in request and reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseContext {
    /// The lease: all opens of a file by one client have the same.
    pub key: [u8; 16],
    /// Asked for or granted, see [`lease_state`].
    pub state: u32,
    /// See the constants.
    pub flags: u32,
    /// What only version 2 has, which 3.x speaks.
    pub version_2: Option<LeaseVersion2>,
}

/// What version 2 of a lease adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseVersion2 {
    /// The lease of its folder; counts only with [`LeaseContext::PARENT_KEY_SET`].
    pub parent_key: [u8; 16],
    /// Counts changes of the lease.
    pub epoch: u16,
}

impl LeaseContext {
    /// Flag, in replies: the lease is being taken back.
    pub const BREAK_IN_PROGRESS: u32 = 0x2;
    /// Flag: the key of the folder is valid.
    pub const PARENT_KEY_SET: u32 = 0x4;
    const LENGTH_1: usize = 32;
}

impl Message<'_> for LeaseContext {
    const NAME: &'static str = "SMB2_CREATE_REQUEST_LEASE";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&self.key);
        out.put_u32_le(self.state);
        out.put_u32_le(self.flags);
        out.put_u64_le(0);
        if let Some(version_2) = &self.version_2 {
            out.put_slice(&version_2.parent_key);
            out.put_u16_le(version_2.epoch);
            out.put_u16_le(0);
        }
    }

    /// The length tells the version (2.2.13.2.8, 2.2.13.2.10).
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let (key, state, flags) = (reader.array()?, reader.u32()?, reader.u32()?);
        reader.skip(8)?;
        let version_2 = if bytes.len() == Self::LENGTH_1 {
            None
        } else {
            let version_2 = LeaseVersion2 {
                parent_key: reader.array()?,
                epoch: reader.u16()?,
            };
            reader.skip(2)?;
            Some(version_2)
        };
        Ok(Self {
            key,
            state,
            flags,
            version_2,
        })
    }
}

/// Request of [`context::DURABLE_REQUEST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurableRequest {
    /// How long the server is to keep the handle, in milliseconds; zero: as it likes.
    pub timeout_ms: u32,
    /// See [`DurableGrant::PERSISTENT`].
    pub flags: u32,
    /// Made up by the client for this one CREATE.
    pub create_guid: [u8; 16],
}

impl Message<'_> for DurableRequest {
    const NAME: &'static str = "SMB2_CREATE_DURABLE_HANDLE_REQUEST_V2";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32_le(self.timeout_ms);
        out.put_u32_le(self.flags);
        out.put_u64_le(0);
        out.put_slice(&self.create_guid);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let (timeout_ms, flags) = (reader.u32()?, reader.u32()?);
        reader.skip(8)?;
        Ok(Self {
            timeout_ms,
            flags,
            create_guid: reader.array()?,
        })
    }
}

/// Reply of [`context::DURABLE_REQUEST`]; no reply: not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurableGrant {
    /// How long the server keeps the handle without a connection, in milliseconds.
    pub timeout_ms: u32,
    /// See the constant.
    pub flags: u32,
}

impl DurableGrant {
    /// Flag: the handle outlives even the server's own restart.
    pub const PERSISTENT: u32 = 0x2;
}

impl Message<'_> for DurableGrant {
    const NAME: &'static str = "SMB2_CREATE_DURABLE_HANDLE_RESPONSE_V2";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32_le(self.timeout_ms);
        out.put_u32_le(self.flags);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        Ok(Self {
            timeout_ms: reader.u32()?,
            flags: reader.u32()?,
        })
    }
}

/// Request of [`context::DURABLE_RECONNECT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurableReconnect {
    /// The file, as the lost connection knew it.
    pub file: FileId,
    /// As in the [`DurableRequest`].
    pub create_guid: [u8; 16],
    /// See [`DurableGrant::PERSISTENT`].
    pub flags: u32,
}

impl Message<'_> for DurableReconnect {
    const NAME: &'static str = "SMB2_CREATE_DURABLE_HANDLE_RECONNECT_V2";

    fn encode(&self, out: &mut Vec<u8>) {
        self.file.encode(out);
        out.put_slice(&self.create_guid);
        out.put_u32_le(self.flags);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        Ok(Self {
            file: FileId::decode(&mut reader)?,
            create_guid: reader.array()?,
            flags: reader.u32()?,
        })
    }
}
