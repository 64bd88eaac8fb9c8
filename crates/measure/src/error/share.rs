//! What can go wrong with a share: whose turn it is then, and what to do.

use locale::{Message, say};
use record::{FailureKind, host_in_url};
use smb::{AuthError, Refusal, TicketError};

use super::login_hints::login_hint;
use super::{is_full, system_kind};

pub(super) fn share_kind(error: &smb::Error) -> FailureKind {
    match error {
        smb::Error::Credentials {
            source:
                AuthError::KdcUnreachable { .. }
                | AuthError::Ticket(TicketError::Unreachable { .. })
                | AuthError::Elsewhere {
                    refusal: Refusal::Unreachable,
                    ..
                },
            ..
        }
        | smb::Error::UnknownHost { .. }
        | smb::Error::PortClosed { .. }
        | smb::Error::Unreachable { .. }
        | smb::Error::ConnectionLost { .. }
        | smb::Error::Interrupted { .. } => FailureKind::Unreachable,
        smb::Error::NotReconnected { source, .. } | smb::Error::NoTarget { source, .. } => {
            share_kind(source)
        }
        smb::Error::System { source, .. } => system_kind(source),
        // A server that has no room for one more session has not looked at the password.
        smb::Error::LoginRefused { .. } if !has_no_room(error) => FailureKind::LoginRefused,
        smb::Error::Credentials { .. }
        | smb::Error::LoginRefused { .. }
        | smb::Error::GuestOnly { .. }
        | smb::Error::NoSuchShare { .. }
        | smb::Error::NotFound { .. }
        | smb::Error::AlreadyExists { .. }
        | smb::Error::AccessDenied { .. }
        | smb::Error::AccessDeniedLater { .. }
        | smb::Error::DiskFull { .. }
        | smb::Error::Refused { .. }
        | smb::Error::Incompatible { .. }
        | smb::Error::OnlySmb1 { .. }
        | smb::Error::Elsewhere { .. }
        | smb::Error::EndlessReferrals
        | smb::Error::ReferredHere { .. }
        | smb::Error::Obstructed { .. }
        | smb::Error::Name { .. }
        | smb::Error::NotCopied { .. }
        | smb::Error::Changed { .. }
        | smb::Error::Lost { .. }
        | smb::Error::TimeNotKept { .. }
        | smb::Error::AttributesNotKept { .. }
        | smb::Error::ModeNotKept { .. }
        | smb::Error::LocalFile { .. }
        | smb::Error::Sockets { .. }
        | smb::Error::Busy { .. } => FailureKind::Refused,
        smb::Error::Usage { .. } | smb::Error::Pattern { .. } => FailureKind::Usage,
        smb::Error::Stopped => FailureKind::Interrupted,
        smb::Error::Channel { source, .. } => match share_kind(source) {
            // The same password let the first channel in.
            FailureKind::LoginRefused => FailureKind::Refused,
            kind => kind,
        },
        _ => FailureKind::Internal,
    }
}

fn has_no_room(error: &smb::Error) -> bool {
    matches!(
        error.status(),
        Some(smb::NtStatus::INSUFFICIENT_RESOURCES | smb::NtStatus::REQUEST_NOT_ACCEPTED)
    )
}

pub(super) fn share_hint(error: &smb::Error) -> Option<Message> {
    let hint = match error {
        smb::Error::PortClosed {
            server, address, ..
        } => say("hint-measure.port-closed")
            .with("server", server)
            .count("port", address.port()),
        smb::Error::Unreachable { address, .. } => say("hint-measure.unreachable")
            .count("port", address.port())
            .with("address", address.ip()),
        smb::Error::LoginRefused { server, user, .. } => say("hint-measure.login-refused")
            .with("server", server)
            .with("user", user),
        smb::Error::Credentials { source, .. } => return login_hint(source),
        smb::Error::GuestOnly { server, user } => say("hint-measure.guest-only")
            .with("server", server)
            .with("user", user),
        smb::Error::NoSuchShare { share, there, .. }
            if there.iter().any(|it| it.eq_ignore_ascii_case(share)) =>
        {
            say("hint-measure.listed-share").with("share", smb::copy::printable(share))
        }
        smb::Error::NoSuchShare { there, .. } if !there.is_empty() => shares_hint(there),
        smb::Error::NoSuchShare { server, share, .. } => {
            let id = match is_escaped(share) {
                true => "hint-measure.escaped-share",
                false => "hint-measure.no-such-share",
            };
            say(id)
                .with("host", host_in_url(server).into_owned())
                .with("server", server)
        }
        smb::Error::Elsewhere { targets, .. } => {
            say("hint-measure.elsewhere").with("targets", any_of(targets))
        }
        smb::Error::NoTarget { source, .. } | smb::Error::Channel { source, .. } => {
            return share_hint(source);
        }
        _ => return fixed_hint(error).map(say),
    };
    Some(hint)
}

/// What to do where the kind of the failure says it all.
fn fixed_hint(error: &smb::Error) -> Option<&'static str> {
    Some(match error {
        smb::Error::UnknownHost { .. } => "hint-measure.unknown-host",
        smb::Error::ReferredHere { .. } => "hint-measure.referred-here",
        smb::Error::AccessDenied { .. } => "hint-measure.access-denied",
        smb::Error::AccessDeniedLater { .. } => "hint-measure.access-denied-later",
        smb::Error::NotFound { .. } => "hint-measure.not-found",
        smb::Error::DiskFull { .. } => "hint-measure.no-space",
        smb::Error::LocalFile { source, .. } if is_full(source) => "hint-measure.local-disk-full",
        smb::Error::OnlySmb1 { .. } => "hint-measure.only-smb1",
        smb::Error::Incompatible {
            source: smb::ProtocolError::Incompatible(reason),
            ..
        } if reason.id == smb::ProtocolError::SMALL_REQUESTS => "hint-measure.small-requests",
        smb::Error::Incompatible { .. } => "hint-measure.incompatible",
        smb::Error::ConnectionLost { .. } => "hint-measure.connection-lost",
        _ => return None,
    })
}

/// Names the shares that there are, as far as a line holds them.
fn shares_hint(there: &[String]) -> Message {
    const SHOWN_MAX: usize = 12;
    let shown: Vec<String> = (there.iter().take(SHOWN_MAX))
        .map(|share| format!("`{}`", smb::copy::printable(share)))
        .collect();
    match there.len().saturating_sub(SHOWN_MAX) {
        0 => say("hint-measure.shares").with("shares", shown),
        more => say("hint-measure.shares-more")
            .with("shares", shown)
            .count("more", more),
    }
}

/// One of several places, the first being the best.
fn any_of(places: &[String]) -> Message {
    let quoted = |place: &String| Message::from(format!("`{place}`"));
    let either = |others: Message, one: Message| {
        say("hint-measure.or")
            .with("first", one)
            .with("rest", others)
    };
    let places = places.iter().rev().map(quoted).reduce(either);
    places.unwrap_or_else(|| "``".into())
}

/// Whether a name has `%20` or the like in it, as addresses of the web have for what they cannot hold.
fn is_escaped(name: &str) -> bool {
    let mut after = name.split('%').skip(1);
    after.any(|rest| {
        let number = rest.get(..2);
        number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_hexdigit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_that_may_be_counted_is_told_from_a_server_that_is_full() {
        let kind = |status| {
            let source = smb::ProtocolError::refused(smb::ProtocolOperation::LogIn, status);
            let (server, user) = ("nas".to_owned(), "user".to_owned());
            share_kind(&smb::Error::LoginRefused {
                server,
                user,
                source,
            })
        };
        for counted in [
            smb::NtStatus::LOGON_FAILURE,
            smb::NtStatus::ACCESS_DENIED,
            smb::NtStatus::ACCOUNT_LOCKED_OUT,
        ] {
            assert_eq!(kind(counted), FailureKind::LoginRefused);
        }
        assert_eq!(
            kind(smb::NtStatus::REQUEST_NOT_ACCEPTED),
            FailureKind::Refused
        );
    }

    #[test]
    fn names_of_the_web_are_known_by_their_numbers() {
        assert!(["My%20Share", "%C3%A4"].into_iter().all(is_escaped));
        assert!(
            !["My Share", "50%", "50%\u{e4}", "100 %x"]
                .into_iter()
                .any(is_escaped)
        );
    }
}
