//! One file for each cause. None of them imports another; what is done with what they find is in `cause_table`.

pub(super) mod advertised_wrong;
pub(super) mod antivirus;
pub(super) mod asynchronous_io;
pub(super) mod client_processor;
pub(super) mod cpu_stolen;
pub(super) mod encryption;
pub(super) mod faster_path_unused;
pub(super) mod few_credits;
pub(super) mod flow_hash;
pub(super) mod link_trained_low;
pub(super) mod local_disk;
pub(super) mod measured_above_ceiling;
pub(super) mod mount_cache_off;
pub(super) mod mount_old_dialect;
pub(super) mod mount_one_connection;
pub(super) mod mount_small_requests;
pub(super) mod mount_sync;
pub(super) mod mtu_differs;
pub(super) mod multichannel_off;
pub(super) mod offloads_off;
pub(super) mod old_dialect;
pub(super) mod one_link_idle;
pub(super) mod other_traffic;
pub(super) mod path_mtu_black_hole;
pub(super) mod pause_frames;
pub(super) mod port_blocked;
pub(super) mod power_plan;
pub(super) mod rate_limited;
pub(super) mod receive_buffer_small;
pub(super) mod rss_off;
pub(super) mod segments_lost;
pub(super) mod send_buffer_small;
pub(super) mod server_disk;
pub(super) mod server_processor;
pub(super) mod share_slower_than_tcp;
pub(super) mod signing;
pub(super) mod slow_link;
pub(super) mod small_requests;
pub(super) mod sync_writes;
pub(super) mod tcp_slower_than_ceiling;
pub(super) mod tunnel_used;
pub(super) mod two_nics_one_subnet;
pub(super) mod wifi_retries;
pub(super) mod wifi_used;

use locale::Message;
use record::{MtuProof, Rung, ShareMount};

pub(super) use super::evidence::{Evidence, NETWORK, PairRate, ReturnPath, median_of};
pub(super) use super::finding::{Advice, Basis, Decider, Finding, nic_mtu, setting};
pub(super) use super::ladder::DIRECTIONS;
pub(super) use super::nic_pairs::{FASTER, GOOD_BITS, SLOW_BITS};

/// What is suspected of a mount, and at which rung it costs something.
fn suspected_of_mount(seen: &Evidence, mount: &ShareMount, rung: Rung, text: Message) -> Finding {
    let advice = seen.better_mount(mount, rung);
    Finding::suspected(text, second_mount(seen, mount), advice).at(rung)
}

/// A second mount with better options, by our own trial where that can be.
fn second_mount(seen: &Evidence, mount: &ShareMount) -> Decider {
    match (seen.second_mount_works(), mount.own) {
        (Some(false), true) => Decider::Hand("decide.mount-so"),
        (Some(false), false) => Decider::Hand("decide.mount-again"),
        (Some(true) | None, _) => Decider::Probe,
    }
}

fn remote_name(proof: &MtuProof) -> String {
    proof
        .remote
        .map_or("the server".into(), |it| it.to_string())
}
