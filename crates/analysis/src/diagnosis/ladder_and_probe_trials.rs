//! The trials of a check, measured or not: those of the ladder, and those of probes.

use locale::Message;
use record::{
    ConnectionUse, Direction, HostFacts, Nic, Outcome, ProbeKind, Rung, Sample, ServerInterface,
    Stage, TrialRecord, TrialResult, Workload,
};

use super::nic_pairs::{Network, Pair};
use crate::phase_effects::rate;
use fit::{BAND_DEFAULT, CONFIDENCE_DEFAULT};
use stats::Estimate;
use stats::Unit;
use stats::median;

/// More than this over what a server tells of its NIC is no noise of the clock.
const ABOVE_ADVERTISED: f64 = 1.1;
/// The same where a trial used several: what each moved is known of its connections' whole life only.
const ABOVE_ADVERTISED_OF_SEVERAL: f64 = 1.25;
/// Bytes of other programs on a NIC, as a share of all, from which a trial is no fair one. Headers are among them.
pub(super) const FOREIGN_SHARE: f64 = 0.1;
/// What frames of Ethernet are at most for each byte of payload that TCP moves in full segments at MTU 1500, with what
/// answers and requests of SMB take.
const WITH_HEADERS: f64 = 1.07;
/// The same from which a block is dropped where most are better.
pub(super) const SPOILS: f64 = 0.02;
/// Part of a processor's time that a hypervisor takes, likewise.
const STOLEN: f64 = 0.05;
/// Payload of a segment where the MTU is not known.
const SEGMENT_BYTES: f64 = 1448.0;
/// The largest IP packet.
const PACKET_BYTES_MAX: u32 = 65_535;

/// A measured trial of the ladder.
pub(super) struct Measured<'a> {
    pub(super) rung: Rung,
    /// The round, from 0: what is measured in one is compared.
    pub(super) repetition: u32,
    pub(super) direction: Direction,
    pub(super) workload: &'a Workload,
    pub(super) result: &'a TrialResult,
    pub(super) record: &'a TrialRecord,
    pub(super) rate: f64,
    /// The NIC pairs it used, each once.
    pub(super) pairs: Vec<Pair<'a>>,
    /// What each of them carried of the rate.
    shares: Vec<f64>,
    /// Bytes of others on the NICs in use, ours and the server's, as shares of all; none where that was not counted.
    pub(super) foreign: [Option<f64>; 2],
    /// Whether it is no fair measurement, by a counter.
    pub(super) is_spoiled: bool,
}

/// An arm of a probe, or its control.
pub(super) struct ProbeTrial {
    pub(super) rung: Rung,
    pub(super) direction: Direction,
    /// Arms are compared within one block only.
    pub(super) block: u32,
    /// What it changes; none for the control.
    pub(super) changed: Option<ProbeKind>,
    /// Bytes per second; none where it failed.
    pub(super) rate: Option<f64>,
    /// Whether it is no fair measurement, by a counter.
    pub(super) is_spoiled: bool,
}

/// What others moved on a NIC beside a trial.
pub(super) struct Others<'a> {
    pub(super) nic: &'a Nic,
    /// A pair of NICs that it is one of.
    pub(super) pair: Pair<'a>,
    /// Their part of all that passed it, between 0 and 1.
    pub(super) share: f64,
    /// Their payload and ours, in bytes per second.
    pub(super) rate: f64,
    pub(super) ours: f64,
}

impl<'a> Measured<'a> {
    /// What a pair carried, in bits of payload per second.
    pub(super) fn carried(&self, pair: &Pair) -> Option<f64> {
        let index = self.pairs.iter().position(|used| used == pair)?;
        Some(self.rate * 8.0 * self.shares.get(index)?)
    }

    /// What others moved in the trial's direction on each NIC in use at an end, the client's being the first; nothing
    /// where that was not counted.
    pub(super) fn others_at(&self, end: usize, host: &HostFacts) -> Vec<Others<'a>> {
        let mut loads = self.record.loads.iter();
        let load = loads.find(|load| load.host == host.name && load.duration.get() > 0);
        let Some((load, ours)) = load.zip(own_bytes(self.direction, self.result)) else {
            return Vec::new();
        };
        let receives = (end == 0) == (self.direction == Direction::Read);
        let seconds = load.duration.get() as f64 / 1e9;
        let nic_of = |pair: &Pair<'a>| match end {
            0 => Some(pair.near),
            _ => pair.far_nic(),
        };
        let mut found: Vec<Others<'a>> = Vec::new();
        for pair in &self.pairs {
            let Some(nic) = nic_of(pair) else { continue };
            let counted = load.nics.iter().find(|it| it.nic == nic.name);
            let is_new = found.iter().all(|known| known.nic.index != nic.index);
            let Some(counted) = counted.filter(|_| is_new) else {
                continue;
            };
            let all = match receives {
                true => counted.received,
                false => counted.sent,
            };
            let all = all.get() as f64;
            let pairs = self.pairs.iter().zip(&self.shares);
            let own = pairs.filter(|(it, _)| nic_of(it).is_some_and(|it| it.index == nic.index));
            let own: f64 = own.map(|(_, share)| share).sum();
            let beside = (all - ours * own * WITH_HEADERS).max(0.0);
            found.push(Others {
                nic,
                pair: *pair,
                share: if all > 0.0 { beside / all } else { 0.0 },
                rate: beside / WITH_HEADERS / seconds,
                ours: self.rate * own,
            });
        }
        found
    }

    /// Payload of a segment, in bytes.
    pub(super) fn segment_bytes(&self) -> f64 {
        self.pairs.first().map_or(SEGMENT_BYTES, |pair| {
            f64::from(pair.mtu().min(PACKET_BYTES_MAX).saturating_sub(52).max(1))
        })
    }

    /// What the trial's own connections sent again in their whole life, where all of them tell.
    pub(super) fn resent(&self) -> Option<u64> {
        let connections = &self.result.connections;
        let resent = connections.iter().map(|one| one.retransmits);
        let sum = resent.sum::<Option<u64>>();
        sum.filter(|_| !connections.is_empty())
    }
}

/// Bytes of others on the NICs of both ends that a trial used, as shares of all that these moved in its direction; none
/// where that was not counted. A NIC counts a warm-up and a file that is written to be read as well: so does what TCP
/// counts of our connections in their whole life. Which of two NICs a connection takes its addresses do not always tell, so
/// that the sums are compared.
fn foreign(network: &Network, record: &TrialRecord, result: &TrialResult) -> [Option<f64>; 2] {
    let none = [None, None];
    let direction = record.workload.direction();
    let pairs = moving(result).map(|one| network.pair(one).ok());
    let pairs: Option<Vec<Pair>> = pairs.collect();
    let Some((ours, pairs)) = own_bytes(direction, result).zip(pairs) else {
        return none;
    };
    let near: Option<Vec<&Nic>> = pairs.iter().map(|pair| Some(pair.near)).collect();
    let far: Option<Vec<&Nic>> = pairs.iter().map(Pair::far_nic).collect();
    let of_others = |host: Option<&HostFacts>, nics: Option<Vec<&Nic>>, receives: bool| {
        let (host, mut nics) = host.zip(nics)?;
        nics.sort_by_key(|nic| nic.index);
        nics.dedup_by_key(|nic| nic.index);
        let mut loads = record.loads.iter();
        let load = loads.find(|load| load.host == host.name)?;
        let moved = nics.into_iter().map(|nic| {
            let load = load.nics.iter().find(|it| it.nic == nic.name)?;
            Some(if receives { load.received } else { load.sent }.get() as f64)
        });
        let all = moved.sum::<Option<f64>>()?;
        (all > 0.0).then(|| (1.0 - ours * WITH_HEADERS / all).max(0.0))
    };
    [
        of_others(network.client, near, direction == Direction::Read),
        of_others(network.server, far, direction == Direction::Write),
    ]
}

fn moving(result: &TrialResult) -> impl Iterator<Item = &ConnectionUse> {
    result.connections.iter().filter(|one| one.bytes.get() > 0)
}

/// What TCP counts of a trial's connections in their whole life, and what they sent again, in bytes of payload; none where
/// it does not tell.
fn own_bytes(direction: Direction, result: &TrialResult) -> Option<f64> {
    let ours = moving(result).map(|one| {
        let tcp = one.tcp?;
        let payload = match direction {
            Direction::Read => tcp.received?,
            Direction::Write => tcp.sent?,
        };
        let again = one.retransmits.unwrap_or(0) as f64 * f64::from(tcp.segment);
        Some(payload.get() as f64 + again)
    });
    ours.sum()
}

/// Whether a counter says that a trial was no fair one: others used NICs of ours, or the hypervisor took a processor.
fn is_spoiled([foreign, _]: [Option<f64>; 2], record: &TrialRecord) -> bool {
    let loads = record.loads.iter().flat_map(|load| &load.processors);
    let stolen = loads.map(|processor| processor.steal).fold(0.0, f64::max);
    foreign.is_some_and(|share| share > SPOILS) || stolen > STOLEN
}

/// The pairs of rates of blocks that were measured fairly. Where most were not, that is how this path is, and all count.
pub(super) fn fair(blocks: &[(bool, (f64, f64))]) -> Vec<(f64, f64)> {
    let fair = || blocks.iter().filter(|(is_spoiled, _)| !is_spoiled);
    let is_usual = fair().count() * 2 <= blocks.len();
    let wanted = blocks.iter().filter(|(spoiled, _)| is_usual || !spoiled);
    wanted.map(|(_, rates)| *rates).collect()
}

/// The ladder's trials of a run.
pub(super) fn of_ladder<'a>(trials: &[&'a TrialRecord]) -> Vec<(Rung, &'a TrialRecord)> {
    let trials = trials.iter().filter_map(|trial| match trial.stage {
        Stage::Ladder { rung, .. } => Some((rung, *trial)),
        Stage::Probe { .. }
        | Stage::Bench { .. }
        | Stage::Visit { .. }
        | Stage::Experiment { .. }
        | Stage::Search { .. } => None,
    });
    trials.collect()
}

/// The probes of a run.
pub(super) fn probes(network: &Network, trials: &[&TrialRecord]) -> Vec<ProbeTrial> {
    let trials = trials.iter().filter_map(|record| match record.stage {
        Stage::Probe {
            rung,
            block,
            changed,
            ..
        } => Some(ProbeTrial {
            rung,
            direction: record.workload.direction(),
            block,
            changed,
            rate: match &record.outcome {
                Outcome::Measured(result) => rate(result).filter(|_| !is_cached(rung, result)),
                Outcome::Failed(_) => None,
            },
            is_spoiled: match &record.outcome {
                Outcome::Measured(result) => is_spoiled(foreign(network, record, result), record),
                Outcome::Failed(_) => false,
            },
        }),
        Stage::Ladder { .. }
        | Stage::Bench { .. }
        | Stage::Visit { .. }
        | Stage::Experiment { .. }
        | Stage::Search { .. } => None,
    });
    trials.collect()
}

/// Those of the ladder that were measured; `unknown` is why a path of one is not known.
pub(super) fn measured<'a>(
    network: &Network<'a>,
    of_ladder: &[(Rung, &'a TrialRecord)],
    unknown: &mut Option<Message>,
) -> Vec<Measured<'a>> {
    let mut trials = Vec::new();
    for (rung, trial) in of_ladder {
        let (Outcome::Measured(result), Stage::Ladder { repetition, .. }) =
            (&trial.outcome, &trial.stage)
        else {
            continue;
        };
        let Some(rate) = rate(result).filter(|_| !is_cached(*rung, result)) else {
            continue;
        };
        let (mut pairs, mut shares) = (Vec::<Pair>::new(), Vec::new());
        let moved: f64 = result.connections.iter().map(bytes_of).sum();
        // A connection that moved nothing is no part of the path.
        for connection in result.connections.iter().filter(|one| one.bytes.get() > 0) {
            let share = bytes_of(connection) / moved;
            match network.pair(connection) {
                Ok(pair) => match pairs.iter().position(|known| *known == pair) {
                    Some(known) => shares[known] += share,
                    None => {
                        pairs.push(pair);
                        shares.push(share);
                    }
                },
                Err(reason) => *unknown = Some(reason),
            }
        }
        let foreign = foreign(network, trial, result);
        trials.push(Measured {
            foreign,
            is_spoiled: is_spoiled(foreign, trial),
            rung: *rung,
            repetition: *repetition,
            direction: trial.workload.direction(),
            workload: &trial.workload,
            result,
            record: trial,
            rate,
            pairs,
            shares,
        });
    }
    trials
}

/// What is measured of the system's own client beside what it can: how much of that is left there. No limit is looked for
/// by it.
pub(super) const USES_OF_SYSTEM: [Rung; 2] = [Rung::SystemProgram, Rung::SystemCopy];

/// Whether it is the system's own client that does it.
pub(super) fn is_of_system(rung: Rung) -> bool {
    rung == Rung::SystemClient || USES_OF_SYSTEM.contains(&rung)
}

/// Whether it was the memory of this machine that answered: a mount that lets nobody pass its cache measures no share.
pub(super) fn is_cached(rung: Rung, result: &TrialResult) -> bool {
    let storage = result.storage.as_ref();
    is_of_system(rung) && storage.is_some_and(|storage| !storage.direct || !storage.network)
}

pub(super) const fn bytes_of(connection: &ConnectionUse) -> f64 {
    connection.bytes.get() as f64
}

pub(super) fn pairs_of<'a, 'b>(trials: impl Iterator<Item = &'b Measured<'a>>) -> Vec<Vec<Pair<'a>>>
where
    'a: 'b,
{
    trials
        .map(|trial| trial.pairs.clone())
        .filter(|pairs| !pairs.is_empty())
        .collect()
}

/// The entry of the server's list that a trial proves to be too low.
pub(super) fn above_advertised<'a>(
    network: &Network<'a>,
    trial: &Measured<'a>,
) -> Option<&'a ServerInterface> {
    let noise = match trial.pairs.len() {
        1 => ABOVE_ADVERTISED,
        _ => ABOVE_ADVERTISED_OF_SEVERAL,
    };
    trial.pairs.iter().find_map(|pair| {
        let entry = network.advertisement(pair.remote)?;
        let carried = trial.carried(pair)?;
        (carried > entry.speed.get() as f64 * noise).then_some(entry)
    })
}

/// The median of a rung's trials, or of the parts of them where work is done once.
pub(super) fn rate_of(trials: &[Measured], rung: Rung, direction: Direction) -> Option<Estimate> {
    let rates = trials
        .iter()
        .filter(|trial| trial.rung == rung && trial.direction == direction)
        .flat_map(|trial| match trial.workload {
            Workload::Job(_) => parts(trial.result).collect(),
            Workload::Tcp(_) | Workload::Share(_) | Workload::Folder(_) | Workload::Task(_) => {
                vec![trial.rate]
            }
        });
    let rates: Vec<f64> = rates.collect();
    let rate = median(
        &rates,
        BAND_DEFAULT,
        CONFIDENCE_DEFAULT,
        Unit::BytesPerSecond,
    )?;
    // One trial says nothing of how far another one would be off.
    let has_one = rate.n < 2;
    Some(Estimate {
        interval: rate.interval.filter(|_| !has_one),
        confidence: rate.confidence.filter(|_| !has_one),
        ..rate
    })
}

/// The rates of the parts of work that is done once.
pub(super) fn parts(result: &TrialResult) -> impl Iterator<Item = f64> {
    let rates = result.samples.iter().map(Sample::bytes_per_second);
    rates.filter(|rate| rate.is_finite() && *rate > 0.0)
}
