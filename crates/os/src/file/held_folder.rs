//! Names in folders that are held open: another user cannot exchange a part of the path to them.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;

use super::PASS_FOLDER;

/// A name in a folder that is held open, or such a folder. It was opened without following a link. Whatever another user
/// changes along its path meanwhile, what is done by [`Held::path`] is done in that folder. A last name that is a link by
/// then is followed by whatever follows links: use `O_NOFOLLOW`.
///
/// Where the system has no path to an open folder (`proc(5)`), only the folders of the path are checked.
#[derive(Debug)]
pub struct Held {
    #[expect(dead_code, reason = "`path` leads through it")]
    folder: OwnedFd,
    path: PathBuf,
}

impl Held {
    /// Holds the folder that something is in, whether that is there or not.
    ///
    /// # Errors
    /// When it is no folder, is not there, or its path holds a link.
    pub fn enter(path: &Path) -> io::Result<Self> {
        let Some(name) = path.file_name() else {
            return Self::folder(path);
        };
        let parent = path.parent().unwrap_or(Path::new(""));
        let folder = open(parent)?;
        let path = entrance(&folder, parent).join(name);
        Ok(Self { folder, path })
    }

    /// Holds a folder itself.
    ///
    /// # Errors
    /// As [`Held::enter`].
    pub fn folder(path: &Path) -> io::Result<Self> {
        let folder = open(path)?;
        // Without the dot it is a link to it.
        let path = entrance(&folder, path).join(".");
        Ok(Self { folder, path })
    }

    /// A path to it that leads through the open folder, as long as this is kept.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Such a path to another name in the folder of one that was entered.
    #[must_use]
    pub fn sibling(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.with_file_name(name)
    }
}

#[cfg(target_os = "linux")]
fn open(folder: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{CWD, ResolveFlags, openat2};
    use rustix::io::Errno;

    let path = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let at_once = rustix::io::retry_on_intr(|| {
        openat2(
            CWD,
            path,
            PASS_FOLDER,
            Mode::empty(),
            ResolveFlags::NO_SYMLINKS,
        )
    });
    match at_once {
        // Linux before 5.6, or a container that does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => by_name(path),
        opened => Ok(opened?),
    }
}

#[cfg(not(target_os = "linux"))]
use by_name as open;

fn by_name(folder: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{CWD, openat};
    use std::path::Component;

    let start = match folder.is_absolute() {
        true => "/",
        false => ".",
    };
    let mut at = openat(CWD, start, PASS_FOLDER, Mode::empty())?;
    for part in folder.components() {
        let name = match part {
            Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
            Component::ParentDir => OsStr::new(".."),
            Component::Normal(name) => name,
        };
        at = openat(&at, name, PASS_FOLDER, Mode::empty())?;
    }
    Ok(at)
}

#[cfg(target_os = "linux")]
fn entrance(folder: &OwnedFd, path: &Path) -> PathBuf {
    use std::os::fd::AsFd as _;
    use std::sync::OnceLock;

    static SHOWS_DESCRIPTORS: OnceLock<bool> = OnceLock::new();
    let entrance = crate::sandbox::entrance(folder.as_fd(), path);
    match SHOWS_DESCRIPTORS.get_or_init(|| entrance.is_dir()) {
        true => entrance,
        false => path.to_owned(),
    }
}

#[cfg(not(target_os = "linux"))]
fn entrance(_: &OwnedFd, path: &Path) -> PathBuf {
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_held_stays_when_its_path_is_exchanged() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).expect("our own folder");
        fs::create_dir_all(at("evil/b")).expect("our own folder");
        let file = Held::enter(&at("a/b/file")).expect("it is a folder");
        let inside = Held::folder(&at("a/b")).expect("it is a folder");
        fs::rename(at("a"), at("moved")).expect("our own folder");
        symlink("evil", at("a")).expect("our own folder");

        fs::write(file.path(), "content").expect("it is held");
        fs::write(file.sibling("other"), "content").expect("it is held");
        let mut names: Vec<_> = (fs::read_dir(inside.path()).expect("it is held"))
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["file", "other"]);
        assert!(at("moved/b/file").exists());
        assert_eq!(fs::read_dir(at("evil/b")).expect("it is there").count(), 0);
    }

    #[test]
    fn no_link_of_a_path_is_followed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).expect("our own folder");
        symlink("a", at("link")).expect("our own folder");
        for open in [open, by_name] {
            open(&at("a/b")).expect("its path holds no link");
            open(Path::new("/")).expect("it is a folder");
            open(Path::new(".")).expect("it is a folder");
            for refused in ["link", "link/b", "a/none", "a/b/none/c"] {
                open(&at(refused)).expect_err(refused);
            }
        }
        // What the last name is, is up to what is done with it.
        Held::enter(&at("link")).expect("its folder is none");
        assert!(Held::enter(Path::new("/")).is_ok_and(|top| top.path().is_dir()));
        assert!(Held::enter(Path::new("name")).is_ok_and(|here| here.path().ends_with("name")));
    }
}
