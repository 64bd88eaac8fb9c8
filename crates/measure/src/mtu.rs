//! The largest packet that passes between two NICs, proven by probes that nobody may cut.
//!
//! What the system believes of the path is not asked: its sockets are told to send what they are
//! given. Only the answers count, and a size that had none is tried again before it is believed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use record::MtuProof;
use serde::{Deserialize, Serialize};
use smb::{EchoSocket, LocalEnd};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::{Error, fill_random};

/// Sizes that are worth a probe before anything else, beside the largest one.
const USUAL: [u32; 7] = [576, 1280, 1420, 1492, 1500, 4096, 9000];
/// Probes of one round; their answers fit the receive buffer that everybody may have.
const PROBES_PER_ROUND: u32 = 8;
/// How often a size is tried before it is said not to pass.
const TRIES: usize = 3;
/// Most rounds; as many as no path needs.
const ROUNDS_MAX: usize = 32;
/// What every Ethernet carries.
const STANDARD: u32 = 1500;
/// A packet that everything passes.
const SMALL: u32 = 84;
/// Largest IP packet that a probe can be.
const PACKET_BYTES_MAX: u32 = 65_535;
/// How long the first, small probe may take, each time it is tried.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The least time in which the answers of a round may come.
const ROUND_WAIT: Duration = Duration::from_millis(120);
/// The same in round trips.
const ROUND_TRIPS: u32 = 4;
/// How long connecting to the server may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);
/// Pairs of NICs that are tried at once.
const TARGETS_MAX: usize = 32;
/// Longest input of a probing process.
const INPUT_BYTES_MAX: u64 = 64 << 10;

/// A pair of NICs to try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MtuTarget {
    /// The client's interface.
    pub nic: String,
    /// Its MTU.
    pub mtu: u32,
    /// The server's address.
    pub remote: IpAddr,
    /// The port of its file server, whose TCP tells its own MTU. None for a neighbour that is no
    /// business of ours, of which little is asked: whether it answers 1500 bytes, and our own MTU.
    pub port: Option<u16>,
}

/// What `linerate probe` does: a list of targets in, a list of proofs out, both as JSON.
///
/// # Errors
/// When the input is no list of targets, or there is nobody to write to.
pub fn probe_main(stdin: impl Read, mut stdout: impl Write) -> Result<(), Error> {
    let failed = |action| move |source| Error::System { action, source };
    let mut text = Vec::new();
    stdin
        .take(INPUT_BYTES_MAX)
        .read_to_end(&mut text)
        .map_err(failed("read what to probe"))?;
    let targets: Vec<MtuTarget> = serde_json::from_slice(&text).map_err(|error| Error::Input {
        column: error.column(),
    })?;
    let proofs = prove(&targets);
    serde_json::to_vec(&proofs)
        .map_err(io::Error::from)
        .and_then(|text| stdout.write_all(&text).and_then(|()| stdout.flush()))
        .map_err(failed("write what was proven"))
}

/// Tries all pairs at once.
fn prove(targets: &[MtuTarget]) -> Vec<MtuProof> {
    thread::scope(|scope| {
        let running: Vec<_> = targets
            .iter()
            .take(TARGETS_MAX)
            .map(|target| (target, scope.spawn(|| of_pair(target))))
            .collect();
        let ended = running.into_iter().map(|(target, thread)| {
            // Nothing in there panics; what is not known is not known.
            thread.join().unwrap_or_else(|_| nothing_of(target))
        });
        ended.collect()
    })
}

fn nothing_of(target: &MtuTarget) -> MtuProof {
    MtuProof {
        nic: target.nic.clone(),
        remote: Some(target.remote),
        near_mtu: target.mtu,
        ..MtuProof::default()
    }
}

fn of_pair(target: &MtuTarget) -> MtuProof {
    let begun = Instant::now();
    let mut proof = nothing_of(target);
    proof.far_mtu = target.port.and_then(|port| far_mtu(target, port));
    let local = LocalEnd {
        address: None,
        nic: Some(target.nic.clone()),
    };
    let socket = smb::echo_socket(target.remote, &local).or_else(|_| {
        // Whoever may not choose the interface leaves it to the routes.
        smb::echo_socket(target.remote, &LocalEnd::default())
    });
    if let Ok(socket) = socket
        && let Ok(mut prober) = Prober::new(socket, target.remote)
    {
        let mtu = target.mtu.min(PACKET_BYTES_MAX);
        match target.port {
            Some(_) => prober.search(mtu, &mut proof),
            None => prober.ask_briefly(mtu, &mut proof),
        }
    }
    proof.took = begun.elapsed().into();
    proof
}

/// The MTU that the server's TCP announces, where it is smaller than ours; otherwise ours.
fn far_mtu(target: &MtuTarget, port: u16) -> Option<u32> {
    let server = SocketAddr::new(target.remote, port);
    let socket = Socket::new(
        Domain::for_address(server),
        Type::STREAM,
        Some(Protocol::TCP),
    )
    .ok()?;
    // Without the right it goes as the routes say.
    socket.bind_device(Some(target.nic.as_bytes())).ok();
    socket
        .connect_timeout(&SockAddr::from(server), CONNECT_LIMIT)
        .ok()?;
    let tcp = smb::tcp_facts(&socket)?;
    let ip_bytes = if target.remote.is_ipv6() { 40 } else { 20 };
    Some(tcp.segment + tcp.option_bytes + ip_bytes + 20)
}

/// Sends echo requests of chosen sizes and hears which are answered.
struct Prober {
    socket: EchoSocket,
    /// Bytes of the IP and ICMP headers.
    header_bytes: u32,
    is_ipv6: bool,
    number: u16,
    next: u16,
    /// Size of each probe that was sent, by its number in the sequence.
    sent: BTreeMap<u16, u32>,
    told: bool,
    wait: Duration,
}

impl Prober {
    fn new(socket: EchoSocket, remote: IpAddr) -> Result<Self, Error> {
        let mut number = [0; 2];
        fill_random(&mut number)?;
        Ok(Self {
            header_bytes: if remote.is_ipv6() { 48 } else { 28 },
            is_ipv6: remote.is_ipv6(),
            socket,
            number: u16::from_ne_bytes(number),
            next: 0,
            sent: BTreeMap::new(),
            told: false,
            wait: FIRST_WAIT,
        })
    }

    /// Finds the largest size up to `mtu` that is answered.
    fn search(&mut self, mtu: u32, proof: &mut MtuProof) {
        let begun = Instant::now();
        let hears = (0..TRIES).any(|_| !self.round(&[SMALL]).is_empty());
        if !hears {
            return;
        }
        let round_trip = begun.elapsed();
        proof.round_trip = Some(round_trip.into());
        self.wait = ROUND_WAIT.max(round_trip * ROUND_TRIPS);
        let mut answered = SMALL;
        let mut failed = BTreeSet::new();
        let usual = USUAL.into_iter().filter(|size| *size < mtu).chain([mtu]);
        let mut sizes: Vec<u32> = usual.collect();
        for _ in 0..ROUNDS_MAX {
            let heard = self.round(&sizes);
            failed.extend(sizes.iter().filter(|size| !heard.contains(size)));
            answered = heard.last().copied().unwrap_or(answered).max(answered);
            failed.retain(|size| *size > answered);
            let limit = failed.first().copied().unwrap_or(mtu + 1);
            if answered >= mtu {
                break;
            }
            sizes = between(answered, limit);
            if sizes.is_empty() {
                // Everything hangs on this one size, and packets get lost.
                let again = vec![limit; TRIES];
                if self.round(&again).is_empty() {
                    proof.unanswered = Some(limit);
                    break;
                }
                answered = limit;
                failed.remove(&limit);
                sizes = between(answered, failed.first().copied().unwrap_or(mtu + 1));
            }
        }
        proof.answered = Some(answered);
        proof.told = self.told;
    }

    /// Asks at three sizes, [`TRIES`] times, and gives up after less than two seconds.
    fn ask_briefly(&mut self, mtu: u32, proof: &mut MtuProof) {
        let mut sizes: BTreeSet<u32> = [SMALL, STANDARD.min(mtu), mtu].into();
        for _ in 0..TRIES {
            let left: Vec<u32> = sizes.iter().copied().collect();
            let heard = self.round(&left);
            proof.answered = proof.answered.max(heard.last().copied());
            sizes.retain(|size| Some(*size) > proof.answered);
            if sizes.is_empty() {
                break;
            }
        }
        proof.unanswered = sizes.first().copied().filter(|_| proof.answered.is_some());
        proof.told = self.told;
    }

    /// Sends a probe of each size and gives those that were answered, until all are or it takes too
    /// long.
    fn round(&mut self, sizes: &[u32]) -> BTreeSet<u32> {
        let mut heard = BTreeSet::new();
        let mut waiting = 0;
        for size in sizes {
            waiting += usize::from(self.send(*size));
        }
        let deadline = Instant::now() + self.wait;
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
                Err(error) => self.told |= is_too_big(&error),
            }
        }
        heard
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
                Err(error) => self.told |= is_too_big(&error),
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

/// Sizes between two others, evenly spread.
fn between(answered: u32, limit: u32) -> Vec<u32> {
    let room = limit.saturating_sub(answered).saturating_sub(1);
    let count = PROBES_PER_ROUND.min(room);
    (1..=count)
        .map(|index| {
            let step = u64::from(room + 1) * u64::from(index) / u64::from(count + 1);
            answered + u32::try_from(step).unwrap_or(0).max(1)
        })
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn is_too_big(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error())
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

    #[test]
    fn sizes_between_two_leave_none_out_in_the_end() {
        assert_eq!(between(1500, 1501), Vec::<u32>::new());
        assert_eq!(between(1500, 1502), [1501]);
        assert_eq!(between(1500, 1505), [1501, 1502, 1503, 1504]);
        let wide = between(84, 9001);
        assert_eq!(wide.len(), 8);
        assert!(wide.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(wide[0] > 84 && wide[7] < 9001);
    }

    /// The example of RFC 1071, section 3: 0001 f203 f4f5 f6f7 add up to ddf2.
    #[test]
    fn a_check_sum_that_is_known() {
        let packet = [0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7];
        assert_eq!(check_sum(&packet), !0xDDF2);
        assert_eq!(check_sum(&[0xFF]), !0xFF00);
    }
}
