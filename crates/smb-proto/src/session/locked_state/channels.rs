//! The channels of a session: how they join and leave, and which of them to wake.

use std::sync::Arc;
use std::task::Waker;

use locale::say;

use super::reauthentication::Renewal;
use super::resend::Lost;
use super::{Calls, Login, Phase, State};
use crate::error::{Error, Result};
use crate::session::ChannelNumber;
use crate::session::restore_after_reconnect;
use crate::session::retry_after_loss;

/// What a channel joins a session for.
pub(crate) enum Joins {
    /// To log in.
    First,
    /// To bind to this login.
    Binds(Arc<Login>),
    /// To log in again after this login was lost.
    After(Arc<Login>),
}

pub(crate) struct ChannelRecord {
    pub(crate) waker: Waker,
    pub(super) up: bool,
    /// It looked for work and found none.
    pub(super) hungry: bool,
    pub(super) outstanding: usize,
}

impl State {
    /// Enters a channel; gives the login to bind to or to log in again after.
    pub(crate) fn join(&mut self, waker: Waker) -> Result<(ChannelNumber, Joins)> {
        if self.channels.values().any(|channel| !channel.up) {
            return Err(Error::InvalidRequest(say(
                "invalid-request.channel-under-way",
            )));
        }
        let joins = match &self.phase {
            Phase::Fresh => Joins::First,
            Phase::Up(login) | Phase::Restoring(login) => Joins::Binds(Arc::clone(login)),
            Phase::Lost(login) => Joins::After(Arc::clone(login)),
            Phase::Ended(cause) => return Err(Error::SessionEnded(cause.clone())),
        };
        let number = ChannelNumber(self.next_channel);
        // a number goes into nonces, so it is never used twice
        self.next_channel = self
            .next_channel
            .checked_add(1)
            .ok_or_else(|| Error::InvalidRequest(say("invalid-request.channel-count")))?;
        let record = ChannelRecord {
            waker,
            up: false,
            hungry: false,
            outstanding: 0,
        };
        self.channels.insert(number, record);
        Ok((number, joins))
    }

    pub(crate) fn channel_up(&mut self, number: ChannelNumber, login: &Arc<Login>) {
        if let Some(channel) = self.channels.get_mut(&number) {
            channel.up = true;
        }
        let bound = self
            .login()
            .is_some_and(|before| Arc::ptr_eq(before, login));
        if !bound {
            self.login_channel = Some(number);
        }
        match &self.phase {
            Phase::Fresh => self.phase = Phase::Up(Arc::clone(login)),
            // it was binding when the last one was lost, and the server did not lose the session
            Phase::Lost(before) if Arc::ptr_eq(before, login) => {
                self.phase = Phase::Up(Arc::clone(login));
            }
            Phase::Lost(_) => self.begin_restoring(Arc::clone(login)),
            Phase::Up(_) | Phase::Restoring(_) | Phase::Ended(_) => {}
        }
    }

    /// Removes a channel and takes back what it had under way. If it was the last one, all waits
    /// for another, or the session ends; it also ends if the first could not log in.
    pub(crate) fn leave(
        &mut self,
        number: ChannelNumber,
        cause: Option<Arc<Error>>,
        lost: Vec<Lost>,
    ) -> Calls {
        let was_up = self
            .channels
            .remove(&number)
            .is_some_and(|channel| channel.up);
        if was_up {
            self.channel_sequence = self.channel_sequence.wrapping_add(1);
        }
        self.restoring.leave(number);
        let last = !self.channels.values().any(|channel| channel.up);
        self.login_channel.take_if(|login| *login == number);
        self.renewal.take_if(|renewal| match renewal {
            Renewal::Wanted(by) | Renewal::InProgress(by) => *by == number,
            Renewal::Impossible => last,
        });
        let mut calls = Calls::new();
        if last
            && was_up
            && self.reconnects
            && restore_after_reconnect::is_worth_waiting(cause.as_ref())
            && let Some(login) = self.login().cloned()
        {
            for lost in lost.into_iter().rev() {
                calls.extend(self.reclaim(number, lost, cause.as_ref()));
            }
            calls.extend(self.wait_for_channel(login));
            return calls;
        }
        if last && (was_up || matches!(self.phase, Phase::Fresh)) && self.check_open().is_ok() {
            for lost in lost {
                let error = retry_after_loss::loss(number, lost.operation(), cause.as_ref());
                calls.extend(self.give_up(lost, error));
            }
            calls.extend(self.end(cause));
            return calls;
        }
        // what was sent first shall be sent first again
        for lost in lost.into_iter().rev() {
            calls.extend(self.reclaim(number, lost, cause.as_ref()));
        }
        // one of them has to look when it is time for what was put off
        self.wake_all();
        calls
    }

    pub(crate) fn wake_all(&mut self) {
        for channel in self.channels.values_mut() {
            channel.hungry = false;
            channel.waker.wake_by_ref();
        }
    }

    pub(crate) fn channels_up(&self) -> Vec<ChannelNumber> {
        self.channels
            .iter()
            .filter(|(_, channel)| channel.up)
            .map(|(number, _)| *number)
            .collect()
    }

    /// For READs and WRITEs: whoever found nothing to do may look again.
    pub(super) fn wake_hungry(&mut self) {
        for channel in self.channels.values_mut().filter(|channel| channel.hungry) {
            channel.hungry = false;
            channel.waker.wake_by_ref();
        }
    }

    /// For single requests: the channel with the least to do.
    pub(crate) fn wake_idlest(&mut self) {
        let channels = self.channels.values_mut().filter(|channel| channel.up);
        if let Some(channel) = channels.min_by_key(|channel| channel.outstanding) {
            channel.hungry = false;
            channel.waker.wake_by_ref();
        }
    }

    pub(crate) fn one_less(&mut self, number: ChannelNumber) {
        if let Some(channel) = self.channels.get_mut(&number) {
            channel.outstanding = channel.outstanding.saturating_sub(1);
        }
    }
}
