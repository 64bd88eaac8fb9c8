//! READ, WRITE, LOCK and FLUSH of an open file, without a block: small amounts of data.

use locale::say;

use super::Prepared;
use crate::error::{Error, Result};
use crate::session::FileKey;
use crate::session::locked_state::{State, TreeId};
use crate::session::request_types::{Reply, Request};
use crate::wire::{
    Command, FileId, FlushRequest, LOCK_EXCLUSIVE, LOCK_UNLOCK, LockRequest, Message as _,
    ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};

pub(super) fn prepare(state: &State, request: &Request) -> Result<Prepared> {
    match request {
        Request::Fetch {
            file,
            offset,
            bytes_max,
        } => Ok(fetch(state.file(*file)?, *offset, *bytes_max)),
        Request::Store {
            file,
            offset,
            bytes,
        } => store(state.file(*file)?, *offset, bytes),
        Request::Lock {
            file,
            offset,
            bytes,
            unlock,
        } => Ok(lock(state.file(*file)?, *offset, *bytes, *unlock)),
        _ => Err(Error::InvalidRequest(say("invalid-request.kind"))),
    }
}

fn fetch((tree_id, file): (TreeId, FileId), offset: u64, bytes_max: u32) -> Prepared {
    let length = bytes_max.min(Request::SMALL_BYTES_MAX);
    let message = ReadRequest {
        length,
        offset,
        file,
    };
    Prepared::new(Command::READ, tree_id, &message)
}

fn store((tree_id, file): (TreeId, FileId), offset: u64, data: &[u8]) -> Result<Prepared> {
    let small = Request::SMALL_BYTES_MAX as usize;
    if data.is_empty() || data.len() > small {
        let problem = say("invalid-request.write-length").count("bytes", data.len());
        return Err(Error::InvalidRequest(problem));
    }
    let flags = 0;
    let message = WriteRequest {
        offset,
        file,
        flags,
        data,
    };
    Ok(Prepared::new(Command::WRITE, tree_id, &message))
}

/// One range of a file, taken or given back.
fn lock((tree_id, file): (TreeId, FileId), offset: u64, length: u64, unlock: bool) -> Prepared {
    let message = LockRequest {
        file,
        offset,
        length,
        flags: match unlock {
            true => LOCK_UNLOCK,
            false => LOCK_EXCLUSIVE,
        },
    };
    Prepared::new(Command::LOCK, tree_id, &message)
}

pub(super) fn flush((tree_id, file): (TreeId, FileId)) -> Prepared {
    Prepared::new(Command::FLUSH, tree_id, &FlushRequest { file })
}

pub(super) fn fetched(body: &[u8], bytes_max: u32) -> Result<Vec<u8>> {
    let data = ReadResponse::decode(body)?.data;
    if data.is_empty() || data.len() > bytes_max as usize {
        let problem = say("misbehaving.read-length").count("bytes", data.len());
        return Err(Error::Misbehaving(problem.count("asked", bytes_max)));
    }
    Ok(data.to_vec())
}

/// Notes how much of some bytes was written.
pub(super) fn stored(
    state: &mut State,
    (file, offset): (FileKey, u64),
    bytes: &[u8],
    body: &[u8],
) -> Result<Reply> {
    let count = WriteResponse::decode(body)?.count;
    if count == 0 || count as usize > bytes.len() {
        let problem = say("misbehaving.written-length").count("bytes", count);
        return Err(Error::Misbehaving(problem.count("asked", bytes.len())));
    }
    state.note_written(file, offset.saturating_add(count.into()));
    Ok(Reply::Stored(count))
}
