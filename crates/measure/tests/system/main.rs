//! Trials against a real iperf3 and a real Samba. Needs root, namespaces, iperf3 and Samba.

mod fio_folder;
mod lab_trials;
mod raw_tcp_iperf3;
mod trial_processes;

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use record::{Direction, TcpWorkload, Timing, TrialResult};

/// The program that runs a trial as a process. Cargo builds it with the tests of this package.
fn program() -> String {
    let test = std::env::current_exe().expect("a test is a program");
    let folder = test
        .ancestors()
        .nth(2)
        .expect("it lies in target/PROFILE/deps");
    let program: PathBuf = folder.join("examples/linerate_under_test");
    assert!(
        program.exists(),
        "`{}` is missing: cargo build --examples",
        program.display()
    );
    program.display().to_string()
}

fn timing(warm_up: u64, measured: u64, interval: u64) -> Timing {
    Timing {
        warm_up: Duration::from_millis(warm_up).into(),
        measured: Duration::from_millis(measured).into(),
        interval: Duration::from_millis(interval).into(),
    }
}

/// As many samples as there are intervals, and fewer, longer ones where the machine stood still
/// meanwhile; the end may come early by less than half a sample.
fn assert_samples(result: &TrialResult, timing: &Timing, text: &str) {
    let (measured, interval) = (timing.measured.get(), timing.interval.get());
    let lengths = result.samples.iter().map(|sample| sample.duration.get());
    let lengths: Vec<u64> = lengths.collect();
    let count = u64::try_from(lengths.len()).unwrap();
    assert!((1..=measured / interval).contains(&count), "{text}");
    assert!(
        lengths.iter().all(|&length| length >= interval / 2),
        "{text}"
    );
    assert!(
        lengths.iter().sum::<u64>() >= measured - interval / 2,
        "{text}"
    );
}

fn tcp_workload(server: IpAddr, port: u16, direction: Direction, streams: u32) -> TcpWorkload {
    let timing = timing(100, 400, 100);
    TcpWorkload {
        server,
        port,
        direction,
        streams,
        nic: None,
        timing,
        socket: record::SocketOptions::default(),
    }
}
