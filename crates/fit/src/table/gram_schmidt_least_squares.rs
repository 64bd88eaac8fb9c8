//! Least squares by Gram-Schmidt, one column after the other. Each column is orthogonalised twice, which
//! makes it as exact as Householder's method and leaves what is needed here: columns can be tried and
//! taken back, and a column that depends on earlier ones says on which. What groups of rows have in
//! common, the mean of all or of each block, is taken out first; so blocks may be many.

/// A column shorter than this share of itself after the others are taken out depends on them.
const TOLERANCE: f64 = 1e-8;
/// A share of the sum of squares that is rounding and not residual.
const ROUNDING: f64 = 1e-22;

/// Columns of a model, orthogonalised.
pub(super) struct Basis {
    /// Group of each row, from 0.
    groups: Vec<usize>,
    /// Rows in each group, none of them 0.
    counts: Vec<f64>,
    /// Orthonormal directions, one per independent column.
    directions: Vec<Vec<f64>>,
    /// For each direction's column: its parts along the directions up to its own.
    triangle: Vec<Vec<f64>>,
    /// Which pushed column each direction came from.
    independent: Vec<usize>,
    /// Columns that depend on earlier ones: `(column, [(earlier column, factor)])`.
    dependent: Vec<(usize, Vec<(usize, f64)>)>,
    columns: usize,
}

/// A place to go back to.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    directions: usize,
    dependent: usize,
    columns: usize,
}

/// Least squares of one response on the columns of a [`Basis`].
pub(super) struct Fit {
    /// Per pushed column; 0 for dependent ones.
    pub(super) coefficients: Vec<f64>,
    pub(super) residuals: Vec<f64>,
    pub(super) sum_of_squares: f64,
    /// Rows that are left to estimate the noise with.
    pub(super) degrees: usize,
}

impl Basis {
    /// No column yet, only the mean of each group; of each row its group, counted from 0 without a gap.
    pub(super) fn new(groups: Vec<usize>) -> Self {
        let mut counts = vec![0.0; groups.iter().max().map_or(0, |last| last + 1)];
        for group in &groups {
            counts[*group] += 1.0;
        }
        Self {
            groups,
            counts,
            directions: Vec::new(),
            triangle: Vec::new(),
            independent: Vec::new(),
            dependent: Vec::new(),
            columns: 0,
        }
    }

    /// Takes the mean of each group out.
    fn centre(&self, values: &mut [f64]) {
        let mut means = vec![0.0; self.counts.len()];
        for (value, group) in values.iter().zip(&self.groups) {
            means[*group] += value / self.counts[*group];
        }
        for (value, group) in values.iter_mut().zip(&self.groups) {
            *value -= means[*group];
        }
    }

    /// Adds a column and says whether it was independent of those before.
    pub(super) fn push(&mut self, column: &[f64]) -> bool {
        let mut rest = column.to_vec();
        let mut parts = vec![0.0; self.directions.len()];
        for _ in 0..2 {
            self.centre(&mut rest);
            for (part, direction) in parts.iter_mut().zip(&self.directions) {
                let along = dot(direction, &rest);
                *part += along;
                subtract(&mut rest, along, direction);
            }
        }
        let length = dot(&rest, &rest).sqrt();
        let place = self.columns;
        self.columns += 1;
        if length <= TOLERANCE * dot(column, column).sqrt() {
            let on = self.solve(&parts);
            let on = self.independent.iter().copied().zip(on);
            let on = on
                .filter(|(_, factor)| factor.abs() > TOLERANCE.sqrt())
                .collect();
            self.dependent.push((place, on));
            return false;
        }
        rest.iter_mut().for_each(|value| *value /= length);
        parts.push(length);
        self.directions.push(rest);
        self.triangle.push(parts);
        self.independent.push(place);
        true
    }

    pub(super) const fn mark(&self) -> Mark {
        Mark {
            directions: self.directions.len(),
            dependent: self.dependent.len(),
            columns: self.columns,
        }
    }

    /// Takes back every column pushed since.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.directions.truncate(mark.directions);
        self.triangle.truncate(mark.directions);
        self.independent.truncate(mark.directions);
        self.dependent.truncate(mark.dependent);
        self.columns = mark.columns;
    }

    pub(super) const fn rank(&self) -> usize {
        self.counts.len() + self.directions.len()
    }

    pub(super) fn last_direction(&self) -> Option<&[f64]> {
        self.directions.last().map(Vec::as_slice)
    }

    /// Sum of squares of the response along the directions after a mark.
    pub(super) fn explained_since(&self, mark: Mark, response: &[f64]) -> f64 {
        let new = self.directions.iter().skip(mark.directions);
        new.map(|direction| dot(direction, response).powi(2)).sum()
    }

    /// Columns that depend on earlier ones, and on which.
    pub(super) fn dependent(&self) -> &[(usize, Vec<(usize, f64)>)] {
        &self.dependent
    }

    /// Whether the coefficient of a column has one value only: neither it nor a column that depends on
    /// it could take its place.
    pub(super) fn is_estimable(&self, column: usize) -> bool {
        !self.dependent.iter().any(|(dependent, on)| {
            *dependent == column || on.iter().any(|(other, _)| *other == column)
        })
    }

    pub(super) fn fit(&self, response: &[f64]) -> Fit {
        let mut residuals = response.to_vec();
        let mut parts = vec![0.0; self.directions.len()];
        for _ in 0..2 {
            self.centre(&mut residuals);
            for (part, direction) in parts.iter_mut().zip(&self.directions) {
                let along = dot(direction, &residuals);
                *part += along;
                subtract(&mut residuals, along, direction);
            }
        }
        let mut coefficients = vec![0.0; self.columns];
        for (column, coefficient) in self.independent.iter().zip(self.solve(&parts)) {
            coefficients[*column] = coefficient;
        }
        let left = dot(&residuals, &residuals);
        let sum_of_squares = if left <= ROUNDING * dot(response, response) {
            0.0
        } else {
            left
        };
        Fit {
            coefficients,
            residuals,
            sum_of_squares,
            degrees: self.groups.len() - self.rank(),
        }
    }

    /// How much of each fitted value comes from its own row: 1 where the fit passes through it whatever
    /// it is.
    pub(super) fn leverages(&self) -> Vec<f64> {
        let of_group = |group: &usize| self.counts[*group].recip();
        let mut leverages: Vec<f64> = self.groups.iter().map(of_group).collect();
        for direction in &self.directions {
            for (leverage, value) in leverages.iter_mut().zip(direction) {
                *leverage += value * value;
            }
        }
        leverages
    }

    /// What each row's value is multiplied by to give the coefficient of an independent column.
    pub(super) fn weights(&self, column: usize) -> Option<Vec<f64>> {
        let place = self
            .independent
            .iter()
            .position(|independent| *independent == column)?;
        let mut weights = vec![0.0; self.groups.len()];
        // Row `place` of the inverse triangle, found column by column.
        let mut inverse = vec![0.0; self.directions.len()];
        for other in place..self.directions.len() {
            let unit = if other == place { 1.0 } else { 0.0 };
            let known: f64 = (place..other)
                .map(|k| inverse[k] * self.triangle[other][k])
                .sum();
            inverse[other] = (unit - known) / self.triangle[other][other];
            subtract(&mut weights, -inverse[other], &self.directions[other]);
        }
        Some(weights)
    }

    /// Coefficients of the independent columns for these parts along the directions.
    fn solve(&self, parts: &[f64]) -> Vec<f64> {
        let mut solution = parts.to_vec();
        for place in (0..self.directions.len()).rev() {
            let value = solution[place] / self.triangle[place][place];
            solution[place] = value;
            for (earlier, part) in solution.iter_mut().zip(&self.triangle[place]).take(place) {
                *earlier -= value * part;
            }
        }
        solution
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn subtract(from: &mut [f64], times: f64, what: &[f64]) {
    for (value, other) in from.iter_mut().zip(what) {
        *value -= times * other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line through (0, 1), (1, 3), (2, 5), (3, 9): slope 13 / 5, residuals 0.4, -0.2, -0.8, 0.6.
    #[test]
    fn a_line_is_fitted_as_by_hand() {
        let mut basis = Basis::new(vec![0; 4]);
        assert!(basis.push(&[0.0, 1.0, 2.0, 3.0]));
        let fit = basis.fit(&[1.0, 3.0, 5.0, 9.0]);
        let close = |one: f64, other: f64| (one - other).abs() < 1e-12;
        assert!(close(fit.coefficients[0], 2.6));
        assert!(close(fit.sum_of_squares, 0.16 + 0.04 + 0.64 + 0.36));
        assert_eq!(fit.degrees, 2);
        let weights = basis.weights(0).unwrap();
        for (weight, expected) in weights.iter().zip([-0.3, -0.1, 0.1, 0.3]) {
            assert!(close(*weight, expected), "{weights:?}");
        }
        assert!(close(basis.leverages().iter().sum(), 2.0));
    }

    #[test]
    fn dependent_columns_say_on_which_and_are_taken_back() {
        let mut basis = Basis::new(vec![0; 4]);
        basis.push(&[0.0, 0.0, 1.0, 1.0]);
        let mark = basis.mark();
        basis.push(&[0.0, 1.0, 0.0, 1.0]);
        assert!(!basis.push(&[1.0; 4]) && !basis.push(&[1.0, 1.0, 0.0, 0.0]));
        assert_eq!(basis.rank(), 3);
        assert_eq!(basis.dependent()[0], (2, Vec::new()));
        let (column, on) = &basis.dependent()[1];
        assert_eq!(*column, 3);
        let on: Vec<(usize, f64)> = on
            .iter()
            .map(|(column, factor)| (*column, factor.round()))
            .collect();
        assert_eq!(on, [(0, -1.0)]);
        assert!(!basis.is_estimable(0) && basis.is_estimable(1) && !basis.is_estimable(3));
        basis.rewind(mark);
        assert!(basis.is_estimable(0));
        assert_eq!(basis.rank(), 2);
        assert_eq!(basis.fit(&[1.0, 1.0, 2.0, 2.0]).sum_of_squares, 0.0);
    }
}
