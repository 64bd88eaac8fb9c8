//! Plots of a bench: the repetitions of a workload, and a sweep over sizes.

use analysis::BenchSamples;
use locale::{counted, said, say, text};
use maud::{Markup, html};
use record::Direction;

use super::ticks::TICKS_MAX;
use super::{
    Axis, Caption, Heights, STRIP_BOTTOM, dot_words, finite, line, percent, pixels, rate_grid, svg,
    written,
};
use crate::{quantity, shared_wording};

/// Every repetition of a workload of `bench`, with the median and its interval.
pub(crate) fn repetitions(bench: &BenchSamples, id: &str) -> Markup {
    let name = shared_wording::workload_short(&bench.workload);
    let finite_rates = || bench.rates.iter().copied().filter(|rate| rate.is_finite());
    let low = finite_rates().fold(f64::INFINITY, f64::min);
    let high = finite_rates().fold(f64::NEG_INFINITY, f64::max);
    let scale = match low.is_finite() && high.is_finite() {
        true => Heights::around(low, high),
        false => Heights::around(0.0, 0.0),
    };
    let count = bench.rates.len();
    let axis = Axis {
        low: 0.0,
        high: count.max(1) as f64,
        ends: [11.0, 99.0],
    };
    let (left, right) = (axis.ends[0], axis.ends[1]);
    let median = bench.median.as_ref();
    let repetitions = counted("plot-count.repetitions", count);
    let middle = median.map_or_else(|| text("state.unknown"), quantity::estimate_with_interval);
    let caption = Caption {
        id,
        title: said(&say("plot-repetitions.title").with("workload", name)),
        description: said(
            &say("plot-repetitions.description")
                .with("repetitions", &repetitions)
                .with("median", middle),
        ),
    };
    let content = html! {
        (rate_grid(&scale))
        @if let Some([low, high]) = median.and_then(quantity::finite_interval) {
            @let (top, bottom) = (scale.place(high), scale.place(low));
            rect class="band" x=(percent(left)) y=(pixels(top)) width=(percent(right - left)) height=(pixels((bottom - top).max(1.0))) {}
        }
        @if let Some(median) = median.and_then(finite) {
            @let y = scale.place(median);
            (line("median b", [left, y], [right, y]))
        }
        (line("base", [left, STRIP_BOTTOM], [right, STRIP_BOTTOM]))
        (written("tick", f64::midpoint(left, right), STRIP_BOTTOM + 16.0, "middle", &repetitions))
        @for (index, rate) in bench.rates.iter().enumerate().filter(|(_, rate)| rate.is_finite()) {
            circle class="dot b" cx=(percent(axis.place(index as f64 + 0.5))) cy=(pixels(scale.place(*rate))) r="3.5" {
                title { (dot_words("plot-repetitions.one", index + 1, *rate)) }
            }
        }
    };
    svg(&caption, STRIP_BOTTOM + 22.0, &content)
}

/// The rates of a sweep over sizes, writing and reading, from zero.
pub(crate) fn sweep(points: &[(&str, [Option<f64>; 2])], id: &str) -> Markup {
    let rates = points
        .iter()
        .flat_map(|(_, rates)| rates.iter().flatten().copied());
    let highest = rates.filter(|rate| rate.is_finite()).fold(0.0, f64::max);
    let scale = Heights {
        low: 0.0,
        high: (highest * 1.05).max(1.0),
    };
    let axis = Axis {
        low: 0.0,
        high: points.len().max(1) as f64,
        ends: [11.0, 99.0],
    };
    let caption = Caption {
        id,
        title: text("plot-sweep.title"),
        description: said(
            &say("plot-sweep.description")
                .with("sizes", counted("plot-count.sizes", points.len()))
                .with("rate", quantity::rate(highest)),
        ),
    };
    let every = points.len().div_ceil(TICKS_MAX).max(1);
    let content = html! {
        (rate_grid(&scale))
        (line("base", [axis.ends[0], STRIP_BOTTOM], [axis.ends[1], STRIP_BOTTOM]))
        @for (index, (name, rates)) in points.iter().enumerate() {
            @let x = axis.place(index as f64 + 0.5);
            @if index % every == 0 { (written("tick", x, STRIP_BOTTOM + 16.0, "middle", name)) }
            @for (way, (class, rate)) in [Direction::Write, Direction::Read].into_iter().zip(["dot a", "dot b"].into_iter().zip(rates)) {
                @if let Some(rate) = rate.filter(|rate| rate.is_finite()) {
                    circle class=(class) cx=(percent(x)) cy=(pixels(scale.place(rate))) r="3.5" {
                        title { (name) " " (shared_wording::direction(way)) ": " (quantity::rate(rate)) }
                    }
                }
            }
        }
        (written("tick", 99.0, STRIP_BOTTOM + 34.0, "end", &text("plot-sweep.legend")))
    };
    svg(&caption, STRIP_BOTTOM + 40.0, &content)
}
