//! `tc`: the rate of a shaper on a NIC's way out.

use std::collections::BTreeMap;

use record::BitsPerSecond;
use serde::Deserialize;

/// Deepest tree of classes that `htb` allows.
const HTB_DEPTH_MAX: usize = 8;

/// A shaper at the root of a NIC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shaper {
    /// `tbf` with its rate.
    Tbf(BitsPerSecond),
    /// `htb` with the handle of its default class, `1:10`; its rate stands in the classes.
    Htb { class: String },
}

#[derive(Deserialize)]
struct RawQdisc {
    kind: String,
    dev: String,
    #[serde(default)]
    root: bool,
    handle: Option<String>,
    #[serde(default)]
    options: RawOptions,
}

#[derive(Default, Deserialize)]
struct RawOptions {
    /// Bytes per second.
    rate: Option<u64>,
    default: Option<serde_json::Value>,
}

/// Reads `tc -j qdisc show`: the shapers at the root of NICs, by NIC.
pub(crate) fn shapers(stdout: &[u8]) -> BTreeMap<String, Shaper> {
    let elements: Vec<serde_json::Value> = serde_json::from_slice(stdout).unwrap_or_default();
    let raw = elements
        .into_iter()
        .filter_map(|element| serde_json::from_value(element).ok());
    raw.filter_map(|qdisc: RawQdisc| Some((qdisc.dev.clone(), shaper(&qdisc)?)))
        .collect()
}

fn shaper(qdisc: &RawQdisc) -> Option<Shaper> {
    match qdisc.kind.as_str() {
        "tbf" if qdisc.root => {
            let bytes = qdisc.options.rate?;
            Some(Shaper::Tbf(BitsPerSecond::new(bytes.checked_mul(8)?)))
        }
        "htb" if qdisc.root => {
            // Class numbers are hexadecimal everywhere; here with `0x`, in class names without.
            let default = match qdisc.options.default.as_ref()? {
                serde_json::Value::String(text) => text.trim_start_matches("0x").to_owned(),
                serde_json::Value::Number(number) => format!("{:x}", number.as_u64()?),
                _ => return None,
            };
            let class = format!("{}{default}", qdisc.handle.as_ref()?);
            (default != "0").then_some(Shaper::Htb { class })
        }
        _ => None,
    }
}

#[derive(Debug)]
struct Class {
    parent: Option<String>,
    rate: u64,
    ceil: u64,
}

/// The rate an `htb` class can reach, from `tc class show dev NIC`, which is text even with `-j`.
pub(crate) fn htb_rate(stdout: &str, class: &str) -> Option<BitsPerSecond> {
    let classes: BTreeMap<String, Class> = stdout.lines().filter_map(class_line).collect();
    let mut current = classes.get(class)?;
    let mut rate = u64::MAX;
    for _ in 0..HTB_DEPTH_MAX {
        match &current.parent {
            // A class at the root has nobody to borrow from.
            None => return Some(BitsPerSecond::new(rate.min(current.rate))),
            Some(parent) => {
                rate = rate.min(current.ceil);
                current = classes.get(parent)?;
            }
        }
    }
    None
}

/// `class htb 1:10 root prio 0 rate 984395Kbit ceil 984395Kbit burst 65339b cburst 65339b`
fn class_line(line: &str) -> Option<(String, Class)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [first, kind, name, ..] = words.as_slice() else {
        return None;
    };
    if (*first, *kind) != ("class", "htb") {
        return None;
    }
    let after = |key: &str| {
        words
            .iter()
            .position(|word| *word == key)
            .and_then(|at| words.get(at + 1))
            .copied()
    };
    let class = Class {
        parent: after("parent").map(str::to_owned),
        rate: bits_per_second(after("rate")?)?,
        ceil: bits_per_second(after("ceil")?)?,
    };
    Some(((*name).to_owned(), class))
}

/// A rate as `tc` prints it: `984395Kbit`, `1Gbit`, `500bit`, and with `-iec` `1Gibit`.
fn bits_per_second(text: &str) -> Option<u64> {
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.')?;
    let (number, unit) = text.split_at(end);
    let factor: f64 = match unit {
        "bit" => 1.0,
        "Kbit" => 1e3,
        "Mbit" => 1e6,
        "Gbit" => 1e9,
        "Tbit" => 1e12,
        "Kibit" => 1024.0,
        "Mibit" => 1024.0 * 1024.0,
        "Gibit" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bits = number.parse::<f64>().ok()? * factor;
    (bits.is_finite() && bits >= 0.0 && bits < u64::MAX as f64).then_some(bits as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_as_fast_as_the_slowest_above_it() {
        let text = "class htb 1:1 root rate 1Gbit ceil 2Gbit burst 1b cburst 1b\n\
            class htb 1:10 parent 1:1 prio 0 rate 100Mbit ceil 5Gbit burst 1b cburst 1b\n\
            class htb 1:20 parent 1:1 leaf 20: prio 0 rate 100Mbit ceil 500Mbit burst 1b cburst 1b\n";
        let rate = |class| htb_rate(text, class).map(BitsPerSecond::get);
        assert_eq!(rate("1:1"), Some(1_000_000_000));
        assert_eq!(rate("1:10"), Some(1_000_000_000));
        assert_eq!(rate("1:20"), Some(500_000_000));
        assert_eq!(rate("1:30"), None);
    }

    #[test]
    fn hostile_output_gives_no_rate_and_no_loop() {
        let circle = "class htb 1:1 parent 1:1 rate 1bit ceil 1bit\n";
        assert_eq!(htb_rate(circle, "1:1"), None);
        for text in [
            "",
            "class",
            "class htb 1:1",
            "class htb 1:1 rate 9e99Gbit ceil 1bit",
            "\0",
        ] {
            assert_eq!(htb_rate(text, "1:1"), None, "{text:?}");
        }
        for rate in [
            "",
            "1",
            "bit",
            "-1bit",
            "1.2.3bit",
            "99999999999999999999999Tbit",
            "1Ybit",
        ] {
            assert_eq!(bits_per_second(rate), None, "{rate}");
        }
        for text in [
            "",
            "[",
            "[{}]",
            r#"[{"kind":"tbf","dev":"a","root":true}]"#,
            "[null]",
        ] {
            assert!(shapers(text.as_bytes()).is_empty(), "{text}");
        }
    }
}
