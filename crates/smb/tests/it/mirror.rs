//! Copies that remove what the source does not have.

use std::fs;
use std::iter;
use std::os::unix::fs::symlink;

use smb::copy::{self, Existing, Names, Options, Place, Progress, Summary};
use smb::{Error, Policy, Stop, Tree};

use crate::lan::{Lan, SHARE};
use crate::samba::{connect, job, on, write_pattern};

fn copied(from: Place, tree: &Tree, to: &str, options: Options) -> Summary {
    let job = job(from, on(tree, to), options);
    copy::run(&job, &Progress::default(), &Stop::new(), &|_| {})
}

#[test]
fn nothing_is_removed_that_may_be_of_the_source() {
    // It shows names as they are, also those that no share can have.
    let lan = Lan::new("mangled names = no");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().join("here");
    fs::create_dir_all(here.join("v1")).expect("our own folder");
    for file in ["a:b", "v1/file"] {
        fs::write(here.join(file), file).expect("room on the disk");
    }
    let local = || Place::Local(here.clone());
    let mapped = Options {
        names: Names::Map,
        ..Options::default()
    };
    let first = copied(local(), &tree, "there", mapped);
    assert_eq!((first.files, first.failed), (2, 0), "{first:?}");

    // A link to what stays, which the server shows as a folder, and a folder that is to go.
    symlink("v1", lan.on_server("there/latest")).expect("we are root");
    tree.create_folder("there/old").expect("it can be made");
    write_pattern(&tree, "there/old/file", 1, iter::once(0..1000));
    let names_refused = Options {
        existing: Existing::Update,
        delete: true,
        ..Options::default()
    };
    let second = copied(local(), &tree, "there", names_refused);
    assert_eq!((second.unchanged, second.failed), (1, 1), "{second:?}");
    assert_eq!((second.deleted, second.skipped), (1, 1), "{second:?}");
    let content = |path| fs::read(lan.on_server(path)).expect("it is still there");
    assert_eq!(content("there/a\u{f022}b"), b"a:b");
    assert_eq!(content("there/latest/file"), b"v1/file");
    assert!(!lan.on_server("there/old").exists());

    // Windows would take what follows the colon for another stream of the same file.
    fs::write(lan.on_server("there/v1/x:y"), "").expect("we are root");
    let third = copied(on(&tree, "there/v1"), &tree, "again", Options::default());
    assert_eq!((third.files, third.failed), (1, 1), "{third:?}");
    let failure = &third.failures[0];
    assert!(matches!(failure.error, Error::Name { .. }), "{failure:?}");
    let names = fs::read_dir(lan.on_server("again")).expect("it was made");
    assert_eq!(names.count(), 1);
}
