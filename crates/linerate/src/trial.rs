//! `linerate trial`: what the child process on the client host does.

use std::io;
use std::process::ExitCode;

use crate::failure::{CommandError, Kind, exit_code};

/// Runs the trial that standard input asks for.
#[expect(
    clippy::unnecessary_wraps,
    reason = "every command gives the same type"
)]
pub fn run() -> Result<ExitCode, CommandError> {
    let ended = measure::trial_main(io::stdin(), io::stdout(), end_orphan);
    Ok(match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(kind) => ExitCode::from(exit_code(kind)),
    })
}

/// Finds the largest packets that pass between the pairs of NICs that standard input names.
pub fn probe() -> Result<ExitCode, CommandError> {
    measure::probe_main(io::stdin(), io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

#[expect(
    clippy::exit,
    reason = "whoever asked for the trial is gone: it must end at once"
)]
fn end_orphan() {
    std::process::exit(i32::from(exit_code(Kind::Interrupted)));
}
