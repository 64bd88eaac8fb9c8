//! `linerate tune`: candidates from a check's fixes, a fair experiment over them, and what is proven stays.

pub mod dry_run;
mod execute;
mod progress;
pub mod search;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use analysis::{Fix, RungName, stream_bytes};
use experiment::{Candidate, TunePlan};
use host::change::{self, Change};
use host::journal;
use host::profile::Profile;
use locale::{Message, said, say};
use measure::Stop;
use record::{Level, Setting};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{CheckArguments, OutputArguments, TuneArguments};
use crate::client_to_share_path::{SharePath, timing};
use crate::failure::{CommandError, Kind};
use crate::profiles::{self, Judged};
use crate::share_testbed::Load;
use crate::{
    changes, check, ctrl_c, fstab_of_mount, mounted_share, run_file_recorder, stdout_and_stderr,
    tune_through_mount,
};
use dry_run::dry_run;
use execute::carry_out;

pub use execute::Job;
use search::{proposals, search};

/// Time around the counted time of a trial: process, session, test file, warm-up.
const TRIAL_OVERHEAD: Duration = Duration::from_millis(1100);
/// Setting a level and waiting until it has settled.
const SWITCH: Duration = Duration::from_millis(300);

/// What `tune --json` prints where there is nothing to try.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NothingToTry {
    /// None.
    candidates: [(); 0],
    /// Why, in a sentence.
    reason: Message,
}

/// Runs `tune`.
pub fn run(arguments: &TuneArguments) -> Result<ExitCode, CommandError> {
    let began = Instant::now();
    let stop = ctrl_c::listen()?;
    changes::tell_leftovers();
    let through = (arguments.through, None);
    let path = mounted_share::open(&arguments.share, &arguments.path, through, &stop)?;
    let profile = profiles::asked(&arguments.profile)?;
    let (fixes, load) = match &profile {
        Some(_) => {
            path.knock(&stop)?;
            (Vec::new(), Load::BigFile)
        }
        None => find_fixes(arguments, &path, &stop)?,
    };
    let by_hand = match (arguments.persist, &path.mounted) {
        (true, Some(mounted)) => tune_through_mount::written(&fixes, mounted),
        _ => tune_through_mount::commands(&fixes),
    };
    if let (None, Some(goal)) = (&profile, arguments.goal) {
        let proposals = proposals(arguments, goal, &path, fixes, &stop)?;
        let proposals = (proposals, by_hand.as_slice(), load);
        return search((arguments, began), goal, &path, proposals, &stop);
    }
    let plan = match profile {
        Some(profile) => plan_profile(arguments, &path, &profile)?,
        None => plan(arguments, fixes)?,
    };
    let Some(plan) = plan else {
        let reason = say(match &arguments.profile.profile {
            Some(_) => "told-plan.profile-changes-nothing",
            None => "told-plan.no-fix-promises",
        });
        return Ok(nothing_to_try(arguments, reason));
    };
    if arguments.persist {
        for candidate in &plan.candidates {
            can_be_kept(arguments, &path, &candidate.level)?;
        }
    }
    if arguments.dry_run {
        return dry_run(arguments, &path, &plan);
    }
    let state = journal::state_folder()?;
    let job = Job {
        load,
        ..job(&plan, &by_hand)
    };
    let file = experiment((arguments, &state), &path, &job, &stop)?;
    let analysis = run_file_recorder::show(&file, &arguments.output)?;
    Ok(run_file_recorder::exit_code(&analysis))
}

fn nothing_to_try(arguments: &TuneArguments, reason: Message) -> ExitCode {
    if arguments.output.json {
        let candidates = [];
        stdout_and_stderr::print_json(&NothingToTry { candidates, reason });
    } else {
        let sentence = say("told-plan.nothing-to-try").with("reason", reason);
        stdout_and_stderr::print(&said(&sentence));
    }
    ExitCode::SUCCESS
}

/// Whether the hosts can be made to have this at their next start too: better refused now than when
/// everything has been measured.
fn can_be_kept(
    arguments: &TuneArguments,
    path: &SharePath,
    level: &Level,
) -> Result<(), CommandError> {
    let hosts: Vec<_> = path.hosts().into_iter().cloned().collect();
    let mut kept = change::kept(&hosts, &knobs(level))?;
    kept.extend(fstab_of_mount::kept(path, &arguments.path.login, level)?);
    Change::plan(&hosts, &kept, "look")?;
    Ok(())
}

/// A short check of the same path tells what could help, and so what has to be moved to prove it.
fn find_fixes(
    arguments: &TuneArguments,
    path: &SharePath,
    stop: &Stop,
) -> Result<(Vec<Fix>, Load), CommandError> {
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
        through: None,
    };
    let file = check::measure(&check, path, &check::PATH_RUNGS, stop)?;
    let analysis = run_file_recorder::read(&file)?;
    let rates = analysis.ladder.iter();
    let rates = rates.filter(|rung| rung.rung == RungName::SystemClient);
    let rates = rates.filter_map(|rung| Some(rung.rate.as_ref()?.value));
    let rate = rates.fold(0.0, f64::max);
    let fixes = analysis.diagnosis.map(|diagnosis| diagnosis.fixes);
    let fixes = fixes.unwrap_or_default();
    let Some(mounted) = &path.mounted else {
        return Ok((fixes, Load::BigFile));
    };
    let fixes = tune_through_mount::noticed(fixes);
    let (fixes, is_of_programs) = tune_through_mount::with_cache(fixes, mounted);
    let size = stream_bytes(rate, timing(arguments.seconds)?);
    Ok(match is_of_programs {
        true => (fixes, Load::Program(size)),
        false => (fixes, Load::BigFile),
    })
}

fn tempfile_folder() -> Result<tempfile::TempDir, CommandError> {
    tempfile::tempdir().map_err(|error| {
        let text = say("error-plan.no-temporary-folder");
        CommandError::caused(Kind::Refused, text, &error)
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
        let known: Vec<String> = fixes.iter().map(|fix| fix.id.clone()).collect();
        let text = say("error-plan.no-such-fix").with("id", unknown);
        let error = CommandError::new(Kind::Usage, text);
        return Err(error.hint(say("hint-plan.it-proposes").with("names", known)));
    }
    let (candidates, blocked): (Vec<Fix>, Vec<Fix>) = fixes
        .into_iter()
        .filter(asked)
        .partition(|fix| fix.blocked.is_none());
    for fix in &blocked {
        let why = fix.blocked.as_ref().map(said).unwrap_or_default();
        let sentence = say("candidate-untried.blocked").with("text", fix.text.clone());
        stdout_and_stderr::say(&said(&sentence.with("reason", why)));
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
        None => run_file_recorder::random_seed()?,
    };
    let mut plan = TunePlan::new(candidates, seed);
    plan.blocks = usize::try_from(arguments.blocks).unwrap_or(usize::MAX);
    plan.band = arguments.band / 100.0;
    plan.check().map_err(|error| {
        CommandError::from_error(Kind::Usage, &error).hint(say("hint-plan.tune-help"))
    })?;
    Ok(plan)
}

fn knobs(level: &Level) -> Vec<Setting> {
    level
        .settings
        .iter()
        .filter(|setting| matches!(setting, Setting::Knob { .. }))
        .cloned()
        .collect()
}

/// The experiment over all candidates of a plan, one after the other.
pub fn job<'a>(plan: &'a TunePlan, by_hand: &'a [(String, Message)]) -> Job<'a> {
    let phases = 1 + 2 * plan.candidates.len();
    Job {
        plan,
        trials: phases * plan.blocks * 2 * plan.responses.len(),
        load: Load::BigFile,
        warnings: &[],
        by_hand,
        left_out: &[],
    }
}

/// Runs the experiment and gives the run file; the journal of its changes is in the folder beside the arguments.
pub fn experiment(
    arguments: (&TuneArguments, &Path),
    path: &SharePath,
    job: &Job<'_>,
    stop: &Stop,
) -> Result<PathBuf, CommandError> {
    carry_out(arguments, path, job, stop, &mut |testbed, hooks| {
        experiment::tune(testbed, job.plan, hooks)
    })
}
