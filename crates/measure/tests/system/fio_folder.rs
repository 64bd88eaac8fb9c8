//! Folders and disks: real `fio`, and nothing left behind.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use measure::{Error, Stop, fio_command, trial, trial_main};
use record::{
    Bytes, Cache, Data, Direction, FailureKind, FolderKind, FolderWorkload, KeepInput,
    KeepWorkload, Operations, Pattern, Place, Timing, TrialInput, TrialLine, TrialResult, Workload,
};
use tempfile::TempDir;

/// A folder on a disk, which a temporary folder need not be on.
fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn workload(folder: &Path, direction: Direction, pattern: Pattern) -> FolderWorkload {
    let span = Duration::from_millis(200);
    FolderWorkload {
        folder: folder.display().to_string(),
        kind: FolderKind::Folder,
        second_mount: None,
        direction,
        block: Bytes::new(4096),
        depth: 4,
        file_size: Bytes::new(8 << 20),
        operations: Operations {
            pattern,
            threads: 2,
            opposite_percent: 0,
            data: Data::Random,
            cache: Cache::Direct,
            write_through: false,
            file: None,
        },
        timing: Timing {
            warm_up: Duration::ZERO.into(),
            measured: span.into(),
            interval: span.into(),
        },
    }
}

fn run(workload: FolderWorkload) -> Result<TrialResult, Error> {
    let input = TrialInput {
        workload: Workload::Folder(workload),
        credentials: None,
    };
    trial(&input, &Stop::new(), &mut |_| {})
}

#[test]
fn fio_measures_a_folder_both_ways_and_nothing_is_left() {
    let folder = folder();
    for direction in [Direction::Read, Direction::Write] {
        for pattern in [Pattern::Sequential, Pattern::Random] {
            let result = run(workload(folder.path(), direction, pattern)).unwrap();
            let latency = result.latency.unwrap();
            assert_eq!(
                result.bytes().get(),
                latency.operations * 4096,
                "{result:?}"
            );
            assert!(
                latency.p50 <= latency.p99 && latency.p99 <= latency.max,
                "{latency:?}"
            );
            assert!(
                latency.mean.get() > 0 && result.cpu().get() > 0,
                "{result:?}"
            );
            let seconds = Duration::from(result.duration()).as_secs_f64();
            assert!((0.1..2.0).contains(&seconds), "{seconds}");
            assert_eq!(names(folder.path()), Vec::<String>::new());
        }
    }
}

#[test]
fn fio_writes_through_where_that_is_asked_for() {
    let folder = folder();
    let through = |direction, write_through| {
        let mut asked = workload(folder.path(), direction, Pattern::Sequential);
        asked.operations.write_through = write_through;
        let argv = fio_command(&asked, Path::new("/file"), true).argv;
        let result = run(asked).unwrap();
        assert!(result.bytes().get() > 0, "{result:?}");
        argv.contains(&"--sync=dsync".to_owned())
    };
    assert!(through(Direction::Write, true));
    assert!(!through(Direction::Write, false));
    assert!(!through(Direction::Read, true));
}

/// `fio` would take what stands before the colon for a file of its own, and make it.
#[test]
fn a_colon_in_a_path_is_a_part_of_it() {
    let folder = folder();
    let within = folder.path().join("a:b");
    fs::create_dir(&within).unwrap();
    let file = within.join("kept");
    fs::write(&file, vec![1; 8 << 20]).unwrap();
    let mut asked = workload(&within, Direction::Write, Pattern::Random);
    asked.operations.file = Some(file.display().to_string());
    run(asked).unwrap();
    assert_eq!(names(folder.path()), ["a:b"]);
    assert_eq!(names(&within), ["kept"]);
}

#[test]
fn operations_both_ways_are_counted_together() {
    let folder = folder();
    let mut mixed = workload(folder.path(), Direction::Read, Pattern::Random);
    mixed.operations.opposite_percent = 50;
    let result = run(mixed).unwrap();
    // `fio` draws each operation's direction by itself: what the share of reads may be off by is
    // five times the standard deviation of so many draws. A disk that others keep busy finishes a
    // dozen in a second, a quiet one thousands.
    let reads = result.latency.unwrap().operations as f64;
    let all = result.bytes().get() as f64 / 4096.0;
    let off = 5.0 * 0.5 / all.sqrt();
    assert!(1.0 <= reads && reads < all, "{reads} of {all}");
    assert!((reads / all - 0.5).abs() < off, "{reads} of {all}");
}

#[test]
fn a_test_file_that_would_nearly_fill_the_disk_is_refused() {
    let folder = folder();
    let mut huge = workload(folder.path(), Direction::Read, Pattern::Random);
    huge.file_size = Bytes::new(1 << 50);
    let error = run(huge).unwrap_err();
    assert!(matches!(error, Error::NoSpace { .. }), "{error}");
    assert_eq!(error.kind(), FailureKind::Refused);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn memory_is_not_a_disk_and_a_file_is_not_a_folder() {
    let mut memory = workload(Path::new("/dev/shm"), Direction::Read, Pattern::Random);
    memory.kind = FolderKind::Disk;
    assert!(matches!(run(memory), Err(Error::Usage { .. })));
    let no_folder = workload(Path::new("/etc/hostname"), Direction::Read, Pattern::Random);
    let error = run(no_folder).unwrap_err();
    assert!(matches!(error, Error::TestFile { .. }), "{error}");
}

#[test]
fn what_a_killed_test_left_is_removed_and_what_another_uses_is_not() {
    let folder = folder();
    let (left, used) = (
        folder.path().join(".linerate-a.tmp"),
        folder.path().join(".linerate-b.tmp"),
    );
    File::create(&left).unwrap();
    let held = File::create(&used).unwrap();
    os::file::show_in_use(&held).unwrap();
    fs::write(folder.path().join("mine.tmp"), "x").unwrap();
    run(workload(folder.path(), Direction::Read, Pattern::Random)).unwrap();
    let mut found = names(folder.path());
    found.sort();
    assert_eq!(found, [".linerate-b.tmp", "mine.tmp"]);
}

/// Gives a line and then blocks until its sender is dropped.
struct Lifeline(Cursor<Vec<u8>>, mpsc::Receiver<()>);

impl Read for Lifeline {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        if count == 0 {
            self.1.recv().ok();
        }
        Ok(count)
    }
}

/// Hands each line on.
struct Lines(mpsc::Sender<TrialLine>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .send(serde_json::from_slice(bytes)?)
            .map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_kept_file_is_there_for_trials_until_nobody_keeps_it() {
    let folder = folder();
    let keep = KeepWorkload {
        place: Place::Folder {
            folder: folder.path().display().to_string(),
            kind: FolderKind::Folder,
        },
        file_size: Bytes::new(8 << 20),
        data: Data::Random,
    };
    let input = KeepInput {
        keep,
        credentials: None,
    };
    let mut line = serde_json::to_vec(&input).unwrap();
    line.push(b'\n');
    let (lifeline, end) = mpsc::channel();
    let (sender, lines) = mpsc::channel();
    let keeper = thread::spawn(move || {
        trial_main(
            Lifeline(Cursor::new(line), end),
            Lines(sender),
            None,
            || panic!("it ends by itself"),
        )
    });
    let TrialLine::Kept { file, direct } = lines.recv_timeout(Duration::from_secs(20)).unwrap()
    else {
        panic!("no file is kept");
    };
    assert_eq!(fs::metadata(&file).unwrap().len(), 8 << 20);
    let direct = direct.expect("it is on a disk").get();
    assert!((512..=4096).contains(&direct), "{direct}");
    let content = fs::read(&file).unwrap();
    let zeros = content.iter().filter(|&&byte| byte == 0).count();
    assert!(zeros < content.len() / 100, "{zeros}");
    let mut first = workload(folder.path(), Direction::Write, Pattern::Random);
    first.operations.file = Some(file.clone());
    run(first).unwrap();
    assert!(Path::new(&file).exists());
    drop(lifeline);
    assert_eq!(keeper.join().unwrap(), Ok(()));
    assert_eq!(names(folder.path()), Vec::<String>::new());
}
