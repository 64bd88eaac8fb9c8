//! What can go wrong on a host.

mod hint;
mod message;
pub(crate) mod own_reasons;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use locale::{Language, Message};
use record::{FailureKind, HostName, KnobId, System, Target, Value};

use crate::exec::SshProblem;

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
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

/// Why something on a host failed: what we were doing, to what, and the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program could not be started.
    Start {
        /// The program with its arguments.
        argv: Vec<String>,
        /// Why.
        source: io::Error,
    },
    /// A program took longer than it may; it was ended with its process group.
    Timeout {
        /// The program with its arguments.
        argv: Vec<String>,
        /// The time it had.
        limit: Duration,
    },
    /// A program wrote more than anybody wants to read; it was ended.
    OutputTooLong {
        /// The program with its arguments.
        argv: Vec<String>,
        /// The bytes it could write.
        limit: usize,
    },
    /// Reading from, writing to or waiting for a program failed.
    Pipe {
        /// What we were doing.
        action: &'static str,
        /// The program with its arguments.
        argv: Vec<String>,
        /// Why it failed.
        source: io::Error,
    },
    /// A command needs the superuser's rights, and there is no way to them.
    NotRoot {
        /// The program with its arguments.
        argv: Vec<String>,
        /// What `sudo -n` said.
        reason: String,
    },
    /// A command ended with another status than 0.
    Status {
        /// The program with its arguments.
        argv: Vec<String>,
        /// Its exit status; 127 means that there is no such program.
        status: i32,
        /// The beginning of what it wrote to standard error.
        stderr: String,
    },
    /// A command was asked of a recording that does not hold it.
    NotRecorded {
        /// The program with its arguments.
        argv: Vec<String>,
    },
    /// A program's output is not what it prints elsewhere.
    Unreadable {
        /// The program with its arguments.
        argv: Vec<String>,
    },
    /// A host runs a system we know nothing of.
    UnknownSystem {
        /// The host.
        name: HostName,
        /// What it says of itself.
        system: String,
    },
    /// A host runs a system for which this is not done yet.
    UnsupportedSystem {
        /// The host.
        name: HostName,
        /// Its system.
        system: System,
    },
    /// A setting names a host that nobody handed over.
    UnknownHost {
        /// Its name.
        name: HostName,
    },
    /// A setting names a knob that is not in the catalogue.
    UnknownKnob {
        /// Its id.
        id: KnobId,
        /// The host's system.
        system: System,
    },
    /// Two settings of one change set the same knob.
    DuplicateSetting {
        /// The knob.
        id: KnobId,
        /// The part of the host.
        target: Target,
    },
    /// A knob cannot be read, or not be set so.
    Refused {
        /// Which knob of what.
        place: Box<Place>,
        /// The value, where it was to be set.
        to: Option<Value>,
        /// Why not.
        reason: Box<Message>,
        /// What to do instead.
        hint: Option<Message>,
        /// Whether nobody can mean that, so that no other host would take it either.
        is_mistaken: bool,
    },
    /// A knob did not take a value, whatever the command said.
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
    LinkStaysDown {
        /// The host.
        host: HostName,
        /// The interface.
        nic: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// A profile's file cannot be read.
    ProfileFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no profile of that name.
    NoSuchProfile {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A profile is not written as one.
    Profile {
        /// Its name.
        name: String,
        /// Where and why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A rule of a profile makes no sense.
    ProfileRule {
        /// The profile's name.
        name: String,
        /// Where it stands, from 1 on.
        line: usize,
        /// The knob it names.
        knob: String,
        /// Why.
        reason: Message,
    },
    /// A profile is about a protection.
    ProfileProtection {
        /// The profile's name.
        name: String,
        /// Where it stands, from 1 on.
        line: usize,
        /// The knob.
        knob: String,
    },
    /// A change could not be made.
    Apply {
        /// Its id.
        change: String,
        /// Why.
        source: Box<Error>,
        /// Whether everything was put back.
        restored: bool,
    },
    /// A change could not be taken back.
    NotRestored {
        /// Its id.
        change: String,
        /// What is not as before.
        left: Vec<Message>,
    },
    /// A host does not exist any more, and nothing on it is left to restore.
    HostGone {
        /// Its name.
        name: HostName,
        /// How we know.
        reason: Message,
    },
    /// A host is there, or may be, and cannot be reached now; what we changed on it stays to be
    /// restored.
    Unreachable {
        /// Its name.
        name: HostName,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// `ssh` could not connect, or lost the connection.
    Ssh {
        /// Whom we wanted to reach.
        destination: String,
        /// What is wrong.
        problem: SshProblem,
        /// What `ssh`, or the far end, said.
        said: String,
    },
    /// A host cannot wait for us, so that it could not put itself back when we lose it.
    NoLease {
        /// The host.
        name: HostName,
        /// What it said.
        reason: String,
    },
    /// A host has heard nothing for too long and has put itself back.
    LeaseOver {
        /// The host.
        name: HostName,
    },
    /// Another linerate, perhaps on another machine, is changing the host.
    HostHeld {
        /// The host.
        name: HostName,
        /// Who it is.
        holder: String,
    },
    /// There is no place for the socket of a shared connection.
    SocketFolder {
        /// Where it was to be.
        folder: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The system has no random numbers.
    NoRandomness {
        /// Why not.
        reason: String,
    },
    /// Nothing says where our state is.
    NoStateFolder,
    /// From a machine with this system nothing is changed yet, here or elsewhere.
    NoChangesHere,
    /// The journal cannot be used.
    Journal {
        /// What we were doing.
        action: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A file of the journal is not what we write.
    JournalDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: Message,
        /// What to do, where it is more than to look.
        hint: Option<Message>,
    },
    /// A file or folder of our state could be another user's doing.
    State {
        /// Which, and why.
        source: os::file::Error,
    },
    /// Another linerate is at work.
    Locked {
        /// The state folder.
        folder: PathBuf,
        /// Who holds it.
        holder: Message,
    },
    /// There is no open change of this id.
    NoSuchChange {
        /// The id.
        id: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
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
}
