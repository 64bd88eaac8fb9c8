//! Why a table was refused.

use super::{arms, design, read};

/// What was wrong with a table, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Too much of something; nothing is read beyond a bound.
    #[error("the table has more than {limit} {what}{}", at_line(*line))]
    TooLarge {
        /// Of what.
        what: &'static str,
        /// The bound.
        limit: usize,
        /// Line of the file, from 1, where that is known.
        line: Option<u64>,
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
    /// A response that has no row with everything in it.
    #[error("no row of `{0}` is complete")]
    NoRows(String),
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
    #[error("there is no column `{column}`")]
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
    #[error("no factor was given")]
    NoFactor,
    /// Nothing to explain.
    #[error("no response was given")]
    NoResponse,
    /// An interaction that is not of two factors.
    #[error("`{0}` is not an interaction of two of the factors")]
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
    /// A factor that was varied, only not from where it is to be compared.
    #[error(
        "no complete row of `{response}` has `{factor}={level}`, which others are held against"
    )]
    NoBaseline {
        /// Response.
        response: String,
        /// Factor.
        factor: String,
        /// What was asked for.
        level: String,
    },
    /// A factor that looks like a measurement.
    #[error("factor `{factor}` has more than {} levels", design::LEVELS_MAX)]
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
        /// What stands in the column.
        cells: String,
    },
    /// A baseline of something that is no factor.
    #[error("`{0}` is to have a baseline, and it is no factor")]
    NotAFactor(String),
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
        value: String,
    },
    /// Numbers whose squares leave the range of numbers.
    #[error("the values of `{0}` are too large or too small to calculate with")]
    OutOfRange(String),
    /// No sensible band of equivalence.
    #[error(
        "the band of equivalence must be at least 0 % and less than 100 %, not {} %",
        .0 * 100.0
    )]
    Band(f64),
    /// JSON where a table was asked for.
    #[error("this is JSON, and no table")]
    Json,
    /// Nothing to compare with.
    #[error("arm `{0}` stands alone: there is nothing to compare it with")]
    OneArm(String),
    /// Arms that have nothing in common.
    #[error("arm `{arm}` has {own}, and arm `{first}` has {others}")]
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
    #[error("arm `{arm}`: {reason}")]
    Arm {
        /// Which.
        arm: String,
        /// Why.
        reason: String,
    },
    /// A result file given as an arm is no JSON.
    #[error("arm `{arm}`: cannot read the JSON (line {line}): {reason}")]
    ArmJson {
        /// Which.
        arm: String,
        /// Line of the file, from 1.
        line: usize,
        /// What the reader said.
        reason: String,
    },
}

fn at_line(line: Option<u64>) -> String {
    line.map_or_else(String::new, |line| format!(" (line {line})"))
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

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::TooLarge { .. } => "analyse a part of it: fewer rows, columns or factors".into(),
            Self::Empty(_) => "the first line names the columns, each line below it is one measurement".into(),
            Self::Ragged { .. } => "write one cell per column; put quotes around a cell that contains the separator, \
                 and write decimals with a point"
                .into(),
            Self::LongCell { .. } | Self::Csv(_) => {
                "save it as CSV in UTF-8, and look for a quote that is not closed".into()
            }
            Self::NoRows(_) => "look for empty cells among its values, and in the columns of the factors".into(),
            Self::DuplicateColumn(_) => "give each column a name of its own".into(),
            Self::NotANumber { cell, .. } => not_a_number(cell),
            Self::NoSuchColumn { columns, .. } => format!("the columns are {columns}"),
            Self::TwoRoles(_) => "name each column once: measured, varied, or the block".into(),
            Self::NoFactor => "name the columns that were varied; an interaction `a:b` comes after its two \
                 factors, as `a,b,a:b`"
                .into(),
            Self::NoResponse => "name a column with measured values".into(),
            Self::BadInteraction(_) => "write `a:b` with two different factors that are named too".into(),
            Self::OneLevel { .. } => "leave it out of the factors, or keep rows in which it is different".into(),
            Self::NoBaseline { .. } => "measure it too, or name another with `--baseline`".into(),
            Self::TooManyLevels { .. } => "it looks like a measurement; give it as a response, or group its values".into(),
            Self::NoSuchLevel { cells, .. } => format!("in it are {cells}"),
            Self::NotAFactor(_) => "name it among the factors too".into(),
            Self::TooFewRows { .. } => "measure more rows, or ask for fewer factors and interactions".into(),
            Self::AllEqual { .. } => "nothing can be compared: check that the right column, or the right files, were given".into(),
            Self::OutOfRange(_) => "write them in a larger or smaller unit".into(),
            Self::Band(_) => "2 is usual: two percent of the baseline".into(),
            Self::Json => "give results of iperf3, fio or hyperfine as arms: `NAME=FILE NAME=FILE`".into(),
            Self::OneArm(_) => "give two arms or more: `before=FILE after=FILE`".into(),
            Self::DifferentArms { .. } => "compare the same measurement by the same program".into(),
            Self::Arm { .. } | Self::ArmJson { .. } => arms::HINT.into(),
        }
    }
}

/// What people write beside, or instead of, a number.
fn not_a_number(cell: &str) -> String {
    let start = cell.trim_start_matches(['-', '+']);
    let marks = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',');
    let digits = start.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_marked = digits.starts_with(',') || start.chars().all(marks);
    if let Ok(number) = cell.parse::<f64>()
        && start.starts_with(|letter: char| letter.is_ascii_digit())
    {
        let hint = match number.is_finite() {
            true => {
                "beside the other numbers its point may stand between thousands: write these without a \
                 separator, as `1234`, or decimals with more or fewer than three digits, as `1.2340`"
            }
            false => "it is too large to calculate with: write it in a larger or smaller unit",
        };
        hint.into()
    } else if start.starts_with(|letter: char| letter.is_ascii_digit()) && is_marked {
        "write decimals with a point and thousands without a separator, as `1234.5`".into()
    } else if start.starts_with(|letter: char| letter.is_ascii_digit()) {
        "write the number alone; a unit belongs into the name of the column, as `read_mb_s`".into()
    } else {
        "leave the cell empty where nothing was measured; a column of words is a factor".into()
    }
}
