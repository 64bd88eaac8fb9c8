//! The file as typed, and how it becomes what is meant.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use record::BitsPerSecond;
use record::mistake::{line_at, reason, start_of};
use serde::Deserialize;
use toml::Spanned;

use super::fault::{WrittenFault, faults};
use super::lesson::{WrittenLesson, meant_lesson};
use super::samba::{WrittenSamba, meant_samba};
use super::{
    Address, DELAY_MS_RANGE, End, HOSTS_MAX, LINKS_MAX, Link, MTU_DEFAULT, MTU_RANGE,
    NIC_NAME_CHARS_MAX, PROCESSORS_RANGE, RATE_BITS_RANGE, SWITCHES_MAX, Switch, Topology,
    name_problem,
};
use crate::Error;

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

pub(super) fn yes() -> bool {
    true
}

/// Where a text came from, to say on which line something is wrong.
pub(super) struct Source<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Source<'_> {
    pub(super) fn refuse(
        &self,
        span: Range<usize>,
        problem: String,
        hint: impl Into<String>,
    ) -> Error {
        Error::Topology {
            origin: self.origin.to_owned(),
            line: line_at(self.text, span.start),
            problem,
            hint: hint.into(),
        }
    }

    pub(super) fn name(&self, field: &str, name: &Spanned<String>) -> Result<String, Error> {
        match name_problem(name.get_ref()) {
            None => Ok(name.get_ref().clone()),
            Some(rule) => Err(self.refuse(
                name.span(),
                format!("`{field} = {:?}` is not a name", name.get_ref()),
                rule,
            )),
        }
    }

    pub(super) fn count(&self, what: &str, count: usize, limit: usize) -> Result<(), Error> {
        if count <= limit {
            return Ok(());
        }
        let problem = format!("{count} {what} are more than the {limit} that a lab may have");
        Err(self.refuse(0..0, problem, "leave some out"))
    }

    pub(super) fn within(
        &self,
        field: &str,
        number: &Spanned<i64>,
        range: &RangeInclusive<u32>,
    ) -> Result<u32, Error> {
        let meant = u32::try_from(*number.get_ref()).ok();
        meant.filter(|meant| range.contains(meant)).ok_or_else(|| {
            let problem = format!("`{field} = {}` is out of range", number.get_ref());
            let hint = format!("use {} to {}", range.start(), range.end());
            self.refuse(number.span(), problem, hint)
        })
    }

    fn mtu(&self, field: &str, mtu: Option<&Spanned<i64>>) -> Result<u32, Error> {
        mtu.map_or(Ok(MTU_DEFAULT), |mtu| self.within(field, mtu, &MTU_RANGE))
    }
}

pub(super) fn parse(text: &str, origin: &str) -> Result<Topology, Error> {
    let source = Source { text, origin };
    let written: WrittenTopology = toml::from_str(text).map_err(|error| {
        // `run` is a key for its own refusal alone, and the last one of its list.
        let reason = reason(&error);
        let start = start_of(text, &error);
        source.refuse(
            start..start,
            reason.trim_end_matches(", `run`").to_owned(),
            "see `examples/two-links.toml` for the fields there are",
        )
    })?;
    source.count("hosts", written.host.len(), HOSTS_MAX)?;
    source.count("switches", written.switch.len(), SWITCHES_MAX)?;
    source.count("links", written.link.len(), LINKS_MAX)?;
    if written.host.is_empty() {
        let hint = "add `[[host]]` with a `name`";
        return Err(source.refuse(0..0, "there is no host".into(), hint));
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
                    format!(
                        "`host.processors = {}` is out of range",
                        processors.get_ref()
                    ),
                    format!(
                        "use {} to {}, or leave it out for no limit",
                        f64::from(*least) / 1000.0,
                        most / 1000
                    ),
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
            let problem = format!("`{field} = {:?}` is there twice", name.get_ref());
            return Err(source.refuse(name.span(), problem, "give each host and switch its own"));
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
                Some(problem) => Err(source.refuse(end.span(), problem, "give each its own")),
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
            let problem = format!("`link.{field}` needs `link.rate`");
            return Err(source.refuse(given.span(), problem, "write both, or neither"));
        }
    }
    match (&link.could, could.map(negotiable)) {
        (Some(given), Some(false)) => {
            let problem = format!("`link.could = {:?}` is no rate of a NIC", given.get_ref());
            let hint = "use `10Mbit`, `100Mbit`, `1Gbit`, `2.5Gbit`, `5Gbit` or `10Gbit`";
            Err(source.refuse(given.span(), problem, hint))
        }
        (Some(given), _) if rate.is_some_and(|rate| !negotiable(rate)) => {
            let problem = "`link.could` needs a `link.rate` that NICs agree on".to_owned();
            let hint = "use `10Mbit`, `100Mbit`, `1Gbit`, `2.5Gbit`, `5Gbit` or `10Gbit` as rate";
            Err(source.refuse(given.span(), problem, hint))
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
        let problem = "`link` makes a ring of switches".to_owned();
        return Err(source.refuse(written.to.span(), problem, "leave one of its links out"));
    }
    Ok(())
}

/// How much longer something takes.
pub(super) fn meant_delay(
    source: &Source<'_>,
    field: &str,
    delay: &Spanned<f64>,
) -> Result<Duration, Error> {
    let milliseconds = *delay.get_ref();
    if DELAY_MS_RANGE.contains(&milliseconds) {
        return Ok(Duration::from_secs_f64(milliseconds / 1000.0));
    }
    let (least, most) = (DELAY_MS_RANGE.start(), DELAY_MS_RANGE.end());
    Err(source.refuse(
        delay.span(),
        format!("`{field} = {milliseconds}` is out of range"),
        format!("give {least} to {most}"),
    ))
}

/// What of an end is already in use.
fn clash(end: &End, before: &[&End]) -> Option<String> {
    let same_nic = |other: &&End| other.node == end.node && other.nic == end.nic;
    if before.iter().any(same_nic) {
        return Some(format!(
            "host `{}` has two NICs named `{}`",
            end.node, end.nic
        ));
    }
    let address = end.address?;
    let same_address = |other: &&End| other.address.is_some_and(|other| other.ip == address.ip);
    let other = before.iter().copied().find(|other| same_address(other))?;
    Some(format!(
        "address `{}` is used by `{}` of `{}` already",
        address.ip, other.nic, other.node
    ))
}

fn check_pair(source: &Source<'_>, link: &WrittenLink, ends: &[End; 2]) -> Result<(), Error> {
    let [from, to] = ends;
    let span = link.to.span();
    if from.node == to.node {
        let problem = format!("`link` joins `{}` with itself", from.node);
        return Err(source.refuse(span, problem, "name two hosts, or a host and a switch"));
    }
    match (from.address, to.address) {
        (Some(one), Some(other)) if !one.shares_subnet_with(other) => {
            let problem = format!("`{one}` and `{other}` are not in the same subnet");
            Err(source.refuse(span, problem, "both ends of a cable need one network"))
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
            format!("`{field}` is not complete"),
            "write `{ host = \"...\", nic = \"...\", address = \"10.0.0.1/24\" }` or `{ switch = \"...\" }`",
        ));
    };
    known(source, &format!("{field}.host"), host, hosts)?;
    let name = nic.get_ref();
    if !is_nic_name(name) {
        return Err(source.refuse(
            nic.span(),
            format!("`{field}.nic = {name:?}` cannot be the name of a NIC"),
            format!(
                "1 to {NIC_NAME_CHARS_MAX} letters, digits, `-` and `_`, a letter first, and none of `{}`",
                NIC_NAMES_TAKEN.join("`, `")
            ),
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
        let problem = format!("`{field}` is a switch and a host at once");
        return Err(source.refuse(end.span(), problem, "write `{ switch = \"...\" }` alone"));
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

pub(super) fn known(
    source: &Source<'_>,
    field: &str,
    name: &Spanned<String>,
    names: &[String],
) -> Result<(), Error> {
    if names.contains(name.get_ref()) {
        return Ok(());
    }
    let problem = format!("`{field} = {:?}` does not exist", name.get_ref());
    let hint = if names.is_empty() {
        "add it first".to_owned()
    } else {
        format!("add it, or use one of `{}`", names.join("`, `"))
    };
    Err(source.refuse(name.span(), problem, hint))
}

fn meant_address(
    source: &Source<'_>,
    field: &str,
    written: &Spanned<String>,
) -> Result<Address, Error> {
    const FORM: &str = "write an address and the length of its prefix, such as `10.77.1.1/24`";
    let parse = || {
        let (ip, prefix) = written.get_ref().split_once('/').ok_or(FORM)?;
        let ip: std::net::IpAddr = ip.parse().ok().ok_or(FORM)?;
        let prefix: u8 = prefix.parse().ok().ok_or(FORM)?;
        let longest = if ip.is_ipv4() { 30 } else { 126 };
        if ip.is_loopback() {
            return Err(
                "no other host reaches a loopback address; take one such as `10.77.1.1/24`",
            );
        }
        if ip.is_unspecified() || ip.is_multicast() {
            return Err("no single host has this address; take one such as `10.77.1.1/24`");
        }
        match (1..=longest).contains(&prefix) {
            true => Ok(Address { ip, prefix }),
            false => Err("use a prefix of 1 to 30 bits, with IPv6 of 1 to 126"),
        }
    };
    parse().map_err(|hint| {
        let given = written.get_ref();
        let problem = format!("`{field}.address = {given:?}` is not an address of a host");
        source.refuse(written.span(), problem, hint)
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
                format!("`rate = {:?}` is not a line rate", written.get_ref()),
                "write `100Mbit`, `1Gbit`, `2.5Gbit` or up to `100Gbit`, or leave `rate` out for no limit",
            )
        })
}

/// A number with at most three decimals and a unit, in base units.
pub(super) fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, factor) = units
        .iter()
        .find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?.trim_end(), factor)))?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 3 {
        return None;
    }
    let thousandths: u64 = format!("{decimals:0<3}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    let fraction = thousandths.checked_mul(factor)? / 1000;
    whole.checked_mul(factor)?.checked_add(fraction)
}
