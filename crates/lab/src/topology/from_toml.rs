//! The file as typed, and how it becomes what is meant.

use std::collections::BTreeMap;

use locale::{Message, say};
use record::BitsPerSecond;
use record::toml_mistake::{reason, start_of};
use serde::Deserialize;
use toml::Spanned;

use super::checked_values::{Source, known, meant_delay, out_of_range, scaled};
use super::expected_diagnosis::{WrittenLesson, meant_lesson};
use super::fault::{WrittenFault, faults};
use super::samba::{WrittenSamba, meant_samba};
use super::{
    Address, End, HOSTS_MAX, LINKS_MAX, Link, MTU_DEFAULT, NIC_NAME_CHARS_MAX, PROCESSORS_RANGE,
    RATE_BITS_RANGE, SWITCHES_MAX, Switch, Topology,
};
use crate::Error;
use crate::error::quoted;

/// Names of interfaces that a host has of its own.
const NIC_NAMES_TAKEN: [&str; 4] = ["lo", "all", "default", BRIDGE];
/// The interface of a switch that joins its ports.
pub(crate) const BRIDGE: &str = "bridge";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTopology {
    #[serde(default)]
    host: Vec<WrittenHost>,
    #[serde(default)]
    switch: Vec<WrittenSwitch>,
    #[serde(default)]
    link: Vec<WrittenLink>,
    samba: Option<WrittenSamba>,
    #[serde(default)]
    fault: Vec<WrittenFault>,
    lesson: Option<WrittenLesson>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenHost {
    name: Spanned<String>,
    processors: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSwitch {
    name: Spanned<String>,
    mtu: Option<Spanned<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLink {
    from: Spanned<WrittenEnd>,
    to: Spanned<WrittenEnd>,
    rate: Option<Spanned<String>>,
    rate_back: Option<Spanned<String>>,
    could: Option<Spanned<String>>,
    delay_ms: Option<Spanned<f64>>,
    mtu: Option<Spanned<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEnd {
    host: Option<Spanned<String>>,
    nic: Option<Spanned<String>>,
    address: Option<Spanned<String>>,
    switch: Option<Spanned<String>>,
}

pub(super) fn parse(text: &str, origin: &str) -> Result<Topology, Error> {
    let source = Source::new(text, origin);
    let written: WrittenTopology = toml::from_str(text).map_err(|error| {
        // `run` is a key for its own refusal alone, and the last one of its list.
        let reason = reason(&error);
        let start = start_of(text, &error);
        source.refuse(
            start..start,
            reason.trim_end_matches(", `run`").into(),
            say("hint-lab.fields"),
        )
    })?;
    let count = |too_many, count, limit| source.count(say(too_many), count, limit);
    count("error-lab.too-many-hosts", written.host.len(), HOSTS_MAX)?;
    count(
        "error-lab.too-many-switches",
        written.switch.len(),
        SWITCHES_MAX,
    )?;
    count("error-lab.too-many-links", written.link.len(), LINKS_MAX)?;
    if written.host.is_empty() {
        return Err(source.refuse(0..0, say("error-lab.hostless"), say("hint-lab.add-host")));
    }
    let (hosts, switches) = nodes(&source, &written)?;
    let links = links(&source, &written.link, &hosts, &switches)?;
    let samba = match &written.samba {
        None => None,
        Some(samba) => Some(meant_samba(&source, samba, &hosts, &links)?),
    };
    let processors = processors(&source, &written.host)?;
    let switch_names = switches.iter().map(|switch| switch.name.clone());
    let nodes: Vec<String> = hosts.iter().cloned().chain(switch_names).collect();
    let server = samba.as_ref().map(|samba| samba.host.as_str());
    let faults = faults(&source, &written.fault, &nodes, &links, server)?;
    let lesson = written.lesson.as_ref();
    let lesson = lesson
        .map(|lesson| meant_lesson(&source, lesson))
        .transpose()?;
    Ok(Topology {
        text: text.to_owned(),
        hosts,
        switches,
        links,
        samba,
        processors,
        faults,
        lesson,
    })
}

/// Limits of processor time, in thousandths of one processor.
fn processors(source: &Source<'_>, hosts: &[WrittenHost]) -> Result<BTreeMap<String, u32>, Error> {
    let limited = hosts
        .iter()
        .filter_map(|host| Some((host.name.get_ref(), host.processors.as_ref()?)));
    limited
        .map(|(host, processors)| {
            let thousandths = (processors.get_ref() * 1000.0).round();
            let (least, most) = (PROCESSORS_RANGE.start(), PROCESSORS_RANGE.end());
            if !(f64::from(*least)..=f64::from(*most)).contains(&thousandths) {
                return Err(source.refuse(
                    processors.span(),
                    out_of_range("host.processors", processors.get_ref().to_string()),
                    say("hint-lab.processors")
                        .with("least", (f64::from(*least) / 1000.0).to_string())
                        .count("most", most / 1000),
                ));
            }
            // In range, as was just seen.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked"
            )]
            Ok((host.clone(), thousandths as u32))
        })
        .collect()
}

fn nodes(
    source: &Source<'_>,
    written: &WrittenTopology,
) -> Result<(Vec<String>, Vec<Switch>), Error> {
    let mut taken: Vec<&str> = Vec::new();
    let host_names = written.host.iter().map(|host| ("host.name", &host.name));
    let switch_names = written.switch.iter();
    let switch_names = switch_names.map(|switch| ("switch.name", &switch.name));
    for (field, name) in host_names.chain(switch_names) {
        source.name(field, name)?;
        if taken.contains(&name.get_ref().as_str()) {
            let problem = say("error-lab.repeated")
                .with("field", field)
                .with("given", format!("{:?}", name.get_ref()));
            return Err(source.refuse(name.span(), problem, say("hint-lab.own-names")));
        }
        taken.push(name.get_ref());
    }
    let hosts = written.host.iter();
    let hosts = hosts.map(|host| host.name.get_ref().clone()).collect();
    let mut switches = Vec::new();
    for switch in &written.switch {
        switches.push(Switch {
            name: switch.name.get_ref().clone(),
            mtu: source.mtu("switch.mtu", switch.mtu.as_ref())?,
        });
    }
    Ok((hosts, switches))
}

fn links(
    source: &Source<'_>,
    written: &[WrittenLink],
    hosts: &[String],
    switches: &[Switch],
) -> Result<Vec<Link>, Error> {
    let mut links: Vec<Link> = Vec::new();
    for link in written {
        let mtu = source.mtu("link.mtu", link.mtu.as_ref())?;
        let [rate, rate_back, could] = meant_rates(source, link)?;
        let delay = link.delay_ms.as_ref();
        let delay = delay
            .map(|delay| meant_delay(source, "link.delay_ms", delay))
            .transpose()?;
        let mut before: Vec<&End> = links.iter().flat_map(|link| &link.ends).collect();
        let meant = |field, end: &Spanned<WrittenEnd>, before: &[&End]| {
            let meant = match &end.get_ref().switch {
                None => host_end(source, field, end, mtu, hosts)?,
                Some(switch) => port(source, field, end, switch, switches, before)?,
            };
            match clash(&meant, before) {
                None => Ok(meant),
                Some(problem) => Err(source.refuse(end.span(), problem, say("hint-lab.own"))),
            }
        };
        let from = meant("link.from", &link.from, &before)?;
        before.push(&from);
        let to = meant("link.to", &link.to, &before)?;
        let ends = [from, to];
        check_pair(source, link, &ends)?;
        check_loop(source, link, &ends, &links)?;
        links.push(Link {
            ends,
            rate,
            rate_back,
            could,
            delay,
        });
    }
    Ok(links)
}

/// The rate of a link, the one from its second end to its first, and what its ends could do.
fn meant_rates(
    source: &Source<'_>,
    link: &WrittenLink,
) -> Result<[Option<BitsPerSecond>; 3], Error> {
    let meant = |rate: &Option<Spanned<String>>| {
        let rate = rate.as_ref();
        rate.map(|rate| meant_rate(source, rate)).transpose()
    };
    let rates = [
        meant(&link.rate)?,
        meant(&link.rate_back)?,
        meant(&link.could)?,
    ];
    let [rate, _, could] = rates;
    for (field, given) in [("rate_back", &link.rate_back), ("could", &link.could)] {
        if let (None, Some(given)) = (rate, given) {
            let problem = say("error-lab.needs-rate").with("field", field);
            return Err(source.refuse(given.span(), problem, say("hint-lab.both-or-neither")));
        }
    }
    match (&link.could, could.map(negotiable)) {
        (Some(given), Some(false)) => {
            let problem =
                say("error-lab.no-rate-of-nic").with("given", format!("{:?}", given.get_ref()));
            Err(source.refuse(given.span(), problem, say("hint-lab.rate-of-nic")))
        }
        (Some(given), _) if rate.is_some_and(|rate| !negotiable(rate)) => {
            let problem = say("error-lab.rate-not-of-nic");
            Err(source.refuse(given.span(), problem, say("hint-lab.such-a-rate")))
        }
        _ => Ok(rates),
    }
}

/// Whether two NICs agree on such a rate over copper.
fn negotiable(rate: BitsPerSecond) -> bool {
    let rates = super::NEGOTIABLE.map(|(megabits, _)| megabits * 1_000_000);
    rates.contains(&rate.get())
}

/// Switches that are joined in a ring would send frames round it for ever.
fn check_loop(
    source: &Source<'_>,
    written: &WrittenLink,
    ends: &[End; 2],
    before: &[Link],
) -> Result<(), Error> {
    let [from, to] = ends;
    if from.address.is_some() || to.address.is_some() {
        return Ok(());
    }
    let joins = before.iter().map(|link| &link.ends);
    let joins = joins.filter(|ends| ends.iter().all(|end| end.address.is_none()));
    let joins: Vec<_> = joins.collect();
    let mut reached = vec![&from.node];
    let mut next = 0;
    while let Some(&node) = reached.get(next) {
        next += 1;
        for [one, other] in joins.iter().copied() {
            for (here, there) in [(one, other), (other, one)] {
                if here.node == *node && !reached.contains(&&there.node) {
                    reached.push(&there.node);
                }
            }
        }
    }
    if reached.contains(&&to.node) {
        let problem = say("error-lab.ring");
        return Err(source.refuse(written.to.span(), problem, say("hint-lab.ring")));
    }
    Ok(())
}

/// What of an end is already in use.
fn clash(end: &End, before: &[&End]) -> Option<Message> {
    let same_nic = |other: &&End| other.node == end.node && other.nic == end.nic;
    if before.iter().any(same_nic) {
        let problem = say("error-lab.same-nic");
        return Some(problem.with("host", &end.node).with("nic", &end.nic));
    }
    let address = end.address?;
    let same_address = |other: &&End| other.address.is_some_and(|other| other.ip == address.ip);
    let other = before.iter().copied().find(|other| same_address(other))?;
    Some(
        say("error-lab.same-address")
            .with("address", address.ip)
            .with("nic", &other.nic)
            .with("host", &other.node),
    )
}

fn check_pair(source: &Source<'_>, link: &WrittenLink, ends: &[End; 2]) -> Result<(), Error> {
    let [from, to] = ends;
    let span = link.to.span();
    if from.node == to.node {
        let problem = say("error-lab.with-itself").with("host", &from.node);
        return Err(source.refuse(span, problem, say("hint-lab.two-ends")));
    }
    match (from.address, to.address) {
        (Some(one), Some(other)) if !one.shares_subnet_with(other) => {
            let problem = say("error-lab.other-subnet")
                .with("one", one.to_string())
                .with("other", other.to_string());
            Err(source.refuse(span, problem, say("hint-lab.one-network")))
        }
        _ => Ok(()),
    }
}

fn host_end(
    source: &Source<'_>,
    field: &str,
    end: &Spanned<WrittenEnd>,
    mtu: u32,
    hosts: &[String],
) -> Result<End, Error> {
    let WrittenEnd {
        host, nic, address, ..
    } = end.get_ref();
    let (Some(host), Some(nic), Some(address)) = (host, nic, address) else {
        return Err(source.refuse(
            end.span(),
            say("error-lab.not-complete").with("field", field),
            say("hint-lab.end"),
        ));
    };
    known(source, &format!("{field}.host"), host, hosts)?;
    let name = nic.get_ref();
    if !is_nic_name(name) {
        return Err(source.refuse(
            nic.span(),
            say("error-lab.not-a-nic")
                .with("field", field)
                .with("given", format!("{name:?}")),
            say("hint-lab.nic-name")
                .count("most", NIC_NAME_CHARS_MAX)
                .with("taken", quoted(&NIC_NAMES_TAKEN)),
        ));
    }
    Ok(End {
        node: host.get_ref().clone(),
        nic: name.clone(),
        mtu,
        address: Some(meant_address(source, field, address)?),
    })
}

/// Whether an interface can have this name: no option, no path, no word of `ip` or of `nft` needs more.
pub(super) fn is_nic_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    (1..=NIC_NAME_CHARS_MAX).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(allowed)
        && !NIC_NAMES_TAKEN.contains(&name)
}

fn port(
    source: &Source<'_>,
    field: &str,
    end: &Spanned<WrittenEnd>,
    name: &Spanned<String>,
    switches: &[Switch],
    before: &[&End],
) -> Result<End, Error> {
    let WrittenEnd {
        host, nic, address, ..
    } = end.get_ref();
    if host.is_some() || nic.is_some() || address.is_some() {
        let problem = say("error-lab.host-and-switch").with("field", field);
        return Err(source.refuse(end.span(), problem, say("hint-lab.switch-alone")));
    }
    let names: Vec<String> = switches.iter().map(|switch| switch.name.clone()).collect();
    known(source, &format!("{field}.switch"), name, &names)?;
    let switch = switches
        .iter()
        .find(|switch| switch.name == *name.get_ref());
    let ports = before.iter().filter(|end| end.node == *name.get_ref());
    Ok(End {
        node: name.get_ref().clone(),
        nic: format!("port{}", 1 + ports.count()),
        mtu: switch.map_or(MTU_DEFAULT, |switch| switch.mtu),
        address: None,
    })
}

fn meant_address(
    source: &Source<'_>,
    field: &str,
    written: &Spanned<String>,
) -> Result<Address, Error> {
    const FORM: &str = "hint-lab.address-and-prefix";
    let parse = || {
        let (ip, prefix) = written.get_ref().split_once('/').ok_or(FORM)?;
        let ip: std::net::IpAddr = ip.parse().ok().ok_or(FORM)?;
        let prefix: u8 = prefix.parse().ok().ok_or(FORM)?;
        let longest = if ip.is_ipv4() { 30 } else { 126 };
        if ip.is_loopback() {
            return Err("hint-lab.no-loopback");
        }
        if ip.is_unspecified() || ip.is_multicast() {
            return Err("hint-lab.no-single-host");
        }
        match (1..=longest).contains(&prefix) {
            true => Ok(Address { ip, prefix }),
            false => Err("hint-lab.prefix-length"),
        }
    };
    parse().map_err(|hint| {
        let problem = say("error-lab.not-of-a-host")
            .with("field", field)
            .with("given", format!("{:?}", written.get_ref()));
        source.refuse(written.span(), problem, say(hint))
    })
}

pub(super) fn meant_rate(
    source: &Source<'_>,
    written: &Spanned<String>,
) -> Result<BitsPerSecond, Error> {
    const UNITS: [(&str, u64); 3] = [
        ("Gbit", 1_000_000_000),
        ("Mbit", 1_000_000),
        ("Kbit", 1_000),
    ];
    scaled(written.get_ref(), &UNITS)
        .filter(|bits| RATE_BITS_RANGE.contains(bits))
        .map(BitsPerSecond::new)
        .ok_or_else(|| {
            source.refuse(
                written.span(),
                say("error-lab.not-a-rate").with("given", format!("{:?}", written.get_ref())),
                say("hint-lab.rate"),
            )
        })
}
