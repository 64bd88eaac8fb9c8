//! `check`, `bench`, `tune` and `experiment`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use locale::say;

use super::{LoginArguments, OutputArguments, PathArguments, ProfileArguments};
use crate::usage_error::BadValue;

/// `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// `smb://[user@]host[:port]/share[/folder]`, `//host/share` or `\\host\share`, or the folder of a mount
    ///
    /// a folder at which the client's system has a share mounted, as `/mnt/media`, is measured through that mount as well
    pub share: String,
    #[command(flatten)]
    pub path: PathArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Fresh sessions per rung and direction, as far as the time suffices [default: until each rung is decided]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repetitions: Option<u32>,
    /// Counted seconds of each trial
    #[arg(long, value_name = "SECONDS", default_value_t = 0.6)]
    pub seconds: f64,
    /// Measure the ladder and prove no cause
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// Take up to ten minutes to prove causes, in place of two
    #[arg(long)]
    pub thorough: bool,
    /// Folder of the client that a file is copied to and removed from; otherwise the current one or
    /// that for temporary files
    #[arg(long, value_name = "FOLDER")]
    pub into: Option<String>,
    /// Leave out the rungs that write to the share; what is read is a file of our own where one can be
    /// made, and one that is there where not
    #[arg(long)]
    pub read_only: bool,
    /// Measure by another client of the share as well
    ///
    /// a share that is named by its address is mounted for that where no other program sees it, which takes root; nothing
    /// of it is left
    #[arg(long, value_name = "CLIENT")]
    pub through: Option<Through>,
}

/// Which client of a share.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Through {
    /// The system's own, by a mount
    System,
}

/// Which way to measure.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DirectionArgument {
    /// From the server
    Read,
    /// To the server
    Write,
    /// One after the other
    Both,
}

/// `bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    /// A share, `tcp://ADDRESS[:PORT]`, a folder or `disk:FOLDER`
    ///
    /// TCP needs an `iperf3 -s` there; a folder, as of a mounted share, and a local disk are measured by
    /// fio, with a preset or a recipe
    pub target: String,
    /// Do what a known benchmark does: cdm9, atto, `lantest[:SIZE]`, ...
    ///
    /// cdm9, cdm9-nvme, cdm8, atto, iperf, copy, copy-10gb, `lantest[:SIZE]`, frames, frames-fast; SIZE
    /// is 3mb, 30mb, 300mb (the default) or 3000mb
    #[arg(long, value_name = "NAME", conflicts_with = "recipe")]
    pub preset: Option<String>,
    /// Do what a recipe of your own says, in TOML; docs/files.md says how
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
    /// Size of the test file of a preset or recipe, as `256 MiB`
    #[arg(long, value_name = "SIZE")]
    pub file_size: Option<String>,
    /// Write zeros instead of random data, as some benchmarks do
    #[arg(long)]
    pub zeros: bool,
    /// Say what would be run, and how long it takes, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub path: PathArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Measure by this client of the share in place of linerate's own, with a preset or a recipe
    ///
    /// every trial mounts the share anew, as it is mounted at the folder that is named or as `mount -t cifs` does, where
    /// nothing else sees it, which takes root
    #[arg(long, value_name = "CLIENT")]
    pub through: Option<Through>,
    /// Which way [default: both, or what the preset says]
    #[arg(long, value_enum)]
    pub direction: Option<DirectionArgument>,
    /// Most channels of the share, or streams of raw TCP without a preset or recipe [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub channels: Option<u32>,
    /// Repetitions, each in a fresh session [default: 5, or what the preset says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: Option<u32>,
    /// Counted seconds of each trial [default: 3, or what the preset says]
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<f64>,
}

/// What `tune` is to make fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GoalArgument {
    /// Reading big files
    Read,
    /// Writing big files
    Write,
    /// Both
    Copy,
    /// Many files of 4 KiB, copied both ways: 500 for each of `--seconds`
    SmallFiles,
    /// Short reads, one after the other
    Latency,
}

/// `tune`.
#[derive(Debug, Args)]
pub struct TuneArguments {
    /// `smb://[user@]host[:port]/share[/folder]`, `//host/share` or `\\host\share`, or the folder of a mount
    ///
    /// a folder at which the client's system has a share mounted, as `/mnt/media`, is measured through that system's own
    /// client, by mounts of our own that nothing else sees, which takes root
    pub share: String,
    #[command(flatten)]
    pub path: PathArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Have the hosts set at their next start as well what is kept, as `set --persist` does
    ///
    /// better options of a mount go into its line of `/etc/fstab`
    #[arg(long)]
    pub persist: bool,
    /// Print the schedule and the very commands, and change nothing
    ///
    /// unless `--profile` says what to try, a short check measures the path first
    #[arg(long)]
    pub dry_run: bool,
    /// Blocks of each experiment; each holds every arm once
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub blocks: u32,
    /// Counted seconds of each trial
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub seconds: f64,
    /// Differences smaller than this many percent do not matter
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    pub band: f64,
    /// Try only these changes, by the ids that a dry run shows
    #[arg(
        long,
        value_name = "ID",
        value_delimiter = ',',
        conflicts_with = "profile"
    )]
    pub only: Vec<String>,
    /// Search for the best setting for this
    ///
    /// the check's fixes, what the client asks for and what is set at both ends, alone and together; else the check's
    /// fixes are tried one after the other
    #[arg(long, value_enum, conflicts_with = "profile")]
    pub goal: Option<GoalArgument>,
    /// Measure by this client of the share in place of linerate's own; for a mount it is always the system's
    #[arg(long, value_name = "CLIENT")]
    pub through: Option<Through>,
    /// How long the search may take, as `90s`, `10m` or `1h`
    #[arg(long, value_name = "TIME", default_value = "10m", requires = "goal", value_parser = duration)]
    pub budget: std::time::Duration,
    /// Seed of the random order [default: a new one, recorded in the run file]
    #[arg(long)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub profile: ProfileArguments,
}

/// `experiment`.
#[derive(Debug, Subcommand)]
pub enum ExperimentCommand {
    /// Run a plan
    Run(ExperimentArguments),
    /// Go on with an experiment that was stopped or killed; nothing is measured twice
    Resume(ResumeArguments),
}

/// `experiment run`.
#[derive(Debug, Args)]
pub struct ExperimentArguments {
    /// The plan, in TOML like those in `plans/`; docs/files.md says how
    pub plan: PathBuf,
    /// What is measured, instead of what the plan says
    ///
    /// a share, a folder, or `tcp://ADDRESS`
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    #[command(flatten)]
    pub path: PathArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Measure by this client of the share in place of linerate's own
    ///
    /// every trial mounts the share anew, as it is mounted at the folder that is named or as `mount -t cifs` does, where
    /// nothing else sees it, which takes root; a factor `mount_options` says with which options
    #[arg(long, value_name = "CLIENT")]
    pub through: Option<Through>,
    /// Print schedule, commands and duration, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Blocks, instead of what the plan says
    ///
    /// each holds every arm once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub blocks: Option<u32>,
    /// Counted seconds of each trial, instead of what the plan says
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<f64>,
    /// Seed of the random order [default: the plan's, or a new one, recorded in the run file]
    #[arg(long)]
    pub seed: Option<u64>,
}

/// `experiment resume`.
#[derive(Debug, Args)]
pub struct ResumeArguments {
    /// The run file
    pub run: PathBuf,
    #[command(flatten)]
    pub login: LoginArguments,
    /// Mount the share for each trial again, as the run did
    #[arg(long, value_name = "CLIENT")]
    pub through: Option<Through>,
    /// Also write a one-file HTML report here
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Say more: what of the trials' sandbox the client lacks
    #[arg(short, long)]
    pub verbose: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `90s`, `10m` or `1h`.
fn duration(typed: &str) -> Result<std::time::Duration, BadValue> {
    let (number, unit) = match typed.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, &typed[number.len()..]),
        None => (typed, "s"),
    };
    let seconds = match unit {
        "h" => 3600,
        "m" => 60,
        _ => 1,
    };
    let number: u64 = number
        .parse()
        .map_err(|_error| BadValue(say("hint-usage.duration")))?;
    Ok(std::time::Duration::from_secs(
        number.saturating_mul(seconds),
    ))
}
