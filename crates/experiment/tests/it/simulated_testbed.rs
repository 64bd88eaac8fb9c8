//! A testbed in memory: two hosts with two links, whose rates follow from their settings.

use std::cell::{Cell, RefCell};

use experiment::{Candidate, Hooks, Progress, Sink, Testbed, TrialLength, TunePlan};
use locale::{Language, Message};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use record::{
    Arm, Direction, Failure, FailureKind, HostName, KnobId, Level, Nanoseconds, Outcome, Phase,
    Record, Setting, Target, Value, Workload,
};

use crate::simulated_noise::{measured, share};

/// Length of a counted trial.
pub(crate) const TRIAL_SECONDS: u64 = 2;
/// Length of a trial that washes out.
pub(crate) const WASH_OUT_SECONDS: u64 = 1;

/// What the rest of the world knows and the testbed must not: arm and phase, for faults that depend on
/// them.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    pub(crate) arm: Cell<Option<Arm>>,
    pub(crate) phase: Cell<Option<Phase>>,
}

type Effect<'a> = Box<dyn Fn(&[Setting], Direction) -> f64 + 'a>;
type Fault<'a> = Box<dyn FnMut(&Call, &[Setting]) -> Option<Failure> + 'a>;

/// What the testbed was asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    Read,
    Set(Level),
    Trial(Workload),
    Keep(Level),
    Restore,
}

pub(crate) struct SimulatedTestbed<'a> {
    /// What holds.
    pub(crate) settings: Vec<Setting>,
    /// What held at first.
    pub(crate) start: Vec<Setting>,
    /// What was asked, in order.
    pub(crate) calls: Vec<Call>,
    /// Rate as a multiple of 100 MB/s, from settings and direction.
    pub(crate) effect: Effect<'a>,
    /// A call that fails.
    pub(crate) fault: Fault<'a>,
    /// Whether setting the MTU is taken and does nothing.
    pub(crate) ignores_mtu: bool,
    /// Whether the hosts put themselves back in the middle of each trial that counts.
    pub(crate) restores_itself: bool,
    /// Standard deviation of a trial.
    pub(crate) noise: f64,
    random: ChaCha8Rng,
    now: u64,
}

fn knob(host: &str, nic: &str, mtu: i64) -> Setting {
    Setting::Knob {
        host: HostName::new(host),
        target: Target::Nic(nic.into()),
        id: KnobId::new("nic.mtu"),
        value: Value::Integer(mtu),
    }
}

pub(crate) fn channels(count: i64) -> Setting {
    Setting::Workload {
        field: "channels".into(),
        value: Value::Integer(count),
    }
}

pub(crate) fn mtu(bytes: i64) -> Vec<Setting> {
    vec![knob("client", "a0", bytes), knob("server", "b0", bytes)]
}

fn candidate(id: &str, name: &str, settings: Vec<Setting>) -> Candidate {
    let name = name.into();
    Candidate {
        id: id.into(),
        level: Level { name, settings },
    }
}

pub(crate) fn two_channels() -> Candidate {
    candidate("channels-2", "2 channels", vec![channels(2)])
}

pub(crate) fn jumbo() -> Candidate {
    candidate("mtu-9000", "MTU 9000", mtu(9000))
}

pub(crate) fn plan() -> TunePlan {
    TunePlan::new(vec![two_channels(), jumbo()], 7)
}

pub(crate) fn english(message: &Message) -> String {
    Language::English.say(message)
}

pub(crate) fn failure(text: &str) -> Failure {
    Failure::new(FailureKind::Unreachable, text)
}

/// Two channels give twice the rate, MTU 9000 five percent more.
pub(crate) fn as_predicted(settings: &[Setting], _: Direction) -> f64 {
    let channels = if settings.contains(&channels(2)) {
        2.0
    } else {
        1.0
    };
    let jumbo = mtu(9000).iter().all(|setting| settings.contains(setting));
    channels * if jumbo { 1.05 } else { 1.0 }
}

impl<'a> SimulatedTestbed<'a> {
    /// A testbed at MTU 1500 and one channel with half a percent of noise and no faults.
    pub(crate) fn new(effect: impl Fn(&[Setting], Direction) -> f64 + 'a) -> Self {
        let mut settings = mtu(1500);
        settings.push(channels(1));
        Self {
            start: settings.clone(),
            settings,
            calls: Vec::new(),
            effect: Box::new(effect),
            fault: Box::new(|_, _| None),
            ignores_mtu: false,
            restores_itself: false,
            noise: 0.005,
            random: ChaCha8Rng::seed_from_u64(1),
            now: 0,
        }
    }

    pub(crate) fn count(&self, wanted: impl Fn(&Call) -> bool) -> usize {
        self.calls.iter().filter(|call| wanted(call)).count()
    }

    fn asked(&mut self, call: Call) -> Result<(), Failure> {
        let failure = (self.fault)(&call, &self.settings);
        self.calls.push(call);
        failure.map_or(Ok(()), Err)
    }

    fn passes(&mut self, seconds: u64) {
        self.now += seconds * 1_000_000_000;
    }
}

fn same_place(one: &Setting, two: &Setting) -> bool {
    match (one, two) {
        (
            Setting::Knob { host, target, .. },
            Setting::Knob {
                host: other_host,
                target: other_target,
                ..
            },
        ) => host == other_host && target == other_target,
        (Setting::Workload { .. }, Setting::Workload { .. }) => true,
        _ => false,
    }
}

impl Testbed for SimulatedTestbed<'_> {
    fn read(&mut self, level: &Level) -> Result<Vec<Setting>, Failure> {
        self.asked(Call::Read)?;
        let mut read = self.settings.clone();
        read.retain(|setting| {
            level
                .settings
                .iter()
                .any(|place| same_place(setting, place))
        });
        Ok(read)
    }

    fn set(&mut self, level: &Level) -> Result<(), Failure> {
        for setting in &level.settings {
            let is_knob = matches!(setting, Setting::Knob { .. });
            if is_knob && self.ignores_mtu {
                continue;
            }
            // Setting by setting, so that a fault leaves half of a level behind.
            self.asked(Call::Set(level.clone()))?;
            let mut places = self.settings.iter_mut();
            let place = places.find(|place| same_place(place, setting));
            *place.expect("the testbed has this place") = setting.clone();
        }
        self.passes(1);
        Ok(())
    }

    fn workload(&self, level: &Level, direction: Direction, length: TrialLength) -> Workload {
        let asked = level.settings.iter().find_map(|setting| match setting {
            Setting::Workload {
                value: Value::Integer(count),
                ..
            } => u32::try_from(*count).ok(),
            _ => None,
        });
        let seconds = match length {
            TrialLength::Counted => TRIAL_SECONDS,
            TrialLength::WashOut => WASH_OUT_SECONDS,
        };
        let measured = Nanoseconds::new(seconds * 1_000_000_000);
        share(direction, asked.unwrap_or(1), measured)
    }

    fn trial(&mut self, workload: &Workload) -> Outcome {
        if let Err(failure) = self.asked(Call::Trial(workload.clone())) {
            return Outcome::Failed(failure);
        }
        let Workload::Share(share) = workload else {
            return Outcome::Failed(failure("no such workload"));
        };
        let seconds = share.timing.measured.get() / 1_000_000_000;
        self.passes(seconds);
        // Sums of twelve uniform numbers are normal enough.
        let normal: f64 = (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0;
        let mut rate = 100e6 * (self.effect)(&self.settings, share.direction);
        rate *= (self.noise * normal).exp();
        if self.restores_itself && seconds == TRIAL_SECONDS {
            self.settings.clone_from(&self.start);
        }
        if seconds == WASH_OUT_SECONDS {
            // What a reset link does to the first trial; it must never be seen in a result.
            rate *= 0.1;
        }
        measured(share.timing.measured, (rate * seconds as f64) as u64)
    }

    fn keep(&mut self, level: &Level) -> Result<(), Failure> {
        self.asked(Call::Keep(level.clone()))
    }

    fn restore(&mut self, _: &Level) -> Result<(), Failure> {
        self.asked(Call::Restore)?;
        self.settings.clone_from(&self.start);
        Ok(())
    }

    fn now(&self) -> Nanoseconds {
        Nanoseconds::new(self.now)
    }
}

/// Runs a plan and gives what was recorded with what it came to.
pub(crate) fn tune(
    testbed: &mut SimulatedTestbed<'_>,
    plan: &TunePlan,
) -> (
    Vec<Record>,
    Result<experiment::TuneOutcome, experiment::Error>,
) {
    let mut records = Vec::new();
    let outcome = tune_with(testbed, plan, &mut records, &|| false, &Stage::default());
    (records, outcome)
}

/// The same with everything to choose.
pub(crate) fn tune_with(
    testbed: &mut SimulatedTestbed<'_>,
    plan: &TunePlan,
    sink: &mut dyn Sink,
    stop: &dyn Fn() -> bool,
    stage: &Stage,
) -> Result<experiment::TuneOutcome, experiment::Error> {
    let told = RefCell::new(Vec::new());
    let mut progress = |event: Progress| {
        match &event {
            Progress::PhaseBegins { phase, .. } => stage.phase.set(Some(*phase)),
            Progress::TrialBegins { arm, .. } => stage.arm.set(Some(*arm)),
            _ => {}
        }
        told.borrow_mut().push(event);
    };
    let mut hooks = Hooks {
        sink,
        stop,
        progress: &mut progress,
    };
    experiment::tune(testbed, plan, &mut hooks)
}
