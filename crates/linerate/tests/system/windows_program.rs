//! The program for Windows in Wine, in a lab with a real Samba. `scripts/windows` makes it.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use crate::lab_and_program::{Lab, json, linerate, path, run_fixture, topology};
use crate::wine::Wine;

/// Where the share of a lab is, and who logs in there.
const SHARE: &str = "smb://10.77.1.2/media";
const CREDENTIALS: &str = r"Z:\run\linerate\credentials";

/// The program, in a lab whose client runs it.
struct Client {
    wine: Wine,
    lab: Lab,
}

impl Client {
    fn new() -> Self {
        Self {
            wine: Wine::new("linerate.exe"),
            lab: Lab::of("windows", &topology()),
        }
    }

    /// A command line of the program, run on the client.
    fn run(&self, arguments: &[&str]) -> Output {
        let state = Wine::seen(&self.lab.folder().join("state"));
        let mut command = self.lab.linerate();
        let output = command
            .args(["lab", "run", &self.lab.host("client"), "--", "env"])
            .arg(format!("LINERATE_STATE_DIR={state}"))
            .args(self.wine.words())
            .args(arguments)
            .output();
        output.expect("linerate starts")
    }

    /// What it prints, where all is well.
    fn prints(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{arguments:?}: {}\n{printed}\n{errors}",
            output.status
        );
        output.stdout
    }
}

/// The rate of a rung, in bytes a second; none where it was not measured.
fn rate(check: &Value, rung: &str, direction: &str) -> Option<f64> {
    let rungs = check["ladder"].as_array().expect("a ladder");
    let found = rungs
        .iter()
        .find(|found| found["rung"] == rung && found["direction"] == direction)?;
    found["rate"]["value"].as_f64()
}

#[test]
fn a_share_is_listed_copied_to_measured_and_nothing_is_changed() {
    let client = Client::new();
    let login = ["--credentials", CREDENTIALS];

    let from = client.lab.folder().join("from");
    fs::create_dir_all(from.join("映像")).expect("our own folder");
    for (name, bytes) in [("映像/東京 2026.mov", 3_000_001), ("empty", 0)] {
        fs::write(from.join(name), vec![7; bytes]).expect("room on the disk");
    }
    let from = Wine::seen(&from);
    let up = [&["copy", &from, SHARE, "--json"][..], &login].concat();
    let copied = json("copy", &client.prints(&up));
    assert_eq!(
        (&copied["files"], &copied["failed"]),
        (&2.into(), &0.into())
    );
    // What Japanese keyboards have in the place of the backslash.
    let list = [
        &["ls", r"¥¥10.77.1.2¥media¥from¥映像", "--json"][..],
        &login,
    ]
    .concat();
    let listed = json("ls", &client.prints(&list));
    assert_eq!(listed["entries"][0]["name"], "東京 2026.mov");
    assert_eq!(listed["entries"][0]["bytes"], 3_000_001);

    let check = [&["check", SHARE, "--quick", "--json"][..], &login].concat();
    let checked = client.run(&check);
    // Of some rungs the quick trials say nothing yet.
    assert!(matches!(checked.status.code(), Some(0..=2)), "{checked:?}");
    let check = json("check", &checked.stdout);
    for direction in ["read", "write"] {
        let [one, all] = ["share", "channels"].map(|rung| rate(&check, rung, direction));
        let gain = all.expect("it was measured") / one.expect("it was measured");
        assert!((1.8..2.2).contains(&gain), "{direction}: {gain}");
    }
    assert_eq!(check["diagnosis"]["headline_id"], "headline.one-link-idle");
    assert_eq!(check["diagnosis"]["causes"], serde_json::json!([]));
    let facts = json("inspect", &client.prints(&["inspect", "local", "--json"]));
    let facts = &facts["hosts"][0]["facts"];
    assert_eq!(facts["system"], "windows");
    let names: Vec<&Value> = (facts["nics"].as_array().expect("a list").iter())
        .map(|nic| &nic["name"])
        .collect();
    assert_eq!(names, ["lan1", "lan2"]);
    json("doctor", &client.prints(&["doctor", "--json"]));

    // Nothing is changed from there yet.
    let refused = client.run(&["set", "local", "tcp.ecn=on"]);
    assert_eq!(refused.status.code(), Some(65), "{refused:?}");
    let changes = json("changes", &client.prints(&["changes", "--json"]));
    assert_eq!(changes["changes"], serde_json::json!([]));
}

#[test]
fn run_files_and_tables_are_read_as_on_linux() {
    let client = Client::new();
    let run = run_fixture();
    let here = linerate()
        .args(["analyze", "--json"])
        .arg(&run)
        .output()
        .expect("linerate starts");
    let there = client.run(&["analyze", "--json", &Wine::seen(&run)]);
    assert_eq!(there.status.code(), here.status.code());
    assert_eq!(
        json("analyze", &there.stdout),
        json("analyze", &here.stdout)
    );

    let page = |name: &str| client.lab.folder().join(name);
    linerate()
        .args(["report", "--html"])
        .arg(page("here.html"))
        .arg(&run)
        .assert()
        .success();
    client.prints(&[
        "report",
        "--html",
        &Wine::seen(&page("there.html")),
        &Wine::seen(&run),
    ]);
    let [here, there] = ["here.html", "there.html"].map(|name| fs::read(page(name)));
    let [here, there] = [here, there].map(|page| page.expect("a page"));
    assert!(!here.is_empty());
    assert!(here == there, "{} and {} bytes", here.len(), there.len());
    // The same program, by its version.
    let own = Command::new(path()).arg("-V").output().expect("it starts");
    assert_eq!(client.prints(&["-V"]), own.stdout);
}
