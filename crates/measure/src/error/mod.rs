//! What can go wrong with a trial, and whose turn it is then.

mod login_hints;
mod message;
mod share;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use locale::{Message, say};
use record::{Failure, FailureKind};

pub(crate) use login_hints::login_hint;
pub use login_hints::ticket_hint;
pub use message::message_of;
use share::{share_hint, share_kind};

/// Why a trial could not be measured: what we were doing, to what, and the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked makes no sense.
    Usage {
        /// What is wrong with it.
        reason: Message,
    },
    /// A trial's standard input does not hold a trial. The text is not repeated and neither is what
    /// the parser says of it: there may be a password in it.
    Input {
        /// Where it stops making sense, from 1; 0 when it is cut off before.
        column: usize,
    },
    /// The user stopped it.
    Stopped,
    /// Nobody answers at an address.
    Connect {
        /// Whom we called.
        address: SocketAddr,
        /// Why it failed.
        source: io::Error,
    },
    /// A socket cannot leave by the interface that was asked for.
    Nic {
        /// The interface.
        nic: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The server agreed to something else than was demanded.
    NotAgreed {
        /// The server.
        server: String,
        /// What it agreed to.
        agreed: String,
        /// What was demanded.
        demanded: String,
    },
    /// The iperf3 server serves somebody else.
    Busy {
        /// The server.
        server: SocketAddr,
    },
    /// The iperf3 server gave up and says why in its own numbers.
    Server {
        /// The server.
        server: SocketAddr,
        /// iperf3's own number.
        code: i32,
        /// `errno` at the server, 0 for none.
        system: i32,
    },
    /// The iperf3 server ended the test before its time.
    Ended {
        /// The server.
        server: SocketAddr,
    },
    /// The iperf3 server does not keep to the protocol.
    Protocol {
        /// The server.
        server: SocketAddr,
        /// What it did.
        reason: Message,
    },
    /// A connection of a test broke.
    Connection {
        /// What could not be done, to be said with the `server`.
        action: Message,
        /// The far end.
        server: SocketAddr,
        /// Why it failed.
        source: io::Error,
    },
    /// Nothing came through during the counted time.
    Silence {
        /// The far end.
        server: String,
        /// The time in which nothing came.
        counted: Duration,
    },
    /// Work that is done once came to nothing in the time that it may take.
    TooSlow {
        /// The far end.
        server: String,
        /// The time that it may take.
        limit: Duration,
    },
    /// The two ends count differently, so neither can be believed.
    Disagreement {
        /// The far end.
        server: SocketAddr,
        /// Bytes by its account.
        far: u64,
        /// Bytes by ours.
        ours: u64,
    },
    /// There is no iperf3 on a host.
    NoIperf,
    /// An iperf3 server did not start.
    FarServer {
        /// What it said, or did.
        reason: Message,
    },
    /// The system did not give something that we need.
    System {
        /// What could not be done.
        action: Message,
        /// Why it failed.
        source: io::Error,
    },
    /// The share has too little room for the test file.
    NoSpace {
        /// The share.
        share: String,
        /// Bytes that have to be free.
        needed: u64,
        /// Bytes that are.
        available: u64,
    },
    /// A test file cannot be made in a folder.
    TestFile {
        /// The folder.
        folder: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A share cannot be mounted a second time.
    SecondMount {
        /// What is to be mounted, as `//server/share`.
        share: String,
        /// Why not.
        reason: Message,
        /// Whether the server refused the login: accounts are locked after some of these.
        is_login: bool,
    },
    /// There is no file of somebody's that could be read.
    NoFile {
        /// The share.
        share: String,
        /// Bytes that it must have.
        least: u64,
        /// Bytes that it may have.
        most: u64,
    },
    /// No file of ours can be made on a share, and there is none of somebody's that could be read.
    NothingToRead {
        /// The share.
        share: String,
        /// Bytes that it must have.
        least: u64,
        /// Why none can be made.
        source: Box<Error>,
    },
    /// There is no fio on the client.
    NoFio,
    /// fio did not do what it was asked for.
    Fio {
        /// What it did.
        reason: Message,
    },
    /// A recipe cannot be used.
    Recipe {
        /// Its name or file.
        name: String,
        /// What is wrong with it.
        reason: Message,
        /// What to do about it.
        hint: Message,
    },
    /// Something between us and an SMB server failed.
    Share(#[from] smb::Error),
    /// Something on a host failed.
    Host(#[from] host::Error),
}

impl Error {
    /// Whose turn it is; decides the exit code.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Usage { .. } | Self::Recipe { .. } => FailureKind::Usage,
            Self::Stopped => FailureKind::Interrupted,
            Self::Connect { .. } | Self::Silence { .. } | Self::TooSlow { .. } => {
                FailureKind::Unreachable
            }
            Self::Connection { source, .. } if is_lost(source) => FailureKind::Unreachable,
            Self::Ended { .. } => FailureKind::Unreachable,
            Self::System { source, .. } => system_kind(source),
            Self::Nic { .. } | Self::Busy { .. } | Self::Server { .. } | Self::NoIperf => {
                FailureKind::Refused
            }
            Self::SecondMount { is_login: true, .. } => FailureKind::LoginRefused,
            Self::FarServer { .. }
            | Self::NotAgreed { .. }
            | Self::NoSpace { .. }
            | Self::NoFile { .. }
            | Self::NothingToRead { .. }
            | Self::NoFio
            | Self::SecondMount { .. }
            | Self::TestFile { .. } => FailureKind::Refused,
            Self::Share(error) => share_kind(error),
            Self::Input { .. }
            | Self::Protocol { .. }
            | Self::Connection { .. }
            | Self::Disagreement { .. }
            | Self::Fio { .. } => FailureKind::Internal,
            Self::Host(error) => error.kind(),
        }
    }

    /// Whether somebody may not write, or has no room to, and may still read.
    pub(crate) fn is_of_writing(&self) -> bool {
        matches!(
            self,
            Self::NoSpace { .. }
                | Self::Share(
                    smb::Error::AccessDenied { .. }
                        | smb::Error::AccessDeniedLater { .. }
                        | smb::Error::DiskFull { .. }
                )
        )
    }

    /// What to do next, where we know it.
    #[must_use]
    pub fn hint(&self) -> Option<Message> {
        let hint = match self {
            Self::Connect { address, source } => return Some(connect_hint(address, source)),
            Self::Host(error) => return error.hint(),
            Self::Share(error) => return share_hint(error),
            Self::Nic { nic, .. } => return Some(say("hint-measure.nic").with("nic", nic)),
            Self::Recipe { hint, .. } => return Some(hint.clone()),
            Self::NoSpace { .. } => "hint-measure.no-space",
            Self::Busy { .. } => "hint-measure.busy",
            Self::Connection { source, .. } if source.kind() == io::ErrorKind::TimedOut => {
                "hint-measure.silent-server"
            }
            Self::Server { .. } | Self::Ended { .. } => "hint-measure.server-output",
            Self::Protocol { .. } => "hint-measure.protocol",
            Self::Silence { .. } => "hint-measure.silence",
            Self::NothingToRead { .. } => "hint-measure.nothing-to-read",
            Self::NoFile { .. } => "hint-measure.no-file",
            Self::NoFio => "hint-measure.no-fio",
            Self::TestFile { .. } => "hint-measure.test-file",
            Self::NoIperf => "hint-measure.no-iperf",
            _ => return None,
        };
        Some(say(hint))
    }

    /// The error as it stands in a run file.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let cause = std::error::Error::source(self);
        let failure = Failure::caused(self.kind(), self.message(), cause, |cause| {
            vec![message_of(cause)]
        });
        match self.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

fn connect_hint(address: &SocketAddr, source: &io::Error) -> Message {
    match source.kind() {
        io::ErrorKind::ConnectionRefused => {
            say("hint-measure.connect-refused").count("port", address.port())
        }
        io::ErrorKind::TimedOut => say("hint-measure.connect-silent")
            .with("address", address.ip())
            .count("port", address.port()),
        _ => say("hint-measure.connect").with("address", address.ip()),
    }
}

/// Whether the far end has ended a connection, or says nothing any more.
fn is_lost(source: &io::Error) -> bool {
    matches!(
        source.kind(),
        io::ErrorKind::TimedOut
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::NotConnected
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
    )
}

/// Whether there is no more room on a disk of this machine.
fn is_full(source: &io::Error) -> bool {
    matches!(
        source.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// Rights and room on a disk can be seen to; other refusals of this machine cannot.
fn system_kind(source: &io::Error) -> FailureKind {
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => FailureKind::Refused,
        _ if is_full(source) => FailureKind::Refused,
        _ => FailureKind::Internal,
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        error.failure()
    }
}
