//! Profiles from the command line, on hosts of a lab.

use std::fs;

use predicates::prelude::*;
use serde_json::Value;

use crate::lab_and_program::{self, Lab};

#[test]
fn profiles_are_listed_shown_and_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let own = folder.path().join("linerate/profiles");
    fs::create_dir_all(&own).expect("room on the disk");
    let bold = "meaning = 'm'\n[[rule]]\nknob = 'smb.server.signing_required'\nset = 'disabled'\nwhy = 'w'\n";
    fs::write(own.join("bold.toml"), bold).expect("room on the disk");
    let linerate = |words: &[&str]| {
        let mut command = lab_and_program::linerate();
        command
            .env("XDG_CONFIG_HOME", folder.path())
            .args(words)
            .assert()
    };
    let all = predicate::str::contains("high-throughput: ")
        .and(predicate::str::contains("bold: m\n  from "));
    linerate(&["profiles"]).success().stdout(all);
    let rule = "nic.ring_rx = at least 2048, speed from 10 Gbit/s on";
    linerate(&["profiles", "high-throughput"])
        .success()
        .stdout(predicate::str::contains(rule));
    linerate(&["profiles", "fast"])
        .code(64)
        .stderr(predicate::str::contains("hint: there are: default"));
    linerate(&["set", "local", "--dry-run", "--profile", "bold"])
        .code(65)
        .stderr(predicate::str::contains(
            "`smb.server.signing_required`, which protects something",
        ));
    linerate(&[
        "set",
        "local",
        "--dry-run",
        "--profile",
        "media",
        "--without",
        "nic.mtu",
    ])
    .code(64)
    .stderr(predicate::str::contains("has no rule for `nic.mtu`"));
    linerate(&[
        "set",
        "local",
        "--dry-run",
        "--profile",
        "media",
        "--nic",
        "none9",
    ])
    .code(64)
    .stderr(predicate::str::contains("there is no interface `none9`"));
}

#[test]
fn a_profile_says_what_it_changes_is_made_and_taken_back() {
    let lab = Lab::up("profile");
    let before = lab.facts();
    let server = lab.host("server");
    let set = |more: &[&str]| {
        let mut command = lab.linerate();
        command.args([
            "set",
            &server,
            "--profile",
            "high-throughput",
            "--round-trip",
            "20ms",
        ]);
        command.args(more).assert()
    };
    set(&["--dry-run"]).success().stdout(
        predicate::str::contains("nic.gro lan1: off -> on: received frames")
            .and(predicate::str::contains(
                " -> 4096 131072 67108864: twice the rate",
            ))
            .and(predicate::str::contains(
                "not for here: nic.ring_rx lan1: its speed is 1 Gbit/s",
            ))
            .and(predicate::str::contains("already so: "))
            .and(predicate::str::contains("ethtool -K lan1 gro on"))
            .and(predicate::str::contains("nothing was changed")),
    );
    assert_eq!(lab.facts(), before);
    let made = set(&["--json", "--without", "nic.tso,tcp.wmem"]).success();
    let made = lab_and_program::json("set", &made.get_output().stdout);
    let verdicts = made["profile"]["rules"].as_array().expect("a list");
    let of = |knob: &str| {
        verdicts
            .iter()
            .find(|rule| rule["knob"] == knob)
            .map(|rule| &rule["verdict"])
    };
    assert_eq!(of("nic.gro"), Some(&Value::from("change")));
    assert_eq!(
        of("smb.server.multichannel"),
        Some(&Value::from("already_so"))
    );
    assert_eq!(of("tcp.wmem"), None);
    assert!(
        lab.run("server", &["ethtool", "-k", "lan1"])
            .contains("generic-receive-offload: on")
    );
    let again = set(&["--without", "tcp.wmem"]).success();
    again.stdout(predicate::str::contains("changes nothing on"));
    lab.linerate().arg("undo").assert().success();
    assert_eq!(lab.facts(), before);
}

#[test]
fn tune_tries_a_profile_as_one_change_on_both_ends() {
    let lab = Lab::up("profile-tune");
    let before = lab.facts();
    let mut tune = lab.linerate();
    tune.args([
        "tune",
        "smb://10.77.1.2/media",
        "--profile",
        "high-throughput",
        "--dry-run",
    ]);
    tune.args(lab.ends());
    tune.assert().success().stdout(
        predicate::str::contains(format!(
            "profile high-throughput on {}:",
            lab.host("client")
        ))
        .and(predicate::str::contains(
            "smb.server.multichannel: it is for a server",
        ))
        .and(predicate::str::contains(
            "`profile-high-throughput` would run:",
        ))
        .and(predicate::str::contains("/server: ethtool -K lan2 gro on")),
    );
    assert_eq!(lab.facts(), before);
}
