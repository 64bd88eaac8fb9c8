//! Echo requests of ICMP: what is answered has gone there and come back.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::time::{Duration, Instant};

use locale::say;
use os::network::{EchoSocket, LocalEnd, echo_socket};

use super::{MtuTarget, Probes};
use crate::{Error, fill_random};

/// Sends echo requests of chosen sizes and hears which are answered.
pub(super) struct Echoes {
    socket: EchoSocket,
    /// Bytes of the IP and ICMP headers.
    header_bytes: u32,
    is_ipv6: bool,
    number: u16,
    next: u16,
    /// Size of each probe that was sent, by its number in the sequence.
    sent: BTreeMap<u16, u32>,
    saw_too_big: bool,
}

impl Probes for Echoes {
    const WAIT: Duration = Duration::from_millis(120);

    fn round(&mut self, sizes: &[u32], wait: Duration) -> BTreeSet<u32> {
        let mut heard = BTreeSet::new();
        let mut waiting = 0;
        for size in sizes {
            waiting += usize::from(self.send(*size));
        }
        let deadline = Instant::now() + wait;
        while waiting > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            match self.receive(left) {
                Ok(Some(size)) => {
                    heard.insert(size);
                    waiting -= 1;
                }
                Ok(None) => {}
                Err(error) => self.saw_too_big |= os::network::is_too_big(&error),
            }
        }
        heard
    }

    fn saw_too_big(&self) -> bool {
        self.saw_too_big
    }
}

impl Echoes {
    pub(super) fn open(target: &MtuTarget) -> Result<Self, Error> {
        let remote = target.remote;
        let local = LocalEnd {
            address: None,
            nic: Some(target.nic.clone()),
        };
        let socket = echo_socket(remote, &local)
            // Whoever may not choose the interface leaves it to the routes.
            .or_else(|_| echo_socket(remote, &LocalEnd::default()))
            .map_err(|source| Error::System {
                action: say("error-measure.echo-socket"),
                source,
            })?;
        let mut number = [0; 2];
        fill_random(&mut number)?;
        Ok(Self {
            header_bytes: if remote.is_ipv6() { 48 } else { 28 },
            is_ipv6: remote.is_ipv6(),
            socket,
            number: u16::from_ne_bytes(number),
            next: 0,
            sent: BTreeMap::new(),
            saw_too_big: false,
        })
    }

    fn send(&mut self, size: u32) -> bool {
        self.next = self.next.wrapping_add(1);
        let payload = size.saturating_sub(self.header_bytes) as usize;
        let kind = if self.is_ipv6 { 128 } else { 8 };
        let mut packet = vec![kind, 0, 0, 0];
        packet.extend(self.number.to_be_bytes());
        packet.extend(self.next.to_be_bytes());
        packet.resize(8 + payload, b'l');
        if !self.is_ipv6 {
            let sum = check_sum(&packet).to_be_bytes();
            packet[2..4].copy_from_slice(&sum);
        }
        for _ in 0..2 {
            match self.socket.socket.send(&packet) {
                Ok(_) => {
                    self.sent.insert(self.next, size);
                    return true;
                }
                // The news of an earlier probe, or our own interface; the second time it is that.
                Err(error) => self.saw_too_big |= os::network::is_too_big(&error),
            }
        }
        false
    }

    /// The size of the next probe that is answered.
    fn receive(&mut self, left: Duration) -> io::Result<Option<u32>> {
        let mut socket = &self.socket.socket;
        socket.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        // The rest of an answer is not worth reading.
        let mut room = [0; 128];
        let packet = match socket.read(&mut room) {
            Err(error) if is_nothing(&error) => return Ok(None),
            received => room.get(..received?).unwrap_or_default(),
        };
        Ok(self.answer(packet))
    }

    fn answer(&self, packet: &[u8]) -> Option<u32> {
        let has_header = self.socket.is_raw && !self.is_ipv6;
        let skip = match packet.first() {
            Some(first) if has_header => usize::from(first & 0x0F) * 4,
            _ => 0,
        };
        let message = packet.get(skip..)?.first_chunk::<8>()?;
        let is_answer = message[0] == if self.is_ipv6 { 129 } else { 0 };
        let number = u16::from_be_bytes([message[4], message[5]]);
        // Without rights the kernel chooses the number, and lets nothing else through.
        let is_ours = !self.socket.is_raw || number == self.number;
        let sequence = u16::from_be_bytes([message[6], message[7]]);
        let size = self.sent.get(&sequence)?;
        (is_answer && is_ours).then_some(*size)
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// The check sum of RFC 1071.
fn check_sum(packet: &[u8]) -> u16 {
    let mut sum: u32 = 0;
    for pair in packet.chunks(2) {
        let word = u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
        sum += u32::from(word);
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !u16::try_from(sum & 0xFFFF).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071, section 3: 0001 f203 f4f5 f6f7 add up to ddf2.
    #[test]
    fn a_check_sum_that_is_known() {
        let packet = [0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7];
        assert_eq!(check_sum(&packet), !0xDDF2);
        assert_eq!(check_sum(&[0xFF]), !0xFF00);
    }
}
