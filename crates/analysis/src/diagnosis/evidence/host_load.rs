//! How busy the hosts were.

use record::{Direction, HostLoad, HostName, Outcome, Rung, TrialRecord, Workload};

use super::{Evidence, median_of};
use crate::RungName;

/// Share of a processor at which it is full.
const FULL_PROCESSOR: f64 = 0.97;
/// Share of all processors' time from which a host is busy with something else.
const BUSY_HOST: f64 = 0.9;
/// The same up to which it waits for something.
const IDLE_HOST: f64 = 0.5;

/// How long programs of a host waited for a disk: as parts of the time in which data moved, and of the time before and
/// after that, in which a test file is made and removed. The counter does not know the border between the two.
#[derive(Clone, Copy)]
pub(in crate::diagnosis) struct DiskWait {
    pub(in crate::diagnosis) of_moving: f64,
    pub(in crate::diagnosis) of_around: f64,
}

impl<'a> Evidence<'a> {
    /// What the hosts did while a rung was measured that keeps them as busy as it can.
    pub(in crate::diagnosis) fn loads(
        &self,
        host: &'a HostName,
    ) -> impl Iterator<Item = &'a HostLoad> {
        self.loads_of(host, |rung, _| is_steady(rung))
    }

    /// The same of the rungs and directions that are meant.
    fn loads_of(
        &self,
        host: &'a HostName,
        is_meant: impl Fn(Rung, Direction) -> bool,
    ) -> impl Iterator<Item = &'a HostLoad> {
        let records = self.records.iter();
        records
            .filter(move |(rung, trial)| is_meant(*rung, trial.workload.direction()))
            .filter(|(_, trial)| matches!(trial.outcome, Outcome::Measured(_)))
            .flat_map(|(_, trial): &(Rung, &'a TrialRecord)| &trial.loads)
            .filter(move |load| load.host == *host)
    }

    /// Whether most of a host's processors had something to do in most trials.
    pub(in crate::diagnosis) fn is_crowded(&self, host: &'a HostName) -> bool {
        median_of(self.loads(host).map(mean_busy)).is_some_and(|busy| busy > BUSY_HOST)
    }

    /// A host whose processors were full in most trials.
    pub(in crate::diagnosis) fn crowded_host(&self) -> Option<&'a HostName> {
        let hosts = [self.network.client, self.network.server];
        let mut names = hosts.into_iter().flatten().map(|host| &host.name);
        names.find(|name| self.is_crowded(name))
    }

    /// Whether a host had time left while the share was written to; none where that was not read.
    pub(in crate::diagnosis) fn idles_at_writes(&self, host: &'a HostName) -> Option<bool> {
        let writes = (self.share_that_loses().0, Direction::Write);
        let loads = self.loads_of(host, |rung, direction| (rung, direction) == writes);
        median_of(loads.map(mean_busy)).map(|busy| busy < IDLE_HOST)
    }

    /// The part of a rung's trials of a direction in which programs of a host waited for a disk, as the kernel counts it: the
    /// median.
    pub(in crate::diagnosis) fn disk_wait_part(
        &self,
        host: &'a HostName,
        rung: Rung,
        direction: Direction,
    ) -> Option<f64> {
        let loads = self.loads_of(host, |of, towards| (of, towards) == (rung, direction));
        median_of(
            loads.filter_map(|load| {
                Some(load.disk_waited?.get() as f64 / load.duration.get() as f64)
            }),
        )
    }

    /// How long programs of a host waited for a disk: the median of the share's trials of a direction.
    pub(in crate::diagnosis) fn waits_for_disk(
        &self,
        host: &HostName,
        direction: Direction,
    ) -> Option<DiskWait> {
        let rung = self.share_that_loses().0;
        let waits = self.of_rung(rung).filter_map(|(trial, _)| {
            let Workload::Share(workload) = &trial.workload else {
                return None;
            };
            let load = trial.loads.iter().find(|load| load.host == *host)?;
            let waited = load.disk_waited?.get() as f64;
            let moving = (workload.timing.warm_up.get() + workload.timing.measured.get()) as f64;
            let around = (load.duration.get() as f64 - moving).max(1.0);
            (workload.direction == direction).then_some((waited / moving, waited / around))
        });
        let (of_moving, of_around): (Vec<f64>, Vec<f64>) = waits.unzip();
        Some(DiskWait {
            of_moving: median_of(of_moving.into_iter())?,
            of_around: median_of(of_around.into_iter())?,
        })
    }

    /// What the NICs of both ends dropped in trials of a rung, as a part of the segments that the sender had to send
    /// again; none where the sender was not looked at.
    pub(in crate::diagnosis) fn hosts_dropped(
        &self,
        rung: Rung,
        direction: Direction,
    ) -> Option<f64> {
        let sender = match direction {
            Direction::Read => self.network.server,
            Direction::Write => self.network.client,
        }?;
        let trials = self.of_rung(rung).map(|(trial, _)| trial);
        let trials = trials.filter(|trial| trial.workload.direction() == direction);
        let (dropped, resent) = trials.fold((0, 0), |(dropped, resent), trial| {
            let mut loads = trial.loads.iter();
            let again = loads.find(|load| load.host == sender.name);
            // A virtual link counts the same packet at both of its ends.
            let most = trial.loads.iter().filter_map(|load| load.dropped).max();
            let again = again.and_then(|load| load.resent);
            (dropped + most.unwrap_or(0), resent + again.unwrap_or(0))
        });
        (resent > 0).then(|| dropped as f64 / resent as f64)
    }

    /// Whether a host had time left in most trials.
    pub(in crate::diagnosis) fn is_idle(&self, host: &'a HostName) -> bool {
        median_of(self.loads(host).map(mean_busy)).is_some_and(|busy| busy < IDLE_HOST)
    }

    /// Whether a processor of a host was full in most trials of what loses, or of all where nothing does: a line that is
    /// full in the other direction may well fill one.
    pub(in crate::diagnosis) fn has_full_core(&self, host: &'a HostName) -> bool {
        let lost = self.lost().map(|lost| (lost.rung, lost.direction));
        let loads = self.loads_of(host, |rung, direction| {
            let is_of = |(lost, towards)| match lost {
                RungName::Channels => (rung, direction) == (Rung::Channels, towards),
                lost => (loser(rung), direction) == (lost, towards),
            };
            is_steady(rung) && lost.is_none_or(is_of)
        });
        let fullest = loads.map(|load| {
            let busy = load.processors.iter().map(|processor| processor.busy);
            busy.fold(0.0, f64::max)
        });
        median_of(fullest).is_some_and(|busy| busy > FULL_PROCESSOR)
    }

    /// A host one of whose processors was full in most trials.
    pub(in crate::diagnosis) fn full_host(&self) -> Option<&'a HostName> {
        let hosts = [self.network.client, self.network.server];
        let mut names = hosts.into_iter().flatten().map(|host| &host.name);
        names.find(|name| self.has_full_core(name))
    }
}

/// Whether a rung keeps the hosts as busy as it can.
pub(super) const fn is_steady(rung: Rung) -> bool {
    match rung {
        Rung::Tcp | Rung::Streams | Rung::Share | Rung::Channels => true,
        Rung::RoundTrip
        | Rung::SystemClient
        | Rung::SystemProgram
        | Rung::SystemCopy
        | Rung::Disk
        | Rung::Copy
        | Rung::SmallFiles => false,
    }
}

/// The same where all that moves takes one pair of NICs.
pub(super) const fn is_of_one(rung: Rung) -> bool {
    is_steady(rung) && !matches!(rung, Rung::Channels)
}

/// The rung of the ladder that such trials say something of.
const fn loser(rung: Rung) -> RungName {
    match rung {
        Rung::Tcp | Rung::Streams => RungName::Tcp,
        _ => RungName::Share,
    }
}

fn mean_busy(load: &HostLoad) -> f64 {
    let busy: f64 = load.processors.iter().map(|processor| processor.busy).sum();
    busy / load.processors.len().max(1) as f64
}
