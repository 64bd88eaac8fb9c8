//! Segmentation or joining in software on a fast link with small frames.

use locale::say;
use record::{ProbeKind, Rung, Target, Value};

use super::{Advice, Decider, Evidence, Finding, setting};
use crate::RungName;
use crate::diagnosis::processor_limits::{offloads_matter, offloads_off};
use crate::rung_and_probe_verdict::Loss;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    seen.used.iter().find_map(|pair| {
        if !offloads_matter(seen, pair) {
            return None;
        }
        let far = seen.network.server.zip(pair.far_nic());
        let near = seen.network.client.map(|client| (client, pair.near));
        let (host, nic, knobs) = [near, far].into_iter().flatten().find_map(|(host, nic)| {
            let knobs = offloads_off(nic);
            (!knobs.is_empty()).then_some((host, nic, knobs))
        })?;
        let text = say("offloads-off")
            .with("nic", &nic.name)
            .with("host", &host.name)
            .with(
                "knobs",
                knobs
                    .iter()
                    .map(|knob| (*knob).to_owned())
                    .collect::<Vec<_>>(),
            )
            .count("mtu", pair.mtu());
        let settings = knobs.iter().filter_map(|knob| {
            let target = Target::Nic(nic.name.clone());
            setting(Some(host), target, knob, Value::Switch(true))
        });
        let advice = say("fix.offloads-on")
            .with("nic", &nic.name)
            .with("host", &host.name);
        let advice = Advice::new(advice).gains(seen.gain()).sets(settings);
        // They cost processor time: raw TCP misses it, or a host has none left. Where raw TCP was not measured, the
        // share may be what misses it.
        let is_full = seen.full_host().is_some() || seen.busy_channel().is_some();
        let rung = match seen.is_measured(RungName::Tcp) {
            true => RungName::Tcp,
            false => RungName::Share,
        };
        let costs = seen.may_lose(rung) || is_full;
        // Smaller segments cost more where each is handled alone, and nothing where a NIC cuts them.
        let segment = seen.probed(ProbeKind::Segment, Rung::Tcp);
        let binds = segment.is_some_and(|it| it.loss == Loss::DoesNotLose && it.ratio.value < 0.8);
        let found = match binds && is_full && seen.loses(RungName::Tcp) {
            true => Finding::counted(text, advice),
            false => Finding::suspected(text, Decider::Tune, advice),
        };
        Some(found.off_path_if(!costs))
    })
}
