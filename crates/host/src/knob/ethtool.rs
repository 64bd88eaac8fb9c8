//! Knobs of `ethtool`. Its text has been the same since version 5.8; its JSON has not, and is wrong
//! in several versions.

use std::collections::BTreeMap;

use record::Value;

use super::{
    Allowed, Disturbance, Kind, Knob, Refusal, Seen, State, TargetKind, Way, answer, command,
    on_or_off, range,
};
use crate::exec::{Command, Output};
use crate::tool::ethtool::{self, Feature, Role};

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
}

pub(super) const fn ethtool(way: Ethtool) -> Knob {
    let disturbs = match way {
        Ethtool::Pause | Ethtool::Channels | Ethtool::RingRx | Ethtool::RingTx | Ethtool::Eee => {
            Disturbance::LinkReset
        }
        _ => Disturbance::Nothing,
    };
    let values = match way {
        Ethtool::Feature { .. } | Ethtool::Adaptive(_) | Ethtool::Eee => "on, off",
        _ => "",
    };
    Knob {
        disturbs,
        values,
        ..Knob::linux(TargetKind::Nic, Kind::Ethtool(way))
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

impl Way for Ethtool {
    fn read(&self, name: &str) -> Vec<Command> {
        let option = match self {
            Self::Feature { .. } | Self::Features => "-k",
            Self::Pause => "-a",
            Self::Channels => "-l",
            Self::RingRx | Self::RingTx => "-g",
            Self::Coalesce(_) | Self::Adaptive(_) => "-c",
            Self::Eee => "--show-eee",
        };
        vec![command(&["ethtool", option, name])]
    }

    fn parse(&self, _: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let said = answer(outputs.first(), "ethtool")?;
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

/// The words of `name:value name:value`.
fn fields(text: &str) -> BTreeMap<&str, &str> {
    text.split_whitespace()
        .filter_map(|word| word.split_once(':'))
        .collect()
}

fn parse_feature(row: &str, said: &str) -> Result<State, Refusal> {
    let features = ethtool::features(said);
    let feature = features.iter().find(|feature| feature.name == row);
    let feature = feature.ok_or_else(|| Refusal::new(format!("the driver has no `{row}`")))?;
    let because = feature
        .fixed
        .then_some("the driver does not let it be changed");
    let remark = (feature.requested && !feature.on)
        .then(|| "it is asked for, and something that it needs is off".to_owned());
    let state = State::new(Value::Switch(feature.on), Allowed::Switch).fixed_if(because);
    Ok(State { remark, ..state }.seen(Seen::Features(features)))
}

fn check_required(features: &[Feature], requires: &[&str]) -> Result<(), Refusal> {
    let off = |name: &&&str| {
        features
            .iter()
            .any(|feature| feature.name == **name && !feature.on)
    };
    match requires.iter().find(off) {
        None => Ok(()),
        Some(name) => Err(Refusal::new(format!("it needs `{name}`, which is off"))
            .hint(format!("turn `{name}` on first"))),
    }
}

/// The rows that a short name stands for and that can be changed.
fn members<'a>(features: &'a [Feature], row: &'a str) -> impl Iterator<Item = &'a Feature> {
    features.iter().filter(move |feature| {
        let own = match &feature.role {
            Role::Single => feature.name == row,
            Role::Member(group) => group == row,
            Role::Group => false,
        };
        own && !feature.fixed
    })
}

/// One command for all, because the driver then sees them together, whatever depends on what.
fn set_features<'a>(nic: &str, features: impl Iterator<Item = &'a Feature>) -> Command {
    let mut command = command(&["ethtool", "-K", nic]);
    for feature in features {
        command.argv.push(feature.name.clone());
        command.argv.push(on_or_off(feature.requested).to_owned());
    }
    command
}

fn parse_features(said: &str) -> Result<State, Refusal> {
    let features = ethtool::features(said);
    if features.is_empty() {
        return Err(Refusal::new("the driver has no offloads"));
    }
    let changeable = features.iter().filter(|feature| is_changeable(feature));
    let all: Vec<String> = changeable.map(feature_word).collect();
    Ok(State::new(Value::Text(all.join(" ")), Allowed::AsRead).seen(Seen::Features(features)))
}

fn is_changeable(feature: &Feature) -> bool {
    !feature.fixed && feature.role != Role::Group
}

/// `tx-udp-segmentation:off/on` is off although it was asked to be on.
fn feature_word(feature: &Feature) -> String {
    let is = on_or_off(feature.on);
    let requested = on_or_off(feature.requested);
    let name = &feature.name;
    if is == requested {
        format!("{name}:{is}")
    } else {
        format!("{name}:{is}/{requested}")
    }
}

/// Sets what differs from `to` and can still be changed.
fn plan_features(nic: &str, features: &[Feature], to: &str) -> Result<(Command, Command), Refusal> {
    let wanted = fields(to);
    let mut before = Vec::new();
    let mut after = Vec::new();
    for feature in features.iter().filter(|feature| is_changeable(feature)) {
        let Some(word) = wanted.get(feature.name.as_str()) else {
            continue;
        };
        if feature_word(feature) == format!("{}:{word}", feature.name) {
            continue;
        }
        let requested = word.rsplit('/').next() == Some("on");
        before.push(feature.clone());
        after.push(Feature {
            requested,
            ..feature.clone()
        });
    }
    if after.is_empty() {
        return Err(Refusal::new("the driver's offloads are not those it had"));
    }
    Ok((
        set_features(nic, after.iter()),
        set_features(nic, before.iter()),
    ))
}

/// What is really on or off decides whose doing it is: what was asked for changes on the way back.
fn merge_features(before: &str, after: Option<&str>, found: &str) -> String {
    let really = |state: &str| state.starts_with("on");
    let (before, after) = (fields(before), after.map(fields));
    let merged = found.split_whitespace().map(|word| {
        let Some((name, state)) = word.split_once(':') else {
            return word.to_owned();
        };
        let ours = after.as_ref().is_none_or(|after| {
            after
                .get(name)
                .is_some_and(|after| really(after) == really(state))
        });
        let back = before.get(name).filter(|_| ours).unwrap_or(&state);
        format!("{name}:{back}")
    });
    merged.collect::<Vec<_>>().join(" ")
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
    let has = |way: &str| on_or_off(pause.split('+').any(|part| part == way));
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
    let because = "it has not as many queues to receive as to send".to_owned();
    let count = count.ok_or_else(|| Refusal::new(because))?;
    let allowed = range(
        (1, "nothing would be received without a queue"),
        (most, "the hardware has no more"),
    );
    let because = (most <= 1).then_some("the hardware has one queue");
    let state = State::new(Value::Integer(count), allowed).fixed_if(because);
    Ok(match combined {
        Some(_) => state.seen(Seen::CombinedQueues),
        None => state,
    })
}

fn parse_ring(row: &str, said: &str) -> Result<State, Refusal> {
    let (limits, now) = limits_and_now(said);
    let missing = || Refusal::new("the driver does not say how long its queues are");
    let most = number(&limits, row).ok_or_else(missing)?;
    let count = number(&now, row).ok_or_else(missing)?;
    let allowed = range(
        (1, "nothing would pass without descriptors"),
        (most, "the hardware has no more"),
    );
    Ok(State::new(Value::Integer(count), allowed))
}

fn parse_coalesce(word: &str, said: &str) -> Result<State, Refusal> {
    let count = number(&rows(said), word);
    let count = count.ok_or_else(|| Refusal::new("the driver does not know it"))?;
    let allowed = range(
        (0, "there is nothing below"),
        (COALESCE_MAX, "more would only add delay"),
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
        _ => return Err(Refusal::new("the driver does not know it")),
    };
    Ok(State::new(Value::Switch(on), Allowed::Switch))
}

fn parse_eee(said: &str) -> Result<State, Refusal> {
    let rows = rows(said);
    let status = rows.get("EEE status").copied().unwrap_or_default();
    let on = match status.split(" - ").next() {
        Some("enabled") => true,
        Some("disabled") => false,
        Some("not supported") => return Err(Refusal::new("the link does not know EEE")),
        _ => return Err(Refusal::unreadable("ethtool --show-eee")),
    };
    let remark = (status == "enabled - inactive")
        .then(|| "it is on and not at work, because the other end does not do it".to_owned());
    let state = State::new(Value::Switch(on), Allowed::Switch);
    Ok(State { remark, ..state })
}
