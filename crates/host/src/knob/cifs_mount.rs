//! Knobs of the kernel's own SMB client: options of a mount. They are looked at only.

use locale::say;
use record::Value;

use super::{
    Disturbance, Kind, Knob, KnobBackend, Refusal, State, TargetKind, answer, command, words,
};
use crate::exec::{Command, Output};

/// Where the kernel tells what is mounted, with the options that hold.
const MOUNTS: &str = "/proc/mounts";
/// The kinds of file systems that are SMB shares.
const KINDS: [&str; 2] = ["cifs", "smb3"];
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
    rows(&said).map(|(folder, _)| folder).collect()
}

impl KnobBackend for Mount {
    fn read(&self, _: &str) -> Vec<Command> {
        vec![show_mounts()]
    }

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let said = answer(outputs.first(), "coreutils")?;
        // What was mounted last lies above the others.
        let options = rows(&said)
            .filter(|(folder, _)| folder == name)
            .last()
            .map(|(_, options)| options);
        let options = options.ok_or_else(|| Refusal {
            target_is_missing: true,
            ..Refusal::new(say("error-linux.no-smb-mount").with("folder", name))
        })?;
        let all = || options.split(',');
        let of = |key: &str| all().find_map(|option| option.strip_prefix(key)?.strip_prefix('='));
        let missing = |key: &str| Refusal::new(say("error-linux.mount-option").with("option", key));
        let value = match self {
            Self::Flag(key) => Value::Switch(all().any(|option| option == *key)),
            Self::Number(key, default) => {
                let number = of(key).and_then(|word| word.parse().ok()).or(*default);
                Value::Integer(number.ok_or_else(|| missing(key))?)
            }
            Self::Word(key) => Value::Text(of(key).ok_or_else(|| missing(key))?.to_owned()),
            Self::Signing => {
                let security = of("sec").unwrap_or_default();
                Value::Switch(all().any(|option| option == "sign") || security.ends_with('i'))
            }
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

/// Folder and options of every SMB mount.
fn rows(said: &str) -> impl Iterator<Item = (String, &str)> {
    said.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (_, folder, kind, options) =
            (words.next()?, words.next()?, words.next()?, words.next()?);
        KINDS.contains(&kind).then(|| (unescaped(folder), options))
    })
}

/// The kernel writes blanks and backslashes as three octal digits behind a backslash.
fn unescaped(word: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
