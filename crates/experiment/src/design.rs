//! Experiments over several factors: their arms, their order, and how they are run and taken up again.

use std::collections::BTreeSet;
use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use record::{
    Design, Failure, FailureKind, HostLoad, Level, Nanoseconds, Outcome, Record, Setting, Stage,
    TrialRecord, Workload,
};

use crate::error::{Error, text};
use crate::phase::Sink;
use crate::testbed::{SwitchCost, check, lasted, rate, switch_cost};

/// The most arms of a design.
pub const ARMS_MAX: usize = 256;
/// The shortest trial that is made of a longer one to wash out.
const WASH_OUT_MIN: Nanoseconds = Nanoseconds::new(500_000_000);
/// Failed trials that are borne; one more ends the experiment.
const FAILURES_MAX: usize = 10;

/// How the levels of several factors are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// Each with each.
    Full,
    /// Of factors with two levels each, so few that main effects are told from all interactions of
    /// two (resolution IV or better).
    Fraction,
    /// One factor moves at a time, the others stay at their first level.
    OneAtATime,
}

/// Arms, and what cannot be told apart with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arms {
    /// For each arm and factor the place of its level; the first arm is the baseline.
    pub arms: Vec<Vec<u32>>,
    /// Interactions that cannot be told from each other, as `a:b = c:d`.
    pub aliases: Vec<String>,
    /// The form of the design in words.
    pub form: String,
}

/// The fewest factors that a fraction is known for; fewer have as few arms in a full factorial.
pub const FRACTION_FACTORS_MIN: usize = GENERATORS[0].0;

/// Which factors the further columns of a fraction are the product of, by how many factors there are.
const GENERATORS: [(usize, &[&[usize]]); 5] = [
    (4, &[&[0, 1, 2]]),
    (5, &[&[0, 1, 2, 3]]),
    (6, &[&[0, 1, 2], &[1, 2, 3]]),
    (7, &[&[0, 1, 2], &[1, 2, 3], &[0, 2, 3]]),
    (8, &[&[1, 2, 3], &[0, 2, 3], &[0, 1, 2], &[0, 1, 3]]),
];

/// Combines the levels of factors with these names and so many levels.
///
/// # Errors
/// [`Error::Plan`] where that cannot be done.
pub fn combine(factors: &[(&str, usize)], combination: Combination) -> Result<Arms, Error> {
    let refuse = |reason: String| Err(Error::Plan { reason });
    if factors.is_empty() {
        return refuse("nothing is varied".into());
    }
    if let Some((name, _)) = factors.iter().find(|(_, levels)| *levels < 2) {
        return refuse(format!("`{name}` has one level only"));
    }
    let (arms, form) = match combination {
        Combination::Full => (product(factors)?, full_name(factors)),
        Combination::OneAtATime => {
            let baseline = vec![0; factors.len()];
            let mut arms = vec![baseline.clone()];
            for (place, (_, levels)) in factors.iter().enumerate() {
                for level in 1..*levels {
                    let mut arm = baseline.clone();
                    arm[place] = u32::try_from(level).unwrap_or(u32::MAX);
                    arms.push(arm);
                }
            }
            (arms, "one factor at a time".to_owned())
        }
        Combination::Fraction => fraction(factors)?,
    };
    if arms.len() > ARMS_MAX {
        return refuse(format!("{} arms; {ARMS_MAX} is the limit", arms.len()));
    }
    let aliases = match combination {
        Combination::Fraction => aliases(factors, &arms),
        Combination::Full | Combination::OneAtATime => Vec::new(),
    };
    Ok(Arms {
        arms,
        aliases,
        form,
    })
}

fn full_name(factors: &[(&str, usize)]) -> String {
    match factors {
        [(_, 2)] => "A against B".into(),
        [(_, levels)] => format!("one factor with {levels} levels"),
        _ => "full factorial".into(),
    }
}

fn product(factors: &[(&str, usize)]) -> Result<Vec<Vec<u32>>, Error> {
    let mut arms = vec![Vec::new()];
    for (_, levels) in factors {
        if arms.len().saturating_mul(*levels) > ARMS_MAX {
            return Err(Error::Plan {
                reason: format!(
                    "a full factorial has more than {ARMS_MAX} arms; ask for a fraction"
                ),
            });
        }
        arms = arms
            .iter()
            .flat_map(|arm| {
                (0..*levels).map(move |level| {
                    let level = u32::try_from(level).unwrap_or(u32::MAX);
                    arm.iter().copied().chain([level]).collect()
                })
            })
            .collect();
    }
    Ok(arms)
}

fn fraction(factors: &[(&str, usize)]) -> Result<(Vec<Vec<u32>>, String), Error> {
    let refuse = |reason: String| Err(Error::Plan { reason });
    if let Some((name, levels)) = factors.iter().find(|(_, levels)| *levels != 2) {
        return refuse(format!(
            "a fraction needs two levels of each factor; `{name}` has {levels}"
        ));
    }
    let found = GENERATORS.iter().find(|(count, _)| *count == factors.len());
    let Some((_, generators)) = found else {
        return refuse(format!(
            "a fraction is known for {FRACTION_FACTORS_MIN} to 8 factors and not for {}",
            factors.len()
        ));
    };
    let basic = factors.len() - generators.len();
    let mut arms = product(&factors[..basic])?;
    for arm in &mut arms {
        for generator in *generators {
            // The product of signs: with the baseline as -1, three of them give -1 again, four +1.
            let ups: u32 = generator.iter().map(|place| arm[*place]).sum();
            let downs = u32::try_from(generator.len()).unwrap_or(0) - ups;
            arm.push(1 - downs % 2);
        }
    }
    // Turned round where needed, so that the baseline of all factors is an arm.
    if let Some(shift) = arms.first().cloned() {
        for arm in &mut arms {
            for (level, first) in arm.iter_mut().zip(&shift) {
                *level ^= first;
            }
        }
    }
    let kind = format!(
        "fractional factorial 2^({}-{}) of resolution {}",
        factors.len(),
        generators.len(),
        if factors.len() == 5 { "V" } else { "IV" }
    );
    Ok((arms, kind))
}

/// Groups of interactions of two that have the same column.
fn aliases(factors: &[(&str, usize)], arms: &[Vec<u32>]) -> Vec<String> {
    let mut groups: Vec<(Vec<bool>, Vec<String>)> = Vec::new();
    for one in 0..factors.len() {
        for other in one + 1..factors.len() {
            let column: Vec<bool> = arms.iter().map(|arm| arm[one] == arm[other]).collect();
            let turned: Vec<bool> = column.iter().map(|equal| !equal).collect();
            let name = format!("{}:{}", factors[one].0, factors[other].0);
            match groups
                .iter_mut()
                .find(|(known, _)| *known == column || *known == turned)
            {
                Some((_, names)) => names.push(name),
                None => groups.push((column, vec![name])),
            }
        }
    }
    let several = groups.into_iter().filter(|(_, names)| names.len() > 1);
    several.map(|(_, names)| names.join(" = ")).collect()
}

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
fn away(design: &Design, set: Option<u32>, position: u32, to: &Level) -> Option<u32> {
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
fn washes_out(design: &Design, set: Option<u32>, to: &Level) -> bool {
    match set.and_then(|arm| design.level(arm)) {
        Some(from) => switch_cost(&from, to) >= SwitchCost::LinkReset,
        None => to.settings.iter().any(|setting| match setting {
            Setting::Knob { id, .. } => id.as_str().starts_with("nic."),
            Setting::Workload { .. } => false,
        }),
    }
}

/// What such an experiment is run on.
pub trait Stand {
    /// The present values of the knobs that `level` names.
    ///
    /// # Errors
    /// When one of them cannot be read.
    fn read(&mut self, level: &Level) -> Result<Vec<Setting>, Failure>;

    /// Makes the knobs of `level` so, and waits until they have settled.
    ///
    /// # Errors
    /// When a setting is refused or does not settle.
    fn set(&mut self, level: &Level) -> Result<(), Failure>;

    /// The workload with the fields that `level` names.
    ///
    /// # Errors
    /// When the workload has no such field, or not that value.
    fn workload(&self, workload: &Workload, level: &Level) -> Result<Workload, Failure>;

    /// Runs one trial in a fresh session. A failure is an outcome too.
    fn trial(&mut self, workload: &Workload) -> Outcome;

    /// What hosts had to do in the last trial, where somebody looked; it is told once.
    fn loads(&mut self) -> Vec<HostLoad> {
        Vec::new()
    }

    /// Puts everything back as it was at the start.
    ///
    /// # Errors
    /// When something could not be put back.
    fn restore(&mut self) -> Result<(), Failure>;

    /// The time since the start of the run, over all times it was taken up.
    fn now(&self) -> Nanoseconds;
}

/// What such an experiment tells while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum DesignNews<'a> {
    /// An arm is being set.
    Setting {
        /// Block, from 0.
        block: usize,
        /// What it is set to.
        level: &'a str,
    },
    /// A trial begins.
    Trial {
        /// What is measured.
        response: &'a str,
    },
    /// A trial is over: payload bytes per second, or why there are none.
    Ended(Result<f64, String>),
    /// A block is complete; all counted trials so far.
    Block(&'a [TrialRecord]),
}

/// What such an experiment needs from its surroundings.
pub struct DesignHooks<'a> {
    /// Where records go.
    pub sink: &'a mut dyn Sink,
    /// Asked between trials: whether to stop and put everything back.
    pub stop: &'a dyn Fn() -> bool,
    /// Told what happens.
    pub news: &'a mut dyn FnMut(DesignNews<'_>),
    /// Asked after each block: whether every interval is as narrow as the stop rule wants.
    pub narrow: &'a dyn Fn(&[TrialRecord]) -> bool,
}

/// How such an experiment ended; everything was put back.
#[derive(Clone, Debug, PartialEq)]
pub enum DesignEnd {
    /// As its stop rule says.
    Complete,
    /// Somebody stopped it; it can be taken up again.
    Stopped,
    /// It cannot go on, or came to its end and nothing at all was measured.
    Failed(Failure),
}

/// A counted trial's place: block, position, response.
type Place = (u32, u32, String);

struct Running<'a, 'b> {
    stand: &'a mut dyn Stand,
    design: &'a Design,
    hooks: &'a mut DesignHooks<'b>,
    trials: Vec<TrialRecord>,
    done: BTreeSet<Place>,
    /// What failed when the experiment was run before. Where it fails again that is nothing new, so
    /// that an experiment comes to its end although one of its arms cannot be set.
    failed_before: BTreeSet<Place>,
    next_id: u64,
    failures: usize,
    /// The arm that is set now.
    set: Option<u32>,
}

/// Runs a design, or what of it is not in `before`, the trials of earlier times. Those of them that
/// failed are run again.
///
/// # Errors
/// When the run file cannot be written, or not everything could be put back.
pub fn run_design(
    stand: &mut dyn Stand,
    design: &Design,
    before: Vec<TrialRecord>,
    hooks: &mut DesignHooks<'_>,
) -> Result<DesignEnd, Error> {
    let next_id = before.iter().map(|trial| trial.id + 1).max().unwrap_or(0);
    let trials: Vec<TrialRecord> = before
        .into_iter()
        .filter(|trial| place(trial).is_some())
        .collect();
    let (failed, measured): (Vec<_>, Vec<_>) = trials
        .iter()
        .partition(|trial| rate(&trial.workload, &trial.outcome).is_err());
    let done: BTreeSet<Place> = measured.into_iter().filter_map(place).collect();
    let failed_before = failed.into_iter().filter_map(place).collect();
    let mut running = Running {
        stand,
        design,
        hooks,
        trials,
        done,
        failed_before,
        next_id,
        failures: 0,
        set: None,
    };
    let ended = running.blocks();
    // Whatever happened: first the hosts, then the words.
    match (running.stand.restore(), ended) {
        (Ok(()), ended) => ended,
        (Err(failure), Err(Error::Record { source })) => Err(Error::NotRestored {
            failure,
            before: Some(source),
        }),
        (Err(failure), _) => Err(Error::NotRestored {
            failure,
            before: None,
        }),
    }
}

fn place(trial: &TrialRecord) -> Option<Place> {
    match &trial.stage {
        Stage::Visit {
            block,
            position,
            response,
            discarded: false,
            ..
        } => Some((*block, *position, response.clone())),
        _ => None,
    }
}

impl Running<'_, '_> {
    fn blocks(&mut self) -> Result<DesignEnd, Error> {
        let design = self.design;
        for (block, row) in (0..).zip(&design.blocks) {
            for (position, arm) in (0..).zip(row) {
                if let Some(end) = self.visit(block, position, *arm)? {
                    return Ok(end);
                }
            }
            (self.hooks.news)(DesignNews::Block(&self.trials));
            if self.is_enough() {
                break;
            }
        }
        Ok(self
            .failed_throughout()
            .map_or(DesignEnd::Complete, DesignEnd::Failed))
    }

    /// What failed last, where nothing at all was measured: then no verdict is left open, there is none to come.
    fn failed_throughout(&self) -> Option<Failure> {
        let mut last = None;
        for trial in &self.trials {
            last = Some(rate(&trial.workload, &trial.outcome).err()?);
        }
        last
    }

    fn is_enough(&self) -> bool {
        let stop = &self.design.stop;
        let elapsed = Duration::from(self.stand.now());
        let budget = stop.budget_seconds.map(Duration::from_secs);
        budget.is_some_and(|budget| elapsed >= budget)
            || stop.width.is_some() && (self.hooks.narrow)(&self.trials)
    }

    fn visit(&mut self, block: u32, position: u32, arm: u32) -> Result<Option<DesignEnd>, Error> {
        let design = self.design;
        let Some(level) = design.level(arm) else {
            let reason = format!("there is no arm {arm}");
            return Err(Error::Plan { reason });
        };
        let missing = |done: &BTreeSet<Place>, name: &str| {
            !done.contains(&(block, position, name.to_owned()))
        };
        let open: Vec<_> = design
            .responses
            .iter()
            .filter(|response| missing(&self.done, &response.name))
            .collect();
        let Some(first) = open.first() else {
            return Ok(None);
        };
        if (self.hooks.stop)() {
            return Ok(Some(DesignEnd::Stopped));
        }
        (self.hooks.news)(DesignNews::Setting {
            block: block as usize,
            level: &level.name,
        });
        if let Some(arm) = away(design, self.set, position, &level)
            && let Some(away) = design.level(arm)
        {
            // What is refused here is refused again, and told, when it is that arm's turn.
            let set = self.stand.set(&knobs(&away));
            self.set = set.is_ok().then_some(arm);
        }
        let set = self.stand.set(&knobs(&level));
        let washes_out = washes_out(design, self.set, &level);
        self.set = set.is_ok().then_some(arm);
        let stage = |response: &str, discarded: bool| Stage::Visit {
            block,
            position,
            arm,
            response: response.to_owned(),
            discarded,
        };
        if washes_out && set.is_ok() {
            let short = shorter(&first.workload);
            let end = self.trial(stage(&first.name, true), &short, &level, &set)?;
            if end.is_some() {
                return Ok(end);
            }
        }
        for response in open {
            if (self.hooks.stop)() {
                return Ok(Some(DesignEnd::Stopped));
            }
            let end = self.trial(
                stage(&response.name, false),
                &response.workload,
                &level,
                &set,
            )?;
            if end.is_some() {
                return Ok(end);
            }
        }
        Ok(None)
    }

    /// Reads back before and after it measures; written down before anything is computed with it.
    fn trial(
        &mut self,
        stage: Stage,
        workload: &Workload,
        level: &Level,
        set: &Result<(), Failure>,
    ) -> Result<Option<DesignEnd>, Error> {
        let (name, discarded) = match &stage {
            Stage::Visit {
                response,
                discarded,
                ..
            } => (response.clone(), *discarded),
            _ => (String::new(), false),
        };
        (self.hooks.news)(DesignNews::Trial { response: &name });
        let started = self.stand.now();
        let knobs = knobs(level);
        let workload = self
            .stand
            .workload(workload, level)
            .unwrap_or_else(|_| workload.clone());
        let read = set.clone().and_then(|()| self.stand.read(&knobs));
        let checked = read.as_ref().map_err(Clone::clone);
        let outcome = match checked.and_then(|found| check(&knobs, found)) {
            Ok(()) => self.stand.trial(&workload),
            Err(failure) => Outcome::Failed(failure),
        };
        let ended = self.stand.now();
        let outcome = lasted(outcome, &knobs, || self.stand.read(&knobs));
        let rate = rate(&workload, &outcome);
        let failure = rate.as_ref().err().cloned();
        // What was interrupted never was: it is run again when the experiment is taken up.
        if failure
            .as_ref()
            .is_some_and(|failure| failure.kind == FailureKind::Interrupted)
        {
            return Ok(Some(DesignEnd::Stopped));
        }
        let record = TrialRecord {
            id: self.next_id,
            stage,
            workload,
            settings: read.unwrap_or_default(),
            started,
            ended,
            outcome,
            loads: self.stand.loads(),
        };
        let written = self
            .hooks
            .sink
            .append(&Record::Trial(Box::new(record.clone())));
        written.map_err(|source| Error::Record { source })?;
        self.next_id += 1;
        let is_new = place(&record).is_none_or(|place| !self.failed_before.contains(&place));
        if !discarded {
            self.done.extend(place(&record));
            self.trials.push(record);
        }
        (self.hooks.news)(DesignNews::Ended(rate.map_err(|failure| text(&failure))));
        self.failures += usize::from(failure.is_some() && is_new);
        // Each further try of a login may be one too many for the account.
        let is_over = |failure: &Failure| {
            self.failures > FAILURES_MAX || failure.kind == FailureKind::LoginRefused
        };
        Ok(failure.filter(is_over).map(DesignEnd::Failed))
    }
}

/// What only washes out need not last: a quarter, of what lasts seconds.
fn shorter(workload: &Workload) -> Workload {
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

fn knobs(level: &Level) -> Level {
    let of_hosts = level.settings.iter();
    let of_hosts = of_hosts.filter(|setting| matches!(setting, Setting::Knob { .. }));
    Level {
        name: level.name.clone(),
        settings: of_hosts.cloned().collect(),
    }
}
