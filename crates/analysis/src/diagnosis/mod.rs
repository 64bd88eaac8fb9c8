//! Facts and trials in; what limits the share, how sure that is, and what to measure or try next, out.
//!
//! A cause is proven only by a counter with one meaning or by an intervention on our own connections. All else is
//! suspected, ruled out, or not knowable from here.

mod cause_table;
mod causes;
mod client_server_mismatches;
mod command_words;
mod copies_and_small_files;
mod egress_nics;
mod evidence;
mod finding;
mod headline_and_fixes;
mod jumbo_frames_and_other_hosts;
mod ladder;
mod ladder_and_probe_trials;
mod multichannel_gain;
mod next_trials;
mod nic_pairs;
mod non_fault_remarks;
mod opportunities;
mod predicted_channels;
mod probe_estimates;
mod processor_limits;
mod tcp_and_host_effort_per_rung;
mod tcp_buffers;

use locale::Message;
use record::{Direction, HostFacts, PathFacts, TrialRecord, TrialResult};

use crate::phase_effects::rate;
use crate::{Ceiling, Diagnosis, LadderRung};
use evidence::Evidence;
use jumbo_frames_and_other_hosts::JUMBO_MTU;
use ladder::ABOVE_CEILING;
use nic_pairs::{Network, Pair, Ports};

pub use cause_table::{CAUSES, CauseId, CauseRow, Layer, Means, Prove, UnknownCause};
pub use client_server_mismatches::{Contradiction, SharedLink, contradictions, shared_links};
pub use command_words::quoted;
pub use evidence::mount_with_cache;
pub use next_trials::{
    Budget, CheckBase, Mode, Next, Purpose, next, stream_bytes, system_client_workload,
};

/// What a check's trials say.
pub(crate) struct LadderResult {
    pub(crate) ceilings: Vec<(Direction, Ceiling)>,
    pub(crate) rungs: Vec<LadderRung>,
    pub(crate) diagnosis: Option<Diagnosis>,
}

/// Reads a check out of a run. Without any trial of it there is nothing to say.
pub(crate) fn ladder(
    facts: &[HostFacts],
    path: Option<&PathFacts>,
    trials: &[&TrialRecord],
) -> LadderResult {
    let evidence = Evidence::new(facts, path, trials);
    if evidence.records.is_empty() && path.is_none() {
        return LadderResult {
            ceilings: Vec::new(),
            rungs: Vec::new(),
            diagnosis: None,
        };
    }
    let diagnosis = headline_and_fixes::diagnosis(&evidence);
    LadderResult {
        ceilings: evidence.ceilings,
        rungs: evidence.rungs,
        diagnosis: Some(diagnosis),
    }
}

/// Payload per second that fits through the NICs that a trial used, with jumbo frames at most, where it
/// moved more than that. A server's own word on its NICs does not count here.
pub(crate) fn exceeded(
    facts: &[HostFacts],
    direction: Direction,
    result: &TrialResult,
) -> Option<f64> {
    let network = Network {
        client: facts.first(),
        server: facts.get(1),
        advertised: &[],
        believed: false,
        shapers_are_lines: true,
        ports: Ports::Unknown,
    };
    let used = result.connections.iter();
    let used = used.filter(|connection| connection.bytes.get() > 0);
    let pairs: Result<Vec<Pair>, Message> = used.map(|one| network.pair(one)).collect();
    let mut own: Vec<Pair> = Vec::new();
    for pair in pairs.ok()? {
        if !own.contains(&pair) {
            own.push(pair);
        }
    }
    let paths = [own];
    // An experiment may have changed it since the facts were read.
    let fits = [None, Some(JUMBO_MTU)].map(|mtu| network.ceiling(direction, &paths, mtu));
    let fits = fits.into_iter().flatten().map(|ceiling| ceiling.rate.value);
    let fits = fits.reduce(f64::max)?;
    (rate(result)? > fits * ABOVE_CEILING).then_some(fits)
}
