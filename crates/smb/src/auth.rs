//! Who logs in, and the exchange of tokens that proves it inside SPNEGO: Kerberos with a password by `sspi`, with a
//! ticket by the system's library, and NTLMv2 by code of our own.
//!
//! One mechanism is offered, never a choice: so nobody between us and the server can make us take
//! the weaker one. SMB over TCP has no outer channel, so there is nothing to bind a token to.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use smb_proto::{Authenticator, SessionKey, Step};
use sspi::generator::{GeneratorState, NetworkRequest};
use sspi::{
    AuthIdentity, BufferType, ClientRequestFlags, CredentialUse, Credentials, CredentialsBuffers,
    DataRepresentation, KdcResolution, KerberosConfig, Negotiate, NegotiateConfig, SecurityBuffer,
    SecurityStatus, Sspi, SspiImpl, Username,
};
use zeroize::Zeroizing;

use crate::broker::{Broker, Remote};
use crate::kerberos::{self, Configuration, KdcRefusal, Kdcs, NoAnswer};
use crate::ntlm::{AnonymousExchange, NtlmExchange};
use crate::tickets::{TicketError, TicketExchange};

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
    /// A user with tickets of Kerberos in a cache of this system, as `kinit` makes one. Kerberos, and nothing else.
    Ticket {
        /// The principal, as [`crate::ticket`] gives it.
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
            Self::User { user, .. } | Self::Guest { user } | Self::Ticket { user } => user,
            Self::Anonymous => "anonymous",
            Self::Brokered(broker) => broker.user(),
        }
    }
}

/// Why a user of a domain is proven by NTLM, and not by a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoKerberos {
    /// The server is called by its address, for which no KDC has a ticket.
    Address,
    /// `krb5.conf` of this machine knows no KDC of the user's domain.
    UnknownRealm,
}

impl NoKerberos {
    /// None where no ticket is to be expected: another mechanism was asked for, or a ticket is used, or what is
    /// typed as the domain may be a workgroup.
    fn of(login: &Login, server: &str, configuration: &Configuration) -> Option<Self> {
        let Login::User {
            user,
            domain,
            mechanism: Mechanism::Automatic,
            ..
        } = login
        else {
            return None;
        };
        let domain = domain_of(user, domain);
        match configuration.realm(domain) {
            Some(_) => server.parse::<IpAddr>().is_ok().then_some(Self::Address),
            // The name of a domain in DNS has a dot, that of a workgroup has none.
            None => domain.contains('.').then_some(Self::UnknownRealm),
        }
    }

    /// The same on this machine.
    pub(crate) fn here(login: &Login, server: &str) -> Option<Self> {
        Self::of(login, server, &Configuration::of_this_machine())
    }
}

/// The domain that a user is of; empty for none.
pub(crate) fn domain_of<'a>(user: &'a str, domain: &'a str) -> &'a str {
    match user.rsplit_once('@') {
        Some((_, suffix)) if domain.is_empty() => suffix,
        _ => domain,
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
            Self::Ticket { user } => formatter
                .debug_struct("Ticket")
                .field("user", user)
                .finish(),
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
    /// The password begins with the mark of a hash.
    #[error("a password that begins with `{HASH_MARK}` cannot be used")]
    Password,
    /// The system gives no random bytes.
    #[error("cannot get random bytes")]
    Random(#[source] io::Error),
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
    /// A token of the server is no token, or not one for what we have offered.
    #[error("the server's token cannot be used: {what}")]
    TokenMalformed {
        /// What is wrong with it.
        what: &'static str,
    },
    /// There is no ticket for the server, or its answer to one is not taken.
    #[error(transparent)]
    Ticket(#[from] TicketError),
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
            Self::KdcUnreachable { .. } | Self::Ticket(TicketError::Unreachable { .. }) => {
                Refusal::Unreachable
            }
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
        let given = domain_of(user, domain);
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
    Kerberos(Box<KerberosExchange>),
    Ntlm(Box<NtlmExchange>),
    Ticket(Box<TicketExchange>),
    Anonymous(AnonymousExchange),
    Remote(Remote),
    /// With the toy server of the model.
    #[cfg(all(test, feature = "model"))]
    Toy(crate::model::ToyLogin),
}

impl Exchange {
    /// Begins an exchange with a server as the user typed it. For Kerberos this asks the KDC, on
    /// this thread and for some seconds at most.
    pub(crate) fn new(login: &Login, server: &str) -> Result<Self, AuthError> {
        #[cfg(all(test, feature = "model"))]
        if let Login::User { .. } = login {
            return Ok(Self::Toy(crate::model::toy_login()));
        }
        match login {
            Login::User {
                user,
                domain,
                password,
                mechanism,
            } => {
                let configuration = Configuration::of_this_machine();
                let way = Way::find(mechanism, user, domain, server, &configuration)?;
                Ok(match way {
                    Way::Ntlm => {
                        let exchange = NtlmExchange::new(user, domain, password, server)?;
                        Self::Ntlm(Box::new(exchange))
                    }
                    Way::Kerberos { realm, kdcs } => {
                        let kdcs = (realm, kdcs);
                        let exchange = KerberosExchange::new(kdcs, user, domain, password, server)?;
                        Self::Kerberos(Box::new(exchange))
                    }
                })
            }
            Login::Guest { user } => {
                let password = Zeroizing::default();
                let exchange = NtlmExchange::new(user, "", &password, server)?;
                Ok(Self::Ntlm(Box::new(exchange)))
            }
            Login::Ticket { user } => {
                let exchange = TicketExchange::new(user, server)?;
                Ok(Self::Ticket(Box::new(exchange)))
            }
            Login::Anonymous => Ok(Self::Anonymous(AnonymousExchange::Begin)),
            Login::Brokered(broker) => Remote::begin(broker, server).map(Self::Remote),
        }
    }

    /// What this exchange proves when it has succeeded.
    pub(crate) fn proof(&self) -> Proof {
        match self {
            Self::Kerberos(_) | Self::Ticket(_) => Proof::Kerberos,
            Self::Ntlm(_) => Proof::Ntlm,
            Self::Anonymous(_) => Proof::Nothing,
            Self::Remote(exchange) => exchange.proof(),
            #[cfg(all(test, feature = "model"))]
            Self::Toy(_) => Proof::Nothing,
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
            Self::Kerberos(exchange) => exchange.answer(server_token),
            Self::Ntlm(exchange) => exchange.answer(server_token),
            Self::Ticket(exchange) => exchange.answer(server_token),
            Self::Anonymous(exchange) => Ok(exchange.step()),
            Self::Remote(exchange) => exchange.step(server_token).map(|step| step.token),
            #[cfg(all(test, feature = "model"))]
            Self::Toy(_) => Ok(Vec::new()),
        }
    }

    /// The key both ends have agreed on, as soon as it is known.
    pub(crate) fn session_key(&self) -> Option<SessionKey> {
        match self {
            Self::Kerberos(exchange) => exchange.session_key(),
            Self::Ntlm(exchange) => exchange.session_key(),
            Self::Ticket(exchange) => exchange.session_key(),
            // MS-NLMP 3.3.2: without a user there is no secret to make a key from.
            Self::Anonymous(_) => Some(SessionKey::new(vec![0; 16])),
            // It comes with the token.
            Self::Remote(_) => None,
            #[cfg(all(test, feature = "model"))]
            Self::Toy(_) => None,
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
        #[cfg(all(test, feature = "model"))]
        if let Self::Toy(login) = self {
            return login.step(server_token);
        }
        let token = self.answer(server_token)?;
        Ok(Step {
            token,
            session_key: self.session_key(),
        })
    }
}

pub(crate) struct KerberosExchange {
    context: Negotiate,
    credentials: Option<CredentialsBuffers>,
    /// The ticket that is wanted.
    service: Service,
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

impl KerberosExchange {
    fn new(
        (realm, kdcs): (String, Kdcs),
        user: &str,
        domain: &str,
        password: &Zeroizing<String>,
        server: &str,
    ) -> Result<Self, AuthError> {
        if password.starts_with(HASH_MARK) {
            return Err(AuthError::Password);
        }
        let mut context = kerberos(&kdcs)?;
        let name = format!("cifs/{}", server.trim_end_matches('.'));
        let service = Service { realm, name };
        // The domain may be the short name of the realm; a suffix is part of the name.
        let domain = match user.contains('@') {
            true => domain,
            false => &service.realm,
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
            service,
            first: None,
            finished: false,
        };
        exchange.first = Some(exchange.step(&[], Some(kdcs))?);
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
        // The server proves that it has the key of the service, and gives one of its own.
        let wanted = ClientRequestFlags::CONFIDENTIALITY
            | ClientRequestFlags::INTEGRITY
            | ClientRequestFlags::MUTUAL_AUTH;
        let mut builder = self
            .context
            .initialize_security_context()
            .with_credentials_handle(&mut self.credentials)
            .with_context_requirements(wanted)
            .with_target_data_representation(DataRepresentation::Native)
            .with_input(&mut input)
            .with_output(&mut output)
            .with_target_name(&self.service.name);
        let mut asking = Asking {
            service: &self.service,
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
        // The key of the ticket is known before the server has proven itself.
        if !self.finished {
            return None;
        }
        let keys = self.context.query_context_session_key().ok()?;
        let key: &Vec<u8> = keys.session_key.as_ref();
        Some(SessionKey::new(key.clone()))
    }
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
    service: &'a Service,
    kdcs: Option<Kdcs>,
    refusal: Option<KdcRefusal>,
}

impl Asking<'_> {
    fn ask(&mut self, request: &NetworkRequest) -> Result<Vec<u8>, AuthError> {
        let service = self.service;
        let Some(kdcs) = &mut self.kdcs else {
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
        let realm = self.service.realm.clone();
        match (self.kdcs, self.refusal) {
            (_, Some(refusal)) => AuthError::KdcRefused {
                realm,
                service: self.service.name.clone(),
                refusal,
            },
            (Some(_), None) => AuthError::KdcReply { realm, source },
            (None, None) => AuthError::Token(source),
        }
    }
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
        assert!(token.windows(8).any(|window| window == b"NTLMSSP\0"));
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
            let is_it = matches!(refused, Err(AuthError::TokenMalformed { .. }));
            assert!(is_it, "{tag:x}");

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
            begin(&login("", "WG", "secret")),
            Err(AuthError::UserName { .. })
        ));
        let mut hash = login("user", "LAB.EXAMPLE", "$NTLM$:00");
        assert!(begin(&hash).is_ok(), "a password like any other");
        if let Login::User { mechanism, .. } = &mut hash {
            *mechanism = Mechanism::Kerberos { kdc: None };
        }
        assert!(matches!(begin(&hash), Err(AuthError::Password)));
        assert!(begin(&login("großmann", "WG", "secret")).is_ok());
        assert!(begin(&login("émile", "", "secret")).is_ok());
    }

    #[test]
    fn a_user_of_a_domain_without_a_ticket_has_a_reason() {
        let mut configuration = Configuration::default();
        configuration.add("[realms]\nLAB.EXAMPLE = {\nkdc = dc.lab.example\n}\n");
        let of = |user: &str, domain: &str, mechanism: Mechanism, server: &str| {
            let login = Login::User {
                user: user.to_owned(),
                domain: domain.to_owned(),
                password: Zeroizing::default(),
                mechanism,
            };
            NoKerberos::of(&login, server, &configuration)
        };
        let automatic = |user, domain, server| of(user, domain, Mechanism::Automatic, server);
        let (address, unknown) = (Some(NoKerberos::Address), Some(NoKerberos::UnknownRealm));
        assert_eq!(automatic("ann", "LAB", "10.1.1.1"), address);
        assert_eq!(automatic("ann@lab.example", "", "fe80::1"), address);
        assert_eq!(automatic("ann", "LAB", "nas"), None, "there is one");
        assert_eq!(automatic("ann@b.example", "", "nas"), unknown);
        assert_eq!(automatic("ann", "WORKGROUP", "10.1.1.1"), None);
        assert_eq!(automatic("ann", "", "10.1.1.1"), None);
        assert_eq!(
            of("ann", "LAB", Mechanism::Ntlm, "10.1.1.1"),
            None,
            "asked for"
        );
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
}
