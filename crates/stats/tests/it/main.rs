//! Statistics against hand, simulation and other programs.

mod against_r_and_scipy;
mod comparison;
mod coverage_under_noise;
mod p_values_and_intervals;
mod sequential;
mod two_stage_with_futility;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// One draw from the standard normal distribution (Box and Muller).
fn standard_normal_draw(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}
