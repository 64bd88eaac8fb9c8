//! Cables are pulled, servers die and passwords change in the middle of transfers: every byte
//! arrives, or the error says why not.

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use smb::copy::{self, Event, Job, Options, Place, Progress};
use smb::{
    Access, ChannelsMax, Disposition, Error, OpenOptions, Pair, Policy, Replace, Session, Stop,
    Tree,
};

use crate::byte_pattern;
use crate::samba::{add_second_channel, connect, job, on, write_pattern};
use crate::samba_lan::{Lan, SHARE};

const MIB: u64 = 1 << 20;
const BYTES: u64 = 48 * MIB + 7;
/// After so many pieces something happens.
const PIECES_BEFORE: usize = 7;
const BLOCKS: usize = 16;
const CUT: Duration = Duration::from_secs(5);

fn to_write() -> OpenOptions {
    OpenOptions {
        disposition: Disposition::Create,
        folder: Some(false),
        ..OpenOptions::open(Access::Write)
    }
}

fn to_read() -> OpenOptions {
    OpenOptions {
        folder: Some(false),
        ..OpenOptions::open(Access::Read)
    }
}

/// What happens while the transfer goes on.
type Later = Box<dyn FnOnce() + Send>;

fn nothing() -> Later {
    Box::new(|| {})
}

/// Reads a file while something happens; checks every byte and that each came once.
fn read_through(tree: &Tree, seed: u64, happens: impl FnOnce() -> Later) -> Result<(), Error> {
    let file = tree.open("source", &to_read())?;
    let (mut happens, mut bytes) = (Some(happens), 0);
    let stop = Stop::new();
    thread::scope(|scope| {
        for (number, piece) in file.read_ranges(iter::once(0..BYTES), &stop).enumerate() {
            let piece = piece?;
            if number == PIECES_BEFORE
                && let Some(happens) = happens.take()
            {
                scope.spawn(happens());
            }
            let payload = piece.payload.bytes();
            assert_eq!(byte_pattern::difference(seed, piece.offset, payload), None);
            bytes += payload.len() as u64;
        }
        assert_eq!(bytes, BYTES);
        Ok(())
    })?;
    file.close()
}

/// Writes a file while something happens.
fn write_through(tree: &Tree, seed: u64, happens: impl FnOnce() -> Later) -> Result<(), Error> {
    let file = tree.open("copy", &to_write())?;
    let (mut happens, mut number) = (Some(happens), 0);
    thread::scope(|scope| {
        file.write_ranges(iter::once(0..BYTES), &Stop::new(), |offset, room| {
            number += 1;
            if number == PIECES_BEFORE
                && let Some(happens) = happens.take()
            {
                scope.spawn(happens());
            }
            byte_pattern::fill(seed, offset, room);
            Ok(())
        })
    })?;
    file.close()
}

fn check_copy(lan: &Lan, seed: u64) {
    let stored = fs::read(lan.on_server("copy")).expect("it was written");
    assert_eq!(stored.len() as u64, BYTES);
    assert_eq!(byte_pattern::difference(seed, 0, &stored), None);
}

/// A server with a file, and a session with so many channels over both links. It has room for
/// less than half of the file, so that what happens in the middle does.
fn begin(share: &str, channels: usize) -> (Arc<Lan>, Session, Tree) {
    begin_in(Lan::new(share), channels)
}

fn begin_in(lan: Lan, channels: usize) -> (Arc<Lan>, Session, Tree) {
    let lan = Arc::new(lan);
    let policy = Policy {
        blocks: BLOCKS,
        ..Policy::default()
    };
    let session = connect(&lan, &policy);
    let rejected = session.add_channels(channels, &lan.nics());
    assert_eq!(session.channels().len(), channels, "{rejected:?}");
    let tree = session.tree(SHARE).expect("the share is there");
    write_pattern(&tree, "source", 1, iter::once(0..BYTES));
    (lan, session, tree)
}

/// Reads and then writes, and the same happens during both.
fn survives(name: &str, (share, channels): (&str, usize), happens: fn(&Arc<Lan>) -> Later) {
    let (lan, session, tree) = begin(share, channels);
    let done = read_through(&tree, 1, || happens(&lan));
    done.unwrap_or_else(|error| panic!("{name}: read: {error:?}"));
    let done = write_through(&tree, 2, || happens(&lan));
    done.unwrap_or_else(|error| panic!("{name}: write: {error:?}"));
    check_copy(&lan, 2);
    assert_eq!(session.reconnecting(), None, "{name}");
}

fn cut_for(lan: &Arc<Lan>, links: &'static [u8], time: Duration) -> Later {
    links.iter().for_each(|link| lan.cut(*link));
    let lan = Arc::clone(lan);
    Box::new(move || {
        thread::sleep(time);
        links.iter().for_each(|link| lan.mend(*link));
    })
}

fn cut(lan: &Lan) -> Later {
    lan.cut(1);
    nothing()
}

fn restart(lan: &Lan) -> Later {
    lan.restart_samba();
    nothing()
}

/// They wait most of the time, so they do it together.
#[test]
fn cables_are_pulled_and_servers_die() {
    thread::scope(|scope| {
        scope.spawn(|| survives("the only link", ("", 1), |lan| cut_for(lan, &[0], CUT)));
        scope.spawn(|| survives("both links", ("", 2), |lan| cut_for(lan, &[0, 1], CUT)));
        scope.spawn(|| survives("one of two for good", ("", 2), |lan| cut(lan)));
        scope.spawn(|| survives("smbd", ("", 2), |lan| restart(lan)));
        scope.spawn(a_kept_handle_is_taken_up);
        scope.spawn(a_changed_password_is_said);
        scope.spawn(a_link_that_is_cut_for_good_is_said);
        scope.spawn(a_tree_survives);
        scope.spawn(a_copy_goes_on_where_it_is_on_record);
        scope.spawn(one_of_four_links_is_slow);
        scope.spawn(a_server_that_stays_away_is_given_up);
        scope.spawn(a_nic_that_comes_back_is_used);
        scope.spawn(a_nic_that_comes_up_is_used);
        scope.spawn(what_nobody_heard_of_is_not_done_twice);
    });
}

fn a_kept_handle_is_taken_up() {
    // what Samba needs to keep a handle; the lines of `[global]` also count for the share
    let (lan, session, tree) = begin("posix locking = no", 2);
    let file = tree.open("copy", &to_write()).expect("it is new");
    assert!(file.created().durable_timeout_ms.is_some(), "{file:?}");
    drop(file);
    fs::remove_file(lan.on_server("copy")).expect("it is there");
    // longer than any channel waits
    let long = || cut_for(&lan, &[0, 1], Duration::from_secs(12));
    write_through(&tree, 2, long).expect("it goes on");
    check_copy(&lan, 2);
    assert!(session.channels().len() > 2, "channels were lost");
}

fn a_changed_password_is_said() {
    let refused = |error: &Error| matches!(error, Error::LoginRefused { .. });
    let tree = ends_a_copy(refused, Policy::default(), |lan| {
        lan.change_password("another one");
        lan.restart_samba();
    });
    let again = tree.open("source", &to_read()).err();
    assert!(again.as_ref().is_some_and(refused), "{again:?}");
}

fn a_link_that_is_cut_for_good_is_said() {
    let given_up = |error: &Error| {
        let text = format!("{error:?}");
        matches!(error, Error::ConnectionLost { .. }) && text.contains("NotReconnected")
    };
    let policy = Policy {
        reconnect: Some(Duration::from_secs(2)),
        ..Policy::default()
    };
    ends_a_copy(given_up, policy, |lan| lan.cut(0));
}

/// What happens in the middle of two copies, one there and one back, ends both: they say why, and
/// nothing looks complete.
fn ends_a_copy(
    is_expected: fn(&Error) -> bool,
    policy: Policy,
    happens: impl FnOnce(&Lan),
) -> Tree {
    let lan = Lan::new("");
    let session = connect(&lan, &policy);
    let tree = session.tree(SHARE).expect("the share is there");
    write_pattern(&tree, "source", 1, iter::once(0..BYTES));
    let here = tempfile::tempdir().expect("a temporary folder");
    let (source, back) = (here.path().join("source"), here.path().join("back"));
    fs::copy(lan.on_server("source"), &source).expect("it was written");
    let there = |path: &str| on(&tree, path);
    // so that the rest takes seconds
    lan.limit(0, "80mbit");
    let jobs = [
        job(Place::Local(source), there("copy"), Options::default()),
        job(
            there("source"),
            Place::Local(back.clone()),
            Options::default(),
        ),
    ];
    let progress = [Progress::default(), Progress::default()];
    thread::scope(|scope| {
        let copies: Vec<_> = iter::zip(&jobs, &progress)
            .map(|(job, progress)| scope.spawn(|| copy::run(job, progress, &Stop::new(), &|_| {})))
            .collect();
        while progress.iter().any(|progress| progress.moved() < 4 * MIB) {
            thread::sleep(Duration::from_millis(10));
        }
        happens(&lan);
        for copy in copies {
            let summary = copy.join().expect("it does not panic");
            let error = summary.ended_by.as_ref();
            assert!(error.is_some_and(is_expected), "{summary:?}");
            assert_eq!((summary.files, summary.failed), (0, 0), "{summary:?}");
        }
    });
    assert!(!lan.on_server("copy").exists() && !back.exists());
    tree
}

/// Files of all sizes in some folders; each says by its content where it belongs.
/// Enough that a copy of them opens a session more.
const FILES_OF_FOLDER: u64 = 120;

fn make_tree(top: &Path) {
    for folder in 0..6_u64 {
        let path = top.join(format!("folder {folder}"));
        fs::create_dir_all(&path).expect("the folder is ours");
        for file in 0..FILES_OF_FOLDER {
            let seed = folder * FILES_OF_FOLDER + file;
            let bytes = if file == 0 { 2 * MIB + 5 } else { seed * 97 };
            let mut content = vec![0; usize::try_from(bytes).expect("it is small")];
            byte_pattern::fill(seed, 0, &mut content);
            fs::write(path.join(format!("file {file}")), content).expect("the folder is ours");
        }
    }
}

fn assert_same_tree(one: &Path, other: &Path) {
    let mut files = 0;
    for folder in 0..6 {
        let names = |top: &Path| -> BTreeSet<_> {
            let entries = fs::read_dir(top.join(format!("folder {folder}")));
            let entries = entries.expect("it was copied");
            entries
                .map(|entry| entry.expect("a name").file_name())
                .collect()
        };
        assert_eq!(names(one), names(other));
        for name in names(one) {
            let path = Path::new(&format!("folder {folder}")).join(name);
            let read = |top: &Path| fs::read(top.join(&path)).expect("it was copied");
            assert!(read(one) == read(other), "{}", path.display());
            files += 1;
        }
    }
    assert_eq!(files, 6 * FILES_OF_FOLDER);
}

/// smbd dies in the middle of a tree, on its way there and back.
fn a_tree_survives() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    session.add_channels(2, &lan.nics());
    let tree = session.tree(SHARE).expect("the share is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, back) = (folder.path().join("tree"), folder.path().join("back"));
    make_tree(&source);
    let there = |path: &str| on(&tree, path);
    for (from, to) in [
        (Place::Local(source.clone()), there("tree")),
        (there("tree"), Place::Local(back.clone())),
    ] {
        let job = Job {
            into: true,
            ..job(from, to, Options::default())
        };
        let copied = AtomicUsize::new(0);
        let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|event| {
            if matches!(event, Event::Copied { .. }) && copied.fetch_add(1, Ordering::SeqCst) == 50
            {
                // The two channels of the session, and the one of another for small files.
                let begun = Instant::now();
                while lan.connections() < 3 {
                    assert!(begun.elapsed() < CUT, "no session is opened for many files");
                }
                lan.restart_samba();
            }
        });
        assert_eq!(summary.failed, 0, "{:?}", summary.failures);
        assert!(summary.ended_by.is_none(), "{:?}", summary.ended_by);
    }
    assert_same_tree(&source, &lan.on_server("tree"));
    assert_same_tree(&source, &back);
}

/// Nobody knows what a server that was killed has kept of what it was not told to put on storage.
fn a_copy_goes_on_where_it_is_on_record() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let here = tempfile::tempdir().expect("a temporary folder");
    let source = here.path().join("source");
    let mut content = vec![0; usize::try_from(BYTES).expect("it is small")];
    byte_pattern::fill(5, 0, &mut content);
    fs::write(&source, content).expect("the folder is ours");
    // so that some of it is on record before the end
    lan.limit(0, "80mbit");
    let job = job(Place::Local(source), on(&tree, "copy"), Options::default());
    let progress = Progress::default();
    thread::scope(|scope| {
        let copy = scope.spawn(|| copy::run(&job, &progress, &Stop::new(), &|_| {}));
        while progress.moved() < 32 * MIB {
            thread::sleep(Duration::from_millis(10));
        }
        lan.restart_samba();
        let summary = copy.join().expect("it does not panic");
        assert_eq!((summary.files, summary.failed), (1, 0), "{summary:?}");
        assert!((1..BYTES).contains(&summary.continued_bytes), "{summary:?}");
        assert_eq!(summary.resumed_bytes, 0, "there was no earlier run");
    });
    assert_eq!(progress.moved(), BYTES, "what was moved twice counts once");
    check_copy(&lan, 5);
}

fn one_of_four_links_is_slow() {
    let (lan, session, tree) = begin_in(Lan::with_links(4, ""), 4);
    (0..3).for_each(|link| lan.limit(link, "160mbit"));
    lan.limit(3, "16mbit");
    read_through(&tree, 1, nothing).expect("all links are there");
    write_through(&tree, 2, nothing).expect("all links are there");
    check_copy(&lan, 2);
    for channel in session.channels() {
        let moved = (channel.bytes_received, channel.bytes_sent);
        assert!(moved.0 > 0 && moved.1 > 0, "{channel:?}");
    }
}

fn a_server_that_stays_away_is_given_up() {
    let lan = Lan::new("");
    let policy = Policy {
        reconnect: Some(Duration::from_secs(2)),
        ..Policy::default()
    };
    let session = connect(&lan, &policy);
    let tree = session.tree(SHARE).expect("the share is there");
    lan.kill_samba();
    let given_up = tree.list("").expect_err("nobody is there");
    let Error::ConnectionLost { source, .. } = &given_up else {
        panic!("{given_up:?}")
    };
    assert!(
        format!("{source:?}").contains("NotReconnected"),
        "{source:?}"
    );
    // and one that is stopped does not wait
    let stop = Stop::new();
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    session.obey(&stop);
    let tree = session.tree(SHARE).expect("the share is there");
    lan.kill_samba();
    thread::scope(|scope| {
        scope.spawn(|| {
            while session.reconnecting().is_none() {
                thread::yield_now();
            }
            stop.stop();
        });
        let stopped = tree.list("").err();
        assert!(matches!(stopped, Some(Error::Stopped)), "{stopped:?}");
    });
}

/// The server does it, its answer is lost, and another channel asks again.
fn what_nobody_heard_of_is_not_done_twice() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let local = lan.nics()[0].addresses[0].address;
    let remote = "10.94.0.2".parse().expect("an address");
    let first = Pair { local, remote };
    session.add_channel(&first, None).expect("it works");
    add_second_channel(&lan, &session);
    let tree = session.tree(SHARE).expect("the share is there");
    write_pattern(&tree, "before", 3, iter::once(0..1000));
    let folder = lan.on_server("folder");
    fs::create_dir(&folder).expect("the share is a folder");
    let names: BTreeSet<_> = (0..9000).map(|number| format!("{number:0200}")).collect();
    for name in &names {
        fs::write(folder.join(name), []).expect("there is room");
    }
    let to_rename = OpenOptions::open(Access::Delete);
    let file = tree.open("before", &to_rename).expect("it was written");
    let mut entries = tree.entries("folder").expect("it is there");
    let mut listed = vec![entries.next().expect("there is one").expect("it is told")];
    lan.silence(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            file.rename("after", Replace::Never)
                .expect("it is done once")
        });
        scope.spawn(|| tree.create_folder("made").expect("it is made once"));
    });
    assert!(!session.channels()[0].alive && session.channels()[2].alive);
    assert!(lan.on_server("made").is_dir() && !lan.on_server("before").exists());
    let stored = fs::read(lan.on_server("after")).expect("it was renamed");
    assert_eq!(byte_pattern::difference(3, 0, &stored), None);
    lan.restart_samba();
    listed.extend(entries.map(|entry| entry.expect("it goes on")));
    assert_eq!(listed.len(), names.len());
    assert_eq!(
        listed
            .into_iter()
            .map(|entry| entry.name)
            .collect::<BTreeSet<_>>(),
        names
    );
}

fn wait_for_channels(session: &Session, count: usize) {
    let begun = Instant::now();
    loop {
        let status = session.channels();
        if status.iter().filter(|channel| channel.alive).count() == count {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{status:?}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn a_nic_that_comes_back_is_used() {
    let (lan, session, tree) = begin("", 2);
    read_through(&tree, 1, || cut(&lan)).expect("one link is left");
    // also when it had nothing under way
    wait_for_channels(&session, 1);
    lan.mend(1);
    wait_for_channels(&session, 2);
    read_through(&tree, 1, nothing).expect("both links are there");
}

/// It was not there when the session began, so that nobody knows of its way yet.
fn a_nic_that_comes_up_is_used() {
    let lan = Lan::new("");
    lan.cut(1);
    let session = connect(&lan, &Policy::default());
    let nics = smb::local_nics().expect("it tells");
    let rejected = session.add_channels(2, &nics);
    assert_eq!(session.channels().len(), 1, "{rejected:?}");
    let most = ChannelsMax::Count(2);
    session
        .seek_channels(most)
        .expect("a thread can be started");
    lan.mend(1);
    wait_for_channels(&session, 2);
    let nic = session.channels()[1].nic.clone();
    assert_eq!(nic.as_deref(), Some("c1"));
    // and where its way is lost, it is found again, not had twice
    lan.cut(1);
    wait_for_channels(&session, 1);
    lan.mend(1);
    wait_for_channels(&session, 2);
}
