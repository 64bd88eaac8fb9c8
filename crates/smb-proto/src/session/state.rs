//! What a session's lock guards. Nothing here waits, and nothing here sees payload.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::chain;
use super::control::{self, Control, Prepared};
use super::hedge::{Copies, InFlightRead};
use super::request::{CreateOptions, Created, Reply, Request};
use super::restore::{self, LeaseRecord, Restoring};
use super::retry::{self, Lost, Tries};
use super::{ChannelNumber, FileKey, Negotiated, SessionSettings, Sink, Source, TreeKey};
use crate::block::{BlockPool, Payload, Reservation};
use crate::crypto::Signer;
use crate::error::{Error, NtStatus, Result};
use crate::sealing::SealingKeys;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::time::Time;
use crate::trickle::{TooLittle, Trickle};
use crate::wire::FileId;

/// Sinks to call once the lock is free.
pub(crate) type Calls = Vec<(Arc<dyn Sink>, Result<Reply>)>;

/// Calls them.
pub(crate) fn call(calls: Calls) {
    for (sink, outcome) in calls {
        sink.done(outcome);
    }
}

/// What all channels of a logged-in session share.
pub(crate) struct Login {
    pub(crate) session_id: u64,
    pub(crate) negotiated: Negotiated,
    /// As in the server's NEGOTIATE reply, to compare with that of further channels.
    pub(crate) security_mode: u16,
    pub(crate) capabilities: u32,
    /// Session.SigningKey; none for guests.
    pub(crate) signer: Option<Signer>,
    /// The keys to encrypt with, if a cipher was agreed; none for guests.
    pub(crate) sealing: Option<SealingKeys>,
}

pub(crate) enum Phase {
    /// No channel has logged in yet.
    Fresh,
    Up(Arc<Login>),
    /// The last channel was lost; the next one logs in anew.
    Lost(Arc<Login>),
    /// It has, and shares and files are being restored.
    Restoring(Arc<Login>),
    Ended(Option<Arc<Error>>),
}

/// What a channel joins a session for.
pub(crate) enum Joins {
    /// To log in.
    First,
    /// To bind to this login.
    Binds(Arc<Login>),
    /// To log in again after this login was lost.
    After(Arc<Login>),
}

/// The login again, of a session that has expired.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Renewal {
    /// This channel shall do it.
    Wanted(ChannelNumber),
    /// It does.
    InProgress(ChannelNumber),
    /// No channel can; all of them end, and the session is made anew.
    Impossible,
}

/// How the server knows a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeId {
    pub(crate) number: u32,
    /// Its requests must be encrypted.
    pub(crate) encrypted: bool,
}

impl TreeId {
    /// For requests that are about no share.
    pub(crate) const NONE: Self = Self {
        number: 0,
        encrypted: false,
    };
}

pub(crate) struct TreeRecord {
    pub(crate) id: TreeId,
    pub(crate) share: Box<str>,
    /// Why it could not be restored.
    pub(crate) gone: Option<Error>,
}

pub(crate) struct FileRecord {
    pub(crate) tree: TreeKey,
    pub(crate) id: FileId,
    pub(crate) path: Box<str>,
    /// As it was opened.
    pub(crate) options: CreateOptions,
    /// As it was when it was opened.
    pub(crate) created: Created,
    /// The server keeps the handle when the connection is lost.
    pub(crate) durable: bool,
    /// We may have changed it.
    pub(crate) changed: bool,
    /// The server has confirmed that it has so many bytes.
    pub(crate) confirmed_bytes: u64,
    /// So many changes of its content were confirmed.
    pub(crate) changes: u64,
    /// So many of them a FLUSH has put on storage.
    pub(crate) flushed: u64,
    /// All channels were lost before the rest was, and nobody knows yet whether the server kept the
    /// handle.
    pub(crate) at_risk: bool,
    /// It did not: some of that may be missing.
    pub(crate) in_doubt: bool,
    /// Some of its entries were listed.
    pub(crate) listed: bool,
    /// Where it may be by now.
    pub(crate) path_in_doubt: Option<Box<str>>,
    /// Why it could not be restored.
    pub(crate) gone: Option<Error>,
    /// The server knows its handle.
    pub(crate) is_open: bool,
}

pub(super) struct ChannelRecord {
    pub(super) waker: Waker,
    up: bool,
    /// It looked for work and found none.
    hungry: bool,
    outstanding: usize,
}

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
pub(super) struct TransferRecord {
    pub(super) transfer: Arc<Transfer>,
    pub(super) file: FileKey,
    /// Not asked for yet.
    rest: Range<u64>,
    /// To be asked for again: what short READs and lost channels left over.
    again: Vec<(Range<u64>, Tries)>,
    /// Pieces that are asked for.
    under_way: usize,
    /// Which of them another channel might ask for as well.
    pub(super) asked: Vec<InFlightRead>,
    bytes: u64,
    trickle: Trickle,
    /// When it was answered last.
    answered_at: Time,
    failure: Option<Error>,
}

impl TransferRecord {
    /// A piece was answered with so many bytes.
    fn check_pace(&mut self, piece: &ReadPiece, bytes: u32, waited: Waited) -> Result<()> {
        let alone = waited.since(self.answered_at);
        self.answered_at = waited.until;
        let asked = piece.range.end - piece.range.start;
        check_pace(&mut self.trickle, bytes, asked, alone)
    }

    fn has_ranges(&self) -> bool {
        !self.again.is_empty() || !self.rest.is_empty()
    }

    /// A piece is no longer under way.
    fn one_less(&mut self, piece: &ReadPiece) {
        self.under_way -= 1;
        self.asked.retain(|asked| !asked.is(piece));
    }

    fn is_over(&self) -> bool {
        self.under_way == 0 && !self.has_ranges()
    }

    fn next_range(&mut self, chunk: u64) -> Option<(Range<u64>, Tries)> {
        let (from, tries) = match self.again.last_mut() {
            Some((range, tries)) => (range, *tries),
            None => (&mut self.rest, Tries::default()),
        };
        let start = from.start;
        let end = from.end.min(start.saturating_add(chunk));
        from.start = end;
        self.again.retain(|(range, _)| !range.is_empty());
        (start < end).then_some((start..end, tries))
    }

    fn stop(&mut self, failure: Error) {
        self.transfer.stopped.store(true, Ordering::Relaxed);
        self.failure.get_or_insert(failure);
        self.rest = 0..0;
        self.again.clear();
    }

    /// There is nothing from here on.
    fn end_at(&mut self, offset: u64) {
        self.rest.end = self.rest.end.min(offset.max(self.rest.start));
        for (range, _) in &mut self.again {
            range.end = range.end.min(offset.max(range.start));
        }
        self.again.retain(|(range, _)| !range.is_empty());
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
    fn since(self, other: Time) -> Duration {
        self.until.since(self.from.max(other))
    }
}

/// Takes so many bytes of those that were asked for. An error: it goes on like that.
fn check_pace(trickle: &mut Trickle, bytes: u32, asked: u64, waited: Duration) -> Result<()> {
    if u64::from(bytes) >= asked {
        trickle.was_whole();
        return Ok(());
    }
    trickle.was_short(bytes.into(), waited).map_err(|little| {
        let TooLittle { amount, answers } = little;
        Error::Trickles(format!(
            "it answers {bytes} bytes where {asked} are asked for, and so on: {amount} bytes in {answers} answers"
        ))
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

/// Where the server finds a file.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) tree_id: TreeId,
    pub(crate) file: FileId,
}

/// A piece of a read, or of a write from a source.
pub(crate) struct ReadPiece {
    pub(crate) transfer: Arc<Transfer>,
    pub(crate) place: Place,
    pub(crate) range: Range<u64>,
    pub(crate) tries: Tries,
    pub(crate) copies: Arc<Copies>,
}

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

pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) logged_off: bool,
    /// Counts lost channels; goes into every request of 3.x.
    pub(crate) channel_sequence: u16,
    pub(super) channels: BTreeMap<ChannelNumber, ChannelRecord>,
    next_channel: u16,
    pub(crate) trees: BTreeMap<u32, TreeRecord>,
    pub(crate) files: BTreeMap<u32, FileRecord>,
    next_key: u32,
    pub(crate) control: VecDeque<Control>,
    /// Chains that no server's credits suffice for, or that it cannot sign.
    pub(super) unaffordable: Vec<Control>,
    /// The server signs replies of a chain without their padding: what is chained goes alone.
    pub(super) avoids_chains: bool,
    pub(super) transfers: BTreeMap<u64, TransferRecord>,
    /// Transfers that have ranges to ask for, oldest first.
    reads: VecDeque<u64>,
    next_transfer: u64,
    writes: VecDeque<Write>,
    /// What the server was not ready for, and when to ask again.
    pub(crate) later: Vec<(Time, Lost)>,
    /// When a READ has been under way for so long that another channel asks for it as well.
    pub(super) slow_at: Option<Time>,
    /// Whose turn it is when both READs and WRITEs wait.
    write_next: bool,
    /// Whether there may be channels again when there is none.
    pub(crate) reconnects: bool,
    pub(crate) restore_time_max: Duration,
    client_guid: [u8; 16],
    pub(crate) next_guid: u64,
    /// The channel that logged in, and did not bind.
    login_channel: Option<ChannelNumber>,
    renewal: Option<Renewal>,
    pub(crate) restoring: Restoring,
    pub(crate) leases: BTreeMap<[u8; 16], LeaseRecord>,
}

impl State {
    pub(crate) fn new(settings: &SessionSettings) -> Self {
        Self {
            phase: Phase::Fresh,
            logged_off: false,
            channel_sequence: 0,
            channels: BTreeMap::new(),
            next_channel: 0,
            trees: BTreeMap::new(),
            files: BTreeMap::new(),
            next_key: 1,
            control: VecDeque::new(),
            unaffordable: Vec::new(),
            avoids_chains: false,
            transfers: BTreeMap::new(),
            reads: VecDeque::new(),
            next_transfer: 0,
            writes: VecDeque::new(),
            later: Vec::new(),
            slow_at: None,
            write_next: false,
            reconnects: settings.reconnect,
            restore_time_max: settings.restore_time_max,
            client_guid: settings.client_guid,
            next_guid: 0,
            login_channel: None,
            renewal: None,
            restoring: Restoring::default(),
            leases: BTreeMap::new(),
        }
    }

    // channels

    /// Enters a channel; gives the login to bind to or to log in again after.
    pub(crate) fn join(&mut self, waker: Waker) -> Result<(ChannelNumber, Joins)> {
        if self.channels.values().any(|channel| !channel.up) {
            return Err(Error::InvalidRequest(
                "another channel is being opened".into(),
            ));
        }
        let joins = match &self.phase {
            Phase::Fresh => Joins::First,
            Phase::Up(login) | Phase::Restoring(login) => Joins::Binds(Arc::clone(login)),
            Phase::Lost(login) => Joins::After(Arc::clone(login)),
            Phase::Ended(cause) => return Err(Error::SessionEnded(cause.clone())),
        };
        let number = ChannelNumber(self.next_channel);
        // a number goes into nonces, so it is never used twice
        self.next_channel = self
            .next_channel
            .checked_add(1)
            .ok_or_else(|| Error::InvalidRequest("the session has had too many channels".into()))?;
        let record = ChannelRecord {
            waker,
            up: false,
            hungry: false,
            outstanding: 0,
        };
        self.channels.insert(number, record);
        Ok((number, joins))
    }

    pub(crate) fn channel_up(&mut self, number: ChannelNumber, login: &Arc<Login>) {
        if let Some(channel) = self.channels.get_mut(&number) {
            channel.up = true;
        }
        let bound = self
            .login()
            .is_some_and(|before| Arc::ptr_eq(before, login));
        if !bound {
            self.login_channel = Some(number);
        }
        match &self.phase {
            Phase::Fresh => self.phase = Phase::Up(Arc::clone(login)),
            // it was binding when the last one was lost, and the server did not lose the session
            Phase::Lost(before) if Arc::ptr_eq(before, login) => {
                self.phase = Phase::Up(Arc::clone(login));
            }
            Phase::Lost(_) => self.begin_restoring(Arc::clone(login)),
            Phase::Up(_) | Phase::Restoring(_) | Phase::Ended(_) => {}
        }
    }

    /// Removes a channel and takes back what it had under way. If it was the last one, all waits
    /// for another, or the session ends; it also ends if the first could not log in.
    pub(crate) fn leave(
        &mut self,
        number: ChannelNumber,
        cause: Option<Arc<Error>>,
        lost: Vec<Lost>,
    ) -> Calls {
        let was_up = self
            .channels
            .remove(&number)
            .is_some_and(|channel| channel.up);
        if was_up {
            self.channel_sequence = self.channel_sequence.wrapping_add(1);
        }
        self.restoring.leave(number);
        let last = !self.channels.values().any(|channel| channel.up);
        self.login_channel.take_if(|login| *login == number);
        self.renewal.take_if(|renewal| match renewal {
            Renewal::Wanted(by) | Renewal::InProgress(by) => *by == number,
            Renewal::Impossible => last,
        });
        let mut calls = Calls::new();
        if last
            && was_up
            && self.reconnects
            && restore::is_worth_waiting(cause.as_ref())
            && let Some(login) = self.login().cloned()
        {
            for lost in lost.into_iter().rev() {
                calls.extend(self.take_back(number, lost, cause.as_ref()));
            }
            calls.extend(self.wait_for_channel(login));
            return calls;
        }
        if last && (was_up || matches!(self.phase, Phase::Fresh)) && self.check_open().is_ok() {
            for lost in lost {
                let error = retry::loss(number, lost.doing(), cause.as_ref());
                calls.extend(self.give_up(lost, error));
            }
            calls.extend(self.end(cause));
            return calls;
        }
        // what was sent first shall be sent first again
        for lost in lost.into_iter().rev() {
            calls.extend(self.take_back(number, lost, cause.as_ref()));
        }
        // one of them has to look when it is time for what was put off
        self.wake_all();
        calls
    }

    pub(crate) fn wake_all(&mut self) {
        for channel in self.channels.values_mut() {
            channel.hungry = false;
            channel.waker.wake_by_ref();
        }
    }

    /// What a lost channel had under way waits for another one, if it may be sent again.
    fn take_back(
        &mut self,
        number: ChannelNumber,
        mut lost: Lost,
        cause: Option<&Arc<Error>>,
    ) -> Calls {
        if matches!(&lost, Lost::Control(control) if control.restores.is_some()) {
            return Calls::new();
        }
        let error = match self.check_open() {
            Ok(()) => retry::loss(number, lost.doing(), cause),
            Err(ended) => ended,
        };
        if self.check_open().is_err() || !lost.may_retry() {
            return self.give_up(lost, error);
        }
        match lost {
            Lost::Control(control) => self.control.push_front(control),
            Lost::Write(write) => self.writes.push_front(write),
            Lost::Read(piece) => return self.read_again(piece),
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
    fn read_again(&mut self, piece: ReadPiece) -> Calls {
        let key = piece.transfer.key;
        if !piece.copies.lose() {
            return Calls::new();
        }
        if let Some(transfer) = self.transfers.get_mut(&key) {
            transfer.one_less(&piece);
            if transfer.failure.is_none() {
                transfer.again.push((piece.range, piece.tries));
                self.queue_read(key);
            }
        }
        self.end_transfer_if_over(key)
    }

    /// Its ranges may all have been under way, then a transfer is not in the queue.
    fn queue_read(&mut self, key: u64) {
        if !self.reads.contains(&key) {
            self.reads.push_front(key);
            self.wake_hungry();
        }
    }

    /// The server is not ready for this one.
    pub(crate) fn put_off(&mut self, until: Time, work: Lost) {
        self.later.push((until, work));
    }

    /// A request was not done because the session has expired. Whether this channel shall log in
    /// again.
    pub(crate) fn expired(&mut self, number: ChannelNumber, mut work: Lost) -> (bool, Calls) {
        self.one_less(number);
        let failure = match self.check_open() {
            Ok(()) if work.tries().expired() => None,
            Ok(()) => Some(self.refusal(&work, NtStatus::NETWORK_SESSION_EXPIRED)),
            Err(ended) => Some(ended),
        };
        let calls = match (failure, work) {
            (Some(failure), Lost::Control(control)) if control.restores.is_some() => {
                self.cannot_restore(number, &control, failure);
                Calls::new()
            }
            (Some(failure), work) => self.give_up(work, failure),
            (None, Lost::Control(control)) if control.restores.is_some() => {
                self.restoring.expired(number, control);
                Calls::new()
            }
            (None, Lost::Control(control)) => {
                self.control.push_front(control);
                Calls::new()
            }
            (None, Lost::Write(write)) => {
                self.writes.push_front(write);
                Calls::new()
            }
            (None, Lost::Read(piece)) => self.read_again(piece),
        };
        if self.renewal.is_none() && self.check_open().is_ok() {
            self.renewal = Some(match self.renews(number) {
                Some(by) => Renewal::Wanted(by),
                None => Renewal::Impossible,
            });
            self.wake_all();
        }
        (self.claims_renewal(number), calls)
    }

    /// Which channel logs in again. What it sends then is to be signed with the session's key
    /// (3.2.4.1.1), and servers verify it by the channel's (3.3.5.2.4): only on the channel that
    /// logged in they are the same. Where nothing of that is signed, any channel can.
    fn renews(&self, number: ChannelNumber) -> Option<ChannelNumber> {
        let negotiated = &self.login()?.negotiated;
        match negotiated.signing && !negotiated.encryption {
            true => self.login_channel,
            false => Some(number),
        }
    }

    fn claims_renewal(&mut self, number: ChannelNumber) -> bool {
        let claims = self.renewal == Some(Renewal::Wanted(number));
        if claims {
            self.renewal = Some(Renewal::InProgress(number));
        }
        claims
    }

    pub(crate) fn renewed(&mut self) {
        self.renewal = None;
        self.wake_all();
    }

    /// Whether the session has expired and no channel can log in again.
    pub(crate) fn cannot_be_renewed(&self) -> bool {
        self.renewal == Some(Renewal::Impossible)
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
                Lost::Read(piece) => calls.extend(self.read_again(piece)),
            }
        }
        self.wake_hungry();
        calls
    }

    /// Ends the session; what waits in queues fails. What is under way, channels report.
    pub(crate) fn end(&mut self, cause: Option<Arc<Error>>) -> Calls {
        if let Phase::Ended(_) = self.phase {
            return Calls::new();
        }
        let error = Error::SessionEnded(cause.clone());
        self.phase = Phase::Ended(cause);
        let mut calls = Calls::new();
        calls.extend(
            self.control
                .drain(..)
                .map(|control| (control.sink, Err(error.clone()))),
        );
        calls.extend(
            self.writes
                .drain(..)
                .map(|write| (write.sink, Err(error.clone()))),
        );
        for (_, lost) in std::mem::take(&mut self.later) {
            calls.extend(self.give_up(lost, error.clone()));
        }
        self.reads.clear();
        let keys: Vec<u64> = self.transfers.keys().copied().collect();
        for key in keys {
            calls.extend(self.fail_transfer(key, error.clone()));
        }
        for channel in self.channels.values() {
            channel.waker.wake_by_ref();
        }
        calls
    }

    pub(crate) fn channels_up(&self) -> Vec<ChannelNumber> {
        self.channels
            .iter()
            .filter(|(_, channel)| channel.up)
            .map(|(number, _)| *number)
            .collect()
    }

    /// For READs and WRITEs: whoever found nothing to do may look again.
    fn wake_hungry(&mut self) {
        for channel in self.channels.values_mut().filter(|channel| channel.hungry) {
            channel.hungry = false;
            channel.waker.wake_by_ref();
        }
    }

    /// For single requests: the channel with the least to do.
    pub(crate) fn wake_idlest(&mut self) {
        let channels = self.channels.values_mut().filter(|channel| channel.up);
        if let Some(channel) = channels.min_by_key(|channel| channel.outstanding) {
            channel.hungry = false;
            channel.waker.wake_by_ref();
        }
    }

    // tables

    pub(crate) fn next_key(&mut self) -> u32 {
        loop {
            let key = self.next_key;
            self.next_key = self.next_key.wrapping_add(1);
            if key != 0 && !self.trees.contains_key(&key) && !self.files.contains_key(&key) {
                return key;
            }
        }
    }

    pub(crate) fn tree(&self, key: TreeKey) -> Result<&TreeRecord> {
        let record = self.trees.get(&key.0);
        let record = record.ok_or_else(|| Error::InvalidRequest("no such share".into()))?;
        record.gone.clone().map_or(Ok(record), Err)
    }

    pub(crate) fn file(&self, key: FileKey) -> Result<(TreeId, FileId)> {
        let all_or_nothing = self.file_record(key)?.options.all_or_nothing;
        match all_or_nothing {
            true => self.sure_file(key),
            false => self.file_to_remove(key),
        }
    }

    /// The same, if nothing that was written can be missing.
    pub(crate) fn sure_file(&self, key: FileKey) -> Result<(TreeId, FileId)> {
        let record = self.file_record(key)?;
        if record.gone.is_none() && record.in_doubt {
            let path = record.path.to_string();
            let problem = "what was not flushed may be lost";
            return Err(Error::FileChanged { path, problem });
        }
        self.file_to_remove(key)
    }

    /// The same, whatever may be missing.
    pub(crate) fn file_to_remove(&self, key: FileKey) -> Result<(TreeId, FileId)> {
        let record = self.file_record(key)?;
        match &record.gone {
            Some(error) => Err(error.clone()),
            None => Ok((self.tree(record.tree)?.id, record.id)),
        }
    }

    /// Where a file is to be closed: also one that turned out to be another.
    pub(crate) fn file_to_close(&self, key: FileKey) -> Result<(TreeId, FileId)> {
        let record = self.file_record(key)?;
        match &record.gone {
            Some(error) if !record.is_open => Err(error.clone()),
            _ => Ok((self.tree(record.tree)?.id, record.id)),
        }
    }

    fn file_record(&self, key: FileKey) -> Result<&FileRecord> {
        self.files
            .get(&key.0)
            .ok_or_else(|| Error::InvalidRequest("no such open file".into()))
    }

    pub(super) fn place(&self, key: FileKey) -> Result<Place> {
        self.file(key)
            .map(|(tree_id, file)| Place { tree_id, file })
    }

    /// Whether a file was opened by the POSIX extensions.
    pub(crate) fn is_posix(&self, key: FileKey) -> bool {
        let record = self.files.get(&key.0);
        record.is_some_and(|record| record.options.posix.is_some())
    }

    pub(crate) fn path(&self, key: FileKey) -> &str {
        self.files
            .get(&key.0)
            .map_or("a closed file", |record| &record.path)
    }

    pub(crate) fn login(&self) -> Option<&Arc<Login>> {
        match &self.phase {
            Phase::Up(login) | Phase::Lost(login) | Phase::Restoring(login) => Some(login),
            Phase::Fresh | Phase::Ended(_) => None,
        }
    }

    pub(crate) fn transact_bytes_max(&self) -> u32 {
        self.login()
            .map_or(1 << 16, |login| login.negotiated.transact_bytes_max)
    }

    fn check_open(&self) -> Result<()> {
        match &self.phase {
            Phase::Ended(cause) => Err(Error::SessionEnded(cause.clone())),
            Phase::Fresh | Phase::Up(_) | Phase::Lost(_) | Phase::Restoring(_) => Ok(()),
        }
    }

    // work in

    pub(crate) fn submit(&mut self, request: Request, sink: Arc<dyn Sink>) -> Calls {
        if let Err(error) = self.check_open() {
            return vec![(sink, Err(error))];
        }
        if let Some(reply) = self.close_unheard(&request) {
            return vec![(sink, Ok(reply))];
        }
        self.control.push_back(Control {
            request,
            sink,
            tries: Tries::default(),
            restores: None,
            covers: 0,
        });
        self.wake_idlest();
        Calls::new()
    }

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
            again: Vec::new(),
            under_way: 0,
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

    // work out

    /// Something to do for a channel, if there is anything it has appetite for.
    /// Whether there are READs or WRITEs that no channel has taken.
    pub(crate) fn data_waits(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty()
    }

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
            let prepared = control::prepare(self, server, &control.request, appetite.control_bytes);
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
                    match chain::prepare(self, server, links, appetite) {
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
            match control::prepare(self, server, &control.request, appetite.control_bytes) {
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

    fn read_work(
        &mut self,
        number: ChannelNumber,
        appetite: Appetite,
        pool: &BlockPool,
        calls: &mut Calls,
    ) -> Option<Work> {
        loop {
            let key = *self.reads.front()?;
            let place = match self
                .transfers
                .get(&key)
                .map(|record| self.place(record.file))
            {
                Some(Ok(place)) => place,
                Some(Err(error)) => {
                    self.reads.pop_front();
                    calls.extend(self.fail_transfer(key, error));
                    continue;
                }
                None => {
                    self.reads.pop_front();
                    continue;
                }
            };
            let source = self.transfers.get(&key)?.transfer.source.clone();
            let from_origin = !place.tree_id.encrypted
                && appetite.from_origins
                && source
                    .as_ref()
                    .is_some_and(|source| source.origin().is_some());
            let most = match &source {
                Some(_) => appetite.write_bytes,
                None => appetite.read_bytes,
            };
            if most == 0 {
                return None;
            }
            let chunk = self.chunk(key, most);
            let record = self.transfers.get_mut(&key)?;
            if !record.has_ranges() {
                self.reads.pop_front();
                continue;
            }
            // the receiver must never wait for memory: no READ without a block
            let block = if from_origin {
                None
            } else {
                Some(pool.reserve(&self.channels.get(&number)?.waker)?)
            };
            let (range, tries) = record.next_range(chunk)?;
            record.under_way += 1;
            let transfer = Arc::clone(&record.transfer);
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
            return Some(match block {
                Some(block) if source.is_none() => Work::Read(piece, block),
                block => Work::WriteFrom(piece, block),
            });
        }
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

    // work back

    pub(crate) fn one_less(&mut self, number: ChannelNumber) {
        if let Some(channel) = self.channels.get_mut(&number) {
            channel.outstanding = channel.outstanding.saturating_sub(1);
        }
    }

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
        if control.tries.is_replay() && retry::was_done(&control.request, header.status) {
            header.status = NtStatus::SUCCESS;
        }
        let outcome = control::conclude(self, &control.request, &header, message)?;
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
                record.again.push((reached..piece.range.end, piece.tries));
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
        if retry::is_not_ready(status)
            && self.check_open().is_ok()
            && let Some(wait) = work.tries().refused()
        {
            self.put_off(now.after(wait), work);
            return Calls::new();
        }
        let error = self.refusal(&work, status);
        self.give_up(work, error)
    }

    fn refusal(&self, work: &Lost, status: NtStatus) -> Error {
        let doing = match work {
            Lost::Read(piece) => return self.refused_read(piece, status),
            Lost::Write(Write { file, offset, .. }) => {
                format!("writing `{}` at byte {offset}", self.path(*file))
            }
            Lost::Control(control) => control::describe(self, &control.request),
        };
        Error::Refused { doing, status }
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
        if retry::is_not_ready(status)
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
        let verb = match piece.transfer.source {
            Some(_) => "writing",
            None => "reading",
        };
        Error::Refused {
            doing: format!("{verb} `{path}` at byte {}", piece.range.start),
            status,
        }
    }

    fn end_transfer_if_over(&mut self, key: u64) -> Calls {
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

/// What a transfer ends with.
fn moved(source: Option<&Arc<dyn Source>>, bytes: u64) -> Reply {
    match source {
        Some(_) => Reply::WrittenFrom { bytes },
        None => Reply::Read { bytes },
    }
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
