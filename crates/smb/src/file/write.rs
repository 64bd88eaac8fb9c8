//! Writing ranges of a file: WRITEs over all channels, from blocks that are filled on the caller's thread.

use std::iter;
use std::ops::Range;
use std::sync::Arc;
use std::task::Waker;

use smb_proto::session::Reply;
use smb_proto::{Block, Payload, Sink};

use super::File;
use super::handles_per_session::least_loaded;
use super::read::Piece;
use crate::error::Error;
use crate::signal::{Registration, Signal, Stop, lock};
use crate::std_or_shuttle::Mutex;

impl File {
    /// Most bytes that go in one WRITE.
    pub(crate) fn write_bytes_max(&self) -> u64 {
        self.shared().protocol.write_bytes_max().max(1).into()
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
