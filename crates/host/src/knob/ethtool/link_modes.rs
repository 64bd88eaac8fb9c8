//! The speed of a link, and whether its ends agree on it by themselves.

use locale::say;
use record::Value;

use super::rows;
use crate::exec::Command;
use crate::knob::{Allowed, Refusal, Seen, State, command, on_or_off, words};
use crate::tool_output::ethtool;

/// How `ethtool NIC` begins where there is such an interface, whatever else fails.
pub(super) const SETTINGS: &[u8] = b"Settings for ";

pub(super) fn parse_speed(said: &str) -> Result<State, Refusal> {
    let untold = || Refusal::new(say("error-knob.driver-silent"));
    let speed = ethtool::speed(said).ok_or_else(untold)?;
    let megabits = i64::try_from(speed.get() / 1_000_000).ok();
    let megabits = megabits.ok_or_else(|| Refusal::unreadable("ethtool"))?;
    let state = State::new(Value::Integer(megabits), words(&[]));
    Ok(state.fixed_if(Some(say("knob-fixed.link-speed"))))
}

/// The word where the ends of a link agree by themselves.
pub(super) const AGREED: &str = "auto";

/// `1000baseT/Full` as `1000 full`.
fn forced(mode: &str) -> Option<String> {
    let (speed, rest) = mode.split_once("base")?;
    let duplex = rest.rsplit_once('/')?.1.to_ascii_lowercase();
    speed.parse::<u32>().ok()?;
    ["full", "half"]
        .contains(&duplex.as_str())
        .then(|| format!("{speed} {duplex}"))
}

/// `1000 full`.
pub(super) fn is_forced(mode: &str) -> bool {
    let (speed, duplex) = mode.split_once(' ').unwrap_or_default();
    speed.parse::<u32>().is_ok() && ["full", "half"].contains(&duplex)
}

pub(super) fn parse_modes(said: &str) -> Result<State, Refusal> {
    let rows = rows(said);
    let supported = ethtool::modes_of(said, "Supported link modes");
    if supported.is_empty() || rows.get("Supports auto-negotiation") == Some(&"No") {
        return Err(Refusal::new(say("error-linux.one-speed")));
    }
    let offered = ethtool::modes_of(said, "Advertised link modes");
    let modes = supported
        .iter()
        .map(|&mode| (mode.to_owned(), offered.contains(&mode)));
    let modes = Seen::Modes(modes.collect());
    let word = |name: &str| rows.get(name).copied().unwrap_or_default();
    let now = match word("Auto-negotiation") {
        "on" => AGREED.to_owned(),
        "off" => {
            let speed = word("Speed").trim_end_matches("Mb/s");
            format!("{speed} {}", word("Duplex").to_ascii_lowercase())
        }
        _ => return Err(Refusal::unreadable("ethtool")),
    };
    let mut choices = vec![AGREED.to_owned()];
    for choice in supported.iter().filter_map(|mode| forced(mode)) {
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    let because = (!choices.contains(&now)).then_some(say("knob-fixed.mode"));
    let state = State::new(Value::Text(now), Allowed::Words(choices)).fixed_if(because);
    Ok(state.unset(Value::Text(AGREED.to_owned())).seen(modes))
}

pub(super) fn set_modes(nic: &str, seen: &Seen, mode: &str) -> Command {
    let mut set = command(&["ethtool", "-s", nic]);
    let mut push = |words: &[&str]| set.argv.extend(words.iter().map(|&word| word.to_owned()));
    match (mode.split_once(' '), seen) {
        (Some((speed, duplex)), _) => {
            push(&["speed", speed, "duplex", duplex, "autoneg", "off"]);
        }
        (None, Seen::Modes(modes)) => {
            push(&["autoneg", "on", "advertise"]);
            for (mode, offered) in modes {
                push(&[mode, on_or_off(*offered)]);
            }
        }
        (None, _) => push(&["autoneg", "on"]),
    }
    set
}
