//! The command line as typed. What it means is decided by the module of each command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use locale::Language;

use crate::version;

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
    /// The language that was asked for, or else that of the locale for messages (POSIX.1-2024, 8.2), as far as
    /// linerate speaks it.
    pub fn language(&self) -> Language {
        let variables = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter();
        let mut locales = variables.filter_map(|name| std::env::var(name).ok());
        let locale = locales.find(|locale| !locale.is_empty());
        let of_locale = || locale?.parse().ok();
        self.lang.or_else(of_locale).unwrap_or_default()
    }
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

/// Which hosts, and who logs in.
#[derive(Clone, Debug, Args)]
pub struct PathArguments {
    /// Where the client is: `local`, `lab://LAB/HOST`, or `ssh://[user@]host[:port]` where linerate
    /// is installed
    #[arg(long, value_name = "HOST", default_value = "local")]
    pub client: String,
    /// Where the server is, to look and measure there as well
    ///
    /// `local`, `lab://LAB/HOST` or `ssh://[user@]host[:port]`, if linerate may run commands there
    #[arg(long, value_name = "HOST")]
    pub server: Option<String>,
    #[command(flatten)]
    pub login: LoginArguments,
}

/// Who logs in, and what the session must be.
#[derive(Clone, Debug, Default, Args)]
pub struct LoginArguments {
    /// File with user and password, as mount.cifs reads it
    ///
    /// it has `username=`, `password=` and `domain=` lines; else the password is taken from the
    /// environment variable LINERATE_PASSWORD, or asked for where you have no Kerberos ticket for the
    /// server
    #[arg(long, value_name = "FILE")]
    pub credentials: Option<PathBuf>,
    /// Log in by Kerberos and nothing else: with a ticket of your own, which is tried first, or a
    /// password; the realm is the user's domain, or what is behind `@`
    #[arg(long, conflicts_with = "ntlm")]
    pub kerberos: bool,
    /// Log in by Kerberos with this KDC, instead of what krb5.conf says
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with = "ntlm")]
    pub kdc: Option<String>,
    /// Log in by NTLMv2, even where krb5.conf knows the user's domain, which means Kerberos else
    #[arg(long)]
    pub ntlm: bool,
    /// Go in as a guest, without a password
    ///
    /// by the name before the `@` or else as `guest`; such a session can neither be signed nor
    /// encrypted
    #[arg(long, conflicts_with_all = ["credentials", "kerberos", "kdc", "ntlm", "anonymous"])]
    pub guest: bool,
    /// Go in without any name, if the server allows that; likewise without protection
    #[arg(long, conflicts_with_all = ["credentials", "kerberos", "kdc", "ntlm"])]
    pub anonymous: bool,
    #[command(flatten)]
    pub demands: DemandArguments,
}

/// What the session must be.
#[derive(Clone, Debug, Default, Args)]
pub struct DemandArguments {
    /// The oldest dialect that will do [default: 2.0.2]
    #[arg(long, value_enum, value_name = "VERSION")]
    pub dialect_min: Option<DialectArgument>,
    /// The newest dialect to offer [default: 3.1.1]
    #[arg(long, value_enum, value_name = "VERSION")]
    pub dialect_max: Option<DialectArgument>,
    /// What is signed [default: if-required; with `copy` as a user, required]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub sign: Option<SignArgument>,
    /// The client to speak for: what it asks for without options is asked for [default: cifs]
    #[arg(
        long = "as",
        value_enum,
        value_name = "CLIENT",
        conflicts_with = "sign"
    )]
    pub speaks_for: Option<ClientArgument>,
    /// Send and take nothing that is not encrypted; else the server decides
    #[arg(long)]
    pub encrypt: bool,
}

/// A dialect of SMB.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DialectArgument {
    #[value(name = "2.0.2")]
    Smb202,
    #[value(name = "2.1")]
    Smb210,
    #[value(name = "3.0")]
    Smb300,
    #[value(name = "3.0.2")]
    Smb302,
    #[value(name = "3.1.1")]
    Smb311,
}

/// A client of shares, by what it asks of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClientArgument {
    /// Linux: signs where the server insists on it
    Cifs,
    /// macOS: likewise
    Macos,
    /// Windows 10, and Windows 11 up to 23H2: likewise
    #[value(name = "windows-10")]
    Windows10,
    /// Windows 11 from 24H2 on: signs everything, and uses no server that cannot
    #[value(name = "windows-11")]
    Windows11,
}

/// What is signed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SignArgument {
    /// Everything; a server that cannot will not do
    Required,
    /// Everything where the server insists on it
    IfRequired,
    /// Everything but what is in the files, which somebody on the way could then change unnoticed;
    /// that too where the server insists on it
    DataUnsigned,
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

/// `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// `smb://[user@]host[:port]/share[/folder]`, `//host/share` or `\\host\share`
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
    /// Do what a known benchmark does: cdm9, atto, iperf, copy, ...
    ///
    /// cdm9, cdm9-nvme, cdm8, atto, iperf, copy, copy-10gb, lantest, lantest-3mb, lantest-30mb,
    /// lantest-3000mb, frames, frames-fast
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
    /// `smb://[user@]host[:port]/share[/folder]`, `//host/share` or `\\host\share`
    pub share: String,
    #[command(flatten)]
    pub path: PathArguments,
    #[command(flatten)]
    pub output: OutputArguments,
    /// Have the hosts set at their next start as well what is kept, as `set --persist` does
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
    /// How long the search may take, as `90s`, `10m` or `1h`
    #[arg(long, value_name = "TIME", default_value = "10m", requires = "goal", value_parser = duration)]
    pub budget: std::time::Duration,
    /// Seed of the random order [default: a new one, recorded in the run file]
    #[arg(long)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub profile: ProfileArguments,
}

/// Which profile.
#[derive(Clone, Debug, Default, Args)]
pub struct ProfileArguments {
    /// What a profile says that `linerate profiles` lists, or a file
    ///
    /// `tune` keeps it only if it is proven to be faster, `set` makes it without measuring
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Leave these knobs of the profile alone
    #[arg(long, value_name = "ID", value_delimiter = ',', requires = "profile")]
    pub without: Vec<String>,
    /// Take a profile of your own although it is about signing, encryption or other protections
    #[arg(long, alias = "even-protections", requires = "profile")]
    pub allow_security_settings: bool,
}

/// What a host is on the path.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleArgument {
    /// It uses shares
    Client,
    /// It offers shares
    Server,
}

impl From<RoleArgument> for host::profile::Role {
    fn from(role: RoleArgument) -> Self {
        match role {
            RoleArgument::Client => Self::Client,
            RoleArgument::Server => Self::Server,
        }
    }
}

/// `profiles`.
#[derive(Debug, Args)]
pub struct ProfilesArguments {
    /// One of them, or a file of your own
    pub name: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
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
fn duration(typed: &str) -> Result<std::time::Duration, String> {
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
        .map_err(|_error| "give it as `90s`, `10m` or `1h`".to_owned())?;
    Ok(std::time::Duration::from_secs(
        number.saturating_mul(seconds),
    ))
}

/// `inspect`.
#[derive(Debug, Args)]
pub struct InspectArguments {
    /// `local`, `ssh://[user@]host[:port]` or `lab://LAB/HOST`; two are both ends
    #[arg(value_name = "HOST", default_value = "local", num_args = 1..=2)]
    pub hosts: Vec<String>,
    /// Tell all about one setting, and look at no host
    #[arg(long, value_name = "ID", conflicts_with = "hosts")]
    pub explain: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `set`.
#[derive(Debug, Args)]
pub struct SetArguments {
    /// `local`, `ssh://[user@]host[:port]` or `lab://LAB/HOST`
    pub host: String,
    /// What to set, as `nic.mtu@eth0=9000`
    ///
    /// `tcp.congestion_control=cubic`, `nic.mtu@eth0=9000` for an interface, or `smb.server.sendfile@media=on` for a share
    #[arg(
        required_unless_present = "profile",
        conflicts_with = "profile",
        value_name = "ID[@NAME]=VALUE"
    )]
    pub settings: Vec<String>,
    #[command(flatten)]
    pub profile: ProfileArguments,
    /// What the host is on the path, for the rules of a profile [default: a server where Samba offers
    /// shares, else a client]
    #[arg(long, value_enum, requires = "profile")]
    pub role: Option<RoleArgument>,
    /// The round trip to the other end, for the rules of a profile: `20ms`
    #[arg(long, value_name = "TIME", requires = "profile")]
    pub round_trip: Option<String>,
    /// The interfaces that a profile is meant for [default: those that are up and have an address]
    #[arg(long, value_name = "NIC", value_delimiter = ',', requires = "profile")]
    pub nic: Vec<String>,
    /// Have the system set it at its next start as well
    ///
    /// by what sets it up there: `sysctl.d`, `netplan`, `NetworkManager`, `ifupdown` or `udev`
    #[arg(long)]
    pub persist: bool,
    /// After so long without a word a host puts itself back
    ///
    /// a host behind `ssh`, while it is being changed
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(2..=3600))]
    pub lease: u64,
    /// Print the very commands, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `undo`.
#[derive(Debug, Args)]
pub struct UndoArguments {
    /// Id of a change, as `linerate changes` lists it [default: all open ones]
    pub id: Option<String>,
    /// Also overwrite what somebody else has changed since
    #[arg(long)]
    pub force: bool,
    /// Print what would be put back, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

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
fn percent(typed: &str) -> Result<f64, String> {
    let number: f64 = typed
        .parse()
        .map_err(|_ignored| "it is no number".to_owned())?;
    match number > 0.0 && number < 100.0 {
        true => Ok(number),
        false => Err("it must be above 0 and below 100".into()),
    }
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

/// What to do with symbolic links.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LinksArgument {
    /// Copy as links, to and from a server with the POSIX extensions of SMB, those that are relative and stay below the
    /// folder that is copied; leave out the others
    Keep,
    /// Leave them out
    Skip,
    /// Copy what they lead to
    Follow,
}

/// `copy`.
#[derive(Debug, Args)]
pub struct CopyArguments {
    /// Files and folders, also as `smb://host/share/file`
    ///
    /// of a folder that ends in `/`, what is in it
    #[arg(required = true)]
    pub sources: Vec<String>,
    /// A folder to copy into, or the name of one file's copy
    pub destination: String,
    #[command(flatten)]
    pub login: LoginArguments,
    /// Most channels [default: one for each pair of NICs, up to four and eight in all where both have queues (RSS)]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub channels: Option<u32>,
    /// Most sessions with one server, for very large files and where there are many: with each, one more
    /// of its processors can work, as with Samba
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub sessions: u8,
    /// Say what would be copied, and copy nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Overwrite files that exist
    #[arg(long)]
    pub force: bool,
    /// Overwrite files that are older, or differ in size
    #[arg(long, conflicts_with = "force")]
    pub update: bool,
    /// Go on with what an earlier run left
    ///
    /// skip what it copied, continue what it began
    #[arg(long)]
    pub resume: bool,
    /// Read every copy back and compare its hash
    ///
    /// before it gets its name: against errors of network and server, and, where the session is signed or encrypted,
    /// against whoever is on the path
    #[arg(long)]
    pub verify: bool,
    /// Do not ask for signing: it is asked for where a user logs in, unless `--sign` says otherwise,
    /// since else whoever is on the path can change what is copied
    #[arg(long, conflicts_with = "sign")]
    pub allow_unsigned: bool,
    /// Remove from the destination what the source folder does not have
    #[arg(long)]
    pub delete: bool,
    /// Copy only files like this, as `*.jpg` or `raw/**`
    #[arg(long, value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Leave out files and folders like this, as `*.tmp`
    ///
    /// or `cache/`
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// What to do with symbolic links in the folders that are copied: those of this machine, and of a server with
    /// the POSIX extensions of SMB; those of other servers are left out where the server shows them
    #[arg(long, value_enum, default_value_t = LinksArgument::Keep)]
    pub links: LinksArgument,
    /// Put stand-ins for letters that a share cannot have in a name, as macOS does, and take them
    /// back on the way home
    #[arg(long)]
    pub map_names: bool,
    /// Do not use the POSIX extensions of SMB 3.1.1, by which a server that has them keeps names as they are, modes
    /// and links: what is copied looks to others as if Windows had made it
    #[arg(long)]
    pub no_posix: bool,
    /// List each file whose times, mode or attributes the server does not take, and say how the server differs
    /// from the protocol, whether its POSIX extensions are used, and what of the sandbox this system lacks
    #[arg(short, long)]
    pub verbose: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `ls`.
#[derive(Debug, Args)]
pub struct LsArguments {
    /// A server as `smb://[user@]host`, or a share or folder of it
    pub place: String,
    #[command(flatten)]
    pub login: LoginArguments,
    #[command(flatten)]
    pub verbose: VerboseArguments,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
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
