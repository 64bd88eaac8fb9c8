//! POSIX systems.

use std::fs::{File, Metadata};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

use super::{NotOwned, Owner};

/// What every file that this process has open is called by, with its number behind it.
const OPEN_FILES: &str = "/proc/self/fd";
const FOR_OTHERS: u32 = 0o077;
const FOR_OTHERS_TO_WRITE: u32 = 0o022;
const ROOT: u32 = 0;

fn us() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub(super) fn owner(path: &Path) -> Option<Owner> {
    match path.symlink_metadata().ok()?.uid() == us() {
        true => Some(Owner::Us),
        false => Some(Owner::Another),
    }
}

pub(super) fn is_in_reach_of_another(file: &Path) -> bool {
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    let is_ours = |folder: &Path| {
        let found = folder.metadata();
        found.is_ok_and(|found| {
            [ROOT, us()].contains(&found.uid()) && found.mode() & FOR_OTHERS_TO_WRITE == 0
        })
    };
    !folder.is_some_and(|folder| folder.ancestors().all(is_ours))
}

pub(super) fn is_readable_by_all(file: &Path) -> bool {
    let lets = |path: &Path, bits: u32| {
        let now = path.metadata();
        now.is_ok_and(|now| now.mode() & bits == bits)
    };
    let whole = file.canonicalize();
    whole.is_ok_and(|file| {
        lets(&file, 0o004) && file.ancestors().skip(1).all(|folder| lets(folder, 0o001))
    })
}

pub(super) fn is_readable_by_others(file: &File) -> bool {
    (file.metadata()).map_or(true, |found| found.mode() & FOR_OTHERS != 0)
}

pub(super) fn open(path: &Path) -> Result<File, NotOwned> {
    // Without a wait, and no terminal of ours, should it be a pipe or a terminal.
    let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = File::options()
        .read(true)
        .custom_flags(careful.bits().cast_signed())
        .open(path);
    let file = opened.map_err(|_refused| NotOwned::Unopened)?;
    let found = file.metadata().map_err(|_unknown| NotOwned::OwnerUnknown)?;
    check(&found).map(|()| file)
}

fn check(found: &Metadata) -> Result<(), NotOwned> {
    match found {
        found if found.uid() != us() => Err(NotOwned::Another),
        found if !found.is_file() => Err(NotOwned::NoRegularFile),
        found if found.nlink() > 1 => Err(NotOwned::SeveralNames),
        found if found.mode() & FOR_OTHERS_TO_WRITE != 0 => Err(NotOwned::WritableByOthers),
        _ => Ok(()),
    }
}

pub(super) fn entrance(file: &File) -> Option<String> {
    let has_names = Path::new(OPEN_FILES).is_dir();
    has_names.then(|| format!("{OPEN_FILES}/{}", file.as_raw_fd()))
}
