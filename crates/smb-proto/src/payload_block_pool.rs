//! Pooled blocks: memory that payload lands in, is signed in, and is handed over in.
//!
//! A block has head room, so that a header can stand directly before the payload, and the payload
//! starts on a page. Blocks are zeroed once, when the pool first makes them, and never again.
//!
//! A READ only reserves a block. Which memory that is, is decided when its reply comes: that which
//! came home last, and so is still in the processor's cache.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError};
use std::task::Waker;

use crate::std_or_shuttle::{Mutex, MutexGuard};

/// Bytes before the payload: frame prefix, transform header, header and body of a WRITE.
pub(crate) const HEADROOM_BYTES: usize = 256;
/// Bytes behind the payload: a peer may put its data up to 175 bytes later than asked.
pub(crate) const TAILROOM_BYTES: usize = 256;
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
    /// Memory that nobody uses, the last used last. With that in use it never exceeds the limit, as
    /// whoever takes some has a reservation.
    free: Vec<Vec<u8>>,
    reserved: usize,
    waiting: Vec<Waker>,
}

impl BlockPool {
    /// A pool of at most `limit` blocks for `capacity` bytes of payload each. Memory is taken
    /// when a block is first needed. Both are at least one.
    pub fn new(limit: usize, capacity: usize) -> Self {
        let state = State {
            free: Vec::new(),
            reserved: 0,
            waiting: Vec::new(),
        };
        let shared = Shared {
            capacity: capacity.max(1),
            limit: limit.max(1),
            state: Mutex::new(state),
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

    /// How many blocks are in use or reserved now.
    pub fn in_use(&self) -> usize {
        self.shared.lock().reserved
    }

    /// How many blocks' memory nobody uses now.
    pub fn idle(&self) -> usize {
        self.shared.lock().free.len()
    }

    /// A block, or none when all are in use; then `waker` is woken once one has come home.
    pub fn take(&self, waker: &Waker) -> Option<Block> {
        self.reserve(waker).map(Reservation::into_block)
    }

    /// The right to a block, or none when all are in use or reserved; then `waker` is woken once one
    /// has come home.
    pub(crate) fn reserve(&self, waker: &Waker) -> Option<Reservation> {
        let mut state = self.shared.lock();
        if state.reserved < self.shared.limit {
            state.reserved += 1;
            return Some(Reservation {
                pool: Arc::clone(&self.shared),
            });
        }
        if !state.waiting.iter().any(|known| known.will_wake(waker)) {
            state.waiting.push(waker.clone());
        }
        None
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

/// The right to a block; goes back to the pool when dropped.
pub(crate) struct Reservation {
    pool: Arc<Shared>,
}

impl Reservation {
    /// The block, in the memory that was used last.
    pub(crate) fn into_block(self) -> Block {
        let capacity = self.capacity();
        let free = self.pool.lock().free.pop();
        let bytes =
            free.unwrap_or_else(|| vec![0; HEADROOM_BYTES + capacity + TAILROOM_BYTES + ALIGNMENT]);
        let to_payload = bytes[HEADROOM_BYTES..].as_ptr().align_offset(ALIGNMENT);
        // `align_offset` may decline; the payload is then merely not aligned
        let start = HEADROOM_BYTES
            + if to_payload < ALIGNMENT {
                to_payload
            } else {
                0
            };
        Block {
            bytes,
            start,
            capacity,
            reservation: Some(self),
        }
    }

    /// How many bytes of payload fit.
    pub(crate) fn capacity(&self) -> usize {
        self.pool.capacity
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.reserved -= 1;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Memory for one payload, owned by whoever holds it; goes back to its pool when dropped.
pub struct Block {
    bytes: Vec<u8>,
    /// Where payload starts in `bytes`.
    start: usize,
    capacity: usize,
    /// None only while it is dropped.
    reservation: Option<Reservation>,
}

impl Block {
    /// How many bytes of payload fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Gives the memory back and keeps the right to a block.
    pub(crate) fn release(mut self) -> Option<Reservation> {
        let reservation = self.reservation.take()?;
        let bytes = std::mem::take(&mut self.bytes);
        reservation.pool.lock().free.push(bytes);
        Some(reservation)
    }

    /// The room for payload, with whatever it last held: put a WRITE's data here.
    pub fn buffer(&mut self) -> &mut [u8] {
        let end = self.start + self.capacity;
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
        // the memory first, so that whoever gets the right finds it
        if let Some(reservation) = self.reservation.take() {
            let bytes = std::mem::take(&mut self.bytes);
            reservation.pool.lock().free.push(bytes);
        }
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
        first.buffer().fill(7);
        let address = first.buffer().as_ptr();
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
                .any(|mut block| block.buffer().as_ptr() == address
                    && block.buffer().iter().all(|byte| *byte == 7)),
            "the same memory, not zeroed again"
        );
    }

    #[test]
    fn what_is_reserved_counts_and_gets_the_memory_that_was_used_last() {
        let pool = BlockPool::new(3, 1000);
        let reserve = || pool.reserve(Waker::noop());
        let mut reserved: Vec<Reservation> = std::iter::from_fn(reserve).collect();
        assert_eq!((reserved.len(), pool.in_use()), (3, 3));
        assert_eq!(pool.shared.lock().free.len(), 0, "there is no memory yet");
        let mut addresses = std::iter::from_fn(|| {
            let mut block = reserved.pop()?.into_block();
            Some(block.buffer().as_ptr())
        });
        let first = addresses.next().expect("one of three");
        assert!(addresses.all(|address| address == first));
        assert_eq!((pool.in_use(), pool.shared.lock().free.len()), (0, 1));

        let mut one = pool.take(Waker::noop()).expect("none is in use");
        let other = pool.take(Waker::noop()).expect("one is in use");
        let address = one.buffer().as_ptr();
        let reservation = one.release().expect("it is in use");
        assert_eq!((pool.in_use(), pool.shared.lock().free.len()), (2, 1));
        assert_eq!(reservation.into_block().buffer().as_ptr(), address);
        drop(other);
        assert_eq!((pool.in_use(), pool.shared.lock().free.len()), (0, 2));
    }

    #[test]
    fn a_payload_is_never_longer_than_its_block() {
        let pool = BlockPool::new(1, 8);
        let payload = pool.take(Waker::noop()).expect("a block").into_payload(100);
        assert_eq!((payload.len(), payload.is_empty()), (8, false));
        assert_eq!(payload.into_block().buffer().len(), 8);
    }
}
