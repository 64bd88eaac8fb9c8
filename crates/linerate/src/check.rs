//! `linerate check` and `linerate bench`: measure, change nothing.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;

use measure::{FarServer, IPERF3_PORT, Ladder, LadderNews, LadderPlan, LadderTrial, Stop, TcpRung};
use record::{
    Direction, Event, Outcome, Plan, Record, Stage, TcpWorkload, TrialInput, TrialRecord, Workload,
};

use crate::args::{BenchArguments, CheckArguments, DirectionArgument};
use crate::failure::{CommandError, Kind};
use crate::path::{SharePath, ends, resolve, timing};
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
    };
    let repetition = match stage {
        Stage::Ladder { repetition, .. } | Stage::Bench { repetition } => repetition + 1,
        Stage::Experiment { block, .. } => block + 1,
    };
    format!(
        "{engine} {:?}, repetition {repetition}",
        workload.direction()
    )
    .to_lowercase()
}

/// Runs `bench`.
pub fn bench(arguments: &BenchArguments) -> Result<ExitCode, CommandError> {
    let stop = stop::listen()?;
    let directions: &[Direction] = match arguments.direction {
        DirectionArgument::Read => &[Direction::Read],
        DirectionArgument::Write => &[Direction::Write],
        DirectionArgument::Both => &[Direction::Read, Direction::Write],
    };
    let file = match arguments.target.strip_prefix("tcp://") {
        Some(host) => bench_tcp(arguments, host, directions, &stop)?,
        None => bench_share(arguments, directions, &stop)?,
    };
    let analysis = runs::show(&file, &arguments.output)?;
    Ok(runs::exit_code(&analysis))
}

fn bench_share(
    arguments: &BenchArguments,
    directions: &[Direction],
    stop: &Stop,
) -> Result<PathBuf, CommandError> {
    let typed = share::parse(&arguments.target)?;
    let timing = timing(arguments.seconds)?;
    let path = SharePath::open(typed, &arguments.path)?;
    path.knock(stop)?;
    let header = Plan::Bench {
        target: path.share.address.to_string(),
    };
    let recorder = Recorder::start(&arguments.output, header, 0, &path.hosts())?;
    let workload =
        |direction| Workload::Share(path.workload(direction, arguments.channels, timing));
    repeat(arguments, recorder, directions, stop, &mut |direction| {
        let workload = workload(direction);
        (workload.clone(), outcome(path.trial(workload, stop)))
    })
}

fn bench_tcp(
    arguments: &BenchArguments,
    host: &str,
    directions: &[Direction],
    stop: &Stop,
) -> Result<PathBuf, CommandError> {
    let (client, server, runner) = ends(&arguments.path)?;
    let timing = timing(arguments.seconds)?;
    let (name, port) = match share::split_port(host) {
        Some((name, port)) if !name.is_empty() && host != name => (name, port),
        Some((name, _)) if !name.is_empty() => (name, IPERF3_PORT),
        _ => {
            return Err(
                CommandError::new(Kind::Usage, format!("`tcp://{host}` is not a host"))
                    .hint("write `tcp://ADDRESS` or `tcp://ADDRESS:PORT`"),
            );
        }
    };
    let address = resolve(&client, name)?;
    let hosts: Vec<_> = std::iter::once(&client).chain(&server).collect();
    let header = Plan::Bench {
        target: arguments.target.clone(),
    };
    let recorder = Recorder::start(&arguments.output, header, 0, &hosts)?;
    repeat(arguments, recorder, directions, stop, &mut |direction| {
        let mut tcp = TcpWorkload {
            server: address,
            port,
            direction,
            streams: arguments.channels,
            nic: None,
            timing,
        };
        let far = server
            .as_ref()
            .map(|server| FarServer::start(server.exec.as_ref()))
            .transpose();
        let far = match far {
            Ok(far) => far,
            Err(error) => {
                return (
                    Workload::Tcp(tcp),
                    Outcome::Failed(CommandError::from(error).into()),
                );
            }
        };
        if let Some(far) = &far {
            tcp.port = far.port();
        }
        let workload = Workload::Tcp(tcp);
        let input = TrialInput {
            workload: workload.clone(),
            credentials: None,
        };
        (workload, outcome(runner.run(&input, stop, &mut |_| {})))
    })
}

fn outcome(result: Result<record::TrialResult, record::Failure>) -> Outcome {
    match result {
        Ok(result) => Outcome::Measured(Box::new(result)),
        Err(failure) => Outcome::Failed(failure),
    }
}

/// Runs the repetitions, each direction in turn, and gives the run file. When not one of them could
/// be measured, the last failure is the error.
fn repeat(
    arguments: &BenchArguments,
    mut recorder: Recorder,
    directions: &[Direction],
    stop: &Stop,
    trial: &mut dyn FnMut(Direction) -> (Workload, Outcome),
) -> Result<PathBuf, CommandError> {
    let steps = u64::from(arguments.repetitions) * directions.len() as u64;
    let mut progress = Progress::new(steps, arguments.output.json);
    progress.stage(&format!("measuring {} times", arguments.repetitions));
    let mut measured = false;
    let mut last_failure = None;
    let mut id = 0;
    for repetition in 0..arguments.repetitions {
        for &direction in directions {
            if stop.is_asked() {
                return Err(stop::interrupted());
            }
            progress
                .detail(&format!("{direction:?}, repetition {}", repetition + 1).to_lowercase());
            let started = recorder.now();
            let (workload, outcome) = trial(direction);
            match &outcome {
                Outcome::Measured(_) => measured = true,
                Outcome::Failed(failure) => last_failure = Some(failure.clone()),
            }
            let ended = recorder.now();
            let stage = Stage::Bench { repetition };
            let record = TrialRecord {
                id,
                stage,
                workload,
                settings: Vec::new(),
                started,
                ended,
                outcome,
            };
            recorder.append_record(&Record::Trial(Box::new(record)))?;
            id += 1;
            progress.advance();
        }
        if let (false, Some(failure)) = (measured, &last_failure) {
            return Err(failure.clone().into());
        }
    }
    recorder.event(Event::Finished)?;
    Ok(recorder.path().to_owned())
}
