//! A line that is slower than its ends, or far slower than the others between the same hosts.

use locale::{Message, say};
use record::{Direction, HostFacts, Nic, ProbeKind, Rung};

use super::{
    Advice, Basis, DIRECTIONS, Decider, Evidence, Finding, GOOD_BITS, PairRate, SLOW_BITS,
};
use crate::RungName;
use crate::diagnosis::nic_pairs::{FarEnd, Pair};
use crate::rung_and_probe_verdict::Loss;
use stats::{Unit, computed};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let pair = seen.used.first();
    let in_use = pair.and_then(|pair| {
        let end = slow_end(seen, pair).or_else(|| slow_end_by_word(seen, pair));
        end.or_else(|| slow_hop(seen, pair))
            .or_else(|| slow_hop_with_queue(seen, pair))
    });
    in_use
        .or_else(|| slow_among_others(seen))
        .or_else(|| slow_hop_of_channel(seen))
        .or_else(|| shared_hop(seen))
}

/// One end of the path in use runs far slower than the other.
fn slow_end(seen: &Evidence, pair: &Pair) -> Option<Finding> {
    let far = pair.far_nic()?;
    let (client, server) = (seen.network.client?, seen.network.server?);
    let ends: [(&HostFacts, &Nic); 2] = [(client, pair.near), (server, far)];
    let [near_bits, far_bits] = seen.network.end_bits(pair);
    let (near_bits, far_bits) = (near_bits?, far_bits?);
    let (slow, good) = (near_bits.min(far_bits), near_bits.max(far_bits));
    if slow > SLOW_BITS || good < GOOD_BITS {
        return None;
    }
    let (host, nic) = ends[usize::from(far_bits < near_bits)];
    let text = say("slow-link.end")
        .with("nic", &nic.name)
        .with("host", &host.name)
        .bits("slow", slow)
        .bits("good", good);
    let advice = say("fix.cable")
        .with("nic", &nic.name)
        .with("host", &host.name);
    let advice = Advice::new(advice).commands([format!("ethtool {}", nic.name)]);
    Some(Finding::counted(text, advice).off_path_if(!seen.is_held_by_line(0.0)))
}

/// The same where nothing but the server's word is known of its end, and all that is moved agrees with it.
fn slow_end_by_word(seen: &Evidence, pair: &Pair) -> Option<Finding> {
    let FarEnd::Advertised(far) = pair.far else {
        return None;
    };
    let [near, _] = seen.network.end_bits(pair);
    let (good, slow) = (near?, far.speed.get());
    let moves = DIRECTIONS
        .into_iter()
        .all(|direction| seen.moves_as(pair, direction, slow));
    if slow > SLOW_BITS || good < GOOD_BITS || !moves {
        return None;
    }
    let text = say("slow-link.end-by-word")
        .with("nic", &pair.near.name)
        .with("remote", pair.remote)
        .bits("slow", slow)
        .bits("good", good);
    let advice = Advice::new(say("fix.cable-of-pair").with("pair", pair.name()));
    Some(Finding::suspected(text, Decider::Server, advice))
}

/// Something between the ends runs at the rate of a slower line.
fn slow_hop(seen: &Evidence, pair: &Pair) -> Option<Finding> {
    if seen.slower_return_path().is_some() {
        return None;
    }
    let bits = seen.line_between(pair)?;
    let text = hop(say("slow-link.hop"), pair, bits);
    let advice = Advice::of("fix.slow-hop")
        .gains(seen.gain())
        .commands([format!("ethtool {}", pair.near.name)]);
    // One stream at that rate may have another reason; four that share it have not.
    let streams = seen.probed(ProbeKind::Streams, Rung::Tcp);
    let is_shared = streams.is_some_and(|streams| streams.loss == Loss::DoesNotLose);
    Some(match is_shared && seen.loses(RungName::Tcp) {
        true => Finding::counted(text, advice),
        false if seen.rate(RungName::Tcp, Direction::Read).is_none() => {
            Finding::suspected(text, Decider::RawTcp, advice)
        }
        false => Finding::suspected(text, Decider::Probe, advice),
    })
}

/// The same by what is read alone, where writing lacks something else as well.
fn slow_hop_with_queue(seen: &Evidence, pair: &Pair) -> Option<Finding> {
    let bits = seen.line_of_queue(pair)?;
    let direction = Direction::Read;
    let rates = seen
        .ceiling(direction)
        .zip(seen.rate(RungName::Share, direction));
    let at_most = || vec![say("gain-caveat.at-most")];
    let gain = rates.map(|(all, now)| computed(all / now, Unit::Ratio, at_most()));
    let advice = Advice::of("fix.slow-hop")
        .gains(gain)
        .commands([format!("ethtool {}", pair.near.name)]);
    let text = hop(say("slow-link.hop-of-queue"), pair, bits);
    // It is not why writing gets less than that.
    Some(Finding::suspected(text, Decider::RawTcp, advice).by_elimination())
}

/// The same on a link that only several channels use.
fn slow_hop_of_channel(seen: &Evidence) -> Option<Finding> {
    let others = seen.usable.iter().filter(|pair| !seen.used.contains(pair));
    let mut held = others.filter_map(|pair| Some((pair, seen.line_of_channel(pair)?)));
    let (pair, bits) = held.next()?;
    let advice = Advice::of("fix.slow-hop").commands([format!("ethtool {}", pair.near.name)]);
    let text = hop(say("slow-link.hop-of-channel"), pair, bits);
    Some(Finding::suspected(text, Decider::Elsewhere, advice).of_channels())
}

/// One line in which several links meet. Where the server is not looked at, that may be its only port.
fn shared_hop(seen: &Evidence) -> Option<Finding> {
    let bits = seen.line_of_all_channels()?;
    let text = say("slow-link.shared-hop").bits("rate", bits);
    let advice = Advice::of("fix.shared-hop");
    let lost = seen.first_loss().map(|rung| rung.rung);
    match (seen.network.server, lost) {
        (Some(_), Some(RungName::Channels)) => {
            let decider = Decider::Hand("decide.all-links");
            Some(Finding::suspected(text, decider, advice).of_channels())
        }
        (None, None) => {
            let basis = Basis::OutOfSight("needs.server");
            Some(Finding::new(text, basis, advice).off_path())
        }
        _ => None,
    }
}

fn hop(text: Message, pair: &Pair, bits: u64) -> Message {
    text.bits("rate", bits)
        .with("nic", &pair.near.name)
        .with("remote", pair.remote)
}

/// One link that came up far slower than another one between the same hosts.
fn slow_among_others(seen: &Evidence) -> Option<Finding> {
    let pairs = seen.network.all_pairs(&seen.used);
    let rated = pairs
        .iter()
        .filter_map(|pair| Some((seen.pair_bits(pair)?, pair)));
    let (slow, pair) = rated.min_by_key(|(bits, _)| *bits)?;
    let rates = pairs.iter().filter_map(|pair| seen.pair_rate(pair));
    let good = rates.max_by_key(PairRate::bits)?;
    let (is_good, id) = match good {
        PairRate::Known(bits) => (bits >= GOOD_BITS, "slow-link.among-others"),
        // More than a slow one could have carried, whatever it is.
        PairRate::Carried(bits) => (bits >= GOOD_BITS / 2, "slow-link.among-used"),
    };
    if slow > SLOW_BITS || !is_good {
        return None;
    }
    let text = say(id)
        .with("pair", pair.name())
        .bits("slow", slow)
        .bits("good", good.bits());
    let advice = Advice::new(say("fix.cable-of-pair").with("pair", pair.name()))
        .commands([format!("ethtool {}", pair.near.name)]);
    let costs = seen.used.contains(pair) && seen.is_held_by_line(0.0);
    Some(Finding::counted(text, advice).off_path_if(!costs))
}
