//! Answers that each bring next to nothing of what was asked for, so that all of it would never be there.

use std::time::Duration;

/// How long answers that bring too little are waited for.
const WAIT_MAX: Duration = Duration::from_secs(20);
/// How much of it one answer can be to blame for: a disk that spins up is no trickle.
const WAIT_OF_ONE_MAX: Duration = Duration::from_secs(5);
/// Answers that bring too little, however fast they come.
const ANSWERS_MAX: u32 = 1000;

/// What came of one thing that is asked for in several requests, since the last answer that was worth its wait.
#[derive(Debug, Clone, Copy)]
pub struct Trickle {
    /// So much counts as something.
    enough: u64,
    answers_max: u32,
    amount: u64,
    answers: u32,
    waited: Duration,
}

impl Trickle {
    /// Bytes of a file: 64 KiB count as something.
    pub const fn of_bytes() -> Self {
        Self::of(64 << 10, ANSWERS_MAX)
    }

    /// Entries of a folder. Some servers give them one by one, and fast.
    pub const fn of_entries() -> Self {
        Self::of(100, u32::MAX)
    }

    const fn of(enough: u64, answers_max: u32) -> Self {
        Self {
            enough,
            answers_max,
            amount: 0,
            answers: 0,
            waited: Duration::ZERO,
        }
    }

    /// An answer brought all that it could.
    pub fn was_whole(&mut self) {
        *self = Self::of(self.enough, self.answers_max);
    }

    /// An answer was waited for, and brought so much, which is less than it could.
    ///
    /// # Errors
    /// How much has come in all, in how many answers, where that is too little.
    pub fn was_short(&mut self, amount: u64, waited: Duration) -> Result<(), TooLittle> {
        self.amount = self.amount.saturating_add(amount);
        if self.amount >= self.enough {
            self.was_whole();
            return Ok(());
        }
        self.answers += 1;
        self.waited += waited.min(WAIT_OF_ONE_MAX);
        if self.waited < WAIT_MAX && self.answers <= self.answers_max {
            return Ok(());
        }
        Err(TooLittle {
            amount: self.amount,
            answers: self.answers,
        })
    }
}

/// What came until it was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLittle {
    /// Bytes, or entries.
    pub amount: u64,
    /// Answers that brought them.
    pub answers: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many answers are taken of a server that is like this.
    fn taken(mut trickle: Trickle, amount: u64, waited: Duration) -> Option<u32> {
        (1..100_000).find(|_| trickle.was_short(amount, waited).is_err())
    }

    #[test]
    fn a_server_that_gives_a_little_now_and_then_is_given_up() {
        let second = Duration::from_secs(1);
        assert_eq!(taken(Trickle::of_entries(), 1, 5 * second), Some(4));
        assert_eq!(taken(Trickle::of_entries(), 1, 19 * second), Some(4));
        assert_eq!(taken(Trickle::of_entries(), 4, second), Some(20));
        assert_eq!(taken(Trickle::of_entries(), 0, second), Some(20));
        assert_eq!(taken(Trickle::of_bytes(), 1, second), Some(20));
        assert_eq!(taken(Trickle::of_bytes(), 1, Duration::ZERO), Some(1001));
    }

    #[test]
    fn a_server_that_is_only_slow_is_waited_for() {
        let second = Duration::from_secs(1);
        // Entries one by one from a store that is slow, and all that a small buffer of a server holds.
        assert_eq!(taken(Trickle::of_entries(), 1, second / 10), None);
        assert_eq!(taken(Trickle::of_entries(), 500, 20 * second), None);
        assert_eq!(taken(Trickle::of_bytes(), 4 << 10, second), None);
        // A disk that spins up in the middle.
        let mut trickle = Trickle::of_entries();
        for waited in [1, 20, 1, 1, 1] {
            assert_eq!(trickle.was_short(1, waited * second), Ok(()));
        }
    }

    #[test]
    fn what_is_worth_its_wait_begins_anew() {
        let mut trickle = Trickle::of_entries();
        for _ in 0..3 {
            assert_eq!(trickle.was_short(1, Duration::from_secs(5)), Ok(()));
        }
        trickle.was_whole();
        assert_eq!(trickle.was_short(1, Duration::from_secs(5)), Ok(()));
    }
}
