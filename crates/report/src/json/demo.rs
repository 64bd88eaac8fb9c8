//! The figures of the demo, for programs.

use analysis::{ExperimentResult, RunAnalysis, RungName};
use record::{Arm, Direction, Phase, Setting, Value as Setpoint};
use schemars::JsonSchema;
use serde::Serialize;
use stats::Verdict;

use crate::quantity::finite_interval;
use crate::shared_wording;

/// The figures of the demo: one link against two, and what MTU 9000 did on top of what was kept.
///
/// They come from the confirmation where there is one, else from the comparison; one channel's rates
/// come from the check where nothing was compared. What was not measured is null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DemoSummary {
    /// One link.
    pub link: DemoLink,
    /// Rates of the share through one channel.
    pub one_channel: DemoRates,
    /// Rates of the share through two channels.
    pub two_channels: DemoRates,
    /// How many times as fast two channels are.
    pub ratio: DemoRatios,
    /// What MTU 9000 did.
    pub mtu_9000: DemoJumbo,
    /// Whether all hosts were as before in the end.
    pub restored: bool,
}

/// What one link carries.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DemoLink {
    /// The computed limit of TCP payload, in Mbit/s.
    pub ceiling_mbit_s: Option<f64>,
    /// Raw TCP, in Mbit/s of payload.
    pub tcp_mbit_s: Option<f64>,
}

/// Rates of the share.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DemoRates {
    /// Reading, in MB/s.
    pub read_mb_s: Option<f64>,
    /// Writing, in MB/s.
    pub write_mb_s: Option<f64>,
}

/// Ratios of two channels over one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DemoRatios {
    /// Of reading.
    pub read: Option<f64>,
    /// Of writing.
    pub write: Option<f64>,
}

/// What MTU 9000 did on top of what was kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DemoJumbo {
    /// Reading with it over reading without it.
    pub read_ratio: Option<f64>,
    /// Interval of that ratio: `[low, high]`.
    pub interval: Option<[f64; 2]>,
    /// What that means.
    pub verdict: Option<Verdict>,
}

impl DemoRates {
    /// From bytes per second.
    fn new(rate: impl Fn(Direction) -> Option<f64>) -> Self {
        let scaled = |direction| rate(direction).map(|rate| rounded(rate * 1e-6, 2));
        Self {
            read_mb_s: scaled(Direction::Read),
            write_mb_s: scaled(Direction::Write),
        }
    }
}

/// The figures of a check and of what was tuned after it.
#[must_use]
pub fn demo_summary(check: &RunAnalysis, tune: &RunAnalysis, restored: bool) -> DemoSummary {
    let channels = tune.experiments.iter().find(|one| sets_two_channels(one));
    let jumbo = tune.experiments.iter().find(|one| sets_mtu_9000(one));
    let rung = |name: RungName, direction: Direction| {
        let mut ladder = check.ladder.iter();
        let rung = ladder.find(|one| one.rung == name && one.direction == direction);
        Some(rung?.rate.as_ref()?.value)
    };
    let mut ceilings = check.ceilings.iter();
    let ceiling = ceilings.find(|(direction, _)| *direction == Direction::Read);
    let ceiling = ceiling.map(|(_, ceiling)| ceiling.rate.value);
    let ceiling = ceiling.or_else(|| rung(RungName::Ceiling, Direction::Read));
    let megabits = |rate: Option<f64>| rate.map(|rate| rounded(rate * 8e-6, 2));
    let compared = |arm, direction| channels.and_then(|one| counted_median(one, arm, direction));
    let ratio = |direction| {
        let effect = channels.and_then(|one| shared_wording::final_effect(one, direction));
        effect.map(|effect| rounded(effect.ratio.value, 4))
    };
    let jumbo = jumbo.and_then(|one| shared_wording::final_effect(one, Direction::Read));
    let interval = jumbo.and_then(|effect| finite_interval(&effect.ratio));
    DemoSummary {
        link: DemoLink {
            ceiling_mbit_s: megabits(ceiling),
            tcp_mbit_s: megabits(rung(RungName::Tcp, Direction::Read)),
        },
        one_channel: DemoRates::new(|direction| {
            compared(Arm::A, direction).or_else(|| rung(RungName::Share, direction))
        }),
        two_channels: DemoRates::new(|direction| compared(Arm::B, direction)),
        ratio: DemoRatios {
            read: ratio(Direction::Read),
            write: ratio(Direction::Write),
        },
        mtu_9000: DemoJumbo {
            read_ratio: jumbo.map(|effect| rounded(effect.ratio.value, 4)),
            interval: interval.map(|ends| ends.map(|end| rounded(end, 4))),
            verdict: jumbo.map(|effect| effect.verdict),
        },
        restored,
    }
}

fn sets_two_channels(experiment: &ExperimentResult) -> bool {
    shared_wording::changed_settings(experiment).settings.iter().any(|setting| {
        matches!(setting, Setting::Workload { field, value: Setpoint::Integer(2) } if field == "channels")
    })
}

fn sets_mtu_9000(experiment: &ExperimentResult) -> bool {
    shared_wording::changed_settings(experiment).settings.iter().any(|setting| {
        matches!(setting, Setting::Knob { id, value: Setpoint::Integer(9000), .. } if id.as_str() == "nic.mtu")
    })
}

/// The median of an arm in the phase whose effect counts.
fn counted_median(experiment: &ExperimentResult, arm: Arm, response: Direction) -> Option<f64> {
    let counted = shared_wording::final_effect(experiment, response).map(|effect| effect.phase);
    let phase = counted.unwrap_or(Phase::Compare);
    shared_wording::arm_median(experiment, arm, response, phase).map(|median| median.value)
}

/// To so many decimals.
fn rounded(number: f64, decimals: i32) -> f64 {
    let round = 10f64.powi(decimals);
    (number * round).round() / round
}
