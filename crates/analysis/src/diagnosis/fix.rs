//! What to try, each with a prediction that is computed and never guessed.

use record::{Direction, HostName, Identity, KnobId, Level, Nic, Setting, Target, Value};

use super::path::{FarEnd, Pair};
use super::segment::{names, own_segment, unproven_neighbours};
use super::{LOSS_LIMIT, Seen};
use crate::comparison::rejections;
use crate::statistics::computed;
use crate::{Fix, RungName, Trust, Unit};

/// What people mean by jumbo frames.
pub(super) const JUMBO_MTU: u32 = 9000;
/// Channels that one session can have at most.
const CHANNELS_MAX: usize = 32;

/// The fixes, best prediction first, those that cannot be tried here last.
pub(super) fn fixes(seen: &Seen) -> Vec<Fix> {
    // Behind a router the two have no segment in common.
    let mut used = seen.used.iter();
    let is_routed = used.any(|pair| seen.is_routed(pair.near, pair.remote));
    let larger_frames = own_segment(seen).or_else(|| jumbo(seen));
    let larger_frames = larger_frames.filter(|_| !is_routed);
    let mut fixes: Vec<Fix> = [channels(seen), larger_frames]
        .into_iter()
        .flatten()
        .collect();
    fixes.sort_by(|one, two| {
        let blocked = one.blocked.is_some().cmp(&two.blocked.is_some());
        let gain = |fix: &Fix| fix.predicted.as_ref().map_or(0.0, |ratio| ratio.value);
        blocked.then(gain(two).total_cmp(&gain(one)))
    });
    fixes
}

/// One channel for each pair of NICs that lies idle.
fn channels(seen: &Seen) -> Option<Fix> {
    let count = seen.usable.len().min(CHANNELS_MAX);
    if seen.used.is_empty() || count <= seen.used.len() {
        return None;
    }
    let (predicted, mut caveats) = predict(seen, &seen.usable, None).unwrap_or_else(|| {
        let caveat = "the links' rates are not known and taken to be equal";
        let ratio = count as f64 / seen.used.len() as f64;
        (ratio, vec![caveat.into()])
    });
    caveats.extend(slow_share(seen));
    let nics: Vec<String> = seen
        .usable
        .iter()
        .map(|pair| format!("`{}`", pair.near.name))
        .collect();
    let value = Value::Integer(i64::try_from(count).unwrap_or(1));
    let blocked = no_multichannel(seen).or_else(|| asked_already(seen, count));
    Some(Fix {
        id: format!("channels-{count}"),
        text: format!(
            "use {count} links at once by SMB multichannel ({})",
            nics.join(", ")
        ),
        level: Level {
            name: format!("{count} channels"),
            settings: match blocked {
                None => vec![Setting::Workload {
                    field: "channels".into(),
                    value,
                }],
                Some(_) => Vec::new(),
            },
        },
        predicted: Some(computed(predicted, Unit::Ratio, caveats)),
        disturbs: "nothing: the channels belong to the session that asks for them".into(),
        blocked,
        commands: Vec::new(),
        elsewhere: None,
        trust: Trust::Computed,
    })
}

fn no_multichannel(seen: &Seen) -> Option<String> {
    let Some(session) = seen.session else {
        return Some("no session with the share was seen, so its abilities are not known".into());
    };
    if !session.dialect.starts_with("3.") {
        return Some(format!(
            "the server speaks SMB {}, and multichannel needs 3.0 or newer",
            session.dialect
        ));
    }
    if session.server_interfaces.is_empty() {
        return Some(
            "the server lists no interfaces: multichannel is off there (Samba: `server multi channel support = yes`)"
                .into(),
        );
    }
    (session.identity != Identity::User)
        .then(|| "the server took us as guest, and guests have one channel".into())
}

/// Channels that were asked for and not made will not come by asking again.
fn asked_already(seen: &Seen, count: usize) -> Option<String> {
    let asked = seen.share?.channels as usize;
    (asked >= count).then(|| {
        let rejected = seen.session.map(|session| rejections(session).join("; "));
        let why = rejected.filter(|reasons| !reasons.is_empty());
        format!(
            "{asked} channels were asked for already, and {} made use of: {}",
            seen.used.len(),
            why.as_deref().unwrap_or("no reason was given")
        )
    })
}

/// MTU 9000 at both ends of every link that is used or could be.
fn jumbo(seen: &Seen) -> Option<Fix> {
    let pairs = if no_multichannel(seen).is_none() {
        &seen.usable
    } else {
        &seen.used
    };
    if seen.used.is_empty() || pairs.iter().all(|pair| pair.mtu() >= JUMBO_MTU) {
        return None;
    }
    let (predicted, mut caveats) = predict(seen, &seen.used, Some(JUMBO_MTU))?;
    caveats.extend(slow_share(seen));
    caveats.push("every switch on the way must take frames of that size".into());
    let mut nics = Vec::new();
    let mut blocked = None;
    for pair in pairs {
        match both_ends(seen, pair) {
            Ok(ends) => nics.extend(ends),
            Err(reason) => blocked = Some(reason),
        }
    }
    let too_small = nics.iter().find_map(|(_, nic)| {
        let most = nic.mtu_max.filter(|&most| most < JUMBO_MTU)?;
        Some(format!("`{}` takes an MTU of {most} at most", nic.name))
    });
    let blocked = blocked.or(too_small);
    let settings = match blocked {
        None => nics.iter().map(|(host, nic)| mtu(host, nic)).collect(),
        Some(_) => Vec::new(),
    };
    Some(Fix {
        id: format!("mtu-{JUMBO_MTU}"),
        text: format!(
            "set MTU {JUMBO_MTU} on {}{}",
            names_by_host(&nics),
            beside_others(seen, pairs)
        ),
        level: Level {
            name: format!("MTU {JUMBO_MTU}"),
            settings,
        },
        predicted: Some(computed(predicted, Unit::Ratio, caveats)),
        disturbs: "these links, for a moment at each change: many drivers reset the NIC".into(),
        blocked,
        commands: Vec::new(),
        elsewhere: None,
        trust: Trust::Computed,
    })
}

/// What to see to where others are on the segment.
fn beside_others(seen: &Seen, pairs: &[Pair]) -> String {
    let others = unproven_neighbours(seen, pairs);
    match others.is_empty() {
        true => String::new(),
        false => format!(
            ", and check again then: {} on the same segment can be asked for large packets only from an end              that sends them, and those that stay at 1500 want large frames on a segment of their own",
            names(&others)
        ),
    }
}

/// `a0`, `a1` on one host and `b0`, `b1` on the other.
fn names_by_host(nics: &[(&HostName, &Nic)]) -> String {
    let mut hosts: Vec<(&HostName, Vec<String>)> = Vec::new();
    for (host, nic) in nics {
        let name = format!("`{}`", nic.name);
        match hosts.iter_mut().find(|(known, _)| known == host) {
            Some((_, names)) => names.push(name),
            None => hosts.push((host, vec![name])),
        }
    }
    let hosts: Vec<String> = hosts
        .into_iter()
        .map(|(host, names)| format!("{} on `{host}`", names.join(", ")))
        .collect();
    match hosts.is_empty() {
        true => "both ends of each link".into(),
        false => hosts.join(" and "),
    }
}

fn both_ends<'a>(seen: &Seen<'a>, pair: &Pair<'a>) -> Result<[(&'a HostName, &'a Nic); 2], String> {
    let ends = (seen.network.client, seen.network.server, pair.far);
    match ends {
        (Some(client), Some(server), FarEnd::Nic(far)) => {
            Ok([(&client.name, pair.near), (&server.name, far)])
        }
        (_, None, _) => Err(format!(
            "both ends of a link need the same MTU, and the server's settings cannot be reached; name it with `--server HOST`, or set MTU {JUMBO_MTU} there by hand first"
        )),
        _ => Err(format!(
            "the server's NIC with the address `{}` is not among those of the named server",
            pair.remote
        )),
    }
}

fn mtu(host: &HostName, nic: &Nic) -> Setting {
    Setting::Knob {
        host: host.clone(),
        target: Target::Nic(nic.name.clone()),
        id: KnobId::new("nic.mtu"),
        value: Value::Integer(i64::from(JUMBO_MTU)),
    }
}

/// The computed ceiling with the change over today's, in the direction that gains less.
fn predict(seen: &Seen, pairs: &[Pair], mtu: Option<u32>) -> Option<(f64, Vec<String>)> {
    seen.ceilings
        .iter()
        .filter_map(|(direction, today)| {
            let changed = seen.network.ceiling(*direction, &[pairs.to_vec()], mtu)?;
            let ratio = changed.rate.value / today.rate.value;
            ratio.is_finite().then_some((ratio, changed.rate.caveats))
        })
        .min_by(|one, two| f64::total_cmp(&one.0, &two.0))
}

/// What is computed from the links' ceilings holds for a share that fills them.
fn slow_share(seen: &Seen) -> Option<String> {
    let slow = [Direction::Read, Direction::Write]
        .into_iter()
        .any(|direction| {
            let rung = seen.rung(RungName::Share, direction);
            let share = rung.and_then(|rung| rung.of_ceiling.as_ref());
            share.is_some_and(|share| share.value < LOSS_LIMIT)
        });
    slow.then(|| "the share does not fill the link today, so it may gain less".into())
}
