//! Searches for the best setting when there are too many to measure all.
//!
//! First the start against itself, which tells the noise. Then a screening: a fraction of all
//! settings in which no candidate's own effect can be mistaken for an effect of two together. Then a
//! race of the settings that could be best, until no other could be better by what matters. All of
//! that only proposes. What is kept is proven on fresh trials: each candidate against the same setting
//! without it, and at last all together against the start.

mod candidate_race;
mod plan;
mod proof;
mod screening;

use std::collections::BTreeMap;
use std::time::Duration;

use locale::{Language, Message, say};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use record::{
    Decision, FailureKind, Level, Nanoseconds, Outcome, Phase, Round, Stage, TrialRecord,
};

use crate::Error;
use crate::error::why;
use crate::gaussian_process::Observation;
use crate::phase_execution::{Hooks, Interruption, Progress};
use crate::testbed::{Testbed, same_place};
use crate::tune::{Judged, TuneOutcome, Tuning, merged, needs_wash_out};
use crate::tune_plan::Candidate;
use screening::design;

pub use plan::{CANDIDATES_MAX, SearchPlan};

/// Id of the experiment that holds everything that is kept against the start.
pub const TOGETHER: &str = "together";
/// The most times that a screening goes through its settings.
const SCREENINGS_MAX: usize = 3;
/// The most trials of a race.
const RACE_MAX: usize = 60;
/// A rival stays as long as so many standard deviations on the good side it would matter.
const RIVAL_DEVIATIONS: f64 = 2.0;
/// The most blocks of a proof.
const PROOF_BLOCKS_MAX: usize = 14;
/// Trials to come may take so many times as long as those so far.
const PACE_MARGIN: f64 = 1.1;
/// Phases of a search draw their order from streams of the seed from here on.
const STREAMS: u64 = 1_000_000;

/// Runs a search. Whatever ends it before its time leaves everything as at the start.
///
/// The caller writes [`record::Event::Finished`], because the run may go on.
///
/// # Errors
/// [`Error::NotRestored`] is the one that leaves something changed.
pub fn search(
    testbed: &mut dyn Testbed,
    plan: &SearchPlan,
    hooks: &mut Hooks<'_>,
) -> Result<TuneOutcome, Error> {
    plan.check()?;
    let began = testbed.now();
    let mut tuning = Tuning::begin(testbed, &plan.tune, hooks)?;
    tuning.bench.deadline = plan.budget.map(|budget| {
        let budget = Nanoseconds::from(budget);
        Nanoseconds::new(began.get().saturating_add(budget.get()))
    });
    let mut search = Search {
        tuning,
        plan,
        began,
        preparation: Duration::ZERO,
        switch: Duration::ZERO,
        factors: Vec::new(),
        noise: 0.0,
        usual_noise: 0.0,
        seen: Vec::new(),
        blocks: 0,
        rounds: 0,
        duels: Vec::new(),
    };
    let end = search.run();
    search.tuning.end(end)
}

/// The choices of one place: candidates that cannot hold together.
type Factor = Vec<usize>;

struct Search<'a, 'b> {
    tuning: Tuning<'a, 'b>,
    plan: &'a SearchPlan,
    began: Nanoseconds,
    /// How long it took to set each candidate once.
    preparation: Duration,
    /// How long one of them took.
    switch: Duration,
    factors: Vec<Factor>,
    /// Standard deviation of a trial's logarithm.
    noise: f64,
    /// The same without trials that stand apart: proofs bear those.
    usual_noise: f64,
    seen: Vec<Observation>,
    /// Blocks that were seen.
    blocks: usize,
    rounds: u32,
    /// Two levels that were held against each other on fresh trials: of which candidate, and as what.
    duels: Vec<(String, Phase)>,
}

impl Search<'_, '_> {
    /// Finds the best level and proves it.
    fn run(&mut self) -> Result<Level, Interruption> {
        self.tuning.bench.stop_if_asked()?;
        let start = self.tuning.start.clone();
        let gate = match self.tuning.baseline(Judged::Together)? {
            Ok(gate) => gate,
            Err(reason) => {
                for candidate in &self.plan.tune.candidates {
                    self.tuning
                        .decide(candidate, Decision::Returned, reason.clone())?;
                }
                return Ok(start);
            }
        };
        self.factors = self.tried()?;
        self.return_refused()?;
        self.leave_out()?;
        if self.factors.is_empty() {
            return Ok(start);
        }
        self.learn_noise(&gate);
        self.screen()?;
        let model = self.race()?;
        let mut best = self.simplest(&model);
        let hopeless = self.leave_hopeless(&model, &mut best);
        self.return_others(&model, &best, &hopeless)?;
        let floors = gate.noise;
        let mut kept = best;
        let proven = self.prove(&model, &mut kept, &floors)?;
        if changed(&kept).next().is_none() {
            return Ok(start);
        }
        self.confirm(&model, kept, proven, &floors)
    }

    /// The factors; candidates that are so already are decided.
    fn tried(&mut self) -> Result<Vec<Factor>, Interruption> {
        let mut kept = factors(&self.plan.tune.candidates);
        for (index, candidate) in self.plan.tune.candidates.iter().enumerate() {
            let level = merged(&self.tuning.start, &candidate.level);
            if level.settings == self.tuning.start.settings {
                kept.iter_mut()
                    .for_each(|factor| factor.retain(|one| *one != index));
                let reason = say("decided.so-already");
                self.tuning.decide(candidate, Decision::Returned, reason)?;
            }
        }
        kept.retain(|factor| !factor.is_empty());
        Ok(kept)
    }

    /// Sets each candidate once. What cannot be set is returned: a screening would meet it in half of
    /// its settings, and would fail by it.
    fn return_refused(&mut self) -> Result<(), Interruption> {
        let began = self.tuning.bench.testbed.now().get();
        let start = self.tuning.start.clone();
        let mut touches_links = false;
        let mut switches = 1;
        for (index, candidate) in self.plan.tune.candidates.iter().enumerate() {
            if !self.factors.iter().flatten().any(|one| *one == index) {
                continue;
            }
            self.tuning.bench.go_on()?;
            switches += 1;
            let level = merged(&start, &candidate.level);
            (self.tuning.bench.hooks.progress)(Progress::Setting {
                level: level.name.clone(),
            });
            touches_links |= needs_wash_out(&start, &level);
            match self.tuning.revert_to(&level) {
                Ok(()) => {}
                Err(Interruption::Failed(failure)) if failure.kind != FailureKind::Interrupted => {
                    let reason = say("decided.cannot-be-set").with("reason", why(&failure));
                    self.tuning.decide(candidate, Decision::Returned, reason)?;
                    self.factors
                        .iter_mut()
                        .for_each(|factor| factor.retain(|one| *one != index));
                }
                Err(interruption) => return Err(interruption),
            }
        }
        self.factors.retain(|factor| !factor.is_empty());
        self.tuning.revert_to(&start)?;
        if touches_links {
            self.tuning.bench.visited = None;
        }
        let took = self.tuning.bench.testbed.now().get().saturating_sub(began);
        self.preparation = Duration::from_nanos(took);
        self.switch = self.preparation / switches;
        Ok(())
    }

    /// Returns the last candidates until the time suffices to screen the others and to prove one. How
    /// long a trial takes is known only now.
    fn leave_out(&mut self) -> Result<(), Interruption> {
        loop {
            let screening = design(self.factors.len()).len() * self.plan.tune.responses.len();
            let last = self.factors.iter().flatten().max().copied();
            let Some(last) = last.filter(|_| self.left() < screening + self.needed(1)) else {
                return Ok(());
            };
            let seconds = format!("{:.1}", self.trial_seconds());
            let reason = say("decided.no-time-to-try").with("seconds", seconds);
            let candidate = &self.plan.tune.candidates[last];
            self.tuning.decide(candidate, Decision::Returned, reason)?;
            for factor in &mut self.factors {
                factor.retain(|one| *one != last);
            }
            self.factors.retain(|factor| !factor.is_empty());
        }
    }

    fn level(&self, point: &[usize]) -> Level {
        let chosen = changed(point).filter_map(|factor| self.candidate(factor, point));
        chosen.fold(self.tuning.start.clone(), |level, candidate| {
            merged(&level, &candidate.level)
        })
    }

    fn candidate(&self, factor: usize, point: &[usize]) -> Option<&Candidate> {
        let choice = point.get(factor)?.checked_sub(1)?;
        let index = self.factors.get(factor)?.get(choice)?;
        self.plan.tune.candidates.get(*index)
    }

    /// Measures settings; those that fail are not seen.
    fn measure(
        &mut self,
        what: Message,
        points: &[Vec<usize>],
        blocks: &[Vec<usize>],
    ) -> Result<(), Interruption> {
        let place = |place: &usize| u32::try_from(*place).unwrap_or(u32::MAX);
        let round = Round {
            round: self.rounds,
            what: Language::English.say(&what),
            levels: points.iter().map(|point| self.level(point)).collect(),
            blocks: blocks
                .iter()
                .map(|row| row.iter().map(place).collect())
                .collect(),
            responses: self.plan.tune.responses.clone(),
        };
        self.rounds += 1;
        let trials = self.tuning.bench.round((&round, what), &needs_wash_out)?;
        let trials = trials.map_err(Interruption::Failed)?;
        let mut visits: BTreeMap<(u32, u32, u32), Vec<f64>> = BTreeMap::new();
        for trial in &trials {
            if let (Some(visit), Some(log)) = (visit(trial), log_rate(trial)) {
                visits.entry(visit).or_default().push(log);
            }
        }
        for ((block, _, level), logs) in visits {
            let Some(point) = points.get(level as usize) else {
                continue;
            };
            if logs.len() == round.responses.len() {
                self.seen.push(Observation {
                    point: point.clone(),
                    block: self.blocks + block as usize,
                    log: mean(&logs),
                });
            }
        }
        self.blocks += blocks.len();
        Ok(())
    }

    /// Trials that are left, by their number and by the time that each takes.
    fn left(&self) -> usize {
        let by_number = self
            .plan
            .trials_max
            .saturating_sub(self.tuning.bench.counted);
        let Some(budget) = self.plan.budget else {
            return by_number;
        };
        let left = budget.saturating_sub(self.elapsed()).as_secs_f64();
        let by_time = left / (PACE_MARGIN * self.trial_seconds()).max(1e-3);
        by_number.min(by_time as usize)
    }

    /// How long a trial takes so far, with the switch before it. The start against itself switches
    /// nothing; it is taken as if it did.
    fn trial_seconds(&self) -> f64 {
        let gate = 2.0 * self.plan.tune.blocks as f64;
        let measuring = self
            .elapsed()
            .saturating_sub(self.preparation)
            .as_secs_f64();
        let used = self.tuning.bench.counted.max(1);
        (measuring + gate * self.switch.as_secs_f64()) / used as f64
    }

    fn elapsed(&self) -> Duration {
        let now = self.tuning.bench.testbed.now().get();
        Duration::from_nanos(now.saturating_sub(self.began.get()))
    }

    /// The fewest trials that prove a setting with so many changes.
    fn needed(&self, changes: usize) -> usize {
        self.proofs_needed(if changes > 1 { changes } else { 0 })
    }

    /// The fewest trials that prove so many of its changes, and all together.
    fn proofs_needed(&self, changes: usize) -> usize {
        let each = self.plan.tune.responses.len();
        2 * self.plan.tune.blocks * (changes * each + each + self.plan.elsewhere.len())
    }

    /// Trials that are left beside those.
    fn room(&self, changes: usize) -> usize {
        self.left().saturating_sub(self.needed(changes))
    }

    fn random(&self) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.plan.tune.seed);
        random.set_stream(2 * STREAMS + u64::from(self.rounds));
        random
    }
}

/// The factors of a point that are not as at the start.
fn changed(point: &[usize]) -> impl Iterator<Item = usize> + '_ {
    let places = point.iter().enumerate();
    places
        .filter(|(_, choice)| **choice > 0)
        .map(|(factor, _)| factor)
}

/// Candidates that set the same place are choices of one factor.
fn factors(candidates: &[Candidate]) -> Vec<Factor> {
    let mut factors: Vec<Factor> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let settings = &candidate.level.settings;
        let meets = |other: &usize| {
            let others = &candidates[*other].level.settings;
            let mut own = settings.iter();
            own.any(|one| others.iter().any(|two| same_place(one, two)))
        };
        match factors.iter_mut().find(|factor| factor.iter().any(meets)) {
            Some(factor) => factor.push(index),
            None => factors.push(vec![index]),
        }
    }
    factors
}

fn visit(trial: &TrialRecord) -> Option<(u32, u32, u32)> {
    match trial.stage {
        Stage::Search {
            block,
            position,
            level,
            ..
        } => Some((block, position, level)),
        _ => None,
    }
}

fn log_rate(trial: &TrialRecord) -> Option<f64> {
    match &trial.outcome {
        Outcome::Measured(result) => result
            .bytes_per_second()
            .filter(|rate| *rate > 0.0)
            .map(f64::ln),
        Outcome::Failed(_) => None,
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// A difference of logarithms in percent.
fn percent(log: f64) -> f64 {
    100.0 * log.exp_m1()
}
