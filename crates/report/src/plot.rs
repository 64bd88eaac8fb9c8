//! Plots as inline SVG that takes its colours from the page and its width from the screen.
//!
//! Places along the width are percentages and along the height pixels, so that marks move with the
//! width of the screen while text stays as large as the text around it. Bars begin at zero, and a
//! ratio has a logarithmic axis, so that half and double are equally far from 1.

use analysis::{ArmSamples, BenchSamples, ExperimentResult, LadderRung, RungName};
use fit::DesignResult;
use locale::{counted, said, say, text};
use maud::{Markup, PreEscaped, html};
use record::{Arm, Direction, Phase};
use stats::{Estimate, Unit, Verdict};

use crate::quantity;
use crate::view::{self, Ladder};

/// Ticks on an axis at most, so that their labels never touch on a phone.
const TICKS_MAX: usize = 6;

/// A linear or logarithmic axis from the left to the right of a plot.
struct Axis {
    low: f64,
    high: f64,
    /// Percentages of the width where `low` and `high` stand.
    ends: [f64; 2],
}

impl Axis {
    fn place(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        let [left, right] = self.ends;
        left + share.clamp(0.0, 1.0) * (right - left)
    }
}

fn percent(place: f64) -> String {
    format!("{place:.2}%")
}

fn pixels(place: f64) -> String {
    format!("{place:.1}")
}

/// Round numbers from `low` to `high`, at most so many that they can be read.
fn round_ticks(low: f64, high: f64) -> Vec<f64> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return vec![low];
    }
    let decade = 10f64.powf((span / TICKS_MAX as f64).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0, 20.0].map(|step| step * decade);
    let ticks = |step: f64| -> Vec<f64> {
        let first = (low / step - 1e-9).ceil();
        let last = (high / step + 1e-9).floor();
        (0..=(last - first).max(0.0) as usize)
            .map(|index| (first + index as f64) * step)
            .collect()
    };
    let fitting = steps
        .into_iter()
        .map(ticks)
        .find(|ticks| ticks.len() <= TICKS_MAX);
    fitting.unwrap_or_else(|| vec![low])
}

/// Round ratios from `low` to `high`; 1 is one of them when it is inside.
fn ratio_ticks(low: f64, high: f64) -> Vec<f64> {
    if high / low > 6.0 {
        let powers = -20..=20;
        let ticks: Vec<f64> = powers
            .map(|power| 2f64.powi(power))
            .filter(|tick| (low..=high).contains(tick))
            .collect();
        let every = ticks.len().div_ceil(TICKS_MAX);
        let one = ticks.iter().position(|tick| *tick >= 1.0).unwrap_or(0);
        return ticks
            .into_iter()
            .enumerate()
            .filter(|(index, _)| index % every == one % every)
            .map(|(_, tick)| tick)
            .collect();
    }
    round_ticks(low, high)
}

/// A tick's number with just the digits that tell it from its neighbours.
fn tick_label(tick: f64) -> String {
    let text = format!("{tick:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Name and description for those who cannot see the picture.
struct Caption<'a> {
    id: &'a str,
    title: String,
    description: String,
}

fn svg(caption: &Caption<'_>, height: f64, content: &Markup) -> Markup {
    let title = format!("{}-title", caption.id);
    let description = format!("{}-desc", caption.id);
    html! {
        svg role="img" width="100%" height=(pixels(height)) aria-labelledby={ (title) " " (description) } {
            title id=(title) { (caption.title) }
            desc id=(description) { (caption.description) }
            (content)
        }
    }
}

fn written(class: &str, x: f64, y: f64, anchor: &str, words: &str) -> Markup {
    html! { text class=(class) x=(percent(x)) y=(pixels(y)) text-anchor=(anchor) { (words) } }
}

fn line(class: &str, from: [f64; 2], to: [f64; 2]) -> Markup {
    html! {
        line class=(class) x1=(percent(from[0])) y1=(pixels(from[1])) x2=(percent(to[0])) y2=(pixels(to[1])) {}
    }
}

/// An axis's numbers: those at its ends stay inside the plot.
fn tick_anchor(place: f64) -> &'static str {
    match place {
        place if place < 1.5 => "start",
        place if place > 97.0 => "end",
        _ => "middle",
    }
}

const RUNG_PIXELS: f64 = 50.0;
const AXIS_PIXELS: f64 = 26.0;

/// Height of the bars of so many rungs.
pub(crate) const fn ladder_pixels(rungs: usize) -> usize {
    RUNG_PIXELS as usize * rungs + AXIS_PIXELS as usize
}

/// Bars of one direction: ceiling, raw TCP, share, on the scale that `longest` gives.
pub(crate) fn ladder(
    ladder: &Ladder<'_>,
    longest: f64,
    loses: Option<RungName>,
    id: &str,
) -> Markup {
    let axis = Axis {
        low: 0.0,
        high: longest.max(1.0),
        ends: [0.0, 100.0],
    };
    let bottom = RUNG_PIXELS * ladder.rungs.len() as f64;
    let tops = (0..ladder.rungs.len()).map(|row| RUNG_PIXELS * row as f64 + 26.0);
    let ceiling = ladder
        .rungs
        .iter()
        .find(|rung| rung.rung == RungName::Ceiling);
    let ceiling = ceiling.and_then(|rung| finite(rung.rate.as_ref()?));
    let caption = Caption {
        id,
        title: said(
            &say("plot-ladder.title")
                .with("direction", view::direction_explained(ladder.direction)),
        ),
        description: ladder
            .rungs
            .iter()
            .map(|rung| rung_words(rung))
            .collect::<Vec<_>>()
            .join("; "),
    };
    let content = html! {
        @for tick in round_ticks(0.0, axis.high / 1e6) {
            @let x = axis.place(tick * 1e6);
            @for top in tops.clone() { (line("grid", [x, top - 4.0], [x, top + 18.0])) }
            (written("tick", x, bottom + 18.0, tick_anchor(x), &tick_text(tick, axis.high / 1e6)))
        }
        @for (index, rung) in ladder.rungs.iter().enumerate() {
            (bar(rung, &axis, RUNG_PIXELS * index as f64, loses))
        }
        @if let Some(ceiling) = ceiling {
            @let x = axis.place(ceiling);
            @for top in tops.clone().skip(1) { (line("limit", [x, top - 4.0], [x, top + 18.0])) }
        }
    };
    svg(&caption, bottom + AXIS_PIXELS, &content)
}

fn tick_text(tick: f64, highest: f64) -> String {
    let is_last = round_ticks(0.0, highest).last() == Some(&tick);
    let unit = if is_last { " MB/s" } else { "" };
    format!("{}{unit}", tick_label(tick))
}

fn rung_words(rung: &LadderRung) -> String {
    let name = view::rung(rung.rung);
    let Some(rate) = &rung.rate else {
        return said(&say("plot-rung.not-measured").with("rung", name));
    };
    let sentence = say("plot-rung")
        .with("rung", name)
        .with("rate", quantity::estimate_with_interval(rate))
        .with_known("share", rung.of_ceiling.as_ref().map(view::of_ceiling));
    said(&sentence)
}

fn bar(rung: &LadderRung, axis: &Axis, top: f64, loses: Option<RungName>) -> Markup {
    let loses = loses == Some(rung.rung);
    let class = match (rung.rung, loses) {
        (_, true) => "bar loss",
        (RungName::Ceiling, _) => "bar ceiling",
        (RungName::Tcp | RungName::Streams, _) => "bar tcp",
        (RungName::Share | RungName::Channels | RungName::Disk | RungName::Copy, _) => "bar share",
    };
    let number = rung
        .rate
        .as_ref()
        .map_or_else(|| text("not-measured"), quantity::estimate);
    let is_measured = rung.rate.as_ref().and_then(finite).is_some();
    let share = rung
        .of_ceiling
        .as_ref()
        .filter(|_| is_measured && rung.rung != RungName::Ceiling);
    let share = share
        .map(|share| format!(" · {}", quantity::share(share.value)))
        .unwrap_or_default();
    let name = view::rung(rung.rung);
    let name = if loses {
        said(&say("plot-rung.loses").with("rung", name))
    } else {
        name
    };
    html! {
        (written("label", 0.0, top + 18.0, "start", &name))
        (written("number", 100.0, top + 18.0, "end", &format!("{number}{share}")))
        rect class="track" x="0" y=(pixels(top + 26.0)) width="100%" height="14" {}
        @if let Some(rate) = rung.rate.as_ref().and_then(finite) {
            rect class=(class) x="0" y=(pixels(top + 26.0)) width=(percent(axis.place(rate))) height="14" {}
        }
        @if let Some([low, high]) = rung.rate.as_ref().and_then(quantity::finite_interval) {
            @let y = top + 33.0;
            (line("whisker", [axis.place(low), y], [axis.place(high), y]))
            (line("whisker", [axis.place(low), y - 4.0], [axis.place(low), y + 4.0]))
            (line("whisker", [axis.place(high), y - 4.0], [axis.place(high), y + 4.0]))
        }
    }
}

fn finite(estimate: &Estimate) -> Option<f64> {
    Some(estimate.value).filter(|value| value.is_finite())
}

/// The phases in the order in which they are run.
const PHASES: [Phase; 3] = [Phase::SameAgainstSame, Phase::Compare, Phase::Confirm];
const STRIP_TOP: f64 = 24.0;
/// Room that a line of small text takes.
const TEXT_HEIGHT: f64 = 12.0;
const STRIP_BOTTOM: f64 = 196.0;
/// Blocks that are left empty between two phases.
const PHASE_GAP: f64 = 1.0;

/// One phase's place in a strip: its first block's slot and how many blocks it has.
struct Span {
    phase: Phase,
    first: f64,
    blocks: u32,
}

/// Every trial of one response, by block and arm. `None` where nothing was counted.
pub(crate) fn trials(
    experiment: &ExperimentResult,
    response: Direction,
    id: &str,
) -> Option<Markup> {
    let samples: Vec<&ArmSamples> = experiment
        .samples
        .iter()
        .filter(|one| one.response == response)
        .collect();
    let rates = samples
        .iter()
        .flat_map(|one| &one.rates)
        .copied()
        .filter(|rate| rate.is_finite());
    let (low, high) = rates.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), rate| {
        (low.min(rate), high.max(rate))
    });
    if !(low.is_finite() && high.is_finite()) {
        return None;
    }
    let (spans, slots) = spans(&samples);
    let scale = Heights::around(low, high);
    let caption = Caption {
        id,
        title: said(
            &say("plot-trials.title").with("direction", view::direction_explained(response)),
        ),
        description: samples
            .iter()
            .map(|one| samples_words(one))
            .collect::<Vec<_>>()
            .join("; "),
    };
    let content = html! {
        (rate_grid(&scale))
        @for span in &spans {
            (phase_strip(span, &samples, slots, &scale))
        }
    };
    Some(svg(&caption, STRIP_BOTTOM + 22.0, &content))
}

/// Whether the vertical axis of [`trials`] leaves zero out, which must be said.
pub(crate) fn trials_leave_out_zero(experiment: &ExperimentResult, response: Direction) -> bool {
    let rates = experiment
        .samples
        .iter()
        .filter(|one| one.response == response)
        .flat_map(|one| &one.rates);
    rates
        .copied()
        .filter(|rate| rate.is_finite())
        .fold(f64::INFINITY, f64::min)
        > 0.0
}

/// Every repetition of a workload of `bench`, with the median and its interval.
pub(crate) fn repetitions(bench: &BenchSamples, id: &str) -> Markup {
    let name = view::workload_short(&bench.workload);
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

/// What one dot stands for: its number, and its rate.
fn dot_words(id: &'static str, number: usize, rate: f64) -> String {
    let sentence = say(id).with("number", number.to_string());
    said(&sentence.with("rate", quantity::rate(rate)))
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
                        title { (name) " " (view::direction(way)) ": " (quantity::rate(rate)) }
                    }
                }
            }
        }
        (written("tick", 99.0, STRIP_BOTTOM + 34.0, "end", &text("plot-sweep.legend")))
    };
    svg(&caption, STRIP_BOTTOM + 40.0, &content)
}

/// The medians of the arms over the levels of one factor, a line for each level of another: parallel
/// lines do not depend on each other.
pub(crate) fn interaction(
    result: &DesignResult,
    response: &str,
    [along, by]: [usize; 2],
    id: &str,
) -> Markup {
    let design = &result.design;
    let judged = || {
        let mut samples = result.samples.iter();
        samples
            .by_ref()
            .filter(|one| one.response == response && Some(one.arm) != design.baseline_replicate)
            .collect::<Vec<_>>()
    };
    let mean = |along_level: &str, by_level: Option<&str>| -> Option<f64> {
        let chosen = judged().into_iter().filter(|one| {
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
    };
    let levels: Vec<&str> = design.factors[along]
        .levels
        .iter()
        .map(|level| level.name.as_str())
        .collect();
    let lines: Vec<Option<&str>> = match along == by {
        true => vec![None],
        false => design.factors[by]
            .levels
            .iter()
            .map(|level| Some(level.name.as_str()))
            .collect(),
    };
    let points: Vec<(Option<&str>, Vec<Option<f64>>)> = lines
        .into_iter()
        .map(|line| (line, levels.iter().map(|level| mean(level, line)).collect()))
        .collect();
    let all: Vec<f64> = points
        .iter()
        .flat_map(|(_, rates)| rates.iter().flatten().copied())
        .collect();
    let (low, high) = (
        all.iter().copied().fold(f64::INFINITY, f64::min),
        all.iter().copied().fold(0.0, f64::max),
    );
    let scale = if all.is_empty() {
        Heights::around(0.0, 0.0)
    } else {
        Heights::around(low, high)
    };
    let axis = Axis {
        low: 0.0,
        high: levels.len().max(1) as f64,
        ends: [11.0, 80.0],
    };
    let x = |index: usize| axis.place(index as f64 + 0.5);
    let caption = Caption {
        id,
        title: said(
            &say("plot-interaction")
                .with("response", response)
                .with("factor", &design.factors[along].name),
        ),
        description: counted("plot-count.means", all.len()),
    };
    let content = html! {
        (rate_grid(&scale))
        (line("base", [axis.ends[0], STRIP_BOTTOM], [axis.ends[1], STRIP_BOTTOM]))
        @for (index, level) in levels.iter().enumerate() { (written("tick", x(index), STRIP_BOTTOM + 16.0, "middle", level)) }
        @for (number, (name, rates)) in points.iter().enumerate() {
            @let class = if number == 0 { "a" } else { "b" };
            @for (index, pair) in rates.windows(2).enumerate() {
                @if let [Some(from), Some(to)] = pair {
                    (line(&format!("median {class}"), [x(index), scale.place(*from)], [x(index + 1), scale.place(*to)]))
                }
            }
            @for (index, rate) in rates.iter().enumerate() {
                @if let Some(rate) = rate {
                    circle class=(format!("dot {class}")) cx=(percent(x(index))) cy=(pixels(scale.place(*rate))) r="3.5" {
                        title { (levels[index]) @if let Some(name) = name { ", " (name) } ": " (quantity::rate(*rate)) }
                    }
                }
            }
        }
        @for (place, names) in names_of_lines(&points, &scale) {
            (written("tick", axis.ends[1] + 1.0, place + 4.0, "start", &names))
        }
    };
    svg(&caption, STRIP_BOTTOM + 22.0, &content)
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

struct Heights {
    low: f64,
    high: f64,
}

impl Heights {
    /// From the lowest to the highest rate and a little more; noise of half a per cent does not
    /// fill the plot.
    fn around(low: f64, high: f64) -> Self {
        let middle = f64::midpoint(low, high);
        let half = ((high - low) * 0.6).max(middle.abs() * 0.03).max(1.0);
        Self {
            low: (middle - half).max(0.0),
            high: middle + half,
        }
    }

    fn place(&self, rate: f64) -> f64 {
        let share = (rate - self.low) / (self.high - self.low);
        STRIP_BOTTOM - share.clamp(0.0, 1.0) * (STRIP_BOTTOM - STRIP_TOP - 8.0)
    }

    fn ticks(&self) -> Vec<f64> {
        round_ticks(self.low / 1e6, self.high / 1e6)
    }
}

/// A line across the plot for every round rate, with its number in MB/s.
fn rate_grid(scale: &Heights) -> Markup {
    html! {
        @for tick in scale.ticks() {
            @let y = scale.place(tick * 1e6);
            (line("grid", [0.0, y], [100.0, y]))
            (written("tick", 0.0, y - 3.0, "start", &tick_label(tick)))
        }
    }
}

fn spans(samples: &[&ArmSamples]) -> (Vec<Span>, f64) {
    let mut next = 0.0;
    let mut spans = Vec::new();
    for phase in PHASES {
        let of_phase = samples
            .iter()
            .filter(|one| one.phase == phase && !one.rates.is_empty());
        let Some(last) = of_phase.flat_map(|one| &one.blocks).max() else {
            continue;
        };
        let blocks = last.saturating_add(1);
        spans.push(Span {
            phase,
            first: next,
            blocks,
        });
        next += f64::from(blocks) + PHASE_GAP;
    }
    (spans, (next - PHASE_GAP).max(1.0))
}

fn phase_strip(span: &Span, samples: &[&ArmSamples], slots: f64, scale: &Heights) -> Markup {
    let axis = Axis {
        low: 0.0,
        high: slots,
        ends: [11.0, 99.0],
    };
    let end = span.first + f64::from(span.blocks);
    let (left, right) = (axis.place(span.first), axis.place(end));
    let middle = f64::midpoint(left, right);
    let name = view::phase(span.phase);
    let of_phase: Vec<&&ArmSamples> = samples
        .iter()
        .filter(|one| one.phase == span.phase)
        .collect();
    html! {
        (written("label", middle, 14.0, "middle", &name))
        (line("base", [left, STRIP_BOTTOM], [right, STRIP_BOTTOM]))
        (written("tick", middle, STRIP_BOTTOM + 16.0, "middle", &counted("count.blocks", span.blocks as usize)))
        @for one in &of_phase {
            @if let Some(median) = finite(&one.median) {
                @let y = scale.place(median);
                (line(median_class(one), [left, y], [right, y]))
            }
        }
        @for one in &of_phase {
            @for (rate, block) in one.rates.iter().zip(&one.blocks).filter(|(rate, _)| rate.is_finite()) {
                @let offset = if one.arm == Arm::A { 0.3 } else { 0.7 };
                @let x = axis.place(span.first + f64::from(*block) + offset);
                circle class=(dot_class(one)) cx=(percent(x)) cy=(pixels(scale.place(*rate))) r="3.5" {
                    title { (dot_words("plot-block", *block as usize + 1, *rate)) }
                }
            }
        }
    }
}

fn is_changed(samples: &ArmSamples) -> bool {
    samples.arm == Arm::B && samples.phase != Phase::SameAgainstSame
}

fn dot_class(samples: &ArmSamples) -> &'static str {
    if is_changed(samples) {
        "dot b"
    } else {
        "dot a"
    }
}

fn median_class(samples: &ArmSamples) -> &'static str {
    if is_changed(samples) {
        "median b"
    } else {
        "median a"
    }
}

fn samples_words(samples: &ArmSamples) -> String {
    let arm = match samples.arm {
        Arm::A => "A",
        Arm::B => "B",
    };
    let sentence = say("plot-trials.arm")
        .with("phase", view::phase(samples.phase))
        .with("arm", arm)
        .with("trials", counted("count.trials", samples.rates.len()))
        .with("median", quantity::estimate(&samples.median));
    said(&sentence)
}

/// A row of the plot of effects.
struct EffectRow<'a> {
    name: String,
    ratio: &'a Estimate,
    /// The verdict's word, and the name of its colour in the page's style.
    verdict: String,
    class: &'static str,
    is_final: bool,
}

const EFFECT_PIXELS: f64 = 46.0;
/// The part of a row that holds its marks; its words stand above, where nothing crosses them.
const EFFECT_STRIP: f64 = 20.0;

/// Effects of an experiment with their intervals on a logarithmic axis, the band of practical
/// equivalence shaded.
pub(crate) fn effects(experiment: &ExperimentResult, id: &str) -> Option<Markup> {
    let rows = effect_rows(experiment);
    if rows.is_empty() {
        return None;
    }
    let band = experiment.question.band.abs().clamp(1e-6, 10.0);
    let axis = ratio_axis(&rows, band);
    let bottom = EFFECT_PIXELS * rows.len() as f64;
    let tops = (0..rows.len()).map(|row| EFFECT_PIXELS * row as f64 + EFFECT_PIXELS - EFFECT_STRIP);
    let (low, high) = (axis.place(-band.ln_1p()), axis.place(band.ln_1p()));
    let caption = Caption {
        id,
        title: text("plot-effects.title"),
        description: rows
            .iter()
            .map(effect_row_words)
            .collect::<Vec<_>>()
            .join("; "),
    };
    let content = html! {
        @for top in tops.clone() {
            (line("grid", [0.0, top + EFFECT_STRIP / 2.0], [100.0, top + EFFECT_STRIP / 2.0]))
            rect class="band" x=(percent(low)) y=(pixels(top)) width=(percent(high - low)) height=(pixels(EFFECT_STRIP)) {}
        }
        @for tick in ratio_ticks(axis.low.exp(), axis.high.exp()) {
            @let x = axis.place(tick.ln());
            @for top in tops.clone() { (line("grid", [x, top], [x, top + EFFECT_STRIP])) }
            (written("tick", x, bottom + 18.0, tick_anchor(x), &format!("{}x", tick_label(tick))))
        }
        @for top in tops.clone() {
            (line("one", [axis.place(0.0), top], [axis.place(0.0), top + EFFECT_STRIP]))
        }
        @for (index, row) in rows.iter().enumerate() {
            (effect_row(row, &axis, EFFECT_PIXELS * index as f64))
        }
    };
    Some(svg(&caption, bottom + AXIS_PIXELS, &content))
}

fn effect_rows(experiment: &ExperimentResult) -> Vec<EffectRow<'_>> {
    let mut rows = Vec::new();
    for response in view::DIRECTIONS {
        let way = view::direction(response);
        for noise in experiment
            .noise
            .iter()
            .filter(|noise| noise.response == response)
        {
            let (verdict, class) = if noise.alarm {
                (text("plot-effects.different"), "bad")
            } else {
                (String::new(), "neutral")
            };
            rows.push(EffectRow {
                name: format!("{way} · {}", view::phase(Phase::SameAgainstSame)),
                ratio: &noise.ratio,
                verdict,
                class,
                is_final: false,
            });
        }
        let is_confirmed = experiment
            .effects
            .iter()
            .any(|effect| effect.response == response && effect.phase == Phase::Confirm);
        for phase in PHASES {
            for effect in experiment
                .effects
                .iter()
                .filter(|effect| effect.response == response && effect.phase == phase)
            {
                rows.push(EffectRow {
                    name: format!("{way} · {}", view::phase(phase)),
                    ratio: &effect.ratio,
                    verdict: view::verdict(effect.verdict),
                    class: verdict_class(effect.verdict),
                    is_final: phase == Phase::Confirm || !is_confirmed,
                });
            }
        }
    }
    rows
}

/// The axis holds every interval, 1 and the band, in natural logarithms.
fn ratio_axis(rows: &[EffectRow<'_>], band: f64) -> Axis {
    let reach = band.ln_1p() * 1.5;
    let (mut low, mut high) = (-reach, reach);
    for row in rows {
        let ends = quantity::finite_interval(row.ratio).unwrap_or([row.ratio.value; 2]);
        for end in ends
            .iter()
            .chain([&row.ratio.value])
            .filter(|end| end.is_finite() && **end > 0.0)
        {
            low = low.min(end.ln());
            high = high.max(end.ln());
        }
    }
    let margin = (high - low) * 0.04;
    Axis {
        low: low - margin,
        high: high + margin,
        ends: [1.0, 99.0],
    }
}

fn effect_row(row: &EffectRow<'_>, axis: &Axis, top: f64) -> Markup {
    let tone = row.class;
    let marker = if row.is_final {
        format!("mark final {tone}")
    } else {
        format!("mark {tone}")
    };
    let words = format!(
        "{} {}",
        quantity::estimate_with_interval(row.ratio),
        row.verdict
    );
    let y = top + EFFECT_PIXELS - EFFECT_STRIP / 2.0;
    html! {
        (written("label", 0.0, top + 19.0, "start", &row.name))
        (written("number", 100.0, top + 19.0, "end", words.trim_end()))
        @if let Some([low, high]) = quantity::finite_interval(row.ratio).filter(|[low, _]| *low > 0.0) {
            (line(&format!("span {tone}"), [axis.place(low.ln()), y], [axis.place(high.ln()), y]))
        }
        @if let Some(value) = finite(row.ratio).filter(|value| *value > 0.0) {
            circle class=(marker) cx=(percent(axis.place(value.ln()))) cy=(pixels(y)) r="5" {}
        }
    }
}

fn effect_row_words(row: &EffectRow<'_>) -> String {
    let number = quantity::estimate_with_interval(row.ratio);
    format!("{} {number} {}", row.name, row.verdict)
}

/// The name of a verdict's colour in the page's style.
pub(crate) const fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "good",
        Verdict::Worse => "bad",
        Verdict::Equivalent => "neutral",
        Verdict::Undecided => "doubtful",
    }
}

/// A small sign for a legend.
pub(crate) fn legend_dot(arm: Arm) -> Markup {
    let class = match arm {
        Arm::A => "dot a",
        Arm::B => "dot b",
    };
    PreEscaped(format!(
        "<svg class=\"key\" width=\"12\" height=\"12\" aria-hidden=\"true\"><circle class=\"{class}\" cx=\"6\" cy=\"6\" r=\"4\"></circle></svg>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            round_ticks(0.0, 117.7),
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        );
        assert_eq!(
            round_ticks(114.0, 118.0),
            [114.0, 115.0, 116.0, 117.0, 118.0]
        );
        assert_eq!(round_ticks(5.0, 5.0), [5.0]);
        for high in 1..2000 {
            let ticks = round_ticks(0.0, f64::from(high) * 0.37);
            assert!((3..=TICKS_MAX).contains(&ticks.len()), "{high}: {ticks:?}");
        }
    }

    #[test]
    fn ratio_axes_show_one() {
        for (low, high) in [
            (0.97, 1.03),
            (0.96, 2.1),
            (0.5, 1.1),
            (0.1, 3.0),
            (0.9, 40.0),
            (0.001, 1000.0),
        ] {
            let ticks = ratio_ticks(low, high);
            assert!(
                (2..=TICKS_MAX + 1).contains(&ticks.len()),
                "{low} {high} {ticks:?}"
            );
            assert!(
                ticks.iter().any(|tick| (tick - 1.0).abs() < 1e-9),
                "{low} {high} {ticks:?}"
            );
        }
    }

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

    #[test]
    fn labels_of_ticks_have_no_useless_digits() {
        assert_eq!(
            [0.0, 0.98, 1.0, 2.5, 100.0].map(tick_label),
            ["0", "0.98", "1", "2.5", "100"]
        );
    }
}
