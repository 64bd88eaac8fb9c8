//! Run files: where a new one goes, its header, its clock; and what is said of an old one.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use analysis::RunAnalysis;
use host::{Host, journal};
use locale::{said, say};
use os::file::{Folder, Readers, replace};
use record::{
    Event, Header, HostFacts, Nanoseconds, Plan, RUN_FORMAT, RUN_VERSION, Record, Run, RunWriter,
};
use stats::Verdict;

use crate::args::{LoginArguments, OutputArguments};
use crate::changes::style;
use crate::exit_codes::Exit;
use crate::failure::{CommandError, Kind};
use crate::{command_sandbox, credentials, share, stdout_and_stderr};

/// A run that is being written.
#[derive(Debug)]
pub struct Recorder {
    writer: RunWriter,
    began: Instant,
    /// Its name, as the journal of changes knows it.
    pub id: String,
}

impl Recorder {
    /// Starts a run file, in the state folder where the user names none. What is measured and who logs
    /// in is told as it was typed.
    pub fn start(
        output: &OutputArguments,
        typed: (&str, &LoginArguments),
        plan: Plan,
        seed: u64,
        hosts: &[&Host],
    ) -> Result<Self, CommandError> {
        Self::with_facts(output, typed, plan, seed, facts(hosts)?)
    }

    /// The same where the hosts were looked at already.
    pub fn with_facts(
        output: &OutputArguments,
        (target, login): (&str, &LoginArguments),
        plan: Plan,
        seed: u64,
        facts: Vec<HostFacts>,
    ) -> Result<Self, CommandError> {
        let started = jiff::Timestamp::now();
        let command = match &plan {
            Plan::Check { .. } => "check",
            Plan::Bench { .. } => "bench",
            Plan::Tune { .. } => "tune",
            Plan::Experiment { .. } => "experiment",
        };
        let id = format!("{command}-{}", started.strftime("%Y%m%dT%H%M%S"));
        let header = Header {
            format: RUN_FORMAT.into(),
            version: RUN_VERSION,
            program: record::PROGRAM.into(),
            seed,
            plan,
            user: share::parse(target).ok().and_then(|share| share.user),
            login_options: credentials::options(login),
            facts,
            started,
        };
        let writer = match &output.run {
            Some(path) => RunWriter::create(os::file::create(path)?, path, &header)?,
            None => create_in_state_folder(&id, &header)?,
        };
        Ok(Self {
            writer,
            began: Instant::now(),
            id,
        })
    }

    /// Goes on with a run file; gives what it holds. Time goes on where its last trial ended.
    pub fn resume(path: &Path) -> Result<(Self, Run), CommandError> {
        let (writer, run) = RunWriter::resume(os::file::extend(path)?, path)?;
        let ends = run.records.iter().map(|record| match record {
            Record::Trial(trial) => trial.ended,
            Record::Event { at, .. } => *at,
            Record::Schedule(_) | Record::Design(_) | Record::Round(_) | Record::Path(_) => {
                Nanoseconds::new(0)
            }
        });
        let elapsed = ends.max().unwrap_or_default();
        let now = Instant::now();
        let id = format!(
            "experiment-{}",
            run.header.started.strftime("%Y%m%dT%H%M%S")
        );
        let recorder = Self {
            writer,
            began: now.checked_sub(elapsed.into()).unwrap_or(now),
            id,
        };
        Ok((recorder, run))
    }

    /// Time since the start of the run.
    pub fn now(&self) -> Nanoseconds {
        self.began.elapsed().into()
    }

    /// When the run began, for clocks of others that must agree with it.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// Adds a record; it is on the disk afterwards.
    pub fn append_record(&mut self, record: &Record) -> Result<(), record::Error> {
        self.writer.append(record)
    }

    /// Adds an event.
    pub fn event(&mut self, event: Event) -> Result<(), CommandError> {
        let at = self.now();
        Ok(self.append_record(&Record::Event { at, event })?)
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        self.writer.path()
    }
}

/// Looks at hosts.
pub fn facts(hosts: &[&Host]) -> Result<Vec<HostFacts>, CommandError> {
    let facts = hosts.iter().map(|host| host::facts(host));
    Ok(facts.collect::<Result<Vec<_>, _>>()?)
}

fn create_in_state_folder(id: &str, header: &Header) -> Result<RunWriter, CommandError> {
    /// Runs that may begin in the same second.
    const SAME_SECOND_MAX: u32 = 100;
    // What was measured, and of whom, is for its owner; and as no other user can exchange anything on the
    // path to the folder, its name is as good as the open folder.
    let folder = Folder::make(&journal::state_folder()?, Readers::All)
        .and_then(|state| state.make_folder("runs", Readers::Owner));
    let folder = folder.map_err(|error| {
        let hint = error.hint().unwrap_or_else(|| say("hint-check.run-file"));
        CommandError::caused(Kind::Refused, say("error-check.run-files"), &error).hint(hint)
    })?;
    let mut number = 0;
    loop {
        let suffix = if number == 0 {
            String::new()
        } else {
            format!("-{number}")
        };
        let name = format!("{id}{suffix}.jsonl");
        match folder.create(&name) {
            Err(error) if error.exists() && number < SAME_SECOND_MAX => number += 1,
            file => return Ok(RunWriter::create(file?, &folder.path().join(name), header)?),
        }
    }
}

/// Reads a run file and says everything that can be said of it.
pub fn read(path: &Path) -> Result<RunAnalysis, CommandError> {
    Ok(analysis::analyze(&Run::read(path)?))
}

/// Prints a run as text or JSON, and writes its page where one is asked for.
pub fn show(path: &Path, output: &OutputArguments) -> Result<RunAnalysis, CommandError> {
    let run = Run::read(path)?;
    let sandboxes = command_sandbox::of_trials(&run);
    let analysis = analysis::analyze(&run);
    drop(run);
    if output.json {
        stdout_and_stderr::print_json(&report::Report {
            run_file: Some(path),
            ..report::json(&analysis)
        });
    } else {
        stdout_and_stderr::print_drawn(&report::page(&analysis, style()));
        if output.verbose {
            stdout_and_stderr::print_drawn(&report::details(&analysis, style()));
        }
        let path = path.display().to_string();
        stdout_and_stderr::say(&said(&say("written-file.run").with("path", path)));
    }
    if output.verbose {
        sandboxes
            .iter()
            .for_each(|text| stdout_and_stderr::say(text));
    }
    if let Some(html) = &output.html {
        replace(html, report::html(&analysis).as_bytes())?;
        let html = html.display().to_string();
        stdout_and_stderr::say(&said(&say("written-file.report").with("path", html)));
    }
    Ok(analysis)
}

/// Prints what is said of a run, as text or JSON.
pub fn print(analysis: &RunAnalysis, json: bool) {
    if json {
        stdout_and_stderr::print_json(&report::json(analysis));
    } else {
        stdout_and_stderr::print_drawn(&report::page(analysis, style()));
    }
}

/// The verdict of a run: 0 nothing was found, 1 something was found, 2 could not tell.
pub fn exit_code(analysis: &RunAnalysis) -> ExitCode {
    // One answered response answers for its change; an alarm says that nothing was answered.
    let undecided = analysis.experiments.iter().any(|experiment| {
        let mut effects = experiment.effects.iter();
        let open = |effect: &analysis::Effect| effect.verdict == Verdict::Undecided;
        experiment.noise.iter().any(|noise| noise.alarm)
            || (!experiment.effects.is_empty() && effects.all(open))
    });
    match &analysis.plan {
        Plan::Check { .. } => match &analysis.diagnosis {
            Some(diagnosis) if diagnosis.first_loss.is_some() || diagnosis.named().is_some() => {
                Exit::Found.into()
            }
            Some(diagnosis) if diagnosis.complete => ExitCode::SUCCESS,
            _ => Exit::Undecided.into(),
        },
        Plan::Experiment { .. } => match &analysis.design {
            Some(design) if analysis.finished && design.is_decided() => ExitCode::SUCCESS,
            _ => Exit::Undecided.into(),
        },
        Plan::Tune { .. } | Plan::Bench { .. } if !analysis.finished || undecided => {
            Exit::Undecided.into()
        }
        // The other direction, or test, may have been measured.
        Plan::Bench { .. } if analysis.bench.iter().any(|one| one.rates.is_empty()) => {
            Exit::Undecided.into()
        }
        Plan::Tune { .. } | Plan::Bench { .. } => ExitCode::SUCCESS,
    }
}

/// The seed of a run whose user gives none.
pub fn random_seed() -> Result<u64, CommandError> {
    let seed = getrandom::u64();
    seed.map_err(|error| {
        let text = say("error-plan.no-random-numbers").with("reason", error.to_string());
        CommandError::new(Kind::Internal, text)
    })
}
