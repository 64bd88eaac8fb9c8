//! How much to have under way: enough for the path, and no more. What waits in the queue of a slow
//! link cannot be done by a faster one, and at the end everybody waits for it.

use std::time::Duration;

use crate::monotonic_time::Time;
use crate::session::SessionSettings;

/// A channel takes no more than it delivers in this time: less than anybody notices at the end of
/// a transfer, and much more than a server on the same network needs.
const AHEAD: Duration = Duration::from_millis(200);
/// On a long path it takes more than was asked for, up to so many times as much.
const GROWTH_MAX: u64 = 2;
/// The least that is asked for at once.
const PIECE_MIN: u64 = 1 << 16;

pub(super) struct Depth {
    /// It does not adapt.
    fixed: bool,
    /// As it was asked for.
    bytes: u64,
    requests_max: usize,
    /// READs and WRITEs under way.
    in_flight_bytes: u64,
    in_flight: usize,
    /// What it delivers, in bytes per second.
    rate: Option<u64>,
    /// The least time from a request to its answer.
    round_trip: Option<Duration>,
    /// What was delivered since when.
    measured_bytes: u64,
    measured_since: Option<Time>,
}

impl Depth {
    pub(super) fn new(settings: &SessionSettings) -> Self {
        Self {
            fixed: settings.depth_fixed,
            bytes: settings.depth_bytes_max,
            requests_max: settings.depth_requests_max,
            in_flight_bytes: 0,
            in_flight: 0,
            rate: None,
            round_trip: None,
            measured_bytes: 0,
            measured_since: None,
        }
    }

    /// READs and WRITEs under way.
    pub(super) fn requests(&self) -> usize {
        self.in_flight
    }

    /// Their payload.
    pub(super) fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// Whether as much is under way as may be.
    pub(super) fn is_reached(&self) -> bool {
        let (bytes, times) = self.limit();
        self.in_flight_bytes >= bytes || self.in_flight >= self.requests_max * times
    }

    /// Most bytes under way, and how many times the number of requests that were asked for.
    fn limit(&self) -> (u64, usize) {
        if self.fixed {
            return (self.bytes, 1);
        }
        // a server may be slow to answer however little is asked for, and then less is only slower;
        // half of this also suffices to find out
        let least = (self.bytes / 4).max(2 * PIECE_MIN).min(self.bytes);
        let Some(rate) = self.rate else {
            return (least, 1);
        };
        let ahead = delivered_in(rate, AHEAD);
        // twice, so that a rate that this very limit bounds can grow
        let path = delivered_in(rate, self.round_trip.unwrap_or_default() * 2);
        let most = self.bytes.saturating_mul(GROWTH_MAX);
        let limit = ahead.min(self.bytes).max(path).clamp(least, most);
        (
            limit,
            if limit > self.bytes {
                GROWTH_MAX as usize
            } else {
                1
            },
        )
    }

    /// Most bytes of one READ: at least two are under way.
    pub(super) fn piece(&self) -> u32 {
        if self.fixed {
            return u32::MAX;
        }
        let half = (self.limit().0 / 2).next_multiple_of(PIECE_MIN);
        u32::try_from(half).unwrap_or(u32::MAX)
    }

    /// A request leaves; a READ or WRITE of so many bytes, or none of them.
    pub(super) fn sent(&mut self, bytes: u32, now: Time) {
        if bytes == 0 {
            return;
        }
        if self.in_flight == 0 {
            self.measured_bytes = 0;
            self.measured_since = Some(now);
        }
        self.in_flight_bytes += u64::from(bytes);
        self.in_flight += 1;
    }

    /// The same request was answered.
    pub(super) fn answered(&mut self, bytes: u32, took: Duration, now: Time) {
        if !took.is_zero() {
            self.round_trip = Some(self.round_trip.map_or(took, |least| least.min(took)));
        }
        if bytes > 0 {
            self.delivered(bytes.into(), now);
            self.in_flight_bytes -= u64::from(bytes);
            self.in_flight -= 1;
        }
    }

    /// So many bytes of READs and WRITEs have come or were taken.
    fn delivered(&mut self, bytes: u64, now: Time) {
        self.measured_bytes += bytes;
        let Some(since) = self.measured_since else {
            return;
        };
        let elapsed = now.since(since);
        if self.measured_bytes < self.limit().0 / 2 || elapsed.is_zero() {
            return;
        }
        let rate = u128::from(self.measured_bytes) * 1_000_000_000 / elapsed.as_nanos();
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        // a link that has become slow is believed at once, one that has become fast by and by
        let believed = |before: u64| rate.min(before / 2 + rate / 2);
        self.rate = Some(self.rate.map_or(rate, believed));
        self.measured_bytes = 0;
        self.measured_since = Some(now);
    }
}

fn delivered_in(rate: u64, time: Duration) -> u64 {
    let bytes = u128::from(rate) * time.as_nanos() / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A channel whose path delivers so much in a second, after a while.
    fn at_rate(bytes_per_second: u64, round_trip: Duration) -> Depth {
        let mut depth = depth(false);
        let mut now = Time::from_nanos(1);
        depth.answered(0, round_trip, now);
        depth.sent(64 * 1024, now);
        for _ in 0..1000 {
            // no more than what is under way comes back in a round trip
            let possible = bytes_per_second.min(
                delivered_in(depth.limit().0, Duration::from_secs(1)) * 1_000_000_000
                    / u64::try_from(round_trip.as_nanos()).expect("short"),
            );
            let time = Duration::from_nanos(64 * 1024 * 1_000_000_000 / possible);
            now = now.after(time);
            // there is always another one under way
            depth.sent(64 * 1024, now);
            depth.answered(64 * 1024, Duration::ZERO, now);
        }
        depth
    }

    /// As much as 8 MiB or 4 requests.
    fn depth(fixed: bool) -> Depth {
        Depth::new(&SessionSettings {
            depth_bytes_max: 8 * MIB,
            depth_requests_max: 4,
            depth_fixed: fixed,
            ..SessionSettings::new("server", [0; 16])
        })
    }

    #[test]
    fn it_is_reached_by_bytes_or_by_requests() {
        let now = Time::from_nanos(1);
        for (bytes, count) in [(4 << 20, 2), (1 << 16, 4)] {
            let mut depth = depth(true);
            for _ in 1..count {
                depth.sent(bytes, now);
                assert!(!depth.is_reached(), "{bytes}");
            }
            // what is no READ or WRITE does not count
            depth.sent(0, now);
            depth.sent(bytes, now);
            assert!(depth.is_reached() && depth.requests() == count);
            depth.answered(bytes, Duration::ZERO, now);
            assert!(!depth.is_reached());
        }
    }

    #[test]
    fn a_slow_link_takes_little_and_a_fast_one_all() {
        let short = Duration::from_micros(300);
        let gigabit = at_rate(117_000_000, short);
        assert_eq!(gigabit.limit(), (8 * MIB, 1));
        assert_eq!(u64::from(gigabit.piece()), 4 * MIB);
        let tenth = at_rate(11_700_000, short);
        let (bytes, _) = tenth.limit();
        assert!((2_200_000..2_400_000).contains(&bytes), "{bytes}");
        assert!(u64::from(tenth.piece()) <= bytes / 2 + PIECE_MIN);
    }

    #[test]
    fn a_long_path_takes_more() {
        let far = at_rate(117_000_000, Duration::from_millis(100));
        let (bytes, times) = far.limit();
        assert!(bytes > 11_700_000, "{bytes}");
        assert_eq!((bytes <= 16 * MIB, times), (true, 2));
    }

    #[test]
    fn what_is_fixed_stays() {
        let mut depth = depth(true);
        depth.sent(8 << 20, Time::from_nanos(0));
        depth.answered(8 << 20, Duration::ZERO, Time::from_nanos(1 << 40));
        assert_eq!(depth.limit(), (8 * MIB, 1));
    }
}
