//! Searches for the best setting when there are too many to measure all.
//!
//! First the start against itself, which tells the noise. Then a screening: a fraction of all
//! settings in which no candidate's own effect can be mistaken for an effect of two together. Then a
//! race of the settings that could be best, until no other could be better by what matters. All of
//! that only proposes. What is kept is proven on fresh trials: each candidate against the same setting
//! without it, and at last all together against the start.

use std::collections::BTreeMap;
use std::time::Duration;

use analysis::{Effect, PhaseResult};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use record::{
    Decision, Direction, FailureKind, Level, Nanoseconds, Outcome, Phase, Round, Schedule, Stage,
    TrialRecord,
};
use stats::two_stage::Fallback;
use stats::{Verdict, blocks_min};

use crate::Error;
use crate::error::text;
use crate::model::{Model, Observation};
use crate::phase::{Hooks, Interruption, PhaseEnd, Progress};
use crate::plan::{Candidate, TunePlan};
use crate::testbed::{Testbed, same_place};
use crate::tune::{
    Judged, NO_TIME, TuneOutcome, Tuning, effects_text, lost, merged, needs_wash_out,
};

/// Id of the experiment that holds everything that is kept against the start.
pub const TOGETHER: &str = "together";
/// What the reason of a candidate begins with that was not worth a proof.
pub const SCREENED_OUT: &str = "screened out: ";
/// The most candidates that a screening takes: 64 settings.
pub const CANDIDATES_MAX: usize = 32;
/// Trials of a screening that have a disturbance in common.
const SCREENING_BLOCK: usize = 8;
/// Noise, as a share of 1, up to which one trial of each setting screens well enough.
const QUIET: f64 = 0.04;
/// The most times that a screening goes through its settings.
const SCREENINGS_MAX: usize = 3;
/// The least noise that is believed.
const NOISE_MIN: f64 = 0.002;
/// Settings that race against the best in each block.
const RIVALS: usize = 4;
/// The share of the trials that are left which a screening takes at most, as one of so many.
const SCREENING_SHARE: usize = 2;
/// Trials that are never too many: a quarter of those of seven candidates.
const TRIALS_WORTH_MIN: usize = 192;
/// The most trials of a race.
const RACE_MAX: usize = 60;
/// A rival stays as long as so many standard deviations on the good side it would matter.
const RIVAL_DEVIATIONS: f64 = 2.0;
/// A setting that changes less is taken if it costs less than this share of the band.
const SIMPLER: f64 = 0.5;
/// The most settings that a model is asked about.
const POINTS_MAX: usize = 2_048;
/// A difference between two trials that is so many times as large as usual stands apart.
const APART: f64 = 4.0;
/// Blocks of a proof where there is room: with six of them, one in which somebody else disturbs a trial
/// leaves any gain unproven.
const PROOF_BLOCKS: usize = 9;
/// The most blocks of a proof.
const PROOF_BLOCKS_MAX: usize = 14;
/// Blocks that find a difference as large as a trial's noise nine times out of ten.
const BLOCKS_FOR_NOISE: f64 = 40.0;
/// Blocks that find such a difference about every other time: what needs more is not tried to be proven.
const BLOCKS_FOR_A_CHANCE: f64 = 12.0;
/// Trials to come may take so many times as long as those so far.
const PACE_MARGIN: f64 = 1.1;
/// Phases of a search draw their order from streams of the seed from here on.
const STREAMS: u64 = 1_000_000;

/// What a search does. All of it is fixed before the first trial.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchPlan {
    /// The candidates, the responses that count, and how each comparison is judged. Candidates of the
    /// same place are choices of which one can be taken.
    pub tune: TunePlan,
    /// What else is measured at last, to show what the result costs there.
    pub elsewhere: Vec<Direction>,
    /// The most trials that count. Proving what was found comes first; screening and race get the rest.
    pub trials_max: usize,
    /// How long it may take, where that is bounded too: how many trials fit is learnt on the way, and
    /// none begins when it is over.
    pub budget: Option<Duration>,
}

impl SearchPlan {
    /// The fewest and the most trials of such a search, whatever it finds: without any winner, and
    /// with every candidate.
    #[must_use]
    pub fn trials(&self) -> [usize; 2] {
        let candidates = self.tune.candidates.len();
        let gate = 2 * self.tune.blocks;
        let screening = settings_screened(&self.tune.candidates);
        let per_visit = self.tune.responses.len();
        let proofs = 2 * PROOF_BLOCKS_MAX * (candidates + 1);
        let most = gate + SCREENINGS_MAX * screening + RACE_MAX + proofs;
        let fewest = (gate + screening) * per_visit;
        let extra = 2 * PROOF_BLOCKS_MAX * self.elsewhere.len();
        [
            fewest,
            (most * per_visit + extra).min(self.trials_max.max(fewest)),
        ]
    }

    /// Says what is wrong with the plan, if something is.
    ///
    /// # Errors
    /// [`Error::Plan`].
    pub fn check(&self) -> Result<(), Error> {
        self.tune.check()?;
        let refuse = |reason: String| Err(Error::Plan { reason });
        if self.tune.candidates.len() > CANDIDATES_MAX {
            return refuse(format!("{CANDIDATES_MAX} candidates are the limit"));
        }
        if let Some(taken) = self.tune.candidates.iter().find(|one| one.id == TOGETHER) {
            return refuse(format!("the name `{}` is taken", taken.id));
        }
        // One candidate that turns out well must have room to be proven.
        let least = self.trials_min();
        if self.trials_max < least {
            return refuse(format!(
                "{} trials are too few; {least} are needed to find and to prove anything",
                self.trials_max
            ));
        }
        Ok(())
    }

    /// The trials without which nothing can be found and proven.
    #[must_use]
    pub fn trials_min(&self) -> usize {
        let proof = 2 * self.tune.blocks * (self.tune.responses.len() + self.elsewhere.len());
        self.trials()[0] + proof
    }

    /// The most trials that make sense: a quarter of those that would measure all settings, and in any
    /// case enough for a few candidates.
    #[must_use]
    pub fn trials_worth(&self) -> usize {
        let choices = factors(&self.tune.candidates).into_iter();
        let settings = choices.fold(1_usize, |all, factor| all.saturating_mul(factor.len() + 1));
        let all = settings.saturating_mul(self.tune.blocks);
        (all / 4).max(TRIALS_WORTH_MIN) * self.tune.responses.len()
    }

    /// Leaves out the last candidates until the trials suffice for the others, and gives those left out.
    pub fn fit(&mut self) -> Vec<Candidate> {
        let mut left_out = Vec::new();
        while self.tune.candidates.len() > 1 && self.trials_max < self.trials_min() {
            left_out.extend(self.tune.candidates.pop());
        }
        left_out.reverse();
        left_out
    }
}

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

/// Why a proof is none.
struct Lost {
    reason: String,
    /// It was shown to make no difference that matters.
    is_alike: bool,
}

impl From<String> for Lost {
    fn from(reason: String) -> Self {
        let is_alike = false;
        Self { reason, is_alike }
    }
}

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
                let reason = "nothing to try: it is so already".to_owned();
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
                    let reason = format!("it cannot be set: {}", text(&failure));
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
            let reason = format!(
                "{NO_TIME} to try it: a trial takes {:.1} s here",
                self.trial_seconds()
            );
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

    /// The noise of a trial, from the start against itself; these trials are seen as well.
    fn learn_noise(&mut self, gate: &PhaseResult) {
        let mut by_block: BTreeMap<u32, Vec<(record::Arm, Vec<f64>)>> = BTreeMap::new();
        for samples in &gate.samples {
            for (block, rate) in samples.blocks.iter().zip(&samples.rates) {
                let arms = by_block.entry(*block).or_default();
                match arms.iter_mut().find(|(arm, _)| *arm == samples.arm) {
                    Some((_, logs)) => logs.push(rate.ln()),
                    None => arms.push((samples.arm, vec![rate.ln()])),
                }
            }
        }
        let responses = self.plan.tune.responses.len();
        let mut differences = Vec::new();
        for arms in by_block.into_values() {
            let complete = arms.iter().filter(|(_, logs)| logs.len() == responses);
            let logs: Vec<f64> = complete.map(|(_, logs)| mean(logs)).collect();
            for log in &logs {
                self.seen.push(Observation {
                    point: vec![0; self.factors.len()],
                    block: self.blocks,
                    log: *log,
                });
            }
            self.blocks += 1;
            if let [one, two] = logs[..] {
                differences.push((one - two).abs());
            }
        }
        self.noise = deviation(&differences).max(NOISE_MIN);
        differences.sort_by(f64::total_cmp);
        let middle = differences.get(differences.len() / 2).copied();
        differences.retain(|one| *one <= APART * middle.unwrap_or(0.0));
        self.usual_noise = deviation(&differences).max(NOISE_MIN);
    }

    /// Tries a fraction of all settings.
    fn screen(&mut self) -> Result<(), Interruption> {
        let design = design(self.factors.len());
        let mut met = vec![0_usize; self.factors.len()];
        let points: Vec<Vec<usize>> = design
            .into_iter()
            .map(|row| {
                let factors = row.into_iter().zip(&self.factors).zip(&mut met);
                // A factor of several choices takes them in turn.
                let choices = factors.map(|((changed, factor), met)| {
                    *met += usize::from(changed);
                    usize::from(changed) * (1 + *met % factor.len())
                });
                choices.collect()
            })
            .collect();
        let wanted = (self.noise / QUIET).ceil() as usize;
        let room = self.room(1) / SCREENING_SHARE;
        let room = room / (points.len() * self.plan.tune.responses.len());
        let times = wanted.min(SCREENINGS_MAX).min(room).max(1);
        let mut random = self.random();
        let mut blocks = Vec::new();
        for _ in 0..times {
            let mut order: Vec<usize> = (0..points.len()).collect();
            order.shuffle(&mut random);
            blocks.extend(order.chunks(SCREENING_BLOCK).map(<[usize]>::to_vec));
        }
        let what = format!("screening of {} settings", points.len());
        let before = self.seen.len();
        self.measure(what.clone(), &points, &blocks)?;
        let text = self.screened(&what, &self.seen[before..]);
        self.tuning.bench.tell(text)
    }

    /// What each candidate seems to do on average, for people.
    fn screened(&self, what: &str, seen: &[Observation]) -> String {
        let mut effects = Vec::new();
        for (factor, choices) in self.factors.iter().enumerate() {
            let of = |choice: usize| -> Vec<f64> {
                let chosen = seen.iter().filter(|one| one.point[factor] == choice);
                chosen.map(|one| one.log).collect()
            };
            for (choice, index) in (1..).zip(choices) {
                let (with, without) = (of(choice), of(0));
                let candidate = self.plan.tune.candidates.get(*index);
                if let (Some(candidate), false, false) =
                    (candidate, with.is_empty(), without.is_empty())
                {
                    let error = (1.0 / with.len() as f64 + 1.0 / without.len() as f64).sqrt();
                    effects.push((mean(&with) - mean(&without), error, &candidate.id));
                }
            }
        }
        effects.sort_by(|one, two| two.0.total_cmp(&one.0));
        let texts: Vec<String> = effects
            .iter()
            .map(|(effect, error, id)| {
                let about = 200.0 * self.noise * error;
                format!(
                    "`{id}` {:+.1} % (about {about:.1} % to either side)",
                    percent(*effect)
                )
            })
            .collect();
        format!(
            "{what}, noise of a trial {:.1} %; on average over the other candidates: {}",
            100.0 * self.noise,
            texts.join(", ")
        )
    }

    /// Races what could be best, until nothing else could be better by what matters.
    fn race(&mut self) -> Result<Model, Interruption> {
        let mut model = self.model(None);
        let mut raced = 0;
        loop {
            let (best, rivals) = self.rivals(&model);
            let room = self.room(changed(&best).count());
            let block: Vec<Vec<usize>> = std::iter::once(best).chain(rivals).collect();
            let trials = block.len() * self.plan.tune.responses.len();
            let fits = raced + block.len() <= RACE_MAX && trials <= room;
            if block.len() == 1 || !fits {
                let text = format!(
                    "race of {raced} trials: {}",
                    if fits {
                        "nothing else could be better by what matters"
                    } else {
                        "no trials are left for more"
                    }
                );
                self.tuning.bench.tell(text)?;
                return Ok(model);
            }
            let mut order: Vec<usize> = (0..block.len()).collect();
            order.shuffle(&mut self.random());
            self.measure("race of what could be best".into(), &block, &[order])?;
            raced += block.len();
            model = self.model(Some(&model));
        }
    }

    /// The best setting as it seems, and those that could be better.
    fn rivals(&self, model: &Model) -> (Vec<usize>, Vec<Vec<usize>>) {
        let points = self.points(model);
        let means: Vec<f64> = points.iter().map(|point| model.mean(point)).collect();
        let best = (0..points.len()).max_by(|one, two| means[*one].total_cmp(&means[*two]));
        let best = best.unwrap_or(0);
        let matters = SIMPLER * self.plan.tune.band;
        let unsure = model.differences(&points, &points[best]);
        let mut rivals: Vec<(f64, usize)> = (0..points.len())
            .filter(|place| *place != best)
            .map(|place| {
                let lead = means[place] - means[best];
                (lead + RIVAL_DEVIATIONS * unsure[place], place)
            })
            .filter(|(upper, _)| *upper > matters)
            .collect();
        rivals.sort_by(|one, two| two.0.total_cmp(&one.0));
        let rivals = rivals.into_iter().take(RIVALS);
        let rivals = rivals.map(|(_, place)| points[place].clone()).collect();
        (points[best].clone(), rivals)
    }

    /// The setting that changes least among those that seem as good as the best.
    fn simplest(&self, model: &Model) -> Vec<usize> {
        let points = self.points(model);
        let means: Vec<f64> = points.iter().map(|point| model.mean(point)).collect();
        let top = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let enough = top - SIMPLER * self.plan.tune.band;
        let good = points
            .into_iter()
            .zip(means)
            .filter(|(_, mean)| *mean >= enough);
        let simplest = good.min_by(|(one, mean), (two, other)| {
            let changes = changed(one).count().cmp(&changed(two).count());
            changes.then(other.total_cmp(mean))
        });
        simplest.map_or_else(|| vec![0; self.factors.len()], |(point, _)| point)
    }

    /// All settings; where they are too many, those that differ in what seems to do most.
    fn points(&self, model: &Model) -> Vec<Vec<usize>> {
        let mut points = vec![vec![0; self.factors.len()]];
        for factor in model.strongest() {
            let choices = self.factors[factor].len();
            if points.len() * (choices + 1) > POINTS_MAX {
                break;
            }
            for choice in 1..=choices {
                let mut others: Vec<Vec<usize>> = points
                    .iter()
                    .filter(|point| point[factor] == 0)
                    .cloned()
                    .collect();
                others.iter_mut().for_each(|point| point[factor] = choice);
                points.extend(others);
            }
        }
        points
    }

    fn model(&self, earlier: Option<&Model>) -> Model {
        let choices = self.factors.iter().map(|factor| factor.len() + 1);
        Model::fit(self.seen.clone(), choices.collect(), self.noise, earlier)
    }

    /// Leaves out what the trials that are left could hardly prove, the weakest first; the strongest
    /// stays where there is time for it. Gives for each of them what could be proven, as a logarithm, or
    /// that no time was left.
    fn leave_hopeless(&self, model: &Model, best: &mut [usize]) -> Vec<(usize, Option<f64>)> {
        let mut hopeless = Vec::new();
        loop {
            let changes = changed(best).count();
            let gains = changed(best).map(|factor| {
                let unsure = model.differences(&[without(best, factor)], best)[0];
                (gain(model, best, factor) + unsure, factor)
            });
            let weakest = gains.min_by(|one, two| one.0.total_cmp(&two.0));
            // Each alone, and all together.
            let trials = 2 * self.plan.tune.responses.len() * (changes + 1);
            let blocks = (self.left() / trials).clamp(self.plan.tune.blocks, PROOF_BLOCKS_MAX);
            let provable = self.usual_noise * (BLOCKS_FOR_A_CHANCE / blocks as f64).sqrt();
            let fits = self.needed(changes) <= self.left();
            match weakest {
                Some((gain, factor)) if !fits || changes > 1 && gain < provable => {
                    best[factor] = 0;
                    hopeless.push((factor, fits.then_some(provable)));
                }
                _ => return hopeless,
            }
        }
    }

    /// Decides what is not in the best setting.
    fn return_others(
        &mut self,
        model: &Model,
        best: &[usize],
        hopeless: &[(usize, Option<f64>)],
    ) -> Result<(), Interruption> {
        let with = model.mean(best);
        for factor in 0..self.factors.len() {
            for (choice, index) in (1..).zip(self.factors[factor].clone()) {
                if best[factor] == choice {
                    continue;
                }
                let mut point = best.to_vec();
                point[factor] = choice;
                let gain = model.mean(&point) - with;
                let unsure = 2.0 * model.differences(&[point], best)[0];
                let mut reason = format!(
                    "{SCREENED_OUT}{} ({:+.1} % [{:+.1}, {:+.1}] on top of the best that was found)",
                    at_most(gain + unsure),
                    percent(gain),
                    percent(gain - unsure),
                    percent(gain + unsure)
                );
                if let Some((_, provable)) = hopeless.iter().find(|(of, _)| *of == factor) {
                    reason.push_str(&format!("; {}", self.unprovable(*provable)));
                }
                let candidate = &self.plan.tune.candidates[index];
                self.tuning.decide(candidate, Decision::Returned, reason)?;
            }
        }
        Ok(())
    }

    fn unprovable(&self, provable: Option<f64>) -> String {
        match provable {
            Some(provable) => format!(
                "with trials that differ by {:.1} % from one to the next, less than {:.0} % could not be \
                 proven",
                100.0 * self.usual_noise,
                percent(provable).ceil()
            ),
            None => format!("{NO_TIME} to prove it"),
        }
    }

    /// Each candidate of the best setting against that setting without it, the weakest first; what is
    /// not better is returned at once. What won before beside that one is measured again, unless that one
    /// was shown to make no difference there, or the search has seen it gain without it too. Gives the
    /// reasons of those that are left.
    fn prove(
        &mut self,
        model: &Model,
        best: &mut [usize],
        floors: &[analysis::NoiseFloor],
    ) -> Result<Vec<(usize, String)>, Interruption> {
        let beside = "against all the rest without it";
        // What is kept has won its first proof, so each candidate counts once.
        let mut errors = Fallback::new(1.0 - self.plan.tune.confidence, changed(best).count());
        let mut proven: Vec<(usize, String)> = Vec::new();
        loop {
            let mut open: Vec<(f64, usize)> = changed(best)
                .filter(|factor| !proven.iter().any(|(of, _)| of == factor))
                .map(|factor| (gain(model, best, factor), factor))
                .collect();
            open.sort_by(|one, two| one.0.total_cmp(&two.0));
            let Some(&(gain, factor)) = open.first() else {
                return Ok(proven);
            };
            // What is alone is proven against the start, which is the same.
            if changed(best).count() == 1 {
                return Ok(vec![(factor, String::new())]);
            }
            let Some(candidate) = self.candidate(factor, best).cloned() else {
                return Ok(proven);
            };
            let fits = self.proofs_needed(open.len()) <= self.left();
            let result = match self.next_phase(&candidate.id) {
                Some(phase) if fits => {
                    let levels = [self.level(&without(best, factor)), self.level(best)];
                    let responses = self.plan.tune.responses.clone();
                    // Those that are left, and that of all together.
                    let proofs = open.len() + 1;
                    self.duel(
                        (&candidate.id, phase),
                        levels,
                        (gain, responses, proofs),
                        (self.confidence(errors.next()), floors),
                    )?
                }
                Some(_) => Err(self.unprovable(None).into()),
                None => {
                    let reason = "it won twice, beside what was put back each time";
                    Err(reason.to_owned().into())
                }
            };
            errors.spent(result.is_ok());
            let lost = match result {
                Ok(effects) => {
                    proven.push((factor, format!("{beside}: {}", effects_text(&effects))));
                    continue;
                }
                Err(lost) => lost,
            };
            let reason = format!("{beside}: {}", lost.reason);
            self.tuning.decide(&candidate, Decision::Returned, reason)?;
            best[factor] = 0;
            let since = match lost.is_alike {
                true => "as it makes no difference there",
                false => "without which it was seen to gain as well",
            };
            proven.retain(|(of, _)| lost.is_alike || gains_surely(model, best, *of));
            for (_, earlier) in &mut proven {
                earlier.push_str(&format!(
                    "; `{}` was part of the rest then, and has been put back since, {since}",
                    candidate.id
                ));
            }
        }
    }

    /// What the next proof of a candidate is in the run file; each may be there once.
    fn next_phase(&self, id: &str) -> Option<Phase> {
        let mut phases = [Phase::Compare, Phase::Confirm].into_iter();
        phases.find(|phase| {
            let mut duels = self.duels.iter();
            !duels.any(|(of, used)| of == id && used == phase)
        })
    }

    /// Everything that is left against the start.
    fn confirm(
        &mut self,
        model: &Model,
        best: Vec<usize>,
        proven: Vec<(usize, String)>,
        floors: &[analysis::NoiseFloor],
    ) -> Result<Level, Interruption> {
        let level = self.level(&best);
        let levels = [self.tuning.start.clone(), level.clone()];
        let kept: Vec<Candidate> = changed(&best)
            .filter_map(|factor| self.candidate(factor, &best).cloned())
            .collect();
        let id = match &kept[..] {
            [alone] if self.next_phase(&alone.id).is_some() => alone.id.clone(),
            _ => TOGETHER.to_owned(),
        };
        let mut responses = self.plan.tune.responses.clone();
        responses.extend(&self.plan.elsewhere);
        let start = vec![0; self.factors.len()];
        let gain = model.mean(&best) - model.mean(&start);
        let judged = (self.plan.tune.confidence, floors);
        let result = self.duel((&id, Phase::Confirm), levels, (gain, responses, 1), judged)?;
        for (candidate, factor) in kept.iter().zip(changed(&best)) {
            let alone = proven.iter().find(|(of, _)| *of == factor);
            let alone = alone.map(|(_, reason)| reason.as_str()).unwrap_or_default();
            let joint = if alone.is_empty() { "" } else { "; " };
            match &result {
                Ok(effects) => {
                    let effects = effects_text(effects);
                    let reason =
                        format!("{alone}{joint}all that is kept against the start: {effects}");
                    self.tuning.judge(candidate, Decision::Kept, reason);
                }
                Err(lost) => {
                    let reason = &lost.reason;
                    let reason = format!("{alone}{joint}not confirmed against the start: {reason}");
                    self.tuning.decide(candidate, Decision::Returned, reason)?;
                }
            }
        }
        Ok(if result.is_ok() {
            level
        } else {
            self.tuning.start.clone()
        })
    }

    /// Two levels against each other on fresh trials, in as many blocks as the gain that is expected
    /// needs: the effects if B is better in what counts and worse in nothing that does.
    fn duel(
        &mut self,
        (id, phase): (&str, Phase),
        levels: [Level; 2],
        (gain, responses, proofs): (f64, Vec<Direction>, usize),
        (confidence, floors): (f64, &[analysis::NoiseFloor]),
    ) -> Result<Result<Vec<Effect>, Lost>, Interruption> {
        self.tuning.bench.stop_if_asked()?;
        let each = 2 * responses.len();
        let left = self.left();
        if left < each * self.plan.tune.blocks {
            return Ok(Err(self.unprovable(None).into()));
        }
        // All together are measured elsewhere too.
        let elsewhere = match proofs {
            1 => 0,
            _ => 2 * self.plan.tune.blocks * self.plan.elsewhere.len(),
        };
        // What is left is shared with the proofs that are still to come.
        let share = left.saturating_sub(elsewhere) / (each * proofs.max(1));
        let noise = self.usual_noise;
        let needed = BLOCKS_FOR_NOISE * (noise / gain.max(noise / 4.0)).powi(2);
        let plan = TunePlan {
            blocks: (needed.ceil() as usize)
                .max(PROOF_BLOCKS)
                .min(share.min(PROOF_BLOCKS_MAX))
                .max(self.plan.tune.blocks)
                .max(blocks_min(confidence)),
            confidence,
            responses,
            candidates: Vec::new(),
            ..self.plan.tune.clone()
        };
        self.duels.push((id.to_owned(), phase));
        let ordinal = STREAMS + self.duels.len() as u64;
        let schedule: Schedule = plan.schedule(id, phase, [&levels[0], &levels[1]], ordinal);
        let washes_out = needs_wash_out(&levels[0], &levels[1]);
        let result = match self.tuning.bench.phase(&schedule, washes_out, floors, &[]) {
            Ok(PhaseEnd::Complete(result)) => result,
            Ok(PhaseEnd::TooManyFailures { failed, last }) => {
                return Ok(Err(format!(
                    "{failed} trials failed; the last: {}",
                    text(&last)
                )
                .into()));
            }
            Err(Interruption::TimeOver) => return Ok(Err(self.unprovable(None).into())),
            Err(interruption) => return Err(interruption),
        };
        let counts = |effect: &&Effect| self.plan.tune.responses.contains(&effect.response);
        let goal: Vec<&Effect> = result.effects.iter().filter(counts).collect();
        let has = |verdict: Verdict| goal.iter().any(|effect| effect.verdict == verdict);
        let complete = goal.len() == self.plan.tune.responses.len();
        let won = complete && has(Verdict::Better) && !has(Verdict::Worse);
        let is_alike = complete && goal.iter().all(|one| one.verdict == Verdict::Equivalent);
        Ok(match won {
            true => Ok(result.effects),
            false => Err(Lost {
                reason: lost(&result),
                is_alike,
            }),
        })
    }

    /// The confidence of each interval of a proof that may win wrongly with this probability: to win it
    /// must be better, which is one side of an interval, in any response.
    fn confidence(&self, error: f64) -> f64 {
        let two_sided = 2.0 * error / self.plan.tune.responses.len().max(1) as f64;
        1.0 - two_sided.min(1.0 - self.plan.tune.confidence)
    }

    /// Measures settings; those that fail are not seen.
    fn measure(
        &mut self,
        what: String,
        points: &[Vec<usize>],
        blocks: &[Vec<usize>],
    ) -> Result<(), Interruption> {
        let place = |place: &usize| u32::try_from(*place).unwrap_or(u32::MAX);
        let round = Round {
            round: self.rounds,
            what,
            levels: points.iter().map(|point| self.level(point)).collect(),
            blocks: blocks
                .iter()
                .map(|row| row.iter().map(place).collect())
                .collect(),
            responses: self.plan.tune.responses.clone(),
        };
        self.rounds += 1;
        let trials = self.tuning.bench.round(&round, &needs_wash_out)?;
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

/// A point with one factor as at the start.
fn without(point: &[usize], factor: usize) -> Vec<usize> {
    let mut rest = point.to_vec();
    rest[factor] = 0;
    rest
}

/// What a factor seems to gain beside all others of a point, as a logarithm.
fn gain(model: &Model, point: &[usize], factor: usize) -> f64 {
    model.mean(point) - model.mean(&without(point, factor))
}

/// Whether it seems to gain there beyond doubt.
fn gains_surely(model: &Model, point: &[usize], factor: usize) -> bool {
    let unsure = model.differences(&[without(point, factor)], point)[0];
    gain(model, point, factor) > RIVAL_DEVIATIONS * unsure
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

/// Which factors are changed in each setting of a screening: the fraction of resolution IV whose
/// columns are products of an odd number of basic ones, so that a product of two columns is none of
/// them. It is a full factorial for one and two factors, and the start is part of it.
fn design(factors: usize) -> Vec<Vec<bool>> {
    let basic = (1..)
        .find(|basic| 1_usize << (basic - 1) >= factors)
        .unwrap_or(1);
    let columns = (1_usize..1 << basic).filter(|column| column.count_ones() % 2 == 1);
    let columns: Vec<usize> = columns.take(factors).collect();
    (0..1_usize << basic)
        .map(|row| {
            let parity = columns
                .iter()
                .map(|column| (row & column).count_ones() % 2 == 1);
            parity.collect()
        })
        .collect()
}

/// How many settings a screening of these candidates tries.
fn settings_screened(candidates: &[Candidate]) -> usize {
    design(factors(candidates).len()).len()
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

/// The standard deviation of a trial, from differences between two.
fn deviation(differences: &[f64]) -> f64 {
    let squares: f64 = differences.iter().map(|one| 0.5 * one.powi(2)).sum();
    (squares / differences.len().max(1) as f64).sqrt()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// `at most 1.05 x`, or that it is no better at all.
fn at_most(log: f64) -> String {
    match log.exp() {
        ratio if ratio > 1.0005 => format!("at most {ratio:.3} x"),
        _ => "not better".to_owned(),
    }
}

/// A difference of logarithms in percent.
fn percent(log: f64) -> f64 {
    100.0 * log.exp_m1()
}
