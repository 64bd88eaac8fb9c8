//! Interactions that nobody named: each pair of factors on its own, on top of the main effects.

use super::design::{Design, Term};
use super::distribution::f_upper;
use super::effects::{Draft, EffectDraft};
use super::linear::{Basis, Fit};
use super::noise::Noise;
use super::{TableTest, TableWarning};

/// Columns of all pairs together; a table with more is not screened.
const COLUMNS_MAX: usize = 128;
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
        Some("there are too many of them; name those that matter as `a:b`")
    } else if fit.degrees == 0 {
        Some("the main effects use up all rows")
    } else {
        None
    };
    if let Some(why) = skipped {
        let text = format!("interactions were not looked at: {why}");
        draft
            .warnings
            .push(TableWarning::new("interactions_skipped", text));
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
            draft.effects.push(contrast.effect);
            continue;
        }
        let text = format!(
            "`{}` are one and the same contrast in these rows",
            names.join("`, `")
        );
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

fn aliased(design: &Design, basis: &Basis, pair: [usize; 2], draft: &mut Draft) {
    let mut others: Vec<String> = Vec::new();
    let own = basis
        .dependent()
        .iter()
        .filter(|(column, _)| *column >= design.terms.len());
    for (_, on) in own {
        for (column, _) in on {
            match design.terms.get(*column) {
                None | Some(Term::Mean) => {}
                Some(term) => others.push(design.name(*term)),
            }
        }
    }
    others.sort_unstable();
    others.dedup();
    let name = design.pair_name(pair);
    let text = if others.is_empty() {
        format!("`{name}` cannot be estimated: its two factors were never changed together")
    } else {
        format!("`{name}` cannot be told from {}", others.join(" with "))
    };
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
    let text =
        format!("`{name}` leaves no row over to say how sure it is: measure again, then ask again");
    TableWarning::new("no_degrees_of_freedom", text)
}
