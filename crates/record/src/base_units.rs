//! Base units as newtypes. Scaling and unit names happen where people read, in `report`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
            Deserialize, JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(u64);

        impl $name {
            /// Wraps a count of the base unit.
            #[must_use]
            pub const fn new(count: u64) -> Self {
                Self(count)
            }

            /// The count of the base unit.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }
        }

        impl std::ops::Add for $name {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(Self(0), |total, value| total + value)
            }
        }
    };
}

unit!(
    /// A count of bytes.
    Bytes
);
unit!(
    /// A time or a span of time in nanoseconds.
    Nanoseconds
);
unit!(
    /// A line rate in bits per second, as it stands on the box (a 1 GbE link is 1 000 000 000).
    BitsPerSecond
);

impl From<Duration> for Nanoseconds {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanoseconds> for Duration {
    fn from(span: Nanoseconds) -> Self {
        Self::from_nanos(span.0)
    }
}
