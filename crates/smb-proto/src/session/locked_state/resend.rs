//! What is sent again: what a lost channel had under way, and what the server was not ready for.

use std::sync::Arc;

use super::read_write_ranges::{ReadPiece, Write};
use super::{Calls, State};
use crate::error::{Error, Operation};
use crate::monotonic_time::Time;
use crate::session::ChannelNumber;
use crate::session::retry_after_loss::{self, Tries};
use crate::session::submitted_request::Control;
use crate::wire::Command;

/// What a channel had under way when it ended.
pub(crate) enum Lost {
    Control(Control),
    Read(ReadPiece),
    Write(Write),
}

impl Lost {
    /// Counts the loss; tells whether it may be sent again.
    pub(crate) fn may_retry(&mut self) -> bool {
        let repeatable = match self {
            Self::Control(control) => retry_after_loss::can_repeat(&control.request),
            Self::Write(_) | Self::Read(_) => true,
        };
        repeatable && self.tries().lost()
    }

    pub(crate) fn tries(&mut self) -> &mut Tries {
        match self {
            Self::Control(control) => &mut control.tries,
            Self::Write(write) => &mut write.tries,
            Self::Read(piece) => &mut piece.tries,
        }
    }

    /// What it was, for people.
    pub(crate) fn operation(&self) -> Operation {
        match self {
            Self::Control(control) => retry_after_loss::operation(&control.request),
            Self::Read(piece) if piece.transfer.source.is_some() => {
                Operation::Request(Command::WRITE)
            }
            Self::Read(_) => Operation::Request(Command::READ),
            Self::Write(_) => Operation::Request(Command::WRITE),
        }
    }
}

impl State {
    /// What a lost channel had under way waits for another one, if it may be sent again.
    pub(super) fn reclaim(
        &mut self,
        number: ChannelNumber,
        mut lost: Lost,
        cause: Option<&Arc<Error>>,
    ) -> Calls {
        if matches!(&lost, Lost::Control(control) if control.restores.is_some()) {
            return Calls::new();
        }
        let error = match self.check_open() {
            Ok(()) => retry_after_loss::loss(number, lost.operation(), cause),
            Err(ended) => ended,
        };
        if self.check_open().is_err() || !lost.may_retry() {
            return self.give_up(lost, error);
        }
        match lost {
            Lost::Control(control) => self.control.push_front(control),
            Lost::Write(write) => self.writes.push_front(write),
            Lost::Read(piece) => return self.requeue_read(piece),
        }
        Calls::new()
    }

    pub(crate) fn give_up(&mut self, lost: Lost, error: Error) -> Calls {
        match lost {
            Lost::Control(control) => vec![(control.sink, Err(error))],
            Lost::Write(write) => vec![(write.sink, Err(error))],
            Lost::Read(piece) if !piece.copies.lose() => Calls::new(),
            Lost::Read(piece) => self.read_failed(&piece, error),
        }
    }

    /// The range of a lost READ waits to be asked for again.
    pub(super) fn requeue_read(&mut self, piece: ReadPiece) -> Calls {
        let key = piece.transfer.key;
        if !piece.copies.lose() {
            return Calls::new();
        }
        if let Some(transfer) = self.transfers.get_mut(&key) {
            transfer.one_less(&piece);
            if transfer.failure.is_none() {
                transfer.left_over.push((piece.range, piece.tries));
                self.queue_read(key);
            }
        }
        self.end_transfer_if_over(key)
    }

    /// Its ranges may all have been under way, then a transfer is not in the queue.
    pub(super) fn queue_read(&mut self, key: u64) {
        if !self.reads.contains(&key) {
            self.reads.push_front(key);
            self.wake_hungry();
        }
    }

    /// The server is not ready for this one.
    pub(crate) fn put_off(&mut self, until: Time, work: Lost) {
        self.later.push((until, work));
    }

    /// When something that was put off is due.
    pub(crate) fn next_due(&self) -> Option<Time> {
        let later = self.later.iter().map(|(due, _)| *due).min();
        [later, self.slow_at].into_iter().flatten().min()
    }

    /// Lets go what was put off until now.
    pub(crate) fn handle_due(&mut self, now: Time) -> Calls {
        let mut calls = Calls::new();
        self.slow_at.take_if(|at| *at <= now);
        let (due, later) = std::mem::take(&mut self.later)
            .into_iter()
            .partition(|(due, _)| *due <= now);
        self.later = later;
        let due: Vec<(Time, Lost)> = due;
        for (_, work) in due {
            match work {
                Lost::Control(control) if control.restores.is_some() => {
                    self.restoring.requeue(control);
                    self.wake_idlest();
                }
                Lost::Control(control) => {
                    self.control.push_front(control);
                    self.wake_idlest();
                }
                Lost::Write(write) => self.writes.push_front(write),
                Lost::Read(piece) => calls.extend(self.requeue_read(piece)),
            }
        }
        self.wake_hungry();
        calls
    }
}
