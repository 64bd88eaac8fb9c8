//! The command line as typed. What it means is decided by the module of each command.

mod analyze_compare_report;
mod check_bench_tune_experiment;
mod copy_and_ls;
mod hosts_and_login;
mod profiles_inspect_set_undo;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use locale::Language;

use crate::version;
pub use analyze_compare_report::{
    AnalyzeArguments, BetterArgument, CompareArguments, PageArguments, ReportArguments,
};
pub use check_bench_tune_experiment::{
    BenchArguments, CheckArguments, DirectionArgument, ExperimentArguments, ExperimentCommand,
    GoalArgument, ResumeArguments, Through, TuneArguments,
};
pub use copy_and_ls::{CopyArguments, LinksArgument, LsArguments};
pub use hosts_and_login::{
    ClientArgument, DialectArgument, LoginArguments, PathArguments, SignArgument,
};
pub use profiles_inspect_set_undo::{
    InspectArguments, ProfileArguments, ProfilesArguments, SetArguments, UndoArguments,
};

/// Finds why a file share is slower than its network, and proves what helps.
#[derive(Debug, Parser)]
#[command(name = "linerate", version, long_version = version::LONG, about, max_term_width = 100)]
pub struct Arguments {
    /// Language of what is said: `en` or `ja`
    ///
    /// without it the locale decides (`LC_ALL`, `LANG`); help, manuals and JSON are English
    #[arg(long, global = true, value_name = "LANGUAGE")]
    pub lang: Option<Language>,
    /// Write what happens into this new file, for a report of a bug
    ///
    /// LINERATE_LOG says how much: `debug`, `info` or `host=trace,smb=info`; without a file it goes to standard error
    #[arg(long, global = true, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// The language that was asked for, or else that of the locale for messages (POSIX.1-2024, 8.2), or of Windows, as far as
    /// linerate speaks it.
    pub fn language(&self) -> Language {
        language(self.lang)
    }

    /// The same where the rest of what was typed makes no sense.
    pub fn language_of(typed: impl Iterator<Item = String>) -> Language {
        let mut after = typed.skip_while(|word| !word.starts_with("--lang"));
        let word = after.next();
        let value = word.and_then(|word| match word.strip_prefix("--lang=") {
            Some(value) => Some(value.to_owned()),
            None => after.next(),
        });
        language(value.and_then(|value| value.parse().ok()))
    }
}

fn language(asked: Option<Language>) -> Language {
    let variables = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter();
    let mut locales = variables.filter_map(|name| std::env::var(name).ok());
    let locale = locales.find(|locale| !locale.is_empty());
    let locale = locale.or_else(os::machine::language);
    let of_locale = || locale?.parse().ok();
    asked.or_else(of_locale).unwrap_or_default()
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the path to a share and name the first thing that loses
    Check(CheckArguments),
    /// Measure a share, folder, disk or raw TCP, also as benchmarks do
    Bench(BenchArguments),
    /// Try changes in a fair experiment and keep only what is proven
    Tune(TuneArguments),
    /// Vary settings fairly, as a plan says, and keep nothing
    #[command(subcommand)]
    Experiment(ExperimentCommand),
    /// Show what is set on a host, or how two ends contradict
    Inspect(InspectArguments),
    /// Set knobs of a host, all of them or none, until reboot or undo
    Set(SetArguments),
    /// List profiles, or show what one sets where, and why
    Profiles(ProfilesArguments),
    /// Put back what was changed: one change, or all, newest first
    Undo(UndoArguments),
    /// List what is changed now, by which run, since when
    Changes(JsonArguments),
    /// Analyse a run file again, or a table that anybody measured
    Analyze(AnalyzeArguments),
    /// Compare results of other programs before and after a change
    Compare(CompareArguments),
    /// Draw a run file as one HTML page
    Report(ReportArguments),
    /// Copy files and trees to, from and between shares
    Copy(CopyArguments),
    /// List the shares of a server, or what is in a folder of one
    Ls(LsArguments),
    /// A LAN on this machine, with a real Samba (needs root)
    #[command(subcommand)]
    Lab(LabCommand),
    /// The whole job on a virtual LAN, with a report (needs root)
    Demo(DemoArguments),
    /// Print what a report of a bug needs, without names and addresses
    Doctor(JsonArguments),
    /// Print a manual page: `linerate man check | man -l -`
    Man(ManArguments),
    /// Print a shell's completion script
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Run one trial: specification on standard input, samples on standard output
    #[command(hide = true)]
    Trial,
    /// Do that part of a trial that speaks to servers, without rights; only `trial` starts it
    #[command(hide = true)]
    Worker,
    /// Find the largest packets that pass: pairs of NICs on standard input, proofs on standard output
    #[command(hide = true)]
    Probe,
    /// Draw the run file on standard input as a page on standard output, without rights; only `report` starts it
    #[command(hide = true)]
    Page(PageArguments),
    /// Give up all rights and print what the system lacks for that; only `doctor` starts it
    #[command(hide = true)]
    Confined,
}

/// `man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The command [default: linerate itself]
    pub command: Vec<String>,
    /// List the commands that have a page
    #[arg(long, conflicts_with = "command")]
    pub list: bool,
}

/// `--json` and nothing else.
#[derive(Clone, Debug, Args)]
pub struct JsonArguments {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Where results go.
#[derive(Clone, Debug, Args)]
pub struct OutputArguments {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Write the run file here [default: a new file in the state folder]
    #[arg(long, value_name = "FILE")]
    pub run: Option<PathBuf>,
    /// Also write a one-file HTML report here
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Say more: every cause, pair of NICs and channel, and what of the trials' sandbox the client lacks
    #[arg(short, long)]
    pub verbose: bool,
}

/// `-v` of what reads bytes of strangers itself.
#[derive(Clone, Copy, Debug, Args)]
pub struct VerboseArguments {
    /// Say what of this command's sandbox the system lacks
    #[arg(short, long)]
    pub verbose: bool,
}

/// `lab`.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Build the LAN of a topology file and leave it running
    Up {
        /// The topology, in TOML; docs/files.md says how
        #[arg(required_unless_present = "scenario", conflicts_with = "scenario")]
        file: Option<PathBuf>,
        /// A LAN of the library instead: a healthy one, or one with something wrong in it
        #[arg(long, value_name = "NAME")]
        scenario: Option<String>,
        /// Name of the lab [default: the file's or the scenario's name]
        #[arg(long)]
        name: Option<String>,
        /// Check the topology and say what would be built, and build nothing
        #[arg(long)]
        dry_run: bool,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// List the LANs of the library, and what is wrong in each
    Scenarios(JsonArguments),
    /// Run a command on a host of a lab
    Run {
        /// `HOST` where one lab runs, else `LAB/HOST` or `lab://LAB/HOST`
        host: String,
        /// Mount the lab's first share at `/mnt/SHARE` meanwhile, by Linux's own SMB client
        ///
        /// mount options, as `vers=3.1.1,multichannel`; the lab's credentials are added. A separate kernel (user-mode
        /// Linux) takes the host's place, and the command's output is shown when it has ended
        #[arg(long, value_name = "OPTIONS")]
        mount: Option<String>,
        /// The command and its arguments
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// List the labs that run now
    List(JsonArguments),
    /// Take a lab down with all that is in it
    Down {
        /// Its name [default: the only one that runs]
        name: Option<String>,
        /// Say what would be taken down, and leave it
        #[arg(long)]
        dry_run: bool,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// The process that holds a lab
    #[command(hide = true)]
    Supervise {
        /// Name of the lab
        name: String,
    },
}

/// `demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Folder for the run files, `report.html` and `summary.json`
    #[arg(long, value_name = "FOLDER", default_value = "target/demo")]
    pub out: PathBuf,
    /// Counted seconds of each trial
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub seconds: f64,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}
