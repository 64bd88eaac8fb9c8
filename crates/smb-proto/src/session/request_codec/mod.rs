//! From a [`Request`] to a message and from its reply to a [`Reply`](super::request_types::Reply).

mod create;
mod directory;
mod information;
mod ioctl;
mod path_encoding;
mod read_write_lock_flush;
mod reply_dispatch;
mod request_description;
mod tree_connect;

pub(crate) use create::file_created;
pub(crate) use directory::LISTING_BYTES_MAX;
pub(crate) use reply_dispatch::conclude;
pub(crate) use request_description::describe;
pub(crate) use tree_connect::tree_connected;

use locale::say;

use super::locked_state::{State, TreeId};
use super::request_types::Request;
use crate::error::{Error, Result};
use crate::wire::{Command, EchoRequest, LeaseBreakAcknowledgement, LogoffRequest, Message};

/// A request as a message that lacks only its header.
pub(crate) struct Prepared {
    pub(crate) command: Command,
    pub(crate) tree_id: TreeId,
    pub(crate) body: Vec<u8>,
    /// The larger of what is sent and what may come back; decides the credit charge.
    pub(crate) payload: u32,
}

impl Prepared {
    fn new<'a>(command: Command, tree_id: TreeId, message: &impl Message<'a>) -> Self {
        let mut body = Vec::new();
        message.encode(&mut body);
        Self {
            command,
            tree_id,
            body,
            payload: 0,
        }
    }
}

/// Builds the message, whose reply carries at most `payload_max` bytes; fails when the request names
/// something that is not there.
pub(crate) fn prepare(
    state: &State,
    server: &str,
    request: &Request,
    payload_max: u32,
) -> Result<Prepared> {
    Ok(match request {
        Request::TreeConnect { share } => tree_connect::connect(server, share)?,
        Request::TreeDisconnect { tree } => tree_connect::disconnect(state.tree(*tree)?),
        Request::Create {
            tree,
            path,
            options,
        } => create::create(state.tree(*tree)?, path, options)?,
        Request::Close { file } => create::close(state.file_to_close(*file)?),
        Request::Flush { file } => read_write_lock_flush::flush(state.sure_file(*file)?),
        Request::Fetch { .. } | Request::Store { .. } | Request::Lock { .. } => {
            read_write_lock_flush::prepare(state, request)?
        }
        Request::List {
            folder,
            pattern,
            restart,
            bytes_max,
        } => {
            let most = payload_max.min(*bytes_max);
            directory::listing(state, *folder, (pattern, *restart), most)?
        }
        Request::Query { file, what } => information::query(state.file(*file)?, *what),
        Request::Set { file, what } => information::set(state, *file, what)?,
        Request::Chain(_) => return Err(Error::InvalidRequest(say("invalid-request.chain"))),
        Request::Interfaces { .. }
        | Request::Referrals { .. }
        | Request::ResumeKey { .. }
        | Request::CopyChunks { .. }
        | Request::Clone { .. }
        | Request::SetSparse { .. }
        | Request::Allocated { .. }
        | Request::ReadLink { .. }
        | Request::MakeLink { .. }
        | Request::Transceive { .. }
        | Request::ReadPipe { .. } => ioctl::prepare(state, request)?,
        Request::AcknowledgeBreak {
            tree,
            key,
            state: left,
        } => {
            let left = LeaseBreakAcknowledgement {
                key: *key,
                state: *left,
            };
            Prepared::new(Command::OPLOCK_BREAK, state.tree(*tree)?.id, &left)
        }
        Request::Echo => Prepared::new(Command::ECHO, TreeId::NONE, &EchoRequest),
        Request::Logoff => Prepared::new(Command::LOGOFF, TreeId::NONE, &LogoffRequest),
    })
}

fn encoded<'a>(message: &impl Message<'a>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}
