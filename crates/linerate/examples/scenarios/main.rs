//! `make scenarios`: checks every lab of the library, from both ends and from one, proves the packets that
//! pass on many LANs, and holds the ladder against other tools; a table of what was named against what is
//! wrong. The exit code is 0 where every figure is reached that was looked at.
//!
//! ```text
//! scenarios [--repeat N] [--healthy N] [--mtu N] [--truth N] [--full] [--json FILE] [NAME...]
//! ```
//!
//! With names only those labs are looked at; `mtu` and `truth` are the names of the other two parts.

#[path = "../../tests/it/mtu.rs"]
mod mtu;
mod table;
mod truth;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use lab::{Launcher, Scenario, Topology};
use serde_json::{Value, json};
use table::{Checked, Row};

/// Name of the lab while one is looked at.
const LAB: &str = "scenario";
/// A check that is not made in full: to name a cause no narrow interval is needed.
const SHORT: [&str; 4] = ["--repetitions", "2", "--seconds", "0.4"];

/// What is asked for.
struct Plan {
    repeat: usize,
    healthy: usize,
    mtus: usize,
    truth: usize,
    /// Every check with its usual repetitions.
    full: bool,
    json: PathBuf,
    names: Vec<String>,
}

fn main() -> ExitCode {
    let plan = plan();
    let program = program();
    let library = lab::scenarios().expect("the library is well");
    let rows: Vec<Row> = library
        .iter()
        .filter(|scenario| plan.wants(scenario.name))
        .map(|scenario| row(&program, scenario, &plan))
        .collect();
    if !rows.is_empty() {
        say("");
        say(&table::text(&rows));
    }
    let mut figures = table::figures(&rows);
    let (mut of_packets, mut of_truth) = (Value::Null, Value::Null);
    if plan.wants("mtu") && plan.mtus > 0 {
        let (figure, found) = packets(&program, plan.mtus);
        figures.push(figure);
        of_packets = found;
    }
    if plan.wants("truth") && plan.truth > 0 {
        let (figure, found) = truth::compare(&program, plan.truth);
        figures.push(figure);
        of_truth = found;
    }
    for figure in &figures {
        say(&figure.text());
    }
    let reached = figures.iter().all(|figure| figure.reached);
    let summary = json!({
        "scenarios": rows.iter().map(Row::json).collect::<Vec<_>>(),
        "packets": of_packets,
        "truth": of_truth,
        "figures": figures.iter().map(table::Figure::json).collect::<Vec<_>>(),
        "reached": reached,
    });
    let folder = plan.json.parent().expect("a file is in a folder");
    std::fs::create_dir_all(folder).expect("a folder for the summary");
    let text = serde_json::to_string_pretty(&summary).expect("JSON of JSON");
    std::fs::write(&plan.json, text + "\n").expect("room for the summary");
    say(&format!("all of it is in {}", plan.json.display()));
    ExitCode::from(u8::from(!reached))
}

impl Plan {
    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }
}

fn plan() -> Plan {
    let mut plan = Plan {
        repeat: 3,
        healthy: 10,
        mtus: 200,
        truth: 5,
        full: false,
        json: "target/scenarios/summary.json".into(),
        names: Vec::new(),
    };
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let text = arguments.next().unwrap_or_default();
            text.parse().expect("a number after the option")
        };
        match argument.as_str() {
            "--repeat" => plan.repeat = number(),
            "--healthy" => plan.healthy = number(),
            "--mtu" => plan.mtus = number(),
            "--truth" => plan.truth = number(),
            "--full" => plan.full = true,
            "--json" => plan.json = arguments.next().expect("a file after --json").into(),
            _ => plan.names.push(argument),
        }
    }
    plan
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

/// Checks one scenario as often as it is wanted: with the server each time, and once without; a lab in
/// which nothing is wrong by turns.
fn row(program: &Path, scenario: &Scenario, plan: &Plan) -> Row {
    let lesson = scenario.topology.lesson.clone();
    let lesson = lesson.expect("every scenario has one");
    let healthy = lesson.causes.is_empty();
    let views: Vec<bool> = if healthy {
        (0..plan.healthy).map(|number| number % 2 == 0).collect()
    } else {
        let with = std::iter::repeat_n(true, plan.repeat);
        with.chain([false]).collect()
    };
    let _lab = up(program, &scenario.topology);
    let checks = views.into_iter().enumerate().map(|(number, with_server)| {
        // How long a check takes by default is worth knowing where nothing is wrong.
        let full = plan.full || (healthy && number == 0);
        let checked = check(program, with_server, full);
        say(&format!(
            "{:24} {:14} {:24} {:5.1} s {}",
            scenario.name,
            if with_server { "" } else { "without server" },
            checked.named,
            checked.seconds,
            if checked.is_right(&lesson.causes) {
                ""
            } else {
                "WRONG"
            },
        ));
        checked
    });
    Row {
        name: scenario.name,
        checks: checks.collect(),
        lesson,
    }
}

fn check(program: &Path, with_server: bool, full: bool) -> Checked {
    let begun = Instant::now();
    let mut command = Command::new(program);
    command.args(["check", "smb://10.77.1.2/media", "--json"]);
    command.args(["--client", &format!("lab://{LAB}/client")]);
    if with_server {
        command.args(["--server", &format!("lab://{LAB}/server")]);
    }
    if !full {
        command.args(SHORT);
    }
    let output = command.output().expect("linerate starts");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let diagnosis = &said["diagnosis"];
    let named = match diagnosis["first_cause"].as_str() {
        Some(first) => first.to_owned(),
        None if diagnosis.is_object() => table::NOTHING.to_owned(),
        None => {
            say(&String::from_utf8_lossy(&output.stderr));
            "no answer".to_owned()
        }
    };
    Checked {
        with_server,
        full,
        named,
        headline: diagnosis["headline"].as_str().map(str::to_owned),
        seconds: begun.elapsed().as_secs_f64(),
    }
}

fn packets(program: &Path, count: usize) -> (table::Figure, Value) {
    let topology = Topology::parse(mtu::TOPOLOGY).expect("a topology");
    let lab = up(program, &topology);
    let (mut wrong, mut slowest) = (Vec::new(), 0.0_f64);
    for mtus in mtu::topologies(1, count) {
        match mtu::prove(&lab.0, program, mtus) {
            Ok(proof) => slowest = slowest.max(proof.took.get() as f64 / 1e9),
            Err(reason) => {
                say(&reason);
                wrong.push(reason);
            }
        }
    }
    let right = count - wrong.len();
    let figure = table::Figure {
        what: "path MTUs that were exact, black holes told apart".into(),
        found: format!("{right} of {count}, the slowest in {slowest:.2} s"),
        wanted: format!("{count} of {count}, in 3 s each"),
        reached: wrong.is_empty(),
    };
    let found = json!({ "lans": count, "wrong": wrong, "slowest_seconds": slowest });
    (figure, found)
}
