//! `linerate demo`: the whole job on a virtual LAN, with real parts.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use analysis::RunAnalysis;
use host::change::{UndoMode, Undone};
use lab::Topology;
use locale::{said, say, text};
use measure::Stop;
use os::file::replace;
use record::{Event, Record, Run};
use report::{Content, DemoSummary, Section};

use crate::args::{
    CheckArguments, DemoArguments, LoginArguments, OutputArguments, PathArguments,
    ProfileArguments, TuneArguments,
};
use crate::client_to_share_path::SharePath;
use crate::exit_codes::Exit;
use crate::failure::{CommandError, Kind};
use crate::{
    changes, check, ctrl_c, lab_command, run_file_recorder, share, stdout_and_stderr, tune,
};

/// Two hosts, two links of 1 GbE back to back, one subnet per link, a real Samba.
const TOPOLOGY: &str = include_str!("../../../examples/two-links.toml");
/// Name of the lab where nobody else has it.
const LAB: &str = "demo";

/// A lab that is taken down whatever happens.
struct Guard(String);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Err(error) = lab::down(&self.0) {
            stdout_and_stderr::say(&CommandError::from(error).to_string());
        }
    }
}

/// Runs the demo.
pub fn run(arguments: &DemoArguments) -> Result<ExitCode, CommandError> {
    let stop = ctrl_c::listen()?;
    let out = fresh_folder(&arguments.out)?;
    let topology = Topology::parse(TOPOLOGY)?;
    let name = free_name()?;
    let tell = |text: &str| {
        if !arguments.json {
            stdout_and_stderr::print(text);
        }
    };
    tell(&format!(
        "\n$ linerate lab up examples/two-links.toml --name {name}"
    ));
    let lab = lab_command::up(&name, &topology)?;
    let guard = Guard(name.clone());
    let share = lab.topology().shares().into_iter().next();
    let share = share
        .map(|share| share.to_string())
        .ok_or_else(|| CommandError::new(Kind::Internal, say("error-check.demo-share")))?;
    let story = Story {
        arguments,
        out,
        share,
        lab: name,
        stop,
    };
    let summary = story.run(&tell)?;
    tell(&format!("\n$ linerate lab down {}", story.lab));
    drop(guard);
    if arguments.json {
        stdout_and_stderr::print_json(&summary);
    } else {
        stdout_and_stderr::print(&text("told-check.lab-gone"));
        let file = |name: &str| story.out.join(name).display().to_string();
        let summary = say("told-check.demo-summary").with("path", file("summary.json"));
        stdout_and_stderr::print(&format!("\n{}", said(&summary)));
        let report = say("told-check.demo-report").with("path", file("report.html"));
        stdout_and_stderr::print(&said(&report));
    }
    Ok(if summary.restored {
        ExitCode::SUCCESS
    } else {
        Exit::Found.into()
    })
}

/// An empty folder for this demo's files: those of the last one go.
fn fresh_folder(out: &Path) -> Result<PathBuf, CommandError> {
    let failed = |error: &std::io::Error| {
        let sentence = say("error-check.demo-folder").with("folder", out.display().to_string());
        CommandError::caused(Kind::Refused, sentence, error).hint(say("hint-check.demo-folder"))
    };
    std::fs::create_dir_all(out).map_err(|error| failed(&error))?;
    for file in ["check.jsonl", "tune.jsonl", "report.html", "summary.json"] {
        match std::fs::remove_file(out.join(file)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(&error));
            }
            _ => {}
        }
    }
    std::path::absolute(out).map_err(|error| failed(&error))
}

fn free_name() -> Result<String, CommandError> {
    let taken = lab::list()?.into_iter().any(|lab| lab.name == LAB);
    Ok(if taken {
        format!("{LAB}-{}", std::process::id())
    } else {
        LAB.to_owned()
    })
}

struct Story<'a> {
    arguments: &'a DemoArguments,
    out: PathBuf,
    share: String,
    lab: String,
    stop: Stop,
}

impl Story<'_> {
    fn run(&self, tell: &dyn Fn(&str)) -> Result<DemoSummary, CommandError> {
        let ends = format!(
            "--client lab://{0}/client --server lab://{0}/server",
            self.lab
        );
        let path = SharePath::open(
            share::parse(&self.share)?,
            &self.path_arguments(),
            &self.stop,
        )?;
        let before = run_file_recorder::facts(&path.hosts())?;

        tell(&format!("\n$ linerate check {} {ends}\n", self.share));
        let arguments = self.check_arguments();
        let check_file = check::measure(&arguments, &path, &check::PATH_RUNGS, &self.stop)?;
        let check = self.show(&check_file)?;

        tell(&format!("\n$ linerate tune {} {ends}\n", self.share));
        let arguments = self.tune_arguments();
        let fixes = check
            .diagnosis
            .as_ref()
            .map(|diagnosis| diagnosis.fixes.clone())
            .unwrap_or_default();
        let plan = tune::plan(&arguments, fixes)?;
        let plan =
            plan.ok_or_else(|| CommandError::new(Kind::Internal, say("error-check.demo-plan")))?;
        let state = self.out.join("state");
        let job = tune::job(&plan, &[]);
        let tune_file = tune::experiment((&arguments, &state), &path, &job, &self.stop)?;
        let tuned = self.show(&tune_file)?;

        tell("\n$ linerate undo\n");
        let undone = undo(&tune_file, &state)?;
        tell(&changes::text(&undone));
        let after = run_file_recorder::facts(&path.hosts())?;
        let restored = before == after && undone.iter().all(|change| change.closed);
        tell(&text(match restored {
            true => "told-check.as-before",
            false => "told-check.not-as-before",
        }));
        let summary = report::demo_summary(&check, &tuned, restored);
        self.write(&check, &tuned, &undone, &summary)?;
        Ok(summary)
    }

    fn show(&self, file: &Path) -> Result<RunAnalysis, CommandError> {
        let analysis = run_file_recorder::read(file)?;
        if !self.arguments.json {
            run_file_recorder::print(&analysis, false);
        }
        Ok(analysis)
    }

    fn write(
        &self,
        check: &RunAnalysis,
        tuned: &RunAnalysis,
        undone: &[Undone],
        summary: &DemoSummary,
    ) -> Result<(), CommandError> {
        let verdict = text(match summary.restored {
            true => "told-check.page-as-before",
            false => "told-check.page-not-as-before",
        });
        let sections = [
            Section {
                heading: text("told-check.page-check"),
                text: Vec::new(),
                content: Content::Run(check),
            },
            Section {
                heading: text("told-check.page-tune"),
                text: Vec::new(),
                content: Content::Run(tuned),
            },
            Section {
                heading: text("told-check.page-undo"),
                text: vec![verdict],
                content: Content::Table {
                    headers: changes::headings().into(),
                    rows: changes::rows(undone),
                },
            },
        ];
        let page = report::html_story(&text("told-check.page-title"), &sections);
        replace(&self.out.join("report.html"), page.as_bytes())?;
        let picture = report::picture(check);
        replace(&self.out.join("picture.svg"), picture.as_bytes())?;
        let json = serde_json::to_string_pretty(summary).map_err(|error| {
            CommandError::caused(Kind::Internal, say("error-check.demo-summary"), &error)
        })?;
        replace(&self.out.join("summary.json"), (json + "\n").as_bytes())?;
        Ok(())
    }

    fn path_arguments(&self) -> PathArguments {
        PathArguments {
            client: format!("lab://{}/client", self.lab),
            server: Some(format!("lab://{}/server", self.lab)),
            login: LoginArguments::default(),
        }
    }

    fn output(&self, file: &str) -> OutputArguments {
        OutputArguments {
            json: self.arguments.json,
            run: Some(self.out.join(file)),
            html: None,
            verbose: false,
        }
    }

    fn check_arguments(&self) -> CheckArguments {
        CheckArguments {
            share: self.share.clone(),
            path: self.path_arguments(),
            output: self.output("check.jsonl"),
            repetitions: None,
            seconds: self.arguments.seconds,
            quick: true,
            thorough: false,
            into: None,
            read_only: false,
            through: None,
        }
    }

    fn tune_arguments(&self) -> TuneArguments {
        TuneArguments {
            share: self.share.clone(),
            path: self.path_arguments(),
            output: self.output("tune.jsonl"),
            persist: false,
            dry_run: false,
            blocks: 6,
            seconds: self.arguments.seconds,
            band: 2.0,
            only: Vec::new(),
            profile: ProfileArguments::default(),
            goal: None,
            budget: std::time::Duration::ZERO,
            through: None,
            seed: None,
        }
    }
}

/// Puts back what a run has left changed, the newest first.
fn undo(run: &Path, state: &Path) -> Result<Vec<Undone>, CommandError> {
    let folder = [state.to_owned()];
    let mut undone = Vec::new();
    for id in opened(run)?.iter().rev() {
        let open = host::journal::list_open(state)?.open;
        if open.iter().any(|open| open.id == *id) {
            undone.extend(changes::undo_all(&folder, Some(id), UndoMode::Ours)?.undone);
        }
    }
    Ok(undone)
}

/// Ids of the changes that a run opened, oldest first.
fn opened(file: &Path) -> Result<Vec<String>, CommandError> {
    let run = Run::read(file)?;
    let opened = run.records.into_iter().filter_map(|record| match record {
        Record::Event {
            event: Event::ChangeOpened { change },
            ..
        } => Some(change),
        _ => None,
    });
    Ok(opened.collect())
}
