//! Referrals of a distributed file system (MS-DFSC 2.2.2, 2.2.4, 2.2.5): the input and the output of
//! [`control::DFS_GET_REFERRALS`](super::control::DFS_GET_REFERRALS).

use bytes::BufMut as _;

use super::{Message, Reader, length16, utf16};
use crate::error::{Defect, Malformed};

/// The input (2.2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferralRequest {
    /// The newest version of referrals that is understood.
    pub version_max: u16,
    /// As in `\server\share\folder`.
    pub path: String,
}

impl Message<'_> for ReferralRequest {
    const NAME: &'static str = "REQ_GET_DFS_REFERRAL";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(self.version_max);
        out.put_slice(&utf16::encode(&self.path));
        out.put_u16_le(0);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        Ok(Self {
            version_max: reader.u16()?,
            path: text(&reader, reader.at)?,
        })
    }
}

/// The output (2.2.4), as far as it names where something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferralResponse {
    /// How many bytes of the path that was asked for, in UTF-16, the targets stand for.
    pub path_consumed: u16,
    /// In the server's order, best first.
    pub referrals: Vec<Referral>,
}

/// One entry of version 3 or 4 (2.2.5.3, 2.2.5.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Referral {
    /// 3 or 4.
    pub version: u16,
    /// What it leads to is a root, which may refer further; otherwise a link.
    pub is_root: bool,
    /// How long it holds.
    pub time_to_live_seconds: u32,
    /// As in `\server\share\folder`.
    pub target: String,
}

impl ReferralResponse {
    /// Entries that are read; what follows them is not.
    const COUNT_MAX: usize = 64;
}

impl Referral {
    /// In front of the strings: what all versions have, the place of three of these, and a GUID.
    const LENGTH: usize = 34;
    /// The entry names domains or their controllers, and no target.
    const NAME_LIST: u16 = 0x2;
    const ROOT: u16 = 1;
    const LINK: u16 = 0;

    fn encode(&self, target_at: usize, out: &mut Vec<u8>) {
        out.put_u16_le(self.version);
        out.put_u16_le(length16(Self::LENGTH));
        out.put_u16_le(if self.is_root { Self::ROOT } else { Self::LINK });
        out.put_u16_le(0);
        out.put_u32_le(self.time_to_live_seconds);
        // The path that was asked for, in its long and its short form; nothing depends on them.
        for _ in 0..3 {
            out.put_u16_le(length16(target_at));
        }
        out.put_slice(&[0; 16]);
    }

    /// The entry, if it names a target, and how long it is.
    fn decode(bytes: &[u8]) -> Result<(Option<Self>, usize), Malformed> {
        let mut reader = Reader::new(ReferralResponse::NAME, bytes);
        let version = reader.u16()?;
        if ![3, 4].contains(&version) {
            return Err(reader.malformed(Defect::Invalid("VersionNumber")));
        }
        let size = usize::from(reader.u16()?);
        let is_root = reader.u16()? == Self::ROOT;
        let flags = reader.u16()?;
        let time_to_live_seconds = reader.u32()?;
        if flags & Self::NAME_LIST != 0 {
            reader.skip(6)?;
            return Ok((None, size.max(reader.at)));
        }
        reader.skip(4)?;
        let target_at = usize::from(reader.u16()?);
        let entry = Self {
            version,
            is_root,
            time_to_live_seconds,
            target: text(&reader, target_at)?,
        };
        // The GUID is missing where the server says so.
        Ok((Some(entry), size.max(reader.at)))
    }
}

impl Message<'_> for ReferralResponse {
    const NAME: &'static str = "RESP_GET_DFS_REFERRAL";

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u16_le(self.path_consumed);
        out.put_u16_le(length16(self.referrals.len()));
        out.put_u32_le(0);
        let targets: Vec<_> = (self.referrals.iter())
            .map(|referral| utf16::encode(&referral.target))
            .collect();
        let mut target_at = self.referrals.len() * Referral::LENGTH;
        for (referral, target) in self.referrals.iter().zip(&targets) {
            referral.encode(target_at, out);
            target_at += target.len() + 2;
            target_at -= Referral::LENGTH;
        }
        for target in &targets {
            out.put_slice(target);
            out.put_u16_le(0);
        }
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let path_consumed = reader.u16()?;
        let count = usize::from(reader.u16()?);
        reader.skip(4)?;
        let mut rest = &bytes[reader.at..];
        let mut referrals = Vec::new();
        for _ in 0..count.min(Self::COUNT_MAX) {
            let (referral, size) = Referral::decode(rest)?;
            referrals.extend(referral);
            rest = rest.get(size..).unwrap_or_default();
        }
        Ok(Self {
            path_consumed,
            referrals,
        })
    }
}

/// The text that begins there and ends with a NUL.
fn text(reader: &Reader<'_>, at: usize) -> Result<String, Malformed> {
    /// Longer than any path of which something could be opened.
    const UNITS_MAX: usize = 2048;
    let bytes = reader.body.get(at..).unwrap_or_default();
    let end = utf16::units(bytes)
        .take(UNITS_MAX)
        .position(|unit| unit == 0);
    let end = end.ok_or_else(|| reader.malformed(Defect::OutOfBounds("NetworkAddressOffset")))?;
    Ok(utf16::decode(&bytes[..end * 2]))
}
