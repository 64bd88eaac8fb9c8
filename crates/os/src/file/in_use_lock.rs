//! A lock that shows that a file is in use, and keeps no handle from reading and writing it.
//!
//! `flock(2)` does not do: on SMB mounts whose client may not cache locks (`vers=2.0`, servers without leases) it is a
//! lock of the server on all of the file, and such locks are mandatory: every other handle is refused to read and write
//! (MS-FSA 2.1.4.10). So a range is locked that no file has.

use std::fs::File;
use std::io;

/// Where no file has content: the largest of Windows end before (ReFS, 2^55).
#[cfg(target_os = "linux")]
const BEYOND: i64 = 1 << 62;

/// Shows that a file, which is open to be written, is in use while it is open.
///
/// # Errors
/// Another handle shows that already, or its file system has no locks.
#[cfg(target_os = "linux")]
pub fn show_in_use(file: &File) -> io::Result<()> {
    lock(file, libc::F_WRLCK)
}

/// Finds out whether a file, which is open to be read, is in use.
///
/// # Errors
/// It is, or its file system has no locks, so that this cannot be known.
#[cfg(target_os = "linux")]
pub fn check_unused(file: &File) -> io::Result<()> {
    lock(file, libc::F_RDLCK)?;
    lock(file, libc::F_UNLCK)
}

/// Takes a lock of the open file, not of the process (`fcntl(2)`, open file description locks): the same process opens
/// and closes it elsewhere too.
#[cfg(target_os = "linux")]
fn lock(file: &File, kind: libc::c_int) -> io::Result<()> {
    use nix::fcntl::{FcntlArg, fcntl};

    let range = libc::flock {
        l_type: i16::try_from(kind).map_err(io::Error::other)?,
        l_whence: i16::try_from(libc::SEEK_SET).map_err(io::Error::other)?,
        l_start: BEYOND,
        l_len: 1,
        l_pid: 0,
    };
    fcntl(file, FcntlArg::F_OFD_SETLK(&range))?;
    Ok(())
}

/// The same where locks of ranges belong to processes.
///
/// # Errors
/// Another handle shows that already, or its file system has no locks.
#[cfg(not(target_os = "linux"))]
pub fn show_in_use(file: &File) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};

    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// The same where locks of ranges belong to processes.
///
/// # Errors
/// It is in use, or its file system has no locks.
#[cfg(not(target_os = "linux"))]
pub fn check_unused(file: &File) -> io::Result<()> {
    show_in_use(file)
}

/// Takes a lock on a whole file, and gives it back (`fcntl(2)`, the lock of a process, which is what network file systems
/// ask their servers for).
///
/// # Errors
/// Another process has it locked, or its file system has no locks.
pub fn lock_and_unlock(file: &File) -> io::Result<()> {
    use rustix::fs::{FlockOperation, fcntl_lock};

    fcntl_lock(file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(fcntl_lock(file, FlockOperation::Unlock)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_in_use_until_the_handle_that_shows_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let used = File::create_new(&path).unwrap();
        let other = || File::open(&path).unwrap();
        check_unused(&other()).unwrap();
        show_in_use(&used).unwrap();
        check_unused(&other()).unwrap_err();
        // Another handle of the same process that is closed takes nothing away.
        drop(other());
        check_unused(&other()).unwrap_err();
        drop(used);
        check_unused(&other()).unwrap();
        // Who looked holds nothing.
        let looked = other();
        check_unused(&looked).unwrap();
        let again = File::options().write(true).open(&path).unwrap();
        show_in_use(&again).unwrap();
    }
}
