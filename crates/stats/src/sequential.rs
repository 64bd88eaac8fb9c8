//! Group-sequential verdicts: the blocks are judged at a few analyses whose levels are fixed before the
//! first trial, so that stopping early has its price and the confidence holds over all analyses
//! (Jennison and Turnbull 1999, *Group Sequential Methods*, chapters 2 and 9: repeated confidence
//! intervals).
//!
//! ```
//! use stats::PairedRatios;
//! use stats::sequential::{Loss, PROBE};
//!
//! // Four blocks of the network without and with the share on top, in MB/s.
//! let blocks = [(0, 80.2, 117.1), (1, 80.9, 117.6), (2, 79.8, 117.4), (3, 80.5, 117.2)];
//! let verdict = PROBE.judge(&PairedRatios::new(blocks), 1.05).expect("blocks");
//! assert_eq!((verdict.loss, verdict.next), (Loss::Loses, None));
//! ```

use schemars::JsonSchema;
use serde::Serialize;

use crate::normal_and_student_t::{sane, student};
use crate::paired_ratios::SIGNED_RANK_WIDENING;
use crate::{BLOCKS_TO_SETTLE_MAX, Estimate, PairedRatios, Unit};

/// Whether a ratio is above a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The whole interval is above it.
    Loses,
    /// The whole interval is below it.
    DoesNotLose,
    /// The interval holds the threshold, or there was no analysis yet.
    CannotTell {
        /// Further blocks that would probably settle it, if the estimate and the scatter stay as they
        /// are; `None` where that is more than [`BLOCKS_TO_SETTLE_MAX`] in all or nothing can be said.
        more_blocks: Option<usize>,
    },
}

/// The interval of an interim or last analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Student's: mean of the log ratios, as so few blocks can be counted to no small error. It
    /// assumes that these are about normal.
    Student,
    /// [`PairedRatios::ratio`]: assumes no distribution.
    Permutation,
}

/// One analysis of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Analysis {
    /// Blocks in all.
    pub blocks: usize,
    /// Nominal two-sided error of its interval, 0 to 1.
    pub error: f64,
    /// How the interval is made.
    pub method: Method,
}

/// Analyses and their levels, fixed before the first block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The analyses, by ascending number of blocks.
    pub analyses: &'static [Analysis],
    /// Confidence over all analyses, 0 to 1.
    pub confidence: f64,
    /// The least standard deviation of a block's log ratio that is believed: a few blocks that agree by
    /// chance do not show that there is no noise.
    pub deviation_min: f64,
    /// From this analysis on (counted from 0) the plan ends early where the last analysis would hardly settle
    /// it.
    pub gives_up_from: usize,
}

/// What the blocks say at the last analysis that they have reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The ratio with its interval, whose confidence holds over all analyses; without an interval before
    /// the first analysis.
    pub ratio: Estimate,
    /// Whether it is above the threshold.
    pub loss: Loss,
    /// Blocks in all at the next analysis; `None` where the plan ends here.
    pub next: Option<usize>,
}

const fn analysis(blocks: usize, method: Method) -> Analysis {
    Analysis {
        blocks,
        error: 0.015,
        method,
    }
}

/// The plan of a probe and of a rung of the ladder: at most 14 blocks, nominal level 0.015 at each of
/// four analyses. That is Pocock's constant boundary (1977), which for four equal steps of information
/// may spend 0.0182 at each; the steps here are unequal and the first blocks few.
pub const PROBE: Plan = Plan {
    analyses: &[
        analysis(4, Method::Student),
        analysis(6, Method::Student),
        analysis(9, Method::Permutation),
        analysis(14, Method::Permutation),
    ],
    confidence: 0.95,
    deviation_min: 0.005,
    gives_up_from: 1,
};

impl Plan {
    /// Judges all blocks at the last analysis that they have reached: `ratios` of those up to there. Blocks
    /// beyond an analysis wait for the next one. `threshold` is a ratio above 0, such as 1.05. `None` without
    /// any block, and for a threshold that is no ratio.
    #[must_use]
    pub fn judge(&self, ratios: &PairedRatios, threshold: f64) -> Option<Judged> {
        let threshold = (threshold.is_finite() && threshold > 0.0).then(|| threshold.ln())?;
        let reached = self
            .analyses
            .iter()
            .rposition(|analysis| analysis.blocks <= ratios.len());
        let Some(place) = reached else {
            return self.before_any(ratios);
        };
        let analysis = self.analyses[place];
        let ratios = ratios.first(analysis.blocks);
        let (ratio, [low, high]) = self.estimate(&ratios, analysis)?;
        let loss = if low > threshold {
            Loss::Loses
        } else if high < threshold {
            Loss::DoesNotLose
        } else {
            Loss::CannotTell {
                more_blocks: self.more_blocks(&ratios, ratio.value.ln(), analysis, threshold),
            }
        };
        let later = self.analyses.get(place + 1).map(|later| later.blocks);
        let is_settled = !matches!(loss, Loss::CannotTell { .. });
        let gives_up = place >= self.gives_up_from
            && self.is_hopeless(&ratios, ratio.value.ln(), threshold)?;
        let next = later.filter(|_| !is_settled && !gives_up);
        Some(Judged { ratio, loss, next })
    }

    fn before_any(&self, ratios: &PairedRatios) -> Option<Judged> {
        let first = self.analyses.first()?.blocks;
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

    /// The ratio at an analysis, and its interval as logarithms.
    fn estimate(&self, ratios: &PairedRatios, analysis: Analysis) -> Option<(Estimate, [f64; 2])> {
        let nominal = sane(1.0 - analysis.error);
        let (value, [low, high], caveats) = match analysis.method {
            Method::Student => {
                let mean = ratios.mean()?;
                let half = self.half_width(ratios.standard_deviation()?, nominal, analysis.blocks);
                (mean, [mean - half, mean + half], Vec::new())
            }
            Method::Permutation => {
                let found = ratios.ratio(0.0, nominal)?;
                let centre = found.value.ln();
                let [low, high] = found.defended(nominal)?.map(f64::ln);
                let least = self.half_width(0.0, nominal, analysis.blocks);
                let interval = [low.min(centre - least), high.max(centre + least)];
                (centre, interval, found.caveats)
            }
        };
        let estimate = Estimate {
            value: value.exp(),
            interval: Some([low.exp(), high.exp()]),
            confidence: Some(self.confidence),
            n: analysis.blocks,
            unit: Unit::Ratio,
            caveats,
        };
        Some((estimate, [low, high]))
    }

    /// Half of Student's interval of so many log ratios with this deviation, but for its least.
    fn half_width(&self, deviation: f64, confidence: f64, blocks: usize) -> f64 {
        student(confidence, blocks) * deviation.max(self.deviation_min) / (blocks as f64).sqrt()
    }

    /// Whether the last analysis would not settle it even if the truth were one standard error further
    /// from the threshold than the estimate is. Giving up costs power and never makes a false verdict.
    fn is_hopeless(&self, ratios: &PairedRatios, centre: f64, threshold: f64) -> Option<bool> {
        let last = self.analyses.last()?;
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
        analysis: Analysis,
        threshold: f64,
    ) -> Option<usize> {
        let deviation = ratios.deviation()?;
        let confidence = sane(1.0 - analysis.error);
        let settles = |blocks: usize| {
            let half = self.half_width(deviation, confidence, blocks) * SIGNED_RANK_WIDENING;
            (centre - threshold).abs() > half
        };
        let now = analysis.blocks;
        (1..=BLOCKS_TO_SETTLE_MAX.saturating_sub(now)).find(|more| settles(now + more))
    }
}
