//! The TCP connection to a server: each address of its name is tried.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use os::network::{LocalEnd, SocketOptions};

use super::Server;
use crate::error::Error;
use crate::socket::{self, Connection};

/// How long each of several addresses is waited for before any is waited for in earnest. Whoever loses one
/// SYN sends another after a second.
const BRIEFLY: Duration = Duration::from_millis(1500);

/// Tries each address of a name, in the order of the resolver.
pub(super) fn connect_any(
    server: &Server,
    local: &LocalEnd,
    options: &SocketOptions,
    timeout: Duration,
) -> Result<Connection, Error> {
    let unknown = |source| Error::UnknownHost {
        name: server.name.clone(),
        source,
    };
    let name = server.name.trim_start_matches('[').trim_end_matches(']');
    let addresses = (name, server.port).to_socket_addrs().map_err(unknown)?;
    let same_family = |remote: &SocketAddr| {
        local
            .address
            .is_none_or(|local| local.is_ipv4() == remote.is_ipv4())
    };
    let addresses = addresses.filter(same_family).collect();
    let nothing = || io::Error::new(io::ErrorKind::NotFound, "no address of a usable family");
    connect_first(addresses, local, options, timeout).map_err(|failure| match failure {
        Some((remote, source)) => of_connect(source, &server.name, remote),
        None => unknown(nothing()),
    })
}

/// The first that answers: each is asked briefly, so that nobody waits for one that is dead, and those
/// that were silent once more. Otherwise what the last one said.
fn connect_first(
    mut addresses: Vec<SocketAddr>,
    local: &LocalEnd,
    options: &SocketOptions,
    timeout: Duration,
) -> Result<Connection, Option<(SocketAddr, io::Error)>> {
    let mut failure = None;
    let briefly = (addresses.len() > 1).then_some(BRIEFLY.min(timeout));
    for timeout in briefly.into_iter().chain([timeout]) {
        let mut silent = Vec::new();
        for remote in addresses {
            match socket::connect(remote, local, options, timeout) {
                Ok(connection) => return Ok(connection),
                Err(source) => {
                    if source.kind() == io::ErrorKind::TimedOut {
                        silent.push(remote);
                    }
                    failure = Some((remote, source));
                }
            }
        }
        addresses = silent;
    }
    Err(failure)
}

pub(super) fn of_connect(source: io::Error, server: &str, address: SocketAddr) -> Error {
    let server = server.to_owned();
    match source.kind() {
        io::ErrorKind::ConnectionRefused => Error::PortClosed {
            server,
            address,
            source,
        },
        _ => Error::Unreachable {
            server,
            address,
            source,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::time::Instant;

    use socket2::{Domain, Socket, Type};

    use super::*;

    #[test]
    fn a_dead_first_address_is_not_waited_for_in_earnest() {
        // Somebody whose queue is full answers no SYN.
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let dead = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        dead.bind(&any.into()).unwrap();
        dead.listen(0).unwrap();
        let dead_address = dead.local_addr().unwrap().as_socket().unwrap();
        let waiting = TcpStream::connect(dead_address).unwrap();
        let alive = TcpListener::bind(any).unwrap();
        let address = alive.local_addr().unwrap();

        let begun = Instant::now();
        let (local, patience) = (LocalEnd::default(), Duration::from_secs(60));
        let first = |addresses, patience| {
            connect_first(addresses, &local, &SocketOptions::default(), patience)
        };
        let connection = first(vec![dead_address, address], patience).unwrap();
        assert_eq!(connection.stream.peer_addr().unwrap(), address);
        assert!(begun.elapsed() < patience / 2, "{:?}", begun.elapsed());
        drop((waiting, connection));

        // Who is alone is waited for as long as was said.
        let short = Duration::from_millis(50);
        let alone = first(vec![address], short);
        assert!(alone.is_ok());
        let Err(Some((remote, _))) = first(vec![dead_address], short) else {
            panic!("it answered");
        };
        assert_eq!(remote, dead_address);
        assert!(matches!(first(Vec::new(), short), Err(None)));
    }
}
