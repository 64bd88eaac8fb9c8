//! Tests over all arms, or over all levels of one factor. Holm's correction of the effects would do for most tables; these
//! stay because the answer to a published one is given by them: `mtu-and-task-offload-iperf.csv`, F(3, 16) = 1.674 and
//! H(3) = 4.796, held by `tests/table/published_studies.rs`.

use std::collections::BTreeMap;

use super::TableTest;
use super::design_matrix::{Design, Term};
use super::gram_schmidt_least_squares::{Basis, Fit};
use super::split_plot_variance::Noise;
use super::tail_probabilities::{chi_squared_upper, f_upper};

/// A share of the sum of squares that is rounding.
const ROUNDING: f64 = 1e-22;
/// Up to so many ways of giving the ranks to the arms Kruskal and Wallis' test tries all of them; above,
/// chi-squared is close enough.
const ARRANGEMENTS_MAX: f64 = 200_000.0;

/// One-way analysis of variance and Kruskal-Wallis over the combinations of all factors, where some were
/// measured more than once; then each factor of several levels on its own.
pub(super) fn tests(
    design: &Design,
    basis: &Basis,
    fit: &Fit,
    noise: &Noise<'_>,
) -> Vec<TableTest> {
    let mut tests = Vec::new();
    // With blocks neither would be right: rows of one block belong together.
    if design.block.is_none() {
        let mut arms: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (row, arm) in design.arms().into_iter().enumerate() {
            arms.entry(arm).or_default().push(row);
        }
        let arms: Vec<Vec<usize>> = arms.into_values().collect();
        if arms.len() > 1 && arms.len() < design.len() {
            let over: Vec<String> = design
                .factors
                .iter()
                .map(|factor| factor.name.clone())
                .collect();
            tests.extend(one_way_anova(&design.values, &arms, over.clone()));
            tests.push(kruskal_wallis(&design.values, &arms, over));
        }
    }
    let alone = design.factors.len() == 1 && design.block.is_none();
    for place in 0..design.factors.len() {
        if !alone && design.factors[place].levels.len() > 2 && design.pairs.is_empty() {
            tests.extend(factor(design, basis, (fit, noise), place));
        }
    }
    tests
}

/// `None` where the repeats do not differ, which says nothing of how they would.
fn one_way_anova(values: &[f64], arms: &[Vec<usize>], over: Vec<String>) -> Option<TableTest> {
    let mean = |rows: &mut dyn Iterator<Item = usize>| {
        let (mut sum, mut count) = (0.0, 0.0);
        for row in rows {
            sum += values[row];
            count += 1.0;
        }
        sum / count
    };
    let grand = mean(&mut (0..values.len()));
    let (mut between, mut within) = (0.0, 0.0);
    for arm in arms {
        let own = mean(&mut arm.iter().copied());
        between += arm.len() as f64 * (own - grand).powi(2);
        within += arm
            .iter()
            .map(|row| (values[*row] - own).powi(2))
            .sum::<f64>();
    }
    let degrees = [arms.len() - 1, values.len() - arms.len()];
    let largest: f64 = values.iter().map(|value| value * value).sum();
    (within > ROUNDING * largest).then(|| f_test("one_way_anova", over, between, within, degrees))
}

fn f_test(
    name: &str,
    over: Vec<String>,
    between: f64,
    within: f64,
    degrees: [usize; 2],
) -> TableTest {
    let [above, below] = degrees;
    let f = (between / above as f64) / (within / below as f64);
    // Repeats without any difference leave nothing to divide by: a number that can still be written.
    let statistic = if f.is_finite() { f } else { f64::MAX };
    TableTest {
        name: name.into(),
        over,
        statistic,
        degrees_of_freedom: degrees.to_vec(),
        p: if f.is_nan() {
            1.0
        } else {
            f_upper(f, above, below)
        },
        p_holm: None,
    }
}

/// With middle ranks for ties, and corrected for them.
fn kruskal_wallis(values: &[f64], arms: &[Vec<usize>], over: Vec<String>) -> TableTest {
    let n = values.len() as f64;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut ranks = vec![0.0; values.len()];
    let (mut ties, mut first) = (0.0, 0);
    while first < order.len() {
        let value = values[order[first]];
        let same = order[first..]
            .iter()
            .take_while(|row| values[**row] == value)
            .count();
        for row in &order[first..first + same] {
            ranks[*row] = first as f64 + (same as f64 + 1.0) / 2.0;
        }
        ties += (same as f64).powi(3) - same as f64;
        first += same;
    }
    let squares = arms.iter().map(|arm| {
        let sum: f64 = arm.iter().map(|row| ranks[*row]).sum();
        sum * sum / arm.len() as f64
    });
    let squares = squares.sum::<f64>();
    let uncorrected = 12.0 / (n * (n + 1.0)) * squares - 3.0 * (n + 1.0);
    // Never 0: a table of equal values was refused before.
    let statistic = uncorrected / (1.0 - ties / (n.powi(3) - n));
    let degrees = arms.len() - 1;
    TableTest {
        name: "kruskal_wallis".into(),
        over,
        statistic,
        degrees_of_freedom: vec![degrees],
        p: exact(&ranks, arms, squares).unwrap_or_else(|| chi_squared_upper(statistic, degrees)),
        p_holm: None,
    }
}

/// The share of all ways of giving these ranks to the arms that tell them apart as well as these do;
/// `None` where there are too many.
fn exact(ranks: &[f64], arms: &[Vec<usize>], squares: f64) -> Option<f64> {
    let mut placed = 0.0;
    let mut ways = 1.0;
    for arm in arms {
        for count in 1..=arm.len() {
            placed += 1.0;
            ways *= placed / count as f64;
        }
    }
    if ways > ARRANGEMENTS_MAX {
        return None;
    }
    let sizes: Vec<f64> = arms.iter().map(|arm| arm.len() as f64).collect();
    let mut open: Vec<(usize, f64)> = arms.iter().map(|arm| (arm.len(), 0.0)).collect();
    // Equal ones may differ by rounding.
    let found = reaching(ranks, &sizes, &mut open, squares * (1.0 - 1e-12));
    Some((found / ways).min(1.0))
}

/// In how many ways the ranks fill the arms, of which `open` has the places left and the sum so far.
fn reaching(ranks: &[f64], sizes: &[f64], open: &mut [(usize, f64)], least: f64) -> f64 {
    let Some((rank, rest)) = ranks.split_first() else {
        let squares = open.iter().zip(sizes);
        let squares: f64 = squares.map(|((_, sum), size)| sum * sum / size).sum();
        return if squares >= least { 1.0 } else { 0.0 };
    };
    let mut found = 0.0;
    for arm in 0..open.len() {
        let before = open[arm];
        if let Some(left) = before.0.checked_sub(1) {
            open[arm] = (left, before.1 + rank);
            found += reaching(rest, sizes, open, least);
            open[arm] = before;
        }
    }
    found
}

/// Whether the model is worse without a factor.
fn factor(
    design: &Design,
    basis: &Basis,
    (fit, noise): (&Fit, &Noise<'_>),
    place: usize,
) -> Option<TableTest> {
    let without =
        design.basis(|term| !matches!(term, Term::Main { factor, .. } if factor == place));
    let degrees = basis.rank() - without.rank();
    let mut own = design.terms.iter().filter(|term| term.involves(place));
    let between =
        design.plots.is_some() && own.all(|term| design.is_between_plots(&design.column(*term)));
    let variance = if between { noise.between } else { noise.within }?;
    if degrees == 0 {
        return None;
    }
    let lost = without.fit(&design.values).sum_of_squares - fit.sum_of_squares;
    let over = vec![design.factors[place].name.clone()];
    Some(f_test(
        "factor",
        over,
        lost.max(0.0),
        variance.value * variance.degrees as f64,
        [degrees, variance.degrees],
    ))
}
