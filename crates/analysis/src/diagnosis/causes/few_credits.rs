//! A server that lets too few requests be under way.

use locale::say;
use record::{Direction, Target, Value};

use super::{Advice, DIRECTIONS, Decider, Evidence, Finding, setting};
use crate::RungName;
use crate::diagnosis::tcp_and_host_effort_per_rung;

/// Payload that one credit is worth.
const CREDIT_BYTES: u64 = 64 << 10;
/// Payload that a session must be able to have under way, however near the server is.
const IN_FLIGHT_BYTES_MIN: u64 = 1 << 20;
/// Share of the counted time that our engine waited for credits from which that is a cause.
const WAITED: f64 = 0.05;
/// What is lost by them moves at least this part of what they would let through: a hop that is slower fills its queue with
/// all that is under way, and then everything waits for credits too.
const HELD: f64 = 0.5;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let session = seen.session?;
    let credits = session.credits?;
    let in_flight = credits.saturating_mul(CREDIT_BYTES);
    let wanted = seen
        .share
        .map_or(0, |share| share.block.get() * u64::from(share.depth));
    let waits = session.credit_waits.is_some_and(|waits| waits > 0);
    let short = in_flight < wanted && waits && seen.share_may_lose();
    let waited = seen.engine_waited_for_credits();
    let is_counted = waited.is_some_and(|waited| waited >= WAITED) && seen.share_may_lose();
    let is_tiny = in_flight < IN_FLIGHT_BYTES_MIN;
    if session.dialect.starts_with("2.0") || !(short || is_tiny || is_counted) {
        return None;
    }
    let text = say("few-credits")
        .count("credits", credits)
        .bytes("bytes", in_flight);
    let holds = holds(seen, in_flight as f64);
    let advice = Advice::of("fix.more-credits")
        .gains(seen.gain().filter(|_| holds))
        .sets(setting(
            seen.network.server,
            Target::Host,
            "smb.server.credits",
            Value::Integer(8192),
        ));
    let found = match is_tiny || is_counted {
        true => Finding::counted(text, advice).takes(waited),
        false => Finding::suspected(text, Decider::Probe, advice),
    };
    // Credits that fill the line in one direction are not too few for the other.
    Some(found.off_path_if(seen.fills() || !holds))
}

/// Whether what may be under way holds the rate: one load of it for each small request's time and its own on the line.
fn holds(seen: &Evidence, in_flight: f64) -> bool {
    let Some(request) = tcp_and_host_effort_per_rung::request(seen) else {
        return true;
    };
    let is_near = |direction| {
        let on_line = seen.ceiling(direction).map_or(0.0, |line| in_flight / line);
        let most = in_flight / (on_line + request.value);
        let rate = seen.rate(RungName::Share, direction);
        rate.is_some_and(|rate| rate >= HELD * most)
    };
    let loses = |direction: &Direction| seen.loses_in(RungName::Share, *direction);
    !seen.loses(RungName::Share) || DIRECTIONS.into_iter().filter(loses).any(is_near)
}
