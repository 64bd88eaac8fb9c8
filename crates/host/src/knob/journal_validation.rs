//! What a journal may say of a knob, and what comes of it. A journal holds no commands: a knob, what it
//! belongs to and a value, from which the command is built anew when the knob is put back. What no knob of
//! the catalogue could have read is refused before anything runs.

use std::collections::BTreeSet;

use locale::say;
use record::{System, Target, Value};
use serde::{Deserialize, Serialize};

use super::{Knob, Refusal, State, find};
use crate::exec::Command;

/// Ids that knobs had in earlier versions, with those that they have now.
const RENAMED: [(System, &str, &str); 1] = [(
    System::Linux,
    "smb.server.signing",
    "smb.server.signing_required",
)];
/// Modes that a link may offer; no kernel knows so many.
const MODES_MAX: usize = 512;
/// Scripts that version 1 of the journal could hold and that are not written any more, by
/// [`fingerprint`]: the one for `smb.conf` that did not care for a last line without an end.
const EARLIER_SCRIPTS: [u64; 1] = [0xbba3_7a7d_7227_c107];

/// What belongs to a value and cannot be seen from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Remembered {
    /// The modes that a link offered to the other end.
    Offered(BTreeSet<String>),
    /// The longest frame in a driver, and the MTUs of IPv4 and IPv6.
    Lengths {
        driver: Option<u32>,
        stack: [Option<u32>; 2],
    },
}

/// What is known of the state before a change, besides the value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before<'a> {
    /// What the knob itself had remembered.
    pub(crate) remembered: Option<&'a Remembered>,
    /// All offloads of the same interface, as the knob that stands for them read.
    pub(crate) features: Option<&'a str>,
}

/// The knob of this id, or the one that had it in an earlier version.
pub(crate) fn find_journaled(system: System, id: &str) -> Option<&'static Knob> {
    let now = RENAMED
        .iter()
        .find(|(of, old, _)| *of == system && *old == id);
    find(system, now.map_or(id, |(_, _, now)| now))
}

impl Knob {
    /// Whether this knob could have been set on this part of a host.
    ///
    /// # Errors
    /// When the target is none for this knob, or its name is one that tools would misread.
    pub(crate) fn check_target(&self, target: &Target) -> Result<(), Refusal> {
        self.name(target).map(drop)
    }

    /// Whether the knob could ever have had this value and been given another one.
    pub(crate) fn could_be(&self, value: &Value) -> bool {
        self.backend().could_be(value)
    }

    /// What must be written down besides the value.
    pub(crate) fn remember(&self, state: &State) -> Option<Remembered> {
        self.backend().remember(state)
    }

    /// Whether version 1 of the journal could hold this command for it.
    pub(crate) fn wrote(&self, target: &Target, argv: &[String]) -> bool {
        let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
        self.name(target)
            .is_ok_and(|name| self.backend().wrote(name, &argv))
    }

    /// The commands that put back a value that a journal holds; none where it is so. Other than for
    /// [`Knob::plan`], the host's limits do not count, because it has had the value before.
    ///
    /// # Errors
    /// When it could never have had this value.
    pub(crate) fn restore(
        &self,
        target: &Target,
        state: &State,
        to: &Value,
        before: &Before<'_>,
    ) -> Result<Vec<Command>, Refusal> {
        let name = self.name(target)?;
        if state.value == *to {
            return Ok(Vec::new());
        }
        if !self.could_be(to) {
            return Err(Refusal::new(say("error-knob.impossible")));
        }
        let command = self.backend().restore(name, state, to, before)?;
        Ok(vec![Command {
            privilege: self.needs,
            ..command
        }])
    }
}

impl Remembered {
    /// Whether a knob could have remembered this.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Offered(modes) => {
                modes.len() <= MODES_MAX && modes.iter().all(|mode| mode.len() <= 64)
            }
            Self::Lengths { .. } => true,
        }
    }
}

/// Whether a script is one of ours, or was in an earlier version.
pub(super) fn is_script(text: &str, ours: &[&str]) -> bool {
    ours.contains(&text) || EARLIER_SCRIPTS.contains(&fingerprint(text))
}

/// Whether what stands behind a key is nothing but an assignment to it.
pub(super) fn is_assignment(text: &str, key: &str) -> bool {
    let value = text
        .strip_prefix(key)
        .and_then(|rest| rest.strip_prefix('='));
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._ -".contains(letter);
    value.is_some_and(|value| value.chars().all(fits))
}

/// FNV-1a of 64 bits. It tells texts apart that we have written; nothing is run because of it.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
