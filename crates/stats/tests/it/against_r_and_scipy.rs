//! Random samples against R and scipy, to nine digits; `scripts/r-expectations` and
//! `scripts/two-sample-expectations` wrote what those say.

use stats::sequential::PROBE;
use stats::{PairedRatios, Unit, median};

const TOLERANCE: f64 = 1e-9;

fn numbers(cell: &str) -> Vec<f64> {
    let cells = cell.split(' ');
    cells
        .map(|number| number.parse().expect("a number"))
        .collect()
}

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
        let logs = numbers(logs);
        let ratio = paired(&logs).ratio(0.02, 0.95).expect("blocks");
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

fn paired(logs: &[f64]) -> PairedRatios {
    PairedRatios::new((0..).zip(logs).map(|(block, log)| (block, 1.0, log.exp())))
}

/// R tries every exchange of the arms of 120 samples of 3 to 7 blocks, and has Student's interval of 4 of them.
#[test]
fn exchanges_of_arms_agree_with_r() {
    let mut count = 0;
    let mut looks = 0;
    for row in include_str!("r_paired.csv").lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let [
            logs,
            low,
            high,
            confidence,
            shifts,
            probabilities,
            student_low,
            student_high,
        ] = cells[..]
        else {
            panic!("row {count}");
        };
        let logs = numbers(logs);
        let blocks = paired(&logs);
        let ratio = blocks.ratio(0.0, 0.95).expect("blocks");
        let ends = ratio.interval.expect("an interval").map(f64::ln);
        near(ends[0], low, &format!("low of row {count}"));
        near(ends[1], high, &format!("high of row {count}"));
        let reached = ratio.confidence.expect("one");
        near(reached, confidence, &format!("confidence of row {count}"));
        for (shift, expected) in numbers(shifts).into_iter().zip(numbers(probabilities)) {
            let p = blocks.probability(&ratio, shift.exp(), 0.95);
            let p = p.expect("a probability");
            // Where every block speaks against a shift, its distance says more than the exchanges can.
            let all = logs.iter().all(|log| *log > shift) || logs.iter().all(|log| *log < shift);
            assert!(
                (p - expected).abs() <= TOLERANCE || all && p < expected,
                "row {count} at {shift}: {p} against {expected}"
            );
        }
        if logs.len() == 4 {
            let found = PROBE.judge(&blocks, 1.05).expect("four blocks").ratio;
            let ends = found.interval.expect("an interval").map(f64::ln);
            near(ends[0], student_low, &format!("Student, row {count}"));
            near(ends[1], student_high, &format!("Student, row {count}"));
            looks += 1;
        }
        count += 1;
    }
    assert_eq!(count, 120);
    assert!(looks >= 10, "{looks}");
}

/// 60 pairs of samples against scipy and against R.
#[test]
fn two_samples_agree_with_scipy_and_r() {
    let mut count = 0;
    let by_scipy = include_str!("two_sample.csv").lines().skip(1);
    let by_r = include_str!("r_two_sample.csv").lines().skip(1);
    for (row, row_of_r) in by_scipy.zip(by_r) {
        let cells: Vec<&str> = row.split(';').collect();
        let [before, after, by_scipy @ ..] = &cells[..] else {
            panic!("row {count}");
        };
        let [before, after] = [before, after].map(|cell| {
            numbers(cell)
                .into_iter()
                .map(f64::exp)
                .collect::<Vec<f64>>()
        });
        let found = stats::two_sample::ratio(&before, &after, 0.95).expect("values");
        let [low, high] = found.interval.expect("an interval");
        let deviation = stats::two_sample::deviation(&before, &after).expect("values");
        let own = [
            found.value.ln(),
            low.ln(),
            high.ln(),
            found.confidence.expect("one"),
            deviation,
        ];
        for (own, expected) in own.into_iter().zip(by_scipy) {
            near(own, expected, &format!("row {count}, scipy"));
        }
        let by_r: Vec<&str> = row_of_r.split(';').collect();
        assert_eq!(by_r.len(), 4);
        for (own, expected) in own.into_iter().zip(by_r) {
            near(own, expected, &format!("row {count}, R"));
        }
        count += 1;
    }
    assert_eq!(count, 60);
}

/// `[1 / C(2n, n)]`: 2 of 70 at four runs each, 2 of 20 at three.
#[test]
fn four_runs_each_are_the_fewest() {
    use stats::two_sample::{ratio, runs_min, runs_needed};
    assert_eq!([0.9, 0.95, 0.99, 0.999].map(runs_min), [3, 4, 5, 7]);
    let four = ratio(&[1.0, 1.1, 1.2, 1.3], &[2.0, 2.1, 2.2, 2.3], 0.95).expect("runs");
    assert!((four.confidence.expect("one") - (1.0 - 2.0 / 70.0)).abs() < 1e-12);
    assert_eq!(ratio(&[1.0], &[2.0], 0.95).expect("runs").interval, None);
    assert_eq!(ratio(&[1.0, 0.0], &[2.0], 0.95), None);
    assert_eq!(ratio(&[], &[2.0], 0.95), None);
    // 2 (1.0233 (1.95996 + 0.84162) 0.02 / ln 1.05)^2 + 1 = 3.76 and 1.0233 ... / ln 1.02: 17.8.
    assert_eq!(runs_needed(0.05, 0.02, 0.95), Some(4));
    assert_eq!(runs_needed(0.02, 0.02, 0.95), Some(18));
    assert_eq!(runs_needed(0.0001, 0.05, 0.95), None);
}
