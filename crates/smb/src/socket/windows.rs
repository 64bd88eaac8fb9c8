//! Windows.

use mio::net::TcpStream;
use std::io;

use socket2::Socket;

use super::{InterfaceAddress, TcpFacts};

pub(crate) const SHORT_READ_MEANS_EMPTY: bool = false;

pub(super) fn bind_to_nic(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system chooses the interface by the source address",
    ))
}

pub(super) fn tcp_facts(_: &Socket) -> Option<TcpFacts> {
    None
}

pub(super) fn wake_at(_: &TcpStream, _: usize) {}

pub(super) fn interface_addresses() -> io::Result<Vec<InterfaceAddress>> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "the interfaces of this system cannot be listed yet",
    ))
}
