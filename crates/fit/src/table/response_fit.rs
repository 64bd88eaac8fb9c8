//! One response: fits its effects, and says what its rows cannot tell.

use std::collections::BTreeSet;

use locale::say;

use super::csv_table::{Table, shown};
use super::design_matrix::{Design, Term};
use super::effect_estimates::{Draft, EffectDraft};
use super::error::Error;
use super::gram_schmidt_least_squares::{Basis, Fit};
use super::split_plot_variance::Noise;
use super::unit_and_direction;
use super::unit_slips_and_outliers::is_whole;
use super::{
    Interactions, Request, TableWarning, anova_and_kruskal_wallis, interaction_screening,
    unit_slips_and_outliers,
};

/// Rows of one kind that are named one by one.
const NAMED_MAX: usize = 8;

/// Fits one response.
///
/// # Errors
///
/// The table cannot answer the question.
pub(super) fn draft(table: &Table, request: &Request, response: &str) -> Result<Draft, Error> {
    let mut warnings = Vec::new();
    let design = Design::new(table, request, response, &mut warnings)?;
    let better = request
        .better
        .or_else(|| unit_and_direction::better(response));
    if better.is_none() {
        let text = say("table-direction").with("response", shown(response));
        warnings.push(TableWarning::new("direction", text));
    }
    let mut basis = design.basis(|_| true);
    let fit = basis.fit(&design.values);
    let noise = Noise::new(&design, &design.terms, &basis, &fit);
    let mut draft = Draft {
        response: response.into(),
        better,
        n: design.len(),
        fresh: fresh(&design),
        effects: Vec::new(),
        tests: Vec::new(),
        warnings,
    };
    for column in 0..design.terms.len() {
        draft.effects.push(EffectDraft::new(
            &design,
            &design.terms,
            &basis,
            &fit,
            &noise,
            column,
        ));
    }
    draft.warnings.extend(design.spellings());
    draft
        .warnings
        .extend(unit_slips_and_outliers::rates(&design));
    draft.warnings.extend(limits(&design, &basis, &fit));
    draft.warnings.extend(few_plots(&design, &noise));
    draft.tests.extend(anova_and_kruskal_wallis::tests(
        &design, &basis, &fit, &noise,
    ));
    draft
        .warnings
        .extend(unit_slips_and_outliers::rows(&design, &basis, &fit));
    for effect in draft.effects.iter().filter(|_| design.typed) {
        let levels = [effect.baseline.as_str(), &effect.level];
        let found = unit_slips_and_outliers::level(response, &effect.factor, levels, effect.ratio);
        draft.warnings.extend(found);
    }
    if request.interactions == Interactions::Screened && design.pairs.is_empty() {
        interaction_screening::screen(&design, &mut basis, &fit, &mut draft);
    }
    Ok(draft)
}

/// How many degrees of freedom so many rows more would add.
fn fresh(design: &Design) -> usize {
    let groups = |of_row: &[usize]| of_row.iter().collect::<BTreeSet<_>>().len();
    let blocks = design
        .block
        .as_ref()
        .map_or(0, |block| groups(&block.of_row));
    match &design.plots {
        Some(plots) => groups(plots).saturating_sub(blocks),
        None => design.len().saturating_sub(blocks),
    }
}

/// What is changed from plot to plot, and cannot be told from how these differ anyway.
fn few_plots(design: &Design, noise: &Noise<'_>) -> Option<TableWarning> {
    let between = |term: &&Term| {
        matches!(term, Term::Main { .. }) && design.is_between_plots(&design.column(**term))
    };
    if design.plots.is_none() || noise.between.is_some() {
        return None;
    }
    let terms = design.terms.iter().filter(between);
    let names: Vec<String> = terms.map(|term| design.name(*term)).collect();
    (!names.is_empty()).then(|| {
        let text = say("table-unsure.plots").with("effects", names);
        TableWarning::new("no_degrees_of_freedom", text)
    })
}

/// What the rows cannot say.
fn limits(design: &Design, basis: &Basis, fit: &Fit) -> Vec<TableWarning> {
    let mut warnings = aliased(design, basis);
    for pair in &design.pairs {
        for [own, other] in [[pair[0], pair[1]], [pair[1], pair[0]]] {
            let [own, other] = [own, other].map(|factor| &design.factors[factor]);
            let at = format!("{}={}", other.name, shown(&other.levels[0]));
            let text = say("table-conditional").with("factor", &own.name);
            let text = text.with("at", at);
            warnings.push(TableWarning::new("conditional", text));
        }
    }
    if fit.degrees == 0 {
        let text = say("table-unsure.rows")
            .count("rows", design.len())
            .count("parameters", basis.rank());
        warnings.push(TableWarning::new("no_degrees_of_freedom", text));
        return warnings;
    }
    if fit.sum_of_squares == 0.0 {
        let text = say("table-unsure.exact-fit");
        warnings.push(TableWarning::new("exact_fit", text));
    }
    let mut arms = design.arms();
    arms.sort_unstable();
    arms.dedup();
    if arms.len() == design.len() {
        let text = say("table-unsure.unreplicated");
        warnings.push(TableWarning::new("unreplicated", text));
    }
    let alone = basis.leverages().into_iter().enumerate();
    let alone = alone
        .filter(|(_, leverage)| is_whole(*leverage))
        .take(NAMED_MAX);
    warnings.extend(alone.map(|(place, _)| {
        let row = design.rows[place];
        let text = say("table-unsure.one-row").count("row", row);
        TableWarning::at(row, "leverage", text)
    }));
    warnings
}

/// What cannot be told from what else was changed.
fn aliased(design: &Design, basis: &Basis) -> Vec<TableWarning> {
    let mut warnings = Vec::new();
    for (column, on) in basis.dependent() {
        let others: Vec<String> = on
            .iter()
            .map(|(other, _)| design.name(design.terms[*other]))
            .collect();
        let values = design.column(design.terms[*column]);
        let text = match interaction_screening::together(others) {
            Some(effects) => say("table-alias.changed-together").with("effects", effects),
            None if values.iter().any(|value| *value != values[0]) => say("table-alias.by-block"),
            None => say("table-alias.never-varied"),
        };
        let text = text.with("effect", design.name(design.terms[*column]));
        warnings.push(TableWarning::new("aliased", text));
    }
    warnings
}
