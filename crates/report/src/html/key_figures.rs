//! The few numbers of a run that are read first.

use analysis::{Effect, ExperimentResult, RunAnalysis, RungName};
use locale::{said, say, text};
use maud::{Markup, html};

use super::experiment::medians;
use crate::shared_wording;
use crate::{plot, quantity};

/// The few numbers that are read first.
pub(super) fn tiles(analysis: &RunAnalysis) -> Markup {
    let rungs = analysis
        .ladder
        .iter()
        .filter(|rung| rung.rung == RungName::Share);
    html! {
        div.tiles {
            @for rung in rungs {
                @let name = shared_wording::rung_in(rung.rung, rung.direction);
                @let share = rung.of_ceiling.as_ref().map(shared_wording::of_ceiling);
                @let figure = rung.rate.as_ref().map_or_else(|| text("not-measured"), quantity::estimate);
                (tile("", &name, &figure, &share.unwrap_or_default()))
            }
            @for experiment in shared_wording::kept(analysis) {
                @for effect in shared_wording::final_effects(experiment) {
                    @let name = format!("{}, {}", shared_wording::direction(effect.response), experiment.question.change());
                    (tile(plot::verdict_class(effect.verdict), &name, &quantity::estimate(&effect.ratio), &below_figure(experiment, effect)))
                }
            }
            // A recipe has too many tests for tiles, and its headline names the best.
            @for bench in analysis.bench.iter().filter(|bench| bench.test.is_none()) {
                @if let Some(median) = &bench.median {
                    @let bits = quantity::bit_rate(median.value);
                    (tile("", &shared_wording::workload_short(&bench.workload), &quantity::estimate(median), &bits))
                }
            }
        }
    }
}

fn tile(class: &str, name: &str, figure: &str, beside: &str) -> Markup {
    html! {
        div class={ "tile " (class) } {
            span.name { (name) }
            span.figure { (figure) }
            span.beside { (beside) }
        }
    }
}

/// What stands below the figure of a tile: a colour alone would not tell that it is open.
fn below_figure(experiment: &ExperimentResult, effect: &Effect) -> String {
    let medians = medians(experiment, effect);
    match effect.verdict {
        stats::Verdict::Undecided => said(&say("effect.cannot-be-told").with("medians", medians)),
        _ => medians,
    }
}
