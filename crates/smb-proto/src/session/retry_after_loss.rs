//! What becomes of a request whose channel was lost (3.2.4.1, 3.2.7.1): the server may have done
//! it, be doing it, or never have seen it.

use std::sync::Arc;
use std::time::Duration;

use super::ChannelNumber;
use super::request_types::{CreateOptions, Disposition, Durable, Request};
use crate::error::{Error, NtStatus, Operation};
use crate::wire::Command;

/// How often a request may lose its channel: one that takes every channel with it, because a
/// server cannot bear it, must end at some time.
const LOSSES_MAX: u8 = 8;
/// How often a server may put a request off because it is not ready for it, as where an older copy
/// of it is not done.
const REFUSALS_MAX: u8 = 14;
/// How often where it is ourselves who are in the way.
const OURS_REFUSALS_MAX: u8 = 9;
/// How often the session may have expired before a request is done: a server that renews it and
/// still refuses would be asked for ever.
const EXPIRIES_MAX: u8 = 3;
const BACK_OFF_FIRST: Duration = Duration::from_millis(20);
const BACK_OFF_MAX: Duration = Duration::from_secs(5);

/// How often a request was sent in vain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tries {
    /// Its channel was lost.
    losses: u8,
    /// The server was not ready for it.
    refusals: u8,
    /// The session had expired.
    expiries: u8,
}

impl Tries {
    /// Whether the server may have seen it already.
    pub(crate) fn is_replay(self) -> bool {
        self.losses > 0
    }

    /// Counts a lost channel; tells whether it may be sent again.
    pub(crate) fn lost(&mut self) -> bool {
        self.losses = self.losses.saturating_add(1);
        self.losses <= LOSSES_MAX
    }

    /// Counts that the session had expired; tells whether it may be sent again.
    pub(crate) fn expired(&mut self) -> bool {
        self.expiries = self.expiries.saturating_add(1);
        self.expiries <= EXPIRIES_MAX
    }

    /// The same after an answer with this status, if that may be only for now: the server is not ready, or what
    /// a lost connection of ours held open is still in the way, for ten seconds at most.
    pub(crate) fn refused_for_now(&mut self, status: NtStatus) -> Option<Duration> {
        let ours = self.is_replay() && is_held(status) && self.refusals < OURS_REFUSALS_MAX;
        (ours || is_not_ready(status))
            .then(|| self.refused())
            .flatten()
    }

    /// Counts a refusal; gives how long to wait, if it may be sent again.
    pub(crate) fn refused(&mut self) -> Option<Duration> {
        if self.refusals == REFUSALS_MAX {
            return None;
        }
        let wait = BACK_OFF_FIRST * (1 << self.refusals);
        self.refusals += 1;
        Some(wait.min(BACK_OFF_MAX))
    }
}

/// Whether a handle that the server still has open may be in the way.
pub(super) fn is_held(status: NtStatus) -> bool {
    [NtStatus::SHARING_VIOLATION, NtStatus::DELETE_PENDING].contains(&status)
}

/// Why a channel ended; what was asked for is no error.
pub(crate) fn loss(number: ChannelNumber, doing: Operation, cause: Option<&Arc<Error>>) -> Error {
    match cause {
        Some(cause) => Error::ChannelLost {
            channel: number,
            doing,
            cause: Arc::clone(cause),
        },
        None => Error::SessionEnded(None),
    }
}

/// What a request is, for people.
pub(super) fn operation(request: &Request) -> Operation {
    Operation::Request(match request {
        Request::TreeConnect { .. } => Command::TREE_CONNECT,
        Request::TreeDisconnect { .. } => Command::TREE_DISCONNECT,
        Request::Create { .. } => Command::CREATE,
        Request::Close { .. } => Command::CLOSE,
        Request::Flush { .. } => Command::FLUSH,
        Request::Lock { .. } => Command::LOCK,
        Request::List { .. } => Command::QUERY_DIRECTORY,
        Request::Query { .. } => Command::QUERY_INFO,
        Request::Set { .. } => Command::SET_INFO,
        Request::Interfaces { .. }
        | Request::Referrals { .. }
        | Request::ResumeKey { .. }
        | Request::CopyChunks { .. }
        | Request::Clone { .. }
        | Request::SetSparse { .. }
        | Request::Allocated { .. }
        | Request::ReadLink { .. }
        | Request::MakeLink { .. }
        | Request::Transceive { .. } => Command::IOCTL,
        Request::ReadPipe { .. } => Command::READ,
        Request::Fetch { .. } => Command::READ,
        Request::Store { .. } => Command::WRITE,
        // It is called after the first of its requests.
        Request::Chain(links) => return links.first().map_or(Operation::Anything, operation),
        Request::AcknowledgeBreak { .. } => Command::OPLOCK_BREAK,
        Request::Echo => Command::ECHO,
        Request::Logoff => Command::LOGOFF,
    })
}

/// Whether a request may be sent a second time when nobody knows whether the first was done.
pub(crate) fn can_repeat(request: &Request) -> bool {
    match request {
        // the answer went with the channel, and the next question gets the next entries
        Request::List { restart, .. } => *restart,
        // one that was taken cannot be taken again
        Request::Lock { .. } => false,
        // the same
        Request::Transceive { .. } | Request::ReadPipe { .. } => false,
        // at worst the server keeps a handle that nobody knows until the session ends
        Request::Create { options, .. } => !makes_once(options),
        // a second open of the file is not counted together with the first, whose chain may still
        // be at work
        Request::Chain(links) => links.iter().all(|link| {
            let changes = matches!(
                link,
                Request::Set { .. } | Request::Store { .. } | Request::MakeLink { .. }
            );
            !changes && !empties(link) && can_repeat(link)
        }),
        Request::TreeConnect { .. }
        | Request::TreeDisconnect { .. }
        | Request::Close { .. }
        | Request::Flush { .. }
        | Request::Query { .. }
        | Request::Set { .. }
        | Request::Fetch { .. }
        | Request::Store { .. }
        | Request::Interfaces { .. }
        | Request::Referrals { .. }
        | Request::ResumeKey { .. }
        | Request::CopyChunks { .. }
        | Request::Clone { .. }
        | Request::SetSparse { .. }
        | Request::Allocated { .. }
        | Request::ReadLink { .. }
        | Request::MakeLink { .. }
        | Request::AcknowledgeBreak { .. }
        | Request::Echo
        | Request::Logoff => true,
    }
}

/// Whether this is a CREATE that takes a file's content away.
fn empties(request: &Request) -> bool {
    let Request::Create { options, .. } = request else {
        return false;
    };
    [Disposition::Truncate, Disposition::CreateOrTruncate].contains(&options.disposition)
}

/// Whether a second CREATE would fail, or hit something else, where the first one did not. One
/// that the server can recognise gets the first one's answer.
fn makes_once(options: &CreateOptions) -> bool {
    match options.durable {
        Some(Durable::Request { .. }) => false,
        Some(Durable::Reconnect { .. }) => true,
        None => options.disposition == Disposition::Create || options.delete_on_close,
    }
}

/// Whether a refusal of a repeated request says that the first one was done.
pub(crate) fn was_done(request: &Request, status: NtStatus) -> bool {
    match request {
        Request::Close { .. } => status == NtStatus::FILE_CLOSED,
        Request::TreeDisconnect { .. } => status == NtStatus::NETWORK_NAME_DELETED,
        Request::Logoff => status == NtStatus::USER_SESSION_DELETED,
        _ => false,
    }
}

/// Whether the server says that it, the share or the file is only not ready (3.3.4.4): it has not
/// done what was asked for, or still does an older copy of it.
pub(crate) fn is_not_ready(status: NtStatus) -> bool {
    [
        NtStatus::SERVER_UNAVAILABLE,
        NtStatus::SHARE_UNAVAILABLE,
        NtStatus::FILE_NOT_AVAILABLE,
    ]
    .contains(&status)
}

/// Whether the server keeps count per open file of requests with this command (3.3.5.2.10), so
/// that an old copy cannot land after a new one.
fn is_counted(command: Command) -> bool {
    [Command::WRITE, Command::SET_INFO, Command::IOCTL].contains(&command)
}

/// Whether a request that is sent again must say so: those that are counted, and a CREATE that the
/// server recognises by its GUID.
pub(crate) fn says_replay(request: &Request, command: Command) -> bool {
    match request {
        Request::Create { options, .. } => {
            matches!(options.durable, Some(Durable::Request { .. }))
        }
        _ => is_counted(command),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_refusals_are_bounded() {
        let mut tries = Tries::default();
        assert!(!tries.is_replay());
        let waits: Vec<_> = std::iter::from_fn(|| tries.refused()).collect();
        assert!(
            !tries.is_replay(),
            "the server refused it, so it has not done it"
        );
        assert_eq!(
            waits[..2],
            [Duration::from_millis(20), Duration::from_millis(40)]
        );
        let total: Duration = waits.iter().sum();
        assert!(total > Duration::from_secs(30) && total < Duration::from_secs(60));
        assert_eq!((0..20).filter(|_| tries.expired()).count(), 3);
        assert!(!tries.is_replay());
        assert_eq!((0..20).filter(|_| tries.lost()).count(), 8);
        assert!(tries.is_replay());
    }

    #[test]
    fn what_a_lost_connection_of_ours_holds_open_is_waited_for_some_seconds() {
        let mut tries = Tries::default();
        let held = NtStatus::SHARING_VIOLATION;
        assert_eq!(tries.refused_for_now(held), None, "another client has it");
        assert!(tries.lost());
        let waits = std::iter::from_fn(|| tries.refused_for_now(held));
        let total: Duration = waits.sum();
        assert!((5..15).contains(&total.as_secs()), "{total:?}");
    }
}
