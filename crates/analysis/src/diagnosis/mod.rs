//! Facts and ladder in; what limits the share, and what to try, out.

mod buffer;
mod cause;
mod channels;
mod clients;
mod ends;
mod fault;
mod fix;
mod hole;
mod line;
mod medium;
mod order;
mod path;
mod remedy;
mod segment;
mod storage;
mod transfer;

use std::net::IpAddr;

use record::{
    ConnectionUse, Direction, HostFacts, HostName, Outcome, PathLook, Rung, ServerInterface,
    ShareAddress, ShareWorkload, SmbSession, Stage, TrialRecord, TrialResult, Workload,
};

use crate::comparison::{BAND_DEFAULT, CONFIDENCE_DEFAULT, direction_name, failure, rate};
use crate::statistics::{median, quotient};
use crate::{Ceiling, Diagnosis, Estimate, LadderRung, RungName, Unit};
use fault::Reach;
use path::{Network, Pair, Ports, is_only_told};

pub use ends::{Contradiction, SharedLink, contradictions, shared_links};
pub use remedy::{Means, REMEDIES, Remedy, quoted};

/// A rung that has less than this share of the one above has lost something.
const LOSS_LIMIT: f64 = 0.9;
/// More than this over what a server tells of its NIC is no noise of the clock.
const ABOVE_TOLD: f64 = 1.1;
/// The same where a trial used several: what each moved is known of its connections' whole life only.
const ABOVE_TOLD_OF_SEVERAL: f64 = 1.25;
/// A share that has at least this share of the ceiling has filled its link: what is left is less than
/// anybody would notice.
const FULL_LIMIT: f64 = 0.95;
/// The rungs below the ceiling, in the order in which they are shown.
const RUNGS: [(Rung, RungName); 6] = [
    (Rung::Tcp, RungName::Tcp),
    (Rung::Streams, RungName::Streams),
    (Rung::Share, RungName::Share),
    (Rung::Channels, RungName::Channels),
    (Rung::Disk, RungName::Disk),
    (Rung::Copy, RungName::Copy),
];
/// MTU of jumbo frames.
const JUMBO_MTU: u32 = 9000;
const DIRECTIONS: [Direction; 2] = [Direction::Read, Direction::Write];

/// What the ladder's trials say.
pub(crate) struct LadderResult {
    pub(crate) ceilings: Vec<(Direction, Ceiling)>,
    pub(crate) rungs: Vec<LadderRung>,
    pub(crate) diagnosis: Option<Diagnosis>,
}

/// A measured trial of the ladder.
struct Measured<'a> {
    rung: Rung,
    direction: Direction,
    workload: &'a Workload,
    result: &'a TrialResult,
    rate: f64,
    /// The NIC pairs it used, each once.
    pairs: Vec<Pair<'a>>,
    /// What each of them carried of the rate.
    shares: Vec<f64>,
}

impl Measured<'_> {
    /// What a pair carried, in bits of payload per second.
    fn carried(&self, pair: &Pair) -> Option<f64> {
        let index = self.pairs.iter().position(|used| used == pair)?;
        Some(self.rate * 8.0 * self.shares.get(index)?)
    }
}

/// Everything that causes and fixes are found from.
struct Seen<'a> {
    network: Network<'a>,
    session: Option<&'a SmbSession>,
    share: Option<&'a ShareWorkload>,
    trials: Vec<Measured<'a>>,
    ceilings: Vec<(Direction, Ceiling)>,
    rungs: Vec<LadderRung>,
    /// The pairs that the share's trials used, or those of raw TCP where there are none.
    used: Vec<Pair<'a>>,
    /// The pairs that could be used at once.
    usable: Vec<Pair<'a>>,
    /// What the path looked like before.
    look: Option<&'a PathLook>,
    /// The trials as they stand in the file, measured or not.
    records: &'a [(Rung, &'a TrialRecord)],
}

impl<'a> Seen<'a> {
    fn rung(&self, rung: RungName, direction: Direction) -> Option<&LadderRung> {
        let mut rungs = self.rungs.iter();
        rungs.find(|found| found.rung == rung && found.direction == direction)
    }

    fn rate(&self, rung: RungName, direction: Direction) -> Option<f64> {
        let rung = self.rung(rung, direction)?;
        rung.rate.as_ref().map(|rate| rate.value)
    }

    /// The share as it is called by another address of its server.
    fn share_at(&self, remote: IpAddr) -> Option<ShareAddress> {
        let share = self.share.map(|workload| workload.share.clone())?;
        Some(ShareAddress {
            server: remote.to_string(),
            ..share
        })
    }

    /// The first rung that loses more than a tenth; of both directions the one that loses more.
    fn first_loss(&self) -> Option<(RungName, Direction, f64)> {
        [RungName::Tcp, RungName::Share]
            .into_iter()
            .find_map(|name| {
                let shares = DIRECTIONS.into_iter().filter_map(|direction| {
                    let share = self.rung(name, direction)?.of_above.as_ref()?.value;
                    (share < LOSS_LIMIT).then_some((name, direction, share))
                });
                shares.min_by(|one, two| f64::total_cmp(&one.2, &two.2))
            })
            .or_else(|| {
                let rung = self.rung(RungName::Disk, Direction::Read);
                Some((RungName::Disk, Direction::Read, storage::loses(rung)?))
            })
    }

    /// A host whose processors were full in most trials.
    fn crowded_host(&self) -> Option<&'a HostName> {
        let hosts = [self.network.client, self.network.server];
        let mut names = hosts.into_iter().flatten().map(|host| &host.name);
        names.find(|name| self.is_crowded(name))
    }

    /// Whether the share reaches its ceiling both ways, so that raw TCP has nothing to add.
    fn fills_its_link(&self) -> bool {
        let fills = |(direction, ceiling): &(Direction, Ceiling)| {
            let share = self.rate(RungName::Share, *direction);
            share.is_some_and(|share| share >= ceiling.rate.value * LOSS_LIMIT)
                && !is_only_told(&ceiling.rate)
        };
        self.ceilings.len() == DIRECTIONS.len() && self.ceilings.iter().all(fills)
    }

    fn complete(&self) -> bool {
        let needed = |rung: &&LadderRung| {
            let further = [RungName::Channels, RungName::Disk, RungName::Copy];
            !further.contains(&rung.rung)
        };
        let mut rungs = self.rungs.iter().filter(needed);
        (rungs.all(|rung| rung.rate.is_some()) || self.fills_its_link())
            && !self.trials.is_empty()
            && cause::above_ceiling(self).is_none()
    }
}

/// Reads the ladder out of a run's trials. Without any trial of it there is nothing to say.
pub(crate) fn ladder(
    facts: &[HostFacts],
    look_at: Option<&PathLook>,
    trials: &[&TrialRecord],
) -> LadderResult {
    let of_ladder: Vec<(Rung, &TrialRecord)> = trials
        .iter()
        .filter_map(|trial| match trial.stage {
            Stage::Ladder { rung, .. } => Some((rung, *trial)),
            Stage::Bench { .. }
            | Stage::Visit { .. }
            | Stage::Experiment { .. }
            | Stage::Search { .. } => None,
        })
        .collect();
    if of_ladder.is_empty() && look_at.is_none() {
        return LadderResult {
            ceilings: Vec::new(),
            rungs: Vec::new(),
            diagnosis: None,
        };
    }
    let seen = look(facts, look_at, &of_ladder);
    let faults = order::faults(&seen);
    let headline = match faults.first() {
        Some(first) if cause::above_ceiling(&seen).is_none() => match first.reach {
            Reach::Way => cause::with_effect(&seen, &first.cause.text),
            Reach::Beside => cause::beside_loss(&seen, &of_ladder, &first.cause.text),
        },
        _ => cause::headline(&seen, &of_ladder),
    };
    let (mut causes, mut fixes) = (Vec::new(), Vec::new());
    for fault in faults {
        causes.push(fault.cause);
        fixes.extend(fault.fix);
    }
    let unexplained = cause::losses_unexplained(&seen);
    // What is measured between other people's work is no fault of the path.
    let crowded = causes.is_empty().then(|| seen.crowded_host()).flatten();
    let crowded = crowded.filter(|_| !unexplained.is_empty());
    let headline = crowded.map_or(headline, |host| {
        format!(
            "something is lost, but the processors of {host} were full all the time, so it cannot be told where: try again when nothing else runs there"
        )
    });
    if crowded.is_none() {
        causes.extend(unexplained);
    }
    fixes.extend(fix::fixes(&seen));
    // What protects is priced, and never the first thing to try.
    fixes.sort_by_key(remedy::is_protection);
    let diagnosis = Diagnosis {
        headline,
        first_loss: seen
            .first_loss()
            .filter(|_| crowded.is_none())
            .map(|(rung, direction, _)| (rung, direction)),
        complete: seen.complete() && crowded.is_none(),
        causes,
        remarks: cause::remarks(&seen),
        notes: storage::notes(&seen),
        small_files: storage::small_files(&seen),
        clients: clients::clients(&seen),
        multichannel: channels::carried(&seen),
        transfers: transfer::transfers(&seen),
        request: transfer::request(&seen),
        fixes,
    };
    LadderResult {
        ceilings: seen.ceilings,
        rungs: seen.rungs,
        diagnosis: Some(diagnosis),
    }
}

/// Payload per second that fits through the NICs that a trial used, with jumbo frames at most, where it
/// moved more than that. A server's own word on its NICs does not count here.
pub(crate) fn exceeded(
    facts: &[HostFacts],
    direction: Direction,
    result: &TrialResult,
) -> Option<f64> {
    let network = Network {
        client: facts.first(),
        server: facts.get(1),
        advertised: &[],
        believed: false,
        ports: Ports::Unknown,
    };
    let used = result.connections.iter();
    let used = used.filter(|connection| connection.bytes.get() > 0);
    let pairs: Result<Vec<Pair>, String> = used.map(|one| network.pair(one)).collect();
    let mut own: Vec<Pair> = Vec::new();
    for pair in pairs.ok()? {
        if !own.contains(&pair) {
            own.push(pair);
        }
    }
    let paths = [own];
    // An experiment may have changed it since the facts were read.
    let fits = [None, Some(JUMBO_MTU)].map(|mtu| network.ceiling(direction, &paths, mtu));
    let fits = fits.into_iter().flatten().map(|ceiling| ceiling.rate.value);
    let fits = fits.reduce(f64::max)?;
    (rate(result)? > fits * cause::ABOVE_CEILING_LIMIT).then_some(fits)
}

fn look<'a>(
    facts: &'a [HostFacts],
    look_at: Option<&'a PathLook>,
    of_ladder: &'a [(Rung, &'a TrialRecord)],
) -> Seen<'a> {
    let session = of_ladder.iter().rev().find_map(|(_, trial)| {
        let Outcome::Measured(result) = &trial.outcome else {
            return None;
        };
        result.session.as_ref()
    });
    let session = session.or_else(|| look_at?.session.as_ref());
    let share = of_ladder
        .iter()
        .find_map(|(_, trial)| match &trial.workload {
            Workload::Share(share) => Some(share),
            Workload::Tcp(_) | Workload::Folder(_) | Workload::Task(_) | Workload::Job(_) => None,
        });
    let network = Network {
        client: facts.first(),
        server: facts.get(1),
        advertised: session.map_or(&[], |session| &session.server_interfaces),
        believed: false,
        ports: Ports::OfOne,
    };
    let mut unknown = None;
    let trials = measured(&network, of_ladder, &mut unknown);
    let mut of_one = trials.iter();
    let network = Network {
        believed: trials
            .iter()
            .all(|trial| beyond_told(&network, trial).is_none()),
        ports: match of_one.any(|trial| is_beyond_one_port(&network, trial)) {
            true => Ports::Unknown,
            false => Ports::OfOne,
        },
        ..network
    };
    let ceilings: Vec<(Direction, Ceiling)> = DIRECTIONS
        .into_iter()
        .filter_map(|direction| {
            let same = |trial: &&Measured| trial.direction == direction;
            let one = |trial: &&Measured| trial.rung != Rung::Channels;
            let mut paths: Vec<Vec<Pair>> = pairs_of(trials.iter().filter(same).filter(one));
            if paths.is_empty() {
                // The other direction took the same way.
                paths = pairs_of(trials.iter());
            }
            let ceiling = network.ceiling(direction, &paths, None)?;
            Some((direction, ceiling))
        })
        .collect();
    let rungs = rungs(&network, of_ladder, &trials, &ceilings, unknown);
    let mut used: Vec<Pair> = Vec::new();
    for rung in [Rung::Share, Rung::Tcp] {
        for pair in trials
            .iter()
            .filter(|trial| trial.rung == rung)
            .flat_map(|trial| &trial.pairs)
        {
            if !used.contains(pair) {
                used.push(*pair);
            }
        }
        if !used.is_empty() {
            break;
        }
    }
    let usable = network.usable_pairs(&used);
    Seen {
        network,
        session,
        share,
        trials,
        ceilings,
        rungs,
        used,
        usable,
        look: look_at,
        records: of_ladder,
    }
}

fn pairs_of<'a, 'b>(trials: impl Iterator<Item = &'b Measured<'a>>) -> Vec<Vec<Pair<'a>>>
where
    'a: 'b,
{
    trials
        .map(|trial| trial.pairs.clone())
        .filter(|pairs| !pairs.is_empty())
        .collect()
}

fn measured<'a>(
    network: &Network<'a>,
    of_ladder: &[(Rung, &'a TrialRecord)],
    unknown: &mut Option<String>,
) -> Vec<Measured<'a>> {
    let mut trials = Vec::new();
    for (rung, trial) in of_ladder {
        let Outcome::Measured(result) = &trial.outcome else {
            continue;
        };
        let Some(rate) = rate(result) else { continue };
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
        trials.push(Measured {
            rung: *rung,
            direction: trial.workload.direction(),
            workload: &trial.workload,
            result,
            rate,
            pairs,
            shares,
        });
    }
    trials
}

const fn bytes_of(connection: &ConnectionUse) -> f64 {
    connection.bytes.get() as f64
}

/// The entry of the server's list that a trial proves to be too low.
fn beyond_told<'a>(network: &Network<'a>, trial: &Measured<'a>) -> Option<&'a ServerInterface> {
    let noise = match trial.pairs.len() {
        1 => ABOVE_TOLD,
        _ => ABOVE_TOLD_OF_SEVERAL,
    };
    trial.pairs.iter().find_map(|pair| {
        let entry = network.advertisement(pair.remote)?;
        let carried = trial.carried(pair)?;
        (carried > entry.speed.get() as f64 * noise).then_some(entry)
    })
}

/// Whether one connection moved more than fits through one port of the bonds and bridges on its way: some
/// bonds deal out packets, and what is behind a bridge may be a virtual machine.
fn is_beyond_one_port(network: &Network, trial: &Measured) -> bool {
    let is_one = !matches!(trial.rung, Rung::Streams | Rung::Channels);
    let ceiling = network.ceiling(trial.direction, std::slice::from_ref(&trial.pairs), None);
    let fits = ceiling.map_or(f64::INFINITY, |ceiling| ceiling.rate.value);
    is_one && trial.rate > fits * cause::ABOVE_CEILING_LIMIT
}

/// What fits through the pairs that a further rung used.
fn own_ceiling<'a>(
    network: &Network<'a>,
    trials: &[Measured<'a>],
    rung: Rung,
    direction: Direction,
) -> Option<Estimate> {
    let own = trials
        .iter()
        .filter(|trial| trial.rung == rung && trial.direction == direction);
    let ceiling = of_several(network).ceiling(direction, &pairs_of(own), None)?;
    Some(ceiling.rate)
}

/// The same network for several connections at once.
const fn of_several<'a>(network: &Network<'a>) -> Network<'a> {
    Network {
        ports: match network.ports {
            Ports::Unknown => Ports::Unknown,
            Ports::OfOne | Ports::OfSeveral => Ports::OfSeveral,
        },
        ..*network
    }
}

fn rungs<'a>(
    network: &Network<'a>,
    of_ladder: &[(Rung, &TrialRecord)],
    trials: &[Measured<'a>],
    ceilings: &[(Direction, Ceiling)],
    unknown: Option<String>,
) -> Vec<LadderRung> {
    let mut rungs = Vec::new();
    for direction in DIRECTIONS {
        let ceiling = ceilings
            .iter()
            .find(|(of, _)| *of == direction)
            .map(|(_, ceiling)| ceiling.rate.clone());
        let no_ceiling = || {
            unknown.clone().unwrap_or_else(|| {
                "no rate of the NICs in use is known that can be trusted".to_owned()
            })
        };
        rungs.push(LadderRung {
            rung: RungName::Ceiling,
            direction,
            not_measured: ceiling.is_none().then(no_ceiling),
            rate: ceiling.clone(),
            of_above: None,
            of_ceiling: None,
        });
        let told = ceiling.as_ref().is_some_and(is_only_told);
        let mut above = ceiling.clone().filter(|_| !told);
        for (rung, name) in RUNGS {
            let further = matches!(rung, Rung::Streams | Rung::Channels);
            let once = matches!(rung, Rung::Disk | Rung::Copy);
            let was_run = |(of, trial): &(Rung, &TrialRecord)| {
                *of == rung && (further || trial.workload.direction() == direction)
            };
            if (further || once) && !of_ladder.iter().any(was_run) {
                continue;
            }
            let rate = rate_of(trials, rung, direction);
            let share_of = |whole: &Option<Estimate>| quotient(rate.as_ref()?, whole.as_ref()?);
            let own = own_ceiling(network, trials, rung, direction);
            rungs.push(LadderRung {
                rung: name,
                direction,
                of_above: share_of(&above).filter(|_| !further),
                of_ceiling: share_of(if further { &own } else { &ceiling })
                    .filter(|share| !told || share.value >= FULL_LIMIT),
                not_measured: rate
                    .is_none()
                    .then(|| why_not_measured(of_ladder, rung, direction)),
                rate: rate.clone(),
            });
            // Where a rung is missing, the next one is held against the one above it; and what several
            // streams or channels do is no measure for one, nor what one disk does for another.
            above = if further || once {
                above
            } else {
                rate.or(above)
            };
        }
    }
    rungs
}

/// The median of a rung's trials, or of the parts of them where work is done once.
fn rate_of(trials: &[Measured], rung: Rung, direction: Direction) -> Option<Estimate> {
    let rates = trials
        .iter()
        .filter(|trial| trial.rung == rung && trial.direction == direction)
        .flat_map(|trial| match trial.workload {
            Workload::Job(_) => storage::rates_of(trial.result).collect(),
            Workload::Tcp(_) | Workload::Share(_) | Workload::Folder(_) | Workload::Task(_) => {
                vec![trial.rate]
            }
        });
    let rates: Vec<f64> = rates.collect();
    let unit = Unit::BytesPerSecond;
    median(&rates, BAND_DEFAULT, CONFIDENCE_DEFAULT, unit)
}

fn why_not_measured(
    of_ladder: &[(Rung, &TrialRecord)],
    rung: Rung,
    direction: Direction,
) -> String {
    of_ladder
        .iter()
        .filter(|(of, trial)| *of == rung && trial.workload.direction() == direction)
        .find_map(|(_, trial)| failure(&trial.outcome))
        .unwrap_or_else(|| format!("no {} trial was run", direction_name(direction)))
}
