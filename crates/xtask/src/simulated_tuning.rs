//! `xtask tuning`: searches of `tune` over simulated machines with seven knobs, whose best of 128
//! settings is known, and over machines whose knobs do nothing.

#[path = "../../experiment/tests/it/simulated_seven_knobs.rs"]
#[expect(dead_code, reason = "tests look at more of a search")]
mod simulated_seven_knobs;

use simulated_seven_knobs::find;

use crate::simulated_noise::Noise;

const RUNS: u64 = 100;

pub fn run() {
    println!("{RUNS} searches each, seven knobs, 128 settings");
    println!(
        "{:<16}{:>6}{:>13}{:>13}{:>9}{:>8}{:>18}",
        "noise", "of", "within 2 %", "worst tenth", "trials", "most", "flat: changes"
    );
    for noise in Noise::ALL {
        for deviation in [0.01, 0.02] {
            let mut found: Vec<(f64, usize)> = (0..RUNS)
                .map(|seed| {
                    let found = find(seed, false, noise, deviation);
                    (found.of_best, found.trials)
                })
                .collect();
            found.sort_by(|one, two| one.0.total_cmp(&two.0));
            let well = found.iter().filter(|(of_best, _)| *of_best >= 0.98).count();
            let trials: usize = found.iter().map(|(_, trials)| trials).sum();
            let most = found.iter().map(|(_, trials)| *trials).max().unwrap_or(0);
            let flat = (0..RUNS).filter(|seed| find(*seed, true, noise, deviation).kept > 0);
            let share = |count: usize| 100.0 * count as f64 / RUNS as f64;
            println!(
                "{:<16}{:>5.0}%{:>12.1}%{:>13.3}{:>9.0}{most:>8}{:>17.1}%",
                format!("{noise:?}"),
                100.0 * deviation,
                share(well),
                found[found.len() / 10].0,
                trials as f64 / RUNS as f64,
                share(flat.count()),
            );
        }
    }
}
