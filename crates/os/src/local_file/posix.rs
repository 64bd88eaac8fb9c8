//! POSIX systems.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, RawMode, SeekFrom};

use super::Facts;

/// Mode of what is not complete yet, as the standard library and as the system takes it.
const PRIVATE_BITS: u32 = 0o600;
const PRIVATE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
/// Mode of a new file, before the umask.
const NEW_FILE_MODE: RawMode = 0o666;
/// Who may read, write and execute. A file from elsewhere inherits no set-user-ID.
const ACCESS_BITS: RawMode = 0o777;
/// `st_blocks` counts in this unit whatever the file system does.
const BLOCK_BYTES: u64 = 512;

pub(super) fn facts(_: &File, metadata: &Metadata) -> Facts {
    facts_of(metadata)
}

pub(super) fn facts_of_unopened(_: &Path, metadata: &Metadata) -> Facts {
    facts_of(metadata)
}

fn facts_of(metadata: &Metadata) -> Facts {
    Facts {
        allocation: metadata.blocks().saturating_mul(BLOCK_BYTES),
        id: Some(metadata.ino()),
        changed: changed_at(metadata),
        mode: Some(metadata.mode() & ACCESS_BITS),
    }
}

fn changed_at(metadata: &Metadata) -> Option<SystemTime> {
    let seconds = u64::try_from(metadata.ctime()).ok()?;
    let nanos = u32::try_from(metadata.ctime_nsec()).ok()?;
    UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

pub(super) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = options.clone();
    options
        .custom_flags(careful.bits().cast_signed())
        .mode(PRIVATE_BITS);
    options.open(path)
}

pub(super) fn open_to_set_times(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path)
}

pub(super) fn folder_builder(mode: Option<u32>) -> DirBuilder {
    let mut builder = DirBuilder::new();
    if let Some(mode) = mode {
        builder.mode(mode & ACCESS_BITS);
    }
    builder
}

pub(super) fn symlink(target: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (open, there) = (file.metadata()?, path.symlink_metadata()?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

pub(super) fn is_ours(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(is_own(&metadata) && metadata.nlink() == 1)
}

pub(super) fn has_other_names(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 1)
}

fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(target_os = "linux")]
pub(super) fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system cannot, or not even the system.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => super::check_and_rename(from, to),
        renamed => Ok(renamed?),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    super::check_and_rename(from, to)
}

#[cfg(target_os = "linux")]
pub(super) fn tells_late(file: &File) -> bool {
    let (Ok(system), Ok(metadata)) = (rustix::fs::fstatfs(file), file.metadata()) else {
        return true;
    };
    // Numbers of 32 bits, whatever they are kept in.
    is_elsewhere(system.f_type as u32, rustix::fs::major(metadata.dev()))
}

/// Not known: to sync each file of a copy would cost what a disk takes to have it, and systems that lose what they took and
/// tell only those who sync are not known among these.
#[cfg(not(target_os = "linux"))]
pub(super) fn tells_late(_: &File) -> bool {
    false
}

/// Whether a file system of this kind keeps its files on another machine, or has a program keep
/// them who knows where.
#[cfg(target_os = "linux")]
fn is_elsewhere(kind: u32, device: u32) -> bool {
    const NFS: u32 = 0x6969;
    const SMB: u32 = 0x517B;
    const CIFS: u32 = 0xFF53_4D42;
    const SMB2: u32 = 0xFE53_4D42;
    const AFS: u32 = 0x5346_414F;
    const KERNEL_AFS: u32 = 0x6B41_4653;
    const CEPH: u32 = 0x00C3_6400;
    const FUSE: u32 = 0x6573_5546;
    match kind {
        NFS | SMB | CIFS | SMB2 | AFS | KERNEL_AFS | CEPH => true,
        // One that is on a disk of this machine has that disk's number.
        FUSE => device == 0,
        _ => false,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn make_sparse(_: &File) -> io::Result<()> {
    Ok(())
}

pub(super) fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

pub(super) fn make_private(file: &File) -> io::Result<()> {
    set_mode(file, PRIVATE_MODE)
}

pub(super) fn publish(
    file: &File,
    mode: Option<u32>,
    replaces: Option<&Metadata>,
) -> io::Result<()> {
    let mode = match (mode, replaces) {
        (None, Some(metadata)) if is_own(metadata) => Mode::from_raw_mode(metadata.mode()),
        (mode, _) => Mode::from_raw_mode(mode.unwrap_or(NEW_FILE_MODE)) & !umask(),
    };
    set_mode(file, mode & Mode::from_raw_mode(ACCESS_BITS))
}

fn set_mode(file: &File, mode: Mode) -> io::Result<()> {
    use rustix::io::Errno;

    match rustix::fs::fchmod(file, mode) {
        // A file system whose files all have the mode that it was mounted with.
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        set => Ok(set?),
    }
}

/// What this process takes from the mode of each file that it makes. The system gives it only to who sets
/// another one, so a file that is made meanwhile is narrower.
fn umask() -> Mode {
    static UMASK: OnceLock<Mode> = OnceLock::new();
    *UMASK.get_or_init(|| {
        let mask =
            rustix::process::umask(Mode::from_raw_mode(ACCESS_BITS).difference(PRIVATE_MODE));
        rustix::process::umask(mask);
        mask
    })
}

#[cfg(target_os = "linux")]
pub(super) fn open_past_cache(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(OFlags::DIRECT.bits().cast_signed());
    options.open(path)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_past_cache(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
pub(super) fn forget_content(file: &File) -> io::Result<()> {
    use rustix::fs::{Advice, fadvise};

    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn forget_content(_: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Of whatever is open (`proc(5)`).
pub(crate) fn path_for_programs(open: &impl AsRawFd) -> Option<PathBuf> {
    let path = format!("/proc/{}/fd/{}", std::process::id(), open.as_raw_fd());
    cfg!(target_os = "linux").then(|| PathBuf::from(path))
}

pub(super) fn sync_content(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

pub(super) fn sync_names(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub(super) fn read_at(file: &File, offset: u64, room: &mut [u8]) -> io::Result<usize> {
    file.read_at(room, offset)
}

pub(super) fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    file.write_at(bytes, offset)
}

pub(super) fn next_data(file: &File, from: u64, size: u64) -> Option<Range<u64>> {
    let begin = match rustix::fs::seek(file, SeekFrom::Data(from)) {
        Ok(begin) => begin,
        Err(rustix::io::Errno::NXIO) => return None,
        Err(_) => return Some(from..size),
    };
    let end = rustix::fs::seek(file, SeekFrom::Hole(begin)).unwrap_or(size);
    (begin < size).then(|| begin..end.min(size))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_file_systems_of_others_are_asked_whether_they_lost_something() {
        // A disk, by its own driver or by a program, and none.
        for (kind, device, elsewhere) in [
            (0x6969, 0, true),
            (0xFE53_4D42, 0, true),
            (0xFF53_4D42, 0, true),
            (0x6573_5546, 0, true),
            (0x6573_5546, 8, false),
            (0xEF53, 8, false),
            (0x9123_683E, 0, false),
        ] {
            assert_eq!(is_elsewhere(kind, device), elsewhere, "{kind:x}");
        }
        let local = File::open("/proc/self/stat").expect("Linux has it");
        assert!(!tells_late(&local));
    }
}
