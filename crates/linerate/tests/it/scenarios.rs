//! A sample of the library of faults, as `make scenarios` goes through all of it; and path MTUs.

use std::path::Path;

use serde_json::Value;

use crate::mtu;
use crate::support::{self, Lab};

const SHARE: &str = "smb://10.77.1.2/media";

/// A short check of a scenario's lab: the exit status and what it says.
fn check(lab: &Lab, with_server: bool) -> (i32, Value) {
    let (client, server) = (lab.host("client"), lab.host("server"));
    let mut command = lab.linerate();
    command.args(["check", SHARE, "--json", "--repetitions", "1"]);
    command.args(["--seconds", "0.3", "--client", &client]);
    if with_server {
        command.args(["--server", &server]);
    }
    let output = command.output().expect("linerate starts");
    let said = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("{}", String::from_utf8_lossy(&output.stderr));
    });
    (output.status.code().expect("it ends by itself"), said)
}

fn scenario(name: &str) -> Lab {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/scenarios");
    Lab::of(name, &folder.join(format!("{name}.toml")))
}

fn first(said: &Value) -> Option<&str> {
    said["diagnosis"]["first_cause"].as_str()
}

#[test]
fn a_switch_that_swallows_jumbo_is_told_from_both_ends_and_from_one() {
    let lab = scenario("switch-swallows-jumbo");
    for with_server in [true, false] {
        let (status, said) = check(&lab, with_server);
        assert_eq!(
            (status, first(&said)),
            (1, Some("path-mtu-black-hole")),
            "{said}"
        );
        let proof = &said["look"]["mtus"][0];
        assert_eq!(proof["answered"], 1500, "{proof}");
        assert_eq!(proof["back"].is_u64(), with_server, "{proof}");
    }
}

#[test]
fn a_slow_disk_and_few_credits_are_told_apart_without_the_server() {
    for (name, cause) in [("slow-disk", "server-disk"), ("few-credits", "few-credits")] {
        let (status, said) = check(&scenario(name), false);
        assert_eq!((status, first(&said)), (1, Some(cause)), "{said}");
    }
}

#[test]
fn a_check_that_only_reads_leaves_the_writing_rungs_out() {
    let lab = scenario("slow-link");
    let (client, server) = (lab.host("client"), lab.host("server"));
    let mut command = lab.linerate();
    command.args([
        "check",
        SHARE,
        "--read-only",
        "--verbose",
        "--repetitions",
        "1",
    ]);
    command.args(["--seconds", "0.3", "--client", &client, "--server", &server]);
    let output = command.output().expect("linerate starts");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("runs at 100 Mbit/s"), "{text}");
    assert!(text.contains("no write trial was run"), "{text}");
    assert!(text.contains("Windows: 1 over `lan1`"), "{text}");
    assert!(
        text.contains("it runs at 100 Mbit/s, and another pair at 1 Gbit/s"),
        "{text}"
    );
}

#[test]
fn the_library_can_be_listed_and_an_unknown_scenario_is_refused() {
    let output = support::linerate().args(["lab", "scenarios"]).output();
    let text = String::from_utf8_lossy(&output.expect("linerate starts").stdout).into_owned();
    assert!(text.contains("switch-swallows-jumbo"), "{text}");
    let mut unknown = support::linerate();
    let output = unknown.args(["lab", "up", "--scenario", "none"]).output();
    let output = output.expect("linerate starts");
    assert_eq!(output.status.code(), Some(64));
}

#[test]
fn the_largest_packet_is_exact_on_any_path_and_black_holes_are_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("mtu.toml");
    std::fs::write(&file, mtu::TOPOLOGY).expect("room on the disk");
    let lab = Lab::of("mtu", &file);
    let running = lab::find(lab.name()).expect("it is up");
    let wrong: Vec<String> = mtu::topologies(5, 12)
        .into_iter()
        .filter_map(|mtus| mtu::prove(&running, &support::path(), mtus).err())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
