//! The parts of a host that knobs belong to, and the names of them that tools do not misread.

use locale::{Message, say};
use record::{System, Target};

use super::Refusal;
use crate::tool_output::is_usable_nic_name;

/// Longest path of a folder.
const PATH_BYTES_MAX: usize = 4095;
/// Longest name of a share.
const SHARE_NAME_BYTES_MAX: usize = 255;
/// Longest name of an interface on Windows, 256 letters of up to three bytes.
const WINDOWS_NIC_NAME_BYTES_MAX: usize = 768;

/// What a knob belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetKind {
    /// The host as a whole.
    Host,
    /// One network interface.
    Nic,
    /// One share that the host offers.
    Share,
    /// One share of another host that is mounted on this one.
    Mount,
}

impl TargetKind {
    pub(super) const fn of(target: &Target) -> Self {
        match target {
            Target::Host => Self::Host,
            Target::Nic(_) => Self::Nic,
            Target::Share(_) => Self::Share,
            Target::Mount(_) => Self::Mount,
        }
    }

    /// It with its article, as something that can be said in any language.
    #[must_use]
    pub const fn message(self) -> Message {
        say(match self {
            Self::Host => "knob-target.host",
            Self::Nic => "knob-target.nic",
            Self::Share => "knob-target.share",
            Self::Mount => "knob-target.mount",
        })
    }
}

/// The target's name, empty for the host, where tools take it for what it is.
pub(super) fn usable_name(system: System, target: &Target) -> Result<&str, Refusal> {
    match target {
        Target::Host => Ok(""),
        Target::Nic(name) if system == System::Windows => windows_nic_name(name),
        Target::Nic(name) if is_usable_nic_name(name) => Ok(name),
        Target::Nic(_) => Err(odd_nic_name("ip link set dev NAME name NEW")),
        Target::Share(name) if is_usable_share_name(name) => Ok(name),
        Target::Share(_) => Err(Refusal::new(say("error-knob.share-name"))),
        Target::Mount(path) if path.starts_with('/') && path.len() <= PATH_BYTES_MAX => Ok(path),
        Target::Mount(_) => Err(Refusal::new(say("error-knob.mount-name"))),
    }
}

/// An interface's name that this command changes.
fn odd_nic_name(command: &str) -> Refusal {
    let hint = say("hint-host.rename").with("command", command);
    Refusal::new(say("error-knob.nic-name")).hint(hint)
}

/// Windows lets people call an interface almost anything; scripts only ever compare the name.
fn windows_nic_name(name: &str) -> Result<&str, Refusal> {
    let odd = |letter: char| letter.is_control() || letter == '\u{fffd}';
    let usable =
        !name.is_empty() && name.len() <= WINDOWS_NIC_NAME_BYTES_MAX && !name.contains(odd);
    usable
        .then_some(name)
        .ok_or_else(|| odd_nic_name("Rename-NetAdapter"))
}

/// Whether a name in square brackets is a section of that name and nothing else.
fn is_usable_share_name(name: &str) -> bool {
    let odd = |letter: char| letter.is_control() || "[]%\\\u{fffd}".contains(letter);
    !name.is_empty()
        && name.len() <= SHARE_NAME_BYTES_MAX
        && name.trim() == name
        && !name.contains(odd)
}
