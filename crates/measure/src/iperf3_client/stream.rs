//! Data streams: one TCP connection each, with a thread that keeps it busy.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use os::network::{self, SocketOptions, TcpFacts};
use record::Direction;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::BLOCK_BYTES;
use super::control::COOKIE_BYTES;
use crate::Error;

/// How connections to the server are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connector<'a> {
    pub(super) server: SocketAddr,
    /// The interface to leave by, where the route is not to decide.
    pub(super) nic: Option<&'a str>,
    /// The address to leave from, where the system is not to decide.
    pub(super) source: Option<IpAddr>,
    pub(super) timeout: Duration,
}

impl Connector<'_> {
    /// Connects. Unless the options say otherwise, buffers are left to the system, which stops tuning them
    /// once they are set.
    pub(super) fn connect(&self, options: &SocketOptions) -> Result<TcpStream, Error> {
        let connect_error = |source| Error::Connect {
            address: self.server,
            source,
        };
        let domain = Domain::for_address(self.server);
        let socket =
            Socket::new(domain, Type::STREAM, Some(Protocol::TCP)).map_err(connect_error)?;
        options.apply(&socket).map_err(connect_error)?;
        if let Some(nic) = self.nic {
            // The route would decide otherwise, and with two links into one subnet it picks the first.
            let bound = network::bind_to_nic(&socket, nic);
            bound.map_err(|source| Error::Nic {
                nic: nic.to_owned(),
                source,
            })?;
        }
        if let Some(source) = self.source {
            let bound = socket.bind(&SocketAddr::new(source, 0).into());
            bound.map_err(connect_error)?;
        }
        let connected = socket.connect_timeout(&self.server.into(), self.timeout);
        connected.map_err(connect_error)?;
        // For the control connection. A data stream sends whole blocks and does not mind.
        socket.set_tcp_nodelay(true).map_err(connect_error)?;
        Ok(socket.into())
    }
}

/// One data stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) socket: TcpStream,
    pub(super) local: SocketAddr,
    direction: Direction,
    /// Payload that passed our end: read by us, or taken by the system for sending.
    passed: AtomicU64,
    /// Bytes that were acknowledged before the first one of payload.
    acknowledged_before: u64,
}

impl Stream {
    /// Takes a new connection, on which nothing was sent, and says whose test it belongs to.
    pub(super) fn introduce(
        mut socket: TcpStream,
        direction: Direction,
        cookie: &[u8; COOKIE_BYTES],
    ) -> io::Result<Self> {
        // Linux counts the SYN as a byte that was acknowledged.
        let acknowledged = acknowledged(&socket).unwrap_or(0);
        socket.write_all(cookie)?;
        Ok(Self {
            local: socket.local_addr()?,
            direction,
            passed: AtomicU64::new(0),
            acknowledged_before: acknowledged + COOKIE_BYTES as u64,
            socket,
        })
    }

    /// Moves payload until the far end hangs up, the socket is shut down, or, when sending, until
    /// `finished`.
    pub(super) fn pump(
        &self,
        block: &[u8],
        finished: &AtomicBool,
        first: &OnceLock<Instant>,
    ) -> io::Result<()> {
        match self.direction {
            Direction::Write => self.send(block, finished, first),
            Direction::Read => self.receive(first),
        }
    }

    fn send(
        &self,
        block: &[u8],
        finished: &AtomicBool,
        first: &OnceLock<Instant>,
    ) -> io::Result<()> {
        while !finished.load(Ordering::Relaxed) {
            match (&self.socket).write(block) {
                Ok(count) => self.count(count, first),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&self, first: &OnceLock<Instant>) -> io::Result<()> {
        let mut buffer = vec![0; BLOCK_BYTES];
        loop {
            match (&self.socket).read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.count(count, first),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn count(&self, count: usize, first: &OnceLock<Instant>) {
        if self.passed.fetch_add(count as u64, Ordering::Relaxed) == 0 {
            first.get_or_init(Instant::now);
        }
    }

    /// Payload that passed our end so far.
    pub(super) fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed)
    }

    /// Payload at the *receiving* end so far.
    ///
    /// Reading, that is what we read. Writing, it is what the far end's TCP acknowledged, not what
    /// our `write` accepted: the send buffer grows by itself to 4 MiB and more, which at 1 Gbit/s
    /// is 2 % of a window of 1.5 s, while an acknowledged byte has crossed the wire. It may still
    /// lie in the far end's receive buffer, but a server that keeps up holds as little there at
    /// the end of the window as at its begin, and only the difference would count. Where the
    /// system does not tell what was acknowledged, the warm-up has to be long enough that the
    /// buffers are full.
    pub(super) fn arrived(&self) -> u64 {
        let passed = self.passed();
        match self.direction {
            Direction::Read => passed,
            Direction::Write => acknowledged(&self.socket).map_or(passed, |acknowledged| {
                acknowledged.saturating_sub(self.acknowledged_before)
            }),
        }
    }

    /// What TCP knows about the connection.
    pub(super) fn tcp(&self) -> Option<TcpFacts> {
        network::tcp_facts(&SockRef::from(&self.socket))
    }

    /// How our end sends.
    pub(super) fn congestion_control(&self) -> Option<String> {
        network::congestion_control(&SockRef::from(&self.socket))
    }
}

/// Bytes that the far end's TCP has acknowledged, where the system says so.
fn acknowledged(socket: &TcpStream) -> Option<u64> {
    network::tcp_facts(&SockRef::from(socket))?.acknowledged
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn writing_counts_what_was_acknowledged_and_not_what_was_buffered() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let server = listener.local_addr().unwrap();
        let connector = Connector {
            server,
            nic: Some("lo"),
            source: None,
            timeout: Duration::from_secs(5),
        };
        let socket = connector.connect(&SocketOptions::default()).unwrap();
        let stream = Stream::introduce(socket, Direction::Write, &[b'a'; 37]).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let mut cookie = [0; 37];
        far.read_exact(&mut cookie).unwrap();
        assert_eq!(stream.arrived(), 0);
        // Nobody reads: both buffers fill up, and what ours holds has not arrived.
        stream.socket.set_nonblocking(true).unwrap();
        let block = vec![1; BLOCK_BYTES];
        let finished = AtomicBool::new(false);
        let first = OnceLock::new();
        let full = stream.pump(&block, &finished, &first).unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        assert!(first.get().is_some());
        assert!(
            stream.arrived() < stream.passed(),
            "{} {}",
            stream.arrived(),
            stream.passed()
        );
        // Once all of it was read, all of it was acknowledged, to the byte.
        let mut all = vec![0; usize::try_from(stream.passed()).unwrap()];
        far.read_exact(&mut all).unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        while stream.arrived() != stream.passed() {
            assert!(
                Instant::now() < deadline,
                "{} {}",
                stream.arrived(),
                stream.passed()
            );
            std::thread::yield_now();
        }
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        let connector = Connector {
            server: address,
            nic: Some("no-such-nic"),
            source: None,
            timeout: Duration::from_secs(1),
        };
        let error = connector.connect(&SocketOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Nic { .. }), "{error}");
    }
}
