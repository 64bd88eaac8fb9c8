//! The repetitions of `bench`, for programs.

use std::net::IpAddr;

use analysis::{BenchSamples, CacheMark, TestFigures};
use record::{Bytes, Direction, FolderKind, Job, Nanoseconds, Place, Task};
use schemars::JsonSchema;
use serde::Serialize;
use stats::Unit;

/// The repetitions of one workload of `bench`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bench<'a> {
    /// What was run.
    pub workload: Workload<'a>,
    /// What has the same shape in the analysis.
    #[serde(flatten)]
    pub samples: &'a BenchSamples,
    /// Which test of a recipe it is, and what the original would print of it; null outside of recipes.
    pub test: Option<BenchTest<'a>>,
}

/// A test of a recipe, as its original would tell it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BenchTest<'a> {
    /// Its name in the recipe.
    pub name: &'a str,
    /// The original.
    pub tool: &'a str,
    /// The figure that it prints; null where no pass was measured.
    pub figure: Option<f64>,
    /// Unit of that figure.
    pub figure_unit: Unit,
    /// The latency that it prints, in nanoseconds.
    pub figure_latency_ns: Option<Nanoseconds>,
    /// Operations per second at that figure.
    pub operations_per_second: Option<f64>,
    /// How long operations took, in nanoseconds, in the pass whose mean is the median.
    pub latency_ns: Option<LatencyDistribution>,
    /// What answered the operations.
    pub cache: Option<CacheMark>,
    /// From the login to the first byte of a copy, in nanoseconds, in the pass in which that is the median.
    pub first_byte_ns: Option<Nanoseconds>,
    /// What became of frames that were to be played, over all passes.
    pub playback: Option<Playback>,
}

/// How long operations took, from the begin of each to its end.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LatencyDistribution {
    /// Their mean.
    pub mean: Nanoseconds,
    /// Half of them took no longer.
    pub p50: Nanoseconds,
    /// 95 of a hundred took no longer.
    pub p95: Nanoseconds,
    /// 99 of a hundred took no longer.
    pub p99: Nanoseconds,
    /// 999 of a thousand took no longer.
    pub p999: Nanoseconds,
    /// The longest.
    pub max: Nanoseconds,
}

/// What became of frames that were to be played.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Playback {
    /// Frames that were due.
    pub due: u64,
    /// Of these, frames that were not there in time.
    pub missed: u64,
    /// The longest that a frame was late, in nanoseconds.
    pub stall_ns_max: Nanoseconds,
}

/// What a trial does.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Workload<'a> {
    /// What moves the data.
    pub engine: Engine,
    /// Direction of the data.
    pub direction: Direction,
    /// Where, how, and how long.
    #[serde(flatten)]
    pub details: WorkloadDetails<'a>,
}

/// What moves the data of a trial.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Raw TCP by the iperf3 protocol.
    Tcp,
    /// Our own client of shares.
    Share,
    /// A mounted share, or any other folder.
    Folder,
    /// A folder on a disk of the client.
    Disk,
    /// Our own client of shares, with work that is done once.
    Job,
}

/// Where, how, and how long.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WorkloadDetails<'a> {
    /// Raw TCP.
    Tcp {
        /// The far end's address.
        server: IpAddr,
        /// Its TCP port.
        port: u16,
        /// Parallel streams.
        streams: u32,
        /// The interface to leave by; null where the route decides.
        nic: Option<&'a str>,
        /// Time that is counted, in nanoseconds.
        measured_ns: Nanoseconds,
    },
    /// One test file of a share.
    Share {
        /// The share and the folder in it, as a URL.
        share: String,
        /// The most channels to use; fewer where the NICs allow fewer.
        channels_max: u32,
        /// Size of one request in bytes.
        block_bytes: Bytes,
        /// Requests in flight on each channel.
        depth: u32,
        /// Size of the test file in bytes.
        file_size_bytes: Bytes,
        /// Time that is counted, in nanoseconds.
        measured_ns: Nanoseconds,
    },
    /// One test file in a folder, by `fio`.
    Folder {
        /// The folder, as an absolute path on the client.
        folder: &'a str,
        /// Size of one operation in bytes.
        block_bytes: Bytes,
        /// Operations under way in each thread.
        depth: u32,
        /// Threads.
        threads: u32,
        /// Size of the test file in bytes.
        file_size_bytes: Bytes,
        /// Time that is counted, in nanoseconds.
        measured_ns: Nanoseconds,
    },
    /// Work on whole files.
    Task {
        /// The share as a URL, or the folder as an absolute path on the client.
        place: String,
        /// The most channels to use; of no meaning in a folder.
        channels_max: u32,
        /// What is done.
        task: &'a Task,
        /// Time that is counted, in nanoseconds, of tasks that end by time.
        measured_ns: Nanoseconds,
    },
    /// Work on a share that is done once.
    Job {
        /// The share and the folder in it, as a URL.
        share: String,
        /// What is done.
        job: &'a Job,
        /// The longest time it may take, in nanoseconds.
        limit_ns: Nanoseconds,
    },
}

impl<'a> Bench<'a> {
    pub(super) fn new(bench: &'a BenchSamples) -> Self {
        let test = bench.test.as_ref();
        Self {
            workload: Workload {
                engine: Engine::new(&bench.workload),
                direction: bench.workload.direction(),
                details: WorkloadDetails::new(&bench.workload),
            },
            samples: bench,
            test: test.map(|test| BenchTest::new(test, bench.unit)),
        }
    }
}

impl<'a> BenchTest<'a> {
    fn new(test: &'a TestFigures, unit: Unit) -> Self {
        Self {
            name: &test.name,
            tool: &test.tool,
            figure: test.figure,
            figure_unit: unit,
            figure_latency_ns: test.figure_latency,
            operations_per_second: test.operations_per_second,
            latency_ns: test.latency.map(|latency| LatencyDistribution {
                mean: latency.mean,
                p50: latency.p50,
                p95: latency.p95,
                p99: latency.p99,
                p999: latency.p999,
                max: latency.max,
            }),
            cache: test.cache,
            first_byte_ns: test.first_byte,
            playback: test.playback.map(|playback| Playback {
                due: playback.due,
                missed: playback.missed,
                stall_ns_max: playback.stall_max,
            }),
        }
    }
}

impl Engine {
    const fn new(workload: &record::Workload) -> Self {
        match workload {
            record::Workload::Tcp(_) => Self::Tcp,
            record::Workload::Share(_) => Self::Share,
            record::Workload::Folder(folder) => Self::of_folder(folder.kind),
            record::Workload::Task(work) => match &work.place {
                Place::Share { .. } => Self::Share,
                Place::Folder { kind, .. } => Self::of_folder(*kind),
            },
            record::Workload::Job(_) => Self::Job,
        }
    }

    const fn of_folder(kind: FolderKind) -> Self {
        match kind {
            FolderKind::Folder | FolderKind::Mount => Self::Folder,
            FolderKind::Disk => Self::Disk,
        }
    }
}

impl<'a> WorkloadDetails<'a> {
    fn new(workload: &'a record::Workload) -> Self {
        match workload {
            record::Workload::Tcp(tcp) => Self::Tcp {
                server: tcp.server,
                port: tcp.port,
                streams: tcp.streams,
                nic: tcp.nic.as_deref(),
                measured_ns: tcp.timing.measured,
            },
            record::Workload::Share(share) => Self::Share {
                share: share.share.to_string(),
                channels_max: share.channels,
                block_bytes: share.block,
                depth: share.depth,
                file_size_bytes: share.file_size,
                measured_ns: share.timing.measured,
            },
            record::Workload::Folder(folder) => Self::Folder {
                folder: &folder.folder,
                block_bytes: folder.block,
                depth: folder.depth,
                threads: folder.operations.threads,
                file_size_bytes: folder.file_size,
                measured_ns: folder.timing.measured,
            },
            record::Workload::Task(work) => Self::Task {
                place: match &work.place {
                    Place::Share { share, .. } => share.to_string(),
                    Place::Folder { folder, .. } => folder.clone(),
                },
                channels_max: work.channels,
                task: &work.task,
                measured_ns: work.timing.measured,
            },
            record::Workload::Job(job) => Self::Job {
                share: job.share.to_string(),
                job: &job.job,
                limit_ns: job.limit,
            },
        }
    }
}
