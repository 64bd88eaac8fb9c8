//! Work becomes requests: as much as credits, depth and the server allow, each with its header and
//! protection.

use std::ops::Range;
use std::sync::Arc;

use locale::say;

use super::credits::{self, CREDIT_BYTES};
use super::handshake_state::Agreed;
use super::message_protection::Guard;
use super::pending_requests::{Job, Pending};
use super::{Channel, Event, Lack};
use crate::error::{Error, NtStatus, Result};
use crate::monotonic_time::Time;
use crate::payload_block_pool::{Payload, Reservation};
use crate::session::{
    Appetite, Dialect, Pull, ReadPiece, Request, TreeId, Work, Write, says_replay,
};
use crate::wire::{
    Command, FileId, HEADER_LENGTH, Header, Message as _, PREFIX_LENGTH, ReadRequest,
    WRITE_DATA_OFFSET, WriteRequest, flags, frame_prefix,
};

/// So many frames at most are made ready before the driver gets to send them.
const FRAMES_BEFORE_SENDING_MAX: usize = 16;

/// A message to be sent, without its body.
pub(super) struct Outgoing {
    pub(super) command: Command,
    pub(super) tree_id: TreeId,
    /// Decides the credit charge.
    pub(super) payload: u32,
    pub(super) guard: Guard,
    /// The server may have seen it already.
    pub(super) replay: bool,
}

impl Outgoing {
    /// Unprotected, as all of a login is.
    pub(super) fn new(command: Command) -> Self {
        Self {
            command,
            tree_id: TreeId::NONE,
            payload: 0,
            guard: Guard::Plain,
            replay: false,
        }
    }
}

impl Channel {
    /// Makes frames of work, until there is no more of it or enough for now.
    pub(super) fn fill(&mut self, now: Time) -> Result<()> {
        self.lack = None;
        for _ in 0..FRAMES_BEFORE_SENDING_MAX {
            if self.credits.balance() == 0 {
                if self.outstanding.len() == 0 {
                    return Err(Error::Misbehaving(say("misbehaving.no-credits")));
                }
                let waits = self.session.data_waits() && !self.depth.is_reached();
                self.lack = waits.then_some(Lack::Credits);
                break;
            }
            if let Some(connected) = self.validations.pop_front() {
                self.validate(connected, now)?;
                continue;
            }
            let (appetite, short) = self.appetite(now);
            let pull = self.session.pull(self.number, appetite);
            let data = match &pull {
                Pull::Work(work) => matches!(work, Work::Read(..) | Work::Write(..)),
                Pull::DataWaits => true,
                Pull::Nothing | Pull::Renew => false,
            };
            if data && short && !std::mem::replace(&mut self.credit_starved, true) {
                self.statistics.credit_starved += 1;
                self.credits.starved();
            }
            match pull {
                Pull::Work(work) => {
                    self.start(work, now)?;
                    // Sent while the processor's cache still has it, and before further blocks are filled and signed,
                    // for which the server would wait.
                    if self.transmit.ends_with_block() {
                        break;
                    }
                }
                Pull::DataWaits => {
                    // it could have been read, were there a block for it
                    let no_block = appetite.read_bytes > 0;
                    self.statistics.block_starved += u64::from(no_block);
                    self.lack = match (short, no_block) {
                        (true, _) => Some(Lack::Credits),
                        (false, true) => Some(Lack::Block),
                        (false, false) => None,
                    };
                    break;
                }
                Pull::Nothing => break,
                Pull::Renew => {
                    self.events.push_back(Event::Expired);
                    break;
                }
            }
        }
        Ok(())
    }

    /// What could be sent now, bounded by credits, depth, and the server's limits; and whether
    /// credits are the bound.
    fn appetite(&self, now: Time) -> (Appetite, bool) {
        let Some(agreed) = &self.agreed else {
            return (Appetite::default(), false);
        };
        let large = agreed.large_mtu();
        let bytes_of = |credits: u32| match credits {
            0 => 0,
            _ if !large => CREDIT_BYTES,
            credits => credits.saturating_mul(CREDIT_BYTES),
        };
        let full = self.depth.is_reached();
        let most = self.session.chunk_bytes_max();
        let most = if large { most } else { most.min(CREDIT_BYTES) };
        let afford = bytes_of(self.credits.for_data(self.depth.requests()));
        let short = !full && afford < most.min(agreed.read_bytes_max).min(agreed.write_bytes_max);
        // rather one large request a little later than many small ones
        let wait = full || (short && self.depth.requests() > 0);
        let data = if wait { 0 } else { most.min(afford) };
        let appetite = Appetite {
            control_bytes: bytes_of(self.credits.balance()),
            credits: self.credits.balance(),
            idle: self.outstanding.len() == 0,
            read_bytes: data.min(agreed.read_bytes_max).min(self.depth.piece()),
            write_bytes: data.min(agreed.write_bytes_max),
            now,
            from_origins: self.sends_origins && self.keys.leave_data(),
        };
        (appetite, short)
    }

    fn start(&mut self, work: Work, now: Time) -> Result<()> {
        match work {
            Work::Control(control, prepared) => {
                let mut outgoing = Outgoing::new(prepared.command);
                outgoing.tree_id = prepared.tree_id;
                outgoing.payload = prepared.payload;
                outgoing.replay =
                    control.tries.is_replay() && says_replay(&control.request, prepared.command);
                // Where a user's login goes next is for the server alone to say.
                let is_referral = matches!(control.request, Request::Referrals { .. });
                outgoing.guard = match prepared.command {
                    Command::TREE_CONNECT => self.keys.best_guard(prepared.tree_id),
                    _ if is_referral => self.keys.best_guard(prepared.tree_id),
                    _ => self.keys.guard(prepared.tree_id),
                };
                self.send(outgoing, &prepared.body, Job::Control(control), now)
                    .map(drop)
            }
            Work::Chain(control, prepared) => self.send_chain(control, &prepared, now),
            Work::Read(piece, block) => self.send_read(piece, block, now),
            Work::WriteFrom(piece, block) => self.send_from(piece, block, now),
            Work::Write(write, place, length) => {
                self.send_write(write, place.tree_id, place.file, length, now)
            }
        }
    }

    /// The header of a message, with a MessageId and credits for it.
    pub(super) fn header(&mut self, outgoing: &Outgoing) -> Result<Header> {
        let agreed = self.agreed.as_ref();
        let large_mtu = agreed.is_some_and(Agreed::large_mtu);
        let charge = credits::charge(outgoing.payload, large_mtu);
        if self.credits.balance() < u32::from(charge) {
            return Err(Error::Misbehaving(say("misbehaving.no-credits")));
        }
        let mut header = Header::request(outgoing.command, self.next_message_id);
        // MessageIds leave without holes: they are taken here and nowhere else
        self.next_message_id += u64::from(charge);
        // 2.0.2 has no such field
        let charges = agreed.is_none_or(|agreed| agreed.dialect > Dialect::Smb202);
        header.credit_charge = if charges { charge } else { 0 };
        header.credits = self.credits.spend(charge);
        let counts_channels = agreed.is_some_and(Agreed::counts_channels);
        if counts_channels {
            header.status = NtStatus(u32::from(self.session.channel_sequence()));
        }
        header.session_id = self.session_id;
        for (wanted, flag) in [
            (matches!(outgoing.guard, Guard::Signed(_)), flags::SIGNED),
            // 2.x has no such flag, and Samba refuses it there
            (outgoing.replay && counts_channels, flags::REPLAY),
        ] {
            header.flags |= if wanted { flag } else { 0 };
        }
        Ok(header.with_tree(outgoing.tree_id.number))
    }

    /// Queues a message; gives it as it will be sent.
    pub(super) fn send(
        &mut self,
        outgoing: Outgoing,
        body: &[u8],
        job: Job,
        now: Time,
    ) -> Result<&[u8]> {
        let header = self.header(&outgoing)?;
        self.expect(&header, &outgoing, 0, job, now);
        self.push(&header, body, &outgoing)
    }

    fn push(&mut self, header: &Header, body: &[u8], outgoing: &Outgoing) -> Result<&[u8]> {
        let protection = self.keys.protection(&outgoing.guard);
        self.transmit.push(header, body, protection)
    }

    /// Enters a request whose answer is to come; `data_bytes`: of a READ or WRITE.
    pub(super) fn expect(
        &mut self,
        header: &Header,
        outgoing: &Outgoing,
        data_bytes: u32,
        job: Job,
        now: Time,
    ) {
        self.depth.sent(data_bytes, now);
        self.ready_at = now;
        self.statistics.sent_frames += u64::from(!header.has(flags::RELATED));
        self.outstanding.push(Pending {
            message_id: header.message_id,
            command: header.command,
            sent_at: now,
            credits_asked: header.credits,
            interim: false,
            signed: header.has(flags::SIGNED),
            sealed: matches!(outgoing.guard, Guard::Sealed),
            data_bytes,
            job,
        });
    }

    fn data_outgoing(&self, command: Command, tree_id: TreeId, payload: u32) -> Outgoing {
        Outgoing {
            command,
            tree_id,
            payload,
            guard: self.keys.data_guard(tree_id),
            replay: false,
        }
    }

    fn send_read(&mut self, piece: ReadPiece, block: Reservation, now: Time) -> Result<()> {
        let length = u32::try_from(piece.range.end - piece.range.start).unwrap_or(u32::MAX);
        let outgoing = self.data_outgoing(Command::READ, piece.place.tree_id, length);
        let header = self.header(&outgoing)?;
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        ReadRequest {
            length,
            offset: piece.range.start,
            file: piece.place.file,
        }
        .encode(&mut body);
        self.expect(
            &header,
            &outgoing,
            length,
            Job::Read {
                piece,
                block: Some(block),
            },
            now,
        );
        let sent = self.push(&header, &body, &outgoing).map(drop);
        self.body = body;
        sent
    }

    /// Sends a piece of a source: from its block, which is filled here, or left to be found by the driver.
    fn send_from(&mut self, piece: ReadPiece, block: Option<Reservation>, now: Time) -> Result<()> {
        let length = u32::try_from(piece.range.end - piece.range.start).unwrap_or(u32::MAX);
        let Some(source) = piece.transfer.source.clone() else {
            return Ok(());
        };
        let mut payload = None;
        if let Some(reservation) = block {
            let mut block = reservation.into_block();
            let room = &mut block.buffer()[..length as usize];
            if let Err(error) = source.fill(piece.range.start, room) {
                let error = Error::Source(Arc::new(error));
                self.session.source_failed(self.number, &piece, error);
                return Ok(());
            }
            payload = Some(block.into_payload(length as usize));
        }
        let mut outgoing = self.data_outgoing(Command::WRITE, piece.place.tree_id, length);
        outgoing.replay = piece.tries.is_replay();
        let header = self.header(&outgoing)?;
        let head = WriteRequest::head(piece.range.start, length, piece.place.file, 0);
        if let Some(payload) = &mut payload {
            let range = write_frame(payload, &header, &head, length, &outgoing.guard)?;
            self.push_frame(header.message_id, range, &outgoing.guard);
        } else {
            self.transmit.push_head(&header, &head, length as usize);
            self.transmit
                .push_origin(header.message_id, piece.range.clone(), source);
        }
        let job = Job::WriteFrom {
            piece,
            payload,
            length,
        };
        self.expect(&header, &outgoing, length, job, now);
        Ok(())
    }

    fn send_write(
        &mut self,
        mut write: Write,
        tree_id: TreeId,
        file: FileId,
        length: u32,
        now: Time,
    ) -> Result<()> {
        let mut outgoing = self.data_outgoing(Command::WRITE, tree_id, length);
        outgoing.replay = write.tries.is_replay();
        let header = self.header(&outgoing)?;
        let head = WriteRequest::head(write.offset, length, file, 0);
        let range = write_frame(&mut write.payload, &header, &head, length, &outgoing.guard)?;
        let job = Job::Write { write, length };
        self.expect(&header, &outgoing, length, job, now);
        self.push_frame(header.message_id, range, &outgoing.guard);
        Ok(())
    }

    /// Queues a WRITE that stands in its block.
    fn push_frame(&mut self, message_id: u64, frame: Range<usize>, guard: &Guard) {
        if let Guard::Sealed = guard {
            let message = frame.start + PREFIX_LENGTH..frame.end;
            self.transmit.push_to_seal(message_id, message);
        } else {
            self.transmit.push_write(message_id, frame);
        }
    }

    /// After some silence: is the server still there?
    pub(super) fn echo(&mut self, now: Time) -> Result<()> {
        let idle = self.outstanding.len() == 0;
        if idle && (self.credits.balance() == 0 || self.session.channels_up().len() < 2) {
            // there is no other way; whether this one is dead shows when it is needed
            self.silence.heard(now);
            return Ok(());
        }
        self.silence.asked(now);
        self.headway.asked(now);
        let mut outgoing = Outgoing::new(Command::ECHO);
        outgoing.guard = self.keys.guard(TreeId::NONE);
        let mut body = Vec::new();
        crate::wire::EchoRequest.encode(&mut body);
        self.send(outgoing, &body, Job::Echo, now).map(drop)
    }
}

/// Puts prefix, header and body before the data, and signs all of it in its block. Gives where the
/// frame is.
fn write_frame(
    payload: &mut Payload,
    header: &Header,
    head: &[u8],
    length: u32,
    guard: &Guard,
) -> Result<Range<usize>> {
    let data = payload.range().start;
    let message = data - usize::from(WRITE_DATA_OFFSET);
    let end = data + length as usize;
    let raw = payload.raw_mut();
    raw[message - PREFIX_LENGTH..message].copy_from_slice(&frame_prefix(end - message));
    raw[message..message + HEADER_LENGTH].copy_from_slice(&header.to_bytes());
    raw[message + HEADER_LENGTH..data].copy_from_slice(head);
    if let Guard::Signed(signer) = guard {
        signer.sign(&mut raw[message..end])?;
    }
    Ok(message - PREFIX_LENGTH..end)
}
