//! Virtual time, links with delay, and the drivers of all channels, in one thread.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::Duration;

use smb_proto::session::CreateOptions;
use smb_proto::{
    Block, BlockPool, Channel, ChannelSettings, Error, Event, FileKey, Payload, Reply, Request,
    Session, SessionSettings, Sink, Source, Time, Transmission, TreeKey,
};

use crate::seeded_random::Random;
use crate::toy_server::{Behaviour, FakeLogin, Server, lease_break_of};

/// Keeps what a sink hears.
#[derive(Default)]
pub(crate) struct Ear {
    pub(crate) pieces: Mutex<Vec<(u64, Payload)>>,
    outcomes: Mutex<VecDeque<Result<Reply, Error>>>,
    /// Pieces are dropped at once.
    forgetful: bool,
    late: AtomicBool,
    /// Bytes of a source that were confirmed.
    pub(crate) written: AtomicU64,
}

impl Ear {
    pub(crate) fn forgetful() -> Arc<Self> {
        Arc::new(Self {
            forgetful: true,
            ..Self::default()
        })
    }

    pub(crate) fn is_done(&self) -> bool {
        !self.outcomes.lock().expect("no panic").is_empty()
    }

    /// The outcome; there must be exactly one.
    pub(crate) fn outcome(&self) -> Result<Reply, Error> {
        let mut outcomes = self.outcomes.lock().expect("no panic");
        assert_eq!(outcomes.len(), 1, "a sink hears once");
        assert!(
            !self.late.load(Ordering::Relaxed),
            "a piece came after the end"
        );
        outcomes.pop_front().expect("one")
    }

    pub(crate) fn error(&self) -> Error {
        self.outcome().expect_err("it must fail")
    }

    /// The pieces put together; they must be without gap or overlap.
    pub(crate) fn joined(&self, start: u64) -> Vec<u8> {
        let mut pieces = std::mem::take(&mut *self.pieces.lock().expect("no panic"));
        pieces.sort_by_key(|(offset, _)| *offset);
        let mut joined = Vec::new();
        for (offset, payload) in pieces {
            assert_eq!(offset, start + joined.len() as u64, "pieces fit together");
            joined.extend_from_slice(payload.bytes());
        }
        joined
    }
}

/// Bytes to be written, which the channel or the driver gets.
pub(crate) struct Spring {
    content: Vec<u8>,
    /// Where the driver finds them.
    bytes_elsewhere: Option<Vec<u8>>,
}

impl Spring {
    pub(crate) fn of_memory(content: &[u8]) -> Arc<Self> {
        let content = content.to_vec();
        Arc::new(Self {
            content,
            bytes_elsewhere: None,
        })
    }

    pub(crate) fn of_origin(content: &[u8]) -> Arc<Self> {
        Arc::new(Self {
            content: content.to_vec(),
            bytes_elsewhere: Some(content.to_vec()),
        })
    }
}

impl Source for Spring {
    fn fill(&self, offset: u64, room: &mut [u8]) -> std::io::Result<()> {
        let start = usize::try_from(offset).expect("it is short");
        let bytes = self.content.get(start..start + room.len());
        room.copy_from_slice(bytes.ok_or(std::io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn origin(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.bytes_elsewhere.as_ref().map(|bytes| bytes as _)
    }
}

impl Sink for Ear {
    fn piece(&self, offset: u64, payload: Payload) {
        self.late.fetch_or(self.is_done(), Ordering::Relaxed);
        if !self.forgetful {
            self.pieces
                .lock()
                .expect("no panic")
                .push((offset, payload));
        }
    }

    fn written(&self, bytes: u64) {
        self.late.fetch_or(self.is_done(), Ordering::Relaxed);
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }

    fn done(&self, outcome: Result<Reply, Error>) {
        self.outcomes.lock().expect("no panic").push_back(outcome);
    }
}

#[derive(Default)]
struct Alarm(AtomicBool);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Driver {
    channel: Option<Channel>,
    connection: usize,
    alarm: Arc<Alarm>,
    up: bool,
    closed: Option<Option<Error>>,
    death: Option<Death>,
    /// A link keeps the order of its bytes.
    to_server: u64,
    to_client: u64,
}

/// How a connection dies, as far as the client can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Death {
    /// What is on its way to the server is lost.
    Early,
    /// What is on its way to the server arrives, only its answers are lost.
    Late,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Delivery {
    ToServer(Vec<u8>),
    /// A reply is ready; it goes onto the wire now.
    Ready(Option<Vec<u8>>),
    ToClient(Option<Vec<u8>>),
}

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) session: Session,
    pub(crate) pool: BlockPool,
    pub(crate) random: Random,
    pub(crate) now: u64,
    drivers: Vec<Driver>,
    deliveries: BinaryHeap<Reverse<(u64, u64, usize, Delivery)>>,
    serial: u64,
    /// How many steps were made.
    pub(crate) steps: usize,
    /// Bytes that were found at their origin; some were sent twice.
    pub(crate) from_origins: u64,
    /// After so many steps, this channel dies so.
    pub(crate) fate: Option<(usize, usize, Death)>,
    /// After so many steps each, all channels die so; last first.
    pub(crate) dooms: Vec<(usize, Death)>,
    /// After so many steps the session expires.
    pub(crate) expiry: Option<usize>,
    /// What has happened to the server when its client comes again.
    pub(crate) meanwhile: fn(&mut Server),
    /// The server's transport confirms whatever is sent, also when the server says nothing.
    pub(crate) confirms: bool,
    /// Channels that are opened from now on ask for a sign of life after so long without work.
    pub(crate) idle_echo_after: Option<Duration>,
}

pub(crate) const BLOCK: usize = 256 << 10;

impl World {
    pub(crate) fn new(seed: u64, behaviour: Behaviour, content: Vec<u8>) -> Self {
        Self::with(seed, behaviour, content, |_| {}, 64)
    }

    pub(crate) fn with(
        seed: u64,
        behaviour: Behaviour,
        content: Vec<u8>,
        change: impl FnOnce(&mut SessionSettings),
        blocks: usize,
    ) -> Self {
        let pool = BlockPool::new(blocks, BLOCK);
        let mut settings = SessionSettings::new("server", [0xC1; 16]);
        settings.depth_bytes_max = 4 * BLOCK as u64;
        change(&mut settings);
        let session = Session::new(settings, pool.clone()).expect("good settings");
        Self {
            server: Server::new(behaviour, content),
            session,
            pool,
            random: Random::new(seed),
            now: 0,
            drivers: Vec::new(),
            deliveries: BinaryHeap::new(),
            serial: 0,
            steps: 0,
            from_origins: 0,
            fate: None,
            dooms: Vec::new(),
            expiry: None,
            meanwhile: |_| {},
            confirms: false,
            idle_echo_after: None,
        }
    }

    /// A world with so many channels up and the file open.
    pub(crate) fn open(
        seed: u64,
        behaviour: Behaviour,
        content: Vec<u8>,
        channels: usize,
    ) -> (Self, FileKey) {
        let mut world = Self::new(seed, behaviour, content);
        let file = world.bring_up(channels);
        (world, file)
    }

    pub(crate) fn bring_up(&mut self, channels: usize) -> FileKey {
        for _ in 0..channels {
            let number = self.connect().expect("a channel may join");
            self.run_until(|world| world.drivers[number].up);
        }
        let tree = self.tree();
        let path = "folder/file".into();
        let options = CreateOptions::open(smb_proto::session::Access::ReadWrite);
        match self.ask(Request::Create {
            tree,
            path,
            options,
        }) {
            Ok(Reply::Created(file, _)) => file,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn tree(&mut self) -> TreeKey {
        match self.ask(Request::TreeConnect {
            share: "data".into(),
        }) {
            Ok(Reply::Tree(tree, _)) => tree,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn connect(&mut self) -> Result<usize, Error> {
        self.connect_with(false)
    }

    pub(crate) fn connect_with(&mut self, login_fails: bool) -> Result<usize, Error> {
        let alarm = Arc::new(Alarm::default());
        let nonce = self.random.bytes(16).try_into().expect("sixteen bytes");
        let login = FakeLogin {
            nonce,
            round: 0,
            fails: login_fails,
        };
        let waker = Waker::from(Arc::clone(&alarm));
        let mut settings = ChannelSettings::new(waker, Box::new(login), [0x5A; 32]);
        settings.sends_origins = true;
        settings.idle_echo_after = self.idle_echo_after;
        let channel = Channel::new(&self.session, settings, Time::from_nanos(self.now))?;
        let connection = self.server.accept();
        self.drivers.push(Driver {
            channel: Some(channel),
            connection,
            alarm,
            up: false,
            closed: None,
            death: None,
            to_server: 0,
            to_client: 0,
        });
        let number = self.drivers.len() - 1;
        self.drive(number);
        Ok(number)
    }

    pub(crate) fn is_up(&self, number: usize) -> bool {
        self.drivers[number].up && self.drivers[number].closed.is_none()
    }

    /// Why a channel closed: outer none: it did not; inner none: as wished.
    pub(crate) fn closed(&self, number: usize) -> Option<&Option<Error>> {
        self.drivers[number].closed.as_ref()
    }

    pub(crate) fn channel(&mut self, number: usize) -> &mut Channel {
        self.drivers[number]
            .channel
            .as_mut()
            .expect("it has not been dropped")
    }

    /// Lets the other channels go first.
    pub(crate) fn drop_alarm(&mut self, number: usize) {
        self.drivers[number].alarm.0.store(false, Ordering::Relaxed);
    }

    pub(crate) fn drop_channel(&mut self, number: usize) {
        self.drivers[number].channel = None;
    }

    pub(crate) fn ask(&mut self, request: Request) -> Result<Reply, Error> {
        let ear = Arc::new(Ear::default());
        self.session.submit(request, ear.clone());
        self.run_until(|_| ear.is_done());
        ear.outcome()
    }

    pub(crate) fn read(
        &mut self,
        file: FileKey,
        range: std::ops::Range<u64>,
    ) -> (Result<Reply, Error>, Vec<u8>) {
        let (ear, start) = (Arc::new(Ear::default()), range.start);
        self.session.read(file, range, ear.clone());
        self.run_until(|_| ear.is_done());
        (ear.outcome(), ear.joined(start))
    }

    pub(crate) fn read_forgetting(
        &mut self,
        file: FileKey,
        range: std::ops::Range<u64>,
    ) -> Result<Reply, Error> {
        let ear = Ear::forgetful();
        self.session.read(file, range, ear.clone());
        self.run_until(|_| ear.is_done());
        ear.outcome()
    }

    /// A block with this content.
    pub(crate) fn block(&self, content: &[u8]) -> Payload {
        let mut block: Block = self.pool.take(Waker::noop()).expect("a block is free");
        block.buffer()[..content.len()].copy_from_slice(content);
        block.into_payload(content.len())
    }

    /// Lets time pass until something is so; it must become so.
    pub(crate) fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        const STEPS_MAX: usize = 1_000_000;
        for _ in 0..STEPS_MAX {
            self.drive_woken();
            if done(self) {
                return;
            }
            assert!(self.step(), "nothing can happen any more");
        }
        panic!("it never ends");
    }

    /// Lets time pass until nothing happens any more.
    pub(crate) fn run_out(&mut self) {
        self.drive_woken();
        while self.step() {
            self.drive_woken();
        }
    }

    fn drive_woken(&mut self) {
        for number in 0..self.drivers.len() {
            if self.drivers[number].alarm.0.swap(false, Ordering::Relaxed) {
                self.drive(number);
            }
        }
        self.come_again();
    }

    /// What a client does whose channels are all lost.
    fn come_again(&mut self) {
        let opening = |driver: &Driver| driver.channel.is_some() && driver.closed.is_none();
        if self.session.is_lost() && !self.drivers.iter().any(opening) {
            (self.meanwhile)(&mut self.server);
            self.connect().expect("it may log in again");
        }
    }

    /// The server takes a lease back, on this channel; as servers do, in plain.
    pub(crate) fn break_lease(&mut self, number: usize, key: [u8; 16], epoch: u16, new: u32) {
        self.say(number, lease_break_of(key, epoch, 1, new));
    }

    /// The server says something of its own accord.
    pub(crate) fn say(&mut self, number: usize, frame: Vec<u8>) {
        self.push(self.now, number, Delivery::Ready(Some(frame)));
    }

    /// All channels die at once.
    pub(crate) fn kill_all(&mut self, death: Death) {
        for number in 0..self.drivers.len() {
            if self.drivers[number].closed.is_none() {
                self.kill(number, death);
            }
        }
    }

    /// The connection of a channel dies, and the client hears so at once.
    pub(crate) fn kill(&mut self, number: usize, death: Death) {
        self.drivers[number].death = Some(death);
        if let Some(channel) = &mut self.drivers[number].channel {
            channel.transport_failed("the cable was cut".into());
        }
        self.events(number);
    }

    /// One delivery or time-out, whichever comes first.
    fn step(&mut self) -> bool {
        self.steps += 1;
        if let Some((_, number, death)) = self.fate.take_if(|(step, ..)| *step == self.steps) {
            self.kill(number, death);
            self.drive_woken();
        }
        if self
            .dooms
            .last()
            .is_some_and(|(step, _)| *step <= self.steps)
            && let Some((_, death)) = self.dooms.pop()
        {
            self.kill_all(death);
            self.drive_woken();
        }
        if self.expiry.take_if(|step| *step == self.steps).is_some() {
            self.server.expired = true;
        }
        let timeout = |(number, driver): (usize, &Driver)| {
            let at = driver.channel.as_ref().and_then(Channel::next_timeout)?;
            driver.closed.is_none().then_some((at.as_nanos(), number))
        };
        let timeout = self.drivers.iter().enumerate().filter_map(timeout).min();
        let delivery = self.deliveries.peek().map(|Reverse((at, ..))| *at);
        match (timeout, delivery) {
            (Some((at, number)), next) if next.is_none_or(|next| at < next) => {
                self.now = self.now.max(at);
                let now = Time::from_nanos(self.now);
                if self.confirms {
                    self.channel(number).acknowledged(now);
                }
                self.channel(number).handle_timeout(now);
                self.drive(number);
                true
            }
            (_, Some(_)) => {
                if let Some(Reverse((at, _, number, delivery))) = self.deliveries.pop() {
                    self.now = at;
                    self.deliver(number, delivery);
                }
                true
            }
            _ => false,
        }
    }

    fn push(&mut self, at: u64, number: usize, delivery: Delivery) {
        self.serial += 1;
        self.deliveries
            .push(Reverse((at, self.serial, number, delivery)));
    }

    fn deliver(&mut self, number: usize, delivery: Delivery) {
        let connection = self.drivers[number].connection;
        match (&delivery, self.drivers[number].death) {
            (_, None) | (Delivery::ToServer(_), Some(Death::Late)) => {}
            _ => return,
        }
        match delivery {
            Delivery::ToServer(bytes) => {
                let sent = self.server.receive(connection, &bytes, &mut self.random);
                for (delay, frame) in sent {
                    self.push(self.now + delay, number, Delivery::Ready(frame));
                }
            }
            Delivery::Ready(frame) => {
                let arrival = self.now + 50_000 + self.random.below(500_000);
                let at = arrival.max(self.drivers[number].to_client);
                self.drivers[number].to_client = at;
                self.push(at, number, Delivery::ToClient(frame));
            }
            Delivery::ToClient(None) => {
                if let Some(channel) = &mut self.drivers[number].channel {
                    channel.transport_failed("the server hung up".into());
                }
                self.drive(number);
            }
            Delivery::ToClient(Some(bytes)) => self.feed(number, &bytes),
        }
    }

    /// Gives bytes to a channel in portions of any size, as a socket does.
    fn feed(&mut self, number: usize, mut bytes: &[u8]) {
        let now = Time::from_nanos(self.now);
        while !bytes.is_empty() {
            let driver = &mut self.drivers[number];
            let Some(channel) = driver.channel.as_mut().filter(|_| driver.closed.is_none()) else {
                return;
            };
            let buffer = channel.receive_buffer();
            assert!(!buffer.is_empty(), "there is always room");
            let most = if self.random.below(4) == 0 {
                100
            } else {
                100_000
            };
            let count = 1 + self.random.below(most) as usize;
            let count = count.min(buffer.len()).min(bytes.len());
            buffer[..count].copy_from_slice(&bytes[..count]);
            channel.received(count, now);
            bytes = &bytes[count..];
            self.events(number);
        }
        self.drive(number);
    }

    fn events(&mut self, number: usize) {
        let driver = &mut self.drivers[number];
        let Some(channel) = &mut driver.channel else {
            return;
        };
        while let Some(event) = channel.next_event() {
            match event {
                Event::Up => driver.up = true,
                Event::Expired => {
                    let login = FakeLogin {
                        nonce: [0x77; 16],
                        round: 0,
                        fails: false,
                    };
                    channel.reauthenticate(Box::new(login), Time::from_nanos(self.now));
                    driver.alarm.0.store(true, Ordering::Relaxed);
                }
                Event::Closed(cause) => {
                    assert!(driver.closed.is_none(), "it closes once");
                    driver.closed = Some(cause);
                }
                _ => {}
            }
        }
    }

    /// What the driver's loop does: send what there is, in portions.
    fn drive(&mut self, number: usize) {
        let now = Time::from_nanos(self.now);
        let mut sent = Vec::new();
        let driver = &mut self.drivers[number];
        let Some(channel) = &mut driver.channel else {
            return;
        };
        while let Some(transmission) = channel.poll_transmission(now) {
            let bytes = match transmission {
                Transmission::Bytes { bytes, .. } => bytes,
                Transmission::Origin(part) => {
                    let all: &Vec<u8> = part.origin.downcast_ref().expect("it is ours");
                    let start = usize::try_from(part.offset).expect("it is short");
                    let rest = all.get(start..).unwrap_or(&[]);
                    let length = usize::try_from(part.length).expect("it is short");
                    self.from_origins += rest.len().min(length) as u64;
                    if rest.is_empty() {
                        channel.origin_failed(std::io::ErrorKind::UnexpectedEof.into());
                        continue;
                    }
                    &rest[..rest.len().min(length)]
                }
                other => panic!("{other:?}"),
            };
            assert!(!bytes.is_empty(), "nothing to send is `None`");
            let count = bytes.len().min(1 + self.random.below(400_000) as usize);
            sent.extend_from_slice(&bytes[..count]);
            channel.transmitted(count, now);
        }
        if !sent.is_empty() {
            let arrival = self.now + 50_000 + self.random.below(500_000);
            let at = arrival.max(self.drivers[number].to_server);
            self.drivers[number].to_server = at;
            self.push(at, number, Delivery::ToServer(sent));
        }
        self.events(number);
    }
}
