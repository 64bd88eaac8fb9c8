//! `xtask truth`: presets of `bench` against the very tools that they stand for, in turn on the same
//! machine: `iperf` against iperf3's own client on links of 1 and 10 Gbit/s, and the rows of `cdm9` in a
//! folder against `fio` by hand. That folder is on a disk whose rate is held: the same job by hand twice
//! in turn differs by a tenth and more on the disks and in the memory of virtual machines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use lab::Topology;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use stats::Unit;

use crate::lab_and_program::{self, Guard, Result, program, random_seed, wants};

/// Name of the lab.
const LAB: &str = "truth";
/// Port of the server that iperf3's own client calls; linerate starts its own.
const PORT: &str = "5301";
/// Where the lab's host has its disk, and what that reads and writes in a second.
const DISK: &str = "/run/linerate/shares/disk";
const DISK_RATE: &str = "20MiB";
/// Seconds of each test of raw TCP.
const TCP_SECONDS: &str = "3";
/// How far a preset may be off.
const BAND: f64 = 0.02;

/// The rows of `cdm9` as somebody types them: name, what follows `--rw=` and `--rw=rand`, block, depth.
const JOBS: [(&str, bool, &str, &str); 4] = [
    ("SEQ 1 MiB Q8 T1", false, "1m", "8"),
    ("SEQ 1 MiB Q1 T1", false, "1m", "1"),
    ("RND 4 KiB Q32 T1", true, "4k", "32"),
    ("RND 4 KiB Q1 T1", true, "4k", "1"),
];

/// What is compared.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Rounds; six are as few as give an interval of 95 %
    #[arg(long, value_name = "N", default_value_t = 6)]
    rounds: usize,
    /// Read and write in this folder of this machine, and not on the disk of a lab
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Parts of it; both without any
    #[arg(value_name = "PART", value_parser = ["iperf", "fio"])]
    only: Vec<String>,
}

/// A figure of one of the two ways to get it, by what it is of.
type Figures = Vec<(String, f64)>;

/// Whether all figures are near enough to each other.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let (rounds, only) = (arguments.rounds, &arguments.only);
    let mut random = ChaCha8Rng::seed_from_u64(random_seed()?);
    println!(
        "                                   |   linerate |    by hand | ratio, and 95 % of its median"
    );
    let mut well = true;
    if wants(only, "iperf") {
        for rate in ["1Gbit", "10Gbit"] {
            well &= iperf(rate, rounds, &mut random)?;
        }
    }
    if wants(only, "fio") {
        well &= match &arguments.folder {
            Some(folder) => {
                fs::create_dir_all(folder)?;
                fio(&Spot::Here(folder.canonicalize()?), rounds, &mut random)?
            }
            None => {
                let disk = format!(
                    "[samba]\nhost = \"server\"\n[[samba.share]]\nname = \"disk\"\nmedium = \"disk\"\n\
                     rate = \"{DISK_RATE}\"\nsize = \"512MiB\"\n"
                );
                let _lab = up("1Gbit", &disk)?;
                fio(&Spot::Lab, rounds, &mut random)?
            }
        };
    }
    Ok(well)
}

/// A lab of two hosts; `more` is what its file says besides.
fn up(rate: &str, more: &str) -> Result<Guard> {
    let text = format!(
        "[[host]]\nname = \"client\"\n[[host]]\nname = \"server\"\n[[link]]\n\
         from = {{ host = \"client\", nic = \"lan1\", address = \"10.77.1.1/24\" }}\n\
         to = {{ host = \"server\", nic = \"lan1\", address = \"10.77.1.2/24\" }}\n\
         rate = \"{rate}\"\nmtu = 1500\n{more}"
    );
    lab_and_program::up(&program()?, LAB, &Topology::parse(&text)?)
}

/// What runs a command on a host of the lab.
fn at(host: &str) -> Result<Command> {
    let mut command = Command::new(program()?);
    command.args(["lab", "run", &format!("lab://{LAB}/{host}"), "--"]);
    Ok(command)
}

fn iperf(rate: &str, rounds: usize, random: &mut ChaCha8Rng) -> Result<bool> {
    let program = program()?;
    let _lab = up(rate, "")?;
    let mut server = at("server")?
        .args(["iperf3", "--server", "--port", PORT])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let by_linerate = || {
        let output = Command::new(&program)
            .args(["bench", "tcp://10.77.1.2", "--preset", "iperf", "--json"])
            .args(["--seconds", TCP_SECONDS, "--repetitions", "1"])
            .args(["--client", &format!("lab://{LAB}/client")])
            .args(["--server", &format!("lab://{LAB}/server")])
            .args(["--run", "/dev/shm/linerate-truth.jsonl"])
            .output();
        fs::remove_file("/dev/shm/linerate-truth.jsonl").ok();
        figures(&output?.stdout)
    };
    let by_hand = || {
        let mut found = Figures::new();
        for (way, more) in [("read", &["--reverse"][..]), ("write", &[])] {
            let output = at("client")?
                .args(["iperf3", "--client", "10.77.1.2", "--port", PORT])
                .args(["--time", TCP_SECONDS, "--json"])
                .args(more)
                .output()?;
            let said: Value = serde_json::from_slice(&output.stdout)?;
            let bits = said["end"]["sum_received"]["bits_per_second"].as_f64();
            found.push((format!("one stream {way}"), bits.ok_or("no figure")? / 8.0));
        }
        Ok(found)
    };
    // The first of both is thrown away: routes and neighbours are looked up, the server comes up.
    by_linerate()?;
    by_hand()?;
    let well = in_turn(
        &format!("iperf {rate}"),
        rounds,
        random,
        &by_linerate,
        &by_hand,
    );
    server.kill().ok();
    server.wait().ok();
    well
}

/// Where the rows are read and written.
enum Spot {
    /// In the lab, on the server's disk.
    Lab,
    /// In a folder of this machine.
    Here(PathBuf),
}

impl Spot {
    fn folder(&self) -> &Path {
        match self {
            Self::Lab => Path::new(DISK),
            Self::Here(folder) => folder,
        }
    }

    fn fio(&self) -> Result<Command> {
        match self {
            Self::Lab => {
                let mut command = at("server")?;
                command.arg("fio");
                Ok(command)
            }
            Self::Here(_) => Ok(Command::new("fio")),
        }
    }

    fn client(&self) -> String {
        match self {
            Self::Lab => format!("lab://{LAB}/server"),
            Self::Here(_) => "local".to_owned(),
        }
    }
}

/// Row by row, so that the two ways are as near to each other in time as can be.
fn fio(spot: &Spot, rounds: usize, random: &mut ChaCha8Rng) -> Result<bool> {
    let program = program()?;
    let own = tempfile::tempdir()?;
    let (recipe, run) = (own.path().join("row.toml"), own.path().join("run.jsonl"));
    let file = spot.folder().join("by-hand.bin");
    let mut well = true;
    for way in ["read", "write"] {
        for job in JOBS {
            fs::write(&recipe, row(job, way))?;
            let by_linerate = || {
                let output = Command::new(&program)
                    .arg("bench")
                    .arg(spot.folder())
                    .args(["--json", "--client", &spot.client(), "--recipe"])
                    .arg(&recipe)
                    .arg("--run")
                    .arg(&run)
                    .output();
                fs::remove_file(&run).ok();
                figures(&output?.stdout)
            };
            let by_hand = || by_hand(spot, job, way, &file);
            // The first lays the file out.
            by_hand()?;
            well &= in_turn("cdm9", rounds, random, &by_linerate, &by_hand)?;
        }
    }
    if matches!(spot, Spot::Here(_)) {
        fs::remove_file(&file).ok();
    }
    Ok(well)
}

/// One row of `cdm9`, shorter and once.
fn row((name, random, block, depth): (&str, bool, &str, &str), way: &str) -> String {
    let pattern = if random { "random" } else { "sequential" };
    let block = block.replace('m', " MiB").replace('k', " KiB");
    format!(
        r#"
title = "a row of cdm9"
file_size = "32 MiB"
seconds = 2
passes = 1
figure = "best"

[[test]]
name = "{name}"
pattern = "{pattern}"
directions = ["{way}"]
block = "{block}"
depth = {depth}
"#
    )
}

fn by_hand(
    spot: &Spot,
    (name, random, block, depth): (&str, bool, &str, &str),
    way: &str,
    file: &Path,
) -> Result<Figures> {
    let prefix = if random { "rand" } else { "" };
    let output = spot
        .fio()?
        .args([
            "--name=by-hand",
            "--size=32m",
            "--ioengine=libaio",
            "--direct=1",
        ])
        .args(["--time_based", "--runtime=2", "--output-format=json"])
        .args(["--norandommap", "--randrepeat=0"])
        .arg(format!("--filename={}", file.display()))
        .arg(format!("--rw={prefix}{way}"))
        .arg(format!("--bs={block}"))
        .arg(format!("--iodepth={depth}"))
        .output()?;
    let said: Value = serde_json::from_slice(&output.stdout)?;
    let rate = said["jobs"][0][way]["bw_bytes"].as_f64();
    Ok(vec![(format!("{name} {way}"), rate.ok_or("no figure")?)])
}

/// What the original would print of each test, from the JSON of `bench`.
fn figures(output: &[u8]) -> Result<Figures> {
    let said: Value = serde_json::from_slice(output)?;
    let tests = said["bench"].as_array().ok_or("no tests")?;
    let figure = |test: &Value| {
        let words = [&test["test"]["name"], &test["workload"]["direction"]];
        let [name, way] = words.map(|word| word.as_str().unwrap_or_default());
        let figure = test["test"]["figure"].as_f64();
        Ok((format!("{name} {way}"), figure.ok_or("no figure")?))
    };
    tests.iter().map(figure).collect()
}

/// Both ways in each round, in random order; whether the median of their ratios is near enough to 1.
fn in_turn(
    what: &str,
    rounds: usize,
    random: &mut ChaCha8Rng,
    by_linerate: &dyn Fn() -> Result<Figures>,
    by_hand: &dyn Fn() -> Result<Figures>,
) -> Result<bool> {
    let mut found: Vec<(String, Vec<[f64; 2]>)> = Vec::new();
    for _ in 0..rounds {
        let mut order = [0, 1];
        order.shuffle(random);
        let mut both = [Figures::new(), Figures::new()];
        for way in order {
            both[way] = if way == 0 { by_linerate()? } else { by_hand()? };
        }
        let [ours, theirs] = both;
        for (name, figure) in ours {
            let same = theirs.iter().find(|(other, _)| *other == name);
            let pair = [figure, same.ok_or("the other has no such test")?.1];
            match found.iter_mut().find(|(known, _)| *known == name) {
                Some((_, pairs)) => pairs.push(pair),
                None => found.push((name, vec![pair])),
            }
        }
    }
    let mut well = true;
    for (name, pairs) in &found {
        let median = |values: Vec<f64>, unit| stats::median(&values, BAND, 0.95, unit);
        let rates = [0, 1].map(|way| {
            let rates = pairs.iter().map(|pair| pair[way]).collect();
            let median = median(rates, Unit::BytesPerSecond);
            median.map_or_else(String::new, |median| report::quantity::rate(median.value))
        });
        let ratios = pairs.iter().map(|[ours, theirs]| ours / theirs).collect();
        let ratio = median(ratios, Unit::Ratio).ok_or("no round")?;
        let near = (ratio.value - 1.0).abs() <= BAND;
        well &= near;
        println!(
            "{:34} | {:>10} | {:>10} | {}{}",
            format!("{what} {name}"),
            rates[0],
            rates[1],
            report::quantity::estimate_with_interval(&ratio),
            if near { "" } else { "  OFF" }
        );
    }
    Ok(well)
}
