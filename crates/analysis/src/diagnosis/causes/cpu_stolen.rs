//! A hypervisor gives a virtual machine's processors to others.

use super::{Advice, Evidence, Finding, median_of};
use crate::diagnosis::processor_limits::kept_from_running;
use locale::say;

/// Share of the time from which it matters.
const STOLEN: f64 = 0.05;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let hosts = [seen.network.client, seen.network.server];
    let (host, stolen) = hosts.into_iter().flatten().find_map(|host| {
        let most = seen.loads(&host.name).map(|load| {
            let stolen = load.processors.iter().map(|processor| processor.steal);
            stolen.fold(0.0, f64::max)
        });
        let stolen = median_of(most)?;
        (stolen > STOLEN).then_some((host, stolen))
    })?;
    if !seen.share_may_lose() && !seen.network_may_lose() {
        return None;
    }
    let text = say("cpu-stolen")
        .with("host", &host.name)
        .share("stolen", stolen);
    let advice = Advice::new(say("fix.cpu-stolen").with("host", &host.name));
    Some(kept_from_running(seen, stolen, text, advice))
}
