//! What a request is about, for people.

use crate::error::{Asked, Operation};
use crate::session::locked_state::State;
use crate::session::request_types::Request;

/// What it asks for, and of what.
pub(crate) fn describe(state: &State, request: &Request) -> Asked {
    match request {
        Request::TreeConnect { share } => Operation::ConnectShare.of(share),
        Request::TreeDisconnect { .. } => Operation::DisconnectShare.into(),
        Request::Create { path, .. } => Operation::Open.of(path),
        Request::Close { file } => Operation::Close.of(state.path(*file)),
        Request::Flush { file } => Operation::Flush.of(state.path(*file)),
        Request::Lock { file, .. } => Operation::Lock.of(state.path(*file)),
        Request::List { folder, .. } => Operation::List.of(state.path(*folder)),
        Request::Query { file, .. } => Operation::Query.of(state.path(*file)),
        Request::Set { file, .. } => Operation::Change.of(state.path(*file)),
        Request::Fetch { file, .. } => Operation::Read.of(state.path(*file)),
        Request::Store { file, .. } => Operation::Write.of(state.path(*file)),
        Request::Chain(links) => match links.first() {
            Some(link) => describe(state, link),
            None => Operation::Anything.into(),
        },
        Request::Interfaces { .. } => Operation::QueryInterfaces.into(),
        Request::Referrals { path, .. } => Operation::Locate.of(path),
        Request::ResumeKey { file } => Operation::NameSource.of(state.path(*file)),
        Request::CopyChunks { to, .. } => Operation::CopyInto.of(state.path(*to)),
        Request::Clone { to, .. } => Operation::CloneInto.of(state.path(*to)),
        Request::SetSparse { file } => Operation::AllowHoles.of(state.path(*file)),
        Request::Allocated { file, .. } => Operation::QueryHoles.of(state.path(*file)),
        Request::ReadLink { file } => Operation::ReadLink.of(state.path(*file)),
        Request::MakeLink { file, .. } => Operation::MakeLink.of(state.path(*file)),
        Request::Transceive { pipe, .. } | Request::ReadPipe { pipe, .. } => {
            Operation::UsePipe.of(state.path(*pipe))
        }
        Request::AcknowledgeBreak { .. } => Operation::ReturnLease.into(),
        Request::Echo => Operation::Echo.into(),
        Request::Logoff => Operation::LogOff.into(),
    }
}
