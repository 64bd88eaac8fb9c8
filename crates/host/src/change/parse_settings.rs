//! Settings as people type them, and what keeps them over a restart.

use record::{KnobId, Setting, Target, Value};

use super::read_knobs::{Spot, find, host_named, read_states, refused};
use crate::knob;
use crate::{Error, Host};

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
