//! Who logs in, and the exchange of tokens that proves it inside SPNEGO: Kerberos with a password by `sspi`, with a
//! ticket by the system's library, and NTLMv2 by code of our own.
//!
//! One mechanism is offered, never a choice: so nobody between us and the server can make us take
//! the weaker one. SMB over TCP has no outer channel, so there is nothing to bind a token to.

pub(crate) mod error;
mod gssapi_exchange;
mod kerberos_exchange;
pub(crate) mod login_proof;
mod mechanism;

use std::fmt;
use std::sync::Arc;

use smb_proto::{Authenticator, SessionKey, Step};
use zeroize::Zeroizing;

use crate::kdc_client::Configuration;
use crate::ntlm::{AnonymousExchange, NtlmExchange};
#[cfg(all(test, feature = "model"))]
use crate::thread_interleaving_model::protocol_test_server::{ToyLogin, toy_login};
use crate::token_broker::{Broker, Remote};
use gssapi_exchange::TicketExchange;
use kerberos_exchange::KerberosExchange;
use mechanism::ChosenMechanism;

pub use error::{AuthError, Refusal};
pub use login_proof::Proof;
pub use mechanism::{Mechanism, NoKerberos};

/// Longest token of a server that is looked at; a real one has a few hundred bytes.
const TOKEN_BYTES_MAX: usize = 48_000;

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

/// The exchange for one login on one connection; each channel needs its own.
pub(crate) enum Exchange {
    Kerberos(Box<KerberosExchange>),
    Ntlm(Box<NtlmExchange>),
    Ticket(Box<TicketExchange>),
    Anonymous(AnonymousExchange),
    Remote(Remote),
    /// With the toy server of the model.
    #[cfg(all(test, feature = "model"))]
    Toy(ToyLogin),
}

impl Exchange {
    /// Begins an exchange with a server as the user typed it. For Kerberos this asks the KDC, on
    /// this thread and for some seconds at most.
    pub(crate) fn new(login: &Login, server: &str) -> Result<Self, AuthError> {
        #[cfg(all(test, feature = "model"))]
        if let Login::User { .. } = login {
            return Ok(Self::Toy(toy_login()));
        }
        match login {
            Login::User {
                user,
                domain,
                password,
                mechanism,
            } => {
                let configuration = Configuration::of_this_machine();
                let chosen =
                    ChosenMechanism::find(mechanism, user, domain, server, &configuration)?;
                Ok(match chosen {
                    ChosenMechanism::Ntlm => {
                        let exchange = NtlmExchange::new(user, domain, password, server)?;
                        Self::Ntlm(Box::new(exchange))
                    }
                    ChosenMechanism::Kerberos { realm, kdcs } => {
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

#[cfg(test)]
mod tests {
    use super::kerberos_exchange::LENGTH_THAT_OVERFLOWS;
    use super::*;
    use crate::kdc_client;

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

            let kdc = kdc_client::tests::kdc_that_says([&[0, 0, 0, 49], &token[..]].concat());
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
