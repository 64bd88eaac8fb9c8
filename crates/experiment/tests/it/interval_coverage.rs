//! The short version of `make coverage`.

use crate::simulated_factorials::{self, Machine, alarms, cube, full};
use crate::simulated_noise::{self, Noise, Tally, split_plot};

/// Eight shapes of 100 experiments tell a share to a percent.
const RUNS: u32 = 100;

#[test]
fn tune_holds_its_intervals_and_finds_small_effects_whatever_the_noise() {
    holds(simulated_noise::compare);
}

#[test]
fn experiments_hold_their_intervals_and_find_small_effects_whatever_the_noise() {
    holds(simulated_factorials::compare);
}

fn holds(compare: fn(Noise, f64, usize, f64, u32) -> Tally) {
    let (mut covered, mut called, mut better) = (0.0, 0.0, Vec::new());
    for noise in Noise::ALL {
        let same = compare(noise, 0.02, 10, 0.0, RUNS);
        covered += same.covered / Noise::ALL.len() as f64;
        called += same.called / Noise::ALL.len() as f64;
        assert!(same.called <= 0.10, "{noise:?}: {same:?}");
        if !noise.hides_three_percent() {
            better.push(compare(noise, 0.02, 10, 0.03, RUNS).better);
        }
    }
    let better = better.iter().sum::<f64>() / better.len() as f64;
    assert!((0.93..=0.975).contains(&covered), "{covered}");
    assert!(called <= 0.06, "{called}");
    assert!(better >= 0.80, "{better}");
}

/// Of three effects in six or ten blocks, whatever the noise, and whatever the factors do together. Were
/// whole blocks compared and not their pairs, ten would find 3 % in 72 of 100.
#[test]
fn factorials_call_no_difference_that_there_is_not_and_find_small_ones() {
    for (blocks, of_plot, together) in [
        (6, 0.0, 0.0),
        (10, 0.0, 0.0),
        (10, 0.0, 0.3),
        (10, 0.03, 0.0),
    ] {
        let (mut called, mut better) = (0.0, 0.0);
        for noise in [Noise::Normal, Noise::Outliers, Noise::Everything] {
            let machine = Machine {
                noise,
                deviation: 0.02,
                of_plot,
                gains: [0.03, 0.0],
                together,
            };
            let tally = full(&machine, blocks, RUNS);
            called += tally.called / 3.0;
            better += tally.better / 3.0;
            assert!(tally.covered >= 0.90, "{noise:?}: {tally:?}");
        }
        assert!(called <= 0.06, "{blocks} blocks: {called}");
        assert!(blocks < 10 || of_plot > 0.0 || better >= 0.85, "{better}");
    }
}

/// What is taken out of pairs at four combinations of the others leaves their intervals wide enough.
#[test]
fn three_factors_hold_their_intervals_in_six_blocks() {
    let (mut covered, mut called) = (0.0, 0.0);
    for noise in [Noise::Normal, Noise::Outliers, Noise::Everything] {
        let machine = Machine {
            noise,
            deviation: 0.02,
            of_plot: 0.0,
            gains: [0.03, 0.0],
            together: 0.0,
        };
        let tally = cube(&machine, 6, RUNS);
        covered += tally.covered / 3.0;
        called += tally.called / 3.0;
    }
    assert!((0.90..=0.985).contains(&covered), "{covered}");
    assert!(called <= 0.08, "{called}");
}

/// Judged at 95 % each, every fourth of these would be thrown away.
#[test]
fn a_healthy_sweep_of_many_responses_is_believed() {
    let share = alarms(0.06, 42, 6, RUNS);
    assert!(share <= 0.09, "{share}");
}

/// What differs from plot to plot anyway is no effect of what is switched from plot to plot. Held
/// against the noise within plots, every third of these would be called one.
#[test]
fn what_is_switched_between_plots_is_held_against_how_plots_differ() {
    for tally in split_plot(6, 300) {
        assert!((0.91..=0.985).contains(&tally.covered), "{tally:?}");
        assert!(tally.called <= 0.07, "{tally:?}");
    }
}
