//! What `tune` would do, and the very commands of each candidate; nothing is touched.

use std::process::ExitCode;
use std::time::Duration;

use experiment::{Candidate, Durations, Preview, TunePlan};
use host::change::{self, Change};
use host::exec::Command;
use host::knob;
use locale::{said, say, text};
use record::{Arm, HostName, Phase};
use serde_json::{Value, json};

use super::{SWITCH, TRIAL_OVERHEAD, knobs};
use crate::args::TuneArguments;
use crate::bench::table;
use crate::failure::{CommandError, Kind};
use crate::path::{SharePath, timing};
use crate::terminal;

type Commands<'a> = Vec<(&'a Candidate, Vec<(HostName, Command)>)>;

/// What each candidate would run.
pub(super) fn commands<'a>(
    path: &SharePath,
    plan: &'a TunePlan,
    persist: bool,
) -> Result<Commands<'a>, CommandError> {
    let hosts: Vec<_> = path.hosts().into_iter().cloned().collect();
    let planned = plan.candidates.iter().map(|candidate| {
        let mut knobs = knobs(&candidate.level);
        if persist {
            knobs.extend(change::kept(&hosts, &knobs)?);
        }
        let change = Change::plan(&hosts, &knobs, "dry-run")?;
        Ok((candidate, change.commands()))
    });
    planned.collect()
}

pub(super) fn print_commands(name: &str, commands: &[(HostName, Command)]) {
    let heading = say("told-plan.would-run").with("what", format!("`{name}`"));
    terminal::print(&said(&heading));
    for (host, command) in commands {
        terminal::print(&format!("  {host}: {}", knob::shown(command)));
    }
    if commands.is_empty() {
        terminal::print(&format!("  {}", text("told-plan.runs-nothing")));
    }
}

/// The whole schedule and the very commands; nothing is touched.
pub(super) fn dry_run(
    arguments: &TuneArguments,
    path: &SharePath,
    plan: &TunePlan,
) -> Result<ExitCode, CommandError> {
    let counted = Duration::from(timing(arguments.seconds)?.measured);
    let durations = Durations {
        trial: counted + TRIAL_OVERHEAD,
        wash_out: counted / 4 + TRIAL_OVERHEAD,
        switch: SWITCH,
    };
    let preview = plan
        .preview(&durations)
        .map_err(|error| CommandError::from_error(Kind::Usage, &error))?;
    let commands = commands(path, plan, arguments.persist)?;
    if arguments.output.json {
        terminal::print_json(&as_json(plan, &preview, &commands));
        return Ok(ExitCode::SUCCESS);
    }
    terminal::print_drawn(&schedule(&preview));
    for (candidate, commands) in &commands {
        print_commands(&candidate.id, commands);
    }
    let takes = say("told-plan.tune-takes")
        .with("seed", plan.seed.to_string())
        .count("least", preview.at_least.as_secs())
        .count("most", preview.at_most.as_secs());
    terminal::print(&said(&takes));
    Ok(ExitCode::SUCCESS)
}

/// The whole schedule and the commands, for programs.
fn as_json(plan: &TunePlan, preview: &Preview, commands: &Commands<'_>) -> Value {
    let candidates = commands.iter().map(|(candidate, commands)| {
        let commands = commands
            .iter()
            .map(|(host, command)| json!({"host": host, "argv": command.argv}));
        json!({ "id": candidate.id, "name": candidate.level.name, "settings": candidate.level.settings,
            "commands": commands.collect::<Vec<_>>() })
    });
    let phases = preview.phases.iter().map(|phase| {
        json!({ "schedule": phase.schedule, "trials": phase.trials, "wash_outs": phase.wash_outs,
            "seconds": phase.duration.as_secs_f64(), "certain": phase.certain })
    });
    json!({
        "dry_run": true, "seed": plan.seed, "candidates": candidates.collect::<Vec<_>>(),
        "phases": phases.collect::<Vec<_>>(),
        "seconds": [preview.at_least.as_secs_f64(), preview.at_most.as_secs_f64()],
    })
}

/// The phases as a table, each with the order of its arms.
fn schedule(preview: &Preview) -> String {
    let rows: Vec<Vec<String>> = preview
        .phases
        .iter()
        .map(|phase| {
            let order = phase
                .schedule
                .blocks
                .iter()
                .map(|block| block.iter().map(arm).collect::<String>());
            let takes = say(match phase.certain {
                true => "told-plan.seconds",
                false => "told-plan.seconds-if-won",
            });
            let seconds = format!("{:.0}", phase.duration.as_secs_f64());
            vec![
                phase.schedule.experiment.clone(),
                phase_name(phase.schedule.phase),
                order.collect::<Vec<_>>().join(" "),
                phase.trials.to_string(),
                said(&takes.with("seconds", seconds)),
            ]
        })
        .collect();
    let headings = [
        "told-plan.column-experiment",
        "told-plan.column-phase",
        "told-plan.column-order",
        "column.trials",
        "told-plan.column-takes",
    ];
    table(headings, &rows)
}

fn phase_name(phase: Phase) -> String {
    match phase {
        Phase::SameAgainstSame => text("told-plan.phase-same"),
        phase => said(&phase.into()),
    }
}

fn arm(arm: &Arm) -> char {
    match arm {
        Arm::A => 'A',
        Arm::B => 'B',
    }
}
