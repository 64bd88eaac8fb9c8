//! What is worth knowing and no fault.

use locale::{Message, say};
use record::{Direction, Medium, Nic};

use super::causes::small_requests;
use super::egress_nics::{Sender, alternative, is_cable, ports, senders, tunnel_name};
use super::evidence::Evidence;
use super::ladder::{ABOVE_CEILING, DIRECTIONS};
use super::nic_pairs::{has_no_line, in_subnet};
use super::{copies_and_small_files, jumbo_frames_and_other_hosts, opportunities};
use crate::rung_and_probe_verdict::{Loss, MATTERS};
use crate::{Cause, RungName, Trust};

/// All of it that the headline does not say.
pub(super) fn remarks(seen: &Evidence, headline: &Message) -> Vec<Cause> {
    let mut remarks: Vec<Cause> = saturated(seen).into_iter().collect();
    remarks.extend(unused_links(seen).filter(|_| headline.id != opportunities::IDLE));
    let floors = DIRECTIONS.into_iter();
    remarks.extend(floors.filter_map(|direction| network_at_least(seen, direction)));
    remarks.extend(
        senders(seen)
            .into_iter()
            .filter_map(|one| of_sender(seen, one)),
    );
    remarks.extend(jumbo_frames_and_other_hosts::mixed(seen));
    remarks.extend(local_disk(seen));
    remarks.extend(silent_addresses(seen));
    remarks.extend(missing(seen));
    remarks.extend(requests(seen));
    remarks
}

/// Small requests that cost nothing of what was measured: those who wait for each one lose by them.
fn requests(seen: &Evidence) -> Option<Cause> {
    let small = small_requests::small(seen)?;
    let is_well =
        |direction: &Direction| seen.loss(RungName::Share, *direction) == Some(Loss::DoesNotLose);
    if !small.kinds.iter().all(is_well) {
        return None;
    }
    let text = small.said_by(say("small-requests-here"));
    Some(Cause::seen("small-requests", text, Trust::Measured))
}

/// Facts that could not be had, so that what follows from them stays open.
fn missing(seen: &Evidence) -> Option<Cause> {
    let missing = &seen.path?.missing;
    let names = missing
        .iter()
        .map(|one| format!("`{}` ({})", one.fact, one.host));
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| {
        let text = say("facts-missing").with("facts", names);
        Cause::seen("facts-missing", text, Trust::Measured)
    })
}

/// Addresses at which nothing answers are tried by whoever connects, and waited for each time.
fn silent_addresses(seen: &Evidence) -> Option<Cause> {
    let path = seen.path.filter(|path| !path.silent.is_empty())?;
    let silent = path.silent.iter().map(|address| format!("`{address}`"));
    let text = say("silent-address").with("addresses", silent.collect::<Vec<_>>());
    Some(Cause::seen("silent-address", text, Trust::Measured))
}

/// A folder that was only at hand, and whose disk is slower than the share.
fn local_disk(seen: &Evidence) -> Option<Cause> {
    let rung = seen.rung(RungName::Copy, record::Direction::Read)?;
    let was_asked = copies_and_small_files::asked_folder(seen).is_some();
    if was_asked || rung.loss != Some(Loss::Loses) || copies_and_small_files::is_in_memory(seen) {
        return None;
    }
    let text = say("local-disk")
        .with("place", copies_and_small_files::place(seen)?)
        .rate("copy", rung.rate.as_ref()?.value)
        .share("share", rung.of_above.as_ref()?.value);
    Some(Cause::seen("local-disk", text, Trust::Measured))
}

fn saturated(seen: &Evidence) -> Option<Cause> {
    let shares = DIRECTIONS.into_iter().filter_map(|direction| {
        let rung = seen.rung(RungName::Share, direction)?;
        let share = rung.of_ceiling.as_ref()?.value;
        ((1.0 / MATTERS)..=ABOVE_CEILING)
            .contains(&share)
            .then_some(share)
    });
    let least = shares.min_by(f64::total_cmp)?;
    let text = say("link-saturated").share("share", least);
    Some(Cause::seen("link-saturated", text, Trust::Measured))
}

fn unused_links(seen: &Evidence) -> Option<Cause> {
    const NUMBERS: [&str; 5] = ["no", "one", "two", "three", "four"];
    let (used, usable) = (seen.used.len(), seen.usable.len());
    if used == 0 || seen.idle_links() == 0 {
        return None;
    }
    let id = match NUMBERS.get(usable).filter(|_| used == 1) {
        Some(all) => format!("one-link-of-{all}"),
        None => format!("{used}-links-of-{usable}"),
    };
    let text = say("links-of").count("used", used).count("usable", usable);
    Some(Cause::seen(&id, text, Trust::Measured))
}

/// What the network carries at least, where raw TCP does not say it and the share alone moved less.
fn network_at_least(seen: &Evidence, direction: record::Direction) -> Option<Cause> {
    let floor = seen.network_floor(direction)?;
    let share = seen.rate(RungName::Share, direction)?;
    (floor > share * MATTERS).then(|| {
        let text = say("network-at-least")
            .with("direction", direction)
            .rate("rate", floor);
        Cause::seen("network-at-least", text, Trust::Measured)
    })
}

/// By what a host sends.
fn of_sender(seen: &Evidence, sender: Sender) -> Option<Cause> {
    let (host, nic) = (&sender.host.name, &sender.nic.name);
    let about = |id: &'static str| say(id).with("host", host).with("nic", nic);
    let loses = seen.network_may_lose();
    let (id, text) = match sender.nic.medium {
        Some(Medium::Wireless) => {
            let cable = alternative(seen, sender, is_cable);
            let is_cause = loses || cable.is_some_and(|cable| is_faster(seen, cable));
            let text = match cable {
                Some(cable) => about("over-wifi.cable").with("cable", &cable.name),
                None => about("over-wifi"),
            };
            (!is_cause).then_some(("over-wifi", text))
        }
        Some(Medium::Tunnel) => {
            let outside =
                |other: &Nic| other.medium != Some(Medium::Tunnel) && in_subnet(other, sender.peer);
            let is_needless = alternative(seen, sender, outside).is_some();
            let text = say("through-tunnel")
                .with("host", host)
                .with("tunnel", tunnel_name(sender.nic))
                .count("mtu", sender.nic.mtu);
            (!loses && !is_needless).then_some(("through-tunnel", text))
        }
        Some(Medium::Bridge) => {
            let text = about("through-bridge").with("ports", ports(sender));
            Some(("through-bridge", text))
        }
        Some(Medium::Cable) | None => {
            let is_wireless = |other: &Nic| other.medium == Some(Medium::Wireless);
            let wifi = alternative(seen, sender, is_wireless);
            wifi.map(|wifi| {
                let text = about("wifi-beside-cable").with("wifi", &wifi.name);
                ("wifi-beside-cable", text)
            })
        }
    }?;
    Some(Cause::seen(id, text, Trust::Computed))
}

/// Whether a cable would carry far more than was moved.
fn is_faster(seen: &Evidence, cable: &Nic) -> bool {
    let bits = super::nic_pairs::line_bits(cable).filter(|_| !has_no_line(cable));
    let moved = super::egress_nics::measured_bits(seen);
    bits.is_some_and(|bits| moved.is_none_or(|moved| bits as f64 > moved * 1.5))
}
