//! What can go wrong on a host.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use record::{FailureKind, HostName, System};

/// Why something on a host failed: what we were doing, to what, and the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program could not be started.
    #[error("cannot start `{}`", argv.join(" "))]
    Start {
        /// The program with its arguments.
        argv: Vec<String>,
        /// Why.
        source: io::Error,
    },
    /// A program took longer than it may; it was ended with its process group.
    #[error("`{}` took longer than {limit:?} and was ended", argv.join(" "))]
    Timeout {
        /// The program with its arguments.
        argv: Vec<String>,
        /// The time it had.
        limit: Duration,
    },
    /// A program wrote more than anybody wants to read; it was ended.
    #[error("`{}` wrote more than {limit} bytes and was ended", argv.join(" "))]
    OutputTooLong {
        /// The program with its arguments.
        argv: Vec<String>,
        /// The bytes it could write.
        limit: usize,
    },
    /// Reading from, writing to or waiting for a program failed.
    #[error("cannot {action} `{}`", argv.join(" "))]
    Pipe {
        /// What we were doing.
        action: &'static str,
        /// The program with its arguments.
        argv: Vec<String>,
        /// Why it failed.
        source: io::Error,
    },
    /// A command needs the superuser's rights, and there is no way to them.
    #[error("`{}` needs root's rights: {reason}", argv.join(" "))]
    NotRoot {
        /// The program with its arguments.
        argv: Vec<String>,
        /// What `sudo -n` said.
        reason: String,
    },
    /// A command ended with another status than 0.
    #[error("`{}` ended with status {status}{}", argv.join(" "), said(stderr))]
    Status {
        /// The program with its arguments.
        argv: Vec<String>,
        /// Its exit status; 127 means that there is no such program.
        status: i32,
        /// The beginning of what it wrote to standard error.
        stderr: String,
    },
    /// A command was asked of a recording that does not hold it.
    #[error("`{}` is not in the recording", argv.join(" "))]
    NotRecorded {
        /// The program with its arguments.
        argv: Vec<String>,
    },
    /// A program's output is not what it prints elsewhere.
    #[error("cannot understand what `{}` printed", argv.join(" "))]
    Unreadable {
        /// The program with its arguments.
        argv: Vec<String>,
    },
    /// A host runs a system we know nothing of.
    #[error("host `{name}` runs `{system}`, which is none of Linux, Windows and macOS")]
    UnknownSystem {
        /// The host.
        name: HostName,
        /// What it says of itself.
        system: String,
    },
    /// A host runs a system for which this is not done yet.
    #[error("host `{name}` runs {system:?}, where this cannot be done yet")]
    UnsupportedSystem {
        /// The host.
        name: HostName,
        /// Its system.
        system: System,
    },
    /// A file of recorded commands cannot be read or written.
    #[error("cannot {action} the recording `{}`", path.display())]
    Recording {
        /// What we were doing.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

fn said(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() {
        String::new()
    } else {
        format!(": {text}")
    }
}

impl Error {
    /// Whose turn it is; decides the exit code.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::NotRoot { .. } | Self::Start { .. } | Self::Status { .. } => FailureKind::Refused,
            Self::UnknownSystem { .. } | Self::UnsupportedSystem { .. } => FailureKind::Refused,
            Self::Timeout { .. } => FailureKind::Unreachable,
            Self::OutputTooLong { .. }
            | Self::Pipe { .. }
            | Self::NotRecorded { .. }
            | Self::Unreadable { .. }
            | Self::Recording { .. } => FailureKind::Internal,
        }
    }

    /// What to do next, where we know it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotRoot { .. } => {
                Some("run as root, or let `sudo -n` run this command without a password".into())
            }
            Self::Status {
                argv, status: 127, ..
            } => Some(missing_program_hint(argv)),
            Self::Start { argv, source } if source.kind() == io::ErrorKind::NotFound => {
                Some(missing_program_hint(argv))
            }
            _ => None,
        }
    }
}

fn missing_program_hint(argv: &[String]) -> String {
    let program = argv.first().map_or("", String::as_str);
    let package = match program {
        "ip" | "tc" | "ss" => "iproute2",
        "sysctl" => "procps",
        other => other,
    };
    format!("install `{package}` on that host, or check its PATH")
}
