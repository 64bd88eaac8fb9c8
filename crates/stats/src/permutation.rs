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
//!
//! Where half of the blocks were drawn to begin with `a`, not all exchanges were possible: noise with a
//! period of a few trials then has sums that are larger than those of all exchanges, and the same was called
//! different in 64 of 1000. So where these orders are enough for the confidence, they are counted alone; and so they
//! are where not even all exchanges are enough, as the confidence that is reached is then what the orders allow.

mod block_scores;

use crate::normal_and_student_t::standard_normal_above;
use crate::order_statistics::median_of_sorted;
use block_scores::scores;

/// Fewer blocks than this cannot tell a trial that stands apart.
const CLEANED_N_MIN: usize = 8;
/// Median of the absolute value of standard normal numbers.
const MEDIAN_ABSOLUTE: f64 = 0.6745;
/// Robust standard deviations from the centre at which a difference is of another mode.
const MODE_DEVIATIONS: f64 = 4.0;
/// More than one difference of so many that stand apart are a mode.
const MODE_ONE_IN: usize = 3;
/// Up to this n each exchange of arms is tried.
const TRIED_N_MAX: usize = 12;
/// Of more blocks than this the orders that could have been drawn are not counted alone: they differ little from all.
const ORDERED_N_MAX: usize = TRIED_N_MAX;
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
    /// Whether only orders with as many of these as there are could have been drawn, or with as many others.
    pub(crate) in_halves: bool,
}

impl Blocks<'_> {
    /// The same blocks; where their orders are too few for this confidence, and all exchanges are not, as if each order
    /// had been drawn alone.
    fn for_confidence(self, confidence: f64) -> Self {
        let is_enough = |ways: f64| 2.0 / ways <= 1.0 - confidence;
        let in_halves = match self.a_first {
            Some(a_first) if self.in_halves && a_first.len() <= ORDERED_N_MAX => {
                is_enough(orders(a_first)) || !is_enough(f64::exp2(a_first.len() as f64))
            }
            _ => false,
        };
        Self { in_halves, ..self }
    }
}

/// How many orders have as many blocks that begin with `a`, or as many that do not.
fn orders(a_first: &[bool]) -> f64 {
    let first = a_first.iter().filter(|first| **first).count();
    let chosen = 1..=first;
    let orders: f64 = chosen
        .map(|place| (a_first.len() - first + place) as f64 / place as f64)
        .product();
    if 2 * first == a_first.len() {
        orders
    } else {
        2.0 * orders
    }
}

/// The shifts of `b` over `a` that are believed at this confidence, and the confidence their
/// interval has; `centre` is one of them.
pub(crate) fn interval(blocks: Blocks<'_>, centre: f64, confidence: f64) -> ([f64; 2], f64) {
    let blocks = blocks.for_confidence(confidence);
    let [low, high] = extremes(blocks);
    let range = high - low;
    let mut missed = 0.0_f64;
    let ends = [(low, -1.0), (high, 1.0)].map(|(last, sign)| {
        let beyond = exceeding(blocks, outside(blocks, sign));
        if range < ROUNDING || beyond > 1.0 - confidence {
            missed = missed.max(beyond);
            return last;
        }
        let (end, beyond) = end(blocks, centre, sign, 1.0 - confidence);
        missed = missed.max(beyond);
        end
    });
    ([ends[0].min(centre), ends[1].max(centre)], 1.0 - missed)
}

/// The probability of the blocks at `shift`, so that it never rises outwards from `centre`. And
/// whether there all blocks that count speak against it, so that so many blocks cannot say more.
pub(crate) fn probability(
    blocks: Blocks<'_>,
    (centre, shift): (f64, f64),
    confidence: f64,
) -> (f64, bool) {
    let blocks = blocks.for_confidence(confidence);
    let sign = if shift < centre { -1.0 } else { 1.0 };
    // At their mean plain differences are as even as they can be, and the centre is what they speak for.
    let is_plain = blocks.a.len() < CLEANED_N_MIN;
    if is_plain && (mean(blocks) - shift) * sign > 0.0 || (shift - centre).abs() < ROUNDING {
        return (1.0, false);
    }
    let at = |shift: f64| {
        let scores = scores(blocks, shift);
        (one_sided(blocks, &scores), is_one_way(&scores))
    };
    if is_plain {
        return at(shift);
    }
    let is_inside = |tried: f64| (tried - shift) * sign <= 0.0;
    let tried = outwards(blocks, centre, sign);
    if has_modes(blocks, centre) {
        let mut tried: Vec<f64> = tried.collect();
        tried.push(outside(blocks, sign));
        let last = tried.iter().rposition(|tried| is_inside(*tried));
        let own = last.map_or((1.0, false), |last| at(tried[last]));
        let beyond = tried[last.map_or(0, |last| last + 1)..].iter();
        let beyond = beyond.map(|tried| at(*tried));
        return beyond.fold(own, |one, other| (one.0.max(other.0), one.1 && other.1));
    }
    let mut known: Vec<(f64, (f64, bool))> = Vec::new();
    for tried in tried {
        known.push((tried, at(tried)));
        let is_refused = known
            .last()
            .is_some_and(|(_, (p, _))| *p <= 1.0 - confidence);
        if is_refused && !is_inside(tried) {
            break;
        }
    }
    let [low, high] = extremes(blocks);
    let is_beyond_all = if sign < 0.0 {
        shift < low
    } else {
        shift > high
    };
    between(&known, (centre, shift), is_beyond_all, 1.0 - confidence)
}

/// The probability at `shift`, from those of the shifts tried outwards from `centre`, so that it never rises: their
/// logarithms are joined by lines, as what is counted between two of them may rise and fall. Up to where the blocks
/// speak for a shift most clearly, all are as probable as that; what was refused before stays refused.
fn between(
    known: &[(f64, (f64, bool))],
    (centre, shift): (f64, f64),
    is_beyond_all: bool,
    error: f64,
) -> (f64, bool) {
    let far = |tried: f64| (tried - centre).abs();
    let believed = known.iter().take_while(|(_, (p, _))| *p > error);
    let peak = believed
        .map(|(_, (p, _))| *p)
        .enumerate()
        .max_by(|one, other| one.1.total_cmp(&other.1));
    let (most, after) = peak.map_or((1.0, 0), |(place, most)| (most, place + 1));
    let inside = known
        .iter()
        .take_while(|(tried, _)| far(*tried) <= far(shift))
        .count();
    if peak.is_some() && inside <= after {
        return (most, false);
    }
    let (from, before, is_one_way) = known[after..inside].iter().fold(
        (centre, most, false),
        |(_, least, one_way), (tried, (p, is_one_way))| {
            (*tried, least.min(*p), one_way || *is_one_way)
        },
    );
    let p = match known.get(inside) {
        Some((tried, (next, _))) if *next < before && *next > 0.0 => {
            let share = (far(shift) - far(from)) / (far(*tried) - far(from));
            before * (*next / before).powf(share)
        }
        _ => before,
    };
    (p, is_one_way || is_beyond_all)
}

/// Whether so many differences stand apart from the others that they are another mode of the noise, not
/// single disturbances.
pub(crate) fn has_modes(blocks: Blocks<'_>, centre: f64) -> bool {
    let differences = || {
        blocks
            .a
            .iter()
            .zip(blocks.b)
            .map(|(a, b)| (b - a - centre).abs())
    };
    let usual = median(differences()) / MEDIAN_ABSOLUTE;
    let apart = differences().filter(|one| *one > MODE_DEVIATIONS * usual.max(ROUNDING));
    blocks.a.len() >= CLEANED_N_MIN && apart.count() * MODE_ONE_IN > blocks.a.len()
}

fn mean(blocks: Blocks<'_>) -> f64 {
    let differences = blocks.a.iter().zip(blocks.b).map(|(a, b)| b - a);
    differences.sum::<f64>() / blocks.a.len().max(1) as f64
}

/// A shift that no block speaks for.
fn outside(blocks: Blocks<'_>, sign: f64) -> f64 {
    let [low, high] = extremes(blocks);
    let last = if sign < 0.0 { low } else { high };
    last + sign * (high - low).max(ROUNDING)
}

/// Shifts from the centre outwards, the further the wider apart.
fn outwards(blocks: Blocks<'_>, centre: f64, sign: f64) -> impl Iterator<Item = f64> {
    let end = (outside(blocks, sign) - centre).abs();
    let mut step = first_step(blocks, centre);
    let mut shift = centre;
    std::iter::from_fn(move || {
        let is_inside = step > 0.0 && (shift - centre).abs() + step < end;
        shift += sign * step;
        step *= STEP_GROWTH;
        is_inside.then_some(shift)
    })
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

/// The last believed shift, seen from the centre, and the probability just beyond it. A shift further
/// out could be believed again, because with it values that stand apart no longer do. Where these are
/// few, it is not what the other blocks speak of; where they are many, the noise has two modes, and
/// either could be the true one.
fn end(blocks: Blocks<'_>, centre: f64, sign: f64, error: f64) -> (f64, f64) {
    let outside = outside(blocks, sign);
    let mut believed = centre;
    let mut refused: Option<(f64, f64)> = None;
    let has_modes = has_modes(blocks, centre);
    for shift in outwards(blocks, centre, sign) {
        let probability = exceeding(blocks, shift);
        if probability > error {
            (believed, refused) = (shift, None);
        } else if refused.is_none() {
            refused = Some((shift, probability));
            if !has_modes {
                break;
            }
        }
    }
    let (mut refused, mut at_refused) =
        refused.unwrap_or_else(|| (outside, exceeding(blocks, outside)));
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
    one_sided(blocks, &scores(blocks, shift))
}

/// The share of all ways to give these scores a sign, that are possible, whose sum is as far from 0 as theirs.
fn one_sided(blocks: Blocks<'_>, scores: &[f64]) -> f64 {
    if scores.len() <= TRIED_N_MAX {
        let a_first = blocks.a_first.filter(|_| blocks.in_halves);
        return tried(scores, a_first);
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
        return 2.0 * standard_normal_above(found as f64 / squares.sqrt());
    }
    counted(&steps, found)
}

/// The same, by trying each; with orders, those that could have been drawn.
fn tried(scores: &[f64], a_first: Option<&[bool]>) -> f64 {
    let whole: f64 = scores.iter().map(|score| score.abs()).sum();
    // Sums of the same scores in another order differ by rounding.
    let found = scores.iter().sum::<f64>().abs() - 1e-12 * whole;
    // Half of the ways; the others are these turned round. From each to the next one sign changes.
    let ways = 1_u32 << (scores.len() - 1);
    let mut signed: Vec<f64> = scores.iter().map(|score| score.abs()).collect();
    // With its score the order of a block is turned round.
    let firsts = a_first.unwrap_or_default().iter().zip(scores);
    let mut firsts: Vec<bool> = firsts
        .map(|(a_first, score)| *a_first == (*score >= 0.0))
        .collect();
    let more = |count: usize| count.abs_diff(scores.len() - count);
    let drawn = a_first.map(|known| more(known.iter().filter(|first| **first).count()));
    let mut count = firsts.iter().filter(|first| **first).count();
    let mut sum = whole;
    let (mut far, mut possible) = (0, 0);
    for step in 1..=ways {
        if drawn.is_none_or(|drawn| drawn == more(count)) {
            possible += 1;
            far += u32::from(sum.abs() >= found);
        }
        if step < ways {
            let place = step.trailing_zeros() as usize;
            signed[place] = -signed[place];
            sum += 2.0 * signed[place];
            if let Some(first) = firsts.get_mut(place) {
                *first = !*first;
                count = if *first { count + 1 } else { count - 1 };
            }
        }
    }
    f64::from(far) / f64::from(possible.max(1))
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

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    median_of_sorted(&sorted).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_a_third_of_eight_blocks_or_more_that_stand_apart_are_a_mode() {
        let has_modes_of = |apart: usize, blocks: usize| {
            let differences = (0..blocks).map(|place| if place < apart { 1.0 } else { 0.01 });
            let (a, b): (Vec<f64>, Vec<f64>) = differences.map(|one| (0.0, one)).unzip();
            let blocks = Blocks {
                a: &a,
                b: &b,
                a_first: None,
                in_halves: false,
            };
            has_modes(blocks, 0.0)
        };
        assert!(has_modes_of(5, 12) && !has_modes_of(4, 12));
        assert!(has_modes_of(3, 8) && !has_modes_of(3, 7));
    }

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
            proptest::prop_assert!((tried(&scores, None) - known).abs() < 1e-12);
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
                let ours = Blocks { a: &a, b: &b, a_first: first.map(Vec::as_slice), in_halves: false };
                let first = theirs_first.map(Vec::as_slice);
                let theirs = Blocks { a: &other_a, b: &other_b, a_first: first, in_halves: false };
                let (ours, theirs) = (scores(ours, 0.0), scores(theirs, 0.0));
                for ((ours, theirs), other) in ours.iter().zip(theirs).zip(&exchanged) {
                    let theirs = if *other { -theirs } else { theirs };
                    proptest::prop_assert!((ours - theirs).abs() < 1e-12);
                }
            }
        }
    }
}
