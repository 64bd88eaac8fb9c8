//! READ, WRITE, LOCK, CLOSE, FLUSH (2.2.15 to 2.2.22, 2.2.26, 2.2.27).

use bytes::BufMut as _;

use super::file_id_and_times::{decode_times, encode_times};
use super::{FileId, HEADER_LENGTH, Message, Reader, length32};
use crate::error::{Defect, Malformed};
use crate::session::FileTimes;

/// Where a READ asks the server to put its data, from the header; it need not comply.
pub const READ_DATA_OFFSET: u8 = 80;
/// Where a WRITE's data starts, from the header.
pub const WRITE_DATA_OFFSET: u16 = 112;

/// CLOSE request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseRequest {
    /// Bit 0: give the attributes in the reply.
    pub flags: u16,
    /// The file.
    pub file: FileId,
}

impl CloseRequest {
    /// The reply gives times, lengths and attributes (SMB2_CLOSE_FLAG_POSTQUERY_ATTRIB).
    pub const GIVES_ATTRIBUTES: u16 = 1;

    /// One that asks for that.
    pub const fn giving_attributes(file: FileId) -> Self {
        let flags = Self::GIVES_ATTRIBUTES;
        Self { flags, file }
    }
}

impl Message<'_> for CloseRequest {
    const NAME: &'static str = "CLOSE Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(24);
        out.put_u16_le(self.flags);
        out.put_u32_le(0);
        self.file.encode(out);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(24)?;
        let flags = reader.u16()?;
        reader.skip(4)?;
        Ok(Self {
            flags,
            file: FileId::decode(&mut reader)?,
        })
    }
}

/// CLOSE reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseResponse {
    /// Bit 0: the rest is filled in.
    pub flags: u16,
    /// Times.
    pub times: FileTimes,
    /// Space.
    pub allocation: u64,
    /// Length.
    pub size: u64,
    /// Attributes.
    pub attributes: u32,
}

impl Message<'_> for CloseResponse {
    const NAME: &'static str = "CLOSE Response";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(60);
        out.put_u16_le(self.flags);
        out.put_u32_le(0);
        encode_times(self.times, out);
        out.put_u64_le(self.allocation);
        out.put_u64_le(self.size);
        out.put_u32_le(self.attributes);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(60)?;
        let flags = reader.u16()?;
        reader.skip(4)?;
        Ok(Self {
            flags,
            times: decode_times(&mut reader)?,
            allocation: reader.u64()?,
            size: reader.u64()?,
            attributes: reader.u32()?,
        })
    }
}

/// FLUSH request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlushRequest {
    /// The file.
    pub file: FileId,
}

impl Message<'_> for FlushRequest {
    const NAME: &'static str = "FLUSH Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(24);
        out.put_slice(&[0; 6]);
        self.file.encode(out);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(24)?;
        reader.skip(6)?;
        Ok(Self {
            file: FileId::decode(&mut reader)?,
        })
    }
}

super::session_setup_and_tree_connect::empty_message! {
    /// FLUSH reply.
    FlushResponse, "FLUSH Response";
}

/// LOCK request for one range (2.2.26).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockRequest {
    /// The file.
    pub file: FileId,
    /// Where the range begins.
    pub offset: u64,
    /// How many bytes it has.
    pub length: u64,
    /// What is to be done with it: [`LOCK_EXCLUSIVE`] or [`LOCK_UNLOCK`].
    pub flags: u32,
}

/// Nobody else may read or write the range; who cannot have it hears so at once.
pub const LOCK_EXCLUSIVE: u32 = 0x02 | 0x10;
/// The range is given back.
pub const LOCK_UNLOCK: u32 = 0x04;

impl Message<'_> for LockRequest {
    const NAME: &'static str = "LOCK Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(48);
        out.put_u16_le(1);
        // No number for a repetition: it is not sent twice.
        out.put_u32_le(0);
        self.file.encode(out);
        out.put_u64_le(self.offset);
        out.put_u64_le(self.length);
        out.put_u32_le(self.flags);
        out.put_u32_le(0);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(48)?;
        if reader.u16()? != 1 {
            return Err(reader.malformed(Defect::Invalid("LockCount")));
        }
        reader.skip(4)?;
        let file = FileId::decode(&mut reader)?;
        let (offset, length) = (reader.u64()?, reader.u64()?);
        let flags = reader.u32()?;
        reader.skip(4)?;
        Ok(Self {
            file,
            offset,
            length,
            flags,
        })
    }
}

super::session_setup_and_tree_connect::empty_message! {
    /// LOCK reply.
    LockResponse, "LOCK Response";
}

/// READ request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadRequest {
    /// How many bytes.
    pub length: u32,
    /// From where in the file.
    pub offset: u64,
    /// The file.
    pub file: FileId,
}

impl Message<'_> for ReadRequest {
    const NAME: &'static str = "READ Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(49);
        out.put_u8(READ_DATA_OFFSET);
        out.put_u8(0);
        out.put_u32_le(self.length);
        out.put_u64_le(self.offset);
        self.file.encode(out);
        // minimum count, channel, remaining, channel information, and the filler byte
        out.put_slice(&[0; 17]);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(49)?;
        reader.at_least(49)?;
        reader.skip(2)?;
        Ok(Self {
            length: reader.u32()?,
            offset: reader.u64()?,
            file: FileId::decode(&mut reader)?,
        })
    }
}

/// READ reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadResponse<'a> {
    /// Where the data starts, from the header.
    pub data_offset: u8,
    /// The data.
    pub data: &'a [u8],
}

/// Bytes of a READ reply's body before the data, where that follows at once.
const READ_HEAD_LENGTH: usize = READ_DATA_OFFSET as usize - HEADER_LENGTH;

impl ReadResponse<'_> {
    /// The body up to the data, for data that stands elsewhere already.
    pub fn head(data_offset: u8, length: u32) -> [u8; READ_HEAD_LENGTH] {
        let mut bytes = [0; READ_HEAD_LENGTH];
        let mut out = &mut bytes[..];
        out.put_u16_le(17);
        out.put_u8(data_offset);
        out.put_u8(0);
        out.put_u32_le(length);
        bytes
    }
}

impl<'a> Message<'a> for ReadResponse<'a> {
    const NAME: &'static str = "READ Response";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_slice(&Self::head(self.data_offset, length32(self.data.len())));
        if !self.data.is_empty() {
            let gap = usize::from(self.data_offset).saturating_sub(HEADER_LENGTH);
            out.resize(start + gap.max(16), 0);
            out.put_slice(self.data);
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(17)?;
        let data_offset = reader.u8()?;
        reader.skip(1)?;
        let length = reader.u32()?;
        reader.skip(8)?;
        Ok(Self {
            data_offset,
            data: reader.referred("DataOffset", u32::from(data_offset), length)?,
        })
    }
}

/// Bytes of a WRITE's body before the data.
const WRITE_HEAD_LENGTH: usize = WRITE_DATA_OFFSET as usize - HEADER_LENGTH;

/// WRITE request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteRequest<'a> {
    /// To where in the file.
    pub offset: u64,
    /// The file.
    pub file: FileId,
    /// Bit 0: to storage before the reply.
    pub flags: u32,
    /// The data.
    pub data: &'a [u8],
}

impl WriteRequest<'_> {
    /// The body up to the data, for data that stands elsewhere already.
    pub fn head(offset: u64, length: u32, file: FileId, flags: u32) -> [u8; WRITE_HEAD_LENGTH] {
        let mut bytes = [0; WRITE_HEAD_LENGTH];
        let mut out = &mut bytes[..];
        out.put_u16_le(49);
        out.put_u16_le(WRITE_DATA_OFFSET);
        out.put_u32_le(length);
        out.put_u64_le(offset);
        out.put_u64_le(file.persistent);
        out.put_u64_le(file.volatile);
        out.put_slice(&[0; 12]); // channel, remaining, channel information: only for RDMA
        out.put_u32_le(flags);
        bytes
    }
}

impl<'a> Message<'a> for WriteRequest<'a> {
    const NAME: &'static str = "WRITE Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&Self::head(
            self.offset,
            length32(self.data.len()),
            self.file,
            self.flags,
        ));
        out.put_slice(self.data);
        if self.data.is_empty() {
            out.put_u8(0);
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(49)?;
        reader.at_least(49)?;
        let data_offset = u32::from(reader.u16()?);
        let length = reader.u32()?;
        let offset = reader.u64()?;
        let file = FileId::decode(&mut reader)?;
        reader.skip(12)?;
        let flags = reader.u32()?;
        Ok(Self {
            offset,
            file,
            flags,
            data: reader.referred("DataOffset", data_offset, length)?,
        })
    }
}

/// WRITE reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteResponse {
    /// How many bytes were written.
    pub count: u32,
}

impl Message<'_> for WriteResponse {
    const NAME: &'static str = "WRITE Response";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(17);
        out.put_u16_le(0);
        out.put_u32_le(self.count);
        out.put_u64_le(0);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(17)?;
        reader.skip(2)?;
        let count = reader.u32()?;
        reader.skip(8)?;
        Ok(Self { count })
    }
}
