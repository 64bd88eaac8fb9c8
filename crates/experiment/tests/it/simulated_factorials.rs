//! Experiments over factors on a simulated machine, and what the analysis of a design makes of them.

use experiment::{Combination, combine, order};
use fit::DesignResult;
use locale::Language;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use record::{
    Design, Direction, Factor, Level, Nanoseconds, Response, Stage, StopRule, TrialRecord,
};
use stats::Verdict;

use crate::simulated_noise::{Noise, Tally, measured, normal, share};

const SECOND: Nanoseconds = Nanoseconds::new(1_000_000_000);

/// What is simulated.
#[derive(Clone, Copy)]
pub struct Machine {
    /// How trials differ from each other.
    pub noise: Noise,
    /// Their standard deviation.
    pub deviation: f64,
    /// What trials between two switches of the first factor have in common on top of that.
    pub of_plot: f64,
    /// How much better each factor's second level is.
    pub gains: [f64; 2],
    /// How much better both second levels are than each for itself makes them.
    pub together: f64,
}

/// Runs `runs` comparisons of two arms, as `experiment run` decides them: the same as
/// [`crate::simulated_noise::compare`] tells of `tune`.
pub fn compare(noise: Noise, deviation: f64, blocks: usize, effect: f64, runs: u32) -> Tally {
    let machine = Machine {
        noise,
        deviation,
        of_plot: 0.0,
        gains: [effect, 0.0],
        together: 0.0,
    };
    tally(&machine, &["channels"], blocks, runs)
}

/// Runs `runs` full factorials of two factors of two levels. `covered` and `better` are about the first
/// one; `called` counts experiments in which any effect was called that there is not.
pub fn full(machine: &Machine, blocks: usize, runs: u32) -> Tally {
    tally(machine, &["mtu", "buffer"], blocks, runs)
}

/// The same of three factors: six effects.
pub fn cube(machine: &Machine, blocks: usize, runs: u32) -> Tally {
    tally(machine, &["mtu", "buffer", "gro"], blocks, runs)
}

fn tally(machine: &Machine, factors: &[&str], blocks: usize, runs: u32) -> Tally {
    let mut random = ChaCha8Rng::seed_from_u64(20_261_122);
    let mut tally = Tally::default();
    let share = 1.0 / f64::from(runs);
    for run in 0..runs {
        let design = design(factors, 1, false, machine, (blocks, u64::from(run)));
        let found = fit::design(&design, &trials(&design, machine, &mut random));
        let mut pairs = found.pairs.iter();
        let first = pairs
            .find(|pair| pair.factor == factors[0] && pair.others.is_empty())
            .expect("a pair");
        let [low, high] = first.ratio.interval.expect("enough blocks");
        // Half of the trials have the other factor's second level.
        let truth = (1.0 + machine.gains[0]) * (1.0 + machine.together).sqrt();
        let is_covered = (low..=high).contains(&truth);
        tally.covered += share * f64::from(u8::from(is_covered));
        let is_better = first.verdict == Some(Verdict::Better);
        tally.better += share * f64::from(u8::from(is_better));
        let is_wrong = has_wrong(&found, factors, machine);
        tally.called += share * f64::from(u8::from(is_wrong));
    }
    tally
}

/// Whether a difference is called that there is not.
fn has_wrong(found: &DesignResult, factors: &[&str], machine: &Machine) -> bool {
    // What they do together makes each of them better on average, too.
    let gain = |name: &str| {
        let place = factors.iter().position(|factor| *factor == name);
        machine.together
            + place.map_or(0.0, |place| {
                machine.gains.get(place).copied().unwrap_or(0.0)
            })
    };
    let mut effects = found.rates.iter().flat_map(|table| &table.effects);
    effects.any(|effect| match effect.verdict {
        Verdict::Better => gain(&effect.factor) <= 0.0,
        Verdict::Worse => gain(&effect.factor) >= 0.0,
        Verdict::Equivalent | Verdict::Undecided => false,
    })
}

/// The share of experiments on a machine that is well of which something is held back because the
/// baseline differed from itself.
pub fn alarms(deviation: f64, responses: usize, blocks: usize, runs: u32) -> f64 {
    let machine = Machine {
        noise: Noise::Normal,
        deviation,
        of_plot: 0.0,
        gains: [0.0; 2],
        together: 0.0,
    };
    let mut random = ChaCha8Rng::seed_from_u64(20_261_123);
    let alarmed = (0..runs).filter(|run| {
        let design = design(
            &["channels"],
            responses,
            true,
            &machine,
            (blocks, u64::from(*run)),
        );
        let found = fit::design(&design, &trials(&design, &machine, &mut random));
        found.noise.iter().any(|noise| noise.alarm)
    });
    alarmed.count() as f64 / f64::from(runs)
}

fn design(
    factors: &[&str],
    responses: usize,
    again: bool,
    machine: &Machine,
    (blocks, seed): (usize, u64),
) -> Design {
    let level = |name: &str| Level {
        name: name.into(),
        settings: Vec::new(),
    };
    let named: Vec<(&str, usize)> = factors.iter().map(|name| (*name, 2)).collect();
    let combined = combine(&named, Combination::Full).expect("it can be combined");
    let mut arms = combined.arms;
    let second = again.then_some(arms.len());
    if again {
        arms.push(arms[0].clone());
    }
    let whole_plots = match machine.of_plot > 0.0 {
        true => vec![0],
        false => Vec::new(),
    };
    let response = |place: usize| Response {
        name: format!("test {place}"),
        workload: share(Direction::Read, 1, SECOND),
    };
    Design {
        name: "design".into(),
        title: "simulated".into(),
        form: Language::English.say(&combined.form),
        factors: factors
            .iter()
            .map(|name| Factor {
                name: (*name).into(),
                levels: vec![level("off"), level("on")],
            })
            .collect(),
        aliases: Vec::new(),
        left_out: Vec::new(),
        messages: Vec::new(),
        responses: (0..responses).map(response).collect(),
        blocks: order(&arms, &whole_plots, blocks, seed),
        baseline_replicate: second.and_then(|arm| u32::try_from(arm).ok()),
        arms,
        whole_plots,
        stop: StopRule {
            budget_seconds: None,
            width: None,
        },
        band: 0.02,
        published: None,
        figures: Vec::new(),
    }
}

/// The trials of a design, one after another.
fn trials(design: &Design, machine: &Machine, random: &mut ChaCha8Rng) -> Vec<TrialRecord> {
    let visits: usize = design.blocks.iter().map(Vec::len).sum();
    let count = visits * design.responses.len();
    let mut noise = machine
        .noise
        .series(count, machine.deviation, random)
        .into_iter();
    let mut trials = Vec::new();
    for (block, row) in (0..).zip(&design.blocks) {
        let mut plot = (None, 0.0);
        for (position, arm) in (0..).zip(row) {
            let levels = &design.arms[*arm as usize];
            if plot.0 != Some(levels[0]) {
                plot = (Some(levels[0]), machine.of_plot * normal(random));
            }
            let gains = levels.iter().zip(machine.gains);
            let alone: f64 = gains
                .filter(|(level, _)| **level > 0)
                .map(|(_, gain)| gain.ln_1p())
                .sum();
            let gain = match levels.iter().all(|level| *level > 0) {
                true if levels.len() > 1 => alone + machine.together.ln_1p(),
                _ => alone,
            };
            for response in &design.responses {
                let log = noise.next().expect("one for each trial") + plot.1 + gain;
                trials.push(TrialRecord {
                    id: 0,
                    stage: Stage::Visit {
                        block,
                        position,
                        arm: *arm,
                        response: response.name.clone(),
                        discarded: false,
                    },
                    workload: response.workload.clone(),
                    settings: Vec::new(),
                    started: Nanoseconds::new(0),
                    ended: SECOND,
                    outcome: measured(SECOND, (100e6 * log.exp()) as u64),
                    loads: Vec::new(),
                });
            }
        }
    }
    trials
}
