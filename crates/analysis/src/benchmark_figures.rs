//! What the original of a recipe would print, beside what can be defended.

use record::{
    Bytes, Figure, HostFacts, Nanoseconds, Place, Playback, Recipe, Storage, Task, TrialResult,
    Workload,
};

use fit::rate;

use crate::analysis_result::{CacheMark, TestFigures};

/// File systems whose direct operations go to the disk. Others take them and may use their cache all the
/// same, as zfs does.
const PASS_THE_CACHE_BY: [&str; 5] = ["ext4", "xfs", "btrfs", "f2fs", "overlayfs"];

/// The figures of one test in one direction.
pub(crate) fn figures(
    recipe: &Recipe,
    name: String,
    workload: &Workload,
    passes: &[&TrialResult],
    facts: &[HostFacts],
) -> TestFigures {
    let rates = passes.iter().filter_map(|pass| rate(workload, pass));
    let figure = pick(recipe.figure, rates.collect(), f64::max);
    let means = passes.iter().filter_map(|pass| pass.latency);
    let means = means.map(|latency| latency.mean.get() as f64);
    let figure_latency = pick(recipe.figure, means.collect(), f64::min);
    let mut by_mean: Vec<_> = passes.iter().filter_map(|pass| pass.latency).collect();
    by_mean.sort_by_key(|latency| latency.mean);
    let block = match workload {
        Workload::Tcp(_) | Workload::Task(_) | Workload::Job(_) => None,
        Workload::Share(share) => Some(share.block),
        Workload::Folder(folder) => Some(folder.block),
    };
    TestFigures {
        name,
        tool: recipe.title.clone(),
        figure,
        figure_latency: figure_latency.map(|mean| Nanoseconds::new(mean as u64)),
        operations_per_second: operations_per_second(workload, figure, block),
        latency: by_mean.get(by_mean.len() / 2).copied(),
        cache: passes.first().and_then(|pass| mark(workload, pass, facts)),
        first_byte: match workload {
            Workload::Task(_) => first_byte(passes),
            _ => None,
        },
        playback: passes.iter().filter_map(|pass| pass.playback).reduce(add),
    }
}

fn first_byte(passes: &[&TrialResult]) -> Option<Nanoseconds> {
    let mut times: Vec<_> = passes.iter().filter_map(|pass| pass.first_byte).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

fn add(one: Playback, other: Playback) -> Playback {
    Playback {
        due: one.due + other.due,
        missed: one.missed + other.missed,
        stall_max: one.stall_max.max(other.stall_max),
    }
}

fn operations_per_second(
    workload: &Workload,
    figure: Option<f64>,
    block: Option<Bytes>,
) -> Option<f64> {
    if let Workload::Task(work) = workload {
        // Of a copy, the files; what has its own unit needs no second number.
        let Task::Copy(copy) = &work.task else {
            return None;
        };
        let each = copy.bytes().get() as f64 / f64::from(copy.files.max(1));
        return figure.map(|rate| rate / each).filter(|_| copy.files > 1);
    }
    figure
        .zip(block)
        .map(|(rate, block)| rate / block.get() as f64)
}

fn pick(figure: Figure, mut values: Vec<f64>, best: fn(f64, f64) -> f64) -> Option<f64> {
    let count = values.len();
    match figure {
        Figure::Best => values.into_iter().reduce(best),
        Figure::Mean => (count > 0).then(|| values.iter().sum::<f64>() / count as f64),
        Figure::Median => {
            values.sort_by(f64::total_cmp);
            let (low, high) = (values.get((count.max(1) - 1) / 2)?, values.get(count / 2)?);
            Some(f64::midpoint(*low, *high))
        }
    }
}

/// What answered, as far as facts say so.
fn mark(workload: &Workload, pass: &TrialResult, facts: &[HostFacts]) -> Option<CacheMark> {
    match workload {
        Workload::Tcp(_) | Workload::Job(_) => None,
        Workload::Folder(_) => pass.storage.as_ref().map(of_storage),
        Workload::Share(share) => Some(of_server(share.file_size, facts)),
        Workload::Task(work) => match (&work.place, &pass.storage) {
            (Place::Folder { .. }, storage) => storage.as_ref().map(of_storage),
            (Place::Share { .. }, _) => Some(of_server(work.task.space_needed(), facts)),
        },
    }
}

fn of_storage(storage: &Storage) -> CacheMark {
    let name = storage.file_system.as_str();
    match (name, storage.direct, storage.network) {
        ("tmpfs", ..) => CacheMark::Memory,
        (_, false, _) => CacheMark::ClientCache,
        (_, true, true) => CacheMark::ServerCacheOrMedia,
        (_, true, false) if PASS_THE_CACHE_BY.contains(&name) => CacheMark::Media,
        (_, true, false) => CacheMark::CacheOrMedia,
    }
}

fn of_server(size: Bytes, facts: &[HostFacts]) -> CacheMark {
    match facts.get(1).and_then(|server| server.memory) {
        // Half of the memory, because a server has other things in it as well.
        Some(memory) if size.get() <= memory.get() / 2 => CacheMark::ServerCache,
        _ => CacheMark::ServerCacheOrMedia,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_file_systems_that_are_known_for_it_give_figures_of_the_media() {
        let mark = |name: &str, network, direct| {
            of_storage(&Storage {
                file_system: name.into(),
                network,
                direct,
                folder: None,
            })
        };
        assert_eq!(mark("xfs", false, true), CacheMark::Media);
        assert_eq!(mark("xfs", false, false), CacheMark::ClientCache);
        for other in ["zfs", "file system 0x1234"] {
            assert_eq!(mark(other, false, true), CacheMark::CacheOrMedia, "{other}");
        }
        assert_eq!(mark("ceph", true, true), CacheMark::ServerCacheOrMedia);
        assert_eq!(mark("tmpfs", false, true), CacheMark::Memory);
    }

    #[test]
    fn the_figure_is_the_originals() {
        let values = || vec![4.0, 1.0, 3.0, 8.0];
        assert_eq!(pick(Figure::Best, values(), f64::max), Some(8.0));
        assert_eq!(pick(Figure::Best, values(), f64::min), Some(1.0));
        assert_eq!(pick(Figure::Mean, values(), f64::max), Some(4.0));
        assert_eq!(pick(Figure::Median, values(), f64::max), Some(3.5));
        for figure in [Figure::Best, Figure::Mean, Figure::Median] {
            assert_eq!(pick(figure, vec![], f64::max), None);
        }
    }
}
