//! The rates of a check: bars of each direction, and their numbers in a table.

use analysis::{LadderRung, RunAnalysis, RungName};
use locale::text;
use maud::{Markup, html};

use super::{confidence, prose};
use crate::shared_wording::{self, Ladder};
use crate::terminal_layout::finite_max;
use crate::{plot, quantity};

/// What the scale of the ladders must hold: the highest rate, end of an interval, or ceiling.
pub(crate) fn longest_rate(ladders: &[Ladder<'_>]) -> f64 {
    let rungs = ladders.iter().flat_map(|ladder| &ladder.rungs);
    let rates = rungs.flat_map(|rung| rung.rate.iter().chain(&rung.ceiling));
    finite_max(rates.flat_map(|rate| [rate.value, rate.interval.map_or(0.0, |[_, high]| high)]))
}

pub(super) fn ladder_part(analysis: &RunAnalysis, id: &str) -> Markup {
    let ladders = shared_wording::ladders(analysis);
    let loss = analysis
        .diagnosis
        .as_ref()
        .and_then(|diagnosis| diagnosis.first_loss);
    let longest = longest_rate(&ladders);
    html! {
        @if !ladders.is_empty() {
            h3 { (text("heading.rates")) }
            div.pair {
                @for ladder in &ladders {
                    @let loses = loss.filter(|(_, way)| *way == ladder.direction).map(|(rung, _)| rung);
                    figure {
                        figcaption { b { (shared_wording::direction_explained(ladder.direction)) } (text("page.rate-and-share")) }
                        (plot::ladder(ladder, longest, loses, &format!("{id}-ladder-{}", ladder.direction.as_str())))
                    }
                }
            }
            (ladder_table(&ladders))
            @for reason in shared_wording::ceilings(analysis) { p.quiet.small { (prose(&reason)) } }
            @for session in shared_wording::sessions(analysis) { p.quiet.small { (prose(&session)) } }
        }
    }
}

fn ladder_table(ladders: &[Ladder<'_>]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th { (text("column.rung")) } th.n { (text("column.rate")) } th.n { (text("column.interval")) } th.n { (text("column.bits")) }
                        th.n { (text("column.of-ceiling")) } th.n { (text("column.of-above")) } th.n { (text("column.confidence")) } th.n { (text("column.trials")) }
                    }
                }
                tbody {
                    @for rung in ladders.iter().flat_map(|ladder| &ladder.rungs) { (ladder_row(rung)) }
                }
            }
        }
    }
}

fn ladder_row(rung: &LadderRung) -> Markup {
    let share = |estimate: &Option<stats::Estimate>| {
        estimate.as_ref().map(|share| quantity::share(share.value))
    };
    let name = shared_wording::rung_in(rung.rung, rung.direction);
    let is_computed = rung.rung == RungName::Ceiling;
    // What several channels are held against is their links, and not one channel.
    let has_above = !is_computed && rung.rung != RungName::Channels;
    html! {
        tr {
            td.w { (name) }
            @if let Some(rate) = &rung.rate {
                td.n { (quantity::estimate(rate)) }
                td.n { (quantity::interval_with_unit(rate).unwrap_or_else(|| shared_wording::no_interval(rung))) }
                td.n { (quantity::bit_rate(rate.value)) }
                td.n { (share(&rung.of_ceiling).unwrap_or_default()) }
                td.n { @if has_above { (share(&rung.of_above).unwrap_or_default()) } }
                td.n { (confidence(rate)) }
                td.n { @if !is_computed { (rate.n) } }
            } @else {
                td colspan="7" { (text("not-measured")) }
            }
        }
    }
}
