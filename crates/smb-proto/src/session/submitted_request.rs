//! A request that was submitted, by a caller or by the session itself.

use std::sync::Arc;

use super::Sink;
use super::request_types::{Reply, Request};
use super::retry_after_loss::Tries;
use crate::error::Result;

/// A request and who wants to hear of it.
pub(crate) struct Control {
    pub(crate) request: Request,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) tries: Tries,
    /// The session itself asks for it, after all channels were lost.
    pub(crate) restores: Option<Restores>,
    /// Of a FLUSH: how many changes of its file were confirmed before it was sent.
    pub(crate) covers: u64,
}

impl Control {
    /// Something that the session asks for by itself.
    pub(crate) fn own(request: Request, restores: Option<Restores>) -> Self {
        Self {
            request,
            sink: Arc::new(Unheard),
            tries: Tries::default(),
            restores,
            covers: 0,
        }
    }
}

/// The sink of a request whose outcome no caller waits for.
pub(super) struct Unheard;

impl Sink for Unheard {
    fn done(&self, _: Result<Reply>) {}
}

/// What a request restores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restores {
    Tree(u32),
    File(u32),
}
