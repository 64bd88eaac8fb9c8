//! Why a table was refused.

use super::{design, read};

/// What was wrong with a table, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Too much of something; nothing is read beyond a bound.
    #[error("the table has more than {limit} {what}")]
    TooLarge {
        /// Of what.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
    /// No header or no data.
    #[error("the table has no {0}")]
    Empty(&'static str),
    /// A row has not one cell per column.
    #[error("row {row} (line {line}) has {cells} cells, the header has {columns}")]
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
    #[error(
        "row {row} (line {line}), column `{column}`: a cell of more than {} bytes",
        read::CELL_BYTES_MAX
    )]
    LongCell {
        /// Row of the data, 0 for the header.
        row: usize,
        /// Line of the file.
        line: u64,
        /// Column.
        column: String,
    },
    /// The reader of CSV gave up.
    #[error("cannot read the table as CSV")]
    Csv(#[source] csv::Error),
    /// Two columns of the same name.
    #[error("column `{0}` occurs twice in the header")]
    DuplicateColumn(String),
    /// A response that is no number.
    #[error("row {row}, column `{column}`: `{cell}` is not a number")]
    NotANumber {
        /// Row of the data, from 1.
        row: usize,
        /// Column.
        column: String,
        /// What stands there, shortened.
        cell: String,
    },
    /// Asked for a column that is not there.
    #[error("there is no column `{column}`\nhint: the columns are {columns}")]
    NoSuchColumn {
        /// Column.
        column: String,
        /// Those there are.
        columns: String,
    },
    /// One column in two parts of the question.
    #[error("column `{0}` is asked for twice, as factor, response or block")]
    TwoRoles(String),
    /// Nothing to explain by.
    #[error("no factor was given\nhint: name the columns that were varied")]
    NoFactor,
    /// Nothing to explain.
    #[error("no response was given\nhint: name a column with measured values")]
    NoResponse,
    /// An interaction that is not of two factors.
    #[error("`{0}` is not an interaction of two of the factors\nhint: write `a:b`")]
    BadInteraction(String),
    /// A factor that was not varied.
    #[error("factor `{factor}` has one level, `{level}`, in all {rows} rows")]
    OneLevel {
        /// Factor.
        factor: String,
        /// Its level.
        level: String,
        /// Rows that were left.
        rows: usize,
    },
    /// A factor that looks like a measurement.
    #[error(
        "factor `{factor}` has more than {} levels\nhint: it looks like a measurement",
        design::LEVELS_MAX
    )]
    TooManyLevels {
        /// Factor.
        factor: String,
    },
    /// A baseline or a row filter that fits no row.
    #[error("column `{column}` has no `{cell}`")]
    NoSuchLevel {
        /// Column.
        column: String,
        /// What was asked for.
        cell: String,
    },
    /// More to estimate than was measured.
    #[error("{rows} rows of `{response}` cannot tell {parameters} parameters apart")]
    TooFewRows {
        /// Response.
        response: String,
        /// Rows with a value.
        rows: usize,
        /// Mean, blocks, levels and interactions of the model.
        parameters: usize,
    },
    /// Nothing varies.
    #[error("every row of `{response}` has the same value, {value}")]
    AllEqual {
        /// Response.
        response: String,
        /// The value.
        value: f64,
    },
    /// Numbers whose squares leave the range of numbers.
    #[error("the values of `{0}` are too large or too small to calculate with")]
    OutOfRange(String),
    /// No sensible band of equivalence.
    #[error("the band of equivalence must be at least 0 and less than 1, not {0}")]
    Band(f64),
    /// A result file given as an arm was not understood.
    #[error("arm `{arm}`: {reason}")]
    Arm {
        /// Which.
        arm: String,
        /// Why.
        reason: String,
    },
    /// A result file given as an arm is no JSON.
    #[error("arm `{arm}`: cannot read the JSON")]
    ArmJson {
        /// Which.
        arm: String,
        /// What the reader said.
        #[source]
        source: serde_json::Error,
    },
}
