//! What can go wrong with a lab.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use record::{Failure, FailureKind};

/// Why something with a lab failed: what we were doing, to what, and the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A topology file cannot be read.
    #[error("cannot read the topology `{}`", path.display())]
    ReadTopology {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A topology is not what it should be.
    #[error("{origin}, line {line}: {problem}")]
    Topology {
        /// The file, or what it is.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and with which field.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// A lab cannot have this name.
    #[error("a lab cannot be named `{name}`: {rule}")]
    Name {
        /// The name.
        name: String,
        /// The rule it breaks.
        rule: String,
    },
    /// Labs need Linux.
    #[error("a lab needs Linux")]
    OnlyLinux,
    /// Labs need root.
    #[error("a lab needs root's rights")]
    NotRoot,
    /// A program is missing.
    #[error("a lab needs the program `{program}`, which is not installed")]
    NotInstalled {
        /// The program.
        program: &'static str,
        /// Debian's package of it.
        package: &'static str,
    },
    /// A lab of this name is up.
    #[error("a lab named `{name}` is up already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is no lab of this name.
    #[error("there is no lab named `{name}`")]
    NoSuchLab {
        /// The name.
        name: String,
        /// The labs there are.
        others: Vec<String>,
    },
    /// There is no lab of this name in the library.
    #[error("there is no scenario named `{name}`")]
    NoSuchScenario {
        /// The name.
        name: String,
        /// The scenarios there are.
        others: Vec<String>,
    },
    /// The lab has no such host.
    #[error("the lab `{lab}` has no host named `{host}`")]
    NoSuchHost {
        /// The lab.
        lab: String,
        /// The name asked for.
        host: String,
        /// The hosts there are.
        others: Vec<String>,
    },
    /// A lab is on its way up or down.
    #[error("the lab `{name}` is still starting")]
    Starting {
        /// The lab.
        name: String,
    },
    /// Talking with a lab's supervisor failed.
    #[error("cannot talk with the lab `{name}`")]
    Talk {
        /// The lab.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The supervisor could not bring the lab up; everything it made is gone again.
    #[error("the lab `{name}` did not come up: {}", failure.chain.join(": "))]
    NotUp {
        /// The lab.
        name: String,
        /// What it said.
        failure: Failure,
    },
    /// A program of the lab failed.
    #[error("cannot {action} `{node}`")]
    Run {
        /// What we were doing.
        action: &'static str,
        /// To which host, switch or lab.
        node: String,
        /// Why it failed. Boxed, because it is long and errors travel through every return.
        source: Box<host::Error>,
    },
    /// A system call or file of the lab failed.
    #[error("cannot {action} `{subject}`")]
    System {
        /// What we were doing.
        action: &'static str,
        /// To what.
        subject: String,
        /// Why it failed.
        source: io::Error,
    },
    /// Samba does not answer.
    #[error("the Samba server on `{host}` {problem}; the end of its log: {log}")]
    Samba {
        /// Its host.
        host: String,
        /// What it did or did not do.
        problem: String,
        /// The end of its log.
        log: String,
    },
    /// Something of a lab outlived it.
    #[error(
        "the lab `{name}` was ended, but {} of its processes are still there after {waited:?}: {processes:?}",
        processes.len()
    )]
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
    pub fn hint(&self) -> Option<String> {
        let known = |names: &[String], none: &str| {
            if names.is_empty() {
                none.to_owned()
            } else {
                format!("use one of `{}`", names.join("`, `"))
            }
        };
        match self {
            Self::Topology { hint, .. } => Some(hint.clone()),
            Self::NotRoot => Some("run it as root, such as with `sudo`".to_owned()),
            Self::NotInstalled { package, .. } => Some(format!("`apt install {package}`")),
            Self::NameTaken { name } => Some(format!(
                "`linerate lab down {name}` ends it, or give the new one another name"
            )),
            Self::NoSuchLab { others, .. } => {
                Some(known(others, "`linerate lab up FILE` starts one"))
            }
            // More of them than a line holds.
            Self::NoSuchScenario { others, .. } => {
                let known = known(others, "there is none");
                Some(format!(
                    "`linerate lab scenarios` says what is wrong in each; {known}"
                ))
            }
            Self::NoSuchHost { others, .. } => Some(known(others, "it has none")),
            Self::Starting { .. } => Some("try again in a second".to_owned()),
            Self::NotUp { failure, .. } => failure.hint.clone(),
            Self::Run { source, .. } => source.hint(),
            _ => None,
        }
    }

    /// Says what we were doing, to which host, switch or lab, when a program failed.
    pub(crate) fn running(action: &'static str, node: &str) -> impl Fn(host::Error) -> Self + Copy {
        move |source| Self::Run {
            action,
            node: node.to_owned(),
            source: Box::new(source),
        }
    }

    /// The error with its causes, to be sent to another process.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        let mut chain = vec![self.to_string()];
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            chain.push(error.to_string());
            cause = error.source();
        }
        Failure {
            kind: self.kind(),
            chain,
            hint: self.hint(),
        }
    }
}
