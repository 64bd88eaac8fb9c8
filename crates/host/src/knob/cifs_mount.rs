//! Knobs of the kernel's own SMB client: options of a mount. They are looked at only.

use locale::say;
use record::{ShareMount, Value};

use super::{
    Disturbance, Kind, Knob, KnobBackend, Refusal, State, TargetKind, answer, command, words,
};
use crate::exec::{Command, Output};
use crate::tool_output::cifs;

/// Where the kernel tells what is mounted, with the options that hold.
const MOUNTS: &str = "/proc/mounts";
/// Why they cannot be changed.
const FIXED: &str = "knob-fixed.mount";

/// One option of a mount.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mount {
    /// One that is there or not.
    Flag(&'static str),
    /// One with a number, and the number that holds where it is not named.
    Number(&'static str, Option<i64>),
    /// One with a word.
    Word(&'static str),
    /// Signing, which has an option of its own and letters in others.
    Signing,
}

pub(super) const fn mount(mount: Mount) -> Knob {
    Knob {
        values: "only looked at: unmount it, and mount it with another option",
        disturbs: Disturbance::Session,
        survives_reboot: true,
        ..Knob::linux(TargetKind::Mount, Kind::Mount(mount))
    }
}

/// The command that tells the mounts, for [`mounts_in`].
pub(crate) fn show_mounts() -> Command {
    command(&["cat", MOUNTS])
}

/// The folders on which SMB shares are mounted.
pub(crate) fn mounts_in(output: &Output) -> Vec<String> {
    let said = output.text().unwrap_or_default();
    cifs::mounts(&said).map(|row| row.folder).collect()
}

impl KnobBackend for Mount {
    fn read(&self, _: &str) -> Vec<Command> {
        vec![show_mounts()]
    }

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let said = answer(outputs.first(), "coreutils")?;
        // What was mounted last lies above the others.
        let options = cifs::mounts(&said)
            .filter(|row| row.folder == name)
            .last()
            .map(|row| row.options);
        let options = options.ok_or_else(|| Refusal {
            target_is_missing: true,
            ..Refusal::new(say("error-linux.no-smb-mount").with("folder", name))
        })?;
        let mount = ShareMount {
            options: options.to_owned(),
            ..ShareMount::default()
        };
        let missing = |key: &str| Refusal::new(say("error-linux.mount-option").with("option", key));
        let value = match self {
            Self::Flag(key) => Value::Switch(mount.has(key)),
            Self::Number(key, default) => {
                let number = mount
                    .option(key)
                    .and_then(|word| word.parse().ok())
                    .or(*default);
                Value::Integer(number.ok_or_else(|| missing(key))?)
            }
            Self::Word(key) => {
                Value::Text(mount.option(key).ok_or_else(|| missing(key))?.to_owned())
            }
            Self::Signing => Value::Switch(mount.asks_to_sign()),
        };
        Ok(State::new(value, words(&[])).fixed_if(Some(say(FIXED))))
    }

    /// It is only looked at.
    fn could_be(&self, _: &Value) -> bool {
        false
    }

    fn wrote(&self, _: &str, _: &[&str]) -> bool {
        false
    }

    fn set(&self, _: &str, _: &State, _: &Value) -> Result<Command, Refusal> {
        Err(Refusal::new(say(FIXED)))
    }
}
