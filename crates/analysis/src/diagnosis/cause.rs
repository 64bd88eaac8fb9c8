//! What limits the share: one sentence for a busy person, and the causes with how sure they are.

use record::{Direction, Rung, TrialRecord, Workload};

use super::fix::JUMBO_MTU;
use super::path::Pair;
use super::{DIRECTIONS, FULL_LIMIT, LOSS_LIMIT, Measured, Seen, why_not_measured};
use crate::comparison::direction_name;
use crate::{Cause, RungName, Trust};

/// More than this over the ceiling cannot be noise of the clock.
pub(super) const ABOVE_CEILING_LIMIT: f64 = 1.05;
/// The largest IP packet.
const PACKET_BYTES_MAX: u32 = 65_535;
/// Payload of a segment where the MTU is not known.
const SEGMENT_BYTES: f64 = 1448.0;
/// Share of one processor at which a thread is as good as saturated.
const PROCESSOR_LIMIT: f64 = 0.9;

/// The sentence.
pub(super) fn headline(seen: &Seen, of_ladder: &[(Rung, &TrialRecord)]) -> String {
    if let Some(text) = above_ceiling(seen) {
        return text;
    }
    let shares: Vec<(Direction, f64)> = DIRECTIONS
        .into_iter()
        .filter_map(|direction| Some((direction, seen.rate(RungName::Share, direction)?)))
        .collect();
    if shares.is_empty() {
        let reason = why_not_measured(of_ladder, Rung::Share, Direction::Read);
        return format!("the share could not be measured: {reason}");
    }
    match seen.first_loss() {
        Some((RungName::Tcp, direction, share)) => format!(
            "the network is slower than its NICs: raw TCP {} {}, {} of the {} that fit through; {}",
            verb(direction),
            megabytes_of(seen, RungName::Tcp, direction),
            percent(share),
            megabytes_of(seen, RungName::Ceiling, direction),
            "look at the path before the share",
        ),
        Some((RungName::Disk, direction, share)) => format!(
            "the server's disk is slower than its network: it {} {}, {} of what the share gives from memory",
            verb(direction),
            megabytes_of(seen, RungName::Disk, direction),
            percent(share),
        ),
        Some((_, direction, share)) => {
            let (verb, of) = (verb(direction), percent(share));
            let rate = |rung| megabytes_of(seen, rung, direction);
            let moved = rate(RungName::Share);
            match seen.rate(RungName::Tcp, direction) {
                Some(_) => format!(
                    "the share is slower than its network: it {verb} {moved}, {of} of the {} that raw TCP moves over \
                     the same path",
                    rate(RungName::Tcp)
                ),
                None => format!(
                    "the share {verb} {moved}, {of} of the {} that fits through the link; whether it or its network \
                     loses the rest, raw TCP would tell: {}",
                    rate(RungName::Ceiling),
                    how_to_measure_tcp(seen)
                ),
            }
        }
        None => no_loss(seen, &shares),
    }
}

const fn how_to_measure_tcp(seen: &Seen) -> &'static str {
    match seen.network.server {
        Some(_) => "let `iperf3 -s` run on the server",
        None => "let `iperf3 -s` run on the server, or name it by `--server HOST`",
    }
}

fn no_loss(seen: &Seen, shares: &[(Direction, f64)]) -> String {
    let rates: Vec<String> = shares
        .iter()
        .map(|(direction, rate)| format!("{} {}", verb(*direction), megabytes(*rate)))
        .collect();
    let rates = rates.join(" and ");
    let lowest = shares
        .iter()
        .filter_map(|(direction, _)| {
            let rung = seen.rung(RungName::Share, *direction)?;
            Some((*direction, rung.of_ceiling.as_ref()?.value))
        })
        .min_by(|one, two| f64::total_cmp(&one.1, &two.1));
    let Some((direction, share)) = lowest else {
        return format!("the share {rates}; what the link could carry is not known");
    };
    let unused = seen.usable.len().saturating_sub(seen.used.len());
    let more = match unused {
        0 => String::new(),
        1 => "; one more link is not used".into(),
        more => format!("; {more} more links are not used"),
    };
    let part = match format!("{:.1}", 100.0 * share) {
        all if all == "100.0" => "all".to_owned(),
        part => format!("{part} %"),
    };
    let of_link = format!("{part} of {}", link(seen, direction));
    if share < FULL_LIMIT {
        return format!(
            "nothing loses more than a tenth, but a little is lost on the way: the share {rates}, {of_link}{more}"
        );
    }
    let what = match seen.used.iter().all(|pair| pair.mtu() >= JUMBO_MTU) {
        true => "more or faster links",
        false => "more or faster links or larger frames",
    };
    let plural = if seen.used.len() > 1 {
        "links are"
    } else {
        "link is"
    };
    format!("the {plural} full: the share {rates}, {of_link}; only {what} would help{more}")
}

/// What a rate is held against, as people know it.
fn link(seen: &Seen, direction: Direction) -> String {
    let line = |pair: &Pair| seen.network.line_name(pair, direction);
    let lines: Option<Vec<String>> = seen.used.iter().map(line).collect();
    let lines = lines.unwrap_or_default();
    match lines.split_first() {
        Some((one, [])) => format!("what {one} carries"),
        Some((one, rest)) if rest.iter().all(|other| other == one) => {
            format!("what {} times {one} carry", lines.len())
        }
        _ => format!(
            "the {} that fit through",
            megabytes_of(seen, RungName::Ceiling, direction)
        ),
    }
}

/// A cause with what it costs, where that was measured.
pub(super) fn with_effect(seen: &Seen, text: &str) -> String {
    let effect = DIRECTIONS.into_iter().filter_map(|direction| {
        let share = seen.rung(RungName::Share, direction)?;
        let of_ceiling = share.of_ceiling.as_ref()?.value;
        (of_ceiling < LOSS_LIMIT).then_some((direction, of_ceiling))
    });
    let worst = effect.min_by(|one, two| f64::total_cmp(&one.1, &two.1));
    match worst {
        Some((direction, of_ceiling)) => format!(
            "{text}; the share {} {}, {} of the {} that fit through",
            verb(direction),
            megabytes_of(seen, RungName::Share, direction),
            percent(of_ceiling),
            megabytes_of(seen, RungName::Ceiling, direction),
        ),
        None => text.to_owned(),
    }
}

/// A cause that is no part of what was lost, with that.
pub(super) fn beside_loss(seen: &Seen, of_ladder: &[(Rung, &TrialRecord)], text: &str) -> String {
    match seen.first_loss() {
        Some(_) => format!("{text}; apart from that, {}", headline(seen, of_ladder)),
        None => text.to_owned(),
    }
}

/// What loses without any cause that is known.
pub(super) fn losses_unexplained(seen: &Seen) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Some(text) = above_ceiling(seen) {
        causes.push(cause("measured-above-ceiling", text, Trust::Measured));
    }
    for direction in DIRECTIONS {
        causes.extend(losses(seen, direction));
    }
    causes
}

/// What is worth knowing and no fault.
pub(super) fn remarks(seen: &Seen) -> Vec<Cause> {
    let mut remarks: Vec<Cause> = saturated(seen).into_iter().collect();
    remarks.extend(unused_links(seen));
    remarks.extend(super::fault::perhaps_multichannel_off(seen));
    remarks.extend(super::medium::remarks(seen));
    remarks.extend(super::segment::mixed(seen));
    remarks.extend(super::storage::remarks(seen));
    remarks.extend(silent_addresses(seen));
    remarks
}

/// Addresses at which nobody answers are tried by whoever connects, and waited for each time.
fn silent_addresses(seen: &Seen) -> Option<Cause> {
    let look = seen.look.filter(|look| !look.silent.is_empty())?;
    let silent = look.silent.iter().map(|address| format!("`{address}`"));
    let text = format!(
        "nobody answers at {}, which the server's name stands for as well: every connection tries that first, and \
         may have to wait for it; take it out of DNS or `hosts`, or use the address that answers",
        silent.collect::<Vec<_>>().join(" and ")
    );
    Some(cause("silent-address", text, Trust::Measured))
}

fn losses(seen: &Seen, direction: Direction) -> Vec<Cause> {
    let way = direction_name(direction);
    let lost = |rung: RungName| {
        let share = seen.rung(rung, direction)?.of_above.as_ref()?.value;
        (share < LOSS_LIMIT).then_some(share)
    };
    let mut causes = Vec::new();
    if let Some(share) = lost(RungName::Tcp) {
        let text = format!(
            "raw TCP ({way}) reaches {} of what fits through the NICs in use: {} of {}",
            percent(share),
            megabytes_of(seen, RungName::Tcp, direction),
            megabytes_of(seen, RungName::Ceiling, direction),
        );
        causes.push(cause("tcp-slower-than-ceiling", text, Trust::Measured));
    }
    let tcp_known = seen.rate(RungName::Tcp, direction).is_some();
    if let Some(share) = lost(RungName::Share).filter(|_| tcp_known) {
        let text = format!(
            "the share ({way}) reaches {} of raw TCP on the same path: {} of {}",
            percent(share),
            megabytes_of(seen, RungName::Share, direction),
            megabytes_of(seen, RungName::Tcp, direction),
        );
        causes.push(cause("share-slower-than-tcp", text, Trust::Measured));
    }
    causes
}

fn saturated(seen: &Seen) -> Option<Cause> {
    let full: Vec<String> = DIRECTIONS
        .into_iter()
        .filter_map(|direction| {
            let rung = seen.rung(RungName::Share, direction)?;
            let share = rung.of_ceiling.as_ref()?.value;
            let text = format!("{} {}", direction_name(direction), percent(share));
            (FULL_LIMIT..=ABOVE_CEILING_LIMIT)
                .contains(&share)
                .then_some(text)
        })
        .collect();
    (!full.is_empty()).then(|| {
        let text = format!(
            "the link is full: the share moves nearly all that fits through it ({})",
            full.join(", ")
        );
        cause("link-saturated", text, Trust::Measured)
    })
}

fn unused_links(seen: &Seen) -> Option<Cause> {
    let (used, usable) = (seen.used.len(), seen.usable.len());
    if used == 0 || usable <= used {
        return None;
    }
    let id = match (number(used), number(usable)) {
        (Some("one"), Some(all)) => format!("one-link-of-{all}"),
        _ => format!("{used}-links-of-{usable}"),
    };
    let plural = if used == 1 { "is" } else { "are" };
    let text = format!("{used} of {usable} links between client and server {plural} used");
    Some(cause(&id, text, Trust::Measured))
}

pub(super) fn segment_bytes(trial: &Measured) -> f64 {
    trial.pairs.first().map_or(SEGMENT_BYTES, |pair| {
        f64::from(pair.mtu().min(PACKET_BYTES_MAX).saturating_sub(52).max(1))
    })
}

/// A share whose client thread has no processor time left cannot go faster through one channel.
pub(super) fn busy_processor(seen: &Seen) -> Option<Cause> {
    let slow = |direction: &Direction| {
        let rung = seen.rung(RungName::Share, *direction);
        rung.and_then(|rung| rung.of_ceiling.as_ref())
            .is_none_or(|share| share.value < LOSS_LIMIT)
    };
    let busiest = seen
        .trials
        .iter()
        .filter(|trial| trial.rung == Rung::Share && slow(&trial.direction))
        .map(|trial| {
            let channels = match trial.workload {
                Workload::Share(share) => f64::from(share.channels.max(1)),
                Workload::Tcp(_) | Workload::Folder(_) | Workload::Task(_) | Workload::Job(_) => {
                    1.0
                }
            };
            let spent = trial.result.cpu().get() as f64 / trial.result.duration().get() as f64;
            spent / channels
        })
        .max_by(f64::total_cmp)?;
    (busiest > PROCESSOR_LIMIT).then(|| {
        let text = format!(
            "the client's own processor is the limit: {} of one core for each channel",
            percent(busiest)
        );
        cause("client-processor", text, Trust::Measured)
    })
}

pub(super) fn above_ceiling(seen: &Seen) -> Option<String> {
    let mut found = DIRECTIONS
        .into_iter()
        .flat_map(|direction| [RungName::Tcp, RungName::Share].map(|rung| (rung, direction)));
    found.find_map(|(rung, direction)| {
        let share = seen.rung(rung, direction)?.of_ceiling.as_ref()?.value;
        let what = if rung == RungName::Tcp {
            "raw TCP"
        } else {
            "the share"
        };
        (share > ABOVE_CEILING_LIMIT).then(|| {
            format!(
                "{what} {} {}, more than the {} that fit through the NICs in use: the link is not what its facts say, or the bytes took another way",
                verb(direction),
                megabytes_of(seen, rung, direction),
                megabytes_of(seen, RungName::Ceiling, direction),
            )
        })
    })
}

pub(super) fn cause(id: &str, text: String, trust: Trust) -> Cause {
    Cause {
        id: id.into(),
        text,
        trust,
    }
}

const fn number(count: usize) -> Option<&'static str> {
    match count {
        1 => Some("one"),
        2 => Some("two"),
        3 => Some("three"),
        4 => Some("four"),
        _ => None,
    }
}

const fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "reads",
        Direction::Write => "writes",
    }
}

fn megabytes_of(seen: &Seen, rung: RungName, direction: Direction) -> String {
    seen.rate(rung, direction)
        .map_or_else(|| "an unknown rate".into(), megabytes)
}

/// A rate for people in the unit that copies are quoted in, 10^6 bytes.
fn megabytes(bytes_per_second: f64) -> String {
    format!("{:.1} MB/s", bytes_per_second / 1e6)
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
