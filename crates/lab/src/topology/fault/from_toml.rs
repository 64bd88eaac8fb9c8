//! Faults as typed, and how they become what is meant.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use locale::{Message, say};
use serde::Deserialize;
use toml::Spanned;

use super::{Effect, Fault, OffloadName, Traffic, Tunnel};
use crate::Error;
use crate::error::quoted;
use crate::topology::checked_values::{Source, known, out_of_range};
use crate::topology::from_toml::{is_nic_name, meant_rate};
use crate::topology::{Address, End, FAULTS_MAX, Link, MTU_RANGE};

/// What one fault of `loss` can drop, in thousandths of a percent.
const LOSS_RANGE: RangeInclusive<u32> = 1..=100_000;
/// TCP ports that a server can listen on.
const PORTS: RangeInclusive<u32> = 1..=65_535;
/// Identifiers of a VXLAN (RFC 7348, section 5: 24 bits).
const VXLAN_RANGE: RangeInclusive<u32> = 1..=0x00ff_ffff;
/// Most routers to one destination.
const ROUTERS_MAX: usize = 8;
/// How long traffic goes on and rests, in milliseconds.
const TURN_MS_RANGE: RangeInclusive<u32> = 10..=60_000;
/// How often a second a server is stopped.
const STOPS_RANGE: RangeInclusive<u32> = 1..=200;
/// For how much of the time it is stopped, in percent.
const STOPPED_RANGE: RangeInclusive<u32> = 1..=95;
/// How many programs take processor time.
const BUSY_RANGE: RangeInclusive<u32> = 1..=16;
/// Largest value of a kernel parameter: what fits the kernel's `int`.
const SYSCTL_MAX: i64 = 0x7fff_ffff;
/// The hint for a file that names no fault or several.
const HINT: Message = say("hint-lab.fault");

/// What a kernel parameter takes.
enum Takes {
    /// So many numbers, each in this range.
    Numbers(usize, RangeInclusive<i64>),
    /// One of these words.
    Word(&'static [&'static str]),
}

/// The kernel parameters that a fault may set. All of them belong to one network namespace.
const SYSCTLS: [(&str, Takes); 17] = [
    (
        "net.ipv4.tcp_congestion_control",
        Takes::Word(&["bbr", "cubic", "reno"]),
    ),
    ("net.ipv4.tcp_ecn", Takes::Numbers(1, 0..=2)),
    ("net.ipv4.tcp_mtu_probing", Takes::Numbers(1, 0..=2)),
    ("net.ipv4.tcp_rmem", Takes::Numbers(3, 1..=SYSCTL_MAX)),
    ("net.ipv4.tcp_wmem", Takes::Numbers(3, 1..=SYSCTL_MAX)),
    ("net.ipv4.tcp_moderate_rcvbuf", Takes::Numbers(1, 0..=1)),
    ("net.ipv4.tcp_sack", Takes::Numbers(1, 0..=1)),
    (
        "net.ipv4.tcp_slow_start_after_idle",
        Takes::Numbers(1, 0..=1),
    ),
    ("net.ipv4.tcp_timestamps", Takes::Numbers(1, 0..=2)),
    ("net.ipv4.tcp_window_scaling", Takes::Numbers(1, 0..=1)),
    (
        "net.ipv4.fib_multipath_hash_policy",
        Takes::Numbers(1, 0..=1),
    ),
    ("net.ipv4.ip_forward", Takes::Numbers(1, 0..=1)),
    ("net.ipv4.ip_no_pmtu_disc", Takes::Numbers(1, 0..=3)),
    ("net.ipv4.conf.all.arp_filter", Takes::Numbers(1, 0..=1)),
    ("net.ipv4.conf.all.arp_ignore", Takes::Numbers(1, 0..=3)),
    ("net.ipv4.conf.all.rp_filter", Takes::Numbers(1, 0..=2)),
    ("net.ipv6.conf.all.forwarding", Takes::Numbers(1, 0..=1)),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::topology) struct WrittenFault {
    on: Spanned<String>,
    loss: Option<WrittenLoss>,
    block: Option<WrittenBlock>,
    rate: Option<WrittenRate>,
    mtu: Option<WrittenMtu>,
    offloads: Option<WrittenOffloads>,
    sysctl: Option<WrittenSysctl>,
    address: Option<WrittenAddress>,
    route: Option<WrittenRoute>,
    tunnel: Option<WrittenTunnel>,
    via: Option<WrittenVia>,
    down: Option<WrittenDown>,
    traffic: Option<WrittenTraffic>,
    stops: Option<WrittenStops>,
    busy: Option<WrittenBusy>,
    /// Command lines, which lab files once held.
    run: Option<Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLoss {
    nic: Spanned<String>,
    percent: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBlock {
    nic: Spanned<String>,
    tcp_port: Spanned<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRate {
    nic: Spanned<String>,
    rate: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMtu {
    nic: Spanned<String>,
    bytes: Spanned<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenOffloads {
    nic: Spanned<String>,
    off: Spanned<Vec<OffloadName>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSysctl {
    key: Spanned<String>,
    value: Spanned<toml::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAddress {
    nic: Spanned<String>,
    add: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRoute {
    to: Spanned<String>,
    nic: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTunnel {
    nic: Spanned<String>,
    id: Spanned<i64>,
    from: Spanned<String>,
    to: Spanned<String>,
    address: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDown {
    nic: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenVia {
    to: Spanned<String>,
    routers: Spanned<Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTraffic {
    to: Spanned<String>,
    rate: Option<Spanned<String>>,
    on_ms: Option<Spanned<i64>>,
    off_ms: Option<Spanned<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStops {
    per_second: Spanned<i64>,
    percent: Spanned<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBusy {
    processes: Spanned<i64>,
}

/// The faults as they are meant, in their order.
pub(in crate::topology) fn faults(
    source: &Source<'_>,
    written: &[WrittenFault],
    nodes: &[String],
    links: &[Link],
    server: Option<&str>,
) -> Result<Vec<Fault>, Error> {
    source.count(say("error-lab.too-many-faults"), written.len(), FAULTS_MAX)?;
    let mut faults: Vec<Fault> = Vec::new();
    for fault in written {
        known(source, "fault.on", &fault.on, nodes)?;
        let node = fault.on.get_ref();
        let ends = links.iter().flat_map(|link| &link.ends);
        let plugged = ends.filter(|end: &&End| end.node == *node);
        let tunnels = faults.iter().filter(|before| before.node == *node);
        let tunnels = tunnels.filter_map(|before| match &before.effect {
            Effect::Tunnel(tunnel) => Some(tunnel.nic.clone()),
            _ => None,
        });
        let nics: Vec<String> = plugged.map(|end| end.nic.clone()).chain(tunnels).collect();
        let reader = Reader {
            source,
            node,
            nics: &nics,
            links,
            is_server: server == Some(node.as_str()),
        };
        let effect = reader.effect(fault)?;
        let node = node.clone();
        faults.push(Fault { node, effect });
    }
    Ok(faults)
}

/// Reads the faults of one node.
struct Reader<'a> {
    source: &'a Source<'a>,
    node: &'a str,
    /// The interfaces of the node.
    nics: &'a [String],
    links: &'a [Link],
    /// Whether the Samba server runs on it.
    is_server: bool,
}

impl Reader<'_> {
    fn effect(&self, fault: &WrittenFault) -> Result<Effect, Error> {
        if let Some(run) = &fault.run {
            let problem = say("error-lab.fault-runs");
            return Err(self.source.refuse(run.span(), problem, HINT));
        }
        let effects = [
            fault.loss.as_ref().map(|written| self.loss(written)),
            fault.block.as_ref().map(|written| self.block(written)),
            fault.rate.as_ref().map(|written| self.rate(written)),
            fault.mtu.as_ref().map(|written| self.mtu(written)),
            fault
                .offloads
                .as_ref()
                .map(|written| self.offloads(written)),
            fault.sysctl.as_ref().map(|written| self.sysctl(written)),
            fault.address.as_ref().map(|written| self.address(written)),
            fault.route.as_ref().map(|written| self.route(written)),
            fault.tunnel.as_ref().map(|written| self.tunnel(written)),
            fault.via.as_ref().map(|written| self.via(written)),
            fault.down.as_ref().map(|written| self.down(written)),
            fault.traffic.as_ref().map(|written| self.traffic(written)),
            fault
                .stops
                .as_ref()
                .map(|written| self.stops(fault, written)),
            fault.busy.as_ref().map(|written| self.busy(written)),
        ];
        let mut named = effects.into_iter().flatten();
        match (named.next(), named.next()) {
            (Some(effect), None) => effect,
            (first, _) => {
                let problem = match first {
                    Some(_) => say("error-lab.several-faults"),
                    None => say("error-lab.no-fault"),
                };
                Err(self.source.refuse(fault.on.span(), problem, HINT))
            }
        }
    }

    fn loss(&self, written: &WrittenLoss) -> Result<Effect, Error> {
        let nic = self.nic("loss", &written.nic)?;
        let percent = *written.percent.get_ref();
        let millipercent = (percent * 1000.0).round();
        let (least, most) = (*LOSS_RANGE.start(), *LOSS_RANGE.end());
        if !(f64::from(least)..=f64::from(most)).contains(&millipercent) {
            let problem = out_of_range("fault.loss.percent", percent.to_string());
            let span = written.percent.span();
            let hint = say("hint-lab.range")
                .with("least", "0.001")
                .with("most", "100");
            return Err(self.source.refuse(span, problem, hint));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "in range, as was just seen"
        )]
        let millipercent = millipercent as u32;
        Ok(Effect::Loss { nic, millipercent })
    }

    fn block(&self, written: &WrittenBlock) -> Result<Effect, Error> {
        let nic = self.nic("block", &written.nic)?;
        let tcp_port = self.within("block.tcp_port", &written.tcp_port, &PORTS)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "in range, as was just seen"
        )]
        let tcp_port = tcp_port as u16;
        Ok(Effect::Block { nic, tcp_port })
    }

    fn rate(&self, written: &WrittenRate) -> Result<Effect, Error> {
        let nic = self.nic("rate", &written.nic)?;
        let rate = meant_rate(self.source, &written.rate)?;
        Ok(Effect::Rate { nic, rate })
    }

    fn mtu(&self, written: &WrittenMtu) -> Result<Effect, Error> {
        let nic = self.nic("mtu", &written.nic)?;
        let bytes = self.within("mtu.bytes", &written.bytes, &MTU_RANGE)?;
        Ok(Effect::Mtu { nic, bytes })
    }

    fn offloads(&self, written: &WrittenOffloads) -> Result<Effect, Error> {
        let nic = self.nic("offloads", &written.nic)?;
        let off = written.off.get_ref().clone();
        if off.is_empty() {
            let problem = say("error-lab.no-offload");
            let hint = say("hint-lab.offloads");
            return Err(self.source.refuse(written.off.span(), problem, hint));
        }
        Ok(Effect::Offloads { nic, off })
    }

    fn sysctl(&self, written: &WrittenSysctl) -> Result<Effect, Error> {
        let wanted = written.key.get_ref();
        let Some((key, takes)) = SYSCTLS.iter().find(|(key, _)| key == wanted) else {
            let names = quoted(&SYSCTLS.map(|(key, _)| key));
            let problem = say("error-lab.unknown-sysctl").with("given", format!("{wanted:?}"));
            let hint = say("hint-lab.use-one").with("names", names);
            return Err(self.source.refuse(written.key.span(), problem, hint));
        };
        match sysctl_value(takes, written.value.get_ref()) {
            Ok(value) => Ok(Effect::Sysctl { key, value }),
            Err(hint) => {
                let problem = say("error-lab.not-of-sysctl").with("key", *key);
                Err(self.source.refuse(written.value.span(), problem, hint))
            }
        }
    }

    fn address(&self, written: &WrittenAddress) -> Result<Effect, Error> {
        let nic = self.nic("address", &written.nic)?;
        let address = self.prefix("address.add", &written.add)?;
        Ok(Effect::Address { nic, address })
    }

    fn route(&self, written: &WrittenRoute) -> Result<Effect, Error> {
        let nic = self.nic("route", &written.nic)?;
        let to = self.prefix("route.to", &written.to)?;
        Ok(Effect::Route { nic, to })
    }

    fn tunnel(&self, written: &WrittenTunnel) -> Result<Effect, Error> {
        let nic = written.nic.get_ref();
        if !is_nic_name(nic) || self.nics.contains(nic) {
            let problem = say("error-lab.not-a-tunnel").with("given", format!("{nic:?}"));
            let hint = say("hint-lab.tunnel");
            return Err(self.source.refuse(written.nic.span(), problem, hint));
        }
        Ok(Effect::Tunnel(Tunnel {
            nic: nic.clone(),
            id: self.within("tunnel.id", &written.id, &VXLAN_RANGE)?,
            from: self.ip("tunnel.from", &written.from)?,
            to: self.ip("tunnel.to", &written.to)?,
            address: self.prefix("tunnel.address", &written.address)?,
        }))
    }

    fn down(&self, written: &WrittenDown) -> Result<Effect, Error> {
        let nic = self.nic("down", &written.nic)?;
        Ok(Effect::Down { nic })
    }

    fn via(&self, written: &WrittenVia) -> Result<Effect, Error> {
        let routers = written.routers.get_ref();
        if !(1..=ROUTERS_MAX).contains(&routers.len()) {
            let problem = say("error-lab.routers").count("count", routers.len());
            let hint = say("hint-lab.routers").count("most", ROUTERS_MAX);
            return Err(self.source.refuse(written.routers.span(), problem, hint));
        }
        let routers = routers.iter();
        let routers = routers.map(|router| self.ip("via.routers", router));
        Ok(Effect::Via {
            to: self.prefix("via.to", &written.to)?,
            routers: routers.collect::<Result<_, _>>()?,
        })
    }

    fn traffic(&self, written: &WrittenTraffic) -> Result<Effect, Error> {
        let to = self.ip("traffic.to", &written.to)?;
        let ends = self.links.iter().flat_map(|link| &link.ends);
        let mut others = ends.filter(|end| end.node != self.node);
        if !others.any(|end| end.address.is_some_and(|address| address.ip == to)) {
            let problem = say("error-lab.traffic-to").with("address", to);
            let hint = say("hint-lab.traffic-to");
            return Err(self.source.refuse(written.to.span(), problem, hint));
        }
        let rate = written.rate.as_ref();
        let rate = rate.map(|rate| meant_rate(self.source, rate)).transpose()?;
        let milliseconds = |field, number| {
            let number = self.within(field, number, &TURN_MS_RANGE)?;
            Ok(Duration::from_millis(number.into()))
        };
        let turns = match (&written.on_ms, &written.off_ms) {
            (None, None) => None,
            (Some(on), Some(off)) => Some((
                milliseconds("traffic.on_ms", on)?,
                milliseconds("traffic.off_ms", off)?,
            )),
            (Some(one), None) | (None, Some(one)) => {
                let problem = say("error-lab.half-turn");
                let hint = say("hint-lab.turns");
                return Err(self.source.refuse(one.span(), problem, hint));
            }
        };
        Ok(Effect::Traffic(Traffic { to, rate, turns }))
    }

    fn stops(&self, fault: &WrittenFault, written: &WrittenStops) -> Result<Effect, Error> {
        if !self.is_server {
            let problem = say("error-lab.stops-elsewhere");
            let hint = say("hint-lab.stops");
            return Err(self.source.refuse(fault.on.span(), problem, hint));
        }
        Ok(Effect::Stops {
            per_second: self.within("stops.per_second", &written.per_second, &STOPS_RANGE)?,
            percent: self.within("stops.percent", &written.percent, &STOPPED_RANGE)?,
        })
    }

    fn busy(&self, written: &WrittenBusy) -> Result<Effect, Error> {
        let processes = self.within("busy.processes", &written.processes, &BUSY_RANGE)?;
        Ok(Effect::Busy { processes })
    }

    fn nic(&self, field: &str, nic: &Spanned<String>) -> Result<String, Error> {
        known(self.source, &format!("fault.{field}.nic"), nic, self.nics)?;
        Ok(nic.get_ref().clone())
    }

    fn within(
        &self,
        field: &str,
        number: &Spanned<i64>,
        range: &RangeInclusive<u32>,
    ) -> Result<u32, Error> {
        self.source.within(&format!("fault.{field}"), number, range)
    }

    fn ip(&self, field: &str, text: &Spanned<String>) -> Result<IpAddr, Error> {
        text.get_ref().parse().map_err(|_not_an_address| {
            let problem = say("error-lab.not-an-address")
                .with("field", field)
                .with("given", format!("{:?}", text.get_ref()));
            self.source
                .refuse(text.span(), problem, say("hint-lab.address"))
        })
    }

    fn prefix(&self, field: &str, text: &Spanned<String>) -> Result<Address, Error> {
        let parsed = text.get_ref().split_once('/').and_then(|(ip, prefix)| {
            let ip: IpAddr = ip.parse().ok()?;
            let prefix: u8 = prefix.parse().ok()?;
            let longest = if ip.is_ipv4() { 32 } else { 128 };
            (prefix <= longest).then_some(Address { ip, prefix })
        });
        parsed.ok_or_else(|| {
            let problem = say("error-lab.not-a-prefix")
                .with("field", field)
                .with("given", format!("{:?}", text.get_ref()));
            self.source
                .refuse(text.span(), problem, say("hint-lab.prefix"))
        })
    }
}

/// A value as the kernel takes it, or what to write instead.
fn sysctl_value(takes: &Takes, value: &toml::Value) -> Result<String, Message> {
    match (takes, value) {
        (Takes::Word(words), toml::Value::String(word)) => {
            let found = words.iter().find(|known| *known == word);
            found
                .map(|word| (*word).to_owned())
                .ok_or_else(|| takes.hint())
        }
        (Takes::Numbers(1, range), toml::Value::Integer(number)) if range.contains(number) => {
            Ok(number.to_string())
        }
        (Takes::Numbers(count, range), toml::Value::Array(values)) if values.len() == *count => {
            let numbers = values.iter().map(|value| match value {
                toml::Value::Integer(number) if range.contains(number) => Ok(number.to_string()),
                _ => Err(takes.hint()),
            });
            Ok(numbers.collect::<Result<Vec<_>, _>>()?.join(" "))
        }
        _ => Err(takes.hint()),
    }
}

impl Takes {
    fn hint(&self) -> Message {
        let (message, range) = match self {
            Self::Word(words) => {
                let words = words.iter().map(|word| format!("`\"{word}\"`"));
                return say("hint-lab.use-one").with("names", words.collect::<Vec<_>>());
            }
            Self::Numbers(1, range) => (say("hint-lab.range"), range),
            Self::Numbers(count, range) => (say("hint-lab.list").count("count", *count), range),
        };
        message
            .with("least", range.start().to_string())
            .with("most", range.end().to_string())
    }
}
