//! `linerate experiment`: a plan in TOML, its schedule, its trials, and what they say.

mod design;
pub mod dry_run;
mod execute;
mod factors;
mod plan_file;
mod refused_mounts;
mod resume;
mod trial_on_hosts;
mod workload_fields;

use std::process::ExitCode;

use locale::{Message, said, say};
use record::sanitized_text::clean;
use record::{Design, Plan, Record};

use crate::args::{ExperimentArguments, ExperimentCommand};
use crate::bench::recipe_target::{Target, Wanted};
use crate::failure::{CommandError, Kind};
use crate::run_file_recorder::Recorder;
use crate::{changes, ctrl_c, run_file_recorder, stdout_and_stderr};
use design::design;
use dry_run::dry_run;
use execute::carry_out;
use resume::resume;

/// Runs `experiment`.
pub fn run(command: &ExperimentCommand) -> Result<ExitCode, CommandError> {
    match command {
        ExperimentCommand::Run(arguments) => begin(arguments),
        ExperimentCommand::Resume(arguments) => resume(arguments),
    }
}

fn begin(arguments: &ExperimentArguments) -> Result<ExitCode, CommandError> {
    let stop = ctrl_c::listen()?;
    changes::tell_leftovers();
    let written = plan_file::read(&arguments.plan)?;
    let file = &written.file;
    let recipe = plan_file::recipe(&written, arguments.seconds)?;
    let typed = arguments.target.as_ref().or(file.target.as_ref());
    let typed = typed.ok_or_else(|| {
        let text = say("error-plan.no-target");
        CommandError::new(Kind::Usage, text).hint(say("hint-plan.add-target"))
    })?;
    let channels = file.workload.channels;
    let wanted = Wanted {
        typed,
        path: &arguments.path,
        channels,
        engine: recipe.engine,
        through: arguments.through,
        address: None,
    };
    let target =
        Target::open(wanted, &stop).map_err(|error| match (error.kind(), &arguments.target) {
            (Kind::Usage, None) => written.at("target", error),
            _ => error,
        })?;
    let seed = match arguments.seed.or(file.seed) {
        Some(seed) => seed,
        None => run_file_recorder::random_seed()?,
    };
    let (design, left_out) = design(&written, arguments, &recipe, &target, seed)?;
    tell_left_out(&design, &left_out);
    if arguments.dry_run {
        dry_run(arguments, &design, &target, seed)?;
        return Ok(ExitCode::SUCCESS);
    }
    target.knock(&stop)?;
    let header = Plan::Experiment {
        target: target.name.clone(),
        title: design.title.clone(),
    };
    let mut recorder = Recorder::start(
        &arguments.output,
        (typed, &arguments.path.login),
        header,
        seed,
        &target.hosts(),
    )?;
    recorder.append_record(&Record::Design(Box::new(design.clone())))?;
    carry_out(
        &design,
        target,
        recorder,
        Vec::new(),
        (&arguments.output, &arguments.path.login, &stop),
    )
}

/// Says which factors these hosts lack, and what is run without them.
fn tell_left_out(design: &Design, left_out: &[Message]) {
    for factor in left_out {
        let factor = clean(&said(factor));
        stdout_and_stderr::say(&said(&say("told-plan.left-out").with("factor", factor)));
    }
    if !left_out.is_empty() {
        let sentence = say("told-plan.what-is-left").with("form", design.message(&design.form));
        stdout_and_stderr::say(&said(&sentence));
    }
}

#[cfg(test)]
mod duration_tests;
