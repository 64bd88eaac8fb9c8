//! What is going to be tried, fixed before the first trial, and how long that takes.

use std::time::Duration;

use locale::{Message, say};
use record::{Direction, Level, Phase, Question, Schedule};
use stats::blocks_min;

use crate::Error;
use crate::random_block_order::{schedule, switches};
use crate::testbed::{SwitchCost, same_place, switch_cost};

/// Blocks of a phase where nobody says otherwise: the fewest that can reach 95 %.
pub const BLOCKS_DEFAULT: usize = 6;
/// The most blocks of a phase.
pub const BLOCKS_MAX: usize = 1_000;
/// Id of the experiment that holds the baseline against itself; no candidate may have it.
pub const BASELINE: &str = "baseline";
/// How the start is called in levels.
pub(crate) const START_NAME: &str = "as it is";

/// A change to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Id of its experiment: `mtu-9000`.
    pub id: String,
    /// What it sets.
    pub level: Level,
}

/// What `tune` does. All of it is fixed before the first trial, the number of blocks above all.
#[derive(Clone, Debug, PartialEq)]
pub struct TunePlan {
    /// The candidates, in the order in which they are tried.
    pub candidates: Vec<Candidate>,
    /// What is measured on each visit of an arm.
    pub responses: Vec<Direction>,
    /// Blocks of each phase.
    pub blocks: usize,
    /// Half width of practical equivalence as a share of 1.
    pub band: f64,
    /// Confidence of each interval.
    pub confidence: f64,
    /// Seed of every random choice.
    pub seed: u64,
    /// Id of the first trial.
    pub first_trial_id: u64,
    /// Failed trials of one phase that are borne; one more ends it.
    pub failures_max: usize,
}

/// How long the parts of an experiment take, for a forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durations {
    /// A trial that counts, from start to end.
    pub trial: Duration,
    /// A trial that washes out.
    pub wash_out: Duration,
    /// Setting a level and waiting until it has settled.
    pub switch: Duration,
}

/// One phase of a forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct PhasePreview {
    /// Its order. The levels of A are those of the start, because what will be kept is not known.
    pub schedule: Schedule,
    /// Trials that count.
    pub trials: usize,
    /// Trials that wash out.
    pub wash_outs: usize,
    /// How long it takes.
    pub duration: Duration,
    /// Whether it is run in any case; a phase `Confirm` is run for winners only.
    pub certain: bool,
}

/// A forecast of a whole plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The phases, in order.
    pub phases: Vec<PhasePreview>,
    /// When no candidate wins.
    pub at_least: Duration,
    /// When every candidate wins.
    pub at_most: Duration,
}

impl TunePlan {
    /// A plan with the defaults: read and write, six blocks, 2 %, 95 %, three failures.
    #[must_use]
    pub fn new(candidates: Vec<Candidate>, seed: u64) -> Self {
        Self {
            candidates,
            responses: vec![Direction::Read, Direction::Write],
            blocks: BLOCKS_DEFAULT,
            band: 0.02,
            confidence: 0.95,
            seed,
            first_trial_id: 0,
            failures_max: 3,
        }
    }

    /// Says what is wrong with the plan, if something is.
    ///
    /// # Errors
    /// [`Error::Plan`].
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |reason: Message| Err(Error::Plan { reason });
        let confidence = self.confidence.to_string();
        if !(0.5..1.0).contains(&self.confidence) {
            return refuse(say("error-experiment.confidence").with("confidence", confidence));
        }
        if !(0.0..1.0).contains(&self.band) {
            return refuse(say("error-experiment.band").with("band", self.band.to_string()));
        }
        let least = blocks_min(self.confidence);
        if !(least..=BLOCKS_MAX).contains(&self.blocks) {
            let reason = say("error-experiment.blocks")
                .count("blocks", self.blocks)
                .with("confidence", confidence)
                .count("least", least)
                .count("most", BLOCKS_MAX);
            return refuse(reason);
        }
        let mut responses = self.responses.clone();
        responses.sort_unstable();
        responses.dedup();
        if responses.is_empty() || responses.len() != self.responses.len() {
            return refuse(say("error-experiment.responses"));
        }
        if self.candidates.is_empty() {
            return refuse(say("error-experiment.nothing-to-try"));
        }
        for (index, candidate) in self.candidates.iter().enumerate() {
            let of_candidate = |id| say(id).with("name", &candidate.id);
            let taken = candidate.id == BASELINE
                || self.candidates[..index]
                    .iter()
                    .any(|other| other.id == candidate.id);
            if taken {
                return refuse(of_candidate("error-experiment.name-taken"));
            }
            let settings = &candidate.level.settings;
            if settings.is_empty() {
                return refuse(of_candidate("error-experiment.sets-nothing"));
            }
            for (index, setting) in settings.iter().enumerate() {
                if settings[..index]
                    .iter()
                    .any(|other| same_place(setting, other))
                {
                    return refuse(of_candidate("error-experiment.sets-again"));
                }
            }
        }
        Ok(())
    }

    /// The whole schedule and how long it takes, without touching anything.
    ///
    /// # Errors
    /// [`Error::Plan`].
    pub fn preview(&self, durations: &Durations) -> Result<Preview, Error> {
        self.check()?;
        let start = Level {
            name: START_NAME.into(),
            settings: Vec::new(),
        };
        let washes =
            |candidate: &Candidate| switch_cost(&start, &candidate.level) >= SwitchCost::LinkReset;
        let mut phases = vec![self.phase_preview(
            self.schedule(BASELINE, Phase::SameAgainstSame, [&start, &start], 0),
            self.candidates.iter().any(washes),
            durations,
        )];
        for (index, candidate) in self.candidates.iter().enumerate() {
            for phase in [Phase::Compare, Phase::Confirm] {
                let ordinal = ordinal(index, phase);
                let levels = [&start, &candidate.level];
                let schedule = self.schedule(&candidate.id, phase, levels, ordinal);
                phases.push(self.phase_preview(schedule, washes(candidate), durations));
            }
        }
        let certain = phases.iter().filter(|phase| phase.certain);
        Ok(Preview {
            at_least: certain.map(|phase| phase.duration).sum(),
            at_most: phases.iter().map(|phase| phase.duration).sum(),
            phases,
        })
    }

    /// The order of one phase of this plan.
    pub(crate) fn schedule(
        &self,
        experiment: &str,
        phase: Phase,
        [a, b]: [&Level; 2],
        ordinal: u64,
    ) -> Schedule {
        let question = Question {
            a: a.clone(),
            b: b.clone(),
            responses: self.responses.clone(),
            band: self.band,
            confidence: self.confidence,
        };
        schedule(
            experiment,
            phase,
            question,
            self.blocks,
            (self.seed, ordinal),
        )
    }

    fn phase_preview(
        &self,
        schedule: Schedule,
        washes_out: bool,
        durations: &Durations,
    ) -> PhasePreview {
        let visits: usize = schedule.blocks.iter().map(Vec::len).sum();
        let switches = switches(&schedule);
        let trials = visits * self.responses.len();
        let wash_outs = if washes_out { switches } else { 0 };
        let times = |count: usize, each: Duration| {
            each.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
        };
        PhasePreview {
            certain: schedule.phase != Phase::Confirm,
            duration: times(trials, durations.trial)
                .saturating_add(times(wash_outs, durations.wash_out))
                .saturating_add(times(switches, durations.switch)),
            schedule,
            trials,
            wash_outs,
        }
    }
}

/// The number of a candidate's phase in the plan; the baseline against itself is 0.
pub(crate) fn ordinal(candidate: usize, phase: Phase) -> u64 {
    let confirms = u64::from(phase == Phase::Confirm);
    1 + 2 * candidate as u64 + confirms
}
