//! Wi-Fi is used, and a faster cable is there or something may be lost on it.

use locale::say;
use record::{Medium, Nic};

use super::{Advice, Decider, Evidence, FASTER, Finding};
use crate::diagnosis::egress_nics::{
    Sender, alternative, is_cable, measured_bits, sends_over, wifi_off,
};
use crate::diagnosis::nic_pairs::line_bits;
use stats::Unit;
use stats::computed;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let sender = sends_over(seen, Medium::Wireless)?;
    let (host, nic) = (&sender.host.name, &sender.nic.name);
    let Some((cable, bits)) = faster_cable(seen, sender) else {
        let text = say("wifi-used").with("host", host).with("nic", nic);
        let advice = Advice::new(say("fix.use-cable").with("host", host));
        let decider = Decider::Hand("decide.cable");
        return seen
            .network_may_lose()
            .then(|| Finding::suspected(text, decider, advice));
    };
    let text = say("wifi-used.cable")
        .with("host", host)
        .with("nic", nic)
        .with("cable", &cable.name)
        .bits("rate", bits);
    let ratio = measured_bits(seen).map(|moved| {
        let caveat = say("gain-caveat.cable");
        computed(bits as f64 / moved, Unit::Ratio, vec![caveat])
    });
    let advice = say("fix.cable-for-wifi")
        .with("host", host)
        .with("cable", &cable.name)
        .with("nic", nic);
    let advice = Advice::new(advice).gains(ratio).commands(wifi_off(sender));
    Some(Finding::suspected(text, Decider::Probe, advice))
}

/// A cable to the same place that would carry more than was moved.
fn faster_cable<'a>(seen: &Evidence, sender: Sender<'a>) -> Option<(&'a Nic, u64)> {
    let cable = alternative(seen, sender, is_cable)?;
    let bits = line_bits(cable)?;
    let is_faster = measured_bits(seen).is_none_or(|moved| bits as f64 > moved * FASTER);
    is_faster.then_some((cable, bits))
}
