//! What is lost of the rungs, and what can be the reason for so much.

use record::{Direction, HostFacts, Nic, Rung};

use super::{DIRECTIONS, Evidence, FOREIGN_SHARE, FULL, Measured, median_of};
use crate::diagnosis::ladder::of_several;
use crate::diagnosis::ladder_and_probe_trials::{Others, SPOILS};
use crate::rung_and_probe_verdict::Loss;
use crate::{LadderRung, RungName};

/// A rung that is suspected to lose before there is any verdict has less of the one above.
pub(super) const FAR_BELOW: f64 = 0.9;
/// How much slower writes are than reads, of which the same processor has as much to do, where they wait.
const WRITES_WAIT: f64 = 1.8;
/// The part of a line from which on it is the line that holds back what uses it, and little else.
const HELD: f64 = 0.75;
/// The part of a line from which on what passes it fills it: what others move is not counted in just the same time.
const FILLED: f64 = 0.85;
/// The part of what is lost from which on something that takes so much is why. A flow of work stands still while its
/// processor or its line serves others, and a little longer, until it is back to speed.
const MOST_OF_THE_LOSS: f64 = 0.75;

impl<'a> Evidence<'a> {
    /// The verdict of a rung.
    pub(in crate::diagnosis) fn loss(&self, rung: RungName, direction: Direction) -> Option<Loss> {
        self.rung(rung, direction)?.loss
    }

    /// Whether a rung is proven to lose.
    pub(in crate::diagnosis) fn loses_in(&self, rung: RungName, direction: Direction) -> bool {
        self.loss(rung, direction) == Some(Loss::Loses)
    }

    /// The same in either direction.
    pub(in crate::diagnosis) fn loses(&self, rung: RungName) -> bool {
        DIRECTIONS
            .into_iter()
            .any(|direction| self.loses_in(rung, direction))
    }

    /// Whether a rung loses, or may: where too few blocks were measured for any verdict, what is far below is suspected.
    pub(in crate::diagnosis) fn may_lose_in(&self, rung: RungName, direction: Direction) -> bool {
        let Some(rung) = self.rung(rung, direction) else {
            return false;
        };
        match (rung.loss, &rung.of_above) {
            (Some(Loss::Loses), _) => true,
            (Some(Loss::CannotTell { .. }), Some(share)) => {
                share.interval.is_none() && share.value < FAR_BELOW
            }
            _ => false,
        }
    }

    /// Whether much of a rung is missing in the middle of what was measured, though its rates differ so much that nothing
    /// is proven yet.
    pub(in crate::diagnosis) fn seems_to_lose_in(
        &self,
        rung: RungName,
        direction: Direction,
    ) -> bool {
        self.blocks_to_tell(rung, direction).is_some()
    }

    /// The same in either direction.
    pub(in crate::diagnosis) fn seems_to_lose(&self, rung: RungName) -> bool {
        DIRECTIONS
            .into_iter()
            .any(|direction| self.seems_to_lose_in(rung, direction))
    }

    /// The same where no number of trials would tell: something comes and goes.
    pub(in crate::diagnosis) fn varies_in(&self, rung: RungName, direction: Direction) -> bool {
        self.blocks_to_tell(rung, direction) == Some(None)
    }

    /// Of a rung that seems to lose: the blocks that would tell, none where no number of them would.
    fn blocks_to_tell(&self, rung: RungName, direction: Direction) -> Option<Option<usize>> {
        let rung = self.rung(rung, direction)?;
        let share = rung.of_above.as_ref()?;
        match rung.loss? {
            Loss::CannotTell { more_blocks } => {
                let [low, _] = share.interval?;
                // Where no number of trials would tell, some of them are as slow as that.
                let is_far = share.value < FAR_BELOW || (more_blocks.is_none() && low < FAR_BELOW);
                is_far.then_some(more_blocks)
            }
            Loss::Loses | Loss::DoesNotLose => None,
        }
    }

    /// Whether reads are well, and writes so much slower that no processor is what they lack: they wait for something.
    pub(in crate::diagnosis) fn writes_wait(&self) -> bool {
        let name = self.share_that_loses().1;
        let rate = |direction| self.rate(name, direction);
        let both = rate(Direction::Read).zip(rate(Direction::Write));
        both.is_some_and(|(read, write)| read > write * WRITES_WAIT)
            && self.loses_in(name, Direction::Write)
            && !self.may_lose_in(name, Direction::Read)
    }

    /// What several channels reach of all their links in a direction.
    pub(in crate::diagnosis) fn part_of_links(&self, direction: Direction) -> Option<f64> {
        let rung = self.rung(RungName::Channels, direction)?;
        Some(rung.of_above.as_ref()?.value)
    }

    /// Whether one of several links is filled in a direction while all of them are used, in most trials.
    pub(in crate::diagnosis) fn fills_a_link(&self, direction: Direction) -> bool {
        let network = of_several(&self.network);
        let of_rung =
            |trial: &&Measured| (trial.rung, trial.direction) == (Rung::Channels, direction);
        let fullest = self.trials.iter().filter(of_rung).filter_map(|trial| {
            let shares = trial.pairs.iter().filter_map(|pair| {
                let fits = network.ceiling(direction, &[vec![*pair]], None)?;
                Some(trial.carried(pair)? / 8.0 / fits.rate.value)
            });
            shares.max_by(f64::total_cmp)
        });
        median_of(fullest).is_some_and(|share| share >= FAR_BELOW)
    }

    pub(in crate::diagnosis) fn may_lose(&self, rung: RungName) -> bool {
        DIRECTIONS
            .into_iter()
            .any(|direction| self.may_lose_in(rung, direction))
    }

    /// The first rung that is proven to lose; of both directions the one that loses more.
    pub(in crate::diagnosis) fn first_loss(&self) -> Option<&LadderRung> {
        self.first_rung(|rung| rung.loss == Some(Loss::Loses))
    }

    /// The same, or else the first rung of the network or the share that may lose: a short check proves no loss.
    pub(in crate::diagnosis) fn lost(&self) -> Option<&LadderRung> {
        let may_lose = |rung: &LadderRung| {
            rung.rung != RungName::Disk && self.may_lose_in(rung.rung, rung.direction)
        };
        self.first_loss().or_else(|| self.first_rung(may_lose))
    }

    /// The rung of the share that loses: several channels where one of them is not proven to lose, and else one.
    pub(in crate::diagnosis) fn share_that_loses(&self) -> (Rung, RungName) {
        match self.first_loss().map(|lost| lost.rung) {
            Some(RungName::Channels) => (Rung::Channels, RungName::Channels),
            _ => (Rung::Share, RungName::Share),
        }
    }

    /// The first rung that is meant; of both directions the one that has less of the rung above.
    fn first_rung(&self, is_meant: impl Fn(&LadderRung) -> bool) -> Option<&LadderRung> {
        let share = |rung: &LadderRung| rung.of_above.as_ref().map_or(1.0, |it| it.value);
        let names = [
            RungName::Tcp,
            RungName::Share,
            RungName::Channels,
            RungName::SystemClient,
            RungName::Disk,
        ];
        names.into_iter().find_map(|name| {
            let rungs = self.rungs.iter();
            let rungs = rungs.filter(|rung| rung.rung == name && is_meant(rung));
            rungs.min_by(|one, two| share(one).total_cmp(&share(two)))
        })
    }

    /// Whether what takes this part of the time, or of a line, can be what is lost: who had nine tenths has not lost half of
    /// the speed by the tenth.
    pub(in crate::diagnosis) fn can_be_the_loss(&self, taken: f64) -> bool {
        let left = self.lost().and_then(|rung| rung.of_above.as_ref());
        left.is_none_or(|left| taken >= MOST_OF_THE_LOSS * (1.0 - left.value))
    }

    /// Whether what is lost can be for want of a line that is faster, or free of the other traffic, which is this share of
    /// all: what leaves much of it idle would leave more of a faster one.
    pub(in crate::diagnosis) fn is_held_by_line(&self, foreign: f64) -> bool {
        self.lost().is_none_or(|lost| {
            let ours = self.of_line(lost.direction);
            ours.is_none_or(|ours| ours >= HELD * (1.0 - foreign))
        })
    }

    /// What others move beside several channels where these lose, on the NIC at which they move most, as medians: their
    /// part of all that passes it, and by how much ours could grow. Nothing where its line is not full by both, or where it
    /// is too little to be what is lost.
    pub(in crate::diagnosis) fn foreign_traffic_of_channels(&self) -> Option<(&'a Nic, f64, f64)> {
        let lost = self.lost().filter(|rung| rung.rung == RungName::Channels)?;
        let (rate, links) = (lost.rate.as_ref()?.value, lost.ceiling.as_ref()?.value);
        let trials = self.trials.iter();
        let trials =
            trials.filter(|it| (it.rung, it.direction) == (Rung::Channels, lost.direction));
        let trials: Vec<&Measured> = trials.collect();
        let hosts = [self.network.client, self.network.server];
        let mut found: Vec<(&Nic, f64, f64, f64)> = Vec::new();
        for (end, host) in hosts.into_iter().enumerate() {
            // Which of two NICs in one subnet a connection takes is not known, and the sum of both is.
            let all = median_of(trials.iter().filter_map(|trial| trial.foreign[end]));
            let Some(host) = host.filter(|_| all.is_some_and(|share| share > SPOILS)) else {
                continue;
            };
            let full = self.filled_by_others(&trials, (end, host));
            let all: f64 = full.iter().map(|(.., rate)| rate).sum();
            let of_end = full
                .into_iter()
                .map(|(nic, share, rate)| (nic, share, rate, all));
            found.extend(of_end.filter(|_| self.can_be_the_loss(all / links)));
        }
        let most = found.into_iter().max_by(|one, two| one.2.total_cmp(&two.2));
        most.map(|(nic, share, _, all)| (nic, share, (rate + all) / rate))
    }

    /// The NICs of an end whose lines are full by what others and these trials move, as medians: the others' part of all
    /// that passes it, and their payload in bytes per second.
    fn filled_by_others(
        &self,
        trials: &[&Measured<'a>],
        (end, host): (usize, &HostFacts),
    ) -> Vec<(&'a Nic, f64, f64)> {
        let of_trials = trials.iter().flat_map(|trial| trial.others_at(end, host));
        let of_trials: Vec<Others> = of_trials.collect();
        let mut found: Vec<(&Nic, f64, f64)> = Vec::new();
        for one in &of_trials {
            let of_nic = || {
                let all = of_trials.iter();
                all.filter(|other| other.nic.index == one.nic.index)
            };
            let bits = self.network.end_bits(&one.pair)[end];
            let line = bits.map(|bits| self.network.line_payload(&one.pair, bits));
            let line = line.unwrap_or(f64::MAX);
            let full = median_of(of_nic().map(|it| (it.rate + it.ours) / line));
            let (share, rate) = (
                median_of(of_nic().map(|it| it.share)),
                median_of(of_nic().map(|it| it.rate)),
            );
            let is_new = found.iter().all(|(nic, ..)| nic.index != one.nic.index);
            if let (Some(full), Some(share), Some(rate)) = (full, share, rate)
                && (is_new && full >= FILLED && share > FOREIGN_SHARE)
            {
                found.push((one.nic, share, rate));
            }
        }
        found
    }

    /// Whether the network may have less than it should, by raw TCP or, where that was not measured, by the share.
    pub(in crate::diagnosis) fn network_may_lose(&self) -> bool {
        DIRECTIONS
            .into_iter()
            .any(|direction| match self.rate(RungName::Tcp, direction) {
                Some(_) => self.may_lose_in(RungName::Tcp, direction),
                None => {
                    self.may_lose_in(RungName::Share, direction)
                        && !self.network_carries_all(direction)
                }
            })
    }

    /// A share that was so slow that nothing came through while it was measured has lost as well.
    pub(in crate::diagnosis) fn share_may_lose(&self) -> bool {
        self.may_lose(self.share_that_loses().1)
            || (!self.is_measured(RungName::Share) && !self.is_kept_out())
    }

    /// Whether a rung has a rate in either direction.
    pub(in crate::diagnosis) fn is_measured(&self, rung: RungName) -> bool {
        let mut directions = DIRECTIONS.into_iter();
        directions.any(|direction| self.rate(rung, direction).is_some())
    }

    /// Whether the share is as good as at its ceiling in a direction.
    pub(in crate::diagnosis) fn is_full_in(&self, direction: Direction) -> bool {
        self.of_line(direction).is_none_or(|share| share >= FULL)
    }

    /// Whether the share reaches its ceiling in a direction.
    pub(in crate::diagnosis) fn fills_in(&self, direction: Direction) -> bool {
        self.of_line(direction)
            .is_some_and(|share| share >= FAR_BELOW)
    }

    /// The same in either direction.
    pub(in crate::diagnosis) fn fills(&self) -> bool {
        DIRECTIONS
            .into_iter()
            .any(|direction| self.fills_in(direction))
    }

    /// What the share has of its ceiling in a direction.
    fn of_line(&self, direction: Direction) -> Option<f64> {
        let rung = self.rung(RungName::Share, direction)?;
        rung.of_ceiling.as_ref().map(|share| share.value)
    }
}
