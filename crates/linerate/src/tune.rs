//! `linerate tune`: candidates from a check's fixes, a fair experiment over them, and what is proven stays.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use analysis::Fix;
use experiment::{Candidate, Durations, Ended, Hooks, Progress, TunePlan};
use host::change::{self, Change};
use host::journal::{self, Journal};
use host::knob;
use host::profile::Profile;
use measure::Stop;
use record::{Arm, Event, Level, Plan, Setting};
use serde_json::json;

use crate::args::{CheckArguments, OutputArguments, TuneArguments};
use crate::changes::look;
use crate::failure::{CommandError, Kind};
use crate::levers::SharedRecorder;
use crate::path::{SharePath, timing};
use crate::profiles::{self, Judged};
use crate::rig::PathRig;
use crate::runs::{self, Recorder};
use crate::{check, share, stop, terminal};

/// Time around the counted time of a trial: process, session, test file, warm-up.
const TRIAL_OVERHEAD: Duration = Duration::from_millis(1100);
/// Setting a level and waiting until it has settled.
const SWITCH: Duration = Duration::from_millis(300);

/// Runs `tune`.
pub fn run(arguments: &TuneArguments) -> Result<ExitCode, CommandError> {
    let typed = share::parse(&arguments.share)?;
    let stop = stop::listen()?;
    let path = SharePath::open(typed, &arguments.path)?;
    let plan = match profiles::asked(&arguments.profile)? {
        Some(profile) => plan_profile(arguments, &path, &profile)?,
        None => plan(arguments, find_fixes(arguments, &path, &stop)?)?,
    };
    let Some(plan) = plan else {
        terminal::print(match &arguments.profile.profile {
            Some(_) => "there is nothing to try: the profile changes nothing here",
            None => "there is nothing to try: the check found no change that promises anything",
        });
        return Ok(ExitCode::SUCCESS);
    };
    if arguments.persist {
        // Better refused now than when everything has been measured.
        let hosts: Vec<_> = path.hosts().into_iter().cloned().collect();
        for candidate in &plan.candidates {
            let kept = change::kept(&hosts, &knobs(&candidate.level))?;
            Change::plan(&hosts, &kept, "look")?;
        }
    }
    if arguments.dry_run {
        return dry_run(arguments, &path, &plan);
    }
    let file = experiment(arguments, &path, &plan, &journal::state_folder()?, &stop)?;
    let analysis = runs::show(&file, &arguments.output)?;
    Ok(runs::exit_code(&analysis))
}

/// A short check of the same path tells what could help.
fn find_fixes(
    arguments: &TuneArguments,
    path: &SharePath,
    stop: &Stop,
) -> Result<Vec<Fix>, CommandError> {
    let folder = tempfile_folder()?;
    let output = OutputArguments {
        json: arguments.output.json,
        run: Some(folder.path().join("check.jsonl")),
        html: None,
    };
    let check = CheckArguments {
        share: arguments.share.clone(),
        path: arguments.path.clone(),
        output,
        repetitions: 1,
        seconds: arguments.seconds.min(1.0),
        read_only: false,
        verbose: false,
    };
    let file = check::measure(&check, path, stop)?;
    let analysis = runs::read(&file)?;
    Ok(analysis
        .diagnosis
        .map(|diagnosis| diagnosis.fixes)
        .unwrap_or_default())
}

fn tempfile_folder() -> Result<tempfile::TempDir, CommandError> {
    tempfile::tempdir().map_err(|error| {
        CommandError::caused(Kind::Refused, "cannot make a temporary folder", &error)
    })
}

/// What to try; none where nothing can be.
pub fn plan(arguments: &TuneArguments, fixes: Vec<Fix>) -> Result<Option<TunePlan>, CommandError> {
    let asked = |fix: &Fix| arguments.only.is_empty() || arguments.only.contains(&fix.id);
    if let Some(unknown) = arguments
        .only
        .iter()
        .find(|id| !fixes.iter().any(|fix| fix.id == **id))
    {
        let known: Vec<&str> = fixes.iter().map(|fix| fix.id.as_str()).collect();
        return Err(CommandError::new(
            Kind::Usage,
            format!("the check proposes no change named `{unknown}`"),
        )
        .hint(format!("it proposes: {}", known.join(", "))));
    }
    let (candidates, blocked): (Vec<Fix>, Vec<Fix>) = fixes
        .into_iter()
        .filter(asked)
        .partition(|fix| fix.blocked.is_none());
    for fix in &blocked {
        let why = fix.blocked.as_deref().unwrap_or_default();
        terminal::say(&format!("not tried: {}: {why}", fix.text));
    }
    if candidates.is_empty() {
        return Ok(None);
    }
    let candidates = candidates.into_iter().map(|fix| Candidate {
        id: fix.id,
        level: fix.level,
    });
    plan_of(arguments, candidates.collect()).map(Some)
}

/// A profile is one candidate as a whole: what it says it would change is tried together.
fn plan_profile(
    arguments: &TuneArguments,
    path: &SharePath,
    profile: &Profile,
) -> Result<Option<TunePlan>, CommandError> {
    let judged = profiles::on_path(profile, path)?;
    // With `--json` the result is the one document, and the settings of the candidate are in it.
    if !arguments.output.json {
        judged.iter().for_each(Judged::show);
    }
    let level = profiles::level(profile, &judged);
    if level.settings.is_empty() {
        return Ok(None);
    }
    let id = format!("profile-{}", profile.name);
    plan_of(arguments, vec![Candidate { id, level }]).map(Some)
}

fn plan_of(
    arguments: &TuneArguments,
    candidates: Vec<Candidate>,
) -> Result<TunePlan, CommandError> {
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => random_seed()?,
    };
    let mut plan = TunePlan::new(candidates, seed);
    plan.blocks = usize::try_from(arguments.blocks).unwrap_or(usize::MAX);
    plan.band = arguments.band / 100.0;
    plan.check().map_err(|error| {
        CommandError::from_error(Kind::Usage, &error).hint("see `linerate tune --help`")
    })?;
    Ok(plan)
}

pub fn random_seed() -> Result<u64, CommandError> {
    let seed = getrandom::u64();
    seed.map_err(|error| {
        CommandError::new(
            Kind::Internal,
            format!("the system has no random numbers: {error}"),
        )
    })
}

/// The whole schedule and the very commands; nothing is touched.
fn dry_run(
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
    let hosts: Vec<_> = path.hosts().into_iter().cloned().collect();
    let mut commands = Vec::new();
    for candidate in &plan.candidates {
        let mut knobs: Vec<Setting> = knobs(&candidate.level);
        if arguments.persist {
            knobs.extend(change::kept(&hosts, &knobs)?);
        }
        let change = Change::plan(&hosts, &knobs, "dry-run")?;
        commands.push((candidate, change.commands()));
    }
    if arguments.output.json {
        let candidates = commands.iter().map(|(candidate, commands)| {
            let commands = commands.iter().map(|(host, command)| json!({"host": host, "argv": command.argv}));
            json!({ "id": candidate.id, "name": candidate.level.name, "settings": candidate.level.settings,
                "commands": commands.collect::<Vec<_>>() })
        });
        let phases = preview.phases.iter().map(|phase| {
            json!({ "schedule": phase.schedule, "trials": phase.trials, "wash_outs": phase.wash_outs,
                "seconds": phase.duration.as_secs_f64(), "certain": phase.certain })
        });
        terminal::print_json(&json!({
            "dry_run": true, "seed": plan.seed, "candidates": candidates.collect::<Vec<_>>(),
            "phases": phases.collect::<Vec<_>>(),
            "seconds": [preview.at_least.as_secs_f64(), preview.at_most.as_secs_f64()],
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = preview
        .phases
        .iter()
        .map(|phase| {
            let order = phase
                .schedule
                .blocks
                .iter()
                .map(|block| block.iter().map(arm).collect::<String>());
            vec![
                phase.schedule.experiment.clone(),
                format!("{:?}", phase.schedule.phase).to_lowercase(),
                order.collect::<Vec<_>>().join(" "),
                phase.trials.to_string(),
                format!(
                    "{:.0} s{}",
                    phase.duration.as_secs_f64(),
                    if phase.certain { "" } else { " if it wins" }
                ),
            ]
        })
        .collect();
    terminal::print(&report::table(
        &["experiment", "phase", "order", "trials", "takes"],
        &rows,
        look(),
    ));
    for (candidate, commands) in &commands {
        terminal::print(&format!("`{}` would run:", candidate.level.name));
        for (host, command) in commands {
            terminal::print(&format!("  {host}: {}", knob::shown(command)));
        }
        if commands.is_empty() {
            terminal::print("  nothing: it is a setting of the session only");
        }
    }
    let seconds = [preview.at_least, preview.at_most].map(|duration| duration.as_secs());
    terminal::print(&format!(
        "seed {}; {} to {} s; nothing was changed",
        plan.seed, seconds[0], seconds[1]
    ));
    Ok(ExitCode::SUCCESS)
}

fn arm(arm: &Arm) -> char {
    match arm {
        Arm::A => 'A',
        Arm::B => 'B',
    }
}

fn knobs(level: &Level) -> Vec<Setting> {
    level
        .settings
        .iter()
        .filter(|setting| matches!(setting, Setting::Knob { .. }))
        .cloned()
        .collect()
}

/// Runs the experiment and gives the run file; the journal of its changes is in `state`.
pub fn experiment(
    arguments: &TuneArguments,
    path: &SharePath,
    plan: &TunePlan,
    state: &Path,
    stop: &Stop,
) -> Result<PathBuf, CommandError> {
    let counted = timing(arguments.seconds)?;
    let candidates: Vec<Level> = plan
        .candidates
        .iter()
        .map(|candidate| candidate.level.clone())
        .collect();
    let any_knob = candidates.iter().any(|level| !knobs(level).is_empty());
    let header = Plan::Tune {
        share: path.share.address.clone(),
        candidates,
    };
    let recorder = Recorder::start(&arguments.output, header, plan.seed, &path.hosts())?;
    let file = recorder.path().to_owned();
    let journal = match any_knob {
        true => Some(Journal::open(state, &recorder.id)?),
        false => None,
    };
    let recorder = SharedRecorder(Rc::new(RefCell::new(recorder)));
    let rig = PathRig::new(path, journal, recorder.clone(), stop.clone(), counted);
    let mut rig = rig.persistent(arguments.persist);
    let phases = 1 + 2 * plan.candidates.len();
    let trials = phases * plan.blocks * 2 * plan.responses.len();
    let mut progress =
        terminal::Progress::new(u64::try_from(trials).unwrap_or(0), arguments.output.json);
    let mut stage = String::new();
    let mut tell = |event: Progress| tell(&mut progress, &mut stage, event);
    let mut sink = recorder.clone();
    let mut hooks = Hooks {
        sink: &mut sink,
        stop: &|| stop.is_asked(),
        progress: &mut tell,
    };
    let outcome = experiment::tune(&mut rig, plan, &mut hooks);
    drop(progress);
    let outcome = outcome.map_err(|error| {
        CommandError::from_error(Kind::Refused, &error).hint(format!(
            "see `linerate changes`; what was measured is in {}",
            file.display()
        ))
    })?;
    match outcome.ended {
        Ended::Finished => recorder.0.borrow_mut().event(Event::Finished)?,
        Ended::Stopped => return Err(stop::interrupted()),
        Ended::Failed(failure) => {
            return Err(CommandError::from(failure).while_doing("the experiment could not go on"));
        }
    }
    Ok(file)
}

/// Progress of an experiment, for people.
fn tell(progress: &mut terminal::Progress, stage: &mut String, event: Progress) {
    match event {
        Progress::PhaseBegins {
            experiment,
            phase,
            trials,
        } => {
            let what = match phase {
                record::Phase::SameAgainstSame => "baseline against itself",
                record::Phase::Compare => "compare",
                record::Phase::Confirm => "confirm on fresh trials",
            };
            *stage = format!("{experiment}: {what} ({trials} trials)");
            progress.stage(stage);
        }
        Progress::Setting { level } => progress.detail(&format!("setting {level}")),
        Progress::TrialBegins {
            block,
            arm,
            response,
            discarded,
            ..
        } => {
            let washes = if discarded { ", washing out" } else { "" };
            progress.detail(&format!(
                "block {}, arm {arm:?}, {response:?}{washes}",
                block + 1
            ));
        }
        Progress::TrialEnds { rate } => {
            progress.advance();
            if let Err(reason) = rate {
                progress.note(&format!("a trial failed: {reason}"));
            }
        }
        Progress::Decided {
            experiment,
            decision,
            reason,
        } => {
            progress.note(&format!("{experiment}: {decision:?}: {reason}").to_lowercase());
        }
        Progress::PuttingBack => progress.detail("putting everything back"),
    }
}
