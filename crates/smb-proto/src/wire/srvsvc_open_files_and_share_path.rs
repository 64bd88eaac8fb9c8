//! Which files a server has open for whom, and where a share lies on its disk: procedures of its server service
//! (MS-SRVS 3.1.4.2 and 3.1.4.10).

use bytes::BufMut as _;

use super::dce_rpc::{REFERENT, pointed, put_text, text};
use super::{Message, Reader, length32};
use crate::error::{Defect, Malformed};

/// The arguments of `NetrFileEnum` (MS-SRVS 3.1.4.2), at level 3: paths and users, of whatever path and user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEnumArguments {
    /// The server as `\\name`.
    pub server: String,
    /// Most bytes of the answer; a server may give more.
    pub bytes_max: u32,
}

impl FileEnumArguments {
    /// Number of the procedure.
    pub const OPERATION: u16 = 9;
    const LEVEL: u32 = 3;
}

impl Message<'_> for FileEnumArguments {
    const NAME: &'static str = "NetrFileEnum Request";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u32_le(REFERENT);
        put_text(out, start, &self.server);
        out.put_u64_le(0); // whatever the path, whoever the user
        out.put_u32_le(Self::LEVEL);
        out.put_u32_le(Self::LEVEL);
        out.put_u32_le(REFERENT);
        out.put_u64_le(0); // an empty list
        out.put_u32_le(self.bytes_max);
        out.put_u32_le(0); // from the begin
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let server = pointed(&mut reader)?;
        reader.skip(8)?;
        if (reader.u32()?, reader.u32()?) != (Self::LEVEL, Self::LEVEL) {
            return Err(reader.malformed(Defect::Invalid("Level")));
        }
        reader.skip(12)?;
        let bytes_max = reader.u32()?;
        if reader.u32()? != 0 {
            return Err(reader.malformed(Defect::Invalid("ResumeHandle")));
        }
        Ok(Self { server, bytes_max })
    }
}

/// A file that a server has open for somebody (`FILE_INFO_3`, MS-SRVS 2.2.4.7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFileRecord {
    /// Its path on the server's own disk, as `C:\share\file`. From the peer: may hold anything.
    pub path: String,
    /// Who has it open. From the peer: may hold anything.
    pub user: String,
}

/// The results of `NetrFileEnum` at level 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEnumResults {
    /// In the server's order.
    pub files: Vec<OpenFileRecord>,
    /// Zero, or an error code of Windows: 5 to whoever is no administrator, 234 where these are not all.
    pub status: u32,
}

impl Message<'_> for FileEnumResults {
    const NAME: &'static str = "NetrFileEnum Response";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let count = length32(self.files.len());
        out.put_u32_le(FileEnumArguments::LEVEL);
        out.put_u32_le(FileEnumArguments::LEVEL);
        out.put_u32_le(REFERENT);
        out.put_u32_le(count);
        out.put_u32_le(REFERENT);
        out.put_u32_le(count);
        for _ in &self.files {
            out.put_slice(&[0; 12]); // number, rights and locks
            out.put_u32_le(REFERENT);
            out.put_u32_le(REFERENT);
        }
        for file in &self.files {
            put_text(out, start, &file.path);
            put_text(out, start, &file.user);
        }
        out.put_u32_le(count);
        out.put_u32_le(0); // nothing to go on with
        out.put_u32_le(self.status);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        if (reader.u32()?, reader.u32()?) != (FileEnumArguments::LEVEL, FileEnumArguments::LEVEL) {
            return Err(reader.malformed(Defect::Invalid("Level")));
        }
        let files = match reader.u32()? {
            0 => Vec::new(),
            _ => records(&mut reader)?,
        };
        reader.skip(4)?; // how many there are in all
        if reader.u32()? != 0 {
            reader.skip(4)?;
        }
        let status = reader.u32()?;
        Ok(Self { files, status })
    }
}

fn records(reader: &mut Reader<'_>) -> Result<Vec<OpenFileRecord>, Malformed> {
    let count = reader.u32()?;
    if reader.u32()? == 0 {
        return match count {
            0 => Ok(Vec::new()),
            _ => Err(reader.malformed(Defect::Invalid("EntriesRead"))),
        };
    }
    if reader.u32()? != count {
        return Err(reader.malformed(Defect::Invalid("EntriesRead")));
    }
    // As with shares: a count that is a lie runs out of bytes.
    let mut fixed = Vec::new();
    for _ in 0..count {
        reader.skip(12)?;
        fixed.push((reader.u32()?, reader.u32()?));
    }
    let mut records = Vec::new();
    for (path, user) in fixed {
        let mut text_if = |referent| match referent {
            0 => Ok(String::new()),
            _ => text(reader),
        };
        records.push(OpenFileRecord {
            path: text_if(path)?,
            user: text_if(user)?,
        });
    }
    Ok(records)
}

/// The arguments of `NetrShareGetInfo` (MS-SRVS 3.1.4.10), at level 2: where it lies, among other things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareInfoArguments {
    /// The server as `\\name`.
    pub server: String,
    /// The share.
    pub share: String,
}

impl ShareInfoArguments {
    /// Number of the procedure.
    pub const OPERATION: u16 = 16;
    const LEVEL: u32 = 2;
}

impl Message<'_> for ShareInfoArguments {
    const NAME: &'static str = "NetrShareGetInfo Request";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u32_le(REFERENT);
        put_text(out, start, &self.server);
        put_text(out, start, &self.share);
        out.put_u32_le(Self::LEVEL);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let (server, share) = (pointed(&mut reader)?, text(&mut reader)?);
        if reader.u32()? != Self::LEVEL {
            return Err(reader.malformed(Defect::Invalid("Level")));
        }
        Ok(Self { server, share })
    }
}

/// The results of `NetrShareGetInfo` at level 2 (`SHARE_INFO_2`, MS-SRVS 2.2.4.24), as far as they say where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareInfoResults {
    /// Its folder on the server's own disk. From the peer: may hold anything.
    pub path: String,
    /// Zero, or an error code of Windows.
    pub status: u32,
}

impl Message<'_> for ShareInfoResults {
    const NAME: &'static str = "NetrShareGetInfo Response";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u32_le(ShareInfoArguments::LEVEL);
        out.put_u32_le(REFERENT);
        out.put_slice(&[0; 24]); // no name, files, no remark, and three numbers
        out.put_u32_le(REFERENT);
        out.put_u32_le(0); // no password
        put_text(out, start, &self.path);
        out.put_u32_le(self.status);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        if reader.u32()? != ShareInfoArguments::LEVEL {
            return Err(reader.malformed(Defect::Invalid("Level")));
        }
        let mut path = String::new();
        if reader.u32()? != 0 {
            let name = reader.u32()?;
            reader.skip(4)?;
            let remark = reader.u32()?;
            reader.skip(12)?;
            let there = [name, remark, reader.u32()?, reader.u32()?];
            let mut texts = [const { String::new() }; 4];
            for (text_of, referent) in texts.iter_mut().zip(there) {
                if referent != 0 {
                    *text_of = text(&mut reader)?;
                }
            }
            [_, _, path, _] = texts;
        }
        let status = reader.u32()?;
        Ok(Self { path, status })
    }
}
