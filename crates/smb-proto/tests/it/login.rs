//! Negotiation, login, binding, and requests that carry no file data.

use smb_proto::session::{
    Access, CreateOptions, Dialect, EncryptionPolicy, Identity, Information, QueryInformation,
    SetInformation, SigningAlgorithm, SigningPolicy,
};
use smb_proto::{Error, NtStatus, Reply, Request};

use crate::network_simulation::World;
use crate::toy_server::Behaviour;

pub(crate) const SIGNING_CASES: &[(Dialect, Option<SigningAlgorithm>)] = &[
    (Dialect::Smb311, Some(SigningAlgorithm::AesGmac)),
    (Dialect::Smb311, Some(SigningAlgorithm::AesCmac)),
    (Dialect::Smb311, Some(SigningAlgorithm::HmacSha256)),
    (Dialect::Smb311, None),
    (Dialect::Smb302, None),
    (Dialect::Smb300, None),
    (Dialect::Smb210, None),
    (Dialect::Smb202, None),
];

/// How many channels a session of this dialect is tried with.
pub(crate) fn channels(dialect: Dialect) -> usize {
    if dialect >= Dialect::Smb300 { 3 } else { 1 }
}

/// What is signed with where nothing is negotiated about it.
fn usual(dialect: Dialect) -> SigningAlgorithm {
    if dialect < Dialect::Smb300 {
        SigningAlgorithm::HmacSha256
    } else {
        SigningAlgorithm::AesCmac
    }
}

/// A first login that fails; why the channel closed.
fn failed_login(behaviour: Behaviour, signing: SigningPolicy) -> Error {
    failed_login_with(behaviour, |settings| settings.signing = signing)
}

fn failed_login_with(
    behaviour: Behaviour,
    change: impl FnOnce(&mut smb_proto::SessionSettings),
) -> Error {
    let mut world = World::with(1, behaviour, Vec::new(), change, 4);
    let number = world.connect().expect("the first may join");
    world.run_until(|world| world.closed(number).is_some());
    let cause = world.closed(number).cloned().flatten().expect("a cause");
    match world.ask(Request::Echo).expect_err("the session is over") {
        Error::SessionEnded(Some(_)) => cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn logs_in_and_binds_in_every_way() {
    for (dialect, algorithm) in SIGNING_CASES {
        for signing_required in [false, true] {
            let behaviour = Behaviour {
                dialect: *dialect,
                algorithm: *algorithm,
                signing_required,
                ..Behaviour::default()
            };
            let modern = *dialect >= Dialect::Smb300;
            let channels = channels(*dialect);
            let (world, _) = World::open(7, behaviour, Vec::new(), channels);
            assert_eq!(world.session.channels_up().len(), channels);
            let negotiated = world.session.negotiated().expect("it is up");
            assert_eq!(
                (negotiated.dialect, negotiated.signing),
                (*dialect, signing_required)
            );
            let expected = algorithm.unwrap_or(usual(*dialect));
            assert_eq!(negotiated.signing_algorithm, expected);
            assert_eq!(
                (negotiated.multichannel, negotiated.identity),
                (modern, Identity::User)
            );
            assert_eq!(
                world.server.validations,
                usize::from(*dialect < Dialect::Smb311)
            );
        }
    }
}

#[test]
fn every_channel_checks_its_own_negotiation_in_3_0_2() {
    // a TREE_CONNECT may go over any channel, and further channels offer fewer dialects
    let behaviour = Behaviour {
        dialect: Dialect::Smb302,
        algorithm: None,
        ..Behaviour::default()
    };
    let (mut world, file) = World::open(7, behaviour, vec![0; 1 << 20], 3);
    let ear = crate::network_simulation::Ear::forgetful();
    world.session.read(file, 0..1 << 20, ear.clone());
    let ears: Vec<_> = (0..6)
        .map(|_| {
            let ear = crate::network_simulation::Ear::forgetful();
            world.session.submit(
                Request::TreeConnect {
                    share: "data".into(),
                },
                ear.clone(),
            );
            ear
        })
        .collect();
    world.drop_alarm(0);
    world.run_until(|_| ear.is_done() && ears.iter().all(|ear| ear.is_done()));
    for ear in ears {
        assert!(matches!(ear.outcome(), Ok(Reply::Tree(..))));
    }
    assert!(
        world.server.validations > 1,
        "a further channel checked, too"
    );
}

#[test]
fn answers_every_kind_of_request() {
    let (mut world, file) = World::open(2, Behaviour::default(), vec![1; 77], 2);
    let tree = world.tree();
    let Ok(Reply::Interfaces(interfaces)) = world.ask(Request::Interfaces { tree }) else {
        panic!("interfaces");
    };
    assert_eq!(
        (interfaces.len(), interfaces[0].index, interfaces[0].rss),
        (1, u32::MAX, true)
    );
    let what = QueryInformation::Standard;
    match world.ask(Request::Query { file, what }) {
        Ok(Reply::Information(Information::Standard { size: 77, .. })) => {}
        other => panic!("{other:?}"),
    }
    match world.ask(Request::Query {
        file,
        what: QueryInformation::FsSize,
    }) {
        Ok(Reply::Information(Information::FsSize(size))) => {
            assert_eq!((size.total_bytes, size.available_bytes), (409_600, 204_800));
        }
        other => panic!("{other:?}"),
    }
    let what = SetInformation::EndOfFile(5);
    assert!(matches!(
        world.ask(Request::Set { file, what }),
        Ok(Reply::Done)
    ));
    assert_eq!(world.server.content.len(), 5);
    let list = |restart| Request::List {
        folder: file,
        pattern: "*".into(),
        restart,
        bytes_max: 1 << 16,
    };
    let Ok(Reply::Listing(Some(listing))) = world.ask(list(true)) else {
        panic!("a listing")
    };
    let entries: Vec<_> = listing
        .entries()
        .map(|entry| entry.expect("sound"))
        .collect();
    assert_eq!(entries[1].name, "ä.txt");
    assert_eq!(entries[1].reparse_tag, 0, "only links have one");
    assert!(matches!(world.ask(list(false)), Ok(Reply::Listing(None))));
    assert!(matches!(
        world.ask(Request::Flush { file }),
        Ok(Reply::Done)
    ));
    assert!(matches!(
        world.ask(Request::Close { file }),
        Ok(Reply::Closed(_))
    ));
    assert!(matches!(
        world.ask(Request::Close { file }),
        Err(Error::InvalidRequest(_))
    ));
    assert!(matches!(
        world.ask(Request::TreeDisconnect { tree }),
        Ok(Reply::Done)
    ));
    assert!(matches!(
        world.ask(Request::Interfaces { tree }),
        Err(Error::InvalidRequest(_))
    ));
}

#[test]
fn a_refusal_names_what_was_refused() {
    let mut world = World::new(3, Behaviour::default(), Vec::new());
    world.bring_up(1);
    let tree = world.tree();
    let options = CreateOptions::open(Access::Read);
    let request = Request::Create {
        tree,
        path: "no/such".into(),
        options,
    };
    let error = world.ask(request).expect_err("it is not there");
    assert_eq!(
        error.to_string(),
        "the server refused opening `no/such`: STATUS_OBJECT_NAME_NOT_FOUND"
    );
    assert!(!error.is_of_open_file());
    assert!(world.is_up(0), "a refusal is no reason to end a channel");
}

#[test]
fn a_log_off_closes_every_channel_as_wished() {
    let (mut world, file) = World::open(4, Behaviour::default(), vec![0; 10], 3);
    assert!(matches!(world.ask(Request::Logoff), Ok(Reply::Done)));
    world.run_until(|world| (0..3).all(|number| matches!(world.closed(number), Some(None))));
    let (outcome, _) = world.read(file, 0..10);
    assert!(matches!(outcome, Err(Error::SessionEnded(None))));
}

#[test]
fn a_wrong_password_ends_all_that_waits() {
    let status = NtStatus::LOGON_FAILURE;
    let behaviour = Behaviour {
        login_status: Some(status),
        ..Behaviour::default()
    };
    let error = failed_login(behaviour, SigningPolicy::IfRequired);
    assert_eq!(error.status(), Some(status));
    assert_eq!(
        error.to_string(),
        "the server refused the login: STATUS_LOGON_FAILURE"
    );
}

#[test]
fn a_failing_mechanism_is_named() {
    let mut world = World::new(1, Behaviour::default(), Vec::new());
    let number = world.connect_with(true).expect("the first may join");
    world.run_until(|world| world.closed(number).is_some());
    assert!(matches!(
        world.closed(number),
        Some(Some(Error::Authentication(_)))
    ));
}

#[test]
fn guests_are_let_in_only_where_nothing_must_be_signed() {
    let behaviour = Behaviour {
        guest: true,
        ..Behaviour::default()
    };
    let asked = |settings: &mut smb_proto::SessionSettings| settings.identity = Identity::Guest;
    let mut world = World::with(1, behaviour.clone(), Vec::new(), asked, 4);
    world.bring_up(1);
    let negotiated = world.session.negotiated().expect("it is up");
    assert_eq!(negotiated.identity, Identity::Guest);
    assert_eq!(negotiated.cipher, None);
    let error = failed_login(behaviour.clone(), SigningPolicy::IfRequired);
    assert!(matches!(error, Error::GuestOnly), "{error}");
    let must = |settings: &mut smb_proto::SessionSettings| {
        settings.identity = Identity::Guest;
        settings.signing = SigningPolicy::Required;
    };
    let error = failed_login_with(behaviour.clone(), must);
    assert!(matches!(error, Error::Incompatible(_)), "{error}");
    let must = |settings: &mut smb_proto::SessionSettings| {
        settings.identity = Identity::Guest;
        settings.encryption = EncryptionPolicy::Required;
    };
    let error = failed_login_with(behaviour, must);
    assert!(matches!(error, Error::Incompatible(_)), "{error}");
}

#[test]
fn policy_may_demand_encryption_and_leave_data_unsigned() {
    let must = |settings: &mut smb_proto::SessionSettings| {
        settings.encryption = EncryptionPolicy::Required
    };
    let mut world = World::with(1, Behaviour::default(), vec![1; 100], must, 4);
    let file = world.bring_up(1);
    world.read(file, 0..100).0.expect("it can be read");
    assert!(world.server.sealed_data > 0);
    let cannot = Behaviour {
        cipher: None,
        ..Behaviour::default()
    };
    let error = failed_login_with(cannot, must);
    assert!(matches!(error, Error::Incompatible(_)), "{error}");

    for signing_required in [false, true] {
        let behaviour = Behaviour {
            signing_required,
            ..Behaviour::default()
        };
        let unsigned = |settings: &mut smb_proto::SessionSettings| {
            settings.signing = SigningPolicy::DataUnsigned
        };
        let mut world = World::with(1, behaviour, vec![1; 100], unsigned, 4);
        let file = world.bring_up(1);
        world.read(file, 0..100).0.expect("it can be read");
        let negotiated = world.session.negotiated().expect("it is up");
        assert!(negotiated.signing);
        assert_eq!(negotiated.data_signing, signing_required);
        assert_eq!(world.server.signed_data > 0, signing_required);
    }
}

#[test]
fn faulty_negotiations_are_sorted() {
    let small = Behaviour {
        size_max: 65535,
        ..Behaviour::default()
    };
    let hash = Behaviour {
        preauth_hash: 2,
        ..Behaviour::default()
    };
    for behaviour in [small, hash] {
        let error = failed_login(behaviour, SigningPolicy::IfRequired);
        assert!(matches!(error, Error::Incompatible(_)), "{error}");
    }
    let unsigned = Behaviour {
        last_word_unsigned: true,
        ..Behaviour::default()
    };
    let error = failed_login(unsigned, SigningPolicy::IfRequired);
    assert!(matches!(error, Error::Misbehaving(_)), "{error}");
}

#[test]
fn a_dialect_that_was_not_offered_is_refused() {
    let change = |settings: &mut smb_proto::SessionSettings| {
        settings.dialects = vec![Dialect::Smb302];
    };
    let mut world = World::with(1, Behaviour::default(), Vec::new(), change, 4);
    let number = world.connect().expect("the first may join");
    world.run_until(|world| world.closed(number).is_some());
    assert!(matches!(
        world.closed(number),
        Some(Some(Error::Incompatible(_)))
    ));
}

#[test]
fn a_changed_negotiation_is_found_in_3_0_2() {
    let tampered = Behaviour {
        dialect: Dialect::Smb302,
        algorithm: None,
        validate_tampered: true,
        ..Behaviour::default()
    };
    for (behaviour, sound) in [
        (tampered.clone(), false),
        (
            Behaviour {
                validate_status: NtStatus::ACCESS_DENIED,
                ..tampered.clone()
            },
            false,
        ),
        (
            Behaviour {
                validate_status: NtStatus::FILE_CLOSED,
                ..tampered
            },
            true,
        ),
    ] {
        let mut world = World::new(5, behaviour, Vec::new());
        let number = world.connect().expect("the first may join");
        world.run_until(|world| world.is_up(number));
        let outcome = world.ask(Request::TreeConnect {
            share: "data".into(),
        });
        assert_eq!(outcome.is_ok(), sound, "{outcome:?}");
        assert_eq!(world.is_up(number), sound);
    }
}

#[test]
fn a_failed_binding_leaves_the_session_alone() {
    let another_server = Behaviour {
        bind_guid: [2; 16],
        ..Behaviour::default()
    };
    let status = NtStatus::REQUEST_NOT_ACCEPTED;
    let refusing = Behaviour {
        bind_status: Some(status),
        ..Behaviour::default()
    };
    for behaviour in [another_server, refusing] {
        let (mut world, file) = World::open(6, behaviour, vec![3; 1000], 1);
        let number = world.connect().expect("a second may join");
        world.run_until(|world| world.closed(number).is_some());
        assert!(
            world.closed(number).is_some_and(Option::is_some),
            "it says why"
        );
        let (outcome, bytes) = world.read(file, 0..1000);
        assert!(
            matches!(outcome, Ok(Reply::Read { bytes: 1000 })),
            "{outcome:?}"
        );
        assert_eq!(bytes, vec![3; 1000]);
        assert_eq!(world.session.channel_sequence(), 0, "it was never up");
    }
}

#[test]
fn channels_are_opened_one_after_the_other() {
    let mut world = World::new(1, Behaviour::default(), Vec::new());
    world.connect().expect("the first may join");
    assert!(matches!(world.connect(), Err(Error::InvalidRequest(_))));
}

#[test]
fn a_fact_that_makes_no_sense_is_missing_and_costs_no_channel() {
    let behaviour = Behaviour {
        facts_cut_off: true,
        ..Behaviour::default()
    };
    let (mut world, file) = World::open(1, behaviour, vec![1; 77], 1);
    let tree = world.tree();
    let what = QueryInformation::FsSize;
    for asked in [Request::Interfaces { tree }, Request::Query { file, what }] {
        let error = world.ask(asked).expect_err("it is cut off");
        assert!(matches!(error, Error::Malformed(_)), "{error}");
    }
    assert!(world.is_up(0));
    let what = QueryInformation::Standard;
    let asked = world.ask(Request::Query { file, what });
    assert!(matches!(asked, Ok(Reply::Information(_))), "{asked:?}");
}

#[test]
fn a_server_without_multichannel_is_not_asked_for_interfaces() {
    let behaviour = Behaviour {
        multichannel: false,
        ..Behaviour::default()
    };
    let (mut world, _) = World::open(1, behaviour, Vec::new(), 1);
    let tree = world.tree();
    match world.ask(Request::Interfaces { tree }) {
        Ok(Reply::Interfaces(interfaces)) => assert_eq!(interfaces, []),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_posix_extensions_are_used_where_both_want_them() {
    for (dialect, wanted, connections, agreed) in [
        (Dialect::Smb311, true, 2, true),
        (Dialect::Smb311, true, 0, false),
        (Dialect::Smb311, false, 2, false),
        (Dialect::Smb302, true, 2, false),
    ] {
        let behaviour = Behaviour {
            dialect,
            algorithm: None,
            posix_connections: connections,
            durable: true,
            ..Behaviour::default()
        };
        let want = |settings: &mut smb_proto::SessionSettings| {
            settings.posix = wanted;
            settings.reconnect = true;
        };
        let mut world = World::with(5, behaviour, Vec::new(), want, 4);
        for _ in 0..2 {
            let number = world.connect().expect("it may join");
            world.run_until(|world| world.is_up(number));
        }
        let negotiated = world.session.negotiated().expect("it is up");
        assert_eq!(
            negotiated.posix, agreed,
            "{dialect:?} {wanted} {connections}"
        );
        let tree = world.tree();
        let posix = agreed.then_some(0o640);
        let path = match agreed {
            // What is a letter there is none here.
            true => "/folder/file\\",
            false => "folder/file",
        };
        let options = CreateOptions {
            posix,
            folder: Some(false),
            ..CreateOptions::open(Access::Read)
        };
        let path = path.to_owned();
        let created = match world.ask(Request::Create {
            tree,
            path,
            options,
        }) {
            Ok(Reply::Created(_, created)) => created,
            other => panic!("{other:?}"),
        };
        assert_eq!(created.posix.map(|it| it.access()), posix);
        // One that came back would be one of Windows.
        assert_eq!(
            created.durable_timeout_ms.is_some(),
            !agreed && dialect >= Dialect::Smb300
        );
    }
}

#[test]
fn a_channel_without_the_posix_extensions_of_the_others_is_refused() {
    let behaviour = Behaviour {
        posix_connections: 1,
        ..Behaviour::default()
    };
    let want = |settings: &mut smb_proto::SessionSettings| settings.posix = true;
    let mut world = World::with(5, behaviour, Vec::new(), want, 4);
    let first = world.connect().expect("the first may join");
    world.run_until(|world| world.is_up(first));
    let second = world.connect().expect("it may try");
    world.run_until(|world| world.closed(second).is_some());
    let cause = world.closed(second).cloned().flatten();
    assert!(matches!(cause, Some(Error::Incompatible(_))), "{cause:?}");
}
