//! The answer: the first sentence that holds, the causes in its order, and what to do about them.

use locale::{Message, say};
use record::{Direction, Level, Rung, Setting, Target};

use super::cause_table::{Judged, Layer, Means, judge};
use super::causes::Evidence;
use super::command_words::quoted;
use super::finding::Reach;
use super::ladder::{DIRECTIONS, why_not_measured};
use super::{
    copies_and_small_files, multichannel_gain, non_fault_remarks, opportunities,
    predicted_channels, tcp_and_host_effort_per_rung,
};
use crate::rung_and_probe_verdict::{Loss, MATTERS};
use crate::{Cause, Diagnosis, Fix, LadderRung, Proof, RungName, State, Trust};
use stats::Estimate;

/// Everything that is concluded.
pub(super) fn diagnosis(seen: &Evidence) -> Diagnosis {
    let mut judged = judge(seen);
    // What is measured between other programs' work is no fault of the path.
    let crowded = seen.crowded_host().filter(|_| {
        seen.first_loss()
            .is_some_and(|lost| !judged.iter().any(|one| explains(one, lost.rung)))
    });
    if crowded.is_some() {
        judged.clear();
    }
    order(seen, &mut judged);
    let headline = match crowded {
        Some(host) => say("headline.crowded").with("host", host),
        None => headline(seen, &judged),
    };
    let of = |is_wanted: fn(&State) -> bool| {
        let judged = judged.iter().filter(move |one| is_wanted(&one.state));
        judged.map(Judged::cause).collect::<Vec<Cause>>()
    };
    let first_loss = seen.first_loss().filter(|_| crowded.is_none());
    Diagnosis {
        remarks: non_fault_remarks::remarks(seen, &headline),
        headline,
        first_loss: first_loss.map(|rung| (rung.rung, rung.direction)),
        complete: seen.is_complete() && crowded.is_none(),
        causes: of(|state| *state != State::RuledOut),
        ruled_out: of(|state| *state == State::RuledOut),
        notes: copies_and_small_files::notes(seen),
        small_files: copies_and_small_files::small_files(seen),
        clients: predicted_channels::clients(seen),
        multichannel: multichannel_gain::carried(seen),
        transfers: tcp_and_host_effort_per_rung::transfers(seen),
        request: tcp_and_host_effort_per_rung::request(seen),
        fixes: fixes(seen, &judged),
    }
}

/// Whether it is not knowable from here and costs nothing of what was measured: that is no answer.
fn is_open(judged: &Judged) -> bool {
    judged.finding.reach == Reach::OffPath && judged.state == State::Unknowable
}

/// Whether a cause sits where a rung is measured: our own client has no mount, and what that costs programs only is no loss
/// of a rung.
fn is_at(judged: &Judged, rung: RungName) -> bool {
    let is_of_mount = judged.row.layer == Layer::SystemClient;
    !judged.finding.is_of_programs && is_of_mount == (rung == RungName::SystemClient)
}

/// Whether something is lost at a rung by a cause that sits where that is measured. Where several channels lose, one alone
/// loses nothing, so that nothing on its path alone is why.
fn explains(judged: &Judged, rung: RungName) -> bool {
    let reach = judged.finding.reach;
    let is_felt = match (rung, judged.row.layer) {
        (RungName::Channels, Layer::Path | Layer::Channels) => {
            matches!(reach, Reach::OfChannels | Reach::OfHost)
        }
        _ => reach.is_on_path(),
    };
    let is_known = judged.row.layer != Layer::Rest && judged.state != State::RuledOut;
    is_known && is_felt && is_at(judged, rung)
}

/// Whether a cause can be what a rung loses: raw TCP has no session and no disk.
fn can_explain(judged: &Judged, rung: RungName) -> bool {
    let is_below =
        rung != RungName::Tcp || matches!(judged.row.layer, Layer::Path | Layer::Processor);
    explains(judged, rung) && is_below
}

/// What explains the loss and is proven, then what may explain it; then all else that is proven, then the rest. Of two
/// that are equally sure the one that is proven to gain more, then the one that may have taken more of the time: one of
/// which no counter says that may have taken all of it.
fn order(seen: &Evidence, judged: &mut [Judged]) {
    let copies = judged.iter().any(|one| one.row.id.as_str() == "local-disk");
    let lost = seen.lost().map(|rung| rung.rung);
    let lost = lost.or_else(|| copies.then_some(RungName::Copy));
    // Without a loss nothing is to be explained, and the order is that of the path.
    let is_lost = seen.first_loss().is_some() || lost == Some(RungName::Copy);
    judged.sort_by_key(|one| {
        let explains = lost.is_none_or(|rung| can_explain(one, rung));
        let is_rest = one.row.layer == Layer::Rest;
        let state = match (one.state, is_lost) {
            (State::Proven(_), _) | (State::Suspected, false) => 0,
            (State::Suspected, true) => 1,
            (State::Unknowable | State::RuledOut, _) => 2,
        };
        let certain = one.gain.as_ref().and_then(|gain| gain.interval);
        let gain = certain.map_or(0.0, |[low, _]| low);
        let taken = one.finding.taken.unwrap_or(1.0);
        let most = [gain, taken].map(|share| std::cmp::Reverse((share * 1e6) as u64));
        (is_rest, !explains, state, most)
    });
}

fn headline(seen: &Evidence, judged: &[Judged]) -> Message {
    let is_measured = DIRECTIONS
        .into_iter()
        .any(|direction| seen.rate(RungName::Share, direction).is_some());
    let first = judged.first();
    let first = first.filter(|one| one.row.layer != Layer::Rest && !is_open(one));
    if !is_measured && seen.first_loss().is_none() {
        if let Some(first) = first {
            return found(first);
        }
        let reason = why_not_measured(&seen.records, Rung::Share, Direction::Read);
        return say("headline.unmeasured").with("reason", reason);
    }
    // Nothing can be said against a ceiling that is not what is in use.
    if let Some(rung) = seen.above_ceiling() {
        let mut rest = judged.iter();
        let rest = rest.find(|one| one.row.id.as_str() == "measured-above-ceiling");
        return match rest {
            Some(rest) => say("headline.contradiction").with("cause", rest.finding.text.clone()),
            None => loss(seen, rung),
        };
    }
    if let Some(rung) = seen.first_loss() {
        return lost(seen, rung, judged);
    }
    if let Some(first) = first {
        return found(first);
    }
    // What is proven to gain says more than a loss of some 5 % that is not decided.
    let idle = opportunities::idle(seen).or_else(|| open(seen));
    idle.unwrap_or_else(|| well(seen))
}

/// A rung that is proven to lose, and what is known of why.
fn lost(seen: &Evidence, rung: &LadderRung, judged: &[Judged]) -> Message {
    let mut explaining = judged.iter().filter(|one| can_explain(one, rung.rung));
    let message = |id| say(id).with("loss", loss(seen, rung));
    let Some(first) = explaining.next() else {
        if rung.rung == RungName::SystemClient {
            return message("headline.client-itself");
        }
        let is_unmeasured = seen.rate(RungName::Tcp, rung.direction).is_none();
        return match is_unmeasured && rung.rung == RungName::Share {
            true if seen.network_carries_all(rung.direction) => message("headline.server-loses"),
            true => {
                let floor = seen.network_floor(rung.direction);
                let share = rung.rate.as_ref().map_or(f64::INFINITY, |rate| rate.value);
                match floor.filter(|floor| *floor > share * MATTERS) {
                    Some(floor) => message("headline.one-connection").rate("floor", floor),
                    None => message("headline.network-or-server"),
                }
                .with("decides", decides_tcp(seen))
            }
            false => message("headline.loses-unexplained"),
        };
    };
    let cause = first.cause();
    match (first.state, cause.decides, cause.needs) {
        (State::Proven(_), ..) => {
            let message = message("headline.loses-proven").with("cause", cause.text);
            match &first.gain {
                Some(gain) => message.with("gain", measured_gain(gain)),
                None => message,
            }
        }
        (_, Some(decides), _) => message("headline.loses-suspected")
            .with("cause", cause.text)
            .with("decides", decides),
        (_, None, needs) => message("headline.loses-unknowable")
            .with("cause", cause.text)
            .with("needs", needs.unwrap_or_else(|| say("needs.server"))),
    }
}

fn decides_tcp(seen: &Evidence) -> Message {
    say(match seen.network.server {
        Some(_) => "decide.raw-tcp-here",
        None => "decide.raw-tcp",
    })
}

fn measured_gain(gain: &Estimate) -> Message {
    let message = say("gain").ratio("gain", gain.value);
    match gain.interval {
        Some([low, high]) => message.ratio("low", low).ratio("high", high),
        None => message,
    }
}

/// Something that is wrong, though nothing is proven to be lost by it.
fn found(first: &Judged) -> Message {
    let cause = first.cause();
    let message = |id| say(id).with("cause", cause.text.clone());
    match (first.state, &cause.decides) {
        (State::Proven(_), _) => match &first.gain {
            Some(gain) => message("headline.found").with("gain", measured_gain(gain)),
            None => message("headline.found"),
        },
        (_, Some(decides)) => message("headline.suspected").with("decides", decides.clone()),
        (_, None) => message("headline.maybe"),
    }
}

/// What is lost at a rung, in its own numbers.
fn loss(seen: &Evidence, rung: &LadderRung) -> Message {
    let (direction, rate) = (rung.direction, rung.rate.as_ref());
    let tcp = seen.rate(RungName::Tcp, direction);
    let (id, whole) = match (rung.rung, tcp) {
        (RungName::Tcp, _) => ("loss.tcp", seen.rate(RungName::Ceiling, direction)),
        (RungName::Channels, _) => (
            "loss.channels",
            rung.ceiling.as_ref().map(|links| links.value),
        ),
        (RungName::Disk, _) => ("loss.disk", seen.rate(RungName::Share, direction)),
        (RungName::SystemClient, _) => ("loss.system-client", seen.engine_rate(direction)),
        (_, Some(tcp)) => ("loss.share", Some(tcp)),
        (_, None) => (
            "loss.share-of-link",
            seen.rate(RungName::Ceiling, direction),
        ),
    };
    let message = say(id)
        .with("direction", direction)
        .rate("rate", rate.map_or(f64::NAN, |rate| rate.value))
        .rate("whole", whole.unwrap_or(f64::NAN));
    let share = rung.of_above.as_ref();
    let message = message.share("share", share.map_or(f64::NAN, |share| share.value));
    match share.and_then(|share| share.interval) {
        Some([low, high]) => message.share("low", low).share("high", high),
        None => message,
    }
}

/// A rung of which nothing can be said yet, with the blocks that would do.
fn open(seen: &Evidence) -> Option<Message> {
    let rungs = seen.rungs.iter();
    let decisive = [RungName::Tcp, RungName::Share, RungName::SystemClient];
    let rungs = rungs.filter(|rung| decisive.contains(&rung.rung));
    // The one that may lose most.
    let mut rungs: Vec<&LadderRung> = rungs.collect();
    rungs.sort_by(|one, two| {
        let share = |rung: &LadderRung| rung.of_above.as_ref().map_or(1.0, |it| it.value);
        share(one).total_cmp(&share(two))
    });
    rungs.into_iter().find_map(|rung| match rung.loss? {
        Loss::CannotTell { more_blocks } => {
            let message = say(match more_blocks {
                Some(_) => "headline.cannot-tell",
                None if seen.varies_in(rung.rung, rung.direction) => "headline.varies",
                None => "headline.too-near",
            });
            let message = message
                .with("loss", loss(seen, rung))
                .with("direction", rung.direction);
            Some(message.count("blocks", more_blocks.unwrap_or(0)))
        }
        Loss::Loses | Loss::DoesNotLose => None,
    })
}

/// Nothing is proven to lose.
fn well(seen: &Evidence) -> Message {
    let rates = DIRECTIONS.into_iter().filter_map(|direction| {
        let rate = seen.rate(RungName::Share, direction)?;
        Some((direction, rate))
    });
    let mut message = say(match (seen.is_complete(), lowest_share(seen)) {
        (true, Some(share)) if share >= 1.0 / MATTERS => "headline.full",
        (true, _) => "headline.well",
        // Against raw TCP nothing is lost; what the link could carry is not known.
        (false, _)
            if DIRECTIONS
                .into_iter()
                .all(|way| seen.ceiling(way).is_none()) =>
        {
            "headline.no-ceiling"
        }
        (false, _) => "headline.incomplete",
    });
    for (direction, rate) in rates {
        message = message.rate(direction.as_str(), rate);
    }
    if let Some(share) = lowest_share(seen) {
        message = message.share("share", share);
    }
    if let Some(line) = seen.used.first().and_then(|pair| {
        let direction = seen.ceilings.first()?.0;
        seen.network.line_name(pair, direction)
    }) {
        message = message.with("line", line);
    }
    match seen.idle_links() {
        0 => message,
        unused => message.with("unused", say("links-unused").count("links", unused)),
    }
}

/// What the share has of its ceiling, in the worse direction.
fn lowest_share(seen: &Evidence) -> Option<f64> {
    let shares = DIRECTIONS.into_iter().filter_map(|direction| {
        let rung = seen.rung(RungName::Share, direction)?;
        Some(rung.of_ceiling.as_ref()?.value)
    });
    shares.min_by(f64::total_cmp)
}

/// How a remedy ranks: what is proven first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Measured,
    Proven,
    Possible,
    Improvement,
    Weaker,
}

fn fixes(seen: &Evidence, judged: &[Judged]) -> Vec<Fix> {
    let mut ranked: Vec<(Rank, f64, Fix)> = Vec::new();
    for one in judged {
        let is_wanted = one.state != State::RuledOut && !is_open(one);
        let Some(fix) = fix(one).filter(|_| is_wanted) else {
            continue;
        };
        let low = |gain: &Estimate| gain.interval.map_or(gain.value, |[low, _]| low);
        let gain = fix.predicted.as_ref().map_or(1.0, low);
        let is_weaker =
            matches!(one.row.means, Means::Protection(_)) && !is_as_safe(&one.finding.advice.text);
        let rank = match (one.state, is_weaker) {
            (_, true) => Rank::Weaker,
            (State::Proven(Proof::Relieved), _) => Rank::Measured,
            _ if one.finding.advice.measured.is_some() => Rank::Measured,
            (State::Proven(_), _) => Rank::Proven,
            (State::Suspected | State::Unknowable | State::RuledOut, _) => Rank::Possible,
        };
        ranked.push((rank, gain, fix));
    }
    for (is_measured, fix) in opportunities::fixes(seen) {
        let gain = fix.predicted.as_ref().map_or(1.0, |gain| gain.value);
        let rank = match is_measured {
            true => Rank::Measured,
            false => Rank::Improvement,
        };
        ranked.push((rank, gain, fix));
    }
    // What is wrong is worth mending; what would only be faster has to be so by more than anybody overlooks.
    ranked.retain(|(rank, _, fix)| {
        let is_improvement = fix.id.starts_with("channels") || *rank == Rank::Improvement;
        let gain = fix.predicted.as_ref();
        !is_improvement || gain.is_none_or(|gain| gain.value >= MATTERS)
    });
    ranked.sort_by(|one, two| {
        let blocked = |fix: &Fix| fix.blocked.is_some() && fix.id.starts_with("channels");
        one.0
            .cmp(&two.0)
            .then(blocked(&one.2).cmp(&blocked(&two.2)))
            .then(two.1.total_cmp(&one.1))
    });
    let mut fixes: Vec<Fix> = Vec::new();
    for (_, _, fix) in ranked {
        // Two causes may have one remedy.
        if !fixes
            .iter()
            .any(|known| known.id == fix.id && known.text == fix.text)
        {
            fixes.push(fix);
        }
    }
    fixes
}

/// Whether a remedy protects as well as what it replaces.
fn is_as_safe(text: &Message) -> bool {
    matches!(text.id, "fix.cheaper-cipher" | "fix.cheaper-signing")
}

/// The remedy of a cause; none where none is known.
fn fix(judged: &Judged) -> Option<Fix> {
    let (row, advice) = (judged.row, &judged.finding.advice);
    let id = row.fix?;
    // Where nothing is mounted, nobody's files are open.
    let is_mounted = advice.text.id != "fix.mount-so";
    let blocked = match row.means {
        Means::Hand(_) if !is_mounted => Some(say("hand.mount-so")),
        Means::Settings if !advice.settings.is_empty() => None,
        Means::Settings => Some(say("hand.out-of-reach")),
        Means::Hand(because) | Means::Protection(because) => Some(say(because)),
        Means::Unknown => Some(say("hand.unknown")),
    };
    let mut commands = set_commands(&advice.settings);
    commands.extend(advice.commands.clone());
    let settings = advice.settings.clone();
    let own = match advice.is_for_several {
        true => &None,
        false => &judged.gain,
    };
    Some(Fix {
        id: id.into(),
        text: advice.text.clone(),
        level: Level {
            name: id.into(),
            settings: settings
                .into_iter()
                .filter(|setting| blocked.is_none() || matches!(setting, Setting::Workload { .. }))
                .collect(),
        },
        predicted: [&advice.measured, own, &advice.predicted]
            .into_iter()
            .find_map(Clone::clone),
        disturbs: say(match is_mounted {
            true => row.disturbs,
            false => "disturbs.nothing",
        }),
        blocked,
        commands,
        elsewhere: advice.elsewhere.clone(),
        trust: match judged.state {
            _ if advice.measured.is_some() => Trust::Measured,
            State::Proven(_) if !advice.is_for_several => Trust::Measured,
            _ => Trust::Computed,
        },
    })
}

/// One `linerate set` for each host.
fn set_commands(settings: &[Setting]) -> Vec<String> {
    let mut commands: Vec<(&str, String)> = Vec::new();
    for setting in settings {
        let Setting::Knob {
            host,
            target,
            id,
            value,
        } = setting
        else {
            continue;
        };
        let at = match target {
            Target::Host => String::new(),
            other => format!("@{other}"),
        };
        let word = format!(" {}", quoted(&format!("{id}{at}={value}")));
        let host = host.as_str();
        match commands.iter_mut().find(|(known, _)| *known == host) {
            Some((_, command)) => command.push_str(&word),
            None => commands.push((host, format!("linerate set {}{word}", quoted(host)))),
        }
    }
    commands.into_iter().map(|(_, command)| command).collect()
}
