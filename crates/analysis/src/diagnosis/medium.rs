//! What carries the data: Wi-Fi though there is a cable, a tunnel though there is a direct way, a bridge.

use std::cmp::Reverse;
use std::net::IpAddr;

use record::{HostFacts, InterfaceAddress, LinkState, Medium, Nic, Route, System};

use super::cause::cause;
use super::fault::{FASTER, Fault, fault, network_loses};
use super::path::{FarEnd, bit_rate, has_no_line, is_link_local, line_bits};
use super::remedy::Advice;
use super::{DIRECTIONS, Seen};
use crate::statistics::computed;
use crate::{Cause, RungName, Trust, Unit};

/// A host and the NIC by which it sends to the other one.
#[derive(Clone, Copy)]
struct Sender<'a> {
    host: &'a HostFacts,
    nic: &'a Nic,
    /// The other one's address.
    peer: IpAddr,
}

pub(super) fn is(nic: &Nic, medium: Medium) -> bool {
    nic.medium == Some(medium)
}

/// Wi-Fi is used, and a faster cable is there or something is lost on it.
pub(super) fn wifi(seen: &Seen) -> Option<Fault> {
    let sender = sends_over(seen, Medium::Wireless)?;
    let (host, nic) = (&sender.host.name, &sender.nic.name);
    let Some((cable, bits)) = faster_cable(seen, sender) else {
        let text = format!(
            "{host} sends over Wi-Fi by `{nic}`: what the air carries is the limit, and not the lines behind it"
        );
        let advice = Advice::new(format!(
            "connect {host} by a cable; without one, move it nearer to the access point and use the 5 or 6 GHz band"
        ));
        return network_loses(seen).then(|| fault("wifi-used", text, Trust::Computed, advice))?;
    };
    let text = format!(
        "{host} sends over Wi-Fi by `{nic}`, while its cable `{}` runs at {} and is not used",
        cable.name,
        bit_rate(bits)
    );
    let ratio = measured_bits(seen).map(|moved| {
        let caveat = "the line rate of the cable against what was moved over Wi-Fi";
        computed(bits as f64 / moved, Unit::Ratio, vec![caveat.into()])
    });
    let advice = Advice::new(format!(
        "let {host} use the cable: turn Wi-Fi off while it is plugged in, or give the routes of `{}` a lower \
         metric than those of `{nic}`",
        cable.name
    ))
    .gains(ratio)
    .commands(wifi_off(sender));
    fault("wifi-used", text, Trust::Computed, advice)
}

/// A tunnel is used though there is a direct way.
pub(super) fn needless_tunnel(seen: &Seen) -> Option<Fault> {
    let sender = sends_over(seen, Medium::Tunnel)?;
    let (host, name) = (&sender.host.name, tunnel_name(sender.nic));
    let (near, remote) = way_around(seen, sender)?;
    let text = format!(
        "{host} sends through the tunnel {name}, while its `{}` is in one subnet with `{remote}`",
        near.name
    );
    let advice = Advice::new(format!(
        "let `{remote}` be reached by `{}` and not through {name}: leave the local network out of the tunnel \
         (`AllowedIPs`, split tunnelling), or use that address",
        near.name
    ))
    .commands(route_to(sender.host, remote));
    fault("tunnel-used", text, Trust::Computed, advice)
}

/// Something is lost in a tunnel, and there is no other way.
pub(super) fn slow_tunnel(seen: &Seen) -> Option<Fault> {
    let sender = sends_over(seen, Medium::Tunnel)?;
    if way_around(seen, sender).is_some() || !network_loses(seen) {
        return None;
    }
    let text = format!(
        "{} sends through the tunnel {}: it rides on another line and handles each packet once more, and so is \
         the limit",
        sender.host.name,
        tunnel_name(sender.nic)
    );
    let advice = Advice::new(
        "where both are in one network, reach the server without the tunnel; elsewhere look at the \
         processors of both ends of the tunnel while data goes through it",
    );
    fault("tunnel-used", text, Trust::Computed, advice)
}

/// What is worth knowing of the way and no fault of it.
pub(super) fn remarks(seen: &Seen) -> Vec<Cause> {
    let mut remarks = Vec::new();
    for sender in senders(seen) {
        let (host, nic) = (&sender.host.name, &sender.nic.name);
        let found = match sender.nic.medium {
            Some(Medium::Wireless) if wifi(seen).is_none() => {
                let beside = beside(seen, sender, is_cable).map_or_else(
                    || "a cable is steadier, and mostly faster".to_owned(),
                    |cable| format!("its cable `{}` is not used, and no faster", cable.name),
                );
                Some((
                    "over-wifi",
                    format!("{host} sends over Wi-Fi by `{nic}`; {beside}"),
                ))
            }
            Some(Medium::Tunnel)
                if needless_tunnel(seen)
                    .or_else(|| slow_tunnel(seen))
                    .is_none() =>
            {
                Some((
                    "through-tunnel",
                    format!(
                        "{host} sends through the tunnel {}, which rides on another line and leaves {} bytes to a packet",
                        tunnel_name(sender.nic),
                        sender.nic.mtu
                    ),
                ))
            }
            Some(Medium::Bridge) => Some((
                "through-bridge",
                format!("{host} sends through the bridge `{nic}`{}", ports(sender)),
            )),
            Some(Medium::Wireless | Medium::Tunnel) => None,
            Some(Medium::Cable) | None => {
                let wifi = |other: &Nic| is(other, Medium::Wireless);
                beside(seen, sender, wifi).map(|wifi| {
                    let text = format!(
                        "{host} sends by `{nic}`, and its Wi-Fi `{}` beside it is not used",
                        wifi.name
                    );
                    ("wifi-beside-cable", text)
                })
            }
        };
        remarks.extend(found.map(|(id, text)| cause(id, text, Trust::Computed)));
    }
    remarks
}

/// Whether either of the two sends over Wi-Fi or through a tunnel, as far as it is known.
pub(super) fn has_no_line_on_the_way(seen: &Seen) -> bool {
    let mut senders = senders(seen).into_iter();
    senders.any(|sender| has_no_line(sender.nic))
}

fn sends_over<'a>(seen: &Seen<'a>, medium: Medium) -> Option<Sender<'a>> {
    let mut senders = senders(seen).into_iter();
    senders.find(|sender| is(sender.nic, medium))
}

/// By which NICs the two send to each other, as far as it is known: the client's first.
fn senders<'a>(seen: &Seen<'a>) -> Vec<Sender<'a>> {
    let pair = seen.used.first();
    let way = seen.look.and_then(|look| look.addresses.first());
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
        let FarEnd::Nic(far) = pair.far else {
            return None;
        };
        let mut ours = pair.near.addresses.iter().map(|entry| entry.address);
        let peer = ours.find(|address| {
            address.is_ipv4() == pair.remote.is_ipv4() && !is_link_local(*address)
        })?;
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
fn beside<'a>(
    seen: &Seen,
    sender: Sender<'a>,
    is_wanted: impl Fn(&Nic) -> bool,
) -> Option<&'a Nic> {
    let Sender { host, nic, peer } = sender;
    // A way out is no way to somebody who is in the sender's own network.
    let is_near = in_subnet(nic, peer);
    let leads = |other: &Nic| {
        let mut routes = host.routes.iter().filter(|route| route.nic == other.name);
        in_subnet(other, peer)
            || has_answered(seen, other, peer) == Some(true)
            || (!is_near && routes.any(|route| covers(route, peer).is_some()))
    };
    let others = host.nics.iter().filter(|other| {
        other.index != nic.index
            && other.state == LinkState::Up
            && is_wanted(other)
            && leads(other)
            && !is_dead(seen, other, peer)
    });
    others.max_by_key(|other| line_bits(other))
}

fn in_subnet(nic: &Nic, peer: IpAddr) -> bool {
    nic.addresses.iter().any(|entry| entry.contains(peer))
}

/// Whether the look has shown that nobody answers there.
pub(super) fn is_dead(seen: &Seen, nic: &Nic, remote: IpAddr) -> bool {
    has_answered(seen, nic, remote) == Some(false)
}

/// Whether anybody answers there; nothing where the look did not try.
fn has_answered(seen: &Seen, nic: &Nic, remote: IpAddr) -> Option<bool> {
    let mut proofs = seen.look?.mtus.iter();
    let proof = proofs.find(|proof| proof.nic == nic.name && proof.remote == Some(remote))?;
    Some(proof.answered.is_some() || proof.far_mtu.is_some())
}

fn is_cable(nic: &Nic) -> bool {
    !has_no_line(nic) && !is(nic, Medium::Bridge) && line_bits(nic).is_some()
}

/// A cable beside Wi-Fi that would carry more than was moved.
fn faster_cable<'a>(seen: &Seen, sender: Sender<'a>) -> Option<(&'a Nic, u64)> {
    let cable = beside(seen, sender, is_cable)?;
    let bits = line_bits(cable)?;
    let is_faster = measured_bits(seen).is_none_or(|moved| bits as f64 > moved * FASTER);
    is_faster.then_some((cable, bits))
}

/// The most that was moved either way, in bits per second.
fn measured_bits(seen: &Seen) -> Option<f64> {
    let rates = DIRECTIONS.into_iter().filter_map(|direction| {
        let tcp = seen.rate(RungName::Tcp, direction);
        tcp.or_else(|| seen.rate(RungName::Share, direction))
    });
    let most = rates.max_by(f64::total_cmp)?;
    (most > 0.0).then_some(most * 8.0)
}

/// A NIC outside of tunnels in one subnet with the other host, and the address there.
fn way_around<'a>(seen: &Seen<'a>, sender: Sender<'a>) -> Option<(&'a Nic, IpAddr)> {
    let outside = |nic: &Nic| !is(nic, Medium::Tunnel);
    let peer = sender.peer;
    if let Some(nic) = beside(seen, sender, |nic| outside(nic) && in_subnet(nic, peer)) {
        return Some((nic, peer));
    }
    let client = seen.network.client?;
    if client.name != sender.host.name {
        return None;
    }
    let pairs = seen.network.all_pairs(&[]).into_iter();
    let mut pairs = pairs.filter(|pair| {
        let far = match pair.far {
            FarEnd::Nic(nic) => outside(nic),
            FarEnd::Advertised(_) | FarEnd::Address => true,
        };
        far && outside(pair.near) && !is_dead(seen, pair.near, pair.remote)
    });
    pairs.next().map(|pair| (pair.near, pair.remote))
}

fn tunnel_name(nic: &Nic) -> String {
    match &nic.kind {
        Some(kind) => format!("`{}` (`{kind}`)", nic.name),
        None => format!("`{}`", nic.name),
    }
}

/// The ports of the bridge that a host sends by, where they are known.
fn ports(sender: Sender) -> String {
    let bridge = Some(sender.nic.name.as_str());
    let nics = sender.host.nics.iter();
    let names: Vec<String> = nics
        .filter(|nic| nic.port_of.as_deref() == bridge)
        .map(|nic| format!("`{}`", nic.name))
        .collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!(" with the port {one}"),
        _ => format!(" with the ports {}", names.join(", ")),
    }
}

fn wifi_off(sender: Sender) -> Option<String> {
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

fn route_to(host: &HostFacts, remote: IpAddr) -> [String; 1] {
    let command = match host.system {
        System::Linux => format!("ip route get {remote}"),
        System::Macos => format!("route -n get {remote}"),
        System::Windows => format!("Find-NetRoute -RemoteIPAddress {remote}"),
    };
    [format!("{command}  # at {}", host.name)]
}
