//! Knobs of `ip`.

use locale::say;
use record::Value;

use super::safe_argument::is_count;
use super::{
    Allowed, Disturbance, Kind, Knob, KnobBackend, Limit, Refusal, State, TargetKind, answer,
    command, range,
};
use crate::exec::{Command, Output};
use crate::tool_output::ip;

/// Smallest MTU with which IPv6 works (RFC 8200, section 5); below it Linux deletes all addresses
/// and does not bring them back.
const IPV6_MTU_MIN: u32 = 1280;
/// Smallest MTU of IPv4 (RFC 791), for drivers that set no limit.
const IPV4_MTU_MIN: u32 = 68;
/// Longest IP packet, for drivers that set no limit.
const IP_PACKET_BYTES_MAX: u32 = 65_535;
/// Kinds of links that live on another one and can have no larger MTU than it.
const KINDS_ON_A_LINK: [&str; 5] = ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"];
/// What `ip` knows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Link {
    /// `ip link set mtu`.
    Mtu,
    /// `ip link set txqueuelen`.
    QueueLength,
}

pub(super) const fn link(link: Link) -> Knob {
    let disturbs = match link {
        Link::Mtu => Disturbance::LinkReset,
        Link::QueueLength => Disturbance::Nothing,
    };
    Knob {
        disturbs,
        ..Knob::linux(TargetKind::Nic, Kind::Link(link))
    }
}

impl KnobBackend for Link {
    fn read(&self, _: &str) -> Vec<Command> {
        vec![command(&["ip", "-j", "-d", "addr", "show"])]
    }

    fn parse(&self, name: &str, outputs: &[Output]) -> Result<State, Refusal> {
        let said = answer(outputs.first(), "iproute2")?;
        match self {
            Self::Mtu => parse_mtu(name, &said),
            Self::QueueLength => parse_queue_length(name, &said),
        }
    }

    fn print_value(&self, name: &str) -> Option<Command> {
        let file = match self {
            Self::Mtu => "mtu",
            Self::QueueLength => "tx_queue_len",
        };
        Some(command(&["cat", &format!("/sys/class/net/{name}/{file}")]))
    }

    fn could_be(&self, value: &Value) -> bool {
        is_count(value)
    }

    fn wrote(&self, name: &str, argv: &[&str]) -> bool {
        let own = match self {
            Self::Mtu => "mtu",
            Self::QueueLength => "txqueuelen",
        };
        matches!(argv, ["ip", "link", "set", "dev", nic, word, number]
            if *nic == name && *word == own && number.parse::<u32>().is_ok())
    }

    fn set(&self, name: &str, _: &State, to: &Value) -> Result<Command, Refusal> {
        let to = to.to_string();
        Ok(match self {
            Self::Mtu => command(&["ip", "link", "set", "dev", name, "mtu", &to]),
            Self::QueueLength => command(&["ip", "link", "set", "dev", name, "txqueuelen", &to]),
        })
    }
}

fn find_link(nic: &str, said: &str) -> Result<(ip::Link, Vec<ip::Link>), Refusal> {
    let links = ip::links(said.as_bytes()).ok_or_else(|| Refusal::unreadable("ip"))?;
    let link = links.iter().find(|link| link.name == nic).cloned();
    Ok((link.ok_or_else(|| Refusal::no_interface(nic))?, links))
}

fn parse_mtu(nic: &str, said: &str) -> Result<State, Refusal> {
    let (link, links) = find_link(nic, said)?;
    let allowed = Allowed::Range {
        min: mtu_min(&link, &links),
        max: mtu_max(&link, &links),
    };
    Ok(State::new(Value::Integer(link.mtu.into()), allowed))
}

fn mtu_min(link: &ip::Link, links: &[ip::Link]) -> Limit {
    let driver = link.mtu_min.unwrap_or(0).max(IPV4_MTU_MIN);
    let mut min = Limit::new(driver.into(), say("knob-limit.driver-least"));
    if link.addresses.iter().any(|entry| entry.address.is_ipv6()) && driver < IPV6_MTU_MIN {
        min = Limit::new(IPV6_MTU_MIN.into(), say("knob-limit.ipv6-addresses"));
    }
    let above = links.iter().filter(|other| lies_on(other, &link.name));
    if let Some(largest) = above.max_by_key(|other| other.mtu)
        && i64::from(largest.mtu) > min.value
    {
        let because = say("knob-limit.above").with("nic", &largest.name);
        min = Limit::new(largest.mtu.into(), because);
    }
    min
}

fn mtu_max(link: &ip::Link, links: &[ip::Link]) -> Limit {
    let max = match link.mtu_max {
        Some(mtu) => Limit::new(mtu.into(), say("knob-limit.driver-most")),
        None => Limit::everywhere(IP_PACKET_BYTES_MAX.into(), say("knob-limit.longest-packet")),
    };
    let below = links.iter().find(|other| lies_on(link, &other.name));
    match below {
        Some(below) if i64::from(below.mtu) < max.value => {
            let because = say("knob-limit.below").with("nic", &below.name);
            Limit::new(below.mtu.into(), because)
        }
        _ => max,
    }
}

fn lies_on(link: &ip::Link, lower: &str) -> bool {
    let on_a_link = link
        .kind
        .as_deref()
        .is_some_and(|kind| KINDS_ON_A_LINK.contains(&kind));
    on_a_link && link.lower.as_deref() == Some(lower)
}

fn parse_queue_length(nic: &str, said: &str) -> Result<State, Refusal> {
    let (link, _) = find_link(nic, said)?;
    let length = link
        .queue_length
        .ok_or_else(|| Refusal::new(say("error-linux.no-queue")))?;
    let allowed = range((1, "knob-limit.burst"), (1_000_000, "knob-limit.delay"));
    Ok(State::new(Value::Integer(length.into()), allowed))
}
