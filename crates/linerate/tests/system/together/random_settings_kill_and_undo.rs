//! Random plans of settings, killed with `kill -9` at random moments and undone: both hosts read as
//! before, all of what the system's own tools say. `make test-kills` runs 200 of them.

use std::env;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::lab_and_program::{self, Lab};

/// How many plans there are; this variable says otherwise.
const PLANS: usize = 12;
const PLANS_VARIABLE: &str = "LINERATE_KILLS";
/// Labs at once.
const LABS: usize = 3;
/// Of so many plans one must have been met with its change open, or the test means nothing.
const MET_OF: usize = 6;
/// Most settings of a plan.
const SETTINGS_MAX: usize = 8;
/// How long the lab may take to scale a link's rate to a MTU that is back.
const SETTLE: Duration = Duration::from_secs(20);
/// Seed of all plans and moments.
const SEED: u64 = 20_261_121;

/// What a plan can set, on the interface of the place that is drawn.
const OF_A_NIC: [(&str, &[&str]); 9] = [
    ("nic.mtu", &["1300", "1500", "3000", "9000"]),
    ("nic.tso", &["on", "off"]),
    ("nic.gso", &["on", "off"]),
    ("nic.gro", &["on", "off"]),
    ("nic.tx_checksum", &["on", "off"]),
    ("nic.rx_checksum", &["on", "off"]),
    ("nic.txqueuelen", &["500", "1000", "2000"]),
    ("nic.rps", &["0-1", "off"]),
    ("nic.xps", &["0", "off"]),
];
const OF_A_HOST: [(&str, &[&str]); 10] = [
    ("tcp.congestion_control", &["reno", "cubic"]),
    ("tcp.rmem", &["4096,131072,8388608", "4096,65536,33554432"]),
    ("tcp.wmem", &["4096,16384,8388608"]),
    ("tcp.sack", &["on", "off"]),
    ("tcp.timestamps", &["0", "1", "2"]),
    ("tcp.mtu_probing", &["0", "1", "2"]),
    ("tcp.window_scaling", &["on", "off"]),
    ("tcp.slow_start_after_idle", &["on", "off"]),
    ("smb.server.max_read", &["1048576", "4194304"]),
    ("smb.server.leases", &["on", "off"]),
];

/// Settings of one host, some of which may be refused together: then nothing may happen.
fn plan(random: &mut ChaCha8Rng) -> (&'static str, Vec<String>) {
    let host = *["client", "server"].choose(random).expect("a host");
    let mut settings = Vec::new();
    for _ in 0..random.random_range(1..=SETTINGS_MAX) {
        let of_a_nic = random.random_bool(0.6);
        let known = if of_a_nic {
            OF_A_NIC.as_slice()
        } else {
            OF_A_HOST.as_slice()
        };
        let (id, values) = known.choose(random).expect("a knob");
        let value = values.choose(random).expect("a value");
        let place = match of_a_nic {
            true => format!("{id}@lan{}=", random.random_range(1..=2)),
            false => format!("{id}="),
        };
        if !settings
            .iter()
            .any(|known: &String| known.starts_with(&place))
        {
            settings.push(format!("{place}{value}"));
        }
    }
    settings.retain(|setting| host == "server" || !setting.starts_with("smb."));
    if settings.is_empty() {
        settings.push("nic.gro@lan2=on".into());
    }
    (host, settings)
}

/// Runs a plan and kills it after `delay`; whether it left a change open.
fn kill(lab: &Lab, host: &str, settings: &[String], delay: Duration) -> bool {
    let mut set = Command::new(lab_and_program::path());
    set.args(["set", &lab.host(host)]).args(settings);
    set.env("LINERATE_STATE_DIR", lab.folder().join("state"));
    set.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = set.spawn().expect("linerate starts");
    thread::sleep(delay);
    child.kill().expect("our own child");
    child.wait().expect("our own child");
    let changes = lab
        .linerate()
        .arg("changes")
        .output()
        .expect("linerate starts");
    changes.status.code() == Some(1)
}

/// Draws, kills and undoes; how many of the plans were met with their change open.
fn kill_and_undo(number: usize, plans: usize) -> usize {
    let lab = Lab::up(&format!("plans{number}"));
    let before = lab.picture();
    let mut random = ChaCha8Rng::seed_from_u64(SEED + number as u64);
    // As long as a plan takes when nobody kills it, on this machine and now.
    let began = Instant::now();
    lab.linerate()
        .args([
            "set",
            &lab.host("server"),
            "nic.gro@lan1=on",
            "tcp.sack=off",
            "nic.mtu@lan2=3000",
        ])
        .assert()
        .success();
    let whole = began.elapsed();
    lab.linerate().arg("undo").assert().success();
    let mut met = 0;
    for run in 0..plans {
        let (host, settings) = plan(&mut random);
        let delay = whole.mul_f64(random.random_range(0.0..1.3));
        met += usize::from(kill(&lab, host, &settings, delay));
        lab.linerate().arg("undo").assert().success();
        lab.linerate().arg("changes").assert().success();
        let settled = Instant::now();
        let mut now = lab.picture();
        while now != before && settled.elapsed() < SETTLE {
            now = lab.picture();
        }
        let lines: Vec<_> = before
            .lines()
            .zip(now.lines())
            .filter(|(one, other)| one != other)
            .collect();
        assert!(
            now == before,
            "lab {number}, plan {run} {host} {settings:?} after {delay:?}: {lines:#?}"
        );
    }
    met
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "how many were met is a figure that people want to see"
)]
fn random_plans_are_killed_and_every_host_is_as_before() {
    let plans = env::var(PLANS_VARIABLE).map_or(PLANS, |text| text.parse().expect("a number"));
    let each = plans.div_ceil(LABS);
    let met: usize = thread::scope(|scope| {
        let start = |number| scope.spawn(move || kill_and_undo(number, each));
        let labs: Vec<_> = (0..LABS).map(start).collect();
        labs.into_iter()
            .map(|lab| lab.join().expect("every host is as before"))
            .sum()
    });
    let total = LABS * each;
    println!("{total} plans were killed, {met} of them with their change open");
    assert!(
        met >= total / MET_OF,
        "only {met} of {total} were met with their change open"
    );
}
