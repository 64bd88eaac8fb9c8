//! The Hodges-Lehmann estimate of location (Hodges and Lehmann 1963), and its signed-rank interval.

use locale::{Message, say};

use crate::median::median_interval;
use crate::order_statistics::{cut, median_of_sorted, normal_cut, sorted};
use crate::signed_rank::signed_rank_distribution;

/// Up to this n the signed-rank distribution is computed exactly, above it is taken as normal.
const SIGNED_RANK_EXACT_N_MAX: usize = 100;
/// Up to this n all pairwise means are formed; above it the median takes their place, so that a huge
/// file cannot eat the memory.
pub(crate) const PAIRWISE_MEANS_N_MAX: usize = 1_000;

/// Centre, interval, confidence reached and caveats.
pub(crate) type Location = (f64, Option<[f64; 2]>, Option<f64>, Vec<Message>);

/// The Hodges-Lehmann estimate; `None` of nothing.
#[must_use]
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    location(values, 0.95).map(|(centre, _, _, _)| centre)
}

/// Hodges-Lehmann: the median of all pairwise means, and the interval between two of them.
pub(crate) fn location(values: &[f64], confidence: f64) -> Option<Location> {
    let n = values.len();
    if n > PAIRWISE_MEANS_N_MAX {
        let sorted = sorted(values);
        let (interval, reached) = median_interval(&sorted, confidence);
        let caveat = say("many-blocks").count("n", n);
        return Some((median_of_sorted(&sorted)?, interval, reached, vec![caveat]));
    }
    let mut means = Vec::with_capacity(n * (n + 1) / 2);
    for (index, first) in values.iter().enumerate() {
        means.extend(values[index..].iter().map(|second| 0.5 * (first + second)));
    }
    means.sort_by(f64::total_cmp);
    let centre = median_of_sorted(&means)?;
    if n < 2 {
        return Some((centre, None, None, Vec::new()));
    }
    let (cut, reached) = if n <= SIGNED_RANK_EXACT_N_MAX {
        cut(&signed_rank_distribution(n), confidence)
    } else {
        let count = n as f64;
        let mean = count * (count + 1.0) / 4.0;
        let deviation = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
        normal_cut(mean, deviation, confidence)
    };
    let interval = [means[cut], means[means.len() - 1 - cut]];
    Some((centre, Some(interval), Some(reached), Vec::new()))
}
