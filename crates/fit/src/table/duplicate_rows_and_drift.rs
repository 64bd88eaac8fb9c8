//! What the order of rows tells: rows that were pasted again, and time that passes for a difference. No
//! verdict can be defended on either.

use std::collections::{BTreeMap, BTreeSet};

use locale::say;

use super::csv_table::Table;
use super::{Request, TableWarning};

/// Fewest different values of a response among rows that are there again.
const VALUES_MIN: usize = 4;
/// Most rows that are looked at; pairs of them are counted.
const ROWS_MAX: usize = 2_000;
/// Standard normal quantile of the test of drift: 1 % two-sided.
const DRIFT_Z: f64 = 2.576;

/// Why nothing may be concluded of a response, where its rows' order says so.
pub(super) fn suspicion(table: &Table, request: &Request, response: &str) -> Option<TableWarning> {
    if !table.typed || table.rows() > ROWS_MAX || !request.only.is_empty() {
        return None;
    }
    let column = table.column(response).ok()?;
    let factors = request.factors.iter();
    let factors: Vec<usize> = factors.filter_map(|name| table.column(name).ok()).collect();
    let rows: Vec<(Vec<&str>, Option<f64>)> = (0..table.rows())
        .map(|row| {
            let key = factors.iter().map(|column| table.cell(row, *column));
            Some((key.collect(), table.number(row, column).ok()?))
        })
        .collect::<Option<_>>()?;
    again(&rows).or_else(|| match request.blocks {
        None => drift(&rows),
        Some(_) => None,
    })
}

/// All rows are the first ones several times, with the same values.
fn again(rows: &[(Vec<&str>, Option<f64>)]) -> Option<TableWarning> {
    let repeats = |period: &usize| {
        rows[*period..]
            .iter()
            .zip(rows)
            .all(|(one, other)| one == other)
    };
    let periods = (VALUES_MIN..=rows.len() / 2).filter(|period| rows.len().is_multiple_of(*period));
    let period = periods.into_iter().find(repeats)?;
    let values = rows[..period].iter().filter_map(|(_, value)| *value);
    let values: BTreeSet<u64> = values.map(f64::to_bits).collect();
    (values.len() >= VALUES_MIN).then(|| {
        let text = say("table-order.repeated")
            .count("rows", rows.len())
            .count("period", period)
            .count("times", rows.len() / period);
        TableWarning::new("repeated_rows", text)
    })
}

/// Each level stands in one stretch, and the values rise or fall within them (Mann and Kendall's test over all
/// of them), as they do in time.
fn drift(rows: &[(Vec<&str>, Option<f64>)]) -> Option<TableWarning> {
    let mut levels: BTreeMap<&[&str], Vec<f64>> = BTreeMap::new();
    let mut before: Option<&[&str]> = None;
    for (key, value) in rows {
        let key = key.as_slice();
        let own = levels.entry(key).or_default();
        if !own.is_empty() && before != Some(key) {
            return None;
        }
        own.extend(value);
        before = Some(key);
    }
    let (mut score, mut variance) = (0_i64, 0.0);
    for values in levels.values() {
        for (place, one) in values.iter().enumerate() {
            let later = values[place + 1..].iter();
            let later = later.map(|other| i64::from(other > one) - i64::from(other < one));
            score += later.sum::<i64>();
        }
        let n = values.len() as f64;
        variance += n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    }
    let z = (score.abs() - 1) as f64 / f64::sqrt(variance);
    let is_long = levels.values().all(|values| values.len() >= VALUES_MIN);
    (levels.len() > 1 && is_long && z > DRIFT_Z).then(|| {
        let text = match score > 0 {
            true => say("table-order.values-rise"),
            false => say("table-order.values-fall"),
        };
        TableWarning::new("drift", text)
    })
}
