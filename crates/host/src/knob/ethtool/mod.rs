//! Knobs of `ethtool`. Its text has been the same since version 5.8; its JSON has not, and is wrong
//! in several versions.

mod features;
mod link_modes;

use std::collections::BTreeMap;

use locale::say;
use record::Value;

use super::allowed_values::is_bytes;
use super::safe_argument::{is_count, is_text, is_word};
use super::{
    Allowed, Before, Disturbance, Kind, Knob, KnobBackend, Refusal, Remembered, Seen, State,
    TargetKind, answer, command, on_or_off, range, usual_restore,
};
use crate::exec::{Command, Output};
use crate::tool_output::ethtool::Feature;
use features::{
    check_required, fields, is_feature_word, members, merge_features, parse_feature,
    parse_features, plan_features, set_features,
};
use link_modes::{AGREED, SETTINGS, is_forced, parse_modes, parse_speed, set_modes};

/// Ways to pause the other side, as far as the link's ends did not agree on it by themselves.
const PAUSES: [&str; 4] = ["off", "rx", "tx", "rx+tx"];
/// In front of one of [`PAUSES`] where the ends agree by themselves.
const AUTO: &str = "auto ";

/// Longest time and most frames that an interrupt waits for, as far as we go.
const COALESCE_MAX: i64 = 1000;

/// What `ethtool` knows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ethtool {
    /// One row of `-k`, by its short name.
    Feature {
        short: &'static str,
        row: &'static str,
        requires: &'static [&'static str],
    },
    /// All rows of `-k` that can be changed.
    Features,
    /// Flow control, `-a`.
    Pause,
    /// Queues, `-l`.
    Channels,
    /// Descriptors of the receive queues, `-g`.
    RingRx,
    /// Descriptors of the transmit queues, `-g`.
    RingTx,
    /// Interrupts when so much time has passed, or so many frames came, by the word of `-C`.
    Coalesce(&'static str),
    /// Whether the driver chooses the former by itself, by the word of `-C`.
    Adaptive(&'static str),
    /// Energy-efficient Ethernet.
    Eee,
    /// Over how many queues the received connections are spread, `-x`.
    Spread,
    /// The key of the hash that spreads them, `-x`.
    SpreadKey,
    /// What of a TCP packet over IPv4 the hash looks at, `-n`.
    SpreadFields,
    /// The speed of the link.
    Speed,
    /// Whether the ends of the link agree on the speed by themselves.
    Modes,
}

pub(super) const fn ethtool(backend: Ethtool) -> Knob {
    let disturbs = match backend {
        Ethtool::Pause
        | Ethtool::Channels
        | Ethtool::RingRx
        | Ethtool::RingTx
        | Ethtool::Eee
        | Ethtool::Modes => Disturbance::LinkReset,
        _ => Disturbance::Nothing,
    };
    let values = match backend {
        Ethtool::Feature { .. } | Ethtool::Adaptive(_) | Ethtool::Eee => "on, off",
        _ => "",
    };
    Knob {
        disturbs,
        values,
        ..Knob::linux(TargetKind::Nic, Kind::Ethtool(backend))
    }
}

pub(super) const fn feature(
    short: &'static str,
    row: &'static str,
    requires: &'static [&'static str],
) -> Knob {
    ethtool(Ethtool::Feature {
        short,
        row,
        requires,
    })
}

impl KnobBackend for Ethtool {
    fn read(&self, name: &str) -> Vec<Command> {
        let option = match self {
            Self::Feature { .. } | Self::Features => "-k",
            Self::Pause => "-a",
            Self::Channels => "-l",
            Self::RingRx | Self::RingTx => "-g",
            Self::Coalesce(_) | Self::Adaptive(_) => "-c",
            Self::Eee => "--show-eee",
            Self::Spread | Self::SpreadKey => "-x",
            Self::SpreadFields => {
                return vec![command(&["ethtool", "-n", name, "rx-flow-hash", "tcp4"])];
            }
            Self::Speed | Self::Modes => return vec![command(&["ethtool", name])],
        };
        vec![command(&["ethtool", option, name])]
    }

    fn parse(&self, _: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let said = match (self, outputs.first()) {
            // Without root's rights it complains of parts of its answer; the rest of it is good.
            (Self::Speed | Self::Modes, Some(output)) if output.stdout.starts_with(SETTINGS) => {
                String::from_utf8_lossy(&output.stdout).into_owned()
            }
            (_, output) => answer(output, "ethtool")?,
        };
        match self {
            Self::Feature { row, .. } => parse_feature(row, &said),
            Self::Features => parse_features(&said),
            Self::Pause => parse_pause(&said),
            Self::Channels => parse_channels(&said),
            Self::RingRx => parse_ring("RX", &said),
            Self::RingTx => parse_ring("TX", &said),
            Self::Coalesce(word) => parse_coalesce(word, &said),
            Self::Adaptive(word) => parse_adaptive(word, &said),
            Self::Eee => parse_eee(&said),
            Self::Spread => parse_spread(&said),
            Self::SpreadKey => parse_spread_key(&said),
            Self::SpreadFields => parse_spread_fields(&said),
            Self::Speed => parse_speed(&said),
            Self::Modes => parse_modes(&said),
        }
    }

    fn print_value(&self, name: &str) -> Option<Command> {
        let Self::Feature { row, .. } = self else {
            return None;
        };
        let script = r#"ethtool -k "$1" | grep "^$2:""#;
        Some(command(&["sh", "-c", script, "sh", name, row]))
    }

    fn could_be(&self, value: &Value) -> bool {
        match self {
            Self::Feature { .. } | Self::Adaptive(_) | Self::Eee => {
                matches!(value, Value::Switch(_))
            }
            Self::Features => is_text(value, |text| text.split_whitespace().all(is_feature_word)),
            Self::Pause => is_text(value, |text| {
                PAUSES.contains(&text.strip_prefix(AUTO).unwrap_or(text))
            }),
            Self::Channels | Self::RingRx | Self::RingTx | Self::Coalesce(_) | Self::Spread => {
                is_count(value)
            }
            Self::SpreadKey => is_text(value, |text| is_bytes(text.split(':').count(), text)),
            Self::SpreadFields => is_text(value, |text| {
                let known = |letter| FIELDS.iter().any(|(_, own)| *own == letter);
                !text.is_empty() && text.chars().all(known)
            }),
            Self::Modes => is_text(value, |text| text == AGREED || is_forced(text)),
            Self::Speed => false,
        }
    }

    fn wrote(&self, name: &str, argv: &[&str]) -> bool {
        let own = match self {
            Self::Feature { .. } | Self::Features => "-K",
            Self::Pause => "-A",
            Self::Channels => "-L",
            Self::RingRx | Self::RingTx => "-G",
            Self::Coalesce(_) | Self::Adaptive(_) => "-C",
            Self::Eee => "--set-eee",
            Self::Spread | Self::SpreadKey => "-X",
            Self::SpreadFields => "-N",
            Self::Modes => "-s",
            Self::Speed => return false,
        };
        // The name of a mode has a slash in it.
        let is_plain = |word: &&str| word.split('/').all(is_word);
        matches!(argv, ["ethtool", option, nic, words @ ..]
            if *option == own && *nic == name && words.iter().all(is_plain))
    }

    fn remember(&self, state: &State) -> Option<Remembered> {
        let (Self::Modes, Seen::Modes(modes)) = (self, &state.seen) else {
            return None;
        };
        let offered = modes.iter().filter(|(_, offered)| *offered);
        let offered = offered.map(|(mode, _)| mode.clone());
        Some(Remembered::Offered(offered.collect()))
    }

    fn restore(
        &self,
        name: &str,
        state: &State,
        to: &Value,
        before: &Before<'_>,
    ) -> Result<Command, Refusal> {
        match (self, &state.seen, to) {
            (Self::Feature { short, row, .. }, Seen::Features(features), Value::Switch(on)) => {
                let before = before.features.map(fields).unwrap_or_default();
                let members = members(features, row).filter_map(|member| {
                    let was = before.get(member.name.as_str())?;
                    let requested = was.rsplit('/').next() == Some("on");
                    Some(Feature {
                        requested,
                        ..member.clone()
                    })
                });
                let members: Vec<Feature> = members.collect();
                Ok(match members.is_empty() {
                    true => command(&["ethtool", "-K", name, short, on_or_off(*on)]),
                    false => set_features(name, members.iter()),
                })
            }
            (Self::Modes, Seen::Modes(modes), Value::Text(mode)) if mode == AGREED => {
                let was = |mode: &String| match before.remembered {
                    Some(Remembered::Offered(offered)) => offered.contains(mode),
                    _ => true,
                };
                let modes = modes.iter().map(|(mode, _)| (mode.clone(), was(mode)));
                Ok(set_modes(name, &Seen::Modes(modes.collect()), mode))
            }
            _ => usual_restore(self, name, state, to),
        }
    }

    fn set(&self, name: &str, state: &State, to: &Value) -> Result<Command, Refusal> {
        let number = to.to_string();
        Ok(match (self, to) {
            (Self::Pause, Value::Text(pause)) => set_pause(name, pause),
            (Self::Channels, _) if state.seen == Seen::CombinedQueues => {
                command(&["ethtool", "-L", name, "combined", &number])
            }
            (Self::Channels, _) => command(&["ethtool", "-L", name, "rx", &number, "tx", &number]),
            (Self::RingRx, _) => command(&["ethtool", "-G", name, "rx", &number]),
            (Self::RingTx, _) => command(&["ethtool", "-G", name, "tx", &number]),
            (Self::Coalesce(word) | Self::Adaptive(word), _) => {
                command(&["ethtool", "-C", name, word, &number])
            }
            (Self::Eee, Value::Switch(on)) => {
                command(&["ethtool", "--set-eee", name, "eee", on_or_off(*on)])
            }
            (Self::Spread, _) if state.unset.as_ref() == Some(to) => {
                command(&["ethtool", "-X", name, "default"])
            }
            (Self::Spread, _) => command(&["ethtool", "-X", name, "equal", &number]),
            (Self::SpreadKey, Value::Text(key)) => command(&["ethtool", "-X", name, "hkey", key]),
            (Self::SpreadFields, Value::Text(fields)) => {
                command(&["ethtool", "-N", name, "rx-flow-hash", "tcp4", fields])
            }
            (Self::Modes, Value::Text(mode)) => set_modes(name, &state.seen, mode),
            _ => return Err(Refusal::none_such()),
        })
    }

    fn plan(&self, name: &str, state: &State, to: &Value) -> Result<(Command, Command), Refusal> {
        let features = match &state.seen {
            Seen::Features(features) => features.as_slice(),
            _ => &[],
        };
        match (self, to) {
            (
                Self::Feature {
                    short,
                    row,
                    requires,
                },
                Value::Switch(on),
            ) => {
                if *on {
                    check_required(features, requires)?;
                }
                let run = command(&["ethtool", "-K", name, short, on_or_off(*on)]);
                Ok((run, set_features(name, members(features, row))))
            }
            (Self::Features, Value::Text(to)) => plan_features(name, features, to),
            // Everything is offered from here on; what was offered before is for the way back.
            (Self::Modes, Value::Text(mode)) if mode == AGREED => {
                let all = match &state.seen {
                    Seen::Modes(modes) => modes.iter().map(|(mode, _)| (mode.clone(), true)),
                    _ => return Err(Refusal::none_such()),
                };
                let all = Seen::Modes(all.collect());
                Ok((
                    set_modes(name, &all, mode),
                    self.set(name, state, &state.value)?,
                ))
            }
            _ => Ok((
                self.set(name, state, to)?,
                self.set(name, state, &state.value)?,
            )),
        }
    }

    fn merge(&self, before: &Value, after: Option<&Value>, found: &Value) -> Value {
        match (self, before, found) {
            (Self::Features, Value::Text(before), Value::Text(found)) => {
                let after = after.and_then(|after| match after {
                    Value::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                Value::Text(merge_features(before, after, found))
            }
            _ if after.is_none_or(|after| after == found) => before.clone(),
            _ => found.clone(),
        }
    }
}

/// Rows of `name: value`; the first of a name counts.
fn rows(said: &str) -> BTreeMap<&str, &str> {
    let mut rows = BTreeMap::new();
    for line in said.lines() {
        if let Some((name, value)) = line.split_once(':') {
            rows.entry(name.trim()).or_insert(value.trim());
        }
    }
    rows
}

/// The rows above and below `Current hardware settings`.
fn limits_and_now(said: &str) -> (BTreeMap<&str, &str>, BTreeMap<&str, &str>) {
    let (limits, now) = said
        .split_once("Current hardware settings")
        .unwrap_or(("", ""));
    (rows(limits), rows(now))
}

fn number(rows: &BTreeMap<&str, &str>, name: &str) -> Option<i64> {
    let count = rows.get(name)?.parse::<u32>().ok()?;
    Some(count.into())
}

fn unaware() -> Refusal {
    Refusal::new(say("error-knob.driver-unaware"))
}

fn parse_pause(said: &str) -> Result<State, Refusal> {
    let rows = rows(said);
    let switch = |name: &str| match rows.get(name) {
        Some(&"on") => Ok(true),
        Some(&"off") => Ok(false),
        _ => Err(Refusal::unreadable("ethtool -a")),
    };
    let (auto, rx, tx) = (switch("Autonegotiate")?, switch("RX")?, switch("TX")?);
    let pause = PAUSES[usize::from(rx) + 2 * usize::from(tx)];
    let value = if auto {
        format!("{AUTO}{pause}")
    } else {
        pause.into()
    };
    let autos = PAUSES.iter().map(|pause| format!("{AUTO}{pause}"));
    let all = PAUSES.iter().map(|&pause| pause.to_owned()).chain(autos);
    Ok(State::new(
        Value::Text(value),
        Allowed::Words(all.collect()),
    ))
}

fn set_pause(nic: &str, pause: &str) -> Command {
    let (auto, pause) = match pause.strip_prefix(AUTO) {
        Some(pause) => (true, pause),
        None => (false, pause),
    };
    let has = |direction: &str| on_or_off(pause.split('+').any(|part| part == direction));
    let auto = on_or_off(auto);
    command(&[
        "ethtool",
        "-A",
        nic,
        "autoneg",
        auto,
        "rx",
        has("rx"),
        "tx",
        has("tx"),
    ])
}

fn parse_channels(said: &str) -> Result<State, Refusal> {
    let (limits, now) = limits_and_now(said);
    let combined = number(&limits, "Combined").filter(|&most| most > 0);
    let (most, count) = match combined {
        Some(most) => (most, number(&now, "Combined")),
        None => {
            let most = number(&limits, "RX").zip(number(&limits, "TX"));
            let most = most.map(|(rx, tx)| rx.min(tx));
            let count = number(&now, "RX").filter(|&rx| number(&now, "TX") == Some(rx));
            (most.unwrap_or(0), count)
        }
    };
    // One number would change both.
    let count = count.ok_or_else(|| Refusal::new(say("error-linux.uneven-queues")))?;
    let allowed = range(
        (1, "knob-limit.no-queue"),
        (most, "knob-limit.hardware-most"),
    );
    let because = (most <= 1).then_some(say("knob-fixed.one-queue"));
    let state = State::new(Value::Integer(count), allowed).fixed_if(because);
    Ok(match combined {
        Some(_) => state.seen(Seen::CombinedQueues),
        None => state,
    })
}

fn parse_ring(row: &str, said: &str) -> Result<State, Refusal> {
    let (limits, now) = limits_and_now(said);
    let missing = || Refusal::new(say("error-linux.ring"));
    let most = number(&limits, row).ok_or_else(missing)?;
    let count = number(&now, row).ok_or_else(missing)?;
    let allowed = range(
        (1, "knob-limit.no-descriptors"),
        (most, "knob-limit.hardware-most"),
    );
    Ok(State::new(Value::Integer(count), allowed))
}

fn parse_coalesce(word: &str, said: &str) -> Result<State, Refusal> {
    let count = number(&rows(said), word);
    let count = count.ok_or_else(unaware)?;
    let allowed = range(
        (0, "knob-limit.nothing-below"),
        (COALESCE_MAX, "knob-limit.delay"),
    );
    Ok(State::new(Value::Integer(count), allowed))
}

/// `Adaptive RX: off  TX: n/a` is one line.
fn parse_adaptive(word: &str, said: &str) -> Result<State, Refusal> {
    let rows = rows(said);
    let line = rows.get("Adaptive RX").copied().unwrap_or_default();
    let (rx, tx) = line.split_once("TX:").unwrap_or((line, ""));
    let state = if word == "adaptive-rx" { rx } else { tx };
    let on = match state.trim() {
        "on" => true,
        "off" => false,
        _ => return Err(unaware()),
    };
    Ok(State::new(Value::Switch(on), Allowed::Switch))
}

fn parse_eee(said: &str) -> Result<State, Refusal> {
    let rows = rows(said);
    let status = rows.get("EEE status").copied().unwrap_or_default();
    let on = match status.split(" - ").next() {
        Some("enabled") => true,
        Some("disabled") => false,
        Some("not supported") => return Err(Refusal::new(say("error-linux.no-eee"))),
        _ => return Err(Refusal::unreadable("ethtool --show-eee")),
    };
    let remark = (status == "enabled - inactive").then_some(say("knob-remark.eee"));
    let state = State::new(Value::Switch(on), Allowed::Switch);
    Ok(State { remark, ..state })
}

/// The rows of `-x` behind its headings.
fn parse_spread(said: &str) -> Result<State, Refusal> {
    let heading = said.lines().next().unwrap_or_default();
    let queues = heading.split(" with ").nth(1).and_then(|rest| {
        let (number, rest) = rest.split_once(' ')?;
        rest.starts_with("RX ring").then(|| number.parse().ok())?
    });
    let queues: i64 = queues.ok_or_else(|| Refusal::unreadable("ethtool -x"))?;
    let rows = said.lines().skip(1).map_while(|line| {
        let (first, row) = line.split_once(':')?;
        first.trim().parse::<u32>().ok()?;
        let row: Option<Vec<i64>> = row
            .split_whitespace()
            .map(|word| word.parse().ok())
            .collect();
        row
    });
    let table: Vec<i64> = rows.flatten().collect();
    let most = table.iter().max().copied();
    let count = most.ok_or_else(unaware)?.saturating_add(1);
    let even = (0..count).cycle();
    let is_even = table.iter().zip(even).all(|(&queue, even)| queue == even);
    let allowed = range(
        (1, "knob-limit.somewhere"),
        (queues, "knob-limit.queues-most"),
    );
    let state = State::new(Value::Integer(count), allowed).unset(Value::Integer(queues));
    if is_even {
        let because = (queues <= 1).then_some(say("knob-fixed.one-receive-queue"));
        return Ok(state.fixed_if(because));
    }
    Ok(state.fixed_if(Some(say("knob-fixed.table"))))
}

fn parse_spread_key(said: &str) -> Result<State, Refusal> {
    let mut lines = said
        .lines()
        .skip_while(|line| !line.starts_with("RSS hash key"));
    let key = lines.nth(1).unwrap_or_default().trim().to_ascii_lowercase();
    let count = key.split(':').count();
    if !is_bytes(count, &key) {
        return Err(unaware());
    }
    Ok(State::new(Value::Text(key), Allowed::Bytes(count)))
}

/// What `-n` says of a field, and the letter of it for `-N`.
const FIELDS: [(&str, char); 7] = [
    ("L2DA", 'm'),
    ("VLAN tag", 'v'),
    ("L3 proto", 't'),
    ("IP SA", 's'),
    ("IP DA", 'd'),
    ("L4 bytes 0 & 1", 'f'),
    ("L4 bytes 2 & 3", 'n'),
];

fn parse_spread_fields(said: &str) -> Result<State, Refusal> {
    let mut fields = String::new();
    for line in said.lines().skip(1).map(str::trim) {
        match FIELDS.iter().find(|(name, _)| line.starts_with(name)) {
            Some((_, letter)) => fields.push(*letter),
            None if line.is_empty() => {}
            None if line == "None" => {
                return Err(Refusal::new(say("error-linux.no-fields")));
            }
            None => return Err(Refusal::unreadable("ethtool -n")),
        }
    }
    if fields.is_empty() {
        return Err(Refusal::unreadable("ethtool -n"));
    }
    let mut choices = vec!["sd", "sdfn"];
    if !choices.contains(&fields.as_str()) {
        choices.push(&fields);
    }
    let allowed = super::words(&choices);
    Ok(State::new(Value::Text(fields), allowed))
}
