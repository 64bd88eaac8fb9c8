//! A TCP connection as the thread has it that drives it, and as others have it meanwhile.

use std::fs::File;
use std::io::{self, Read};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use os::network::{self, LocalEnd, SocketOptions, TcpFacts};

const SOCKET: Token = Token(0);
const ALARM: Token = Token(1);

/// A connection that nobody waits for yet. It does not block.
pub(crate) type Stream = std::net::TcpStream;

/// A new connection, and why it does not leave by the interface that was asked for, if so.
pub(crate) struct Connection {
    pub(crate) stream: Stream,
    pub(crate) not_bound_because: Option<String>,
}

/// Connects from `local` to `remote`. The stream does not block and sends at once what it is
/// given; unless the options say otherwise its buffers are left to the system, which tunes them.
pub(crate) fn connect(
    remote: SocketAddr,
    local: &LocalEnd,
    options: &SocketOptions,
    timeout: Duration,
) -> io::Result<Connection> {
    let socket = Socket::new(
        Domain::for_address(remote),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // Otherwise the last segment of a request waits for the ACK of the one before it.
    socket.set_tcp_nodelay(true)?;
    options.apply(&socket)?;
    let not_bound_because = match &local.nic {
        Some(nic) => network::bind_to_nic(&socket, nic)
            .err()
            .map(|error| format!("cannot bind to the interface `{nic}`: {error}")),
        None => None,
    };
    if let Some(address) = local.address {
        socket.bind(&SocketAddr::new(address, 0).into())?;
    }
    socket.connect_timeout(&remote.into(), timeout)?;
    socket.set_nonblocking(true)?;
    Ok(Connection {
        stream: socket.into(),
        not_bound_because,
    })
}

/// A connection and the means to wait for it.
pub(crate) struct Watched {
    stream: mio::net::TcpStream,
    poll: Poll,
    events: Events,
    /// A send had to wait once, so that we are told when there is room.
    wants_writable: bool,
    /// Nothing more will arrive than what is there.
    is_over: bool,
}

/// Ends the wait of a thread for its connection, also one that begins later.
pub(crate) struct Alarm(mio::Waker);

impl Alarm {
    pub(crate) fn ring(&self) {
        // It fails only when the counter is full, and then the thread wakes up anyway.
        let _ = self.0.wake();
    }
}

impl Watched {
    pub(crate) fn new(stream: Stream) -> io::Result<(Self, Alarm)> {
        let mut stream = mio::net::TcpStream::from_std(stream);
        let poll = Poll::new()?;
        // Not that there is room to send, which would wake us up whenever something has arrived.
        poll.registry()
            .register(&mut stream, SOCKET, Interest::READABLE)?;
        let alarm = Alarm(mio::Waker::new(poll.registry(), ALARM)?);
        let watched = Self {
            stream,
            poll,
            events: Events::with_capacity(4),
            wants_writable: false,
            is_over: false,
        };
        Ok((watched, alarm))
    }

    /// Our end and the far one.
    pub(crate) fn ends(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        Ok((self.stream.local_addr()?, self.stream.peer_addr()?))
    }

    /// Whether the far end has ended it, or it is broken, as the last wait told. It is told once, maybe together with
    /// bytes that were the last ones: then what is left to be read after them is only that.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.stream).read(buffer)
    }

    /// Sends some of these bytes; `more` come at once, so that the system need not send a short packet.
    pub(crate) fn send(&self, bytes: &[u8], more: bool) -> io::Result<usize> {
        network::send(&self.stream, bytes, more)
    }

    /// Sends some bytes of a file without copying them. None: the file has ended. Not every system and
    /// file system can do it, and an error may be the file's or the connection's.
    pub(crate) fn send_file(&self, file: &File, offset: u64, length: u64) -> io::Result<usize> {
        network::send_file(&self.stream, file, offset, length)
    }

    /// Has the socket count as readable only when so many bytes have arrived, or nothing more can.
    /// Where the system cannot do this, nothing changes but the cost.
    pub(crate) fn wake_at(&self, bytes: usize) {
        network::wake_at(&self.stream, bytes);
    }

    /// From now on also tells when there is room to send. If there is by now, it says so at once.
    pub(crate) fn wait_writable(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.wants_writable, true) {
            return Ok(());
        }
        let both = Interest::READABLE | Interest::WRITABLE;
        let registry = self.poll.registry();
        registry.reregister(&mut self.stream, SOCKET, both)
    }

    /// Waits until something has changed with the connection, the alarm rings, or the time is over.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        match self.poll.poll(&mut self.events, timeout) {
            Ok(()) => {
                let ends = |event: &Event| event.is_read_closed() || event.is_error();
                self.is_over |= self.events.iter().any(ends);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn facts(&self) -> Option<TcpFacts> {
        network::tcp_facts(&SockRef::from(&self.stream))
    }

    /// The congestion control by which our end sends, where the system says so.
    pub(crate) fn congestion_control(&self) -> Option<String> {
        network::congestion_control(&SockRef::from(&self.stream))
    }

    /// The same connection, for others.
    pub(crate) fn handle(&self) -> io::Result<Handle> {
        SockRef::from(&self.stream).try_clone().map(Handle)
    }
}

/// A connection that another thread drives.
pub(crate) struct Handle(Socket);

impl Handle {
    pub(crate) fn facts(&self) -> Option<TcpFacts> {
        network::tcp_facts(&self.0)
    }

    /// Ends it, whoever else has it.
    pub(crate) fn shut_down(&self) {
        // An error means that it is closed already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{IpAddr, Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn a_connection_leaves_from_the_address_that_was_asked_for() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let remote = listener.local_addr().expect("it is bound");
        let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 77));
        let local = LocalEnd {
            address: Some(address),
            nic: None,
        };
        let connection = connect(
            remote,
            &local,
            &SocketOptions::default(),
            Duration::from_secs(2),
        )
        .expect("it listens");
        let (_, peer) = listener.accept().expect("it connected");
        assert_eq!(peer.ip(), address);
        assert!(connection.stream.nodelay().expect("an open socket"));
        assert_eq!(connection.not_bound_because, None);
    }

    #[test]
    fn a_closed_port_is_told_at_once() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let remote = listener.local_addr().expect("it is bound");
        drop(listener);
        let error = connect(
            remote,
            &LocalEnd::default(),
            &SocketOptions::default(),
            Duration::from_secs(2),
        )
        .err();
        assert_eq!(
            error.map(|error| error.kind()),
            Some(io::ErrorKind::ConnectionRefused)
        );
    }

    #[test]
    fn a_missing_interface_is_a_reason_and_no_error() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let remote = listener.local_addr().expect("it is bound");
        let local = LocalEnd {
            address: None,
            nic: Some("no-such-nic".to_owned()),
        };
        let connection = connect(
            remote,
            &local,
            &SocketOptions::default(),
            Duration::from_secs(2),
        )
        .expect("it listens");
        let reason = connection
            .not_bound_because
            .expect("there is no such interface");
        assert!(reason.contains("no-such-nic"), "{reason}");
    }

    /// Both are one piece of news for who waits, and who then reads less than there is room for has not heard the
    /// second.
    #[test]
    fn an_end_that_comes_with_the_last_bytes_is_heard() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let remote = listener.local_addr().expect("it is bound");
        let patience = Duration::from_secs(20);
        let local = LocalEnd::default();
        let connection = connect(remote, &local, &SocketOptions::default(), patience);
        let stream = connection.expect("it listens").stream;
        let (mut watched, _alarm) = Watched::new(stream).expect("it can be watched");
        let (mut peer, _) = listener.accept().expect("it connected");
        peer.write_all(b"the last").expect("there is room");
        drop(peer);
        let mut buffer = [0; 100];
        let mut heard = Vec::new();
        while !watched.is_over() {
            watched.wait(Some(patience)).expect("it can be waited for");
            match watched.read(&mut buffer) {
                Ok(count) => heard.extend_from_slice(&buffer[..count]),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        assert_eq!(heard, b"the last");
        assert_eq!(watched.read(&mut buffer).expect("its end"), 0);
    }
}
