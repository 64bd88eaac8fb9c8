//! Why a table was refused.

use std::fmt;

use locale::{Language, Message, say};

use super::{CELL_BYTES_MAX, factor_levels};

/// What was wrong with a table, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Too much of something; nothing is read beyond a bound.
    TooLarge {
        /// Of what.
        what: &'static str,
        /// The bound.
        limit: usize,
        /// Line of the file, from 1, where that is known.
        line: Option<u64>,
    },
    /// No header or no data.
    Empty(&'static str),
    /// A row has not one cell per column.
    Ragged {
        /// Row of the data, from 1.
        row: usize,
        /// Line of the file, from 1.
        line: u64,
        /// Cells in it.
        cells: usize,
        /// Columns of the header.
        columns: usize,
    },
    /// A cell is longer than any level or number.
    LongCell {
        /// Row of the data, 0 for the header.
        row: usize,
        /// Line of the file.
        line: u64,
        /// Column.
        column: String,
    },
    /// The reader of CSV gave up.
    Csv(#[source] csv::Error),
    /// Two columns of the same name.
    DuplicateColumn(String),
    /// A response that has no row with everything in it.
    NoRows(String),
    /// A response that is no number.
    NotANumber {
        /// Row of the data, from 1.
        row: usize,
        /// Column.
        column: String,
        /// What stands there, shortened.
        cell: String,
    },
    /// Asked for a column that is not there.
    NoSuchColumn {
        /// Column.
        column: String,
        /// Those there are.
        columns: String,
    },
    /// One column in two parts of the question.
    TwoRoles(String),
    /// Nothing to explain by.
    NoFactor,
    /// Nothing to explain.
    NoResponse,
    /// An interaction that is not of two factors.
    BadInteraction(String),
    /// A factor that was not varied.
    OneLevel {
        /// Factor.
        factor: String,
        /// Its level.
        level: String,
        /// Rows that were left.
        rows: usize,
    },
    /// A factor that was varied, only not from where it is to be compared.
    NoBaseline {
        /// Response.
        response: String,
        /// Factor.
        factor: String,
        /// What was asked for.
        level: String,
    },
    /// A factor that looks like a measurement.
    TooManyLevels {
        /// Factor.
        factor: String,
    },
    /// A baseline or a row filter that fits no row.
    NoSuchLevel {
        /// Column.
        column: String,
        /// What was asked for.
        cell: String,
        /// What stands in the column.
        cells: String,
    },
    /// A baseline of something that is no factor.
    NotAFactor(String),
    /// More to estimate than was measured.
    TooFewRows {
        /// Response.
        response: String,
        /// Rows with a value.
        rows: usize,
        /// Mean, blocks, levels and interactions of the model.
        parameters: usize,
    },
    /// Nothing varies.
    AllEqual {
        /// Response.
        response: String,
        /// The value.
        value: String,
    },
    /// Numbers whose squares leave the range of numbers.
    OutOfRange(String),
    /// No sensible band of equivalence.
    Band(f64),
    /// JSON where a table was asked for.
    Json,
    /// Nothing to compare with.
    OneArm(String),
    /// Arms that have nothing in common.
    DifferentArms {
        /// Which.
        arm: String,
        /// What was measured in it.
        own: String,
        /// The first arm.
        first: String,
        /// What was measured in that.
        others: String,
    },
    /// A result file given as an arm was not understood.
    Arm {
        /// Which.
        arm: String,
        /// Why.
        reason: Message,
    },
    /// A result file given as an arm is no JSON.
    ArmJson {
        /// Which.
        arm: String,
        /// Line of the file, from 1.
        line: usize,
        /// What the reader said.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

impl Error {
    pub(super) const fn too_large(what: &'static str, limit: usize) -> Self {
        Self::TooLarge {
            what,
            limit,
            line: None,
        }
    }

    /// The same, seen at this line of the file.
    pub(super) fn at(mut self, of_file: u64) -> Self {
        if let Self::TooLarge { line, .. } = &mut self {
            *line = Some(of_file);
        }
        self
    }

    /// Whether it is about the rows of one response, so that others may be answered.
    pub(super) const fn is_of_rows(&self) -> bool {
        matches!(
            self,
            Self::NoRows(_)
                | Self::NoBaseline { .. }
                | Self::OneLevel { .. }
                | Self::TooFewRows { .. }
                | Self::AllEqual { .. }
        )
    }

    /// What was wrong, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        let message = self.about_text();
        message
            .or_else(|| self.about_arms())
            .or_else(|| self.about_rows())
            .unwrap_or_else(|| self.about_question())
    }

    /// About a text that is no table.
    fn about_text(&self) -> Option<Message> {
        Some(match self {
            Self::TooLarge { what, limit, line } => too_many(what)
                .count("limit", *limit)
                .with_known("line", line.map(|line| line.to_string())),
            Self::Empty(what) => none_of(what),
            Self::Ragged {
                row,
                line,
                cells,
                columns,
            } => say("error-table.ragged")
                .count("row", *row)
                .count("line", *line)
                .count("cells", *cells)
                .count("columns", *columns),
            Self::LongCell { row, line, column } => say("error-table.long-cell")
                .count("row", *row)
                .count("line", *line)
                .with("column", column)
                .count("most", CELL_BYTES_MAX),
            Self::Csv(_) => say("error-table.csv"),
            Self::DuplicateColumn(column) => {
                say("error-table.duplicate-column").with("column", column)
            }
            Self::NotANumber { row, column, cell } => say("error-table.not-a-number")
                .count("row", *row)
                .with("column", column)
                .with("cell", cell),
            Self::Json => say("error-table.json"),
            _ => return None,
        })
    }

    /// About results of programs that are held against each other.
    fn about_arms(&self) -> Option<Message> {
        Some(match self {
            Self::OneArm(arm) => say("error-table.one-arm").with("arm", arm),
            Self::DifferentArms {
                arm,
                own,
                first,
                others,
            } => say("error-table.different-arms")
                .with("arm", arm)
                .with("own", own)
                .with("first", first)
                .with("others", others),
            Self::Arm { arm, reason } => say("error-table.arm")
                .with("arm", arm)
                .with("reason", reason.clone()),
            Self::ArmJson { arm, line, reason } => say("error-table.arm-json")
                .with("arm", arm)
                .count("line", *line)
                .with("reason", reason),
            _ => return None,
        })
    }

    /// About rows that do not tell what was asked.
    fn about_rows(&self) -> Option<Message> {
        Some(match self {
            Self::NoRows(response) => say("error-table.no-rows").with("response", response),
            Self::OneLevel {
                factor,
                level,
                rows,
            } => say("error-table.one-level")
                .with("factor", factor)
                .with("level", level)
                .count("rows", *rows),
            Self::NoBaseline {
                response,
                factor,
                level,
            } => say("error-table.no-baseline")
                .with("response", response)
                .with("factor", factor)
                .with("level", level),
            Self::TooManyLevels { factor } => say("error-table.many-levels")
                .with("factor", factor)
                .count("most", factor_levels::LEVELS_MAX),
            Self::TooFewRows {
                response,
                rows,
                parameters,
            } => say("error-table.few-rows")
                .count("rows", *rows)
                .with("response", response)
                .count("parameters", *parameters),
            Self::AllEqual { response, value } => say("error-table.all-equal")
                .with("response", response)
                .with("value", value),
            Self::OutOfRange(response) => {
                say("error-table.out-of-range").with("response", response)
            }
            _ => return None,
        })
    }

    /// About what was asked.
    fn about_question(&self) -> Message {
        match self {
            Self::NoSuchColumn { column, .. } => {
                say("error-table.no-such-column").with("column", column)
            }
            Self::NoSuchLevel { column, cell, .. } => say("error-table.no-such-level")
                .with("column", column)
                .with("cell", cell),
            Self::TwoRoles(column) => say("error-table.two-roles").with("column", column),
            Self::NoResponse => say("error-table.no-response"),
            Self::BadInteraction(name) => say("error-table.bad-interaction").with("name", name),
            Self::NotAFactor(column) => say("error-table.not-a-factor").with("column", column),
            Self::Band(band) => say("error-table.band").with("percent", (band * 100.0).to_string()),
            // All others are of another kind.
            _ => say("error-table.no-factor"),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Message {
        let hint = say(self.hint_id());
        match self {
            Self::NoSuchColumn { columns, .. } => hint.with("columns", columns),
            Self::NoSuchLevel { cells, .. } => hint.with("cells", cells),
            _ => hint,
        }
    }

    fn hint_id(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "hint-table.part-of-it",
            Self::Empty(_) => "hint-table.header-and-rows",
            Self::Ragged { .. } => "hint-table.cell-per-column",
            Self::LongCell { .. } | Self::Csv(_) => "hint-table.save-as-csv",
            Self::NoRows(_) => "hint-table.empty-cells",
            Self::DuplicateColumn(_) => "hint-table.own-names",
            Self::NotANumber { cell, .. } => not_a_number(cell),
            Self::NoSuchColumn { .. } => "hint-table.columns",
            Self::TwoRoles(_) => "hint-table.each-once",
            Self::NoFactor => "hint-table.name-factors",
            Self::NoResponse => "hint-table.name-response",
            Self::BadInteraction(_) => "hint-table.interaction",
            Self::OneLevel { .. } => "hint-table.vary-it",
            Self::NoBaseline { .. } => "hint-table.baseline",
            Self::TooManyLevels { .. } => "hint-table.a-measurement",
            Self::NoSuchLevel { .. } => "hint-table.cells",
            Self::NotAFactor(_) => "hint-table.name-it-too",
            Self::TooFewRows { .. } => "hint-table.more-rows",
            Self::AllEqual { .. } => "hint-table.right-column",
            Self::OutOfRange(_) => "hint-table.other-unit",
            Self::Band(_) => "hint-table.usual-band",
            Self::Json => "hint-table.as-arms",
            Self::OneArm(_) => "hint-table.two-arms",
            Self::DifferentArms { .. } => "hint-table.same-measurement",
            Self::Arm { .. } | Self::ArmJson { .. } => "hint-table.known-programs",
        }
    }
}

/// Of what there is too much.
fn too_many(what: &str) -> Message {
    match what {
        "arms" => say("error-table.many-arms"),
        "bytes" => say("error-table.many-bytes"),
        "bytes in its cells" => say("error-table.bytes-in-cells"),
        "cells" => say("error-table.many-cells"),
        "columns" => say("error-table.many-columns"),
        "parameters" => say("error-table.many-parameters"),
        "rows" => say("error-table.many-rows"),
        "rows times parameters" => say("error-table.rows-times-parameters"),
        "runs" => say("error-table.many-runs"),
        other => say("error-table.too-large").with("what", other),
    }
}

/// What is not there at all.
fn none_of(what: &str) -> Message {
    match what {
        "arms" => say("error-table.no-arms"),
        "header" => say("error-table.no-header"),
        "rows of data" => say("error-table.no-data"),
        other => say("error-table.none").with("what", other),
    }
}

/// What people write beside, or instead of, a number: the hint about it.
fn not_a_number(cell: &str) -> &'static str {
    let start = cell.trim_start_matches(['-', '+']);
    let marks = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',');
    let digits = start.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_marked = digits.starts_with(',') || start.chars().all(marks);
    if !start.starts_with(|letter: char| letter.is_ascii_digit()) {
        return "hint-table.no-number";
    }
    match cell.parse::<f64>() {
        Ok(number) if number.is_finite() => "hint-table.point-of-thousands",
        Ok(_) => "hint-table.too-large-number",
        Err(_) if is_marked => "hint-table.decimal-point",
        Err(_) => "hint-table.number-alone",
    }
}
