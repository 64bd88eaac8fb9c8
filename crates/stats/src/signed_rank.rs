//! The distribution of the signed-rank sum (Wilcoxon 1945).

use crate::normal_and_student_t::sane;

/// Probabilities of the signed-rank sum 0, 1, 2, ... of n values without effect: each rank is in the
/// sum or not, like a coin.
pub(crate) fn signed_rank_distribution(n: usize) -> Vec<f64> {
    let mut probabilities = vec![0.0; n * (n + 1) / 2 + 1];
    probabilities[0] = 1.0;
    let mut top = 0;
    for rank in 1..=n {
        top += rank;
        for sum in (0..=top).rev() {
            let with = if sum >= rank {
                probabilities[sum - rank]
            } else {
                0.0
            };
            probabilities[sum] = 0.5 * (probabilities[sum] + with);
        }
    }
    probabilities
}

/// The fewest blocks whose signed-rank interval can reach the confidence asked: 6 for 95 %.
#[must_use]
pub fn blocks_min(confidence: f64) -> usize {
    let confidence = sane(confidence);
    let reaches = |n: &usize| 1.0 - 2.0 * 0.5_f64.powi(i32::try_from(*n).unwrap_or(i32::MAX));
    (2..64).find(|n| reaches(n) >= confidence).unwrap_or(64)
}
