//! What a reply says: it is understood, and entered into the tables.

use super::request_description::describe;
use super::{create, directory, information, ioctl, read_write_lock_flush, tree_connect};
use crate::error::{Error, NtStatus, Result};
use crate::session::locked_state::State;
use crate::session::request_types::{Closed, QueryInformation, Reply, Request};
use crate::wire::{HEADER_LENGTH, Header, Message as _, QueryInfoResponse};

/// Understands the reply and enters what it says into the tables. `Err` inside: the request
/// failed. `Err` outside: the channel cannot go on.
pub(crate) fn conclude(
    state: &mut State,
    request: &Request,
    header: &Header,
    message: &mut Vec<u8>,
) -> Result<Result<Reply>> {
    if let Request::Close { file } = request {
        // whatever the server says, the handle is of no use any more
        let asked = describe(state, request);
        let sure = state.sure_file(*file).is_ok();
        state.forget_file(*file);
        return Ok(match header.status {
            NtStatus::SUCCESS => Ok(Reply::Closed(create::closed(message, sure))),
            // It is closed, by whomever. Linux's own server sometimes says so of a file that was open until then.
            NtStatus::FILE_CLOSED => Ok(Reply::Closed(Closed {
                sure,
                ..Closed::default()
            })),
            status => Err(Error::refused(asked, status)),
        });
    }
    match (header.status, request) {
        (NtStatus::SUCCESS, _) => match success(state, request, header, message) {
            // without what it would have said, a fact is missing, and no more
            Err(error) if is_advisory(request) => Ok(Err(error)),
            done => done,
        },
        // what does not fit is read next
        (
            NtStatus::BUFFER_OVERFLOW,
            Request::Transceive { .. } | Request::ReadPipe { .. } | Request::Allocated { .. },
        ) => success(state, request, header, message),
        (NtStatus::INVALID_PARAMETER, Request::CopyChunks { .. })
            if let Some(limits) = ioctl::copy_limits(message) =>
        {
            Ok(Ok(Reply::CopyLimits(limits)))
        }
        (NtStatus::END_OF_FILE, Request::Fetch { .. }) => Ok(Ok(Reply::Bytes(Vec::new()))),
        (NtStatus::NO_MORE_FILES | NtStatus::NO_SUCH_FILE, Request::List { .. }) => {
            Ok(Ok(Reply::Listing(None)))
        }
        (
            NtStatus::NOT_SUPPORTED | NtStatus::INVALID_DEVICE_REQUEST,
            Request::Interfaces { .. },
        ) => Ok(Ok(Reply::Interfaces(Vec::new()))),
        (status, _) => Ok(Err(Error::refused(describe(state, request), status))),
    }
}

/// Whether a copy is the same, and only slower or less explained, without the answer. An answer to such a
/// request that makes no sense costs the fact and not the channel: servers are known that put together
/// everything else well.
fn is_advisory(request: &Request) -> bool {
    match request {
        Request::Query { what, .. } => matches!(
            what,
            QueryInformation::FsSize
                | QueryInformation::FsAttributes
                | QueryInformation::Path
                | QueryInformation::Streams
        ),
        Request::Interfaces { .. }
        | Request::Referrals { .. }
        | Request::ResumeKey { .. }
        | Request::Allocated { .. }
        | Request::ReadLink { .. } => true,
        _ => false,
    }
}

fn success(
    state: &mut State,
    request: &Request,
    header: &Header,
    message: &mut Vec<u8>,
) -> Result<Result<Reply>> {
    let body = message.get(HEADER_LENGTH..).unwrap_or(&[]);
    let reply = match request {
        Request::TreeConnect { share } => {
            return tree_connect::enter(state, share, header, message);
        }
        Request::TreeDisconnect { tree } => {
            state.trees.remove(&tree.0);
            Reply::Done
        }
        Request::Create {
            tree,
            path,
            options,
        } => create::enter(state, *tree, path, options, message)?,
        Request::List {
            folder, bytes_max, ..
        } => {
            let listing = directory::listed(state, *folder, *bytes_max, message)?;
            Reply::Listing(Some(listing))
        }
        Request::Query { what, .. } => {
            let data = QueryInfoResponse::decode(body)?.data;
            Reply::Information(information::decoded(*what, data)?)
        }
        Request::Fetch { bytes_max, .. } => {
            Reply::Bytes(read_write_lock_flush::fetched(body, *bytes_max)?)
        }
        Request::Store {
            file,
            offset,
            bytes,
        } => read_write_lock_flush::stored(state, (*file, *offset), bytes, body)?,
        Request::Set { file, what } => {
            state.note_changed(*file, what);
            Reply::Done
        }
        Request::Interfaces { .. }
        | Request::Referrals { .. }
        | Request::ResumeKey { .. }
        | Request::CopyChunks { .. }
        | Request::Clone { .. }
        | Request::Allocated { .. }
        | Request::ReadLink { .. }
        | Request::Transceive { .. }
        | Request::ReadPipe { .. } => ioctl::reply(state, request, header, body)?,
        Request::Logoff => {
            state.logged_off = true;
            Reply::Done
        }
        _ => Reply::Done,
    };
    Ok(Ok(reply))
}
