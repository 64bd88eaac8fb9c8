//! One login over many channels: keys, trees, files, and which byte range goes where.
//!
//! A session is shared: clone the handle. Every method takes a short lock, never waits and never
//! sees payload. What becomes of a request arrives at its [`Sink`].

mod compound_requests;
mod durable_file_state;
mod hedged_reads;
pub(crate) mod identifiers;
mod lease_break;
mod locked_state;
mod pending_restores;
mod request_codec;
mod request_types;
mod restore_after_reconnect;
mod retry_after_loss;
mod settings;
mod submitted_request;

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, PoisonError};
use std::task::Waker;

pub use identifiers::{ChannelNumber, FileKey, TransferKey, TreeKey};
pub use request_types::{
    Access, Closed, CreateOptions, Created, DirectoryEntry, Disposition, Durable, FileTimes,
    FsSize, Information, Lease, Listing, Posix, QueryInformation, Reply, Request, SetInformation,
    Share, TreeInformation,
};
pub use settings::{
    Cipher, Dialect, EncryptionPolicy, Identity, Negotiated, SessionSettings, SigningAlgorithm,
    SigningPolicy,
};

pub(crate) use compound_requests::{Answer, Carried};
pub(crate) use locked_state::{
    Appetite, Joins, Login, Lost, Pull, ReadPiece, TreeId, Waited, Work, Write,
};
use locked_state::{Calls, Phase, State};
pub(crate) use request_codec::{LISTING_BYTES_MAX, Prepared};
pub(crate) use retry_after_loss::{Tries, loss, says_replay};
pub(crate) use submitted_request::Control;

use locale::say;

use crate::error::{Error, NtStatus, Result};
use crate::monotonic_time::Time;
use crate::payload_block_pool::{BlockPool, Payload};
use crate::std_or_shuttle::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use crate::std_or_shuttle::{Mutex, MutexGuard};
use crate::trickling_replies::Trickle;
use crate::wire::{BreakNotice, Header};

/// Where the bytes of a write come from. Called by the threads that drive channels, several at once,
/// with no lock held; the same bytes may be wanted again when a channel is lost.
pub trait Source: Send + Sync {
    /// Puts what is to stand at this offset of the written file into all of `room`.
    ///
    /// # Errors
    /// When that cannot be had; the write then ends with [`Error::Source`].
    fn fill(&self, offset: u64, room: &mut [u8]) -> std::io::Result<()>;

    /// Where a driver finds the same bytes at the same offsets by itself, in terms that are between
    /// source and driver, such as an open file. Where nothing has to be done with the bytes, the
    /// driver sends them from there and [`Self::fill`] is not called.
    fn origin(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }
}

/// Receives what becomes of a request or transfer. Called by the thread that drives a channel,
/// with no lock held; should be quick. May call the session.
pub trait Sink: Send + Sync {
    /// A piece of a read has arrived, at this offset of the file. Pieces come in any order and
    /// from several threads, but all before [`Sink::done`].
    fn piece(&self, offset: u64, payload: Payload) {
        let _ = offset;
        drop(payload);
    }

    /// So many more bytes of a [`Source`] have been written.
    fn written(&self, bytes: u64) {
        let _ = bytes;
    }

    /// It is over; called exactly once.
    fn done(&self, outcome: Result<Reply>);
}

/// One login over many channels; a handle that can be cloned.
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

struct Shared {
    settings: SessionSettings,
    pool: BlockPool,
    state: Mutex<State>,
    /// The state's phase is `Ended`; readable without the lock.
    ended: AtomicBool,
    /// The session has expired, and no channel can log in again; readable without the lock.
    cannot_be_renewed: AtomicBool,
    /// The state's channel sequence; readable without the lock.
    channel_sequence: AtomicU16,
    /// When a channel has to look for work that was put off, in nanoseconds; readable without the
    /// lock.
    next_due: AtomicU64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // a panic under the lock is a bug of ours; the books are then as good as they were
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// A session that is not logged in yet: the first channel does that, later ones bind to it.
    /// READs land in blocks of `pool`.
    pub fn new(settings: SessionSettings, pool: BlockPool) -> Result<Self> {
        let invalid = |names: &str| {
            let problem = say("invalid-request.settings").with("names", names);
            Err(Error::InvalidRequest(problem))
        };
        if settings.dialects.is_empty() || settings.signing_algorithms.is_empty() {
            return invalid("dialects, signing_algorithms");
        }
        if settings.encryption == EncryptionPolicy::Required && settings.ciphers.is_empty() {
            return invalid("ciphers");
        }
        if settings.chunk_bytes_max == 0 || settings.depth_requests_max == 0 {
            return invalid("chunk_bytes_max, depth_requests_max");
        }
        let state = State::new(&settings);
        let shared = Shared {
            settings,
            pool,
            state: Mutex::new(state),
            ended: AtomicBool::new(false),
            cannot_be_renewed: AtomicBool::new(false),
            channel_sequence: AtomicU16::new(0),
            next_due: AtomicU64::new(u64::MAX),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Asks the server for something; any channel takes it. `sink` hears exactly once. Before the
    /// session is logged in, requests wait.
    pub fn submit(&self, request: Request, sink: Arc<dyn Sink>) {
        let calls = self.shared.lock().submit(request, sink);
        locked_state::call(calls);
    }

    /// Reads a range of a file. The channels pull chunks of it by demand, and each arrives in a
    /// block of the pool; short READs are asked again. Ends with [`Reply::Read`]. A range beyond
    /// the end of the file is no error: the number of bytes tells.
    pub fn read(&self, file: FileKey, range: Range<u64>, sink: Arc<dyn Sink>) -> TransferKey {
        let (key, calls) = self.shared.lock().transfer(file, range, None, sink);
        locked_state::call(calls);
        TransferKey(key)
    }

    /// Writes a range of a file. The channels pull chunks of it by demand and have `source` fill
    /// their blocks, each on the thread that drives it; short WRITEs are continued. Ends with
    /// [`Reply::WrittenFrom`].
    pub fn write_from(
        &self,
        file: FileKey,
        range: Range<u64>,
        source: Arc<dyn Source>,
        sink: Arc<dyn Sink>,
    ) -> TransferKey {
        let (key, calls) = self.shared.lock().transfer(file, range, Some(source), sink);
        locked_state::call(calls);
        TransferKey(key)
    }

    /// Writes a payload at an offset of a file. Whichever channel has depth free takes it; short
    /// WRITEs are continued. Ends with [`Reply::Written`], which gives the block back (with its
    /// content, unless the WRITE was short). A payload should be at most
    /// [`Self::write_bytes_max`] long; of a longer one the pieces go one after the other.
    pub fn write(&self, file: FileKey, offset: u64, payload: Payload, sink: Arc<dyn Sink>) {
        let calls = self.shared.lock().write(Write {
            file,
            offset,
            payload,
            sink,
            tries: Tries::default(),
            trickle: Trickle::of_bytes(),
        });
        locked_state::call(calls);
    }

    /// Stops a read, or a write from a source: nothing further is asked for; what is under way comes
    /// home and is dropped.
    /// Then it ends with [`Error::Cancelled`], unless it was over already.
    pub fn cancel(&self, transfer: TransferKey) {
        let calls = self
            .shared
            .lock()
            .fail_transfer(transfer.0, Error::Cancelled);
        locked_state::call(calls);
    }

    /// What was agreed, once the first channel is up.
    pub fn negotiated(&self) -> Option<Negotiated> {
        self.shared
            .lock()
            .login()
            .map(|login| login.negotiated.clone())
    }

    /// How many bytes one WRITE can take: the least of setting, block and server.
    pub fn write_bytes_max(&self) -> u32 {
        let server = self
            .negotiated()
            .map_or(u32::MAX, |negotiated| negotiated.write_bytes_max);
        self.chunk_bytes_max().min(server)
    }

    /// The server's number for this session, for [`SessionSettings::previous_session_id`].
    pub fn id(&self) -> Option<u64> {
        self.shared.lock().login().map(|login| login.session_id)
    }

    /// Ends everything on our side at once: open requests end with [`Error::SessionEnded`], every
    /// channel gives [`crate::Event::Closed`]. For a polite end submit [`Request::Logoff`] first.
    pub fn end(&self) {
        self.with_calls(|state| state.end(None));
    }

    /// Whether the last channel was lost and everything waits for another one: open it like the
    /// first. When it is up, shares and files are restored, and all goes on.
    pub fn is_lost(&self) -> bool {
        matches!(self.shared.lock().phase, Phase::Lost(_))
    }

    /// Whether it has ended for good.
    pub fn is_over(&self) -> bool {
        self.shared.ended.load(Ordering::Acquire)
    }

    /// There will be no other channel: ends everything for this reason, unless one is up.
    pub fn give_up(&self, cause: Error) {
        self.with_calls(|state| match state.phase {
            Phase::Lost(_) => state.end(Some(Arc::new(cause))),
            _ => Calls::new(),
        });
    }

    /// The channels that can take work now.
    pub fn channels_up(&self) -> Vec<ChannelNumber> {
        self.shared.lock().channels_up()
    }

    /// How many channels were lost so far, as the server sees it in every request.
    pub fn channel_sequence(&self) -> u16 {
        self.shared.channel_sequence.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let server = &self.shared.settings.server_name;
        formatter
            .debug_struct("Session")
            .field("server", server)
            .finish_non_exhaustive()
    }
}

/// For channels.
impl Session {
    pub(crate) fn settings(&self) -> &SessionSettings {
        &self.shared.settings
    }

    /// The most one READ or WRITE can carry on our side.
    pub(crate) fn chunk_bytes_max(&self) -> u32 {
        let block = u32::try_from(self.shared.pool.capacity()).unwrap_or(u32::MAX);
        self.shared.settings.chunk_bytes_max.min(block)
    }

    /// Whether, and why, the session has ended.
    pub(crate) fn ended(&self) -> Option<Option<Arc<Error>>> {
        if !self.shared.ended.load(Ordering::Acquire) {
            return None;
        }
        match &self.shared.lock().phase {
            Phase::Ended(cause) => Some(cause.clone()),
            Phase::Fresh | Phase::Up(_) | Phase::Lost(_) | Phase::Restoring(_) => None,
        }
    }

    /// The server did not do this because the session has expired. Whether this channel shall log in
    /// again; until then nothing else is asked.
    pub(crate) fn expired(&self, number: ChannelNumber, work: Lost) -> bool {
        let mut claims = false;
        self.with_calls(|state| {
            let (claimed, calls) = state.expired(number, work);
            claims = claimed;
            calls
        });
        claims
    }

    /// Whether the session has expired and no channel can log in again: it has to be made anew.
    pub(crate) fn cannot_be_renewed(&self) -> bool {
        self.shared.cannot_be_renewed.load(Ordering::Acquire)
    }

    /// The session is as good as new.
    pub(crate) fn renewed(&self) {
        self.shared.lock().renewed();
    }

    /// The server does not let us in any more.
    pub(crate) fn refused(&self, cause: Error) {
        self.with_calls(|state| state.end(Some(Arc::new(cause))));
    }

    /// The server takes a lease or an oplock back.
    pub(crate) fn broken(&self, notice: &BreakNotice) {
        self.shared.lock().broken(notice);
    }

    pub(crate) fn join(&self, waker: Waker) -> Result<(ChannelNumber, Joins)> {
        self.shared.lock().join(waker)
    }

    pub(crate) fn channel_up(&self, number: ChannelNumber, login: &Arc<Login>) {
        self.shared.lock().channel_up(number, login);
    }

    /// Removes a channel and takes back what it had under way.
    pub(crate) fn leave(&self, number: ChannelNumber, cause: Option<Arc<Error>>, lost: Vec<Lost>) {
        self.with_calls(|state| state.leave(number, cause, lost));
    }

    /// Sends the requests of chains alone from now on.
    pub(crate) fn avoid_chains(&self) {
        self.shared.lock().avoids_chains = true;
    }

    /// Whether the server signs the replies of a chain without their padding, against 3.1.4.1, so that the
    /// requests of chains go alone.
    pub fn avoids_chains(&self) -> bool {
        self.shared.lock().avoids_chains
    }

    /// When to call [`Self::handle_due`].
    pub(crate) fn next_due(&self) -> Option<Time> {
        let at = self.shared.next_due.load(Ordering::Relaxed);
        (at != u64::MAX).then(|| Time::from_nanos(at))
    }

    /// Lets go what was put off until now.
    pub(crate) fn handle_due(&self, now: Time) {
        self.with_calls(|state| state.handle_due(now));
    }

    /// Whether there are READs or WRITEs that no channel has taken.
    pub(crate) fn data_waits(&self) -> bool {
        self.shared.lock().data_waits()
    }

    pub(crate) fn pull(&self, number: ChannelNumber, appetite: Appetite) -> Pull {
        let shared = &self.shared;
        let server = &shared.settings.server_name;
        loop {
            let mut calls = Calls::new();
            let mut state = shared.lock();
            let pull = state.pull(number, appetite, &shared.pool, server, &mut calls);
            let unaffordable = std::mem::take(&mut state.unaffordable);
            let next_due = state.next_due().map_or(u64::MAX, Time::as_nanos);
            shared.next_due.store(next_due, Ordering::Relaxed);
            drop(state);
            locked_state::call(calls);
            let again = !unaffordable.is_empty() && !matches!(pull, Pull::Work(_));
            for control in unaffordable {
                compound_requests::one_by_one(self, control);
            }
            if !again {
                return pull;
            }
        }
    }

    /// Concludes a request and tells its sink. `Err`: the reply makes no sense; then the sink has
    /// not heard yet, and the channel must end.
    pub(crate) fn control_done(
        &self,
        number: ChannelNumber,
        control: Control,
        header: &Header,
        message: &mut Vec<u8>,
        now: Time,
    ) -> Result<Carried> {
        self.with_calls_and(|state| {
            let mut concluded = Ok(Carried::default());
            let sink = Arc::clone(&control.sink);
            let mut calls = Calls::new();
            match state.control_done(number, control, header, message, now) {
                Ok(Some(outcome)) => {
                    if let Ok(carried) = &mut concluded {
                        carried.add(&outcome);
                    }
                    calls.push((sink, outcome));
                }
                Ok(None) => {}
                Err(error) => concluded = Err(error),
            }
            if std::mem::take(&mut state.logged_off) {
                calls.extend(state.end(None));
            }
            (calls, concluded)
        })
    }

    /// A READ, or a WRITE from a source, was answered with so many bytes. An error: the server trickles.
    pub(crate) fn read_done(
        &self,
        number: ChannelNumber,
        piece: &ReadPiece,
        bytes: u32,
        waited: Waited,
    ) -> Result<()> {
        self.with_calls_and(|state| {
            state.one_less(number);
            state.read_done(piece, bytes, waited)
        })
    }

    /// The server is not ready for a READ yet, or refuses it.
    pub(crate) fn read_refused(
        &self,
        number: ChannelNumber,
        piece: ReadPiece,
        status: NtStatus,
        now: Time,
    ) {
        self.with_calls(|state| state.read_refused(number, piece, status, now));
    }

    /// A READ was answered that another channel had brought already.
    pub(crate) fn read_in_vain(&self, number: ChannelNumber) {
        self.shared.lock().one_less(number);
    }

    /// The server is not ready for a WRITE yet, or refuses it.
    pub(crate) fn write_refused(
        &self,
        number: ChannelNumber,
        work: Lost,
        status: NtStatus,
        now: Time,
    ) {
        self.with_calls(|state| state.write_refused(number, work, status, now));
    }

    /// The answer to a WRITE made no sense: it is of no use to send it again.
    pub(crate) fn write_ended(&self, number: ChannelNumber, work: Lost, error: Error) {
        self.with_calls(|state| {
            state.one_less(number);
            state.give_up(work, error)
        });
    }

    /// The source of a WRITE failed.
    pub(crate) fn source_failed(&self, number: ChannelNumber, piece: &ReadPiece, error: Error) {
        self.with_calls(|state| {
            state.one_less(number);
            state.read_failed(piece, error)
        });
    }

    /// The source of a WRITE failed after it was promised to the server.
    pub(crate) fn stop_transfer(&self, key: u64, error: Error) {
        self.with_calls(|state| state.fail_transfer(key, error));
    }

    /// A WRITE was answered with so many bytes of those that it brought. An error: the server trickles.
    pub(crate) fn write_done(
        &self,
        number: ChannelNumber,
        write: Write,
        bytes_of_asked: (u32, u32),
        waited: Waited,
    ) -> Result<()> {
        self.with_calls_and(|state| state.write_done(number, write, bytes_of_asked, waited))
    }

    /// Changes the state, publishes what can be read without the lock, and then calls sinks.
    fn with_calls(&self, change: impl FnOnce(&mut State) -> Calls) {
        self.with_calls_and(|state| (change(state), ()));
    }

    /// The same for a change that has a result.
    fn with_calls_and<T>(&self, change: impl FnOnce(&mut State) -> (Calls, T)) -> T {
        let mut state = self.shared.lock();
        let (calls, result) = change(&mut state);
        self.shared
            .channel_sequence
            .store(state.channel_sequence, Ordering::Relaxed);
        self.shared
            .ended
            .store(matches!(state.phase, Phase::Ended(_)), Ordering::Release);
        self.shared
            .cannot_be_renewed
            .store(state.cannot_be_renewed(), Ordering::Release);
        let next_due = state.next_due().map_or(u64::MAX, Time::as_nanos);
        self.shared.next_due.store(next_due, Ordering::Relaxed);
        drop(state);
        locked_state::call(calls);
        result
    }
}
