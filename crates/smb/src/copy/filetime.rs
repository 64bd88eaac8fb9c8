//! Times of a copy and of its source, as servers count them ([`os::windows_time`]).

use os::windows_time::TICKS_PER_SECOND;

/// File systems that keep less keep whole seconds, or every second one.
const COARSE_TICKS: u64 = 2 * TICKS_PER_SECOND;

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
