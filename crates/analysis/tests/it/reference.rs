//! 200 random samples against R; `scripts/comparison-expectations` wrote them.

use analysis::Unit;
use analysis::statistics::{PairedRatios, median};

const TOLERANCE: f64 = 1e-6;

fn near(own: f64, expected: &str, what: &str) {
    let expected: f64 = expected.parse().expect("a number");
    assert!(
        (own - expected).abs() <= TOLERANCE,
        "{what}: {own} against {expected}"
    );
}

#[test]
fn two_hundred_samples_agree_with_r() {
    let mut rows = include_str!("r.csv").lines().skip(1);
    let mut count = 0;
    for (place, row) in rows.by_ref().enumerate() {
        let cells: Vec<&str> = row.split(',').collect();
        let [logs, hodges_lehmann, middle, low, high, confidence] = cells[..] else {
            panic!("row {place} has {} cells", cells.len());
        };
        let logs: Vec<f64> = logs
            .split(' ')
            .map(|log| log.parse().expect("a number"))
            .collect();
        let pairs = (0..).zip(&logs).map(|(block, log)| (block, 1.0, log.exp()));
        let ratio = PairedRatios::new(pairs).ratio(0.02, 0.95).expect("blocks");
        near(
            ratio.value,
            hodges_lehmann,
            &format!("ratio of row {place}"),
        );
        let own = median(&logs, 0.02, 0.95, Unit::Ratio).expect("values");
        near(own.value, middle, &format!("median of row {place}"));
        let ends = own.interval.expect("an interval");
        near(ends[0], low, &format!("low of row {place}"));
        near(ends[1], high, &format!("high of row {place}"));
        near(
            own.confidence.expect("one"),
            confidence,
            &format!("confidence of row {place}"),
        );
        count += 1;
    }
    assert_eq!(count, 200);
}
