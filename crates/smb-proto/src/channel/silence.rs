//! Silence of the server: when to ask for a sign of life, and when to stop waiting for one.

use std::time::Duration;

use crate::time::Time;

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
