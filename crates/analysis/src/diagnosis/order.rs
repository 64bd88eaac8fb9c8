//! Which fault comes first: what explains the loss that was measured, before what costs nothing there.

use super::fault::{self, Fault, Reach};
use super::{Seen, storage};
use crate::{Cause, RungName};

/// Faults by which raw TCP loses; what is wrong above it cannot.
const OF_NETWORK: [&str; 10] = [
    "path-mtu-black-hole",
    "wifi-used",
    "tunnel-used",
    "slow-link",
    "offloads-off",
    "segments-lost",
    "receive-buffer-small",
    "send-buffer-small",
    "client-processor",
    "server-processor",
];

/// Everything that is wrong. First on the way comes first, unless another one explains what was lost.
pub(super) fn faults(seen: &Seen) -> Vec<Fault> {
    let mut faults = fault::faults(seen);
    let known: Vec<Cause> = faults.iter().map(|fault| fault.cause.clone()).collect();
    faults.extend(storage::faults(seen, &known));
    if let Some(rung) = lost(seen, &faults)
        && faults.iter().any(|fault| explains(fault, rung))
    {
        faults.sort_by_key(|fault| fault.reach);
    }
    faults
}

/// The rung that loses. That copies do is a fault already, where somebody asked for them.
fn lost(seen: &Seen, faults: &[Fault]) -> Option<RungName> {
    let copies = faults.iter().any(|fault| fault.cause.id == "local-disk");
    let first = seen.first_loss().map(|(rung, ..)| rung);
    first.or_else(|| copies.then_some(RungName::Copy))
}

fn explains(fault: &Fault, rung: RungName) -> bool {
    let id = fault.cause.id.as_str();
    let is_below = rung != RungName::Tcp || OF_NETWORK.contains(&id);
    fault.reach == Reach::Way && is_below
}
