//! Whether a server that hangs up at the first word speaks nothing newer than SMB 1.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use smb_proto::wire::{PREFIX_LENGTH, SMB1_REPLY_MIN, frame_prefix, is_smb1, smb1_negotiate};

use crate::session::Server;

/// How long it may take to connect, and to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks it as clients did before 2007. A server that has SMB 2 as well takes that.
pub(crate) fn is_all_it_speaks(server: &Server) -> bool {
    let addresses = (server.name.as_str(), server.port).to_socket_addrs();
    addresses.is_ok_and(|mut addresses| addresses.any(|address| answers(&address).unwrap_or(false)))
}

fn answers(address: &std::net::SocketAddr) -> std::io::Result<bool> {
    let mut connection = TcpStream::connect_timeout(address, PATIENCE)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.set_write_timeout(Some(PATIENCE))?;
    let message = smb1_negotiate();
    let frame = [&frame_prefix(message.len())[..], &message].concat();
    connection.write_all(&frame)?;
    let mut reply = [0; PREFIX_LENGTH + SMB1_REPLY_MIN];
    connection.read_exact(&mut reply)?;
    Ok(is_smb1(&reply[PREFIX_LENGTH..]))
}
