//! Servers that lie, starve, fall silent or hang up: the channel ends, nothing else does.

use std::sync::Arc;
use std::time::Duration;

use smb_proto::error::Operation;
use smb_proto::session::Closed;
use smb_proto::wire::Command;
use smb_proto::{Error, NtStatus, Reply, Request};

use crate::network_simulation::{BLOCK, Ear, World};
use crate::toy_server::{Behaviour, Encrypts, Lie};

const LENGTH: u64 = 12 * BLOCK as u64;

/// Runs a transfer into a lie on the second channel; gives the channel's end and the transfer's.
fn caught(lie: Lie, signing_required: bool) -> (Error, Result<(), Error>) {
    caught_by(Behaviour {
        signing_required,
        lie: Some((lie, 1)),
        ..Behaviour::default()
    })
}

fn caught_by(behaviour: Behaviour) -> (Error, Result<(), Error>) {
    let content = vec![6; 12 * BLOCK];
    let (lie, _) = behaviour.lie.expect("there is one");
    let (mut world, file) = World::open(11, behaviour, content.clone(), 2);
    let outcome = if matches!(lie, Lie::WriteCountTooLarge | Lie::WriteCountZero) {
        let ears: Vec<_> = (0..12)
            .map(|number| {
                let ear = Arc::new(Ear::default());
                let payload = world.block(&content[..BLOCK]);
                world
                    .session
                    .write(file, number * BLOCK as u64, payload, ear.clone());
                ear
            })
            .collect();
        world.run_until(|_| ears.iter().all(|ear| ear.is_done()));
        ears.iter()
            .map(|ear| ear.outcome())
            .find(Result::is_err)
            .expect("one failed")
            .map(drop)
    } else {
        world.read_forgetting(file, 0..LENGTH).map(drop)
    };
    world.run_until(|world| world.closed(1).is_some());
    let cause = world.closed(1).cloned().flatten().expect("it says why");
    assert!(world.is_up(0), "{lie:?}: the honest channel goes on");
    assert_eq!(
        world.session.channel_sequence(),
        1,
        "the server will be told"
    );
    let (again, bytes) = world.read(file, 0..LENGTH);
    assert!(
        matches!(again, Ok(Reply::Read { bytes: LENGTH })),
        "{lie:?}: {again:?}"
    );
    assert!(bytes == content, "{lie:?}");
    assert_eq!(world.server.sequences.last(), Some(&1), "in every request");
    assert_eq!(world.pool.in_use(), 0, "{lie:?}: all blocks came home");
    (cause, outcome)
}

#[test]
fn a_lying_server_is_caught() {
    for lie in [
        Lie::ReadLonger,
        Lie::ReadEmpty,
        Lie::FrameTooLong,
        Lie::FrameRequest,
        Lie::MessageIdUnknown,
        Lie::CommandOther,
        Lie::Chained,
        Lie::PendingWithoutId,
    ] {
        let (cause, outcome) = caught(lie, false);
        assert!(matches!(cause, Error::Misbehaving(_)), "{lie:?}: {cause}");
        assert!(
            outcome.is_ok(),
            "{lie:?}: the honest channel does it: {outcome:?}"
        );
    }
}

#[test]
fn an_answer_without_sense_is_the_end_of_its_request() {
    for lie in [Lie::WriteCountTooLarge, Lie::WriteCountZero] {
        let (cause, outcome) = caught(lie, false);
        assert!(matches!(cause, Error::Misbehaving(_)), "{lie:?}: {cause}");
        match outcome.expect_err("nobody knows what was written") {
            Error::ChannelLost { channel, cause, .. } => {
                assert_eq!(channel.to_string(), "channel 1");
                assert!(matches!(*cause, Error::Misbehaving(_)), "{lie:?}: {cause}");
            }
            other => panic!("{lie:?}: {other}"),
        }
    }
}

#[test]
fn bytes_that_make_no_sense_are_told_from_lies() {
    for lie in [
        Lie::FrameTooShort,
        Lie::FrameNotSmb,
        Lie::FrameEncrypted,
        Lie::ReadOffsetBeyond,
    ] {
        let (cause, _) = caught(lie, false);
        assert!(matches!(cause, Error::Malformed(_)), "{lie:?}: {cause}");
    }
}

#[test]
fn signatures_are_demanded_and_checked() {
    for lie in [Lie::SignatureWrong, Lie::SignatureMissing] {
        let (cause, outcome) = caught(lie, true);
        assert!(matches!(cause, Error::Misbehaving(_)), "{lie:?}: {cause}");
        assert!(outcome.is_ok(), "{lie:?}: {outcome:?}");
    }
    for lie in [Lie::ReadLonger, Lie::ReadEmpty, Lie::Chained] {
        let (cause, _) = caught(lie, true);
        assert!(matches!(cause, Error::Misbehaving(_)), "{lie:?}: {cause}");
    }
}

#[test]
fn encryption_is_demanded_and_checked() {
    let caught = |lie| {
        caught_by(Behaviour {
            encrypts: Encrypts::Session,
            lie: Some((lie, 1)),
            ..Behaviour::default()
        })
    };
    for lie in [Lie::SealedNot, Lie::SealedWrong, Lie::SealedForAnother] {
        let (cause, outcome) = caught(lie);
        assert!(matches!(cause, Error::Misbehaving(_)), "{lie:?}: {cause}");
        assert!(outcome.is_ok(), "{lie:?}: {outcome:?}");
    }
    for lie in [Lie::SealNested, Lie::SealedLonger] {
        let (cause, _) = caught(lie);
        assert!(matches!(cause, Error::Malformed(_)), "{lie:?}: {cause}");
    }
}

#[test]
fn a_listing_of_nothing_is_caught() {
    // found by fuzzing: it made us compute a range from an empty slice
    let (mut world, file) = World::open(2, Behaviour::default(), Vec::new(), 1);
    let pattern = "nothing".into();
    let request = Request::List {
        folder: file,
        pattern,
        restart: true,
        bytes_max: 4096,
    };
    let error = world.ask(request).expect_err("no list");
    assert!(matches!(error, Error::ChannelLost { .. }), "{error}");
    assert!(matches!(world.closed(0), Some(Some(Error::Misbehaving(_)))));
}

#[test]
fn a_replayed_reply_is_caught() {
    // the first copy was right, so the transfer may or may not have lost something
    let (cause, _) = caught(Lie::AnswerRepeated, true);
    assert!(matches!(cause, Error::Misbehaving(_)), "{cause}");
}

#[test]
fn a_server_that_hangs_up_loses_one_channel() {
    let (cause, outcome) = caught(Lie::Disconnect, true);
    assert!(matches!(cause, Error::Transport(_)), "{cause}");
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn silence_is_asked_about_and_then_ends_the_channel() {
    let behaviour = Behaviour {
        lie: Some((Lie::Silence, 0)),
        ..Behaviour::default()
    };
    let (mut world, file) = World::open(2, behaviour, vec![0; BLOCK], 1);
    let start = world.now;
    let outcome = world.read_forgetting(file, 0..10);
    let error = outcome.expect_err("nobody answers");
    assert!(matches!(error, Error::ChannelLost { .. }), "{error}");
    match world.closed(0) {
        Some(Some(Error::TimedOut {
            seconds: 10,
            waiting_for: Operation::Request(Command::READ),
        })) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(Duration::from_nanos(world.now - start).as_secs(), 10);
    assert_eq!(world.channel(0).statistics().outstanding, 0);
    let error = world
        .ask(Request::Echo)
        .expect_err("that was the only channel");
    assert!(matches!(error, Error::SessionEnded(Some(_))), "{error}");
}

#[test]
fn small_requests_do_not_keep_a_dead_way_alive() {
    let (mut world, _) = World::open(2, Behaviour::default(), Vec::new(), 1);
    world.server.mute(0);
    let start = world.now;
    let ears: Vec<_> = (1..30)
        .map(|second| {
            let ear = Arc::new(Ear::default());
            world.session.submit(Request::Echo, ear.clone());
            world.run_until(|world| {
                world.now >= start + second * 1_000_000_000 || world.closed(0).is_some()
            });
            ear
        })
        .collect();
    assert!(ears.iter().all(|ear| ear.is_done()));
    let error = ears[0].error();
    let Error::ChannelLost { cause, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(
        matches!(**cause, Error::TimedOut { seconds: 10, .. }),
        "{cause}"
    );
}

#[test]
fn a_way_that_dies_without_work_is_found_while_there_is_another() {
    let mut world = World::new(2, Behaviour::default(), vec![7; BLOCK]);
    world.idle_echo_after = Some(Duration::from_secs(5));
    let file = world.bring_up(2);
    // as long as both live, both say so
    world.run_until(|world| world.now > 60_000_000_000);
    assert!(world.is_up(0) && world.is_up(1));
    assert!(world.server.echoes > 20, "{}", world.server.echoes);
    world.server.mute(1);
    let start = world.now;
    world.run_until(|world| world.closed(1).is_some());
    let idle = Duration::from_nanos(world.now - start).as_secs();
    assert!((8..=13).contains(&idle), "{idle} s");
    let (outcome, _) = world.read(file, 0..BLOCK as u64);
    assert!(outcome.is_ok(), "{outcome:?}");
    // the last one is left in peace: whether it leads anywhere shows when it is needed
    let (echoes, start) = (world.server.echoes, world.now);
    world.server.mute(0);
    world.run_until(|world| world.now > start + 60_000_000_000);
    assert_eq!(world.server.echoes, echoes);
    assert!(world.is_up(0));
}

#[test]
fn a_server_that_is_there_and_says_nothing_is_waited_for() {
    let behaviour = Behaviour {
        lie: Some((Lie::Silence, 0)),
        ..Behaviour::default()
    };
    let (mut world, file) = World::open(2, behaviour, vec![0; BLOCK], 1);
    world.confirms = true;
    let start = world.now;
    let outcome = world.read_forgetting(file, 0..10);
    assert!(matches!(outcome, Err(Error::ChannelLost { .. })));
    assert_eq!(Duration::from_nanos(world.now - start).as_secs(), 25);
    match world.closed(0) {
        Some(Some(Error::Stalled {
            seconds: 25,
            waiting_for: Operation::Request(Command::READ),
        })) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_disk_that_starts_up_is_waited_for() {
    // Nothing at all comes meanwhile, no interim and no sign of life.
    let (mut world, file) = World::open(2, Behaviour::default(), vec![7; BLOCK], 1);
    world.confirms = true;
    world.server.delay(0, 20_000_000_000);
    let (outcome, _) = world.read(file, 0..10);
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn a_server_that_only_puts_off_is_left_soon() {
    let behaviour = Behaviour {
        interims: true,
        ..Behaviour::default()
    };
    let (mut world, file) = World::open(2, behaviour, vec![0; BLOCK], 1);
    world.server.behaviour.slow_seconds = 3600;
    world.server.behaviour.puts_off_echoes = true;
    let start = world.now;
    let outcome = world.read_forgetting(file, 0..10);
    assert!(matches!(outcome, Err(Error::ChannelLost { .. })));
    let seconds = Duration::from_nanos(world.now - start).as_secs();
    assert!((25..30).contains(&seconds), "{seconds}");
}

#[test]
fn a_slow_request_does_not_end_a_channel_that_lives() {
    // the interim comes, the reply takes minutes; the server answers our signs of life
    let behaviour = Behaviour {
        interims: true,
        ..Behaviour::default()
    };
    let (mut world, file) = World::open(2, behaviour, vec![0; BLOCK], 1);
    world.server.behaviour.slow_seconds = 150;
    let start = world.now;
    let (outcome, _) = world.read(file, 0..10);
    assert!(outcome.is_ok(), "{outcome:?}");
    assert!(Duration::from_nanos(world.now - start).as_secs() > 120);
    assert!(world.server.echoes > 10);
}

#[test]
fn a_request_that_is_only_put_off_ends_its_channel_at_some_time() {
    let behaviour = Behaviour {
        interims: true,
        ..Behaviour::default()
    };
    let (mut world, file) = World::open(2, behaviour, vec![0; BLOCK], 1);
    world.server.behaviour.slow_seconds = 3600;
    let start = world.now;
    let outcome = world.read_forgetting(file, 0..10);
    assert!(matches!(outcome, Err(Error::ChannelLost { .. })));
    assert_eq!(Duration::from_nanos(world.now - start).as_secs(), 600);
    match world.closed(0) {
        Some(Some(Error::TimedOut {
            seconds: 600,
            waiting_for: Operation::Request(Command::READ),
        })) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_without_credits_is_left() {
    let behaviour = Behaviour {
        credits_max: 0,
        ..Behaviour::default()
    };
    let mut world = World::new(2, behaviour, Vec::new());
    let number = world.connect().expect("the first may join");
    world.run_until(|world| world.closed(number).is_some());
    match world.closed(number) {
        Some(Some(Error::Misbehaving(detail))) => assert_eq!(detail.id, "misbehaving.no-credits"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_login_that_takes_too_long_is_given_up() {
    let mut world = World::new(2, Behaviour::default(), Vec::new());
    let number = world.connect().expect("the first may join");
    world.server.mute(number);
    world.run_until(|world| world.closed(number).is_some());
    assert!(matches!(
        world.closed(number),
        Some(Some(Error::TimedOut { .. }))
    ));
    assert_eq!(Duration::from_nanos(world.now).as_secs(), 20);
}

#[test]
fn a_dropped_channel_gives_its_work_back() {
    let (mut world, file) = World::open(2, Behaviour::default(), vec![1; 12 * BLOCK], 2);
    let ear = Ear::forgetful();
    world.session.read(file, 0..LENGTH, ear.clone());
    world.run_until(|world| world.server.reads[1] > 0);
    world.drop_channel(1);
    world.run_until(|_| ear.is_done());
    assert!(matches!(ear.outcome(), Ok(Reply::Read { bytes: LENGTH })));
    assert_eq!(world.pool.in_use(), 0);
    let number = world.connect().expect("a new one may join");
    world.run_until(|world| world.is_up(number));
    assert_eq!(
        world.channel(number).number().to_string(),
        "channel 2",
        "never used twice"
    );
}

#[test]
fn an_ended_session_ends_everything() {
    let (mut world, file) = World::open(2, Behaviour::default(), vec![1; 12 * BLOCK], 2);
    let ear = Ear::forgetful();
    world.session.read(file, 0..LENGTH, ear.clone());
    world.run_until(|world| world.server.reads[1] > 0);
    world.session.end();
    world.run_out();
    assert!(matches!(ear.error(), Error::SessionEnded(None)));
    assert!((0..2).all(|number| matches!(world.closed(number), Some(None))));
    assert_eq!(world.pool.in_use(), 0);
}

/// As Linux's own server sometimes says of a file that was open until then.
#[test]
fn a_file_that_is_closed_already_is_closed() {
    let (mut world, file) = World::open(2, Behaviour::default(), Vec::new(), 1);
    world.server.not_yet = Some((Command::CLOSE, NtStatus::FILE_CLOSED, 1));
    let closed = world.ask(Request::Close { file });
    assert!(
        matches!(
            closed,
            Ok(Reply::Closed(Closed {
                sure: true,
                size: None,
                times: None
            }))
        ),
        "{closed:?}"
    );
    assert!(world.is_up(0));
}
