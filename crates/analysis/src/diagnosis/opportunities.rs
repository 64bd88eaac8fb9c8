//! What would be faster though nothing is wrong: more links, larger frames. Predictions are measured or computed.

use locale::{Argument, Message, say};
use record::{
    Direction, HostName, Identity, KnobId, Level, Nic, ProbeKind, Rung, Setting, Target, Value,
};

use super::evidence::Evidence;
use super::jumbo_frames_and_other_hosts::{JUMBO_MTU, names, own_segment, unproven_neighbours};
use super::ladder::DIRECTIONS;
use super::ladder_and_probe_trials::fair;
use super::nic_pairs::Pair;
use crate::phase_effects::rejections;
use crate::rung_and_probe_verdict::{Loss, Sequential, judge};
use crate::{Fix, RungName, Trust};
use stats::Unit;
use stats::computed;

/// Id of what is said first where nothing is lost and a link lies idle.
pub(super) const IDLE: &str = "headline.one-link-idle";
/// Channels that one session can have at most.
const CHANNELS_MAX: usize = 32;

/// What would be faster, and whether that was measured.
pub(super) fn fixes(seen: &Evidence) -> Vec<(bool, Fix)> {
    // Behind a router the two have no segment in common.
    let mut used = seen.used.iter();
    let is_routed = used.any(|pair| seen.is_routed(pair.near, pair.remote));
    let frames = own_segment(seen).or_else(|| jumbo(seen).filter(|_| larger_frames_matter(seen)));
    let frames = frames.filter(|_| !is_routed);
    let channels = channels(seen).into_iter();
    channels.chain(frames.map(|fix| (false, fix))).collect()
}

/// How much faster several channels are in a direction, where the ladder measured that.
fn gain_in(seen: &Evidence, direction: Direction) -> Option<Sequential> {
    let of = |rung: Rung| {
        let trials = seen.trials.iter();
        trials.filter(move |trial| trial.rung == rung && trial.direction == direction)
    };
    let blocks = of(Rung::Channels).filter_map(|several| {
        let mut ones = of(Rung::Share);
        let one = ones.find(|one| one.repetition == several.repetition)?;
        let is_spoiled = one.is_spoiled || several.is_spoiled;
        Some((is_spoiled, (one.rate, several.rate)))
    });
    judge(&fair(&blocks.collect::<Vec<_>>()))
}

/// The same in the direction that gains less; or, where that one is held by something that several links do not overcome and is
/// no slower by them, in the one that is proven to gain, and which that is.
fn channels_gain(seen: &Evidence) -> Option<(Sequential, Option<Direction>)> {
    let mut gains: Vec<(Sequential, Direction)> = DIRECTIONS
        .into_iter()
        .filter_map(|direction| Some((gain_in(seen, direction)?, direction)))
        .collect();
    gains.sort_by(|(one, _), (two, _)| two.ratio.value.total_cmp(&one.ratio.value));
    let Some((least, _)) = gains.pop() else {
        let probed = seen.probed(ProbeKind::Channels, Rung::Share)?;
        return Some((probed, None));
    };
    let is_held = least.loss != Loss::Loses && least.ratio.value >= 1.0;
    let most = gains
        .pop()
        .filter(|(most, _)| is_held && most.loss == Loss::Loses);
    Some(most.map_or((least, None), |(most, direction)| (most, Some(direction))))
}

/// Several channels are proven to move more than the links in use: the others lie idle. That is an improvement and no
/// loss, for it is the client's system that opens one connection.
pub(super) fn idle(seen: &Evidence) -> Option<Message> {
    let (used, usable) = (seen.used.len(), seen.usable.len());
    if used == 0 || seen.idle_links() == 0 {
        return None;
    }
    let text = say(IDLE).count("used", used).count("usable", usable);
    let (gain, direction) = channels_gain(seen).filter(|(gain, _)| gain.loss == Loss::Loses)?;
    let text = text.ratio("gain", gain.ratio.value);
    Some(match direction {
        Some(direction) => text.with("direction", direction),
        None => text,
    })
}

/// Whether the size of frames was shown to matter: smaller segments cost, or the line itself is what is full, of
/// which headers take a known part.
fn larger_frames_matter(seen: &Evidence) -> bool {
    let costs = seen
        .probed(ProbeKind::Segment, Rung::Tcp)
        .is_some_and(|found| {
            found
                .ratio
                .interval
                .is_some_and(|[_, high]| high < 1.0 / crate::rung_and_probe_verdict::MATTERS)
        });
    let is_full = !seen.ceilings.is_empty()
        && DIRECTIONS.into_iter().all(|direction| {
            seen.loss(RungName::Tcp, direction) != Some(Loss::Loses)
                && !seen.may_lose_in(RungName::Share, direction)
                && seen.is_full_in(direction)
        });
    costs || is_full
}

/// One channel for each pair of NICs that lies idle.
fn channels(seen: &Evidence) -> Option<(bool, Fix)> {
    let count = seen.usable.len().min(CHANNELS_MAX);
    if seen.used.is_empty() || seen.idle_links() == 0 || count <= seen.used.len() {
        return None;
    }
    // What was measured is not computed once more.
    let measured = channels_gain(seen).map(|(gain, direction)| {
        let caveat = direction.map(|it| say("gain-caveat.in-direction").with("direction", it));
        let mut ratio = gain.ratio;
        ratio.caveats.extend(caveat);
        ratio
    });
    // A link that is dead or as slow as to gain nothing is not worth it.
    let is_dead = |pair: &Pair| !seen.used.contains(pair) && seen.is_dead(pair.near, pair.remote);
    if seen.usable.iter().any(is_dead) {
        return None;
    }
    let (predicted, mut caveats) = predict(seen, &seen.usable, None).unwrap_or_else(|| {
        let caveat = say("gain-caveat.equal-links");
        let ratio = count as f64 / seen.used.len() as f64;
        (ratio, vec![caveat])
    });
    caveats.extend(slow_share(seen));
    let nics: Vec<String> = seen
        .usable
        .iter()
        .map(|pair| format!("`{}`", pair.near.name))
        .collect();
    let value = Value::Integer(i64::try_from(count).unwrap_or(1));
    let blocked = no_multichannel(seen).or_else(|| asked_already(seen, count));
    let is_measured = measured.is_some();
    let fix = Fix {
        id: format!("channels-{count}"),
        text: say("fix.channels").count("links", count).with("nics", nics),
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
        predicted: Some(measured.unwrap_or_else(|| computed(predicted, Unit::Ratio, caveats))),
        disturbs: say("disturbs.own-session"),
        blocked,
        commands: Vec::new(),
        elsewhere: None,
        trust: match is_measured {
            true => Trust::Measured,
            false => Trust::Computed,
        },
    };
    Some((is_measured, fix))
}

fn no_multichannel(seen: &Evidence) -> Option<Message> {
    let Some(session) = seen.session else {
        return Some(say("blocked.no-session"));
    };
    if !session.dialect.starts_with("3.") {
        return Some(say("blocked.dialect").with("dialect", &session.dialect));
    }
    if session.server_interfaces.is_empty() {
        return Some(say("blocked.no-interfaces"));
    }
    (session.identity != Identity::User).then(|| say("blocked.guest"))
}

/// Channels that were asked for and not made will not come by asking again.
fn asked_already(seen: &Evidence, count: usize) -> Option<Message> {
    let asked = seen.share?.channels as usize;
    (asked >= count).then(|| {
        let rejected = seen.session.map(rejections);
        let why = rejected.filter(|reasons| !reasons.is_empty());
        let message = say("blocked.asked-already")
            .count("asked", asked)
            .count("used", seen.used.len());
        match why {
            Some(why) => message.with("why", Argument::Clauses(why)),
            None => message.with("why", say("no-reason")),
        }
    })
}

/// MTU 9000 at both ends of every link that is used or could be.
fn jumbo(seen: &Evidence) -> Option<Fix> {
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
    caveats.push(say("gain-caveat.switches"));
    let mut nics = Vec::new();
    let mut blocked = None;
    for pair in pairs {
        match both_ends(seen, pair) {
            Ok(ends) => nics.extend(ends),
            Err(reason) => {
                let client = seen.network.client;
                nics.extend(client.map(|client| (&client.name, pair.near)));
                blocked = Some(reason);
            }
        }
    }
    let too_small = nics.iter().find_map(|(_, nic)| {
        let most = nic.mtu_max.filter(|&most| most < JUMBO_MTU)?;
        Some(
            say("blocked.mtu-max")
                .with("nic", &nic.name)
                .count("most", most),
        )
    });
    let blocked = blocked.or(too_small);
    let settings = match blocked {
        None => nics.iter().map(|(host, nic)| mtu(host, nic)).collect(),
        Some(_) => Vec::new(),
    };
    Some(Fix {
        id: format!("mtu-{JUMBO_MTU}"),
        text: match unproven_neighbours(seen, pairs).as_slice() {
            [] => say("fix.mtu"),
            others => say("fix.mtu").with(
                "neighbours",
                say("neighbours-unproven").with("names", names(others)),
            ),
        }
        .count("mtu", JUMBO_MTU)
        .with("nics", names_by_host(&nics)),
        level: Level {
            name: format!("MTU {JUMBO_MTU}"),
            settings,
        },
        predicted: Some(computed(predicted, Unit::Ratio, caveats)),
        disturbs: say("disturbs.links"),
        blocked,
        commands: Vec::new(),
        elsewhere: None,
        trust: Trust::Computed,
    })
}

/// `a0`, `a1` on one host and `b0`, `b1` on the other.
fn names_by_host(nics: &[(&HostName, &Nic)]) -> Vec<String> {
    let mut hosts: Vec<(&HostName, Vec<String>)> = Vec::new();
    for (host, nic) in nics {
        let name = format!("`{}`", nic.name);
        match hosts.iter_mut().find(|(known, _)| known == host) {
            Some((_, names)) => names.push(name),
            None => hosts.push((host, vec![name])),
        }
    }
    hosts
        .into_iter()
        .map(|(host, names)| format!("{} (`{host}`)", names.join(", ")))
        .collect()
}

fn both_ends<'a>(
    seen: &Evidence<'a>,
    pair: &Pair<'a>,
) -> Result<[(&'a HostName, &'a Nic); 2], Message> {
    match (seen.network.client, seen.network.server, pair.far_nic()) {
        (Some(client), Some(server), Some(far)) => {
            Ok([(&client.name, pair.near), (&server.name, far)])
        }
        (_, None, _) => Err(say("blocked.both-ends").count("mtu", JUMBO_MTU)),
        _ => Err(say("blocked.unknown-nic").with("remote", pair.remote)),
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
fn predict(seen: &Evidence, pairs: &[Pair], mtu: Option<u32>) -> Option<(f64, Vec<Message>)> {
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
fn slow_share(seen: &Evidence) -> Option<Message> {
    let mut directions = DIRECTIONS.into_iter();
    let is_slow = directions.any(|direction| !seen.is_full_in(direction));
    is_slow.then(|| say("gain-caveat.slow-share"))
}
