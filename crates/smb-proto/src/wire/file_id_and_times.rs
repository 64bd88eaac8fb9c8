//! What an open file is called, and its times, as several messages have them (2.2.14.1).

use bytes::BufMut as _;

use super::Reader;
use crate::error::Malformed;
use crate::session::FileTimes;

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

    pub(super) fn encode(self, out: &mut Vec<u8>) {
        out.put_u64_le(self.persistent);
        out.put_u64_le(self.volatile);
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            persistent: reader.u64()?,
            volatile: reader.u64()?,
        })
    }
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
