//! A recipe on a share, a folder, a disk or raw TCP: each pass a trial of its own, all on one test file.

use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use locale::{Language, Message, said, say};
use measure::{Kept, Stop};
use record::{
    Bytes, Cache, Direction, Event, Failure, Outcome, Plan, Recipe, RecipeTest, Record, Stage,
    Task, TrialRecord, Workload,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::recipe_target::{Target, Wanted};
use super::table;
use crate::args::BenchArguments;
use crate::failure::{CommandError, Kind};
use crate::run_file_recorder::{self, Recorder};
use crate::stdout_and_stderr::Progress;
use crate::{ctrl_c, stdout_and_stderr};

/// What a pass takes beside its time: process, session.
const PASS_OVERHEAD: Duration = Duration::from_millis(200);
/// What a target of usual speed does, for a guess at how long it takes.
const USUAL_BYTES_PER_SECOND: f64 = 100e6;
const USUAL_FILES_PER_SECOND: f64 = 1_000.0;
/// How often a pause looks whether to stop.
const PAUSE_LOOK: Duration = Duration::from_millis(50);

/// What `bench --dry-run --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BenchPlan<'a> {
    /// True.
    dry_run: bool,
    /// What would be measured, as typed.
    target: &'a str,
    /// The recipe, as run files keep it.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    recipe: &'a Recipe,
    /// Each test in each of its directions, in their order.
    tests: Vec<PlannedTest<'a>>,
    /// How long all of it takes, about, in seconds.
    seconds: f64,
    /// The most that there is of its files at one time, in bytes.
    room_bytes: Bytes,
    /// What is written where, in sentences; none where nothing is.
    written: Vec<String>,
}

/// A test of a recipe.
#[derive(Debug, Serialize, JsonSchema)]
struct PlannedTest<'a> {
    /// Its name.
    test: &'a str,
    /// `read` or `write`.
    direction: Direction,
    /// Passes that count.
    passes: u32,
    /// Passes before them that do not.
    discarded: u32,
    /// The command of `fio`; null where it runs no such program.
    argv: Option<Vec<String>>,
    /// How long a pass lasts, in seconds; null where that depends on the target.
    seconds_each: Option<f64>,
}

/// Runs it.
pub fn run(arguments: &BenchArguments, recipe: Recipe) -> Result<ExitCode, CommandError> {
    let stop = ctrl_c::listen()?;
    let wanted = Wanted {
        typed: &arguments.target,
        path: &arguments.path,
        channels: arguments.channels,
        engine: recipe.engine,
        through: arguments.through,
        address: None,
    };
    let target = Target::open(wanted, &stop)?;
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
    if let Some(note) = note {
        recorder.event(Event::note(&note))?;
    }
    let file = kept.as_ref().map(|kept| kept.file().to_owned());
    let path = passes(arguments, &recipe, &target, (file, recorder), &stop);
    drop(kept);
    let analysis = run_file_recorder::show(&path?, &arguments.output)?;
    Ok(run_file_recorder::exit_code(&analysis))
}

/// Leaves out tests whose blocks the disk cannot take past the client's cache, and says so.
fn leave_out_smaller(recipe: &mut Recipe, least: Bytes) -> Result<Option<Message>, CommandError> {
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
    let why = say("error-plan.multiples-only").bytes("size", least.get());
    if recipe.tests.is_empty() {
        let text = say("error-plan.nothing-runs").with("reason", why);
        return Err(CommandError::new(Kind::Usage, text).hint(say("hint-plan.larger-blocks")));
    }
    let note = say("run-note.tests-left-out").with("names", left_out);
    Ok(Some(note.with("reason", why)))
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
    let stage = say("told-plan.recipe-on").with("recipe", &recipe.title);
    progress.stage(&said(&stage.with("target", &target.name)));
    let mut measured = false;
    let mut id = 0;
    for (place, (test, direction)) in steps.iter().enumerate() {
        if place > 0 {
            pause(recipe.pause_seconds, stop);
        }
        let workload = target.workload(recipe, (test, *direction), file.clone());
        for pass in 0..each {
            if stop.is_asked() {
                return Err(ctrl_c::interrupted());
            }
            let discarded = pass < recipe.discard;
            progress.detail(&pass_step((test, *direction), pass, discarded));
            let stage = Stage::Bench {
                repetition: pass.saturating_sub(recipe.discard),
                test: Some(test.name.clone()),
                discarded,
            };
            let failure = record_pass(target, &workload, (id, stage), &mut recorder, stop)?;
            measured |= failure.is_none();
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

/// What is done in a pass, for people.
fn pass_step((test, direction): (&RecipeTest, Direction), pass: u32, discarded: bool) -> String {
    let step = say(match discarded {
        true => "told-plan.pass-discarded",
        false => "told-plan.pass-counted",
    });
    let step = step.with("test", &test.name).with("direction", direction);
    said(&step.count("pass", pass + 1))
}

/// Runs one pass and writes it down; gives why it failed, where it did.
fn record_pass(
    target: &Target,
    workload: &Workload,
    (id, stage): (u64, Stage),
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<Option<Failure>, CommandError> {
    let started = recorder.now();
    let (outcome, load) = target.pass(workload, stop);
    let ended = recorder.now();
    let failure = match &outcome {
        Outcome::Measured(_) => None,
        Outcome::Failed(failure) => Some(failure.clone()),
    };
    recorder.append_record(&Record::Trial(Box::new(TrialRecord {
        id,
        stage,
        workload: workload.clone(),
        settings: Vec::new(),
        started,
        ended,
        outcome,
        loads: load.into_iter().collect(),
    })))?;
    Ok(failure)
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
    let commands = fio_commands(recipe, target);
    if arguments.output.json {
        let tests = steps.iter().zip(commands);
        let tests = tests.map(|((test, direction), argv)| PlannedTest {
            test: &test.name,
            direction: *direction,
            passes: recipe.passes,
            discarded: recipe.discard,
            argv,
            seconds_each: lasts(recipe, test),
        });
        stdout_and_stderr::print_json(&BenchPlan {
            dry_run: true,
            target: &target.name,
            recipe,
            tests: tests.collect(),
            seconds,
            room_bytes: room(recipe),
            written: Language::English.within(|| written(recipe, target)),
        });
        return;
    }
    stdout_and_stderr::print_drawn(&schedule(recipe, &steps));
    for command in commands.iter().flatten() {
        stdout_and_stderr::print(&format!("  {}", command.join(" ")));
    }
    for line in written(recipe, target) {
        stdout_and_stderr::print(&format!("  {line}"));
    }
    let has_task = recipe.tests.iter().any(|test| test.task.is_some());
    let takes = say(match (target.place(), has_task) {
        (None, _) => "told-plan.bench-takes",
        (Some(_), true) => "told-plan.bench-takes-there",
        (Some(_), false) => "told-plan.bench-takes-and-file",
    });
    let takes = takes
        .with("recipe", &recipe.title)
        .with("target", &target.name);
    let takes = takes.with("seconds", format!("{seconds:.0}"));
    stdout_and_stderr::print(&said(&takes));
}

/// The passes of each test as a table.
fn schedule(recipe: &Recipe, steps: &[(&RecipeTest, Direction)]) -> String {
    let rows: Vec<Vec<String>> = steps
        .iter()
        .map(|(test, direction)| {
            let passes = say("told-plan.passes").count("passes", recipe.passes);
            let each = match lasts(recipe, test) {
                Some(seconds) => say("told-plan.seconds").with("seconds", seconds.to_string()),
                None => say("told-plan.until-done"),
            };
            vec![
                test.name.clone(),
                said(&(*direction).into()),
                said(&passes.count("discarded", recipe.discard)),
                said(&each),
            ]
        })
        .collect();
    let headings = [
        "recipe-column.test",
        "recipe-column.way",
        "told-plan.column-passes",
        "told-plan.column-each",
    ];
    table(headings, &rows)
}

/// The command of `fio` for each step, where it runs in a folder.
fn fio_commands(recipe: &Recipe, target: &Target) -> Vec<Option<Vec<String>>> {
    let steps = recipe.steps().into_iter();
    let commands = steps.map(|step| match target.workload(recipe, step, None) {
        Workload::Folder(workload) => {
            let file = Path::new(&workload.folder).join("FILE");
            Some(measure::fio_command(&workload, &file, true).argv)
        }
        Workload::Tcp(_) | Workload::Share(_) | Workload::Task(_) | Workload::Job(_) => None,
    });
    commands.collect()
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
        Task::Copy(_) | Task::Stream(_) => moved,
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

/// What is written where, and that it does not stay, in the language that is spoken.
fn written(recipe: &Recipe, target: &Target) -> Vec<String> {
    if target.place().is_none() {
        return Vec::new();
    }
    let name = &target.name;
    let mut lines = Vec::new();
    if recipe.needs_file() {
        let line = say("told-plan.writes-file").bytes("size", recipe.file_size.get());
        lines.push(said(&line.with("target", name)));
    }
    for test in &recipe.tests {
        if let Some(task) = &test.task {
            let line = say("told-plan.writes-files")
                .with("test", &test.name)
                .with("task", report::task_text(task));
            lines.push(said(&line.with("target", name)));
        }
    }
    let line = say("told-plan.writes-at-most").bytes("size", room(recipe).get());
    lines.push(said(&line));
    lines
}
