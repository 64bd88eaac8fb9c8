//! What is below the share: the server's disk, the client's disk, and small files.

use record::{
    Direction, Failure, FailureKind, Job, Outcome, Rung, SHARE_IN_MEMORY, ServerCache, Storage,
    TrialRecord, TrialResult, Workload,
};

use super::cause::percent;
use super::fault::{Fault, fault};
use super::remedy::Advice;
use super::{DIRECTIONS, LOSS_LIMIT, Seen};
use crate::comparison::{BAND_DEFAULT, CONFIDENCE_DEFAULT};
use crate::statistics::median;
use crate::{Cause, Estimate, LadderRung, RungName, SmallFiles, Trust, Unit};

/// What is no disk at all.
const MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// What is wrong there, beside what is known to be wrong already.
pub(super) fn faults(seen: &Seen, known: &[Cause]) -> Vec<Fault> {
    let is_known = |id: &str| known.iter().any(|cause| cause.id == id);
    let server = server_disk(seen).filter(|fault| !is_known(&fault.cause.id));
    // Nobody asked about a folder that was only at hand.
    let local = local_disk(seen).filter(|_| asked_folder(seen).is_some());
    server.into_iter().chain(local).collect()
}

/// What is worth knowing there and no fault.
pub(super) fn remarks(seen: &Seen) -> Vec<Cause> {
    let local = local_disk(seen).filter(|_| asked_folder(seen).is_none());
    local.map(|fault| fault.cause).into_iter().collect()
}

/// What the rates of the disks are the rates of.
pub(super) fn notes(seen: &Seen) -> Vec<String> {
    let mut notes = Vec::new();
    if seen.rate(RungName::Disk, Direction::Read).is_some() {
        notes.push(match is_cold(seen) {
            true => "disk: the server had been seen to have none of the file in memory",
            false => "disk: a file of the share, read once; cache unknown, the server may have had it in memory",
        });
    }
    let mut notes: Vec<String> = notes.into_iter().map(str::to_owned).collect();
    if let Some(place) = copied_to(seen) {
        notes.push(format!(
            "copy: from the server's memory to {place}, until all of it was on that disk"
        ));
    }
    notes
}

/// How long a small file takes, each way.
pub(super) fn small_files(seen: &Seen) -> Vec<SmallFiles> {
    let request = super::transfer::request(seen).map(|request| request.value);
    let ways = DIRECTIONS.into_iter().filter_map(|direction| {
        let times = trials(seen, Rung::SmallFiles)
            .filter(|(trial, _)| trial.workload.direction() == direction)
            .flat_map(|(trial, result)| {
                let size = match &trial.workload {
                    Workload::Job(job) => match &job.job {
                        Job::SmallFiles { size, .. } => size.get() as f64,
                        Job::Enter | Job::ReadOnce { .. } | Job::Copy { .. } => f64::NAN,
                    },
                    _ => f64::NAN,
                };
                rates_of(result).map(move |rate| size / rate)
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
    ways.collect()
}

/// The rates of the parts of work that is done once.
pub(super) fn rates_of(result: &TrialResult) -> impl Iterator<Item = f64> {
    let samples = result.samples.iter();
    let rates = samples.map(|one| one.bytes.get() as f64 * 1e9 / one.duration.get() as f64);
    rates.filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// Whether a rung has less than it should of the one above, beyond its noise.
pub(super) fn loses(rung: Option<&LadderRung>) -> Option<f64> {
    let share = rung?.of_above.as_ref()?;
    let most = |share: &Estimate| share.interval.map_or(share.value, |[_, high]| high);
    (most(share) < LOSS_LIMIT).then_some(share.value)
}

/// Whether the share is in its server's memory, so that no disk of it can be slow.
pub(super) fn is_in_memory(seen: &Seen) -> bool {
    let said = |failure: &Failure| {
        let mut chain = failure.chain.iter();
        chain.any(|text| text.starts_with(SHARE_IN_MEMORY))
    };
    failures(seen, Rung::Disk).any(said)
}

/// Whether the share could not be measured because somebody said no, and not because nothing came.
pub(super) fn is_kept_out(seen: &Seen) -> bool {
    failures(seen, Rung::Share).any(|failure| failure.kind == FailureKind::Refused)
}

fn failures<'a>(seen: &Seen<'a>, rung: Rung) -> impl Iterator<Item = &'a Failure> {
    let records = seen.records.iter().filter(move |(of, _)| *of == rung);
    records.filter_map(|(_, trial)| match &trial.outcome {
        Outcome::Failed(failure) => Some(failure),
        Outcome::Measured(_) => None,
    })
}

fn trials<'a>(
    seen: &Seen<'a>,
    rung: Rung,
) -> impl Iterator<Item = (&'a TrialRecord, &'a TrialResult)> {
    let records = seen.records.iter().filter(move |(of, _)| *of == rung);
    records.filter_map(|(_, trial)| match &trial.outcome {
        Outcome::Measured(result) => Some((*trial, &**result)),
        Outcome::Failed(_) => None,
    })
}

fn job(trial: &TrialRecord) -> Option<&Job> {
    match &trial.workload {
        Workload::Job(workload) => Some(&workload.job),
        Workload::Tcp(_) | Workload::Share(_) | Workload::Folder(_) | Workload::Task(_) => None,
    }
}

/// Whether every file that was read from the disk was known not to be in memory.
fn is_cold(seen: &Seen) -> bool {
    let mut jobs = trials(seen, Rung::Disk).map(|(trial, _)| job(trial));
    jobs.all(|job| {
        matches!(
            job,
            Some(Job::ReadOnce {
                cache: ServerCache::Cold,
                ..
            })
        )
    })
}

fn asked_folder<'a>(seen: &Seen<'a>) -> Option<&'a str> {
    trials(seen, Rung::Copy).find_map(|(trial, _)| match job(trial)? {
        Job::Copy { folder, .. } => folder.as_deref(),
        Job::Enter | Job::ReadOnce { .. } | Job::SmallFiles { .. } => None,
    })
}

fn storage<'a>(seen: &Seen<'a>) -> Option<&'a Storage> {
    trials(seen, Rung::Copy).find_map(|(_, result)| result.storage.as_ref())
}

/// The folder and file system of the copies.
fn copied_to(seen: &Seen) -> Option<String> {
    let storage = storage(seen)?;
    let folder = asked_folder(seen).or(storage.folder.as_deref())?;
    Some(format!("`{folder}` ({})", storage.file_system))
}

fn server_disk(seen: &Seen) -> Option<Fault> {
    let share = loses(seen.rung(RungName::Disk, Direction::Read))?;
    let disk = seen.rate(RungName::Disk, Direction::Read)?;
    let memory = seen.rate(RungName::Share, Direction::Read)?;
    let (what, trust) = match is_cold(seen) {
        true => ("a file that is not in its memory", Trust::Measured),
        false => ("a file that was not asked for lately", Trust::Computed),
    };
    let text = format!(
        "the server gives {what} at {:.1} MB/s, {} of the {:.1} MB/s that it gives from memory: its disk is \
         what is slow",
        disk / 1e6,
        percent(share),
        memory / 1e6
    );
    let gain = crate::statistics::computed(
        memory / disk,
        Unit::Ratio,
        vec!["at most, and for reading what is not in the server's memory".into()],
    );
    let advice = Advice::new(
        "look at the server's disks: what else uses them, whether one of an array is missing, how far it reads \
         ahead; more memory there helps where the same files are read again",
    )
    .gains(Some(gain))
    .commands(["iostat -x 1".to_owned()]);
    fault("server-disk", text, trust, advice)
}

fn local_disk(seen: &Seen) -> Option<Fault> {
    let share = loses(seen.rung(RungName::Copy, Direction::Read))?;
    let storage = storage(seen)?;
    if MEMORY.contains(&storage.file_system.as_str()) {
        return None;
    }
    let copy = seen.rate(RungName::Copy, Direction::Read)?;
    let text = format!(
        "a copy to {} runs at {:.1} MB/s, {} of what the share gives: that disk of the client is what is slow",
        copied_to(seen)?,
        copy / 1e6,
        percent(share)
    );
    let advice =
        Advice::new("copy to a faster disk of the client, or look at what else uses this one")
            .commands(["iostat -x 1".to_owned()]);
    fault("local-disk", text, Trust::Measured, advice)
}
