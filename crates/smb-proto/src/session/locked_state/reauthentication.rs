//! The login again, of a session that has expired (3.2.5.1.7): what was refused for that, and which channel does it.

use super::resend::Lost;
use super::{Calls, State};
use crate::error::NtStatus;
use crate::session::ChannelNumber;

/// The login again, of a session that has expired.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Renewal {
    /// This channel shall do it.
    Wanted(ChannelNumber),
    /// It does.
    InProgress(ChannelNumber),
    /// No channel can; all of them end, and the session is made anew.
    Impossible,
}

impl State {
    /// A request was not done because the session has expired. Whether this channel shall log in
    /// again.
    pub(crate) fn expired(&mut self, number: ChannelNumber, mut work: Lost) -> (bool, Calls) {
        self.one_less(number);
        let failure = match self.check_open() {
            Ok(()) if work.tries().expired() => None,
            Ok(()) => Some(self.refusal(&work, NtStatus::NETWORK_SESSION_EXPIRED)),
            Err(ended) => Some(ended),
        };
        let calls = match (failure, work) {
            (Some(failure), Lost::Control(control)) if control.restores.is_some() => {
                self.cannot_restore(number, &control, failure);
                Calls::new()
            }
            (Some(failure), work) => self.give_up(work, failure),
            (None, Lost::Control(control)) if control.restores.is_some() => {
                self.restoring.expired(number, control);
                Calls::new()
            }
            (None, Lost::Control(control)) => {
                self.control.push_front(control);
                Calls::new()
            }
            (None, Lost::Write(write)) => {
                self.writes.push_front(write);
                Calls::new()
            }
            (None, Lost::Read(piece)) => self.requeue_read(piece),
        };
        if self.renewal.is_none() && self.check_open().is_ok() {
            self.renewal = Some(match self.renews(number) {
                Some(by) => Renewal::Wanted(by),
                None => Renewal::Impossible,
            });
            self.wake_all();
        }
        (self.claims_renewal(number), calls)
    }

    /// Which channel logs in again. What it sends then is to be signed with the session's key
    /// (3.2.4.1.1), and servers verify it by the channel's (3.3.5.2.4): only on the channel that
    /// logged in they are the same. Where nothing of that is signed, any channel can.
    fn renews(&self, number: ChannelNumber) -> Option<ChannelNumber> {
        let negotiated = &self.login()?.negotiated;
        match negotiated.signing && !negotiated.encryption {
            true => self.login_channel,
            false => Some(number),
        }
    }

    pub(super) fn claims_renewal(&mut self, number: ChannelNumber) -> bool {
        let claims = self.renewal == Some(Renewal::Wanted(number));
        if claims {
            self.renewal = Some(Renewal::InProgress(number));
        }
        claims
    }

    pub(crate) fn renewed(&mut self) {
        self.renewal = None;
        self.wake_all();
    }

    /// Whether the session has expired and no channel can log in again.
    pub(crate) fn cannot_be_renewed(&self) -> bool {
        self.renewal == Some(Renewal::Impossible)
    }
}
