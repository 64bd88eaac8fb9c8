//! `ip -j`.

use std::net::IpAddr;

use record::{InterfaceAddress, LinkState, Medium, Route};
use serde::Deserialize;

/// One element of `ip -j -d addr show`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) index: u32,
    pub(crate) name: String,
    pub(crate) is_loopback: bool,
    /// Whether its driver says now that there is a link; [`Link::state`] may be a second late.
    pub(crate) has_carrier: bool,
    pub(crate) mac: Option<String>,
    pub(crate) mtu: u32,
    /// 0 where the driver sets no limit.
    pub(crate) mtu_min: Option<u32>,
    pub(crate) mtu_max: Option<u32>,
    pub(crate) state: LinkState,
    pub(crate) kind: Option<String>,
    /// The bridge or bond that it is a port of.
    pub(crate) port_of: Option<String>,
    /// The device this one lies on, or the other end of a `veth`.
    pub(crate) lower: Option<String>,
    /// Packets that wait for the driver at most.
    pub(crate) queue_length: Option<u32>,
    pub(crate) addresses: Vec<InterfaceAddress>,
}

/// Kinds of links whose packets travel in those of another one.
const TUNNELS: [&str; 20] = [
    "tun",
    "wireguard",
    "amneziawg",
    "ovpn",
    "ovpn-dco",
    "ppp",
    "l2tp",
    "l2tp_eth",
    "xfrm",
    "vti",
    "vti6",
    "gre",
    "gretap",
    "ip6gre",
    "ip6gretap",
    "ipip",
    "sit",
    "ip6tnl",
    "vxlan",
    "geneve",
];

impl Link {
    /// What carries its packets, by its kind and by what the kernel says of the device behind it in
    /// `/sys/class/net/NIC/uevent`.
    pub(crate) fn medium(&self, uevent: Option<&str>) -> Option<Medium> {
        let mut lines = uevent.into_iter().flat_map(str::lines);
        if lines.any(|line| line.trim() == "DEVTYPE=wlan") {
            return Some(Medium::Wireless);
        }
        match self.kind.as_deref() {
            Some("bridge") => Some(Medium::Bridge),
            // A TAP device is rather the port of a virtual machine than the end of a VPN.
            Some("tun") if self.mac.is_some() => None,
            Some(kind) => TUNNELS.contains(&kind).then_some(Medium::Tunnel),
            // What software makes has a kind, and only Ethernet has such an address.
            None => (uevent.is_some() && self.mac.is_some()).then_some(Medium::Cable),
        }
    }
}

#[derive(Deserialize)]
struct RawLink {
    ifindex: u32,
    ifname: String,
    mtu: u32,
    #[serde(default)]
    flags: Vec<String>,
    operstate: Option<String>,
    link: Option<String>,
    master: Option<String>,
    link_type: Option<String>,
    address: Option<String>,
    min_mtu: Option<u32>,
    max_mtu: Option<u32>,
    txqlen: Option<u32>,
    linkinfo: Option<RawLinkInfo>,
    #[serde(default)]
    addr_info: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct RawLinkInfo {
    info_kind: Option<String>,
}

#[derive(Deserialize)]
struct RawAddress {
    local: IpAddr,
    prefixlen: u8,
}

/// Reads `ip -j -d addr show`; `None` when it is not a list.
pub(crate) fn links(stdout: &[u8]) -> Option<Vec<Link>> {
    let elements: Vec<serde_json::Value> = serde_json::from_slice(stdout).ok()?;
    Some(elements.into_iter().filter_map(link).collect())
}

/// `ip` prints empty elements for what it was told to leave out.
fn link(element: serde_json::Value) -> Option<Link> {
    let raw: RawLink = serde_json::from_value(element).ok()?;
    let state = match raw.operstate.as_deref() {
        Some("UP") => LinkState::Up,
        Some("DOWN" | "LOWERLAYERDOWN" | "NOTPRESENT" | "DORMANT" | "TESTING") => LinkState::Down,
        _ => LinkState::Unknown,
    };
    let is_loopback = raw.flags.iter().any(|flag| flag == "LOOPBACK");
    let has_carrier = raw.flags.iter().any(|flag| flag == "LOWER_UP");
    let is_ether = raw.link_type.as_deref() == Some("ether");
    Some(Link {
        index: raw.ifindex,
        name: raw.ifname,
        is_loopback,
        has_carrier,
        mac: raw.address.filter(|_| is_ether),
        mtu: raw.mtu,
        mtu_min: raw.min_mtu,
        mtu_max: raw.max_mtu.filter(|&mtu| mtu > 0),
        state,
        kind: raw.linkinfo.and_then(|info| info.info_kind),
        port_of: raw.master,
        lower: raw.link,
        queue_length: raw.txqlen,
        addresses: raw.addr_info.into_iter().filter_map(address).collect(),
    })
}

fn address(element: serde_json::Value) -> Option<InterfaceAddress> {
    let raw: RawAddress = serde_json::from_value(element).ok()?;
    let bits = if raw.local.is_ipv4() { 32 } else { 128 };
    (raw.prefixlen <= bits).then_some(InterfaceAddress {
        address: raw.local,
        prefix: raw.prefixlen,
    })
}

#[derive(Deserialize)]
struct RawRoute {
    dst: String,
    gateway: Option<IpAddr>,
    dev: Option<String>,
    prefsrc: Option<IpAddr>,
    metric: Option<u32>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    nexthops: Vec<RawNextHop>,
}

#[derive(Deserialize)]
struct RawNextHop {
    gateway: Option<IpAddr>,
    dev: Option<String>,
}

/// Reads `ip -j route show`: routes that lead to an interface, one for each next hop.
pub(crate) fn routes(stdout: &[u8]) -> Vec<Route> {
    let elements: Vec<serde_json::Value> = serde_json::from_slice(stdout).unwrap_or_default();
    elements.into_iter().flat_map(route).collect()
}

fn route(element: serde_json::Value) -> Vec<Route> {
    let Ok(raw) = serde_json::from_value::<RawRoute>(element) else {
        return Vec::new();
    };
    if raw.kind.as_deref().is_some_and(|kind| kind != "unicast") {
        return Vec::new();
    }
    let single = RawNextHop {
        gateway: raw.gateway,
        dev: raw.dev,
    };
    let hops = std::iter::once(single).chain(raw.nexthops);
    hops.filter_map(|hop| {
        Some(Route {
            destination: raw.dst.clone(),
            gateway: hop.gateway,
            nic: hop.dev?,
            source: raw.prefsrc,
            metric: raw.metric,
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_output_is_no_list_or_an_empty_one() {
        for text in ["", "[", "{}", "null", "[[[", "Device \"x\" does not exist."] {
            assert_eq!(links(text.as_bytes()), None, "{text}");
            assert_eq!(routes(text.as_bytes()), [], "{text}");
        }
        for text in [
            "[]",
            "[{}]",
            "[{},null,3]",
            r#"[{"ifindex":-1,"ifname":"x","mtu":1}]"#,
        ] {
            assert_eq!(links(text.as_bytes()), Some(Vec::new()), "{text}");
            assert_eq!(routes(text.as_bytes()), [], "{text}");
        }
    }

    #[test]
    fn what_carries_the_packets_is_told_by_the_kind_and_the_device() {
        let said = |more: &str, uevent: Option<&str>| {
            let text = format!(r#"[{{"ifindex":2,"ifname":"a","mtu":1500{more}}}]"#);
            links(text.as_bytes()).unwrap()[0].medium(uevent)
        };
        let ether = r#","link_type":"ether","address":"02:00:00:00:00:01""#;
        let kind = |kind: &str| format!(r#"{ether},"linkinfo":{{"info_kind":"{kind}"}}"#);
        let wlan = "DEVTYPE=wlan\nINTERFACE=a\nIFINDEX=2\n";
        let plain = "INTERFACE=a\nIFINDEX=2\n";
        assert_eq!(said(ether, Some(wlan)), Some(Medium::Wireless));
        assert_eq!(said(ether, Some(plain)), Some(Medium::Cable));
        assert_eq!(said("", Some(plain)), None);
        // Where it cannot be read it may be either.
        assert_eq!(said(ether, None), None);
        assert_eq!(said(&kind("bridge"), None), Some(Medium::Bridge));
        for tunnel in ["wireguard", "ppp", "vxlan"] {
            assert_eq!(said(&kind(tunnel), Some(plain)), Some(Medium::Tunnel));
        }
        let tun = r#","link_type":"none","linkinfo":{"info_kind":"tun"}"#;
        assert_eq!(said(tun, Some(plain)), Some(Medium::Tunnel));
        for other in ["tun", "veth", "vlan", "bond", "dummy"] {
            assert_eq!(said(&kind(other), Some(plain)), None, "{other}");
        }
    }

    #[test]
    fn an_address_with_an_impossible_prefix_is_left_out() {
        let text = r#"[{"ifindex":2,"ifname":"a","mtu":1500,"addr_info":[
            {"local":"10.0.0.1","prefixlen":33},{"local":"10.0.0.2","prefixlen":24},{}]}]"#;
        let links = links(text.as_bytes()).unwrap();
        assert_eq!(links[0].addresses.len(), 1);
        assert_eq!(links[0].addresses[0].prefix, 24);
        assert_eq!(links[0].state, LinkState::Unknown);
    }

    #[test]
    fn a_route_over_two_hops_is_two_routes_and_a_black_hole_none() {
        let text = r#"[{"dst":"default","nexthops":[{"gateway":"10.0.0.1","dev":"a"},
            {"gateway":"10.1.0.1","dev":"b"}]},{"type":"blackhole","dst":"10.9.0.0/16","dev":"lo"}]"#;
        let routes = routes(text.as_bytes());
        let nics: Vec<_> = routes.iter().map(|route| route.nic.as_str()).collect();
        assert_eq!(nics, ["a", "b"]);
    }
}
