//! Segments of TCP: what the far end's TCP acknowledges has gone there. What comes back is not proven.
//!
//! Each is the next part of one message that is never completed, the first that a client says to a file
//! server: it waits for the rest, and nothing comes of it.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use os::network::{LocalEnd, tcp_facts, whole_segments};
use socket2::Socket;

use super::{MtuTarget, Probes};

/// How long connecting to the server may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);
/// Length that the message is said to have. Nothing of it is sent that would make it whole.
const MESSAGE_BYTES: usize = 128 << 10;
/// Bytes of the header of TCP, without options.
const TCP_BYTES: u32 = 20;
/// How often the system is asked what was acknowledged.
const LOOK: Duration = Duration::from_millis(1);

/// Sends segments of chosen sizes to a file server and looks which are acknowledged.
pub(super) struct Segments {
    server: SocketAddr,
    local: LocalEnd,
    /// The MTU that the server's TCP announces, where it is smaller than ours; otherwise ours.
    pub(super) far_mtu: u32,
    /// The round trip of a small packet.
    pub(super) round_trip: Duration,
    /// Connections on which all was acknowledged.
    idle: Vec<Connection>,
    message: Vec<u8>,
    saw_too_big: bool,
}

/// A connection and how much of the message it has carried.
struct Connection {
    socket: Socket,
    sent: usize,
}

/// A segment that was sent.
struct UnderWay {
    connection: Connection,
    /// Size of its packet.
    size: u32,
    payload: u32,
    /// What is acknowledged once it has arrived.
    acknowledged: u64,
}

enum State {
    Waits,
    Arrived,
    /// Somebody said that it is too big, and our TCP sends it in parts.
    Cut,
    Lost,
}

impl Segments {
    /// Connects to a server; none where it does not answer, or the system tells nothing of its TCP.
    pub(super) fn open(target: &MtuTarget, port: u16) -> Option<Self> {
        let mut segments = Self {
            server: SocketAddr::new(target.remote, port),
            local: LocalEnd {
                address: None,
                nic: Some(target.nic.clone()),
            },
            far_mtu: 0,
            round_trip: Duration::ZERO,
            idle: Vec::new(),
            message: message(),
            saw_too_big: false,
        };
        let first = segments.connect()?;
        let facts = tcp_facts(&first.socket)?;
        segments.far_mtu = facts.segment + facts.option_bytes + segments.header_bytes();
        segments.round_trip = facts.round_trip_min;
        segments.idle.push(first);
        Some(segments)
    }

    fn header_bytes(&self) -> u32 {
        TCP_BYTES + if self.server.is_ipv6() { 40 } else { 20 }
    }

    fn connect(&self) -> Option<Connection> {
        let socket = whole_segments(self.server, &self.local, CONNECT_LIMIT).ok()?;
        Some(Connection { socket, sent: 0 })
    }

    /// Sends the next part of the message in a packet of this size, if our TCP would send it in one.
    fn send(&mut self, size: u32) -> Option<UnderWay> {
        let connection = self.idle.pop();
        let has_room = |one: &Connection| one.sent + (size as usize) < MESSAGE_BYTES;
        let mut connection = match connection.filter(has_room) {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let facts = tcp_facts(&connection.socket)?;
        let payload = size.checked_sub(self.header_bytes() + facts.option_bytes)?;
        let acknowledged = facts.acknowledged? + u64::from(payload);
        let end = connection.sent + payload as usize;
        let part = self.message.get(connection.sent..end)?;
        if payload > facts.segment {
            return None;
        }
        // What is not acknowledged is to be forgotten at the end, and not sent again and again.
        connection.socket.set_linger(Some(Duration::ZERO)).ok()?;
        let sent = connection.socket.send(part).ok()?;
        connection.sent = end;
        (sent == part.len()).then_some(UnderWay {
            connection,
            size,
            payload,
            acknowledged,
        })
    }
}

impl Probes for Segments {
    /// Systems wait up to 200 ms for a second segment before they acknowledge one.
    const WAIT: Duration = Duration::from_millis(250);

    fn round(&mut self, sizes: &[u32], wait: Duration) -> BTreeSet<u32> {
        let mut waiting: Vec<UnderWay> = Vec::new();
        for size in sizes {
            waiting.extend(self.send(*size));
        }
        let deadline = Instant::now() + wait;
        let mut heard = BTreeSet::new();
        loop {
            let mut left = Vec::new();
            for one in waiting {
                match one.state() {
                    State::Waits => left.push(one),
                    State::Arrived => {
                        heard.insert(one.size);
                        self.idle.push(one.connection);
                    }
                    State::Cut => self.saw_too_big = true,
                    State::Lost => {}
                }
            }
            waiting = left;
            if waiting.is_empty() || Instant::now() >= deadline {
                return heard;
            }
            thread::sleep(LOOK);
        }
    }

    fn saw_too_big(&self) -> bool {
        self.saw_too_big
    }
}

impl UnderWay {
    fn state(&self) -> State {
        let Some(facts) = tcp_facts(&self.connection.socket) else {
            return State::Lost;
        };
        let acknowledged = facts.acknowledged.unwrap_or(0);
        if facts.segment < self.payload {
            State::Cut
        } else if acknowledged >= self.acknowledged {
            State::Arrived
        } else {
            State::Waits
        }
    }
}

/// The beginning of a NEGOTIATE request (MS-SMB2, sections 2.1, 2.2.1.2 and 2.2.3), and zeros.
fn message() -> Vec<u8> {
    let mut message = vec![0; MESSAGE_BYTES];
    let length = u32::try_from(MESSAGE_BYTES).unwrap_or(0);
    let mut put = |at: usize, bytes: &[u8]| {
        for (place, byte) in message.iter_mut().skip(at).zip(bytes) {
            *place = *byte;
        }
    };
    // A length in three bytes behind a zero, then the header: its name, its size, a credit.
    put(0, &length.to_be_bytes());
    put(4, b"\xFESMB");
    put(8, &64_u16.to_le_bytes());
    put(18, &1_u16.to_le_bytes());
    // The request: its size, one dialect, signing is possible, and the dialect.
    put(68, &36_u16.to_le_bytes());
    put(70, &1_u16.to_le_bytes());
    put(72, &1_u16.to_le_bytes());
    put(104, &0x0210_u16.to_le_bytes());
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_longer_than_what_is_ever_sent_of_it() {
        let message = message();
        assert_eq!(message.len(), MESSAGE_BYTES);
        let said = u32::from_be_bytes([message[0], message[1], message[2], message[3]]);
        // The four bytes before it do not count.
        assert!(message[0] == 0 && said as usize + 4 > MESSAGE_BYTES);
        assert_eq!(&message[4..8], b"\xFESMB");
    }
}
