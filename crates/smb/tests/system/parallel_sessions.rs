//! Large files, and many, over two sessions with one server.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use smb::copy::{self, Job, Options, Place, Progress, Summary};
use smb::{Error, Policy, Session, SigningPolicy, Stop, Tree};

use crate::byte_pattern;
use crate::samba::{connect, job, login, on};
use crate::samba_lan::{Lan, SHARE};

const MIB: u64 = 1 << 20;
/// Large enough for a second session, and less than the share has room for.
const BYTES: u64 = 129 * MIB + 5;
/// What the records of copies may add, which say how far they are.
const RECORDS: u64 = 64 << 10;
/// What the other thing that happens waits for.
const BEGUN: u64 = 4 * MIB;

struct Begun {
    lan: Lan,
    session: Session,
    tree: Tree,
    here: tempfile::TempDir,
}

/// A server, a session that signs everything with so many channels, and a large file of ours.
fn begin(channels: usize) -> Begun {
    begin_with(channels, BYTES)
}

/// The same where so many bytes of the file are no hole.
fn begin_with(channels: usize, data: u64) -> Begun {
    let lan = Lan::new("");
    // Little under way, so that what a slow link has begun is soon complete.
    let policy = Policy {
        depth: 2,
        depth_fixed: true,
        signing: SigningPolicy::Required,
        ..Policy::default()
    };
    let session = connect(&lan, &policy);
    let rejected = session.add_channels(channels, &lan.nics());
    assert_eq!(session.channels().len(), channels, "{rejected:?}");
    let tree = session.tree(SHARE).expect("the share is there");
    let here = tempfile::tempdir().expect("a folder");
    let mut file = File::create(here.path().join("film")).expect("the folder is ours");
    let mut piece = vec![0; MIB as usize];
    for offset in (0..data).step_by(piece.len()) {
        let length = (data - offset).min(MIB) as usize;
        byte_pattern::fill(7, offset, &mut piece[..length]);
        file.write_all(&piece[..length]).expect("there is room");
    }
    file.set_len(BYTES).expect("it takes no room");
    Begun {
        lan,
        session,
        tree,
        here,
    }
}

fn run(job: &Job, stop: &Stop) -> Summary {
    copy::run(job, &Progress::default(), stop, &|_| {})
}

fn succeeded(summary: &Summary) {
    assert_eq!((summary.files, summary.failed), (1, 0), "{summary:?}");
    assert_eq!(summary.bytes, BYTES);
}

fn is_the_film(path: &Path) {
    let stored = fs::read(path).expect("it was written");
    assert_eq!(stored.len() as u64, BYTES);
    assert_eq!(byte_pattern::difference(7, 0, &stored), None);
}

/// Nothing but the copy is there.
fn is_alone(copy: &Path) {
    let folder = copy.parent().expect("it is in a folder");
    let names: Vec<_> = (fs::read_dir(folder).expect("it is there"))
        .map(|entry| entry.expect("it can be read").file_name())
        .collect();
    assert_eq!(names, [copy.file_name().expect("it has a name")]);
}

/// Bytes that each session moved, and the channels that it has.
fn by_session(session: &Session) -> Vec<(u64, usize)> {
    let mut sessions = Vec::new();
    for channel in session.channels() {
        sessions.resize(sessions.len().max(channel.session + 1), (0, 0));
        let (bytes, channels) = &mut sessions[channel.session];
        *bytes += channel.bytes_received + channel.bytes_sent;
        *channels += 1;
    }
    sessions
}

#[test]
fn a_large_file_goes_over_two_sessions_both_ways() {
    let Begun {
        lan,
        session,
        tree,
        here,
    } = begin(2);
    let film = here.path().join("film");
    let one = Options {
        sessions: 1,
        ..Options::default()
    };
    let up = |to: &str, options: Options| {
        let job = job(Place::Local(film.clone()), on(&tree, to), options);
        succeeded(&run(&job, &Stop::new()));
    };
    up("alone", one);
    let alone = by_session(&session);
    assert!(
        matches!(alone[..], [(bytes, 2)] if (BYTES..BYTES + RECORDS).contains(&bytes)),
        "{alone:?}"
    );
    fs::remove_file(lan.on_server("alone")).expect("it is there");

    up("film", Options::default());
    let copy = lan.on_server("film");
    is_the_film(&copy);
    is_alone(&copy);
    let times = |path: &Path| fs::metadata(path).expect("it is there").mtime();
    assert_eq!(
        times(&copy),
        times(&film),
        "the last handle to close sets no time"
    );
    let sessions = by_session(&session);
    assert!(
        matches!(sessions[..], [(_, 2), (second, 2)] if second > BYTES / 10),
        "{sessions:?}"
    );
    let (both, twice) = (sessions[0].0 + sessions[1].0, 2 * BYTES);
    assert!((twice..twice + RECORDS).contains(&both), "{sessions:?}");

    let back = here.path().join("back");
    let verified = Options {
        verify: true,
        ..Options::default()
    };
    let job = job(on(&tree, "film"), Place::Local(back.clone()), verified);
    succeeded(&run(&job, &Stop::new()));
    is_the_film(&back);
    let sessions = by_session(&session);
    assert!(
        matches!(sessions[..], [_, _, (third, 2)] if third > BYTES / 10),
        "{sessions:?}"
    );
}

#[test]
fn what_is_not_protected_is_written_over_one_session_and_read_over_two() {
    let Begun { lan, here, .. } = begin(1);
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let film = Place::Local(here.path().join("film"));
    succeeded(&run(
        &job(film, on(&tree, "film"), Options::default()),
        &Stop::new(),
    ));
    assert_eq!(by_session(&session).len(), 1);
    let back = here.path().join("back");
    let job = job(
        on(&tree, "film"),
        Place::Local(back.clone()),
        Options::default(),
    );
    succeeded(&run(&job, &Stop::new()));
    is_the_film(&back);
    let sessions = by_session(&session);
    assert!(
        matches!(sessions[..], [_, (second, 1)] if second > BYTES / 10),
        "{sessions:?}"
    );
}

#[test]
fn many_files_are_shared_out_among_the_sessions() {
    const FILES: u64 = 60;
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let here = tempfile::tempdir().expect("a folder");
    let mut content = vec![0; MIB as usize];
    for number in 0..FILES {
        byte_pattern::fill(number, 0, &mut content);
        let path = here.path().join(format!("{number}"));
        fs::write(path, &content).expect("there is room");
    }
    let from = Place::Local(here.path().to_owned());
    let job = job(from, on(&tree, "all"), Options::default());
    let summary = run(&job, &Stop::new());
    assert_eq!((summary.files, summary.failed), (FILES, 0), "{summary:?}");
    for number in 0..FILES {
        let stored = fs::read(lan.on_server(&format!("all/{number}"))).expect("it was copied");
        assert_eq!(stored.len() as u64, MIB);
        assert_eq!(byte_pattern::difference(number, 0, &stored), None);
    }
    let sessions = by_session(&session);
    assert!(
        matches!(sessions[..], [_, (second, 1)] if second >= MIB),
        "{sessions:?}"
    );
}

/// Whether a record says how far a copy is.
fn is_on_record(lan: &Lan) -> bool {
    let mut entries = fs::read_dir(lan.on_server("")).expect("it is there");
    entries.any(|entry| {
        let entry = entry.expect("it can be read");
        let name = entry.file_name().into_string().expect("it is ours");
        name.ends_with(".linerate-record") && entry.metadata().is_ok_and(|facts| facts.len() > 0)
    })
}

/// Waits until so many bytes are copied.
fn wait(progress: &Progress, bytes: u64) {
    while progress.moved() < bytes {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn two_programs_do_not_write_one_copy() {
    let Begun {
        lan,
        session: _session,
        tree,
        here,
    } = begin(1);
    let other = Session::connect(&lan.server_over(1), None, &login(), &Policy::default());
    let other = other.expect("the server is there");
    lan.limit(0, "60mbit");
    let film = here.path().join("film");
    let progress = Progress::default();
    let job = job(Place::Local(film), on(&tree, "film"), Options::default());
    thread::scope(|scope| {
        let first = scope.spawn(|| copy::run(&job, &progress, &Stop::new(), &|_| {}));
        wait(&progress, BEGUN);
        let tree = other.tree(SHARE).expect("the share is there");
        for sessions in [1, 2] {
            let mut job = job.clone();
            job.destination = on(&tree, "film");
            job.options.sessions = sessions;
            let refused = run(&job, &Stop::new());
            let error = refused.failures.first().map(|failure| &failure.error);
            assert!(
                matches!(error, Some(Error::Busy { .. })),
                "{sessions}: {refused:?}"
            );
        }
        lan.limit(0, "10gbit");
        succeeded(&first.join().expect("it does not panic"));
    });
    let copy = lan.on_server("film");
    is_the_film(&copy);
    is_alone(&copy);
}

/// Copies until `enough` says so, and stops then.
fn stop_when(job: &Job, enough: impl Fn(&Progress) -> bool) -> Summary {
    let (progress, stop) = (Progress::default(), Stop::new());
    let stopped = thread::scope(|scope| {
        let copying = scope.spawn(|| copy::run(job, &progress, &stop, &|_| {}));
        while !copying.is_finished() && !enough(&progress) {
            thread::sleep(Duration::from_millis(1));
        }
        stop.stop();
        copying.join().expect("it does not panic")
    });
    let ended_by = &stopped.ended_by;
    assert!(matches!(ended_by, Some(Error::Stopped)), "{stopped:?}");
    stopped
}

#[test]
fn what_is_on_record_of_bytes_that_are_gone_is_not_believed() {
    const DATA: u64 = 48 * MIB;
    let Begun {
        lan,
        session: _session,
        tree,
        here,
    } = begin_with(1, DATA);
    for sessions in [1, 2] {
        let name = format!("film-{sessions}");
        let film = Place::Local(here.path().join("film"));
        let mut job = job(film, on(&tree, &name), Options::default());
        job.options.sessions = sessions;
        // Slow enough that it is not over when storage, beside a busy machine, takes long to put anything on record.
        lan.limit(0, "60mbit");
        let stopped = stop_when(&job, |_| is_on_record(&lan));
        assert!(is_on_record(&lan), "{sessions}, to go on with: {stopped:?}");
        // Each begins anew and ends before anything is on record.
        for resume in [false, true] {
            job.options.resume = resume;
            stop_when(&job, |progress| progress.moved() >= MIB);
            assert!(!is_on_record(&lan), "{sessions}: nothing is complete");
        }
        lan.limit(0, "10gbit");
        // Also where what is read back ends with a hole.
        job.options.verify = sessions == 1;
        let whole = run(&job, &Stop::new());
        succeeded(&whole);
        assert_eq!(whole.resumed_bytes, 0, "{sessions}");
        let copy = lan.on_server(&name);
        let stored = fs::read(&copy).expect("it was written");
        assert_eq!(stored.len() as u64, BYTES);
        let (data, hole) = stored.split_at(DATA as usize);
        assert_eq!(byte_pattern::difference(7, 0, data), None, "{sessions}");
        assert!(hole.iter().all(|byte| *byte == 0));
        is_alone(&copy);
        fs::remove_file(copy).expect("it is there");
    }
}

#[test]
fn a_second_session_may_be_lost_for_good() {
    let Begun {
        lan,
        session,
        tree,
        here,
    } = begin(1);
    lan.limit(0, "200mbit");
    let film = Place::Local(here.path().join("film"));
    let job = job(film, on(&tree, "film"), Options::default());
    let copied = thread::scope(|scope| {
        let copying = scope.spawn(|| run(&job, &Stop::new()));
        while !copying.is_finished() && !is_on_record(&lan) {
            thread::sleep(Duration::from_millis(1));
        }
        lan.change_password("another one");
        let second = session.channels().into_iter().find(|it| it.session == 1);
        let port = second.expect("it has a channel").local.port().to_string();
        lan.on_client_run(&["ss", "-K", "sport", "=", &port]);
        lan.limit(0, "10gbit");
        copying.join().expect("it does not panic")
    });
    succeeded(&copied);
    assert!(copied.continued_bytes >= MIB, "{copied:?}");
    let copy = lan.on_server("film");
    is_the_film(&copy);
    is_alone(&copy);
    let sessions = by_session(&session);
    assert!(
        matches!(sessions[..], [_, (_, 1)]),
        "it did not come back: {sessions:?}"
    );
}

#[test]
fn a_second_session_may_be_lost_and_a_copy_stopped_and_resumed() {
    let Begun {
        lan,
        session,
        tree,
        here,
    } = begin(2);
    lan.limit(0, "200mbit");
    lan.limit(1, "200mbit");
    let film = here.path().join("film");
    let mut job = job(Place::Local(film), on(&tree, "film"), Options::default());
    // until there is something to go on with
    stop_when(&job, |_| is_on_record(&lan));

    job.options.resume = true;
    let progress = Progress::default();
    let resumed = thread::scope(|scope| {
        let copying = scope.spawn(|| copy::run(&job, &progress, &Stop::new(), &|_| {}));
        let lost = loop {
            let lost = session.channels().into_iter();
            let lost: Vec<_> = lost.filter(|it| it.session == 2 && it.alive).collect();
            if lost.len() == 2 || copying.is_finished() {
                break lost;
            }
            thread::sleep(Duration::from_millis(1));
        };
        assert_eq!(lost.len(), 2, "{:?}", session.channels());
        for channel in lost {
            let port = channel.local.port().to_string();
            lan.on_client_run(&["ss", "-K", "sport", "=", &port]);
        }
        copying.join().expect("it does not panic")
    });
    succeeded(&resumed);
    assert!(resumed.resumed_bytes >= MIB, "{resumed:?}");
    let copy = lan.on_server("film");
    is_the_film(&copy);
    is_alone(&copy);
    let of_second = session.channels().into_iter().filter(|it| it.session == 2);
    assert!(of_second.count() > 2, "its channels came back");
}
