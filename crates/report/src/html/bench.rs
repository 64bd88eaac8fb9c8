//! What a bench measured, workload by workload.

use analysis::RunAnalysis;
use locale::{said, text};
use maud::{Markup, html};
use record::Arm;

use super::{confidence, prose};
use crate::{bench_recipe_results, plot, quantity, shared_wording};

pub(super) fn bench_part(analysis: &RunAnalysis, id: &str) -> Markup {
    let measured: Vec<_> = analysis
        .bench
        .iter()
        .filter(|bench| !bench.rates.is_empty())
        .collect();
    html! {
        @if let Some(recipe) = bench_recipe_results::of(analysis) {
            (bench_recipe_results::html(recipe, analysis, id))
        } @else if !analysis.bench.is_empty() {
            h3 { (text("heading.measured")) }
            @if !measured.is_empty() {
                p.legend {
                    span { (plot::legend_dot(Arm::B)) (text("page.one-repetition")) }
                    span { span.swatch {} (text("page.interval-of-median")) }
                    span.quiet { (text("page.line-is-median")) }
                }
                div.pair {
                    @for (index, bench) in measured.iter().enumerate() {
                        figure {
                            figcaption { b { (shared_wording::workload_short(&bench.workload)) } (text("page.repetitions-in-order")) }
                            (plot::repetitions(bench, &format!("{id}-bench-{}", index + 1)))
                        }
                    }
                }
            }
            div.scroll tabindex="0" {
                table {
                    thead {
                        tr {
                            th { (text("column.workload")) } th.n { (text("column.median")) } th.n { (text("column.interval")) } th.n { (text("column.confidence")) }
                            th.n { (text("column.cpu")) } th.n { (text("column.resent")) } th { (text("column.repetitions")) }
                        }
                    }
                    tbody {
                        @for bench in &analysis.bench {
                            tr {
                                td.w { (shared_wording::workload_short(&bench.workload)) }
                                td.n { (bench.median.as_ref().map_or_else(|| text("not-measured"), quantity::estimate)) }
                                td.n { (bench.median.as_ref().and_then(quantity::interval_with_unit).unwrap_or_default()) }
                                td.n { (bench.median.as_ref().map(confidence).unwrap_or_default()) }
                                td.n { (shared_wording::processors(bench)) }
                                td.n { @if let Some(count) = bench.retransmits { (count) } }
                                td.t { (shared_wording::rate_list(&bench.rates)) @for failure in &bench.failures { div { (text("bench.failed")) " " (prose(&said(failure))) } } }
                            }
                        }
                    }
                }
            }
            @for session in shared_wording::sessions(analysis) { p.quiet.small { (prose(&session)) } }
        }
    }
}
