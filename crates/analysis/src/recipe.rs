//! What the original of a recipe would print, beside what can be defended.

use record::{Figure, HostFacts, Nanoseconds, Recipe, TrialResult, Workload};

use crate::result::{CacheMark, TestFigures};

/// The figures of one test that went one way.
pub(crate) fn figures(
    recipe: &Recipe,
    name: String,
    workload: &Workload,
    passes: &[&TrialResult],
    facts: &[HostFacts],
) -> TestFigures {
    let rates = passes.iter().filter_map(|pass| pass.bytes_per_second());
    let figure = pick(recipe.figure, rates.collect(), f64::max);
    let means = passes.iter().filter_map(|pass| pass.latency);
    let means = means.map(|latency| latency.mean.get() as f64);
    let figure_latency = pick(recipe.figure, means.collect(), f64::min);
    let mut by_mean: Vec<_> = passes.iter().filter_map(|pass| pass.latency).collect();
    by_mean.sort_by_key(|latency| latency.mean);
    let block = match workload {
        Workload::Tcp(_) => None,
        Workload::Share(share) => Some(share.block),
        Workload::Folder(folder) => Some(folder.block),
    };
    TestFigures {
        name,
        tool: recipe.title.clone(),
        figure,
        figure_latency: figure_latency.map(|mean| Nanoseconds::new(mean as u64)),
        operations_per_second: figure
            .zip(block)
            .map(|(rate, block)| rate / block.get() as f64),
        latency: by_mean.get(by_mean.len() / 2).copied(),
        cache: passes.first().and_then(|pass| mark(workload, pass, facts)),
    }
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
        Workload::Tcp(_) => None,
        Workload::Folder(_) => pass.storage.as_ref().map(|storage| {
            match (
                storage.file_system.as_str(),
                storage.direct,
                storage.network,
            ) {
                ("tmpfs", ..) => CacheMark::Memory,
                (_, false, _) => CacheMark::ClientCache,
                (_, true, true) => CacheMark::ServerCacheOrMedia,
                (_, true, false) => CacheMark::Media,
            }
        }),
        Workload::Share(share) => Some(match facts.get(1).and_then(|server| server.memory) {
            // Half of the memory, because a server has other things in it as well.
            Some(memory) if share.file_size.get() <= memory.get() / 2 => CacheMark::ServerCache,
            _ => CacheMark::ServerCacheOrMedia,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
