//! Work on a share that is done once: a file that is read from begin to end, one that is copied to a
//! disk, small files.
//!
//! Nothing of it stays. What a killed one leaves in a folder of the client or on the share, the next
//! one removes: nobody holds it any more, and that can be seen.

use std::fs::{self, File as LocalFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use record::{
    Bytes, Credentials, Direction, Job, JobFile, JobWorkload, Nanoseconds, Sample, Storage,
    TrialLine, TrialResult,
};
use rustix::fs::{FlockOperation, flock};
use smb::copy::{Progress, download};
use smb::{
    Access, DirectoryEntry, Disposition, File, FileTimes, OpenOptions, Policy, Replace, Server,
    Session, SmallFile, Tree,
};

use crate::counters::cpu;
use crate::folder::{check_space, file_system, remove_leftovers};
use crate::share::{TestData, Ways, connections, demanded, login, test_name, test_path};
use crate::stop::STOP_LOOK;
use crate::{Error, Stop, fill_random};

/// Samples of one job, beside the first part of it, which is for getting under way.
const PARTS: u32 = 7;
/// Bytes of one request, and how many are under way, as where a share is read again and again.
const BLOCK_BYTES: u32 = 1 << 20;
const DEPTH: usize = 8;
/// The smallest file that tells something of a disk, and the smallest that tells of a copy.
const FOUND_BYTES_MIN: u64 = 32 << 20;
/// Folders and entries that are looked at for a file.
const FOLDERS_MAX: usize = 16;
const ENTRIES_MAX: usize = 2000;
/// Most small files, and the largest.
const FILES_MAX: u32 = 10_000;
/// Attributes of what is a folder, and of what is a link, or comes from elsewhere when it is read
/// (MS-FSCC 2.6).
const FOLDER: u32 = 0x10;
const NOT_HERE: u32 = 0x400 | 0x1000 | 0x0004_0000 | 0x0040_0000;

/// Does one.
pub(crate) fn run(
    workload: &JobWorkload,
    credentials: Option<&Credentials>,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    let begun = Instant::now();
    let server = Server {
        name: workload.share.server.clone(),
        port: workload.share.port,
    };
    let policy = policy(workload);
    let session = Session::connect(&server, None, &login(credentials), &policy)?;
    let tree = session.tree(&workload.share.share)?;
    let first_byte = Some(begun.elapsed().into());
    let mut work = Work {
        workload,
        tree: &tree,
        stop,
        emit,
        samples: Vec::new(),
        until: Instant::now() + Duration::from(workload.limit),
        storage: None,
    };
    work.run()?;
    let (samples, storage) = (work.samples, work.storage);
    if samples.is_empty() {
        return Err(Error::Silence {
            server: server.name,
            counted: workload.limit.into(),
        });
    }
    Ok(TrialResult {
        connections: connections(&[], &session.channels(), Ways::One(workload.direction)),
        samples,
        first_byte,
        // The ladder's other trials tell of it, and of more of it.
        session: None,
        far_retransmits: None,
        latency: None,
        playback: None,
        storage,
    })
}

fn policy(workload: &JobWorkload) -> Policy {
    let demanded = demanded(&workload.demands);
    match workload.job {
        Job::ReadOnce { .. } => Policy {
            block_bytes: BLOCK_BYTES,
            depth: DEPTH,
            depth_fixed: true,
            reconnect: None,
            ..demanded
        },
        // A copy is what it is anywhere else.
        Job::Copy { .. } | Job::SmallFiles { .. } => Policy {
            reconnect: None,
            ..demanded
        },
    }
}

/// A job while it is done.
struct Work<'a> {
    workload: &'a JobWorkload,
    tree: &'a Tree,
    stop: &'a Stop,
    emit: &'a mut dyn FnMut(&TrialLine),
    samples: Vec<Sample>,
    until: Instant,
    storage: Option<Storage>,
}

impl Work<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let workload = self.workload;
        match &workload.job {
            Job::ReadOnce {
                file, bytes_max, ..
            } => self.read_once(file, bytes_max.get()),
            Job::Copy {
                file,
                bytes_max,
                folder,
                times,
            } => {
                let (path, size) = self.named(file, bytes_max.get())?;
                self.copy(&path, size, folder.as_deref(), *times)
            }
            Job::SmallFiles { count, size } => {
                let count = (*count).clamp(PARTS, FILES_MAX);
                let size = usize::try_from(size.get()).unwrap_or(usize::MAX);
                self.small_files(count, size.clamp(1, smb::SMALL_BYTES_MAX))
            }
        }
    }

    /// Whether there is time for more.
    fn goes_on(&self) -> Result<bool, Error> {
        match self.stop.is_asked() {
            true => Err(Error::Stopped),
            false => Ok(Instant::now() < self.until),
        }
    }

    fn sample(&mut self, bytes: u64, duration: Duration, cpu: Duration) {
        let before: u64 = self.samples.iter().map(|one| one.duration.get()).sum();
        let sample = Sample {
            at: Nanoseconds::new(before),
            duration: duration.into(),
            bytes: Bytes::new(bytes),
            cpu: cpu.into(),
            retransmits: None,
        };
        (self.emit)(&TrialLine::Sample(sample.clone()));
        self.samples.push(sample);
    }

    /// The file's path in the share, and its size.
    fn named(&self, file: &JobFile, most: u64) -> Result<(String, u64), Error> {
        match file {
            JobFile::Named(path) => Ok((path.clone(), self.tree.status(path)?.size)),
            JobFile::Found => self.find(most),
        }
    }

    /// The largest file of at most so many bytes near the top of the folder.
    fn find(&self, most: u64) -> Result<(String, u64), Error> {
        let share = &self.workload.share;
        let mut folders = vec![share.path.trim_matches('/').to_owned()];
        let mut best: Option<(String, u64)> = None;
        let (mut next, mut seen) = (0, 0);
        while let Some(folder) = folders.get(next).cloned() {
            next += 1;
            // What we may not look into has nothing for us.
            let entries = self.tree.entries(&folder).into_iter().flatten();
            for entry in entries.flatten().take(ENTRIES_MAX - seen) {
                seen += 1;
                if entry.attributes & NOT_HERE != 0 || entry.name.starts_with('.') {
                    continue;
                }
                let path = joined(&folder, &entry.name);
                if entry.attributes & FOLDER != 0 {
                    folders.push(path);
                } else if (FOUND_BYTES_MIN..=most).contains(&entry.size)
                    && best.as_ref().is_none_or(|(_, size)| entry.size > *size)
                {
                    best = Some((path, entry.size));
                }
            }
            if next >= FOLDERS_MAX || seen >= ENTRIES_MAX || !self.goes_on()? {
                break;
            }
        }
        best.ok_or_else(|| Error::NoFile {
            share: share.to_string(),
            least: FOUND_BYTES_MIN,
            most,
        })
    }

    fn read_once(&mut self, file: &JobFile, bytes_max: u64) -> Result<(), Error> {
        let (path, size) = self.named(file, u64::MAX)?;
        let options = OpenOptions {
            folder: Some(false),
            ..OpenOptions::open(Access::Read)
        };
        let bytes = size.min(bytes_max);
        let begin = match file {
            JobFile::Named(_) => 0,
            // Not the part that was read the last time.
            JobFile::Found => somewhere(size - bytes)?,
        };
        let file = self.tree.open(&path, &options)?;
        let parts = u64::from(PARTS) + 1;
        let (mut read, mut counted, mut part) = (0, 0, 1);
        let (mut since, mut cpu_since) = (Instant::now(), cpu());
        let blocks = blocks(begin..begin + bytes);
        let halt = smb::Stop::new();
        for piece in file.read_ranges(blocks, &halt) {
            read += piece?.payload.len() as u64;
            if read >= bytes * part / parts {
                let (now, cpu_now) = (Instant::now(), cpu());
                // The first part is for getting under way.
                if counted > 0 {
                    self.sample(
                        read - counted,
                        now - since,
                        cpu_now.saturating_sub(cpu_since),
                    );
                }
                (since, cpu_since, counted) = (now, cpu_now, read);
                part = read * parts / bytes.max(1) + 1;
            }
            if !self.goes_on()? {
                halt.stop();
                break;
            }
        }
        Ok(file.close()?)
    }

    fn copy(
        &mut self,
        path: &str,
        size: u64,
        folder: Option<&str>,
        times: u32,
    ) -> Result<(), Error> {
        let place = LocalPlace::make(folder, size)?;
        self.storage = Some(place.storage.clone());
        let copy = place.path.join("copy");
        // The first one is for getting under way.
        for turn in 0..=times {
            let (begun, cpu_begun) = (Instant::now(), cpu());
            let copied = stoppable(self.stop, |halt| {
                let progress = Progress::default();
                Ok(download(
                    self.tree,
                    path,
                    &copy,
                    Replace::Never,
                    &progress,
                    halt,
                )?)
            })?;
            let moved = begun.elapsed();
            let synced = sync(&copy)?;
            fs::remove_file(&copy).ok();
            if turn > 0 {
                // In a copy that is longer than memory the two go on at the same time.
                self.sample(copied, moved.max(synced), cpu().saturating_sub(cpu_begun));
            }
            if !self.goes_on()? {
                break;
            }
        }
        Ok(())
    }

    fn small_files(&mut self, count: u32, size: usize) -> Result<(), Error> {
        remove_stale(self.tree, &self.workload.share.path);
        let mut content = vec![0; size];
        TestData::new(record::Data::Random)?.fill(0, &mut content);
        let mut folder = ShareFolder::make(self.tree, &self.workload.share.path, content)?;
        let reads = self.workload.direction == Direction::Read;
        if reads {
            let half = Instant::now() + Duration::from(self.workload.limit) / 2;
            for _ in 0..count {
                folder.add()?;
                if Instant::now() >= half || !self.goes_on()? {
                    break;
                }
            }
        }
        let count = if reads { folder.count } else { count };
        let mut next = 0;
        for part in 1..=PARTS {
            let (begun, cpu_begun) = (Instant::now(), cpu());
            let first = next;
            while next < count * part / PARTS {
                match reads {
                    true => folder.read(next)?,
                    false => folder.add()?,
                }
                next += 1;
                if !self.goes_on()? {
                    break;
                }
            }
            if next > first {
                let bytes = u64::from(next - first) * size as u64;
                self.sample(bytes, begun.elapsed(), cpu().saturating_sub(cpu_begun));
            }
        }
        folder.remove()
    }
}

/// Whole blocks of a range.
fn blocks(range: std::ops::Range<u64>) -> impl Iterator<Item = std::ops::Range<u64>> {
    let step = u64::from(BLOCK_BYTES);
    let begins = range.clone().step_by(BLOCK_BYTES as usize);
    begins.map(move |begin| begin..range.end.min(begin + step))
}

/// A random multiple of the size of a block, up to `most`.
fn somewhere(most: u64) -> Result<u64, Error> {
    let mut random = [0; 8];
    fill_random(&mut random)?;
    let block = u64::from(BLOCK_BYTES);
    Ok(u64::from_ne_bytes(random) % (most / block + 1) * block)
}

fn joined(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Does something that a stop from outside ends.
fn stoppable<T>(
    stop: &Stop,
    work: impl FnOnce(&smb::Stop) -> Result<T, Error>,
) -> Result<T, Error> {
    let halt = smb::Stop::new();
    let over = smb::Stop::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.is_stopped() {
                if stop.is_asked() {
                    halt.stop();
                    return;
                }
                thread::sleep(STOP_LOOK);
            }
        });
        let done = work(&halt);
        over.stop();
        match stop.is_asked() {
            true => Err(Error::Stopped),
            false => done,
        }
    })
}

/// Has a file written to its disk, and says how long that took.
fn sync(path: &Path) -> Result<Duration, Error> {
    let begun = Instant::now();
    LocalFile::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|source| Error::System {
            action: "write the copy to its disk",
            source,
        })?;
    Ok(begun.elapsed())
}

/// A folder of our own in one of the client's, which is removed with all that is in it.
struct LocalPlace {
    path: PathBuf,
    storage: Storage,
    /// Its lock tells whoever finds the folder that it is in use.
    _lock: LocalFile,
}

impl LocalPlace {
    /// Makes it where it was asked for, or else in the first folder that will do.
    fn make(asked: Option<&str>, size: u64) -> Result<Self, Error> {
        let Some(asked) = asked else {
            // The top of a system is nobody's place for files.
            let current = std::env::current_dir().ok();
            let current = current.filter(|folder| folder.parent().is_some());
            let here = current.and_then(|folder| Self::within(&folder, size, false).ok());
            return match here {
                Some(place) => Ok(place),
                None => Self::within(&std::env::temp_dir(), size, false),
            };
        };
        Self::within(Path::new(asked), size, true)
    }

    fn within(folder: &Path, size: u64, asked: bool) -> Result<Self, Error> {
        let (name, network) = file_system(folder)?;
        if network {
            let reason = format!("`{}` is on {name} and not on a disk", folder.display());
            return Err(Error::Usage { reason });
        }
        check_space(folder, size)?;
        remove_leftovers(folder);
        let path = folder.join(test_name()?);
        let failed = |source| Error::TestFile {
            folder: folder.to_owned(),
            source,
        };
        fs::create_dir(&path).map_err(failed)?;
        let lock = LocalFile::open(&path).map_err(failed)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).ok();
        Ok(Self {
            path,
            storage: Storage {
                file_system: name,
                network,
                direct: false,
                folder: (!asked).then(|| folder.display().to_string()),
            },
            _lock: lock,
        })
    }
}

impl Drop for LocalPlace {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.path).ok();
    }
}

/// A folder of our own on the share, with small files in it.
struct ShareFolder<'a> {
    tree: &'a Tree,
    path: String,
    /// It lets nobody else open the folder, which tells them that it is in use; and the server
    /// removes the folder when it is gone and the folder is empty.
    held: Option<File>,
    content: Arc<[u8]>,
    count: u32,
}

impl<'a> ShareFolder<'a> {
    fn make(tree: &'a Tree, folder: &str, content: Vec<u8>) -> Result<Self, Error> {
        let path = test_path(folder)?;
        let held = tree.open(
            &path,
            &OpenOptions {
                disposition: Disposition::Create,
                ..alone()
            },
        )?;
        Ok(Self {
            tree,
            path,
            held: Some(held),
            content: content.into(),
            count: 0,
        })
    }

    fn file(&self, number: u32) -> String {
        format!("{}/{number}", self.path)
    }

    /// One more file.
    fn add(&mut self) -> Result<(), Error> {
        let path = self.file(self.count);
        let temporary = format!("{path}.tmp");
        self.count += 1;
        Ok(self.tree.write_small(SmallFile {
            path,
            temporary,
            replace: Replace::Never,
            content: Arc::clone(&self.content),
            times: FileTimes::default(),
            attributes: 0,
        })?)
    }

    fn read(&self, number: u32) -> Result<(), Error> {
        let path = self.file(number);
        let read = self.tree.read_small(&path)?;
        match read.bytes[..] == self.content[..] {
            true => Ok(()),
            false => Err(Error::Usage {
                reason: format!("the server gives other bytes of `{path}` than it was given"),
            }),
        }
    }

    fn remove(mut self) -> Result<(), Error> {
        self.empty();
        match self.held.take() {
            Some(held) => Ok(held.close()?),
            None => Ok(()),
        }
    }

    fn empty(&mut self) {
        for number in 0..std::mem::take(&mut self.count) {
            // What is still there keeps the folder, and the next one tries again.
            self.tree.remove_file(&self.file(number)).ok();
        }
    }
}

impl Drop for ShareFolder<'_> {
    fn drop(&mut self) {
        self.empty();
        if let Some(held) = self.held.take() {
            held.close().ok();
        }
    }
}

/// How a folder of our own is opened: by nobody else meanwhile, and gone afterwards.
fn alone() -> OpenOptions {
    OpenOptions {
        folder: Some(true),
        delete_on_close: true,
        share_read: false,
        share_write: false,
        ..OpenOptions::open(Access::Read)
    }
}

/// Removes folders of ours on the share that nobody holds any more.
fn remove_stale(tree: &Tree, folder: &str) {
    let folder = folder.trim_matches('/');
    let is_ours = |entry: &DirectoryEntry| {
        entry.attributes & (FOLDER | NOT_HERE) == FOLDER
            && entry.name.starts_with(".linerate-")
            && entry.name.ends_with(".tmp")
    };
    let entries = tree.entries(folder).into_iter().flatten().flatten();
    let stale: Vec<String> = entries
        .take(ENTRIES_MAX)
        .filter(is_ours)
        .map(|entry| joined(folder, &entry.name))
        .collect();
    for path in stale {
        let look = OpenOptions {
            delete_on_close: false,
            ..alone()
        };
        // Whoever made it has it open and lets nobody else in.
        if tree.open(&path, &look).and_then(File::close).is_err() {
            continue;
        }
        let files = tree.entries(&path).into_iter().flatten().flatten();
        let files: Vec<DirectoryEntry> = files.take(FILES_MAX as usize).collect();
        for file in files {
            tree.remove_file(&joined(&path, &file.name)).ok();
        }
        tree.remove_folder(&path).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_a_range_once() {
        let found: Vec<_> = blocks(5..(2 << 20) + 6).collect();
        let mib = 1 << 20;
        assert_eq!(
            found,
            [5..5 + mib, 5 + mib..5 + 2 * mib, 5 + 2 * mib..6 + 2 * mib]
        );
        assert_eq!(blocks(7..7).count(), 0);
    }

    #[test]
    fn a_place_within_a_file_lies_in_it() {
        for most in [0, 1, (1 << 20) - 1, 1 << 20, 5 << 20] {
            let place = somewhere(most).unwrap();
            assert!(place <= most && place.is_multiple_of(1 << 20), "{place}");
        }
    }

    #[test]
    fn a_folder_that_a_killed_copy_left_goes_with_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(".linerate-0123456789abcdef.tmp");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("copy"), b"x").unwrap();
        let other = folder.path().join("linerate.tmp");
        fs::create_dir(&other).unwrap();
        let asked = folder.path().to_str();
        let one = LocalPlace::make(asked, 1).unwrap();
        assert!(!left.exists() && other.exists() && one.path.exists());
        // One that is in use stays.
        let two = LocalPlace::make(asked, 1).unwrap();
        assert!(one.path.exists());
        drop((one, two));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let refused = LocalPlace::make(asked, u64::MAX / 2);
        assert!(matches!(refused, Err(Error::NoRoom { .. })));
    }
}
