//! Bytes that are taken and given where the channels' threads have them: nobody is woken for a
//! block, and what a file of this machine holds is sent without being copied.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::task::Waker;

use smb_proto::session::Reply;
use smb_proto::{Payload, Sink, TransferKey};

use crate::error::Error;
use crate::file::{File, least_loaded};
use crate::signal::{Signal, Stop, lock};
use crate::std_or_shuttle::Mutex;
use crate::std_or_shuttle::atomic::{AtomicU64, Ordering};

/// Most ranges under way at once, however short they are.
const RANGES_MAX: usize = 256;
/// The caller's thread is woken once so many bytes are done: often enough to ask for more.
const WAKE_BYTES: u64 = 4 << 20;

/// Takes what a read brings. Called by the threads of all channels at once, in any order of offsets.
/// A channel does nothing else meanwhile: a target that is often slower than its link is better
/// served by [`File::read_ranges`], with a thread of its own.
pub trait Target: Send + Sync {
    /// Takes the bytes that stand at this offset.
    ///
    /// # Errors
    /// When it cannot; the read then ends with this error.
    fn put(&self, offset: u64, bytes: &[u8]) -> Result<(), Error>;
}

/// Gives what a write takes. Called by the threads of all channels at once, in any order of offsets,
/// and a second time for what was lost with a channel.
pub trait Source: Send + Sync {
    /// Puts what is to stand at this offset into all of `room`.
    ///
    /// # Errors
    /// When it cannot; the write then ends with this error.
    fn fill(&self, offset: u64, room: &mut [u8]) -> Result<(), Error>;

    /// A file of this machine that has the same bytes at the same offsets, if there is one. Where
    /// they are neither signed nor encrypted, they then go from there to the socket within the
    /// system, and [`Self::fill`] is not asked.
    fn file(&self) -> Option<&std::fs::File> {
        None
    }
}

impl File {
    /// Reads ranges, on the channels' threads; they are taken from the iterator by demand. Gives how
    /// many bytes there were, less than asked for only at the end of the file, and now and then tells
    /// `progress`, on this thread, how many more there are.
    ///
    /// # Errors
    /// When `target` fails, the server says no, the connection is lost, or it was stopped. After a
    /// stop, a call of `target` may still be under way.
    pub fn read_to(
        &self,
        ranges: impl Iterator<Item = Range<u64>>,
        target: Arc<dyn Target>,
        stop: &Stop,
        progress: impl FnMut(u64),
    ) -> Result<u64, Error> {
        self.move_directly(ranges, End::Target(target), stop, progress)
    }

    /// Writes ranges, on the channels' threads; they are taken from the iterator by demand. Gives how
    /// many bytes that were, and now and then tells `progress`, on this thread, how many more the
    /// server has confirmed.
    ///
    /// # Errors
    /// When `source` fails or its file ends too early, the server says no, the connection is lost, or
    /// it was stopped; then parts have been written.
    pub fn write_from(
        &self,
        ranges: impl Iterator<Item = Range<u64>>,
        source: Arc<dyn Source>,
        stop: &Stop,
        progress: impl FnMut(u64),
    ) -> Result<u64, Error> {
        self.move_directly(ranges, End::Source(source), stop, progress)
    }

    fn move_directly(
        &self,
        ranges: impl Iterator<Item = Range<u64>>,
        end: End,
        stop: &Stop,
        mut progress: impl FnMut(u64),
    ) -> Result<u64, Error> {
        let moving = Arc::new(Moving::new(end, self.handles()));
        let _registration = stop.register(Waker::from(Arc::clone(&moving.signal)));
        let enough = self.enough();
        let mut ranges = self.portions(ranges);
        let mut under_way = BTreeMap::new();
        let (mut told, mut begun, mut more) = (0, 0, true);
        loop {
            let mut state = lock(&moving.state);
            for number in state.over.drain(..) {
                under_way.remove(&number);
            }
            let (done, failed) = (state.done, state.has_failed());
            let free = least_loaded(&state.missing, &enough);
            if under_way.is_empty() && (failed || !more) {
                let failure = state.failure.take();
                let refusal = state.refusal.take();
                drop(state);
                progress(done - told);
                return match (failure, refusal) {
                    (Some(failure), _) => Err(failure),
                    (None, Some((handle, refusal))) => {
                        Err(self.handle(handle).shared().error(refusal, self.path()))
                    }
                    (None, None) => Ok(done),
                };
            }
            drop(state);
            progress(done - std::mem::replace(&mut told, done));
            if stop.is_stopped() {
                self.cancel(&under_way);
                return Err(Error::Stopped);
            }
            if failed {
                self.cancel(&under_way);
            } else if let Some(handle) = free
                && more
                && under_way.len() < RANGES_MAX
            {
                match ranges.next() {
                    None => more = false,
                    Some(range) => {
                        lock(&moving.state).missing[handle] += range.end - range.start;
                        under_way
                            .insert(begun, (handle, self.begin(begun, handle, range, &moving)));
                        begun += 1;
                    }
                }
                continue;
            }
            moving.signal.wait();
        }
    }

    fn begin(
        &self,
        number: u64,
        handle: usize,
        range: Range<u64>,
        moving: &Arc<Moving>,
    ) -> TransferKey {
        let part = Arc::new(Part {
            number,
            handle,
            missing: AtomicU64::new(range.end - range.start),
            moving: Arc::clone(moving),
        });
        let file = self.handle(handle);
        let protocol = &file.shared().protocol;
        match moving.end {
            End::Target(_) => protocol.read(file.key(), range, part),
            End::Source(_) => {
                let source = Arc::clone(moving) as Arc<dyn smb_proto::Source>;
                protocol.write_from(file.key(), range, source, part)
            }
        }
    }

    fn cancel(&self, under_way: &BTreeMap<u64, (usize, TransferKey)>) {
        for (handle, key) in under_way.values() {
            self.handle(*handle).shared().protocol.cancel(*key);
        }
    }
}

/// Our end of a transfer.
enum End {
    Target(Arc<dyn Target>),
    Source(Arc<dyn Source>),
}

/// Ranges under way.
struct Moving {
    end: End,
    state: Mutex<State>,
    signal: Arc<Signal>,
}

#[derive(Default)]
struct State {
    /// Why our end failed first. Nothing more is asked of it then.
    failure: Option<Error>,
    /// Why the other end, or the way to it, failed first, and whose session it was.
    refusal: Option<(usize, smb_proto::Error)>,
    /// Bytes that are done, and how many the caller's thread was woken for.
    done: u64,
    woken_for: u64,
    /// Bytes of ranges under way that are not done, by session.
    missing: Vec<u64>,
    /// Ranges that are over.
    over: Vec<u64>,
}

impl State {
    const fn has_failed(&self) -> bool {
        self.failure.is_some() || self.refusal.is_some()
    }
}

/// One range.
struct Part {
    number: u64,
    handle: usize,
    /// Bytes of it that are not done.
    missing: AtomicU64,
    moving: Arc<Moving>,
}

impl Part {
    fn advance(&self, bytes: u64) {
        let moving = &self.moving;
        // Its lock is held whenever `missing` changes.
        let mut state = lock(&moving.state);
        let missing = self.missing.load(Ordering::Relaxed);
        let bytes = bytes.min(missing);
        self.missing.store(missing - bytes, Ordering::Relaxed);
        state.done += bytes;
        state.missing[self.handle] -= bytes;
        if state.done - state.woken_for >= WAKE_BYTES {
            state.woken_for = state.done;
            drop(state);
            moving.signal.tell();
        }
    }
}

impl Moving {
    fn new(end: End, handles: usize) -> Self {
        let state = State {
            missing: vec![0; handles],
            ..State::default()
        };
        Self {
            end,
            state: Mutex::new(state),
            signal: Arc::default(),
        }
    }

    fn fail(&self, error: Error) {
        lock(&self.state).failure.get_or_insert(error);
        self.signal.tell();
    }
}

impl Sink for Part {
    fn piece(&self, offset: u64, payload: Payload) {
        let moving = &self.moving;
        let End::Target(target) = &moving.end else {
            return;
        };
        if lock(&moving.state).has_failed() {
            return;
        }
        match target.put(offset, payload.bytes()) {
            Ok(()) => self.advance(payload.len() as u64),
            Err(error) => moving.fail(error),
        }
    }

    fn written(&self, bytes: u64) {
        self.advance(bytes);
    }

    fn done(&self, outcome: smb_proto::error::Result<Reply>) {
        let mut state = lock(&self.moving.state);
        state.over.push(self.number);
        state.missing[self.handle] -= self.missing.swap(0, Ordering::Relaxed);
        if let Err(refusal) = outcome {
            state.refusal.get_or_insert((self.handle, refusal));
        }
        drop(state);
        self.moving.signal.tell();
    }
}

impl smb_proto::Source for Moving {
    fn fill(&self, offset: u64, room: &mut [u8]) -> io::Result<()> {
        let End::Source(source) = &self.end else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        source.fill(offset, room).map_err(|error| {
            self.fail(error);
            io::ErrorKind::Other.into()
        })
    }

    fn origin(&self) -> Option<&(dyn Any + Send + Sync)> {
        match &self.end {
            End::Source(source) => source.file().map(|file| file as _),
            End::Target(_) => None,
        }
    }
}
