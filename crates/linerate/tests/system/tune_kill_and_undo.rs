//! `kill -9` of `tune` at random moments, then `undo`: every knob reads as at the start.

use std::time::Duration;

use rand::{RngExt, SeedableRng};

use crate::lab_and_program::Lab;

/// Labs at once: `tune` mostly waits for its trials, and no speed matters here.
const LABS: usize = 4;
/// Moments at which `tune` is killed, in each lab.
const KILLS: usize = 5;
/// Of all of them, how many must have met an open change for the test to mean something.
const KILLS_INSIDE_MIN: usize = 8;
/// Longest time from the first block with a change to the kill.
const DELAY_MS_MAX: u64 = 8_000;

/// Runs `tune` (with a band so wide that its baseline cannot fail on noise) until it begins the experiment on the MTU, kills it so much later, and tells
/// whether it left a change open.
fn tune_and_kill(lab: &Lab, run: usize, delay: Duration, idle: &mut Vec<String>) -> bool {
    let run = format!("tune-{run}.jsonl");
    let arguments = ["--only", "mtu-9000", "--seconds", "0.2", "--band", "50"];
    let (mut child, idled) = lab.tune_until(&run, &arguments, "compare");
    let delay = if idled.is_none() {
        delay
    } else {
        Duration::ZERO
    };
    // On a busy machine a trial can fail, and then nothing is tried. That is no kill.
    idle.extend(idled.map(|said| format!("{run} tried nothing: {said}")));
    if !wait_for(&mut child, delay) {
        child.kill().expect("our own child");
        child.wait().expect("our own child");
    }
    let changes = lab
        .linerate()
        .arg("changes")
        .output()
        .expect("linerate starts");
    let open = String::from_utf8_lossy(&changes.stdout).contains("nic.mtu");
    assert_eq!(
        changes.status.code(),
        Some(i32::from(open)),
        "exit code 1 says that something is changed"
    );
    open
}

/// Waits so long for a child; whether it ended by itself.
fn wait_for(child: &mut std::process::Child, limit: Duration) -> bool {
    std::thread::sleep(limit);
    child.try_wait().expect("our own child").is_some()
}

/// Kills `tune` in one lab again and again; how many kills met an open change.
fn kill_and_undo(number: usize, idle: &mut Vec<String>) -> usize {
    let lab = Lab::up(&format!("kills{number}"));
    let before = lab.facts();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(number as u64);
    let mut inside = 0;
    for run in 0..KILLS {
        let delay = Duration::from_millis(random.random_range(0..DELAY_MS_MAX));
        inside += usize::from(tune_and_kill(&lab, run, delay, idle));
        lab.linerate().arg("undo").assert().success();
        assert_eq!(lab.facts(), before, "kill {run} after {delay:?}");
        lab.linerate()
            .arg("changes")
            .assert()
            .success()
            .stdout("nothing is changed\n");
    }
    assert_eq!(
        lab.files_of_the_share(),
        "",
        "test files were left on the share"
    );
    inside
}

#[test]
fn twenty_kills_of_tune_and_every_knob_is_as_before() {
    let results: Vec<_> = std::thread::scope(|scope| {
        let labs: Vec<_> = (0..LABS)
            .map(|number| {
                scope.spawn(move || {
                    let mut idle = Vec::new();
                    let inside = kill_and_undo(number, &mut idle);
                    (inside, idle)
                })
            })
            .collect();
        labs.into_iter().map(|lab| lab.join()).collect()
    });
    let mut inside = 0;
    let mut idle = Vec::new();
    for result in results {
        let (met, nothing) = result.expect("every lab passed");
        inside += met;
        idle.extend(nothing);
    }
    assert!(
        inside >= KILLS_INSIDE_MIN,
        "only {inside} of {} kills met an open change: {idle:#?}",
        LABS * KILLS
    );
}
