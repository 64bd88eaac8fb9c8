//! The whole job once, as `make demo` runs it, and the page it draws in a real browser.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::lab_and_program;

#[test]
fn the_demo_does_the_whole_job_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = lab_and_program::linerate()
        .arg("demo")
        .arg("--out")
        .arg(folder.path())
        .output();
    let output = output.expect("linerate starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{told}\n{said}");
    for (number, line) in told.lines().enumerate() {
        let is_command = line.starts_with("$ ");
        let is_path = line.contains(&*folder.path().to_string_lossy());
        assert!(
            line.chars().count() <= 100 || is_command || is_path,
            "line {number}: {line}"
        );
    }
    for step in [
        "linerate lab up",
        "linerate check",
        "linerate tune",
        "linerate undo",
        "linerate lab down",
    ] {
        assert!(told.contains(step), "`{step}` is missing:\n{told}");
    }
    let summary = fs::read_to_string(folder.path().join("summary.json")).expect("the summary");
    check_summary(&lab_and_program::json("demo", summary.as_bytes()));
    let last = told.lines().last().expect("a last line");
    assert!(
        last.ends_with("report.html"),
        "the demo ends with the page's path: {last}"
    );
    let labs = lab_and_program::linerate()
        .args(["lab", "list", "--json"])
        .output()
        .expect("linerate starts");
    let labs = lab_and_program::json("lab-list", &labs.stdout);
    let up = told.lines().find_map(|line| line.split_once("--name "));
    let (_, name) = up.expect("it says what it calls its lab");
    let mut names = labs["labs"].as_array().expect("a list").iter();
    assert!(names.all(|lab| lab["name"] != name), "{labs}");
    check_page(&folder.path().join("report.html"));
    check_run_files(folder.path());
}

/// Numbers that the real parts must give whatever the machine: ratios, and figures of the virtual
/// cable.
fn check_summary(summary: &Value) {
    let number = |pointer: &str| {
        let found = summary.pointer(pointer).and_then(Value::as_f64);
        found.unwrap_or_else(|| panic!("{pointer} is missing: {summary}"))
    };
    let ceiling = number("/link/ceiling_mbit_s");
    assert!((ceiling - 941.5).abs() < 1.0, "{summary}");
    for way in ["read", "write"] {
        let one = number(&format!("/one_channel/{way}_mb_s"));
        let two = number(&format!("/two_channels/{way}_mb_s"));
        assert!(
            one > 0.0 && one * 8.0 <= 1.01 * ceiling,
            "more than the cable carries: {summary}"
        );
        assert!(
            two * 8.0 <= 2.02 * ceiling,
            "more than two cables carry: {summary}"
        );
        let ratio = number(&format!("/ratio/{way}"));
        assert!(
            ratio > 1.5 && ratio < 2.05,
            "two links are better than one: {summary}"
        );
    }
    assert!(
        summary
            .pointer("/mtu_9000/verdict")
            .is_some_and(Value::is_string),
        "{summary}"
    );
    assert_eq!(
        summary.get("restored"),
        Some(&Value::Bool(true)),
        "{summary}"
    );
}

/// A real browser reads the page without a network, and finds text, tables and plots in it.
fn check_page(page: &Path) {
    let profile = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("chromium starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let dom = String::from_utf8_lossy(&output.stdout);
    assert!(dom.matches("<svg").count() >= 3, "plots are missing");
    assert!(dom.matches("<table").count() >= 3, "tables are missing");
    for text in ["Check", "Tune", "Undo", "MTU 9000", "2 channels"] {
        assert!(dom.contains(text), "`{text}` is not on the page");
    }
    let written = fs::read_to_string(page).expect("the page");
    for network in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(
            !written.contains(network),
            "the page asks the network: {network}"
        );
    }
}

/// The run files alone give the same page and the same JSON, twice.
fn check_run_files(folder: &Path) {
    for name in ["check.jsonl", "tune.jsonl"] {
        let run = folder.join(name);
        let pages = [folder.join("one.html"), folder.join("two.html")];
        for page in &pages {
            let report = lab_and_program::linerate()
                .arg("report")
                .arg(&run)
                .arg("--html")
                .arg(page)
                .output();
            assert!(report.expect("linerate starts").status.success());
        }
        assert_eq!(
            fs::read(&pages[0]).expect("a page"),
            fs::read(&pages[1]).expect("a page")
        );
        let analyzed = lab_and_program::linerate()
            .arg("analyze")
            .arg(&run)
            .arg("--json")
            .output();
        let analyzed = lab_and_program::json("analyze", &analyzed.expect("linerate starts").stdout);
        assert!(analyzed.is_object(), "{analyzed}");
    }
}
