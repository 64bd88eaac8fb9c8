//! Reads and writes over several channels, with everything a lawful server may do.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use smb_proto::session::{Cipher, Dialect, QueryInformation, SetInformation};
use smb_proto::wire::Command;
use smb_proto::{Error, NtStatus, Reply, Request, Time};

use crate::login::{SIGNING_CASES, channels};
use crate::network_simulation::{BLOCK, Ear, Spring, World};
use crate::seeded_random::Random;
use crate::toy_server::{Behaviour, Encrypts};

const LENGTH: usize = 9 * BLOCK + 12_345;

fn content(seed: u64) -> Vec<u8> {
    Random::new(seed ^ 0xC0).bytes(LENGTH)
}

fn odd_but_lawful(seed: u64) -> Behaviour {
    let (dialect, algorithm) = SIGNING_CASES[seed as usize % SIGNING_CASES.len()];
    Behaviour {
        dialect,
        algorithm,
        signing_required: seed.is_multiple_of(2),
        short: !seed.is_multiple_of(3),
        interims: !seed.is_multiple_of(5),
        gaps: !seed.is_multiple_of(4),
        breaks: seed.is_multiple_of(7),
        large_mtu: !seed.is_multiple_of(11),
        credits_max: if seed.is_multiple_of(6) { 7 } else { 8192 },
        ..Behaviour::default()
    }
}

#[test]
fn a_read_arrives_whole_whatever_the_server_does() {
    for seed in 0..40 {
        let behaviour = odd_but_lawful(seed);
        let channels = channels(behaviour.dialect);
        let (mut world, file) = World::open(seed, behaviour, content(seed), channels);
        let (outcome, bytes) = world.read(file, 1..LENGTH as u64);
        match outcome {
            Ok(Reply::Read { bytes }) => assert_eq!(bytes, LENGTH as u64 - 1),
            other => panic!("{seed}: {other:?}"),
        }
        assert!(bytes == content(seed)[1..], "{seed}: the bytes differ");
        assert!(
            world.server.reads.iter().all(|reads| *reads > 0),
            "all channels take part"
        );
        assert_eq!(
            world.server.signed_data > 0,
            seed.is_multiple_of(2),
            "signed if required"
        );
        assert_eq!(world.pool.in_use(), 0, "all blocks came home");
    }
}

#[test]
fn a_write_arrives_whole_whatever_the_server_does() {
    for seed in 0..40 {
        let behaviour = odd_but_lawful(seed);
        let channels = channels(behaviour.dialect);
        let (mut world, file) = World::open(seed, behaviour, Vec::new(), channels);
        let content = content(seed);
        let ears: Vec<_> = content
            .chunks(BLOCK)
            .enumerate()
            .map(|(number, chunk)| {
                let ear = Arc::new(Ear::default());
                let payload = world.block(chunk);
                world
                    .session
                    .write(file, (number * BLOCK) as u64, payload, ear.clone());
                ear
            })
            .collect();
        world.run_until(|_| ears.iter().all(|ear| ear.is_done()));
        for ear in ears {
            assert!(matches!(ear.outcome(), Ok(Reply::Written { .. })));
        }
        assert!(world.server.content == content, "{seed}: the bytes differ");
        // where pieces are small, one channel may have depth for all of it
        let small = !world.server.behaviour.large_mtu;
        assert!(
            small || world.server.writes.iter().all(|writes| *writes > 0),
            "{seed}: all take part"
        );
        assert_eq!(
            world.server.signed_data > 0,
            seed.is_multiple_of(2),
            "signed if required"
        );
        assert_eq!(world.pool.in_use(), 0, "all blocks came home");
    }
}

#[test]
fn what_a_source_gives_arrives_whole_whatever_the_server_does() {
    let mut from_origins = 0;
    for seed in 0..40 {
        let behaviour = odd_but_lawful(seed);
        let signs = behaviour.signing_required;
        let channels = channels(behaviour.dialect);
        let (mut world, file) = World::open(seed, behaviour, Vec::new(), channels);
        let content = content(seed);
        let spring = match seed % 4 {
            0 => Spring::of_memory(&content),
            _ => Spring::of_origin(&content),
        };
        let ear = Arc::new(Ear::default());
        world
            .session
            .write_from(file, 0..LENGTH as u64, spring, ear.clone());
        world.run_until(|_| ear.is_done());
        match ear.outcome() {
            Ok(Reply::WrittenFrom { bytes }) => assert_eq!(bytes, LENGTH as u64),
            other => panic!("{seed}: {other:?}"),
        }
        assert_eq!(ear.written.load(Ordering::Relaxed), LENGTH as u64);
        assert!(world.server.content == content, "{seed}: the bytes differ");
        let direct = !signs && !seed.is_multiple_of(4);
        assert_eq!(
            world.from_origins > 0,
            direct,
            "{seed}: without a copy if it may be"
        );
        assert_eq!(world.pool.in_use(), 0, "all blocks came home");
        from_origins += world.from_origins;
    }
    assert!(from_origins > 0);
}

#[test]
fn a_source_that_fails_ends_its_write_and_nothing_else() {
    for (seed, signing_required) in [(1, false), (2, true)] {
        let behaviour = Behaviour {
            signing_required,
            ..Behaviour::default()
        };
        let (mut world, file) = World::open(seed, behaviour, content(seed), 2);
        // shorter than it is said to be, in the middle of a block
        let spring = Spring::of_origin(&content(seed)[..LENGTH / 2 + 1]);
        let ear = Arc::new(Ear::default());
        world
            .session
            .write_from(file, 0..LENGTH as u64, spring, ear.clone());
        world.run_until(|_| ear.is_done());
        let error = ear.error();
        assert!(matches!(error, Error::Source(_)), "{error:?}");
        // both channels are as good as before
        let (outcome, bytes) = world.read(file, 0..1000);
        assert!(matches!(outcome, Ok(Reply::Read { bytes: 1000 })));
        assert!(bytes == content(seed)[..1000]);
        assert_eq!(world.session.channel_sequence(), 0);
        assert_eq!(world.pool.in_use(), 0, "all blocks came home");
    }
}

#[test]
fn what_is_encrypted_arrives_whole_both_ways() {
    let mut seed = 0;
    for (dialect, ciphers) in [
        (Dialect::Smb311, &Cipher::ALL[..]),
        (Dialect::Smb300, &[Cipher::Aes128Ccm]),
    ] {
        for (cipher, encrypts) in ciphers
            .iter()
            .flat_map(|cipher| [(cipher, Encrypts::Share), (cipher, Encrypts::Session)])
        {
            seed += 1;
            let behaviour = Behaviour {
                dialect,
                algorithm: None,
                cipher: Some(*cipher),
                encrypts,
                ..odd_but_lawful(seed)
            };
            let (mut world, file) = World::open(seed, behaviour, content(seed), 3);
            let negotiated = world.session.negotiated().expect("it is up");
            let all = encrypts == Encrypts::Session;
            assert_eq!(
                (negotiated.cipher, negotiated.encryption),
                (Some(*cipher), all)
            );
            let (outcome, bytes) = world.read(file, 0..LENGTH as u64);
            assert!(matches!(outcome, Ok(Reply::Read { .. })), "{outcome:?}");
            assert!(bytes == content(seed), "{seed}: the bytes differ");
            let sealed = world.server.sealed_data;
            assert!(sealed > 0 && world.server.signed_data == 0);

            let ear = Arc::new(Ear::default());
            let other = content(seed + 1)[..BLOCK].to_vec();
            let payload = world.block(&other);
            world.session.write(file, 5, payload, ear.clone());
            world.run_until(|_| ear.is_done());
            match ear.outcome() {
                Ok(Reply::Written { mut block }) => {
                    let behaviour = &world.server.behaviour;
                    let whole = !behaviour.short && behaviour.credits_max > 7;
                    assert!(!whole || *block.buffer() == other, "it is still readable");
                }
                other => panic!("{other:?}"),
            }
            assert!(world.server.content[5..5 + BLOCK] == other);
            assert!(world.server.sealed_data > sealed);
            assert_eq!(world.pool.in_use(), 0, "all blocks came home");
        }
    }
}

#[test]
fn a_written_block_keeps_its_content() {
    let (mut world, file) = World::open(1, Behaviour::default(), Vec::new(), 1);
    let content = content(9)[..BLOCK].to_vec();
    let ear = Arc::new(Ear::default());
    world
        .session
        .write(file, 0, world.block(&content), ear.clone());
    world.run_until(|_| ear.is_done());
    match ear.outcome() {
        Ok(Reply::Written { mut block }) => assert!(*block.buffer() == content),
        other => panic!("{other:?}"),
    }
}

#[test]
fn reads_and_writes_wait_for_each_other_s_blocks_without_deadlock() {
    // one block only: a queued WRITE holds it, so the READ before it cannot go first
    let mut world = World::with(3, Behaviour::default(), vec![7; 3 * BLOCK], |_| {}, 1);
    let file = world.bring_up(2);
    let (written, read) = (Arc::new(Ear::default()), Ear::forgetful());
    let payload = world.block(&[9; 100]);
    world.session.read(file, 0..3 * BLOCK as u64, read.clone());
    world.session.write(file, 0, payload, written.clone());
    world.run_until(|_| written.is_done());
    drop(written.outcome());
    world.run_until(|_| read.is_done());
    assert!(matches!(read.outcome(), Ok(Reply::Read { .. })));
    assert_eq!(world.server.content[..100], [9; 100]);
}

#[test]
fn a_read_goes_on_when_a_held_payload_is_dropped() {
    let mut world = World::with(4, Behaviour::default(), vec![7; 4 * BLOCK], |_| {}, 2);
    let file = world.bring_up(2);
    let ear = Arc::new(Ear::default());
    world.session.read(file, 0..4 * BLOCK as u64, ear.clone());
    let mut received = 0;
    while !ear.is_done() {
        world.run_until(|_| !ear.pieces.lock().expect("no panic").is_empty() || ear.is_done());
        let pieces = std::mem::take(&mut *ear.pieces.lock().expect("no panic"));
        assert!(pieces.len() <= 2, "never more than the pool has");
        received += pieces
            .iter()
            .map(|(_, payload)| payload.len())
            .sum::<usize>();
    }
    assert_eq!(received, 4 * BLOCK);
    assert!(world.channel(0).statistics().block_starved > 0);
}

#[test]
fn reading_beyond_the_end_gives_what_there_is() {
    for seed in 0..10 {
        let behaviour = Behaviour {
            short: true,
            interims: true,
            ..Behaviour::default()
        };
        let (mut world, file) = World::open(seed, behaviour, content(seed), 2);
        let start = LENGTH as u64 - 1000;
        let (outcome, bytes) = world.read(file, start..start + 40 * BLOCK as u64);
        assert!(
            matches!(outcome, Ok(Reply::Read { bytes: 1000 })),
            "{outcome:?}"
        );
        assert!(bytes == content(seed)[LENGTH - 1000..]);
        let (outcome, bytes) = world.read(file, 1 << 40..(1 << 40) + 5);
        assert!(matches!(outcome, Ok(Reply::Read { bytes: 0 })) && bytes.is_empty());
        let (outcome, _) = world.read(file, 5..5);
        assert!(matches!(outcome, Ok(Reply::Read { bytes: 0 })));
    }
}

#[test]
fn scarce_credits_slow_down_but_do_not_stop() {
    for credits_max in [1, 2, 5, 16, 40] {
        let behaviour = Behaviour {
            credits_max,
            interims: true,
            ..Behaviour::default()
        };
        let (mut world, file) = World::open(5, behaviour, content(5), 2);
        let (outcome, bytes) = world.read(file, 0..LENGTH as u64);
        assert!(
            outcome.is_ok() && bytes == content(5),
            "{credits_max}: {outcome:?}"
        );
        let statistics = world.channel(0).statistics();
        assert!(statistics.credits <= credits_max);
        assert!(
            credits_max > 16 || statistics.credit_starved > 0,
            "it was noticed"
        );
    }
}

#[test]
fn a_wait_counts_for_what_work_lacks() {
    let lacks = |credits_max, blocks| {
        let behaviour = Behaviour {
            credits_max,
            ..Behaviour::default()
        };
        let mut world = World::with(4, behaviour, vec![7; 8 * BLOCK], |_| {}, blocks);
        let file = world.bring_up(1);
        let ear = Arc::new(Ear::default());
        world.session.read(file, 0..8 * BLOCK as u64, ear.clone());
        world.run_until(|_| !ear.pieces.lock().expect("no panic").is_empty());
        let channel = world.channel(0);
        channel.waited(Time::from_nanos(5), Time::from_nanos(12));
        let counted = channel.statistics();
        [counted.credit_wait, counted.block_wait].map(|time| time.as_nanos())
    };
    assert_eq!(lacks(512, 2), [0, 7]);
    assert_eq!(lacks(2, 16), [7, 0]);
    // The server is asked for all of it at once, and what is waited for is its answer.
    assert_eq!(lacks(512, 16), [0, 0]);
}

#[test]
fn a_cancelled_read_stops_and_gives_its_blocks_back() {
    let (mut world, file) = World::open(8, Behaviour::default(), vec![0; 40 * BLOCK], 2);
    let ear = Arc::new(Ear::default());
    let transfer = world.session.read(file, 0..40 * BLOCK as u64, ear.clone());
    world.run_until(|_| !ear.pieces.lock().expect("no panic").is_empty());
    world.session.cancel(transfer);
    world.run_until(|_| ear.is_done());
    assert!(matches!(ear.error(), Error::Cancelled));
    world.session.cancel(transfer);
    ear.pieces.lock().expect("no panic").clear();
    assert_eq!(world.pool.in_use(), 0);
    let reads: usize = world.server.reads.iter().sum();
    assert!(reads < 20, "it stopped asking after {reads}");
    assert!(world.is_up(0) && world.is_up(1));
}

#[test]
fn a_refused_transfer_names_file_and_offset() {
    let status = NtStatus::FILE_LOCK_CONFLICT;
    let behaviour = Behaviour {
        transfer_status: Some(status),
        ..Behaviour::default()
    };
    let (mut world, file) = World::open(8, behaviour, content(8), 2);
    let (outcome, _) = world.read(file, 4096..4097);
    let error = outcome.expect_err("refused");
    let text = "the server refused reading `folder/file` at byte 4096: STATUS_FILE_LOCK_CONFLICT";
    assert_eq!(error.to_string(), text);
    assert!(error.is_of_open_file());
    let ear = Arc::new(Ear::default());
    world
        .session
        .write(file, 8, world.block(b"data"), ear.clone());
    world.run_until(|_| ear.is_done());
    let error = ear.error();
    assert_eq!(error.status(), Some(status));
    assert!(error.is_of_open_file(), "{error}");
    assert_eq!(world.pool.in_use(), 0);
    assert!(world.is_up(0) && world.is_up(1));
}

#[test]
fn a_refusal_about_an_open_file_is_told_from_one_of_a_further_right() {
    let (mut world, file) = World::open(8, Behaviour::default(), content(8), 2);
    let what = QueryInformation::Standard;
    let size = SetInformation::EndOfFile(1);
    for (command, request, of_open_file) in [
        (Command::QUERY_INFO, Request::Query { file, what }, true),
        (Command::FLUSH, Request::Flush { file }, true),
        (Command::SET_INFO, Request::Set { file, what: size }, false),
        (Command::CLOSE, Request::Close { file }, true),
    ] {
        world.server.not_yet = Some((command, NtStatus::ACCESS_DENIED, 1));
        let error = world.ask(request).expect_err("it is refused");
        assert_eq!(error.status(), Some(NtStatus::ACCESS_DENIED));
        assert_eq!(error.is_of_open_file(), of_open_file, "{error}");
    }
}

#[test]
fn a_closed_file_cannot_be_read() {
    let (mut world, file) = World::open(8, Behaviour::default(), content(8), 1);
    assert!(matches!(
        world.ask(Request::Close { file }),
        Ok(Reply::Closed(_))
    ));
    let (outcome, _) = world.read(file, 0..10);
    assert!(matches!(outcome, Err(Error::InvalidRequest(_))));
    let ear = Arc::new(Ear::default());
    world
        .session
        .write(file, 0, world.block(b"data"), ear.clone());
    assert!(matches!(ear.error(), Error::InvalidRequest(_)));
}

#[test]
fn an_empty_write_needs_no_server() {
    let (world, file) = World::open(8, Behaviour::default(), Vec::new(), 1);
    let ear = Arc::new(Ear::default());
    world.session.write(file, 0, world.block(b""), ear.clone());
    assert!(matches!(ear.outcome(), Ok(Reply::Written { .. })));
    assert_eq!(world.server.writes, [0]);
}

#[test]
fn without_large_mtu_pieces_are_small() {
    let behaviour = Behaviour {
        large_mtu: false,
        dialect: Dialect::Smb302,
        algorithm: None,
        ..Behaviour::default()
    };
    let (mut world, file) = World::open(8, behaviour, content(8), 1);
    let (outcome, bytes) = world.read(file, 0..LENGTH as u64);
    assert!(outcome.is_ok() && bytes == content(8));
    assert_eq!(world.server.reads, [LENGTH.div_ceil(65536)]);
}

#[test]
fn blocks_can_be_taken_by_anybody() {
    let world = World::new(1, Behaviour::default(), Vec::new());
    assert!(world.pool.take(Waker::noop()).is_some());
}
