//! One file from a share to this machine, or from this machine to a share.
//!
//! The copy is written under another name and gets its own when it is complete, so that nothing
//! that looks complete is ever short.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use smb_proto::session::{Access, CreateOptions, Created, Disposition, FileTimes, SetInformation};

use crate::error::Error;
use crate::file::File;
use crate::session::random;
use crate::signal::Stop;
use crate::tree::{Replace, Tree};

/// From 1601, where the server's time begins, to 1970.
const EPOCH_SECONDS: u64 = 11_644_473_600;
/// The server's unit of time is 100 ns.
const TICKS_PER_SECOND: u64 = 10_000_000;
const NANOS_PER_TICK: u32 = 100;
/// Rights of the handle that writes a copy: data and attributes, and those that renaming and
/// removing need (DELETE, SYNCHRONIZE, read attributes, write data, append, write attributes).
const UPLOAD_RIGHTS: u32 = 0x0001_0000 | 0x0010_0000 | 0x80 | 0x2 | 0x4 | 0x100;

/// How far a copy is, for whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    moved: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Bytes that were moved.
    #[must_use]
    pub fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    /// Bytes of the whole file, 0 as long as nobody knows.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    fn begin(&self, total: u64) {
        self.moved.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn advance(&self, bytes: usize) {
        self.moved.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Copies a file of a share to this machine and gives its length. The time of its last change is
/// kept.
///
/// # Errors
/// When either end says no, the connection is lost, the file turns out shorter than it should be,
/// or it was stopped. What was at `to` before is still there then, and nothing else.
pub fn download(
    tree: &Tree,
    from: &str,
    to: &Path,
    replace: Replace,
    progress: &Progress,
    stop: &Stop,
) -> Result<u64, Error> {
    let options = CreateOptions {
        folder: Some(false),
        sequential: true,
        ..CreateOptions::open(Access::Read)
    };
    let source = tree.open(from, &options)?;
    let Created { size, times, .. } = source.created();
    progress.begin(size);
    if replace == Replace::Never && to.symlink_metadata().is_ok() {
        return Err(local("create", to, io::ErrorKind::AlreadyExists.into()));
    }
    let mut part = LocalPart::create(to)?;
    let mut moved = 0;
    for piece in source.read_ranges(iter::once(0..size), stop) {
        let piece = piece?;
        part.write(piece.offset, piece.payload.bytes())?;
        moved += piece.payload.len() as u64;
        progress.advance(piece.payload.len());
    }
    if moved != size {
        return Err(Error::Short {
            object: from.to_owned(),
            moved,
            expected: size,
        });
    }
    source.close()?;
    part.complete(to, system_time(times.write))?;
    Ok(size)
}

/// Copies a file of this machine to a share and gives its length. The time of its last change is
/// kept.
///
/// # Errors
/// When either end says no, the connection is lost, the file changes its length meanwhile, or it
/// was stopped. What was at `to` before is still there then, and nothing else: also when this
/// program dies, because the server removes what was not completed.
pub fn upload(
    from: &Path,
    tree: &Tree,
    to: &str,
    replace: Replace,
    progress: &Progress,
    stop: &Stop,
) -> Result<u64, Error> {
    let mut source = fs::File::open(from).map_err(|source| local("open", from, source))?;
    let metadata = source
        .metadata()
        .map_err(|source| local("look at", from, source))?;
    if metadata.is_dir() {
        return Err(local("copy", from, io::ErrorKind::IsADirectory.into()));
    }
    let size = metadata.len();
    progress.begin(size);
    let part = RemotePart::create(tree, to)?;
    let mut place = 0;
    part.file
        .write_ranges(iter::once(0..size), stop, |offset, room| {
            let filled = (|| {
                if place != offset {
                    source.seek(SeekFrom::Start(offset))?;
                }
                source.read_exact(room)
            })();
            filled.map_err(|source| local("read", from, source))?;
            place = offset + room.len() as u64;
            progress.advance(room.len());
            Ok(())
        })?;
    let length = source
        .metadata()
        .map_err(|source| local("look at", from, source))?
        .len();
    if length != size {
        return Err(Error::Short {
            object: to.to_owned(),
            moved: size,
            expected: length,
        });
    }
    let modified = metadata
        .modified()
        .ok()
        .map(server_time)
        .unwrap_or_default();
    part.complete(
        to,
        replace,
        FileTimes {
            write: modified,
            ..FileTimes::default()
        },
    )?;
    Ok(size)
}

/// A copy on this machine that is not complete; it removes itself unless it is completed.
struct LocalPart {
    file: fs::File,
    path: PathBuf,
    /// Where the next write goes without a seek.
    place: u64,
    completed: bool,
}

impl LocalPart {
    fn create(to: &Path) -> Result<Self, Error> {
        let name = to.file_name().ok_or_else(|| {
            local(
                "create",
                to,
                io::Error::new(io::ErrorKind::InvalidInput, "it has no name"),
            )
        })?;
        let path = to.with_file_name(part_name(&name.to_string_lossy())?);
        let file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path);
        let file = file.map_err(|source| local("create", &path, source))?;
        Ok(Self {
            file,
            path,
            place: 0,
            completed: false,
        })
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let written = (|| {
            if self.place != offset {
                self.file.seek(SeekFrom::Start(offset))?;
            }
            self.file.write_all(bytes)
        })();
        self.place = offset + bytes.len() as u64;
        written.map_err(|source| local("write", &self.path, source))
    }

    fn complete(mut self, to: &Path, modified: Option<SystemTime>) -> Result<(), Error> {
        if let Some(modified) = modified {
            let times = fs::FileTimes::new().set_modified(modified);
            self.file
                .set_times(times)
                .map_err(|source| local("set the time of", to, source))?;
        }
        fs::rename(&self.path, to).map_err(|source| local("rename to", to, source))?;
        self.completed = true;
        Ok(())
    }
}

impl Drop for LocalPart {
    fn drop(&mut self) {
        if !self.completed {
            // The error that brought us here says more than one about the clean-up.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A copy on a share that is not complete. The server removes it when the handle is closed by
/// whatever, unless it is completed.
struct RemotePart {
    file: File,
}

impl RemotePart {
    fn create(tree: &Tree, to: &str) -> Result<Self, Error> {
        let (folder, name) = match to.rfind(['/', '\\']) {
            Some(end) => to.split_at(end + 1),
            None => ("", to),
        };
        let options = CreateOptions {
            disposition: Disposition::Create,
            folder: Some(false),
            sequential: true,
            share_write: false,
            ..CreateOptions::open(Access::Mask(UPLOAD_RIGHTS))
        };
        let file = tree.open(&format!("{folder}{}", part_name(name)?), &options)?;
        file.set(SetInformation::DeleteOnClose(true))?;
        Ok(Self { file })
    }

    fn complete(self, to: &str, replace: Replace, times: FileTimes) -> Result<(), Error> {
        self.file.set(SetInformation::DeleteOnClose(false))?;
        let completed = (|| {
            self.file.set_times(times)?;
            self.file.rename(to, replace)
        })();
        if completed.is_err() {
            // As far as the server still listens; the first error says more than this one.
            let _ = self.file.set(SetInformation::DeleteOnClose(true));
            return completed;
        }
        self.file.close()
    }
}

/// A name that nobody else uses, beside the final one, so that renaming stays within a folder.
fn part_name(name: &str) -> Result<String, Error> {
    let number = u64::from_le_bytes(random()?);
    // File systems take 255 bytes; what people see first is the begin of the name.
    let begin: String = name.chars().take(40).collect();
    Ok(format!(".{begin}.{number:016x}.part"))
}

fn system_time(ticks: u64) -> Option<SystemTime> {
    let since_1970 = ticks.checked_sub(EPOCH_SECONDS * TICKS_PER_SECOND)?;
    let nanos = u32::try_from(since_1970 % TICKS_PER_SECOND).ok()? * NANOS_PER_TICK;
    UNIX_EPOCH.checked_add(Duration::new(since_1970 / TICKS_PER_SECOND, nanos))
}

/// Zero, which leaves the time as it is, for times before 1970 and after the server's last one.
fn server_time(time: SystemTime) -> u64 {
    let Ok(since_1970) = time.duration_since(UNIX_EPOCH) else {
        return 0;
    };
    since_1970
        .as_secs()
        .checked_add(EPOCH_SECONDS)
        .and_then(|seconds| seconds.checked_mul(TICKS_PER_SECOND))
        .and_then(|ticks| ticks.checked_add((since_1970.subsec_nanos() / NANOS_PER_TICK).into()))
        .filter(|ticks| i64::try_from(*ticks).is_ok())
        .unwrap_or(0)
}

fn local(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::LocalFile {
        action,
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_survive_the_way_there_and_back() {
        // 2026-11-21 12:00:00 UTC and 1234567 ticks
        let ticks = (1_795_262_400 + EPOCH_SECONDS) * TICKS_PER_SECOND + 1_234_567;
        let time = system_time(ticks).expect("it is after 1970");
        assert_eq!(
            time.duration_since(UNIX_EPOCH)
                .unwrap_or_default()
                .as_secs(),
            1_795_262_400
        );
        assert_eq!(server_time(time), ticks);
        assert_eq!(system_time(0), None);
        assert_eq!(server_time(UNIX_EPOCH - Duration::from_secs(1)), 0);
    }

    #[test]
    fn a_local_part_that_is_not_completed_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let to = folder.path().join("film.mkv");
        let mut part = LocalPart::create(&to).expect("the folder is ours");
        part.write(4, b"efgh").expect("the folder is ours");
        part.write(0, b"abcd").expect("the folder is ours");
        drop(part);
        assert_eq!(
            fs::read_dir(folder.path())
                .expect("the folder is ours")
                .count(),
            0
        );

        let mut part = LocalPart::create(&to).expect("the folder is ours");
        part.write(4, b"efgh").expect("the folder is ours");
        part.write(0, b"abcd").expect("the folder is ours");
        part.complete(&to, None).expect("the folder is ours");
        assert_eq!(fs::read(&to).expect("it was renamed"), b"abcdefgh");
        assert_eq!(
            fs::read_dir(folder.path())
                .expect("the folder is ours")
                .count(),
            1
        );
    }

    #[test]
    fn long_names_stay_within_what_file_systems_take() {
        let name = part_name(&"ä".repeat(200)).expect("random bytes");
        assert!(name.len() < 255 && name.starts_with(".ää"));
    }
}
