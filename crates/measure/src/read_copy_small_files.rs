//! Work on a share that is done once: a file that is read from begin to end, one that is copied to a
//! disk, small files.
//!
//! Nothing of it stays: what it makes is in a folder of its own ([`ScratchFolder`]).

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use locale::say;
use record::{
    Bytes, Direction, Job, JobFile, JobWorkload, Nanoseconds, Sample, Storage, TrialLine,
    TrialResult,
};
use smb::copy::{Place, Progress, download};
use smb::{Access, FileTimes, Login, OpenOptions, Policy, Replace, SmallFile, Tree};

use crate::interval_sampling::cpu;
use crate::local_copy_folder::{self, no_near};
use crate::scratch_folder::ScratchFolder;
use crate::share_workload::{Connected, TestData, agreed, connections, joined, pieces, unbroken};
use crate::stop_request::{STOP_POLL, stoppable};
use crate::test_file_in_folder::check_free_space;
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
    login: &Login,
    near: Option<&ScratchFolder>,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    let begun = Instant::now();
    let connected = Connected::connect(&workload.share, login, &policy(workload), 1)?;
    let first_byte = Some(begun.elapsed().into());
    let mut work = Work {
        workload,
        connected: &connected,
        near,
        stop,
        emit,
        samples: Vec::new(),
        until: Instant::now() + Duration::from(workload.limit),
        storage: None,
    };
    work.run()?;
    let (samples, storage) = (work.samples, work.storage);
    let enters = workload.job == Job::Enter;
    if samples.is_empty() && !enters {
        return Err(Error::TooSlow {
            server: workload.share.server.clone(),
            limit: workload.limit.into(),
        });
    }
    Ok(TrialResult {
        connections: connections(
            &[],
            &connected.session.channels(),
            workload.direction.into(),
        ),
        samples,
        first_byte,
        // The ladder's other trials tell of it, and of more of it.
        session: match enters {
            true => agreed(&connected.session, &connected.tree, &[]),
            false => None,
        },
        far_retransmits: None,
        latency: None,
        playback: None,
        sandbox: None,
        storage,
        engine: None,
    })
}

fn policy(workload: &JobWorkload) -> Policy {
    let policy = unbroken(&workload.demands);
    match workload.job {
        Job::ReadOnce { .. } => Policy {
            block_bytes: BLOCK_BYTES,
            depth: DEPTH,
            depth_fixed: true,
            ..policy
        },
        // A copy is what it is anywhere else.
        Job::Enter | Job::Copy { .. } | Job::SmallFiles { .. } => policy,
    }
}

/// A job while it is done.
struct Work<'a> {
    workload: &'a JobWorkload,
    connected: &'a Connected,
    /// The folder of this machine that a file is copied to.
    near: Option<&'a ScratchFolder>,
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
            Job::Enter => self.enter(),
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
                self.copy(&path, size, folder.is_some(), *times)
            }
            Job::SmallFiles { count, size } => {
                let count = (*count).clamp(PARTS, FILES_MAX);
                let size = usize::try_from(size.get()).unwrap_or(usize::MAX);
                self.small_files(count, size.clamp(1, smb::SMALL_BYTES_MAX))
            }
        }
    }

    /// Sees that the folder is there; the top of a share always is.
    fn enter(&self) -> Result<(), Error> {
        let folder = self.workload.share.path.trim_matches('/');
        if !folder.is_empty() {
            self.connected.tree.status(folder)?;
        }
        Ok(())
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
            JobFile::Named(path) => Ok((path.clone(), self.connected.tree.status(path)?.size)),
            JobFile::Found => self.find(most),
        }
    }

    /// The largest file of at most so many bytes near the top of the folder.
    fn find(&self, most: u64) -> Result<(String, u64), Error> {
        let share = &self.workload.share;
        let found = find(
            &self.connected.tree,
            &share.path,
            FOUND_BYTES_MIN..=most,
            &|size| size,
            &mut || self.goes_on(),
        )?;
        found.ok_or_else(|| Error::NoFile {
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
        let file = self.connected.tree.open(&path, &options)?;
        let parts = u64::from(PARTS) + 1;
        let (mut read, mut counted, mut part) = (0, 0, 1);
        let (begun, cpu_begun) = (Instant::now(), cpu());
        let (mut since, mut cpu_since) = (begun, cpu_begun);
        let blocks = pieces(begin..begin + bytes, BLOCK_BYTES.into());
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
        if self.samples.is_empty() && read > 0 {
            // Of a slow disk that is all there is, with its getting under way.
            let cpu_used = cpu().saturating_sub(cpu_begun);
            self.sample(read, begun.elapsed(), cpu_used);
        }
        Ok(file.close()?)
    }

    fn copy(&mut self, path: &str, size: u64, asked: bool, times: u32) -> Result<(), Error> {
        let near = self
            .near
            .and_then(ScratchFolder::local)
            .ok_or_else(no_near)?;
        self.storage = Some(local_copy_folder::storage(near, asked)?);
        check_free_space(near, size)?;
        let copy = near.join("copy");
        // The first one is for getting under way, unless there is no time for another.
        for turn in 0..=times {
            let (begun, cpu_begun) = (Instant::now(), cpu());
            let copied = stoppable(
                self.stop,
                STOP_POLL,
                || {},
                |halt| {
                    let (tree, progress) = (&self.connected.tree, Progress::default());
                    download(tree, path, &copy, Replace::Never, &progress, halt)
                },
            )??;
            let moved = begun.elapsed();
            let synced = sync(&copy)?;
            fs::remove_file(&copy).ok();
            let goes_on = self.goes_on()?;
            if turn > 0 || !goes_on {
                // In a copy that is longer than memory the two go on at the same time.
                self.sample(copied, moved.max(synced), cpu().saturating_sub(cpu_begun));
            }
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    fn small_files(&mut self, count: u32, size: usize) -> Result<(), Error> {
        let parent = self.connected.folder(&self.workload.share);
        let scratch =
            ScratchFolder::make(parent, u64::from(count) * size as u64, count, self.stop)?;
        let Place::Share { tree, path } = scratch.top() else {
            // It was made on the share.
            return Ok(());
        };
        let files = SmallFiles::new(tree, path, size)?;
        let reads = self.workload.direction == Direction::Read;
        let mut made = 0;
        if reads {
            let half = Instant::now() + Duration::from(self.workload.limit) / 2;
            while made < count {
                files.write(made)?;
                made += 1;
                if Instant::now() >= half || !self.goes_on()? {
                    break;
                }
            }
        }
        let count = if reads { made } else { count };
        let mut next = 0;
        for part in 1..=PARTS {
            let (begun, cpu_begun) = (Instant::now(), cpu());
            let first = next;
            while next < count * part / PARTS {
                match reads {
                    true => files.read(next)?,
                    false => files.write(next)?,
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
        Ok(())
    }
}

/// Of the files near the top of a folder whose size is one of these, the one that `rank` puts highest
/// for its size, and that size.
pub(crate) fn find(
    tree: &Tree,
    top: &str,
    sizes: RangeInclusive<u64>,
    rank: &dyn Fn(u64) -> u64,
    goes_on: &mut dyn FnMut() -> Result<bool, Error>,
) -> Result<Option<(String, u64)>, Error> {
    let mut folders = vec![top.trim_matches('/').to_owned()];
    let mut best: Option<(String, u64)> = None;
    let (mut next, mut seen) = (0, 0);
    while let Some(folder) = folders.get(next).cloned() {
        next += 1;
        // What we may not look into has nothing for us.
        let entries = tree.entries(&folder).into_iter().flatten();
        for entry in entries.flatten().take(ENTRIES_MAX - seen) {
            seen += 1;
            if entry.attributes & NOT_HERE != 0 || entry.name.starts_with('.') {
                continue;
            }
            let path = joined(&folder, &entry.name);
            if entry.attributes & FOLDER != 0 {
                folders.push(path);
            } else if sizes.contains(&entry.size)
                && best
                    .as_ref()
                    .is_none_or(|(_, size)| rank(entry.size) > rank(*size))
            {
                best = Some((path, entry.size));
            }
        }
        if next >= FOLDERS_MAX || seen >= ENTRIES_MAX || !goes_on()? {
            break;
        }
    }
    Ok(best)
}

/// A random multiple of the size of a block, up to `most`.
fn somewhere(most: u64) -> Result<u64, Error> {
    let mut random = [0; 8];
    fill_random(&mut random)?;
    let block = u64::from(BLOCK_BYTES);
    Ok(u64::from_ne_bytes(random) % (most / block + 1) * block)
}

/// Has a file written to its disk, and says how long that took.
fn sync(path: &Path) -> Result<Duration, Error> {
    let begun = Instant::now();
    os::local_file::sync_content(path).map_err(|source| Error::System {
        action: say("error-measure.sync-copy"),
        source,
    })?;
    Ok(begun.elapsed())
}

/// Small files in a folder of a share, all with the same content.
struct SmallFiles<'a> {
    tree: &'a Tree,
    folder: &'a str,
    content: Arc<[u8]>,
}

impl<'a> SmallFiles<'a> {
    fn new(tree: &'a Tree, folder: &'a str, size: usize) -> Result<Self, Error> {
        let mut content = vec![0; size];
        TestData::new(record::Data::Random)?.fill(0, &mut content);
        Ok(Self {
            tree,
            folder,
            content: content.into(),
        })
    }

    fn write(&self, number: u32) -> Result<(), Error> {
        let path = joined(self.folder, &number.to_string());
        Ok(self.tree.write_small(SmallFile {
            temporary: format!("{path}.tmp"),
            path,
            replace: Replace::Never,
            content: Arc::clone(&self.content),
            times: FileTimes::default(),
            attributes: 0,
            mode: None,
        })?)
    }

    fn read(&self, number: u32) -> Result<(), Error> {
        let path = joined(self.folder, &number.to_string());
        match self.tree.read_small(&path)?.bytes[..] == self.content[..] {
            true => Ok(()),
            false => Err(Error::Usage {
                reason: say("error-measure.usage-other-bytes").with("path", path),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_within_a_file_lies_in_it() {
        for most in [0, 1, (1 << 20) - 1, 1 << 20, 5 << 20] {
            let place = somewhere(most).unwrap();
            assert!(place <= most && place.is_multiple_of(1 << 20), "{place}");
        }
    }
}
