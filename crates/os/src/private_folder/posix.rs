//! POSIX systems.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

/// Only we can look into one.
const MODE: u32 = 0o700;
/// How often one is made anew that another program took for a leftover.
const TRIES: usize = 10;

#[derive(Debug)]
pub(super) struct Folder {
    folder: TempDir,
    /// While it is open, everybody can see that the folder is needed. It goes after the folder.
    #[cfg_attr(not(test), expect(dead_code, reason = "its lock goes with it"))]
    lock: File,
}

impl Folder {
    /// Makes a folder, and locks it for as long as the file is open.
    pub(super) fn make(parent: &Path, prefix: &str) -> io::Result<Self> {
        for _ in 0..TRIES {
            let folder = tempfile::Builder::new()
                .prefix(prefix)
                .permissions(Permissions::from_mode(MODE))
                .tempdir_in(parent)?;
            // A program that sweeps may have seen it before it was locked, and have removed it.
            let lock = match File::open(folder.path()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            // Where there are no locks, no program can take one to remove it either.
            let is_locked = lock.lock().is_ok();
            if !is_locked || crate::local_file::is_at(&lock, folder.path()) {
                return Ok(Self { folder, lock });
            }
        }
        Err(io::Error::other("each one was removed at once"))
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

pub(super) fn sweep(parent: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_named_so = name.to_str().is_some_and(|name| name.starts_with(prefix));
        if is_named_so && let Some(_lock) = abandoned(&entry.path()) {
            // Whoever may not remove it leaves it.
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

/// The locked folder, if it is one of ours that no program needs any more.
fn abandoned(path: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let about = folder.metadata().ok()?;
    let is_ours =
        about.uid() == rustix::process::geteuid().as_raw() && about.mode() & 0o7777 == MODE;
    (is_ours && folder.try_lock().is_ok()).then_some(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};
    use std::path::PathBuf;

    use super::*;

    const PREFIX: &str = "linerate-ssh-";

    /// A folder with a file in it, as a killed one leaves it.
    fn left(parent: &Path, name: &str, mode: u32) -> PathBuf {
        let path = parent.join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("socket"), "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn only_what_is_ours_and_what_nobody_needs_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let gone = left(parent, "linerate-ssh-killed", MODE);
        let elsewhere = left(parent, "elsewhere", MODE);
        let strangers = left(parent, "linerate-ssh-root's", MODE);
        chown(&strangers, Some(65534), None).unwrap();
        let link = parent.join("linerate-ssh-link");
        symlink(&elsewhere, &link).unwrap();
        let file = parent.join("linerate-ssh-file");
        fs::write(&file, "").unwrap();
        let open_to_all = left(parent, "linerate-ssh-open", 0o755);
        let needed = Folder::make(parent, PREFIX).unwrap();
        let mode = fs::metadata(needed.path()).unwrap().mode();
        assert_eq!(mode & 0o7777, MODE);

        sweep(parent, PREFIX);
        assert!(!gone.exists());
        for stays in [&elsewhere, &strangers, &link, &file, &open_to_all] {
            assert!(stays.exists(), "{stays:?}");
        }
        assert!(needed.path().exists());

        // As when its owner is killed: the lock goes, and the folder stays.
        let Folder { folder, lock } = needed;
        let needed = folder.keep();
        drop(lock);
        sweep(parent, PREFIX);
        assert!(!needed.exists());
        assert!(elsewhere.join("socket").exists());
    }
}
