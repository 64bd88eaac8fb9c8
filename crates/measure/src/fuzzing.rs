//! What fuzz targets reach of this crate: parsers of what an iperf3 server, a trial's process and the
//! tools of a host say. No interface; see `fuzz/`.

use std::time::Instant;

use locale::Language;
use record::{FolderWorkload, HostLoad, HostName, Latency, Sample};

use crate::{
    file_server_cpu, fio_folder, host_counters, interval_sampling, iperf3_client,
    page_cache_eviction, trial_launcher,
};

/// Streams and bytes by the results of an iperf3 server, and what it sent again.
///
/// # Errors
/// Why they cannot be understood.
pub fn iperf3_results(text: &[u8]) -> Result<(usize, u64, Option<u64>), String> {
    let far =
        iperf3_client::FarResults::parse(text).map_err(|reason| Language::English.say(&reason))?;
    Ok((far.streams, far.bytes, far.retransmits))
}

/// How many lines of a trial's process are understood before the first that is not.
#[must_use]
pub fn trial_lines(mut stdout: &[u8]) -> usize {
    let lines = std::iter::from_fn(|| trial_launcher::next_line(&mut stdout));
    lines.take_while(Result::is_ok).count()
}

/// What `fio` measured.
#[must_use]
pub fn fio(output: &[u8], workload: &FolderWorkload) -> Option<(Sample, Latency)> {
    fio_folder::parse(output, workload)
}

/// What a host did between two looks at its counters, and how many of its threads served in both.
#[must_use]
pub fn load_between(before: &str, after: &str, host: &HostName) -> (HostLoad, bool) {
    let now = Instant::now();
    let [first, last] = [before, after].map(|text| host_counters::parse(text, now));
    let [served, serving] = [before, after].map(file_server_cpu::parse);
    let ran = file_server_cpu::ran(&served, &serving);
    drop((
        interval_sampling::retransmits_in(before),
        page_cache_eviction::warmth(before),
    ));
    (first.until(&last, host), ran.is_some())
}
