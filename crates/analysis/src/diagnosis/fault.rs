//! What is wrong on the way, and what would put it right: each found by what is peculiar to it, in the
//! order of the way from the NICs to the disk. The first one is the verdict.

use std::net::IpAddr;

use record::{
    Direction, HostFacts, HostLoad, InterfaceAddress, LinkState, Medium, MtuProof, Nic, Offload,
    Outcome, PathLook, Rung, ServerInterface, Setting, Target, TrialRecord, Value,
};

use super::buffer::{small_buffers, small_buffers_beside, waits_for_receiver};
use super::cause::{above_ceiling, busy_processor, cause, percent};
use super::hole::black_hole;
use super::line::slow_line;
use super::medium;
use super::path::{FarEnd, Network, Pair, bit_rate, has_no_line, line_bits};
use super::remedy::{Advice, setting};
use super::segment::{names, short_neighbours};
use super::storage;
use super::{DIRECTIONS, FULL_LIMIT, LOSS_LIMIT, Measured, Seen};
use crate::comparison::direction_name;
use crate::statistics::computed;
use crate::{Cause, Estimate, Fix, RungName, Trust, Unit};

/// The least ratio of two line rates that counts as different.
pub(super) const FASTER: f64 = 1.5;
/// What a link runs at when its cable is bad, in bits per second.
pub(super) const SLOW_BITS: u64 = 100_000_000;
/// The same for a link that nobody would call slow.
pub(super) const GOOD_BITS: u64 = 1_000_000_000;
/// How much higher the metric of a slow NIC's routes is to be than that of a fast one's.
const METRIC_STEP: i64 = 100;
/// A line so fast that the offloads of a NIC matter.
const FAST_BITS: u64 = 5_000_000_000;
/// An MTU from which they matter less.
const LARGE_MTU: u32 = 4000;
/// Segments sent again, as a share of all, that no full queue explains.
const RESENT_LIMIT: f64 = 0.006;
/// The same where TCP does not reach what it could.
const RESENT_LIMIT_SLOW: f64 = 0.001;
/// Segments out of order, as a share of all, that tell of loss where TCP is slow.
const OVERTAKEN_LIMIT: f64 = 0.01;
/// Share of the time that a host may be kept from running and not be slow for it.
const THROTTLED_LIMIT: f64 = 0.05;
/// The same where a little is lost.
const OFTEN_THROTTLED: f64 = 0.25;
/// Payload that one credit is worth.
const CREDIT_BYTES: u64 = 64 << 10;
/// Requests that are smaller cost more in asking than in bytes.
const REQUEST_BYTES_MIN: u64 = 256 << 10;
/// Payload that a session must be able to have under way, however near the server is.
const IN_FLIGHT_BYTES_MIN: u64 = 1 << 20;
/// How much slower writes must be than reads to be another matter.
const WRITES_SLOWER: f64 = 1.3;
/// The same where the server is not looked at, and the client has much to do: what writes cost there
/// they may cost at the server.
const WRITES_SLOWER_UNSEEN: f64 = 1.8;
/// The same where others use the processors as well.
const WRITES_SLOWER_IN_A_CROWD: f64 = 4.0;
/// Share of a processor at which it is full.
const FULL_PROCESSOR: f64 = 0.97;
/// Share of all processors' time from which a host is busy with something else.
const BUSY_HOST: f64 = 0.9;
/// The same up to which it waits for something.
const IDLE_HOST: f64 = 0.5;

/// Causes that make a share slow to write, so that its disk need not be what is slow.
const EXPLAIN: [&str; 6] = [
    "segments-lost",
    "receive-buffer-small",
    "send-buffer-small",
    "client-processor",
    "server-processor",
    "few-credits",
];

/// Whether a fault can be what was lost on the way that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// It is on that way.
    Way,
    /// It is beside it, on a pair of NICs that is not used, or one connection does not notice it.
    Beside,
}

/// Something wrong, with what would put it right.
pub(super) struct Fault {
    pub(super) cause: Cause,
    pub(super) fix: Option<Fix>,
    pub(super) reach: Reach,
}

impl Fault {
    pub(super) fn beside(self) -> Self {
        Self {
            reach: Reach::Beside,
            ..self
        }
    }
}

/// Everything that is wrong, first on the way first.
pub(super) fn faults(seen: &Seen) -> Vec<Fault> {
    let faster = faster(seen);
    let mut ways = [
        faster.as_ref().and_then(|it| faster_way(seen, it)),
        two_nics(seen),
    ];
    if faster.is_some_and(|faster| faster.is_up_to_routes()) {
        // That two NICs are in one subnet is why the slower one is used.
        ways.reverse();
    }
    let [first_way, second_way] = ways;
    let found = [
        black_hole(seen),
        medium::wifi(seen),
        medium::needless_tunnel(seen),
        slow_line(seen).or_else(|| slow_link(seen)),
        first_way,
        second_way,
        different_mtus(seen),
        // Before the packets that a NIC without them loses.
        offloads_off(seen),
        segments_lost(seen).or_else(|| segments_overtaken(seen)),
        small_buffers(seen),
        // What loses segments or has too small a window does so in a tunnel too.
        medium::slow_tunnel(seen),
        throttled(seen, 0),
        throttled(seen, 1),
        old_dialect(seen),
        few_credits(seen),
        small_requests(seen),
        encryption(seen),
        signing(seen),
        synchronous(seen),
        slow_disk(seen),
        full_processor(seen),
        port_blocked(seen),
        multichannel_off(seen),
        wrong_advertisement(seen),
    ];
    let mut faults: Vec<Fault> = found.into_iter().flatten().collect();
    // A guess by elimination is none where something that was seen explains the same loss.
    let explained = faults
        .iter()
        .any(|fault| EXPLAIN.contains(&fault.cause.id.as_str()));
    faults.retain(|fault| !(explained && fault.cause.id == "server-disk"));
    let is_new = |beside: &Fault| faults.iter().all(|fault| fault.cause.id != beside.cause.id);
    let beside = small_buffers_beside(seen).filter(is_new);
    faults.extend(beside);
    faults
}

pub(super) fn fault(id: &str, text: String, trust: Trust, advice: Advice) -> Option<Fault> {
    Some(Fault {
        cause: cause(id, text, trust),
        fix: advice.fix(id),
        reach: Reach::Way,
    })
}

pub(super) fn nic_mtu(host: Option<&HostFacts>, nic: &str, mtu: u32) -> Option<Setting> {
    let value = Value::Integer(i64::from(mtu));
    setting(host, Target::Nic(nic.into()), "nic.mtu", value)
}

/// What the share could gain if it reached the ceiling, in the direction that gains more.
pub(super) fn gain(seen: &Seen) -> Option<Estimate> {
    let ratios = DIRECTIONS.into_iter().filter_map(|direction| {
        let ceiling = seen.rate(RungName::Ceiling, direction)?;
        Some(ceiling / seen.rate(RungName::Share, direction)?)
    });
    let most = ratios
        .filter(|ratio| ratio.is_finite())
        .max_by(f64::total_cmp)?;
    let caveat = "at most, and only if nothing else is in the way then";
    (most > 1.0).then(|| computed(most, Unit::Ratio, vec![caveat.into()]))
}

/// Whether a rung of either direction has less than it should of the one above.
pub(super) fn loses(seen: &Seen, rung: RungName) -> bool {
    DIRECTIONS
        .into_iter()
        .any(|direction| loses_in(seen, rung, direction))
}

pub(super) fn loses_in(seen: &Seen, rung: RungName, direction: Direction) -> bool {
    let rung = seen.rung(rung, direction);
    rung.and_then(|rung| rung.of_above.as_ref())
        .is_some_and(|share| share.value < LOSS_LIMIT)
}

/// Whether the network has less than it should, by raw TCP or, where nobody measured that, by the share.
pub(super) fn network_loses(seen: &Seen) -> bool {
    DIRECTIONS.into_iter().any(|direction| {
        let tcp = seen.rate(RungName::Tcp, direction);
        let rung = tcp.map_or(RungName::Share, |_| RungName::Tcp);
        loses_in(seen, rung, direction)
    })
}

/// Whether what the share has less than its network is the share's own: raw TCP moves more, or else both
/// ends tell the rates of their lines and no more than a switch is between them.
fn network_is_known(seen: &Seen) -> bool {
    let tcp = |direction| seen.rate(RungName::Tcp, direction).is_some();
    let share = |direction| seen.rate(RungName::Share, direction).is_some();
    let mut ways = DIRECTIONS.into_iter();
    let by_tcp = DIRECTIONS.into_iter().any(tcp) && ways.all(|way| tcp(way) || !share(way));
    by_tcp || is_plain_way(seen)
}

fn is_plain_way(seen: &Seen) -> bool {
    let is_plain = |pair: &Pair| {
        let [near, far] = seen.network.end_bits(pair);
        let far = far.or_else(|| seen.network.told_bits(pair));
        near.is_some() && far.is_some() && !seen.is_routed(pair.near, pair.remote)
    };
    !seen.used.is_empty() && seen.used.iter().all(is_plain) && !medium::has_no_line_on_the_way(seen)
}

/// A share that was so slow that nothing came through while it was measured has lost as well.
fn share_loses(seen: &Seen) -> bool {
    let unmeasured = DIRECTIONS
        .into_iter()
        .all(|direction| seen.rate(RungName::Share, direction).is_none());
    loses(seen, RungName::Share) || (unmeasured && !storage::is_kept_out(seen))
}

/// The proof for the pair that the share uses.
pub(super) fn used_proof<'a>(seen: &Seen<'a>) -> Option<&'a MtuProof> {
    seen.look?.mtus.first()
}

pub(super) fn remote_name(proof: &MtuProof) -> String {
    proof
        .remote
        .map_or("the server".into(), |it| it.to_string())
}

pub(super) fn far_nic<'a>(seen: &Seen<'a>, proof: &MtuProof) -> Option<&'a Nic> {
    seen.network.server?.nic_with(proof.remote?)
}

/// One link that came up far slower than another one between the same hosts.
fn slow_link(seen: &Seen) -> Option<Fault> {
    let pairs = seen.network.all_pairs(&seen.used);
    let rated = pairs
        .iter()
        .filter_map(|pair| Some((pair_bits(seen, pair)?, pair)));
    let (slow, pair) = rated.min_by_key(|(bits, _)| *bits)?;
    let rates = pairs.iter().filter_map(|pair| seen.pair_rate(pair));
    let good = rates.max_by_key(PairRate::bits)?;
    let is_good = match good {
        PairRate::Told(bits) => bits >= GOOD_BITS,
        // More than a slow one could have carried, whatever it is.
        PairRate::Carried(bits) => bits >= GOOD_BITS / 2,
    };
    if slow > SLOW_BITS || !is_good {
        return None;
    }
    let text = format!(
        "the link {} runs at {}, and another one between the two {}: look at its cable and ports",
        pair.name(),
        bit_rate(slow),
        match good {
            PairRate::Told(bits) => format!("at {}", bit_rate(bits)),
            PairRate::Carried(bits) => format!("carried {}", bit_rate(bits)),
        }
    );
    let advice = Advice::new(format!(
        "change the cable of {}; a pair of wires in it is probably broken",
        pair.name()
    ))
    .commands([format!("ethtool {}", pair.near.name)]);
    let found = fault("slow-link", text, Trust::Computed, advice)?;
    Some(match seen.used.contains(pair) {
        true => found,
        false => found.beside(),
    })
}

/// What the slower end of a pair runs at; nothing where an end has no line.
fn pair_bits(seen: &Seen, pair: &Pair) -> Option<u64> {
    let has_lines =
        !has_no_line(pair.near) && !matches!(pair.far, FarEnd::Nic(nic) if has_no_line(nic));
    let ends = seen.network.end_bits(pair).into_iter().flatten();
    ends.min().filter(|_| has_lines)
}

/// What is known of the rate of a pair.
#[derive(Clone, Copy)]
enum PairRate {
    /// What its slower end tells.
    Told(u64),
    /// The most that it was seen to carry, where neither end tells anything: it is no slower.
    Carried(u64),
}

impl PairRate {
    const fn bits(&self) -> u64 {
        match self {
            Self::Told(bits) | Self::Carried(bits) => *bits,
        }
    }

    fn said(self) -> String {
        match self {
            Self::Told(bits) => format!("runs at {}", bit_rate(bits)),
            Self::Carried(bits) => format!("was seen to carry {}", bit_rate(bits)),
        }
    }
}

/// A pair of NICs that is faster than the one in use.
struct Faster<'a> {
    pair: Pair<'a>,
    rate: PairRate,
    current: Pair<'a>,
    used: PairRate,
}

impl Faster<'_> {
    /// Whether the client's routes choose between its two NICs, whatever address it calls.
    fn is_up_to_routes(&self) -> bool {
        is_up_to_routes(&self.current, &self.pair)
    }
}

fn is_up_to_routes(current: &Pair, other: &Pair) -> bool {
    let mut entries = current.near.addresses.iter();
    current.near.index != other.near.index
        && (current.remote == other.remote || entries.any(|entry| entry.contains(other.remote)))
}

fn faster<'a>(seen: &Seen<'a>) -> Option<Faster<'a>> {
    let current = *seen.used.first()?;
    let used = seen.used.iter();
    let told = used.filter_map(|pair| pair_bits(seen, pair)).max();
    let used = told.map(PairRate::Told).or_else(|| {
        // Raw TCP moves what a line carries, unless a processor is what it waits for.
        let is_clear = seen.full_host().is_none() && busy_processor(seen).is_none();
        let is_raw = |rung: Rung| matches!(rung, Rung::Tcp | Rung::Streams);
        let bits = seen.carried(&current, is_raw).filter(|_| is_clear)?;
        Some(PairRate::Carried(bits))
    })?;
    let pairs = seen.network.all_pairs(&seen.used).into_iter();
    let (pair, rate) = pairs
        .filter(|pair| !seen.used.contains(pair) && !medium::is_dead(seen, pair.near, pair.remote))
        .filter_map(|pair| Some((pair, seen.pair_rate(&pair)?)))
        // Of several as fast, one that needs nothing but another address.
        .max_by_key(|(pair, rate)| (rate.bits(), !is_up_to_routes(&current, pair)))?;
    let is_faster = rate.bits() as f64 >= used.bits() as f64 * FASTER;
    is_faster.then_some(Faster {
        pair,
        rate,
        current,
        used,
    })
}

fn faster_way(seen: &Seen, faster: &Faster) -> Option<Fault> {
    let (pair, current) = (&faster.pair, &faster.current);
    let text = format!(
        "the share is reached from {}, which {}; {} {} and is not used",
        current.name(),
        faster.used.said(),
        pair.name(),
        faster.rate.said()
    );
    let ratio = computed(
        faster.rate.bits() as f64 / faster.used.bits() as f64,
        Unit::Ratio,
        vec![match (faster.used, faster.rate) {
            (PairRate::Told(_), PairRate::Told(_)) => "the ratio of the two line rates".into(),
            _ => "the ratio of what is known of the two rates".into(),
        }],
    );
    let advice = match faster.is_up_to_routes() {
        true => lower_metric(seen, faster),
        false => Advice::new(format!(
            "reach the server by `{}`: use that address, or let its name stand for it in `hosts` or DNS",
            pair.remote
        ))
        .elsewhere(seen.share_at(pair.remote)),
    };
    let advice = advice.gains(Some(ratio));
    let found = fault("faster-way-unused", text, Trust::Computed, advice)?;
    // A link that is not filled is not what holds the share back.
    let lost = seen.first_loss().map(|(rung, ..)| rung);
    Some(match lost {
        Some(RungName::Tcp | RungName::Share) => found.beside(),
        _ => found,
    })
}

/// What to do where both NICs of the client are in the server's subnet, so that another address of it is
/// reached by the same one as before.
fn lower_metric(seen: &Seen, faster: &Faster) -> Advice {
    let (slow, fast) = (faster.current.near, faster.pair.near);
    let routes = seen
        .network
        .client
        .into_iter()
        .flat_map(|host| &host.routes);
    let of_fast = routes.filter(|route| route.nic == fast.name);
    let metric = of_fast.filter_map(|route| route.metric).max().unwrap_or(0);
    Advice::new(format!(
        "the routes choose between `{0}` and `{1}`, whatever address is called: give those of `{1}` a lower metric \
         than those of `{0}` (`route.interface_metric`), or each link a subnet of its own at both ends",
        slow.name, fast.name
    ))
    .sets(setting(
        seen.network.client,
        Target::Nic(slow.name.clone()),
        "route.interface_metric",
        Value::Integer(i64::from(metric) + METRIC_STEP),
    ))
}

/// Two NICs of one host in a subnet that both hosts are in: the routes send all by one of them.
fn two_nics(seen: &Seen) -> Option<Fault> {
    let current = seen.used.first()?;
    let used = seen.used.iter().map(|pair| pair.remote);
    // An IPv6 prefix that all NICs have in common says nothing of who sends by IPv4.
    let others = seen.network.near_remotes().into_iter();
    let others = others.filter(|other| other.is_ipv4() == current.remote.is_ipv4());
    let (host, one, other, remote) = used.chain(others).find_map(|remote| {
        twins_at_client(seen, remote).or_else(|| twins_at_server(seen, remote))
    })?;
    let sender = seen
        .look
        .and_then(|look| look.addresses.first())
        .filter(|way| way.address == remote)
        .and_then(|way| way.nic.clone())
        .filter(|_| {
            seen.network
                .client
                .is_some_and(|client| client.name == host.name)
        });
    let sends = sender.map_or_else(String::new, |nic| {
        format!("; the routes send all by `{nic}`")
    });
    let text = format!(
        "`{}` and `{}` of {} are in one subnet, so that one of them does the work of both{sends}",
        one.name, other.name, host.name
    );
    let advice = Advice::new(format!(
        "give each link a subnet of its own, at both ends: for `{}` another network than for `{}`",
        other.name, one.name
    ));
    fault("two-nics-one-subnet", text, Trust::Computed, advice).map(Fault::beside)
}

/// A host, two NICs of it, and the address of the server in whose subnet both are.
type Twins<'a> = (&'a HostFacts, &'a Nic, &'a Nic, IpAddr);

fn twins_at_client<'a>(seen: &Seen<'a>, remote: IpAddr) -> Option<Twins<'a>> {
    let client = seen.network.client?;
    let leads = |nic: &&Nic| nic.addresses.iter().any(|entry| entry.contains(remote));
    let used = seen.used.iter().find(|pair| pair.remote == remote);
    let up = |nic: &&Nic| nic.state != LinkState::Down;
    let nic = match used {
        Some(pair) => pair.near,
        None => client.nics.iter().filter(up).find(leads)?,
    };
    // Behind a router any of its networks may be the one that leads there.
    let is_routed = !leads(&nic);
    let twin = twin(client, nic, |entry| match is_routed {
        true => entry.address.is_ipv4() == remote.is_ipv4(),
        false => entry.contains(remote),
    })?;
    Some((client, nic, twin, remote))
}

fn twins_at_server<'a>(seen: &Seen<'a>, remote: IpAddr) -> Option<Twins<'a>> {
    let server = seen.network.server?;
    let is_it = |entry: &InterfaceAddress| entry.address.to_canonical() == remote;
    let mut nics = server.nics.iter();
    let nic = nics.find(|nic| nic.addresses.iter().any(is_it))?;
    let twin = twin(server, nic, is_it)?;
    Some((server, nic, twin, remote))
}

/// Another NIC of a host in the same subnet as one of these addresses of a NIC.
fn twin<'a>(
    host: &'a HostFacts,
    nic: &Nic,
    is_meant: impl Fn(&InterfaceAddress) -> bool,
) -> Option<&'a Nic> {
    let global = |entry: &&InterfaceAddress| !super::path::is_link_local(entry.address);
    let ours = nic.addresses.iter().filter(global);
    let ours: Vec<&InterfaceAddress> = ours.filter(|entry| is_meant(entry)).collect();
    host.nics.iter().find(|other| {
        let is_bridge_port = nic.mac.is_some() && nic.mac == other.mac;
        let mut theirs = other.addresses.iter().filter(global);
        // Wi-Fi beside a cable is another matter: the routes are meant to choose.
        other.index != nic.index
            && other.state != LinkState::Down
            && !is_bridge_port
            && !medium::is(nic, Medium::Wireless)
            && !medium::is(other, Medium::Wireless)
            && theirs.any(|entry| ours.iter().any(|own| own.contains(entry.address)))
    })
}

/// Two ends of a link that differ in MTU.
struct Ends {
    near: String,
    near_mtu: u32,
    far: String,
    far_mtu: u32,
}

/// Jumbo frames at one end only.
fn different_mtus(seen: &Seen) -> Option<Fault> {
    let ends = differing_ends(seen)?;
    let Ends {
        near,
        near_mtu,
        far,
        far_mtu,
    } = &ends;
    let text = format!(
        "the two ends of a link differ in MTU: `{near}` has {near_mtu}, `{far}` has {far_mtu}"
    );
    let (least, most) = (near_mtu.min(far_mtu), near_mtu.max(far_mtu));
    // The end that is larger is made smaller: that works whatever is between them.
    let larger = if near_mtu == most {
        nic_mtu(seen.network.client, near, *least)
    } else {
        nic_mtu(seen.network.server, far, *least)
    };
    let pairs = seen.network.all_pairs(&seen.used).into_iter();
    let of_link: Vec<Pair> = pairs.filter(|pair| pair.near.name == *near).collect();
    let short = short_neighbours(seen, &of_link);
    let advice = match short.is_empty() {
        true => format!(
            "set one MTU at both ends: {most} if every switch and neighbour takes it, otherwise {least}"
        ),
        false => format!(
            "set one MTU at both ends, {least}: {} on the same segment take no more",
            names(&short)
        ),
    };
    let advice = Advice::new(advice).sets(larger);
    // TCP agrees on the smaller one.
    fault("mtu-differs", text, Trust::Computed, advice).map(Fault::beside)
}

/// The pair in use first, by the facts and then by what was proven.
fn differing_ends(seen: &Seen) -> Option<Ends> {
    // What a tunnel leaves to a packet is no fault, and its far end is another NIC; behind a router each
    // network has its own MTU, and what TCP announces may be somebody's on the way.
    let is_link = |near: &Nic, remote: IpAddr| !has_no_line(near) && !seen.is_routed(near, remote);
    let by_facts = |pair: &Pair| match pair.far {
        FarEnd::Nic(far) if far.mtu != pair.near.mtu && is_link(pair.near, pair.remote) => {
            Some(Ends {
                near: pair.near.name.clone(),
                near_mtu: pair.near.mtu,
                far: far.name.clone(),
                far_mtu: far.mtu,
            })
        }
        _ => None,
    };
    let by_probe = |proof: &MtuProof| {
        let near = seen.network.client?.nic(&proof.nic)?;
        if !is_link(near, proof.remote?) {
            return None;
        }
        let far_mtu = proof.far_mtu.filter(|far| *far < proof.near_mtu)?;
        Some(Ends {
            near: proof.nic.clone(),
            near_mtu: proof.near_mtu,
            far: remote_name(proof),
            far_mtu,
        })
    };
    let in_use = seen.used.iter().find_map(by_facts);
    let in_use = in_use.or_else(|| by_probe(used_proof(seen)?));
    // NICs that only a prefix of the other family has in common are no link.
    let is_v4 = seen.used.first().map(|pair| pair.remote.is_ipv4());
    let same = |remote: IpAddr| is_v4.is_none_or(|is_v4| is_v4 == remote.is_ipv4());
    let is_line = |pair: &Pair| {
        let far = match pair.far {
            FarEnd::Nic(nic) => has_no_line(nic),
            FarEnd::Advertised(_) | FarEnd::Address => false,
        };
        !has_no_line(pair.near) && !far
    };
    in_use
        .or_else(|| {
            let pairs = seen.network.all_pairs(&seen.used).into_iter();
            pairs
                .filter(|pair| same(pair.remote) && is_line(pair))
                .filter(|pair| !medium::is_dead(seen, pair.near, pair.remote))
                .find_map(|pair| by_facts(&pair))
        })
        .or_else(|| {
            let proofs = seen.look?.mtus.iter();
            proofs
                .filter(|proof| proof.remote.is_some_and(same))
                .find_map(by_probe)
        })
}

/// Segments that raw TCP, or else the share, had to send again.
fn segments_lost(seen: &Seen) -> Option<Fault> {
    let (direction, share, rung) = [Rung::Tcp, Rung::Share].into_iter().find_map(|rung| {
        let resent = DIRECTIONS
            .into_iter()
            .filter_map(|direction| Some((direction, seen.resent(rung, direction)?, rung)));
        let worst = resent.max_by(|one, two| f64::total_cmp(&one.1, &two.1))?;
        let name = if rung == Rung::Tcp {
            RungName::Tcp
        } else {
            RungName::Share
        };
        // A window that opens again now and then makes a sender try twice as well.
        let waits = worst.0 == Direction::Write && waits_for_receiver(seen, rung);
        let slow = loses_in(seen, name, worst.0) && !waits;
        let limit = if slow {
            RESENT_LIMIT_SLOW
        } else {
            RESENT_LIMIT
        };
        (worst.1 > limit).then_some(worst)
    })?;
    let what = if rung == Rung::Tcp {
        "raw TCP"
    } else {
        "the share"
    };
    lost(
        seen,
        format!(
            "{:.2} % of {what}'s segments ({}) had to be sent again: packets are lost on the way",
            100.0 * share,
            direction_name(direction)
        ),
    )
}

/// What a receiver sees of loss, where the sender does not tell: a segment that is missing makes those
/// behind it come out of order.
fn segments_overtaken(seen: &Seen) -> Option<Fault> {
    let unseen = seen.network.server.is_none();
    if !unseen || !loses_in(seen, RungName::Share, Direction::Read) {
        return None;
    }
    let share = seen.overtaken(Rung::Share)?;
    if share < OVERTAKEN_LIMIT {
        return None;
    }
    lost(
        seen,
        format!(
            "{:.1} % of the segments that the server sent came before an earlier one, which was lost on the way \
             or overtaken",
            100.0 * share
        ),
    )
}

fn lost(seen: &Seen, text: String) -> Option<Fault> {
    let nic = seen
        .used
        .first()
        .map_or("NIC", |pair| pair.near.name.as_str());
    let advice = Advice::new(
        "find where packets are lost: look at the error counters of both NICs and of the switch's ports, \
         change the cable, try another port",
    )
    .gains(gain(seen))
    .commands([format!("ethtool -S {nic}"), format!("ip -s link show {nic}")]);
    fault("segments-lost", text, Trust::Measured, advice)
}

/// Segmentation or joining in software on a fast link with small frames.
fn offloads_off(seen: &Seen) -> Option<Fault> {
    seen.used.iter().find_map(|pair| {
        let fast = pair_bits(seen, pair).is_none_or(|bits| bits >= FAST_BITS);
        if !fast || pair.mtu() >= LARGE_MTU {
            return None;
        }
        let far = match pair.far {
            FarEnd::Nic(nic) => Some((seen.network.server?, nic)),
            FarEnd::Advertised(_) | FarEnd::Address => None,
        };
        let near = seen.network.client.map(|client| (client, pair.near));
        let (host, nic, names) = [near, far].into_iter().flatten().find_map(|(host, nic)| {
            let names = off_at(nic);
            (!names.is_empty()).then_some((host, nic, names))
        })?;
        let text = format!(
            "`{}` of {} leaves {} to the processor, on a fast link with frames of {} bytes",
            nic.name,
            host.name,
            names.join(" and "),
            pair.mtu()
        );
        let knobs = [
            ("cutting", "nic.tso"),
            ("cutting", "nic.gso"),
            ("joining", "nic.gro"),
        ];
        let settings = knobs
            .into_iter()
            .filter(|(what, _)| names.iter().any(|name| name.starts_with(what)))
            .filter_map(|(_, knob)| {
                let target = Target::Nic(nic.name.clone());
                setting(Some(host), target, knob, Value::Switch(true))
            });
        let advice = Advice::new(format!(
            "turn the offloads of `{}` on {} on again",
            nic.name, host.name
        ))
        .gains(gain(seen))
        .sets(settings);
        let found = fault("offloads-off", text, Trust::Computed, advice)?;
        // They cost processor time: raw TCP misses it, or somebody has none left.
        let costs = loses(seen, RungName::Tcp)
            || seen.full_host().is_some()
            || busy_processor(seen).is_some();
        Some(if costs { found } else { found.beside() })
    })
}

fn off_at(nic: &Nic) -> Vec<&'static str> {
    let off = |name: &str| {
        let found: Option<&Offload> = nic.offloads.get(name);
        found.is_some_and(|offload| !offload.on && !offload.fixed)
    };
    let mut names = Vec::new();
    if off("tcp-segmentation-offload") && off("generic-segmentation-offload") {
        names.push("cutting of segments");
    }
    // What comes out of the other end of a pair of virtual NICs has never been cut.
    if off("generic-receive-offload") && nic.kind.as_deref() != Some("veth") {
        names.push("joining of segments");
    }
    names
}

/// A host that a limit keeps from running: a container, a virtual machine's share of a processor.
fn throttled(seen: &Seen, which: usize) -> Option<Fault> {
    let (id, host) = match which {
        0 => ("client-processor", seen.network.client?),
        _ => ("server-processor", seen.network.server?),
    };
    let slow = loses(seen, RungName::Tcp) || share_loses(seen) || seen.ceilings.is_empty();
    let not_full = DIRECTIONS.into_iter().any(|direction| {
        let rung = seen.rung(RungName::Share, direction);
        rung.and_then(|rung| rung.of_ceiling.as_ref())
            .is_some_and(|share| share.value < FULL_LIMIT)
    });
    let shares = seen.loads(&host.name).filter_map(|load| {
        let duration = load.duration.get();
        (duration > 0).then(|| load.throttled.map(|it| it.get() as f64 / duration as f64))?
    });
    let worst = shares.max_by(f64::total_cmp)?;
    if worst < THROTTLED_LIMIT || !(slow || not_full && worst > OFTEN_THROTTLED) {
        return None;
    }
    let text = format!(
        "{} may not use its processors as it would: a limit stopped its processes {} of the time",
        host.name,
        percent(worst)
    );
    let advice = Advice::new(format!(
        "give {} more processor time, in the limits of its container or virtual machine",
        host.name
    ))
    .gains(gain(seen));
    fault(id, text, Trust::Measured, advice)
}

fn old_dialect(seen: &Seen) -> Option<Fault> {
    let session = seen.session?;
    let newest = seen
        .share
        .is_none_or(|share| share.demands.dialect_max >= record::Dialect::Smb300);
    if !newest || !session.dialect.starts_with("2.") {
        return None;
    }
    let small = if session.dialect == "2.0.2" {
        ": requests of 64 KiB, one channel, no encryption"
    } else {
        ": one channel, no encryption"
    };
    let text = format!("the server speaks SMB {} only{small}", session.dialect);
    let advice =
        Advice::new("let the server speak SMB 3.1.1 (Samba: `server max protocol = SMB3`)")
            .gains(gain(seen));
    let found = fault("old-dialect", text, Trust::Measured, advice)?;
    // One channel asks for as much at once by 2.1 as by 3.
    Some(match session.dialect.as_str() {
        "2.0.2" => found,
        _ => found.beside(),
    })
}

fn few_credits(seen: &Seen) -> Option<Fault> {
    let session = seen.session?;
    let credits = session.credits?;
    let in_flight = credits.saturating_mul(CREDIT_BYTES);
    let wanted = seen
        .share
        .map_or(0, |share| share.block.get() * u64::from(share.depth));
    let waits = session.credit_waits.is_some_and(|waits| waits > 0);
    let short = in_flight < wanted && waits && share_loses(seen);
    if session.dialect.starts_with("2.0") || !(short || in_flight < IN_FLIGHT_BYTES_MIN) {
        return None;
    }
    let text = format!(
        "the server grants {credits} credits, so that no more than {} KiB can be under way",
        in_flight >> 10
    );
    let advice =
        Advice::new("let the server grant its usual 8192 credits (Samba: `smb2 max credits`)")
            .gains(gain(seen))
            .sets(setting(
                seen.network.server,
                Target::Host,
                "smb.server.credits",
                Value::Integer(8192),
            ));
    fault("few-credits", text, Trust::Measured, advice)
}

/// A server that takes small requests only.
fn small_requests(seen: &Seen) -> Option<Fault> {
    let session = seen.session?;
    let is_old = session.dialect.starts_with("2.0");
    let small: Vec<(&str, u64)> = [
        ("read", session.read_max.get(), Direction::Read),
        ("write", session.write_max.get(), Direction::Write),
    ]
    .into_iter()
    .filter(|(_, most, direction)| {
        *most < REQUEST_BYTES_MIN && loses_in(seen, RungName::Share, *direction)
    })
    .map(|(what, most, _)| (what, most))
    .collect();
    let (_, most) = *small.first().filter(|_| !is_old)?;
    let names: Vec<&str> = small.iter().map(|(what, _)| *what).collect();
    let text = format!(
        "the server takes {} requests of {} KiB at most, and others take 8 MiB",
        names.join(" and "),
        most >> 10
    );
    let settings = names.iter().filter_map(|what| {
        let id = format!("smb.server.max_{what}");
        setting(
            seen.network.server,
            Target::Host,
            &id,
            Value::Integer(8 << 20),
        )
    });
    let advice = Advice::new(
        "let the server take requests of 8 MiB (Samba: `smb2 max read`, `smb2 max write`)",
    )
    .gains(gain(seen))
    .sets(settings);
    fault("small-requests", text, Trust::Measured, advice)
}

fn encryption(seen: &Seen) -> Option<Fault> {
    let cipher = seen.session?.encryption.as_deref()?;
    if !share_loses(seen) || !network_is_known(seen) {
        return None;
    }
    let slow = cipher.contains("CCM");
    let text =
        format!("everything is encrypted by {cipher}, and the share is slower than its network");
    let what = if slow {
        "let server and client agree on AES-128-GCM, which protects as well and costs a fraction of AES-CCM \
         (Samba: `server smb3 encryption algorithms`); it takes SMB 3.1.1"
    } else {
        "encryption has its price, and there is no cheaper cipher; without it everybody on the way can read along"
    };
    fault(
        "encryption",
        text,
        Trust::Computed,
        Advice::new(what).gains(gain(seen)),
    )
}

fn signing(seen: &Seen) -> Option<Fault> {
    let session = seen.session?;
    let algorithm = session.signing_algorithm.as_deref()?;
    if !session.data_signed || session.encryption.is_some() {
        return None;
    }
    if !share_loses(seen) || !network_is_known(seen) {
        return None;
    }
    let text =
        format!("all data is signed by {algorithm}, and the share is slower than its network");
    let what = if algorithm.contains("GMAC") {
        "signing has its price, and AES-128-GMAC is the cheapest way; without it everybody on the way can change data"
    } else {
        "let server and client agree on AES-128-GMAC, which protects as well and costs a fraction of it \
         (Samba: `server smb3 signing algorithms`); it takes SMB 3.1.1"
    };
    fault(
        "signing",
        text,
        Trust::Computed,
        Advice::new(what).gains(gain(seen)),
    )
}

/// A server that does one thing at a time.
fn synchronous(seen: &Seen) -> Option<Fault> {
    let server = seen.network.server?;
    let share = seen.share.map(|share| share.share.share.as_str());
    let settings = seen.look.map_or(&[][..], |look: &PathLook| &look.settings);
    let off: Vec<&str> = settings
        .iter()
        .filter_map(|setting| match setting {
            Setting::Knob {
                host,
                target,
                id,
                value,
            } if *host == server.name => {
                let here = match target {
                    Target::Share(name) => share.is_none_or(|share| name == share),
                    _ => true,
                };
                let asynchronous = ["smb.server.aio_read", "smb.server.aio_write"];
                let is_off = matches!(value, Value::Integer(size) if *size == 0 || *size > 1 << 20);
                (here && is_off && asynchronous.contains(&id.as_str())).then_some(id.as_str())
            }
            _ => None,
        })
        .collect();
    if off.is_empty() {
        return None;
    }
    let text = format!(
        "the server does not read and write beside each other (`{}` is set so), so that every wait for its disk \
         is a wait of everybody",
        off.join("` and `")
    );
    let settings = off.iter().filter_map(|id| {
        let target = Target::Share(share?.to_owned());
        setting(Some(server), target, id, Value::Integer(1))
    });
    let advice = Advice::new("let the server read and write asynchronously, as is its default")
        .gains(gain(seen))
        .sets(settings);
    fault("asynchronous-io", text, Trust::Computed, advice)
}

/// A disk that does not keep up, seen by writes that wait while reads from memory do not.
fn slow_disk(seen: &Seen) -> Option<Fault> {
    // Whoever shares processors with others loses as well, and writing loses most.
    if !loses_in(seen, RungName::Share, Direction::Write) || storage::is_in_memory(seen) {
        return None;
    }
    let looked = seen.network.server.or(seen.network.client);
    let idles = looked.and_then(|host| seen.idles_at_writes(&host.name));
    let slower = match (seen.crowded_host(), seen.network.server, idles) {
        (Some(_), ..) => WRITES_SLOWER_IN_A_CROWD,
        // Whoever waits for a disk has nothing to do meanwhile.
        (None, Some(_), Some(false)) => return None,
        (None, None, Some(false)) => WRITES_SLOWER_UNSEEN,
        (None, ..) => WRITES_SLOWER,
    };
    let read = seen.rate(RungName::Share, Direction::Read)?;
    let write = seen.rate(RungName::Share, Direction::Write)?;
    // A network that is itself as slow explains it as well.
    let network = seen.rate(RungName::Tcp, Direction::Write);
    if network.is_some_and(|network| network < write * WRITES_SLOWER) {
        return None;
    }
    let reads_are_well = !loses_in(seen, RungName::Share, Direction::Read);
    let idle = seen
        .network
        .server
        .is_some_and(|server| seen.is_idle(&server.name));
    let waits = if reads_are_well {
        read > write * slower
    } else {
        idle
    };
    if !waits || busy_processor(seen).is_some() {
        return None;
    }
    let text = format!(
        "the server takes {:.1} MB/s and gives {:.1} MB/s from memory over the same network: its disk is what is slow",
        write / 1e6,
        read / 1e6
    );
    let advice = Advice::new(
        "look at the server's disks: what else uses them, whether one of an array is missing, whether writes are \
         forced through (`sync always`, a mount with `sync`)",
    )
    .gains(gain(seen))
    .commands(["iostat -x 1".to_owned()]);
    fault("server-disk", text, Trust::Computed, advice)
}

/// A core that is full, or a server that is slow both ways and nothing else explains it.
fn full_processor(seen: &Seen) -> Option<Fault> {
    if let Some(cause) = busy_processor(seen) {
        let advice = Advice::new(
            "leave the client more of its processors: end what else runs there, or use more channels, which are \
             served by a processor each",
        );
        let fix = advice.fix(&cause.id);
        return Some(Fault {
            cause,
            fix,
            reach: Reach::Way,
        });
    }
    if !share_loses(seen) {
        return None;
    }
    let crowded = seen
        .network
        .client
        .is_some_and(|client| seen.is_crowded(&client.name));
    let both = DIRECTIONS
        .into_iter()
        .all(|direction| loses_in(seen, RungName::Share, direction));
    match seen.network.server {
        None if both && !crowded && !loses(seen, RungName::Tcp) && network_is_known(seen) => {
            let text = format!(
                "the server is slow both ways, while the client waits and nothing is lost on the way{}: the server's end \
                 is the limit, probably its processor",
                thinking(seen)
            );
            fault("server-processor", text, Trust::Computed, look_at_server())
        }
        Some(server) if !crowded && seen.has_full_core(&server.name) => {
            let text = format!(
                "a processor of {} is full while the share is used",
                server.name
            );
            fault("server-processor", text, Trust::Measured, look_at_server())
        }
        _ => None,
    }
}

fn look_at_server() -> Advice {
    Advice::new(
        "look at the server while a large file is copied: what else runs there, whether one processor is full, and \
         whether it is a virtual machine or container that may not use all of them",
    )
    .commands(["top -H".to_owned()])
}

/// How long a server takes over a small request, where that is worth telling.
fn thinking(seen: &Seen) -> String {
    let request = super::transfer::request(seen).map(|request| request.value * 1e3);
    let travels = seen.round_trip_min().map(|time| time as f64 / 1e6);
    match (request, travels) {
        (Some(request), Some(travels)) if request > 2.0 * travels => format!(
            " (a small request takes {request:.2} ms, of which {travels:.2} ms are the way there and back)"
        ),
        _ => String::new(),
    }
}

/// An address that the server offers for a channel and that answers, but not at the port of the share.
fn port_blocked(seen: &Seen) -> Option<Fault> {
    let listed = seen.network.advertised;
    let first = used_proof(seen)?;
    let proof = seen.look?.mtus.iter().find(|proof| {
        let offered = listed
            .iter()
            .any(|entry| Some(entry.address) == proof.remote);
        // The way that is used has shown that the probes can tell.
        offered && first.far_mtu.is_some() && proof.answered.is_some() && proof.far_mtu.is_none()
    })?;
    let used = |pair: &Pair| Some(pair.remote) == proof.remote;
    let channels = seen
        .trials
        .iter()
        .filter(|trial| trial.rung == Rung::Channels);
    if channels.flat_map(|trial| &trial.pairs).any(used) {
        return None;
    }
    let remote = remote_name(proof);
    let text = format!(
        "`{remote}` answers by `{}`, and nobody can connect to its file server there: a firewall, or a server that \
         does not listen on that address",
        proof.nic
    );
    let advice = Advice::new(format!(
        "let the file server's port through to `{remote}`: look at the firewalls of both ends, and at `interfaces` \
         with `bind interfaces only` of a Samba server"
    ));
    fault("port-blocked", text, Trust::Measured, advice).map(Fault::beside)
}

/// Several links, and a server that offers to use one.
fn multichannel_off(seen: &Seen) -> Option<Fault> {
    if !offers_one(seen) {
        return None;
    }
    let (links, sure) = match seen.network.server {
        Some(_) => (seen.usable.len(), Trust::Measured),
        None => {
            let others = seen.other_nics_as_good().into_iter();
            let leading = others.filter(|nic| seen.shows_server(nic)).count();
            (1 + leading, Trust::Computed)
        }
    };
    if links < 2 {
        return None;
    }
    let text = format!("there are {links} links, and the server does not offer multichannel");
    let caveat = "the number of links, if they are alike";
    let advice = Advice::new(
        "turn multichannel on at the server (Samba: `server multi channel support = yes`)",
    )
    .gains(Some(computed(
        links as f64,
        Unit::Ratio,
        vec![caveat.into()],
    )))
    .sets(setting(
        seen.network.server,
        Target::Host,
        "smb.server.multichannel",
        Value::Switch(true),
    ));
    fault("multichannel-off", text, sure, advice).map(Fault::beside)
}

/// A session that could have several channels, with a server that tells of no interface.
fn offers_one(seen: &Seen) -> bool {
    let session = seen.session;
    session.is_some_and(|it| it.dialect.starts_with("3.") && it.server_interfaces.is_empty())
}

/// A second NIC of the client of which nobody knows where it leads, and a server that would not use it.
pub(super) fn perhaps_multichannel_off(seen: &Seen) -> Option<Cause> {
    if !offers_one(seen) || seen.network.server.is_some() || multichannel_off(seen).is_some() {
        return None;
    }
    let mut others = seen.other_nics_as_good().into_iter();
    let nic = others.find(|nic| !seen.leads_elsewhere(nic))?;
    let text = format!(
        "the server does not offer multichannel; if `{}` leads to it as well, it is not used for that (`--server HOST` \
         would tell)",
        nic.name
    );
    Some(cause("multichannel-off", text, Trust::Computed))
}

/// A list of interfaces that is not what they are: clients choose their channels by it.
fn wrong_advertisement(seen: &Seen) -> Option<Fault> {
    let listed = seen.network.advertised;
    let beyond = |trial| super::beyond_told(&seen.network, trial);
    // What is more than the NICs themselves can move took another way.
    let possible = above_ceiling(seen).is_none();
    if let Some(entry) = seen.trials.iter().find_map(beyond).filter(|_| possible) {
        let text = format!(
            "the server says of `{}` that it runs at {}, and more than that was moved over it; clients choose their \
             channels by what it says",
            entry.address,
            bit_rate(entry.speed.get())
        );
        return fault(
            "advertised-wrong",
            text,
            Trust::Measured,
            true_advertisement(),
        )
        .map(Fault::beside);
    }
    // A single one is only wrong where more than it tells was moved.
    if listed.len() < 2 {
        return unlisted(seen).and_then(left_alone);
    }
    let wrong = listed.iter().find_map(|entry| {
        let real = seen.real_bits(entry.address)?;
        let said = entry.speed.get();
        let ratio = real as f64 / said.max(1) as f64;
        (ratio >= FASTER || ratio <= 1.0 / FASTER).then(|| {
            format!(
                "the server says of `{}` that it runs at {}, and it runs at {}",
                entry.address,
                bit_rate(said),
                bit_rate(real)
            )
        })
    });
    if let Some(what) = wrong {
        return left_alone(what);
    }
    if let Some(text) = uneven(seen) {
        let advice = true_advertisement();
        return fault("advertised-wrong", text, Trust::Computed, advice).map(Fault::beside);
    }
    unlisted(seen).and_then(left_alone)
}

/// A link that is no slower than another one, and of which the server says that it is not capable of RSS.
fn uneven(seen: &Seen) -> Option<String> {
    let nics = seen.network.client.into_iter().flat_map(|host| &host.nics);
    let entries: Vec<&InterfaceAddress> = nics.flat_map(|nic| &nic.addresses).collect();
    // Bridges of virtual machines are in the list as well, and no client goes there.
    let is_ours = |entry: &&ServerInterface| entries.iter().any(|own| own.contains(entry.address));
    let listed: Vec<&ServerInterface> = seen.network.advertised.iter().filter(is_ours).collect();
    let mut others = listed.iter().filter(|entry| !entry.rss);
    let (one, other) = others.find_map(|other| {
        let one = listed.iter().find(|one| {
            let is_no_faster = one.rss && one.speed <= other.speed;
            is_no_faster && !(seen.says_rss_rightly(one) && seen.says_rss_rightly(other))
        })?;
        Some((one, other))
    })?;
    Some(format!(
        "the server says of `{}` that it is capable of RSS and of `{}`, {}, that it is not; Windows then leaves \
         the latter alone",
        one.address,
        other.address,
        match one.speed == other.speed {
            true => "which is as fast".to_owned(),
            false => format!("which runs at {}", bit_rate(other.speed.get())),
        }
    ))
}

fn left_alone(what: String) -> Option<Fault> {
    let text = format!("{what}; Windows and macOS then leave the other link alone");
    fault(
        "advertised-wrong",
        text,
        Trust::Computed,
        true_advertisement(),
    )
    .map(Fault::beside)
}

fn true_advertisement() -> Advice {
    Advice::new(
        "let the server tell what its NICs are (Samba: `interfaces = \"ADDRESS;speed=...,capability=RSS\"` for each)",
    )
}

/// A link that could be used, of which the server does not tell.
fn unlisted(seen: &Seen) -> Option<String> {
    let server = seen.network.server?;
    let listed = seen.network.advertised;
    let used = seen.used.iter();
    let used = used.filter_map(|pair| pair_bits(seen, pair)).max()?;
    let is_listed = |nic: &Nic| {
        let mut addresses = nic.addresses.iter();
        addresses.any(|own| listed.iter().any(|entry| entry.address == own.address))
    };
    if listed.is_empty() {
        return None;
    }
    let as_if_nothing_was_told = Network {
        advertised: &[],
        ..seen.network
    };
    let pairs = as_if_nothing_was_told.usable_pairs(&[]);
    let is_used = |near: &Nic| seen.used.iter().any(|pair| pair.near.index == near.index);
    let missing = pairs.iter().find_map(|pair| match pair.far {
        FarEnd::Nic(nic) if !is_listed(nic) && !is_used(pair.near) => {
            let as_good =
                pair_bits(seen, pair).is_some_and(|bits| bits as f64 * FASTER > used as f64);
            as_good.then_some((nic, pair.remote))
        }
        _ => None,
    });
    let (nic, remote) = missing?;
    let foreign = listed.iter().find(|entry| {
        let mut nics = server.nics.iter();
        !nics.any(|nic| nic.addresses.iter().any(|own| own.address == entry.address))
    });
    let instead = foreign.map_or_else(String::new, |entry| {
        format!(" and tells of `{}`, which it does not have", entry.address)
    });
    Some(format!(
        "the server does not tell of `{remote}` at its `{}`{instead}",
        nic.name
    ))
}

impl<'a> Seen<'a> {
    /// Whether a router is between a NIC of ours and an address of the server.
    pub(super) fn is_routed(&self, near: &Nic, remote: IpAddr) -> bool {
        let mut ways = self.look.into_iter().flat_map(|look| &look.addresses);
        let way = ways.find(|way| way.address == remote && way.nic.is_some());
        match way {
            Some(way) => way.gateway.is_some(),
            None => !near.addresses.iter().any(|entry| entry.contains(remote)),
        }
    }

    /// What a rung's trials of one direction had to send again, as a share of all segments.
    fn resent(&self, rung: Rung, direction: Direction) -> Option<f64> {
        let shares = self
            .trials
            .iter()
            .filter(|trial| trial.rung == rung && trial.direction == direction)
            .filter_map(|trial| {
                let ours = trial
                    .result
                    .samples
                    .iter()
                    .filter_map(|sample| sample.retransmits);
                let resent = match (direction, rung) {
                    (Direction::Write, _) => {
                        let counted = ours.fold(0, u64::saturating_add);
                        // The samples count those of all programs of the host.
                        counted.min(resent_by_us(trial).unwrap_or(u64::MAX))
                    }
                    (Direction::Read, Rung::Tcp) => trial.result.far_retransmits?,
                    (Direction::Read, _) => return None,
                };
                let segments =
                    trial.result.bytes().get() as f64 / super::cause::segment_bytes(trial);
                Some(resent as f64 / segments)
            });
        let shares: Vec<f64> = shares.collect();
        // The median, so that one trial with a hiccup is no fault of the path.
        let mut sorted = shares;
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    /// The shortest round trip that was seen, in nanoseconds.
    pub(super) fn round_trip_min(&self) -> Option<u64> {
        let by_tcp = self
            .trials
            .iter()
            .flat_map(|trial| &trial.result.connections)
            .filter_map(|connection| Some(connection.tcp?.round_trip_min.get()));
        let by_probe = self.look.into_iter().flat_map(|look| &look.mtus);
        let by_probe = by_probe.filter_map(|proof| Some(proof.round_trip?.get()));
        by_tcp.filter(|time| *time > 0).chain(by_probe).min()
    }

    fn loads(&self, host: &'a record::HostName) -> impl Iterator<Item = &'a HostLoad> {
        let measured = self.records.iter();
        measured
            .filter(|(rung, _)| is_steady(*rung))
            .filter(|(_, trial)| matches!(trial.outcome, Outcome::Measured(_)))
            .flat_map(|(_, trial): &(Rung, &'a TrialRecord)| &trial.loads)
            .filter(move |load| load.host == *host)
    }

    /// Whether most of a host's processors had something to do in most trials.
    pub(super) fn is_crowded(&self, host: &'a record::HostName) -> bool {
        median_of(self.loads(host).map(mean_busy)).is_some_and(|busy| busy > BUSY_HOST)
    }

    /// Whether a host had time left while the share was written to; none where nobody looked.
    fn idles_at_writes(&self, host: &'a record::HostName) -> Option<bool> {
        let busy = self
            .records
            .iter()
            .filter(|(rung, trial)| {
                *rung == Rung::Share
                    && trial.workload.direction() == Direction::Write
                    && matches!(trial.outcome, Outcome::Measured(_))
            })
            .flat_map(|(_, trial)| &trial.loads)
            .filter(|load| load.host == *host)
            .map(mean_busy);
        median_of(busy).map(|busy| busy < IDLE_HOST)
    }

    fn is_idle(&self, host: &'a record::HostName) -> bool {
        median_of(self.loads(host).map(mean_busy)).is_some_and(|busy| busy < IDLE_HOST)
    }

    fn has_full_core(&self, host: &'a record::HostName) -> bool {
        let fullest = self.loads(host).map(|load| {
            let busy = load.processors.iter().map(|processor| processor.busy);
            busy.fold(0.0, f64::max)
        });
        median_of(fullest).is_some_and(|busy| busy > FULL_PROCESSOR)
    }

    /// A host one of whose processors was full in most trials.
    fn full_host(&self) -> Option<&'a record::HostName> {
        let hosts = [self.network.client, self.network.server];
        let mut names = hosts.into_iter().flatten().map(|host| &host.name);
        names.find(|name| self.has_full_core(name))
    }

    /// The most that a pair carried in a trial of some rungs, in bits per second.
    fn carried(&self, pair: &Pair, is_meant: impl Fn(Rung) -> bool) -> Option<u64> {
        let ends_have_lines =
            !has_no_line(pair.near) && !matches!(pair.far, FarEnd::Nic(nic) if has_no_line(nic));
        let trials = self.trials.iter().filter(|trial| is_meant(trial.rung));
        let rates = trials.filter_map(|trial| trial.carried(pair));
        let most = rates.max_by(f64::total_cmp).filter(|_| ends_have_lines)?;
        (most > 0.0).then_some(most as u64)
    }

    fn pair_rate(&self, pair: &Pair) -> Option<PairRate> {
        let carried = || self.carried(pair, |_| true).map(PairRate::Carried);
        pair_bits(self, pair).map(PairRate::Told).or_else(carried)
    }

    /// Whether the server is known to have another address where a NIC of the client leads.
    fn shows_server(&self, nic: &Nic) -> bool {
        let is_other = |remote: IpAddr| {
            self.used.iter().all(|pair| pair.remote != remote)
                && nic.addresses.iter().any(|entry| entry.contains(remote))
        };
        self.look.is_some_and(|look| {
            let answers = |proof: &MtuProof| {
                proof.nic == nic.name
                    && (proof.answered.is_some() || proof.far_mtu.is_some())
                    && proof.remote.is_some_and(is_other)
            };
            look.addresses.iter().any(|way| is_other(way.address)) || look.mtus.iter().any(answers)
        })
    }

    /// Whether a NIC of the client is known to lead to somebody else.
    fn leads_elsewhere(&self, nic: &Nic) -> bool {
        let mut routes = self
            .network
            .client
            .into_iter()
            .flat_map(|host| &host.routes);
        let mut neighbours = self.look.into_iter().flat_map(|look| &look.neighbours);
        routes.any(|route| route.nic == nic.name && leads_on(route))
            || neighbours.any(|neighbour| neighbour.nic == nic.name)
    }

    /// Whether the server's own NIC is known to be what its list says of RSS. (The queues of virtual NICs
    /// are as many as somebody asked for.)
    fn says_rss_rightly(&self, entry: &ServerInterface) -> bool {
        let mut nics = self.network.server.into_iter().flat_map(|host| &host.nics);
        let nic = nics.find(|nic| nic.addresses.iter().any(|own| own.address == entry.address));
        let queues = nic
            .filter(|nic| nic.kind.is_none())
            .and_then(|nic| nic.rx_queues);
        queues.is_some_and(|queues| (queues > 1) == entry.rss)
    }

    /// NICs of the client that are not used, and not slower than the one that is.
    fn other_nics_as_good(&self) -> Vec<&'a Nic> {
        let used = self.used.first().and_then(|pair| line_bits(pair.near));
        let nics = self
            .network
            .client
            .into_iter()
            .flat_map(|client| &client.nics);
        nics.filter(|nic| {
            let idle = self.used.iter().all(|pair| pair.near.index != nic.index);
            let addressed = nic
                .addresses
                .iter()
                .any(|entry| !super::path::is_link_local(entry.address));
            idle && addressed
                && nic.state == LinkState::Up
                && used.is_some_and(|used| line_bits(nic).is_some_and(|bits| bits >= used))
        })
        .collect()
    }

    /// What a link to one of the server's addresses really runs at: by the server's own facts, or else
    /// by our end of it where all of our ends are alike.
    fn real_bits(&self, address: IpAddr) -> Option<u64> {
        if let Some(server) = self.network.server {
            return line_bits(server.nic_with(address)?);
        }
        let ends: Vec<u64> = self
            .network
            .advertised
            .iter()
            .filter_map(|entry| self.near_bits(entry.address))
            .collect();
        let alike = ends.iter().all(|bits| Some(bits) == ends.first());
        let ours = self.near_bits(address)?;
        (alike && ends.len() > 1).then_some(ours)
    }

    fn near_bits(&self, address: IpAddr) -> Option<u64> {
        let mut nics = self.network.client?.nics.iter();
        let near = nics.find(|nic| nic.addresses.iter().any(|entry| entry.contains(address)))?;
        line_bits(near)
    }
}

/// What the trial's own connections sent again in their whole life, where all of them tell.
fn resent_by_us(trial: &Measured) -> Option<u64> {
    let connections = &trial.result.connections;
    let told = connections.iter().map(|one| one.retransmits);
    told.sum::<Option<u64>>()
        .filter(|_| !connections.is_empty())
}

/// Whether a route leads out of the NIC's own networks.
fn leads_on(route: &record::Route) -> bool {
    route.gateway.is_some() || route.destination == "default"
}

/// Whether a rung keeps the hosts as busy as it can.
const fn is_steady(rung: Rung) -> bool {
    match rung {
        Rung::Tcp | Rung::Streams | Rung::Share | Rung::Channels => true,
        Rung::RoundTrip | Rung::Disk | Rung::Copy | Rung::SmallFiles => false,
    }
}

fn mean_busy(load: &HostLoad) -> f64 {
    let busy: f64 = load.processors.iter().map(|processor| processor.busy).sum();
    busy / load.processors.len().max(1) as f64
}

pub(super) fn median_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
