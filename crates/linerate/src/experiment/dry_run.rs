//! What an experiment would do, and how long it takes; nothing is touched.

use std::time::Duration;

use experiment::{Visit, visits};
use host::change::Change;
use host::exec::Command;
use host::knob;
use locale::{said, say, text};
use record::sanitized_text::clean;
use record::{Design, HostName, Workload};
use schemars::JsonSchema;
use serde::Serialize;

use super::workload_fields;
use crate::args::ExperimentArguments;
use crate::bench::recipe_run::trial_seconds;
use crate::bench::recipe_target::Target;
use crate::bench::table;
use crate::failure::CommandError;
use crate::host_command_json::HostCommand;
use crate::stdout_and_stderr;

/// Setting an arm and waiting until it has settled.
const SWITCH: Duration = Duration::from_millis(300);

/// What `experiment run --dry-run --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExperimentPlan<'a> {
    /// True.
    dry_run: bool,
    /// The seed of the order.
    seed: u64,
    /// Factors, arms, blocks and responses, as run files keep them.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    design: &'a Design,
    /// Names of the arms, by their numbers in the design.
    arms: Vec<String>,
    /// What each level of each factor would run.
    commands: Vec<LevelCommands<'a>>,
    /// How long all of it takes, about, in seconds.
    seconds: u64,
}

/// What a level would run.
#[derive(Debug, Serialize, JsonSchema)]
struct LevelCommands<'a> {
    /// The factor.
    factor: &'a str,
    /// The level.
    level: &'a str,
    /// The commands that set it; none where it is so already.
    commands: Vec<HostCommand<'a>>,
}

pub(super) fn dry_run(
    arguments: &ExperimentArguments,
    design: &Design,
    target: &Target,
    seed: u64,
) -> Result<(), CommandError> {
    let commands = commands(design, target)?;
    let seconds = seconds(design).ceil() as u64;
    let names = arm_names(design);
    if arguments.output.json {
        let commands = commands.iter();
        let commands = commands.map(|(factor, level, commands)| LevelCommands {
            factor,
            level,
            commands: HostCommand::all(commands),
        });
        stdout_and_stderr::print_json(&ExperimentPlan {
            dry_run: true,
            seed,
            design,
            arms: names,
            commands: commands.collect(),
            seconds,
        });
        return Ok(());
    }
    let heading = say("told-plan.design")
        .with("title", clean(&design.title))
        .with("form", design.message(&design.form))
        .count("arms", design.arms.len());
    stdout_and_stderr::print(&said(&heading));
    for alias in &design.aliases {
        let heading = text("design-row.aliased");
        stdout_and_stderr::print(&format!("  {heading} {}", clean(alias)));
    }
    stdout_and_stderr::print_drawn(&schedule(design, &names));
    let responses: Vec<&str> = design
        .responses
        .iter()
        .map(|response| response.name.as_str())
        .collect();
    let measures = say("told-plan.visit-measures");
    let measures = measures.with("responses", clean(&responses.join(", ")));
    stdout_and_stderr::print(&said(&measures));
    print_commands(&commands);
    let mut responses = design.responses.iter();
    let is_tcp = responses.all(|one| matches!(one.workload, Workload::Tcp(_)));
    let takes = say(match is_tcp {
        true => "told-plan.design-takes",
        false => "told-plan.design-takes-there",
    });
    let takes = takes.with("seed", seed.to_string());
    stdout_and_stderr::print(&said(&takes.count("seconds", seconds)));
    Ok(())
}

/// The commands of each level, after the names of its factor and itself.
type Commands<'a> = Vec<(&'a str, &'a str, Vec<(HostName, Command)>)>;

/// What each level would run.
fn commands<'a>(design: &'a Design, target: &Target) -> Result<Commands<'a>, CommandError> {
    let hosts: Vec<_> = target.hosts().into_iter().cloned().collect();
    let mut commands = Vec::new();
    for factor in &design.factors {
        for level in &factor.levels {
            let change = Change::plan(&hosts, &level.settings, "dry-run")?;
            commands.push((factor.name.as_str(), level.name.as_str(), change.commands()));
        }
    }
    Ok(commands)
}

fn print_commands(commands: &Commands<'_>) {
    for (factor, level, commands) in commands {
        let heading = say("told-plan.would-run").with("what", format!("{factor} {level}"));
        stdout_and_stderr::print(&clean(&said(&heading)));
        for (host, command) in commands {
            stdout_and_stderr::print(&format!("  {host}: {}", knob::shown(command)));
        }
        if commands.is_empty() {
            stdout_and_stderr::print(&format!("  {}", text("told-plan.runs-nothing-now")));
        }
    }
}

fn arm_names(design: &Design) -> Vec<String> {
    (0..design.arms.len())
        .map(|arm| {
            let level = u32::try_from(arm).ok().and_then(|arm| design.level(arm));
            level.map(|level| level.name).unwrap_or_default()
        })
        .collect()
}

/// The visits as a table, in their order.
fn schedule(design: &Design, names: &[String]) -> String {
    let rows: Vec<Vec<String>> = (1..)
        .zip(&design.blocks)
        .flat_map(|(block, row)| {
            (1..).zip(row).map(move |(place, arm): (usize, &u32)| {
                let name = names.get(*arm as usize).cloned().unwrap_or_default();
                let name = match Some(*arm) == design.baseline_replicate {
                    true => said(&say("told-plan.baseline-again").with("arm", name)),
                    false => name,
                };
                vec![format!("{block}"), format!("{place}"), name]
            })
        })
        .collect();
    let headings = [
        "told-plan.column-block",
        "told-plan.column-place",
        "column.arm",
    ];
    table(headings, &rows)
}

/// How long all of it takes, about, and at most what the budget allows; a width that is reached may end
/// it earlier.
pub(super) fn seconds(design: &Design) -> f64 {
    let of_visit = |visit: Visit| {
        let level = design.level(visit.arm);
        let of_trial = |workload: &Workload| {
            let whole = level
                .as_ref()
                .map(|level| workload_fields::workload(workload, level));
            trial_seconds(whole.and_then(Result::ok).as_ref().unwrap_or(workload))
        };
        let counted = design.responses.iter().map(|response| &response.workload);
        let trials: f64 = counted.chain(&visit.wash_out).map(of_trial).sum();
        let switches = 1 + u32::from(visit.away.is_some());
        trials + (SWITCH * switches).as_secs_f64()
    };
    let whole: f64 = visits(design).into_iter().map(of_visit).sum();
    let budget = design.stop.budget_seconds;
    budget.map_or(whole, |budget| whole.min(budget as f64))
}
