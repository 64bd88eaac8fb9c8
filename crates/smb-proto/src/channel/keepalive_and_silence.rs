//! Silence of the server: when to ask for a sign of life, and when to stop waiting for one.

use std::time::Duration;

use crate::monotonic_time::Time;

/// What is to be done about silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Ask for a sign of life.
    SignOfLife,
    /// There was none.
    End,
}

pub(super) struct Silence {
    ask_after: Duration,
    end_after: Duration,
    /// When the server, or its transport, was heard last.
    heard_at: Time,
    /// When something left us last that had to wait: a slow link says nothing while it is busy with a large WRITE.
    sent_at: Time,
    /// When a sign of life was asked for last.
    asked_at: Option<Time>,
}

impl Silence {
    pub(super) fn new(ask_after: Duration, end_after: Duration, now: Time) -> Self {
        Self {
            ask_after,
            end_after,
            heard_at: now,
            sent_at: now,
            asked_at: None,
        }
    }

    pub(super) fn heard(&mut self, at: Time) {
        self.heard_at = self.heard_at.max(at);
    }

    pub(super) fn sent(&mut self, at: Time) {
        self.sent_at = at;
    }

    pub(super) fn asked(&mut self, at: Time) {
        self.asked_at = Some(at);
    }

    /// How long it has lasted.
    pub(super) fn seconds(&self, now: Time) -> u64 {
        now.since(self.heard_at).as_secs()
    }

    /// When something moved last.
    pub(super) fn idle_since(&self) -> Time {
        self.heard_at.max(self.sent_at)
    }

    /// What is to be done if it lasts, and when, while requests wait of which the oldest was sent
    /// at this time.
    pub(super) fn due(&self, oldest: Time, can_ask: bool) -> (Time, Due) {
        let since = self.idle_since().max(oldest);
        match self.asked_at {
            // nothing since then
            Some(asked_at) if asked_at >= self.heard_at && asked_at >= oldest => {
                (since.max(asked_at).after(self.end_after), Due::End)
            }
            // it is slow, and has a question of ours already
            Some(asked_at) if asked_at >= oldest && can_ask => (
                since.after(self.ask_after.max(self.end_after)),
                Due::SignOfLife,
            ),
            _ if can_ask => (since.after(self.ask_after), Due::SignOfLife),
            _ => (since.after(self.ask_after + self.end_after), Due::End),
        }
    }
}

/// When the server did something last of what it was asked for. Bytes that trickle, and requests that are only
/// put off, are nothing.
pub(super) struct Headway {
    at: Time,
    /// Bytes since then, of frames that are under way.
    bytes: usize,
    /// Since when a sign of life is waited for that has not come.
    asked_at: Option<Time>,
    /// When one came last.
    lived_at: Time,
    /// What the far end's TCP has confirmed in all.
    confirmed: u64,
}

impl Headway {
    /// So many bytes count as something.
    const BYTES_MIN: usize = 64 << 10;

    pub(super) fn new(now: Time) -> Self {
        Self {
            at: now,
            bytes: 0,
            asked_at: None,
            lived_at: now,
            confirmed: 0,
        }
    }

    /// A request was answered for good.
    pub(super) fn done(&mut self, now: Time) {
        self.at = self.at.max(now);
        self.bytes = 0;
        self.asked_at = None;
    }

    /// A sign of life is asked for.
    pub(super) fn asked(&mut self, now: Time) {
        self.asked_at.get_or_insert(now);
    }

    /// It has come, which is all that was done.
    pub(super) fn lives(&mut self, now: Time) {
        self.asked_at = None;
        self.lived_at = now;
    }

    /// When to ask for a sign of life, also of one who goes on talking, if nothing is done for so long of what
    /// was asked for at this time.
    pub(super) fn ask_at(&self, oldest: Time, after: Duration) -> Option<Time> {
        let since = self.at.max(self.lived_at).max(oldest);
        self.asked_at.is_none().then(|| since.after(after))
    }

    /// A part of a frame has come or gone.
    pub(super) fn moved(&mut self, bytes: usize, now: Time) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes >= Self::BYTES_MIN {
            self.done(now);
        }
    }

    /// The far end's TCP has so many bytes of ours in all.
    pub(super) fn confirmed(&mut self, in_all: u64, now: Time) {
        let more = in_all.saturating_sub(self.confirmed);
        self.confirmed = self.confirmed.max(in_all);
        self.moved(usize::try_from(more).unwrap_or(usize::MAX), now);
    }

    pub(super) const fn at(&self) -> Time {
        self.at
    }

    pub(super) const fn asked_at(&self) -> Option<Time> {
        self.asked_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    fn silence() -> Silence {
        Silence::new(Duration::from_secs(2), Duration::from_secs(8), at(0))
    }

    #[test]
    fn it_asks_and_then_ends() {
        let mut silence = silence();
        assert_eq!(silence.due(at(5), true), (at(7), Due::SignOfLife));
        silence.asked(at(7));
        assert_eq!(silence.due(at(5), true), (at(15), Due::End));
        assert_eq!(silence.due(at(5), false), (at(15), Due::End));
    }

    #[test]
    fn whatever_is_heard_begins_anew() {
        let mut silence = silence();
        silence.asked(at(2));
        silence.heard(at(3));
        assert_eq!(silence.due(at(4), true), (at(6), Due::SignOfLife));
        let slow = silence.due(at(1), true);
        assert_eq!(slow, (at(11), Due::SignOfLife), "it has been asked already");
    }

    #[test]
    fn a_busy_link_is_not_silent_and_without_credits_nobody_can_ask() {
        let mut silence = silence();
        silence.sent(at(30));
        assert_eq!(silence.due(at(5), true), (at(32), Due::SignOfLife));
        assert_eq!(silence.due(at(5), false), (at(40), Due::End));
    }
}
