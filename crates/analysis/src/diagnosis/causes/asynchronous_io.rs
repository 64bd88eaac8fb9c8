//! A server that does one thing at a time.

use locale::say;
use record::{Target, Value};

use super::{Advice, Decider, Evidence, Finding, setting};

const KNOBS: [&str; 2] = ["smb.server.aio_read", "smb.server.aio_write"];

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let server = seen.network.server?;
    let share = seen.share.map(|share| share.share.share.as_str());
    let is_here = |target: &Target| match target {
        Target::Share(name) => share.is_none_or(|share| name == share),
        _ => true,
    };
    let is_off =
        |value: &Value| matches!(value, Value::Integer(size) if *size == 0 || *size > 1 << 20);
    let off = KNOBS.into_iter().filter(|knob| {
        let mut values = seen.settings(&server.name, knob);
        values.any(|(target, value)| is_here(target) && is_off(value))
    });
    let off: Vec<&str> = off.collect();
    if off.is_empty() {
        return None;
    }
    let names: Vec<String> = off.iter().map(|knob| (*knob).to_owned()).collect();
    let settings = off.iter().filter_map(|id| {
        let target = Target::Share(share?.to_owned());
        setting(Some(server), target, id, Value::Integer(1))
    });
    let advice = Advice::of("fix.asynchronous")
        .gains(seen.gain())
        .sets(settings);
    let text = say("asynchronous-io").with("knobs", names);
    Some(Finding::suspected(text, Decider::Tune, advice))
}
