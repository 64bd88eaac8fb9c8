//! Why an exchange of tokens failed.

use std::fmt;
use std::io;

use locale::{Language, Message, say};

use crate::kdc_client::KdcRefusal;
use crate::tickets::TicketError;

/// How `sspi` marks a password that is a hash. A password that begins so would be taken for one.
pub(super) const HASH_MARK: &str = sspi::ntlm::NTLM_HASH_PREFIX;

/// Why an exchange of tokens failed on our side. What the server thinks of us is its status.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The user name mixes `DOMAIN\user` and `user@domain`, or the like.
    UserName {
        /// The name.
        user: String,
    },
    /// The password begins with the mark of a hash.
    Password,
    /// The system gives no random bytes.
    Random(#[source] io::Error),
    /// Kerberos is asked for, and the user's realm is not known.
    NoRealm {
        /// The user.
        user: String,
    },
    /// This cannot be the name of a KDC.
    KdcName {
        /// The name.
        kdc: String,
    },
    /// No KDC of the realm answers.
    KdcUnreachable {
        /// The realm.
        realm: String,
        /// The KDC that was asked last.
        kdc: String,
        /// What the system said.
        source: io::Error,
    },
    /// The KDC gives no ticket.
    KdcRefused {
        /// The realm.
        realm: String,
        /// The server, as the KDC was asked for it.
        service: String,
        /// Why.
        refusal: KdcRefusal,
    },
    /// What the KDC said is malformed, or not meant for us.
    KdcReply {
        /// The realm.
        realm: String,
        /// What is wrong with it.
        source: sspi::Error,
    },
    /// A token of the server is malformed, or proves that somebody changed the list of mechanisms.
    Token(#[source] sspi::Error),
    /// A token of the server is no token, or not one for what we have offered.
    TokenMalformed {
        /// What is wrong with it.
        what: Message,
    },
    /// There is no ticket for the server, or its answer to one is not taken.
    Ticket(TicketError),
    /// A token of the server is longer than any real one.
    TokenTooLong {
        /// Its length.
        bytes: usize,
    },
    /// It failed in the process that makes our tokens.
    Elsewhere {
        /// What happened.
        text: Message,
        /// What to do about it.
        hint: Option<Message>,
        /// Whose turn it is.
        refusal: Refusal,
    },
    /// The process that makes our tokens is gone or answers nonsense.
    Pipe(#[source] io::Error),
    /// The server says it is done before a key was agreed, or goes on after it.
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

    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::UserName { user } => say("error-auth.user-name").with("user", user),
            Self::Password => say("error-auth.password").with("mark", HASH_MARK),
            Self::Random(_) => say("error-auth.random"),
            Self::NoRealm { user } => say("error-auth.no-realm").with("user", user),
            Self::KdcName { kdc } => say("error-auth.kdc-name").with("kdc", kdc),
            Self::KdcUnreachable { realm, kdc, .. } => say("error-auth.kdc-unreachable")
                .with("realm", realm)
                .with("kdc", kdc),
            Self::KdcRefused {
                realm,
                service,
                refusal,
            } => say("error-auth.kdc-refused")
                .with("realm", realm)
                .with("service", service)
                .with("reason", refusal.message()),
            Self::KdcReply { realm, .. } => say("error-auth.kdc-reply").with("realm", realm),
            Self::Token(_) => say("error-auth.token"),
            Self::TokenMalformed { what } => {
                say("error-auth.token-malformed").with("reason", what.clone())
            }
            Self::Ticket(error) => error.message(),
            Self::TokenTooLong { bytes } => say("error-auth.token-too-long").count("bytes", *bytes),
            Self::Elsewhere { text, .. } => text.clone(),
            Self::Pipe(_) => say("error-auth.pipe"),
            Self::OutOfOrder => say("error-auth.out-of-order"),
        }
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

// By hand: what says the same sentence is no cause of it.
impl From<TicketError> for AuthError {
    fn from(error: TicketError) -> Self {
        Self::Ticket(error)
    }
}
