//! Effects of an experiment as ratios with their intervals, and the colours of their verdicts.

use analysis::ExperimentResult;
use locale::text;
use maud::{Markup, html};
use record::Phase;
use stats::{Estimate, Verdict};

use super::ticks::{ratio_ticks, tick_anchor, tick_label};
use super::{AXIS_PIXELS, Axis, Caption, PHASES, finite, line, percent, pixels, svg, written};
use crate::{quantity, shared_wording};

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
    for response in shared_wording::DIRECTIONS {
        let way = shared_wording::direction(response);
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
                name: format!("{way} · {}", shared_wording::phase(Phase::SameAgainstSame)),
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
                    name: format!("{way} · {}", shared_wording::phase(phase)),
                    ratio: &effect.ratio,
                    verdict: shared_wording::verdict(effect.verdict),
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
