//! One phase of an experiment: from its schedule and trials to effects. `tune` decides by this very
//! function, so that a decision and a later reading of the run file cannot differ.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use locale::{Argument, Message, say};
use record::{
    Arm, Bytes, Direction, HostLoad, Outcome, Phase, Question, Schedule, SmbSession, Stage, Task,
    TrialRecord, TrialResult, Workload,
};
use serde::Serialize;

use fit::{BAND_DEFAULT, CONFIDENCE_DEFAULT, list_failure, served_per_byte};
use stats::{Estimate, PairedRatios, Unit, Verdict};

use crate::{ArmSamples, Effect, NoiseFloor};

/// What one phase says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PhaseResult {
    /// In phase `SameAgainstSame`: the noise of each response.
    pub noise: Vec<NoiseFloor>,
    /// In the other phases: the effect on each response.
    pub effects: Vec<Effect>,
    /// The counted trials.
    pub samples: Vec<ArmSamples>,
    /// Trials that failed, with their reasons.
    pub failures: Vec<Message>,
    /// What a reader must know.
    pub caveats: Vec<Message>,
    /// The blocks of this phase behind each response.
    #[serde(skip)]
    pub pairs: Vec<(Direction, PairedRatios)>,
}

/// Analyses one phase. `trials` may hold others too; only those of the schedule's experiment and
/// phase count. `floors` is the last baseline-against-itself before it, if there was one; `earlier` are the
/// [`PhaseResult::pairs`] of the experiment's phase `Compare`, for a schedule that joins them.
pub fn phase<'a>(
    schedule: &Schedule,
    trials: impl IntoIterator<Item = &'a TrialRecord>,
    floors: &[NoiseFloor],
    earlier: &[(Direction, PairedRatios)],
) -> PhaseResult {
    let mut result = PhaseResult::default();
    let (band, confidence) = limits(&schedule.question, &mut result.caveats);
    let counted = count(schedule, trials, &mut result);
    result
        .caveats
        .extend(missing_channels(&counted, schedule.phase));
    let responses: BTreeSet<Direction> = schedule.question.responses.iter().copied().collect();
    for response in responses {
        let of_response: Vec<&Counted> = counted
            .iter()
            .filter(|trial| trial.response == response)
            .collect();
        for arm in [Arm::A, Arm::B] {
            let trials = of_response.iter().filter(|trial| trial.arm == arm);
            let trials: Vec<&Counted> = trials.copied().collect();
            let about = (arm, response, schedule.phase);
            result
                .samples
                .extend(samples(&trials, about, (band, confidence)));
        }
        let pairs = pairs(&of_response);
        result
            .caveats
            .extend(incomplete_blocks(schedule, response, &pairs));
        result.pairs.push((response, pairs.clone()));
        let (pairs, confidence) = match joint(schedule, confidence) {
            Some(confidence) => {
                let mut earlier = earlier.iter();
                let earlier = earlier.find(|(of, _)| *of == response);
                let joined = earlier.map(|(_, earlier)| earlier.then(&pairs));
                (joined.unwrap_or(pairs), confidence)
            }
            None => (pairs, confidence),
        };
        let Some(ratio) = pairs.ratio(band, confidence) else {
            continue;
        };
        if schedule.phase == Phase::SameAgainstSame {
            let smallest = pairs.smallest_detectable(confidence);
            let floor = noise_floor(response, ratio, smallest, (band, confidence));
            result.noise.push(floor);
        } else {
            let mut effect = effect(schedule, response, &pairs, ratio, (band, confidence));
            hold_against(&mut effect, floors);
            result.effects.push(effect);
        }
    }
    result
}

/// That not every block has what makes a pair, where it is so.
fn incomplete_blocks(
    schedule: &Schedule,
    response: Direction,
    pairs: &PairedRatios,
) -> Option<Message> {
    let planned = schedule.blocks.len();
    (pairs.len() < planned).then(|| {
        say("incomplete-blocks")
            .with("phase", schedule.phase)
            .with("direction", response)
            .count("complete", pairs.len())
            .count("planned", planned)
    })
}

/// The confidence of an interval over this phase and the one before it, where they are judged together.
fn joint(schedule: &Schedule, confidence: f64) -> Option<f64> {
    let error = schedule.joint_error?;
    Some(match (0.0..0.5).contains(&error) {
        true => 1.0 - error,
        false => confidence,
    })
}

/// A phase, as failures and warnings name it.
pub(crate) fn phase_name(phase: Phase) -> Message {
    say(match phase {
        Phase::SameAgainstSame => "trial-failure.same",
        Phase::Compare => "trial-failure.compare",
        Phase::Confirm => "trial-failure.confirm",
    })
}

/// Processor time per byte and retransmits of some trials.
pub(crate) fn costs<'a>(
    results: impl Iterator<Item = &'a TrialResult> + Clone,
    (band, confidence): (f64, f64),
) -> (Option<Estimate>, Option<u64>) {
    let per_byte: Vec<f64> = results
        .clone()
        .filter(|result| result.bytes().get() > 0)
        .map(|result| result.cpu().get() as f64 / 1e9 / result.bytes().get() as f64)
        .collect();
    let retransmits = results
        .flat_map(|result| &result.samples)
        .filter_map(|sample| sample.retransmits)
        .reduce(u64::saturating_add);
    (
        stats::median(&per_byte, band, confidence, Unit::SecondsPerByte),
        retransmits,
    )
}

/// The rate of a result, if it is one that can be compared.
pub(crate) fn rate(result: &TrialResult) -> Option<f64> {
    result.bytes_per_second().filter(|rate| *rate > 0.0)
}

/// What an outcome failed of; a trial that moved nothing has failed too.
pub(crate) fn failure(outcome: &Outcome) -> Option<Message> {
    match outcome {
        Outcome::Failed(failure) => Some(failure.why()),
        Outcome::Measured(result) if rate(result).is_none() => Some(say("trial-failure.no-bytes")),
        Outcome::Measured(_) => None,
    }
}

struct Counted<'a> {
    block: u32,
    position: u32,
    arm: Arm,
    response: Direction,
    rate: f64,
    workload: &'a Workload,
    result: &'a TrialResult,
    loads: &'a [HostLoad],
}

fn limits(question: &Question, caveats: &mut Vec<Message>) -> (f64, f64) {
    let mut sane = |value: f64, right: bool, default: f64, id| {
        if right {
            return value;
        }
        let caveat = say(id)
            .with("value", value.to_string())
            .with("default", default.to_string());
        caveats.push(caveat);
        default
    };
    let Question {
        band, confidence, ..
    } = *question;
    (
        sane(
            band,
            (0.0..1.0).contains(&band),
            BAND_DEFAULT,
            "senseless.band",
        ),
        sane(
            confidence,
            (0.5..1.0).contains(&confidence),
            CONFIDENCE_DEFAULT,
            "senseless.confidence",
        ),
    )
}

/// Where a trial stands in a phase of an experiment.
struct Visit {
    phase: Phase,
    block: u32,
    position: u32,
    arm: Arm,
    discarded: bool,
    response: Direction,
}

impl Visit {
    /// The visit that a trial is, if it is one of the schedule's experiment and phase.
    fn of(trial: &TrialRecord, schedule: &Schedule) -> Option<Self> {
        let Stage::Experiment {
            experiment,
            phase,
            block,
            position,
            arm,
            discarded,
        } = &trial.stage
        else {
            return None;
        };
        let is_meant = *experiment == schedule.experiment && *phase == schedule.phase;
        is_meant.then(|| Self {
            phase: *phase,
            block: *block,
            position: *position,
            arm: *arm,
            discarded: *discarded,
            response: trial.workload.direction(),
        })
    }

    /// Whether the schedule has its arm in its place.
    fn is_planned(&self, schedule: &Schedule) -> bool {
        let row = schedule.blocks.get(self.block as usize);
        let planned = row.and_then(|row| row.get(self.position as usize));
        planned == Some(&self.arm)
    }

    /// What is listed of it where it failed.
    fn failed(&self, reason: Option<Message>) -> Message {
        say("trial-failure.of-visit")
            .with("phase", phase_name(self.phase))
            .count("block", u64::from(self.block) + 1)
            .with("arm", format!("{:?}", self.arm))
            .with("direction", self.response)
            .with_known("discarded", self.discarded.then_some(""))
            .with_known("reason", reason)
    }
}

/// Picks the trials that count, in the order of the schedule.
fn count<'a>(
    schedule: &Schedule,
    trials: impl IntoIterator<Item = &'a TrialRecord>,
    result: &mut PhaseResult,
) -> Vec<Counted<'a>> {
    let mut counted = BTreeMap::new();
    let mut misplaced = 0_usize;
    for trial in trials {
        let Some(visit) = Visit::of(trial, schedule) else {
            continue;
        };
        let measured = match &trial.outcome {
            Outcome::Measured(measured) if rate(measured).is_some() => measured,
            outcome => {
                list_failure(&mut result.failures, || visit.failed(failure(outcome)));
                continue;
            }
        };
        if visit.discarded {
            continue;
        }
        let place = (visit.block, visit.position, visit.response);
        match rate(measured) {
            Some(rate) if visit.is_planned(schedule) && !counted.contains_key(&place) => {
                let trial = Counted {
                    block: visit.block,
                    position: visit.position,
                    arm: visit.arm,
                    response: visit.response,
                    rate,
                    workload: &trial.workload,
                    result: measured,
                    loads: &trial.loads,
                };
                counted.insert(place, trial);
            }
            _ => misplaced += 1,
        }
    }
    if misplaced > 0 {
        let caveat = say("misplaced-trials")
            .with("phase", schedule.phase)
            .count("count", misplaced);
        result.caveats.push(caveat);
    }
    counted.into_values().collect()
}

/// A change of channels that did not come about was not tried, whatever the rates say.
fn missing_channels(trials: &[Counted], phase: Phase) -> Vec<Message> {
    let mut wanted: BTreeMap<u32, (usize, Vec<&Counted>)> = BTreeMap::new();
    for trial in trials {
        if let Workload::Share(share) = trial.workload {
            let (all, short) = wanted.entry(share.channels).or_default();
            *all += 1;
            if channels_used(trial.result) < share.channels as usize {
                short.push(trial);
            }
        }
    }
    let mut caveats = Vec::new();
    for (channels, (all, short)) in wanted {
        let Some(last) = short.last() else { continue };
        let why = last.result.session.as_ref().map(rejections);
        let why = why.filter(|reasons| !reasons.is_empty());
        let why = why.map_or_else(|| say("no-reason").into(), Argument::Clauses);
        let caveat = say("missing-channels")
            .with("phase", phase)
            .count("short", short.len())
            .count("all", all)
            .count("channels", channels)
            .with("why", why);
        caveats.push(caveat);
    }
    caveats
}

/// Channels that moved anything.
fn channels_used(result: &TrialResult) -> usize {
    let connections = result.connections.iter();
    connections.filter(|one| one.bytes.get() > 0).count()
}

/// Why channels were not made. That nobody is reached from a link-local address of our own says
/// nothing: every NIC has one. The addresses are those of the English text, which older files have alone.
pub(crate) fn rejections(session: &SmbSession) -> Vec<Message> {
    let is_link_local = |word: &str| match word.trim_end_matches(':').parse() {
        Ok(IpAddr::V4(address)) => address.is_link_local(),
        Ok(IpAddr::V6(address)) => address.is_unicast_link_local(),
        Err(_) => false,
    };
    let reasons = session.rejected_channels.iter().map(String::as_str);
    reasons
        .filter(|reason| !reason.split(' ').take(3).any(is_link_local))
        .map(|reason| session.rejection(reason))
        .collect()
}

/// One pair for each block in which both arms were measured; an arm that comes more than once in a
/// block counts as the geometric mean of its visits.
fn pairs(trials: &[&Counted]) -> PairedRatios {
    let mut visits: BTreeMap<u32, [Vec<&Counted>; 2]> = BTreeMap::new();
    for trial in trials {
        let arms = visits.entry(trial.block).or_default();
        arms[usize::from(trial.arm == Arm::B)].push(trial);
    }
    let mean = |visits: &[&Counted]| {
        let sum: f64 = visits.iter().map(|trial| trial.rate.ln()).sum();
        (sum / visits.len() as f64).exp()
    };
    let whole = visits.into_iter();
    let whole = whole.filter(|(_, arms)| arms.iter().all(|visits| !visits.is_empty()));
    PairedRatios::in_order(whole.map(|(block, [a, b])| {
        let a_first = match (&a[..], &b[..]) {
            ([a], [b]) => Some(a.position < b.position),
            _ => None,
        };
        (block, mean(&a), mean(&b), a_first)
    }))
    .drawn_in_halves()
}

fn samples(
    trials: &[&Counted],
    (arm, response, phase): (Arm, Direction, Phase),
    (band, confidence): (f64, f64),
) -> Option<ArmSamples> {
    let rates: Vec<f64> = trials.iter().map(|trial| trial.rate).collect();
    let median = stats::median(&rates, band, confidence, Unit::BytesPerSecond)?;
    let (cpu_per_byte, retransmits) =
        costs(trials.iter().map(|trial| trial.result), (band, confidence));
    let served: Vec<f64> = trials
        .iter()
        .filter_map(|trial| served_per_byte(trial.loads, trial.rate))
        .collect();
    Some(ArmSamples {
        arm,
        response,
        phase,
        rates,
        blocks: trials.iter().map(|trial| trial.block).collect(),
        median,
        cpu_per_byte,
        server_cpu_per_byte: stats::median(&served, band, confidence, Unit::SecondsPerByte),
        retransmits,
        file_size: trials.first().and_then(|trial| file_size(trial.workload)),
    })
}

/// The size of each of many files that are copied, where they have one.
fn file_size(workload: &Workload) -> Option<Bytes> {
    let Workload::Task(work) = workload else {
        return None;
    };
    match &work.task {
        Task::Copy(copy) if copy.files > 1 && copy.size_max.is_none() => Some(copy.size),
        _ => None,
    }
}

fn noise_floor(
    response: Direction,
    mut ratio: Estimate,
    smallest_detectable: Option<f64>,
    (band, confidence): (f64, f64),
) -> NoiseFloor {
    let alarm = stats::alarm(&ratio, band, confidence);
    let off = matches!(
        stats::verdict(&ratio, band, confidence),
        Verdict::Better | Verdict::Worse
    );
    if off && !alarm {
        let share = format!("{:+.1} %", 100.0 * (ratio.value - 1.0));
        ratio
            .caveats
            .push(say("baseline-differs").with("share", share));
    }
    NoiseFloor {
        response,
        ratio,
        smallest_detectable,
        alarm,
    }
}

/// The ratio of a response with its verdict, and how many blocks would give one.
fn effect(
    schedule: &Schedule,
    response: Direction,
    pairs: &PairedRatios,
    ratio: Estimate,
    (band, confidence): (f64, f64),
) -> Effect {
    let mut effect = Effect {
        response,
        phase: schedule.phase,
        verdict: stats::verdict(&ratio, band, confidence),
        ratio,
        blocks_to_settle: None,
        joint: schedule.joint_error.is_some(),
    };
    if effect.verdict == Verdict::Undecided {
        effect.blocks_to_settle = pairs.blocks_to_settle(band, confidence);
    }
    effect
}

/// An effect is judged by the noise it was measured in.
fn hold_against(effect: &mut Effect, floors: &[NoiseFloor]) {
    let mut floors = floors.iter();
    let floor = floors.find(|floor| floor.response == effect.response);
    if floor.is_some_and(|floor| floor.alarm) {
        effect.verdict = Verdict::Undecided;
        effect.blocks_to_settle = None;
        effect.ratio.caveats.push(say("baseline-differs.alarm"));
        return;
    }
    let Some(floor) = floor.and_then(|floor| floor.smallest_detectable) else {
        return;
    };
    let called = matches!(effect.verdict, Verdict::Better | Verdict::Worse);
    if called && effect.ratio.value.ln().abs() < floor.ln_1p() {
        let floor = format!("{:.1} %", 100.0 * floor);
        effect
            .ratio
            .caveats
            .push(say("below-noise").with("floor", floor));
    }
}
