//! Tries changes one after another and keeps what is proven, and borne out by fresh trials.

use analysis::{Effect, NoiseFloor, PhaseResult};
use record::{Decision, Direction, Event, Failure, LEVELS_JOINED, Level, Phase, Schedule, Setting};
use stats::two_stage::{Fallback, Interim, TwoStage};
use stats::{PairedRatios, Verdict};

use crate::Error;
use crate::error::text;
use crate::phase::{Bench, Hooks, Interruption, PhaseEnd, Progress};
use crate::plan::{BASELINE, Candidate, START_NAME, TunePlan, ordinal};
use crate::testbed::{SwitchCost, Testbed, check, same_place, switch_cost};

/// Why a candidate is returned that the time of a search did not reach.
pub(crate) const NO_TIME: &str = "no time was left";

/// What became of one candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Its id.
    pub experiment: String,
    /// What was done.
    pub decision: Decision,
    /// Why, with the numbers.
    pub reason: String,
}

/// How `tune` ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All candidates were decided.
    Finished,
    /// It was stopped from outside; everything is as at the start.
    Stopped,
    /// It could not go on; everything is as at the start.
    Failed(Failure),
}

/// What `tune` leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuneOutcome {
    /// How it ended.
    pub ended: Ended,
    /// The candidates, in their order; those that were not reached are missing.
    pub decisions: Vec<Decided>,
    /// The start, as it was read.
    pub start: Level,
    /// What holds now, as it was read back: the start, or what was kept.
    pub left: Level,
    /// Id of the next trial of the run.
    pub next_trial_id: u64,
}

/// Runs the plan. First the baseline against itself: if that comes out different in every response,
/// nothing can be believed and nothing is tried; a response in which it does is not judged. Then each
/// candidate against the best so far, in two stages ([`stats::two_stage`]): one that could still be shown
/// to be better is measured again on fresh trials against the same start. It is kept if all blocks
/// together say that it is better in a response and worse in none, and the fresh ones bear that out.
/// The error is split over the candidates, and what is kept passes its share on. What is kept belongs to the baseline of the next candidate; it is marked as kept on the testbed at the very end,
/// so that a stop or a failure leaves everything as at the start.
///
/// The caller writes [`Event::Finished`], because the run may go on.
///
/// # Errors
/// [`Error::NotRestored`] is the one that leaves something changed.
pub fn tune(
    testbed: &mut dyn Testbed,
    plan: &TunePlan,
    hooks: &mut Hooks<'_>,
) -> Result<TuneOutcome, Error> {
    plan.check()?;
    let mut tuning = Tuning::begin(testbed, plan, hooks)?;
    let end = tuning.candidates();
    tuning.end(end)
}

pub(crate) struct Tuning<'a, 'b> {
    pub(crate) bench: Bench<'a, 'b>,
    plan: &'a TunePlan,
    pub(crate) start: Level,
    /// Judgements in order; those that say `Kept` hold only if the testbed keeps them.
    verdicts: Vec<Decided>,
}

/// How the responses of a plan are judged.
#[derive(Clone, Copy)]
pub(crate) enum Judged {
    /// Each for itself.
    Apart,
    /// By one figure over all of them.
    Together,
}

/// What one comparison came to.
enum Judgement {
    Complete(PhaseResult),
    Lost(String),
}

impl<'a, 'b> Tuning<'a, 'b> {
    /// Reads the start; nothing is touched.
    pub(crate) fn begin(
        testbed: &'a mut dyn Testbed,
        plan: &'a TunePlan,
        hooks: &'a mut Hooks<'b>,
    ) -> Result<Self, Error> {
        let start = read_start(testbed, plan)?;
        Ok(Self {
            bench: Bench {
                testbed,
                hooks,
                next_trial_id: plan.first_trial_id,
                counted: 0,
                failures_max: plan.failures_max,
                visited: None,
                deadline: None,
            },
            plan,
            start,
            verdicts: Vec::new(),
        })
    }
}

impl Tuning<'_, '_> {
    /// Tries every candidate and gives the best level.
    fn candidates(&mut self) -> Result<Level, Interruption> {
        self.bench.stop_if_asked()?;
        let mut best = self.start.clone();
        let floors = match self.baseline(Judged::Apart)? {
            Ok(gate) => gate.noise,
            Err(reason) => {
                for candidate in &self.plan.candidates {
                    self.decide(candidate, Decision::Returned, reason.clone())?;
                }
                return Ok(best);
            }
        };
        let mut errors = Fallback::new(1.0 - self.plan.confidence, self.plan.candidates.len());
        for (index, candidate) in self.plan.candidates.iter().enumerate() {
            self.bench.stop_if_asked()?;
            let with = merged(&best, &candidate.level);
            if with.settings == best.settings {
                let reason = "nothing to try: it is so already".to_owned();
                self.decide(candidate, Decision::Returned, reason)?;
                errors.spent(true);
                continue;
            }
            let stages = self.stages(errors.next());
            let judged = self.candidate((index, candidate), stages, [&best, &with], &floors)?;
            errors.spent(judged.is_ok());
            match judged {
                Ok(reason) => {
                    best = with;
                    // It is written down as kept when it is: at the end.
                    self.judge(candidate, Decision::Kept, reason);
                }
                Err(reason) => {
                    self.decide(candidate, Decision::Returned, reason)?;
                    self.revert_to(&best)?;
                }
            }
        }
        Ok(best)
    }

    /// The baseline against itself: what it says of the noise, or why nothing can be tried.
    pub(crate) fn baseline(
        &mut self,
        judged: Judged,
    ) -> Result<Result<PhaseResult, String>, Interruption> {
        let plan = self.plan;
        let levels = [&self.start, &self.start];
        let schedule = plan.schedule(BASELINE, Phase::SameAgainstSame, levels, 0);
        // As rough as the roughest comparison to come, so that it shows that one's noise.
        let washes_out = plan
            .candidates
            .iter()
            .any(|candidate| needs_wash_out(&self.start, &merged(&self.start, &candidate.level)));
        let result = match self.bench.phase(&schedule, washes_out, &[], &[])? {
            PhaseEnd::Complete(result) => result,
            PhaseEnd::TooManyFailures { last, .. } => return Err(Interruption::Failed(last)),
        };
        let alarms: Vec<&NoiseFloor> = result.noise.iter().filter(|floor| floor.alarm).collect();
        let stops = match judged {
            Judged::Together => !alarms.is_empty(),
            Judged::Apart => alarms.len() == plan.responses.len(),
        };
        let off = alarms.iter().map(|floor| {
            let response = floor.response.as_str();
            format!("{response} {}", numbers(&floor.ratio))
        });
        let off = off.collect::<Vec<_>>().join(", ");
        if stops {
            return Ok(Err(format!(
                "undecided: the baseline differed from itself ({off}), so no difference here can be believed"
            )));
        }
        if !alarms.is_empty() {
            self.bench.tell(format!(
                "the baseline differed from itself ({off}): what a change gains or costs there cannot be \
                 told, so changes are judged by the rest"
            ))?;
        }
        let sure = |response: &Direction| {
            let mut floors = result.noise.iter();
            let floor = floors.find(|floor| floor.response == *response);
            floor
                .and_then(|floor| floor.ratio.confidence)
                .is_some_and(|reached| reached + 1e-12 >= plan.confidence)
        };
        if let Some(response) = plan.responses.iter().find(|response| !sure(response)) {
            return Ok(Err(format!(
                "undecided: too few blocks of the baseline against itself were measured ({}) to know the noise: {}",
                response.as_str(),
                result
                    .failures
                    .last()
                    .map_or("no reason was given", String::as_str)
            )));
        }
        Ok(Ok(result))
    }

    /// The two stages of a candidate that may be kept wrongly with this probability. To be kept it must
    /// be better, which is one side of an interval, in any of the responses.
    fn stages(&self, error: f64) -> TwoStage {
        let two_sided = 2.0 * error / self.plan.responses.len().max(1) as f64;
        TwoStage {
            blocks: self.plan.blocks,
            error: two_sided.min(1.0 - self.plan.confidence),
        }
    }

    /// Compare, and confirm: the reason to keep it, or to return it.
    fn candidate(
        &mut self,
        of: (usize, &Candidate),
        stages: TwoStage,
        levels: [&Level; 2],
        floors: &[NoiseFloor],
    ) -> Result<Result<String, String>, Interruption> {
        let compared = match self.compare(of, levels, floors)? {
            Judgement::Complete(compared) => compared,
            Judgement::Lost(reason) => return Ok(Err(reason)),
        };
        let interim = interim(stages, &compared, floors);
        if interim == Interim::Hopeless || has(&compared, Verdict::Worse) {
            return Ok(Err(lost(&compared)));
        }
        let first = format!("compare: {}", effects_text(&compared.effects));
        self.bench.stop_if_asked()?;
        let earlier = &compared.pairs;
        let confirmed = match self.confirm(of, stages, interim, (levels, floors, earlier))? {
            Judgement::Complete(confirmed) => confirmed,
            Judgement::Lost(reason) => return Ok(Err(format!("{first}; not confirmed: {reason}"))),
        };
        if !has(&confirmed, Verdict::Better) || has(&confirmed, Verdict::Worse) {
            let reason = lost(&confirmed);
            return Ok(Err(format!("{first}; not confirmed: {reason}")));
        }
        let second = format!("all blocks: {}", effects_text(&confirmed.effects));
        let pairs = |result: &'_ PhaseResult, response: Direction| -> Option<PairedRatios> {
            let mut pairs = result.pairs.iter();
            pairs
                .find(|(of, _)| *of == response)
                .map(|(_, pairs)| pairs.clone())
        };
        let is_borne_out = confirmed.effects.iter().any(|effect| {
            let both = pairs(&compared, effect.response).zip(pairs(&confirmed, effect.response));
            effect.verdict == Verdict::Better
                && both.is_some_and(|(first, fresh)| stages.is_confirmed(&first, &fresh))
        });
        let unsure = floors.iter().filter(|floor| floor.alarm).map(|floor| {
            format!(
                "; what it costs in {} is uncertain, because the baseline differed from itself there",
                floor.response.as_str()
            )
        });
        Ok(if is_borne_out {
            Ok(format!("{first}; {second}{}", unsure.collect::<String>()))
        } else {
            Err(format!(
                "the fresh trials do not bear it out: {first}; {second}"
            ))
        })
    }

    fn compare(
        &mut self,
        (index, candidate): (usize, &Candidate),
        levels: [&Level; 2],
        floors: &[NoiseFloor],
    ) -> Result<Judgement, Interruption> {
        let ordinal = ordinal(index, Phase::Compare);
        let schedule = self
            .plan
            .schedule(&candidate.id, Phase::Compare, levels, ordinal);
        self.comparison(&schedule, levels, floors, &[])
    }

    /// The fresh blocks, judged together with the earlier ones.
    fn confirm(
        &mut self,
        (index, candidate): (usize, &Candidate),
        stages: TwoStage,
        interim: Interim,
        (levels, floors, earlier): ([&Level; 2], &[NoiseFloor], &[(Direction, PairedRatios)]),
    ) -> Result<Judgement, Interruption> {
        let fresh = TunePlan {
            blocks: stages.fresh_blocks(interim),
            ..self.plan.clone()
        };
        let ordinal = ordinal(index, Phase::Confirm);
        let mut schedule = fresh.schedule(&candidate.id, Phase::Confirm, levels, ordinal);
        schedule.joint_error = Some(stages.last_error());
        self.comparison(&schedule, levels, floors, earlier)
    }

    fn comparison(
        &mut self,
        schedule: &Schedule,
        levels: [&Level; 2],
        floors: &[NoiseFloor],
        earlier: &[(Direction, PairedRatios)],
    ) -> Result<Judgement, Interruption> {
        let washes_out = needs_wash_out(levels[0], levels[1]);
        let result = match self.bench.phase(schedule, washes_out, floors, earlier)? {
            PhaseEnd::Complete(result) => result,
            PhaseEnd::TooManyFailures { failed, last } => {
                let reason = format!("{failed} trials failed; the last: {}", text(&last));
                return Ok(Judgement::Lost(reason));
            }
        };
        let complete = result.effects.len() == self.plan.responses.len();
        Ok(match complete {
            true => Judgement::Complete(result),
            false => Judgement::Lost(lost(&result)),
        })
    }

    /// Sets a level and makes sure that it holds.
    pub(crate) fn revert_to(&mut self, level: &Level) -> Result<(), Interruption> {
        self.bench
            .testbed
            .set(level)
            .and_then(|()| self.bench.testbed.read(level))
            .and_then(|settings| check(level, &settings))
            .map_err(Interruption::Failed)
    }

    pub(crate) fn judge(
        &mut self,
        candidate: &Candidate,
        decision: Decision,
        reason: String,
    ) -> Decided {
        (self.bench.hooks.progress)(Progress::Decided {
            experiment: candidate.id.clone(),
            decision,
            reason: reason.clone(),
        });
        let decided = Decided {
            experiment: candidate.id.clone(),
            decision,
            reason,
        };
        self.verdicts.push(decided.clone());
        decided
    }

    pub(crate) fn decide(
        &mut self,
        candidate: &Candidate,
        decision: Decision,
        reason: String,
    ) -> Result<(), Interruption> {
        let decided = self.judge(candidate, decision, reason);
        self.bench.event(decided_event(decided))
    }

    /// Keeps the best level, or puts everything back; nothing in between.
    pub(crate) fn end(mut self, end: Result<Level, Interruption>) -> Result<TuneOutcome, Error> {
        match end {
            Err(interruption) => self.interrupted(interruption),
            Ok(best) if best.settings == self.start.settings => {
                self.restore()
                    .map_err(|failure| self.not_restored(failure, None))?;
                Ok(self.outcome(Ended::Finished, best))
            }
            Ok(best) => match self.keep(&best) {
                Ok(()) => Ok(self.outcome(Ended::Finished, best)),
                Err(interruption) => self.interrupted(interruption),
            },
        }
    }

    fn keep(&mut self, best: &Level) -> Result<(), Interruption> {
        self.bench.stop_if_asked()?;
        self.revert_to(best)?;
        // Written down first: if that fails, nothing is kept. If the testbed then refuses to keep it, the
        // decision is taken back, and the last decision holds.
        for kept in self.kept() {
            self.bench.event(decided_event(kept))?;
        }
        self.bench.testbed.keep(best).map_err(Interruption::Failed)
    }

    fn kept(&self) -> Vec<Decided> {
        let kept = self.verdicts.iter();
        kept.filter(|decided| decided.decision == Decision::Kept)
            .cloned()
            .collect()
    }

    /// Puts everything back first, then writes down what happened.
    fn interrupted(mut self, interruption: Interruption) -> Result<TuneOutcome, Error> {
        let restored = self.restore();
        let (ended, why) = match interruption {
            Interruption::Stopped => (Ended::Stopped, "tune was stopped".to_owned()),
            Interruption::TimeOver => (Ended::Finished, NO_TIME.to_owned()),
            Interruption::Failed(failure) => {
                let why = format!("tune could not go on ({})", text(&failure));
                (Ended::Failed(failure), why)
            }
            Interruption::Sink(source) => {
                return Err(match restored {
                    Ok(()) => Error::Record { source },
                    Err(failure) => self.not_restored(failure, Some(source)),
                });
            }
        };
        restored.map_err(|failure| self.not_restored(failure, None))?;
        for index in 0..self.verdicts.len() {
            let decided = &mut self.verdicts[index];
            if decided.decision == Decision::Kept {
                decided.decision = Decision::Returned;
                decided.reason = format!("put back because {why}; before that: {}", decided.reason);
                let decided = decided.clone();
                self.write_after(decided_event(decided))?;
            }
        }
        if ended == Ended::Finished {
            self.return_undecided(&why)?;
        }
        let text = format!("{why}; everything was put back and reads as at the start");
        self.write_after(Event::Note { text })?;
        let start = self.start.clone();
        Ok(self.outcome(ended, start))
    }

    /// Returns every candidate that was not decided, when everything is back already.
    fn return_undecided(&mut self, why: &str) -> Result<(), Error> {
        for candidate in &self.plan.candidates {
            let mut decided = self.verdicts.iter();
            if decided.any(|one| one.experiment == candidate.id) {
                continue;
            }
            let decided = self.judge(candidate, Decision::Returned, why.to_owned());
            self.write_after(decided_event(decided))?;
        }
        Ok(())
    }

    /// Writes an event when everything is back already.
    fn write_after(&mut self, event: Event) -> Result<(), Error> {
        let at = self.bench.testbed.now();
        let record = record::Record::Event { at, event };
        Ok(self.bench.hooks.sink.append(&record)?)
    }

    /// Puts everything back and reads it back.
    fn restore(&mut self) -> Result<(), Failure> {
        (self.bench.hooks.progress)(Progress::Restoring);
        self.bench.testbed.restore(&self.start)?;
        let settings = self.bench.testbed.read(&self.start)?;
        check(&self.start, &settings)
    }

    fn not_restored(&mut self, failure: Failure, before: Option<record::Error>) -> Error {
        let note = format!("not everything could be put back: {}", text(&failure));
        // The failure itself is the error; the run file may be gone too.
        let _unwritten = self.write_after(Event::Note { text: note });
        Error::NotRestored { failure, before }
    }

    fn outcome(self, ended: Ended, left: Level) -> TuneOutcome {
        TuneOutcome {
            ended,
            decisions: self.verdicts,
            start: self.start,
            left,
            next_trial_id: self.bench.next_trial_id,
        }
    }
}

/// The best of what the first stage leads to in each response that can be believed and is not shown to
/// be the same already.
fn interim(stages: TwoStage, compared: &PhaseResult, floors: &[NoiseFloor]) -> Interim {
    let alarmed = |response: Direction| {
        let mut floors = floors.iter();
        floors.any(|floor| floor.response == response && floor.alarm)
    };
    let is_open = |response: Direction| {
        let mut effects = compared.effects.iter();
        let effect = effects.find(|effect| effect.response == response);
        effect.is_some_and(|effect| effect.verdict != Verdict::Equivalent)
    };
    let open = compared.pairs.iter();
    let open = open.filter(|(response, _)| !alarmed(*response) && is_open(*response));
    let stages = open.map(|(_, pairs)| stages.interim(pairs));
    stages.max().unwrap_or(Interim::Hopeless)
}

fn has(result: &PhaseResult, verdict: Verdict) -> bool {
    let mut effects = result.effects.iter();
    effects.any(|effect| effect.verdict == verdict)
}

/// Reads the present value of everything that any candidate sets.
fn read_start(testbed: &mut dyn Testbed, plan: &TunePlan) -> Result<Level, Error> {
    let mut places = Level {
        name: START_NAME.into(),
        settings: Vec::new(),
    };
    let settings = plan
        .candidates
        .iter()
        .flat_map(|candidate| &candidate.level.settings);
    for setting in settings {
        let known = places
            .settings
            .iter()
            .any(|known| same_place(known, setting));
        if !known {
            places.settings.push(setting.clone());
        }
    }
    let read = testbed
        .read(&places)
        .map_err(|failure| Error::Start { failure })?;
    // In the order of the places, whatever order the testbed reads them in.
    let ordered: Option<Vec<Setting>> = places
        .settings
        .iter()
        .map(|place| read.iter().find(|found| same_place(place, found)).cloned())
        .collect();
    match ordered {
        Some(settings) if settings.len() == read.len() => Ok(Level { settings, ..places }),
        _ => Err(Error::Start {
            failure: Failure {
                kind: record::FailureKind::Internal,
                chain: vec!["what was read is not what was asked for".into()],
                hint: None,
            },
        }),
    }
}

fn decided_event(decided: Decided) -> Event {
    Event::Decided {
        experiment: decided.experiment,
        decision: decided.decision,
        reason: decided.reason,
    }
}

/// A level with a candidate's settings in the place of its own.
pub(crate) fn merged(base: &Level, candidate: &Level) -> Level {
    let settings = base
        .settings
        .iter()
        .map(|setting| {
            let mut changes = candidate.settings.iter();
            changes
                .find(|change| same_place(setting, change))
                .unwrap_or(setting)
                .clone()
        })
        .collect();
    let name = if base.name == START_NAME {
        candidate.name.clone()
    } else {
        [base.name.as_str(), &candidate.name].join(LEVELS_JOINED)
    };
    Level { name, settings }
}

/// Trials run in fresh sessions, so only what outlives a session must be washed out.
pub(crate) fn needs_wash_out(from: &Level, to: &Level) -> bool {
    switch_cost(from, to) >= SwitchCost::LinkReset
}

/// Why a comparison did not win.
pub(crate) fn lost(result: &PhaseResult) -> String {
    let worse = result
        .effects
        .iter()
        .any(|effect| effect.verdict == Verdict::Worse);
    let open = result
        .effects
        .iter()
        .any(|effect| effect.verdict == Verdict::Undecided);
    let head = if result.effects.is_empty() {
        return format!(
            "nothing was measured: {}",
            result
                .failures
                .last()
                .map_or("no reason was given", String::as_str)
        );
    } else if worse {
        "it costs something"
    } else if open {
        "not proven"
    } else {
        "it makes no difference that matters"
    };
    let mut text = format!("{head}: {}", effects_text(&result.effects));
    let settle = result
        .effects
        .iter()
        .filter_map(|effect| effect.blocks_to_settle)
        .max();
    if let Some(blocks) = settle {
        text.push_str(&format!("; about {blocks} blocks would settle it"));
    }
    if !result.failures.is_empty() {
        text.push_str(&format!("; {} trials failed", result.failures.len()));
    }
    text
}

pub(crate) fn effects_text(effects: &[Effect]) -> String {
    let texts: Vec<String> = effects
        .iter()
        .map(|effect| {
            format!(
                "{} {} {}",
                effect.response.as_str(),
                numbers(&effect.ratio),
                effect.verdict.as_str()
            )
        })
        .collect();
    texts.join(", ")
}

/// `1.049 [1.045, 1.052]`.
fn numbers(ratio: &stats::Estimate) -> String {
    match ratio.interval {
        Some([low, high]) => format!("{:.3} [{low:.3}, {high:.3}]", ratio.value),
        None => format!("{:.3} [no interval]", ratio.value),
    }
}
