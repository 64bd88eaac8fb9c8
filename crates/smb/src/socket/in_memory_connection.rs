//! Connections of the model: bytes in memory, between the thread that drives a channel and a server of the test. What
//! they tell, and when, is what Linux tells: that something has arrived once, and only once so much is there.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use os::network::{LocalEnd, SocketOptions, TcpFacts};
use shuttle::rand::{Rng, thread_rng};

use crate::signal::lock;
use crate::std_or_shuttle::{Condvar, Mutex};

/// What is in flight to the server at most, in bytes.
const ROOM_BYTES: usize = 10_000;
/// Who connects from wherever has this address.
const LOCAL: &str = "10.0.0.1:50000";

/// Is given the far end of each connection.
type Server = Arc<dyn Fn(SocketAddr, FarEnd)>;

thread_local! {
    /// All threads of a model run on one thread of the system.
    static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
}

/// Who answers from now on.
pub(crate) fn answer_by(server: impl Fn(SocketAddr, FarEnd) + 'static) {
    SERVER.set(Some(Arc::new(server)));
}

struct Wire {
    state: Mutex<State>,
    for_client: Condvar,
    for_server: Condvar,
}

#[derive(Default)]
struct State {
    to_client: VecDeque<u8>,
    to_server: Vec<u8>,
    /// One of the ends has ended it.
    is_over: bool,
    /// Something has changed that the client was not told.
    has_news: bool,
    alarm_rings: bool,
    wake_at: usize,
    wants_writable: bool,
}

impl Wire {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut lock(&self.state));
        self.for_client.notify_all();
        self.for_server.notify_all();
    }
}

pub(crate) struct Stream {
    ends: (SocketAddr, SocketAddr),
    wire: Arc<Wire>,
}

impl Stream {
    #[expect(clippy::unnecessary_wraps, reason = "that of the system may fail")]
    pub(crate) fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.ends.1)
    }
}

pub(crate) struct Connection {
    pub(crate) stream: Stream,
    pub(crate) not_bound_because: Option<String>,
}

pub(crate) fn connect(
    remote: SocketAddr,
    local: &LocalEnd,
    _: &SocketOptions,
    _: Duration,
) -> io::Result<Connection> {
    let server = SERVER.with_borrow(Clone::clone);
    let server = server.ok_or(io::ErrorKind::ConnectionRefused)?;
    let from = local
        .address
        .map(|address| SocketAddr::new(address, 50_000));
    let wire = Arc::new(Wire {
        state: Mutex::default(),
        for_client: Condvar::new(),
        for_server: Condvar::new(),
    });
    server(remote, FarEnd(Arc::clone(&wire)));
    Ok(Connection {
        stream: Stream {
            ends: (from.unwrap_or(LOCAL.parse().expect("an address")), remote),
            wire,
        },
        not_bound_because: None,
    })
}

pub(crate) struct Watched {
    stream: Stream,
    is_over: bool,
}

pub(crate) struct Alarm(Arc<Wire>);

impl Alarm {
    pub(crate) fn ring(&self) {
        self.0.change(|state| state.alarm_rings = true);
    }
}

#[expect(clippy::unnecessary_wraps, reason = "those of the system may fail")]
impl Watched {
    pub(crate) fn new(stream: Stream) -> io::Result<(Self, Alarm)> {
        let alarm = Alarm(Arc::clone(&stream.wire));
        let is_over = false;
        Ok((Self { stream, is_over }, alarm))
    }

    pub(crate) fn ends(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        Ok(self.stream.ends)
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = lock(&self.stream.wire.state);
        let count = state.to_client.len().min(buffer.len());
        if count == 0 {
            return match state.is_over {
                true => Ok(0),
                false => Err(io::ErrorKind::WouldBlock.into()),
            };
        }
        for (place, byte) in buffer.iter_mut().zip(state.to_client.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    pub(crate) fn send(&self, bytes: &[u8], _: bool) -> io::Result<usize> {
        let wire = &self.stream.wire;
        let mut state = lock(&wire.state);
        if state.is_over {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let room = ROOM_BYTES - state.to_server.len();
        if room == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = match thread_rng().gen_range(0..4) {
            0 => thread_rng().gen_range(1..=bytes.len()),
            _ => bytes.len(),
        };
        let count = count.min(room);
        state.to_server.extend_from_slice(&bytes[..count]);
        drop(state);
        wire.for_server.notify_all();
        Ok(count)
    }

    pub(crate) fn send_file(&self, _: &File, _: u64, _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn wake_at(&self, bytes: usize) {
        self.stream.wire.change(|state| {
            state.wake_at = bytes;
            state.has_news |= state.to_client.len() >= bytes;
        });
    }

    pub(crate) fn wait_writable(&mut self) -> io::Result<()> {
        self.stream.wire.change(|state| {
            state.has_news |= !state.wants_writable && state.to_server.len() < ROOM_BYTES;
            state.wants_writable = true;
        });
        Ok(())
    }

    /// No time passes: a wait that only a time-out would end is one too many, and the scheduler says so.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let wire = &self.stream.wire;
        let state = lock(&wire.state);
        let is_quiet = |state: &mut State| !state.has_news && !state.alarm_rings;
        let mut state = match timeout {
            Some(Duration::ZERO) => state,
            _ => (wire.for_client.wait_while(state, is_quiet)).expect("no panic"),
        };
        (state.has_news, state.alarm_rings) = (false, false);
        self.is_over = state.is_over;
        Ok(())
    }

    pub(crate) fn facts(&self) -> Option<TcpFacts> {
        None
    }

    pub(crate) fn congestion_control(&self) -> Option<String> {
        None
    }

    pub(crate) fn handle(&self) -> io::Result<Handle> {
        Ok(Handle(Arc::clone(&self.stream.wire)))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.stream.wire.change(|state| state.is_over = true);
    }
}

pub(crate) struct Handle(Arc<Wire>);

impl Handle {
    pub(crate) fn facts(&self) -> Option<TcpFacts> {
        None
    }

    pub(crate) fn shut_down(&self) {
        self.0.change(|state| {
            state.is_over = true;
            state.has_news = true;
        });
    }
}

/// The server's end.
pub(crate) struct FarEnd(Arc<Wire>);

/// What a server finds at its end.
pub(crate) enum Arrived {
    Bytes(Vec<u8>),
    Nothing,
    End,
}

impl FarEnd {
    /// What has arrived; if the server has nothing else to do, something that will.
    pub(crate) fn receive(&self, has_work: bool) -> Arrived {
        let mut state = lock(&self.0.state);
        while !has_work && state.to_server.is_empty() && !state.is_over {
            state = self.0.for_server.wait(state).expect("no panic");
        }
        let bytes = std::mem::take(&mut state.to_server);
        state.has_news |= state.wants_writable && !bytes.is_empty();
        let is_over = state.is_over;
        drop(state);
        self.0.for_client.notify_all();
        match (bytes.is_empty(), is_over) {
            (false, _) => Arrived::Bytes(bytes),
            (true, true) => Arrived::End,
            (true, false) => Arrived::Nothing,
        }
    }

    pub(crate) fn send(&self, bytes: &[u8]) {
        self.0.change(|state| {
            state.to_client.extend(bytes);
            state.has_news |= state.to_client.len() >= state.wake_at;
        });
    }

    pub(crate) fn hang_up(&self) {
        self.0.change(|state| {
            state.is_over = true;
            state.has_news = true;
        });
    }
}
