//! What `tune` would do, and the very commands of each candidate; nothing is touched.

use std::process::ExitCode;
use std::time::Duration;

use experiment::{Candidate, Durations, Preview, TunePlan};
use host::change::{self, Change};
use host::exec::Command;
use host::knob;
use locale::{said, say, text};
use record::{Arm, HostName, Phase, Schedule, Setting};
use schemars::JsonSchema;
use serde::Serialize;

use super::{SWITCH, TRIAL_OVERHEAD, knobs};
use crate::args::TuneArguments;
use crate::bench::table;
use crate::client_to_share_path::{SharePath, timing};
use crate::failure::{CommandError, Kind};
use crate::host_command_json::HostCommand;
use crate::{fstab_of_mount, stdout_and_stderr, tune_through_mount};

/// What `tune --dry-run --json` prints without a goal.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TunePreview<'a> {
    /// True.
    dry_run: bool,
    /// The seed of the order.
    seed: u64,
    /// What would be tried, in this order.
    candidates: Vec<PlannedCandidate<'a>>,
    /// The phases of the experiments, in their order.
    phases: Vec<PlannedPhase<'a>>,
    /// How long all of it takes, in seconds: where no candidate wins, and where each does.
    seconds: [f64; 2],
}

/// A change that would be tried.
#[derive(Debug, Serialize, JsonSchema)]
struct PlannedCandidate<'a> {
    /// Its id, for `--only`.
    id: &'a str,
    /// How people call it.
    name: &'a str,
    /// What it sets, as run files keep it.
    settings: &'a [Setting],
    /// The commands that set it; none where it is of the client's own requests.
    commands: Vec<HostCommand<'a>>,
}

/// A phase of an experiment.
#[derive(Debug, Serialize, JsonSchema)]
struct PlannedPhase<'a> {
    /// Its question and the order of its arms, as run files keep them.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    schedule: &'a Schedule,
    /// Trials that count.
    trials: usize,
    /// Trials after a change that do not.
    wash_outs: usize,
    /// How long it takes, in seconds.
    seconds: f64,
    /// Whether it is run in any case, not only if the candidate wins.
    certain: bool,
}

type Commands<'a> = Vec<(&'a Candidate, Vec<(HostName, Command)>)>;

/// What each candidate would run.
pub(super) fn commands<'a>(
    path: &SharePath,
    plan: &'a TunePlan,
    arguments: &TuneArguments,
) -> Result<Commands<'a>, CommandError> {
    let hosts: Vec<_> = path.hosts().into_iter().cloned().collect();
    let planned = plan.candidates.iter().map(|candidate| {
        let mut knobs = knobs(&candidate.level);
        if arguments.persist {
            knobs.extend(change::kept(&hosts, &knobs)?);
            let login = &arguments.path.login;
            knobs.extend(fstab_of_mount::kept(path, login, &candidate.level)?);
        }
        let change = Change::plan(&hosts, &knobs, "dry-run")?;
        Ok((candidate, change.commands()))
    });
    planned.collect()
}

pub(super) fn print_commands(candidate: &Candidate, commands: &[(HostName, Command)]) {
    let heading = say("told-plan.would-run").with("what", format!("`{}`", candidate.id));
    stdout_and_stderr::print(&said(&heading));
    if let Some(options) = tune_through_mount::options(&candidate.level) {
        let mounts = say("told-plan.mounts-with").with("options", options);
        stdout_and_stderr::print(&format!("  {}", said(&mounts)));
        if commands.is_empty() {
            return;
        }
    }
    for (host, command) in commands {
        stdout_and_stderr::print(&format!("  {host}: {}", knob::shown(command)));
    }
    if commands.is_empty() {
        stdout_and_stderr::print(&format!("  {}", text("told-plan.runs-nothing")));
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
    let commands = commands(path, plan, arguments)?;
    if arguments.output.json {
        stdout_and_stderr::print_json(&as_json(plan, &preview, &commands));
        return Ok(ExitCode::SUCCESS);
    }
    stdout_and_stderr::print_drawn(&schedule(&preview));
    for (candidate, commands) in &commands {
        print_commands(candidate, commands);
    }
    let takes = say("told-plan.tune-takes")
        .with("seed", plan.seed.to_string())
        .count("least", preview.at_least.as_secs())
        .count("most", preview.at_most.as_secs());
    stdout_and_stderr::print(&said(&takes));
    Ok(ExitCode::SUCCESS)
}

/// The whole schedule and the commands, for programs.
fn as_json<'a>(
    plan: &TunePlan,
    preview: &'a Preview,
    commands: &'a Commands<'_>,
) -> TunePreview<'a> {
    let candidates = commands.iter();
    let candidates = candidates.map(|(candidate, commands)| PlannedCandidate {
        id: &candidate.id,
        name: &candidate.level.name,
        settings: &candidate.level.settings,
        commands: HostCommand::all(commands),
    });
    let phases = preview.phases.iter().map(|phase| PlannedPhase {
        schedule: &phase.schedule,
        trials: phase.trials,
        wash_outs: phase.wash_outs,
        seconds: phase.duration.as_secs_f64(),
        certain: phase.certain,
    });
    TunePreview {
        dry_run: true,
        seed: plan.seed,
        candidates: candidates.collect(),
        phases: phases.collect(),
        seconds: [preview.at_least, preview.at_most].map(|time| time.as_secs_f64()),
    }
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
