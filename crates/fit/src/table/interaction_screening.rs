//! Interactions that nobody named: each pair of factors on its own, on top of the main effects.

use std::collections::BTreeMap;

use locale::{Message, say};

use super::design_matrix::{Design, Term};
use super::effect_estimates::{Draft, EffectDraft};
use super::gram_schmidt_least_squares::{Basis, Fit};
use super::split_plot_variance::Noise;
use super::tail_probabilities::f_upper;
use super::{TableTest, TableWarning};

/// Columns of all pairs together; a table with more is not screened.
const COLUMNS_MAX: usize = 128;
/// Cells of the columns of all pairs; of more, those that are not screened are not held against the main
/// effects either.
const CELLS_MAX: usize = 1 << 20;
/// Cosine of the angle between two contrasts that are the same one.
const SAME: f64 = 1.0 - 1e-9;

/// A pair of two-level factors that could be told from the main effects.
struct Contrast {
    factors: [usize; 2],
    direction: Vec<f64>,
    effect: EffectDraft,
    statistic: Option<f64>,
    degrees: usize,
}

pub(super) fn screen(design: &Design, basis: &mut Basis, fit: &Fit, draft: &mut Draft) {
    let count = design.factors.len();
    let pairs: Vec<[usize; 2]> = (0..count)
        .flat_map(|one| (one + 1..count).map(move |other| [one, other]))
        .collect();
    if pairs.is_empty() {
        return;
    }
    let columns: usize = pairs
        .iter()
        .map(|pair| design.pair_terms(*pair).count())
        .sum();
    let skipped = if columns > COLUMNS_MAX {
        Some(say("table-interactions-skipped.too-many"))
    } else if fit.degrees == 0 {
        Some(say("table-interactions-skipped.no-rows"))
    } else {
        None
    };
    if let Some(text) = skipped {
        draft
            .warnings
            .push(TableWarning::new("interactions_skipped", text));
        if columns * design.len() <= CELLS_MAX {
            hidden(design, basis, &pairs, draft);
        }
        return;
    }
    let mut contrasts = Vec::new();
    let before = basis.rank();
    for pair in pairs {
        let mark = basis.mark();
        let terms: Vec<Term> = design.pair_terms(pair).collect();
        for term in &terms {
            basis.push(&design.column(*term));
        }
        let gained = basis.rank() - before;
        if gained == 0 {
            aliased(design, basis, pair, draft);
        } else if let [term] = terms.as_slice() {
            contrasts.extend(contrast(design, basis, pair, *term));
        } else {
            let more = basis.fit(&design.values);
            let all: Vec<Term> = design.terms.iter().chain(&terms).copied().collect();
            let noise = Noise::new(design, &all, basis, &more);
            let explained = basis.explained_since(mark, &design.values);
            let tested = joint(design, pair, (explained, gained), &noise);
            draft.tests.extend(tested);
            if more.degrees == 0 {
                draft.warnings.push(nothing_left(&design.pair_name(pair)));
            }
        }
        basis.rewind(mark);
    }
    settle(design, contrasts, draft);
}

fn contrast(design: &Design, basis: &Basis, pair: [usize; 2], term: Term) -> Option<Contrast> {
    let fit = basis.fit(&design.values);
    let terms: Vec<Term> = design.terms.iter().copied().chain([term]).collect();
    let noise = Noise::new(design, &terms, basis, &fit);
    let effect = EffectDraft::new(design, &terms, basis, &fit, &noise, terms.len() - 1);
    let statistic = effect.t().map(|t| t * t);
    Some(Contrast {
        factors: pair,
        direction: basis.last_direction()?.to_vec(),
        degrees: effect.degrees(),
        effect,
        statistic,
    })
}

/// Puts contrasts into the draft; those that are one and the same are named together and estimated as
/// neither.
fn settle(design: &Design, contrasts: Vec<Contrast>, draft: &mut Draft) {
    let mut groups: Vec<Vec<Contrast>> = Vec::new();
    for contrast in contrasts {
        let same = |group: &&mut Vec<Contrast>| {
            let along = group[0].direction.iter().zip(&contrast.direction);
            along.map(|(one, other)| one * other).sum::<f64>().abs() > SAME
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(contrast),
            None => groups.push(vec![contrast]),
        }
    }
    for mut group in groups {
        let names: Vec<String> = group
            .iter()
            .map(|contrast| design.pair_name(contrast.factors))
            .collect();
        if group.len() == 1 {
            let Some(contrast) = group.pop() else {
                continue;
            };
            if contrast.degrees == 0 {
                draft.warnings.push(nothing_left(&names[0]));
            }
            draft.effects.push(contrast.effect.screened());
            continue;
        }
        let text = say("table-alias.one-contrast").with("pairs", quoted(&names));
        draft.warnings.push(TableWarning::new("aliased", text));
        if let (Some(statistic), degrees) = (group[0].statistic, group[0].degrees) {
            let p = f_upper(statistic, 1, degrees);
            draft.tests.push(test(names, statistic, [1, degrees], p));
        }
        draft.effects.extend(
            group
                .into_iter()
                .map(|contrast| contrast.effect.without_estimate()),
        );
    }
}

/// Says of each set of main effects which interactions it cannot be told from, where these are not
/// tested.
fn hidden(design: &Design, basis: &mut Basis, pairs: &[[usize; 2]], draft: &mut Draft) {
    let mut behind: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    let before = basis.rank();
    for pair in pairs {
        let mark = basis.mark();
        for term in design.pair_terms(*pair) {
            basis.push(&design.column(term));
        }
        let others = mixed_with(design, basis, *pair);
        if basis.rank() == before && !others.is_empty() {
            behind
                .entry(others)
                .or_default()
                .push(design.pair_name(*pair));
        }
        basis.rewind(mark);
    }
    for (mains, pairs) in behind {
        let text = say("table-alias.of-pairs")
            .with_known("effects", together(mains))
            .with("pairs", quoted(&pairs));
        draft.warnings.push(TableWarning::new("aliased", text));
    }
}

/// Names as they stand in sentences.
fn quoted(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}

/// The names of effects, one with the other; `None` of none.
pub(super) fn together(names: Vec<String>) -> Option<Message> {
    let names = names.into_iter().map(Message::from);
    names.reduce(|one, other| {
        let both = say("table-alias.with").with("one", one);
        both.with("other", other)
    })
}

/// The terms that a pair's columns, pushed last, depend on: those of its own factors only where there
/// are no others.
fn mixed_with(design: &Design, basis: &Basis, pair: [usize; 2]) -> Vec<String> {
    let own = basis.dependent().iter();
    let own = own.filter(|(column, _)| *column >= design.terms.len());
    let on = own.flat_map(|(_, on)| on);
    let terms = on.filter_map(|(column, _)| design.terms.get(*column));
    let (own, foreign): (Vec<Term>, Vec<Term>) = terms
        .copied()
        .partition(|term| pair.iter().any(|factor| term.involves(*factor)));
    let terms = if foreign.is_empty() { own } else { foreign };
    let mut names: Vec<String> = terms.into_iter().map(|term| design.name(term)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn aliased(design: &Design, basis: &Basis, pair: [usize; 2], draft: &mut Draft) {
    let text = match together(mixed_with(design, basis, pair)) {
        Some(effects) => say("table-alias.pair").with("effects", effects),
        None => say("table-alias.never-together"),
    };
    let text = text.with("pair", design.pair_name(pair));
    draft.warnings.push(TableWarning::new("aliased", text));
    let terms: Vec<Term> = design.pair_terms(pair).collect();
    if let [term] = terms.as_slice() {
        draft.effects.push(EffectDraft::aliased(design, *term));
    }
}

fn joint(
    design: &Design,
    pair: [usize; 2],
    (explained, gained): (f64, usize),
    noise: &Noise<'_>,
) -> Option<TableTest> {
    let mut terms = design.pair_terms(pair);
    let between =
        design.plots.is_some() && terms.all(|term| design.is_between_plots(&design.column(term)));
    let variance = if between { noise.between } else { noise.within }?;
    let f = explained / gained as f64 / variance.value;
    let statistic = if f.is_finite() { f } else { f64::MAX };
    let p = if f.is_nan() {
        1.0
    } else {
        f_upper(f, gained, variance.degrees)
    };
    Some(test(
        vec![design.pair_name(pair)],
        statistic,
        [gained, variance.degrees],
        p,
    ))
}

fn test(over: Vec<String>, statistic: f64, degrees: [usize; 2], p: f64) -> TableTest {
    TableTest {
        name: "interaction".into(),
        over,
        statistic: statistic.min(f64::MAX),
        degrees_of_freedom: degrees.to_vec(),
        p,
        // Holm's correction replaces it; what is not part of its family has none.
        p_holm: Some(p),
    }
}

fn nothing_left(name: &str) -> TableWarning {
    let text = say("table-unsure.pair").with("pair", name);
    TableWarning::new("no_degrees_of_freedom", text)
}
