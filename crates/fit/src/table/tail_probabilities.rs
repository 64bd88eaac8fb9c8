//! Tail probabilities of t, F and chi-squared, and Holm's correction. Nothing here panics.

use statrs::function::{beta::checked_beta_reg, gamma::checked_gamma_ur};

/// Probability of a `t` at least as far from 0, on either side.
pub(super) fn t_two_sided(t: f64, degrees: usize) -> f64 {
    f_upper(t * t, 1, degrees)
}

/// Probability of an F at least this large.
pub(super) fn f_upper(f: f64, above: usize, below: usize) -> f64 {
    if !f.is_finite() {
        return 0.0;
    }
    let (above, below) = (above as f64, below as f64);
    checked_beta_reg(below / 2.0, above / 2.0, below / (below + above * f)).unwrap_or(1.0)
}

/// Probability of a chi-squared at least this large.
pub(super) fn chi_squared_upper(value: f64, degrees: usize) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    checked_gamma_ur(degrees as f64 / 2.0, value / 2.0).unwrap_or(0.0)
}

/// The `t` that is exceeded on either side with probability `p`. By bisection, because it is asked for
/// a few times and must agree with [`t_two_sided`] to the last digits.
pub(super) fn t_quantile_two_sided(p: f64, degrees: usize) -> f64 {
    const HALVINGS: usize = 200;
    let (mut low, mut high) = (0.0, 1.0);
    while t_two_sided(high, degrees) > p && high < 1e9 {
        high *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if t_two_sided(middle, degrees) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + (high - low) / 2.0
}

/// Holm's adjusted probabilities, in the order given; each `(probability, weight)` has its share of the
/// error by its weight, which is more than 0 (Holm 1979, section 4).
pub(super) fn holm(tests: &[(f64, f64)]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..tests.len()).collect();
    let share = |place: &usize| tests[*place].0 / tests[*place].1;
    order.sort_by(|one, other| share(one).total_cmp(&share(other)));
    let mut adjusted = vec![1.0; tests.len()];
    let mut at_least = 0.0_f64;
    for (rank, place) in order.iter().enumerate() {
        let left: f64 = order[rank..].iter().map(|place| tests[*place].1).sum();
        at_least = at_least.max((share(place) * left).min(1.0));
        adjusted[*place] = at_least;
    }
    adjusted
}

/// The median; `None` of nothing.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values {
        [] => None,
        values if values.len() % 2 == 1 => Some(values[middle]),
        values => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-9 * other.abs()
    }

    /// Values of R's `qt`, `pt`, `pf` and `pchisq`.
    #[test]
    fn tails_and_quantiles_are_those_of_the_tables() {
        assert!(near(t_quantile_two_sided(0.05, 1), 12.706_204_736_174_7));
        assert!(near(t_quantile_two_sided(0.05, 6), 2.446_911_851_144_97));
        assert!(near(t_quantile_two_sided(0.05, 1000), 1.962_339_080_826_41));
        assert!(near(t_two_sided(2.0, 10), 0.073_388_034_770_740_4));
        assert!(near(
            f_upper(1.674_336_283_185_838_6, 3, 16),
            0.212_430_135_064_364_1
        ));
        assert!(near(
            chi_squared_upper(4.795_517_774_343_124, 3),
            0.187_397_464_525_048_7
        ));
        assert_eq!(f_upper(f64::INFINITY, 1, 3), 0.0);
        assert_eq!(chi_squared_upper(0.0, 3), 1.0);
    }

    /// 0.01 x 4, 0.02 x 3 raised to what came before, 0.04 x 2, and 0.03 x 2 in between.
    #[test]
    fn holm_steps_down_and_never_falls() {
        let adjusted = holm(&[(0.04, 1.0), (0.01, 1.0), (0.03, 1.0), (0.5, 1.0)]);
        let expected = [0.09, 0.04, 0.09, 0.5];
        assert!(
            adjusted
                .iter()
                .zip(expected)
                .all(|(one, other)| near(*one, other)),
            "{adjusted:?}"
        );
        assert!(holm(&[]).is_empty());
        // Two of half the weight leave more to the first: 0.01 x 2, then 0.02 / 0.5 x 1.
        let weighted = holm(&[(0.01, 1.0), (0.02, 0.5), (0.5, 0.5)]);
        let expected = [0.02, 0.04, 0.5];
        let pairs = || weighted.iter().zip(expected);
        assert!(
            pairs().all(|(one, other)| near(*one, other)),
            "{weighted:?}"
        );
    }
}
