//! Times and size of what is copied, once it is closed: what a server keeps of them, and how that is found out.
//!
//! Servers differ in when a time has to be set so that it stays, and what they do is learned from the first files. That does
//! not hold for times that a file system cannot represent, so the CLOSE response of each file is compared as well.

use smb_proto::session::{Closed, FileTimes};

use crate::copy::filetime::is_kept;
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

/// Whether something that is closed has the time of its last change that was set; zero: none was. The server is asked
/// afresh where it was not `known` at that moment that it keeps such a time, and where its CLOSE response has another
/// one: that may be out of date.
pub(crate) fn has_time(
    tree: &Tree,
    path: &str,
    write: u64,
    (closed, known): (&Closed, bool),
) -> Result<bool, Error> {
    match closed.times {
        _ if write == 0 => Ok(true),
        Some(times) if known && is_kept(write, times.write) => Ok(true),
        None if known && is_ordinary(write) => Ok(true),
        _ => Ok(is_kept(write, tree.status(path)?.times.write)),
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
    let teaches = of == Of::File && known.is_none() && is_ordinary(times.write);
    let learn = |kept| {
        if teaches {
            tree.learn_times(kept);
        }
    };
    let set = |times| tree.change_basic(path, times, attributes);
    let closed = match set(tree.times_as_taken(times)) {
        Err(error) if error.is_refusal() => return Ok(Some(error)),
        set => set?,
    };
    let has_time = |closed| has_time(tree, path, times.write, (closed, known.is_some()));
    if has_time(&closed)? {
        learn(TimesKept::Late);
        return Ok(None);
    }
    if !matches!(known, Some(TimesKept::LateAsChange | TimesKept::Never)) {
        match set(as_change(times)) {
            Ok(closed) if has_time(&closed)? => {
                learn(TimesKept::LateAsChange);
                return Ok(None);
            }
            Err(error) if !error.is_refusal() => return Err(error),
            _ => {}
        }
    }
    learn(TimesKept::Never);
    let object = printable(shown);
    Ok(Some(Error::TimeNotKept { object }))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::copy::filetime::of_system;

    #[test]
    fn what_every_file_system_can_keep_is_ordinary() {
        const DAY: u64 = 86_400 * 10_000_000;
        let year_1980 = of_system(119_600_064_000_000_000);
        assert_eq!(
            year_1980,
            Some(UNIX_EPOCH + Duration::from_secs(315_532_800))
        );
        let end = of_system(137_919_572_470_000_000);
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
