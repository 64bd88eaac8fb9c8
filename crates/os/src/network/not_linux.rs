//! What systems other than Linux do not offer for a connection.

use std::fs::File;
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr};

use mio::net::TcpStream;
use socket2::Socket;

use super::{EchoSocket, LocalEnd};

pub(super) const SHORT_READ_MEANS_EMPTY: bool = false;
pub(super) const BUFFER_FACTOR: usize = 1;

pub(super) fn bind_to_nic(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system chooses the interface by the source address",
    ))
}

pub(super) fn congestion_control(_: &Socket) -> Option<String> {
    None
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
