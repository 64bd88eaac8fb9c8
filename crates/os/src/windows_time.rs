//! Times as Windows and SMB count them: units of 100 ns since 1601 (FILETIME, MS-DTYP 2.3.3).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// From 1601 to 1970.
const EPOCH_SECONDS: u64 = 11_644_473_600;
/// Units of such a time in a second.
pub const TICKS_PER_SECOND: u64 = 10_000_000;
const NANOS_PER_TICK: u32 = 100;

/// Such a time as this machine's. None for zero, which means that there is no time, and beyond what this machine can say.
#[must_use]
pub fn to_system_time(ticks: u64) -> Option<SystemTime> {
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

/// A time of this machine as such a time: zero, which leaves a file's time unchanged, for times before 1601 and after the
/// last one of a server.
#[must_use]
pub fn from_system_time(time: SystemTime) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_survive_both_conversions() {
        // 2026-11-21 12:00:00 UTC and 1234567 ticks
        let ticks = (1_795_262_400 + EPOCH_SECONDS) * TICKS_PER_SECOND + 1_234_567;
        let time = to_system_time(ticks).expect("it is a time");
        let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        assert_eq!(since_1970.as_secs(), 1_795_262_400);
        assert_eq!(from_system_time(time), ticks);
        assert_eq!(to_system_time(0), None);
        // 1969
        let moon = UNIX_EPOCH - Duration::from_secs(14_159_025);
        assert_eq!(to_system_time(from_system_time(moon)), Some(moon));
        // A second before the first one, which Windows itself cannot say.
        let before = UNIX_EPOCH.checked_sub(Duration::from_secs(EPOCH_SECONDS + 1));
        assert_eq!(before.is_some(), crate::HAS_POSIX_FILES);
        assert_eq!(before.map_or(0, from_system_time), 0);
    }
}
