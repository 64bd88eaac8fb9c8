//! One trial as a number: its rate, what that counts, what it cost, why it failed.

use locale::{Language, Message, say};
use record::{HostLoad, Task, TrialResult, Workload};
use stats::Unit;

/// Confidence where a file says nothing sensible, and for everything that was not asked with one.
pub const CONFIDENCE_DEFAULT: f64 = 0.95;
/// Band of practical equivalence where a file says nothing sensible.
pub const BAND_DEFAULT: f64 = 0.02;
/// Failures that are listed one by one; the rest is counted.
const FAILURES_LISTED_MAX: usize = 100;
/// Letters of a failure that are listed: a file may have a book there.
const FAILURE_CHARS_MAX: usize = 1_000;

/// What the rates of a workload count.
#[must_use]
pub const fn unit(workload: &Workload) -> Unit {
    match workload {
        Workload::Task(work) => match work.task {
            Task::Copy(_) | Task::Stream(_) => Unit::BytesPerSecond,
            Task::Play(_) => Unit::FramesPerSecond,
            Task::Create(_) | Task::Open(_) | Task::Remove(_) | Task::Lock(_) | Task::List(_) => {
                Unit::OperationsPerSecond
            }
        },
        Workload::Tcp(_) | Workload::Share(_) | Workload::Folder(_) | Workload::Job(_) => {
            Unit::BytesPerSecond
        }
    }
}

/// The rate of a trial in the [unit()] of its workload, if it is one that can be compared.
#[must_use]
pub fn rate(workload: &Workload, pass: &TrialResult) -> Option<f64> {
    let rate = match workload {
        Workload::Task(work) if unit(workload) != Unit::BytesPerSecond => {
            let seconds = pass.duration().get() as f64 / 1e9;
            let players = match &work.task {
                Task::Play(play) => f64::from(play.streams.max(1)),
                _ => 1.0,
            };
            pass.latency?.operations as f64 / seconds / players
        }
        _ => pass.bytes_per_second()?,
    };
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// Processor time of the file server for each byte: how much of the time it worked while it was looked
/// at, over the trial's rate in bytes per second.
#[must_use]
pub fn served_per_byte(loads: &[HostLoad], rate: f64) -> Option<f64> {
    let served = |load: &HostLoad| Some((load.served?.get() as f64, load.duration.get() as f64));
    let (spent, time) = loads.iter().find_map(served)?;
    let per_byte = spent / time / rate;
    per_byte.is_finite().then_some(per_byte)
}

/// Adds a failure to a list that cannot grow for ever.
pub fn list_failure(failures: &mut Vec<Message>, failure: impl FnOnce() -> Message) {
    match failures.len() {
        0..FAILURES_LISTED_MAX => failures.push(shortened(failure())),
        FAILURES_LISTED_MAX => failures.push(say("trial-failure.more")),
        _ => {}
    }
}

/// A failure, or the first letters of its text where that is too long.
fn shortened(failure: Message) -> Message {
    let text = Language::English.say(&failure);
    match text.char_indices().nth(FAILURE_CHARS_MAX) {
        Some((end, _)) => Message::from(&text[..end]),
        None => failure,
    }
}
