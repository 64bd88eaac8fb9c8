//! Knobs that are a word in `/proc/sys` or in a file of `/sys`.

use std::collections::BTreeMap;

use locale::say;
use record::Value;

use super::journal_validation::is_assignment;
use super::safe_argument::{is_text, is_word};
use super::{
    Allowed, Disturbance, KNOBS, Kind, Knob, KnobBackend, Refusal, Seen, State, TargetKind, answer,
    command, is_sizes, qdisc_and_affinity, sensible, words,
};
use crate::exec::{Command, Output};

const AVAILABLE: &str = "net.ipv4.tcp_available_congestion_control";
const ALLOWED: &str = "net.ipv4.tcp_allowed_congestion_control";
/// A key that only the first network namespace has.
const FIRST_NAMESPACE_ONLY: &str = "net.core.netdev_max_backlog";
/// One of `net.core` that every namespace has.
const IN_EVERY_NAMESPACE: &str = "net.core.somaxconn";
/// Keys of Linux that are read along with the knobs'.
const ALSO_READ: [&str; 2] = [AVAILABLE, ALLOWED];

/// One word of `sysctl`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sysctl {
    key: &'static str,
    form: Form,
}

/// What the word is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// 0 or 1.
    Switch,
    /// A whole number between two others.
    Number(i64, i64),
    /// Three sizes.
    Sizes,
    /// The name of a congestion control.
    Congestion,
    /// The name of a queueing discipline.
    Discipline,
}

pub(super) const fn sysctl(key: &'static str, form: Form) -> Knob {
    let values = match form {
        Form::Switch => "on, off",
        _ => "",
    };
    Knob {
        values,
        disturbs: Disturbance::NewConnections,
        ..Knob::linux(TargetKind::Host, Kind::Sysctl(Sysctl { key, form }))
    }
}

impl Sysctl {
    pub(super) const fn key(&self) -> &'static str {
        self.key
    }

    fn allowed(&self, values: &BTreeMap<&str, String>, now: &str) -> Allowed {
        match self.form {
            Form::Switch => Allowed::Switch,
            Form::Number(min, max) => sensible(min, max),
            Form::Sizes => Allowed::Sizes,
            Form::Discipline => {
                let mut known = vec!["pfifo_fast", "fq", "fq_codel", "cake", "sfq"];
                if !known.contains(&now) {
                    known.push(now);
                }
                words(&known)
            }
            Form::Congestion => {
                // Other namespaces than the first may only use what is open to everybody.
                let is_first = values.contains_key(FIRST_NAMESPACE_ONLY);
                let list = values.get(if is_first { AVAILABLE } else { ALLOWED });
                let list = list.map(String::as_str).unwrap_or_default();
                let mut usable: Vec<&str> = list
                    .split_whitespace()
                    .filter(|word| !word.starts_with('-'))
                    .collect();
                if !usable.contains(&now) {
                    usable.push(now);
                }
                words(&usable)
            }
        }
    }
}

impl KnobBackend for Sysctl {
    /// One command for all keys.
    fn read(&self, _: &str) -> Vec<Command> {
        let mut command = command(&["sysctl", "-e"]);
        let keys = KNOBS.iter().filter_map(|knob| match &knob.kind {
            Kind::Sysctl(other) => Some(other.key),
            _ => None,
        });
        let keys = keys.chain(ALSO_READ);
        command.argv.extend(keys.map(str::to_owned));
        vec![command]
    }

    fn parse(&self, _: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let output = outputs.first();
        let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let said = said.unwrap_or_default();
        let values = values(&said);
        // A kernel that lacks one of the keys may make the command fail, and prints the others.
        if values.is_empty() {
            answer(output, "procps")?;
        }
        let now = values.get(self.key).filter(|value| !value.is_empty());
        let missing = || Refusal::new(say("error-linux.no-key").with("key", self.key));
        let now = now.ok_or_else(missing)?;
        let unreadable = || Refusal::unreadable("sysctl");
        let value = match self.form {
            Form::Switch => Value::Switch(match now.as_str() {
                "0" => false,
                "1" => true,
                _ => return Err(unreadable()),
            }),
            Form::Number(..) => Value::Integer(now.parse().ok().ok_or_else(unreadable)?),
            Form::Sizes if !is_sizes(now) => return Err(unreadable()),
            Form::Sizes | Form::Congestion | Form::Discipline => Value::Text(now.clone()),
        };
        let is_elsewhere = self.key.starts_with("net.core.")
            && self.key != IN_EVERY_NAMESPACE
            && !values.contains_key(FIRST_NAMESPACE_ONLY);
        let because = is_elsewhere.then_some(say("knob-fixed.namespace"));
        Ok(State::new(value, self.allowed(&values, now)).fixed_if(because))
    }

    fn print_value(&self, _: &str) -> Option<Command> {
        Some(command(&["sysctl", "-n", self.key]))
    }

    fn could_be(&self, value: &Value) -> bool {
        match self.form {
            Form::Switch => matches!(value, Value::Switch(_)),
            Form::Number(..) => matches!(value, Value::Integer(_)),
            Form::Sizes => is_text(value, is_sizes),
            Form::Congestion | Form::Discipline => is_text(value, is_word),
        }
    }

    fn wrote(&self, _: &str, argv: &[&str]) -> bool {
        matches!(argv, ["sysctl", "-w", assignment] if is_assignment(assignment, self.key))
    }

    fn set(&self, _: &str, _: &State, to: &Value) -> Result<Command, Refusal> {
        let to = match to {
            Value::Switch(on) => u8::from(*on).to_string(),
            other => other.to_string(),
        };
        let assignment = format!("{}={to}", self.key);
        Ok(command(&["sysctl", "-w", &assignment]))
    }
}

/// Rows of `key = value`, with one blank between the words of a value.
fn values(said: &str) -> BTreeMap<&str, String> {
    let rows = said.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value: Vec<&str> = value.split_whitespace().collect();
        Some((key.trim(), value.join(" ")))
    });
    rows.collect()
}

/// One word in a file of `/sys`.
#[derive(Clone, Copy, Debug)]
pub(super) enum File {
    /// Whether the kernel may put the device to sleep.
    RuntimePower,
    /// How the processors' clock is governed.
    Governor,
    /// Whether the processor leans to speed or to saving power.
    EnergyPreference,
}

pub(super) const fn file(file: File) -> Knob {
    let on = match file {
        File::Governor | File::EnergyPreference => TargetKind::Host,
        File::RuntimePower => TargetKind::Nic,
    };
    Knob::linux(on, Kind::File(file))
}

impl File {
    fn path(self, nic: &str) -> String {
        match self {
            Self::RuntimePower => format!("/sys/class/net/{nic}/device/power/control"),
            Self::Governor | Self::EnergyPreference => self.of_processor(0),
        }
    }

    fn of_processor(self, processor: u32) -> String {
        let name = match self {
            Self::EnergyPreference => "energy_performance_preference",
            _ => "scaling_governor",
        };
        format!("/sys/devices/system/cpu/cpu{processor}/cpufreq/{name}")
    }
}

impl KnobBackend for File {
    fn read(&self, name: &str) -> Vec<Command> {
        let cat = |path: &str| command(&["cat", path]);
        let mut commands = vec![cat(&self.path(name))];
        let choices = match self {
            Self::RuntimePower => None,
            Self::Governor => Some("scaling_available_governors"),
            Self::EnergyPreference => Some("energy_performance_available_preferences"),
        };
        if let Some(choices) = choices {
            commands.push(cat(&format!(
                "/sys/devices/system/cpu/cpu0/cpufreq/{choices}"
            )));
            commands.push(cat("/sys/devices/system/cpu/online"));
        }
        commands
    }

    fn parse(&self, _: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let absent = match self {
            Self::RuntimePower => "error-linux.no-device",
            Self::Governor => "error-linux.no-governor",
            Self::EnergyPreference => "error-linux.no-preference",
        };
        let word = |index: usize| -> Result<String, Refusal> {
            let said = outputs.get(index).and_then(Output::text);
            // Where it was read before, the interface is gone.
            let missing = || Refusal {
                target_is_missing: matches!(self, Self::RuntimePower),
                ..Refusal::new(say(absent))
            };
            let said = said.ok_or_else(missing)?;
            Ok(said.trim().to_owned())
        };
        let now = word(0)?;
        match self {
            Self::RuntimePower => {
                let allowed = words(&["on", "auto"]);
                Ok(State::new(Value::Text(now), allowed))
            }
            Self::Governor | Self::EnergyPreference => {
                let all = word(1)?;
                let mut governors: Vec<&str> = all.split_whitespace().collect();
                if !governors.contains(&now.as_str()) {
                    governors.push(&now);
                }
                let allowed = words(&governors);
                let online = qdisc_and_affinity::processors(&word(2)?)
                    .ok_or_else(|| Refusal::unreadable("cat"))?;
                Ok(State::new(Value::Text(now), allowed).seen(Seen::Processors(online)))
            }
        }
    }

    fn could_be(&self, value: &Value) -> bool {
        is_text(value, is_word)
    }

    fn wrote(&self, name: &str, argv: &[&str]) -> bool {
        let is_own = |path: &&str| match self {
            Self::RuntimePower => **path == self.path(name),
            Self::Governor | Self::EnergyPreference => {
                let number = path
                    .strip_prefix("/sys/devices/system/cpu/cpu")
                    .and_then(|rest| rest.split('/').next()?.parse().ok());
                number.is_some_and(|number| **path == self.of_processor(number))
            }
        };
        matches!(argv, ["tee", paths @ ..] if paths.iter().all(is_own))
    }

    fn set(&self, name: &str, state: &State, to: &Value) -> Result<Command, Refusal> {
        let mut command = command(&["tee"]).with_stdin(format!("{to}\n"));
        match &state.seen {
            Seen::Processors(online) => {
                let paths = online.iter().map(|&processor| self.of_processor(processor));
                command.argv.extend(paths);
            }
            _ => command.argv.push(self.path(name)),
        }
        Ok(command)
    }
}
