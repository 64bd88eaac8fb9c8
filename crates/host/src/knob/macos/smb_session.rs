//! What macOS's SMB client agreed on with a server, by `smbutil`. It is looked at only.

use locale::say;
use record::Value;
use serde_json::Value as Json;

use crate::exec::{Command, Output};
use crate::knob::{Refusal, State, answer, command, words};

/// Why it cannot be changed.
const FIXED: &str = "knob-fixed.mounted";
/// The kind of file system that is an SMB share.
const KIND: &str = "smbfs";

/// Something of a session.
#[derive(Clone, Copy, Debug)]
pub(in crate::knob) enum Session {
    /// A word of `smbutil statshares`; there is none where it is off.
    Word(&'static str),
    /// The channels that are at work, of `smbutil multichannel`.
    Channels,
}

/// The command that tells the mounts, for [`mounts_in`].
pub(crate) fn show_mounts() -> Command {
    command(&["mount", "-t", KIND])
}

/// `//user@nas/share on /Volumes/share (smbfs, nodev, nosuid, mounted by user)`
pub(crate) fn mounts_in(output: &Output) -> Vec<String> {
    let said = output.text().unwrap_or_default();
    let folders = said.lines().filter_map(|line| {
        let (rest, _) = line.rsplit_once(" (smbfs")?;
        Some(rest.split_once(" on ")?.1.to_owned())
    });
    folders.collect()
}

impl Session {
    pub(super) fn read(self, folder: &str) -> Vec<Command> {
        let what = match self {
            Self::Word(_) => "statshares",
            Self::Channels => "multichannel",
        };
        vec![command(&["smbutil", what, "-m", folder, "-f", "json"])]
    }

    pub(super) fn parse(self, outputs: &[Output]) -> Result<State, Refusal> {
        let said = answer(outputs.first(), "macOS")?;
        let json: Json =
            serde_json::from_str(&said).map_err(|_error| Refusal::unreadable("smbutil"))?;
        let value = match self {
            Self::Word(key) => {
                let share = json.as_array().and_then(|all| all.first()).unwrap_or(&json);
                let missing = || Refusal::new(say("error-macos.smbutil"));
                let word = share.get(key).ok_or_else(missing)?;
                Value::Text(word.as_str().unwrap_or("off").to_owned())
            }
            Self::Channels => {
                let shares = json.as_object().into_iter().flat_map(|all| all.values());
                let channels = shares
                    .filter_map(|share| share.get("multi_channel_status")?.as_object())
                    .flat_map(|channels| channels.values())
                    .filter(|channel| {
                        channel.get("state").and_then(Json::as_str) == Some("session active")
                    });
                Value::Integer(i64::try_from(channels.count()).unwrap_or(i64::MAX))
            }
        };
        Ok(State::new(value, words(&[])).fixed_if(Some(say(FIXED))))
    }
}
