//! Probabilities and quantiles of the normal and of Student's distribution.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// A confidence that makes sense, whatever stood in a file.
pub(crate) fn sane(confidence: f64) -> f64 {
    if confidence.is_finite() {
        confidence.clamp(0.5, 0.999_999)
    } else {
        0.95
    }
}

pub(crate) fn standard_normal() -> Normal {
    Normal::standard()
}

/// The probability of a larger standard normal number.
pub(crate) fn standard_normal_above(value: f64) -> f64 {
    standard_normal().sf(value)
}

pub(crate) fn standard_normal_quantile(probability: f64) -> f64 {
    standard_normal().inverse_cdf(probability)
}

/// Two-sided quantile of Student's distribution for n values.
pub(crate) fn student(confidence: f64, n: usize) -> f64 {
    let probability = 0.5 + 0.5 * sane(confidence);
    let freedom = n.saturating_sub(1).max(1) as f64;
    StudentsT::new(0.0, 1.0, freedom).map_or_else(
        |_| standard_normal_quantile(probability),
        |student| student.inverse_cdf(probability),
    )
}

/// The probability of a `t` of n values at least as far from 0, on either side.
pub(crate) fn student_beyond(t: f64, n: usize) -> f64 {
    let freedom = n.saturating_sub(1).max(1) as f64;
    let above = StudentsT::new(0.0, 1.0, freedom)
        .map_or_else(|_| standard_normal_above(t), |student| student.sf(t));
    2.0 * above
}

/// One draw from the standard normal distribution (Box and Muller).
pub(crate) fn standard_normal_draw(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}
