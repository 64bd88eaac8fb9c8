//! Frames arrive: where each goes, what is in it once it is decrypted, and what it must fulfil.

use locale::say;

use super::message_protection::Signed;
use super::pending_requests::Job;
use super::receive_framing::Frame;
use super::{Channel, Phase};
use crate::error::{Error, NtStatus, Operation, Result};
use crate::monotonic_time::Time;
use crate::payload_block_pool::Reservation;
use crate::session::LISTING_BYTES_MAX;
use crate::wire::{BreakNotice, Command, HEADER_LENGTH, Header, TransformHeader, flags};

/// A frame that is not the reply to a READ is at most so long: two listings and something small.
const CONTROL_FRAME_MAX: usize = 2 * LISTING_BYTES_MAX as usize + (1 << 16);

impl Channel {
    /// Decides where the rest of a frame goes.
    pub(super) fn route(&mut self, header: &Header, length: usize) -> Result<()> {
        self.statistics.received_frames += 1;
        if brings_data(header)
            && let Some(pending) = self.outstanding.get_mut(header.message_id)
            && let Job::Read { block, .. } = &mut pending.job
            && let Some(reserved) = block.take()
        {
            let asked = pending.data_bytes as usize;
            return match self
                .receive
                .direct_to_block(header.message_id, reserved, asked, length)
            {
                Ok(()) => Ok(()),
                Err(reserved) => {
                    *block = Some(reserved);
                    Err(Error::Misbehaving(say("misbehaving.more-than-asked")))
                }
            };
        }
        self.route_to_control(length)
    }

    /// Decides where the rest of an encrypted frame goes. What it is shows only when it is
    /// decrypted, in place; so that the data of a READ need not be moved then, it comes into a block
    /// that waits for data.
    pub(super) fn route_sealed(
        &mut self,
        transform: &TransformHeader,
        length: usize,
    ) -> Result<()> {
        self.statistics.received_frames += 1;
        if !self.keys.can_open() {
            return Err(Error::Misbehaving(say("misbehaving.encrypts-unagreed")));
        }
        if transform.session_id != self.session_id {
            return Err(Error::Misbehaving(say("misbehaving.encrypts-for-another")));
        }
        if let Some((message_id, slot)) = self.outstanding.lender()
            && let Some(block) = slot.take()
        {
            let most = block.capacity();
            let directed = self
                .receive
                .direct_to_block(message_id, block, most, length);
            match directed {
                Ok(()) => return Ok(()),
                Err(block) => *slot = Some(block),
            }
        }
        self.route_to_control(length)
    }

    fn route_to_control(&mut self, length: usize) -> Result<()> {
        if length > CONTROL_FRAME_MAX {
            return Err(Error::Misbehaving(
                say("misbehaving.long-frame").count("bytes", length),
            ));
        }
        self.receive.direct_to_control(length);
        Ok(())
    }

    /// Decrypts a frame in place, and goes on with what was in it.
    pub(super) fn open(
        &mut self,
        transform: &TransformHeader,
        frame: Frame,
        now: Time,
    ) -> Result<()> {
        let (lender, mut block, place) = match frame {
            Frame::Control(mut message) => {
                let header = self.keys.unseal(transform, &mut message)?;
                return self.frame(&header, Frame::Control(message), true, now);
            }
            Frame::Read {
                message_id,
                block,
                message,
            } => (message_id, block, message),
        };
        let header = self
            .keys
            .unseal(transform, &mut block.raw_mut()[place.clone()])?;
        let message_id = header.message_id;
        let data = brings_data(&header);
        // the READ that it answers keeps the block, and the one that lent it gets the other's
        let other = match self.outstanding.read_block(message_id) {
            Some(_) if data && message_id == lender => None,
            Some(other) if data && other.is_some() => other.take(),
            _ => {
                let message = block.raw()[place].to_vec();
                if let Some(reservation) = block.release() {
                    self.give_back(lender, reservation);
                }
                return self.frame(&header, Frame::Control(message), true, now);
            }
        };
        if let Some(other) = other {
            self.give_back(lender, other);
        }
        let frame = Frame::Read {
            message_id,
            block,
            message: place,
        };
        self.frame(&header, frame, true, now)
    }

    fn give_back(&mut self, lender: u64, block: Reservation) {
        if let Some(slot) = self.outstanding.read_block(lender) {
            *slot = Some(block);
        }
    }

    /// Takes a whole frame that is not encrypted any more.
    pub(super) fn frame(
        &mut self,
        header: &Header,
        frame: Frame,
        sealed: bool,
        now: Time,
    ) -> Result<()> {
        match frame {
            Frame::Control(mut message) => {
                let done = self.control_frame(header, &mut message, sealed, now);
                self.receive.recycle(message);
                done
            }
            Frame::Read {
                message_id,
                mut block,
                message,
            } => {
                let done = self.read_frame(header, &mut block, &message, sealed);
                match done {
                    Ok(data) => self.read_answered(message_id, block, data, now),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Checks what any message must fulfil, and its signature where it is not `sealed`; `before` is what stands
    /// before it. `None`: nothing more is to be done with it.
    pub(super) fn admit(
        &mut self,
        header: &Header,
        before: &[u8],
        message: &mut [u8],
        sealed: bool,
    ) -> Result<Option<u64>> {
        if !header.has(flags::RESPONSE) {
            return Err(Error::Misbehaving(say("misbehaving.sends-request")));
        }
        if header.message_id == u64::MAX || header.command == Command::NOTIFICATION {
            return self.notice(header, message, sealed).map(|()| None);
        }
        let pending = self.outstanding.get(header.message_id);
        if !sealed {
            let request_sealed = pending.is_some_and(|pending| pending.sealed);
            self.keys.check_plain(header, request_sealed)?;
        }
        let unknown = || {
            Error::Misbehaving(
                say("misbehaving.unknown-request")
                    .with("number", header.message_id.to_string())
                    .with("command", header.command.name()),
            )
        };
        let pending = pending.ok_or_else(unknown)?;
        if pending.command != header.command {
            let (asked, answered) = (pending.command.name(), header.command.name());
            return Err(Error::Misbehaving(
                say("misbehaving.other-command")
                    .with("asked", asked)
                    .with("answered", answered),
            ));
        }
        if self.transmit.holds_write(header.message_id) {
            return Err(Error::Misbehaving(say("misbehaving.early-answer")));
        }
        if header.status == NtStatus::PENDING {
            return self.interim(header);
        }
        if !sealed {
            let signed = (self.keys).check_signature(header, before, message, pending.signed)?;
            if signed == Signed::Unpadded {
                self.session.avoid_chains();
            }
        }
        if header.status == NtStatus::USER_SESSION_DELETED
            && header.command != Command::LOGOFF
            && matches!(self.phase, Phase::Up)
            && self.session.settings().reconnect
        {
            let operation = Operation::Request(header.command);
            return Err(Error::refused(operation, header.status));
        }
        self.credits.answered(pending.credits_asked, header.credits);
        self.credit_starved = false;
        Ok(Some(header.message_id))
    }

    /// The server says something of its own accord. A lease is the client's and no session's, so
    /// that it is taken back in plain also where all else is encrypted (3.3.4.7).
    fn notice(&self, header: &Header, message: &[u8], sealed: bool) -> Result<()> {
        let plain_is_fine = header.session_id == 0 || self.keys.check_plain(header, false).is_ok();
        if header.command == Command::OPLOCK_BREAK && (sealed || plain_is_fine) {
            let notice = BreakNotice::decode(&message[HEADER_LENGTH..])?;
            self.session.broken(&notice);
        }
        Ok(())
    }

    /// The server says that it takes longer; the credits come now (3.2.5.1.5).
    fn interim(&mut self, header: &Header) -> Result<Option<u64>> {
        if !header.has(flags::ASYNC) {
            return Err(Error::Misbehaving(say(
                "misbehaving.interim-without-number",
            )));
        }
        if let Some(pending) = self.outstanding.get_mut(header.message_id) {
            pending.interim = true;
            let chain = match pending.job {
                Job::Link { chain, .. } => Some(chain),
                _ => None,
            };
            let asked = std::mem::take(&mut pending.credits_asked);
            self.credits.answered(asked, header.credits);
            self.credit_starved = false;
            self.statistics.interims += 1;
            if let Some(chain) = chain {
                self.outstanding.chain_put_off(chain);
            }
        }
        Ok(None)
    }
}

/// Whether a message is the reply to a READ that has its data, and comes alone.
fn brings_data(header: &Header) -> bool {
    header.command == Command::READ
        && header.status == NtStatus::SUCCESS
        && header.has(flags::RESPONSE)
        && header.next_command == 0
}
