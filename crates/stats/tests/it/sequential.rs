//! The group-sequential verdict of a probe, by hand and on simulated probes.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stats::PairedRatios;
use stats::sequential::{Judged, Loss, PROBE};

use crate::standard_normal_draw;

fn ratios(logs: &[f64]) -> PairedRatios {
    PairedRatios::new((0..).zip(logs).map(|(block, log)| (block, 1.0, log.exp())))
}

fn look(logs: &[f64]) -> Judged {
    PROBE.judge(&ratios(logs), 1.05).expect("blocks")
}

/// Mean 0.1, deviation 0.02 * (4/3)^0.5 = 0.023094; t of 3 degrees at 0.015 is 5.0473
/// (`scipy.stats.t.ppf(1 - 0.0075, 3)`), so that the half width is 0.058282.
#[test]
fn four_blocks_by_hand() {
    let found = look(&[0.12, 0.08, 0.12, 0.08]);
    assert_eq!(
        found.loss,
        Loss::CannotTell {
            more_blocks: Some(1)
        }
    );
    assert_eq!((found.ratio.n, found.next), (4, Some(6)));
    let [low, high] = found.ratio.interval.expect("an interval");
    assert!((low.ln() - (0.1 - 0.058_282)).abs() < 1e-5, "{low}");
    assert!((high.ln() - (0.1 + 0.058_282)).abs() < 1e-5, "{high}");
    assert_eq!(found.ratio.confidence, Some(0.95));
}

#[test]
fn blocks_wait_for_the_next_look() {
    assert_eq!(PROBE.judge(&ratios(&[]), 1.05), None);
    assert_eq!(PROBE.judge(&ratios(&[0.1; 6]), f64::NAN), None);
    assert_eq!(PROBE.judge(&ratios(&[0.1; 6]), 0.0), None);
    let three = look(&[0.2, 0.2, 0.2]);
    assert_eq!(
        three.loss,
        Loss::CannotTell {
            more_blocks: Some(1)
        }
    );
    assert_eq!((three.ratio.interval, three.next), (None, Some(4)));
    // The fifth block is not looked at: the level of a look there was not spent.
    let five = look(&[0.12, 0.08, 0.12, 0.08, 9.0]);
    assert_eq!(five, look(&[0.12, 0.08, 0.12, 0.08]));
}

#[test]
fn blocks_that_agree_by_chance_have_the_least_deviation() {
    // ln 1.05 = 0.04879; 5.0473 * 0.005 / 2 = 0.012618.
    assert_eq!(look(&[0.0615; 4]).loss, Loss::Loses);
    assert!(matches!(look(&[0.0613; 4]).loss, Loss::CannotTell { .. }));
    assert_eq!(look(&[0.0361; 4]).loss, Loss::DoesNotLose);
    assert!(matches!(look(&[0.0363; 4]).loss, Loss::CannotTell { .. }));
    // 2.8010 * 0.005 / 14^0.5 = 0.003743 (`scipy.stats.t.ppf(1 - 0.0075, 13)`).
    assert_eq!(look(&[0.0526; 14]).loss, Loss::Loses);
    let last = look(&[0.0525; 14]);
    assert!(matches!(last.loss, Loss::CannotTell { .. }));
    assert_eq!(last.next, None);
}

#[test]
fn a_hopeless_question_ends_at_the_second_look() {
    let wide = [0.30, -0.20, 0.25, -0.15, 0.28, -0.18];
    assert_eq!(look(&wide[..4]).next, Some(6));
    let found = look(&wide);
    let Loss::CannotTell { more_blocks } = found.loss else {
        panic!("{found:?}");
    };
    assert!(more_blocks.is_none_or(|more| more > 8), "{more_blocks:?}");
    assert_eq!(found.next, None);
}

/// What becomes of probes: shares of `Loses` and `DoesNotLose`, how often the last interval holds the
/// truth, and how many blocks they took.
struct Tally {
    loses: f64,
    does_not: f64,
    covered: f64,
    blocks: f64,
}

/// `count` probes with this gain; each trial varies by `noise`, and both trials of a block share a
/// disturbance of 10 %. One trial in `lost_one_in` loses up to 30 %.
fn simulate(gain: f64, noise: f64, lost_one_in: Option<u32>, count: u32) -> Tally {
    use rand::RngExt;
    let mut random = ChaCha8Rng::seed_from_u64(20_261_121);
    let (mut loses, mut does_not, mut covered, mut blocks) = (0, 0, 0, 0);
    for _ in 0..count {
        let mut pairs: Vec<(u32, f64, f64)> = Vec::new();
        let mut wanted = 4;
        let judged = loop {
            while pairs.len() < wanted {
                let shared = 0.1 * standard_normal_draw(&mut random);
                let mut trial = |effect: f64| {
                    let lost = match lost_one_in {
                        Some(one_in) if random.random_range(0..one_in) == 0 => {
                            (1.0 - 0.3 * random.random::<f64>()).ln()
                        }
                        _ => 0.0,
                    };
                    (shared + effect + lost + noise * standard_normal_draw(&mut random)).exp()
                };
                let (a, b) = (trial(0.0), trial(gain.ln()));
                pairs.push((u32::try_from(pairs.len()).expect("few"), a, b));
            }
            let judged = PROBE
                .judge(&PairedRatios::new(pairs.iter().copied()), 1.05)
                .expect("blocks");
            match judged.next {
                Some(next) => wanted = next,
                None => break judged,
            }
        };
        let [low, high] = judged.ratio.interval.expect("an interval");
        loses += u32::from(judged.loss == Loss::Loses);
        does_not += u32::from(judged.loss == Loss::DoesNotLose);
        covered += u32::from((low..=high).contains(&gain));
        blocks += u32::try_from(pairs.len()).expect("few");
    }
    let share = |hits: u32| f64::from(hits) / f64::from(count);
    Tally {
        loses: share(loses),
        does_not: share(does_not),
        covered: share(covered),
        blocks: share(blocks),
    }
}

#[test]
fn a_loss_of_ten_percent_is_found_and_none_is_invented() {
    for (noise, power) in [(0.02, 0.97), (0.03, 0.85)] {
        let found = simulate(1.10, noise, None, 400);
        assert!(found.loses >= power, "noise {noise}: {}", found.loses);
    }
    let large = simulate(1.25, 0.02, None, 400);
    assert!(
        large.loses >= 0.99 && large.blocks <= 5.0,
        "{}",
        large.blocks
    );
    for noise in [0.01, 0.02, 0.05] {
        let none = simulate(1.0, noise, None, 400);
        assert!(none.loses <= 0.005, "noise {noise}: {}", none.loses);
        let edge = simulate(1.05, noise, None, 400);
        assert!(edge.loses <= 0.05, "noise {noise}: {}", edge.loses);
        assert!(edge.does_not <= 0.05, "noise {noise}: {}", edge.does_not);
    }
}

/// The interval where the plan stopped: its confidence has paid for all looks.
#[test]
fn the_interval_holds_over_all_looks() {
    for gain in [1.0, 1.04, 1.07, 1.10] {
        for noise in [0.01, 0.03] {
            let found = simulate(gain, noise, None, 400);
            // 400 simulated probes tell it to two percent.
            assert!(found.covered >= 0.94, "{gain}, {noise}: {}", found.covered);
        }
    }
}

#[test]
fn trials_that_lose_a_third_now_and_then_invent_no_loss() {
    let none = simulate(1.0, 0.02, Some(12), 400);
    assert!(none.loses <= 0.01, "{}", none.loses);
    let found = simulate(1.10, 0.02, Some(12), 400);
    assert!(
        found.loses >= 0.7 && found.does_not <= 0.01,
        "{}",
        found.loses
    );
}
