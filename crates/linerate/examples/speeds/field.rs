//! The LAN that a workload runs on, and its files. All files are in the lab's own memory, so that
//! they are gone with it, whatever ends us.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::PathBuf;

use lab::{Lab, Launcher, Namespace, Topology};

use crate::workload::{Direction, Lan, SHARE, Workload};
use crate::{Result, chain, say};

/// The file that is read, on the share; and the one that is written, in the client's memory.
const SOURCE: &str = "source.bin";
/// The file that is written, on the share.
const TARGET: &str = "target.bin";
/// Where the client has the file that it writes.
const LOCAL_SOURCE: &str = "/run/linerate/source.bin";
/// Where the client puts what it has read.
const NOWHERE: &str = "/dev/null";
/// Where the server has its shares.
const SHARES: &str = "/run/linerate/shares";
/// Bytes that files are made and compared by.
const PIECE_BYTES: usize = 1 << 20;
/// Each page of a file begins with its own place, so that none can stand for another.
const STAMP_EVERY: usize = 4096;

/// A running lab. Dropping it takes it down.
pub struct Field {
    name: String,
    lab: Lab,
}

impl Drop for Field {
    fn drop(&mut self) {
        take_down(&self.name);
    }
}

/// Takes a lab down, if it is still there.
pub fn take_down(name: &str) {
    match lab::down(name) {
        Ok(_) | Err(lab::Error::NoSuchLab { .. }) => {}
        Err(error) => say(&format!("error: {}", chain(&error))),
    }
}

impl Field {
    /// Brings the LAN up.
    pub fn up(name: &str, lan: &Lan) -> Result<Self> {
        let topology = Topology::parse(&lan.topology())?;
        let lab = lab::up(name, &topology, &Launcher::current_program(&["supervise"])?)?;
        Ok(Self {
            name: name.to_owned(),
            lab,
        })
    }

    /// The client's namespaces.
    pub fn client(&self) -> Result<&Namespace> {
        Ok(self.lab.namespace("client")?)
    }

    /// The server's.
    pub fn server(&self) -> Result<&Namespace> {
        Ok(self.lab.namespace("server")?)
    }

    /// Name of the file on the share.
    pub const fn remote(direction: Direction) -> &'static str {
        match direction {
            Direction::Read => SOURCE,
            Direction::Write => TARGET,
        }
    }

    /// The client's end.
    pub const fn local(direction: Direction) -> &'static str {
        match direction {
            Direction::Read => NOWHERE,
            Direction::Write => LOCAL_SOURCE,
        }
    }

    fn on_share(&self, name: &str) -> Result<PathBuf> {
        Ok(self.server()?.path(format!("{SHARES}/{SHARE}/{name}")))
    }

    fn source(&self, direction: Direction) -> Result<PathBuf> {
        match direction {
            Direction::Read => self.on_share(SOURCE),
            Direction::Write => Ok(self.client()?.path(LOCAL_SOURCE)),
        }
    }

    /// Makes the file that the workload moves, and removes every other.
    pub fn furnish(&self, workload: &Workload) -> Result<()> {
        for direction in [Direction::Read, Direction::Write] {
            remove(self.source(direction)?)?;
        }
        self.clear(workload)?;
        let path = self.source(workload.direction)?;
        let mut file = File::create_new(&path)?;
        let mut piece = vec![0; PIECE_BYTES];
        getrandom::fill(&mut piece).map_err(|error| format!("no random bytes: {error}"))?;
        for begin in (0..workload.bytes).step_by(PIECE_BYTES) {
            let places = (begin..).step_by(STAMP_EVERY);
            for (page, place) in piece.chunks_exact_mut(STAMP_EVERY).zip(places) {
                page[..8].copy_from_slice(&place.to_le_bytes());
            }
            file.write_all(&piece)?;
        }
        if workload.direction == Direction::Read {
            let folder = fs::metadata(self.on_share("")?)?;
            chown(&path, Some(folder.uid()), Some(folder.gid()))?;
        }
        Ok(())
    }

    /// Removes what a run has written, so that each finds the same.
    pub fn clear(&self, workload: &Workload) -> Result<()> {
        match workload.direction {
            Direction::Read => Ok(()),
            Direction::Write => remove(self.on_share(TARGET)?),
        }
    }

    /// Whether what was written is on the server in its full length.
    pub fn check_arrived(&self, workload: &Workload) -> Result<()> {
        if workload.direction == Direction::Read {
            return Ok(());
        }
        let bytes = fs::metadata(self.on_share(TARGET)?)?.len();
        if bytes == workload.bytes {
            return Ok(());
        }
        Err(format!(
            "the file on the share has {bytes} bytes and not {}",
            workload.bytes
        )
        .into())
    }

    /// Whether what was written is on the server as it was sent.
    pub fn check_contents(&self, workload: &Workload) -> Result<()> {
        if workload.direction == Direction::Read {
            return Ok(());
        }
        let mut sent = File::open(self.source(Direction::Write)?)?;
        let mut arrived = File::open(self.on_share(TARGET)?)?;
        let (mut one, mut other) = (vec![0; PIECE_BYTES], vec![0; PIECE_BYTES]);
        for begin in (0..workload.bytes).step_by(PIECE_BYTES) {
            sent.read_exact(&mut one)?;
            arrived.read_exact(&mut other)?;
            if one != other {
                return Err(format!("the file on the share differs in the MiB at {begin}").into());
            }
        }
        Ok(())
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

fn remove(path: PathBuf) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
