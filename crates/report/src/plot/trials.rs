//! Every trial of an experiment, by block and arm.

use analysis::{ArmSamples, ExperimentResult};
use locale::{counted, said, say};
use maud::{Markup, PreEscaped, html};
use record::{Arm, Direction, Phase};

use super::{
    Axis, Caption, Heights, PHASES, STRIP_BOTTOM, dot_words, finite, line, percent, pixels,
    rate_grid, svg, written,
};
use crate::{quantity, shared_wording};

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
            &say("plot-trials.title")
                .with("direction", shared_wording::direction_explained(response)),
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
    let name = shared_wording::phase(span.phase);
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
        .with("phase", shared_wording::phase(samples.phase))
        .with("arm", arm)
        .with("trials", counted("count.trials", samples.rates.len()))
        .with("median", quantity::estimate(&samples.median));
    said(&sentence)
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
