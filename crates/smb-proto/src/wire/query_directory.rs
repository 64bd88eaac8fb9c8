//! QUERY_DIRECTORY (2.2.33, 2.2.34), and the entries of a folder as MS-FSCC has them (2.4).

use bytes::BufMut as _;

use super::file_id_and_times::{decode_times, encode_times};
use super::{FileId, HEADER_LENGTH, Message, Reader, index, length16, length32, utf16};
use crate::error::Malformed;
use crate::session::{DirectoryEntry, FileTimes};

/// QUERY_DIRECTORY request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryDirectoryRequest<'a> {
    /// See [`class`](super::class).
    pub class: u8,
    /// See the constants.
    pub flags: u8,
    /// The folder.
    pub file: FileId,
    /// Pattern in UTF-16LE.
    pub pattern: &'a [u8],
    /// Most bytes of the reply's data.
    pub bytes_max: u32,
}

impl QueryDirectoryRequest<'_> {
    /// Flag: from the first entry.
    pub const RESTART_SCANS: u8 = 0x01;
}

impl<'a> Message<'a> for QueryDirectoryRequest<'a> {
    const NAME: &'static str = "QUERY_DIRECTORY Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(33);
        out.put_u8(self.class);
        out.put_u8(self.flags);
        out.put_u32_le(0);
        self.file.encode(out);
        out.put_u16_le(HEADER_LENGTH as u16 + 32);
        out.put_u16_le(length16(self.pattern.len()));
        out.put_u32_le(self.bytes_max);
        out.put_slice(self.pattern);
        if self.pattern.is_empty() {
            out.put_u8(0);
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(33)?;
        reader.at_least(33)?;
        let class = reader.u8()?;
        let flags = reader.u8()?;
        reader.skip(4)?;
        let file = FileId::decode(&mut reader)?;
        let offset = u32::from(reader.u16()?);
        let length = u32::from(reader.u16()?);
        let bytes_max = reader.u32()?;
        Ok(Self {
            class,
            flags,
            file,
            pattern: reader.referred("FileNameOffset", offset, length)?,
            bytes_max,
        })
    }
}

/// One entry of class [`ID_FULL_DIRECTORY`](super::class::ID_FULL_DIRECTORY).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryRecord<'a> {
    /// Times.
    pub times: FileTimes,
    /// Length.
    pub size: u64,
    /// Space.
    pub allocation: u64,
    /// Attributes.
    pub attributes: u32,
    /// Size of extended attributes, or the reparse tag if the attributes have that bit.
    pub ea_size_or_reparse_tag: u32,
    /// Number of the file.
    pub file_id: u64,
    /// Name in UTF-16LE.
    pub name: &'a [u8],
}

impl DirectoryRecord<'_> {
    const FIXED: usize = 80;
    const REPARSE_POINT: u32 = 0x400;

    fn encode(&self, next: usize, out: &mut Vec<u8>) {
        out.put_u32_le(length32(next));
        out.put_u32_le(0);
        encode_times(self.times, out);
        out.put_u64_le(self.size);
        out.put_u64_le(self.allocation);
        out.put_u32_le(self.attributes);
        out.put_u32_le(length32(self.name.len()));
        out.put_u32_le(self.ea_size_or_reparse_tag);
        out.put_u32_le(0);
        out.put_u64_le(self.file_id);
        out.put_slice(self.name);
    }

    /// The entry as callers see it.
    pub fn to_entry(&self) -> DirectoryEntry {
        let link = self.attributes & Self::REPARSE_POINT != 0;
        let name = utf16::decode(self.name);
        DirectoryEntry {
            ill_formed: utf16::is_replaced(self.name, &name)
                .then(|| utf16::units(self.name).collect()),
            name,
            times: self.times,
            size: self.size,
            allocation: self.allocation,
            attributes: self.attributes,
            reparse_tag: if link { self.ea_size_or_reparse_tag } else { 0 },
            file_id: self.file_id,
            posix: None,
        }
    }
}

/// Walks entries without copying; stops after the first error.
#[derive(Debug, Clone)]
pub(crate) struct DirectoryWalk<'a> {
    rest: &'a [u8],
}

impl<'a> DirectoryWalk<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn record(&mut self) -> Result<DirectoryRecord<'a>, Malformed> {
        let bytes = std::mem::take(&mut self.rest);
        let mut reader = Reader::new(DirectoryRecords::NAME, bytes);
        let next = index(reader.u32()?);
        reader.skip(4)?;
        let times = decode_times(&mut reader)?;
        let size = reader.u64()?;
        let allocation = reader.u64()?;
        let attributes = reader.u32()?;
        let name_length = reader.u32()?;
        let ea_size_or_reparse_tag = reader.u32()?;
        reader.skip(4)?;
        let file_id = reader.u64()?;
        let name = reader.bytes(index(name_length))?;
        self.rest = reader.next_record(next)?;
        Ok(DirectoryRecord {
            times,
            size,
            allocation,
            attributes,
            ea_size_or_reparse_tag,
            file_id,
            name,
        })
    }
}

impl<'a> Iterator for DirectoryWalk<'a> {
    type Item = Result<DirectoryRecord<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            None
        } else {
            Some(self.record())
        }
    }
}

/// The entries of a QUERY_DIRECTORY reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryRecords<'a> {
    /// In the server's order.
    pub records: Vec<DirectoryRecord<'a>>,
}

impl<'a> Message<'a> for DirectoryRecords<'a> {
    const NAME: &'static str = "FileIdBothDirectoryInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        for (position, record) in self.records.iter().enumerate() {
            let length = (DirectoryRecord::FIXED + record.name.len()).next_multiple_of(8);
            let last = position + 1 == self.records.len();
            record.encode(if last { 0 } else { length }, out);
            if !last {
                super::pad_to_8(out, start);
            }
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        Ok(Self {
            records: DirectoryWalk::new(bytes).collect::<Result<_, _>>()?,
        })
    }
}
