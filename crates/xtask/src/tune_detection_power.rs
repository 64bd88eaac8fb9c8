//! `xtask differences`: `tune` on real labs whose MTU makes a known difference, and how often it finds that.
//! On a link with a rate, frames of 1500 bytes carry 1448 of payload in 1538; other MTUs carry 3 or 5 % more. Where
//! nothing is to be found, the change is a setting that no packet meets. Another host fills a part of the link
//! now and then, so that trials differ.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use clap::Args;
use lab::Topology;
use serde_json::Value;

use crate::lab_and_program::{Result, program, up, wants};

/// Labs of each difference.
const LABS: u64 = 20;
/// Labs that are up at the same time: their links are slow, and none of them waits for a processor.
const AT_ONCE: u64 = 2;
/// Counted seconds of each trial.
const SECONDS: &str = "0.5";

/// On how many labs, and which of them.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Labs of each difference
    #[arg(long, value_name = "N", default_value_t = LABS)]
    labs: u64,
    /// Labs that are up at the same time
    #[arg(long, value_name = "N", default_value_t = AT_ONCE, value_parser = clap::value_parser!(u64).range(1..))]
    at_once: u64,
    /// Seed of the first lab
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    first: u64,
    /// Differences in percent; all without any
    #[arg(value_name = "PERCENT", value_parser = DIFFERENCES.map(|difference| difference.percent))]
    only: Vec<String>,
}

/// A difference in percent, what makes it, and how often it must be found and may be.
struct Difference {
    percent: &'static str,
    rule: &'static str,
    found: [f64; 2],
}

/// 2948 of 3038 against 1448 of 1538 is 3.07 % more, 7748 of 7838 is 5.00 % more.
const DIFFERENCES: [Difference; 3] = [
    Difference {
        percent: "0",
        rule: "knob = 'tcp.mtu_probing'\nset = 1",
        found: [0.0, 0.05],
    },
    Difference {
        percent: "3",
        rule: "knob = 'nic.mtu'\nset = 3000",
        found: [0.8, 1.0],
    },
    Difference {
        percent: "5",
        rule: "knob = 'nic.mtu'\nset = 7800",
        found: [0.95, 1.0],
    },
];

/// Whether each difference was found as often as it must be.
pub fn run(arguments: &Arguments) -> Result<bool> {
    let seeds = arguments.first..arguments.first + arguments.labs;
    let mut well = true;
    for difference in &DIFFERENCES {
        if wants(&arguments.only, difference.percent) {
            well &= measure(difference, seeds.clone(), arguments.at_once)?;
        }
    }
    Ok(well)
}

fn measure(difference: &Difference, seeds: Range<u64>, at_once: u64) -> Result<bool> {
    let labs = seeds.end - seeds.start;
    let mut found = 0;
    for start in seeds.clone().step_by(at_once as usize) {
        let tuned = thread::scope(|scope| {
            let some = start..(start + at_once).min(seeds.end);
            let running: Vec<_> = some
                .map(|seed| (seed, scope.spawn(move || tune(difference, seed))))
                .collect();
            let ended = running.into_iter();
            ended
                .map(|(seed, lab)| lab.join().map(|tuned| (seed, tuned)))
                .collect::<thread::Result<Vec<_>>>()
        });
        for (seed, tuned) in tuned.expect("no lab panics") {
            let tuned = tuned?;
            found += u64::from(tuned.kept);
            println!("{} %, seed {seed}: {}", difference.percent, tuned.said);
        }
    }
    let share = found as f64 / labs as f64;
    let [least, most] = difference.found;
    let good = (least..=most).contains(&share);
    let missed = if good { "" } else { "  missed" };
    println!(
        "{} %: found on {found} of {labs} labs{missed}",
        difference.percent
    );
    Ok(good)
}

/// What `tune` made of a lab.
struct Tuned {
    kept: bool,
    said: String,
}

fn tune(difference: &Difference, seed: u64) -> Result<Tuned> {
    let name = format!("differs-{}-{seed}", difference.percent);
    let program = program()?;
    let _lab = up(&program, &name, &Topology::parse(LAN)?)?;
    let folder = tempfile::tempdir()?;
    let profile = folder.path().join("differs.toml");
    let text = format!(
        "meaning = 'a known difference'\n[[rule]]\n{}\nwhy = 'to see whether it is found'\n",
        difference.rule
    );
    fs::write(&profile, text)?;
    let output = command(&program, folder.path())
        .args([
            "tune",
            "smb://10.77.1.2/media",
            "--json",
            "--seconds",
            SECONDS,
        ])
        .args(["--seed", &seed.to_string(), "--profile"])
        .arg(&profile)
        .args(["--client", &format!("lab://{name}/client")])
        .args(["--server", &format!("lab://{name}/server")])
        .arg("--run")
        .arg(folder.path().join("run.jsonl"))
        .output()?;
    let said: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        let why = String::from_utf8_lossy(&output.stderr);
        format!("no JSON ({error}): {why}")
    })?;
    judged(&said)
}

fn command(program: &Path, state: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("LINERATE_STATE_DIR", state.join("state"))
        .stdin(Stdio::null());
    command
}

/// Whether it was kept, and what the ratios of both directions were.
fn judged(said: &Value) -> Result<Tuned> {
    let experiments = said["experiments"].as_array().ok_or("no experiment")?;
    let tried = experiments.iter().find(|one| one["decision"].is_string());
    let tried = tried.ok_or("no decision")?;
    let effects = tried["effects"].as_array().ok_or("no effect")?;
    let ratio = |effect: &Value| {
        let ratio = &effect["ratio"];
        format!(
            "{} {} {:.4} [{:.4}, {:.4}] of {}",
            effect["phase"].as_str().unwrap_or_default(),
            effect["response"].as_str().unwrap_or_default(),
            ratio["value"].as_f64().unwrap_or(f64::NAN),
            ratio["interval"][0].as_f64().unwrap_or(f64::NAN),
            ratio["interval"][1].as_f64().unwrap_or(f64::NAN),
            ratio["n"],
        )
    };
    let effects: Vec<String> = effects.iter().map(ratio).collect();
    let decision = tried["decision"].as_str().unwrap_or_default();
    Ok(Tuned {
        kept: decision == "kept",
        said: format!("{decision}: {}", effects.join("; ")),
    })
}

const LAN: &str = r#"
[[host]]
name = "client"

[[host]]
name = "server"

[[link]]
from = { host = "client", nic = "lan1", address = "10.77.1.1/24" }
to = { host = "server", nic = "lan1", address = "10.77.1.2/24" }
rate = "500Mbit"

[samba]
host = "server"

[[samba.share]]
name = "media"
medium = "memory"
size = "512MiB"
"#;
