//! A rate that a shaper sets, or that looks like one: steady, and no line's.

use locale::say;
use record::{Direction, ProbeKind, Rung};

use super::{Advice, DIRECTIONS, Decider, Evidence, FASTER, Finding, NETWORK};
use crate::RungName;
use crate::rung_and_probe_verdict::Loss;
use stats::Unit;
use stats::computed;

/// How far the rates of a path may differ that something limits.
const STEADY: f64 = 1.12;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    by_shaper(seen)
        .or_else(|| by_shape(seen))
        .or_else(|| by_clock(seen))
        .or_else(|| by_queue(seen))
}

/// A shaper on a host that stands for no line, below what its own line carries where that is known.
fn by_shaper(seen: &Evidence) -> Option<Finding> {
    let pair = seen.used.first()?;
    let near = seen.network.client.map(|host| (host, pair.near));
    let far = seen.network.server.zip(pair.far_nic());
    let found = [near, far].into_iter().flatten().filter_map(|(host, nic)| {
        let (shaped, line) = seen.network.shaped(host, nic)?;
        let is_lower = line.is_none_or(|line| line as f64 > shaped as f64 * FASTER);
        is_lower.then_some((host, nic, shaped, line))
    });
    let (host, nic, shaped, line) = found.min_by_key(|(_, _, shaped, _)| *shaped)?;
    // A virtual NIC has no line; but nobody's line has such a rate.
    let text = match line {
        Some(line) => say("rate-limited.shaper").bits("line", line),
        None if !seen.network.shapers_are_lines => say("rate-limited.shaper-one-way"),
        None => say("rate-limited.shaper-alone"),
    };
    let text = text
        .with("nic", &nic.name)
        .with("host", &host.name)
        .bits("rate", shaped);
    let gain = line.map(|line| computed(line as f64 / shaped as f64, Unit::Ratio, Vec::new()));
    let advice = Advice::new(say("fix.shaper").with("nic", &nic.name))
        .gains(gain)
        .commands([format!("tc qdisc show dev {}", nic.name)]);
    Some(Finding::counted(text, advice))
}

/// Raw TCP loses, always at the same rate, and more streams do not help: something on the path limits it.
fn by_shape(seen: &Evidence) -> Option<Finding> {
    let direction = DIRECTIONS
        .into_iter()
        .find(|direction| seen.loses_in(RungName::Tcp, *direction))?;
    let rates = seen.rates(Rung::Tcp, direction);
    let least = rates.iter().copied().fold(f64::MAX, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    let is_lossy = seen.is_resent(Rung::Tcp, direction);
    if rates.len() < 4 || most > least * STEADY || is_lossy || seen.full_host().is_some() {
        return None;
    }
    // What comes by another NIC is held by that one's line.
    if direction == Direction::Read && seen.slower_return_path().is_some() {
        return None;
    }
    // What moves as a line does is held by that line.
    let pair = seen.used.first();
    if pair.is_some_and(|pair| seen.line_between(pair).is_some()) {
        return None;
    }
    let text = say("rate-limited")
        .with("direction", direction)
        .rate("rate", most);
    let advice = Advice::of("fix.rate-limit").gains(seen.gain());
    let streams = seen.probed(ProbeKind::Streams, Rung::Tcp).map(|it| it.loss);
    match streams {
        Some(Loss::DoesNotLose) => Some(Finding::counted(text, advice)),
        // What more streams overcome is a limit of each connection.
        Some(Loss::Loses) => None,
        Some(Loss::CannotTell { .. }) | None => {
            Some(Finding::suspected(text, Decider::Probe, advice).by_elimination())
        }
    }
}

/// Writing, TCP is busy with the network all the time, and loses nothing. A server that is stopped now and then looks
/// alike, so that it stays a suspicion.
fn by_clock(seen: &Evidence) -> Option<Finding> {
    if !seen.network_may_limit(Direction::Write) {
        return None;
    }
    let clock = seen.writing_clock(Rung::Share)?;
    let lost = clock.retransmits as f64 / clock.segments.max(1) as f64;
    let share = seen.network_share(Rung::Share)?;
    if share < NETWORK || lost > 0.001 {
        return None;
    }
    let text = say("rate-limited.clock")
        .share("waited", share)
        .rate("rate", seen.rate(RungName::Share, Direction::Write)?);
    let advice = Advice::of("fix.rate-limit").gains(seen.gain());
    Some(Finding::suspected(text, Decider::RawTcp, advice).by_elimination())
}

/// Reading, much of what was asked for is in a queue of the network, at a rate that is no line's.
fn by_queue(seen: &Evidence) -> Option<Finding> {
    let wait = seen.queued_while_reading()?;
    let mut pairs = seen.used.iter();
    if pairs.any(|pair| seen.line_of_queue(pair).is_some()) {
        return None;
    }
    let text = say("rate-limited.queue")
        .seconds("wait", wait)
        .rate("rate", seen.rate(RungName::Share, Direction::Read)?);
    let advice = Advice::of("fix.rate-limit").gains(seen.gain());
    Some(Finding::suspected(text, Decider::RawTcp, advice).by_elimination())
}
