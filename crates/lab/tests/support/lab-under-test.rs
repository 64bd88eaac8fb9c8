//! What the `linerate` binary does with labs, for this crate's tests: `supervise NAME`, and
//! `up NAME FILE`, which says in JSON what went wrong.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use lab::{Error, Launcher, Topology};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["supervise", name] => lab::supervise(name),
        ["up", name, file] => up(name, Path::new(file)),
        _ => return ExitCode::FAILURE,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // A supervisor's output is closed or read to its first line only.
        Err(error) => {
            serde_json::to_writer(io::stdout(), &error.to_failure()).ok();
            ExitCode::FAILURE
        }
    }
}

fn up(name: &str, file: &Path) -> Result<(), Error> {
    let topology = Topology::read(file)?;
    let launcher = Launcher::current_program(&["supervise"])?;
    lab::up(name, &topology, &launcher).map(drop)
}
