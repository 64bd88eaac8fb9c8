//! The seam to authentication: tokens go to and fro, a session key comes out.

use zeroize::Zeroizing;

/// The key that authentication agreed on with the server; wiped when dropped.
#[derive(Clone)]
pub struct SessionKey(Zeroizing<Vec<u8>>);

impl SessionKey {
    /// Takes the whole key as the GSS mechanism exports it (what to use of it is decided here).
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The whole key, for whoever hands it on to the process that uses it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for SessionKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SessionKey(..)")
    }
}

/// What one step of authentication gave.
#[derive(Debug, Default)]
pub struct Step {
    /// The token to send to the server; empty when there is nothing left to say.
    pub token: Vec<u8>,
    /// The session key, as soon as it is known. A later step may repeat or replace it.
    pub session_key: Option<SessionKey>,
}

/// One authentication as the client; a fresh one is needed for every channel.
///
/// The first call gets the token of the server's NEGOTIATE reply (may be empty), each later call
/// the token of a SESSION_SETUP reply. When the server reports success with a token (SPNEGO's
/// last word), that is passed as well; the token of that last step is not sent.
pub trait Authenticator: Send {
    /// Takes the server's token; gives the client's next one and finally the session key.
    fn step(
        &mut self,
        server_token: &[u8],
    ) -> Result<Step, Box<dyn std::error::Error + Send + Sync>>;
}
