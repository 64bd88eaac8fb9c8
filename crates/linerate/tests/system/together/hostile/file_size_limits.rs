//! Files as large as they may be, and a little larger: what is taken takes little memory all the same.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::Site;

/// Its name, what stands in it, the exit code of each command that reads it, and what is said.
type Large = (&'static str, String, i32, &'static str);

fn fill(file: &mut File, bytes: &[u8]) {
    file.write_all(bytes).expect("room on the disk");
}

/// Gives run files with this header to every command that reads one.
fn judge_runs(header: &str, cases: impl IntoIterator<Item = Large>) {
    let site = Site::new();
    for (name, records, code, says) in cases {
        let file = site.give(&format!("{name}.jsonl"), |file| {
            fill(file, format!("{header}\n{records}").as_bytes());
        });
        site.judge_run(&file, code, says);
        fs::remove_file(&file).expect("our own file");
    }
}

fn many(line: &str, count: usize) -> String {
    format!("{line}\n").repeat(count)
}

fn list(element: &str, count: usize) -> String {
    format!("[{}{element}]", format!("{element},").repeat(count - 1))
}

fn look(count: usize) -> String {
    format!("{{\"kind\":\"look\",\"mtus\":{}}}\n", list("{}", count))
}

/// A design of seven factors with long names and the trials of one block of it.
fn design_of(tune: &[String], responses: usize) -> String {
    let name = |number: usize| format!("{number}{}", "<\\\"".repeat(15));
    let trial: Value = serde_json::from_str(record(tune, "trial")).expect("JSON");
    let workload = &trial["workload"];
    let arms: Vec<Vec<usize>> = (0..128)
        .map(|arm| (0..7).map(|factor| arm >> factor & 1).collect())
        .collect();
    let levels: Vec<Value> = (0..2)
        .map(|level| json!({ "name": name(level), "settings": [] }))
        .collect();
    let factors: Vec<Value> = (0..7)
        .map(|factor| json!({ "name": name(factor), "levels": levels }))
        .collect();
    let of: Vec<Value> = (0..responses)
        .map(|response| json!({ "name": name(response), "workload": workload }))
        .collect();
    let order: Vec<usize> = (0..128).collect();
    let design = json!({ "kind": "design", "name": "d", "title": "t", "form": "full", "factors": factors,
        "aliases": [], "left_out": [], "responses": of, "arms": arms, "again": null, "whole_plots": [],
        "blocks": [order], "stop": {}, "band": 0.02 });
    let mut text = format!("{design}\n");
    for (id, (arm, response)) in order
        .iter()
        .flat_map(|arm| (0..responses).map(move |response| (arm, response)))
        .enumerate()
    {
        let mut visit = trial.clone();
        visit["id"] = id.into();
        visit["stage"] = json!({ "stage": "visit", "block": 0, "position": arm, "arm": arm,
            "response": name(response), "discarded": false });
        visit["outcome"]["measured"]["samples"][0]["bytes"] = (100_000_000 + id * 7_919).into();
        writeln!(text, "{visit}").expect("room in memory");
    }
    text
}

fn lines(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../report/tests/fixtures")
        .join(name);
    let text = fs::read_to_string(path).expect("the fixture");
    text.lines().map(str::to_owned).collect()
}

/// The first record of a kind.
fn record<'a>(lines: &'a [String], kind: &str) -> &'a str {
    let tag = format!("\"kind\":\"{kind}\"");
    let found = lines.iter().find(|line| line.contains(&tag));
    found.expect("one of them")
}

#[test]
fn trials_at_their_limits_take_little_memory() {
    let [tune, check] = ["demo-tune.jsonl", "demo-check.jsonl"].map(lines);
    let (trial, rung) = (record(&tune, "trial"), record(&check, "trial"));
    let trials = many(trial, 13_000);
    let failure = |length: usize| {
        let (before, _) = trial.split_once("\"outcome\":").expect("an outcome");
        let failure = json!({ "kind": "internal", "chain": ["<".repeat(length)], "hint": null });
        format!("{before}\"outcome\":{{\"failed\":{failure}}}}}\n")
    };
    let settings = {
        let (before, rest) = trial.split_once("\"settings\":[").expect("settings");
        let (_, after) = rest.split_once("],\"started\"").expect("what follows");
        let settings = list(r#"{"workload":{"field":"","value":"unset"}}"#, 8_000);
        format!("{before}\"settings\":{settings},\"started\"{after}\n")
    };
    let stage = format!("\"stage\":{{\"x\":{},", list("0", 200_000));
    let elements = trial.replacen("\"stage\":{", &stage, 1) + "\n";
    let cases: [Large; 8] = [
        ("trials", trials.clone(), 2, ""),
        ("trials-and-look", trials.clone() + &look(10_000), 2, ""),
        (
            "large-look",
            trials.clone() + &look(32_000),
            65,
            "line 13002",
        ),
        (
            "too-many",
            trials + &many(trial, 4_000),
            65,
            "up to line 13",
        ),
        ("long-failures", failure(400_000).repeat(60), 2, ""),
        (
            "longer-failures",
            failure(600_000),
            65,
            "line 2 has more than 512 KiB",
        ),
        ("settings", settings.repeat(100), 65, "up to line"),
        (
            "elements",
            elements,
            65,
            "line 2 has more than 32768 elements",
        ),
    ];
    judge_runs(&tune[0], cases);
    judge_runs(&check[0], [("rungs", many(rung, 12_000), 2, "")]);
}

#[test]
fn other_records_at_their_limits_take_little_memory() {
    let [tune, check] = ["demo-tune.jsonl", "demo-check.jsonl"].map(lines);
    let schedule = record(&tune, "schedule");
    let mut experiments = String::new();
    for number in 0..256 {
        let name = format!("\"experiment\":\"{number} {}", "<\\\"".repeat(300));
        let named = schedule.replacen("\"experiment\":\"", &name, 1);
        writeln!(experiments, "{named}").expect("room in memory");
    }
    let event = r#"{"kind":"event","at":0,"event":"#;
    let mut keys = format!("{event}\"finished\"");
    for number in 0..30_000 {
        write!(keys, ",\"\\n{number}\":[]").expect("room in memory");
    }
    keys.push_str("}\n");
    let note = format!("{event}\"note\",\"text\":\"{}\"}}", "<\\\"".repeat(100));
    let brackets = format!("{{\"kind\":\"look\",\"x\":{}\n", "[".repeat(500_000));
    let cases: [Large; 8] = [
        ("design", design_of(&tune, 4), 2, ""),
        ("large-design", design_of(&tune, 5), 65, "line 2"),
        ("experiments", experiments.clone(), 2, ""),
        ("too-many", experiments.repeat(2), 65, "line 258"),
        ("keys", keys, 0, ""),
        ("brackets", brackets, 65, "line 2"),
        ("notes", many(&note, 3_000), 2, ""),
        (
            "tiny",
            many("{}", 10_000_000),
            2,
            "9999900 more lines have unknown kinds",
        ),
    ];
    judge_runs(&tune[0], cases);
    judge_runs(&check[0], [("looks", look(10_000).repeat(2), 65, "line 3")]);
}

/// Rows of so many factors, with the names of the factors.
fn rows(count: usize, factors: usize) -> (String, String) {
    let names: Vec<String> = (0..factors).map(|factor| format!("f{factor}")).collect();
    let names = names.join(",");
    let mut text = format!("{names},y\n");
    let mut state = 1_u32;
    for _ in 0..count {
        for _ in 0..factors {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(if state >> 31 == 0 { "0," } else { "1," });
        }
        writeln!(text, "{}", 100 + (state >> 20) % 50).expect("room in memory");
    }
    (text, names)
}

#[test]
fn tables_at_their_limits_take_little_memory() {
    let site = Site::new();
    let judge = |name: &str, bytes: &[u8], factors: &str, code, says| {
        let file = site.give(name, |file| fill(file, bytes));
        let given = file.to_str().expect("UTF-8");
        let asked = ["--response", "y", "--factors", factors];
        site.judge(
            &[&["analyze", given][..], &asked].concat(),
            &file,
            code,
            says,
        );
    };
    for (name, (text, factors), code, says) in [
        ("rows.csv", rows(100_000, 2), 0, "100000 rows"),
        ("too-many.csv", rows(100_001, 1), 64, "line 100002"),
        ("factors.csv", rows(32_000, 15), 0, "32000 rows"),
        (
            "cells.csv",
            rows(40_000, 15),
            64,
            "524288 rows times parameters",
        ),
    ] {
        judge(name, text.as_bytes(), &factors, code, says);
    }
    let columns: String = (0..100_000).map(|column| format!("c{column},")).collect();
    let quote = format!("f0,y\n\"{}", "x\n".repeat(4_000_000));
    for (name, text) in [
        ("columns.csv", columns),
        ("cell.csv", "x".repeat(8 << 20)),
        ("zeros.csv", "\0".repeat(8 << 20)),
    ] {
        judge(name, text.as_bytes(), "f0", 64, "line 1");
    }
    judge("quote.csv", quote.as_bytes(), "f0", 64, "line 2");
    let letters = format!("\u{feff}{}", "\u{4e00}".repeat(4_000_000));
    let wide: Vec<u8> = letters.encode_utf16().flat_map(u16::to_le_bytes).collect();
    judge("utf-16.csv", &wide, "f0", 64, "more than 8388608 bytes");
}

#[test]
fn results_of_other_programs_at_their_limits_take_little_memory() {
    const HALF: usize = 7 << 20;
    let site = Site::new();
    let one = format!("{{\"times\":[{}1]}},", "1,".repeat(15_000));
    let command = "x".repeat(2 * HALF);
    for (name, text, says) in [
        (
            "times",
            format!("{{\"results\":[{{\"times\":[{}1]}}]}}", "1,".repeat(HALF)),
            "line 1",
        ),
        (
            "results",
            format!("{{\"results\":[{}1]}}", one.repeat(400)),
            "line 1",
        ),
        (
            "jobs",
            format!("{{\"jobs\":[{}1]}}", "{},".repeat(HALF / 2)),
            "line 1",
        ),
        (
            "documents",
            "{\"jobs\":[]}".repeat(1 << 20),
            "nothing was measured",
        ),
        (
            "command",
            format!("{{\"results\":[{{\"command\":\"{command}\",\"mean\":1}}]}}"),
            "more than 1024 bytes",
        ),
    ] {
        let file = site.give(&format!("{name}.json"), |file| fill(file, text.as_bytes()));
        let arm = format!("a={}", file.display());
        site.judge(&["analyze", &arm], &file, 64, says);
    }
}

#[test]
fn plans_and_profiles_at_their_limits_take_little_memory() {
    const LONG: usize = 255 << 10;
    let site = Site::new();
    let factor = "[[factor]]\nname='f'\nlevel=[{name='a'},{name='b'}]\n";
    let workload = "title='t'\nworkload={preset='cdm9'}\n";
    for (name, text) in [
        ("dotted", format!("{}=1", vec!["a"; LONG / 2].join("."))),
        ("nested", format!("a={}", "[".repeat(LONG - 2))),
        ("inline", format!("a={}", "{a=".repeat(LONG / 3 - 1))),
        ("numbers", format!("a={}", list("0", LONG / 2 - 2))),
        ("lists", format!("a={}", list("[]", LONG / 3 - 2))),
        ("tables", "[[x]]\n".repeat(LONG / 6)),
        ("factors", format!("{workload}{}", factor.repeat(LONG / 56))),
        ("title", format!("title='{}'", "x".repeat(LONG - 8))),
    ] {
        let file = site.give(&format!("{name}.toml"), |file| fill(file, text.as_bytes()));
        let given = file.to_str().expect("UTF-8");
        site.judge(&["experiment", "run", given, "--dry-run"], &file, 64, "");
        site.judge(&["profiles", given], &file, 64, "");
    }
}
