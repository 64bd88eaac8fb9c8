//! Trials as processes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::exec::Local;
use measure::{FarServer, Runner, Stop};
use record::{
    Bytes, CopyProgram, CopyTask, Data, Demands, Direction, Enforced, FailureKind, FolderKind,
    Place, Sandbox, ShareAddress, Spread, Task, TaskWorkload, TrialInput, TrialLine, Workload,
};

use crate::{program, tcp_workload, timing};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn runner() -> Runner {
    Runner::new(Arc::new(Local::new()), program())
}

fn input(port: u16, measured: u64) -> TrialInput {
    let mut workload = tcp_workload(LOOPBACK, port, Direction::Read, 1);
    workload.timing = timing(100, measured, 100);
    TrialInput {
        workload: Workload::Tcp(workload),
        credentials: None,
    }
}

#[test]
fn a_trial_in_a_process_of_its_own() {
    let server = FarServer::start(&Local::new()).unwrap();
    let mut samples = Vec::new();
    let result = runner()
        .run(&input(server.port(), 300), &Stop::new(), &mut |sample| {
            samples.push(sample.clone())
        })
        .unwrap();
    assert_eq!(result.samples, samples);
    assert!((1..=3).contains(&samples.len()), "{samples:?}");
    assert!(result.cpu().get() > 0);
}

#[test]
fn a_failure_of_the_trial_comes_through() {
    let listener = std::net::TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let failure = runner()
        .run(&input(port, 300), &Stop::new(), &mut |_| {})
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreachable);
    assert!(
        failure.chain[0].contains(&format!("127.0.0.1:{port}")),
        "{failure:?}"
    );
}

#[test]
fn a_stop_in_the_middle_ends_the_process_soon() {
    let server = FarServer::start(&Local::new()).unwrap();
    let stop = Stop::new();
    let begun = Instant::now();
    let failure = runner()
        .run(&input(server.port(), 60_000), &stop, &mut |_| stop.ask())
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Interrupted);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_trial_ends_with_its_standard_input() {
    let server = FarServer::start(&Local::new()).unwrap();
    let mut child = Command::new(program())
        .arg("trial")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut line = serde_json::to_vec(&input(server.port(), 60_000)).unwrap();
    line.push(b'\n');
    stdin.write_all(&line).unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    let first: TrialLine = serde_json::from_str(&first).unwrap();
    assert!(matches!(first, TrialLine::Sample(_)), "{first:?}");
    let begun = Instant::now();
    drop(stdin);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

fn work_in(folder: &Path, task: Task, direction: Direction) -> TrialInput {
    TrialInput {
        workload: Workload::Task(TaskWorkload {
            place: Place::Folder {
                folder: folder.display().to_string(),
                kind: FolderKind::Folder,
            },
            second_mount: None,
            direction,
            channels: 1,
            task,
            data: Data::Random,
            timing: timing(0, 100, 100),
        }),
        credentials: None,
    }
}

#[test]
fn a_program_copies_all_of_it_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    for (files, folders) in [(1, 0), (5, 2)] {
        let copy = CopyTask {
            files,
            folders,
            size: Bytes::new(1 << 20),
            size_max: None,
            spread: Spread::Even,
            by: CopyProgram::Cp,
        };
        for direction in [Direction::Read, Direction::Write] {
            let input = work_in(folder.path(), Task::Copy(copy.clone()), direction);
            let result = runner().run(&input, &Stop::new(), &mut |_| {}).unwrap();
            let sample = &result.samples[0];
            assert_eq!(sample.bytes.get(), u64::from(files) << 20);
            // That of `cp` is a part of it.
            assert!(sample.cpu.get() > 0, "{sample:?}");
            assert!(sample.duration.get() > 0, "{sample:?}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}

#[test]
fn no_program_copies_from_a_share() {
    let copy = CopyTask {
        files: 1,
        folders: 0,
        size: Bytes::new(1 << 20),
        size_max: None,
        spread: Spread::Even,
        by: CopyProgram::Cp,
    };
    let mut input = work_in(Path::new("/"), Task::Copy(copy), Direction::Read);
    if let Workload::Task(work) = &mut input.workload {
        work.place = Place::Share {
            share: ShareAddress {
                server: "127.0.0.1".into(),
                port: 1,
                share: "media".into(),
                path: String::new(),
            },
            demands: Demands::default(),
        };
    }
    let failure = runner().run(&input, &Stop::new(), &mut |_| {}).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Usage, "{failure:?}");
}

#[test]
fn files_of_a_user_are_worked_with_in_their_folder_only_and_without_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let copy = Task::Copy(CopyTask {
        files: 1,
        folders: 0,
        size: Bytes::new(4 << 20),
        size_max: None,
        spread: Spread::Even,
        by: CopyProgram::default(),
    });
    for (task, direction) in [
        (copy.clone(), Direction::Read),
        (copy, Direction::Write),
        (Task::Lock(5), Direction::Write),
        (Task::Create(5), Direction::Write),
        (Task::Stream(Bytes::new(4 << 20)), Direction::Read),
        (Task::Stream(Bytes::new(4 << 20)), Direction::Write),
    ] {
        let input = work_in(folder.path(), task, direction);
        let result = runner().run(&input, &Stop::new(), &mut |_| {}).unwrap();
        let sandbox = Sandbox {
            unprivileged: false,
            files: Enforced::Fully,
            system_calls: true,
        };
        assert_eq!(result.sandbox, Some(sandbox), "{:?}", input.workload);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
