//! The Samba server of a lab file: its shares, its domain and its parameters.

use std::collections::BTreeMap;
use std::time::Duration;

use locale::say;
use record::Bytes;
use serde::Deserialize;
use toml::Spanned;

use super::checked_values::{Source, known, meant_delay, scaled, yes};
use super::samba_parameters::parameter;
use super::{
    DOMAIN_USERS_MAX, Domain, Link, Medium, NETBIOS_NAME_CHARS_MAX, PARAMETERS_MAX,
    REALM_CHARS_MAX, SHARE_BYTES_RANGE, SHARES_MAX, Samba, Share, USER, WAKE_SECONDS_RANGE,
};
use crate::Error;

/// Users that a domain has from the beginning.
const DOMAIN_USERS_TAKEN: [&str; 4] = ["administrator", "guest", "krbtgt", USER];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenSamba {
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
    delay_ms: Option<Spanned<f64>>,
    wakes_seconds: Option<Spanned<i64>>,
    write_back: Option<Spanned<bool>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDomain {
    realm: Spanned<String>,
    #[serde(default)]
    users: Vec<Spanned<String>>,
}

pub(super) fn meant_samba(
    source: &Source<'_>,
    written: &WrittenSamba,
    hosts: &[String],
    links: &[Link],
) -> Result<Samba, Error> {
    known(source, "samba.host", &written.host, hosts)?;
    let host = written.host.get_ref();
    let plugged = |link: &Link| link.ends.iter().any(|end| end.node == *host);
    if !links.iter().any(plugged) {
        let problem = say("error-lab.no-link").with("given", format!("{host:?}"));
        let hint = say("hint-lab.add-link");
        return Err(source.refuse(written.host.span(), problem, hint));
    }
    let too_many = say("error-lab.too-many-shares");
    source.count(too_many, written.share.len(), SHARES_MAX)?;
    let too_many = say("error-lab.too-many-parameters");
    source.count(too_many, written.global.len(), PARAMETERS_MAX)?;
    let mut shares: Vec<Share> = Vec::new();
    for share in &written.share {
        let name = source.name("share.name", &share.name)?;
        let reserved = ["global", "homes", "printers"].contains(&name.as_str());
        if reserved || shares.iter().any(|before| before.name == name) {
            return Err(taken(source, "share.name", &share.name));
        }
        shares.push(Share {
            name,
            medium: share.medium,
            size: meant_size(source, "share.size", &share.size)?,
            bytes_per_second: meant_disk(source, share)?,
            delay: match &share.delay_ms {
                None => None,
                Some(delay) => Some(meant_delay(source, "share.delay_ms", delay)?),
            },
            wakes: meant_wakes(source, share)?,
            write_back: share
                .write_back
                .as_ref()
                .is_some_and(|write_back| *write_back.get_ref()),
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
        let problem = say("error-lab.not-a-realm").with("given", format!("{realm:?}"));
        let hint = say("hint-lab.realm").count("most", NETBIOS_NAME_CHARS_MAX);
        return Err(source.refuse(written.realm.span(), problem, hint));
    }
    let host = samba.host.get_ref();
    if host.len() > NETBIOS_NAME_CHARS_MAX || host.eq_ignore_ascii_case(domain.netbios_name()) {
        let problem = say("error-lab.no-controller").with("given", format!("{host:?}"));
        let hint = say("hint-lab.controller").count("most", NETBIOS_NAME_CHARS_MAX);
        return Err(source.refuse(samba.host.span(), problem, hint));
    }
    let reserved = ["sysvol", "netlogon"];
    let mut shares = samba.share.iter().map(|share| &share.name);
    if let Some(name) = shares.find(|name| reserved.contains(&name.get_ref().as_str())) {
        return Err(taken(source, "share.name", name));
    }
    Ok(domain)
}

fn taken(source: &Source<'_>, field: &str, name: &Spanned<String>) -> Error {
    let problem = say("error-lab.taken")
        .with("field", field)
        .with("given", format!("{:?}", name.get_ref()));
    source.refuse(name.span(), problem, say("hint-lab.another-name"))
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
    let too_many = say("error-lab.too-many-users");
    source.count(too_many, written.len(), DOMAIN_USERS_MAX)?;
    let mut users: Vec<String> = Vec::new();
    for user in written {
        let name = source.name("domain.users", user)?;
        if DOMAIN_USERS_TAKEN.contains(&name.as_str()) || users.contains(&name) {
            return Err(taken(source, "domain.users", user));
        }
        users.push(name);
    }
    Ok(users)
}

/// What the disk of a share moves in a second. One in memory has none, and nothing else of a disk.
fn meant_disk(source: &Source<'_>, share: &WrittenShare) -> Result<Option<u64>, Error> {
    let spans = [
        ("rate", share.rate.as_ref().map(Spanned::span)),
        ("delay_ms", share.delay_ms.as_ref().map(Spanned::span)),
        (
            "wakes_seconds",
            share.wakes_seconds.as_ref().map(Spanned::span),
        ),
        ("write_back", share.write_back.as_ref().map(Spanned::span)),
    ];
    for (field, span) in spans {
        if let (Medium::Memory, Some(span)) = (share.medium, span) {
            let problem = say("error-lab.not-of-memory").with("field", field);
            let hint = say("hint-lab.disk").with("field", field);
            return Err(source.refuse(span, problem, hint));
        }
    }
    let rate = share.rate.as_ref();
    let rate = rate.map(|rate| meant_size(source, "share.rate", rate));
    Ok(rate.transpose()?.map(Bytes::get))
}

fn meant_wakes(source: &Source<'_>, share: &WrittenShare) -> Result<Option<Duration>, Error> {
    let Some(written) = &share.wakes_seconds else {
        return Ok(None);
    };
    let seconds = source.within("share.wakes_seconds", written, &WAKE_SECONDS_RANGE)?;
    Ok(Some(Duration::from_secs(seconds.into())))
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
                say("error-lab.not-a-size")
                    .with("field", field)
                    .with("given", format!("{:?}", written.get_ref())),
                say("hint-lab.size"),
            )
        })
}
