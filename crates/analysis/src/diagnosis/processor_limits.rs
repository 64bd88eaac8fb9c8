//! What takes a host's processors: a limit that keeps it from running (a container, a virtual machine's share), and
//! segments that its NIC leaves to it.

use locale::{Message, say};
use record::{HostFacts, Nic, Offload};

use super::evidence::Evidence;
use super::finding::{Advice, Finding};
use super::ladder::DIRECTIONS;
use super::nic_pairs::Pair;
use crate::RungName;
use stats::{Unit, computed};

/// Share of the time that a host may be kept from running and not be slow for it.
const THROTTLED: f64 = 0.05;
/// The same where a little is lost.
const OFTEN_THROTTLED: f64 = 0.25;
/// A line so fast that the offloads of a NIC matter.
const FAST_BITS: u64 = 5_000_000_000;
/// An MTU from which they matter less.
const LARGE_MTU: u32 = 4000;

/// That limit, where something may be lost by it.
pub(super) fn throttled<'a>(seen: &Evidence<'a>, host: &'a HostFacts) -> Option<Finding> {
    let slow = seen.may_lose(RungName::Tcp)
        || seen.share_may_lose()
        || seen.seems_to_lose(RungName::Channels)
        || seen.ceilings.is_empty();
    let not_full = DIRECTIONS
        .into_iter()
        .any(|direction| !seen.is_full_in(direction));
    let shares = seen.loads(&host.name).filter_map(|load| {
        let duration = load.duration.get();
        (duration > 0).then(|| load.throttled.map(|it| it.get() as f64 / duration as f64))?
    });
    let worst = shares.max_by(f64::total_cmp)?;
    if worst < THROTTLED || !(slow || not_full && worst > OFTEN_THROTTLED) {
        return None;
    }
    let text = say("processor-limit")
        .with("host", &host.name)
        .share("stopped", worst);
    let advice = Advice::new(say("fix.processor-limit").with("host", &host.name));
    Some(kept_from_running(seen, worst, text, advice))
}

/// What a counter proves of a host that could not run for this share of the time: that, and what was lost only where so
/// much can be it.
pub(super) fn kept_from_running(
    seen: &Evidence,
    share: f64,
    text: Message,
    advice: Advice,
) -> Finding {
    let explains = seen.can_be_the_loss(share);
    let gain = match explains {
        true => seen.gain(),
        false => {
            let caveat = say("gain-caveat.stopped-time");
            Some(computed(1.0 / (1.0 - share), Unit::Ratio, vec![caveat]))
        }
    };
    Finding::counted(text, advice.gains(gain))
        .takes(Some(share))
        .off_path_if(!explains)
}

/// Whether a full processor of ours may be full of segments that its NIC leaves to it.
pub(super) fn may_be_filled_by_segments(seen: &Evidence) -> bool {
    let mut used = seen.used.iter();
    used.any(|pair| offloads_matter(seen, pair) && !offloads_off(pair.near).is_empty())
}

/// Whether a line is so fast, and its frames so small, that it matters who cuts and joins them.
pub(super) fn offloads_matter(seen: &Evidence, pair: &Pair) -> bool {
    let is_fast = seen.pair_bits(pair).is_none_or(|bits| bits >= FAST_BITS);
    is_fast && pair.mtu() < LARGE_MTU
}

/// The knobs of what a NIC leaves to the processor.
pub(super) fn offloads_off(nic: &Nic) -> Vec<&'static str> {
    let off = |name: &str| {
        let found: Option<&Offload> = nic.offloads.get(name);
        found.is_some_and(|offload| !offload.on && !offload.fixed)
    };
    let mut knobs = Vec::new();
    if off("tcp-segmentation-offload") && off("generic-segmentation-offload") {
        knobs.extend(["nic.tso", "nic.gso"]);
    }
    // What comes out of the other end of a pair of virtual NICs has never been cut.
    if off("generic-receive-offload") && nic.kind.as_deref() != Some("veth") {
        knobs.push("nic.gro");
    }
    knobs
}
