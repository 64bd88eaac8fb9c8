//! CREATE, CLOSE, FLUSH, READ, WRITE, LOCK (2.2.13 to 2.2.22, 2.2.26, 2.2.27).

use bytes::BufMut as _;

use super::{HEADER_LENGTH, Message, Reader, index, length16, length32, pad_to_8};
use crate::error::Malformed;
use crate::session::FileTimes;

/// Where a READ asks the server to put its data, from the header; it need not comply.
pub const READ_DATA_OFFSET: u8 = 80;
/// Where a WRITE's data starts, from the header.
pub const WRITE_DATA_OFFSET: u16 = 112;

/// More create contexts than this in one message are refused.
const CONTEXTS_MAX: usize = 64;

/// The server's name for an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The half that survives a lost connection.
    pub persistent: u64,
    /// The other half.
    pub volatile: u64,
}

impl FileId {
    /// No file.
    pub const NONE: Self = Self {
        persistent: u64::MAX,
        volatile: u64::MAX,
    };

    fn encode(self, out: &mut Vec<u8>) {
        out.put_u64_le(self.persistent);
        out.put_u64_le(self.volatile);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            persistent: reader.u64()?,
            volatile: reader.u64()?,
        })
    }
}

/// Shares encoding and decoding of file ids and times with the other modules of the codec.
pub(super) fn encode_file_id(file: FileId, out: &mut Vec<u8>) {
    file.encode(out);
}

pub(super) fn decode_file_id(reader: &mut Reader<'_>) -> Result<FileId, Malformed> {
    FileId::decode(reader)
}

pub(super) fn encode_times(times: FileTimes, out: &mut Vec<u8>) {
    out.put_u64_le(times.creation);
    out.put_u64_le(times.access);
    out.put_u64_le(times.write);
    out.put_u64_le(times.change);
}

pub(super) fn decode_times(reader: &mut Reader<'_>) -> Result<FileTimes, Malformed> {
    Ok(FileTimes {
        creation: reader.u64()?,
        access: reader.u64()?,
        write: reader.u64()?,
        change: reader.u64()?,
    })
}

/// One context of a CREATE: a name and anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreateContext<'a> {
    /// Four letters, or a GUID.
    pub name: &'a [u8],
    /// The content.
    pub data: &'a [u8],
}

/// The byte offset of the data in an encoded context.
fn context_data_at(context: &CreateContext<'_>) -> usize {
    (16 + context.name.len()).next_multiple_of(8)
}

fn encode_create_contexts(contexts: &[CreateContext<'_>], out: &mut Vec<u8>) {
    for (position, context) in contexts.iter().enumerate() {
        let start = out.len();
        let data_at = context_data_at(context);
        let length = data_at + context.data.len();
        let last = position + 1 == contexts.len();
        let next = if last { 0 } else { length.next_multiple_of(8) };
        out.put_u32_le(length32(next));
        out.put_u16_le(16);
        out.put_u16_le(length16(context.name.len()));
        out.put_u16_le(0);
        out.put_u16_le(if context.data.is_empty() {
            0
        } else {
            length16(data_at)
        });
        out.put_u32_le(length32(context.data.len()));
        out.put_slice(context.name);
        if !context.data.is_empty() {
            pad_to_8(out, start);
            out.put_slice(context.data);
        }
        if !last {
            out.resize(start + next, 0);
        }
    }
}

fn decode_create_contexts<'a>(
    message: &'static str,
    mut bytes: &'a [u8],
) -> Result<Vec<CreateContext<'a>>, Malformed> {
    let mut contexts = Vec::new();
    while !bytes.is_empty() {
        let mut reader = Reader::new(message, bytes);
        if contexts.len() == CONTEXTS_MAX {
            return Err(reader.malformed("there are too many contexts"));
        }
        let next = index(reader.u32()?);
        let name_offset = usize::from(reader.u16()?);
        let name_length = usize::from(reader.u16()?);
        reader.skip(2)?;
        let data_offset = usize::from(reader.u16()?);
        let data_length = index(reader.u32()?);
        let own = if next == 0 {
            bytes
        } else {
            bytes.get(..next).unwrap_or(bytes)
        };
        let part = |offset: usize, length: usize| {
            let end = offset
                .checked_add(length)
                .filter(|_| offset >= 16 || length == 0);
            end.and_then(|end| own.get(offset..end))
                .ok_or_else(|| reader.malformed("a context refers beyond itself"))
        };
        let name = part(name_offset, name_length)?;
        let data = if data_length == 0 {
            &[]
        } else {
            part(data_offset, data_length)?
        };
        contexts.push(CreateContext { name, data });
        if next == 0 {
            break;
        }
        if !next.is_multiple_of(8) || next < 16 {
            return Err(reader.malformed("a context's distance to the next is wrong"));
        }
        bytes = bytes
            .get(next..)
            .ok_or_else(|| reader.malformed("a context is cut off"))?;
    }
    Ok(contexts)
}

/// CREATE request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateRequest<'a> {
    /// Oplock wished for.
    pub oplock_level: u8,
    /// Access mask.
    pub access: u32,
    /// File attributes of a new file.
    pub attributes: u32,
    /// What others may do meanwhile: 1 read, 2 write, 4 delete.
    pub share_access: u32,
    /// See 2.2.13.
    pub disposition: u32,
    /// See 2.2.13.
    pub options: u32,
    /// Path in the share in UTF-16LE.
    pub name: &'a [u8],
    /// Contexts.
    pub contexts: Vec<CreateContext<'a>>,
}

impl CreateRequest<'_> {
    /// Oplock level: a lease, in a context.
    pub const OPLOCK_LEASE: u8 = 0xFF;
    /// Disposition: must be there.
    pub const OPEN: u32 = 1;
    /// Disposition: must not be there.
    pub const CREATE: u32 = 2;
    /// Disposition: either.
    pub const OPEN_IF: u32 = 3;
    /// Disposition: must be there, and is emptied.
    pub const OVERWRITE: u32 = 4;
    /// Disposition: either, and is emptied.
    pub const OVERWRITE_IF: u32 = 5;
    /// Option: a folder.
    pub const DIRECTORY_FILE: u32 = 0x1;
    /// Option: WRITEs go to storage.
    pub const WRITE_THROUGH: u32 = 0x2;
    /// Option: sequential access.
    pub const SEQUENTIAL_ONLY: u32 = 0x4;
    /// Option: not a folder.
    pub const NON_DIRECTORY_FILE: u32 = 0x40;
    /// Option: remove it when closed.
    pub const DELETE_ON_CLOSE: u32 = 0x1000;
    /// Option: the link itself.
    pub const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
}

impl<'a> Message<'a> for CreateRequest<'a> {
    const NAME: &'static str = "CREATE request";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let name_at = HEADER_LENGTH + 56;
        let contexts_at = (name_at + self.name.len()).next_multiple_of(8);
        let mut contexts = Vec::new();
        encode_create_contexts(&self.contexts, &mut contexts);
        out.put_u16_le(57);
        out.put_u8(0);
        out.put_u8(self.oplock_level);
        out.put_u32_le(2); // impersonation
        out.put_u64_le(0);
        out.put_u64_le(0);
        out.put_u32_le(self.access);
        out.put_u32_le(self.attributes);
        out.put_u32_le(self.share_access);
        out.put_u32_le(self.disposition);
        out.put_u32_le(self.options);
        out.put_u16_le(length16(name_at));
        out.put_u16_le(length16(self.name.len()));
        out.put_u32_le(if contexts.is_empty() {
            0
        } else {
            length32(contexts_at)
        });
        out.put_u32_le(length32(contexts.len()));
        out.put_slice(self.name);
        if !contexts.is_empty() {
            pad_to_8(out, start);
            out.put_slice(&contexts);
        } else if self.name.is_empty() {
            out.put_u8(0);
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(57)?;
        reader.at_least(57)?;
        reader.skip(1)?;
        let oplock_level = reader.u8()?;
        reader.skip(20)?;
        let access = reader.u32()?;
        let attributes = reader.u32()?;
        let share_access = reader.u32()?;
        let disposition = reader.u32()?;
        let options = reader.u32()?;
        let name_offset = u32::from(reader.u16()?);
        let name_length = u32::from(reader.u16()?);
        let contexts_offset = reader.u32()?;
        let contexts_length = reader.u32()?;
        let contexts = reader.referred(contexts_offset, contexts_length)?;
        Ok(Self {
            oplock_level,
            access,
            attributes,
            share_access,
            disposition,
            options,
            name: reader.referred(name_offset, name_length)?,
            contexts: decode_create_contexts(Self::NAME, contexts)?,
        })
    }
}

/// CREATE reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateResponse<'a> {
    /// Oplock granted.
    pub oplock_level: u8,
    /// What was done: 0 superseded, 1 opened, 2 created, 3 overwritten.
    pub action: u32,
    /// Times.
    pub times: FileTimes,
    /// Space.
    pub allocation: u64,
    /// Length.
    pub size: u64,
    /// File attributes.
    pub attributes: u32,
    /// The open file.
    pub file: FileId,
    /// Contexts.
    pub contexts: Vec<CreateContext<'a>>,
}

impl<'a> Message<'a> for CreateResponse<'a> {
    const NAME: &'static str = "CREATE reply";

    fn encode(&self, out: &mut Vec<u8>) {
        let mut contexts = Vec::new();
        encode_create_contexts(&self.contexts, &mut contexts);
        out.put_u16_le(89);
        out.put_u8(self.oplock_level);
        out.put_u8(0);
        out.put_u32_le(self.action);
        encode_times(self.times, out);
        out.put_u64_le(self.allocation);
        out.put_u64_le(self.size);
        out.put_u32_le(self.attributes);
        out.put_u32_le(0);
        self.file.encode(out);
        out.put_u32_le(if contexts.is_empty() {
            0
        } else {
            length32(HEADER_LENGTH + 88)
        });
        out.put_u32_le(length32(contexts.len()));
        out.put_slice(&contexts);
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(89)?;
        let oplock_level = reader.u8()?;
        reader.skip(1)?;
        let action = reader.u32()?;
        let times = decode_times(&mut reader)?;
        let allocation = reader.u64()?;
        let size = reader.u64()?;
        let attributes = reader.u32()?;
        reader.skip(4)?;
        let file = FileId::decode(&mut reader)?;
        let contexts_offset = reader.u32()?;
        let contexts_length = reader.u32()?;
        let contexts = reader.referred(contexts_offset, contexts_length)?;
        let contexts = decode_create_contexts(Self::NAME, contexts)?;
        Ok(Self {
            oplock_level,
            action,
            times,
            allocation,
            size,
            attributes,
            file,
            contexts,
        })
    }
}

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
    const NAME: &'static str = "CLOSE request";

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
    const NAME: &'static str = "CLOSE reply";

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
    const NAME: &'static str = "FLUSH request";

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
    FlushResponse, "FLUSH reply";
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
    const NAME: &'static str = "LOCK request";

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
            return Err(reader.malformed("not one range"));
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
    LockResponse, "LOCK reply";
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
    const NAME: &'static str = "READ request";

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
    const NAME: &'static str = "READ reply";

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
            data: reader.referred(u32::from(data_offset), length)?,
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
    const NAME: &'static str = "WRITE request";

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
            data: reader.referred(data_offset, length)?,
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
    const NAME: &'static str = "WRITE reply";

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
