//! A change of some settings on some hosts: planned, written into the journal, made, taken back.

use std::collections::{BTreeMap, BTreeSet};

use record::{HostName, KnobId, Setting, System, Target, Value};
use serde::{Deserialize, Serialize};

use crate::exec::{self, Command, Privilege};
use crate::journal::{Journal, Mark, Opened};
use crate::knob::{self, Disturbance, Knob, Refusal, State, Step};
use crate::restore::{Foreign, Report, Restore};
use crate::{Error, Host, Place};

/// A change that was thought through and not yet begun: nothing has been touched.
#[derive(Debug)]
pub struct Change {
    pub(crate) run: String,
    pub(crate) hosts: BTreeMap<HostName, Host>,
    pub(crate) identities: Vec<HostIdentity>,
    pub(crate) items: Vec<Item>,
    pub(crate) snapshot: Vec<Entry>,
}

/// Which machine a host was when it was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostIdentity {
    pub(crate) name: HostName,
    pub(crate) system: System,
    pub(crate) machine_id: Option<String>,
    pub(crate) boot_id: Option<String>,
}

/// One setting of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The host.
    pub host: HostName,
    /// The part of it.
    pub target: Target,
    /// The knob.
    pub knob: KnobId,
    /// Its value before the change.
    pub before: Value,
    /// Its value with the change.
    pub after: Value,
    pub(crate) steps: Vec<JournalStep>,
}

impl Item {
    /// Which knob of what.
    #[must_use]
    pub fn place(&self) -> Place {
        Place {
            host: self.host.clone(),
            target: self.target.clone(),
            knob: self.knob.clone(),
        }
    }
}

/// A step as the journal keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalStep {
    pub(crate) run: JournalCommand,
    pub(crate) undo: JournalCommand,
}

/// A command as the journal keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalCommand {
    argv: Vec<String>,
    root: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stdin: Vec<u8>,
}

impl From<&Command> for JournalCommand {
    fn from(command: &Command) -> Self {
        Self {
            argv: command.argv.clone(),
            root: command.privilege == Privilege::Root,
            stdin: command.stdin.clone(),
        }
    }
}

impl From<&JournalCommand> for Command {
    fn from(written: &JournalCommand) -> Self {
        let command = Self::new(&written.argv).with_stdin(written.stdin.clone());
        if written.root {
            command.as_root()
        } else {
            command
        }
    }
}

/// The value of one knob in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) host: HostName,
    pub(crate) target: Target,
    pub(crate) knob: KnobId,
    pub(crate) value: Value,
}

impl Entry {
    pub(crate) fn place(&self) -> Place {
        Place {
            host: self.host.clone(),
            target: self.target.clone(),
            knob: self.knob.clone(),
        }
    }
}

/// One knob of one part of a host.
pub(crate) type Spot = (Target, &'static Knob);

/// Reads several knobs of a host in one batch.
///
/// # Errors
/// When the commands cannot be run; a knob that the host does not have is a refusal of its own.
pub(crate) fn read_states(
    host: &Host,
    places: &[Spot],
) -> Result<Vec<Result<State, Refusal>>, Error> {
    let plans: Vec<_> = places
        .iter()
        .map(|(target, knob)| knob.read(target))
        .collect();
    let mut commands: Vec<Command> = Vec::new();
    for command in plans.iter().flatten().flatten() {
        if !commands.contains(command) {
            commands.push(command.clone());
        }
    }
    let outputs = host.exec.run(&commands)?;
    let output_of = |command: &Command| {
        let at = commands.iter().position(|other| other == command)?;
        outputs.get(at).cloned()
    };
    let states = places.iter().zip(plans).map(|((target, knob), plan)| {
        let own: Vec<_> = plan?.iter().filter_map(output_of).collect();
        knob.parse(target, &own)
    });
    Ok(states.collect())
}

/// The settings as they are now: the values of `settings` are not looked at, those of a workload
/// are passed through.
///
/// # Errors
/// When a host is unknown or cannot be reached, or has no such knob.
pub fn read_back(hosts: &[Host], settings: &[Setting]) -> Result<Vec<Setting>, Error> {
    let mut found = settings.to_vec();
    for host in hosts {
        let own = found.iter_mut().filter_map(|setting| match setting {
            Setting::Knob {
                host: name,
                target,
                id,
                value,
            } if *name == host.name => Some((target.clone(), id.clone(), value)),
            _ => None,
        });
        let own: Vec<_> = own.collect();
        let places = own
            .iter()
            .map(|(target, id, _)| Ok((target.clone(), find(host, id)?)));
        let places: Vec<Spot> = places.collect::<Result<_, Error>>()?;
        let states = read_states(host, &places)?;
        for (((target, _, value), state), (_, knob)) in own.into_iter().zip(states).zip(&places) {
            *value = state
                .map_err(|refusal| refused(host, &target, knob, None, refusal))?
                .value;
        }
    }
    let unknown = settings.iter().find_map(|setting| match setting {
        Setting::Knob { host, .. } if hosts.iter().all(|known| known.name != *host) => Some(host),
        _ => None,
    });
    match unknown {
        Some(name) => Err(Error::UnknownHost { name: name.clone() }),
        None => Ok(found),
    }
}

fn find(host: &Host, id: &KnobId) -> Result<&'static Knob, Error> {
    knob::find(host.system, id.as_str()).ok_or_else(|| Error::UnknownKnob {
        id: id.clone(),
        system: host.system,
    })
}

fn refused(
    host: &Host,
    target: &Target,
    knob: &Knob,
    to: Option<&Value>,
    refusal: Refusal,
) -> Error {
    Error::Refused {
        place: Box::new(Place {
            host: host.name.clone(),
            target: target.clone(),
            knob: KnobId::new(knob.id),
        }),
        to: to.cloned(),
        reason: refusal.reason,
        hint: refusal.hint,
    }
}

impl Change {
    /// Reads every knob of every part of a host that `settings` touch, and works out the steps.
    /// Settings of a workload are none of our business and are passed over. Touches nothing.
    ///
    /// # Errors
    /// When a host or knob is unknown, a host cannot be reached, or a setting is refused.
    pub fn plan(hosts: &[Host], settings: &[Setting], run: &str) -> Result<Self, Error> {
        let mut change = Self {
            run: run.to_owned(),
            hosts: BTreeMap::new(),
            identities: Vec::new(),
            items: Vec::new(),
            snapshot: Vec::new(),
        };
        let mut states = BTreeMap::new();
        for (name, targets) in touched(settings) {
            let host = hosts.iter().find(|host| host.name == *name);
            let host = host.ok_or_else(|| Error::UnknownHost { name: name.clone() })?;
            change.take_snapshot(host, &targets, &mut states)?;
        }
        let mut seen = BTreeSet::new();
        for setting in settings {
            let Setting::Knob {
                host,
                target,
                id,
                value,
            } = setting
            else {
                continue;
            };
            if !seen.insert((host, target, id)) {
                return Err(Error::SetTwice {
                    id: id.clone(),
                    target: target.clone(),
                });
            }
            let Some(host) = change.hosts.get(host) else {
                continue;
            };
            let knob = find(host, id)?;
            let state = match states.remove(&(host.name.clone(), target.clone(), knob.id)) {
                Some(state) => state,
                // Not among the target's knobs: `read` knows why.
                None => knob.read(target).and_then(|_| Err(Refusal::none_such())),
            };
            let planned = state.and_then(|state| {
                let steps = knob.plan(target, &state, value)?;
                check_connection(host, &steps)?;
                Ok((state.value, steps))
            });
            let (before, steps) =
                planned.map_err(|refusal| refused(host, target, knob, Some(value), refusal))?;
            let steps = steps.iter().map(|step| JournalStep {
                run: (&step.run).into(),
                undo: (&step.undo).into(),
            });
            change.items.push(Item {
                host: host.name.clone(),
                target: target.clone(),
                knob: id.clone(),
                before,
                after: value.clone(),
                steps: steps.collect(),
            });
        }
        Ok(change)
    }

    fn take_snapshot(
        &mut self,
        host: &Host,
        targets: &BTreeSet<&Target>,
        states: &mut BTreeMap<(HostName, Target, &'static str), Result<State, Refusal>>,
    ) -> Result<(), Error> {
        let identity = host.identity()?;
        self.identities.push(HostIdentity {
            name: host.name.clone(),
            system: host.system,
            machine_id: identity.machine_id,
            boot_id: identity.boot_id,
        });
        let of_target = |target: &&Target| {
            let target = (*target).clone();
            knob::of_target(host.system, &target)
                .map(|knob| (target.clone(), knob))
                .collect::<Vec<Spot>>()
        };
        let places: Vec<Spot> = targets.iter().flat_map(of_target).collect();
        for ((target, knob), state) in places.iter().zip(read_states(host, &places)?) {
            // What cannot be read cannot be put back, and matters only when it is to be set.
            if let Ok(state) = &state {
                self.snapshot.push(Entry {
                    host: host.name.clone(),
                    target: target.clone(),
                    knob: KnobId::new(knob.id),
                    value: state.value.clone(),
                });
            }
            states.insert((host.name.clone(), target.clone(), knob.id), state);
        }
        self.hosts.insert(host.name.clone(), host.clone());
        Ok(())
    }

    /// The settings with their values before and after.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether everything is already as it is to be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.iter().all(|item| item.steps.is_empty())
    }

    /// The very commands that would run, in order, with their hosts.
    #[must_use]
    pub fn commands(&self) -> Vec<(HostName, Command)> {
        let steps = self.items.iter().flat_map(|item| {
            item.steps
                .iter()
                .map(|step| (item.host.clone(), Command::from(&step.run)))
        });
        steps.collect()
    }
}

/// Whoever cuts the connection cannot take the change back over it.
fn check_connection(host: &Host, steps: &[Step]) -> Result<(), Refusal> {
    let resets = |step: &Step| step.disturbs == Disturbance::LinkReset;
    if host.exec.can_be_cut() && steps.iter().any(resets) {
        return Err(Refusal::could_cut_the_connection());
    }
    Ok(())
}

fn touched(settings: &[Setting]) -> BTreeMap<&HostName, BTreeSet<&Target>> {
    let mut touched: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for setting in settings {
        if let Setting::Knob { host, target, .. } = setting {
            touched.entry(host).or_default().insert(target);
        }
    }
    touched
}

/// A change that stands in the journal. It can be applied and reverted any number of times. Dropped
/// without [`OpenChange::keep`], it is taken back as far as that is possible.
#[derive(Debug)]
pub struct OpenChange {
    journal: Journal,
    opened: Opened,
    hosts: BTreeMap<HostName, Host>,
    /// The snapshot as it was with the change, once it was applied.
    after: Option<Vec<Entry>>,
    settled: bool,
}

impl OpenChange {
    pub(crate) fn new(journal: Journal, opened: Opened, hosts: BTreeMap<HostName, Host>) -> Self {
        Self {
            journal,
            opened,
            hosts,
            after: None,
            settled: false,
        }
    }

    /// Its id, for `linerate undo ID`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.opened.id
    }

    /// The settings with their values before and after.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.opened.items
    }

    /// Makes the change, reading back after every write. What is already made is left alone. When
    /// anything fails, all of it is taken back.
    ///
    /// # Errors
    /// When a setting is neither as before nor as after, a command fails, or a value does not take.
    /// [`Error::Apply`] says whether everything is as before.
    pub fn apply(&mut self) -> Result<(), Error> {
        match self.try_apply() {
            Ok(()) => Ok(()),
            Err(source) => {
                let reports = self.restore();
                Err(Error::Apply {
                    change: self.opened.id.clone(),
                    source: Box::new(source),
                    restored: reports.iter().all(|report| report.outcome.is_settled()),
                })
            }
        }
    }

    fn try_apply(&mut self) -> Result<(), Error> {
        let found = self.read_items()?;
        let items = self.opened.items.iter().zip(&found);
        if let Some((item, value)) = items
            .clone()
            .find(|(item, value)| **value != item.before && **value != item.after)
        {
            return Err(Error::Foreign {
                place: Box::new(item.place()),
                found: value.clone(),
                before: item.before.clone(),
                after: item.after.clone(),
            });
        }
        for (item, _) in items.filter(|(item, value)| **value != item.after) {
            self.make(item)?;
        }
        // A later setting may have taken an earlier one with it.
        for (item, value) in self.opened.items.iter().zip(self.read_items()?) {
            if value != item.after {
                return Err(not_taken(item, value, String::new()));
            }
        }
        self.note_after()
    }

    fn make(&self, item: &Item) -> Result<(), Error> {
        let host = self.host(&item.host)?;
        let mut said = String::new();
        for step in &item.steps {
            let output = exec::run_one(host.exec.as_ref(), &Command::from(&step.run))?;
            said.push_str(String::from_utf8_lossy(&output.stderr).trim());
        }
        let place = (item.target.clone(), find(host, &item.knob)?);
        let state = read_states(host, std::slice::from_ref(&place))?
            .into_iter()
            .next();
        let state = state.unwrap_or_else(|| Err(Refusal::none_such()));
        let state = state.map_err(|refusal| refused(host, &item.target, place.1, None, refusal))?;
        if state.value == item.after {
            Ok(())
        } else {
            Err(not_taken(item, state.value, said))
        }
    }

    fn read_items(&self) -> Result<Vec<Value>, Error> {
        let hosts: Vec<Host> = self.hosts.values().cloned().collect();
        let settings: Vec<Setting> = self.opened.items.iter().map(as_setting).collect();
        let found = read_back(&hosts, &settings)?.into_iter();
        Ok(found
            .map(|setting| match setting {
                Setting::Knob { value, .. } | Setting::Workload { value, .. } => value,
            })
            .collect())
    }

    /// Remembers the snapshot with the change, so that undo can tell our doing from others'.
    fn note_after(&mut self) -> Result<(), Error> {
        let after = read_snapshot(&self.hosts, &self.opened.snapshot)?;
        if self.after.as_ref() != Some(&after) {
            self.journal.mark(
                &self.opened.id,
                Mark::Applied {
                    snapshot: after.clone(),
                },
            );
            self.after = Some(after);
        }
        Ok(())
    }

    fn host(&self, name: &HostName) -> Result<&Host, Error> {
        self.hosts
            .get(name)
            .ok_or_else(|| Error::UnknownHost { name: name.clone() })
    }

    fn restore(&self) -> Vec<Report> {
        let restore = Restore {
            opened: &self.opened,
            after: self.after.as_deref(),
            foreign: Foreign::Leave,
            hosts: &self.hosts,
            restarted: &[],
        };
        restore.run()
    }

    /// Takes the change back; it can be applied again.
    ///
    /// # Errors
    /// When something is not as before in the end.
    pub fn revert(&mut self) -> Result<(), Error> {
        let reports = self.restore();
        let left: Vec<String> = reports
            .iter()
            .filter(|report| !report.outcome.is_settled())
            .map(ToString::to_string)
            .collect();
        if left.is_empty() {
            return Ok(());
        }
        Err(Error::NotRestored {
            change: self.opened.id.clone(),
            left,
        })
    }

    /// Leaves the change as it is; it stays open in the journal until it is undone. Gives its id.
    pub fn keep(mut self) -> String {
        self.settled = true;
        self.journal.mark(&self.opened.id, Mark::Kept);
        self.opened.id.clone()
    }

    /// Takes the change back where it is made, and ends it.
    ///
    /// # Errors
    /// When something is not as before in the end; then it stays open.
    pub fn close(mut self) -> Result<(), Error> {
        // Whatever comes of it, once is enough: what is left is for `linerate undo`.
        self.settled = true;
        self.revert()?;
        self.journal.close(&self.opened.id)
    }
}

impl Drop for OpenChange {
    fn drop(&mut self) {
        if !self.settled && self.revert().is_ok() {
            // What cannot be closed stays open, and undo will find nothing to do.
            self.journal.close(&self.opened.id).ok();
        }
    }
}

fn as_setting(item: &Item) -> Setting {
    Setting::Knob {
        host: item.host.clone(),
        target: item.target.clone(),
        id: item.knob.clone(),
        value: item.after.clone(),
    }
}

fn not_taken(item: &Item, found: Value, said: String) -> Error {
    Error::NotTaken {
        place: Box::new(item.place()),
        wanted: item.after.clone(),
        found,
        said,
    }
}

/// The entries of a snapshot with their values of now; what cannot be read any more is left out.
fn read_snapshot(
    hosts: &BTreeMap<HostName, Host>,
    snapshot: &[Entry],
) -> Result<Vec<Entry>, Error> {
    let mut now = Vec::new();
    for host in hosts.values() {
        let own = snapshot.iter().filter(|entry| entry.host == host.name);
        let own: Vec<(&Entry, Spot)> = own
            .filter_map(|entry| {
                let knob = knob::find(host.system, entry.knob.as_str())?;
                Some((entry, (entry.target.clone(), knob)))
            })
            .collect();
        let places: Vec<Spot> = own.iter().map(|(_, place)| place.clone()).collect();
        for ((entry, _), state) in own.iter().zip(read_states(host, &places)?) {
            if let Ok(state) = state {
                now.push(Entry {
                    value: state.value,
                    ..(*entry).clone()
                });
            }
        }
    }
    Ok(now)
}
