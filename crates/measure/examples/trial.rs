//! What `linerate trial` is in the program: one trial, for those who start it as a process.

use std::process::ExitCode;

#[expect(clippy::exit, reason = "whoever asked for the trial is gone, so it ends at once")]
fn main() -> ExitCode {
    let orphaned = || std::process::exit(130);
    match measure::trial_main(std::io::stdin(), std::io::stdout(), orphaned) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
