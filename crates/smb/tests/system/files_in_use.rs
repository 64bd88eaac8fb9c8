//! Files that the server has open for somebody: what is said of them, and how long they are waited for.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use smb::copy::{self, Options, Place, Progress, Summary};
use smb::{Access, Disposition, Error, Login, Mechanism, OpenOptions, Policy, Session, Stop, Tree};

use crate::samba::{add_second_channel, connect, job, on};
use crate::samba_lan::{Lan, PASSWORD, SHARE, USER};

/// Another user that every system has.
const OTHER: &str = "games";
/// One that Samba takes for an administrator, once it is told to.
const ADMINISTRATOR: &str = "root";
/// Longer than the first pause between two attempts, and much shorter than all of them.
const HELD: Duration = Duration::from_millis(700);
/// Less than all those pauses together.
const WAITED_MAX: Duration = Duration::from_secs(4);

fn connect_as(lan: &Lan, user: &str) -> (Session, Tree) {
    let login = Login::User {
        user: user.to_owned(),
        domain: String::new(),
        password: PASSWORD.to_owned().into(),
        mechanism: Mechanism::Automatic,
    };
    let session = Session::connect(&lan.server(), None, &login, &Policy::default());
    let session = session.expect("the user is known");
    let tree = session.tree(SHARE).expect("the share is there");
    (session, tree)
}

/// Opens a file so that nobody else can.
fn hold(tree: &Tree, path: &str) -> smb::File {
    let alone = OpenOptions {
        disposition: Disposition::OpenOrCreate,
        share_read: false,
        share_write: false,
        ..OpenOptions::open(Access::ReadWrite)
    };
    tree.open(path, &alone).expect("nobody else has it")
}

fn copied(from: Place, to: Place) -> Summary {
    let job = job(from, to, Options::default());
    copy::run(&job, &Progress::default(), &Stop::new(), &|_| {})
}

/// Who is said to have the one file open that could not be copied.
fn users_of(summary: &Summary) -> Vec<String> {
    match summary.failures.first().map(|failure| &failure.error) {
        Some(Error::InUse { users, .. }) => users.clone(),
        _ => panic!("{summary:?}"),
    }
}

#[test]
fn who_has_a_file_open_is_said_where_the_server_tells_it() {
    let lan = Lan::new("");
    for user in [OTHER, ADMINISTRATOR] {
        lan.add_user(user);
    }
    let (_session, theirs) = connect_as(&lan, OTHER);
    fs::write(lan.on_server("free"), "nobody has it").expect("there is room");
    theirs.create_folder("folder").expect("it is new");
    let _held = hold(&theirs, "folder/held");
    let here = tempfile::tempdir().expect("a temporary folder");

    // Samba refuses to tell whoever is no administrator, and nothing is said of that.
    let ask = |user: &str| {
        let (session, tree) = connect_as(&lan, user);
        let summary = copied(
            on(&tree, "folder/held"),
            Place::Local(here.path().join(user)),
        );
        let users = users_of(&summary);
        let error = summary.failures[0].error.to_string();
        // The session goes on as if nobody had asked anything.
        tree.read_small("free").expect("it can be read");
        drop(session);
        (users, error)
    };
    for user in [USER, ADMINISTRATOR] {
        let (users, error) = ask(user);
        assert!(users.is_empty(), "{users:?}");
        assert_eq!(error, "`folder/held` is in use on the server");
    }

    lan.make_administrators(ADMINISTRATOR);
    let (users, error) = ask(ADMINISTRATOR);
    assert_eq!(users, [OTHER]);
    assert_eq!(error, "`folder/held` is in use on the server, by `games`");
    assert!(ask(USER).0.is_empty(), "it is told to nobody else");
}

#[test]
fn what_is_held_is_waited_for_only_where_a_connection_was_lost() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let other = connect(&lan, &Policy::default());
    let theirs = other.tree(SHARE).expect("the share is there");
    let here = tempfile::tempdir().expect("a temporary folder");
    let source = here.path().join("film");
    fs::write(&source, vec![7; 2 << 20]).expect("there is room");
    let copy = || copied(Place::Local(source.clone()), on(&tree, "film"));

    // As long as no connection was lost, it is somebody else who has it.
    let held = hold(&theirs, &smb::fuzzing::names_of_part("film")[0]);
    let begun = Instant::now();
    let refused = copy();
    let error = refused.failures.first().map(|failure| &failure.error);
    assert!(matches!(error, Some(Error::Busy { .. })), "{refused:?}");
    assert!(begun.elapsed() < WAITED_MAX, "{:?}", begun.elapsed());

    // One of its connections is cut: then the server may have it open for that one, and notice in a moment.
    add_second_channel(&lan, &session);
    lan.on_client_run(&["ss", "--kill", "dst", "10.94.1.2"]);
    let lost = || session.channels().iter().any(|channel| !channel.alive);
    while !lost() {
        thread::yield_now();
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(HELD);
            drop(held);
        });
        let copied = copy();
        assert_eq!((copied.files, copied.failed), (1, 0), "{copied:?}");
    });
    let there = fs::read(lan.on_server("film")).expect("it is complete");
    assert_eq!(there, fs::read(&source).expect("it is ours"));
}
