//! What settings that were not tried will probably give: a Gaussian process over the settings.
//!
//! A rate's logarithm is taken as a sum of what each factor does alone and of what two and three of
//! them do together, all unknown beforehand and normally distributed. How much a factor can do at all
//! is learnt from the measurements, and so is how much less is done together; but no factor is ever
//! held for one without any effect, because what does nothing alone may do much with another one.
//! Trials of one block have a disturbance in common. The model only proposes; what is kept is proven
//! without it.

/// What was measured at one setting, as the logarithm of its rate.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    /// The choice of each factor; 0 is the start's.
    pub(crate) point: Vec<usize>,
    /// Trials with the same number have a disturbance in common.
    pub(crate) block: usize,
    /// Logarithm of the rate.
    pub(crate) log: f64,
}

/// How much a factor can do, against the others.
const STRENGTHS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// What a factor of strength 1 does, as a standard deviation of the rate's logarithm.
const SPREADS: [f64; 6] = [0.01, 0.03, 0.06, 0.12, 0.25, 0.5];
/// Variance of what two do together, against that of one; for three it is the square of it.
const TOGETHER: [f64; 4] = [0.05, 0.2, 0.5, 1.0];
/// Times that all of these are gone through, at first and when more was measured.
const SWEEPS: [usize; 2] = [3, 1];
/// Standard deviation of the mean's logarithm around the first trial.
const MEAN_SPREAD: f64 = 2.0;

/// The process, fitted.
#[derive(Debug)]
pub(crate) struct Model {
    observations: Vec<Observation>,
    /// Choices of each factor, the start's among them.
    choices: Vec<usize>,
    /// Place in [`STRENGTHS`] of each factor.
    strengths: Vec<usize>,
    spread: usize,
    together: usize,
    noise: f64,
    centre: f64,
    factor: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl Model {
    /// Fits it to what was measured; `noise` is the standard deviation of a trial's logarithm. An
    /// earlier fit to a part of it saves time.
    pub(crate) fn fit(
        observations: Vec<Observation>,
        choices: Vec<usize>,
        noise: f64,
        earlier: Option<&Self>,
    ) -> Self {
        let logs = observations.iter().map(|observation| observation.log);
        let centre = logs.sum::<f64>() / observations.len().max(1) as f64;
        let mut model = Self {
            observations,
            strengths: earlier.map_or_else(
                || vec![STRENGTHS.len() / 2; choices.len()],
                |earlier| earlier.strengths.clone(),
            ),
            choices,
            spread: earlier.map_or(SPREADS.len() / 2, |earlier| earlier.spread),
            together: earlier.map_or(TOGETHER.len() / 2, |earlier| earlier.together),
            noise: noise.max(1e-4),
            centre,
            factor: Vec::new(),
            weights: Vec::new(),
        };
        for _ in 0..SWEEPS[usize::from(earlier.is_some())] {
            model.spread = model.most_likely(SPREADS.len(), |model, place| model.spread = place);
            model.together =
                model.most_likely(TOGETHER.len(), |model, place| model.together = place);
            for factor in 0..model.choices.len() {
                model.strengths[factor] = model.most_likely(STRENGTHS.len(), |model, place| {
                    model.strengths[factor] = place;
                });
            }
        }
        model.likelihood();
        model
    }

    fn most_likely(&mut self, places: usize, set: impl Fn(&mut Self, usize)) -> usize {
        let tried = (0..places).map(|place| {
            set(self, place);
            (self.likelihood(), place)
        });
        let best = tried.max_by(|one, two| one.0.total_cmp(&two.0));
        best.map_or(0, |(_, place)| place)
    }

    /// The factors, those that do most first.
    pub(crate) fn strongest(&self) -> Vec<usize> {
        let mut factors: Vec<usize> = (0..self.choices.len()).collect();
        factors.sort_by_key(|factor| std::cmp::Reverse(self.strengths[*factor]));
        factors
    }

    /// The mean of a setting's logarithm.
    pub(crate) fn mean(&self, point: &[usize]) -> f64 {
        let known = self.observations.iter().zip(&self.weights);
        let known = known.map(|(known, weight)| self.covariance(point, &known.point) * weight);
        self.centre + known.sum::<f64>()
    }

    /// The standard deviations of the differences between settings and one of them.
    pub(crate) fn differences(&self, points: &[Vec<usize>], from: &[usize]) -> Vec<f64> {
        let known = |point: &[usize]| -> Vec<f64> {
            let known = self.observations.iter();
            let known = known.map(|known| self.covariance(point, &known.point));
            forward(&self.factor, &known.collect::<Vec<f64>>())
        };
        let (own, of_from) = (self.covariance(from, from), known(from));
        let deviation = |point: &Vec<usize>| {
            let known = known(point).into_iter().zip(&of_from);
            let known: f64 = known.map(|(one, two)| (one - two).powi(2)).sum();
            let prior = 2.0 * (own - self.covariance(point, from));
            (prior - known).max(0.0).sqrt()
        };
        points.iter().map(deviation).collect()
    }

    fn covariance(&self, one: &[usize], two: &[usize]) -> f64 {
        let (mut alone, mut pairs, mut triples) = (0.0, 0.0, 0.0);
        for (factor, (one, two)) in one.iter().zip(two).enumerate() {
            let same = if one == two {
                1.0
            } else {
                -1.0 / (self.choices[factor] as f64 - 1.0)
            };
            let own = STRENGTHS[self.strengths[factor]] * same;
            triples += pairs * own;
            pairs += alone * own;
            alone += own;
        }
        let less = TOGETHER[self.together];
        let sum = alone + less * pairs + less * less * triples;
        MEAN_SPREAD.powi(2) + SPREADS[self.spread].powi(2) * sum
    }

    /// The logarithm of how likely the measurements are; makes the model ready to predict on the way.
    fn likelihood(&mut self) -> f64 {
        let noise = self.noise.powi(2);
        let rows = self.observations.iter().enumerate().map(|(row, one)| {
            let columns = self.observations[..=row].iter().enumerate();
            let columns = columns.map(|(column, two)| {
                let mut value = self.covariance(&one.point, &two.point);
                if one.block == two.block {
                    value += noise;
                }
                if row == column {
                    value += noise;
                }
                value
            });
            columns.collect()
        });
        self.factor = cholesky(rows.collect());
        let logs = self.observations.iter();
        let logs: Vec<f64> = logs
            .map(|observation| observation.log - self.centre)
            .collect();
        let half = forward(&self.factor, &logs);
        let fit: f64 = half.iter().map(|value| value * value).sum();
        let places = self.factor.iter().enumerate();
        let volume: f64 = places.map(|(place, row)| row[place].ln()).sum();
        self.weights = backward(&self.factor, half);
        -0.5 * fit - volume
    }
}

/// The lower triangle whose square is the matrix, of which the lower triangle is given.
fn cholesky(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for row in 0..rows.len() {
        let (above, below) = rows.split_at_mut(row);
        let own = &mut below[0];
        for column in 0..=row {
            let other = if column == row {
                None
            } else {
                Some(&above[column])
            };
            let sum: f64 = match other {
                Some(other) => (0..column).map(|place| own[place] * other[place]).sum(),
                None => own[..column].iter().map(|value| value * value).sum(),
            };
            own[column] = match other {
                Some(other) => (own[column] - sum) / other[column],
                None => (own[column] - sum).max(1e-12).sqrt(),
            };
        }
    }
    rows
}

fn forward(factor: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let mut solved: Vec<f64> = Vec::with_capacity(values.len());
    for (row, value) in factor.iter().zip(values) {
        let sum: f64 = row.iter().zip(&solved).map(|(one, two)| one * two).sum();
        solved.push((value - sum) / row[solved.len()]);
    }
    solved
}

fn backward(factor: &[Vec<f64>], mut values: Vec<f64>) -> Vec<f64> {
    for row in (0..values.len()).rev() {
        let below: f64 = (row + 1..values.len())
            .map(|place| factor[place][row] * values[place])
            .sum();
        values[row] = (values[row] - below) / factor[row][row];
    }
    values
}
