//! Reads that end in time, however slowly the bytes come: the time-out of a socket begins anew with each of them.

use std::io::{self, Read};
use std::net::TcpStream;
use std::time::Instant;

/// Reads as many bytes as there is room for.
///
/// # Errors
/// [`TimedOut`](io::ErrorKind::TimedOut) where they have not come at `until`, and those of the connection.
pub fn read(mut from: &TcpStream, room: &mut [u8], until: Instant) -> io::Result<()> {
    let mut done = 0;
    while done < room.len() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        from.set_read_timeout(Some(left))?;
        match from.read(&mut room[done..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // What Unix says of a socket whose time is over.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn whoever_trickles_is_given_up_in_time() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let server = thread::spawn(move || {
            let (mut to, _) = listener.accept().expect("a connection");
            while to.write_all(&[7]).is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        });
        let connection = TcpStream::connect(address).expect("it listens");
        let began = Instant::now();
        let patience = Duration::from_millis(500);
        let mut few = [0; 3];
        read(&connection, &mut few, began + patience).expect("three bytes");
        assert_eq!(few, [7; 3]);
        let ended = read(&connection, &mut [0; 10_000], began + patience);
        let kind = ended.expect_err("it has no end").kind();
        assert_eq!(kind, io::ErrorKind::TimedOut);
        assert!(began.elapsed() >= patience && began.elapsed() < 10 * patience);
        drop(connection);
        server.join().expect("it notices");
    }
}
