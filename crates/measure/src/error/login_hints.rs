//! What to do where a login fails on our side.

use locale::{Message, say};
use smb::{AuthError, KdcRefusal, TicketError};

/// What to do about a login that failed on our side.
pub(crate) fn login_hint(error: &AuthError) -> Option<Message> {
    let hint = match error {
        AuthError::Elsewhere { hint, .. } => return hint.clone(),
        AuthError::Ticket(error) => return Some(ticket_hint(error)),
        AuthError::NoRealm { .. } => "hint-measure.no-realm",
        AuthError::KdcUnreachable { .. } => "hint-measure.kdc-unreachable",
        AuthError::KdcName { .. } => "hint-measure.kdc-name",
        AuthError::KdcRefused { refusal, .. } => match refusal {
            KdcRefusal::UnknownService => "hint-measure.full-name",
            KdcRefusal::UnknownUser | KdcRefusal::WrongRealm => "hint-measure.user-and-domain",
            KdcRefusal::WrongPassword => "hint-measure.password",
            KdcRefusal::ClockSkew => "hint-measure.clocks",
            KdcRefusal::NoCommonEncryption => "hint-measure.new-password",
            KdcRefusal::Revoked | KdcRefusal::PasswordExpired => "hint-measure.ask-domain",
            KdcRefusal::Other(_) => return None,
        },
        _ => return None,
    };
    Some(say(hint))
}

/// What to do where there is no ticket for a server.
#[must_use]
pub const fn ticket_hint(error: &TicketError) -> Message {
    say(match error {
        TicketError::NoLibrary { .. } if cfg!(target_env = "musl") => "hint-measure.static-program",
        TicketError::NoLibrary { .. } => "hint-measure.kerberos-library",
        TicketError::Foreign { .. } | TicketError::Doubtful { .. } => "hint-measure.own-cache",
        TicketError::NotAskedFor { .. } => "hint-measure.not-asked-for",
        TicketError::None { .. } | TicketError::OfAnother { .. } | TicketError::Expired => {
            "hint-measure.no-ticket"
        }
        TicketError::Unreachable { .. } => "hint-measure.kdc-of-system",
        TicketError::Answer { .. } => "hint-measure.new-ticket",
        _ => "hint-measure.full-name",
    })
}
