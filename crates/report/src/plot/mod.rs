//! Plots as inline SVG that takes its colours from the page and its width from the screen.
//!
//! Places along the width are percentages and along the height pixels, so that marks move with the
//! width of the screen while text stays as large as the text around it. Bars begin at zero, and a
//! ratio has a logarithmic axis, so that half and double are equally far from 1.

mod bench;
mod effects;
mod interaction;
mod ladder;
mod ticks;
mod trials;

use locale::{said, say};
use maud::{Markup, html};
use record::Phase;
use stats::Estimate;

use crate::quantity;
use ticks::{round_ticks, tick_label};

pub(crate) use bench::{repetitions, sweep};
pub(crate) use effects::{effects, verdict_class};
pub(crate) use interaction::interaction;
pub(crate) use ladder::{ladder, ladder_pixels};
pub(crate) use trials::{legend_dot, trials, trials_leave_out_zero};

/// The phases in the order in which they are run.
const PHASES: [Phase; 3] = [Phase::SameAgainstSame, Phase::Compare, Phase::Confirm];
/// What the numbers of an axis take below a plot.
const AXIS_PIXELS: f64 = 26.0;
const STRIP_TOP: f64 = 24.0;
const STRIP_BOTTOM: f64 = 196.0;

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

fn finite(estimate: &Estimate) -> Option<f64> {
    Some(estimate.value).filter(|value| value.is_finite())
}

/// The vertical axis of a plot of rates.
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

/// What one dot stands for: its number, and its rate.
fn dot_words(id: &'static str, number: usize, rate: f64) -> String {
    let sentence = say(id).with("number", number.to_string());
    said(&sentence.with("rate", quantity::rate(rate)))
}
