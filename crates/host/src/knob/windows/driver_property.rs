//! A property of an adapter's driver: how it is found, what its values mean, and which there are.
//!
//! A property has a keyword, which is the same for all vendors where it begins with a star, and a name that people see,
//! which is in the language of the system. Names only help to find a property whose driver has a keyword of its own.

use std::ops::RangeInclusive;

use locale::say;
use record::Value;

use super::super::{Allowed, Refusal, range, words};
use super::words_with;
use crate::tool_output::windows::Object;

/// Bytes of the Ethernet header, which the length of a jumbo packet counts and an MTU does not.
pub(super) const HEADER_BYTES: i64 = 14;
/// The numbers that properties have.
pub(super) const NUMBERS: RangeInclusive<i64> = 0..=u32::MAX as i64;
/// In front of a code of a driver for which there is no word.
pub(super) const CODE: &str = "code ";

/// A property of a driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Property {
    /// Its keywords with several drivers, the best one first.
    pub(super) keywords: &'static [&'static str],
    /// Its names in English and Japanese, for drivers with other keywords.
    pub(super) names: &'static [&'static str],
    pub(super) codes: Codes,
}

/// What the values of a property mean.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Codes {
    /// `0` and `1`.
    Switch,
    /// A number, within what the driver allows.
    Number,
    /// These codes, and what we call them.
    Words(&'static [(&'static str, &'static str)]),
}

/// A property as the driver has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(super) keyword: String,
    pub(super) value: String,
    /// The values that there are, where they are listed.
    pub(super) listed: Vec<String>,
    /// Least, most, and the step between two numbers, where they are not.
    pub(super) limits: Option<[i64; 3]>,
}

fn row(object: &Object) -> Option<Row> {
    let value = object.texts("RegistryValue").into_iter().next();
    let value = value.or_else(|| object.texts("DefaultRegistryValue").into_iter().next());
    let number = |name: &str| {
        object
            .number(name)
            .filter(|number| NUMBERS.contains(number))
    };
    let limits = number("NumericParameterMinValue").zip(number("NumericParameterMaxValue"));
    let step = number("NumericParameterStepValue").filter(|&step| step > 0);
    Some(Row {
        keyword: object.text("RegistryKeyword")?,
        value: value?.trim().to_owned(),
        listed: object.texts("ValidRegistryValues"),
        limits: limits
            .filter(|(min, max)| min <= max)
            .map(|(min, max)| [min, max, step.unwrap_or(1)]),
    })
}

/// The property among those of a driver, by its keyword or else by its name.
pub(super) fn find_row(keywords: &[&str], names: &[&str], all: &[Object]) -> Result<Row, Refusal> {
    let by = |key: &str, wanted: &str| {
        let same = |object: &&Object| {
            let found = object.text(key);
            found.is_some_and(|found| found.eq_ignore_ascii_case(wanted))
        };
        all.iter().find(same)
    };
    let mut by_keyword = keywords.iter();
    let found = by_keyword.find_map(|keyword| by("RegistryKeyword", keyword));
    let mut by_name = names.iter();
    let found = found.or_else(|| by_name.find_map(|name| by("DisplayName", name)));
    let first = keywords.first().copied().unwrap_or_default();
    found.and_then(row).ok_or_else(|| without(first))
}

/// A driver has no property of this keyword.
pub(super) fn without(keyword: &str) -> Refusal {
    Refusal::new(say("error-knob.driver-without").with("name", keyword))
}

pub(super) fn numbers(row: &Row) -> Vec<i64> {
    let numbers = row
        .listed
        .iter()
        .filter_map(|value| value.trim().parse().ok());
    numbers.filter(|number| NUMBERS.contains(number)).collect()
}

impl Codes {
    pub(super) fn value(&self, row: &Row) -> Result<Value, Refusal> {
        let odd = || {
            let reason = say("error-windows.own-value").with("keyword", &row.keyword);
            Refusal::new(reason.with("value", &row.value))
        };
        match self {
            Self::Switch => {
                // Whatever more there is has a meaning that only the driver's people know.
                let known = |value: &String| matches!(value.trim(), "0" | "1");
                match row.value.as_str() {
                    "0" if row.listed.iter().all(known) => Ok(Value::Switch(false)),
                    "1" if row.listed.iter().all(known) => Ok(Value::Switch(true)),
                    _ => Err(odd()),
                }
            }
            Self::Number => row.value.parse().map(Value::Integer).ok().ok_or_else(odd),
            Self::Words(known) => {
                let word = known.iter().find(|(code, _)| *code == row.value);
                let word = word.map(|(_, word)| (*word).to_owned());
                let number: Option<i64> = row.value.parse().ok();
                let word = word.or_else(|| Some(format!("{CODE}{}", number?)));
                word.map(Value::Text).ok_or_else(odd)
            }
        }
    }

    pub(super) fn allowed(&self, row: &Row, now: &Value) -> Allowed {
        match self {
            Self::Switch => Allowed::Switch,
            Self::Number => match (numbers(row), row.limits) {
                (listed, _) if !listed.is_empty() => Allowed::Numbers(listed),
                (_, Some([min, max, _])) => range(
                    (min, "knob-limit.driver-least"),
                    (max, "knob-limit.driver-most"),
                ),
                // Whoever does not say what it takes is left alone.
                (_, None) => match now {
                    Value::Integer(now) => range(
                        (*now, "knob-limit.unknown-others"),
                        (*now, "knob-limit.unknown-others"),
                    ),
                    _ => words(&[]),
                },
            },
            Self::Words(known) => {
                let is_offered = |code: &str| {
                    row.listed.is_empty() || row.listed.iter().any(|value| value.trim() == code)
                };
                let offered = known.iter().filter(|(code, _)| is_offered(code));
                let offered: Vec<&str> = offered.map(|(_, word)| *word).collect();
                words_with(&offered, &now.to_string())
            }
        }
    }

    pub(super) fn code(&self, row: &Row, to: &Value) -> Result<String, Refusal> {
        match (self, to) {
            (Self::Switch, Value::Switch(on)) => Ok(u8::from(*on).to_string()),
            (Self::Number, Value::Integer(number)) => match row.limits {
                Some([min, _, step]) if row.listed.is_empty() && (number - min) % step != 0 => {
                    let reason = say("error-windows.step").with("min", min.to_string());
                    Err(Refusal::new(reason.with("step", step.to_string())))
                }
                _ => Ok(number.to_string()),
            },
            (Self::Words(known), Value::Text(word)) => {
                let code = known.iter().find(|(_, known)| known == word);
                let code = code
                    .map(|(code, _)| *code)
                    .or_else(|| word.strip_prefix(CODE));
                code.map(str::to_owned).ok_or_else(Refusal::none_such)
            }
            _ => Err(Refusal::none_such()),
        }
    }
}

pub(super) fn longest(jumbo: &Row) -> Option<i64> {
    let listed = numbers(jumbo).into_iter().max();
    listed.or_else(|| Some(jumbo.limits?[1]))
}

/// The shortest length of the driver in which a packet of this MTU fits.
pub(super) fn length_for(jumbo: &Row, mtu: i64) -> Result<i64, Refusal> {
    let least = mtu + HEADER_BYTES;
    let listed = numbers(jumbo)
        .into_iter()
        .filter(|&length| length >= least)
        .min();
    let stepped = jumbo.limits.and_then(|[min, max, step]| {
        let steps = ((least - min).max(0) + step - 1) / step;
        Some(min + steps * step).filter(|&length| length <= max)
    });
    let none = || Refusal::new(say("error-windows.no-length"));
    listed.or(stepped).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_the_shortest_length_that_the_driver_has_for_it() {
        let stepped = Row {
            keyword: "*JumboPacket".to_owned(),
            value: "1514".to_owned(),
            listed: Vec::new(),
            limits: Some([1514, 9014, 500]),
        };
        let listed = Row {
            listed: ["1514", "4088", "9014"].map(str::to_owned).to_vec(),
            limits: None,
            ..stepped.clone()
        };
        for (mtu, by_steps, by_list) in [
            (1000, Some(1514), Some(1514)),
            (1500, Some(1514), Some(1514)),
            (4000, Some(4014), Some(4088)),
            (4001, Some(4514), Some(4088)),
            (9000, Some(9014), Some(9014)),
            (9001, None, None),
        ] {
            assert_eq!(length_for(&stepped, mtu).ok(), by_steps, "{mtu}");
            assert_eq!(length_for(&listed, mtu).ok(), by_list, "{mtu}");
        }
    }
}
