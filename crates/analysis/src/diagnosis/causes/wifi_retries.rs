//! Frames that Wi-Fi sends again: the air is busy or far.

use locale::say;
use record::{Medium, Rung};

use super::{Advice, DIRECTIONS, Decider, Evidence, Finding};
use crate::diagnosis::egress_nics::sends_over;

/// How much the rates of a path may differ that nothing disturbs.
const UNSTEADY: f64 = 1.25;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let sender = sends_over(seen, Medium::Wireless)?;
    let is_unsteady = DIRECTIONS.into_iter().any(|direction| {
        let rates = seen.rates(Rung::Share, direction);
        let least = rates.iter().copied().fold(f64::MAX, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        rates.len() > 1 && most > least * UNSTEADY
    });
    if !is_unsteady || !seen.network_may_lose() {
        return None;
    }
    let text = say("wifi-retries")
        .with("host", &sender.host.name)
        .with("nic", &sender.nic.name);
    let advice = Advice::of("fix.wifi-retries").gains(seen.gain());
    let decider = Decider::Hand("decide.iw");
    Some(Finding::suspected(text, decider, advice))
}
