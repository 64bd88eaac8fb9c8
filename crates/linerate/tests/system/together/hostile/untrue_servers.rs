//! Servers that say what is not so, in ways that would lose data in silence: a copy to or from them fails, says
//! why, and loses nothing. What an honest server does is the measure.

mod files_in_memory;
mod untrue_server;

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use crate::lab_and_program;
use untrue_server::{Manner, Server, YEAR_1970};

/// What a copy never takes, with what the start of a program takes on a busy machine.
const HANG_MAX: Duration = Duration::from_secs(60);
/// From 1601, where the protocol's time begins, to 1970; and its units in a second.
const SECONDS_TO_1970: u64 = 11_644_473_600;
const TICKS_PER_SECOND: u64 = 10_000_000;
/// A time in 2001, which every server keeps.
const ORDINARY: u64 = 1_000_000_000;
const TEN_YEARS: Duration = Duration::from_secs(10 * 365 * 86_400);
/// One that is written in one message, and one that gets its name when it is complete.
const SMALL_BYTES: usize = 1 << 10;
const LARGE_BYTES: usize = 1 << 20;
/// Files of a tree.
const FILES: u64 = 40;
/// So many round trips later than the files at its top, files are reached so deep in a tree: more than it takes to find
/// out what a server does with the time of one.
const DEEP: usize = 24;

/// How a copy ended.
struct Ended {
    code: Option<i32>,
    said: String,
    printed: Vec<u8>,
}

fn copy(arguments: &[&str]) -> Ended {
    let output = lab_and_program::linerate()
        .arg("copy")
        .args(arguments)
        .arg("--anonymous")
        .timeout(HANG_MAX)
        .output()
        .expect("it starts");
    Ended {
        code: output.status.code(),
        said: String::from_utf8_lossy(&output.stderr).into_owned(),
        printed: output.stdout,
    }
}

impl Ended {
    fn is_well(&self) {
        assert_eq!(self.code, Some(0), "{}", self.said);
    }

    /// It ended by itself, and says that not all is well.
    fn is_failure(&self) {
        let failed = self.code.is_some_and(|code| code != 0);
        assert!(failed, "{:?}: {}", self.code, self.said);
    }

    /// The files of which `--json` says that their times were not kept, in the order of their names.
    fn without_times(&self) -> Vec<String> {
        let summary = lab_and_program::json("copy", &self.printed);
        let listed = summary["without"].as_array().expect("a list");
        assert_eq!(summary["not_kept"].as_u64(), Some(listed.len() as u64));
        let mut paths = Vec::new();
        for without in listed {
            let reason = without["reason"].as_str().expect("a text");
            assert!(reason.contains("does not keep the time"), "{reason}");
            paths.push(without["path"].as_str().expect("a text").to_owned());
        }
        paths.sort();
        paths
    }
}

/// A folder of this machine.
struct Here(TempDir);

impl Here {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A path as it is typed; with a `/` at its end, what is in it.
    fn typed(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn make_file(&self, name: &str, content: &[u8], modified: SystemTime) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("our own folder");
        fs::write(&path, content).expect("room on the disk");
        let file = File::options().write(true).open(&path);
        let set = file.and_then(|file| file.set_times(FileTimes::new().set_modified(modified)));
        set.expect("our own file");
    }

    fn content(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path(name)).ok()
    }
}

fn ordinary() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(ORDINARY)
}

fn year_1960() -> SystemTime {
    UNIX_EPOCH - TEN_YEARS
}

/// Bytes of which no part is like another.
fn pattern(bytes: usize) -> Vec<u8> {
    let byte = |index: usize| (index.wrapping_mul(2_654_435_761) >> 13) as u8;
    (0..bytes).map(byte).collect()
}

/// What the server has of a file.
fn stored(server: &Server, path: &str) -> Option<Vec<u8>> {
    server.disk(|disk| disk.content(path).map(<[u8]>::to_vec))
}

/// Else none of these tests would mean anything.
#[test]
fn an_honest_server_keeps_what_is_copied_to_it_and_gives_it() {
    let server = Server::start(Manner::Honest);
    let here = Here::new();
    let files = [
        ("empty", 0),
        ("small", SMALL_BYTES),
        ("in/a/folder/small", SMALL_BYTES + 1),
        ("in/a/folder/large", LARGE_BYTES),
    ];
    for (name, bytes) in files {
        here.make_file(&format!("there/{name}"), &pattern(bytes), ordinary());
    }
    copy(&[&here.typed("there/"), &server.address("all/")]).is_well();
    copy(&[&server.address("all/"), &here.typed("home")]).is_well();
    let ticks = (SECONDS_TO_1970 + ORDINARY) * TICKS_PER_SECOND;
    for (name, bytes) in files {
        let path = format!("all/{name}");
        assert!(stored(&server, &path) == Some(pattern(bytes)), "{name}");
        let time = server.disk(|disk| disk.write_time(&path));
        assert_eq!(time, Some(ticks), "{name}");
        let home = format!("home/{name}");
        assert!(here.content(&home) == Some(pattern(bytes)), "{name}");
        let modified = fs::metadata(here.path(&home)).and_then(|it| it.modified());
        assert_eq!(modified.expect("it is there"), ordinary(), "{name}");
    }
    // Neither a part nor a record is left.
    let mut names = server.disk(|disk| disk.names("all/in/a/folder"));
    names.sort();
    assert_eq!(names, ["large", "small"]);
}

#[test]
fn what_a_server_has_no_room_for_when_it_is_closed_gets_no_name_and_the_next_run_copies_it() {
    for bytes in [SMALL_BYTES, LARGE_BYTES] {
        let server = Server::start(Manner::FullAtClose);
        let here = Here::new();
        here.make_file("film", &pattern(bytes), ordinary());
        let (from, to) = (here.typed("film"), server.address("all/"));
        let ended = copy(&[&from, &to]);
        ended.is_failure();
        let says = "no space is left for";
        assert!(ended.said.contains(says), "{bytes}: {}", ended.said);
        let stored_bytes = stored(&server, "all/film").map(|content| content.len());
        assert_eq!(stored_bytes, None, "{bytes}");

        server.behave(Manner::Honest);
        copy(&["--resume", &from, &to]).is_well();
        assert!(
            stored(&server, "all/film") == Some(pattern(bytes)),
            "{bytes}"
        );
        let names = server.disk(|disk| disk.names("all"));
        assert_eq!(names, ["film"], "{bytes}");
    }
}

#[test]
fn a_file_stays_until_the_server_has_closed_all_of_what_replaces_it() {
    for bytes in [SMALL_BYTES, LARGE_BYTES] {
        let server = Server::start(Manner::FullAtClose);
        server.disk(|disk| disk.make_file("all/film", b"an earlier film"));
        let here = Here::new();
        here.make_file("film", &pattern(bytes), ordinary());
        let ended = copy(&["--force", &here.typed("film"), &server.address("all/")]);
        ended.is_failure();
        let says = "no space is left for";
        assert!(ended.said.contains(says), "{bytes}: {}", ended.said);
        let there = stored(&server, "all/film");
        assert!(there == Some(b"an earlier film".to_vec()), "{bytes}");
    }
}

/// As another copy to the same name does that is ended in the middle.
#[test]
fn what_another_program_has_written_to_since_it_was_closed_gets_no_name() {
    for bytes in [SMALL_BYTES, LARGE_BYTES] {
        let server = Server::start(Manner::AnotherWrites);
        server.disk(|disk| disk.make_file("all/film", b"an earlier film"));
        let here = Here::new();
        here.make_file("film", &pattern(bytes), ordinary());
        let ended = copy(&["--force", &here.typed("film"), &server.address("all/")]);
        ended.is_failure();
        let says = "another copy writes to it";
        assert!(ended.said.contains(says), "{bytes}: {}", ended.said);
        let there = stored(&server, "all/film");
        assert!(there == Some(b"an earlier film".to_vec()), "{bytes}");
    }
}

/// As a server leaves it that ends in the middle of the message that makes a small file.
#[test]
fn the_begin_of_a_small_file_is_replaced_and_no_other_file_that_is_newer() {
    for option in ["--resume", "--update"] {
        for stays in [0, 1, 500] {
            let server = Server::start(Manner::Honest);
            let here = Here::new();
            here.make_file("film", &pattern(SMALL_BYTES), ordinary());
            let (from, to) = (here.typed("film"), server.address("all/"));
            let begin = pattern(SMALL_BYTES)[..stays].to_vec();
            server.disk(|disk| disk.make_file("all/film", &begin));
            copy(&[option, &from, &to]).is_well();
            let there = stored(&server, "all/film");
            assert!(there == Some(pattern(SMALL_BYTES)), "{option} {stays}");
        }
        let server = Server::start(Manner::Honest);
        let here = Here::new();
        here.make_file("film", &pattern(SMALL_BYTES), ordinary());
        server.disk(|disk| disk.make_file("all/film", b"of somebody else"));
        let ended = copy(&[option, &here.typed("film"), &server.address("all/")]);
        match option {
            "--update" => ended.is_well(),
            _ => ended.is_failure(),
        }
        let there = stored(&server, "all/film");
        assert!(there == Some(b"of somebody else".to_vec()), "{option}");
    }
}

#[test]
fn a_folder_that_a_server_does_not_list_is_not_taken_for_an_empty_one() {
    let server = Server::start(Manner::NoSuchFile);
    server.disk(|disk| disk.make_file("all/keep", b"dear"));
    let here = Here::new();
    here.make_file("local/keep", b"dear", ordinary());
    let [from, to] = [server.address("all/"), here.typed("local/")];
    let ended = copy(&["--update", "--delete", &from, &to]);
    ended.is_failure();
    assert_eq!(here.content("local/keep").as_deref(), Some(&b"dear"[..]));
    // It is there, and whether it is empty nobody knows.
    let is_true = !ended.said.contains("does not exist");
    let says = ["list", "empty"];
    let says_why = says.into_iter().any(|word| ended.said.contains(word));
    assert!(is_true && says_why, "{}", ended.said);
}

#[test]
fn what_an_empty_folder_of_an_honest_server_does_not_have_is_removed() {
    let server = Server::start(Manner::Honest);
    let here = Here::new();
    here.make_file("local/surplus", b"old", ordinary());
    here.make_file("local/folder/surplus", b"old", ordinary());
    let [from, to] = [server.address("all/"), here.typed("local/")];
    copy(&["--update", "--delete", &from, &to]).is_well();
    let left = fs::read_dir(here.path("local")).expect("it stays");
    assert_eq!(left.count(), 0);
}

#[test]
fn a_file_that_changes_while_it_is_read_is_no_copy_even_if_its_time_is_set_back() {
    let server = Server::start(Manner::ChangesWhenRead);
    server.disk(|disk| disk.make_file("all/film", &pattern(LARGE_BYTES)));
    let here = Here::new();
    let ended = copy(&[&server.address("all/film"), &here.typed("film")]);
    ended.is_failure();
    assert!(ended.said.contains("changed while"), "{}", ended.said);
    assert_eq!(here.content("film"), None);
    // A time that is another one each time it is asked for says nothing.
    server.behave(Manner::MakesUpChange);
    copy(&[&server.address("all/film"), &here.typed("film")]).is_well();
    assert!(here.content("film") == Some(pattern(LARGE_BYTES)));
}

#[test]
fn a_file_that_is_longer_than_its_server_says_is_not_copied_in_part() {
    for (bytes, said_bytes) in [(1000, 10), (LARGE_BYTES + 100, LARGE_BYTES)] {
        let server = Server::start(Manner::SaysShort {
            hidden_bytes: (bytes - said_bytes) as u64,
        });
        server.disk(|disk| disk.make_file("film", &pattern(bytes)));
        for earlier in [None, Some(b"an earlier film".to_vec())] {
            let here = Here::new();
            if let Some(earlier) = &earlier {
                here.make_file("film", earlier, ordinary());
            }
            let ended = copy(&["--force", &server.address("film"), &here.typed("")]);
            let got = here.content("film");
            if ended.code == Some(0) {
                // All that is read counts, and not what is said of it.
                assert!(got == Some(pattern(bytes)), "{bytes}: {}", ended.said);
                continue;
            }
            ended.is_failure();
            assert!(got == earlier, "{bytes}: {}", ended.said);
            assert!(ended.said.contains("film`"), "{bytes}: {}", ended.said);
        }
    }
}

/// The name of each of [`FILES`], and when it was changed: each a second after the one before.
fn ordinary_files() -> impl Iterator<Item = (String, u64)> {
    (0..FILES).map(|number| (format!("file-{number:02}"), ORDINARY + number))
}

/// Makes them in a folder. Of 1960 is what has the name `old`.
fn make_tree(here: &Here, folder: &str, old: &str) {
    for (name, seconds) in ordinary_files() {
        let modified = match name == old {
            true => year_1960(),
            false => UNIX_EPOCH + Duration::from_secs(seconds),
        };
        here.make_file(&format!("{folder}/{name}"), name.as_bytes(), modified);
    }
}

/// The server has each of them, with its time, but for that of `old`, which it has changed.
fn check_tree(server: &Server, folder: &str, old: &str) {
    for (name, seconds) in ordinary_files() {
        let path = format!("{folder}/{name}");
        let ticks = match name == old {
            true => YEAR_1970,
            false => (SECONDS_TO_1970 + seconds) * TICKS_PER_SECOND,
        };
        let content = stored(server, &path);
        assert_eq!(content.as_deref(), Some(name.as_bytes()), "{path}");
        let time = server.disk(|disk| disk.write_time(&path));
        assert_eq!(time, Some(ticks), "{path}");
    }
}

#[test]
fn of_many_files_the_one_whose_time_a_server_changes_is_named_and_no_other() {
    for old in ["file-00", "file-17", "file-39"] {
        let server = Server::start(Manner::TimesChange);
        let here = Here::new();
        make_tree(&here, "tree", old);
        let ended = copy(&["--json", &here.typed("tree/"), &server.address("all/")]);
        assert_eq!(ended.code, Some(1), "{old}: {}", ended.said);
        assert_eq!(ended.without_times(), [old]);
        check_tree(&server, "all", old);
    }
}

#[test]
fn a_time_that_a_server_changes_says_nothing_of_the_files_that_come_later() {
    // What is found out about a server holds for one run.
    for deep in [0, DEEP] {
        let server = Server::start(Manner::TimesChange);
        let here = Here::new();
        let folders = "/folder".repeat(deep);
        make_tree(&here, &format!("tree{folders}"), "none");
        here.make_file("tree/old", b"of 1960", year_1960());
        let ended = copy(&["--json", &here.typed("tree/"), &server.address("all/")]);
        assert_eq!(ended.code, Some(1), "{deep}: {}", ended.said);
        assert_eq!(ended.without_times(), ["old"]);
        check_tree(&server, &format!("all{folders}"), "none");
    }
}

#[test]
fn a_file_whose_time_a_server_changes_is_named_where_it_is_the_only_one() {
    for bytes in [SMALL_BYTES, LARGE_BYTES] {
        let server = Server::start(Manner::TimesChange);
        let here = Here::new();
        here.make_file("tree/old", &pattern(bytes), year_1960());
        let [from, to] = [here.typed("tree/"), server.address("all/")];
        let ended = copy(&["--json", &from, &to]);
        assert_eq!(ended.code, Some(1), "{bytes}: {}", ended.said);
        assert_eq!(ended.without_times(), ["old"], "{bytes}");
        assert!(
            stored(&server, "all/old") == Some(pattern(bytes)),
            "{bytes}"
        );

        // The next run does not copy it, as what the server has seems newer, and all else is as it should be.
        make_tree(&here, "tree", "none");
        let ended = copy(&["--json", "--update", &from, &to]);
        ended.is_well();
        assert!(ended.without_times().is_empty());
        check_tree(&server, "all", "none");
    }
}

#[test]
fn a_time_that_a_server_seems_to_keep_by_chance_says_nothing_of_the_files_that_come_later() {
    let server = Server::start(Manner::TimesOfClose);
    let here = Here::new();
    let now = SystemTime::now();
    // In whole seconds, it is when the server closes it.
    here.make_file("tree/just-now", b"small", now + Duration::from_secs(1));
    let moments_ago = now - Duration::from_secs(5);
    here.make_file("tree/large", &pattern(LARGE_BYTES), moments_ago);
    copy(&["--json", &here.typed("tree/"), &server.address("all/")]).is_well();
    assert!(stored(&server, "all/large") == Some(pattern(LARGE_BYTES)));
    let time = server.disk(|disk| disk.write_time("all/large"));
    let seconds = moments_ago.duration_since(UNIX_EPOCH).expect("it is later");
    let ticks = (SECONDS_TO_1970 + seconds.as_secs()) * TICKS_PER_SECOND;
    assert_eq!(time, Some(ticks));
}

#[test]
fn a_file_whose_attributes_a_server_drops_is_named() {
    for bytes in [SMALL_BYTES, LARGE_BYTES] {
        let server = Server::start(Manner::NoAttributes);
        let here = Here::new();
        for name in ["fixed", "other"] {
            here.make_file(&format!("tree/{name}"), &pattern(bytes), ordinary());
        }
        let read_only = fs::Permissions::from_mode(0o444);
        fs::set_permissions(here.path("tree/fixed"), read_only).expect("our own file");
        let [from, to] = [here.typed("tree/"), server.address("all/")];
        let ended = copy(&["--json", &from, &to]);
        assert_eq!(ended.code, Some(1), "{bytes}: {}", ended.said);
        let said = lab_and_program::json("copy", &ended.printed);
        assert_eq!((&said["files"], &said["not_kept"]), (&2.into(), &1.into()));
        assert_eq!(said["without"][0]["path"], "fixed", "{said}");
        server.behave(Manner::Honest);
        copy(&["--force", &from, &to]).is_well();
    }
}

/// What could be removed of its folder is, and counted; no more than that is said to be.
#[test]
fn what_a_server_does_not_remove_when_it_is_closed_is_named() {
    let server = Server::start(Manner::FixedAtClose);
    server.disk(|disk| {
        disk.make_folder("all/gone");
        disk.make_folder("all/gone/sub.fixed");
        for name in [
            "fixed",
            "gone/a",
            "gone/fixed",
            "gone/z",
            "gone/sub.fixed/b",
        ] {
            disk.make_file(&format!("all/{name}"), b"old");
        }
    });
    let here = Here::new();
    here.make_file("tree/new", b"new", ordinary());
    let [from, to] = [here.typed("tree/"), server.address("all/")];
    let ended = copy(&["--json", "--update", "--delete", &from, &to]);
    assert_eq!(ended.code, Some(1), "{}", ended.said);
    let said = lab_and_program::json("copy", &ended.printed);
    assert_eq!((&said["deleted"], &said["failed"]), (&3.into(), &3.into()));
    let mut failed: Vec<_> = (said["failures"].as_array().expect("a list").iter())
        .map(|failure| failure["path"].as_str().expect("a path"))
        .collect();
    failed.sort_unstable();
    assert_eq!(failed, ["fixed", "gone/fixed", "gone/sub.fixed"]);
    let sorted = |mut names: Vec<String>| {
        names.sort_unstable();
        names
    };
    let left = server.disk(|disk| [disk.names("all"), disk.names("all/gone")]);
    let left = left.map(sorted);
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        left,
        [
            names(&["fixed", "gone", "new"]),
            names(&["fixed", "sub.fixed"])
        ]
    );
}
