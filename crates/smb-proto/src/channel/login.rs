//! From a fresh connection to one that takes work: NEGOTIATE, then logging in or binding.

use std::sync::Arc;

use super::keys::{Guard, Keys};
use super::outgoing::Outgoing;
use super::pending::{Job, Pending};
use super::{Channel, Event, Phase};
use crate::auth::{Authenticator, SessionKey};
use crate::crypto::{self, PreauthHash, Signer};
use crate::error::{Error, LOGIN, NtStatus, Result};
use crate::sealing::SealingKeys;
use crate::session::{
    Cipher, Dialect, EncryptionPolicy, Identity, Joins, Login, Negotiated, SessionSettings,
    SigningAlgorithm, SigningPolicy, TreeId,
};
use crate::time::Time;
use crate::wire::{
    Command, HEADER_LENGTH, Header, Message as _, NegotiateContext, NegotiateRequest,
    NegotiateResponse, POSIX_EXTENSIONS_AVAILABLE, POSIX_TAG, SessionSetupRequest,
    SessionSetupResponse, capability, dialect, flags, security_mode, session_flags,
    setup_request_flags, utf16,
};

/// No server's READs, WRITEs and other payloads may be limited to less (3.2.5.2).
const SIZE_MIN: u32 = 1 << 16;
/// More rounds than this is no authentication.
const ROUNDS_MAX: u32 = 16;

/// The state of a channel that does not take work yet.
pub(super) struct Handshake {
    /// The session to bind to; none: log in.
    binding: Option<Arc<Login>>,
    /// The session that was lost, if this is not the first login.
    before: Option<Arc<Login>>,
    authenticator: Box<dyn Authenticator>,
    salt: [u8; 32],
    preauth: PreauthHash,
    session_key: Option<SessionKey>,
    rounds: u32,
    pub(super) deadline: Time,
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
    token: Vec<u8>,
}

impl Agreed {
    pub(super) fn large_mtu(&self) -> bool {
        self.dialect > Dialect::Smb202 && self.capabilities & capability::LARGE_MTU != 0
    }

    /// Whether a header has a place for how many channels were lost.
    pub(super) fn counts_channels(&self) -> bool {
        self.dialect >= Dialect::Smb300
    }

    fn multichannel(&self) -> bool {
        self.dialect >= Dialect::Smb300 && self.capabilities & capability::MULTI_CHANNEL != 0
    }
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

    fn doing(&self) -> &'static str {
        if self.binding.is_some() {
            "binding a channel"
        } else {
            LOGIN
        }
    }

    /// Which dialects to offer: on further channels only what the first one got.
    fn dialects(&self, settings: &SessionSettings) -> Vec<Dialect> {
        match &self.binding {
            Some(login) => vec![login.negotiated.dialect],
            None => settings.dialects.clone(),
        }
    }

    fn algorithms(&self, settings: &SessionSettings) -> Vec<SigningAlgorithm> {
        match &self.binding {
            Some(login) => vec![login.negotiated.signing_algorithm],
            None => settings.signing_algorithms.clone(),
        }
    }

    fn ciphers(&self, settings: &SessionSettings) -> Vec<Cipher> {
        let agreed = self.binding.as_ref();
        match agreed.and_then(|login| login.negotiated.cipher) {
            Some(cipher) => vec![cipher],
            None => settings.ciphers.clone(),
        }
    }

    /// The next token for the server, and the session key once it is known.
    fn step(&mut self, server_token: &[u8]) -> Result<Vec<u8>> {
        self.rounds += 1;
        if self.rounds > ROUNDS_MAX {
            return Err(Error::Misbehaving("its authentication never ends".into()));
        }
        let step = self.authenticator.step(server_token);
        let step = step.map_err(|cause| Error::Authentication(cause.into()))?;
        if step.session_key.is_some() {
            self.session_key = step.session_key;
        }
        Ok(step.token)
    }
}

pub(super) fn dialect_code(dialect: Dialect) -> u16 {
    match dialect {
        Dialect::Smb202 => dialect::SMB_2_0_2,
        Dialect::Smb210 => dialect::SMB_2_1,
        Dialect::Smb300 => dialect::SMB_3_0,
        Dialect::Smb302 => dialect::SMB_3_0_2,
        Dialect::Smb311 => dialect::SMB_3_1_1,
    }
}

fn algorithm_code(algorithm: SigningAlgorithm) -> u16 {
    match algorithm {
        SigningAlgorithm::HmacSha256 => 0,
        SigningAlgorithm::AesCmac => 1,
        SigningAlgorithm::AesGmac => 2,
    }
}

fn cipher_code(cipher: Cipher) -> u16 {
    match cipher {
        Cipher::Aes128Ccm => 1,
        Cipher::Aes128Gcm => 2,
        Cipher::Aes256Ccm => 3,
        Cipher::Aes256Gcm => 4,
    }
}

/// What to say that we can, to a server that is offered these dialects; 2.x has no words for it
/// (2.2.3).
pub(super) fn own_capabilities(settings: &SessionSettings, dialects: &[Dialect]) -> u32 {
    let modern = dialects.iter().any(|dialect| *dialect >= Dialect::Smb300);
    let encryption = if settings.ciphers.is_empty() {
        0
    } else {
        capability::ENCRYPTION
    };
    if modern {
        capability::LEASING | capability::LARGE_MTU | capability::MULTI_CHANNEL | encryption
    } else {
        0
    }
}

pub(super) fn own_security_mode(settings: &SessionSettings) -> u16 {
    match settings.signing {
        SigningPolicy::IfRequired | SigningPolicy::DataUnsigned => security_mode::SIGNING_ENABLED,
        SigningPolicy::Required => security_mode::SIGNING_ENABLED | security_mode::SIGNING_REQUIRED,
    }
}

/// Offers the POSIX extensions, and takes the offer.
const POSIX: NegotiateContext<'static> = NegotiateContext::Other {
    kind: POSIX_EXTENSIONS_AVAILABLE,
    data: &POSIX_TAG,
};

/// Checks the reply to NEGOTIATE against what was offered.
fn agree(
    response: &NegotiateResponse<'_>,
    dialects: &[Dialect],
    algorithms: &[SigningAlgorithm],
    ciphers: &[Cipher],
) -> Result<Agreed> {
    let offered = dialects
        .iter()
        .find(|offer| dialect_code(**offer) == response.dialect);
    let dialect = *offered.ok_or_else(|| {
        Error::Incompatible(format!(
            "it chose dialect {:#06x}, not offered",
            response.dialect
        ))
    })?;
    let sizes = [
        response.read_bytes_max,
        response.write_bytes_max,
        response.transact_bytes_max,
    ];
    if sizes.iter().any(|size| *size < SIZE_MIN) {
        return Err(Error::Incompatible(
            "it takes less than 64 KiB at a time".into(),
        ));
    }
    let (algorithm, cipher) = match dialect {
        Dialect::Smb202 | Dialect::Smb210 => (SigningAlgorithm::HmacSha256, None),
        Dialect::Smb300 | Dialect::Smb302 => {
            let encrypts = response.capabilities & capability::ENCRYPTION != 0
                && ciphers.contains(&Cipher::Aes128Ccm);
            let cipher = encrypts.then_some(Cipher::Aes128Ccm);
            (SigningAlgorithm::AesCmac, cipher)
        }
        Dialect::Smb311 => agree_contexts(&response.contexts, algorithms, ciphers)?,
    };
    Ok(Agreed {
        dialect,
        algorithm,
        cipher,
        // there are no contexts in other dialects
        posix: response.contexts.contains(&POSIX),
        server_guid: response.server_guid,
        security_mode: response.security_mode,
        capabilities: response.capabilities,
        read_bytes_max: response.read_bytes_max,
        write_bytes_max: response.write_bytes_max,
        transact_bytes_max: response.transact_bytes_max,
        token: response.token.to_vec(),
    })
}

/// The contexts of 3.1.1: the hash must be SHA-512; gives the signing algorithm and the cipher.
fn agree_contexts(
    contexts: &[NegotiateContext<'_>],
    offered: &[SigningAlgorithm],
    ciphers: &[Cipher],
) -> Result<(SigningAlgorithm, Option<Cipher>)> {
    let (mut hashes, mut algorithm, mut cipher) = (0, None, None);
    for context in contexts {
        match context {
            NegotiateContext::Preauth { algorithms, .. } => {
                hashes += 1;
                if *algorithms != [NegotiateContext::SHA_512] {
                    return Err(Error::Incompatible("it does not hash with SHA-512".into()));
                }
            }
            NegotiateContext::Signing(codes) => {
                let chosen = offered
                    .iter()
                    .find(|offer| codes[..] == [algorithm_code(**offer)]);
                if algorithm.is_some() || chosen.is_none() {
                    let problem = "it chose a signing algorithm that was not offered";
                    return Err(Error::Misbehaving(problem.into()));
                }
                algorithm = chosen.copied();
            }
            NegotiateContext::Encryption(codes) => {
                let chosen = ciphers
                    .iter()
                    .find(|offer| codes[..] == [cipher_code(**offer)]);
                // zero: none of those offered
                if cipher.is_some() || (chosen.is_none() && codes[..] != [0]) {
                    let problem = "it chose a cipher that was not offered";
                    return Err(Error::Misbehaving(problem.into()));
                }
                cipher = Some(chosen.copied());
            }
            _ => {}
        }
    }
    if hashes != 1 {
        return Err(Error::Misbehaving(
            "it does not say exactly one hash algorithm".into(),
        ));
    }
    let algorithm = algorithm.unwrap_or(SigningAlgorithm::AesCmac);
    Ok((algorithm, cipher.flatten()))
}

/// A further channel must find the server as the first one did (3.2.5.2).
fn compare(agreed: &Agreed, login: &Login) -> Result<()> {
    let negotiated = &login.negotiated;
    let differs = if agreed.server_guid != negotiated.server_guid {
        "it is another server than on the first channel"
    } else if agreed.algorithm != negotiated.signing_algorithm {
        "it signs otherwise than on the first channel"
    } else if agreed.cipher != negotiated.cipher {
        "it encrypts otherwise than on the first channel"
    } else if agreed.posix != negotiated.posix {
        "it has other POSIX extensions than on the first channel"
    } else if agreed.security_mode != login.security_mode {
        "its security mode differs from the first channel"
    } else if agreed.capabilities != login.capabilities {
        "its capabilities differ from the first channel"
    } else {
        return Ok(());
    };
    Err(Error::Incompatible(differs.into()))
}

impl Channel {
    pub(super) fn negotiate(&mut self, handshake: &mut Handshake, now: Time) -> Result<()> {
        let settings = self.session.settings();
        let dialects = handshake.dialects(settings);
        self.offered.clone_from(&dialects);
        let algorithms = handshake.algorithms(settings);
        let name = utf16::encode(&settings.server_name);
        let salt = handshake.salt;
        let mut contexts = Vec::new();
        if dialects.contains(&Dialect::Smb311) {
            let codes = algorithms
                .iter()
                .map(|algorithm| algorithm_code(*algorithm))
                .collect();
            contexts = vec![
                NegotiateContext::Preauth {
                    algorithms: vec![NegotiateContext::SHA_512],
                    salt: &salt,
                },
                NegotiateContext::Signing(codes),
                NegotiateContext::NetName(&name),
            ];
            let ciphers = handshake.ciphers(settings);
            if !ciphers.is_empty() {
                let codes = ciphers.into_iter().map(cipher_code).collect();
                contexts.push(NegotiateContext::Encryption(codes));
            }
            if settings.posix {
                contexts.push(POSIX);
            }
        }
        let mut body = Vec::new();
        NegotiateRequest {
            security_mode: own_security_mode(settings),
            capabilities: own_capabilities(settings, &dialects),
            client_guid: settings.client_guid,
            dialects: dialects
                .iter()
                .map(|dialect| dialect_code(*dialect))
                .collect(),
            contexts,
        }
        .encode(&mut body);
        let sent = self.send(
            Outgoing::new(Command::NEGOTIATE),
            &body,
            Job::Negotiate,
            now,
        )?;
        handshake.preauth.add(sent);
        Ok(())
    }

    pub(super) fn negotiated(&mut self, header: &Header, message: &[u8], now: Time) -> Result<()> {
        let Phase::Handshake(mut handshake) = std::mem::replace(&mut self.phase, Phase::Closed)
        else {
            return Err(Error::Misbehaving("it negotiates out of turn".into()));
        };
        match header.status {
            NtStatus::SUCCESS => {}
            NtStatus::NOT_SUPPORTED => {
                let problem = "it speaks none of the dialects that were offered";
                return Err(Error::Incompatible(problem.into()));
            }
            status => {
                let doing = "negotiation".into();
                return Err(Error::Refused { doing, status });
            }
        }
        let response = NegotiateResponse::decode(&message[HEADER_LENGTH..])?;
        let settings = self.session.settings();
        let dialects = handshake.dialects(settings);
        let algorithms = handshake.algorithms(settings);
        let ciphers = handshake.ciphers(settings);
        let mut agreed = agree(&response, &dialects, &algorithms, &ciphers)?;
        agreed.posix &= settings.posix;
        if let Some(login) = &handshake.binding {
            compare(&agreed, login)?;
            self.session_id = login.session_id;
        }
        if let Some(before) = &handshake.before {
            let before = &before.negotiated;
            // what is opened again would be something else without them
            let problem = if before.server_guid != agreed.server_guid {
                Some("it is another server than before the connection was lost")
            } else if before.posix && !agreed.posix {
                Some("it has no POSIX extensions any more")
            } else {
                None
            };
            if let Some(problem) = problem {
                return Err(Error::Incompatible(problem.into()));
            }
        }
        self.agreed = Some(agreed);
        handshake.preauth.add(message);
        let token = handshake.step(response.token)?;
        self.set_up(&mut handshake, &token, now)?;
        self.phase = Phase::Handshake(handshake);
        Ok(())
    }

    fn set_up(&mut self, handshake: &mut Handshake, token: &[u8], now: Time) -> Result<()> {
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
            return Err(Error::Misbehaving("it logs in out of turn".into()));
        };
        match header.status {
            NtStatus::SUCCESS => self.logged_in(*handshake, header, message),
            NtStatus::MORE_PROCESSING_REQUIRED => {
                if let Some(login) = &handshake.binding {
                    self.check_early_signature(login, header, message)?;
                } else if self.session_id == 0 {
                    self.session_id = header.session_id;
                } else if self.session_id != header.session_id {
                    return Err(Error::Misbehaving("it changes the session's id".into()));
                }
                handshake.preauth.add(message);
                let response = SessionSetupResponse::decode(&message[HEADER_LENGTH..])?;
                let token = handshake.step(response.token)?;
                self.set_up(&mut handshake, &token, now)?;
                self.phase = Phase::Handshake(handshake);
                Ok(())
            }
            status => Err(Error::Refused {
                doing: handshake.doing().into(),
                status,
            }),
        }
    }

    /// The session has expired (3.2.5.1.7): what was refused for that waits until a channel that can
    /// has logged in again. Keys and ids stay as they are.
    pub(super) fn expired(&mut self, pending: Pending) -> Result<()> {
        if matches!(pending.job, Job::Negotiate | Job::SessionSetup) {
            self.renewal = None;
            return Err(Error::Misbehaving("it lets the login itself expire".into()));
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

    fn was_renewed(
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
                let doing = renewal.doing().into();
                let refused = Error::Refused { doing, status };
                self.session.refused(refused.clone());
                Err(refused)
            }
        }
    }

    /// Replies on the way to a binding carry the session's signature; old ksmbd forgets the flag.
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
        Err(Error::Misbehaving(
            "its signature is wrong while binding a channel".into(),
        ))
    }

    fn logged_in(
        &mut self,
        mut handshake: Handshake,
        header: &Header,
        message: &mut [u8],
    ) -> Result<()> {
        let response = SessionSetupResponse::decode(&message[HEADER_LENGTH..])?;
        let settings = self.session.settings();
        let demanded = response.flags & session_flags::ENCRYPT_DATA != 0;
        let identity = match settings.identity {
            Identity::Anonymous => Identity::Anonymous,
            _ if response.flags & session_flags::NULL != 0 => Identity::Anonymous,
            _ if response.flags & session_flags::GUEST != 0 => Identity::Guest,
            _ => Identity::User,
        };
        let guest = identity != Identity::User;
        let was_user = handshake
            .before
            .as_ref()
            .is_some_and(|before| before.negotiated.identity == Identity::User);
        if guest && (was_user || settings.identity == Identity::User) {
            return Err(Error::GuestOnly);
        }
        if !response.token.is_empty() {
            handshake.step(response.token)?;
        }
        let agreed = self.agreed.as_ref().ok_or(Error::SessionEnded(None))?;
        let exported = handshake.session_key.take().filter(|_| !guest);
        let signer = match &exported {
            Some(exported) => {
                let key = crypto::session_key(exported.bytes());
                let signing_key = crypto::signing_key(agreed.dialect, &key, &handshake.preauth);
                Some(Signer::new(agreed.algorithm, &signing_key)?)
            }
            None if guest => None,
            None => {
                let problem = "the mechanism ended without a session key";
                return Err(Error::Authentication(Arc::from(Box::from(problem))));
            }
        };
        let must_be_signed = agreed.dialect == Dialect::Smb311 || handshake.binding.is_some();
        if let Some(signer) = &signer {
            let problem = match header.has(flags::SIGNED) {
                true if signer.verify(message)? => None,
                true => Some("the signature of its last word in the login is wrong"),
                false => must_be_signed.then_some("its last word in the login is not signed"),
            };
            if let Some(problem) = problem {
                return Err(Error::Misbehaving(problem.into()));
            }
        }
        let login = match handshake.binding {
            Some(_) if guest => {
                return Err(Error::Misbehaving("it binds a channel as a guest".into()));
            }
            Some(login) => login,
            None => {
                self.session_id = header.session_id;
                let negotiated = self.session_negotiated(agreed, identity, demanded)?;
                let sealing = match (&exported, agreed.cipher) {
                    (Some(exported), Some(cipher)) => Some(SealingKeys::client(
                        agreed.dialect,
                        cipher,
                        exported.bytes(),
                        &handshake.preauth,
                    )?),
                    _ => None,
                };
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

    /// What policy and server make of what they agreed. `demanded`: the server wants all encrypted.
    fn session_negotiated(
        &self,
        agreed: &Agreed,
        identity: Identity,
        demanded: bool,
    ) -> Result<Negotiated> {
        let guest = identity != Identity::User;
        let settings = self.session.settings();
        let incompatible = |problem: &str| Err(Error::Incompatible(problem.into()));
        let required_there = agreed.security_mode & security_mode::SIGNING_REQUIRED != 0;
        let encryption = demanded || settings.encryption == EncryptionPolicy::Required;
        if guest && settings.signing == SigningPolicy::Required {
            return incompatible("it let us in as a guest, and guests cannot sign");
        }
        if guest && encryption {
            return incompatible("it let us in as a guest, and guests cannot encrypt");
        }
        if encryption && agreed.cipher.is_none() {
            return incompatible("everything is to be encrypted, and no cipher was agreed");
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
