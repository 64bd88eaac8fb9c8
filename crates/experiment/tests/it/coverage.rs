//! The short version of `make coverage`.

use crate::noise::{Noise, compare, split_plot};

/// Eight shapes of 100 experiments tell a share to a percent.
const RUNS: u32 = 100;

#[test]
fn intervals_hold_and_small_effects_are_found_whatever_the_noise() {
    let (mut covered, mut called, mut better) = (0.0, 0.0, 0.0);
    for noise in Noise::ALL {
        let same = compare(noise, 0.02, 10, 0.0, RUNS);
        covered += same.covered / Noise::ALL.len() as f64;
        called += same.called / Noise::ALL.len() as f64;
        assert!(same.called <= 0.10, "{noise:?}: {same:?}");
        let more = compare(noise, 0.02, 10, 0.03, RUNS);
        better += more.better / Noise::ALL.len() as f64;
    }
    assert!((0.93..=0.975).contains(&covered), "{covered}");
    assert!(called <= 0.06, "{called}");
    assert!(better >= 0.80, "{better}");
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
