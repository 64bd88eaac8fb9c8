//! Whether a server that hangs up at the first word speaks nothing newer than SMB 1.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use smb_proto::wire::{PREFIX_LENGTH, SMB1_REPLY_MIN, frame_prefix, is_smb1, smb1_negotiate};

use crate::read_with_deadline;
use crate::session::Server;

/// How long one address may take to connect and to answer, and how long all that a name has.
const PATIENCE: Duration = Duration::from_secs(2);
const PATIENCE_OF_ALL: Duration = Duration::from_secs(4);

/// Asks it as clients did before 2007. A server that has SMB 2 as well takes that.
pub(crate) fn is_all_it_speaks(server: &Server) -> bool {
    let addresses = (server.name.as_str(), server.port).to_socket_addrs();
    let until = Instant::now() + PATIENCE_OF_ALL;
    addresses.is_ok_and(|addresses| {
        let mut in_time = addresses.take_while(|_| Instant::now() < until);
        in_time.any(|address| answers(&address).unwrap_or(false))
    })
}

fn answers(address: &SocketAddr) -> io::Result<bool> {
    let until = Instant::now() + PATIENCE;
    let mut connection = TcpStream::connect_timeout(address, PATIENCE)?;
    connection.set_write_timeout(Some(PATIENCE))?;
    let message = smb1_negotiate();
    let frame = [&frame_prefix(message.len())[..], &message].concat();
    connection.write_all(&frame)?;
    let mut reply = [0; PREFIX_LENGTH + SMB1_REPLY_MIN];
    read_with_deadline::read(&connection, &mut reply, until)?;
    Ok(is_smb1(&reply[PREFIX_LENGTH..]))
}
