//! QUERY_INFO, SET_INFO (2.2.37 to 2.2.40), replies that are one buffer, and the structures of MS-FSCC they
//! carry.

use bytes::BufMut as _;

use super::file_id_and_times::{decode_times, encode_times};
use super::{FileId, HEADER_LENGTH, Message, Reader, index, length32, utf16};
use crate::error::{Defect, Malformed};
use crate::session::FileTimes;

/// Information types and classes.
pub mod class {
    /// Type: of a file.
    pub const TYPE_FILE: u8 = 1;
    /// Type: of a file system.
    pub const TYPE_FILE_SYSTEM: u8 = 2;
    /// File: times and attributes.
    pub const FILE_BASIC: u8 = 4;
    /// File: size and state.
    pub const FILE_STANDARD: u8 = 5;
    /// File: all of these, and its path.
    pub const FILE_ALL: u8 = 18;
    /// File: its data streams.
    pub const FILE_STREAM: u8 = 22;
    /// File: rename.
    pub const FILE_RENAME: u8 = 10;
    /// File: remove when closed.
    pub const FILE_DISPOSITION: u8 = 13;
    /// File: length.
    pub const FILE_END_OF_FILE: u8 = 20;
    /// File system: size.
    pub const FS_FULL_SIZE: u8 = 7;
    /// File system: what it can do.
    pub const FS_ATTRIBUTE: u8 = 5;
    /// Folder: all that a copy needs, with file id.
    pub const ID_FULL_DIRECTORY: u8 = 0x26;
    /// Type: security descriptor.
    pub const TYPE_SECURITY: u8 = 3;
    /// Of a security descriptor: who may do what (`DACL_SECURITY_INFORMATION`).
    pub const SECURITY_ACCESS: u32 = 0x4;
    /// File and folder, of the POSIX extensions: all that Unix knows.
    pub const POSIX: u8 = 0x64;
}

/// FileAllInformation (MS-FSCC 2.4.2), of which nothing but the path is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllInformation {
    /// With `\\` before each name.
    pub path: String,
}

impl AllInformation {
    /// The other information before it: 40 bytes of times and attributes, 24 of sizes, and 32 more.
    const PATH_AT: usize = 96;
}

impl Message<'_> for AllInformation {
    const NAME: &'static str = "FileAllInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0; Self::PATH_AT]);
        let path = utf16::encode(&self.path);
        out.put_u32_le(u32::try_from(path.len()).unwrap_or(u32::MAX));
        out.put_slice(&path);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.skip(Self::PATH_AT)?;
        let length = super::index(reader.u32()?);
        let path = reader.bytes(length)?;
        if !path.len().is_multiple_of(2) {
            return Err(reader.malformed(Defect::Invalid("FileNameLength")));
        }
        Ok(Self {
            path: utf16::decode(path),
        })
    }
}

/// Defines a reply that is one buffer, with an offset of 16 and a length of 32 bits.
macro_rules! buffer_response {
    ($(#[doc = $doc:literal] $type:ident, $name:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $type<'a> {
            /// The content.
            pub data: &'a [u8],
        }

        impl<'a> Message<'a> for $type<'a> {
            const NAME: &'static str = $name;

            fn encode(&self, out: &mut Vec<u8>) {
                out.put_u16_le(9);
                out.put_u16_le(HEADER_LENGTH as u16 + 8);
                out.put_u32_le(length32(self.data.len()));
                out.put_slice(self.data);
            }

            fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
                let mut reader = Reader::new(Self::NAME, bytes);
                reader.structure_size(9)?;
                let offset = u32::from(reader.u16()?);
                let length = reader.u32()?;
                Ok(Self { data: reader.referred("OutputBufferOffset", offset, length)? })
            }
        }
    )*};
}

buffer_response! {
    /// QUERY_DIRECTORY reply.
    QueryDirectoryResponse, "QUERY_DIRECTORY Response";
    /// QUERY_INFO reply.
    QueryInfoResponse, "QUERY_INFO Response";
}

/// QUERY_INFO request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryInfoRequest<'a> {
    /// See [`class`].
    pub kind: u8,
    /// See [`class`].
    pub class: u8,
    /// Most bytes of the reply's data.
    pub bytes_max: u32,
    /// Class-dependent.
    pub additional: u32,
    /// The file.
    pub file: FileId,
    /// Class-dependent.
    pub input: &'a [u8],
}

impl<'a> Message<'a> for QueryInfoRequest<'a> {
    const NAME: &'static str = "QUERY_INFO Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(41);
        out.put_u8(self.kind);
        out.put_u8(self.class);
        out.put_u32_le(self.bytes_max);
        out.put_u16_le(if self.input.is_empty() {
            0
        } else {
            HEADER_LENGTH as u16 + 40
        });
        out.put_u16_le(0);
        out.put_u32_le(length32(self.input.len()));
        out.put_u32_le(self.additional);
        out.put_u32_le(0);
        self.file.encode(out);
        out.put_slice(self.input);
        if self.input.is_empty() {
            out.put_u8(0);
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(41)?;
        reader.at_least(41)?;
        let kind = reader.u8()?;
        let class = reader.u8()?;
        let bytes_max = reader.u32()?;
        let offset = u32::from(reader.u16()?);
        reader.skip(2)?;
        let length = reader.u32()?;
        let additional = reader.u32()?;
        reader.skip(4)?;
        let file = FileId::decode(&mut reader)?;
        let input = reader.referred("InputBufferOffset", offset, length)?;
        Ok(Self {
            kind,
            class,
            bytes_max,
            additional,
            file,
            input,
        })
    }
}

/// SET_INFO request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetInfoRequest<'a> {
    /// See [`class`].
    pub kind: u8,
    /// See [`class`].
    pub class: u8,
    /// Class-dependent.
    pub additional: u32,
    /// The file.
    pub file: FileId,
    /// The new information.
    pub data: &'a [u8],
}

impl<'a> Message<'a> for SetInfoRequest<'a> {
    const NAME: &'static str = "SET_INFO Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(33);
        out.put_u8(self.kind);
        out.put_u8(self.class);
        out.put_u32_le(length32(self.data.len()));
        out.put_u16_le(HEADER_LENGTH as u16 + 32);
        out.put_u16_le(0);
        out.put_u32_le(self.additional);
        self.file.encode(out);
        out.put_slice(self.data);
        if self.data.is_empty() {
            out.put_u8(0);
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        reader.structure_size(33)?;
        reader.at_least(33)?;
        let kind = reader.u8()?;
        let class = reader.u8()?;
        let length = reader.u32()?;
        let offset = u32::from(reader.u16()?);
        reader.skip(2)?;
        let additional = reader.u32()?;
        let file = FileId::decode(&mut reader)?;
        Ok(Self {
            kind,
            class,
            additional,
            file,
            data: reader.referred("BufferOffset", offset, length)?,
        })
    }
}

/// SET_INFO reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetInfoResponse;

impl Message<'_> for SetInfoResponse {
    const NAME: &'static str = "SET_INFO Response";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(2);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        Reader::new(Self::NAME, bytes).structure_size(2)?;
        Ok(Self)
    }
}

/// Times and attributes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BasicInformation {
    /// Times; zero leaves one as it is.
    pub times: FileTimes,
    /// Attributes; zero leaves them as they are.
    pub attributes: u32,
}

impl Message<'_> for BasicInformation {
    const NAME: &'static str = "FileBasicInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        encode_times(self.times, out);
        out.put_u32_le(self.attributes);
        out.put_u32_le(0);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let times = decode_times(&mut reader)?;
        let attributes = reader.u32()?;
        reader.skip(4)?;
        Ok(Self { times, attributes })
    }
}

/// Size and state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandardInformation {
    /// Space.
    pub allocation: u64,
    /// Length.
    pub size: u64,
    /// Hard links.
    pub links: u32,
    /// Will be removed when closed.
    pub delete_pending: bool,
    /// A folder.
    pub folder: bool,
}

impl Message<'_> for StandardInformation {
    const NAME: &'static str = "FileStandardInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64_le(self.allocation);
        out.put_u64_le(self.size);
        out.put_u32_le(self.links);
        out.put_u8(self.delete_pending.into());
        out.put_u8(self.folder.into());
        out.put_u16_le(0);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let allocation = reader.u64()?;
        let size = reader.u64()?;
        let links = reader.u32()?;
        let delete_pending = reader.u8()? != 0;
        let folder = reader.u8()? != 0;
        reader.skip(2)?;
        Ok(Self {
            allocation,
            size,
            links,
            delete_pending,
            folder,
        })
    }
}

/// The new length of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndOfFileInformation {
    /// Length.
    pub size: u64,
}

impl Message<'_> for EndOfFileInformation {
    const NAME: &'static str = "FileEndOfFileInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64_le(self.size);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        Ok(Self {
            size: Reader::new(Self::NAME, bytes).u64()?,
        })
    }
}

/// Whether to remove a file when it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DispositionInformation {
    /// Whether.
    pub delete: bool,
}

impl Message<'_> for DispositionInformation {
    const NAME: &'static str = "FileDispositionInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.delete.into());
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        Ok(Self {
            delete: Reader::new(Self::NAME, bytes).u8()? != 0,
        })
    }
}

/// The new path of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenameInformation<'a> {
    /// Replace what is there.
    pub replace: bool,
    /// Path in the share in UTF-16LE.
    pub name: &'a [u8],
}

impl<'a> Message<'a> for RenameInformation<'a> {
    const NAME: &'static str = "FileRenameInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        const HEAD: usize = 20;
        /// Windows refuses what is shorter than its structure with its padding.
        const LENGTH_MIN: usize = 24;
        out.put_u8(self.replace.into());
        out.put_slice(&[0; 15]); // reserved, and no root folder
        out.put_u32_le(length32(self.name.len()));
        out.put_slice(self.name);
        out.put_bytes(0, LENGTH_MIN.saturating_sub(HEAD + self.name.len()));
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let replace = reader.u8()? != 0;
        reader.skip(15)?;
        let length = reader.u32()?;
        Ok(Self {
            replace,
            name: reader.bytes(index(length))?,
        })
    }
}

/// The size of a file system, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsFullSizeInformation {
    /// In all.
    pub total_units: u64,
    /// Free for the caller.
    pub caller_available_units: u64,
    /// Free for anybody.
    pub available_units: u64,
    /// Sectors of a unit.
    pub sectors_per_unit: u32,
    /// Bytes of a sector.
    pub bytes_per_sector: u32,
}

impl Message<'_> for FsFullSizeInformation {
    const NAME: &'static str = "FileFsFullSizeInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64_le(self.total_units);
        out.put_u64_le(self.caller_available_units);
        out.put_u64_le(self.available_units);
        out.put_u32_le(self.sectors_per_unit);
        out.put_u32_le(self.bytes_per_sector);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        Ok(Self {
            total_units: reader.u64()?,
            caller_available_units: reader.u64()?,
            available_units: reader.u64()?,
            sectors_per_unit: reader.u32()?,
            bytes_per_sector: reader.u32()?,
        })
    }
}

/// What a file system can do (MS-FSCC 2.5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FsAttributeInformation<'a> {
    /// See the constants.
    pub attributes: u32,
    /// Longest name in it, in characters.
    pub name_length_max: u32,
    /// What it is called, in UTF-16LE.
    pub name: &'a [u8],
}

impl FsAttributeInformation<'_> {
    /// Attribute: files can have more data streams than one.
    pub const NAMED_STREAMS: u32 = 0x0004_0000;
    /// Attribute: files can share storage until one of them is changed.
    pub const BLOCK_REFERENCE_COUNTING: u32 = 0x0800_0000;
}

impl<'a> Message<'a> for FsAttributeInformation<'a> {
    const NAME: &'static str = "FileFsAttributeInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32_le(self.attributes);
        out.put_u32_le(self.name_length_max);
        out.put_u32_le(length32(self.name.len()));
        out.put_slice(self.name);
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let (attributes, name_length_max) = (reader.u32()?, reader.u32()?);
        let length = index(reader.u32()?);
        Ok(Self {
            attributes,
            name_length_max,
            name: reader.bytes(length)?,
        })
    }
}
