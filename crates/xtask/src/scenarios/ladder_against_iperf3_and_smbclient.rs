//! The ladder against other tools in the same lab, by turns: raw TCP against iperf3's own client, the share
//! against smbclient.

use std::path::Path;
use std::process::Command as Process;

use host::exec::{Command, Exec, run_one};
use serde_json::{Value, json};

use super::{LAB, confusion_matrix, up};
use crate::lab_and_program::{median, smbclient_rate};

/// The lab, where the network and not this machine is the limit.
const SCENARIO: &str = "healthy-1g";
const SERVER: &str = "10.77.1.2";
/// Port of the other iperf3; ours is on one of its own.
const PORT: &str = "5999";
/// Large enough that opening it and the first round trips are nothing.
const FILE_BYTES: u64 = 256 << 20;
const FILE: &str = "/run/linerate/truth";
/// How far a rate may be from what the other tool measures.
const TOLERANCE: f64 = 0.03;

/// A rung of the ladder and who measures the same.
const RUNGS: [(&str, &str, &str); 4] = [
    ("tcp", "read", "iperf3 -R"),
    ("tcp", "write", "iperf3"),
    ("share", "read", "smbclient get"),
    ("share", "write", "smbclient put"),
];

/// Bytes per second of each rung, in the order of `RUNGS`.
type Rates = [f64; RUNGS.len()];

pub fn compare(program: &Path, rounds: usize) -> (confusion_matrix::Figure, Value) {
    let scenario = lab::scenario(SCENARIO).expect("it is in the library");
    let lab = up(program, &scenario.topology);
    let [client, server] = ["client", "server"].map(|name| {
        let host = lab.0.host(name).expect("the lab has it");
        host.exec
    });
    tell(&*server, &["iperf3", "-s", "-D", "-p", PORT]);
    tell(&*client, &["truncate", "-s", &FILE_BYTES.to_string(), FILE]);
    put(&*client);
    let mut ours = vec![Vec::new(); RUNGS.len()];
    let mut theirs = ours.clone();
    for round in 0..rounds {
        // Whoever is first has a machine that rested.
        let (mine, others) = if round % 2 == 0 {
            let mine = ladder(program);
            (mine, other_tools(&*client))
        } else {
            let others = other_tools(&*client);
            (ladder(program), others)
        };
        for rung in 0..RUNGS.len() {
            ours[rung].push(mine[rung]);
            theirs[rung].push(others[rung]);
        }
    }
    let mut worst = 0.0_f64;
    let mut found = Vec::new();
    for (index, (rung, direction, tool)) in RUNGS.into_iter().enumerate() {
        let of = |rates: &[f64]| median(rates.to_vec()).expect("there were rounds");
        let (mine, other) = (of(&ours[index]), of(&theirs[index]));
        let ratio = mine / other;
        worst = worst.max((ratio - 1.0).abs());
        println!(
            "{rung:5} {direction:5}: {:6.1} MB/s, {tool:13} {:6.1} MB/s, ratio {ratio:.4}",
            mine / 1e6,
            other / 1e6
        );
        found.push(json!({
            "rung": rung, "direction": direction, "tool": tool,
            "ours": ours[index], "theirs": theirs[index], "ratio": ratio,
        }));
    }
    let figure = confusion_matrix::Figure {
        what: "rates of the ladder against other tools in the same lab".into(),
        found: format!("{:.2} % off at most", 100.0 * worst),
        wanted: format!("within {:.0} %", 100.0 * TOLERANCE),
        reached: worst <= TOLERANCE,
    };
    (figure, Value::Array(found))
}

/// A short check.
fn ladder(program: &Path) -> Rates {
    let mut command = Process::new(program);
    command.args(["check", &format!("smb://{SERVER}/media"), "--json"]);
    for end in ["client", "server"] {
        command.args([format!("--{end}"), format!("lab://{LAB}/{end}")]);
    }
    command.args(["--repetitions", "1", "--seconds", "2"]);
    let output = command.output().expect("linerate starts");
    let said: Value = serde_json::from_slice(&output.stdout).expect("a check says JSON");
    let rungs = said["ladder"].as_array().expect("a ladder has rungs");
    RUNGS.map(|(rung, direction, _)| {
        let found = rungs
            .iter()
            .find(|one| one["rung"] == rung && one["direction"] == direction);
        let rate = found.and_then(|rung| rung["rate"]["value"].as_f64());
        rate.expect("the rung was measured")
    })
}

fn other_tools(client: &dyn Exec) -> Rates {
    [
        iperf3(client, &["-R"]),
        iperf3(client, &[]),
        smbclient(client, &format!("get truth {FILE}.back"), "getting file"),
        put(client),
    ]
}

fn put(client: &dyn Exec) -> f64 {
    smbclient(client, &format!("put {FILE} truth"), "putting file")
}

fn iperf3(client: &dyn Exec, options: &[&str]) -> f64 {
    let mut argv = vec!["iperf3", "-c", SERVER, "-p", PORT, "-J", "-t", "2"];
    // Without the time in which TCP only gets under way, as in our own trials.
    argv.extend(["-O", "1"]);
    argv.extend(options);
    let said: Value = serde_json::from_str(&tell(client, &argv)).expect("JSON of iperf3");
    let rate = said["end"]["sum_received"]["bits_per_second"].as_f64();
    rate.expect("a rate of iperf3") / 8.0
}

fn smbclient(client: &dyn Exec, task: &str, says: &str) -> f64 {
    let said = tell(
        client,
        &[
            "smbclient",
            "--configfile=/dev/null",
            "--authentication-file",
            lab::CREDENTIALS_IN_HOST,
            "--debuglevel=1",
            &format!("//{SERVER}/media"),
            "-c",
            task,
        ],
    );
    smbclient_rate(&said, says).expect("a rate of smbclient")
}

/// What a command says on both of its streams.
fn tell(host: &dyn Exec, argv: &[&str]) -> String {
    let output = run_one(host, &Command::new(argv.iter().copied())).expect("it can be run");
    assert_eq!(output.status, 0, "{argv:?}: {output:?}");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}
