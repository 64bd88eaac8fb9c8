//! The median of one sample, with an interval that assumes no distribution.

use locale::say;

use crate::order_statistics::{cut, median_of_sorted, normal_cut, sorted};
use crate::outlier_and_drift_caveats::{Scale, drift, outliers, too_few};
use crate::{Estimate, Unit};

/// Up to this n the binomial distribution is summed exactly (2^-1000 is still a normal number).
const BINOMIAL_EXACT_N_MAX: usize = 1_000;

/// The median of one sample with the interval between two of its order statistics, which assumes
/// nothing about the distribution. `None` for an empty sample; values that are not finite are left
/// out. Values that stand apart, and drift, are named where they matter against the band.
#[must_use]
pub fn median(values: &[f64], band: f64, confidence: f64, unit: Unit) -> Option<Estimate> {
    let kept: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let sorted = sorted(&kept);
    let n = sorted.len();
    let value = median_of_sorted(&sorted)?;
    let (interval, reached) = median_interval(&sorted, confidence);
    let mut caveats = Vec::new();
    caveats.extend(too_few(n, reached, confidence, Scale::Linear));
    let numbers: Vec<u32> = (0..).take(n).collect();
    caveats.extend(outliers(&kept, &numbers, Scale::Linear, band));
    caveats.extend(drift(&kept, Scale::Linear, band).map(|share| {
        let id = match share > 0.0 {
            true => "drift.values-rise",
            false => "drift.values-fall",
        };
        say(id).with("share", format!("{:.1} %", 100.0 * share.abs()))
    }));
    Some(Estimate {
        value,
        interval,
        confidence: reached,
        n,
        unit,
        caveats,
    })
}

/// Probabilities of the number of n values that lie below the median.
fn binomial_distribution(n: usize) -> Vec<f64> {
    let mut probability = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut probabilities = vec![probability];
    for k in 1..=n {
        probability *= (n + 1 - k) as f64 / k as f64;
        probabilities.push(probability);
    }
    probabilities
}

pub(crate) fn median_interval(sorted: &[f64], confidence: f64) -> (Option<[f64; 2]>, Option<f64>) {
    let n = sorted.len();
    if n < 2 {
        return (None, None);
    }
    let (cut, reached) = if n <= BINOMIAL_EXACT_N_MAX {
        cut(&binomial_distribution(n), confidence)
    } else {
        normal_cut(n as f64 / 2.0, (n as f64).sqrt() / 2.0, confidence)
    };
    (Some([sorted[cut], sorted[n - 1 - cut]]), Some(reached))
}
