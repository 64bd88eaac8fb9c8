//! Runs the trials of an experiment, with the journal of its changes, and shows what they say.

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use analysis::RunAnalysis;
use experiment::{DesignEnd, DesignHooks, DesignNews, run_design};
use host::Host;
use host::journal::{self, Journal};
use locale::{Message, said, say};
use measure::Stop;
use record::{Design, Event, Response, Setting, TrialRecord, Workload};

use super::refused_mounts::RefusedMounts;
use super::trial_on_hosts::HostStand;
use crate::args::{LoginArguments, OutputArguments};
use crate::bench::recipe_target::Target;
use crate::failure::{CommandError, Kind};
use crate::knob_switching::{HostKnobs, SharedRecorder};
use crate::run_file_recorder::{self, Recorder};
use crate::{credentials, stdout_and_stderr};

/// Runs the trials that are missing; `before` are those that the run has already.
pub(super) fn carry_out(
    design: &Design,
    target: Target,
    recorder: Recorder,
    before: Vec<TrialRecord>,
    (output, login, stop): (&OutputArguments, &LoginArguments, &Stop),
) -> Result<ExitCode, CommandError> {
    let path = recorder.path().to_owned();
    let knobs = design.factors.iter().flat_map(|factor| &factor.levels);
    let any_knob = knobs
        .flat_map(|level| &level.settings)
        .any(|setting| matches!(setting, Setting::Knob { .. }));
    let journal = match any_knob {
        true => Some(Journal::open(&journal::state_folder()?, &recorder.id)?),
        false => None,
    };
    let hosts = target.hosts().into_iter().cloned().collect();
    let began = recorder.began();
    let recorder = SharedRecorder(Rc::new(RefCell::new(recorder)));
    let mut stand = HostStand {
        refused: RefusedMounts::new(target.has_mounted()),
        target,
        knobs: HostKnobs::new(hosts, journal, recorder.clone(), stop.clone()),
        began,
        stop,
        loads: Vec::new(),
    };
    let visits: usize = design.blocks.iter().map(Vec::len).sum();
    let total = visits * design.responses.len();
    let mut progress =
        stdout_and_stderr::Progress::new(u64::try_from(total).unwrap_or(0), output.json);
    let stage = say("stage.round").with("what", &design.title);
    progress.stage(&said(&stage.count("trials", total)));
    for _ in &before {
        progress.advance();
    }
    let mut tell = |news: DesignNews<'_>| tell(&progress, design, &news);
    let mut sink = recorder.clone();
    let mut hooks = DesignHooks {
        sink: &mut sink,
        stop: &|| stop.is_asked(),
        news: &mut tell,
        narrow: &|trials| {
            let width = design.stop.width.unwrap_or(0.0);
            fit::is_narrow(&fit::design(design, trials), width)
        },
    };
    let ended = run_design(&mut stand, design, before, &mut hooks);
    drop(progress);
    let ended = ended.map_err(|error| {
        CommandError::from_error(Kind::Refused, &error).hint(say("hint-plan.changes"))
    })?;
    write_end(&recorder, ended, resume_hint(&path, login, &stand.target))?;
    let analysis = run_file_recorder::show(&path, output)?;
    if let Some(why) = unseen(&analysis, stand.target.server.as_ref()) {
        stdout_and_stderr::say(&said(&why));
    }
    Ok(run_file_recorder::exit_code(&analysis))
}

/// How to go on with it, for a hint.
fn resume_hint(run: &Path, login: &LoginArguments, target: &Target) -> Message {
    let (file, options) = (run.display().to_string(), credentials::options(login));
    let through: &[&str] = match target.second_mount() {
        Some(_) => &["--through", "system"],
        None => &[],
    };
    let words = ["experiment", "resume", &file].into_iter();
    let words = words.chain(through.iter().copied());
    let words = words.chain(options.iter().map(String::as_str));
    say("hint-plan.goes-on").with("command", report::own_command(words))
}

/// Writes down that it is complete; else says why not, and `again` how to go on.
fn write_end(
    recorder: &SharedRecorder,
    ended: DesignEnd,
    again: Message,
) -> Result<(), CommandError> {
    match ended {
        DesignEnd::Complete => recorder.0.borrow_mut().event(Event::Finished)?,
        DesignEnd::Stopped => {
            let text = say("error-plan.stopped");
            return Err(CommandError::new(Kind::Interrupted, text).hint(again));
        }
        DesignEnd::Failed(mut failure) => {
            let hint = match failure.hint.take() {
                Some(hint) => say("hint-plan.then")
                    .with("hint", failure.message(&hint))
                    .with("again", again),
                None => again,
            };
            let error = CommandError::from(failure.with_hint(hint));
            return Err(error.while_doing(say("error-plan.could-not-go-on")));
        }
    }
    Ok(())
}

/// Why nobody knows what serving cost the server's processors, where a share was measured.
fn unseen(analysis: &RunAnalysis, server: Option<&Host>) -> Option<Message> {
    let result = analysis.design.as_ref()?;
    let is_of_a_share = |response: &Response| matches!(response.workload, Workload::Share(_));
    let mut seen = result.samples.iter();
    if !result.design.responses.iter().any(is_of_a_share)
        || seen.any(|samples| samples.server_cpu_per_byte.is_some())
    {
        return None;
    }
    Some(match server {
        Some(server) => say("told-plan.server-silent").with("host", server.name.to_string()),
        None => say("told-plan.server-unnamed"),
    })
}

fn tell(progress: &stdout_and_stderr::Progress, design: &Design, news: &DesignNews<'_>) {
    match news {
        DesignNews::Setting { block, level } => {
            let step = say("told-plan.block-of")
                .count("block", block + 1)
                .count("blocks", design.blocks.len())
                .with("level", *level);
            progress.detail(&said(&step));
        }
        DesignNews::Trial { response } => progress.detail(response),
        DesignNews::Ended(rate) => {
            progress.advance();
            if let Err(reason) = rate {
                progress.note(&said(&say("trial-failed").with("reason", reason.clone())));
            }
        }
        DesignNews::Block(trials) => {
            let known = fit::design(design, *trials);
            let lines = report::factorial_experiment::so_far(&known);
            let sentence = say("told-plan.after-blocks").count("blocks", known.blocks_done);
            progress.note(&said(&sentence.with("known", lines)));
        }
    }
}
