//! Something else than the file server works at the server whenever files are read or written.

use locale::say;
use record::System;

use super::{Advice, Decider, Evidence, Finding, median_of};

/// Share of a processor that others than the file server must take.
const OTHERS: f64 = 0.5;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let server = seen.network.server?;
    // Elsewhere a scanner is a part of the file server.
    if server.system != System::Windows || !seen.share_may_lose() {
        return None;
    }
    let others = seen.loads(&server.name).filter_map(|load| {
        let busy: f64 = load
            .processors
            .iter()
            .map(|one| one.busy - one.softirq)
            .sum();
        let served = load.served?.get() as f64 / load.duration.get().max(1) as f64;
        Some(busy - served)
    });
    let others = median_of(others)?;
    if others < OTHERS {
        return None;
    }
    let text = say("antivirus")
        .with("host", &server.name)
        .share("busy", others);
    let advice = Advice::new(say("fix.antivirus").with("host", &server.name)).gains(seen.gain());
    let decider = Decider::Hand("decide.antivirus");
    Some(Finding::suspected(text, decider, advice))
}
