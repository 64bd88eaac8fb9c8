//! The state of a channel that does not take work yet, and what its connection agreed on.

use std::sync::Arc;

use locale::say;

use crate::authenticator::{Authenticator, SessionKey};
use crate::error::{Error, Operation, Result};
use crate::monotonic_time::Time;
use crate::session::{Cipher, Dialect, Joins, Login, SessionSettings, SigningAlgorithm};
use crate::signing_and_keys::PreauthHash;
use crate::wire::capability;

/// More rounds than this is no authentication.
const ROUNDS_MAX: u32 = 16;

/// The state of a channel that does not take work yet.
pub(super) struct Handshake {
    /// The session to bind to; none: log in.
    pub(super) binding: Option<Arc<Login>>,
    /// The session that was lost, if this is not the first login.
    pub(super) before: Option<Arc<Login>>,
    authenticator: Box<dyn Authenticator>,
    pub(super) salt: [u8; 32],
    pub(super) preauth: PreauthHash,
    pub(super) session_key: Option<SessionKey>,
    rounds: u32,
    pub(super) deadline: Time,
}

impl Handshake {
    pub(super) fn new(
        joins: Joins,
        authenticator: Box<dyn Authenticator>,
        salt: [u8; 32],
        deadline: Time,
    ) -> Self {
        let (binding, before) = match joins {
            Joins::First => (None, None),
            Joins::Binds(login) => (Some(login), None),
            Joins::After(login) => (None, Some(login)),
        };
        let preauth = PreauthHash::new();
        Self {
            binding,
            before,
            authenticator,
            salt,
            preauth,
            session_key: None,
            rounds: 0,
            deadline,
        }
    }

    pub(super) fn operation(&self) -> Operation {
        match self.binding {
            Some(_) => Operation::BindChannel,
            None => Operation::LogIn,
        }
    }

    /// Which dialects to offer: on further channels only what the first one got.
    pub(super) fn dialects(&self, settings: &SessionSettings) -> Vec<Dialect> {
        match &self.binding {
            Some(login) => vec![login.negotiated.dialect],
            None => settings.dialects.clone(),
        }
    }

    pub(super) fn algorithms(&self, settings: &SessionSettings) -> Vec<SigningAlgorithm> {
        match &self.binding {
            Some(login) => vec![login.negotiated.signing_algorithm],
            None => settings.signing_algorithms.clone(),
        }
    }

    pub(super) fn ciphers(&self, settings: &SessionSettings) -> Vec<Cipher> {
        let agreed = self.binding.as_ref();
        match agreed.and_then(|login| login.negotiated.cipher) {
            Some(cipher) => vec![cipher],
            None => settings.ciphers.clone(),
        }
    }

    /// The next token for the server, and the session key once it is known.
    pub(super) fn step(&mut self, server_token: &[u8]) -> Result<Vec<u8>> {
        self.rounds += 1;
        if self.rounds > ROUNDS_MAX {
            return Err(Error::Misbehaving(say("misbehaving.endless-login")));
        }
        let step = self.authenticator.step(server_token);
        let step = step.map_err(|cause| Error::Authentication(cause.into()))?;
        if step.session_key.is_some() {
            self.session_key = step.session_key;
        }
        Ok(step.token)
    }
}

/// What this connection agreed on.
pub(super) struct Agreed {
    pub(super) dialect: Dialect,
    pub(super) algorithm: SigningAlgorithm,
    /// None: they have none in common, or one side cannot encrypt.
    pub(super) cipher: Option<Cipher>,
    /// The POSIX extensions.
    pub(super) posix: bool,
    pub(super) server_guid: [u8; 16],
    pub(super) security_mode: u16,
    pub(super) capabilities: u32,
    pub(super) read_bytes_max: u32,
    pub(super) write_bytes_max: u32,
    pub(super) transact_bytes_max: u32,
    /// What its NEGOTIATE says about authentication.
    pub(super) token: Vec<u8>,
}

impl Agreed {
    pub(super) fn large_mtu(&self) -> bool {
        self.dialect > Dialect::Smb202 && self.capabilities & capability::LARGE_MTU != 0
    }

    /// Whether a header has a place for how many channels were lost.
    pub(super) fn counts_channels(&self) -> bool {
        self.dialect >= Dialect::Smb300
    }

    pub(super) fn multichannel(&self) -> bool {
        self.dialect >= Dialect::Smb300 && self.capabilities & capability::MULTI_CHANNEL != 0
    }
}
