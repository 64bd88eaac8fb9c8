//! Who logs in, and the exchange of tokens that proves it: NTLMv2 inside SPNEGO, by `sspi`.
//!
//! Kerberos would be another package of the same exchange.

use std::fmt;

use smb_proto::{Authenticator, SessionKey, Step};
use sspi::ntlm::NtlmConfig;
use sspi::{
    AuthIdentity, BufferType, ClientRequestFlags, CredentialUse, Credentials, CredentialsBuffers,
    DataRepresentation, Negotiate, NegotiateConfig, SecurityBuffer, SecurityStatus, Sspi, SspiImpl,
    Username,
};
use zeroize::Zeroizing;

/// Longest token of a server that is looked at; a real one has a few hundred bytes.
const TOKEN_BYTES_MAX: usize = 48_000;
/// How `sspi` marks a password that is a hash. A password that begins so would be taken for one.
const HASH_MARK: &str = sspi::ntlm::NTLM_HASH_PREFIX;

/// Who logs in. A user is never turned into a guest without being asked for.
#[derive(Clone)]
pub enum Login {
    /// A user with a password.
    User {
        /// The user's name; `user@domain.example` works too, with an empty domain.
        user: String,
        /// Domain or workgroup, empty for none.
        domain: String,
        /// The password. Shown nowhere, wiped when dropped.
        password: Zeroizing<String>,
    },
    /// Nobody in particular. The server decides what such a session may see; nothing is signed.
    Anonymous,
}

impl Login {
    /// The name that errors show.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::User { user, .. } => user,
            Self::Anonymous => "anonymous",
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User { user, domain, .. } => formatter
                .debug_struct("User")
                .field("user", user)
                .field("domain", domain)
                .finish_non_exhaustive(),
            Self::Anonymous => formatter.write_str("Anonymous"),
        }
    }
}

/// Why an exchange of tokens failed on our side. What the server thinks of us is its status.
#[derive(Debug, thiserror::Error)]
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
    /// A token of the server is malformed, or proves that somebody changed the list of mechanisms.
    #[error("the server's token cannot be used")]
    Token(#[source] sspi::Error),
    /// A token of the server is longer than any real one.
    #[error("the server's token has {bytes} bytes")]
    TokenTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The server says it is done before a key was agreed, or goes on after it.
    #[error("the server's tokens are out of order")]
    OutOfOrder,
}

/// The exchange for one login on one connection; each channel needs its own.
pub(crate) enum Exchange {
    User(Box<UserExchange>),
    Anonymous(AnonymousExchange),
}

impl Exchange {
    pub(crate) fn new(login: &Login) -> Result<Self, AuthError> {
        match login {
            Login::User {
                user,
                domain,
                password,
            } => Ok(Self::User(Box::new(UserExchange::new(
                user, domain, password,
            )?))),
            Login::Anonymous => Ok(Self::Anonymous(AnonymousExchange::Begin)),
        }
    }

    fn answer(&mut self, server_token: &[u8]) -> Result<Vec<u8>, AuthError> {
        if server_token.len() > TOKEN_BYTES_MAX {
            return Err(AuthError::TokenTooLong {
                bytes: server_token.len(),
            });
        }
        match self {
            Self::User(exchange) => exchange.step(server_token),
            Self::Anonymous(exchange) => exchange.step(),
        }
    }

    /// The key both ends have agreed on, as soon as it is known.
    fn session_key(&self) -> Option<SessionKey> {
        match self {
            Self::User(exchange) => exchange.session_key(),
            // MS-NLMP 3.3.2: without a user there is no secret to make a key from.
            Self::Anonymous(_) => Some(SessionKey::new(vec![0; 16])),
        }
    }
}

impl Authenticator for Exchange {
    /// The server's first token is the hint in its NEGOTIATE reply. It proves nothing, we offer
    /// NTLM in any case, and so it is not looked at.
    fn step(
        &mut self,
        server_token: &[u8],
    ) -> Result<Step, Box<dyn std::error::Error + Send + Sync>> {
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
    finished: bool,
}

impl UserExchange {
    fn new(user: &str, domain: &str, password: &Zeroizing<String>) -> Result<Self, AuthError> {
        if password.starts_with(HASH_MARK) {
            return Err(AuthError::Password);
        }
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
        // Only NTLM: without this the name of the user decides whether a KDC is looked for.
        let packages = Some("ntlm".to_owned());
        let config = NegotiateConfig::new(Box::new(NtlmConfig::default()), packages, String::new());
        let mut context = Negotiate::new_client(config).map_err(AuthError::Token)?;
        let credentials = context
            .acquire_credentials_handle()
            .with_credential_use(CredentialUse::Outbound)
            .with_auth_data(&identity)
            .execute(&mut context)
            .map_err(AuthError::Token)?
            .credentials_handle;
        Ok(Self {
            context,
            credentials,
            finished: false,
        })
    }

    fn step(&mut self, server_token: &[u8]) -> Result<Vec<u8>, AuthError> {
        if self.finished {
            // Servers end with an empty token, or with one that says nothing new.
            return Ok(Vec::new());
        }
        let mut input = [SecurityBuffer::new(
            server_token.to_vec(),
            BufferType::Token,
        )];
        let mut output = [SecurityBuffer::new(Vec::new(), BufferType::Token)];
        let mut builder = self
            .context
            .initialize_security_context()
            .with_credentials_handle(&mut self.credentials)
            // Confidentiality makes NTLM exchange a random key; nothing is encrypted with it here.
            .with_context_requirements(
                ClientRequestFlags::CONFIDENTIALITY | ClientRequestFlags::INTEGRITY,
            )
            .with_target_data_representation(DataRepresentation::Native)
            .with_input(&mut input)
            .with_output(&mut output);
        let result = self
            .context
            .initialize_security_context_impl(&mut builder)
            .and_then(|mut generator| generator.resolve_to_result())
            .map_err(AuthError::Token)?;
        self.finished = result.status == SecurityStatus::Ok;
        let [token] = output;
        Ok(token.buffer)
    }

    fn session_key(&self) -> Option<SessionKey> {
        let keys = self.context.query_context_session_key().ok()?;
        let key: &Vec<u8> = keys.session_key.as_ref();
        Some(SessionKey::new(key.clone()))
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
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let shown = format!("{:?}", login("user", "WG", "hunter2"));
        assert_eq!(shown, r#"User { user: "user", domain: "WG", .. }"#);
    }

    #[test]
    fn the_first_token_offers_ntlm_in_spnego() {
        let mut exchange = Exchange::new(&login("user", "", "secret")).expect("a plain name");
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
            let mut exchange = Exchange::new(&login("user", "", "secret")).expect("a plain name");
            exchange.answer(&[]).expect("nothing from outside yet");
            assert!(exchange.answer(garbage).is_err(), "{} bytes", garbage.len());
        }
    }

    #[test]
    fn names_that_cannot_be_are_refused() {
        assert!(matches!(
            Exchange::new(&login("WG\\user", "OTHER", "secret")),
            Err(AuthError::UserName { .. })
        ));
        assert!(matches!(
            Exchange::new(&login("user", "", "$NTLM$:00")),
            Err(AuthError::Password)
        ));
    }

    #[test]
    fn an_anonymous_answer_has_no_name() {
        let message = anonymous_authenticate();
        assert_eq!(message.len(), 65);
        assert_eq!(message[12..20], [1, 0, 1, 0, 64, 0, 0, 0]);
        assert_eq!(message[60..64], ANONYMOUS_FLAGS.to_le_bytes());
    }
}
