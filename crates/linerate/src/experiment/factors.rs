//! The factors that hosts have of a plan's, each level with the settings that it makes.

use std::iter;

use host::Host;
use host::change::{self, Change};
use host::knob::KNOBS;
use locale::{Message, say};
use record::{Factor, Failure, KnobId, Level, PlanFactor, Response, Setting, Value, chain};

use super::plan_file::{Written, usage};
use super::workload_fields;
use crate::bench::recipe_target::Target;
use crate::failure::{CommandError, Kind};
use crate::set;

/// The factors that these hosts have, and why the others are left out.
pub(super) fn factors(
    plan: &Written,
    target: &Target,
    responses: &[Response],
) -> Result<(Vec<Factor>, Vec<Message>), CommandError> {
    let mut left_out = Vec::new();
    let mut lacking = None;
    let mut factors = Vec::new();
    for (index, file) in plan.file.factors.iter().enumerate() {
        match factor(file, target, responses) {
            Ok(factor) => factors.push(factor),
            Err((place, NoFactor::Wrong(error))) => {
                return Err(plan.at(&format!("factor.{index}.{place}"), error));
            }
            Err((place, NoFactor::Lacking(error))) => {
                let failure = error.failure();
                left_out.push(lacks(&file.name, failure));
                let hint = failure.hint.as_deref();
                let hint = hint.map(|hint| failure.message(hint));
                lacking.get_or_insert((format!("factor.{index}.{place}"), hint));
            }
        }
    }
    match lacking {
        Some((place, hint)) if factors.is_empty() => {
            let text = say("error-plan.nothing-to-vary");
            let text = text.with_known("reasons", one_after_the_other(&left_out));
            let error = CommandError::new(Kind::Refused, text);
            let inspect = || say("hint-plan.inspect-hosts");
            Err(plan.at(&place, error.hint(hint.unwrap_or_else(inspect))))
        }
        _ => Ok((factors, left_out)),
    }
}

/// Which factor is lacking, and why.
fn lacks(factor: &str, failure: &Failure) -> Message {
    let whole = chain(iter::once(factor.into()).chain(failure.chain_messages()));
    whole.unwrap_or_else(|| factor.into())
}

/// Several sentences in one.
pub(super) fn one_after_the_other(messages: &[Message]) -> Option<Message> {
    let messages = messages.iter().cloned();
    messages.reduce(|first, next| {
        say("told-plan.next")
            .with("first", first)
            .with("next", next)
    })
}

/// Why there is no factor.
#[derive(Debug)]
enum NoFactor {
    /// These hosts do not have it: the rest is run without it.
    Lacking(CommandError),
    /// The plan makes no sense, or nobody knows what a host has.
    Wrong(CommandError),
}

impl From<CommandError> for NoFactor {
    fn from(error: CommandError) -> Self {
        Self::Wrong(error)
    }
}

impl From<host::Error> for NoFactor {
    fn from(error: host::Error) -> Self {
        use host::Error::{Refused, UnknownKnob};
        let of_another_system = |id: &KnobId| KNOBS.iter().any(|knob| knob.id == id.as_str());
        match &error {
            Refused {
                is_mistaken: true,
                hint,
                ..
            } => {
                let inspect = || say("hint-host.inspect");
                let wrong = CommandError::from_error(Kind::Usage, &error);
                Self::Wrong(wrong.hint(hint.clone().unwrap_or_else(inspect)))
            }
            Refused { .. } => Self::Lacking(error.into()),
            UnknownKnob { id, .. } if of_another_system(id) => Self::Lacking(error.into()),
            _ => Self::Wrong(error.into()),
        }
    }
}

/// A factor on these hosts: every level names the same settings, each with its value. Or why there is none,
/// and for what of the factor.
fn factor(
    file: &PlanFactor,
    target: &Target,
    responses: &[Response],
) -> Result<Factor, (String, NoFactor)> {
    let mut levels = Vec::new();
    for (number, level) in file.levels.iter().enumerate() {
        let place = |at| format!("level.{number}.set.{at}");
        let set = level.set.iter().enumerate();
        let set = set.map(|(at, text)| settings(text, target).map_err(|error| (place(at), error)));
        levels.push(Level {
            name: level.name.clone(),
            settings: set.collect::<Result<_, _>>()?,
        });
    }
    let hosts: Vec<Host> = target.hosts().into_iter().cloned().collect();
    let mut all: Vec<Setting> = Vec::new();
    for setting in levels.iter().flat_map(|level| &level.settings) {
        if !all.iter().any(|known| same_place(known, setting)) {
            all.push(setting.clone());
        }
    }
    let start = change::read_back(&hosts, &all);
    let start = start.map_err(|error| ("level".to_owned(), error.into()))?;
    for (number, level) in levels.iter_mut().enumerate() {
        let written = level.settings.len();
        let wrong = |reason: Message| (format!("level.{number}.set"), usage(reason).into());
        for setting in &start {
            if level
                .settings
                .iter()
                .any(|known| same_place(known, setting))
            {
                continue;
            }
            if let Setting::Workload { field, .. } = setting {
                let reason = say("error-plan.each-level-sets").with("factor", &file.name);
                return Err(wrong(reason.with("field", field)));
            }
            level.settings.push(setting.clone());
        }
        for response in responses {
            let whole = workload_fields::workload(&response.workload, level).map_err(wrong)?;
            target.takes(&whole).map_err(wrong)?;
        }
        // What is refused is known before anything is touched.
        Change::plan(&hosts, &level.settings, "plan").map_err(|error| {
            let refused = |setting| Change::plan(&hosts, std::slice::from_ref(setting), "plan");
            let mut own = level.settings.iter().take(written);
            let at = own.position(|setting| refused(setting).is_err());
            let at = at.map_or_else(String::new, |at| at.to_string());
            (format!("level.{number}.set.{at}"), error.into())
        })?;
    }
    Ok(Factor {
        name: file.name.clone(),
        levels,
    })
}

fn same_place(one: &Setting, other: &Setting) -> bool {
    let place = |setting: &Setting| match setting {
        Setting::Knob {
            host, target, id, ..
        } => (Some((host.clone(), target.clone(), id.clone())), None),
        Setting::Workload { field, .. } => (None, Some(field.clone())),
    };
    place(one) == place(other)
}

/// Reads `client:ID@NAME=VALUE`, `server:ID=VALUE` or `workload:FIELD=VALUE`.
fn settings(text: &str, target: &Target) -> Result<Setting, NoFactor> {
    let wrong = || {
        let reason = say("error-plan.sets-nothing").with("text", text);
        usage(reason).hint(say("hint-plan.write-settings"))
    };
    let (place, rest) = text.split_once(':').ok_or_else(wrong)?;
    let host = match place {
        "client" => &target.client,
        "server" => target.server.as_ref().ok_or_else(|| {
            let text = say("error-plan.needs-server").with("text", text);
            let error = CommandError::new(Kind::Refused, text);
            NoFactor::Lacking(error.hint(say("hint-plan.name-server")))
        })?,
        "workload" => {
            let (field, value) = rest.split_once('=').ok_or_else(wrong)?;
            return Ok(Setting::Workload {
                field: field.to_owned(),
                value: Value::Text(value.to_owned()),
            });
        }
        _ => return Err(wrong().into()),
    };
    let understood = change::understand(host, &[set::parse(rest)?])?;
    Ok(understood.into_iter().next().ok_or_else(wrong)?)
}

#[cfg(test)]
mod tests {
    use measure::Stop;
    use record::RecipeEngine;

    use super::*;
    use crate::args::{LoginArguments, PathArguments};
    use crate::bench::recipe_target::Wanted;

    #[test]
    fn what_a_host_lacks_is_left_out_and_what_nobody_can_mean_is_not() {
        let here = PathArguments {
            client: "local".into(),
            server: None,
            login: LoginArguments::default(),
        };
        let engine = RecipeEngine::Tcp;
        let wanted = Wanted::of("tcp://127.0.0.1", &here, engine);
        let target = Target::open(wanted, &Stop::new()).unwrap();
        let found = |set: &str| {
            let text = format!("name = 'f'\n[[level]]\nname = '1'\nset = ['{set}']");
            match factor(&toml::from_str(&text).unwrap(), &target, &[]) {
                Ok(_) => "there",
                Err((_, NoFactor::Lacking(_))) => "left out",
                Err((_, NoFactor::Wrong(error))) => {
                    assert_eq!(error.kind(), Kind::Usage, "{error}");
                    "wrong"
                }
            }
        };
        for (set, wanted) in [
            ("client:tcp.sack=on", "there"),
            ("server:tcp.sack=on", "left out"),
            ("client:power.plan=balanced", "left out"),
            ("client:nic.mtu@none9=9000", "left out"),
            ("client:nic.mtu@lo=90000", "wrong"),
            ("client:tcp.congestion_control=none9", "left out"),
            ("client:tcp.sackk=on", "wrong"),
            ("client:tcp.sack=perhaps", "wrong"),
            ("client:tcp.timestamps=3", "wrong"),
            ("client:nic.mtu=9000", "wrong"),
        ] {
            assert_eq!(found(set), wanted, "{set}");
        }
        // A host that is lost may have all of it.
        let lost = host::Error::Timeout {
            argv: Vec::new(),
            limit: std::time::Duration::ZERO,
        };
        let NoFactor::Wrong(error) = lost.into() else {
            panic!("it is not known to lack anything");
        };
        assert_eq!(error.kind(), Kind::Unreachable);
    }
}
