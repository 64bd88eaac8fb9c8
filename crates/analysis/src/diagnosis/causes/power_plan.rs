//! A processor that clocks down between packets.

use locale::say;
use record::{ProbeKind, Rung};

use super::{Advice, Decider, Evidence, Finding, median_of};
use crate::rung_and_probe_verdict::Loss;

/// A clock in MHz that no processor of a server or desktop keeps to under load unless it is told to.
const SLOW_MEGAHERTZ: f64 = 1400.0;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let awake = seen.probed(ProbeKind::AwakeProcessor, Rung::Share);
    let gains = awake.is_some_and(|awake| awake.loss == Loss::Loses);
    let hosts = [seen.network.client, seen.network.server];
    let slow = hosts.into_iter().flatten().find_map(|host| {
        let clocks = seen.loads(&host.name).filter_map(|load| load.megahertz);
        let clock = median_of(clocks.map(f64::from))?;
        (clock < SLOW_MEGAHERTZ).then_some((host, clock))
    });
    if !gains && (slow.is_none() || !seen.share_may_lose()) {
        return None;
    }
    let client = seen.network.client?;
    let (host, clock) = slow.unwrap_or((client, 0.0));
    let text = say(match slow {
        Some(_) => "power-plan",
        None => "power-plan.awake",
    })
    .with("host", &host.name)
    .count("megahertz", clock as u64);
    let advice = Advice::new(say("fix.power-plan").with("host", &host.name)).gains(seen.gain());
    let is_ours = host.name == client.name;
    Some(Finding::suspected(
        text,
        match is_ours {
            true => Decider::Probe,
            false => Decider::Hand("decide.power-plan"),
        },
        advice,
    ))
}
