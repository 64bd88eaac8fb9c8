//! IOCTL: interfaces, referrals, copies on the server, holes, links, and pipes.

use std::ops::Range;

use locale::say;

use super::path_encoding::name_bytes;
use super::{Prepared, encoded};
use crate::error::{Error, NtStatus, Result};
use crate::multichannel_plan::ServerInterface;
use crate::session::locked_state::{State, TreeId};
use crate::session::request_types::{Reply, Request};
use crate::wire::{
    Command, CopyChunk, CopyChunks, CopyChunksDone, ExtentsToDuplicate, FileId, FileRange,
    HEADER_LENGTH, Header, InterfaceRecord, IoctlRequest, IoctlResponse, LinkKind, LinkTarget,
    Message as _, NetworkInterfaces, ReadRequest, ReadResponse, ReferralRequest, ReferralResponse,
    ResumeKey, control, utf16,
};

const INTERFACES_BYTES_MAX: u32 = 1 << 16;
const REFERRALS_BYTES_MAX: u32 = 1 << 16;
/// More than the longest path that Unix has.
const LINK_BYTES_MAX: u32 = 1 << 16;
/// Of the 4096 ranges that one credit pays for.
const RANGES_BYTES_MAX: u32 = 1 << 16;

pub(super) fn prepare(state: &State, request: &Request) -> Result<Prepared> {
    const KEY_BYTES_MAX: u32 = 64;
    const DONE_BYTES_MAX: u32 = 12;
    Ok(match request {
        Request::Interfaces { tree } => interface_list(state.tree(*tree)?.id),
        Request::Referrals { tree, path } => referrals(state.tree(*tree)?.id, path)?,
        Request::ResumeKey { file } => {
            let code = control::REQUEST_RESUME_KEY;
            file_control(state.file(*file)?, code, &[], KEY_BYTES_MAX)
        }
        Request::CopyChunks { to, key, chunks } => {
            let input = encoded(&CopyChunks {
                key: *key,
                chunks: chunks.clone(),
            });
            let code = control::COPY_CHUNKS;
            file_control(state.file(*to)?, code, &input, DONE_BYTES_MAX)
        }
        Request::Clone { from, to, range } => {
            let (_, source) = state.file(*from)?;
            let input = encoded(&same_range(source, range));
            file_control(state.file(*to)?, control::DUPLICATE_EXTENTS, &input, 0)
        }
        Request::SetSparse { file } => {
            file_control(state.file(*file)?, control::SET_SPARSE, &[], 0)
        }
        Request::Allocated { file, range } => {
            let range = range.clone();
            let input = encoded(&FileRange { range });
            let code = control::QUERY_ALLOCATED_RANGES;
            file_control(state.file(*file)?, code, &input, RANGES_BYTES_MAX)
        }
        Request::ReadLink { file } => {
            let code = control::GET_REPARSE_POINT;
            file_control(state.file(*file)?, code, &[], LINK_BYTES_MAX)
        }
        Request::MakeLink { file, target } => {
            let input = encoded(&LinkTarget {
                kind: LinkKind::Relative,
                path: &name_bytes(target)?,
            });
            file_control(state.file(*file)?, control::SET_REPARSE_POINT, &input, 0)
        }
        Request::Transceive {
            pipe,
            input,
            bytes_max,
        } => {
            let code = control::PIPE_TRANSCEIVE;
            file_control(state.file(*pipe)?, code, input, *bytes_max)
        }
        Request::ReadPipe { pipe, bytes_max } => read_pipe(state.file(*pipe)?, *bytes_max),
        _ => return Err(Error::InvalidRequest(say("invalid-request.kind"))),
    })
}

/// Asks which interfaces the server has.
fn interface_list(tree_id: TreeId) -> Prepared {
    let message = IoctlRequest {
        control: control::QUERY_NETWORK_INTERFACE_INFO,
        file: FileId::NONE,
        input: &[],
        output_max: INTERFACES_BYTES_MAX,
    };
    let prepared = Prepared::new(Command::IOCTL, tree_id, &message);
    Prepared {
        payload: INTERFACES_BYTES_MAX,
        ..prepared
    }
}

/// Asks where something is that a share only refers to.
fn referrals(tree_id: TreeId, path: &str) -> Result<Prepared> {
    /// The newest version that there is.
    const VERSION_MAX: u16 = 4;
    // Longer than any path that is sent.
    name_bytes(path)?;
    let input = encoded(&ReferralRequest {
        version_max: VERSION_MAX,
        path: path.to_owned(),
    });
    let code = control::DFS_GET_REFERRALS;
    let about = (tree_id, FileId::NONE);
    Ok(file_control(about, code, &input, REFERRALS_BYTES_MAX))
}

/// Both files have it at the same place.
fn same_range(source: FileId, range: &Range<u64>) -> ExtentsToDuplicate {
    ExtentsToDuplicate {
        source,
        from: range.start,
        to: range.start,
        length: range.end.saturating_sub(range.start),
    }
}

/// Asks for more of an answer on a pipe.
fn read_pipe((tree_id, file): (TreeId, FileId), bytes_max: u32) -> Prepared {
    let message = ReadRequest {
        length: bytes_max,
        offset: 0,
        file,
    };
    Prepared {
        payload: bytes_max,
        ..Prepared::new(Command::READ, tree_id, &message)
    }
}

/// An IOCTL on an open file.
fn file_control(
    (tree_id, file): (TreeId, FileId),
    control: u32,
    input: &[u8],
    output_max: u32,
) -> Prepared {
    let message = IoctlRequest {
        control,
        file,
        input,
        output_max,
    };
    Prepared {
        payload: output_max.max(u32::try_from(input.len()).unwrap_or(u32::MAX)),
        ..Prepared::new(Command::IOCTL, tree_id, &message)
    }
}

/// What the server says where it has done it.
pub(super) fn reply(
    state: &mut State,
    request: &Request,
    header: &Header,
    body: &[u8],
) -> Result<Reply> {
    Ok(match request {
        Request::Interfaces { .. } => Reply::Interfaces(interfaces(body)?),
        Request::Referrals { .. } => Reply::Referrals(referred(body)?),
        Request::ResumeKey { .. } => {
            Reply::ResumeKey(ResumeKey::decode(IoctlResponse::decode(body)?.output)?.key)
        }
        Request::CopyChunks { to, chunks, .. } => {
            let done = CopyChunksDone::decode(IoctlResponse::decode(body)?.output)?;
            for end in ends_of_copied(chunks, done.total_bytes) {
                state.note_written(*to, end);
            }
            Reply::Copied(done)
        }
        Request::Clone { to, range, .. } => {
            state.note_written(*to, range.end);
            Reply::Done
        }
        Request::Allocated { .. } => Reply::Allocated {
            ranges: ranges(IoctlResponse::decode(body)?.output)?,
            more: header.status == NtStatus::BUFFER_OVERFLOW,
        },
        Request::ReadLink { .. } => Reply::Link(target(IoctlResponse::decode(body)?.output)),
        Request::Transceive { bytes_max, .. } => {
            from_pipe(IoctlResponse::decode(body)?.output, *bytes_max)?
        }
        Request::ReadPipe { bytes_max, .. } => {
            from_pipe(ReadResponse::decode(body)?.data, *bytes_max)?
        }
        _ => Reply::Done,
    })
}

/// What a server says that refuses to copy so much at once (2.2.32.1); any other refusal says
/// nothing.
pub(super) fn copy_limits(message: &[u8]) -> Option<CopyChunksDone> {
    let body = message.get(HEADER_LENGTH..)?;
    CopyChunksDone::decode(IoctlResponse::decode(body).ok()?.output).ok()
}

/// Up to where the target has each of the chunks of which the server says that it copied so many bytes,
/// from the first one on.
fn ends_of_copied(chunks: &[CopyChunk], bytes: u32) -> impl Iterator<Item = u64> {
    let mut left = bytes;
    chunks.iter().map_while(move |chunk| {
        let length = chunk.length.min(left);
        left -= length;
        (length > 0).then(|| chunk.to.saturating_add(length.into()))
    })
}

fn ranges(output: &[u8]) -> Result<Vec<Range<u64>>> {
    let elements = output.chunks(FileRange::LENGTH);
    let ranges = elements.map(|element| FileRange::decode(element).map(|element| element.range));
    Ok(ranges.collect::<std::result::Result<_, _>>()?)
}

/// Where a reparse point leads, if it is a symbolic link.
fn target(output: &[u8]) -> Option<String> {
    let path = LinkTarget::decode(output).ok()?.path;
    let target = utf16::decode(path);
    (!utf16::is_replaced(path, &target)).then_some(target)
}

fn from_pipe(bytes: &[u8], bytes_max: u32) -> Result<Reply> {
    // an answer of nothing would be read on without end
    if bytes.is_empty() || bytes.len() > bytes_max as usize {
        let problem = say("misbehaving.pipe-length").count("bytes", bytes.len());
        return Err(Error::Misbehaving(problem.count("asked", bytes_max)));
    }
    Ok(Reply::FromPipe(bytes.to_vec()))
}

fn referred(body: &[u8]) -> Result<ReferralResponse> {
    let output = IoctlResponse::decode(body)?.output;
    Ok(ReferralResponse::decode(output)?)
}

fn interfaces(body: &[u8]) -> Result<Vec<ServerInterface>> {
    let output = IoctlResponse::decode(body)?.output;
    let list = NetworkInterfaces::decode(output)?.interfaces;
    let known = list.into_iter().filter_map(|record| {
        Some(ServerInterface {
            index: record.index,
            rss: record.capability & InterfaceRecord::RSS != 0,
            rdma: record.capability & InterfaceRecord::RDMA != 0,
            speed_bits_per_second: record.link_speed,
            address: record.address?,
        })
    });
    Ok(known.collect())
}
