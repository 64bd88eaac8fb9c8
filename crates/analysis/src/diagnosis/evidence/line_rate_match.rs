//! Whether what is moved is what fits through a line of a standard rate.

use std::ops::RangeInclusive;

use record::Direction;

use super::{DIRECTIONS, Evidence, Pair, has_no_line};
use crate::RungName;
use crate::diagnosis::nic_pairs::{FASTER, GOOD_BITS, SLOW_BITS};

/// Rates of lines that a hop may run at.
const RATES: [u64; 4] = [10_000_000, SLOW_BITS, GOOD_BITS, 2_500_000_000];
/// How near what is moved must come to a line to be held by it.
const NEAR: RangeInclusive<f64> = 0.93..=1.01;

impl Evidence<'_> {
    /// Whether a direction moves what just fits through a line.
    pub(in crate::diagnosis) fn moves_as(
        &self,
        pair: &Pair,
        direction: Direction,
        bits: u64,
    ) -> bool {
        let measured = self
            .rate(RungName::Tcp, direction)
            .or_else(|| self.rate(RungName::Share, direction));
        measured.is_some_and(|rate| NEAR.contains(&(rate / self.network.line_payload(pair, bits))))
    }

    /// The rate of the line, slower than both ends of a pair, that just fits what moves there in both directions: a
    /// hop that is out of sight.
    pub(in crate::diagnosis) fn line_between(&self, pair: &Pair) -> Option<u64> {
        if has_no_line(pair.near) {
            return None;
        }
        let bits = RATES.into_iter().find(|&bits| {
            let most = self.network.line_payload(pair, bits) * FASTER;
            DIRECTIONS.into_iter().all(|direction| {
                let ceiling = self.ceiling(direction);
                self.moves_as(pair, direction, bits)
                    && ceiling.is_some_and(|ceiling| ceiling > most)
            })
        })?;
        // A server that is not looked at may have such a NIC, and nothing is wrong about that.
        let is_known = self.network.server.is_some() || bits <= SLOW_BITS;
        is_known.then_some(bits)
    }
}
