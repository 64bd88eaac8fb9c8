//! TREE_CONNECT and TREE_DISCONNECT: shares.

use locale::say;

use super::Prepared;
use super::path_encoding::name_bytes;
use crate::error::{Error, Result};
use crate::session::TreeKey;
use crate::session::locked_state::{State, TreeId, TreeRecord};
use crate::session::request_types::{Reply, Share, TreeInformation};
use crate::wire::{
    Command, HEADER_LENGTH, Header, Message as _, TreeConnectRequest, TreeConnectResponse,
    TreeDisconnectRequest,
};

pub(super) fn connect(server: &str, share: &str) -> Result<Prepared> {
    let path = name_bytes(&format!("\\\\{server}\\{share}"))?;
    let message = TreeConnectRequest { path: &path };
    Ok(Prepared::new(Command::TREE_CONNECT, TreeId::NONE, &message))
}

pub(super) fn disconnect(tree: &TreeRecord) -> Prepared {
    Prepared::new(Command::TREE_DISCONNECT, tree.id, &TreeDisconnectRequest)
}

/// Enters a share that was connected.
pub(super) fn enter(
    state: &mut State,
    share: &str,
    header: &Header,
    message: &[u8],
) -> Result<Result<Reply>> {
    let (id, about) = match tree_connected(state, share, header, message)? {
        Ok(connected) => connected,
        Err(error) => return Ok(Err(error)),
    };
    let record = TreeRecord {
        id,
        share: share.into(),
        gone: None,
    };
    let key = state.next_key();
    state.trees.insert(key, record);
    Ok(Ok(Reply::Tree(TreeKey(key), about)))
}

/// The reply to a TREE_CONNECT.
pub(crate) fn tree_connected(
    state: &State,
    share: &str,
    header: &Header,
    message: &[u8],
) -> Result<Result<(TreeId, TreeInformation)>> {
    let body = message.get(HEADER_LENGTH..).unwrap_or(&[]);
    let response = TreeConnectResponse::decode(body)?;
    let encrypted = response.flags & TreeConnectResponse::ENCRYPT_DATA != 0;
    let kind = match response.share_type {
        1 => Share::Disk,
        2 => Share::Pipe,
        3 => Share::Print,
        _ => return Err(Error::Misbehaving(say("misbehaving.share-type"))),
    };
    let can_encrypt = state.login().is_some_and(|login| login.sealing.is_some());
    if encrypted && !can_encrypt {
        let problem = say("incompatible.share-encryption").with("share", share);
        return Ok(Err(Error::Incompatible(problem)));
    }
    let id = TreeId {
        number: header.tree_id(),
        encrypted,
    };
    let about = TreeInformation {
        share: kind,
        encrypted,
        in_dfs: response.capabilities & TreeConnectResponse::IN_DFS != 0,
        access_max: response.access_max,
    };
    Ok(Ok((id, about)))
}
