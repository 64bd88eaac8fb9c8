//! Ratios of two arms that were measured side by side in blocks.
//!
//! Effects are ratios within a block, on the log scale, so that drift that hits both arms of a block
//! cancels. The intervals are exact and assume no distribution: for paired ratios that of `flips`
//! (right whenever the two arms of a block are exchangeable under no effect), the binomial one for
//! medians. The latter stays valid, only wider than need be, when values are tied: a closed interval
//! between order statistics covers at least as often as it does without ties (Noether 1967).

use locale::say;

use crate::hodges_lehmann::{PAIRWISE_MEANS_N_MAX, location};
use crate::normal_and_student_t::{sane, student, student_beyond};
use crate::outlier_and_drift_caveats::{Scale, drift, outliers, too_few};
use crate::{Estimate, Unit, permutation};

/// Confidence of the interval that tells the deviation.
const CONFIDENCE_OF_DEVIATION: f64 = 0.95;
/// From so many blocks on their interval passes over single ones that stand apart.
const ROBUST_N_MIN: usize = 8;
/// Efficiency of the signed-rank interval against Student's on normal data, as a widening (pi / 3)^0.5.
pub(crate) const SIGNED_RANK_WIDENING: f64 = 1.0233;

/// Log ratios of B over A, one for each block in which both were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairedRatios {
    blocks: Vec<u32>,
    pub(crate) logs: Vec<f64>,
    /// Logarithms of A and B themselves.
    arms: [Vec<f64>; 2],
    /// Whether A came first, as far as that is known.
    a_first: Vec<Option<bool>>,
    in_halves: bool,
}

impl PairedRatios {
    /// Takes block, A and B. A pair that is not of two positive finite numbers has no ratio and is
    /// left out.
    pub fn new(pairs: impl IntoIterator<Item = (u32, f64, f64)>) -> Self {
        Self::in_order(pairs.into_iter().map(|(block, a, b)| (block, a, b, None)))
    }

    /// The same with the order of time: the blocks one after the other, and of each whether A was
    /// measured before B.
    pub fn in_order(pairs: impl IntoIterator<Item = (u32, f64, f64, Option<bool>)>) -> Self {
        let mut ratios = Self::default();
        for (block, a, b, a_first) in pairs {
            if a > 0.0 && b > 0.0 && (b / a).ln().is_finite() {
                ratios.a_first.push(a_first);
                ratios.blocks.push(block);
                let [a, b] = [a.ln(), b.ln()];
                ratios.arms[0].push(a);
                ratios.arms[1].push(b);
                // To the last bit the same the other way round, which the logarithm of `b / a` is not.
                ratios.logs.push(b - a);
            }
        }
        ratios
    }

    /// Says that half of the blocks were drawn to begin with A, so that no other orders were possible.
    #[must_use]
    pub fn drawn_in_halves(self) -> Self {
        Self {
            in_halves: true,
            ..self
        }
    }

    /// Number of blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.logs.len()
    }

    /// Whether there is no block at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.logs.is_empty()
    }

    /// The ratio B over A: Hodges-Lehmann on the logs with the shifts that the blocks cannot refute.
    /// Where the blocks are too few for the confidence asked, the widest interval with the confidence
    /// it has. Blocks that stand apart, and drift, are named where they matter against the band.
    #[must_use]
    pub fn ratio(&self, band: f64, confidence: f64) -> Option<Estimate> {
        let (value, mut interval, mut reached, mut caveats) = location(&self.logs, confidence)?;
        if let Some((ends, confidence)) = self.believed(value, confidence) {
            (interval, reached) = (Some(ends), Some(confidence));
        }
        caveats.extend(too_few(self.len(), reached, confidence, Scale::Log));
        if self.len() <= PAIRWISE_MEANS_N_MAX && permutation::has_modes(self.samples(None), value) {
            caveats.push(say("several-modes"));
        }
        caveats.extend(outliers(&self.logs, &self.blocks, Scale::Log, band));
        caveats.extend(drift(&self.logs, Scale::Log, band).map(|share| {
            let id = match share > 0.0 {
                true => "drift.ratio-rises",
                false => "drift.ratio-falls",
            };
            say(id).with("share", format!("{:.1} %", 100.0 * share.abs()))
        }));
        Some(Estimate {
            value: value.exp(),
            interval: interval.map(|[low, high]| [low.exp(), high.exp()]),
            confidence: reached,
            n: self.len(),
            unit: Unit::Ratio,
            caveats,
        })
    }

    /// The shifts that the blocks cannot refute, and the confidence these have; `None` of one block,
    /// and of so many that nobody counts them.
    fn believed(&self, centre: f64, confidence: f64) -> Option<([f64; 2], f64)> {
        (2..=PAIRWISE_MEANS_N_MAX).contains(&self.len()).then(|| {
            let a_first = self.a_first();
            permutation::interval(self.samples(a_first.as_deref()), centre, sane(confidence))
        })
    }

    fn a_first(&self) -> Option<Vec<bool>> {
        self.a_first.iter().copied().collect()
    }

    fn samples<'v>(&'v self, a_first: Option<&'v [bool]>) -> permutation::Blocks<'v> {
        let [a, b] = &self.arms;
        permutation::Blocks {
            a,
            b,
            a_first,
            in_halves: self.in_halves,
        }
    }

    /// The probability of blocks that speak as clearly against a true ratio of `wanted`; `found` is
    /// their [`Self::ratio`] at this confidence, and both say the same at it.
    ///
    /// So few blocks cannot be counted beyond the confidence at which all of them speak against it.
    /// Beyond that the interval that they have is widened as Student's would be.
    #[must_use]
    pub fn probability(&self, found: &Estimate, wanted: f64, confidence: f64) -> Option<f64> {
        let [low, high] = found.interval?.map(f64::ln);
        let reached = found.confidence?;
        let (centre, shift) = (found.value.ln(), wanted.ln());
        let half = 0.5 * (high - low);
        let distance = (centre - shift).abs();
        // Without scatter there is nothing to divide by.
        let beyond = match half > 0.0 {
            true => student_beyond(distance / half * student(reached, self.len()), self.len()),
            false => 0.0,
        };
        let (counted, is_one_way) = match self.len() {
            2..=PAIRWISE_MEANS_N_MAX => {
                let a_first = self.a_first();
                let samples = self.samples(a_first.as_deref());
                permutation::probability(samples, (centre, shift), sane(confidence))
            }
            _ => (beyond, true),
        };
        if (low..=high).contains(&shift) {
            return Some(counted.max((1.0 - confidence).next_up()));
        }
        let least = match is_one_way {
            true => counted.min(beyond),
            false => counted,
        };
        Some(least.min(1.0 - reached))
    }

    /// The first so many blocks.
    #[must_use]
    pub fn first(&self, blocks: usize) -> Self {
        let start = |values: &[f64]| values.iter().copied().take(blocks).collect();
        Self {
            blocks: self.blocks.iter().copied().take(blocks).collect(),
            logs: start(&self.logs),
            arms: [start(&self.arms[0]), start(&self.arms[1])],
            a_first: self.a_first.iter().copied().take(blocks).collect(),
            in_halves: self.in_halves,
        }
    }

    /// These blocks and then later ones, in the order of time.
    #[must_use]
    pub fn then(&self, later: &Self) -> Self {
        let mut all = self.clone();
        all.in_halves &= later.in_halves;
        let next = self
            .blocks
            .iter()
            .max()
            .map_or(0, |last| last.saturating_add(1));
        let numbers = later.blocks.iter().map(|block| block.saturating_add(next));
        all.blocks.extend(numbers);
        all.logs.extend(&later.logs);
        for (all, later) in all.arms.iter_mut().zip(&later.arms) {
            all.extend(later);
        }
        all.a_first.extend(&later.a_first);
        all
    }

    /// Mean of the log ratios; `None` without any.
    pub(crate) fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.logs.iter().sum::<f64>() / self.len() as f64)
    }

    /// Standard deviation of the log ratios; `None` of fewer than two.
    pub(crate) fn standard_deviation(&self) -> Option<f64> {
        standard_deviation(&self.logs)
    }

    /// Standard deviation of a block's log ratio. Where the interval passes over single blocks that
    /// stand apart it is the one that makes such an interval, because what is found depends on that.
    pub(crate) fn deviation(&self) -> Option<f64> {
        let plain = self.standard_deviation()?;
        if self.len() < ROBUST_N_MIN {
            return Some(plain);
        }
        let (centre, _, _, _) = location(&self.logs, CONFIDENCE_OF_DEVIATION)?;
        let Some(([low, high], reached)) = self.believed(centre, CONFIDENCE_OF_DEVIATION) else {
            return Some(plain);
        };
        let n = self.len();
        let error = 0.5 * (high - low) / student(reached, n);
        Some(error * (n as f64).sqrt() / SIGNED_RANK_WIDENING)
    }
}

fn standard_deviation(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (n - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::normal_and_student_t::standard_normal_draw;

    /// The deviation that an interval tells is that of normal noise, where it is normal.
    #[test]
    fn the_deviation_of_normal_noise_is_its_own() {
        let mut random = ChaCha8Rng::seed_from_u64(20_261_121);
        for n in [8, 12, 20] {
            let deviations = (0..200).map(|_| {
                let pairs = (0..n).map(|block| {
                    let [a, b] = [0, 0].map(|_| 0.01 * standard_normal_draw(&mut random));
                    (block, a.exp(), b.exp())
                });
                PairedRatios::new(pairs).deviation().expect("blocks")
            });
            let mean = deviations.sum::<f64>() / 200.0 / (0.01 * 2.0_f64.sqrt());
            assert!((0.92..=1.08).contains(&mean), "n = {n}: {mean}");
        }
    }
}
