//! The one seam between experiments and machines.

use locale::{Message, say};
use record::{
    Direction, Failure, FailureKind, HostLoad, Level, Nanoseconds, Outcome, Setting, Value,
    Workload,
};

/// How long a trial lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialLength {
    /// As long as trials that count.
    Counted,
    /// Short: it only washes out what a switch left behind, and does not count.
    WashOut,
}

/// Something that can be set and measured. Every level that an experiment hands out names the same
/// settings, each with its value, so nothing is ever left to what a level does not say.
pub trait Testbed {
    /// The present values of the settings that `level` names, read from where they hold; a workload
    /// field reads as it would be used without a level.
    ///
    /// # Errors
    /// When one of them cannot be read.
    fn read(&mut self, level: &Level) -> Result<Vec<Setting>, Failure>;

    /// Makes it so and waits until it has settled: links up, addresses reachable. Called before each
    /// visit of an arm, also when nothing differs.
    ///
    /// # Errors
    /// When a setting is refused or does not settle.
    fn set(&mut self, level: &Level) -> Result<(), Failure>;

    /// The workload of a trial: the testbed's own, with the level's workload fields.
    fn workload(&self, level: &Level, direction: Direction, length: TrialLength) -> Workload;

    /// Runs one trial in a fresh session. A failure is an outcome too.
    fn trial(&mut self, workload: &Workload) -> Outcome;

    /// What hosts had to do in the last trial, where they were looked at; it is reported once.
    fn loads(&mut self) -> Vec<HostLoad> {
        Vec::new()
    }

    /// The level is proven and set: mark it as kept, so that nothing puts it back by itself.
    ///
    /// # Errors
    /// When it cannot be kept; the experiment then puts everything back.
    fn keep(&mut self, level: &Level) -> Result<(), Failure>;

    /// Puts back everything that was set, so that all is as at the start; `level` names the start.
    /// Called once at the end of an experiment that keeps nothing, and when it is stopped or fails.
    ///
    /// # Errors
    /// When something could not be put back.
    fn restore(&mut self, level: &Level) -> Result<(), Failure>;

    /// The time since the start of the run.
    fn now(&self) -> Nanoseconds;
}

/// What switching from one level to another disturbs. It alone decides about wash-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchCost {
    /// Nothing, or nothing that a fresh session would not start anew.
    None,
    /// Connections that exist.
    Session,
    /// Links: NICs may reset, neighbours and paths are learnt anew.
    LinkReset,
}

/// The cost of switching between two levels.
#[must_use]
pub fn switch_cost(from: &Level, to: &Level) -> SwitchCost {
    let differs = |one: &Level, two: &Level| {
        let changed = one.settings.iter();
        changed
            .filter(|setting| !two.settings.contains(setting))
            .map(|setting| match setting {
                Setting::Knob { id, .. } if id.as_str().starts_with("nic.") => {
                    SwitchCost::LinkReset
                }
                Setting::Knob { .. } => SwitchCost::Session,
                Setting::Workload { .. } => SwitchCost::None,
            })
            .max()
            .unwrap_or(SwitchCost::None)
    };
    differs(from, to).max(differs(to, from))
}

/// Whether two settings are about the same thing, whatever its value.
pub(crate) fn same_place(one: &Setting, two: &Setting) -> bool {
    match (one, two) {
        (
            Setting::Knob {
                host, target, id, ..
            },
            Setting::Knob {
                host: other_host,
                target: other_target,
                id: other_id,
                ..
            },
        ) => host == other_host && target == other_target && id == other_id,
        (Setting::Workload { field, .. }, Setting::Workload { field: other, .. }) => field == other,
        (Setting::Knob { .. }, Setting::Workload { .. })
        | (Setting::Workload { .. }, Setting::Knob { .. }) => false,
    }
}

/// Whether what was read is what should be: the same places with the same values, nothing else.
///
/// # Errors
/// The first difference, as the failure of whatever relied on it.
pub(crate) fn check(wanted: &Level, read: &[Setting]) -> Result<(), Failure> {
    let refuse = |difference: Message| {
        let not_set = say("error-experiment.not-set").with("level", &wanted.name);
        let mut failure = Failure::new(FailureKind::Refused, not_set);
        failure.push(&difference);
        failure
    };
    for setting in &wanted.settings {
        let found = read.iter().find(|found| same_place(setting, found));
        match found {
            Some(found) if found == setting => {}
            Some(found) => {
                let difference = say("error-experiment.other-value")
                    .with("place", place(setting))
                    .with("found", value(found).to_string())
                    .with("wanted", value(setting).to_string());
                return Err(refuse(difference));
            }
            None => {
                let difference = say("error-experiment.not-read").with("place", place(setting));
                return Err(refuse(difference));
            }
        }
    }
    if read.len() == wanted.settings.len() {
        Ok(())
    } else {
        let difference = say("error-experiment.other-number")
            .count("found", read.len())
            .count("wanted", wanted.settings.len());
        Err(refuse(difference))
    }
}

/// The outcome of a trial, when what it measured still reads the same: a host that was silent for too
/// long puts itself back in the middle of one.
pub(crate) fn lasted(
    outcome: Outcome,
    wanted: &Level,
    read: impl FnOnce() -> Result<Vec<Setting>, Failure>,
) -> Outcome {
    if let Outcome::Failed(_) = outcome {
        return outcome;
    }
    match read().and_then(|found| check(wanted, &found)) {
        Ok(()) => outcome,
        Err(mut failure) => {
            failure.put_before(&say("error-experiment.did-not-last"));
            Outcome::Failed(failure)
        }
    }
}

/// The rate of a trial that did something, in the unit of its workload.
///
/// # Errors
/// Why the trial tells nothing.
pub(crate) fn rate(workload: &Workload, outcome: &Outcome) -> Result<f64, Failure> {
    match outcome {
        Outcome::Measured(result) => fit::rate(workload, result).ok_or_else(|| {
            Failure::new(FailureKind::Internal, say("error-experiment.did-nothing"))
        }),
        Outcome::Failed(failure) => Err(failure.clone()),
    }
}

fn place(setting: &Setting) -> Message {
    match setting {
        Setting::Knob {
            host, target, id, ..
        } => say("error-experiment.knob")
            .with("knob", id.to_string())
            .with("target", target.to_string())
            .with("host", host.to_string()),
        Setting::Workload { field, .. } => {
            say("error-experiment.workload-field").with("field", field.to_string())
        }
    }
}

const fn value(setting: &Setting) -> &Value {
    match setting {
        Setting::Knob { value, .. } | Setting::Workload { value, .. } => value,
    }
}
