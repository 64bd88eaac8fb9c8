//! What a host may take of the machine: control groups for processor time and for disks.
//!
//! The first two versions of control groups are known. A group is a folder that outlives its
//! processes, so this is the one thing of a lab that its end has to clear away. A small process waits
//! for the end of a supervisor that is killed and does it in its place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use host::exec::{Command, Exec, Local, Process};
use locale::say;

use crate::{Error, Medium, Topology};

/// Where the second version is, and the folder of one controller of the first.
const ROOT: &str = "/sys/fs/cgroup";
/// Time over which processor time is shared out, in microseconds: short, so that a slow processor
/// looks like one, and not like one that stops.
const PERIOD_MICROSECONDS: u64 = 10_000;
/// Puts itself into the groups that are its first arguments, and then becomes the rest.
const JOIN: &str =
    r#"while [ "$1" != -- ]; do echo 0 >"$1" || exit 126; shift; done; shift; exec "$@""#;

/// Waits until its input ends, and removes the folders that are its arguments once they are empty, for
/// five seconds at most.
const SWEEP: &str = r#"cat; i=0; while [ $i -lt 100 ]; do i=$((i+1)); left=; for f; do
rmdir "$f" 2>/dev/null; [ ! -d "$f" ] || left=1; done; [ "$left" ] || exit 0; sleep 0.05; done"#;

/// The control groups of a lab, which go when this is dropped, or when this process ends.
#[derive(Debug, Default)]
pub(super) struct Limits {
    folders: Vec<PathBuf>,
    /// Who removes them when this process is killed.
    sweeper: Option<Process>,
}

impl Drop for Limits {
    fn drop(&mut self) {
        for folder in &self.folders {
            // Its processes are gone; the kernel may take a moment to see it.
            for _ in 0..100 {
                match fs::remove_dir(folder) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        std::thread::sleep(std::time::Duration::from_millis(5));
                    }
                    _ => break,
                }
            }
        }
    }
}

impl Limits {
    /// Makes the groups of a lab, without any limit yet: bringing it up takes no longer for it.
    pub(super) fn prepare(lab: &str, topology: &Topology) -> Result<Self, Error> {
        let mut made = Self::default();
        for folder in topology
            .hosts
            .iter()
            .flat_map(|host| folders(lab, host, topology))
        {
            let create = match fs::create_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                created => created,
            };
            create.map_err(|source| failed(&folder, source))?;
            made.folders.push(folder);
        }
        if !made.folders.is_empty() {
            let mut argv: Vec<String> = ["sh", "-c", SWEEP, "sweep"].map(str::to_owned).into();
            let folders = made.folders.iter();
            argv.extend(folders.map(|folder| folder.display().to_string()));
            let started = Local::new().spawn(&Command::new(argv));
            let failed = Error::running(say("error-lab.sweep-up"), lab);
            made.sweeper = Some(started.map_err(failed)?);
        }
        Ok(made)
    }

    /// Limits the hosts whose processors are limited.
    pub(super) fn apply(lab: &str, topology: &Topology) -> Result<(), Error> {
        for (host, thousandths) in &topology.processors {
            let quota = u64::from(*thousandths) * PERIOD_MICROSECONDS / 1000;
            let quota = quota.max(1000);
            let (folder, is_second) = controller("cpu", lab, host);
            let written = if is_second {
                fs::write(
                    folder.join("cpu.max"),
                    format!("{quota} {PERIOD_MICROSECONDS}"),
                )
            } else {
                let period = folder.join("cpu.cfs_period_us");
                fs::write(period, PERIOD_MICROSECONDS.to_string())
                    .and_then(|()| fs::write(folder.join("cpu.cfs_quota_us"), quota.to_string()))
            };
            written.map_err(|source| failed(&folder, source))?;
        }
        Ok(())
    }
}

/// Limits what a host may read from and write to a device, `major:minor`.
pub(super) fn limit_disk(lab: &str, host: &str, device: &str, rate: u64) -> Result<(), Error> {
    let (folder, is_second) = controller("blkio", lab, host);
    let written = if is_second {
        fs::write(
            folder.join("io.max"),
            format!("{device} rbps={rate} wbps={rate}"),
        )
    } else {
        ["read", "write"].into_iter().try_for_each(|way| {
            let file = folder.join(format!("blkio.throttle.{way}_bps_device"));
            fs::write(file, format!("{device} {rate}"))
        })
    };
    written.map_err(|source| failed(&folder, source))
}

/// What is to stand before a command so that it runs within the limits of a host.
pub(super) fn prefix(lab: &str, host: &str, topology: &Topology) -> Vec<String> {
    let folders = folders(lab, host, topology);
    if folders.is_empty() {
        return Vec::new();
    }
    let mut prefix: Vec<String> = ["sh", "-c", JOIN, "join"].map(str::to_owned).into();
    let files = folders.iter().map(|folder| folder.join("cgroup.procs"));
    prefix.extend(files.map(|file| file.display().to_string()));
    prefix.push("--".to_owned());
    prefix
}

/// The commands that let a host see the group it is in, as any machine does.
pub(super) fn show(host: &str, topology: &Topology) -> Vec<String> {
    if !topology.processors.contains_key(host) {
        return Vec::new();
    }
    if Path::new(ROOT).join("cgroup.controllers").exists() {
        return vec![format!("mount -t cgroup2 cgroup2 {ROOT}")];
    }
    vec![
        format!("mount -t tmpfs -o nosuid,nodev tmpfs {ROOT}"),
        format!("mkdir {ROOT}/cpu"),
        format!("mount -t cgroup -o cpu cgroup {ROOT}/cpu"),
    ]
}

fn folders(lab: &str, host: &str, topology: &Topology) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if topology.processors.contains_key(host) {
        folders.push(controller("cpu", lab, host).0);
    }
    let slow_disk = topology.samba.as_ref().is_some_and(|samba| {
        let mut shares = samba.shares.iter();
        samba.host == host && shares.any(|share| share.medium == Medium::Disk)
    });
    if slow_disk {
        folders.push(controller("blkio", lab, host).0);
    }
    folders.dedup();
    folders
}

/// The folder of a host's group, and whether it is of the second version.
fn controller(name: &str, lab: &str, host: &str) -> (PathBuf, bool) {
    let group = format!("linerate-lab-{lab}-{host}");
    let root = Path::new(ROOT);
    if root.join("cgroup.controllers").exists() {
        (root.join(group), true)
    } else {
        (root.join(name).join(group), false)
    }
}

fn failed(folder: &Path, source: io::Error) -> Error {
    Error::System {
        action: say("error-lab.limit-host"),
        subject: folder.display().to_string().into(),
        source,
    }
}
