//! Base units to what people read: scaled, with sensible digits, and always with the unit's name.
//!
//! MB is 10^6 bytes and MiB is 2^20. A number that is not finite is never printed.

use locale::quantity::{fixed, trimmed};
use record::{BitsPerSecond, Bytes, Nanoseconds};
use stats::{Estimate, Unit};

/// What stands in place of a number that cannot be given.
pub const UNKNOWN: &str = "not known";

/// Unit names that stay on the line of their number when text is wrapped.
pub(crate) const UNIT_NAMES: [&str; 17] = [
    "%", "MB/s", "kB/s", "Mbit/s", "Gbit/s", "kbit/s", "MiB", "GiB", "KiB", "bytes", "s", "ms",
    "s/GB", "us", "min", "/s", "fps",
];

/// A rate of payload: `117.6 MB/s`.
#[must_use]
pub fn rate(bytes_per_second: f64) -> String {
    plain(bytes_per_second, &Scale::rate(bytes_per_second))
}

/// A rate in a unit of rates: `117.6 MB/s`, `1243 /s`, `24.0 fps`.
#[must_use]
pub fn rate_in(rate: f64, unit: Unit) -> String {
    plain(rate, &Scale::in_unit(rate, unit))
}

/// The same rate as networks are sold: `941 Mbit/s`.
#[must_use]
pub fn bit_rate(bytes_per_second: f64) -> String {
    let bits = bytes_per_second * 8.0;
    let scale = match bits.abs() {
        size if size >= 1e10 => Scale::new(1e-9, "Gbit/s", 1),
        size if size >= 1e8 => Scale::new(1e-6, "Mbit/s", 0),
        size if size >= 1e6 || size == 0.0 => Scale::new(1e-6, "Mbit/s", 1),
        _ => Scale::new(1e-3, "kbit/s", 1),
    };
    plain(bits, &scale)
}

/// A line rate as it stands on the box: `1 Gbit/s`, `2.5 Gbit/s`, `100 Mbit/s`.
#[must_use]
pub fn line_rate(rate: BitsPerSecond) -> String {
    locale::quantity::line_rate(rate.get())
}

/// A size in memory or of a file: `1 MiB`, `2 GiB`, `512 bytes`.
#[must_use]
pub fn size(bytes: Bytes) -> String {
    locale::quantity::size(bytes.get())
}

/// A share of 1: `98.7 %`.
#[must_use]
pub fn share(of_one: f64) -> String {
    plain(of_one, &Scale::new(100.0, "%", 1))
}

/// A share of 1 that somebody chose, and so without digits that say nothing: `2 %`, `97.5 %`.
#[must_use]
pub fn round_share(of_one: f64) -> String {
    if of_one.is_finite() {
        format!("{} %", trimmed(of_one * 100.0, 2))
    } else {
        UNKNOWN.into()
    }
}

/// A share of 1 of which the size counts and the digits do not: `75 %`, `3.1 %`, `0.04 %`.
pub(crate) fn rough_share(of_one: f64) -> String {
    let decimals = match of_one.abs() {
        size if size >= 0.1 => 0,
        size if size >= 0.001 => 1,
        _ => 2,
    };
    plain(of_one, &Scale::new(100.0, "%", decimals))
}

/// A ratio: `1.97x`.
#[must_use]
pub fn ratio(ratio: f64) -> String {
    plain(ratio, &Scale::ratio(ratio))
}

/// A span of time: `850 ms`, `12.3 s`, `3 min 20 s`.
#[must_use]
pub fn duration(span: Nanoseconds) -> String {
    let seconds = span.get() as f64 / 1e9;
    match span.get() {
        0..1_000_000 => format!("{} us", trimmed(seconds * 1e6, 1)),
        1_000_000..1_000_000_000 => format!("{} ms", trimmed(seconds * 1e3, 0)),
        1_000_000_000..60_000_000_000 => format!("{} s", trimmed(seconds, 1)),
        _ => {
            let whole = span.get() / 1_000_000_000;
            match whole / 3600 {
                0 => format!("{} min {} s", whole / 60, whole % 60),
                hours => format!("{hours} h {} min", whole % 3600 / 60),
            }
        }
    }
}

/// An estimate's number with its unit: `117.6 MB/s`, `1.97x`, `0.21 CPU s/GB`.
#[must_use]
pub fn estimate(estimate: &Estimate) -> String {
    plain(estimate.value, &Scale::of(estimate))
}

/// An estimate's interval on the scale of its number: `[117.5, 117.7]`. `None` where there is none.
#[must_use]
pub fn interval(estimate: &Estimate) -> Option<String> {
    let [low, high] = finite_interval(estimate)?;
    let scale = Scale::of(estimate);
    Some(bracketed(
        low * scale.factor,
        high * scale.factor,
        scale.decimals,
    ))
}

/// The same with the unit, for where the number does not stand beside it: `[117.5, 117.7] MB/s`.
#[must_use]
pub fn interval_with_unit(estimate: &Estimate) -> Option<String> {
    let interval = interval(estimate)?;
    Some(match Scale::of(estimate).unit {
        "x" => interval,
        unit => format!("{interval} {unit}"),
    })
}

/// An estimate with its interval: `117.6 MB/s [117.5, 117.7]`.
#[must_use]
pub fn estimate_with_interval(estimate: &Estimate) -> String {
    let number = self::estimate(estimate);
    match interval(estimate) {
        Some(interval) => format!("{number} {interval}"),
        None => number,
    }
}

/// How far a ratio is from 1, without sign: `97 % [95, 99]`.
#[must_use]
pub fn difference(ratio: &Estimate) -> String {
    if !ratio.value.is_finite() {
        return UNKNOWN.into();
    }
    let sign = if ratio.value < 1.0 { -1.0 } else { 1.0 };
    percentages(
        ratio,
        |ratio| sign * (ratio - 1.0) * 100.0,
        Sign::WhereNegative,
    )
}

/// How far a ratio is from 1, with sign: `+0.3 % [-0.5, +1.1]`.
#[must_use]
pub fn signed_difference(ratio: &Estimate) -> String {
    percentages(ratio, |ratio| (ratio - 1.0) * 100.0, Sign::Always)
}

/// The interval, where both its ends are numbers that can be printed.
pub(crate) fn finite_interval(estimate: &Estimate) -> Option<[f64; 2]> {
    estimate
        .interval
        .filter(|[low, high]| estimate.value.is_finite() && low.is_finite() && high.is_finite())
}

fn percentages(ratio: &Estimate, percent: impl Fn(f64) -> f64, sign: Sign) -> String {
    if !ratio.value.is_finite() {
        return UNKNOWN.into();
    }
    let value = percent(ratio.value);
    let Some([low, high]) = finite_interval(ratio) else {
        let decimals = usize::from(value.abs() < 10.0);
        return format!("{} %", sign.fixed(value, decimals));
    };
    let (low, high) = (percent(low), percent(high));
    let (low, high) = (low.min(high), low.max(high));
    let decimals = match high - low {
        width if width >= 3.0 && value.abs() >= 3.0 => 0,
        width if width >= 0.2 => 1,
        _ => 2,
    };
    format!(
        "{} % [{}, {}]",
        sign.fixed(value, decimals),
        sign.fixed(low, decimals),
        sign.fixed(high, decimals)
    )
}

#[derive(Clone, Copy)]
enum Sign {
    Always,
    WhereNegative,
}

impl Sign {
    fn fixed(self, number: f64, decimals: usize) -> String {
        let text = fixed(number, decimals);
        let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        match self {
            Self::Always if !text.starts_with('-') && !is_zero => format!("+{text}"),
            _ => text,
        }
    }
}

/// What a base unit is multiplied by, the name it then has, and the digits behind its point.
struct Scale {
    factor: f64,
    unit: &'static str,
    decimals: usize,
}

impl Scale {
    const fn new(factor: f64, unit: &'static str, decimals: usize) -> Self {
        Self {
            factor,
            unit,
            decimals,
        }
    }

    fn of(estimate: &Estimate) -> Self {
        match estimate.unit {
            Unit::Ratio => {
                let narrow = finite_interval(estimate)
                    .is_some_and(|[low, high]| high - low < 0.02 && high < 10.0);
                let scale = Self::ratio(estimate.value);
                Self::new(1.0, "x", scale.decimals.max(if narrow { 3 } else { 0 }))
            }
            unit => Self::in_unit(estimate.value, unit),
        }
    }

    fn in_unit(value: f64, unit: Unit) -> Self {
        match unit {
            Unit::BytesPerSecond => Self::rate(value),
            Unit::Ratio => Self::ratio(value),
            Unit::SecondsPerByte => Self::new(1e9, "CPU s/GB", 2),
            Unit::Seconds => Self::new(1e6, "µs", 0),
            Unit::OperationsPerSecond => {
                Self::new(1.0, "/s", if value.abs() < 100.0 { 1 } else { 0 })
            }
            Unit::FramesPerSecond => Self::new(1.0, "fps", 1),
        }
    }

    fn rate(bytes_per_second: f64) -> Self {
        match bytes_per_second.abs() {
            size if size >= 1e9 => Self::new(1e-6, "MB/s", 0),
            size if size >= 1e7 || size == 0.0 => Self::new(1e-6, "MB/s", 1),
            size if size >= 1e6 => Self::new(1e-6, "MB/s", 2),
            _ => Self::new(1e-3, "kB/s", 1),
        }
    }

    fn ratio(ratio: f64) -> Self {
        match ratio.abs() {
            size if size >= 100.0 => Self::new(1.0, "x", 0),
            size if size >= 10.0 => Self::new(1.0, "x", 1),
            _ => Self::new(1.0, "x", 2),
        }
    }
}

fn plain(number: f64, scale: &Scale) -> String {
    if !number.is_finite() {
        return UNKNOWN.into();
    }
    let digits = fixed(number * scale.factor, scale.decimals);
    match scale.unit {
        "x" => format!("{digits}x"),
        unit => format!("{digits} {unit}"),
    }
}

fn bracketed(low: f64, high: f64, decimals: usize) -> String {
    format!("[{}, {}]", fixed(low, decimals), fixed(high, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn an(value: f64, interval: Option<[f64; 2]>, unit: Unit) -> Estimate {
        Estimate {
            value,
            interval,
            confidence: Some(0.95),
            n: 8,
            unit,
            caveats: Vec::new(),
        }
    }

    #[test]
    fn rates_carry_the_unit_and_sensible_digits() {
        let cases = [
            (0.0, "0.0 MB/s", "0.0 Mbit/s"),
            (900.0, "0.9 kB/s", "7.2 kbit/s"),
            (12_345.0, "12.3 kB/s", "98.8 kbit/s"),
            (1_234_567.0, "1.23 MB/s", "9.9 Mbit/s"),
            (117_640_000.0, "117.6 MB/s", "941 Mbit/s"),
            (2_494_400_000.0, "2494 MB/s", "20.0 Gbit/s"),
        ];
        for (bytes, in_bytes, in_bits) in cases {
            assert_eq!(rate(bytes), in_bytes);
            assert_eq!(bit_rate(bytes), in_bits);
        }
    }

    #[test]
    fn line_rates_sizes_and_spans_read_as_on_the_box() {
        assert_eq!(line_rate(BitsPerSecond::new(1_000_000_000)), "1 Gbit/s");
        assert_eq!(line_rate(BitsPerSecond::new(2_500_000_000)), "2.5 Gbit/s");
        assert_eq!(line_rate(BitsPerSecond::new(100_000_000)), "100 Mbit/s");
        assert_eq!(round_share(0.02), "2 %");
        assert_eq!(round_share(0.975), "97.5 %");
        assert_eq!(
            [0.752, 0.031_2, 0.000_42].map(rough_share),
            ["75 %", "3.1 %", "0.04 %"]
        );
        assert_eq!(size(Bytes::new(512)), "512 bytes");
        assert_eq!(size(Bytes::new(65_536)), "64 KiB");
        assert_eq!(size(Bytes::new(1 << 20)), "1 MiB");
        assert_eq!(size(Bytes::new(3 << 29)), "1.5 GiB");
        assert_eq!(size(Bytes::new(256_000_000)), "256 MB");
        assert_eq!(size(Bytes::new(1_000_000_000)), "1 GB");
        assert_eq!(duration(Nanoseconds::new(250_000)), "250 us");
        assert_eq!(duration(Nanoseconds::new(850_000_000)), "850 ms");
        assert_eq!(duration(Nanoseconds::new(12_340_000_000)), "12.3 s");
        assert_eq!(duration(Nanoseconds::new(200_000_000_000)), "3 min 20 s");
        assert_eq!(duration(Nanoseconds::new(3_700_000_000_000)), "1 h 1 min");
    }

    #[test]
    fn estimates_and_intervals_share_one_scale() {
        let rate = an(117.64e6, Some([117.5e6, 117.71e6]), Unit::BytesPerSecond);
        assert_eq!(estimate_with_interval(&rate), "117.6 MB/s [117.5, 117.7]");
        let ratio = an(1.97, Some([1.95, 1.99]), Unit::Ratio);
        assert_eq!(estimate_with_interval(&ratio), "1.97x [1.95, 1.99]");
        let narrow = an(1.001, Some([0.999, 1.003]), Unit::Ratio);
        assert_eq!(estimate_with_interval(&narrow), "1.001x [0.999, 1.003]");
        let cpu = an(0.21e-9, None, Unit::SecondsPerByte);
        assert_eq!(estimate_with_interval(&cpu), "0.21 CPU s/GB");
    }

    #[test]
    fn differences_turn_with_the_sign() {
        let better = an(1.97, Some([1.95, 1.99]), Unit::Ratio);
        assert_eq!(difference(&better), "97 % [95, 99]");
        let worse = an(0.88, Some([0.85, 0.91]), Unit::Ratio);
        assert_eq!(difference(&worse), "12 % [9, 15]");
        let same = an(1.003, Some([0.995, 1.011]), Unit::Ratio);
        assert_eq!(signed_difference(&same), "+0.3 % [-0.5, +1.1]");
        let none = an(1.0, None, Unit::Ratio);
        assert_eq!(signed_difference(&none), "0.0 %");
    }

    #[test]
    fn what_is_not_finite_is_never_printed() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for unit in [Unit::BytesPerSecond, Unit::Ratio, Unit::SecondsPerByte] {
                let value = an(number, Some([number, 1.0]), unit);
                assert_eq!(estimate_with_interval(&value), UNKNOWN);
                let end = an(1.0, Some([0.5, number]), unit);
                assert_eq!(interval(&end), None);
            }
            let ratio = an(number, None, Unit::Ratio);
            assert_eq!(difference(&ratio), UNKNOWN);
            assert_eq!(signed_difference(&ratio), UNKNOWN);
            assert_eq!(rate(number), UNKNOWN);
            assert_eq!(bit_rate(number), UNKNOWN);
            assert_eq!(share(number), UNKNOWN);
            assert_eq!(round_share(number), UNKNOWN);
            assert_eq!(rough_share(number), UNKNOWN);
        }
    }
}
