//! Raw TCP against a real iperf3, on the loopback.

use std::io::{ErrorKind, Read};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::time::Duration;

use host::exec::Local;
use locale::Language;
use measure::{Error, FarServer, Stop, trial};
use record::{Direction, FailureKind, TrialInput, TrialLine, TrialResult, Workload};

use crate::{assert_samples, tcp_workload, timing};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn run(port: u16, direction: Direction, streams: u32) -> Result<TrialResult, Error> {
    let workload = Workload::Tcp(tcp_workload(LOOPBACK, port, direction, streams));
    let mut samples = Vec::new();
    let input = TrialInput {
        workload,
        credentials: None,
    };
    let result = trial(&input, &Stop::new(), &mut |line| match line {
        TrialLine::Sample(sample) => samples.push(sample.clone()),
        other => panic!("{other:?}"),
    })?;
    assert_eq!(samples, result.samples);
    Ok(result)
}

#[test]
fn both_directions_with_one_and_four_streams() {
    for direction in [Direction::Read, Direction::Write] {
        for streams in [1, 4] {
            let server = FarServer::start(&Local::new()).unwrap();
            let result = run(server.port(), direction, streams).unwrap();
            let text = format!("{direction:?} {streams}: {result:?}");
            assert_samples(&result, &timing(100, 400, 100), &text);
            assert!(
                result.samples.iter().all(|sample| sample.bytes.get() > 0),
                "{text}"
            );
            assert!(
                result
                    .samples
                    .iter()
                    .all(|sample| sample.retransmits.is_some()),
                "{text}"
            );
            assert!(result.cpu().get() > 0, "{text}");
            assert!(result.first_byte.is_some(), "{text}");
            assert_eq!(result.connections.len(), streams as usize, "{text}");
            let by_connection: u64 = result.connections.iter().map(|one| one.bytes.get()).sum();
            assert_eq!(by_connection, result.bytes().get(), "{text}");
            assert!(
                result
                    .connections
                    .iter()
                    .all(|one| one.round_trip.is_some() && one.congestion_control.is_some()),
                "{text}"
            );
            // Only a sender knows what it sent again.
            assert_eq!(
                result.far_retransmits.is_some(),
                direction == Direction::Read,
                "{text}"
            );
        }
    }
}

#[test]
fn as_many_streams_as_iperf3_takes() {
    let server = FarServer::start(&Local::new()).unwrap();
    let result = run(server.port(), Direction::Read, 128).unwrap();
    assert_eq!(result.connections.len(), 128);
}

#[test]
fn a_server_that_has_a_test_is_busy() {
    let server = FarServer::start(&Local::new()).unwrap();
    let port = server.port();
    let mut first = tcp_workload(LOOPBACK, port, Direction::Read, 1);
    first.timing.measured = Duration::from_secs(60).into();
    let input = TrialInput {
        workload: Workload::Tcp(first),
        credentials: None,
    };
    let stop = Stop::new();
    let mut second = None;
    // The second begins when the first has its first sample.
    let stopped = trial(&input, &stop, &mut |_| {
        second.get_or_insert_with(|| run(port, Direction::Read, 1));
        stop.ask();
    });
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    let error = second.unwrap().unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    assert_eq!(error.kind(), FailureKind::Refused);
}

#[test]
fn the_next_port_is_taken_when_one_is_busy() {
    let first = FarServer::start(&Local::new()).unwrap();
    let second = FarServer::start(&Local::new()).unwrap();
    assert_ne!(first.port(), second.port());
    run(second.port(), Direction::Write, 1).unwrap();
}

#[test]
fn a_port_that_nobody_listens_on_is_unreachable() {
    let listener = std::net::TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let failure = run(port, Direction::Read, 1).unwrap_err().failure();
    assert_eq!(failure.kind, FailureKind::Unreachable);
    assert_eq!(failure.chain.len(), 2, "{failure:?}");
    assert!(failure.hint.unwrap().contains("nothing listens"));
}

#[test]
fn a_host_without_iperf3_is_told_from_one_that_refuses() {
    // A PATH without it, under the same shell.
    let exec = Local::with_prefix([
        "env",
        "PATH=/nonexistent",
        "/bin/sh",
        "-c",
        "exec /bin/sh \"$@\"",
    ]);
    let error = FarServer::start(&exec).unwrap_err();
    assert!(matches!(error, Error::NoIperf), "{error}");
    let hint = Language::English.say(&error.hint().unwrap());
    assert!(hint.contains("apt install iperf3"), "{hint}");
}

#[test]
fn a_server_that_is_dropped_is_gone() {
    let server = FarServer::start(&Local::new()).unwrap();
    let mut connection = TcpStream::connect((LOOPBACK, server.port())).unwrap();
    connection
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    drop(server);
    // An end or a reset, but no time-out: nobody is there any more.
    let heard = connection.read(&mut [0]).map_err(|error| error.kind());
    assert!(
        matches!(heard, Ok(0) | Err(ErrorKind::ConnectionReset)),
        "{heard:?}"
    );
}
