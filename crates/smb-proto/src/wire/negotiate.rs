//! NEGOTIATE (2.2.3, 2.2.4) with the contexts of 3.1.1.

use bytes::BufMut as _;

use super::{HEADER_LENGTH, Message, Reader, index, length16, length32, pad_to_8};
use crate::error::{Defect, Malformed};

/// Dialect revisions.
pub mod dialect {
    /// 2.0.2
    pub const SMB_2_0_2: u16 = 0x0202;
    /// 2.1
    pub const SMB_2_1: u16 = 0x0210;
    /// 3.0
    pub const SMB_3_0: u16 = 0x0300;
    /// 3.0.2
    pub const SMB_3_0_2: u16 = 0x0302;
    /// 3.1.1
    pub const SMB_3_1_1: u16 = 0x0311;
}

/// Capability bits.
pub mod capability {
    /// Distributed file system.
    pub const DFS: u32 = 0x01;
    /// Leases.
    pub const LEASING: u32 = 0x02;
    /// Requests of several credits.
    pub const LARGE_MTU: u32 = 0x04;
    /// Several connections per session.
    pub const MULTI_CHANNEL: u32 = 0x08;
    /// Handles that survive the server.
    pub const PERSISTENT_HANDLES: u32 = 0x10;
    /// Leases on folders.
    pub const DIRECTORY_LEASING: u32 = 0x20;
    /// Encryption, in 3.0 and 3.0.2.
    pub const ENCRYPTION: u32 = 0x40;
}

/// Security mode bits.
pub mod security_mode {
    /// Can sign.
    pub const SIGNING_ENABLED: u16 = 1;
    /// Insists on it.
    pub const SIGNING_REQUIRED: u16 = 2;
}

/// More contexts or algorithms than this in one message are refused.
const LIST_MAX: u16 = 64;

/// One context of a 3.1.1 negotiation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NegotiateContext<'a> {
    /// How the handshake is hashed.
    Preauth {
        /// Hash algorithms; SHA-512 is 1.
        algorithms: Vec<u16>,
        /// Random bytes.
        salt: &'a [u8],
    },
    /// Ciphers, best first.
    Encryption(Vec<u16>),
    /// Signing algorithms, best first.
    Signing(Vec<u16>),
    /// The server's name in UTF-16LE.
    NetName(&'a [u8]),
    /// Anything else.
    Other {
        /// Its type.
        kind: u16,
        /// Its content.
        data: &'a [u8],
    },
}

impl<'a> NegotiateContext<'a> {
    /// SHA-512 as a hash algorithm.
    pub const SHA_512: u16 = 1;

    fn kind(&self) -> u16 {
        match self {
            Self::Preauth { .. } => 1,
            Self::Encryption(_) => 2,
            Self::NetName(_) => 5,
            Self::Signing(_) => 8,
            Self::Other { kind, .. } => *kind,
        }
    }

    fn encode_data(&self, out: &mut Vec<u8>) {
        match self {
            Self::Preauth { algorithms, salt } => {
                out.put_u16_le(length16(algorithms.len()));
                out.put_u16_le(length16(salt.len()));
                algorithms
                    .iter()
                    .for_each(|algorithm| out.put_u16_le(*algorithm));
                out.put_slice(salt);
            }
            Self::Encryption(list) | Self::Signing(list) => {
                out.put_u16_le(length16(list.len()));
                list.iter().for_each(|algorithm| out.put_u16_le(*algorithm));
            }
            Self::NetName(data) | Self::Other { data, .. } => out.put_slice(data),
        }
    }

    fn decode(kind: u16, data: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("NEGOTIATE_CONTEXT", data);
        Ok(match kind {
            1 => {
                let count = reader.u16()?;
                let salt_length = reader.u16()?;
                let algorithms = numbers("HashAlgorithmCount", &mut reader, count)?;
                Self::Preauth {
                    algorithms,
                    salt: reader.bytes(usize::from(salt_length))?,
                }
            }
            2 | 8 => {
                let count = reader.u16()?;
                if kind == 2 {
                    Self::Encryption(numbers("CipherCount", &mut reader, count)?)
                } else {
                    Self::Signing(numbers("SigningAlgorithmCount", &mut reader, count)?)
                }
            }
            5 => Self::NetName(data),
            kind => Self::Other { kind, data },
        })
    }
}

fn numbers(
    field: &'static str,
    reader: &mut Reader<'_>,
    count: u16,
) -> Result<Vec<u16>, Malformed> {
    if count > LIST_MAX {
        return Err(reader.malformed(Defect::TooLarge(field)));
    }
    (0..count).map(|_| reader.u16()).collect()
}

fn encode_contexts(contexts: &[NegotiateContext<'_>], out: &mut Vec<u8>, start: usize) {
    for context in contexts {
        pad_to_8(out, start);
        out.put_u16_le(context.kind());
        let length_at = out.len();
        out.put_slice(&[0; 6]);
        context.encode_data(out);
        let length = length16(out.len() - length_at - 6);
        out[length_at..length_at + 2].copy_from_slice(&length.to_le_bytes());
    }
}

fn decode_contexts<'a>(
    reader: &Reader<'a>,
    offset: u32,
    count: u16,
) -> Result<Vec<NegotiateContext<'a>>, Malformed> {
    if count > LIST_MAX {
        return Err(reader.malformed(Defect::TooLarge("NegotiateContextCount")));
    }
    let mut at = index(offset);
    if count > 0 && (!at.is_multiple_of(8) || at < HEADER_LENGTH + reader.at) {
        return Err(reader.malformed(Defect::OutOfBounds("NegotiateContextOffset")));
    }
    let mut contexts = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let rest = reader.body.get(at - HEADER_LENGTH..).unwrap_or(&[]);
        let mut one = Reader::new(reader.message, rest);
        let kind = one.u16()?;
        let length = usize::from(one.u16()?);
        one.skip(4)?;
        contexts.push(NegotiateContext::decode(kind, one.bytes(length)?)?);
        at = (at + 8 + length).next_multiple_of(8);
    }
    Ok(contexts)
}

/// NEGOTIATE request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NegotiateRequest<'a> {
    /// See [`security_mode`].
    pub security_mode: u16,
    /// See [`capability`].
    pub capabilities: u32,
    /// The client.
    pub client_guid: [u8; 16],
    /// See [`dialect`].
    pub dialects: Vec<u16>,
    /// Only with 3.1.1 among the dialects.
    pub contexts: Vec<NegotiateContext<'a>>,
}

impl<'a> Message<'a> for NegotiateRequest<'a> {
    const NAME: &'static str = "NEGOTIATE Request";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16_le(36);
        out.put_u16_le(length16(self.dialects.len()));
        out.put_u16_le(self.security_mode);
        out.put_u16_le(0);
        out.put_u32_le(self.capabilities);
        out.put_slice(&self.client_guid);
        let contexts_end = (HEADER_LENGTH + 36 + 2 * self.dialects.len()).next_multiple_of(8);
        // the same eight bytes are a start time in dialects without contexts
        let offset = if self.contexts.is_empty() {
            0
        } else {
            contexts_end
        };
        out.put_u32_le(length32(offset));
        out.put_u16_le(length16(self.contexts.len()));
        out.put_u16_le(0);
        self.dialects
            .iter()
            .for_each(|dialect| out.put_u16_le(*dialect));
        encode_contexts(&self.contexts, out, start);
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(36)?;
        let dialect_count = reader.u16()?;
        let security_mode = reader.u16()?;
        reader.skip(2)?;
        let capabilities = reader.u32()?;
        let client_guid = reader.array()?;
        let offset = reader.u32()?;
        let count = reader.u16()?;
        reader.skip(2)?;
        let dialects = numbers("DialectCount", &mut reader, dialect_count)?;
        let contexts = if dialects.contains(&dialect::SMB_3_1_1) {
            decode_contexts(&reader, offset, count)?
        } else {
            Vec::new()
        };
        Ok(Self {
            security_mode,
            capabilities,
            client_guid,
            dialects,
            contexts,
        })
    }
}

/// NEGOTIATE reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NegotiateResponse<'a> {
    /// See [`security_mode`].
    pub security_mode: u16,
    /// The chosen dialect.
    pub dialect: u16,
    /// The server.
    pub server_guid: [u8; 16],
    /// See [`capability`].
    pub capabilities: u32,
    /// Most bytes of other payloads.
    pub transact_bytes_max: u32,
    /// Most bytes of a READ.
    pub read_bytes_max: u32,
    /// Most bytes of a WRITE.
    pub write_bytes_max: u32,
    /// The server's clock, in 100 ns since 1601.
    pub system_time: u64,
    /// The server's first token.
    pub token: &'a [u8],
    /// Only with 3.1.1.
    pub contexts: Vec<NegotiateContext<'a>>,
}

impl<'a> Message<'a> for NegotiateResponse<'a> {
    const NAME: &'static str = "NEGOTIATE Response";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16_le(65);
        out.put_u16_le(self.security_mode);
        out.put_u16_le(self.dialect);
        out.put_u16_le(length16(self.contexts.len()));
        out.put_slice(&self.server_guid);
        out.put_u32_le(self.capabilities);
        out.put_u32_le(self.transact_bytes_max);
        out.put_u32_le(self.read_bytes_max);
        out.put_u32_le(self.write_bytes_max);
        out.put_u64_le(self.system_time);
        out.put_u64_le(0);
        out.put_u16_le(128);
        out.put_u16_le(length16(self.token.len()));
        let contexts_at = (128 + self.token.len()).next_multiple_of(8);
        let offset = if self.contexts.is_empty() {
            0
        } else {
            contexts_at
        };
        out.put_u32_le(length32(offset));
        out.put_slice(self.token);
        encode_contexts(&self.contexts, out, start);
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(65)?;
        let security_mode = reader.u16()?;
        let dialect = reader.u16()?;
        let count = reader.u16()?;
        let server_guid = reader.array()?;
        let capabilities = reader.u32()?;
        let transact_bytes_max = reader.u32()?;
        let read_bytes_max = reader.u32()?;
        let write_bytes_max = reader.u32()?;
        let system_time = reader.u64()?;
        reader.skip(8)?;
        let token_offset = u32::from(reader.u16()?);
        let token_length = u32::from(reader.u16()?);
        let offset = reader.u32()?;
        let contexts = if dialect == dialect::SMB_3_1_1 {
            decode_contexts(&reader, offset, count)?
        } else {
            Vec::new()
        };
        Ok(Self {
            security_mode,
            dialect,
            server_guid,
            capabilities,
            transact_bytes_max,
            read_bytes_max,
            write_bytes_max,
            system_time,
            token: reader.referred("SecurityBufferOffset", token_offset, token_length)?,
            contexts,
        })
    }
}

/// What stands before every message of SMB 1 (MS-CIFS 2.2.3.1).
const SMB1_PROTOCOL: [u8; 4] = *b"\xFFSMB";
/// NEGOTIATE of SMB 1 (MS-CIFS 2.2.4.52).
const SMB1_NEGOTIATE: u8 = 0x72;
/// Header, count of words, and the number of the dialect: so much has every reply to it.
pub const SMB1_REPLY_MIN: usize = 35;

/// The NEGOTIATE that a client of SMB 1 sends, with the dialects of SMB 1 and of SMB 2.0.2 (2.1). A server
/// that knows both answers by SMB 2.
pub fn smb1_negotiate() -> Vec<u8> {
    const DIALECTS: &[u8] = b"\x02NT LM 0.12\0\x02SMB 2.002\0";
    let mut message = SMB1_PROTOCOL.to_vec();
    message.push(SMB1_NEGOTIATE);
    message.extend_from_slice(&[0; 4]); // status
    message.push(0x18); // flags: paths are canonical, and capitals no matter
    message.extend_from_slice(&0xC001_u16.to_le_bytes()); // Unicode, NT status codes, long names
    message.extend_from_slice(&[0; 12]); // process, security features, reserved
    message.extend_from_slice(&[0xFF, 0xFF, 0xFE, 0xFF, 0, 0, 0, 0]); // tree, process, user, number
    message.push(0); // no words
    message.extend_from_slice(&(DIALECTS.len() as u16).to_le_bytes());
    message.extend_from_slice(DIALECTS);
    message
}

/// Whether this is how a server begins its reply that takes SMB 1.
pub fn is_smb1(reply: &[u8]) -> bool {
    const NONE: [u8; 2] = [0xFF; 2];
    reply.starts_with(&SMB1_PROTOCOL)
        && reply.get(4) == Some(&SMB1_NEGOTIATE)
        && reply.get(33..35).is_some_and(|dialect| dialect != NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_smb_1_is_told_from_others() {
        let message = smb1_negotiate();
        assert_eq!(message[..5], *b"\xFFSMB\x72");
        assert_eq!(message.len(), 32 + 1 + 2 + 12 + 11);
        let reply = |dialect: [u8; 2]| {
            let mut reply = message[..32].to_vec();
            reply.push(17);
            reply.extend(dialect);
            reply
        };
        assert!(is_smb1(&reply([0, 0])));
        assert!(!is_smb1(&reply([0xFF; 2])), "it takes neither");
        let mut newer = reply([0, 0]);
        newer[0] = 0xFE;
        assert!(!is_smb1(&newer));
        assert!(!is_smb1(&[]));
    }
}
