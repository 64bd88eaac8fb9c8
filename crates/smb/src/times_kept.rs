//! Times and size of what is copied, once it is closed: what a server keeps of them, and how that is found out.
//!
//! Servers differ in when a time has to be set so that it stays, and what they do is learned from the first files. That does
//! not hold for times that a file system cannot represent, so the CLOSE response of each file is compared as well.

use std::time::{Duration, SystemTime};

use os::windows_time::from_system_time;
use smb_proto::session::{Closed, FileTimes};

use crate::copy::filetime::{is_kept, is_whole_seconds};
use crate::copy::name::printable;
use crate::error::Error;
use crate::single_path_operations::NotKept;
use crate::tree::{TimesKept, Tree, as_change};

/// What times are set of, and whether it shows what a server does with those of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    File,
    Folder,
}

/// Whether every file system that keeps times can represent this one: from 1980, when FAT begins, to 2038, when seconds
/// of 32 bits end.
pub(crate) fn is_ordinary(write: u64) -> bool {
    const YEAR_1980: u64 = 119_600_064_000_000_000;
    const YEAR_2038: u64 = 137_919_572_470_000_000;
    (YEAR_1980..YEAR_2038).contains(&write)
}

/// How the time of something compares with the one that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// It is another one.
    None,
    /// It is the same as far as a file system keeps it that has whole seconds. That of something that changed just now
    /// may be so by chance.
    Coarse,
    /// It is the same to the server's unit of time.
    Exact,
}

impl Match {
    fn of(write: u64, there: u64) -> Self {
        match write == there && !is_whole_seconds(write) {
            true => Self::Exact,
            false if is_kept(write, there) => Self::Coarse,
            false => Self::None,
        }
    }

    pub(crate) fn is_kept(self) -> bool {
        self != Self::None
    }

    /// Whether it shows of all files that the server keeps times that are set as this one, `write`, was.
    pub(crate) fn teaches(self, write: u64) -> bool {
        match self {
            Self::None => false,
            Self::Coarse => is_ordinary(write) && is_past(write),
            Self::Exact => is_ordinary(write),
        }
    }
}

/// Whether a time is so long ago that no file that was just written has it.
fn is_past(write: u64) -> bool {
    const JUST_NOW: Duration = Duration::from_secs(60);
    let before = SystemTime::now().checked_sub(JUST_NOW);
    before.is_some_and(|before| write < from_system_time(before))
}

/// Whether something that is closed has the time of its last change that was set; zero: none was. The server is asked
/// afresh where it was not `known` at that moment that it keeps such a time, and where its CLOSE response has another
/// one: that may be out of date.
pub(crate) fn has_time(
    tree: &Tree,
    path: &str,
    write: u64,
    (closed, known): (&Closed, bool),
) -> Result<Match, Error> {
    match closed.times {
        _ if write == 0 => Ok(Match::Coarse),
        Some(times) if known && is_kept(write, times.write) => Ok(Match::of(write, times.write)),
        None if known && is_ordinary(write) => Ok(Match::Coarse),
        _ => Ok(Match::of(write, tree.status(path)?.times.write)),
    }
}

/// The length of something that is closed. A server whose CLOSE response has none is asked.
pub(crate) fn size(tree: &Tree, path: &str, closed: &Closed) -> Result<u64, Error> {
    match closed.size {
        Some(size) => Ok(size),
        None => Ok(tree.status(path)?.size),
    }
}

/// Sets times and attributes of something that is closed, and says if they do not stay, of what is called `shown`.
pub(crate) fn set(
    tree: &Tree,
    (path, shown): (&str, &str),
    times: FileTimes,
    attributes: u32,
    of: Of,
) -> Result<NotKept, Error> {
    let known = tree.keeps_times();
    let learn = |kept, teaches| {
        if of == Of::File && known.is_none() && teaches {
            tree.learn_times(kept);
        }
    };
    let set = |times| tree.change_basic(path, times, attributes);
    let closed = match set(tree.times_as_taken(times)) {
        Err(error) if error.is_refusal() => return Ok(Some(error)),
        set => set?,
    };
    let has_time = |closed| has_time(tree, path, times.write, (closed, known.is_some()));
    let late = has_time(&closed)?;
    if late.is_kept() {
        learn(TimesKept::Late, late.teaches(times.write));
        return Ok(None);
    }
    if !matches!(known, Some(TimesKept::LateAsChange | TimesKept::Never)) {
        match set(as_change(times)) {
            Ok(closed) => {
                let as_change = has_time(&closed)?;
                if as_change.is_kept() {
                    learn(TimesKept::LateAsChange, as_change.teaches(times.write));
                    return Ok(None);
                }
            }
            Err(error) if !error.is_refusal() => return Err(error),
            _ => {}
        }
    }
    learn(TimesKept::Never, is_ordinary(times.write));
    let object = printable(shown);
    Ok(Some(Error::TimeNotKept { object }))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use os::windows_time::to_system_time;

    #[test]
    fn a_time_of_just_now_teaches_only_where_it_is_kept_exactly() {
        const SECOND: u64 = 10_000_000;
        let now = from_system_time(SystemTime::now()) / SECOND * SECOND;
        let (fresh, old) = (now + 1_234_567, now + 1_234_567 - 3600 * SECOND);
        for (write, there, expected, teaches) in [
            (fresh, fresh, Match::Exact, true),
            (fresh, now, Match::Coarse, false),
            (now, now, Match::Coarse, false),
            (old, old / SECOND * SECOND, Match::Coarse, true),
            (old, now, Match::None, false),
            (1, 1, Match::Exact, false),
        ] {
            let found = Match::of(write, there);
            assert_eq!(
                (found, found.teaches(write)),
                (expected, teaches),
                "{write}"
            );
        }
    }

    #[test]
    fn what_every_file_system_can_keep_is_ordinary() {
        const DAY: u64 = 86_400 * 10_000_000;
        let year_1980 = to_system_time(119_600_064_000_000_000);
        assert_eq!(
            year_1980,
            Some(UNIX_EPOCH + Duration::from_secs(315_532_800))
        );
        let end = to_system_time(137_919_572_470_000_000);
        assert_eq!(end, Some(UNIX_EPOCH + Duration::from_secs((1 << 31) - 1)));
        for (write, ordinary) in [
            (0, false),
            (119_600_064_000_000_000 - DAY, false),
            (119_600_064_000_000_000, true),
            (137_919_572_470_000_000 - DAY, true),
            (137_919_572_470_000_000, false),
        ] {
            assert_eq!(is_ordinary(write), ordinary, "{write}");
        }
    }
}
