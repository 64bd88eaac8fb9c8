//! Windows. A folder that is held cannot be renamed, nor anything above it, so that its path leads to it as long as it is.
//! What is in it is opened, renamed and removed itself, and not what it leads to.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::exchanged;
use crate::file::hold;
use crate::windows::ITSELF;

/// Folders within each other whose files are synced.
const DEPTH_MAX: usize = 64;

/// A folder that others may write to, held. While it is empty, whoever may write to it can still make a link of it.
#[derive(Debug)]
pub struct Shared {
    /// None once it is given up to be removed.
    held: Mutex<Option<File>>,
    path: PathBuf,
}

impl Shared {
    /// Takes hold of it; the path may lead over links, where this is an administrator over those of administrators.
    ///
    /// # Errors
    /// When it cannot be opened, is no folder, or a link of another user leads there.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = crate::file::resolve(path).map_err(crate::file::Error::into_io)?;
        Self::at(path)
    }

    fn at(path: PathBuf) -> io::Result<Self> {
        let held = Mutex::new(Some(hold(&path)?));
        Ok(Self { held, path })
    }

    fn held(&self) -> MutexGuard<'_, Option<File>> {
        // What panicked left a handle or none.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same: it can be held by nothing else.
    ///
    /// # Errors
    /// As [`Shared::open`].
    pub fn pass(path: &Path) -> io::Result<Self> {
        Self::open(path)
    }

    /// The number of the file system that it is on.
    ///
    /// # Errors
    /// Always: nothing is mounted over a folder here.
    pub fn device(&self) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Has all that was written in it put on the disk.
    ///
    /// # Errors
    /// When that fails.
    pub fn sync(&self) -> io::Result<()> {
        sync(&self.path, 0)
    }

    /// Makes a folder in it, which has the rights of this one.
    ///
    /// # Errors
    /// When something has that name, or what has it right afterwards is a link or no folder.
    pub fn make(&self, name: &str) -> io::Result<Made> {
        let path = self.named(name)?;
        fs::create_dir(&path)?;
        let inside = Self::at(path)?;
        Ok(Made { inside })
    }

    /// Makes a folder in it as folders are made; one may be there.
    ///
    /// # Errors
    /// When the system does not make it.
    pub fn make_folder(&self, name: &str) -> io::Result<()> {
        let path = self.named(name)?;
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            made => made,
        }
    }

    /// Makes a file in it that is not there, for reading and writing, with the rights of this folder.
    ///
    /// # Errors
    /// When something has that name, even a link to nowhere, or it cannot be made.
    pub fn create_file(&self, name: &str, _mode: u32) -> io::Result<File> {
        let mut options = OpenOptions::new();
        self.file(name, options.read(true).write(true).create_new(true))
    }

    /// Opens a file that is there, for reading: no link is followed.
    ///
    /// # Errors
    /// When there is none or a link, or it cannot be opened.
    pub fn read_file(&self, name: &str) -> io::Result<File> {
        self.file(name, OpenOptions::new().read(true))
    }

    /// The same, for reading and writing.
    ///
    /// # Errors
    /// As [`Shared::read_file`].
    pub fn change_file(&self, name: &str) -> io::Result<File> {
        self.file(name, OpenOptions::new().read(true).write(true))
    }

    /// Opens a file in it for writing, which is made where there is none: no link is followed.
    ///
    /// # Errors
    /// When there is a link, or it cannot be opened or made.
    pub fn open_file(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        // Who owns it is asked of what is open, which takes the right to read.
        let options = options.read(true).write(true).create(true).truncate(false);
        self.file(name, options)
    }

    fn file(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        let file = options.custom_flags(ITSELF).open(self.named(name)?)?;
        match file.metadata()?.is_symlink() {
            true => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a link")),
            false => Ok(file),
        }
    }

    /// A path to what has that name in it, or below: no part of it leads elsewhere.
    fn named(&self, name: &str) -> io::Result<PathBuf> {
        // What is behind a colon is another stream of the file.
        let is_below = (Path::new(name).components())
            .all(|part| matches!(part, Component::Normal(_)) && !name.contains(':'));
        match is_below {
            true => Ok(self.path.join(name)),
            false => Err(io::ErrorKind::InvalidFilename.into()),
        }
    }

    /// Looks at all that is in it, and says how much that is.
    ///
    /// # Errors
    /// When it cannot be listed, or something in it cannot be looked at.
    pub fn stat_entries(&self) -> io::Result<usize> {
        let mut count = 0;
        for entry in fs::read_dir(&self.path)? {
            entry?.path().symlink_metadata()?;
            count += 1;
        }
        Ok(count)
    }

    /// Removes a file, or a link and not what it leads to.
    ///
    /// # Errors
    /// When there is none, or the system does not remove it.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.named(name)?)
    }

    /// Removes a folder with all that is in it; one that is not there is removed already.
    ///
    /// # Errors
    /// When it is a link, or something in it cannot be removed.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        let path = self.named(name)?;
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => Err(io::ErrorKind::NotADirectory.into()),
            _ => unless_missing(fs::remove_dir_all(path)),
        }
    }

    /// Removes all that is in it.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    pub fn empty(&self) -> io::Result<()> {
        empty(&self.path)
    }

    /// Where it was opened, and is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path that leads into it.
    #[must_use]
    pub fn entrance(&self) -> PathBuf {
        self.path.clone()
    }

    /// The same for any other program, while this one runs.
    #[must_use]
    pub fn entrance_of_programs(&self) -> PathBuf {
        self.path.clone()
    }

    /// Another hold of the same folder.
    ///
    /// # Errors
    /// When this process has too many files open.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            held: Mutex::new(self.held().as_ref().map(File::try_clone).transpose()?),
            path: self.path.clone(),
        })
    }
}

/// A folder that this process has made, held.
#[derive(Debug)]
pub struct Made {
    inside: Shared,
}

impl Made {
    /// The folder itself, to work in it.
    #[must_use]
    pub const fn inside(&self) -> &Shared {
        &self.inside
    }

    /// Nothing is given to a user without rights here: there is none to become.
    ///
    /// # Errors
    /// When another user has put something into it.
    pub fn give(&self) -> io::Result<()> {
        match fs::read_dir(&self.inside.path)?.next() {
            None => Ok(()),
            Some(_) => Err(exchanged()),
        }
    }

    /// Removes it with all that is in it; one that is not there is removed already.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        // Once it is given up, something else may have its name.
        match self.inside.held().take() {
            None => Ok(()),
            // A link that has come there in between goes itself, and not what it leads to.
            Some(_) => unless_missing(fs::remove_dir_all(&self.inside.path)),
        }
    }
}

/// Puts on the disk what the files in a folder hold, and below.
fn sync(path: &Path, depth: usize) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() && depth < DEPTH_MAX => sync(&entry.path(), depth + 1)?,
            kind if kind.is_file() => {
                let mut options = OpenOptions::new();
                let file = options.write(true).custom_flags(ITSELF).open(entry.path());
                file?.sync_all()?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// What a folder holds goes, and no link in it is followed, as the standard library opens each itself and goes on from there.
fn empty(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        // What is a folder and what a link to one is said of the entry itself.
        let removed = match entry.file_type()? {
            kind if kind.is_dir() => fs::remove_dir_all(entry.path()),
            kind if kind.is_symlink_dir() => fs::remove_dir(entry.path()),
            _ => fs::remove_file(entry.path()),
        };
        unless_missing(removed)?;
    }
    Ok(())
}

fn unless_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
