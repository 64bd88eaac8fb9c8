//! How many channels several clients would open to this server from here, and why not more.
//!
//! The rules are those that their makers document or that their sources show: Windows (MS-SMB2, notes
//! on 3.2.4.20.10, and the defaults of `Get-SmbClientConfiguration`), `cifs.ko` of Linux, and `smbfs`
//! of macOS.

use std::net::IpAddr;

use locale::{Message, say};
use record::{Identity, LinkState, Nic, ServerInterface, SmbSession};

use super::evidence::Evidence;
use super::nic_pairs::{Pair, is_link_local, line_bits};
use crate::{ChannelPair, ClientChannels, UnusedPair};

/// Connections that Windows and macOS open over a pair of NICs that both spread their load.
const PER_RSS_PAIR: usize = 4;
/// Most channels of Windows to one server.
const WINDOWS_MAX: usize = 32;
/// Most channels of macOS.
const MACOS_MAX: usize = 9;
/// Channels that people usually ask Linux for with `multichannel,max_channels=4`; it opens one unasked.
const LINUX_MAX: usize = 4;
/// What Linux takes for an interface that does not tell its speed, in bits per second.
const SPEED_OF_ZERO: u64 = 1_000_000_000;
/// Interfaces and pairs that are looked at.
const PAIRS_MAX: usize = 256;

/// A NIC of ours and an interface that the server lists in its subnet.
struct Candidate<'a> {
    near: &'a Nic,
    far: &'a ServerInterface,
    /// What the slower of the two claims.
    bits: u64,
    rss: bool,
}

/// All four clients.
pub(super) fn clients(seen: &Evidence) -> Vec<ClientChannels> {
    let Some(session) = seen.session else {
        return Vec::new();
    };
    if let Some(reason) = only_one(session) {
        return ["Windows", "Linux", "macOS", "linerate"]
            .map(|client| ClientChannels {
                client: client.to_owned(),
                pairs: seen
                    .used
                    .first()
                    .map(|pair| primary(pair))
                    .into_iter()
                    .collect(),
                unused: vec![UnusedPair {
                    pair: say("unused-pair.any-other"),
                    reason: reason.clone(),
                }],
                remark: None,
            })
            .into();
    }
    let mut rejected = Vec::new();
    let candidates = candidates(seen, session, &mut rejected);
    let mut clients = vec![
        fastest("Windows", &candidates, WINDOWS_MAX, true),
        linux(&candidates),
        fastest("macOS", &candidates, MACOS_MAX, false),
        linerate(seen, &candidates),
    ];
    for client in &mut clients {
        client.unused.extend(rejected.iter().cloned());
    }
    clients
}

fn only_one(session: &SmbSession) -> Option<Message> {
    if !session.dialect.starts_with("3.") {
        return Some(say("unused-pair.dialect").with("dialect", session.dialect.to_string()));
    }
    if session.identity != Identity::User {
        return Some(say("unused-pair.guest"));
    }
    session
        .server_interfaces
        .is_empty()
        .then(|| say("unused-pair.multichannel-off"))
}

fn primary(pair: &Pair) -> ChannelPair {
    ChannelPair {
        nic: pair.near.name.clone(),
        address: pair.remote,
        channels: 1,
    }
}

fn candidates<'a>(
    seen: &Evidence<'a>,
    session: &'a SmbSession,
    rejected: &mut Vec<UnusedPair>,
) -> Vec<Candidate<'a>> {
    let mut candidates = Vec::new();
    let nics: Vec<&Nic> = seen
        .network
        .client
        .into_iter()
        .flat_map(|client| &client.nics)
        .filter(|nic| nic.state != LinkState::Down)
        .collect();
    for far in session.server_interfaces.iter().take(PAIRS_MAX) {
        let mut reject = |reason| {
            rejected.push(UnusedPair {
                pair: far.address.to_string().into(),
                reason: say(reason),
            });
        };
        if far.address.is_loopback() {
            reject("unused-pair.loopback");
            continue;
        }
        if is_link_local(far.address) {
            reject("unused-pair.link-local");
            continue;
        }
        let reaches = |nic: &&&Nic| {
            nic.addresses
                .iter()
                .any(|entry| entry.contains(far.address))
        };
        let nears: Vec<&&Nic> = nics.iter().filter(reaches).collect();
        if nears.is_empty() {
            reject("unused-pair.no-subnet");
        }
        for near in nears {
            let bits = line_bits(near).map_or(far.speed.get(), |ours| ours.min(far.speed.get()));
            candidates.push(Candidate {
                near,
                far,
                bits,
                rss: far.rss && near.rx_queues.is_some_and(|queues| queues > 1),
            });
        }
    }
    candidates.truncate(PAIRS_MAX);
    candidates
}

fn name(near: &str, far: IpAddr) -> Message {
    say("ends").with("nic", near).with("address", far)
}

/// Windows and macOS use the fastest pairs and leave the others alone; Windows prefers those whose both
/// ends are capable of RSS, however slow.
fn fastest(
    client: &str,
    candidates: &[Candidate],
    most: usize,
    prefers_rss: bool,
) -> ClientChannels {
    let class = |candidate: &&Candidate| {
        !prefers_rss || candidate.rss || candidates.iter().all(|other| !other.rss)
    };
    let best = candidates.iter().filter(class).map(|one| one.bits).max();
    let (mut pairs, mut unused) = (Vec::new(), Vec::new());
    let mut left = most;
    for candidate in candidates {
        let wanted = if candidate.rss { PER_RSS_PAIR } else { 1 };
        let reason = if !class(&candidate) {
            Some(say(match candidate.far.rss {
                true => "unused-pair.our-rss",
                false => "unused-pair.server-rss",
            }))
        } else if best.is_some_and(|best| candidate.bits < best) {
            let sentence = say("unused-pair.slower").bits("rate", candidate.bits);
            Some(sentence.bits("best", best.unwrap_or_default()))
        } else if left == 0 {
            Some(say("unused-pair.limit").count("most", most))
        } else {
            None
        };
        match reason {
            Some(reason) => unused.push(UnusedPair {
                pair: name(&candidate.near.name, candidate.far.address),
                reason,
            }),
            None => {
                pairs.push(ChannelPair {
                    nic: candidate.near.name.clone(),
                    address: candidate.far.address,
                    channels: wanted.min(left),
                });
                left = left.saturating_sub(wanted);
            }
        }
    }
    ClientChannels {
        client: client.to_owned(),
        pairs,
        unused,
        remark: None,
    }
}

/// Linux goes round the server's interfaces, those with RSS first and then the fastest, each as often as
/// its speed is that of the slowest; one without RSS gets one channel. Our end is what the routes choose.
fn linux(candidates: &[Candidate]) -> ClientChannels {
    let order = linux_order(candidates);
    let counts = linux_counts(&order);
    let mut client = ClientChannels {
        client: "Linux".into(),
        pairs: Vec::new(),
        unused: Vec::new(),
        remark: Some(say("linux-options").count("channels", LINUX_MAX)),
    };
    for (count, candidate) in counts.into_iter().zip(order) {
        let pair = name(&candidate.near.name, candidate.far.address);
        match count {
            0 => client.unused.push(UnusedPair {
                pair,
                reason: say("unused-pair.limit").count("most", LINUX_MAX),
            }),
            channels => client.pairs.push(ChannelPair {
                nic: candidate.near.name.clone(),
                address: candidate.far.address,
                channels,
            }),
        }
    }
    client
}

/// The server's interfaces in the order in which Linux goes round them.
fn linux_order<'c>(candidates: &'c [Candidate<'c>]) -> Vec<&'c Candidate<'c>> {
    let mut order: Vec<&Candidate> = Vec::new();
    for candidate in candidates {
        if !order
            .iter()
            .any(|other| other.far.address == candidate.far.address)
        {
            order.push(candidate);
        }
    }
    order.sort_by_key(|one| {
        (
            std::cmp::Reverse((one.far.rss, linux_speed(one))),
            one.far.address,
        )
    });
    order
}

/// How many channels Linux opens to each interface.
fn linux_counts(order: &[&Candidate]) -> Vec<usize> {
    let slowest = order
        .iter()
        .map(|one| linux_speed(one))
        .min()
        .unwrap_or(SPEED_OF_ZERO);
    let mut counts = vec![0_usize; order.len()];
    let mut left = LINUX_MAX;
    let mut progress = true;
    while left > 0 && progress {
        progress = false;
        for (count, candidate) in counts.iter_mut().zip(order) {
            let weight = usize::try_from(linux_speed(candidate) / slowest.max(1)).unwrap_or(1);
            let room = if candidate.far.rss {
                weight.max(1)
            } else {
                1 - (*count).min(1)
            };
            let taken = room.min(left);
            *count += taken;
            left -= taken;
            progress |= taken > 0;
        }
    }
    counts
}

fn linux_speed(candidate: &Candidate) -> u64 {
    match candidate.far.speed.get() {
        0 => SPEED_OF_ZERO,
        bits => bits,
    }
}

/// linerate uses every pair that can be used at once, whatever the speeds.
fn linerate(seen: &Evidence, candidates: &[Candidate]) -> ClientChannels {
    let is_taken = |candidate: &&Candidate| {
        let mut usable = seen.usable.iter();
        usable.any(|pair| {
            pair.near.index == candidate.near.index && pair.remote == candidate.far.address
        })
    };
    let unused = candidates.iter().filter(|candidate| !is_taken(candidate));
    ClientChannels {
        client: "linerate".into(),
        pairs: seen.usable.iter().map(primary).collect(),
        unused: unused
            .map(|candidate| UnusedPair {
                pair: name(&candidate.near.name, candidate.far.address),
                reason: say("unused-pair.taken"),
            })
            .collect(),
        remark: None,
    }
}
