//! Trees that go to a share and come back.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use predicates::prelude::*;
use serde_json::Value;

use crate::lab_and_program::{self, Lab};

const SHARE: &str = "smb://10.77.1.2/media";

fn on_client(lab: &Lab, words: &[&str]) -> assert_cmd::Command {
    let mut command = lab.linerate();
    command
        .args(["lab", "run", &lab.host("client"), "--"])
        .arg(lab_and_program::path())
        .args(words);
    command
}

fn copy(lab: &Lab, argv: &[&str]) -> assert_cmd::Command {
    let mut command = on_client(lab, &["copy"]);
    command.args(argv);
    command
}

/// What `ls --json` says.
fn listed(lab: &Lab, place: &str) -> Value {
    let said = on_client(lab, &["ls", place, "--json"]).assert().success();
    lab_and_program::json("ls", &said.get_output().stdout)
}

/// What `--json` says of a copy that succeeds.
fn copied(lab: &Lab, argv: &[&str]) -> Value {
    let said = copy(lab, argv).arg("--json").assert().success();
    lab_and_program::json("copy", &said.get_output().stdout)
}

fn write(path: &Path, bytes: usize, seconds: u64) {
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("room on the disk");
    let content: Vec<u8> = (0..bytes)
        .map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    fs::write(path, content).expect("room on the disk");
    let modified = UNIX_EPOCH + Duration::from_secs(seconds);
    let file = fs::File::options().write(true).open(path);
    file.and_then(|file| file.set_modified(modified))
        .expect("our own file");
}

/// Paths, kinds, times and hashes of everything in a folder.
fn facts(folder: &Path) -> Vec<String> {
    let script = "find . -printf '%P %y %Ts\\n' | sort; find . -type f -exec sha256sum {} + | sort";
    let output = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .output()
        .expect("sh runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("plain names");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_tree_goes_there_and_back_the_same_and_is_updated() {
    let lab = Lab::up("tree");
    let (tree, back) = (lab.folder().join("tree"), lab.folder().join("back"));
    for (index, (name, bytes)) in [
        ("a.txt", 10),
        ("empty", 0),
        ("deep/er/big.bin", 9_000_001),
        ("deep/er/leave.tmp", 5),
        ("deep/ümläut.txt", 70_000),
    ]
    .into_iter()
    .enumerate()
    {
        write(&tree.join(name), bytes, 1_500_000_000 + index as u64);
    }
    for index in 0..100 {
        write(
            &tree.join(format!("many/{index}")),
            index * 100,
            1_600_000_000,
        );
    }
    fs::create_dir(tree.join("nothing")).expect("our own folder");
    let source = tree.display().to_string();
    let here = format!("{}/", back.display());

    let dry = copied(&lab, &[&source, SHARE, "--dry-run"]);
    assert_eq!(dry["files"], 105, "{dry}");
    assert_eq!(lab.files_of_the_share(), "");
    let up = copied(&lab, &[&source, SHARE, "--verify"]);
    assert_eq!((&up["files"], &up["verified"]), (&105.into(), &105.into()));
    let hidden = lab.files_of_the_share();
    let hidden: Vec<&str> = hidden.lines().filter(|line| line.contains("H ")).collect();
    assert!(hidden.is_empty(), "names of parts made {hidden:?} hidden");
    let down = copied(&lab, &[&format!("{SHARE}/tree"), &here]);
    assert_eq!(down["files"], 105, "{down}");
    assert_eq!(facts(&back.join("tree")), facts(&tree));

    // The same again copies nothing; asked for nothing, it replaces nothing.
    let again = copied(&lab, &[&source, SHARE, "--update"]);
    assert_eq!(
        (&again["files"], &again["unchanged"]),
        (&0.into(), &105.into())
    );
    let refused = copy(&lab, &[&source, SHARE]).assert().code(1);
    refused.stderr(predicate::str::contains("exists already"));

    // What changed is copied, and what went is removed where that is asked for.
    write(&tree.join("a.txt"), 11, 1_700_000_000);
    fs::remove_file(tree.join("empty")).expect("our own file");
    fs::remove_dir_all(tree.join("many")).expect("our own folder");
    let content = format!("{source}/");
    let there = format!("{SHARE}/tree");
    let filtered = [&content, &there, "--update", "--delete", "--exclude", "em*"];
    let kept = copied(&lab, &filtered);
    // What the filter leaves out is not removed either, nor a folder that may hold such.
    assert_eq!(
        (&kept["files"], &kept["deleted"], &kept["kept"]),
        (&1.into(), &0.into(), &1.into()),
        "{kept}"
    );
    let nothing = copy(&lab, &[&content, &there, "--exclude", ""]).assert();
    nothing.code(64);
    let removed = copied(&lab, &[&content, &there, "--update", "--delete"]);
    assert_eq!(
        (&removed["files"], &removed["deleted"]),
        (&0.into(), &2.into()),
        "{removed}"
    );
    let down = copied(&lab, &[&there, &here, "--update", "--delete"]);
    assert_eq!(down["failed"], 0, "{down}");
    let texts = copied(
        &lab,
        &[&there, &here, "--dry-run", "--force", "--include", "*.txt"],
    );
    assert_eq!(texts["files"], 2, "{texts}");
    let names = |folder: &Path| -> Vec<String> {
        let facts = facts(folder).into_iter();
        facts.filter(|line| !line.contains(" d ")).collect()
    };
    assert_eq!(names(&back.join("tree")), names(&tree));
    check_ls(&lab);
    check_copies_on_the_server(&lab);
    check_one_server_under_two_names(&lab);
}

/// What is on one server stays there, and is the same afterwards.
fn check_copies_on_the_server(lab: &Lab) {
    let from = format!("{SHARE}/tree/deep");
    let said = copied(lab, &[&from, &format!("{SHARE}/twin/"), "--verify"]);
    assert_eq!(said["on_server_bytes"], 9_070_006, "{said}");
    assert_eq!(
        (&said["verified"], &said["not_on_server"]),
        (&3.into(), &Value::Null)
    );
    let quick = copied(lab, &[&from, &format!("{SHARE}/quick/")]);
    assert_eq!(
        quick["on_server_bytes"], 9_000_001,
        "small ones go through here: {quick}"
    );
    let moved: u64 = (quick["channels"].as_array().expect("a list").iter())
        .filter_map(|channel| channel["bytes"].as_u64())
        .sum();
    assert!(moved < 1_000_000, "{quick}");
    // By another name it is another session, between which a server does not copy.
    let other = copied(lab, &[&from, "smb://10.77.2.2/media/other/"]);
    let reason = other["not_on_server"].as_str().expect("a reason");
    assert!(
        reason.contains("two names") && other["on_server_bytes"] == 0,
        "{other}"
    );
    let compare = "cd /run && smbclient -A /run/linerate/credentials //10.77.1.2/media -c \
                   'prompt; recurse; lcd /run; mget tree twin quick other' >&2; \
                   for copy in twin quick other; do diff -r tree/deep $copy/deep || exit 1; done; \
                   rm -r tree twin quick other; echo same";
    assert_eq!(lab.run("client", &["sh", "-c", compare]), "same\n");
}

fn check_ls(lab: &Lab) {
    let shares = listed(lab, "smb://10.77.1.2");
    let names: Vec<_> = (shares["shares"].as_array().expect("a list").iter())
        .map(|share| (share["name"].as_str(), share["kind"].as_str()))
        .collect();
    let expected = [("IPC$", "pipes"), ("media", "files")];
    assert_eq!(names, expected.map(|(name, kind)| (Some(name), Some(kind))));
    let folder = listed(lab, &format!("{SHARE}/tree"));
    let entries = folder["entries"].as_array().expect("a list");
    let names: Vec<_> = entries.iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names, ["a.txt", "deep", "nothing"]);
    assert_eq!(
        (&entries[0]["bytes"], &entries[0]["modified"]),
        (&11.into(), &"2023-11-14T22:13:20Z".into())
    );
    assert_eq!(
        (&entries[0]["kind"], &entries[1]["kind"]),
        (&"file".into(), &"folder".into())
    );
    let text = on_client(lab, &["ls", &format!("{SHARE}/tree/a.txt")]);
    let line = predicate::str::contains("11 bytes  2023-11-14 22:13:20  a.txt");
    { text }.assert().success().stdout(line);
    let nothing = on_client(lab, &["ls", &format!("{SHARE}/nosuch")]).assert();
    nothing.code(65);
}

/// The folder is recognised by what the server numbers it, whatever it is called.
fn check_one_server_under_two_names(lab: &Lab) {
    let before = lab.files_of_the_share();
    let from = format!("{SHARE}/tree");
    for to in [
        "smb://10.77.2.2/media/tree/deep/",
        "smb://10.77.2.2/media/TREE/new",
    ] {
        let refused = copy(lab, &[&from, to]).assert().code(64);
        refused.stderr(predicate::str::contains("copied into itself"));
    }
    let content = format!("{from}/deep/");
    let refused = copy(lab, &[&content, "smb://10.77.2.2/media/tree", "--delete"]).assert();
    refused
        .code(64)
        .stderr(predicate::str::contains("`--delete` would remove"));
    assert_eq!(lab.files_of_the_share(), before);
}

/// Two slow links, so that there is time to interrupt a copy, and a share that fills up.
fn slow_and_small(name: &str) -> Lab {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let topology = folder.path().join("slow.toml");
    let text = fs::read_to_string(lab_and_program::topology()).expect("the example");
    let text = text.replace("1Gbit", "60Mbit").replace("4GiB", "64MiB");
    fs::write(&topology, text).expect("room on the disk");
    Lab::of(name, &topology)
}

/// Begins a copy over one channel, waits until a later run could go on with it, and kills it.
fn begin_and_kill(lab: &Lab, argv: &[&str], signal: &str, has_record: impl Fn() -> bool) {
    let pid = lab.folder().join("pid");
    let script = format!(
        "echo $$ > {}; exec {} copy {} --channels 1",
        pid.display(),
        lab_and_program::path().display(),
        argv.join(" ")
    );
    let mut copying = std::process::Command::new(lab_and_program::path())
        .env("LINERATE_STATE_DIR", lab.folder().join("state"))
        .args(["lab", "run", &lab.host("client"), "--", "sh", "-c", &script])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("linerate starts");
    while !has_record() {
        let ended = copying.try_wait().expect("our own child");
        assert!(
            ended.is_none(),
            "the copy was over before it could be killed"
        );
    }
    let pid = fs::read_to_string(&pid).expect("the shell wrote it");
    lab.run("client", &["kill", signal, pid.trim()]);
    let ended = copying.wait().expect("our own child");
    assert!(!ended.success(), "{ended}");
}

#[test]
fn what_was_interrupted_goes_on_and_a_full_disk_leaves_nothing_that_looks_whole() {
    let lab = slow_and_small("chaos");
    let (there, back) = (lab.folder().join("there.bin"), lab.folder().join("back"));
    write(&there, 60_000_000, 1_500_000_000);
    fs::create_dir(&back).expect("our own folder");
    let source = there.display().to_string();
    let here = format!("{}/", back.display());
    // A record that is only just being written says nothing yet.
    let share = || lab.files_of_the_share();
    let share_has_record = || {
        let files = share();
        let record = files.lines().find(|line| line.contains(".linerate-record"));
        record.is_some_and(|line| line.split_whitespace().nth(2) != Some("0"))
    };
    let back_has_record = || {
        let mut entries = fs::read_dir(&back).expect("our own folder");
        entries.any(|entry| {
            let entry = entry.expect("our own folder");
            let is_record = entry
                .file_name()
                .to_string_lossy()
                .ends_with(".linerate-record");
            is_record && entry.metadata().is_ok_and(|metadata| metadata.len() > 0)
        })
    };

    // Killed without a word on the way there: the server has a part and no file.
    begin_and_kill(&lab, &[&source, SHARE], "-KILL", share_has_record);
    assert!(!share().contains("  there.bin"), "{}", share());
    let locks = || lab.run("server", &["smbstatus", "--locks"]);
    while locks().contains("linerate-part") {}
    let up = copied(&lab, &[&source, SHARE, "--resume"]);
    assert!(up["resumed_bytes"].as_u64() > Some(8_000_000), "{up}");
    assert!(!share().contains("linerate-"), "{}", share());

    // Ctrl-C on the way back.
    let file = format!("{SHARE}/there.bin");
    let names = || -> Vec<String> {
        let entries = fs::read_dir(&back).expect("our own folder");
        entries
            .map(|entry| {
                entry
                    .expect("our own")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect()
    };
    begin_and_kill(&lab, &[&file, &here], "-INT", back_has_record);
    assert!(!names().contains(&"there.bin".to_owned()), "{:?}", names());
    let down = copied(&lab, &[&file, &here, "--resume"]);
    assert!(down["resumed_bytes"].as_u64() > Some(8_000_000), "{down}");
    assert_eq!(names(), ["there.bin"]);
    assert!(
        fs::read(back.join("there.bin")).ok() == fs::read(&there).ok(),
        "it differs"
    );

    // The share has 64 MiB, of which little is left.
    let full = lab.folder().join("full");
    write(&full.join("a"), 1_000_000, 1_600_000_000);
    write(&full.join("b"), 20_000_000, 1_600_000_000);
    let before = share();
    let refused = copy(&lab, &[&full.display().to_string(), SHARE])
        .assert()
        .code(65);
    refused
        .stderr(predicate::str::contains("no space is left"))
        .stderr(predicate::str::contains("copied before it ended: "))
        .stderr(predicate::str::contains(" of 2 files found"));
    let after = share();
    assert!(
        !after.contains("linerate-") && !after.contains("  b "),
        "{before}\n{after}"
    );
}

/// The paths of a list of `copy --json`.
fn paths<'a>(said: &'a Value, list: &str) -> Vec<&'a str> {
    let entries = said[list].as_array().expect("a list").iter();
    entries
        .map(|entry| entry["path"].as_str().expect("a path"))
        .collect()
}

/// What `--json` says of a copy that does not get all there.
fn not_all_copied(lab: &Lab, argv: &[&str]) -> Value {
    let said = copy(lab, argv).arg("--json").assert().code(1);
    lab_and_program::json("copy", &said.get_output().stdout)
}

#[test]
fn what_cannot_be_copied_as_it_is_has_its_name_said() {
    let lab = Lab::up("said");
    check_sources_of_one_name(&lab);
    check_removal_beside_an_obstacle(&lab);
    check_times_beyond_smb(&lab);
    check_links_called_as_parts(&lab);
    check_a_source_that_changes_on_its_server(&lab);
}

/// Of two sources that go to one name one is copied, and the other is named.
fn check_sources_of_one_name(lab: &Lab) {
    let sources = ["one", "two"].map(|name| lab.folder().join(name));
    for (source, bytes) in sources.iter().zip([1000, 2000]) {
        write(&source.join("same"), bytes, 1_500_000_000);
        write(&source.join("in/SAME"), bytes, 1_500_000_000);
        write(&source.join(bytes.to_string()), 1, 1_500_000_000);
    }
    let file = |name: &str| {
        sources
            .each_ref()
            .map(|it| it.join(name).display().to_string())
    };
    let [one, two] = file("same");
    let there = format!("{SHARE}/files/");
    let said = not_all_copied(lab, &[&one, &two, &there, "--force"]);
    assert_eq!((&said["files"], &said["failed"]), (&1.into(), &1.into()));
    assert_eq!(paths(&said, "failures"), ["same"], "{said}");
    let [one, two] = file("");
    let there = format!("{SHARE}/merged/");
    for existing in ["--force", "--update"] {
        let said = not_all_copied(lab, &[&one, &two, &there, existing]);
        let mut failed = paths(&said, "failures");
        failed.sort_unstable();
        assert_eq!(failed, ["in/SAME", "same"], "{said}");
        let done = |key: &str| said[key].as_u64().expect("a count");
        assert_eq!(done("files") + done("unchanged"), 4, "{said}");
    }
    let [inner, other] = [&file("in")[0], &sources[1].display().to_string()];
    let apart = copied(lab, &[inner, other, &format!("{SHARE}/apart/"), "--force"]);
    assert_eq!(apart["files"], 4, "{apart}");
}

/// From a folder in which something could not be copied nothing is removed.
fn check_removal_beside_an_obstacle(lab: &Lab) {
    let source = lab.folder().join("obstacle");
    write(&source.join("a/inner"), 10, 1_500_000_000);
    let content = format!("{}/", source.display());
    let there = format!("{SHARE}/obstacle");
    let server = "mkdir /run/linerate/shares/media/obstacle && cd /run/linerate/shares/media/obstacle && \
                  touch a extra && chmod -R 777 .";
    lab.run("server", &["sh", "-c", server]);
    let argv = [&*content, &there, "--update", "--delete"];
    let said = not_all_copied(lab, &argv);
    assert_eq!(paths(&said, "failures"), ["a"], "{said}");
    assert_eq!((&said["deleted"], &said["kept"]), (&0.into(), &1.into()));
    let files = lab.files_of_the_share();
    assert!(files.contains("  extra "), "{files}");
}

fn check_times_beyond_smb(lab: &Lab) {
    let touch = "mkdir /dev/shm/times && cd /dev/shm/times && echo old > old && echo now > now && \
                 touch -d 1500-01-01 old";
    lab.run("client", &["sh", "-c", touch]);
    let said = not_all_copied(lab, &["/dev/shm/times", SHARE]);
    assert_eq!((&said["files"], &said["not_kept"]), (&2.into(), &1.into()));
    assert_eq!(paths(&said, "without"), ["old"], "{said}");
    // The file system of this machine's disk ends before the year 3000.
    let touch = "cd /run/linerate/shares/media && mkdir late && touch -d 3000-01-01 late/film";
    lab.run("server", &["sh", "-c", touch]);
    let here = format!("{}/", lab.folder().display());
    let said = not_all_copied(lab, &[&format!("{SHARE}/late"), &here]);
    assert_eq!((&said["files"], &said["not_kept"]), (&1.into(), &1.into()));
    assert_eq!(paths(&said, "without"), ["film"], "{said}");
}

/// A server follows its own links. One that somebody put where a part will be is not written through.
fn check_links_called_as_parts(lab: &Lab) {
    const PART: &str = "~film.6490cf99.linerate-part";
    let there = format!("{SHARE}/links/");
    for bytes in [1000, 100_000, 400_000] {
        write(&lab.folder().join("film"), bytes, 1_500_000_000);
        let film = lab.folder().join("film").display().to_string();
        for link in ["ln -s", "ln"] {
            let plant = format!(
                "cd /run/linerate/shares/media && rm -rf links victim && mkdir links && \
                 chmod 777 links && echo precious > victim && chmod 666 victim && \
                 echo old > links/film && chmod 666 links/film && \
                 {link} \"$PWD/victim\" 'links/{PART}'"
            );
            lab.run("server", &["sh", "-c", &plant]);
            let said = copied(lab, &[&film, &there, "--force"]);
            assert_eq!(said["files"], 1, "{bytes}, {link}: {said}");
            let look = "cd /run/linerate/shares/media && cat victim && stat -c '%n %s %F' links/*";
            let found = lab.run("server", &["sh", "-c", look]);
            let expected = format!("precious\nlinks/film {bytes} regular file\n");
            assert_eq!(found, expected, "{link}");
        }
    }
}

/// A file that its server copies by itself, while somebody writes to it there: whether that is seen by its times or by
/// what is read back, it is the source that changed.
fn check_a_source_that_changes_on_its_server(lab: &Lab) {
    let write = "cd /run/linerate/shares/media && head -c 50000000 /dev/urandom > busy && \
                 chmod 777 busy && (while test -e busy; do \
                 head -c 64 /dev/urandom | dd of=busy conv=notrunc,nocreat bs=64 seek=7000; done) \
                 > /dev/null 2>&1 &";
    lab.run("server", &["sh", "-c", write]);
    let from = format!("{SHARE}/busy");
    let to = format!("{SHARE}/copy");
    for _ in 0..5 {
        copy(lab, &[&from, &to, "--verify"])
            .assert()
            .code(65)
            .stderr(predicate::str::contains("changed while it was copied"));
    }
    let files = lab.files_of_the_share();
    assert!(!files.contains("  copy "), "{files}");
    lab.run("server", &["rm", "/run/linerate/shares/media/busy"]);
}
