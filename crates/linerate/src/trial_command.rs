//! `linerate trial`: what the child process on the client host does.

use std::io;
use std::process::ExitCode;

use measure::{Failed, Worker};

use crate::exit_codes::Exit;
use crate::failure::CommandError;

/// What a process without rights gets of the environment, where there may be a password.
pub const KEPT_VARIABLES: [&str; 3] = ["LANG", "LC_ALL", "RUST_BACKTRACE"];

/// Runs the trial that standard input asks for.
#[expect(
    clippy::unnecessary_wraps,
    reason = "every command gives the same type"
)]
pub fn run() -> Result<ExitCode, CommandError> {
    let worker = Worker {
        program: os::process::own_program(),
        arguments: vec!["worker".to_owned()],
        environment: KEPT_VARIABLES.map(str::to_owned).into(),
    };
    let worker = os::sandbox::IS_KNOWN.then_some(&worker);
    let ended = measure::trial_main(io::stdin(), io::stdout(), worker, end_orphan);
    Ok(code_of(ended))
}

/// Does the part of a trial that speaks to servers, without rights.
pub fn work() -> Result<ExitCode, CommandError> {
    Ok(code_of(measure::worker_main(io::stdout(), end_orphan)))
}

fn code_of(ended: Result<(), Failed>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Kind(kind)) => Exit::from(kind).into(),
        Err(Failed::Status(code)) => ExitCode::from(code),
    }
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
    std::process::exit(i32::from(Exit::Interrupted.code()));
}
