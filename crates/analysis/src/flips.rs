//! The interval of the difference between two arms that were measured side by side in blocks.
//!
//! If nothing but a constant shift tells the arms apart, then after taking it off either value of a
//! block could as well have been the other's: the order within a block is drawn. So a shift is
//! believed as long as the blocks' differences without it are not too one-sided among all ways to
//! exchange the arms within blocks, which are counted exactly. No distribution is assumed.
//!
//! What makes one-sided is a sum of scores, and a score may use anything but which arm a value is of.
//! So a single trial that stands apart from those around it in time (somebody else was on the link)
//! counts less, and nothing where it is far off, while the other trial of its block still counts. A
//! disturbance that hit both trials of a block cancels between them.

/// Fewer blocks than this cannot tell a trial that stands apart.
const CLEANED_N_MIN: usize = 8;
/// Blocks before and after, whose values say what is usual at a time.
const NEIGHBOURS: usize = 2;
/// Standard deviations from the usual up to which a value counts fully; at twice that it does not count.
const FULL_DEVIATIONS: f64 = 3.0;
/// Standard deviations by which both values of a block must be off to be its own disturbance.
const SHARED_DEVIATIONS: f64 = 2.0;
/// Median of the absolute value of standard normal numbers, and the median distance of these absolute
/// values from it.
const MEDIAN_ABSOLUTE: f64 = 0.6745;
const MEDIAN_SPREAD_ABSOLUTE: f64 = 0.3987;
/// One block of so many may be left without any score.
const SILENT_ONE_IN: usize = 5;
/// Up to this n each way to exchange the arms is tried.
const TRIED_N_MAX: usize = 12;
/// Above that scores are rounded to so many steps, so that the ways to each sum can be counted.
const SCORE_MAX: f64 = 31.0;
/// Up to this n they are counted, above it the sum is taken as normal.
const COUNTED_N_MAX: usize = 64;
/// Each step outwards is so many times the one before.
const STEP_GROWTH: f64 = 1.3;
/// Halvings that then find the end.
const HALVINGS: usize = 28;

/// The shifts of `b` over `a` that are believed at this confidence, and the confidence their
/// interval has; `centre` is one of them. Both slices have a value of each block, in time's order.
pub(crate) fn interval(a: &[f64], b: &[f64], centre: f64, confidence: f64) -> ([f64; 2], f64) {
    let differences = || a.iter().zip(b).map(|(a, b)| b - a);
    let low = differences().fold(f64::INFINITY, f64::min);
    let high = differences().fold(f64::NEG_INFINITY, f64::max);
    let range = high - low;
    let usual = median(differences().map(|difference| (difference - centre).abs()));
    // A share of what the interval will be wide; where most blocks agree, of what the others say.
    let step = (usual / (a.len() as f64).sqrt() / 2.0).max(range / 64.0_f64.powi(2));
    let mut missed = 0.0_f64;
    let ends = [(low, -1.0), (high, 1.0)].map(|(last, way)| {
        let outside = last + way * range.max(f64::EPSILON);
        let beyond = exceeding(a, b, outside);
        if range <= 0.0 || beyond > 1.0 - confidence {
            missed = missed.max(beyond);
            return last;
        }
        let (end, beyond) = end(a, b, [centre, outside], step, 1.0 - confidence);
        missed = missed.max(beyond);
        end
    });
    ([ends[0].min(centre), ends[1].max(centre)], 1.0 - missed)
}

/// The last believed shift on the way from the centre to one that is not, and the probability just
/// beyond it. Shifts that are further out and could be believed again, because with them a value that
/// stands apart no longer does, are not those that the other blocks speak of.
fn end(a: &[f64], b: &[f64], [centre, outside]: [f64; 2], mut step: f64, error: f64) -> (f64, f64) {
    let (mut believed, mut refused) = (centre, outside);
    let mut at_refused = exceeding(a, b, outside);
    let way = (outside - centre).signum();
    while (believed - centre).abs() + step < (outside - centre).abs() {
        let shift = believed + way * step;
        let probability = exceeding(a, b, shift);
        if probability <= error {
            (refused, at_refused) = (shift, probability);
            break;
        }
        believed = shift;
        step *= STEP_GROWTH;
    }
    for _ in 0..HALVINGS {
        let shift = 0.5 * (refused + believed);
        let probability = exceeding(a, b, shift);
        if probability > error {
            believed = shift;
        } else {
            (refused, at_refused) = (shift, probability);
        }
    }
    (believed, at_refused)
}

/// The probability of a sum of scores as one-sided as that of the differences without this shift.
fn exceeding(a: &[f64], b: &[f64], shift: f64) -> f64 {
    let scores = scores(a, b, shift);
    if scores.len() <= TRIED_N_MAX {
        return tried(&scores);
    }
    let largest = scores
        .iter()
        .fold(0.0_f64, |most, score| most.max(score.abs()));
    if largest <= 0.0 {
        return 1.0;
    }
    let steps = scores.iter().map(|score| SCORE_MAX * score / largest);
    let steps: Vec<i64> = steps.map(|step| step.round() as i64).collect();
    let found = steps.iter().sum::<i64>().abs();
    if steps.len() > COUNTED_N_MAX {
        let squares: f64 = steps.iter().map(|step| (*step as f64).powi(2)).sum();
        return 2.0 * super::statistics::standard_normal_above(found as f64 / squares.sqrt());
    }
    counted(&steps, found)
}

/// The share of all ways to give these scores a sign whose sum is as far from 0 as theirs.
fn tried(scores: &[f64]) -> f64 {
    let whole: f64 = scores.iter().map(|score| score.abs()).sum();
    // Sums of the same scores in another order differ by rounding.
    let found = scores.iter().sum::<f64>().abs() - 1e-12 * whole;
    // Half of the ways; the others are these turned round. From each to the next one sign changes.
    let ways = 1_u32 << (scores.len() - 1);
    let mut signed: Vec<f64> = scores.iter().map(|score| score.abs()).collect();
    let mut sum = whole;
    let mut far = 0;
    for way in 1..=ways {
        far += u32::from(sum.abs() >= found);
        if way < ways {
            let changed = &mut signed[way.trailing_zeros() as usize];
            *changed = -*changed;
            sum += 2.0 * *changed;
        }
    }
    f64::from(far) / f64::from(ways)
}

/// The share of all ways to give these scores a sign whose sum is as far from 0 as `found`.
fn counted(steps: &[i64], found: i64) -> f64 {
    let whole: i64 = steps.iter().map(|step| step.abs()).sum();
    // Index: the sum of the scores with a positive sign; more than this is not far below 0.
    let last = usize::try_from((whole - found) / 2).unwrap_or(0);
    let mut shares = vec![0.0; last + 1];
    shares[0] = 1.0;
    let mut top = 0;
    for step in steps {
        let step = usize::try_from(step.abs()).unwrap_or(0);
        top = (top + step).min(last);
        for sum in (step..=top).rev() {
            shares[sum] = 0.5 * (shares[sum] + shares[sum - step]);
        }
        for share in &mut shares[..step.min(top + 1)] {
            *share *= 0.5;
        }
    }
    let below: f64 = shares.iter().sum();
    (2.0 * below).min(1.0)
}

/// A score for each block; with the arms of a block exchanged it has the other sign, and nothing else
/// depends on which is which.
fn scores(a: &[f64], b: &[f64], shift: f64) -> Vec<f64> {
    let b: Vec<f64> = b.iter().map(|value| value - shift).collect();
    let plain: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
    if plain.len() < CLEANED_N_MIN {
        return plain;
    }
    let off: Vec<[f64; 2]> = (0..a.len())
        .map(|block| {
            let around = block.saturating_sub(NEIGHBOURS)..(block + NEIGHBOURS + 1).min(a.len());
            let usual = median(a[around.clone()].iter().chain(&b[around]).copied());
            [a[block] - usual, b[block] - usual]
        })
        .collect();
    let deviation = deviation(&plain, &off);
    if deviation <= 0.0 {
        return plain;
    }
    let cleaned: Vec<f64> = off
        .into_iter()
        .map(|[a, b]| {
            let shared = match a * b > 0.0 {
                true if a.abs() < b.abs() => a,
                true => b,
                false => 0.0,
            };
            let is_shared = shared.abs() > SHARED_DEVIATIONS * deviation;
            let shared = if is_shared { shared } else { 0.0 };
            let full = FULL_DEVIATIONS * deviation;
            counting(b - shared, full) - counting(a - shared, full)
        })
        .collect();
    let silent = cleaned.iter().filter(|score| score.abs() <= 0.0).count();
    // Too many would leave nothing to be sure with.
    if silent * SILENT_ONE_IN > cleaned.len() {
        plain
    } else {
        cleaned
    }
}

/// Standard deviation of a trial, from what is unusual about the values and from their differences,
/// whichever is less; but not less than the differences vary among themselves.
fn deviation(differences: &[f64], off: &[[f64; 2]]) -> f64 {
    let sizes = || differences.iter().map(|difference| difference.abs());
    let size = median(sizes());
    let spread = median(sizes().map(|one| (one - size).abs()));
    let per_trial = std::f64::consts::FRAC_1_SQRT_2;
    let from_differences = per_trial * size / MEDIAN_ABSOLUTE;
    let from_values = median(off.iter().flatten().map(|off| off.abs())) / MEDIAN_ABSOLUTE;
    // Where the arms differ the sizes spread up to 1.7 times as far as they should.
    let least = 0.6 * per_trial * spread / MEDIAN_SPREAD_ABSOLUTE;
    from_differences.min(from_values).max(least)
}

/// How much of a value counts.
fn counting(value: f64, full: f64) -> f64 {
    let size = value.abs();
    if size <= full {
        value
    } else {
        value * ((2.0 * full - size) / full).max(0.0)
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    super::statistics::middle(&sorted).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of sign patterns, one by one.
    fn one_by_one(steps: &[i64]) -> f64 {
        let found = steps.iter().sum::<i64>().abs();
        let patterns = 1_u32 << steps.len();
        let far = (0..patterns).filter(|pattern| {
            let signed = steps.iter().enumerate();
            let sum: i64 = signed
                .map(|(place, step)| {
                    if pattern >> place & 1 == 1 {
                        *step
                    } else {
                        -step
                    }
                })
                .sum();
            sum.abs() >= found
        });
        far.count() as f64 / f64::from(patterns)
    }

    proptest::proptest! {
        #[test]
        fn counting_agrees_with_trying_all(steps in proptest::collection::vec(-31_i64..=31, 1..11)) {
            let found = steps.iter().sum::<i64>().abs();
            let scores: Vec<f64> = steps.iter().map(|step| *step as f64).collect();
            let known = one_by_one(&steps);
            proptest::prop_assert!((counted(&steps, found) - known).abs() < 1e-12);
            proptest::prop_assert!((tried(&scores) - known).abs() < 1e-12);
        }

        /// Which value of a block is whose changes the sign of its score, and nothing else.
        #[test]
        fn scores_know_no_arms(
            values in proptest::collection::vec((-0.3_f64..0.3, -0.3_f64..0.3), 2..25),
            exchanged in proptest::collection::vec(proptest::bool::ANY, 25),
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = values.iter().copied().unzip();
            let other = values.iter().zip(&exchanged).map(|((a, b), other)| match other {
                true => (*b, *a),
                false => (*a, *b),
            });
            let (other_a, other_b): (Vec<f64>, Vec<f64>) = other.unzip();
            let (ours, theirs) = (scores(&a, &b, 0.0), scores(&other_a, &other_b, 0.0));
            for ((ours, theirs), other) in ours.iter().zip(theirs).zip(exchanged) {
                let theirs = if other { -theirs } else { theirs };
                proptest::prop_assert!((ours - theirs).abs() < 1e-12);
            }
        }
    }
}
