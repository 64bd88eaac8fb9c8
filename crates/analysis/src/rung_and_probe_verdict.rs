//! The rule by which rungs and interventions are judged: that of [`stats::sequential::PROBE`] against one threshold.

use stats::PairedRatios;
use stats::sequential::PROBE;

pub use stats::sequential::{Judged as Sequential, Loss};

/// What counts as a loss: the part that is missing of the rate below makes it this much slower.
pub const MATTERS: f64 = 1.05;
/// Blocks at each analysis; before the first one there is no verdict.
pub const ANALYSIS_BLOCKS: [usize; 4] = [
    PROBE.analyses[0].blocks,
    PROBE.analyses[1].blocks,
    PROBE.analyses[2].blocks,
    PROBE.analyses[3].blocks,
];

/// Judges blocks of (slower, faster) in their order; `None` without any. What cannot be told has the blocks that
/// are missing to the next analysis, and none where the rule ends without a verdict.
#[must_use]
pub fn judge(blocks: &[(f64, f64)]) -> Option<Sequential> {
    judge_against(blocks, MATTERS)
}

/// The same where another ratio than [`MATTERS`] is what counts.
#[must_use]
pub fn judge_against(blocks: &[(f64, f64)], matters: f64) -> Option<Sequential> {
    let numbered = (0..).zip(blocks);
    let pairs = numbered.map(|(block, (part, whole))| (block, *part, *whole));
    let mut judged = PROBE.judge(&PairedRatios::new(pairs), matters)?;
    if let Loss::CannotTell { more_blocks } = &mut judged.loss {
        let next = judged.next;
        *more_blocks = next.map(|next| next.saturating_sub(blocks.len()).max(1));
    }
    Some(judged)
}

/// The verdict of an interval: the only place where one is made of anything but blocks.
#[must_use]
pub fn of_interval([low, high]: [f64; 2], more_blocks: Option<usize>) -> Loss {
    if low > MATTERS {
        Loss::Loses
    } else if high < MATTERS {
        Loss::DoesNotLose
    } else {
        Loss::CannotTell { more_blocks }
    }
}

/// Whether so many blocks may be followed by more: before the first analysis, or where a later one may decide.
#[must_use]
pub fn goes_on(judged: Option<&Sequential>) -> bool {
    judged.is_none_or(|judged| judged.next.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_has_no_interval_and_no_verdict() {
        let one = judge(&[(50.0, 100.0)]).expect("a block");
        assert_eq!(one.ratio.interval, None);
        assert_eq!(
            one.loss,
            Loss::CannotTell {
                more_blocks: Some(3)
            }
        );
        assert_eq!(judge(&[]), None);
    }

    #[test]
    fn the_verdict_is_that_of_the_interval() {
        let found = |ratio: f64| judge(&[(100.0, 100.0 * ratio); 4]).expect("blocks").loss;
        assert_eq!(found(1.5), Loss::Loses);
        assert_eq!(found(1.01), Loss::DoesNotLose);
        assert!(matches!(found(1.055), Loss::CannotTell { .. }));
    }
}
