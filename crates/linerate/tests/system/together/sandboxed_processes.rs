//! What reads bytes of strangers has given up what it does not need by then.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::lab_and_program;

/// How long a process may take to come to its work on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A process of ours that is killed with its guard.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start(arguments: &[&str]) -> Running {
    start_by(Command::new(lab_and_program::path()), arguments)
}

/// The same by a shell that has a file open.
fn start_with_open(file: &str, arguments: &[&str]) -> Running {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", HOLDING, "sh", file])
        .arg(lab_and_program::path());
    start_by(shell, arguments)
}

/// A shell that opens its first argument, and becomes the program that the others start.
const HOLDING: &str = "exec 9<>\"$1\"; shift; exec \"$@\"";

fn start_by(mut command: Command, arguments: &[&str]) -> Running {
    let state = tempfile::tempdir().expect("a temporary folder");
    let child = command
        .args(arguments)
        .env("LINERATE_PASSWORD", "secret")
        .env("LINERATE_STATE_DIR", state.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Running(child.expect("it starts"))
}

/// Whether the kernel says all of this of it.
fn says(running: &Running, lines: &[&str]) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", running.0.id()));
    let status = status.unwrap_or_default();
    let has = |line: &&str| status.lines().any(|found| found == *line);
    lines.iter().all(has)
}

/// Whether the kernel filters its system calls, and lets it gain no rights by any program.
fn is_confined(running: &Running) -> bool {
    says(running, &["Seccomp:\t2", "NoNewPrivs:\t1"])
}

/// Stands for the share of a listener.
const SHARE: &str = "smb://";

/// A listener, and these arguments with its share.
fn with_listener(arguments: &[&str]) -> (TcpListener, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it listens").port();
    let arguments = arguments.iter().map(|word| match *word {
        SHARE => format!("smb://ann@127.0.0.1:{port}/media/"),
        word => word.to_owned(),
    });
    (listener, arguments.collect())
}

#[test]
fn who_speaks_to_a_server_is_confined_before_the_first_byte_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().display().to_string();
    for arguments in [
        &["ls", SHARE][..],
        &["copy", SHARE, &here],
        &["copy", &here, SHARE],
    ] {
        // One for each, because what goes before may connect once more.
        let (listener, arguments) = with_listener(arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let running = start(&arguments);
        // It has connected, and nothing was said to it yet.
        let (_connection, _) = listener.accept().expect("it comes");
        assert!(is_confined(&running), "{arguments:?}");
    }
}

#[test]
fn who_reads_a_file_of_a_stranger_is_confined() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("table.csv");
    let mut file = fs::File::create(&table).expect("the folder is ours");
    let rows: String = (0..60_000)
        .map(|row| format!("{},{}.5\n", ["a", "b"][row % 2], row % 97))
        .collect();
    file.write_all(b"setting,rate\n").expect("there is room");
    file.write_all(rows.as_bytes()).expect("there is room");
    let table = table.display().to_string();
    let mut running = start(&[
        "analyze",
        &table,
        "--response",
        "rate",
        "--factors",
        "setting",
    ]);
    let begun = Instant::now();
    let mut confined = false;
    while !confined && begun.elapsed() < PATIENCE {
        confined = is_confined(&running);
        let ended = running.0.try_wait().expect("it is our child").is_some();
        assert!(confined || !ended, "it read the file with all its rights");
        thread::sleep(Duration::from_millis(1));
    }
    assert!(confined);
}

/// The process that another one has started, once it is there.
fn child_of(parent: u32) -> u32 {
    let begun = Instant::now();
    loop {
        let path = format!("/proc/{parent}/task/{parent}/children");
        let children = fs::read_to_string(path).unwrap_or_default();
        if let Some(child) = children.split_whitespace().next() {
            return child.parse().expect("a number");
        }
        assert!(begun.elapsed() < PATIENCE, "it starts none");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn who_reads_a_run_file_for_a_page_has_no_rights_and_the_page_is_written_all_the_same() {
    // Root alone may look into the folder, read there and write.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run.jsonl");
    let fixture = fs::read_to_string(lab_and_program::run_fixture()).expect("the fixture");
    // To read it takes long enough to be seen.
    let unknown = "{}\n".repeat(4_000_000);
    let (header, records) = fixture.split_once('\n').expect("two lines");
    fs::write(&run, format!("{header}\n{unknown}{records}")).expect("there is room");
    let page = folder.path().join("page.html");
    let [run, html] = [&run, &page].map(|path| path.display().to_string());
    let mut running = start(&["report", &run, "--html", &html]);
    let child = child_of(running.0.id());
    let wanted = [&NOBODY[..], &["Seccomp:\t2", "NoNewPrivs:\t1"]].concat();
    let begun = Instant::now();
    loop {
        let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
        let has = |line: &&str| status.lines().any(|found| found == *line);
        if wanted.iter().all(has) {
            break;
        }
        let ended = running.0.try_wait().expect("it is our child").is_some();
        assert!(!ended, "it read the file with all its rights");
        assert!(begun.elapsed() < PATIENCE, "{status}");
        thread::sleep(Duration::from_millis(1));
    }
    // The one that keeps root's rights does not have the file open any more.
    let open = fs::read_dir(format!("/proc/{}/fd", running.0.id())).expect("it runs");
    let open = open.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    assert!(open.into_iter().all(|path| !path.ends_with("run.jsonl")));
    assert!(running.0.wait().expect("it is our child").success());
    let page = fs::read_to_string(page).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>"));
}

#[test]
fn who_proves_large_packets_has_no_rights_and_says_what_passes() {
    // Nothing answers there: it takes its time.
    let target = |remote: &str| {
        format!("{{\"nic\":\"lo\",\"mtu\":65536,\"remote\":\"{remote}\",\"port\":445}}")
    };
    let probe = |remote: &str| {
        let child = Command::new(lab_and_program::path())
            .arg("probe")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut running = Running(child.expect("it starts"));
        let mut stdin = running.0.stdin.take().expect("a pipe");
        let written = stdin.write_all(format!("[{}]", target(remote)).as_bytes());
        written.expect("it reads");
        running
    };
    let mut running = probe("192.0.2.1");
    let wanted = [
        "Uid:\t65534\t65534\t65534\t65534",
        "CapEff:\t0000000000000000",
        "Seccomp:\t2",
        "NoNewPrivs:\t1",
    ];
    while !says(&running, &wanted) {
        let ended = running.0.try_wait().expect("it is our child").is_some();
        assert!(!ended, "it worked with all its rights");
        thread::sleep(Duration::from_millis(1));
    }
    // The socket that takes a right was open before.
    let mut running = probe("127.0.0.1");
    let mut said = String::new();
    let mut stdout = running.0.stdout.take().expect("a pipe");
    std::io::Read::read_to_string(&mut stdout, &mut said).expect("it says something");
    let proofs: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(proofs[0]["answered"], 65_535, "{said}");
}

/// What a command says on standard error.
fn said(arguments: &[&str]) -> String {
    let output = lab_and_program::linerate()
        .args(arguments)
        .env("LINERATE_PASSWORD", "secret")
        .output()
        .expect("it starts");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const NOBODY: [&str; 2] = [
    "Uid:\t65534\t65534\t65534\t65534",
    "CapEff:\t0000000000000000",
];

#[test]
fn who_lists_or_analyses_is_root_no_more() {
    // A file that root alone may read, in a folder that root alone may look into.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let credentials = folder.path().join("credentials");
    fs::write(&credentials, "username=ann\npassword=secret\n").expect("there is room");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it listens").port();
    let share = format!("smb://127.0.0.1:{port}/media/");
    let running = start(&[
        "ls",
        &share,
        "--credentials",
        &credentials.display().to_string(),
    ]);
    let (_connection, _) = listener.accept().expect("it comes");
    assert!(says(&running, &NOBODY));

    let run = folder.path().join("run.jsonl");
    fs::copy(lab_and_program::run_fixture(), &run).expect("there is room");
    let run = run.display().to_string();
    let whole = "sandbox of this command: complete";
    let arm = format!("one={run}");
    for arguments in [&["analyze", &run, "-v"][..], &["analyze", &arm, "-v"]] {
        let said = said(arguments);
        assert!(said.contains(whole), "{arguments:?}: {said}");
        assert!(
            !said.contains("cannot read") && !said.contains("cannot open"),
            "{said}"
        );
    }
}

#[test]
fn what_a_sandbox_lacks_is_said_where_it_is_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().display().to_string();
    let page = folder.path().join("page.html").display().to_string();
    let run = lab_and_program::run_fixture().display().to_string();
    let kept = "sandbox of this command: incomplete: it keeps root's rights";
    let complete = "sandbox of this command: complete";
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("it listens").port()
    };
    let share = format!("smb://ann@127.0.0.1:{closed}/media/");
    for (arguments, says) in [
        (&["copy", &share, &here, "-v"][..], kept),
        (&["report", &run, "--html", &page, "-v"], complete),
        (&["ls", &share, "-v"], complete),
    ] {
        let said = said(arguments);
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
    assert!(!said(&["report", &run, "--html", &page]).contains("sandbox"));

    let server = measure::FarServer::start(&host::exec::Local::new()).expect("iperf3");
    let target = format!("tcp://127.0.0.1:{}", server.port());
    let bench = ["bench", &target, "--repetitions", "1", "--seconds", "0.3"];
    let verbose = said(&[&bench[..], &["-v"]].concat());
    assert!(verbose.contains("sandbox of trials: complete"), "{verbose}");
}

#[test]
fn no_core_dump_holds_a_password() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it listens").port();
    let share = format!("smb://ann@127.0.0.1:{port}/media/");
    let running = start(&["ls", &share]);
    let (_connection, _) = listener.accept().expect("it comes");
    let limits = fs::read_to_string(format!("/proc/{}/limits", running.0.id()));
    let limits = limits.expect("it runs");
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max core file size"));
    let words: Vec<_> = line.expect("a limit").split_whitespace().collect();
    let [soft, hard, _] = words[..] else {
        panic!("{words:?}");
    };
    assert!(["0", "1"].contains(&soft) && soft == hard, "{words:?}");
}

/// A process and all that it and its children have started.
fn with_descendants(process: u32) -> Vec<u32> {
    let mut found = vec![process];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter();
        for task in tasks.flatten().flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children = children.split_whitespace();
            found.extend(children.map(|child| child.parse::<u32>().expect("a number")));
        }
        next += 1;
    }
    found
}

/// Whether a process has a file of that name open.
fn has_open(process: u32, name: &str) -> bool {
    let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter();
    let mut open = open
        .flatten()
        .flatten()
        .flat_map(|entry| fs::read_link(entry.path()));
    open.any(|path| path.ends_with(name))
}

#[test]
fn no_file_of_whoever_starts_it_is_open_in_what_speaks_to_a_server() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (secret, here) = (path("secret"), path("here"));
    fs::write(&secret, "x").expect("there is room");
    fs::create_dir(&here).expect("the folder is ours");
    for arguments in [&["ls", SHARE][..], &["copy", SHARE, &here]] {
        let (listener, arguments) = with_listener(arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let running = start_with_open(&secret, &arguments);
        let (_connection, _) = listener.accept().expect("it comes");
        assert!(is_confined(&running), "{arguments:?}");
        assert!(!has_open(running.0.id(), "secret"), "{arguments:?}");
    }
}

#[test]
fn no_file_of_whoever_starts_it_is_open_in_a_process_without_rights() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (secret, run, html) = (path("secret"), path("run.jsonl"), path("page.html"));
    fs::write(&secret, "x").expect("there is room");
    let fixture = fs::read_to_string(lab_and_program::run_fixture()).expect("the fixture");
    let (header, records) = fixture.split_once('\n').expect("two lines");
    // To read it takes long enough to be seen.
    let unknown = "{}\n".repeat(4_000_000);
    fs::write(&run, format!("{header}\n{unknown}{records}")).expect("there is room");
    let server = measure::FarServer::start(&host::exec::Local::new()).expect("iperf3");
    let target = format!("tcp://127.0.0.1:{}", server.port());
    // Nothing answers there.
    let probed = r#"[{"nic":"lo","mtu":65536,"remote":"192.0.2.1","port":445}]"#;
    let table = path("table");
    fs::write(&table, "[1, 2]\n".repeat(2_000_000)).expect("there is room");
    for (arguments, input) in [
        (&["report", &run, "--html", &html][..], ""),
        (&["analyze", &run], ""),
        (&["compare", &table, &table], ""),
        (&["probe"], probed),
        (
            &["bench", &target, "--repetitions", "1", "--seconds", "0.3"],
            "",
        ),
    ] {
        let child = Command::new("sh")
            .args(["-c", HOLDING, "sh", &secret])
            .arg(lab_and_program::path())
            .args(arguments)
            .env("LINERATE_STATE_DIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut running = Running(child.expect("it starts"));
        let mut stdin = running.0.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("it reads");
        drop(stdin);
        let mut seen = false;
        while running.0.try_wait().expect("it is our child").is_none() {
            for process in with_descendants(running.0.id()) {
                let status = fs::read_to_string(format!("/proc/{process}/status"));
                let status = status.unwrap_or_default();
                if !["Uid:\t65534\t", "Seccomp:\t2\n"]
                    .iter()
                    .all(|line| status.contains(line))
                {
                    continue;
                }
                seen = true;
                assert!(!has_open(process, "secret"), "{arguments:?}");
            }
            thread::sleep(Duration::from_millis(1));
        }
        assert!(seen, "{arguments:?}");
    }
}
