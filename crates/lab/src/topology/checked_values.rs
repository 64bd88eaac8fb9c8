//! Values of a topology file, and on which line something is wrong with one.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use locale::{Message, say};
use record::toml_mistake::line_at;
use toml::Spanned;

use super::{DELAY_MS_RANGE, MTU_DEFAULT, MTU_RANGE, name_problem};
use crate::Error;
use crate::error::quoted;

/// Where a text came from, to say on which line something is wrong.
pub(super) struct Source<'a> {
    text: &'a str,
    origin: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str, origin: &'a str) -> Self {
        Self { text, origin }
    }
}

impl Source<'_> {
    pub(super) fn refuse(&self, span: Range<usize>, problem: Message, hint: Message) -> Error {
        Error::Topology {
            origin: self.origin.to_owned(),
            line: line_at(self.text, span.start),
            problem,
            hint,
        }
    }

    pub(super) fn name(&self, field: &str, name: &Spanned<String>) -> Result<String, Error> {
        match name_problem(name.get_ref()) {
            None => Ok(name.get_ref().clone()),
            Some(rule) => Err(self.refuse(
                name.span(),
                say("error-lab.not-a-name")
                    .with("field", field)
                    .with("given", format!("{:?}", name.get_ref())),
                rule,
            )),
        }
    }

    pub(super) fn count(&self, too_many: Message, count: usize, limit: usize) -> Result<(), Error> {
        if count <= limit {
            return Ok(());
        }
        let problem = too_many.count("count", count).count("limit", limit);
        Err(self.refuse(0..0, problem, say("hint-lab.leave-out")))
    }

    pub(super) fn within(
        &self,
        field: &str,
        number: &Spanned<i64>,
        range: &RangeInclusive<u32>,
    ) -> Result<u32, Error> {
        let meant = u32::try_from(*number.get_ref()).ok();
        meant.filter(|meant| range.contains(meant)).ok_or_else(|| {
            let problem = out_of_range(field, number.get_ref().to_string());
            let hint = say("hint-lab.range")
                .with("least", range.start().to_string())
                .with("most", range.end().to_string());
            self.refuse(number.span(), problem, hint)
        })
    }

    pub(super) fn mtu(&self, field: &str, mtu: Option<&Spanned<i64>>) -> Result<u32, Error> {
        mtu.map_or(Ok(MTU_DEFAULT), |mtu| self.within(field, mtu, &MTU_RANGE))
    }
}

/// What is wrong with a number that is too small or too large.
pub(super) fn out_of_range(field: &str, given: String) -> Message {
    say("error-lab.out-of-range")
        .with("field", field)
        .with("given", given)
}

pub(super) fn known(
    source: &Source<'_>,
    field: &str,
    name: &Spanned<String>,
    names: &[String],
) -> Result<(), Error> {
    if names.contains(name.get_ref()) {
        return Ok(());
    }
    let problem = say("error-lab.unknown")
        .with("field", field)
        .with("given", format!("{:?}", name.get_ref()));
    let hint = match names {
        [] => say("hint-lab.add-first"),
        names => say("hint-lab.add-or-use").with("names", quoted(names)),
    };
    Err(source.refuse(name.span(), problem, hint))
}

/// How much longer something takes.
pub(super) fn meant_delay(
    source: &Source<'_>,
    field: &str,
    delay: &Spanned<f64>,
) -> Result<Duration, Error> {
    let milliseconds = *delay.get_ref();
    if DELAY_MS_RANGE.contains(&milliseconds) {
        return Ok(Duration::from_secs_f64(milliseconds / 1000.0));
    }
    let (least, most) = (DELAY_MS_RANGE.start(), DELAY_MS_RANGE.end());
    Err(source.refuse(
        delay.span(),
        out_of_range(field, milliseconds.to_string()),
        say("hint-lab.give")
            .with("least", least.to_string())
            .with("most", most.to_string()),
    ))
}

/// A number with at most three decimals and a unit, in base units.
pub(super) fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, factor) = units
        .iter()
        .find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?.trim_end(), factor)))?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 3 {
        return None;
    }
    let thousandths: u64 = format!("{decimals:0<3}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    let fraction = thousandths.checked_mul(factor)? / 1000;
    whole.checked_mul(factor)?.checked_add(fraction)
}

pub(super) fn yes() -> bool {
    true
}
