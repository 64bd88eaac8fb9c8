//! Copies to the client's disk, and small files.

use locale::{Message, say};
use record::{Direction, Job, Rung, Storage, TrialRecord, Workload};

use super::evidence::Evidence;
use super::ladder::DIRECTIONS;
use super::{ladder_and_probe_trials, tcp_and_host_effort_per_rung};
use crate::{RungName, SmallFiles};
use fit::{BAND_DEFAULT, CONFIDENCE_DEFAULT};
use stats::Unit;
use stats::median;

/// What is no disk at all.
const MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// What the rates of the disks are the rates of.
pub(super) fn notes(seen: &Evidence) -> Vec<Message> {
    let mut notes = Vec::new();
    if seen.rate(RungName::Disk, Direction::Read).is_some() {
        notes.push(match is_cold(seen) {
            true => say("disk-cold"),
            false => say("disk-unknown"),
        });
    }
    notes.extend(place(seen).map(|place| say("copy-to").with("place", place)));
    notes
}

/// How long a small file takes, each direction.
pub(super) fn small_files(seen: &Evidence) -> Vec<SmallFiles> {
    let request = tcp_and_host_effort_per_rung::request(seen).map(|request| request.value);
    let directions = DIRECTIONS.into_iter().filter_map(|direction| {
        let times = seen
            .of_rung(Rung::SmallFiles)
            .filter(|(trial, _)| trial.workload.direction() == direction)
            .flat_map(|(trial, result)| {
                let size = match job(trial) {
                    Some(Job::SmallFiles { size, .. }) => size.get() as f64,
                    _ => f64::NAN,
                };
                ladder_and_probe_trials::parts(result).map(move |rate| size / rate)
            })
            .filter(|time| time.is_finite());
        let times: Vec<f64> = times.collect();
        let each = median(&times, BAND_DEFAULT, CONFIDENCE_DEFAULT, Unit::Seconds)?;
        let requests = request.map(|request| each.value / request);
        Some(SmallFiles {
            direction,
            requests: requests.filter(|requests| requests.is_finite()),
            each,
        })
    });
    directions.collect()
}

fn job(trial: &TrialRecord) -> Option<&Job> {
    match &trial.workload {
        Workload::Job(workload) => Some(&workload.job),
        Workload::Tcp(_) | Workload::Share(_) | Workload::Folder(_) | Workload::Task(_) => None,
    }
}

/// Whether every file that was read from the disk was known not to be in memory.
pub(super) fn is_cold(seen: &Evidence) -> bool {
    let mut jobs = seen.of_rung(Rung::Disk).map(|(trial, _)| job(trial));
    jobs.all(|job| {
        matches!(
            job,
            Some(Job::ReadOnce {
                cache: record::ServerCache::Cold,
                ..
            })
        )
    })
}

/// The folder that copies were asked to go to.
pub(super) fn asked_folder<'a>(seen: &Evidence<'a>) -> Option<&'a str> {
    seen.of_rung(Rung::Copy)
        .find_map(|(trial, _)| match job(trial)? {
            Job::Copy { folder, .. } => folder.as_deref(),
            Job::Enter | Job::ReadOnce { .. } | Job::SmallFiles { .. } => None,
        })
}

fn storage<'a>(seen: &Evidence<'a>) -> Option<&'a Storage> {
    seen.of_rung(Rung::Copy)
        .find_map(|(_, result)| result.storage.as_ref())
}

/// Whether copies go to no disk at all.
pub(super) fn is_in_memory(seen: &Evidence) -> bool {
    storage(seen).is_none_or(|storage| MEMORY.contains(&storage.file_system.as_str()))
}

/// The folder and file system of the copies.
pub(super) fn place(seen: &Evidence) -> Option<String> {
    let storage = storage(seen)?;
    let folder = asked_folder(seen).or(storage.folder.as_deref())?;
    Some(format!("`{folder}` ({})", storage.file_system))
}
