//! Labs as a user has them. Needs root, namespaces, Samba and smbclient.

mod background_faults_end_with_lab;
mod cleanup;
mod refused_labs;
mod running_lab;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use host::exec::{Command as HostCommand, Exec};
use lab::{Error, Lab, Launcher, Summary, Topology};

/// How long something that happens at once may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// One lab test at a time, so that what one sees of the machine is its own doing.
static MACHINE: Mutex<()> = Mutex::new(());

fn have_machine() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_lab-under-test")
}

fn example(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    root.join(name)
}

/// A lab that is ended with its test.
struct Up {
    lab: Lab,
}

impl Up {
    fn new(name: &str, topology: &Topology) -> Self {
        Self::try_new(name, topology).expect("the lab comes up")
    }

    fn try_new(name: &str, topology: &Topology) -> Result<Self, Error> {
        let launcher = Launcher::new([program(), "supervise"]);
        lab::up(name, topology, &launcher).map(|lab| Self { lab })
    }

    fn example(name: &str, file: &str) -> Self {
        Self::new(name, &Topology::read(&example(file)).unwrap())
    }

    /// Runs a command on a node, whatever its status, and gives status and output.
    fn run(&self, node: &str, words: &[&str]) -> (i32, String) {
        let namespace = self.lab.namespace(node).unwrap();
        let command = HostCommand::new(words.iter().copied());
        let output = namespace.run(&[command]).unwrap().remove(0);
        let text = [output.stdout, output.stderr].concat();
        (output.status, String::from_utf8_lossy(&text).into_owned())
    }

    /// Runs a command on a node that must end well.
    fn output(&self, node: &str, words: &[&str]) -> String {
        let (status, text) = self.run(node, words);
        assert_eq!(status, 0, "{words:?} on {node}: {text}");
        text
    }

    fn summary(&self) -> Summary {
        let mut labs = lab::list().unwrap();
        labs.retain(|lab| lab.name == self.lab.name());
        labs.remove(0)
    }

    fn supervisor(&self) -> u32 {
        self.summary().supervisor.unwrap()
    }

    /// All namespaces that its hosts and switches have of their own.
    fn namespaces(&self) -> Namespaces {
        let topology = self.lab.topology();
        let switches = topology.switches.iter().map(|switch| &switch.name);
        let mut namespaces = Namespaces::default();
        for node in topology.hosts.iter().chain(switches) {
            let holder = self.lab.namespace(node).unwrap().holder();
            for kind in HELD {
                let grip = File::open(format!("/proc/{holder}/ns/{kind}")).unwrap();
                namespaces.held.insert(grip.metadata().unwrap().ino());
                namespaces.grips.push(grip);
            }
            let mounts = namespace(holder, "mnt").unwrap();
            namespaces.mounts.insert(mounts);
        }
        namespaces
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        lab::down(self.lab.name()).ok();
    }
}

/// The namespaces of a lab. The kernel gives the number of one that is gone to the next, so they are held
/// until whoever asks is done: another lab on this machine is not taken for the rest of this one. Those of
/// mounts cannot be held, because what is mounted there would stay; who is in one is in the others too.
#[derive(Default)]
struct Namespaces {
    held: BTreeSet<u64>,
    mounts: BTreeSet<u64>,
    grips: Vec<File>,
}

const HELD: [&str; 4] = ["net", "uts", "ipc", "pid"];

fn namespace(pid: u32, kind: &str) -> Option<u64> {
    let link = fs::metadata(format!("/proc/{pid}/ns/{kind}"));
    link.ok().map(|link| link.ino())
}

/// Processes that are in one of these namespaces.
fn processes_in(namespaces: &Namespaces) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap();
    let numbers = entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    numbers
        .filter(|&pid| {
            let own = HELD.iter().filter_map(|kind| namespace(pid, kind));
            own.into_iter().any(|own| namespaces.held.contains(&own))
        })
        .collect()
}

/// What a lab must not change on the machine, and only that: others change files meanwhile.
#[derive(Debug, PartialEq)]
struct Traces {
    /// Interfaces and mounts with names that a lab would give them.
    named: Vec<String>,
    /// Accounts and names of the machine.
    accounts: Vec<Option<Vec<u8>>>,
    /// Files of Samba.
    files: BTreeSet<String>,
}

impl Traces {
    fn now() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let interfaces = fs::read_dir("/sys/class/net").unwrap();
        let interfaces = interfaces.map(|entry| entry.unwrap().file_name());
        let interfaces = interfaces.map(|name| name.to_string_lossy().into_owned());
        let ours = |name: &String| {
            ["lan", "port", "bridge"]
                .iter()
                .any(|it| name.starts_with(it))
        };
        let mut named: Vec<String> = interfaces.filter(ours).collect();
        let mounts = mounts.lines().filter(|line| line.contains("linerate"));
        named.extend(mounts.map(str::to_owned));
        let mut files = BTreeSet::new();
        list_files(Path::new("/var/lib/samba"), true, &mut files);
        for folder in ["/run/samba", "/var/cache/samba", "/var/log/samba"] {
            list_files(Path::new(folder), false, &mut files);
        }
        let accounts = [
            "passwd",
            "group",
            "shadow",
            "hosts",
            "hostname",
            "machine-id",
        ];
        let accounts = accounts.map(|name| fs::read(Path::new("/etc").join(name)).ok());
        assert!(!fs::exists("/run/linerate").unwrap());
        Self {
            named,
            accounts: accounts.into(),
            files,
        }
    }
}

/// Every file below a folder; with its length and the time of its last change where nobody else
/// works there.
fn list_files(folder: &Path, quiet: bool, files: &mut BTreeSet<String>) {
    // It need not exist.
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        // A file of somebody else may go away meanwhile.
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let state = (metadata.len(), metadata.mtime(), metadata.mtime_nsec());
        let state = if quiet { state } else { (0, 0, 0) };
        files.insert(format!("{} {state:?}", path.display()));
        if metadata.is_dir() {
            list_files(&path, quiet, files);
        }
    }
}

/// Waits until something is so.
fn eventually(what: &str, so: impl Fn() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < PATIENCE, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
