//! Effects of one response by least squares, before the verdicts over all responses together.

use std::collections::BTreeMap;

use super::design_matrix::{Design, Term};
use super::gram_schmidt_least_squares::{Basis, Fit};
use super::split_plot_variance::Noise;
use super::tail_probabilities::{f_upper, median, t_quantile_two_sided};
use super::unit_and_direction::Better;
use super::unit_slips_and_outliers::is_whole;
use super::{SIGNIFICANCE, TableTest, TableWarning};
use stats::Verdict;

/// Values per level and stratum that pairs are made of; of more, evenly spaced ones are taken.
const PAIRED_MAX: usize = 256;
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
    pub(super) fresh: usize,
    pub(super) effects: Vec<EffectDraft>,
    pub(super) tests: Vec<TableTest>,
    pub(super) warnings: Vec<TableWarning>,
}

/// An effect before its verdict.
pub(super) struct EffectDraft {
    pub(super) factor: String,
    pub(super) level: String,
    pub(super) baseline: String,
    pub(super) estimate: Option<f64>,
    /// Classical.
    pub(super) error: Option<f64>,
    /// Allowing each row its own variance (HC3).
    pub(super) robust_error: Option<f64>,
    pub(super) degrees: usize,
    /// The fitted value it is compared with.
    pub(super) reference: Option<f64>,
    /// Level over baseline.
    pub(super) ratio: Option<f64>,
    /// Whether nobody named it: an interaction that was looked for.
    pub(super) screened: bool,
    /// For an interaction: the first factor alone, the second alone, and both, over the baseline.
    pub(super) apart: Option<[f64; 3]>,
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

    pub(super) fn p(&self, error: Option<f64>) -> Option<f64> {
        let t = over(self.estimate?, error?);
        Some(f_upper(t * t, 1, self.degrees))
    }

    pub(super) fn half_width(&self, error: Option<f64>) -> Option<f64> {
        Some(t_quantile_two_sided(SIGNIFICANCE, self.degrees) * error?)
    }

    pub(super) fn verdict(
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
