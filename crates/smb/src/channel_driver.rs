//! The thread of one channel: it owns the channel and its socket, and decides nothing.

use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock, PoisonError};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use os::network::TcpFacts;
use smb_proto::multichannel_plan::Pair;
use smb_proto::{Channel, ChannelNumber, ChannelStatistics, Event, OriginPart, Time, Transmission};

use crate::auth::{AuthError, Exchange};
use crate::signal::{Signal, lock};
use crate::socket::{self, Alarm, Handle, Watched};
use crate::std_or_shuttle::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::std_or_shuttle::{Condvar, Mutex, now};

/// The longest tick of a kernel (100 a second).
const TICK_NANOS_MAX: u64 = 10_000_000;
/// Most read calls before it is looked whether there is something to send: small enough that the
/// server never waits for requests while its replies are taken.
const READS_BEFORE_SEND_MAX: usize = 16;
/// And so many bytes: where the server is faster than we are, it has sent all that it was asked for,
/// and would otherwise wait until we have taken all of that.
const BYTES_BEFORE_SEND_MAX: usize = 1 << 20;
/// Most frames that are sent before it is looked whether something has arrived.
const FRAMES_BEFORE_RECEIVE_MAX: usize = 16;
/// The driver is not woken up for less than this in the middle of a payload: a wake-up costs as
/// much as taking tens of kilobytes, and until the payload is whole there is nothing else to do
/// with it. It is small beside what TCP keeps in flight on a fast network.
const WAKE_BYTES_MAX: usize = 256 << 10;
/// Buffers up to this are for headers and small replies: whoever waits for those waits for all.
const WAKE_AT_ONCE_BYTES: usize = 4096;
/// What is copied at once of a file that cannot be sent without.
const COPY_BYTES: usize = 256 << 10;
/// How often a thread says how long processors have worked for it: asking the system costs as much as a read.
const PROCESSOR_EVERY: Duration = Duration::from_millis(1);

/// Wakes a driver, with a system call only when it sleeps.
struct DriverWaker {
    /// Something has changed since the driver last looked.
    changed: AtomicBool,
    /// The driver waits for its connection or is about to.
    sleeps: AtomicBool,
    alarm: Alarm,
}

impl Wake for DriverWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.changed.store(true, Ordering::SeqCst);
        if self.sleeps.swap(false, Ordering::SeqCst) {
            self.alarm.ring();
        }
    }
}

/// What others see of a channel, for as long as its session lives.
pub(crate) struct Link {
    pub(crate) number: ChannelNumber,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) nic: Option<String>,
    pub(crate) not_bound_because: Option<String>,
    /// How our end sends, as it was chosen when it connected.
    pub(crate) congestion_control: Option<String>,
    counters: Counters,
    stage: Mutex<Stage>,
    ended_at: OnceLock<Instant>,
    stage_changed: Condvar,
    connection: Mutex<Facts>,
    /// Who wants to know when it is over.
    reconnect: Arc<Signal>,
}

enum Stage {
    Opening,
    Up,
    Closed(Option<smb_proto::Error>),
}

/// The connection while it is open, and what TCP said last.
struct Facts {
    stream: Option<Handle>,
    last: Option<TcpFacts>,
}

#[derive(Default)]
struct Counters {
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
    credits: AtomicU64,
    outstanding: AtomicU64,
    outstanding_bytes: AtomicU64,
    credit_starved: AtomicU64,
    credit_wait: AtomicU64,
    block_wait: AtomicU64,
    processor: AtomicU64,
}

/// Counters of a channel at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) credits: u64,
    pub(crate) outstanding: u64,
    pub(crate) outstanding_bytes: u64,
    pub(crate) credit_starved: u64,
    pub(crate) credit_wait: Duration,
    pub(crate) block_wait: Duration,
    pub(crate) processor: Duration,
}

impl Link {
    /// Waits until the channel takes work, or is over.
    pub(crate) fn wait_until_up(&self) -> Result<(), Option<smb_proto::Error>> {
        let mut stage = lock(&self.stage);
        loop {
            match &*stage {
                Stage::Opening => {}
                Stage::Up => return Ok(()),
                Stage::Closed(cause) => return Err(cause.clone()),
            }
            stage = self
                .stage_changed
                .wait(stage)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        matches!(*lock(&self.stage), Stage::Up)
    }

    pub(crate) fn pair(&self) -> Pair {
        Pair {
            local: self.local.ip(),
            remote: self.remote.ip(),
        }
    }

    pub(crate) fn ended_at(&self) -> Option<Instant> {
        self.ended_at.get().copied()
    }

    /// Why it ended, if it did not end as asked for.
    pub(crate) fn failure(&self) -> Option<smb_proto::Error> {
        match &*lock(&self.stage) {
            Stage::Closed(cause) => cause.clone(),
            Stage::Opening | Stage::Up => None,
        }
    }

    /// What TCP knows, or knew last.
    pub(crate) fn tcp_facts(&self) -> Option<TcpFacts> {
        let mut connection = lock(&self.connection);
        if let Some(stream) = &connection.stream {
            connection.last = stream.facts();
        }
        connection.last
    }

    pub(crate) fn counted(&self) -> Counted {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let time = |counter| Duration::from_nanos(load(counter));
        Counted {
            read_bytes: load(&self.counters.read_bytes),
            written_bytes: load(&self.counters.written_bytes),
            credits: load(&self.counters.credits),
            outstanding: load(&self.counters.outstanding),
            outstanding_bytes: load(&self.counters.outstanding_bytes),
            credit_starved: load(&self.counters.credit_starved),
            credit_wait: time(&self.counters.credit_wait),
            block_wait: time(&self.counters.block_wait),
            processor: time(&self.counters.processor),
        }
    }

    fn publish(&self, statistics: &ChannelStatistics) {
        let store = |counter: &AtomicU64, value| counter.store(value, Ordering::Relaxed);
        store(&self.counters.read_bytes, statistics.read_bytes);
        store(&self.counters.written_bytes, statistics.written_bytes);
        store(&self.counters.credits, statistics.credits.into());
        store(&self.counters.outstanding, statistics.outstanding.into());
        store(
            &self.counters.outstanding_bytes,
            statistics.outstanding_bytes,
        );
        store(&self.counters.credit_starved, statistics.credit_starved);
        store(&self.counters.credit_wait, nanos(statistics.credit_wait));
        store(&self.counters.block_wait, nanos(statistics.block_wait));
    }

    /// How long processors have worked for the calling thread, which is the channel's.
    fn publish_processor(&self) {
        // Every system that this is built for has this clock.
        if let Ok(time) = ThreadTime::try_now() {
            let time = nanos(time.as_duration());
            self.counters.processor.store(time, Ordering::Relaxed);
        }
    }

    fn enter(&self, next: Stage) {
        let mut stage = lock(&self.stage);
        if !matches!(*stage, Stage::Closed(_)) {
            *stage = next;
        }
        self.stage_changed.notify_all();
    }

    /// Closes the socket; the numbers stay.
    fn close(&self, cause: Option<smb_proto::Error>) {
        self.tcp_facts();
        self.ended_at.get_or_init(now);
        if let Some(stream) = lock(&self.connection).stream.take() {
            stream.shut_down();
        }
        self.enter(Stage::Closed(cause));
        self.reconnect.tell();
    }
}

/// A connection and the means to wait for it, before there is a channel.
pub(crate) struct Readiness {
    stream: Watched,
    waker: Arc<DriverWaker>,
}

impl Readiness {
    pub(crate) fn new(stream: socket::Stream) -> io::Result<Self> {
        let (stream, alarm) = Watched::new(stream)?;
        let waker = DriverWaker {
            changed: AtomicBool::new(false),
            sleeps: AtomicBool::new(false),
            alarm,
        };
        Ok(Self {
            stream,
            waker: Arc::new(waker),
        })
    }

    pub(crate) fn local_address(&self) -> Option<IpAddr> {
        self.stream.ends().ok().map(|(local, _)| local.ip())
    }

    pub(crate) fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.waker))
    }
}

/// Begins a login.
pub(crate) type Authenticate = Box<dyn Fn() -> Result<Exchange, AuthError> + Send>;

/// One channel with its socket.
pub(crate) struct Driver {
    channel: Channel,
    readiness: Readiness,
    link: Arc<Link>,
    /// Time 0 of the session.
    epoch: Instant,
    /// Begins a login, when the session has expired.
    authenticate: Authenticate,
    /// Bytes that must have arrived before `poll` returns, as the socket was told.
    wake_bytes: usize,
    /// When the thread's processor time is published next.
    processor_due: Time,
}

impl Driver {
    pub(crate) fn new(
        channel: Channel,
        readiness: Readiness,
        nic: Option<String>,
        not_bound_because: Option<String>,
        epoch: Instant,
        reconnect: Arc<Signal>,
        authenticate: Authenticate,
    ) -> io::Result<Self> {
        let stream = &readiness.stream;
        let (local, remote) = stream.ends()?;
        let link = Link {
            number: channel.number(),
            local,
            remote,
            nic,
            not_bound_because,
            congestion_control: stream.congestion_control(),
            counters: Counters::default(),
            stage: Mutex::new(Stage::Opening),
            ended_at: OnceLock::new(),
            stage_changed: Condvar::new(),
            connection: Mutex::new(Facts {
                stream: Some(stream.handle()?),
                last: None,
            }),
            reconnect,
        };
        Ok(Self {
            channel,
            readiness,
            link: Arc::new(link),
            epoch,
            authenticate,
            wake_bytes: 1,
            processor_due: Time::from_nanos(0),
        })
    }

    pub(crate) fn link(&self) -> Arc<Link> {
        Arc::clone(&self.link)
    }

    /// Drives the channel until it is over.
    pub(crate) fn run(mut self) {
        // Also when something below panics nobody waits for this channel for ever.
        let _end = EndOnDrop(Arc::clone(&self.link));
        loop {
            self.readiness.waker.changed.store(false, Ordering::SeqCst);
            let now = self.now();
            // What waits in the socket comes first: this process may have been stopped for long.
            let moved = self.receive_and_send(now);
            let due = self.channel.next_timeout().is_some_and(|due| due <= now);
            if due {
                self.say_what_tcp_heard(now);
                self.channel.handle_timeout(now);
            }
            if let Err(error) = &moved {
                self.channel
                    .transport_failed(io::Error::new(error.kind(), error.to_string()).into());
            }
            self.link.publish(&self.channel.statistics());
            if now >= self.processor_due {
                self.link.publish_processor();
                self.processor_due = now.after(PROCESSOR_EVERY);
            }
            let mut again = false;
            while let Some(event) = self.channel.next_event() {
                match event {
                    Event::Up => self.link.enter(Stage::Up),
                    Event::Expired => match (self.authenticate)() {
                        Ok(exchange) => {
                            let now = self.now();
                            self.channel.reauthenticate(Box::new(exchange), now);
                            again = true;
                        }
                        Err(error) => self.channel.transport_failed(error.into()),
                    },
                    Event::Closed(cause) => return self.link.close(cause),
                    _ => {}
                }
            }
            if !moved.unwrap_or(true)
                && !due
                && !again
                && let Err(error) = self.sleep()
            {
                self.channel.transport_failed(error.into());
            }
        }
    }

    fn now(&self) -> Time {
        time_since(self.epoch)
    }

    /// A server whose TCP answers is there, however long its program takes. TCP_USER_TIMEOUT cannot
    /// tell: Linux also ends a connection whose far end answers, but takes no more for a while.
    fn say_what_tcp_heard(&mut self, now: Time) {
        let facts = self.readiness.stream.facts();
        if let Some(in_all) = facts.as_ref().and_then(|facts| facts.acknowledged) {
            self.channel.confirmed(in_all, now);
        }
        let quiet = facts.and_then(|facts| facts.quiet);
        let quiet = quiet.and_then(|quiet| u64::try_from(quiet.as_nanos()).ok());
        if let Some(quiet) = quiet {
            // Counted in ticks of the kernel: on a short path the answer to what was just sent would seem older.
            let at = now.as_nanos().saturating_sub(quiet);
            let at = (at + TICK_NANOS_MAX).min(now.as_nanos());
            self.channel.acknowledged(Time::from_nanos(at));
        }
    }

    /// Takes what has arrived and sends what there is to send. Whether there is more of either.
    fn receive_and_send(&mut self, now: Time) -> io::Result<bool> {
        let stream = &self.readiness.stream;
        let mut more = true;
        let mut taken = 0;
        for _ in 0..READS_BEFORE_SEND_MAX {
            let buffer = self.channel.receive_buffer();
            let room = buffer.len();
            match stream.read(buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.channel.received(count, now);
                    taken += count;
                    // Where the far end has ended, that is still to be read.
                    if count < room && os::network::SHORT_READ_MEANS_EMPTY && !stream.is_over() {
                        more = false;
                        break;
                    }
                    if taken >= BYTES_BEFORE_SEND_MAX {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    more = false;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        for _ in 0..FRAMES_BEFORE_RECEIVE_MAX {
            let sent = match self.channel.poll_transmission(now) {
                None => return Ok(more),
                Some(Transmission::Bytes { bytes, more }) => stream.send(bytes, more),
                Some(Transmission::Origin(part)) => match send_part(stream, &part) {
                    Err(FileFailure::OfFile(error)) => {
                        self.channel.origin_failed(error);
                        continue;
                    }
                    Err(FileFailure::OfSocket(error)) => Err(error),
                    Ok(count) => Ok(count),
                },
                Some(_) => return Err(io::ErrorKind::Unsupported.into()),
            };
            match sent {
                Ok(count) => self.channel.transmitted(count, now),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.readiness.stream.wait_writable()?;
                    return Ok(more);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Lets the system wait until a good part of a payload is there.
    fn wake_late(&mut self) {
        let room = self.channel.receive_buffer().len();
        let bytes = if room <= WAKE_AT_ONCE_BYTES {
            1
        } else {
            room.min(WAKE_BYTES_MAX)
        };
        if bytes != self.wake_bytes {
            self.wake_bytes = bytes;
            self.readiness.stream.wake_at(bytes);
        }
    }

    /// Waits for the socket, the waker or the next time-out.
    fn sleep(&mut self) -> io::Result<()> {
        let waker = &self.readiness.waker;
        waker.sleeps.store(true, Ordering::SeqCst);
        if !waker.changed.load(Ordering::SeqCst) {
            self.wake_late();
            let from = self.now();
            let timeout = self.channel.next_timeout().map(|due| due.since(from));
            self.readiness.stream.wait(timeout)?;
            self.channel.waited(from, self.now());
        }
        self.readiness.waker.sleeps.store(false, Ordering::SeqCst);
        Ok(())
    }
}

/// Why a part of a file was not sent.
enum FileFailure {
    OfFile(io::Error),
    OfSocket(io::Error),
}

/// Sends some bytes of a file.
fn send_part(stream: &Watched, part: &OriginPart<'_>) -> Result<usize, FileFailure> {
    let file = part.origin.downcast_ref();
    let file: &File = file.ok_or(FileFailure::OfFile(io::ErrorKind::Unsupported.into()))?;
    match stream.send_file(file, part.offset, part.length) {
        Ok(0) => Err(FileFailure::OfFile(io::ErrorKind::UnexpectedEof.into())),
        Ok(count) => Ok(count),
        Err(error)
            if [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&error.kind()) =>
        {
            Err(FileFailure::OfSocket(error))
        }
        // Not this way, then, or this shows whose error it is.
        Err(_) => copy_part(stream, file, part.offset, part.length),
    }
}

/// The same where the system does not do it by itself.
fn copy_part(
    stream: &Watched,
    file: &File,
    offset: u64,
    length: u64,
) -> Result<usize, FileFailure> {
    let most = usize::try_from(length).unwrap_or(COPY_BYTES);
    let mut bytes = vec![0; most.min(COPY_BYTES)];
    match os::local_file::read_at(file, offset, &mut bytes) {
        Ok(0) => Err(FileFailure::OfFile(io::ErrorKind::UnexpectedEof.into())),
        Ok(count) => stream
            .send(&bytes[..count], false)
            .map_err(FileFailure::OfSocket),
        Err(error) => Err(FileFailure::OfFile(error)),
    }
}

/// Now, in the session's time.
pub(crate) fn time_since(epoch: Instant) -> Time {
    Time::from_nanos(nanos(now() - epoch))
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

struct EndOnDrop(Arc<Link>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.close(None);
    }
}
