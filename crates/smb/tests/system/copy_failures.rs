//! What goes wrong while a file is copied, and what becomes of the copy then.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use smb::copy::{self, Existing, Job, Options, Place, Progress, Summary};
use smb::{Error, Policy, Session, Stop, Tree};

use crate::byte_pattern;
use crate::samba::{connect, job, on};
use crate::samba_lan::{Lan, SHARE};

const MIB: u64 = 1 << 20;

fn begin(lan: &Lan) -> (Session, Tree) {
    // Little under way, so that what a slow link has begun is soon complete.
    let policy = Policy {
        depth: 2,
        depth_fixed: true,
        ..Policy::default()
    };
    let session = connect(lan, &policy);
    let tree = session.tree(SHARE).expect("the share is there");
    (session, tree)
}

fn write(path: &Path, seed: u64, bytes: u64) {
    let mut content = vec![0; usize::try_from(bytes).expect("it is small")];
    byte_pattern::fill(seed, 0, &mut content);
    fs::write(path, content).expect("there is room");
}

fn is(path: &Path, seed: u64, bytes: u64) {
    let stored = fs::read(path).expect("it was written");
    assert_eq!(stored.len() as u64, bytes);
    assert_eq!(byte_pattern::difference(seed, 0, &stored), None);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    let names = entries.map(|entry| entry.expect("it can be read").file_name());
    let mut names: Vec<_> = names
        .map(|name| name.into_string().expect("plain names"))
        .collect();
    names.sort();
    names
}

/// Copies, and does something once it is time.
fn copied_while(job: &Job, is_time: impl FnMut() -> bool, act: impl FnOnce(&Stop)) -> Summary {
    copied_after(|| {}, job, is_time, act)
}

/// The same, with something that the copying thread does first.
fn copied_after(
    begin: impl FnOnce() + Send,
    job: &Job,
    mut is_time: impl FnMut() -> bool,
    act: impl FnOnce(&Stop),
) -> Summary {
    let stop = Stop::new();
    thread::scope(|scope| {
        let copying = scope.spawn(|| {
            begin();
            copy::run(job, &Progress::default(), &stop, &|_| {})
        });
        while !copying.is_finished() && !is_time() {
            thread::sleep(Duration::from_millis(1));
        }
        act(&stop);
        copying.join().expect("it does not panic")
    })
}

/// What the kernel has to say from now on.
struct KernelLog(File);

impl KernelLog {
    fn open() -> Self {
        let mut options = OpenOptions::new();
        let options = options
            .read(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        let mut log = options.open("/dev/kmsg").expect("this runs as root");
        log.seek(SeekFrom::End(0)).expect("it can be");
        Self(log)
    }

    /// Whether a write to a disk was lost.
    fn tells_of_a_loss(&mut self) -> bool {
        let mut record = [0; 8192];
        loop {
            match self.0.read(&mut record) {
                Ok(count) => {
                    let record = String::from_utf8_lossy(&record[..count]);
                    if record.contains("error, dev loop") {
                        return true;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                // Some was overwritten.
                Err(_) => {}
            }
        }
    }
}

/// The disk says once that it lost something, to whoever asks first, and later ones hear that all is
/// well: that is not the end of the copy.
#[test]
fn what_a_disk_loses_in_the_middle_ends_the_copy() {
    const BYTES: u64 = 40 * MIB;
    for up in [true, false] {
        let lan = Lan::on_a_disk_that_loses();
        let (_session, tree) = begin(&lan);
        let here = tempfile::tempdir().expect("a temporary folder");
        let film = here.path().join("film");
        let copy = lan.on_server("disk/film");
        let job = if up {
            write(&film, 7, BYTES);
            job(
                Place::Local(film),
                on(&tree, "disk/film"),
                Options::default(),
            )
        } else {
            write(&lan.on_server("film"), 7, BYTES);
            job(
                on(&tree, "film"),
                Place::Local(lan.within_server("disk/film")),
                Options::default(),
            )
        };
        lan.limit(0, "80mbit");
        let mut log = KernelLog::open();
        let enter = || {
            if !up {
                lan.enter_server();
            }
        };
        let is_lost = || log.tells_of_a_loss();
        let summary = copied_after(enter, &job, is_lost, |_| lan.free_space());
        assert_eq!((summary.files, summary.failed), (0, 0), "{up}: {summary:?}");
        let ended_by = summary.ended_by;
        match &ended_by {
            Some(Error::DiskFull { .. }) if up => {}
            Some(Error::LocalFile { source, .. }) if !up => {
                assert_eq!(source.kind(), ErrorKind::StorageFull);
            }
            _ => panic!("{up}: {ended_by:?}"),
        }
        let folder = copy.parent().expect("it is in a folder");
        assert_eq!(names(folder), ["lost+found"], "{up}");
    }
}

#[test]
fn a_folder_that_holds_the_share_it_goes_to_is_not_copied_into_itself() {
    let lan = Lan::new("");
    let (_session, tree) = begin(&lan);
    for folder in ["home", "home/public"] {
        let folder = lan.on_server(folder);
        fs::create_dir(&folder).expect("there is room");
        let everybody = fs::Permissions::from_mode(0o777);
        fs::set_permissions(folder, everybody).expect("this runs as root");
    }
    write(&lan.on_server("home/film"), 7, 1000);
    let home = Place::Local(lan.within_server("home"));
    let mut job = job(home, on(&tree, "home/public/copy"), Options::default());
    let copied = |job: &Job| copied_after(|| lan.enter_server(), job, || false, |_| {});

    let first = copied(&job);
    assert_eq!((first.files, first.failed), (1, 1), "{first:?}");
    let failure = &first.failures[0];
    assert_eq!(failure.path, "public/copy");
    assert!(matches!(failure.error, Error::NotCopied { .. }));
    let copy = lan.on_server("home/public/copy");
    assert_eq!(names(&copy), ["film", "public"]);
    assert!(names(&copy.join("public")).is_empty());

    // What an earlier copy has made is in the source by now; only what this one makes is not.
    job.options.existing = Existing::Update;
    let second = copied(&job);
    assert_eq!((second.files, second.failed), (1, 1), "{second:?}");
    assert_eq!(second.failures[0].path, "public/copy/public/copy");
}

#[test]
fn a_copy_that_is_stopped_while_it_is_read_back_goes_on_later() {
    const BYTES: u64 = 24 * MIB + 5;
    let lan = Lan::new("");
    let (session, tree) = begin(&lan);
    let here = tempfile::tempdir().expect("a temporary folder");
    let film = here.path().join("film");
    write(&film, 7, BYTES);
    let mut job = job(Place::Local(film), on(&tree, "film"), Options::default());
    job.options.verify = true;
    // Seconds for each way.
    lan.limit(0, "100mbit");
    let is_read_back = || {
        let channels = session.channels().into_iter();
        channels.map(|it| it.bytes_received).sum::<u64>() > MIB
    };
    let stopped = copied_while(&job, is_read_back, Stop::stop);
    let ended_by = &stopped.ended_by;
    assert!(matches!(ended_by, Some(Error::Stopped)), "{stopped:?}");
    assert!(!lan.on_server("film").exists());

    lan.limit(0, "10gbit");
    job.options.resume = true;
    let resumed = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
    assert_eq!((resumed.files, resumed.verified), (1, 1), "{resumed:?}");
    assert!(resumed.resumed_bytes >= 8 * MIB, "{resumed:?}");
    is(&lan.on_server("film"), 7, BYTES);
    assert_eq!(names(&lan.on_server("")), ["film"]);
}

/// Bytes that the client's system has received.
fn received(lan: &Lan) -> u64 {
    let said = lan.on_client_run(&["ss", "-Htin", "state", "established", "dport", "=", "445"]);
    let counts = said.split_whitespace();
    let counts = counts.filter_map(|word| word.strip_prefix("bytes_received:"));
    counts
        .map(|count| count.parse::<u64>().expect("a number"))
        .sum()
}

#[test]
fn a_file_that_is_written_over_while_it_is_read_is_noticed() {
    // Too large for one frame and small enough to be held in memory, and too large for that.
    for bytes in [200_000, 300_000] {
        is_written_over(bytes);
    }
}

fn is_written_over(bytes: u64) {
    let lan = Lan::new("");
    let (_session, tree) = begin(&lan);
    let here = tempfile::tempdir().expect("a temporary folder");
    let (note, copy) = (lan.on_server("note"), here.path().join("note"));
    write(&note, 1, bytes);
    let job = job(
        on(&tree, "note"),
        Place::Local(copy.clone()),
        Options::default(),
    );
    lan.limit(0, "1mbit");
    let before = received(&lan);
    let is_on_its_way = || received(&lan) > before + bytes / 2;
    let summary = copied_while(&job, is_on_its_way, |_| write_over(&note, 2, bytes));
    let failure = summary.failures.first().map(|failure| &failure.error);
    assert!(
        matches!(failure, Some(Error::Changed { .. })),
        "{summary:?}"
    );
    assert!(names(here.path()).is_empty());

    lan.limit(0, "10gbit");
    let again = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
    assert_eq!((again.files, again.failed), (1, 0), "{again:?}");
    is(&copy, 2, bytes);
}

/// As after a run that was ended when all was copied and before the folders had their times.
#[test]
fn a_folder_gets_its_time_when_all_that_is_in_it_is_there_already() {
    let lan = Lan::new("");
    let (_session, tree) = begin(&lan);
    let here = tempfile::tempdir().expect("a temporary folder");
    let old = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let set = |folder: &Path, time| {
        let folder = File::open(folder).expect("it is there");
        folder.set_modified(time).expect("it is ours");
    };
    let time = |folder: &Path| {
        let metadata = fs::metadata(folder).expect("it is there");
        metadata.modified().expect("there are times")
    };
    let source = here.path().join("source");
    fs::create_dir_all(source.join("within")).expect("it is new");
    write(&source.join("within/file"), 1, 100);
    set(&source.join("within"), old);
    let (share, back) = (on(&tree, "copy"), here.path().join("back"));
    let local = |path: &Path| Place::Local(path.to_owned());
    for (from, to, folder) in [
        (local(&source), share.clone(), lan.on_server("copy/within")),
        (share, local(&back), back.join("within")),
    ] {
        for (resume, existing) in [
            (false, Existing::Refuse),
            (true, Existing::Refuse),
            (false, Existing::Update),
        ] {
            let options = Options {
                resume,
                existing,
                ..Options::default()
            };
            let job = job(from.clone(), to.clone(), options);
            let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
            let unchanged = u64::from(resume || existing == Existing::Update);
            let counts = (summary.files, summary.unchanged, summary.failed);
            assert_eq!(counts, (1 - unchanged, unchanged, 0), "{summary:?}");
            assert_eq!(time(&folder), old, "{resume} {existing:?}");
            set(&folder, SystemTime::now());
        }
        set(&folder, old);
    }
}

/// Puts other bytes in the place of those of a file.
fn write_over(path: &Path, seed: u64, bytes: u64) {
    let mut content = vec![0; usize::try_from(bytes).expect("it is small")];
    byte_pattern::fill(seed, 0, &mut content);
    let file = OpenOptions::new().write(true).open(path);
    let written = file.and_then(|file| file.write_all_at(&content, 0));
    written.expect("there is room");
}

/// However much of it a server writes before it has no room: Samba 4.17 says that the disk is full.
#[test]
fn a_small_file_that_has_room_only_in_part_is_not_there_at_all() {
    const ROOM: u64 = 32 << 10;
    let lan = Lan::new("");
    let (_session, tree) = begin(&lan);
    let here = tempfile::tempdir().expect("a temporary folder");
    let note = here.path().join("note");
    write(&note, 1, 2 * ROOM);
    fs::write(lan.on_server("old"), "old").expect("there is room");
    let mut filler = File::create(lan.on_server("filler")).expect("there is room");
    let mebibyte = vec![1; MIB as usize];
    while filler.write_all(&mebibyte).is_ok() {}
    let full = filler.metadata().expect("it is open").len();
    filler.set_len(full - ROOM).expect("it is open");
    for (name, existing) in [("new", Existing::Refuse), ("old", Existing::Replace)] {
        let options = Options {
            existing,
            ..Options::default()
        };
        let job = job(Place::Local(note.clone()), on(&tree, name), options);
        let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
        let ended_by = &summary.ended_by;
        assert!(
            matches!(ended_by, Some(Error::DiskFull { .. })),
            "{name}: {summary:?}"
        );
        tree.status("").expect("the session goes on");
        assert_eq!(names(&lan.on_server("")), ["filler", "old"], "{name}");
    }
    let old = fs::read(lan.on_server("old")).expect("it is still there");
    assert_eq!(old, b"old");
    filler.set_len(0).expect("it is open");
    let job = job(Place::Local(note), on(&tree, "new"), Options::default());
    let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
    assert_eq!((summary.files, summary.failed), (1, 0), "{summary:?}");
    is(&lan.on_server("new"), 1, 2 * ROOM);
}

#[test]
fn what_small_files_carry_is_counted_by_channel() {
    const FILES: u64 = 40;
    const BYTES: u64 = 3_000;
    let lan = Lan::new("");
    let (session, tree) = begin(&lan);
    let here = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(here.path().join("source")).expect("it is ours");
    for file in 0..FILES {
        write(&here.path().join(format!("source/{file}")), file, BYTES);
    }
    let local = |name: &str| Place::Local(here.path().join(name));
    for (from, to) in [
        (local("source"), on(&tree, "there")),
        (on(&tree, "there"), local("back")),
    ] {
        let job = job(from, to, Options::default());
        let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
        assert_eq!(summary.files, FILES, "{summary:?}");
    }
    let [channel] = &session.channels()[..] else {
        panic!("one channel");
    };
    let moved = (channel.bytes_received, channel.bytes_sent);
    assert_eq!(moved, (FILES * BYTES, FILES * BYTES));
}
