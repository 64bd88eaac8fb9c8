//! A recipe on a share, a folder, a disk or raw TCP: each pass a trial of its own, all on one test file.

use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use host::Host;
use measure::{FarServer, Kept, Runner, Stop};
use record::{
    Credentials, Direction, Event, FolderKind, FolderWorkload, KeepInput, KeepWorkload,
    Nanoseconds, Operations, Outcome, Place, Plan, Recipe, RecipeEngine, RecipeTest, Record,
    ShareWorkload, Stage, TcpWorkload, Timing, TrialInput, TrialRecord, Workload,
};
use serde_json::json;

use super::{outcome, tcp_address};
use crate::args::{BenchArguments, PathArguments};
use crate::changes::look;
use crate::failure::{CommandError, Kind};
use crate::path::{SharePath, ends};
use crate::runs::{self, Recorder};
use crate::terminal::Progress;
use crate::{share, stop, terminal};

/// What a pass takes beside its time: process, session.
const PASS_OVERHEAD: Duration = Duration::from_millis(200);
/// Samples of a pass that can tell how it went on.
const SAMPLES: u32 = 10;
/// How often a pause looks whether to stop.
const PAUSE_LOOK: Duration = Duration::from_millis(50);

/// Where a recipe runs.
pub struct Target {
    /// The client.
    pub client: Host,
    /// The far end, where linerate may run commands there.
    pub server: Option<Host>,
    runner: Runner,
    credentials: Option<Credentials>,
    kind: TargetKind,
    /// As typed, without user and password.
    pub name: String,
}

enum TargetKind {
    Tcp(std::net::IpAddr, u16),
    /// With the most channels.
    Share(Box<SharePath>, u32),
    Folder(String, FolderKind),
}

/// Runs it.
pub fn run(arguments: &BenchArguments, recipe: Recipe) -> Result<ExitCode, CommandError> {
    let stop = stop::listen()?;
    let target = Target::open(
        &arguments.target,
        &arguments.path,
        arguments.channels,
        recipe.engine,
    )?;
    if arguments.dry_run {
        dry_run(arguments, &recipe, &target);
        return Ok(ExitCode::SUCCESS);
    }
    let hosts: Vec<_> = std::iter::once(&target.client)
        .chain(&target.server)
        .collect();
    // The file comes first: whatever keeps us from it is said before there is a run file.
    let kept = target.keep(&recipe, &stop)?;
    let header = Plan::Bench {
        target: target.name.clone(),
        recipe: Some(Box::new(recipe.clone())),
    };
    let recorder = Recorder::start(&arguments.output, header, 0, &hosts)?;
    let file = kept.as_ref().map(|kept| kept.file().to_owned());
    let path = passes(arguments, &recipe, &target, (file, recorder), &stop);
    drop(kept);
    let analysis = runs::show(&path?, &arguments.output)?;
    Ok(runs::exit_code(&analysis))
}

/// The whole path of a folder on the client.
fn whole_path(folder: &str, client: &str) -> Result<String, CommandError> {
    let path = Path::new(folder);
    if client != "local" {
        if path.is_absolute() {
            return Ok(folder.to_owned());
        }
        let text = format!("`{folder}` is not a whole path, and {client} has no current folder");
        return Err(CommandError::new(Kind::Usage, text));
    }
    let found = path.canonicalize().map_err(|error| {
        CommandError::caused(
            Kind::Usage,
            format!("there is no folder `{folder}`"),
            &error,
        )
        .hint("a share is written as `smb://HOST/SHARE`, a host as `tcp://ADDRESS`")
    })?;
    Ok(found.display().to_string())
}

impl Target {
    /// Finds it, and who logs in.
    pub fn open(
        typed: &str,
        path_arguments: &PathArguments,
        channels: u32,
        engine: RecipeEngine,
    ) -> Result<Self, CommandError> {
        let wants_tcp = engine == RecipeEngine::Tcp;
        let tcp = typed.strip_prefix("tcp://");
        if tcp.is_some() != wants_tcp {
            let text = format!("this does not run on `{typed}`");
            return Err(CommandError::new(Kind::Usage, text).hint(match wants_tcp {
                true => "it is raw TCP: write `tcp://ADDRESS[:PORT]` of a host with an `iperf3 -s`",
                false => "it needs a file: write `smb://HOST/SHARE`, a folder, or `disk:FOLDER`",
            }));
        }
        let is_share = ["smb://", "//", "\\\\"]
            .iter()
            .any(|begin| typed.starts_with(begin));
        if is_share {
            let path = SharePath::open(share::parse(typed)?, path_arguments)?;
            return Ok(Self {
                client: path.client.clone(),
                server: path.server.clone(),
                runner: path.runner.clone(),
                credentials: Some(path.credentials.clone()),
                name: path.share.address.to_string(),
                kind: TargetKind::Share(Box::new(path), channels),
            });
        }
        let (client, server, runner) = ends(path_arguments)?;
        let kind = match tcp {
            Some(host) => {
                let (address, port) = tcp_address(&client, host)?;
                TargetKind::Tcp(address, port)
            }
            None => {
                let (folder, kind) = match typed.strip_prefix("disk:") {
                    Some(folder) => (folder, FolderKind::Disk),
                    None => (typed, FolderKind::Folder),
                };
                TargetKind::Folder(whole_path(folder, &path_arguments.client)?, kind)
            }
        };
        Ok(Self {
            client,
            server,
            runner,
            credentials: None,
            kind,
            name: typed.to_owned(),
        })
    }

    /// The hosts that are known, client first.
    pub fn hosts(&self) -> Vec<&Host> {
        std::iter::once(&self.client).chain(&self.server).collect()
    }

    /// Makes the test file that all passes use.
    fn keep(&self, recipe: &Recipe, stop: &Stop) -> Result<Option<Kept>, CommandError> {
        let place = match &self.kind {
            TargetKind::Tcp(..) => return Ok(None),
            TargetKind::Share(path, _) => Place::Share {
                share: path.share.address.clone(),
                demands: path.demands,
            },
            TargetKind::Folder(folder, kind) => Place::Folder {
                folder: folder.clone(),
                kind: *kind,
            },
        };
        let input = KeepInput {
            keep: KeepWorkload {
                place,
                file_size: recipe.file_size,
                data: recipe.data,
            },
            credentials: self.credentials.clone(),
        };
        Ok(Some(self.runner.keep(&input, stop)?))
    }

    /// The workload of one pass.
    pub fn workload(
        &self,
        recipe: &Recipe,
        (test, direction): (&RecipeTest, Direction),
        file: Option<String>,
    ) -> Workload {
        let measured = Duration::from_secs_f64(recipe.seconds);
        let timing = Timing {
            warm_up: Duration::from_secs_f64(recipe.warm_up_seconds).into(),
            measured: measured.into(),
            interval: Nanoseconds::from(measured / SAMPLES).max(Nanoseconds::new(10_000_000)),
        };
        let operations = Operations {
            pattern: test.pattern,
            threads: test.threads,
            other_way_percent: test.other_way_percent,
            data: recipe.data,
            cache: recipe.cache,
            file,
        };
        match &self.kind {
            TargetKind::Tcp(server, port) => Workload::Tcp(TcpWorkload {
                server: *server,
                port: *port,
                direction,
                streams: test.threads,
                nic: None,
                timing,
            }),
            TargetKind::Share(path, channels) => Workload::Share(ShareWorkload {
                block: test.block,
                depth: test.depth,
                file_size: recipe.file_size,
                operations: Some(operations),
                ..path.workload(direction, *channels, timing)
            }),
            TargetKind::Folder(folder, kind) => Workload::Folder(FolderWorkload {
                folder: folder.clone(),
                kind: *kind,
                direction,
                block: test.block,
                depth: test.depth,
                file_size: recipe.file_size,
                operations,
                timing,
            }),
        }
    }

    /// Runs one pass; where linerate may start an `iperf3 -s` at the far end, it does.
    pub fn pass(&self, workload: &Workload, stop: &Stop) -> Outcome {
        let mut input = TrialInput {
            workload: workload.clone(),
            credentials: self.credentials.clone(),
        };
        let far = match (&mut input.workload, &self.server) {
            (Workload::Tcp(tcp), Some(server)) => match FarServer::start(server.exec.as_ref()) {
                Ok(far) => {
                    tcp.port = far.port();
                    Some(far)
                }
                Err(error) => return Outcome::Failed(CommandError::from(error).into()),
            },
            _ => None,
        };
        let result = outcome(self.runner.run(&input, stop, &mut |_| {}));
        drop(far);
        result
    }
}

fn passes(
    arguments: &BenchArguments,
    recipe: &Recipe,
    target: &Target,
    (file, mut recorder): (Option<String>, Recorder),
    stop: &Stop,
) -> Result<std::path::PathBuf, CommandError> {
    let steps = recipe.steps();
    let each = recipe.discard + recipe.passes;
    let total = steps.len() as u64 * u64::from(each);
    let mut progress = Progress::new(total, arguments.output.json);
    progress.stage(&format!("{} on {}", recipe.title, target.name));
    let mut measured = false;
    let mut id = 0;
    for (place, (test, direction)) in steps.iter().enumerate() {
        if place > 0 {
            pause(recipe.pause_seconds, stop);
        }
        let workload = target.workload(recipe, (test, *direction), file.clone());
        for pass in 0..each {
            if stop.is_asked() {
                return Err(stop::interrupted());
            }
            let discarded = pass < recipe.discard;
            let what = if discarded { "thrown away" } else { "counted" };
            progress.detail(&format!(
                "{} {direction:?}, pass {} ({what})",
                test.name,
                pass + 1
            ));
            let started = recorder.now();
            let outcome = target.pass(&workload, stop);
            let ended = recorder.now();
            let failure = match &outcome {
                Outcome::Measured(_) => None,
                Outcome::Failed(failure) => Some(failure.clone()),
            };
            measured |= failure.is_none();
            recorder.append_record(&Record::Trial(Box::new(TrialRecord {
                id,
                stage: Stage::Bench {
                    repetition: pass.saturating_sub(recipe.discard),
                    test: Some(test.name.clone()),
                    discarded,
                },
                workload: workload.clone(),
                settings: Vec::new(),
                started,
                ended,
                outcome,
                loads: Vec::new(),
            })))?;
            id += 1;
            progress.advance();
            if let (false, Some(failure)) = (measured, failure) {
                return Err(failure.into());
            }
        }
    }
    recorder.event(Event::Finished)?;
    Ok(recorder.path().to_owned())
}

fn pause(seconds: f64, stop: &Stop) {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end && !stop.is_asked() {
        thread::sleep(PAUSE_LOOK.min(end.saturating_duration_since(Instant::now())));
    }
}

/// What would be run, and how long it takes.
fn dry_run(arguments: &BenchArguments, recipe: &Recipe, target: &Target) {
    let steps = recipe.steps();
    let each = recipe.discard + recipe.passes;
    let pass = recipe.seconds + recipe.warm_up_seconds + PASS_OVERHEAD.as_secs_f64();
    let pauses = recipe.pause_seconds * steps.len().saturating_sub(1) as f64;
    let seconds = pass * f64::from(each) * steps.len() as f64 + pauses;
    let commands = steps
        .iter()
        .map(|step| match target.workload(recipe, *step, None) {
            Workload::Folder(workload) => {
                let file = Path::new(&workload.folder).join("FILE");
                Some(measure::fio_command(&workload, &file, true).argv)
            }
            Workload::Tcp(_) | Workload::Share(_) => None,
        });
    let commands: Vec<Option<Vec<String>>> = commands.collect();
    if arguments.output.json {
        let tests = steps
            .iter()
            .zip(&commands)
            .map(|((test, direction), command)| {
                json!({ "test": test.name, "direction": direction, "passes": recipe.passes,
                "discarded": recipe.discard, "argv": command })
            });
        terminal::print_json(
            &json!({ "dry_run": true, "target": target.name, "recipe": recipe,
            "tests": tests.collect::<Vec<_>>(), "seconds": seconds }),
        );
        return;
    }
    let rows: Vec<Vec<String>> = steps
        .iter()
        .map(|(test, direction)| {
            let way = format!("{direction:?}").to_lowercase();
            let passes = format!("{} + {} thrown away", recipe.passes, recipe.discard);
            vec![
                test.name.clone(),
                way,
                passes,
                format!("{} s", recipe.seconds),
            ]
        })
        .collect();
    terminal::print(&report::table(
        &["test", "way", "passes", "each"],
        &rows,
        look(),
    ));
    for command in commands.iter().flatten() {
        terminal::print(&format!("  {}", command.join(" ")));
    }
    terminal::print(&format!(
        "{} on {}: about {seconds:.0} s and the time to write the test file; nothing was run",
        recipe.title, target.name
    ));
}
