//! What to do next about errors of hosts.

use std::io;

use locale::{Message, say};

use super::Error;
use crate::exec::{POWERSHELL, SshProblem};

impl Error {
    /// What to do next, where we know it.
    #[must_use]
    pub fn hint(&self) -> Option<Message> {
        let hint = self.connection_hint();
        hint.or_else(|| self.setting_hint())
            .or_else(|| self.journal_hint())
    }

    /// About reaching a host and running programs there.
    fn connection_hint(&self) -> Option<Message> {
        Some(match self {
            Self::NotRoot { argv, .. } => root_hint(argv),
            Self::Status {
                argv, status: 127, ..
            } => missing_program_hint(argv),
            Self::Status { argv, .. } if argv.iter().take(2).eq(["ip", "-j"]) => {
                say("hint-host.old-ip")
            }
            Self::UnknownSystem { .. } => say("hint-host.unknown-system"),
            Self::Start { argv, source } if source.kind() == io::ErrorKind::NotFound => {
                missing_program_hint(argv)
            }
            Self::Ssh {
                destination,
                problem,
                ..
            } => ssh_hint(destination, *problem),
            Self::LeaseOver { .. } => say("hint-host.lease"),
            _ => return None,
        })
    }

    /// About knobs, what they are set to, and profiles.
    fn setting_hint(&self) -> Option<Message> {
        Some(match self {
            Self::Refused { hint, .. } => return hint.clone(),
            Self::Apply {
                change,
                restored: false,
                ..
            }
            | Self::NotRestored { change, .. } => say("hint-host.undo").with("change", change),
            Self::Apply { source, .. } => return source.hint(),
            Self::UnknownKnob { .. } => say("hint-host.knobs"),
            Self::NoSuchProfile { known, .. } => {
                say("hint-host.known-profiles").with("known", known.clone())
            }
            Self::ProfileFile { .. } => say("hint-host.profile-file"),
            Self::Profile { .. } | Self::ProfileRule { .. } => say("hint-host.profile"),
            Self::ProfileProtection { .. } => say("hint-host.protection"),
            Self::Foreign { .. } => say("hint-host.foreign"),
            _ => return None,
        })
    }

    /// About our state, and what is open in it.
    fn journal_hint(&self) -> Option<Message> {
        Some(match self {
            Self::NoStateFolder => say("hint-host.state-folder"),
            Self::NoChangesHere => say("hint-host.changes-from-linux"),
            Self::Journal { .. } => say("hint-host.journal"),
            Self::JournalDamaged { hint, .. } => {
                let look = || say("hint-host.journal-damaged");
                hint.clone().unwrap_or_else(look)
            }
            Self::State { source } => return source.hint(),
            Self::Locked { .. } | Self::HostHeld { .. } => say("hint-host.wait"),
            Self::NoSuchChange { .. } => say("hint-host.changes"),
            _ => return None,
        })
    }
}

fn root_hint(argv: &[String]) -> Message {
    match argv.first().map(String::as_str) {
        Some("sh") => say("hint-host.sudo-sh"),
        Some(program) if program == POWERSHELL[0] => say("hint-host.administrator"),
        _ => say("hint-host.root"),
    }
}

fn ssh_hint(destination: &str, problem: SshProblem) -> Message {
    match problem {
        SshProblem::NoAnswer | SshProblem::Cut => {
            say("hint-host.ssh").with("destination", destination)
        }
        SshProblem::HostKey => say("hint-host.host-key").with("destination", destination),
        SshProblem::Denied => say("hint-host.ssh-login").with("destination", destination),
        SshProblem::Garbage => say("hint-host.login-shell"),
    }
}

fn missing_program_hint(argv: &[String]) -> Message {
    let program = argv.first().map_or("", String::as_str);
    let package = match program {
        "ip" | "tc" | "ss" => "iproute2",
        "sysctl" => "procps",
        other => other,
    };
    say("hint-host.install").with("package", package)
}
