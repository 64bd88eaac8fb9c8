//! Comparisons in two stages, simulated: what is found, what is invented, and how long it takes.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stats::two_stage_with_futility::{Fallback, Interim, TwoStage};
use stats::{PairedRatios, Verdict, verdict};

use crate::standard_normal_draw;

const PLAN: TwoStage = TwoStage {
    blocks: 6,
    error: 0.05,
};

struct Tally {
    found: f64,
    blocks: f64,
}

fn simulate(effect: f64, noise: f64, plan: TwoStage, count: u32) -> Tally {
    let mut random = ChaCha8Rng::seed_from_u64(20_261_124);
    let (mut found, mut blocks) = (0, 0);
    for _ in 0..count {
        let mut sample = |n: usize| {
            PairedRatios::new((0..n).map(|block| {
                let shared = 0.1 * standard_normal_draw(&mut random);
                let [a, b] = [0, 0].map(|_| shared + noise * standard_normal_draw(&mut random));
                (
                    u32::try_from(block).expect("few"),
                    a.exp(),
                    b.exp() * (1.0 + effect),
                )
            }))
        };
        let first = sample(plan.blocks);
        let interim = plan.interim(&first);
        blocks += plan.blocks + plan.fresh_blocks(interim);
        if interim == Interim::Hopeless {
            continue;
        }
        let fresh = sample(plan.fresh_blocks(interim));
        let confidence = 1.0 - plan.last_error();
        let ratio = first.then(&fresh).ratio(0.0, confidence).expect("blocks");
        let is_better = verdict(&ratio, 0.02, confidence) == Verdict::Better;
        found += u32::from(is_better && plan.is_confirmed(&first, &fresh));
    }
    Tally {
        found: f64::from(found) / f64::from(count),
        blocks: blocks as f64 / f64::from(count),
    }
}

#[test]
fn small_gains_are_found_in_twelve_blocks_and_none_is_invented() {
    let three = simulate(0.03, 0.02, PLAN, 2_000);
    assert!(three.found >= 0.80, "{}", three.found);
    let five = simulate(0.05, 0.02, PLAN, 2_000);
    assert!(five.found >= 0.95, "{}", five.found);
    let none = simulate(0.0, 0.02, PLAN, 2_000);
    assert!(none.found <= 0.03, "{}", none.found);
    assert!(none.blocks < 8.5, "{}", none.blocks);
    // What is large takes nine blocks.
    let large = simulate(0.25, 0.02, PLAN, 500);
    assert!(
        large.found >= 0.99 && large.blocks <= 9.5,
        "{}",
        large.blocks
    );
}

/// Half of it is luck of the first stage.
#[test]
fn what_fresh_blocks_contradict_is_not_confirmed() {
    let sample = |logs: &[f64]| {
        PairedRatios::new((0..).zip(logs).map(|(block, log)| (block, 1.0, log.exp())))
    };
    let first = sample(&[0.100, 0.101, 0.099, 0.102, 0.098, 0.100]);
    assert_eq!(PLAN.interim(&first), Interim::Clear);
    assert!(!PLAN.is_confirmed(&first, &sample(&[0.001, -0.0005, 0.0008])));
    assert!(!PLAN.is_confirmed(&first, &sample(&[-0.001, -0.002, -0.001])));
    // Clearly less, and still a gain.
    assert!(PLAN.is_confirmed(&first, &sample(&[0.080, 0.081, 0.079])));
    assert!(!PLAN.is_confirmed(&first, &sample(&[0.1])));
    assert_eq!(PLAN.interim(&sample(&[0.1])), Interim::Hopeless);
    let none = sample(&[0.001, -0.002, 0.001, 0.0, -0.001, 0.0005]);
    assert_eq!(PLAN.interim(&none), Interim::Hopeless);
}

#[test]
fn what_is_proven_passes_its_error_on() {
    let mut errors = Fallback::new(0.05, 4);
    assert!((errors.next() - 0.0125).abs() < 1e-12);
    errors.spent(true);
    assert!((errors.next() - 0.025).abs() < 1e-12);
    errors.spent(false);
    assert!((errors.next() - 0.0125).abs() < 1e-12);
}
