//! Group-sequential verdicts: the blocks are judged at a few looks whose levels are fixed before the
//! first trial, so that stopping early has its price and the confidence holds over all looks
//! (Jennison and Turnbull 1999, *Group Sequential Methods*, chapters 2 and 9: repeated confidence
//! intervals).
//!
//! ```
//! use stats::PairedRatios;
//! use stats::sequential::{Loss, PROBE};
//!
//! // Four blocks of the network without and with the share on top, in MB/s.
//! let blocks = [(0, 80.2, 117.1), (1, 80.9, 117.6), (2, 79.8, 117.4), (3, 80.5, 117.2)];
//! let look = PROBE.look(&PairedRatios::new(blocks), 1.05).expect("blocks");
//! assert_eq!((look.loss, look.next), (Loss::Loses, None));
//! ```

use serde::Serialize;

use crate::distribution::{sane, student};
use crate::paired::SIGNED_RANK_WIDENING;
use crate::{BLOCKS_TO_SETTLE_MAX, Estimate, PairedRatios, Unit};

/// Whether a ratio is above a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The whole interval is above it.
    Loses,
    /// The whole interval is below it.
    DoesNotLose,
    /// The interval holds the threshold, or there was no look yet.
    CannotTell {
        /// Further blocks that would probably settle it, if the estimate and the scatter stay as they
        /// are; `None` where that is more than [`BLOCKS_TO_SETTLE_MAX`] in all or nothing can be said.
        more_blocks: Option<usize>,
    },
}

/// The interval of an interim or last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Student's: mean of the log ratios, as so few blocks can be counted to no small error. It
    /// assumes that these are about normal.
    Student,
    /// [`PairedRatios::ratio`]: assumes no distribution.
    Permutation,
}

/// One look of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Blocks in all.
    pub blocks: usize,
    /// Nominal two-sided error of its interval, 0 to 1.
    pub error: f64,
    /// How the interval is made.
    pub method: Method,
}

/// Looks and their levels, fixed before the first block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The looks, by ascending number of blocks.
    pub looks: &'static [Look],
    /// Confidence over all looks, 0 to 1.
    pub confidence: f64,
    /// The least standard deviation of a block's log ratio that is believed: a few blocks that agree by
    /// chance do not show that there is no noise.
    pub deviation_min: f64,
    /// From this look on (counted from 0) the plan ends early where the last look would hardly settle
    /// it.
    pub gives_up_from: usize,
}

/// What the blocks say at the last look that they have reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The ratio with its interval, whose confidence holds over all looks; without an interval before
    /// the first look.
    pub ratio: Estimate,
    /// Whether it is above the threshold.
    pub loss: Loss,
    /// Blocks in all at the next look; `None` where the plan ends here.
    pub next: Option<usize>,
}

const fn look(blocks: usize, method: Method) -> Look {
    Look {
        blocks,
        error: 0.015,
        method,
    }
}

/// The plan of a probe and of a rung of the ladder: at most 14 blocks, nominal level 0.015 at each of
/// four looks. That is Pocock's constant boundary (1977), which for four equal steps of information
/// may spend 0.0182 at each; the steps here are unequal and the first blocks few.
pub const PROBE: Plan = Plan {
    looks: &[
        look(4, Method::Student),
        look(6, Method::Student),
        look(9, Method::Permutation),
        look(14, Method::Permutation),
    ],
    confidence: 0.95,
    deviation_min: 0.005,
    gives_up_from: 1,
};

impl Plan {
    /// Judges all blocks at the last look that they have reached: `ratios` of those up to there. Blocks
    /// beyond a look wait for the next one. `threshold` is a ratio above 0, such as 1.05. `None` without
    /// any block, and for a threshold that is no ratio.
    #[must_use]
    pub fn look(&self, ratios: &PairedRatios, threshold: f64) -> Option<Judged> {
        let threshold = (threshold.is_finite() && threshold > 0.0).then(|| threshold.ln())?;
        let reached = self
            .looks
            .iter()
            .rposition(|look| look.blocks <= ratios.len());
        let Some(place) = reached else {
            return self.before_any(ratios);
        };
        let look = self.looks[place];
        let ratios = ratios.first(look.blocks);
        let (ratio, [low, high]) = self.estimate(&ratios, look)?;
        let loss = if low > threshold {
            Loss::Loses
        } else if high < threshold {
            Loss::DoesNotLose
        } else {
            Loss::CannotTell {
                more_blocks: self.more_blocks(&ratios, ratio.value.ln(), look, threshold),
            }
        };
        let later = self.looks.get(place + 1).map(|later| later.blocks);
        let is_settled = !matches!(loss, Loss::CannotTell { .. });
        let gives_up = place >= self.gives_up_from
            && self.is_hopeless(&ratios, ratio.value.ln(), threshold)?;
        let next = later.filter(|_| !is_settled && !gives_up);
        Some(Judged { ratio, loss, next })
    }

    fn before_any(&self, ratios: &PairedRatios) -> Option<Judged> {
        let first = self.looks.first()?.blocks;
        let mean = ratios.mean()?;
        Some(Judged {
            ratio: Estimate {
                value: mean.exp(),
                interval: None,
                confidence: None,
                n: ratios.len(),
                unit: Unit::Ratio,
                caveats: Vec::new(),
            },
            loss: Loss::CannotTell {
                more_blocks: Some(first - ratios.len()),
            },
            next: Some(first),
        })
    }

    /// The ratio at a look, and its interval as logarithms.
    fn estimate(&self, ratios: &PairedRatios, look: Look) -> Option<(Estimate, [f64; 2])> {
        let nominal = sane(1.0 - look.error);
        let (value, [low, high], caveats) = match look.method {
            Method::Student => {
                let mean = ratios.mean()?;
                let half = self.half_width(ratios.standard_deviation()?, nominal, look.blocks);
                (mean, [mean - half, mean + half], Vec::new())
            }
            Method::Permutation => {
                let found = ratios.ratio(0.0, nominal)?;
                let centre = found.value.ln();
                let [low, high] = found.defended(nominal)?.map(f64::ln);
                let least = self.half_width(0.0, nominal, look.blocks);
                let interval = [low.min(centre - least), high.max(centre + least)];
                (centre, interval, found.caveats)
            }
        };
        let estimate = Estimate {
            value: value.exp(),
            interval: Some([low.exp(), high.exp()]),
            confidence: Some(self.confidence),
            n: look.blocks,
            unit: Unit::Ratio,
            caveats,
        };
        Some((estimate, [low, high]))
    }

    /// Half of Student's interval of so many log ratios with this deviation, but for its least.
    fn half_width(&self, deviation: f64, confidence: f64, blocks: usize) -> f64 {
        student(confidence, blocks) * deviation.max(self.deviation_min) / (blocks as f64).sqrt()
    }

    /// Whether the last look would not settle it even if the truth were one standard error further
    /// from the threshold than the estimate is. Giving up costs power and never makes a false verdict.
    fn is_hopeless(&self, ratios: &PairedRatios, centre: f64, threshold: f64) -> Option<bool> {
        let last = self.looks.last()?;
        let deviation = ratios.deviation()?;
        let error = deviation / (ratios.len() as f64).sqrt();
        let half = self.half_width(deviation, sane(1.0 - last.error), last.blocks);
        Some((centre - threshold).abs() + error < half)
    }

    /// Further blocks after which the interval would probably leave the threshold out.
    fn more_blocks(
        &self,
        ratios: &PairedRatios,
        centre: f64,
        look: Look,
        threshold: f64,
    ) -> Option<usize> {
        let deviation = ratios.deviation()?;
        let confidence = sane(1.0 - look.error);
        let settles = |blocks: usize| {
            let half = self.half_width(deviation, confidence, blocks) * SIGNED_RANK_WIDENING;
            (centre - threshold).abs() > half
        };
        let now = look.blocks;
        (1..=BLOCKS_TO_SETTLE_MAX.saturating_sub(now)).find(|more| settles(now + more))
    }
}
