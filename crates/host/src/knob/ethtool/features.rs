//! Offloads: rows of `ethtool -k`, one by one and all together.

use std::collections::BTreeMap;

use locale::say;
use record::Value;

use crate::exec::Command;
use crate::knob::safe_argument::is_word;
use crate::knob::{Allowed, Refusal, Seen, State, command, on_or_off};
use crate::tool_output::ethtool::{self, Feature, Role};

/// The words of `name:value name:value`.
pub(super) fn fields(text: &str) -> BTreeMap<&str, &str> {
    text.split_whitespace()
        .filter_map(|word| word.split_once(':'))
        .collect()
}

pub(super) fn parse_feature(row: &str, said: &str) -> Result<State, Refusal> {
    let features = ethtool::features(said);
    let feature = features.iter().find(|feature| feature.name == row);
    let missing = || Refusal::new(say("error-knob.driver-without").with("name", row));
    let feature = feature.ok_or_else(missing)?;
    let because = feature.fixed.then_some(say("knob-fixed.driver"));
    let remark = (feature.requested && !feature.on).then_some(say("knob-remark.feature"));
    let state = State::new(Value::Switch(feature.on), Allowed::Switch).fixed_if(because);
    Ok(State { remark, ..state }.seen(Seen::Features(features)))
}

pub(super) fn check_required(features: &[Feature], requires: &[&str]) -> Result<(), Refusal> {
    let off = |name: &&&str| {
        features
            .iter()
            .any(|feature| feature.name == **name && !feature.on)
    };
    match requires.iter().find(off) {
        None => Ok(()),
        Some(name) => {
            let refusal = Refusal::new(say("error-linux.needs").with("name", *name));
            Err(refusal.hint(say("hint-host.turn-on").with("name", *name)))
        }
    }
}

/// The rows that a short name stands for and that can be changed.
pub(super) fn members<'a>(
    features: &'a [Feature],
    row: &'a str,
) -> impl Iterator<Item = &'a Feature> {
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
pub(super) fn set_features<'a>(nic: &str, features: impl Iterator<Item = &'a Feature>) -> Command {
    let mut command = command(&["ethtool", "-K", nic]);
    for feature in features {
        command.argv.push(feature.name.clone());
        command.argv.push(on_or_off(feature.requested).to_owned());
    }
    command
}

pub(super) fn parse_features(said: &str) -> Result<State, Refusal> {
    let features = ethtool::features(said);
    if features.is_empty() {
        return Err(Refusal::new(say("error-linux.no-offloads")));
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

/// `name:on` or `name:off/on`.
pub(super) fn is_feature_word(word: &str) -> bool {
    let is_state = |state: &str| ["on", "off", "on/off", "off/on"].contains(&state);
    let parts = word.split_once(':');
    parts.is_some_and(|(name, state)| is_word(name) && is_state(state))
}

/// Sets what differs from `to` and can still be changed.
pub(super) fn plan_features(
    nic: &str,
    features: &[Feature],
    to: &str,
) -> Result<(Command, Command), Refusal> {
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
        return Err(Refusal::new(say("error-linux.other-offloads")));
    }
    Ok((
        set_features(nic, after.iter()),
        set_features(nic, before.iter()),
    ))
}

/// What is really on or off decides whose doing it is: what was asked for changes on the way back.
pub(super) fn merge_features(before: &str, after: Option<&str>, found: &str) -> String {
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
