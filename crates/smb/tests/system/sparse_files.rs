//! Files with holes, which are neither read nor sent.

use std::fs::File;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use smb::copy::{self, Options, Place, Progress};
use smb::{Policy, Session, Stop};

use crate::byte_pattern;
use crate::samba::{connect, job, on};
use crate::samba_lan::{Lan, SHARE};

const MIB: u64 = 1 << 20;
/// More than the share has room for.
const BYTES: u64 = 600 * MIB + 17;
/// What is in it: most of it is not.
const DATA: [(u64, u64); 4] = [
    (0, MIB),
    (20 * MIB, 64 << 10),
    (20 * MIB + (68 << 10), 64 << 10),
    (300 * MIB, 3 * MIB),
];

fn write(path: &Path) {
    let file = File::create(path).expect("the folder is ours");
    file.set_len(BYTES).expect("it takes no room");
    for (offset, bytes) in DATA {
        let mut content = vec![0; bytes as usize];
        byte_pattern::fill(offset, 0, &mut content);
        file.write_all_at(&content, offset).expect("there is room");
    }
}

/// It is what it should be, and takes little more room than what is in it.
fn check(path: &Path) {
    let file = File::open(path).expect("it was copied");
    let facts = file.metadata().expect("it is open");
    assert_eq!(facts.len(), BYTES);
    let room = facts.blocks() * 512;
    assert!(room < 6 * MIB, "{} takes {room} bytes", path.display());
    for (offset, bytes) in DATA {
        let mut content = vec![0; bytes as usize];
        file.read_exact_at(&mut content, offset)
            .expect("it is there");
        assert_eq!(byte_pattern::difference(offset, 0, &content), None);
    }
}

fn copied(from: Place, to: Place) -> copy::Summary {
    let job = job(from, to, Options::default());
    let progress = Progress::default();
    let summary = copy::run(&job, &progress, &Stop::new(), &|_| {});
    assert_eq!((summary.files, summary.failed), (1, 0), "{summary:?}");
    assert_eq!(summary.bytes, BYTES);
    assert_eq!(progress.moved(), BYTES, "holes count as moved");
    summary
}

fn moved(session: &Session) -> u64 {
    let channels = session.channels().into_iter();
    channels
        .map(|channel| channel.bytes_received + channel.bytes_sent)
        .sum()
}

#[test]
fn holes_are_neither_read_nor_sent_and_are_there_again() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (here, back) = (folder.path().join("here"), folder.path().join("back"));
    write(&here);

    copied(Place::Local(here), on(&tree, "there"));
    check(&lan.on_server("there"));
    let sent = moved(&session);
    assert!(sent < 6 * MIB, "{sent} bytes were sent");
    copied(on(&tree, "there"), Place::Local(back.clone()));
    check(&back);
    let both = moved(&session);
    assert!(both < 12 * MIB, "{both} bytes were moved");

    let same = copied(on(&tree, "there"), on(&tree, "on-server"));
    check(&lan.on_server("on-server"));
    assert!(same.on_server_bytes < 6 * MIB, "{same:?}");
    assert_eq!(moved(&session), both, "{same:?}");
    let other = connect(&lan, &Policy::default());
    let through = copied(
        on(&other.tree(SHARE).expect("the share is there"), "there"),
        on(&tree, "through"),
    );
    check(&lan.on_server("through"));
    assert_eq!(through.on_server_bytes, 0);
    assert!(moved(&session) + moved(&other) < both + 12 * MIB);
}

/// More ranges than the server tells in one answer.
#[test]
fn a_file_of_many_holes_is_asked_about_more_than_once() {
    const PAGE: usize = 4096;
    const RANGES: usize = 6000;
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (here, back) = (folder.path().join("here"), folder.path().join("back"));
    let file = File::create(&here).expect("the folder is ours");
    for range in 0..RANGES {
        let offset = 2 * range * PAGE;
        let mut content = [0; PAGE];
        byte_pattern::fill(1, offset as u64, &mut content);
        file.write_all_at(&content, offset as u64)
            .expect("there is room");
    }
    // The last one is at the end.
    let size = 2 * RANGES * PAGE + 300_000;
    file.set_len(size as u64).expect("there is room");
    let copy = |from, to| {
        let verified = Options {
            verify: true,
            ..Options::default()
        };
        let job = job(from, to, verified);
        let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
        assert_eq!((summary.files, summary.verified), (1, 1), "{summary:?}");
    };
    copy(Place::Local(here.clone()), on(&tree, "there"));
    copy(on(&tree, "there"), Place::Local(back.clone()));
    assert!(std::fs::read(here).ok() == std::fs::read(back).ok());
}
