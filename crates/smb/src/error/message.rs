//! What each error says.

use std::error::Error as Cause;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use locale::{Language, Message, say};
use smb_proto::error::{Error as ProtocolError, Malformed};

use super::Error;
use crate::auth::AuthError;
use crate::copy::name::printable;

impl Error {
    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::UnknownHost { name, .. } => {
                say("error-smb.unknown-host").with("host", printable(name))
            }
            Self::ReferredHere { name, address } => say("error-smb.referred-here")
                .with("host", printable(name))
                .with("address", *address),
            Self::PortClosed {
                server, address, ..
            } => at("error-smb.port-closed", server, *address).count("port", address.port()),
            Self::Unreachable {
                server, address, ..
            } => at("error-smb.unreachable", server, *address),
            Self::Credentials { user, .. } => say("error-smb.credentials").with("user", user),
            Self::LoginRefused { server, user, .. } => {
                by("error-smb.login-refused", server).with("user", user)
            }
            Self::GuestOnly { server, user } => {
                by("error-smb.guest-only", server).with("user", user)
            }
            Self::NoSuchShare { server, share, .. } => {
                by("error-smb.no-such-share", server).with("share", printable(share))
            }
            Self::Channel { local, remote, .. } => say("error-smb.channel")
                .with("local", *local)
                .with("remote", remote.to_string()),
            Self::EndlessReferrals => say("error-smb.endless-referrals"),
            Self::OnlySmb1 { server } => by("error-smb.only-smb1", server),
            Self::Incompatible { server, .. } => by("error-smb.incompatible", server),
            Self::ConnectionLost { server, .. } => by("error-smb.connection-lost", server),
            Self::NotReconnected { seconds, .. } => {
                say("error-smb.not-reconnected").count("seconds", *seconds)
            }
            Self::Protocol { server, .. } => by("error-smb.protocol", server),
            _ => self.of_object(),
        }
    }

    /// The same, of what has a path.
    fn of_object(&self) -> Message {
        match self {
            Self::NotFound { object, .. } => about("error-smb.not-found", object),
            Self::AlreadyExists { object, .. } | Self::Obstructed { object } => {
                about("error-smb.already-exists", object)
            }
            Self::AccessDenied { object, .. } => about("error-smb.access-denied", object),
            Self::AccessDeniedLater { object, .. } => {
                about("error-smb.access-denied-later", object)
            }
            Self::DiskFull { object, .. } => about("error-smb.disk-full", object),
            Self::InUse { object, users, .. } => {
                let users = users.iter().map(|user| format!("`{}`", printable(user)));
                let users = Some(users.collect::<Vec<_>>()).filter(|users| !users.is_empty());
                about("error-smb.in-use", object).with_known("users", users)
            }
            Self::Refused { object, .. } => about("error-smb.refused", object),
            Self::Elsewhere { object, .. } => about("error-smb.elsewhere", object),
            Self::NoTarget { object, target, .. } => {
                about("error-smb.no-target", object).with("target", printable(target))
            }
            Self::Interrupted { object, .. } => about("error-smb.interrupted", object),
            Self::Changed { object } => about("error-smb.changed", object),
            Self::Busy { object } => about("error-smb.busy", object),
            Self::Name {
                name: object,
                reason,
            }
            | Self::NotCopied { object, reason } => {
                about("error-smb.not-copied", object).with("reason", reason.clone())
            }
            _ => self.of_copy(),
        }
    }

    /// The same, of a copy that is not as its source.
    fn of_copy(&self) -> Message {
        match self {
            Self::Short {
                object,
                moved,
                expected,
            } => about("error-smb.short", object)
                .count("moved", *moved)
                .count("expected", *expected),
            Self::Lost {
                server,
                object,
                size,
                expected,
            } => about("error-smb.lost", object)
                .with("server", server)
                .count("size", *size)
                .count("expected", *expected),
            Self::TimeNotKept { object } => about("error-smb.time-not-kept", object),
            Self::AttributesNotKept { object } => about("error-smb.attributes-not-kept", object),
            Self::ModeNotKept {
                object,
                mode,
                there,
            } => about("error-smb.mode-not-kept", object)
                .with("mode", format!("{mode:03o}"))
                .with("there", format!("{there:03o}")),
            Self::Differs {
                object,
                source_hash,
                copy,
            } => about("error-smb.differs", object)
                .with("source", source_hash)
                .with("copy", copy),
            _ => self.of_this_machine(),
        }
    }

    /// The same, of what was asked for, and of what this machine cannot do.
    fn of_this_machine(&self) -> Message {
        match self {
            Self::Usage { reason } => say("error-smb.usage").with("reason", reason.clone()),
            Self::Pattern { pattern, reason } => say("error-smb.pattern")
                .with("pattern", pattern)
                .with("reason", reason.clone()),
            Self::Stopped => say("error-smb.stopped"),
            Self::System { action, .. } => action.clone(),
            Self::Sockets { .. } => say("error-smb.sockets"),
            Self::LocalFile { action, path, .. } => {
                let path = path.to_string_lossy();
                action.clone().with("path", printable(&path))
            }
            // All others are said above.
            other => format!("{other:?}").into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

/// About a server.
fn by(id: &'static str, server: &str) -> Message {
    say(id).with("server", server)
}

/// About one address of a server.
fn at(id: &'static str, server: &str, address: SocketAddr) -> Message {
    by(id, server).with("address", address.to_string())
}

/// About something on a share or on this machine.
fn about(id: &'static str, object: &str) -> Message {
    say(id).with("object", printable(object))
}

/// What a cause says, in any language where it is an error of this crate or of the protocol.
#[must_use]
pub fn message_of(cause: &(dyn Cause + 'static)) -> Message {
    macro_rules! ours {
        ($($kind:ty),*) => {
            $(
                let boxed = cause.downcast_ref::<Box<$kind>>().map(|error| &**error);
                // What ends a channel ends many requests, which have it in common.
                let shared = cause.downcast_ref::<Arc<$kind>>().map(|error| &**error);
                if let Some(error) = cause.downcast_ref::<$kind>().or(boxed).or(shared) {
                    return error.message();
                }
            )*
        };
    }
    ours!(Error, AuthError, ProtocolError, Malformed);
    if let Some(error) = cause.downcast_ref::<std::io::Error>() {
        return record::bounded_read::message_of(error);
    }
    match cause.downcast_ref::<Arc<dyn Cause + Send + Sync>>() {
        Some(shared) => message_of(&**shared),
        None => cause.to_string().into(),
    }
}

/// An error and its causes, as one message.
pub(crate) fn chain(error: &Error) -> Message {
    let below = std::iter::successors(error.source(), |cause| (*cause).source());
    let messages = std::iter::once(error.message()).chain(below.map(message_of));
    record::chain(messages).unwrap_or_else(|| error.message())
}

#[cfg(test)]
mod tests {
    use smb_proto::NtStatus;
    use smb_proto::error::Operation;

    use super::*;

    #[test]
    fn what_the_protocol_says_of_a_cause_is_said_in_any_language() {
        let refused = ProtocolError::refused(Operation::Open.of("a/b"), NtStatus::DISK_FULL);
        let ended = ProtocolError::SessionEnded(Some(Arc::new(refused.clone())));
        let below = ended.source().expect("a cause");
        assert_eq!(message_of(below), refused.message());
        let error = Error::of_connection(ended, "nas");
        let text = "the connection to `nas` was lost: the session has ended: the server refused \
                    opening `a/b`: STATUS_DISK_FULL";
        assert_eq!(Language::English.say(&chain(&error)), text);
        let said = Language::Japanese.say(&chain(&error));
        assert!(
            !said.contains("refused") && said.contains("`a/b`"),
            "{said}"
        );
    }
}
