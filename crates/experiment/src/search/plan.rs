//! What a search does, and how many trials that takes.

use std::time::Duration;

use locale::{Message, say};
use record::Direction;

use super::screening::settings_screened;
use super::{PROOF_BLOCKS_MAX, RACE_MAX, SCREENINGS_MAX, TOGETHER, factors};
use crate::Error;
use crate::tune_plan::{Candidate, TunePlan};

/// The most candidates that a screening takes: 64 settings.
pub const CANDIDATES_MAX: usize = 32;
/// Trials that are never too many: a quarter of those of seven candidates.
const TRIALS_WORTH_MIN: usize = 192;

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
        let refuse = |reason: Message| Err(Error::Plan { reason });
        if self.tune.candidates.len() > CANDIDATES_MAX {
            return refuse(say("error-experiment.candidates").count("most", CANDIDATES_MAX));
        }
        if let Some(taken) = self.tune.candidates.iter().find(|one| one.id == TOGETHER) {
            return refuse(say("error-experiment.name-taken").with("name", &taken.id));
        }
        // One candidate that turns out well must have room to be proven.
        let least = self.trials_min();
        if self.trials_max < least {
            let reason = say("error-experiment.few-trials")
                .count("trials", self.trials_max)
                .count("least", least);
            return refuse(reason);
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
