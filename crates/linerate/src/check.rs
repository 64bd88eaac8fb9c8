//! `linerate check`: measure, change nothing.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;

use measure::{Ladder, LadderNews, LadderPlan, LadderTrial, Stop, TcpRung};
use record::{Direction, Event, Plan, Record, Stage, TrialRecord, Workload};

use crate::args::CheckArguments;
use crate::failure::CommandError;
use crate::path::{SharePath, resolve, timing};
use crate::runs::{self, Recorder};
use crate::terminal::Progress;
use crate::{share, stop};

/// Runs `check`.
pub fn run(arguments: &CheckArguments) -> Result<ExitCode, CommandError> {
    let typed = share::parse(&arguments.share)?;
    let stop = stop::listen()?;
    let path = SharePath::open(typed, &arguments.path)?;
    let file = measure(arguments, &path, &stop)?;
    let analysis = runs::show(&file, &arguments.output)?;
    Ok(runs::exit_code(&analysis))
}

/// Climbs the ladder and gives the run file.
pub fn measure(
    arguments: &CheckArguments,
    path: &SharePath,
    stop: &Stop,
) -> Result<PathBuf, CommandError> {
    let timing = timing(arguments.seconds)?;
    let address = resolve(&path.client, &path.share.address.server)?;
    path.knock(stop)?;
    let header = Plan::Check {
        share: path.share.address.clone(),
    };
    let recorder = RefCell::new(Recorder::start(
        &arguments.output,
        header,
        0,
        &path.hosts(),
    )?);
    let plan = LadderPlan {
        tcp: Ok(TcpRung {
            server: address,
            nic: None,
            streams: 1,
            timing,
        }),
        share: path.workload(Direction::Read, 1, timing),
        credentials: Some(path.credentials.clone()),
        repetitions: arguments.repetitions,
    };
    let far = path.server.as_ref().map(|server| server.exec.as_ref());
    let ladder = Ladder {
        runner: &path.runner,
        far,
        stop,
    };
    let mut progress = Progress::new(u64::from(arguments.repetitions) * 4, arguments.output.json);
    progress.stage("measuring raw TCP and the share, both ways");
    let mut news = |news: LadderNews<'_>| {
        if let LadderNews::Begins(stage, workload) = news {
            progress.detail(&detail(stage, workload));
            progress.advance();
        }
    };
    let mut id = 0;
    let mut record = |trial: LadderTrial| -> Result<(), CommandError> {
        let mut recorder = recorder.borrow_mut();
        let since = |instant: std::time::Instant| instant.duration_since(recorder.began()).into();
        let record = TrialRecord {
            id,
            stage: trial.stage,
            workload: trial.workload,
            settings: Vec::new(),
            started: since(trial.started),
            ended: since(trial.ended),
            outcome: trial.outcome,
        };
        id += 1;
        Ok(recorder.append_record(&Record::Trial(Box::new(record)))?)
    };
    ladder.run(&plan, &mut news, &mut record)?;
    if stop.is_asked() {
        return Err(stop::interrupted());
    }
    let mut recorder = recorder.into_inner();
    recorder.event(Event::Finished)?;
    Ok(recorder.path().to_owned())
}

fn detail(stage: &Stage, workload: &Workload) -> String {
    let engine = match workload {
        Workload::Tcp(_) => "raw TCP",
        Workload::Share(_) => "share",
        Workload::Folder(_) => "folder",
    };
    let repetition = match stage {
        Stage::Ladder { repetition, .. } | Stage::Bench { repetition, .. } => repetition + 1,
        Stage::Experiment { block, .. } => block + 1,
    };
    format!(
        "{engine} {:?}, repetition {repetition}",
        workload.direction()
    )
    .to_lowercase()
}
