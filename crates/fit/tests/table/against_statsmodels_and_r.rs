//! 200 random tables against statsmodels and scipy, which `scripts/table-expectations` wrote, and against
//! what R says of them (`scripts/r-expectations`).

use std::collections::{BTreeMap, BTreeSet};

use fit::table::{Interactions, Request, TableResult};
use locale::Argument;
use serde::Deserialize;

use crate::{effect, one, warnings};

const TOLERANCE: f64 = 1e-9;

/// Factor, level, estimate, low, high, p, p by Holm.
type ExpectedEffect = (String, String, f64, f64, f64, f64, f64);
/// Name, over, statistic, p, p by Holm.
type ExpectedTest = (String, Vec<String>, f64, f64, Option<f64>);

#[derive(Deserialize)]
struct Expected {
    kind: String,
    factors: Vec<String>,
    blocks: Option<String>,
    screened: bool,
    csv: String,
    effects: Vec<ExpectedEffect>,
    tests: Vec<ExpectedTest>,
    verdicts: BTreeMap<String, String>,
    robust_warnings: Vec<String>,
}

fn analysed(expected: &Expected) -> TableResult {
    let mut request = Request::new(["read_mb_s".to_owned()], expected.factors.clone());
    request.blocks.clone_from(&expected.blocks);
    if !expected.screened {
        request.interactions = Interactions::Ignored;
    }
    one(&expected.csv, &request)
}

fn near(own: Option<f64>, expected: f64, scale: f64, what: &str) {
    let own = own.unwrap_or_else(|| panic!("{what} is missing"));
    assert!(
        (own - expected).abs() <= TOLERANCE * scale,
        "{what}: {own} against {expected}"
    );
}

fn compare(place: usize, expected: &Expected, result: &TableResult) {
    let name = format!("table {place} ({})", expected.kind);
    numbers(&name, &expected.effects, &expected.tests, result);
    let tests = if expected.kind == "named" {
        2
    } else {
        expected.tests.len()
    };
    assert!(
        result.tests.len() == tests || expected.kind == "named",
        "{name}: {:?}",
        result.tests
    );
    for (of, verdict) in &expected.verdicts {
        let (factor, level) = of.split_once('=').unwrap();
        let own = serde_json::to_value(effect(result, factor, level).verdict).unwrap();
        assert_eq!(own, verdict.as_str(), "{name}, {of}");
    }
    if expected.kind != "named" {
        let warned = warnings(result, "robust_errors");
        let warned: BTreeSet<&str> = warned
            .iter()
            .map(|warning| match warning.text.argument("effect") {
                Some(Argument::Text(effect)) => effect.as_str(),
                other => panic!("{name}: {other:?}"),
            })
            .collect();
        let expected: BTreeSet<&str> = expected
            .robust_warnings
            .iter()
            .map(String::as_str)
            .collect();
        assert_eq!(warned, expected, "{name}");
    }
}

fn numbers(name: &str, effects: &[ExpectedEffect], tests: &[ExpectedTest], result: &TableResult) {
    assert_eq!(result.effects.len(), effects.len(), "{name}");
    for (factor, level, estimate, low, high, p, p_holm) in effects {
        let own = effect(result, factor, level);
        let what = format!("{name}, {factor}={level}");
        // The digits of an estimate near 0 are those of its interval.
        let scale = low.abs().max(high.abs());
        near(own.estimate, *estimate, scale, &what);
        near(own.low, *low, scale, &what);
        near(own.high, *high, scale, &what);
        near(own.p, *p, 1.0, &what);
        assert!(
            (own.p.unwrap().ln() - p.ln()).abs() < TOLERANCE,
            "{what}: {:?} against {p}",
            own.p
        );
        near(own.p_holm, *p_holm, 1.0, &what);
    }
    for (test, over, statistic, p, p_holm) in tests {
        let own = result
            .tests
            .iter()
            .find(|own| own.name == *test && own.over == *over);
        let own = own.unwrap_or_else(|| panic!("{name}: no {test} over {over:?}"));
        near(
            Some(own.statistic),
            *statistic,
            statistic.abs().max(1.0),
            name,
        );
        near(Some(own.p), *p, 1.0, name);
        assert_eq!(own.p_holm.is_some(), p_holm.is_some(), "{name}");
        if let Some(p_holm) = p_holm {
            near(own.p_holm, *p_holm, 1.0, name);
        }
    }
}

#[test]
fn two_hundred_tables_agree_with_statsmodels() {
    let all: Vec<Expected> = serde_json::from_str(include_str!("statsmodels.json")).unwrap();
    assert_eq!(all.len(), 200);
    let robust: usize = all
        .iter()
        .map(|expected| expected.robust_warnings.len())
        .sum();
    assert!(
        robust > 10,
        "the fixture must have robust errors that matter, it has {robust}"
    );
    for (place, expected) in all.iter().enumerate() {
        compare(place, expected, &analysed(expected));
    }
}

/// What R says of each table.
fn by_r() -> BTreeMap<usize, (Vec<ExpectedEffect>, Vec<ExpectedTest>)> {
    let mut tables: BTreeMap<usize, (Vec<ExpectedEffect>, Vec<ExpectedTest>)> = BTreeMap::new();
    for row in include_str!("r.csv").lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let [table, kind, of, rest @ ..] = &cells[..] else {
            panic!("{row}");
        };
        let (effects, tests) = tables.entry(table.parse().unwrap()).or_default();
        let number = |place: usize| rest[place].parse::<f64>().unwrap();
        if *kind == "effect" {
            let numbers = [1, 2, 3, 4, 5].map(number);
            let [estimate, low, high, p, p_holm] = numbers;
            let level = rest[0].to_owned();
            effects.push(((*of).to_owned(), level, estimate, low, high, p, p_holm));
        } else {
            let over = of.split('+').map(str::to_owned).collect();
            let p_holm = (!rest[2].is_empty()).then(|| number(2));
            tests.push(((*kind).to_owned(), over, number(0), number(1), p_holm));
        }
    }
    tables
}

#[test]
fn two_hundred_tables_agree_with_r() {
    let all: Vec<Expected> = serde_json::from_str(include_str!("statsmodels.json")).unwrap();
    let by_r = by_r();
    assert_eq!(by_r.len(), 200);
    let of_kind = |kind: &str| {
        let tests = by_r.values().flat_map(|(_, tests)| tests);
        tests.filter(|test| test.0 == kind).count()
    };
    for (kind, count) in [
        ("one_way_anova", 125),
        ("kruskal_wallis", 105),
        ("factor", 79),
        ("interaction", 28),
    ] {
        assert_eq!(of_kind(kind), count, "{kind}");
    }
    for (place, expected) in all.iter().enumerate() {
        let (effects, tests) = &by_r[&place];
        let name = format!("table {place} ({}), R", expected.kind);
        numbers(&name, effects, tests, &analysed(expected));
    }
}

/// Noise, effects and blocks of honest tables are no slips of unit, and seldom outliers. Where one level
/// is ten times as noisy as the other, up to 50 %, a value of an eighth may happen once.
#[test]
fn honest_tables_have_no_slips_and_few_outliers() {
    let all: Vec<Expected> = serde_json::from_str(include_str!("statsmodels.json")).unwrap();
    let with = |kind: &str, noisy: bool| {
        let some = all
            .iter()
            .filter(|expected| (expected.kind == "noisy") == noisy);
        some.filter(|expected| !warnings(&analysed(expected), kind).is_empty())
            .count()
    };
    assert_eq!(with("unit_slip", false), 0);
    assert!(with("unit_slip", true) <= 1);
    assert!(with("outlier", false) <= 20);
}
