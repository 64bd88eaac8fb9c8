//! Small files and single operations, which go to a real Samba in chains.

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use smb::{
    EncryptionPolicy, Error, FileTimes, Policy, Replace, SMALL_BYTES_MAX, Session, SigningPolicy,
    SmallFile, Tree,
};

use crate::byte_pattern;
use crate::samba::{add_second_channel, connect};
use crate::samba_lan::{Lan, SHARE};

/// 2020-01-01, in the server's units.
const TIME: u64 = 132_223_104_000_000_000;

pub(crate) fn small(path: &str, seed: u64, bytes: usize) -> SmallFile {
    let mut content = vec![0; bytes];
    byte_pattern::fill(seed, 0, &mut content);
    SmallFile {
        path: path.to_owned(),
        temporary: format!("{path}.part"),
        replace: Replace::Never,
        content: content.into(),
        times: FileTimes {
            write: TIME,
            ..FileTimes::default()
        },
        attributes: 0,
        mode: None,
    }
}

pub(crate) fn check(tree: &Tree, path: &str, seed: u64, bytes: usize) {
    let content = tree.read_small(path).expect("it was written");
    assert_eq!(content.status.size, bytes as u64);
    assert_eq!(content.bytes.len(), bytes.min(SMALL_BYTES_MAX));
    assert_eq!(byte_pattern::difference(seed, 0, &content.bytes), None);
    assert_eq!(content.status.times.write, TIME);
    let status = tree.status(path).expect("it is there");
    // reading it may have changed one of its times
    assert_eq!(status.file_id, content.status.file_id);
    assert_eq!(status.size, content.status.size);
}

fn policies() -> [Policy; 4] {
    let signed = Policy {
        signing: SigningPolicy::Required,
        ..Policy::default()
    };
    let encrypted = Policy {
        encryption: EncryptionPolicy::Required,
        ..Policy::default()
    };
    let old = Policy {
        dialects: vec![smb::Dialect::Smb202],
        ..signed.clone()
    };
    [Policy::default(), signed, encrypted, old]
}

#[test]
fn small_files_come_and_go_whole() {
    let lan = Lan::new("");
    for (seed, policy) in (0..).zip(policies()) {
        let session = connect(&lan, &policy);
        let tree = session.tree(SHARE).expect("the share is there");
        for bytes in [0, 1, 4096, SMALL_BYTES_MAX] {
            let path = format!("small-{seed}-{bytes}");
            tree.write_small(small(&path, seed, bytes))
                .expect("the share can be written");
            check(&tree, &path, seed, bytes);
        }
        let taken = format!("small-{seed}-1");
        match tree.write_small(small(&taken, 99, 2)) {
            Err(Error::AlreadyExists { object, .. }) => assert_eq!(object, taken),
            other => panic!("{other:?}"),
        }
        check(&tree, &taken, seed, 1);
        let instead = SmallFile {
            replace: Replace::Existing,
            ..small(&taken, 99, 2)
        };
        tree.write_small(instead).expect("it may be replaced");
        check(&tree, &taken, 99, 2);
        match tree.read_small("nowhere") {
            Err(Error::NotFound { object, .. }) => assert_eq!(object, "nowhere"),
            other => panic!("{other:?}"),
        }
        assert!(tree.write_small(small("nowhere/x", 1, 1)).is_err());
        let too_large = small("too-large", 1, SMALL_BYTES_MAX + 1);
        assert!(tree.write_small(too_large).is_err());
        let names: Vec<String> = fs::read_dir(lan.on_server(""))
            .expect("the share is a folder")
            .map(|entry| entry.expect("it can be read").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        let parts: Vec<_> = names.iter().filter(|name| name.contains("part")).collect();
        assert!(parts.is_empty(), "{parts:?}");
        assert!(!names.iter().any(|name| name == "too-large"));
    }
}

#[test]
fn operations_do_one_thing_each() {
    let lan = Lan::new("");
    for policy in policies() {
        let session = connect(&lan, &policy);
        let tree = session.tree(SHARE).expect("the share is there");
        tree.create_folder("folder").expect("it is not there yet");
        assert!(matches!(
            tree.create_folder("folder"),
            Err(Error::AlreadyExists { .. })
        ));
        tree.write_small(small("folder/a", 1, 10))
            .expect("the share can be written");
        tree.rename("folder/a", "folder/b", Replace::Never)
            .expect("nothing is in the way");
        assert!(tree.status("folder/a").is_err());
        let times = FileTimes {
            write: TIME + 10_000_000,
            ..FileTimes::default()
        };
        tree.set_basic("folder/b", times, 0)
            .expect("it may be changed");
        let status = tree.status("folder/b").expect("it is there");
        assert_eq!(status.times.write, TIME + 10_000_000);
        assert!(status.file_id != 0 && status.size == 10);
        assert!(tree.remove_folder("folder").is_err(), "it is not empty");
        assert!(tree.remove_file("folder").is_err(), "it is no file");
        tree.remove_file("folder/b").expect("it may be removed");
        tree.remove_folder("folder").expect("it is empty");
        assert!(matches!(
            tree.remove_folder("folder"),
            Err(Error::NotFound { .. })
        ));
    }
}

/// Threads that write and read files of their own; then all are there, and nothing else.
fn many(session: &Session, lan: &Lan, folder: &str, act: impl Fn() + Sync) {
    const THREADS: u64 = 16;
    const FILES: u64 = 40;
    let tree = session.tree(SHARE).expect("the share is there");
    tree.create_folder(folder).expect("it is not there yet");
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (tree, act) = (&tree, &act);
            scope.spawn(move || {
                for file in 0..FILES {
                    let path = format!("{folder}/{thread}-{file}");
                    let bytes = (thread * 997 + file * 31) as usize;
                    tree.write_small(small(&path, thread, bytes))
                        .expect("it is written");
                    if thread == 0 && file == FILES / 2 {
                        act();
                    }
                    check(tree, &path, thread, bytes);
                }
            });
        }
    });
    let there = fs::read_dir(lan.on_server(folder)).expect("it is a folder");
    let whole = there
        .map(|entry| entry.expect("it can be read").file_name())
        .filter(|name| !name.to_string_lossy().contains("part"));
    assert_eq!(whole.count() as u64, THREADS * FILES);
}

#[test]
fn many_small_files_survive_a_lost_channel() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    add_second_channel(&lan, &session);
    many(&session, &lan, "both", || {});
    many(&session, &lan, "one", || {
        let victim = session.channels()[1].local.port().to_string();
        lan.on_client_run(&["ss", "-K", "sport", "=", &victim]);
    });
    assert!(!session.channels()[1].alive);
}

#[test]
fn a_large_folder_is_listed_whole() {
    const ENTRIES: usize = 20_000;
    let lan = Lan::new("");
    let folder = lan.on_server("large");
    fs::create_dir(&folder).expect("the share is a folder");
    let name = |number| format!("an entry with a long name, number {number}");
    for number in 0..ENTRIES {
        fs::File::create(folder.join(name(number))).expect("the folder is there");
    }
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let mut early = tree.entries("large").expect("it is there");
    assert!(early.next().is_some_and(|entry| entry.is_ok()));
    drop(early);
    for channels in 1..=2 {
        assert_eq!(session.channels().len(), channels);
        let entries = tree.entries("large").expect("it is there");
        let names: BTreeSet<String> = entries
            .map(|entry| entry.expect("it can be listed").name)
            .collect();
        assert!(
            names
                .iter()
                .eq(&(0..ENTRIES).map(name).collect::<BTreeSet<_>>())
        );
        if channels == 1 {
            add_second_channel(&lan, &session);
        }
    }
}
