//! Reads and writes: which ranges are asked for, which are left, and whether what comes is too little.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use locale::say;

use super::handles::Place;
use super::{Calls, State};
use crate::error::{Error, Result};
use crate::monotonic_time::Time;
use crate::payload_block_pool::Payload;
use crate::session::hedged_reads::{Copies, InFlightRead};
use crate::session::request_types::Reply;
use crate::session::retry_after_loss::Tries;
use crate::session::{FileKey, Sink, Source};
use crate::std_or_shuttle::atomic::{AtomicBool, Ordering};
use crate::trickling_replies::{TooLittle, Trickle};

/// The part of a read, or of a write from a source, that channels hold while a piece is under way.
pub(crate) struct Transfer {
    pub(crate) key: u64,
    pub(crate) sink: Arc<dyn Sink>,
    /// Of a write.
    pub(crate) source: Option<Arc<dyn Source>>,
    /// Cancelled or failed: pieces that still arrive are dropped.
    stopped: AtomicBool,
}

impl Transfer {
    /// Whether anybody still wants its pieces.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }
}

/// The books of one read, or of one write from a source.
pub(crate) struct TransferRecord {
    pub(crate) transfer: Arc<Transfer>,
    pub(crate) file: FileKey,
    /// Not asked for yet.
    pub(super) rest: Range<u64>,
    /// To be asked for again: what short READs and lost channels left over.
    pub(super) left_over: Vec<(Range<u64>, Tries)>,
    /// Pieces that are asked for.
    pub(super) in_flight: usize,
    /// Which of them another channel might ask for as well.
    pub(crate) asked: Vec<InFlightRead>,
    pub(super) bytes: u64,
    trickle: Trickle,
    /// When it was answered last.
    answered_at: Time,
    pub(super) failure: Option<Error>,
}

impl TransferRecord {
    /// A piece was answered with so many bytes.
    pub(super) fn check_pace(
        &mut self,
        piece: &ReadPiece,
        bytes: u32,
        waited: Waited,
    ) -> Result<()> {
        let alone = waited.since(self.answered_at);
        self.answered_at = waited.until;
        let asked = piece.range.end - piece.range.start;
        check_pace(&mut self.trickle, bytes, asked, alone)
    }

    pub(super) fn has_ranges(&self) -> bool {
        !self.left_over.is_empty() || !self.rest.is_empty()
    }

    /// A piece is no longer under way.
    pub(super) fn one_less(&mut self, piece: &ReadPiece) {
        self.in_flight -= 1;
        self.asked.retain(|asked| !asked.is(piece));
    }

    fn is_over(&self) -> bool {
        self.in_flight == 0 && !self.has_ranges()
    }

    pub(super) fn next_range(&mut self, chunk: u64) -> Option<(Range<u64>, Tries)> {
        let (from, tries) = match self.left_over.last_mut() {
            Some((range, tries)) => (range, *tries),
            None => (&mut self.rest, Tries::default()),
        };
        let start = from.start;
        let end = from.end.min(start.saturating_add(chunk));
        from.start = end;
        self.left_over.retain(|(range, _)| !range.is_empty());
        (start < end).then_some((start..end, tries))
    }

    pub(super) fn stop(&mut self, failure: Error) {
        self.transfer.stopped.store(true, Ordering::Relaxed);
        self.failure.get_or_insert(failure);
        self.rest = 0..0;
        self.left_over.clear();
    }

    /// There is nothing from here on.
    pub(super) fn end_at(&mut self, offset: u64) {
        self.rest.end = self.rest.end.min(offset.max(self.rest.start));
        for (range, _) in &mut self.left_over {
            range.end = range.end.min(offset.max(range.start));
        }
        self.left_over.retain(|(range, _)| !range.is_empty());
    }
}

/// From when a request was sent until it was answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waited {
    pub(crate) from: Time,
    pub(crate) until: Time,
}

impl Waited {
    /// How long that was, after the last answer about the same thing.
    pub(super) fn since(self, other: Time) -> Duration {
        self.until.since(self.from.max(other))
    }
}

/// Takes so many bytes of those that were asked for. An error: it goes on like that.
pub(super) fn check_pace(
    trickle: &mut Trickle,
    bytes: u32,
    asked: u64,
    waited: Duration,
) -> Result<()> {
    if u64::from(bytes) >= asked {
        trickle.was_whole();
        return Ok(());
    }
    trickle.was_short(bytes.into(), waited).map_err(|little| {
        let TooLittle { amount, answers } = little;
        Error::Trickles(
            say("trickles.data")
                .count("bytes", bytes)
                .count("asked", asked)
                .count("amount", amount)
                .count("answers", answers),
        )
    })
}

/// A payload to be written, or what is left of it.
pub(crate) struct Write {
    pub(crate) file: FileKey,
    pub(crate) offset: u64,
    pub(crate) payload: Payload,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) tries: Tries,
    pub(crate) trickle: Trickle,
}

/// A piece of a read, or of a write from a source.
pub(crate) struct ReadPiece {
    pub(crate) transfer: Arc<Transfer>,
    pub(crate) place: Place,
    pub(crate) range: Range<u64>,
    pub(crate) tries: Tries,
    pub(crate) copies: Arc<Copies>,
}

impl State {
    pub(crate) fn transfer(
        &mut self,
        file: FileKey,
        range: Range<u64>,
        source: Option<Arc<dyn Source>>,
        sink: Arc<dyn Sink>,
    ) -> (u64, Calls) {
        let key = self.next_transfer;
        self.next_transfer += 1;
        if let Err(error) = self.check_open().and_then(|()| self.place(file).map(drop)) {
            return (key, vec![(sink, Err(error))]);
        }
        if range.is_empty() {
            let reply = moved(source.as_ref(), 0);
            return (key, vec![(sink, Ok(reply))]);
        }
        let transfer = Arc::new(Transfer {
            key,
            sink,
            source,
            stopped: AtomicBool::new(false),
        });
        let record = TransferRecord {
            transfer,
            file,
            rest: range,
            left_over: Vec::new(),
            in_flight: 0,
            asked: Vec::new(),
            bytes: 0,
            trickle: Trickle::of_bytes(),
            answered_at: Time::default(),
            failure: None,
        };
        self.transfers.insert(key, record);
        self.reads.push_back(key);
        self.wake_hungry();
        (key, Calls::new())
    }

    pub(crate) fn write(&mut self, write: Write) -> Calls {
        if let Err(error) = self
            .check_open()
            .and_then(|()| self.place(write.file).map(drop))
        {
            return vec![(write.sink, Err(error))];
        }
        if write.payload.is_empty() {
            let block = write.payload.into_block();
            return vec![(write.sink, Ok(Reply::Written { block }))];
        }
        self.writes.push_back(write);
        self.wake_hungry();
        Calls::new()
    }

    pub(crate) fn fail_transfer(&mut self, key: u64, failure: Error) -> Calls {
        if let Some(record) = self.transfers.get_mut(&key) {
            record.stop(failure);
        }
        self.end_transfer_if_over(key)
    }

    pub(super) fn end_transfer_if_over(&mut self, key: u64) -> Calls {
        if !self
            .transfers
            .get(&key)
            .is_some_and(TransferRecord::is_over)
        {
            return Calls::new();
        }
        let Some(record) = self.transfers.remove(&key) else {
            return Calls::new();
        };
        self.reads.retain(|waiting| *waiting != key);
        let outcome = match record.failure {
            Some(failure) => Err(failure),
            None => Ok(moved(record.transfer.source.as_ref(), record.bytes)),
        };
        vec![(Arc::clone(&record.transfer.sink), outcome)]
    }
}

/// What a transfer ends with.
fn moved(source: Option<&Arc<dyn Source>>, bytes: u64) -> Reply {
    match source {
        Some(_) => Reply::WrittenFrom { bytes },
        None => Reply::Read { bytes },
    }
}
