//! Packets that are lost, on the path in use or on another channel.

use locale::{Message, say};
use record::{Direction, Rung, Sample};

use super::{Advice, DIRECTIONS, Decider, Evidence, Finding};
use crate::RungName;
use crate::diagnosis::ladder_and_probe_trials::Measured;
use crate::diagnosis::tcp_buffers::waits_for_receiver;

/// Segments sent again, as a share of all, that no full queue explains.
const RESENT: f64 = 0.006;
/// The same where TCP does not reach what it could.
const RESENT_SLOW: f64 = 0.001;
/// Segments sent again where one request follows another that are no accident.
const RESENT_SINGLE_MIN: u64 = 6;
/// Segments out of order, as a share of all, that a loss explains where TCP is slow.
const OVERTAKEN: f64 = 0.01;
/// Segments out of order for each that was lost, at most about: those behind it, until it is there.
const OVERTAKEN_BY_ONE: f64 = 10.0;
/// Of the rate that TCP keeps at a share p of lost segments, MSS / RTT * C / sqrt(p) (Mathis and others 1997).
const MATHIS: f64 = 1.22;
/// How much of one channel must be sent again where another one loses nothing.
const RESENT_OF_CHANNEL: f64 = 0.002;
/// The part of what is sent again that came to the end of the path, where a host had no time for it.
const DROPPED_BY_HOSTS: f64 = 0.5;
/// A sample in which nothing came for about as long as a sender waits for an answer, with less of the line than this; and
/// the part of it that others have.
const STOP_NANOSECONDS: u64 = 150_000_000;
const STOPPED: f64 = 0.3;
const GOES: f64 = 0.9;
/// Trials that tell it.
const TRIALS_MIN: usize = 4;
/// Payload of a segment.
const SEGMENT_BYTES: f64 = 1448.0;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    resent(seen)
        .or_else(|| without_a_queue(seen))
        .or_else(|| overtaken(seen))
        .or_else(|| stops(seen))
        .or_else(|| on_another_channel(seen))
}

/// Segments that raw TCP, or else the share, had to send again.
fn resent(seen: &Evidence) -> Option<Finding> {
    let (direction, share, rung, is_sure) =
        [Rung::Tcp, Rung::Share].into_iter().find_map(|rung| {
            let resent = DIRECTIONS
                .into_iter()
                .filter_map(|direction| Some((direction, seen.resent(rung, direction)?)));
            let worst = resent.max_by(|one, two| f64::total_cmp(&one.1, &two.1))?;
            let name = if rung == Rung::Tcp {
                RungName::Tcp
            } else {
                RungName::Share
            };
            // A window that opens again now and then makes a sender try twice as well.
            let waits = worst.0 == Direction::Write && waits_for_receiver(seen, rung);
            let slow = seen.may_lose_in(name, worst.0) && !waits;
            let seems_slow = seen.seems_to_lose_in(name, worst.0) && !waits;
            let limit = match slow || seems_slow {
                true => RESENT_SLOW,
                false => RESENT,
            };
            let is_sure = slow || worst.1 > RESENT;
            (worst.1 > limit).then_some((worst.0, worst.1, rung, is_sure))
        })?;
    // What other traffic drops in a full queue is its fault and no cable's.
    let by_hosts = seen.hosts_dropped(rung, direction);
    if seen.foreign_share().is_some() || by_hosts.is_some_and(|part| part >= DROPPED_BY_HOSTS) {
        return None;
    }
    let id = match rung {
        Rung::Tcp => "segments-lost.tcp",
        _ => "segments-lost.share",
    };
    let text = say(id).share("share", share).with("direction", direction);
    let found = match is_sure {
        true => Finding::counted(text, look_for_it(seen)),
        // What comes and goes may be others' traffic, which fills a queue for a while.
        false => Finding::suspected(text, Decider::Probe, look_for_it(seen)),
    };
    Some(found.off_path_if(is_borne(seen, rung, direction)))
}

/// Whether raw TCP is well with what it lost, and something else is not.
fn is_borne(seen: &Evidence, rung: Rung, direction: Direction) -> bool {
    rung == Rung::Tcp && seen.lost().is_some() && !seen.may_lose_in(RungName::Tcp, direction)
}

/// Less than a full queue may drop, but also segments of requests that follow one another: of these none is full.
fn without_a_queue(seen: &Evidence) -> Option<Finding> {
    let trials = seen.trials.iter();
    let single = trials.filter(|trial| matches!(trial.rung, Rung::RoundTrip | Rung::SmallFiles));
    let single: Vec<u64> = single.filter_map(Measured::resent).collect();
    let lossy = single.iter().filter(|resent| **resent > 0).count();
    if single.iter().sum::<u64>() < RESENT_SINGLE_MIN || 2 * lossy < single.len() {
        return None;
    }
    let shares = DIRECTIONS
        .into_iter()
        .filter_map(|direction| Some((direction, seen.resent(Rung::Share, direction)?)));
    let (direction, share) = shares.max_by(|one, two| f64::total_cmp(&one.1, &two.1))?;
    let is_known = share > RESENT_SLOW && seen.foreign_share().is_none();
    let text = say("segments-lost.single")
        .share("share", share)
        .with("direction", direction);
    is_known.then(|| Finding::counted(text, look_for_it(seen)))
}

/// What a receiver sees of loss, where the sender's counters are out of sight: a segment that is missing makes those
/// behind it come out of order.
fn overtaken(seen: &Evidence) -> Option<Finding> {
    if seen.network.server.is_some() || seen.foreign_share().is_some() {
        return None;
    }
    let share = seen.overtaken(Rung::Share)?;
    let is_lost = seen.may_lose_in(RungName::Share, Direction::Read) && share >= OVERTAKEN;
    let seems_lost = seen.seems_to_lose_in(RungName::Share, Direction::Read)
        && limits(seen, share).unwrap_or(false);
    if !is_lost && !seems_lost {
        return None;
    }
    let text = say("segments-lost.overtaken").share("share", share);
    // Packets may have taken two paths as well.
    Some(Finding::suspected(text, Decider::Server, look_for_it(seen)))
}

/// What a receiver sees where the end of a burst is lost: nothing comes until the sender's timer is over, which is a fifth
/// of a second at least on most systems (RFC 6298 asks for a second), and then all of the line again. A server that stops
/// does so in both directions.
fn stops(seen: &Evidence) -> Option<Finding> {
    let direction = Direction::Read;
    let is_lost = seen.loses_in(RungName::Share, direction)
        && !seen.may_lose_in(RungName::Share, Direction::Write);
    if seen.network.server.is_some() || seen.is_measured(RungName::Tcp) || !is_lost {
        return None;
    }
    let ceiling = seen.ceiling(direction)?;
    let part = |sample: &Sample| sample.bytes_per_second() / ceiling;
    let trials = seen.trials.iter();
    let reads: Vec<&[Sample]> = trials
        .filter(|trial| (trial.rung, trial.direction) == (Rung::Share, direction))
        .map(|trial| trial.result.samples.as_slice())
        .collect();
    let is_stop = |one: &Sample| one.duration.get() >= STOP_NANOSECONDS && part(one) < STOPPED;
    let stopping = reads.iter().filter(|samples| samples.iter().any(is_stop));
    let going = reads.iter().filter(|samples| {
        let going = samples.iter().filter(|one| part(one) >= GOES);
        going.count() >= 2
    });
    let (stopping, going) = (stopping.count(), going.count());
    let is_timer =
        reads.len() >= TRIALS_MIN && stopping * 2 >= reads.len() && going * 4 >= reads.len() * 3;
    let text = say("segments-lost.stops");
    is_timer.then(|| Finding::suspected(text, Decider::RawTcp, look_for_it(seen)))
}

/// Whether TCP cannot fill the link with what is lost, if so many segments are out of order: over a long path very few
/// losses are enough.
fn limits(seen: &Evidence, overtaken: f64) -> Option<bool> {
    let round_trip = seen.round_trip_min()? as f64 / 1e9;
    let lost = overtaken / OVERTAKEN_BY_ONE;
    let kept = SEGMENT_BYTES / round_trip * MATHIS / lost.sqrt();
    Some(kept < seen.ceiling(Direction::Read)?)
}

/// A channel of several that loses packets while the one alone does not.
fn on_another_channel(seen: &Evidence) -> Option<Finding> {
    let trials = seen.trials.iter();
    let connections = trials
        .filter(|trial| trial.rung == Rung::Channels)
        .flat_map(|trial| trial.result.connections.iter().map(move |one| (trial, one)));
    let lossy = connections.filter_map(|(trial, one)| {
        let segments = one
            .clock
            .map_or(one.bytes.get() as f64 / SEGMENT_BYTES, |clock| {
                clock.segments as f64
            });
        let lost = match trial.direction {
            Direction::Write => one.retransmits? as f64,
            Direction::Read => one.tcp?.out_of_order? as f64,
        };
        let share = lost / segments.max(1.0);
        let limit = match trial.direction {
            Direction::Write => RESENT_OF_CHANNEL,
            Direction::Read => OVERTAKEN,
        };
        (share > limit && segments > 100.0).then_some((share, one, trial.direction))
    });
    let (share, one, direction) = lossy.max_by(|one, two| one.0.total_cmp(&two.0))?;
    let is_used = |remote| seen.used.iter().any(|pair| pair.remote == remote);
    let remote = one.remote.ip().to_canonical();
    if is_used(remote) {
        return None;
    }
    let text = say("segments-lost.channel")
        .with("remote", remote)
        .with("nic", one.nic.clone().unwrap_or_default())
        .share("share", share)
        .with("direction", direction);
    let nic = one.nic.as_deref().unwrap_or("NIC");
    Some(Finding::counted(text, advice(nic)).of_channels())
}

fn look_for_it(seen: &Evidence) -> Advice {
    let nic = seen.used.first();
    let nic = nic.map_or("NIC", |pair| pair.near.name.as_str());
    advice(nic).gains(seen.gain())
}

fn advice(nic: &str) -> Advice {
    const TEXT: Message = say("fix.lost-packets");
    Advice::new(TEXT).commands([
        format!("ethtool -S {nic}"),
        format!("ip -s link show {nic}"),
    ])
}
