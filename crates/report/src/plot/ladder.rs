//! The ladder as bars, each with a mark at the ceiling that it is held against.

use analysis::{LadderRung, RungName};
use locale::{said, say, text};
use maud::{Markup, html};

use super::ticks::{round_ticks, tick_anchor, tick_label};
use super::{AXIS_PIXELS, Axis, Caption, finite, line, percent, pixels, svg, written};
use crate::quantity;
use crate::shared_wording::{self, Ladder};

const RUNG_PIXELS: f64 = 50.0;

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
    let caption = Caption {
        id,
        title: said(&say("plot-ladder.title").with(
            "direction",
            shared_wording::direction_explained(ladder.direction),
        )),
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
        @for (rung, top) in ladder.rungs.iter().zip(tops.clone()) {
            @if let Some(ceiling) = rung.ceiling.as_ref().and_then(finite) {
                @let x = axis.place(ceiling);
                (line("limit", [x, top - 4.0], [x, top + 18.0]))
            }
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
    let name = shared_wording::rung(rung.rung);
    let Some(rate) = &rung.rate else {
        return said(&say("plot-rung.not-measured").with("rung", name));
    };
    let sentence = say("plot-rung")
        .with("rung", name)
        .with("rate", quantity::estimate_with_interval(rate))
        .with_known(
            "share",
            rung.of_ceiling.as_ref().map(shared_wording::of_ceiling),
        );
    said(&sentence)
}

fn bar(rung: &LadderRung, axis: &Axis, top: f64, loses: Option<RungName>) -> Markup {
    let loses = loses == Some(rung.rung);
    let class = match (rung.rung, loses) {
        (_, true) => "bar loss",
        (RungName::Ceiling, _) => "bar ceiling",
        (RungName::Tcp | RungName::Streams, _) => "bar tcp",
        (
            RungName::Share
            | RungName::Channels
            | RungName::SystemClient
            | RungName::SystemProgram
            | RungName::SystemCopy
            | RungName::Disk
            | RungName::Copy,
            _,
        ) => "bar share",
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
    let name = shared_wording::rung(rung.rung);
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
