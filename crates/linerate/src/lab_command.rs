//! `linerate lab`: a LAN on this machine.

use std::path::Path;
use std::process::ExitCode;

use lab::{Launcher, Ran, Topology};
use locale::{said, say, text};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{JsonArguments, LabCommand};
use crate::changes::style;
use crate::failure::{CommandError, Kind};
use crate::{ctrl_c, hosts, stdout_and_stderr};

/// What `lab up --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LabBuilt<'a> {
    /// Whether it was not built, and only checked.
    dry_run: bool,
    /// Its name.
    lab: &'a str,
    /// Its hosts, as `--client` and `--server` take them.
    hosts: Vec<String>,
    /// Its shares, as commands take them.
    shares: Vec<String>,
}

/// What `lab scenarios --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScenarioList<'a> {
    /// The LANs of the library.
    scenarios: Vec<ListedScenario<'a>>,
}

/// A LAN of the library.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedScenario<'a> {
    /// Its name, for `lab up --scenario NAME`.
    name: &'a str,
    /// What is wrong in it, in a sentence.
    title: &'a str,
    /// Ids of the causes of which each is a right first one; none where it is healthy.
    causes: &'a [String],
}

/// What `lab list --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LabList<'a> {
    /// The labs that run now.
    labs: Vec<ListedLab<'a>>,
}

/// A lab that runs.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedLab<'a> {
    /// Its name.
    name: &'a str,
    /// Whether it is ready.
    up: bool,
    /// Its hosts, then its switches.
    nodes: &'a [String],
    /// Number of the process that holds it; null where that is not known.
    supervisor: Option<u32>,
    /// What went wrong since it is up.
    troubles: &'a [String],
}

/// What `lab down --dry-run --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LabToEnd<'a> {
    /// True.
    dry_run: bool,
    /// The lab that would be taken down.
    lab: &'a str,
}

/// What `lab down --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LabEnded<'a> {
    /// The lab that is gone.
    lab: &'a str,
    /// Hosts and switches whose namespaces have no process any more.
    nodes: usize,
    /// Processes that were in them.
    processes: usize,
    /// How long it took, in milliseconds.
    took_ms: u128,
}

/// Runs one of the lab's commands.
pub fn run(command: &LabCommand) -> Result<ExitCode, CommandError> {
    match command {
        LabCommand::Up {
            file,
            scenario,
            name,
            dry_run,
            json,
        } => {
            let (usual_name, topology) = match (file, scenario) {
                (Some(file), _) => (name_of(file)?, Topology::read(file)?),
                (None, scenario) => {
                    let scenario = lab::scenario(scenario.as_deref().unwrap_or_default())?;
                    (scenario.name.to_owned(), scenario.topology)
                }
            };
            let name = name.clone().unwrap_or(usual_name);
            if !dry_run {
                up(&name, &topology)?;
            }
            describe(&name, &topology, *json, *dry_run);
            Ok(ExitCode::SUCCESS)
        }
        LabCommand::Scenarios(arguments) => scenarios(arguments),
        LabCommand::Run {
            host,
            mount,
            command,
        } => run_on(host, mount.as_deref(), command),
        LabCommand::List(arguments) => list(arguments),
        LabCommand::Down {
            name,
            dry_run,
            json,
        } => {
            let name = name.clone().map_or_else(only_one, Ok)?;
            if *dry_run {
                lab::find(&name)?;
                if *json {
                    stdout_and_stderr::print_json(&LabToEnd {
                        dry_run: true,
                        lab: &name,
                    });
                } else {
                    let sentence = say("told-check.lab-would-end").with("lab", name);
                    stdout_and_stderr::print(&said(&sentence));
                }
                return Ok(ExitCode::SUCCESS);
            }
            down(&name, *json)
        }
        LabCommand::Supervise { name } => {
            lab::supervise(name)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Brings a lab up, held by this very program.
pub fn up(name: &str, topology: &Topology) -> Result<lab::Lab, CommandError> {
    let launcher = Launcher::current_program(&["lab", "supervise"])?;
    Ok(lab::up(name, topology, &launcher)?)
}

fn scenarios(arguments: &JsonArguments) -> Result<ExitCode, CommandError> {
    let all = lab::scenarios()?;
    let lessons = all
        .iter()
        .filter_map(|scenario| Some((scenario.name, scenario.topology.lesson.as_ref()?)));
    if arguments.json {
        let list = lessons.map(|(name, lesson)| ListedScenario {
            name,
            title: &lesson.title,
            causes: &lesson.both_ends.causes,
        });
        stdout_and_stderr::print_json(&ScenarioList {
            scenarios: list.collect(),
        });
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<_> = lessons
        .map(|(name, lesson)| vec![name.to_owned(), lesson.title.clone()])
        .collect();
    print_table(["told-check.column-name", "told-check.column-wrong"], &rows);
    stdout_and_stderr::print(&text("told-check.build-scenario"));
    Ok(ExitCode::SUCCESS)
}

/// A table under headings with these ids.
fn print_table<const COLUMNS: usize>(headings: [&'static str; COLUMNS], rows: &[Vec<String>]) {
    let headings = headings.map(text);
    let headings = headings.each_ref().map(String::as_str);
    stdout_and_stderr::print_drawn(&report::table(&headings, rows, style()));
}

fn name_of(file: &Path) -> Result<String, CommandError> {
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    stem.map(str::to_owned).ok_or_else(|| {
        let sentence = say("error-check.no-lab-name").with("file", file.display().to_string());
        CommandError::new(Kind::Usage, sentence).hint(say("hint-check.lab-name"))
    })
}

fn describe(name: &str, topology: &Topology, json: bool, dry_run: bool) {
    if json {
        let hosts = topology.hosts.iter();
        stdout_and_stderr::print_json(&LabBuilt {
            dry_run,
            lab: name,
            hosts: hosts.map(|host| format!("lab://{name}/{host}")).collect(),
            shares: topology.shares().iter().map(ToString::to_string).collect(),
        });
        return;
    }
    let sentence = say(match dry_run {
        true => "told-check.lab-would-begin",
        false => "told-check.lab-up",
    });
    stdout_and_stderr::print(&said(&sentence.with("lab", name)));
    let mut rows = Vec::new();
    for link in &topology.links {
        let end = |index: usize| {
            let end = &link.ends[index];
            let address = end.address.map_or(String::new(), |address| {
                format!(" {}/{}", address.ip, address.prefix)
            });
            format!("{} {}{address} mtu {}", end.node, end.nic, end.mtu)
        };
        let rate = link
            .rate
            .map_or_else(|| text("told-check.unlimited"), report::quantity::line_rate);
        let rate = match link.delay {
            None => rate,
            Some(delay) => {
                let milliseconds = delay.as_secs_f64() * 1000.0;
                said(
                    &say("told-check.rate-and-delay")
                        .with("rate", rate)
                        .with("delay", milliseconds.to_string()),
                )
            }
        };
        rows.push(vec![end(0), end(1), rate]);
    }
    let headings = [
        "told-check.column-one-end",
        "told-check.column-other-end",
        "told-check.column-rate",
    ];
    print_table(headings, &rows);
    for share in topology.shares() {
        let sentence = say("told-check.share").with("share", share.to_string());
        stdout_and_stderr::print(&said(&sentence));
    }
    if let Some(host) = topology.hosts.first() {
        let command = format!("linerate lab run {name}/{host} -- ip -br addr");
        let sentence = say("told-check.run-in-lab")
            .with("command", command)
            .with("file", lab::CREDENTIALS_IN_HOST);
        stdout_and_stderr::print(&said(&sentence));
    }
}

fn run_on(typed: &str, mount: Option<&str>, command: &[String]) -> Result<ExitCode, CommandError> {
    let full = match (typed.starts_with("lab://"), typed.contains('/')) {
        (true, _) => typed.to_owned(),
        (false, true) => format!("lab://{typed}"),
        (false, false) => format!("lab://{}/{typed}", only_one()?),
    };
    let hosts::Named::Lab { lab, host } = hosts::parse(&full)? else {
        let sentence = say("error-check.no-lab-host").with("host", typed);
        return Err(CommandError::new(Kind::Usage, sentence).hint(say("hint-check.labs")));
    };
    let lab = lab::find(&lab)?;
    let ran = match mount {
        Some(options) => lab.run_mounted(&host, options, command)?,
        None => lab.run(&host, command)?,
    };
    match ran {
        Ran::Ended(status) => Ok(ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX))),
        Ran::Stopped => Err(ctrl_c::interrupted()),
    }
}

fn only_one() -> Result<String, CommandError> {
    let mut labs = lab::list()?;
    match (labs.pop(), labs.len()) {
        (Some(only), 0) => Ok(only.name),
        (None, _) => {
            let sentence = say("error-check.no-lab");
            Err(CommandError::new(Kind::Usage, sentence).hint(say("hint-check.no-lab")))
        }
        (Some(_), _) => {
            let sentence = say("error-check.several-labs");
            Err(CommandError::new(Kind::Usage, sentence).hint(say("hint-check.several-labs")))
        }
    }
}

fn list(arguments: &JsonArguments) -> Result<ExitCode, CommandError> {
    let labs = lab::list()?;
    if arguments.json {
        let labs = labs.iter().map(|lab| ListedLab {
            name: &lab.name,
            up: lab.up,
            nodes: &lab.nodes,
            supervisor: lab.supervisor,
            troubles: &lab.troubles,
        });
        stdout_and_stderr::print_json(&LabList {
            labs: labs.collect(),
        });
    } else if labs.is_empty() {
        stdout_and_stderr::print(&text("error-check.no-lab"));
    } else {
        let rows: Vec<Vec<String>> = labs
            .iter()
            .map(|lab| {
                let state = match lab.up {
                    true => "told-check.state-up",
                    false => "told-check.state-not-ready",
                };
                vec![
                    lab.name.clone(),
                    text(state),
                    lab.nodes.join(", "),
                    lab.troubles.join("; "),
                ]
            })
            .collect();
        let headings = [
            "told-check.column-lab",
            "told-check.column-state",
            "told-check.column-nodes",
            "told-check.column-troubles",
        ];
        print_table(headings, &rows);
    }
    Ok(ExitCode::SUCCESS)
}

fn down(name: &str, json: bool) -> Result<ExitCode, CommandError> {
    let gone = lab::down(name)?;
    if json {
        stdout_and_stderr::print_json(&LabEnded {
            lab: &gone.name,
            nodes: gone.nodes,
            processes: gone.processes,
            took_ms: gone.took.as_millis(),
        });
    } else {
        let sentence = say("told-check.lab-down")
            .with("lab", gone.name)
            .count("nodes", gone.nodes)
            .count("processes", gone.processes);
        stdout_and_stderr::print(&said(&sentence));
    }
    Ok(ExitCode::SUCCESS)
}
