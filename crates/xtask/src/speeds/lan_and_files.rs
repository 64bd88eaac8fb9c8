//! The LAN that a workload runs on, and its files. All files are in the lab's own memory, so that
//! they are gone with it, whatever ends us.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::mem;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use lab::{Namespace, Topology};

use crate::lab_and_program::{Guard, Result, program, up};
use crate::speeds::free_memory_warming::Held;
use crate::speeds::workload::{
    Direction, FarEnd, Lan, SHARE, TREE_FILE_BYTES, TREE_FOLDERS, Task, Workload,
};

/// The file that is read, on the share; and the one that is written, in the client's memory.
const SOURCE: &str = "source.bin";
/// The file that is written, on the share.
const TARGET: &str = "target.bin";
/// Where the client has the file that it writes.
const LOCAL_SOURCE: &str = "/run/linerate/source.bin";
/// Where the client puts what it has read.
const NOWHERE: &str = "/dev/null";
/// The tree that is read, on the share; the one that is written is called so, too.
const SOURCE_TREE: &str = "tree";
/// Where a tree goes that is written, on the share.
const TARGET_TREE: &str = "up";
/// Where the client has the tree that it writes.
const LOCAL_SOURCE_TREE: &str = "/run/linerate/tree";
/// Where the client puts the tree that it has read.
const LOCAL_TARGET_TREE: &str = "/run/linerate/down";
/// The folder that is listed, on the share.
const LISTED: &str = "list";
/// Where the client puts a listing, a line for each entry.
pub const LISTING: &str = "/run/linerate/listing";
/// Where the server has its shares.
const SHARES: &str = "/run/linerate/shares";
/// Bytes that files are made and compared by.
const PIECE_BYTES: usize = 1 << 20;
/// How long the server's processes are watched at once, and how often at most until they stand still.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSES_MAX: usize = 50;
/// Each page of a file begins with its own place, so that none can stand for another.
const STAMP_EVERY: usize = 4096;

/// A running lab. Dropping it takes it down.
pub struct Field {
    lab: Guard,
    memory: Held,
}

impl Field {
    /// Brings the LAN up.
    pub fn up(name: &str, lan: &Lan) -> Result<Self> {
        Ok(Self {
            lab: up(&program()?, name, &Topology::parse(&lan.topology())?)?,
            memory: Held::default(),
        })
    }

    /// The client's namespaces.
    pub fn client(&self) -> Result<&Namespace> {
        Ok(self.lab.0.namespace("client")?)
    }

    /// The server's.
    pub fn server(&self) -> Result<&Namespace> {
        Ok(self.lab.0.namespace("server")?)
    }

    /// Name of the file or folder on the share.
    pub const fn remote(workload: &Workload) -> &'static str {
        match (workload.task, workload.direction) {
            (Task::File, Direction::Read) => SOURCE,
            (Task::File, Direction::Write) => TARGET,
            (Task::Tree(_), Direction::Read) => SOURCE_TREE,
            (Task::Tree(_), Direction::Write) => TARGET_TREE,
            (Task::List(_), _) => LISTED,
        }
    }

    /// The client's end. Folders are empty at the begin of a run, what is in them is copied.
    pub const fn local(workload: &Workload) -> &'static str {
        match (workload.task, workload.direction) {
            (Task::File, Direction::Read) => NOWHERE,
            (Task::File, Direction::Write) => LOCAL_SOURCE,
            (Task::Tree(_), Direction::Read) => LOCAL_TARGET_TREE,
            (Task::Tree(_), Direction::Write) => LOCAL_SOURCE_TREE,
            (Task::List(_), _) => LISTING,
        }
    }

    fn on_share(&self, name: &str) -> Result<PathBuf> {
        Ok(self.server()?.path(format!("{SHARES}/{SHARE}/{name}")))
    }

    /// What is copied, and what a copy makes.
    fn ends(&self, workload: &Workload) -> Result<[PathBuf; 2]> {
        let remote = self.on_share(Self::remote(workload))?;
        let local = self.client()?.path(Self::local(workload));
        Ok(match workload.direction {
            Direction::Read => [remote, local],
            Direction::Write => [local, remote],
        })
    }

    /// Makes what the workload moves, and removes all other.
    pub fn furnish(&self, workload: &Workload) -> Result<()> {
        self.memory.release();
        for remote in [SOURCE, TARGET, SOURCE_TREE, TARGET_TREE, LISTED] {
            remove(&self.on_share(remote)?)?;
        }
        for local in [LOCAL_SOURCE, LOCAL_SOURCE_TREE, LOCAL_TARGET_TREE, LISTING] {
            remove(&self.client()?.path(local))?;
        }
        let [source, _] = self.ends(workload)?;
        match workload.task {
            // Our own server needs no file to be read from it.
            Task::File
                if workload.far_end == FarEnd::Null && workload.direction == Direction::Read => {}
            Task::File => make_file(&source, workload.bytes)?,
            Task::Tree(files) => make_tree(&source, files)?,
            Task::List(entries) => {
                fs::create_dir(&source)?;
                for number in 0..entries {
                    File::create_new(source.join(format!("entry {number:06}.dat")))?;
                }
            }
        }
        self.clear(workload)
    }

    /// Removes what a run has written, so that each finds the same.
    pub fn clear(&self, workload: &Workload) -> Result<()> {
        let [_, target] = self.ends(workload)?;
        match (workload.task, workload.direction) {
            (Task::File, Direction::Read) => Ok(()),
            (Task::File, Direction::Write) | (Task::List(_), _) => remove(&target),
            (Task::Tree(_), direction) => {
                remove(&target)?;
                fs::create_dir(&target)?;
                if direction == Direction::Write {
                    let share = fs::metadata(self.on_share("")?)?;
                    chown(&target, Some(share.uid()), Some(share.gid()))?;
                }
                Ok(())
            }
        }
    }

    /// Removes what the run before has written, and has the memory at hand that the next one will write to.
    pub fn make_ready(&self, workload: &Workload) -> Result<()> {
        self.clear(workload)?;
        self.memory.release_for_run(workload.bytes)
    }

    /// Whether what a run should have made is there in its full length.
    pub fn check_arrived(&self, workload: &Workload) -> Result<()> {
        let [source, target] = self.ends(workload)?;
        match (workload.task, workload.direction) {
            (Task::File, Direction::Read) => Ok(()),
            (Task::File, Direction::Write) => {
                let (bytes, wanted) = (fs::metadata(target)?.len(), workload.bytes);
                same("bytes of the file on the share", bytes, wanted)
            }
            (Task::Tree(_), _) => {
                let (found, wanted) = (sizes(&target)?, sizes(&source)?);
                same("names and sizes of the copy's files", found, wanted)
            }
            (Task::List(entries), _) => {
                let text = fs::read_to_string(target)?;
                let lines = text.lines().filter(|line| line.contains("entry "));
                same("listed entries", lines.count(), entries)
            }
        }
    }

    /// Whether what a run has made is what was sent. Our own server keeps nothing.
    pub fn check_contents(&self, workload: &Workload) -> Result<()> {
        let [source, target] = self.ends(workload)?;
        match (workload.task, workload.direction) {
            (Task::File, Direction::Read) | (Task::List(_), _) => Ok(()),
            _ if workload.far_end == FarEnd::Null => Ok(()),
            (Task::File, Direction::Write) => compare(&source, &target),
            (Task::Tree(_), _) => sizes(&source)?
                .keys()
                .try_for_each(|name| compare(&source.join(name), &target.join(name))),
        }
    }

    /// How long the processes on the server's host have been on cores, with those of their children
    /// that are gone, in seconds. Waits until they have nothing more to do.
    pub fn server_cpu_seconds(&self) -> Result<f64> {
        let mut ticks = self.server_ticks()?;
        for _ in 0..PAUSES_MAX {
            thread::sleep(PAUSE);
            let before = mem::replace(&mut ticks, self.server_ticks()?);
            if before == ticks {
                break;
            }
        }
        Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }

    fn server_ticks(&self) -> Result<u64> {
        let mut ticks = 0;
        for entry in fs::read_dir(self.server()?.path("/proc"))? {
            let entry = entry?;
            let name = entry.file_name();
            let is_process = name.to_string_lossy().parse::<u32>().is_ok();
            // It may have ended meanwhile.
            if is_process && let Ok(stat) = fs::read_to_string(entry.path().join("stat")) {
                ticks += process_ticks(&stat).ok_or("the kernel tells no processor times")?;
            }
        }
        Ok(ticks)
    }

    /// Bytes that have gone over the client's NICs in this direction.
    pub fn nic_bytes(&self, direction: Direction) -> Result<u64> {
        let path = format!("/proc/{}/net/dev", self.client()?.holder());
        let text = fs::read_to_string(path)?;
        let column = match direction {
            Direction::Read => 0,
            Direction::Write => 8,
        };
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let ours = lines.filter(|(name, _)| name.trim().starts_with("lan"));
        let numbers = ours.filter_map(|(_, rest)| rest.split_whitespace().nth(column));
        Ok(numbers
            .filter_map(|number| number.parse::<u64>().ok())
            .sum())
    }
}

/// User and system time of a process and of its children that are gone (proc_pid_stat(5), fields 14 to 17).
fn process_ticks(stat: &str) -> Option<u64> {
    // Its name, which may have any characters, ends with the last parenthesis, before field 3.
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(11).take(4);
    let times: Vec<u64> = times.filter_map(|field| field.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum())
}

fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// A file of which no page can stand for another.
fn make_file(path: &Path, bytes: u64) -> Result<()> {
    let mut file = File::create_new(path)?;
    let mut piece = vec![0; PIECE_BYTES];
    getrandom::fill(&mut piece).map_err(|error| format!("no random bytes: {error}"))?;
    let length = usize::try_from(bytes)?.min(PIECE_BYTES);
    for begin in (0..bytes).step_by(PIECE_BYTES) {
        let places = (begin..).step_by(STAMP_EVERY);
        for (page, place) in piece.chunks_exact_mut(STAMP_EVERY).zip(places) {
            page[..8].copy_from_slice(&place.to_le_bytes());
        }
        file.write_all(&piece[..length])?;
    }
    Ok(())
}

fn make_tree(path: &Path, files: usize) -> Result<()> {
    fs::create_dir(path)?;
    for folder in 0..TREE_FOLDERS {
        let folder = path.join(format!("folder {folder:02}"));
        fs::create_dir(&folder)?;
        for number in 0..files / TREE_FOLDERS {
            let file = folder.join(format!("file {number:04}.dat"));
            make_file(&file, TREE_FILE_BYTES as u64)?;
        }
    }
    Ok(())
}

/// The files of a tree, by their paths in it.
fn sizes(root: &Path) -> Result<BTreeMap<PathBuf, u64>> {
    let mut sizes = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path().strip_prefix(root)?.to_owned();
                sizes.insert(path, metadata.len());
            }
        }
    }
    Ok(sizes)
}

fn same<T: PartialEq>(what: &str, found: T, wanted: T) -> Result<()> {
    if found == wanted {
        Ok(())
    } else {
        Err(format!("the {what} are not what they should be").into())
    }
}

fn compare(sent: &Path, arrived: &Path) -> Result<()> {
    let (mut one, mut other) = (File::open(sent)?, File::open(arrived)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        (&mut one).take(PIECE_BYTES as u64).read_to_end(&mut left)?;
        (&mut other)
            .take(PIECE_BYTES as u64)
            .read_to_end(&mut right)?;
        if left != right {
            return Err(format!("{} differs from what was sent", arrived.display()).into());
        }
        if left.is_empty() {
            return Ok(());
        }
    }
}
