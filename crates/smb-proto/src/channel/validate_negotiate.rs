//! The check that NEGOTIATE was not changed on the path, for dialects that do not protect it.

use locale::say;

use super::Channel;
use super::negotiate::{dialect_code, own_capabilities, own_security_mode};
use super::outgoing_requests::Outgoing;
use super::pending_requests::{Connected, Job};
use crate::error::{Error, NtStatus, Operation, Result};
use crate::monotonic_time::Time;
use crate::session::{Dialect, TreeId};
use crate::wire::{
    Command, FileId, HEADER_LENGTH, Header, IoctlRequest, IoctlResponse, Message as _,
    ValidateNegotiateRequest, ValidateNegotiateResponse, control,
};

impl Channel {
    /// Before 3.1.1 nothing protects NEGOTIATE itself, so it is checked afterwards (3.2.5.5). Where
    /// 3.x was not even offered, there is nothing that somebody could have talked us out of.
    pub(super) fn must_validate(&self) -> bool {
        let older = self
            .agreed
            .as_ref()
            .is_some_and(|agreed| agreed.dialect < Dialect::Smb311);
        let offered = self.offered.iter().any(|offer| *offer >= Dialect::Smb300);
        older && offered && !self.validated && self.keys.can_sign()
    }

    /// Asks the server what it has negotiated; the TREE_CONNECT that succeeded waits for it.
    pub(super) fn validate(&mut self, connected: Box<Connected>, now: Time) -> Result<()> {
        let mut outgoing = Outgoing::new(Command::IOCTL);
        outgoing.tree_id = TreeId {
            number: connected.header.tree_id(),
            encrypted: connected.is_encrypted(),
        };
        outgoing.guard = self.keys.best_guard(outgoing.tree_id);
        let mut body = Vec::new();
        IoctlRequest {
            control: control::VALIDATE_NEGOTIATE_INFO,
            file: FileId::NONE,
            input: &self.validation_input(),
            output_max: 24,
        }
        .encode(&mut body);
        self.send(outgoing, &body, Job::Validate(connected), now)
            .map(drop)
    }

    /// The check of NEGOTIATE was answered (3.2.5.14.12).
    pub(super) fn was_validated(
        &mut self,
        connected: Connected,
        header: &Header,
        message: &[u8],
        now: Time,
    ) -> Result<()> {
        let Connected {
            control,
            header: tree_header,
            message: mut tree_message,
        } = connected;
        let old_server = [
            NtStatus::FILE_CLOSED,
            NtStatus::INVALID_DEVICE_REQUEST,
            NtStatus::NOT_SUPPORTED,
        ];
        let checked = match header.status {
            NtStatus::SUCCESS => IoctlResponse::decode(&message[HEADER_LENGTH..])
                .map_err(Error::from)
                .and_then(|response| self.check_validation(response.output)),
            // its signature was right, so this is no trick
            status if old_server.contains(&status) => Ok(()),
            status => Err(Error::refused(Operation::CheckNegotiation, status)),
        };
        match checked {
            Ok(()) => {
                self.validated = true;
                self.conclude(control, &tree_header, &mut tree_message, now)
            }
            Err(error) => {
                let failure = self.senseless(Operation::CheckNegotiation, &error);
                control.sink.done(Err(failure));
                Err(error)
            }
        }
    }

    /// The input of the check: NEGOTIATE as it was sent.
    fn validation_input(&self) -> Vec<u8> {
        let settings = self.session.settings();
        let dialects = self
            .offered
            .iter()
            .map(|dialect| dialect_code(*dialect))
            .collect();
        let mut input = Vec::new();
        ValidateNegotiateRequest {
            capabilities: own_capabilities(settings, &self.offered),
            client_guid: settings.client_guid,
            security_mode: own_security_mode(settings),
            dialects,
        }
        .encode(&mut input);
        input
    }

    /// The server must have negotiated what we think it did.
    fn check_validation(&self, output: &[u8]) -> Result<()> {
        let stated = ValidateNegotiateResponse::decode(output)?;
        let right = self
            .agreed
            .as_ref()
            .map(|agreed| ValidateNegotiateResponse {
                capabilities: agreed.capabilities,
                server_guid: agreed.server_guid,
                security_mode: agreed.security_mode,
                dialect: dialect_code(agreed.dialect),
            });
        if right == Some(stated) {
            return Ok(());
        }
        Err(Error::Misbehaving(say("misbehaving.negotiation-changed")))
    }
}
