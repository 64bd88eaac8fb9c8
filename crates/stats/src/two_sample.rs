//! Two independent samples: runs before and after a change that nobody paired. The shift between them is
//! the Hodges-Lehmann estimate, with the exact interval of the Mann-Whitney statistic (Mann and Whitney
//! 1947; Hollander, Wolfe and Chicken 2014, section 4.3), which assumes no distribution.

use crate::normal_and_student_t::{sane, standard_normal_quantile};
use crate::order_statistics::{cut, median_of_sorted, normal_cut};
use crate::{Estimate, Unit};

/// Up to so many pairs of values the distribution is computed exactly, above it is taken as normal.
const EXACT_PAIRS_MAX: usize = 2_500;
/// Values of a sample that are used; more are thinned evenly, so that no file can eat the memory.
const VALUES_MAX: usize = 1_000;
/// How often a real difference of the size hoped for would be seen.
const POWER: f64 = 0.8;
/// Efficiency of the Mann-Whitney interval against Student's on normal data, as a widening (pi / 3)^0.5.
const WIDENING: f64 = 1.0233;
/// The most runs that are proposed; more is no advice.
pub const RUNS_MAX: usize = 1_000;

/// The ratio of B over A from independent runs, all positive. Where they are too few for the confidence
/// asked, the widest interval with the confidence that it has; without any interval where a sample has one
/// value. `None` of nothing, and of values that are not positive.
#[must_use]
pub fn ratio(a: &[f64], b: &[f64], confidence: f64) -> Option<Estimate> {
    let [a, b] = [logs(a)?, logs(b)?];
    let mut shifts: Vec<f64> = a
        .iter()
        .flat_map(|a| b.iter().map(move |b| b - a))
        .collect();
    shifts.sort_by(f64::total_cmp);
    let value = median_of_sorted(&shifts)?;
    let n = a.len().min(b.len());
    let ends = (n >= 2).then(|| {
        let (place, reached) = match shifts.len() <= EXACT_PAIRS_MAX {
            true => cut(&mann_whitney_distribution(a.len(), b.len()), confidence),
            false => {
                let [one, two] = [a.len() as f64, b.len() as f64];
                let deviation = (one * two * (one + two + 1.0) / 12.0).sqrt();
                normal_cut(one * two / 2.0, deviation, confidence)
            }
        };
        ([shifts[place], shifts[shifts.len() - 1 - place]], reached)
    });
    Some(Estimate {
        value: value.exp(),
        interval: ends.map(|(ends, _)| ends.map(f64::exp)),
        confidence: ends.map(|(_, reached)| reached),
        n,
        unit: Unit::Ratio,
        caveats: Vec::new(),
    })
}

/// The standard deviation of a run's logarithm, over both samples; `None` where no sample has two values.
#[must_use]
pub fn deviation(a: &[f64], b: &[f64]) -> Option<f64> {
    let [a, b] = [logs(a)?, logs(b)?];
    let squares = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
    };
    let degrees = a.len() + b.len() - 2;
    (degrees > 0).then(|| ((squares(&a) + squares(&b)) / degrees as f64).sqrt())
}

/// The fewest runs of each of two samples whose interval can reach the confidence asked: 4 for 95 %.
#[must_use]
pub fn runs_min(confidence: f64) -> usize {
    // The slack is for rounding: 1 - 0.9 is a little less than 0.1.
    let error = 1.0 - sane(confidence) + 1e-12;
    let mut ways = 2.0_f64;
    let mut runs = 1;
    while 2.0 / ways > error {
        runs += 1;
        let n = runs as f64;
        ways *= 2.0 * (2.0 * n - 1.0) / n;
    }
    runs
}

/// Runs of each of two samples that find a change by the share `effect` four times out of five where
/// runs differ by `deviation` (of their logarithm); `None` of more than [`RUNS_MAX`].
#[must_use]
pub fn runs_needed(effect: f64, deviation: f64, confidence: f64) -> Option<usize> {
    let shift = effect.ln_1p().abs();
    let quantile = standard_normal_quantile(0.5 + 0.5 * sane(confidence));
    let wanted = WIDENING * (quantile + standard_normal_quantile(POWER)) * deviation;
    // One more, as so few tell the deviation only roughly.
    let runs = 2.0 * (wanted / shift).powi(2) + 1.0;
    let runs = runs.ceil().max(runs_min(confidence) as f64);
    (runs <= RUNS_MAX as f64).then_some(runs as usize)
}

fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let step = values.len().div_ceil(VALUES_MAX).max(1);
    let logs: Vec<f64> = values
        .iter()
        .step_by(step)
        .map(|value| value.ln())
        .collect();
    (!logs.is_empty() && logs.iter().all(|log| log.is_finite())).then_some(logs)
}

/// Probabilities of 0, 1, 2, ... pairs in which a value of the one sample exceeds one of the other, without
/// effect. Counts by the generating function: the Gaussian binomial coefficient.
fn mann_whitney_distribution(a: usize, b: usize) -> Vec<f64> {
    let pairs = a * b;
    let mut counts = vec![0.0; pairs + 1];
    counts[0] = 1.0;
    for step in 1..=a {
        // Times 1 - x^(b + step), over 1 - x^step.
        for sum in (b + step..=pairs).rev() {
            counts[sum] -= counts[sum - b - step];
        }
        for sum in step..=pairs {
            counts[sum] += counts[sum - step];
        }
        // Shares, so that large counts stay numbers.
        let ways = (b + step) as f64 / step as f64;
        for count in &mut counts {
            *count /= ways;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 60 runs each there are 3600 pairs, too many to be counted out. By hand: U has the mean 1800 and the deviation
    /// sqrt(3600 * 121 / 12) = 190.53, so that 1426 pairs are cut off at each end, which reaches 95.005 %. Of the
    /// differences of 0..60, that leaves those from -7 to 7.
    #[test]
    fn many_runs_are_cut_by_the_normal_distribution() {
        const STEP: f64 = 0.01;
        let runs = |shift: f64| -> Vec<f64> {
            let logs = (0..60).map(|place| shift + STEP * f64::from(place));
            logs.map(f64::exp).collect()
        };
        let shift = 0.1;
        let ratio = ratio(&runs(0.0), &runs(shift), 0.95).expect("there are values");
        let interval = ratio.interval.expect("there are enough");
        let expected = [shift - 7.0 * STEP, shift + 7.0 * STEP];
        for (end, expected) in interval.into_iter().zip(expected) {
            assert!((end.ln() - expected).abs() < 1e-9, "{interval:?}");
        }
        assert!((ratio.value.ln() - shift).abs() < 1e-9);
        let reached = ratio.confidence.expect("there is an interval");
        assert!((reached - 0.950_047_04).abs() < 1e-7, "{reached}");
    }
}
