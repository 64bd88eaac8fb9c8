//! Whether what is moved is what fits through a line of a standard rate.

use std::ops::RangeInclusive;

use record::{Direction, ProbeKind, Rung, Workload};

use super::{DIRECTIONS, Evidence, Pair, has_no_line, median_of};
use crate::RungName;
use crate::diagnosis::nic_pairs::{FASTER, GOOD_BITS, SLOW_BITS};
use crate::rung_and_probe_verdict::Loss;

/// Rates of lines that a hop may run at.
const RATES: [u64; 4] = [10_000_000, SLOW_BITS, GOOD_BITS, 2_500_000_000];
/// The part of the time of writing that TCP waits for the network where that is what limits.
pub(in crate::diagnosis) const NETWORK: f64 = 0.8;
/// The part of what several channels move that each link has at least where they share one line.
const EVEN: f64 = 0.2;
/// The part of what a reader asked for that waits in the network where that is what limits.
const QUEUED: f64 = 0.25;
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

    /// The rate of the line that just fits what is read while much of it is in a queue of the network: writing, which gets
    /// less than that line carries, lacks something else as well.
    pub(in crate::diagnosis) fn line_of_queue(&self, pair: &Pair) -> Option<u64> {
        self.queued_while_reading()?;
        if has_no_line(pair.near) || self.slower_return_path().is_some() {
            return None;
        }
        let write = self.rate(RungName::Share, Direction::Write)?;
        let said = self.network.advertisement(pair.remote)?;
        let ceiling = self.ceiling(Direction::Read)?;
        RATES.into_iter().find(|&bits| {
            let fits = self.network.line_payload(pair, bits);
            self.moves_as(pair, Direction::Read, bits)
                && ceiling > fits * FASTER
                && write < fits * *NEAR.start()
                && said.speed.get() as f64 >= bits as f64 * FASTER
        })
    }

    /// How long what is read waits in a queue of the network, in seconds, where a part of all that was asked for is there
    /// (its rate times its wait: Little's law): our own segments take far longer than the path is long, since what
    /// acknowledges them waits behind the server's data. A slow server leaves no queue.
    pub(in crate::diagnosis) fn queued_while_reading(&self) -> Option<f64> {
        let trials = self.trials.iter();
        let reads =
            trials.filter(|trial| (trial.rung, trial.direction) == (Rung::Share, Direction::Read));
        let queued = reads.filter_map(|trial| {
            let Workload::Share(share) = trial.workload else {
                return None;
            };
            let [connection] = trial.result.connections.as_slice() else {
                return None;
            };
            let path = connection.tcp?.round_trip_min.get();
            let wait = connection.round_trip?.get().saturating_sub(path) as f64 / 1e9;
            let asked = share.block.get() as f64 * f64::from(share.depth);
            (asked > 0.0).then(|| (trial.rate * wait / asked, wait))
        });
        let queued: Vec<(f64, f64)> = queued.collect();
        let part = median_of(queued.iter().map(|(part, _)| *part))?;
        let overtaken = self.overtaken(Rung::Share);
        let is_lossy = overtaken.is_some_and(|share| share > 0.001);
        let is_limit = self.network_may_limit(Direction::Read) && part >= QUEUED && !is_lossy;
        median_of(queued.iter().map(|(_, wait)| *wait)).filter(|_| is_limit)
    }

    /// Where raw TCP was not measured and the share loses, unless two sessions overcome it: that is a limit of each.
    pub(in crate::diagnosis) fn network_may_limit(&self, direction: Direction) -> bool {
        let is_measured = self.rate(RungName::Tcp, direction).is_some();
        let sessions = self.probed(ProbeKind::Sessions, Rung::Share);
        let gains = sessions.is_some_and(|it| it.loss == Loss::Loses);
        !is_measured && !gains && self.may_lose_in(RungName::Share, direction)
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

    /// The rate of the one line that just fits what several channels move together, in both directions, over links that
    /// could carry more and of which none moves much less than the others: they may meet in it. NICs in one subnet, and
    /// parts of one, have other reasons.
    pub(in crate::diagnosis) fn line_of_all_channels(&self) -> Option<u64> {
        let trials = self.trials.iter();
        let trials = trials.filter(|trial| trial.rung == Rung::Channels);
        let least = median_of(trials.clone().map(|trial| {
            let carried = trial.pairs.iter().filter_map(|pair| trial.carried(pair));
            carried.fold(f64::MAX, f64::min) / (trial.rate * 8.0)
        }))?;
        let pairs: Vec<&Pair> = trials.flat_map(|trial| &trial.pairs).collect();
        let shares_a_subnet = |pair: &Pair| {
            let mut others = pairs.iter().filter(|other| other.remote != pair.remote);
            others.any(|other| {
                let mut ours = pair.near.addresses.iter();
                ours.any(|entry| entry.contains(other.remote))
            })
        };
        let mut all = pairs.iter();
        let is_other = |pair: &&Pair| {
            has_no_line(pair.near) || pair.is_part_of_a_link() || shares_a_subnet(pair)
        };
        if least < EVEN || all.any(is_other) {
            return None;
        }
        let pair = pairs.first()?;
        RATES.into_iter().find(|&bits| {
            let fits = self.network.line_payload(pair, bits);
            let is_no_more = |rung, direction| {
                let rate = self.rate(rung, direction);
                rate.is_none_or(|rate| rate <= fits * *NEAR.end())
            };
            DIRECTIONS.into_iter().all(|direction| {
                let rung = self.rung(RungName::Channels, direction);
                let rates = rung.and_then(|rung| rung.rate.as_ref().zip(rung.ceiling.as_ref()));
                rates.is_some_and(|(rate, links)| {
                    NEAR.contains(&(rate.value / fits)) && links.value > fits * FASTER
                }) && is_no_more(RungName::Tcp, direction)
                    && is_no_more(RungName::Share, direction)
            })
        })
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
