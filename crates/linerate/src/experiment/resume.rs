//! An experiment that was stopped, taken up again from its run file.

use std::process::ExitCode;

use host::change::UndoMode;
use host::journal;
use locale::{said, say, text};
use measure::Stop;
use record::{
    Design, Event, HostFacts, Plan, RecipeEngine, Record, Run, SecondMount, TrialRecord, Workload,
};

use super::execute::carry_out;
use super::workload_fields;
use crate::args::{OutputArguments, PathArguments, ResumeArguments};
use crate::bench::recipe_target::{Target, Wanted};
use crate::changes::{self, undo_all};
use crate::failure::{CommandError, Kind};
use crate::run_file_recorder::{self, Recorder};
use crate::{ctrl_c, stdout_and_stderr};

/// Goes on with what a run file has: the schedule stands in it, and the hosts' names.
pub(super) fn resume(arguments: &ResumeArguments) -> Result<ExitCode, CommandError> {
    let stop = ctrl_c::listen()?;
    let output = OutputArguments {
        json: arguments.json,
        run: Some(arguments.run.clone()),
        html: arguments.html.clone(),
        verbose: arguments.verbose,
    };
    let (mut recorder, run) = Recorder::resume(&arguments.run)?;
    let no_experiment = || {
        let run = arguments.run.display().to_string();
        CommandError::new(
            Kind::Usage,
            say("error-plan.no-experiment").with("run", run),
        )
    };
    let Plan::Experiment { target, .. } = &run.header.plan else {
        return Err(no_experiment());
    };
    let design = run.records.iter().find_map(|record| match record {
        Record::Design(design) => Some(design.as_ref().clone()),
        _ => None,
    });
    let design = design.ok_or_else(no_experiment)?;
    let finished = run.records.iter().any(|record| {
        matches!(
            record,
            Record::Event {
                event: Event::Finished,
                ..
            }
        )
    });
    if finished {
        stdout_and_stderr::say(&text("told-plan.complete"));
        let analysis = run_file_recorder::show(&arguments.run, &output)?;
        return Ok(run_file_recorder::exit_code(&analysis));
    }
    restore_what_was_left(&mut recorder)?;
    let target = open_target((target, &run), &design, arguments, &stop)?;
    same_machines(
        &run.header.facts,
        &run_file_recorder::facts(&target.hosts())?,
    )?;
    target.knock(&stop)?;
    let before = run.records.into_iter().filter_map(|record| match record {
        Record::Trial(trial) => Some(*trial),
        _ => None,
    });
    let before: Vec<TrialRecord> = before.collect();
    let sentence = say("told-plan.trials-there").count("trials", before.len());
    stdout_and_stderr::say(&said(&sentence));
    let how = (&output, &arguments.login, &stop);
    carry_out(&design, target, recorder, before, how)
}

/// What the run was measured on: its hosts go by the names that the run has of them.
fn open_target(
    (name, run): (&str, &Run),
    design: &Design,
    arguments: &ResumeArguments,
    stop: &Stop,
) -> Result<Target, CommandError> {
    let mut names = run.header.facts.iter().map(|facts| facts.name.to_string());
    let path = PathArguments {
        client: names.next().unwrap_or_else(|| "local".to_owned()),
        server: names.next(),
        login: arguments.login.clone(),
    };
    let workload = design.responses.first().map(|response| &response.workload);
    let engine = match workload {
        Some(Workload::Tcp(_)) => RecipeEngine::Tcp,
        _ => RecipeEngine::File,
    };
    let typed = record::with_user(name, run.header.user.as_deref());
    // What a stranger's file names is not mounted unasked.
    let mounts = workload.and_then(Workload::second_mount);
    let wanted = Wanted {
        through: arguments.through,
        address: mounts.and_then(SecondMount::address),
        ..Wanted::of(&typed, &path, engine)
    };
    if let (Some(mount), None) = (mounts, arguments.through) {
        let text = say("error-plan.resume-through").with("source", &mount.source);
        let error = CommandError::new(Kind::Usage, text);
        return Err(error.hint(say("hint-plan.resume-through")));
    }
    let target = Target::open(wanted, stop)?;
    let mut responses = design.responses.iter();
    if let Some(other) = responses.find(|response| !target.is_of(&response.workload)) {
        let text = say("error-plan.other-target").with("test", &other.name);
        let error = CommandError::new(Kind::Refused, text.with("target", &target.name));
        return Err(error.hint(say("hint-plan.where-it-began")));
    }
    let arms = (0..design.arms.len()).filter_map(|arm| design.level(u32::try_from(arm).ok()?));
    for level in arms {
        for response in &design.responses {
            let whole = workload_fields::workload(&response.workload, &level);
            let takes = whole.and_then(|whole| target.takes(&whole));
            takes.map_err(|reason| CommandError::new(Kind::Usage, reason))?;
        }
    }
    Ok(target)
}

/// What two machines measured must not stand in one table, although both go by the same name.
fn same_machines(then: &[HostFacts], now: &[HostFacts]) -> Result<(), CommandError> {
    for (then, now) in then.iter().zip(now) {
        // An id that could not be read then or now proves nothing.
        if let (Some(was), Some(is)) = (&then.machine, &now.machine)
            && was != is
        {
            let text = say("error-plan.another-machine").with("host", then.name.to_string());
            let error = CommandError::new(Kind::Refused, text);
            return Err(error.hint(say("hint-plan.where-it-began")));
        }
    }
    Ok(())
}

/// What an experiment that was killed had set goes back first: every arm is set from the start.
fn restore_what_was_left(recorder: &mut Recorder) -> Result<(), CommandError> {
    let state = journal::state_folder()?;
    let listing = journal::list_open(&state)?;
    let open = listing.open.into_iter().rev();
    let ours = open.filter(|summary| summary.run == recorder.id);
    let mut left: Vec<String> = ours.map(|summary| summary.id).collect();
    while !left.is_empty() {
        let mut not_closed = Vec::new();
        let mut found = Vec::new();
        for id in &left {
            let folder = std::slice::from_ref(&state);
            let undone = undo_all(folder, Some(id), UndoMode::Ours)?.undone;
            let restored = undone.iter().all(|change| change.closed);
            recorder.event(Event::ChangeUndone {
                change: id.clone(),
                restored,
            })?;
            if !restored {
                not_closed.push(id.clone());
                found.extend(changes::rows(&undone));
            }
        }
        // Of two changes of one setting the one that was made goes first.
        if not_closed.len() == left.len() {
            let text = say("error-plan.not-put-back").with("settings", shown(&found));
            let error = CommandError::new(Kind::Refused, text);
            return Err(error.hint(say("hint-plan.undo-tells-more")));
        }
        left = not_closed;
    }
    Ok(())
}

/// Host, setting, value now and outcome of what was not put back.
fn shown(rows: &[Vec<String>]) -> String {
    let rows = rows.iter().map(|row| row.join(", "));
    rows.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use record::Fingerprint;

    use super::*;

    #[test]
    fn an_experiment_goes_on_only_on_the_machines_it_began_on() {
        let host = host::Host::local().unwrap();
        let mut now = run_file_recorder::facts(&[&host]).unwrap();
        now[0].machine = Some(Fingerprint::of("one"));
        let mut then = now.clone();
        same_machines(&then, &now).unwrap();
        then[0].machine = None;
        same_machines(&then, &now).unwrap();
        then[0].machine = Some(Fingerprint::of("another"));
        let error = same_machines(&then, &now).unwrap_err();
        assert!(
            error.text().contains("`local` is another machine"),
            "{error}"
        );
    }
}
