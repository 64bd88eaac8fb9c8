//! What stands in a journal: that of earlier versions is put back, that of strangers is refused, and what
//! is run comes from the catalogue alone.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use host::change::{Change, UndoMode};
use host::journal::{Journal, list_open};
use host::knob::KNOBS;
use host::{Error, Host};
use record::{Setting, Value};
use rustix::fs::{CWD, Mode};
use tempfile::TempDir;

use crate::simulated_linux_host::Model;

/// The number of a user without rights.
const STRANGER: u32 = 65_534;
/// What an attacker does to a file or folder.
type Attack<'a> = &'a dyn Fn(&Path);
/// The change of all hostile files.
const ID: &str = "7-beef";

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// A journal with one file in it.
fn journal_of(id: &str, text: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    drop(Journal::open(folder.path(), "test").unwrap());
    fs::write(file(&folder, id), text).unwrap();
    folder
}

fn file(folder: &TempDir, id: &str) -> PathBuf {
    folder.path().join(format!("open/{id}.jsonl"))
}

/// Makes a change and puts it back from what its file says, in a journal that was opened anew.
pub(crate) fn restore_from_journal(host: &Host, settings: &[Setting]) {
    let folder = tempfile::tempdir().unwrap();
    let change = Change::plan(std::slice::from_ref(host), settings, "test").unwrap();
    let journal = Journal::open(folder.path(), "test").unwrap();
    let mut open = journal.begin(change).unwrap();
    open.apply().unwrap();
    let id = open.keep().unwrap();
    drop(journal);
    let text = fs::read_to_string(file(&folder, &id)).unwrap();
    assert!(!text.contains("argv") && !text.contains("\"sh\""), "{text}");
    undo(&folder, host);
}

/// Makes the settings of a file of an earlier version, and puts them back from that file.
pub(crate) fn restore_from_version_1(host: &Host, name: &str) {
    let text = fs::read(tests().join(format!("journals/{name}.jsonl"))).unwrap();
    let written: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(written["version"], 1);
    let items = written["items"].as_array().unwrap();
    let settings = items.iter().map(|item| Setting::Knob {
        host: host.name.clone(),
        target: serde_json::from_value(item["target"].clone()).unwrap(),
        id: serde_json::from_value(item["knob"].clone()).unwrap(),
        value: serde_json::from_value(item["after"].clone()).unwrap(),
    });
    let settings: Vec<Setting> = settings.collect();
    let other = tempfile::tempdir().unwrap();
    let change = Change::plan(std::slice::from_ref(host), &settings, "test").unwrap();
    let mut open = Journal::open(other.path(), "test")
        .unwrap()
        .begin(change)
        .unwrap();
    open.apply().unwrap();
    open.keep().unwrap();
    let folder = journal_of(written["id"].as_str().unwrap(), &text);
    let undone = undo(&folder, host);
    assert_eq!(undone, items.len());
}

/// Puts all of it back; gives how many settings were.
fn undo(folder: &TempDir, host: &Host) -> usize {
    let listing = list_open(folder.path()).unwrap();
    assert!(listing.damaged.is_empty(), "{:?}", listing.damaged);
    let journal = Journal::open(folder.path(), "test").unwrap();
    let undone = journal.undo(None, UndoMode::Ours, &|_| Ok(host.clone()));
    let undone = undone.unwrap();
    assert!(undone.len() == 1 && undone[0].closed, "{undone:#?}");
    undone[0].reports.len()
}

#[test]
fn journals_of_the_first_version_put_back_what_they_hold() {
    for manager in ["ifupdown", "netplan", "networkmanager", "udev"] {
        let model = Model::new("one");
        model.with(|machine| {
            machine.manager = match manager {
                "ifupdown" => "manager ifupdown\n",
                "netplan" => "manager netplan\n",
                "networkmanager" => "manager networkmanager 1234\n",
                _ => {
                    "manager udev\npath pci-0000:02:00.0\nlink /usr/lib/systemd/network/99-default.link\n"
                }
            };
        });
        let before = model.now();
        restore_from_version_1(&model.host(), &format!("linux-{manager}"));
        assert_eq!(model.now(), before, "{manager}");
    }
}

/// The name that Samba's signing had for a day; a program that does not know it would leave a host changed.
#[test]
fn a_knob_that_was_renamed_is_still_known() {
    let model = Model::new("one");
    let host = model.host();
    let mut lines = serde_json::json!({
        "format": "linerate-change", "version": 1, "id": ID, "run": "run-1",
        "opened": "2026-11-20T00:00:00Z",
        "hosts": [{ "name": "one", "system": "linux", "machine_id": "machine-of-one", "boot_id": "boot-1" }],
        "items": [], "snapshot": [],
    });
    let mut add = |knob: &str, before: Value, after: Value| {
        let place = |mut entry: serde_json::Value| {
            entry["host"] = "one".into();
            entry["target"] = "host".into();
            entry["knob"] = knob.into();
            entry
        };
        let item = serde_json::json!({ "before": before, "after": after, "steps": [] });
        lines["items"].as_array_mut().unwrap().push(place(item));
        let entry = serde_json::json!({ "value": before });
        lines["snapshot"].as_array_mut().unwrap().push(place(entry));
    };
    let text = |word: &str| Value::Text(word.into());
    add("smb.server.signing", text("default"), text("default"));
    add("tcp.congestion_control", text("cubic"), text("reno"));
    model.with(|machine| machine.congestion_control = "reno".into());
    let folder = journal_of(ID, format!("{lines}\n").as_bytes());
    undo(&folder, &host);
    assert_eq!(model.now().congestion_control, "cubic");
}

/// Every id that a journal may hold, with its system and what it belongs to. Lines are only ever added:
/// what a change was made with can be undone by all later versions.
const EVER: &str = include_str!("../journals/ids.txt");

#[test]
fn every_id_that_ever_stood_in_a_journal_is_known_to_undo() {
    let mut systems: BTreeMap<&str, Vec<serde_json::Value>> = BTreeMap::new();
    for line in EVER.lines() {
        let [system, on, id] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let target = match on {
            "host" => serde_json::json!("host"),
            "mount" => serde_json::json!({ "mount": "/mnt" }),
            on => serde_json::json!({ on: "a0" }),
        };
        let item = serde_json::json!({ "host": "one", "target": target, "knob": id,
            "before": "unset", "after": "unset", "value": "unset" });
        systems.entry(system).or_default().push(item);
    }
    assert_eq!(systems.len(), 3);
    for (system, items) in systems {
        // Under its old name and under its new one, it is the same knob.
        for item in &items {
            let change = serde_json::json!({
                "format": "linerate-change", "version": 2, "id": ID, "run": "run-1",
                "opened": "2026-11-20T00:00:00Z", "items": [item], "snapshot": [item],
                "hosts": [{ "name": "one", "system": system, "machine_id": null, "boot_id": null }],
            });
            let folder = journal_of(ID, format!("{change}\n").as_bytes());
            let listing = list_open(folder.path()).unwrap();
            assert!(listing.damaged.is_empty(), "{:?}", listing.damaged);
            assert_eq!(listing.open[0].settings.len(), 1);
        }
    }
    for knob in KNOBS.iter().filter(|knob| !knob.only_in_snapshots) {
        let system = format!("{:?}", knob.system).to_lowercase();
        let twin = format!("{}.at_start", knob.id);
        let twin = host::knob::find(knob.system, &twin).map(|twin| twin.id);
        for id in [Some(knob.id), twin].into_iter().flatten() {
            let is_listed = EVER.lines().any(|line| {
                line.starts_with(&format!("{system} ")) && line.ends_with(&format!(" {id}"))
            });
            assert!(is_listed, "add `{system} ... {id}` to `ids.txt`");
        }
    }
}

/// Each file of the folder, and the refusal that it gets.
fn hostile() -> Vec<(String, Vec<u8>, String)> {
    let folder = tests().join("hostile");
    let refusals = fs::read_to_string(folder.join("refusals.toml")).unwrap();
    let mut refusals: BTreeMap<String, String> = toml::from_str(&refusals).unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_some_and(|end| end == "jsonl") {
            let refusal = refusals.remove(&name);
            let refusal = refusal.unwrap_or_else(|| panic!("no refusal for `{name}`"));
            files.push((name, fs::read(&path).unwrap(), refusal));
        }
    }
    assert!(refusals.is_empty(), "no file for {refusals:?}");
    files
}

/// A host as it is after the change of which nearly all hostile files speak.
fn changed() -> Model {
    let model = Model::new("one");
    model.with(|machine| {
        machine.nics.get_mut("a0").unwrap().mtu = 9000;
        machine.congestion_control = "reno".into();
    });
    model
}

#[test]
fn hostile_journals_are_refused_by_line_and_reason_and_nothing_of_them_runs() {
    let files = hostile();
    assert!(files.len() >= 40, "{}", files.len());
    for (name, text, refusal) in files {
        let model = changed();
        let before = model.now();
        let folder = journal_of(ID, &text);
        let reason = |error: &Error| match error {
            Error::JournalDamaged { reason, .. } => crate::english(reason),
            other => panic!("{name}: {other:?}"),
        };
        let listing = list_open(folder.path()).unwrap();
        assert!(listing.open.is_empty(), "{name}");
        assert_eq!(reason(&listing.damaged[0]), refusal, "{name}");
        assert!(crate::hint(&listing.damaged[0]).starts_with("nothing of it was run"));
        for mode in [UndoMode::DryRun, UndoMode::Ours, UndoMode::Force] {
            let journal = Journal::open(folder.path(), "undo").unwrap();
            let asked = |host: &record::HostName| panic!("{name}: `{host}` was asked for");
            let error = journal.undo(None, mode, &asked).unwrap_err();
            assert_eq!(reason(&error), refusal, "{name}");
            let error = journal.undo(Some(ID), mode, &asked).unwrap_err();
            assert_eq!(reason(&error), refusal, "{name}");
        }
        assert!(model.writes.lock().unwrap().is_empty(), "{name}");
        assert_eq!(model.now(), before, "{name}");
        assert_eq!(fs::read(file(&folder, ID)).unwrap(), text, "{name}");
        assert!(!Path::new("/tmp/owned").exists(), "{name}");
    }
}

/// What the hostile files are made of, without what makes them hostile.
const HONEST: &str = r#"{"format":"linerate-change","version":2,"id":"7-beef","run":"run-1","opened":"2026-11-24T02:46:57Z","hosts":[{"name":"one","system":"linux","machine_id":"machine-of-one","boot_id":"boot-1"}],"items":[{"host":"one","target":{"nic":"a0"},"knob":"nic.mtu","before":{"integer":1500},"after":{"integer":9000}}],"snapshot":[{"host":"one","target":{"nic":"a0"},"knob":"nic.mtu","value":{"integer":1500}}]}
"#;

#[test]
fn an_honest_file_is_undone_by_the_command_of_its_knob_alone() {
    let model = changed();
    let folder = journal_of(ID, HONEST.as_bytes());
    undo(&folder, &model.host());
    assert_eq!(
        *model.writes.lock().unwrap(),
        ["ip link set dev a0 mtu 1500"]
    );
}

#[test]
fn a_line_that_is_too_long_is_refused_and_one_that_is_torn_is_not() {
    let long = "x".repeat(5 << 20);
    for (text, line) in [
        (format!("{long}\n"), 1),
        (format!("{HONEST}{{\"mark\":\"kept\"}}\n{long}\n"), 3),
    ] {
        let folder = journal_of(ID, text.as_bytes());
        let listing = list_open(folder.path()).unwrap();
        let error = listing.damaged[0].to_string();
        assert!(
            error.ends_with(&format!("line {line} is longer than 1 MiB")),
            "{error}"
        );
    }
    // Torn by a crash; by a full disk, with the next line right behind; and of a kind to come.
    for later in [
        "{\"mark\":\"app",
        "{\"mark\":\"applied\",\"snaps{\"mark\":\"kept\"}\n",
        "{\"mark\":\"blessed\",\"by\":[1]}\n{\"mark\":\"kept\"}\n",
    ] {
        let model = changed();
        let folder = journal_of(ID, format!("{HONEST}{later}").as_bytes());
        let kept = list_open(folder.path()).unwrap().open[0].kept;
        assert_eq!(kept, later.contains("kept"), "{later}");
        undo(&folder, &model.host());
        assert_eq!(model.now().nics["a0"].mtu, 1500, "{later}");
    }
}

/// What others can do to the files of a journal, and what is said of it.
#[test]
fn a_file_that_others_could_have_written_is_refused() {
    let folder = || journal_of(ID, HONEST.as_bytes());
    let set_mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    let attacks: [(Attack<'_>, &str); 7] = [
        (&|path| set_mode(path, 0o664), "error-os.written-by-group"),
        (
            &|path| set_mode(path, 0o646),
            "error-os.written-by-everybody",
        ),
        (
            &|path| chown(path, Some(STRANGER), None).unwrap(),
            "error-os.other-owner",
        ),
        (
            &|path| fs::hard_link(path, path.with_extension("other")).unwrap(),
            "error-os.hard-link",
        ),
        (
            &|path| {
                fs::rename(path, path.with_extension("other")).unwrap();
                symlink(path.with_extension("other"), path).unwrap();
            },
            "error-os.link-not-followed",
        ),
        (
            &|path| {
                fs::remove_file(path).unwrap();
                rustix::fs::mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap();
            },
            "error-os.not-regular",
        ),
        (
            &|path| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            },
            "error-os.folder",
        ),
    ];
    for (attack, expected) in attacks {
        let folder = folder();
        attack(&file(&folder, ID));
        let listing = list_open(folder.path()).unwrap();
        let journal = Journal::open(folder.path(), "undo").unwrap();
        let undone = journal.undo(None, UndoMode::Force, &|_| panic!("{expected}"));
        for error in [&listing.damaged[0], &undone.unwrap_err()] {
            let Error::JournalDamaged { reason, hint, .. } = error else {
                panic!("{error:?}");
            };
            assert!(reason.id == expected && hint.is_some(), "{reason:?}");
        }
    }
}

/// The lock of a state folder that another user prepared, for root to truncate what it leads to.
#[test]
fn a_lock_or_a_folder_that_others_have_prepared_is_refused_and_nothing_is_truncated() {
    let victim = tempfile::NamedTempFile::new().unwrap();
    fs::write(victim.path(), "precious").unwrap();
    let fifo = |path: &Path| rustix::fs::mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap();
    let attacks: [(Attack<'_>, &str); 8] = [
        (
            &|state| symlink(victim.path(), state.join("lock")).unwrap(),
            "is a symbolic link",
        ),
        (
            &|state| fs::hard_link(victim.path(), state.join("lock")).unwrap(),
            "by a hard link",
        ),
        (&|state| fifo(&state.join("lock")), "is no regular file"),
        (
            &|state| {
                fs::write(state.join("lock"), "precious").unwrap();
                chown(state.join("lock"), Some(STRANGER), None).unwrap();
            },
            "belongs to the user with the number 65534",
        ),
        (
            &|state| chown(state, Some(STRANGER), None).unwrap(),
            "belongs to the user with the number 65534",
        ),
        (
            &|state| chown(state.parent().unwrap(), Some(STRANGER), None).unwrap(),
            "belongs to the user with the number 65534",
        ),
        (
            &|state| fs::set_permissions(state, Permissions::from_mode(0o775)).unwrap(),
            "can be written by its group",
        ),
        (
            &|state| {
                fs::create_dir(state.join("elsewhere")).unwrap();
                symlink("elsewhere", state.join("open")).unwrap();
            },
            "is a symbolic link",
        ),
    ];
    for (attack, expected) in attacks {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        fs::create_dir(&state).unwrap();
        attack(&state);
        let error = Journal::open(&state, "undo").unwrap_err();
        let Error::State { source } = &error else {
            panic!("{error:?}");
        };
        assert!(
            source.to_string().contains(expected),
            "{source}: {expected}"
        );
        assert!(error.hint().is_some());
        assert_eq!(fs::read_to_string(victim.path()).unwrap(), "precious");
        if let Ok(there) = fs::metadata(state.join("lock"))
            && there.is_file()
        {
            assert_eq!(fs::read_to_string(state.join("lock")).unwrap(), "precious");
        }
    }
}

/// Nothing is believed of a folder of another user, and it is only spoken of where something is in it.
#[test]
fn the_journal_of_another_user_is_named_and_not_read() {
    let folder = journal_of(ID, HONEST.as_bytes());
    chown(folder.path(), Some(STRANGER), None).unwrap();
    let listing = list_open(folder.path()).unwrap();
    assert!(listing.open.is_empty() && matches!(listing.damaged[0], Error::State { .. }));
    fs::remove_file(file(&folder, ID)).unwrap();
    assert!(list_open(folder.path()).unwrap().damaged.is_empty());
}
