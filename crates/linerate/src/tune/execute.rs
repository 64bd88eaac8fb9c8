//! Runs the trials of a tune, with its run file, the journal of its changes, and the testbed.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use experiment::{Candidate, Ended, Hooks, Progress, Testbed, TuneOutcome, TunePlan};
use host::journal::Journal;
use locale::{Message, say};
use measure::Stop;
use record::{Decision, Event, Level, Plan};

use super::knobs;
use super::progress::tell;
use crate::args::TuneArguments;
use crate::client_to_share_path::{SharePath, timing};
use crate::failure::{CommandError, Kind};
use crate::fstab_of_mount::FstabLine;
use crate::knob_switching::SharedRecorder;
use crate::run_file_recorder::Recorder;
use crate::share_testbed::{Load, ShareTestbed};
use crate::{ctrl_c, stdout_and_stderr, tune_through_mount};

/// What `tune` is about to do.
pub struct Job<'a> {
    pub plan: &'a TunePlan,
    /// The most trials.
    pub trials: usize,
    pub load: Load,
    /// What is to be said where a candidate is kept: its id, and the words.
    pub warnings: &'a [(String, Message)],
    /// What a user does where a candidate is kept that is none of a host: its id, and a note.
    pub by_hand: &'a [(String, Message)],
    /// Candidates for which the time is too short.
    pub left_out: &'a [Candidate],
}

type Run<'a> =
    dyn FnMut(&mut dyn Testbed, &mut Hooks<'_>) -> Result<TuneOutcome, experiment::Error> + 'a;

/// Makes the run file, the journal and the testbed, and runs it.
pub(super) fn carry_out(
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
    let fstab = fstab_line(arguments, path, &candidates)?;
    let header = Plan::Tune {
        share: path.share.address.clone(),
        candidates,
        folder: path.named_folder().map(str::to_owned),
    };
    let recorder = Recorder::start(
        &arguments.output,
        (&arguments.share, &arguments.path.login),
        header,
        plan.seed,
        &path.hosts(),
    )?;
    let file = recorder.path().to_owned();
    let journal = match any_knob || fstab.is_some() {
        true => Some(Journal::open(state, &recorder.id)?),
        false => None,
    };
    let recorder = SharedRecorder(Rc::new(RefCell::new(recorder)));
    let mut testbed = ShareTestbed::new(path, journal, recorder.clone(), stop.clone(), counted)
        .persistent(arguments.persist)
        .mounting_at_start(fstab)
        .moving(job.load);
    let trials = u64::try_from(job.trials).unwrap_or(0);
    let mut progress = stdout_and_stderr::Progress::new(trials, arguments.output.json);
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
        let hint = say("hint-plan.changes-and-run").with("path", file.display().to_string());
        CommandError::from_error(Kind::Refused, &error).hint(hint)
    })?;
    write_end(&recorder, arguments, job, outcome)?;
    Ok(file)
}

/// The line of `/etc/fstab` that gets better options of a mount; none where none is to last.
fn fstab_line<'a>(
    arguments: &TuneArguments,
    path: &'a SharePath,
    candidates: &[Level],
) -> Result<Option<FstabLine<'a>>, CommandError> {
    let mut mounts = candidates.iter().filter_map(tune_through_mount::options);
    match arguments.persist && mounts.next().is_some() {
        true => FstabLine::read(path, &arguments.path.login),
        false => Ok(None),
    }
}

/// Writes down that it ended, what was left out, and what is to be said of what is kept.
fn write_end(
    recorder: &SharedRecorder,
    arguments: &TuneArguments,
    job: &Job<'_>,
    outcome: TuneOutcome,
) -> Result<(), CommandError> {
    match outcome.ended {
        Ended::Finished => {
            for candidate in job.left_out {
                recorder.0.borrow_mut().event(Event::decided(
                    candidate.id.clone(),
                    Decision::Returned,
                    &too_short(arguments.budget),
                ))?;
            }
            let warnings = job.warnings.iter().map(|(id, warning)| {
                let note = say("run-note.kept").with("id", id);
                (id, note.with("warning", warning.clone()))
            });
            let by_hand = job.by_hand.iter().map(|(id, note)| (id, note.clone()));
            for (id, note) in warnings.chain(by_hand) {
                let mut decisions = outcome.decisions.iter();
                if decisions.any(|one| one.experiment == *id && one.decision == Decision::Kept) {
                    recorder.0.borrow_mut().event(Event::note(&note))?;
                }
            }
            recorder.0.borrow_mut().event(Event::Finished)?;
        }
        Ended::Stopped => return Err(ctrl_c::interrupted()),
        Ended::Failed(failure) => {
            let error = CommandError::from(failure);
            return Err(error.while_doing(say("error-plan.could-not-go-on")));
        }
    }
    Ok(())
}

/// Why a candidate is not tried for want of time.
pub(super) fn too_short(budget: Duration) -> Message {
    say("decided.budget-too-short").count("seconds", budget.as_secs())
}
