//! One machine: run commands on it, look at it, change it, put it back.
//!
//! [`exec`] starts programs, [`facts()`] looks, [`knob`] knows what can be set and how (it runs
//! nothing), [`change`] plans, applies and takes back, [`journal`] remembers what must be taken
//! back, whatever happens to us, and [`lease`] lets a host that we may lose do it by itself.

pub mod change;
mod error;
pub mod exec;
mod facts;
mod fstab_entry;
#[doc(hidden)]
pub mod fuzzing;
pub mod knob;
mod link_reset;
pub mod profile;
mod this_machine;
mod tool_output;

use std::sync::Arc;

use record::{HostName, System};

pub use change::{journal, lease};
pub use error::{Error, Place};
pub use facts::{facts, mounts, prefetch, share_mount, shares};
pub use fstab_entry::FstabEntry;

use exec::{Command, Exec, Local, STATUS_NO_PROGRAM};

/// One machine and the way to run commands on it.
#[derive(Clone, Debug)]
pub struct Host {
    /// The host as the user named it: `local`, `lab://demo/client`.
    pub name: HostName,
    /// How commands run there.
    pub exec: Arc<dyn Exec>,
    /// Its operating system, as it says itself.
    pub system: System,
}

/// Which machine answered, so that a change is never taken back on another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) machine_id: Option<String>,
    pub(crate) boot_id: Option<String>,
}

impl Host {
    /// The machine this program runs on.
    ///
    /// # Errors
    /// When it cannot say what it is.
    pub fn local() -> Result<Self, Error> {
        Self::new(HostName::new("local"), Arc::new(Local::new()))
    }

    /// A machine that is reached through `exec`.
    ///
    /// # Errors
    /// When it cannot be reached or cannot say what it is.
    pub fn new(name: HostName, exec: Arc<dyn Exec>) -> Result<Self, Error> {
        let command = Command::new(["uname", "-s"]);
        let outputs = exec.run(std::slice::from_ref(&command))?;
        let said = match outputs.into_iter().next() {
            // Windows has no such program.
            Some(output) if output.status == STATUS_NO_PROGRAM => {
                exec::run_one(exec.as_ref(), &Command::new(["cmd.exe", "/c", "ver"]))?.stdout
            }
            Some(output) => output.checked(&command)?.stdout,
            None => Vec::new(),
        };
        let said = String::from_utf8_lossy(&said);
        let system = match said.trim() {
            "Linux" => System::Linux,
            "Darwin" => System::Macos,
            other if other.contains("Microsoft Windows") || is_unix_on_windows(other) => {
                System::Windows
            }
            other => {
                return Err(Error::UnknownSystem {
                    name,
                    system: other.chars().take(80).collect(),
                });
            }
        };
        Ok(Self { name, exec, system })
    }

    /// A command that does nothing but answer.
    pub(crate) fn knock(&self) -> Command {
        match self.system {
            System::Windows => Command::powershell(""),
            System::Linux | System::Macos => Command::new(["true"]),
        }
    }

    pub(crate) fn identity(&self) -> Result<Identity, Error> {
        let outputs = self.exec.run(&identity_commands(self.system))?;
        Ok(parse_identity(&outputs))
    }
}

/// Git for Windows and its kin have an `uname` of their own.
fn is_unix_on_windows(said: &str) -> bool {
    let kin = ["MINGW", "MSYS_NT", "CYGWIN_NT", "Windows_NT"];
    kin.iter().any(|name| said.starts_with(name))
}

pub(crate) fn identity_commands(system: System) -> [Command; 2] {
    match system {
        System::Windows => tool_output::windows::identity_commands(),
        System::Macos => tool_output::macos::identity_commands(),
        System::Linux => [
            Command::new(["cat", "/etc/machine-id"]),
            Command::new(["cat", "/proc/sys/kernel/random/boot_id"]),
        ],
    }
}

pub(crate) fn parse_identity(outputs: &[exec::Output]) -> Identity {
    let word = |index: usize| {
        let text = outputs.get(index)?.text()?;
        let word = text.trim();
        (!word.is_empty()).then(|| word.to_owned())
    };
    Identity {
        machine_id: word(0),
        boot_id: word(1),
    }
}
