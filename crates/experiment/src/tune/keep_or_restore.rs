//! The end of a tuning: keeps what is proven, or puts everything back; nothing in between.

use record::{Decision, Event, Failure, Level};

use super::{Decided, Ended, NO_TIME, TuneOutcome, Tuning, decided_event};
use crate::Error;
use crate::error::text;
use crate::phase_execution::{Interruption, Progress};
use crate::testbed::check;

impl Tuning<'_, '_> {
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
        Error::NotRestored {
            failure: Box::new(failure),
            before,
        }
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
