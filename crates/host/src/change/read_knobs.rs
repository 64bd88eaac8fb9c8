//! Reading the knobs of hosts, in batches.

use record::{HostName, KnobId, Setting, Target, Value};

use super::settings_before_and_after::Entry;
use crate::exec::Command;
use crate::knob::{self, Knob, Refusal, State};
use crate::{Error, Host, Place};

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

/// The entries of one host with their states of now; knobs that this program does not know are passed over.
pub(crate) fn read_entries<'a>(
    name: &HostName,
    host: &Host,
    snapshot: &'a [Entry],
) -> Result<Vec<(&'a Entry, Reading)>, Error> {
    let own = snapshot.iter().filter(|entry| entry.host == *name);
    let (own, places): (Vec<&Entry>, Vec<Spot>) = own
        .filter_map(|entry| {
            let knob = knob::find(host.system, entry.knob.as_str())?;
            Some((entry, (entry.target.clone(), knob)))
        })
        .unzip();
    let states = read_states(host, &places)?;
    Ok(own.into_iter().zip(states).collect())
}

pub(super) fn host_named<'a>(
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
