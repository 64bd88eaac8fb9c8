//! The values that a knob takes: on a host, as that host tells, and on any host at all.

use locale::{Message, say};
use record::Value;

use super::{Refusal, qdisc_and_affinity};

/// A bound with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The last value that is allowed.
    pub value: i64,
    /// Why, to follow a `because`.
    pub because: Message,
    /// Whether this host, its driver or its hardware sets it, so that another may take more.
    pub is_of_host: bool,
}

impl Limit {
    pub(super) fn new(value: i64, because: Message) -> Self {
        Self {
            value,
            because,
            is_of_host: true,
        }
    }

    /// That holds on any host.
    pub(super) fn everywhere(value: i64, because: Message) -> Self {
        Self {
            is_of_host: false,
            ..Self::new(value, because)
        }
    }
}

/// The values a knob takes on a host now.
#[derive(Clone, Debug, PartialEq)]
pub enum Allowed {
    /// On and off.
    Switch,
    /// On, off, and, where a switch has several parts, the names of those that alone are on.
    SwitchOf(Vec<String>),
    /// Whole numbers between two limits.
    Range {
        /// The smallest.
        min: Limit,
        /// The largest.
        max: Limit,
    },
    /// One of these whole numbers.
    Numbers(Vec<i64>),
    /// One of these words.
    Words(Vec<String>),
    /// A least, a first and a largest size in bytes, none smaller than the one before.
    Sizes,
    /// Some of these processors, as `0-3,8`, or a list for each part of the knob by its name.
    Processors {
        /// Those that there could be.
        possible: Vec<u32>,
        /// Whether `off` is one as well.
        off: bool,
    },
    /// So many bytes in hexadecimal, with colons between them.
    Bytes(usize),
    /// What the knob itself has read before.
    AsRead,
}

impl Allowed {
    /// What somebody typed, as a value of this kind. Whether it is allowed is another question.
    #[must_use]
    pub fn value_of(&self, typed: &str) -> Value {
        let word = || Value::Text(typed.to_owned());
        match (self, typed) {
            (_, "unset") => Value::Unset,
            (Self::Switch | Self::SwitchOf(_), "on" | "yes" | "true" | "1") => Value::Switch(true),
            (Self::Switch | Self::SwitchOf(_), "off" | "no" | "false" | "0") => {
                Value::Switch(false)
            }
            (Self::Range { .. } | Self::Numbers(_), typed) => {
                typed.parse().map_or_else(|_| word(), Value::Integer)
            }
            (Self::Sizes, typed) => {
                let words: Vec<&str> = typed.split([' ', ',', '\t']).collect();
                Value::Text(words.join(" "))
            }
            _ => word(),
        }
    }
}

pub(super) fn check_allowed(allowed: &Allowed, to: &Value) -> Result<(), Refusal> {
    match (allowed, to) {
        (Allowed::Switch | Allowed::SwitchOf(_), Value::Switch(_))
        | (Allowed::AsRead, Value::Text(_)) => Ok(()),
        (Allowed::Switch, _) => Err(Refusal::mistaken(say("error-knob.switch"))),
        (Allowed::SwitchOf(parts), Value::Text(part)) if parts.contains(part) => Ok(()),
        (Allowed::SwitchOf(parts), _) => {
            let reason = say("error-knob.switch-of").with("parts", parts.join("`, `"));
            Err(Refusal::mistaken(reason))
        }
        (Allowed::AsRead, _) => Err(Refusal::new(say("error-knob.only-put-back"))),
        (Allowed::Range { min, max }, Value::Integer(number)) => check_range(min, max, *number),
        (Allowed::Range { .. }, _) => Err(Refusal::mistaken(say("error-knob.whole-number"))),
        (Allowed::Numbers(numbers), Value::Integer(number)) if numbers.contains(number) => Ok(()),
        (Allowed::Numbers(numbers), _) => {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            Err(not_among(&numbers))
        }
        (Allowed::Words(words), Value::Text(word)) if words.contains(word) => Ok(()),
        (Allowed::Words(words), _) => Err(not_among(words)),
        (Allowed::Processors { possible, off }, Value::Text(text)) => {
            check_processors(possible, *off, text)
        }
        (Allowed::Processors { .. }, _) => Err(no_processors()),
        (Allowed::Bytes(count), Value::Text(text)) if is_bytes(*count, text) => Ok(()),
        (Allowed::Bytes(count), _) => {
            Err(Refusal::new(say("error-knob.bytes").count("count", *count)))
        }
        (Allowed::Sizes, Value::Text(text)) if is_sizes(text) => Ok(()),
        (Allowed::Sizes, _) => {
            let refusal = Refusal::mistaken(say("error-knob.sizes"));
            Err(refusal.hint(written("4096,131072,6291456")))
        }
    }
}

fn not_among(choices: &[String]) -> Refusal {
    Refusal::new(say("error-knob.one-of").with("choices", choices.join("`, `")))
}

fn no_processors() -> Refusal {
    Refusal::new(say("error-knob.processors")).hint(written("0-3,8"))
}

/// How a value is typed.
pub(super) fn written(example: &str) -> Message {
    say("hint-host.write-as").with("example", example)
}

fn check_processors(possible: &[u32], off: bool, text: &str) -> Result<(), Refusal> {
    let named = qdisc_and_affinity::named_processors(text);
    let named = named.ok_or_else(no_processors)?;
    if named.is_empty() && !off {
        return Err(Refusal::new(say("error-knob.one-processor")));
    }
    match named.iter().find(|number| !possible.contains(number)) {
        None => Ok(()),
        Some(number) => Err(Refusal::new(
            say("error-knob.no-processor").count("number", *number),
        )),
    }
}

pub(super) fn is_bytes(count: usize, text: &str) -> bool {
    let byte =
        |word: &str| word.len() == 2 && word.bytes().all(|letter| letter.is_ascii_hexdigit());
    text.split(':').count() == count && text.split(':').all(byte)
}

fn check_range(min: &Limit, max: &Limit, number: i64) -> Result<(), Refusal> {
    let broken = [
        (number < min.value, min, "error-knob.at-least"),
        (number > max.value, max, "error-knob.at-most"),
    ];
    let Some((_, limit, reason)) = broken.into_iter().find(|(broken, ..)| *broken) else {
        return Ok(());
    };
    let reason = say(reason)
        .with("value", limit.value.to_string())
        .with("because", limit.because.clone());
    Err(Refusal {
        is_mistaken: !limit.is_of_host,
        ..Refusal::new(reason)
    })
}

/// Whether it is three sizes as the kernel shows them, with one blank between two.
pub(super) fn is_sizes(text: &str) -> bool {
    let numbers: Result<Vec<i32>, _> = text.split(' ').map(str::parse).collect();
    numbers.is_ok_and(|sizes| sizes.len() == 3 && sizes[0] > 0 && sizes.is_sorted())
        && !text.contains('+')
}

/// Numbers between two limits, each with the id of its reason.
pub(super) fn range(min: (i64, &'static str), max: (i64, &'static str)) -> Allowed {
    Allowed::Range {
        min: Limit::new(min.0, say(min.1)),
        max: Limit::new(max.0, say(max.1)),
    }
}

/// What can be meant on any host.
pub(super) fn sensible(min: i64, max: i64) -> Allowed {
    Allowed::Range {
        min: Limit::everywhere(min, say("knob-limit.no-less-sense")),
        max: Limit::everywhere(max, say("knob-limit.no-more-sense")),
    }
}

pub(super) fn words(words: &[&str]) -> Allowed {
    Allowed::Words(words.iter().map(|&word| word.to_owned()).collect())
}
