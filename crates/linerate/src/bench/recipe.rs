//! A recipe on a share, a folder, a disk or raw TCP: each pass a trial of its own, all on one test file.

use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use host::Host;
use measure::{FarServer, Kept, Runner, Stop};
use record::{
    Bytes, Cache, Credentials, Direction, Event, Failure, FolderKind, FolderWorkload, HostLoad,
    KeepInput, KeepWorkload, Nanoseconds, Operations, Outcome, Place, Plan, Recipe, RecipeEngine,
    RecipeTest, Record, ShareWorkload, Stage, Task, TaskWorkload, TcpWorkload, Timing, TrialInput,
    TrialRecord, Workload,
};
use report::quantity;
use serde_json::json;

use super::{outcome, tcp_address};
use crate::args::{BenchArguments, PathArguments};
use crate::changes::style;
use crate::failure::{CommandError, Kind};
use crate::path::{SharePath, ends, run_served};
use crate::runs::{self, Recorder};
use crate::terminal::Progress;
use crate::{path, share, stop, terminal};

/// What a pass takes beside its time: process, session.
const PASS_OVERHEAD: Duration = Duration::from_millis(200);
/// Samples of a pass that can tell how it went on.
const SAMPLES: u32 = 10;
/// What a target of usual speed does, for a guess at how long it takes.
const USUAL_BYTES_PER_SECOND: f64 = 100e6;
const USUAL_FILES_PER_SECOND: f64 = 1_000.0;
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
        &stop,
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
    let mut recipe = recipe;
    let note = match kept.as_ref().and_then(Kept::direct) {
        Some(least) if recipe.cache == Cache::Direct => leave_out_smaller(&mut recipe, least)?,
        _ => None,
    };
    let header = Plan::Bench {
        target: target.name.clone(),
        recipe: Some(Box::new(recipe.clone())),
    };
    let typed = (arguments.target.as_str(), &arguments.path.login);
    let mut recorder = Recorder::start(&arguments.output, typed, header, 0, &hosts)?;
    if let Some(text) = note {
        recorder.event(Event::Note { text })?;
    }
    let file = kept.as_ref().map(|kept| kept.file().to_owned());
    let path = passes(arguments, &recipe, &target, (file, recorder), &stop);
    drop(kept);
    let analysis = runs::show(&path?, &arguments.output)?;
    Ok(runs::exit_code(&analysis))
}

/// Leaves out tests whose blocks the disk cannot take past the client's cache, and says so.
fn leave_out_smaller(recipe: &mut Recipe, least: Bytes) -> Result<Option<String>, CommandError> {
    let fits =
        |test: &RecipeTest| test.task.is_some() || test.block.get().is_multiple_of(least.get());
    let left_out: Vec<String> = recipe
        .tests
        .iter()
        .filter(|test| !fits(test))
        .map(|test| format!("`{}`", test.name))
        .collect();
    if left_out.is_empty() {
        return Ok(None);
    }
    recipe.tests.retain(fits);
    let names = left_out.join(", ");
    let why = format!(
        "past the client's cache the disk takes multiples of {} only",
        quantity::size(least)
    );
    if recipe.tests.is_empty() {
        let text = format!("nothing of this can run here: {why}");
        return Err(CommandError::new(Kind::Usage, text).hint(
            "write a recipe of your own with larger blocks, or with `cache = \"buffered\"`",
        ));
    }
    Ok(Some(format!("{names} left out: {why}")))
}

impl Target {
    /// Finds it, and who logs in.
    pub fn open(
        typed: &str,
        path_arguments: &PathArguments,
        channels: Option<u32>,
        engine: RecipeEngine,
        stop: &Stop,
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
        if channels.is_some() && !is_share {
            let text = format!("`--channels` has no meaning here: `{typed}` is no share");
            return Err(CommandError::new(Kind::Usage, text)
                .hint("a recipe of your own says how many streams or threads there are"));
        }
        if is_share {
            let path = SharePath::open(share::parse(typed)?, path_arguments, stop)?;
            return Ok(Self {
                client: path.client.clone(),
                server: path.server.clone(),
                runner: path.runner.clone(),
                credentials: Some(path.credentials.clone()),
                name: path.share.address.to_string(),
                kind: TargetKind::Share(Box::new(path), channels.unwrap_or(1)),
            });
        }
        let (client, server, runner) = ends(path_arguments, stop)?;
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
                TargetKind::Folder(path::folder(folder, &path_arguments.client)?, kind)
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

    /// Whatever keeps us from a share is said before anything is changed, after one login: accounts are
    /// locked after some that fail.
    pub fn knock(&self, stop: &Stop) -> Result<(), CommandError> {
        match &self.kind {
            TargetKind::Share(path, _) => path.knock(stop).map(drop),
            TargetKind::Tcp(..) | TargetKind::Folder(..) => Ok(()),
        }
    }

    /// Makes the test file that all passes use.
    fn keep(&self, recipe: &Recipe, stop: &Stop) -> Result<Option<Kept>, CommandError> {
        let Some(place) = self.place().filter(|_| recipe.needs_file()) else {
            return Ok(None);
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

    /// Where files are made; none for raw TCP.
    fn place(&self) -> Option<Place> {
        match &self.kind {
            TargetKind::Tcp(..) => None,
            TargetKind::Share(path, _) => Some(Place::Share {
                share: path.share.address.clone(),
                demands: path.demands,
            }),
            TargetKind::Folder(folder, kind) => Some(Place::Folder {
                folder: folder.clone(),
                kind: *kind,
            }),
        }
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
        if let (Some(task), Some(place)) = (&test.task, self.place()) {
            let channels = match &self.kind {
                TargetKind::Share(_, channels) => *channels,
                TargetKind::Tcp(..) | TargetKind::Folder(..) => 1,
            };
            return Workload::Task(TaskWorkload {
                place,
                direction,
                channels,
                task: task.clone(),
                data: recipe.data,
                timing,
            });
        }
        let operations = Operations {
            pattern: test.pattern,
            threads: test.threads,
            opposite_percent: test.opposite_percent,
            data: recipe.data,
            cache: recipe.cache,
            write_through: recipe.write_through,
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
                socket: record::SocketOptions::default(),
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

    /// Runs one pass, and looks at what serving it costs the server, where linerate may look there; where
    /// it may start an `iperf3 -s` at the far end, it does.
    pub fn pass(&self, workload: &Workload, stop: &Stop) -> (Outcome, Option<HostLoad>) {
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
                Err(error) => return (Outcome::Failed(CommandError::from(error).into()), None),
            },
            _ => None,
        };
        let (result, load) = run_served(&self.runner, &input, self.server.as_ref(), stop);
        drop(far);
        (outcome(result), load)
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
            let (outcome, load) = target.pass(&workload, stop);
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
                loads: load.into_iter().collect(),
            })))?;
            id += 1;
            progress.advance();
            // Each further try of a login may be one too many for the account.
            let is_over = |failure: &Failure| !measured || failure.kind == Kind::LoginRefused;
            if let Some(failure) = failure.filter(is_over) {
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
    let pauses = recipe.pause_seconds * steps.len().saturating_sub(1) as f64;
    let passes: f64 = steps
        .iter()
        .map(|(test, _)| pass_seconds(recipe, test))
        .sum();
    let seconds = passes * f64::from(each) + pauses;
    let written = written(recipe, target);
    let commands = steps
        .iter()
        .map(|step| match target.workload(recipe, *step, None) {
            Workload::Folder(workload) => {
                let file = Path::new(&workload.folder).join("FILE");
                Some(measure::fio_command(&workload, &file, true).argv)
            }
            Workload::Tcp(_) | Workload::Share(_) | Workload::Task(_) | Workload::Job(_) => None,
        });
    let commands: Vec<Option<Vec<String>>> = commands.collect();
    if arguments.output.json {
        let tests = steps
            .iter()
            .zip(&commands)
            .map(|((test, direction), command)| {
                json!({ "test": test.name, "direction": direction, "passes": recipe.passes,
                "discarded": recipe.discard, "argv": command,
                "seconds_each": lasts(recipe, test) })
            });
        terminal::print_json(
            &json!({ "dry_run": true, "target": target.name, "recipe": recipe,
            "tests": tests.collect::<Vec<_>>(), "seconds": seconds,
            "room_bytes": room(recipe), "written": written }),
        );
        return;
    }
    let rows: Vec<Vec<String>> = steps
        .iter()
        .map(|(test, direction)| {
            let way = format!("{direction:?}").to_lowercase();
            let passes = format!("{} + {} thrown away", recipe.passes, recipe.discard);
            let each = lasts(recipe, test)
                .map_or_else(|| "until done".to_owned(), |seconds| format!("{seconds} s"));
            vec![test.name.clone(), way, passes, each]
        })
        .collect();
    terminal::print_drawn(&report::table(
        &["test", "way", "passes", "each"],
        &rows,
        style(),
    ));
    for command in commands.iter().flatten() {
        terminal::print(&format!("  {}", command.join(" ")));
    }
    for line in &written {
        terminal::print(&format!("  {line}"));
    }
    let beside = match recipe.tests.iter().any(|test| test.task.is_some()) {
        true => " where the target moves 100 MB/s",
        false => " and the time to write the test file",
    };
    let beside = if target.place().is_none() { "" } else { beside };
    terminal::print(&format!(
        "{} on {}: about {seconds:.0} s{beside}; nothing was run",
        recipe.title, target.name
    ));
}

/// How long a pass lasts by what the recipe says; none where that depends on the target.
fn lasts(recipe: &Recipe, test: &RecipeTest) -> Option<f64> {
    let timed = test.task.as_ref().is_none_or(Task::is_timed);
    timed.then_some(recipe.seconds)
}

/// How long a pass takes, about, with what is prepared for it; the test file is there already.
fn pass_seconds(recipe: &Recipe, test: &RecipeTest) -> f64 {
    let begin = recipe.warm_up_seconds + PASS_OVERHEAD.as_secs_f64();
    let task = test.task.as_ref();
    begin + task.map_or(recipe.seconds, |task| task_seconds(task, recipe.seconds))
}

/// How long a trial takes, about, with what is prepared for it: a test file too, where none is kept.
pub fn trial_seconds(workload: &Workload) -> f64 {
    let timing = workload.timing();
    let [begin, measured] = [
        PASS_OVERHEAD + Duration::from(timing.warm_up),
        timing.measured.into(),
    ]
    .map(|time| time.as_secs_f64());
    let with_file = |size: Bytes, kept: Option<&String>| {
        let made = if kept.is_none() { size.get() } else { 0 };
        made as f64 / USUAL_BYTES_PER_SECOND + measured
    };
    begin
        + match workload {
            Workload::Share(share) => {
                let operations = share.operations.as_ref();
                let kept = operations.and_then(|operations| operations.file.as_ref());
                with_file(share.file_size, kept)
            }
            Workload::Folder(folder) => {
                with_file(folder.file_size, folder.operations.file.as_ref())
            }
            Workload::Task(work) => task_seconds(&work.task, measured),
            Workload::Tcp(_) | Workload::Job(_) => measured,
        }
}

/// How long a task takes, about, with what is prepared for it, where a timed one lasts so long.
fn task_seconds(task: &Task, timed: f64) -> f64 {
    let files = f64::from(task.files()) / USUAL_FILES_PER_SECOND;
    let moved = task.space_needed().get() as f64 / USUAL_BYTES_PER_SECOND;
    let steps = match task {
        Task::Lock(times) => f64::from(*times) / USUAL_FILES_PER_SECOND,
        Task::Copy(_) => moved,
        Task::Play(_) => timed,
        Task::Create(_) | Task::Open(_) | Task::Remove(_) | Task::List(_) => 0.0,
    };
    moved + files + steps
}

/// The most that there is of our files at one time.
fn room(recipe: &Recipe) -> Bytes {
    let tasks = recipe.tests.iter().filter_map(|test| test.task.as_ref());
    let tasks = tasks.map(Task::space_needed).max().unwrap_or(Bytes::new(0));
    match recipe.needs_file() {
        true => recipe.file_size.max(tasks) + recipe.file_size.min(tasks),
        false => tasks,
    }
}

/// What is written where, and that it does not stay.
fn written(recipe: &Recipe, target: &Target) -> Vec<String> {
    if target.place().is_none() {
        return Vec::new();
    }
    let name = &target.name;
    let mut lines = Vec::new();
    if recipe.needs_file() {
        let size = quantity::size(recipe.file_size);
        lines.push(format!("writes one test file of {size} into {name}"));
    }
    for test in &recipe.tests {
        if let Some(task) = &test.task {
            let what = report::task_text(task);
            lines.push(format!(
                "{}: {what}, in a folder of its own in {name}",
                test.name
            ));
        }
    }
    let size = quantity::size(room(recipe));
    lines.push(format!(
        "at most {size} there at one time, removed again; refused where a tenth more is not free"
    ));
    lines
}
