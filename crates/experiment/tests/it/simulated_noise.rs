//! How the rates of one machine vary, and what the analysis of a phase makes of it.

use std::time::Duration;

use analysis::phase;
use experiment::{Candidate, Durations, TunePlan};
use fit::table::{Request, Table};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use record::{
    Arm, Bytes, Demands, Direction, Level, Nanoseconds, Outcome, Phase, Sample, Schedule, Setting,
    ShareAddress, ShareWorkload, Stage, Timing, TrialRecord, TrialResult, Value, Workload,
};
use stats::Verdict;

/// How trials of one experiment differ from each other, on top of what is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Each trial for itself, normal.
    Normal,
    /// Each for itself, with the tails of Student's distribution of 3 degrees of freedom.
    HeavyTails,
    /// Normal, and one trial of twenty loses 10 to 40 %: somebody else was on the link.
    Outliers,
    /// Normal, and the machine gets 15 % slower from the first trial to the last.
    Drift,
    /// Normal, and the machine wanders: a random walk with a tenth of the noise squared at each step.
    Wandering,
    /// Normal, and the machine loses 20 % at a random moment and stays there.
    Step,
    /// Each trial remembers the one before (autoregressive, coefficient 0.6).
    Autocorrelated,
    /// Outliers on a machine that drifts and remembers.
    Everything,
    /// Normal, and each trial is in one of two modes, the slow one 20 % slower, for the whole of it.
    Bimodal,
    /// Normal, and a disturbance of 5 % with a period of five trials.
    Period,
    /// Normal, and one trial of forty stalls: it has a tenth of its rate.
    Stalls,
}

impl Noise {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Normal,
        Self::HeavyTails,
        Self::Outliers,
        Self::Drift,
        Self::Wandering,
        Self::Step,
        Self::Autocorrelated,
        Self::Everything,
        Self::Bimodal,
        Self::Period,
        Self::Stalls,
    ];

    /// Whether its trials differ by more than ten blocks can look through for 3 %: the modes are 20 % apart,
    /// the period is of 5 % either way.
    pub const fn hides_three_percent(self) -> bool {
        matches!(self, Self::Bimodal | Self::Period)
    }

    /// Logarithms of the factors on `count` trials, one after another; `deviation` is the standard
    /// deviation of a trial without drift and outliers.
    pub fn series(self, count: usize, deviation: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
        let mut values: Vec<f64> = match self {
            Self::HeavyTails => (0..count).map(|_| student_3(random)).collect(),
            Self::Autocorrelated | Self::Everything => autoregressive(count, 0.6, random),
            _ => (0..count).map(|_| normal(random)).collect(),
        };
        for value in &mut values {
            *value *= deviation;
        }
        let share = |place: usize| place as f64 / count.max(2) as f64;
        if matches!(self, Self::Drift | Self::Everything) {
            for (place, value) in values.iter_mut().enumerate() {
                *value -= 0.15 * share(place);
            }
        }
        if self == Self::Wandering {
            let mut place = 0.0;
            for value in &mut values {
                place += deviation * 0.1_f64.sqrt() * normal(random);
                *value += place;
            }
        }
        if self == Self::Step {
            let at = random.random_range(0..count.max(1));
            for value in &mut values[at..] {
                *value -= 0.2;
            }
        }
        if self == Self::Bimodal {
            for value in &mut values {
                *value -= if random.random::<bool>() { 0.2 } else { 0.0 };
            }
        }
        if self == Self::Period {
            let phase = random.random::<f64>();
            for (place, value) in values.iter_mut().enumerate() {
                *value += 0.05 * (std::f64::consts::TAU * (place as f64 / 5.0 + phase)).sin();
            }
        }
        if self == Self::Stalls {
            for value in &mut values {
                *value -= if random.random::<f64>() < 0.025 {
                    10.0_f64.ln()
                } else {
                    0.0
                };
            }
        }
        if matches!(self, Self::Outliers | Self::Everything) {
            for value in &mut values {
                if random.random::<f64>() < 0.05 {
                    *value += (1.0 - random.random_range(0.1..0.4_f64)).ln();
                }
            }
        }
        values
    }
}

/// A standard normal number (Box and Muller).
pub fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// Student's distribution of 3 degrees of freedom, scaled to a standard deviation of 1.
fn student_3(random: &mut ChaCha8Rng) -> f64 {
    let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
    normal(random) / (squares / 3.0).sqrt() / 3.0_f64.sqrt()
}

/// Normal numbers of standard deviation 1, each correlated with the one before.
fn autoregressive(count: usize, coefficient: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut last = normal(random);
    let fresh = (1.0 - coefficient * coefficient).sqrt();
    let mut next = || {
        last = coefficient * last + fresh * normal(random);
        last
    };
    (0..count).map(|_| next()).collect()
}

/// What many experiments concluded, as shares of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// The interval holds the truth.
    pub covered: f64,
    /// B was called better.
    pub better: f64,
    /// A difference was called, either way.
    pub called: f64,
}

/// Runs `runs` comparisons of `blocks` blocks in which B is `effect` better, in the order that
/// schedules have and through the analysis that decides.
pub fn compare(noise: Noise, deviation: f64, blocks: usize, effect: f64, runs: u32) -> Tally {
    // With an effect from other draws than without, so that both together tell more than one.
    let seed = if effect > 0.0 { 20_261_126 } else { 20_261_121 };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut covered, mut better, mut called) = (0, 0, 0);
    for run in 0..runs {
        let schedule = schedule(blocks, seed + u64::from(run));
        let visits: Vec<(u32, u32, Arm)> = (0..)
            .zip(&schedule.blocks)
            .flat_map(|(block, row)| {
                (0..)
                    .zip(row)
                    .map(move |(position, arm)| (block, position, *arm))
            })
            .collect();
        let factors = noise.series(visits.len(), deviation, &mut random);
        let trials: Vec<TrialRecord> = visits
            .into_iter()
            .zip(factors)
            .map(|(place, log)| {
                let gain = if place.2 == Arm::B { 1.0 + effect } else { 1.0 };
                trial(&schedule, place, 100e6 * log.exp() * gain)
            })
            .collect();
        let result = phase(&schedule, &trials, &[], &[]);
        let effect_found = &result.effects[0];
        let [low, high] = effect_found.ratio.interval.expect("enough blocks");
        covered += u32::from((low..=high).contains(&(1.0 + effect)));
        better += u32::from(effect_found.verdict == Verdict::Better);
        called += u32::from(matches!(
            effect_found.verdict,
            Verdict::Better | Verdict::Worse
        ));
    }
    let share = |hits: u32| f64::from(hits) / f64::from(runs);
    Tally {
        covered: share(covered),
        better: share(better),
        called: share(called),
    }
}

/// Runs `runs` experiments with a factor that is switched from plot to plot and one that is switched
/// within plots, neither of which does anything: trials of one plot have 3 % of noise in common, and
/// 2 % of their own. Says of each factor how its intervals and verdicts did.
pub fn split_plot(blocks: usize, runs: u32) -> [Tally; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(20_261_122);
    let mut tallies = [Tally::default(); 2];
    let share = 1.0 / f64::from(runs);
    for _ in 0..runs {
        let mut table = String::from("mtu,streams,block,rate mb_s\n");
        for block in 0..blocks {
            let of_block = 0.05 * normal(&mut random);
            for mtu in ["1500", "9000"] {
                let of_plot = 0.03 * normal(&mut random);
                for streams in ["1", "2", "4"] {
                    let log = of_block + of_plot + 0.02 * normal(&mut random);
                    let rate = 100.0 * log.exp();
                    table += &format!("{mtu},{streams},{block},{rate}\n");
                }
            }
        }
        let table = Table::from_csv(&table).expect("a table");
        let mut request = Request::new(["rate mb_s"], ["mtu", "streams"]);
        request.blocks = Some("block".into());
        request.plots = Some("mtu".into());
        let results = fit::table::analyze(&table, &request).expect("an analysis");
        for (factor, tally) in ["mtu", "streams"].into_iter().zip(&mut tallies) {
            let mut effects = results[0].effects.iter();
            let effect = effects
                .find(|effect| effect.factor == factor)
                .expect("it is there");
            let ends = effect.low.zip(effect.high).expect("an interval");
            tally.covered += share * f64::from(u8::from(ends.0 <= 0.0 && ends.1 >= 0.0));
            let called = matches!(effect.verdict, Verdict::Better | Verdict::Worse);
            tally.called += share * f64::from(u8::from(called));
        }
    }
    tallies
}

/// The order of a comparison, as `tune` would make it.
fn schedule(blocks: usize, seed: u64) -> Schedule {
    let settings = vec![Setting::Workload {
        field: "channels".into(),
        value: Value::Integer(2),
    }];
    let name = "2 channels".to_owned();
    let candidate = Candidate {
        id: "channels-2".into(),
        level: Level { name, settings },
    };
    let plan = TunePlan {
        // Five blocks are what is left where one is lost: no plan asks for so few.
        blocks: blocks.max(experiment::BLOCKS_DEFAULT),
        responses: vec![Direction::Read],
        ..TunePlan::new(vec![candidate], seed)
    };
    let second = Duration::from_secs(1);
    let durations = Durations {
        trial: second,
        wash_out: second,
        switch: second,
    };
    let preview = plan.preview(&durations).expect("the plan makes sense");
    let mut phases = preview.phases.into_iter().map(|phase| phase.schedule);
    let mut comparison = phases
        .find(|schedule| schedule.phase == Phase::Compare)
        .expect("a comparison");
    comparison.blocks.truncate(blocks);
    comparison
}

fn trial(schedule: &Schedule, (block, position, arm): (u32, u32, Arm), rate: f64) -> TrialRecord {
    let second = Nanoseconds::new(1_000_000_000);
    TrialRecord {
        id: 0,
        stage: Stage::Experiment {
            experiment: schedule.experiment.clone(),
            phase: schedule.phase,
            block,
            position,
            arm,
            discarded: false,
        },
        workload: share(Direction::Read, 1, second),
        settings: Vec::new(),
        started: Nanoseconds::new(0),
        ended: second,
        outcome: measured(second, rate as u64),
        loads: Vec::new(),
    }
}

/// What a trial of a share does that lasts so long.
pub fn share(direction: Direction, channels: u32, measured: Nanoseconds) -> Workload {
    Workload::Share(ShareWorkload {
        share: ShareAddress {
            server: "server".into(),
            port: 445,
            share: "media".into(),
            path: String::new(),
        },
        direction,
        channels,
        block: Bytes::new(1 << 20),
        depth: 8,
        file_size: Bytes::new(1 << 26),
        demands: Demands::default(),
        operations: None,
        timing: Timing {
            warm_up: Nanoseconds::new(0),
            measured,
            interval: measured,
        },
        sessions: 1,
        connections: 1,
        file: record::FileUse::default(),
        socket: record::SocketOptions::default(),
    })
}

/// A trial that moved so much in so long and tells nothing else.
pub fn measured(duration: Nanoseconds, bytes: u64) -> Outcome {
    Outcome::Measured(Box::new(TrialResult {
        samples: vec![Sample {
            at: Nanoseconds::new(0),
            duration,
            bytes: Bytes::new(bytes),
            cpu: Nanoseconds::new(1),
            retransmits: None,
        }],
        ..TrialResult::default()
    }))
}
