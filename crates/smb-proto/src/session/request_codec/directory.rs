//! QUERY_DIRECTORY: the lists of folders.

use locale::say;

use super::Prepared;
use super::path_encoding::name_bytes;
use crate::error::{Error, Result};
use crate::session::FileKey;
use crate::session::locked_state::State;
use crate::session::request_types::Listing;
use crate::wire::{
    Command, HEADER_LENGTH, Message as _, QueryDirectoryRequest, QueryDirectoryResponse, class,
};

/// Most bytes of one listing; bounds what a reply may make us allocate.
pub(crate) const LISTING_BYTES_MAX: u32 = 1 << 20;

/// Asks for the next part of a folder's list: names like this, from the begin or not.
pub(super) fn listing(
    state: &State,
    folder: FileKey,
    (pattern, restart): (&str, bool),
    bytes_max: u32,
) -> Result<Prepared> {
    let (tree_id, file) = state.file(folder)?;
    let message = QueryDirectoryRequest {
        class: match state.is_posix(folder) {
            true => class::POSIX,
            false => class::ID_FULL_DIRECTORY,
        },
        flags: match restart {
            true => QueryDirectoryRequest::RESTART_SCANS,
            false => 0,
        },
        file,
        pattern: &name_bytes(pattern)?,
        bytes_max: state
            .transact_bytes_max()
            .min(LISTING_BYTES_MAX)
            .min(bytes_max),
    };
    Ok(Prepared {
        payload: message.bytes_max,
        ..Prepared::new(Command::QUERY_DIRECTORY, tree_id, &message)
    })
}

/// A part of a folder's list.
pub(super) fn listed(
    state: &mut State,
    folder: FileKey,
    bytes_max: u32,
    message: &mut Vec<u8>,
) -> Result<Listing> {
    let posix = state.is_posix(folder);
    if let Some(record) = state.files.get_mut(&folder.0) {
        record.listed = true;
    }
    let body = message.get(HEADER_LENGTH..).unwrap_or(&[]);
    let length = QueryDirectoryResponse::decode(body)?.data.len();
    // a listing of nothing would be asked for again without end
    if length == 0 || length > bytes_max as usize {
        let problem = say("misbehaving.listing-length").count("bytes", length);
        return Err(Error::Misbehaving(problem.count("asked", bytes_max)));
    }
    let message = std::mem::take(message);
    Ok(Listing { message, posix })
}
