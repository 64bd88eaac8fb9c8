//! `analyze`, `compare` and `report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use locale::say;

use super::VerboseArguments;
use crate::usage_error::BadValue;

/// `analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArguments {
    /// A run file, a table (CSV), or arms as `NAME=FILE`
    ///
    /// arms are results of iperf3, fio or hyperfine in JSON, the first being the baseline
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Columns of a table with measured values, as `a,b`
    ///
    /// a name with a comma stands in quotes
    #[arg(long, value_name = "COLUMN")]
    pub response: Vec<String>,
    /// Columns of a table that were varied
    ///
    /// written in the same way; `a:b` asks for an interaction
    #[arg(long, value_name = "COLUMN")]
    pub factors: Vec<String>,
    /// Column that says which rows were measured together
    #[arg(long, value_name = "COLUMN")]
    pub blocks: Option<String>,
    /// Column of a table that says which rows are of one run, which is one measurement
    #[arg(long, value_name = "COLUMN")]
    pub runs: Option<String>,
    /// Level of a factor to compare with
    #[arg(long, value_name = "FACTOR=LEVEL")]
    pub baseline: Vec<String>,
    /// Only the rows of a table with this cell
    #[arg(long, value_name = "COLUMN=CELL")]
    pub only: Vec<String>,
    /// Differences of a table smaller than this many percent do not matter
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    pub band: f64,
    /// Whether more is better [default: by the columns' names]
    #[arg(long, value_enum)]
    pub better: Option<BetterArgument>,
    #[command(flatten)]
    pub verbose: VerboseArguments,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Results before the change
    ///
    /// text of CrystalDiskMark, ATTO, DiskSpd or robocopy, or JSON of iperf3, fio or hyperfine; several runs
    /// stand one after the other
    pub before: String,
    /// Results of the same program after it
    pub after: String,
    /// Differences smaller than this many percent do not matter
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, value_parser = percent)]
    pub band: f64,
    /// The change that you hope for: how many runs would find it
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = percent)]
    pub hoped: f64,
    #[command(flatten)]
    pub verbose: VerboseArguments,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Percent above 0 and below 100.
fn percent(typed: &str) -> Result<f64, BadValue> {
    let number = typed.parse().ok();
    let is_one = |number: &f64| *number > 0.0 && *number < 100.0;
    number
        .filter(is_one)
        .ok_or(BadValue(say("hint-usage.percent")))
}

/// Which values of a table are better.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BetterArgument {
    /// Rates
    Higher,
    /// Times, losses, costs
    Lower,
}

/// `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A run file
    pub run: PathBuf,
    /// Where the page goes [default: beside the run file]
    ///
    /// it ends in .html, or .shareable.html
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Hide names and addresses, so that strangers can read it
    ///
    /// names of hosts, shares, users and domains, and addresses; those of folders, files and interfaces stay
    #[arg(long)]
    pub shareable: bool,
    #[command(flatten)]
    pub verbose: VerboseArguments,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `page`.
#[derive(Debug, Args)]
pub struct PageArguments {
    /// What the run file is called in what is said of it
    pub run: PathBuf,
    /// As `report`
    #[arg(long)]
    pub shareable: bool,
    #[command(flatten)]
    pub verbose: VerboseArguments,
}
