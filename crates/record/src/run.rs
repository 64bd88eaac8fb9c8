//! The run file: JSON Lines, a header and then tagged records, each synced before anybody computes
//! with it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::{
    Arm, Design, Direction, HostFacts, Level, Nanoseconds, PathLook, Phase, Recipe, ShareAddress,
    TrialRecord,
};

/// The `format` of every run file.
pub const RUN_FORMAT: &str = "linerate-run";
/// The newest version this program writes.
pub const RUN_VERSION: u32 = 1;
/// Longest line that is read; a longer one is an error, so that no file can eat the memory.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// How long the lock of a dead linerate may still be held by what it was about to start, and how
/// often that is looked at.
const HEIR_LIMIT: Duration = Duration::from_secs(1);
const HEIR_LOOK: Duration = Duration::from_millis(20);

/// The first line of a run file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Always [`RUN_FORMAT`].
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// Program and version that wrote it.
    pub program: String,
    /// Seed of everything random in the run.
    pub seed: u64,
    /// What was asked for.
    pub plan: Plan,
    /// The user, as typed before the host of the share: `user` or `DOMAIN;user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The options that said how to log in and what the session must be, as one types them; never a
    /// password, at most the path of a file that has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub login_options: Vec<String>,
    /// The hosts as they were at the start, client first.
    pub facts: Vec<HostFacts>,
    /// Wall clock at the start; every other time counts from here.
    pub started: jiff::Timestamp,
}

/// What a run was asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Plan {
    /// `linerate check`.
    Check {
        /// The share.
        share: ShareAddress,
    },
    /// `linerate bench`.
    Bench {
        /// Share or host, as typed without user and password.
        target: String,
        /// What was run there, where it was more than one workload.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recipe: Option<Box<Recipe>>,
    },
    /// `linerate experiment`.
    Experiment {
        /// Share, folder or host, as typed without user and password.
        target: String,
        /// What it is about.
        title: String,
    },
    /// `linerate tune`.
    Tune {
        /// The share.
        share: ShareAddress,
        /// The candidates, in the order in which they are tried.
        candidates: Vec<Level>,
    },
}

/// A question that an experiment answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The baseline.
    pub a: Level,
    /// The change.
    pub b: Level,
    /// The responses: rate of the share in each of these directions.
    pub responses: Vec<Direction>,
    /// Half width of practical equivalence as a share of 1: 0.02 is 2 %.
    pub band: f64,
    /// Confidence asked of each interval, 0.95.
    pub confidence: f64,
}

/// What joins the names of levels that hold together.
pub const LEVELS_JOINED: &str = " + ";

impl Question {
    /// The name of what B adds to A: of levels that hold together those that A has not, wherever they
    /// stand; else that of B.
    #[must_use]
    pub fn change(&self) -> String {
        let parts = |level: &Level| -> Vec<String> {
            level.name.split(LEVELS_JOINED).map(str::to_owned).collect()
        };
        let (before, mut added) = (parts(&self.a), parts(&self.b));
        let taken = before.iter().all(|name| {
            let place = added.iter().position(|one| one == name);
            place.map(|place| added.remove(place)).is_some()
        });
        match taken && !added.is_empty() {
            true => added.join(LEVELS_JOINED),
            false => self.b.name.clone(),
        }
    }
}

/// The order of one phase of an experiment, fixed before its first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Id of the experiment, unique in the run: `mtu-9000`.
    pub experiment: String,
    /// Which part.
    pub phase: Phase,
    /// What is asked.
    pub question: Question,
    /// Arms in order, a row for each block.
    pub blocks: Vec<Vec<Arm>>,
    /// Order of the responses at each of these visits; empty where it was left open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<Vec<Vec<Direction>>>,
}

/// Settings that a search tries in one go, in their order; fixed before the first of these trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Its number in the run, from 0.
    pub round: u32,
    /// What it is for, in a few words.
    pub what: String,
    /// What is tried.
    pub levels: Vec<Level>,
    /// Places of these levels in order, a row for each block.
    pub blocks: Vec<Vec<u32>>,
    /// What is measured of each.
    pub responses: Vec<Direction>,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Proven better, and confirmed: left in place.
    Kept,
    /// Put back.
    Returned,
}

/// Something that happened, other than a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A change of hosts was journalled and will be made.
    ChangeOpened {
        /// Its id, for `linerate undo ID`.
        change: String,
    },
    /// A change was undone and read back.
    ChangeUndone {
        /// Its id.
        change: String,
        /// Whether every host reads as before it.
        restored: bool,
    },
    /// A candidate was decided.
    Decided {
        /// The experiment's id.
        experiment: String,
        /// What was done.
        decision: Decision,
        /// Why, in a sentence.
        reason: String,
    },
    /// Something worth knowing, for people.
    Note {
        /// The text.
        text: String,
    },
    /// The run ended by itself. A run without it was cut short.
    Finished,
    /// An event of a newer program, which this one does not know.
    #[serde(other)]
    Unknown,
}

/// A line after the header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A phase of an experiment begins.
    Schedule(Schedule),
    /// An experiment over several factors begins.
    Design(Box<Design>),
    /// A round of a search begins.
    Round(Round),
    /// A trial is over.
    Trial(Box<TrialRecord>),
    /// What the path looks like; the last one counts.
    Look(Box<PathLook>),
    /// Something else happened.
    Event {
        /// When, since the start of the run.
        at: Nanoseconds,
        /// What.
        #[serde(flatten)]
        event: Event,
    },
}

/// A whole run file.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The header.
    pub header: Header,
    /// The records, in order.
    pub records: Vec<Record>,
    /// What was wrong with the file and could be passed over, for people.
    pub warnings: Vec<String>,
}

/// Why a run file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error("cannot {action} the run file `{}`", path.display())]
    Io {
        /// What we were doing.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Two that write into it would cut each other's lines, and count trials twice.
    #[error("another linerate is writing the run file `{}`", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A line is not what it should be.
    #[error("line {line} of the run file `{}` cannot be understood", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// It is not a run file, or from a newer program.
    #[error("`{}` is not a run file of this program: {reason}", path.display())]
    NotARun {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// Appends to a run file; every record is on the disk when `append` returns. Nobody else writes into
/// the file as long as this is there.
#[derive(Debug)]
pub struct RunWriter {
    file: File,
    path: PathBuf,
}

impl RunWriter {
    /// Starts a new file. An existing file is never overwritten.
    ///
    /// # Errors
    /// When the file exists or cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, Error> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|source| io_error("create", path, source))?;
        lock(&file, path)?;
        let mut writer = Self {
            file,
            path: path.to_owned(),
        };
        writer.write_line(header)?;
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.map_err(|source| io_error("sync the folder of", path, source))?;
        }
        Ok(writer)
    }

    /// Goes on with a file; a last line that was cut off is taken out of it. Gives what it holds.
    ///
    /// # Errors
    /// When it cannot be read or written, is no run file, or another linerate writes into it.
    pub fn resume(path: &Path) -> Result<(Self, Run), Error> {
        let file = OpenOptions::new().read(true).append(true).open(path);
        let mut file = file.map_err(|source| io_error("open", path, source))?;
        // Before it is read: what another one writes meanwhile would be lost.
        lock(&file, path)?;
        let run = Run::read(path)?;
        let whole = whole_lines(&mut file);
        let cut = whole.and_then(|length| file.set_len(length).and_then(|()| file.sync_all()));
        cut.map_err(|source| io_error("cut the last line of", path, source))?;
        let path = path.to_owned();
        Ok((Self { file, path }, run))
    }

    /// Adds one record and syncs it.
    ///
    /// # Errors
    /// When the disk is full or otherwise says no.
    pub fn append(&mut self, record: &Record) -> Result<(), Error> {
        self.write_line(record)
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write_line(&mut self, value: &impl Serialize) -> Result<(), Error> {
        let written = serde_json::to_vec(value)
            .map_err(io::Error::from)
            .and_then(|mut line| {
                line.push(b'\n');
                self.file.write_all(&line)?;
                self.file.sync_data()
            });
        written.map_err(|source| io_error("write", &self.path, source))
    }
}

impl Run {
    /// Reads a whole run file. A last line that was cut off is dropped and named in `warnings`;
    /// records of a kind this program does not know are passed over and named too.
    ///
    /// # Errors
    /// When the file cannot be read, is no run file, or a line before the last is damaged.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| io_error("open", path, source))?;
        let mut reader = BufReader::new(file);
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            let read = io::Read::take(&mut reader, LINE_BYTES_MAX).read_until(b'\n', &mut line);
            match read.map_err(|source| io_error("read", path, source))? {
                0 => break,
                _ => lines.push(line),
            }
        }
        Self::parse(path, &lines)
    }

    fn parse(path: &Path, lines: &[Vec<u8>]) -> Result<Self, Error> {
        let not_a_run = |reason: String| Error::NotARun {
            path: path.to_owned(),
            reason,
        };
        let (first, rest) = lines
            .split_first()
            .ok_or_else(|| not_a_run("it is empty".into()))?;
        let header = parse_header(first).map_err(not_a_run)?;
        let mut run = Self {
            header,
            records: Vec::new(),
            warnings: Vec::new(),
        };
        for (index, line) in rest.iter().enumerate() {
            let number = index + 2;
            if !line.ends_with(b"\n") {
                run.warnings
                    .push(format!("line {number} was cut off and is left out"));
                break;
            }
            let error = |source| Error::Line {
                path: path.to_owned(),
                line: number,
                source,
            };
            let value: serde_json::Value = serde_json::from_slice(line).map_err(error)?;
            match value.get("kind").and_then(serde_json::Value::as_str) {
                Some("schedule" | "design" | "round" | "trial" | "look" | "event") => {
                    run.records
                        .push(serde_json::from_value(value).map_err(error)?);
                }
                other => run.warnings.push(format!(
                    "line {number} has the unknown kind `{}` and is left out",
                    other.unwrap_or("none")
                )),
            }
        }
        Ok(run)
    }
}

/// Locks a file until it is closed.
fn lock(file: &File, path: &Path) -> Result<(), Error> {
    let patience = Instant::now() + HEIR_LIMIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < patience => thread::sleep(HEIR_LOOK),
            Err(TryLockError::WouldBlock) => {
                let path = path.to_owned();
                return Err(Error::InUse { path });
            }
            // A file system without locks is no reason to measure nothing.
            Err(TryLockError::Error(source)) if source.kind() == io::ErrorKind::Unsupported => {
                return Ok(());
            }
            Err(TryLockError::Error(source)) => return Err(io_error("lock", path, source)),
        }
    }
}

/// The length of a file up to the end of its last whole line.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    let mut reader = BufReader::new(file);
    let (mut at, mut whole) = (0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = io::Read::take(&mut reader, LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(whole);
        }
        at += read as u64;
        if line.ends_with(b"\n") {
            whole = at;
        }
    }
}

fn parse_header(line: &[u8]) -> Result<Header, String> {
    let value: serde_json::Value = serde_json::from_slice(line)
        .map_err(|error| format!("its first line is no complete header ({error})"))?;
    if value.get("format").and_then(serde_json::Value::as_str) != Some(RUN_FORMAT) {
        return Err(format!(
            "its first line does not say `\"format\":\"{RUN_FORMAT}\"`"
        ));
    }
    let version = value
        .get("version")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or(0);
    if version == 0 || version > u64::from(RUN_VERSION) {
        return Err(format!(
            "it has version {version} and this program reads 1 to {RUN_VERSION}; update linerate"
        ));
    }
    serde_json::from_value(value).map_err(|error| format!("its header is damaged ({error})"))
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, Question};

    fn change(a: &str, b: &str) -> String {
        let level = |name: &str| Level {
            name: name.into(),
            settings: Vec::new(),
        };
        let question = Question {
            a: level(a),
            b: level(b),
            responses: Vec::new(),
            band: 0.02,
            confidence: 0.95,
        };
        question.change()
    }

    #[test]
    fn a_change_is_named_without_what_holds_beside_it() {
        assert_eq!(change("as it is", "MTU 9000"), "MTU 9000");
        assert_eq!(change("as it is", "buffer + MTU 9000"), "buffer + MTU 9000");
        assert_eq!(change("buffer", "buffer + MTU 9000"), "MTU 9000");
        assert_eq!(change("MTU 9000", "buffer + MTU 9000"), "buffer");
        let all = "buffer + 2 channels + MTU 9000";
        assert_eq!(change("buffer + MTU 9000", all), "2 channels");
        assert_eq!(change(all, all), all);
        assert_eq!(
            change("MTU 9000 + buffer", "buffer + 2 channels"),
            "buffer + 2 channels"
        );
    }
}
