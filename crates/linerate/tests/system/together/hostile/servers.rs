//! Servers that let anybody in, and then are silent, put off, trickle, reset, or list without end.

mod evil_server;

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::lab_and_program;
use evil_server::{Evil, FILE_BYTES, LARGE_BYTES, LONG_LETTERS, Server};

/// What is never waited for longer, with what the start of a program takes on a busy machine.
const HANG_MAX: Duration = Duration::from_secs(30);
/// What a program may take at most of memory.
const MEMORY_BYTES_MAX: u64 = 64 << 20;

/// How a command ended.
struct Ended {
    code: i32,
    said: String,
    took: Duration,
    memory: u64,
    /// It was ended by us, because that was enough.
    cut: bool,
}

impl Ended {
    /// The limit of a listing ended it, which a fast machine reaches before we end it.
    fn reached_limit(&self) -> bool {
        let says = "it lists more than ten million entries in one folder";
        self.code == 70 && self.said.contains(says)
    }
}

/// Runs a command against a server, until it ends or, where that is asked for, for so long.
fn run(arguments: &[&str], enough: Option<Duration>) -> Ended {
    let begun = Instant::now();
    let error = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut child = Command::new(lab_and_program::path())
        .args(arguments)
        .arg("--anonymous")
        .env("LINERATE_STATE_DIR", "/nonexistent")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(error.reopen().expect("our own file"))
        .spawn()
        .expect("it starts");
    let mut memory = 0;
    let mut cut = false;
    let status = loop {
        thread::sleep(Duration::from_millis(10));
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
        // Until it has its own name, and while it gets it, it has our memory: `spawn` returns in the middle of
        // `execve`.
        let status = status
            .ok()
            .filter(|status| status.starts_with("Name:\tlinerate\n"));
        let status = status.unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse().ok());
        memory = memory.max(peak.unwrap_or(0_u64) << 10);
        if let Some(status) = child.try_wait().expect("it is our child") {
            break status;
        }
        if enough.is_some_and(|enough| begun.elapsed() > enough) {
            cut = true;
            child.kill().expect("it is our child");
        }
    };
    Ended {
        code: status.code().unwrap_or(-1),
        said: fs::read_to_string(error.path()).expect("our own file"),
        took: begun.elapsed(),
        memory,
        cut,
    }
}

#[test]
fn no_server_makes_a_command_hang() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().display().to_string();
    let evils = [
        Evil::Silent,
        Evil::PutsOff,
        Evil::PutsOffAgain,
        Evil::Trickles,
    ];
    // They mostly wait.
    thread::scope(|scope| {
        for evil in evils {
            let here = &here;
            for command in ["ls", "copy", "up"] {
                scope.spawn(move || {
                    let share = Server::start(evil).share();
                    let ended = match command {
                        "ls" => run(&["ls", &share], None),
                        "copy" => run(&["copy", &share, here], None),
                        _ => run(&["copy", here, &share], None),
                    };
                    let said = format!("{evil:?} {command} {:?}: {}", ended.took, ended.said);
                    assert!(ended.took < HANG_MAX, "{said}");
                    assert_eq!(ended.code, 69, "{said}");
                    assert!(ended.memory < MEMORY_BYTES_MAX, "{said}");
                });
            }
        }
    });
    assert_eq!(fs::read_dir(folder.path()).expect("our folder").count(), 0);
}

#[test]
fn no_server_that_gives_or_takes_a_little_makes_a_command_hang() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("source/file");
    fs::create_dir(folder.path().join("source")).expect("our own folder");
    fs::write(&source, [7; FILE_BYTES as usize]).expect("there is room");
    let to = folder.path().join("to");
    let [source, to] = [source, to].map(|path| path.display().to_string());
    let cases = [
        (Evil::FewEntries, "ls", "entries of a folder in"),
        (Evil::FewEntries, "list", "entries of a folder in"),
        (Evil::FewBytes, "down", "1 bytes where"),
        (Evil::FewBytesLate, "down", "1 bytes where"),
        (Evil::TakesFewBytes, "up", "1 bytes where"),
        (Evil::FewAboutItself, "shares", "bytes about itself in"),
        (Evil::FewAboutItselfLate, "shares", "bytes about itself in"),
    ];
    thread::scope(|scope| {
        for (evil, command, says) in cases {
            let (source, to) = (&source, &to);
            scope.spawn(move || {
                let server = Server::start(evil);
                let (share, file) = (server.share(), server.file());
                let ended = match command {
                    "ls" => run(&["ls", &share], None),
                    "shares" => run(&["ls", &server.root()], None),
                    "list" => run(&["copy", "--dry-run", &share, to], None),
                    "down" => run(&["copy", &file, &format!("{to}-{evil:?}")], None),
                    _ => run(&["copy", "--force", source, &share], None),
                };
                let said = format!("{evil:?} {command} {:?}: {}", ended.took, ended.said);
                assert!(ended.took < HANG_MAX, "{said}");
                assert_eq!(ended.code, 69, "{said}");
                assert!(ended.said.contains(says), "{said}");
            });
        }
    });
}

#[test]
fn no_server_that_resets_is_asked_for_ever() {
    let share = Server::start(Evil::Resets).share();
    let ended = run(&["ls", &share], None);
    assert!(ended.took < HANG_MAX, "{:?}: {}", ended.took, ended.said);
    assert_eq!(ended.code, 69, "{}", ended.said);
}

#[test]
fn a_folder_that_a_server_has_and_has_not_is_not_made_for_ever() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir_all(folder.path().join("denied/in")).expect("our own folder");
    fs::write(folder.path().join("denied/in/file"), "content").expect("there is room");
    let here = format!("{}/", folder.path().display());
    let ended = run(&["copy", &here, &Server::start(Evil::Denies).share()], None);
    assert!(ended.took < HANG_MAX, "{:?}", ended.took);
    assert_eq!(ended.code, 1, "{}", ended.said);
    assert!(
        ended.said.contains("`all/denied` does not exist"),
        "{}",
        ended.said
    );
}

#[test]
fn a_listing_without_end_takes_little_memory_and_ends() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().display().to_string();
    let long_name = format!("the server gave a name of {LONG_LETTERS} bytes");
    for (evil, says) in [
        (Evil::Files, "more than a million names"),
        (Evil::Folders, "65,536 folders wait already"),
        (Evil::LongNames, &long_name),
    ] {
        let share = Server::start(evil).share();
        let enough = Duration::from_secs(8);
        let listed = run(&["ls", &share], Some(enough));
        let memory = listed.memory >> 20;
        assert!(memory > 0 && memory < 64, "ls {evil:?}: {memory} MiB");
        assert!(
            listed.cut || listed.reached_limit(),
            "{evil:?}: {}",
            listed.said
        );
        // Nothing of it is kept, so that the limit of the listing itself ends that.
        let enough = (evil == Evil::LongNames).then_some(enough);
        let copied = run(&["copy", "--dry-run", &share, &here], enough);
        let memory = copied.memory >> 20;
        assert!(memory > 0 && memory < 64, "copy {evil:?}: {memory} MiB");
        assert!(copied.cut || copied.said.contains(says), "{}", copied.said);
        assert!(copied.cut || copied.code == 65, "{}", copied.code);
    }
}

#[test]
fn a_mirror_on_a_server_that_lists_without_end_takes_little_memory_and_removes_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("file"), "content").expect("there is room");
    let here = format!("{}/", folder.path().display());
    for (evil, options, says) in [
        (Evil::Files, &[][..], "more than a million names"),
        (Evil::Folders, &[], "more than a million names"),
        (
            Evil::Folders,
            &["--include", "file"],
            "more than 400,000 folders",
        ),
    ] {
        let share = Server::start(evil).share();
        let mirror = ["copy", "--update", "--delete", "--dry-run", &here, &share];
        let ended = run(&[&mirror[..], options].concat(), None);
        let memory = ended.memory >> 20;
        assert!(memory > 0 && memory < 64, "{evil:?}: {memory} MiB");
        assert!(ended.said.contains(says), "{evil:?}: {}", ended.said);
        assert_eq!(ended.code, 65, "{}", ended.said);
    }
}

#[test]
fn a_copy_to_a_server_that_lists_without_end_takes_little_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("file"), "content").expect("there is room");
    let here = format!("{}/", folder.path().display());
    for evil in [Evil::Files, Evil::Folders, Evil::LongNames] {
        let share = Server::start(evil).share();
        let enough = Duration::from_secs(8);
        let ended = run(&["copy", "--update", &here, &share], Some(enough));
        let memory = ended.memory >> 20;
        assert!(memory > 0 && memory < 64, "{evil:?}: {memory} MiB");
        let good = ended.cut || ended.reached_limit();
        assert!(good, "{evil:?}: {} {}", ended.code, ended.said);
    }
}

/// However fast it comes and however many sessions it comes over: what has come waits for the disk.
#[test]
fn a_large_file_takes_little_memory() {
    for sessions in ["1", "2", "8"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let here = folder.path().join("file");
        let to = here.display().to_string();
        let file = Server::start(Evil::Large).file();
        // To hash it takes longer than to send it.
        let ended = run(
            &["copy", "--verify", "--sessions", sessions, &file, &to],
            None,
        );
        assert_eq!(ended.code, 0, "{}", ended.said);
        let bytes = fs::metadata(&here).expect("it is copied").len();
        assert_eq!(bytes, LARGE_BYTES);
        let memory = ended.memory >> 20;
        assert!(memory > 0 && memory < 64, "{sessions}: {memory} MiB");
    }
}

#[test]
fn long_names_and_long_paths_take_little_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().display().to_string();
    let share = Server::start(Evil::Deep).share();
    let listed = run(&["ls", &share], None);
    assert_eq!(listed.code, 0, "{}", listed.said);
    let share = Server::start(Evil::DeepSource).share();
    let copied = run(&["copy", "--dry-run", &share, &here], None);
    assert_eq!(copied.code, 65, "{}", copied.said);
    let says = "the folders that wait already have too long paths";
    assert!(copied.said.contains(says), "{}", copied.said);
    for ended in [listed, copied] {
        let memory = ended.memory >> 20;
        assert!(memory > 0 && memory < 64, "{memory} MiB: {}", ended.said);
    }
}

#[test]
fn folders_in_folders_without_end_are_removed_in_little_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = format!("{}/", folder.path().display());
    for dry in [&["--dry-run"][..], &[]] {
        let share = Server::start(Evil::Deep).share();
        let mirror = ["copy", "--update", "--delete", &here, &share];
        let enough = Duration::from_secs(15);
        let ended = run(&[&mirror[..], dry].concat(), Some(enough));
        let memory = ended.memory >> 20;
        assert!(memory > 0 && memory < 64, "{memory} MiB: {}", ended.said);
        assert!(ended.cut, "{}: {}", ended.code, ended.said);
    }
}
