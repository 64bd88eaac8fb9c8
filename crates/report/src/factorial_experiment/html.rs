//! The part of a page in a browser that an experiment over several factors has.

use fit::DesignResult;
use fit::table::TableResult;
use locale::{said, say, text};
use maud::{Markup, html};
use record::Design;

use super::{arm_name, looked, noise_words, pair_words, pairs_of, progress, rate_list, unit_name};
use crate::{plot, quantity, shared_wording, table_analysis};

/// The part of the page in a browser.
pub(crate) fn html(result: &DesignResult, id: &str) -> Markup {
    let design = &result.design;
    html! {
        h3 { (design.title) }
        p.quiet.small { (progress(result)) }
        @for reason in &design.left_out { p { (text("design-row.left-out")) " " (said(&design.message(reason))) } }
        @for alias in &design.aliases { p.quiet { (text("design-row.aliased")) " " (alias) } }
        @for noise in &result.noise { p.quiet { (noise_words(noise, design)) } }
        @if let Some(published) = &design.published { p { b { (text("design-row.published")) " " } (published) } }
        @for (number, response) in design.responses.iter().enumerate() {
            @let unit = unit_name(result, &response.name);
            h4 { (response.name) }
            (figures(result, &response.name, unit, &format!("{id}-effect-{number}")))
            (comparisons(result, &response.name))
            (arm_table(result, &response.name, unit))
        }
        @for results in [&result.rates, &result.costs] {
            @for one in results { (effect_table(one)) }
        }
        @for failure in &result.failures { p { (text("bench.failed")) " " (said(failure)) } }
        @for caveat in &result.caveats { p.quiet { (said(caveat)) } }
    }
}

/// A picture for each factor by each other one.
fn figures(result: &DesignResult, response: &str, unit: &str, id: &str) -> Markup {
    let design = &result.design;
    html! {
        @for place in 0..design.factors.len() {
            @for other in 0..design.factors.len() {
                @if other != place || design.factors.len() == 1 {
                    figure {
                        figcaption { b { (figure_title(design, [place, other])) } (said(&say("design-figure.medians").with("unit", unit))) }
                        (plot::interaction(result, response, [place, other], &format!("{id}-{place}-{other}")))
                    }
                }
            }
        }
    }
}

/// What a picture shows: the levels of a factor, by those of another one where there is one.
fn figure_title(design: &Design, [place, other]: [usize; 2]) -> String {
    let factor = &design.factors[place].name;
    if other == place {
        return factor.clone();
    }
    let sentence = say("design-figure.by").with("factor", factor);
    said(&sentence.with("other", &design.factors[other].name))
}

/// How the arms differ; what holds for one combination of the other factors only, is folded away.
fn comparisons(result: &DesignResult, response: &str) -> Markup {
    let [whole, parts] = pairs_of(result, response);
    html! {
        ul { @for pair in whole { li { (pair_words(pair)) } } }
        @if !parts.is_empty() {
            details {
                summary { (text("design-row.combinations")) }
                ul { @for pair in parts { li { (pair_words(pair)) } } }
            }
        }
    }
}

fn arm_table(result: &DesignResult, response: &str, unit: &str) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th { (text("column.arm")) } th.n { (text("column.median")) } th.n { (text("column.interval")) }
                        th.n { (text("column.cpu")) } @if looked(result, response) { th.n { (text("column.server-cpu")) } }
                        th { (said(&say("design-column.samples").with("unit", unit))) }
                    }
                }
                tbody {
                    @for samples in result.samples.iter().filter(|one| one.response == response) {
                        tr {
                            td { (arm_name(samples, &result.design)) }
                            td.n { (samples.median.as_ref().map_or_else(String::new, quantity::estimate)) }
                            td.n { (samples.median.as_ref().and_then(quantity::interval_with_unit).unwrap_or_default()) }
                            td.n { (samples.cpu_per_byte.as_ref().map(quantity::estimate).unwrap_or_default()) }
                            @if looked(result, response) { td.n { (samples.server_cpu_per_byte.as_ref().map(quantity::estimate).unwrap_or_default()) } }
                            td.t { (rate_list(samples, usize::MAX)) }
                        }
                    }
                }
            }
        }
    }
}

/// What is fitted to the rates or the costs of a response.
fn effect_table(one: &TableResult) -> Markup {
    html! {
        h4 { (said(&say("design-effects").with("response", &one.response))) }
        div.scroll tabindex="0" {
            table {
                thead {
                    tr {
                        th { (text("table-column.changed")) } th { (text("table-column.from-to")) } th.n { (text("column.effect")) }
                        th.n { (text("table-column.interval")) } th.n { (text("table-column.p")) } th { (text("column.verdict")) }
                    }
                }
                tbody {
                    @for effect in &one.effects {
                        tr {
                            td { (effect.factor) }
                            td { (table_analysis::compared(effect)) }
                            td.n { @if let Some(change) = table_analysis::change(effect) { (change) (table_analysis::unit(one)) } @else { (text("design-effects.not-estimated")) } }
                            td.n { (table_analysis::interval(effect).unwrap_or_default()) }
                            td.n { (effect.p_holm.map(table_analysis::probability).unwrap_or_default()) }
                            td { (shared_wording::verdict(effect.verdict)) }
                        }
                    }
                }
            }
        }
        @for warning in &one.warnings { p.quiet.small { (said(&warning.text)) } }
    }
}
