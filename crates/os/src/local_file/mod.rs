//! Files of this machine as copies need them: opened without following a link, private until they are complete, given a
//! name that nothing else has, read and written at an offset.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[cfg_attr(unix, path = "posix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

#[cfg(unix)]
pub(crate) use imp::path_for_programs as path_for_programs_of;
#[cfg(windows)]
pub(crate) use imp::protocol_of_share;

/// What the system says of a file beside what [`Metadata`] has on every system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The space it takes, in bytes; its length where the system does not say.
    pub allocation: u64,
    /// Its number on its file system; none where the system does not say.
    pub id: Option<u64>,
    /// When anything of it was changed last; none where the system does not say.
    pub changed: Option<SystemTime>,
    /// Who may read, write and execute it, as in `chmod(2)`; none where files have no such bits.
    pub mode: Option<u32>,
}

/// Of a file that is open, with its metadata.
#[must_use]
pub fn facts(file: &File, metadata: &Metadata) -> Facts {
    imp::facts(file, metadata)
}

/// Of a file that is not open, with its metadata, as far as that is known.
#[must_use]
pub fn facts_of_unopened(path: &Path, metadata: &Metadata) -> Facts {
    imp::facts_of_unopened(path, metadata)
}

/// Opens what has that name, without following a link or waiting for a pipe. No other user can read what is made so,
/// until [`publish`] sets its mode.
///
/// # Errors
/// As [`OpenOptions::open`], and for a link, where the system opens none.
pub fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    imp::open(options, path)
}

/// Opens a file or folder only to set its times, as [`open`] does.
///
/// # Errors
/// As [`open`].
pub fn open_to_set_times(path: &Path) -> io::Result<File> {
    imp::open_to_set_times(path)
}

/// Makes folders with this mode, less what the umask takes from it; without one, as others do.
#[must_use]
pub fn folder_builder(mode: Option<u32>) -> DirBuilder {
    imp::folder_builder(mode)
}

/// Makes a symbolic link.
///
/// # Errors
/// When something has that name, or this system or user makes none.
pub fn symlink(target: &str, path: &Path) -> io::Result<()> {
    imp::symlink(target, path)
}

/// Whether a path leads to an open file itself; not where that is not known.
#[must_use]
pub fn is_at(file: &File, path: &Path) -> bool {
    imp::is_at(file, path).unwrap_or(false)
}

/// Whether a file that was there already is ours alone: not another user's, and without a second name. Not where that is
/// not known.
#[must_use]
pub fn is_ours(file: &File) -> bool {
    imp::is_ours(file).unwrap_or(false)
}

/// Whether a file has more than one name; so it is where that is not known.
#[must_use]
pub fn has_other_names(file: &File) -> bool {
    imp::has_other_names(file).unwrap_or(true)
}

/// Gives a file a name that nothing has.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when something has it, even a link to nowhere.
pub fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    imp::rename_to_new(from, to)
}

/// The same where the system has no call for it: as far as can be seen a moment before.
#[cfg(any(unix, test))]
fn check_and_rename(from: &Path, to: &Path) -> io::Result<()> {
    match to.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(from, to),
    }
}

/// Gives a file a name, and removes what had it, also where that is read-only.
///
/// # Errors
/// When it cannot be.
pub fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    imp::rename_over(from, to)
}

/// Has a file take no space for what is never written, where that does not go without saying.
///
/// # Errors
/// When its file system has no such files.
pub fn make_sparse(file: &File) -> io::Result<()> {
    imp::make_sparse(file)
}

/// Whether its file system may take bytes, lose them later, and tell only those who sync.
#[must_use]
pub fn tells_late(file: &File) -> bool {
    imp::tells_late(file)
}

/// Keeps other users from what was made earlier, perhaps by another version.
///
/// # Errors
/// When the system does not do it.
pub fn make_private(file: &File) -> io::Result<()> {
    imp::make_private(file)
}

/// Gives a complete file this mode, without it that of the file of this user that it replaces, and else that of a
/// new one: what another user lets everybody write is not for everybody once it is ours. What the umask keeps from
/// others, no server gives them. Where files have no mode, it has the rights of its folder.
///
/// # Errors
/// When the system does not do it.
pub fn publish(file: &File, mode: Option<u32>, replaces: Option<&Metadata>) -> io::Result<()> {
    imp::publish(file, mode, replaces)
}

/// Opens a file for reading so that the cache of this machine is passed by: each operation must be a multiple of a sector
/// then, in the file and in memory.
///
/// # Errors
/// When it cannot be opened, or its file system or this system has no such files.
pub fn open_past_cache(path: &Path) -> io::Result<File> {
    imp::open_past_cache(path)
}

/// A path by which other programs reach an open file, while this one runs and whatever its name is by then; none where
/// the system has no such paths.
#[must_use]
pub fn path_for_programs(open: &File) -> Option<PathBuf> {
    imp::path_for_programs(open)
}

/// Waits until what a file holds is on its disk.
///
/// # Errors
/// When that fails, or the system wants rights for it that this user has not.
pub fn sync_content(path: &Path) -> io::Result<()> {
    imp::sync_content(path)
}

/// Waits until the names in a folder are on the disk, where that does not go without saying.
///
/// # Errors
/// When they cannot be.
pub fn sync_names(folder: &Path) -> io::Result<()> {
    imp::sync_names(folder)
}

/// Has this machine's cache forget what it holds of a file that is written already.
///
/// # Errors
/// When the system cannot be asked for it.
pub fn forget_content(file: &File) -> io::Result<()> {
    imp::forget_content(file)
}

/// Reads some bytes of a file, none at its end.
///
/// # Errors
/// When it cannot be read.
pub fn read_at(file: &File, offset: u64, room: &mut [u8]) -> io::Result<usize> {
    imp::read_at(file, offset, room)
}

/// Fills all of the room from there on.
///
/// # Errors
/// When it cannot be read, or ends before ([`io::ErrorKind::UnexpectedEof`]).
pub fn read_exact_at(file: &File, offset: u64, room: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < room.len() {
        match imp::read_at(file, offset + done as u64, &mut room[done..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all of the bytes from there on.
///
/// # Errors
/// When they cannot all be written.
pub fn write_all_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match imp::write_at(file, offset + done as u64, &bytes[done..]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The next range at or after `from` that is not a hole, none where only holes are left. A file system that does not know
/// its holes has none.
#[must_use]
pub fn next_data(file: &File, from: u64, size: u64) -> Option<Range<u64>> {
    imp::next_data(file, from, size)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_name_that_something_has_is_not_taken() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let exists = |renamed: io::Result<()>| {
            renamed.is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
        };
        for rename in [rename_to_new, check_and_rename] {
            fs::write(&from, "new").expect("room on the disk");
            fs::write(&to, "old").expect("room on the disk");
            assert!(exists(rename(&from, &to)));
            assert_eq!(fs::read(&to).expect("it is there"), b"old");
            fs::remove_file(&to).expect("our own folder");
            if crate::HAS_POSIX_FILES {
                symlink("nowhere", &to).expect("our own folder");
                assert!(exists(rename(&from, &to)));
                fs::remove_file(&to).expect("our own folder");
            }
            rename(&from, &to).expect("nothing has the name");
            assert_eq!(fs::read(&to).expect("it has it"), b"new");
            fs::remove_file(&to).expect("our own folder");
        }
    }

    #[test]
    fn a_file_is_only_where_it_is() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let file = File::create_new(&one).expect("our own folder");
        fs::write(&other, "").expect("our own folder");
        assert!(is_at(&file, &one) && is_ours(&file));
        assert!(!is_at(&file, &other) && !is_at(&file, folder.path()));
        fs::remove_file(&other).expect("our own folder");
        assert!(!is_at(&file, &other));
        // A file with a second name may be another user's too.
        fs::hard_link(&one, &other).expect("the file system has links");
        assert!(is_at(&file, &other) && !is_ours(&file));
    }

    #[test]
    fn bytes_are_read_and_written_where_they_are_asked_for() {
        let mut file = tempfile::tempfile().expect("a temporary file");
        write_all_at(&file, 3, b"three").expect("room on the disk");
        write_all_at(&file, 0, b"abc").expect("room on the disk");
        let mut room = [0; 8];
        read_exact_at(&file, 0, &mut room).expect("all of it is there");
        assert_eq!(&room, b"abcthree");
        assert_eq!(read_at(&file, 8, &mut room).expect("its end"), 0);
        let past = read_exact_at(&file, 1, &mut room).unwrap_err();
        assert_eq!(past.kind(), io::ErrorKind::UnexpectedEof);
        io::Write::flush(&mut file).expect("nothing is held back");
        let metadata = file.metadata().expect("it is open");
        let known = facts(&file, &metadata);
        assert!(known.id.is_some() && known.allocation >= 8, "{known:?}");
        let age = known.changed.and_then(|changed| changed.elapsed().ok());
        assert!(age.is_some_and(|age| age.as_secs() < 60), "{known:?}");
        let other = tempfile::tempfile().expect("a temporary file");
        let other = facts(&other, &other.metadata().expect("it is open"));
        assert_ne!(other.id, known.id);
        assert_eq!(next_data(&file, 0, 8), Some(0..8));
    }
}
