//! Which pairs of addresses to connect: a pure function of rules, our NICs and the server's list.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use locale::{Language, Message, say};

/// Whose rules decide. The rules of other clients come as further variants.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rules {
    /// linerate's own.
    Linerate(LinerateRules),
}

/// Limits of linerate's own rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinerateRules {
    /// Most channels in all.
    pub channels_max: usize,
    /// Most channels over one pair of NICs that both spread their load over queues (RSS).
    pub channels_per_rss_pair: usize,
    /// Channels to the primary address when the server gives no usable list (one: only itself).
    pub channels_without_list: usize,
}

impl Default for LinerateRules {
    fn default() -> Self {
        Self {
            channels_max: 8,
            channels_per_rss_pair: 4,
            channels_without_list: 1,
        }
    }
}

/// A NIC of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalNic {
    /// Its name, as in `eth0`; its identity.
    pub name: String,
    /// Its addresses.
    pub addresses: Vec<LocalAddress>,
    /// Its speed, when the system knows one.
    pub speed_bits_per_second: Option<u64>,
    /// Whether it spreads its load over several queues.
    pub rss: bool,
}

/// An address of ours and the length of its subnet's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalAddress {
    /// The address.
    pub address: IpAddr,
    /// Bits of the network part.
    pub prefix_length: u8,
}

/// One entry of the server's interface list, as it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerInterface {
    /// The server's number for the interface; 0xFFFF_FFFF and 0 say nothing.
    pub index: u32,
    /// Receive-side scaling.
    pub rss: bool,
    /// Remote direct memory access.
    pub rdma: bool,
    /// What the server believes its speed is.
    pub speed_bits_per_second: u64,
    /// Its address.
    pub address: IpAddr,
}

/// Two addresses to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// Ours: what to bind to.
    pub local: IpAddr,
    /// The server's. The port is always that of the primary connection.
    pub remote: IpAddr,
}

/// What to connect and what not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The channels to have, one entry per channel (a pair may occur several times); the first
    /// entry is the primary, which exists already.
    pub pairs: Vec<Pair>,
    /// What was not taken.
    pub rejects: Vec<Reject>,
}

/// An address that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// Ours, when the reason concerns a pair or our side.
    pub local: Option<IpAddr>,
    /// The server's, when the reason concerns a pair or its side.
    pub remote: Option<IpAddr>,
    /// Why.
    pub reason: RejectReason,
}

/// Why an address was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RejectReason {
    /// Link-local addresses need a scope that the list does not tell.
    LinkLocal,
    /// Loopback, unspecified, multicast or broadcast.
    NotAHost,
    /// The same address occurs twice in the list.
    Duplicate,
    /// Another address of the same NIC is used already.
    SameNic,
    /// It is of another family than the primary connection.
    OtherFamily,
    /// None of our NICs is in its subnet.
    OtherSubnet,
    /// The other side has no NIC (with speed to spare) for it.
    NoPartner,
    /// The server's list leads to this machine: the server does not choose what we log in to here.
    OfThisMachine,
    /// The rules allow no more channels.
    Limit,
}

impl RejectReason {
    /// Why, as something that can be said in any language.
    #[must_use]
    pub fn message(self) -> Message {
        say(match self {
            Self::LinkLocal => "rejected-address.link-local",
            Self::NotAHost => "rejected-address.not-a-host",
            Self::Duplicate => "rejected-address.duplicate",
            Self::SameNic => "rejected-address.same-nic",
            Self::OtherFamily => "rejected-address.other-family",
            Self::OtherSubnet => "rejected-address.other-subnet",
            Self::NoPartner => "rejected-address.no-partner",
            Self::OfThisMachine => "rejected-address.of-this-machine",
            Self::Limit => "rejected-address.limit",
        })
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Language::English.say(&self.message()))
    }
}

/// A speed of 0 means that the server could not find out; Samba then meant 1 Gbit/s.
const SPEED_OF_ZERO: u64 = 1_000_000_000;
/// No NIC is faster; more is a driver's way to say "unknown".
const SPEED_MAX: u64 = 1_600_000_000_000;
/// Where neither side knows a speed.
const SPEED_UNKNOWN: u64 = 1_000_000_000;

/// Chooses the pairs. `primary` is the connection that exists; it comes first and need not be in
/// the server's list. The same input gives the same plan.
///
/// linerate's rules: pairs are formed within a subnet and within the family of the primary. Every
/// NIC is used once, as many as can be matched; then those left over join a NIC of the other side
/// that has speed to spare; then pairs that both spread their load get further channels in turn.
pub fn plan(rules: &Rules, local: &[LocalNic], server: &[ServerInterface], primary: Pair) -> Plan {
    let Rules::Linerate(rules) = rules;
    let mut planner = Planner::new(local, server, primary);
    if planner.remotes.is_empty() {
        let channels = rules
            .channels_without_list
            .clamp(1, rules.channels_max.max(1));
        planner.plan.pairs = vec![primary; channels];
        return planner.plan;
    }
    let options = planner.options();
    let matched = planner.matching(&options);
    planner.take(matched, rules.channels_max);
    let spare = planner.with_speed_to_spare(&options);
    planner.take(spare, rules.channels_max);
    planner.name_rejects(&options);
    planner.add_rss_channels(rules);
    planner.plan
}

/// What tells the server's NICs apart: its number if it says one, otherwise the address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RemoteNic {
    Index(u32),
    Address(IpAddr),
}

struct Remote {
    nic: RemoteNic,
    address: IpAddr,
    rss: bool,
    speed: Option<u64>,
}

/// A pair that could be: positions in `local` and `remotes`.
#[derive(Clone, Copy)]
struct Choice {
    local: usize,
    remote: usize,
    pair: Pair,
    speed: u64,
}

struct Planner<'a> {
    local: &'a [LocalNic],
    remotes: Vec<Remote>,
    /// NICs of the primary, as far as they are known.
    primary_local: Option<usize>,
    primary_remote: RemoteNic,
    /// Speed of the pairs that use a NIC.
    local_load: BTreeMap<usize, u64>,
    remote_load: BTreeMap<RemoteNic, u64>,
    /// For each pair of the plan, whether both sides spread their load.
    rss: Vec<bool>,
    plan: Plan,
}

impl<'a> Planner<'a> {
    fn new(local: &'a [LocalNic], server: &[ServerInterface], primary: Pair) -> Self {
        let mut plan = Plan {
            pairs: vec![primary],
            rejects: Vec::new(),
        };
        let remotes = clean(server, primary, &mut plan.rejects);
        let primary_local = local.iter().position(|nic| {
            nic.addresses
                .iter()
                .any(|address| address.address == primary.local)
        });
        let listed = remotes
            .iter()
            .find(|remote| remote.address == primary.remote);
        let primary_remote = listed.map_or(RemoteNic::Address(primary.remote), |entry| entry.nic);
        let local_speed = primary_local.and_then(|nic| known(local[nic].speed_bits_per_second));
        let speed = pair_speed(local_speed, listed.and_then(|entry| entry.speed));
        let rss = primary_local.is_some_and(|nic| local[nic].rss)
            && listed.is_some_and(|entry| entry.rss);
        Self {
            local,
            primary_local,
            primary_remote,
            local_load: primary_local.map(|nic| (nic, speed)).into_iter().collect(),
            remote_load: BTreeMap::from([(primary_remote, speed)]),
            rss: vec![rss],
            plan,
            remotes,
        }
    }

    /// All pairs within a subnet, the fastest first.
    fn options(&self) -> Vec<Choice> {
        let mut options = Vec::new();
        for (local, nic) in self.local.iter().enumerate() {
            for (remote, entry) in self.remotes.iter().enumerate() {
                let ours = nic
                    .addresses
                    .iter()
                    .find(|ours| ours.reaches(entry.address));
                if let Some(ours) = ours {
                    let pair = Pair {
                        local: ours.address,
                        remote: entry.address,
                    };
                    let speed = pair_speed(known(nic.speed_bits_per_second), entry.speed);
                    options.push(Choice {
                        local,
                        remote,
                        pair,
                        speed,
                    });
                }
            }
        }
        options.sort_by_key(|choice| (std::cmp::Reverse(choice.speed), choice.local, choice.pair));
        options
    }

    /// As many pairs as possible with every NIC in one at most, by augmenting paths.
    fn matching(&self, options: &[Choice]) -> Vec<Choice> {
        let mut of_remote: BTreeMap<RemoteNic, Choice> = BTreeMap::new();
        let mut tried_locals = Vec::new();
        for choice in options {
            let is_primary = Some(choice.local) == self.primary_local;
            if !is_primary && !tried_locals.contains(&choice.local) {
                tried_locals.push(choice.local);
                self.augment(choice.local, options, &mut of_remote, &mut Vec::new());
            }
        }
        let mut chosen: Vec<Choice> = of_remote.into_values().collect();
        chosen.sort_by_key(|choice| (std::cmp::Reverse(choice.speed), choice.local, choice.pair));
        chosen
    }

    fn augment(
        &self,
        local: usize,
        options: &[Choice],
        of_remote: &mut BTreeMap<RemoteNic, Choice>,
        seen: &mut Vec<RemoteNic>,
    ) -> bool {
        for choice in options.iter().filter(|choice| choice.local == local) {
            let nic = self.remotes[choice.remote].nic;
            if nic == self.primary_remote || seen.contains(&nic) {
                continue;
            }
            seen.push(nic);
            let holder = of_remote.get(&nic).map(|held| held.local);
            let free = match holder {
                None => true,
                Some(holder) => self.augment(holder, options, of_remote, seen),
            };
            if free {
                of_remote.insert(nic, *choice);
                return true;
            }
        }
        false
    }

    /// Pairs of a NIC that has none yet with one that is used but has speed to spare for it.
    fn with_speed_to_spare(&self, options: &[Choice]) -> Vec<Choice> {
        let (mut locals, mut remotes) = (self.local_load.clone(), self.remote_load.clone());
        let mut chosen = Vec::new();
        for choice in options {
            let nic = self.remotes[choice.remote].nic;
            let local_used = locals.get(&choice.local).copied();
            let remote_used = remotes.get(&nic).copied();
            let local_speed = known(self.local[choice.local].speed_bits_per_second);
            let spare = match (local_used, remote_used) {
                (Some(used), None) => local_speed.map(|speed| speed.saturating_sub(used)),
                (None, Some(used)) => self.remotes[choice.remote]
                    .speed
                    .map(|speed| speed.saturating_sub(used)),
                _ => None,
            };
            if spare.is_some_and(|spare| spare >= choice.speed) {
                *locals.entry(choice.local).or_default() += choice.speed;
                *remotes.entry(nic).or_default() += choice.speed;
                chosen.push(*choice);
            }
        }
        chosen
    }

    fn take(&mut self, choices: Vec<Choice>, channels_max: usize) {
        for choice in choices {
            let remote = &self.remotes[choice.remote];
            if self.plan.pairs.len() >= channels_max {
                self.plan.rejects.push(Reject {
                    local: Some(choice.pair.local),
                    remote: Some(choice.pair.remote),
                    reason: RejectReason::Limit,
                });
                continue;
            }
            *self.local_load.entry(choice.local).or_default() += choice.speed;
            *self.remote_load.entry(remote.nic).or_default() += choice.speed;
            self.rss.push(remote.rss && self.local[choice.local].rss);
            self.plan.pairs.push(choice.pair);
        }
    }

    /// Every address of either side that is in no pair gets a reason.
    fn name_rejects(&mut self, options: &[Choice]) {
        let plan = &self.plan;
        let mentioned = |address: IpAddr| {
            plan.pairs
                .iter()
                .any(|pair| pair.local == address || pair.remote == address)
                || plan
                    .rejects
                    .iter()
                    .any(|reject| reject.remote == Some(address) || reject.local == Some(address))
        };
        let mut rejects = Vec::new();
        for remote in self
            .remotes
            .iter()
            .filter(|remote| !mentioned(remote.address))
        {
            let reachable = options
                .iter()
                .any(|choice| choice.pair.remote == remote.address);
            let reason = if self.remote_load.contains_key(&remote.nic) {
                RejectReason::SameNic
            } else if reachable {
                RejectReason::NoPartner
            } else {
                RejectReason::OtherSubnet
            };
            rejects.push(Reject {
                local: None,
                remote: Some(remote.address),
                reason,
            });
        }
        for (position, nic) in self.local.iter().enumerate() {
            let used = self.local_load.contains_key(&position);
            for address in nic
                .addresses
                .iter()
                .filter(|address| !mentioned(address.address))
            {
                let reason = match unusable(address.address) {
                    Some(reason) => reason,
                    None if used => RejectReason::SameNic,
                    None => RejectReason::NoPartner,
                };
                rejects.push(Reject {
                    local: Some(address.address),
                    remote: None,
                    reason,
                });
            }
        }
        self.plan.rejects.extend(rejects);
    }

    /// Further channels, one for each pair in turn.
    fn add_rss_channels(&mut self, rules: &LinerateRules) {
        let pairs: Vec<Pair> = self.plan.pairs.clone();
        for _ in 1..rules.channels_per_rss_pair {
            for (pair, rss) in pairs.iter().zip(&self.rss) {
                if *rss && self.plan.pairs.len() < rules.channels_max {
                    self.plan.pairs.push(*pair);
                }
            }
        }
    }
}

impl LocalAddress {
    fn reaches(&self, remote: IpAddr) -> bool {
        if unusable(self.address).is_some() || self.address == remote {
            return false;
        }
        let (ours, theirs, bits) = match (self.address, remote) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                (u128::from(ours.to_bits()), u128::from(theirs.to_bits()), 32)
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => (ours.to_bits(), theirs.to_bits(), 128),
            _ => return false,
        };
        let host_bits = bits - u32::from(self.prefix_length).min(bits);
        // a shift by all 128 bits leaves nothing to differ
        (ours ^ theirs).checked_shr(host_bits).unwrap_or(0) == 0
    }
}

/// Drops what cannot be connected to, whatever we have ourselves.
fn clean(server: &[ServerInterface], primary: Pair, rejects: &mut Vec<Reject>) -> Vec<Remote> {
    let mut remotes: Vec<Remote> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for entry in server {
        let address = entry.address;
        let reason = if let Some(reason) = unusable(address) {
            reason
        } else if address.is_ipv4() != primary.remote.is_ipv4() {
            RejectReason::OtherFamily
        } else if !seen.insert(address) {
            // the same NIC once with and once without RDMA, most likely
            RejectReason::Duplicate
        } else {
            let unknown_index = matches!(entry.index, 0 | u32::MAX);
            remotes.push(Remote {
                nic: match unknown_index {
                    true => RemoteNic::Address(address),
                    false => RemoteNic::Index(entry.index),
                },
                address,
                rss: entry.rss,
                speed: known(Some(entry.speed_bits_per_second)),
            });
            continue;
        };
        rejects.push(Reject {
            local: None,
            remote: Some(address),
            reason,
        });
    }
    remotes
}

fn unusable(address: IpAddr) -> Option<RejectReason> {
    let (not_a_host, link_local) = match address {
        IpAddr::V4(address) => (address.is_broadcast(), address.is_link_local()),
        IpAddr::V6(address) => (false, address.is_unicast_link_local()),
    };
    if not_a_host || address.is_unspecified() || address.is_loopback() || address.is_multicast() {
        return Some(RejectReason::NotAHost);
    }
    link_local.then_some(RejectReason::LinkLocal)
}

/// A speed as stated, made sensible; none: unknown.
fn known(speed: Option<u64>) -> Option<u64> {
    match speed {
        Some(0) => Some(SPEED_OF_ZERO),
        speed => speed.filter(|speed| *speed <= SPEED_MAX),
    }
}

/// A pair is as fast as its slower side.
fn pair_speed(local: Option<u64>, remote: Option<u64>) -> u64 {
    match (local, remote) {
        (Some(local), Some(remote)) => local.min(remote),
        (Some(speed), None) | (None, Some(speed)) => speed,
        (None, None) => SPEED_UNKNOWN,
    }
}

#[cfg(test)]
mod address_pair_tests;
