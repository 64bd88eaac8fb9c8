//! The server's times and this machine's.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// From 1601, where the server's time begins, to 1970.
const EPOCH_SECONDS: u64 = 11_644_473_600;
/// The server's unit of time is 100 ns.
const TICKS_PER_SECOND: u64 = 10_000_000;
const NANOS_PER_TICK: u32 = 100;
/// File systems that keep less keep whole seconds, or every second one.
const COARSE_TICKS: u64 = 2 * TICKS_PER_SECOND;

/// A time of the server as this machine's: of a file's times, as in
/// [`FileTimes`](crate::FileTimes). None for zero, which means that there is no time, and beyond
/// what this machine can say.
#[must_use]
pub fn of_system(ticks: u64) -> Option<SystemTime> {
    if ticks == 0 {
        return None;
    }
    let seconds = ticks / TICKS_PER_SECOND;
    let nanos = u32::try_from(ticks % TICKS_PER_SECOND).ok()? * NANOS_PER_TICK;
    let since_1601 = Duration::new(seconds, nanos);
    UNIX_EPOCH
        .checked_sub(Duration::from_secs(EPOCH_SECONDS))?
        .checked_add(since_1601)
}

/// Zero, which leaves a time as it is, for times before 1601 and after the server's last one.
pub(crate) fn of_server(time: SystemTime) -> u64 {
    let Some(begin) = UNIX_EPOCH.checked_sub(Duration::from_secs(EPOCH_SECONDS)) else {
        return 0;
    };
    let Ok(since_1601) = time.duration_since(begin) else {
        return 0;
    };
    since_1601
        .as_secs()
        .checked_mul(TICKS_PER_SECOND)
        .and_then(|ticks| ticks.checked_add((since_1601.subsec_nanos() / NANOS_PER_TICK).into()))
        .filter(|ticks| i64::try_from(*ticks).is_ok())
        .unwrap_or(0)
}

/// Whether a time may be one of a file system that keeps whole seconds.
pub(crate) fn is_whole_seconds(ticks: u64) -> bool {
    ticks.is_multiple_of(TICKS_PER_SECOND)
}

/// Whether a copy's time is that of its source, as far as its file system can keep it.
pub(crate) fn is_kept(source: u64, copy: u64) -> bool {
    let coarse = is_whole_seconds(copy)
        && source
            .checked_sub(copy)
            .is_some_and(|lost| lost < COARSE_TICKS);
    source == copy || coarse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_survive_the_way_there_and_back() {
        // 2026-11-21 12:00:00 UTC and 1234567 ticks
        let ticks = (1_795_262_400 + EPOCH_SECONDS) * TICKS_PER_SECOND + 1_234_567;
        let time = of_system(ticks).expect("it is a time");
        let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        assert_eq!(since_1970.as_secs(), 1_795_262_400);
        assert_eq!(of_server(time), ticks);
        assert_eq!(of_system(0), None);
        // 1969, and a year before the server's first one
        let moon = UNIX_EPOCH - Duration::from_secs(14_159_025);
        assert_eq!(of_system(of_server(moon)), Some(moon));
        assert_eq!(
            of_server(UNIX_EPOCH - Duration::from_secs(EPOCH_SECONDS + 1)),
            0
        );
    }

    #[test]
    fn a_file_system_that_keeps_whole_seconds_keeps_the_time() {
        let time = 1_000 * TICKS_PER_SECOND + 1;
        assert!(is_kept(time, time));
        assert!(is_kept(time, 1_000 * TICKS_PER_SECOND));
        assert!(is_kept(time, 999 * TICKS_PER_SECOND));
        assert!(!is_kept(time, 998 * TICKS_PER_SECOND));
        assert!(!is_kept(time + 1, time));
        assert!(!is_kept(time, 1_001 * TICKS_PER_SECOND));
    }
}
