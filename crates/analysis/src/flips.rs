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
//! disturbance that hit both trials of a block cancels between them. Where it is known which trial of
//! a block came first, each is held against those around it on its own side of a sudden step, and
//! what the machine loses steadily from trial to trial is taken out.

use std::ops::Range;

/// Fewer blocks than this cannot tell a trial that stands apart.
const CLEANED_N_MIN: usize = 8;
/// Blocks before and after, whose values say what is usual at a time.
const NEIGHBOURS: usize = 2;
/// Standard deviations from the usual up to which a value counts fully; at twice that it does not count.
const FULL_DEVIATIONS: f64 = 3.0;
/// The same where the order of time is known, and what is usual is known better for it.
const FULL_DEVIATIONS_IN_ORDER: f64 = 2.2;
/// Standard deviations by which both values of a block must be off to be its own disturbance.
const SHARED_DEVIATIONS: f64 = 2.0;
/// Trials on each side of a step, at least.
const STEP_TRIALS: usize = 4;
/// Standard deviations between the medians of both sides of a step, at least.
const STEP_DEVIATIONS: f64 = 4.0;
/// The most steps that are looked for.
const STEPS_MAX: usize = 3;
/// Fewest trials between steps in which a steady loss can be told from noise.
const STEADY_TRIALS: usize = 14;
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

/// Logarithms that differ by less are the same but for rounding: no rate is known to nine digits.
const ROUNDING: f64 = 1e-9;

/// What was measured in blocks, in the order of time.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'v> {
    /// One value of each block.
    pub(crate) a: &'v [f64],
    /// The other one.
    pub(crate) b: &'v [f64],
    /// Whether `a` came first, of each block where that is known of all.
    pub(crate) a_first: Option<&'v [bool]>,
}

/// The shifts of `b` over `a` that are believed at this confidence, and the confidence their
/// interval has; `centre` is one of them.
pub(crate) fn interval(blocks: Blocks<'_>, centre: f64, confidence: f64) -> ([f64; 2], f64) {
    let [low, high] = extremes(blocks);
    let range = high - low;
    let step = first_step(blocks, centre);
    let mut missed = 0.0_f64;
    let ends = [(low, -1.0), (high, 1.0)].map(|(last, way)| {
        let outside = last + way * range.max(ROUNDING);
        let beyond = exceeding(blocks, outside);
        if range < ROUNDING || beyond > 1.0 - confidence {
            missed = missed.max(beyond);
            return last;
        }
        let (end, beyond) = end(blocks, [centre, outside], step, 1.0 - confidence);
        missed = missed.max(beyond);
        end
    });
    ([ends[0].min(centre), ends[1].max(centre)], 1.0 - missed)
}

/// The least probability of the blocks on the way from `centre` to `shift`, which is then refused as
/// surely as any before it; and whether there all blocks that count speak against it, so that so many
/// blocks cannot say more.
pub(crate) fn probability(blocks: Blocks<'_>, centre: f64, shift: f64) -> (f64, bool) {
    let at = |shift: f64| {
        let scores = scores(blocks, shift);
        (one_sided(&scores), is_one_way(&scores))
    };
    let way = (shift - centre).signum();
    let mut least = at(shift);
    let mut step = first_step(blocks, centre);
    let mut tried = centre + way * step;
    while step > 0.0 && (tried - centre).abs() < (shift - centre).abs() {
        let found = at(tried);
        if found.0 < least.0 {
            least = found;
        }
        step *= STEP_GROWTH;
        tried += way * step;
    }
    least
}

/// The least and the greatest difference of a block.
fn extremes(blocks: Blocks<'_>) -> [f64; 2] {
    let differences = || blocks.a.iter().zip(blocks.b).map(|(a, b)| b - a);
    [
        differences().fold(f64::INFINITY, f64::min),
        differences().fold(f64::NEG_INFINITY, f64::max),
    ]
}

/// A share of what the interval will be wide; where most blocks agree, of what the others say.
fn first_step(blocks: Blocks<'_>, centre: f64) -> f64 {
    let [low, high] = extremes(blocks);
    let differences = blocks.a.iter().zip(blocks.b).map(|(a, b)| b - a);
    let usual = median(differences.map(|difference| (difference - centre).abs()));
    (usual / (blocks.a.len() as f64).sqrt() / 2.0).max((high - low) / 64.0_f64.powi(2))
}

/// Whether the scores that are any all have the same sign.
fn is_one_way(scores: &[f64]) -> bool {
    scores.iter().all(|score| *score >= 0.0) != scores.iter().all(|score| *score <= 0.0)
}

/// The last believed shift on the way from the centre to one that is not, and the probability just
/// beyond it. Shifts that are further out and could be believed again, because with them a value that
/// stands apart no longer does, are not those that the other blocks speak of.
fn end(blocks: Blocks<'_>, [centre, outside]: [f64; 2], mut step: f64, error: f64) -> (f64, f64) {
    let (mut believed, mut refused) = (centre, outside);
    let mut at_refused = exceeding(blocks, outside);
    let way = (outside - centre).signum();
    while (believed - centre).abs() + step < (outside - centre).abs() {
        let shift = believed + way * step;
        let probability = exceeding(blocks, shift);
        if probability <= error {
            (refused, at_refused) = (shift, probability);
            break;
        }
        believed = shift;
        step *= STEP_GROWTH;
    }
    for _ in 0..HALVINGS {
        let shift = 0.5 * (refused + believed);
        let probability = exceeding(blocks, shift);
        if probability > error {
            believed = shift;
        } else {
            (refused, at_refused) = (shift, probability);
        }
    }
    (believed, at_refused)
}

/// The probability of a sum of scores as one-sided as that of the differences without this shift.
fn exceeding(blocks: Blocks<'_>, shift: f64) -> f64 {
    one_sided(&scores(blocks, shift))
}

/// The share of all ways to give these scores a sign whose sum is as far from 0 as theirs.
fn one_sided(scores: &[f64]) -> f64 {
    if scores.len() <= TRIED_N_MAX {
        return tried(scores);
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

/// The same, by trying each.
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
fn scores(blocks: Blocks<'_>, shift: f64) -> Vec<f64> {
    let mut series = Vec::with_capacity(2 * blocks.a.len());
    // Half of it off each, so that rounding favours neither.
    let half = 0.5 * shift;
    for (block, (a, b)) in blocks.a.iter().zip(blocks.b).enumerate() {
        let [a, b] = [a + half, b - half];
        let a_first = blocks.a_first.is_none_or(|known| known[block]);
        series.extend(if a_first { [a, b] } else { [b, a] });
    }
    let mut scores = second_over_first(&mut series, blocks.a_first.is_some());
    for (score, a_first) in scores.iter_mut().zip(blocks.a_first.unwrap_or_default()) {
        if !a_first {
            *score = -*score;
        }
    }
    scores
}

/// By how much the second value of each block exceeds the first one, without what only one of them met.
fn second_over_first(series: &mut [f64], in_order: bool) -> Vec<f64> {
    let plain: Vec<f64> = pairs(series).map(|[one, two]| two - one).collect();
    if plain.len() < CLEANED_N_MIN {
        return plain;
    }
    let whole = 0..series.len();
    let off = |series: &[f64]| -> Vec<f64> {
        let places = 0..series.len();
        places
            .map(|place| series[place] - usual(series, place & !1..place | 1, &whole))
            .collect()
    };
    let deviation = deviation(&plain, &off(series));
    if deviation <= 0.0 {
        return plain;
    }
    let off = match in_order {
        true => {
            let parts = steps(series, deviation);
            steady(series, &parts);
            let part = |place: usize| parts.iter().find(|part| part.contains(&place));
            let places = 0..series.len();
            let off = places.map(|place| {
                let part = part(place).unwrap_or(&whole);
                let (first, second) = (place & !1, place | 1);
                let block = match part.contains(&first) && part.contains(&second) {
                    true => first..second,
                    false => place..place,
                };
                series[place] - usual(series, block, part)
            });
            off.collect()
        }
        false => off(series),
    };
    let full = deviation
        * if in_order {
            FULL_DEVIATIONS_IN_ORDER
        } else {
            FULL_DEVIATIONS
        };
    let cleaned: Vec<f64> = pairs(&off)
        .map(|[one, two]| {
            let shared = match one * two > 0.0 {
                true if one.abs() < two.abs() => one,
                true => two,
                false => 0.0,
            };
            let is_shared = shared.abs() > SHARED_DEVIATIONS * deviation;
            let shared = if is_shared { shared } else { 0.0 };
            counting(two - shared, full) - counting(one - shared, full)
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

/// First and second value of each block.
fn pairs(series: &[f64]) -> impl Iterator<Item = [f64; 2]> {
    series.chunks_exact(2).map(|pair| [pair[0], pair[1]])
}

/// What is usual around these trials, the last one included, within a part of the series.
fn usual(series: &[f64], around: Range<usize>, part: &Range<usize>) -> f64 {
    let first = around.start.saturating_sub(2 * NEIGHBOURS).max(part.start);
    let end = (around.end + 2 * NEIGHBOURS + 1).min(part.end);
    median(series[first..end].iter().copied())
}

/// The parts of a series between sudden steps, found one after the other, the clearest first.
fn steps(series: &[f64], deviation: f64) -> Vec<Range<usize>> {
    let mut ends = vec![0, series.len()];
    for _ in 0..STEPS_MAX {
        let places = ends.windows(2).flat_map(|part| {
            let last = (part[1] + 1).saturating_sub(STEP_TRIALS);
            part[0] + STEP_TRIALS..last
        });
        let clearest = places
            .filter_map(|place| Some((gain(series, place, deviation)?, place)))
            .max_by(|one, other| one.0.total_cmp(&other.0));
        let Some((_, place)) = clearest else {
            break;
        };
        ends.push(place);
        ends.sort_unstable();
    }
    ends.windows(2).map(|part| part[0]..part[1]).collect()
}

/// By how much less the trials around a place deviate if there is a step; `None` where it would be none.
fn gain(series: &[f64], place: usize, deviation: f64) -> Option<f64> {
    let [before, after] = [place - STEP_TRIALS..place, place..place + STEP_TRIALS];
    let around = before.start..after.end;
    let level = |part: &Range<usize>| median(series[part.clone()].iter().copied());
    let deviations = |part: &Range<usize>| -> f64 {
        let level = level(part);
        let values = series[part.clone()].iter();
        values.map(|value| (value - level).abs()).sum()
    };
    let is_step = (level(&after) - level(&before)).abs() >= STEP_DEVIATIONS * deviation;
    let gain = deviations(&around) - deviations(&before) - deviations(&after);
    (is_step && gain > 0.0).then_some(gain)
}

/// Takes out what is lost or gained steadily in each part that is long enough to tell.
fn steady(series: &mut [f64], parts: &[Range<usize>]) {
    for part in parts.iter().filter(|part| part.len() >= STEADY_TRIALS) {
        let values = &mut series[part.clone()];
        let half = values.len() / 2;
        let rises = values[half..].iter().zip(values.iter());
        let slope = median(rises.map(|(late, early)| (late - early) / half as f64));
        for (place, value) in values.iter_mut().enumerate() {
            *value -= slope * place as f64;
        }
    }
}

/// Standard deviation of a trial, from what is unusual about the values and from their differences,
/// whichever is less; but not less than the differences vary among themselves.
fn deviation(differences: &[f64], off: &[f64]) -> f64 {
    let sizes = || differences.iter().map(|difference| difference.abs());
    let size = median(sizes());
    let spread = median(sizes().map(|one| (one - size).abs()));
    let per_trial = std::f64::consts::FRAC_1_SQRT_2;
    let from_differences = per_trial * size / MEDIAN_ABSOLUTE;
    let from_values = median(off.iter().map(|off| off.abs())) / MEDIAN_ABSOLUTE;
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
            let a_first: Vec<bool> = exchanged.iter().rev().copied().take(a.len()).collect();
            let other_first = a_first.iter().zip(&exchanged).map(|(first, other)| first != other);
            let other_first: Vec<bool> = other_first.collect();
            for (first, theirs_first) in [(None, None), (Some(&a_first), Some(&other_first))] {
                let ours = Blocks { a: &a, b: &b, a_first: first.map(Vec::as_slice) };
                let first = theirs_first.map(Vec::as_slice);
                let theirs = Blocks { a: &other_a, b: &other_b, a_first: first };
                let (ours, theirs) = (scores(ours, 0.0), scores(theirs, 0.0));
                for ((ours, theirs), other) in ours.iter().zip(theirs).zip(&exchanged) {
                    let theirs = if *other { -theirs } else { theirs };
                    proptest::prop_assert!((ours - theirs).abs() < 1e-12);
                }
            }
        }
    }
}
