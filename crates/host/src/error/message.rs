//! What errors of hosts say, in any language.

use std::io;

use locale::{Message, say};
use record::{Target, Value, bounded_read};

use super::{Error, Place, own_reasons};
use crate::exec::SshProblem;

impl Place {
    /// How it is called, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        let message = match &self.target {
            Target::Nic(name) | Target::Share(name) | Target::Mount(name) => {
                say("error-host.place-of").with("target", name)
            }
            Target::Host => say("error-host.place"),
        };
        message
            .with("knob", self.knob.to_string())
            .with("host", &self.host)
    }
}

impl Error {
    /// What happened, and each of its causes, outermost first.
    pub(crate) fn chain(&self) -> Vec<Message> {
        let mut chain = vec![self.message()];
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            chain.push(cause_message(error));
            cause = error.source();
        }
        chain
    }

    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::Start { argv, .. } => command("error-host.start", argv),
            Self::Timeout { argv, limit } => {
                command("error-host.timeout", argv).with("limit", format!("{limit:?}"))
            }
            Self::OutputTooLong { argv, limit } => {
                command("error-host.output-too-long", argv).count("limit", *limit)
            }
            Self::Pipe { action, argv, .. } => pipe(action, argv),
            Self::NotRoot { argv, reason } => {
                command("error-host.not-root", argv).with("reason", own_reasons::said(reason))
            }
            Self::Status {
                argv,
                status,
                stderr,
            } => and_said(["error-host.status", "error-host.status-said"], stderr)
                .with("command", line(argv))
                .with("status", status.to_string()),
            Self::NotRecorded { argv } => command("error-host.not-recorded", argv),
            Self::Unreadable { argv } => command("error-host.unreadable", argv),
            _ => self.of_connection(),
        }
    }

    /// About reaching a host, and what it is.
    fn of_connection(&self) -> Message {
        match self {
            Self::UnknownSystem { name, system } => say("error-host.unknown-system")
                .with("name", name)
                .with("system", system),
            Self::UnsupportedSystem { name, system } => say("error-host.unsupported-system")
                .with("name", name)
                .with("system", format!("{system:?}")),
            Self::UnknownHost { name } => say("error-host.unknown-host").with("name", name),
            Self::HostGone { name, reason } => say("error-host.host-gone")
                .with("name", name)
                .with("reason", reason.clone()),
            Self::Unreachable { name, .. } => say("error-host.unreachable").with("name", name),
            Self::Ssh {
                destination,
                problem,
                said,
            } => ssh(*problem)
                .with("destination", destination)
                .with("said", own_reasons::said(said)),
            Self::NoLease { name, reason } => say("error-host.no-lease")
                .with("name", name)
                .with("reason", own_reasons::said(reason)),
            Self::LeaseOver { name } => say("error-host.lease-over").with("name", name),
            Self::HostHeld { name, holder } => say("error-host.host-held")
                .with("name", name)
                .with("holder", own_reasons::said(holder)),
            Self::SocketFolder { folder, .. } => {
                say("error-host.socket-folder").with("folder", folder.display().to_string())
            }
            Self::NoRandomness { reason } => say("error-host.no-randomness").with("reason", reason),
            _ => self.of_setting(),
        }
    }

    /// About knobs and what they are set to.
    fn of_setting(&self) -> Message {
        match self {
            Self::UnknownKnob { id, system } => say("error-host.unknown-knob")
                .with("id", id.to_string())
                .with("system", format!("{system:?}")),
            Self::DuplicateSetting { id, target } => say("error-host.set-repeatedly")
                .with("id", id.to_string())
                .with("target", target.to_string()),
            Self::Refused {
                place, to, reason, ..
            } => refused(place, to.as_ref()).with("reason", (**reason).clone()),
            Self::NotTaken {
                place,
                wanted,
                found,
                said,
            } => and_said(["error-host.not-taken", "error-host.not-taken-said"], said)
                .with("place", place.message())
                .with("wanted", wanted.to_string())
                .with("found", found.to_string()),
            Self::Foreign {
                place,
                found,
                before,
                after,
            } => say("error-host.foreign")
                .with("place", place.message())
                .with("found", found.to_string())
                .with("before", before.to_string())
                .with("after", after.to_string()),
            Self::LinkStaysDown { host, nic, waited } => say("error-host.link-down")
                .with("host", host)
                .with("nic", nic)
                .count("seconds", waited.as_secs()),
            _ => self.of_profile(),
        }
    }

    fn of_profile(&self) -> Message {
        match self {
            Self::ProfileFile { path, .. } => {
                say("error-profile.file").with("path", path.display().to_string())
            }
            Self::NoSuchProfile { name, .. } => say("error-profile.none").with("name", name),
            Self::Profile { name, .. } => say("error-profile.not-understood").with("name", name),
            Self::ProfileRule {
                name,
                line,
                knob,
                reason,
            } => say("error-profile.rule")
                .with("name", name)
                .count("line", *line)
                .with("knob", knob)
                .with("reason", reason.clone()),
            Self::ProfileProtection { name, line, knob } => say("error-profile.protection")
                .with("name", name)
                .count("line", *line)
                .with("knob", knob),
            _ => self.of_change(),
        }
    }

    /// About changes, and the journal that they stand in.
    fn of_change(&self) -> Message {
        match self {
            Self::Apply {
                change, restored, ..
            } => match *restored {
                true => say("error-host.not-made").with("change", change),
                false => say("error-host.half-made").with("change", change),
            },
            Self::NotRestored { change, left } => say("error-host.not-restored")
                .with("change", change)
                .with("left", in_a_row(left)),
            Self::Journal { action, path, .. } => {
                journal(action).with("path", path.display().to_string())
            }
            Self::JournalDamaged { path, reason, .. } => say("error-host.journal-damaged")
                .with("path", path.display().to_string())
                .with("reason", reason.clone()),
            Self::State { .. } => say("error-host.state"),
            Self::Locked { folder, holder } => say("error-host.locked")
                .with("folder", folder.display().to_string())
                .with("holder", holder.clone()),
            Self::NoSuchChange { id } => say("error-host.no-such-change").with("id", id),
            Self::NoChangesHere => say("error-host.no-changes-here"),
            // All others have been looked at: only `NoStateFolder` is left.
            _ => say("error-host.no-state-folder"),
        }
    }
}

/// What a cause says, in any language where it is one of ours.
fn cause_message(error: &(dyn std::error::Error + 'static)) -> Message {
    let boxed = error.downcast_ref::<Box<Error>>().map(|error| &**error);
    if let Some(error) = error.downcast_ref::<Error>().or(boxed) {
        return error.message();
    }
    if let Some(error) = error.downcast_ref::<os::file::Error>() {
        return error.message();
    }
    match error.downcast_ref::<io::Error>() {
        Some(error) => bounded_read::message_of(error),
        None => error.to_string().into(),
    }
}

/// Several messages in one line. They are halved, because JSON that is nested as deep as there are many is not read.
fn in_a_row(messages: &[Message]) -> Message {
    match messages {
        [] => "".into(),
        [one] => one.clone(),
        many => {
            let (first, next) = many.split_at(many.len() / 2);
            say("undone.next")
                .with("first", in_a_row(first))
                .with("next", in_a_row(next))
        }
    }
}

/// A sentence about a program.
fn command(id: &'static str, argv: &[String]) -> Message {
    say(id).with("command", line(argv))
}

/// A command in a sentence: scripts are left out.
fn line(argv: &[String]) -> String {
    let words = argv.iter().map(|word| match word.contains('\n') {
        true => "...",
        false => word.as_str(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The second sentence, with what a program said, or the first one where it said nothing.
fn and_said([alone, with]: [&'static str; 2], said: &str) -> Message {
    match said.trim() {
        "" => say(alone),
        said => say(with).with("said", said),
    }
}

fn pipe(action: &str, argv: &[String]) -> Message {
    match action {
        "write to" => command("error-host.write-to", argv),
        "read from" => command("error-host.read-from", argv),
        "wait for" => command("error-host.wait-for", argv),
        "listen for signals to" => command("error-host.signals", argv),
        other => command("error-host.pipe", argv).with("action", other),
    }
}

fn ssh(problem: SshProblem) -> Message {
    match problem {
        SshProblem::NoAnswer => say("error-host.ssh-no-answer"),
        SshProblem::HostKey => say("error-host.ssh-host-key"),
        SshProblem::Denied => say("error-host.ssh-denied"),
        SshProblem::Cut => say("error-host.ssh-cut"),
        SshProblem::Garbage => say("error-host.ssh-garbage"),
    }
}

fn refused(place: &Place, to: Option<&Value>) -> Message {
    let message = match to {
        Some(value) => say("error-host.not-set").with("value", value.to_string()),
        None => say("error-host.not-read"),
    };
    message.with("place", place.message())
}

fn journal(action: &str) -> Message {
    match action {
        "open" => say("error-host.journal-open"),
        "find" => say("error-host.journal-find"),
        "look at" => say("error-host.journal-look-at"),
        "follow" => say("error-host.journal-follow"),
        "list" => say("error-host.journal-list"),
        "make" => say("error-host.journal-make"),
        "create" => say("error-host.journal-create"),
        "read" => say("error-host.journal-read"),
        "write" => say("error-host.journal-write"),
        "sync" => say("error-host.journal-sync"),
        "rename" => say("error-host.journal-rename"),
        "remove" => say("error-host.journal-remove"),
        "lock" => say("error-host.journal-lock"),
        "name a change in" => say("error-host.journal-name"),
        other => say("error-host.journal-other").with("action", other),
    }
}
