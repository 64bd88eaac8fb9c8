//! What the `linerate` binary does for this crate's tests: `trial` and `worker`, as in the program, and
//! `supervise LAB`, which holds a lab.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let good = match arguments.as_slice() {
        ["trial"] => {
            let orphaned = || std::process::exit(130);
            let worker = measure::Worker {
                program: "/proc/self/exe".to_owned(),
                arguments: vec!["worker".to_owned()],
                environment: Vec::new(),
            };
            measure::trial_main(std::io::stdin(), std::io::stdout(), Some(&worker), orphaned)
                .is_ok()
        }
        ["worker"] => measure::worker_main(std::io::stdout(), || std::process::exit(130)).is_ok(),
        ["supervise", name] => lab::supervise(name).is_ok(),
        _ => false,
    };
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
