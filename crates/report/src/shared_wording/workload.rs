//! Workloads in words, and how they were measured.

use analysis::{ExperimentResult, RunAnalysis, RungName};
use locale::{counted, said, say, text};
use record::{FolderKind, Job, Phase, Place, Task, TaskWorkload, Workload};
use stats::Estimate;

use super::experiment::candidates;
use super::phase;
use crate::quantity;

/// Rates of many trials in MB/s, without repeating the unit.
pub(crate) fn rate_list(rates: &[f64]) -> String {
    let one = |rate: &f64| match rate.is_finite() {
        true if rate.abs() < 1e7 => format!("{:.3}", rate / 1e6),
        true => format!("{:.1}", rate / 1e6),
        false => quantity::UNKNOWN.to_owned(),
    };
    rates.iter().map(one).collect::<Vec<_>>().join(", ")
}

pub(crate) fn workload(workload: &Workload) -> String {
    let sentence = match workload {
        Workload::Tcp(tcp) => say("trial-workload.tcp")
            .with("direction", tcp.direction)
            .with("streams", counted("count.streams", tcp.streams as usize))
            .with("server", tcp.server.to_string())
            .with("port", tcp.port.to_string())
            .with_known("nic", tcp.nic.as_ref()),
        Workload::Folder(folder) => say("trial-workload.folder")
            .with("kind", folder_name(folder.kind))
            .with("folder", folder.folder.to_string())
            .with("direction", folder.direction)
            .with("depth", folder.depth.to_string())
            .with(
                "threads",
                counted("count.threads", folder.operations.threads as usize),
            )
            .with("block", quantity::size(folder.block))
            .with("size", quantity::size(folder.file_size)),
        Workload::Task(work) => say("trial-workload.task")
            .with("place", task_place(work))
            .with("direction", work.direction)
            .with("task", task(&work.task)),
        Workload::Job(job) => match &job.job {
            Job::Enter => say("trial-workload.enter"),
            Job::ReadOnce { .. } => say("trial-workload.read-once"),
            Job::Copy { times, .. } => say("trial-workload.copy").with("times", times.to_string()),
            Job::SmallFiles { count, size } => say("trial-workload.small-files")
                .with("count", count.to_string())
                .with("size", quantity::size(*size))
                .with("direction", job.direction),
        },
        Workload::Share(share) => say("trial-workload.share")
            .with("direction", share.direction)
            .with(
                "channels",
                counted("count.channels", share.channels as usize),
            )
            .with("depth", share.depth.to_string())
            .with("block", quantity::size(share.block))
            .with("size", quantity::size(share.file_size)),
    };
    said(&sentence)
}

fn folder_name(kind: FolderKind) -> String {
    text(match kind {
        FolderKind::Folder | FolderKind::Mount => "place.folder",
        FolderKind::Disk => "place.disk",
    })
}

fn task_place(work: &TaskWorkload) -> String {
    match &work.place {
        Place::Share { .. } => text("place.share"),
        Place::Folder { kind, .. } => folder_name(*kind),
    }
}

/// What a task does: `copies 200 files in 4 folders, 1 MiB to 16 MiB each, 1.2 GiB`.
#[must_use]
pub fn task(task: &Task) -> String {
    let files = |count: &u32| counted("count.files", *count as usize);
    let sentence = match task {
        Task::Copy(copy) => {
            let each = match copy.size_max {
                Some(most) => say("task.sizes")
                    .with("least", quantity::size(copy.size))
                    .with("most", quantity::size(most)),
                None => quantity::size(copy.size).into(),
            };
            match copy.folders {
                0 => say("task.copy-one")
                    .with("each", each)
                    .with_known("program", copy.by.program()),
                folders => say("task.copy")
                    .with("files", files(&copy.files))
                    .with("each", each)
                    .with("folders", counted("count.folders", folders as usize))
                    .with("all", quantity::size(copy.bytes()))
                    .with_known("program", copy.by.program()),
            }
        }
        Task::Create(count) => say("task.create").with("files", files(count)),
        Task::Open(count) => say("task.open").with("files", files(count)),
        Task::Remove(count) => say("task.remove").with("files", files(count)),
        Task::Lock(times) => say("task.lock").with("times", times.to_string()),
        Task::List(list) => say("task.list")
            .with("files", files(&list.entries))
            .with("times", counted("count.times", list.times as usize)),
        Task::Stream(size) => say("task.stream").with("each", quantity::size(*size)),
        Task::Play(play) => say("task.play")
            .with("frames", counted("count.frames", play.per_second as usize))
            .with("frame", quantity::size(play.frame))
            .with("players", counted("count.players", play.streams as usize))
            .with("ahead", play.ahead.to_string())
            .with("all", quantity::size(task.space_needed())),
    };
    said(&sentence)
}

/// A workload in two words: `share read`.
pub(crate) fn workload_short(workload: &Workload) -> String {
    let place = match workload {
        Workload::Tcp(_) => text("rung.tcp"),
        Workload::Share(_) => text("place.share"),
        Workload::Folder(folder) => folder_name(folder.kind),
        Workload::Task(work) => task_place(work),
        Workload::Job(_) => text("place.once"),
    };
    let sentence = say("rung.in-direction")
        .with("rung", place)
        .with("direction", workload.direction());
    said(&sentence)
}

/// How it was measured, so that somebody else can judge and repeat it.
pub(crate) fn method(analysis: &RunAnalysis) -> Vec<String> {
    let mut lines = Vec::new();
    if !analysis.ladder.is_empty() {
        let repetitions = analysis
            .ladder
            .iter()
            .filter(|one| one.rung != RungName::Ceiling);
        if let Some(most) = repetitions
            .filter_map(|one| one.rate.as_ref())
            .map(|rate| rate.n)
            .max()
        {
            let trials = counted("count.trials", most);
            lines.push(said(&say("method.ladder").with("trials", trials)));
        }
    }
    if let Some(question) = candidates(analysis).next().map(|one| &one.question) {
        let sentence = say("method.experiments")
            .with("band", quantity::round_share(question.band))
            .with("confidence", quantity::round_share(question.confidence));
        lines.push(said(&sentence));
    }
    lines.extend(analysis.experiments.iter().map(blocks_run));
    for bench in &analysis.bench {
        lines.push(format!(
            "{}: {}",
            workload_short(&bench.workload),
            workload(&bench.workload)
        ));
    }
    lines.push(said(
        &say("method.seed").with("seed", analysis.seed.to_string()),
    ));
    lines
}

fn blocks_run(experiment: &ExperimentResult) -> String {
    let noise = experiment.noise.iter().map(|noise| &noise.ratio);
    let effects = experiment
        .effects
        .iter()
        .map(|effect| (effect.phase, &effect.ratio));
    let ratios: Vec<(Phase, &Estimate)> = noise
        .map(|ratio| (Phase::SameAgainstSame, ratio))
        .chain(effects)
        .collect();
    let parts: Vec<String> = [Phase::SameAgainstSame, Phase::Compare, Phase::Confirm]
        .into_iter()
        .filter_map(|part| {
            let of_part = ratios.iter().filter(|(phase, _)| *phase == part);
            let most = of_part.map(|(_, ratio)| ratio.n).max()?;
            Some(format!("{} {}", phase(part), counted("count.blocks", most)))
        })
        .collect();
    let confidences = ratios.iter().filter_map(|(_, ratio)| ratio.confidence);
    let low = confidences
        .filter(|one| one.is_finite())
        .fold(f64::INFINITY, f64::min);
    let parts = match parts.is_empty() {
        true => text("method.no-block"),
        false => parts.join(", "),
    };
    let reached = low.is_finite().then(|| quantity::share(low));
    let sentence = say("method.blocks")
        .with("change", experiment.question.change())
        .with("parts", parts)
        .with_known("confidence", reached);
    said(&sentence)
}
