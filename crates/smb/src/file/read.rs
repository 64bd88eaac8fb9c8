//! Reading ranges of a file: READs over all channels, whose pieces come in any order.

use std::collections::VecDeque;
use std::fmt;
use std::iter;
use std::ops::Range;
use std::sync::Arc;
use std::task::Waker;

use smb_proto::session::Reply;
use smb_proto::{Payload, Sink, TransferKey};

use super::File;
use super::handles_per_session::{Portions, least_loaded};
use crate::error::Error;
use crate::signal::{Registration, Signal, Stop, lock};
use crate::std_or_shuttle::Mutex;

/// Bytes that were read, in the block they arrived in. Dropping the payload gives the block back;
/// a reader that keeps all blocks gets no more.
#[derive(Debug)]
pub struct Piece {
    /// Where in the file.
    pub offset: u64,
    /// The bytes.
    pub payload: Payload,
}

impl File {
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
