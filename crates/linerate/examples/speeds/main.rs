//! `make bench`: linerate's SMB engine against other programs, on the same LAN, the same server and
//! the same files, round by round in random order.
//!
//! BENCHMARKS.md says how to repeat it and what to make of it.

mod engine;
mod field;
mod null;
mod summary;
mod transfer;
mod workload;

use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use engine::{ENGINES, Engine};
use field::Field;
use null::Null;
use summary::Run;
use workload::{FarEnd, Workload};

/// Rounds that count, unless `ROUNDS` says otherwise. One more before them is thrown away.
const ROUNDS_DEFAULT: usize = 5;
/// Where the results go.
const FOLDER: &str = "target/bench";
/// Memory that the largest files and a margin need.
const MEMORY_KIB_MIN: u64 = 6 << 20;
/// Above this load others use the machine, too.
const LOAD_QUIET: f64 = 1.0;

/// Whatever went wrong.
pub type Failure = Box<dyn Error + Send + Sync>;
/// What may go wrong.
pub type Result<T> = std::result::Result<T, Failure>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match words[..] {
        // It has said on its standard output why it could not.
        ["supervise", name] => {
            return lab::supervise(name).map_or(ExitCode::FAILURE, |()| 0.into());
        }
        ["transfer", order] => {
            transfer::run(order).and_then(|done| print(&json!(done).to_string()))
        }
        ["serve", bytes] => serve(bytes),
        [] => bench(),
        _ => Err("no arguments are taken\nhint: see BENCHMARKS.md".into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {}", chain(error.as_ref())));
            ExitCode::FAILURE
        }
    }
}

/// Is the server that is not the limit, with a file of so many bytes, until our input ends.
fn serve(bytes: &str) -> Result<()> {
    let server = Arc::new(Null::new(bytes.parse()?)?);
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, FarEnd::Null.port()))?;
    print("listening")?;
    let serving = Arc::clone(&server);
    thread::spawn(move || serving.serve(&listener));
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    print(&json!(server.tally()).to_string())
}

/// Writes data.
fn print(text: &str) -> Result<()> {
    Ok(writeln!(io::stdout().lock(), "{text}")?)
}

/// Writes talk.
fn say(text: &str) {
    // Nobody is left to be told that nobody listens.
    writeln!(io::stderr().lock(), "{text}").ok();
}

/// An error with all its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// What the environment asks for.
struct Wishes {
    workloads: Vec<&'static Workload>,
    engines: Vec<Engine>,
    rounds: usize,
    seed: u64,
}

impl Wishes {
    fn read() -> Result<Self> {
        let number = |name: &str| -> Result<Option<u64>> {
            let text = env::var(name).ok();
            let parse = |text: String| {
                text.parse::<u64>()
                    .map_err(|error| format!("{name} is no number: {error}"))
            };
            Ok(text.map(parse).transpose()?)
        };
        let rounds = number("ROUNDS")?.map_or(Ok(ROUNDS_DEFAULT), usize::try_from)?;
        let new_seed = || getrandom::u64().map_err(|error| format!("no random number: {error}"));
        Ok(Self {
            workloads: workload::chosen(&env::var("ONLY").unwrap_or_default())?,
            engines: engine::chosen(&env::var("ENGINES").unwrap_or_default())?,
            rounds: rounds.clamp(1, 1000),
            seed: number("SEED")?.map_or_else(new_seed, Ok)?,
        })
    }
}

/// Ctrl-C: takes the lab down, which ends whatever runs in it and so the round.
#[derive(Clone, Default)]
struct Interrupt {
    asked: Arc<AtomicBool>,
    lab: Arc<Mutex<Option<String>>>,
}

impl Interrupt {
    fn listen() -> Result<Self> {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        ctrlc::set_handler(move || {
            heard.asked.store(true, Ordering::SeqCst);
            say("stopping");
            let lab = heard
                .lab
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            if let Some(name) = lab {
                field::take_down(&name);
            }
        })?;
        Ok(interrupt)
    }

    fn check(&self) -> Result<()> {
        if self.asked.load(Ordering::SeqCst) {
            Err("interrupted".into())
        } else {
            Ok(())
        }
    }

    fn field(&self, name: String, workload: &Workload) -> Result<Field> {
        *self.lab.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.clone());
        let field = Field::up(&name, workload.lan);
        self.check()?;
        field
    }
}

fn bench() -> Result<()> {
    let wishes = Wishes::read()?;
    let (engines, missing) = installed(&wishes.engines);
    missing.iter().for_each(|reason| say(reason));
    let machine = machine();
    check_machine()?;
    fs::create_dir_all(FOLDER)?;
    say(&format!(
        "seed {}, {} rounds after one that does not count",
        wishes.seed, wishes.rounds
    ));
    let interrupt = Interrupt::listen()?;
    let mut random = ChaCha8Rng::seed_from_u64(wishes.seed);
    let mut runs = Vec::new();
    let mut troubles = Vec::new();
    let same_lan = |one: &&Workload, other: &&Workload| one.lan == other.lan;
    for (number, group) in wishes.workloads.chunk_by(same_lan).enumerate() {
        let name = format!("bench-{}-{number}", process::id());
        let field = match interrupt.field(name, group[0]) {
            Ok(field) => field,
            Err(error) => {
                interrupt.check()?;
                troubles.push(format!("{}: {}", group[0].name, chain(error.as_ref())));
                continue;
            }
        };
        // Those that move the same file take turns, so that they can be compared with each other, too.
        for alike in group.chunk_by(|one, other| one.is_like(other)) {
            alike.iter().for_each(|workload| say(workload.name));
            field.furnish(alike[0])?;
            let turns = alike.iter().flat_map(|&workload| {
                let able = engines.iter().filter(|engine| engine.takes(workload));
                able.map(move |&engine| (workload, engine))
            });
            let mut left: Vec<(&Workload, Engine)> = turns.collect();
            for round in 0..=wishes.rounds {
                left.shuffle(&mut random);
                left.retain(
                    |&(workload, engine)| match play(engine, workload, round, &field) {
                        Ok(Some(run)) => {
                            runs.push(run);
                            true
                        }
                        Ok(None) => true,
                        Err(error) => {
                            let error = chain(error.as_ref());
                            troubles.push(format!("{}: {}: {error}", workload.name, engine.name()));
                            false
                        }
                    },
                );
                interrupt.check()?;
            }
            // What was measured stays, whatever happens to the rest.
            write(&wishes, &machine, &runs)?;
        }
    }
    print(&summary::table(&wishes.workloads, &runs))?;
    missing.iter().try_for_each(|reason| print(reason))?;
    if troubles.is_empty() {
        Ok(())
    } else {
        Err(troubles.join("\nerror: ").into())
    }
}

/// One engine's turn. The first round warms up, and is looked at most closely instead.
fn play(engine: Engine, workload: &Workload, round: usize, field: &Field) -> Result<Option<Run>> {
    let touches = match engine {
        // It writes to no file.
        Engine::Iperf3 => 0,
        _ => field.make_ready(workload)?,
    };
    let (cost, server_cpu_seconds) = engine.run(workload, field)?;
    if round > 0 {
        return Ok(Some(Run {
            workload: workload.name,
            counted: workload.counts(cost.bytes).0,
            round,
            engine,
            cost,
            server_cpu_seconds,
            touches,
        }));
    }
    if engine != Engine::Iperf3 {
        field.check_contents(workload)?;
    }
    Ok(None)
}

/// The engines that this machine has, and why it lacks the others.
fn installed(wanted: &[Engine]) -> (Vec<Engine>, Vec<String>) {
    let mut here = Vec::new();
    let mut missing = Vec::new();
    for &engine in wanted {
        match engine.missing() {
            None => here.push(engine),
            Some(reason) => missing.push(format!("{} not measured: {reason}", engine.name())),
        }
    }
    (here, missing)
}

/// What must be so for figures that mean something.
fn check_machine() -> Result<()> {
    let available = first_line("/proc/meminfo", "MemAvailable").unwrap_or_default();
    let available: u64 = available.trim_end_matches(" kB").parse()?;
    if available < MEMORY_KIB_MIN {
        return Err(format!("{available} KiB of memory are free, {MEMORY_KIB_MIN} needed").into());
    }
    if load() > LOAD_QUIET {
        say(&format!(
            "warning: others use this machine (load {}): do not keep the rates",
            load()
        ));
    }
    Ok(())
}

fn load() -> f64 {
    let text = first_line("/proc/loadavg", "").unwrap_or_default();
    text.split(' ')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0.0)
}

/// The value of the first line of a file that begins so, or nothing.
fn first_line(path: &str, begin: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(begin))?;
    Some(
        value
            .trim_start_matches([' ', '\t', ':', '='])
            .trim_matches('"')
            .to_owned(),
    )
}

/// What figures depend on.
fn machine() -> Value {
    let versions = ENGINES.map(|engine| (engine.name().to_owned(), json!(engine.version())));
    json!({
        "processor": first_line("/proc/cpuinfo", "model name"),
        "cores": thread::available_parallelism().map_or(0, usize::from),
        "memory": first_line("/proc/meminfo", "MemTotal"),
        "kernel": first_line("/proc/sys/kernel/osrelease", ""),
        "system": first_line("/etc/os-release", "PRETTY_NAME"),
        "load": load(),
        "versions": serde_json::Map::from_iter(versions),
    })
}

/// Writes the summary, and beside it every run, so that others can compute their own.
fn write(wishes: &Wishes, machine: &Value, runs: &[Run]) -> Result<()> {
    let folder = Path::new(FOLDER);
    let summary = summary::json(&wishes.workloads, runs);
    fs::write(folder.join("summary.json"), format!("{summary:#}\n"))?;
    let markdown = summary::markdown(&wishes.workloads, runs);
    fs::write(folder.join("summary.md"), markdown)?;
    let seed = wishes.seed;
    let all = json!({ "seed": seed, "rounds": wishes.rounds, "machine": machine, "runs": runs });
    Ok(fs::write(folder.join("runs.json"), format!("{all:#}\n"))?)
}
