//! How busy the hosts were.

use record::{Direction, HostLoad, HostName, Outcome, Rung, TrialRecord};

use super::{Evidence, median_of};
use crate::RungName;

/// Share of a processor at which it is full.
const FULL_PROCESSOR: f64 = 0.97;
/// Share of all processors' time from which a host is busy with something else.
const BUSY_HOST: f64 = 0.9;
/// The same up to which it waits for something.
const IDLE_HOST: f64 = 0.5;

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
        let writes = (Rung::Share, Direction::Write);
        let loads = self.loads_of(host, |rung, direction| (rung, direction) == writes);
        median_of(loads.map(mean_busy)).map(|busy| busy < IDLE_HOST)
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
            is_steady(rung) && lost.is_none_or(|lost| lost == (loser(rung), direction))
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
        Rung::RoundTrip | Rung::Disk | Rung::Copy | Rung::SmallFiles => false,
    }
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
