//! Runs one phase: every trial is in the run file before anybody computes with it.

use analysis::{NoiseFloor, PhaseResult};
use locale::Message;
use record::{
    Arm, Decision, Direction, Event, Failure, FailureKind, Level, Nanoseconds, Outcome, Phase,
    Record, Round, RunWriter, Schedule, Stage, TrialRecord,
};
use stats::PairedRatios;

use crate::error::why;
use crate::testbed::{Testbed, TrialLength, check, lasted, rate};

/// Where records go. What `append` has taken is safe.
pub trait Sink {
    /// Takes one record.
    ///
    /// # Errors
    /// When it cannot be made safe.
    fn append(&mut self, record: &Record) -> Result<(), record::Error>;
}

impl Sink for RunWriter {
    fn append(&mut self, record: &Record) -> Result<(), record::Error> {
        Self::append(self, record)
    }
}

impl Sink for Vec<Record> {
    fn append(&mut self, record: &Record) -> Result<(), record::Error> {
        self.push(record.clone());
        Ok(())
    }
}

/// What an experiment tells while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// A phase begins.
    PhaseBegins {
        /// The experiment's id.
        experiment: String,
        /// Its part.
        phase: Phase,
        /// Trials that count in it.
        trials: usize,
    },
    /// A round of a search begins.
    RoundBegins {
        /// What it is for.
        what: Message,
        /// Trials that count in it.
        trials: usize,
    },
    /// Something worth knowing was found out.
    Found {
        /// What, in a sentence.
        text: Message,
    },
    /// An arm is being set.
    Setting {
        /// The level's name.
        level: String,
    },
    /// A trial begins.
    TrialBegins {
        /// Counted trials of this phase that are over.
        done: usize,
        /// Block, from 0.
        block: u32,
        /// Which arm.
        arm: Arm,
        /// Which response.
        response: Direction,
        /// Whether it only washes out.
        discarded: bool,
    },
    /// A trial is over.
    TrialEnds {
        /// Payload bytes per second, or why there are none.
        rate: Result<f64, Message>,
    },
    /// A candidate was decided.
    Decided {
        /// The experiment's id.
        experiment: String,
        /// What was done.
        decision: Decision,
        /// Why.
        reason: Message,
    },
    /// Everything is being put back.
    Restoring,
}

/// What an experiment needs from its surroundings.
pub struct Hooks<'a> {
    /// Where records go.
    pub sink: &'a mut dyn Sink,
    /// Asked between trials: whether to stop and put everything back.
    pub stop: &'a dyn Fn() -> bool,
    /// Told what happens.
    pub progress: &'a mut dyn FnMut(Progress),
}

/// What ends an experiment before its time.
#[derive(Debug)]
pub(crate) enum Interruption {
    /// Somebody asked for it.
    Stopped,
    /// The time of a search is over.
    TimeOver,
    /// The testbed cannot go on.
    Failed(Failure),
    /// The run file cannot be written.
    Sink(record::Error),
}

/// How a phase ended.
pub(crate) enum PhaseEnd {
    /// All its trials were run.
    Complete(PhaseResult),
    /// More trials failed than the plan bears; the last of them.
    TooManyFailures { failed: usize, last: Failure },
}

/// A testbed, and the trials that were run on it.
pub(crate) struct Bench<'a, 'b> {
    pub(crate) testbed: &'a mut dyn Testbed,
    pub(crate) hooks: &'a mut Hooks<'b>,
    pub(crate) next_trial_id: u64,
    /// Trials so far that count.
    pub(crate) counted: usize,
    pub(crate) failures_max: usize,
    /// What was set last.
    pub(crate) visited: Option<Level>,
    /// No trial begins from then on.
    pub(crate) deadline: Option<Nanoseconds>,
}

/// A phase or a round while it runs.
#[derive(Default)]
struct Running {
    trials: Vec<TrialRecord>,
    done: usize,
    failed: usize,
    last_failure: Option<Failure>,
}

/// A visit of a setting: what is set, what is measured in which order, and what it is for.
struct Visit<'a> {
    level: &'a Level,
    order: &'a [Direction],
    place: Place<'a>,
}

/// Where a visit stands in its schedule.
#[derive(Clone, Copy)]
enum Place<'a> {
    Phase {
        schedule: &'a Schedule,
        block: u32,
        position: u32,
        arm: Arm,
    },
    Round {
        round: u32,
        block: u32,
        position: u32,
        level: u32,
    },
}

impl Place<'_> {
    fn stage(self, length: TrialLength) -> Stage {
        let discarded = length == TrialLength::WashOut;
        match self {
            Self::Phase {
                schedule,
                block,
                position,
                arm,
            } => Stage::Experiment {
                experiment: schedule.experiment.clone(),
                phase: schedule.phase,
                block,
                position,
                arm,
                discarded,
            },
            Self::Round {
                round,
                block,
                position,
                level,
            } => Stage::Search {
                round,
                block,
                position,
                level,
                discarded,
            },
        }
    }
}

impl Bench<'_, '_> {
    /// Runs one phase and analyses it. `washes_out` says whether a switch of arms is followed by a
    /// trial that does not count; `earlier` are the blocks that a schedule joins.
    pub(crate) fn phase(
        &mut self,
        schedule: &Schedule,
        washes_out: bool,
        floors: &[NoiseFloor],
        earlier: &[(Direction, PairedRatios)],
    ) -> Result<PhaseEnd, Interruption> {
        self.record(&Record::Schedule(schedule.clone()))?;
        let visits = schedule.blocks.iter().map(Vec::len).sum::<usize>();
        (self.hooks.progress)(Progress::PhaseBegins {
            experiment: schedule.experiment.clone(),
            phase: schedule.phase,
            trials: visits * schedule.question.responses.len(),
        });
        let mut running = Running::default();
        let mut before = None;
        for (block, row) in (0..).zip(&schedule.blocks) {
            for (position, arm) in (0..).zip(row) {
                let level = match arm {
                    Arm::A => &schedule.question.a,
                    Arm::B => &schedule.question.b,
                };
                let order = schedule
                    .orders
                    .get(block as usize)
                    .and_then(|row| row.get(position as usize));
                let visit = Visit {
                    level,
                    order: order.unwrap_or(&schedule.question.responses),
                    place: Place::Phase {
                        schedule,
                        block,
                        position,
                        arm: *arm,
                    },
                };
                let switched = before.replace(*arm) != Some(*arm);
                self.visit(&mut running, &visit, washes_out && switched)?;
                if running.failed > self.failures_max
                    && let Some(last) = running.last_failure
                {
                    return Ok(PhaseEnd::TooManyFailures {
                        failed: running.failed,
                        last,
                    });
                }
            }
        }
        Ok(PhaseEnd::Complete(analysis::phase(
            schedule,
            &running.trials,
            floors,
            earlier,
        )))
    }

    /// Adds a record to the run file.
    pub(crate) fn record(&mut self, record: &Record) -> Result<(), Interruption> {
        self.hooks.sink.append(record).map_err(Interruption::Sink)
    }

    /// Adds an event to the run file.
    pub(crate) fn event(&mut self, event: Event) -> Result<(), Interruption> {
        let at = self.testbed.now();
        self.record(&Record::Event { at, event })
    }

    /// Tells something worth knowing, now and in the run file.
    pub(crate) fn tell(&mut self, text: Message) -> Result<(), Interruption> {
        let note = Event::note(&text);
        (self.hooks.progress)(Progress::Found { text });
        self.event(note)
    }

    /// Ends the experiment when somebody asked for it.
    pub(crate) fn stop_if_asked(&self) -> Result<(), Interruption> {
        if (self.hooks.stop)() {
            Err(Interruption::Stopped)
        } else {
            Ok(())
        }
    }

    /// The same, and also when its time is over.
    pub(crate) fn go_on(&self) -> Result<(), Interruption> {
        self.stop_if_asked()?;
        match self.deadline {
            Some(deadline) if self.testbed.now().get() >= deadline.get() => {
                Err(Interruption::TimeOver)
            }
            _ => Ok(()),
        }
    }

    /// Runs a round of a search, which is for `what`. Whether a switch needs a trial that does not count is for
    /// `washes_out` to say. Gives the trials that count, or the last failure where more failed than the
    /// plan bears.
    pub(crate) fn round(
        &mut self,
        (round, what): (&Round, Message),
        washes_out: &dyn Fn(&Level, &Level) -> bool,
    ) -> Result<Result<Vec<TrialRecord>, Failure>, Interruption> {
        self.record(&Record::Round(round.clone()))?;
        (self.hooks.progress)(Progress::RoundBegins {
            what,
            trials: round.blocks.iter().map(Vec::len).sum::<usize>() * round.responses.len(),
        });
        let mut running = Running::default();
        for (block, row) in (0..).zip(&round.blocks) {
            for (position, place) in (0..).zip(row) {
                let Some(level) = round.levels.get(*place as usize) else {
                    continue;
                };
                let visit = Visit {
                    level,
                    order: &round.responses,
                    place: Place::Round {
                        round: round.round,
                        block,
                        position,
                        level: *place,
                    },
                };
                let before = self.visited.as_ref();
                let washes = before.is_none_or(|before| washes_out(before, level));
                self.visit(&mut running, &visit, washes)?;
                if running.failed > self.failures_max
                    && let Some(last) = running.last_failure
                {
                    return Ok(Err(last));
                }
            }
        }
        running.trials.retain(|trial| !is_discarded(trial));
        Ok(Ok(running.trials))
    }

    /// Sets a level and measures all that is asked of it.
    fn visit(
        &mut self,
        running: &mut Running,
        visit: &Visit<'_>,
        wash_out: bool,
    ) -> Result<(), Interruption> {
        self.go_on()?;
        (self.hooks.progress)(Progress::Setting {
            level: visit.level.name.clone(),
        });
        let set = self.testbed.set(visit.level);
        self.visited = set.is_ok().then(|| visit.level.clone());
        if let Some(first) = visit.order.first().filter(|_| wash_out && set.is_ok()) {
            self.trial(running, visit, (*first, TrialLength::WashOut))?;
        }
        for response in visit.order {
            match &set {
                Ok(()) => self.trial(running, visit, (*response, TrialLength::Counted))?,
                // Nothing can be measured; each response that is missing says why.
                Err(failure) => self.missing(running, visit, (*response, failure))?,
            }
        }
        Ok(())
    }

    /// Reads back before and after it measures; all is one trial of the run file.
    fn trial(
        &mut self,
        running: &mut Running,
        visit: &Visit<'_>,
        (response, length): (Direction, TrialLength),
    ) -> Result<(), Interruption> {
        self.go_on()?;
        if let Place::Phase { block, arm, .. } = visit.place {
            (self.hooks.progress)(Progress::TrialBegins {
                done: running.done,
                block,
                arm,
                response,
                discarded: length == TrialLength::WashOut,
            });
        }
        let level = visit.level;
        let started = self.testbed.now();
        let workload = self.testbed.workload(level, response, length);
        let read = self.testbed.read(level);
        let checked = read.as_ref().map_err(Clone::clone);
        let outcome = match checked.and_then(|settings| check(level, settings)) {
            Ok(()) => self.testbed.trial(&workload),
            Err(failure) => Outcome::Failed(failure),
        };
        let ended = self.testbed.now();
        let outcome = lasted(outcome, level, || self.testbed.read(level));
        let record = TrialRecord {
            id: self.next_trial_id,
            stage: visit.place.stage(length),
            workload,
            settings: read.unwrap_or_default(),
            started,
            ended,
            outcome,
            loads: self.testbed.loads(),
        };
        self.take(running, record)
    }

    /// A trial that could not be run because its level could not be set.
    fn missing(
        &mut self,
        running: &mut Running,
        visit: &Visit<'_>,
        (response, failure): (Direction, &Failure),
    ) -> Result<(), Interruption> {
        let now = self.testbed.now();
        let length = TrialLength::Counted;
        let record = TrialRecord {
            id: self.next_trial_id,
            stage: visit.place.stage(length),
            workload: self.testbed.workload(visit.level, response, length),
            settings: Vec::new(),
            started: now,
            ended: now,
            outcome: Outcome::Failed(failure.clone()),
            loads: Vec::new(),
        };
        self.take(running, record)
    }

    /// Writes a trial down, then counts it.
    fn take(&mut self, running: &mut Running, record: TrialRecord) -> Result<(), Interruption> {
        self.record(&Record::Trial(Box::new(record.clone())))?;
        self.next_trial_id += 1;
        running.done += usize::from(!is_discarded(&record));
        self.counted += usize::from(!is_discarded(&record));
        let rate = rate(&record.workload, &record.outcome);
        let failure = rate.as_ref().err().cloned();
        let rate = rate.map_err(|failure| why(&failure));
        (self.hooks.progress)(Progress::TrialEnds { rate });
        running.trials.push(record);
        match failure {
            Some(failure) if failure.kind == FailureKind::Interrupted => Err(Interruption::Stopped),
            // Each further try may be one too many for the account.
            Some(failure) if failure.kind == FailureKind::LoginRefused => {
                Err(Interruption::Failed(failure))
            }
            Some(failure) => {
                running.failed += 1;
                running.last_failure = Some(failure);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Whether a trial only washed something out.
fn is_discarded(trial: &TrialRecord) -> bool {
    match trial.stage {
        Stage::Experiment { discarded, .. }
        | Stage::Visit { discarded, .. }
        | Stage::Search { discarded, .. } => discarded,
        Stage::Ladder { .. } | Stage::Probe { .. } | Stage::Bench { .. } => false,
    }
}
