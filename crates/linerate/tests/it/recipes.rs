//! Benchmarks that people quote, on a share, a folder and raw TCP.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{self, Lab};

/// Short, and with everything that a recipe can say.
const RECIPE: &str = r#"
title = "short"
file_size = "8 MiB"
seconds = 0.2
discard = 1
passes = 2
figure = "best"

[[test]]
name = "large"
block = "2 MiB"
depth = 4

[[test]]
name = "small"
pattern = "random"
block = "4 KiB"
threads = 4
directions = ["read"]
other_way_percent = 30
"#;

fn bench(lab: &Lab, target: &str, more: &[&str]) -> Value {
    let recipe = lab.folder().join("short.toml");
    fs::write(&recipe, RECIPE).expect("room on the disk");
    let mut command = lab.linerate();
    command
        .args(["bench", target, "--json", "--client", &lab.host("client")])
        .args(more);
    if !more.contains(&"--preset") {
        command.arg("--recipe").arg(&recipe);
    }
    let output = command.output().expect("linerate starts");
    // Two passes give no interval of 95 %, which is no failure.
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_recipe_runs_on_a_share_and_in_a_folder_and_leaves_nothing() {
    let lab = Lab::up("recipe");
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    for target in [
        "smb://10.77.1.2/media",
        &folder.path().display().to_string(),
    ] {
        let value = bench(&lab, target, &[]);
        let tests = value["bench"].as_array().expect("tests");
        let rows: Vec<String> = tests
            .iter()
            .map(|test| format!("{} {}", test["test"]["name"], test["workload"]["direction"]))
            .collect();
        assert_eq!(
            rows,
            [
                "\"large\" \"read\"",
                "\"small\" \"read\"",
                "\"large\" \"write\""
            ],
            "{target}"
        );
        for test in tests {
            let rates: Vec<f64> = test["rates"]
                .as_array()
                .expect("rates")
                .iter()
                .filter_map(Value::as_f64)
                .collect();
            assert_eq!(rates.len(), 2, "the first pass is thrown away: {test}");
            let best = rates.iter().copied().fold(0.0, f64::max);
            assert_eq!(test["test"]["figure"].as_f64(), Some(best));
            let latency = &test["test"]["latency_ns"];
            assert!(
                latency["p50"].as_u64() > Some(0)
                    && latency["p50"].as_u64() <= latency["p99"].as_u64(),
                "{test}"
            );
            assert!(test["test"]["cache"].is_string(), "{test}");
        }
    }
    assert_eq!(lab.files_of_the_share(), "");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn iperf_gives_the_mean_of_its_runs_and_wants_a_host() {
    let lab = Lab::up("recipe-tcp");
    let server = lab.host("server");
    let value = bench(
        &lab,
        "tcp://10.77.1.2",
        &[
            "--preset",
            "iperf",
            "--seconds",
            "0.3",
            "--repetitions",
            "2",
            "--server",
            &server,
        ],
    );
    for test in value["bench"].as_array().expect("both ways") {
        let rates: Vec<f64> = test["rates"]
            .as_array()
            .expect("rates")
            .iter()
            .filter_map(Value::as_f64)
            .collect();
        let mean = rates.iter().sum::<f64>() / 2.0;
        let figure = test["test"]["figure"].as_f64().expect("a figure");
        assert!((figure / mean - 1.0).abs() < 1e-9, "{figure} {mean}");
    }
    for (target, preset) in [
        ("tcp://10.77.1.2", "cdm9"),
        ("/tmp", "iperf"),
        ("/tmp", "cdm10"),
        ("/no/such", "cdm9"),
    ] {
        support::linerate()
            .args(["bench", target, "--preset", preset])
            .assert()
            .code(64);
    }
}

#[test]
fn a_preset_that_is_killed_leaves_nothing_on_the_share_and_in_the_folder() {
    let lab = Lab::up("recipe-kill");
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    for target in [
        "smb://10.77.1.2/media",
        &folder.path().display().to_string(),
    ] {
        let run = lab.folder().join("killed.jsonl");
        fs::remove_file(&run).ok();
        let mut child = Command::new(support::path())
            .args([
                "bench",
                target,
                "--preset",
                "cdm9",
                "--file-size",
                "16 MiB",
                "--client",
                &lab.host("client"),
            ])
            .arg("--run")
            .arg(&run)
            .env("LINERATE_STATE_DIR", lab.folder().join("state"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("linerate starts");
        // The run file is begun once the test file is there.
        let deadline = Instant::now() + Duration::from_secs(30);
        while !run.exists() {
            assert!(Instant::now() < deadline, "{target}: no run began");
            std::thread::yield_now();
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let left = || {
            match target.starts_with("smb") {
            true => lab.run("client", &["sh", "-c", "smbclient -A /run/linerate/credentials //10.77.1.2/media -c ls | grep -c linerate- || true"]),
            false => fs::read_dir(folder.path()).expect("the folder").count().to_string(),
        }
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        while left().trim() != "0" {
            assert!(Instant::now() < deadline, "{target}: a test file is left");
        }
    }
}
