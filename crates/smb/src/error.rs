//! What can go wrong: what we were doing, to what, and why it failed.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use smb_proto::{Error as ProtocolError, NtStatus};

use crate::auth::{AuthError, Refusal};
use crate::copy::printable;

/// Why something failed, sorted by who has to act.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name means nothing to this machine.
    #[error("no address is known for the host `{}`", printable(name))]
    UnknownHost {
        /// The name as typed.
        name: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// A server says that something is on this machine, where no login of a user is to go because a server says so.
    #[error(
        "`{}` is this machine ({address}), and as a rule no server may refer to it (DFS)",
        printable(name)
    )]
    ReferredHere {
        /// The name that the server gave.
        name: String,
        /// The address of this machine that it has.
        address: IpAddr,
    },
    /// The host is there, and nothing listens.
    #[error("nothing listens on port {} of `{server}` ({address})", address.port())]
    PortClosed {
        /// The name as typed.
        server: String,
        /// The address that was tried last.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// No answer, or no way there.
    #[error("cannot reach `{server}` ({address})")]
    Unreachable {
        /// The name as typed.
        server: String,
        /// The address that was tried last.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The name or password cannot even be tried.
    #[error("cannot log in as `{user}`")]
    Credentials {
        /// The user.
        user: String,
        /// Why.
        source: AuthError,
    },
    /// The server does not take this user with this password.
    #[error("`{server}` does not let `{user}` log in")]
    LoginRefused {
        /// The server as typed.
        server: String,
        /// The user.
        user: String,
        /// Its answer.
        source: ProtocolError,
    },
    /// The server does not know the user and offers to take us as a guest.
    #[error("`{server}` takes `{user}` only as a guest")]
    GuestOnly {
        /// The server as typed.
        server: String,
        /// The user.
        user: String,
    },
    /// The server has no such share.
    #[error("there is no share `{}` on `{server}`", printable(share))]
    NoSuchShare {
        /// The server as typed.
        server: String,
        /// The share.
        share: String,
        /// Those that it has, where it tells this user; those for administrators are left out.
        there: Vec<String>,
        /// Its answer.
        source: ProtocolError,
    },
    /// One more channel could not be had; the session goes on.
    #[error("cannot open a channel from {local} to {remote}")]
    Channel {
        /// Our address.
        local: IpAddr,
        /// The server's.
        remote: SocketAddr,
        /// Why.
        source: Box<Error>,
    },
    /// There is no such file or folder.
    #[error("`{}` does not exist", printable(object))]
    NotFound {
        /// Path in the share.
        object: String,
        /// The server's answer.
        source: ProtocolError,
    },
    /// A file or folder is in the way.
    #[error("`{}` exists already", printable(object))]
    AlreadyExists {
        /// Path in the share.
        object: String,
        /// The server's answer.
        source: ProtocolError,
    },
    /// The user may not do it.
    #[error("no permission for `{}`", printable(object))]
    AccessDenied {
        /// Share, or path in the share.
        object: String,
        /// The server's answer.
        source: ProtocolError,
    },
    /// The server's disk or the user's quota is full.
    #[error("no space is left for `{}`", printable(object))]
    DiskFull {
        /// Path in the share.
        object: String,
        /// The server's answer.
        source: ProtocolError,
    },
    /// Whoever has it open on the server does not share it.
    #[error("`{}` is in use on the server{}", printable(object), by(users))]
    InUse {
        /// Path in the share.
        object: String,
        /// Who has it open, where the server told this user; may hold anything.
        users: Vec<String>,
        /// The server's answer.
        source: ProtocolError,
    },
    /// The server said no for another reason.
    #[error("the server refused `{}`", printable(object))]
    Refused {
        /// Share, or path in the share.
        object: String,
        /// Its answer.
        source: ProtocolError,
    },
    /// What is asked for is on another server (DFS), where this session may not log in.
    #[error("`{}` is on another server (DFS)", printable(object))]
    Elsewhere {
        /// What was asked for, as `smb://server/share/path`.
        object: String,
        /// Where it is, likewise; one of them at least, best first.
        targets: Vec<String>,
    },
    /// None of the servers that it is on can be used.
    #[error(
        "`{}` is on another server (DFS), and none can be used, the last tried being `{}`",
        printable(object),
        printable(target)
    )]
    NoTarget {
        /// What was asked for, as `smb://server/share/path`.
        object: String,
        /// Where it is, likewise.
        target: String,
        /// Why that cannot be used.
        source: Box<Error>,
    },
    /// Servers refer to each other, or to too many.
    #[error("the servers refer to each other without end (DFS)")]
    EndlessReferrals,
    /// The server speaks nothing newer than SMB 1, which has no protection worth the name and is not spoken
    /// here.
    #[error("`{server}` speaks SMB 1 only")]
    OnlySmb1 {
        /// The server as typed.
        server: String,
    },
    /// The server lacks what the policy demands, or has nothing in common with us.
    #[error("`{server}` cannot do what was asked for")]
    Incompatible {
        /// The server as typed.
        server: String,
        /// What is missing.
        source: ProtocolError,
    },
    /// The connection ended before the work did.
    #[error("the connection to `{server}` was lost")]
    ConnectionLost {
        /// The server as typed.
        server: String,
        /// How.
        source: ProtocolError,
    },
    /// The connection was lost and is back, but this went with it.
    #[error("`{}` was interrupted when the connection was lost", printable(object))]
    Interrupted {
        /// Path in the share.
        object: String,
        /// How.
        source: ProtocolError,
    },
    /// All connections were lost, and none came back in time.
    #[error("reconnecting was given up after {seconds} s")]
    NotReconnected {
        /// How long it was tried.
        seconds: u64,
        /// Why the last attempt failed.
        source: Box<Error>,
    },
    /// The server broke the protocol.
    #[error("`{server}` breaks the protocol")]
    Protocol {
        /// The server as typed.
        server: String,
        /// How.
        source: ProtocolError,
    },
    /// A transfer ended before all bytes were moved, without an error of either end.
    #[error("`{}` gave {moved} of {expected} bytes", printable(object))]
    Short {
        /// Path in the share.
        object: String,
        /// Bytes that were moved.
        moved: u64,
        /// Bytes that should have been.
        expected: u64,
    },
    /// The server said that all was written, and has less.
    #[error(
        "`{server}` lost some of `{}`: it has {size} of {expected} bytes, and had said that all were written",
        printable(object)
    )]
    Lost {
        /// The server as typed.
        server: String,
        /// The copy.
        object: String,
        /// Bytes that it has.
        size: u64,
        /// Bytes that were written.
        expected: u64,
    },
    /// The file is there, and the server did not keep the time that it said it had set.
    #[error("the server does not keep the time of `{}`", printable(object))]
    TimeNotKept {
        /// The copy.
        object: String,
    },
    /// The file is there, and the server gave it another mode.
    #[error(
        "the server gives `{}` the mode {there:03o} and not {mode:03o}",
        printable(object)
    )]
    ModeNotKept {
        /// The copy.
        object: String,
        /// The mode that it should have.
        mode: u32,
        /// The one that it has.
        there: u32,
    },
    /// A file or folder is in the way of a copy, which was not asked to replace it.
    #[error("`{}` exists already", printable(object))]
    Obstructed {
        /// Where the copy should go.
        object: String,
    },
    /// A name that the other side cannot hold, or that leads elsewhere.
    #[error("`{}` cannot be copied: {}", printable(name), printable(reason))]
    Name {
        /// The name, with control characters written out.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A source that is neither file nor folder, or a link that leads nowhere good.
    #[error("`{}` cannot be copied: {reason}", printable(object))]
    NotCopied {
        /// Which one.
        object: String,
        /// What it is.
        reason: &'static str,
    },
    /// The source is no longer what it was when its copy began.
    #[error("`{}` changed while it was copied", printable(object))]
    Changed {
        /// The source.
        object: String,
    },
    /// What was read back is not what was written.
    #[error(
        "the copy of `{}` differs from it: it has the hash {copy}, not {source_hash}",
        printable(object)
    )]
    Differs {
        /// The source.
        object: String,
        /// BLAKE3 of the source, in hexadecimal digits.
        source_hash: String,
        /// BLAKE3 of the copy.
        copy: String,
    },
    /// Somebody writes the same copy at this moment.
    #[error("`{}` is being written by another copy", printable(object))]
    Busy {
        /// The part.
        object: String,
    },
    /// What is asked for makes no sense.
    #[error("this cannot be copied: {reason}")]
    Usage {
        /// Why.
        reason: String,
    },
    /// A pattern of file names is none.
    #[error("`{pattern}` is no pattern of file names: {reason}")]
    Pattern {
        /// As typed.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It was stopped from outside.
    #[error("stopped")]
    Stopped,
    /// Something of this machine failed.
    #[error("cannot {action}")]
    System {
        /// What we were doing.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// This system makes no sockets as they were asked for.
    #[error("cannot make sockets as asked")]
    Sockets {
        /// What it refuses.
        source: io::Error,
    },
    /// A file of this machine failed.
    #[error("cannot {action} `{}`", printable(&path.to_string_lossy()))]
    LocalFile {
        /// What we were doing.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl Error {
    /// The server's status, where one is the reason.
    #[must_use]
    pub fn status(&self) -> Option<NtStatus> {
        self.protocol().and_then(ProtocolError::status)
    }

    /// Whether the server refused this, and nothing else is the matter.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Refused { .. } | Self::AccessDenied { .. } | Self::InUse { .. }
        )
    }

    /// Whether a question has no answer on this server, which refuses it or makes no sense.
    pub(crate) fn is_missing_fact(&self) -> bool {
        let malformed = matches!(
            self,
            Self::Protocol {
                source: ProtocolError::Malformed(_) | ProtocolError::Misbehaving(_),
                ..
            }
        );
        malformed || self.status().is_some()
    }

    /// For the requests that wait for a session, when there will be none.
    pub(crate) fn into_protocol(self) -> ProtocolError {
        match self {
            Self::LoginRefused { source, .. }
            | Self::Incompatible { source, .. }
            | Self::Protocol { source, .. } => source,
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

    pub(crate) fn protocol(&self) -> Option<&ProtocolError> {
        match self {
            Self::LoginRefused { source, .. }
            | Self::NoSuchShare { source, .. }
            | Self::NotFound { source, .. }
            | Self::AlreadyExists { source, .. }
            | Self::AccessDenied { source, .. }
            | Self::DiskFull { source, .. }
            | Self::InUse { source, .. }
            | Self::Refused { source, .. }
            | Self::Incompatible { source, .. }
            | Self::ConnectionLost { source, .. }
            | Self::Interrupted { source, .. }
            | Self::Protocol { source, .. } => Some(source),
            _ => None,
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
                action: "read what is to be written",
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

/// The end of a sentence that says who, where that is known.
fn by(users: &[String]) -> String {
    let users: Vec<String> = users
        .iter()
        .map(|user| format!("`{}`", printable(user)))
        .collect();
    match users.is_empty() {
        true => String::new(),
        false => format!(", by {}", users.join(", ")),
    }
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
    use super::*;
    use crate::kerberos::KdcRefusal;

    fn refused(status: NtStatus) -> ProtocolError {
        ProtocolError::Refused {
            doing: "a test".to_owned(),
            status,
        }
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
    fn a_session_that_ended_is_told_by_what_ended_it() {
        let of = |cause: Option<ProtocolError>| {
            Error::of_connection(ProtocolError::SessionEnded(cause.map(Arc::new)), "server")
        };
        let misbehaving = ProtocolError::Misbehaving("it answers twice".to_owned());
        assert!(matches!(of(Some(misbehaving)), Error::Protocol { .. }));
        let silent = ProtocolError::TimedOut {
            seconds: 20,
            waiting_for: "READ",
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
