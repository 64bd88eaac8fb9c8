//! What can go wrong with a trial, and whose turn it is then.

mod login;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use record::{Failure, FailureKind, host_in_url};
use smb::{AuthError, Refusal, TicketError};

pub(crate) use login::login_hint;
pub use login::ticket_hint;

/// Why a trial could not be measured: what we were doing, to what, and the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked makes no sense.
    #[error("the trial cannot be run as asked: {reason}")]
    Usage {
        /// What is wrong with it.
        reason: String,
    },
    /// A trial's standard input does not hold a trial. The text is not repeated and neither is what
    /// the parser says of it: there may be a password in it.
    #[error("the trial's input cannot be understood from its byte {column} on")]
    Input {
        /// Where it stops making sense, from 1; 0 when it is cut off before.
        column: usize,
    },
    /// The user stopped it.
    #[error("the trial was stopped")]
    Stopped,
    /// Nobody answers at an address.
    #[error("cannot connect to `{address}`")]
    Connect {
        /// Whom we called.
        address: SocketAddr,
        /// Why it failed.
        source: io::Error,
    },
    /// A socket cannot leave by the interface that was asked for.
    #[error("cannot use the interface `{nic}` for the connection")]
    Nic {
        /// The interface.
        nic: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The server agreed to something else than was demanded.
    #[error("`{server}` agreed to {agreed} where {demanded} was demanded")]
    NotAgreed {
        /// The server.
        server: String,
        /// What it agreed to.
        agreed: String,
        /// What was demanded.
        demanded: String,
    },
    /// The iperf3 server serves somebody else.
    #[error("the iperf3 server `{server}` is busy with another test")]
    Busy {
        /// The server.
        server: SocketAddr,
    },
    /// The iperf3 server gave up and says why in its own numbers.
    #[error("the iperf3 server `{server}` reports its error {code}{}", system_error(*system))]
    Server {
        /// The server.
        server: SocketAddr,
        /// iperf3's own number.
        code: i32,
        /// `errno` at the server, 0 for none.
        system: i32,
    },
    /// The iperf3 server ended the test before its time.
    #[error("the iperf3 server `{server}` ended the test before its time")]
    Ended {
        /// The server.
        server: SocketAddr,
    },
    /// The iperf3 server does not keep to the protocol.
    #[error("`{server}` does not speak the iperf3 protocol: {reason}")]
    Protocol {
        /// The server.
        server: SocketAddr,
        /// What it did.
        reason: String,
    },
    /// A connection of a test broke.
    #[error("cannot {action} `{server}`")]
    Connection {
        /// What we were doing.
        action: &'static str,
        /// The far end.
        server: SocketAddr,
        /// Why it failed.
        source: io::Error,
    },
    /// Nothing came through during the counted time.
    #[error("no payload at all came through in {counted:?} between us and `{server}`")]
    Silence {
        /// The far end.
        server: String,
        /// The time in which nothing came.
        counted: Duration,
    },
    /// Work that is done once came to nothing in the time that it may take.
    #[error("nothing that can be counted was done with `{server}` in {limit:?}: it takes longer")]
    TooSlow {
        /// The far end.
        server: String,
        /// The time that it may take.
        limit: Duration,
    },
    /// The two ends count differently, so neither can be believed.
    #[error("`{server}` says that {far} bytes passed, we count {ours}: neither can be believed")]
    Disagreement {
        /// The far end.
        server: SocketAddr,
        /// Bytes by its account.
        far: u64,
        /// Bytes by ours.
        ours: u64,
    },
    /// There is no iperf3 on a host.
    #[error("there is no `iperf3` on the host that is to serve raw TCP")]
    NoIperf,
    /// An iperf3 server did not start.
    #[error("cannot start `iperf3` as a server: {reason}")]
    FarServer {
        /// What it said.
        reason: String,
    },
    /// The system did not give something that we need.
    #[error("cannot {action}")]
    System {
        /// What we were doing.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The share has too little room for the test file.
    #[error(
        "there is no room for the test file on `{share}`: it takes {needed} bytes with some to \
         spare, and {available} are free"
    )]
    NoSpace {
        /// The share.
        share: String,
        /// Bytes that have to be free.
        needed: u64,
        /// Bytes that are.
        available: u64,
    },
    /// A test file cannot be made in a folder.
    #[error("cannot make a test file in `{}`", folder.display())]
    TestFile {
        /// The folder.
        folder: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no file of somebody's that could be read.
    #[error("there is no file of {} on `{share}` that could be read", sizes(*least, *most))]
    NoFile {
        /// The share.
        share: String,
        /// Bytes that it must have.
        least: u64,
        /// Bytes that it may have.
        most: u64,
    },
    /// No file of ours can be made on a share, and there is none of somebody's that could be read.
    #[error("there is no file of {} on `{share}` that could be read, and none can be made", sizes(*least, u64::MAX))]
    NothingToRead {
        /// The share.
        share: String,
        /// Bytes that it must have.
        least: u64,
        /// Why none can be made.
        source: Box<Error>,
    },
    /// There is no fio on the client.
    #[error("there is no `fio` on the client, which tests folders and disks")]
    NoFio,
    /// fio did not do what it was asked for.
    #[error("`fio` cannot be believed: {reason}")]
    Fio {
        /// What it did.
        reason: String,
    },
    /// A recipe cannot be used.
    #[error("the recipe `{name}` cannot be used: {reason}")]
    Recipe {
        /// Its name or file.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something between us and an SMB server failed.
    #[error(transparent)]
    Share(#[from] smb::Error),
    /// Something on a host failed.
    #[error(transparent)]
    Host(#[from] host::Error),
}

fn system_error(number: i32) -> String {
    match number {
        0 => String::new(),
        number => format!(" ({})", io::Error::from_raw_os_error(number)),
    }
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
            Self::FarServer { .. }
            | Self::NotAgreed { .. }
            | Self::NoSpace { .. }
            | Self::NoFile { .. }
            | Self::NothingToRead { .. }
            | Self::NoFio
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
                | Self::Share(smb::Error::AccessDenied { .. } | smb::Error::DiskFull { .. })
        )
    }

    /// What to do next, where we know it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Connect { address, source } => return Some(connect_hint(address, source)),
            Self::Host(error) => return error.hint(),
            Self::Share(error) => return share_hint(error),
            Self::Recipe { .. } => {
                "the recipes in `plans/recipes/` are examples; `linerate bench --help` lists the presets"
            }
            Self::NoSpace { .. } => "make room there, or ask for a smaller test file",
            Self::Nic { nic, .. } => {
                return Some(format!(
                    "`ip link show {nic}` on the client shows whether it is there and up"
                ));
            }
            Self::Busy { .. } => {
                "it serves one test at a time: wait, or start another with `iperf3 -s -p PORT`"
            }
            Self::Connection { source, .. } if source.kind() == io::ErrorKind::TimedOut => {
                "it is there but does not answer: does somebody else keep it busy?"
            }
            Self::Server { .. } | Self::Ended { .. } => "its own output on the server says more",
            Self::Protocol { .. } => "start a server with `iperf3 -s` there, version 3.1 or newer",
            Self::Silence { .. } => {
                "something on the way drops full packets: is the MTU the same all along the path?"
            }
            Self::NothingToRead { .. } => {
                "name a folder of the share that has a large file in it, or one that you may write to"
            }
            Self::NoFile { .. } => "name a folder of the share that has a large file in it",
            Self::NoFio => {
                "install it there: `apt install fio`, `dnf install fio`, `pacman -S fio` or \
                 `brew install fio`; a share needs none when it is named as `smb://HOST/SHARE`"
            }
            Self::TestFile { .. } => {
                "the folder must be there, and you need the right to write in it"
            }
            Self::NoIperf => "install it there: `apt install iperf3`",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// The error as it stands in a run file.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let mut chain = Vec::new();
        let mut next: Option<&dyn std::error::Error> = Some(self);
        while let Some(error) = next {
            chain.push(error.to_string());
            next = error.source();
        }
        Failure {
            kind: self.kind(),
            chain,
            hint: self.hint(),
        }
    }
}

fn connect_hint(address: &SocketAddr, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::ConnectionRefused => format!(
            "nothing listens on port {} there: start it, or check the port",
            address.port()
        ),
        io::ErrorKind::TimedOut => format!(
            "is the host on, is it `{}`, and does a firewall let port {} through?",
            address.ip(),
            address.port()
        ),
        _ => format!(
            "`ip route get {}` on the client shows the way it takes",
            address.ip()
        ),
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

fn share_kind(error: &smb::Error) -> FailureKind {
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

fn share_hint(error: &smb::Error) -> Option<String> {
    let hint = match error {
        smb::Error::UnknownHost { .. } => {
            "check the spelling, or use the server's address in place of its name".to_owned()
        }
        smb::Error::ReferredHere { .. } => "name that share itself if it is meant".to_owned(),
        smb::Error::PortClosed {
            server, address, ..
        } => format!(
            "is a file server running on `{server}`? SMB usually listens on port 445, and here \
             port {} was tried",
            address.port()
        ),
        smb::Error::Unreachable { address, .. } => format!(
            "is the host on, and does a firewall let port {} through? `ip route get {}` on the \
             client shows the way it takes",
            address.port(),
            address.ip()
        ),
        smb::Error::LoginRefused { server, user, .. } => format!(
            "check user name and password; `smbclient -L //{server} -U {user}` tries the same login"
        ),
        smb::Error::Credentials { source, .. } => return login_hint(source),
        smb::Error::GuestOnly { server, user } => format!(
            "`{server}` does not know the user `{user}`: check the name, make the user there, or \
             go in with `--guest`, without any protection"
        ),
        smb::Error::NoSuchShare { there, .. } if !there.is_empty() => shares_hint(there),
        smb::Error::NoSuchShare { server, share, .. } => {
            let host = host_in_url(server);
            let list = format!("`linerate ls smb://USER@{host}` lists the shares of `{server}`");
            match is_escaped(share) {
                true => format!("write names as they are, with spaces and all; {list}"),
                false => list,
            }
        }
        smb::Error::AccessDenied { .. } => {
            "the test file is made on the share: the user needs the right to write there".to_owned()
        }
        smb::Error::NotFound { .. } => {
            "the folder for the test file must exist on the share".to_owned()
        }
        smb::Error::DiskFull { .. } => "make room there, or ask for a smaller test file".to_owned(),
        smb::Error::LocalFile { source, .. } if is_full(source) => {
            "make room there; nothing that looks complete was left".to_owned()
        }
        smb::Error::Elsewhere { targets, .. } => {
            format!("name that server instead: `{}`", targets.join("`, or `"))
        }
        smb::Error::NoTarget { source, .. } => return share_hint(source),
        smb::Error::OnlySmb1 { .. } => {
            "turn on SMB 2 or 3 at the server, as `server max protocol = SMB3` of Samba does, or update its software"
                .to_owned()
        }
        smb::Error::Incompatible { .. } => {
            "ask for less with `--dialect-min`, `--dialect-max`, `--sign` or `--encrypt`, or turn \
             it on at the server"
                .to_owned()
        }
        smb::Error::ConnectionLost { .. } => {
            "the server's own log says whether it or the network ended it".to_owned()
        }
        smb::Error::Channel { source, .. } => return share_hint(source),
        _ => return None,
    };
    Some(hint)
}

/// Names the shares that there are, as far as a line holds them.
fn shares_hint(there: &[String]) -> String {
    const SHOWN_MAX: usize = 12;
    let shown: Vec<String> = (there.iter().take(SHOWN_MAX))
        .map(|share| format!("`{}`", smb::copy::printable(share)))
        .collect();
    let more = match there.len().saturating_sub(SHOWN_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("its shares are {}{more}", shown.join(", "))
}

/// Whether a name has `%20` or the like in it, as addresses of the web have for what they cannot hold.
fn is_escaped(name: &str) -> bool {
    let mut after = name.split('%').skip(1);
    after.any(|rest| {
        let number = rest.get(..2);
        number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_hexdigit()))
    })
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        error.failure()
    }
}

/// From which size to which, in bytes; a limit that no file reaches is none.
fn sizes(least: u64, most: u64) -> String {
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    match i64::try_from(most) {
        Ok(_) => format!("{} to {} MB", megabytes(least), megabytes(most)),
        Err(_) => format!("{} MB or more", megabytes(least)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_that_may_be_counted_is_told_from_a_server_that_is_full() {
        let kind = |status| {
            let source = smb::ProtocolError::Refused {
                doing: "the login".to_owned(),
                status,
            };
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
