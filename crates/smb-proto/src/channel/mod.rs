//! One TCP connection: framing, message ids, credits, signing; bytes and time in, bytes out.
//!
//! The thread that drives a channel owns it. Dropping a channel gives its work back to the
//! session.

mod chain;
mod credits;
mod depth;
mod login;
mod pending;
mod receive;
mod silence;
mod transmit;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use chain::Chains;
use credits::{CREDIT_BYTES, Credits};
use depth::Depth;
use login::{Agreed, Handshake};
use pending::{Connected, Job, Outstanding, Pending};
use receive::{Envelope, Frame, Progress, Receive};
use silence::{Due, Silence};
pub use transmit::OriginPart;
use transmit::{Front, Protection, Transmit};

use crate::auth::Authenticator;
use crate::block::{Block, Payload, Reservation};
use crate::crypto::Signer;
use crate::error::{Error, NtStatus, Result};
use crate::sealing::{Sealer, SealingKeys};
use crate::session::{
    Appetite, ChannelNumber, Dialect, LISTING_BYTES_MAX, Lost, Pull, ReadPiece, Session, TreeId,
    Work, Write, loss, says_replay,
};
use crate::time::Time;
use crate::wire::{
    BreakNotice, Command, FileId, HEADER_LENGTH, Header, IoctlRequest, IoctlResponse, Message as _,
    PREFIX_LENGTH, ReadRequest, ReadResponse, TransformHeader, WRITE_DATA_OFFSET, WriteRequest,
    WriteResponse, control, flags, frame_prefix,
};

/// So many frames at most are made ready before the driver gets to send them.
const FRAMES_BEFORE_SENDING_MAX: usize = 16;
/// A frame that is not the reply to a READ is at most so long: two listings and something small.
const CONTROL_FRAME_MAX: usize = 2 * LISTING_BYTES_MAX as usize + (1 << 16);
/// What a server says that has lost the session, and with it the keys.
const LOST_SESSION: [NtStatus; 2] = [
    NtStatus::USER_SESSION_DELETED,
    NtStatus::NETWORK_SESSION_EXPIRED,
];

/// How a channel is to be.
pub struct ChannelSettings {
    /// Wakes the thread that drives the channel: there is work, or a block came home.
    pub waker: Waker,
    /// A fresh authentication.
    pub authenticator: Box<dyn Authenticator>,
    /// Random bytes for the 3.1.1 handshake.
    pub salt: [u8; 32],
    /// A request without any answer for so long ends the channel.
    pub request_timeout: Duration,
    /// Negotiation and login may take so long in all.
    pub login_timeout: Duration,
    /// The driver can find bytes at the origin of a source, too: it calls [`Channel::poll_transmission`].
    pub sends_origins: bool,
    /// Silence with requests under way for so long makes us ask for a sign of life.
    pub echo_after: Duration,
    /// No sign of life for so long after that ends the channel: the way to the server is dead. See
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
            request_timeout: Duration::from_secs(60),
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
    /// The server wants to hear again who we are: the driver calls [`Channel::authenticate_again`].
    Expired,
    /// It is over; the driver closes the socket. `None`: as wished, after a log-off or
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
    /// How often work had to wait for credits.
    pub credit_starved: u64,
    /// How often work had to wait for a block.
    pub block_starved: u64,
    /// Replies that took so long that the server sent an interim one.
    pub interims: u64,
}

enum Phase {
    Handshake(Box<Handshake>),
    Up,
    Closed,
}

/// How a message to be sent is protected.
#[derive(Clone)]
enum Guard {
    Plain,
    Signed(Signer),
    Sealed,
}

/// A message to be sent, without its body.
struct Outgoing {
    command: Command,
    tree_id: TreeId,
    /// Decides the credit charge.
    payload: u32,
    guard: Guard,
    /// The server may have seen it already.
    replay: bool,
}

impl Outgoing {
    /// Unprotected, as all of a login is.
    fn new(command: Command) -> Self {
        Self {
            command,
            tree_id: TreeId::NONE,
            payload: 0,
            guard: Guard::Plain,
            replay: false,
        }
    }
}

/// One TCP connection of a session.
pub struct Channel {
    number: ChannelNumber,
    session: Session,
    phase: Phase,
    request_timeout: Duration,
    sends_origins: bool,
    silence: Silence,
    /// When the last request was ready to be sent.
    ready_at: Time,
    idle_echo_after: Option<Duration>,
    agreed: Option<Agreed>,
    /// What NEGOTIATE offered on this connection.
    offered: Vec<Dialect>,
    session_id: u64,
    /// The login again, of a session that has expired.
    renewal: Option<Box<Handshake>>,
    /// Channel.SigningKey; none before the login and for guests.
    signer: Option<Signer>,
    /// Sign everything, READs and WRITEs perhaps excepted.
    signing: bool,
    /// Sign READs and WRITEs.
    data_signing: bool,
    /// None where no cipher was agreed, before the login, and for guests.
    sealer: Option<Sealer>,
    /// For what the server encrypts; there is one whenever there is a sealer.
    sealing: Option<SealingKeys>,
    /// Encrypt everything.
    encrypting: bool,
    /// NEGOTIATE was checked, see [`Channel::must_validate`].
    validated: bool,
    /// Checks that wait for a credit.
    validations: VecDeque<Box<Connected>>,
    credits: Credits,
    /// There was work that credits did not suffice for, since the last reply.
    credit_starved: bool,
    next_message_id: u64,
    outstanding: Outstanding,
    chains: Chains,
    depth: Depth,
    data_bytes: u64,
    data_requests: usize,
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
        let (bytes, fixed) = {
            let settings = session.settings();
            (settings.depth_bytes_max, settings.depth_fixed)
        };
        let handshake = Handshake::new(joins, settings.authenticator, settings.salt, deadline);
        let mut channel = Self {
            number,
            session: session.clone(),
            phase: Phase::Closed,
            request_timeout: settings.request_timeout,
            sends_origins: settings.sends_origins,
            silence: Silence::new(settings.echo_after, settings.silence_max, now),
            ready_at: now,
            idle_echo_after: settings.idle_echo_after,
            agreed: None,
            offered: Vec::new(),
            session_id: 0,
            renewal: None,
            signer: None,
            signing: false,
            data_signing: false,
            sealer: None,
            sealing: None,
            encrypting: false,
            validated: false,
            validations: VecDeque::new(),
            credits: Credits::new(),
            credit_starved: false,
            next_message_id: 0,
            outstanding: Outstanding::default(),
            chains: Chains::default(),
            depth: Depth::new(bytes, fixed),
            data_bytes: 0,
            data_requests: 0,
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
            && let Some(sealer) = &mut self.sealer
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
            Ok(Progress::More) => Ok(()),
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

    /// What happened. Ask until there is nothing more, whenever something was done.
    pub fn next_event(&mut self) -> Option<Event> {
        self.notice_end();
        self.events.pop_front()
    }

    /// When to call [`Self::handle_timeout`], if nothing else happens before.
    pub fn next_timeout(&self) -> Option<Time> {
        let unanswered = self.outstanding.oldest_unanswered();
        let request = unanswered.map(|pending| pending.sent_at.after(self.request_timeout));
        let phase = match &self.phase {
            Phase::Handshake(handshake) => Some(handshake.deadline),
            Phase::Up => {
                let silence = self.silence_due().map(|(due, _)| due);
                let later = self.session.look_again_at();
                [silence, later].into_iter().flatten().min()
            }
            Phase::Closed => return None,
        };
        [request, phase].into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        self.notice_end();
        if matches!(self.phase, Phase::Up)
            && self.session.look_again_at().is_some_and(|at| now >= at)
        {
            self.session.look_again(now);
        }
        let oldest = self.outstanding.oldest_unanswered();
        let waiting_for = oldest.map_or("anything", |pending| pending.command.name());
        let late = oldest.filter(|pending| now >= pending.sent_at.after(self.request_timeout));
        if let Some(pending) = late {
            let seconds = now.since(pending.sent_at).as_secs();
            return self.close(Some(Error::TimedOut {
                seconds,
                waiting_for,
            }));
        }
        let done = match &self.phase {
            Phase::Handshake(handshake) if now >= handshake.deadline => Err(Error::TimedOut {
                seconds: self.silence.seconds(now),
                waiting_for,
            }),
            Phase::Up => match self.silence_due().filter(|(due, _)| now >= *due) {
                Some((_, Due::SignOfLife)) => self.echo(now),
                Some((_, Due::End)) => Err(Error::TimedOut {
                    seconds: self.silence.seconds(now),
                    waiting_for,
                }),
                None => Ok(()),
            },
            _ => Ok(()),
        };
        if let Err(error) = done {
            self.close(Some(error));
        }
    }

    /// Counters.
    pub fn statistics(&self) -> ChannelStatistics {
        ChannelStatistics {
            credits: self.credits.balance(),
            outstanding: u32::try_from(self.outstanding.len()).unwrap_or(u32::MAX),
            ..self.statistics
        }
    }
}

/// Sending.
impl Channel {
    /// Makes frames of work, until there is no more of it or enough for now.
    fn fill(&mut self, now: Time) -> Result<()> {
        for _ in 0..FRAMES_BEFORE_SENDING_MAX {
            if self.credits.balance() == 0 {
                if self.outstanding.len() == 0 {
                    return Err(Error::Misbehaving(
                        "it granted no credits to go on with".into(),
                    ));
                }
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
                Pull::Nothing => false,
            };
            if data && short && !std::mem::replace(&mut self.credit_starved, true) {
                self.statistics.credit_starved += 1;
                self.credits.starved();
            }
            match pull {
                Pull::Work(work) => self.start(work, now)?,
                Pull::DataWaits => {
                    // it could have been read, were there a block for it
                    self.statistics.block_starved += u64::from(appetite.read_bytes > 0);
                    break;
                }
                Pull::Nothing => break,
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
        let settings = self.session.settings();
        let large = agreed.large_mtu();
        let bytes_of = |credits: u32| match credits {
            0 => 0,
            _ if !large => CREDIT_BYTES,
            credits => credits.saturating_mul(CREDIT_BYTES),
        };
        let (depth_bytes, times) = self.depth.limit();
        let full = self.data_bytes >= depth_bytes
            || self.data_requests >= settings.depth_requests_max * times;
        let most = self.session.chunk_bytes_max();
        let most = if large { most } else { most.min(CREDIT_BYTES) };
        let afford = bytes_of(self.credits.for_data(self.data_requests));
        let short = !full && afford < most.min(agreed.read_bytes_max).min(agreed.write_bytes_max);
        // rather one large request a little later than many small ones
        let wait = full || (short && self.data_requests > 0);
        let data = if wait { 0 } else { most.min(afford) };
        let appetite = Appetite {
            control_bytes: bytes_of(self.credits.balance()),
            credits: self.credits.balance(),
            idle: self.outstanding.len() == 0,
            read_bytes: data.min(agreed.read_bytes_max).min(self.depth.piece()),
            write_bytes: data.min(agreed.write_bytes_max),
            now,
            from_origins: self.sends_origins && !self.encrypting && !self.data_signing,
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
                // TREE_CONNECT is always signed: it proves that the login was not tampered with
                let sign = self.signing || prepared.command == Command::TREE_CONNECT;
                outgoing.guard = self.guard(prepared.tree_id, sign);
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

    fn header(&mut self, outgoing: &Outgoing) -> Result<Header> {
        let agreed = self.agreed.as_ref();
        let large_mtu = agreed.is_some_and(Agreed::large_mtu);
        let charge = credits::charge(outgoing.payload, large_mtu);
        if self.credits.balance() < u32::from(charge) {
            return Err(Error::Misbehaving(
                "it granted no credits to go on with".into(),
            ));
        }
        let mut header = Header::request(outgoing.command, self.next_message_id);
        // MessageIds leave without holes: they are taken here and nowhere else
        self.next_message_id += u64::from(charge);
        // 2.0.2 has no such field
        let charges = agreed.is_none_or(|agreed| agreed.dialect > Dialect::Smb202);
        header.credit_charge = if charges { charge } else { 0 };
        header.credits = self.credits.spend(charge);
        if agreed.is_some_and(Agreed::counts_channels) {
            header.status = NtStatus(u32::from(self.session.channel_sequence()));
        }
        header.session_id = self.session_id;
        for (wanted, flag) in [
            (matches!(outgoing.guard, Guard::Signed(_)), flags::SIGNED),
            (outgoing.replay, flags::REPLAY),
        ] {
            header.flags |= if wanted { flag } else { 0 };
        }
        Ok(header.with_tree(outgoing.tree_id.number))
    }

    /// Queues a message; gives it as it will be sent.
    fn send(&mut self, outgoing: Outgoing, body: &[u8], job: Job, now: Time) -> Result<&[u8]> {
        let header = self.header(&outgoing)?;
        self.expect(&header, &outgoing, 0, job, now);
        self.push(&header, body, &outgoing)
    }

    fn push(&mut self, header: &Header, body: &[u8], outgoing: &Outgoing) -> Result<&[u8]> {
        let protection = match (&outgoing.guard, &mut self.sealer) {
            (Guard::Sealed, Some(sealer)) => Protection::Sealed(sealer),
            (Guard::Signed(signer), _) => Protection::Signed(signer),
            (Guard::Plain | Guard::Sealed, _) => Protection::Plain,
        };
        self.transmit.push(header, body, protection)
    }

    /// How to protect a request about a share: encrypted where it must be, else signed if `sign`.
    fn guard(&self, tree_id: TreeId, sign: bool) -> Guard {
        let seal = self.encrypting || tree_id.encrypted;
        match &self.signer {
            _ if seal && self.sealer.is_some() => Guard::Sealed,
            Some(signer) if sign => Guard::Signed(signer.clone()),
            _ => Guard::Plain,
        }
    }

    fn expect(
        &mut self,
        header: &Header,
        outgoing: &Outgoing,
        data_bytes: u32,
        job: Job,
        now: Time,
    ) {
        if data_bytes > 0 {
            self.depth.sent(self.data_requests == 0, now);
            self.data_bytes += u64::from(data_bytes);
            self.data_requests += 1;
        }
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
            guard: self.guard(tree_id, self.data_signing),
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
            let room = &mut block.room()[..length as usize];
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

    fn validate(&mut self, connected: Box<Connected>, now: Time) -> Result<()> {
        let mut outgoing = Outgoing::new(Command::IOCTL);
        outgoing.tree_id = TreeId {
            number: connected.header.tree_id(),
            encrypted: connected.is_encrypted(),
        };
        outgoing.guard = self.guard(outgoing.tree_id, true);
        let mut body = Vec::new();
        IoctlRequest {
            control: control::VALIDATE_NEGOTIATE_INFO,
            file: FileId::NONE,
            input: &self.validation_input(),
            output_max: 24,
        }
        .encode(&mut body);
        self.send(outgoing, &body, Job::Validate(connected), now)
            .map(drop)
    }

    /// What is to be done about silence, and when, if it lasts.
    fn silence_due(&self) -> Option<(Time, Due)> {
        match self.outstanding.oldest_sent_at() {
            Some(oldest) => Some(self.silence.due(oldest, self.credits.balance() > 0)),
            None => {
                let due = self.silence.idle_since().after(self.idle_echo_after?);
                Some((due, Due::SignOfLife))
            }
        }
    }

    /// After some silence: is the server still there?
    fn echo(&mut self, now: Time) -> Result<()> {
        let idle = self.outstanding.len() == 0;
        if idle && (self.credits.balance() == 0 || self.session.channels_up().len() < 2) {
            // there is no other way; whether this one is dead shows when it is needed
            self.silence.heard(now);
            return Ok(());
        }
        self.silence.asked(now);
        let mut outgoing = Outgoing::new(Command::ECHO);
        outgoing.guard = self.guard(TreeId::NONE, self.signing);
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

/// Receiving.
impl Channel {
    /// Decides where the rest of a frame goes.
    fn route(&mut self, header: &Header, length: usize) -> Result<()> {
        self.statistics.received_frames += 1;
        let plain = header.command == Command::READ
            && header.status == NtStatus::SUCCESS
            && header.has(flags::RESPONSE)
            && header.next_command == 0;
        if plain
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
                    Err(Error::Misbehaving(
                        "it sends more than was to be read".into(),
                    ))
                }
            };
        }
        if length > CONTROL_FRAME_MAX {
            return Err(Error::Misbehaving(format!(
                "it sends a frame of {length} bytes"
            )));
        }
        self.receive.direct_to_control(length);
        Ok(())
    }

    /// Decides where the rest of an encrypted frame goes. What it is shows only when it is
    /// decrypted, in place; so that the data of a READ need not be moved then, it comes into a block
    /// that waits for data.
    fn route_sealed(&mut self, transform: &TransformHeader, length: usize) -> Result<()> {
        self.statistics.received_frames += 1;
        if self.sealing.is_none() {
            return Err(Error::Misbehaving(
                "it encrypts, which was not agreed".into(),
            ));
        }
        if transform.session_id != self.session_id {
            return Err(Error::Misbehaving("it encrypts for another session".into()));
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
        if length > CONTROL_FRAME_MAX {
            return Err(Error::Misbehaving(format!(
                "it sends a frame of {length} bytes"
            )));
        }
        self.receive.direct_to_control(length);
        Ok(())
    }

    /// Decrypts a frame in place, and goes on with what was in it.
    fn open(&mut self, transform: &TransformHeader, frame: Frame, now: Time) -> Result<()> {
        let (lender, mut block, place) = match frame {
            Frame::Control(mut message) => {
                let header = self.unseal(transform, &mut message)?;
                return self.frame(&header, Frame::Control(message), true, now);
            }
            Frame::Read {
                message_id,
                block,
                message,
            } => (message_id, block, message),
        };
        let header = self.unseal(transform, &mut block.raw_mut()[place.clone()])?;
        let message_id = header.message_id;
        let data = header.command == Command::READ
            && header.status == NtStatus::SUCCESS
            && header.has(flags::RESPONSE)
            && header.next_command == 0;
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

    fn unseal(&self, transform: &TransformHeader, message: &mut [u8]) -> Result<Header> {
        let opened = self
            .sealing
            .as_ref()
            .is_some_and(|keys| keys.open(transform, message));
        if !opened {
            return Err(Error::Misbehaving(
                "what it encrypted cannot be decrypted".into(),
            ));
        }
        Ok(Header::decode(message)?)
    }

    fn frame(&mut self, header: &Header, frame: Frame, sealed: bool, now: Time) -> Result<()> {
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

    /// Checks what any message must fulfil. `None`: nothing more is to be done with it.
    fn admit(&mut self, header: &Header, message: &mut [u8], sealed: bool) -> Result<Option<u64>> {
        if !header.has(flags::RESPONSE) {
            return Err(Error::Misbehaving("it sends a request".into()));
        }
        self.check_sealed(header, sealed)?;
        if header.message_id == u64::MAX || header.command == Command::NOTIFICATION {
            if header.command == Command::OPLOCK_BREAK {
                let notice = BreakNotice::decode(&message[HEADER_LENGTH..])?;
                self.session.broken(&notice);
            }
            return Ok(None);
        }
        let unknown = || {
            Error::Misbehaving(format!(
                "it answers request {} ({}), which is not under way",
                header.message_id,
                header.command.name()
            ))
        };
        let pending = self
            .outstanding
            .get(header.message_id)
            .ok_or_else(unknown)?;
        if pending.command != header.command {
            let (asked, answered) = (pending.command.name(), header.command.name());
            return Err(Error::Misbehaving(format!(
                "it answers {asked} by {answered}"
            )));
        }
        if self.transmit.holds_write(header.message_id) {
            return Err(Error::Misbehaving(
                "it answers a WRITE before it has all of it".into(),
            ));
        }
        if header.status == NtStatus::PENDING {
            return self.interim(header);
        }
        if !sealed {
            self.check_signature(header, message)?;
        }
        if header.status == NtStatus::USER_SESSION_DELETED
            && header.command != Command::LOGOFF
            && matches!(self.phase, Phase::Up)
            && self.session.settings().reconnect
        {
            let doing = header.command.name().into();
            let status = header.status;
            return Err(Error::Refused { doing, status });
        }
        let pending = self
            .outstanding
            .get(header.message_id)
            .ok_or_else(unknown)?;
        self.credits.answered(pending.credits_asked, header.credits);
        self.credit_starved = false;
        Ok(Some(header.message_id))
    }

    /// The server says that it takes longer; the credits come now (3.2.5.1.5).
    fn interim(&mut self, header: &Header) -> Result<Option<u64>> {
        if !header.has(flags::ASYNC) {
            return Err(Error::Misbehaving(
                "it puts a request off without a number".into(),
            ));
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

    /// Demands encryption where the request was encrypted, or everything is.
    fn check_sealed(&self, header: &Header, sealed: bool) -> Result<()> {
        let pending = self.outstanding.get(header.message_id);
        if sealed || !(self.encrypting || pending.is_some_and(|pending| pending.sealed)) {
            return Ok(());
        }
        let name = header.command.name();
        // a server that has lost the session has no key either; believing it only ends the channel
        if LOST_SESSION.contains(&header.status) {
            return Err(Error::Refused {
                doing: name.into(),
                status: header.status,
            });
        }
        Err(Error::Misbehaving(format!(
            "its {name} reply is not encrypted"
        )))
    }

    /// Verifies every signature there is, and demands one where the request was signed.
    fn check_signature(&self, header: &Header, message: &mut [u8]) -> Result<()> {
        // in the handshake, other keys and rules hold
        let (Phase::Up, Some(signer)) = (&self.phase, &self.signer) else {
            return Ok(());
        };
        if header.has(flags::SIGNED) {
            return match signer.verify(message)? {
                true => Ok(()),
                false => Err(Error::Misbehaving(format!(
                    "the signature of its {} reply is wrong",
                    header.command.name()
                ))),
            };
        }
        let signed = self
            .outstanding
            .get(header.message_id)
            .is_some_and(|pending| pending.signed);
        // a server that has lost the session has no key either; believing it only ends the channel
        if signed && LOST_SESSION.contains(&header.status) {
            let doing = header.command.name().into();
            return Err(Error::Refused {
                doing,
                status: header.status,
            });
        }
        if signed {
            let command = header.command.name();
            return Err(Error::Misbehaving(format!(
                "its {command} reply is not signed"
            )));
        }
        Ok(())
    }

    fn finish(&mut self, message_id: u64, now: Time) -> Option<Pending> {
        let pending = self.outstanding.remove(message_id)?;
        self.depth.answered(now.since(pending.sent_at));
        if pending.data_bytes > 0 {
            self.depth.delivered(pending.data_bytes.into(), now);
            self.data_bytes -= u64::from(pending.data_bytes);
            self.data_requests -= 1;
        }
        Some(pending)
    }

    fn control_frame(
        &mut self,
        header: &Header,
        message: &mut Vec<u8>,
        sealed: bool,
        now: Time,
    ) -> Result<()> {
        if header.next_command != 0 {
            return self.chained_frame(*header, message, sealed, now);
        }
        let Some(message_id) = self.admit(header, message, sealed)? else {
            return Ok(());
        };
        let Some(pending) = self.finish(message_id, now) else {
            return Ok(());
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
                let connected =
                    pending.command == Command::TREE_CONNECT && header.status == NtStatus::SUCCESS;
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
            Job::Link { chain, position } => {
                self.link_answered(chain, position, header, std::mem::take(message))
            }
            Job::Validate(connected) => self.was_validated(*connected, header, message, now),
            // a success goes into its block and not here, unless it comes a second time
            Job::Read { piece, .. } if header.status == NtStatus::SUCCESS => {
                self.lost.push(Lost::Read(piece));
                Err(Error::Misbehaving("it answers a READ twice".into()))
            }
            Job::Read { piece, .. } => {
                match header.status {
                    NtStatus::END_OF_FILE if !piece.copies.answer() => {
                        self.session.read_in_vain(self.number);
                    }
                    NtStatus::END_OF_FILE => self.session.read_done(self.number, &piece, 0),
                    status => self.session.read_refused(self.number, &piece, status),
                }
                Ok(())
            }
            Job::Write { write, length } => {
                self.write_answered(Lost::Write(write), length, header, message, now)
            }
            Job::WriteFrom { piece, length, .. } => {
                self.write_answered(Lost::Read(piece), length, header, message, now)
            }
        }
    }

    fn conclude(
        &mut self,
        control: crate::session::Control,
        header: &Header,
        message: &mut Vec<u8>,
        now: Time,
    ) -> Result<()> {
        let sink = Arc::clone(&control.sink);
        let done = self
            .session
            .control_done(self.number, control, header, message, now);
        if let Err(error) = &done {
            sink.done(Err(self.senseless("waiting for a reply", error)));
        }
        done
    }

    /// The check of NEGOTIATE was answered (3.2.5.14.12).
    fn was_validated(
        &mut self,
        connected: Connected,
        header: &Header,
        message: &[u8],
        now: Time,
    ) -> Result<()> {
        let Connected {
            control,
            header: tree_header,
            message: mut tree_message,
        } = connected;
        let old_server = [
            NtStatus::FILE_CLOSED,
            NtStatus::INVALID_DEVICE_REQUEST,
            NtStatus::NOT_SUPPORTED,
        ];
        let checked = match header.status {
            NtStatus::SUCCESS => IoctlResponse::decode(&message[HEADER_LENGTH..])
                .map_err(Error::from)
                .and_then(|response| self.check_validation(response.output)),
            // its signature was right, so this is no trick
            status if old_server.contains(&status) => Ok(()),
            status => Err(Error::Refused {
                doing: "checking the negotiation".into(),
                status,
            }),
        };
        match checked {
            Ok(()) => {
                self.validated = true;
                self.conclude(control, &tree_header, &mut tree_message, now)
            }
            Err(error) => {
                let failure = self.senseless("checking the negotiation", &error);
                control.sink.done(Err(failure));
                Err(error)
            }
        }
    }

    /// A WRITE was answered, of a payload or of a piece of a source.
    fn write_answered(
        &mut self,
        work: Lost,
        length: u32,
        header: &Header,
        message: &[u8],
        now: Time,
    ) -> Result<()> {
        if header.status != NtStatus::SUCCESS {
            self.session
                .write_refused(self.number, work, header.status, now);
            return Ok(());
        }
        let count = match written(message, length) {
            Ok(count) => count,
            Err(error) => {
                let failure = self.senseless("writing", &error);
                self.session.write_ended(self.number, work, failure);
                return Err(error);
            }
        };
        self.statistics.written_bytes += u64::from(count);
        match work {
            Lost::Write(write) => self.session.write_done(self.number, write, count),
            Lost::Read(piece) => {
                if piece.transfer.is_wanted() {
                    piece.transfer.sink.written(count.into());
                }
                self.session.read_done(self.number, &piece, count);
            }
            Lost::Control(_) => {}
        }
        Ok(())
    }

    /// Checks a READ's reply in its block; gives where the data is.
    fn read_frame(
        &mut self,
        header: &Header,
        block: &mut Block,
        message: &Range<usize>,
        sealed: bool,
    ) -> Result<Range<usize>> {
        let bytes = &mut block.raw_mut()[message.clone()];
        self.admit(header, bytes, sealed)?;
        let response = ReadResponse::decode(&bytes[HEADER_LENGTH..])?;
        let asked = self
            .outstanding
            .get(header.message_id)
            .map_or(0, |pending| pending.data_bytes);
        let length = response.data.len();
        if length == 0 || length > asked as usize {
            return Err(Error::Misbehaving(format!(
                "it reads {length} bytes of {asked}"
            )));
        }
        let start = message.start + usize::from(response.data_offset);
        Ok(start..start + length)
    }

    fn read_answered(
        &mut self,
        message_id: u64,
        block: Block,
        data: Range<usize>,
        now: Time,
    ) -> Result<()> {
        let Some(Pending {
            job: Job::Read { piece, .. },
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
        self.session.read_done(self.number, &piece, length);
        Ok(())
    }
}

/// How much a WRITE wrote of so many bytes.
fn written(message: &[u8], length: u32) -> Result<u32> {
    match WriteResponse::decode(&message[HEADER_LENGTH..])?.count {
        count if (1..=length).contains(&count) => Ok(count),
        count => Err(Error::Misbehaving(format!(
            "it wrote {count} bytes of {length}"
        ))),
    }
}

/// Ending.
impl Channel {
    /// The answer to a request makes no sense: it is of no use to send it again.
    fn senseless(&self, doing: &'static str, error: &Error) -> Error {
        loss(self.number, doing, Some(&Arc::new(error.clone())))
    }

    /// Closes when the session has ended meanwhile.
    fn notice_end(&mut self) {
        if let Phase::Closed = self.phase {
            return;
        }
        if let Some(cause) = self.session.ended() {
            self.close(cause.map(|cause| Error::SessionEnded(Some(cause))));
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
            lost.extend(match pending.job {
                Job::Negotiate | Job::SessionSetup | Job::Echo | Job::Link { .. } => None,
                Job::Control(control) => Some(Lost::Control(control)),
                Job::Validate(connected) => Some(Lost::Control(connected.control)),
                Job::Read { piece, .. } | Job::WriteFrom { piece, .. } => Some(Lost::Read(piece)),
                Job::Write { write, .. } => Some(Lost::Write(write)),
            });
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
