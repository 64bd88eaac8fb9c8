//! Experiments over several factors, killed and taken up again.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use predicates::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::lab_and_program::{self, Lab};

const PLAN: &str = r#"
title = "short"
target = "tcp://10.77.1.2"
blocks = 3
seed = 5

[workload]
preset = "iperf"
directions = ["read"]
seconds = 0.2

[[factor]]
name = "mtu"
[[factor.level]]
name = "1500"
set = ["client:nic.mtu@lan1=1500", "server:nic.mtu@lan1=1500"]
[[factor.level]]
name = "9000"
set = ["client:nic.mtu@lan1=9000", "server:nic.mtu@lan1=9000"]

[[factor]]
name = "flow_control"
[[factor.level]]
name = "off"
set = ["client:nic.flow_control@lan1=off"]
[[factor.level]]
name = "on"
set = ["client:nic.flow_control@lan1=on"]

[[factor]]
name = "streams"
[[factor.level]]
name = "1"
set = ["workload:streams=1"]
[[factor.level]]
name = "2"
set = ["workload:streams=2"]
"#;

fn plan(lab: &Lab) -> std::path::PathBuf {
    let plan = lab.folder().join("plan.toml");
    fs::write(&plan, PLAN).expect("room on the disk");
    plan
}

/// The whole records of a run file, the header among them.
fn records(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run).unwrap_or_default();
    let records = text.lines().map(serde_json::from_str::<Value>);
    records.filter_map(Result::ok).collect()
}

fn trials(run: &Path) -> Vec<Value> {
    let mut records = records(run);
    records.retain(|record| record["kind"] == "trial" && record["stage"]["discarded"] == false);
    records
}

fn counted(run: &Path) -> Vec<String> {
    let places = trials(run).into_iter().map(|trial| {
        let stage = &trial["stage"];
        format!(
            "{}/{} {} {}",
            stage["block"], stage["position"], stage["arm"], stage["response"]
        )
    });
    places.collect()
}

#[test]
fn a_dry_run_tells_the_schedule_and_what_a_host_lacks() {
    let lab = Lab::up("plan-dry");
    let plan = plan(&lab);
    let before = lab.facts();
    let output = lab
        .linerate()
        .args(["experiment", "run", "--dry-run"])
        .arg(&plan)
        .args(lab.ends())
        .assert()
        .success();
    let (said, told) = (&output.get_output().stdout, &output.get_output().stderr);
    let (said, told) = (String::from_utf8_lossy(said), String::from_utf8_lossy(told));
    assert!(told.contains("left out: flow_control"), "{told}");
    for wanted in [
        "full factorial",
        "9000, 2",
        "baseline once more",
        "mtu 9000",
        "nothing was changed",
    ] {
        assert!(said.contains(wanted), "`{wanted}` is not in:\n{said}");
    }
    assert_eq!(lab.facts(), before);
    // What is left of a fraction is too little for one.
    let fourth = r#"
[[factor]]
name = "buffer"
[[factor.level]]
name = "small"
set = ["client:tcp.rmem=4096,65536,1048576"]
[[factor.level]]
name = "large"
set = ["client:tcp.rmem=4096,131072,33554432"]
"#;
    fs::write(&plan, format!("design = \"fraction\"{PLAN}{fourth}")).expect("room on the disk");
    let fraction = |more: &[&str]| {
        let mut fraction = lab.linerate();
        fraction.args(["experiment", "run", "--dry-run"]).arg(&plan);
        let output = fraction.args(lab.ends()).args(more).assert().success();
        let output = output.get_output();
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned())
    };
    let [said, told] = fraction(&[]);
    assert!(told.contains("left out: flow_control"), "{told}");
    let form = "full factorial instead of a fraction, which takes 4 factors";
    assert!(said.contains(form) && told.contains(form), "{said}{told}");
    assert!(said.contains("9 arms"), "{said}");
    // Each command can be copied into a shell.
    let printed = said.lines().filter_map(|line| {
        let (_, words) = line.strip_prefix("  lab://")?.split_once(": ")?;
        let script = format!("printf '%s\\n' {words}");
        let read = Command::new("sh").args(["-c", &script]).output();
        Some(String::from_utf8_lossy(&read.expect("a shell").stdout).into_owned())
    });
    let json = lab_and_program::json("experiment-run", fraction(&["--json"])[0].as_bytes());
    let levels = json["commands"].as_array().expect("a list").iter();
    let commands = levels.flat_map(|level| level["commands"].as_array().expect("a list"));
    let argv = commands.map(|command| {
        let words = command["argv"].as_array().expect("a list").iter();
        let lines = words.map(|word| format!("{}\n", word.as_str().expect("a word")));
        lines.collect::<String>()
    });
    let argv: Vec<String> = argv.collect();
    assert_eq!(printed.collect::<Vec<_>>(), argv);
    assert!(argv.concat().contains("=4096 65536 1048576\n"), "{argv:?}");
}

#[test]
fn who_is_not_let_in_is_told_before_anything_is_changed() {
    let lab = Lab::up("plan-login");
    let file = |name: &str, text: &str| {
        let path = lab.folder().join(name);
        fs::write(&path, text).expect("room on the disk");
        path
    };
    let wrong = file("wrong", "username=linerate\npassword=not this one\n");
    fs::set_permissions(&wrong, fs::Permissions::from_mode(0o600)).expect("our own file");
    let plan = file("killed.toml", KILLED_PLAN);
    let plan = plan.display().to_string();
    let run = lab.folder().join("run.jsonl");
    let before = lab.picture();
    let refused = |mut command: assert_cmd::Command| {
        let refused = command.arg("--credentials").arg(&wrong).assert().code(65);
        let says = predicate::str::contains("does not let `linerate` log in");
        refused.stderr(says);
    };
    let profile = [
        "tune",
        "smb://10.77.1.2/media",
        "--profile",
        "high-throughput",
    ];
    for words in [&["experiment", "run", &plan][..], &profile] {
        let mut command = lab.linerate();
        command.args(words).args(lab.ends()).arg("--run").arg(&run);
        refused(command);
        assert!(!run.exists(), "{words:?}");
    }
    assert_eq!(lab.picture(), before);

    // One that goes on where it ended adds no failure to what it has.
    let served = file("served.toml", SERVED_PLAN);
    let mut good = lab.linerate();
    good.args(["experiment", "run", "--blocks", "1"])
        .arg(served);
    let good = good.args(lab.ends()).arg("--run").arg(&run).output();
    let good = good.expect("linerate starts");
    let whole = fs::read_to_string(&run).expect("the run file");
    let (begun, _) = whole.split_once("{\"kind\":\"trial\"").unwrap_or_else(|| {
        panic!("{}", String::from_utf8_lossy(&good.stderr));
    });
    fs::write(&run, begun).expect("room on the disk");
    let mut resume = lab.linerate();
    resume.args(["experiment", "resume"]).arg(&run);
    refused(resume);
    assert_eq!(fs::read_to_string(&run).expect("the run file"), begun);
}

const COPY_RECIPE: &str = r#"
title = "one file"

[[test]]
name = "file"
task.copy = { files = 1, size = "1 MiB" }
"#;

const COPY_PLAN: &str = r#"
title = "copied over one channel and two"
target = "smb://10.77.1.2/media"
blocks = 2
noise = false

[workload]
recipe = "copy.toml"
directions = ["read"]

[[factor]]
name = "channels"
[[factor.level]]
name = "1"
set = ["workload:channels=1"]
[[factor.level]]
name = "2"
set = ["workload:channels=2"]
"#;

#[test]
fn a_copy_over_a_channel_that_did_not_come_up_is_not_measured() {
    let topology = fs::read_to_string(lab_and_program::topology()).expect("the demo's topology");
    let without = topology.replace("multichannel = true", "multichannel = false");
    assert_ne!(topology, without);
    let lab = Lab::described("plan-copy", &without);
    let plan = lab.folder().join("plan.toml");
    fs::write(&plan, COPY_PLAN).expect("room on the disk");
    fs::write(lab.folder().join("copy.toml"), COPY_RECIPE).expect("room on the disk");
    let run = lab.folder().join("run.jsonl");
    let mut experiment = lab.linerate();
    experiment.args(["experiment", "run"]).arg(&plan);
    let experiment = experiment.args(lab.ends()).arg("--run").arg(&run);
    let output = experiment.output().expect("linerate starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    let trials = trials(&run);
    assert_eq!(trials.len(), 4, "{told}");
    for trial in trials {
        let why = trial["outcome"]["failed"]["chain"][0].as_str();
        let wanted = (trial["stage"]["arm"] == 1).then_some("1 of 2 channels came up");
        assert_eq!(why, wanted, "{trial}");
    }
}

/// Kills where the tests run; this variable says otherwise.
const KILLS: usize = 2;
const KILLS_VARIABLE: &str = "LINERATE_EXPERIMENT_KILLS";
/// The longest time from a start to the kill, against the time that starting alone takes.
const LATEST_KILL: f64 = 3.0;
/// Trials that count: two blocks of four arms and the baseline once more, each with both directions.
const PLACES: usize = 20;
/// How long the lab may take to scale a link's rate to a MTU that is back.
const SETTLE: Duration = Duration::from_secs(20);
/// Seed of all moments.
const SEED: u64 = 20_261_122;

/// What a real machine has to take back: a MTU at both ends, and a line of the server's `smb.conf`.
const KILLED_PLAN: &str = r#"
title = "killed"
target = "smb://10.77.1.2/media"
blocks = 2

[workload]
preset = "cdm8"
tests = ["SEQ 1 MiB Q8 T1"]
file_size = "8 MiB"
seconds = 0.1
warm_up_seconds = 0.05

[[factor]]
name = "mtu"
[[factor.level]]
name = "1500"
set = ["client:nic.mtu@lan1=1500", "server:nic.mtu@lan1=1500"]
[[factor.level]]
name = "9000"
set = ["client:nic.mtu@lan1=9000", "server:nic.mtu@lan1=9000"]

[[factor]]
name = "largest_read"
[[factor.level]]
name = "4 MiB"
set = ["server:smb.server.max_read=4194304"]
[[factor.level]]
name = "1 MiB"
set = ["server:smb.server.max_read=1048576"]
"#;

/// An experiment that is killed again and again until it is complete.
struct Killed<'a> {
    lab: &'a Lab,
    plan: PathBuf,
    run: PathBuf,
}

impl Killed<'_> {
    /// Begins it, or goes on with it where its file tells what is planned.
    fn start(&self) -> Child {
        let mut command = Command::new(lab_and_program::path());
        command.arg("experiment");
        if records(&self.run).iter().any(|one| one["kind"] == "design") {
            command.arg("resume").arg(&self.run);
        } else {
            // Killed before anything was planned: nothing is lost with the file.
            drop(fs::remove_file(&self.run));
            command.arg("run").arg(&self.plan).args(self.lab.ends());
            command.arg("--run").arg(&self.run);
        }
        let state = self.lab.folder().join("state");
        let log = fs::File::create(self.log()).expect("room on the disk");
        let command = command
            .env("LINERATE_STATE_DIR", state)
            .stdin(Stdio::null());
        let started = command.stdout(Stdio::null()).stderr(log).spawn();
        started.expect("linerate starts")
    }

    fn log(&self) -> PathBuf {
        self.lab.folder().join("log")
    }

    /// Kills it, and leaves its file sometimes as a crash in the middle of a write does.
    fn kill(&self, child: &mut Child, torn: bool) {
        child.kill().expect("our own child");
        child.wait().expect("our own child");
        if torn && let Ok(mut text) = fs::read(&self.run) {
            text.extend_from_slice(b"{\"kind\":\"tri");
            fs::write(&self.run, text).expect("room on the disk");
        }
    }

    /// No trial lost or doubled, the analysis that the same samples give when nobody kills anything,
    /// and both hosts as before.
    fn check(&self, before: &str) {
        let counted = counted(&self.run);
        let unique: BTreeSet<&String> = counted.iter().collect();
        assert_eq!(
            (counted.len(), unique.len()),
            (PLACES, PLACES),
            "{counted:#?}"
        );
        let mut by_arm: BTreeMap<String, usize> = BTreeMap::new();
        for trial in trials(&self.run) {
            let arm = trial["stage"]["arm"].to_string();
            *by_arm.entry(arm).or_default() += 1;
        }
        assert!(
            by_arm.len() == 5 && by_arm.values().all(|count| *count == 4),
            "{by_arm:?}"
        );
        let whole = self.lab.folder().join("whole.jsonl");
        uninterrupted(&self.run, &whole);
        assert_eq!(self.analysis(&self.run), self.analysis(&whole));
        self.lab.linerate().arg("changes").assert().success();
        let settled = Instant::now();
        let mut now = self.lab.picture();
        while now != before && settled.elapsed() < SETTLE {
            now = self.lab.picture();
        }
        let lines = before.lines().zip(now.lines());
        let differ: Vec<_> = lines.filter(|(one, other)| one != other).collect();
        assert!(now == before, "{differ:#?}");
        assert_eq!(self.lab.files_of_the_share(), "");
    }

    /// All that is said of a run, but for how often its changes were made.
    fn analysis(&self, run: &Path) -> Value {
        let mut command = self.lab.linerate();
        let output = command.args(["analyze", "--json"]).arg(run).output();
        let output = output.expect("linerate starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.stdout.is_empty(), "{said}");
        let mut analysis = lab_and_program::json("analyze", &output.stdout);
        let changes = analysis
            .as_object_mut()
            .and_then(|all| all.remove("changes"));
        assert!(changes.is_some(), "{analysis}");
        analysis
    }
}

/// Writes down the counted trials of a run as one that nobody killed would have.
fn uninterrupted(run: &Path, whole: &Path) {
    let all = records(run);
    let is_trial = |record: &&Value| record["kind"] == "trial";
    let first = all.iter().take_while(|record| !is_trial(record));
    let mut lines: Vec<Value> = first
        .filter(|one| one["kind"] != "event")
        .cloned()
        .collect();
    let mut trials = trials(run);
    let planned = |trial: &Value| {
        let stage = &trial["stage"];
        let responses = lines
            .iter()
            .find_map(|record| record["responses"].as_array());
        let place =
            responses.and_then(|all| all.iter().position(|one| one["name"] == stage["response"]));
        (stage["block"].as_u64(), stage["position"].as_u64(), place)
    };
    trials.sort_by_key(planned);
    for (id, trial) in trials.iter_mut().enumerate() {
        trial["id"] = id.into();
    }
    lines.extend(trials);
    lines.extend(
        all.into_iter()
            .rfind(|record| record["event"] == "finished"),
    );
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(whole, text).expect("room on the disk");
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "how many were met is a figure that people want to see"
)]
fn an_experiment_killed_at_random_moments_is_the_same_and_hosts_are_as_before() {
    let kills = env::var(KILLS_VARIABLE).map_or(KILLS, |text| text.parse().expect("a number"));
    let lab = Lab::up("plan-kills");
    let plan = lab.folder().join("killed.toml");
    fs::write(&plan, KILLED_PLAN).expect("room on the disk");
    let before = lab.picture();
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let (mut killed, mut open, mut complete) = (0, 0, 0);
    let mut latest = Duration::from_secs(2);
    while killed < kills || complete == 0 {
        let run = lab.folder().join(format!("run-{complete}.jsonl"));
        let experiment = Killed {
            lab: &lab,
            plan: plan.clone(),
            run,
        };
        loop {
            let began = Instant::now();
            let mut child = experiment.start();
            // The moments are spread over starting, setting, measuring and putting back.
            if killed < kills {
                wait(&mut child, latest.mul_f64(random.random_range(0.0..1.0)));
            } else {
                child.wait().expect("our own child");
            }
            let ended = child.try_wait().expect("our own child");
            if let Some(status) = ended {
                let said = fs::read_to_string(experiment.log()).unwrap_or_default();
                assert!(matches!(status.code(), Some(0..=2)), "{status}: {said}");
                break;
            }
            experiment.kill(&mut child, random.random_bool(0.5));
            killed += 1;
            let mut changes = lab.linerate();
            let changes = changes.arg("changes").output().expect("linerate starts");
            open += usize::from(changes.status.code() == Some(1));
            if counted(&experiment.run).is_empty() {
                latest = latest.max(began.elapsed().mul_f64(LATEST_KILL));
            }
        }
        experiment.check(&before);
        complete += 1;
    }
    println!(
        "{complete} experiments were killed {killed} times, {open} of them with a change open"
    );
    assert!(killed >= kills);
    assert!(
        2 * open >= kills,
        "only {open} of {killed} were met with a change open"
    );
}

/// Waits so long for a child, or until it ends by itself.
fn wait(child: &mut Child, limit: Duration) {
    let began = Instant::now();
    while began.elapsed() < limit && child.try_wait().expect("our own child").is_none() {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn every_plan_of_the_repository_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let lab = Lab::up("plan-all");
    let mut plans = 0;
    for entry in fs::read_dir(folder).expect("the plans") {
        let path = entry.expect("a plan").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a plan");
        // One is after no study.
        let is_of_study = !path.ends_with("all-of-seven.toml");
        assert_eq!(text.contains("published = "), is_of_study, "{path:?}");
        let mut dry = lab.linerate();
        dry.args(["experiment", "run", "--dry-run"])
            .arg(&path)
            .args(lab.ends())
            .assert()
            .success();
        plans += 1;
    }
    assert_eq!(plans, 7);
}

/// Long enough that two looks at the server fit into each trial.
const SERVED_PLAN: &str = r#"
title = "served"
target = "smb://10.77.1.2/media"
blocks = 2

[workload]
preset = "cdm8"
tests = ["SEQ 1 MiB Q8 T1"]
directions = ["read"]
file_size = "8 MiB"
seconds = 0.4
warm_up_seconds = 0.05

[[factor]]
name = "depth"
[[factor.level]]
name = "1"
set = ["workload:depth=1"]
[[factor.level]]
name = "8"
set = ["workload:depth=8"]
"#;

#[test]
fn what_serving_costs_is_told_where_the_server_may_be_looked_at() {
    let lab = Lab::up("plan-served");
    let plan = lab.folder().join("served.toml");
    fs::write(&plan, SERVED_PLAN).expect("room on the disk");
    let run = lab.folder().join("served.jsonl");
    let experiment = |more: &[&str], ends: &[String]| {
        let mut command = lab.linerate();
        command.args(["experiment", "run"]).arg(&plan).args(ends);
        let output = command.args(more).output().expect("linerate starts");
        let [said, told] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.code().is_some_and(|code| code <= 2), "{told}");
        (said, told)
    };
    let file = run.display().to_string();
    let (said, told) = experiment(&["--run", &file], &lab.ends());
    lab_and_program::costs_of_the_server_were_seen(&run);
    assert!(said.contains("      server\n"), "{said}");
    assert!(!told.contains("processors is not known"), "{told}");
    let (said, told) = experiment(&["--blocks", "1"], &lab.ends()[..2]);
    assert!(said.contains("client\n"), "{said}");
    assert!(
        told.contains("`--server HOST` says where to look"),
        "{told}"
    );
}

/// What a mount leaves of a folder in its own mount namespace is gone with the program.
#[test]
fn a_folder_without_room_for_the_test_file_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(at("small")).expect("our own folder");
    let recipe = "title = 't'\nfile_size = '16 MiB'\nseconds = 0.1\n[[test]]\nname = 'read'\n\
                  block = '1 MiB'\ndepth = 8\ndirections = ['read']\n";
    let levels = "[[factor.level]]\nname = 'one'\nset = ['workload:depth=1']\n\
                  [[factor.level]]\nname = 'two'\nset = ['workload:depth=2']\n";
    let plan = "title = 't'\nblocks = 1\nnoise = false\n[workload]\nrecipe = 'recipe.toml'\n\
                [[factor]]\nname = 'depth'\n";
    fs::write(at("recipe.toml"), recipe).expect("room on the disk");
    fs::write(at("plan.toml"), plan.to_owned() + levels).expect("room on the disk");
    let mount = "mount -t tmpfs -o size=1m tmpfs \"$0\" && exec \"$@\"";
    for blocks in ["1", "9"] {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c", mount, &at("small")])
            .arg(lab_and_program::path())
            .args(["experiment", "run", &at("plan.toml"), "--blocks", blocks])
            .args(["--target", &at("small"), "--run", &at(blocks)])
            .env("LINERATE_STATE_DIR", at("state"));
        let output = command.output().expect("unshare starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(65), "{said}");
        let hint = said.lines().find(|line| line.starts_with("hint: "));
        assert!(
            hint.is_some_and(|hint| hint.contains("make room")),
            "{said}"
        );
        assert!(Path::new(&at(blocks)).is_file(), "{said}");
    }
}
