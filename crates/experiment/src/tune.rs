//! Tries changes one after another and keeps what is proven, and borne out by fresh trials.

mod keep_or_restore;
mod two_stage;

use analysis::{NoiseFloor, PhaseResult};
use locale::{Message, say};
use record::{
    Decision, Direction, Event, Failure, FailureKind, LEVELS_JOINED, Level, Phase, Setting,
};
use stats::two_stage_with_futility::Fallback;

use crate::Error;
use crate::decision_reasons::{differences, last_failure};
use crate::phase_execution::{Bench, Hooks, Interruption, PhaseEnd, Progress};
use crate::testbed::{SwitchCost, Testbed, check, same_place, switch_cost};
use crate::tune_plan::{BASELINE, Candidate, START_NAME, TunePlan};

/// What became of one candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// Its id.
    pub experiment: String,
    /// What was done.
    pub decision: Decision,
    /// Why, with the numbers.
    pub reason: Message,
}

/// How `tune` ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// All candidates were decided.
    Finished,
    /// It was stopped from outside; everything is as at the start.
    Stopped,
    /// It could not go on; everything is as at the start.
    Failed(Failure),
}

/// What `tune` leaves behind.
#[derive(Clone, Debug, PartialEq)]
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
/// candidate against the best so far, in two stages ([`stats::two_stage_with_futility`]): one that could still be shown
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
                self.decide(candidate, Decision::Returned, say("decided.so-already"))?;
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
    ) -> Result<Result<PhaseResult, Message>, Interruption> {
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
        let differed = |id| say(id).with("effects", differences(&alarms));
        if stops {
            return Ok(Err(differed("decided.baseline-differed")));
        }
        if !alarms.is_empty() {
            self.bench.tell(differed("run-note.baseline-differed"))?;
        }
        let sure = |response: &Direction| {
            let mut floors = result.noise.iter();
            let floor = floors.find(|floor| floor.response == *response);
            floor
                .and_then(|floor| floor.ratio.confidence)
                .is_some_and(|reached| reached + 1e-12 >= plan.confidence)
        };
        if let Some(response) = plan.responses.iter().find(|response| !sure(response)) {
            let few = say("decided.few-blocks").with("direction", *response);
            return Ok(Err(few.with("reason", last_failure(&result))));
        }
        Ok(Ok(result))
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
        reason: Message,
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
        reason: Message,
    ) -> Result<(), Interruption> {
        let decided = self.judge(candidate, decision, reason);
        self.bench.event(decided_event(&decided))
    }
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
            failure: Failure::new(
                FailureKind::Internal,
                say("error-experiment.other-settings-read"),
            ),
        }),
    }
}

fn decided_event(decided: &Decided) -> Event {
    Event::decided(
        decided.experiment.clone(),
        decided.decision,
        &decided.reason,
    )
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
