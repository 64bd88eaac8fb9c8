//! `xtask speeds`: linerate's SMB engine against other programs, on the same LAN, the same server and
//! the same files, round by round in random order.
//!
//! BENCHMARKS.md says how to repeat it and what to make of it.

mod compared_programs;
mod free_memory_warming;
mod lan_and_files;
mod linerate_transfer_process;
mod null_smb_server;
mod summary;
mod workload;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use clap::{Args, Subcommand};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use compared_programs::{ENGINES, Engine};
use lan_and_files::Field;
use null_smb_server::Null;
use summary::Run;
use workload::{FarEnd, Workload};

use crate::lab_and_program::{Result, chain, first_line, random_seed, say, take_down};
use free_memory_warming::memory_kib;

/// Where the results go.
const FOLDER: &str = "target/bench";
/// Memory that the largest files and a margin need.
const MEMORY_KIB_MIN: u64 = 6 << 20;
/// Above this load others use the machine, too.
const LOAD_QUIET: f64 = 1.0;

/// What is measured, and how often. `make bench` says it in the environment.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Workloads, separated by commas; all without any
    #[arg(long, env = "ONLY", value_name = "NAMES", default_value = "")]
    only: String,
    /// Programs, separated by commas; all without any
    #[arg(long, env = "ENGINES", value_name = "NAMES", default_value = "")]
    engines: String,
    /// Rounds that count; one more before them is thrown away
    #[arg(long, env = "ROUNDS", value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// Seed of the order, to have one again
    #[arg(long, env = "SEED", value_name = "SEED")]
    seed: Option<u64>,
    #[command(subcommand)]
    part: Option<Part>,
}

/// What this program starts itself as, in the lab.
#[derive(Debug, Subcommand)]
enum Part {
    /// Move one file, as the client
    #[command(hide = true)]
    Transfer { order: String },
    /// Be the server that is not the limit
    #[command(hide = true)]
    Serve { bytes: u64 },
}

pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.part {
        Some(Part::Transfer { order }) => {
            let done = linerate_transfer_process::run(order)?;
            println!("{}", json!(done));
            Ok(())
        }
        Some(Part::Serve { bytes }) => serve(*bytes),
        None => bench(Plan::of(arguments)?),
    }
}

/// Is the server that is not the limit, with a file of so many bytes, until our input ends.
fn serve(bytes: u64) -> Result<()> {
    let server = Arc::new(Null::new(bytes)?);
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, FarEnd::Null.port()))?;
    println!("listening");
    let serving = Arc::clone(&server);
    thread::spawn(move || serving.serve(&listener));
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    println!("{}", json!(server.tally()));
    Ok(())
}

/// The arguments as they are meant.
struct Plan {
    workloads: Vec<&'static Workload>,
    engines: Vec<Engine>,
    rounds: usize,
    seed: u64,
}

impl Plan {
    fn of(arguments: &Arguments) -> Result<Self> {
        Ok(Self {
            workloads: workload::chosen(&arguments.only)?,
            engines: compared_programs::chosen(&arguments.engines)?,
            rounds: arguments.rounds.clamp(1, 1000),
            seed: arguments.seed.map_or_else(random_seed, Ok)?,
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
                take_down(&name);
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

fn bench(plan: Plan) -> Result<()> {
    let (engines, missing) = installed(&plan.engines);
    missing.iter().for_each(|reason| say(reason));
    let machine = machine();
    check_machine()?;
    fs::create_dir_all(FOLDER)?;
    say(&format!(
        "seed {}, {} rounds after one that does not count",
        plan.seed, plan.rounds
    ));
    let mut bench = Bench {
        engines,
        machine,
        interrupt: Interrupt::listen()?,
        random: ChaCha8Rng::seed_from_u64(plan.seed),
        runs: Vec::new(),
        troubles: Vec::new(),
        plan,
    };
    let workloads = bench.plan.workloads.clone();
    let same_lan = |one: &&Workload, other: &&Workload| one.lan == other.lan;
    for (number, group) in workloads.chunk_by(same_lan).enumerate() {
        bench.measure(number, group)?;
    }
    println!("{}", summary::table(&workloads, &bench.runs));
    missing.iter().for_each(|reason| println!("{reason}"));
    match bench.troubles.is_empty() {
        true => Ok(()),
        false => Err(bench.troubles.join("\nerror: ").into()),
    }
}

/// A plan, and what has come of it so far.
struct Bench {
    plan: Plan,
    /// Those of the plan that this machine has.
    engines: Vec<Engine>,
    machine: Value,
    interrupt: Interrupt,
    random: ChaCha8Rng,
    runs: Vec<Run>,
    troubles: Vec<String>,
}

impl Bench {
    /// Workloads of one LAN. Those that move the same file take turns, so that they can be compared with each other, too.
    fn measure(&mut self, number: usize, group: &[&'static Workload]) -> Result<()> {
        let name = format!("bench-{}-{number}", process::id());
        let field = match self.interrupt.field(name, group[0]) {
            Ok(field) => field,
            Err(error) => {
                self.interrupt.check()?;
                let error = chain(error.as_ref());
                self.troubles.push(format!("{}: {error}", group[0].name));
                return Ok(());
            }
        };
        for alike in group.chunk_by(|one, other| one.is_like(other)) {
            self.take_turns(alike, &field)?;
            // What was measured stays, whatever happens to the rest.
            self.write()?;
        }
        Ok(())
    }

    fn take_turns(&mut self, alike: &[&'static Workload], field: &Field) -> Result<()> {
        alike.iter().for_each(|workload| say(workload.name));
        field.furnish(alike[0])?;
        let mut left = Vec::new();
        for &workload in alike {
            let able = self.engines.iter().copied();
            let able = able.filter(|engine| engine.takes(workload));
            left.extend(able.map(|engine| (workload, engine)));
        }
        for round in 0..=self.plan.rounds {
            left.shuffle(&mut self.random);
            left.retain(|&(workload, engine)| self.plays(workload, engine, round, field));
            self.interrupt.check()?;
        }
        Ok(())
    }

    /// One engine's turn; whether it has another one.
    fn plays(&mut self, workload: &Workload, engine: Engine, round: usize, field: &Field) -> bool {
        match play(engine, workload, round, field) {
            Ok(run) => {
                self.runs.extend(run);
                true
            }
            Err(error) => {
                let error = chain(error.as_ref());
                let trouble = format!("{}: {}: {error}", workload.name, engine.name());
                self.troubles.push(trouble);
                false
            }
        }
    }

    /// Writes the summary, and beside it every run, so that others can compute their own.
    fn write(&self) -> Result<()> {
        let (folder, workloads) = (Path::new(FOLDER), &self.plan.workloads);
        let summary = summary::json(workloads, &self.runs);
        fs::write(folder.join("summary.json"), format!("{summary:#}\n"))?;
        let markdown = summary::markdown(workloads, &self.runs);
        fs::write(folder.join("summary.md"), markdown)?;
        let all = json!({
            "seed": self.plan.seed, "rounds": self.plan.rounds,
            "machine": self.machine, "runs": self.runs,
        });
        Ok(fs::write(folder.join("runs.json"), format!("{all:#}\n"))?)
    }
}

/// One engine's turn. The first round warms up, and is looked at most closely instead.
fn play(engine: Engine, workload: &Workload, round: usize, field: &Field) -> Result<Option<Run>> {
    let (cost, server_cpu_seconds) = engine.run(workload, field)?;
    if round > 0 {
        return Ok(Some(Run {
            workload: workload.name,
            counted: workload.counts(cost.bytes).0,
            round,
            engine,
            cost,
            server_cpu_seconds,
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
    let available = memory_kib("MemAvailable")?;
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
