//! CREATE (2.2.13, 2.2.14).

use bytes::BufMut as _;

use super::file_id_and_times::{decode_times, encode_times};
use super::{FileId, HEADER_LENGTH, Message, Reader, index, length16, length32, pad_to_8};
use crate::error::{Defect, Malformed};
use crate::session::FileTimes;

/// More create contexts than this in one message are refused.
const CONTEXTS_MAX: usize = 64;

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
            return Err(reader.malformed(Defect::TooLarge("Next")));
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
                .ok_or_else(|| reader.malformed(Defect::OutOfBounds("DataOffset")))
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
            return Err(reader.malformed(Defect::Invalid("Next")));
        }
        bytes = bytes
            .get(next..)
            .ok_or_else(|| reader.malformed(Defect::OutOfBounds("Next")))?;
    }
    Ok(contexts)
}

/// CREATE request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateRequest<'a> {
    /// Oplock asked for.
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
    const NAME: &'static str = "CREATE Request";

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
        let contexts = reader.referred("CreateContextsOffset", contexts_offset, contexts_length)?;
        Ok(Self {
            oplock_level,
            access,
            attributes,
            share_access,
            disposition,
            options,
            name: reader.referred("NameOffset", name_offset, name_length)?,
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
    const NAME: &'static str = "CREATE Response";

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
        let contexts = reader.referred("CreateContextsOffset", contexts_offset, contexts_length)?;
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
