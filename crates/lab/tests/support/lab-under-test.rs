//! What the `linerate` binary does with labs, for this crate's tests: `supervise NAME`, and
//! `up NAME FILE`, which says in JSON what went wrong.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use lab::{Launcher, Topology};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["supervise", name] => lab::supervise(name).map_err(|_| None),
        ["up", name, file] => Topology::read(Path::new(file))
            .and_then(|topology| {
                let launcher = Launcher::current_program(&["supervise"])?;
                lab::up(name, &topology, &launcher).map(drop)
            })
            .map_err(Some),
        _ => Err(None),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let failure = error.map(|error| error.to_failure());
            serde_json::to_writer(io::stdout(), &failure).ok();
            ExitCode::FAILURE
        }
    }
}
