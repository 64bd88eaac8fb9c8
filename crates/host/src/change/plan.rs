//! A change of some settings on some hosts, planned: how they are, and what is to be done.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use record::{HostName, KnobId, Setting, Target};

use super::lease;
use super::read_knobs::{Spot, find, host_named, read_states, refused};
use super::settings_before_and_after::{Entry, HostIdentity, Item};
use crate::exec::Command;
use crate::knob::{self, Knob, Refusal, State};
use crate::{Error, Host};

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
