//! Knobs of macOS, by its own tools. What they cannot change is said so, and nothing else is tried.

mod catalogue;
mod nsmb;
mod smb_session;

use locale::say;
use record::{System, Value};

use super::allowed_values::written;
use super::journal_validation::is_assignment;
use super::safe_argument::{is_count, is_text, is_word};
use super::{
    Allowed, Disturbance, Kind, Knob, KnobBackend, Refusal, State, TargetKind, answer, command,
    range, sensible, words,
};
use crate::exec::{Command, Output};
use crate::tool_output::macos::{self, Interface};

pub(super) use catalogue::KNOBS;
pub(crate) use smb_session::{mounts_in, show_mounts};

/// Where the built-in server keeps its settings.
const SERVER: &str = "/Library/Preferences/SystemConfiguration/com.apple.smb.server";
/// Between the names of services that are in an order.
const BEFORE: &str = " > ";

/// What macOS knows. Reasons are ids of sentences.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mac {
    /// A word of `sysctl`.
    Sysctl(&'static str, Form),
    /// A line of `/etc/nsmb.conf`; a protection is looked at only.
    Nsmb(&'static str, Form, Option<&'static str>),
    /// The MTU, by `networksetup`.
    Mtu,
    /// A capability of `ifconfig`, by the options that show it and the word that sets it.
    Capability(&'static [&'static str], &'static str),
    /// The speed of the link.
    Speed,
    /// The medium, by `networksetup`.
    Medium,
    /// An option of the medium.
    MediumOption(&'static str),
    /// The order of the network services.
    Order,
    /// How power is spent while the mains supply it.
    Power,
    /// A setting of the built-in server.
    Server(&'static str, &'static str),
    /// Something of a mounted share's session.
    Session(smb_session::Session),
    /// Something that kernels which are released always do, with the `sysctl` of the others.
    Always(&'static str),
    /// Something for which macOS has no command.
    Nothing(&'static str),
}

/// What a word is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// 0 or 1, `no` or `yes`.
    Switch,
    /// A whole number between two others.
    Number(i64, i64),
    /// One of these words, by its number.
    Choice(&'static [&'static str]),
}

const fn mac(on: TargetKind, backend: Mac) -> Knob {
    let survives = !matches!(backend, Mac::Sysctl(..) | Mac::Capability(..));
    let disturbs = match backend {
        Mac::Mtu | Mac::Medium | Mac::Order => Disturbance::LinkReset,
        Mac::Sysctl(..) | Mac::Nsmb(..) => Disturbance::NewConnections,
        _ => Disturbance::Nothing,
    };
    let values = match backend {
        Mac::Nsmb(_, _, Some(_))
        | Mac::Speed
        | Mac::MediumOption(_)
        | Mac::Server(..)
        | Mac::Session(_)
        | Mac::Always(_)
        | Mac::Nothing(_) => "only looked at",
        Mac::Sysctl(_, Form::Switch) | Mac::Capability(..) => "on, off",
        Mac::Nsmb(_, Form::Switch, None) => "on, off, unset",
        _ => "",
    };
    Knob {
        survives_reboot: survives,
        disturbs,
        values,
        ..Knob::of(System::Macos, on, Kind::Mac(backend))
    }
}

const fn sysctl(key: &'static str, form: Form) -> Knob {
    mac(TargetKind::Host, Mac::Sysctl(key, form))
}

const fn nsmb(key: &'static str, form: Form) -> Knob {
    mac(TargetKind::Host, Mac::Nsmb(key, form, None))
}

const fn nsmb_fixed(key: &'static str, form: Form, because: &'static str) -> Knob {
    mac(TargetKind::Host, Mac::Nsmb(key, form, Some(because)))
}

impl Form {
    fn value(self, said: &str) -> Option<Value> {
        Some(match self {
            Self::Switch => Value::Switch(match said.to_ascii_lowercase().as_str() {
                "1" | "yes" | "true" => true,
                "0" | "no" | "false" => false,
                _ => return None,
            }),
            Self::Number(..) => Value::Integer(said.parse().ok()?),
            Self::Choice(words) => Value::Text((*words.get(said.parse::<usize>().ok()?)?).into()),
        })
    }

    fn allowed(self) -> Allowed {
        match self {
            Self::Switch => Allowed::Switch,
            Self::Number(min, max) => sensible(min, max),
            Self::Choice(choices) => words(choices),
        }
    }

    fn could_be(self, value: &Value) -> bool {
        match self {
            Self::Switch => matches!(value, Value::Switch(_)),
            Self::Number(..) => matches!(value, Value::Integer(_)),
            Self::Choice(words) => is_text(value, |text| words.contains(&text)),
        }
    }

    /// The word for `sysctl`.
    fn word(self, value: &Value) -> String {
        match (self, value) {
            (_, Value::Switch(on)) => u8::from(*on).to_string(),
            (Self::Choice(words), Value::Text(text)) => {
                let at = words.iter().position(|word| word == text);
                at.map_or_else(String::new, |at| at.to_string())
            }
            (_, other) => other.to_string(),
        }
    }
}

impl Mac {
    /// What stands behind `sysctl -w` for a value as it was typed; nothing for what is none.
    pub(super) fn assignment(self, typed: &str) -> Option<String> {
        let Self::Sysctl(key, form) = self else {
            return None;
        };
        let value = form.allowed().value_of(typed);
        Some(format!("{key}={}", form.word(&value)))
    }

    /// The arguments of `ifconfig` for a value as it was typed.
    pub(super) fn capability(self, typed: &str) -> Option<String> {
        let Self::Capability(_, word) = self else {
            return None;
        };
        Some(if typed == "on" {
            word.into()
        } else {
            format!("-{word}")
        })
    }
}

impl KnobBackend for Mac {
    fn read(&self, name: &str) -> Vec<Command> {
        let ifconfig = || vec![command(&["ifconfig", "-m", name])];
        let setup = |what: &str| command(&["networksetup", what, name]);
        match self {
            Self::Sysctl(key, _) | Self::Always(key) => vec![command(&["sysctl", "-n", key])],
            Self::Nsmb(..) => nsmb::read(),
            Self::Mtu => vec![setup("-getMTU"), setup("-listValidMTURange")],
            Self::Capability(..) | Self::Speed | Self::MediumOption(_) => ifconfig(),
            Self::Medium => vec![setup("-getMedia"), setup("-listValidMedia")],
            Self::Order => vec![command(&["networksetup", "-listnetworkserviceorder"])],
            Self::Power => vec![command(&["pmset", "-g", "custom"])],
            Self::Server(..) => vec![command(&["defaults", "read", SERVER])],
            Self::Session(backend) => backend.read(name),
            Self::Nothing(_) => Vec::new(),
        }
    }

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let said = || answer(outputs.first(), "macOS");
        match self {
            Self::Sysctl(key, form) => {
                let missing = || Refusal::new(say("error-macos.no-key").with("key", *key));
                let said = outputs.first().and_then(Output::text).ok_or_else(missing)?;
                let value = form.value(said.trim());
                let value = value.ok_or_else(|| Refusal::unreadable("sysctl"))?;
                Ok(State::new(value, form.allowed()))
            }
            Self::Always(_) => Ok(State::new(Value::Switch(true), Allowed::Switch)
                .fixed_if(Some(say("knob-fixed.released")))),
            Self::Nsmb(key, form, fixed) => nsmb::parse(key, *form, *fixed, outputs),
            Self::Mtu => parse_mtu(&said()?, &answer(outputs.get(1), "macOS")?),
            Self::Capability(options, _) => parse_capability(&interface(name, outputs)?, options),
            Self::Speed => parse_speed(&interface(name, outputs)?),
            Self::MediumOption(option) => parse_medium_option(&interface(name, outputs)?, option),
            Self::Medium => parse_medium(&said()?, &answer(outputs.get(1), "macOS")?),
            Self::Order => parse_order(&said()?),
            Self::Power => parse_power(&said()?),
            Self::Server(key, because) => {
                // The file is not there until somebody sets something.
                let said = outputs.first().and_then(Output::text).unwrap_or_default();
                Ok(parse_server(&said, key).fixed_if(Some(say(because))))
            }
            Self::Session(backend) => backend.parse(outputs),
            Self::Nothing(because) => Err(Refusal::new(say(because))),
        }
    }

    fn print_value(&self, _: &str) -> Option<Command> {
        match self {
            Self::Sysctl(key, _) => Some(command(&["sysctl", "-n", key])),
            _ => None,
        }
    }

    fn could_be(&self, value: &Value) -> bool {
        match self {
            Self::Sysctl(_, form) => form.could_be(value),
            Self::Nsmb(_, form, None) => *value == Value::Unset || form.could_be(value),
            Self::Mtu | Self::Power => is_count(value),
            Self::Capability(..) => matches!(value, Value::Switch(_)),
            Self::Medium => is_text(value, |text| text.split(' ').all(is_medium)),
            // Each must be one that there is, or nothing is set.
            Self::Order => is_text(value, |text| !text.contains(char::is_control)),
            _ => false,
        }
    }

    fn wrote(&self, name: &str, argv: &[&str]) -> bool {
        match (self, argv) {
            (Self::Sysctl(key, _), ["sysctl", "-w", assignment]) => is_assignment(assignment, key),
            (Self::Nsmb(key, _, None), argv) => nsmb::wrote(key, argv),
            (Self::Mtu, ["networksetup", "-setMTU", nic, _])
            | (Self::Medium, ["networksetup", "-setMedia", nic, ..]) => *nic == name,
            (Self::Capability(_, word), ["ifconfig", nic, to]) => {
                *nic == name && to.trim_start_matches('-') == *word
            }
            (Self::Order, ["networksetup", "-ordernetworkservices", ..]) => true,
            (Self::Power, ["pmset", "-c", word, _]) => POWER.iter().any(|(own, _)| own == word),
            _ => false,
        }
    }

    fn set(&self, name: &str, state: &State, to: &Value) -> Result<Command, Refusal> {
        let text = to.to_string();
        Ok(match (self, to) {
            (Self::Sysctl(key, form), _) => {
                command(&["sysctl", "-w", &format!("{key}={}", form.word(to))])
            }
            (Self::Nsmb(key, _, None), _) => nsmb::edit(key, to),
            (Self::Mtu, _) => command(&["networksetup", "-setMTU", name, &text]),
            (Self::Capability(_, word), Value::Switch(on)) => {
                let sign = if *on { "" } else { "-" };
                command(&["ifconfig", name, &format!("{sign}{word}")])
            }
            (Self::Medium, Value::Text(medium)) => {
                let mut set = command(&["networksetup", "-setMedia", name]);
                set.argv.extend(medium.split(' ').map(str::to_owned));
                set
            }
            (Self::Order, Value::Text(order)) => {
                let names = |text: &str| {
                    let mut names: Vec<String> = text.split(BEFORE).map(str::to_owned).collect();
                    names.sort();
                    names
                };
                if names(order) != names(&state.value.to_string()) {
                    let refusal = Refusal::new(say("error-macos.order"));
                    return Err(refusal.hint(written(&state.value.to_string())));
                }
                let mut set = command(&["networksetup", "-ordernetworkservices"]);
                set.argv.extend(order.split(BEFORE).map(str::to_owned));
                set
            }
            (Self::Power, Value::Integer(mode)) => {
                let mode = mode.to_string();
                command(&["pmset", "-c", power_word(state), &mode])
            }
            _ => return Err(Refusal::none_such()),
        })
    }
}

/// What `ifconfig -m` says of an interface.
fn interface(name: &str, outputs: &[Output]) -> Result<Interface, Refusal> {
    let said = answer(outputs.first(), "macOS")?;
    let found = macos::interfaces(&said)
        .into_iter()
        .find(|nic| nic.name == name);
    found.ok_or_else(|| Refusal::no_interface(name))
}

/// `Active MTU: 1500 (Current Setting: 1500)` and `Valid MTU Range: 1280-9000`.
fn parse_mtu(said: &str, limits: &str) -> Result<State, Refusal> {
    let unreadable = || Refusal::unreadable("networksetup");
    let now = said.split_once("Active MTU: ").and_then(|(_, rest)| {
        let number = rest.split([' ', '\n']).next()?;
        number.parse::<u32>().ok()
    });
    let limits = limits
        .split_once("Valid MTU Range: ")
        .and_then(|(_, rest)| {
            let (min, max) = rest.trim().split_once('-')?;
            Some((min.parse::<u32>().ok()?, max.parse::<u32>().ok()?))
        });
    let (min, max) = limits.ok_or_else(unreadable)?;
    let allowed = range(
        (min.into(), "knob-limit.driver-least"),
        (max.into(), "knob-limit.driver-most"),
    );
    Ok(State::new(
        Value::Integer(now.ok_or_else(unreadable)?.into()),
        allowed,
    ))
}

fn parse_capability(nic: &Interface, options: &[&str]) -> Result<State, Refusal> {
    let has = |words: &[String]| words.iter().any(|word| options.contains(&word.as_str()));
    let (on, could) = (has(&nic.options), has(&nic.capabilities));
    if !on && !could {
        return Err(Refusal::new(say("error-knob.driver-unaware")));
    }
    let because = (!could).then_some(say("knob-fixed.driver"));
    Ok(State::new(Value::Switch(on), Allowed::Switch).fixed_if(because))
}

fn parse_speed(nic: &Interface) -> Result<State, Refusal> {
    let speed = nic.medium.as_deref().and_then(macos::speed);
    let speed = speed.ok_or_else(|| Refusal::new(say("error-knob.driver-silent")))?;
    let megabits = i64::try_from(speed.get() / 1_000_000).unwrap_or(i64::MAX);
    let state = State::new(Value::Integer(megabits), words(&[]));
    Ok(state.fixed_if(Some(say("knob-fixed.link-speed"))))
}

fn parse_medium_option(nic: &Interface, option: &str) -> Result<State, Refusal> {
    if nic.medium.is_none() {
        return Err(Refusal::new(say("error-macos.no-medium")));
    }
    let on = nic.medium_options.iter().any(|own| own == option);
    let state = State::new(Value::Switch(on), Allowed::Switch);
    Ok(state.fixed_if(Some(say("knob-fixed.medium"))))
}

/// `Current: autoselect`, and a medium on each line.
fn parse_medium(said: &str, choices: &str) -> Result<State, Refusal> {
    let now = said.lines().find_map(|line| line.strip_prefix("Current: "));
    let now = now.ok_or_else(|| Refusal::unreadable("networksetup"))?;
    let clean = |line: &str| {
        let letters = line.trim().chars().filter(|letter| !"<>".contains(*letter));
        letters.collect::<String>().replace(',', " ")
    };
    let now = clean(now);
    let mut choices: Vec<String> = choices
        .lines()
        .map(clean)
        .filter(|choice| !choice.is_empty() && !choice.starts_with('-'))
        .collect();
    if !choices.contains(&now) {
        choices.push(now.clone());
    }
    Ok(State::new(Value::Text(now), Allowed::Words(choices)))
}

/// `(1) Wi-Fi`, and `(*) Wi-Fi` for one that is off.
fn parse_order(said: &str) -> Result<State, Refusal> {
    let names = said.lines().filter_map(|line| {
        let (number, name) = line.strip_prefix('(')?.split_once(") ")?;
        let is_place = number == "*" || number.parse::<u32>().is_ok();
        is_place.then_some(name)
    });
    let names: Vec<&str> = names.collect();
    if names.is_empty() || names.iter().any(|name| name.contains(BEFORE)) {
        return Err(Refusal::unreadable("networksetup"));
    }
    Ok(State::new(Value::Text(names.join(BEFORE)), Allowed::AsRead))
}

/// A word of a medium: `10baseT/UTP`.
fn is_medium(word: &str) -> bool {
    word.split('/').all(is_word)
}

/// The words for power, on newer and on older machines, with their largest numbers.
const POWER: [(&str, i64); 2] = [("powermode", 2), ("lowpowermode", 1)];

/// The rows below `AC Power:`.
fn parse_power(said: &str) -> Result<State, Refusal> {
    let mains = said.split_once("AC Power:").map_or("", |(_, rest)| rest);
    let mains = mains
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with(' '));
    let rows: Vec<&str> = mains.map(str::trim).collect();
    for (word, most) in POWER {
        let row = rows.iter().find_map(|row| row.strip_prefix(word));
        if let Some(now) = row.and_then(|now| now.trim().parse().ok()) {
            let allowed = range((0, "knob-limit.the-least"), (most, "knob-limit.no-more"));
            let state = State::new(Value::Integer(now), allowed);
            let remark = Some(say("knob-remark.mains").with("word", word));
            return Ok(State { remark, ..state });
        }
    }
    Err(Refusal::new(say("error-macos.no-power")))
}

fn power_word(state: &State) -> &'static str {
    match &state.allowed {
        Allowed::Range { max, .. } if max.value == 1 => POWER[1].0,
        _ => POWER[0].0,
    }
}

/// `    SigningRequired = 1;`
fn parse_server(said: &str, key: &str) -> State {
    let value = said.lines().find_map(|line| {
        let (name, value) = line.split_once(" = ")?;
        (name.trim() == key).then(|| value.trim().trim_end_matches(';') == "1")
    });
    State::new(Value::Switch(value.unwrap_or(false)), Allowed::Switch)
}
