//! The rows that a question is about: those that pass its filters and lack nothing.

use std::collections::BTreeSet;

use locale::say;

use super::csv_table::{Table, figure, shown};
use super::error::Error;
use super::{Request, TableWarning, tool_results_as_arms};

/// Largest and inverse of the smallest magnitude whose square is still a good number.
const MAGNITUDE_MAX: f64 = 1e140;
/// Rows of one kind that are named one by one.
const NAMED_MAX: usize = 16;

/// Rows that pass the filter; filters on one column are alternatives.
pub(super) fn chosen_rows(table: &Table, request: &Request) -> Result<Vec<usize>, Error> {
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    for (name, cell) in &request.only {
        let column = table.column(name)?;
        if !(0..table.rows()).any(|row| table.cell(row, column) == cell) {
            return Err(Error::NoSuchLevel {
                column: shown(name),
                cell: shown(cell),
                cells: table.cells(column),
            });
        }
        rows.retain(|row| {
            let mut alternatives = request.only.iter().filter(|(other, _)| other == name);
            alternatives.any(|(_, cell)| table.cell(*row, column) == cell)
        });
    }
    Ok(rows)
}

/// The rows that have a value and every factor, with their values.
pub(super) fn complete<'a>(
    table: &Table,
    rows: &[usize],
    response: usize,
    factors: impl Iterator<Item = &'a usize> + Clone,
    warnings: &mut Vec<TableWarning>,
) -> Result<(Vec<usize>, Vec<f64>), Error> {
    let mut complete = (Vec::new(), Vec::new());
    let mut left_out = 0;
    let measuring = measuring(table, rows, response)?;
    let is_measured = |row: usize| {
        let mut measuring = measuring.iter();
        measuring.all(|(column, jobs)| jobs.contains(table.cell(row, *column)))
    };
    for row in rows.iter().copied().filter(|row| is_measured(*row)) {
        let gap = factors
            .clone()
            .find(|column| table.present(row, **column).is_none());
        match (table.number(row, response)?, gap) {
            (Some(value), None) => {
                complete.0.push(row);
                complete.1.push(value);
            }
            (value, gap) => {
                left_out += 1;
                if left_out > NAMED_MAX {
                    continue;
                }
                let column = match (value, gap) {
                    (Some(_), Some(gap)) => *gap,
                    _ => response,
                };
                let column = table.columns().nth(column).unwrap_or_default();
                let text = say("table-missing").count("row", row + 1);
                let text = text.with("column", shown(column));
                warnings.push(TableWarning::at(row + 1, "missing", text));
            }
        }
    }
    if let Some(more @ 1..) = left_out.checked_sub(NAMED_MAX) {
        let text = say("table-missing.more").count("more", more);
        warnings.push(TableWarning::new("missing", text));
    }
    Ok(complete)
}

/// In results of programs, the column of their jobs and those that measure a response at all: one that
/// only reads has nothing to say of writing, and lacks nothing.
fn measuring<'t>(
    table: &'t Table,
    rows: &[usize],
    response: usize,
) -> Result<Option<(usize, BTreeSet<&'t str>)>, Error> {
    let Some(column) = table
        .column(tool_results_as_arms::JOB)
        .ok()
        .filter(|_| !table.typed)
    else {
        return Ok(None);
    };
    let mut jobs = BTreeSet::new();
    for row in rows {
        if table.number(*row, response)?.is_some() {
            jobs.insert(table.cell(*row, column));
        }
    }
    Ok(Some((column, jobs)))
}

pub(super) fn check_values(response: &str, values: &[f64]) -> Result<(), Error> {
    let Some(first) = values.first() else {
        return Err(Error::NoRows(shown(response)));
    };
    if values.len() == 1 {
        return Err(Error::TooFewRows {
            response: shown(response),
            rows: 1,
            parameters: 2,
        });
    }
    if values.iter().all(|value| value == first) {
        return Err(Error::AllEqual {
            response: shown(response),
            value: figure(*first),
        });
    }
    let largest = values
        .iter()
        .fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if !(1.0 / MAGNITUDE_MAX..=MAGNITUDE_MAX).contains(&largest) {
        return Err(Error::OutOfRange(shown(response)));
    }
    Ok(())
}
