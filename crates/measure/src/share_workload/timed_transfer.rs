//! The transfer of a trial: data that moves until the time is over, while its samples are counted.

use std::iter;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use locale::{Message, say};
use record::{
    ConnectionUse, Direction, FileUse, Latency, Nanoseconds, Sample, ShareWorkload, SmbSession,
    TrialLine, TrialResult,
};
use smb::{ChannelStatus, File, Session};

use super::ANSWER_LOOK;
use super::bytes_per_connection::{Directions, connections, total};
use super::session_policy::REQUEST_BYTES;
use super::test_data::{TestData, pieces, whole_blocks};
use crate::interval_sampling::{self, Spans};
use crate::queue_depth_and_latency::{self, Clock, Workers};
use crate::stop_request::{STOP_POLL, spawn, stoppable};
use crate::{Error, Stop, tcp_and_engine_clock};

/// Payload that one credit is worth.
const CREDIT_BYTES: u64 = 64 << 10;

/// When data first moved.
struct First {
    begin: Instant,
    after: OnceLock<Duration>,
}

impl First {
    fn note(&self) {
        self.after.get_or_init(|| self.begin.elapsed());
    }
}

impl smb::Target for First {
    /// Leaves the bytes where they are: their block goes home, and they are counted by now.
    fn put(&self, _: u64, _: &[u8]) -> Result<(), smb::Error> {
        self.note();
        Ok(())
    }
}

/// A trial whose test file is open.
pub(super) struct Test<'a> {
    pub(super) session: &'a Session,
    /// One of each session; the first is that of `session`.
    pub(super) files: Vec<&'a File>,
    pub(super) data: &'a TestData,
    pub(super) workload: &'a ShareWorkload,
    pub(super) stop: &'a Stop,
    /// What operations of their own took.
    pub(super) clock: Clock,
}

/// What came of a transfer.
pub(super) struct Transfer {
    samples: Vec<Sample>,
    /// From its begin to its first byte of payload.
    first: Option<Duration>,
    directions: Directions,
    before: Vec<ChannelStatus>,
    after: Vec<ChannelStatus>,
}

/// Ends a transfer when dropped, so that its thread ends on every way out.
struct Halt(smb::Stop);

impl Drop for Halt {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Test<'_> {
    /// Writes the file that is to be read, or gives it its length only.
    pub(super) fn prepare(&self) -> Result<(), Error> {
        let size = self.workload.file_size.get();
        let Some(file) = self.files.first() else {
            return Ok(());
        };
        if self.workload.file == FileUse::Sparse {
            return Ok(file.set_size(size)?);
        }
        let block = self.workload.block.get().max(REQUEST_BYTES).min(size);
        let ranges = pieces(0..size, block);
        let written = stoppable(
            self.stop,
            STOP_POLL,
            || {},
            |halt| {
                file.write_ranges(ranges, halt, |offset, room| {
                    self.data.fill(offset, room);
                    Ok(())
                })?;
                // Otherwise the server may be busy writing it to its disk while we read.
                file.flush()
            },
        )?;
        Ok(written?)
    }

    pub(super) fn transfer(
        &self,
        spans: &Spans,
        emit: &mut dyn FnMut(&TrialLine),
    ) -> Result<Transfer, Error> {
        let stop = smb::Stop::new();
        let begin = Instant::now();
        let first = Arc::new(First {
            begin,
            after: OnceLock::new(),
        });
        thread::scope(|scope| {
            let _halt = Halt(stop.clone());
            let (ended, heard) = mpsc::channel();
            let (stop, first) = (&stop, &first);
            for &file in &self.files {
                let ended = ended.clone();
                let transfer = move || {
                    let moved = self.move_data(file, stop, first);
                    // Nobody hears it once the trial is over.
                    ended.send(moved).ok();
                };
                spawn(scope, transfer)?;
            }
            let mut transfer = self.count(spans, begin, &heard, emit)?;
            transfer.first = first.after.get().copied();
            Ok(transfer)
        })
    }

    /// Moves data without end: until it is stopped, or something breaks.
    fn move_data(&self, file: &File, stop: &smb::Stop, first: &Arc<First>) -> Result<(), Error> {
        if let Some(operations) = &self.workload.operations {
            let workers = Workers {
                file,
                operations,
                direction: self.workload.direction,
                block: self.workload.block.get(),
                file_size: self.workload.file_size.get(),
                in_flight: queue_depth_and_latency::in_flight(operations, self.workload.depth)?,
                stop,
                clock: &self.clock,
                fill: &|offset, room| self.data.fill(offset, room),
            };
            return workers.run(&|| first.note());
        }
        let end = match self.workload.file {
            FileUse::Whole | FileUse::Sparse => {
                whole_blocks(self.workload.file_size.get(), self.workload.block.get())
            }
            FileUse::OneBlock => self.workload.block.get(),
        };
        let ranges = iter::repeat(0..end);
        match self.workload.direction {
            Direction::Read => {
                let nowhere = Arc::clone(first) as Arc<dyn smb::Target>;
                file.read_to(ranges, nowhere, stop, drop)?;
            }
            Direction::Write => {
                file.write_ranges(ranges, stop, |offset, room| {
                    self.data.fill(offset, room);
                    first.note();
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn count(
        &self,
        spans: &Spans,
        begin: Instant,
        heard: &Receiver<Result<(), Error>>,
        emit: &mut dyn FnMut(&TrialLine),
    ) -> Result<Transfer, Error> {
        let directions = Directions::of(self.workload);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let patience = spans.alignment();
        let mut payload = || {
            after = self.channels_at_an_answer(patience);
            if before.is_empty() {
                before.clone_from(&after);
                self.clock.count(true);
            }
            total(&after, directions)
        };
        let mut wait = |until| self.wait(heard, until);
        let samples = interval_sampling::count(spans, begin, &mut payload, &mut wait, emit)?;
        self.clock.count(false);
        if samples.iter().all(|sample| sample.bytes.get() == 0) {
            let server = self.workload.share.server.clone();
            return Err(Error::Silence {
                server,
                counted: spans.measured,
            });
        }
        Ok(Transfer {
            samples,
            first: None,
            directions,
            before,
            after,
        })
    }

    /// The channels just after an answer has come.
    ///
    /// A channel counts a READ when its whole reply has come and is good, and a WRITE when the
    /// server has confirmed it: what was only sent does not count. Counted in whole blocks at any
    /// moment, a second at 1 Gbit/s is wrong by up to one block of 112. From answer to answer it is
    /// not. Where none comes for some time, the moment is as good as any.
    fn channels_at_an_answer(&self, patience: Duration) -> Vec<ChannelStatus> {
        let deadline = Instant::now() + patience;
        let directions = Directions::of(self.workload);
        let before = total(&self.session.channels(), directions);
        loop {
            let channels = self.session.channels();
            let answered = total(&channels, directions) != before;
            if answered || Instant::now() >= deadline {
                return channels;
            }
            thread::sleep(ANSWER_LOOK);
        }
    }

    fn wait(&self, heard: &Receiver<Result<(), Error>>, until: Instant) -> Result<(), Error> {
        loop {
            if self.stop.is_asked() {
                return Err(Error::Stopped);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            match heard.recv_timeout(left.min(STOP_POLL)) {
                Ok(Err(error)) => return Err(error),
                Ok(Ok(())) => {
                    let server = self.workload.share.server.clone();
                    return Err(Error::Silence {
                        server,
                        counted: Duration::ZERO,
                    });
                }
                Err(_) => {}
            }
        }
    }
}

impl Transfer {
    /// The trial's result, once its files are closed; `last` are the channels as they are then.
    pub(super) fn into_result(
        self,
        agreed: Option<SmbSession>,
        last: &[ChannelStatus],
        set_up: Duration,
        latency: Option<Latency>,
    ) -> TrialResult {
        let credits = self.credits();
        let agreed = agreed.map(|session| SmbSession {
            credits,
            credit_waits: self.after.first().map(|channel| channel.credit_starved),
            ..session
        });
        let counted: Nanoseconds = self.samples.iter().map(|one| one.duration).sum();
        let counted = Duration::from(counted);
        let engine = tcp_and_engine_clock::engine(&self.before, &self.after, counted);
        TrialResult {
            connections: self.connections(counted, last),
            samples: self.samples,
            first_byte: self.first.map(|first| (set_up + first).into()),
            session: agreed,
            far_retransmits: None,
            latency,
            storage: None,
            playback: None,
            engine: Some(engine),
            sandbox: None,
        }
    }

    /// What each connection moved in the counted time, and what TCP did in it; by the last look, what it moved in its
    /// whole life.
    fn connections(&self, counted: Duration, last: &[ChannelStatus]) -> Vec<ConnectionUse> {
        let mut used = connections(&self.before, &self.after, self.directions);
        for (used, after) in used.iter_mut().zip(&self.after) {
            let whole = tcp_and_engine_clock::same(last, after).and_then(|last| last.tcp);
            let whole = whole.as_ref().and_then(crate::tcp_detail);
            if let (Some(tcp), Some(whole)) = (&mut used.tcp, whole) {
                (tcp.sent, tcp.received) = (whole.sent, whole.received);
            }
            let before =
                tcp_and_engine_clock::same(&self.before, after).and_then(|before| before.tcp);
            used.clock = before
                .zip(after.tcp)
                .and_then(|(before, after)| tcp_and_engine_clock::tcp(&before, &after, counted));
        }
        used
    }

    /// The most credits that the first channel had: those that were left and those in use.
    fn credits(&self) -> Option<u64> {
        let held = |channel: &ChannelStatus| {
            channel.credits + channel.bytes_in_flight.div_ceil(CREDIT_BYTES)
        };
        let firsts = [self.before.first(), self.after.first()];
        firsts.into_iter().flatten().map(held).max()
    }

    /// What people must know about the channels that were wanted.
    pub(super) fn losses(&self, wanted: u32) -> Vec<Message> {
        let mut losses = Vec::new();
        for channel in &self.after {
            let of_pair = |id| {
                say(id)
                    .with("local", channel.local.ip())
                    .with("remote", channel.remote.ip())
            };
            if !channel.alive {
                losses.push(of_pair("rejected-channel.lost"));
            }
            if let Some(reason) = &channel.not_bound_because {
                losses.push(of_pair("rejected-channel.pair").with("reason", reason));
            }
        }
        if self.after.len() < wanted as usize {
            let came_up = say("rejected-channel.came-up").count("count", self.after.len());
            losses.push(came_up.count("wanted", wanted));
        }
        losses
    }
}
