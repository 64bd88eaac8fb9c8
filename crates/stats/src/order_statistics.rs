//! Order statistics: sorted values, their median, and how many may be cut off at each end.

use crate::normal_and_student_t::{sane, standard_normal_above, standard_normal_quantile};

pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The median of values in ascending order; `None` of nothing.
#[must_use]
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    let upper = *sorted.get(n / 2)?;
    Some(if n % 2 == 1 {
        upper
    } else {
        0.5 * (sorted[n / 2 - 1] + upper)
    })
}

/// How many order statistics can be cut off at each end so that what is left still has the
/// confidence asked (none, where nothing has), and the confidence it has.
pub(crate) fn cut(distribution: &[f64], confidence: f64) -> (usize, f64) {
    let confidence = sane(confidence);
    let mut tail = 0.0;
    let mut best = None;
    for (index, probability) in distribution.iter().enumerate() {
        tail += probability;
        let reached = 1.0 - 2.0 * tail;
        if best.is_some() && reached < confidence {
            break;
        }
        best = Some((index, reached));
    }
    best.unwrap_or((0, 0.0))
}

pub(crate) fn normal_cut(mean: f64, deviation: f64, confidence: f64) -> (usize, f64) {
    let quantile = standard_normal_quantile(0.5 + 0.5 * sane(confidence));
    let cut = (mean - quantile * deviation - 0.5).floor().max(0.0);
    let tail = standard_normal_above((mean - cut - 0.5) / deviation);
    (cut as usize, 1.0 - 2.0 * tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signed_rank::signed_rank_distribution;

    fn close(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9, "{left} is not {right}");
    }

    /// How many pairwise means may be cut off at each end, and 1 - 2 * tail, from the same counts by
    /// python3: n = 6: 1 - 2/64; 7: 1 - 2 * 3/128; 8: 1 - 2 * 5/256; 12: 1 - 2 * 87/4096;
    /// 20: 1 - 2 * 25397/1048576.
    #[test]
    fn signed_rank_intervals_reach_these_confidences() {
        let known = [
            (6, 1, 0.968_75),
            (7, 3, 0.953_125),
            (8, 4, 0.960_937_5),
            (12, 14, 0.957_519_531_25),
            (20, 53, 0.951_559_066_772_460_9),
        ];
        for (n, order, reached) in known {
            let (index, found) = cut(&signed_rank_distribution(n), 0.95);
            assert_eq!(index + 1, order, "n = {n}");
            close(found, reached);
        }
        // The normal approximation takes over where both agree to a tenth of a percent.
        let n = 100.0_f64;
        let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let normal = normal_cut(n * (n + 1.0) / 4.0, deviation, 0.95);
        let exact = cut(&signed_rank_distribution(100), 0.95);
        assert!(normal.0.abs_diff(exact.0) <= 1, "{normal:?} {exact:?}");
        assert!((normal.1 - exact.1).abs() < 1e-3);
    }
}
