//! Run files on the disk: JSON Lines, each synced before anybody computes with it; and read with limits,
//! because strangers mail them.

use std::borrow::Cow;
use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use locale::{Language, Message, say};
use serde::{Deserialize, Serialize};

use crate::bounded_read::{self, Lines};
use crate::memory_weight::{elements, weight};
use crate::sanitized_text::{EXCERPT_CHARS_MAX, excerpt, of_a_line};
use crate::{
    Design, Event, Header, Nanoseconds, Outcome, PathFacts, RUN_FORMAT, RUN_VERSION, Record, Round,
    Run, Sample, Schedule, Stage, TrialRecord,
};

/// Longest line: that of a trial of an hour, which has 3600 samples, with room to spare.
const LINE_BYTES_MAX: u64 = 512 << 10;
/// Most elements of all lists in a line. While it is parsed each may take two hundred bytes.
const ELEMENTS_MAX: usize = 1 << 15;
/// Longest file: more than [`TRIALS_MAX`] trials of many samples each.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// Most trials of a run: a day of them, one every five seconds.
pub const TRIALS_MAX: usize = 16_384;
/// What they may take in memory together, in bytes.
const TRIALS_WEIGHT_MAX: usize = 32 << 20;
/// Most phases of experiments and rounds of searches: `tune` makes four for each of its candidates.
const SCHEDULES_MAX: usize = 256;
/// What the header and all records that are no trials may take in memory together, in bytes. Reports repeat
/// what stands there, up to twenty times.
const OTHERS_WEIGHT_MAX: usize = 3 << 20;
/// Lines that were passed over and are named one by one.
const WARNINGS_MAX: usize = 100;
/// How long the lock of a dead linerate may still be held by what it was about to start, and how
/// often that is looked at.
const HEIR_LIMIT: Duration = Duration::from_secs(1);
const HEIR_LOOK: Duration = Duration::from_millis(20);

/// Why a run file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    Io {
        /// What we were doing.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Two that write into it would cut each other's lines, and count trials twice.
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A line is not what it should be.
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        reason: Message,
    },
    /// It is not a run file, or from a newer program.
    NotARun {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: Message,
    },
    /// It holds more than any run that is read again.
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What is too much, and where.
        reason: Message,
    },
}

impl Error {
    /// What happened, as something that can be said in any language.
    #[must_use]
    pub fn message(&self) -> Message {
        let (message, path) = match self {
            Self::Io { action, path, .. } => (cannot(action), path),
            Self::InUse { path } => (say("error-file.in-use"), path),
            Self::Line { path, line, reason } => {
                let message = say("error-file.line").count("line", *line);
                (message.with("reason", reason.clone()), path)
            }
            Self::NotARun { path, reason } => {
                let message = say("error-file.not-a-run");
                (message.with("reason", reason.clone()), path)
            }
            Self::TooLarge { path, reason } => {
                let message = say("error-file.too-large");
                (message.with("reason", reason.clone()), path)
            }
        };
        message.with("path", path.display().to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

/// What the system does not let us do with the run file.
fn cannot(action: &str) -> Message {
    match action {
        "open" => say("error-file.cannot-open"),
        "read" => say("error-file.cannot-read"),
        "write" => say("error-file.cannot-write"),
        "lock" => say("error-file.cannot-lock"),
        "sync the folder of" => say("error-file.cannot-sync-folder"),
        "cut the last line of" => say("error-file.cannot-cut-line"),
        other => say("error-file.cannot").with("action", other),
    }
}

/// Appends to a run file; every record is on the disk when `append` returns. Nobody else writes into
/// the file as long as this is there.
#[derive(Debug)]
pub struct RunWriter {
    file: File,
    path: PathBuf,
    held: Held,
}

impl RunWriter {
    /// Starts a file that was just made at this path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(file: File, path: &Path, header: &Header) -> Result<Self, Error> {
        lock(&file, path)?;
        let mut writer = Self {
            file,
            path: path.to_owned(),
            held: Held {
                others_weight: weight(header),
                ..Held::default()
            },
        };
        writer.write_line(header)?;
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            let synced = os::local_file::sync_names(folder);
            synced.map_err(|source| io_error("sync the folder of", path, source))?;
        }
        Ok(writer)
    }

    /// Goes on with a file that is open for reading and for adding to its end; a last line that was cut off is
    /// taken out of it. Gives what it holds.
    ///
    /// # Errors
    /// When it cannot be read or written, is no run file, or another linerate writes into it.
    pub fn resume(file: File, path: &Path) -> Result<(Self, Run), Error> {
        // Before it is read: what another one writes meanwhile would be lost.
        lock(&file, path)?;
        let mut reader = Reader::default();
        let run = reader.read(&file, path)?;
        if reader.whole == 0 {
            return Err(Error::NotARun {
                path: path.to_owned(),
                reason: say("error-file.first-line-cut"),
            });
        }
        let cut = file.set_len(reader.whole).and_then(|()| file.sync_all());
        cut.map_err(|source| io_error("cut the last line of", path, source))?;
        let (path, held) = (path.to_owned(), reader.held);
        Ok((Self { file, path, held }, run))
    }

    /// Adds one record and syncs it.
    ///
    /// # Errors
    /// When the disk is full or otherwise says no, or the file holds as much as is read again.
    pub fn append(&mut self, record: &Record) -> Result<(), Error> {
        let added = self.held.add(record);
        added.map_err(|reason| too_large(&self.path, reason))?;
        self.write_line(record)
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write_line(&mut self, value: &impl Serialize) -> Result<(), Error> {
        let failed = |source| io_error("write", &self.path, source);
        let mut line = serde_json::to_vec(value).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        // What could not be read again is not written.
        let fits = check_line(&line);
        fits.map_err(|reason| too_large(&self.path, reason))?;
        let written = self.file.write_all(&line);
        written.and_then(|()| self.file.sync_data()).map_err(failed)
    }
}

impl Run {
    /// Reads a whole run file. A last line that was cut off is dropped and named in `warnings`;
    /// records of a kind this program does not know are passed over and named too. Outside the ladder
    /// only the sums of a trial's samples are of use, and only they are kept.
    ///
    /// # Errors
    /// When the file cannot be read, is no run file, a line before the last is damaged, or it holds more
    /// than any run of this program.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::read_open(bounded_read::open(path), path)
    }

    /// The same of a file that [`bounded_read::open`] was asked for, whose path is said in errors.
    ///
    /// # Errors
    /// As [`Run::read`].
    pub fn read_open(file: io::Result<File>, path: &Path) -> Result<Self, Error> {
        let file = file.map_err(|source| io_error("open", path, source))?;
        Reader::default().read(&file, path)
    }
}

/// What a file holds so far, against what it may hold.
#[derive(Debug, Default)]
struct Held {
    trials: usize,
    trials_weight: usize,
    schedules: usize,
    others_weight: usize,
}

impl Held {
    fn add(&mut self, record: &Record) -> Result<(), Message> {
        let own = size_of::<Record>() + weight(record);
        match record {
            Record::Trial(_) => {
                self.trials += 1;
                self.trials_weight += own;
            }
            Record::Schedule(_) | Record::Design(_) | Record::Round(_) => {
                self.schedules += 1;
                self.others_weight += own;
            }
            Record::Path(_) | Record::Event { .. } => self.others_weight += own,
        }
        self.check()
    }

    fn check(&self) -> Result<(), Message> {
        let (trials, others) = (self.trials_weight, self.others_weight);
        let most = [
            (self.trials, TRIALS_MAX, "error-file.many-trials"),
            (self.schedules, SCHEDULES_MAX, "error-file.many-schedules"),
            (trials, TRIALS_WEIGHT_MAX, "error-file.bytes-of-trials"),
            (others, OTHERS_WEIGHT_MAX, "error-file.bytes-of-records"),
        ];
        match most.into_iter().find(|(held, most, _)| held > most) {
            Some((_, most, id)) => Err(say(id).count("most", most)),
            None => Ok(()),
        }
    }
}

#[derive(Default)]
struct Reader {
    held: Held,
    /// Length of the file up to the end of its last whole line.
    whole: u64,
}

impl Reader {
    fn read(&mut self, file: &File, path: &Path) -> Result<Run, Error> {
        let mut lines = Lines::new(file, LINE_BYTES_MAX, FILE_BYTES_MAX);
        let first = lines.next().map_err(|source| unread(path, source))?;
        let mut run = Run {
            header: self.header(first.map(|(_, first)| first), path)?,
            records: Vec::new(),
            warnings: Vec::new(),
        };
        let mut passed_over = 0;
        while let Some((number, line)) = lines.next().map_err(|source| unread(path, source))? {
            if !line.ends_with(b"\n") {
                run.warnings
                    .push(say("run-warning.cut-line").count("line", number));
                break;
            }
            match self.record((number, line), path)? {
                // Exactly as large as it is; while it was parsed its lists had room to grow.
                Ok(record) => run.records.push(record.clone()),
                Err(kind) if passed_over < WARNINGS_MAX => {
                    passed_over += 1;
                    let warning = say("run-warning.unknown-kind").count("line", number);
                    run.warnings.push(warning.with("kind", kind));
                }
                Err(_) => passed_over += 1,
            }
        }
        if passed_over > WARNINGS_MAX {
            let more = passed_over - WARNINGS_MAX;
            run.warnings
                .push(say("run-warning.more-unknown").count("count", more));
        }
        Ok(run)
    }

    /// The header, from the first line if there is one.
    fn header(&mut self, line: Option<&[u8]>, path: &Path) -> Result<Header, Error> {
        let not_a_run = |reason| Error::NotARun {
            path: path.to_owned(),
            reason,
        };
        let line = line.ok_or_else(|| not_a_run(say("error-file.empty")))?;
        if line.ends_with(b"\n") {
            self.whole += line.len() as u64;
        }
        check_line(line).map_err(|reason| too_large(path, reason.count("line", 1_u64)))?;
        let header = parse_header(line).map_err(not_a_run)?;
        self.held.others_weight = weight(&header);
        self.held.check().map_err(|what| {
            let reason = say("error-file.in-line").count("line", 1_u64);
            too_large(path, reason.with("reason", what))
        })?;
        Ok(header)
    }

    /// A record from a line that is whole, or the kind of one that this program does not know.
    fn record(
        &mut self,
        (number, line): (usize, &[u8]),
        path: &Path,
    ) -> Result<Result<Record, String>, Error> {
        self.whole += line.len() as u64;
        check_line(line).map_err(|reason| too_large(path, reason.count("line", number)))?;
        let parsed = parse_record(line).map_err(|reason| Error::Line {
            path: path.to_owned(),
            line: number,
            reason,
        })?;
        if let Ok(record) = &parsed {
            self.held.add(record).map_err(|what| {
                let reason = say("error-file.up-to-line").count("line", number);
                too_large(path, reason.with("reason", what))
            })?;
        }
        Ok(parsed)
    }
}

/// What is too much of a line, whose number is to be added where it has one.
fn check_line(line: &[u8]) -> Result<(), Message> {
    if line.len() as u64 > LINE_BYTES_MAX {
        return Err(say("error-file.bytes-of-line").count("most", LINE_BYTES_MAX));
    }
    match elements(line) > ELEMENTS_MAX {
        true => Err(say("error-file.elements-of-line").count("most", ELEMENTS_MAX)),
        false => Ok(()),
    }
}

/// A record, or the kind of one that this program does not know. Nothing is kept of a line but what the
/// type of its kind has a place for.
fn parse_record(line: &[u8]) -> Result<Result<Record, String>, Message> {
    #[derive(Deserialize)]
    struct Tag<'a> {
        #[serde(borrow)]
        kind: Option<Cow<'a, str>>,
    }
    #[derive(Deserialize)]
    struct EventLine {
        at: Nanoseconds,
        #[serde(flatten)]
        event: Event,
    }
    let Tag { kind } = parse(line)?;
    let record = match kind.as_deref() {
        Some("schedule") => Record::Schedule(parse::<Schedule>(line)?),
        Some("design") => {
            let design = parse::<Design>(line)?;
            design.check()?;
            Record::Design(Box::new(design))
        }
        Some("round") => Record::Round(parse::<Round>(line)?),
        Some("look") => Record::Path(Box::new(parse::<PathFacts>(line)?)),
        Some("event") => {
            let EventLine { at, event } = parse(line)?;
            Record::Event { at, event }
        }
        Some("trial") => {
            let mut trial = parse::<TrialRecord>(line)?;
            sum_samples(&mut trial);
            Record::Trial(Box::new(trial))
        }
        other => {
            let kind = other.unwrap_or("none").chars();
            return Ok(Err(kind.take(EXCERPT_CHARS_MAX).collect()));
        }
    };
    Ok(Ok(record))
}

fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| of_a_line(&error))
}

/// The sum of a trial's samples instead of them, where nothing asks for each: those that know what was
/// sent again and those that do not stay apart.
fn sum_samples(trial: &mut TrialRecord) {
    let Outcome::Measured(result) = &mut trial.outcome else {
        return;
    };
    if matches!(trial.stage, Stage::Ladder { .. }) {
        return;
    }
    let mut sums: Vec<Sample> = Vec::new();
    for sample in &result.samples {
        let is_alike =
            |sum: &&mut Sample| sum.retransmits.is_some() == sample.retransmits.is_some();
        match sums.iter_mut().find(is_alike) {
            None => sums.push(sample.clone()),
            Some(sum) => {
                sum.duration = sum.duration + sample.duration;
                sum.bytes = sum.bytes + sample.bytes;
                sum.cpu = sum.cpu + sample.cpu;
                let both = sum.retransmits.zip(sample.retransmits);
                sum.retransmits = both.map(|(one, other)| one.saturating_add(other));
            }
        }
    }
    result.samples = sums;
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

fn parse_header(line: &[u8]) -> Result<Header, Message> {
    #[derive(Deserialize)]
    struct Opening<'a> {
        #[serde(borrow)]
        format: Option<Cow<'a, str>>,
        version: Option<u64>,
        #[serde(borrow)]
        program: Option<Cow<'a, str>>,
    }
    let opening: Opening =
        parse(line).map_err(|error| say("error-file.no-header").with("reason", error))?;
    if opening.format.as_deref() != Some(RUN_FORMAT) {
        return Err(say("error-file.no-format").with("format", RUN_FORMAT));
    }
    let version = opening.version.unwrap_or(0);
    if version == 0 || version > u64::from(RUN_VERSION) {
        let program = excerpt(opening.program.as_deref().unwrap_or_default());
        let program = Some(program).filter(|program| !program.is_empty());
        return Err(say("error-file.version")
            .with("version", version.to_string())
            .count("known", RUN_VERSION)
            .with_known("program", program));
    }
    parse(line).map_err(|error| say("error-file.bad-header").with("reason", error))
}

fn unread(path: &Path, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::FileTooLarge => too_large(path, bounded_read::message_of(&source)),
        _ => io_error("read", path, source),
    }
}

fn too_large(path: &Path, reason: Message) -> Error {
    Error::TooLarge {
        path: path.to_owned(),
        reason,
    }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
