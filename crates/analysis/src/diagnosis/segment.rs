//! Who else is on the segment of the links in use: whoever takes less than the links send loses it
//! without a word, so that large frames want a segment without them.

use std::net::{IpAddr, Ipv4Addr};

use record::{HostFacts, Level, NeighbourLook, Nic, Route, System};

use super::Seen;
use super::cause::cause;
use super::fix::JUMBO_MTU;
use super::path::{FarEnd, Pair, is_link_local};
use crate::{Cause, Fix, Trust};

/// What every Ethernet carries.
const STANDARD_MTU: u32 = 1500;
/// Neighbours that are named; the others are counted.
const NAMED_MAX: usize = 4;

/// The neighbours on a pair's segment that do not take what its NIC sends.
pub(super) fn short_neighbours<'a>(seen: &Seen<'a>, pairs: &[Pair]) -> Vec<&'a NeighbourLook> {
    on_segments(seen, pairs)
        .filter(|neighbour| neighbour.takes_less())
        .collect()
}

/// Those that answered all that could be asked while our own end has too small an MTU to ask for more.
pub(super) fn unproven_neighbours<'a>(seen: &Seen<'a>, pairs: &[Pair]) -> Vec<&'a NeighbourLook> {
    on_segments(seen, pairs)
        .filter(|neighbour| {
            neighbour
                .answered
                .is_some_and(|answered| answered < JUMBO_MTU)
        })
        .collect()
}

fn on_segments<'a>(seen: &Seen<'a>, pairs: &[Pair]) -> impl Iterator<Item = &'a NeighbourLook> {
    let neighbours = seen.look.into_iter().flat_map(|look| &look.neighbours);
    neighbours.filter(|neighbour| pairs.iter().any(|pair| pair.near.name == neighbour.nic))
}

/// `192.168.1.7`, `192.168.1.9` and 3 more.
pub(super) fn names(neighbours: &[&NeighbourLook]) -> String {
    let named: Vec<String> = neighbours
        .iter()
        .take(NAMED_MAX)
        .map(|neighbour| format!("`{}`", neighbour.address))
        .collect();
    match neighbours.len().saturating_sub(NAMED_MAX) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Large frames in use beside neighbours that lose them.
pub(super) fn mixed(seen: &Seen) -> Option<Cause> {
    let short = short_neighbours(seen, &seen.used);
    let first = short.first()?;
    let text = format!(
        "`{}` sends packets of up to {} bytes, and {} on its segment answer at {} only: TCP agrees on less \
         with them, everything else that is larger is lost without a word",
        first.nic,
        first.tried,
        names(&short),
        first.answered.unwrap_or(STANDARD_MTU),
    );
    Some(cause("jumbo-neighbours", text, Trust::Measured))
}

/// Large frames for client and server alone, where neighbours are known not to take them.
pub(super) fn own_segment(seen: &Seen) -> Option<Fix> {
    let short = short_neighbours(seen, &seen.used);
    let pair = seen.used.first().filter(|_| !short.is_empty())?;
    let plan = idle_link(seen).or_else(|| second_subnet(seen, pair));
    let (way, mut commands, remote) = plan.unwrap_or_else(|| {
        let way = format!(
            "a cable, port or VLAN between the two with MTU {JUMBO_MTU} and addresses of its own"
        );
        (way, Vec::new(), None)
    });
    commands.extend(remote.and_then(|remote| named(seen, remote)));
    Some(Fix {
        id: "jumbo-segment".into(),
        text: format!(
            "do not raise the MTU of the whole segment, on which {} answer at {} bytes only: give client \
             and server a separate one for large frames, {way}",
            names(&short),
            short[0].answered.unwrap_or(STANDARD_MTU),
        ),
        level: Level {
            name: "separate segment".into(),
            settings: Vec::new(),
        },
        predicted: None,
        disturbs: "these links, for a moment; what the commands set lasts until the next start"
            .into(),
        blocked: Some("which addresses are free, and how they are to last, only you know".into()),
        commands,
        elsewhere: remote.and_then(|remote| seen.share_at(remote)),
        trust: Trust::Measured,
    })
}

/// What it is in words, what makes it, and the server's address in it.
type Segment = (String, Vec<String>, Option<IpAddr>);

/// A second link between the two on which nobody was seen that takes less.
fn idle_link(seen: &Seen) -> Option<Segment> {
    let pair = seen.usable.iter().find(|pair| {
        let idle = seen
            .used
            .iter()
            .all(|used| used.near.index != pair.near.index);
        idle && short_neighbours(seen, std::slice::from_ref(pair)).is_empty()
    })?;
    let mut commands = Vec::new();
    for (host, nic) in ends(seen, pair) {
        commands.extend(raise(host, nic));
    }
    let way = format!("the idle link {} with MTU {JUMBO_MTU}", pair.name());
    Some((way, commands, Some(pair.remote)))
}

/// A subnet of the two on the same cable: its routes alone have the large MTU.
fn second_subnet(seen: &Seen, pair: &Pair) -> Option<Segment> {
    let ours = linux(seen.network.client)?;
    let hosts = [Some(ours), seen.network.server];
    let net = (0..=u8::MAX).find(|net| is_free(&hosts, *net))?;
    let address = |end: u8| Ipv4Addr::new(10, 9, net, end);
    let mut commands = Vec::new();
    for (end, (host, nic)) in (1..).zip(ends(seen, pair)) {
        if linux(Some(host)).is_none() {
            continue;
        }
        let at = at(host);
        let name = &nic.name;
        commands.extend(raise(host, nic));
        let routes = host.routes.iter().filter(|route| route.nic == *name);
        commands.extend(routes.filter_map(keep_small).map(|line| line + &at));
        commands.push(format!("ip address add {}/24 dev {name}{at}", address(end)));
    }
    let way = format!(
        "as a subnet of its own on the same cable: `{}/24` at the client and `{}/24` at the server with MTU \
         {JUMBO_MTU}, all other routes of these NICs with {STANDARD_MTU}",
        address(1),
        address(2)
    );
    Some((way, commands, Some(address(2).into())))
}

fn ends<'a>(seen: &Seen<'a>, pair: &Pair<'a>) -> Vec<(&'a HostFacts, &'a Nic)> {
    let near = seen.network.client.map(|client| (client, pair.near));
    let far = match pair.far {
        FarEnd::Nic(nic) => seen.network.server.map(|server| (server, nic)),
        FarEnd::Advertised(_) | FarEnd::Address => None,
    };
    near.into_iter().chain(far).collect()
}

fn linux(host: Option<&HostFacts>) -> Option<&HostFacts> {
    host.filter(|host| host.system == System::Linux)
}

/// Where a command is to be run.
fn at(host: &HostFacts) -> String {
    format!("  # at {}", host.name)
}

fn raise(host: &HostFacts, nic: &Nic) -> Option<String> {
    (nic.mtu < JUMBO_MTU && linux(Some(host)).is_some()).then(|| {
        let (name, at) = (&nic.name, at(host));
        format!("ip link set dev {name} mtu {JUMBO_MTU}{at}")
    })
}

/// The same route, over which no large packet leaves.
fn keep_small(route: &Route) -> Option<String> {
    let network = route.destination.split('/').next()?.parse::<IpAddr>().ok();
    let is_global = network.map_or(route.destination == "default", |network| {
        !is_link_local(network) && !network.is_multicast()
    });
    let family = match route.gateway.or(network) {
        Some(IpAddr::V6(_)) => " -6",
        _ => "",
    };
    let gateway = route.gateway.map(|gateway| format!(" via {gateway}"));
    let source = route.source.map(|source| format!(" src {source}"));
    let metric = route.metric.map(|metric| format!(" metric {metric}"));
    is_global.then(|| {
        format!(
            "ip{family} route change {}{} dev {}{}{} mtu {STANDARD_MTU}",
            route.destination,
            gateway.unwrap_or_default(),
            route.nic,
            source.unwrap_or_default(),
            metric.unwrap_or_default(),
        )
    })
}

/// Has the server's name stand for its new address.
fn named(seen: &Seen, remote: IpAddr) -> Option<String> {
    let share = seen.share.map(|workload| &workload.share)?;
    let named = share.server.parse::<IpAddr>().is_err();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    let name = named && share.server.chars().all(is_plain);
    let ours = seen.network.client.map(at).unwrap_or_default();
    name.then(|| format!("echo '{remote} {}' >> /etc/hosts{ours}", share.server))
}

/// Whether neither host has anything in `10.9.NET.0/24`.
fn is_free(hosts: &[Option<&HostFacts>], net: u8) -> bool {
    let ours = |address: &IpAddr| match address.to_canonical() {
        IpAddr::V4(address) => address.octets()[..3] == [10, 9, net],
        IpAddr::V6(_) => false,
    };
    hosts.iter().flatten().all(|host| {
        let probe = IpAddr::V4(Ipv4Addr::new(10, 9, net, 1));
        let mut addresses = host.nics.iter().flat_map(|nic| &nic.addresses);
        let mut routes = host.routes.iter();
        !addresses.any(|entry| ours(&entry.address) || entry.contains(probe))
            && !routes.any(|route| {
                let network = route.destination.split('/').next();
                network.is_some_and(|text| text.parse().is_ok_and(|address| ours(&address)))
            })
    })
}
