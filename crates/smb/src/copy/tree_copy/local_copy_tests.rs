//! Copies within this machine.

use super::*;
use crate::copy::local_files;

#[cfg(all(test, unix))]
#[test]
fn links_are_left_out_or_followed_but_never_in_a_circle() {
    use std::fs;
    use std::os::unix::fs::symlink;

    use crate::copy::place::Links;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, outside) = (folder.path().join("source"), folder.path().join("outside"));
    fs::create_dir_all(source.join("deep")).expect("our own folder");
    fs::create_dir(&outside).expect("our own folder");
    fs::write(outside.join("file"), "there").expect("room on the disk");
    for (target, link) in [
        (outside.join("file"), source.join("to-file")),
        (outside.clone(), source.join("to-folder")),
        (source.clone(), source.join("deep/up")),
        (source.join("deep"), outside.join("back")),
        (folder.path().join("nowhere"), source.join("dangling")),
    ] {
        symlink(target, link).expect("our own folder");
    }
    let copy = |links, to: &str| {
        let job = Job {
            sources: vec![super::super::Source {
                place: Place::Local(source.clone()),
                content: true,
                name: None,
            }],
            destination: Place::Local(folder.path().join(to)),
            into: true,
            options: Options {
                links,
                ..Options::default()
            },
        };
        run(&job, &Progress::default(), &Stop::new(), &|_| {})
    };
    let skipped = copy(Links::Skip, "skipped");
    assert_eq!(
        (skipped.files, skipped.skipped, skipped.failed),
        (0, 3 + 1, 0)
    );
    let followed = copy(Links::Follow, "followed");
    // `deep/up` and `to-folder/back/up` lead back; `dangling` leads nowhere.
    let failed: Vec<&str> = (followed.failures.iter())
        .map(|it| it.path.as_str())
        .collect();
    assert_eq!((followed.files, followed.skipped), (2, 1), "{failed:?}");
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert!(failed.iter().all(|path| path.ends_with("up")), "{failed:?}");
    let copied = fs::read(folder.path().join("followed/to-folder/file"));
    assert_eq!(copied.expect("it was copied"), b"there");
}

#[test]
fn what_is_called_as_an_unfinished_copy_is_left_out_and_counted() {
    use std::fs;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, to) = (folder.path().join("source"), folder.path().join("to"));
    let inside = source.join(name::of_part("folder"));
    fs::create_dir_all(&inside).expect("our own folder");
    for file in [
        source.join(name::of_part("film")),
        source.join(name::of_record("film")),
        source.join("~film.linerate-part"),
        inside.join("file"),
    ] {
        fs::write(file, "content").expect("room on the disk");
    }
    let job = Job {
        sources: vec![super::super::Source {
            place: Place::Local(source),
            content: true,
            name: None,
        }],
        destination: Place::Local(to.clone()),
        into: true,
        options: Options::default(),
    };
    let copied = run(&job, &Progress::default(), &Stop::new(), &|_| {});
    assert_eq!((copied.files, copied.unfinished, copied.failed), (2, 2, 0));
    // No folder is a part.
    assert!(to.join(name::of_part("folder")).join("file").is_file());
}

#[test]
fn a_source_that_changes_is_noticed() {
    use std::io::Write as _;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("file");
    std::fs::write(&path, "before").expect("room on the disk");
    let changed = |result| matches!(result, Err(Error::Changed { .. }));
    let source = local_files::Source::open(&path).expect("our own file");
    assert_eq!(source.read_whole().expect("it did not change"), b"before");
    let mut longer = std::fs::File::options()
        .append(true)
        .open(&path)
        .expect("our own");
    longer.write_all(b" and after").expect("room on the disk");
    assert!(changed(source.check_unchanged()));
    assert!(changed(source.read_whole().map(drop)));
    let source = local_files::Source::open(&path).expect("our own file");
    longer.set_len(3).expect("our own file");
    assert!(changed(source.read_whole().map(drop)), "it became shorter");
    // Of the same length, but written again.
    let source = local_files::Source::open(&path).expect("our own file");
    longer
        .set_modified(std::time::UNIX_EPOCH)
        .expect("our own file");
    assert!(changed(source.check_unchanged()));
    // Of the same length, and its time set back to what it was.
    let before = std::fs::metadata(&path).and_then(|metadata| metadata.modified());
    let before = before.expect("our own file");
    let source = local_files::Source::open(&path).expect("our own file");
    std::fs::write(&path, "aft").expect("room on the disk");
    longer.set_modified(before).expect("our own file");
    assert!(changed(source.check_unchanged()));
}
