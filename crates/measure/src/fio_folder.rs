//! A folder of the client, be it a mounted share or a local disk: `fio` does the operations on a test
//! file of ours.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host::exec::{Command, Exec, Local, STATUS_NO_PROGRAM};
use locale::{Message, say};
use os::local_file::{open_past_cache, read_at};
use record::{
    Bytes, Cache, Data, Direction, FolderWorkload, Latency, Nanoseconds, Pattern, Sample, Storage,
    TrialLine, TrialResult,
};
use serde_json::Value;

use crate::interval_sampling::Spans;
use crate::stop_request::STOP_POLL;
use crate::test_file_in_folder::{TestFile, file_system};
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
/// How the engine is called where people read.
pub(crate) const FIO: &str = "fio";

/// Measures a folder.
pub(crate) fn run(
    workload: &FolderWorkload,
    stop: &Stop,
    emit: &mut dyn FnMut(&TrialLine),
) -> Result<TrialResult, Error> {
    let spans = Spans::new(&workload.timing)?;
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
    let held_by = file_system(file)?;
    let direct = cache == Cache::Direct && open_past_cache(file).is_ok();
    Ok(Storage {
        file_system: held_by.name,
        network: held_by.is_network,
        direct,
        folder: None,
    })
}

/// What operations past the cache must be a multiple of there; none where nobody can tell.
pub(crate) fn direct_bytes(file: &Path) -> Option<u64> {
    let file = open_past_cache(file).ok()?;
    // Memory that begins at a multiple of it as well.
    let mut room = vec![0; 2 * SECTOR_BYTES_MAX];
    let from = room.as_ptr().align_offset(SECTOR_BYTES_MAX);
    let room = room.get_mut(from..from + SECTOR_BYTES_MAX)?;
    let sizes = std::iter::successors(Some(SECTOR_BYTES), |size| Some(size * 2));
    for size in sizes.take_while(|size| *size <= SECTOR_BYTES_MAX as u64) {
        let piece = room.get_mut(..usize::try_from(size).ok()?)?;
        match read_at(&file, size, piece) {
            Ok(_) => return Some(size),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
            Err(_) => return None,
        }
    }
    None
}
