//! How many blocks a question needs, and what so many can show.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::PairedRatios;
use crate::hodges_lehmann::location;
use crate::normal_and_student_t::{standard_normal_draw, standard_normal_quantile, student};
use crate::paired_ratios::SIGNED_RANK_WIDENING;
use crate::signed_rank::blocks_min;

/// The most blocks that are proposed to settle a question; more is no advice.
pub const BLOCKS_TO_SETTLE_MAX: usize = 1_000;
/// How often a real difference of the smallest detectable size would be seen.
const POWER: f64 = 0.8;
/// Up to this n the smallest detectable difference is simulated, above it a formula is close enough.
const DETECTABLE_SIMULATED_N_MAX: usize = 40;
/// Simulated experiments behind the smallest detectable difference.
const DETECTABLE_SIMULATIONS: usize = 2_000;

impl PairedRatios {
    /// How many blocks in all would probably settle it, if the estimate and the scatter stay as they
    /// are; `None` where that is more than a thousand or nothing can be said.
    #[must_use]
    pub fn blocks_to_settle(&self, band: f64, confidence: f64) -> Option<usize> {
        let (centre, _, _, _) = location(&self.logs, confidence)?;
        let deviation = self.deviation()?;
        let band = band.max(0.0).ln_1p();
        let first = (self.len() + 1).max(blocks_min(confidence));
        (first..=BLOCKS_TO_SETTLE_MAX).find(|&n| {
            let half = student(confidence, n) * deviation / (n as f64).sqrt();
            let half = half * SIGNED_RANK_WIDENING;
            centre.abs() > half || centre.abs() + half < band
        })
    }

    /// The smallest difference, as a share of 1, that as many blocks with the same scatter would call
    /// better or worse four times out of five; `None` where no difference could be.
    #[must_use]
    pub fn smallest_detectable(&self, confidence: f64) -> Option<f64> {
        let n = self.len();
        if n < blocks_min(confidence) {
            return None;
        }
        let shift = if n <= DETECTABLE_SIMULATED_N_MAX {
            detectable_shift(n, confidence)?
        } else {
            let power = standard_normal_quantile(POWER);
            SIGNED_RANK_WIDENING * (student(confidence, n) + power) / (n as f64).sqrt()
        };
        Some((shift * self.deviation()?).exp_m1())
    }
}

/// The shift, in standard deviations of a block's log ratio, that the interval of n normal values
/// sees in 80 of 100 samples. A sample is seen when the lower end of its interval exceeds the shift with
/// its sign changed, so one pass over samples without effect gives the answer as a quantile.
#[must_use]
pub fn detectable_shift(n: usize, confidence: f64) -> Option<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut needed = Vec::with_capacity(DETECTABLE_SIMULATIONS);
    for _ in 0..DETECTABLE_SIMULATIONS {
        let values: Vec<f64> = (0..n).map(|_| standard_normal_draw(&mut random)).collect();
        let (_, interval, _, _) = location(&values, confidence)?;
        needed.push(-interval?[0]);
    }
    needed.sort_by(f64::total_cmp);
    needed
        .get((POWER * DETECTABLE_SIMULATIONS as f64) as usize)
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With six blocks only six equal signs reach 95 %: a shift of d deviations is seen with
    /// probability Phi(d)^6, and Phi(1.7927)^6 = 0.8 (`scipy.stats.norm.ppf(0.8 ** (1/6))`).
    #[test]
    fn the_smallest_detectable_difference_of_six_blocks_by_hand() {
        let found = detectable_shift(6, 0.95).expect("six are enough");
        assert!((found - 1.7927).abs() < 0.05, "{found}");
        // Deviation of these six: 0.01 exactly (mean 0, squares 5 * 0.0001).
        let step = (0.0005_f64 / 4.0).sqrt();
        let logs = [step, -step, step, -step, 0.0, 0.0];
        let share = PairedRatios::new((0..).zip(&logs).map(|(block, log)| (block, 1.0, log.exp())))
            .smallest_detectable(0.95)
            .expect("a share");
        assert!((share - (0.01 * found).exp_m1()).abs() < 1e-12, "{share}");
        // The formula takes over without a step.
        let simulated = detectable_shift(40, 0.95).expect("forty are enough");
        let formula = SIGNED_RANK_WIDENING * (student(0.95, 40) + 0.8416) / 40.0_f64.sqrt();
        assert!((simulated / formula - 1.0).abs() < 0.05);
    }
}
