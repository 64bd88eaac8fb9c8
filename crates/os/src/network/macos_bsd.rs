//! macOS and the BSDs.

use mio::net::TcpStream;
use std::fs::File;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};

use socket2::Socket;

use super::{EchoSocket, InterfaceAddress, LocalEnd, TcpFacts, getifaddrs};

pub(super) const SHORT_READ_MEANS_EMPTY: bool = false;

pub(super) fn bind_to_nic(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system chooses the interface by the source address",
    ))
}

pub(super) fn tcp_facts(_: &Socket) -> Option<TcpFacts> {
    None
}

pub(super) fn congestion_control(_: &Socket) -> Option<String> {
    None
}

pub(super) const BUFFER_FACTOR: usize = 1;

pub(super) fn set_segment(socket: &Socket, bytes: u32) -> io::Result<()> {
    socket.set_tcp_mss(bytes)
}

pub(super) fn set_congestion_control(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn echo_socket(_: IpAddr, _: &LocalEnd) -> io::Result<EchoSocket> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn whole_segments(_: SocketAddr) -> io::Result<Socket> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn wake_at(_: &TcpStream, _: usize) {}

pub(super) fn send(mut stream: &TcpStream, bytes: &[u8], _: bool) -> io::Result<usize> {
    stream.write(bytes)
}

pub(super) fn send_file(_: &TcpStream, _: &File, _: u64, _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn interface_addresses() -> io::Result<Vec<InterfaceAddress>> {
    getifaddrs::all()
}
