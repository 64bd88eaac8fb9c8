//! Keeps a session's connections: opens channels that were lost again, and when all are lost,
//! logs in anew as long as that may take.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::{Duration, Instant};

use smb_proto::NtStatus;

use crate::auth::Refusal;
use crate::error::Error;
use crate::session::{Shared, random};
use crate::signal::{Stop, lock};
use crate::std_or_shuttle::atomic::Ordering;
use crate::std_or_shuttle::now;

/// From the first attempt to the second when all channels are lost; doubled from then on.
const WAIT_FIRST: Duration = Duration::from_millis(100);
/// Longest wait between two attempts then.
const WAIT_MAX: Duration = Duration::from_secs(2);
/// Connections that are lost again sooner than this were not worth coming back so fast: the wait goes on
/// where it was, so that a server that resets each of them is not asked a thousand times a second.
const STEADY_AFTER: Duration = Duration::from_secs(30);
/// So long one is asked who lets us in each time, and throws us out before anything is done.
const THROWN_OUT_MAX: Duration = Duration::from_secs(20);
/// The same for one channel of several.
const CHANNEL_WAIT_FIRST: Duration = Duration::from_millis(500);
const CHANNEL_WAIT_MAX: Duration = Duration::from_secs(10);
/// What a server says of a user it does not let in. To ask again would lock the account.
const NOT_THIS_USER: [NtStatus; 8] = [
    NtStatus::ACCESS_DENIED,
    NtStatus::LOGON_FAILURE,
    NtStatus::WRONG_PASSWORD,
    NtStatus::ACCOUNT_RESTRICTION,
    NtStatus::PASSWORD_EXPIRED,
    NtStatus::ACCOUNT_DISABLED,
    NtStatus::ACCOUNT_LOCKED_OUT,
    NtStatus::NOT_SUPPORTED,
];

/// The thread. `limit`: how long all channels may be lost.
pub(crate) fn run(shared: &Weak<Shared>, limit: Duration) {
    let mut before = None;
    while let Some(shared) = shared.upgrade() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        if shared.protocol.is_lost() {
            before = Some(come_back(&shared, limit, before));
        } else if shared.protocol.is_over() {
            return;
        }
        // A channel may have been lost because its path is another one by now.
        shared.discovery.tell();
        let due = open_what_is_due(&shared);
        let reconnect = Arc::clone(&shared.reconnect);
        drop(shared);
        match due {
            Some(due) => reconnect.wait_until(due),
            None => reconnect.wait(),
        }
    }
}

/// How it was come back the last time.
#[derive(Clone, Copy)]
struct Return {
    /// When.
    at: Instant,
    /// Since when no payload has moved, as far as losses of connections show it.
    stuck_since: Instant,
    /// Payload of the session by then.
    moved: u64,
    /// The next wait.
    wait: Duration,
}

/// All channels are lost: tries every route there was, until one leads back or nothing can be hoped
/// for any more. Says how it was come back.
fn come_back(shared: &Arc<Shared>, limit: Duration, before: Option<Return>) -> Return {
    let begun = now();
    tracing::warn!(cause = ?last_cause(shared), "all channels are lost");
    *lock(&shared.lost_since) = Some(begun);
    let moved = payload_of(shared);
    let unsteady = before.filter(|before| begun - before.at < STEADY_AFTER);
    let stuck = unsteady.filter(|before| before.moved == moved);
    let stuck_since = stuck.map_or(begun, |before| before.stuck_since);
    let limit = stuck.map_or(limit, |_| limit.min(THROWN_OUT_MAX));
    let mut wait = WAIT_FIRST;
    let stop = lock(&shared.stop).clone();
    let _registration = stop.register(Waker::from(Arc::clone(&shared.reconnect)));
    let mut failure = None;
    // Who hears us and does nothing would do so again: once more only where something was done.
    if before.map_or(0, |before| before.moved) == moved && is_stalled(shared) {
        end(shared, last_failure(shared).unwrap_or(Error::Stopped));
        return Return {
            at: begun,
            stuck_since,
            moved,
            wait,
        };
    }
    if let Some(before) = unsteady {
        pause(shared, &stop, jittered(before.wait));
        wait = (before.wait * 2).min(WAIT_MAX);
        failure = last_failure(shared);
    }
    let ended_by = loop {
        if stop.is_stopped() {
            break Some(Error::Stopped);
        }
        // One who lets us in, and throws us out before anything is done, is no better than one who does not.
        let left = limit.saturating_sub(now() - stuck_since);
        if left.is_zero() {
            let source = failure.unwrap_or(Error::Stopped).into();
            let seconds = (now() - stuck_since).as_secs();
            break Some(Error::NotReconnected { seconds, source });
        }
        if let ControlFlow::Break(ended_by) = try_routes(shared, &mut failure) {
            break ended_by;
        }
        pause(shared, &stop, jittered(wait).min(left));
        wait = (wait * 2).min(WAIT_MAX);
    };
    match ended_by {
        Some(error) => end(shared, error),
        None => {
            tracing::info!("reconnected");
            *lock(&shared.lost_since) = None;
        }
    }
    Return {
        at: now(),
        stuck_since,
        moved,
        wait,
    }
}

/// Tries each route once, first the one that led there longest. Breaks where one leads back or none is needed any
/// more, and with an error where no attempt is of use; otherwise `failure` is why the last one failed.
fn try_routes(shared: &Shared, failure: &mut Option<Error>) -> ControlFlow<Option<Error>> {
    let mut routes = shared.routes();
    routes.sort_by_key(|route| Reverse(route.link.as_ref().and_then(|link| link.ended_at())));
    for route in routes {
        if shared.stopping.load(Ordering::SeqCst) || !shared.protocol.is_lost() {
            return ControlFlow::Break(None);
        }
        match shared.open(&route) {
            Ok(_) => return ControlFlow::Break(None),
            Err(error) if is_final(&error) => return ControlFlow::Break(Some(error)),
            Err(error) => *failure = Some(error),
        }
    }
    ControlFlow::Continue(())
}

/// Nothing can be hoped for any more.
fn end(shared: &Shared, error: Error) {
    tracing::warn!(%error, "not reconnected");
    shared.gave_up.store(true, Ordering::SeqCst);
    shared.protocol.give_up(error.into_protocol());
    *lock(&shared.lost_since) = None;
}

/// Waits, and only a stop or the end of the session makes that shorter.
fn pause(shared: &Shared, stop: &Stop, wait: Duration) {
    let until = now() + wait;
    let over = || stop.is_stopped() || shared.stopping.load(Ordering::SeqCst);
    while now() < until && !over() {
        shared.reconnect.wait_until(until);
    }
}

/// Payload that all channels of the session have moved so far.
fn payload_of(shared: &Shared) -> u64 {
    let links = lock(&shared.links);
    let own = links.iter().filter(|(number, _)| *number == shared.number);
    let counted = own.map(|(_, link)| link.counted());
    counted
        .map(|counted| counted.read_bytes + counted.written_bytes)
        .sum()
}

/// Why its last channel ended.
fn last_cause(shared: &Shared) -> Option<smb_proto::Error> {
    let links = lock(&shared.links);
    let mut own = links
        .iter()
        .rev()
        .filter(|(number, _)| *number == shared.number);
    own.find_map(|(_, link)| link.failure())
}

fn last_failure(shared: &Shared) -> Option<Error> {
    let cause = last_cause(shared)?;
    Some(Error::of_connection(cause, &shared.server.name))
}

/// Whether that was because the server does nothing for us, although its TCP is there.
fn is_stalled(shared: &Shared) -> bool {
    matches!(last_cause(shared), Some(smb_proto::Error::Stalled { .. }))
}

/// Opens channels again whose time has come; gives when the next is due.
fn open_what_is_due(shared: &Arc<Shared>) -> Option<Instant> {
    let mut due = None;
    for route in shared.routes() {
        if route.is_alive() {
            continue;
        }
        let moment = now();
        let (at, failures) = route.retry.unwrap_or((moment + CHANNEL_WAIT_FIRST, 0));
        let next = if at > moment {
            Some((at, failures))
        } else if shared.stopping.load(Ordering::SeqCst) || shared.protocol.is_lost() {
            return Some(moment);
        } else {
            match shared.open(&route) {
                Ok(_) => None,
                Err(error) if is_final(&error) => {
                    shared.forget(&route);
                    None
                }
                Err(_) => {
                    let wait = CHANNEL_WAIT_FIRST * 2_u32.saturating_pow(failures + 1);
                    let wait = jittered(wait.min(CHANNEL_WAIT_MAX));
                    Some((now() + wait, failures + 1))
                }
            }
        };
        if let Some((at, _)) = next {
            shared.retry(&route, next);
            due = Some(due.map_or(at, |due: Instant| due.min(at)));
        }
    }
    due
}

/// Between half of it and all of it, so that many clients do not come at the same time.
pub(crate) fn jittered(wait: Duration) -> Duration {
    let part = random::<2>().map_or(u16::MAX, u16::from_le_bytes);
    wait / 2 + wait / 2 * u32::from(part) / u32::from(u16::MAX)
}

/// Whether trying again is of no use.
pub(crate) fn is_final(error: &Error) -> bool {
    match error {
        Error::LoginRefused { source, .. } => source
            .status()
            .is_none_or(|status| NOT_THIS_USER.contains(&status)),
        Error::Credentials { source, .. } => source.refusal() != Refusal::Unreachable,
        Error::GuestOnly { .. } | Error::Incompatible { .. } | Error::Protocol { .. } => true,
        error => error.is_another_server(),
    }
}

#[cfg(test)]
mod tests {
    use smb_proto::error::Operation;

    use super::*;

    #[test]
    fn waits_differ_and_are_bounded() {
        let waits: Vec<_> = (0..50).map(|_| jittered(WAIT_MAX)).collect();
        assert!(
            waits
                .iter()
                .all(|wait| (WAIT_MAX / 2..=WAIT_MAX).contains(wait))
        );
        assert!(waits.iter().any(|wait| *wait != waits[0]));
    }

    #[test]
    fn a_refused_user_does_not_ask_again() {
        let refused = |status| {
            let source = smb_proto::Error::refused(Operation::LogIn, status);
            Error::of_login(source, "server", "user")
        };
        assert!(is_final(&refused(NtStatus::LOGON_FAILURE)));
        assert!(!is_final(&refused(NtStatus::REQUEST_NOT_ACCEPTED)));
        let lost = smb_proto::Error::SessionEnded(None);
        assert!(!is_final(&Error::of_login(lost, "server", "user")));
    }

    #[test]
    fn another_server_is_not_asked_until_it_is_the_old_one() {
        let other = Error::of_login(smb_proto::Error::AnotherServer, "server", "user");
        assert!(matches!(other, Error::ConnectionLost { .. }), "{other:?}");
        assert!(is_final(&other));
    }
}
