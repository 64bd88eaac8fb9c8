//! One TCP connection: framing, message ids, credits, signing; bytes and time in, bytes out.
//!
//! The thread that drives a channel owns it. Dropping a channel gives its work back to the
//! session.

mod compound_requests;
mod credits;
mod handshake_state;
mod in_flight_limit;
mod incoming_frames;
mod keepalive_and_silence;
mod login;
mod message_protection;
mod negotiate;
mod outgoing_requests;
mod pending_requests;
mod reauthentication;
mod receive_framing;
mod response_handling;
mod send_queue;
mod timeouts;
mod validate_negotiate;

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use compound_requests::Chains;
use credits::Credits;
use handshake_state::{Agreed, Handshake};
use in_flight_limit::Depth;
use keepalive_and_silence::{Headway, Silence};
use message_protection::Keys;
use pending_requests::{Connected, Job, Outstanding, Pending};
use receive_framing::{Envelope, Progress, Receive};
pub use send_queue::OriginPart;
use send_queue::{Front, Transmit};

use crate::authenticator::Authenticator;
use crate::error::{Error, NtStatus, Operation, Result};
use crate::monotonic_time::Time;
use crate::session::{ChannelNumber, Dialect, Lost, Session, loss};

/// How a channel is to be.
pub struct ChannelSettings {
    /// Wakes the thread that drives the channel: there is work, or a block came home.
    pub waker: Waker,
    /// A fresh authentication.
    pub authenticator: Box<dyn Authenticator>,
    /// Random bytes for the 3.1.1 handshake.
    pub salt: [u8; 32],
    /// Nothing that comes of any request for so long ends the channel, while one waits that the server has not put
    /// off; so does a sign of life that is asked for and does not come. While a FLUSH
    /// waits it is double.
    pub request_timeout: Duration,
    /// So does one that the server has only put off for so long.
    pub interim_timeout: Duration,
    /// Negotiation and login may take so long in all.
    pub login_timeout: Duration,
    /// The driver can find bytes at the origin of a source, too: it calls [`Channel::poll_transmission`].
    pub sends_origins: bool,
    /// Silence with requests under way for so long makes us ask for a sign of life.
    pub echo_after: Duration,
    /// No sign of life for so long after that ends the channel: the path to the server is dead. See
    /// [`Channel::acknowledged`] for servers that are only slow.
    pub silence_max: Duration,
    /// Also without any request under way, silence for so long makes us ask for a sign of life while
    /// another channel is up: a way that is dead is found before work goes there. None: never.
    pub idle_echo_after: Option<Duration>,
}

impl ChannelSettings {
    /// The usual settings.
    pub fn new(waker: Waker, authenticator: Box<dyn Authenticator>, salt: [u8; 32]) -> Self {
        Self {
            waker,
            authenticator,
            salt,
            request_timeout: Duration::from_secs(25),
            interim_timeout: Duration::from_secs(600),
            login_timeout: Duration::from_secs(20),
            sends_origins: false,
            echo_after: Duration::from_secs(2),
            silence_max: Duration::from_secs(8),
            idle_echo_after: None,
        }
    }
}

impl std::fmt::Debug for ChannelSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ChannelSettings")
            .finish_non_exhaustive()
    }
}

/// What is to be sent next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Transmission<'a> {
    /// These bytes.
    Bytes {
        /// The bytes.
        bytes: &'a [u8],
        /// What follows is ready, too, but cannot be sent in the same call.
        more: bool,
    },
    /// These bytes, which the driver has to find.
    Origin(OriginPart<'a>),
}

/// What a driver should know of its channel.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// Logged in (first channel) or bound (further ones): it takes work from now on.
    Up,
    /// The server wants to hear again who we are: the driver calls [`Channel::reauthenticate`].
    Expired,
    /// It is over; the driver closes the socket. `None`: as asked for, after a log-off or
    /// [`Session::end`].
    Closed(Option<Error>),
}

/// Counters, for an interface to sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelStatistics {
    /// Bytes of frames sent.
    pub sent_bytes: u64,
    /// Bytes of frames received.
    pub received_bytes: u64,
    /// Payload of READs that was handed over.
    pub read_bytes: u64,
    /// Payload of WRITEs that was confirmed.
    pub written_bytes: u64,
    /// Frames sent.
    pub sent_frames: u64,
    /// Frames received.
    pub received_frames: u64,
    /// Credits that are left.
    pub credits: u32,
    /// Requests under way.
    pub outstanding: u32,
    /// Payload of the READs and WRITEs among them.
    pub outstanding_bytes: u64,
    /// How often work had to wait for credits.
    pub credit_starved: u64,
    /// How often work had to wait for a block.
    pub block_starved: u64,
    /// How long the driver waited while work lacked credits, by [`Channel::waited`].
    pub credit_wait: Duration,
    /// How long it waited while work lacked a block.
    pub block_wait: Duration,
    /// Replies that took so long that the server sent an interim one.
    pub interims: u64,
}

/// What work that is there lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lack {
    Credits,
    Block,
}

enum Phase {
    Handshake(Box<Handshake>),
    Up,
    Closed,
}

/// One TCP connection of a session.
pub struct Channel {
    number: ChannelNumber,
    session: Session,
    phase: Phase,
    request_timeout: Duration,
    interim_timeout: Duration,
    sends_origins: bool,
    silence: Silence,
    headway: Headway,
    /// When the last request was ready to be sent.
    ready_at: Time,
    echo_after: Duration,
    idle_echo_after: Option<Duration>,
    agreed: Option<Agreed>,
    /// What NEGOTIATE offered on this connection.
    offered: Vec<Dialect>,
    session_id: u64,
    /// The login again, of a session that has expired.
    renewal: Option<Box<Handshake>>,
    keys: Keys,
    /// NEGOTIATE was checked, see [`Channel::must_validate`].
    validated: bool,
    /// Checks that wait for a credit.
    validations: VecDeque<Box<Connected>>,
    credits: Credits,
    /// There was work that credits did not suffice for, since the last reply.
    credit_starved: bool,
    /// What work lacked when it was last asked for.
    lack: Option<Lack>,
    next_message_id: u64,
    outstanding: Outstanding,
    chains: Chains,
    depth: Depth,
    transmit: Transmit,
    receive: Receive,
    body: Vec<u8>,
    events: VecDeque<Event>,
    /// What was under way when a reply to it made no sense.
    lost: Vec<Lost>,
    /// It has been closed.
    left: bool,
    statistics: ChannelStatistics,
}

impl Channel {
    /// A channel of `session` over a connection that has just been made. The first channel of a
    /// session logs in, further ones bind to it. Open them one after the other: while one has not
    /// given [`Event::Up`] or [`Event::Closed`], the next is refused (some servers mix up
    /// simultaneous negotiations).
    pub fn new(session: &Session, settings: ChannelSettings, now: Time) -> Result<Self> {
        let (number, joins) = session.join(settings.waker)?;
        let deadline = now.after(settings.login_timeout);
        let depth = Depth::new(session.settings());
        let handshake = Handshake::new(joins, settings.authenticator, settings.salt, deadline);
        let mut channel = Self {
            number,
            session: session.clone(),
            phase: Phase::Closed,
            request_timeout: settings.request_timeout,
            interim_timeout: settings.interim_timeout,
            sends_origins: settings.sends_origins,
            silence: Silence::new(settings.echo_after, settings.silence_max, now),
            headway: Headway::new(now),
            ready_at: now,
            echo_after: settings.echo_after,
            idle_echo_after: settings.idle_echo_after,
            agreed: None,
            offered: Vec::new(),
            session_id: 0,
            renewal: None,
            keys: Keys::default(),
            validated: false,
            validations: VecDeque::new(),
            credits: Credits::new(),
            credit_starved: false,
            lack: None,
            next_message_id: 0,
            outstanding: Outstanding::default(),
            chains: Chains::default(),
            depth,
            transmit: Transmit::default(),
            receive: Receive::new(),
            body: Vec::new(),
            events: VecDeque::new(),
            lost: Vec::new(),
            left: false,
            statistics: ChannelStatistics::default(),
        };
        let mut handshake = Box::new(handshake);
        let started = channel.negotiate(&mut handshake, now);
        channel.phase = Phase::Handshake(handshake);
        if let Err(error) = started {
            channel.close(Some(error.clone()));
            return Err(error);
        }
        Ok(channel)
    }

    /// This channel's number.
    pub fn number(&self) -> ChannelNumber {
        self.number
    }

    /// The next bytes to send, in one write call if possible; takes work from the session when
    /// there is room for it. Nothing to send: `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<&[u8]> {
        match self.poll_transmission(now)? {
            Transmission::Bytes { bytes, .. } => Some(bytes),
            // there is none unless the driver wanted it
            Transmission::Origin(_) => None,
        }
    }

    /// The same for a driver that can find bytes at their origin.
    pub fn poll_transmission(&mut self, now: Time) -> Option<Transmission<'_>> {
        self.notice_end();
        let idle = self.transmit.is_empty() && matches!(self.phase, Phase::Up);
        if idle && let Err(error) = self.fill(now) {
            self.close(Some(error));
        }
        if let Some(Front::ToSeal { message_id, range }) = self.transmit.front()
            && let Some(message) = self.outstanding.write_bytes(message_id, range)
            && let Some(sealer) = self.keys.sealer()
            && let Err(error) = self.transmit.seal(sealer, message)
        {
            self.close(Some(error));
        }
        let bytes = match self.transmit.front()? {
            Front::Small(bytes) => bytes,
            Front::Write { message_id, range } => {
                self.outstanding.write_bytes(message_id, range)?
            }
            Front::ToSeal { .. } => return None,
            Front::Origin(part) => return Some(Transmission::Origin(part)),
        };
        let more = self.transmit.origin_follows();
        Some(Transmission::Bytes { bytes, more })
    }

    /// The bytes of the last [`Self::poll_transmission`] cannot be found. The server was promised
    /// so many bytes, so it gets zeros, and the write fails.
    pub fn origin_failed(&mut self, error: std::io::Error) {
        let error = Error::Source(Arc::new(error));
        let Some(message_id) = self.transmit.origin_ended() else {
            return;
        };
        if let Some(Pending {
            job: Job::WriteFrom { piece, .. },
            ..
        }) = self.outstanding.get(message_id)
        {
            self.session.stop_transfer(piece.transfer.key, error);
        }
    }

    /// So many bytes of the last [`Self::poll_transmit`] have been sent.
    pub fn transmitted(&mut self, count: usize, now: Time) {
        // what was ready before and had to wait shows that the transport moves; a dead one also takes
        // some small requests
        if now > self.ready_at {
            self.silence.sent(now);
        }
        self.headway.moved(count, now);
        self.statistics.sent_bytes += count as u64;
        self.transmit.sent(count);
    }

    /// Where the next received bytes go; never empty.
    pub fn receive_buffer(&mut self) -> &mut [u8] {
        self.receive.buffer()
    }

    /// So many bytes have been put into [`Self::receive_buffer`]. Sinks are called from here.
    pub fn received(&mut self, count: usize, now: Time) {
        self.notice_end();
        if count == 0 || matches!(self.phase, Phase::Closed) {
            return;
        }
        self.statistics.received_bytes += count as u64;
        self.silence.heard(now);
        let done = match self.receive.advance(count) {
            Ok(Progress::More) => {
                self.headway.moved(count, now);
                Ok(())
            }
            Ok(Progress::Head(Envelope::Plain(header), length)) => self.route(&header, length),
            Ok(Progress::Head(Envelope::Sealed(transform), length)) => {
                self.route_sealed(&transform, length)
            }
            Ok(Progress::Frame(Envelope::Plain(header), frame)) => {
                self.frame(&header, frame, false, now)
            }
            Ok(Progress::Frame(Envelope::Sealed(transform), frame)) => {
                self.open(&transform, frame, now)
            }
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            self.close(Some(error));
        }
    }

    /// The transport failed, or the peer closed it. [`Event::Closed`] follows.
    pub fn transport_failed(&mut self, cause: Box<dyn std::error::Error + Send + Sync>) {
        self.notice_end();
        self.close(Some(Error::Transport(cause.into())));
    }

    /// The server's transport has confirmed something at this time. A driver that knows should say
    /// so before [`Self::handle_timeout`]: the way there and the machine live then, and a server
    /// whose disk starts up is given until the time-out of its requests.
    pub fn acknowledged(&mut self, at: Time) {
        self.silence.heard(at);
    }

    /// The server's transport has confirmed so many bytes in all: a slow link that is still busy with what we
    /// have sent is no server that does nothing.
    pub fn confirmed(&mut self, in_all: u64, now: Time) {
        self.headway.confirmed(in_all, now);
    }

    /// What happened. Ask until there is nothing more, whenever something was done.
    pub fn next_event(&mut self) -> Option<Event> {
        self.notice_end();
        self.events.pop_front()
    }

    /// The driver had nothing to do from one moment to another, neither to send nor to receive: that time
    /// counts for what work lacked. What the driver itself takes is no part of it.
    pub fn waited(&mut self, from: Time, until: Time) {
        let time = until.since(from);
        // what is ready to be sent waits for the transport
        match self.lack.filter(|_| self.transmit.is_empty()) {
            Some(Lack::Credits) => self.statistics.credit_wait += time,
            Some(Lack::Block) => self.statistics.block_wait += time,
            None => {}
        }
    }

    /// Counters.
    pub fn statistics(&self) -> ChannelStatistics {
        ChannelStatistics {
            credits: self.credits.balance(),
            outstanding: u32::try_from(self.outstanding.len()).unwrap_or(u32::MAX),
            outstanding_bytes: self.depth.in_flight_bytes(),
            ..self.statistics
        }
    }
}

impl Channel {
    /// The answer to a request makes no sense: it is of no use to send it again.
    fn senseless(&self, doing: Operation, error: &Error) -> Error {
        loss(self.number, doing, Some(&Arc::new(error.clone())))
    }

    /// Closes when the session has ended meanwhile.
    fn notice_end(&mut self) {
        if let Phase::Closed = self.phase {
            return;
        }
        if let Some(cause) = self.session.ended() {
            self.close(cause.map(|cause| Error::SessionEnded(Some(cause))));
        } else if self.session.cannot_be_renewed()
            && matches!(self.phase, Phase::Up)
            && self.outstanding.len() == 0
        {
            // what is under way is not lost: the server refuses it, so it can wait for another login
            let expired = NtStatus::NETWORK_SESSION_EXPIRED;
            self.close(Some(Error::refused(Operation::AfterExpiry, expired)));
        }
    }

    /// Ends the channel once; the session takes back what was under way.
    fn close(&mut self, cause: Option<Error>) {
        if std::mem::replace(&mut self.left, true) {
            return;
        }
        self.phase = Phase::Closed;
        self.transmit = Transmit::default();
        // drops a block that was being filled; and there is always room to receive
        self.receive = Receive::new();
        let cause = cause.map(Arc::new);
        let mut lost = std::mem::take(&mut self.lost);
        for pending in self.outstanding.take_all() {
            lost.extend(pending.job.into_work());
        }
        lost.extend(self.chains.take_lost());
        let validations = std::mem::take(&mut self.validations);
        lost.extend(
            validations
                .into_iter()
                .map(|connected| Lost::Control(connected.control)),
        );
        self.session.leave(self.number, cause.clone(), lost);
        self.events
            .push_back(Event::Closed(cause.map(|cause| (*cause).clone())));
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.close(Some(Error::Cancelled));
    }
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Channel")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
