//! What users do with single commands: labs, copies, benchmarks, completions, help.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use predicates::prelude::*;
use serde_json::Value;

use crate::lab_and_program::{self, Lab};

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let help = lab_and_program::linerate()
        .arg("--help-all")
        .assert()
        .success();
    let help = String::from_utf8_lossy(&help.get_output().stdout).into_owned();
    for word in [
        "check",
        "bench",
        "tune",
        "experiment",
        "inspect",
        "set",
        "profiles",
        "undo",
        "changes",
        "analyze",
        "compare",
        "report",
        "copy",
        "ls",
        "lab",
        "demo",
        "doctor",
        "man",
        "completions",
        "64",
        "65",
        "69",
        "70",
        "130",
    ] {
        let begin = format!("\n  {word} ");
        assert!(
            help.contains(&begin),
            "`{word}` is not in the help:\n{help}"
        );
    }
    lab_and_program::linerate()
        .arg("no-such-command")
        .assert()
        .code(64);
}

/// People are spoken to in their language, and programs get the same in each.
#[test]
fn the_locale_or_an_option_choose_the_language_and_json_has_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/fixtures");
    let run = fixtures.join("demo-check.jsonl");
    let said = |arguments: &[&str], locale: [&str; 2]| {
        let mut command = lab_and_program::linerate();
        command.args(arguments).arg(&run);
        command.env("LC_ALL", locale[0]).env("LANG", locale[1]);
        let output = command.output().expect("it starts");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let is_japanese = |text: &str| text.contains("読み取り") && !text.contains("server to client");
    let english = said(&["analyze"], ["C", "ja_JP.UTF-8"]);
    assert!(english.contains("server to client"), "{english}");
    assert_eq!(said(&["analyze"], ["", "de_DE.UTF-8"]), english);
    let japanese = said(&["analyze"], ["", "ja_JP.UTF-8"]);
    assert!(is_japanese(&japanese), "{japanese}");
    assert_eq!(said(&["--lang", "ja", "analyze"], ["C", "C"]), japanese);
    assert_eq!(
        said(&["analyze", "--lang", "en"], ["ja_JP", "ja_JP"]),
        english
    );
    let json = said(&["analyze", "--json"], ["C", "C"]);
    assert_eq!(said(&["analyze", "--json"], ["ja_JP", "ja_JP"]), json);
    lab_and_program::json("analyze", json.as_bytes());
    // What draws the page is another process.
    let page = folder.path().join("page.html");
    let mut report = lab_and_program::linerate();
    report.args(["--lang", "ja", "report"]).arg(&run);
    report.arg("--html").arg(&page).assert().success();
    let page = fs::read_to_string(page).expect("a page");
    assert!(
        page.contains("<html lang=\"ja\">") && is_japanese(&page),
        "{page}"
    );
    lab_and_program::linerate()
        .args(["--lang", "tlh", "changes"])
        .assert()
        .code(64);
}

/// Two factors that are both settled, and their interaction, which these rows do not tell.
#[test]
fn an_interaction_that_nobody_named_leaves_nothing_open() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("table.csv");
    let rows = "0,0,100\n0,1,151\n1,0,201\n1,1,248\n0,0,102\n0,1,148\n1,0,198\n1,1,252\n";
    fs::write(&table, format!("a,b,read_mb_s\n{rows}")).expect("room on the disk");
    let analyze = |factors: &str| {
        let mut command = lab_and_program::linerate();
        command.arg("analyze").arg(&table);
        command.args(["--response", "read_mb_s", "--factors", factors]);
        command.assert()
    };
    analyze("a,b").success();
    analyze("a,b,b:a").code(2);
}

#[test]
fn a_page_for_strangers_has_a_name_of_its_own_and_no_address_of_ours() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run.jsonl");
    let recorded =
        env!("CARGO_MANIFEST_DIR").to_owned() + "/../report/tests/fixtures/demo-check.jsonl";
    fs::copy(recorded, &run).expect("room on the disk");
    let draw = |options: &[&str]| {
        let mut report = lab_and_program::linerate();
        let drawn = report
            .current_dir(&folder)
            .args(["report", "run.jsonl"])
            .args(options)
            .assert()
            .success();
        let path = String::from_utf8_lossy(&drawn.get_output().stdout)
            .trim()
            .to_owned();
        let page = fs::read_to_string(folder.path().join(&path));
        (page.expect("the page"), path)
    };
    let (page, path) = draw(&["--shareable"]);
    assert_eq!(path, "run.shareable.html");
    assert!(page.contains("smb://192.0.2.2/share-1") && !page.contains("10.77."));
    let (page, path) = draw(&[]);
    assert_eq!(path, "run.html");
    assert!(page.contains("smb://10.77.1.2/media"));
}

#[test]
fn completions_come_for_the_usual_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let script = lab_and_program::linerate()
            .args(["completions", shell])
            .assert()
            .success();
        let script = String::from_utf8_lossy(&script.get_output().stdout).into_owned();
        let offers = |word: &str| script.contains(word);
        assert!(offers("undo") && offers("dry-run"), "{shell}: {script}");
        assert!(
            !offers("supervise"),
            "{shell} offers what is hidden: {script}"
        );
    }
}

#[test]
fn a_version_says_which_build_it_is_and_peers_are_told_the_number_alone() {
    let said = |option: &str| {
        let said = lab_and_program::linerate().arg(option).assert().success();
        String::from_utf8_lossy(&said.get_output().stdout).into_owned()
    };
    let number = env!("CARGO_PKG_VERSION");
    assert_eq!(said("-V"), format!("linerate {number}\n"));
    let long = said("--version");
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!(lines[0], format!("linerate {number}"));
    let words = lines[1..].iter().filter_map(|line| line.split_once(": "));
    let words: Vec<(&str, &str)> = words.collect();
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["commit", "target", "features"], "{long}");
    let commit = words[0].1.trim_end_matches("-changed");
    let is_hash = commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_hash || commit == "unknown", "{long}");
    assert!(words[1].1.contains(std::env::consts::ARCH), "{long}");
}

/// What is printed is typed again.
#[test]
fn the_share_of_a_lab_of_ipv6_is_an_address_that_can_be_typed() {
    let words = [
        "lab",
        "up",
        "--scenario",
        "healthy-ipv6",
        "--dry-run",
        "--json",
    ];
    let output = lab_and_program::linerate()
        .args(words)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{output:?}");
    let lab = lab_and_program::json("lab-up", &output.stdout);
    let share = lab["shares"][0].as_str().expect("a share");
    assert!(
        share.starts_with("smb://[") && share.contains("]/"),
        "{share}"
    );
}

/// Where all that has a name is known: the report is for strangers.
#[test]
fn a_doctor_says_what_is_there_and_no_name_or_address() {
    let lab = Lab::up("doctor");
    // Another interface than those that are like others has reasons of its own, and a share settings of its own.
    let link = "ip link add secretnic type veth peer name secretpeer";
    lab.run("server", &["sh", "-c", link]);
    let linerate = lab_and_program::path().display().to_string();
    let said =
        |host: &str, options: &[&str]| lab.run(host, &[&[&linerate, "doctor"], options].concat());
    for host in ["client", "server"] {
        let report = said(host, &["--json"]);
        let value = lab_and_program::json("doctor", report.as_bytes());
        assert_eq!(value["build"]["version"], env!("CARGO_PKG_VERSION"));
        let programs = value["programs"].as_array().expect("a list");
        let ip = programs.iter().find(|program| program["name"] == "ip");
        let ip = ip.expect("one that linerate cannot do without");
        assert_eq!(ip["is_there"], true);
        assert!(ip["version"].is_string(), "{ip}");
        let kerberos = programs.last().expect("a list");
        assert_eq!(kerberos["name"], "libgssapi_krb5");
        assert_eq!(kerberos["is_there"], true, "`scripts/setup test` has it");
        assert!(value["settings"]["read"].as_u64() >= value["settings"]["can_be_set"].as_u64());
        assert!(
            value["settings"]["can_be_set"].as_u64() > Some(10),
            "{report}"
        );
        assert!(value["sandbox"]["missing"].is_array(), "{report}");
        assert_eq!(value["system"]["is_root"], true);
        let counted = value["interfaces"].as_array().expect("a list").iter();
        let counted: Option<u64> = counted.map(|one| one["count"].as_u64()).sum();
        assert!(counted >= Some(1), "{report}");
        let name = fs::read_to_string("/proc/sys/kernel/hostname").expect("it has a name");
        for text in [report, said(host, &[]), said(host, &["--lang", "ja"])] {
            for secret in [
                "lan1",
                "secretnic",
                "10.77.",
                "media",
                "lab://",
                name.trim(),
            ] {
                assert!(!text.contains(secret), "{secret}: {text}");
            }
        }
    }
}

/// BusyBox has an `ip` that knows no more than its own options.
#[test]
fn a_doctor_where_ip_is_another_one_says_which_it_needs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let other = folder.path().join("ip");
    let text = "#!/bin/sh\necho \"ip: invalid option -- 'V'\" >&2\nexit 1\n";
    fs::write(&other, text).expect("our own folder");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("our own file");
    let said = |options: &str| {
        let script = format!(
            "mount --bind {} \"$(readlink -f \"$(command -v ip)\")\" && {} doctor {options}",
            other.display(),
            lab_and_program::path().display()
        );
        let mut command = assert_cmd::Command::new("unshare");
        let output = command.args(["-m", "sh", "-c", &script]).assert();
        String::from_utf8_lossy(&output.success().get_output().stdout).into_owned()
    };
    let value = lab_and_program::json("doctor", said("--json").as_bytes());
    assert_eq!(value["system"]["failure"], "refused");
    let programs = value["programs"].as_array().expect("a list");
    let ip = programs.iter().find(|program| program["name"] == "ip");
    assert_eq!(ip.expect("it is asked")["version"], Value::Null);
    for language in ["en", "ja"] {
        let text = said(&format!("--lang {language}"));
        assert_eq!(text.matches("`ip`").count(), 3, "{text}");
    }
}

/// What fails is often what a report is about: the rest is printed, and no path.
#[test]
fn a_doctor_tells_the_rest_where_a_part_fails() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let state = folder.path().join("ann.smith");
    let for_root = fs::Permissions::from_mode(0o700);
    fs::set_permissions(folder.path(), for_root).expect("our own folder");
    let program = lab_and_program::program_for_everybody();
    for options in [&["doctor", "--json"][..], &["doctor"]] {
        let output = assert_cmd::Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .args(options)
            .env("LINERATE_STATE_DIR", &state)
            .assert()
            .success();
        let said = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
        assert!(!said.contains("ann.smith"), "{said}");
        if options.contains(&"--json") {
            let value = lab_and_program::json("doctor", said.as_bytes());
            assert_eq!(value["state"]["failure"], "refused", "{said}");
            assert!(value["system"]["kernel"].is_string(), "{said}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let said = |words: &[&str]| {
        let said = lab_and_program::linerate()
            .arg("man")
            .args(words)
            .assert()
            .success();
        String::from_utf8_lossy(&said.get_output().stdout).into_owned()
    };
    let whole = said(&[]);
    assert!(
        whole.starts_with(".ie") && whole.contains("linerate\\-check"),
        "{whole}"
    );
    assert!(!whole.contains("worker"), "{whole}");
    let list = said(&["--list"]);
    let commands: Vec<&str> = list.lines().collect();
    for command in ["check", "lab up", "experiment run", "man"] {
        assert!(commands.contains(&command), "{list}");
    }
    for command in commands {
        let page = said(&command.split(' ').collect::<Vec<_>>());
        let name = format!("linerate\\-{}", command.replace([' ', '-'], "\\-"));
        assert!(page.contains(&name), "{command}: {page}");
        assert!(page.contains(".SH SYNOPSIS"), "{command}: {page}");
    }
    for unknown in ["worker", "nothing"] {
        lab_and_program::linerate()
            .args(["man", unknown])
            .assert()
            .code(64);
    }
}

#[test]
fn two_labs_of_one_topology_run_at_once_and_one_goes_alone() {
    let (one, two) = (Lab::up("twin-a"), Lab::up("twin-b"));
    let list = lab_and_program::linerate()
        .args(["lab", "list"])
        .assert()
        .success();
    let list = String::from_utf8_lossy(&list.get_output().stdout).into_owned();
    assert!(
        list.contains(one.name()) && list.contains(two.name()),
        "{list}"
    );
    let first = one.name().to_owned();
    drop(one);
    let left = lab_and_program::linerate()
        .args(["lab", "list", "--json"])
        .assert()
        .success();
    let left = String::from_utf8_lossy(&left.get_output().stdout).into_owned();
    assert!(
        !left.contains(&first) && left.contains(two.name()),
        "{left}"
    );
    assert!(
        two.run("client", &["ping", "-c", "1", "10.77.1.2"])
            .contains("1 received")
    );
}

#[test]
fn a_file_goes_to_the_share_and_comes_back_the_same_over_both_links() {
    let lab = Lab::up("copy");
    let (there, back) = (
        lab.folder().join("there.bin"),
        lab.folder().join("back.bin"),
    );
    // Longer than a few blocks, and no multiple of one.
    let content: Vec<u8> = (0..30_000_001_u32)
        .map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    fs::write(&there, &content).expect("room on the disk");
    let copy = |from: &str, to: &str, more: &[&str]| {
        let mut argv = vec![
            lab_and_program::path().display().to_string(),
            "copy".into(),
            from.into(),
            to.into(),
        ];
        argv.extend(more.iter().map(|&word| word.to_owned()));
        let mut command = lab.linerate();
        command
            .args(["lab", "run", &lab.host("client"), "--"])
            .args(argv);
        command
    };
    let (there, back) = (there.display().to_string(), back.display().to_string());
    copy(&there, "smb://10.77.1.2/media/", &["--dry-run"])
        .assert()
        .success()
        .stdout(predicate::str::contains("would copy"));
    assert_eq!(lab.files_of_the_share(), "");
    copy(&there, "smb://10.77.1.2/media/", &[])
        .assert()
        .success();
    let said = copy("smb://10.77.1.2/media/there.bin", &back, &["--json"])
        .assert()
        .success();
    assert!(
        fs::read(&back).expect("the copy") == content,
        "the copy differs"
    );
    let said = lab_and_program::json("copy", &said.get_output().stdout);
    assert_eq!(said["bytes"], content.len());
    let channels = said["channels"].as_array().expect("a list");
    assert_eq!(channels.len(), 2, "{said}");
    assert!(
        channels
            .iter()
            .all(|channel| channel["bytes"].as_u64() > Some(0)),
        "{said}"
    );
    // What is there is not overwritten unasked.
    copy(&there, "smb://10.77.1.2/media/", &[])
        .assert()
        .code(65)
        .stderr(predicate::str::contains("--force"));
    copy("smb://10.77.1.2/media/nosuch.bin", &back, &["--force"])
        .assert()
        .code(65);
    assert!(
        fs::read(&back).expect("the copy") == content,
        "a failed copy touched its target"
    );
}

#[test]
fn bench_measures_a_share_and_raw_tcp() {
    let lab = Lab::up("bench");
    let mut seen = 0;
    for target in ["smb://10.77.1.2/media", "tcp://10.77.1.2"] {
        let bench = lab
            .linerate()
            .args([
                "bench",
                target,
                "--seconds",
                "0.3",
                "--repetitions",
                "2",
                "--json",
            ])
            .args(lab.ends())
            .output();
        let bench = bench.expect("linerate starts");
        let said = String::from_utf8_lossy(&bench.stderr);
        assert!(!bench.stdout.is_empty(), "{said}");
        let result = lab_and_program::json("bench", &bench.stdout);
        let tests = result["bench"].as_array().expect("both ways");
        assert_eq!(tests.len(), 2, "{result}");
        for test in tests {
            let value = |name: &str| test[name]["value"].as_f64();
            assert!(value("median").is_some_and(|rate| rate > 0.0), "{test}");
            // On a machine with much to do, a look may come too late to say anything.
            let paid = value("server_cpu_per_byte");
            seen += usize::from(paid.is_some_and(|paid| paid > 0.0));
        }
    }
    assert!(seen > 0, "nobody saw what the server had to do");
    assert_eq!(lab.files_of_the_share(), "");
}

#[test]
fn a_check_that_is_killed_leaves_nothing_on_the_share() {
    let lab = Lab::up("check-killed");
    let mut check = std::process::Command::new(lab_and_program::path());
    check.env("LINERATE_STATE_DIR", lab.folder().join("state"));
    check.args(["check", "smb://10.77.1.2/media", "--json"]);
    check.args(lab.ends()).stdout(Stdio::null());
    let mut check = check
        .stderr(Stdio::null())
        .spawn()
        .expect("linerate starts");
    let files = ["find", "/run/linerate/shares", "-name", ".linerate-*"];
    let wait = |until: &dyn Fn(&str) -> bool| {
        let deadline = Instant::now() + Duration::from_secs(40);
        while !until(&lab.run("server", &files)) {
            assert!(Instant::now() < deadline, "it never came to that");
        }
    };
    wait(&|found| !found.is_empty());
    check.kill().expect("it runs");
    check.wait().expect("it was started");
    wait(&str::is_empty);
}

#[test]
fn a_run_without_the_far_end_says_what_was_not_measured() {
    let lab = Lab::up("alone");
    let check = lab
        .linerate()
        .args(["check", "smb://10.77.1.2/media", "--repetitions", "1"])
        .args(["--seconds", "0.3", "--client", &lab.host("client")])
        .output()
        .expect("linerate starts");
    let told = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(told.contains("not measured"), "{told}");
    assert!(told.contains("iperf3"), "{told}");
}

/// Exit codes, text and JSON of `compare`, from files in several encodings.
#[test]
fn two_files_of_results_are_compared_or_it_is_said_what_is_missing() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fit/tests/cases");
    let compare = |before: &str, after: &str, options: &[&str]| {
        let mut command = lab_and_program::linerate();
        command
            .arg("compare")
            .arg(cases.join(before))
            .arg(cases.join(after));
        let output = command.args(options).output().expect("linerate starts");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, text, _) = compare("robocopy-before.txt", "robocopy-after.txt", &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("throughput_mb_s: better: 1."), "{text}");
    let (code, text, _) = compare("robocopy-ja-before.txt", "robocopy-ja-after.txt", &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("throughput_mb_s: worse: 0."), "{text}");
    let (code, text, _) = compare("cdm-before-1.txt", "cdm-after-1.txt", &["--hoped", "3"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("one run is one measurement"), "{text}");
    assert!(text.contains("To find a change of 3 %: "), "{text}");
    let (code, json, _) = compare("cdm-before-6.txt", "cdm-after-6.txt", &["--json"]);
    let json = lab_and_program::json("compare", json.as_bytes());
    let figures = json.as_array().expect("a list");
    assert_eq!(figures.len(), 8, "{code:?}");
    let verdict = |figure: &Value| figure["verdict"].as_str().map(str::to_owned);
    let better = figures
        .iter()
        .filter(|one| verdict(one).as_deref() == Some("better"));
    assert!(better.clone().all(|one| one["response"] == "read_mb_s"));
    assert_eq!(better.count(), 4, "{json:#}");
    for (after, says) in [
        ("robocopy-failed.txt", "2 files were not copied"),
        ("no-program.txt", "no result file of CrystalDiskMark"),
    ] {
        let (code, _, error) = compare("robocopy-before.txt", after, &[]);
        assert_eq!(code, Some(64), "{error}");
        assert!(error.contains(says) && error.contains("hint: "), "{error}");
    }
    let (code, _, _) = compare(
        "robocopy-before.txt",
        "robocopy-after.txt",
        &["--hoped", "0"],
    );
    assert_eq!(code, Some(64));
}

const ALONE: &str = "[[host]]\nname = \"alone\"\n";
/// How long something that happens at once may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a script on the only host of a lab, far from any terminal, and waits for its first line.
fn started(lab: &Lab, script: &str) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut command = Command::new("setsid");
    command
        // Whoever runs the tests may not want to hear of a terminal that goes (`nohup`).
        .args(["env", "--default-signal=HUP,INT,TERM"])
        .arg(lab_and_program::path())
        .args(["lab", "run", &lab.host("alone"), "--", "sh", "-c", script])
        .env("LINERATE_STATE_DIR", lab.folder().join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("setsid starts");
    let said = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut said = said.map_while(Result::ok);
    assert_eq!(said.next().as_deref(), Some("ready"));
    (child, said)
}

fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status();
    assert!(sent.expect("kill starts").success());
}

/// Whether a `sleep` of so many seconds is there.
fn sleeps(lab: &Lab, seconds: &str) -> bool {
    let all = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '";
    let all = lab.run("alone", &["sh", "-c", all]);
    all.contains(&format!("sleep {seconds} "))
}

#[test]
fn who_ends_a_run_on_a_host_ends_the_program_there() {
    let lab = Lab::described("passes-on", ALONE);
    for (signal, name) in [("-TERM", "TERM"), ("-HUP", "HUP"), ("-INT", "INT")] {
        // It tidies up before it ends, and what it started goes too.
        let script = format!(
            "trap 'echo tidied up; exit 3' {name}; sleep 41 >/dev/null 2>&1 & echo ready; wait; echo went on"
        );
        let (mut child, said) = started(&lab, &script);
        assert!(sleeps(&lab, "41"));
        send(signal, &child);
        // A program that goes on keeps the pipes open.
        let ended = child.wait().expect("our own child");
        assert_eq!(ended.code(), Some(130), "{signal}");
        let rest: Vec<String> = said.collect();
        let output = child.wait_with_output().expect("our own child");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(errors.matches("error: ").count(), 1, "{signal}: {errors}");
        assert_eq!(rest, ["tidied up"], "{signal}: {errors}");
        // What a shell starts behind itself does not hear of Ctrl-C.
        if name != "INT" {
            assert!(!sleeps(&lab, "41"), "{signal}");
        }
    }
}

#[test]
fn who_kills_a_run_on_a_host_kills_the_program_there() {
    let lab = Lab::described("dies-with", ALONE);
    let (mut child, _said) = started(&lab, "echo ready; exec sleep 42");
    assert!(sleeps(&lab, "42"));
    send("-KILL", &child);
    child.wait().expect("our own child");
    let begun = Instant::now();
    while sleeps(&lab, "42") {
        assert!(begun.elapsed() < PATIENCE, "it goes on");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_signal_that_is_not_to_be_heard_stays_unheard() {
    let lab = Lab::described("ignores", ALONE);
    let script = "echo ready; sleep 1; exit 5";
    let script = format!("trap '' HUP; exec \"$0\" lab run \"$1\" -- sh -c '{script}'");
    let mut command = Command::new("setsid");
    command
        .args(["sh", "-c", &script])
        .arg(lab_and_program::path())
        .arg(lab.host("alone"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("setsid starts");
    let mut said = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(
        said.next()
            .is_some_and(|line| line.is_ok_and(|line| line == "ready"))
    );
    send("-HUP", &child);
    assert_eq!(child.wait().expect("our own child").code(), Some(5));
}
