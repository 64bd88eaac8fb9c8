//! The server's processor is full, or one process of its serves all requests of a session.

use locale::{Message, say};
use record::{ProbeKind, Rung};

use super::{Advice, Basis, DIRECTIONS, Decider, Evidence, Finding};
use crate::RungName;
use crate::diagnosis::processor_limits::throttled;
use crate::rung_and_probe_verdict::Loss;

const ADVICE: Message = say("fix.server-processor");

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let limited = seen.network.server.and_then(|host| throttled(seen, host));
    limited
        .or_else(|| full_core(seen))
        .or_else(|| one_process(seen))
        .or_else(|| one_connection(seen))
        .or_else(|| in_bursts(seen))
        .or_else(|| by_elimination(seen))
}

fn advice(seen: &Evidence) -> Advice {
    let advice = Advice::new(ADVICE).gains(seen.gain());
    advice.commands(["top -H".to_owned()])
}

fn full_core(seen: &Evidence) -> Option<Finding> {
    let server = seen.network.server?;
    let client = seen.network.client;
    let is_crowded = client.is_some_and(|client| seen.is_crowded(&client.name));
    if is_crowded || !seen.share_may_lose() || !seen.has_full_core(&server.name) {
        return None;
    }
    let text = say("server-processor.core").with("host", &server.name);
    Some(Finding::counted(text, advice(seen)))
}

/// Two sessions gain where two streams of raw TCP do not, and we have time left: that is one process at the server, on a
/// path so short that buffers of the file server's own could not hold each connection back.
fn one_process(seen: &Evidence) -> Option<Finding> {
    let gains = |kind, rung| seen.probed(kind, rung).map(|it| it.loss);
    let (rung, name) = seen.share_that_loses();
    let sessions = gains(ProbeKind::Sessions, rung) == Some(Loss::Loses);
    let streams = gains(ProbeKind::Streams, Rung::Tcp) == Some(Loss::Loses);
    // What one connection of raw TCP moves, the session's own connection could move too.
    let is_beyond_tcp = DIRECTIONS.into_iter().any(|direction| {
        let is_measured = seen.rate(RungName::Tcp, direction).is_some();
        is_measured && seen.loses_in(name, direction)
    });
    // A server that has time left, or that is slow with writes only, waits for something.
    let server = seen.network.server;
    let waits = server.is_some_and(|server| seen.is_idle(&server.name)) || seen.writes_wait();
    let is_process = sessions && !streams && is_beyond_tcp && seen.is_short_path() && !waits;
    if !is_process || seen.busy_channel().is_some() {
        return None;
    }
    let text = say("server-processor.process");
    Some(match name {
        // Raw TCP takes one of several links, and does not tell what the others give each connection.
        RungName::Channels => Finding::suspected(text, Decider::Server, advice(seen)),
        _ => Finding::counted(text, advice(seen)),
    })
}

/// Two sessions gain, and nothing on a short path that loses nothing holds one connection back. Two connections of one
/// session, which one process serves, must not gain as well: what gives each connection a part of its own is the network.
fn one_connection(seen: &Evidence) -> Option<Finding> {
    let gains = |kind| seen.probed(kind, Rung::Share).map(|it| it.loss);
    let is_process = gains(ProbeKind::Sessions) == Some(Loss::Loses)
        && gains(ProbeKind::Connections) != Some(Loss::Loses);
    let is_ours = seen.busy_channel().is_some();
    if !is_process || !is_alone(seen) || !is_short_and_clean(seen) || is_ours || seen.writes_wait()
    {
        return None;
    }
    let text = say(match gains(ProbeKind::Connections) {
        Some(Loss::DoesNotLose) => "server-processor.session",
        _ => "server-processor.connection",
    });
    Some(Finding::suspected(text, Decider::RawTcp, advice(seen)).by_elimination())
}

/// Both directions lose, in bursts, on a short path that loses nothing: what limits a rate in the network does so
/// steadily, and a process that gets a part of a processor stops and goes on.
fn in_bursts(seen: &Evidence) -> Option<Finding> {
    let loses = |direction| seen.may_lose_in(RungName::Share, direction);
    let bursts = |direction| seen.comes_in_bursts(Rung::Share, direction) == Some(true);
    let is_clear = is_alone(seen) && is_short_and_clean(seen) && seen.busy_channel().is_none();
    let mut directions = DIRECTIONS.into_iter();
    if !is_clear || !directions.all(|direction| loses(direction) && bursts(direction)) {
        return None;
    }
    let text = say("server-processor.bursts");
    Some(Finding::suspected(text, Decider::Server, advice(seen)).by_elimination())
}

/// Nobody can look at the server, and raw TCP was not measured.
fn is_alone(seen: &Evidence) -> bool {
    seen.network.server.is_none() && !seen.is_measured(RungName::Tcp)
}

/// A path so short that no buffer of usual size holds a connection back, and on which nothing is lost.
fn is_short_and_clean(seen: &Evidence) -> bool {
    let is_known = seen.overtaken(Rung::Share).is_some() && seen.round_trip_min().is_some();
    is_known && seen.is_short_path() && !seen.is_overtaken(Rung::Share)
}

/// The share loses both directions, and nothing of what was measured is the reason.
fn by_elimination(seen: &Evidence) -> Option<Finding> {
    let loses = |direction| seen.may_lose_in(RungName::Share, direction);
    let tcp = |direction| seen.rate(RungName::Tcp, direction).is_some();
    let is_measured = DIRECTIONS.into_iter().all(tcp) && !seen.may_lose(RungName::Tcp);
    if seen.network.server.is_some() || !DIRECTIONS.into_iter().all(loses) || !is_measured {
        return None;
    }
    let text = say("server-processor");
    let was_probed = seen.probed(ProbeKind::Sessions, Rung::Share).is_some();
    // One end cannot tell a processor from a disk where two sessions gain nothing.
    let basis = match was_probed {
        true => Basis::OutOfSight("needs.server"),
        false => Basis::Suspicion(Decider::Server),
    };
    Some(Finding::new(text, basis, advice(seen)).by_elimination())
}
