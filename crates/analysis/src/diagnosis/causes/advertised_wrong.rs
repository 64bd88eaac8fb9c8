//! A list of interfaces that is not what they are: clients choose their channels by it.

use locale::{Message, say};
use record::{InterfaceAddress, Nic, ServerInterface};

use super::{Advice, Basis, Evidence, FASTER, Finding};
use crate::diagnosis::ladder_and_probe_trials::above_advertised;
use crate::diagnosis::nic_pairs::{Network, in_subnet, is_link_local};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let listed = seen.network.advertised;
    let beyond = |trial| above_advertised(&seen.network, trial);
    // What is more than the NICs themselves can move took another path.
    let possible = seen.above_ceiling().is_none();
    if let Some(entry) = seen.trials.iter().find_map(beyond).filter(|_| possible) {
        let text = say("advertised-wrong.exceeded")
            .with("address", entry.address)
            .bits("said", entry.speed.get());
        return Some(found(text));
    }
    // A single one is only wrong where more than it says was moved.
    if listed.len() < 2 {
        return unlisted(seen).map(found);
    }
    let wrong = listed.iter().find_map(|entry| {
        let real = seen.real_bits(entry.address)?;
        let said = entry.speed.get();
        let ratio = real as f64 / said.max(1) as f64;
        (ratio >= FASTER || ratio <= 1.0 / FASTER).then(|| {
            say("advertised-wrong.speed")
                .with("address", entry.address)
                .bits("said", said)
                .bits("real", real)
        })
    });
    let wrong = wrong.or_else(|| uneven(seen)).or_else(|| unlisted(seen));
    wrong
        .map(found)
        .or_else(|| perhaps(seen).or_else(|| doubted(seen)).map(not_knowable))
}

/// A NIC of ours that leads to nothing of the list, and perhaps an address in that to which none of ours leads.
fn perhaps(seen: &Evidence) -> Option<Message> {
    let nic = seen.nic_to_nowhere()?;
    let leads_to = |entry: &&ServerInterface| {
        let mut nics = seen.network.client.into_iter().flat_map(|host| &host.nics);
        nics.any(|nic| in_subnet(nic, entry.address))
    };
    let mut listed = seen.network.advertised.iter();
    let foreign = listed.find(|entry| !leads_to(entry) && !is_link_local(entry.address));
    let text = match foreign {
        Some(foreign) => say("advertised-wrong.perhaps").with("address", foreign.address),
        None => say("advertised-wrong.perhaps-unlisted"),
    };
    Some(text.with("nic", &nic.name))
}

/// Of two links that are alike at our end, one that the server says is far slower: its own NIC may be.
fn doubted(seen: &Evidence) -> Option<Message> {
    if seen.network.server.is_some() {
        return None;
    }
    let listed = seen.network.advertised.iter();
    let ends = listed.filter_map(|entry| Some((entry, seen.near(entry.address)?)));
    let ends: Vec<_> = ends.collect();
    let is_far_less =
        |entry: &ServerInterface, bits: u64| entry.speed.get() as f64 * FASTER <= bits as f64;
    let (entry, (nic, bits)) = ends.iter().find(|(entry, (nic, bits))| {
        let mut others = ends.iter();
        is_far_less(entry, *bits)
            && others.any(|(other, (near, alike))| {
                near.index != nic.index && alike == bits && !is_far_less(other, *alike)
            })
    })?;
    let text = say("advertised-wrong.doubted")
        .with("address", entry.address)
        .bits("said", entry.speed.get())
        .with("nic", &nic.name);
    Some(text.bits("own", *bits))
}

fn not_knowable(text: Message) -> Finding {
    let basis = Basis::OutOfSight("needs.server");
    let advice = Advice::of("fix.true-advertisement");
    Finding::new(text, basis, advice).off_path()
}

fn found(text: Message) -> Finding {
    Finding::counted(text, Advice::of("fix.true-advertisement")).off_path()
}

/// A link that is no slower than another one, and of which the server says that it is not capable of RSS.
fn uneven(seen: &Evidence) -> Option<Message> {
    let nics = seen.network.client.into_iter().flat_map(|host| &host.nics);
    let entries: Vec<&InterfaceAddress> = nics.flat_map(|nic| &nic.addresses).collect();
    // Bridges of virtual machines are in the list as well, and no client goes there.
    let is_ours = |entry: &&ServerInterface| entries.iter().any(|own| own.contains(entry.address));
    let listed: Vec<&ServerInterface> = seen.network.advertised.iter().filter(is_ours).collect();
    let mut others = listed.iter().filter(|entry| !entry.rss);
    let (one, other) = others.find_map(|other| {
        let one = listed.iter().find(|one| {
            let is_no_faster = one.rss && one.speed <= other.speed;
            is_no_faster && !(seen.says_rss_rightly(one) && seen.says_rss_rightly(other))
        })?;
        Some((one, other))
    })?;
    let text = say("advertised-wrong.rss")
        .with("one", one.address)
        .with("other", other.address);
    Some(text.bits("speed", other.speed.get()))
}

/// A link that could be used, of which the server does not tell.
fn unlisted(seen: &Evidence) -> Option<Message> {
    let server = seen.network.server?;
    let listed = seen.network.advertised;
    let used = seen.used.iter();
    let used = used.filter_map(|pair| seen.pair_bits(pair)).max()?;
    let is_listed = |nic: &Nic| {
        let mut addresses = nic.addresses.iter();
        addresses.any(|own| listed.iter().any(|entry| entry.address == own.address))
    };
    if listed.is_empty() {
        return None;
    }
    let without_list = Network {
        advertised: &[],
        ..seen.network
    };
    let pairs = without_list.usable_pairs(&[]);
    let is_used = |near: &Nic| seen.used.iter().any(|pair| pair.near.index == near.index);
    let missing = pairs.iter().find_map(|pair| {
        let nic = pair.far_nic()?;
        let as_good = seen
            .pair_bits(pair)
            .is_some_and(|bits| bits as f64 * FASTER > used as f64);
        (as_good && !is_listed(nic) && !is_used(pair.near)).then_some((nic, pair.remote))
    });
    let (nic, remote) = missing?;
    let foreign = listed.iter().find(|entry| {
        let mut nics = server.nics.iter();
        !nics.any(|nic| nic.addresses.iter().any(|own| own.address == entry.address))
    });
    let text = say("advertised-wrong.unlisted")
        .with("remote", remote)
        .with("nic", &nic.name);
    Some(match foreign {
        Some(entry) => text.with(
            "instead",
            say("lists-foreign").with("address", entry.address),
        ),
        None => text,
    })
}
