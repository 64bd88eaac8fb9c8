//! Who else is on the segment of the links in use: whoever takes less than the links send loses it
//! without a word, so that large frames want a segment without them.

use std::net::{IpAddr, Ipv4Addr};

use locale::{Message, say};
use record::{HostFacts, Level, NeighbourMtu, Nic, Route, System};

use super::evidence::Evidence;
use super::nic_pairs::{Pair, is_link_local};
use crate::{Cause, Fix, Trust};

/// MTU of jumbo frames.
pub(super) const JUMBO_MTU: u32 = 9000;

/// What every Ethernet carries.
const STANDARD_MTU: u32 = 1500;
/// Neighbours that are named; the others are counted.
const NAMED_MAX: usize = 4;

/// The neighbours on a pair's segment that do not take what its NIC sends.
pub(super) fn short_neighbours<'a>(seen: &Evidence<'a>, pairs: &[Pair]) -> Vec<&'a NeighbourMtu> {
    on_segments(seen, pairs)
        .filter(|neighbour| neighbour.takes_less())
        .collect()
}

/// Those that answered all that could be asked while our own end has too small an MTU to ask for more.
pub(super) fn unproven_neighbours<'a>(
    seen: &Evidence<'a>,
    pairs: &[Pair],
) -> Vec<&'a NeighbourMtu> {
    on_segments(seen, pairs)
        .filter(|neighbour| {
            neighbour
                .answered
                .is_some_and(|answered| answered < JUMBO_MTU)
        })
        .collect()
}

fn on_segments<'a>(seen: &Evidence<'a>, pairs: &[Pair]) -> impl Iterator<Item = &'a NeighbourMtu> {
    let neighbours = seen.path.into_iter().flat_map(|path| &path.neighbours);
    neighbours.filter(|neighbour| pairs.iter().any(|pair| pair.near.name == neighbour.nic))
}

/// The first of them, and how many more there are.
pub(super) fn names(neighbours: &[&NeighbourMtu]) -> Vec<String> {
    let named = neighbours.iter().take(NAMED_MAX);
    let mut named: Vec<String> = named
        .map(|neighbour| format!("`{}`", neighbour.address))
        .collect();
    let more = neighbours.len().saturating_sub(NAMED_MAX);
    named.extend((more > 0).then(|| format!("+ {more}")));
    named
}

/// Large frames in use beside neighbours that lose them.
pub(super) fn mixed(seen: &Evidence) -> Option<Cause> {
    let short = short_neighbours(seen, &seen.used);
    let first = short.first()?;
    let text = say("jumbo-neighbours")
        .with("nic", &first.nic)
        .count("tried", first.tried)
        .with("neighbours", names(&short))
        .count("answered", first.answered.unwrap_or(STANDARD_MTU));
    Some(Cause::seen("jumbo-neighbours", text, Trust::Measured))
}

/// Large frames for client and server alone, where neighbours are known not to take them.
pub(super) fn own_segment(seen: &Evidence) -> Option<Fix> {
    let short = short_neighbours(seen, &seen.used);
    let pair = seen.used.first().filter(|_| !short.is_empty())?;
    let plan = idle_link(seen).or_else(|| second_subnet(seen, pair));
    let (segment, mut commands, remote) =
        plan.unwrap_or_else(|| (say("segment.new").count("mtu", JUMBO_MTU), Vec::new(), None));
    commands.extend(remote.and_then(|remote| named(seen, remote)));
    Some(Fix {
        id: "jumbo-segment".into(),
        text: say("fix.jumbo-segment")
            .with("neighbours", names(&short))
            .count("answered", short[0].answered.unwrap_or(STANDARD_MTU))
            .with("segment", segment),
        level: Level {
            name: "separate segment".into(),
            settings: Vec::new(),
        },
        predicted: None,
        disturbs: say("disturbs.until-restart"),
        blocked: Some(say("hand.addresses")),
        commands,
        elsewhere: remote.and_then(|remote| seen.share_at(remote)),
        trust: Trust::Measured,
    })
}

/// What it is in words, what makes it, and the server's address in it.
type Segment = (Message, Vec<String>, Option<IpAddr>);

/// A second link between the two on which nobody was seen that takes less.
fn idle_link(seen: &Evidence) -> Option<Segment> {
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
    let segment = say("segment.idle-link")
        .with("pair", pair.name())
        .count("mtu", JUMBO_MTU);
    Some((segment, commands, Some(pair.remote)))
}

/// A subnet of the two on the same cable: its routes alone have the large MTU.
fn second_subnet(seen: &Evidence, pair: &Pair) -> Option<Segment> {
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
    let segment = say("segment.subnet")
        .with("client", IpAddr::from(address(1)))
        .with("server", IpAddr::from(address(2)))
        .count("mtu", JUMBO_MTU)
        .count("standard", STANDARD_MTU);
    Some((segment, commands, Some(address(2).into())))
}

fn ends<'a>(seen: &Evidence<'a>, pair: &Pair<'a>) -> Vec<(&'a HostFacts, &'a Nic)> {
    let near = seen.network.client.map(|client| (client, pair.near));
    let far = seen.network.server.zip(pair.far_nic());
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
fn named(seen: &Evidence, remote: IpAddr) -> Option<String> {
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
