//! `linerate demo`: the whole job on a virtual LAN, with real parts.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use analysis::RunAnalysis;
use host::facts;
use host::journal::UndoMode;
use lab::Topology;
use measure::Stop;
use os::file::replace;
use record::{Event, Record, Run};
use report::{Content, Section};

use crate::args::{
    CheckArguments, DemoArguments, LoginArguments, OutputArguments, PathArguments,
    ProfileArguments, TuneArguments,
};
use crate::exit::Exit;
use crate::failure::{CommandError, Kind};
use crate::path::SharePath;
use crate::{changes, check, lab_command, runs, share, stop, terminal, tune};

/// Two hosts, two links of 1 GbE back to back, one subnet per link, a real Samba.
const TOPOLOGY: &str = include_str!("../../../examples/two-links.toml");
/// Name of the lab where nobody else has it.
const LAB: &str = "demo";

/// A lab that is taken down whatever happens.
struct Guard(String);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Err(error) = lab::down(&self.0) {
            terminal::say(&CommandError::from(error).to_string());
        }
    }
}

/// Runs the demo.
pub fn run(arguments: &DemoArguments) -> Result<ExitCode, CommandError> {
    let stop = stop::listen()?;
    let out = fresh_folder(&arguments.out)?;
    let topology = Topology::parse(TOPOLOGY)?;
    let name = free_name()?;
    let tell = |text: &str| {
        if !arguments.json {
            terminal::print(text);
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
        .ok_or_else(|| CommandError::new(Kind::Internal, "the demo's topology has no share"))?;
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
        terminal::print_json(&summary);
    } else {
        terminal::print("the lab is gone, with all its processes, interfaces and files");
        terminal::print(&format!(
            "\nsummary: {}",
            story.out.join("summary.json").display()
        ));
        terminal::print(&format!(
            "report:  {}",
            story.out.join("report.html").display()
        ));
    }
    let restored = summary.get("restored") == Some(&serde_json::Value::Bool(true));
    Ok(if restored {
        ExitCode::SUCCESS
    } else {
        Exit::Found.into()
    })
}

/// An empty folder for this demo's files: those of the last one go.
fn fresh_folder(out: &Path) -> Result<PathBuf, CommandError> {
    let failed = |error: &std::io::Error| {
        CommandError::caused(
            Kind::Refused,
            format!("cannot use the folder `{}`", out.display()),
            error,
        )
        .hint("name another one with `--out FOLDER`")
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
    fn run(&self, tell: &dyn Fn(&str)) -> Result<serde_json::Value, CommandError> {
        let ends = format!(
            "--client lab://{0}/client --server lab://{0}/server",
            self.lab
        );
        let path = SharePath::open(
            share::parse(&self.share)?,
            &self.path_arguments(),
            &self.stop,
        )?;
        let before = path
            .hosts()
            .into_iter()
            .map(facts)
            .collect::<Result<Vec<_>, _>>()?;

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
        let plan = plan
            .ok_or_else(|| CommandError::new(Kind::Internal, "the check found nothing to try"))?;
        let state = self.out.join("state");
        let tune_file = tune::experiment(&arguments, &path, &plan, &state, &self.stop)?;
        let tuned = self.show(&tune_file)?;

        tell("\n$ linerate undo\n");
        let mut undone = Vec::new();
        for id in opened(&tune_file)?.iter().rev() {
            if host::journal::list_open(&state)?
                .open
                .iter()
                .any(|open| open.id == *id)
            {
                let folder = std::slice::from_ref(&state);
                undone.extend(changes::undo_all(folder, Some(id), UndoMode::Ours)?.undone);
            }
        }
        tell(&changes::text(&undone));
        let after = path
            .hosts()
            .into_iter()
            .map(facts)
            .collect::<Result<Vec<_>, _>>()?;
        let restored = before == after && undone.iter().all(|change| change.closed);
        tell(match restored {
            true => "both hosts read exactly as before the first command",
            false => "NOT everything reads as before: see the table, and `linerate changes`",
        });
        let summary = report::demo_summary(&check, &tuned, restored);
        self.write(&check, &tuned, &undone, restored, &summary)?;
        Ok(summary)
    }

    fn show(&self, file: &Path) -> Result<RunAnalysis, CommandError> {
        let analysis = runs::read(file)?;
        if !self.arguments.json {
            runs::print(&analysis, false);
        }
        Ok(analysis)
    }

    fn write(
        &self,
        check: &RunAnalysis,
        tuned: &RunAnalysis,
        undone: &[host::journal::Undone],
        restored: bool,
        summary: &serde_json::Value,
    ) -> Result<(), CommandError> {
        let verdict = if restored {
            "Both hosts read exactly as before."
        } else {
            "Not everything reads as before."
        };
        let sections = [
            Section {
                heading: "Check: what the path carries, and what loses".into(),
                text: Vec::new(),
                content: Content::Run(check),
            },
            Section {
                heading: "Tune: what is worth it".into(),
                text: Vec::new(),
                content: Content::Run(tuned),
            },
            Section {
                heading: "Undo: everything back".into(),
                text: vec![verdict.into()],
                content: Content::Table {
                    headers: changes::HEADINGS.map(str::to_owned).into(),
                    rows: changes::rows(undone),
                },
            },
        ];
        let page = report::html_story(
            "linerate demo: two hosts, two links of 1 GbE, one Samba",
            &sections,
        );
        replace(&self.out.join("report.html"), page.as_bytes())?;
        let picture = report::picture(check);
        replace(&self.out.join("picture.svg"), picture.as_bytes())?;
        let text = serde_json::to_string_pretty(summary).map_err(|error| {
            CommandError::caused(Kind::Internal, "cannot write the summary", &error)
        })?;
        replace(&self.out.join("summary.json"), (text + "\n").as_bytes())?;
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
            seed: None,
        }
    }
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
