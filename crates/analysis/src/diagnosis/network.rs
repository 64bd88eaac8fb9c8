//! Which NICs a connection used, which others could be used, and what fits through them.

use std::net::IpAddr;

use locale::{Message, say};
use record::{ConnectionUse, Direction, HostFacts, LinkState, Medium, Nic, ServerInterface};

use crate::Ceiling;
use stats::computed;
use stats::{Estimate, Unit};

/// The least ratio of two line rates that counts as different.
pub(super) const FASTER: f64 = 1.5;
/// What a link runs at when its cable is bad, in bits per second.
pub(super) const SLOW_BITS: u64 = 100_000_000;
/// The same for a link that is not slow.
pub(super) const GOOD_BITS: u64 = 1_000_000_000;
/// Faster than any NIC there is: what virtual NICs and broken servers say.
const SPEED_BITS_MAX: u64 = 1_600_000_000_000;
/// NICs and advertised interfaces that are looked at.
const ENDS_MAX: usize = 256;
/// Bytes of an Ethernet header, which a shaper counts.
const FRAME_BYTES: u32 = 14;
/// The same with preamble, FCS and gap, which only the wire sees.
const WIRE_BYTES: u32 = 38;
/// Line rates that a shaper may stand for.
const LINE_RATES: [u64; 12] = [
    10_000_000,
    100_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    25_000_000_000,
    40_000_000_000,
    50_000_000_000,
    100_000_000_000,
    200_000_000_000,
    400_000_000_000,
];
/// How exactly a shaper must hit a line rate to stand for it.
const LINE_RATE_TOLERANCE: f64 = 1e-4;
/// The same of what somebody gave a standard rate without counting frames' overhead.
const NEAR_LINE_RATE: f64 = 0.03;
/// Drivers of virtual NICs that report a speed which nothing keeps.
const INVENTING_DRIVERS: [&str; 12] = [
    "veth",
    "virtio_net",
    "virtio-pci",
    "tun",
    "bridge",
    "dummy",
    "vmxnet3",
    "xen_netfront",
    "vif",
    "hv_netvsc",
    "ena",
    "netkvm",
];
/// What is said of a rate that only the server reports: more than it cannot be had, and whether as much can be had is
/// not known.
const ONLY_ADVERTISED: &str = "ceiling-caveat.only-advertised";
/// Kinds of links that tell the sum of their ports' speeds, and send each connection by one port.
const SUMS: [&str; 2] = ["bond", "team"];
/// Kinds of links that pass on the speed of the real ones under them.
const TRUSTED_KINDS: [&str; 5] = ["bond", "team", "vlan", "macvlan", "ipvlan"];

/// What is known of both ends.
#[derive(Clone, Copy)]
pub(super) struct Network<'a> {
    pub(super) client: Option<&'a HostFacts>,
    pub(super) server: Option<&'a HostFacts>,
    /// The server's own list, true or not.
    pub(super) advertised: &'a [ServerInterface],
    /// Whether nothing that was measured contradicts the speeds in it.
    pub(super) believed: bool,
    /// Whether a shaper, which limits what its NIC sends, stands for a line that receives as much.
    pub(super) shapers_are_lines: bool,
    pub(super) ports: Ports,
}

/// What the ports of a bond or a bridge carry of what goes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ports {
    /// One connection: a bond sends it by one port, and a bridge by the only real one.
    OfOne,
    /// Several: all ports of a bond do.
    OfSeveral,
    /// What was measured contradicts that, or nobody compared: only what the NIC itself tells counts.
    Unknown,
}

/// The server's end of a path, as well as it is known.
#[derive(Clone, Copy)]
pub(super) enum FarEnd<'a> {
    Nic(&'a Nic),
    Advertised(&'a ServerInterface),
    Address,
}

/// A NIC of the client and the server's end that it talks to.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) near: &'a Nic,
    pub(super) far: FarEnd<'a>,
    pub(super) remote: IpAddr,
}

/// What fits through a pair, in payload bytes per second, and why.
pub(super) struct Limit {
    pub(super) rate: f64,
    because: Message,
    caveats: Vec<Message>,
}

#[derive(Clone, Copy)]
struct Line {
    bits: u64,
    overhead: u32,
    /// The id of what is to be said of it.
    caveat: Option<&'static str>,
}

impl Line {
    fn payload(self, mtu: u32, headers: u32) -> f64 {
        let share =
            f64::from(mtu.saturating_sub(headers)) / f64::from(mtu.saturating_add(self.overhead));
        self.bits as f64 / 8.0 * share
    }
}

impl PartialEq for Pair<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.near.index == other.near.index && self.same_far(other)
    }
}

impl<'a> Pair<'a> {
    /// Whether it is another pair that has one of the two NICs.
    pub(super) fn shares_an_end(&self, other: &Self) -> bool {
        self != other && (self.near.index == other.near.index || self.same_far(other))
    }

    fn same_far(&self, other: &Self) -> bool {
        match (self.far, other.far) {
            (FarEnd::Nic(one), FarEnd::Nic(two)) => one.index == two.index,
            (FarEnd::Advertised(one), FarEnd::Advertised(two)) => {
                one.address == two.address || (has_index(one) && one.index == two.index)
            }
            _ => self.remote == other.remote,
        }
    }

    /// The server's NIC, where its facts are known.
    pub(super) const fn far_nic(&self) -> Option<&'a Nic> {
        match self.far {
            FarEnd::Nic(nic) => Some(nic),
            FarEnd::Advertised(_) | FarEnd::Address => None,
        }
    }

    /// The MTU that both ends have; only ours where the far one is not known.
    pub(super) fn mtu(&self) -> u32 {
        match self.far {
            FarEnd::Nic(nic) => self.near.mtu.min(nic.mtu),
            FarEnd::Advertised(_) | FarEnd::Address => self.near.mtu,
        }
    }

    pub(super) fn name(&self) -> Message {
        let ends = say("ends").with("nic", &self.near.name);
        match self.far {
            FarEnd::Nic(nic) => ends.with("address", &nic.name),
            FarEnd::Advertised(_) | FarEnd::Address => ends.with("address", self.remote),
        }
    }
}

impl<'a> Network<'a> {
    /// The NIC pair of a connection.
    ///
    /// # Errors
    /// A sentence when our end is on no NIC that is known.
    pub(super) fn pair(&self, connection: &ConnectionUse) -> Result<Pair<'a>, String> {
        let local = connection.local.ip().to_canonical();
        let remote = connection.remote.ip().to_canonical();
        let near = self
            .client
            .and_then(|client| client.nic_with(local))
            .ok_or_else(|| format!("our end `{local}` is on no NIC that is known"))?;
        Ok(Pair {
            near,
            far: self.far_end(remote),
            remote,
        })
    }

    fn far_end(&self, remote: IpAddr) -> FarEnd<'a> {
        if let Some(nic) = self.server.and_then(|server| server.nic_with(remote)) {
            return FarEnd::Nic(nic);
        }
        match self.advertisement(remote) {
            Some(interface) => FarEnd::Advertised(interface),
            None => FarEnd::Address,
        }
    }

    pub(super) fn advertisement(&self, remote: IpAddr) -> Option<&'a ServerInterface> {
        self.advertised
            .iter()
            .find(|interface| interface.address.to_canonical() == remote)
    }

    /// What fits through a pair at its own MTU or another one.
    pub(super) fn limit(
        &self,
        pair: &Pair<'_>,
        direction: Direction,
        mtu: Option<u32>,
    ) -> Option<Limit> {
        let mtu = mtu.unwrap_or_else(|| pair.mtu());
        let headers = self.headers(pair.remote);
        let line = self.lines(pair, direction).into_iter().min_by(|one, two| {
            f64::total_cmp(&one.payload(mtu, headers), &two.payload(mtu, headers))
        })?;
        let rate = line.payload(mtu, headers);
        let because = match line.overhead == WIRE_BYTES {
            true => say("ceiling-because.line"),
            false => say("ceiling-because.shaper"),
        };
        let because = because
            .with("pair", pair.name())
            .bits("rate", line.bits)
            .count("mtu", mtu)
            .count("payload", mtu.saturating_sub(headers))
            .count("whole", mtu.saturating_add(line.overhead));
        let mut caveats: Vec<Message> = line.caveat.map(say).into_iter().collect();
        if !matches!(pair.far, FarEnd::Nic(_)) {
            caveats.push(say("ceiling-caveat.far-mtu"));
        }
        (rate > 0.0).then_some(Limit {
            rate,
            because,
            caveats,
        })
    }

    /// The line that limits a pair, as people know it: `1 Gbit/s at MTU 1500`.
    pub(super) fn line_name(&self, pair: &Pair<'_>, direction: Direction) -> Option<Message> {
        let (mtu, headers) = (pair.mtu(), self.headers(pair.remote));
        let lines = self.lines(pair, direction).into_iter();
        let line = lines.min_by(|one, two| {
            f64::total_cmp(&one.payload(mtu, headers), &two.payload(mtu, headers))
        })?;
        Some(say("line-at-mtu").bits("rate", line.bits).count("mtu", mtu))
    }

    /// What a line of a rate would carry between a pair, in payload bytes per second.
    pub(super) fn line_payload(&self, pair: &Pair<'_>, bits: u64) -> f64 {
        wire(bits, None).payload(pair.mtu(), self.headers(pair.remote))
    }

    /// Bytes of IP and TCP headers: 52 for IPv4 with timestamps.
    fn headers(&self, remote: IpAddr) -> u32 {
        let without_timestamps = [self.client, self.server]
            .into_iter()
            .flatten()
            .any(|host| host.tcp.timestamps == Some(false));
        let ip = if remote.is_ipv6() { 40 } else { 20 };
        ip + 20 + if without_timestamps { 0 } else { 12 }
    }

    fn lines(&self, pair: &Pair<'_>, direction: Direction) -> Vec<Line> {
        let far = match pair.far {
            FarEnd::Nic(nic) => Some(nic),
            FarEnd::Advertised(_) | FarEnd::Address => None,
        };
        let (sender, receiver) = match direction {
            Direction::Read => (far, Some(pair.near)),
            Direction::Write => (Some(pair.near), far),
        };
        let ends = [(self.client, Some(pair.near)), (self.server, far)];
        let has_no_line = ends.into_iter().filter_map(|(_, nic)| nic).any(has_no_line);
        let caveat = has_no_line.then_some("ceiling-caveat.no-line");
        let speeds = ends
            .into_iter()
            .filter_map(|(host, nic)| self.speed(host, nic?));
        let mut lines: Vec<Line> = speeds.map(|bits| wire(bits, caveat)).collect();
        lines.extend(sender.and_then(shaper));
        let known = !lines.is_empty();
        let receiver = receiver.filter(|_| self.shapers_are_lines);
        lines.extend(receiver.and_then(shaper).and_then(|line| match known {
            // A shaper that stands for a line does so in both directions.
            true => (line.overhead == WIRE_BYTES).then_some(line),
            false => Some(Line {
                caveat: Some("ceiling-caveat.other-direction"),
                ..line
            }),
        }));
        if lines.is_empty() || (self.server.is_none() && self.believed) {
            let sane = self.advertisement(pair.remote).and_then(sane_speed);
            // Behind Wi-Fi or a tunnel something is lost for sure.
            let caveat = match lines.is_empty() && !has_no_line {
                true => ONLY_ADVERTISED,
                false => "ceiling-caveat.advertised",
            };
            lines.extend(sane.map(|bits| wire(bits, Some(caveat))));
        }
        lines
    }

    /// What the two ends of a pair run at, by what their hosts tell.
    pub(super) fn end_bits(&self, pair: &Pair<'_>) -> [Option<u64>; 2] {
        let far = match pair.far {
            FarEnd::Nic(nic) => Some(nic),
            FarEnd::Advertised(_) | FarEnd::Address => None,
        };
        [(self.client, Some(pair.near)), (self.server, far)].map(|(host, nic)| {
            let nic = nic?;
            let shaped = shaper(nic).map(|line| line.bits);
            shaped.or_else(|| self.speed(host, nic))
        })
    }

    /// A shaper that stands for no line and has the rate of none, or is refuted by what its NIC received, and the rate of the line below it where that is known.
    pub(super) fn shaped(&self, host: &HostFacts, nic: &Nic) -> Option<(u64, Option<u64>)> {
        let shaped = shaper(nic)?;
        if !self.shapers_are_lines {
            return Some((shaped.bits, None));
        }
        let shaped = Some(shaped).filter(|line| line.overhead != WIRE_BYTES)?;
        let is_near = |rate: u64| (shaped.bits as f64 / rate as f64 - 1.0).abs() < NEAR_LINE_RATE;
        if LINE_RATES.into_iter().any(is_near) {
            return None;
        }
        Some((shaped.bits, self.speed(Some(host), nic)))
    }

    /// What a server that nobody can look at tells of its end, as far as it can be believed.
    pub(super) fn advertised_bits(&self, pair: &Pair<'_>) -> Option<u64> {
        match pair.far {
            FarEnd::Advertised(entry) if self.server.is_none() && self.believed => {
                sane_speed(entry)
            }
            FarEnd::Nic(_) | FarEnd::Advertised(_) | FarEnd::Address => None,
        }
    }

    fn speed(&self, host: Option<&HostFacts>, nic: &Nic) -> Option<u64> {
        match host.filter(|_| self.ports != Ports::Unknown) {
            Some(host) => speed_by_port(host, nic, self.ports),
            None => trusted_speed(nic),
        }
    }

    /// The ceiling of one direction: the lowest that any trial's pairs allow. A trial that spread
    /// over several NICs has the sum of them, at the end where that is less.
    pub(super) fn ceiling(
        &self,
        direction: Direction,
        trials: &[Vec<Pair<'a>>],
        mtu: Option<u32>,
    ) -> Option<Ceiling> {
        trials
            .iter()
            .filter_map(|pairs| self.together(pairs, direction, mtu))
            .min_by(|one, two| f64::total_cmp(&one.rate, &two.rate))
            .map(|limit| Ceiling {
                rate: computed(limit.rate, Unit::BytesPerSecond, limit.caveats),
                because: limit.because,
            })
    }

    fn together(
        &self,
        pairs: &[Pair<'a>],
        direction: Direction,
        mtu: Option<u32>,
    ) -> Option<Limit> {
        let limits: Option<Vec<(Pair<'a>, Limit)>> = pairs
            .iter()
            .map(|pair| self.limit(pair, direction, mtu).map(|limit| (*pair, limit)))
            .collect();
        let limits = limits.filter(|limits| !limits.is_empty())?;
        let near = sum_of_groups(&limits, |one, two| one.near.index == two.near.index);
        let far = sum_of_groups(&limits, |one, two| one.same_far(two));
        let mut caveats: Vec<Message> = Vec::new();
        let mut reasons: Option<Message> = None;
        for (_, limit) in limits {
            reasons = Some(match reasons {
                None => limit.because,
                Some(first) => say("ceiling-because.both")
                    .with("first", first)
                    .with("second", limit.because),
            });
            for caveat in limit.caveats {
                if !caveats.contains(&caveat) {
                    caveats.push(caveat);
                }
            }
        }
        Some(Limit {
            rate: near.min(far),
            because: reasons?,
            caveats,
        })
    }

    /// As many pairs as can be used at once, each NIC in one of them: the used ones first, then
    /// whatever shares a subnet.
    pub(super) fn usable_pairs(&self, used: &[Pair<'a>]) -> Vec<Pair<'a>> {
        let Some(client) = self.client else {
            return used.to_vec();
        };
        let nears: Vec<&'a Nic> = client.nics.iter().take(ENDS_MAX).collect();
        let mut edges: Vec<Vec<Pair<'a>>> = vec![Vec::new(); nears.len()];
        let mut far_ends: Vec<Pair<'a>> = Vec::new();
        for (near, edges) in nears.iter().zip(&mut edges) {
            edges.extend(used.iter().filter(|pair| pair.near.index == near.index));
            if near.state != LinkState::Down {
                let found = self.candidates(near).filter(|pair| !used.contains(pair));
                edges.extend(found.take(ENDS_MAX));
            }
            for pair in edges {
                if !far_ends.iter().any(|known| known.same_far(pair)) {
                    far_ends.push(*pair);
                }
            }
        }
        // Maximum matching by augmenting paths. NICs in use go first and once matched stay matched.
        let mut order: Vec<usize> = (0..nears.len()).collect();
        order.sort_by_key(|&near| !used.iter().any(|pair| pair.near.index == nears[near].index));
        let mut matched: Vec<Option<(usize, Pair<'a>)>> = vec![None; far_ends.len()];
        for near in order {
            let mut seen = vec![false; far_ends.len()];
            augment(near, &edges, &far_ends, &mut matched, &mut seen);
        }
        let mut pairs: Vec<Pair<'a>> = matched
            .into_iter()
            .flatten()
            .map(|(_, pair)| pair)
            .collect();
        pairs.sort_by_key(|pair| (!used.contains(pair), pair.near.index));
        pairs
    }

    /// Every pair of NICs between the two, used or not.
    pub(super) fn all_pairs(&self, used: &[Pair<'a>]) -> Vec<Pair<'a>> {
        let mut pairs = used.to_vec();
        let nears = self.client.into_iter().flat_map(|client| &client.nics);
        let up = nears.filter(|nic| nic.state != LinkState::Down);
        for near in up.take(ENDS_MAX) {
            for pair in self.candidates(near).take(ENDS_MAX) {
                if !pairs.contains(&pair) && pairs.len() < ENDS_MAX {
                    pairs.push(pair);
                }
            }
        }
        pairs
    }

    /// The addresses of the server that a NIC of ours reaches without a router.
    pub(super) fn near_remotes(&self) -> Vec<IpAddr> {
        let nears = self.client.into_iter().flat_map(|client| &client.nics);
        let up = nears.filter(|nic| nic.state != LinkState::Down);
        let mut remotes = Vec::new();
        for near in up.take(ENDS_MAX) {
            for pair in self.candidates(near).take(ENDS_MAX) {
                if !remotes.contains(&pair.remote) && remotes.len() < ENDS_MAX {
                    remotes.push(pair.remote);
                }
            }
        }
        remotes
    }

    fn candidates(&self, near: &'a Nic) -> impl Iterator<Item = Pair<'a>> {
        let network = *self;
        let from_facts = self.server.into_iter().flat_map(|server| {
            let up = server.nics.iter().take(ENDS_MAX);
            up.filter(|nic| nic.state != LinkState::Down)
                .flat_map(|nic| {
                    nic.addresses
                        .iter()
                        .map(|entry| entry.address.to_canonical())
                })
        });
        let listed = self.advertised.iter().take(ENDS_MAX);
        let from_list = listed
            .map(|entry| entry.address.to_canonical())
            .filter(move |_| network.server.is_none());
        from_facts
            .chain(from_list)
            .filter(move |&remote| network.reaches(near, remote))
            .map(move |remote| Pair {
                near,
                far: network.far_end(remote),
                remote,
            })
    }

    /// Whether an address of the server is in a subnet of this NIC and is another machine's. (Bridges
    /// of virtual machines have the same address on every host.)
    fn reaches(&self, near: &Nic, remote: IpAddr) -> bool {
        let ours = self
            .client
            .is_some_and(|client| client.nic_with(remote).is_some());
        let advertised = self.advertised.is_empty() || self.advertisement(remote).is_some();
        !ours
            && advertised
            && !is_link_local(remote)
            && near.addresses.iter().any(|entry| entry.contains(remote))
    }
}

/// Whether a ceiling is only what the server told, so that nothing loses for being below it.
pub(super) fn is_only_advertised(ceiling: &Estimate) -> bool {
    ceiling
        .caveats
        .iter()
        .any(|caveat| caveat.id == ONLY_ADVERTISED)
}

fn augment<'a>(
    near: usize,
    edges: &[Vec<Pair<'a>>],
    far_ends: &[Pair<'a>],
    matched: &mut [Option<(usize, Pair<'a>)>],
    seen: &mut [bool],
) -> bool {
    for pair in &edges[near] {
        let Some(far) = far_ends.iter().position(|known| known.same_far(pair)) else {
            continue;
        };
        if std::mem::replace(&mut seen[far], true) {
            continue;
        }
        let free = match matched[far] {
            None => true,
            Some((other, _)) => augment(other, edges, far_ends, matched, seen),
        };
        if free {
            matched[far] = Some((near, *pair));
            return true;
        }
    }
    false
}

fn sum_of_groups(limits: &[(Pair<'_>, Limit)], same: impl Fn(&Pair<'_>, &Pair<'_>) -> bool) -> f64 {
    let mut sum = 0.0;
    for (index, (pair, _)) in limits.iter().enumerate() {
        if limits[..index]
            .iter()
            .any(|(earlier, _)| same(earlier, pair))
        {
            continue;
        }
        let group = limits.iter().filter(|(other, _)| same(other, pair));
        sum += group.map(|(_, limit)| limit.rate).fold(0.0, f64::max);
    }
    sum
}

fn wire(bits: u64, caveat: Option<&'static str>) -> Line {
    Line {
        bits,
        overhead: WIRE_BYTES,
        caveat,
    }
}

/// A shaper's line. One that is set to just the frames of a standard line stands for that line, so
/// that another MTU is predicted as the line would behave.
fn shaper(nic: &Nic) -> Option<Line> {
    let bits = nic.shaped?.get();
    let share = f64::from(nic.mtu.saturating_add(FRAME_BYTES))
        / f64::from(nic.mtu.saturating_add(WIRE_BYTES));
    let stands_for = LINE_RATES.into_iter().find(|&rate| {
        let frames = rate as f64 * share;
        (bits as f64 / frames - 1.0).abs() < LINE_RATE_TOLERANCE
    });
    let line = match stands_for {
        Some(rate) => wire(rate, None),
        None => Line {
            bits,
            overhead: FRAME_BYTES,
            caveat: None,
        },
    };
    (bits > 0).then_some(line)
}

/// The rate of the line, as far as anything can be trusted that says one.
pub(super) fn line_bits(nic: &Nic) -> Option<u64> {
    let shaped = shaper(nic).map(|line| line.bits);
    shaped.or_else(|| trusted_speed(nic))
}

/// Whether no line rate is known by nature: Wi-Fi carries what the air allows at that moment, and a
/// tunnel what the line of another NIC leaves to it.
pub(super) fn has_no_line(nic: &Nic) -> bool {
    matches!(nic.medium, Some(Medium::Wireless | Medium::Tunnel))
}

/// The speed of a bond's fastest port where there is one connection, and of a bridge's only real port.
fn speed_by_port(host: &HostFacts, nic: &Nic, used: Ports) -> Option<u64> {
    let is_sum = |nic: &Nic| {
        let kind = nic.kind.as_deref();
        used == Ports::OfOne && kind.is_some_and(|kind| SUMS.contains(&kind))
    };
    let is_port =
        |port: &&Nic| port.port_of.as_ref() == Some(&nic.name) && port.state != LinkState::Down;
    let ports = host.nics.iter().filter(is_port);
    let speed = if is_sum(nic) {
        ports.filter_map(trusted_speed).max()
    } else if nic.medium == Some(Medium::Bridge) {
        let mut real = ports.filter(|port| trusted_speed(port).is_some());
        let only = real.next().filter(|_| real.next().is_none());
        only.and_then(|port| match is_sum(port) {
            true => speed_by_port(host, port, used),
            false => trusted_speed(port),
        })
    } else {
        None
    };
    speed.or_else(|| trusted_speed(nic))
}

fn sane_speed(entry: &ServerInterface) -> Option<u64> {
    Some(entry.speed.get()).filter(|bits| (1..SPEED_BITS_MAX).contains(bits))
}

fn trusted_speed(nic: &Nic) -> Option<u64> {
    let invents = nic
        .driver
        .as_deref()
        .is_some_and(|driver| INVENTING_DRIVERS.contains(&driver));
    let real = nic
        .kind
        .as_deref()
        .is_none_or(|kind| TRUSTED_KINDS.contains(&kind));
    let bits = nic.speed?.get();
    // Who negotiated nothing has no line; where modes were not read the driver has to do.
    let negotiated = nic.modes.as_ref().is_none_or(|modes| !modes.own.is_empty());
    (real
        && (negotiated || is_sum(nic))
        && !invents
        && !has_no_line(nic)
        && (1..SPEED_BITS_MAX).contains(&bits))
    .then_some(bits)
}

/// Whether a NIC has no modes of its own but those of the links under it.
fn is_sum(nic: &Nic) -> bool {
    let kind = nic.kind.as_deref();
    kind.is_some_and(|kind| TRUSTED_KINDS.contains(&kind))
}

fn has_index(interface: &ServerInterface) -> bool {
    interface.index != 0 && interface.index != u32::MAX
}

pub(super) fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_loopback(),
        IpAddr::V6(address) => address.is_unicast_link_local() || address.is_loopback(),
    }
}

/// A line rate for people: `1 Gbit/s`, `984.4 Mbit/s`.
pub(super) fn bit_rate(bits: u64) -> String {
    let (value, unit) = if bits >= 1_000_000_000 {
        (bits as f64 / 1e9, "Gbit/s")
    } else {
        (bits as f64 / 1e6, "Mbit/s")
    };
    let rounded = (value * 10.0).round() / 10.0;
    format!("{rounded} {unit}")
}

#[cfg(test)]
mod tests {
    use record::{BitsPerSecond, HostName, InterfaceAddress, System, TcpFacts};

    use super::*;

    fn nic(name: &str, index: u32, address: &str, mtu: u32) -> Nic {
        Nic {
            name: name.into(),
            index,
            mac: None,
            mtu,
            mtu_max: None,
            speed: None,
            shaped: None,
            state: LinkState::Up,
            driver: Some("igc".into()),
            kind: None,
            medium: None,
            port_of: None,
            modes: None,
            addresses: vec![InterfaceAddress {
                address: address.parse().expect("an address"),
                prefix: 24,
            }],
            offloads: std::collections::BTreeMap::new(),
            rx_queues: None,
            tx_queues: None,
        }
    }

    fn host(name: &str, nics: Vec<Nic>) -> HostFacts {
        HostFacts {
            name: HostName::new(name),
            system: System::Linux,
            kernel: "6.18".into(),
            machine: None,
            boot: None,
            cores: 2,
            memory: None,
            nics,
            routes: Vec::new(),
            tcp: TcpFacts::default(),
        }
    }

    /// What both hosts say, and nobody else.
    fn between<'f>(client: &'f HostFacts, server: &'f HostFacts) -> Network<'f> {
        Network {
            client: Some(client),
            server: Some(server),
            advertised: &[],
            believed: false,
            shapers_are_lines: true,
            ports: Ports::OfOne,
        }
    }

    /// Two hosts with one NIC each, changed by `change`; megabytes per second read and written.
    fn ceilings(mtu: u32, change: impl Fn(&mut Nic, &mut Nic)) -> [Option<f64>; 2] {
        let mut near = nic("a0", 2, "10.77.1.1", mtu);
        let mut far = nic("b0", 3, "10.77.1.2", mtu);
        change(&mut near, &mut far);
        let (client, server) = (host("client", vec![near]), host("server", vec![far]));
        let network = between(&client, &server);
        let near = &client.nics[0];
        let remote = "10.77.1.2".parse().expect("an address");
        let pair = Pair {
            near,
            far: network.far_end(remote),
            remote,
        };
        [Direction::Read, Direction::Write].map(|direction| {
            let ceiling = network.ceiling(direction, &[vec![pair]], None)?;
            Some((ceiling.rate.value / 1e5).round() / 10.0)
        })
    }

    /// rate / 8 * (MTU - 52) / (MTU + 38), the table that is known for Ethernet.
    #[test]
    fn payload_of_physical_lines() {
        let known = [
            (1_000_000_000, 117.7, 123.8),
            (2_500_000_000, 294.2, 309.4),
            (5_000_000_000, 588.4, 618.8),
            (10_000_000_000, 1_176.9, 1_237.6),
            (25_000_000_000, 2_942.1, 3_093.9),
            (40_000_000_000, 4_707.4, 4_950.2),
            (100_000_000_000, 11_768.5, 12_375.5),
        ];
        for (bits, standard, jumbo) in known {
            let speed = |near: &mut Nic, far: &mut Nic| {
                near.speed = Some(BitsPerSecond::new(bits));
                far.speed = near.speed;
            };
            assert_eq!(ceilings(1500, speed), [Some(standard); 2]);
            assert_eq!(ceilings(9000, speed), [Some(jumbo); 2]);
        }
    }

    #[test]
    fn the_slower_end_decides_and_the_smaller_mtu() {
        let mixed = ceilings(1500, |near, far| {
            near.speed = Some(BitsPerSecond::new(10_000_000_000));
            near.mtu = 9000;
            far.speed = Some(BitsPerSecond::new(1_000_000_000));
        });
        assert_eq!(mixed, [Some(117.7); 2]);
    }

    /// 500 Mbit/s of frames: 62.5 MB/s * 1448 / 1514 = 59.775; it counts on the way out only.
    #[test]
    fn a_shaper_counts_frames_on_the_way_out() {
        let shaped = ceilings(1500, |near, far| {
            near.speed = Some(BitsPerSecond::new(1_000_000_000));
            far.shaped = Some(BitsPerSecond::new(500_000_000));
        });
        assert_eq!(shaped, [Some(59.8), Some(117.7)]);
    }

    /// The lab's shaper is 1 Gbit/s * 1514 / 1538; as `tc` prints it, in whole kilobits.
    #[test]
    fn a_shaper_set_to_the_frames_of_a_line_is_that_line() {
        let lab = |rate: u64| {
            move |near: &mut Nic, far: &mut Nic| {
                for nic in [near, far] {
                    nic.driver = Some("veth".into());
                    nic.kind = Some("veth".into());
                    nic.speed = Some(BitsPerSecond::new(10_000_000_000));
                    nic.shaped = Some(BitsPerSecond::new(rate));
                }
            }
        };
        assert_eq!(ceilings(1500, lab(984_395_000)), [Some(117.7); 2]);
        assert_eq!(ceilings(9000, lab(997_344_000)), [Some(123.8); 2]);
        let pair_bits = shaper(&{
            let mut nic = nic("a0", 2, "10.77.1.1", 1500);
            nic.shaped = Some(BitsPerSecond::new(984_395_000));
            nic
        });
        assert_eq!(pair_bits.map(|line| line.bits), Some(1_000_000_000));
    }

    #[test]
    fn what_virtual_nics_invent_is_no_ceiling() {
        let invented = |near: &mut Nic, far: &mut Nic| {
            near.driver = Some("virtio_net".into());
            near.speed = Some(BitsPerSecond::new(4_294_967_295_000_000));
            far.kind = Some("veth".into());
            far.speed = Some(BitsPerSecond::new(10_000_000_000));
        };
        assert_eq!(ceilings(1500, invented), [None; 2]);
    }

    #[test]
    fn one_end_shaped_is_taken_for_both_when_nothing_else_is_known() {
        let near_only = |near: &mut Nic, _: &mut Nic| {
            near.shaped = Some(BitsPerSecond::new(500_000_000));
        };
        assert_eq!(ceilings(1500, near_only), [Some(59.8); 2]);
    }

    /// a0 reaches b0 and b1, a1 only b0: a greedy choice would leave a1 alone.
    #[test]
    fn as_many_pairs_as_possible_are_found() {
        let wide = |mut nic: Nic, more: &str| {
            nic.addresses.push(InterfaceAddress {
                address: more.parse().expect("an address"),
                prefix: 24,
            });
            nic
        };
        let near = vec![
            wide(nic("a0", 2, "10.77.1.1", 1500), "10.77.2.1"),
            nic("a1", 3, "10.77.1.11", 1500),
            nic("docker0", 4, "172.17.0.1", 1500),
        ];
        let far = vec![
            nic("b0", 2, "10.77.1.2", 1500),
            nic("b1", 3, "10.77.2.2", 1500),
            nic("docker0", 4, "172.17.0.1", 1500),
        ];
        let (client, server) = (host("client", near), host("server", far));
        let network = between(&client, &server);
        let pairs = network.usable_pairs(&[]);
        let names: Vec<String> = pairs
            .iter()
            .map(|pair| locale::said(&pair.name()))
            .collect();
        assert_eq!(names, ["`a0` to `b1`", "`a1` to `b0`"]);
    }
}
