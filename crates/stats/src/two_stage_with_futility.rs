//! Two stages of blocks that are judged together: an interim look that ends what is hopeless, then
//! fresh blocks, then one test over all of them. (Bauer and Köhne 1994 and Jennison and Turnbull 1999,
//! chapter 5, on stopping for futility: it takes power and makes no false verdict.)
//!
//! Nothing is called better at the interim look. What is clearly better there needs only half as many
//! fresh blocks; a tenth of the error pays for that choice, so that the false verdicts of both paths
//! together stay within the error.

use crate::PairedRatios;
use crate::normal_and_student_t::{student, student_beyond};
use crate::paired_ratios::SIGNED_RANK_WIDENING;

/// The share of the error that pays for the short second stage.
const INTERIM_SHARE: f64 = 0.1;
/// The least standard deviation of a log ratio that is believed: a few blocks that agree by chance do
/// not show that there is no noise.
const DEVIATION_MIN: f64 = 0.002;
/// Two-sided error at which fresh blocks contradict the first ones.
const CONTRADICTION_ERROR: f64 = 0.01;
/// Error at which fresh blocks alone show a gain.
const FRESH_ERROR: f64 = 0.05;

/// What the first stage leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interim {
    /// All blocks together would hardly show a gain.
    Hopeless,
    /// As many fresh blocks again.
    Promising,
    /// Half as many fresh blocks suffice.
    Clear,
}

/// The plan of a comparison in two stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoStage {
    /// Blocks of the first stage, and the most of the second.
    pub blocks: usize,
    /// Two-sided error of the whole, 0 to 1.
    pub error: f64,
}

impl TwoStage {
    /// Two-sided error of the interval over all blocks.
    #[must_use]
    pub fn last_error(&self) -> f64 {
        (1.0 - INTERIM_SHARE) * self.error
    }

    /// Fresh blocks of the second stage.
    #[must_use]
    pub fn fresh_blocks(&self, interim: Interim) -> usize {
        match interim {
            Interim::Hopeless => 0,
            Interim::Promising => self.blocks,
            Interim::Clear => self.blocks.div_ceil(2),
        }
    }

    /// Judges the first stage. It is hopeless where all blocks together would not show a gain even if
    /// the truth were one standard error better than what was seen.
    #[must_use]
    pub fn interim(&self, first: &PairedRatios) -> Interim {
        let Some((mean, error)) = mean_and_error(first) else {
            return Interim::Hopeless;
        };
        let nominal = 1.0 - INTERIM_SHARE * self.error;
        if mean > student(nominal, first.len()) * error {
            return Interim::Clear;
        }
        let both = first.len() + self.blocks;
        let shrunk = error * (first.len() as f64 / both as f64).sqrt();
        let half = student(1.0 - self.last_error(), both) * shrunk * SIGNED_RANK_WIDENING;
        match mean + error < half {
            true => Interim::Hopeless,
            false => Interim::Promising,
        }
    }

    /// Whether fresh blocks bear out a gain of the first ones: they show one too, and are either better
    /// for themselves or not clearly less so than the first ones.
    #[must_use]
    pub fn is_confirmed(&self, first: &PairedRatios, fresh: &PairedRatios) -> bool {
        let Some(((first_mean, first_error), (mean, error))) =
            mean_and_error(first).zip(mean_and_error(fresh))
        else {
            return false;
        };
        let is_better = mean > student(1.0 - FRESH_ERROR, fresh.len()) * error;
        let apart = (first_mean - mean) / first_error.hypot(error);
        // As if there were only as many degrees of freedom as the smaller sample has.
        let count = first.len().min(fresh.len());
        let contradicts = apart > 0.0 && student_beyond(apart, count) < CONTRADICTION_ERROR;
        mean > 0.0 && (is_better || !contradicts)
    }
}

/// Mean of the log ratios and its standard error; `None` of fewer than two blocks.
fn mean_and_error(ratios: &PairedRatios) -> Option<(f64, f64)> {
    let deviation = ratios.standard_deviation()?.max(DEVIATION_MIN);
    Some((ratios.mean()?, deviation / (ratios.len() as f64).sqrt()))
}

/// The error that each of a sequence of tests may have so that the probability of any false positive
/// stays within the whole: each has its share, and what is proven passes its own on to the next test
/// (the fallback procedure, Wiens and Dmitrienko 2005).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fallback {
    share: f64,
    carried: f64,
}

impl Fallback {
    /// Splits an error evenly over so many tests.
    #[must_use]
    pub fn new(error: f64, tests: usize) -> Self {
        Self {
            share: error / tests.max(1) as f64,
            carried: 0.0,
        }
    }

    /// The error of the next test.
    #[must_use]
    pub fn next(&self) -> f64 {
        self.share + self.carried
    }

    /// Tells what became of it; one that was not made passes its share on as well.
    pub fn spent(&mut self, is_free: bool) {
        self.carried = if is_free { self.next() } else { 0.0 };
    }
}
