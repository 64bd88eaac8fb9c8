//! What is due on a channel: requests that wait too long, silence of the server, and the end of the login.

use std::time::Duration;

use super::keepalive_and_silence::Due;
use super::pending_requests::Pending;
use super::{Channel, Phase};
use crate::error::{Error, Operation};
use crate::monotonic_time::Time;
use crate::wire::Command;

/// A server that puts much on a slow disk says nothing meanwhile: a FLUSH may take so many times as long as other
/// requests.
const FLUSH_TIMES: u32 = 2;

/// A request that waits too long.
struct Late {
    /// When it is too long.
    at: Time,
    /// Since when it waits in vain.
    since: Time,
    waiting_for: Operation,
    /// The server does nothing for us any more, not only not this.
    stalled: bool,
}

impl Channel {
    /// When to call [`Self::handle_timeout`], if nothing else happens before.
    pub fn next_timeout(&self) -> Option<Time> {
        let request = self.late_first().map(|late| late.at);
        let phase = match &self.phase {
            Phase::Handshake(handshake) => Some(handshake.deadline),
            Phase::Up => {
                let silence = self.silence_due().map(|(due, _)| due);
                let later = self.session.next_due();
                [silence, later].into_iter().flatten().min()
            }
            Phase::Closed => return None,
        };
        [request, phase].into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        self.notice_end();
        if matches!(self.phase, Phase::Up) && self.session.next_due().is_some_and(|at| now >= at) {
            self.session.handle_due(now);
        }
        if let Some(late) = self.late_first().filter(|late| now >= late.at) {
            let waiting_for = late.waiting_for;
            let seconds = now.since(late.since).as_secs();
            let error = match late.stalled {
                true => Error::Stalled {
                    seconds,
                    waiting_for,
                },
                false => Error::TimedOut {
                    seconds,
                    waiting_for,
                },
            };
            return self.close(Some(error));
        }
        let oldest = self.outstanding.oldest_unanswered();
        let waiting_for = oldest.map_or(Operation::Anything, |pending| {
            Operation::Request(pending.command)
        });
        let done = match &self.phase {
            Phase::Handshake(handshake) if now >= handshake.deadline => Err(Error::TimedOut {
                seconds: self.silence.seconds(now),
                waiting_for,
            }),
            Phase::Up => match self.silence_due().filter(|(due, _)| now >= *due) {
                Some((_, Due::SignOfLife)) => self.echo(now),
                Some((_, Due::End)) => Err(Error::TimedOut {
                    seconds: self.silence.seconds(now),
                    waiting_for,
                }),
                None => Ok(()),
            },
            _ => Ok(()),
        };
        if let Err(error) = done {
            self.close(Some(error));
        }
    }

    /// The request that has waited for too long first, and from when on.
    fn late_first(&self) -> Option<Late> {
        let late = |pending: &Pending, since: Time, limit: Duration, stalled: bool| Late {
            at: since.after(limit),
            since,
            waiting_for: Operation::Request(pending.command),
            stalled,
        };
        let limit = |pending: &Pending| match pending.command {
            Command::FLUSH => self.request_timeout * FLUSH_TIMES,
            _ => self.request_timeout,
        };
        let unanswered = self.outstanding.oldest_unanswered().map(|pending| {
            let since = pending.sent_at.max(self.headway.at());
            late(pending, since, limit(pending), true)
        });
        // Who has only put it off answers a sign of life meanwhile.
        let oldest = self.outstanding.oldest();
        let asked_at = self.headway.asked_at();
        let mute = oldest.zip(asked_at).map(|(pending, asked_at)| {
            let since = asked_at.max(self.headway.at());
            late(pending, since, limit(pending), true)
        });
        let put_off =
            oldest.map(|pending| late(pending, pending.sent_at, self.interim_timeout, false));
        let all = [unanswered, mute, put_off].into_iter().flatten();
        all.min_by_key(|late| late.at)
    }

    /// What is to be done about silence, and when, if it lasts.
    fn silence_due(&self) -> Option<(Time, Due)> {
        match self.outstanding.oldest() {
            Some(oldest) => {
                let can_ask = self.credits.balance() > 0;
                let (at, due) = self.silence.due(oldest.sent_at, can_ask);
                let ask_at = self.headway.ask_at(oldest.sent_at, self.echo_after);
                Some(match ask_at.filter(|ask_at| can_ask && *ask_at < at) {
                    Some(ask_at) => (ask_at, Due::SignOfLife),
                    None => (at, due),
                })
            }
            None => {
                let due = self.silence.idle_since().after(self.idle_echo_after?);
                Some((due, Due::SignOfLife))
            }
        }
    }
}
