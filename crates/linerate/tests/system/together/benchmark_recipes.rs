//! Benchmarks that people quote, on a share, a folder and raw TCP.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lab_and_program::{self, Lab};

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

/// All tasks, each with little to do.
const TASKS: &str = r#"
title = "small tasks"
seconds = 0.5
passes = 2

[[test]]
name = "one"
task.copy = { files = 1, size = "3 MB" }

[[test]]
name = "many"
task.copy = { files = 30, folders = 3, size = "1 KiB", size_max = "200 KiB" }

[[test]]
name = "create"
directions = ["write"]
task.create = 10

[[test]]
name = "open"
directions = ["read"]
task.open = 10

[[test]]
name = "remove"
directions = ["write"]
task.remove = 10

[[test]]
name = "lock"
directions = ["write"]
task.lock = 20

[[test]]
name = "list"
directions = ["read"]
task.list = { entries = 30, times = 4 }

[[test]]
name = "play"
directions = ["read"]
task.play = { frame = "100 kB", per_second = 20, frames = 12, ahead = 4, streams = 2 }

[[test]]
name = "too fast"
directions = ["read"]
task.play = { frame = "20 MB", per_second = 100, frames = 2, ahead = 1 }
"#;

fn bench(lab: &Lab, target: &str, more: &[&str]) -> Value {
    let recipe = lab.folder().join("short.toml");
    fs::write(&recipe, RECIPE).expect("room on the disk");
    let mut command = lab.linerate();
    command
        .args(["bench", target, "--json", "--client", &lab.host("client")])
        .args(more);
    if !more.contains(&"--preset") && !more.contains(&"--recipe") {
        command.arg("--recipe").arg(&recipe);
    }
    let output = command.output().expect("linerate starts");
    // Two passes give no interval of 95 %, which is no failure.
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    lab_and_program::json("bench", &output.stdout)
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

/// Runs what follows in a folder on a disk of 4096 bytes a sector, which goes away with the process.
const ON_LARGE_SECTORS: &str = r#"set -e
truncate -s 64M "$0/image"
mkfs.ext4 -q -b 4096 "$0/image"
mkdir "$0/disk"
device=$(losetup --find --show --sector-size 4096 "$0/image")
mount "$device" "$0/disk" || { losetup --detach "$device"; exit 1; }
losetup --detach "$device"
"$@"
"#;

#[test]
fn a_sweep_leaves_out_what_is_smaller_than_a_sector_of_the_disk() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let bench = |more: &[&str]| {
        let mut command = assert_cmd::Command::new("unshare");
        command.args(["--mount", "sh", "-c", ON_LARGE_SECTORS]);
        command.arg(folder.path()).arg(lab_and_program::path());
        command
            .arg("bench")
            .arg(folder.path().join("disk"))
            .args(more)
            .env("LINERATE_STATE_DIR", folder.path().join("state"));
        let output = command.output().expect("unshare starts");
        for made in ["image", "disk"].map(|name| folder.path().join(name)) {
            fs::remove_file(&made)
                .or_else(|_| fs::remove_dir(&made))
                .expect("it was made");
        }
        output
    };
    let recipe = folder.path().join("sweep.toml");
    let text = "title = 'sweep'\nfile_size = '8 MiB'\nseconds = 0.05\npasses = 1\nsweep = true\n";
    let row = |size: &str| format!("[[test]]\nname = '{size}'\nblock = '{size}'\n");
    let write = |sizes: &[&str]| {
        let rows: String = sizes.iter().map(|size| row(size)).collect();
        fs::write(&recipe, format!("{text}{rows}")).expect("room on the disk");
    };
    write(&["512 B", "6 KiB", "4 KiB", "64 KiB"]);
    let path = recipe.display().to_string();
    let output = bench(&["--recipe", &path, "--json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let value = lab_and_program::json("bench", &output.stdout);
    let tests = value["bench"].as_array().expect("tests");
    let names: Vec<_> = tests.iter().map(|test| &test["test"]["name"]).collect();
    assert_eq!(names, ["4 KiB", "64 KiB", "4 KiB", "64 KiB"]);
    assert!(
        tests
            .iter()
            .all(|test| test["failures"] == serde_json::json!([]))
    );
    assert_eq!(
        value["notes"],
        serde_json::json!([
            "`512 B`, `6 KiB` left out: past the client's cache the disk takes multiples of 4 KiB only"
        ])
    );
    write(&["512 B"]);
    let output = bench(&["--recipe", &path]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(said.contains("nothing of this can run here"), "{said}");
}

#[test]
fn tasks_on_whole_files_run_on_a_share_and_in_a_folder_and_leave_nothing() {
    let lab = Lab::up("tasks");
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let recipe = lab.folder().join("tasks.toml");
    fs::write(&recipe, TASKS).expect("room on the disk");
    let recipe = recipe.display().to_string();
    let folder_path = folder.path().display().to_string();
    let with_recipe = ["--recipe", recipe.as_str()];
    for (target, channels) in [
        ("smb://10.77.1.2/media", &["--channels", "2"][..]),
        (folder_path.as_str(), &[]),
    ] {
        let value = bench(&lab, target, &[&with_recipe, channels].concat());
        let tests = value["bench"].as_array().expect("tests");
        let rows: Vec<String> = tests
            .iter()
            .map(|test| {
                let words = [&test["test"]["name"], &test["rates_unit"]];
                assert_eq!(test["rates"].as_array().map(Vec::len), Some(2), "{test}");
                words
                    .map(|word| word.as_str().unwrap_or_default())
                    .join(" ")
            })
            .collect();
        assert_eq!(
            rows,
            [
                "one bytes_per_second",
                "many bytes_per_second",
                "open operations_per_second",
                "list operations_per_second",
                "play frames_per_second",
                "too fast frames_per_second",
                "one bytes_per_second",
                "many bytes_per_second",
                "create operations_per_second",
                "remove operations_per_second",
                "lock operations_per_second",
            ],
            "{target}"
        );
        let played = |name: &str| {
            let test = tests.iter().find(|test| test["test"]["name"] == name);
            &test.expect("it was played")["test"]["playback"]
        };
        // Two passes of half a second, of two players and of one.
        assert_eq!(played("play")["due"], 40);
        assert_eq!(played("too fast")["due"], 100);
        // 2 GB/s go through no link of this lab; a folder in memory may be that fast.
        if target.starts_with("smb") {
            assert!(played("too fast")["missed"].as_u64() > Some(50));
            assert!(
                tests[0]["test"]["first_byte_ns"].as_u64() > Some(0),
                "{tests:?}"
            );
        }
    }
    assert_eq!(lab.files_of_the_share(), "");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn what_a_killed_task_left_is_removed_by_the_next_and_what_is_in_use_is_not() {
    let lab = Lab::up("tasks-left");
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let recipe = lab.folder().join("one.toml");
    let text = "title = 'one'\npasses = 1\n[[test]]\nname = 'one'\ndirections = ['write']\ntask.create = 2\n";
    fs::write(&recipe, text).expect("room on the disk");
    let recipe = recipe.display().to_string();
    // As it looks after a power cut, beside one that another program holds.
    let left = folder.path().join(".linerate-0123456789abcdef.files/tree");
    let used = folder.path().join(".linerate-fedcba9876543210.files");
    for path in [&left, &used] {
        fs::create_dir_all(path).expect("a folder");
    }
    fs::write(left.join("file-000000.bin"), "left").expect("a file");
    let hold = fs::File::create(folder.path().join(".linerate-fedcba9876543210.hold"));
    let hold = hold.expect("a file");
    hold.lock().expect("nobody else has it");
    bench(
        &lab,
        &folder.path().display().to_string(),
        &["--recipe", &recipe],
    );
    assert!(!left.exists() && used.exists());
    drop(hold);
    lab.run("server", &["sh", "-c", "mkdir -p /srv/media/.linerate-0123456789abcdef.files/tree && chmod -R 777 /srv/media/.linerate-0123456789abcdef.files && touch /srv/media/.linerate-0123456789abcdef.files/tree/file && chmod 666 /srv/media/.linerate-0123456789abcdef.files/tree/file"]);
    bench(&lab, "smb://10.77.1.2/media", &["--recipe", &recipe]);
    assert_eq!(lab.files_of_the_share(), "");
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
        lab_and_program::linerate()
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
        let mut child = Command::new(lab_and_program::path())
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
