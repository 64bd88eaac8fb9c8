//! Time as a number, given by whoever drives a channel.

use std::time::Duration;

/// A point in time: nanoseconds since a start that the driver chose. It never runs backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// The time this many nanoseconds after the driver's start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the driver's start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This time and a duration more; the far future when it does not fit.
    pub fn after(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }

    /// How long it is from `earlier` to this time; zero when `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        let end = Time::from_nanos(u64::MAX);
        assert_eq!(end.after(Duration::from_secs(1)), end);
        assert_eq!(Time::from_nanos(5).since(end), Duration::ZERO);
        assert_eq!(
            Time::from_nanos(5)
                .after(Duration::from_nanos(3))
                .as_nanos(),
            8
        );
    }
}
