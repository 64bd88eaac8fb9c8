//! The file as typed, and how it becomes what is meant.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use record::{BitsPerSecond, Bytes};
use serde::Deserialize;
use toml::Spanned;

use super::{
    Address, DELAY_MS_RANGE, DOMAIN_USERS_MAX, Domain, End, FAULT_PROGRAMS, FAULTS_MAX, Fault,
    HOSTS_MAX, LINKS_MAX, Lesson, Link, MTU_DEFAULT, MTU_RANGE, Medium, NETBIOS_NAME_CHARS_MAX,
    NIC_NAME_CHARS_MAX, PARAMETERS_MAX, PROCESSORS_RANGE, RATE_BITS_RANGE, REALM_CHARS_MAX,
    SHARE_BYTES_RANGE, SHARES_MAX, SWITCHES_MAX, Samba, Share, Switch, Topology, name_problem,
};
use crate::Error;

/// Names of interfaces that a host has of its own.
const NIC_NAMES_TAKEN: [&str; 4] = ["lo", "all", "default", BRIDGE];
/// The interface of a switch that joins its ports.
pub(crate) const BRIDGE: &str = "bridge";

/// Users that a domain has from the beginning.
const DOMAIN_USERS_TAKEN: [&str; 4] = ["administrator", "guest", "krbtgt", "linerate"];

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
struct WrittenFault {
    on: Spanned<String>,
    run: Spanned<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLesson {
    title: String,
    causes: Vec<String>,
    #[serde(default = "yes")]
    without_server: bool,
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
    mtu: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLink {
    from: Spanned<WrittenEnd>,
    to: Spanned<WrittenEnd>,
    rate: Option<Spanned<String>>,
    delay_ms: Option<Spanned<f64>>,
    mtu: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEnd {
    host: Option<Spanned<String>>,
    nic: Option<Spanned<String>>,
    address: Option<Spanned<String>>,
    switch: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSamba {
    host: Spanned<String>,
    #[serde(default = "yes")]
    multichannel: bool,
    #[serde(default)]
    share: Vec<WrittenShare>,
    domain: Option<WrittenDomain>,
    #[serde(default)]
    global: BTreeMap<Spanned<String>, Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenShare {
    name: Spanned<String>,
    medium: Medium,
    size: Spanned<String>,
    rate: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDomain {
    realm: Spanned<String>,
    #[serde(default)]
    users: Vec<Spanned<String>>,
}

fn yes() -> bool {
    true
}

/// Where a text came from, to say on which line something is wrong.
struct Source<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Source<'_> {
    fn refuse(&self, span: Range<usize>, problem: String, hint: impl Into<String>) -> Error {
        let before = self.text.as_bytes().get(..span.start).unwrap_or_default();
        Error::Topology {
            origin: self.origin.to_owned(),
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            problem,
            hint: hint.into(),
        }
    }

    fn name(&self, field: &str, name: &Spanned<String>) -> Result<String, Error> {
        match name_problem(name.get_ref()) {
            None => Ok(name.get_ref().clone()),
            Some(rule) => Err(self.refuse(
                name.span(),
                format!("`{field} = {:?}` is not a name", name.get_ref()),
                rule,
            )),
        }
    }

    fn count(&self, what: &str, count: usize, limit: usize) -> Result<(), Error> {
        if count <= limit {
            return Ok(());
        }
        let problem = format!("{count} {what} are more than the {limit} that a lab may have");
        Err(self.refuse(0..0, problem, "leave some out"))
    }

    fn mtu(&self, field: &str, mtu: Option<&Spanned<u32>>) -> Result<u32, Error> {
        let Some(mtu) = mtu else {
            return Ok(MTU_DEFAULT);
        };
        if MTU_RANGE.contains(mtu.get_ref()) {
            return Ok(*mtu.get_ref());
        }
        let (low, high) = (MTU_RANGE.start(), MTU_RANGE.end());
        let problem = format!("`{field} = {}` is out of range", mtu.get_ref());
        Err(self.refuse(mtu.span(), problem, format!("use {low} to {high}")))
    }
}

pub(super) fn parse(text: &str, origin: &str) -> Result<Topology, Error> {
    let source = Source { text, origin };
    let written: WrittenTopology = toml::from_str(text).map_err(|error| {
        source.refuse(
            error.span().unwrap_or(0..0),
            error.message().to_owned(),
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
    let faults = faults(&source, &written.fault, &hosts, &switches)?;
    let lesson = written.lesson.map(|lesson| Lesson {
        title: lesson.title,
        causes: lesson.causes,
        without_server: lesson.without_server,
    });
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

fn faults(
    source: &Source<'_>,
    written: &[WrittenFault],
    hosts: &[String],
    switches: &[Switch],
) -> Result<Vec<Fault>, Error> {
    source.count("faults", written.len(), FAULTS_MAX)?;
    let switches = switches.iter().map(|switch| switch.name.clone());
    let nodes: Vec<String> = hosts.iter().cloned().chain(switches).collect();
    let mut faults = Vec::new();
    for fault in written {
        known(source, "fault.on", &fault.on, &nodes)?;
        let run = fault.run.get_ref();
        let program = run.first().map_or("", String::as_str);
        // What leaves the host's own network, or is not of it.
        let strays = match program {
            "ip" => run
                .iter()
                .any(|word| ["netns", "vrf"].contains(&word.as_str())),
            "sysctl" => run[1..]
                .iter()
                .any(|word| !word.starts_with('-') && !word.starts_with("net.")),
            _ => false,
        };
        if strays || !FAULT_PROGRAMS.contains(&program) {
            return Err(source.refuse(
                fault.run.span(),
                format!("`fault.run` cannot be `{}`", run.join(" ")),
                format!(
                    "a fault runs one of `{}`, on the network of its own host",
                    FAULT_PROGRAMS.join("`, `")
                ),
            ));
        }
        faults.push(Fault {
            node: fault.on.get_ref().clone(),
            run: run.clone(),
        });
    }
    Ok(faults)
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
        let rate = link.rate.as_ref();
        let rate = rate.map(|rate| meant_rate(source, rate)).transpose()?;
        let delay = link.delay_ms.as_ref();
        let delay = delay.map(|delay| meant_delay(source, delay)).transpose()?;
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
        links.push(Link { ends, rate, delay });
    }
    Ok(links)
}

fn meant_delay(source: &Source<'_>, delay: &Spanned<f64>) -> Result<Duration, Error> {
    let milliseconds = *delay.get_ref();
    if DELAY_MS_RANGE.contains(&milliseconds) {
        return Ok(Duration::from_secs_f64(milliseconds / 1000.0));
    }
    let (least, most) = (DELAY_MS_RANGE.start(), DELAY_MS_RANGE.end());
    Err(source.refuse(
        delay.span(),
        format!("`link.delay_ms = {milliseconds}` is out of range"),
        format!("give {least} to {most}, for each direction"),
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
    if from.address.is_none() && to.address.is_none() {
        let problem = "`link` joins two switches".to_owned();
        return Err(source.refuse(span, problem, "join each switch with hosts only"));
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
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let well_formed = (1..=NIC_NAME_CHARS_MAX).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(allowed)
        && !NIC_NAMES_TAKEN.contains(&name.as_str());
    if !well_formed {
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

fn known(
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
    let parse = || {
        let (ip, prefix) = written.get_ref().split_once('/')?;
        let ip: std::net::IpAddr = ip.parse().ok()?;
        let prefix: u8 = prefix.parse().ok()?;
        let longest = if ip.is_ipv4() { 30 } else { 126 };
        let usable = !ip.is_unspecified() && !ip.is_loopback() && !ip.is_multicast();
        (usable && (1..=longest).contains(&prefix)).then_some(Address { ip, prefix })
    };
    parse().ok_or_else(|| {
        source.refuse(
            written.span(),
            format!(
                "`{field}.address = {:?}` is not an address of a host",
                written.get_ref()
            ),
            "write an address and the length of its prefix, such as `10.77.1.1/24`",
        )
    })
}

fn meant_rate(source: &Source<'_>, written: &Spanned<String>) -> Result<BitsPerSecond, Error> {
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

/// What the disk of a share moves in a second. One in memory has none.
fn meant_disk(source: &Source<'_>, share: &WrittenShare) -> Result<Option<u64>, Error> {
    match (&share.rate, share.medium) {
        (None, _) => Ok(None),
        (Some(rate), Medium::Disk) => Ok(Some(meant_size(source, "share.rate", rate)?.get())),
        (Some(rate), Medium::Memory) => Err(source.refuse(
            rate.span(),
            "memory has no `share.rate`".to_owned(),
            "write `medium = \"disk\"`, or leave the rate out",
        )),
    }
}

fn meant_size(source: &Source<'_>, field: &str, written: &Spanned<String>) -> Result<Bytes, Error> {
    const UNITS: [(&str, u64); 4] = [
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
    ];
    scaled(written.get_ref(), &UNITS)
        .filter(|bytes| SHARE_BYTES_RANGE.contains(bytes))
        .map(Bytes::new)
        .ok_or_else(|| {
            source.refuse(
                written.span(),
                format!("`{field} = {:?}` is not a size", written.get_ref()),
                "write `512MiB` or `4GiB`",
            )
        })
}

/// A number with at most three decimals and a unit, in base units.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
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

fn meant_samba(
    source: &Source<'_>,
    written: &WrittenSamba,
    hosts: &[String],
    links: &[Link],
) -> Result<Samba, Error> {
    known(source, "samba.host", &written.host, hosts)?;
    let host = written.host.get_ref();
    let plugged = |link: &Link| link.ends.iter().any(|end| end.node == *host);
    if !links.iter().any(plugged) {
        let problem = format!("`samba.host = {host:?}` has no link");
        return Err(source.refuse(written.host.span(), problem, "add a `[[link]]` to it"));
    }
    source.count("shares", written.share.len(), SHARES_MAX)?;
    source.count("parameters", written.global.len(), PARAMETERS_MAX)?;
    let mut shares: Vec<Share> = Vec::new();
    for share in &written.share {
        let name = source.name("share.name", &share.name)?;
        let reserved = ["global", "homes", "printers"].contains(&name.as_str());
        if reserved || shares.iter().any(|before| before.name == name) {
            let problem = format!("`share.name = {name:?}` is taken");
            return Err(source.refuse(share.name.span(), problem, "use another name"));
        }
        shares.push(Share {
            name,
            medium: share.medium,
            size: meant_size(source, "share.size", &share.size)?,
            bytes_per_second: meant_disk(source, share)?,
        });
    }
    let domain = match &written.domain {
        None => None,
        Some(domain) => Some(meant_domain(source, domain, written)?),
    };
    let mut global = BTreeMap::new();
    for (name, value) in &written.global {
        let (name, value) = parameter(source, name, value)?;
        global.insert(name, value);
    }
    Ok(Samba {
        host: host.clone(),
        multichannel: written.multichannel,
        shares,
        domain,
        global,
    })
}

fn meant_domain(
    source: &Source<'_>,
    written: &WrittenDomain,
    samba: &WrittenSamba,
) -> Result<Domain, Error> {
    let realm = written.realm.get_ref();
    let domain = Domain {
        realm: realm.clone(),
        users: meant_users(source, &written.users)?,
    };
    if !is_realm(realm) {
        let problem = format!("`domain.realm = {realm:?}` is not a realm");
        let hint = format!(
            "write two or more parts of `A` to `Z`, `0` to `9` and `-`, such as `LAB.EXAMPLE`; the \
             first has at most {NETBIOS_NAME_CHARS_MAX} characters"
        );
        return Err(source.refuse(written.realm.span(), problem, hint));
    }
    let host = samba.host.get_ref();
    if host.len() > NETBIOS_NAME_CHARS_MAX || host.eq_ignore_ascii_case(domain.netbios_name()) {
        let problem = format!("`samba.host = {host:?}` cannot be a domain controller");
        let hint = format!(
            "its name has at most {NETBIOS_NAME_CHARS_MAX} characters and is not the realm's first \
             part"
        );
        return Err(source.refuse(samba.host.span(), problem, hint));
    }
    let reserved = ["sysvol", "netlogon"];
    let mut shares = samba.share.iter().map(|share| &share.name);
    if let Some(name) = shares.find(|name| reserved.contains(&name.get_ref().as_str())) {
        let problem = format!("`share.name = {:?}` is taken", name.get_ref());
        return Err(source.refuse(name.span(), problem, "use another name"));
    }
    Ok(domain)
}

fn is_realm(text: &str) -> bool {
    let part_is_fine = |part: &str| {
        let allowed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && !part.ends_with('-')
            && part.chars().all(allowed)
    };
    let (first, others) = text.split_once('.').unwrap_or_default();
    text.len() <= REALM_CHARS_MAX
        && first.len() <= NETBIOS_NAME_CHARS_MAX
        && part_is_fine(first)
        && others.split('.').all(part_is_fine)
}

fn meant_users(source: &Source<'_>, written: &[Spanned<String>]) -> Result<Vec<String>, Error> {
    source.count("users", written.len(), DOMAIN_USERS_MAX)?;
    let mut users: Vec<String> = Vec::new();
    for user in written {
        let name = source.name("domain.users", user)?;
        if DOMAIN_USERS_TAKEN.contains(&name.as_str()) || users.contains(&name) {
            let problem = format!("`domain.users = {name:?}` is taken");
            return Err(source.refuse(user.span(), problem, "use another name"));
        }
        users.push(name);
    }
    Ok(users)
}

/// A free parameter. One line each, so that no value can open a section of its own.
fn parameter(
    source: &Source<'_>,
    name: &Spanned<String>,
    value: &Spanned<toml::Value>,
) -> Result<(String, String), Error> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || " :_-".contains(c);
    if name.get_ref().is_empty() || !name.get_ref().chars().all(allowed) {
        let problem = format!("{:?} is not a parameter of Samba", name.get_ref());
        let hint = "write it as in `man smb.conf`, in lower case, such as `\"aio read size\" = 0`";
        return Err(source.refuse(name.span(), problem, hint));
    }
    let text = match value.get_ref() {
        toml::Value::String(text) if !text.contains(['\n', '\r', '\\', '\0']) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Boolean(true) => "yes".to_owned(),
        toml::Value::Boolean(false) => "no".to_owned(),
        _ => {
            let problem = format!("`{}` has a value that Samba cannot have", name.get_ref());
            let hint = "use a number, `true`, `false` or one line of text without a backslash";
            return Err(source.refuse(value.span(), problem, hint));
        }
    };
    Ok((name.get_ref().clone(), text))
}
