//! From what the protocol or a login says of a failure to the [`Error`] that a caller sees, and back.

use std::io;
use std::sync::Arc;

use locale::say;
use smb_proto::{Error as ProtocolError, NtStatus};

use super::Error;
use crate::auth::{AuthError, Refusal};

impl Error {
    /// For the requests that wait for a session, when there will be none.
    pub(crate) fn into_protocol(self) -> ProtocolError {
        match self {
            Self::LoginRefused { source, .. }
            | Self::Incompatible { source, .. }
            | Self::Protocol { source, .. } => source,
            // What the transport says of the loss is true of every loss; this says which one it is.
            Self::ConnectionLost { source, .. } if is_another_server(&source) => source,
            Self::GuestOnly { .. } => ProtocolError::GuestOnly,
            Self::Stopped => ProtocolError::Cancelled,
            Self::Credentials { source, .. } => ProtocolError::Authentication(Arc::new(source)),
            error => ProtocolError::Transport(Arc::new(error)),
        }
    }

    /// Sorts why a session did not come back.
    pub(crate) fn of_return(cause: &ProtocolError, server: &str, user: &str) -> Self {
        let source = cause.clone();
        match cause {
            ProtocolError::Authentication(_) => Self::LoginRefused {
                server: server.to_owned(),
                user: user.to_owned(),
                source,
            },
            ProtocolError::Cancelled => Self::Stopped,
            _ => Self::of_login(source, server, user),
        }
    }

    /// Sorts why an exchange of tokens cannot begin.
    pub(crate) fn of_exchange(source: AuthError, server: &str, user: &str) -> Self {
        let (server, user) = (server.to_owned(), user.to_owned());
        match source.refusal() {
            Refusal::User => Self::LoginRefused {
                server,
                user,
                source: ProtocolError::Authentication(Arc::new(source)),
            },
            _ => Self::Credentials { user, source },
        }
    }

    /// Sorts the failure of a request about `object`.
    pub(crate) fn of_request(source: ProtocolError, server: &str, object: &str) -> Self {
        // The top folder of a share has no name.
        let object = if object.is_empty() { "/" } else { object }.to_owned();
        match &source {
            ProtocolError::Refused { status, .. } => match *status {
                NtStatus::OBJECT_NAME_NOT_FOUND
                | NtStatus::OBJECT_PATH_NOT_FOUND
                | NtStatus::NO_SUCH_FILE => Self::NotFound { object, source },
                NtStatus::OBJECT_NAME_COLLISION => Self::AlreadyExists { object, source },
                // Also what it says to a signature that it does not take any more (MS-SMB2 3.3.5.2.4).
                NtStatus::ACCESS_DENIED if source.is_of_open_file() => {
                    Self::AccessDeniedLater { object, source }
                }
                NtStatus::ACCESS_DENIED
                | NtStatus::PRIVILEGE_NOT_HELD
                | NtStatus::MEDIA_WRITE_PROTECTED => Self::AccessDenied { object, source },
                NtStatus::DISK_FULL
                | NtStatus::QUOTA_EXCEEDED
                | NtStatus::DISK_QUOTA_EXCEEDED
                | NtStatus::ALLOTTED_SPACE_EXCEEDED => Self::DiskFull { object, source },
                NtStatus::SHARING_VIOLATION => Self::InUse {
                    object,
                    users: Vec::new(),
                    source,
                },
                NtStatus::USER_SESSION_DELETED | NtStatus::NETWORK_NAME_DELETED => {
                    Self::ConnectionLost {
                        server: server.to_owned(),
                        source,
                    }
                }
                _ => Self::Refused { object, source },
            },
            ProtocolError::Cancelled => Self::Stopped,
            ProtocolError::Source(error) => Self::System {
                action: say("error-smb.cannot-read-source"),
                source: io::Error::new(error.kind(), error.to_string()),
            },
            ProtocolError::FileChanged { .. } => Self::Interrupted { object, source },
            ProtocolError::ChannelLost { cause, .. } if !cause.is_fault() => {
                Self::Interrupted { object, source }
            }
            _ => Self::of_connection(source, server),
        }
    }

    /// Sorts the failure of a share's connection.
    pub(crate) fn of_share(source: ProtocolError, server: &str, share: &str) -> Self {
        match source.status() {
            Some(
                NtStatus::BAD_NETWORK_NAME
                | NtStatus::OBJECT_NAME_NOT_FOUND
                | NtStatus::OBJECT_PATH_NOT_FOUND
                | NtStatus::OBJECT_NAME_INVALID,
            ) => Self::NoSuchShare {
                server: server.to_owned(),
                share: share.to_owned(),
                there: Vec::new(),
                source,
            },
            _ => Self::of_request(source, server, share),
        }
    }

    /// Sorts the failure of a login.
    pub(crate) fn of_login(source: ProtocolError, server: &str, user: &str) -> Self {
        let (server, user) = (server.to_owned(), user.to_owned());
        match &source {
            ProtocolError::GuestOnly => Self::GuestOnly { server, user },
            ProtocolError::Refused { .. } => Self::LoginRefused {
                server,
                user,
                source,
            },
            _ => Self::of_connection(source, &server),
        }
    }

    /// Whether the connection is lost because another server answers at its address, to which nothing may go.
    pub(crate) fn is_another_server(&self) -> bool {
        matches!(self, Self::ConnectionLost { source, .. } if is_another_server(source))
    }

    /// Sorts the end of a connection.
    pub(crate) fn of_connection(source: ProtocolError, server: &str) -> Self {
        let server = server.to_owned();
        match root(&source) {
            ProtocolError::Malformed(_)
            | ProtocolError::Misbehaving(_)
            | ProtocolError::Authentication(_)
            | ProtocolError::InvalidRequest(_) => Self::Protocol { server, source },
            ProtocolError::Incompatible(_) => Self::Incompatible { server, source },
            _ => Self::ConnectionLost { server, source },
        }
    }
}

fn is_another_server(error: &ProtocolError) -> bool {
    matches!(root(error), ProtocolError::AnotherServer)
}

/// What ended a channel, where that is why the error is there.
fn root(error: &ProtocolError) -> &ProtocolError {
    match error {
        ProtocolError::ChannelLost { cause, .. } | ProtocolError::SessionEnded(Some(cause)) => {
            root(cause)
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use smb_proto::error::Operation;

    use super::*;
    use crate::kdc_client::KdcRefusal;

    fn refused(status: NtStatus) -> ProtocolError {
        ProtocolError::refused(Operation::Open.of("a/b"), status)
    }

    #[test]
    fn what_callers_tell_apart_is_told_apart() {
        let of = |status| Error::of_request(refused(status), "server", "a/b");
        assert!(matches!(
            of(NtStatus::OBJECT_NAME_NOT_FOUND),
            Error::NotFound { .. }
        ));
        assert!(matches!(
            of(NtStatus::ACCESS_DENIED),
            Error::AccessDenied { .. }
        ));
        assert!(matches!(of(NtStatus::DISK_FULL), Error::DiskFull { .. }));
        assert!(matches!(
            of(NtStatus::FILE_LOCK_CONFLICT),
            Error::Refused { .. }
        ));
        let Error::InUse { object, source, .. } = of(NtStatus::SHARING_VIOLATION) else {
            panic!("it is in use");
        };
        let by = |users: &[&str]| {
            let (object, source) = (object.clone(), source.clone());
            let users = users.iter().map(|user| (*user).to_owned()).collect();
            let text = Error::InUse {
                object,
                users,
                source,
            };
            text.to_string()
        };
        assert_eq!(by(&[]), "`a/b` is in use on the server");
        assert_eq!(by(&["ann"]), "`a/b` is in use on the server, by `ann`");
        let several = "`a/b` is in use on the server, by `ann`, `b\\u{a}b`";
        assert_eq!(by(&["ann", "b\nb"]), several);
        let share = Error::of_share(refused(NtStatus::BAD_NETWORK_NAME), "server", "data");
        assert_eq!(share.to_string(), "there is no share `data` on `server`");
        assert_eq!(share.status(), Some(NtStatus::BAD_NETWORK_NAME));
        let login = Error::of_login(refused(NtStatus::LOGON_FAILURE), "server", "user");
        assert!(matches!(login, Error::LoginRefused { .. }));
    }

    #[test]
    fn access_that_is_denied_to_an_open_file_is_told_from_a_missing_right() {
        let of = |operation: Operation, status| {
            let refused = ProtocolError::refused(operation.of("a/b"), status);
            Error::of_request(refused, "server", "a/b")
        };
        let denied = NtStatus::ACCESS_DENIED;
        for operation in [Operation::Read, Operation::Write, Operation::Close] {
            let error = of(operation, denied);
            let later = matches!(error, Error::AccessDeniedLater { .. });
            assert!(later, "{operation:?}");
            assert!(error.is_refusal() && error.status() == Some(denied));
            assert_eq!(error.message().id, "error-smb.access-denied-later");
        }
        // To open it, or to give it the name of a file that must stay, needs a right of its own.
        for operation in [Operation::Open, Operation::Change] {
            let error = of(operation, denied);
            let denied = matches!(error, Error::AccessDenied { .. });
            assert!(denied, "{operation:?}");
        }
        let read_only = of(Operation::Write, NtStatus::MEDIA_WRITE_PROTECTED);
        assert!(matches!(read_only, Error::AccessDenied { .. }));
    }

    #[test]
    fn another_server_at_the_address_is_a_lost_connection() {
        let came_back_to = |cause: &ProtocolError| Error::of_return(cause, "server", "user");
        let lost = came_back_to(&ProtocolError::AnotherServer);
        assert!(matches!(lost, Error::ConnectionLost { .. }), "{lost:?}");
        assert!(lost.is_another_server());
        // The requests that wait hear the same.
        let cause = lost.into_protocol();
        assert!(matches!(cause, ProtocolError::AnotherServer), "{cause:?}");
        let waiting = ProtocolError::SessionEnded(Some(Arc::new(cause)));
        let waiting = Error::of_request(waiting, "server", "a/b");
        assert!(matches!(waiting, Error::ConnectionLost { .. }));
        assert!(waiting.is_another_server());
        assert!(!came_back_to(&ProtocolError::SessionEnded(None)).is_another_server());
    }

    #[test]
    fn a_session_that_ended_is_told_by_what_ended_it() {
        let of = |cause: Option<ProtocolError>| {
            Error::of_connection(ProtocolError::SessionEnded(cause.map(Arc::new)), "server")
        };
        let misbehaving = ProtocolError::Misbehaving("it answers twice".into());
        assert!(matches!(of(Some(misbehaving)), Error::Protocol { .. }));
        let silent = ProtocolError::TimedOut {
            seconds: 20,
            waiting_for: Operation::Read,
        };
        assert!(matches!(of(Some(silent)), Error::ConnectionLost { .. }));
        assert!(matches!(of(None), Error::ConnectionLost { .. }));
    }

    #[test]
    fn a_password_that_the_kdc_refuses_is_a_refused_login() {
        let of = |refusal| {
            let (realm, service) = ("REALM".to_owned(), "cifs/server".to_owned());
            let refused = AuthError::KdcRefused {
                realm,
                service,
                refusal,
            };
            Error::of_exchange(refused, "server", "user")
        };
        let wrong = of(KdcRefusal::WrongPassword);
        assert!(matches!(wrong, Error::LoginRefused { .. }), "{wrong}");
        let clock = of(KdcRefusal::ClockSkew);
        assert!(matches!(clock, Error::Credentials { .. }), "{clock}");
    }

    #[test]
    fn a_lost_connection_is_no_refusal() {
        let ended = Error::of_request(ProtocolError::SessionEnded(None), "server", "a/b");
        assert!(matches!(ended, Error::ConnectionLost { .. }));
        assert!(matches!(
            Error::of_request(ProtocolError::Cancelled, "server", "a/b"),
            Error::Stopped
        ));
    }
}
