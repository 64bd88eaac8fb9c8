//! Channels that die, at every moment that there is: nothing is lost, nothing is done twice.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smb_proto::session::{
    Access, CreateOptions, Disposition, Durable, Information, QueryInformation, SetInformation,
};
use smb_proto::wire::Command;
use smb_proto::{Error, FileKey, NtStatus, Reply, Request, TreeKey};

use crate::network_simulation::{BLOCK, Death, Ear, Spring, World};
use crate::seeded_random::Random;
use crate::toy_server::{Behaviour, Server};

pub(crate) const LENGTH: usize = 3 * BLOCK + 4321;
const CHANNELS: usize = 3;

pub(crate) fn content(seed: u64) -> Vec<u8> {
    Random::new(seed ^ 0xD1E).bytes(LENGTH)
}

/// Reads all of a file, writes other bytes over it, and asks and sets everything around that.
pub(crate) fn copy(world: &mut World, file: FileKey, before: &[u8], after: &[u8]) {
    read_all(world, file, before);
    write_all(world, file, after).expect("it can be written");
    close(world, file);
}

pub(crate) fn read_all(world: &mut World, file: FileKey, before: &[u8]) {
    let (outcome, bytes) = world.read(file, 0..LENGTH as u64 + 10);
    assert!(
        matches!(outcome, Ok(Reply::Read { bytes }) if bytes == LENGTH as u64),
        "{outcome:?}"
    );
    assert!(bytes == before, "the bytes differ");
}

/// Writes other bytes over a file, and has them put on storage.
pub(crate) fn write_all(world: &mut World, file: FileKey, after: &[u8]) -> Result<(), Error> {
    // one half in blocks of ours, the other from a source
    let (from_blocks, _) = after.split_at(2 * BLOCK);
    let from_source = Arc::new(Ear::default());
    world.session.write_from(
        file,
        2 * BLOCK as u64..LENGTH as u64,
        Spring::of_origin(after),
        from_source.clone(),
    );
    let mut ears: Vec<_> = from_blocks
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
    world.run_until(|_| ears.iter().all(|ear| ear.is_done()) && from_source.is_done());
    let from_blocks: Vec<_> = ears.drain(..).map(|ear| ear.outcome()).collect();
    let rest = (LENGTH - 2 * BLOCK) as u64;
    match from_source.outcome()? {
        Reply::WrittenFrom { bytes } => assert_eq!(bytes, rest),
        other => panic!("{other:?}"),
    }
    assert_eq!(from_source.written.load(Ordering::Relaxed), rest);
    for outcome in from_blocks {
        let reply = outcome?;
        assert!(matches!(reply, Reply::Written { .. }), "{reply:?}");
    }
    let what = SetInformation::EndOfFile(LENGTH as u64);
    for request in [Request::Set { file, what }, Request::Flush { file }] {
        let reply = world.ask(request)?;
        assert!(matches!(reply, Reply::Done), "{reply:?}");
    }
    Ok(())
}

pub(crate) fn close(world: &mut World, file: FileKey) {
    let size = LENGTH as u64;
    match world.ask(Request::Query {
        file,
        what: QueryInformation::Standard,
    }) {
        Ok(Reply::Information(Information::Standard { size: now, .. })) => assert_eq!(now, size),
        other => panic!("{other:?}"),
    }
    let closed = world.ask(Request::Close { file });
    assert!(matches!(closed, Ok(Reply::Closed(_))), "{closed:?}");
}

fn behaviour(seed: u64) -> Behaviour {
    Behaviour {
        signing_required: seed.is_multiple_of(2),
        short: seed.is_multiple_of(3),
        interims: !seed.is_multiple_of(3),
        not_ready: true,
        ..Behaviour::default()
    }
}

/// A world before its copy, and how many steps it has behind it.
fn world(seed: u64) -> (World, FileKey, usize) {
    let (world, file) = World::open(seed, behaviour(seed), content(seed), CHANNELS);
    let steps = world.steps;
    (world, file, steps)
}

#[test]
fn a_channel_may_die_at_every_step_of_a_copy() {
    let (mut replays, mut put_off) = (0, 0);
    for seed in 0..3 {
        let (before, after) = (content(seed), content(seed + 100));
        let (mut whole, file, begin) = world(seed);
        copy(&mut whole, file, &before, &after);
        for step in begin + 1..whole.steps {
            let death = [Death::Early, Death::Late][(seed as usize + step) % 2];
            let victim = step % CHANNELS;
            let (mut world, file, _) = world(seed);
            world.fate = Some((step, victim, death));
            copy(&mut world, file, &before, &after);
            let case = format!("seed {seed}, step {step}, {death:?}");
            assert!(world.server.content == after, "{case}: the bytes differ");
            assert_eq!(world.pool.in_use(), 0, "{case}: all blocks came home");
            assert!(world.closed(victim).is_some(), "{case}: it died");
            assert_eq!(world.session.channel_sequence(), 1, "{case}");
            replays += world.server.replays;
            put_off += world.server.put_off;
        }
    }
    assert!(replays > 50 && put_off > 20, "{replays} and {put_off}");
}

/// Reads the file while one channel stops to answer, or does so late, at any step; the others do not
/// wait for it.
fn read_without(cripple: fn(&mut World, usize)) {
    for seed in 0..3 {
        let before = content(seed);
        let (mut whole, file, begin) = world(seed);
        let (outcome, _) = whole.read(file, 0..LENGTH as u64);
        assert!(outcome.is_ok());
        for step in (begin + seed as usize..whole.steps).step_by(3) {
            let (mut world, file, _) = world(seed);
            let (ear, victim) = (Arc::new(Ear::default()), step % CHANNELS);
            world.session.read(file, 0..LENGTH as u64, ear.clone());
            world.run_until(|world| world.steps >= step || ear.is_done());
            cripple(&mut world, victim);
            let start = world.now;
            world.run_until(|_| ear.is_done());
            let milliseconds = (world.now - start) / 1_000_000;
            assert!(
                milliseconds < 900,
                "seed {seed}, step {step}: {milliseconds}"
            );
            // what comes late is no piece of it any more
            world.run_until(|world| {
                world.pool.in_use() == ear.pieces.lock().expect("no panic").len()
            });
            let outcome = ear.outcome();
            assert!(
                matches!(outcome, Ok(Reply::Read { bytes }) if bytes == LENGTH as u64),
                "{outcome:?}"
            );
            assert!(ear.joined(0) == before, "seed {seed}, step {step}");
            assert_eq!(world.pool.in_use(), 0);
        }
    }
}

#[test]
fn a_channel_that_is_silent_at_the_end_is_not_waited_for() {
    read_without(|world, victim| world.server.mute(victim));
    read_without(|world, victim| world.server.delay(victim, 1_500_000_000));
}

#[test]
fn all_channels_but_one_may_die_one_after_the_other() {
    for seed in 0..20 {
        let (before, after) = (content(seed), content(seed + 100));
        let (mut world, file, begin) = world(seed);
        let ear = Arc::new(Ear::default());
        world.session.read(file, 0..LENGTH as u64, ear.clone());
        world.fate = Some((begin + 5 + seed as usize, 0, Death::Late));
        world.run_until(|world| world.fate.is_none());
        world.kill(1, Death::Early);
        world.run_until(|_| ear.is_done());
        assert!(matches!(ear.outcome(), Ok(Reply::Read { .. })));
        assert!(ear.joined(0) == before);
        copy(&mut world, file, &before, &after);
        assert!(world.server.content == after, "{seed}");
        assert_eq!(world.session.channel_sequence(), 2);
    }
}

/// Submits a request, and kills the channel it is on once the server has it.
fn lose(request: impl FnOnce(TreeKey, FileKey) -> Request) -> Result<Reply, Error> {
    lose_and_count(request, |_| {}).0
}

/// The same, with what the server is like from then on; gives also how many requests said that they
/// are replays.
fn lose_and_count(
    request: impl FnOnce(TreeKey, FileKey) -> Request,
    then: impl FnOnce(&mut Server),
) -> (Result<Reply, Error>, usize) {
    let (mut world, file) = World::open(1, Behaviour::default(), content(1), 2);
    let request = request(world.tree(), file);
    let ear = Arc::new(Ear::default());
    world.session.submit(request, ear.clone());
    let seen = world.server.sequences.len();
    world.run_until(|world| world.server.sequences.len() > seen);
    let asks = |world: &mut World, number| world.channel(number).statistics().outstanding > 0;
    let victim = usize::from(!asks(&mut world, 0));
    assert!(asks(&mut world, victim), "the answer has not come");
    then(&mut world.server);
    world.kill(victim, Death::Late);
    world.run_until(|_| ear.is_done());
    (ear.outcome(), world.server.replays)
}

fn create(tree: TreeKey, disposition: Disposition, delete_on_close: bool) -> Request {
    let options = CreateOptions {
        disposition,
        delete_on_close,
        ..CreateOptions::open(Access::ReadWrite)
    };
    let path = "folder/file".into();
    Request::Create {
        tree,
        path,
        options,
    }
}

fn list(folder: FileKey, restart: bool) -> Request {
    Request::List {
        folder,
        pattern: "*".into(),
        restart,
        bytes_max: 4096,
    }
}

#[test]
fn what_can_be_repeated_is() {
    let done = |outcome| assert!(matches!(outcome, Ok(Reply::Done)), "{outcome:?}");
    done(lose(|_, _| Request::Echo));
    done(lose(|_, _| Request::Logoff));
    done(lose(|tree, _| Request::TreeDisconnect { tree }));
    done(lose(|_, file| Request::Flush { file }));
    let created = lose(|tree, _| create(tree, Disposition::OpenOrCreate, false));
    assert!(matches!(created, Ok(Reply::Created(..))), "{created:?}");
    let listed = lose(|_, file| list(file, true));
    assert!(matches!(listed, Ok(Reply::Listing(Some(_)))), "{listed:?}");
    let tree = lose(|_, _| Request::TreeConnect {
        share: "data".into(),
    });
    assert!(matches!(tree, Ok(Reply::Tree(..))), "{tree:?}");
    let interfaces = lose(|tree, _| Request::Interfaces { tree });
    assert!(
        matches!(interfaces, Ok(Reply::Interfaces(_))),
        "{interfaces:?}"
    );
    let closed = lose(|_, file| Request::Close { file });
    assert!(matches!(closed, Ok(Reply::Closed(_))), "{closed:?}");
}

#[test]
fn a_create_that_the_server_can_recognise_is_replayed() {
    let (created, replays) = lose_and_count(create_once, |_| {});
    assert!(matches!(created, Ok(Reply::Created(..))), "{created:?}");
    assert_eq!(replays, 1);
}

/// A CREATE that only one with its GUID can be done again for.
fn create_once(tree: TreeKey, _: FileKey) -> Request {
    let mut request = create(tree, Disposition::Create, false);
    if let Request::Create { options, .. } = &mut request {
        options.durable = Some(Durable::Request {
            create_guid: [7; 16],
            timeout_ms: 0,
        });
    }
    request
}

#[test]
fn a_create_whose_first_copy_is_not_done_yet_is_waited_for() {
    let refusal = (Command::CREATE, NtStatus::FILE_NOT_AVAILABLE, 3);
    let (created, replays) = lose_and_count(create_once, |server| {
        server.not_yet = Some(refusal);
    });
    assert!(matches!(created, Ok(Reply::Created(..))), "{created:?}");
    assert_eq!(replays, 4);
}

#[test]
fn a_server_that_is_not_ready_is_asked_again() {
    for status in [
        NtStatus::SERVER_UNAVAILABLE,
        NtStatus::SHARE_UNAVAILABLE,
        NtStatus::FILE_NOT_AVAILABLE,
    ] {
        for command in [
            Command::TREE_CONNECT,
            Command::CREATE,
            Command::READ,
            Command::WRITE,
            Command::SET_INFO,
            Command::FLUSH,
            Command::QUERY_INFO,
            Command::CLOSE,
        ] {
            let (before, after) = (content(1), content(2));
            let (mut world, file) = World::open(1, Behaviour::default(), before.clone(), CHANNELS);
            world.server.not_yet = Some((command, status, 3));
            let tree = world.tree();
            let created = world.ask(create(tree, Disposition::Open, false));
            assert!(matches!(created, Ok(Reply::Created(..))), "{created:?}");
            copy(&mut world, file, &before, &after);
            assert!(world.server.content == after, "{command:?}, {status}");
            let left = world.server.not_yet.map(|(.., left)| left);
            assert_eq!(left, Some(0), "{command:?} was asked for again");
            assert_eq!(world.pool.in_use(), 0);
        }
    }
}

#[test]
fn what_cannot_be_repeated_is_an_error() {
    let lost = |outcome: Result<Reply, Error>| {
        let error = outcome.expect_err("nobody knows whether it was done");
        assert!(matches!(error, Error::ChannelLost { .. }), "{error}");
    };
    lost(lose(|tree, _| create(tree, Disposition::Create, false)));
    lost(lose(|tree, _| {
        create(tree, Disposition::OpenOrCreate, true)
    }));
    lost(lose(|_, file| list(file, false)));
}

#[test]
fn a_request_that_no_channel_survives_ends_at_some_time() {
    let (mut world, file) = World::open(1, Behaviour::default(), content(1), 1);
    world.server.behaviour.slow_seconds = 150;
    world.server.behaviour.interims = true;
    let ear = Arc::new(Ear::default());
    let written = Arc::new(Ear::default());
    world.session.read(file, 0..100, ear.clone());
    let payload = world.block(b"poison");
    world.session.write(file, 0, payload, written.clone());
    let mut lost = 0;
    while !ear.is_done() || !written.is_done() {
        // the next one is up before the victim dies, so that the session goes on
        let next = world.connect().expect("a channel may join");
        world.run_until(|world| world.is_up(next));
        let seen = world.server.sequences.len();
        world.kill(lost, Death::Early);
        world.run_until(|world| world.server.sequences.len() > seen || ear.is_done());
        lost += 1;
        assert!(lost < 20, "it never ends");
    }
    assert!(matches!(ear.error(), Error::ChannelLost { .. }));
    assert!(matches!(written.error(), Error::ChannelLost { .. }));
    assert_eq!(world.pool.in_use(), 0);
}

#[test]
fn a_file_that_is_never_available_is_an_error() {
    let behaviour = Behaviour {
        transfer_status: Some(NtStatus::FILE_NOT_AVAILABLE),
        ..Behaviour::default()
    };
    let (mut world, file) = World::open(1, behaviour, content(1), 2);
    let ear = Arc::new(Ear::default());
    let payload = world.block(b"data");
    world.session.write(file, 0, payload, ear.clone());
    let begun = world.now;
    world.run_until(|_| ear.is_done());
    assert_eq!(ear.error().status(), Some(NtStatus::FILE_NOT_AVAILABLE));
    let seconds = (world.now - begun) / 1_000_000_000;
    assert!((30..60).contains(&seconds), "it was tried for {seconds} s");
    assert!(world.is_up(0) && world.is_up(1));
    assert_eq!(world.pool.in_use(), 0);
}
