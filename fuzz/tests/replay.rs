//! Replays what is kept of the fuzz targets' inputs, and the real input that they begin with.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 14] = [
    ("smb_decoders", fuzz::smb_decoders::run),
    ("smb_channel_receive", fuzz::smb_channel_receive::run),
    (
        "encrypted_channel_receive",
        fuzz::encrypted_channel_receive::run,
    ),
    ("multichannel_plan", fuzz::multichannel_plan::run),
    ("login_tokens", fuzz::login_tokens::run),
    ("ntlm_challenge", fuzz::ntlm_challenge::run),
    ("copied_file_names", fuzz::copied_file_names::run),
    ("ssh_command_output", fuzz::ssh_command_output::run),
    ("measurement_results", fuzz::measurement_results::run),
    ("profiles_labs_plans", fuzz::profiles_labs_plans::run),
    ("tables_and_benchmarks", fuzz::tables_and_benchmarks::run),
    ("change_journal", fuzz::change_journal::run),
    ("run_files", fuzz::run_files::run),
    ("host_tool_outputs", fuzz::host_tool_outputs::run),
];
/// How long all of it may take, and one input.
const REPLAY_MAX: Duration = Duration::from_secs(60);
const INPUT_MAX: Duration = Duration::from_secs(10);
/// Memory of all targets together in KiB: a run file may need 64 MiB of it.
const MEMORY_KIB_MAX: u64 = 1 << 20;

/// The inputs of a target.
struct Inputs {
    target: String,
    longest: usize,
    files: Vec<PathBuf>,
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Those of all targets, by the list that `fuzz/run` has them from.
fn inputs() -> Vec<Inputs> {
    let list = fs::read_to_string(here().join("targets.txt")).expect("the list");
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split(' ');
            let target = words.next().expect("a name").to_owned();
            let longest = words.next().and_then(|word| word.parse().ok());
            let kept = here().join("corpus").join(&target);
            let folders = words.map(|folder| here().join(folder));
            let mut files: Vec<_> = [kept].into_iter().chain(folders).flat_map(files).collect();
            files.sort();
            Inputs {
                target,
                longest: longest.expect("a number of bytes"),
                files,
            }
        })
        .collect()
}

/// All files below a folder.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(&folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .map(|entry| entry.expect("an entry").path())
        .flat_map(|path| match path.is_dir() {
            true => files(path),
            false => vec![path],
        })
        .collect()
}

/// The most memory that this process has had, in KiB: `VmHWM` of proc(5).
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("our own status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse().ok());
    peak.expect("a number of KiB")
}

#[test]
fn every_input_that_is_kept_holds_what_its_target_says() {
    let began = Instant::now();
    let inputs = inputs();
    let listed: BTreeSet<_> = inputs.iter().map(|inputs| &*inputs.target).collect();
    assert_eq!(listed, TARGETS.iter().map(|(name, _)| *name).collect());
    let (begins, begun) = channel();
    let replay = thread::spawn(move || {
        let mut failed = Vec::new();
        for Inputs {
            target,
            longest,
            files,
        } in inputs
        {
            let named = TARGETS.iter().find(|(name, _)| *name == target);
            let (_, run) = named.expect("a target of that name");
            assert!(!files.is_empty(), "{target} has no input");
            for file in files {
                let mut data = fs::read(&file).expect("a file that can be read");
                data.truncate(longest);
                begins.send(file.clone()).expect("it is listened to");
                if catch_unwind(AssertUnwindSafe(|| run(&data))).is_err() {
                    failed.push((target.clone(), file));
                }
            }
        }
        failed
    });
    let (mut replayed, mut last) = (0, PathBuf::new());
    loop {
        match begun.recv_timeout(INPUT_MAX) {
            Ok(file) => (replayed, last) = (replayed + 1, file),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{} takes too long", last.display()),
        }
    }
    let failed = replay.join().expect("the targets' panics are caught");
    assert!(failed.is_empty(), "{failed:#?}");
    let memory = peak_memory();
    assert!(memory < MEMORY_KIB_MAX, "{memory} KiB");
    let took = began.elapsed();
    assert!(
        took < REPLAY_MAX,
        "{replayed} inputs took {took:?}; `fuzz/run keep` chooses fewer"
    );
}
