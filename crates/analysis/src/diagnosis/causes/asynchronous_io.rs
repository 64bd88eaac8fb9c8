//! A server that does one thing at a time.

use locale::say;
use record::{ProbeKind, Rung, Target, Value};

use super::{Advice, Decider, Evidence, Finding, setting};
use crate::rung_and_probe_verdict::Loss;

const KNOBS: [&str; 2] = ["smb.server.aio_read", "smb.server.aio_write"];

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    by_setting(seen).or_else(|| in_turn(seen))
}

/// Writes wait while reads do not, and two sessions gain what two connections of one do not: for each session the server
/// does one write after the other. Only its settings tell whether it has to.
fn in_turn(seen: &Evidence) -> Option<Finding> {
    let sessions = seen.probed_of_share(ProbeKind::Sessions)?;
    let connections = seen.probed(ProbeKind::Connections, Rung::Share);
    let is_of_each = connections.is_some_and(|found| found.loss == Loss::Loses);
    let is_in_turn = sessions.loss == Loss::Loses && seen.writes_wait() && seen.is_short_path();
    if seen.network.server.is_some() || !is_in_turn || is_of_each {
        return None;
    }
    let text = say("asynchronous-io.in-turn").ratio("gain", sessions.ratio.value);
    let advice = Advice::of("fix.asynchronous").gains(seen.gain());
    Some(Finding::suspected(text, Decider::Server, advice).by_elimination())
}

fn by_setting(seen: &Evidence) -> Option<Finding> {
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
