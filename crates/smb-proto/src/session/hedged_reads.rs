//! READs that are asked for twice. At the end of a transfer, channels without work ask for what a slow
//! one has not brought, or one whose way has just died; the first answer counts.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::ChannelNumber;
use super::locked_state::{Appetite, ReadPiece, State, Work};
use super::retry_after_loss::Tries;
use crate::monotonic_time::Time;
use crate::payload_block_pool::BlockPool;
use crate::std_or_shuttle::atomic::{AtomicBool, AtomicU8, Ordering};

/// How long a READ may be under way before another channel asks for it as well: longer than a
/// channel has work ahead, and than any usual disk takes.
const PATIENCE: Duration = Duration::from_millis(400);

/// How often a READ is under way, and whether it was answered.
pub(crate) struct Copies {
    in_flight: AtomicU8,
    answered: AtomicBool,
}

impl Default for Copies {
    fn default() -> Self {
        Self {
            in_flight: AtomicU8::new(1),
            answered: AtomicBool::new(false),
        }
    }
}

impl Copies {
    /// One of them is answered; tells whether it is the first, which counts.
    pub(crate) fn answer(&self) -> bool {
        !self.answered.swap(true, Ordering::AcqRel)
    }

    /// One of them will not be answered; tells whether that leaves none.
    pub(crate) fn lose(&self) -> bool {
        let last = self.in_flight.fetch_sub(1, Ordering::AcqRel) == 1;
        last && !self.answered.load(Ordering::Acquire)
    }
}

/// A READ of a transfer that is under way.
pub(crate) struct InFlightRead {
    channel: ChannelNumber,
    since: Time,
    range: Range<u64>,
    tries: Tries,
    copies: Arc<Copies>,
}

impl InFlightRead {
    pub(crate) fn new(piece: &ReadPiece, channel: ChannelNumber, since: Time) -> Self {
        Self {
            channel,
            since,
            range: piece.range.clone(),
            tries: piece.tries,
            copies: Arc::clone(&piece.copies),
        }
    }

    pub(crate) fn is(&self, piece: &ReadPiece) -> bool {
        Arc::ptr_eq(&self.copies, &piece.copies)
    }

    /// Whether a channel may ask for it as well.
    fn is_for(&self, number: ChannelNumber, most: u32) -> bool {
        let once = self.copies.in_flight.load(Ordering::Acquire) == 1;
        let fits = self.range.end - self.range.start <= u64::from(most);
        once && fits && self.channel != number && !self.copies.answered.load(Ordering::Acquire)
    }
}

impl State {
    /// The oldest READ that another channel is slow with, for one that has nothing else to do.
    pub(super) fn hedge_read(
        &mut self,
        number: ChannelNumber,
        appetite: Appetite,
        pool: &BlockPool,
    ) -> Option<Work> {
        let most = appetite.read_bytes;
        let waker = &self.channels.get(&number).filter(|_| most > 0)?.waker;
        let wanted = self.transfers.iter();
        let (key, index, since) = wanted
            .filter(|(_, record)| record.transfer.is_wanted())
            .flat_map(|(key, record)| {
                let asked = record.asked.iter().enumerate();
                asked
                    .filter(|(_, asked)| asked.is_for(number, most))
                    .map(|(index, asked)| (*key, index, asked.since))
            })
            .min_by_key(|(.., since)| *since)?;
        let due = since.after(PATIENCE);
        if due > appetite.now {
            let next = self.slow_at.map_or(due, |at| at.min(due));
            self.slow_at = Some(next);
            return None;
        }
        let block = pool.reserve(waker)?;
        let place = self.place(self.transfers.get(&key)?.file).ok()?;
        let record = self.transfers.get_mut(&key)?;
        let asked = record.asked.get_mut(index)?;
        (asked.channel, asked.since) = (number, appetite.now);
        asked.copies.in_flight.fetch_add(1, Ordering::AcqRel);
        let piece = ReadPiece {
            transfer: Arc::clone(&record.transfer),
            place,
            range: asked.range.clone(),
            tries: asked.tries,
            copies: Arc::clone(&asked.copies),
        };
        Some(Work::Read(piece, block))
    }
}
