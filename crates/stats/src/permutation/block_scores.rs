//! Scores of blocks: how far apart the two values of each are, without what only one of them met, sudden
//! steps and a steady loss from trial to trial.

use std::ops::Range;

use super::{Blocks, CLEANED_N_MIN, MEDIAN_ABSOLUTE, median};

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
/// One block of so many may be left without any score.
const SILENT_ONE_IN: usize = 5;
/// Median distance of the absolute values of standard normal numbers from their median.
const MEDIAN_SPREAD_ABSOLUTE: f64 = 0.3987;

/// A score for each block; with the arms of a block exchanged it has the other sign, and nothing else
/// depends on which is which.
pub(super) fn scores(blocks: Blocks<'_>, shift: f64) -> Vec<f64> {
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
        true => off_in_order(series, deviation),
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

/// What is unusual about each value, in the order of time: held against those of its own part between
/// sudden steps, without what is lost steadily in that part, which is taken out of the series too.
fn off_in_order(series: &mut [f64], deviation: f64) -> Vec<f64> {
    let whole = 0..series.len();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_of_four_deviations_at_least() {
        const DEVIATION: f64 = 0.01;
        let parts = |step: f64| {
            let series: Vec<f64> = (0..16)
                .map(|place| if place < 8 { 0.0 } else { step })
                .collect();
            let parts = steps(&series, DEVIATION);
            parts.iter().map(|part| part.end).collect::<Vec<_>>()
        };
        for sign in [1.0, -1.0] {
            assert_eq!(parts(sign * 3.9 * DEVIATION), [16]);
            assert_eq!(parts(sign * 4.1 * DEVIATION), [8, 16]);
        }
    }
}
