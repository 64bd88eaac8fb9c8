//! A change of some settings on some hosts, planned: how they are, and what is to be done.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use record::{HostName, KnobId, Setting, System, Target, Value};
use serde::{Deserialize, Serialize};

use crate::exec::Command;
use crate::knob::{self, Knob, Refusal, Remembered, State, Step};
use crate::lease;
use crate::{Error, Host, Place};

pub use crate::open::OpenChange;

/// A change that was thought through and not yet begun: nothing has been touched.
#[derive(Debug)]
pub struct Change {
    pub(crate) run: String,
    pub(crate) hosts: BTreeMap<HostName, Host>,
    pub(crate) identities: Vec<HostIdentity>,
    pub(crate) items: Vec<Item>,
    pub(crate) snapshot: Vec<Entry>,
    pub(crate) lease: Duration,
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
    /// What its value before does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remembered: Option<Remembered>,
    /// How it is made. The journal does not hold it: what is put back later is worked out then.
    #[serde(skip)]
    pub(crate) steps: Vec<Step>,
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
pub type Spot = (Target, &'static Knob);
/// The state of a knob, or why it has none.
pub(crate) type Reading = Result<State, Refusal>;

/// Reads several knobs of a host in one batch.
///
/// # Errors
/// When the commands cannot be run; a knob that the host does not have is a refusal of its own.
pub fn read_states(host: &Host, places: &[Spot]) -> Result<Vec<Result<State, Refusal>>, Error> {
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
    for setting in settings {
        if let Setting::Knob { host, .. } = setting {
            host_named(hosts, host)?;
        }
    }
    Ok(found)
}

/// A setting as somebody typed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// The part of the host.
    pub target: Target,
    /// The knob.
    pub knob: KnobId,
    /// The value, as text.
    pub value: String,
}

/// What was typed, as settings of a host: each knob knows what its values look like.
///
/// # Errors
/// When there is no such knob, it belongs to something else, or it cannot be read.
pub fn understand(host: &Host, typed: &[Typed]) -> Result<Vec<Setting>, Error> {
    let spots = typed
        .iter()
        .map(|typed| Ok((typed.target.clone(), find(host, &typed.knob)?)));
    let spots: Vec<Spot> = spots.collect::<Result<_, Error>>()?;
    let states = read_states(host, &spots)?.into_iter();
    let settings = states
        .zip(typed.iter().zip(&spots))
        .map(|(state, (typed, (target, knob)))| {
            let state = state.map_err(|refusal| refused(host, target, knob, None, refusal))?;
            Ok(Setting::Knob {
                host: host.name.clone(),
                target: target.clone(),
                id: typed.knob.clone(),
                value: state.allowed.value_of(&typed.value),
            })
        });
    settings.collect()
}

/// What tells the systems of the hosts to set the same at their start. What survives a restart anyway
/// needs nothing.
///
/// # Errors
/// When a host or knob is unknown, or the system has no place for one of the settings.
pub fn kept(hosts: &[Host], settings: &[Setting]) -> Result<Vec<Setting>, Error> {
    let mut kept = Vec::new();
    for setting in settings {
        let Setting::Knob {
            host: name,
            target,
            id,
            value,
        } = setting
        else {
            continue;
        };
        let host = host_named(hosts, name)?;
        let knob = find(host, id)?;
        if knob.survives_reboot {
            continue;
        }
        let persistent = knob::persistent_of(knob)
            .map_err(|refusal| refused(host, target, knob, Some(value), refusal))?;
        kept.push(Setting::Knob {
            host: name.clone(),
            target: target.clone(),
            id: KnobId::new(persistent.id),
            value: match value {
                Value::Unset => Value::Unset,
                value => Value::Text(value.to_string()),
            },
        });
    }
    Ok(kept)
}

fn host_named<'a>(
    hosts: impl IntoIterator<Item = &'a Host>,
    name: &HostName,
) -> Result<&'a Host, Error> {
    hosts
        .into_iter()
        .find(|host| host.name == *name)
        .ok_or_else(|| Error::UnknownHost { name: name.clone() })
}

pub(crate) fn find(host: &Host, id: &KnobId) -> Result<&'static Knob, Error> {
    knob::find(host.system, id.as_str()).ok_or_else(|| Error::UnknownKnob {
        id: id.clone(),
        system: host.system,
    })
}

pub(crate) fn refused(
    host: &Host,
    target: &Target,
    knob: &Knob,
    to: Option<&Value>,
    refusal: Refusal,
) -> Error {
    let place = Place {
        host: host.name.clone(),
        target: target.clone(),
        knob: KnobId::new(knob.id),
    };
    refusal.at(place, to.cloned())
}

impl Change {
    /// Reads the knobs of `settings` and those that could move with them, and works out the steps.
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
            lease: lease::LENGTH_DEFAULT,
        };
        let mut states = BTreeMap::new();
        for (name, targets) in touched(settings) {
            let host = host_named(hosts, name)?;
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
                return Err(Error::DuplicateSetting {
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
                let remembered = knob.remember(&state).filter(|_| !steps.is_empty());
                Ok((state.goal(value), state.value, remembered, steps))
            });
            let (after, before, remembered, steps) =
                planned.map_err(|refusal| refused(host, target, knob, Some(value), refusal))?;
            change.items.push(Item {
                host: host.name.clone(),
                target: target.clone(),
                knob: id.clone(),
                before,
                after,
                remembered,
                steps,
            });
        }
        Ok(change)
    }

    fn take_snapshot(
        &mut self,
        host: &Host,
        targets: &Touched<'_>,
        states: &mut BTreeMap<(HostName, Target, &'static str), Result<State, Refusal>>,
    ) -> Result<(), Error> {
        let identity = host.identity()?;
        self.identities.push(HostIdentity {
            name: host.name.clone(),
            system: host.system,
            machine_id: identity.machine_id,
            boot_id: identity.boot_id,
        });
        let of_target = |(target, ids): (&&Target, &BTreeSet<&KnobId>)| {
            let target = (*target).clone();
            let own = |knob: &&Knob| {
                knob.moves_with_others() || ids.iter().any(|id| id.as_str() == knob.id)
            };
            knob::of_target(host.system, &target)
                .chain(knob::persistent_of_target(host.system, &target))
                .filter(own)
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

    /// The same, where hosts that are reached over a connection put themselves back when they hear
    /// nothing for so long, within [`lease::LENGTH`]; otherwise for [`lease::LENGTH_DEFAULT`].
    #[must_use]
    pub fn with_lease(mut self, length: Duration) -> Self {
        self.lease = length.clamp(*lease::LENGTH.start(), *lease::LENGTH.end());
        self
    }

    /// The hosts that are made to put themselves back if they are lost.
    pub fn leased_hosts(&self) -> impl Iterator<Item = &HostName> {
        self.hosts
            .values()
            .filter(|host| host.exec.can_be_cut())
            .map(|host| &host.name)
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
                .map(|step| (item.host.clone(), step.run.clone()))
        });
        steps.collect()
    }
}

/// The parts of a host that settings touch, with their knobs.
type Touched<'a> = BTreeMap<&'a Target, BTreeSet<&'a KnobId>>;

fn touched(settings: &[Setting]) -> BTreeMap<&HostName, Touched<'_>> {
    let mut touched: BTreeMap<_, Touched<'_>> = BTreeMap::new();
    for setting in settings {
        if let Setting::Knob {
            host, target, id, ..
        } = setting
        {
            let of_host = touched.entry(host).or_default();
            of_host.entry(target).or_default().insert(id);
        }
    }
    touched
}
