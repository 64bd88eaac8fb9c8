//! The hosts as an experiment uses them: it sets their knobs, runs a trial, and puts them back.

use std::time::Instant;

use experiment::Stand;
use host::change;
use measure::Stop;
use record::{Failure, FailureKind, HostLoad, Level, Nanoseconds, Outcome, Setting, Workload};

use super::refused_mounts::RefusedMounts;
use super::workload_fields;
use crate::bench::recipe_target::Target;
use crate::failure::CommandError;
use crate::knob_switching::HostKnobs;
use crate::share_testbed::missing_channels;

/// The real stand.
pub(super) struct HostStand<'a> {
    pub(super) target: Target,
    pub(super) knobs: HostKnobs,
    pub(super) began: Instant,
    pub(super) stop: &'a Stop,
    /// What the server had to do in the last trial.
    pub(super) loads: Vec<HostLoad>,
    pub(super) refused: RefusedMounts,
}

impl Stand for HostStand<'_> {
    fn read(&mut self, level: &Level) -> Result<Vec<Setting>, Failure> {
        let found = change::read_back(&self.knobs.hosts, &level.settings);
        Ok(found.map_err(CommandError::from)?)
    }

    fn set(&mut self, level: &Level) -> Result<(), Failure> {
        Ok(self.knobs.set(level)?)
    }

    fn workload(&self, workload: &Workload, level: &Level) -> Result<Workload, Failure> {
        let workload = workload_fields::workload(workload, level);
        workload.map_err(|reason| Failure::new(FailureKind::Usage, reason))
    }

    fn trial(&mut self, workload: &Workload) -> Outcome {
        // What the plan mounts as it is stands for the login itself.
        let varied = workload.second_mount().cloned();
        let varied = varied.filter(|mount| self.target.second_mount().as_ref() != Some(mount));
        if let Some(known) = varied.as_ref().and_then(|mount| self.refused.known(mount)) {
            return known;
        }
        let (outcome, load) = self.target.pass(workload, self.stop);
        self.loads = load.into_iter().collect();
        let outcome = match &varied {
            Some(mount) => self.refused.judge(mount, outcome),
            None => {
                self.refused.saw_the_login(&outcome);
                outcome
            }
        };
        match outcome {
            Outcome::Measured(result) => match missing_channels(workload, &result) {
                None => Outcome::Measured(result),
                Some(failure) => Outcome::Failed(failure),
            },
            failed @ Outcome::Failed(_) => failed,
        }
    }

    fn loads(&mut self) -> Vec<HostLoad> {
        std::mem::take(&mut self.loads)
    }

    fn restore(&mut self) -> Result<(), Failure> {
        self.knobs.restore()
    }

    fn now(&self) -> Nanoseconds {
        self.began.elapsed().into()
    }
}
