//! What iperf3, fio and hyperfine write, as far as it is of use.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::bounded_json_list::{Bounded, Count};

/// Most runs in all files together, and jobs or runs in one document.
pub(super) const RUNS_MAX: usize = 16_384;

/// What any of the programs writes; the parts that are there tell which it was.
#[derive(Deserialize)]
pub(super) struct Document {
    pub(super) error: Option<String>,
    pub(super) start: Option<IperfStart>,
    pub(super) end: Option<IperfEnd>,
    pub(super) jobs: Option<Bounded<FioJob, RUNS_MAX>>,
    /// When fio wrote it.
    pub(super) timestamp_ms: Option<f64>,
    pub(super) results: Option<Bounded<HyperfineResult, RUNS_MAX>>,
    /// iperf3 that was stopped has them and no end.
    pub(super) intervals: Option<IgnoredAny>,
    /// iperf3 as a stream.
    pub(super) event: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct IperfStart {
    /// A server says whom it served.
    pub(super) accepted_connection: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct IperfEnd {
    pub(super) sum_received: Option<IperfSum>,
    pub(super) sum_sent: Option<IperfSum>,
    /// UDP of older versions.
    pub(super) sum: Option<IperfSum>,
    /// From the server to the client, where both were measured at the same time.
    pub(super) sum_received_bidir_reverse: Option<IperfSum>,
    pub(super) sum_sent_bidir_reverse: Option<IperfSum>,
    pub(super) sum_bidir_reverse: Option<IperfSum>,
}

#[derive(Deserialize)]
pub(super) struct IperfSum {
    pub(super) bits_per_second: f64,
    pub(super) retransmits: Option<u64>,
    /// Of the packets of UDP.
    pub(super) lost_percent: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct FioJob {
    #[serde(default)]
    pub(super) jobname: String,
    #[serde(default)]
    pub(super) groupid: u64,
    /// Number of an error of the system, 0 for none.
    #[serde(default)]
    pub(super) error: i64,
    /// When it began, which newer versions tell; 0 where it has not.
    pub(super) job_start: Option<u64>,
    /// Whole seconds of the whole run.
    pub(super) elapsed: Option<f64>,
    pub(super) read: Option<FioDirection>,
    pub(super) write: Option<FioDirection>,
}

/// Each run counts, as the lists of several results would otherwise be as long as the file.
impl Count for HyperfineResult {
    fn count(&self) -> usize {
        let times = self.times.as_ref().map_or(0, |times| times.0.len());
        let codes = self.exit_codes.as_ref().map_or(0, |codes| codes.0.len());
        1 + times.max(codes)
    }
}

impl Count for FioJob {}

impl FioJob {
    pub(super) fn directions(&self) -> [Option<&FioDirection>; 2] {
        [self.read.as_ref(), self.write.as_ref()]
    }

    /// Bytes and milliseconds, of reads and of writes.
    pub(super) fn done(&self) -> [f64; 4] {
        let [read, write] = self.directions().map(|way| {
            let way = way.map(|way| (way.io_bytes, way.runtime));
            way.unwrap_or_default()
        });
        [read.0, read.1, write.0, write.1].map(Option::unwrap_or_default)
    }
}

#[derive(Deserialize)]
pub(super) struct FioDirection {
    pub(super) bw_bytes: Option<f64>,
    /// KiB/s.
    pub(super) bw: Option<f64>,
    pub(super) iops: Option<f64>,
    pub(super) io_bytes: Option<f64>,
    /// Milliseconds.
    pub(super) runtime: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct HyperfineResult {
    #[serde(default)]
    pub(super) command: String,
    pub(super) mean: Option<f64>,
    pub(super) times: Option<Bounded<f64, RUNS_MAX>>,
    /// Of each run; none where a signal ended it.
    pub(super) exit_codes: Option<Bounded<Option<i64>, RUNS_MAX>>,
}
