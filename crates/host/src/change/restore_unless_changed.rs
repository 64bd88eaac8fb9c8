//! Putting hosts back as they were before a change, without touching what somebody else changed.

use std::collections::BTreeMap;
use std::fmt;

use locale::{Language, Message, say};
use record::{HostName, KnobId, Target, Value};

use super::journal::Opened;
use super::read_knobs::read_entries;
use super::settings_before_and_after::{Entry, Item};
use crate::exec::{self, Command, Output};
use crate::knob::{self, Before, Knob, Refusal, State};
use crate::{Error, Host, Place};

/// Rounds of putting back what is not yet as it was: one setting may hold another back.
const ROUNDS_MAX: usize = 4;
/// Rounds in which a target's knobs that hang together are put back as one, and nothing else is.
/// Put back one by one, they would move each other on the way, and a crash there would look like
/// somebody else's doing.
const ROUNDS_TOGETHER: usize = 2;

/// What to do with a value that is neither as before nor as after the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Somebody else set it: leave it alone.
    Leave,
    /// Put back what was there before the change all the same.
    Overwrite,
}

/// What became of one setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was as before; nothing had to be done.
    AlreadyBefore,
    /// It was put back and reads as before.
    Restored,
    /// Another setting of the same target, which the change had taken with it, was put back.
    SiblingRestored,
    /// Somebody else changed it; it was left alone.
    Foreign,
    /// Another setting of the same target, which somebody else changed; it was left alone.
    SiblingForeign,
    /// The host has restarted since, and the change went with that; it was left alone.
    Restarted,
    /// The interface, or the whole host, is no longer there.
    Gone {
        /// How we know.
        reason: Message,
    },
    /// Another machine answers under this name; it was left alone.
    OtherMachine,
    /// It could not be put back.
    Failed {
        /// Why, outermost first.
        chain: Vec<Message>,
    },
    /// These commands would put it back; nothing was done.
    WouldRestore {
        /// The commands.
        commands: Vec<Command>,
    },
}

impl Outcome {
    /// Whether there is nothing left to put back.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        match self {
            Self::AlreadyBefore
            | Self::Restored
            | Self::SiblingRestored
            | Self::SiblingForeign
            | Self::Restarted
            | Self::Gone { .. } => true,
            Self::Foreign
            | Self::OtherMachine
            | Self::Failed { .. }
            | Self::WouldRestore { .. } => false,
        }
    }

    fn message(&self) -> Message {
        match self {
            Self::AlreadyBefore => say("undone.as-before"),
            Self::Restored => say("undone.put-back"),
            Self::SiblingRestored => say("undone.sibling-put-back"),
            Self::Foreign | Self::SiblingForeign => say("undone.set-by-others"),
            Self::Restarted => say("undone.restarted"),
            Self::Gone { reason } => reason.clone(),
            Self::OtherMachine => say("undone.other-machine"),
            Self::Failed { chain } => {
                let chain = record::chain(chain.iter().cloned());
                chain.unwrap_or_else(|| say("undone.not-as-before"))
            }
            Self::WouldRestore { .. } => say("undone.would-put-back"),
        }
    }
}

/// What became of one setting when a change was taken back.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The host.
    pub host: HostName,
    /// The part of it.
    pub target: Target,
    /// The knob.
    pub knob: KnobId,
    /// Its value before the change.
    pub before: Value,
    /// Its value with the change; the same as before for a sibling.
    pub after: Value,
    /// Its value when we came, where it could be read.
    pub found: Option<Value>,
    /// Its value as read back at the end, where it could be read.
    pub now: Option<Value>,
    /// What was done.
    pub outcome: Outcome,
}

impl Report {
    /// What became of which setting, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        let place = Place {
            host: self.host.clone(),
            target: self.target.clone(),
            knob: self.knob.clone(),
        };
        say("undone.report")
            .with("place", place.message())
            .with("before", self.before.to_string())
            .with_known("now", self.now.as_ref().map(ToString::to_string))
            .with("outcome", self.outcome.message())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

/// A knob that keeps another one's value over restarts.
pub(crate) type Keep = (HostName, Target, KnobId);

/// Takes back one change.
pub(crate) struct Restore<'a> {
    pub(crate) opened: &'a Opened,
    /// The snapshot with the change, where it was noted.
    pub(crate) after: Option<&'a [Entry]>,
    pub(crate) foreign: Foreign,
    /// The hosts that answer and are the right machines.
    pub(crate) hosts: &'a BTreeMap<HostName, Host>,
    /// What the systems were told to set at their start, by this change or by another one that is open.
    pub(crate) kept: &'a [Keep],
    /// Those of them that have restarted since.
    pub(crate) restarted: &'a [HostName],
}

type Key<'a> = (&'a HostName, &'a Target, &'a KnobId);
type Values<'a> = BTreeMap<Key<'a>, Result<State, Refusal>>;

/// What is to be done about one entry of the snapshot.
struct Goal<'a> {
    entry: &'a Entry,
    item: Option<&'a Item>,
    /// Whether its knob stands for many that hang together.
    is_of_many: bool,
    found: Option<Value>,
    /// The value to reach; `None` where it is to be left alone.
    to: Option<Value>,
    outcome: Outcome,
}

fn key(entry: &Entry) -> Key<'_> {
    (&entry.host, &entry.target, &entry.knob)
}

impl<'a> Restore<'a> {
    /// Puts back what is ours, newest first, and reads back everything.
    pub(crate) fn run(&self) -> Vec<Report> {
        let (mut values, broken) = self.read();
        let mut goals = self.goals(&values, &broken);
        let mut troubles: BTreeMap<Key<'_>, Error> = BTreeMap::new();
        for goal in goals
            .iter()
            .filter(|goal| goal.outcome == Outcome::Restored)
        {
            if let Err(error) = self.put_back(goal, &values) {
                troubles.insert(key(goal.entry), error);
            }
        }
        let mut touched = Vec::new();
        let mut broken = broken;
        // Where nobody answers, asking again only takes time.
        let rounds = if broken.len() == self.hosts.len() {
            0
        } else {
            ROUNDS_MAX
        };
        for round in 0..rounds {
            (values, broken) = self.read();
            let missed = missed(&goals, &values, round < ROUNDS_TOGETHER);
            if missed.is_empty() {
                break;
            }
            for goal in missed {
                touched.push(key(goal.entry));
                if let Err(error) = self.put_back(goal, &values) {
                    troubles.insert(key(goal.entry), error);
                }
            }
        }
        if !touched.is_empty() {
            (values, broken) = self.read();
        }
        for goal in &mut goals {
            let trouble = troubles
                .get(&key(goal.entry))
                .or_else(|| broken.get(&goal.entry.host));
            settle(goal, &values, &touched, trouble);
        }
        goals
            .into_iter()
            .filter_map(|goal| report(goal, &values))
            .collect()
    }

    /// The same without doing anything.
    pub(crate) fn rehearse(&self) -> Vec<Report> {
        let (values, broken) = self.read();
        let mut goals = self.goals(&values, &broken);
        for goal in &mut goals {
            if !matches!(goal.outcome, Outcome::Restored | Outcome::SiblingRestored) {
                continue;
            }
            let state = match values.get(&key(goal.entry)) {
                Some(Ok(state)) => state,
                _ => continue,
            };
            let planned = self.hosts.get(&goal.entry.host);
            let planned = planned.and_then(|host| self.plan(goal, host, state).ok());
            let commands = planned.unwrap_or_default();
            goal.outcome = Outcome::WouldRestore { commands };
        }
        goals
            .into_iter()
            .filter_map(|goal| report(goal, &values))
            .collect()
    }

    /// Every knob of the snapshot as it is now, and the hosts that did not answer.
    fn read(&self) -> (Values<'a>, BTreeMap<&'a HostName, Error>) {
        let mut values = Values::new();
        let mut broken = BTreeMap::new();
        for (name, host) in self.hosts {
            match read_entries(name, host, &self.opened.snapshot) {
                Ok(read) => {
                    values.extend(read.into_iter().map(|(entry, state)| (key(entry), state)))
                }
                Err(error) => drop(broken.insert(name, error)),
            }
        }
        (values, broken)
    }

    /// Items newest first, then their siblings.
    fn goals(&self, values: &Values<'a>, broken: &BTreeMap<&'a HostName, Error>) -> Vec<Goal<'a>> {
        let opened: &'a Opened = self.opened;
        let item_of = |entry: &Entry| {
            opened.items.iter().position(|item| {
                item.host == entry.host && item.target == entry.target && item.knob == entry.knob
            })
        };
        let mut entries: Vec<(Option<usize>, &'a Entry)> = opened
            .snapshot
            .iter()
            .filter(|entry| self.hosts.contains_key(&entry.host))
            .map(|entry| (item_of(entry), entry))
            .collect();
        // `None` comes first in the order of options, and so last here.
        entries.sort_by_key(|(item, _)| std::cmp::Reverse(*item));
        let goals = entries.into_iter().map(|(item, entry)| {
            let item = item.and_then(|at| opened.items.get(at));
            self.goal(entry, item, values, broken)
        });
        goals.collect()
    }

    fn goal(
        &self,
        entry: &'a Entry,
        item: Option<&'a Item>,
        values: &Values<'a>,
        broken: &BTreeMap<&'a HostName, Error>,
    ) -> Goal<'a> {
        let system = self.hosts.get(&entry.host).map(|host| host.system);
        let knob = system.and_then(|system| knob::find(system, entry.knob.as_str()));
        let mut goal = Goal {
            entry,
            item,
            is_of_many: knob.is_some_and(|knob| knob.only_in_snapshots),
            found: None,
            to: None,
            outcome: Outcome::AlreadyBefore,
        };
        match (knob, values.get(&key(entry))) {
            (Some(knob), Some(Ok(state))) => {
                (goal.to, goal.outcome) = self.decide(entry, item, knob, &state.value);
                goal.found = Some(state.value.clone());
            }
            (_, Some(Err(refusal))) if refusal.target_is_missing => {
                let reason = refusal.reason.clone();
                goal.outcome = Outcome::Gone { reason };
            }
            (knob, unread) => {
                let chain = match (unread, broken.get(&entry.host)) {
                    (Some(Err(refusal)), _) => vec![refusal.reason.clone()],
                    (_, Some(error)) => error.chain(),
                    _ if knob.is_none() => vec![say("undone.unknown-knob")],
                    _ => vec![say("undone.not-read")],
                };
                goal.outcome = Outcome::Failed { chain };
            }
        }
        goal
    }

    /// Three ways: as before, as with the change, or somebody else's.
    fn decide(
        &self,
        entry: &Entry,
        item: Option<&Item>,
        knob: &Knob,
        found: &Value,
    ) -> (Option<Value>, Outcome) {
        let before = || Some(entry.value.clone());
        let force = self.foreign == Foreign::Overwrite;
        if *found == entry.value {
            return (before(), Outcome::AlreadyBefore);
        }
        let survives = knob.survives_reboot || self.is_kept(entry);
        if self.restarted.contains(&entry.host) && !survives && !force {
            return (None, Outcome::Restarted);
        }
        match item.filter(|item| item.before != item.after) {
            Some(item) if *found == item.after || force || self.after_of(entry) == Some(found) => {
                (before(), Outcome::Restored)
            }
            Some(_) => (None, Outcome::Foreign),
            None if force => (before(), Outcome::SiblingRestored),
            None => match knob.merge(&entry.value, self.after_of(entry), found) {
                to if to == *found => (None, Outcome::SiblingForeign),
                to => (Some(to), Outcome::SiblingRestored),
            },
        }
    }

    /// Whether the system was told to set it at its start.
    fn is_kept(&self, entry: &Entry) -> bool {
        let persistent = knob::persistent_id(entry.knob.as_str());
        self.kept.iter().any(|(host, target, knob)| {
            *host == entry.host && *target == entry.target && knob.as_str() == persistent
        })
    }

    fn after_of(&self, entry: &Entry) -> Option<&Value> {
        let after = self.after?.iter().find(|other| key(other) == key(entry))?;
        Some(&after.value)
    }

    /// Plans and runs what leads from the value of now to the goal.
    fn put_back(&self, goal: &Goal<'a>, values: &Values<'a>) -> Result<(), Error> {
        let host = self.hosts.get(&goal.entry.host);
        let Some((host, Ok(state))) = host.zip(values.get(&key(goal.entry))) else {
            return Ok(());
        };
        let commands = self
            .plan(goal, host, state)
            .map_err(|refusal| refusal.at(goal.entry.place(), goal.to.clone()))?;
        for command in commands {
            run(host, goal.entry, &command)?;
        }
        Ok(())
    }

    /// The commands that lead from the value of now to the goal.
    fn plan(&self, goal: &Goal<'a>, host: &Host, state: &State) -> Result<Vec<Command>, Refusal> {
        let Some(to) = &goal.to else {
            return Ok(Vec::new());
        };
        let entry = goal.entry;
        let knob = knob::find(host.system, entry.knob.as_str()).ok_or_else(Refusal::none_such)?;
        // What we have set ourselves we may take back.
        if let (None, Some(because)) = (goal.item, &state.fixed_because) {
            return Err(Refusal::fixed(because));
        }
        let together = self.opened.snapshot.iter().find(|other| {
            other.host == entry.host
                && other.target == entry.target
                && other.knob.as_str() == knob::TOGETHER
        });
        let before = Before {
            remembered: goal.item.and_then(|item| item.remembered.as_ref()),
            features: together.and_then(|other| match &other.value {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            }),
        };
        knob.restore(&entry.target, state, to, &before)
    }
}

/// Runs a command that puts this back.
fn run(host: &Host, entry: &Entry, command: &Command) -> Result<Output, Error> {
    match knob::find(host.system, entry.knob.as_str()) {
        Some(knob) => knob.run(host, &entry.target, command),
        None => exec::run_one(host.exec.as_ref(), command),
    }
}

/// The goals that are not reached and can be tried.
fn missed<'g, 'a>(goals: &'g [Goal<'a>], values: &Values<'a>, together: bool) -> Vec<&'g Goal<'a>> {
    let mut missed: Vec<&Goal<'_>> = goals
        .iter()
        // What cannot be read has its trouble already.
        .filter(|goal| matches!(values.get(&key(goal.entry)), Some(Ok(_))))
        .filter(|goal| !reached(goal, values))
        .collect();
    if together {
        let whole: Vec<_> = missed
            .iter()
            .filter(|goal| goal.is_of_many)
            .map(|goal| (&goal.entry.host, &goal.entry.target))
            .collect();
        missed.retain(|goal| {
            goal.is_of_many || !whole.contains(&(&goal.entry.host, &goal.entry.target))
        });
    }
    missed
}

fn reached(goal: &Goal<'_>, values: &Values<'_>) -> bool {
    match (&goal.to, values.get(&key(goal.entry))) {
        (None, _) => true,
        (Some(to), Some(Ok(state))) => state.value == *to,
        (Some(_), _) => false,
    }
}

/// Says what became of it in the end.
fn settle(goal: &mut Goal<'_>, values: &Values<'_>, touched: &[Key<'_>], trouble: Option<&Error>) {
    if goal.to.is_none() {
        return;
    }
    if !reached(goal, values) {
        let chain = match trouble {
            Some(error) => error.chain(),
            None => vec![say("undone.not-as-before")],
        };
        goal.outcome = Outcome::Failed { chain };
        return;
    }
    // As before when we came, and moved by what we put back; or moved and back with its cause.
    let was_touched = touched.contains(&key(goal.entry));
    match &goal.outcome {
        Outcome::AlreadyBefore if was_touched => goal.outcome = Outcome::SiblingRestored,
        // Its parts came back with what they belong to.
        Outcome::SiblingRestored if goal.is_of_many && !was_touched => {
            goal.outcome = Outcome::AlreadyBefore;
        }
        _ => {}
    }
}

/// Every item is reported; a sibling only where there is something to say.
fn report(goal: Goal<'_>, values: &Values<'_>) -> Option<Report> {
    if goal.item.is_none() {
        match goal.outcome {
            Outcome::AlreadyBefore | Outcome::Gone { .. } | Outcome::Restarted => return None,
            _ => {}
        }
    }
    let now = match values.get(&key(goal.entry)) {
        Some(Ok(state)) => Some(state.value.clone()),
        _ => None,
    };
    Some(Report {
        host: goal.entry.host.clone(),
        target: goal.entry.target.clone(),
        knob: goal.entry.knob.clone(),
        before: goal.entry.value.clone(),
        after: goal
            .item
            .map_or_else(|| goal.entry.value.clone(), |item| item.after.clone()),
        found: goal.found,
        now,
        outcome: goal.outcome,
    })
}

/// The reports of a host that is not to be touched.
pub(crate) fn untouched(opened: &Opened, host: &HostName, outcome: &Outcome) -> Vec<Report> {
    let items = opened.items.iter().rev().filter(|item| item.host == *host);
    items
        .map(|item| Report {
            host: item.host.clone(),
            target: item.target.clone(),
            knob: item.knob.clone(),
            before: item.before.clone(),
            after: item.after.clone(),
            found: None,
            now: None,
            outcome: outcome.clone(),
        })
        .collect()
}
