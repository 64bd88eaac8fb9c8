//! What a request is about, for people.

use crate::session::locked_state::State;
use crate::session::request_types::Request;

/// As in "opening `a/b`".
pub(crate) fn describe(state: &State, request: &Request) -> String {
    match request {
        Request::TreeConnect { share } => format!("connecting to share `{share}`"),
        Request::TreeDisconnect { .. } => "disconnecting from a share".into(),
        Request::Create { path, .. } => format!("opening `{path}`"),
        Request::Close { file } => format!("closing `{}`", state.path(*file)),
        Request::Flush { file } => format!("flushing `{}`", state.path(*file)),
        Request::Lock { file, .. } => format!("locking `{}`", state.path(*file)),
        Request::List { folder, .. } => format!("listing `{}`", state.path(*folder)),
        Request::Query { file, .. } => format!("asking about `{}`", state.path(*file)),
        Request::Set { file, .. } => format!("changing `{}`", state.path(*file)),
        Request::Fetch { file, .. } => format!("reading `{}`", state.path(*file)),
        Request::Store { file, .. } => format!("writing `{}`", state.path(*file)),
        Request::Chain(links) => links
            .first()
            .map_or_else(String::new, |link| describe(state, link)),
        Request::Interfaces { .. } => "asking for its interfaces".into(),
        Request::Referrals { path, .. } => format!("asking where `{path}` is"),
        Request::ResumeKey { file } => format!("naming `{}` to copy it", state.path(*file)),
        Request::CopyChunks { to, .. } => format!("copying into `{}`", state.path(*to)),
        Request::Clone { to, .. } => format!("cloning into `{}`", state.path(*to)),
        Request::SetSparse { file } => format!("allowing holes in `{}`", state.path(*file)),
        Request::Allocated { file, .. } => format!("asking for holes of `{}`", state.path(*file)),
        Request::ReadLink { file } => format!("asking where `{}` leads", state.path(*file)),
        Request::MakeLink { file, .. } => format!("making `{}` a link", state.path(*file)),
        Request::Transceive { pipe, .. } | Request::ReadPipe { pipe, .. } => {
            format!("talking to the pipe `{}`", state.path(*pipe))
        }
        Request::AcknowledgeBreak { .. } => "giving a lease back".into(),
        Request::Echo => "a sign of life".into(),
        Request::Logoff => "logging off".into(),
    }
}
