//! Effects of one response: estimates, and then the verdicts over all responses together.

use std::collections::{BTreeMap, BTreeSet};

use super::design::{Design, Term};
use super::distribution::{f_upper, holm, median, t_quantile_two_sided, t_two_sided};
use super::error::Error;
use super::linear::{Basis, Fit};
use super::names::{self, Better};
use super::noise::Noise;
use super::read::{Table, shown};
use super::suspect::is_whole;
use super::{
    Interactions, Request, SIGNIFICANCE, TableEffect, TableResult, TableTest, TableWarning,
    overall, screen, suspect,
};
use stats::Verdict;

/// Rows of one kind that are named one by one.
const NAMED_MAX: usize = 8;
/// Values per level and stratum that pairs are made of; of more, evenly spaced ones are taken.
const PAIRED_MAX: usize = 256;
/// Standard normal quantile of how often a difference that can be found is: four times out of five.
const POWER_QUANTILE: f64 = 0.841_621_2;
/// What two factors do together, judged by differences.
pub(crate) const NOT_ADDED: &str = "their effects do not add up";
/// The same, judged by ratios.
pub(crate) const NOT_MULTIPLIED: &str = "their effects do not multiply";
/// A share of the largest value that is rounding.
const ROUNDING: f64 = 1e-9;

/// A response before Holm's correction, which needs the others.
pub(super) struct Draft {
    pub(super) response: String,
    /// Not known where neither the request nor the name says it.
    pub(super) better: Option<Better>,
    pub(super) n: usize,
    /// Of these rows, those that would tell something of the noise if all were measured once more: each
    /// block that is measured anew uses up one.
    fresh: usize,
    pub(super) effects: Vec<EffectDraft>,
    pub(super) tests: Vec<TableTest>,
    pub(super) warnings: Vec<TableWarning>,
}

/// An effect before its verdict.
pub(super) struct EffectDraft {
    factor: String,
    level: String,
    baseline: String,
    estimate: Option<f64>,
    /// Classical.
    error: Option<f64>,
    /// Allowing each row its own variance (HC3).
    robust_error: Option<f64>,
    degrees: usize,
    /// The fitted value it is compared with.
    reference: Option<f64>,
    /// Level over baseline.
    ratio: Option<f64>,
    /// Whether nobody named it: an interaction that was looked for.
    screened: bool,
    /// For an interaction: the first factor alone, the second alone, and both, over the baseline.
    apart: Option<[f64; 3]>,
}

impl EffectDraft {
    /// The effect of the column of a term; `terms` are those in the basis.
    pub(super) fn new(
        design: &Design,
        terms: &[Term],
        basis: &Basis,
        fit: &Fit,
        noise: &Noise<'_>,
        column: usize,
    ) -> Self {
        let mut draft = Self::aliased(design, terms[column]);
        if !basis.is_estimable(column) {
            return draft;
        }
        let Some(weights) = basis.weights(column) else {
            return draft;
        };
        let largest = design
            .values
            .iter()
            .fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let mut estimate = fit.coefficients[column];
        if fit.sum_of_squares == 0.0 && estimate.abs() <= ROUNDING * largest {
            estimate = 0.0;
        }
        draft.estimate = Some(estimate);
        let variance = noise.of(&weights);
        draft.degrees = variance.map_or(0, |variance| variance.degrees);
        draft.error = variance.map(|variance| variance.value.sqrt());
        // Rows of one plot have something in common, which HC3 does not know of.
        draft.robust_error = match design.plots {
            None => robust_error(&weights, basis, fit),
            Some(_) => None,
        };
        let reference = reference(design, terms, basis, fit, column);
        draft.reference = Some(reference);
        // A fitted value of nothing but rounding is no base for a ratio.
        let least = ROUNDING * largest;
        let fitted = (reference > least && reference + estimate > least)
            .then(|| (reference + estimate) / reference);
        draft.ratio = match terms[column] {
            Term::Main { factor, level } => paired_ratio(design, factor, level).or(fitted),
            _ => fitted,
        };
        draft.apart = apart(design, terms, basis, fit, column);
        draft
    }

    /// The effect of a term that cannot be told from others.
    pub(super) fn aliased(design: &Design, term: Term) -> Self {
        let (factor, level, baseline) = match term {
            Term::Main { factor, level } => {
                let factor = &design.factors[factor];
                (
                    factor.name.clone(),
                    factor.levels[level].clone(),
                    factor.levels[0].clone(),
                )
            }
            Term::Pair { factors, levels } => {
                let level = |place: usize, level: usize| {
                    design.factors[factors[place]].levels[level].as_str()
                };
                (
                    design.pair_name(factors),
                    format!("{}:{}", level(0, levels[0]), level(1, levels[1])),
                    format!("{}:{}", level(0, 0), level(1, 0)),
                )
            }
        };
        Self {
            factor,
            level,
            baseline,
            estimate: None,
            error: None,
            robust_error: None,
            degrees: 0,
            reference: None,
            ratio: None,
            screened: false,
            apart: None,
        }
    }

    pub(super) fn screened(self) -> Self {
        Self {
            screened: true,
            ..self
        }
    }

    pub(super) fn without_estimate(self) -> Self {
        Self {
            estimate: None,
            error: None,
            robust_error: None,
            reference: None,
            ratio: None,
            apart: None,
            ..self
        }
    }

    /// Degrees of freedom of its error; 0 where it has none.
    pub(super) const fn degrees(&self) -> usize {
        self.degrees
    }

    /// The estimate over its classical error.
    pub(super) fn t(&self) -> Option<f64> {
        Some(over(self.estimate?, self.error?))
    }

    fn p(&self, error: Option<f64>) -> Option<f64> {
        let t = over(self.estimate?, error?);
        Some(f_upper(t * t, 1, self.degrees))
    }

    fn half_width(&self, error: Option<f64>) -> Option<f64> {
        Some(t_quantile_two_sided(SIGNIFICANCE, self.degrees) * error?)
    }

    fn verdict(
        &self,
        better: Option<Better>,
        band: f64,
        half: Option<f64>,
        p: Option<f64>,
    ) -> Verdict {
        let (Some(estimate), Some(half), Some(p)) = (self.estimate, half, p) else {
            return Verdict::Undecided;
        };
        let reaches = estimate.abs() + half;
        match self.reference {
            Some(reference) if reaches <= band * reference => Verdict::Equivalent,
            _ if p >= SIGNIFICANCE => Verdict::Undecided,
            _ => match better {
                None => Verdict::Undecided,
                Some(better) if (estimate > 0.0) == (better == Better::Higher) => Verdict::Better,
                Some(_) => Verdict::Worse,
            },
        }
    }
}

fn over(estimate: f64, error: f64) -> f64 {
    if estimate == 0.0 {
        0.0
    } else {
        (estimate / error).abs()
    }
}

/// Fits one response.
///
/// # Errors
///
/// The table cannot answer the question.
pub(super) fn draft(table: &Table, request: &Request, response: &str) -> Result<Draft, Error> {
    let mut warnings = Vec::new();
    let design = Design::new(table, request, response, &mut warnings)?;
    let better = request.better.or_else(|| names::better(response));
    if better.is_none() {
        let text = format!(
            "nothing says whether more of `{}` is better, so no difference in it is called better or \
             worse: say it with `--better higher` or `--better lower`",
            shown(response)
        );
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
    draft.warnings.extend(suspect::rates(&design));
    draft.warnings.extend(limits(&design, &basis, &fit));
    draft.warnings.extend(few_plots(&design, &noise));
    draft
        .tests
        .extend(overall::tests(&design, &basis, &fit, &noise));
    draft.warnings.extend(suspect::rows(&design, &basis, &fit));
    for effect in draft.effects.iter().filter(|_| design.typed) {
        let levels = [effect.baseline.as_str(), &effect.level];
        let found = suspect::level(response, &effect.factor, levels, effect.ratio);
        draft.warnings.extend(found);
    }
    if request.interactions == Interactions::Screened && design.pairs.is_empty() {
        screen::screen(&design, &mut basis, &fit, &mut draft);
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
    let text = format!(
        "{} changed from plot to plot only, and there are too few plots to say how sure that is: \
         measure more blocks",
        names.join(", ")
    );
    (!names.is_empty()).then(|| TableWarning::new("no_degrees_of_freedom", text))
}

/// What the rows cannot say.
fn limits(design: &Design, basis: &Basis, fit: &Fit) -> Vec<TableWarning> {
    let mut warnings = Vec::new();
    for (column, on) in basis.dependent() {
        let others: Vec<String> = on
            .iter()
            .map(|(other, _)| design.name(design.terms[*other]))
            .collect();
        let name = design.name(design.terms[*column]);
        let values = design.column(design.terms[*column]);
        let text = if others.is_empty() && values.iter().any(|value| *value != values[0]) {
            format!("{name} was changed from block to block only, like what else differs in them")
        } else if others.is_empty() {
            format!("{name} never occurs, or always: it has no effect of its own to estimate")
        } else {
            format!(
                "{name} cannot be told from {}: they were changed together",
                others.join(" with ")
            )
        };
        warnings.push(TableWarning::new("aliased", text));
    }
    for pair in &design.pairs {
        for [own, other] in [[pair[0], pair[1]], [pair[1], pair[0]]] {
            let [own, other] = [own, other].map(|factor| &design.factors[factor]);
            let text = format!(
                "the effect of `{}` is the one at `{}={}`, because their interaction was asked for",
                own.name,
                other.name,
                shown(&other.levels[0])
            );
            warnings.push(TableWarning::new("conditional", text));
        }
    }
    if fit.degrees == 0 {
        let text = format!(
            "{} rows for {} parameters: no degree of freedom is left, so nothing says how sure the estimates are",
            design.len(),
            basis.rank()
        );
        warnings.push(TableWarning::new("no_degrees_of_freedom", text));
        return warnings;
    }
    if fit.sum_of_squares == 0.0 {
        let text = "the model fits every row exactly: rounded or computed figures; nothing says how sure the estimates are";
        warnings.push(TableWarning::new("exact_fit", text.into()));
    }
    let mut arms = design.arms();
    arms.sort_unstable();
    arms.dedup();
    if arms.len() == design.len() {
        let text =
            "every combination was measured once: the intervals rest on the effects adding up";
        warnings.push(TableWarning::new("unreplicated", text.into()));
    }
    let alone = basis.leverages().into_iter().enumerate();
    let alone = alone
        .filter(|(_, leverage)| is_whole(*leverage))
        .take(NAMED_MAX);
    warnings.extend(alone.map(|(place, _)| {
        let row = design.rows[place];
        let text = format!("an estimate rests on row {row} alone, and nothing checks it");
        TableWarning::at(row, "leverage", text)
    }));
    warnings
}

/// The standard error that allows each row its own variance (HC3).
fn robust_error(weights: &[f64], basis: &Basis, fit: &Fit) -> Option<f64> {
    if fit.degrees == 0 || fit.sum_of_squares == 0.0 {
        return None;
    }
    let mut sum = 0.0;
    for ((weight, residual), leverage) in weights.iter().zip(&fit.residuals).zip(basis.leverages())
    {
        if is_whole(leverage) {
            return None;
        }
        sum += (weight * residual / (1.0 - leverage)).powi(2);
    }
    Some(sum.sqrt())
}

/// The fitted value without the effect, averaged over the rows: with its factors at their baselines, or,
/// for an interaction, at its levels as if the two effects added up.
fn reference(design: &Design, terms: &[Term], basis: &Basis, fit: &Fit, column: usize) -> f64 {
    let mean = design.values.iter().sum::<f64>() / design.len() as f64;
    match (
        baseline_value(design, terms, basis, fit, column),
        terms[column],
    ) {
        (Some(baseline), Term::Pair { .. }) => {
            let [one, other] = main_effects(terms, fit, column);
            baseline + one + other
        }
        (Some(baseline), _) => baseline,
        (None, _) => mean,
    }
}

/// The fitted value with all factors of a term, and those they interact with, at their baselines.
fn baseline_value(
    design: &Design,
    terms: &[Term],
    basis: &Basis,
    fit: &Fit,
    column: usize,
) -> Option<f64> {
    let own: Vec<usize> = (0..design.factors.len())
        .filter(|factor| terms[column].involves(*factor))
        .collect();
    let joined = |term: &Term| own.iter().any(|factor| term.involves(*factor));
    let partner = |factor: &usize| match terms[column] {
        Term::Main { .. } => terms
            .iter()
            .any(|term| joined(term) && term.involves(*factor)),
        _ => own.contains(factor),
    };
    let set: Vec<usize> = (0..design.factors.len()).filter(partner).collect();
    let mut value = design.values.iter().sum::<f64>() / design.len() as f64;
    for (place, term) in terms.iter().enumerate() {
        if set.iter().any(|factor| term.involves(*factor)) {
            if !basis.is_estimable(place) {
                return None;
            }
            value -= fit.coefficients[place] * design.column(*term).iter().sum::<f64>()
                / design.len() as f64;
        }
    }
    Some(value)
}

/// Coefficients of the two main effects under an interaction.
fn main_effects(terms: &[Term], fit: &Fit, column: usize) -> [f64; 2] {
    let Term::Pair { factors, levels } = terms[column] else {
        return [0.0; 2];
    };
    [0, 1].map(|place| {
        let main = Term::Main {
            factor: factors[place],
            level: levels[place],
        };
        let found = terms.iter().position(|term| *term == main);
        found.map_or(0.0, |main| fit.coefficients[main])
    })
}

fn apart(
    design: &Design,
    terms: &[Term],
    basis: &Basis,
    fit: &Fit,
    column: usize,
) -> Option<[f64; 3]> {
    let Term::Pair { .. } = terms[column] else {
        return None;
    };
    let baseline = baseline_value(design, terms, basis, fit, column)?;
    let [one, other] = main_effects(terms, fit, column);
    let both = one + other + fit.coefficients[column];
    (baseline > 0.0).then(|| [one, other, both].map(|change| (baseline + change) / baseline))
}

/// Level over baseline as the median over all pairs of rows that differ in this factor only
/// (Hodges-Lehmann on logarithms); with interactions in the model, at the baselines of the partners.
fn paired_ratio(design: &Design, factor: usize, level: usize) -> Option<f64> {
    let mut strata: BTreeMap<Vec<usize>, [Vec<f64>; 2]> = BTreeMap::new();
    for (row, mut key) in design.arms().into_iter().enumerate() {
        let own = std::mem::take(&mut key[factor]);
        let at_baseline = design
            .pairs
            .iter()
            .filter(|pair| pair.contains(&factor))
            .all(|pair| {
                pair.iter()
                    .all(|partner| *partner == factor || key[*partner] == 0)
            });
        let side = match own {
            0 => 0,
            own if own == level => 1,
            _ => continue,
        };
        if design.values[row] <= 0.0 {
            return None;
        }
        if at_baseline {
            key.extend(design.block.as_ref().map(|block| block.of_row[row]));
            strata.entry(key).or_default()[side].push(design.values[row].ln());
        }
    }
    let mut differences = Vec::new();
    for [baseline, level] in strata.into_values() {
        let (baseline, level) = (spread(baseline), spread(level));
        for value in &level {
            differences.extend(baseline.iter().map(|other| value - other));
        }
    }
    median(&mut differences)
        .map(f64::exp)
        .filter(|ratio| ratio.is_finite())
}

/// Evenly spaced values of many, all of few.
fn spread(mut values: Vec<f64>) -> Vec<f64> {
    if values.len() <= PAIRED_MAX {
        return values;
    }
    values.sort_by(f64::total_cmp);
    (0..PAIRED_MAX)
        .map(|place| values[(2 * place + 1) * values.len() / (2 * PAIRED_MAX)])
        .collect()
}

/// What all effects are judged by.
struct Rule {
    band: f64,
    /// What the effects and tests of all responses weigh in Holm's correction.
    tested: f64,
}

/// Gives every effect its corrected probability and its verdict.
pub(super) fn judge(drafts: Vec<Draft>, band: f64) -> Vec<TableResult> {
    let family = family(&drafts, |effect| effect.error);
    let screened = family.iter().filter(|(_, screened)| *screened).count();
    let asked = family.len() - screened;
    let rule = Rule {
        band,
        tested: (asked + screened.min(asked)).max(1) as f64,
    };
    let mut classical = adjusted(&drafts, |effect| effect.error).into_iter();
    let mut robust = adjusted(&drafts, |effect| effect.robust_error.or(effect.error)).into_iter();
    let mut results = Vec::new();
    for mut draft in drafts {
        let mut effects = Vec::new();
        for effect in std::mem::take(&mut draft.effects) {
            let p_holm = effect.t().and_then(|_| classical.next());
            let p_holm_robust = effect.t().and_then(|_| robust.next());
            effects.push(judged(effect, &mut draft, &rule, [p_holm, p_holm_robust]));
        }
        for test in draft.tests.iter_mut().filter(|test| test.p_holm.is_some()) {
            test.p_holm = classical.next();
            robust.next();
        }
        results.push(TableResult {
            unit: names::unit(&draft.response).into(),
            response: draft.response,
            n: draft.n,
            effects,
            tests: draft.tests,
            warnings: draft.warnings,
        });
    }
    results
}

/// Holm over effects and interactions of all responses, in the order in which [`judge`] takes them.
fn adjusted(drafts: &[Draft], error: impl Fn(&EffectDraft) -> Option<f64>) -> Vec<f64> {
    corrected(&family(drafts, error))
}

/// Probability of each, and whether nobody asked for it.
fn family(drafts: &[Draft], error: impl Fn(&EffectDraft) -> Option<f64>) -> Vec<(f64, bool)> {
    let mut family = Vec::new();
    for draft in drafts {
        let effects = draft.effects.iter();
        family.extend(effects.filter_map(|one| Some((one.p(error(one))?, one.screened))));
        let tests = draft.tests.iter().filter(|test| test.p_holm.is_some());
        family.extend(tests.map(|test| (test.p, true)));
    }
    family
}

/// Holm over probabilities, each with whether nobody asked for it. Interactions that nobody named weigh
/// no more, all together, than what was asked: many factors have many pairs, and looking at these must
/// not hide what the factors do.
pub(crate) fn corrected(family: &[(f64, bool)]) -> Vec<f64> {
    let screened = family.iter().filter(|(_, screened)| *screened).count();
    let asked = family.len() - screened;
    let weight = match asked {
        0 => 1.0,
        asked => (asked as f64 / screened.max(1) as f64).min(1.0),
    };
    let weighted = family
        .iter()
        .map(|(p, screened)| (*p, if *screened { weight } else { 1.0 }));
    holm(&weighted.collect::<Vec<_>>())
}

fn judged(
    effect: EffectDraft,
    draft: &mut Draft,
    rule: &Rule,
    [p_holm, p_holm_robust]: [Option<f64>; 2],
) -> TableEffect {
    let band = rule.band;
    let half = effect.half_width(effect.error);
    let verdict = effect.verdict(draft.better, band, half, p_holm);
    let name = format!("`{}={}`", shown(&effect.factor), shown(&effect.level));
    if let Some(error) = effect.robust_error {
        let half = effect.half_width(Some(error));
        let robust = effect.verdict(draft.better, band, half, p_holm_robust);
        if robust != verdict {
            let text = format!(
                "{name} would be {} instead of {} if the rows may differ in noise (HC3 errors)",
                word(robust),
                word(verdict)
            );
            draft
                .warnings
                .push(TableWarning::new("robust_errors", text));
        }
    }
    draft
        .warnings
        .extend(interaction(&effect, draft.better, verdict, band));
    // Another unit would be taken for noise.
    let is_clean = draft.warnings.iter().all(|one| one.kind != "unit_slip");
    if is_clean && verdict == Verdict::Undecided && p_holm.is_some_and(|p| p >= SIGNIFICANCE) {
        let rows = [draft.n, draft.fresh];
        draft.warnings.extend(power(&effect, rows, rule));
    }
    if let (Some(ratio), Verdict::Better | Verdict::Worse, Some(estimate)) =
        (effect.ratio, verdict, effect.estimate)
        && (ratio > 1.0) != (estimate > 0.0)
        && (ratio - 1.0).abs() > band
    {
        let text =
            format!("{name}: mean and median point in opposite directions; look at the rows");
        draft
            .warnings
            .push(TableWarning::new("mean_against_median", text));
    }
    let ratio = match draft.better {
        Some(Better::Lower) => effect.ratio.map(f64::recip),
        Some(Better::Higher) | None => effect.ratio,
    };
    TableEffect {
        low: effect
            .estimate
            .zip(half)
            .map(|(estimate, half)| estimate - half),
        high: effect
            .estimate
            .zip(half)
            .map(|(estimate, half)| estimate + half),
        p: effect.p(effect.error),
        p_holm,
        verdict,
        by_ratio: false,
        ratio: ratio.filter(|ratio| ratio.is_finite()),
        estimate: effect.estimate,
        factor: effect.factor,
        level: effect.level,
        baseline: effect.baseline,
    }
}

/// How far from 0 an effect must be, in errors of its estimate, to be found four times out of five: the
/// error is only estimated, which matters where few degrees of freedom are left (the normal
/// approximation of the noncentral t: Abramowitz and Stegun, 26.7.10).
fn detectable(chance: f64, degrees: usize) -> f64 {
    let asked = t_quantile_two_sided(chance, degrees);
    let degrees = degrees as f64;
    let spread = (1.0 + asked * asked / (2.0 * degrees)).sqrt();
    asked * (1.0 - 1.0 / (4.0 * degrees)) + POWER_QUANTILE * spread
}

/// How many rows would settle what was asked, if estimate and noise stay as they are, and what these can
/// find at all.
fn power(effect: &EffectDraft, [rows, fresh]: [usize; 2], rule: &Rule) -> Option<TableWarning> {
    /// More is no advice.
    const TABLES_MAX: usize = 100;
    let (estimate, error) = (effect.estimate?, effect.error?);
    if effect.screened {
        return None;
    }
    let chance = SIGNIFICANCE / rule.tested;
    let settles = |tables: &usize| {
        let degrees = effect.degrees + (tables - 1) * fresh;
        let error = error / (*tables as f64).sqrt();
        let exceeds = |distance: f64, chance: f64| {
            distance > 0.0 && t_two_sided(distance / error, degrees) < chance
        };
        let to_end = effect.reference.map(|one| rule.band * one - estimate.abs());
        exceeds(estimate.abs(), chance)
            || to_end.is_some_and(|to_end| exceeds(to_end, SIGNIFICANCE))
    };
    let settled = match (2..=TABLES_MAX).find(settles) {
        Some(tables) => format!("about {}", tables * rows),
        None => format!("more than {}", TABLES_MAX * rows),
    };
    let least = detectable(chance, effect.degrees) * error;
    let reference = effect.reference.filter(|reference| *reference > 0.0);
    let found = reference.map(|reference| {
        let percent = percent(least / reference);
        format!("; these find a difference of {percent} four times out of five")
    });
    let text = format!(
        "`{}={}`: {settled} rows like these {rows} would settle it{}",
        shown(&effect.factor),
        shown(&effect.level),
        found.unwrap_or_default()
    );
    Some(TableWarning::new("power", text))
}

/// A share in percent with two digits, which is all that is known of it.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 1000.0 {
        return "more than 1000 %".into();
    }
    let decimals = (1.0 - percent.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{percent:.decimals$} %")
}

/// What two factors do only together, where it is shown, or where it is large and cannot be tested.
fn interaction(
    effect: &EffectDraft,
    better: Option<Better>,
    verdict: Verdict,
    band: f64,
) -> Option<TableWarning> {
    let [one, other, both] = effect.apart?;
    let large = effect.ratio.is_none_or(|ratio| (ratio - 1.0).abs() > band);
    let shown_to_be = matches!(verdict, Verdict::Better | Verdict::Worse);
    if !(shown_to_be || (effect.degrees == 0 && large)) {
        return None;
    }
    let inside = |ratio: f64| (ratio - 1.0).abs() <= band;
    let pure = inside(one) && inside(other) && !inside(both);
    let what = if pure {
        "only both together change it"
    } else {
        NOT_ADDED
    };
    let sure = if shown_to_be {
        ""
    } else {
        " (not tested: no degree of freedom is left)"
    };
    // As the ratios of the effects: above 1 is better, also of times.
    let (ratios, above) = match better {
        Some(Better::Lower) => (
            [one, other, both].map(f64::recip),
            ", where above 1 is better",
        ),
        Some(Better::Higher) | None => ([one, other, both], ""),
    };
    let [one, other, both] = ratios;
    let text = format!(
        "`{}`: {what}: x{one:.2} by the first alone, x{other:.2} by the second alone, \
         x{both:.2} by both{above}{sure}",
        shown(&effect.factor)
    );
    Some(TableWarning::new("interaction", text))
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided => "undecided",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::analyze;

    /// Numbers between 0 and 1, the same in each run.
    struct Random(u64);

    impl Random {
        fn number(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// A normal number, near enough.
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.number()).sum::<f64>() - 6.0
        }
    }

    const RUNS: usize = 500;
    const NOISE: f64 = 2.0;

    /// The half of all combinations of four factors in so many blocks, each block with a level of its
    /// own; `d` is worth this much.
    fn half(blocks: usize, worth: f64, random: &mut Random) -> TableResult {
        let mut text = "a,b,c,d,block,read_mb_s\n".to_owned();
        for block in 0..blocks {
            let drift = 10.0 * random.number();
            for arm in 0..8_usize {
                let [a, b, c] = [arm & 1, arm >> 1 & 1, arm >> 2];
                let d = a ^ b ^ c;
                let value = 100.0 + drift + worth * d as f64 + NOISE * random.normal();
                text.push_str(&format!("{a},{b},{c},{d},{block},{value}\n"));
            }
        }
        let mut request = Request::new(["read_mb_s"], ["a", "b", "c", "d"]);
        request.blocks = Some("block".into());
        let table = Table::from_csv(&text).expect("a table");
        analyze(&table, &request).expect("an answer").remove(0)
    }

    fn of_d(result: &TableResult) -> &TableEffect {
        let mut effects = result.effects.iter();
        effects.find(|effect| effect.factor == "d").expect("it")
    }

    /// Eight runs a block, of which each effect takes all: its variance is 4/N of a row's, with
    /// N - blocks - 4 degrees of freedom; and what is said to be found four times out of five is.
    #[test]
    fn a_fraction_finds_what_it_says_as_often_as_it_says() {
        let mut random = Random(1);
        for blocks in [1, 3] {
            let rows = 8 * blocks;
            let degrees = rows - blocks - 4;
            let error = NOISE * (4.0 / rows as f64).sqrt();
            let wide = t_quantile_two_sided(SIGNIFICANCE, degrees);
            // Four effects, and the three contrasts that are two interactions each.
            let worth = detectable(SIGNIFICANCE / 7.0, degrees) * error;
            let mut found = 0.0;
            let mut variance = 0.0;
            for _ in 0..RUNS {
                let result = half(blocks, worth, &mut random);
                let effect = of_d(&result);
                found += f64::from(u8::from(effect.p_holm.is_some_and(|p| p < SIGNIFICANCE)));
                let half = (effect.high.expect("an end") - effect.low.expect("an end")) / 2.0;
                variance += (half / wide).powi(2);
            }
            let (found, variance) = (found / RUNS as f64, variance / RUNS as f64);
            assert!(
                (variance / error.powi(2) - 1.0).abs() < 0.12,
                "{blocks}: {variance}"
            );
            assert!((0.75..0.86).contains(&found), "{blocks} blocks: {found}");
        }
    }
}
