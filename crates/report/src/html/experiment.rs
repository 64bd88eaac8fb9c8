//! An experiment: its question, its effects, and every trial.

use analysis::{Effect, ExperimentResult};
use locale::{said, say, text};
use maud::{Markup, html};
use record::{Arm, Direction, Phase};

use super::{confidence, glued, prose, tone};
use crate::shared_wording::{self, Said};
use crate::{plot, quantity};

pub(super) fn experiment_part(experiment: &ExperimentResult, number: usize, id: &str) -> Markup {
    let id = format!("{id}-experiment-{number}");
    let decision = shared_wording::decision(experiment);
    html! {
        article {
            h3 { (prose(&said(&say("page.experiment").with("number", number.to_string()).with("question", shared_wording::question(experiment))))) }
            (effect_list(experiment))
            @for caveat in &experiment.caveats { p.alert.doubtful role="note" { (prose(&said(caveat))) } }
            p { (sentence(&decision)) }
            @if let Some(reason) = shared_wording::full_reason(experiment) { p.small.quiet { (text("decision.in-full")) " " (prose(&reason)) } }
            (effects_part(experiment, &id))
            (trials_part(experiment, &id))
        }
    }
}

/// The baseline against itself: what a difference must exceed to be seen.
pub(super) fn baseline_part(experiment: &ExperimentResult, id: &str) -> Markup {
    html! {
        article {
            h3 { (said(&say("page.noise").with("question", shared_wording::question(experiment)))) }
            ul.effects {
                @for noise in &experiment.noise {
                    @let class = if noise.alarm { "bad-word" } else { "" };
                    li { b { (shared_wording::direction(noise.response)) } span class=(class) { (prose(&shared_wording::noise(noise, experiment.question.band))) } }
                }
            }
            @for caveat in &experiment.caveats { p.alert.doubtful role="note" { (prose(&said(caveat))) } }
            (effects_part(experiment, id))
            (trials_part(experiment, id))
        }
    }
}

fn effects_part(experiment: &ExperimentResult, id: &str) -> Markup {
    html! {
        @if let Some(plot) = plot::effects(experiment, &format!("{id}-effects")) {
            figure {
                figcaption { b { (text("column.effect")) } (text("page.effect")) }
                p.legend {
                    span { span.swatch {} (said(&say("page.band").with("band", quantity::round_share(experiment.question.band)))) }
                    @if !shared_wording::is_baseline(experiment) { span { (text("page.first-look")) } span { (text("page.counts")) } }
                }
                (plot)
            }
            (effect_table(experiment))
        }
    }
}

fn sentence(said: &Said) -> Markup {
    html! {
        @match said.text.split_once(": ") {
            Some((head, rest)) => { span class={ (tone(said.tone)) "-word" } { (head) } ": " (prose(rest)) }
            None => { span class={ (tone(said.tone)) "-word" } { (said.text) } }
        }
    }
}

pub(super) fn medians(experiment: &ExperimentResult, effect: &Effect) -> String {
    glued(&shared_wording::medians(experiment, effect).unwrap_or_default()).replace("->", "→")
}

fn effect_list(experiment: &ExperimentResult) -> Markup {
    let effects = shared_wording::final_effects(experiment);
    html! {
           @if effects.is_empty() { p { span.doubtful-word { (text("effect.nothing-compared")) } } }
           ul.effects {
               @for effect in effects {
                   @let words = shared_wording::effect_words(effect, experiment.question.band);
                   li {
                       b { (shared_wording::direction(effect.response)) }
                       span { span class={ (plot::verdict_class(effect.verdict)) "-word" } { (words.verdict) } " " (words.how_much)
                       span.quiet { " · " (medians(experiment, effect)) @if let Some(paid) = shared_wording::processor_time(experiment, effect) { " · " (paid) } }
    }
                   }
               }
           }
       }
}

fn effect_table(experiment: &ExperimentResult) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th { (text("column.response")) } th { (text("column.part")) } th.n { (text("column.b-over-a")) } th.n { (text("column.interval")) }
                        th.n { (text("column.confidence")) } th.n { (text("column.blocks")) } th { (text("column.verdict")) }
                    }
                }
                tbody {
                    @for noise in &experiment.noise {
                        @let verdict = match (noise.alarm, shared_wording::is_unsteady(noise, experiment.question.band)) {
                            (true, _) => "noise-verdict.alarm",
                            (false, true) => "noise-verdict.unsteady",
                            (false, false) => "noise-verdict.steady",
                        };
                        (effect_cells(&shared_wording::direction(noise.response), &shared_wording::phase(Phase::SameAgainstSame), &noise.ratio, &text(verdict)))
                    }
                    @for effect in &experiment.effects {
                        (effect_cells(&shared_wording::direction(effect.response), &shared_wording::judged(effect), &effect.ratio, &shared_wording::verdict(effect.verdict)))
                    }
                }
            }
        }
    }
}

fn effect_cells(response: &str, part: &str, ratio: &stats::Estimate, verdict: &str) -> Markup {
    html! {
        tr {
            td.w { (response) } td.w { (part) }
            td.n { (quantity::estimate(ratio)) }
            td.n { (quantity::interval(ratio).unwrap_or_else(|| text("interval.few-blocks"))) }
            td.n { (confidence(ratio)) } td.n { (ratio.n) } td.w { (verdict) }
        }
    }
}

fn trials_part(experiment: &ExperimentResult, id: &str) -> Markup {
    let plots: Vec<(Direction, Markup)> = shared_wording::DIRECTIONS
        .into_iter()
        .filter_map(|way| {
            Some((
                way,
                plot::trials(experiment, way, &format!("{id}-trials-{}", way.as_str()))?,
            ))
        })
        .collect();
    let cut = shared_wording::DIRECTIONS
        .into_iter()
        .any(|way| plot::trials_leave_out_zero(experiment, way));
    html! {
        @if !plots.is_empty() {
            h4 { (text("heading.every-trial")) }
            p.legend {
                span { (plot::legend_dot(Arm::A)) "A: " (experiment.question.a.name) }
                @if !shared_wording::is_baseline(experiment) { span { (plot::legend_dot(Arm::B)) "B: " (experiment.question.b.name) } }
                span.quiet { (text("page.medians")) @if cut { (text("page.axis-cut")) } }
            }
            div.pair {
                @for (way, plot) in &plots {
                    figure { figcaption { b { (shared_wording::direction(*way)) } (text("page.blocks-in-order")) } (plot) }
                }
            }
            (trials_table(experiment))
        }
    }
}

fn trials_table(experiment: &ExperimentResult) -> Markup {
    let mut samples = experiment.samples.iter();
    let looked = samples.any(|one| one.server_cpu_per_byte.is_some());
    html! {
        details {
            summary { (text("page.trial-numbers")) }
            div.scroll tabindex="0" {
                table {
                    thead {
                        tr {
                            th { (text("column.response")) } th { (text("column.part")) } th { (text("column.arm")) } th.n { (text("column.median")) } th.n { (text("column.interval")) }
                            th.n { (text("column.cpu")) } @if looked { th.n { (text("column.server-cpu")) } }
                            th.n { (text("column.resent")) } th { (text("column.trials-by-block")) }
                        }
                    }
                    tbody {
                        @for samples in &experiment.samples {
                            tr {
                                td.w { (shared_wording::direction(samples.response)) }
                                td.w { (shared_wording::phase(samples.phase)) }
                                td { @match samples.arm { Arm::A => "A", Arm::B => "B" } }
                                td.n { (quantity::estimate(&samples.median)) }
                                td.n { (quantity::interval_with_unit(&samples.median).unwrap_or_default()) }
                                td.n { (samples.cpu_per_byte.as_ref().map(quantity::estimate).unwrap_or_default()) }
                                @if looked { td.n { (samples.server_cpu_per_byte.as_ref().map(quantity::estimate).unwrap_or_default()) } }
                                td.n { @if let Some(count) = samples.retransmits { (count) } }
                                td.t { (shared_wording::rate_list(&samples.rates)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
