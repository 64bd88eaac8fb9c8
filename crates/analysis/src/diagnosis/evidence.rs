//! What is known of a run, built once from facts, look and trials; causes and plans read it and change nothing.

mod host_load;
mod interventions;
mod line_rate_match;
mod nics;
mod system_client;
mod tcp;
mod which_rung_loses;

use std::net::IpAddr;
pub use system_client::mount_with_cache;

use host_load::is_of_one;
use locale::say;
use record::{
    Direction, Failure, HostFacts, HostName, MtuProof, Nic, Outcome, PathFacts, ProbeKind, Rung,
    Setting, ShareAddress, ShareWorkload, SmbSession, TrialRecord, TrialResult, Value, Workload,
};

use super::ladder::{
    ABOVE_CEILING, DIRECTIONS, ceilings, is_beyond_one_port, is_far_beyond, rungs,
};
use super::ladder_and_probe_trials::{
    self, FOREIGN_SHARE, Measured, ProbeTrial, above_advertised, measured, of_ladder, probes,
};
use super::nic_pairs::{Network, Pair, Ports, has_no_line, is_only_advertised};
use super::probe_estimates;
use crate::rung_and_probe_verdict::{Loss, MATTERS, Sequential};
use crate::{Ceiling, LadderRung, RungName};
use stats::computed;
use stats::{Estimate, Unit};

pub(super) use line_rate_match::NETWORK;
pub(super) use nics::{PairRate, ReturnPath};

/// Share of one processor at which a channel's thread is as good as saturated.
const BUSY_CHANNEL: f64 = 0.9;
/// The relative standard deviation of a rate within a trial that comes in bursts: a link or a hop that is full has 0.03, a
/// server that stops thirty times a second 0.12.
const BURSTS: f64 = 0.1;
/// Samples of a trial of which that can be said.
const SAMPLES_MIN: usize = 5;
/// A share of the ceiling from which a link is filled.
const FULL: f64 = 1.0 / MATTERS;

/// Everything that causes, plans and answers are made from. Losses of the rungs, NICs, TCP, how busy the hosts were, and
/// what the interventions and the mount say: `which_rung_loses`, `line_rate_match`, `nics`, `tcp`, `host_load`,
/// `interventions`, `system_client`.
pub(super) struct Evidence<'a> {
    pub(super) network: Network<'a>,
    pub(super) session: Option<&'a SmbSession>,
    pub(super) share: Option<&'a ShareWorkload>,
    pub(super) trials: Vec<Measured<'a>>,
    pub(super) probes: Vec<ProbeTrial>,
    pub(super) ceilings: Vec<(Direction, Ceiling)>,
    pub(super) rungs: Vec<LadderRung>,
    /// The pairs that the share's trials used, or those of raw TCP where there are none.
    pub(super) used: Vec<Pair<'a>>,
    /// The pairs that could be used at once.
    pub(super) usable: Vec<Pair<'a>>,
    /// What the path looked like before.
    pub(super) path: Option<&'a PathFacts>,
    /// The ladder's trials as they stand in the file, measured or not.
    pub(super) records: Vec<(Rung, &'a TrialRecord)>,
}

impl<'a> Evidence<'a> {
    /// Reads a run: facts of the client and, where it was looked at, of the server.
    pub(super) fn new(
        facts: &'a [HostFacts],
        path: Option<&'a PathFacts>,
        trials: &[&'a TrialRecord],
    ) -> Self {
        let records = of_ladder(trials);
        let session = session_of(&records).or_else(|| path?.session.as_ref());
        let network = Network {
            client: facts.first(),
            server: facts.get(1),
            advertised: session.map_or(&[], |session| &session.server_interfaces),
            believed: false,
            ports: Ports::OfOne,
            shapers_are_lines: true,
        };
        let mut unknown = None;
        let trials_of_ladder = measured(&network, &records, &mut unknown);
        let network = corrected_by_trials(network, &trials_of_ladder);
        let ceilings = ceilings(&network, &trials_of_ladder);
        let rungs = rungs(&network, &records, &trials_of_ladder, &ceilings, unknown);
        let used = used(&trials_of_ladder);
        Self {
            usable: network.usable_pairs(&used),
            network,
            session,
            share: share_of(&records),
            trials: trials_of_ladder,
            probes: probes(&network, trials),
            ceilings,
            rungs,
            used,
            path,
            records,
        }
    }

    pub(super) fn rung(&self, rung: RungName, direction: Direction) -> Option<&LadderRung> {
        let mut rungs = self.rungs.iter();
        rungs.find(|found| found.rung == rung && found.direction == direction)
    }

    pub(super) fn rate(&self, rung: RungName, direction: Direction) -> Option<f64> {
        let rung = self.rung(rung, direction)?;
        rung.rate.as_ref().map(|rate| rate.value)
    }

    /// Payload that is believed to fit through the path.
    pub(super) fn ceiling(&self, direction: Direction) -> Option<f64> {
        let rung = self.rung(RungName::Ceiling, direction)?;
        let rate = rung
            .rate
            .as_ref()
            .filter(|rate| !is_only_advertised(rate))?;
        Some(rate.value)
    }

    /// The share as it is called by another address of its server.
    pub(super) fn share_at(&self, remote: IpAddr) -> Option<ShareAddress> {
        let share = self.share.map(|workload| workload.share.clone())?;
        Some(ShareAddress {
            server: remote.to_string(),
            ..share
        })
    }

    /// What the share could gain if it reached the ceiling, or raw TCP, in the direction that gains more; or several
    /// channels what all their links carry.
    pub(super) fn gain(&self) -> Option<Estimate> {
        if self.share_that_loses().1 == RungName::Channels {
            let left = self.first_loss()?.of_above.as_ref()?.value;
            let caveat = say("gain-caveat.at-most");
            return Some(computed(1.0 / left, Unit::Ratio, vec![caveat]));
        }
        let ratios = DIRECTIONS.into_iter().filter_map(|direction| {
            let tcp = || self.rate(RungName::Tcp, direction);
            let whole = self.ceiling(direction).or_else(tcp)?;
            Some(whole / self.rate(RungName::Share, direction)?)
        });
        let most = ratios
            .filter(|ratio| ratio.is_finite())
            .max_by(f64::total_cmp)?;
        let caveat = say("gain-caveat.at-most");
        (most > 1.0).then(|| computed(most, Unit::Ratio, vec![caveat]))
    }

    /// What an intervention changed of a rung, in the direction in which it did most.
    pub(super) fn probed(&self, kind: ProbeKind, rung: Rung) -> Option<Sequential> {
        let found = DIRECTIONS
            .into_iter()
            .filter_map(|direction| self.probed_in(kind, rung, direction));
        found.max_by(|one, two| one.ratio.value.total_cmp(&two.ratio.value))
    }

    /// The same of our own session, where that loses: over one channel or over several.
    pub(super) fn probed_of_share(&self, kind: ProbeKind) -> Option<Sequential> {
        self.probed(kind, self.share_that_loses().0)
    }

    /// What an intervention changed of a rung in one direction.
    pub(super) fn probed_in(
        &self,
        kind: ProbeKind,
        rung: Rung,
        direction: Direction,
    ) -> Option<Sequential> {
        probe_estimates::estimate(&self.probes, kind, |at, towards| {
            (at, towards) == (rung, direction)
        })
    }

    /// The most that others moved of what passed a NIC in use, as the median of a direction's trials, and that NIC; none
    /// where it is no more than a fair trial allows.
    pub(super) fn foreign_share(&self) -> Option<(f64, &'a Nic)> {
        let pair = self.used.first()?;
        let ends = [Some(pair.near), pair.far_nic()];
        let of = |end: usize, direction| {
            let trials = self.trials.iter();
            let steady =
                trials.filter(|trial| is_of_one(trial.rung) && trial.direction == direction);
            // The median, so that one trial with a hiccup of its counters is no traffic.
            median_of(steady.filter_map(|trial| trial.foreign[end]))
        };
        let found = ends.into_iter().enumerate().flat_map(|(end, nic)| {
            let shares = DIRECTIONS
                .into_iter()
                .filter_map(move |direction| of(end, direction));
            shares.filter_map(move |share| Some((share, nic?)))
        });
        let most = found.max_by(|one, two| one.0.total_cmp(&two.0))?;
        (most.0 > FOREIGN_SHARE).then_some(most)
    }

    /// The part of a processor that each channel's thread of ours took where the share may lose, if that is nearly all.
    pub(super) fn busy_channel(&self) -> Option<f64> {
        let (rung, name) = self.share_that_loses();
        let is_slow = |direction| match name {
            RungName::Channels => self.loses_in(name, direction),
            _ => !self.fills_in(direction),
        };
        let trials = self
            .trials
            .iter()
            .filter(|trial| trial.rung == rung && is_slow(trial.direction));
        let busiest = trials
            .map(|trial| {
                let channels = match trial.workload {
                    Workload::Share(share) => f64::from(share.channels.max(1)),
                    _ => 1.0,
                };
                let by_clock = trial.result.engine.filter(|clock| clock.total.get() > 0);
                match by_clock {
                    Some(clock) => clock.processor.get() as f64 / clock.total.get() as f64,
                    None => {
                        let duration = trial.result.duration().get() as f64;
                        trial.result.cpu().get() as f64 / duration / channels
                    }
                }
            })
            .max_by(f64::total_cmp)?;
        (busiest > BUSY_CHANNEL).then_some(busiest)
    }

    /// Part of the counted time in which our engine had work and the server had granted no credits for it.
    pub(super) fn engine_waited_for_credits(&self) -> Option<f64> {
        let trials = self.trials.iter().filter(|trial| trial.rung == Rung::Share);
        let shares = trials.filter_map(|trial| {
            let clock = trial.result.engine?;
            let total = clock.total.get();
            (total > 0).then(|| clock.credits.get() as f64 / total as f64)
        });
        median_of(shares)
    }

    /// Whether what the share has less than its network is the share's own: raw TCP moves more, or else both
    /// ends say the rates of their lines and no more than a switch is between them.
    pub(super) fn network_is_known(&self) -> bool {
        let tcp = |direction| self.rate(RungName::Tcp, direction).is_some();
        let share = |direction| self.rate(RungName::Share, direction).is_some();
        let mut directions = DIRECTIONS.into_iter();
        let by_tcp = DIRECTIONS.into_iter().any(tcp)
            && directions.all(|direction| tcp(direction) || !share(direction));
        let by_floor = DIRECTIONS.into_iter().all(|direction| {
            !self.may_lose_in(RungName::Share, direction) || self.network_carries_all(direction)
        });
        by_tcp || by_floor || self.is_plain_path()
    }

    fn is_plain_path(&self) -> bool {
        let is_plain = |pair: &Pair| {
            let [near, far] = self.network.end_bits(pair);
            let far = far.or_else(|| self.network.advertised_bits(pair));
            let has_lines = !has_no_line(pair.near) && !pair.far_nic().is_some_and(has_no_line);
            let is_routed = self.is_routed(pair.near, pair.remote);
            near.is_some() && far.is_some() && has_lines && !is_routed
        };
        !self.used.is_empty() && self.used.iter().all(is_plain)
    }

    /// A session that could have several channels, with a server that lists no interface.
    pub(super) fn offers_one_channel(&self) -> bool {
        let session = self.session;
        session.is_some_and(|it| it.dialect.starts_with("3.") && it.server_interfaces.is_empty())
    }

    /// Links that could be used at once and are not. A mount has connections of its own, which are not seen: its rung
    /// shows whether they suffice.
    pub(super) fn idle_links(&self) -> usize {
        match self.is_measured(RungName::SystemClient) {
            true => 0,
            false => self.usable.len().saturating_sub(self.used.len()),
        }
    }

    /// Whether more was measured than fits through NICs whose rates are believed.
    pub(super) fn above_ceiling(&self) -> Option<&LadderRung> {
        let mut rungs = self.rungs.iter();
        rungs.find(|rung| {
            matches!(rung.rung, RungName::Tcp | RungName::Share)
                && rung.of_ceiling.as_ref().is_some_and(|share| {
                    share.interval.map_or(share.value, |[low, _]| low) > ABOVE_CEILING
                })
        })
    }

    /// Whether every rung is measured and proven to lose nothing.
    pub(super) fn is_complete(&self) -> bool {
        let of = |name: RungName| {
            let rungs = self.rungs.iter();
            rungs
                .filter(move |rung| rung.rung == name)
                .collect::<Vec<_>>()
        };
        let is_well =
            |rung: &&LadderRung| rung.rate.is_none() || rung.loss == Some(Loss::DoesNotLose);
        let share = of(RungName::Share);
        let measured = |rung: &&LadderRung| rung.rate.is_some();
        // What fills the ceiling needs no raw TCP.
        let fills = |rung: &&LadderRung| {
            rung.of_ceiling.as_ref().is_some_and(|share| {
                share.interval.map_or(share.value, |[low, _]| low) >= FULL
                    && self.ceiling(rung.direction).is_some()
            })
        };
        let tcp = of(RungName::Tcp);
        let tcp_is_known = tcp.iter().all(measured) || share.iter().all(fills);
        !self.trials.is_empty()
            && tcp_is_known
            && tcp.iter().all(is_well)
            && share.iter().all(is_well)
            && of(RungName::SystemClient).iter().all(is_well)
            && !self.loses(RungName::Channels)
            && !self.seems_to_lose(RungName::Channels)
            && share.iter().any(measured)
            && self.is_measured_as_asked()
            && self.above_ceiling().is_none()
    }

    /// Whether the share, and its mount, have a rate in each direction that was tried.
    fn is_measured_as_asked(&self) -> bool {
        let rungs = [
            (Rung::Share, RungName::Share),
            (Rung::SystemClient, RungName::SystemClient),
        ];
        let is_measured = |rung: Rung, name: RungName, direction: Direction| {
            let tried = self
                .records
                .iter()
                .any(|(of, trial)| *of == rung && trial.workload.direction() == direction);
            !tried || self.rate(name, direction).is_some()
        };
        DIRECTIONS.into_iter().all(|direction| {
            rungs
                .iter()
                .all(|(rung, name)| is_measured(*rung, *name, direction))
        })
    }

    fn failures(&self, rung: Rung) -> impl Iterator<Item = &'a Failure> {
        let records = self.records.iter().filter(move |(of, _)| *of == rung);
        records.filter_map(|(_, trial)| match &trial.outcome {
            Outcome::Failed(failure) => Some(failure),
            Outcome::Measured(_) => None,
        })
    }

    /// Whether the share could not be measured because it was refused, and not because nothing came.
    pub(super) fn is_kept_out(&self) -> bool {
        let mut failures = self.failures(Rung::Share);
        failures.any(|failure| failure.kind == record::FailureKind::Refused)
    }

    /// Whether the share is in its server's memory, so that no disk of it can be slow.
    pub(super) fn is_in_memory(&self) -> bool {
        let in_memory = |failure: &Failure| {
            let mut chain = failure.chain.iter();
            chain.any(|text| text.starts_with(record::SHARE_IN_MEMORY))
        };
        self.failures(Rung::Disk).any(in_memory)
    }

    /// The measured trials of a rung as they stand in the file.
    pub(super) fn of_rung(
        &self,
        rung: Rung,
    ) -> impl Iterator<Item = (&'a TrialRecord, &'a TrialResult)> {
        let records = self.records.iter().filter(move |(of, _)| *of == rung);
        records.filter_map(|(_, trial)| match &trial.outcome {
            Outcome::Measured(result) => Some((*trial, &**result)),
            Outcome::Failed(_) => None,
        })
    }

    /// The proof for the pair that the share uses.
    pub(super) fn used_proof(&self) -> Option<&'a MtuProof> {
        self.path?.mtus.first()
    }

    /// The values of a setting of a host, each with where it is set.
    pub(super) fn settings(
        &self,
        host: &'a HostName,
        id: &'a str,
    ) -> impl Iterator<Item = (&'a record::Target, &'a Value)> {
        let settings = self.path.into_iter().flat_map(|path| &path.settings);
        settings.filter_map(move |setting| match setting {
            Setting::Knob {
                host: of,
                target,
                id: knob,
                value,
            } if of == host && knob.as_str() == id => Some((target, value)),
            _ => None,
        })
    }

    /// Whether a switch of a host is off.
    pub(super) fn is_off(&self, host: &'a HostFacts, switch: &'a str) -> bool {
        let mut values = self.settings(&host.name, switch);
        values.any(|(_, value)| *value == Value::Switch(false))
    }

    /// The rates of a rung's trials.
    pub(super) fn rates(&self, rung: Rung, direction: Direction) -> Vec<f64> {
        let trials = self.trials.iter();
        trials
            .filter(|trial| trial.rung == rung && trial.direction == direction)
            .map(|trial| trial.rate)
            .collect()
    }

    /// Whether the rate varies within trials as that of a processor which has others to serve, or of a server that stops for
    /// moments, and more than that of a link or hop which is full; none where trials have too few samples to say so.
    pub(super) fn comes_in_bursts(&self, rung: Rung, direction: Direction) -> Option<bool> {
        let trials = self.trials.iter();
        let trials = trials.filter(|trial| (trial.rung, trial.direction) == (rung, direction));
        let variation = median_of(trials.filter_map(|trial| {
            let rates: Vec<f64> = ladder_and_probe_trials::parts(trial.result).collect();
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            let squares: f64 = rates.iter().map(|rate| (rate / mean - 1.0).powi(2)).sum();
            (rates.len() >= SAMPLES_MIN).then(|| (squares / rates.len() as f64).sqrt())
        }));
        variation.map(|variation| variation > BURSTS)
    }
}

/// What the last trial agreed on with the server.
fn session_of<'a>(records: &[(Rung, &'a TrialRecord)]) -> Option<&'a SmbSession> {
    records.iter().rev().find_map(|(_, trial)| {
        let Outcome::Measured(result) = &trial.outcome else {
            return None;
        };
        result.session.as_ref()
    })
}

/// What several channels or small requests did is another workload; the rungs of a round stand in any order.
fn share_of<'a>(records: &[(Rung, &'a TrialRecord)]) -> Option<&'a ShareWorkload> {
    records
        .iter()
        .find_map(|(rung, trial)| match &trial.workload {
            Workload::Share(share) if *rung == Rung::Share => Some(share),
            _ => None,
        })
}

/// A network without what the trials refute: a rate that one of them exceeds is not believed.
fn corrected_by_trials<'a>(network: Network<'a>, trials: &[Measured<'a>]) -> Network<'a> {
    let one_way = Network {
        shapers_are_lines: false,
        ..network
    };
    let mut all = trials.iter();
    let is_one_way =
        all.any(|trial| is_far_beyond(&network, trial) && !is_far_beyond(&one_way, trial));
    let network = if is_one_way { one_way } else { network };
    let mut all = trials.iter();
    let believed = all.all(|trial| above_advertised(&network, trial).is_none());
    let mut all = trials.iter();
    let ports = match all.any(|trial| is_beyond_one_port(&network, trial)) {
        true => Ports::Unknown,
        false => Ports::OfOne,
    };
    Network {
        believed,
        ports,
        ..network
    }
}

/// The pairs that the share's trials used, or those of raw TCP where there are none.
fn used<'a>(trials: &[Measured<'a>]) -> Vec<Pair<'a>> {
    for rung in [Rung::Share, Rung::Tcp] {
        let mut used: Vec<Pair> = Vec::new();
        let of_rung = trials.iter().filter(|trial| trial.rung == rung);
        for pair in of_rung.flat_map(|trial| &trial.pairs) {
            if !used.contains(pair) {
                used.push(*pair);
            }
        }
        if !used.is_empty() {
            return used;
        }
    }
    Vec::new()
}

pub(super) fn median_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
