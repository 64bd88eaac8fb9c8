//! Manual pages and completion scripts: what of the command line is kept in files where linerate is installed.

use std::process::ExitCode;

use clap::builder::Resettable;
use clap_complete::Shell;
use locale::say;

use crate::args::ManArguments;
use crate::failure::{CommandError, Kind};
use crate::{help, stdout_and_stderr};

/// Prints the manual page of a command, or the words of all commands that have one, each on a line of its own.
pub fn page(arguments: &ManArguments) -> Result<ExitCode, CommandError> {
    let all = help::reference();
    if arguments.list {
        stdout_and_stderr::print(&words_of(&all, &[]).join("\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = &all;
    for word in &arguments.command {
        let mut inner = command.get_subcommands();
        command = inner
            .find(|one| one.get_name() == word && !one.is_hide_set())
            .ok_or_else(|| {
                let sentence =
                    say("error-check.no-command").with("command", arguments.command.join(" "));
                CommandError::new(Kind::Usage, sentence).hint(say("hint-check.commands"))
            })?;
    }
    let mut roff = Vec::new();
    // The page is that of any build of this version.
    let version = env!("CARGO_PKG_VERSION");
    let command = command.clone().version(version);
    clap_mangen::Man::new(command.long_version(Resettable::Reset))
        .source(format!("linerate {version}"))
        .manual("linerate")
        .render(&mut roff)
        .map_err(|error| {
            CommandError::caused(Kind::Internal, say("error-check.manual-page"), &error)
        })?;
    stdout_and_stderr::print_piece(&String::from_utf8_lossy(&roff));
    Ok(ExitCode::SUCCESS)
}

/// The words of each command below one, the outer ones first.
fn words_of(command: &clap::Command, outer: &[&str]) -> Vec<String> {
    let inner = command.get_subcommands();
    let inner = inner.filter(|one| !one.is_hide_set());
    let words = inner.flat_map(|one| {
        let words = [outer, &[one.get_name()]].concat();
        let mut all = vec![words.join(" ")];
        all.extend(words_of(one, &words));
        all
    });
    words.collect()
}

/// Prints a shell's completion script.
#[expect(
    clippy::unnecessary_wraps,
    reason = "every command gives the same type"
)]
pub fn completions(shell: Shell) -> Result<ExitCode, CommandError> {
    // Into memory: it panics where a pipe is closed early.
    let mut script = Vec::new();
    let mut command = as_typed(&help::command());
    clap_complete::generate(shell, &mut command, "linerate", &mut script);
    stdout_and_stderr::print_piece(&String::from_utf8_lossy(&script));
    Ok(ExitCode::SUCCESS)
}

/// A command as people type it: completion scripts would offer what is hidden too.
fn as_typed(command: &clap::Command) -> clap::Command {
    let kept = command.get_subcommands().filter(|one| !one.is_hide_set());
    clap::Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        // Both stand among its arguments already.
        .disable_help_flag(true)
        .disable_version_flag(true)
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments())
        .subcommands(kept.map(as_typed))
}
