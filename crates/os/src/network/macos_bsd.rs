//! macOS and the BSDs.

use std::io;

use socket2::Socket;

pub(super) use super::not_linux::*;
use super::{InterfaceAddress, TcpFacts, getifaddrs};

pub(super) fn tcp_facts(_: &Socket) -> Option<TcpFacts> {
    None
}

pub(super) fn set_segment(socket: &Socket, bytes: u32) -> io::Result<()> {
    socket.set_tcp_mss(bytes)
}

pub(super) fn interface_addresses() -> io::Result<Vec<InterfaceAddress>> {
    getifaddrs::all()
}

/// A file says it.
pub(super) const fn retransmitted_segments() -> Option<u64> {
    None
}
