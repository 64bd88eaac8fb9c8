//! The bytes of one large file.

mod checkpoint;

use std::cell::{Cell, RefCell};
use std::iter;
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use locale::{Message, say};

use super::entry::Entry;
use super::extra_sessions::{ExtraSession, is_written_over_all};
use super::file_source_and_destination::{Part, Source};
use super::hash::FileHash;
use super::name;
use super::partial_file_options::{Begin, Finish};
use super::place::Place;
use super::progress::FileProgress;
use super::resume_record::RESUME_BYTES_MIN;
use super::server_side_copy::{self, OnServer};
use crate::error::Error;
use crate::file::{File, Piece};
use crate::signal::Stop;
use crate::single_path_operations::NotKept;
use crate::tree::Replace;
use checkpoint::Checkpoint;

/// After so long all that was asked for is waited for, and what is complete by then is put on
/// record. The channels are idle for a round trip then.
const SEGMENT: Duration = Duration::from_secs(1);
/// What is asked for at once, and the least of a segment.
const RANGE_BYTES: u64 = 8 << 20;
/// What is taken for zeros where a hole is hashed.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// One file to copy.
pub(super) struct Transfer<'a> {
    pub from: &'a Place,
    pub to: &'a Place,
    /// The source as its folder shows it.
    pub found: &'a Entry,
    /// Sessions that it can use beside its own.
    pub sessions: &'a [ExtraSession],
    pub replace: Replace,
    pub resume: bool,
    pub verify: bool,
}

/// What became of it.
#[derive(Default)]
pub(super) struct Transferred {
    pub bytes: u64,
    pub resumed_bytes: u64,
    pub continued_bytes: u64,
    /// Bytes that the server copied by itself.
    pub on_server_bytes: u64,
    /// Why not all of them, where both ends are on it.
    pub not_on_server: Option<Message>,
    /// Of source and copy, where it was verified.
    pub hash: Option<String>,
    /// Why the copy does not have the times or attributes of its source.
    pub not_kept: NotKept,
    /// The server lost what it had said was written; then it was written again.
    pub lost: Option<Error>,
    /// The first data stream of the source that was not copied.
    pub alternate_stream: Option<String>,
}

impl<'a> Transfer<'a> {
    /// The same between these places, over no other session, and from where it is on record.
    pub(super) fn over_first(&self, [from, to]: [&'a Place; 2]) -> Self {
        Self {
            from,
            to,
            sessions: &[],
            resume: true,
            ..*self
        }
    }

    /// Copies it. What is not complete is kept where a later run can go on with it, and else
    /// removed. What a server lost is written once more, one piece after the other.
    pub(super) fn run(
        &self,
        progress: &FileProgress<'_>,
        stop: &Stop,
    ) -> Result<Transferred, Error> {
        match self.run_once(progress, stop) {
            Err(lost @ Error::Lost { .. }) => {
                let anew = Self {
                    resume: false,
                    sessions: &[],
                    ..*self
                };
                let copied = anew.run_once(progress, stop)?;
                Ok(Transferred {
                    lost: Some(lost),
                    ..copied
                })
            }
            copied => copied,
        }
    }

    fn run_once(&self, progress: &FileProgress<'_>, stop: &Stop) -> Result<Transferred, Error> {
        let mut source = Source::open(self.from, self.found)?;
        let size = source.entry().size;
        let (mut part, start) = self.begin_part(&source)?;
        progress.begin(start);
        let (on_server, not_on_server) = self.on_server(&source, &part);
        if on_server.is_none() && !part.is_written_in_order() {
            self.add_sessions(&mut source, &mut part);
        }
        // What does not pass through this machine is read once more to be hashed.
        let hash_passing = self.verify && on_server.is_none();
        let bytes = Bytes {
            source: &source,
            part: &part,
            size,
            keeps_record: size >= RESUME_BYTES_MIN,
            hash: hash_passing.then(|| RefCell::new(FileHash::new(size))),
            on_server: RefCell::new(on_server),
            on_server_bytes: Cell::new(0),
            not_on_server: RefCell::new(not_on_server),
            progress,
            stop,
        };
        let moved = bytes
            .hash_before(start)
            .and_then(|()| bytes.move_all(start))
            .and_then(|recorded| source.check_unchanged().map(|()| recorded));
        let Bytes {
            hash,
            on_server_bytes,
            not_on_server,
            ..
        } = bytes;
        let checked = moved.and_then(|recorded| {
            let passed = hash.map(RefCell::into_inner);
            let hash = self.check_copy(&source, &part, passed, stop)?;
            Ok((recorded, hash))
        });
        let entry = source.entry().clone();
        let alternate_stream = source.alternate_stream().map(str::to_owned);
        let checked = or_changed(checked, source);
        let (recorded, hash) = or_kept(checked, &part, size)?;
        let not_kept = part.complete(&Finish {
            sync: recorded,
            ..Finish::of(&entry, [self.from, self.to], self.replace)
        })?;
        Ok(Transferred {
            bytes: size,
            resumed_bytes: progress.earlier().min(start),
            continued_bytes: start.saturating_sub(progress.earlier()),
            on_server_bytes: on_server_bytes.get(),
            not_on_server: not_on_server.into_inner(),
            hash,
            not_kept,
            lost: None,
            alternate_stream,
        })
    }

    fn add_sessions(&self, source: &mut Source, part: &mut Part) {
        for session in self.sessions {
            source.add_session(session);
            part.add_session(session);
        }
    }

    /// Begins a copy, or goes on with one. Gives where to go on.
    fn begin_part(&self, source: &Source) -> Result<(Part, u64), Error> {
        let begin = Begin {
            source: source.identity(),
            resume: self.resume,
            is_sparse: source.is_sparse(),
            several: !self.sessions.is_empty() && is_written_over_all(self.to),
            mode: source.entry().mode,
        };
        Part::begin(self.to, &begin)
    }

    /// Where the server has both ends, it is asked to copy by itself. Else, or where it does not
    /// want to, why not.
    fn on_server(&self, source: &Source, part: &Part) -> (Option<OnServer>, Option<Message>) {
        match (self.from, part, source) {
            (Place::Share { tree, .. }, Part::Share(part), Source::Share(source))
                if !part.is_written_in_order() =>
            {
                let to = part.tree();
                if !tree.is_same_session(to) {
                    let reason = say("error-smb.two-sessions");
                    return (None, tree.is_same_server(to).then_some(reason));
                }
                match OnServer::begin(source.file(), part.file()) {
                    Ok(on_server) => (Some(on_server), None),
                    Err(error) => (None, Some(refusal(&error))),
                }
            }
            _ => (None, None),
        }
    }

    /// Reads the copy back where that is asked for, and the source too if it did not pass through here.
    /// Gives the hash of both.
    fn check_copy(
        &self,
        source: &Source,
        part: &Part,
        passed: Option<FileHash>,
        stop: &Stop,
    ) -> Result<Option<String>, Error> {
        if !self.verify {
            return Ok(None);
        }
        let size = source.entry().size;
        let hash = match (source, passed) {
            (_, Some(passed)) => passed.finish(),
            (Source::Share(source), None) => Some(super::share::hash(source.file(), size, stop)?),
            (Source::Local(_), None) => None,
        };
        let object = self.from.shown();
        let Some(source_hash) = hash else {
            return Err(Error::Changed { object });
        };
        let copy = part.hash(size, stop)?.unwrap_or(source_hash);
        let [source_hash, copy_hash] = [source_hash, copy].map(|hash| hash.to_hex().to_string());
        if copy_hash == source_hash {
            return Ok(Some(source_hash));
        }
        Err(Error::Differs {
            object,
            source_hash,
            copy: copy_hash,
        })
    }
}

/// Closes the source of a copy, and says if it is no longer what it was. Where the server copied by itself, the source was
/// read later than the copy was made, and may only differ for that. While a file is open, Samba gives the time of the last
/// write that it had then, whatever others write on the server.
fn or_changed<T>(checked: Result<T, Error>, source: Source) -> Result<T, Error> {
    match checked {
        Ok(checked) => source.close_unchanged().map(|()| checked),
        Err(differs @ Error::Differs { .. }) => {
            source.close_unchanged().and_then(|()| Err(differs))
        }
        failed => failed,
    }
}

/// Leaves the part of a file of this size for a later run, where what was done with it was interrupted.
fn or_kept<T>(done: Result<T, Error>, part: &Part, size: u64) -> Result<T, Error> {
    if done.as_ref().is_err_and(Error::is_interruption) && size >= RESUME_BYTES_MIN {
        part.keep();
    }
    done
}

/// Why the server does not copy by itself.
fn refusal(error: &Error) -> Message {
    match error.status() {
        Some(status) => say("error-smb.refuses-with").with("status", status.to_string()),
        None => error.message(),
    }
}

/// The bytes between a source and its part.
struct Bytes<'a> {
    source: &'a Source,
    part: &'a Part,
    size: u64,
    keeps_record: bool,
    hash: Option<RefCell<FileHash>>,
    /// As long as the server copies by itself.
    on_server: RefCell<Option<OnServer>>,
    on_server_bytes: Cell<u64>,
    not_on_server: RefCell<Option<Message>>,
    progress: &'a FileProgress<'a>,
    stop: &'a Stop,
}

impl Bytes<'_> {
    /// Hashes what an earlier run has copied.
    fn hash_before(&self, end: u64) -> Result<(), Error> {
        let Some(hash) = self.hash.as_ref().filter(|_| end > 0) else {
            return Ok(());
        };
        match self.source {
            Source::Share(source) => {
                for piece in source.file().read_ranges(iter::once(0..end), self.stop) {
                    let piece = piece?;
                    hash.borrow_mut().add(piece.offset, piece.payload.bytes());
                }
            }
            Source::Local(source) => {
                let mut room = vec![0; 1 << 20];
                for range in chunks(0..end, room.len() as u64) {
                    if self.stop.is_stopped() {
                        return Err(Error::Stopped);
                    }
                    let room = &mut room[..length(&range)];
                    source.read(range.start, room)?;
                    hash.borrow_mut().add(range.start, room);
                }
            }
        }
        Ok(())
    }

    /// Moves everything from `start` on. Whether there is a record of it.
    fn move_all(&self, start: u64) -> Result<bool, Error> {
        let checkpoint = Checkpoint::default();
        let moved = thread::scope(|scope| {
            let mut begun = false;
            let mut complete = start;
            let moved = loop {
                // What is lost already is not worth the rest.
                if complete >= self.size || checkpoint.has_failed() {
                    break Ok(());
                }
                match self.move_segment(complete) {
                    Ok(end) => complete = end,
                    Err(error) => break Err(error),
                }
                if self.keeps_record && complete < self.size {
                    if !begun {
                        begun = true;
                        scope.spawn(|| checkpoint.run(self.part));
                    }
                    checkpoint.note(complete);
                }
            };
            checkpoint.end();
            moved.map(|()| begun || start > 0)
        });
        moved.and_then(|recorded| checkpoint.into_outcome().map(|()| recorded))
    }

    /// Moves what can be moved in a while, and gives where it ended: all before that is written.
    fn move_segment(&self, start: u64) -> Result<u64, Error> {
        if let (Some(on_server), Some(to)) = (&*self.on_server.borrow(), self.part.file()) {
            match self.copy_on_server(on_server, to, start) {
                Err(error) if server_side_copy::is_refusal(&error) => {
                    *self.not_on_server.borrow_mut() = Some(refusal(&error));
                }
                done => return done,
            }
        }
        // Nothing, or what the server refused a moment ago.
        self.on_server.replace(None);
        if self.part.is_written_in_order() {
            return self.move_in_order(start);
        }
        let until = Instant::now() + SEGMENT;
        let keeps_record = self.keeps_record;
        let known = self.source.query_allocated(start)?;
        let mut from = start;
        let end = RefCell::new(start);
        let ranges = iter::from_fn(|| {
            if keeps_record && from > start && Instant::now() >= until {
                return None;
            }
            let Some(data) = self.source.next_data(from) else {
                self.pass_hole(from..known);
                *end.borrow_mut() = known;
                return None;
            };
            self.pass_hole(from..data.start);
            let next = data.start..data.end.min(data.start + RANGE_BYTES);
            from = next.end;
            *end.borrow_mut() = next.end;
            Some(next)
        });
        match self.source {
            Source::Share(source) => self.move_from_share(source, ranges)?,
            Source::Local(source) => self.move_from_here(source, ranges)?,
        }
        if self.stop.is_stopped() {
            return Err(Error::Stopped);
        }
        Ok(end.into_inner())
    }

    /// The same for a server that loses what is written beyond the end of a file: one piece after the
    /// other, and zeros where holes are.
    fn move_in_order(&self, start: u64) -> Result<u64, Error> {
        let until = Instant::now() + SEGMENT;
        let mut buffer = vec![0; 1 << 20];
        let mut at = start;
        while at < self.size && (at == start || !self.keeps_record || Instant::now() < until) {
            if self.stop.is_stopped() {
                return Err(Error::Stopped);
            }
            let end = self.size.min(at + buffer.len() as u64);
            let buffer = &mut buffer[..length(&(at..end))];
            match self.source {
                Source::Local(source) => source.read(at, buffer)?,
                Source::Share(source) => {
                    if source.file().read_at(at, buffer)? < buffer.len() {
                        return Err(changed(source));
                    }
                }
            }
            self.part.write(at, buffer)?;
            self.pass(at, buffer);
            at = end;
        }
        Ok(at)
    }

    /// Has the server copy for a while, and gives where it ended.
    fn copy_on_server(&self, on_server: &OnServer, to: &File, start: u64) -> Result<u64, Error> {
        let until = Instant::now() + SEGMENT;
        let mut end = start;
        while end < self.size && (end == start || Instant::now() < until) {
            if self.stop.is_stopped() {
                return Err(Error::Stopped);
            }
            let known = self.source.query_allocated(end)?;
            let data = self.source.next_data(end).unwrap_or(known..known);
            if data.start > end {
                self.pass_hole(end..data.start);
                end = data.start;
            }
            // It does not end behind a hole: the copy would be shorter than what is put on record.
            if data.is_empty() {
                continue;
            }
            let bytes = match on_server.copy(to, &data) {
                // What was copied before stays; the rest is asked for again.
                Err(_) if end > start => break,
                copied => copied?,
            };
            self.progress.advance(bytes);
            self.on_server_bytes.set(self.on_server_bytes.get() + bytes);
            end += bytes;
        }
        Ok(end)
    }

    fn move_from_share(
        &self,
        source: &super::share::source::Source,
        ranges: impl Iterator<Item = Range<u64>>,
    ) -> Result<(), Error> {
        // Counts what is asked for, to hold it against what comes.
        let asked = Cell::new(0);
        let ranges = ranges.inspect(|range| asked.set(asked.get() + range.end - range.start));
        let pieces = source.file().read_ranges(ranges, self.stop);
        let moved = Cell::new(0);
        let pass = |piece: &Piece| {
            let bytes = piece.payload.bytes();
            moved.set(moved.get() + bytes.len() as u64);
            self.pass(piece.offset, bytes);
        };
        if let Some(file) = self.part.file() {
            let pieces = pieces.inspect(|piece| piece.iter().for_each(&pass));
            file.write_pieces(pieces, self.stop)?;
        } else {
            for piece in pieces {
                let piece = piece?;
                self.part.write(piece.offset, piece.payload.bytes())?;
                pass(&piece);
            }
        }
        if moved.get() == asked.get() {
            Ok(())
        } else {
            Err(changed(source))
        }
    }

    fn move_from_here(
        &self,
        source: &Arc<super::local_files::Source>,
        ranges: impl Iterator<Item = Range<u64>>,
    ) -> Result<(), Error> {
        if let (Some(file), None) = (self.part.file(), &self.hash) {
            let progress = |bytes| self.progress.advance(bytes);
            let from = Arc::clone(source) as Arc<dyn crate::Source>;
            let written = file.write_from(ranges, from, self.stop, progress);
            // A file that became shorter says most about why its bytes cannot be had.
            return written
                .map(drop)
                .map_err(|error| source.check_unchanged().err().unwrap_or(error));
        }
        if let Some(file) = self.part.file() {
            file.write_ranges(ranges, self.stop, |offset, room| {
                source.read(offset, room)?;
                self.pass(offset, room);
                Ok(())
            })?;
            return Ok(());
        }
        let mut room = vec![0; 1 << 20];
        for range in ranges {
            for range in chunks(range, room.len() as u64) {
                let room = &mut room[..length(&range)];
                source.read(range.start, room)?;
                self.part.write(range.start, room)?;
                self.pass(range.start, room);
            }
        }
        Ok(())
    }

    /// Bytes that pass from one side to the other.
    fn pass(&self, offset: u64, bytes: &[u8]) {
        if let Some(hash) = &self.hash {
            hash.borrow_mut().add(offset, bytes);
        }
        self.progress.advance(bytes.len() as u64);
    }

    fn pass_hole(&self, hole: Range<u64>) {
        if let Some(hash) = &self.hash {
            for range in chunks(hole.clone(), ZEROS.len() as u64) {
                hash.borrow_mut().add(range.start, &ZEROS[..length(&range)]);
            }
        }
        self.progress.advance(hole.end - hole.start);
    }
}

fn changed(source: &super::share::source::Source) -> Error {
    Error::Changed {
        object: name::printable(source.file().path()),
    }
}

fn chunks(range: Range<u64>, bytes: u64) -> impl Iterator<Item = Range<u64>> {
    let mut from = range.start;
    iter::from_fn(move || {
        let next = from..range.end.min(from + bytes);
        from = next.end;
        (!next.is_empty()).then_some(next)
    })
}

fn length(range: &Range<u64>) -> usize {
    usize::try_from(range.end - range.start).unwrap_or(usize::MAX)
}
