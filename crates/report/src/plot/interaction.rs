//! How one factor of a design acts at each level of another.

use fit::DesignResult;
use locale::{counted, said, say};
use maud::{Markup, html};
use record::Factor;
use stats::Unit;

use super::{
    Axis, Caption, Heights, STRIP_BOTTOM, finite, line, percent, pixels, rate_grid, svg, written,
};
use crate::quantity;

/// Room that a line of small text takes.
const TEXT_HEIGHT: f64 = 12.0;

/// The medians of the arms over the levels of one factor, a line for each level of another: parallel
/// lines do not depend on each other.
pub(crate) fn interaction(
    result: &DesignResult,
    response: &str,
    [along, by]: [usize; 2],
    id: &str,
) -> Markup {
    let factors = &result.design.factors;
    let levels = level_names(&factors[along]);
    let names: Vec<Option<&str>> = match along == by {
        true => vec![None],
        false => level_names(&factors[by]).into_iter().map(Some).collect(),
    };
    let lines: Vec<(Option<&str>, Vec<Option<f64>>)> = names
        .into_iter()
        .map(|name| {
            let levels = levels.iter().copied();
            let means = levels.map(|level| mean(result, response, (along, level), (by, name)));
            (name, means.collect())
        })
        .collect();
    let all: Vec<f64> = lines
        .iter()
        .flat_map(|(_, rates)| rates.iter().flatten().copied())
        .collect();
    let scale = scale(&all);
    let axis = Axis {
        low: 0.0,
        high: levels.len().max(1) as f64,
        ends: [11.0, 80.0],
    };
    let caption = Caption {
        id,
        title: said(
            &say("plot-interaction")
                .with("response", response)
                .with("factor", &factors[along].name),
        ),
        description: counted("plot-count.means", all.len()),
    };
    let content = html! {
        (rate_grid(&scale))
        (line("base", [axis.ends[0], STRIP_BOTTOM], [axis.ends[1], STRIP_BOTTOM]))
        @for (index, level) in levels.iter().enumerate() { (written("tick", level_place(&axis, index), STRIP_BOTTOM + 16.0, "middle", level)) }
        @for (number, (name, rates)) in lines.iter().enumerate() {
            @let class = if number == 0 { "a" } else { "b" };
            (line_of_means(class, rates, &axis, &scale))
            (dots_of_means(class, (*name, rates.as_slice()), &levels, (&axis, &scale)))
        }
        @for (place, names) in names_of_lines(&lines, &scale) {
            (written("tick", axis.ends[1] + 1.0, place + 4.0, "start", &names))
        }
    };
    svg(&caption, STRIP_BOTTOM + 22.0, &content)
}

fn level_names(factor: &Factor) -> Vec<&str> {
    let levels = factor.levels.iter();
    levels.map(|level| level.name.as_str()).collect()
}

/// The mean of the medians of the arms that have a level of one factor and, where it is named, a level of another.
fn mean(
    result: &DesignResult,
    response: &str,
    (along, along_level): (usize, &str),
    (by, by_level): (usize, Option<&str>),
) -> Option<f64> {
    let replicate = result.design.baseline_replicate;
    let judged = result
        .samples
        .iter()
        .filter(|one| one.response == response && Some(one.arm) != replicate);
    let chosen = judged.filter(|one| {
        one.levels[along] == along_level && by_level.is_none_or(|level| one.levels[by] == level)
    });
    let medians: Vec<f64> = chosen
        .filter_map(|one| {
            // The grid counts in millions, as rates of bytes are told.
            let of_people = match one.unit {
                Unit::BytesPerSecond => 1.0,
                _ => 1e6,
            };
            Some(finite(one.median.as_ref()?)? * of_people)
        })
        .collect();
    (!medians.is_empty()).then(|| medians.iter().sum::<f64>() / medians.len() as f64)
}

/// The axis that holds all means.
fn scale(means: &[f64]) -> Heights {
    if means.is_empty() {
        return Heights::around(0.0, 0.0);
    }
    let means = means.iter().copied();
    let (low, high) = (
        means.clone().fold(f64::INFINITY, f64::min),
        means.fold(0.0, f64::max),
    );
    Heights::around(low, high)
}

/// Where a level stands along the width.
fn level_place(axis: &Axis, index: usize) -> f64 {
    axis.place(index as f64 + 0.5)
}

/// From each mean to the next, where both are known.
fn line_of_means(class: &str, rates: &[Option<f64>], axis: &Axis, scale: &Heights) -> Markup {
    html! {
        @for (index, pair) in rates.windows(2).enumerate() {
            @if let [Some(from), Some(to)] = pair {
                (line(&format!("median {class}"), [level_place(axis, index), scale.place(*from)], [level_place(axis, index + 1), scale.place(*to)]))
            }
        }
    }
}

/// A dot for each mean, which says its level, its line and its rate.
fn dots_of_means(
    class: &str,
    (name, rates): (Option<&str>, &[Option<f64>]),
    levels: &[&str],
    (axis, scale): (&Axis, &Heights),
) -> Markup {
    html! {
        @for (index, rate) in rates.iter().enumerate() {
            @if let Some(rate) = rate {
                circle class=(format!("dot {class}")) cx=(percent(level_place(axis, index))) cy=(pixels(scale.place(*rate))) r="3.5" {
                    title { (levels[index]) @if let Some(name) = name { ", " (name) } ": " (quantity::rate(*rate)) }
                }
            }
        }
    }
}

/// The names of lines beside their ends, and how far down; lines that end too near to each other for
/// two names have one together.
fn names_of_lines(
    lines: &[(Option<&str>, Vec<Option<f64>>)],
    scale: &Heights,
) -> Vec<(f64, String)> {
    let mut named: Vec<(f64, String)> = Vec::new();
    for (name, rates) in lines {
        let (Some(name), Some(Some(rate))) = (name, rates.last()) else {
            continue;
        };
        let place = scale.place(*rate);
        match named
            .iter_mut()
            .find(|(other, _)| (other - place).abs() < TEXT_HEIGHT)
        {
            Some((_, names)) => names.push_str(&format!(", {name}")),
            None => named.push((place, (*name).to_owned())),
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_end_together_share_their_names() {
        let scale = Heights::around(900e6, 1200e6);
        let lines = [
            (Some("on"), vec![Some(1100e6), Some(1200e6)]),
            (Some("off"), vec![Some(900e6), Some(1199e6)]),
            (Some("half"), vec![Some(900e6), Some(950e6)]),
            (Some("none"), vec![Some(900e6), None]),
        ];
        let named = names_of_lines(&lines, &scale);
        let names: Vec<&str> = named.iter().map(|(_, names)| names.as_str()).collect();
        assert_eq!(names, ["on, off", "half"]);
    }
}
