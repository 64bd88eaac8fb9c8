//! A folder of the client, be it a mounted share or a local disk: `fio` does the operations on a test
//! file of ours.
//!
//! The file loses its name as soon as it is open, and `fio` reaches it through the process that
//! holds it, so that nothing is left however that ends. Where a file system does not go along (some
//! network ones do not), it keeps its name while it is used; the next test in that folder removes
//! what was left by one that was killed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host::exec::{Command, Exec, Local, STATUS_NO_PROGRAM};
use locale::{Message, say};
use os::folder_in_world_writable::Shared;
use record::{
    Bytes, Cache, Data, Direction, FolderKind, FolderWorkload, Latency, Nanoseconds, Pattern,
    Sample, Storage, TrialLine, TrialResult,
};
use rustix::fs::{FlockOperation, OFlags, flock, statvfs};
use serde_json::Value;

use crate::interval_sampling::Spans;
use crate::share_workload::{POOL_BYTES, TestData, check_space, test_name};
use crate::stop_request::STOP_POLL;
use crate::{Error, Stop, queue_depth_and_latency};

/// Bytes of one operation that make sense.
const BLOCK_BYTES: std::ops::RangeInclusive<u64> = 512..=1 << 30;
/// What direct operations must be a multiple of.
const SECTOR_BYTES: u64 = 512;
/// The largest sector that is looked for.
const SECTOR_BYTES_MAX: usize = 64 << 10;
/// How long `fio` may take beside its warm-up and counted time.
const FIO_OVERHEAD: Duration = Duration::from_secs(30);
/// Longest output of `fio` that is read.
const FIO_OUTPUT_BYTES_MAX: u64 = 8 << 20;
/// How long `fio` may take to end once it has printed everything.
const FIO_END: Duration = Duration::from_secs(10);
/// The mode of a test file.
const FILE_MODE: u32 = 0o600;
/// How the engine is called where people read.
pub(crate) const FIO: &str = "fio";

/// File systems by the number that `statfs` gives, and whether they are beyond a network or a hypervisor.
const FILE_SYSTEMS: [(u64, &str, bool); 18] = [
    (0xEF53, "ext4", false),
    (0x5846_5342, "xfs", false),
    (0x9123_683E, "btrfs", false),
    (0x2FC1_2FC1, "zfs", false),
    (0xF2F5_2010, "f2fs", false),
    (0x794C_7630, "overlayfs", false),
    (0x0102_1994, "tmpfs", false),
    (0xFF53_4D42, "cifs", true),
    (0xFE53_4D42, "smb3", true),
    (0x6969, "nfs", true),
    (0x6573_5546, "fuse", true),
    (0x0102_1997, "9p", true),
    (0x00C3_6400, "ceph", true),
    (0x0BD0_0BD0, "lustre", true),
    (0x4750_4653, "gpfs", true),
    (0x1983_0326, "beegfs", true),
    (0x5346_414F, "afs", true),
    (0x786F_4256, "vboxsf", true),
];

/// What is said of a folder that is on no disk, and of one that is no mounted share.
pub(crate) const NO_DISK: &str = "error-measure.usage-no-disk";
const NO_MOUNT: &str = "error-measure.usage-no-mount";

/// Measures a folder.
pub(crate) fn run(
    workload: &FolderWorkload,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    let spans = Spans::new(&workload.timing)?;
    check(workload)?;
    let begun = Instant::now();
    let own = match &workload.operations.file {
        Some(_) => None,
        None => Some(TestFile::create(
            Path::new(&workload.folder),
            workload.kind,
            workload.file_size.get(),
            workload.operations.data,
            stop,
        )?),
    };
    let named = workload.operations.file.clone();
    let path = named.or_else(|| own.as_ref().map(TestFile::path));
    let path = PathBuf::from(path.unwrap_or_default());
    let storage = storage(&path, workload.operations.cache)?;
    if let Some(least) = storage.direct.then(|| direct_bytes(&path)).flatten()
        && !workload.block.get().is_multiple_of(least)
    {
        let block = workload.block.get();
        return Err(Error::Usage {
            reason: say("error-measure.usage-past-cache-of-disk")
                .with("bytes", block.to_string())
                .count("least", least),
        });
    }
    let set_up = begun.elapsed();
    let output = fio(&fio_command(workload, &path, storage.direct), &spans, stop)?;
    let (sample, latency) = parse(&output, workload).ok_or_else(|| Error::Fio {
        reason: say("error-measure.fio-output"),
    })?;
    emit(&TrialLine::Sample(sample.clone()));
    if sample.bytes.get() == 0 {
        return Err(Error::Fio {
            reason: say("error-measure.fio-nothing"),
        });
    }
    Ok(TrialResult {
        samples: vec![sample],
        first_byte: Some(set_up.into()),
        connections: Vec::new(),
        session: None,
        far_retransmits: None,
        latency: Some(latency),
        storage: Some(storage),
        playback: None,
        engine: None,
        sandbox: None,
    })
}

pub(crate) fn check(workload: &FolderWorkload) -> Result<(), Error> {
    let usage = |reason: Message| Err(Error::Usage { reason });
    let block = workload.block.get();
    if !BLOCK_BYTES.contains(&block) {
        let (least, most) = (BLOCK_BYTES.start(), BLOCK_BYTES.end());
        return usage(
            say("error-measure.usage-operation")
                .with("bytes", block.to_string())
                .count("least", *least)
                .count("most", *most),
        );
    }
    if workload.operations.cache == Cache::Direct && !block.is_multiple_of(SECTOR_BYTES) {
        return usage(
            say("error-measure.usage-past-cache")
                .with("bytes", block.to_string())
                .count("sector", SECTOR_BYTES),
        );
    }
    if workload.file_size.get() < block {
        let size = workload.file_size.get();
        return usage(
            say("error-measure.usage-file-below-operation").with("bytes", size.to_string()),
        );
    }
    if !Path::new(&workload.folder).is_absolute() {
        return usage(say("error-measure.usage-path").with("path", &workload.folder));
    }
    queue_depth_and_latency::in_flight(&workload.operations, workload.depth).map(drop)
}

/// The job as `fio` is asked for it; anybody may run it by hand.
#[must_use]
pub fn fio_command(workload: &FolderWorkload, file: &Path, direct: bool) -> Command {
    let operations = &workload.operations;
    let milliseconds = |span: Nanoseconds| format!("{}ms", span.get() / 1_000_000);
    let mut argv = vec![
        FIO.to_owned(),
        "--output-format=json".to_owned(),
        // A colon stands between two files.
        format!(
            "--filename={}",
            file.display().to_string().replace(':', r"\:")
        ),
        format!("--size={}", workload.file_size.get()),
        format!("--rw={}", read_write(workload)),
        format!("--bs={}", workload.block.get()),
        format!("--iodepth={}", workload.depth),
        format!("--numjobs={}", operations.threads),
        "--thread".to_owned(),
        "--group_reporting".to_owned(),
        "--ioengine=libaio".to_owned(),
        format!("--direct={}", u8::from(direct)),
        "--norandommap".to_owned(),
        "--randrepeat=0".to_owned(),
        "--time_based".to_owned(),
        "--lat_percentiles=1".to_owned(),
        "--clat_percentiles=0".to_owned(),
        "--percentile_list=50:95:99:99.9".to_owned(),
    ];
    if operations.opposite_percent > 0 {
        let reads = match workload.direction {
            Direction::Read => 100 - operations.opposite_percent,
            Direction::Write => operations.opposite_percent,
        };
        argv.push(format!("--rwmixread={reads}"));
    }
    let writes = workload.direction == Direction::Write || operations.opposite_percent > 0;
    if operations.write_through && writes {
        argv.push("--sync=dsync".to_owned());
    }
    if operations.data == Data::Zeros {
        argv.push("--zero_buffers".to_owned());
    }
    // A job of its own, and not `--ramp_time`: after that, what was under way is counted whole, be it all but done. On a
    // slow share that is a third of all that is counted.
    if workload.timing.warm_up.get() > 0 {
        let warm_up = milliseconds(workload.timing.warm_up);
        argv.extend(["--name=warm-up".to_owned(), format!("--runtime={warm_up}")]);
    }
    argv.extend([
        "--name=linerate".to_owned(),
        "--stonewall".to_owned(),
        format!("--runtime={}", milliseconds(workload.timing.measured)),
    ]);
    Command::new(argv)
}

/// The pattern and direction of the operations, as `fio` calls them.
const fn read_write(workload: &FolderWorkload) -> &'static str {
    let operations = &workload.operations;
    match (
        operations.pattern,
        workload.direction,
        operations.opposite_percent,
    ) {
        (Pattern::Sequential, Direction::Read, 0) => "read",
        (Pattern::Sequential, Direction::Write, 0) => "write",
        (Pattern::Sequential, ..) => "rw",
        (Pattern::Random, Direction::Read, 0) => "randread",
        (Pattern::Random, Direction::Write, 0) => "randwrite",
        (Pattern::Random, ..) => "randrw",
    }
}

/// Runs `fio` and gives what it printed. Whatever ends us meanwhile ends it too.
fn fio(command: &Command, spans: &Spans, stop: &Stop) -> Result<Vec<u8>, Error> {
    let deadline = Instant::now() + spans.whole() + FIO_OVERHEAD;
    let started = Local::new().spawn(command);
    let mut process = started.map_err(|error| match error {
        host::Error::Start { ref source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Error::NoFio
        }
        error => Error::Host(error),
    })?;
    let stdout = process.take_stdout();
    let (sender, heard) = std::sync::mpsc::channel();
    let reading = move || {
        let mut output = Vec::new();
        if let Some(stdout) = stdout {
            // What was cut off is no JSON, which is found out later.
            stdout
                .take(FIO_OUTPUT_BYTES_MAX)
                .read_to_end(&mut output)
                .ok();
        }
        sender.send(output).ok();
    };
    std::thread::Builder::new()
        .spawn(reading)
        .map_err(|source| Error::System {
            action: say("error-measure.start-thread"),
            source,
        })?;
    let output = loop {
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        if Instant::now() >= deadline {
            return Err(Error::Fio {
                reason: say("error-measure.fio-late")
                    .with("limit", format!("{:?}", spans.whole() + FIO_OVERHEAD)),
            });
        }
        match heard.recv_timeout(STOP_POLL) {
            Ok(output) => break output,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break Vec::new(),
        }
    };
    let ended = process.wait(FIO_END)?;
    match ended.status {
        0 => Ok(output),
        STATUS_NO_PROGRAM => Err(Error::NoFio),
        status => {
            let said = String::from_utf8_lossy(&ended.stderr);
            let said = said.lines().next().unwrap_or_default().trim();
            Err(Error::Fio {
                reason: say("error-measure.fio-status")
                    .with("status", status.to_string())
                    .with("said", said),
            })
        }
    }
}

/// Reads what `fio` printed.
pub(crate) fn parse(output: &[u8], workload: &FolderWorkload) -> Option<(Sample, Latency)> {
    // Notes may come before it.
    let begin = output.iter().position(|&byte| byte == b'{')?;
    let value: Value = serde_json::from_slice(&output[begin..]).ok()?;
    let job = value.get("jobs")?.as_array()?.last()?;
    let (main, other) = match workload.direction {
        Direction::Read => (job.get("read")?, job.get("write")?),
        Direction::Write => (job.get("write")?, job.get("read")?),
    };
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_f64);
    let whole = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64);
    let mixed = workload.operations.opposite_percent > 0;
    let others = if mixed { whole(other, "io_bytes")? } else { 0 };
    let bytes = whole(main, "io_bytes")?.checked_add(others)?;
    let milliseconds = number(main, "runtime").filter(|time| time.is_finite() && *time > 0.0)?;
    let share = (number(job, "usr_cpu")? + number(job, "sys_cpu")?) / 100.0;
    let cpu = share * number(job, "job_runtime")?;
    let span = |milliseconds: f64| Nanoseconds::new((milliseconds.max(0.0) * 1e6) as u64);
    let sample = Sample {
        at: Nanoseconds::new(0),
        duration: span(milliseconds),
        bytes: Bytes::new(bytes),
        cpu: span(cpu),
        retransmits: None,
    };
    let times = main.get("lat_ns")?;
    let nanoseconds = |key: &str| Some(Nanoseconds::new(number(times, key)?.max(0.0) as u64));
    let below = |key: &str| {
        let found = times.get("percentile")?.get(key)?.as_u64()?;
        Some(Nanoseconds::new(found))
    };
    let latency = Latency {
        operations: whole(main, "total_ios")?,
        mean: nanoseconds("mean")?,
        p50: below("50.000000")?,
        p95: below("95.000000")?,
        p99: below("99.000000")?,
        p999: below("99.900000")?,
        max: nanoseconds("max")?,
    };
    Some((sample, latency))
}

/// What holds a file, and whether the client's cache can be passed by there.
fn storage(file: &Path, cache: Cache) -> Result<Storage, Error> {
    let (file_system, network) = file_system(file)?;
    let direct = cache == Cache::Direct
        && OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::DIRECT.bits().cast_signed())
            .open(file)
            .is_ok();
    Ok(Storage {
        file_system,
        network,
        direct,
        folder: None,
    })
}

/// What operations past the cache must be a multiple of there; none where nobody can tell.
pub(crate) fn direct_bytes(file: &Path) -> Option<u64> {
    let mut options = OpenOptions::new();
    options.custom_flags(OFlags::DIRECT.bits().cast_signed());
    let file = options.read(true).open(file).ok()?;
    // Memory that begins at a multiple of it as well.
    let mut room = vec![0; 2 * SECTOR_BYTES_MAX];
    let from = room.as_ptr().align_offset(SECTOR_BYTES_MAX);
    let room = room.get_mut(from..from + SECTOR_BYTES_MAX)?;
    let sizes = std::iter::successors(Some(SECTOR_BYTES), |size| Some(size * 2));
    for size in sizes.take_while(|size| *size <= SECTOR_BYTES_MAX as u64) {
        let piece = room.get_mut(..usize::try_from(size).ok()?)?;
        match file.read_at(piece, size) {
            Ok(_) => return Some(size),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
            Err(_) => return None,
        }
    }
    None
}

pub(crate) fn file_system(path: &Path) -> Result<(String, bool), Error> {
    let found = rustix::fs::statfs(path)
        .map_err(|error| system(say("error-measure.file-system"), error))?;
    // The number is 32 bits wide and sits in a signed word of another width on each system.
    let kind = found.f_type as u64 & 0xFFFF_FFFF;
    let known = FILE_SYSTEMS.iter().find(|(number, ..)| *number == kind);
    Ok(match known {
        Some((_, name, network)) => ((*name).to_owned(), *network),
        None => (format!("file system {kind:#x}"), false),
    })
}

fn system(action: Message, error: rustix::io::Errno) -> Error {
    Error::System {
        action,
        source: error.into(),
    }
}

/// A test file, open and full.
pub(crate) struct TestFile {
    file: File,
    /// The folder that it is in, and its name there, where it has to keep one.
    named: Option<(Shared, String)>,
}

impl TestFile {
    /// Makes it, unless that would nearly fill the disk.
    pub(crate) fn create(
        folder: &Path,
        kind: FolderKind,
        size: u64,
        data: Data,
        stop: &Stop,
    ) -> Result<Self, Error> {
        check_kind(folder, kind)?;
        check_free_space(folder, size)?;
        // Its path is not looked up again: another user may have put a link there.
        let held = Shared::open(folder).map_err(|source| not_made(folder, source))?;
        remove_leftovers(&held);
        let mut made = Self::open(held)?;
        made.fill(size, data, stop)?;
        Ok(made)
    }

    fn open(folder: Shared) -> Result<Self, Error> {
        let create = || -> io::Result<(File, String)> {
            let name = test_name().map_err(io::Error::other)?;
            Ok((folder.create_file(&name, FILE_MODE)?, name))
        };
        let failed = |source| not_made(folder.path(), source);
        let (file, name) = create().map_err(failed)?;
        let nameless = Self { file, named: None };
        let unlinked = folder.remove_file(&name);
        if unlinked.is_ok() && nameless.is_reached() {
            return Ok(nameless);
        }
        let (file, name) = create().map_err(failed)?;
        // A lock tells whoever finds it whether it is in use; without locks nobody may remove it.
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok();
        Ok(Self {
            file,
            named: Some((folder, name)),
        })
    }

    /// The name by which other programs reach it while this one runs; if that can be, whatever has its own by then.
    pub(crate) fn path(&self) -> String {
        match &self.named {
            Some((folder, name)) if !self.is_reached() => {
                folder.path().join(name).display().to_string()
            }
            _ => self.entrance(),
        }
    }

    fn entrance(&self) -> String {
        use std::os::fd::AsRawFd;
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    fn is_reached(&self) -> bool {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .open(self.entrance());
        opened.is_ok()
    }

    fn fill(&mut self, size: u64, data: Data, stop: &Stop) -> Result<(), Error> {
        let source = TestData::new(data)?;
        let mut block = vec![0; POOL_BYTES];
        let mut written = 0;
        let failed = |source| Error::System {
            action: say("error-measure.write-test-file"),
            source,
        };
        while written < size {
            if stop.is_asked() {
                return Err(Error::Stopped);
            }
            let count = usize::try_from(size - written)
                .unwrap_or(POOL_BYTES)
                .min(POOL_BYTES);
            source.fill(written, &mut block[..count]);
            self.file.write_all(&block[..count]).map_err(failed)?;
            written += count as u64;
        }
        // Otherwise the system would still be busy writing it while it is read.
        self.file.sync_data().map_err(failed)
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        if let Some((folder, name)) = &self.named {
            folder.remove_file(name).ok();
        }
    }
}

fn not_made(folder: &Path, source: io::Error) -> Error {
    Error::TestFile {
        folder: folder.to_owned(),
        source,
    }
}

fn check_kind(folder: &Path, kind: FolderKind) -> Result<(), Error> {
    let (name, network) = file_system(folder)?;
    match kind {
        FolderKind::Disk if network || name == "tmpfs" => Err(elsewhere(NO_DISK, folder, &name)),
        // It was unmounted meanwhile, or something else was mounted over it.
        FolderKind::Mount if !matches!(name.as_str(), "cifs" | "smb3") => {
            Err(elsewhere(NO_MOUNT, folder, &name))
        }
        FolderKind::Disk | FolderKind::Mount | FolderKind::Folder => Ok(()),
    }
}

/// What is said of a folder that is on that file system and should be elsewhere.
pub(crate) fn elsewhere(id: &'static str, folder: &Path, file_system: &str) -> Error {
    let reason = say(id)
        .with("folder", folder.display().to_string())
        .with("file-system", file_system);
    Error::Usage { reason }
}

/// Refuses to fill somebody's disk.
pub(crate) fn check_free_space(folder: &Path, size: u64) -> Result<(), Error> {
    let found = statvfs(folder).map_err(|error| system(say("error-measure.free-space"), error))?;
    let available = found.f_bavail.saturating_mul(found.f_frsize);
    check_space(&whole(folder).display(), available, size)
}

/// A path from `/` on, as people know it.
pub(crate) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Removes test files of ours that nobody holds any more.
fn remove_leftovers(folder: &Shared) {
    let entries = fs::read_dir(folder.entrance()).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    for name in names.filter_map(|name| name.into_string().ok()) {
        if !(name.starts_with(".linerate-") && name.ends_with(".tmp")) {
            continue;
        }
        // It may be a link or a pipe.
        let Ok(file) = folder.read_file(&name) else {
            continue;
        };
        let is_file = file.metadata().is_ok_and(|now| now.is_file());
        if is_file && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            folder.remove_file(&name).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn no_test_file_is_left_where_another_user_exchanges_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["one", "other"] {
            fs::create_dir(path(name)).unwrap();
        }
        let exchange = |target: &str| {
            symlink(path(target), path("draft")).unwrap();
            fs::rename(path("draft"), path("shared")).unwrap();
        };
        exchange("one");
        let over = AtomicBool::new(false);
        let exchanged = thread::scope(|scope| {
            let swapper = scope.spawn(|| {
                let mut times = 0;
                while !over.load(Ordering::Relaxed) {
                    exchange(["one", "other"][times % 2]);
                    times += 1;
                }
                times
            });
            for _ in 0..500 {
                let (kind, data) = (FolderKind::Folder, Data::Zeros);
                TestFile::create(&path("shared"), kind, 1, data, &Stop::new()).unwrap();
            }
            over.store(true, Ordering::Relaxed);
            swapper.join().unwrap()
        });
        assert!(exchanged > 500, "{exchanged}");
        for name in ["one", "other"] {
            assert_eq!(fs::read_dir(path(name)).unwrap().count(), 0, "{name}");
        }
    }
}
