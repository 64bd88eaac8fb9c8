//! Who logs in, and the exchange of tokens that proves it: Kerberos or NTLMv2 inside SPNEGO, by
//! `sspi`.
//!
//! One mechanism is offered, never a choice: so nobody between us and the server can make us take
//! the weaker one. SMB over TCP has no outer channel, so there is nothing to bind a token to.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use smb_proto::{Authenticator, SessionKey, Step};
use sspi::generator::{GeneratorState, NetworkRequest};
use sspi::ntlm::NtlmConfig;
use sspi::{
    AuthIdentity, BufferType, ClientRequestFlags, CredentialUse, Credentials, CredentialsBuffers,
    DataRepresentation, KdcResolution, KerberosConfig, Negotiate, NegotiateConfig, SecurityBuffer,
    SecurityStatus, Sspi, SspiImpl, Username,
};
use zeroize::Zeroizing;

use crate::broker::{Broker, Remote};
use crate::kerberos::{self, Configuration, KdcRefusal, Kdcs, NoAnswer};

/// Longest token of a server that is looked at; a real one has a few hundred bytes.
const TOKEN_BYTES_MAX: usize = 48_000;
/// How a length begins that is nearly the largest number there is. The parser of `sspi` adds to it, which
/// overflows, wherever in a token it stands and in whatever that is wrapped. No token is so long.
const LENGTH_THAT_OVERFLOWS: [u8; 8] = [0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
/// How `sspi` marks a password that is a hash. A password that begins so would be taken for one.
const HASH_MARK: &str = sspi::ntlm::NTLM_HASH_PREFIX;

/// Who logs in. A user is never turned into a guest without being asked for.
#[derive(Clone)]
pub enum Login {
    /// A user with a password.
    User {
        /// The user's name; `user@domain.example` works too, with an empty domain.
        user: String,
        /// Domain, Kerberos realm or workgroup, empty for none.
        domain: String,
        /// The password. Shown nowhere, wiped when dropped.
        password: Zeroizing<String>,
        /// How the password is proven.
        mechanism: Mechanism,
    },
    /// A guest: whoever the server makes of this name without a password, in a session that can
    /// neither be signed nor encrypted unless it takes the name for a user's.
    Guest {
        /// The name, as `guest`.
        user: String,
    },
    /// Nobody in particular. The server decides what such a session may see; nothing is signed.
    Anonymous,
    /// A user or guest whose tokens another process makes, which alone knows the password.
    Brokered(Arc<Broker>),
}

impl Login {
    /// The name that errors show.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::User { user, .. } | Self::Guest { user } => user,
            Self::Anonymous => "anonymous",
            Self::Brokered(broker) => broker.user(),
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User {
                user,
                domain,
                mechanism,
                ..
            } => formatter
                .debug_struct("User")
                .field("user", user)
                .field("domain", domain)
                .field("mechanism", mechanism)
                .finish_non_exhaustive(),
            Self::Guest { user } => formatter.debug_struct("Guest").field("user", user).finish(),
            Self::Anonymous => formatter.write_str("Anonymous"),
            Self::Brokered(broker) => formatter.debug_tuple("Brokered").field(broker).finish(),
        }
    }
}

/// How a password is proven to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// Kerberos where `krb5.conf` of this machine names a KDC for the user's domain and the server
    /// is called by name; NTLMv2 otherwise. Nothing on the network has a say in that: a KDC that
    /// does not answer is an error and never a reason for NTLM.
    #[default]
    Automatic,
    /// Kerberos, and nothing else. The user's realm is the domain, what is behind the `@`, or the
    /// default of `krb5.conf`.
    Kerberos {
        /// The KDC as `host` or `host:port`. Without it, `krb5.conf` names it; without that, it is
        /// the host that has the realm's name, as each domain controller has.
        kdc: Option<String>,
    },
    /// NTLMv2, and nothing else.
    Ntlm,
}

/// How a session's user was proven to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// By a ticket of a KDC. The server has proven itself too.
    Kerberos,
    /// By NTLMv2.
    Ntlm,
    /// Not at all.
    Nothing,
}

/// Why an exchange of tokens failed on our side. What the server thinks of us is its status.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The user name mixes `DOMAIN\user` and `user@domain`, or the like.
    #[error("the user name `{user}` cannot be understood")]
    UserName {
        /// The name.
        user: String,
    },
    /// In NTLMv2 the name is hashed in capitals, and `sspi` makes several letters of this one, as no
    /// server does.
    #[error(
        "`{user}` cannot log in by NTLM, because `{letter}` has no single letter as its capital; by \
         Kerberos it can"
    )]
    UserLetter {
        /// The user.
        user: String,
        /// The letter.
        letter: char,
    },
    /// The password begins with the mark of a hash.
    #[error("a password that begins with `{HASH_MARK}` cannot be used")]
    Password,
    /// Kerberos is asked for, and the user's realm is not known.
    #[error("no Kerberos realm is known for `{user}`")]
    NoRealm {
        /// The user.
        user: String,
    },
    /// This cannot be the name of a KDC.
    #[error("`{kdc}` is not a KDC")]
    KdcName {
        /// The name.
        kdc: String,
    },
    /// No KDC of the realm answers.
    #[error("no KDC of `{realm}` answers, the last asked being `{kdc}`")]
    KdcUnreachable {
        /// The realm.
        realm: String,
        /// The KDC that was asked last.
        kdc: String,
        /// What the system said.
        source: io::Error,
    },
    /// The KDC gives no ticket.
    #[error("the KDC of `{realm}` gives no ticket for `{service}`: {refusal}")]
    KdcRefused {
        /// The realm.
        realm: String,
        /// The server, as the KDC was asked for it.
        service: String,
        /// Why.
        refusal: KdcRefusal,
    },
    /// What the KDC said is malformed, or not meant for us.
    #[error("the reply of the KDC of `{realm}` cannot be used")]
    KdcReply {
        /// The realm.
        realm: String,
        /// What is wrong with it.
        source: sspi::Error,
    },
    /// A token of the server is malformed, or proves that somebody changed the list of mechanisms.
    #[error("the server's token cannot be used")]
    Token(#[source] sspi::Error),
    /// A token of the server is longer than any real one.
    #[error("the server's token has {bytes} bytes")]
    TokenTooLong {
        /// Its length.
        bytes: usize,
    },
    /// It failed in the process that makes our tokens.
    #[error("{text}")]
    Elsewhere {
        /// What happened.
        text: String,
        /// What to do about it.
        hint: Option<String>,
        /// Whose turn it is.
        refusal: Refusal,
    },
    /// The process that makes our tokens is gone or answers nonsense.
    #[error("the process that knows the password cannot be asked")]
    Pipe(#[source] io::Error),
    /// The server says it is done before a key was agreed, or goes on after it.
    #[error("the server's tokens are out of order")]
    OutOfOrder,
}

/// What a failed exchange says about trying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No KDC answers: later it may.
    Unreachable,
    /// The KDC does not take this user with this password.
    User,
    /// Anything else.
    Other,
}

impl AuthError {
    /// What it says about trying again.
    pub(crate) const fn refusal(&self) -> Refusal {
        use KdcRefusal::{PasswordExpired, Revoked, UnknownUser, WrongPassword};
        match self {
            Self::KdcUnreachable { .. } => Refusal::Unreachable,
            Self::KdcRefused {
                refusal: UnknownUser | WrongPassword | PasswordExpired | Revoked,
                ..
            } => Refusal::User,
            Self::Elsewhere { refusal, .. } => *refusal,
            _ => Refusal::Other,
        }
    }
}

/// How to prove a user: what [`Mechanism`] comes to on this machine.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    Kerberos { realm: String, kdcs: Kdcs },
    Ntlm,
}

impl Way {
    fn find(
        mechanism: &Mechanism,
        user: &str,
        domain: &str,
        server: &str,
        configuration: &Configuration,
    ) -> Result<Self, AuthError> {
        let given = match user.rsplit_once('@') {
            Some((_, suffix)) if domain.is_empty() => suffix,
            _ => domain,
        };
        let known = || configuration.realm(given);
        let kerberos = |realm: &str, kdcs: &[String]| Self::Kerberos {
            realm: realm.to_ascii_uppercase(),
            kdcs: Kdcs::new(kdcs.to_vec()),
        };
        match mechanism {
            Mechanism::Ntlm => Ok(Self::Ntlm),
            Mechanism::Automatic if server.parse::<IpAddr>().is_ok() => Ok(Self::Ntlm),
            Mechanism::Automatic => {
                Ok(known().map_or(Self::Ntlm, |(realm, kdcs)| kerberos(realm, kdcs)))
            }
            Mechanism::Kerberos { kdc } => {
                let default = configuration.default_realm();
                let given = Some(given).filter(|given| !given.is_empty()).or(default);
                let given = given.ok_or_else(|| AuthError::NoRealm {
                    user: user.to_owned(),
                })?;
                let known = configuration.realm(given);
                let realm = known.map_or(given, |(realm, _)| realm);
                Ok(match (kdc, known) {
                    (Some(kdc), _) => kerberos(realm, std::slice::from_ref(kdc)),
                    (None, Some((_, kdcs))) => kerberos(realm, kdcs),
                    (None, None) => kerberos(realm, &[realm.to_ascii_lowercase()]),
                })
            }
        }
    }
}

/// The exchange for one login on one connection; each channel needs its own.
pub(crate) enum Exchange {
    User(Box<UserExchange>),
    Anonymous(AnonymousExchange),
    Remote(Remote),
}

impl Exchange {
    /// Begins an exchange with a server as the user typed it. For Kerberos this asks the KDC, on
    /// this thread and for some seconds at most.
    pub(crate) fn new(login: &Login, server: &str) -> Result<Self, AuthError> {
        match login {
            Login::User {
                user,
                domain,
                password,
                mechanism,
            } => {
                let configuration = Configuration::of_this_machine();
                let way = Way::find(mechanism, user, domain, server, &configuration)?;
                let mut letters = user.chars();
                let letter = letters.find(|letter| letter.to_uppercase().len() > 1);
                if let (Way::Ntlm, Some(letter)) = (&way, letter) {
                    let user = user.clone();
                    return Err(AuthError::UserLetter { user, letter });
                }
                let exchange = UserExchange::new(way, user, domain, password, server)?;
                Ok(Self::User(Box::new(exchange)))
            }
            Login::Guest { user } => {
                let password = Zeroizing::default();
                let exchange = UserExchange::new(Way::Ntlm, user, "", &password, server)?;
                Ok(Self::User(Box::new(exchange)))
            }
            Login::Anonymous => Ok(Self::Anonymous(AnonymousExchange::Begin)),
            Login::Brokered(broker) => Remote::begin(broker, server).map(Self::Remote),
        }
    }

    /// What this exchange proves when it has succeeded.
    pub(crate) fn proof(&self) -> Proof {
        match self {
            Self::User(exchange) if exchange.kerberos.is_some() => Proof::Kerberos,
            Self::User(_) => Proof::Ntlm,
            Self::Anonymous(_) => Proof::Nothing,
            Self::Remote(exchange) => exchange.proof(),
        }
    }

    /// Takes the server's token and gives our next one.
    pub(crate) fn answer(&mut self, server_token: &[u8]) -> Result<Vec<u8>, AuthError> {
        if server_token.len() > TOKEN_BYTES_MAX {
            return Err(AuthError::TokenTooLong {
                bytes: server_token.len(),
            });
        }
        match self {
            Self::User(exchange) => exchange.answer(server_token),
            Self::Anonymous(exchange) => exchange.step(),
            Self::Remote(exchange) => exchange.step(server_token).map(|step| step.token),
        }
    }

    /// The key both ends have agreed on, as soon as it is known.
    pub(crate) fn session_key(&self) -> Option<SessionKey> {
        match self {
            Self::User(exchange) => exchange.session_key(),
            // MS-NLMP 3.3.2: without a user there is no secret to make a key from.
            Self::Anonymous(_) => Some(SessionKey::new(vec![0; 16])),
            // It comes with the token.
            Self::Remote(_) => None,
        }
    }
}

impl Authenticator for Exchange {
    /// The server's first token is the hint in its NEGOTIATE reply. It proves nothing, our first
    /// token is made already, and so it is not looked at.
    fn step(
        &mut self,
        server_token: &[u8],
    ) -> Result<Step, Box<dyn std::error::Error + Send + Sync>> {
        if let Self::Remote(exchange) = self {
            return Ok(exchange.step(server_token)?);
        }
        let token = self.answer(server_token)?;
        Ok(Step {
            token,
            session_key: self.session_key(),
        })
    }
}

pub(crate) struct UserExchange {
    context: Negotiate,
    credentials: Option<CredentialsBuffers>,
    /// With Kerberos: the ticket that is wanted.
    kerberos: Option<Service>,
    /// Our first token, until it is sent.
    first: Option<Vec<u8>>,
    finished: bool,
}

/// A service that a ticket is asked for.
struct Service {
    realm: String,
    /// Its principal, as `cifs/server`.
    name: String,
}

impl UserExchange {
    fn new(
        way: Way,
        user: &str,
        domain: &str,
        password: &Zeroizing<String>,
        server: &str,
    ) -> Result<Self, AuthError> {
        if password.starts_with(HASH_MARK) {
            return Err(AuthError::Password);
        }
        let (mut context, kerberos, kdcs) = match way {
            Way::Ntlm => (ntlm()?, None, None),
            Way::Kerberos { realm, kdcs } => {
                let name = format!("cifs/{}", server.trim_end_matches('.'));
                (kerberos(&kdcs)?, Some(Service { realm, name }), Some(kdcs))
            }
        };
        let domain = match &kerberos {
            // The domain may be the short name of the realm; a suffix is part of the name.
            Some(service) if !user.contains('@') => &service.realm,
            _ => domain,
        };
        let domain = Some(domain).filter(|domain| !domain.is_empty());
        // The only reason for an error is the one that the variant names.
        let Ok(username) = Username::new(user, domain) else {
            return Err(AuthError::UserName {
                user: user.to_owned(),
            });
        };
        // From here on `sspi` keeps the password in a type of its own that wipes it.
        let password = String::clone(password).into();
        let identity = Credentials::AuthIdentity(AuthIdentity { username, password });
        let credentials = context
            .acquire_credentials_handle()
            .with_credential_use(CredentialUse::Outbound)
            .with_auth_data(&identity)
            .execute(&mut context)
            .map_err(AuthError::Token)?
            .credentials_handle;
        let mut exchange = Self {
            context,
            credentials,
            kerberos,
            first: None,
            finished: false,
        };
        exchange.first = Some(exchange.step(&[], kdcs)?);
        Ok(exchange)
    }

    fn answer(&mut self, server_token: &[u8]) -> Result<Vec<u8>, AuthError> {
        match self.first.take() {
            Some(token) => Ok(token),
            // Servers end with an empty token, or with one that says nothing new.
            None if self.finished => Ok(Vec::new()),
            None => self.step(server_token, None),
        }
    }

    /// Takes a token of the server and gives our next one. Only the first step may ask a KDC.
    fn step(&mut self, server_token: &[u8], kdcs: Option<Kdcs>) -> Result<Vec<u8>, AuthError> {
        check_lengths(server_token).map_err(AuthError::Token)?;
        let mut input = [SecurityBuffer::new(
            server_token.to_vec(),
            BufferType::Token,
        )];
        let mut output = [SecurityBuffer::new(Vec::new(), BufferType::Token)];
        // Confidentiality makes NTLM exchange a random key; nothing is encrypted with it here.
        let mut wanted = ClientRequestFlags::CONFIDENTIALITY | ClientRequestFlags::INTEGRITY;
        if self.kerberos.is_some() {
            // The server proves that it has the key of the service, and gives one of its own.
            wanted |= ClientRequestFlags::MUTUAL_AUTH;
        }
        let mut builder = self
            .context
            .initialize_security_context()
            .with_credentials_handle(&mut self.credentials)
            .with_context_requirements(wanted)
            .with_target_data_representation(DataRepresentation::Native)
            .with_input(&mut input)
            .with_output(&mut output);
        if let Some(service) = &self.kerberos {
            builder = builder.with_target_name(&service.name);
        }
        let mut asking = Asking {
            service: self.kerberos.as_ref(),
            kdcs,
            refusal: None,
        };
        let mut generator = self
            .context
            .initialize_security_context_impl(&mut builder)
            .map_err(AuthError::Token)?;
        let mut state = generator.start();
        let result = loop {
            match state {
                GeneratorState::Completed(result) => break result,
                GeneratorState::Suspended(request) => {
                    state = generator.resume(Ok(asking.ask(&request)?));
                }
            }
        };
        drop(generator);
        let result = result.map_err(|source| asking.sort(source))?;
        self.finished = result.status == SecurityStatus::Ok;
        let [token] = output;
        Ok(token.buffer)
    }

    fn session_key(&self) -> Option<SessionKey> {
        // With Kerberos the key of the ticket is known before the server has proven itself.
        if self.kerberos.is_some() && !self.finished {
            return None;
        }
        let keys = self.context.query_context_session_key().ok()?;
        let key: &Vec<u8> = keys.session_key.as_ref();
        Some(SessionKey::new(key.clone()))
    }
}

/// NTLM in SPNEGO, and only NTLM: without that the name of the user decides whether a KDC is looked
/// for.
fn ntlm() -> Result<Negotiate, AuthError> {
    let config = Box::new(NtlmConfig::default());
    let config = NegotiateConfig::new(config, Some("ntlm".to_owned()), String::new());
    Negotiate::new_client(config).map_err(AuthError::Token)
}

/// Kerberos in SPNEGO, and only Kerberos: so `sspi` cannot fall back to NTLM.
fn kerberos(kdcs: &Kdcs) -> Result<Negotiate, AuthError> {
    let config = KerberosConfig::new_with_kdc_url(kdcs.name(), String::new());
    if !matches!(config.kdc_resolution, KdcResolution::KdcUrl(Some(_))) {
        return Err(AuthError::KdcName {
            kdc: kdcs.name().to_owned(),
        });
    }
    let packages = Some("kerberos".to_owned());
    let config = NegotiateConfig::new(Box::new(config), packages, String::new());
    Negotiate::new_client(config).map_err(AuthError::Token)
}

/// Refuses what the parser of `sspi` would panic at.
fn check_lengths(token: &[u8]) -> Result<(), sspi::Error> {
    let mut places = token.windows(LENGTH_THAT_OVERFLOWS.len());
    if places.any(|place| place == LENGTH_THAT_OVERFLOWS) {
        let kind = sspi::ErrorKind::InvalidToken;
        return Err(sspi::Error::new(kind, "it holds a length that nothing has"));
    }
    Ok(())
}

/// The KDCs that one step may ask, and what they said.
struct Asking<'a> {
    service: Option<&'a Service>,
    kdcs: Option<Kdcs>,
    refusal: Option<KdcRefusal>,
}

impl Asking<'_> {
    fn ask(&mut self, request: &NetworkRequest) -> Result<Vec<u8>, AuthError> {
        let (Some(kdcs), Some(service)) = (&mut self.kdcs, self.service) else {
            return Err(AuthError::OutOfOrder);
        };
        let host = request.url.host_str().unwrap_or_default();
        let reply = kdcs.ask(host, request.url.port(), &request.data);
        let reply = reply.map_err(|NoAnswer { kdc, source }| AuthError::KdcUnreachable {
            realm: service.realm.clone(),
            kdc,
            source,
        })?;
        check_lengths(&reply).map_err(|source| AuthError::KdcReply {
            realm: service.realm.clone(),
            source,
        })?;
        self.refusal = kerberos::refusal(&reply);
        Ok(reply)
    }

    /// Says whose fault the end of a step was.
    fn sort(self, source: sspi::Error) -> AuthError {
        match (self.service, self.kdcs, self.refusal) {
            (Some(service), _, Some(refusal)) => AuthError::KdcRefused {
                realm: service.realm.clone(),
                service: service.name.clone(),
                refusal,
            },
            (Some(service), Some(_), None) => AuthError::KdcReply {
                realm: service.realm.clone(),
                source,
            },
            _ => AuthError::Token(source),
        }
    }
}

/// NTLM without a user, without SPNEGO around it: every server takes both forms.
pub(crate) enum AnonymousExchange {
    Begin,
    Challenged,
    Done,
}

impl AnonymousExchange {
    fn step(&mut self) -> Result<Vec<u8>, AuthError> {
        match self {
            Self::Begin => {
                *self = Self::Challenged;
                Ok(anonymous_negotiate())
            }
            Self::Challenged => {
                *self = Self::Done;
                Ok(anonymous_authenticate())
            }
            Self::Done => Ok(Vec::new()),
        }
    }
}

/// UNICODE, REQUEST_TARGET, NTLM, ANONYMOUS, ALWAYS_SIGN, EXTENDED_SESSIONSECURITY, 128.
const ANONYMOUS_FLAGS: u32 = 0x2008_8A05;
const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";

/// NEGOTIATE_MESSAGE (MS-NLMP 2.2.1.1) without domain and workstation.
fn anonymous_negotiate() -> Vec<u8> {
    let mut message = SIGNATURE.to_vec();
    message.extend(1_u32.to_le_bytes());
    message.extend((ANONYMOUS_FLAGS & !0x800).to_le_bytes());
    message.extend([0; 16]);
    message
}

/// AUTHENTICATE_MESSAGE (MS-NLMP 2.2.1.3, 3.2.5.1.2): no name, no answer, and one zero byte in the
/// place of the LM response.
fn anonymous_authenticate() -> Vec<u8> {
    const HEADER_BYTES: u32 = 64;
    let mut message = SIGNATURE.to_vec();
    message.extend(3_u32.to_le_bytes());
    let field = |bytes: u16, offset: u32| {
        let mut field = [0; 8];
        field[..2].copy_from_slice(&bytes.to_le_bytes());
        field[2..4].copy_from_slice(&bytes.to_le_bytes());
        field[4..].copy_from_slice(&offset.to_le_bytes());
        field
    };
    message.extend(field(1, HEADER_BYTES));
    for _ in 0..5 {
        message.extend(field(0, HEADER_BYTES + 1));
    }
    message.extend(ANONYMOUS_FLAGS.to_le_bytes());
    message.push(0);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(user: &str, domain: &str, password: &str) -> Login {
        Login::User {
            user: user.to_owned(),
            domain: domain.to_owned(),
            password: Zeroizing::new(password.to_owned()),
            mechanism: Mechanism::Ntlm,
        }
    }

    fn begin(login: &Login) -> Result<Exchange, AuthError> {
        Exchange::new(login, "server")
    }

    #[test]
    fn a_password_is_not_shown() {
        let shown = format!("{:?}", login("user", "WG", "hunter2"));
        assert_eq!(
            shown,
            r#"User { user: "user", domain: "WG", mechanism: Ntlm, .. }"#
        );
    }

    #[test]
    fn the_first_token_offers_ntlm_in_spnego() {
        let mut exchange = begin(&login("user", "", "secret")).expect("a plain name");
        let token = exchange.answer(&[]).expect("nothing from outside yet");
        assert_eq!(token[0], 0x60, "a GSS-API initial token");
        assert!(token.windows(8).any(|window| window == SIGNATURE));
        assert!(
            exchange.session_key().is_none(),
            "no key before the challenge"
        );
    }

    #[test]
    fn garbage_from_the_server_is_an_error() {
        for garbage in [
            &b""[..],
            b"\x60",
            b"NTLMSSP\0\x02\0\0\0",
            &[0xFF; 300],
            &[0; 60_000],
        ] {
            let mut exchange = begin(&login("user", "", "secret")).expect("a plain name");
            exchange.answer(&[]).expect("nothing from outside yet");
            assert!(exchange.answer(garbage).is_err(), "{} bytes", garbage.len());
        }
    }

    #[test]
    fn a_length_that_nothing_has_is_an_error() {
        // A sequence, an explicit tag and a string that state it; `sspi` adds to each.
        for tag in [0x30, 0xA1, 0x6B, 0x7E, 0x04] {
            let length = [&LENGTH_THAT_OVERFLOWS[..], &[0xFF; 40]].concat();
            let token = [&[tag], &length[..]].concat();
            let mut exchange = begin(&login("user", "", "secret")).expect("a plain name");
            exchange.answer(&[]).expect("nothing from outside yet");
            let refused = exchange.answer(&token);
            assert!(matches!(refused, Err(AuthError::Token(_))), "{tag:x}");

            let kdc = kerberos::tests::kdc_that_says([&[0, 0, 0, 49], &token[..]].concat());
            let mut login = login("user", "LAB.EXAMPLE", "secret");
            if let Login::User { mechanism, .. } = &mut login {
                *mechanism = Mechanism::Kerberos { kdc: Some(kdc) };
            }
            let refused = begin(&login).err();
            assert!(
                matches!(refused, Some(AuthError::KdcReply { .. })),
                "{tag:x}: {refused:?}"
            );
        }
    }

    #[test]
    fn names_that_cannot_be_are_refused() {
        assert!(matches!(
            begin(&login("WG\\user", "OTHER", "secret")),
            Err(AuthError::UserName { .. })
        ));
        assert!(matches!(
            begin(&login("user", "", "$NTLM$:00")),
            Err(AuthError::Password)
        ));
        assert!(matches!(
            begin(&login("großmann", "WG", "secret")),
            Err(AuthError::UserLetter { letter: 'ß', .. })
        ));
        assert!(begin(&login("émile", "", "secret")).is_ok());
    }

    #[test]
    fn the_way_is_decided_by_what_was_typed_and_by_this_machine() {
        let mut configuration = Configuration::default();
        let way = |mechanism: &Mechanism, user, domain, server, configuration: &Configuration| {
            let way = Way::find(mechanism, user, domain, server, configuration);
            Ok(match way? {
                Way::Ntlm => "NTLM".to_owned(),
                Way::Kerberos { realm, kdcs } => format!("{realm} {}", kdcs.name()),
            })
        };
        let ask = |kdc: Option<&str>| Mechanism::Kerberos {
            kdc: kdc.map(str::to_owned),
        };
        // A machine that knows no realm.
        let known = &configuration;
        let of = |mechanism: &Mechanism, user, domain| {
            way(mechanism, user, domain, "nas", known).map_err(|error: AuthError| error.to_string())
        };
        assert_eq!(
            of(&Mechanism::Automatic, "ann@a.example", ""),
            Ok("NTLM".to_owned())
        );
        assert_eq!(
            of(&ask(None), "ann", "a.example"),
            Ok("A.EXAMPLE a.example:88".to_owned())
        );
        assert_eq!(
            of(&ask(Some("kdc:1")), "ann@a.example", ""),
            Ok("A.EXAMPLE kdc:1".to_owned())
        );
        assert_eq!(
            of(&ask(None), "ann", ""),
            Err("no Kerberos realm is known for `ann`".to_owned())
        );
        // One that does.
        configuration.add(
            "[libdefaults]\ndefault_realm = LAB.EXAMPLE\n\
             [realms]\nLAB.EXAMPLE = {\nkdc = dc.lab.example\n}\n",
        );
        let known = &configuration;
        let of = |mechanism: &Mechanism, user, domain, server| {
            way(mechanism, user, domain, server, known).expect("a way")
        };
        let lab = "LAB.EXAMPLE dc.lab.example:88";
        assert_eq!(of(&Mechanism::Automatic, "ann@lab.example", "", "nas"), lab);
        assert_eq!(of(&Mechanism::Automatic, "ann", "LAB", "nas"), lab);
        for (user, domain, server) in [
            ("ann", "", "nas"),
            ("ann", "WORKGROUP", "nas"),
            ("ann", "LAB", "10.0.0.1"),
            ("ann", "LAB", "fd00::1"),
        ] {
            assert_eq!(of(&Mechanism::Automatic, user, domain, server), "NTLM");
        }
        assert_eq!(of(&ask(None), "ann", "", "10.0.0.1"), lab);
        assert_eq!(
            of(&ask(None), "ann", "other.example", "nas"),
            "OTHER.EXAMPLE other.example:88"
        );
        assert_eq!(
            of(&ask(Some("kdc")), "ann", "LAB", "nas"),
            "LAB.EXAMPLE kdc:88"
        );
        assert_eq!(of(&Mechanism::Ntlm, "ann", "LAB", "nas"), "NTLM");
    }

    #[test]
    fn what_is_no_kdc_is_refused_and_one_that_is_silent_is_said() {
        let kerberos = |kdc: &str| {
            let mut login = login("user", "LAB.EXAMPLE", "secret");
            if let Login::User { mechanism, .. } = &mut login {
                *mechanism = Mechanism::Kerberos {
                    kdc: Some(kdc.to_owned()),
                };
            }
            begin(&login).err()
        };
        let wrong = kerberos("a b");
        assert!(
            matches!(wrong, Some(AuthError::KdcName { .. })),
            "{wrong:?}"
        );
        let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = closed.local_addr().expect("it is bound").to_string();
        drop(closed);
        let silent = kerberos(&address);
        let is_it =
            matches!(&silent, Some(AuthError::KdcUnreachable { kdc, .. }) if *kdc == address);
        assert!(is_it, "{silent:?}");
    }

    #[test]
    fn an_anonymous_answer_has_no_name() {
        let message = anonymous_authenticate();
        assert_eq!(message.len(), 65);
        assert_eq!(message[12..20], [1, 0, 1, 0, 64, 0, 0, 0]);
        assert_eq!(message[60..64], ANONYMOUS_FLAGS.to_le_bytes());
    }
}
