//! POSIX systems.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, fstat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;

use super::exchanged;
use crate::file::enter_named;
use crate::sandbox;

/// How a folder is opened that must be what it is called.
const AS_FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// Folders within each other that are removed; each holds a descriptor meanwhile.
const DEPTH_MAX: usize = 64;

/// A folder that others may write to, held.
#[derive(Debug)]
pub struct Shared {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl Shared {
    /// Takes hold of it; the path may lead over links, where this is root over those of root.
    ///
    /// # Errors
    /// When it cannot be opened, is no folder, or a link of another user leads there.
    pub fn open(path: &Path) -> io::Result<Self> {
        let here = Path::new(".");
        let descriptor = match path == here {
            // One may be in a folder that one could not reach.
            true => openat(CWD, here, AS_FOLDER, Mode::empty())?,
            false => openat(enter_named(path)?, here, AS_FOLDER, Mode::empty())?,
        };
        let path = path.to_owned();
        Ok(Self { descriptor, path })
    }

    /// The same without opening it to be read: its file system is asked for nothing, so that one that no longer answers
    /// is not waited for.
    ///
    /// # Errors
    /// As [`Shared::open`].
    pub fn pass(path: &Path) -> io::Result<Self> {
        let descriptor = enter_named(path)?;
        let path = path.to_owned();
        Ok(Self { descriptor, path })
    }

    /// The number of the file system that it is on.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn device(&self) -> io::Result<u64> {
        let found = fstat(&self.descriptor)?;
        #[cfg(target_os = "linux")]
        return Ok(found.st_dev);
        #[cfg(not(target_os = "linux"))]
        Ok(u64::from(found.st_dev.cast_unsigned()))
    }

    /// Has all that was written in it put on the disk.
    ///
    /// # Errors
    /// When that fails.
    pub fn sync(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(&self.descriptor)?;
        #[cfg(not(target_os = "linux"))]
        rustix::fs::sync();
        Ok(())
    }

    /// Makes a folder in it that nobody else may enter.
    ///
    /// # Errors
    /// When something has that name, or what has it right afterwards is a link or no folder.
    pub fn make(&self, name: &str) -> io::Result<Made> {
        mkdirat(&self.descriptor, name, Mode::RWXU)?;
        self.hold(name)
    }

    fn hold(&self, name: &str) -> io::Result<Made> {
        Ok(Made {
            inside: Self {
                descriptor: openat(&self.descriptor, name, AS_FOLDER, Mode::empty())?,
                path: self.path.join(name),
            },
            parent: self.descriptor.try_clone()?,
            name: name.to_owned(),
        })
    }

    /// Makes a folder in it as folders are made; one may be there.
    ///
    /// # Errors
    /// When the system does not make it.
    pub fn make_folder(&self, name: &str) -> io::Result<()> {
        match mkdirat(&self.descriptor, name, Mode::from_raw_mode(0o777)) {
            Err(Errno::EXIST) => Ok(()),
            made => Ok(made?),
        }
    }

    /// Makes a file in it that is not there, for reading and writing, with that mode.
    ///
    /// # Errors
    /// When something has that name, even a link to nowhere, or it cannot be made.
    pub fn create_file(&self, name: &str, mode: u32) -> io::Result<File> {
        let how = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        self.file(name, how, mode)
    }

    /// Opens a file that is there, for reading: no link is followed, no pipe waited for.
    ///
    /// # Errors
    /// When there is none or a link, or it cannot be opened.
    pub fn read_file(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::RDONLY, 0)
    }

    /// The same, for reading and writing.
    ///
    /// # Errors
    /// As [`Shared::read_file`].
    pub fn change_file(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::RDWR, 0)
    }

    /// Opens a file in it for writing, which is made where there is none: no link is followed, no pipe waited for.
    ///
    /// # Errors
    /// When there is a link, or it cannot be opened or made.
    pub fn open_file(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::WRONLY | OFlags::CREATE, 0o666)
    }

    fn file(&self, name: &str, how: OFlags, mode: u32) -> io::Result<File> {
        let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode);
        let opened = openat(&self.descriptor, name, how | careful, mode)?;
        Ok(File::from(opened))
    }

    /// Looks at all that is in it, and says how much that is.
    ///
    /// # Errors
    /// When it cannot be listed, or something in it cannot be looked at.
    pub fn stat_entries(&self) -> io::Result<usize> {
        let mut count = 0;
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            if !is_itself(entry.file_name()) {
                statat(
                    &self.descriptor,
                    entry.file_name(),
                    AtFlags::SYMLINK_NOFOLLOW,
                )?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Removes a file, or a link and not what it leads to.
    ///
    /// # Errors
    /// When there is none, or the system does not remove it.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.descriptor, name, AtFlags::empty())?)
    }

    /// Removes a folder with all that is in it; one that is not there is removed already.
    ///
    /// # Errors
    /// When it is a link, or something in it cannot be removed.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        let name = std::ffi::CString::new(name)?;
        Ok(remove_folder(self.descriptor.as_fd(), &name, 0)?)
    }

    /// Removes all that is in it.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    pub fn empty(&self) -> io::Result<()> {
        Ok(empty(self.descriptor.as_fd(), 0)?)
    }

    /// Where it was opened. Another folder may be there by now.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path that leads into the very folder, wherever that is by now, for this process and to change the folder of
    /// one to that this one starts.
    #[must_use]
    pub fn entrance(&self) -> PathBuf {
        sandbox::entrance(self.descriptor.as_fd(), &self.path)
    }

    /// The same for any other program, while this one runs.
    #[must_use]
    pub fn entrance_of_programs(&self) -> PathBuf {
        crate::local_file::path_for_programs_of(&self.descriptor)
            .unwrap_or_else(|| self.path.clone())
    }

    /// Another hold of the same folder.
    ///
    /// # Errors
    /// When this process has too many files open.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            descriptor: self.descriptor.try_clone()?,
            path: self.path.clone(),
        })
    }
}

/// A folder that this process has made, held.
#[derive(Debug)]
pub struct Made {
    inside: Shared,
    parent: OwnedFd,
    name: String,
}

impl Made {
    /// The folder itself, to work in it.
    #[must_use]
    pub const fn inside(&self) -> &Shared {
        &self.inside
    }

    /// Gives it to the user that [`sandbox::confine`] makes of root, so that a confined process can work in it, once
    /// it is found to be what was made. It stays whose it is where this process is not root, and where the system or
    /// the file system lets no such user own it: that process stays root then, in this folder.
    ///
    /// # Errors
    /// When it is not what was made: another user has exchanged it, or put something into it.
    pub fn give(&self) -> io::Result<()> {
        let folder = &self.inside.descriptor;
        let mut entries = Dir::read_from(folder)?;
        let is_empty = entries.all(|entry| entry.is_ok_and(|entry| is_itself(entry.file_name())));
        let now = fstat(folder)?;
        let above = fstat(&self.parent)?;
        // A folder has two names, or one where the file system does not count them.
        if !is_empty || now.st_nlink > 2 || now.st_dev != above.st_dev {
            return Err(exchanged());
        }
        sandbox::give(folder.as_fd(), &now)
    }

    /// Removes it with all that is in it; one that is not there is removed already.
    ///
    /// # Errors
    /// When something in it cannot be removed, or something else has its name.
    pub fn remove(&self) -> io::Result<()> {
        self.inside.empty()?;
        let there = match statat(&self.parent, &*self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            there => there?,
        };
        let ours = fstat(&self.inside.descriptor)?;
        if (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino) {
            return Err(exchanged());
        }
        // Whatever has come there since, only an empty folder would go.
        match unlinkat(&self.parent, &*self.name, AtFlags::REMOVEDIR) {
            Err(Errno::NOENT) => Ok(()),
            removed => Ok(removed?),
        }
    }
}

fn is_itself(name: &CStr) -> bool {
    [&b"."[..], b".."].contains(&name.to_bytes())
}

fn remove_folder(parent: BorrowedFd<'_>, name: &CStr, depth: usize) -> Result<(), Errno> {
    if depth > DEPTH_MAX {
        return Err(Errno::NAMETOOLONG);
    }
    match openat(parent, name, AS_FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        folder => empty(folder?.as_fd(), depth)?,
    }
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}

fn empty(folder: BorrowedFd<'_>, depth: usize) -> Result<(), Errno> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if is_itself(name) {
            continue;
        }
        match unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            // What systems say of a folder.
            Err(Errno::ISDIR | Errno::PERM) => remove_folder(folder, name, depth + 1)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, DirBuilder};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, symlink};

    use super::*;

    const NOBODY: u32 = 65_534;

    fn owner(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().uid()
    }

    #[test]
    fn what_is_put_in_the_place_of_a_folder_is_not_given_away_entered_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let [shared, victim] = ["shared", "victim"].map(|name| folder.path().join(name));
        fs::create_dir(&shared).unwrap();
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("file"), "x").unwrap();
        let made = Shared::open(&shared).unwrap().make("made").unwrap();
        fs::write(made.inside().entrance().join("early"), "x").unwrap();
        // Nothing was in it when it was made.
        assert_eq!(
            made.give().unwrap_err().kind(),
            io::ErrorKind::PermissionDenied
        );
        fs::remove_file(shared.join("made/early")).unwrap();
        fs::rename(shared.join("made"), shared.join("moved")).unwrap();
        symlink(&victim, shared.join("made")).unwrap();
        made.give().unwrap();
        assert_eq!(owner(&victim), 0);
        assert_eq!(owner(&shared.join("moved")), NOBODY);
        fs::write(made.inside().entrance().join("content"), "x").unwrap();
        assert!(shared.join("moved/content").exists());
        assert!(!victim.join("content").exists());
        assert!(made.remove().is_err());
        assert!(victim.join("file").exists() && shared.join("made").is_symlink());
        assert_eq!(fs::read_dir(shared.join("moved")).unwrap().count(), 0);
    }

    #[test]
    fn root_works_in_no_folder_that_a_link_of_another_user_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let [link, target] = ["link", "target"].map(|name| folder.path().join(name));
        fs::create_dir(&target).unwrap();
        symlink(&target, &link).unwrap();
        Shared::open(&link).unwrap();
        std::os::unix::fs::lchown(&link, Some(NOBODY), None).unwrap();
        let refused = Shared::open(&link).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        Shared::open(&target).unwrap();
    }

    #[test]
    fn what_is_there_instead_of_a_new_folder_is_neither_held_nor_given_away() {
        let folder = tempfile::tempdir().unwrap();
        let shared = Shared::open(folder.path()).unwrap();
        let path = |name: &str| folder.path().join(name);
        let make = |name: &str, mode: u32| {
            DirBuilder::new().mode(0o700).create(path(name)).unwrap();
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        make("of root", 0o755);
        make("of another", 0o700);
        chown(path("of another"), Some(1000), Some(1000)).unwrap();
        make("full", 0o700);
        fs::create_dir(path("full/inner")).unwrap();
        for (name, owned) in [("of root", 0), ("of another", 1000), ("full", 0)] {
            let refused = shared.hold(name).unwrap().give().unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{name}");
            assert_eq!(owner(&path(name)), owned, "{name}");
        }
        symlink(path("full"), path("link")).unwrap();
        fs::write(path("file"), "x").unwrap();
        for name in ["link", "file"] {
            assert!(shared.hold(name).is_err(), "{name}");
            assert!(shared.remove_folder(name).is_err(), "{name}");
        }
        assert!(path("full/inner").exists());
        // The same as it is made.
        make("new", 0o700);
        shared.hold("new").unwrap().give().unwrap();
        assert_eq!(owner(&path("new")), NOBODY);
    }

    #[test]
    fn all_goes_with_a_folder_but_what_links_in_it_lead_to() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("file"), "x").unwrap();
        let shared = Shared::open(folder.path()).unwrap();
        let made = shared.make("made").unwrap();
        made.give().unwrap();
        fs::create_dir_all(made.inside().path().join("one/two/three")).unwrap();
        fs::write(made.inside().path().join("one/two/file"), "x").unwrap();
        symlink(&victim, made.inside().path().join("one/link")).unwrap();
        made.remove().unwrap();
        made.remove().unwrap();
        let left = fs::read_dir(folder.path()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["victim"]);
        assert!(victim.join("file").exists());
        fs::create_dir_all(folder.path().join("left/over")).unwrap();
        shared.remove_folder("left").unwrap();
        shared.remove_folder("left").unwrap();
        assert!(!folder.path().join("left").exists());
    }
}
