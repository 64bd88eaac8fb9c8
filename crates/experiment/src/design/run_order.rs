//! The order in which the arms of a design are visited: random in each block, whole plots together, and
//! what washes out before.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use record::{Design, Level, Nanoseconds, Setting, Workload};

use crate::testbed::{SwitchCost, switch_cost};

/// The shortest trial that is made of a longer one to wash out.
const WASH_OUT_MIN: Nanoseconds = Nanoseconds::new(500_000_000);

/// The order of the arms in each block, drawn for each block anew: then what is gained by being early or
/// late, and what a trial takes over from the one before, falls to any arm as likely as to any other.
/// Arms with the same levels of the `whole_plots` stay together.
#[must_use]
pub fn order(arms: &[Vec<u32>], whole_plots: &[u32], blocks: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let plot = |arm: &[u32]| -> Vec<u32> {
        let places = whole_plots.iter();
        places
            .filter_map(|place| arm.get(*place as usize).copied())
            .collect()
    };
    let mut row = || {
        let mut plots: Vec<Vec<u32>> = arms.iter().map(|arm| plot(arm)).collect();
        plots.sort();
        plots.dedup();
        plots.shuffle(&mut random);
        let mut row = Vec::new();
        for wanted in plots {
            let mut members: Vec<u32> = (0..)
                .zip(arms)
                .filter(|(_, arm)| plot(arm) == wanted)
                .map(|(index, _)| index)
                .collect();
            members.shuffle(&mut random);
            row.extend(members);
        }
        row
    };
    (0..blocks).map(|_| row()).collect()
}

/// Places of the factors whose switch resets links, where there are others as well.
#[must_use]
pub fn whole_plots(factors: &[record::Factor]) -> Vec<u32> {
    let resets = |factor: &record::Factor| {
        let cost = factor
            .levels
            .windows(2)
            .map(|pair| switch_cost(&pair[0], &pair[1]));
        cost.max() == Some(SwitchCost::LinkReset)
    };
    let plots: Vec<u32> = (0..)
        .zip(factors)
        .filter(|(_, factor)| resets(factor))
        .map(|(place, _)| place)
        .collect();
    if plots.len() == factors.len() {
        Vec::new()
    } else {
        plots
    }
}

/// A visit of an arm, as it goes where nothing fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Which arm.
    pub arm: u32,
    /// The arm that is set for a moment before, so that links are reset.
    pub away: Option<u32>,
    /// What runs before the trials that count, and does not count.
    pub wash_out: Option<Workload>,
}

/// All visits of a design, in their order.
#[must_use]
pub fn visits(design: &Design) -> Vec<Visit> {
    let mut set = None;
    let mut visits = Vec::new();
    for row in &design.blocks {
        for (position, arm) in (0..).zip(row) {
            let Some(level) = design.level(*arm) else {
                continue;
            };
            let away = away(design, set, position, &level);
            let first = design.responses.first();
            let wash_out = first.filter(|_| washes_out(design, away.or(set), &level));
            visits.push(Visit {
                arm: *arm,
                away,
                wash_out: wash_out.map(|response| shorter(&response.workload)),
            });
            set = Some(*arm);
        }
    }
    visits
}

/// Where a plot begins with what the last one ended with, its links are reset all the same, by a switch
/// to this arm and back: plots that share a reset are not as many as they seem.
pub(super) fn away(design: &Design, set: Option<u32>, position: u32, to: &Level) -> Option<u32> {
    let begins = position == 0 || design.whole_plots.is_empty();
    let resets = |from: &Level| switch_cost(from, to) >= SwitchCost::LinkReset;
    let from = set.and_then(|arm| design.level(arm))?;
    if !begins || resets(&from) {
        return None;
    }
    let mut arms = (0..).zip(&design.arms).map(|(arm, _)| arm);
    arms.find(|arm| design.level(*arm).is_some_and(|level| resets(&level)))
}

/// Whether a switch from what is set to this level resets links; the first one may.
pub(super) fn washes_out(design: &Design, set: Option<u32>, to: &Level) -> bool {
    match set.and_then(|arm| design.level(arm)) {
        Some(from) => switch_cost(&from, to) >= SwitchCost::LinkReset,
        None => to.settings.iter().any(|setting| match setting {
            Setting::Knob { id, .. } => id.as_str().starts_with("nic."),
            Setting::Workload { .. } => false,
        }),
    }
}

/// What only washes out need not last: a quarter, of what lasts seconds.
pub(super) fn shorter(workload: &Workload) -> Workload {
    let mut workload = workload.clone();
    let timing = match &mut workload {
        Workload::Tcp(tcp) => &mut tcp.timing,
        Workload::Share(share) => &mut share.timing,
        // `fio` takes whole seconds, and a task ends when it is done.
        Workload::Folder(_) | Workload::Task(_) | Workload::Job(_) => return workload,
    };
    let quarter = Nanoseconds::new(timing.measured.get() / 4);
    if quarter >= WASH_OUT_MIN {
        timing.measured = quarter;
        timing.interval = timing.interval.min(quarter);
    }
    workload
}
