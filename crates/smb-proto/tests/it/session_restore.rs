//! Sessions that lose all their channels and come back: everything goes on where it was, or says
//! clearly why it does not.

use std::sync::Arc;
use std::time::Duration;

use smb_proto::error::FileProblem;
use smb_proto::session::{
    Access, CreateOptions, Dialect, Disposition, FileTimes, Information, QueryInformation,
    SetInformation,
};
use smb_proto::wire::{Command, CopyChunk};
use smb_proto::{Error, FileKey, NtStatus, Reply, Request, SessionSettings};

use crate::channel_losses::{LENGTH, close, content, copy, read_all, write_all};
use crate::network_simulation::{BLOCK, Death, Ear, World};
use crate::seeded_random::Random;
use crate::toy_server::{Behaviour, Encrypts, lease_break_of};

const CHANNELS: usize = 2;

fn behaviour(seed: u64) -> Behaviour {
    Behaviour {
        durable: seed.is_multiple_of(2),
        signing_required: seed.is_multiple_of(2),
        encrypts: [Encrypts::Nothing, Encrypts::Session, Encrypts::Share][seed as usize % 3],
        short: seed.is_multiple_of(3),
        interims: !seed.is_multiple_of(3),
        not_ready: true,
        ..Behaviour::default()
    }
}

fn world(seed: u64, behaviour: Behaviour) -> (World, FileKey) {
    let mut world = World::with(
        seed,
        behaviour,
        content(seed),
        |settings| settings.reconnect = true,
        64,
    );
    for _ in 0..CHANNELS {
        let number = world.connect().expect("a channel may join");
        world.run_until(|world| world.is_up(number));
    }
    let file = open(&mut world, Disposition::OpenOrCreate);
    (world, file)
}

fn open(world: &mut World, disposition: Disposition) -> FileKey {
    open_so(world, disposition, false)
}

fn open_so(world: &mut World, disposition: Disposition, all_or_nothing: bool) -> FileKey {
    let tree = world.tree();
    let options = CreateOptions {
        folder: Some(false),
        disposition,
        all_or_nothing,
        ..CreateOptions::open(Access::ReadWrite)
    };
    let path = "folder/file".into();
    match world.ask(Request::Create {
        tree,
        path,
        options,
    }) {
        Ok(Reply::Created(file, _)) => file,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_channels_may_die_at_every_step_of_a_copy() {
    let (mut taken_up, mut opened_again, mut doubts) = (0, 0, 0);
    for seed in 0..3 {
        let (before, after) = (content(seed), content(seed + 100));
        let (mut whole, file) = world(seed, behaviour(seed));
        let begin = whole.steps;
        copy(&mut whole, file, &before, &after);
        for step in begin + 1..whole.steps {
            let death = [Death::Early, Death::Late][(seed as usize + step) % 2];
            let case = format!("seed {seed}, step {step}, {death:?}");
            let (mut world, mut file) = world(seed, behaviour(seed));
            // a server that did not keep the handle may have lost whatever was not flushed
            world.meanwhile = |server| {
                if !server.behaviour.durable {
                    server.crash();
                }
            };
            // once more while it comes back
            world.dooms = vec![(step + 1 + step % 23, death), (step, death)];
            read_all(&mut world, file, &before);
            while let Err(error) = write_all(&mut world, file, &after) {
                assert!(is_in_doubt(&error), "{case}: {error}");
                assert!(!world.server.behaviour.durable, "{case}");
                doubts += 1;
                let closed = world.ask(Request::Close { file });
                assert!(matches!(closed, Ok(Reply::Closed(_))), "{case}: {closed:?}");
                file = open_so(&mut world, Disposition::Open, step.is_multiple_of(2));
                world.server.done_writes.clear();
            }
            close(&mut world, file);
            assert!(world.server.stored == after, "{case}: the bytes differ");
            assert_eq!(world.pool.in_use(), 0, "{case}: all blocks came home");
            taken_up += world.server.taken_up;
            opened_again += world.server.reopened;
        }
    }
    assert!(
        taken_up > 50 && opened_again > 50 && doubts > 10,
        "{taken_up}, {opened_again} and {doubts}"
    );
}

fn is_in_doubt(error: &Error) -> bool {
    let unflushed = FileProblem::Unflushed;
    matches!(error, Error::FileChanged { problem, .. } if *problem == unflushed)
}

fn rename(file: FileKey, path: &str) -> Request {
    Request::Set {
        file,
        what: SetInformation::Rename {
            path: path.into(),
            replace: false,
        },
    }
}

fn write(world: &mut World, file: FileKey) -> Result<Reply, Error> {
    let (ear, payload) = (Arc::new(Ear::default()), world.block(&[7; 100]));
    world.session.write(file, 0, payload, ear.clone());
    world.run_until(|_| ear.is_done());
    ear.outcome()
}

/// A file of a server that kept no handle, after `done` and a crash.
fn after_a_crash(all_or_nothing: bool, done: &[fn(&mut World, FileKey)]) -> (World, FileKey) {
    let (mut world, _) = world(1, Behaviour::default());
    let file = open_so(&mut world, Disposition::Open, all_or_nothing);
    for done in done {
        done(&mut world, file);
    }
    world.meanwhile = crate::toy_server::Server::crash;
    world.kill_all(Death::Early);
    let echo = world.ask(Request::Echo);
    assert!(matches!(echo, Ok(Reply::Done)), "{echo:?}");
    world.server.done_writes.clear();
    (world, file)
}

const WRITES: fn(&mut World, FileKey) = |world, file| {
    assert!(write(world, file).is_ok());
};
const SETS_ITS_LENGTH: fn(&mut World, FileKey) = |world, file| {
    let what = SetInformation::EndOfFile(LENGTH as u64);
    assert!(world.ask(Request::Set { file, what }).is_ok());
};
const FLUSHES: fn(&mut World, FileKey) = |world, file| {
    assert!(world.ask(Request::Flush { file }).is_ok());
};

#[test]
fn what_was_not_flushed_is_not_believed() {
    for done in [&[WRITES][..], &[SETS_ITS_LENGTH], &[FLUSHES, WRITES]] {
        for all_or_nothing in [false, true] {
            let (mut world, file) = after_a_crash(all_or_nothing, done);
            // also not later
            for _ in 0..2 {
                for promise in [Request::Flush { file }, rename(file, "folder/other")] {
                    let refused = world.ask(promise);
                    assert!(refused.as_ref().is_err_and(is_in_doubt), "{refused:?}");
                }
                let written = write(&mut world, file);
                assert_eq!(written.is_err(), all_or_nothing, "{written:?}");
                let (read, _) = world.read(file, 0..10);
                assert_eq!(read.is_err(), all_or_nothing, "{read:?}");
                world.server.done_writes.clear();
                world.kill_all(Death::Early);
            }
            let what = SetInformation::DeleteOnClose(true);
            let removed = world.ask(Request::Set { file, what });
            assert!(matches!(removed, Ok(Reply::Done)), "{removed:?}");
            let closed = world.ask(Request::Close { file });
            assert!(matches!(closed, Ok(Reply::Closed(_))), "{closed:?}");
        }
    }
}

#[test]
fn what_was_flushed_is_believed() {
    for done in [
        &[][..],
        &[WRITES, FLUSHES],
        &[WRITES, SETS_ITS_LENGTH, FLUSHES],
    ] {
        let (mut world, file) = after_a_crash(true, done);
        for _ in 0..2 {
            assert!(write(&mut world, file).is_ok());
            let flushed = world.ask(Request::Flush { file });
            assert!(matches!(flushed, Ok(Reply::Done)), "{flushed:?}");
            world.server.done_writes.clear();
            world.kill_all(Death::Early);
        }
        let renamed = world.ask(rename(file, "folder/other"));
        assert!(matches!(renamed, Ok(Reply::Done)), "{renamed:?}");
    }
}

#[test]
fn a_flush_answers_only_for_what_was_confirmed_before_it() {
    for seed in 0..10 {
        let (mut world, file) = world(1, Behaviour::default());
        world.random = Random::new(seed);
        let (flushed, written) = (Arc::new(Ear::default()), Arc::new(Ear::default()));
        let payload = world.block(&[7; 100]);
        world
            .session
            .submit(Request::Flush { file }, flushed.clone());
        world.session.write(file, 0, payload, written.clone());
        world.run_until(|_| flushed.is_done() && written.is_done());
        assert!(flushed.outcome().is_ok() && written.outcome().is_ok());
        world.kill_all(Death::Early);
        let refused = world.ask(Request::Flush { file });
        assert!(refused.as_ref().is_err_and(is_in_doubt), "{refused:?}");
    }
}

#[test]
fn a_server_that_kept_the_handle_has_kept_what_was_written() {
    let (mut world, file) = world(2, behaviour(2));
    assert!(write(&mut world, file).is_ok());
    world.kill_all(Death::Early);
    let flushed = world.ask(Request::Flush { file });
    assert!(matches!(flushed, Ok(Reply::Done)), "{flushed:?}");
    assert_eq!(world.server.taken_up, 1);
}

/// A handle that the server would not give back, since it had not noticed the loss, is in the way of any other open
/// until its time is over.
#[test]
fn a_handle_that_the_server_keeps_only_later_is_asked_for_again() {
    for refusals in [1, 4] {
        let (mut world, file) = world(2, behaviour(2));
        assert!(write(&mut world, file).is_ok());
        for losses in 1..=2 {
            world.server.behaviour.notices_late = Some(refusals);
            let begun = world.now;
            world.kill_all(Death::Early);
            let flushed = world.ask(Request::Flush { file });
            assert!(matches!(flushed, Ok(Reply::Done)), "{flushed:?}");
            assert_eq!((world.server.taken_up, world.server.reopened), (losses, 0));
            assert!(world.now - begun < 5_000_000_000);
        }
    }
}

/// Samba 4.17 does so where the last WRITE was done after the connection was lost; opens that share the file do not show
/// that the handle is in the way.
#[test]
fn a_handle_that_a_server_keeps_from_whoever_asks_for_it_is_ended_with_one_login_more() {
    for (writes, is_shared, logins) in [(true, false, 2), (true, true, 2), (false, true, 1)] {
        let withholds = Behaviour {
            withholds: true,
            shares_withheld: is_shared,
            ..behaviour(2)
        };
        let (mut world, file) = world(2, withholds);
        for cut in 1..=2 {
            if writes {
                assert!(write(&mut world, file).is_ok());
                world.server.done_writes.clear();
            }
            let begun = world.now;
            world.server.logins = 0;
            world.kill_all(Death::Early);
            let (outcome, _) = world.read(file, 0..10);
            assert!(outcome.is_ok(), "{outcome:?}");
            assert_eq!((world.server.logins, world.server.reopened), (logins, cut));
            assert!(world.now - begun < 5_000_000_000);
        }
    }
}

/// Whether the server had done it or not: to do it twice changes nothing.
#[test]
fn a_flush_whose_answer_went_with_the_last_channel_is_asked_for_again() {
    for death in [Death::Early, Death::Late] {
        let (mut world, file) = world(2, behaviour(2));
        assert!(write(&mut world, file).is_ok());
        let ear = Arc::new(Ear::default());
        world.session.submit(Request::Flush { file }, ear.clone());
        let seen = world.server.sequences.len();
        world.run_until(|world| world.server.sequences.len() > seen);
        assert!(!ear.is_done(), "the answer is under way");
        world.kill_all(death);
        world.run_until(|_| ear.is_done());
        let flushed = ear.outcome();
        assert!(matches!(flushed, Ok(Reply::Done)), "{flushed:?}");
        assert_eq!(world.server.taken_up, 1);
    }
}

#[test]
fn what_a_file_was_emptied_of_may_come_back() {
    let (mut world, _) = world(1, Behaviour::default());
    let file = open(&mut world, Disposition::CreateOrTruncate);
    world.kill_all(Death::Early);
    let refused = world.ask(Request::Flush { file });
    assert!(refused.as_ref().is_err_and(is_in_doubt), "{refused:?}");
}

/// Loses all channels while a file is read; gives how that ends.
fn lose(behaviour: Behaviour, meanwhile: fn(&mut crate::toy_server::Server)) -> (World, Error) {
    let (mut world, file) = world(1, behaviour);
    world.meanwhile = meanwhile;
    let ear = Ear::forgetful();
    world.session.read(file, 0..LENGTH as u64, ear.clone());
    world.run_until(|world| world.server.reads[0] > 0);
    world.kill_all(Death::Early);
    world.run_until(|_| ear.is_done());
    assert_eq!(world.pool.in_use(), 0);
    (world, ear.error())
}

fn changed(meanwhile: fn(&mut crate::toy_server::Server), expected: FileProblem) {
    let (mut world, error) = lose(Behaviour::default(), meanwhile);
    match error {
        Error::FileChanged { problem, .. } => assert_eq!(problem, expected),
        other => panic!("{other:?}"),
    }
    // and nothing else suffers
    let file = open(&mut world, Disposition::Open);
    let (outcome, _) = world.read(file, 0..10);
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn a_file_that_is_another_one_by_now_is_left_alone() {
    changed(|server| server.file_number = 78, FileProblem::Replaced);
    changed(|server| server.content.push(1), FileProblem::Changed);
    let later = |server: &mut crate::toy_server::Server| {
        server.file_times = FileTimes {
            write: 5,
            ..FileTimes::default()
        };
    };
    changed(later, FileProblem::Changed);
}

#[test]
fn a_server_that_lost_what_it_had_confirmed_is_caught() {
    loses_what_it_confirmed(|world, file| {
        let ear = Arc::new(Ear::default());
        let payload = world.block(&[7; 100]);
        world
            .session
            .write(file, LENGTH as u64, payload, ear.clone());
        world.run_until(|_| ear.is_done());
        ear.outcome()
    });
    loses_what_it_confirmed(|world, file| {
        let chunk = |to, length| CopyChunk {
            from: 0,
            to,
            length,
        };
        let chunks = vec![chunk(LENGTH as u64, 60), chunk(LENGTH as u64 + 60, 40)];
        world.ask(Request::CopyChunks {
            to: file,
            key: [1; 24],
            chunks,
        })
    });
    loses_what_it_confirmed(|world, file| {
        let end = LENGTH as u64 + 100;
        world.server.content.resize(LENGTH + 100, 7);
        world.ask(Request::Clone {
            from: file,
            to: file,
            range: 0..end,
        })
    });
}

/// What is done makes the file 100 bytes longer, of which one is lost.
fn loses_what_it_confirmed(done: impl FnOnce(&mut World, FileKey) -> Result<Reply, Error>) {
    let (mut world, file) = world(1, Behaviour::default());
    let confirmed = done(&mut world, file);
    assert!(confirmed.is_ok(), "{confirmed:?}");
    world.meanwhile = |server| server.content.truncate(LENGTH + 99);
    world.kill_all(Death::Early);
    let failed = world.ask(Request::Flush { file });
    assert!(
        matches!(
            failed,
            Err(Error::FileChanged {
                problem: FileProblem::WritesLost,
                ..
            })
        ),
        "{failed:?}"
    );
}

#[test]
fn a_file_that_cannot_be_opened_again_says_so() {
    let behaviour = Behaviour {
        reopen_status: Some(NtStatus::OBJECT_NAME_NOT_FOUND),
        ..Behaviour::default()
    };
    let (_, error) = lose(behaviour, |_| {});
    assert_eq!(error.status(), Some(NtStatus::OBJECT_NAME_NOT_FOUND));
    // a handle that the server has not given up yet is waited for
    let behaviour = Behaviour {
        reopen_status: Some(NtStatus::SHARING_VIOLATION),
        ..Behaviour::default()
    };
    let (world, error) = lose(behaviour, |_| {});
    assert_eq!(error.status(), Some(NtStatus::SHARING_VIOLATION));
    assert!(world.now > 30_000_000_000);
}

#[test]
fn a_share_that_comes_late_is_waited_for() {
    let late = |refusals: usize| {
        let (mut world, file) = world(1, Behaviour::default());
        world.server.not_yet = Some((Command::TREE_CONNECT, NtStatus::BAD_NETWORK_NAME, refusals));
        world.kill_all(Death::Early);
        let (begun, (outcome, _)) = (world.now, world.read(file, 0..10));
        (outcome, (world.now - begun) / 1_000_000_000)
    };
    let (outcome, _) = late(5);
    assert!(outcome.is_ok(), "{outcome:?}");
    let (outcome, seconds) = late(usize::MAX);
    let error = outcome.expect_err("it never comes");
    assert_eq!(error.status(), Some(NtStatus::BAD_NETWORK_NAME));
    assert!((10..60).contains(&seconds), "{seconds}");
    // without such a reason to hope, it is said at once
    let (mut world, _) = world(1, Behaviour::default());
    world.server.not_yet = Some((Command::TREE_CONNECT, NtStatus::BAD_NETWORK_NAME, 1));
    let begun = world.now;
    let refused = world.ask(Request::TreeConnect {
        share: "data".into(),
    });
    assert!(refused.is_err(), "{refused:?}");
    assert!(world.now - begun < 1_000_000_000);
}

#[test]
fn a_share_is_waited_for_no_longer_than_it_may_take() {
    let change = |settings: &mut SessionSettings| {
        settings.reconnect = true;
        settings.restore_time_max = Duration::from_secs(1);
    };
    let mut world = World::with(1, Behaviour::default(), content(1), change, 64);
    let file = world.bring_up(CHANNELS);
    let never = (
        Command::TREE_CONNECT,
        NtStatus::BAD_NETWORK_NAME,
        usize::MAX,
    );
    world.server.not_yet = Some(never);
    world.kill_all(Death::Early);
    let begun = world.now;
    let (outcome, _) = world.read(file, 0..10);
    assert!(outcome.is_err(), "{outcome:?}");
    assert!((1..3).contains(&((world.now - begun) / 1_000_000_000)));
}

#[test]
fn a_rename_that_nobody_heard_of_is_found() {
    let (mut world, file) = world(1, Behaviour::default());
    // the server knows one path; the file is thought to have another, and may have this one
    let rename = |path: &str| Request::Set {
        file,
        what: SetInformation::Rename {
            path: path.into(),
            replace: false,
        },
    };
    let renamed = world.ask(rename("elsewhere"));
    assert!(matches!(renamed, Ok(Reply::Done)), "{renamed:?}");
    let ear = Arc::new(Ear::default());
    world.session.submit(rename("folder/file"), ear.clone());
    let seen = world.server.sequences.len();
    world.run_until(|world| world.server.sequences.len() > seen);
    world.kill_all(Death::Late);
    world.run_until(|_| ear.is_done());
    assert!(matches!(ear.outcome(), Ok(Reply::Done)));
    assert_eq!(world.server.reopened, 1);
}

/// Loses every connection while something is read; the one that is opened then closes, and says why.
fn cannot_come_back(world: &mut World, file: FileKey) -> (Arc<Ear>, Error) {
    let ear = Ear::forgetful();
    world.session.read(file, 0..LENGTH as u64, ear.clone());
    world.kill_all(Death::Early);
    world.run_until(|world| world.closed(CHANNELS).is_some());
    let cause = world.closed(CHANNELS).cloned().flatten();
    (ear, cause.expect("it says why"))
}

#[test]
fn another_server_is_not_talked_to() {
    let (mut world, file) = world(1, Behaviour::default());
    world.meanwhile = |server| server.behaviour.bind_guid = [2; 16];
    let (ear, cause) = cannot_come_back(&mut world, file);
    assert!(matches!(cause, Error::AnotherServer), "{cause}");
    assert!(!cause.is_fault(), "sound servers do that too");
    world.session.give_up(cause);
    world.run_until(|_| ear.is_done());
    match ear.error() {
        Error::SessionEnded(Some(cause)) => assert!(matches!(*cause, Error::AnotherServer)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_password_that_was_changed_ends_it() {
    let (mut world, file) = world(1, Behaviour::default());
    world.meanwhile = |server| server.behaviour.login_status = Some(NtStatus::LOGON_FAILURE);
    let (ear, cause) = cannot_come_back(&mut world, file);
    assert!(
        !ear.is_done() && world.session.is_lost(),
        "it may be tried again"
    );
    world.session.give_up(cause);
    world.run_until(|_| ear.is_done());
    assert_eq!(ear.error().status(), Some(NtStatus::LOGON_FAILURE));
    assert_eq!(world.pool.in_use(), 0);
}

#[test]
fn a_user_does_not_come_back_as_a_guest() {
    let (mut world, _) = world(1, Behaviour::default());
    world.meanwhile = |server| server.behaviour.guest = true;
    world.kill_all(Death::Early);
    world.run_until(|world| world.closed(CHANNELS).is_some());
    assert!(matches!(
        world.closed(CHANNELS),
        Some(Some(Error::GuestOnly))
    ));
}

#[test]
fn a_session_that_the_server_has_forgotten_is_made_anew() {
    let (mut world, file) = world(1, Behaviour::default());
    world.server.behaviour.transfer_status = Some(NtStatus::USER_SESSION_DELETED);
    world.meanwhile = |server| server.behaviour.transfer_status = None;
    let (outcome, bytes) = world.read(file, 0..LENGTH as u64);
    assert!(outcome.is_ok(), "{outcome:?}");
    assert!(bytes == content(1));
    assert_eq!(world.server.logins, 1);
}

#[test]
fn what_was_closed_meanwhile_stays_closed() {
    let (mut world, file) = world(1, Behaviour::default());
    world.kill_all(Death::Early);
    assert!(world.session.is_lost());
    let closed = world.ask(Request::Close { file });
    assert!(matches!(closed, Ok(Reply::Closed(_))), "{closed:?}");
    let echo = world.ask(Request::Echo);
    assert!(matches!(echo, Ok(Reply::Done)), "{echo:?}");
    let file = open(&mut world, Disposition::Open);
    match world.ask(Request::Query {
        file,
        what: QueryInformation::Standard,
    }) {
        Ok(Reply::Information(Information::Standard { size, .. })) => {
            assert_eq!(size, LENGTH as u64);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(world.server.reopened, 1, "only once, by us");
}

#[test]
fn a_listing_that_was_cut_is_not_continued() {
    let (mut world, folder) = world(1, Behaviour::default());
    let list = |restart| Request::List {
        folder,
        pattern: "*".into(),
        restart,
        bytes_max: 4096,
    };
    assert!(matches!(world.ask(list(true)), Ok(Reply::Listing(Some(_)))));
    world.kill_all(Death::Early);
    let cut = world.ask(list(false));
    assert!(matches!(cut, Err(Error::FileChanged { .. })), "{cut:?}");
}

#[test]
fn leases_are_given_back_once_on_any_channel() {
    for (victim, encrypts) in [
        (0, Encrypts::Share),
        (1, Encrypts::Share),
        (0, Encrypts::Session),
        (1, Encrypts::Session),
    ] {
        let behaviour = Behaviour {
            encrypts,
            ..behaviour(2)
        };
        let (mut world, file) = world(2, behaviour);
        let key = world.server.lease_key().expect("it asked for one");
        for number in [victim, 0, 1] {
            world.break_lease(number, key, 7, 1);
        }
        world.break_lease(victim, [9; 16], 1, 0);
        world.run_until(|world| !world.server.breaks_acknowledged.is_empty());
        let (outcome, _) = world.read(file, 0..10);
        assert!(outcome.is_ok());
        assert_eq!(world.server.breaks_acknowledged, [(key, 1)]);
        world.break_lease(victim, key, 8, 0);
        world.run_until(|world| world.server.breaks_acknowledged.len() > 1);
        assert!((0..CHANNELS).all(|number| world.closed(number).is_none()));
        // without the right to keep the handle, there is none to take up
        world.kill_all(Death::Early);
        let (outcome, _) = world.read(file, 0..BLOCK as u64);
        assert!(outcome.is_ok());
        assert_eq!((world.server.taken_up, world.server.reopened), (0, 1));
    }
}

#[test]
fn what_should_have_been_encrypted_takes_no_lease_back() {
    let behaviour = Behaviour {
        encrypts: Encrypts::Session,
        ..behaviour(2)
    };
    let (mut world, _) = world(2, behaviour);
    let key = world.server.lease_key().expect("it asked for one");
    let mut of_a_session = lease_break_of(key, 7, 1, 1);
    // where a frame has the SessionId
    of_a_session[4 + 40] = 1;
    world.say(0, of_a_session);
    world.run_out();
    assert_eq!(world.server.breaks_acknowledged, []);
    assert!(world.is_up(0), "{:?}", world.closed(0));
}

#[test]
fn old_dialects_have_no_word_for_a_replay() {
    let behaviour = Behaviour {
        dialect: Dialect::Smb210,
        algorithm: None,
        ..Behaviour::default()
    };
    let change = |settings: &mut SessionSettings| settings.reconnect = true;
    for death in [Death::Early, Death::Late] {
        let mut world = World::with(1, behaviour.clone(), content(1), change, 64);
        let file = world.bring_up(1);
        let ear = Arc::new(Ear::default());
        let what = SetInformation::EndOfFile(LENGTH as u64);
        world
            .session
            .submit(Request::Set { file, what }, ear.clone());
        let seen = world.server.sequences.len();
        world.run_until(|world| world.server.sequences.len() > seen);
        world.kill_all(death);
        world.run_until(|_| ear.is_done());
        let outcome = ear.outcome();
        assert!(matches!(outcome, Ok(Reply::Done)), "{outcome:?}");
        assert_eq!(world.server.logins, 1);
    }
}

#[test]
fn a_session_may_expire_at_every_step_of_a_copy() {
    for seed in 0..3 {
        let (before, after) = (content(seed), content(seed + 100));
        let (mut whole, file) = world(seed, behaviour(seed));
        let begin = whole.steps;
        copy(&mut whole, file, &before, &after);
        let signs = behaviour(seed).encrypts != Encrypts::Session;
        let (mut renewals, mut anew) = (0, 0);
        for step in begin + 1..whole.steps {
            let (mut world, file) = world(seed, behaviour(seed));
            world.expiry = Some(step);
            // and sometimes the channel that logs in again dies over it
            if step % 4 == 0 {
                world.fate = Some((step + 5, step % CHANNELS, Death::Late));
            }
            copy(&mut world, file, &before, &after);
            let case = format!("seed {seed}, step {step}");
            assert!(world.server.content == after, "{case}: the bytes differ");
            assert_eq!(world.pool.in_use(), 0, "{case}: all blocks came home");
            let renewable = !signs || world.closed(0).is_none();
            assert!(!renewable || world.server.logins == 0, "{case}");
            renewals += world.server.renewals;
            anew += world.server.logins;
        }
        assert!(renewals > 20, "{renewals}");
        assert_eq!(anew > 0, signs, "{anew}");
    }
}

/// The channel that logged in is gone, and the session expires.
fn expires_without_its_login(signing_required: bool, reconnect: bool) -> (World, FileKey) {
    let behaviour = Behaviour {
        signing_required,
        ..Behaviour::default()
    };
    let change = |settings: &mut SessionSettings| settings.reconnect = reconnect;
    let mut world = World::with(1, behaviour, content(1), change, 64);
    let file = world.bring_up(CHANNELS);
    world.kill(0, Death::Early);
    world.server.expired = true;
    (world, file)
}

#[test]
fn only_the_channel_that_logged_in_signs_a_login_again() {
    let (mut world, file) = expires_without_its_login(true, true);
    let (outcome, bytes) = world.read(file, 0..LENGTH as u64);
    assert!(outcome.is_ok(), "{outcome:?}");
    assert!(bytes == content(1));
    assert_eq!((world.server.renewals, world.server.logins), (0, 1));
    // where nothing is signed, there is no key to be wrong about
    let (mut world, file) = expires_without_its_login(false, true);
    let (outcome, _) = world.read(file, 0..LENGTH as u64);
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!((world.server.renewals, world.server.logins), (1, 0));
    // and a session that does not come back says what it ended with
    let (mut world, file) = expires_without_its_login(true, false);
    let (outcome, _) = world.read(file, 0..10);
    let error = outcome.expect_err("no channel can log in again");
    assert_eq!(error.status(), Some(NtStatus::NETWORK_SESSION_EXPIRED));
    world.run_out();
    assert_eq!(world.pool.in_use(), 0);
}

#[test]
fn what_an_expired_session_refused_is_not_lost_with_it() {
    let (mut world, folder) = expires_without_its_login(true, true);
    // nobody can take a lock a second time that may have been taken: it must not count as lost
    let lock = Request::Lock {
        file: folder,
        offset: 0,
        bytes: 1,
        unlock: false,
    };
    let ears: Vec<_> = (0..5).map(|_| Arc::new(Ear::default())).collect();
    for ear in &ears {
        world.session.submit(lock.clone(), ear.clone());
    }
    world.run_until(|_| ears.iter().all(|ear| ear.is_done()));
    for ear in ears {
        let outcome = ear.outcome();
        assert!(matches!(outcome, Ok(Reply::Done)), "{outcome:?}");
    }
    assert_eq!(world.server.logins, 1);
}

#[test]
fn a_session_that_expires_again_and_again_is_not_renewed_for_ever() {
    // while it lasts, and also when it has to be made anew
    for anew in [false, true] {
        let (mut world, file) = world(1, Behaviour::default());
        world.server.behaviour.expires_always = true;
        world.server.expired = true;
        if anew {
            world.kill_all(Death::Early);
        }
        let (outcome, _) = world.read(file, 0..LENGTH as u64);
        let error = outcome.expect_err("it is never done");
        assert_eq!(error.status(), Some(NtStatus::NETWORK_SESSION_EXPIRED));
        world.run_out();
        let renewals = world.server.renewals;
        assert!((3..10).contains(&renewals), "{renewals}");
        assert_eq!(world.pool.in_use(), 0);
        // what the server thinks better of goes on
        world.server.behaviour.expires_always = false;
        let tree = world.tree();
        let interfaces = world.ask(Request::Interfaces { tree });
        assert!(
            matches!(interfaces, Ok(Reply::Interfaces(_))),
            "{interfaces:?}"
        );
    }
}

#[test]
fn an_expired_session_of_a_user_who_is_not_let_in_again_ends() {
    let (mut world, file) = world(1, Behaviour::default());
    world.server.expired = true;
    world.server.behaviour.login_status = Some(NtStatus::LOGON_FAILURE);
    let (outcome, _) = world.read(file, 0..10);
    let error = outcome.expect_err("the password was changed");
    assert_eq!(error.status(), Some(NtStatus::LOGON_FAILURE));
    world.run_out();
    assert_eq!(world.session.channels_up(), []);
    assert!(!world.session.is_lost());
}
