//! What is measured next: a pure function of the run so far.

mod workload;

pub use workload::{stream_bytes, system_client_workload};

use std::time::Duration;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use record::{
    Direction, HostFacts, Outcome, PathFacts, ProbeKind, Rung, ShareWorkload, Stage, TcpWorkload,
    TrialRecord, Workload,
};

use super::cause_table::{CAUSES, CauseId, Judged, Layer, Prove, judge, rung_of, says};
use super::evidence::Evidence;
use super::ladder::DIRECTIONS;
use super::ladder_and_probe_trials::{USES_OF_SYSTEM, is_of_system};
use super::probe_estimates;
use crate::rung_and_probe_verdict::{ANALYSIS_BLOCKS, Loss, Sequential, goes_on};
use crate::{RungName, State};

/// How thorough a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The ladder only.
    Quick,
    /// At most two minutes.
    Normal,
    /// At most ten.
    Thorough,
}

/// What a check may take, and what it has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How thorough it is.
    pub mode: Mode,
    /// Since it began.
    pub spent: Duration,
}

/// What the caller knows of how to measure.
#[derive(Clone, Debug)]
pub struct CheckBase {
    /// Raw TCP of one stream, or why it cannot be measured. Its direction does not matter.
    pub tcp: Result<TcpWorkload, String>,
    /// The share through one channel. Its direction does not matter.
    pub share: ShareWorkload,
    /// The most channels that are worth a try; 1 where there is one pair of NICs only.
    pub channels: u32,
    /// Whether nothing may be written to the share.
    pub read_only: bool,
    /// The folder of the client that copies go to, where one was asked for.
    pub folder: Option<String>,
    /// Further rungs of the ladder.
    pub more: Vec<Rung>,
    /// The most rounds of the ladder; none for as many as its verdicts take. Fewer than four give no verdict.
    pub rounds: Option<u32>,
    /// The folder of the client at which the system's own client has that place of the share mounted.
    pub mounted: Option<String>,
    /// Other addresses of ours by which the server can be reached.
    pub sources: Vec<std::net::IpAddr>,
}

/// What a block of trials is to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Which rung loses.
    Ladder,
    /// Whether a cause is what loses.
    Cause(CauseId),
    /// What kind of limit it is that loses.
    Splitter(ProbeKind),
    /// Whether several causes hide each other.
    Reliefs,
}

/// A block of trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Next {
    /// What it is to tell, for people who wait.
    pub why: Purpose,
    /// The trials in their order, which is random.
    pub trials: Vec<(Stage, Workload)>,
}

/// The longest that a check takes where nothing loses.
const WELL: Duration = Duration::from_secs(45);
/// The same where something does.
const NORMAL: Duration = Duration::from_secs(120);
/// The same where there is time.
const THOROUGH: Duration = Duration::from_secs(600);
/// What a trial takes in addition to its timing: a login, a file.
const OVERHEAD: Duration = Duration::from_millis(150);
/// Rounds of the rungs that are measured once more only.
const MORE_ROUNDS: usize = 2;
/// Arms of a block besides its control.
const ARMS: usize = 3;

/// The next block of trials that would change what can be said; none where nothing would, or time is over.
///
/// `seed` is that of the run: the same run so far gives the same block.
#[must_use]
pub fn next(
    facts: &[HostFacts],
    path: Option<&PathFacts>,
    trials: &[&TrialRecord],
    base: &CheckBase,
    budget: &Budget,
    seed: u64,
) -> Option<Next> {
    // Through a black hole nothing can be measured.
    if path.is_some_and(|path| {
        path.mtus
            .first()
            .is_some_and(record::MtuProof::is_black_hole)
    }) {
        return None;
    }
    let seen = Evidence::new(facts, path, trials);
    let round = seen.records.iter().map(|(_, trial)| match trial.stage {
        Stage::Ladder { repetition, .. } => repetition + 1,
        _ => 0,
    });
    let round = round.max().unwrap_or(0);
    let random = ChaCha8Rng::seed_from_u64(seed ^ (trials.len() as u64) << 32);
    let plan = Plan {
        seen: &seen,
        trials,
        base,
        budget,
        round,
    };
    let block = plan
        .ladder()
        .or_else(|| plan.probes())
        .or_else(|| plan.uses_of_system())
        .or_else(|| plan.probes_of_programs())?;
    Some(plan.in_order(block, random))
}

/// A block whose order is not fixed yet.
struct Block {
    why: Purpose,
    /// What each measures: its rung, its intervention and its direction.
    arms: Vec<(Rung, Option<ProbeKind>, Direction)>,
}

/// An intervention that may tell something.
#[derive(Clone, Copy)]
struct Intervention {
    /// What is suspected; none for what tells what kind of limit it is.
    cause: Option<CauseId>,
    kind: ProbeKind,
    /// Where it is measured.
    rung: Rung,
}

struct Plan<'p, 'a> {
    seen: &'p Evidence<'a>,
    /// Those so far.
    trials: &'p [&'a TrialRecord],
    base: &'p CheckBase,
    budget: &'p Budget,
    round: u32,
}

impl Plan<'_, '_> {
    /// Whether so many more trials fit into the time.
    fn has_time(&self, trials: usize) -> bool {
        let rungs = [
            RungName::Tcp,
            RungName::Share,
            RungName::Channels,
            RungName::SystemClient,
        ];
        let may_lose = self.seen.first_loss().is_some()
            || rungs.into_iter().any(|rung| self.seen.seems_to_lose(rung));
        self.fits(trials, self.most(may_lose))
    }

    /// The longest that a check takes, where there is something to find out or not.
    const fn most(&self, has_questions: bool) -> Duration {
        match (self.budget.mode, has_questions) {
            (Mode::Quick, _) | (Mode::Normal, false) => WELL,
            (Mode::Normal, true) => NORMAL,
            (Mode::Thorough, _) => THOROUGH,
        }
    }

    /// Whether so many more trials are done before a moment.
    fn fits(&self, trials: usize, most: Duration) -> bool {
        let timing = self.base.share.timing;
        let least = Duration::from_nanos(timing.warm_up.get() + timing.measured.get()) + OVERHEAD;
        let one = least.max(self.mean_of_trials());
        let needed = one * u32::try_from(trials).unwrap_or(u32::MAX);
        self.budget.spent + needed <= most
    }

    /// What a trial took so far, with all that goes on between trials: over a slow path logins and small files take their
    /// time too.
    fn mean_of_trials(&self) -> Duration {
        let [first, .., last] = self.trials else {
            return Duration::ZERO;
        };
        let nanoseconds = last.ended.get().saturating_sub(first.started.get());
        Duration::from_nanos(nanoseconds) / u32::try_from(self.trials.len()).unwrap_or(u32::MAX)
    }

    /// A round of the rungs that are not decided, with what they are held against. Until the first look nothing else
    /// takes its time; the further rungs follow.
    fn ladder(&self) -> Option<Block> {
        let round = self.round as usize;
        let last = ANALYSIS_BLOCKS[ANALYSIS_BLOCKS.len() - 1];
        let last = self
            .base
            .rounds
            .map_or(last, |rounds| last.min(rounds as usize));
        let first = ANALYSIS_BLOCKS[0].min(last);
        let decisive = match round < last {
            true => self.decisive_arms(),
            false => Vec::new(),
        };
        let further = match round < first && !decisive.is_empty() {
            true => Vec::new(),
            false => self.further_arms(),
        };
        let both = [&decisive[..], &further[..]].concat();
        let choices = [both, decisive, further];
        let arms = choices.into_iter().find(|arms| {
            // Without a first look there is no verdict at all.
            let is_owed = round < first && self.fits(arms.len(), NORMAL);
            !arms.is_empty() && (round == 0 || is_owed || self.has_time(arms.len()))
        })?;
        Some(Block {
            why: Purpose::Ladder,
            arms,
        })
    }

    /// The rungs that verdicts come from, as far as these are open.
    fn decisive_arms(&self) -> Vec<(Rung, Option<ProbeKind>, Direction)> {
        let mut arms = Vec::new();
        for direction in DIRECTIONS {
            let is_open = |rung: Rung, name: RungName| {
                self.can_run(rung, direction) && self.is_open(name, direction)
            };
            let share = is_open(Rung::Share, RungName::Share);
            let channels = self.base.more.contains(&Rung::Channels)
                && self.can_run(Rung::Channels, direction)
                && (self.rounds_of(Rung::Channels) < ANALYSIS_BLOCKS[0]
                    || self.may_be_decided(RungName::Channels, direction));
            let system = is_open(Rung::SystemClient, RungName::SystemClient);
            let channels = channels || (system && self.can_run(Rung::Channels, direction));
            // The share is held against raw TCP of the same round, several channels against one, and the system's own
            // client against both.
            let tcp =
                self.can_run(Rung::Tcp, direction) && (is_open(Rung::Tcp, RungName::Tcp) || share);
            let one = share || ((channels || system) && self.can_run(Rung::Share, direction));
            arms.extend(tcp.then_some((Rung::Tcp, None, direction)));
            arms.extend(one.then_some((Rung::Share, None, direction)));
            arms.extend(channels.then_some((Rung::Channels, None, direction)));
            arms.extend(system.then_some((Rung::SystemClient, None, direction)));
        }
        arms
    }

    /// The rungs that are measured twice and decide nothing above them.
    fn further_arms(&self) -> Vec<(Rung, Option<ProbeKind>, Direction)> {
        let rungs = self.base.more.iter().copied();
        self.twice(rungs.filter(|rung| *rung != Rung::Channels))
    }

    /// What programs and copies get of the system's own client: it finds no limit, and comes when all else is said.
    fn uses_of_system(&self) -> Option<Block> {
        if self.budget.mode == Mode::Quick {
            return None;
        }
        let mut arms = self.twice(USES_OF_SYSTEM.into_iter());
        arms.retain(|(rung, _, direction)| self.workload(*rung, None, *direction).is_some());
        (!arms.is_empty() && self.fits(arms.len(), self.most(true))).then_some(Block {
            why: Purpose::Ladder,
            arms,
        })
    }

    /// Those that were not measured twice yet, in the directions in which they can be.
    fn twice(
        &self,
        rungs: impl Iterator<Item = Rung>,
    ) -> Vec<(Rung, Option<ProbeKind>, Direction)> {
        let open = rungs.filter(|rung| self.rounds_of(*rung) < MORE_ROUNDS);
        open.flat_map(|rung| {
            let directions = DIRECTIONS.into_iter();
            let can = directions.filter(move |direction| self.can_run(rung, *direction));
            can.map(move |direction| (rung, None, direction))
        })
        .collect()
    }

    /// Rounds of a rung so far, measured or not.
    fn rounds_of(&self, rung: Rung) -> usize {
        let records = self.seen.records.iter().filter(|(of, _)| *of == rung);
        let mut rounds: Vec<u32> = records
            .filter_map(|(_, trial)| match trial.stage {
                Stage::Ladder { repetition, .. } => Some(repetition),
                _ => None,
            })
            .collect();
        rounds.sort_unstable();
        rounds.dedup();
        rounds.len()
    }

    /// Whether more rounds may decide a rung: before the first look, or where a later one would.
    fn is_open(&self, name: RungName, direction: Direction) -> bool {
        (self.round as usize) < ANALYSIS_BLOCKS[0] || self.may_be_decided(name, direction)
    }

    /// Whether a later look may decide a rung.
    fn may_be_decided(&self, name: RungName, direction: Direction) -> bool {
        match self.seen.loss(name, direction) {
            Some(Loss::CannotTell { more_blocks }) => more_blocks.is_some(),
            Some(Loss::Loses | Loss::DoesNotLose) | None => false,
        }
    }

    /// Whether a rung exists in a direction, is allowed, and did not fail for good.
    fn can_run(&self, rung: Rung, direction: Direction) -> bool {
        let writes = direction == Direction::Write;
        let exists = match rung {
            Rung::Tcp | Rung::Streams => true,
            Rung::Share => !writes || !self.base.read_only,
            Rung::Channels => self.base.channels > 1 && (!writes || !self.base.read_only),
            Rung::SystemClient | Rung::SystemProgram | Rung::SystemCopy => {
                self.base.mounted.is_some() && (!writes || !self.base.read_only)
            }
            Rung::RoundTrip | Rung::Disk | Rung::Copy => !writes,
            Rung::SmallFiles => !self.base.read_only,
        };
        let is_hopeless = |trial: &TrialRecord| match &trial.outcome {
            Outcome::Measured(_) => false,
            Outcome::Failed(failure) => matches!(
                failure.kind,
                record::FailureKind::Usage
                    | record::FailureKind::Refused
                    | record::FailureKind::LoginRefused
                    | record::FailureKind::Unreachable
            ),
        };
        let mut tried = self.seen.records.iter();
        let failed = tried.any(|(of, trial)| {
            *of == rung && trial.workload.direction() == direction && is_hopeless(trial)
        });
        exists && !failed
    }

    /// What is not known yet of a loss: the suspects by what they may cost, and splitters of what kind of limit it is.
    fn probes(&self) -> Option<Block> {
        if self.budget.mode == Mode::Quick {
            return None;
        }
        let lost = self.seen.first_loss()?;
        let (rung, direction) = match lost.rung {
            RungName::Tcp => (Rung::Tcp, lost.direction),
            RungName::Share => (Rung::Share, lost.direction),
            RungName::Channels => (Rung::Channels, lost.direction),
            RungName::SystemClient => (Rung::SystemClient, lost.direction),
            _ => return None,
        };
        // What loses the most is asked of first; what the other direction loses may have another reason, and of a mount
        // each has options of its own.
        let also = DIRECTIONS.into_iter().filter(|other| {
            let may_lose = self.seen.mount_may_lose_in(*other);
            *other != direction && rung == Rung::SystemClient && may_lose
        });
        let mut directions = std::iter::once(direction).chain(also);
        directions.find_map(|direction| self.probes_in(rung, direction))
    }

    /// The same of one rung in one direction.
    fn probes_in(&self, rung: Rung, direction: Direction) -> Option<Block> {
        let wanted = self.wanted(rung, direction);
        let arms = self.arms(&wanted, rung, direction);
        let asks_suspects = arms.iter().any(|arm| arm.cause.is_some());
        if rung == Rung::Tcp && !asks_suspects {
            // Some of what raw TCP may lose by can be changed for the share's connection only, which takes the same
            // path. It says more of a suspect than what splits limits into kinds.
            let suspects = wanted.into_iter().filter(|one| one.cause.is_some());
            let suspects: Vec<_> = suspects.collect();
            let of_path = self.arms(&suspects, Rung::Share, direction);
            if !of_path.is_empty() {
                return self.block(&of_path, Rung::Share, direction);
            }
        }
        self.block(&arms, rung, direction)
    }

    /// What may cost programs alone: not what the system's own client can, and so no loss of a rung.
    fn probes_of_programs(&self) -> Option<Block> {
        if self.budget.mode == Mode::Quick {
            return None;
        }
        let rung = Rung::SystemProgram;
        let blocks = DIRECTIONS.into_iter().filter_map(|direction| {
            self.seen.left_of_program(direction)?;
            let arms = self.arms(&self.wanted(rung, direction), rung, direction);
            block(&arms, rung, direction)
        });
        let mut blocks = blocks.filter(|block| self.fits(block.arms.len(), self.most(true)));
        blocks.next()
    }

    /// Those of the interventions that are measured at a rung, and may change what is said.
    fn arms(&self, wanted: &[Intervention], rung: Rung, direction: Direction) -> Vec<Intervention> {
        let (arms, of) = (wanted.iter().copied(), (rung, direction));
        arms.filter(|one| one.rung == rung)
            .filter(|one| self.workload(rung, Some(one.kind), direction).is_some())
            .filter(|one| !probe_estimates::is_impossible(&self.seen.probes, one.kind, of))
            .filter(|one| self.is_undecided(*one, direction))
            .take(match (rung, self.seen.second_mount_works()) {
                // What is refused once is refused each time: no login more than it takes to know.
                (Rung::SystemClient | Rung::SystemProgram, None) => 1,
                (Rung::SystemClient | Rung::SystemProgram, Some(false)) => 0,
                _ => ARMS,
            })
            .collect()
    }

    fn block(&self, arms: &[Intervention], rung: Rung, direction: Direction) -> Option<Block> {
        block(arms, rung, direction).filter(|block| self.has_time(block.arms.len()))
    }

    /// The interventions that may tell something, the most promising first, each once.
    fn wanted(&self, rung: Rung, direction: Direction) -> Vec<Intervention> {
        let mut suspects: Vec<Judged> = judge(self.seen)
            .into_iter()
            .filter(|one| one.row.layer != Layer::Rest && one.finding.reach.is_on_path())
            .collect();
        suspects.sort_by(|one, two| two.finding.gain_max.total_cmp(&one.finding.gain_max));
        let is_proven = suspects
            .iter()
            .any(|one| matches!(one.state, State::Proven(_)));
        let of_suspects = suspects
            .iter()
            .filter(|one| one.state == State::Suspected && !one.finding.is_far)
            .flat_map(|one| {
                one.row.probes.iter().map(|(kind, _)| Intervention {
                    cause: Some(one.row.id),
                    kind: *kind,
                    rung: rung_of(*kind, one.finding.is_of_programs, self.seen),
                })
            });
        // What a counter proves needs no splitting.
        let is_split = !is_proven || is_of_system(rung);
        let splitters = splitters(rung, direction).iter().filter(|_| is_split);
        let splitter = |kind| Intervention {
            cause: None,
            kind,
            rung: rung_of(kind, rung == Rung::SystemProgram, self.seen),
        };
        let mut wanted: Vec<Intervention> = Vec::new();
        for one in of_suspects.chain(splitters.copied().map(splitter)) {
            let is_same = |known: &Intervention| (known.kind, known.rung) == (one.kind, one.rung);
            if !wanted.iter().any(is_same) {
                wanted.push(one);
            }
        }
        let nothing_gains = wanted.iter().all(|one| !self.is_undecided(*one, direction))
            && !wanted.iter().any(|one| {
                let found = self.found(*one, direction);
                found.is_some_and(|found| found.loss == Loss::Loses)
            });
        // Where two limits are alike, taking one away gains nothing.
        let is_of_share = matches!(rung, Rung::Share | Rung::Channels);
        if nothing_gains && is_of_share && !is_proven {
            wanted.push(splitter(ProbeKind::AllReliefs));
        }
        wanted
    }

    fn found(&self, one: Intervention, direction: Direction) -> Option<Sequential> {
        self.seen.probed_in(one.kind, one.rung, direction)
    }

    /// Whether another block may change what an intervention says.
    fn is_undecided(&self, one: Intervention, direction: Direction) -> bool {
        let Some(found) = self.found(one, direction) else {
            return true;
        };
        let row = one.cause;
        let row = row.and_then(|cause| CAUSES.iter().find(|row| row.id == cause));
        let prove = row.and_then(|row| row.probes.iter().find(|(of, _)| *of == one.kind));
        match prove {
            // What costs something is decided where it costs enough, and not only where it gains nothing.
            Some((_, prove @ Prove::Burden(_))) => {
                says(*prove, &found).is_none() && found.ratio.n < ANALYSIS_BLOCKS[1]
            }
            _ => goes_on(Some(&found)),
        }
    }

    fn in_order(&self, mut block: Block, mut random: ChaCha8Rng) -> Next {
        block.arms.shuffle(&mut random);
        let probes = self.seen.probes.iter();
        let number = probes.map(|trial| trial.block + 1).max().unwrap_or(0);
        let is_ladder = block.why == Purpose::Ladder;
        let trials = (0..).zip(&block.arms).filter_map(|(position, arm)| {
            let (rung, changed, direction) = *arm;
            let stage = match is_ladder {
                true => Stage::Ladder {
                    rung,
                    repetition: self.round,
                },
                false => Stage::Probe {
                    rung,
                    block: number,
                    position,
                    changed,
                },
            };
            Some((stage, self.workload(rung, changed, direction)?))
        });
        Next {
            why: block.why,
            trials: trials.collect(),
        }
    }
}

/// What tells what kind of limit a rung loses by.
const fn splitters(rung: Rung, direction: Direction) -> &'static [ProbeKind] {
    match (rung, direction) {
        (Rung::SystemClient | Rung::SystemProgram, _) => &[ProbeKind::MountOptions],
        (Rung::Tcp, _) => &[ProbeKind::Streams, ProbeKind::Segment],
        (_, Direction::Read) => &[
            ProbeKind::Sessions,
            ProbeKind::Cipher,
            ProbeKind::SigningAlgorithm,
            ProbeKind::Depth,
        ],
        (_, Direction::Write) => &[
            ProbeKind::OneBlock,
            ProbeKind::Sessions,
            ProbeKind::Cipher,
            ProbeKind::SigningAlgorithm,
        ],
    }
}

/// Interventions with their control; none without any.
fn block(arms: &[Intervention], rung: Rung, direction: Direction) -> Option<Block> {
    let first = arms.first()?;
    let why = match (first.cause, first.kind) {
        (Some(cause), _) => Purpose::Cause(cause),
        (None, ProbeKind::AllReliefs) => Purpose::Reliefs,
        (None, kind) => Purpose::Splitter(kind),
    };
    let control = std::iter::once((rung, None, direction));
    let changed = arms.iter().map(|one| (rung, Some(one.kind), direction));
    Some(Block {
        why,
        arms: control.chain(changed).collect(),
    })
}
