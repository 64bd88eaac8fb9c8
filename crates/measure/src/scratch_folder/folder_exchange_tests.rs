//! Folders of ours beside other users who exchange what is there.

use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;

#[test]
fn what_another_user_has_laid_out_is_neither_followed_nor_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    let name = |end: &str| {
        folder
            .path()
            .join(format!(".linerate-0123456789abcde{end}"))
    };
    std::os::unix::fs::symlink(&victim, name("0.hold")).unwrap();
    let mode = Mode::from_raw_mode(0o666);
    mknodat(CWD, name("1.hold"), FileType::Fifo, mode, 0).unwrap();
    let parent = Place::Local(folder.path().to_owned());
    let scratch = ScratchFolder::make(parent, 1, 1, &Stop::new()).unwrap();
    assert!(scratch.local().is_some_and(Path::exists));
    assert!(!victim.exists(), "it was made through the link");
}

#[test]
fn nothing_of_root_is_given_away_where_another_user_exchanges_folders() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("file"), "x").unwrap();
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    let over = AtomicBool::new(false);
    let (mut given, mut exchanged) = (0, 0);
    thread::scope(|scope| {
        // Whoever owns the folder puts a link in the place of all that appears.
        let swapper = scope.spawn(|| {
            let mut swapped = 0;
            while !over.load(Ordering::Relaxed) {
                for entry in fs::read_dir(&shared).unwrap().flatten() {
                    let name = entry.file_name().into_string().unwrap();
                    let is_new = name.ends_with(FOLDER) && !entry.path().is_symlink();
                    let away = shared.join(format!("moved-{swapped}"));
                    if is_new && fs::rename(entry.path(), away).is_ok() {
                        std::os::unix::fs::symlink(&victim, entry.path()).ok();
                        swapped += 1;
                    }
                }
            }
            swapped
        });
        for _ in 0..500 {
            // It may be found out, which ends the trial.
            let parent = Place::Local(shared.clone());
            let Ok(scratch) = ScratchFolder::make(parent, 1, 1, &Stop::new()) else {
                continue;
            };
            if let Ok(Some(entrance)) = scratch.give() {
                given += 1;
                fs::write(entrance.join("content"), "x").unwrap();
            }
        }
        over.store(true, Ordering::Relaxed);
        exchanged = swapper.join().unwrap();
    });
    assert!(given > 0 && exchanged > 0, "{given} {exchanged}");
    assert_eq!(fs::metadata(&victim).unwrap().uid(), 0);
    let left: Vec<_> = fs::read_dir(&victim).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn files_are_made_used_and_removed_in_the_folder_that_was_made_whatever_has_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["victim", "shared", "shared/inner"] {
        fs::create_dir(path(name)).unwrap();
    }
    fs::write(path("victim/file"), "dear").unwrap();
    // Another user exchanges the folder, or one that it is in.
    for exchanged in ["shared/inner", "shared"] {
        let parent = Place::Local(path("shared/inner"));
        let scratch = ScratchFolder::make(parent, 1, 1, &Stop::new()).unwrap();
        let made = scratch.local().unwrap().file_name().unwrap().to_owned();
        let moved = path("moved");
        let (from, at) = match exchanged {
            "shared" => (path("shared"), moved.join("inner").join(&made)),
            inner => (path(inner).join(&made), moved.clone()),
        };
        fs::rename(&from, &moved).unwrap();
        std::os::unix::fs::symlink(path("victim"), &from).unwrap();
        let nothing = |_: u64, _: &mut [u8]| {};
        let go_on = || ControlFlow::Continue(());
        scratch.create("file").unwrap();
        scratch.write("written", 10, &nothing, &go_on).unwrap();
        scratch.make_folder("tree").unwrap();
        scratch.write("tree/file", 10, &nothing, &go_on).unwrap();
        scratch.open("file").unwrap();
        scratch.read("written", 10, &smb::Stop::new()).unwrap();
        scratch.open_to_lock("file").unwrap().lock(0, 1).unwrap();
        scratch.sync(scratch.top(), None).unwrap();
        scratch.forget().unwrap();
        scratch.list(3).unwrap();
        scratch.remove_file("file").unwrap();
        scratch.remove_folder("tree").unwrap();
        assert!(at.join("written").exists(), "{exchanged}");
        drop(scratch);
        assert!(!at.join("written").exists(), "{exchanged}");
        let left: Vec<_> = fs::read_dir(path("victim")).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{exchanged}: {left:?}");
        assert_eq!(fs::read(path("victim/file")).unwrap(), b"dear");
        fs::remove_file(&from).unwrap();
        match exchanged {
            "shared" => fs::rename(&moved, &from).unwrap(),
            _ => fs::remove_dir(&moved).unwrap(),
        }
    }
}

#[test]
fn a_folder_that_somebody_left_who_was_killed_goes_with_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join(".linerate-0123456789abcdef.files");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("copy"), b"x").unwrap();
    let other = folder.path().join("linerate.files");
    fs::create_dir(&other).unwrap();
    let make = |bytes| {
        let parent = Place::Local(folder.path().to_owned());
        ScratchFolder::make(parent, bytes, 1, &Stop::new())
    };
    let one = make(1).unwrap();
    let is_there = |scratch: &ScratchFolder| scratch.local().is_some_and(Path::exists);
    assert!(!left.exists() && other.exists() && is_there(&one));
    // One that is in use stays.
    let two = make(1).unwrap();
    assert!(is_there(&one) && is_there(&two));
    drop((one, two));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(matches!(make(u64::MAX / 2), Err(Error::NoSpace { .. })));
}
