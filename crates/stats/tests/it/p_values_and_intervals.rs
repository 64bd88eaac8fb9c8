//! What the probability of a ratio and the interval say of each other. `make coverage` uses it as well.

use rand::{Rng, RngExt};
use stats::PairedRatios;

/// Steps from the estimate, as shares of it.
const STEPS: [f64; 6] = [0.0, 0.003, 0.01, 0.03, 0.1, 0.4];

/// What is refused at 5 % is outside of the interval of 95 %, what is outside is refused at the confidence
/// that the interval has, and a ratio further from the estimate is never more probable.
///
/// # Errors
/// What contradicts what.
pub fn check(blocks: &PairedRatios) -> Result<(), String> {
    let ratio = blocks.ratio(0.0, 0.95).ok_or("no ratio")?;
    let [low, high] = ratio.interval.ok_or("no interval")?;
    let reached = ratio.confidence.ok_or("no confidence")?;
    let is_full = reached + 1e-12 >= 0.95;
    for outwards in [1.0, -1.0] {
        let mut before = 1.0_f64;
        for step in STEPS {
            let wanted = ratio.value * f64::powf(1.0 + step, outwards);
            let p = blocks.probability(&ratio, wanted, 0.95).ok_or("no p")?;
            if !(0.0..=before + 1e-9).contains(&p) {
                return Err(format!(
                    "{p} at {wanted}, after {before} nearer to {}",
                    ratio.value
                ));
            }
            before = p;
            let is_inside = (low..=high).contains(&wanted);
            if is_inside && p <= 0.05 - 1e-9 {
                return Err(format!("{p} at {wanted}, inside of [{low}, {high}]"));
            }
            if !is_inside && (p > 1.0 - reached + 1e-9 || is_full && p > 0.05) {
                return Err(format!(
                    "{p} at {wanted}, outside of [{low}, {high}] of {reached}"
                ));
            }
        }
    }
    Ok(())
}

/// Blocks of the logarithms of trials that follow each other, two each. As schedules do it, half of the blocks begin
/// with A.
pub fn in_halves(series: &[f64], random: &mut impl Rng) -> PairedRatios {
    let n = series.len() / 2;
    let mut firsts: Vec<bool> = (0..n).map(|block| block % 2 == 0).collect();
    for place in (1..n).rev() {
        firsts.swap(place, random.random_range(0..=place));
    }
    if n % 2 == 1 {
        let odd = random.random_range(0..n);
        firsts[odd] = random.random();
    }
    PairedRatios::in_order((0..).zip(series.chunks(2)).zip(firsts).map(
        |((block, pair), a_first)| {
            let [one, two] = [pair[0].exp(), pair[1].exp()];
            let (a, b) = if a_first { (one, two) } else { (two, one) };
            (block, a, b, Some(a_first))
        },
    ))
    .drawn_in_halves()
}
