//! A line on the way that is slower than its ends say.

use record::{HostFacts, Nic};

use super::fault::{Fault, GOOD_BITS, SLOW_BITS, fault, gain};
use super::path::{FarEnd, Pair, bit_rate, has_no_line};
use super::remedy::Advice;
use super::{DIRECTIONS, Seen};
use crate::{RungName, Trust};

/// Rates of lines that something between may run at.
const RATES: [u64; 4] = [10_000_000, 100_000_000, GOOD_BITS, 2_500_000_000];
/// How near what is moved must come to a line to be held by it.
const NEAR: std::ops::RangeInclusive<f64> = 0.93..=1.01;
/// How much faster the ends must be.
const FASTER: f64 = 1.5;
/// Bytes that each packet takes on a line beside itself, and of itself that are no payload.
const WIRE_BYTES: f64 = 38.0;
const HEADER_BYTES: f64 = 52.0;

/// One end of the way in use runs far slower than the other, or something between the two does.
pub(super) fn slow_line(seen: &Seen) -> Option<Fault> {
    let pair = seen.used.first()?;
    slow_end(seen, pair).or_else(|| slow_between(seen, pair))
}

fn slow_end(seen: &Seen, pair: &Pair) -> Option<Fault> {
    let FarEnd::Nic(far) = pair.far else {
        return None;
    };
    let (client, server) = (seen.network.client?, seen.network.server?);
    let ends: [(&HostFacts, &Nic); 2] = [(client, pair.near), (server, far)];
    let [near_bits, far_bits] = seen.network.end_bits(pair);
    let (near_bits, far_bits) = (near_bits?, far_bits?);
    let (slow, good) = (near_bits.min(far_bits), near_bits.max(far_bits));
    if slow > SLOW_BITS || good < GOOD_BITS {
        return None;
    }
    let (host, nic) = ends[usize::from(far_bits < near_bits)];
    let text = format!(
        "`{}` of {} runs at {}, and the other end of the way at {}: look at its cable and ports",
        nic.name,
        host.name,
        bit_rate(slow),
        bit_rate(good)
    );
    let advice = Advice::new(format!(
        "change the cable of `{}` at {}; a pair of wires in it is probably broken",
        nic.name, host.name
    ))
    .commands([format!("ethtool {}", nic.name)]);
    fault("slow-link", text, Trust::Computed, advice)
}

/// Everything moves at just the rate of a slower line, both ways.
fn slow_between(seen: &Seen, pair: &Pair) -> Option<Fault> {
    if has_no_line(pair.near) {
        return None;
    }
    let mtu = f64::from(pair.mtu());
    let bits = RATES.into_iter().find(|&bits| {
        let payload = bits as f64 / 8.0 * (mtu - HEADER_BYTES) / (mtu + WIRE_BYTES);
        DIRECTIONS.into_iter().all(|direction| {
            let measured = seen
                .rate(RungName::Tcp, direction)
                .or_else(|| seen.rate(RungName::Share, direction));
            let ceiling = seen.rate(RungName::Ceiling, direction);
            measured.is_some_and(|rate| NEAR.contains(&(rate / payload)))
                && ceiling.is_some_and(|ceiling| ceiling > payload * FASTER)
        })
    })?;
    // A server that is not looked at may have such a NIC, and nothing is wrong about that.
    if seen.network.server.is_none() && bits > SLOW_BITS {
        return None;
    }
    let text = format!(
        "everything moves at just the rate of a line of {0}, both ways: something between `{1}` and `{2}` runs at {0}",
        bit_rate(bits),
        pair.near.name,
        pair.remote
    );
    let advice = Advice::new(
        "look at the ports of the switches on the way and at the server's NIC: one has come up slow, or is a slow one",
    )
    .gains(gain(seen))
    .commands([format!("ethtool {}", pair.near.name)]);
    fault("slow-link", text, Trust::Computed, advice)
}
