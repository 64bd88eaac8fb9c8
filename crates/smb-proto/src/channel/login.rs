//! SESSION_SETUP: logging in, or binding a further channel to a session.

use std::sync::Arc;

use locale::say;

use super::handshake_state::{Agreed, Handshake};
use super::message_protection::{Guard, Keys};
use super::negotiate::own_security_mode;
use super::outgoing_requests::Outgoing;
use super::pending_requests::Job;
use super::{Channel, Event, Phase};
use crate::authenticator::SessionKey;
use crate::error::{Error, NtStatus, Result};
use crate::monotonic_time::Time;
use crate::sealing::SealingKeys;
use crate::session::{Dialect, EncryptionPolicy, Identity, Login, Negotiated, SigningPolicy};
use crate::signing_and_keys::{self, PreauthHash, Signer};
use crate::wire::{
    Command, HEADER_LENGTH, Header, Message as _, SessionSetupRequest, SessionSetupResponse, flags,
    security_mode, session_flags, setup_request_flags,
};

impl Channel {
    pub(super) fn set_up(
        &mut self,
        handshake: &mut Handshake,
        token: &[u8],
        now: Time,
    ) -> Result<()> {
        let settings = self.session.settings();
        let binding = handshake.binding.as_ref();
        let previous = match (binding, &handshake.before) {
            (Some(_), _) => 0,
            (None, Some(before)) => before.session_id,
            (None, None) => settings.previous_session_id,
        };
        let mut body = Vec::new();
        SessionSetupRequest {
            flags: if binding.is_some() {
                setup_request_flags::BINDING
            } else {
                0
            },
            security_mode: own_security_mode(settings) as u8,
            capabilities: 0,
            previous_session_id: previous,
            token,
        }
        .encode(&mut body);
        let mut outgoing = Outgoing::new(Command::SESSION_SETUP);
        // a binding request proves by the session's key that it belongs to it
        if let Some(signer) = binding.and_then(|login| login.signer.clone()) {
            outgoing.guard = Guard::Signed(signer);
        }
        let sent = self.send(outgoing, &body, Job::SessionSetup, now)?;
        handshake.preauth.add(sent);
        Ok(())
    }

    pub(super) fn was_set_up(
        &mut self,
        header: &Header,
        message: &mut [u8],
        now: Time,
    ) -> Result<()> {
        if let Some(renewal) = self.renewal.take() {
            return self.was_renewed(renewal, header, message, now);
        }
        let Phase::Handshake(mut handshake) = std::mem::replace(&mut self.phase, Phase::Closed)
        else {
            return Err(Error::Misbehaving(say("misbehaving.logs-in-out-of-turn")));
        };
        match header.status {
            NtStatus::SUCCESS => self.logged_in(*handshake, header, message),
            NtStatus::MORE_PROCESSING_REQUIRED => {
                if let Some(login) = &handshake.binding {
                    self.check_early_signature(login, header, message)?;
                } else if self.session_id == 0 {
                    self.session_id = header.session_id;
                } else if self.session_id != header.session_id {
                    return Err(Error::Misbehaving(say("misbehaving.other-session-id")));
                }
                handshake.preauth.add(message);
                let response = SessionSetupResponse::decode(&message[HEADER_LENGTH..])?;
                let token = handshake.step(response.token)?;
                self.set_up(&mut handshake, &token, now)?;
                self.phase = Phase::Handshake(handshake);
                Ok(())
            }
            status => Err(Error::refused(handshake.operation(), status)),
        }
    }

    /// Replies before a binding is complete carry the session's signature; old ksmbd forgets the flag.
    fn check_early_signature(
        &self,
        login: &Login,
        header: &Header,
        message: &mut [u8],
    ) -> Result<()> {
        let Some(signer) = login.signer.as_ref().filter(|_| header.has(flags::SIGNED)) else {
            return Ok(());
        };
        if signer.verify(message)? {
            return Ok(());
        }
        Err(Error::Misbehaving(say("misbehaving.binding-signature")))
    }

    fn logged_in(
        &mut self,
        mut handshake: Handshake,
        header: &Header,
        message: &mut [u8],
    ) -> Result<()> {
        let response = SessionSetupResponse::decode(&message[HEADER_LENGTH..])?;
        let demanded = response.flags & session_flags::ENCRYPT_DATA != 0;
        let identity = self.identity(&handshake, response.flags)?;
        let guest = identity != Identity::User;
        if !response.token.is_empty() {
            handshake.step(response.token)?;
        }
        let agreed = self.agreed.as_ref().ok_or(Error::SessionEnded(None))?;
        let exported = handshake.session_key.take().filter(|_| !guest);
        let signer = match &exported {
            Some(exported) => Some(channel_signer(agreed, exported, &handshake.preauth)?),
            None if guest => None,
            None => {
                let problem = Error::InvalidRequest(say("invalid-request.session-key"));
                return Err(Error::Authentication(Arc::new(problem)));
            }
        };
        if let Some(signer) = &signer {
            check_last_signature(signer, agreed, &handshake, header, message)?;
        }
        let login = match handshake.binding {
            Some(_) if guest => {
                return Err(Error::Misbehaving(say("misbehaving.binds-guest")));
            }
            Some(login) => login,
            None => {
                self.session_id = header.session_id;
                let negotiated = self.session_negotiated(agreed, identity, demanded)?;
                let sealing = sealing_keys(agreed, exported.as_ref(), &handshake.preauth)?;
                Arc::new(Login {
                    session_id: header.session_id,
                    negotiated,
                    security_mode: agreed.security_mode,
                    capabilities: agreed.capabilities,
                    signer: signer.clone(),
                    sealing,
                })
            }
        };
        self.keys = Keys::new(&login, signer, self.number);
        self.phase = Phase::Up;
        self.session.channel_up(self.number, &login);
        self.events.push_back(Event::Up);
        Ok(())
    }

    /// Whom the server has let in, by the flags of its reply.
    fn identity(&self, handshake: &Handshake, flags: u16) -> Result<Identity> {
        let settings = self.session.settings();
        let identity = match settings.identity {
            Identity::Anonymous => Identity::Anonymous,
            _ if flags & session_flags::NULL != 0 => Identity::Anonymous,
            _ if flags & session_flags::GUEST != 0 => Identity::Guest,
            _ => Identity::User,
        };
        let was_user = handshake
            .before
            .as_ref()
            .is_some_and(|before| before.negotiated.identity == Identity::User);
        if identity != Identity::User && (was_user || settings.identity == Identity::User) {
            return Err(Error::GuestOnly);
        }
        Ok(identity)
    }

    /// What policy and server make of what they agreed. `demanded`: the server wants all encrypted.
    fn session_negotiated(
        &self,
        agreed: &Agreed,
        identity: Identity,
        demanded: bool,
    ) -> Result<Negotiated> {
        let guest = identity != Identity::User;
        let settings = self.session.settings();
        let incompatible = |id| Err(Error::Incompatible(say(id)));
        let required_there = agreed.security_mode & security_mode::SIGNING_REQUIRED != 0;
        let encryption = demanded || settings.encryption == EncryptionPolicy::Required;
        if guest && settings.signing == SigningPolicy::Required {
            return incompatible("incompatible.guest-cannot-sign");
        }
        if guest && encryption {
            return incompatible("incompatible.guest-cannot-encrypt");
        }
        if encryption && agreed.cipher.is_none() {
            return incompatible("incompatible.no-cipher");
        }
        let everything = required_there || settings.signing == SigningPolicy::Required;
        let signing = everything || settings.signing == SigningPolicy::DataUnsigned;
        Ok(Negotiated {
            dialect: agreed.dialect,
            signing_algorithm: agreed.algorithm,
            signing: signing && !guest,
            data_signing: everything && !guest,
            cipher: agreed.cipher.filter(|_| !guest),
            encryption,
            server_guid: agreed.server_guid,
            multichannel: agreed.multichannel() && !guest,
            read_bytes_max: agreed.read_bytes_max,
            write_bytes_max: agreed.write_bytes_max,
            transact_bytes_max: agreed.transact_bytes_max,
            identity,
            posix: agreed.posix,
        })
    }
}

/// Signs what this channel sends, and verifies what it gets.
fn channel_signer(agreed: &Agreed, exported: &SessionKey, preauth: &PreauthHash) -> Result<Signer> {
    let key = signing_and_keys::session_key(exported.bytes());
    let signing_key = signing_and_keys::signing_key(agreed.dialect, &key, preauth);
    Signer::new(agreed.algorithm, &signing_key)
}

/// None where no cipher was agreed, and for guests.
fn sealing_keys(
    agreed: &Agreed,
    exported: Option<&SessionKey>,
    preauth: &PreauthHash,
) -> Result<Option<SealingKeys>> {
    let (Some(exported), Some(cipher)) = (exported, agreed.cipher) else {
        return Ok(None);
    };
    SealingKeys::client(agreed.dialect, cipher, exported.bytes(), preauth).map(Some)
}

/// The reply that ends the login is signed in 3.1.1 and where a channel binds, and right wherever it is signed.
fn check_last_signature(
    signer: &Signer,
    agreed: &Agreed,
    handshake: &Handshake,
    header: &Header,
    message: &mut [u8],
) -> Result<()> {
    let must_be_signed = agreed.dialect == Dialect::Smb311 || handshake.binding.is_some();
    let problem = match header.has(flags::SIGNED) {
        true if signer.verify(message)? => None,
        true => Some("misbehaving.wrong-login-signature"),
        false => must_be_signed.then_some("misbehaving.unsigned-login"),
    };
    match problem {
        Some(problem) => Err(Error::Misbehaving(say(problem))),
        None => Ok(()),
    }
}
