//! What can go wrong: what we were doing, to what, and why it failed.

mod classify;
mod message;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use locale::Message;
use smb_proto::{Error as ProtocolError, NtStatus};

use crate::auth::AuthError;

pub(crate) use message::chain;
pub use message::message_of;

/// Why something failed, sorted by who has to act.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name means nothing to this machine.
    UnknownHost {
        /// The name as typed.
        name: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// A server says that something is on this machine, where no login of a user is to go because a server says so.
    ReferredHere {
        /// The name that the server gave.
        name: String,
        /// The address of this machine that it has.
        address: IpAddr,
    },
    /// The host is there, and nothing listens.
    PortClosed {
        /// The name as typed.
        server: String,
        /// The address that was tried last.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// No answer, or no route there.
    Unreachable {
        /// The name as typed.
        server: String,
        /// The address that was tried last.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The name or password cannot even be tried.
    Credentials {
        /// The user.
        user: String,
        /// Why.
        source: AuthError,
    },
    /// The server does not take this user with this password.
    LoginRefused {
        /// The server as typed.
        server: String,
        /// The user.
        user: String,
        /// Its answer.
        source: ProtocolError,
    },
    /// The server does not know the user and offers to take us as a guest.
    GuestOnly {
        /// The server as typed.
        server: String,
        /// The user.
        user: String,
    },
    /// The server has no such share.
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
    Channel {
        /// Our address.
        local: IpAddr,
        /// The server's.
        remote: SocketAddr,
        /// Why.
        source: Box<Error>,
    },
    /// There is no such file or folder.
    NotFound {
        /// Path in the share.
        object: String,
        /// The server's answer.
        source: ProtocolError,
    },
    /// A file or folder is in the way.
    AlreadyExists {
        /// Path in the share.
        object: String,
        /// The server's answer.
        source: ProtocolError,
    },
    /// The user may not do it.
    AccessDenied {
        /// Share, or path in the share.
        object: String,
        /// The server's answer.
        source: ProtocolError,
    },
    /// The server opened it for what is asked for, and then said that the user may not do it.
    AccessDeniedLater {
        /// Path in the share.
        object: String,
        /// The server's answer.
        source: ProtocolError,
    },
    /// The server's disk or the user's quota is full.
    DiskFull {
        /// Path in the share.
        object: String,
        /// The server's answer.
        source: ProtocolError,
    },
    /// Whoever has it open on the server does not share it.
    InUse {
        /// Path in the share.
        object: String,
        /// Who has it open, where the server told this user; may hold anything.
        users: Vec<String>,
        /// The server's answer.
        source: ProtocolError,
    },
    /// The server said no for another reason.
    Refused {
        /// Share, or path in the share.
        object: String,
        /// Its answer.
        source: ProtocolError,
    },
    /// What is asked for is on another server (DFS), where this session may not log in.
    Elsewhere {
        /// What was asked for, as `smb://server/share/path`.
        object: String,
        /// Where it is, likewise; one of them at least, best first.
        targets: Vec<String>,
    },
    /// None of the servers that it is on can be used.
    NoTarget {
        /// What was asked for, as `smb://server/share/path`.
        object: String,
        /// Where it is, likewise.
        target: String,
        /// Why that cannot be used.
        source: Box<Error>,
    },
    /// Servers refer to each other, or to too many.
    EndlessReferrals,
    /// The server speaks nothing newer than SMB 1, which has no protection worth the name and is not spoken
    /// here.
    OnlySmb1 {
        /// The server as typed.
        server: String,
    },
    /// The server lacks what the policy demands, or has nothing in common with us.
    Incompatible {
        /// The server as typed.
        server: String,
        /// What is missing.
        source: ProtocolError,
    },
    /// The connection ended before the work did.
    ConnectionLost {
        /// The server as typed.
        server: String,
        /// How.
        source: ProtocolError,
    },
    /// The connection was lost and is back, but this went with it.
    Interrupted {
        /// Path in the share.
        object: String,
        /// How.
        source: ProtocolError,
    },
    /// All connections were lost, and none came back in time.
    NotReconnected {
        /// How long it was tried.
        seconds: u64,
        /// Why the last attempt failed.
        source: Box<Error>,
    },
    /// The server broke the protocol.
    Protocol {
        /// The server as typed.
        server: String,
        /// How.
        source: ProtocolError,
    },
    /// A transfer ended before all bytes were moved, without an error of either end.
    Short {
        /// Path in the share.
        object: String,
        /// Bytes that were moved.
        moved: u64,
        /// Bytes that should have been.
        expected: u64,
    },
    /// The server said that all was written, and has less.
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
    TimeNotKept {
        /// The copy.
        object: String,
    },
    /// A copy is there and is not read-only, hidden or a system file as its source is: the server said that it set that.
    AttributesNotKept {
        /// The copy.
        object: String,
    },
    /// The file is there, and the server gave it another mode.
    ModeNotKept {
        /// The copy.
        object: String,
        /// The mode that it should have.
        mode: u32,
        /// The one that it has.
        there: u32,
    },
    /// A file or folder is in the way of a copy, which was not asked to replace it.
    Obstructed {
        /// Where the copy should go.
        object: String,
    },
    /// A name that the other side cannot hold, or that leads elsewhere.
    Name {
        /// The name, with control characters written out.
        name: String,
        /// What is wrong with it.
        reason: Message,
    },
    /// A source that is neither file nor folder, or a link that leads nowhere good.
    NotCopied {
        /// Which one.
        object: String,
        /// What it is.
        reason: Message,
    },
    /// The source is no longer what it was when its copy began.
    Changed {
        /// The source.
        object: String,
    },
    /// What was read back is not what was written.
    Differs {
        /// The source.
        object: String,
        /// BLAKE3 of the source, in hexadecimal digits.
        source_hash: String,
        /// BLAKE3 of the copy.
        copy: String,
    },
    /// Somebody writes the same copy at this moment.
    Busy {
        /// The part.
        object: String,
    },
    /// What is asked for makes no sense.
    Usage {
        /// Why.
        reason: Message,
    },
    /// A pattern of file names is none.
    Pattern {
        /// As typed.
        pattern: String,
        /// What is wrong with it.
        reason: Message,
    },
    /// It was stopped from outside.
    Stopped,
    /// Something of this machine failed.
    System {
        /// What we could not do.
        action: Message,
        /// Why it failed.
        source: io::Error,
    },
    /// This system makes no sockets as they were asked for.
    Sockets {
        /// What it refuses.
        source: io::Error,
    },
    /// A file of this machine failed.
    LocalFile {
        /// What we could not do to `$path`, which the sentence gets from here.
        action: Message,
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
            Self::Refused { .. }
                | Self::AccessDenied { .. }
                | Self::AccessDeniedLater { .. }
                | Self::InUse { .. }
        )
    }

    /// Whether a copy was cut short by this, so that the same copy can go on later where it ended.
    #[must_use]
    pub const fn is_interruption(&self) -> bool {
        matches!(
            self,
            Self::Stopped
                | Self::ConnectionLost { .. }
                | Self::LoginRefused { .. }
                | Self::Unreachable { .. }
                | Self::Interrupted { .. }
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

    pub(crate) fn protocol(&self) -> Option<&ProtocolError> {
        match self {
            Self::LoginRefused { source, .. }
            | Self::NoSuchShare { source, .. }
            | Self::NotFound { source, .. }
            | Self::AlreadyExists { source, .. }
            | Self::AccessDenied { source, .. }
            | Self::AccessDeniedLater { source, .. }
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
}
