//! What can go wrong on a host.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use record::{FailureKind, HostName, KnobId, System, Target, Value};

use crate::exec::{POWERSHELL, SshProblem};

/// One knob of one part of one host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The host.
    pub host: HostName,
    /// The part of it.
    pub target: Target,
    /// The knob.
    pub knob: KnobId,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.knob)?;
        if let Target::Nic(name) | Target::Share(name) | Target::Mount(name) = &self.target {
            write!(formatter, " of `{name}`")?;
        }
        write!(formatter, " on `{}`", self.host)
    }
}

/// Why something on a host failed: what we were doing, to what, and the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program could not be started.
    #[error("cannot start `{}`", line(argv))]
    Start {
        /// The program with its arguments.
        argv: Vec<String>,
        /// Why.
        source: io::Error,
    },
    /// A program took longer than it may; it was ended with its process group.
    #[error("`{}` took longer than {limit:?} and was ended", line(argv))]
    Timeout {
        /// The program with its arguments.
        argv: Vec<String>,
        /// The time it had.
        limit: Duration,
    },
    /// A program wrote more than anybody wants to read; it was ended.
    #[error("`{}` wrote more than {limit} bytes and was ended", line(argv))]
    OutputTooLong {
        /// The program with its arguments.
        argv: Vec<String>,
        /// The bytes it could write.
        limit: usize,
    },
    /// Reading from, writing to or waiting for a program failed.
    #[error("cannot {action} `{}`", line(argv))]
    Pipe {
        /// What we were doing.
        action: &'static str,
        /// The program with its arguments.
        argv: Vec<String>,
        /// Why it failed.
        source: io::Error,
    },
    /// A command needs the superuser's rights, and there is no way to them.
    #[error("`{}` needs root's rights: {reason}", line(argv))]
    NotRoot {
        /// The program with its arguments.
        argv: Vec<String>,
        /// What `sudo -n` said.
        reason: String,
    },
    /// A command ended with another status than 0.
    #[error("`{}` ended with status {status}{}", line(argv), after_colon(stderr))]
    Status {
        /// The program with its arguments.
        argv: Vec<String>,
        /// Its exit status; 127 means that there is no such program.
        status: i32,
        /// The beginning of what it wrote to standard error.
        stderr: String,
    },
    /// A command was asked of a recording that does not hold it.
    #[error("`{}` is not in the recording", line(argv))]
    NotRecorded {
        /// The program with its arguments.
        argv: Vec<String>,
    },
    /// A program's output is not what it prints elsewhere.
    #[error("cannot understand what `{}` printed", line(argv))]
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
    /// A setting names a host that nobody handed over.
    #[error("there is no host `{name}` here")]
    UnknownHost {
        /// Its name.
        name: HostName,
    },
    /// A setting names a knob that is not in the catalogue.
    #[error("there is no knob `{id}` for {system:?}")]
    UnknownKnob {
        /// Its id.
        id: KnobId,
        /// The host's system.
        system: System,
    },
    /// Two settings of one change set the same knob.
    #[error("`{id}` of `{target}` is set twice")]
    DuplicateSetting {
        /// The knob.
        id: KnobId,
        /// The part of the host.
        target: Target,
    },
    /// A knob cannot be read, or not be set so.
    #[error("cannot {}: {reason}", setting(place, to.as_ref()))]
    Refused {
        /// Which knob of what.
        place: Box<Place>,
        /// The value, where it was to be set.
        to: Option<Value>,
        /// Why not.
        reason: String,
        /// What to do instead.
        hint: Option<String>,
        /// Whether nobody can mean that, so that no other host would take it either.
        is_mistaken: bool,
    },
    /// A knob did not take a value, whatever the command said.
    #[error(
        "{place} reads `{found}` after it was set to `{wanted}`{}",
        after_colon(said)
    )]
    NotTaken {
        /// Which knob of what.
        place: Box<Place>,
        /// The value it should have.
        wanted: Value,
        /// The value it has.
        found: Value,
        /// What the command wrote to its standard error.
        said: String,
    },
    /// A setting of an open change was changed by somebody else.
    #[error("somebody else set {place} to `{found}`; we know `{before}` and `{after}`")]
    Foreign {
        /// Which knob of what.
        place: Box<Place>,
        /// The value it has.
        found: Value,
        /// The value before our change.
        before: Value,
        /// The value of our change.
        after: Value,
    },
    /// A link did not come back after something was set on its interface.
    #[error("the link of `{nic}` on {host} was down for {} s after that", waited.as_secs())]
    LinkStaysDown {
        /// The host.
        host: HostName,
        /// The interface.
        nic: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// A profile's file cannot be read.
    #[error("cannot read the profile `{}`", path.display())]
    ProfileFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no profile of that name.
    #[error("there is no profile `{name}`")]
    NoSuchProfile {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A profile is not written as one.
    #[error("cannot understand the profile `{name}`")]
    Profile {
        /// Its name.
        name: String,
        /// Where and why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A rule of a profile makes no sense.
    #[error("the profile `{name}`, line {line}, for `{knob}`: {reason}")]
    ProfileRule {
        /// The profile's name.
        name: String,
        /// Where it stands, from 1 on.
        line: usize,
        /// The knob it names.
        knob: String,
        /// Why.
        reason: String,
    },
    /// A profile is about a protection.
    #[error("the profile `{name}`, line {line}, is about `{knob}`, which protects something")]
    ProfileProtection {
        /// The profile's name.
        name: String,
        /// Where it stands, from 1 on.
        line: usize,
        /// The knob.
        knob: String,
    },
    /// A change could not be made.
    #[error("cannot make change `{change}`; {}", as_before(*restored))]
    Apply {
        /// Its id.
        change: String,
        /// Why.
        source: Box<Error>,
        /// Whether everything was put back.
        restored: bool,
    },
    /// A change could not be taken back.
    #[error("change `{change}` is not wholly taken back: {}", left.join("; "))]
    NotRestored {
        /// Its id.
        change: String,
        /// What is not as before.
        left: Vec<String>,
    },
    /// A host does not exist any more, and nothing on it is left to restore.
    #[error("host `{name}` is gone: {reason}")]
    HostGone {
        /// Its name.
        name: HostName,
        /// How we know.
        reason: String,
    },
    /// A host is there, or may be, and cannot be reached now; what we changed on it stays to be
    /// restored.
    #[error("cannot reach host `{name}`")]
    Unreachable {
        /// Its name.
        name: HostName,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// `ssh` could not connect, or lost the connection.
    #[error("{}: {said}", ssh_failed(*problem, destination))]
    Ssh {
        /// Whom we wanted to reach.
        destination: String,
        /// What is wrong.
        problem: SshProblem,
        /// What `ssh`, or the far end, said.
        said: String,
    },
    /// A host cannot wait for us, so that it could not put itself back when we lose it.
    #[error("host `{name}` cannot be made to put itself back if the connection is lost: {reason}")]
    NoLease {
        /// The host.
        name: HostName,
        /// What it said.
        reason: String,
    },
    /// A host has heard nothing for too long and has put itself back.
    #[error("host `{name}` heard nothing for so long that it has put itself back")]
    LeaseOver {
        /// The host.
        name: HostName,
    },
    /// Another linerate, perhaps on another machine, is changing the host.
    #[error("another linerate is changing host `{name}`: {holder}")]
    HostHeld {
        /// The host.
        name: HostName,
        /// Who it is.
        holder: String,
    },
    /// There is no place for the socket of a shared connection.
    #[error("cannot make a private folder in `{}`", folder.display())]
    SocketFolder {
        /// Where it was to be.
        folder: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The system has no random numbers.
    #[error("the system has no random numbers: {reason}")]
    NoRandomness {
        /// Why not.
        reason: String,
    },
    /// Nothing says where our state is.
    #[error("cannot find a folder for the journal of changes")]
    NoStateFolder,
    /// The journal cannot be used.
    #[error("cannot {action} `{}` of the journal of changes", path.display())]
    Journal {
        /// What we were doing.
        action: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A file of the journal is not what we write.
    #[error("cannot use `{}` of the journal of changes: {reason}", path.display())]
    JournalDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// What to do, where it is more than to look.
        hint: Option<String>,
    },
    /// A file or folder of our state could be another user's doing.
    #[error("cannot trust the state folder")]
    State {
        /// Which, and why.
        source: os::file::Error,
    },
    /// Another linerate is at work.
    #[error("the journal of changes in `{}` is held by {holder}", folder.display())]
    Locked {
        /// The state folder.
        folder: PathBuf,
        /// Who holds it.
        holder: String,
    },
    /// There is no open change of this id.
    #[error("there is no open change `{id}`")]
    NoSuchChange {
        /// The id.
        id: String,
    },
}

fn after_colon(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() {
        String::new()
    } else {
        format!(": {text}")
    }
}

fn ssh_failed(problem: SshProblem, destination: &str) -> String {
    match problem {
        SshProblem::NoAnswer => format!("cannot reach `{destination}`"),
        SshProblem::HostKey => format!("the host key of `{destination}` is not the known one"),
        SshProblem::Denied => format!("`{destination}` lets nobody in without a question"),
        SshProblem::Cut => format!("the connection to `{destination}` broke"),
        SshProblem::Garbage => format!("`{destination}` does not answer as a shell would"),
    }
}

fn setting(place: &Place, to: Option<&Value>) -> String {
    match to {
        Some(value) => format!("set {place} to `{value}`"),
        None => format!("read {place}"),
    }
}

fn as_before(restored: bool) -> &'static str {
    if restored {
        "everything is as before"
    } else {
        "not everything is as before"
    }
}

impl Error {
    /// Whose turn it is; decides the exit code.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Apply { source, .. } => source.kind(),
            Self::Timeout { .. }
            | Self::HostGone { .. }
            | Self::Unreachable { .. }
            | Self::LeaseOver { .. } => FailureKind::Unreachable,
            Self::Ssh { problem, .. } => match problem {
                SshProblem::NoAnswer | SshProblem::Cut => FailureKind::Unreachable,
                SshProblem::HostKey | SshProblem::Denied => FailureKind::Refused,
                SshProblem::Garbage => FailureKind::Internal,
            },
            Self::UnknownHost { .. }
            | Self::UnknownKnob { .. }
            | Self::DuplicateSetting { .. }
            | Self::NoSuchProfile { .. }
            | Self::Profile { .. }
            | Self::ProfileRule { .. }
            | Self::NoSuchChange { .. } => FailureKind::Usage,
            Self::OutputTooLong { .. }
            | Self::Pipe { .. }
            | Self::NotRecorded { .. }
            | Self::Unreadable { .. } => FailureKind::Internal,
            _ => FailureKind::Refused,
        }
    }

    /// What to do next, where we know it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotRoot { argv, .. } if argv.first().is_some_and(|program| program == "sh") => Some(
                "rules of `sudo` for single programs as `ip` and `ethtool` are not enough, because \
                 the host must be able to put itself back: let `sudo -n` run `sh` there without a \
                 password, or log in as root"
                    .into(),
            ),
            Self::NotRoot { argv, .. }
                if argv.first().is_some_and(|word| word == POWERSHELL[0]) =>
            {
                Some("log in as a member of `Administrators`".into())
            }
            Self::NotRoot { .. } => {
                Some("run as root, or let `sudo -n` run this command without a password".into())
            }
            Self::Status {
                argv, status: 127, ..
            } => Some(missing_program_hint(argv)),
            Self::Status { argv, .. } if argv.iter().take(2).eq(["ip", "-j"]) => Some(
                "the `ip` there is too old, or that of BusyBox, which know no `-j`: install `iproute2` 4.13 \
                 or newer; to measure a server, none is needed without `--server`"
                    .into(),
            ),
            Self::UnknownSystem { .. } => {
                Some("to measure a server, leave `--server` out: it may run any system then".into())
            }
            Self::Start { argv, source } if source.kind() == io::ErrorKind::NotFound => {
                Some(missing_program_hint(argv))
            }
            Self::Refused { hint, .. } => hint.clone(),
            Self::Apply {
                change,
                restored: false,
                ..
            }
            | Self::NotRestored { change, .. } => Some(format!(
                "see `linerate changes`, then `linerate undo {change}`"
            )),
            Self::Apply { source, .. } => source.hint(),
            Self::UnknownKnob { .. } => Some("`linerate inspect HOST` lists what can be set there".into()),
            Self::NoSuchProfile { known, .. } => Some(format!("there are: {}", known.join(", "))),
            Self::ProfileFile { .. } => {
                Some("check the path and the rights; a profile is a text file of a page or two".into())
            }
            Self::Profile { .. } | Self::ProfileRule { .. } => Some(
                "the profiles in `crates/host/profiles/` are examples; `linerate profiles default` shows one".into(),
            ),
            Self::ProfileProtection { .. } => Some(
                "read the profile, and say `--allow-security-settings` if that is what you want".into(),
            ),
            Self::Foreign { .. } => {
                Some("find out who else sets it; `linerate undo` takes back what is ours".into())
            }
            Self::Ssh {
                destination,
                problem,
                ..
            } => Some(ssh_hint(destination, *problem)),
            Self::NoStateFolder => {
                Some("set HOME, or name a folder with LINERATE_STATE_DIR".into())
            }
            Self::Journal { .. } => Some(
                "nothing is changed without a journal; make room, or name another folder with \
                 LINERATE_STATE_DIR"
                    .into(),
            ),
            Self::JournalDamaged { hint, .. } => Some(hint.clone().unwrap_or_else(|| {
                "nothing of it was run; look into the file: its first line lists the settings with \
                 their values before"
                    .into()
            })),
            Self::State { source } => source.hint().map(str::to_owned),
            Self::LeaseOver { .. } => {
                Some("find out what cuts the connection, or give it a longer `--lease`".into())
            }
            Self::Locked { .. } | Self::HostHeld { .. } => {
                Some("wait until that run is over, or stop it".into())
            }
            Self::NoSuchChange { .. } => {
                Some("`linerate changes` lists those that are open".into())
            }
            _ => None,
        }
    }
}

fn ssh_hint(destination: &str, problem: SshProblem) -> String {
    match problem {
        SshProblem::NoAnswer | SshProblem::Cut => {
            format!("find out with `ssh {destination}` what is in the way")
        }
        SshProblem::HostKey => format!(
            "compare the fingerprint and log in once with `ssh {destination}`; linerate accepts no \
             key by itself"
        ),
        SshProblem::Denied => format!(
            "give it a key or an agent, so that `ssh -o BatchMode=yes {destination} true` works"
        ),
        SshProblem::Garbage => {
            "the account there needs a login shell that starts `/bin/sh`, or PowerShell".into()
        }
    }
}

/// A command in a sentence: scripts are left out.
fn line(argv: &[String]) -> String {
    let words = argv.iter().map(|word| match word.contains('\n') {
        true => "...",
        false => word.as_str(),
    });
    words.collect::<Vec<_>>().join(" ")
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
