//! TCP connections, and what the system knows about them and about its own interfaces.

use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mio::net::TcpStream;
use socket2::{Domain, Protocol, Socket, Type};

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "macos_bsd.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

#[cfg(unix)]
mod getifaddrs;
#[cfg(not(target_os = "linux"))]
mod not_linux;

#[cfg(windows)]
pub(crate) use imp::nics;

/// Whether a read that does not fill its buffer has taken all there is, so that another one in
/// order to hear so is not needed.
pub const SHORT_READ_MEANS_EMPTY: bool = imp::SHORT_READ_MEANS_EMPTY;

/// Our end of a connection: where it leaves this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalEnd {
    /// The source address; the system chooses when there is none.
    pub address: Option<IpAddr>,
    /// The interface to leave by, whatever the routes say; they decide when there is none. Only
    /// Linux can do this; elsewhere the source address has to.
    pub nic: Option<String>,
}

/// How a connection's socket is made; by default as the system makes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// Bytes of the receive buffer, as `SO_RCVBUF` takes them; ends its auto-tuning.
    pub receive_buffer: Option<usize>,
    /// Bytes of the send buffer, as `SO_SNDBUF` takes them; ends its auto-tuning.
    pub send_buffer: Option<usize>,
    /// The largest payload of a segment in both directions, in bytes (`TCP_MAXSEG`).
    pub segment: Option<u32>,
    /// Congestion control by which our end sends, by the system's name for it.
    pub congestion_control: Option<String>,
}

impl SocketOptions {
    /// Makes a socket so, before it connects: the window's scale and the largest segment are agreed then.
    ///
    /// # Errors
    /// In words, when the system does not do all of it.
    pub fn apply(&self, socket: &Socket) -> io::Result<()> {
        let refused = |what: &str, error: io::Error| {
            io::Error::new(error.kind(), format!("cannot set the {what}: {error}"))
        };
        let cut = |what: &str, most: usize| {
            let text = format!("the system allows a {what} of {most} bytes at most");
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        };
        if let Some(bytes) = self.receive_buffer {
            let set = socket.set_recv_buffer_size(bytes);
            set.map_err(|error| refused("receive buffer", error))?;
            let given = socket.recv_buffer_size()? / imp::BUFFER_FACTOR;
            if given < bytes {
                return cut("receive buffer", given);
            }
        }
        if let Some(bytes) = self.send_buffer {
            let set = socket.set_send_buffer_size(bytes);
            set.map_err(|error| refused("send buffer", error))?;
            let given = socket.send_buffer_size()? / imp::BUFFER_FACTOR;
            if given < bytes {
                return cut("send buffer", given);
            }
        }
        if let Some(bytes) = self.segment {
            let set = imp::set_segment(socket, bytes);
            set.map_err(|error| refused("segment size", error))?;
        }
        if let Some(name) = &self.congestion_control {
            let set = imp::set_congestion_control(socket, name);
            set.map_err(|error| refused(&format!("congestion control `{name}`"), error))?;
        }
        Ok(())
    }

    /// Whether this system makes sockets so.
    ///
    /// # Errors
    /// In words, when it does not.
    pub fn check(&self) -> io::Result<()> {
        if *self == Self::default() {
            return Ok(());
        }
        let made = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        self.apply(&made)
    }
}

/// One address of one interface of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// Name of the interface.
    pub nic: String,
    /// Its index.
    pub index: u32,
    /// The address.
    pub address: IpAddr,
    /// Bits of the prefix.
    pub prefix: u8,
    /// Line rate in bits per second as the driver says, where it does.
    pub bits_per_second: Option<u64>,
    /// Receive queues, where the system says.
    pub queues: Option<u32>,
}

/// What TCP itself knows about a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFacts {
    /// Smoothed round trip.
    pub round_trip: Duration,
    /// Segments our end has sent again since the connection began.
    pub retransmits: u64,
    /// Segments with payload that our end has sent, those sent again among them; known on Linux since 4.6.
    pub segments: Option<u64>,
    /// Bytes of ours that the far end's TCP has acknowledged; known on Linux since 4.1.
    pub acknowledged: Option<u64>,
    /// Bytes of ours that were sent, those sent again among them; known on Linux since 4.19.
    pub sent: Option<u64>,
    /// Bytes that came from the far end; known on Linux since 4.1.
    pub received: Option<u64>,
    /// How long ago the far end's TCP last acknowledged anything, where the system says.
    pub quiet: Option<Duration>,
    /// Payload of our largest segment, in bytes.
    pub segment: u32,
    /// Bytes of TCP's options in each segment.
    pub option_bytes: u32,
    /// The shortest round trip.
    pub round_trip_min: Duration,
    /// What we may have in flight for the sake of the network, in bytes.
    pub congestion_window: u64,
    /// What the far end has room for, in bytes; known on Linux since 5.4.
    pub far_window: Option<u64>,
    /// Segments that came before one that was sent earlier; known on Linux since 5.4.
    pub out_of_order: Option<u64>,
    /// What sending waited for, where the system says.
    pub sending: Option<SendingTimes>,
}

/// What our end of a connection waited for while it had something to send, since the connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendingTimes {
    /// Time in which we had something to send.
    pub busy: Duration,
    /// Of that, time in which the far end had no room.
    pub receiver_limited: Duration,
    /// Of that, time in which our send buffer was too small.
    pub sender_limited: Duration,
}

/// Has a connection leave by one interface, whatever the routes say.
///
/// # Errors
/// When this user may not, there is no such interface, or the source address has to choose it on this system.
pub fn bind_to_nic(socket: &Socket, nic: &str) -> io::Result<()> {
    imp::bind_to_nic(socket, nic)
}

/// Sends some of these bytes; `more` come at once, so that the system need not send a short packet.
///
/// # Errors
/// As `send(2)`: one that does not block says so where there is no room.
pub fn send(stream: &TcpStream, bytes: &[u8], more: bool) -> io::Result<usize> {
    imp::send(stream, bytes, more)
}

/// Sends some bytes of a file without copying them. None: the file has ended.
///
/// # Errors
/// The file's or the connection's, and that this system or file system cannot do it ([`io::ErrorKind::Unsupported`], or
/// as `sendfile(2)` says it).
pub fn send_file(stream: &TcpStream, file: &File, offset: u64, length: u64) -> io::Result<usize> {
    imp::send_file(stream, file, offset, length)
}

/// Has the socket count as readable only when so many bytes have arrived, or nothing more can.
/// Where the system cannot do this, nothing changes but the cost.
pub fn wake_at(stream: &TcpStream, bytes: usize) {
    imp::wake_at(stream, bytes);
}

/// What TCP knows about a connection; `None` where the system does not say.
#[must_use]
pub fn tcp_facts(socket: &Socket) -> Option<TcpFacts> {
    imp::tcp_facts(socket)
}

/// Segments that this machine has sent again since it started, of all connections, where the system reports that by a call.
#[must_use]
pub fn retransmitted_segments() -> Option<u64> {
    imp::retransmitted_segments()
}

/// The congestion control by which our end of a connection sends; `None` where the system does not say.
#[must_use]
pub fn congestion_control(socket: &Socket) -> Option<String> {
    imp::congestion_control(socket)
}

/// A socket for ICMP's echo requests to one address, which leave as they are given or not at all,
/// whatever the system has heard of the path before. Whoever is not root may have one where
/// `net.ipv4.ping_group_range` says so.
///
/// # Errors
/// When this system has none, or this user may not have one.
pub fn echo_socket(remote: IpAddr, local: &LocalEnd) -> io::Result<EchoSocket> {
    imp::echo_socket(remote, local)
}

/// A connection whose segments leave whole or not at all, and each as soon as it is written.
///
/// # Errors
/// When the far end does not answer in time, or this system has none.
pub fn whole_segments(
    remote: SocketAddr,
    local: &LocalEnd,
    timeout: Duration,
) -> io::Result<Socket> {
    let socket = imp::whole_segments(remote)?;
    socket.set_tcp_nodelay(true)?;
    if let Some(nic) = &local.nic {
        // Without the right it goes as the routes say.
        imp::bind_to_nic(&socket, nic).ok();
    }
    if let Some(address) = local.address {
        socket.bind(&SocketAddr::new(address, 0).into())?;
    }
    socket.connect_timeout(&remote.into(), timeout)?;
    Ok(socket)
}

/// Whether a packet was not sent because it is larger than the path takes, as far as the system knows it (`EMSGSIZE`).
#[must_use]
pub fn is_too_big(error: &io::Error) -> bool {
    #[cfg(unix)]
    let number = libc::EMSGSIZE;
    #[cfg(windows)]
    let number = windows_sys::Win32::Networking::WinSock::WSAEMSGSIZE;
    error.raw_os_error() == Some(number)
}

/// A socket for echo requests, and what it leaves to whoever uses it.
#[derive(Debug)]
pub struct EchoSocket {
    /// The socket, connected.
    pub socket: Socket,
    /// Whether an answer begins with its IP header, and the requests' number is ours to choose.
    pub is_raw: bool,
}

/// The addresses of this machine's interfaces that are up, without the loopback.
///
/// # Errors
/// When the system does not tell.
pub fn interface_addresses() -> io::Result<Vec<InterfaceAddress>> {
    imp::interface_addresses()
}
