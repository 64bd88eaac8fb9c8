//! Files that another file names.

use std::fs::File;
use std::path::{Component, Path};

use locale::say;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{Error, PASS_FOLDER, failed, stat};

/// Opens a regular file that another file names, to be read. Who wrote that one may be a stranger, so the
/// name leads no further than to what lies in its `folder` or below: it is relative, has no `..`, and no
/// link is followed.
///
/// # Errors
/// When the name leads elsewhere or through a link, when it is no regular file, or cannot be opened.
pub fn read_below(folder: &Path, name: &Path) -> Result<File, Error> {
    let path = folder.join(name);
    let refuse = |id| Error::of(name, say(id), say("hint-os.below"));
    let mut parts = Vec::new();
    for part in name.components() {
        match part {
            Component::Normal(part) => parts.push(part),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) | Component::ParentDir => {
                return Err(refuse("error-os.leads-out"));
            }
        }
    }
    let last = parts
        .pop()
        .ok_or_else(|| refuse("error-os.no-name-below"))?;
    // A person has named this one, and may have done so by a link.
    let start = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let by_person = PASS_FOLDER.difference(OFlags::NOFOLLOW);
    let mut at =
        rustix::fs::open(start, by_person, Mode::empty()).map_err(failed("open", folder))?;
    let link = || refuse("error-os.through-link");
    let opened = |errno| match errno {
        Errno::LOOP => link(),
        errno => failed("open", &path)(errno),
    };
    for part in parts {
        let there = rustix::fs::statat(&at, part, AtFlags::SYMLINK_NOFOLLOW);
        let there = there.map_err(failed("look at", &path))?;
        if FileType::from_raw_mode(there.st_mode) == FileType::Symlink {
            return Err(link());
        }
        // Whatever stands there by now: a link is not followed.
        at = rustix::fs::openat(&at, part, PASS_FOLDER, Mode::empty()).map_err(opened)?;
    }
    // Some devices do something when they are opened.
    let there = rustix::fs::statat(&at, last, AtFlags::SYMLINK_NOFOLLOW);
    let there = there.map_err(failed("look at", &path))?;
    match FileType::from_raw_mode(there.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(link()),
        _ => return Err(refuse("error-os.not-regular")),
    }
    let how = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&at, last, how, Mode::empty()).map_err(opened)?;
    match FileType::from_raw_mode(stat(&file, &path)?.st_mode) {
        FileType::RegularFile => Ok(File::from(file)),
        _ => Err(refuse("error-os.not-regular")),
    }
}
