//! `make scenarios`: a check of every lab of the library, and path MTUs of many LANs; a table of what was
//! named against what is wrong.
//!
//! ```text
//! scenarios [--repeat N] [--without-server] [--mtu N] [NAME...]
//! ```

#[path = "../tests/it/mtu.rs"]
mod mtu;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use lab::{Launcher, Scenario, Topology};
use serde_json::Value;

/// Name of the lab while one is looked at.
const LAB: &str = "scenario";

fn main() -> ExitCode {
    let (mut repeat, mut with_server, mut mtus, mut names) = (1, true, 0, Vec::new());
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok());
        match argument.as_str() {
            "--repeat" => repeat = number().unwrap_or(1),
            "--mtu" => mtus = number().unwrap_or(200),
            "--without-server" => with_server = false,
            _ => names.push(argument),
        }
    }
    let program = program();
    if mtus > 0 {
        return packets(&program, mtus);
    }
    let mut wrong = 0;
    say("scenario                 | wrong | first cause named        | right | seconds");
    for scenario in lab::scenarios().expect("the library is well") {
        if !names.is_empty() && !names.iter().any(|name| name == scenario.name) {
            continue;
        }
        for _ in 0..repeat {
            wrong += usize::from(!one(&program, &scenario, with_server));
        }
    }
    say(&format!("{wrong} wrong"));
    ExitCode::from(u8::from(wrong > 0))
}

#[expect(clippy::print_stdout, reason = "a table is all that this does")]
fn say(line: &str) {
    println!("{line}");
}

/// The program beside this one.
fn program() -> PathBuf {
    let own = env::current_exe().expect("this program has a file");
    own.ancestors()
        .nth(2)
        .expect("a target folder")
        .join("linerate")
}

/// A lab that goes with this.
struct Guard(lab::Lab);

impl Drop for Guard {
    fn drop(&mut self) {
        lab::down(self.0.name()).ok();
    }
}

fn up(program: &Path, topology: &Topology) -> Guard {
    let program = program.display().to_string();
    let launcher = Launcher::new([program.as_str(), "lab", "supervise"]);
    Guard(lab::up(LAB, topology, &launcher).expect("the lab comes up"))
}

/// Checks one scenario and says whether the right thing was named.
fn one(program: &Path, scenario: &Scenario, with_server: bool) -> bool {
    let _lab = up(program, &scenario.topology);
    let begun = Instant::now();
    let mut command = Command::new(program);
    let client = format!("lab://{LAB}/client");
    command.args([
        "check",
        "smb://10.77.1.2/media",
        "--json",
        "--client",
        &client,
    ]);
    if with_server {
        command.args(["--server", &format!("lab://{LAB}/server")]);
    }
    let output = command.output().expect("linerate starts");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let first = said["diagnosis"]["first_cause"].as_str();
    let lesson = scenario
        .topology
        .lesson
        .as_ref()
        .expect("every scenario has one");
    let right = match first {
        None => lesson.causes.is_empty() && said["diagnosis"].is_object(),
        Some(first) => lesson.causes.iter().any(|cause| cause == first),
    };
    say(&format!(
        "{:24} | {:5} | {:24} | {:5} | {:.1}",
        scenario.name,
        if lesson.causes.is_empty() {
            "no"
        } else {
            "yes"
        },
        first.unwrap_or("none"),
        if right { "yes" } else { "NO" },
        begun.elapsed().as_secs_f64()
    ));
    if !right {
        say(&String::from_utf8_lossy(&output.stderr));
    }
    right
}

fn packets(program: &Path, count: usize) -> ExitCode {
    let topology = Topology::parse(mtu::TOPOLOGY).expect("a topology");
    let lab = up(program, &topology);
    let (mut wrong, mut slowest) = (0, 0.0_f64);
    for mtus in mtu::topologies(1, count) {
        match mtu::prove(&lab.0, program, mtus) {
            Ok(proof) => slowest = slowest.max(proof.took.get() as f64 / 1e9),
            Err(reason) => {
                wrong += 1;
                say(&reason);
            }
        }
    }
    say(&format!(
        "{count} LANs, {wrong} wrong, the slowest took {slowest:.2} s"
    ));
    ExitCode::from(u8::from(wrong > 0))
}
