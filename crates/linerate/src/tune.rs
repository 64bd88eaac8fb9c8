//! `linerate tune`: candidates from a check's fixes, a fair experiment over them, and what is proven stays.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use analysis::Fix;
use experiment::{
    Candidate, Durations, Ended, Hooks, Progress, SearchPlan, Testbed, TuneOutcome, TunePlan,
};
use host::change::{self, Change};
use host::exec::Command;
use host::journal::{self, Journal};
use host::knob;
use host::profile::Profile;
use locale::{said, say, text};
use measure::Stop;
use record::{Arm, Decision, Direction, Event, HostName, Level, Plan, Setting};
use serde_json::json;

use crate::args::{CheckArguments, GoalArgument, OutputArguments, TuneArguments};
use crate::candidates::Proposal;
use crate::changes::style;
use crate::failure::{CommandError, Kind};
use crate::host_knobs::SharedRecorder;
use crate::path::{SharePath, timing};
use crate::profiles::{self, Judged};
use crate::runs::{self, Recorder};
use crate::testbed::{Load, ShareTestbed};
use crate::{candidates, changes, check, share, stop, terminal};

/// Time around the counted time of a trial: process, session, test file, warm-up.
const TRIAL_OVERHEAD: Duration = Duration::from_millis(1100);
/// Setting a level and waiting until it has settled.
const SWITCH: Duration = Duration::from_millis(300);

/// Runs `tune`.
pub fn run(arguments: &TuneArguments) -> Result<ExitCode, CommandError> {
    let began = Instant::now();
    let typed = share::parse(&arguments.share)?;
    let stop = stop::listen()?;
    changes::tell_leftovers();
    let path = SharePath::open(typed, &arguments.path, &stop)?;
    let profile = profiles::asked(&arguments.profile)?;
    if let (None, Some(goal)) = (&profile, arguments.goal) {
        let fixes = find_fixes(arguments, &path, &stop)?;
        let proposals = proposals(arguments, goal, &path, fixes, &stop)?;
        return search((arguments, began), goal, &path, proposals, &stop);
    }
    let plan = match profile {
        Some(profile) => {
            path.knock(&stop)?;
            plan_profile(arguments, &path, &profile)?
        }
        None => plan(arguments, find_fixes(arguments, &path, &stop)?)?,
    };
    let Some(plan) = plan else {
        let reason = match &arguments.profile.profile {
            Some(_) => "the profile changes nothing here",
            None => "the check found no change that promises anything",
        };
        return Ok(nothing_to_try(arguments, reason));
    };
    if arguments.persist {
        for candidate in &plan.candidates {
            can_be_kept(&path, &candidate.level)?;
        }
    }
    if arguments.dry_run {
        return dry_run(arguments, &path, &plan);
    }
    let state = journal::state_folder()?;
    let file = experiment(arguments, &path, &plan, &state, &stop)?;
    let analysis = runs::show(&file, &arguments.output)?;
    Ok(runs::exit_code(&analysis))
}

fn nothing_to_try(arguments: &TuneArguments, reason: &str) -> ExitCode {
    if arguments.output.json {
        terminal::print_json(&json!({ "candidates": [], "reason": reason }));
    } else {
        terminal::print(&format!("there is nothing to try: {reason}"));
    }
    ExitCode::SUCCESS
}

/// Whether the hosts can be made to have this at their next start too: better refused now than when
/// everything has been measured.
fn can_be_kept(path: &SharePath, level: &Level) -> Result<(), CommandError> {
    let hosts: Vec<_> = path.hosts().into_iter().cloned().collect();
    let kept = change::kept(&hosts, &knobs(level))?;
    Change::plan(&hosts, &kept, "look")?;
    Ok(())
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
        verbose: false,
    };
    let check = CheckArguments {
        share: arguments.share.clone(),
        path: arguments.path.clone(),
        output,
        repetitions: Some(1),
        seconds: arguments.seconds.min(1.0),
        quick: true,
        thorough: false,
        into: None,
        read_only: false,
    };
    let file = check::measure(&check, path, &check::PATH_RUNGS, stop)?;
    let analysis = runs::read(&file)?;
    Ok(analysis
        .diagnosis
        .map(|diagnosis| diagnosis.fixes)
        .unwrap_or_default())
}

/// What a search tries: all that is worth it, or what the user names of it.
fn proposals(
    arguments: &TuneArguments,
    goal: GoalArgument,
    path: &SharePath,
    fixes: Vec<Fix>,
    stop: &Stop,
) -> Result<Vec<Proposal>, CommandError> {
    let session = path.knock(stop)?;
    let mut proposals = candidates::propose(path, goal, fixes, &session)?;
    if !arguments.only.is_empty() {
        let known: Vec<String> = proposals
            .iter()
            .map(|one| one.candidate.id.clone())
            .collect();
        if let Some(unknown) = arguments.only.iter().find(|id| !known.contains(id)) {
            let text = format!("there is no candidate named `{unknown}`");
            return Err(CommandError::new(Kind::Usage, text)
                .hint(format!("there are: {}", known.join(", "))));
        }
        proposals.retain(|one| arguments.only.contains(&one.candidate.id));
    }
    if arguments.persist {
        proposals.retain(|one| {
            let refused = can_be_kept(path, &one.candidate.level).err();
            if let Some(error) = &refused {
                let id = &one.candidate.id;
                let sentence = say("candidate-untried.not-kept").with("id", id);
                terminal::say(&said(&sentence.with("reason", error.text())));
            }
            refused.is_none()
        });
    }
    for one in proposals.iter().skip(experiment::CANDIDATES_MAX) {
        let (id, most) = (&one.candidate.id, experiment::CANDIDATES_MAX);
        let sentence = say("candidate-untried.too-many").with("id", id);
        terminal::say(&said(&sentence.count("most", most)));
    }
    proposals.truncate(experiment::CANDIDATES_MAX);
    Ok(proposals)
}

/// Searches for the best of all settings.
fn search(
    (arguments, began): (&TuneArguments, Instant),
    goal: GoalArgument,
    path: &SharePath,
    proposals: Vec<Proposal>,
    stop: &Stop,
) -> Result<ExitCode, CommandError> {
    let warnings: Vec<(String, String)> = proposals
        .iter()
        .filter_map(|one| Some((one.candidate.id.clone(), one.warning.clone()?)))
        .collect();
    let candidates: Vec<Candidate> = proposals.into_iter().map(|one| one.candidate).collect();
    if candidates.is_empty() {
        return Ok(nothing_to_try(
            arguments,
            "all is as the rules of thumb say",
        ));
    }
    // The check took its part already.
    let budget = arguments.budget.saturating_sub(began.elapsed());
    let (plan, left_out) = search_plan(arguments, goal, candidates, budget)?;
    if !left_out.is_empty() && !arguments.output.json {
        let names: Vec<String> = left_out.iter().map(|one| format!("`{}`", one.id)).collect();
        let budget = arguments.budget.as_secs();
        let sentence = say("candidate-untried.budget").count("seconds", budget);
        terminal::say(&said(&sentence.with("names", names.join(", "))));
    }
    if arguments.dry_run {
        return dry_search(arguments, path, &plan, &warnings, &left_out);
    }
    let job = Job {
        plan: &plan.tune,
        trials: plan.trials_max,
        load: match goal {
            GoalArgument::Latency => Load::ShortRequests,
            GoalArgument::SmallFiles => Load::SmallFiles,
            GoalArgument::Read | GoalArgument::Write | GoalArgument::Copy => Load::BigFile,
        },
        warnings: &warnings,
        left_out: &left_out,
    };
    let state = journal::state_folder()?;
    let file = carry_out(
        (arguments, &state),
        path,
        &job,
        stop,
        &mut |testbed, hooks| experiment::search(testbed, &plan, hooks),
    )?;
    let analysis = runs::show(&file, &arguments.output)?;
    Ok(runs::exit_code(&analysis))
}

/// The plan of what takes so long at most, and the candidates for which that is too short.
fn search_plan(
    arguments: &TuneArguments,
    goal: GoalArgument,
    candidates: Vec<Candidate>,
    budget: Duration,
) -> Result<(SearchPlan, Vec<Candidate>), CommandError> {
    let (responses, elsewhere) = match goal {
        GoalArgument::Read => (vec![Direction::Read], vec![Direction::Write]),
        GoalArgument::Write => (vec![Direction::Write], vec![Direction::Read]),
        GoalArgument::Copy | GoalArgument::SmallFiles => {
            (vec![Direction::Read, Direction::Write], Vec::new())
        }
        GoalArgument::Latency => (vec![Direction::Read], Vec::new()),
    };
    let seed = match arguments.seed {
        Some(seed) => seed,
        None => random_seed()?,
    };
    let counted = Duration::from(timing(arguments.seconds)?.measured);
    let trial = counted + TRIAL_OVERHEAD + SWITCH;
    let fitting = (budget.as_secs_f64() / trial.as_secs_f64()) as usize;
    let mut plan = SearchPlan {
        tune: TunePlan {
            responses,
            blocks: usize::try_from(arguments.blocks).unwrap_or(usize::MAX),
            band: arguments.band / 100.0,
            ..TunePlan::new(candidates, seed)
        },
        elsewhere,
        trials_max: fitting,
        budget: Some(budget),
    };
    let left_out = plan.fit();
    plan.check().map_err(|error| {
        let hint = "give it more time with `--budget`, or shorter trials with `--seconds`";
        CommandError::from_error(Kind::Usage, &error).hint(hint)
    })?;
    // The estimate is a careful one; how long trials take is learnt on the way.
    plan.trials_max = (2 * fitting).min(plan.trials_worth());
    Ok((plan, left_out))
}

/// What a search would try, and the very commands; nothing is touched.
fn dry_search(
    arguments: &TuneArguments,
    path: &SharePath,
    plan: &SearchPlan,
    warnings: &[(String, String)],
    left_out: &[Candidate],
) -> Result<ExitCode, CommandError> {
    let commands = commands(path, &plan.tune, arguments.persist)?;
    let [fewest, most] = plan.trials();
    let warning = |id: &str| {
        let mut warnings = warnings.iter();
        warnings
            .find(|(of, _)| of == id)
            .map(|(_, words)| words.as_str())
    };
    if arguments.output.json {
        let candidates = commands.iter().map(|(candidate, commands)| {
            let commands = commands
                .iter()
                .map(|(host, command)| json!({"host": host, "argv": command.argv}));
            json!({ "id": candidate.id, "settings": candidate.level.settings,
                "warning": warning(&candidate.id), "commands": commands.collect::<Vec<_>>() })
        });
        terminal::print_json(&json!({
            "dry_run": true, "seed": plan.tune.seed, "trials": [fewest, most],
            "candidates": candidates.collect::<Vec<_>>(),
            "left_out": told_left_out(left_out, arguments.budget),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    for (candidate, commands) in &commands {
        print_commands(&candidate.id, commands);
        if let Some(words) = warning(&candidate.id) {
            terminal::print(&format!("  if it is kept: {words}"));
        }
    }
    terminal::print(&format!(
        "seed {}; {fewest} to {most} trials: the start against itself, a screening, a race, and the \
         proof of what was found; nothing was changed",
        plan.tune.seed
    ));
    Ok(ExitCode::SUCCESS)
}

/// What is not tried for want of time, for programs.
fn told_left_out(left_out: &[Candidate], budget: Duration) -> Vec<serde_json::Value> {
    let reason = too_short(budget);
    left_out
        .iter()
        .map(|one| json!({ "id": one.id, "reason": reason }))
        .collect()
}

fn too_short(budget: Duration) -> String {
    let seconds = budget.as_secs();
    format!("the time of {seconds} s is too short; `--budget` gives more")
}

type Commands<'a> = Vec<(&'a Candidate, Vec<(HostName, Command)>)>;

/// What each candidate would run.
fn commands<'a>(
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

fn print_commands(name: &str, commands: &[(HostName, Command)]) {
    terminal::print(&format!("`{name}` would run:"));
    for (host, command) in commands {
        terminal::print(&format!("  {host}: {}", knob::shown(command)));
    }
    if commands.is_empty() {
        terminal::print("  nothing: it is a setting of the session only");
    }
}

fn tempfile_folder() -> Result<tempfile::TempDir, CommandError> {
    tempfile::tempdir().map_err(|error| {
        CommandError::caused(Kind::Refused, "cannot make a temporary folder", &error)
    })
}

/// What to try; none where nothing can be.
pub fn plan(arguments: &TuneArguments, fixes: Vec<Fix>) -> Result<Option<TunePlan>, CommandError> {
    // What it was called before is understood.
    let names =
        |id: &str, fix: &Fix| fix.id == id || (id == "faster-way" && fix.id == "faster-path");
    let asked = |fix: &Fix| {
        let mut only = arguments.only.iter();
        arguments.only.is_empty() || only.any(|id| names(id, fix))
    };
    if let Some(unknown) = arguments
        .only
        .iter()
        .find(|id| !fixes.iter().any(|fix| names(id, fix)))
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
        let why = fix.blocked.as_ref().map(said).unwrap_or_default();
        let sentence = say("candidate-untried.blocked").with("text", fix.text.clone());
        terminal::say(&said(&sentence.with("reason", why)));
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
    let commands = commands(path, plan, arguments.persist)?;
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
    terminal::print_drawn(&report::table(
        &["experiment", "phase", "order", "trials", "takes"],
        &rows,
        style(),
    ));
    for (candidate, commands) in &commands {
        print_commands(&candidate.id, commands);
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
    let phases = 1 + 2 * plan.candidates.len();
    let trials = phases * plan.blocks * 2 * plan.responses.len();
    let job = Job {
        plan,
        trials,
        load: Load::BigFile,
        warnings: &[],
        left_out: &[],
    };
    carry_out(
        (arguments, state),
        path,
        &job,
        stop,
        &mut |testbed, hooks| experiment::tune(testbed, plan, hooks),
    )
}

/// What `tune` is about to do.
struct Job<'a> {
    plan: &'a TunePlan,
    /// The most trials.
    trials: usize,
    load: Load,
    /// What is to be said where a candidate is kept: its id, and the words.
    warnings: &'a [(String, String)],
    /// Candidates for which the time is too short.
    left_out: &'a [Candidate],
}

type Run<'a> =
    dyn FnMut(&mut dyn Testbed, &mut Hooks<'_>) -> Result<TuneOutcome, experiment::Error> + 'a;

/// Makes the run file, the journal and the testbed, and runs it.
fn carry_out(
    (arguments, state): (&TuneArguments, &Path),
    path: &SharePath,
    job: &Job<'_>,
    stop: &Stop,
    run: &mut Run<'_>,
) -> Result<PathBuf, CommandError> {
    let plan = job.plan;
    let counted = timing(arguments.seconds)?;
    let candidates: Vec<Level> = plan
        .candidates
        .iter()
        .chain(job.left_out)
        .map(|candidate| candidate.level.clone())
        .collect();
    let any_knob = candidates.iter().any(|level| !knobs(level).is_empty());
    let header = Plan::Tune {
        share: path.share.address.clone(),
        candidates,
    };
    let recorder = Recorder::start(
        &arguments.output,
        (&arguments.share, &arguments.path.login),
        header,
        plan.seed,
        &path.hosts(),
    )?;
    let file = recorder.path().to_owned();
    let journal = match any_knob {
        true => Some(Journal::open(state, &recorder.id)?),
        false => None,
    };
    let recorder = SharedRecorder(Rc::new(RefCell::new(recorder)));
    let mut testbed = ShareTestbed::new(path, journal, recorder.clone(), stop.clone(), counted)
        .persistent(arguments.persist)
        .moving(job.load);
    let trials = u64::try_from(job.trials).unwrap_or(0);
    let mut progress = terminal::Progress::new(trials, arguments.output.json);
    let mut stage = String::new();
    let mut tell = |event: Progress| tell(&mut progress, &mut stage, event);
    let mut sink = recorder.clone();
    let mut hooks = Hooks {
        sink: &mut sink,
        stop: &|| stop.is_asked(),
        progress: &mut tell,
    };
    let outcome = run(&mut testbed, &mut hooks);
    drop(progress);
    let outcome = outcome.map_err(|error| {
        CommandError::from_error(Kind::Refused, &error).hint(format!(
            "see `linerate changes`; what was measured is in {}",
            file.display()
        ))
    })?;
    match outcome.ended {
        Ended::Finished => {
            for candidate in job.left_out {
                recorder.0.borrow_mut().event(Event::Decided {
                    experiment: candidate.id.clone(),
                    decision: Decision::Returned,
                    reason: too_short(arguments.budget),
                })?;
            }
            for (id, warning) in job.warnings {
                let mut decisions = outcome.decisions.iter();
                if decisions.any(|one| one.experiment == *id && one.decision == Decision::Kept) {
                    let text = format!("`{id}` is kept: {warning}");
                    recorder.0.borrow_mut().event(Event::Note { text })?;
                }
            }
            recorder.0.borrow_mut().event(Event::Finished)?;
        }
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
                record::Phase::SameAgainstSame => "stage.baseline",
                record::Phase::Compare => "stage.compare",
                record::Phase::Confirm => "stage.confirm",
            };
            let what = say(what).with("experiment", experiment);
            *stage = said(&what.count("trials", trials));
            progress.stage(stage);
        }
        Progress::RoundBegins { what, trials } => {
            *stage = said(
                &say("stage.round")
                    .with("what", what)
                    .count("trials", trials),
            );
            progress.stage(stage);
        }
        Progress::Found { text } => progress.note(&text),
        Progress::Setting { level } => {
            progress.detail(&said(&say("step.setting").with("level", level)));
        }
        Progress::TrialBegins {
            block,
            arm,
            response,
            discarded,
            ..
        } => {
            let step = say("step.block")
                .count("block", u64::from(block) + 1)
                .with("arm", format!("{arm:?}"))
                .with("direction", response)
                .with_known("discarded", discarded.then_some(""));
            progress.detail(&said(&step));
        }
        Progress::TrialEnds { rate } => {
            progress.advance();
            if let Err(reason) = rate {
                progress.note(&said(&say("trial-failed").with("reason", reason)));
            }
        }
        Progress::Decided {
            experiment,
            decision,
            reason,
        } => {
            progress.note(&format!("{experiment}: {decision:?}: {reason}").to_lowercase());
        }
        Progress::Restoring => progress.detail(&text("step.restoring")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{self, Arguments};

    fn typed(goal: &str) -> TuneArguments {
        let words = ["linerate", "tune", "smb://nas/media", "--goal", goal];
        match Arguments::try_parse_from(words)
            .expect("as one types it")
            .command
        {
            args::Command::Tune(arguments) => arguments,
            other => panic!("{other:?}"),
        }
    }

    fn candidate(id: &str) -> Candidate {
        Candidate {
            id: id.into(),
            level: Level {
                name: id.into(),
                settings: vec![Setting::Workload {
                    field: id.into(),
                    value: record::Value::Integer(32),
                }],
            },
        }
    }

    /// What counts and what is only looked at, as the goal has it.
    #[test]
    fn small_files_count_both_ways() {
        let responses = |name: &str| {
            let arguments = typed(name);
            let goal = arguments.goal.expect("it was given");
            let candidates = vec![candidate("depth")];
            let (plan, left_out) =
                search_plan(&arguments, goal, candidates, arguments.budget).expect("it fits");
            assert_eq!(left_out, Vec::new());
            (plan.tune.responses, plan.elsewhere)
        };
        let both = vec![Direction::Read, Direction::Write];
        assert_eq!(responses("small-files"), (both.clone(), Vec::new()));
        assert_eq!(responses("copy"), (both, Vec::new()));
        let [read, write] = [Direction::Read, Direction::Write].map(|way| vec![way]);
        assert_eq!(responses("read"), (read, write));
    }

    /// The check before it has taken of the same time.
    #[test]
    fn a_search_is_planned_for_the_time_that_is_left_and_tells_what_that_leaves_out() {
        let arguments = typed("latency");
        let goal = arguments.goal.expect("it was given");
        let candidates: Vec<Candidate> = ["a", "b", "c", "d", "e"].map(candidate).into();
        let planned = |budget| search_plan(&arguments, goal, candidates.clone(), budget);
        let (whole, left_out) = planned(arguments.budget).expect("it fits");
        assert_eq!(left_out, Vec::new());
        let left = Duration::from_secs(80);
        let (short, left_out) = planned(left).expect("some fit");
        assert_eq!(short.budget, Some(left));
        assert!(short.trials_max < whole.trials_max);
        let told = told_left_out(&left_out, arguments.budget);
        let reason = too_short(arguments.budget);
        assert_eq!(told, [json!({ "id": "e", "reason": reason })]);
        planned(Duration::ZERO).expect_err("nothing fits");
    }
}
