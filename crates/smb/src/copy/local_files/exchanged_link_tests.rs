use std::collections::HashMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::*;
use crate::copy::place::removal::Removal;
use crate::copy::place::{Links, Place};
use crate::copy::{Job, Options, Progress, Summary};
use crate::std_or_shuttle::atomic::{AtomicBool, AtomicUsize, Ordering};

fn opened(path: &Path) -> File {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false);
    options.open(path).expect("the folder is ours")
}

#[test]
fn a_part_that_was_completed_after_it_was_opened_is_not_taken() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (part, whole) = (folder.path().join("part"), folder.path().join("whole"));
    let is_busy = |claimed| matches!(claimed, Err(Error::Busy { .. }));
    let late = opened(&part);
    {
        let first = opened(&part);
        claim(&first, &part, &part).expect("nobody else has it");
        assert!(is_busy(claim(&late, &part, &part)), "somebody has it");
        fs::rename(&part, &whole).expect("our own folder");
    }
    assert!(is_busy(claim(&late, &part, &part)), "it is somebody's file");
    drop(late);
    let late = opened(&whole);
    let _next = opened(&part);
    assert!(
        is_busy(claim(&late, &part, &part)),
        "there is another part now"
    );
    claim(&late, &whole, &whole).expect("nobody has it");
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;

    fs::metadata(path)
        .expect("it is there")
        .permissions()
        .mode()
        & 0o7777
}

#[test]
fn a_part_is_for_nobody_else_to_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let part = folder.path().join("part");
    drop(open_part(&part, &part).expect("the folder is ours"));
    assert_eq!(mode(&part), 0o600);
    // One of an earlier version, half done.
    fs::write(&part, b"half").expect("the folder is ours");
    let wide = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    fs::set_permissions(&part, wide).expect("the folder is ours");
    let (_file, length) = open_part(&part, &part).expect("the folder is ours");
    assert_eq!((length, mode(&part)), (4, 0o600));
}

#[test]
fn a_part_that_another_laid_out_is_not_written_to() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (part, dear) = (folder.path().join("part"), folder.path().join("dear"));

    // A second name of a file that is dear to us.
    fs::write(&dear, b"dear").expect("the folder is ours");
    fs::hard_link(&dear, &part).expect("the folder is ours");
    let (file, length) = open_part(&part, &part).expect("the folder is ours");
    assert_eq!(length, 0);
    local_file::write_all_at(&file, 0, b"other").expect("there is room");
    assert_eq!(fs::read(&dear).expect("it is there"), b"dear");
    drop(file);

    // A link.
    for target in [dear.clone(), folder.path().join("nothing")] {
        fs::remove_file(&part).expect("the folder is ours");
        std::os::unix::fs::symlink(&target, &part).expect("the folder is ours");
        let error = open_part(&part, &part).expect_err("it is in the way");
        assert!(matches!(error, Error::LocalFile { .. }), "{error:?}");
    }
    assert_eq!(fs::read(&dear).expect("it is there"), b"dear");
    assert!(!folder.path().join("nothing").exists());

    // Another user's file, which he has open. This runs as root.
    fs::remove_file(&part).expect("the folder is ours");
    let spy = opened(&part);
    std::os::unix::fs::chown(&part, Some(1), None).expect("this runs as root");
    let (file, _) = open_part(&part, &part).expect("the folder is ours");
    local_file::write_all_at(&file, 0, b"secret").expect("there is room");
    assert_eq!(spy.metadata().expect("it is open").len(), 0);
}

#[test]
fn a_record_that_another_laid_out_is_not_written_to() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let to = folder.path().join("file");
    let begin = Begin {
        source: Identity {
            size: 100,
            written: 7,
            changed: 0,
            id: 0,
        },
        resume: false,
        is_sparse: false,
        several: false,
        mode: None,
    };
    let (part, _) = Part::begin(&to, &begin).expect("the folder is ours");
    let dear = folder.path().join("dear");
    fs::write(&dear, b"dear").expect("the folder is ours");
    let record = part.record.clone();
    fs::hard_link(&dear, &record).expect("the folder is ours");
    part.record(50).expect("there is room");
    fs::remove_file(&record).expect("it was made");
    let spied = opened(&record);
    std::os::unix::fs::chown(&record, Some(1), None).expect("this runs as root");
    part.record(50).expect("there is room");
    assert_eq!(spied.metadata().expect("it is open").len(), 0);
    assert!(read_record(&record).is_some());
    assert_eq!(fs::read(&dear).expect("it is there"), b"dear");
    // It is not waited for whoever reads a pipe.
    fs::remove_file(&record).expect("it was made");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        &record,
        rustix::fs::FileType::Fifo,
        mode,
        0,
    );
    made.expect("the folder is ours");
    assert!(part.record(50).is_err());
}

#[test]
fn times_of_a_folder_are_set_on_no_link_and_wait_for_nobody() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("dear"), b"dear").expect("the folder is ours");
    let before = fs::metadata(at("dear")).expect("it is there").modified();
    std::os::unix::fs::symlink(at("dear"), at("link")).expect("the folder is ours");
    mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).expect("the folder is ours");
    let times = FileTimes {
        creation: 0,
        access: 0,
        write: 120_000_000_000_000_000,
        change: 0,
    };
    let on_link = set_folder_times(&at("link"), times);
    assert!(
        matches!(on_link, Err(Error::LocalFile { .. })),
        "{on_link:?}"
    );
    let after = fs::metadata(at("dear")).expect("it is there").modified();
    assert_eq!(after.expect("Linux has it"), before.expect("Linux has it"));
    // Nobody writes to it, and it is set all the same.
    set_folder_times(&at("pipe"), times).expect("the folder is ours");
}

#[test]
fn what_another_user_let_everybody_write_is_not_so_once_it_is_ours() {
    use std::os::unix::fs::{PermissionsExt as _, chown};

    let folder = tempfile::tempdir().expect("a temporary folder");
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    fs::write(&old, b"old").expect("the folder is ours");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o777)).expect("it is ours");
    for (owner, kept) in [(0, true), (1, false)] {
        chown(&old, Some(owner), None).expect("this runs as root");
        let replaced = fs::metadata(&old).expect("it is there");
        let file = opened(&new);
        local_file::publish(&file, None, Some(&replaced)).expect("it is ours");
        assert_eq!(mode(&new) & 0o022 != 0, kept, "{owner}: {:o}", mode(&new));
    }
}

#[test]
fn a_mode_of_a_server_is_bounded() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let umask = {
        let made = folder.path().join("made");
        fs::create_dir(&made).expect("room on the disk");
        let mode = fs::metadata(&made).expect("our own").permissions().mode();
        0o777 & !mode
    };
    let mode = |path: &Path| {
        let metadata = fs::metadata(path).expect("it was made");
        metadata.permissions().mode() & 0o7777
    };
    let to = folder.path().join("file");
    for given in [0o640, 0o444, 0o777, 0o4755, 0o107_777, u32::MAX] {
        let finish = Finish {
            size: 1,
            times: FileTimes::default(),
            attributes: ATTRIBUTE_READ_ONLY,
            mode: Some(given),
            replace: Replace::Existing,
            sync: false,
        };
        write_small(&to, b"a", &finish).expect("our own folder");
        assert_eq!(mode(&to), given & 0o777 & !umask, "{given:o}");
    }
    for (number, given) in [0o750, 0o555, 0o7777].into_iter().enumerate() {
        let path = folder.path().join(number.to_string());
        let made = make_folder(&path, Some(given)).expect("our own folder");
        assert!(made.is_some(), "it is new");
        assert_eq!(mode(&path), given & 0o777 & !umask, "{given:o}");
    }
}

#[test]
fn a_link_takes_the_place_of_another_at_once_or_of_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let link = folder.path().join("link");
    let target = || read_link(&link).expect("it is a link");
    make_link(&link, "one", Replace::Never).expect("nothing has the name");
    let taken = make_link(&link, "two", Replace::Never);
    assert!(matches!(taken, Err(Error::Obstructed { .. })), "{taken:?}");
    assert_eq!(target().as_deref(), Some("one"));
    make_link(&link, "two", Replace::Existing).expect("it may be replaced");
    assert_eq!(target().as_deref(), Some("two"));
    let left = fs::read_dir(folder.path()).expect("our own").count();
    assert_eq!(left, 1, "nothing else is left");
}

/// A folder of another user, who exchanges a folder and a file in it for links to something dear, and back, until this
/// is dropped.
struct Exchanger {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<usize>>,
}

impl Exchanger {
    /// `folder` has `tree` and `film`, which are exchanged for links to `dear` and to a file in it.
    fn start(folder: &Path, dear: &Path) -> Self {
        use rustix::fs::{CWD, RenameFlags, renameat_with};

        let links = [
            ("tree", dear.to_owned()),
            ("film", dear.join("dear")),
            ("tree/inner", dear.join("dear")),
        ];
        for (name, target) in &links {
            let link = folder.join(format!("{}-link", name.replace('/', "-")));
            std::os::unix::fs::symlink(target, link).expect("the folder is ours");
        }
        let folder = folder.to_owned();
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut exchanged = 0;
            while !stopped.load(Ordering::Relaxed) {
                for (name, _) in &links {
                    let link = folder.join(format!("{}-link", name.replace('/', "-")));
                    let name = folder.join(name);
                    // Where one that it lies in is a link now, it is not there.
                    let done = renameat_with(CWD, &link, CWD, &name, RenameFlags::EXCHANGE);
                    exchanged += usize::from(done.is_ok());
                }
            }
            exchanged
        });
        let thread = Some(thread);
        Self { stop, thread }
    }

    /// How often something was exchanged.
    fn end(mut self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it is ended once");
        thread.join().expect("it does not panic")
    }
}

/// What `dear` holds in these tests, and nothing else.
const DEAR: &str = "for nobody else";

fn dear_folder(folder: &Path) -> PathBuf {
    let dear = folder.join("dear");
    fs::create_dir(&dear).expect("the folder is ours");
    fs::write(dear.join("dear"), DEAR).expect("there is room");
    dear
}

fn run_copy(from: &Path, to: &Path, links: Links) -> Summary {
    let job = Job {
        sources: vec![crate::copy::Source {
            place: Place::Local(from.to_owned()),
            content: true,
            name: None,
        }],
        destination: Place::Local(to.to_owned()),
        into: true,
        options: Options {
            existing: crate::copy::Existing::Replace,
            links,
            ..Options::default()
        },
    };
    let progress = Progress::default();
    crate::copy::run(&job, &progress, &Stop::new(), &|_| {})
}

/// How often is copied while names are exchanged.
const COPIES: usize = 100;

/// Copies again and again while names in `attacked` are exchanged for links to `dear`, and checks each time.
fn copy_while_exchanged([from, to]: [&Path; 2], attacked: &Path, dear: &Path, check: impl Fn()) {
    let exchanger = Exchanger::start(attacked, dear);
    let mut copied = 0;
    for _ in 0..COPIES {
        copied += run_copy(from, to, Links::Keep).files;
        check();
    }
    let exchanged = exchanger.end();
    assert!(exchanged > COPIES, "{exchanged}");
    assert!(copied > 0, "nothing was ever copied");
}

#[test]
fn nothing_is_read_through_a_name_that_is_exchanged_while_it_is_copied() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dear = dear_folder(folder.path());
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir_all(from.join("tree")).expect("the folder is ours");
    for name in ["film", "tree/inner", "tree/dear"] {
        fs::write(from.join(name), "for all").expect("there is room");
    }
    copy_while_exchanged([&from, &to], &from, &dear, || {
        for name in ["film", "tree/inner", "tree/dear"] {
            // What was taken for a folder or left out is not there.
            let content = fs::read_to_string(to.join(name)).unwrap_or_default();
            assert_ne!(content, DEAR, "{name}");
        }
        fs::remove_dir_all(&to).expect("the folder is ours");
    });
}

#[test]
fn nothing_is_written_or_removed_through_a_name_that_is_exchanged_while_it_is_copied() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dear = dear_folder(folder.path());
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    for folder in [&from, &to] {
        fs::create_dir_all(folder.join("tree")).expect("the folder is ours");
        for name in ["film", "tree/inner"] {
            fs::write(folder.join(name), "for all").expect("there is room");
        }
    }
    fs::write(from.join("tree/new"), "for all").expect("there is room");
    // Where it is removed through the link, it is this one.
    fs::write(to.join("tree/dear"), "not wanted").expect("there is room");
    copy_while_exchanged([&from, &to], &to, &dear, || {
        for name in fs::read_dir(&dear).expect("it is there") {
            assert_eq!(name.expect("an entry").file_name(), "dear");
        }
        let content = fs::read_to_string(dear.join("dear")).expect("it is there");
        assert_eq!(content, DEAR);
        let tree = Place::Local(to.join("tree"));
        let surplus = stat(&to.join("tree/dear")).ok();
        if let Some(surplus) = surplus {
            let stay = HashMap::new();
            let batches = AtomicUsize::default();
            let mut removal = Removal {
                stay: &stay,
                dry_run: false,
                depth: 0,
                path: String::new(),
                in_staying: 0,
                left: &|_| {},
                failed: &|_, error| Err(error),
                batches: &batches,
            };
            // It may be gone.
            let _ = tree.remove_inner(&surplus, None, &mut removal);
        }
        assert!(dear.join("dear").exists());
    });
}

#[test]
fn root_follows_no_link_of_another_user_where_links_are_followed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dear = dear_folder(folder.path());
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).expect("the folder is ours");
    for (name, target) in [
        ("of-root", dear.join("dear")),
        ("of-another", dear.join("dear")),
        ("folder-of-another", dear.clone()),
    ] {
        let link = from.join(name);
        std::os::unix::fs::symlink(target, &link).expect("the folder is ours");
        if name != "of-root" {
            std::os::unix::fs::lchown(&link, Some(1), None).expect("this runs as root");
        }
    }
    let followed = run_copy(&from, &to, Links::Follow);
    let mut failed: Vec<_> = followed.failures.iter().map(|it| &*it.path).collect();
    failed.sort_unstable();
    assert_eq!(failed, ["folder-of-another", "of-another"]);
    let names = fs::read_dir(&to).expect("it was made");
    let names: Vec<_> = names.map(|it| it.expect("an entry").file_name()).collect();
    assert_eq!(names, ["of-root"]);
}

#[test]
fn no_device_is_replaced_by_a_file() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).expect("the folder is ours");
    let finish = Finish {
        size: 1,
        times: FileTimes::default(),
        attributes: 0,
        mode: None,
        replace: Replace::Existing,
        sync: false,
    };
    let refused = write_small(&pipe, b"a", &finish);
    assert!(
        matches!(refused, Err(Error::Obstructed { .. })),
        "{refused:?}"
    );
    let left = fs::read_dir(folder.path()).expect("our own").count();
    assert_eq!(left, 1, "nothing else is left");
    write_small(Path::new("/dev/null"), b"a", &finish).expect("it goes nowhere");
    assert!(!Path::new("/dev/null").is_file());
}

#[test]
fn a_file_that_is_longer_than_its_system_says_is_not_copied_as_an_empty_one() {
    let opened = Source::open(Path::new("/proc/version"));
    assert!(matches!(opened, Err(Error::NotCopied { .. })));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let empty = folder.path().join("empty");
    fs::write(&empty, "").expect("room on the disk");
    assert!(Source::open(&empty).is_ok());
}
