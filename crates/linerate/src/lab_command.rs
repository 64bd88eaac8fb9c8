//! `linerate lab`: a LAN on this machine.

use std::path::Path;
use std::process::ExitCode;

use lab::{Launcher, Ran, Topology};
use serde_json::json;

use crate::args::{JsonArguments, LabCommand};
use crate::changes::style;
use crate::failure::{CommandError, Kind};
use crate::{hosts, stop, terminal};

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
        LabCommand::Run { host, command } => run_on(host, command),
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
                    terminal::print_json(&json!({ "dry_run": true, "lab": name }));
                } else {
                    terminal::print(&format!("the lab `{name}` would be taken down"));
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
        let list: Vec<_> = lessons
            .map(|(name, lesson)| {
                json!({ "name": name, "title": lesson.title, "causes": lesson.both_ends.causes })
            })
            .collect();
        terminal::print_json(&json!({ "scenarios": list }));
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<_> = lessons
        .map(|(name, lesson)| vec![name.to_owned(), lesson.title.clone()])
        .collect();
    terminal::print_drawn(&report::table(&["name", "what is wrong"], &rows, style()));
    terminal::print("hint: `linerate lab up --scenario NAME` builds one");
    Ok(ExitCode::SUCCESS)
}

fn name_of(file: &Path) -> Result<String, CommandError> {
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    stem.map(str::to_owned).ok_or_else(|| {
        CommandError::new(
            Kind::Usage,
            format!("`{}` gives no name for a lab", file.display()),
        )
        .hint("name it with `--name NAME`")
    })
}

fn describe(name: &str, topology: &Topology, json: bool, dry_run: bool) {
    if json {
        terminal::print_json(&json!({
            "dry_run": dry_run,
            "lab": name,
            "hosts": topology.hosts.iter().map(|host| format!("lab://{name}/{host}")).collect::<Vec<_>>(),
            "shares": topology.shares().iter().map(ToString::to_string).collect::<Vec<_>>(),
        }));
        return;
    }
    let what = if dry_run { "would be built" } else { "is up" };
    terminal::print(&format!("lab `{name}` {what}"));
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
            .map_or_else(|| "unlimited".to_owned(), report::quantity::line_rate);
        let delay = link
            .delay
            .map(|delay| format!(", {} ms later", delay.as_secs_f64() * 1000.0));
        let rate = rate + &delay.unwrap_or_default();
        rows.push(vec![end(0), end(1), rate]);
    }
    terminal::print_drawn(&report::table(
        &["one end", "other end", "rate"],
        &rows,
        style(),
    ));
    for share in topology.shares() {
        terminal::print(&format!("share {share}"));
    }
    if let Some(host) = topology.hosts.first() {
        terminal::print(&format!(
            "hint: linerate lab run {name}/{host} -- ip -br addr; user and password of the share are in {} on each host",
            lab::CREDENTIALS_IN_HOST
        ));
    }
}

fn run_on(typed: &str, command: &[String]) -> Result<ExitCode, CommandError> {
    let full = match (typed.starts_with("lab://"), typed.contains('/')) {
        (true, _) => typed.to_owned(),
        (false, true) => format!("lab://{typed}"),
        (false, false) => format!("lab://{}/{typed}", only_one()?),
    };
    let hosts::Named::Lab { lab, host } = hosts::parse(&full)? else {
        return Err(
            CommandError::new(Kind::Usage, format!("`{typed}` is no host of a lab"))
                .hint("`linerate lab list` shows them"),
        );
    };
    match lab::find(&lab)?.run(&host, command)? {
        Ran::Ended(status) => Ok(ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX))),
        Ran::Stopped => Err(stop::interrupted()),
    }
}

fn only_one() -> Result<String, CommandError> {
    let mut labs = lab::list()?;
    match (labs.pop(), labs.len()) {
        (Some(only), 0) => Ok(only.name),
        (None, _) => Err(CommandError::new(Kind::Usage, "no lab is running")
            .hint("build one with `linerate lab up examples/two-links.toml`")),
        (Some(_), _) => Err(CommandError::new(Kind::Usage, "several labs are running")
            .hint("name one of them; `linerate lab list` shows them")),
    }
}

fn list(arguments: &JsonArguments) -> Result<ExitCode, CommandError> {
    let labs = lab::list()?;
    if arguments.json {
        let labs: Vec<_> = labs
            .iter()
            .map(|lab| {
                json!({ "name": lab.name, "up": lab.up, "nodes": lab.nodes,
                    "supervisor": lab.supervisor, "troubles": lab.troubles })
            })
            .collect();
        terminal::print_json(&json!({ "labs": labs }));
    } else if labs.is_empty() {
        terminal::print("no lab is running");
    } else {
        let rows: Vec<Vec<String>> = labs
            .iter()
            .map(|lab| {
                let state = if lab.up { "up" } else { "not ready" };
                vec![
                    lab.name.clone(),
                    state.into(),
                    lab.nodes.join(", "),
                    lab.troubles.join("; "),
                ]
            })
            .collect();
        terminal::print_drawn(&report::table(
            &["lab", "state", "hosts and switches", "troubles"],
            &rows,
            style(),
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn down(name: &str, json: bool) -> Result<ExitCode, CommandError> {
    let gone = lab::down(name)?;
    if json {
        terminal::print_json(&json!({
            "lab": gone.name, "nodes": gone.nodes, "processes": gone.processes,
            "took_ms": gone.took.as_millis(),
        }));
    } else {
        terminal::print(&format!(
            "lab `{}` is down: {} hosts and switches with {} processes are gone",
            gone.name, gone.nodes, gone.processes
        ));
    }
    Ok(ExitCode::SUCCESS)
}
