//! IOCTL (2.2.31, 2.2.32) with the controls that multichannel and 3.0 need, and those for copies
//! on the server, for holes and for pipes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use bytes::BufMut as _;

use super::{FileId, HEADER_LENGTH, Message, Reader, index, length16, length32};
use crate::error::{Defect, Malformed};

/// Control codes.
pub mod control {
    /// Where something of a distributed file system is (MS-DFSC 2.2.2).
    pub const DFS_GET_REFERRALS: u32 = 0x0006_0194;
    /// The server's interfaces.
    pub const QUERY_NETWORK_INTERFACE_INFO: u32 = 0x0014_01FC;
    /// Write to a pipe and read the answer.
    pub const PIPE_TRANSCEIVE: u32 = 0x0011_C017;
    /// The key of a file that is to be the source of copies.
    pub const REQUEST_RESUME_KEY: u32 = 0x0014_0078;
    /// Copy into a file, which need not be open for reading.
    pub const COPY_CHUNKS: u32 = 0x0014_80F2;
    /// Let the file have holes, which take no space (MS-FSCC 2.3.69).
    pub const SET_SPARSE: u32 = 0x0009_00C4;
    /// Where a file has no holes (MS-FSCC 2.3.48).
    pub const QUERY_ALLOCATED_RANGES: u32 = 0x0009_40CF;
    /// Let a range of a file share the storage of another one's (MS-FSCC 2.3.8).
    pub const DUPLICATE_EXTENTS: u32 = 0x0009_8344;
    /// Where a link leads (MS-FSCC 2.3.27).
    pub const GET_REPARSE_POINT: u32 = 0x0009_00A8;
    /// Make a link of an empty file (MS-FSCC 2.3.81).
    pub const SET_REPARSE_POINT: u32 = 0x0009_00A4;
    /// Was the negotiation tampered with?
    pub const VALIDATE_NEGOTIATE_INFO: u32 = 0x0014_0204;
}

/// IOCTL request; always one for the file system, not the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoctlRequest<'a> {
    /// See [`control`].
    pub control: u32,
    /// The file, if any.
    pub file: FileId,
    /// Input.
    pub input: &'a [u8],
    /// Most bytes of output.
    pub output_max: u32,
}

impl<'a> Message<'a> for IoctlRequest<'a> {
    const NAME: &'static str = "IOCTL Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(57);
        out.put_u16_le(0);
        out.put_u32_le(self.control);
        self.file.encode(out);
        out.put_u32_le(if self.input.is_empty() {
            0
        } else {
            length32(HEADER_LENGTH + 56)
        });
        out.put_u32_le(length32(self.input.len()));
        out.put_slice(&[0; 12]); // input in the reply, output in the request
        out.put_u32_le(self.output_max);
        out.put_u32_le(1); // a file system control
        out.put_u32_le(0);
        out.put_slice(self.input);
        if self.input.is_empty() {
            out.put_u8(0);
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(57)?;
        reader.at_least(57)?;
        reader.skip(2)?;
        let control = reader.u32()?;
        let file = FileId::decode(&mut reader)?;
        let offset = reader.u32()?;
        let length = reader.u32()?;
        reader.skip(12)?;
        let output_max = reader.u32()?;
        reader.skip(8)?;
        Ok(Self {
            control,
            file,
            input: reader.referred("InputOffset", offset, length)?,
            output_max,
        })
    }
}

/// IOCTL reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoctlResponse<'a> {
    /// See [`control`].
    pub control: u32,
    /// The file, if any.
    pub file: FileId,
    /// Output.
    pub output: &'a [u8],
}

impl<'a> Message<'a> for IoctlResponse<'a> {
    const NAME: &'static str = "IOCTL Response";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(49);
        out.put_u16_le(0);
        out.put_u32_le(self.control);
        self.file.encode(out);
        out.put_u32_le(length32(HEADER_LENGTH + 48));
        out.put_u32_le(0);
        out.put_u32_le(length32(HEADER_LENGTH + 48));
        out.put_u32_le(length32(self.output.len()));
        out.put_u64_le(0);
        out.put_slice(self.output);
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(49)?;
        reader.skip(2)?;
        let control = reader.u32()?;
        let file = FileId::decode(&mut reader)?;
        reader.skip(8)?;
        let offset = reader.u32()?;
        let length = reader.u32()?;
        reader.skip(8)?;
        Ok(Self {
            control,
            file,
            output: reader.referred("OutputOffset", offset, length)?,
        })
    }
}

/// One interface of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceRecord {
    /// The server's number for it.
    pub index: u32,
    /// Bit 0 RSS, bit 1 RDMA.
    pub capability: u32,
    /// Bits per second.
    pub link_speed: u64,
    /// The address; none if it is neither IPv4 nor IPv6.
    pub address: Option<IpAddr>,
}

impl InterfaceRecord {
    /// Receive-side scaling.
    pub const RSS: u32 = 1;
    /// Remote direct memory access.
    pub const RDMA: u32 = 2;
    const LENGTH: usize = 152;
    const IPV4: u16 = 0x0002;
    const IPV6: u16 = 0x0017;

    fn encode(&self, last: bool, out: &mut Vec<u8>) {
        let end = out.len() + Self::LENGTH;
        out.put_u32_le(if last { 0 } else { length32(Self::LENGTH) });
        out.put_u32_le(self.index);
        out.put_u32_le(self.capability);
        out.put_u32_le(0);
        out.put_u64_le(self.link_speed);
        match self.address {
            Some(IpAddr::V4(address)) => {
                out.put_u16_le(Self::IPV4);
                out.put_u16(0);
                out.put_slice(&address.octets());
            }
            Some(IpAddr::V6(address)) => {
                out.put_u16_le(Self::IPV6);
                out.put_slice(&[0; 6]); // port and flow
                out.put_slice(&address.octets());
            }
            None => {}
        }
        out.resize(end, 0);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let index = reader.u32()?;
        let capability = reader.u32()?;
        reader.skip(4)?;
        let link_speed = reader.u64()?;
        let family = reader.u16()?;
        let socket = reader.array::<126>()?;
        // the port (and scope) of the structure mean nothing; the address is plain bytes in order
        let (mut v4, mut v6) = ([0; 4], [0; 16]);
        v4.copy_from_slice(&socket[2..6]);
        v6.copy_from_slice(&socket[6..22]);
        let address = match family {
            Self::IPV4 => Some(IpAddr::V4(Ipv4Addr::from(v4))),
            Self::IPV6 => Some(IpAddr::V6(Ipv6Addr::from(v6))),
            _ => None,
        };
        Ok(Self {
            index,
            capability,
            link_speed,
            address,
        })
    }
}

/// The output of [`control::QUERY_NETWORK_INTERFACE_INFO`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkInterfaces {
    /// In the server's order.
    pub interfaces: Vec<InterfaceRecord>,
}

impl NetworkInterfaces {
    /// A longer list is refused.
    const COUNT_MAX: usize = 1024;
}

impl Message<'_> for NetworkInterfaces {
    const NAME: &'static str = "NETWORK_INTERFACE_INFO";

    fn encode(&self, out: &mut Vec<u8>) {
        for (position, interface) in self.interfaces.iter().enumerate() {
            interface.encode(position + 1 == self.interfaces.len(), out);
        }
    }

    fn decode(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let mut interfaces = Vec::new();
        while !bytes.is_empty() {
            let mut reader = Reader::new(Self::NAME, bytes);
            if interfaces.len() == Self::COUNT_MAX {
                return Err(reader.malformed(Defect::TooLarge("Next")));
            }
            let next = index(reader.u32()?);
            interfaces.push(InterfaceRecord::decode(&mut reader)?);
            if next == 0 {
                break;
            }
            if next < InterfaceRecord::LENGTH {
                return Err(reader.malformed(Defect::OutOfBounds("Next")));
            }
            let rest = bytes.get(next..).filter(|rest| !rest.is_empty());
            bytes = rest.ok_or_else(|| reader.malformed(Defect::OutOfBounds("Next")))?;
        }
        Ok(Self { interfaces })
    }
}

/// The input of [`control::VALIDATE_NEGOTIATE_INFO`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidateNegotiateRequest {
    /// As sent in NEGOTIATE.
    pub capabilities: u32,
    /// As sent in NEGOTIATE.
    pub client_guid: [u8; 16],
    /// As sent in NEGOTIATE.
    pub security_mode: u16,
    /// As sent in NEGOTIATE.
    pub dialects: Vec<u16>,
}

impl Message<'_> for ValidateNegotiateRequest {
    const NAME: &'static str = "VALIDATE_NEGOTIATE_INFO Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32_le(self.capabilities);
        out.put_slice(&self.client_guid);
        out.put_u16_le(self.security_mode);
        out.put_u16_le(length16(self.dialects.len()));
        self.dialects
            .iter()
            .for_each(|dialect| out.put_u16_le(*dialect));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let capabilities = reader.u32()?;
        let client_guid = reader.array()?;
        let security_mode = reader.u16()?;
        let count = reader.u16()?;
        let dialects = (0..count).map(|_| reader.u16()).collect::<Result<_, _>>()?;
        Ok(Self {
            capabilities,
            client_guid,
            security_mode,
            dialects,
        })
    }
}

/// The output of [`control::VALIDATE_NEGOTIATE_INFO`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidateNegotiateResponse {
    /// As sent in NEGOTIATE.
    pub capabilities: u32,
    /// As sent in NEGOTIATE.
    pub server_guid: [u8; 16],
    /// As sent in NEGOTIATE.
    pub security_mode: u16,
    /// As sent in NEGOTIATE.
    pub dialect: u16,
}

impl Message<'_> for ValidateNegotiateResponse {
    const NAME: &'static str = "VALIDATE_NEGOTIATE_INFO Response";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32_le(self.capabilities);
        out.put_slice(&self.server_guid);
        out.put_u16_le(self.security_mode);
        out.put_u16_le(self.dialect);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        Ok(Self {
            capabilities: reader.u32()?,
            server_guid: reader.array()?,
            security_mode: reader.u16()?,
            dialect: reader.u16()?,
        })
    }
}

/// The output of [`control::REQUEST_RESUME_KEY`] (2.2.32.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumeKey {
    /// Names the open file to the server.
    pub key: [u8; 24],
}

impl Message<'_> for ResumeKey {
    const NAME: &'static str = "SRV_REQUEST_RESUME_KEY";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&self.key);
        out.put_u32_le(0); // no context
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let key = reader.array()?;
        reader.skip(4)?;
        Ok(Self { key })
    }
}

/// A range to copy (2.2.31.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyChunk {
    /// Where in the source.
    pub from: u64,
    /// Where in the copy.
    pub to: u64,
    /// How many bytes.
    pub length: u32,
}

/// The input of [`control::COPY_CHUNKS`] (2.2.31.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyChunks {
    /// Of the source.
    pub key: [u8; 24],
    /// What to copy.
    pub chunks: Vec<CopyChunk>,
}

impl Message<'_> for CopyChunks {
    const NAME: &'static str = "SRV_COPYCHUNK_COPY";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&self.key);
        out.put_u32_le(length32(self.chunks.len()));
        out.put_u32_le(0);
        for chunk in &self.chunks {
            out.put_u64_le(chunk.from);
            out.put_u64_le(chunk.to);
            out.put_u32_le(chunk.length);
            out.put_u32_le(0);
        }
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let key = reader.array()?;
        let count = reader.u32()?;
        reader.skip(4)?;
        let mut chunks = Vec::new();
        for _ in 0..count {
            chunks.push(CopyChunk {
                from: reader.u64()?,
                to: reader.u64()?,
                length: reader.u32()?,
            });
            reader.skip(4)?;
        }
        Ok(Self { key, chunks })
    }
}

/// The output of [`control::COPY_CHUNKS`] (2.2.32.1): what was copied; of a request that asked for
/// too much, the most that may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyChunksDone {
    /// Chunks that were copied whole; or the most chunks of a request.
    pub chunks: u32,
    /// Bytes of a chunk that was copied in part; or the most bytes of a chunk.
    pub chunk_bytes: u32,
    /// Bytes in all; or the most bytes of a request.
    pub total_bytes: u32,
}

impl Message<'_> for CopyChunksDone {
    const NAME: &'static str = "SRV_COPYCHUNK_RESPONSE";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32_le(self.chunks);
        out.put_u32_le(self.chunk_bytes);
        out.put_u32_le(self.total_bytes);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        Ok(Self {
            chunks: reader.u32()?,
            chunk_bytes: reader.u32()?,
            total_bytes: reader.u32()?,
        })
    }
}

/// A range of a file: the input of [`control::QUERY_ALLOCATED_RANGES`], and each element of its
/// output (MS-FSCC 2.3.48, 2.3.49). It ends within what a file can hold, 2^63 - 1 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRange {
    /// From the first byte to the one behind the last.
    pub range: Range<u64>,
}

impl FileRange {
    /// How long it is on the wire.
    pub const LENGTH: usize = 16;
}

impl Message<'_> for FileRange {
    const NAME: &'static str = "FILE_ALLOCATED_RANGE_BUFFER";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64_le(self.range.start);
        out.put_u64_le(self.range.end.saturating_sub(self.range.start));
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let (start, length) = (reader.u64()?, reader.u64()?);
        let end = start
            .checked_add(length)
            .filter(|end| i64::try_from(*end).is_ok());
        let end = end.ok_or_else(|| reader.malformed(Defect::TooLarge("Length")))?;
        Ok(Self { range: start..end })
    }
}

/// The input of [`control::DUPLICATE_EXTENTS`], sent to the file that gets the range (MS-FSCC
/// 2.3.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtentsToDuplicate {
    /// The file that has it.
    pub source: FileId,
    /// Where in the source; a whole number of clusters.
    pub from: u64,
    /// Where in the copy; likewise.
    pub to: u64,
    /// How many bytes; likewise.
    pub length: u64,
}

impl Message<'_> for ExtentsToDuplicate {
    const NAME: &'static str = "DUPLICATE_EXTENTS_DATA";

    fn encode(&self, out: &mut Vec<u8>) {
        self.source.encode(out);
        out.put_u64_le(self.from);
        out.put_u64_le(self.to);
        out.put_u64_le(self.length);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        Ok(Self {
            source: FileId::decode(&mut reader)?,
            from: reader.u64()?,
            to: reader.u64()?,
            length: reader.u64()?,
        })
    }
}
