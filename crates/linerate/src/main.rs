//! Finds why a file share is slower than its network, and proves what helps.

mod analyze;
mod args;
mod bench;
mod changes;
mod check;
mod client_to_share_path;
mod command_sandbox;
mod compare;
mod copy;
mod copy_progress_line;
mod credentials;
mod ctrl_c;
mod demo;
mod doctor;
mod exit_codes;
mod experiment;
mod failure;
mod fstab_of_mount;
mod help;
mod host_command_json;
mod hosts;
mod inspect;
#[cfg(test)]
mod json_schemas;
mod knob_switching;
mod lab_command;
mod log;
mod ls;
mod man_pages_and_completions;
mod mounted_share;
mod nt_status_sentences;
mod optional_host_facts;
mod path_facts;
mod profiles;
mod report_command;
mod reverse_path_probe;
mod run_file_recorder;
mod set;
mod share;
mod share_testbed;
mod ssh_lockout;
mod stdout_and_stderr;
mod trial_command;
mod tune;
mod tune_goal_candidates;
mod tune_through_mount;
mod usage_error;
mod version;

use std::process::ExitCode;

use clap::FromArgMatches;
use locale::say;

use args::{Arguments, Command, LabCommand};
use exit_codes::Exit;
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
    ctrl_c::park_if_leaving();
    let code = match result.and_then(unless_lost) {
        Ok(code) => code,
        Err(error) => {
            stdout_and_stderr::say(&error.to_string());
            error.exit_code()
        }
    };
    // Whoever was interrupted does not wait for a thread that still connects to a host.
    host::exec::let_go();
    code
}

/// clap prints help to standard output, and to standard error what we have no sentence for.
fn said_by_clap(error: &clap::Error) -> Result<ExitCode, CommandError> {
    let typed = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    Arguments::language_of(typed).speak();
    if let Some(error) = usage_error::of(error) {
        return Err(error);
    }
    let printed = error.print();
    if error.use_stderr() {
        return Ok(Exit::Usage.into());
    }
    stdout_and_stderr::keep_loss(printed);
    Ok(ExitCode::SUCCESS)
}

/// A part of what a command says must not pass for all of it.
fn unless_lost(code: ExitCode) -> Result<ExitCode, CommandError> {
    match stdout_and_stderr::lost() {
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
        ctrl_c::end_cleanly()?;
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
        Command::Report(arguments) => report_command::report(arguments),
        Command::Copy(arguments) => copy::run(arguments),
        Command::Ls(arguments) => ls::run(arguments),
        Command::Lab(command) => lab_command::run(command),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Man(arguments) => man_pages_and_completions::page(arguments),
        Command::Completions { shell } => man_pages_and_completions::completions(*shell),
        Command::Trial => trial_command::run(),
        Command::Worker => trial_command::work(),
        Command::Probe => trial_command::probe(),
        Command::Page(arguments) => report_command::draw(arguments),
        Command::Confined => doctor::confine(),
    }
}
