//! What can go wrong with a lab.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use locale::{Language, Message, say};
use record::{Failure, FailureKind, chain};

/// Why something with a lab failed: what we were doing, to what, and the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A topology file cannot be read.
    ReadTopology {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A topology is not what it should be.
    Topology {
        /// The file, or what it is.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and with which field.
        problem: Message,
        /// What to do.
        hint: Message,
    },
    /// A lab cannot have this name.
    Name {
        /// The name.
        name: String,
        /// The rule it breaks.
        rule: Message,
    },
    /// Labs need Linux.
    OnlyLinux,
    /// Labs need root.
    NotRoot,
    /// A program is missing.
    NotInstalled {
        /// The program.
        program: &'static str,
        /// Debian's package of it.
        package: &'static str,
    },
    /// A lab of this name is up.
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is no lab of this name.
    NoSuchLab {
        /// The name.
        name: String,
        /// The labs there are.
        others: Vec<String>,
    },
    /// There is no lab of this name in the library.
    NoSuchScenario {
        /// The name.
        name: String,
        /// The scenarios there are.
        others: Vec<String>,
    },
    /// The lab has no such host.
    NoSuchHost {
        /// The lab.
        lab: String,
        /// The name asked for.
        host: String,
        /// The hosts there are.
        others: Vec<String>,
    },
    /// A lab is on its way up or down.
    Starting {
        /// The lab.
        name: String,
    },
    /// Talking with a lab's supervisor failed.
    Talk {
        /// The lab.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The supervisor could not bring the lab up; everything it made is gone again.
    NotUp {
        /// The lab.
        name: String,
        /// What it said.
        failure: Failure,
    },
    /// A program of the lab failed.
    Run {
        /// What could not be done, to be said with its `subject`.
        action: Message,
        /// To which host, switch or lab.
        node: Message,
        /// Why it failed. Boxed, because it is long and errors travel through every return.
        source: Box<host::Error>,
    },
    /// A system call or file of the lab failed.
    System {
        /// What could not be done, to be said with its `subject`.
        action: Message,
        /// To what.
        subject: Message,
        /// Why it failed.
        source: io::Error,
    },
    /// The lab has no share.
    NoShare {
        /// The lab.
        lab: String,
    },
    /// The kernel that stands for a host did not come to an end.
    Guest {
        /// The host.
        host: String,
        /// What it said last.
        said: String,
    },
    /// Samba does not answer.
    Samba {
        /// Its host.
        host: String,
        /// What it did or did not do, to be said with its `host` and the end of its `log`.
        problem: Message,
        /// The end of its log, or why that cannot be read.
        log: Message,
    },
    /// Something of a lab outlived it.
    StillThere {
        /// The lab.
        name: String,
        /// Numbers of the processes.
        processes: Vec<u32>,
        /// How long we waited.
        waited: Duration,
    },
}

impl Error {
    /// Whose turn it is; decides the exit code.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Topology { .. } | Self::Name { .. } | Self::NoSuchScenario { .. } => {
                FailureKind::Usage
            }
            Self::ReadTopology { .. }
            | Self::OnlyLinux
            | Self::NotRoot
            | Self::NotInstalled { .. }
            | Self::NoShare { .. }
            | Self::Guest { .. }
            | Self::NameTaken { .. } => FailureKind::Refused,
            Self::NoSuchLab { .. }
            | Self::NoSuchHost { .. }
            | Self::Starting { .. }
            | Self::Talk { .. }
            | Self::Samba { .. } => FailureKind::Unreachable,
            Self::NotUp { failure, .. } => failure.kind,
            Self::Run { source, .. } => source.kind(),
            Self::System { .. } | Self::StillThere { .. } => FailureKind::Internal,
        }
    }

    /// What to do next, where we know it.
    #[must_use]
    pub fn hint(&self) -> Option<Message> {
        Some(match self {
            Self::Topology { hint, .. } => hint.clone(),
            Self::NotRoot => say("hint-lab.not-root"),
            Self::NotInstalled { package, .. } => say("hint-lab.install").with("package", *package),
            Self::NameTaken { name } => say("hint-lab.name-taken").with("name", name),
            Self::NoSuchLab { others, .. } => one_of(others, "hint-lab.no-lab"),
            // More of them than a line holds.
            Self::NoSuchScenario { others, .. } => {
                say("hint-lab.scenarios").with("known", one_of(others, "hint-lab.no-scenario"))
            }
            Self::NoSuchHost { others, .. } => one_of(others, "hint-lab.no-host"),
            Self::Starting { .. } => say("hint-lab.starting"),
            Self::NoShare { .. } => say("hint-lab.no-share"),
            Self::Guest { .. } => say("hint-lab.guest"),
            Self::NotUp { failure, .. } => failure.message(failure.hint.as_ref()?),
            Self::Run { source, .. } => return source.hint(),
            _ => return None,
        })
    }

    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        match self {
            Self::ReadTopology { path, .. } => {
                say("error-lab.read-topology").with("path", path.display().to_string())
            }
            Self::Topology {
                origin,
                line,
                problem,
                ..
            } => say("error-lab.topology")
                .with("origin", origin)
                .count("line", *line)
                .with("problem", problem.clone()),
            Self::Name { name, rule } => say("error-lab.name")
                .with("name", name)
                .with("rule", rule.clone()),
            Self::OnlyLinux => say("error-lab.only-linux"),
            Self::NotRoot => say("error-lab.not-root"),
            Self::NotInstalled { program, .. } => {
                say("error-lab.not-installed").with("program", *program)
            }
            Self::NoSuchScenario { name, .. } => say("error-lab.no-scenario").with("name", name),
            _ => self.of_lab(),
        }
    }

    /// The same, of one lab and what is in it.
    fn of_lab(&self) -> Message {
        match self {
            Self::NameTaken { name } => say("error-lab.name-taken").with("name", name),
            Self::NoSuchLab { name, .. } => say("error-lab.no-lab").with("name", name),
            Self::NoSuchHost { lab, host, .. } => {
                say("error-lab.no-host").with("lab", lab).with("host", host)
            }
            Self::NoShare { lab } => say("error-lab.no-share").with("lab", lab),
            Self::Guest { host, said } => {
                say("error-lab.guest").with("host", host).with("said", said)
            }
            Self::Starting { name } => say("error-lab.starting").with("name", name),
            Self::Talk { name, .. } => say("error-lab.talk").with("name", name),
            Self::NotUp { name, failure } => say("error-lab.not-up")
                .with("name", name)
                .with_known("reason", chain(failure.chain_messages())),
            Self::Run { action, node, .. } => action.clone().with("subject", node.clone()),
            Self::System {
                action, subject, ..
            } => action.clone().with("subject", subject.clone()),
            Self::Samba { host, problem, log } => {
                problem.clone().with("host", host).with("log", log.clone())
            }
            Self::StillThere {
                name,
                processes,
                waited,
            } => say("error-lab.still-there")
                .with("name", name)
                .count("count", processes.len())
                .with("waited", format!("{waited:?}"))
                .with("processes", format!("{processes:?}")),
            // All others are said above.
            other => format!("{other:?}").into(),
        }
    }

    /// Says what could not be done, to which host, switch or lab, when a program failed.
    pub(crate) fn running(
        action: Message,
        node: impl Into<Message>,
    ) -> impl Fn(host::Error) -> Self {
        let node = node.into();
        move |source| Self::Run {
            action: action.clone(),
            node: node.clone(),
            source: Box::new(source),
        }
    }

    /// The error with its causes, to be sent to another process.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
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

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

/// The names that there are, or what is said of none.
fn one_of(names: &[String], none: &'static str) -> Message {
    match names {
        [] => say(none),
        names => say("hint-lab.use-one").with("names", quoted(names)),
    }
}

/// Names between back-ticks.
pub(crate) fn quoted(names: &[impl fmt::Display]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}

/// What a cause says, in any language where it is one of ours.
fn message_of(cause: &(dyn std::error::Error + 'static)) -> Message {
    let boxed = cause.downcast_ref::<Box<host::Error>>();
    let of_host = boxed.map(|error| &**error);
    match of_host.or_else(|| cause.downcast_ref::<host::Error>()) {
        Some(error) => error.message(),
        None => cause.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_that_did_not_come_up_says_why_in_every_language() {
        let failure = Error::NotInstalled {
            program: "smbd",
            package: "samba",
        }
        .to_failure();
        let hint = failure.hint.clone();
        let not_up = Error::NotUp {
            name: "demo".to_owned(),
            failure,
        };
        assert_eq!(
            not_up.to_string(),
            "the lab `demo` did not come up: a lab needs the program `smbd`, which is not installed"
        );
        let japanese = Language::Japanese.say(&not_up.message());
        assert!(!japanese.contains("installed"), "{japanese}");
        let hinted = not_up.hint().map(|hint| Language::English.say(&hint));
        assert_eq!(hinted, hint);
    }

    #[test]
    fn a_chain_is_said_from_its_begin_to_its_end() {
        let mut failure = Failure::new(FailureKind::Internal, "a");
        failure.push(&"b".into());
        failure.push(&"c".into());
        assert_eq!(
            Language::English.say(&chain(failure.chain_messages()).unwrap()),
            failure.text()
        );
    }

    #[test]
    fn a_program_that_failed_is_a_cause_of_ours() {
        let source = host::Error::NotRecorded {
            argv: vec!["ip".to_owned()],
        };
        let running = Error::running(say("error-lab.reach"), "server");
        let failed = running(source);
        let cause = std::error::Error::source(&failed).unwrap();
        assert_eq!(Language::English.say(&message_of(cause)), cause.to_string());
        assert_ne!(message_of(cause).id, locale::PLAIN);
        assert_eq!(failed.to_string(), "cannot reach `server`");
    }
}
