//! What the server answered: what becomes of requests, READs and WRITEs.

use super::read_write_ranges::{ReadPiece, Waited, Write, check_pace};
use super::resend::Lost;
use super::{Calls, State};
use crate::error::{Error, NtStatus, Operation, Result};
use crate::monotonic_time::Time;
use crate::payload_block_pool::Payload;
use crate::session::ChannelNumber;
use crate::session::request_codec;
use crate::session::request_types::{Reply, Request};
use crate::session::retry_after_loss;
use crate::session::submitted_request::Control;

impl State {
    /// A request was answered. `None`: not for good, it will be sent again.
    pub(crate) fn control_done(
        &mut self,
        number: ChannelNumber,
        mut control: Control,
        header: &crate::wire::Header,
        message: &mut Vec<u8>,
        now: Time,
    ) -> Result<Option<Result<Reply>>> {
        self.one_less(number);
        if let Some(what) = control.restores {
            return self
                .restored(number, control, what, (header, message), now)
                .map(|()| None);
        }
        if self.check_open().is_ok()
            && let Some(wait) = control.tries.refused_for_now(header.status)
        {
            self.put_off(now.after(wait), Lost::Control(control));
            return Ok(None);
        }
        let mut header = *header;
        if control.tries.is_replay() && retry_after_loss::was_done(&control.request, header.status)
        {
            header.status = NtStatus::SUCCESS;
        }
        let outcome = request_codec::conclude(self, &control.request, &header, message)?;
        if let (Request::Flush { file }, Ok(_)) = (&control.request, &outcome) {
            self.note_flushed(*file, control.covers);
        }
        Ok(Some(outcome))
    }

    /// A READ brought so many bytes, which have been handed over; none: the file ends there. An error:
    /// all that comes of it is too little, which has ended the transfer as well.
    pub(crate) fn read_done(
        &mut self,
        piece: &ReadPiece,
        bytes: u32,
        waited: Waited,
    ) -> (Calls, Result<()>) {
        let key = piece.transfer.key;
        let Some(record) = self.transfers.get_mut(&key) else {
            return (Calls::new(), Ok(()));
        };
        record.one_less(piece);
        let mut result = Ok(());
        if record.failure.is_none() {
            if bytes > 0 {
                result = record.check_pace(piece, bytes, waited);
            }
            record.bytes += u64::from(bytes);
            let reached = piece.range.start + u64::from(bytes);
            let file = record.file;
            if bytes == 0 {
                record.end_at(piece.range.start);
            } else if reached < piece.range.end {
                record
                    .left_over
                    .push((reached..piece.range.end, piece.tries));
                self.queue_read(key);
            }
            match piece.transfer.source {
                Some(_) => self.note_written(file, reached),
                None if bytes > 0 => self.note_shown(file, reached),
                None => {}
            }
        }
        let calls = match &result {
            Err(error) => self.fail_transfer(key, error.clone()),
            Ok(()) => self.end_transfer_if_over(key),
        };
        (calls, result)
    }

    /// The server says no to a WRITE, for now or for good.
    pub(crate) fn write_refused(
        &mut self,
        number: ChannelNumber,
        mut work: Lost,
        status: NtStatus,
        now: Time,
    ) -> Calls {
        self.one_less(number);
        if retry_after_loss::is_not_ready(status)
            && self.check_open().is_ok()
            && let Some(wait) = work.tries().refused()
        {
            self.put_off(now.after(wait), work);
            return Calls::new();
        }
        let error = self.refusal(&work, status);
        self.give_up(work, error)
    }

    pub(super) fn refusal(&self, work: &Lost, status: NtStatus) -> Error {
        let asked = match work {
            Lost::Read(piece) => return self.refused_read(piece, status),
            Lost::Write(Write { file, offset, .. }) => {
                Operation::Write.of(self.path(*file)).at(*offset)
            }
            Lost::Control(control) => request_codec::describe(self, &control.request),
        };
        Error::refused(asked, status)
    }

    /// A READ failed, and with it the transfer.
    pub(crate) fn read_failed(&mut self, piece: &ReadPiece, failure: Error) -> Calls {
        let key = piece.transfer.key;
        if let Some(record) = self.transfers.get_mut(&key) {
            record.one_less(piece);
            record.stop(failure);
        }
        self.end_transfer_if_over(key)
    }

    /// The server says no to a READ, for now or for good.
    pub(crate) fn read_refused(
        &mut self,
        number: ChannelNumber,
        mut piece: ReadPiece,
        status: NtStatus,
        now: Time,
    ) -> Calls {
        self.one_less(number);
        if retry_after_loss::is_not_ready(status)
            && self.check_open().is_ok()
            && let Some(wait) = piece.tries.refused()
        {
            self.put_off(now.after(wait), Lost::Read(piece));
            return Calls::new();
        }
        if !piece.copies.answer() {
            return Calls::new();
        }
        let failure = self.refused_read(&piece, status);
        self.read_failed(&piece, failure)
    }

    fn refused_read(&self, piece: &ReadPiece, status: NtStatus) -> Error {
        let file = self
            .transfers
            .get(&piece.transfer.key)
            .map(|record| record.file);
        let path = file.map_or("a file", |file| self.path(file));
        let operation = match piece.transfer.source {
            Some(_) => Operation::Write,
            None => Operation::Read,
        };
        Error::refused(operation.of(path).at(piece.range.start), status)
    }

    /// A WRITE took so many bytes of its payload.
    pub(crate) fn write_done(
        &mut self,
        number: ChannelNumber,
        write: Write,
        (bytes, asked): (u32, u32),
        waited: Waited,
    ) -> (Calls, Result<()>) {
        self.one_less(number);
        let Write {
            file,
            offset,
            payload,
            sink,
            tries,
            mut trickle,
        } = write;
        let done = bytes as usize;
        self.note_written(file, offset.saturating_add(u64::from(bytes)));
        let range = payload.range();
        if done < range.len() {
            let alone = waited.since(Time::default());
            if let Err(error) = check_pace(&mut trickle, bytes, asked.into(), alone) {
                return (vec![(sink, Err(error.clone()))], Err(error));
            }
            let payload = Payload::new(payload.into_block(), range.start + done..range.end);
            let rest = Write {
                file,
                offset: offset + u64::from(bytes),
                payload,
                sink,
                tries,
                trickle,
            };
            let calls = match self.check_open() {
                Ok(()) => {
                    self.writes.push_front(rest);
                    self.wake_hungry();
                    Calls::new()
                }
                Err(error) => vec![(rest.sink, Err(error))],
            };
            return (calls, Ok(()));
        }
        let block = payload.into_block();
        (vec![(sink, Ok(Reply::Written { block }))], Ok(()))
    }
}
