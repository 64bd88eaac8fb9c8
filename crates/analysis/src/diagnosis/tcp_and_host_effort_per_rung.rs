//! What TCP and the hosts did while each rung was measured.

use record::{ConnectionUse, Direction, HostLoad, Outcome, Rung, TrialRecord, Workload};

use super::evidence::Evidence;
use super::ladder::{DIRECTIONS, RUNGS};
use crate::{HostEffort, LimitedBy, Transfer};
use fit::{BAND_DEFAULT, CONFIDENCE_DEFAULT};
use stats::median;
use stats::{Estimate, Unit};

/// Share of its busy time in which a sender must have waited for something to be limited by it.
const WAITED: f64 = 0.5;

/// The rungs whose rate is none of the path's, after those of the ladder.
const FURTHER: [Rung; 2] = [Rung::RoundTrip, Rung::SmallFiles];

/// The rungs that were measured, in their order, reads first.
pub(super) fn transfers(seen: &Evidence) -> Vec<Transfer> {
    let ways = DIRECTIONS.into_iter().flat_map(|direction| {
        let ladder = RUNGS.map(|(rung, name)| (rung, Some(name), direction));
        let further = FURTHER.map(|rung| (rung, None, direction));
        ladder.into_iter().chain(further)
    });
    ways.filter_map(|(rung, name, direction)| {
        let trials: Vec<&TrialRecord> = of(seen, rung, direction).collect();
        let last = connections(trials.last()?).first()?;
        let rate = name.and_then(|name| seen.rate(name, direction));
        let server = seen.network.server;
        let round_trips = trials
            .iter()
            .flat_map(|trial| connections(trial))
            .filter_map(|one| one.tcp.map(|tcp| tcp.round_trip_min.get()))
            .filter(|time| *time > 0);
        let round_trip = round_trips.min();
        Some(Transfer {
            rung,
            direction,
            congestion_control: congestion_controls(&trials),
            far_congestion_control: server.and_then(|host| host.tcp.congestion_control.clone()),
            round_trip_nanoseconds: round_trip,
            segment_bytes: last.tcp.map(|tcp| tcp.segment),
            window_bytes: window(last, direction),
            path_bytes: rate
                .zip(round_trip)
                .map(|(rate, time)| (rate * time as f64 / 1e9) as u64),
            retransmits: trials
                .iter()
                .flat_map(|trial| connections(trial))
                .filter_map(|one| one.retransmits)
                .reduce(u64::saturating_add),
            limited_by: limited_by(last, direction),
            hosts: efforts(&trials),
        })
    })
    .collect()
}

/// How long one small request of the share takes.
pub(super) fn request(seen: &Evidence) -> Option<Estimate> {
    let times: Vec<f64> = of(seen, Rung::RoundTrip, Direction::Read)
        .filter_map(|trial| match (&trial.outcome, &trial.workload) {
            (Outcome::Measured(result), Workload::Share(share)) => {
                Some(share.block.get() as f64 / result.bytes_per_second()?)
            }
            _ => None,
        })
        .filter(|time| time.is_finite())
        .collect();
    median(&times, BAND_DEFAULT, CONFIDENCE_DEFAULT, Unit::Seconds)
}

fn of<'a>(
    seen: &Evidence<'a>,
    rung: Rung,
    direction: Direction,
) -> impl Iterator<Item = &'a TrialRecord> {
    seen.records
        .iter()
        .filter(move |(of, trial)| *of == rung && trial.workload.direction() == direction)
        .filter(|(_, trial)| matches!(trial.outcome, Outcome::Measured(_)))
        .map(|(_, trial)| *trial)
}

fn connections(trial: &TrialRecord) -> &[ConnectionUse] {
    match &trial.outcome {
        Outcome::Measured(result) => &result.connections,
        Outcome::Failed(_) => &[],
    }
}

/// How our end sent, each name once.
fn congestion_controls(trials: &[&TrialRecord]) -> Vec<String> {
    let used = trials.iter().flat_map(|trial| connections(trial));
    let mut names: Vec<String> = Vec::new();
    for name in used.filter_map(|one| one.congestion_control.as_ref()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// What may be under way at most when we send; the far end's own window is not ours to see.
fn window(connection: &ConnectionUse, direction: Direction) -> Option<u64> {
    let tcp = connection.tcp.filter(|_| direction == Direction::Write)?;
    let far = tcp.far_window.unwrap_or(u64::MAX);
    Some(tcp.congestion_window.min(far))
}

fn limited_by(connection: &ConnectionUse, direction: Direction) -> LimitedBy {
    let Some(tcp) = connection.tcp.filter(|_| direction == Direction::Write) else {
        return LimitedBy::Unknown;
    };
    let busy = tcp.busy.get() as f64;
    if busy <= 0.0 {
        return LimitedBy::Unknown;
    }
    if tcp.receiver_limited.get() as f64 / busy > WAITED {
        LimitedBy::Receiver
    } else if tcp.sender_limited.get() as f64 / busy > WAITED {
        LimitedBy::Sender
    } else {
        LimitedBy::Network
    }
}

/// What each host had to do, the worst of its trials.
fn efforts(trials: &[&TrialRecord]) -> Vec<HostEffort> {
    let mut efforts: Vec<HostEffort> = Vec::new();
    for load in trials.iter().flat_map(|trial| &trial.loads) {
        let host = load.host.to_string();
        let known = match efforts.iter().position(|effort| effort.host == host) {
            Some(known) => known,
            None => {
                efforts.push(HostEffort {
                    host,
                    ..HostEffort::default()
                });
                efforts.len() - 1
            }
        };
        add(&mut efforts[known], load);
    }
    efforts
}

fn add(effort: &mut HostEffort, load: &HostLoad) {
    let most = |value: &dyn Fn(&record::ProcessorLoad) -> f64| {
        load.processors.iter().map(value).fold(0.0, f64::max)
    };
    effort.fullest_processor = effort.fullest_processor.max(most(&|one| one.busy));
    effort.softirq = effort.softirq.max(most(&|one| one.softirq));
    let add = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (sum, more) => sum.or(more),
    };
    effort.resent = add(effort.resent, load.resent);
    effort.dropped = add(effort.dropped, load.dropped);
    effort.pauses = add(effort.pauses, load.pauses);
    let duration = load.duration.get();
    if let Some(throttled) = load.throttled.filter(|_| duration > 0) {
        let share = throttled.get() as f64 / duration as f64;
        effort.throttled = Some(effort.throttled.unwrap_or(0.0).max(share));
    }
}
