//! The build for Windows in Wine, against a real Samba: what it finds of this machine, what it moves, and what it leaves
//! when it is killed. `scripts/windows` makes the programs.

use std::collections::BTreeMap;
use std::fs;
use std::iter;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use smb::{Access, OpenOptions, Policy};

use crate::byte_pattern;
use crate::samba::{check_pattern, connect, write_pattern};
use crate::samba_lan::{Lan, PASSWORD, SHARE, USER};
use crate::wine::Wine;

const MIB: u64 = 1 << 20;
/// A command line of a program, with the password of the lab's user.
fn command(wine: &Wine, arguments: &[&str]) -> Command {
    let words = wine.words();
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .args(arguments)
        .env("LINERATE_PASSWORD", PASSWORD)
        .stdin(Stdio::null());
    command
}

fn run(wine: &Wine, arguments: &[&str]) -> Output {
    command(wine, arguments)
        .output()
        .expect("it can be started")
}

/// What the engine says of a job.
fn result_of(wine: &Wine, job: &[&str]) -> Value {
    said(&run(wine, job))
}

fn said(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{text}\n{errors}",
        output.status
    );
    serde_json::from_str(&text).expect("a line of JSON")
}

/// How long the same engine takes for it on this system.
fn seconds_here(lan: &Lan, job: &str, bytes: u64) -> f64 {
    let session = connect(lan, &Policy::default());
    let rejected = session.add_channels(2, &lan.nics());
    assert_eq!(session.channels().len(), 2, "{rejected:?}");
    let tree = session.tree(SHARE).expect("the share is there");
    let begun = Instant::now();
    if job == "write" {
        write_pattern(&tree, "large", 7, iter::once(0..bytes));
    } else {
        let file = tree.open("large", &OpenOptions::open(Access::Read));
        check_pattern(&file.expect("it is there"), 7, 0..bytes);
    }
    begun.elapsed().as_secs_f64()
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().expect("a number")
}

/// A folder of small and larger files whose names and sizes are awkward, and what is in each.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let sizes = [0, 1, 4095, 4096, 65_537, 3 * 1024 * 1024 + 1];
    let folders = ["", "映像", "映像/東京 2026", "deep/deeper"];
    let mut files = BTreeMap::new();
    for (seed, (folder_name, size)) in folders
        .iter()
        .flat_map(|folder| sizes.iter().map(move |size| (folder, size)))
        .enumerate()
    {
        let mut bytes = vec![0; *size];
        byte_pattern::fill(seed as u64, 0, &mut bytes);
        let name = Path::new(folder_name).join(format!("ファイル {size}.mov"));
        let path = folder.join(&name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("our own folder");
        fs::write(&path, &bytes).expect("room on the disk");
        files.insert(name.to_str().expect("it is text").to_owned(), bytes);
    }
    files
}

/// All files below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(&at).expect("it is there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                left.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).expect("it is below");
            let name = name.to_str().expect("it is text").to_owned();
            found.insert(name, fs::read(&path).expect("it is there"));
        }
    }
    found
}

#[test]
fn what_windows_says_of_files_is_what_linux_says() {
    let output = run(&Wine::new("os-tests.exe"), &["--test-threads=1"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("local_file::tests::a_name_that_something_has_is_not_taken ... ok"));
}

#[test]
fn both_links_carry_what_windows_reads_and_writes() {
    let lan = Lan::new("");
    // So slow that the links are full, and not this machine's processors: two builds that are not optimised share them with
    // the server.
    for link in 0..2 {
        lan.limit(link, "500mbit");
    }
    let wine = Wine::new("engine-under-test.exe");
    let server = lan.server().name;
    let nics = result_of(&wine, &["nics"]);
    let addresses: Vec<&str> = nics
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|nic| nic["addresses"].as_array().expect("a list"))
        .filter_map(Value::as_str)
        .filter(|address| address.starts_with("10."))
        .collect();
    assert_eq!(addresses, ["10.94.0.1/24", "10.94.1.1/24"], "{nics}");

    let bytes = 200 * MIB;
    let count = bytes.to_string();
    for job in ["write", "read"] {
        let mut rates = [Vec::new(), Vec::new()];
        for _ in 0..3 {
            rates[0].push(bytes as f64 / seconds_here(&lan, job, bytes) / 1e6);
            let result = result_of(&wine, &[&server, SHARE, USER, "2", job, "large", &count]);
            let seconds = result["seconds"].as_f64().expect("a time");
            rates[1].push(bytes as f64 / seconds / 1e6);
            let channels = result["channels"].as_array().expect("a list");
            assert_eq!(channels.len(), 2, "{result}");
            for channel in channels {
                let moved = number(channel, "sent") + number(channel, "received");
                assert!(moved > bytes * 2 / 5, "{result}");
            }
        }
        for rates in &mut rates {
            rates.sort_by(f64::total_cmp);
        }
        let [here, there] = [rates[0][1], rates[1][1]];
        assert!(there > 0.9 * here, "{job}: {there} of {here} MB/s");
    }
}

#[test]
fn a_tree_with_japanese_names_is_copied_there_and_back() {
    let lan = Lan::new("");
    let wine = Wine::new("engine-under-test.exe");
    let server = lan.server().name;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let expected = tree(&from);
    let on_share = |job: &str, one: &str, other: &str| {
        result_of(&wine, &[&server, SHARE, USER, "2", job, one, other])
    };
    let up = on_share("upload", &Wine::seen(&from), "案件");
    assert_eq!(number(&up, "failed"), 0, "{up}");
    assert_eq!(number(&up, "files"), expected.len() as u64);
    assert_eq!(files(&lan.on_server("案件")), expected);
    let down = on_share("download", "案件", &Wine::seen(&to));
    assert_eq!(number(&down, "failed"), 0, "{down}");
    assert_eq!(files(&to), expected);
    // Times have come along both ways: nothing is copied once more.
    for again in [
        on_share("upload", &Wine::seen(&to), "案件"),
        on_share("download", "案件", &Wine::seen(&from)),
    ] {
        assert_eq!(
            number(&again, "unchanged"),
            expected.len() as u64,
            "{again}"
        );
        assert_eq!(number(&again, "failed"), 0, "{again}");
    }
}

/// Waits until a copy to a folder has put on record that more is complete than is ever copied anew.
fn wait_for_record(folder: &Path) {
    let until = Instant::now() + Duration::from_secs(60);
    let complete = |path: &Path| -> Option<u64> {
        // A part is longer than any record, and nothing is for long.
        let short = fs::metadata(path).is_ok_and(|found| found.len() < 1024);
        let text = short.then(|| fs::read_to_string(path).ok())??;
        let (_, after) = text.split_once("\ncomplete ")?;
        after.lines().next()?.parse().ok()
    };
    loop {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| complete(&entry.path())).max();
        if found.is_some_and(|bytes| bytes > 8 * MIB) {
            return;
        }
        assert!(Instant::now() < until, "{found:?} bytes on record");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_copy_that_is_killed_loses_nothing_and_is_gone_on_with() {
    let kills = std::env::var("LINERATE_KILLS").map_or(1, |kills| {
        kills.parse().expect("LINERATE_KILLS is a number")
    });
    let lan = Lan::new("");
    for link in 0..2 {
        lan.limit(link, "200mbit");
    }
    let wine = Wine::new("engine-under-test.exe");
    let server = lan.server().name;
    // A disk takes its time to keep what is put on record.
    let folder = tempfile::tempdir_in("/dev/shm").expect("a temporary folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).expect("our own folder");
    let mut bytes = vec![0; usize::try_from(230 * MIB).expect("it fits")];
    byte_pattern::fill(7, 0, &mut bytes);
    fs::write(from.join("大きい.mov"), &bytes).expect("room on the disk");
    let (from_seen, to_seen) = (Wine::seen(&from), Wine::seen(&to));
    let up = [&*server, SHARE, USER, "2", "upload", &from_seen, "kept"];
    let down = [&*server, SHARE, USER, "2", "download", "kept", &to_seen];
    for (request, there) in [(up, lan.on_server("kept")), (down, to.clone())] {
        for number in 0..kills {
            let program = command(&wine, &request).stdout(Stdio::null()).spawn();
            let mut program = program.expect("Wine is installed");
            // The first is killed when there is something to go on with, however long Wine takes to start; others at any moment.
            if number == 0 {
                wait_for_record(&there);
            } else {
                thread::sleep(Duration::from_millis(3800 - 1331 * number % 3500));
            }
            program.kill().expect("it is ours");
            program.wait().expect("it is our child");
            // Wine 8 keeps the connections of a program that was killed while it waited for them.
            wine.end_server();
            // Under its name there is nothing, or all of it.
            if let Ok(whole) = fs::read(there.join("大きい.mov")) {
                assert!(whole == bytes, "after {number} kills");
                fs::remove_file(there.join("大きい.mov")).expect("our own folder");
            }
        }
        let ended = result_of(&wine, &request);
        assert_eq!(ended["failed"], 0, "{ended}");
        let resumed = ended["resumed_bytes"].as_u64().expect("a number");
        assert!(resumed > 8 * MIB || kills > 1, "{ended}");
        let found = files(&there);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["大きい.mov"]);
        assert!(found.values().all(|found| *found == bytes));
        fs::remove_file(from.join("大きい.mov")).ok();
    }
}
