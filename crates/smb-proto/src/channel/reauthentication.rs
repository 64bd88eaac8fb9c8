//! The login again, of a session that has expired.

use locale::say;

use super::handshake_state::Handshake;
use super::negotiate::own_security_mode;
use super::outgoing_requests::Outgoing;
use super::pending_requests::{Job, Pending};
use super::{Channel, Event, Phase};
use crate::authenticator::Authenticator;
use crate::error::{Error, NtStatus, Result};
use crate::monotonic_time::Time;
use crate::session::{Identity, Joins, TreeId};
use crate::wire::{
    Command, HEADER_LENGTH, Header, Message as _, SessionSetupRequest, SessionSetupResponse,
    session_flags,
};

impl Channel {
    /// The session has expired (3.2.5.1.7): what was refused for that waits until a channel that can
    /// has logged in again. Keys and ids stay as they are.
    pub(super) fn expired(&mut self, pending: Pending) -> Result<()> {
        if matches!(pending.job, Job::Negotiate | Job::SessionSetup) {
            self.renewal = None;
            return Err(Error::Misbehaving(say("misbehaving.expires-login")));
        }
        if let Some(work) = pending.job.into_work()
            && self.session.expired(self.number, work)
        {
            self.events.push_back(Event::Expired);
        }
        Ok(())
    }

    /// Says again who we are, after [`Event::Expired`].
    pub fn reauthenticate(&mut self, authenticator: Box<dyn Authenticator>, now: Time) {
        if !matches!(self.phase, Phase::Up) {
            return;
        }
        let joins = Joins::First;
        let mut renewal = Box::new(Handshake::new(joins, authenticator, [0; 32], now));
        let hint = self.agreed.as_mut().map(|agreed| agreed.token.clone());
        let sent = renewal
            .step(&hint.unwrap_or_default())
            .and_then(|token| self.renew(&token, now));
        self.renewal = Some(renewal);
        if let Err(error) = sent {
            self.close(Some(error));
        }
    }

    fn renew(&mut self, token: &[u8], now: Time) -> Result<()> {
        let mut body = Vec::new();
        SessionSetupRequest {
            flags: 0,
            security_mode: own_security_mode(self.session.settings()) as u8,
            capabilities: 0,
            previous_session_id: 0,
            token,
        }
        .encode(&mut body);
        let mut outgoing = Outgoing::new(Command::SESSION_SETUP);
        // where it is signed, this is the channel that logged in, whose key is the session's
        outgoing.guard = self.keys.guard(TreeId::NONE);
        self.send(outgoing, &body, Job::SessionSetup, now).map(drop)
    }

    pub(super) fn was_renewed(
        &mut self,
        mut renewal: Box<Handshake>,
        header: &Header,
        message: &[u8],
        now: Time,
    ) -> Result<()> {
        match header.status {
            NtStatus::SUCCESS => {
                let response = SessionSetupResponse::decode(&message[HEADER_LENGTH..])?;
                let lowered = response.flags & (session_flags::GUEST | session_flags::NULL) != 0;
                if lowered && self.session.settings().identity == Identity::User {
                    return Err(Error::GuestOnly);
                }
                if !response.token.is_empty() {
                    renewal.step(response.token)?;
                }
                self.session.renewed();
                Ok(())
            }
            NtStatus::MORE_PROCESSING_REQUIRED => {
                let response = SessionSetupResponse::decode(&message[HEADER_LENGTH..])?;
                let token = renewal.step(response.token)?;
                self.renew(&token, now)?;
                self.renewal = Some(renewal);
                Ok(())
            }
            status => {
                // it would say the same on every channel
                let refused = Error::refused(renewal.operation(), status);
                self.session.refused(refused.clone());
                Err(refused)
            }
        }
    }
}
