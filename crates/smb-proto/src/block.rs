//! Pooled blocks: memory that payload lands in, is signed in, and is handed over in.
//!
//! A block has head room, so that a header can stand directly before the payload, and the payload
//! starts on a page. Blocks are zeroed once, when the pool first makes them, and never again.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Bytes before the payload: frame prefix, transform header, header and body of a WRITE.
pub(crate) const HEAD_ROOM: usize = 256;
/// Bytes behind the payload: a peer may put its data up to 175 bytes later than asked.
pub(crate) const TAIL_ROOM: usize = 256;
/// Payload starts at a multiple of this.
const ALIGNMENT: usize = 4096;

/// A bounded set of equally sized blocks. Cloning gives another handle to the same pool.
#[derive(Clone)]
pub struct BlockPool {
    shared: Arc<Shared>,
}

struct Shared {
    capacity: usize,
    limit: usize,
    state: Mutex<State>,
}

struct State {
    free: Vec<Vec<u8>>,
    made: usize,
    waiting: Vec<Waker>,
}

impl BlockPool {
    /// A pool of at most `limit` blocks for `capacity` bytes of payload each. Memory is taken
    /// when a block is first needed. Both are at least one.
    pub fn new(limit: usize, capacity: usize) -> Self {
        let state = State {
            free: Vec::new(),
            made: 0,
            waiting: Vec::new(),
        };
        let shared = Shared {
            capacity: capacity.max(1),
            limit: limit.max(1),
            state: state.into(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// How many bytes of payload a block holds.
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }

    /// How many blocks there can be.
    pub fn limit(&self) -> usize {
        self.shared.limit
    }

    /// How many blocks are in use now.
    pub fn in_use(&self) -> usize {
        let state = self.shared.lock();
        state.made - state.free.len()
    }

    /// A block, or none when all are in use; then `waker` is woken once one has come home.
    pub fn take(&self, waker: &Waker) -> Option<Block> {
        let mut state = self.shared.lock();
        let bytes = match state.free.pop() {
            Some(bytes) => bytes,
            None if state.made < self.shared.limit => {
                state.made += 1;
                drop(state);
                vec![0; HEAD_ROOM + self.shared.capacity + TAIL_ROOM + ALIGNMENT]
            }
            None => {
                if !state.waiting.iter().any(|known| known.will_wake(waker)) {
                    state.waiting.push(waker.clone());
                }
                return None;
            }
        };
        let to_payload = bytes[HEAD_ROOM..].as_ptr().align_offset(ALIGNMENT);
        // `align_offset` may decline; the payload is then merely not aligned
        let start = HEAD_ROOM
            + if to_payload < ALIGNMENT {
                to_payload
            } else {
                0
            };
        Some(Block {
            bytes,
            start,
            pool: Arc::clone(&self.shared),
        })
    }
}

impl fmt::Debug for BlockPool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BlockPool")
            .field("capacity", &self.capacity())
            .field("limit", &self.limit())
            .field("in_use", &self.in_use())
            .finish()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // nothing under this lock can panic half-way, so a poisoned state is still whole
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory for one payload, owned by whoever holds it; goes back to its pool when dropped.
pub struct Block {
    bytes: Vec<u8>,
    /// Where payload starts in `bytes`.
    start: usize,
    pool: Arc<Shared>,
}

impl Block {
    /// How many bytes of payload fit.
    pub fn capacity(&self) -> usize {
        self.pool.capacity
    }

    /// The room for payload, with whatever it last held: put a WRITE's data here.
    pub fn room(&mut self) -> &mut [u8] {
        let end = self.start + self.pool.capacity;
        &mut self.bytes[self.start..end]
    }

    /// This block with its first `length` bytes as the payload (at most its capacity).
    pub fn into_payload(self, length: usize) -> Payload {
        let length = length.min(self.capacity());
        Payload {
            range: self.start..self.start + length,
            block: self,
        }
    }

    /// Index of the first byte of payload in [`Self::raw`].
    pub(crate) fn payload_start(&self) -> usize {
        self.start
    }

    /// Everything, head and tail room included.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn raw_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Block")
            .field("capacity", &self.capacity())
            .finish()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let mut state = self.pool.lock();
        state.free.push(bytes);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Bytes in a block: what a READ brought or a WRITE is to take. Dropping it returns the block.
#[derive(Debug)]
pub struct Payload {
    block: Block,
    range: Range<usize>,
}

impl Payload {
    pub(crate) fn new(block: Block, range: Range<usize>) -> Self {
        debug_assert!(range.start <= range.end && range.end <= block.bytes.len());
        Self { block, range }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.block.bytes[self.range.clone()]
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The block, to be filled anew.
    pub fn into_block(self) -> Block {
        self.block
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The whole block, head room included.
    pub(crate) fn raw(&self) -> &[u8] {
        self.block.raw()
    }

    pub(crate) fn raw_mut(&mut self) -> &mut [u8] {
        self.block.raw_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn blocks_are_reused_and_bounded() {
        let pool = BlockPool::new(2, 1000);
        let mut first = pool.take(Waker::noop()).expect("a new pool has blocks");
        let second = pool.take(Waker::noop()).expect("the limit is two");
        first.room().fill(7);
        let address = first.room().as_ptr();
        assert_eq!(address.align_offset(ALIGNMENT), 0);

        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        assert!(pool.take(&waker).is_none());
        assert!(pool.take(&waker).is_none());
        drop(first.into_payload(10));
        assert_eq!(count.0.load(Ordering::Relaxed), 1, "one waker waits once");
        drop(second);
        assert_eq!(count.0.load(Ordering::Relaxed), 1, "and is then forgotten");
        assert_eq!(pool.in_use(), 0);

        let again = [(); 2].map(|()| pool.take(Waker::noop()).expect("both came home"));
        assert!(
            again
                .into_iter()
                .any(|mut block| block.room().as_ptr() == address
                    && block.room().iter().all(|byte| *byte == 7)),
            "the same memory, not zeroed again"
        );
    }

    #[test]
    fn a_payload_is_never_longer_than_its_block() {
        let pool = BlockPool::new(1, 8);
        let payload = pool.take(Waker::noop()).expect("a block").into_payload(100);
        assert_eq!((payload.len(), payload.is_empty()), (8, false));
        assert_eq!(payload.into_block().room().len(), 8);
    }
}
