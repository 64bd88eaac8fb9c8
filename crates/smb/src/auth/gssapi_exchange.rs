//! Kerberos with a ticket inside SPNEGO: the system's library makes the tokens.

use smb_proto::SessionKey;
use zeroize::Zeroizing;

use super::error::AuthError;
use crate::spnego;
use crate::tickets::{self, Context, Failure, TicketError, TicketUse};

/// The exchange of one login with a ticket.
pub(crate) struct TicketExchange {
    context: Context,
    /// Our first token, until it is sent.
    first: Option<Vec<u8>>,
    /// Once the server has proven its identity.
    key: Option<Zeroizing<Vec<u8>>>,
}

impl TicketExchange {
    /// Begins it with the tickets of this principal.
    pub(super) fn new(principal: &str, server: &str) -> Result<Self, AuthError> {
        // Whether these tickets are to be used was decided when their holder was found.
        let (context, token) = tickets::begin(server, principal, TicketUse::AskedFor)?;
        Ok(Self {
            context,
            first: Some(spnego::begin(spnego::KERBEROS, &token)),
            key: None,
        })
    }

    pub(super) fn answer(&mut self, server_token: &[u8]) -> Result<Vec<u8>, AuthError> {
        if let Some(token) = self.first.take() {
            return Ok(token);
        }
        if self.key.is_some() {
            // Servers end with an empty token, or with one that says nothing new.
            return Ok(Vec::new());
        }
        let answer = spnego::answer(server_token, spnego::KERBEROS);
        let answer = answer.map_err(|what| AuthError::TokenMalformed { what })?;
        // It is the proof of the server's identity.
        let token = answer.token.ok_or(AuthError::OutOfOrder)?;
        let refused = |failure: Failure| {
            let text = failure.message(usize::MAX);
            AuthError::Ticket(TicketError::Answer { text })
        };
        let (token, done) = self.context.step(token).map_err(refused)?;
        if done {
            let key = self.context.session_key().map_err(refused)?;
            self.key = Some(Zeroizing::new(key));
        }
        Ok(match token.is_empty() {
            true => token,
            false => spnego::go_on(&token, None),
        })
    }

    pub(super) fn session_key(&self) -> Option<SessionKey> {
        self.key.as_ref().map(|key| SessionKey::new(key.to_vec()))
    }
}
