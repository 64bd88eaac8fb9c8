//! The POSIX extensions of SMB 3.1.1 (the specification of the Samba team, POSIX-SMB2 and POSIX-FSCC): files as
//! Unix knows them. What a server says here of modes and links is as little trusted as all else it says.

use bytes::BufMut as _;

use super::file_id_and_times::{decode_times, encode_times};
use super::{Message, Reader, index, length16, length32, pad_to_8, utf16};
use crate::error::{Defect, Malformed};
use crate::session::{DirectoryEntry, FileTimes, Posix};

/// Names the version of the extensions, in NEGOTIATE and as the name of the context of a CREATE.
pub const POSIX_TAG: [u8; 16] = [
    0x93, 0xAD, 0x25, 0x50, 0x9C, 0xB4, 0x11, 0xE7, 0xB4, 0x23, 0x83, 0xDE, 0x96, 0x8B, 0xCD, 0x7C,
];
/// The context of NEGOTIATE that holds it.
pub const POSIX_EXTENSIONS_AVAILABLE: u16 = 0x100;

/// Most parts of a SID behind its authority (MS-DTYP 2.4.2).
const SID_PARTS_MAX: u8 = 15;

/// The content of the context of a CREATE request: the mode of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PosixCreateRequest {
    /// Bits of access as in `chmod(2)`.
    pub mode: u32,
}

impl Message<'_> for PosixCreateRequest {
    const NAME: &'static str = "SMB2_CREATE_POSIX Request";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32_le(self.mode);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        Ok(Self {
            mode: Reader::new(Self::NAME, bytes).u32()?,
        })
    }
}

/// The content of the context of a CREATE reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PosixCreateResponse<'a> {
    /// Links, reparse tag and mode.
    pub file: Posix,
    /// The owner, as a SID.
    pub owner: &'a [u8],
    /// The group, as a SID.
    pub group: &'a [u8],
}

impl<'a> PosixCreateResponse<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let file = Posix {
            links: reader.u32()?,
            reparse_tag: reader.u32()?,
            mode: reader.u32()?,
        };
        Ok(Self {
            file,
            owner: sid(reader)?,
            group: sid(reader)?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.put_u32_le(self.file.links);
        out.put_u32_le(self.file.reparse_tag);
        out.put_u32_le(self.file.mode);
        out.put_slice(self.owner);
        out.put_slice(self.group);
    }
}

/// The bytes of a SID (MS-DTYP 2.4.2.2), which tell their own length.
fn sid<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Malformed> {
    const REVISION: u8 = 1;
    const HEAD: usize = 8;
    let start = reader.at;
    let (revision, parts) = (reader.u8()?, reader.u8()?);
    if revision != REVISION || parts > SID_PARTS_MAX {
        return Err(reader.malformed(Defect::Invalid("SID")));
    }
    reader.at = start;
    reader.bytes(HEAD + 4 * usize::from(parts))
}

impl<'a> Message<'a> for PosixCreateResponse<'a> {
    const NAME: &'static str = "SMB2_CREATE_POSIX Response";

    fn encode(&self, out: &mut Vec<u8>) {
        self.write(out);
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        Self::read(&mut Reader::new(Self::NAME, bytes))
    }
}

/// All that there is to know of a file (POSIX-FSCC, FilePosixInformation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PosixInformation<'a> {
    /// Times.
    pub times: FileTimes,
    /// Length.
    pub size: u64,
    /// Space.
    pub allocation: u64,
    /// Attributes.
    pub attributes: u32,
    /// Number of the file.
    pub file_id: u64,
    /// Number of its file system.
    pub device: u32,
    /// What only Unix knows of it.
    pub posix: PosixCreateResponse<'a>,
}

impl<'a> PosixInformation<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let times = decode_times(reader)?;
        let (size, allocation) = (reader.u64()?, reader.u64()?);
        let (attributes, file_id, device) = (reader.u32()?, reader.u64()?, reader.u32()?);
        reader.skip(4)?;
        Ok(Self {
            times,
            size,
            allocation,
            attributes,
            file_id,
            device,
            posix: PosixCreateResponse::read(reader)?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        encode_times(self.times, out);
        out.put_u64_le(self.size);
        out.put_u64_le(self.allocation);
        out.put_u32_le(self.attributes);
        out.put_u64_le(self.file_id);
        out.put_u32_le(self.device);
        out.put_u32_le(0);
        self.posix.write(out);
    }
}

impl<'a> Message<'a> for PosixInformation<'a> {
    const NAME: &'static str = "FilePosixInformation";

    fn encode(&self, out: &mut Vec<u8>) {
        self.write(out);
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        Self::read(&mut Reader::new(Self::NAME, bytes))
    }
}

/// One entry of class [`super::class::POSIX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PosixRecord<'a> {
    /// About the file.
    pub about: PosixInformation<'a>,
    /// Name in UTF-16LE.
    pub name: &'a [u8],
}

impl PosixRecord<'_> {
    /// The entry as callers see it.
    pub fn to_entry(&self) -> DirectoryEntry {
        let about = &self.about;
        let name = utf16::decode(self.name);
        DirectoryEntry {
            ill_formed: utf16::is_replaced(self.name, &name)
                .then(|| utf16::units(self.name).collect()),
            name,
            times: about.times,
            size: about.size,
            allocation: about.allocation,
            attributes: about.attributes,
            reparse_tag: about.posix.file.reparse_tag,
            file_id: about.file_id,
            posix: Some(about.posix.file),
        }
    }
}

/// Walks entries without copying; stops after the first error.
#[derive(Debug, Clone)]
pub(crate) struct PosixWalk<'a> {
    rest: &'a [u8],
}

impl<'a> PosixWalk<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn record(&mut self) -> Result<PosixRecord<'a>, Malformed> {
        let bytes = std::mem::take(&mut self.rest);
        let mut reader = Reader::new(PosixRecords::NAME, bytes);
        let next = index(reader.u32()?);
        reader.skip(4)?;
        let about = PosixInformation::read(&mut reader)?;
        let length = index(reader.u32()?);
        let name = reader.bytes(length)?;
        self.rest = reader.next_record(next)?;
        Ok(PosixRecord { about, name })
    }
}

impl<'a> Iterator for PosixWalk<'a> {
    type Item = Result<PosixRecord<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.rest.is_empty()).then(|| self.record())
    }
}

/// The entries of a QUERY_DIRECTORY reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PosixRecords<'a> {
    /// In the server's order.
    pub records: Vec<PosixRecord<'a>>,
}

impl<'a> Message<'a> for PosixRecords<'a> {
    const NAME: &'static str = "FilePosixInformation Entry";

    fn encode(&self, out: &mut Vec<u8>) {
        for (position, record) in self.records.iter().enumerate() {
            let start = out.len();
            out.put_u64_le(0);
            record.about.write(out);
            out.put_u32_le(length32(record.name.len()));
            out.put_slice(record.name);
            if position + 1 < self.records.len() {
                pad_to_8(out, start);
                let next = length32(out.len() - start);
                out[start..start + 4].copy_from_slice(&next.to_le_bytes());
            }
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        Ok(Self {
            records: PosixWalk::new(bytes).collect::<Result<_, _>>()?,
        })
    }
}

/// A security descriptor that holds nothing but a mode (MS-DTYP 2.4.6, with the SID S-1-5-88-3 that stands for the
/// modes of NFS): how a mode is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModeDescriptor {
    /// Bits of access as in `chmod(2)`.
    pub mode: u32,
}

impl ModeDescriptor {
    /// Revision 1; it is in one piece and has a DACL, which begins 20 bytes from here: revision 2, 36 bytes, one
    /// entry. That allows nothing, to 28 bytes' worth of a SID of three parts.
    const HEAD: [u8; 44] = [
        1, 0, 0x04, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, // descriptor
        2, 0, 36, 0, 1, 0, 0, 0, // list
        0, 0, 28, 0, 0, 0, 0, 0, // entry
        1, 3, 0, 0, 0, 0, 0, 5, // SID
    ];
    const NFS: u32 = 88;
    const MODE: u32 = 3;
}

impl Message<'_> for ModeDescriptor {
    const NAME: &'static str = "SECURITY_DESCRIPTOR";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&Self::HEAD);
        out.put_u32_le(Self::NFS);
        out.put_u32_le(Self::MODE);
        out.put_u32_le(self.mode);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let head: [u8; Self::HEAD.len()] = reader.array()?;
        if head != Self::HEAD || reader.u32()? != Self::NFS || reader.u32()? != Self::MODE {
            return Err(reader.malformed(Defect::Invalid("Dacl")));
        }
        Ok(Self {
            mode: reader.u32()?,
        })
    }
}

/// Where a symbolic link leads, as a reparse point says it (MS-FSCC 2.1.2.4, 2.1.2.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkTarget<'a> {
    /// As what it is stored.
    pub kind: LinkKind,
    /// In UTF-16LE. From the peer: may lead anywhere, or be no path.
    pub path: &'a [u8],
}

/// As what a link is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// A symbolic link of SMB, relative to its folder.
    Relative,
    /// One that is not.
    Absolute,
    /// A symbolic link of Windows' NFS server.
    Nfs,
}

impl LinkTarget<'_> {
    const SYMBOLIC_LINK: u32 = 0xA000_000C;
    const OF_NFS: u32 = 0x8000_0014;
    /// `SYMLINK_FLAG_RELATIVE`
    const IS_RELATIVE: u32 = 1;
    /// `NFS_SPECFILE_LNK`
    const NFS_LINK: u64 = 0x014B_4E4C;
    /// What stands before the paths of a symbolic link.
    const FIXED: usize = 12;
}

impl<'a> Message<'a> for LinkTarget<'a> {
    const NAME: &'static str = "REPARSE_DATA_BUFFER";

    fn encode(&self, out: &mut Vec<u8>) {
        let length = length16(self.path.len());
        match self.kind {
            LinkKind::Nfs => {
                out.put_u32_le(Self::OF_NFS);
                out.put_u16_le(length16(8 + self.path.len()));
                out.put_u16_le(0);
                out.put_u64_le(Self::NFS_LINK);
            }
            kind => {
                out.put_u32_le(Self::SYMBOLIC_LINK);
                out.put_u16_le(length16(Self::FIXED + self.path.len()));
                out.put_u16_le(0);
                // The path, and the one for people: the same.
                for (offset, length) in [(0, length), (0, length)] {
                    out.put_u16_le(offset);
                    out.put_u16_le(length);
                }
                out.put_u32_le(match kind {
                    LinkKind::Relative => Self::IS_RELATIVE,
                    _ => 0,
                });
            }
        }
        out.put_slice(self.path);
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let (tag, length) = (reader.u32()?, usize::from(reader.u16()?));
        reader.skip(2)?;
        let mut content = Reader::new(Self::NAME, reader.bytes(length)?);
        let (kind, path) = match tag {
            Self::SYMBOLIC_LINK => {
                let (offset, length) = (content.u16()?, content.u16()?);
                content.skip(4)?;
                let kind = match content.u32()? & Self::IS_RELATIVE {
                    0 => LinkKind::Absolute,
                    _ => LinkKind::Relative,
                };
                content.skip(usize::from(offset))?;
                (kind, content.bytes(usize::from(length))?)
            }
            Self::OF_NFS if content.u64()? == Self::NFS_LINK => {
                (LinkKind::Nfs, content.bytes(length - 8)?)
            }
            _ => return Err(content.malformed(Defect::Invalid("ReparseTag"))),
        };
        if path.is_empty() || !path.len().is_multiple_of(2) {
            return Err(content.malformed(Defect::Invalid("SubstituteNameLength")));
        }
        Ok(Self { kind, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded<'a>(message: &impl Message<'a>) -> Vec<u8> {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        bytes
    }

    #[test]
    fn a_sid_is_bounded_and_is_one() {
        let context = |sid: &[u8]| [&[0; 12], sid, &[1, 0, 0, 0, 0, 0, 0, 0]].concat();
        let decoded =
            |sid: &[u8]| PosixCreateResponse::decode(&context(sid)).map(|it| it.owner.len());
        let parts = |count: u8| [&[1, count][..], &vec![7; 6 + 4 * usize::from(count)]].concat();
        for count in [0, 1, 15] {
            assert_eq!(decoded(&parts(count)), Ok(8 + 4 * usize::from(count)));
        }
        assert!(decoded(&parts(16)).is_err(), "no SID has so many parts");
        assert!(
            decoded(&[2, 0, 0, 0, 0, 0, 0, 0]).is_err(),
            "of another revision"
        );
        assert!(decoded(&[1, 9]).is_err(), "it ends before its parts");
    }

    #[test]
    fn entries_that_overlap_or_are_cut_off_are_errors() {
        let nobody = [1, 0, 0, 0, 0, 0, 0, 0].repeat(2);
        let zeros = [&[0; 80][..], &nobody].concat();
        let about = PosixInformation::decode(&zeros).expect("all is there");
        let record = |name| PosixRecord { about, name };
        let records = vec![record(&b"a\0"[..]), record(&b"b\0"[..])];
        let bytes = encoded(&PosixRecords { records });
        let names = |bytes: &[u8]| {
            let records = PosixRecords::decode(bytes)?.records;
            Ok::<_, Malformed>(
                records
                    .iter()
                    .map(|it| it.to_entry().name)
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(names(&bytes), Ok(vec!["a".to_owned(), "b".to_owned()]));
        let next = |next: u32| [&next.to_le_bytes()[..], &bytes[4..]].concat();
        let length = u32::try_from(bytes.len()).expect("it is short");
        for hostile in [1, 8, 105, length, length + 8, u32::MAX] {
            assert!(names(&next(hostile)).is_err(), "{hostile}");
        }
        const NAME_LENGTH_AT: usize = 8 + 80 + 2 * 8;
        let mut long = bytes.clone();
        long[NAME_LENGTH_AT..NAME_LENGTH_AT + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(names(&long).is_err(), "a name reaches beyond the end");
    }

    #[test]
    fn a_mode_gives_nobody_the_rights_of_others() {
        let about = Posix {
            mode: 0o107_755,
            links: 1,
            reparse_tag: 0,
        };
        assert_eq!(about.access(), 0o755);
        let bytes = encoded(&ModeDescriptor { mode: 0o751 });
        assert_eq!(bytes.len(), 56, "20 of the descriptor, 36 of its list");
        let mut other = bytes.clone();
        other[24] = 2;
        assert!(ModeDescriptor::decode(&other).is_err(), "of two entries");
    }

    #[test]
    fn what_is_no_link_leads_nowhere() {
        let link = LinkTarget {
            kind: LinkKind::Relative,
            path: b"a\0",
        };
        let bytes = encoded(&link);
        let with = |at: usize, value: u16| {
            let mut bytes = bytes.clone();
            bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
            bytes
        };
        assert_eq!(LinkTarget::decode(&bytes), Ok(link));
        for (at, value, why) in [
            (0, 0x1D, "of Windows' Linux layer"),
            (4, 11, "shorter than what stands before its paths"),
            (4, 99, "longer than the message"),
            (8, 2, "its path begins too late"),
            (10, 0, "it has no path"),
            (10, 1, "it has half a letter"),
            (10, u16::MAX, "its path is too long"),
        ] {
            let hostile = with(at, value);
            assert!(LinkTarget::decode(&hostile).is_err(), "{why}");
        }
        // A pipe of Windows' NFS server, and one without a type.
        let mut pipe = encoded(&LinkTarget {
            kind: LinkKind::Nfs,
            ..link
        });
        pipe[8..16].copy_from_slice(&0x4F46_4946_u64.to_le_bytes());
        assert!(LinkTarget::decode(&pipe).is_err());
        assert!(LinkTarget::decode(&[0x14, 0, 0, 0x80, 0, 0, 0, 0]).is_err());
    }
}
