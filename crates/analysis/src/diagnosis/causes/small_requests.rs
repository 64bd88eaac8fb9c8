//! A server that takes small requests only.

use locale::say;
use record::{Direction, Target, Value};

use super::{Advice, Decider, Evidence, Finding, setting};
use crate::RungName;

/// Requests that are smaller cost more in asking than in bytes.
const REQUEST_BYTES_MIN: u64 = 256 << 10;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let session = seen.session?;
    let is_old = session.dialect.starts_with("2.0");
    let small: Vec<(&str, u64, Direction)> = [
        ("read", session.read_max.get(), Direction::Read),
        ("write", session.write_max.get(), Direction::Write),
    ]
    .into_iter()
    .filter(|(_, most, _)| *most < REQUEST_BYTES_MIN)
    .collect();
    let (_, most, _) = *small.first().filter(|_| !is_old)?;
    let loses = |direction: Direction| seen.may_lose_in(RungName::Share, direction);
    let costs = small.iter().any(|(_, _, direction)| loses(*direction));
    let names: Vec<String> = small.iter().map(|(what, ..)| (*what).to_owned()).collect();
    let settings = names.iter().filter_map(|what| {
        let id = format!("smb.server.max_{what}");
        setting(
            seen.network.server,
            Target::Host,
            &id,
            Value::Integer(8 << 20),
        )
    });
    let advice = Advice::of("fix.larger-requests")
        .gains(seen.gain())
        .sets(settings);
    let text = say("small-requests")
        .with("kinds", names)
        .bytes("bytes", most);
    // We cannot ask for more than the server takes; half of it shows what the size costs. What the server says is a
    // fact, which costs a client with fewer requests under way than ours has.
    Some(match costs {
        true => Finding::suspected(text, Decider::Probe, advice),
        false => Finding::counted(text, advice).off_path(),
    })
}
