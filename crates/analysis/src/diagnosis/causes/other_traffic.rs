//! Other programs, or other machines, use the link at the same time.

use locale::say;
use record::{Direction, Nic, ProbeKind, Rung, Sample};

use super::{Advice, Basis, DIRECTIONS, Decider, Evidence, Finding, median_of};
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
const SEVERAL: [(ProbeKind, Rung, RungName, f64); 3] = [
    (ProbeKind::Sessions, Rung::Share, RungName::Share, 2.0),
    (ProbeKind::Connections, Rung::Share, RungName::Share, 2.0),
    (ProbeKind::Streams, Rung::Tcp, RungName::Tcp, 4.0),
];

/// The part of a line from which on a sample has all of it, and below which others have their part.
const ALL: f64 = 0.95;
const PART: f64 = 0.8;
/// More than all of it is no rate of the line: what was answered comes in heaps.
const MORE: f64 = 1.1;
/// The part of a line that a connection gets at least where a few others use it as well. What stops and goes on by itself,
/// such as a process with a part of a processor, has samples with nothing.
const NOTHING: f64 = 0.15;
/// The parts of all samples that have all of the line, and a part of it, at least where others come and go.
const MOMENTS: f64 = 0.05;
const STRETCHES: f64 = 0.25;
/// The part of all samples in which something of our own, such as its begin, may have been slow.
const CHANCE: f64 = 0.02;
/// Samples of a trial that tell how it went on.
const SAMPLES_MIN: usize = 5;
/// Trials that have such moments, at least.
const TRIALS_MIN: usize = 2;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    beside_several(seen)
        .or_else(|| at_an_end(seen))
        .or_else(|| elsewhere(seen))
        .or_else(|| now_and_then(seen))
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

/// Where others come and go: one connection has all of the line for moments and a part of it for long, never nothing, and
/// no several are shown to gain nothing. Other work of the server may look alike.
fn now_and_then(seen: &Evidence) -> Option<Finding> {
    let [tcp, share] = [(Rung::Tcp, RungName::Tcp), (Rung::Share, RungName::Share)];
    let rungs = [tcp, share].into_iter();
    let mut all = rungs.flat_map(|rung| DIRECTIONS.map(|direction| (rung, direction)));
    let (direction, part) = all.find_map(|((rung, name), direction)| {
        let is_lost = seen.loses_in(name, direction) || seen.varies_in(name, direction);
        let part = part_beside_others(seen, rung, direction)?;
        (is_lost && !is_lossy(seen, rung, direction)).then_some((direction, part))
    })?;
    let is_gained = SEVERAL
        .into_iter()
        .filter_map(|(kind, rung, ..)| seen.probed(kind, rung))
        .all(|found| found.loss != Loss::DoesNotLose);
    // Over a long path TCP takes long to have all of a line again after each loss.
    let round_trip = seen.round_trip_min();
    let is_long = round_trip.is_none_or(|it| it >= LONG_NANOSECONDS);
    (is_gained && !is_long && seen.crowded_host().is_none()).then(|| {
        let text = say("other-traffic.now-and-then")
            .with("direction", direction)
            .share("part", part);
        let advice = Advice::of("fix.other-traffic-elsewhere").gains(seen.gain());
        Finding::suspected(text, Decider::Hand("decide.quiet-time"), advice)
    })
}

fn is_lossy(seen: &Evidence, rung: Rung, direction: Direction) -> bool {
    let is_overtaken = direction == Direction::Read && seen.is_overtaken(rung);
    seen.is_resent(rung, direction) || is_overtaken
}

/// The median part of the line in samples that do not have all of it, where some do, and none have nothing.
fn part_beside_others(seen: &Evidence, rung: Rung, direction: Direction) -> Option<f64> {
    let ceiling = seen.ceiling(direction)?;
    let trials = seen.trials.iter();
    let trials = trials.filter(|trial| (trial.rung, trial.direction) == (rung, direction));
    let trials = trials.map(|trial| {
        let rates = trial.result.samples.iter().map(Sample::bytes_per_second);
        rates.map(|rate| rate / ceiling).collect::<Vec<f64>>()
    });
    let trials: Vec<Vec<f64>> = trials.filter(|parts| parts.len() >= SAMPLES_MIN).collect();
    let with_moments = trials
        .iter()
        .filter(|parts| parts.iter().any(|part| *part >= ALL));
    let samples: Vec<f64> = trials.concat();
    let count = |is_meant: fn(f64) -> bool| {
        let meant = samples.iter().filter(|part| is_meant(**part));
        meant.count() as f64 / samples.len() as f64
    };
    let comes_and_goes = with_moments.count() >= TRIALS_MIN
        && count(|part| part >= ALL) >= MOMENTS
        && count(|part| part < PART) >= STRETCHES
        && count(|part| !(NOTHING..=MORE).contains(&part)) < CHANCE;
    let beside = samples.iter().copied().filter(|part| *part < PART);
    comes_and_goes.then(|| median_of(beside))?
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
    let rung = seen.share_that_loses().1;
    let is_open = |direction: Direction| {
        let is_measured = seen.rate(RungName::Tcp, direction).is_some();
        let is_lost = seen.loses_in(rung, direction) || seen.varies_in(rung, direction);
        // Over several links nothing but the share is measured.
        let is_known = is_measured || seen.network_carries_all(direction);
        is_lost && (rung == RungName::Channels || !is_known)
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
    let costs = seen.network_may_lose() || seen.share_may_lose();
    let costs = costs && seen.is_held_by_line(foreign);
    let found = counted(nic, foreign, 1.0 / (1.0 - foreign).max(0.01));
    Some(found.off_path_if(!costs))
}

/// The same where several channels lose, on any NIC that they use.
fn beside_several(seen: &Evidence) -> Option<Finding> {
    let (nic, share, gain) = seen.foreign_traffic_of_channels()?;
    Some(counted(nic, share, gain).of_channels())
}

fn counted(nic: &Nic, share: f64, gain: f64) -> Finding {
    let text = say("other-traffic")
        .with("nic", &nic.name)
        .share("share", share);
    let caveats = vec![say("gain-caveat.without-others")];
    let gain = stats::computed(gain, stats::Unit::Ratio, caveats);
    let advice = Advice::new(say("fix.other-traffic").with("nic", &nic.name)).gains(Some(gain));
    Finding::counted(text, advice)
}
