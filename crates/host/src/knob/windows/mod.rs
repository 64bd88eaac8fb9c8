//! Knobs of Windows. They are read and set with PowerShell's objects, which speak no language, and
//! with `netsh`, whose labels do, where an object is not there.
//!
//! An adapter's name only ever stands in a script as a literal that names are compared with: cmdlets
//! take stars and brackets in names for patterns. What a script sets is in the persistent store and
//! in the active one alike.

mod adapter;
mod catalogue;
mod driver_property;
mod journal_validation;
mod smb_status;
mod tcp_smb_and_power;

use locale::Message;
use record::{System, Value};

use super::{
    Before, Disturbance, Kind, Knob, KnobBackend, Refusal, Remembered, State, TargetKind, answer,
};
use crate::exec::shell::powershell_literal;
use crate::exec::{Command, Output, POWERSHELL};
use crate::tool_output::windows::{self, Object};

pub(super) use adapter::Seen;
pub(super) use catalogue::KNOBS;

/// What Windows knows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Windows {
    /// A property of an adapter or its driver.
    Adapter(adapter::Adapter),
    /// A setting of the system.
    System(tcp_smb_and_power::Setting),
    /// What can only be looked at.
    Status(smb_status::SmbStatus),
}

const fn windows(on: TargetKind, kind: Windows) -> Knob {
    Knob {
        survives_reboot: true,
        ..Knob::of(System::Windows, on, Kind::Windows(kind))
    }
}

/// A property of an adapter; nearly all of them restart it.
const fn adapter(backend: adapter::Adapter) -> Knob {
    Knob {
        disturbs: Disturbance::LinkReset,
        ..windows(TargetKind::Nic, Windows::Adapter(backend))
    }
}

/// A setting of the system, which connections see that are made from then on.
const fn setting(backend: tcp_smb_and_power::Setting) -> Knob {
    Knob {
        disturbs: Disturbance::NewConnections,
        ..windows(TargetKind::Host, Windows::System(backend))
    }
}

impl KnobBackend for Windows {
    fn read(&self, name: &str) -> Vec<Command> {
        match self {
            Self::Adapter(backend) => backend.read(name),
            Self::System(backend) => backend.read(),
            Self::Status(status) => status.read(),
        }
    }

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal> {
        match self {
            Self::Adapter(backend) => backend.parse(name, outputs),
            Self::System(backend) => backend.parse(outputs),
            Self::Status(status) => status.parse(outputs),
        }
    }

    fn print_value(&self, name: &str) -> Option<Command> {
        match self {
            Self::Adapter(backend) => backend.print_value(name),
            Self::System(backend) => Some(backend.print_value()),
            Self::Status(_) => None,
        }
    }

    fn could_be(&self, value: &Value) -> bool {
        match self {
            Self::Adapter(backend) => backend.could_be(value),
            Self::System(backend) => backend.could_be(value),
            Self::Status(_) => false,
        }
    }

    fn wrote(&self, name: &str, argv: &[&str]) -> bool {
        let [program @ .., script] = argv else {
            return false;
        };
        program == POWERSHELL
            && match self {
                Self::Adapter(backend) => backend.wrote(name, script),
                Self::System(backend) => backend.wrote(script),
                Self::Status(_) => false,
            }
    }

    fn remember(&self, state: &State) -> Option<Remembered> {
        match self {
            Self::Adapter(_) => journal_validation::remember(state),
            Self::System(_) | Self::Status(_) => None,
        }
    }

    fn restore(
        &self,
        name: &str,
        state: &State,
        to: &Value,
        before: &Before<'_>,
    ) -> Result<Command, Refusal> {
        match self {
            Self::Adapter(backend) => backend.restore(name, state, to, before),
            Self::System(_) | Self::Status(_) => self.set(name, state, to),
        }
    }

    fn set(&self, name: &str, state: &State, to: &Value) -> Result<Command, Refusal> {
        match self {
            Self::Adapter(backend) => backend.set(name, state, to),
            Self::System(backend) => backend.set(to),
            Self::Status(_) => Err(Refusal::none_such()),
        }
    }

    fn plan(&self, name: &str, state: &State, to: &Value) -> Result<(Command, Command), Refusal> {
        match self {
            Self::Adapter(backend) => backend.plan(name, state, to),
            Self::System(backend) => Ok((backend.set(to)?, backend.set(&state.value)?)),
            Self::Status(_) => Err(Refusal::none_such()),
        }
    }
}

fn unreadable() -> Refusal {
    Refusal::unreadable("PowerShell")
}

/// What a command told.
fn said(outputs: &[Output], index: usize) -> Result<String, Refusal> {
    answer(outputs.get(index), "PowerShell's module")
}

/// The objects of an answer.
fn objects(outputs: &[Output], index: usize) -> Result<Vec<Object>, Refusal> {
    windows::objects(&said(outputs, index)?).ok_or_else(unreadable)
}

/// The only object of an answer, which `missing` says there is not.
fn object(outputs: &[Output], index: usize, missing: Message) -> Result<Object, Refusal> {
    let first = objects(outputs, index)?.into_iter().next();
    first.ok_or_else(|| Refusal::new(missing))
}

/// `$true` or `$false`.
fn truth(on: bool) -> &'static str {
    if on { "$true" } else { "$false" }
}

/// One of the words of most of Windows' switches.
fn enabled(on: bool) -> &'static str {
    if on { "Enabled" } else { "Disabled" }
}

/// A filter for objects whose property is exactly this text.
fn is_called(property: &str, name: &str) -> String {
    format!("$_.{property} -ceq {}", powershell_literal(name))
}

/// The word among the known ones that Windows writes with other capitals.
fn known_word(words: &[&str], said: &str) -> String {
    let known = words.iter().find(|word| word.eq_ignore_ascii_case(said));
    known.map_or_else(|| said.to_ascii_lowercase(), |word| (*word).to_owned())
}

/// These words, and the one that was read where it is none of them.
fn words_with(words: &[&str], now: &str) -> super::Allowed {
    let mut all = words.to_vec();
    if !all.contains(&now) {
        all.push(now);
    }
    super::words(&all)
}
