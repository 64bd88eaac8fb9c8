//! The header before an encrypted message (2.2.41).

use bytes::BufMut as _;

use super::{Message, Reader};
use crate::error::{Defect, Malformed};

const PROTOCOL: [u8; 4] = [0xFD, b'S', b'M', b'B'];
/// The only flag there is, and it is always set.
const ENCRYPTED: u16 = 1;

/// What stands before an encrypted message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransformHeader {
    /// Proves that nobody changed the message, or this header behind the tag.
    pub tag: [u8; 16],
    /// Never the same twice with one key; AES-CCM uses its first 11 bytes, AES-GCM its first 12.
    pub nonce: [u8; 16],
    /// Bytes of the message that follows.
    pub message_length: u32,
    /// Says nothing, and is authenticated nevertheless.
    pub reserved: u16,
    /// Which session's keys.
    pub session_id: u64,
}

impl TransformHeader {
    /// Bytes of it.
    pub const LENGTH: usize = 52;
    /// Where what is authenticated begins.
    const ASSOCIATED_AT: usize = 20;

    /// Whether a frame begins as an encrypted one does.
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(&PROTOCOL)
    }

    /// The header's bytes.
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let mut out = &mut bytes[..];
        out.put_slice(&PROTOCOL);
        out.put_slice(&self.tag);
        out.put_slice(&self.nonce);
        out.put_u32_le(self.message_length);
        out.put_u16_le(self.reserved);
        out.put_u16_le(ENCRYPTED);
        out.put_u64_le(self.session_id);
        bytes
    }

    /// The part that is authenticated with the message, from the nonce on.
    pub fn associated(&self) -> [u8; Self::LENGTH - Self::ASSOCIATED_AT] {
        let mut associated = [0; Self::LENGTH - Self::ASSOCIATED_AT];
        associated.copy_from_slice(&self.to_bytes()[Self::ASSOCIATED_AT..]);
        associated
    }
}

impl Message<'_> for TransformHeader {
    const NAME: &'static str = "TRANSFORM_HEADER";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&self.to_bytes());
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        if reader.array()? != PROTOCOL {
            return Err(reader.malformed(Defect::Invalid("ProtocolId")));
        }
        let tag = reader.array()?;
        let nonce = reader.array()?;
        let message_length = reader.u32()?;
        let reserved = reader.u16()?;
        if reader.u16()? != ENCRYPTED {
            return Err(reader.malformed(Defect::Invalid("Flags")));
        }
        Ok(Self {
            tag,
            nonce,
            message_length,
            reserved,
            session_id: reader.u64()?,
        })
    }
}
