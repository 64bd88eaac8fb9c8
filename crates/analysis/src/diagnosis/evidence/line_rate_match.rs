//! Whether what is moved is what fits through a line of a standard rate.

use std::ops::RangeInclusive;

use record::{Direction, Rung};

use super::{DIRECTIONS, Evidence, Pair, has_no_line, median_of};
use crate::RungName;
use crate::diagnosis::nic_pairs::{FASTER, GOOD_BITS, SLOW_BITS};

/// Rates of lines that a hop may run at.
const RATES: [u64; 4] = [10_000_000, SLOW_BITS, GOOD_BITS, 2_500_000_000];
/// The part of the time of writing that TCP waits for the network where that is what limits.
pub(in crate::diagnosis) const NETWORK: f64 = 0.8;
/// How near what is moved must come to a line to be held by it.
const NEAR: RangeInclusive<f64> = 0.93..=1.01;
/// The same of one of several channels, which moves few blocks in the counted time.
const NEAR_OF_CHANNEL: RangeInclusive<f64> = 0.9..=1.1;

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
        self.is_between(pair, bits).then_some(bits)
    }

    /// The same of a pair that only several channels use.
    pub(in crate::diagnosis) fn line_of_channel(&self, pair: &Pair) -> Option<u64> {
        let ends = self.pair_bits(pair)?;
        let carried = |direction| {
            let trials = self.trials.iter();
            let of_all =
                trials.filter(|trial| (trial.rung, trial.direction) == (Rung::Channels, direction));
            median_of(of_all.filter_map(|trial| {
                let carried = trial.carried(pair)?;
                // What holds all of them, such as a disk, they share evenly.
                let mut others = trial.pairs.iter().filter(|other| *other != pair);
                let is_more = |other| {
                    trial
                        .carried(other)
                        .is_some_and(|it| it >= carried * FASTER)
                };
                others.any(is_more).then_some(carried)
            }))
        };
        let carried: Vec<f64> = DIRECTIONS.into_iter().filter_map(carried).collect();
        let bits = RATES.into_iter().find(|&bits| {
            let fits = self.network.line_payload(pair, bits) * 8.0;
            let is_held = |carried: &f64| NEAR_OF_CHANNEL.contains(&(carried / fits));
            bits as f64 * FASTER <= ends as f64 && carried.iter().all(is_held)
        });
        let is_both = carried.len() == DIRECTIONS.len();
        bits.filter(|bits| is_both && self.is_between(pair, *bits))
    }

    /// Whether a line of such a rate can be a hop only: a server that is not looked at may have such a NIC, and nothing is
    /// wrong about that, unless it says that it has a faster one.
    fn is_between(&self, pair: &Pair, bits: u64) -> bool {
        let said = self.network.advertisement(pair.remote);
        let says_faster = said.is_some_and(|it| it.speed.get() as f64 >= bits as f64 * FASTER);
        // A disk may be as fast as a line by chance: not while TCP waits for the network.
        let is_network = self.rate(RungName::Tcp, Direction::Read).is_some()
            || self
                .network_share(Rung::Share)
                .is_some_and(|share| share >= NETWORK);
        self.network.server.is_some() || bits <= SLOW_BITS || (says_faster && is_network)
    }
}
