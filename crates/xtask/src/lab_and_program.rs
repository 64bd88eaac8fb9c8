//! What the tasks share: the program that stands beside this one, labs that end with them, how failures are said, and
//! small things that several of them need.

use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lab::{Lab, Launcher, Topology};
use record::{Failure as Failed, FailureKind};

/// Whatever went wrong.
pub type Failure = Box<dyn Error + Send + Sync>;
/// What may go wrong.
pub type Result<T> = std::result::Result<T, Failure>;

/// Writes talk.
pub fn say(text: &str) {
    // Nobody is left to be told that nobody listens.
    writeln!(io::stderr().lock(), "{text}").ok();
}

/// An error with all its causes.
pub fn chain(error: &dyn Error) -> String {
    let says = |cause: &(dyn Error + 'static)| vec![cause.to_string().into()];
    Failed::caused(
        FailureKind::Internal,
        error.to_string(),
        error.source(),
        says,
    )
    .text()
}

/// The program `linerate`, built by the same profile as this one.
pub fn program() -> Result<PathBuf> {
    let program = env::current_exe()?.with_file_name("linerate");
    if program.is_file() {
        return Ok(program);
    }
    let missing = format!("`{}` is not there", program.display());
    Err(format!("{missing}\nhint: `make` builds it; see CONTRIBUTING.md").into())
}

/// A lab that ends with this.
pub struct Guard(pub Lab);

impl Drop for Guard {
    fn drop(&mut self) {
        take_down(self.0.name());
    }
}

/// Brings a lab up, which the program supervises.
pub fn up(program: &Path, name: &str, topology: &Topology) -> Result<Guard> {
    let program = program.display().to_string();
    let launcher = Launcher::new([program.as_str(), "lab", "supervise"]);
    Ok(Guard(lab::up(name, topology, &launcher)?))
}

/// Takes a lab down, if it is still there.
pub fn take_down(name: &str) {
    match lab::down(name) {
        Ok(_) | Err(lab::Error::NoSuchLab { .. }) => {}
        Err(error) => say(&format!("error: {}", chain(&error))),
    }
}

/// Whether a part of a task is asked for: each is, where none is named.
pub fn wants(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|only| only == name)
}

/// A seed that nobody chose.
pub fn random_seed() -> Result<u64> {
    Ok(getrandom::u64().map_err(|error| format!("no random number: {error}"))?)
}

/// The median; nothing of nothing.
pub fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    stats::median_of_sorted(&numbers)
}

/// Bytes per second in what smbclient said, in the line that begins so.
pub fn smbclient_rate(said: &str, begin: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.starts_with(begin))?;
    let kib_per_second: f64 = line.split_once(" (")?.1.split(' ').next()?.parse().ok()?;
    Some(kib_per_second * 1024.0)
}

/// The value of the first line of a file that begins so, or nothing.
pub fn first_line(path: &str, begin: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(begin))?;
    Some(
        value
            .trim_start_matches([' ', '\t', ':', '='])
            .trim_matches('"')
            .to_owned(),
    )
}
