//! `linerate bench`: one workload several times, or a recipe.

pub mod recipe_run;
pub mod recipe_target;

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use host::Host;
use locale::{counted, said, say, text};
use measure::{FarServer, IPERF3_PORT, Stop};
use record::{
    Direction, Event, HostLoad, Outcome, Plan, Recipe, Record, Stage, Task, TcpWorkload,
    TrialInput, TrialRecord, Workload, bounded_read,
};

use crate::args::{BenchArguments, DirectionArgument};
use crate::changes::style;
use crate::client_to_share_path::{SharePath, ends, resolve, timing};
use crate::failure::{CommandError, Kind};
use crate::run_file_recorder::{self, Recorder};
use crate::stdout_and_stderr::Progress;
use crate::{ctrl_c, share};

/// Counted seconds of each trial where nobody says otherwise.
const SECONDS: f64 = 3.0;
/// Repetitions where nobody says otherwise.
const REPETITIONS: u32 = 5;

/// Runs `bench`.
pub fn run(arguments: &BenchArguments) -> Result<ExitCode, CommandError> {
    if let Some(recipe) = recipe(arguments)? {
        return recipe_run::run(arguments, recipe);
    }
    let is_of_recipes =
        arguments.zeros || arguments.file_size.is_some() || arguments.through.is_some();
    if arguments.dry_run || is_of_recipes {
        let text = say("error-plan.only-of-recipes");
        return Err(CommandError::new(Kind::Usage, text).hint(say("hint-plan.add-preset")));
    }
    let stop = ctrl_c::listen()?;
    let directions: &[Direction] = match arguments.direction.unwrap_or(DirectionArgument::Both) {
        DirectionArgument::Read => &[Direction::Read],
        DirectionArgument::Write => &[Direction::Write],
        DirectionArgument::Both => &[Direction::Read, Direction::Write],
    };
    let file = match arguments.target.strip_prefix("tcp://") {
        Some(host) => bench_tcp(arguments, host, directions, &stop)?,
        None => bench_share(arguments, directions, &stop)?,
    };
    let analysis = run_file_recorder::show(&file, &arguments.output)?;
    Ok(run_file_recorder::exit_code(&analysis))
}

/// The recipe that was asked for, with what the command line changes in it.
fn recipe(arguments: &BenchArguments) -> Result<Option<Recipe>, CommandError> {
    let read = match (&arguments.preset, &arguments.recipe) {
        (None, None) => return Ok(None),
        (Some(name), _) => measure::preset(name).ok_or_else(|| no_preset(name))?,
        (None, Some(path)) => {
            let text = bounded_read::text(path, bounded_read::TOML_BYTES_MAX).map_err(|error| {
                let path = path.display().to_string();
                let text = say("error-plan.recipe-unread").with("path", path);
                CommandError::caused(Kind::Refused, text, &error).hint(say("hint-plan.recipe-file"))
            })?;
            measure::recipe(&path.display().to_string(), &text)
        }
    };
    let mut recipe = read?;
    if let Some(seconds) = arguments.seconds {
        let is_timed = |task: &Option<Task>| task.as_ref().is_none_or(Task::is_timed);
        if !recipe.tests.iter().any(|test| is_timed(&test.task)) {
            let text = say("error-plan.no-seconds").with("recipe", &recipe.title);
            return Err(CommandError::new(Kind::Usage, text).hint(say("hint-plan.fewer-files")));
        }
        recipe.seconds = seconds;
    }
    if let Some(passes) = arguments.repetitions {
        recipe.passes = passes;
    }
    if arguments.zeros {
        recipe.data = record::Data::Zeros;
    }
    if let Some(typed) = &arguments.file_size {
        recipe.file_size = record::parse_bytes(typed).ok_or_else(|| {
            let text = say("error-plan.no-size").with("size", typed);
            CommandError::new(Kind::Usage, text).hint(say("hint-plan.file-size"))
        })?;
    }
    let kept = match arguments.direction {
        None | Some(DirectionArgument::Both) => None,
        Some(DirectionArgument::Read) => Some(Direction::Read),
        Some(DirectionArgument::Write) => Some(Direction::Write),
    };
    for test in &mut recipe.tests {
        test.directions
            .retain(|way| kept.is_none_or(|kept| *way == kept));
    }
    recipe.tests.retain(|test| !test.directions.is_empty());
    // The file was fine: this is what the command line made of it.
    recipe.check().map_err(|mistake| {
        let text = say("error-plan.recipe-senseless").with("mistake", mistake.message());
        CommandError::new(Kind::Usage, text)
    })?;
    Ok(Some(recipe))
}

/// A table with these headings, for standard output.
pub fn table<const COLUMNS: usize>(
    headings: [&'static str; COLUMNS],
    rows: &[Vec<String>],
) -> String {
    let headings = headings.map(text);
    report::table(&headings.each_ref().map(String::as_str), rows, style())
}

/// There is no preset of that name.
pub fn no_preset(name: &str) -> CommandError {
    let known = measure::PRESETS.iter();
    let known: Vec<String> = known.map(measure::Preset::usage).collect();
    CommandError::new(Kind::Usage, say("error-plan.no-preset").with("name", name))
        .hint(say("hint-plan.there-are").with("names", known))
}

fn bench_share(
    arguments: &BenchArguments,
    directions: &[Direction],
    stop: &Stop,
) -> Result<PathBuf, CommandError> {
    let typed = share::parse(&arguments.target)?;
    let timing = timing(arguments.seconds.unwrap_or(SECONDS))?;
    let path = SharePath::open(typed, &arguments.path, stop)?;
    path.knock(stop)?;
    let header = Plan::Bench {
        target: path.share.address.to_string(),
        recipe: None,
    };
    let recorder = Recorder::start(
        &arguments.output,
        (&arguments.target, &arguments.path.login),
        header,
        0,
        &path.hosts(),
    )?;
    let workload = |direction| {
        Workload::Share(path.workload(direction, arguments.channels.unwrap_or(1), timing))
    };
    repeat(arguments, recorder, directions, stop, &mut |direction| {
        let workload = workload(direction);
        let (result, load) = path.trial_served(workload.clone(), stop);
        (workload, outcome(result), load)
    })
}

fn bench_tcp(
    arguments: &BenchArguments,
    host: &str,
    directions: &[Direction],
    stop: &Stop,
) -> Result<PathBuf, CommandError> {
    let (client, server, runner) = ends(&arguments.path, stop)?;
    let timing = timing(arguments.seconds.unwrap_or(SECONDS))?;
    let (address, port) = tcp_address(&client, host)?;
    let hosts: Vec<_> = std::iter::once(&client).chain(&server).collect();
    let header = Plan::Bench {
        target: arguments.target.clone(),
        recipe: None,
    };
    let typed = (arguments.target.as_str(), &arguments.path.login);
    let recorder = Recorder::start(&arguments.output, typed, header, 0, &hosts)?;
    repeat(arguments, recorder, directions, stop, &mut |direction| {
        let mut tcp = TcpWorkload {
            server: address,
            port,
            direction,
            streams: arguments.channels.unwrap_or(1),
            nic: None,
            timing,
            socket: record::SocketOptions::default(),
        };
        let far = server
            .as_ref()
            .map(|server| FarServer::start(server.exec.as_ref()))
            .transpose();
        let far = match far {
            Ok(far) => far,
            Err(error) => {
                let failed = Outcome::Failed(CommandError::from(error).into());
                return (Workload::Tcp(tcp), failed, None);
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
        let result = runner.run(&input, stop, &mut |_| {});
        (workload, outcome(result), None)
    })
}

/// The address and port of `ADDRESS[:PORT]`, as the client resolves it.
fn tcp_address(client: &Host, host: &str) -> Result<(IpAddr, u16), CommandError> {
    let (name, port) = match share::split_port(host) {
        Some((name, port)) if !name.is_empty() && host != name => (name, port),
        Some((name, _)) if !name.is_empty() => (name, IPERF3_PORT),
        _ => {
            let text = say("error-plan.not-a-host").with("host", host);
            return Err(CommandError::new(Kind::Usage, text).hint(say("hint-plan.tcp-address")));
        }
    };
    Ok((resolve(client, name)?, port))
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
    trial: &mut dyn FnMut(Direction) -> (Workload, Outcome, Option<HostLoad>),
) -> Result<PathBuf, CommandError> {
    let repetitions = arguments.repetitions.unwrap_or(REPETITIONS);
    let steps = u64::from(repetitions) * directions.len() as u64;
    let mut progress = Progress::new(steps, arguments.output.json);
    progress.stage(&counted("stage.repetitions", repetitions as usize));
    let mut measured = false;
    let mut last_failure = None;
    let mut id = 0;
    for repetition in 0..repetitions {
        for &direction in directions {
            if stop.is_asked() {
                return Err(ctrl_c::interrupted());
            }
            let step = say("told-plan.repetition").with("direction", direction);
            progress.detail(&said(&step.count("number", repetition + 1)));
            let started = recorder.now();
            let (workload, outcome, load) = trial(direction);
            match &outcome {
                Outcome::Measured(_) => measured = true,
                Outcome::Failed(failure) => last_failure = Some(failure.clone()),
            }
            let ended = recorder.now();
            let stage = Stage::Bench {
                repetition,
                test: None,
                discarded: false,
            };
            let record = TrialRecord {
                id,
                stage,
                workload,
                settings: Vec::new(),
                started,
                ended,
                outcome,
                loads: load.into_iter().collect(),
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
