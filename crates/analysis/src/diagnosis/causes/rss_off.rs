//! One processor handles all packets of a NIC, and is full.

use locale::say;
use record::{HostFacts, LinkState, Nic};

use super::{Advice, Evidence, Finding, median_of};

/// Share of a processor at which its work for the network fills it.
const FULL: f64 = 0.97;
/// The most that the others may do for the network where all is on one of them.
const IDLE: f64 = 0.5;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let pair = seen.used.first()?;
    let near = seen.network.client.map(|host| (host, pair.near));
    let far = seen.network.server.zip(pair.far_nic());
    let (host, nic) = [near, far]
        .into_iter()
        .flatten()
        .find(|(host, nic)| has_one_queue(nic) && is_on_one_core(seen, host))?;
    let text = say("rss-off")
        .with("nic", &nic.name)
        .with("host", &host.name);
    let advice = Advice::new(say("fix.rss").with("nic", &nic.name))
        .gains(seen.gain())
        .commands([format!("ethtool -l {}", nic.name)]);
    Some(Finding::counted(text, advice).of_host())
}

fn has_one_queue(nic: &Nic) -> bool {
    nic.rx_queues == Some(1) && nic.kind.is_none() && nic.state != LinkState::Down
}

fn is_on_one_core<'a>(seen: &Evidence<'a>, host: &'a HostFacts) -> bool {
    let two = |select: fn(&[f64]) -> Option<f64>| {
        median_of(seen.loads(&host.name).filter_map(|load| {
            let mut work: Vec<f64> = load.processors.iter().map(|one| one.softirq).collect();
            work.sort_by(|one, two| two.total_cmp(one));
            select(&work)
        }))
    };
    let first = two(|work| work.first().copied());
    let second = two(|work| work.get(1).copied());
    first.is_some_and(|first| first >= FULL) && second.is_some_and(|second| second < IDLE)
}
