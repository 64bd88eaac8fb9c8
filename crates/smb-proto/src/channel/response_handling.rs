//! Requests are answered: what a reply means for what was asked.

use std::ops::Range;
use std::sync::Arc;

use locale::say;

use super::pending_requests::{Connected, Job, Pending};
use super::{Channel, Phase};
use crate::error::{Error, NtStatus, Operation, Result};
use crate::monotonic_time::Time;
use crate::payload_block_pool::{Block, Payload};
use crate::session::{Control, Lost, ReadPiece, Waited};
use crate::wire::{Command, HEADER_LENGTH, Header, Message as _, ReadResponse, WriteResponse};

impl Channel {
    /// The request is answered for good.
    pub(super) fn finish(&mut self, message_id: u64, now: Time) -> Option<Pending> {
        let pending = self.outstanding.remove(message_id)?;
        let took = now.since(pending.sent_at);
        self.depth.answered(pending.data_bytes, took, now);
        match pending.command {
            Command::ECHO => self.headway.lives(now),
            _ => self.headway.done(now),
        }
        Some(pending)
    }

    pub(super) fn control_frame(
        &mut self,
        header: &Header,
        message: &mut Vec<u8>,
        sealed: bool,
        now: Time,
    ) -> Result<()> {
        if header.next_command != 0 {
            return self.chained_frame(*header, message, sealed, now);
        }
        let length = u32::try_from(message.len()).unwrap_or_default();
        let Some(message_id) = self.admit(header, &length.to_be_bytes(), message, sealed)? else {
            return Ok(());
        };
        let Some(pending) = self.finish(message_id, now) else {
            return Ok(());
        };
        let waited = Waited {
            from: pending.sent_at,
            until: now,
        };
        let single = !matches!(pending.job, Job::Link { .. });
        let expired = header.status == NtStatus::NETWORK_SESSION_EXPIRED;
        if expired && single && matches!(self.phase, Phase::Up) {
            return self.expired(pending);
        }
        match pending.job {
            Job::Negotiate => self.negotiated(header, message, now),
            Job::SessionSetup => self.was_set_up(header, message, now),
            Job::Echo => Ok(()),
            Job::Control(control) => {
                self.control_answered(pending.command, control, header, message, now)
            }
            Job::Link { chain, position } => {
                self.link_answered(chain, position, header, std::mem::take(message), now)
            }
            Job::Validate(connected) => self.was_validated(*connected, header, message, now),
            Job::Read { piece, .. } => self.read_without_data(piece, header.status, waited),
            Job::Write { write, length } => {
                self.write_answered(Lost::Write(write), length, header, message, waited)
            }
            Job::WriteFrom { piece, length, .. } => {
                self.write_answered(Lost::Read(piece), length, header, message, waited)
            }
        }
    }

    fn control_answered(
        &mut self,
        command: Command,
        control: Control,
        header: &Header,
        message: &mut Vec<u8>,
        now: Time,
    ) -> Result<()> {
        let connected = command == Command::TREE_CONNECT && header.status == NtStatus::SUCCESS;
        if connected && self.must_validate() {
            let message = std::mem::take(message);
            let connected = Connected {
                control,
                header: *header,
                message,
            };
            self.validations.push_back(Box::new(connected));
            return Ok(());
        }
        self.conclude(control, header, message, now)
    }

    /// A READ was answered, and not into its block.
    fn read_without_data(
        &mut self,
        piece: ReadPiece,
        status: NtStatus,
        waited: Waited,
    ) -> Result<()> {
        match status {
            // a success goes into its block and not here, unless it comes a second time
            NtStatus::SUCCESS => {
                self.lost.push(Lost::Read(piece));
                return Err(Error::Misbehaving(say("misbehaving.second-answer")));
            }
            NtStatus::END_OF_FILE if !piece.copies.answer() => {
                self.session.read_in_vain(self.number);
            }
            NtStatus::END_OF_FILE => {
                return self.session.read_done(self.number, &piece, 0, waited);
            }
            status => {
                self.session
                    .read_refused(self.number, piece, status, waited.until);
            }
        }
        Ok(())
    }

    pub(super) fn conclude(
        &mut self,
        control: Control,
        header: &Header,
        message: &mut Vec<u8>,
        now: Time,
    ) -> Result<()> {
        let sink = Arc::clone(&control.sink);
        let done = self
            .session
            .control_done(self.number, control, header, message, now);
        match &done {
            Ok(carried) => self.count(*carried),
            Err(error) => sink.done(Err(self.senseless(Operation::AwaitReply, error))),
        }
        done.map(drop)
    }

    /// A WRITE was answered, of a payload or of a piece of a source.
    fn write_answered(
        &mut self,
        work: Lost,
        length: u32,
        header: &Header,
        message: &[u8],
        waited: Waited,
    ) -> Result<()> {
        if header.status != NtStatus::SUCCESS {
            self.session
                .write_refused(self.number, work, header.status, waited.until);
            return Ok(());
        }
        let count = match written(message, length) {
            Ok(count) => count,
            Err(error) => {
                let failure = self.senseless(Operation::Request(Command::WRITE), &error);
                self.session.write_ended(self.number, work, failure);
                return Err(error);
            }
        };
        self.statistics.written_bytes += u64::from(count);
        match work {
            Lost::Write(write) => {
                self.session
                    .write_done(self.number, write, (count, length), waited)
            }
            Lost::Read(piece) => {
                if piece.transfer.is_wanted() {
                    piece.transfer.sink.written(count.into());
                }
                self.session.read_done(self.number, &piece, count, waited)
            }
            Lost::Control(_) => Ok(()),
        }
    }

    /// Checks a READ's reply in its block; gives where the data is.
    pub(super) fn read_frame(
        &mut self,
        header: &Header,
        block: &mut Block,
        message: &Range<usize>,
        sealed: bool,
    ) -> Result<Range<usize>> {
        let bytes = &mut block.raw_mut()[message.clone()];
        self.admit(header, &[], bytes, sealed)?;
        let response = ReadResponse::decode(&bytes[HEADER_LENGTH..])?;
        let asked = self
            .outstanding
            .get(header.message_id)
            .map_or(0, |pending| pending.data_bytes);
        let length = response.data.len();
        if length == 0 || length > asked as usize {
            return Err(Error::Misbehaving(
                say("misbehaving.read-length")
                    .count("bytes", length)
                    .count("asked", asked),
            ));
        }
        let start = message.start + usize::from(response.data_offset);
        Ok(start..start + length)
    }

    pub(super) fn read_answered(
        &mut self,
        message_id: u64,
        block: Block,
        data: Range<usize>,
        now: Time,
    ) -> Result<()> {
        let Some(Pending {
            job: Job::Read { piece, .. },
            sent_at: from,
            ..
        }) = self.finish(message_id, now)
        else {
            return Ok(());
        };
        if !piece.copies.answer() {
            self.session.read_in_vain(self.number);
            return Ok(());
        }
        let length = data.len();
        self.statistics.read_bytes += length as u64;
        if piece.transfer.is_wanted() {
            piece
                .transfer
                .sink
                .piece(piece.range.start, Payload::new(block, data));
        }
        // only now, so that the end of a transfer never overtakes a piece of it
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let waited = Waited { from, until: now };
        self.session.read_done(self.number, &piece, length, waited)
    }
}

/// How much a WRITE wrote of so many bytes.
fn written(message: &[u8], length: u32) -> Result<u32> {
    match WriteResponse::decode(&message[HEADER_LENGTH..])?.count {
        count if (1..=length).contains(&count) => Ok(count),
        count => Err(Error::Misbehaving(
            say("misbehaving.written-length")
                .count("bytes", count)
                .count("asked", length),
        )),
    }
}
