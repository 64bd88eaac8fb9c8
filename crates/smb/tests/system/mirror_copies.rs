//! Copies that remove what the source does not have.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use smb::copy::{self, Existing, Names, Options, Place, Progress, Summary};
use smb::{Error, Policy, Stop, Tree};

use crate::samba::{connect, job, on, write_pattern};
use crate::samba_lan::{Lan, SHARE};

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

/// What makes a share like its source.
fn mirror() -> Options {
    Options {
        existing: Existing::Update,
        delete: true,
        ..Options::default()
    }
}

/// A file in folders of everybody's.
fn write(path: &Path) {
    let folder = path.parent().expect("it is in a folder");
    let made = folder.ancestors().take_while(|folder| !folder.exists());
    let made: Vec<_> = made.collect();
    fs::create_dir_all(folder).expect("our own folder");
    for folder in made {
        fs::set_permissions(folder, Permissions::from_mode(0o777)).expect("our own folder");
    }
    fs::write(path, "some bytes").expect("room on the disk");
}

#[test]
fn nothing_is_emptied_through_a_link_in_a_folder_that_goes() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().join("here");
    let up = |options| copied(Place::Local(here.clone()), &tree, "top/there", options);
    write(&here.join("kept/file"));
    let first = up(Options::default());
    assert_eq!((first.files, first.failed), (1, 0), "{first:?}");

    // Made by the copy that would empty it.
    write(&here.join("new/file"));
    for path in ["top/there/old/deep/file", "outside/file", "top/beside/file"] {
        write(&lan.on_server(path));
    }
    for (target, link) in [
        ("../../kept", "top/there/old/deep/kept"),
        ("../new", "top/there/old/new"),
        ("../../../outside", "top/there/old/outside"),
        ("../../..", "top/there/old/above"),
        ("../beside", "top/there/beside"),
    ] {
        symlink(target, lan.on_server(link)).expect("we are root");
    }
    let planned = up(Options {
        dry_run: true,
        ..mirror()
    });
    let second = up(mirror());
    assert_eq!((second.files, second.failed), (1, 0), "{second:?}");
    // Neither link to a folder is gone, and so the folder that they are in is not either.
    // What else was in it counts.
    assert_eq!((second.deleted, second.skipped), (1, 5), "{second:?}");
    // The new folder is not there yet, so its link is none to a folder.
    assert_eq!((planned.deleted, planned.skipped), (0, 4), "{planned:?}");
    for path in [
        "top/there/kept/file",
        "top/there/new/file",
        "outside/file",
        "top/beside/file",
    ] {
        assert!(lan.on_server(path).exists(), "{path}");
    }
    assert!(!lan.on_server("top/there/old/deep/file").exists());

    // Without links all of it goes.
    let old = lan.on_server("top/there/old");
    fs::remove_dir_all(&old).expect("we are root");
    write(&old.join("deep/deeper/file"));
    let third = up(mirror());
    assert_eq!((third.deleted, third.failed), (1, 0), "{third:?}");
    assert!(!old.exists());
}

#[test]
fn two_folders_that_are_one_at_the_destination_lose_nothing_to_each_other() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().join("here");
    write(&here.join("one/first"));
    write(&here.join("two/second"));
    write(&lan.on_server("there/one/first"));
    write(&lan.on_server("there/one/second"));
    symlink("one", lan.on_server("there/two")).expect("we are root");
    let summary = copied(Place::Local(here), &tree, "there", mirror());
    assert_eq!((summary.deleted, summary.failed), (0, 0), "{summary:?}");
    for path in ["there/one/first", "there/one/second"] {
        assert!(lan.on_server(path).exists(), "{path}");
    }
}

#[test]
fn what_the_destination_has_under_another_spelling_is_not_removed() {
    // Then Samba finds a file by a short name too, which no listing shows.
    let lan = Lan::new("mangled names = yes");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (long, short) = ("a rather long name.txt", "ADILPW~3.TXT");

    write(&folder.path().join("files").join(short));
    write(&lan.on_server("files").join(long));
    write(&lan.on_server("files/surplus"));
    let files = Place::Local(folder.path().join("files"));
    let summary = copied(files, &tree, "files", mirror());
    assert_eq!((summary.failed, summary.deleted), (1, 0), "{summary:?}");
    assert_eq!(summary.kept, 2, "{summary:?}");
    assert!(lan.on_server("files").join(long).exists());

    write(&folder.path().join("folders").join(short).join("file"));
    write(&lan.on_server("folders").join(long).join("surplus"));
    let folders = Place::Local(folder.path().join("folders"));
    let summary = copied(folders, &tree, "folders", mirror());
    assert_eq!((summary.failed, summary.files), (0, 1), "{summary:?}");
    assert_eq!((summary.deleted, summary.skipped), (1, 1), "{summary:?}");
    let names = fs::read_dir(lan.on_server("folders").join(long)).expect("it is still there");
    let names: Vec<_> = names
        .map(|entry| entry.expect("it can be read").file_name())
        .collect();
    assert_eq!(names, ["file"]);
}

#[test]
fn an_odd_name_is_passed_over_and_nothing_is_removed_beside_it() {
    let lan = Lan::new("mangled names = no");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().join("here");
    for path in ["from/a\\b", "from/file", "from/deep/file"] {
        write(&lan.on_server(path));
    }
    let odd = here.join(OsStr::from_bytes(b"deep/\xFF"));
    for path in [&odd, &here.join("deep/surplus"), &here.join("surplus")] {
        write(path);
    }
    let down = |existing| {
        let options = Options {
            existing,
            delete: true,
            ..Options::default()
        };
        let job = job(on(&tree, "from"), Place::Local(here.clone()), options);
        copy::run(&job, &Progress::default(), &Stop::new(), &|_| {})
    };
    let summary = down(Existing::Refuse);
    assert!(summary.ended_by.is_none(), "{summary:?}");
    assert_eq!((summary.files, summary.failed), (2, 2), "{summary:?}");
    let is_name = |failure: &copy::Failure| matches!(failure.error, Error::Name { .. });
    assert!(summary.failures.iter().all(is_name), "{summary:?}");
    let mut paths: Vec<_> = (summary.failures.iter())
        .map(|failure| failure.path.as_str())
        .collect();
    paths.sort_unstable();
    assert_eq!(paths, ["a\\u{5c}b", "deep/\u{fffd}"]);
    assert_eq!(summary.deleted, 0, "{summary:?}");
    for path in ["surplus", "deep/surplus", "file", "deep/file"] {
        assert!(here.join(path).exists(), "{path}");
    }
    assert!(odd.exists());

    // Without them all goes that is to go.
    fs::remove_file(odd).expect("our own folder");
    fs::remove_file(lan.on_server("from/a\\b")).expect("we are root");
    let summary = down(Existing::Update);
    assert_eq!((summary.deleted, summary.failed), (2, 0), "{summary:?}");
}

#[test]
fn a_link_of_the_server_that_leads_back_is_not_followed() {
    let lan = Lan::new("");
    let session = connect(&lan, &Policy::default());
    let tree = session.tree(SHARE).expect("the share is there");
    write(&lan.on_server("from/file"));
    write(&lan.on_server("from/deep/file"));
    for (target, link) in [
        (".", "from/loop"),
        ("..", "from/deep/up"),
        ("deep", "from/beside"),
    ] {
        symlink(target, lan.on_server(link)).expect("we are root");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for to in [folder.path().to_owned(), folder.path().join("new")] {
        let job = job(on(&tree, "from"), Place::Local(to), Options::default());
        let summary = copy::run(&job, &Progress::default(), &Stop::new(), &|_| {});
        // `loop`, and `up` in `deep` and in the link to it.
        assert_eq!((summary.files, summary.failed), (3, 3), "{summary:?}");
        let is_loop = |failure: &copy::Failure| matches!(failure.error, Error::NotCopied { .. });
        assert!(summary.failures.iter().all(is_loop), "{summary:?}");
    }
}
