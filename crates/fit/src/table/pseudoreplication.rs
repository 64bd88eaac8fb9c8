//! The unit of replication: a run is one measurement, however many rows it has. Its rows are correlated,
//! so that each for itself would count as evidence that is not there (Hurlbert 1984, *Pseudoreplication*).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use locale::say;

use super::csv_table::{Table, shown};
use super::error::Error;
use super::{Request, TableWarning};

/// Stable name of the warning that a run was taken for many measurements.
pub(super) const KIND: &str = "pseudo_replication";
/// Names of columns that number runs.
const RUNS: [&str; 10] = [
    "run",
    "run_id",
    "session",
    "copy",
    "repetition",
    "rep",
    "iteration",
    "実行",
    "回",
    "試行",
];
/// Names of columns that tell the time within a run.
const TIMES: [&str; 12] = [
    "time",
    "t",
    "sec",
    "second",
    "seconds",
    "interval",
    "start",
    "elapsed",
    "timestamp",
    "time_s",
    "時刻",
    "秒",
];
/// Fewest rows, one after the other and evenly spaced in time, that are intervals of one run.
const INTERVALS_MIN: usize = 5;
/// So many rows of one level in one stretch are more runs than people make without a number for each.
const STRETCH_MIN: usize = 30;
/// The share by which steps of time differ and still are even.
const UNEVEN: f64 = 0.05;

/// A table of which each row is one run, as far as the table tells.
pub(super) struct Runs<'t> {
    pub(super) table: Cow<'t, Table>,
    pub(super) warnings: Vec<TableWarning>,
    /// Nothing may be concluded: the rows are probably parts of one run each.
    pub(super) is_inconclusive: bool,
}

/// Makes one row of each run: the mean of each response.
pub(super) fn by_run<'t>(table: &'t Table, request: &Request) -> Result<Runs<'t>, Error> {
    let unchanged = |warnings: Vec<TableWarning>| Runs {
        table: Cow::Borrowed(table),
        is_inconclusive: !warnings.is_empty(),
        warnings,
    };
    // What is wrong with the question is said where it is answered.
    let Some(keys) = keys(table, request) else {
        return Ok(unchanged(Vec::new()));
    };
    if let Some(run) = &request.runs {
        let column = table.column(run)?;
        let runs = (0..table.rows()).map(|row| table.cell(row, column).to_owned());
        return collapsed(table, request, &keys, &runs.collect::<Vec<_>>(), run);
    }
    if !table.typed || request.plots.is_some() {
        return Ok(unchanged(Vec::new()));
    }
    let taken: BTreeSet<&String> = request
        .responses
        .iter()
        .chain(&request.factors)
        .chain(&request.blocks)
        .collect();
    let named = |names: &[&str]| {
        let mut columns = table.columns().enumerate();
        columns.find(|(_, name)| {
            let is_known = names.iter().any(|known| name.eq_ignore_ascii_case(known));
            is_known && !taken.iter().any(|taken| taken == name)
        })
    };
    if let Some((column, name)) = named(&RUNS) {
        let runs: Vec<String> = (0..table.rows())
            .map(|row| table.cell(row, column).to_owned())
            .collect();
        if count(&keys, &runs) < table.rows() {
            return collapsed(table, request, &keys, &runs, name);
        }
        return Ok(unchanged(Vec::new()));
    }
    if let Some((column, name)) = named(&TIMES)
        && let Some(runs) = restarts(table, column, &keys)
    {
        return collapsed(table, request, &keys, &runs, name);
    }
    Ok(unchanged(match request.blocks {
        None => stretches(&keys).into_iter().collect(),
        Some(_) => Vec::new(),
    }))
}

/// What a row is of, besides its run: levels of all factors, and its block.
fn keys(table: &Table, request: &Request) -> Option<Vec<String>> {
    let mains = request.factors.iter();
    let mains = mains.filter(|factor| table.column(factor).is_ok() || !factor.contains(':'));
    let named = mains.chain(&request.blocks).chain(&request.plots);
    let named = named.chain(request.only.iter().map(|(column, _)| column));
    let columns = named.map(|name| table.column(name).ok());
    let columns: Vec<usize> = columns.collect::<Option<_>>()?;
    let key = |row: usize| {
        let cells = columns.iter().map(|column| table.cell(row, *column));
        cells.collect::<Vec<_>>().join("\u{1f}")
    };
    Some((0..table.rows()).map(key).collect())
}

fn count(keys: &[String], runs: &[String]) -> usize {
    keys.iter().zip(runs).collect::<BTreeSet<_>>().len()
}

/// The run of each row, where time goes on evenly in rows of one key and begins anew in the next run.
fn restarts(table: &Table, column: usize, keys: &[String]) -> Option<Vec<String>> {
    let mut runs = Vec::with_capacity(keys.len());
    let mut last: BTreeMap<&str, (f64, Option<f64>, usize)> = BTreeMap::new();
    for (row, key) in keys.iter().enumerate() {
        let time = table.number(row, column).ok()??;
        let run = match last.get(key.as_str()).copied() {
            None => 0,
            Some((before, _, run)) if time <= before => run + 1,
            Some((before, step, run)) => {
                let own = time - before;
                if step.is_some_and(|step| (own / step - 1.0).abs() > UNEVEN) {
                    return None;
                }
                last.insert(key, (time, Some(own), run));
                runs.push(run.to_string());
                continue;
            }
        };
        let step = last.get(key.as_str()).and_then(|(_, step, _)| *step);
        last.insert(key, (time, step, run));
        runs.push(run.to_string());
    }
    (table.rows() >= INTERVALS_MIN * count(keys, &runs)).then_some(runs)
}

/// One row for each run, and what a reader must know of it.
fn collapsed<'t>(
    table: &'t Table,
    request: &Request,
    keys: &[String],
    runs: &[String],
    by: &str,
) -> Result<Runs<'t>, Error> {
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (row, (key, run)) in keys.iter().zip(runs).enumerate() {
        let place = *places.entry((key, run)).or_insert_with(|| {
            rows.push(Vec::new());
            rows.len() - 1
        });
        rows[place].push(row);
    }
    let collapsed = means(table, request, &rows)?;
    let of_key = |key: &&str| places.keys().filter(|(own, _)| own == key).count();
    let known: BTreeSet<&str> = places.keys().map(|(key, _)| *key).collect();
    let fewest = known.iter().map(of_key).min().unwrap_or(0);
    let is_inconclusive = fewest < 2 && rows.len() == known.len();
    let text = match is_inconclusive {
        true => say("table-runs.one-of-each"),
        false => say("table-runs.means"),
    };
    let text = text
        .count("rows", table.rows())
        .count("runs", rows.len())
        .with("column", shown(by));
    let warnings = match rows.len() < table.rows() {
        true => vec![TableWarning::new(KIND, text)],
        false => Vec::new(),
    };
    Ok(Runs {
        table: Cow::Owned(collapsed),
        is_inconclusive: is_inconclusive && !warnings.is_empty(),
        warnings,
    })
}

/// A table with a row for these rows of each run: the means of the responses, and else the first cell.
fn means(table: &Table, request: &Request, rows: &[Vec<usize>]) -> Result<Table, Error> {
    let responses = request.responses.iter();
    let responses: BTreeSet<usize> = responses
        .map(|response| table.column(response))
        .collect::<Result<_, _>>()?;
    let columns: Vec<String> = table.columns().map(str::to_owned).collect();
    let mut cells = Vec::with_capacity(rows.len());
    for of_run in rows {
        let mut row = Vec::with_capacity(columns.len());
        for column in 0..columns.len() {
            if !responses.contains(&column) {
                row.push(table.cell(of_run[0], column).to_owned());
                continue;
            }
            let numbers = of_run.iter().map(|row| table.number(*row, column));
            let numbers: Vec<f64> = numbers
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .flatten()
                .collect();
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            row.push(match numbers.is_empty() {
                true => String::new(),
                false => mean.to_string(),
            });
        }
        cells.push(row);
    }
    let mut means = Table::new(columns, cells)?;
    means.typed = table.typed;
    means.baselines.clone_from(&table.baselines);
    means.warnings.clone_from(&table.warnings);
    Ok(means)
}

/// Says so where every level stands in one long stretch, as the intervals of one run do.
fn stretches(keys: &[String]) -> Option<TableWarning> {
    let mut lengths: BTreeMap<&str, usize> = BTreeMap::new();
    let mut before = None;
    for key in keys {
        let length = lengths.entry(key).or_default();
        if *length > 0 && before != Some(key) {
            return None;
        }
        *length += 1;
        before = Some(key);
    }
    let fewest = *lengths.values().min()?;
    (lengths.len() > 1 && fewest >= STRETCH_MIN).then(|| {
        let text = say("table-runs.stretches").count("rows", fewest);
        TableWarning::new(KIND, text)
    })
}
