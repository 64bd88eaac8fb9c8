//! Labs as a user has them. Needs root, namespaces, Samba and smbclient.

mod ending;
mod refusing;
mod running;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use host::exec::{Command as HostCommand, Exec};
use lab::{Error, Lab, Launcher, Topology};

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

    fn supervisor(&self) -> u32 {
        let labs = lab::list().unwrap();
        let ours = labs.iter().find(|lab| lab.name == self.lab.name());
        ours.and_then(|lab| lab.supervisor).unwrap()
    }

    /// Numbers of all namespaces that its hosts and switches have of their own.
    fn namespaces(&self) -> BTreeSet<u64> {
        let topology = self.lab.topology();
        let switches = topology.switches.iter().map(|switch| &switch.name);
        let nodes = topology.hosts.iter().chain(switches);
        nodes
            .flat_map(|node| {
                let holder = self.lab.namespace(node).unwrap().holder();
                NAMESPACES.map(|kind| namespace(holder, kind).unwrap())
            })
            .collect()
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        lab::down(self.lab.name()).ok();
    }
}

const NAMESPACES: [&str; 5] = ["net", "mnt", "uts", "ipc", "pid"];

fn namespace(pid: u32, kind: &str) -> Option<u64> {
    let link = fs::metadata(format!("/proc/{pid}/ns/{kind}"));
    link.ok().map(|link| link.ino())
}

/// Processes that are in one of these namespaces.
fn processes_in(namespaces: &BTreeSet<u64>) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap();
    let numbers = entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    numbers
        .filter(|&pid| {
            let own = NAMESPACES.iter().filter_map(|kind| namespace(pid, kind));
            own.into_iter().any(|own| namespaces.contains(&own))
        })
        .collect()
}

/// What a lab must not change on the machine.
#[derive(Debug, PartialEq)]
struct Traces {
    interfaces: String,
    mounts: String,
    files: Vec<String>,
}

impl Traces {
    fn now() -> Self {
        let interfaces = Command::new("ip").args(["-o", "link"]).output().unwrap();
        let mut files = Vec::new();
        let folders = [
            "/etc",
            "/run",
            "/var/lib/samba",
            "/var/cache/samba",
            "/var/log/samba",
        ];
        for folder in folders
            .map(Path::new)
            .into_iter()
            .filter(|folder| folder.exists())
        {
            list_files(folder, &mut files);
        }
        Self {
            interfaces: String::from_utf8_lossy(&interfaces.stdout).into_owned(),
            mounts: fs::read_to_string("/proc/self/mountinfo").unwrap(),
            files,
        }
    }
}

/// Every file below a folder, with its length and the time of its last change.
fn list_files(folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // A file of somebody else may go away meanwhile.
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        files.push(format!("{} {} {changed:?}", path.display(), metadata.len()));
        if metadata.is_dir() {
            list_files(&path, files);
        }
    }
    files.sort();
}

/// Waits until something is so.
fn eventually(what: &str, so: impl Fn() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < PATIENCE, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
