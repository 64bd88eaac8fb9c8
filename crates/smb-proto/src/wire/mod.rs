//! The wire format of SMB 2 and 3: hand-written, borrowing, with every length checked.
//!
//! A [`Message`] is the body behind the 64-byte [`Header`]. Offsets inside a body count from the
//! header, as MS-SMB2 has it. Bytes behind what a body refers to are padding and are ignored, as
//! the protocol demands (some servers pad replies); requests shorter than their StructureSize are
//! refused, replies may leave out the filler byte that an odd StructureSize counts.
//!
//! Section numbers in comments are those of MS-SMB2.

mod alternate_data_streams;
mod create;
mod create_contexts;
mod dce_rpc;
mod dfs;
mod echo_cancel_break_error;
mod file_id_and_times;
mod header;
mod information;
mod ioctl;
mod negotiate;
mod posix_extensions;
mod query_directory;
mod read_write_lock_close_flush;
mod session_setup_and_tree_connect;
mod srvsvc_open_files_and_share_path;
mod transform_header;

pub use alternate_data_streams::StreamInformation;
pub use create::{CreateContext, CreateRequest, CreateResponse};
pub use create_contexts::{
    DiskId, DurableGrant, DurableReconnect, DurableRequest, LeaseContext, LeaseVersion2,
    MaximalAccess, context, lease_state,
};
pub use dce_rpc::{
    FRAGMENT_BYTES_MAX, RpcBind, RpcBindReply, RpcCall, RpcReply, SERVER_SERVICE_PIPE,
    ShareEnumArguments, ShareEnumResults, ShareRecord,
};
pub use dfs::{Referral, ReferralRequest, ReferralResponse};
pub use echo_cancel_break_error::{
    BreakNotice, CancelRequest, EchoRequest, EchoResponse, ErrorResponse,
    LeaseBreakAcknowledgement, LeaseBreakNotice, OplockBreakNotice,
};
pub use file_id_and_times::FileId;
pub use header::{
    Command, HEADER_LENGTH, Header, PREFIX_LENGTH, flags, frame_length, frame_prefix,
};
pub use information::{
    AllInformation, BasicInformation, DispositionInformation, EndOfFileInformation,
    FsAttributeInformation, FsFullSizeInformation, QueryDirectoryResponse, QueryInfoRequest,
    QueryInfoResponse, RenameInformation, SetInfoRequest, SetInfoResponse, StandardInformation,
    class,
};
pub use ioctl::{
    CopyChunk, CopyChunks, CopyChunksDone, ExtentsToDuplicate, FileRange, InterfaceRecord,
    IoctlRequest, IoctlResponse, NetworkInterfaces, ResumeKey, ValidateNegotiateRequest,
    ValidateNegotiateResponse, control,
};
pub use negotiate::{
    NegotiateContext, NegotiateRequest, NegotiateResponse, SMB1_REPLY_MIN, capability, dialect,
    is_smb1, security_mode, smb1_negotiate,
};
pub(crate) use posix_extensions::PosixWalk;
pub use posix_extensions::{
    LinkKind, LinkTarget, ModeDescriptor, POSIX_EXTENSIONS_AVAILABLE, POSIX_TAG,
    PosixCreateRequest, PosixCreateResponse, PosixInformation, PosixRecord, PosixRecords,
};
pub(crate) use query_directory::DirectoryWalk;
pub use query_directory::{DirectoryRecord, DirectoryRecords, QueryDirectoryRequest};
pub use read_write_lock_close_flush::{
    CloseRequest, CloseResponse, FlushRequest, FlushResponse, LOCK_EXCLUSIVE, LOCK_UNLOCK,
    LockRequest, LockResponse, READ_DATA_OFFSET, ReadRequest, ReadResponse, WRITE_DATA_OFFSET,
    WriteRequest, WriteResponse,
};
pub use session_setup_and_tree_connect::{
    LogoffRequest, LogoffResponse, SessionSetupRequest, SessionSetupResponse, TreeConnectRequest,
    TreeConnectResponse, TreeDisconnectRequest, TreeDisconnectResponse, session_flags,
    setup_request_flags,
};
pub use srvsvc_open_files_and_share_path::{
    FileEnumArguments, FileEnumResults, OpenFileRecord, ShareInfoArguments, ShareInfoResults,
};
pub use transform_header::TransformHeader;

use crate::error::{Defect, Malformed};

/// The body of a message, or a structure inside one.
pub trait Message<'a>: Sized {
    /// Its name in messages to people.
    const NAME: &'static str;

    /// Appends it to `out`; it starts where `out` ends, and a header stands before it.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads it from bytes that start with it.
    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed>;
}

/// One entry of [`CODECS`]: a message with its type erased.
#[derive(Debug, Clone, Copy)]
pub struct Codec {
    /// The message's name.
    pub name: &'static str,
    /// Decodes and encodes again.
    pub recode: fn(&[u8]) -> Result<Vec<u8>, Malformed>,
}

macro_rules! codecs {
    ($($message:ident),* $(,)?) => {
        /// All messages; tests and fuzzing go through this list.
        pub const CODECS: &[Codec] = &[$(Codec {
            name: <$message as Message<'static>>::NAME,
            recode: |bytes| {
                let message: $message = Message::decode(bytes)?;
                let mut out = Vec::new();
                message.encode(&mut out);
                Ok(out)
            },
        }),*];
    };
}

codecs![
    Header,
    TransformHeader,
    NegotiateRequest,
    NegotiateResponse,
    SessionSetupRequest,
    SessionSetupResponse,
    LogoffRequest,
    LogoffResponse,
    TreeConnectRequest,
    TreeConnectResponse,
    TreeDisconnectRequest,
    TreeDisconnectResponse,
    CreateRequest,
    CreateResponse,
    CloseRequest,
    CloseResponse,
    FlushRequest,
    FlushResponse,
    LockRequest,
    LockResponse,
    ReadRequest,
    ReadResponse,
    WriteRequest,
    WriteResponse,
    QueryDirectoryRequest,
    QueryDirectoryResponse,
    DirectoryRecords,
    QueryInfoRequest,
    QueryInfoResponse,
    SetInfoRequest,
    SetInfoResponse,
    BasicInformation,
    StandardInformation,
    EndOfFileInformation,
    DispositionInformation,
    RenameInformation,
    FsFullSizeInformation,
    IoctlRequest,
    IoctlResponse,
    NetworkInterfaces,
    ValidateNegotiateRequest,
    ValidateNegotiateResponse,
    ResumeKey,
    CopyChunks,
    CopyChunksDone,
    FileRange,
    ExtentsToDuplicate,
    FsAttributeInformation,
    RpcBind,
    RpcBindReply,
    RpcCall,
    RpcReply,
    ShareEnumArguments,
    ShareEnumResults,
    EchoRequest,
    EchoResponse,
    CancelRequest,
    OplockBreakNotice,
    LeaseBreakNotice,
    LeaseBreakAcknowledgement,
    MaximalAccess,
    DiskId,
    LeaseContext,
    DurableRequest,
    DurableGrant,
    DurableReconnect,
    ErrorResponse,
    AllInformation,
    StreamInformation,
    ReferralRequest,
    ReferralResponse,
    PosixCreateRequest,
    PosixCreateResponse,
    PosixInformation,
    PosixRecords,
    ModeDescriptor,
    LinkTarget,
    FileEnumArguments,
    FileEnumResults,
    ShareInfoArguments,
    ShareInfoResults,
];

/// Text as SMB writes it.
pub mod utf16 {
    /// UTF-16LE without a NUL.
    pub fn encode(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    /// UTF-16LE to text; what is no Unicode becomes U+FFFD, an odd last byte is dropped.
    pub fn decode(bytes: &[u8]) -> String {
        // names in folders are many, and most take as many bytes as they have units
        let mut text = String::with_capacity(bytes.len() / 2);
        text.extend(
            char::decode_utf16(units(bytes))
                .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)),
        );
        text
    }

    /// The units of UTF-16LE; an odd last byte is dropped.
    pub fn units(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
        let pairs = bytes.chunks_exact(2);
        pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
    }

    /// Whether something in `text`, which was decoded from these bytes, only stands for what is no
    /// Unicode.
    pub fn is_replaced(bytes: &[u8], text: &str) -> bool {
        text.contains(char::REPLACEMENT_CHARACTER) && !text.encode_utf16().eq(units(bytes))
    }
}

/// Reads numbers from the front of a body.
struct Reader<'a> {
    message: &'static str,
    body: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(message: &'static str, body: &'a [u8]) -> Self {
        Self {
            message,
            body,
            at: 0,
        }
    }

    fn malformed(&self, defect: Defect) -> Malformed {
        Malformed {
            message: self.message,
            defect,
        }
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let rest = &self.body[self.at..];
        let bytes = rest
            .get(..length)
            .ok_or_else(|| self.malformed(Defect::Truncated))?;
        self.at += length;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    fn skip(&mut self, length: usize) -> Result<(), Malformed> {
        self.bytes(length).map(drop)
    }

    fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    fn structure_size(&mut self, expected: u16) -> Result<(), Malformed> {
        match self.u16()? {
            size if size == expected => Ok(()),
            _ => Err(self.malformed(Defect::Invalid("StructureSize"))),
        }
    }

    /// For requests: the filler byte that an odd StructureSize counts must be there.
    fn at_least(&self, length: usize) -> Result<(), Malformed> {
        if self.body.len() < length {
            return Err(self.malformed(Defect::Truncated));
        }
        Ok(())
    }

    /// What follows the record that was read, the next of which begins so far behind the begin of this one; zero: there
    /// is none.
    fn next_record(&self, next: usize) -> Result<&'a [u8], Malformed> {
        match self.body.get(next..) {
            _ if next == 0 => Ok(&[]),
            _ if next < self.at => Err(self.malformed(Defect::OutOfBounds("NextEntryOffset"))),
            Some(rest) if !rest.is_empty() => Ok(rest),
            _ => Err(self.malformed(Defect::OutOfBounds("NextEntryOffset"))),
        }
    }

    /// What an offset (the field, from the header on) and a length refer to. It must lie behind all that was
    /// read so far, so call this when the fixed part has been read.
    fn referred(
        &self,
        field: &'static str,
        offset: u32,
        length: u32,
    ) -> Result<&'a [u8], Malformed> {
        if length == 0 {
            return Ok(&[]);
        }
        let start = index(offset)
            .checked_sub(HEADER_LENGTH)
            .filter(|start| *start >= self.at)
            .ok_or_else(|| self.malformed(Defect::OutOfBounds(field)))?;
        start
            .checked_add(index(length))
            .and_then(|end| self.body.get(start..end))
            .ok_or_else(|| self.malformed(Defect::OutOfBounds(field)))
    }
}

/// A number of the wire as an index; `usize` has at least 32 bits wherever this runs.
fn index(number: u32) -> usize {
    number as usize
}

/// A length for the wire. What is encoded here is at most a frame, so it always fits; a longer
/// one would give a message that its receiver refuses.
fn length32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn length16(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// Appends zeros until `out[start..]` is a multiple of eight bytes long. Headers are eight-byte
/// aligned, so counting from the body is the same as counting from the header.
fn pad_to_8(out: &mut Vec<u8>, start: usize) {
    let length = (out.len() - start).next_multiple_of(8);
    out.resize(start + length, 0);
}

#[cfg(test)]
mod tests;
