//! Finds why a file share is slower than its network, and proves what helps.

mod analyze;
mod args;
mod bench;
mod candidates;
mod changes;
mod check;
mod collect;
mod compare;
mod confine;
mod copy;
mod credentials;
mod demo;
mod doctor;
mod exit;
mod experiment;
mod failure;
mod help;
mod host_knobs;
mod hosts;
mod inspect;
mod json;
mod lab_command;
mod log;
mod ls;
mod manual;
mod meter;
mod page;
mod path;
mod path_facts;
mod profiles;
mod reverse_path;
mod runs;
#[cfg(test)]
mod schema;
mod session;
mod set;
mod share;
mod status;
mod stop;
mod terminal;
mod testbed;
mod trial;
mod tune;
mod version;

use std::process::ExitCode;

use clap::FromArgMatches;
use locale::say;

use args::{Arguments, Command, LabCommand};
use exit::Exit;
use failure::{CommandError, Kind};

fn main() -> ExitCode {
    // Where there is no such limit, there is nothing to limit.
    os::sandbox::leave_no_core().ok();
    let typed = help::command().try_get_matches();
    let result = match typed.and_then(|typed| Arguments::from_arg_matches(&typed)) {
        Ok(arguments) => {
            arguments.language().speak();
            run(&arguments)
        }
        Err(error) => said_by_clap(&error),
    };
    stop::park_if_leaving();
    let code = match result.and_then(unless_lost) {
        Ok(code) => code,
        Err(error) => {
            terminal::say(&error.to_string());
            error.exit_code()
        }
    };
    // Whoever was interrupted does not wait for a thread that still connects to a host.
    host::exec::let_go();
    code
}

/// clap prints help to standard output and errors to standard error.
fn said_by_clap(error: &clap::Error) -> Result<ExitCode, CommandError> {
    let printed = error.print();
    if error.use_stderr() {
        return Ok(Exit::Usage.into());
    }
    terminal::keep_loss(printed);
    Ok(ExitCode::SUCCESS)
}

/// A part of what a command says must not pass for all of it.
fn unless_lost(code: ExitCode) -> Result<ExitCode, CommandError> {
    match terminal::lost() {
        None => Ok(code),
        Some(error) => {
            let sentence = say("error-check.output-lost");
            Err(CommandError::caused(Kind::Refused, sentence, error)
                .hint(say("hint-check.output-lost")))
        }
    }
}

/// Whether Ctrl-C is heard of by the program that started this one, which ends it, or only once rights are
/// given up: that has to come before any thread.
fn listens_by_itself(command: &Command) -> bool {
    matches!(
        command,
        Command::Trial
            | Command::Worker
            | Command::Probe
            | Command::Confined
            | Command::Lab(LabCommand::Supervise { .. } | LabCommand::Run { .. })
            | Command::Analyze(_)
            | Command::Compare(_)
            | Command::Page(_)
            | Command::Copy(_)
            | Command::Ls(_)
    )
}

/// Whether it gives up rights itself. What others start on purpose, in labs for example, may have files of whoever
/// starts it.
fn is_confined(command: &Command) -> bool {
    matches!(
        command,
        Command::Analyze(_) | Command::Compare(_) | Command::Copy(_) | Command::Ls(_)
    )
}

fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let command = &arguments.command;
    if is_confined(command) {
        // Before anything is opened, also by libraries.
        os::sandbox::close_inherited().map_err(|error| {
            CommandError::caused(Kind::Refused, say("error-check.inherited"), &error)
        })?;
    }
    log::begin(arguments.log.as_deref())?;
    tracing::info!(version = version::LONG, "begins");
    if !listens_by_itself(command) {
        stop::end_cleanly()?;
    }
    match command {
        Command::Check(arguments) => check::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Tune(arguments) => tune::run(arguments),
        Command::Experiment(command) => experiment::run(command),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Set(arguments) => set::run(arguments),
        Command::Profiles(arguments) => profiles::run(arguments),
        Command::Undo(arguments) => changes::undo(arguments),
        Command::Changes(arguments) => changes::list(arguments),
        Command::Analyze(arguments) => analyze::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Report(arguments) => page::report(arguments),
        Command::Copy(arguments) => copy::run(arguments),
        Command::Ls(arguments) => ls::run(arguments),
        Command::Lab(command) => lab_command::run(command),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Man(arguments) => manual::page(arguments),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Trial => trial::run(),
        Command::Worker => trial::work(),
        Command::Probe => trial::probe(),
        Command::Page(arguments) => page::draw(arguments),
        Command::Confined => doctor::confine(),
    }
}
