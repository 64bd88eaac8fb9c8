//! Profiles as they are written.

use std::fmt;
use std::time::Duration;

use locale::say;
use record::toml_mistake::wrong_with;
use record::{BitsPerSecond, Mistake};
use serde::Deserialize;

use super::{Profile, Protections, Role, Rule, RuleValue, When};
use crate::Error;
use crate::knob::KNOBS;

/// Most rules of a profile.
const RULES_MAX: usize = 500;
/// Words in the ids of knobs that protect something: what is on the way, who comes in, or what is
/// written.
const PROTECTIONS: [&str; 10] = [
    "sign",
    "encrypt",
    "seal",
    "dialect",
    "strict_sync",
    "sync_always",
    "guest",
    "firewall",
    "protocol",
    "client.cache",
];
const RATES: [(&str, u64); 3] = [
    ("Gbit/s", 1_000_000_000),
    ("Mbit/s", 1_000_000),
    ("kbit/s", 1_000),
];
/// In nanoseconds.
const TIMES: [(&str, u64); 4] = [
    ("µs", 1_000),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    meaning: String,
    #[serde(default, rename = "rule")]
    rules: Vec<RawRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    knob: String,
    set: Option<Typed>,
    at_least: Option<Typed>,
    at_most: Option<Typed>,
    #[serde(default)]
    when: RawWhen,
    why: String,
    source: Option<String>,
}

/// Values are written as TOML has them, or as one would type them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Typed {
    Switch(bool),
    Number(i64),
    Text(String),
}

impl fmt::Display for Typed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(true) => formatter.write_str("on"),
            Self::Switch(false) => formatter.write_str("off"),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWhen {
    speed_min: Option<String>,
    speed_below: Option<String>,
    round_trip_min: Option<String>,
    round_trip_below: Option<String>,
    cores_min: Option<u32>,
    cores_below: Option<u32>,
    mtu_min: Option<u32>,
    mtu_below: Option<u32>,
    #[serde(default)]
    driver: Vec<String>,
    role: Option<Role>,
}

/// Reads a profile.
///
/// # Errors
/// [`Error::Profile`] and [`Error::ProfileRule`] when it is none: unknown keys, unknown knobs, no value
/// or several, rules that contradict each other, and protections that nobody has said to be meant.
pub fn parse(name: &str, text: &str, protections: Protections) -> Result<Profile, Error> {
    let file: File = toml::from_str(text).map_err(|source| Error::Profile {
        name: name.to_owned(),
        source: wrong_with(text, &source).into(),
    })?;
    let line = |mistake: &Mistake, rule: usize| {
        let whole = mistake.clone().within(&format!("rule.{rule}"));
        whole.line_in(text)
    };
    let wrong = |mistake: &Mistake, rule: usize, knob: &str| Error::ProfileRule {
        name: name.to_owned(),
        line: line(mistake, rule),
        knob: knob.to_owned(),
        reason: mistake.message(),
    };
    if let Some(rule) = file.rules.get(RULES_MAX) {
        let reason = say("error-profile.too-many-rules").count("most", RULES_MAX);
        let mistake = Mistake::at("", reason);
        return Err(wrong(&mistake, RULES_MAX, &rule.knob));
    }
    let mut rules: Vec<Rule> = Vec::new();
    for (at, raw) in file.rules.into_iter().enumerate() {
        let knob = raw.knob.clone();
        if protections == Protections::Refused && is_protection(&knob) {
            return Err(Error::ProfileProtection {
                name: name.to_owned(),
                line: line(&Mistake::at("knob", ""), at),
                knob,
            });
        }
        let rule = rule(raw).map_err(|mistake| wrong(&mistake, at, &knob))?;
        let other = rules.iter().position(|other| contradict(other, &rule));
        if let Some(other) = other {
            let other = line(&Mistake::at("", ""), other);
            let reason = say("error-profile.contradiction").count("line", other);
            return Err(wrong(&Mistake::at("", reason), at, &knob));
        }
        rules.push(rule);
    }
    Ok(Profile {
        name: name.to_owned(),
        file: None,
        meaning: file.meaning,
        rules,
    })
}

fn is_protection(id: &str) -> bool {
    PROTECTIONS.iter().any(|word| id.contains(word))
}

fn rule(raw: RawRule) -> Result<Rule, Mistake> {
    let known = |id: &str| {
        KNOBS
            .iter()
            .any(|knob| knob.id == id && !knob.only_in_snapshots)
    };
    if !known(&raw.knob) {
        return Err(Mistake::at("knob", say("error-profile.no-knob")));
    }
    let value = match (raw.set, raw.at_least, raw.at_most) {
        (Some(value), None, None) => RuleValue::Set(value.to_string()),
        (None, Some(value), None) => RuleValue::AtLeast(value.to_string()),
        (None, None, Some(value)) => RuleValue::AtMost(value.to_string()),
        (_, at_least, at_most) => {
            let key = match (at_least, at_most) {
                (_, Some(_)) => "at_most",
                (Some(_), None) => "at_least",
                (None, None) => "",
            };
            return Err(Mistake::at(key, say("error-profile.one-value")));
        }
    };
    let when = when(raw.when).map_err(|mistake| mistake.within("when"))?;
    if raw.why.trim().is_empty() {
        return Err(Mistake::at("why", say("error-profile.no-why")));
    }
    Ok(Rule {
        knob: raw.knob,
        value,
        when,
        why: raw.why,
        source: raw.source,
    })
}

fn when(raw: RawWhen) -> Result<When, Mistake> {
    let rate = |key: &str, text: Option<String>| {
        let known = |text: String| {
            let rate = quantity(&text, &RATES).map(BitsPerSecond::new);
            rate.ok_or_else(|| no_quantity(key, &text, "10 Gbit/s"))
        };
        text.map(known).transpose()
    };
    let span = |key: &str, text: Option<String>| {
        let known = |text: String| time(&text).ok_or_else(|| no_quantity(key, &text, "5 ms"));
        text.map(known).transpose()
    };
    let when = When {
        speed_min: rate("speed_min", raw.speed_min)?,
        speed_below: rate("speed_below", raw.speed_below)?,
        round_trip_min: span("round_trip_min", raw.round_trip_min)?,
        round_trip_below: span("round_trip_below", raw.round_trip_below)?,
        cores_min: raw.cores_min,
        cores_below: raw.cores_below,
        mtu_min: raw.mtu_min,
        mtu_below: raw.mtu_below,
        drivers: raw.driver,
        role: raw.role,
    };
    match overlap(&when, &when) {
        true => Ok(when),
        false => Err(Mistake::at("", say("error-profile.never"))),
    }
}

fn no_quantity(key: &str, text: &str, example: &str) -> Mistake {
    let reason = say("error-profile.no-quantity")
        .with("text", text)
        .with("example", example);
    Mistake::at(key, reason)
}

/// Reads a time as `5 ms`, `0.3 ms` or `200 us`.
#[must_use]
pub fn time(text: &str) -> Option<Duration> {
    quantity(text, &TIMES).map(Duration::from_nanos)
}

/// A number, perhaps with a decimal point, and a unit.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let split = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    let product = number * *factor as f64;
    // Beyond that numbers are not exact any more, and nothing of ours is so large.
    (0.0..=9.0e15)
        .contains(&product)
        .then(|| product.round() as u64)
}

/// Whether two rules want different things of a knob in a situation in which both hold. Several
/// `at_least` are one: the largest.
fn contradict(one: &Rule, other: &Rule) -> bool {
    let agree = match (&one.value, &other.value) {
        (RuleValue::AtLeast(_), RuleValue::AtLeast(_))
        | (RuleValue::AtMost(_), RuleValue::AtMost(_)) => true,
        (one, other) => one == other,
    };
    one.knob == other.knob && !agree && overlap(&one.when, &other.when)
}

fn overlap(one: &When, other: &When) -> bool {
    fn ranges<T: PartialOrd + Copy>(mins: [Option<T>; 2], belows: [Option<T>; 2]) -> bool {
        let mut pairs = mins
            .iter()
            .flatten()
            .flat_map(|min| belows.iter().flatten().map(move |below| (min, below)));
        pairs.all(|(min, below)| min < below)
    }
    let both_drivers = one.drivers.is_empty()
        || other.drivers.is_empty()
        || one
            .drivers
            .iter()
            .any(|driver| other.drivers.contains(driver));
    let both_roles = one.role.is_none() || other.role.is_none() || one.role == other.role;
    ranges(
        [one.speed_min, other.speed_min],
        [one.speed_below, other.speed_below],
    ) && ranges(
        [one.round_trip_min, other.round_trip_min],
        [one.round_trip_below, other.round_trip_below],
    ) && ranges(
        [one.cores_min, other.cores_min],
        [one.cores_below, other.cores_below],
    ) && ranges(
        [one.mtu_min, other.mtu_min],
        [one.mtu_below, other.mtu_below],
    ) && both_drivers
        && both_roles
}
