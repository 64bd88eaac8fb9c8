//! One file over several sessions, and how its reads and writes are spread over them.

use std::ops::Range;

use smb_proto::session::Created;

use super::File;
use crate::error::Error;

/// Work that waits behind what is in flight, so that a channel that becomes free finds some
/// before this thread has woken up: as much again as is in flight.
const AHEAD_FACTOR: u64 = 2;

/// What one of several sessions is asked for at once: enough for its channels, and little enough that
/// all of them end at about the same time.
const PORTION_BYTES: u64 = 4 << 20;

impl File {
    /// Takes another handle of this file, open over another session
    /// ([`Session::open_parallel`](crate::Session::open_parallel)): what is read and written from now on goes over both.
    /// A server that has one processor at a time work on what comes over one session then uses one more.
    /// Whether it is the same file; else it is closed.
    ///
    /// To compare them, both must have been opened with
    /// [`OpenOptions::disk_id`](crate::OpenOptions::disk_id). Where the server has no such numbers, times and
    /// size must have been the same when they were opened.
    pub fn add_handle(&mut self, other: Self) -> bool {
        let known = |file: &Self| file.created.disk_id.filter(|(number, _)| *number != 0);
        let looks = |file: &Self| {
            let Created { times, size, .. } = file.created;
            (times.creation, times.write, size)
        };
        let same = match (known(self), known(&other)) {
            (Some(one), Some(other)) => one == other,
            _ => looks(self) == looks(&other),
        };
        if same {
            self.others.push(other);
        }
        same
    }

    /// Closes what [`Self::add_handle`] took, and waits for it.
    pub(crate) fn close_handles(&mut self) -> Result<(), Error> {
        self.others.drain(..).try_for_each(Self::close)
    }

    pub(crate) const fn handles(&self) -> usize {
        1 + self.others.len()
    }

    /// This file over one of its sessions.
    pub(crate) fn handle(&self, number: usize) -> &Self {
        let other = number.checked_sub(1);
        other.map_or(self, |other| &self.others[other])
    }

    /// How many bytes are worth having under way, by session. It asks the sessions, so nobody calls it
    /// with a lock that what they tell needs.
    pub(crate) fn enough(&self) -> Vec<u64> {
        let enough = |handle| AHEAD_FACTOR * self.handle(handle).shared().bytes_in_flight_max();
        (0..self.handles()).map(enough).collect()
    }

    /// Cuts ranges so that all sessions can share in them.
    pub(crate) fn portions<R>(&self, ranges: R) -> Portions<R> {
        Portions {
            ranges,
            rest: 0..0,
            bytes_max: match self.handles() {
                1 => u64::MAX,
                _ => PORTION_BYTES,
            },
        }
    }
}

/// Of the sessions that have too few bytes under way the one that has the fewest.
pub(crate) fn least_loaded(under_way: &[u64], enough: &[u64]) -> Option<usize> {
    let handles = under_way.iter().zip(enough).enumerate();
    let free = handles.filter(|(_, (bytes, enough))| bytes < enough);
    free.min_by_key(|(_, (bytes, _))| **bytes)
        .map(|(handle, _)| handle)
}

/// Ranges, cut.
pub(crate) struct Portions<R> {
    ranges: R,
    rest: Range<u64>,
    bytes_max: u64,
}

impl<R: Iterator<Item = Range<u64>>> Iterator for Portions<R> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        while self.rest.is_empty() {
            self.rest = self.ranges.next()?;
        }
        let start = self.rest.start;
        self.rest.start = self.rest.end.min(start.saturating_add(self.bytes_max));
        Some(start..self.rest.start)
    }
}
