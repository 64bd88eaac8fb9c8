//! Remote procedure calls over a named pipe (DCE 1.1 RPC with MS-RPCE), as much of them as it takes
//! to ask a server about itself, and for its shares (MS-SRVS 3.1.4.8). Lengths inside come from the peer and are
//! checked one by one; nothing is allocated for more than what is there.

use bytes::BufMut as _;

use super::{Message, Reader, index, length16, length32, utf16};
use crate::error::{Defect, Malformed};

/// The pipe on which a server answers questions about itself.
pub const SERVER_SERVICE_PIPE: &str = "srvsvc";
/// Most bytes of one fragment, either way; what Windows takes and every server must.
pub const FRAGMENT_BYTES_MAX: u16 = 4280;

/// srvsvc 3.0: 4b324fc8-1670-01d3-1278-5a47bf6ee188.
const SERVER_SERVICE: [u8; 20] = [
    0xC8, 0x4F, 0x32, 0x4B, 0x70, 0x16, 0xD3, 0x01, 0x12, 0x78, 0x5A, 0x47, 0xBF, 0x6E, 0xE1, 0x88,
    3, 0, 0, 0,
];
/// NDR 2.0: 8a885d04-1ceb-11c9-9fe8-08002b104860.
const NDR: [u8; 20] = [
    0x04, 0x5D, 0x88, 0x8A, 0xEB, 0x1C, 0xC9, 0x11, 0x9F, 0xE8, 0x08, 0x00, 0x2B, 0x10, 0x48, 0x60,
    2, 0, 0, 0,
];
const HEAD_BYTES: usize = 16;
const FIRST_AND_LAST: u8 = 3;
const LAST: u8 = 2;
const LITTLE_ENDIAN: [u8; 4] = [0x10, 0, 0, 0];
/// Any value that is not zero says that there is something.
pub(super) const REFERENT: u32 = 0x0002_0000;

/// Kinds of packets (C706 12.6.1).
mod kind {
    pub(super) const REQUEST: u8 = 0;
    pub(super) const RESPONSE: u8 = 2;
    pub(super) const FAULT: u8 = 3;
    pub(super) const BIND: u8 = 11;
    pub(super) const BIND_ACK: u8 = 12;
    pub(super) const BIND_NAK: u8 = 13;
}

/// Appends a packet that is one whole message, with what `body` appends in it.
fn packet(out: &mut Vec<u8>, kind: u8, call: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.put_slice(&[5, 0, kind, FIRST_AND_LAST]);
    out.put_slice(&LITTLE_ENDIAN);
    out.put_u32_le(0); // length, and no proof of who asks
    out.put_u32_le(call);
    body(out);
    let length = length16(out.len() - start).to_le_bytes();
    out[start + 8..start + 10].copy_from_slice(&length);
}

struct Head {
    kind: u8,
    flags: u8,
    call: u32,
}

/// The head of a packet, and its body.
fn unpack<'a>(name: &'static str, bytes: &'a [u8]) -> Result<(Head, Reader<'a>), Malformed> {
    let mut reader = Reader::new(name, bytes);
    if reader.array()? != [5, 0] {
        return Err(reader.malformed(Defect::Invalid("rpc_vers")));
    }
    let [kind, flags] = reader.array()?;
    if reader.array()? != LITTLE_ENDIAN {
        return Err(reader.malformed(Defect::Invalid("packed_drep")));
    }
    let length = usize::from(reader.u16()?);
    if reader.u16()? != 0 {
        return Err(reader.malformed(Defect::Invalid("auth_length")));
    }
    let call = reader.u32()?;
    let body = bytes.get(HEAD_BYTES..length);
    let body = body.ok_or_else(|| reader.malformed(Defect::OutOfBounds("frag_length")))?;
    Ok((Head { kind, flags, call }, Reader::new(name, body)))
}

/// The first packet on a pipe: we want to talk to the server service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcBind {
    /// Number of the call; its reply has the same.
    pub call: u32,
}

impl Message<'_> for RpcBind {
    const NAME: &'static str = "RPC bind";

    fn encode(&self, out: &mut Vec<u8>) {
        packet(out, kind::BIND, self.call, |out| {
            out.put_u16_le(FRAGMENT_BYTES_MAX);
            out.put_u16_le(FRAGMENT_BYTES_MAX);
            out.put_u32_le(0); // a new association
            out.put_u32_le(1); // one context
            out.put_u16_le(0); // which is number 0
            out.put_u16_le(1); // and has one way to write data
            out.put_slice(&SERVER_SERVICE);
            out.put_slice(&NDR);
        });
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let (head, mut reader) = unpack(Self::NAME, bytes)?;
        reader.skip(16)?;
        let syntaxes = (reader.array()?, reader.array()?);
        if head.kind != kind::BIND || syntaxes != (SERVER_SERVICE, NDR) {
            return Err(reader.malformed(Defect::Invalid("PTYPE")));
        }
        Ok(Self { call: head.call })
    }
}

/// The answer to [`RpcBind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcBindReply {
    /// As in the request.
    pub call: u32,
    /// Whether it will talk.
    pub accepted: bool,
}

impl Message<'_> for RpcBindReply {
    const NAME: &'static str = "RPC bind_ack";

    fn encode(&self, out: &mut Vec<u8>) {
        if !self.accepted {
            return packet(out, kind::BIND_NAK, self.call, |out| out.put_u32_le(0));
        }
        packet(out, kind::BIND_ACK, self.call, |out| {
            out.put_u16_le(FRAGMENT_BYTES_MAX);
            out.put_u16_le(FRAGMENT_BYTES_MAX);
            out.put_u32_le(1); // the association
            out.put_u32_le(0); // no second address, and padding
            out.put_u32_le(1); // one result
            out.put_u32_le(0); // which is yes
            out.put_slice(&NDR);
        });
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let (head, mut reader) = unpack(Self::NAME, bytes)?;
        let call = head.call;
        match head.kind {
            kind::BIND_ACK => {}
            kind::BIND_NAK => {
                reader.skip(4)?;
                return Ok(Self {
                    call,
                    accepted: false,
                });
            }
            _ => return Err(reader.malformed(Defect::Invalid("PTYPE"))),
        }
        reader.skip(8)?;
        let address = usize::from(reader.u16()?);
        reader.skip(address)?;
        align(&mut reader)?;
        let results = reader.u8()?;
        reader.skip(3)?;
        let result = reader.u16()?;
        reader.skip(2)?;
        let syntax: [u8; 20] = reader.array()?;
        let accepted = results == 1 && result == 0 && syntax == NDR;
        Ok(Self { call, accepted })
    }
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcCall<'a> {
    /// Its number; its reply has the same.
    pub call: u32,
    /// The number of the procedure.
    pub operation: u16,
    /// Its arguments.
    pub arguments: &'a [u8],
}

impl<'a> Message<'a> for RpcCall<'a> {
    const NAME: &'static str = "RPC Request";

    fn encode(&self, out: &mut Vec<u8>) {
        packet(out, kind::REQUEST, self.call, |out| {
            out.put_u32_le(length32(self.arguments.len()));
            out.put_u16_le(0);
            out.put_u16_le(self.operation);
            out.put_slice(self.arguments);
        });
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (head, mut reader) = unpack(Self::NAME, bytes)?;
        if head.kind != kind::REQUEST {
            return Err(reader.malformed(Defect::Invalid("PTYPE")));
        }
        reader.skip(6)?;
        Ok(Self {
            call: head.call,
            operation: reader.u16()?,
            arguments: &reader.body[reader.at..],
        })
    }
}

/// The answer to a call, or a fragment of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RpcReply<'a> {
    /// As in the call.
    pub call: u32,
    /// Whether no fragment follows.
    pub last: bool,
    /// The results or the next part of them, or the code of a fault.
    pub results: Result<&'a [u8], u32>,
}

impl<'a> Message<'a> for RpcReply<'a> {
    const NAME: &'static str = "RPC response";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        match self.results {
            Ok(results) => packet(out, kind::RESPONSE, self.call, |out| {
                out.put_u32_le(length32(results.len()));
                out.put_u32_le(0); // context, and nothing cancelled
                out.put_slice(results);
            }),
            Err(fault) => packet(out, kind::FAULT, self.call, |out| {
                out.put_u64_le(0);
                out.put_u32_le(fault);
                out.put_u32_le(0);
            }),
        }
        if !self.last {
            out[start + 3] &= !LAST;
        }
    }

    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (head, mut reader) = unpack(Self::NAME, bytes)?;
        reader.skip(8)?;
        let results = match head.kind {
            kind::RESPONSE => Ok(&reader.body[reader.at..]),
            kind::FAULT => Err(reader.u32()?),
            _ => return Err(reader.malformed(Defect::Invalid("PTYPE"))),
        };
        Ok(Self {
            call: head.call,
            last: head.flags & LAST != 0,
            results,
        })
    }
}

/// The arguments of `NetrShareEnum` (MS-SRVS 3.1.4.8), at level 1: names, types and comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareEnumArguments {
    /// The server as `\\name`.
    pub server: String,
    /// Zero, or what the last answer said to go on with.
    pub resume: u32,
}

impl ShareEnumArguments {
    /// Number of the procedure.
    pub const OPERATION: u16 = 15;
    const LEVEL: u32 = 1;
}

impl Message<'_> for ShareEnumArguments {
    const NAME: &'static str = "NetrShareEnum Request";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u32_le(REFERENT);
        put_text(out, start, &self.server);
        out.put_u32_le(Self::LEVEL);
        out.put_u32_le(Self::LEVEL);
        out.put_u32_le(REFERENT);
        out.put_u64_le(0); // an empty list
        out.put_u32_le(u32::MAX); // as many as there are
        out.put_u32_le(REFERENT);
        out.put_u32_le(self.resume);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let server = pointed(&mut reader)?;
        let levels = (reader.u32()?, reader.u32()?);
        if levels != (Self::LEVEL, Self::LEVEL) {
            return Err(reader.malformed(Defect::Invalid("Level")));
        }
        reader.skip(16)?;
        let resume = match reader.u32()? {
            0 => 0,
            _ => reader.u32()?,
        };
        Ok(Self { server, resume })
    }
}

/// One share of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareRecord {
    /// Its name. From the peer: may hold anything.
    pub name: String,
    /// See [`ShareRecord::KIND`]; other bits say that it is special or temporary.
    pub kind: u32,
    /// What somebody wrote about it. From the peer: may hold anything.
    pub comment: String,
}

impl ShareRecord {
    /// The bits that say what it is: 0 files, 1 a printer, 2 a device, 3 pipes (MS-SRVS 2.2.2.4).
    pub const KIND: u32 = 0xFF;
    /// It is there for administrators or the protocol itself.
    pub const SPECIAL: u32 = 0x8000_0000;
}

/// The results of `NetrShareEnum` at level 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareEnumResults {
    /// In the server's order.
    pub shares: Vec<ShareRecord>,
    /// What to go on with, if there are more.
    pub resume: u32,
    /// Zero, or an error code of Windows; see [`ShareEnumResults::MORE_DATA`].
    pub status: u32,
}

impl ShareEnumResults {
    /// `ERROR_MORE_DATA`: these are not all.
    pub const MORE_DATA: u32 = 234;
}

impl Message<'_> for ShareEnumResults {
    const NAME: &'static str = "NetrShareEnum Response";

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let count = length32(self.shares.len());
        out.put_u32_le(ShareEnumArguments::LEVEL);
        out.put_u32_le(ShareEnumArguments::LEVEL);
        out.put_u32_le(REFERENT);
        out.put_u32_le(count);
        out.put_u32_le(REFERENT);
        out.put_u32_le(count);
        for share in &self.shares {
            out.put_u32_le(REFERENT);
            out.put_u32_le(share.kind);
            out.put_u32_le(REFERENT);
        }
        for share in &self.shares {
            put_text(out, start, &share.name);
            put_text(out, start, &share.comment);
        }
        out.put_u32_le(count);
        out.put_u32_le(REFERENT);
        out.put_u32_le(self.resume);
        out.put_u32_le(self.status);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(Self::NAME, bytes);
        let levels = (reader.u32()?, reader.u32()?);
        if levels != (ShareEnumArguments::LEVEL, ShareEnumArguments::LEVEL) {
            return Err(reader.malformed(Defect::Invalid("Level")));
        }
        let shares = match reader.u32()? {
            0 => Vec::new(),
            _ => share_records(&mut reader)?,
        };
        reader.skip(4)?; // how many there are in all
        let resume = match reader.u32()? {
            0 => 0,
            _ => reader.u32()?,
        };
        let status = reader.u32()?;
        Ok(Self {
            shares,
            resume,
            status,
        })
    }
}

fn share_records(reader: &mut Reader<'_>) -> Result<Vec<ShareRecord>, Malformed> {
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
    // First what has a fixed length, then the texts; a count that is a lie runs out of bytes.
    let mut fixed = Vec::new();
    for _ in 0..count {
        fixed.push((reader.u32()?, reader.u32()?, reader.u32()?));
    }
    let mut records = Vec::new();
    for (name, kind, comment) in fixed {
        let mut text_if = |referent| match referent {
            0 => Ok(String::new()),
            _ => text(reader),
        };
        records.push(ShareRecord {
            name: text_if(name)?,
            kind,
            comment: text_if(comment)?,
        });
    }
    Ok(records)
}

/// Texts and numbers begin at multiples of four bytes.
fn align(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    reader.skip(reader.at.next_multiple_of(4) - reader.at)
}

/// A text behind a pointer, which may point to none.
pub(super) fn pointed(reader: &mut Reader<'_>) -> Result<String, Malformed> {
    match reader.u32()? {
        0 => Ok(String::new()),
        _ => text(reader),
    }
}

/// A text with its length, twice, and a NUL (C706 14.3.4.2).
pub(super) fn text(reader: &mut Reader<'_>) -> Result<String, Malformed> {
    let room = reader.u32()?;
    let offset = reader.u32()?;
    let units = reader.u32()?;
    if offset != 0 || units > room {
        return Err(reader.malformed(Defect::Invalid("actual_count")));
    }
    let length = index(units).checked_mul(2);
    let length = length.ok_or_else(|| reader.malformed(Defect::TooLarge("actual_count")))?;
    let mut text = utf16::decode(reader.bytes(length)?);
    // A server of Go's pads it with more than one.
    if let Some(end) = text.find('\0') {
        text.truncate(end);
    }
    align(reader)?;
    Ok(text)
}

pub(super) fn put_text(out: &mut Vec<u8>, start: usize, text: &str) {
    let bytes = utf16::encode(text);
    let units = length32(bytes.len() / 2 + 1);
    out.put_u32_le(units);
    out.put_u32_le(0);
    out.put_u32_le(units);
    out.put_slice(&bytes);
    out.put_u16_le(0);
    let length = (out.len() - start).next_multiple_of(4);
    out.resize(start + length, 0);
}
