//! The values that a knob takes: on a host, as that host tells, and on any host at all.

use locale::{Message, say};
use record::Value;

use super::{Refusal, queue};

/// A bound with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The last value that is allowed.
    pub value: i64,
    /// Why, to follow a `because`.
    pub because: String,
    /// Whether this host, its driver or its hardware sets it, so that another may take more.
    pub is_of_host: bool,
}

impl Limit {
    pub(super) fn new(value: i64, because: impl Into<String>) -> Self {
        Self {
            value,
            because: because.into(),
            is_of_host: true,
        }
    }

    /// That holds on any host.
    pub(super) fn everywhere(value: i64, because: &str) -> Self {
        Self {
            is_of_host: false,
            ..Self::new(value, because)
        }
    }
}

/// The values a knob takes on a host now.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        (Allowed::Switch, _) => Err(Refusal::mistaken("it takes `on` and `off`")),
        (Allowed::SwitchOf(parts), Value::Text(part)) if parts.contains(part) => Ok(()),
        (Allowed::SwitchOf(parts), _) => Err(Refusal::mistaken(format!(
            "it takes `on`, `off` and one of `{}`",
            parts.join("`, `")
        ))),
        (Allowed::AsRead, _) => Err(Refusal::new("it is only put back")),
        (Allowed::Range { min, max }, Value::Integer(number)) => check_range(min, max, *number),
        (Allowed::Range { .. }, _) => Err(Refusal::mistaken("it takes a whole number")),
        (Allowed::Numbers(numbers), Value::Integer(number)) if numbers.contains(number) => Ok(()),
        (Allowed::Numbers(numbers), _) => {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let numbers = numbers.join("`, `");
            Err(Refusal::new(format!("it takes one of `{numbers}`")))
        }
        (Allowed::Words(words), Value::Text(word)) if words.contains(word) => Ok(()),
        (Allowed::Words(words), _) => Err(Refusal::new(format!(
            "it takes one of `{}`",
            words.join("`, `")
        ))),
        (Allowed::Processors { possible, off }, Value::Text(text)) => {
            check_processors(possible, *off, text)
        }
        (Allowed::Processors { .. }, _) => {
            Err(Refusal::new("it takes processors").hint(written("0-3,8")))
        }
        (Allowed::Bytes(count), Value::Text(text)) if is_bytes(*count, text) => Ok(()),
        (Allowed::Bytes(count), _) => Err(Refusal::new(format!(
            "it takes {count} bytes in hexadecimal with colons between them"
        ))),
        (Allowed::Sizes, Value::Text(text)) if is_sizes(text) => Ok(()),
        (Allowed::Sizes, _) => Err(Refusal::mistaken(
            "it takes three sizes in bytes, none smaller than the one before",
        )
        .hint(written("4096,131072,6291456"))),
    }
}

/// How a value is typed.
pub(super) fn written(example: &str) -> Message {
    say("hint-host.write-as").with("example", example)
}

fn check_processors(possible: &[u32], off: bool, text: &str) -> Result<(), Refusal> {
    let named = queue::named_processors(text);
    let odd = || Refusal::new("it takes processors").hint(written("0-3,8"));
    let named = named.ok_or_else(odd)?;
    if named.is_empty() && !off {
        return Err(Refusal::new("one processor at least has to do it"));
    }
    match named.iter().find(|number| !possible.contains(number)) {
        None => Ok(()),
        Some(number) => Err(Refusal::new(format!("the host has no processor {number}"))),
    }
}

pub(super) fn is_bytes(count: usize, text: &str) -> bool {
    let byte =
        |word: &str| word.len() == 2 && word.bytes().all(|letter| letter.is_ascii_hexdigit());
    text.split(':').count() == count && text.split(':').all(byte)
}

fn check_range(min: &Limit, max: &Limit, number: i64) -> Result<(), Refusal> {
    let broken = [
        (number < min.value, min, "least"),
        (number > max.value, max, "most"),
    ];
    match broken.into_iter().find(|(broken, ..)| *broken) {
        None => Ok(()),
        Some((_, limit, which)) => Err(Refusal {
            is_mistaken: !limit.is_of_host,
            ..Refusal::new(format!(
                "it takes {} at {which}, because {}",
                limit.value, limit.because
            ))
        }),
    }
}

/// Whether it is three sizes as the kernel shows them, with one blank between two.
pub(super) fn is_sizes(text: &str) -> bool {
    let numbers: Result<Vec<i32>, _> = text.split(' ').map(str::parse).collect();
    numbers.is_ok_and(|sizes| sizes.len() == 3 && sizes[0] > 0 && sizes.is_sorted())
        && !text.contains('+')
}

pub(super) fn range(min: (i64, &str), max: (i64, &str)) -> Allowed {
    Allowed::Range {
        min: Limit::new(min.0, min.1),
        max: Limit::new(max.0, max.1),
    }
}

/// What can be meant on any host.
pub(super) fn sensible(min: i64, max: i64) -> Allowed {
    Allowed::Range {
        min: Limit::everywhere(min, "less makes no sense"),
        max: Limit::everywhere(max, "more makes no sense"),
    }
}

pub(super) fn words(words: &[&str]) -> Allowed {
    Allowed::Words(words.iter().map(|&word| word.to_owned()).collect())
}
