//! What reads bytes of strangers has given up what it does not need by then.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support;

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
    let state = tempfile::tempdir().expect("a temporary folder");
    let child = Command::new(support::path())
        .args(arguments)
        .env("LINERATE_PASSWORD", "secret")
        .env("LINERATE_STATE_DIR", state.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Running(child.expect("it starts"))
}

/// Whether the kernel filters its system calls, and lets it gain no rights by any program.
fn is_confined(running: &Running) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", running.0.id()));
    let status = status.unwrap_or_default();
    let has = |line: &str| status.lines().any(|found| found == line);
    has("Seccomp:\t2") && has("NoNewPrivs:\t1")
}

#[test]
fn who_speaks_to_a_server_is_confined_before_the_first_byte_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().display().to_string();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it listens").port();
    let share = format!("smb://ann@127.0.0.1:{port}/media/");
    for arguments in [
        &["ls", &share][..],
        &["copy", &share, &here],
        &["copy", &here, &share],
    ] {
        let running = start(arguments);
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
