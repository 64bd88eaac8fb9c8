//! Chains of requests about one file, whatever the server does with them.

use std::sync::Arc;

use smb_proto::error::Operation;
use smb_proto::session::{
    Access, CreateOptions, Created, Dialect, Disposition, FileTimes, SetInformation,
};
use smb_proto::wire::Command;
use smb_proto::{Error, FileKey, NtStatus, Reply, Request, TreeKey};

use crate::network_simulation::{Death, Ear, World};
use crate::seeded_random::Random;
use crate::toy_server::{Behaviour, Encrypts, Lie};

const OF_CHAIN: FileKey = FileKey::OF_CHAIN;

fn create(tree: TreeKey, path: &str, disposition: Disposition) -> Request {
    Request::Create {
        tree,
        path: path.into(),
        options: CreateOptions {
            disposition,
            ..CreateOptions::open(Access::ReadWrite)
        },
    }
}

fn fetch() -> Request {
    Request::Fetch {
        file: OF_CHAIN,
        offset: 0,
        bytes_max: 1 << 16,
    }
}

fn read(tree: TreeKey, path: &str) -> Request {
    let create = create(tree, path, Disposition::Open);
    Request::Chain(vec![create, fetch(), Request::Close { file: OF_CHAIN }])
}

/// A world that has nothing but a share.
fn world(seed: u64, behaviour: Behaviour, content: &[u8], channels: usize) -> (World, TreeKey) {
    let mut world = World::new(seed, behaviour, content.to_vec());
    for _ in 0..channels {
        let number = world.connect().expect("a channel may join");
        world.run_until(|world| world.is_up(number));
    }
    let tree = world.tree();
    (world, tree)
}

fn replies(outcome: Result<Reply, Error>) -> Vec<Result<Reply, Error>> {
    match outcome {
        Ok(Reply::Chain(replies)) => replies,
        other => panic!("{other:?}"),
    }
}

fn content_of(outcome: Result<Reply, Error>) -> (Created, Vec<u8>) {
    let mut replies = replies(outcome).into_iter();
    match (replies.next(), replies.next(), replies.next()) {
        (Some(Ok(Reply::Created(_, created))), Some(Ok(Reply::Bytes(bytes))), Some(last)) => {
            assert!(
                matches!(
                    last,
                    Ok(Reply::Closed(_)) | Err(Error::Refused { .. }) if bytes.is_empty()
                ) || matches!(last, Ok(Reply::Closed(_))),
                "{last:?}"
            );
            (created, bytes)
        }
        other => panic!("{other:?}"),
    }
}

fn behaviours() -> Vec<Behaviour> {
    let mut behaviours = Vec::new();
    for (dialect, encrypts) in [
        (Dialect::Smb202, Encrypts::Nothing),
        (Dialect::Smb210, Encrypts::Nothing),
        (Dialect::Smb300, Encrypts::Share),
        (Dialect::Smb311, Encrypts::Nothing),
        (Dialect::Smb311, Encrypts::Session),
    ] {
        for variant in 0..4 {
            behaviours.push(Behaviour {
                dialect,
                encrypts,
                cipher: Some(match dialect {
                    Dialect::Smb300 => smb_proto::session::Cipher::Aes128Ccm,
                    _ => smb_proto::session::Cipher::Aes128Gcm,
                }),
                signing_required: variant % 2 == 0,
                interims: variant < 2,
                breaks: variant == 1,
                chains_end: variant == 3,
                multichannel: dialect >= Dialect::Smb300,
                ..Behaviour::default()
            });
        }
    }
    behaviours
}

#[test]
fn a_small_file_comes_in_one_go() {
    let content = Random::new(1).bytes(4321);
    for (seed, behaviour) in (0..).zip(behaviours()) {
        let case = format!("{behaviour:?}");
        let (mut world, tree) = world(seed, behaviour, &content, 1);
        let (created, bytes) = content_of(world.ask(read(tree, "folder/file")));
        assert!(bytes == content && created.size == 4321, "{case}");
        assert_eq!((world.server.chains, world.server.opens), (1, 0), "{case}");
        for failed in replies(world.ask(read(tree, "nowhere"))) {
            let status = failed.expect_err("it is not there").status();
            assert_eq!(status, Some(NtStatus::OBJECT_NAME_NOT_FOUND), "{case}");
        }
        let (_, other) = content_of(world.ask(read(tree, "folder/file")));
        assert!(other == content, "{case}");
    }
}

#[test]
fn a_chain_that_the_server_is_not_ready_for_is_asked_for_again() {
    let content = Random::new(1).bytes(4321);
    let (mut world, tree) = world(1, Behaviour::default(), &content, 1);
    let refusal = (Command::CREATE, NtStatus::SHARE_UNAVAILABLE);
    world.server.not_yet = Some((refusal.0, refusal.1, 3));
    let (_, bytes) = content_of(world.ask(read(tree, "folder/file")));
    assert!(bytes == content);
    assert_eq!((world.server.chains, world.server.opens), (4, 0));
    // but not for ever
    world.server.not_yet = Some((refusal.0, refusal.1, usize::MAX));
    let begun = world.now;
    for failed in replies(world.ask(read(tree, "folder/file"))) {
        let status = failed.expect_err("it is never ready").status();
        assert_eq!(status, Some(refusal.1));
    }
    assert!(world.now - begun < 60_000_000_000);
}

#[test]
fn what_a_chain_could_not_close_is_closed_after_it() {
    for chains_end in [false, true] {
        let behaviour = Behaviour {
            chains_end,
            ..Behaviour::default()
        };
        let (mut world, tree) = world(3, behaviour, &[], 1);
        // at the end of an empty file, a READ fails, and some servers then do not close
        let (_, bytes) = content_of(world.ask(read(tree, "folder/file")));
        assert!(bytes.is_empty(), "{bytes:?}");
        world.run_out();
        assert_eq!(world.server.opens, 0, "{chains_end}");
    }
}

#[test]
fn a_file_is_written_and_stays_open_until_it_is_closed() {
    let content = Random::new(2).bytes(50_001);
    for (seed, behaviour) in (0..).zip(behaviours()) {
        let case = format!("{behaviour:?}");
        let (mut world, tree) = world(seed, behaviour, b"something else", 1);
        let chain = vec![
            create(tree, "folder/file", Disposition::CreateOrTruncate),
            Request::Store {
                file: OF_CHAIN,
                offset: 0,
                bytes: content.clone().into(),
            },
            set(OF_CHAIN),
        ];
        let replies_ = replies(world.ask(Request::Chain(chain)));
        let [
            Ok(Reply::Created(file, _)),
            Ok(Reply::Stored(50_001)),
            Ok(Reply::Done),
        ] = replies_[..]
        else {
            panic!("{case}: {replies_:?}");
        };
        assert!(world.server.content == content, "{case}");
        assert_eq!(world.server.opens, 1, "{case}");
        let chain = vec![set(file), Request::Close { file }];
        let replies = replies(world.ask(Request::Chain(chain)));
        assert!(
            matches!(replies[..], [Ok(Reply::Done), Ok(Reply::Closed(_))]),
            "{case}: {replies:?}"
        );
        assert_eq!(world.server.opens, 0, "{case}");
        let gone = world.ask(Request::Close { file });
        assert!(matches!(gone, Err(Error::InvalidRequest(_))), "{gone:?}");
    }
}

fn set(file: FileKey) -> Request {
    let times = FileTimes::default();
    let what = SetInformation::Basic {
        times,
        attributes: 0,
    };
    Request::Set { file, what }
}

#[test]
fn with_few_credits_everything_still_gets_done() {
    let content = Random::new(3).bytes(999);
    for credits_max in [1, 2, 3, 4, 5, 9, 40] {
        let behaviour = Behaviour {
            credits_max,
            interims: credits_max % 2 == 1,
            ..Behaviour::default()
        };
        let (mut world, tree) = world(u64::from(credits_max), behaviour, &content, 2);
        let ears: Vec<_> = (0..30).map(|_| Arc::new(Ear::default())).collect();
        for ear in &ears {
            world
                .session
                .submit(read(tree, "folder/file"), Arc::clone(ear) as _);
        }
        world.run_until(|_| ears.iter().all(|ear| ear.is_done()));
        for ear in ears {
            assert!(content_of(ear.outcome()).1 == content, "{credits_max}");
        }
        for failed in replies(world.ask(read(tree, "nowhere"))) {
            assert!(failed.is_err(), "{credits_max}");
        }
        world.run_out();
        let chained = world.server.chains > 0;
        assert_eq!(chained, credits_max >= 3, "{credits_max}");
        assert_eq!(world.server.opens, 0, "{credits_max}");
    }
}

#[test]
fn a_folder_is_listed_in_one_go() {
    for credits_max in [3, 7, 20, 8192] {
        let behaviour = Behaviour {
            credits_max,
            ..Behaviour::default()
        };
        let (mut world, tree) = world(5, behaviour, &[], 1);
        let list = |restart| Request::List {
            folder: OF_CHAIN,
            pattern: "*".into(),
            restart,
            bytes_max: 1 << 20,
        };
        let chain = vec![
            create(tree, "folder/file", Disposition::Open),
            list(true),
            list(false),
        ];
        let replies = replies(world.ask(Request::Chain(chain)));
        let [
            Ok(Reply::Created(..)),
            Ok(Reply::Listing(Some(entries))),
            Ok(Reply::Listing(None)),
        ] = &replies[..]
        else {
            panic!("{credits_max}: {replies:?}");
        };
        assert_eq!(entries.entries().count(), 2);
    }
}

#[test]
fn a_channel_may_die_at_every_step_of_many_reads() {
    let content = Random::new(4).bytes(777);
    let run = |world: &mut World, tree: TreeKey| {
        let ears: Vec<_> = (0..12).map(|_| Arc::new(Ear::default())).collect();
        for ear in &ears {
            world
                .session
                .submit(read(tree, "folder/file"), Arc::clone(ear) as _);
        }
        world.run_until(|_| ears.iter().all(|ear| ear.is_done()));
        for ear in ears {
            assert!(content_of(ear.outcome()).1 == content);
        }
    };
    for seed in 0..3 {
        let behaviour = || Behaviour {
            interims: seed > 0,
            signing_required: seed == 2,
            ..Behaviour::default()
        };
        let (mut whole, tree) = world(seed, behaviour(), &content, 3);
        let begin = whole.steps;
        run(&mut whole, tree);
        for step in begin + 1..whole.steps {
            let (mut world, tree) = world(seed, behaviour(), &content, 3);
            let death = [Death::Early, Death::Late][step % 2];
            world.fate = Some((step, step % 3, death));
            run(&mut world, tree);
        }
    }
}

#[test]
fn what_changes_something_is_not_done_twice_by_itself() {
    let chain = |tree| {
        Request::Chain(vec![
            create(tree, "folder/file", Disposition::CreateOrTruncate),
            Request::Store {
                file: OF_CHAIN,
                offset: 0,
                bytes: Arc::new([7; 10]),
            },
        ])
    };
    let (mut world, tree) = world(1, Behaviour::default(), b"old", 2);
    let ear = Arc::new(Ear::default());
    world.server.mute(0);
    world.server.mute(1);
    world.session.submit(chain(tree), ear.clone());
    world.run_until(|_| ear.is_done());
    match ear.error() {
        Error::ChannelLost { doing, .. } => {
            assert_eq!(doing, Operation::Request(Command::CREATE));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_lies_about_chains_is_caught() {
    let content = Random::new(5).bytes(500);
    for (lie, malformed) in [
        (Lie::LinkUnaligned, true),
        (Lie::LinkBeyond, true),
        (Lie::LinkAtOnce, true),
        (Lie::LinkCutOff, true),
        (Lie::LinkSignatureWrong, false),
        (Lie::LinkRepeated, false),
        (Lie::LinkUnknown, false),
        (Lie::LinkOther, false),
    ] {
        let behaviour = Behaviour {
            signing_required: lie == Lie::LinkSignatureWrong,
            lie: Some((lie, 0)),
            ..Behaviour::default()
        };
        let (mut world, tree) = world(7, behaviour, &content, 2);
        let ears: Vec<_> = (0..20).map(|_| Arc::new(Ear::default())).collect();
        for ear in &ears {
            world
                .session
                .submit(read(tree, "folder/file"), Arc::clone(ear) as _);
        }
        world.run_until(|world| world.closed(0).is_some());
        let cause = world.closed(0).cloned().flatten().expect("it says why");
        assert_eq!(
            matches!(cause, Error::Malformed(_)),
            malformed,
            "{lie:?}: {cause}"
        );
        let misbehaves = matches!(cause, Error::Misbehaving(_));
        assert!(malformed || misbehaves, "{lie:?}: {cause}");
        world.run_until(|_| ears.iter().all(|ear| ear.is_done()));
        for ear in ears {
            assert!(content_of(ear.outcome()).1 == content, "{lie:?}");
        }
        assert!(world.is_up(1), "{lie:?}: the honest channel goes on");
    }
}

#[test]
fn a_server_that_signs_chains_without_padding_gets_single_requests() {
    let content = Random::new(6).bytes(501);
    let behaviour = || Behaviour {
        signing_required: true,
        chains_unpadded: true,
        ..Behaviour::default()
    };
    let (mut world, tree) = world(3, behaviour(), &content, 2);
    assert!(!world.session.avoids_chains());
    // Of several frames with one reply each there is nothing to see, so perhaps not the first one shows it.
    for _ in 0..20 {
        assert!(content_of(world.ask(read(tree, "folder/file"))).1 == content);
    }
    assert!(world.session.avoids_chains());
    let chains = world.server.chains;
    assert!(content_of(world.ask(read(tree, "folder/file"))).1 == content);
    assert_eq!(world.server.chains, chains, "no more chains");
    assert!(world.is_up(0) && world.is_up(1));

    // A wrong signature is wrong, with padding or without.
    let lies = Behaviour {
        lie: Some((Lie::LinkSignatureWrong, 0)),
        ..behaviour()
    };
    let (mut world, tree) = self::world(7, lies, &content, 2);
    let ears: Vec<_> = (0..20).map(|_| Arc::new(Ear::default())).collect();
    for ear in &ears {
        let heard = Arc::clone(ear) as _;
        world.session.submit(read(tree, "folder/file"), heard);
    }
    world.run_until(|world| world.closed(0).is_some());
    let cause = world.closed(0).cloned().flatten().expect("it says why");
    assert!(matches!(cause, Error::Misbehaving(_)), "{cause}");
    world.run_until(|_| ears.iter().all(|ear| ear.is_done()));
}

/// The signature is made over more than the READ's refusal, in a chain and alone, and proves it all the same.
#[test]
fn a_refused_read_may_be_signed_with_what_stands_before_it() {
    for dialect in [Dialect::Smb210, Dialect::Smb311] {
        for credits_max in [1, 64] {
            let behaviour = Behaviour {
                dialect,
                signing_required: true,
                credits_max,
                refusals_behind: true,
                ..Behaviour::default()
            };
            let (mut world, tree) = world(3, behaviour, &[], 1);
            for _ in 0..20 {
                let (_, bytes) = content_of(world.ask(read(tree, "folder/file")));
                assert!(bytes.is_empty(), "{bytes:?}");
            }
            let chained = world.server.chains > 0;
            assert_eq!(chained, credits_max > 1, "{dialect:?} {credits_max}");
            assert!(world.is_up(0), "{dialect:?} {credits_max}");
        }
    }
}

/// One reply to a whole chain, with the distance to a next one that is not there: its status counts, not its form.
#[test]
fn a_server_that_lost_the_session_is_heard_before_its_chain_is_judged() {
    let content = Random::new(5).bytes(500);
    for signing_required in [false, true] {
        let behaviour = Behaviour {
            signing_required,
            lie: Some((Lie::LinkOfNoSession, 0)),
            ..Behaviour::default()
        };
        let (mut world, tree) = world(7, behaviour, &content, 2);
        let ears: Vec<_> = (0..20).map(|_| Arc::new(Ear::default())).collect();
        for ear in &ears {
            let heard = Arc::clone(ear) as _;
            world.session.submit(read(tree, "folder/file"), heard);
        }
        world.run_until(|world| world.closed(0).is_some());
        let cause = world.closed(0).cloned().flatten().expect("it says why");
        let gone = matches!(cause, Error::Refused { status, .. } if status == NtStatus::USER_SESSION_DELETED);
        assert!(gone, "{cause}");
        world.run_until(|_| ears.iter().all(|ear| ear.is_done()));
        for ear in ears {
            assert!(content_of(ear.outcome()).1 == content);
        }
    }
}

/// Linux's own server: what it refuses has something behind it that is not signed, and it knows no session for an ECHO.
#[test]
fn a_refused_share_is_refused_and_an_unsigned_echo_is_a_sign_of_life() {
    for dialect in [Dialect::Smb210, Dialect::Smb311] {
        let behaviour = Behaviour {
            dialect,
            signing_required: true,
            refusals_trail: true,
            echoes_plain: true,
            ..Behaviour::default()
        };
        let (mut world, _) = world(3, behaviour, &[], 1);
        world.server.not_yet = Some((Command::TREE_CONNECT, NtStatus::BAD_NETWORK_NAME, 1));
        let share = "nowhere".into();
        match world.ask(Request::TreeConnect { share }) {
            Err(Error::Refused { status, .. }) => assert_eq!(status, NtStatus::BAD_NETWORK_NAME),
            other => panic!("{other:?}"),
        }
        assert!(matches!(world.ask(Request::Echo), Ok(Reply::Done)));
        assert!(world.is_up(0), "{dialect:?}");
    }
}

#[test]
fn what_is_no_chain_is_refused() {
    let (mut world, tree) = world(1, Behaviour::default(), &[], 1);
    let open = || create(tree, "folder/file", Disposition::Open);
    let close = || Request::Close { file: OF_CHAIN };
    let list = || Request::List {
        folder: OF_CHAIN,
        pattern: "*".into(),
        restart: true,
        bytes_max: 100,
    };
    for links in [
        vec![],
        vec![close()],
        vec![open(), open()],
        vec![open(), Request::Echo],
        vec![open(), Request::Chain(vec![open(), close()])],
        vec![open(), list(), list(), list()],
        (0..9).map(|_| open()).collect(),
    ] {
        let outcome = world.ask(Request::Chain(links.clone()));
        assert!(
            matches!(outcome, Err(Error::InvalidRequest(_))),
            "{links:?}: {outcome:?}"
        );
    }
}
