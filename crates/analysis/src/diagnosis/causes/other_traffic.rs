//! Other programs, or other machines, use the link at the same time.

use locale::say;
use record::{Direction, ProbeKind, Rung};

use super::{Advice, Basis, DIRECTIONS, Decider, Evidence, Finding};
use crate::RungName;
use crate::rung_and_probe_verdict::Loss;

/// A shortest round trip of a trial that is long for a LAN, in nanoseconds.
const LONG_NANOSECONDS: u64 = 1_000_000;
/// What the shortest round trips of trials differ by where packets wait behind those of others, in nanoseconds and as a
/// part of the least. A path alone is always as long: labs of 2 to 10 ms differed by 0.05 to 0.18 ms.
const WAITS_NANOSECONDS: u64 = 500_000;
const WAITS: f64 = 0.02;
/// Trials with one request at a time that show it, at least.
const SINGLE_MIN: usize = 4;
/// How far several connections may be from what they would get of a link that all connections share alike.
const ALIKE: f64 = 1.15;
/// The interventions that open several connections, what they are held against, and how many they open.
const SEVERAL: [(ProbeKind, Rung, RungName, f64); 2] = [
    (ProbeKind::Sessions, Rung::Share, RungName::Share, 2.0),
    (ProbeKind::Streams, Rung::Tcp, RungName::Tcp, 4.0),
];

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    at_an_end(seen)
        .or_else(|| elsewhere(seen))
        .or_else(|| perhaps(seen))
}

/// Where our own NIC does not see it: a queue that is never empty though it holds nothing of ours, and connections that
/// get what each of those that share a link gets.
fn elsewhere(seen: &Evidence) -> Option<Finding> {
    let trials = seen.trials.iter();
    let single = trials.filter(|trial| matches!(trial.rung, Rung::RoundTrip | Rung::SmallFiles));
    let round_trips = single.flat_map(|trial| &trial.result.connections);
    let round_trips = round_trips.filter_map(|one| Some(one.tcp?.round_trip_min));
    let mut waits: Vec<u64> = round_trips.map(|it| it.get()).collect();
    waits.sort_unstable();
    let (least, most) = (*waits.first()?, *waits.last()?);
    let wait = most - least;
    let is_queue =
        least >= LONG_NANOSECONDS && wait > WAITS_NANOSECONDS && wait as f64 > least as f64 * WAITS;
    if waits.len() < SINGLE_MIN || !is_queue || !shares_alike(seen) {
        return None;
    }
    let text = say("other-traffic.elsewhere")
        .seconds("least", least as f64 / 1e9)
        .seconds("most", most as f64 / 1e9);
    let advice = Advice::of("fix.other-traffic-elsewhere").gains(seen.gain());
    let decider = Decider::Hand("decide.quiet-time");
    Some(Finding::suspected(text, decider, advice))
}

/// Whether several connections gain what so many of a link's would that each get a like part of it: who gets a part p
/// shares it with 1 / p - 1 others.
fn shares_alike(seen: &Evidence) -> bool {
    SEVERAL.into_iter().any(|(kind, rung, name, several)| {
        let Some(found) = seen.probed(kind, rung) else {
            return false;
        };
        // Where others come and go, not even that may be decided; it is a suspicion anyway.
        found.loss != Loss::DoesNotLose
            && DIRECTIONS.into_iter().any(|direction| {
                let part = seen.rate(name, direction).zip(seen.ceiling(direction));
                let is_near = part.is_some_and(|(rate, ceiling)| {
                    let others = ceiling / rate - 1.0;
                    let shared = several * (1.0 + others) / (several + others);
                    (found.ratio.value / shared).ln().abs() < ALIKE.ln()
                });
                seen.loses_in(name, direction) && is_near
            })
    })
}

/// What nobody can tell from one end: other machines fill the server's link, or it is the server that is slow.
fn perhaps(seen: &Evidence) -> Option<Finding> {
    let is_open = |direction: Direction| {
        let is_measured = seen.rate(RungName::Tcp, direction).is_some();
        let rung = RungName::Share;
        let is_lost = seen.loses_in(rung, direction) || seen.varies_in(rung, direction);
        is_lost && !is_measured && !seen.network_carries_all(direction)
    };
    if seen.network.server.is_some() || !DIRECTIONS.into_iter().any(is_open) {
        return None;
    }
    let basis = Basis::OutOfSight("needs.server");
    let advice = Advice::of("fix.other-traffic-elsewhere");
    let found = Finding::new(say("other-traffic.perhaps"), basis, advice);
    Some(found.by_elimination().off_path())
}

/// Where a NIC of either end counts it.
fn at_an_end(seen: &Evidence) -> Option<Finding> {
    let (foreign, nic) = seen.foreign_share()?;
    let text = say("other-traffic")
        .with("nic", &nic.name)
        .share("share", foreign);
    let gain = stats::computed(
        1.0 / (1.0 - foreign).max(0.01),
        stats::Unit::Ratio,
        vec![say("gain-caveat.without-others")],
    );
    let advice = Advice::new(say("fix.other-traffic").with("nic", &nic.name)).gains(Some(gain));
    let costs = seen.network_may_lose() || seen.share_may_lose();
    let costs = costs && seen.is_held_by_line(foreign);
    Some(Finding::counted(text, advice).off_path_if(!costs))
}
