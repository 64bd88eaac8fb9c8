//! What CrystalDiskMark, ATTO, DiskSpd and robocopy print, as rows. One run of a program is one row of
//! each of its tests. The text is hostile: lines are looked at one by one, and nothing is kept but numbers.

use std::collections::BTreeMap;

use locale::{Message, say};

use super::iperf3_fio_hyperfine_json::RUNS_MAX;

/// The longest name of a test that is kept.
const NAME_BYTES_MAX: usize = 80;
/// The most tests of one run: no program has more than some dozen, and each value is held against all of them.
const TESTS_MAX: usize = 512;

/// The values of one test of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Test {
    /// Its name; empty where the program has one test only.
    pub(super) name: String,
    pub(super) values: BTreeMap<&'static str, f64>,
}

/// A program whose text is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    CrystalDiskMark,
    Atto,
    DiskSpd,
    Robocopy,
}

/// Words by which a line begins a run of a program.
const BEGINNINGS: [(&str, Program); 5] = [
    ("crystaldiskmark ", Program::CrystalDiskMark),
    ("atto disk benchmark", Program::Atto),
    ("results for timespan", Program::DiskSpd),
    ("robocopy", Program::Robocopy),
    ("robust file copy", Program::Robocopy),
];

/// The tests of all runs in a text, in its order; `None` where it is of none of these programs.
///
/// # Errors
/// Why nothing can be read from it, in a few words.
pub(super) fn read(text: &str) -> Option<Result<Vec<Test>, Message>> {
    let program = text.lines().find_map(begins)?;
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        let is_new = match begins(line) {
            // Both words stand in one line, or, in its help, in many.
            Some(found) => found == program,
            None => false,
        };
        if is_new {
            if runs.len() == RUNS_MAX {
                return Some(Err(say("error-table.runs-in-file").count("most", RUNS_MAX)));
            }
            runs.push(Vec::new());
        }
        if let Some(lines) = runs.last_mut() {
            lines.push(line);
        }
    }
    let mut tests = Vec::new();
    for (number, lines) in (1_u64..).zip(&runs) {
        let found = match program {
            Program::CrystalDiskMark => Ok(crystal_disk_mark(lines)),
            Program::Atto => Ok(atto(lines)),
            Program::DiskSpd => disk_spd(lines),
            Program::Robocopy => robocopy(lines),
        };
        match found {
            Ok(found) if found.len() > TESTS_MAX => {
                let reason = say("error-table.results-of-run").count("run", number);
                return Some(Err(reason.count("most", TESTS_MAX)));
            }
            Ok(found) => tests.extend(found),
            Err(reason) => {
                let of_run = say("error-table.of-run").count("run", number);
                return Some(Err(of_run.with("reason", reason)));
            }
        }
        if tests.len() > RUNS_MAX {
            return Some(Err(
                say("error-table.results-in-file").count("most", RUNS_MAX)
            ));
        }
    }
    Some(match tests.is_empty() {
        true => Err(say("error-table.no-result").with("program", program.name())),
        false => Ok(tests),
    })
}

fn begins(line: &str) -> Option<Program> {
    let line = line.trim_start_matches(['-', '*', ' ', '\t']);
    let of = |(words, program): &(&str, Program)| {
        let start = line.get(..words.len())?;
        start.eq_ignore_ascii_case(words).then_some(*program)
    };
    let program = BEGINNINGS.iter().find_map(of)?;
    // `robocopy` alone begins a command line, too.
    (program != Program::Robocopy || line.contains("::")).then_some(program)
}

impl Program {
    const fn name(self) -> &'static str {
        match self {
            Self::CrystalDiskMark => "CrystalDiskMark",
            Self::Atto => "ATTO Disk Benchmark",
            Self::DiskSpd => "DiskSpd",
            Self::Robocopy => "robocopy",
        }
    }
}

/// `SEQ    1MiB (Q=  8, T= 1):   117.456 MB/s [    112.0 IOPS] < 71253.15 us>` below `[Read]`; older
/// versions write `Sequential Read (Q= 32,T= 1) :   117.9 MB/s`.
fn crystal_disk_mark(lines: &[&str]) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let mut section = None;
    for line in lines {
        let trimmed = line.trim();
        if let Some(name) = trimmed
            .strip_prefix('[')
            .and_then(|rest| rest.split(']').next())
        {
            section = match name.split(' ').next() {
                Some("Read") => Some("read_mb_s"),
                Some("Write") => Some("write_mb_s"),
                Some("Mix") => Some("mix_mb_s"),
                _ => section,
            };
            continue;
        }
        let Some((label, rest)) = trimmed
            .rsplit_once("):")
            .map(|(label, rest)| (format!("{label})"), rest))
            .or_else(|| {
                trimmed
                    .split_once(" :")
                    .map(|(label, rest)| (label.to_owned(), rest))
            })
        else {
            continue;
        };
        let Some(rate) = rest
            .split("MB/s")
            .next()
            .filter(|_| rest.contains("MB/s"))
            .and_then(decimal)
        else {
            continue;
        };
        let words: Vec<&str> = label.split_whitespace().collect();
        let of_words = words.iter().find_map(|word| match *word {
            "Read" => Some("read_mb_s"),
            "Write" => Some("write_mb_s"),
            _ => None,
        });
        let Some(response) = of_words.or(section) else {
            continue;
        };
        let kept = words
            .iter()
            .filter(|word| !matches!(**word, "Read" | "Write"));
        // `(Q= 32,T= 1)` and `(Q= 32, T= 1)` are the same.
        let name = kept.copied().collect::<Vec<_>>().join(" ");
        add(
            &mut tests,
            name.replace("= ", "=").replace(", ", ","),
            response,
            rate,
        );
    }
    tests
}

/// Sizes of transfers with what was written and read: `64 KB  112.3  117.1`, in the order of the header.
/// The unit is that of a rate behind each number or in a line above, else MB/s.
fn atto(lines: &[&str]) -> Vec<Test> {
    let mut tests = Vec::new();
    let mut order = ["write_mb_s", "read_mb_s"];
    let mut scale = 1.0;
    for line in lines {
        let lower = line.to_ascii_lowercase();
        if let (Some(write), Some(read)) = (lower.find("write"), lower.find("read")) {
            order = match write < read {
                true => ["write_mb_s", "read_mb_s"],
                false => ["read_mb_s", "write_mb_s"],
            };
        }
        if let Some(unit) = unit_scale(&lower) {
            scale = unit;
        }
        let mut words: Vec<&str> = line
            .split(['\t', ' ', ';'])
            .filter(|word| !word.is_empty())
            .collect();
        words.retain(|word| unit_scale(&word.to_ascii_lowercase()).is_none());
        let [size, unit, first, second, ..] = words[..] else {
            continue;
        };
        let is_unit = matches!(
            unit.to_ascii_uppercase().as_str(),
            "B" | "KB" | "MB" | "KIB" | "MIB"
        );
        let (Some(size), true) = (decimal(size), is_unit) else {
            continue;
        };
        let (Some(first), Some(second)) = (decimal(first), decimal(second)) else {
            continue;
        };
        let name = format!("{size} {unit}");
        for (response, rate) in order.into_iter().zip([first, second]) {
            add(&mut tests, name.clone(), response, rate * scale);
        }
    }
    tests
}

/// How many MB/s are one of the unit that a line names.
fn unit_scale(lower: &str) -> Option<f64> {
    let units = [
        ("mib/s", 1.048_576),
        ("gib/s", 1_073.741_824),
        ("kib/s", 0.001_024),
        ("mb/s", 1.0),
        ("gb/s", 1e3),
        ("kb/s", 1e-3),
    ];
    units
        .iter()
        .find(|(unit, _)| lower.contains(unit))
        .map(|(_, scale)| *scale)
}

/// `total:   1178599424 |   1124 |   112.29 |   112.29` below `Read IO` and `Write IO`; bytes over the
/// test's time are known better than the rate in MiB/s.
fn disk_spd(lines: &[&str]) -> Result<Vec<Test>, Message> {
    let mut test = Test::default();
    let mut seconds = None;
    let mut section = None;
    for line in lines {
        let trimmed = line.trim();
        if let Some(time) = trimmed.strip_prefix("actual test time:") {
            seconds = decimal(time.trim().trim_end_matches('s'));
        }
        section = match trimmed {
            "Total IO" => None,
            "Read IO" => Some("read_mb_s"),
            "Write IO" => Some("write_mb_s"),
            _ => section,
        };
        let (Some(totals), Some(response)) = (trimmed.strip_prefix("total:"), section) else {
            continue;
        };
        let mut cells = totals.split('|').map(decimal);
        let (bytes, rate) = (cells.next().flatten(), cells.nth(1).flatten());
        let by_time = bytes.zip(seconds.filter(|seconds| *seconds > 0.0));
        let rate = by_time
            .map(|(bytes, seconds)| bytes / seconds / 1e6)
            .or(rate.map(|rate| rate * 1.048_576))
            .ok_or_else(|| say("error-table.no-totals"))?;
        // The other direction was not asked for.
        if rate > 0.0 {
            test.values.insert(response, rate);
        }
    }
    Ok(match test.values.is_empty() {
        true => Vec::new(),
        false => vec![test],
    })
}

/// Units of robocopy's speed in the languages of Windows: bytes per second.
const BYTES_PER_SECOND: [&str; 7] = [
    "bytes/sec",
    "バイト/秒",
    "bytes/sek",
    "octets/s",
    "bytes/s",
    "byte/s",
    "bytes por segundo",
];
/// How the row of files begins, whose fifth number are those that failed.
const FILES: [&str; 5] = ["files", "ファイル", "dateien", "fichiers", "archivos"];

/// `Speed :  117456789 Bytes/sec.`, where the system may put marks between thousands.
fn robocopy(lines: &[&str]) -> Result<Vec<Test>, Message> {
    let mut rate = None;
    for line in lines {
        let Some((label, rest)) = line.split_once([':', '：']) else {
            continue;
        };
        let label = label.trim().to_lowercase();
        let rest = rest.trim();
        if FILES.contains(&label.as_str()) {
            let counts: Vec<f64> = rest.split_whitespace().map_while(decimal).collect();
            if let Some(failed) = counts.get(4).filter(|failed| **failed > 0.0) {
                return Err(say("error-table.not-copied").with("files", failed.to_string()));
            }
        }
        let lower = rest.to_lowercase();
        let unit = BYTES_PER_SECOND.iter().find_map(|unit| lower.find(unit));
        if let Some(end) = unit {
            rate = whole(&lower[..end]);
        }
    }
    let Some(rate) = rate else {
        return Err(say("error-table.no-speed"));
    };
    let mut tests = Vec::new();
    add(&mut tests, String::new(), "throughput_mb_s", rate / 1e6);
    Ok(tests)
}

/// Adds a value, but for one of a run that has too many already and is refused for it.
fn add(tests: &mut Vec<Test>, mut name: String, response: &'static str, value: f64) {
    if tests.len() > TESTS_MAX {
        return;
    }
    if name.len() > NAME_BYTES_MAX {
        let end = (0..=NAME_BYTES_MAX)
            .rev()
            .find(|end| name.is_char_boundary(*end));
        name.truncate(end.unwrap_or(0));
    }
    // Tests of a run are few; what repeats a name is another value of the same.
    match tests
        .iter_mut()
        .find(|test| test.name == name && !test.values.contains_key(response))
    {
        Some(test) => {
            test.values.insert(response, value);
        }
        None => tests.push(Test {
            name,
            values: BTreeMap::from([(response, value)]),
        }),
    }
}

/// A number with a decimal point or comma.
fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_plain = !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
        && text.bytes().filter(|byte| !byte.is_ascii_digit()).count() <= 1;
    is_plain.then(|| text.replace(',', ".").parse().ok())?
}

/// A whole number with any marks between thousands.
fn whole(text: &str) -> Option<f64> {
    let is_mark =
        |letter: char| matches!(letter, '.' | ',' | '\'' | '\u{2019}') || letter.is_whitespace();
    let digits: String = text.chars().filter(|letter| !is_mark(*letter)).collect();
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_whole.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use locale::Language;

    use super::*;

    /// Each value is held against all tests of its run: many of them would take hours, and memory.
    #[test]
    fn a_run_of_more_tests_than_any_program_has_is_refused() {
        let mark = |tests: usize| {
            let lines = (0..tests).map(|test| format!("{test} : 1 MB/s\n"));
            format!("CrystalDiskMark 8\n[Read]\n{}", lines.collect::<String>())
        };
        let most = read(&mark(TESTS_MAX)).expect("it is known");
        assert_eq!(most.map(|tests| tests.len()), Ok(TESTS_MAX));
        for tests in [TESTS_MAX + 1, 200_000] {
            let refused = read(&mark(tests)).expect("it is known");
            let refused = refused.map_err(|reason| Language::English.say(&reason));
            assert_eq!(
                refused,
                Err(format!("run 1 in it has more than {TESTS_MAX} results"))
            );
        }
    }
}
