//! What an effect is held against. Where a factor was changed only from plot to plot, and others within
//! plots, there are two kinds of noise: rows of one plot share what differs from plot to plot, so an
//! effect between plots is as sure as the plots are many, not as the rows are (split plot: Yates 1935;
//! Box, Hunter and Hunter, Statistics for Experimenters, chapter 9). With equally many rows in each
//! plot these are the classical two mean squares; otherwise their weighted sum stands for both, with
//! degrees of freedom by Satterthwaite (1946).

use super::design_matrix::{Design, Term};
use super::gram_schmidt_least_squares::{Basis, Fit};

/// A share of the weights that is rounding.
const ROUNDING: f64 = 1e-9;

/// A share of the residual sum of squares that is rounding.
const RESIDUAL_ROUNDING: f64 = 1e-14;

/// A variance, and what it was estimated from.
#[derive(Clone, Copy)]
pub(super) struct Variance {
    pub(super) value: f64,
    pub(super) degrees: usize,
}

/// The variances of a fit.
pub(super) struct Noise<'d> {
    plots: Option<&'d [usize]>,
    /// Of a row; in its plot where there are plots.
    pub(super) within: Option<Variance>,
    /// Of a plot's mean, times its rows.
    pub(super) between: Option<Variance>,
}

impl<'d> Noise<'d> {
    /// `terms` are those of the fit.
    pub(super) fn new(design: &'d Design, terms: &[Term], basis: &Basis, fit: &Fit) -> Self {
        let variance = |squares: f64, degrees: usize| {
            let value = squares / degrees as f64;
            // Where nothing but rounding is left over, nothing was learnt of the noise.
            let known = degrees > 0 && squares > RESIDUAL_ROUNDING * fit.sum_of_squares;
            known.then_some(Variance { value, degrees })
        };
        let Some(plots) = design.plots.as_deref() else {
            return Self {
                plots: None,
                within: variance(fit.sum_of_squares, fit.degrees),
                between: None,
            };
        };
        let sums = sums(plots, &fit.residuals);
        let among: f64 = sums.iter().map(|(sum, rows)| sum * sum / rows).sum();
        let among = among.min(fit.sum_of_squares);
        let mut of_plots = Basis::new(design.groups());
        for term in terms {
            let column = design.column(*term);
            if design.is_between_plots(&column) {
                of_plots.push(&column);
            }
        }
        let within = basis.rank() - of_plots.rank();
        Self {
            plots: Some(plots),
            within: variance(
                fit.sum_of_squares - among,
                (design.len() - sums.len()).saturating_sub(within),
            ),
            between: variance(among, sums.len().saturating_sub(of_plots.rank())),
        }
    }

    /// The variance of a weighted sum of the rows; `None` where nothing is left to estimate it with.
    pub(super) fn of(&self, weights: &[f64]) -> Option<Variance> {
        let whole: f64 = weights.iter().map(|weight| weight * weight).sum();
        let among: f64 = match self.plots {
            Some(plots) => {
                let sums = sums(plots, weights);
                sums.iter().map(|(sum, rows)| sum * sum / rows).sum()
            }
            None => 0.0,
        };
        let part = |variance: Option<Variance>, share: f64| {
            variance.map(|variance| Variance {
                value: variance.value * share,
                degrees: variance.degrees,
            })
        };
        if among <= ROUNDING * whole {
            return part(self.within, whole);
        }
        if whole - among <= ROUNDING * whole {
            return part(self.between, whole);
        }
        let [one, other] = [
            part(self.within, whole - among)?,
            part(self.between, among)?,
        ];
        let value = one.value + other.value;
        let shares = [one, other].map(|part| part.value * part.value / part.degrees as f64);
        let degrees = (value * value / shares.iter().sum::<f64>())
            .floor()
            .max(1.0);
        Some(Variance {
            value,
            degrees: if degrees.is_finite() {
                degrees as usize
            } else {
                one.degrees
            },
        })
    }
}

/// The sum over each plot's rows, and how many these are.
fn sums(plots: &[usize], values: &[f64]) -> Vec<(f64, f64)> {
    let count = plots.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![(0.0, 0.0); count];
    for (plot, value) in plots.iter().zip(values) {
        sums[*plot].0 += value;
        sums[*plot].1 += 1.0;
    }
    sums
}
