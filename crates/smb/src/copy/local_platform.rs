//! What systems do differently with files of this machine.

use std::path::Path;
use std::{fs, io};

pub(super) use imp::*;

/// Gives a file a name that nothing has, as far as can be seen a moment before.
pub(super) fn check_and_rename(from: &Path, to: &Path) -> io::Result<()> {
    match to.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

#[cfg(unix)]
mod imp {
    use std::fs::{DirBuilder, File, Metadata, OpenOptions};
    use std::io;
    use std::ops::Range;
    use std::os::unix::fs::{
        DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _,
    };
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;
    use std::time::{Duration, UNIX_EPOCH};

    pub(in crate::copy) use os::file::Held;
    use rustix::fs::{Mode, RawMode, SeekFrom};

    /// Mode of what is not complete yet, as the standard library and as the system takes it.
    const PRIVATE_BITS: u32 = 0o600;
    const PRIVATE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
    /// Mode of a new file, before the umask.
    const NEW_FILE_MODE: RawMode = 0o666;
    /// Who may read, write and execute. A file from elsewhere inherits no set-user-ID.
    const ACCESS_BITS: RawMode = 0o777;
    /// `st_blocks` counts in this unit whatever the file system does.
    const BLOCK_BYTES: u64 = 512;

    pub(in crate::copy) fn allocation(metadata: &Metadata) -> u64 {
        metadata.blocks().saturating_mul(BLOCK_BYTES)
    }

    pub(in crate::copy) fn file_id(metadata: &Metadata) -> u64 {
        metadata.ino()
    }

    /// When anything of it was changed last, in the server's unit.
    pub(in crate::copy) fn changed_at(metadata: &Metadata) -> u64 {
        let since_1970 = || {
            let seconds = u64::try_from(metadata.ctime()).ok()?;
            let nanos = u32::try_from(metadata.ctime_nsec()).ok()?;
            UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
        };
        since_1970().map_or(0, crate::copy::filetime::of_server)
    }

    /// Who may read, write and execute it.
    pub(in crate::copy) fn mode(metadata: &Metadata) -> Option<u32> {
        Some(metadata.mode() & ACCESS_BITS)
    }

    /// Makes folders with this mode, less what the umask takes from it; without one, as others do.
    pub(in crate::copy) fn folder_builder(mode: Option<u32>) -> DirBuilder {
        let mut builder = DirBuilder::new();
        if let Some(mode) = mode {
            builder.mode(mode & ACCESS_BITS);
        }
        builder
    }

    pub(in crate::copy) use std::os::unix::fs::symlink;

    /// Whether both are of one file.
    pub(in crate::copy) fn is_same(one: &Metadata, other: &Metadata) -> bool {
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    }

    /// Gives a file a name that nothing has.
    #[cfg(target_os = "linux")]
    pub(in crate::copy) fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;

        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The file system cannot, or not even the system.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                super::check_and_rename(from, to)
            }
            renamed => Ok(renamed?),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(in crate::copy) fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
        super::check_and_rename(from, to)
    }

    /// Whether it may take bytes, lose them later, and tell only those who sync.
    #[cfg(target_os = "linux")]
    pub(in crate::copy) fn tells_late(file: &File) -> bool {
        let (Ok(system), Ok(metadata)) = (rustix::fs::fstatfs(file), file.metadata()) else {
            return true;
        };
        // Numbers of 32 bits, whatever they are kept in.
        is_elsewhere(system.f_type as u32, rustix::fs::major(metadata.dev()))
    }

    #[cfg(not(target_os = "linux"))]
    pub(in crate::copy) fn tells_late(_: &File) -> bool {
        false
    }

    /// Whether a file system of this kind keeps its files on another machine, or has a program keep
    /// them who knows where.
    #[cfg(target_os = "linux")]
    pub(in crate::copy) fn is_elsewhere(kind: u32, device: u32) -> bool {
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

    /// Where a person means, links followed, of which root follows root's only.
    pub(in crate::copy) fn resolve(path: &Path) -> io::Result<PathBuf> {
        os::file::resolve(path).map_err(os::file::Error::into_io)
    }

    /// Opens what has that name, without following a link or waiting for a pipe. No other user can read what is made so,
    /// until [`publish`] sets its mode.
    pub(in crate::copy) fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
        options
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .mode(PRIVATE_BITS)
    }

    /// Whether a file that was there already is ours alone: not another user's, and without a second name.
    pub(in crate::copy) fn is_ours(metadata: &Metadata) -> bool {
        is_own(metadata) && metadata.nlink() == 1
    }

    fn is_own(metadata: &Metadata) -> bool {
        metadata.uid() == rustix::process::geteuid().as_raw()
    }

    /// Keeps other users from what was made earlier, perhaps by another version.
    pub(in crate::copy) fn make_private(file: &File) -> io::Result<()> {
        set_mode(file, PRIVATE_MODE)
    }

    /// Gives a complete file this mode, without it that of the file of this user that it replaces, and else that of a
    /// new one: what another user lets everybody write is not for everybody once it is ours. What the umask keeps from
    /// others, no server gives them.
    pub(in crate::copy) fn publish(
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

    /// What this process takes from the mode of each file that it makes. The system tells only who sets
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

    pub(in crate::copy) fn read_exact_at(
        file: &File,
        offset: u64,
        room: &mut [u8],
    ) -> io::Result<()> {
        file.read_exact_at(room, offset)
    }

    pub(in crate::copy) fn write_all_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    /// A file system that does not know its holes has none.
    pub(in crate::copy) fn next_data(file: &File, from: u64, size: u64) -> Option<Range<u64>> {
        let begin = match rustix::fs::seek(file, SeekFrom::Data(from)) {
            Ok(begin) => begin,
            Err(rustix::io::Errno::NXIO) => return None,
            Err(_) => return Some(from..size),
        };
        let end = rustix::fs::seek(file, SeekFrom::Hole(begin)).unwrap_or(size);
        (begin < size).then(|| begin..end.min(size))
    }
}

#[cfg(windows)]
mod imp {
    use std::ffi::OsStr;
    use std::fs::{DirBuilder, File, Metadata, OpenOptions};
    use std::io;
    use std::ops::Range;
    use std::os::windows::fs::FileExt as _;
    use std::path::{Path, PathBuf};

    /// A path: nothing is held open.
    pub(in crate::copy) struct Held(PathBuf);

    impl Held {
        pub(in crate::copy) fn enter(path: &Path) -> io::Result<Self> {
            Ok(Self(path.to_owned()))
        }

        pub(in crate::copy) fn folder(path: &Path) -> io::Result<Self> {
            Self::enter(path)
        }

        pub(in crate::copy) fn path(&self) -> &Path {
            &self.0
        }

        pub(in crate::copy) fn sibling(&self, name: impl AsRef<OsStr>) -> PathBuf {
            self.0.with_file_name(name)
        }
    }

    /// Where a person means, as that is written.
    pub(in crate::copy) fn resolve(path: &Path) -> io::Result<PathBuf> {
        std::path::absolute(path)
    }

    pub(in crate::copy) fn allocation(metadata: &Metadata) -> u64 {
        metadata.len()
    }

    pub(in crate::copy) fn file_id(_: &Metadata) -> u64 {
        0
    }

    /// The standard library does not tell it.
    pub(in crate::copy) fn changed_at(_: &Metadata) -> u64 {
        0
    }

    /// Files of Windows have none.
    pub(in crate::copy) fn mode(_: &Metadata) -> Option<u32> {
        None
    }

    pub(in crate::copy) fn folder_builder(_: Option<u32>) -> DirBuilder {
        DirBuilder::new()
    }

    /// Few users may make one, and nobody asks for it: see `Place::has_links`.
    pub(in crate::copy) fn symlink(_: &str, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::copy) fn is_same(_: &Metadata, _: &Metadata) -> bool {
        true
    }

    pub(in crate::copy) fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
        super::check_and_rename(from, to)
    }

    pub(in crate::copy) fn tells_late(_: &File) -> bool {
        false
    }

    pub(in crate::copy) fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }

    pub(in crate::copy) fn is_ours(_: &Metadata) -> bool {
        true
    }

    pub(in crate::copy) fn make_private(_: &File) -> io::Result<()> {
        Ok(())
    }

    /// A file of Windows has the rights of its folder.
    pub(in crate::copy) fn publish(
        _: &File,
        _: Option<u32>,
        _: Option<&Metadata>,
    ) -> io::Result<()> {
        Ok(())
    }

    pub(in crate::copy) fn read_exact_at(
        file: &File,
        offset: u64,
        room: &mut [u8],
    ) -> io::Result<()> {
        let mut done = 0;
        while done < room.len() {
            match file.seek_read(&mut room[done..], offset + done as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => done += count,
            }
        }
        Ok(())
    }

    pub(in crate::copy) fn write_all_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            done += file.seek_write(&bytes[done..], offset + done as u64)?;
        }
        Ok(())
    }

    pub(in crate::copy) fn next_data(_: &File, from: u64, size: u64) -> Option<Range<u64>> {
        Some(from..size)
    }
}
