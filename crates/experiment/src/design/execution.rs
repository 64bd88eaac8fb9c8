//! Runs a design over several factors, and takes it up again.

use std::collections::BTreeSet;
use std::time::Duration;

use locale::{Message, say};
use record::{
    Design, Failure, FailureKind, HostLoad, Level, Nanoseconds, Outcome, Record, Setting, Stage,
    TrialRecord, Workload,
};

use super::run_order::{away, shorter, washes_out};
use crate::error::{Error, why};
use crate::phase_execution::Sink;
use crate::testbed::{check, lasted, rate};

/// Failed trials that are borne; one more ends the experiment.
const FAILURES_MAX: usize = 10;

/// What such an experiment is run on.
pub trait Stand {
    /// The present values of the knobs that `level` names.
    ///
    /// # Errors
    /// When one of them cannot be read.
    fn read(&mut self, level: &Level) -> Result<Vec<Setting>, Failure>;

    /// Makes the knobs of `level` so, and waits until they have settled.
    ///
    /// # Errors
    /// When a setting is refused or does not settle.
    fn set(&mut self, level: &Level) -> Result<(), Failure>;

    /// The workload with the fields that `level` names.
    ///
    /// # Errors
    /// When the workload has no such field, or not that value.
    fn workload(&self, workload: &Workload, level: &Level) -> Result<Workload, Failure>;

    /// Runs one trial in a fresh session. A failure is an outcome too.
    fn trial(&mut self, workload: &Workload) -> Outcome;

    /// What hosts had to do in the last trial, where they were looked at; it is reported once.
    fn loads(&mut self) -> Vec<HostLoad> {
        Vec::new()
    }

    /// Puts everything back as it was at the start.
    ///
    /// # Errors
    /// When something could not be put back.
    fn restore(&mut self) -> Result<(), Failure>;

    /// The time since the start of the run, over all times it was taken up.
    fn now(&self) -> Nanoseconds;
}

/// What such an experiment tells while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum DesignNews<'a> {
    /// An arm is being set.
    Setting {
        /// Block, from 0.
        block: usize,
        /// What it is set to.
        level: &'a str,
    },
    /// A trial begins.
    Trial {
        /// What is measured.
        response: &'a str,
    },
    /// A trial is over: payload bytes per second, or why there are none.
    Ended(Result<f64, Message>),
    /// A block is complete; all counted trials so far.
    Block(&'a [TrialRecord]),
}

/// What such an experiment needs from its surroundings.
pub struct DesignHooks<'a> {
    /// Where records go.
    pub sink: &'a mut dyn Sink,
    /// Asked between trials: whether to stop and put everything back.
    pub stop: &'a dyn Fn() -> bool,
    /// Told what happens.
    pub news: &'a mut dyn FnMut(DesignNews<'_>),
    /// Asked after each block: whether every interval is as narrow as the stop rule wants.
    pub narrow: &'a dyn Fn(&[TrialRecord]) -> bool,
}

/// How such an experiment ended; everything was put back.
#[derive(Clone, Debug, PartialEq)]
pub enum DesignEnd {
    /// As its stop rule says.
    Complete,
    /// Somebody stopped it; it can be taken up again.
    Stopped,
    /// It cannot go on, or came to its end and nothing at all was measured.
    Failed(Failure),
}

/// A counted trial's place: block, position, response.
type Place = (u32, u32, String);

struct Running<'a, 'b> {
    stand: &'a mut dyn Stand,
    design: &'a Design,
    hooks: &'a mut DesignHooks<'b>,
    trials: Vec<TrialRecord>,
    done: BTreeSet<Place>,
    /// What failed when the experiment was run before. Where it fails again that is nothing new, so
    /// that an experiment comes to its end although one of its arms cannot be set.
    failed_before: BTreeSet<Place>,
    next_id: u64,
    failures: usize,
    /// The arm that is set now.
    set: Option<u32>,
}

/// Runs a design, or what of it is not in `before`, the trials of earlier times. Those of them that
/// failed are run again.
///
/// # Errors
/// When the run file cannot be written, or not everything could be put back.
pub fn run_design(
    stand: &mut dyn Stand,
    design: &Design,
    before: Vec<TrialRecord>,
    hooks: &mut DesignHooks<'_>,
) -> Result<DesignEnd, Error> {
    let next_id = before.iter().map(|trial| trial.id + 1).max().unwrap_or(0);
    let trials: Vec<TrialRecord> = before
        .into_iter()
        .filter(|trial| place(trial).is_some())
        .collect();
    let (failed, measured): (Vec<_>, Vec<_>) = trials
        .iter()
        .partition(|trial| rate(&trial.workload, &trial.outcome).is_err());
    let done: BTreeSet<Place> = measured.into_iter().filter_map(place).collect();
    let failed_before = failed.into_iter().filter_map(place).collect();
    let mut running = Running {
        stand,
        design,
        hooks,
        trials,
        done,
        failed_before,
        next_id,
        failures: 0,
        set: None,
    };
    let ended = running.blocks();
    // Whatever happened: first the hosts, then the words.
    match (running.stand.restore(), ended) {
        (Ok(()), ended) => ended,
        (Err(failure), Err(Error::Record { source })) => Err(Error::NotRestored {
            failure: Box::new(failure),
            before: Some(source),
        }),
        (Err(failure), _) => Err(Error::NotRestored {
            failure: Box::new(failure),
            before: None,
        }),
    }
}

fn place(trial: &TrialRecord) -> Option<Place> {
    match &trial.stage {
        Stage::Visit {
            block,
            position,
            response,
            discarded: false,
            ..
        } => Some((*block, *position, response.clone())),
        _ => None,
    }
}

impl Running<'_, '_> {
    fn blocks(&mut self) -> Result<DesignEnd, Error> {
        let design = self.design;
        for (block, row) in (0..).zip(&design.blocks) {
            for (position, arm) in (0..).zip(row) {
                if let Some(end) = self.visit(block, position, *arm)? {
                    return Ok(end);
                }
            }
            (self.hooks.news)(DesignNews::Block(&self.trials));
            if self.is_enough() {
                break;
            }
        }
        Ok(self
            .failed_throughout()
            .map_or(DesignEnd::Complete, DesignEnd::Failed))
    }

    /// What failed last, where nothing at all was measured: then no verdict is left open, there is none to come.
    fn failed_throughout(&self) -> Option<Failure> {
        let mut last = None;
        for trial in &self.trials {
            last = Some(rate(&trial.workload, &trial.outcome).err()?);
        }
        last
    }

    fn is_enough(&self) -> bool {
        let stop = &self.design.stop;
        let elapsed = Duration::from(self.stand.now());
        let budget = stop.budget_seconds.map(Duration::from_secs);
        budget.is_some_and(|budget| elapsed >= budget)
            || stop.width.is_some() && (self.hooks.narrow)(&self.trials)
    }

    fn visit(&mut self, block: u32, position: u32, arm: u32) -> Result<Option<DesignEnd>, Error> {
        let design = self.design;
        let Some(level) = design.level(arm) else {
            let reason = say("error-experiment.no-arm").count("arm", arm);
            return Err(Error::Plan { reason });
        };
        let missing = |done: &BTreeSet<Place>, name: &str| {
            !done.contains(&(block, position, name.to_owned()))
        };
        let open: Vec<_> = design
            .responses
            .iter()
            .filter(|response| missing(&self.done, &response.name))
            .collect();
        let Some(first) = open.first() else {
            return Ok(None);
        };
        if (self.hooks.stop)() {
            return Ok(Some(DesignEnd::Stopped));
        }
        (self.hooks.news)(DesignNews::Setting {
            block: block as usize,
            level: &level.name,
        });
        let (set, washes_out) = self.set_arm((arm, position), &level);
        let stage = |response: &str, discarded: bool| Stage::Visit {
            block,
            position,
            arm,
            response: response.to_owned(),
            discarded,
        };
        if washes_out && set.is_ok() {
            let short = shorter(&first.workload);
            let end = self.trial(stage(&first.name, true), &short, &level, &set)?;
            if end.is_some() {
                return Ok(end);
            }
        }
        for response in open {
            if (self.hooks.stop)() {
                return Ok(Some(DesignEnd::Stopped));
            }
            let end = self.trial(
                stage(&response.name, false),
                &response.workload,
                &level,
                &set,
            )?;
            if end.is_some() {
                return Ok(end);
            }
        }
        Ok(None)
    }

    /// Sets an arm at a position of its block, after another one where links must be reset for it. Gives
    /// whether it is set, and whether that takes a trial that washes out.
    fn set_arm(
        &mut self,
        (arm, position): (u32, u32),
        level: &Level,
    ) -> (Result<(), Failure>, bool) {
        let design = self.design;
        if let Some(arm) = away(design, self.set, position, level)
            && let Some(away) = design.level(arm)
        {
            // What is refused here is refused again, and reported, when it is that arm's turn.
            let set = self.stand.set(&knobs(&away));
            self.set = set.is_ok().then_some(arm);
        }
        let set = self.stand.set(&knobs(level));
        let washes_out = washes_out(design, self.set, level);
        self.set = set.is_ok().then_some(arm);
        (set, washes_out)
    }

    /// Reads back before and after it measures; written down before anything is computed with it.
    fn trial(
        &mut self,
        stage: Stage,
        workload: &Workload,
        level: &Level,
        set: &Result<(), Failure>,
    ) -> Result<Option<DesignEnd>, Error> {
        let name = match &stage {
            Stage::Visit { response, .. } => response.clone(),
            _ => String::new(),
        };
        (self.hooks.news)(DesignNews::Trial { response: &name });
        let started = self.stand.now();
        let knobs = knobs(level);
        let workload = self
            .stand
            .workload(workload, level)
            .unwrap_or_else(|_| workload.clone());
        let read = set.clone().and_then(|()| self.stand.read(&knobs));
        let checked = read.as_ref().map_err(Clone::clone);
        let outcome = match checked.and_then(|found| check(&knobs, found)) {
            Ok(()) => self.stand.trial(&workload),
            Err(failure) => Outcome::Failed(failure),
        };
        let ended = self.stand.now();
        let outcome = lasted(outcome, &knobs, || self.stand.read(&knobs));
        let rate = rate(&workload, &outcome);
        // What was interrupted never was: it is run again when the experiment is taken up.
        if rate
            .as_ref()
            .is_err_and(|failure| failure.kind == FailureKind::Interrupted)
        {
            return Ok(Some(DesignEnd::Stopped));
        }
        let record = TrialRecord {
            id: self.next_id,
            stage,
            workload,
            settings: read.unwrap_or_default(),
            started,
            ended,
            outcome,
            loads: self.stand.loads(),
        };
        self.take(record, rate)
    }

    /// Whether an arm is refused once more that was never measured, while others are: that is one failure, however many
    /// blocks there are.
    fn is_of_refused_arm(&self, record: &TrialRecord) -> bool {
        let arm_of = |trial: &TrialRecord| match &trial.stage {
            Stage::Visit { arm, .. } => Some(*arm),
            _ => None,
        };
        let is_refused = |outcome: &Outcome| matches!(outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Refused);
        let is_measured = |trial: &&TrialRecord| matches!(trial.outcome, Outcome::Measured(_));
        let is_own = |trial: &&TrialRecord| arm_of(trial) == arm_of(record);
        let (own, others): (Vec<_>, Vec<_>) = self.trials.iter().partition(is_own);
        is_refused(&record.outcome)
            && !own.is_empty()
            && own.iter().all(|trial| is_refused(&trial.outcome))
            && others.iter().any(is_measured)
    }

    /// Writes a trial down, then counts it.
    fn take(
        &mut self,
        record: TrialRecord,
        rate: Result<f64, Failure>,
    ) -> Result<Option<DesignEnd>, Error> {
        let written = self
            .hooks
            .sink
            .append(&Record::Trial(Box::new(record.clone())));
        written.map_err(|source| Error::Record { source })?;
        self.next_id += 1;
        let is_new = place(&record).is_none_or(|place| !self.failed_before.contains(&place))
            && !self.is_of_refused_arm(&record);
        let is_discarded = matches!(
            record.stage,
            Stage::Visit {
                discarded: true,
                ..
            }
        );
        if !is_discarded {
            self.done.extend(place(&record));
            self.trials.push(record);
        }
        let failure = rate.as_ref().err().cloned();
        (self.hooks.news)(DesignNews::Ended(rate.map_err(|failure| why(&failure))));
        self.failures += usize::from(failure.is_some() && is_new);
        // Each further try of a login may be one too many for the account.
        let is_over = |failure: &Failure| {
            self.failures > FAILURES_MAX || failure.kind == FailureKind::LoginRefused
        };
        Ok(failure.filter(is_over).map(DesignEnd::Failed))
    }
}

fn knobs(level: &Level) -> Level {
    let of_hosts = level.settings.iter();
    let of_hosts = of_hosts.filter(|setting| matches!(setting, Setting::Knob { .. }));
    Level {
        name: level.name.clone(),
        settings: of_hosts.cloned().collect(),
    }
}
