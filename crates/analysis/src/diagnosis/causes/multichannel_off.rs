//! Several links, and a server that offers to use one.

use locale::say;
use record::{Target, Value};

use super::{Advice, Basis, Decider, Evidence, Finding, setting};
use stats::Unit;
use stats::computed;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    if !seen.offers_one_channel() {
        return None;
    }
    let links = match seen.network.server {
        Some(_) => seen.usable.len(),
        None => {
            let others = seen.other_nics_as_good().into_iter();
            1 + others.filter(|nic| seen.shows_server(nic)).count()
        }
    };
    if links < 2 {
        return perhaps(seen);
    }
    let caveat = say("gain-caveat.alike-links");
    let gain = computed(links as f64, Unit::Ratio, vec![caveat]);
    let advice = Advice::of("fix.multichannel-on")
        .gains(Some(gain))
        .sets(setting(
            seen.network.server,
            Target::Host,
            "smb.server.multichannel",
            Value::Switch(true),
        ));
    let text = say("multichannel-off").count("links", links);
    let found = match seen.network.server {
        Some(_) => Finding::counted(text, advice),
        None => Finding::suspected(text, Decider::Server, advice),
    };
    Some(found.off_path())
}

/// A second NIC of the client of which it is not known where it leads, and a server that would not use it.
fn perhaps(seen: &Evidence) -> Option<Finding> {
    let nic = seen.nic_to_nowhere()?;
    let text = say("multichannel-off.perhaps").with("nic", &nic.name);
    let basis = Basis::OutOfSight("needs.server");
    let advice = Advice::of("fix.multichannel-on");
    Some(Finding::new(text, basis, advice).off_path())
}
