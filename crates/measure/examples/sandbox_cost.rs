//! What the sandbox of a trial costs: the same trial in a process without rights, as in the program, and in one
//! with all rights, as pairs in random order. Needs root; `linerate_under_test` has to be built as well.
//!
//! `cargo run --release -p measure --example sandbox_cost [read|write|start [PAIRS]]`

#![expect(clippy::print_stdout, reason = "it prints a table")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lab::{Lab, Launcher, Topology};
use measure::{Runner, Stop};
use record::{
    Bytes, Credentials, Demands, Direction, Identity, Job, JobWorkload, Mechanism, Secret,
    ShareAddress, ShareWorkload, Timing, TrialInput, TrialResult, Workload,
};
use stats::{PairedRatios, Unit};

/// Pairs of trials of a second or more each, and of starts.
const PAIRS: u32 = 80;
const STARTS: u32 = 200;
const CONFIDENCE: f64 = 0.95;
/// What the sandbox may cost.
const RATIO_MAX: f64 = 1.02;
const START_MAX: Duration = Duration::from_millis(20);
/// Counted seconds of a trial: about 1.5 GB.
const COUNTED: Duration = Duration::from_millis(1500);
const LAB: &str = "sandbox-cost";
const SERVER: &str = "10.77.1.2";
/// A link without a rate, and a share in memory.
const TOPOLOGY: &str = r#"
[[host]]
name = "client"
[[host]]
name = "server"
[[link]]
from = { host = "client", nic = "lan1", address = "10.77.1.1/24" }
to = { host = "server", nic = "lan1", address = "10.77.1.2/24" }
mtu = 9000
[samba]
host = "server"
[[samba.share]]
name = "media"
medium = "memory"
size = "512MiB"
"#;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let orphaned = || std::process::exit(130);
    let good = match arguments.as_slice() {
        // With all rights.
        ["trial"] => {
            measure::trial_main(std::io::stdin(), std::io::stdout(), None, orphaned).is_ok()
        }
        ["supervise", name] => lab::supervise(name).is_ok(),
        [] => compare(&["read", "write", "start"], None),
        [what] => compare(&[what], None),
        [what, pairs] => compare(&[what], pairs.parse().ok()),
        _ => false,
    };
    match good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Measures each of these; whether all is within what it may cost, and that is beyond doubt.
fn compare(what: &[&str], pairs: Option<u32>) -> bool {
    let own = std::env::current_exe().expect("it runs");
    let apart = own
        .with_file_name("linerate_under_test")
        .display()
        .to_string();
    let own = own.display().to_string();
    lab::down(LAB).ok();
    let topology = Topology::parse(TOPOLOGY).expect("it is right");
    let launcher = Launcher::new([own.clone(), "supervise".to_owned()]);
    let lab = lab::up(LAB, &topology, &launcher).expect("we are root");
    let client = Arc::new(lab.namespace("client").expect("it is there").clone());
    let runners = [own, apart].map(|program| Runner::new(client.clone(), program));
    let arms = Arms {
        runners,
        credentials: credentials(&lab),
    };
    let within = what.iter().map(|what| match *what {
        "read" => costs(&arms, Direction::Read, pairs.unwrap_or(PAIRS)),
        "write" => costs(&arms, Direction::Write, pairs.unwrap_or(PAIRS)),
        "start" => starts(&arms, pairs.unwrap_or(STARTS)),
        _ => panic!("`read`, `write` or `start`"),
    });
    let within: Vec<bool> = within.collect();
    lab::down(LAB).expect("it was up");
    within.iter().all(|within| *within)
}

/// The same without a sandbox and with it.
struct Arms {
    runners: [Runner; 2],
    credentials: Credentials,
}

impl Arms {
    /// Runs both, in random order. Whether the first one was first.
    fn pair(
        &self,
        workload: &Workload,
        mut measured: impl FnMut(usize, &TrialResult, Duration),
    ) -> bool {
        let a_first = getrandom::u32().expect("random numbers") & 1 == 0;
        for arm in if a_first { [0, 1] } else { [1, 0] } {
            let begun = Instant::now();
            let result = run(&self.runners[arm], workload.clone(), &self.credentials);
            let took = begun.elapsed();
            assert_eq!(result.sandbox.is_some(), arm == 1);
            measured(arm, &result, took);
        }
        a_first
    }
}

/// Processor seconds of the client for each byte.
fn costs(arms: &Arms, direction: Direction, pairs: u32) -> bool {
    // The first ones fill caches and the file.
    arms.pair(&share(direction), |_, _, _| {});
    let mut bytes = 0;
    let blocks = (0..pairs).map(|block| {
        let mut costs = [0.0; 2];
        let a_first = arms.pair(&share(direction), |arm, result, _| {
            bytes += result.bytes().get();
            costs[arm] = result.cpu().get() as f64 / result.bytes().get() as f64;
        });
        (block, costs[0], costs[1], Some(a_first))
    });
    let blocks: Vec<_> = blocks.collect();
    let median = |costs: Vec<f64>| {
        let median = stats::median(&costs, 0.02, CONFIDENCE, Unit::SecondsPerByte);
        median.expect("there are pairs").value
    };
    let without = median(blocks.iter().map(|block| block.1).collect());
    let with = median(blocks.iter().map(|block| block.2).collect());
    let ratio = PairedRatios::in_order(blocks.iter().copied()).ratio(0.02, CONFIDENCE);
    let ratio = ratio.expect("there are pairs");
    let [low, high] = ratio.interval.expect("there are enough of them");
    println!(
        "{direction:?}: {without:.4} s/GB without, {with:.4} s/GB with; ratio {:.4} [{low:.4}, {high:.4}] of {pairs} \
         pairs, {} MB a trial {:?}",
        ratio.value,
        bytes / u64::from(2 * pairs) / 1_000_000,
        ratio.caveats
    );
    high <= RATIO_MAX
}

/// Milliseconds until a trial that does nothing has ended.
fn starts(arms: &Arms, pairs: u32) -> bool {
    arms.pair(&enter(), |_, _, _| {});
    let differences = (0..pairs).map(|_| {
        let mut took = [0.0; 2];
        arms.pair(&enter(), |arm, _, elapsed| {
            took[arm] = elapsed.as_secs_f64()
        });
        took[1] - took[0]
    });
    let differences: Vec<f64> = differences.collect();
    let median = stats::median(&differences, 0.02, CONFIDENCE, Unit::Seconds);
    let median = median.expect("there are pairs");
    let [low, high] = median.interval.expect("there are enough of them");
    println!(
        "start: {:.2} ms more [{:.2}, {:.2}] of {pairs} pairs",
        median.value * 1e3,
        low * 1e3,
        high * 1e3
    );
    high < START_MAX.as_secs_f64()
}

fn run(runner: &Runner, workload: Workload, credentials: &Credentials) -> TrialResult {
    let input = TrialInput {
        workload,
        credentials: Some(credentials.clone()),
    };
    let result = runner.run(&input, &Stop::new(), &mut |_| {});
    result.unwrap_or_else(|failure| panic!("{failure:?}"))
}

fn address() -> ShareAddress {
    ShareAddress {
        server: SERVER.to_owned(),
        port: 445,
        share: "media".to_owned(),
        path: String::new(),
    }
}

fn share(direction: Direction) -> Workload {
    let span = |milliseconds| Duration::from_millis(milliseconds).into();
    Workload::Share(ShareWorkload {
        sessions: 1,
        connections: 1,
        file: record::FileUse::Whole,
        socket: record::SocketOptions::default(),
        share: address(),
        direction,
        channels: 1,
        block: Bytes::new(1 << 20),
        depth: 8,
        file_size: Bytes::new(256 << 20),
        demands: Demands::default(),
        operations: None,
        timing: Timing {
            warm_up: span(200),
            measured: COUNTED.into(),
            interval: span(250),
        },
    })
}

fn enter() -> Workload {
    Workload::Job(JobWorkload {
        share: address(),
        direction: Direction::Read,
        job: Job::Enter,
        demands: Demands::default(),
        limit: Duration::from_secs(10).into(),
    })
}

fn credentials(lab: &Lab) -> Credentials {
    let text = std::fs::read_to_string(lab.credentials()).expect("the lab has one");
    let value = |key: &str| {
        let mut pairs = text.lines().filter_map(|line| line.split_once('='));
        let found = pairs.find(|(name, _)| *name == key);
        found.expect("it is complete").1.to_owned()
    };
    Credentials {
        identity: Identity::User,
        user: value("username"),
        domain: String::new(),
        password: Secret::new(value("password")),
        mechanism: Mechanism::Automatic,
    }
}
