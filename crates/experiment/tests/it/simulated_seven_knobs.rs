//! Simulated machines with seven knobs of two levels, whose best of 128 settings is known.

use experiment::{
    Candidate, Ended, Hooks, SearchPlan, Testbed, TrialLength, TuneOutcome, TunePlan, search,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use record::{
    Decision, Direction, Failure, HostName, KnobId, Level, Nanoseconds, Outcome, Record, Setting,
    Target, Value, Workload,
};

use crate::simulated_noise::{Noise, measured, share};

/// Knobs of a machine.
pub const KNOBS: usize = 7;

/// What the settings of a machine give.
#[derive(Clone, Debug, Default)]
pub struct Landscape {
    /// Logarithm of the factor of each knob.
    alone: [f64; KNOBS],
    /// And of two or three together.
    together: Vec<(u32, f64)>,
}

impl Landscape {
    /// A machine where two knobs of five do something alone, up to a third either way, and three to
    /// five pairs or triples do something only together; the rest does at most 0.3 %.
    pub fn random(random: &mut ChaCha8Rng) -> Self {
        let mut landscape = Self::default();
        for alone in &mut landscape.alone {
            *alone = if random.random::<f64>() < 0.4 {
                random.random_range(-0.3..0.3)
            } else {
                random.random_range(-0.003..0.003)
            };
        }
        for _ in 0..random.random_range(3..=5) {
            let mut mask = 0_u32;
            let size = if random.random::<f64>() < 0.2 { 3 } else { 2 };
            while mask.count_ones() < size {
                mask |= 1 << random.random_range(0..KNOBS);
            }
            landscape
                .together
                .push((mask, random.random_range(-0.3..0.3)));
        }
        landscape
    }

    /// A machine where just these knobs do something together, as logarithms.
    pub fn of<const COUNT: usize>(together: [(u32, f64); COUNT]) -> Self {
        Self {
            together: together.to_vec(),
            ..Self::default()
        }
    }

    fn log(&self, setting: u32) -> f64 {
        let alone = self.alone.iter().enumerate();
        let alone = alone.filter(|(knob, _)| setting >> knob & 1 == 1);
        let together = self.together.iter();
        let together = together.filter(|(mask, _)| setting & mask == *mask);
        alone.map(|(_, log)| log).sum::<f64>() + together.map(|(_, log)| log).sum::<f64>()
    }

    /// What a setting gives as a share of the best.
    pub fn of_best(&self, setting: u32) -> f64 {
        let all = (0..1 << KNOBS).map(|setting| self.log(setting));
        let best = all.fold(f64::NEG_INFINITY, f64::max);
        (self.log(setting) - best).exp()
    }
}

/// A machine with such a landscape, and noise.
pub struct Machine {
    landscape: Landscape,
    setting: u32,
    noise: Vec<f64>,
    /// Trials that were run.
    pub trials: usize,
    /// How long each of them takes.
    pub seconds: u64,
}

impl Machine {
    /// One that is at its start.
    pub fn new(
        landscape: Landscape,
        noise: Noise,
        deviation: f64,
        random: &mut ChaCha8Rng,
    ) -> Self {
        // A machine drifts by the hour, and not by what one search takes of it.
        let noise = noise.series(400, deviation, random);
        Self {
            landscape,
            setting: 0,
            noise,
            trials: 0,
            seconds: 1,
        }
    }
}

/// A knob of the machine as it is set.
pub fn knob(place: usize, on: bool) -> Setting {
    Setting::Knob {
        host: HostName::new("server"),
        target: Target::Host,
        id: KnobId::new(format!("tcp.{place}")),
        value: Value::Switch(on),
    }
}

fn bits(level: &Level) -> impl Iterator<Item = (usize, bool)> + '_ {
    level.settings.iter().filter_map(|setting| match setting {
        Setting::Knob { id, value, .. } => {
            let place = id.as_str().strip_prefix("tcp.")?.parse().ok()?;
            Some((place, *value == Value::Switch(true)))
        }
        Setting::Workload { .. } => None,
    })
}

impl Testbed for Machine {
    fn read(&mut self, level: &Level) -> Result<Vec<Setting>, Failure> {
        let read = bits(level).map(|(place, _)| knob(place, self.setting >> place & 1 == 1));
        Ok(read.collect())
    }

    fn set(&mut self, level: &Level) -> Result<(), Failure> {
        for (place, on) in bits(level) {
            self.setting = self.setting & !(1 << place) | u32::from(on) << place;
        }
        Ok(())
    }

    fn workload(&self, _: &Level, direction: Direction, _: TrialLength) -> Workload {
        share(direction, 1, Nanoseconds::new(1_000_000_000))
    }

    fn trial(&mut self, _: &Workload) -> Outcome {
        let noise = self.noise[self.trials % self.noise.len()];
        self.trials += 1;
        let second = Nanoseconds::new(1_000_000_000);
        let rate = 100e6 * (self.landscape.log(self.setting) + noise).exp();
        measured(second, rate as u64)
    }

    fn keep(&mut self, _: &Level) -> Result<(), Failure> {
        Ok(())
    }

    fn restore(&mut self, _: &Level) -> Result<(), Failure> {
        self.setting = 0;
        Ok(())
    }

    fn now(&self) -> Nanoseconds {
        Nanoseconds::new(self.trials as u64 * self.seconds * 1_000_000_000)
    }
}

/// What a search came to.
pub struct Found {
    /// What is left as a share of the best there is.
    pub of_best: f64,
    /// Trials it took.
    pub trials: usize,
    /// Candidates that were kept.
    pub kept: usize,
    /// What was recorded.
    pub records: Vec<Record>,
    /// How it ended.
    pub outcome: TuneOutcome,
}

/// The plan of a search over all knobs.
pub fn plan(seed: u64) -> SearchPlan {
    let candidates = (0..KNOBS).map(|place| Candidate {
        id: format!("knob-{place}"),
        level: Level {
            name: format!("knob {place}"),
            settings: vec![knob(place, true)],
        },
    });
    SearchPlan {
        tune: TunePlan {
            responses: vec![Direction::Read],
            ..TunePlan::new(candidates.collect(), seed)
        },
        elsewhere: Vec::new(),
        trials_max: 192,
        budget: None,
    }
}

/// Searches a machine; `flat` is one whose knobs do nothing.
pub fn find(seed: u64, flat: bool, noise: Noise, deviation: f64) -> Found {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let landscape = match flat {
        true => Landscape::default(),
        false => Landscape::random(&mut random),
    };
    let mut machine = Machine::new(landscape.clone(), noise, deviation, &mut random);
    let mut records = Vec::new();
    let mut hooks = Hooks {
        sink: &mut records,
        stop: &|| false,
        progress: &mut |_| {},
    };
    let outcome = search(&mut machine, &plan(seed), &mut hooks).expect("it can be put back");
    assert_eq!(outcome.ended, Ended::Finished);
    let decisions = outcome.decisions.iter();
    let kept = decisions.filter(|decided| decided.decision == Decision::Kept);
    Found {
        of_best: landscape.of_best(machine.setting),
        trials: machine.trials,
        kept: kept.count(),
        records,
        outcome,
    }
}
