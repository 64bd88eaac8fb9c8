//! A folder of our own on a share or in a folder, and what is done in it.
//!
//! Beside the folder there is a file that whoever uses it holds: on a share it is opened to be deleted on
//! close, elsewhere it is locked. So the server or the system lets go of it however we end, and the
//! next one that makes a folder there finds this one, which nobody holds, and removes it.

mod in_use_lock;
mod leftover_and_smb_removal;

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use locale::say;
use os::folder_in_world_writable::{Made, Shared};
use os::local_file::forget_content;
use smb::copy::Place;
use smb::{Access, Disposition, OpenOptions as HowToOpen, Tree};

use crate::share_workload::{check_space, joined, pieces, test_name};
use crate::{Error, Stop, test_file_in_folder};
use in_use_lock::{HOLD, Hold, Parent};
use leftover_and_smb_removal::{remove_folder, remove_leftovers};

/// How the folder ends.
const FOLDER: &str = ".files";
/// What a file takes on a disk beside its content, at most: a cluster, and its name.
const FILE_OVERHEAD: u64 = 8 << 10;
/// Folders within each other in what we make; deeper ones were not made by us.
const DEPTH_MAX: usize = 4;
/// The mode of a file of ours, less the umask.
const FILE_MODE: u32 = 0o666;
/// Bytes of a write in a folder.
const WRITE_BYTES: usize = 1 << 20;

/// The folder, while it is there.
pub(crate) struct ScratchFolder {
    top: Place,
    base: Base,
    /// Given up after the folder.
    hold: Option<Hold>,
}

/// What is worked in.
enum Base {
    Share {
        tree: Tree,
        path: String,
    },
    /// A folder that this process has made. Its path is not looked up again: another user may have put a link there.
    Made(Made),
    /// The one that it was started in.
    Given(Shared),
}

/// Where a file of it is.
enum At<'a> {
    Share(&'a Tree, String),
    Local(&'a Shared),
}

fn failed(place: &Place, source: io::Error) -> Error {
    let folder = match place {
        Place::Local(path) => test_file_in_folder::whole(path),
        Place::Share { path, .. } => PathBuf::from(path),
    };
    Error::TestFile { folder, source }
}

impl ScratchFolder {
    /// Makes a folder at `parent`, unless there is not enough room for so many bytes and files. What
    /// somebody left there who was killed is removed before.
    pub(crate) fn make(parent: Place, bytes: u64, files: u32, stop: &Stop) -> Result<Self, Error> {
        let place = parent;
        let parent = Parent::of(&place)?;
        remove_leftovers(&parent, stop);
        check_free_space(
            &place,
            bytes.saturating_add(u64::from(files) * FILE_OVERHEAD),
        )?;
        let name = test_name()?;
        let name = name.trim_end_matches(".tmp");
        let hold = match (Hold::take(&parent, name)?, &parent.held) {
            (Some(hold), _) => Some(hold),
            // A file system without locks.
            (None, Some(folder)) => {
                folder.remove_file(&format!("{name}{HOLD}")).ok();
                None
            }
            (None, None) => {
                let source = io::Error::from(io::ErrorKind::AlreadyExists);
                return Err(failed(&place, source));
            }
        };
        let name = format!("{name}{FOLDER}");
        let top = match &parent.held {
            // As it is without links and other names of the same: the engine follows none.
            Some(held) if !os::HAS_POSIX_FILES => Place::Local(held.path().join(&name)),
            _ => place.join(&name),
        };
        let base = match (&top, &parent.held) {
            (Place::Share { tree, path }, _) => {
                tree.create_folder(path)?;
                let (tree, path) = (tree.clone(), path.clone());
                Base::Share { tree, path }
            }
            (Place::Local(_), Some(folder)) => {
                let made = folder.make(&name);
                Base::Made(made.map_err(|source| failed(&place, source))?)
            }
            // A folder that is no share's is held.
            (Place::Local(_), None) => return Err(failed(&place, io::ErrorKind::NotFound.into())),
        };
        Ok(Self { top, base, hold })
    }

    /// Lets a process without rights work in it, where this one has made it; says where such a process is started.
    pub(crate) fn give(&self) -> Result<Option<PathBuf>, Error> {
        let Base::Made(made) = &self.base else {
            return Ok(None);
        };
        made.give().map_err(|source| self.failed(source))?;
        Ok(Some(made.inside().entrance()))
    }

    /// The folder that this process was started in, which another one has made for it and removes. What is
    /// in it goes with this.
    pub(crate) fn given() -> Result<Self, Error> {
        let here = Path::new(".");
        let top = Place::Local(here.to_owned());
        let folder = Shared::open(here).map_err(|source| failed(&top, source))?;
        Ok(Self {
            top,
            base: Base::Given(folder),
            hold: None,
        })
    }

    pub(crate) const fn top(&self) -> &Place {
        &self.top
    }

    /// Its path, where it is no share's.
    pub(crate) fn local(&self) -> Option<&Path> {
        match &self.top {
            Place::Local(path) => Some(path),
            Place::Share { .. } => None,
        }
    }

    /// Removes it with all that is in it.
    pub(crate) fn remove(self) -> Result<(), Error> {
        self.remove_all()
    }

    fn remove_all(&self) -> Result<(), Error> {
        match &self.base {
            Base::Share { .. } => remove_folder(&self.top, 0),
            Base::Made(made) => made.remove().map_err(|source| self.failed(source)),
            // The folder itself goes with whoever has made it.
            Base::Given(folder) => folder.empty().map_err(|source| self.failed(source)),
        }
    }

    fn at(&self, name: &str) -> At<'_> {
        match &self.base {
            Base::Share { tree, path } => At::Share(tree, joined(path, name)),
            Base::Made(made) => At::Local(made.inside()),
            Base::Given(folder) => At::Local(folder),
        }
    }

    /// A path that leads into it, where it is no share's.
    fn entrance(&self) -> Option<PathBuf> {
        match self.at("") {
            At::Share(..) => None,
            At::Local(folder) => Some(folder.entrance()),
        }
    }

    /// The same for another program, while this one runs.
    pub(crate) fn entrance_of_programs(&self) -> Option<PathBuf> {
        match self.at("") {
            At::Share(..) => None,
            At::Local(folder) => Some(folder.entrance_of_programs()),
        }
    }

    fn failed(&self, source: io::Error) -> Error {
        failed(&self.top, source)
    }

    /// Makes an empty file and closes it.
    pub(crate) fn create(&self, name: &str) -> Result<(), Error> {
        match self.at(name) {
            At::Share(tree, path) => Ok(tree.open(&path, &as_new_file())?.close()?),
            At::Local(folder) => {
                let made = folder.create_file(name, FILE_MODE);
                made.map(drop).map_err(|source| self.failed(source))
            }
        }
    }

    /// Opens a file and closes it.
    pub(crate) fn open(&self, name: &str) -> Result<(), Error> {
        match self.at(name) {
            At::Share(tree, path) => {
                let options = HowToOpen::open(Access::Read);
                Ok(tree.open(&path, &options)?.close()?)
            }
            At::Local(folder) => {
                let opened = folder.read_file(name);
                opened.map(drop).map_err(|source| self.failed(source))
            }
        }
    }

    pub(crate) fn remove_file(&self, name: &str) -> Result<(), Error> {
        match self.at(name) {
            At::Share(tree, path) => Ok(tree.remove_file(&path)?),
            At::Local(folder) => {
                let removed = folder.remove_file(name);
                removed.map_err(|source| self.failed(source))
            }
        }
    }

    /// Makes a folder, which may be there.
    pub(crate) fn make_folder(&self, name: &str) -> Result<(), Error> {
        match self.at(name) {
            At::Share(tree, path) => Ok(tree.create_folder(&path)?),
            At::Local(folder) => {
                let made = folder.make_folder(name);
                made.map_err(|source| self.failed(source))
            }
        }
    }

    /// Removes a folder with all that is in it.
    pub(crate) fn remove_folder(&self, name: &str) -> Result<(), Error> {
        match self.at(name) {
            At::Share(..) => remove_folder(&self.top.join(name), 0),
            At::Local(folder) => {
                let removed = folder.remove_folder(name);
                removed.map_err(|source| self.failed(source))
            }
        }
    }

    /// Lists it with what is known of each entry.
    pub(crate) fn list(&self, wanted: u32) -> Result<(), Error> {
        let found = match self.at("") {
            At::Share(tree, path) => tree.list(path.trim_end_matches('/'))?.len(),
            At::Local(folder) => folder
                .stat_entries()
                .map_err(|source| self.failed(source))?,
        };
        if found == wanted as usize {
            return Ok(());
        }
        let text = format!("{found} entries were listed of a folder that has {wanted}");
        Err(self.failed(io::Error::other(text)))
    }

    /// A file to take locks on.
    pub(crate) fn open_to_lock(&self, name: &str) -> Result<Lockable, Error> {
        match self.at(name) {
            At::Share(tree, path) => {
                let options = HowToOpen::open(Access::ReadWrite);
                Ok(Lockable::Share(tree.open(&path, &options)?))
            }
            At::Local(folder) => {
                let opened = folder.change_file(name);
                Ok(Lockable::Local(
                    opened.map_err(|source| self.failed(source))?,
                ))
            }
        }
    }

    /// Writes a file, through to the disk.
    pub(crate) fn write(
        &self,
        name: &str,
        size: u64,
        fill: &dyn Fn(u64, &mut [u8]),
        go_on: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<(), Error> {
        match self.at(name) {
            At::Share(tree, path) => {
                let file = tree.open(&path, &as_new_file())?;
                for range in pieces(0..size, 64 << 20) {
                    if go_on().is_break() {
                        return Err(Error::Stopped);
                    }
                    let fill = |offset, room: &mut [u8]| {
                        fill(offset, room);
                        Ok(())
                    };
                    file.write_ranges(std::iter::once(range), &smb::Stop::new(), fill)?;
                }
                file.flush()?;
                Ok(file.close()?)
            }
            At::Local(folder) => {
                let made = folder.create_file(name, FILE_MODE);
                let mut file = made.map_err(|source| self.failed(source))?;
                let length = usize::try_from(size).unwrap_or(WRITE_BYTES);
                let mut room = vec![0; WRITE_BYTES.min(length)];
                for range in pieces(0..size, WRITE_BYTES as u64) {
                    if go_on().is_break() {
                        return Err(Error::Stopped);
                    }
                    let room = &mut room[..(range.end - range.start) as usize];
                    fill(range.start, room);
                    file.write_all(room).map_err(|source| self.failed(source))?;
                }
                Ok(())
            }
        }
    }

    /// Opens a file, reads it from begin to end and closes it. A folder's client forgets it then.
    pub(crate) fn read(&self, name: &str, size: u64, stop: &smb::Stop) -> Result<(), Error> {
        let mut found = 0;
        match self.at(name) {
            At::Share(tree, path) => {
                let file = tree.open(&path, &HowToOpen::open(Access::Read))?;
                for piece in file.read_ranges(std::iter::once(0..size), stop) {
                    found += piece?.payload.len() as u64;
                }
                file.close()?;
            }
            At::Local(folder) => {
                let opened = folder.read_file(name);
                let mut file = opened.map_err(|source| self.failed(source))?;
                let mut room = vec![0; WRITE_BYTES];
                loop {
                    let count = io::Read::read(&mut file, &mut room);
                    match count.map_err(|source| self.failed(source))? {
                        0 => break,
                        count => found += count as u64,
                    }
                    if stop.is_stopped() {
                        return Err(Error::Stopped);
                    }
                }
                forget_content(&file).ok();
            }
        }
        if found == size {
            return Ok(());
        }
        let text = format!("{found} bytes were read of a file that has {size}");
        Err(self.failed(io::Error::other(text)))
    }

    /// Has what was written put on the disk; of a share, of that one file only, over that session.
    pub(crate) fn sync(&self, over: &Place, file: Option<&str>) -> Result<(), Error> {
        if let At::Local(folder) = self.at("") {
            return folder.sync().map_err(|source| self.failed(source));
        }
        if let (Place::Share { tree, path }, Some(name)) = (over, file) {
            let file = tree.open(&joined(path, name), &HowToOpen::open(Access::Write))?;
            file.flush()?;
            file.close()?;
        }
        Ok(())
    }

    /// Has the client write the content of its files, and forget it.
    pub(crate) fn forget(&self) -> Result<(), Error> {
        self.sync(&self.top, None)?;
        if let Some(entrance) = self.entrance() {
            forget(&entrance, 0);
        }
        Ok(())
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // Before the hold, and whatever has happened; what cannot be removed now is found by the next.
        self.remove_all().ok();
        self.hold = None;
    }
}

fn as_new_file() -> HowToOpen {
    HowToOpen {
        disposition: Disposition::Create,
        folder: Some(false),
        ..HowToOpen::open(Access::Write)
    }
}

/// A file that locks are taken on.
pub(crate) enum Lockable {
    Share(smb::File),
    Local(File),
}

impl Lockable {
    /// Takes a lock and gives it back; in a folder always one on the whole file.
    pub(crate) fn lock(&self, offset: u64, bytes: u64) -> Result<(), Error> {
        match self {
            Self::Share(file) => {
                file.lock(offset, bytes)?;
                Ok(file.unlock(offset, bytes)?)
            }
            Self::Local(file) => os::file::lock_and_unlock(file).map_err(|source| Error::System {
                action: say("error-measure.lock-file"),
                source,
            }),
        }
    }
}

fn check_free_space(parent: &Place, size: u64) -> Result<(), Error> {
    match parent {
        Place::Local(path) => test_file_in_folder::check_free_space(path, size),
        Place::Share { tree, path } => check_space(
            &format_args!("{}/{path}", tree.share()),
            tree.free_space()?.available_bytes,
            size,
        ),
    }
}

fn forget(path: &Path, depth: usize) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth < DEPTH_MAX => forget(&entry.path(), depth + 1),
            Ok(kind) if kind.is_file() => {
                if let Ok(file) = File::open(entry.path()) {
                    forget_content(&file).ok();
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod folder_exchange_tests;
