//! A NIC that negotiated less than both ends of its cable can.

use locale::say;
use record::Nic;

use super::{Advice, Evidence, FASTER, Finding};
use stats::Unit;
use stats::computed;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let hosts = [seen.network.client, seen.network.server];
    let hosts = hosts.into_iter().flatten();
    let (host, nic, speed, both) = hosts
        .flat_map(|host| host.nics.iter().map(move |nic| (host, nic)))
        .find_map(|(host, nic)| {
            let (speed, both) = trained_low(nic)?;
            Some((host, nic, speed, both))
        })?;
    let text = say("link-trained-low")
        .with("nic", &nic.name)
        .with("host", &host.name)
        .bits("speed", speed)
        .bits("both", both);
    let gain = both as f64 / speed as f64;
    let advice = Advice::new(say("fix.retrain").with("nic", &nic.name))
        .gains(Some(computed(
            gain,
            Unit::Ratio,
            vec!["the ratio of the two line rates".into()],
        )))
        .commands([format!("ethtool {}", nic.name)]);
    let is_used = seen.used.iter().any(|pair| {
        pair.near.name == nic.name && seen.network.client.is_some_and(|it| it.name == host.name)
            || pair.far_nic().is_some_and(|far| far.name == nic.name)
    });
    Some(Finding::counted(text, advice).off_path_if(!is_used || !seen.is_held_by_line(0.0)))
}

/// What a NIC runs at, and what both ends of its cable offer at most, where that is far more.
fn trained_low(nic: &Nic) -> Option<(u64, u64)> {
    let modes = nic.modes.as_ref()?;
    let most = |modes: &[record::BitsPerSecond]| modes.iter().map(|mode| mode.get()).max();
    let both = most(&modes.own)?.min(most(&modes.partner)?);
    let speed = nic.speed?.get();
    (speed > 0 && both as f64 >= speed as f64 * FASTER).then_some((speed, both))
}
