//! A bond, or routers with several paths, that send each connection by one of several links.

use locale::say;
use record::{HostFacts, Nic, ProbeKind, Rung};

use super::{Advice, DIRECTIONS, Decider, Evidence, Finding};
use crate::RungName;
use crate::diagnosis::probe_estimates;
use crate::rung_and_probe_verdict::Loss;

/// What a port must move of all at least to be used.
const USED: f64 = 0.1;
/// How far the rate of one connection may differ that a link limits.
const STEADY: f64 = 1.12;
/// Two connections that share a link move as much as one, within this.
const SAME: std::ops::RangeInclusive<f64> = 0.9..=1.1;
/// Two that do not move this much more at least.
const MORE: f64 = 1.4;
/// Blocks of each kind that are no chance.
const BLOCKS_MIN: usize = 2;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    bond(seen)
        .or_else(|| by_chance(seen))
        .or_else(|| by_streams(seen))
        .or_else(|| by_connections(seen))
}

/// Two sessions move now as much as one and now far more: their connections take links by chance. A process at the
/// server would always gain, and a full link never.
fn by_chance(seen: &Evidence) -> Option<Finding> {
    DIRECTIONS.into_iter().find_map(|direction| {
        let blocks = probe_estimates::blocks(&seen.probes, ProbeKind::Sessions, |rung, of| {
            (rung, of) == (Rung::Share, direction)
        });
        let ratios = || blocks.iter().map(|(one, two)| two / one);
        let same = ratios().filter(|ratio| SAME.contains(ratio)).count();
        let more = ratios().filter(|ratio| *ratio > MORE).count();
        let is_steady = is_steady(blocks.iter().map(|(one, _)| *one));
        let between = blocks.len() - same - more;
        let is_chance = same.min(more) >= BLOCKS_MIN && between * 4 <= blocks.len();
        (is_chance && is_steady).then(|| {
            let text = say("flow-hash.by-chance").with("direction", direction);
            let decider = Decider::Hand("decide.flow-hash");
            Finding::suspected(text, decider, of_path(seen))
        })
    })
}

/// Several streams of raw TCP move more than one, which is steady and loses nothing: each has a limit of its own.
fn by_streams(seen: &Evidence) -> Option<Finding> {
    let streams = seen.probed(ProbeKind::Streams, Rung::Tcp)?;
    let direction = DIRECTIONS
        .into_iter()
        .find(|direction| seen.loses_in(RungName::Tcp, *direction))?;
    let is_lossy = seen.is_resent(Rung::Tcp, direction);
    let is_steady = is_steady(seen.rates(Rung::Tcp, direction).into_iter());
    let is_limit = streams.loss == Loss::Loses && is_steady && !is_lossy;
    (is_limit && seen.full_host().is_none()).then(|| {
        let text = say("flow-hash.streams")
            .with("direction", direction)
            .ratio("gain", streams.ratio.value);
        let decider = Decider::Hand("decide.flow-hash");
        Finding::suspected(text, decider, of_path(seen)).by_elimination()
    })
}

/// The same where raw TCP was not measured: two connections of one session, which one process of the server serves, gain
/// as two sessions do. On a path so short that no buffer of usual size holds a connection back, that is no process's doing.
fn by_connections(seen: &Evidence) -> Option<Finding> {
    let gains = |kind| {
        let found = seen.probed(kind, Rung::Share);
        found.filter(|found| found.loss == Loss::Loses)
    };
    let found = gains(ProbeKind::Connections)?;
    gains(ProbeKind::Sessions)?;
    let direction = DIRECTIONS
        .into_iter()
        .find(|direction| seen.loses_in(RungName::Share, *direction))?;
    let is_steady = is_steady(seen.rates(Rung::Share, direction).into_iter())
        && seen.comes_in_bursts(Rung::Share, direction) != Some(true);
    let is_lossy = seen.is_overtaken(Rung::Share);
    let is_short = seen.round_trip_min().is_some() && seen.is_short_path();
    let is_measured = seen.is_measured(RungName::Tcp);
    (is_steady && is_short && !is_lossy && !is_measured).then(|| {
        let text = say("flow-hash.connections")
            .with("direction", direction)
            .ratio("gain", found.ratio.value);
        let decider = Decider::Hand("decide.flow-hash");
        Finding::suspected(text, decider, of_path(seen)).by_elimination()
    })
}

fn is_steady(rates: impl Iterator<Item = f64>) -> bool {
    let (least, most) = rates.fold((f64::MAX, 0.0_f64), |(least, most), rate| {
        (least.min(rate), most.max(rate))
    });
    most <= least * STEADY
}

fn of_path(seen: &Evidence) -> Advice {
    Advice::of("fix.flow-hash-of-path").gains(seen.gain())
}

/// A bond of a host that sends all flows by one of its ports.
fn bond(seen: &Evidence) -> Option<Finding> {
    let pair = seen.used.first()?;
    let near = seen.network.client.map(|host| (host, pair.near));
    let far = seen.network.server.zip(pair.far_nic());
    let (host, bond) = [near, far].into_iter().flatten().find(|(host, nic)| {
        let is_bond = matches!(nic.kind.as_deref(), Some("bond" | "team"));
        is_bond && ports(host, nic).count() > 1
    })?;
    let several = seen.trials.iter();
    let mut several = several
        .filter(|trial| matches!(trial.rung, Rung::Streams | Rung::Channels))
        .filter(|trial| trial.result.connections.len() > 1)
        .peekable();
    several.peek()?;
    let is_on_one = several.all(|trial| {
        let loads = trial.record.loads.iter();
        let loads = loads.filter(|load| load.host == host.name);
        let moved: Vec<u64> = loads
            .flat_map(|load| &load.nics)
            .filter(|load| ports(host, bond).any(|port| port.name == load.nic))
            .map(|load| load.received.get().max(load.sent.get()))
            .collect();
        let all: u64 = moved.iter().sum();
        let used = moved.iter().filter(|one| **one as f64 > all as f64 * USED);
        all > 0 && used.count() == 1
    });
    if !is_on_one {
        return None;
    }
    let text = say("flow-hash")
        .with("nic", &bond.name)
        .with("host", &host.name);
    let advice = Advice::new(say("fix.flow-hash").with("nic", &bond.name));
    let streams = seen.probed(ProbeKind::Streams, Rung::Tcp).map(|it| it.loss);
    let found = match streams {
        Some(Loss::Loses) => Finding::suspected(text, Decider::Tune, advice),
        _ => Finding::counted(text, advice),
    };
    Some(found.off_path())
}

fn ports<'a>(host: &'a HostFacts, nic: &'a Nic) -> impl Iterator<Item = &'a Nic> {
    let nics = host.nics.iter();
    nics.filter(|port| port.port_of.as_ref() == Some(&nic.name))
}
