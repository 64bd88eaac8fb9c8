//! A server that has every write on its disk before it answers.

use locale::say;
use record::{Direction, ProbeKind, Rung, Target, Value};

use super::{Advice, Decider, Evidence, Finding};
use crate::diagnosis::copies_and_small_files::small_files;

/// A small file that is written waits for a disk where it takes so many times as long as a small request, and as one
/// that is read, and so long in seconds.
const WAITS_REQUESTS: f64 = 20.0;
const WAITS_READS: f64 = 10.0;
const WAITS_SECONDS: f64 = 0.003;
/// The disk is what they wait for where programs wait for it for such a part of the time, and not now and then.
const WAITS_PART: f64 = 0.25;

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    of_large_files(seen).or_else(|| of_small_files(seen))
}

/// Small files wait for a disk one by one, though large ones hide that wait behind the next request.
fn of_small_files(seen: &Evidence) -> Option<Finding> {
    let files = small_files(seen);
    let of = |direction| files.iter().find(|it| it.direction == direction);
    let (read, write) = (of(Direction::Read)?, of(Direction::Write)?);
    let seconds = write.each.value;
    let waits = seconds >= WAITS_SECONDS
        && seconds >= WAITS_READS * read.each.value
        && write.requests? >= WAITS_REQUESTS;
    if !waits || seen.may_lose_in(seen.share_that_loses().1, Direction::Write) {
        return None;
    }
    let text = say("sync-writes.small-files")
        .seconds("write", seconds)
        .seconds("read", read.each.value);
    let advice = Advice::of("fix.sync-writes");
    let found =
        match by_setting(seen) && waited(seen, Rung::SmallFiles, Direction::Write) >= WAITS_PART {
            true => Finding::counted(text, advice),
            false => Finding::suspected(text, decider(seen), advice),
        };
    Some(found.off_path())
}

/// The part of a rung's trials in which programs of the server waited for a disk; none where it was not looked at.
fn waited(seen: &Evidence, rung: Rung, direction: Direction) -> f64 {
    let server = seen.network.server;
    let part = server.and_then(|server| seen.disk_wait_part(&server.name, rung, direction));
    part.unwrap_or(0.0)
}

/// What would decide: the setting itself is known, or can be looked up, or the server cannot be seen.
fn decider(seen: &Evidence) -> Decider {
    match (by_setting(seen), seen.network.server) {
        (true, _) => Decider::Hand("decide.without-sync"),
        (false, Some(_)) => Decider::Hand("decide.sync-writes"),
        (false, None) => Decider::Server,
    }
}

fn of_large_files(seen: &Evidence) -> Option<Finding> {
    let setting = by_setting(seen);
    let (rung, name) = seen.share_that_loses();
    if !seen.may_lose_in(name, Direction::Write) {
        return None;
    }
    // Who keeps nothing in memory anyway loses nothing by being forbidden to.
    let through = seen.probed(ProbeKind::WriteThrough, rung);
    let changes_nothing = through.is_some_and(|it| {
        it.ratio
            .interval
            .is_some_and(|[low, _]| low > 1.0 / crate::rung_and_probe_verdict::MATTERS)
    });
    let is_suspected = setting || (changes_nothing && !seen.storage_is_indifferent());
    if !is_suspected {
        return None;
    }
    let text = say(match setting {
        true => "sync-writes.setting",
        false => "sync-writes",
    });
    let advice = Advice::of("fix.sync-writes").gains(seen.gain());
    // The setting tells why, and the probe or the kernel that it costs something. Who waits while the share is read from
    // memory too may be another program.
    let of = |direction| waited(seen, rung, direction);
    let (writing, reading) = (of(Direction::Write), of(Direction::Read));
    let waits = writing >= WAITS_PART && reading <= writing / 2.0;
    Some(match setting && (changes_nothing || waits) {
        true => Finding::counted(text, advice),
        false => Finding::suspected(text, decider(seen), advice),
    })
}

fn by_setting(seen: &Evidence) -> bool {
    let Some(server) = seen.network.server else {
        return false;
    };
    let share = seen.share.map(|share| share.share.share.as_str());
    let mut values = seen.settings(&server.name, "smb.server.sync_always");
    values.any(|(target, value)| {
        let is_here = match target {
            Target::Share(name) => share.is_none_or(|share| name == share),
            _ => true,
        };
        is_here && *value == Value::Switch(true)
    })
}
