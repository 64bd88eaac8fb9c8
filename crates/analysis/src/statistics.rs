//! Numbers in, estimates out. Nothing here knows what a NIC is.
//!
//! Effects are ratios within a block, on the log scale, so that drift that hits both arms of a block
//! cancels. The intervals are exact and assume no distribution: for paired ratios that of `flips`
//! (right whenever the two arms of a block are exchangeable under no effect), the binomial one for
//! medians. The latter stays valid, only wider than need be, when values are tied: a closed interval
//! between order statistics covers at least as often as it does without ties (Noether 1967).
//!
//! A value that stands apart, and a drift, is a caveat only where it *matters*, by the very rule that
//! effects are judged by. A value is named when it is far from the others (five robust standard
//! deviations) and also further from the median than the band of practical equivalence; a drift when
//! the Mann-Kendall test finds it and the Theil-Sen line also moves by more than the band from the
//! first value to the last. On a quiet machine, where a hundredth of a percent is far, nothing is said
//! of differences that nobody would call one if they were an effect.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::{Estimate, Unit, Verdict, flips};

/// Up to this n the signed-rank distribution is computed exactly, above it is taken as normal.
const SIGNED_RANK_EXACT_N_MAX: usize = 100;
/// Up to this n all pairwise means are formed; above it the median takes their place, so that a huge
/// file cannot eat the memory.
const PAIRWISE_MEANS_N_MAX: usize = 1_000;
/// Up to this n the binomial distribution is summed exactly (2^-1000 is still a normal number).
const BINOMIAL_EXACT_N_MAX: usize = 1_000;
/// The most blocks that `blocks_to_settle` proposes; more is no advice.
const BLOCKS_TO_SETTLE_MAX: usize = 1_000;
/// How often a real difference of the smallest detectable size would be seen.
const POWER: f64 = 0.8;
/// Up to this n the smallest detectable difference is simulated, above it a formula is close enough.
const DETECTABLE_SIMULATED_N_MAX: usize = 40;
/// Simulated experiments behind the smallest detectable difference.
const DETECTABLE_SIMULATIONS: usize = 2_000;
/// Robust standard deviations from the median at which a value is named.
const OUTLIER_DEVIATIONS: f64 = 5.0;
/// Values that stand apart and are listed one by one.
const OUTLIERS_LISTED_MAX: usize = 5;
/// Fewest values among which one can stand apart or a drift can be seen.
const CAVEAT_N_MIN: usize = 5;
/// Standard normal quantile of the drift test: 1 % two-sided, because it is asked very often.
const DRIFT_Z: f64 = 2.576;
/// Confidence of the interval that tells the deviation.
const CONFIDENCE_OF_DEVIATION: f64 = 0.95;
/// From so many blocks on their interval passes over single ones that stand apart.
const ROBUST_N_MIN: usize = 8;
/// Efficiency of the signed-rank interval against Student's on normal data, as a widening (pi / 3)^0.5.
const SIGNED_RANK_WIDENING: f64 = 1.0233;

/// Log ratios of B over A, one for each block in which both were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairedRatios {
    blocks: Vec<u32>,
    logs: Vec<f64>,
    /// Logarithms of A and B themselves.
    arms: [Vec<f64>; 2],
    /// Whether A came first, as far as that is known.
    a_first: Vec<Option<bool>>,
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
        caveats.extend(too_few(self.len(), reached, confidence, "blocks"));
        caveats.extend(outliers(&self.logs, &self.blocks, Scale::Log, band));
        caveats.extend(drift(&self.logs, Scale::Log, band).map(|share| {
            let way = if share > 0.0 { "rises" } else { "falls" };
            format!(
                "the ratio {way} from block to block, by {:.1} % in all; it may depend on time",
                100.0 * share.abs()
            )
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
            flips::interval(self.flips(a_first.as_deref()), centre, sane(confidence))
        })
    }

    fn a_first(&self) -> Option<Vec<bool>> {
        self.a_first.iter().copied().collect()
    }

    fn flips<'v>(&'v self, a_first: Option<&'v [bool]>) -> flips::Blocks<'v> {
        let [a, b] = &self.arms;
        flips::Blocks { a, b, a_first }
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
                flips::probability(self.flips(a_first.as_deref()), centre, shift)
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

    /// Standard deviation of a block's log ratio. Where the interval passes over single blocks that
    /// stand apart it is the one that makes such an interval, because what is found depends on that.
    fn deviation(&self) -> Option<f64> {
        let plain = standard_deviation(&self.logs)?;
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
            detectable_by_simulation(n, confidence)?
        } else {
            let power = standard_normal_quantile(POWER);
            SIGNED_RANK_WIDENING * (student(confidence, n) + power) / (n as f64).sqrt()
        };
        Some((shift * self.deviation()?).exp_m1())
    }
}

/// What a ratio means against the band of practical equivalence `[1 / (1 + band), 1 + band]`.
///
/// The rule is fixed: equivalent when the whole interval is inside the band (two one-sided tests,
/// each at half the error that is left); otherwise better when it is entirely above 1, worse when it
/// is entirely below; everything else, and any interval of less than the confidence asked, is
/// undecided.
#[must_use]
pub fn verdict(ratio: &Estimate, band: f64, confidence: f64) -> Verdict {
    let Some([low, high]) = defended(ratio, confidence) else {
        return Verdict::Undecided;
    };
    let top = 1.0 + band.max(0.0);
    if low >= 1.0 / top && high <= top {
        Verdict::Equivalent
    } else if low > 1.0 {
        Verdict::Better
    } else if high < 1.0 {
        Verdict::Worse
    } else {
        Verdict::Undecided
    }
}

/// Whether baseline against baseline is so far off that nothing else here can be believed: its
/// interval excludes 1 and shares nothing with the band, so the false difference is shown to be one
/// that matters.
#[must_use]
pub fn alarm(ratio: &Estimate, band: f64, confidence: f64) -> bool {
    let top = 1.0 + band.max(0.0);
    defended(ratio, confidence).is_some_and(|[low, high]| low > top || high < 1.0 / top)
}

/// The interval, if it reaches the confidence asked.
pub(crate) fn defended(estimate: &Estimate, confidence: f64) -> Option<[f64; 2]> {
    let reached = estimate.confidence?;
    // Sums of binary fractions are exact here; the slack is for callers' own arithmetic.
    (reached + 1e-12 >= confidence)
        .then_some(estimate.interval)
        .flatten()
}

/// The fewest blocks whose signed-rank interval can reach the confidence asked: 6 for 95 %.
#[must_use]
pub fn blocks_min(confidence: f64) -> usize {
    let confidence = sane(confidence);
    let reaches = |n: &usize| 1.0 - 2.0 * 0.5_f64.powi(i32::try_from(*n).unwrap_or(i32::MAX));
    (2..64).find(|n| reaches(n) >= confidence).unwrap_or(64)
}

/// The median of one sample with the interval between two of its order statistics, which assumes
/// nothing about the distribution. `None` for an empty sample; values that are not finite are left
/// out. Values that stand apart, and drift, are named where they matter against the band.
#[must_use]
pub fn median(values: &[f64], band: f64, confidence: f64, unit: Unit) -> Option<Estimate> {
    let kept: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let sorted = sorted(&kept);
    let n = sorted.len();
    let value = middle(&sorted)?;
    let (interval, reached) = median_interval(&sorted, confidence);
    let mut caveats = Vec::new();
    caveats.extend(too_few(n, reached, confidence, "trials"));
    let numbers: Vec<u32> = (0..).take(n).collect();
    caveats.extend(outliers(&kept, &numbers, Scale::Linear, band));
    caveats.extend(drift(&kept, Scale::Linear, band).map(|share| {
        let way = if share > 0.0 { "rise" } else { "fall" };
        format!(
            "the values {way} from trial to trial, by {:.1} % in all",
            100.0 * share.abs()
        )
    }));
    Some(Estimate {
        value,
        interval,
        confidence: reached,
        n,
        unit,
        caveats,
    })
}

/// One estimate as a share of another of an independent sample. Both intervals hold together at
/// least as often as neither is missed (Bonferroni), so the confidence is lower than theirs.
#[must_use]
pub fn quotient(part: &Estimate, whole: &Estimate) -> Option<Estimate> {
    let value = part.value / whole.value;
    if !value.is_finite() || whole.value <= 0.0 {
        return None;
    }
    // A computed number has no interval and no error of its own.
    let computed = whole.n == 0;
    let bounds = if computed {
        Some([whole.value; 2])
    } else {
        whole.interval
    };
    let missed = |estimate: &Estimate| estimate.confidence.map(|confidence| 1.0 - confidence);
    let missed_whole = if computed { Some(0.0) } else { missed(whole) };
    let confidence = missed(part)
        .zip(missed_whole)
        .map(|(part, whole)| 1.0 - part - whole)
        .filter(|&confidence| confidence > 0.0);
    let interval = part
        .interval
        .zip(bounds)
        .filter(|_| confidence.is_some())
        .map(|(part, whole)| [part[0] / whole[1], part[1] / whole[0]])
        .filter(|ends| ends.iter().all(|end| end.is_finite()));
    Some(Estimate {
        value,
        interval,
        confidence: interval.and(confidence),
        n: if computed {
            part.n
        } else {
            part.n.min(whole.n)
        },
        unit: Unit::Ratio,
        caveats: Vec::new(),
    })
}

/// A number that was computed from facts, not measured.
#[must_use]
pub fn computed(value: f64, unit: Unit, caveats: Vec<String>) -> Estimate {
    Estimate {
        value,
        interval: None,
        confidence: None,
        n: 0,
        unit,
        caveats,
    }
}

/// Centre, interval, confidence reached and caveats.
type Location = (f64, Option<[f64; 2]>, Option<f64>, Vec<String>);

/// The Hodges-Lehmann estimate; `None` of nothing.
pub(crate) fn centre(values: &[f64]) -> Option<f64> {
    location(values, CONFIDENCE_OF_DEVIATION).map(|(centre, _, _, _)| centre)
}

/// Hodges-Lehmann: the median of all pairwise means, and the interval between two of them.
fn location(values: &[f64], confidence: f64) -> Option<Location> {
    let n = values.len();
    if n > PAIRWISE_MEANS_N_MAX {
        let sorted = sorted(values);
        let (interval, reached) = median_interval(&sorted, confidence);
        let caveat = format!(
            "with {n} blocks the median of the ratios stands for the Hodges-Lehmann estimate"
        );
        return Some((middle(&sorted)?, interval, reached, vec![caveat]));
    }
    let mut means = Vec::with_capacity(n * (n + 1) / 2);
    for (index, first) in values.iter().enumerate() {
        means.extend(values[index..].iter().map(|second| 0.5 * (first + second)));
    }
    means.sort_by(f64::total_cmp);
    let centre = middle(&means)?;
    if n < 2 {
        return Some((centre, None, None, Vec::new()));
    }
    let (cut, reached) = if n <= SIGNED_RANK_EXACT_N_MAX {
        cut(&signed_rank_distribution(n), confidence)
    } else {
        let count = n as f64;
        let mean = count * (count + 1.0) / 4.0;
        let deviation = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
        normal_cut(mean, deviation, confidence)
    };
    let interval = [means[cut], means[means.len() - 1 - cut]];
    Some((centre, Some(interval), Some(reached), Vec::new()))
}

/// Probabilities of the signed-rank sum 0, 1, 2, ... of n values without effect: each rank is in the
/// sum or not, like a coin.
fn signed_rank_distribution(n: usize) -> Vec<f64> {
    let mut probabilities = vec![0.0; n * (n + 1) / 2 + 1];
    probabilities[0] = 1.0;
    let mut top = 0;
    for rank in 1..=n {
        top += rank;
        for sum in (0..=top).rev() {
            let with = if sum >= rank {
                probabilities[sum - rank]
            } else {
                0.0
            };
            probabilities[sum] = 0.5 * (probabilities[sum] + with);
        }
    }
    probabilities
}

/// Probabilities of the number of n values that lie below the median.
fn binomial_distribution(n: usize) -> Vec<f64> {
    let mut probability = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut probabilities = vec![probability];
    for k in 1..=n {
        probability *= (n + 1 - k) as f64 / k as f64;
        probabilities.push(probability);
    }
    probabilities
}

/// How many order statistics can be cut off at each end so that what is left still has the
/// confidence asked (none, where nothing has), and the confidence it has.
fn cut(distribution: &[f64], confidence: f64) -> (usize, f64) {
    let confidence = sane(confidence);
    let mut tail = 0.0;
    let mut best = None;
    for (index, probability) in distribution.iter().enumerate() {
        tail += probability;
        let reached = 1.0 - 2.0 * tail;
        if best.is_some() && reached < confidence {
            break;
        }
        best = Some((index, reached));
    }
    best.unwrap_or((0, 0.0))
}

fn normal_cut(mean: f64, deviation: f64, confidence: f64) -> (usize, f64) {
    let quantile = standard_normal_quantile(0.5 + 0.5 * sane(confidence));
    let cut = (mean - quantile * deviation - 0.5).floor().max(0.0);
    let tail = standard_normal().cdf((cut + 0.5 - mean) / deviation);
    (cut as usize, 1.0 - 2.0 * tail)
}

fn median_interval(sorted: &[f64], confidence: f64) -> (Option<[f64; 2]>, Option<f64>) {
    let n = sorted.len();
    if n < 2 {
        return (None, None);
    }
    let (cut, reached) = if n <= BINOMIAL_EXACT_N_MAX {
        cut(&binomial_distribution(n), confidence)
    } else {
        normal_cut(n as f64 / 2.0, (n as f64).sqrt() / 2.0, confidence)
    };
    (Some([sorted[cut], sorted[n - 1 - cut]]), Some(reached))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

pub(crate) fn middle(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    let upper = *sorted.get(n / 2)?;
    Some(if n % 2 == 1 {
        upper
    } else {
        0.5 * (sorted[n / 2 - 1] + upper)
    })
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

/// A confidence that makes sense, whatever stood in a file.
fn sane(confidence: f64) -> f64 {
    if confidence.is_finite() {
        confidence.clamp(0.5, 0.999_999)
    } else {
        0.95
    }
}

fn standard_normal() -> Normal {
    Normal::standard()
}

/// The probability of a larger standard normal number.
pub(crate) fn standard_normal_above(value: f64) -> f64 {
    standard_normal().sf(value)
}

fn standard_normal_quantile(probability: f64) -> f64 {
    standard_normal().inverse_cdf(probability)
}

/// Two-sided quantile of Student's distribution for n values.
fn student(confidence: f64, n: usize) -> f64 {
    let probability = 0.5 + 0.5 * sane(confidence);
    let freedom = n.saturating_sub(1).max(1) as f64;
    StudentsT::new(0.0, 1.0, freedom).map_or_else(
        |_| standard_normal_quantile(probability),
        |student| student.inverse_cdf(probability),
    )
}

/// The probability of a `t` of n values at least as far from 0, on either side.
fn student_beyond(t: f64, n: usize) -> f64 {
    let freedom = n.saturating_sub(1).max(1) as f64;
    let above = StudentsT::new(0.0, 1.0, freedom)
        .map_or_else(|_| standard_normal_above(t), |student| student.sf(t));
    2.0 * above
}

/// The shift, in standard deviations of a block's log ratio, that the interval of n normal values
/// sees with [`POWER`]. A sample is seen when the lower end of its interval exceeds the shift turned
/// round, so one pass over samples without effect gives the answer as a quantile.
fn detectable_by_simulation(n: usize, confidence: f64) -> Option<f64> {
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

/// One draw from the standard normal distribution (Box and Muller).
fn standard_normal_draw(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

fn too_few(n: usize, reached: Option<f64>, asked: f64, what: &str) -> Option<String> {
    let least = blocks_min(asked);
    match reached {
        None => Some(format!(
            "{n} of {what}: too few for any interval; {least} are needed"
        )),
        Some(reached) if reached + 1e-12 < asked => Some(format!(
            "{n} {what} reach {:.1} % confidence at most; {:.0} % needs {least}",
            100.0 * reached,
            100.0 * asked
        )),
        Some(_) => None,
    }
}

#[derive(Clone, Copy)]
enum Scale {
    Linear,
    Log,
}

impl Scale {
    /// How far a value is from another one, as a share of it.
    fn share(self, value: f64, centre: f64) -> f64 {
        match self {
            Self::Linear => value / centre - 1.0,
            Self::Log => (value - centre).exp_m1(),
        }
    }
}

/// Whether a difference of this share is outside the band `[1 / (1 + band), 1 + band]`.
fn matters(share: f64, band: f64) -> bool {
    // Not a number, from a rate of nothing, matters as well.
    let inside = share.ln_1p().abs() <= band.max(0.0).ln_1p();
    !inside
}

/// Names what stands apart, and never removes it. `numbers` counts from 0, people from 1.
fn outliers(values: &[f64], numbers: &[u32], scale: Scale, band: f64) -> Option<String> {
    if values.len() < CAVEAT_N_MIN {
        return None;
    }
    let centre = middle(&sorted(values))?;
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    // 1.4826 makes the median distance of normal data their standard deviation.
    let deviation = 1.4826 * middle(&sorted(&distances))?;
    let limit = OUTLIER_DEVIATIONS * deviation;
    let mut named: Vec<String> = values
        .iter()
        .zip(numbers)
        .filter(|(value, _)| {
            (*value - centre).abs() > limit && matters(scale.share(**value, centre), band)
        })
        .map(|(value, number)| {
            let share = scale.share(*value, centre);
            format!("{} ({:+.1} %)", u64::from(*number) + 1, 100.0 * share)
        })
        .collect();
    let what = match scale {
        Scale::Linear => "trial",
        Scale::Log => "block",
    };
    if named.len() > OUTLIERS_LISTED_MAX {
        let more = named.len() - OUTLIERS_LISTED_MAX;
        named.truncate(OUTLIERS_LISTED_MAX);
        named.push(format!("{more} more"));
    }
    let last = named.pop()?;
    Some(if named.is_empty() {
        format!("{what} {last} stands apart and is kept")
    } else {
        let first = named.join(", ");
        format!("{what}s {first} and {last} stand apart and are kept")
    })
}

/// By how much values rise or fall from the first to the last, as a share, where they do in time (the
/// Mann-Kendall test) and it matters.
fn drift(values: &[f64], scale: Scale, band: f64) -> Option<f64> {
    let n = values.len();
    // The test counts pairs; above the bound it would take too long for a caveat.
    if !(CAVEAT_N_MIN..=PAIRWISE_MEANS_N_MAX).contains(&n) {
        return None;
    }
    let mut score = 0_i64;
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    for (index, first) in values.iter().enumerate() {
        for (distance, second) in (1_u32..).zip(&values[index + 1..]) {
            score += i64::from(second > first) - i64::from(second < first);
            slopes.push((second - first) / f64::from(distance));
        }
    }
    let count = n as f64;
    let deviation = (count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt();
    let z = (score.abs() - 1) as f64 / deviation;
    if z <= DRIFT_Z {
        return None;
    }
    let change = middle(&sorted(&slopes))? * (count - 1.0);
    let centre = middle(&sorted(values))?;
    let share = scale.share(centre + change, centre);
    matters(share, band).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 20_261_121;

    proptest::proptest! {
        /// A over B is B over A turned round, whatever the numbers: nothing favours an arm.
        #[test]
        fn swapping_the_arms_turns_everything_round(
            logs in proptest::collection::vec(-0.2_f64..0.2, 1..30),
            band in 0.0_f64..0.05,
        ) {
            let one = ratios(&logs);
            let two = PairedRatios::new((0..).zip(&logs).map(|(block, log)| (block, log.exp(), 1.0)));
            let (ratio, other) = (one.ratio(0.02, 0.95).expect("blocks"), two.ratio(0.02, 0.95).expect("blocks"));
            close(ratio.value * other.value, 1.0);
            let swapped = match verdict(&other, band, 0.95) {
                Verdict::Better => Verdict::Worse,
                Verdict::Worse => Verdict::Better,
                same => same,
            };
            proptest::prop_assert_eq!(verdict(&ratio, band, 0.95), swapped);
            proptest::prop_assert_eq!(alarm(&ratio, band, 0.95), alarm(&other, band, 0.95));
            if let (Some([low, high]), Some([other_low, other_high])) = (ratio.interval, other.interval) {
                close(low * other_high, 1.0);
                close(high * other_low, 1.0);
                proptest::prop_assert!(low <= ratio.value && ratio.value <= high);
            }
        }
    }

    /// Of these the first end that is refused lies on a step of the rounded scores.
    #[test]
    fn nothing_favours_an_arm_where_rounding_could() {
        let logs = [
            -0.1835060070850143,
            0.19243885240895653,
            -0.1285812641499767,
            -0.1636684285440073,
            -0.06630033964916011,
            -0.12075590689072513,
            -0.09376121284112984,
            -0.10697897970161004,
            0.15365158413371688,
            0.11920789166151455,
            -0.057317338894576256,
            0.14742412028746785,
            0.06688485924342444,
            0.08263633993622636,
            -0.15697241112477683,
            -0.15972584600097806,
            -0.14388410565982987,
        ];
        let one = ratios(&logs).ratio(0.02, 0.95).expect("blocks");
        let swapped = (0..).zip(&logs).map(|(block, log)| (block, log.exp(), 1.0));
        let two = PairedRatios::new(swapped)
            .ratio(0.02, 0.95)
            .expect("blocks");
        let [[low, high], [other_low, other_high]] =
            [one, two].map(|ratio| ratio.interval.expect("an interval"));
        close(low * other_high, 1.0);
        close(high * other_low, 1.0);
    }

    fn ratios(logs: &[f64]) -> PairedRatios {
        PairedRatios::new((0..).zip(logs).map(|(block, log)| (block, 1.0, log.exp())))
    }

    fn close(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9, "{left} is not {right}");
    }

    /// Seven differences; the median of their 28 pairwise means is 0.021. Of the 128 ways to give the
    /// differences from a shift their signs (python3, itertools) 6 are as one-sided as just below 0.007
    /// or just above 0.031, and 8 or more from any shift between.
    #[test]
    fn seven_blocks_by_hand() {
        let logs = [0.031, -0.004, 0.022, 0.018, 0.027, 0.009, 0.035];
        let ratio = ratios(&logs).ratio(0.02, 0.95).expect("seven blocks");
        close(ratio.value.ln(), 0.021);
        let [low, high] = ratio.interval.expect("an interval");
        assert!((low.ln() - 0.007).abs() < 1e-9, "{low}");
        assert!((high.ln() - 0.031).abs() < 1e-9, "{high}");
        close(ratio.confidence.expect("a confidence"), 1.0 - 6.0 / 128.0);
        assert_eq!((ratio.n, ratio.unit), (7, Unit::Ratio));
        assert_eq!(ratio.caveats, Vec::<String>::new());
    }

    /// One block of ten has somebody else on the link: that trial tells nothing, and the others still
    /// show what they show.
    #[test]
    fn a_trial_that_stands_apart_hides_no_effect() {
        let a = [
            0.00, 0.01, -0.01, 0.02, 0.00, -0.02, 0.01, 0.00, -0.01, 0.01,
        ];
        let b = [0.04, 0.03, 0.05, 0.03, 0.02, 0.04, 0.03, 0.05, 0.04, 0.02];
        let judged = |a: [f64; 10], b: [f64; 10]| {
            let pairs = (0..)
                .zip(a)
                .zip(b)
                .map(|((block, a), b)| (block, a.exp(), b.exp()));
            verdict(
                &PairedRatios::new(pairs).ratio(0.02, 0.95).expect("ten"),
                0.02,
                0.95,
            )
        };
        assert_eq!(judged(a, b), Verdict::Better);
        for block in 0..10 {
            let mut slow = b;
            slow[block] -= 0.3;
            assert_eq!(judged(a, slow), Verdict::Better, "block {block}");
            // What was slow at both was not the change.
            let mut busy = a;
            busy[block] -= 0.3;
            assert_eq!(judged(busy, slow), Verdict::Better, "block {block}");
            assert_eq!(judged(slow, busy), Verdict::Worse, "block {block}");
        }
    }

    /// How many pairwise means may be cut off at each end, and 1 - 2 * tail, from the same counts by
    /// python3: n = 6: 1 - 2/64; 7: 1 - 2 * 3/128; 8: 1 - 2 * 5/256; 12: 1 - 2 * 87/4096;
    /// 20: 1 - 2 * 25397/1048576.
    #[test]
    fn signed_rank_intervals_reach_these_confidences() {
        let known = [
            (6, 1, 0.968_75),
            (7, 3, 0.953_125),
            (8, 4, 0.960_937_5),
            (12, 14, 0.957_519_531_25),
            (20, 53, 0.951_559_066_772_460_9),
        ];
        for (n, order, reached) in known {
            let (index, found) = cut(&signed_rank_distribution(n), 0.95);
            assert_eq!(index + 1, order, "n = {n}");
            close(found, reached);
        }
        // The normal approximation takes over where both agree to a tenth of a percent.
        let n = 100.0_f64;
        let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let normal = normal_cut(n * (n + 1.0) / 4.0, deviation, 0.95);
        let exact = cut(&signed_rank_distribution(100), 0.95);
        assert!(normal.0.abs_diff(exact.0) <= 1, "{normal:?} {exact:?}");
        assert!((normal.1 - exact.1).abs() < 1e-3);
    }

    /// From `scipy.stats.binom.cdf(k - 1, n, 0.5)`.
    #[test]
    fn median_intervals_reach_these_confidences() {
        let known = [
            (6, 1, 0.968_75),
            (9, 2, 0.960_937_5),
            (10, 2, 0.978_515_625),
            (15, 4, 0.964_843_75),
        ];
        for (n, order, reached) in known {
            let values: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            let median = median(&values, 0.02, 0.95, Unit::BytesPerSecond).expect("values");
            close(median.value, f64::from(n + 1) / 2.0);
            let order = f64::from(order);
            assert_eq!(median.interval, Some([order, f64::from(n) + 1.0 - order]));
            close(median.confidence.expect("a confidence"), reached);
        }
    }

    #[test]
    fn too_few_blocks_give_their_widest_interval_and_no_verdict() {
        // Five blocks, all clearly better: 1 - 2/32 is all that five signs can give.
        let five = ratios(&[0.10, 0.11, 0.12, 0.13, 0.14]);
        let ratio = five.ratio(0.02, 0.95).expect("five blocks");
        close(ratio.confidence.expect("a confidence"), 0.9375);
        let [low, high] = ratio.interval.expect("an interval");
        close(low.ln(), 0.10);
        close(high.ln(), 0.14);
        assert_eq!(
            ratio.caveats,
            ["5 blocks reach 93.8 % confidence at most; 95 % needs 6"]
        );
        assert_eq!(verdict(&ratio, 0.02, 0.95), Verdict::Undecided);
        assert_eq!(verdict(&ratio, 0.02, 0.90), Verdict::Better);
        assert_eq!(five.smallest_detectable(0.95), None);
        assert_eq!(five.blocks_to_settle(0.02, 0.95), Some(6));

        let one = ratios(&[0.1]).ratio(0.02, 0.95).expect("one block");
        assert_eq!((one.interval, one.confidence), (None, None));
        assert_eq!(verdict(&one, 0.02, 0.95), Verdict::Undecided);
        assert_eq!(ratios(&[]).ratio(0.02, 0.95), None);
        assert_eq!(median(&[f64::NAN], 0.02, 0.95, Unit::Ratio), None);
        assert_eq!([0.9, 0.95, 0.99, 0.999].map(blocks_min), [5, 6, 8, 11]);
    }

    #[test]
    fn the_verdict_rule() {
        let judge = |low: f64, high: f64| {
            let estimate = Estimate {
                value: (low * high).sqrt(),
                interval: Some([low, high]),
                confidence: Some(0.96),
                n: 6,
                unit: Unit::Ratio,
                caveats: Vec::new(),
            };
            let verdict = verdict(&estimate, 0.02, 0.95);
            (verdict, alarm(&estimate, 0.02, 0.95))
        };
        assert_eq!(judge(1.03, 1.06), (Verdict::Better, true));
        assert_eq!(judge(1.001, 1.06), (Verdict::Better, false));
        assert_eq!(judge(1.001, 1.019), (Verdict::Equivalent, false));
        assert_eq!(judge(0.985, 1.019), (Verdict::Equivalent, false));
        assert_eq!(judge(0.985, 1.021), (Verdict::Undecided, false));
        assert_eq!(judge(1.0, 1.06), (Verdict::Undecided, false));
        assert_eq!(judge(0.90, 0.999), (Verdict::Worse, false));
        // The band is as wide below as above: 1 / 1.02 = 0.980392.
        assert_eq!(judge(0.9803, 0.99), (Verdict::Worse, false));
        assert_eq!(judge(0.9804, 0.99), (Verdict::Equivalent, false));
        assert_eq!(judge(0.90, 0.98), (Verdict::Worse, true));
    }

    #[test]
    fn ties_and_hostile_numbers_do_no_harm() {
        let same = ratios(&[0.0; 6]).ratio(0.02, 0.95).expect("six blocks");
        assert_eq!(same.interval, Some([1.0, 1.0]));
        assert_eq!(verdict(&same, 0.02, 0.95), Verdict::Equivalent);
        assert_eq!(ratios(&[0.0; 6]).blocks_to_settle(0.02, 0.95), Some(7));
        let odd = [
            (0, 0.0, 1.0),
            (1, 1.0, f64::INFINITY),
            (2, -1.0, -1.0),
            (3, f64::NAN, 1.0),
            (4, 1e300, 1e-300),
        ];
        assert!(PairedRatios::new(odd).is_empty());
        for confidence in [f64::NAN, -3.0, 0.0, 1.0, 7.0, f64::INFINITY] {
            let ratio = ratios(&[0.1, 0.2])
                .ratio(0.02, confidence)
                .expect("two blocks");
            assert!(ratio.interval.is_some());
        }
        let many: Vec<f64> = (0..1_500).map(|index| f64::from(index % 7)).collect();
        let ratio = ratios(&many).ratio(0.02, 0.95).expect("many blocks");
        close(ratio.value.ln(), 3.0);
        assert!(ratio.confidence.is_some_and(|reached| reached >= 0.949));
    }

    /// Rates as a table prints them, the same in each block. All of the two ways to the power of ten to
    /// exchange the arms but two are less one-sided than what speaks against any other ratio.
    #[test]
    fn blocks_that_agree_but_for_rounding_are_as_sure_as_their_number_allows() {
        for rates in [[117.7e6, 234.9e6], [0.3, 0.1], [941.0, 941.0]] {
            let blocks = (0..10).map(|block| {
                // The disturbance of a block multiplies both, and is gone from their quotient but for rounding.
                let both = 1.0 + 0.013 * f64::from(block);
                (block, both * rates[0], both * rates[1])
            });
            let blocks = PairedRatios::new(blocks);
            let ratio = blocks.ratio(0.02, 0.95).expect("ten blocks");
            close(ratio.value, rates[1] / rates[0]);
            close(ratio.confidence.expect("it has one"), 1.0 - 2.0 / 1024.0);
            let [low, high] = ratio.interval.expect("it has one");
            close(low, high);
            let expected = match rates[0] == rates[1] {
                true => Verdict::Equivalent,
                false if rates[1] > rates[0] => Verdict::Better,
                false => Verdict::Worse,
            };
            assert_eq!(verdict(&ratio, 0.02, 0.95), expected);
            assert!(ratio.caveats.is_empty(), "{:?}", ratio.caveats);
        }
    }

    #[test]
    fn outliers_and_drift_are_named_and_kept() {
        let logs = [0.001, 0.002, -0.001, 0.0, -0.15, 0.001, 0.0];
        let ratio = ratios(&logs).ratio(0.02, 0.95).expect("seven blocks");
        assert_eq!(ratio.n, 7);
        assert_eq!(
            ratio.caveats,
            ["block 5 (-13.9 %) stands apart and is kept"]
        );
        // Median 0.03, Theil-Sen slope 0.01, so exp(6 * 0.01) - 1 = 6.18 %.
        let rising = [0.00, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06];
        let ratio = ratios(&rising).ratio(0.02, 0.95).expect("seven blocks");
        assert_eq!(
            ratio.caveats,
            ["the ratio rises from block to block, by 6.2 % in all; it may depend on time"]
        );
        // 5 of 97.5.
        let falling = [100.0, 99.0, 98.0, 97.0, 96.0, 95.0];
        let median = median(&falling, 0.02, 0.95, Unit::BytesPerSecond).expect("six values");
        assert_eq!(
            median.caveats,
            ["the values fall from trial to trial, by 5.1 % in all"]
        );
    }

    #[test]
    fn many_that_stand_apart_are_counted() {
        let mut values = vec![100.0; 20];
        for (index, value) in values.iter_mut().enumerate().step_by(3) {
            *value = 50.0 + index as f64;
        }
        let found = median(&values, 0.02, 0.95, Unit::BytesPerSecond).expect("twenty values");
        assert_eq!(
            found.caveats,
            [
                "trials 1 (-50.0 %), 4 (-47.0 %), 7 (-44.0 %), 10 (-41.0 %), 13 (-38.0 %) and \
                 2 more stand apart and are kept"
            ]
        );
    }

    /// A quiet machine: the others differ by a thousandth of a percent, so everything is far off.
    #[test]
    fn what_is_inside_the_band_is_not_named_however_quiet_the_others_are() {
        let quiet = |odd: f64| [0.0, 1e-5, -1e-5, 0.0, odd, 1e-5, -1e-5, 0.0];
        let named = |odd: f64, band: f64| {
            let ratio = ratios(&quiet(odd)).ratio(band, 0.95).expect("eight blocks");
            !ratio.caveats.is_empty()
        };
        // The edge is the band's: ln 1.02 = 0.0198, as wide below as above.
        for (odd, is_named) in [
            (0.0002, false),
            (0.0197, false),
            (0.0199, true),
            (-0.0197, false),
            (-0.0199, true),
        ] {
            assert_eq!(named(odd, 0.02), is_named, "{odd}");
            assert!(named(odd, 0.0), "{odd} is far from the others");
        }
        let rates = quiet(0.0002).map(|log| 117.4e6 * log.exp());
        let median = |band| median(&rates, band, 0.95, Unit::BytesPerSecond).expect("rates");
        assert_eq!(median(0.02).caveats, Vec::<String>::new());
        assert_eq!(
            median(0.0).caveats,
            ["trial 5 (+0.0 %) stands apart and is kept"]
        );
        // Each block a tenth of a percent more: certain, and 0.9 % in all.
        let slow: Vec<f64> = (0..10).map(|block| 0.001 * f64::from(block)).collect();
        let drifting = |band| ratios(&slow).ratio(band, 0.95).expect("ten blocks").caveats;
        assert_eq!(drifting(0.02), Vec::<String>::new());
        assert_eq!(drifting(0.005).len(), 1);
        // Noise as wide as the values is no outlier, however large it is.
        let loud = [-0.3, 0.2, -0.1, 0.35, 0.0, -0.2, 0.25, 0.1];
        let loud = ratios(&loud).ratio(0.02, 0.95).expect("eight blocks");
        assert_eq!(loud.caveats, Vec::<String>::new());
    }

    #[test]
    fn a_rate_of_nothing_stands_apart() {
        let rates = [100.0, 100.1, 99.9, 0.0, 100.0, 100.2];
        let found = median(&rates, 0.02, 0.95, Unit::BytesPerSecond).expect("six values");
        assert_eq!(
            found.caveats,
            ["trial 4 (-100.0 %) stands apart and is kept"]
        );
    }

    /// With six blocks only six equal signs reach 95 %: a shift of d deviations is seen with
    /// probability Phi(d)^6, and Phi(1.7927)^6 = 0.8 (`scipy.stats.norm.ppf(0.8 ** (1/6))`).
    #[test]
    fn the_smallest_detectable_difference_of_six_blocks_by_hand() {
        let found = detectable_by_simulation(6, 0.95).expect("six are enough");
        assert!((found - 1.7927).abs() < 0.05, "{found}");
        // Deviation of these six: 0.01 exactly (mean 0, squares 5 * 0.0001).
        let step = (0.0005_f64 / 4.0).sqrt();
        let logs = [step, -step, step, -step, 0.0, 0.0];
        let share = ratios(&logs).smallest_detectable(0.95).expect("a share");
        assert!((share - (0.01 * found).exp_m1()).abs() < 1e-12, "{share}");
        // The formula takes over without a step.
        let simulated = detectable_by_simulation(40, 0.95).expect("forty are enough");
        let formula = SIGNED_RANK_WIDENING * (student(0.95, 40) + 0.8416) / 40.0_f64.sqrt();
        assert!((simulated / formula - 1.0).abs() < 0.05);
    }

    /// The noise is 1.3 % of a block's ratio, and one block of ten lost a third: by the plain standard
    /// deviation nothing under 14 % would be found, and it is found from 1.5 % on.
    #[test]
    fn one_block_that_stands_apart_makes_no_other_noise_floor() {
        let noise = [0.9, -1.2, 0.4, 1.5, -0.6, -1.7, 0.2, 1.1, -0.3, -0.8];
        let shared = [0.3, -0.4, 1.2, 0.1, -0.9, 0.6, -0.2, 0.8, -1.1, 0.5];
        let blocks = |effect: f64, lost: f64| {
            let pairs = (0..)
                .zip(noise)
                .zip(shared)
                .map(move |((block, noise), shared)| {
                    let lost = if block == 4 { lost } else { 0.0 };
                    let [a, b]: [f64; 2] =
                        [shared - noise, shared + noise].map(|percent| 0.0065 * percent);
                    (block, a.exp(), (b + effect + lost).exp())
                });
            PairedRatios::new(pairs)
        };
        let quiet = blocks(0.0, 0.0)
            .smallest_detectable(0.95)
            .expect("ten blocks");
        let odd = blocks(0.0, -0.4)
            .smallest_detectable(0.95)
            .expect("ten blocks");
        assert!(odd < 1.5 * quiet && odd < 0.025, "{odd} {quiet}");
        // So large a difference is indeed found.
        let found = blocks(odd.ln_1p(), -0.4)
            .ratio(0.0, 0.95)
            .expect("ten blocks");
        assert_eq!(verdict(&found, 0.0, 0.95), Verdict::Better, "{found:?}");
        // Half of it is settled by some blocks more, not by hundreds.
        let more = blocks(0.008, -0.4).blocks_to_settle(0.0, 0.95);
        assert!(more.is_some_and(|more| more < 60), "{more:?}");
    }

    /// What is said to be found four times out of five is, by the interval that decides.
    #[test]
    fn the_smallest_detectable_difference_is_found_four_times_out_of_five() {
        for n in [6, 8, 10, 16] {
            let shift = detectable_by_simulation(n, 0.95).expect("enough");
            let effect = (0.02 * 2.0_f64.sqrt() * shift).exp_m1();
            let better = simulate(u32::try_from(n).expect("few"), 0.02, effect, 300).better;
            assert!((0.74..=0.88).contains(&better), "n = {n}: {better}");
        }
    }

    /// The deviation that an interval tells is that of normal noise, where it is normal.
    #[test]
    fn the_deviation_of_normal_noise_is_its_own() {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
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

    /// At the confidence of the interval both say the same, and less is left the farther it is off.
    #[test]
    fn probabilities_agree_with_intervals() {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        for n in [6, 7, 9, 12, 15] {
            for _ in 0..40 {
                let pairs = (0..n).map(|block| {
                    let [a, b] = [0, 0].map(|_| 0.02 * standard_normal_draw(&mut random));
                    (block, a.exp(), (b + 0.02).exp())
                });
                let blocks = PairedRatios::new(pairs);
                let ratio = blocks.ratio(0.02, 0.95).expect("blocks");
                let at = |wanted: f64| {
                    blocks
                        .probability(&ratio, wanted, 0.95)
                        .expect("it is known")
                };
                let [low, high] = ratio.interval.expect("an interval");
                for wanted in [1.0, 0.98, 1.02, 1.05] {
                    let inside = (low..=high).contains(&wanted);
                    assert_eq!(at(wanted) > 0.05, inside, "{wanted} {ratio:?}");
                }
                assert!(at(0.5) <= at(low * 0.99), "{ratio:?}");
                assert!(at(0.5) < 0.001, "{ratio:?}");
            }
        }
    }

    #[test]
    fn a_share_of_two_estimates_is_as_sure_as_both_together() {
        let part = median(&[95.0, 96.0, 97.0], 0.02, 0.95, Unit::BytesPerSecond).expect("values");
        let whole =
            median(&[99.0, 100.0, 101.0], 0.02, 0.95, Unit::BytesPerSecond).expect("values");
        let share = quotient(&part, &whole).expect("a share");
        close(share.value, 0.96);
        assert_eq!(share.interval, Some([95.0 / 101.0, 97.0 / 99.0]));
        close(share.confidence.expect("a confidence"), 0.5);
        let ceiling = computed(100.0, Unit::BytesPerSecond, Vec::new());
        let share = quotient(&part, &ceiling).expect("a share");
        assert_eq!((share.interval, share.n), (Some([0.95, 0.97]), 3));
        close(share.confidence.expect("a confidence"), 0.75);
        assert_eq!(
            quotient(&part, &computed(0.0, Unit::BytesPerSecond, Vec::new())),
            None
        );
    }

    /// What simulated experiments conclude: how often the interval holds the truth, and the verdicts.
    struct Tally {
        covered: f64,
        better: f64,
        called: f64,
    }

    /// `count` experiments of n blocks; every trial varies by `noise`, both arms of a block share a
    /// disturbance of 10 %, and B has `effect`.
    fn simulate(n: u32, noise: f64, effect: f64, count: u32) -> Tally {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let (mut covered, mut better, mut called) = (0_u32, 0_u32, 0_u32);
        for _ in 0..count {
            let pairs: Vec<(u32, f64, f64)> = (0..n)
                .map(|block| {
                    let shared = 0.1 * standard_normal_draw(&mut random);
                    let a = shared + noise * standard_normal_draw(&mut random);
                    let b = shared + noise * standard_normal_draw(&mut random);
                    (block, a.exp(), b.exp() * (1.0 + effect))
                })
                .collect();
            let ratio = PairedRatios::new(pairs).ratio(0.02, 0.95).expect("blocks");
            let [low, high] = ratio.interval.expect("an interval");
            covered += u32::from((low..=high).contains(&(1.0 + effect)));
            let verdict = verdict(&ratio, 0.02, 0.95);
            better += u32::from(verdict == Verdict::Better);
            called += u32::from(matches!(verdict, Verdict::Better | Verdict::Worse));
        }
        let share = |hits: u32| f64::from(hits) / f64::from(count);
        Tally {
            covered: share(covered),
            better: share(better),
            called: share(called),
        }
    }

    #[test]
    fn intervals_of_95_percent_cover_93_to_97_percent_of_truths() {
        for n in [7, 10, 20] {
            for effect in [0.0, 0.03] {
                let covered = simulate(n, 0.02, effect, 500).covered;
                // 500 simulated experiments tell it to two percent.
                assert!((0.93..=0.98).contains(&covered), "n = {n}: {covered}");
            }
        }
        // Six blocks cannot have 95 %; they have, and say, 96.9 %.
        let covered = simulate(6, 0.02, 0.0, 2_000).covered;
        assert!((covered - 0.968_75).abs() < 0.01, "{covered}");
    }

    #[test]
    fn the_same_against_itself_is_called_different_at_most_5_percent_of_the_time() {
        for n in [6, 10, 20] {
            for noise in [0.005, 0.02, 0.10] {
                let called = simulate(n, noise, 0.0, 500).called;
                assert!(called <= 0.06, "n = {n}, noise {noise}: {called}");
            }
        }
    }

    #[test]
    fn three_percent_under_two_percent_of_noise_is_found_in_ten_blocks() {
        let better = simulate(10, 0.02, 0.03, 500).better;
        assert!(better >= 0.80, "{better}");
    }
}
