//! The end of a tuning: keeps what is proven, or puts everything back; nothing in between.

use locale::{Message, say};
use record::{Decision, Event, Failure, Level};

use super::{Decided, Ended, TuneOutcome, Tuning, decided_event};
use crate::Error;
use crate::error::why;
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
            self.bench.event(decided_event(&kept))?;
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
        let (ended, cause) = match interruption {
            Interruption::Stopped => (Ended::Stopped, say("decided.stopped")),
            Interruption::TimeOver => (Ended::Finished, say("decided.no-time")),
            Interruption::Failed(failure) => {
                let cause = say("decided.could-not-go-on").with("reason", why(&failure));
                (Ended::Failed(failure), cause)
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
                decided.reason = say("decided.put-back")
                    .with("why", cause.clone())
                    .with("before", decided.reason.clone());
                let event = decided_event(decided);
                self.write_after(event)?;
            }
        }
        if ended == Ended::Finished {
            self.return_undecided(&cause)?;
        }
        let note = say("run-note.put-back").with("why", cause);
        self.write_after(Event::note(&note))?;
        let start = self.start.clone();
        Ok(self.outcome(ended, start))
    }

    /// Returns every candidate that was not decided, when everything is back already.
    fn return_undecided(&mut self, cause: &Message) -> Result<(), Error> {
        for candidate in &self.plan.candidates {
            let mut decided = self.verdicts.iter();
            if decided.any(|one| one.experiment == candidate.id) {
                continue;
            }
            let decided = self.judge(candidate, Decision::Returned, cause.clone());
            self.write_after(decided_event(&decided))?;
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
        let note = say("run-note.not-put-back").with("reason", why(&failure));
        // The failure itself is the error; the run file may be gone too.
        let _unwritten = self.write_after(Event::note(&note));
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
