//! An open file: questions about it, and its bytes in blocks that belong to whoever holds them.

use std::collections::VecDeque;
use std::fmt;
use std::iter;
use std::ops::Range;
use std::sync::Arc;
use std::task::Waker;

use smb_proto::session::{
    Created, FileTimes, Information, QueryInformation, Reply, Request, SetInformation,
};
use smb_proto::wire::{CopyChunk, CopyChunksDone};
use smb_proto::{Block, FileKey, Payload, Sink, TransferKey};

use crate::error::Error;
use crate::operation::{ask_chain, not_done};
use crate::request::{ask, tell};
use crate::session::Shared;
use crate::signal::{Registration, Signal, Stop, lock};
use crate::sync::Mutex;
use crate::tree::{Replace, Tree};

/// Work that waits behind what is in flight, so that a channel that becomes free finds some
/// before this thread has woken up: as much again as is in flight.
pub(crate) const AHEAD_FACTOR: u64 = 2;

/// What one of several sessions is asked for at once: enough for its channels, and little enough that
/// all of them end at about the same time.
const PORTION_BYTES: u64 = 4 << 20;

/// An open file or folder. Dropping it closes it without waiting.
pub struct File {
    tree: Tree,
    path: String,
    key: FileKey,
    created: Created,
    closed: bool,
    /// The same file over other sessions.
    others: Vec<Self>,
}

/// Bytes that were read, in the block they arrived in. Dropping the payload gives the block back;
/// a reader that keeps all blocks gets no more.
#[derive(Debug)]
pub struct Piece {
    /// Where in the file.
    pub offset: u64,
    /// The bytes.
    pub payload: Payload,
}

/// What came of a copy on the server.
pub(crate) enum ChunksCopied {
    /// So many bytes are copied, from the begin of the first chunk on.
    Bytes(u64),
    /// None, because the server takes no more than this at once.
    TooMuch(CopyChunksDone),
}

impl File {
    pub(crate) fn new(tree: Tree, path: &str, key: FileKey, created: Created) -> Self {
        Self {
            tree,
            path: path.to_owned(),
            key,
            created,
            closed: false,
            others: Vec::new(),
        }
    }

    /// Takes another handle of this file, open over another session
    /// ([`Session::open_parallel`](crate::Session::open_parallel)): what is read and written from now on goes over both.
    /// A server that has one processor at a time work on what comes over one session then uses one more.
    /// Whether it is the same file; else it is closed.
    ///
    /// To compare them, both must have been opened with
    /// [`OpenOptions::disk_id`](crate::OpenOptions::disk_id). Where the server has no such numbers, times and
    /// size must have been the same when they were opened.
    pub fn add_handle(&mut self, other: Self) -> bool {
        let known = |file: &Self| file.created.disk_id.filter(|(number, _)| *number != 0);
        let looks = |file: &Self| {
            let Created { times, size, .. } = file.created;
            (times.creation, times.write, size)
        };
        let same = match (known(self), known(&other)) {
            (Some(one), Some(other)) => one == other,
            _ => looks(self) == looks(&other),
        };
        if same {
            self.others.push(other);
        }
        same
    }

    /// Hears something of each session that [`Self::add_handle`] brought: then none of them is lost.
    pub(crate) fn probe_handles(&self) -> Result<(), Error> {
        self.others
            .iter()
            .try_for_each(|handle| handle.size().map(drop))
    }

    /// Closes what [`Self::add_handle`] took, and waits for it.
    pub(crate) fn close_handles(&mut self) -> Result<(), Error> {
        self.others.drain(..).try_for_each(Self::close)
    }

    /// Most bytes that go in one WRITE.
    pub(crate) fn write_bytes_max(&self) -> u64 {
        self.shared().protocol.write_bytes_max().max(1).into()
    }

    pub(crate) const fn handles(&self) -> usize {
        1 + self.others.len()
    }

    /// This file over one of its sessions.
    pub(crate) fn handle(&self, number: usize) -> &Self {
        let other = number.checked_sub(1);
        other.map_or(self, |other| &self.others[other])
    }

    /// How many bytes are worth having under way, by session. It asks the sessions, so nobody calls it
    /// with a lock that what they tell needs.
    pub(crate) fn enough(&self) -> Vec<u64> {
        let enough = |handle| AHEAD_FACTOR * self.handle(handle).shared().bytes_in_flight_max();
        (0..self.handles()).map(enough).collect()
    }

    /// Cuts ranges so that all sessions can share in them.
    pub(crate) fn portions<R>(&self, ranges: R) -> Portions<R> {
        Portions {
            ranges,
            rest: 0..0,
            bytes_max: match self.handles() {
                1 => u64::MAX,
                _ => PORTION_BYTES,
            },
        }
    }

    pub(crate) const fn key(&self) -> FileKey {
        self.key
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.tree.shared()
    }

    /// Its path in the share, as it was when it was opened.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Size, times and attributes as they were when it was opened.
    #[must_use]
    pub const fn created(&self) -> Created {
        self.created
    }

    /// Its length now.
    ///
    /// # Errors
    /// When the server does not say.
    pub fn size(&self) -> Result<u64, Error> {
        match self.query(QueryInformation::Standard)? {
            Information::Standard { size, .. } => Ok(size),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Closes it. Whether its size and the time of its last change are what they were when it was opened.
    ///
    /// Looked at by its path, and only when it is closed: as long as a file is open, Samba shows the time
    /// that it had before, unless a client changes it.
    pub(crate) fn close_unchanged(self) -> Result<bool, Error> {
        let (tree, path, created) = (self.tree.clone(), self.path.clone(), self.created);
        self.close()?;
        match tree.status(&path) {
            Ok(now) if created.disk_id.is_none_or(|(id, _)| id == now.file_id) => {
                Ok((now.size, now.times.write) == (created.size, created.times.write))
            }
            // It has another name now, or none, and is what it was.
            Ok(_) => Ok(true),
            Err(error) if error.status().is_some() => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Its length and times now, in one round trip.
    pub(crate) fn size_and_times(&self) -> Result<(u64, FileTimes), Error> {
        let file = self.key;
        let asks = match self.tree.is_posix() {
            true => &[QueryInformation::Posix][..],
            false => &[QueryInformation::Standard, QueryInformation::Basic],
        };
        let links = asks.iter().map(|&what| Request::Query { file, what });
        let mut now = (0, FileTimes::default());
        for reply in ask_chain(&self.tree, &self.path, links.collect())? {
            match reply {
                Ok(Reply::Information(Information::Posix { size, times, .. })) => {
                    now = (size, times);
                }
                Ok(Reply::Information(Information::Standard { size, .. })) => now.0 = size,
                Ok(Reply::Information(Information::Basic { times, .. })) => now.1 = times,
                other => return Err(not_done(&self.tree, &self.path, other)),
            }
        }
        Ok(now)
    }

    /// Reads into memory of the caller, which copies once; [`Self::read_ranges`] does not. Gives
    /// how many bytes there were, less than asked for only at the end of the file.
    ///
    /// # Errors
    /// When the server says no or the connection is lost.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        let stop = Stop::new();
        let end = offset.saturating_add(buffer.len() as u64);
        let mut count = 0;
        for piece in self.read_ranges(iter::once(offset..end), &stop) {
            let piece = piece?;
            let place = piece
                .offset
                .checked_sub(offset)
                .and_then(|start| usize::try_from(start).ok())
                .and_then(|start| buffer.get_mut(start..start.checked_add(piece.payload.len())?));
            let place = place.ok_or_else(|| self.shared().odd_answer())?;
            place.copy_from_slice(piece.payload.bytes());
            count += piece.payload.len();
        }
        Ok(count)
    }

    /// Writes memory of the caller, which copies once.
    ///
    /// # Errors
    /// When the server says no or the connection is lost; then parts may have been written.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let end = offset.saturating_add(bytes.len() as u64);
        self.write_ranges(iter::once(offset..end), &Stop::new(), |at, room| {
            let start = usize::try_from(at - offset).unwrap_or(usize::MAX);
            if let Some(bytes) = bytes.get(start..).and_then(|rest| rest.get(..room.len())) {
                room.copy_from_slice(bytes);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Reads ranges, which may be endless; they are taken from the iterator by demand. All
    /// channels that have room read at the same time, so that pieces come in any order. A range
    /// beyond the end of the file gives fewer bytes and no error.
    ///
    /// Each piece is handed over in the block it was received in. The iterator ends after the
    /// first error; dropping it ends the reads.
    pub fn read_ranges<'file, R>(&'file self, ranges: R, stop: &'file Stop) -> Pieces<'file, R>
    where
        R: Iterator<Item = Range<u64>>,
    {
        let arrivals = Arc::new(Arrivals::default());
        lock(&arrivals.state).bytes_awaited = vec![0; self.handles()];
        let registration = stop.register(Waker::from(Arc::clone(&arrivals.signal)));
        Pieces {
            file: self,
            ranges: Some(self.portions(ranges)),
            stop,
            arrivals,
            reads: Vec::new(),
            reads_begun: 0,
            _registration: registration,
        }
    }

    /// Writes ranges, which may be endless; they are taken from the iterator by demand, and `fill`
    /// puts the bytes into the blocks that are sent, on this thread. All channels that have room
    /// write at the same time. Gives how many bytes were written.
    ///
    /// It waits for blocks of the session: whoever fills them from [`Piece`]s of the same session that
    /// it keeps waits for itself.
    ///
    /// # Errors
    /// When `fill` fails, the server says no, the connection is lost, or it was stopped; then
    /// parts have been written.
    pub fn write_ranges<R, F>(&self, ranges: R, stop: &Stop, mut fill: F) -> Result<u64, Error>
    where
        R: Iterator<Item = Range<u64>>,
        F: FnMut(u64, &mut [u8]) -> Result<(), Error>,
    {
        let mut writing = Writing::new(self, stop);
        let chunk_bytes = self.write_bytes_max();
        let mut filled = Ok(());
        'ranges: for range in ranges {
            for offset in
                (range.start..range.end).step_by(usize::try_from(chunk_bytes).unwrap_or(1))
            {
                let bytes = chunk_bytes.min(range.end - offset);
                let Some((handle, mut block)) = writing.next_block()? else {
                    break 'ranges;
                };
                let count = usize::try_from(bytes)
                    .unwrap_or(usize::MAX)
                    .min(block.capacity());
                filled = fill(offset, &mut block.buffer()[..count]);
                if filled.is_err() {
                    break 'ranges;
                }
                writing.begin(handle, offset, block.into_payload(count));
            }
        }
        let written = writing.finish()?;
        filled.map(|()| written)
    }

    /// Writes pieces of another file to where they stood there, each in the block that it came in: no
    /// second one is waited for while pieces may have all of them. Ends with the first piece that
    /// is an error. Gives how many bytes were written.
    ///
    /// # Errors
    /// When a piece is one, the server says no, the connection is lost, or it was stopped; then parts
    /// have been written.
    pub(crate) fn write_pieces(
        &self,
        pieces: impl Iterator<Item = Result<Piece, Error>>,
        stop: &Stop,
    ) -> Result<u64, Error> {
        let mut writing = Writing::new(self, stop);
        let mut arrived = Ok(());
        for piece in pieces {
            let Piece { offset, payload } = match piece {
                Ok(piece) => piece,
                Err(error) => {
                    arrived = Err(error);
                    break;
                }
            };
            let Some(handle) = writing.next_handle()? else {
                break;
            };
            writing.begin(handle, offset, payload);
        }
        let written = writing.finish()?;
        arrived.map(|()| written)
    }

    /// The key by which the server finds this file when another one is to be copied from it.
    pub(crate) fn resume_key(&self) -> Result<[u8; 24], Error> {
        let request = Request::ResumeKey { file: self.key };
        match ask(self.shared(), request, &self.path)? {
            Reply::ResumeKey(key) => Ok(key),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Has the server copy into this file, from the one that it gave this key.
    pub(crate) fn copy_chunks(
        &self,
        key: &[u8; 24],
        chunks: Vec<CopyChunk>,
    ) -> Result<ChunksCopied, Error> {
        let request = Request::CopyChunks {
            to: self.key,
            key: *key,
            chunks,
        };
        match ask(self.shared(), request, &self.path)? {
            Reply::Copied(done) => Ok(ChunksCopied::Bytes(done.total_bytes.into())),
            Reply::CopyLimits(most) => Ok(ChunksCopied::TooMuch(most)),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Whether files of its file system can share storage.
    pub(crate) fn can_share_storage(&self) -> Result<bool, Error> {
        match self.query(QueryInformation::FsAttributes)? {
            Information::FsAttributes { clones } => Ok(clones),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// The path that it has on the server, from the top of the share or of the disk, with `\\` before each name. None:
    /// the server does not say.
    pub(crate) fn path_on_server(&self) -> Result<Option<String>, Error> {
        match self.query(QueryInformation::Path) {
            Ok(Information::Path(path)) => Ok(Some(path)),
            Ok(_) => Err(self.shared().odd_answer()),
            Err(error) if error.is_missing_fact() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The name that it has on the server's disk, which is not the one of a listing where the server shows a
    /// stand-in for a name that it takes for impossible. None: the server does not say.
    pub(crate) fn true_name(&self) -> Result<Option<String>, Error> {
        let Some(path) = self.path_on_server()? else {
            return Ok(None);
        };
        let asked = self.path.replace('/', "\\");
        let folder = asked.rfind('\\').map_or("", |end| &asked[..end]);
        let path = path.trim_start_matches('\\');
        // Behind the folder's own path all is the name, whatever is in it.
        let name = match path.strip_prefix(folder) {
            Some(rest) if folder.is_empty() => Some(rest),
            Some(rest) => rest.strip_prefix('\\'),
            None => None,
        };
        let name = name.unwrap_or_else(|| path.rsplit('\\').next().unwrap_or(path));
        Ok(Some(name.to_owned()).filter(|name| !name.is_empty()))
    }

    /// Has it share the storage of a range with another file, whose key this is.
    pub(crate) fn clone_from(&self, from: FileKey, range: Range<u64>) -> Result<(), Error> {
        let to = self.key;
        self.done(Request::Clone { from, to, range })
    }

    /// Lets it have holes.
    pub(crate) fn set_sparse(&self) -> Result<(), Error> {
        self.done(Request::SetSparse { file: self.key })
    }

    /// Where it is no hole, as the server says, which may be anything; and whether there is more
    /// to be asked for.
    pub(crate) fn allocated(&self, range: Range<u64>) -> Result<(Vec<Range<u64>>, bool), Error> {
        let file = self.key;
        match ask(
            self.shared(),
            Request::Allocated { file, range },
            &self.path,
        )? {
            Reply::Allocated { ranges, more } => Ok((ranges, more)),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Asks the server to put what was written on its storage.
    ///
    /// # Errors
    /// When the server says no, and when all connections were lost since something was written and the
    /// server did not keep the file open: it may have failed, and lost that.
    pub fn flush(&self) -> Result<(), Error> {
        // Each session answers for what was written over it.
        (0..self.handles()).try_for_each(|handle| {
            let handle = self.handle(handle);
            handle.done(Request::Flush { file: handle.key })
        })
    }

    /// Takes a range for this handle alone, which fails at once where another one has it. It is given
    /// back by [`Self::unlock`], and when the file is closed. After a lost connection it is not taken
    /// again.
    ///
    /// # Errors
    /// When the server says no.
    pub fn lock(&self, offset: u64, bytes: u64) -> Result<(), Error> {
        self.done(Request::Lock {
            file: self.key,
            offset,
            bytes,
            unlock: false,
        })
    }

    /// Gives a range back, the very one that was taken.
    ///
    /// # Errors
    /// When the server says no, as where it was not taken.
    pub fn unlock(&self, offset: u64, bytes: u64) -> Result<(), Error> {
        self.done(Request::Lock {
            file: self.key,
            offset,
            bytes,
            unlock: true,
        })
    }

    /// Sets its times; zero leaves one as it is.
    ///
    /// # Errors
    /// When the server says no.
    pub fn set_times(&self, times: FileTimes) -> Result<(), Error> {
        self.set(SetInformation::Basic {
            times,
            attributes: 0,
        })
    }

    /// Sets its length.
    ///
    /// # Errors
    /// When the server says no, as without enough space.
    pub fn set_size(&self, bytes: u64) -> Result<(), Error> {
        self.set(SetInformation::EndOfFile(bytes))
    }

    /// Gives it another path in the share; it must have been opened with the right to delete.
    ///
    /// # Errors
    /// When the server says no, and as [`Self::flush`] where something of it may be lost.
    pub fn rename(&self, path: &str, replace: Replace) -> Result<(), Error> {
        let replace = replace == Replace::Existing;
        let what = SetInformation::Rename {
            path: path.to_owned(),
            replace,
        };
        let request = Request::Set {
            file: self.key,
            what,
        };
        match ask(self.shared(), request, path) {
            Ok(Reply::Done) => Ok(()),
            Ok(_) => Err(self.shared().odd_answer()),
            // It may have been said twice, when a channel was lost.
            Err(Error::AlreadyExists { .. }) if self.is_at(path) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether this very file is there, as far as the server tells one from another.
    fn is_at(&self, path: &str) -> bool {
        let number = self.created.disk_id.map_or(0, |(file, _)| file);
        number != 0 && (self.tree.status(path)).is_ok_and(|there| there.file_id == number)
    }

    pub(crate) fn set(&self, what: SetInformation) -> Result<(), Error> {
        self.done(Request::Set {
            file: self.key,
            what,
        })
    }

    pub(crate) fn query(&self, what: QueryInformation) -> Result<Information, Error> {
        match ask(
            self.shared(),
            Request::Query {
                file: self.key,
                what,
            },
            &self.path,
        )? {
            Reply::Information(information) => Ok(information),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Closes it and hears what the server says to that.
    ///
    /// # Errors
    /// When the server says no; the file is closed then as well.
    pub fn close(mut self) -> Result<(), Error> {
        self.close_handles()?;
        self.close_now()
    }

    /// The same of a file that somebody still holds, who does nothing more with it.
    pub(crate) fn close_now(&mut self) -> Result<(), Error> {
        self.closed = true;
        match ask(self.shared(), Request::Close { file: self.key }, &self.path)? {
            Reply::Closed { .. } => Ok(()),
            _ => Err(self.shared().odd_answer()),
        }
    }

    fn done(&self, request: Request) -> Result<(), Error> {
        match ask(self.shared(), request, &self.path)? {
            Reply::Done => Ok(()),
            _ => Err(self.shared().odd_answer()),
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if !self.closed {
            tell(self.shared(), Request::Close { file: self.key });
        }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("File")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// The writes of one call, as the thread that begins them sees them.
struct Writing<'a> {
    file: &'a File,
    stop: &'a Stop,
    writes: Arc<Writes>,
    waker: Waker,
    /// Bytes that were begun.
    bytes: u64,
    _registration: Registration<'a>,
}

impl<'a> Writing<'a> {
    fn new(file: &'a File, stop: &'a Stop) -> Self {
        let writes = Arc::new(Writes::default());
        lock(&writes.state).bytes_in_flight = vec![0; file.handles()];
        let waker = Waker::from(Arc::clone(&writes.signal));
        let registration = stop.register(waker.clone());
        Self {
            file,
            stop,
            writes,
            waker,
            bytes: 0,
            _registration: registration,
        }
    }

    /// The session that the next write goes over, once fewer bytes than are worth it are in flight there.
    /// None after a failure.
    fn next_handle(&self) -> Result<Option<usize>, Error> {
        loop {
            if self.stop.is_stopped() {
                return Err(Error::Stopped);
            }
            let enough = self.file.enough();
            let state = lock(&self.writes.state);
            if state.failure.is_some() {
                return Ok(None);
            }
            if let Some(handle) = least_loaded(&state.bytes_in_flight, &enough) {
                return Ok(Some(handle));
            }
            drop(state);
            self.writes.signal.wait();
        }
    }

    /// The same, with a block of that session to fill.
    fn next_block(&self) -> Result<Option<(usize, Block)>, Error> {
        while let Some(handle) = self.next_handle()? {
            if let Some(block) = self.file.handle(handle).shared().pool.take(&self.waker) {
                return Ok(Some((handle, block)));
            }
            self.writes.signal.wait();
        }
        Ok(None)
    }

    fn begin(&mut self, handle: usize, offset: u64, payload: Payload) {
        let bytes = payload.len() as u64;
        lock(&self.writes.state).bytes_in_flight[handle] += bytes;
        let sink = Arc::new(Write {
            writes: Arc::clone(&self.writes),
            handle,
            bytes,
        });
        let file = self.file.handle(handle);
        file.shared()
            .protocol
            .write(file.key, offset, payload, sink);
        self.bytes += bytes;
    }

    /// Waits for all of them. Gives how many bytes that were.
    fn finish(self) -> Result<u64, Error> {
        loop {
            let mut state = lock(&self.writes.state);
            if let Some((handle, source)) = state.failure.take() {
                drop(state);
                let shared = self.file.handle(handle).shared();
                return Err(shared.error(source, &self.file.path));
            }
            if state.bytes_in_flight.iter().all(|bytes| *bytes == 0) {
                return Ok(self.bytes);
            }
            drop(state);
            if self.stop.is_stopped() {
                return Err(Error::Stopped);
            }
            self.writes.signal.wait();
        }
    }
}

/// Writes under way.
#[derive(Default)]
struct Writes {
    state: Mutex<WritesState>,
    signal: Arc<Signal>,
}

#[derive(Default)]
struct WritesState {
    /// By session.
    bytes_in_flight: Vec<u64>,
    /// The first one, and whose session it was.
    failure: Option<(usize, smb_proto::Error)>,
}

struct Write {
    writes: Arc<Writes>,
    handle: usize,
    bytes: u64,
}

impl Sink for Write {
    fn done(&self, outcome: smb_proto::error::Result<Reply>) {
        // The reply holds the block: it goes home first, so that the writer finds it.
        let failure = outcome.err();
        let mut state = lock(&self.writes.state);
        let in_flight = &mut state.bytes_in_flight[self.handle];
        *in_flight = in_flight.saturating_sub(self.bytes);
        if state.failure.is_none() {
            state.failure = failure.map(|failure| (self.handle, failure));
        }
        drop(state);
        self.writes.signal.tell();
    }
}

/// What has arrived and is still to be taken.
#[derive(Default)]
struct Arrivals {
    state: Mutex<ArrivalsState>,
    signal: Arc<Signal>,
}

#[derive(Default)]
struct ArrivalsState {
    pieces: VecDeque<Piece>,
    /// Bytes that were asked for and have not come, by session.
    bytes_awaited: Vec<u64>,
    /// Reads that are over, by their number here.
    over: Vec<u64>,
    /// The first one, and whose session it was.
    failure: Option<(usize, smb_proto::Error)>,
    /// Nobody takes any more.
    abandoned: bool,
}

impl ArrivalsState {
    fn arrived(&mut self, handle: usize, bytes: u64) {
        let awaited = &mut self.bytes_awaited[handle];
        *awaited = awaited.saturating_sub(bytes);
    }
}

/// Of the sessions that have too few bytes under way the one that has the fewest.
pub(crate) fn least_loaded(under_way: &[u64], enough: &[u64]) -> Option<usize> {
    let handles = under_way.iter().zip(enough).enumerate();
    let free = handles.filter(|(_, (bytes, enough))| bytes < enough);
    free.min_by_key(|(_, (bytes, _))| **bytes)
        .map(|(handle, _)| handle)
}

/// Ranges, cut.
pub(crate) struct Portions<R> {
    ranges: R,
    rest: Range<u64>,
    bytes_max: u64,
}

impl<R: Iterator<Item = Range<u64>>> Iterator for Portions<R> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        while self.rest.is_empty() {
            self.rest = self.ranges.next()?;
        }
        let start = self.rest.start;
        self.rest.start = self.rest.end.min(start.saturating_add(self.bytes_max));
        Some(start..self.rest.start)
    }
}

/// The read of one range.
struct Read {
    number: u64,
    handle: usize,
    /// What has not come of it yet.
    awaited: Mutex<u64>,
    arrivals: Arc<Arrivals>,
}

impl Sink for Read {
    fn piece(&self, offset: u64, payload: Payload) {
        let bytes = payload.len() as u64;
        {
            let mut awaited = lock(&self.awaited);
            *awaited = awaited.saturating_sub(bytes);
        }
        let mut state = lock(&self.arrivals.state);
        if state.abandoned {
            return;
        }
        state.arrived(self.handle, bytes);
        state.pieces.push_back(Piece { offset, payload });
        drop(state);
        self.arrivals.signal.tell();
    }

    fn done(&self, outcome: smb_proto::error::Result<Reply>) {
        let missing = *lock(&self.awaited);
        let mut state = lock(&self.arrivals.state);
        state.arrived(self.handle, missing);
        state.over.push(self.number);
        if let (Err(failure), None) = (outcome, &state.failure) {
            state.failure = Some((self.handle, failure));
        }
        drop(state);
        self.arrivals.signal.tell();
    }
}

/// The pieces of a read, as they arrive.
pub struct Pieces<'file, R> {
    file: &'file File,
    /// None once they are used up or it is over.
    ranges: Option<Portions<R>>,
    stop: &'file Stop,
    arrivals: Arc<Arrivals>,
    /// Reads under way: number, session, key.
    reads: Vec<(u64, usize, TransferKey)>,
    reads_begun: u64,
    _registration: Registration<'file>,
}

impl<R: Iterator<Item = Range<u64>>> Iterator for Pieces<'_, R> {
    type Item = Result<Piece, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.stop.is_stopped() {
                return self.end().then_some(Err(Error::Stopped));
            }
            self.ask_for_more();
            let mut state = lock(&self.arrivals.state);
            if let Some(piece) = state.pieces.pop_front() {
                return Some(Ok(piece));
            }
            if let Some((handle, source)) = state.failure.take() {
                drop(state);
                self.end();
                let shared = self.file.handle(handle).shared();
                return Some(Err(shared.error(source, &self.file.path)));
            }
            drop(state);
            if self.ranges.is_none() && self.reads.is_empty() {
                return None;
            }
            self.arrivals.signal.wait();
        }
    }
}

impl<R> Pieces<'_, R> {
    /// Ends all reads. Whether it was not over already: all that was asked for may be here, and nobody has it yet.
    fn end(&mut self) -> bool {
        let was_under_way = self.ranges.take().is_some() || !self.reads.is_empty();
        for (_, handle, read) in self.reads.drain(..) {
            self.file.handle(handle).shared().protocol.cancel(read);
        }
        let mut state = lock(&self.arrivals.state);
        let is_first = !std::mem::replace(&mut state.abandoned, true);
        let pieces = std::mem::take(&mut state.pieces);
        let has_failed = state.failure.is_some();
        drop(state);
        is_first && (was_under_way || has_failed || !pieces.is_empty())
    }
}

impl<R: Iterator<Item = Range<u64>>> Pieces<'_, R> {
    /// Begins reads until enough is awaited.
    fn ask_for_more(&mut self) {
        let file = self.file;
        let enough = file.enough();
        let mut state = lock(&self.arrivals.state);
        self.reads
            .retain(|(number, ..)| !state.over.contains(number));
        state.over.clear();
        if state.failure.is_some() {
            return;
        }
        while let Some(handle) = least_loaded(&state.bytes_awaited, &enough)
            && let Some(ranges) = &mut self.ranges
        {
            let Some(range) = ranges.next() else {
                self.ranges = None;
                return;
            };
            let bytes = range.end - range.start;
            state.bytes_awaited[handle] += bytes;
            drop(state);
            let number = self.reads_begun;
            self.reads_begun += 1;
            let arrivals = Arc::clone(&self.arrivals);
            let read = Arc::new(Read {
                number,
                handle,
                awaited: Mutex::new(bytes),
                arrivals,
            });
            let over = file.handle(handle);
            let key = over.shared().protocol.read(over.key, range, read);
            self.reads.push((number, handle, key));
            state = lock(&self.arrivals.state);
        }
    }
}

impl<R> Drop for Pieces<'_, R> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<R> fmt::Debug for Pieces<'_, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pieces")
            .field("file", &self.file.path)
            .finish_non_exhaustive()
    }
}
