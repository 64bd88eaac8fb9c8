//! What the `linerate` binary does for this crate's tests: `trial`, as in the program, and
//! `supervise LAB`, which holds a lab.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let good = match arguments.as_slice() {
        ["trial"] => {
            let orphaned = || std::process::exit(130);
            measure::trial_main(std::io::stdin(), std::io::stdout(), orphaned).is_ok()
        }
        ["supervise", name] => lab::supervise(name).is_ok(),
        _ => false,
    };
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
