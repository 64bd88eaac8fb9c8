//! What only developers run: how fast linerate is beside others, whether its answers are right in labs that are known, and
//! whether its statistics hold on simulated machines. `make` has each of them.
#![expect(clippy::print_stdout, reason = "its tasks print tables and JSON")]

mod bench_against_iperf3_and_fio;
mod interval_coverage;
// At the top, where the other simulations of the tests look for it.
mod lab_and_program;
mod report_gallery;
mod scenarios;
#[path = "../../experiment/tests/it/simulated_noise.rs"]
mod simulated_noise;
mod simulated_tuning;
mod speeds;
mod tune_detection_power;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use lab_and_program::{Result, chain, say};

/// What only developers run; `make` has each of these.
#[derive(Debug, Parser)]
#[command(name = "xtask", about, max_term_width = 100)]
struct Arguments {
    /// What to do.
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Hold linerate's SMB engine against other programs (`make bench`)
    Speeds(speeds::Arguments),
    /// Check every lab of the library of faults (`make scenarios`)
    Scenarios(scenarios::Arguments),
    /// Hold presets of `linerate bench` against the tools that they stand for (`make truth`)
    Truth(bench_against_iperf3_and_fio::Arguments),
    /// See how often `tune` finds a known difference on real labs (`make differences`)
    Differences(tune_detection_power::Arguments),
    /// See how often intervals hold on simulated machines (`make coverage`)
    Coverage(interval_coverage::Arguments),
    /// See how well `tune --goal` searches simulated machines (`make tuning`)
    Tuning,
    /// Draw pages of the tests' runs, and of run files, for looking at
    Gallery(report_gallery::Arguments),
}

fn main() -> ExitCode {
    match run(&Arguments::parse().task) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {}", chain(error.as_ref())));
            ExitCode::from(70)
        }
    }
}

/// Whether all is reached that the task is about.
fn run(task: &Task) -> Result<bool> {
    match task {
        Task::Speeds(arguments) => speeds::run(arguments).map(|()| true),
        Task::Scenarios(arguments) => scenarios::run(arguments),
        Task::Truth(arguments) => bench_against_iperf3_and_fio::run(arguments),
        Task::Differences(arguments) => tune_detection_power::run(arguments),
        Task::Coverage(arguments) => Ok(interval_coverage::run(arguments)),
        Task::Tuning => {
            simulated_tuning::run();
            Ok(true)
        }
        Task::Gallery(arguments) => report_gallery::run(arguments).map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::Arguments;

    fn is_understood(typed: &str) -> bool {
        let words = ["xtask"].into_iter().chain(typed.split(' '));
        Arguments::try_parse_from(words).is_ok()
    }

    #[test]
    fn what_make_and_the_tasks_themselves_type_is_understood_and_nothing_else() {
        for typed in [
            "speeds",
            "speeds serve 2147483648",
            "speeds transfer {}",
            "scenarios --repeat 3 --healthy 5 loss mtu mine.toml",
            "scenarios --mtu 20 --truth 2 --view both-ends --json summary.json",
            "truth --rounds 6 --folder /mnt iperf fio",
            "differences --labs 4 --at-once 2 --first 100 0 3 5",
            "coverage comparisons family consistency factorials gates plots",
            "tuning",
            "gallery",
            "gallery pages run.jsonl other.jsonl",
        ] {
            assert!(is_understood(typed), "{typed}");
        }
        for typed in [
            "scenarios --view server",
            "truth smb",
            "differences 4",
            "differences --at-once 0",
            "coverage all",
            "tuning 7",
        ] {
            assert!(!is_understood(typed), "{typed}");
        }
    }
}
