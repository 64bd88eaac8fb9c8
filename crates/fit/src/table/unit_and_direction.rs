//! What the name of a response gives away: its unit, and whether more of it is better.

/// Whether more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Rates.
    Higher,
    /// Times, losses, processor use.
    Lower,
}

/// Units per second, by the word before `s`.
const RATES: [(&str, &str); 14] = [
    ("bit", "bit/s"),
    ("kbit", "kbit/s"),
    ("mbit", "Mbit/s"),
    ("gbit", "Gbit/s"),
    ("bytes", "bytes/s"),
    ("kb", "kB/s"),
    ("mb", "MB/s"),
    ("gb", "GB/s"),
    ("kib", "KiB/s"),
    ("mib", "MiB/s"),
    ("gib", "GiB/s"),
    ("packets", "packets/s"),
    ("operations", "operations/s"),
    ("frames", "frames/s"),
];

/// Units that a last word says by itself.
const WORDS: [(&str, &str); 9] = [
    ("iops", "IOPS"),
    ("ns", "ns"),
    ("us", "us"),
    ("ms", "ms"),
    ("sec", "s"),
    ("seconds", "s"),
    ("percent", "%"),
    ("retransmits", "retransmits"),
    ("bytes", "bytes"),
];

/// Words before `s` that make it seconds and not `per second`.
const SPANS: [&str; 7] = [
    "time", "latency", "duration", "elapsed", "wall", "user", "system",
];

const LOWER: [&str; 8] = [
    "latency", "time", "duration", "elapsed", "seconds", "sec", "cpu", "wall",
];
/// Of these fewer are better, also by the second; but a rate may be named after what it was measured under.
const LOSSES: [&str; 16] = [
    "retransmits",
    "retransmitted",
    "retransmissions",
    "retrans",
    "retries",
    "loss",
    "lost",
    "missed",
    "drops",
    "dropped",
    "error",
    "errors",
    "failed",
    "failure",
    "failures",
    "jitter",
];
/// What turns a word of these around, or leaves open which of the two is meant: time that was idle, a score
/// for time.
const TURNING: [&str; 2] = ["idle", "score"];
const HIGHER: [&str; 7] = [
    "throughput",
    "bandwidth",
    "speed",
    "rate",
    "iops",
    "score",
    "goodput",
];

pub(super) const UNKNOWN_UNIT: &str = "unknown";

/// The unit, where the name says it for sure.
pub(super) fn unit(response: &str) -> &'static str {
    let words: Vec<&str> = words(response).collect();
    // `Mb` with a small b may be bits or carelessness.
    if words.iter().any(|word| matches!(*word, "Kb" | "Mb" | "Gb")) {
        return UNKNOWN_UNIT;
    }
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let named = |units: &[(&str, &'static str)], word: &str| {
        units
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, unit)| *unit)
    };
    let unit = match lower.as_slice() {
        [.., span, "s"] if SPANS.contains(span) || span.ends_with("time") => Some("s"),
        [.., amount, "per", "s" | "sec" | "second"] | [.., amount, "s"] => named(&RATES, amount),
        [.., word] => named(&WORDS, word),
        [] => None,
    };
    unit.unwrap_or(UNKNOWN_UNIT)
}

/// Whether more is better, where the name says it.
pub(crate) fn better(response: &str) -> Option<Better> {
    let lower: Vec<String> = words(response).map(str::to_lowercase).collect();
    let has = |list: &[&str]| lower.iter().any(|word| list.contains(&word.as_str()));
    match unit(response) {
        UNKNOWN_UNIT | "%" | "ns" | "us" | "ms" | "s"
            if has(&TURNING) && (has(&LOWER) || has(&LOSSES)) =>
        {
            None
        }
        "ns" | "us" | "ms" | "s" | "retransmits" => Some(Better::Lower),
        UNKNOWN_UNIT | "%" | "bytes" if has(&LOWER) || has(&LOSSES) => Some(Better::Lower),
        UNKNOWN_UNIT | "%" | "bytes" => has(&HIGHER).then_some(Better::Higher),
        // Packets a second that were lost, or packets a second in spite of loss.
        _ if has(&LOSSES) => None,
        _ => Some(Better::Higher),
    }
}

fn words(response: &str) -> impl Iterator<Item = &str> {
    response
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_guessed_only_where_sure() {
        let cases = [
            ("read_mb_s", "MB/s"),
            ("throughput_mbit_s", "Mbit/s"),
            ("Read (MiB/s)", "MiB/s"),
            ("gbit_per_second", "Gbit/s"),
            ("mb_per_s", "MB/s"),
            ("time_s", "s"),
            ("latency_ms", "ms"),
            ("iops", "IOPS"),
            ("open read operations_s", "operations/s"),
            ("speed Mb/s", "unknown"),
            ("mbps", "unknown"),
            ("files_s", "unknown"),
            ("s", "unknown"),
            ("", "unknown"),
            ("score", "unknown"),
        ];
        for (name, expected) in cases {
            assert_eq!(unit(name), expected, "{name}");
        }
    }

    #[test]
    fn direction_is_guessed_only_where_sure() {
        let cases = [
            ("read_mb_s", Some(Better::Higher)),
            ("iops", Some(Better::Higher)),
            ("score", Some(Better::Higher)),
            ("time_s", Some(Better::Lower)),
            ("p99 latency", Some(Better::Lower)),
            ("cpu_percent", Some(Better::Lower)),
            ("error_loss_rate", Some(Better::Lower)),
            ("error_rate", Some(Better::Lower)),
            ("failed_operations", Some(Better::Lower)),
            ("retries", Some(Better::Lower)),
            ("retransmitted_packets_s", None),
            ("missed_frames_s", None),
            ("cpu_idle_percent", None),
            ("idle_percent", None),
            ("time_spy_score", None),
            ("time_machine_write_mb_s", Some(Better::Higher)),
            ("cpu_limited_read_mb_s", Some(Better::Higher)),
            ("runtime_s", Some(Better::Lower)),
            ("lost_packets_s", None),
            ("files_s", None),
            ("y", None),
            ("percent", None),
        ];
        for (name, expected) in cases {
            assert_eq!(better(name), expected, "{name}");
        }
    }
}
