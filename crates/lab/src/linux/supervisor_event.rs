//! What the supervisor of a lab reacts to.

/// What the supervisor reacts to.
pub(crate) enum Event {
    /// Somebody wants the lab to end.
    Stop,
    /// The first process of a host or switch has ended.
    Lost,
    /// Something about a link has changed.
    LinksMoved,
}
