//! The folders of shared connections, each for the socket of one `ssh`. Neither outlives a program that
//! ends by itself or is told to; what one leaves that is killed, the next one removes.

use std::env;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

use crate::Error;
use crate::exec::{Command, Ender, Exec, Local, Process};

/// How their names begin.
const NAME: &str = "linerate-ssh-";
/// Only we can look into one.
const MODE: u32 = 0o700;
/// Longest folder to hold them in which a socket's name still fits, with what `ssh` adds to it.
const PARENT_BYTES_MAX: usize = 55;
/// How often one is made anew that somebody took for a leftover.
const TRIES: usize = 10;

/// All connections that stand or are being made.
static HELD: Mutex<Held> = Mutex::new(Held {
    is_swept: false,
    is_over: false,
    connections: Vec::new(),
});

struct Held {
    /// What others left was removed.
    is_swept: bool,
    /// Nobody may connect any more.
    is_over: bool,
    connections: Vec<Weak<Holding>>,
}

struct Holding {
    ssh: Ender,
    folder: TempDir,
    /// While it is open, everybody can see that the folder is needed. It goes after the folder.
    _lock: File,
}

/// A folder that only we can look into; it goes when it is dropped, or with [`let_go`].
pub(super) struct SocketFolder(Arc<Holding>);

impl SocketFolder {
    /// The socket's path.
    pub(super) fn socket(&self) -> PathBuf {
        socket_in(&self.0.folder)
    }
}

fn socket_in(folder: &TempDir) -> PathBuf {
    folder.path().join("socket")
}

fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a folder and starts the `ssh` whose socket is in it.
pub(super) fn start(ssh: impl FnOnce(&Path) -> Command) -> Result<(SocketFolder, Process), Error> {
    let usual = env::temp_dir();
    let parent = if usual.as_os_str().len() > PARENT_BYTES_MAX {
        PathBuf::from("/tmp")
    } else {
        usual
    };
    // Whoever lets go of all connections meanwhile waits until this one is among them.
    let mut held = held();
    if !held.is_swept {
        sweep(&parent);
        held.is_swept = true;
    }
    let made = match held.is_over {
        false => make(&parent),
        true => Err(io::Error::other("linerate is about to end")),
    };
    let (folder, lock) = made.map_err(|source| Error::SocketFolder {
        folder: parent,
        source,
    })?;
    let process = Local::new().spawn(&ssh(&socket_in(&folder)))?;
    let holding = Arc::new(Holding {
        ssh: process.ender(),
        folder,
        _lock: lock,
    });
    held.connections.retain(|known| known.strong_count() > 0);
    held.connections.push(Arc::downgrade(&holding));
    Ok((SocketFolder(holding), process))
}

/// Ends each `ssh` that holds a connection to a host or is about to make one, and removes the folder of
/// its socket. Nobody can connect afterwards: this is for a program that is about to end while threads
/// of it may still be connecting.
pub fn let_go() {
    let mut held = held();
    held.is_over = true;
    for holding in held.connections.drain(..).filter_map(|it| it.upgrade()) {
        holding.ssh.end();
        // What is in the way of it is in the way for a moment only, and then the next start removes it.
        fs::remove_dir_all(holding.folder.path()).ok();
    }
}

/// Makes a folder, and locks it for as long as the file is open.
fn make(parent: &Path) -> io::Result<(TempDir, File)> {
    for _ in 0..TRIES {
        let folder = tempfile::Builder::new()
            .prefix(NAME)
            .permissions(Permissions::from_mode(MODE))
            .tempdir_in(parent)?;
        // Somebody who sweeps may have seen it before it was locked, and have removed it.
        let lock = match File::open(folder.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened?,
        };
        // Where there are no locks, nobody can take one to remove it either.
        let is_locked = lock.lock().is_ok();
        if !is_locked || is_still(&lock, folder.path())? {
            return Ok((folder, lock));
        }
    }
    Err(io::Error::other("each one was removed at once"))
}

/// Whether an open folder is still there under its name.
fn is_still(folder: &File, path: &Path) -> io::Result<bool> {
    let open = folder.metadata()?;
    let named = fs::symlink_metadata(path);
    Ok(named.is_ok_and(|named| (named.dev(), named.ino()) == (open.dev(), open.ino())))
}

/// Removes the folders that those of us have left who were killed.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_named_so = name.to_str().is_some_and(|name| name.starts_with(NAME));
        if is_named_so && let Some(_lock) = abandoned(&entry.path()) {
            // Whoever may not remove it leaves it.
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

/// The locked folder, if it is one of ours that nobody needs any more.
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

    use super::*;

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
        let (needed, lock) = make(parent).unwrap();

        sweep(parent);
        assert!(!gone.exists());
        for stays in [&elsewhere, &strangers, &link, &file, &open_to_all] {
            assert!(stays.exists(), "{stays:?}");
        }
        assert!(needed.path().exists());

        // As when its owner is killed: the lock goes, and the folder stays.
        let needed = needed.keep();
        drop(lock);
        sweep(parent);
        assert!(!needed.exists());
        assert!(elsewhere.join("socket").exists());
    }

    #[test]
    fn a_folder_is_private_and_a_socket_has_room_in_it() {
        let parent = tempfile::tempdir().unwrap();
        let (folder, _lock) = make(parent.path()).unwrap();
        let mode = fs::metadata(folder.path()).unwrap().mode();
        assert_eq!(mode & 0o7777, MODE);
        let below = socket_in(&folder).as_os_str().len() - parent.path().as_os_str().len();
        // `ssh` adds a point and 16 letters; macOS takes 104 bytes with the one that ends them.
        assert!(PARENT_BYTES_MAX + below + 17 < 104, "{below}");
    }
}
