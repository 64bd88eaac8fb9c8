//! `xtask scenarios`: checks every lab of the library, from both ends and from one, proves the packets that
//! pass on many LANs, and holds the ladder against other tools; a table of what was named against what is
//! wrong. The exit code is 0 where every figure is reached that was looked at.

mod confusion_matrix;
mod diagnosis_judge;
mod ladder_against_iperf3_and_smbclient;
#[path = "../../../linerate/tests/system/path_mtu_probe.rs"]
mod path_mtu_probe;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Args;
use confusion_matrix::Row;
use diagnosis_judge::{Checked, Verdict, View};
use host::exec::Local;
use lab::{Lesson, Topology};
use measure::Counters;
use record::HostName;
use serde_json::{Value, json};

use crate::lab_and_program::{self, Guard, Result, wants};

/// Name of the lab while one is looked at.
const LAB: &str = "scenario";

/// What is looked at, and how often.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Checks of each lab with a fault, from each view
    #[arg(long, value_name = "N", default_value_t = 3)]
    repeat: usize,
    /// Checks of each healthy lab, from each view
    #[arg(long, value_name = "N", default_value_t = 5)]
    healthy: usize,
    /// LANs of which the packets that pass are proven
    #[arg(long = "mtu", value_name = "N", default_value_t = 200)]
    mtus: usize,
    /// Rounds of the ladder against other tools
    #[arg(long, value_name = "N", default_value_t = 5)]
    truth: usize,
    /// Who is asked; both without it
    #[arg(long, value_name = "VIEW")]
    view: Option<View>,
    /// Where all of it is written
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/scenarios/summary.json"
    )]
    json: PathBuf,
    /// Labs of the library, lab files with a lesson that end in `.toml`, `mtu` and `truth`; all but files without any
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Whether every figure is reached that was looked at.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let program = lab_and_program::program()?;
    let labs = labs(arguments);
    let is_lab = |name: &str| {
        let mut labs = labs.iter();
        labs.any(|(known, _)| known == name)
    };
    let is_known = |name: &&String| {
        is_lab(name) || name.ends_with(".toml") || ["mtu", "truth"].contains(&name.as_str())
    };
    if let Some(name) = arguments.names.iter().find(|name| !is_known(name)) {
        return Err(format!("there is no lab `{name}`").into());
    }
    let rows: Vec<Row> = labs
        .into_iter()
        .map(|(name, topology)| row(&program, name, &topology, arguments))
        .collect();
    if !rows.is_empty() {
        println!();
        println!("{}", confusion_matrix::text(&rows));
        println!("{}", confusion_matrix::matrix_text(&rows));
    }
    let mut figures = confusion_matrix::figures(&rows);
    let (mut of_packets, mut of_truth) = (Value::Null, Value::Null);
    if wants(&arguments.names, "mtu") && arguments.mtus > 0 {
        let (figure, found) = packets(&program, arguments.mtus);
        figures.push(figure);
        of_packets = found;
    }
    if wants(&arguments.names, "truth") && arguments.truth > 0 {
        let (figure, found) =
            ladder_against_iperf3_and_smbclient::compare(&program, arguments.truth);
        figures.push(figure);
        of_truth = found;
    }
    for figure in &figures {
        println!("{}", figure.text());
    }
    let reached = figures.iter().all(|figure| figure.reached);
    let summary = json!({
        "scenarios": rows.iter().map(Row::json).collect::<Vec<_>>(),
        "matrix": confusion_matrix::matrix(&rows),
        "packets": of_packets,
        "truth": of_truth,
        "figures": figures.iter().map(confusion_matrix::Figure::json).collect::<Vec<_>>(),
        "reached": reached,
    });
    let file = &arguments.json;
    fs::create_dir_all(file.parent().ok_or("no file for the summary")?)?;
    fs::write(file, format!("{summary:#}\n"))?;
    println!("all of it is in {}", file.display());
    Ok(reached)
}

fn up(program: &Path, topology: &Topology) -> Guard {
    lab_and_program::up(program, LAB, topology).expect("the lab comes up")
}

/// The labs that are asked for: of the library, and lab files.
fn labs(arguments: &Arguments) -> Vec<(String, Topology)> {
    let library = lab::scenarios().expect("the library is well");
    let known = library.into_iter();
    let known = known.filter(|scenario| wants(&arguments.names, scenario.name));
    let known = known.map(|scenario| (scenario.name.to_owned(), scenario.topology));
    let files = arguments.names.iter().map(Path::new);
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
fn row(program: &Path, name: String, topology: &Topology, arguments: &Arguments) -> Row {
    let begun = Instant::now();
    let lesson = topology.lesson.clone();
    let lesson = lesson.expect("every scenario has one");
    let healthy = lesson.both_ends.causes.is_empty();
    let count = match healthy {
        true => arguments.healthy,
        false => arguments.repeat,
    };
    let views = (0..count).flat_map(|_| View::ALL);
    let views = views.filter(|view| arguments.view.is_none_or(|only| only == *view));
    let mut checks = Vec::new();
    for view in views {
        let _lab = up(program, topology);
        let checked = check(program, &diagnosis_judge::share(topology), view);
        let verdict = checked.verdict(&lesson);
        println!(
            "{name:26} {:10} {:34} {:5.1} s {}",
            view.as_str(),
            checked.named(),
            checked.seconds,
            if verdict == Verdict::Right {
                ""
            } else {
                verdict.as_str()
            },
        );
        if verdict != Verdict::Right {
            let of = |text: &Option<String>| text.clone().unwrap_or_default();
            println!("    {} ({})", of(&checked.headline), of(&checked.run_file));
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
        println!("{}", String::from_utf8_lossy(&output.stderr));
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

fn packets(program: &Path, count: usize) -> (confusion_matrix::Figure, Value) {
    let topology = Topology::parse(path_mtu_probe::TOPOLOGY).expect("a topology");
    let lab = up(program, &topology);
    let (mut wrong, mut slowest) = (Vec::new(), 0.0_f64);
    for mtus in path_mtu_probe::topologies(1, count) {
        match path_mtu_probe::prove(&lab.0, program, mtus) {
            Ok(proof) => slowest = slowest.max(proof.took.get() as f64 / 1e9),
            Err(reason) => {
                println!("{reason}");
                wrong.push(reason);
            }
        }
    }
    let right = count - wrong.len();
    let figure = confusion_matrix::Figure {
        what: "path MTUs that were exact, black holes told apart".into(),
        found: format!("{right} of {count}, the slowest in {slowest:.2} s"),
        wanted: format!("{count} of {count}, in 3 s each"),
        reached: wrong.is_empty(),
    };
    let found = json!({ "lans": count, "wrong": wrong, "slowest_seconds": slowest });
    (figure, found)
}
