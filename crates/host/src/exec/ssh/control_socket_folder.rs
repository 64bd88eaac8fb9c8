//! The folders of shared connections, each for the socket of one `ssh`. Neither outlives a program that
//! ends by itself or is told to; what one leaves that is killed, the next one removes.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use os::private_folder::{self, PrivateFolder};

use crate::Error;
use crate::exec::{Command, Ender, Exec, Local, Process};

/// How their names begin.
const NAME: &str = "linerate-ssh-";
/// Longest folder to hold them in which a socket's name still fits, with what `ssh` adds to it.
const PARENT_BYTES_MAX: usize = 55;

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
    folder: PrivateFolder,
}

/// A folder that only we can look into; it goes when it is dropped, or with [`let_go`].
pub(super) struct SocketFolder(Arc<Holding>);

impl SocketFolder {
    /// The socket's path.
    pub(super) fn socket(&self) -> PathBuf {
        socket_in(&self.0.folder)
    }
}

fn socket_in(folder: &PrivateFolder) -> PathBuf {
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
        private_folder::sweep(&parent, NAME);
        held.is_swept = true;
    }
    let made = match held.is_over {
        false => PrivateFolder::make(&parent, NAME),
        true => Err(io::Error::other("linerate is about to end")),
    };
    let folder = made.map_err(|source| Error::SocketFolder {
        folder: parent,
        source,
    })?;
    let process = Local::new().spawn(&ssh(&socket_in(&folder)))?;
    let holding = Arc::new(Holding {
        ssh: process.ender(),
        folder,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_has_room_in_its_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::make(parent.path(), NAME).unwrap();
        let below = socket_in(&folder).as_os_str().len() - parent.path().as_os_str().len();
        // `ssh` adds a point and 16 letters; macOS takes 104 bytes with the one that ends them.
        assert!(PARENT_BYTES_MAX + below + 17 < 104, "{below}");
    }
}
