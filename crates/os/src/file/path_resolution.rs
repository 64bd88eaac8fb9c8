//! Paths that are walked one name after the other: what is a link on them is followed here, and not by the kernel.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use locale::say;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{
    Error, PASS_FOLDER, READ_FOLDER, ROOT, check_owner, check_passed, failed, not_opened, stat, us,
};

/// Links that may be on the path to a folder, as many as the kernel follows.
const LINKS_MAX: usize = 40;
/// Longest path that a link may lead to.
const LINK_BYTES_MAX: usize = 4096;
/// Descriptors of input, output and errors.
const STANDARD: [&str; 3] = ["0", "1", "2"];
const NAME_THE_FILE: &str = "hint-os.name-the-file";

/// Whose folders a path may lead through.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those of root and of the user, where no other user can exchange what is in them.
    Kept,
    /// Any user's; but where root writes, only root's links say where.
    Named,
}

/// What is done about a folder that is not there.
#[derive(Clone, Copy)]
pub(super) enum Missing {
    Refused,
    Made(Mode),
}

/// Where something is, or would be, that a person has named, as a path without links. Where this is root, only root's
/// links say where: another user's could lead anywhere.
///
/// # Errors
/// When a folder cannot be passed, a link of another user is on the path, also as its last name, or the path goes through
/// a descriptor of this process that is none of the standard ones: whoever typed it meant one of another program.
pub fn resolve(path: &Path) -> Result<PathBuf, Error> {
    let whole = absolute(path)?;
    resolved(&whole, owner_of_root(&root()?)?, &mut 0)
}

/// A path from `/` on.
fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|source| Error::System {
        action: "find",
        path: path.to_owned(),
        source,
    })
}

/// Opens `/`, where each path begins.
fn root() -> Result<OwnedFd, Error> {
    let root = Path::new("/");
    rustix::fs::open(root, PASS_FOLDER, Mode::empty()).map_err(failed("open", root))
}

/// Whoever has `/` has everything; in a namespace of users that need not be number 0.
fn owner_of_root(root: &OwnedFd) -> Result<u32, Error> {
    Ok(stat(root, Path::new("/"))?.st_uid)
}

fn resolved(path: &Path, top: u32, links: &mut usize) -> Result<PathBuf, Error> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return walked(path, Trust::Named, Missing::Refused).map(|(_, at)| at);
    };
    let at = resolved(parent, top, links)?;
    let next = at.join(name);
    let is_open = has_own_descriptors(&at);
    if is_open && !STANDARD.iter().any(|standard| name == *standard) {
        let reason = say("error-os.descriptor");
        return Err(Error::of(&next, reason, say(NAME_THE_FILE)));
    }
    // What is in no folder, or in none that can be looked into, leads nowhere else.
    let Ok(folder) = walk(&at, Trust::Named, Missing::Refused) else {
        return Ok(next);
    };
    let there = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW);
    if !there.is_ok_and(|there| is_link(&there)) {
        return Ok(next);
    }
    *links += 1;
    if *links > LINKS_MAX {
        return Err(failed("open", path)(Errno::LOOP));
    }
    let target = followed(&folder, name, &next, Trust::Named, top)?;
    resolved(&at.join(target), top, links)
}

/// Whether the names in it are what is open in this process (`proc_pid_fd(5)`).
fn has_own_descriptors(folder: &Path) -> bool {
    let ours = Path::new("/proc").join(std::process::id().to_string());
    folder.starts_with(ours) && folder.ends_with("fd")
}

/// Opens a folder that a person has named, to pass through it. Root goes through no link of another user.
///
/// # Errors
/// When there is no such folder, or a link of another user leads there.
pub fn enter_named(path: &Path) -> io::Result<OwnedFd> {
    walk(path, Trust::Named, Missing::Refused).map_err(Error::into_io)
}

/// Opens a folder, one name of its path after the other. What is a link on the path is followed here and
/// not by the kernel; what the path itself names must be none where it is kept.
pub(super) fn walk(path: &Path, trust: Trust, missing: Missing) -> Result<OwnedFd, Error> {
    walked(path, trust, missing).map(|(folder, _)| folder)
}

/// The same, and the path without links.
fn walked(path: &Path, trust: Trust, missing: Missing) -> Result<(OwnedFd, PathBuf), Error> {
    let mut left = names_of(&absolute(path)?);
    let mut at = PathBuf::from("/");
    let mut folder = root()?;
    let top = owner_of_root(&folder)?;
    let mut links = 0;
    let mut made = false;
    while let Some(name) = left.pop() {
        if trust == Trust::Kept {
            check_passed(&stat(&folder, &at)?, &at, top)?;
        }
        let is_last = left.is_empty();
        // No link is on it so far.
        let next = match name == ".." {
            true => at.parent().unwrap_or(&at).to_owned(),
            false => at.join(&name),
        };
        // What is kept is listed and synced; a folder that a person names need not even be readable.
        let how = match trust {
            Trust::Kept if is_last => READ_FOLDER,
            Trust::Kept | Trust::Named => PASS_FOLDER,
        };
        match (
            rustix::fs::openat(&folder, &name, how, Mode::empty()),
            missing,
        ) {
            (Ok(opened), _) => {
                folder = opened;
                at = next;
                made = false;
            }
            (Err(Errno::NOENT), Missing::Made(mode)) if !made => {
                // What leads to it is as folders are; only the last one is as private as is asked.
                let usual = mode | Mode::from_raw_mode(0o755);
                let mode = if is_last { mode } else { usual };
                make(&folder, &name, mode, trust).map_err(failed("make", &next))?;
                made = true;
                left.push(name);
            }
            (Err(Errno::NOTDIR | Errno::LOOP), _) if !(is_last && trust == Trust::Kept) => {
                links += 1;
                let target = followed(&folder, &name, &next, trust, top)?;
                if links > LINKS_MAX {
                    return Err(failed("open", path)(Errno::LOOP));
                }
                if target.is_absolute() {
                    at = PathBuf::from("/");
                    folder = root()?;
                }
                // A link that ends the path is followed to a folder of the same standing.
                left.extend(names_of(&target));
            }
            (Err(errno), _) => return Err(not_opened(&next, errno)),
        }
    }
    Ok((folder, at))
}

/// The names of a path, last first; it starts where it starts.
fn names_of(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut names: Vec<OsString> = names.collect();
    names.reverse();
    names
}

/// Makes a folder; one for what is kept is still there after a power cut. Another program may have been
/// faster.
fn make(folder: &OwnedFd, name: &OsStr, mode: Mode, trust: Trust) -> Result<(), Errno> {
    match (rustix::fs::mkdirat(folder, name, mode), trust) {
        (Ok(()), Trust::Kept) => {
            let parent = rustix::fs::openat(folder, ".", READ_FOLDER, Mode::empty())?;
            rustix::fs::fsync(parent)
        }
        (Ok(()) | Err(Errno::EXIST), _) => Ok(()),
        (Err(errno), _) => Err(errno),
    }
}

/// Where a link on the path leads.
fn followed(
    folder: &OwnedFd,
    name: &OsStr,
    path: &Path,
    trust: Trust,
    top: u32,
) -> Result<PathBuf, Error> {
    let (now, target) = look_at_link(folder, name).map_err(failed("look at", path))?;
    let target = target.ok_or_else(|| not_opened(path, Errno::NOTDIR))?;
    let owners = [ROOT, us(), top];
    match trust {
        Trust::Kept => check_owner(&now, path, &owners)?,
        Trust::Named if us() == ROOT && !owners.contains(&now.st_uid) => {
            let reason = say("error-os.link-of-other").count("user", now.st_uid);
            return Err(Error::of(path, reason, say("hint-os.links-of-root")));
        }
        Trust::Named => {}
    }
    let target = target.into_bytes();
    if target.len() > LINK_BYTES_MAX {
        return Err(failed("follow", path)(Errno::NAMETOOLONG));
    }
    let target = PathBuf::from(OsString::from_vec(target));
    if has_no_path(folder, name, &target) {
        let reason = say("error-os.no-path");
        return Err(Error::of(path, reason, say(NAME_THE_FILE)));
    }
    Ok(target)
}

/// Whether the kernel follows a link to something else than what its text names: those of processes in `/proc` lead to
/// what is open there, or to the files of a container (`proc_pid_root(5)`).
#[cfg(target_os = "linux")]
fn has_no_path(folder: &OwnedFd, name: &OsStr, target: &Path) -> bool {
    use rustix::fs::{PROC_SUPER_MAGIC, StatxFlags, fstatfs, statx};

    if !fstatfs(folder).is_ok_and(|there| there.f_type == PROC_SUPER_MAGIC) {
        return false;
    }
    let what = |path: &Path| {
        let flags = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        let found = statx(folder, path, AtFlags::empty(), flags).ok()?;
        let device = (found.stx_dev_major, found.stx_dev_minor);
        Some((device, found.stx_ino, found.stx_mnt_id))
    };
    match (what(Path::new(name)), what(target)) {
        (Some(there), Some(named)) => there != named,
        // What is not there is no reason: a descriptor may be closed by now.
        (there, _) => there.is_some(),
    }
}

#[cfg(not(target_os = "linux"))]
const fn has_no_path(_: &OwnedFd, _: &OsStr, _: &Path) -> bool {
    false
}

/// What is under a name, and where it leads if it is a link: both of one and the same, whatever has the name by then.
#[cfg(target_os = "linux")]
fn look_at_link(folder: &OwnedFd, name: &OsStr) -> Result<(Stat, Option<CString>), Errno> {
    let how = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let there = rustix::fs::openat(folder, name, how, Mode::empty())?;
    let now = rustix::fs::fstat(&there)?;
    let target = match is_link(&now) {
        true => Some(rustix::fs::readlinkat(there, "", Vec::new())?),
        false => None,
    };
    Ok((now, target))
}

#[cfg(not(target_os = "linux"))]
fn look_at_link(folder: &OwnedFd, name: &OsStr) -> Result<(Stat, Option<CString>), Errno> {
    let now = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let target = match is_link(&now) {
        true => Some(rustix::fs::readlinkat(folder, name, Vec::new())?),
        false => None,
    };
    Ok((now, target))
}

fn is_link(now: &Stat) -> bool {
    FileType::from_raw_mode(now.st_mode) == FileType::Symlink
}
