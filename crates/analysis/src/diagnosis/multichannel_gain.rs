//! What several channels of the share carried at once, and what they gain over one.
//!
//! What each carried is counted while all of them were in use. What there would be without one of
//! them is not measured, but for all against the first alone.

use std::net::IpAddr;

use locale::say;
use record::{ConnectionUse, Direction, Rung, Workload};

use super::evidence::Evidence;
use super::ladder::{DIRECTIONS, of_several};
use super::ladder_and_probe_trials::{Measured, bytes_of, rate_of};
use super::nic_pairs::{has_no_line, is_only_advertised};
use crate::rung_and_probe_verdict::MATTERS;
use crate::{Alone, ChannelUse, Multichannel};
use fit::{BAND_DEFAULT, CONFIDENCE_DEFAULT};
use stats::{Estimate, Unit, Verdict};
use stats::{median, quotient};

/// Both directions, as far as several channels were measured.
pub(super) fn carried(seen: &Evidence) -> Vec<Multichannel> {
    let ways = DIRECTIONS.into_iter();
    ways.filter_map(|direction| one_way(seen, direction))
        .collect()
}

fn one_way(seen: &Evidence, direction: Direction) -> Option<Multichannel> {
    let (trials, left_out) = comparable(seen, direction);
    let rates: Vec<f64> = trials.iter().map(|trial| trial.rate).collect();
    let mut rate = estimate(&rates, Unit::BytesPerSecond)?;
    if left_out > 0 {
        rate.caveats
            .push(say("fewer-channels").count("count", left_out));
    }
    Some(Multichannel {
        direction,
        alone: alone(seen, direction, &rate),
        rate,
        channels: channels(seen, &trials),
    })
}

/// The trials with as many channels as came up at most, and how many others there are.
fn comparable<'s, 'a>(
    seen: &'s Evidence<'a>,
    direction: Direction,
) -> (Vec<&'s Measured<'a>>, usize) {
    let of_rung = |trial: &&Measured| trial.rung == Rung::Channels && trial.direction == direction;
    let all: Vec<&Measured> = seen.trials.iter().filter(of_rung).collect();
    let count = |trial: &Measured| trial.result.connections.len();
    // More than were wanted are those that came up again.
    let whole = |trial: &&&Measured| match trial.workload {
        Workload::Share(share) => (2..=share.channels as usize).contains(&count(trial)),
        _ => false,
    };
    let most = all.iter().filter(whole).map(|trial| count(trial)).max();
    let is_counted = |trial: &&&Measured| Some(count(trial)) == most;
    let trials: Vec<&Measured> = all.iter().filter(is_counted).copied().collect();
    let left_out = all.len() - trials.len();
    (trials, left_out)
}

fn estimate(values: &[f64], unit: Unit) -> Option<Estimate> {
    median(values, BAND_DEFAULT, CONFIDENCE_DEFAULT, unit)
}

/// Which channel: between these two, the first or one beside it.
type Way = (IpAddr, IpAddr, usize);

/// The connections of a trial, each with what tells it from the others in every trial.
fn ways<'a>(trial: &Measured<'a>) -> Vec<(Way, &'a ConnectionUse)> {
    let mut ways: Vec<(Way, &ConnectionUse)> = Vec::new();
    for used in &trial.result.connections {
        let ends = (
            used.local.ip().to_canonical(),
            used.remote.ip().to_canonical(),
        );
        let before = ways
            .iter()
            .filter(|((near, far, _), _)| (*near, *far) == ends);
        let number = before.count() + 1;
        ways.push(((ends.0, ends.1, number), used));
    }
    ways
}

fn channels(seen: &Evidence, trials: &[&Measured]) -> Vec<ChannelUse> {
    let of_trials: Vec<_> = trials.iter().map(|trial| ways(trial)).collect();
    let mut known: Vec<(Way, &ConnectionUse)> = Vec::new();
    for way in of_trials.iter().flatten() {
        if !known.iter().any(|(known, _)| *known == way.0) {
            known.push(*way);
        }
    }
    let channels = known.into_iter().filter_map(|(way, used)| {
        let mut shares = Vec::new();
        let mut rates = Vec::new();
        for (trial, ways) in trials.iter().zip(&of_trials) {
            let all: f64 = ways.iter().map(|(_, used)| bytes_of(used)).sum();
            if let Some((_, used)) = ways.iter().find(|(other, _)| *other == way) {
                shares.push(bytes_of(used) / all);
                rates.push(bytes_of(used) / all * trial.rate);
            }
        }
        Some(ChannelUse {
            nic: used.nic.clone(),
            address: way.1,
            number: way.2,
            rate: estimate(&rates, Unit::BytesPerSecond)?,
            share: estimate(&shares, Unit::Ratio)?,
            of_line: of_line(seen, trials, used),
        })
    });
    channels.collect()
}

/// What was carried over a channel's two NICs, as a share of what fits through these.
fn of_line(seen: &Evidence, trials: &[&Measured], used: &ConnectionUse) -> Option<Estimate> {
    let pair = seen.network.pair(used).ok()?;
    let far_has_no_line = pair.far_nic().is_some_and(has_no_line);
    let mut others = trials.iter().flat_map(|trial| &trial.pairs);
    if has_no_line(pair.near) || far_has_no_line || others.any(|other| other.shares_an_end(&pair)) {
        return None;
    }
    let direction = trials.first()?.direction;
    let fits = of_several(&seen.network).ceiling(direction, &[vec![pair]], None)?;
    let fits = Some(fits.rate).filter(|fits| !is_only_advertised(fits))?;
    let bits = trials.iter().map(|trial| trial.carried(&pair));
    let rates: Vec<f64> = bits.map(|bits| bits.unwrap_or(0.0) / 8.0).collect();
    quotient(&estimate(&rates, Unit::BytesPerSecond)?, &fits)
}

/// The rung of one channel, against all of them.
fn alone(seen: &Evidence, direction: Direction, all: &Estimate) -> Option<Alone> {
    let one = |trial: &&Measured| trial.rung == Rung::Share && trial.direction == direction;
    let last = seen.trials.iter().rfind(one)?.result.connections.first()?;
    let rate = rate_of(&seen.trials, Rung::Share, direction)?;
    let gain = quotient(all, &rate)?;
    Some(Alone {
        nic: last.nic.clone(),
        address: last.remote.ip().to_canonical(),
        verdict: judged(&gain),
        gain,
        rate,
    })
}

/// As the ladder judges one rung by another: by the interval alone.
fn judged(gain: &Estimate) -> Verdict {
    match gain.interval {
        Some([low, _]) if low > MATTERS => Verdict::Better,
        Some([_, high]) if high < 1.0 / MATTERS => Verdict::Worse,
        Some([low, high]) if low >= 1.0 / MATTERS && high <= MATTERS => Verdict::Equivalent,
        _ => Verdict::Undecided,
    }
}
