//! `xtask coverage`: how often the intervals hold the truth, how often the same against itself is
//! called different, and how often 3 % under 2 % of noise is found in ten blocks, as `tune` and as
//! `experiment run` decide it; the same of factorials, of what is switched from plot to plot only, and of
//! the gate of the baseline against itself. Fails where it should not be trusted.
//!
//! # What ten blocks can find
//! Ten differences of two trials each, with 2 % of noise in a trial, have a standard error of
//! 0.02 (2 / 10)^0.5 = 0.89 %; the logarithm of 1.03 is 3.3 times that, and Student's test with 9 degrees
//! of freedom finds it in 83 of 100 experiments. Counting all exchanges of arms finds as many, but calls the same
//! different in 6.6 of 100 where noise has a period. Counting the orders that could have been drawn finds 79.
//! Where one trial of twenty loses 10 to 40 % to somebody else, 0.807 is what a test could reach that knows
//! which trials these were and what the others would have been without noise (20 000 simulated experiments,
//! exact over all exchanges of arms). No test knows that; 0.75 is found.

#[path = "../../stats/tests/it/p_values_and_intervals.rs"]
mod consistency;
#[path = "../../experiment/tests/it/simulated_factorials.rs"]
mod factorial;

use std::thread;

use clap::Args;
use factorial::Machine;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::lab_and_program::wants;
use crate::simulated_noise::{self, Noise, Tally, split_plot};

const RUNS: u32 = 2_000;
/// What can be asked for alone.
const PART_NAMES: [&str; 6] = [
    "comparisons",
    "family",
    "consistency",
    "factorials",
    "gates",
    "plots",
];

/// What is simulated.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Parts of it; all without any
    #[arg(value_name = "PART", value_parser = PART_NAMES)]
    only: Vec<String>,
}

/// Whether all of it can be trusted.
pub fn run(Arguments { only }: &Arguments) -> bool {
    let mut well = true;
    println!("{RUNS} simulated experiments each, 2 % of noise, intervals of 95 %");
    for (name, compare) in [
        ("tune", simulated_noise::compare as Compare),
        ("experiment run", factorial::compare),
    ] {
        if wants(only, "comparisons") {
            println!("two arms, as `{name}` decides");
            well &= comparisons(compare);
        }
    }
    for (name, part) in [
        ("family", family as fn() -> bool),
        ("consistency", contradictions),
        ("factorials", factorials),
        ("gates", gates),
        ("plots", split_plots),
    ] {
        well &= !wants(only, name) || part();
    }
    well
}

/// The noises that the promise is about.
const FAMILY: [Noise; 6] = [
    Noise::Normal,
    Noise::HeavyTails,
    Noise::Bimodal,
    Noise::Drift,
    Noise::Period,
    Noise::Stalls,
];
/// Numbers of blocks of the family of noises.
const FAMILY_BLOCKS: [usize; 10] = [5, 6, 7, 8, 10, 12, 15, 20, 25, 30];

/// Each noise of the family, from 5 to 30 blocks: intervals hold in 93 to 97 of 100, and
/// at most 5 of 100 call a difference where there is none, but for the error of so many simulations. 5 blocks say that
/// they reach 90 %, and give no verdict. Not reached: 7 blocks of a drift, which are held too often (0.980).
fn family() -> bool {
    println!("the family of noises, as `tune` decides");
    heading("noise");
    // Two standard errors of a share of 5 %: 1.0 % of 2000 experiments, and 0.7 % of 4000, with and without an effect.
    let error = |runs: u32| 2.0 * (0.05 * 0.95 / f64::from(runs)).sqrt();
    let cells = FAMILY.map(|noise| FAMILY_BLOCKS.map(|blocks| (noise, blocks)));
    simulated(
        cells.into_iter().flatten(),
        simulated_noise::compare,
        |(_, blocks), tally| {
            let least = if blocks == 5 { 0.90 } else { 0.93 };
            let held = least - error(2 * RUNS)..=0.97 + error(2 * RUNS);
            held.contains(&tally.covered) && tally.called <= 0.05 + error(RUNS)
        },
    )
}

/// Cases of the check that probabilities and intervals say the same, and in how many parts.
const CASES: u64 = 100_000;
const PARTS: u64 = 2;

fn contradictions() -> bool {
    let wrong: Vec<String> = thread::scope(|scope| {
        let parts: Vec<_> = (0..PARTS)
            .map(|part| scope.spawn(move || contradictions_of(part)))
            .collect();
        let ended = parts.into_iter();
        ended
            .flat_map(|part| part.join().expect("a simulation"))
            .collect()
    });
    println!(
        "p and interval contradict each other in {} of {CASES} cases",
        wrong.len()
    );
    for case in wrong.iter().take(10) {
        println!("  {case}");
    }
    wrong.is_empty()
}

/// Of 3 to 30 blocks, whose orders are drawn in halves.
fn contradictions_of(part: u64) -> Vec<String> {
    let mut random = ChaCha8Rng::seed_from_u64(20_261_130 + part);
    let cases = (part..CASES).step_by(PARTS as usize);
    let wrong = cases.filter_map(|case| {
        let n = 3 + (case / PARTS % 28) as usize;
        let noise = Noise::ALL[random.random_range(0..Noise::ALL.len())];
        let blocks = consistency::in_halves(&noise.series(2 * n, 0.02, &mut random), &mut random);
        let wrong = consistency::check(&blocks).err()?;
        Some(format!("case {case}, {noise:?}, {n} blocks: {wrong}"))
    });
    wrong.collect()
}

/// Noise, its deviation, blocks, effect and runs.
type Compare = fn(Noise, f64, usize, f64, u32) -> Tally;

fn heading(first: &str) {
    println!(
        "{first:<16}{:>7}{:>14}{:>14}{:>13}",
        "blocks", "intervals hold", "false alarms", "3 % is found"
    );
}

fn row(name: &str, blocks: usize, tally: Tally, good: bool) {
    println!(
        "{name:<16}{blocks:>7}{:>14.3}{:>14.3}{:>13.3}{}",
        tally.covered,
        tally.called,
        tally.better,
        if good { "" } else { "  missed" }
    );
}

fn comparisons(compare: Compare) -> bool {
    heading("noise");
    let cells = [8, 10, 20].map(|blocks| Noise::ALL.map(|noise| (noise, blocks)));
    simulated(
        cells.into_iter().flatten(),
        compare,
        |(noise, blocks), tally| {
            // Two standard errors of so many experiments are a hundredth.
            (0.93..=0.97).contains(&tally.covered)
                && tally.called <= 0.06
                && (blocks != 10 || tally.better >= least_power(noise))
        },
    )
}

/// Two arms without a difference and with one of 3 %, of these noises and numbers of blocks; whether each is good, and
/// false alarms over all of them are at most 5 of 100.
fn simulated(
    cells: impl Iterator<Item = (Noise, usize)>,
    compare: Compare,
    is_good: impl Fn((Noise, usize), &Tally) -> bool,
) -> bool {
    let mut well = true;
    let mut alarms = Vec::new();
    for (noise, blocks) in cells {
        let [same, more] = thread::scope(|scope| {
            let runs = [0.0, 0.03]
                .map(|effect| scope.spawn(move || compare(noise, 0.02, blocks, effect, RUNS)));
            runs.map(|run| run.join().expect("a simulation"))
        });
        let tally = Tally {
            covered: 0.5 * (same.covered + more.covered),
            called: same.called,
            better: more.better,
        };
        alarms.push(tally.called);
        let good = is_good((noise, blocks), &tally);
        well &= good;
        row(&format!("{noise:?}"), blocks, tally, good);
    }
    let all = alarms.iter().sum::<f64>() / alarms.len() as f64;
    println!("false alarms over all of these: {all:.3}");
    well && all <= 0.05
}

/// Machine, blocks and runs.
type Factorial = fn(&Machine, usize, u32) -> Tally;

/// Factors of two levels, the first 3 % better: Holm's correction is over three effects, or over six of
/// three factors, and any other that is called is a false alarm.
fn factorials() -> bool {
    let mut well = true;
    for (run, of_plot, together, name) in [
        (
            factorial::full as Factorial,
            0.0,
            0.0,
            "two factors, each with each",
        ),
        (
            factorial::full,
            0.0,
            0.3,
            "the same, and both together are 30 % better",
        ),
        (
            factorial::full,
            0.03,
            0.0,
            "the first switched from plot to plot, with 3 % of noise of its own",
        ),
        (factorial::cube, 0.0, 0.0, "three factors, each with each"),
    ] {
        println!("{name}");
        heading("noise");
        for blocks in [6, 8, 10] {
            for noise in Noise::ALL {
                let runs = RUNS / 2;
                let machine = |gain: f64| Machine {
                    noise,
                    deviation: 0.02,
                    of_plot,
                    gains: [gain, 0.0],
                    together,
                };
                let same = run(&machine(0.0), blocks, runs);
                let more = run(&machine(0.03), blocks, runs);
                let tally = Tally {
                    covered: 0.5 * (same.covered + more.covered),
                    called: same.called.max(more.called),
                    better: more.better,
                };
                // Six blocks of plots have, and say, 96.9 %; false alarms are the more of two shares.
                let good = (0.92..=0.99).contains(&tally.covered) && tally.called <= 0.07;
                well &= good;
                row(&format!("{noise:?}"), blocks, tally, good);
            }
        }
    }
    well
}

/// How often a machine that is well is not believed.
fn gates() -> bool {
    let mut well = true;
    println!("the baseline against itself: 6 % of noise, held back by mistake");
    for (responses, blocks) in [(1, 6), (2, 6), (42, 6), (42, 11)] {
        let share = factorial::alarms(0.06, responses, blocks, RUNS / 4);
        // Two standard errors of so many experiments are two hundredths.
        let good = share <= 0.07;
        well &= good;
        let missed = if good { "" } else { "  missed" };
        println!("{responses:>3} responses{blocks:>9}{share:>14.3}{missed}");
    }
    well
}

fn split_plots() -> bool {
    let mut well = true;
    println!("two factors by least squares, 3 % of noise from plot to plot and 2 % within");
    for blocks in [6, 10] {
        for (name, tally) in ["between plots", "within plots"]
            .into_iter()
            .zip(split_plot(blocks, RUNS))
        {
            let good = (0.94..=0.96).contains(&tally.covered) && tally.called <= 0.05;
            well &= good;
            println!(
                "{name:<16}{blocks:>7}{:>14.3}{:>14.3}{}",
                tally.covered,
                tally.called,
                if good { "" } else { "  missed" }
            );
        }
    }
    well
}

/// What ten blocks must find, less two standard errors.
fn least_power(noise: Noise) -> f64 {
    match noise {
        noise if noise.hides_three_percent() => 0.0,
        Noise::Outliers => 0.73,
        _ => 0.78,
    }
}
