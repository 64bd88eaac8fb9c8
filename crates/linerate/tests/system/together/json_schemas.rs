//! What commands print with `--json` is what `docs/schema` says of them.

use std::collections::BTreeSet;
use std::fs;

use crate::architecture_rules::sources;
use crate::lab_and_program::{self, Lab};

/// Commands that need no lab, each with its words; `FOLDER` is a folder of the test's own.
const ALONE: [(&str, &str); 15] = [
    ("inspect", "--explain nic.mtu"),
    ("profiles", ""),
    ("profiles", "default"),
    ("undo", "--dry-run"),
    ("changes", ""),
    ("bench", "disk:FOLDER --preset cdm9 --dry-run"),
    ("analyze", "../report/tests/fixtures/demo-check.jsonl"),
    ("analyze", "../report/tests/fixtures/demo-tune.jsonl"),
    (
        "analyze",
        "FOLDER/table.csv --response read_mb_s --factors a,b",
    ),
    (
        "analyze",
        "FOLDER/table.csv --response read_mb_s,write_mb_s --factors a,b",
    ),
    (
        "compare",
        "../fit/tests/cases/cdm-before-6.txt ../fit/tests/cases/cdm-after-6.txt",
    ),
    (
        "report",
        "../report/tests/fixtures/demo-check.jsonl --html FOLDER/page.html",
    ),
    ("lab-up", "--scenario healthy-1g --dry-run"),
    ("lab-scenarios", ""),
    ("doctor", ""),
];

/// The same with a lab, in their order; `CLIENT` and `SERVER` are its hosts, `LAB` its name.
const IN_A_LAB: [(&str, &str); 15] = [
    ("set", "SERVER tcp.sack=off"),
    ("inspect", "CLIENT SERVER"),
    ("changes", ""),
    ("undo", "--dry-run"),
    ("undo", ""),
    ("set", "SERVER --profile high-throughput --dry-run"),
    (
        "tune",
        "smb://10.77.1.2/media --profile high-throughput --dry-run --client CLIENT --server SERVER",
    ),
    (
        "tune",
        "smb://10.77.1.2/media --dry-run --seconds 0.2 --client CLIENT --server SERVER",
    ),
    (
        "tune",
        "smb://10.77.1.2/media --goal latency --dry-run --seconds 0.2 --client CLIENT --server SERVER",
    ),
    (
        "experiment-run",
        "FOLDER/plan.toml --dry-run --client CLIENT --server SERVER",
    ),
    (
        "experiment-run",
        "FOLDER/plan.toml --run FOLDER/run.jsonl --client CLIENT --server SERVER",
    ),
    ("experiment-resume", "FOLDER/run.jsonl"),
    ("lab-list", ""),
    ("lab-down", "LAB --dry-run"),
    ("lab-down", "LAB"),
];

const TABLE: &str = "a,b,read_mb_s,write_mb_s
0,0,100,90\n0,1,151,140\n1,0,201,180\n1,1,248,230\n0,0,102,91\n0,1,148,141\n1,0,198,182\n1,1,252,231\n";

const PLAN: &str = r#"
title = "one stream and two"
target = "tcp://10.77.1.2"
blocks = 2
noise = false

[workload]
preset = "iperf"
directions = ["read"]
seconds = 0.1

[[factor]]
name = "streams"
[[factor.level]]
name = "1"
set = ["workload:streams=1"]
[[factor.level]]
name = "2"
set = ["workload:streams=2"]
"#;

/// Runs a command, which prints what its schema says.
fn check(
    mut linerate: assert_cmd::Command,
    (command, words): (&str, &str),
    fill: impl Fn(&str) -> String,
) {
    let words: Vec<String> = words.split_whitespace().map(fill).collect();
    let linerate = linerate.args(command.split('-')).args(&words).arg("--json");
    let output = linerate.output().expect("linerate starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let is_verdict = output.status.code().is_some_and(|code| code < 64);
    assert!(is_verdict, "{command} {words:?}: {said}");
    lab_and_program::json(command, &output.stdout);
}

#[test]
fn commands_without_a_lab_print_what_their_schemas_say() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("table.csv"), TABLE).expect("room on the disk");
    let path = folder.path().display().to_string();
    for command in ALONE {
        let mut linerate = lab_and_program::linerate();
        linerate.env("LINERATE_STATE_DIR", folder.path().join("state"));
        check(linerate, command, |word| word.replace("FOLDER", &path));
    }
}

#[test]
fn commands_in_a_lab_print_what_their_schemas_say() {
    let lab = Lab::up("schemas");
    fs::write(lab.folder().join("plan.toml"), PLAN).expect("room on the disk");
    let path = lab.folder().display().to_string();
    for command in IN_A_LAB {
        check(lab.linerate(), command, |word| match word {
            "CLIENT" => lab.host("client"),
            "SERVER" => lab.host("server"),
            "LAB" => lab.name().to_owned(),
            word => word.replace("FOLDER", &path),
        });
    }
}

/// Those of the others are held against what is printed where their tests read it.
#[test]
fn no_schema_is_without_a_test() {
    let sources = sources().into_iter();
    let tests = sources.filter(|(path, _)| path.starts_with("crates/linerate/tests/system"));
    let tests: String = tests.map(|(_, text)| text).collect();
    let files = fs::read_dir(lab_and_program::schemas()).expect("the schemas");
    let names = files.filter_map(|file| {
        let name = file.expect("an entry").file_name().into_string();
        let name = name.expect("UTF-8");
        name.strip_suffix(".json").map(str::to_owned)
    });
    // That of a run is a part of those of `check` and others.
    let names: BTreeSet<String> = names.filter(|name| name != "run").collect();
    assert!(names.contains("check"), "{names:?}");
    let run = ALONE.iter().chain(&IN_A_LAB);
    let run: BTreeSet<&str> = run.map(|(name, _)| *name).collect();
    let is_held = |name: &&String| {
        run.contains(name.as_str()) || tests.contains(&format!("json(\"{name}\","))
    };
    let unused: Vec<&String> = names.iter().filter(|name| !is_held(name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
