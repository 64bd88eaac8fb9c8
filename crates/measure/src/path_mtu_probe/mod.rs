//! The largest packet that passes between two NICs, proven by probes that nobody may cut.
//!
//! Echo requests come first: what the system believes of the path is not asked, and both directions
//! are proven. Where nobody answers them, or not the large ones, segments of TCP show what passes on
//! the way there. Only the answers count, and a size that had none is tried again before it is
//! believed.

mod echo_probe;
mod tcp_probe;

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::thread;
use std::time::{Duration, Instant};

use locale::say;
use os::sandbox::{Rules, close_inherited, confine};
use record::MtuProof;
use serde::{Deserialize, Serialize};

use crate::Error;
use echo_probe::Echoes;
use tcp_probe::Segments;

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
/// The same where TCP has just been there and back, in less than that.
const FIRST_WAIT_IF_NEAR: Duration = Duration::from_millis(250);
/// The least time in which the answers of a round may come, in round trips.
const ROUND_TRIPS: u32 = 4;
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
/// When the input is no list of targets, rights cannot be given up, or there is nobody to write to.
pub fn probe_main(stdin: impl Read, mut stdout: impl Write) -> Result<(), Error> {
    let failed = |id| {
        move |source| Error::System {
            action: say(id),
            source,
        }
    };
    close_inherited().map_err(failed("error-measure.close-inherited"))?;
    let mut text = Vec::new();
    stdin
        .take(INPUT_BYTES_MAX)
        .read_to_end(&mut text)
        .map_err(failed("error-measure.read-targets"))?;
    let targets: Vec<MtuTarget> = serde_json::from_slice(&text).map_err(|error| Error::Input {
        column: error.column(),
    })?;
    let proofs = prove(&targets).map_err(failed("error-measure.give-up-rights"))?;
    serde_json::to_vec(&proofs)
        .map_err(io::Error::from)
        .and_then(|text| stdout.write_all(&text).and_then(|()| stdout.flush()))
        .map_err(failed("error-measure.write-proofs"))
}

/// Tries all pairs at once, without rights: the sockets that take some are open by then.
fn prove(targets: &[MtuTarget]) -> io::Result<Vec<MtuProof>> {
    let targets = targets.iter().take(TARGETS_MAX);
    let open: Vec<_> = targets
        .map(|target| (target, Echoes::open(target).ok()))
        .collect();
    confine(&Rules {
        network: true,
        ..Rules::default()
    })?;
    Ok(thread::scope(|scope| {
        let running: Vec<_> = open
            .into_iter()
            .map(|(target, echoes)| (target, scope.spawn(|| of_pair(target, echoes))))
            .collect();
        let ended = running.into_iter().map(|(target, thread)| {
            // Nothing in there panics; what is not known is not known.
            thread.join().unwrap_or_else(|_| nothing_of(target))
        });
        ended.collect()
    }))
}

fn nothing_of(target: &MtuTarget) -> MtuProof {
    MtuProof {
        nic: target.nic.clone(),
        remote: Some(target.remote),
        near_mtu: target.mtu,
        ..MtuProof::default()
    }
}

fn of_pair(target: &MtuTarget, echoes: Option<Echoes>) -> MtuProof {
    let begun = Instant::now();
    let mut proof = nothing_of(target);
    let mtu = target.mtu.min(PACKET_BYTES_MAX);
    let mut segments = target.port.and_then(|port| Segments::open(target, port));
    let round_trip = segments.as_ref().map(|segments| segments.round_trip);
    proof.far_mtu = segments.as_ref().map(|segments| segments.far_mtu);
    if let Some(mut echoes) = echoes {
        let is_near = round_trip.is_some_and(|time| time * ROUND_TRIPS < FIRST_WAIT_IF_NEAR);
        let first = if is_near {
            FIRST_WAIT_IF_NEAR
        } else {
            FIRST_WAIT
        };
        match target.port {
            Some(_) => search(&mut echoes, first, mtu, &mut proof),
            None => ask_briefly(&mut echoes, mtu, &mut proof),
        }
    }
    if let Some(segments) = &mut segments
        && (proof.answered.is_none() || is_filtered(segments, &proof))
    {
        let mut shown = MtuProof {
            far_mtu: proof.far_mtu,
            ..nothing_of(target)
        };
        let mtu = mtu.min(segments.far_mtu);
        search(segments, FIRST_WAIT, mtu, &mut shown);
        if shown.answered > proof.answered {
            shown.forward_only = true;
            shown.round_trip = proof.round_trip.or(round_trip.map(Into::into));
            proof = shown;
        }
    }
    proof.took = begun.elapsed().into();
    proof
}

/// Whether segments of TCP arrive of which no echo request does: many a firewall drops large ones, or
/// answers only so many of them, and nothing is wrong with the path.
fn is_filtered(segments: &mut Segments, proof: &MtuProof) -> bool {
    if !proof.is_black_hole() {
        return false;
    }
    let wanted = proof.wanted();
    let sizes = [proof.unanswered.unwrap_or(wanted), wanted].repeat(TRIES);
    let wait = Segments::WAIT.max(segments.round_trip * ROUND_TRIPS);
    !segments.round(&sizes, wait).is_empty()
}

/// A way to send packets of chosen sizes and to hear which of them arrive.
trait Probes {
    /// The least time in which the answers of a round may come.
    const WAIT: Duration;

    /// Sends a probe of each size and gives those that arrived, until all have or it takes too long.
    fn round(&mut self, sizes: &[u32], wait: Duration) -> BTreeSet<u32>;

    /// Whether a router on the path said of any of them that it is too big.
    fn saw_too_big(&self) -> bool;
}

/// Finds the largest size up to `mtu` that arrives.
fn search<P: Probes>(probes: &mut P, first_wait: Duration, mtu: u32, proof: &mut MtuProof) {
    let begun = Instant::now();
    let hears = (0..TRIES).any(|_| !probes.round(&[SMALL], first_wait).is_empty());
    if !hears {
        return;
    }
    let round_trip = begun.elapsed();
    proof.round_trip = Some(round_trip.into());
    let wait = P::WAIT.max(round_trip * ROUND_TRIPS);
    let mut answered = SMALL;
    let mut failed = BTreeSet::new();
    let usual = USUAL.into_iter().filter(|size| *size < mtu).chain([mtu]);
    let mut sizes: Vec<u32> = usual.collect();
    for _ in 0..ROUNDS_MAX {
        let heard = probes.round(&sizes, wait);
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
            if probes.round(&again, wait).is_empty() {
                proof.unanswered = Some(limit);
                break;
            }
            answered = limit;
            failed.remove(&limit);
            sizes = between(answered, failed.first().copied().unwrap_or(mtu + 1));
        }
    }
    proof.answered = Some(answered);
    proof.too_big_reported = probes.saw_too_big();
}

/// Asks at three sizes, [`TRIES`] times, and gives up after less than two seconds.
fn ask_briefly<P: Probes>(probes: &mut P, mtu: u32, proof: &mut MtuProof) {
    let mut sizes: BTreeSet<u32> = [SMALL, STANDARD.min(mtu), mtu].into();
    for _ in 0..TRIES {
        let left: Vec<u32> = sizes.iter().copied().collect();
        let heard = probes.round(&left, FIRST_WAIT);
        proof.answered = proof.answered.max(heard.last().copied());
        sizes.retain(|size| Some(*size) > proof.answered);
        if sizes.is_empty() {
            break;
        }
    }
    proof.unanswered = sizes.first().copied().filter(|_| proof.answered.is_some());
    proof.too_big_reported = probes.saw_too_big();
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
}
