//! Work for a channel that asks for some: requests first, then READs and WRITEs in turn.

use std::sync::Arc;

use super::handles::Place;
use super::read_write_ranges::{ReadPiece, Transfer, Write};
use super::{Calls, Phase, State};
use crate::monotonic_time::Time;
use crate::payload_block_pool::{BlockPool, Reservation};
use crate::session::ChannelNumber;
use crate::session::compound_requests;
use crate::session::hedged_reads::InFlightRead;
use crate::session::request_codec::{self, Prepared};
use crate::session::request_types::{Reply, Request};
use crate::session::submitted_request::Control;

/// Something for a channel to do.
pub(crate) enum Work {
    Control(Control, Prepared),
    Chain(Control, Vec<Prepared>),
    Read(ReadPiece, Reservation),
    /// A block is to be filled; without the right to one, the driver finds the bytes at their origin.
    WriteFrom(ReadPiece, Option<Reservation>),
    Write(Write, Place, u32),
}

/// What a channel could take now.
#[derive(Clone, Copy, Default)]
pub(crate) struct Appetite {
    /// Most bytes of payload of anything else.
    pub(crate) control_bytes: u32,
    /// How many credits a chain may take.
    pub(crate) credits: u32,
    /// Nothing is under way, so there will be no more credits.
    pub(crate) idle: bool,
    /// Most bytes of a READ; zero: none.
    pub(crate) read_bytes: u32,
    /// Most bytes of a WRITE; zero: none.
    pub(crate) write_bytes: u32,
    pub(crate) now: Time,
    /// Bytes can go directly from their origin to the server where its share is not encrypted.
    pub(crate) from_origins: bool,
}

/// What [`State::pull`] found.
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart at once, and a box for each request would cost more"
)]
pub(crate) enum Pull {
    Work(Work),
    /// There are READs or WRITEs, but no block for them or no appetite.
    DataWaits,
    Nothing,
    /// The session has expired, and this channel is to log in again.
    Renew,
}

impl State {
    /// Whether there are READs or WRITEs that no channel has taken.
    pub(crate) fn data_waits(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty()
    }

    /// Something to do for a channel, if there is anything it has appetite for.
    pub(crate) fn pull(
        &mut self,
        number: ChannelNumber,
        appetite: Appetite,
        pool: &BlockPool,
        server: &str,
        calls: &mut Calls,
    ) -> Pull {
        if self.claims_renewal(number) {
            return Pull::Renew;
        }
        if self.renewal.is_some() {
            return Pull::Nothing;
        }
        if let Phase::Lost(_) | Phase::Restoring(_) = self.phase {
            let work = self.restoring_work(number, appetite, server);
            if let Some(channel) = self.channels.get_mut(&number) {
                channel.outstanding += usize::from(work.is_some());
            }
            return work.map_or(Pull::Nothing, Pull::Work);
        }
        let work = self.control_work(appetite, server, calls).or_else(|| {
            let write_first = self.write_next;
            self.write_next = !write_first;
            if write_first && let Some(work) = self.write_work(appetite, calls) {
                return Some(work);
            }
            self.read_work(number, appetite, pool, calls)
                .or_else(|| self.write_work(appetite, calls))
                .or_else(|| self.hedge_read(number, appetite, pool))
        });
        let data_waits = self.data_waits();
        if let Some(channel) = self.channels.get_mut(&number) {
            channel.hungry = work.is_none();
            channel.outstanding += usize::from(work.is_some());
        }
        match work {
            Some(work) => Pull::Work(work),
            None if data_waits => Pull::DataWaits,
            None => Pull::Nothing,
        }
    }

    fn restoring_work(
        &mut self,
        number: ChannelNumber,
        appetite: Appetite,
        server: &str,
    ) -> Option<Work> {
        loop {
            let control = self.next_to_restore(number)?;
            let prepared =
                request_codec::prepare(self, server, &control.request, appetite.control_bytes);
            match prepared {
                Ok(prepared) => return Some(Work::Control(control, prepared)),
                Err(error) => self.cannot_restore(number, &control, error),
            }
        }
    }

    fn control_work(
        &mut self,
        appetite: Appetite,
        server: &str,
        calls: &mut Calls,
    ) -> Option<Work> {
        while let Some(mut control) = self.control.pop_front() {
            self.ask_to_keep(&mut control.request, self.client_guid);
            if control.tries.is_replay() && self.was_renamed(&control.request) {
                calls.push((control.sink, Ok(Reply::Done)));
                continue;
            }
            let multichannel = self
                .login()
                .is_some_and(|login| login.negotiated.multichannel);
            if matches!(control.request, Request::Interfaces { .. }) && !multichannel {
                calls.push((control.sink, Ok(Reply::Interfaces(Vec::new()))));
                continue;
            }
            if let Request::Chain(links) = &control.request {
                if self.avoids_chains {
                    self.unaffordable.push(control);
                } else if appetite.credits as usize >= links.len() {
                    match compound_requests::prepare(self, server, links, appetite) {
                        Ok(prepared) => return Some(Work::Chain(control, prepared)),
                        Err(error) => calls.push((control.sink, Err(error))),
                    }
                } else if appetite.idle {
                    self.unaffordable.push(control);
                } else {
                    self.control.push_front(control);
                    return None;
                }
                continue;
            }
            match request_codec::prepare(self, server, &control.request, appetite.control_bytes) {
                Ok(prepared) => {
                    match &control.request {
                        Request::Flush { file } => control.covers = self.changes(*file),
                        Request::Set { file, what } => self.note_change(*file, Some(what)),
                        Request::CopyChunks { to: file, .. }
                        | Request::Clone { to: file, .. }
                        | Request::SetSparse { file } => {
                            self.note_change(*file, None);
                        }
                        _ => {}
                    }
                    return Some(Work::Control(control, prepared));
                }
                Err(error) => {
                    if let Request::Close { file } = control.request {
                        self.forget_file(file);
                    }
                    calls.push((control.sink, Err(error)));
                }
            }
        }
        None
    }

    /// A READ, or a WRITE from a source: a piece of the transfer that waits longest.
    fn read_work(
        &mut self,
        number: ChannelNumber,
        appetite: Appetite,
        pool: &BlockPool,
        calls: &mut Calls,
    ) -> Option<Work> {
        loop {
            let (key, place) = self.oldest_transfer(calls)?;
            let record = self.transfers.get(&key)?;
            let most = match &record.transfer.source {
                Some(_) => appetite.write_bytes,
                None => appetite.read_bytes,
            };
            if most == 0 {
                return None;
            }
            if record.has_ranges() {
                let transfer = Arc::clone(&record.transfer);
                return self.next_piece(number, appetite, pool, (transfer, place), most);
            }
            self.reads.pop_front();
        }
    }

    /// The transfer that waits longest, and where its file is. One whose file is gone fails.
    fn oldest_transfer(&mut self, calls: &mut Calls) -> Option<(u64, Place)> {
        loop {
            let key = *self.reads.front()?;
            match self
                .transfers
                .get(&key)
                .map(|record| self.place(record.file))
            {
                Some(Ok(place)) => return Some((key, place)),
                Some(Err(error)) => {
                    self.reads.pop_front();
                    calls.extend(self.fail_transfer(key, error));
                }
                None => {
                    self.reads.pop_front();
                }
            }
        }
    }

    /// The next piece of a transfer, of so many bytes at most; none: there is no block for it.
    fn next_piece(
        &mut self,
        number: ChannelNumber,
        appetite: Appetite,
        pool: &BlockPool,
        (transfer, place): (Arc<Transfer>, Place),
        most: u32,
    ) -> Option<Work> {
        let key = transfer.key;
        let source = transfer.source.clone();
        let from_origin = !place.tree_id.encrypted
            && appetite.from_origins
            && source
                .as_ref()
                .is_some_and(|source| source.origin().is_some());
        // the receiver must never wait for memory: no READ without a block
        let block = if from_origin {
            None
        } else {
            Some(pool.reserve(&self.channels.get(&number)?.waker)?)
        };
        let chunk = self.chunk(key, most);
        let record = self.transfers.get_mut(&key)?;
        let (range, tries) = record.next_range(chunk)?;
        record.in_flight += 1;
        let file = record.file;
        let piece = ReadPiece {
            transfer,
            place,
            range,
            tries,
            copies: Arc::default(),
        };
        if source.is_none() {
            record
                .asked
                .push(InFlightRead::new(&piece, number, appetite.now));
        }
        if !record.has_ranges() {
            self.reads.pop_front();
        }
        if source.is_some() {
            self.note_change(file, None);
        }
        Some(match block {
            Some(block) if source.is_none() => Work::Read(piece, block),
            block => Work::WriteFrom(piece, block),
        })
    }

    /// How much to ask for next: less towards the end, so that all channels end together.
    fn chunk(&self, key: u64, most: u32) -> u64 {
        const GRANULE: u64 = 1 << 16;
        let most = u64::from(most);
        let channels = self.channels.values().filter(|channel| channel.up).count() as u64;
        let Some(record) = self.transfers.get(&key).filter(|_| channels > 1) else {
            return most;
        };
        let rest = record.rest.end - record.rest.start;
        let share = (rest / (2 * channels)).next_multiple_of(GRANULE);
        share.clamp(GRANULE.min(most), most)
    }

    fn write_work(&mut self, appetite: Appetite, calls: &mut Calls) -> Option<Work> {
        if appetite.write_bytes == 0 {
            return None;
        }
        while let Some(write) = self.writes.pop_front() {
            match self.place(write.file) {
                Ok(place) => {
                    self.note_change(write.file, None);
                    let most = usize::try_from(appetite.write_bytes).unwrap_or(usize::MAX);
                    let length = write.payload.len().min(most);
                    let length = u32::try_from(length).unwrap_or(appetite.write_bytes);
                    return Some(Work::Write(write, place, length));
                }
                Err(error) => calls.push((write.sink, Err(error))),
            }
        }
        None
    }
}
