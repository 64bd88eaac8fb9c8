//! Round numbers for the ticks of an axis, and how they are written.

/// Ticks on an axis at most, so that their labels never touch on a phone.
pub(super) const TICKS_MAX: usize = 6;

/// Round numbers from `low` to `high`, at most so many that they can be read.
pub(super) fn round_ticks(low: f64, high: f64) -> Vec<f64> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return vec![low];
    }
    let decade = 10f64.powf((span / TICKS_MAX as f64).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0, 20.0].map(|step| step * decade);
    let ticks = |step: f64| -> Vec<f64> {
        let first = (low / step - 1e-9).ceil();
        let last = (high / step + 1e-9).floor();
        (0..=(last - first).max(0.0) as usize)
            .map(|index| (first + index as f64) * step)
            .collect()
    };
    let fitting = steps
        .into_iter()
        .map(ticks)
        .find(|ticks| ticks.len() <= TICKS_MAX);
    fitting.unwrap_or_else(|| vec![low])
}

/// Round ratios from `low` to `high`; 1 is one of them when it is inside.
pub(super) fn ratio_ticks(low: f64, high: f64) -> Vec<f64> {
    if high / low > 6.0 {
        let powers = -20..=20;
        let ticks: Vec<f64> = powers
            .map(|power| 2f64.powi(power))
            .filter(|tick| (low..=high).contains(tick))
            .collect();
        let every = ticks.len().div_ceil(TICKS_MAX);
        let one = ticks.iter().position(|tick| *tick >= 1.0).unwrap_or(0);
        return ticks
            .into_iter()
            .enumerate()
            .filter(|(index, _)| index % every == one % every)
            .map(|(_, tick)| tick)
            .collect();
    }
    round_ticks(low, high)
}

/// A tick's number with just the digits that tell it from its neighbours.
pub(super) fn tick_label(tick: f64) -> String {
    let text = format!("{tick:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An axis's numbers: those at its ends stay inside the plot.
pub(super) fn tick_anchor(place: f64) -> &'static str {
    match place {
        place if place < 1.5 => "start",
        place if place > 97.0 => "end",
        _ => "middle",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            round_ticks(0.0, 117.7),
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        );
        assert_eq!(
            round_ticks(114.0, 118.0),
            [114.0, 115.0, 116.0, 117.0, 118.0]
        );
        assert_eq!(round_ticks(5.0, 5.0), [5.0]);
        for high in 1..2000 {
            let ticks = round_ticks(0.0, f64::from(high) * 0.37);
            assert!((3..=TICKS_MAX).contains(&ticks.len()), "{high}: {ticks:?}");
        }
    }

    #[test]
    fn ratio_axes_show_one() {
        for (low, high) in [
            (0.97, 1.03),
            (0.96, 2.1),
            (0.5, 1.1),
            (0.1, 3.0),
            (0.9, 40.0),
            (0.001, 1000.0),
        ] {
            let ticks = ratio_ticks(low, high);
            assert!(
                (2..=TICKS_MAX + 1).contains(&ticks.len()),
                "{low} {high} {ticks:?}"
            );
            assert!(
                ticks.iter().any(|tick| (tick - 1.0).abs() < 1e-9),
                "{low} {high} {ticks:?}"
            );
        }
    }

    #[test]
    fn labels_of_ticks_have_no_useless_digits() {
        assert_eq!(
            [0.0, 0.98, 1.0, 2.5, 100.0].map(tick_label),
            ["0", "0.98", "1", "2.5", "100"]
        );
    }
}
