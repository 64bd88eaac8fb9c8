//! A test file in a folder of the client, on whatever file system that is.
//!
//! The file loses its name as soon as it is open, and `fio` reaches it through the process that
//! holds it, so that nothing is left however that ends. Where a file system does not go along (some
//! network ones do not), it keeps its name while it is used; the next test in that folder removes
//! what was left by one that was killed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use locale::{Message, say};
use os::file::{check_unused, show_in_use};
use os::file_system::{FileSystem, free_bytes};
use os::folder_in_world_writable::Shared;
use record::{Data, FolderKind};

use crate::share_workload::{POOL_BYTES, TestData, check_space, test_name};
use crate::{Error, Stop};

/// The mode of a test file.
const FILE_MODE: u32 = 0o600;
/// What is said of a folder that is on no disk, and of one that is no mounted share.
pub(crate) const NO_DISK: &str = "error-measure.usage-no-disk";
pub(crate) const NO_MOUNT: &str = "error-measure.usage-no-mount";

/// A test file, open and full.
pub(crate) struct TestFile {
    file: File,
    /// The folder that it is in, and its name there, where it has to keep one.
    named: Option<(Shared, String)>,
}

impl TestFile {
    /// Makes it, unless that would nearly fill the disk.
    pub(crate) fn create(
        folder: &Path,
        kind: FolderKind,
        size: u64,
        data: Data,
        stop: &Stop,
    ) -> Result<Self, Error> {
        check_kind(folder, kind)?;
        check_free_space(folder, size)?;
        // Its path is not looked up again: another user may have put a link there.
        let held = Shared::open(folder).map_err(|source| not_made(folder, source))?;
        remove_leftovers(&held);
        let mut made = Self::open(held)?;
        made.fill(size, data, stop)?;
        Ok(made)
    }

    fn open(folder: Shared) -> Result<Self, Error> {
        let create = || -> io::Result<(File, String)> {
            let name = test_name().map_err(io::Error::other)?;
            Ok((folder.create_file(&name, FILE_MODE)?, name))
        };
        let failed = |source| not_made(folder.path(), source);
        let (file, name) = create().map_err(failed)?;
        let nameless = Self { file, named: None };
        let unlinked = folder.remove_file(&name);
        if unlinked.is_ok() && nameless.is_reached() {
            return Ok(nameless);
        }
        let (file, name) = create().map_err(failed)?;
        // The lock shows that it is in use; without locks it is never removed by others.
        show_in_use(&file).ok();
        Ok(Self {
            file,
            named: Some((folder, name)),
        })
    }

    /// The name by which other programs reach it while this one runs; if that can be, whatever has its own by then.
    pub(crate) fn path(&self) -> String {
        match &self.named {
            Some((folder, name)) if !self.is_reached() => {
                folder.path().join(name).display().to_string()
            }
            _ => self.entrance().unwrap_or_default().display().to_string(),
        }
    }

    fn entrance(&self) -> Option<PathBuf> {
        os::local_file::path_for_programs(&self.file)
    }

    fn is_reached(&self) -> bool {
        let open = |entrance| OpenOptions::new().read(true).write(true).open(entrance);
        self.entrance()
            .is_some_and(|entrance| open(entrance).is_ok())
    }

    fn fill(&mut self, size: u64, data: Data, stop: &Stop) -> Result<(), Error> {
        let source = TestData::new(data)?;
        let mut block = vec![0; POOL_BYTES];
        let mut written = 0;
        let failed = |source| Error::System {
            action: say("error-measure.write-test-file"),
            source,
        };
        while written < size {
            if stop.is_asked() {
                return Err(Error::Stopped);
            }
            let count = usize::try_from(size - written)
                .unwrap_or(POOL_BYTES)
                .min(POOL_BYTES);
            source.fill(written, &mut block[..count]);
            self.file.write_all(&block[..count]).map_err(failed)?;
            written += count as u64;
        }
        // Otherwise the system would still be busy writing it while it is read.
        self.file.sync_data().map_err(failed)
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        if let Some((folder, name)) = &self.named {
            folder.remove_file(name).ok();
        }
    }
}

pub(crate) fn not_made(folder: &Path, source: io::Error) -> Error {
    Error::TestFile {
        folder: folder.to_owned(),
        source,
    }
}

fn check_kind(folder: &Path, kind: FolderKind) -> Result<(), Error> {
    let found = file_system(folder)?;
    match kind {
        FolderKind::Disk if found.is_network || found.is_memory => {
            Err(elsewhere(NO_DISK, folder, &found))
        }
        // It was unmounted meanwhile, or something else was mounted over it.
        FolderKind::Mount if !found.is_smb => Err(elsewhere(NO_MOUNT, folder, &found)),
        FolderKind::Disk | FolderKind::Mount | FolderKind::Folder => Ok(()),
    }
}

/// What is said of a folder that is on that file system and should be elsewhere.
pub(crate) fn elsewhere(id: &'static str, folder: &Path, file_system: &FileSystem) -> Error {
    let reason = say(id)
        .with("folder", folder.display().to_string())
        .with("file-system", &*file_system.name);
    Error::Usage { reason }
}

/// Refuses to fill somebody's disk.
pub(crate) fn check_free_space(folder: &Path, size: u64) -> Result<(), Error> {
    let available =
        free_bytes(folder).map_err(|error| system(say("error-measure.free-space"), error))?;
    check_space(&whole(folder).display(), available, size)
}

/// A path from `/` on, as people know it.
pub(crate) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Removes test files of ours that no process holds any more.
fn remove_leftovers(folder: &Shared) {
    let entries = fs::read_dir(folder.entrance()).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    for name in names.filter_map(|name| name.into_string().ok()) {
        if !(name.starts_with(".linerate-") && name.ends_with(".tmp")) {
            continue;
        }
        // It may be a link or a pipe.
        let Ok(file) = folder.read_file(&name) else {
            continue;
        };
        let is_file = file.metadata().is_ok_and(|now| now.is_file());
        if is_file && check_unused(&file).is_ok() {
            folder.remove_file(&name).ok();
        }
    }
}

pub(crate) fn file_system(path: &Path) -> Result<FileSystem, Error> {
    os::file_system::of(path).map_err(|error| system(say("error-measure.file-system"), error))
}

fn system(action: Message, source: io::Error) -> Error {
    Error::System { action, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn no_test_file_is_left_where_another_user_exchanges_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["one", "other"] {
            fs::create_dir(path(name)).unwrap();
        }
        let exchange = |target: &str| {
            symlink(path(target), path("draft")).unwrap();
            fs::rename(path("draft"), path("shared")).unwrap();
        };
        exchange("one");
        let over = AtomicBool::new(false);
        let exchanged = thread::scope(|scope| {
            let swapper = scope.spawn(|| {
                let mut times = 0;
                while !over.load(Ordering::Relaxed) {
                    exchange(["one", "other"][times % 2]);
                    times += 1;
                }
                times
            });
            for _ in 0..500 {
                let (kind, data) = (FolderKind::Folder, Data::Zeros);
                TestFile::create(&path("shared"), kind, 1, data, &Stop::new()).unwrap();
            }
            over.store(true, Ordering::Relaxed);
            swapper.join().unwrap()
        });
        assert!(exchanged > 500, "{exchanged}");
        for name in ["one", "other"] {
            assert_eq!(fs::read_dir(path(name)).unwrap().count(), 0, "{name}");
        }
    }
}
