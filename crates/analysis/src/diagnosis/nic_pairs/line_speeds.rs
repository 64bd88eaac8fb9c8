//! What lines run at: the speeds of NICs, the shapers on them, and which of both can be trusted.

use std::net::IpAddr;

use locale::{Message, say};
use record::{Direction, HostFacts, LinkState, Medium, Nic, ServerInterface};

use super::{FarEnd, Network, Pair, Ports};

/// Faster than any NIC there is: what virtual NICs and broken servers say.
const SPEED_BITS_MAX: u64 = 1_600_000_000_000;
/// Bytes of an Ethernet header, which a shaper counts.
const FRAME_BYTES: u32 = 14;
/// The same with preamble, FCS and gap, which only the wire sees.
pub(super) const WIRE_BYTES: u32 = 38;
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
pub(super) const ONLY_ADVERTISED: &str = "ceiling-caveat.only-advertised";
/// Kinds of links that tell the sum of their ports' speeds, and send each connection by one port.
const SUMS: [&str; 2] = ["bond", "team"];
/// Kinds of links that pass on the speed of the real ones under them.
const TRUSTED_KINDS: [&str; 5] = ["bond", "team", "vlan", "macvlan", "ipvlan"];

#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) bits: u64,
    pub(super) overhead: u32,
    /// The id of what is to be said of it.
    pub(super) caveat: Option<&'static str>,
}

impl Line {
    pub(super) fn payload(self, mtu: u32, headers: u32) -> f64 {
        let share =
            f64::from(mtu.saturating_sub(headers)) / f64::from(mtu.saturating_add(self.overhead));
        self.bits as f64 / 8.0 * share
    }
}

impl Network<'_> {
    /// The line that limits a pair, as people know it: `1 Gbit/s at MTU 1500`.
    pub(in crate::diagnosis) fn line_name(
        &self,
        pair: &Pair<'_>,
        direction: Direction,
    ) -> Option<Message> {
        let (mtu, headers) = (pair.mtu(), self.headers(pair.remote));
        let lines = self.lines(pair, direction).into_iter();
        let line = lines.min_by(|one, two| {
            f64::total_cmp(&one.payload(mtu, headers), &two.payload(mtu, headers))
        })?;
        Some(say("line-at-mtu").bits("rate", line.bits).count("mtu", mtu))
    }

    /// What a line of a rate would carry between a pair, in payload bytes per second.
    pub(in crate::diagnosis) fn line_payload(&self, pair: &Pair<'_>, bits: u64) -> f64 {
        wire(bits, None).payload(pair.mtu(), self.headers(pair.remote))
    }

    /// Bytes of IP and TCP headers: 52 for IPv4 with timestamps.
    pub(super) fn headers(&self, remote: IpAddr) -> u32 {
        let without_timestamps = [self.client, self.server]
            .into_iter()
            .flatten()
            .any(|host| host.tcp.timestamps == Some(false));
        let ip = if remote.is_ipv6() { 40 } else { 20 };
        ip + 20 + if without_timestamps { 0 } else { 12 }
    }

    pub(super) fn lines(&self, pair: &Pair<'_>, direction: Direction) -> Vec<Line> {
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
    pub(in crate::diagnosis) fn end_bits(&self, pair: &Pair<'_>) -> [Option<u64>; 2] {
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
    pub(in crate::diagnosis) fn shaped(
        &self,
        host: &HostFacts,
        nic: &Nic,
    ) -> Option<(u64, Option<u64>)> {
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
    pub(in crate::diagnosis) fn advertised_bits(&self, pair: &Pair<'_>) -> Option<u64> {
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
pub(super) fn shaper(nic: &Nic) -> Option<Line> {
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
pub(in crate::diagnosis) fn line_bits(nic: &Nic) -> Option<u64> {
    let shaped = shaper(nic).map(|line| line.bits);
    shaped.or_else(|| trusted_speed(nic))
}

/// Whether no line rate is known by nature: Wi-Fi carries what the air allows at that moment, and a
/// tunnel what the line of another NIC leaves to it.
pub(in crate::diagnosis) fn has_no_line(nic: &Nic) -> bool {
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

/// A line rate for people: `1 Gbit/s`, `984.4 Mbit/s`.
pub(in crate::diagnosis) fn bit_rate(bits: u64) -> String {
    let (value, unit) = if bits >= 1_000_000_000 {
        (bits as f64 / 1e9, "Gbit/s")
    } else {
        (bits as f64 / 1e6, "Mbit/s")
    };
    let rounded = (value * 10.0).round() / 10.0;
    format!("{rounded} {unit}")
}
