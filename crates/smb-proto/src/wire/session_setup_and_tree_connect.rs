//! SESSION_SETUP, LOGOFF, TREE_CONNECT, TREE_DISCONNECT (2.2.5 to 2.2.12).

use bytes::BufMut as _;

use super::{HEADER_LENGTH, Message, Reader, length16};
use crate::error::Malformed;

/// Flags of a SESSION_SETUP request.
pub mod setup_request_flags {
    /// Bind this connection to an existing session.
    pub const BINDING: u8 = 1;
}

/// Flags of a SESSION_SETUP reply.
pub mod session_flags {
    /// The user is unknown; logged in as a guest.
    pub const GUEST: u16 = 1;
    /// Anonymous.
    pub const NULL: u16 = 2;
    /// Everything must be encrypted.
    pub const ENCRYPT_DATA: u16 = 4;
}

/// SESSION_SETUP request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSetupRequest<'a> {
    /// See [`setup_request_flags`].
    pub flags: u8,
    /// See [`super::security_mode`].
    pub security_mode: u8,
    /// See [`super::capability`].
    pub capabilities: u32,
    /// A session that was lost, or zero.
    pub previous_session_id: u64,
    /// The client's token.
    pub token: &'a [u8],
}

impl<'a> Message<'a> for SessionSetupRequest<'a> {
    const NAME: &'static str = "SESSION_SETUP Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(25);
        out.put_u8(self.flags);
        out.put_u8(self.security_mode);
        out.put_u32_le(self.capabilities);
        out.put_u32_le(0);
        out.put_u16_le(HEADER_LENGTH as u16 + 24);
        out.put_u16_le(length16(self.token.len()));
        out.put_u64_le(self.previous_session_id);
        out.put_slice(self.token);
        if self.token.is_empty() {
            out.put_u8(0);
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(25)?;
        reader.at_least(25)?;
        let flags = reader.u8()?;
        let security_mode = reader.u8()?;
        let capabilities = reader.u32()?;
        reader.skip(4)?;
        let offset = u32::from(reader.u16()?);
        let length = u32::from(reader.u16()?);
        let previous_session_id = reader.u64()?;
        let token = reader.referred("SecurityBufferOffset", offset, length)?;
        Ok(Self {
            flags,
            security_mode,
            capabilities,
            previous_session_id,
            token,
        })
    }
}

/// SESSION_SETUP reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSetupResponse<'a> {
    /// See [`session_flags`].
    pub flags: u16,
    /// The server's token.
    pub token: &'a [u8],
}

impl<'a> Message<'a> for SessionSetupResponse<'a> {
    const NAME: &'static str = "SESSION_SETUP Response";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(9);
        out.put_u16_le(self.flags);
        out.put_u16_le(HEADER_LENGTH as u16 + 8);
        out.put_u16_le(length16(self.token.len()));
        out.put_slice(self.token);
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(9)?;
        let flags = reader.u16()?;
        let offset = u32::from(reader.u16()?);
        let length = u32::from(reader.u16()?);
        Ok(Self {
            flags,
            token: reader.referred("SecurityBufferOffset", offset, length)?,
        })
    }
}

/// Defines a body of StructureSize 4 with nothing in it.
macro_rules! empty_message {
    ($(#[doc = $doc:literal] $type:ident, $name:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $type;

        impl $crate::wire::Message<'_> for $type {
            const NAME: &'static str = $name;

            fn encode(&self, out: &mut Vec<u8>) {
                bytes::BufMut::put_slice(out, &[4, 0, 0, 0]);
            }

            fn decode(bytes: &[u8]) -> Result<Self, $crate::error::Malformed> {
                let mut reader = $crate::wire::Reader::new(Self::NAME, bytes);
                reader.structure_size(4)?;
                reader.skip(2)?;
                Ok(Self)
            }
        }
    )*};
}
pub(super) use empty_message;

empty_message! {
    /// LOGOFF request.
    LogoffRequest, "LOGOFF Request";
    /// LOGOFF reply.
    LogoffResponse, "LOGOFF Response";
    /// TREE_DISCONNECT request.
    TreeDisconnectRequest, "TREE_DISCONNECT Request";
    /// TREE_DISCONNECT reply.
    TreeDisconnectResponse, "TREE_DISCONNECT Response";
}

/// TREE_CONNECT request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeConnectRequest<'a> {
    /// `\\server\share` in UTF-16LE.
    pub path: &'a [u8],
}

impl<'a> Message<'a> for TreeConnectRequest<'a> {
    const NAME: &'static str = "TREE_CONNECT Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(9);
        out.put_u16_le(0);
        out.put_u16_le(HEADER_LENGTH as u16 + 8);
        out.put_u16_le(length16(self.path.len()));
        out.put_slice(self.path);
        if self.path.is_empty() {
            out.put_u8(0);
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(9)?;
        reader.at_least(9)?;
        reader.skip(2)?;
        let offset = u32::from(reader.u16()?);
        let length = u32::from(reader.u16()?);
        Ok(Self {
            path: reader.referred("PathOffset", offset, length)?,
        })
    }
}

/// TREE_CONNECT reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeConnectResponse {
    /// 1 files, 2 pipes, 3 printer.
    pub share_type: u8,
    /// Share flags.
    pub flags: u32,
    /// Share capabilities.
    pub capabilities: u32,
    /// Access rights at most.
    pub access_max: u32,
}

impl TreeConnectResponse {
    /// The share demands encryption.
    pub const ENCRYPT_DATA: u32 = 0x8000;
    /// A capability: the share is part of a distributed file system.
    pub const IN_DFS: u32 = 0x8;
}

impl Message<'_> for TreeConnectResponse {
    const NAME: &'static str = "TREE_CONNECT Response";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(16);
        out.put_u8(self.share_type);
        out.put_u8(0);
        out.put_u32_le(self.flags);
        out.put_u32_le(self.capabilities);
        out.put_u32_le(self.access_max);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(16)?;
        let share_type = reader.u8()?;
        reader.skip(1)?;
        Ok(Self {
            share_type,
            flags: reader.u32()?,
            capabilities: reader.u32()?,
            access_max: reader.u32()?,
        })
    }
}
