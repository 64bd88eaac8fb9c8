//! The rungs of the ladder, and whether each loses against the one above it.

use locale::{Message, say};
use record::{Direction, Outcome, Rung, TrialRecord};

use super::ladder_and_probe_trials::{
    FOREIGN_SHARE, Measured, USES_OF_SYSTEM, fair, is_cached, is_of_system, pairs_of, rate_of,
};
use super::nic_pairs::{Network, Pair, Ports, is_only_advertised};
use crate::phase_effects::failure;
use crate::rung_and_probe_verdict::{Loss, MATTERS, Sequential, judge_against, of_interval};
use crate::{Ceiling, LadderRung, RungName};
use stats::quotient;
use stats::{Estimate, Unit};

/// More than this over the ceiling cannot be noise of the clock.
pub(super) const ABOVE_CEILING: f64 = 1.05;
/// The same where what is known of the other direction is refuted.
const FAR_ABOVE_CEILING: f64 = 1.5;
/// What several channels reach at least of their links where nothing holds these back together: two are seldom filled to the
/// last twentieth.
const FILLED_BY_SEVERAL: f64 = 0.9;
/// Caveats of a ceiling against which nothing is held: the line of Wi-Fi or a tunnel, and a shaper of the other direction.
const GUESSED: [&str; 2] = ["ceiling-caveat.no-line", "ceiling-caveat.other-direction"];
/// The rungs below the ceiling, in the order in which they are shown.
pub(super) const RUNGS: [(Rung, RungName); 9] = [
    (Rung::Tcp, RungName::Tcp),
    (Rung::Streams, RungName::Streams),
    (Rung::Share, RungName::Share),
    (Rung::Channels, RungName::Channels),
    (Rung::SystemClient, RungName::SystemClient),
    (Rung::SystemProgram, RungName::SystemProgram),
    (Rung::SystemCopy, RungName::SystemCopy),
    (Rung::Disk, RungName::Disk),
    (Rung::Copy, RungName::Copy),
];
/// Both of them.
pub(super) const DIRECTIONS: [Direction; 2] = [Direction::Read, Direction::Write];

/// Whether one connection moved more than fits through one port of the bonds and bridges on its path: some
/// bonds deal out packets, and what is behind a bridge may be a virtual machine.
pub(super) fn is_beyond_one_port(network: &Network, trial: &Measured) -> bool {
    is_beyond(network, trial, ABOVE_CEILING)
}

/// Whether one connection moved so much more that the line of its receiver cannot be what its shaper for sending is set
/// to.
pub(super) fn is_far_beyond(network: &Network, trial: &Measured) -> bool {
    is_beyond(network, trial, FAR_ABOVE_CEILING)
}

fn is_beyond(network: &Network, trial: &Measured, more: f64) -> bool {
    let is_one = !is_of_system(trial.rung) && !matches!(trial.rung, Rung::Streams | Rung::Channels);
    let ceiling = network.ceiling(trial.direction, std::slice::from_ref(&trial.pairs), None);
    let fits = ceiling.map_or(f64::INFINITY, |ceiling| ceiling.rate.value);
    is_one && trial.rate > fits * more
}

/// What fits through the pairs that one connection uses, in each direction.
pub(super) fn ceilings<'a>(
    network: &Network<'a>,
    trials: &[Measured<'a>],
) -> Vec<(Direction, Ceiling)> {
    let ceilings = DIRECTIONS.into_iter().filter_map(|direction| {
        let same = |trial: &&Measured| trial.direction == direction;
        let one = |trial: &&Measured| trial.rung != Rung::Channels;
        let mut paths: Vec<Vec<Pair>> = pairs_of(trials.iter().filter(same).filter(one));
        if paths.is_empty() {
            // The other direction took the same path.
            paths = pairs_of(trials.iter());
        }
        Some((direction, network.ceiling(direction, &paths, None)?))
    });
    ceilings.collect()
}

/// The same network for several connections at once.
pub(super) const fn of_several<'a>(network: &Network<'a>) -> Network<'a> {
    Network {
        ports: match network.ports {
            Ports::Unknown => Ports::Unknown,
            Ports::OfOne | Ports::OfSeveral => Ports::OfSeveral,
        },
        ..*network
    }
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

/// A rung that the next one is held against.
#[derive(Clone)]
enum Above {
    /// A number that was computed.
    Computed(Estimate),
    /// What was measured in the same rounds.
    Measured(Rung, Estimate),
}

/// All rungs of both directions.
pub(super) fn rungs<'a>(
    network: &Network<'a>,
    of_ladder: &[(Rung, &TrialRecord)],
    trials: &[Measured<'a>],
    ceilings: &[(Direction, Ceiling)],
    unknown: Option<Message>,
) -> Vec<LadderRung> {
    let mut rungs = Vec::new();
    for direction in DIRECTIONS {
        let ceiling = ceilings
            .iter()
            .find(|(of, _)| *of == direction)
            .map(|(_, ceiling)| ceiling.rate.clone());
        let no_ceiling = || {
            let unknown = unknown.clone();
            unknown.unwrap_or_else(|| say("unmeasured.no-ceiling"))
        };
        rungs.push(LadderRung {
            rung: RungName::Ceiling,
            direction,
            not_measured: ceiling.is_none().then(no_ceiling),
            rate: ceiling.clone(),
            of_above: None,
            ceiling: None,
            of_ceiling: None,
            loss: None,
        });
        rungs.extend(below_ceiling(
            network,
            of_ladder,
            trials,
            direction,
            ceiling.as_ref(),
        ));
    }
    rungs
}

/// The rungs of a direction that were tried, each against the one above it.
fn below_ceiling<'a>(
    network: &Network<'a>,
    of_ladder: &[(Rung, &TrialRecord)],
    trials: &[Measured<'a>],
    direction: Direction,
    ceiling: Option<&Estimate>,
) -> Vec<LadderRung> {
    let mut rungs = Vec::new();
    let is_advertised = ceiling.is_some_and(is_only_advertised);
    let mut above = ceiling
        .filter(|_| !is_advertised)
        .map(|ceiling| Above::Computed(ceiling.clone()));
    for (rung, name) in RUNGS {
        let further = matches!(rung, Rung::Streams | Rung::Channels);
        let once = matches!(rung, Rung::Disk | Rung::Copy);
        let is_system = is_of_system(rung);
        let was_run = |(of, trial): &(Rung, &TrialRecord)| {
            *of == rung && (further || trial.workload.direction() == direction)
        };
        if (further || once || is_system) && !of_ladder.iter().any(was_run) {
            continue;
        }
        let rate = rate_of(trials, rung, direction);
        // The system's own client has as many connections as it likes, which are not seen.
        let like = if is_system { Rung::Channels } else { rung };
        let own = own_ceiling(network, trials, like, direction);
        let upper = match rung {
            Rung::Streams => None,
            Rung::Channels => several_links(trials, direction, own.as_ref().zip(ceiling)),
            _ if is_system => above_system(trials, rung, direction),
            _ => above.clone(),
        };
        let judged = upper.and_then(|it| against(trials, rung, direction, &it, rate.as_ref()));
        let own = own.as_ref().or(ceiling.filter(|_| is_system));
        let whole = if further || is_system { own } else { ceiling };
        let whole = whole.filter(|_| !is_advertised);
        let believed = rate.as_ref().zip(whole);
        rungs.push(LadderRung {
            rung: name,
            direction,
            loss: judged
                .as_ref()
                .map(|judged| judged.loss)
                .filter(|_| !USES_OF_SYSTEM.contains(&rung)),
            of_above: judged.map(|judged| inverse(&judged.ratio)),
            ceiling: whole.cloned(),
            of_ceiling: believed.and_then(|(rate, whole)| quotient(rate, whole)),
            not_measured: rate
                .is_none()
                .then(|| why_not_measured(of_ladder, rung, direction)),
            rate: rate.clone(),
        });
        // Where a rung is missing, the next one is held against the one above it; and what several
        // streams or channels do is no measure for one, nor what one disk does for another, nor what another client does.
        if !further && !once && !is_system {
            above = rate.map(|rate| Above::Measured(rung, rate)).or(above);
        }
    }
    rungs
}

/// The part that others have of what passes the NICs of several channels from which on they are named for a loss of these.
const NAMED: f64 = 2.0 * FOREIGN_SHARE;

/// What several channels are held against: all links that they use, where these carry more than one of them, none of them
/// is a guess or a part of another one, and others leave them alone or take so much that they can be named. Where nobody
/// looks at the server, its two addresses may be at one port, unless more came than fits through one. A mount has connections of its own, of which its rung tells.
fn several_links(
    trials: &[Measured],
    direction: Direction,
    all_and_one: Option<(&Estimate, &Estimate)>,
) -> Option<Above> {
    let (all, one) = all_and_one?;
    let is_guessed = is_only_advertised(all)
        || all
            .caveats
            .iter()
            .any(|caveat| GUESSED.contains(&caveat.id));
    let own: Vec<&Measured> = trials
        .iter()
        .filter(|trial| (trial.rung, trial.direction) == (Rung::Channels, direction))
        .collect();
    let is_named = |trial: &Measured| trial.foreign[0].is_some_and(|share| share > NAMED);
    let disturbed = own
        .iter()
        .filter(|trial| trial.is_spoiled && !is_named(trial));
    let is_disturbed = disturbed.count() * 2 > own.len();
    let has_mount = trials.iter().any(|trial| trial.rung == Rung::SystemClient);
    let pairs = || own.iter().flat_map(|trial| &trial.pairs);
    let is_seen = pairs().all(|pair| pair.far_nic().is_some());
    let is_more = is_seen || own.iter().all(|trial| trial.rate > one.value * MATTERS);
    let is_several = all.value > one.value * MATTERS && !pairs().any(Pair::is_part_of_a_link);
    let is_fair = is_more && !is_guessed && !has_mount && !is_disturbed;
    (is_several && is_fair).then(|| Above::Computed(all.clone()))
}

/// What the system's own client is held against, and what is left of it in use against itself.
fn above_system(trials: &[Measured], rung: Rung, direction: Direction) -> Option<Above> {
    if rung == Rung::SystemClient {
        return best_of_engine(trials, direction);
    }
    let client = rate_of(trials, Rung::SystemClient, direction);
    client.map(|rate| Above::Measured(Rung::SystemClient, rate))
}

/// The best that our own engine did, by one channel or several: what another client of the same share is held against.
fn best_of_engine(trials: &[Measured], direction: Direction) -> Option<Above> {
    let rates = [Rung::Share, Rung::Channels]
        .into_iter()
        .filter_map(|rung| Some((rung, rate_of(trials, rung, direction)?)));
    let best = rates.max_by(|one, two| one.1.value.total_cmp(&two.1.value));
    best.map(|(rung, rate)| Above::Measured(rung, rate))
}

/// A rung against the one above: by rounds, or by medians where work was done once.
fn against(
    trials: &[Measured],
    rung: Rung,
    direction: Direction,
    above: &Above,
    rate: Option<&Estimate>,
) -> Option<Sequential> {
    if matches!(rung, Rung::Disk | Rung::Copy) || USES_OF_SYSTEM.contains(&rung) {
        let whole = match above {
            Above::Computed(whole) | Above::Measured(_, whole) => whole,
        };
        let ratio = quotient(whole, rate?).or_else(|| computed_over(whole, rate?))?;
        let cannot_tell = Loss::CannotTell { more_blocks: None };
        let loss = ratio
            .interval
            .map_or(cannot_tell, |interval| of_interval(interval, None));
        return Some(Sequential {
            ratio,
            loss,
            next: None,
        });
    }
    let of = |wanted: Rung| {
        let trials = trials.iter();
        trials.filter(move |trial| trial.rung == wanted && trial.direction == direction)
    };
    let block = |trial: &Measured| match above {
        Above::Computed(whole) => Some((trial.is_spoiled, (trial.rate, whole.value))),
        Above::Measured(upper, _) => {
            let whole = of(*upper).find(|whole| whole.repetition == trial.repetition)?;
            let is_spoiled = trial.is_spoiled || whole.is_spoiled;
            Some((is_spoiled, (trial.rate, whole.rate)))
        }
    };
    let matters = match rung {
        Rung::Channels => 1.0 / FILLED_BY_SEVERAL,
        _ => MATTERS,
    };
    let blocks: Vec<_> = of(rung).filter_map(block).collect();
    judge_against(&fair(&blocks), matters)
}

/// A computed number over a measured one.
fn computed_over(whole: &Estimate, part: &Estimate) -> Option<Estimate> {
    quotient(part, whole).map(|share| inverse(&share))
}

/// The same said the other way round: how much of the whole the part is.
fn inverse(ratio: &Estimate) -> Estimate {
    Estimate {
        value: 1.0 / ratio.value,
        interval: ratio.interval.map(|[low, high]| [1.0 / high, 1.0 / low]),
        unit: Unit::Ratio,
        ..ratio.clone()
    }
}

/// Why there is no rate of a rung.
pub(super) fn why_not_measured(
    of_ladder: &[(Rung, &TrialRecord)],
    rung: Rung,
    direction: Direction,
) -> Message {
    let mut trials = of_ladder
        .iter()
        .filter(|(of, trial)| *of == rung && trial.workload.direction() == direction);
    let why = |trial: &TrialRecord| match &trial.outcome {
        Outcome::Measured(result) if is_cached(rung, result) => Some(say("unmeasured.cached")),
        outcome => failure(outcome),
    };
    trials
        .find_map(|(_, trial)| why(trial))
        .unwrap_or_else(|| say("unmeasured.no-trial").with("direction", direction))
}
