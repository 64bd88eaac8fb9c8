//! What several connections tell of who gives each of them its part: a process of the server, a link among several, or
//! others on the same line. And what one block written over and over does not tell.

use analysis::{Cause, Diagnosis, Proof, State};
use record::{Direction, ProbeKind};

use crate::injected_faults::{ids, without_tcp};

fn first(said: &Diagnosis) -> (&str, State) {
    let first: &Cause = said.named().expect("a cause");
    (first.text.id, first.state)
}

/// A read of so much, of which two sessions and two connections of one gain these.
fn read_of(rate: f64, sessions: f64, connections: f64) -> Diagnosis {
    without_tcp([rate, 117.0], |well| {
        well.in_order();
        well.probes(Direction::Read, ProbeKind::Sessions, rate, &[sessions; 6]);
        let gains = [connections; 6];
        well.probes(Direction::Read, ProbeKind::Connections, rate, &gains);
    })
}

#[test]
fn two_connections_of_one_session_tell_a_process_from_a_limit_of_each_connection() {
    let process = read_of(70.0, 1.6, 1.0);
    let named = first(&process);
    assert_eq!(named, ("server-processor.session", State::Suspected));
    let link = read_of(35.3, 2.0, 2.0);
    assert_eq!(first(&link), ("flow-hash.connections", State::Suspected));
    assert!(!ids(&link.causes).contains(&"server-processor"));
}

#[test]
fn a_limit_of_each_connection_is_even_and_a_server_that_stops_for_moments_is_not() {
    // As they were seen behind a bond, and of a server that stopped thirty times a second.
    let said = |parts: &'static [f64]| {
        without_tcp([70.0, 117.0], |well| {
            well.in_order();
            well.in_parts(Direction::Read, parts);
            well.probes(Direction::Read, ProbeKind::Sessions, 70.0, &[1.47; 6]);
            well.probes(Direction::Read, ProbeKind::Connections, 70.0, &[1.47; 6]);
        })
    };
    let link = said(&[1.0, 0.99, 1.01, 1.0, 1.02, 0.98, 1.0, 1.0]);
    assert_eq!(first(&link), ("flow-hash.connections", State::Suspected));
    let stops = said(&[1.04, 1.02, 1.22, 0.86, 0.84, 1.04, 1.03, 1.16, 0.92, 0.87]);
    assert!(!ids(&stops.causes).contains(&"flow-hash"), "{stops:#?}");
    // Too few samples tell nothing of it.
    let unknown = said(&[1.2, 0.8, 1.2, 0.8]);
    assert_eq!(first(&unknown), ("flow-hash.connections", State::Suspected));
}

#[test]
fn who_has_all_of_the_line_for_moments_shares_it_with_others_that_come_and_go() {
    let said = |parts: &'static [f64]| {
        without_tcp([75.0, 117.0], |well| {
            well.in_order();
            well.in_parts(Direction::Read, parts);
            well.probes(Direction::Read, ProbeKind::Sessions, 65.0, &[1.28; 6]);
        })
    };
    // 117, 64 and 64 MB/s in turn, of a mean of 75.
    let others = said(&[1.56, 0.85, 0.86, 0.85, 1.56, 0.85, 0.85, 0.86, 0.85, 0.81]);
    let named = first(&others);
    assert_eq!(named, ("other-traffic.now-and-then", State::Suspected));
    // What stops in between waits for a turn of its own.
    let stops = said(&[1.56, 0.0, 1.56, 0.9, 1.56, 0.0, 0.85, 1.56, 1.5, 0.51]);
    assert!(
        stops
            .causes
            .iter()
            .all(|it| it.text.id != "other-traffic.now-and-then"),
        "{stops:#?}"
    );
}

#[test]
fn one_block_proves_no_disk_where_reads_from_memory_are_as_slow() {
    let said = |read: f64, gain: f64| {
        without_tcp([read, 48.0], |well| {
            well.probes(Direction::Write, ProbeKind::OneBlock, 48.0, &[gain; 6]);
        })
    };
    assert!(!ids(&said(52.0, 1.23).causes).contains(&"server-disk"));
    // Reads have all of the line, but a server without a processor to spare gains as much by memory that it has already.
    let little = said(117.0, 1.23);
    assert_eq!(first(&little).1, State::Suspected);
    let much = said(117.0, 2.0);
    let named = ("server-disk.one-block", State::Proven(Proof::Counter));
    assert_eq!(first(&much), named);
}

#[test]
fn writes_that_two_sessions_relieve_while_reads_are_well_wait_in_turn() {
    let said = without_tcp([117.0, 20.4], |well| {
        well.in_order();
        well.probes(Direction::Write, ProbeKind::OneBlock, 20.4, &[1.0; 6]);
        well.probes(Direction::Write, ProbeKind::Sessions, 20.4, &[1.3; 6]);
    });
    assert_eq!(first(&said), ("asynchronous-io.in-turn", State::Suspected));
    assert!(!ids(&said.causes).contains(&"server-processor"));
}

#[test]
fn reading_that_stops_for_as_long_as_a_sender_waits_is_a_loss() {
    let said = |write: f64| {
        without_tcp([75.0, write], |well| {
            well.in_order();
            well.in_parts(Direction::Read, &[1.56, 1.56, 0.06, 1.56, 0.26]);
        })
    };
    assert_eq!(
        first(&said(117.0)),
        ("segments-lost.stops", State::Suspected)
    );
    // What stops in both directions is the server.
    assert!(!ids(&said(75.0).causes).contains(&"segments-lost"));
}
