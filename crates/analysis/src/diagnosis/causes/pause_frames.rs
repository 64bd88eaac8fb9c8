//! A receiver or a switch that stops the sender by pause frames (IEEE 802.3x).

use super::{Advice, Evidence, Finding, median_of};
use locale::say;

/// Pause frames per second that are no accident.
const FREQUENT: f64 = 10.0;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let hosts = [seen.network.client, seen.network.server];
    let (host, pauses) = hosts.into_iter().flatten().find_map(|host| {
        let rates = seen.loads(&host.name).filter_map(|load| {
            let seconds = load.duration.get() as f64 / 1e9;
            (seconds > 0.0).then(|| load.pauses.map(|pauses| pauses as f64 / seconds))?
        });
        let rate = median_of(rates)?;
        (rate > FREQUENT).then_some((host, rate))
    })?;
    if !seen.network_may_lose() && !seen.share_may_lose() {
        return None;
    }
    let text = say("pause-frames")
        .with("host", &host.name)
        .count("pauses", pauses as u64);
    let advice = Advice::of("fix.pause-frames").gains(seen.gain());
    // The counter says that senders were stopped, and not for how long.
    let decider = super::Decider::Hand("decide.pause-off");
    Some(Finding::suspected(text, decider, advice).of_host())
}
