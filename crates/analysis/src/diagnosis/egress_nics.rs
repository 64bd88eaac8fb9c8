//! By which NICs the two ends send to each other, and which others lead to the same place.

use std::cmp::Reverse;
use std::net::IpAddr;

use record::{HostFacts, InterfaceAddress, LinkState, Medium, Nic, Route, System};

use super::evidence::Evidence;
use super::ladder::DIRECTIONS;
use super::nic_pairs::{has_no_line, in_subnet, line_bits};
use crate::RungName;

/// A host and the NIC by which it sends to the other one.
#[derive(Clone, Copy)]
pub(super) struct Sender<'a> {
    pub(super) host: &'a HostFacts,
    pub(super) nic: &'a Nic,
    /// The other one's address.
    pub(super) peer: IpAddr,
}

pub(super) fn is(nic: &Nic, medium: Medium) -> bool {
    nic.medium == Some(medium)
}

pub(super) fn sends_over<'a>(seen: &Evidence<'a>, medium: Medium) -> Option<Sender<'a>> {
    let mut senders = senders(seen).into_iter();
    senders.find(|sender| is(sender.nic, medium))
}

/// By which NICs the two send to each other, as far as it is known: the client's first.
pub(super) fn senders<'a>(seen: &Evidence<'a>) -> Vec<Sender<'a>> {
    let pair = seen.used.first();
    let way = seen.path.and_then(|path| path.addresses.first());
    let remote = pair
        .map(|pair| pair.remote)
        .or_else(|| way.map(|way| way.address));
    let client = seen.network.client.zip(remote).and_then(|(host, peer)| {
        let way = way.filter(|way| way.address == peer);
        let chosen = way.and_then(|way| host.nic(way.nic.as_deref()?));
        let nic = chosen.or_else(|| Some(pair?.near))?;
        Some(Sender { host, nic, peer })
    });
    let server = seen.network.server.zip(pair).and_then(|(host, pair)| {
        let far = pair.far_nic()?;
        let peer = pair.own_address()?;
        let nic = routed(host, peer).unwrap_or(far);
        Some(Sender { host, nic, peer })
    });
    client.into_iter().chain(server).collect()
}

/// The NIC that the routes choose: the narrowest network, then the lowest metric.
fn routed(host: &HostFacts, peer: IpAddr) -> Option<&Nic> {
    let routes = host.routes.iter().filter_map(|route| {
        let nic = host
            .nic(&route.nic)
            .filter(|nic| nic.state != LinkState::Down)?;
        Some((covers(route, peer)?, route.metric.unwrap_or(0), nic))
    });
    let best = routes.min_by_key(|(bits, metric, _)| (Reverse(*bits), *metric));
    best.map(|(_, _, nic)| nic)
}

/// Bits of a route's network, if the address is in it.
fn covers(route: &Route, peer: IpAddr) -> Option<u8> {
    if route.destination == "default" {
        let other = route.gateway.or(route.source);
        let same = other.is_none_or(|other| other.is_ipv4() == peer.is_ipv4());
        return same.then_some(0);
    }
    let whole = if peer.is_ipv4() { 32 } else { 128 };
    let (network, prefix) = match route.destination.split_once('/') {
        Some((network, bits)) => (network, bits.parse().ok()?),
        None => (route.destination.as_str(), whole),
    };
    let address: IpAddr = network.parse().ok()?;
    let network = InterfaceAddress { address, prefix };
    (address == peer || network.contains(peer)).then_some(prefix)
}

/// The fastest other NIC of this kind that leads to the same place.
pub(super) fn alternative<'a>(
    seen: &Evidence,
    sender: Sender<'a>,
    is_wanted: impl Fn(&Nic) -> bool,
) -> Option<&'a Nic> {
    let Sender { host, nic, peer } = sender;
    // A way out is no way to somebody who is in the sender's own network.
    let is_near = in_subnet(nic, peer);
    let leads = |other: &Nic| {
        let mut routes = host.routes.iter().filter(|route| route.nic == other.name);
        in_subnet(other, peer)
            || seen.has_answered(other, peer) == Some(true)
            || (!is_near && routes.any(|route| covers(route, peer).is_some()))
    };
    let others = host.nics.iter().filter(|other| {
        other.index != nic.index
            && other.state == LinkState::Up
            && is_wanted(other)
            && leads(other)
            && !seen.is_dead(other, peer)
    });
    others.max_by_key(|other| line_bits(other))
}

pub(super) fn is_cable(nic: &Nic) -> bool {
    !has_no_line(nic) && !is(nic, Medium::Bridge) && line_bits(nic).is_some()
}

/// The most that was moved either way, in bits per second.
pub(super) fn measured_bits(seen: &Evidence) -> Option<f64> {
    let rates = DIRECTIONS.into_iter().filter_map(|direction| {
        let tcp = seen.rate(RungName::Tcp, direction);
        tcp.or_else(|| seen.rate(RungName::Share, direction))
    });
    let most = rates.max_by(f64::total_cmp)?;
    (most > 0.0).then_some(most * 8.0)
}

/// A NIC outside of tunnels in one subnet with the other host, and the address there.
pub(super) fn needless<'a>(seen: &Evidence<'a>, sender: Sender<'a>) -> Option<(&'a Nic, IpAddr)> {
    let outside = |nic: &Nic| !is(nic, Medium::Tunnel);
    let peer = sender.peer;
    if let Some(nic) = alternative(seen, sender, |nic| outside(nic) && in_subnet(nic, peer)) {
        return Some((nic, peer));
    }
    let client = seen.network.client?;
    if client.name != sender.host.name {
        return None;
    }
    let pairs = seen.network.all_pairs(&[]).into_iter();
    let mut pairs = pairs.filter(|pair| {
        let far = pair.far_nic().is_none_or(outside);
        far && outside(pair.near) && !seen.is_dead(pair.near, pair.remote)
    });
    pairs.next().map(|pair| (pair.near, pair.remote))
}

pub(super) fn tunnel_name(nic: &Nic) -> String {
    match &nic.kind {
        Some(kind) => format!("`{}` (`{kind}`)", nic.name),
        None => format!("`{}`", nic.name),
    }
}

/// The ports of the bridge that a host sends by.
pub(super) fn ports(sender: Sender) -> Vec<String> {
    let bridge = Some(sender.nic.name.as_str());
    let nics = sender.host.nics.iter();
    nics.filter(|nic| nic.port_of.as_deref() == bridge)
        .map(|nic| format!("`{}`", nic.name))
        .collect()
}

pub(super) fn wifi_off(sender: Sender) -> Option<String> {
    let nic = &sender.nic.name;
    let is_plain = |letter: char| letter.is_alphanumeric() || " -._".contains(letter);
    if !nic.chars().all(is_plain) {
        return None;
    }
    let command = match sender.host.system {
        System::Linux => "nmcli radio wifi off".to_owned(),
        System::Macos => format!("networksetup -setairportpower {nic} off"),
        System::Windows => format!("Disable-NetAdapter -Name '{nic}'"),
    };
    Some(format!("{command}  # at {}", sender.host.name))
}
