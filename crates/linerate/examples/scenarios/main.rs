//! `make scenarios`: checks every lab of the library, from both ends and from one, proves the packets that
//! pass on many LANs, and holds the ladder against other tools; a table of what was named against what is
//! wrong. The exit code is 0 where every figure is reached that was looked at.
//!
//! ```text
//! scenarios [--repeat N] [--healthy N] [--mtu N] [--truth N] [--view VIEW] [--json FILE] [NAME...]
//! ```
//!
//! With names only those labs are looked at; `mtu` and `truth` are the names of the other two parts. A name
//! that ends in `.toml` is a lab file that is not in the library, with a lesson. `VIEW` is `both-ends` or
//! `client`; without it both are asked.

mod judge;
#[path = "../../tests/system/mtu.rs"]
mod mtu;
#[path = "../support/mod.rs"]
mod support;
mod table;
mod truth;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use host::exec::Local;
use judge::{Checked, Verdict, View};
use lab::{Lesson, Topology};
use measure::Counters;
use record::HostName;
use serde_json::{Value, json};
use table::Row;

/// Name of the lab while one is looked at.
const LAB: &str = "scenario";

/// What is asked for.
struct Plan {
    repeat: usize,
    healthy: usize,
    mtus: usize,
    truth: usize,
    views: Vec<View>,
    json: PathBuf,
    names: Vec<String>,
}

fn main() -> ExitCode {
    let plan = plan();
    let program = support::program().expect("a target folder");
    let rows: Vec<Row> = labs(&plan)
        .into_iter()
        .map(|(name, topology)| row(&program, name, &topology, &plan))
        .collect();
    if !rows.is_empty() {
        say("");
        say(&table::text(&rows));
        say(&table::matrix_text(&rows));
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
        "matrix": table::matrix(&rows),
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
        healthy: 5,
        mtus: 200,
        truth: 5,
        views: View::ALL.into(),
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
            "--view" => {
                let name = arguments.next().unwrap_or_default();
                let view = View::ALL.into_iter().find(|view| view.as_str() == name);
                plan.views = vec![view.expect("`both-ends` or `client` after --view")];
            }
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

fn up(program: &Path, topology: &Topology) -> support::Guard {
    support::up(program, LAB, topology).expect("the lab comes up")
}

/// The labs that are asked for: of the library, and lab files.
fn labs(plan: &Plan) -> Vec<(String, Topology)> {
    let library = lab::scenarios().expect("the library is well");
    let known = library.into_iter();
    let known = known.filter(|scenario| plan.wants(scenario.name));
    let known = known.map(|scenario| (scenario.name.to_owned(), scenario.topology));
    let files = plan.names.iter().map(Path::new);
    let files = files.filter(|name| name.extension().is_some_and(|end| end == "toml"));
    let files = files.map(|file| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let topology = Topology::read(file).expect("a lab file");
        (name.into_owned(), topology)
    });
    let labs: Vec<(String, Topology)> = known.chain(files).collect();
    for (name, topology) in &labs {
        let lesson = topology.lesson.as_ref().expect("every lab here has one");
        for id in ids_of(lesson) {
            let mut causes = analysis::CAUSES.iter();
            let is_known = causes.any(|row| row.id.as_str() == id);
            assert!(is_known, "{name}: `{id}` is no cause");
        }
    }
    labs
}

/// All causes that a lesson names.
fn ids_of(lesson: &Lesson) -> impl Iterator<Item = &str> {
    let views = [&lesson.both_ends, &lesson.client];
    let of_views = views
        .into_iter()
        .flat_map(|view| view.causes.iter().chain(&view.not_knowable));
    of_views.chain(&lesson.also).map(String::as_str)
}

/// Checks one scenario as often as it is wanted from each view, each time in a lab of its own: what one
/// check leaves in caches and connections is nothing to the next.
fn row(program: &Path, name: String, topology: &Topology, plan: &Plan) -> Row {
    let begun = Instant::now();
    let lesson = topology.lesson.clone();
    let lesson = lesson.expect("every scenario has one");
    let healthy = lesson.both_ends.causes.is_empty();
    let count = if healthy { plan.healthy } else { plan.repeat };
    let views = (0..count).flat_map(|_| plan.views.iter().copied());
    let mut checks = Vec::new();
    for view in views {
        let _lab = up(program, topology);
        let checked = check(program, &judge::share(topology), view);
        let verdict = checked.verdict(&lesson);
        say(&format!(
            "{name:26} {:10} {:34} {:5.1} s {}",
            view.as_str(),
            checked.named(),
            checked.seconds,
            if verdict == Verdict::Right {
                ""
            } else {
                verdict.as_str()
            },
        ));
        if verdict != Verdict::Right {
            let of = |text: &Option<String>| text.clone().unwrap_or_default();
            say(&format!(
                "    {} ({})",
                of(&checked.headline),
                of(&checked.run_file)
            ));
        }
        checks.push(checked);
    }
    Row {
        name,
        lesson,
        checks,
        seconds: begun.elapsed().as_secs_f64(),
    }
}

fn check(program: &Path, share: &str, view: View) -> Checked {
    let begun = Instant::now();
    let before = counters();
    let mut command = Command::new(program);
    command.args(["check", share, "--json"]);
    command.args(["--client", &format!("lab://{LAB}/client")]);
    if view == View::BothEnds {
        command.args(["--server", &format!("lab://{LAB}/server")]);
    }
    let output = command.output().expect("linerate starts");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let causes = Checked::causes_in(&said);
    if causes.is_none() {
        say(&String::from_utf8_lossy(&output.stderr));
    }
    let text = |said: &Value| said.as_str().map(str::to_owned);
    Checked {
        view,
        causes,
        headline: text(&said["diagnosis"]["headline"]),
        run_file: text(&said["run_file"]),
        exit: output.status.code(),
        seconds: begun.elapsed().as_secs_f64(),
        stolen: stolen_between(&before, &counters()),
    }
}

/// What the machine below the labs has had to do so far.
fn counters() -> Counters {
    Counters::read(&Local::new()).expect("this runs on Linux")
}

/// The part of the time that was stolen from the processor that lost most.
fn stolen_between(before: &Counters, after: &Counters) -> f64 {
    let load = before.until(after, &HostName::new("local"));
    let stolen = load.processors.iter().map(|processor| processor.steal);
    stolen.fold(0.0, f64::max)
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
