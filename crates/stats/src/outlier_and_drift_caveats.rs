//! What a reader must know of a sample: values that stand apart, drift, too few of them.
//!
//! A value that stands apart, and a drift, is a caveat only where it *matters*, by the very rule that
//! effects are judged by. A value is named when it is far from the others (five robust standard
//! deviations) and also further from the median than the band of practical equivalence; a drift when
//! the Mann-Kendall test finds it and the Theil-Sen line also moves by more than the band from the
//! first value to the last. On a quiet machine, where a hundredth of a percent is far, nothing is said
//! of differences that nobody would call one if they were an effect.

use locale::{Argument, Message, say};

use crate::order_statistics::{median_of_sorted, sorted};
use crate::signed_rank::blocks_min;

/// Up to this n drift is looked for: the test counts pairs.
const DRIFT_N_MAX: usize = 1_000;
/// Robust standard deviations from the median at which a value is named.
const OUTLIER_DEVIATIONS: f64 = 5.0;
/// Values that stand apart and are listed one by one.
const OUTLIERS_LISTED_MAX: usize = 5;
/// Fewest values among which one can stand apart or a drift can be seen.
const CAVEAT_N_MIN: usize = 5;
/// Standard normal quantile of the drift test: 1 % two-sided, because it is asked very often.
const DRIFT_Z: f64 = 2.576;

/// That an interval has less than the confidence that was asked for, for want of trials or of blocks.
pub(crate) fn too_few(n: usize, reached: Option<f64>, asked: f64, scale: Scale) -> Option<Message> {
    let [for_any, at_most] = match scale {
        Scale::Linear => ["few-trials.for-any", "few-trials.at-most"],
        Scale::Log => ["few-blocks.for-any", "few-blocks.at-most"],
    };
    let of = |id| say(id).count("n", n).count("least", blocks_min(asked));
    match reached {
        None => Some(of(for_any)),
        Some(reached) if reached + 1e-12 < asked => Some(
            of(at_most)
                .with("reached", format!("{:.1} %", 100.0 * reached))
                .with("asked", format!("{:.0} %", 100.0 * asked)),
        ),
        Some(_) => None,
    }
}

/// What the values are.
#[derive(Clone, Copy)]
pub(crate) enum Scale {
    /// Trials, by their rates.
    Linear,
    /// Blocks, by the logarithms of their ratios.
    Log,
}

impl Scale {
    /// How far a value is from another one, as a share of it.
    fn share(self, value: f64, centre: f64) -> f64 {
        match self {
            Self::Linear => value / centre - 1.0,
            Self::Log => (value - centre).exp_m1(),
        }
    }
}

/// Whether a difference of this share is outside the band `[1 / (1 + band), 1 + band]`.
pub(crate) fn matters(share: f64, band: f64) -> bool {
    // Not a number, from a rate of nothing, matters as well.
    let inside = share.ln_1p().abs() <= band.max(0.0).ln_1p();
    !inside
}

/// Names what stands apart, and never removes it. `numbers` counts from 0, people from 1.
pub(crate) fn outliers(
    values: &[f64],
    numbers: &[u32],
    scale: Scale,
    band: f64,
) -> Option<Message> {
    if values.len() < CAVEAT_N_MIN {
        return None;
    }
    let centre = median_of_sorted(&sorted(values))?;
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    // 1.4826 makes the median distance of normal data their standard deviation.
    let deviation = 1.4826 * median_of_sorted(&sorted(&distances))?;
    let limit = OUTLIER_DEVIATIONS * deviation;
    let mut named: Vec<Argument> = values
        .iter()
        .zip(numbers)
        .filter(|(value, _)| {
            (*value - centre).abs() > limit && matters(scale.share(**value, centre), band)
        })
        .map(|(value, number)| {
            let share = scale.share(*value, centre);
            format!("{} ({:+.1} %)", u64::from(*number) + 1, 100.0 * share).into()
        })
        .collect();
    let count = named.len();
    if count > OUTLIERS_LISTED_MAX {
        named.truncate(OUTLIERS_LISTED_MAX);
        named.push(
            say("outlier-more")
                .count("count", count - OUTLIERS_LISTED_MAX)
                .into(),
        );
    }
    let id = match scale {
        Scale::Linear => "outlier.trials",
        Scale::Log => "outlier.blocks",
    };
    (count > 0).then(|| {
        say(id)
            .count("count", count)
            .with("which", Argument::List(named))
    })
}

/// By how much values rise or fall from the first to the last, as a share, where they do in time (the
/// Mann-Kendall test) and it matters.
pub(crate) fn drift(values: &[f64], scale: Scale, band: f64) -> Option<f64> {
    let n = values.len();
    // The test counts pairs; above the bound it would take too long for a caveat.
    if !(CAVEAT_N_MIN..=DRIFT_N_MAX).contains(&n) {
        return None;
    }
    let mut score = 0_i64;
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    for (index, first) in values.iter().enumerate() {
        for (distance, second) in (1_u32..).zip(&values[index + 1..]) {
            score += i64::from(second > first) - i64::from(second < first);
            slopes.push((second - first) / f64::from(distance));
        }
    }
    let count = n as f64;
    let deviation = (count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt();
    let z = (score.abs() - 1) as f64 / deviation;
    if z <= DRIFT_Z {
        return None;
    }
    let change = median_of_sorted(&sorted(&slopes))? * (count - 1.0);
    let centre = median_of_sorted(&sorted(values))?;
    let share = scale.share(centre + change, centre);
    matters(share, band).then_some(share)
}
