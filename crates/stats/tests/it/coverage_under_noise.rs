//! One family of noises, many numbers of blocks: how often intervals hold and the same is called
//! different; and what p and interval say of each other.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stats::{PairedRatios, Verdict, verdict};

use crate::p_values_and_intervals::{check, in_halves};
use crate::standard_normal_draw;

/// How trials of one machine differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noise {
    Normal,
    /// Student's distribution of 3 degrees of freedom.
    HeavyTails,
    /// Two modes 20 % apart, each for a whole run.
    Bimodal,
    /// 15 % from the first trial to the last.
    Drift,
    /// 5 % up and down in five trials.
    Period,
    /// One trial of forty has a tenth of its rate.
    Stalls,
}

const ALL: [Noise; 6] = [
    Noise::Normal,
    Noise::HeavyTails,
    Noise::Bimodal,
    Noise::Drift,
    Noise::Period,
    Noise::Stalls,
];

/// Logarithms of trials, one after the other.
fn series(noise: Noise, count: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    let phase = random.random::<f64>();
    (0..count)
        .map(|place| {
            let normal = 0.02 * standard_normal_draw(random);
            match noise {
                Noise::Normal => normal,
                Noise::HeavyTails => {
                    let squares: f64 = (0..3).map(|_| standard_normal_draw(random).powi(2)).sum();
                    normal / squares.sqrt()
                }
                Noise::Bimodal => normal - if random.random::<bool>() { 0.2 } else { 0.0 },
                Noise::Drift => normal - 0.15 * place as f64 / count as f64,
                Noise::Period => {
                    normal + 0.05 * (std::f64::consts::TAU * (place as f64 / 5.0 + phase)).sin()
                }
                Noise::Stalls if random.random::<f64>() < 0.025 => normal - 10.0_f64.ln(),
                Noise::Stalls => normal,
            }
        })
        .collect()
}

fn blocks(noise: Noise, n: usize, random: &mut ChaCha8Rng) -> PairedRatios {
    in_halves(&series(noise, 2 * n, random), random)
}

/// Shares of intervals that hold the truth, and of verdicts where nothing differs.
fn tally(noise: Noise, n: usize, count: u32) -> (f64, f64) {
    let mut random = ChaCha8Rng::seed_from_u64(20_261_125);
    let (mut covered, mut called) = (0, 0);
    for _ in 0..count {
        let ratio = blocks(noise, n, &mut random)
            .ratio(0.0, 0.95)
            .expect("blocks");
        let [low, high] = ratio.interval.expect("an interval");
        covered += u32::from((low..=high).contains(&1.0));
        let verdict = verdict(&ratio, 0.0, 0.95);
        called += u32::from(matches!(verdict, Verdict::Better | Verdict::Worse));
    }
    let share = |hits: u32| f64::from(hits) / f64::from(count);
    (share(covered), share(called))
}

/// The short version of `make coverage`'s table over this family. 600 simulated experiments tell a share of
/// 5 % to 1.8 % (two standard errors). Five blocks reach 90 %, say so, and give no verdict.
#[test]
fn every_noise_of_the_family_is_covered() {
    let count = 600;
    let error = 2.0 * (0.05 * 0.95 / f64::from(count)).sqrt();
    for noise in ALL {
        for n in [5, 8, 12, 20, 30] {
            let (covered, called) = tally(noise, n, count);
            // As much as is claimed: two of the 20 orders of five blocks are as one-sided as can be.
            let least = if n == 5 { 0.90 } else { 0.93 };
            assert!(covered >= least - error, "{noise:?}, {n} blocks: {covered}");
            assert!(called <= 0.05 + error, "{noise:?}, {n} blocks: {called}");
        }
    }
}

/// What is refused at a probability is outside the interval, at the confidence of that interval; and a
/// ratio further from the estimate is never more probable. 100 000 cases of up to seven blocks, and 2000 of up
/// to 30, in which trials that stand apart count less; `make coverage` has 100 000 of these.
#[test]
fn p_and_interval_are_monotone_and_consistent() {
    let mut random = ChaCha8Rng::seed_from_u64(20_261_126);
    for case in 0..100_000 {
        consistent(case, 3 + case % 5, &mut random);
    }
    for case in 0..2_000 {
        consistent(case, 8 + case % 23, &mut random);
    }
}

fn consistent(case: usize, n: usize, random: &mut ChaCha8Rng) {
    let blocks = blocks(ALL[case / 5 % ALL.len()], n, random);
    if let Err(wrong) = check(&blocks) {
        panic!("case {case}, {n} blocks: {wrong}");
    }
}
