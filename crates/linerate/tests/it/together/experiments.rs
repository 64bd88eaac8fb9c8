//! Experiments over several factors, killed and taken up again.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{self, Lab};

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

fn ends(lab: &Lab) -> [String; 4] {
    [
        "--client".into(),
        lab.host("client"),
        "--server".into(),
        lab.host("server"),
    ]
}

fn counted(run: &Path) -> Vec<String> {
    let text = fs::read_to_string(run).unwrap_or_default();
    let records = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let visits =
        records.filter(|record| record["kind"] == "trial" && record["stage"]["discarded"] == false);
    let places = visits.map(|record| {
        let stage = &record["stage"];
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
        .args(ends(&lab))
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
}

#[test]
fn an_experiment_that_is_killed_goes_on_where_it_was_and_hosts_are_as_before() {
    let lab = Lab::up("plan-kill");
    let (plan, run) = (plan(&lab), lab.folder().join("run.jsonl"));
    let before = lab.facts();
    let said = lab.folder().join("said");
    let begin = |command: &mut Command| {
        command
            .env("LINERATE_STATE_DIR", lab.folder().join("state"))
            .stdout(Stdio::null())
            .stderr(fs::File::create(&said).expect("room on the disk"))
            .spawn()
            .expect("linerate starts")
    };
    let mut first = Command::new(support::path());
    first
        .args(["experiment", "run"])
        .arg(&plan)
        .args(ends(&lab))
        .arg("--run")
        .arg(&run);
    let mut child = begin(&mut first);
    for kill_after in [2, 7] {
        let deadline = Instant::now() + Duration::from_secs(60);
        while counted(&run).len() < kill_after {
            assert!(
                Instant::now() < deadline,
                "it does not get on: {:?}",
                counted(&run)
            );
            assert!(
                child.try_wait().expect("it is ours").is_none(),
                "it ended by itself"
            );
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        // As a crash in the middle of a write leaves it.
        let mut text = fs::read(&run).expect("a run file");
        text.extend_from_slice(b"{\"kind\":\"tri");
        fs::write(&run, text).expect("room on the disk");
        let mut again = Command::new(support::path());
        again.args(["experiment", "resume"]).arg(&run);
        child = begin(&mut again);
    }
    let ended = child.wait().expect("it ends");
    let said = fs::read_to_string(&said).expect("what it said");
    assert!(ended.success(), "{ended}: {said}");
    let places = counted(&run);
    // Three blocks of four arms and the baseline once more.
    assert_eq!(places.len(), 15, "{places:?}");
    let mut unique = places.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), 15, "{places:?}");
    assert_eq!(lab.facts(), before);
    lab.linerate().arg("changes").assert().success();
    let output = lab
        .linerate()
        .args(["analyze", "--json"])
        .arg(&run)
        .output()
        .expect("linerate starts");
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["design"]["blocks_done"], 3);
    let effects = value["design"]["rates"][0]["effects"]
        .as_array()
        .expect("effects");
    let mut names: Vec<&str> = effects
        .iter()
        .filter_map(|effect| effect["factor"].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["mtu", "mtu:streams", "streams"]);
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
        assert!(text.contains("published = "), "{path:?}");
        let mut dry = lab.linerate();
        dry.args(["experiment", "run", "--dry-run"])
            .arg(&path)
            .args(ends(&lab))
            .assert()
            .success();
        plans += 1;
    }
    assert_eq!(plans, 6);
}
