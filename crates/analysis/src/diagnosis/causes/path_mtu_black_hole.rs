//! Packets that vanish without a word, and who drops them: whatever passes as large ones elsewhere, or is
//! set for them, is left out, until one is left.

use std::net::IpAddr;

use locale::{Message, say};
use record::{HostFacts, LinkState, MtuProof, Nic, PathFacts};

use super::{Advice, Evidence, Finding, nic_mtu, remote_name};
use crate::diagnosis::nic_pairs::in_subnet;

/// What a bridge lets through beyond the MTU of a port: the tag of a VLAN.
const TAG_BYTES: u32 = 4;

/// A pair on which packets vanish that both ends would send.
struct Hole<'a> {
    proof: &'a MtuProof,
    /// The largest that passes.
    most: u32,
    /// The largest that both ends would send.
    wanted: u32,
    near: Option<(&'a HostFacts, &'a Nic)>,
    far: Option<(&'a HostFacts, &'a Nic)>,
}

/// What is known of one end.
enum End {
    /// It drops them: why, and what to do there.
    Guilty(Message, Message),
    /// As large ones were seen to pass it.
    Shown(Message),
    /// Its NIC and all ports below it are set for them.
    Set,
    Unknown,
}

impl End {
    const fn is_innocent(&self) -> bool {
        matches!(self, Self::Shown(_) | Self::Set)
    }
}

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let path = seen.path?;
    let hole = path.mtus.iter().find_map(|proof| Hole::of(seen, proof))?;
    let Hole {
        proof,
        most,
        wanted,
        ..
    } = hole;
    let (who, what) = hole.blame(path, seen);
    let text = say(match proof.forward_only {
        true => "path-mtu-black-hole.one-way",
        false => "path-mtu-black-hole",
    })
    .count("most", most)
    .with("nic", &proof.nic)
    .with("remote", remote_name(proof))
    .count("wanted", wanted)
    .with("who", who);
    let ends = [hole.near, hole.far].into_iter().flatten();
    let advice = say("fix.mtu-of-switch")
        .with("what", what)
        .count("most", most);
    let advice = Advice::new(advice)
        .sets(ends.filter_map(|(host, nic)| nic_mtu(Some(host), &nic.name, most)));
    // Where nothing got through, no pair is known to be used.
    let elsewhere = seen.used_proof() != Some(proof) && !seen.used.is_empty();
    Some(Finding::counted(text, advice).off_path_if(elsewhere))
}

impl<'a> Hole<'a> {
    fn of(seen: &Evidence<'a>, proof: &'a MtuProof) -> Option<Self> {
        let client = seen.network.client;
        let near = client.and_then(|host| Some((host, host.nic(&proof.nic)?)));
        let far_nic = |host: &'a HostFacts| host.nic_with(proof.remote?);
        let far = seen
            .network
            .server
            .and_then(|host| Some((host, far_nic(host)?)));
        // What the far end would send its TCP tells, or else its facts.
        let known = MtuProof {
            far_mtu: proof.far_mtu.or_else(|| far.map(|(_, nic)| nic.mtu)),
            ..proof.clone()
        };
        let (most, wanted) = (known.path_mtu()?, known.wanted());
        known.is_black_hole().then_some(Self {
            proof,
            most,
            wanted,
            near,
            far,
        })
    }

    /// What drops them, and what to do about it.
    fn blame(&self, path: &PathFacts, seen: &Evidence) -> (Message, Message) {
        let switch = say("fix.switch-mtu").count("wanted", self.wanted);
        let ends = [self.near_end(path), self.far_end(path, seen)];
        let [near, far] = &ends;
        for (end, id) in [(near, "hole.this-end"), (far, "hole.far-end")] {
            if let End::Guilty(why, what) = end {
                return (say(id).with("why", why.clone()), what.clone());
            }
        }
        let shown = ends.iter().filter_map(|end| match end {
            End::Shown(why) => Some(why.clone()),
            _ => None,
        });
        let shown: Vec<Message> = shown.collect();
        let count = shown.len();
        let because = |message: Message| {
            let mut shown = shown.iter();
            let message = match shown.next() {
                Some(why) => message.with("because", say("hole.because").with("why", why.clone())),
                None => message,
            };
            match shown.next() {
                Some(why) => message.with("also", say("hole.because").with("why", why.clone())),
                None => message,
            }
        };
        let id = match (near.is_innocent(), far.is_innocent()) {
            (true, true) if count == ends.len() || self.is_counted_both_ways() => "hole.between",
            (true, true) => "hole.probably-between",
            (true, false) => "hole.between-or-far",
            (false, true) => "hole.near-or-between",
            (false, false) => "hole.anywhere",
        };
        if near.is_innocent() && far.is_innocent() {
            return (because(say(id)), switch);
        }
        let how = say(match seen.network.server {
            None => "hole.from-one-end",
            Some(_) => "hole.not-told-apart",
        });
        let direction = self.only_way().map(say);
        let who = because(say(id)).with("how", how);
        let who = match direction {
            Some(direction) => who.with("direction", direction),
            None => who,
        };
        (who, say("fix.switch-or-nic").with("switch", switch))
    }

    fn near_end(&self, path: &PathFacts) -> End {
        let refused = self.proof.vanished.and_then(|counted| counted.near_refused);
        let passes = || {
            // Of several ports another one may be what was used.
            let (host, nic) = self.near?;
            (ports(host, nic).count() < 2).then_some(())?;
            let proofs = path.mtus.iter();
            let proofs = proofs
                .filter(|other| other.nic == self.proof.nic && other.remote != self.proof.remote)
                .filter(|other| self.tells_as_much(other))
                .map(|other| (other.remote, other.answered));
            let neighbours = path.neighbours.iter();
            let neighbours = neighbours
                .filter(|other| other.nic == self.proof.nic)
                .map(|other| (Some(other.address), other.answered));
            let (remote, answered) = proofs
                .chain(neighbours)
                .find(|(_, answered)| self.is_larger(*answered))?;
            let passes = say("hole.nic-passes").with("nic", &nic.name);
            Some(passes.count("bytes", answered?).with("remote", remote?))
        };
        self.end(self.near, refused, passes)
    }

    fn far_end(&self, path: &PathFacts, seen: &Evidence) -> End {
        let refused = self.proof.vanished.and_then(|counted| counted.far_refused);
        let passes = || {
            let remote = self.proof.remote?;
            is_only_nic_there(seen, remote).then_some(())?;
            if let Some((host, nic)) = self.far {
                (ports(host, nic).count() < 2).then_some(())?;
            }
            let other = path.mtus.iter().find(|other| {
                other.remote == Some(remote)
                    && other.nic != self.proof.nic
                    && self.tells_as_much(other)
                    && self.is_larger(other.answered)
            })?;
            let passes = say("hole.far-passes").with("remote", remote);
            Some(
                passes
                    .count("bytes", other.answered?)
                    .with("nic", &other.nic),
            )
        };
        self.end(self.far, refused, passes)
    }

    fn end(
        &self,
        known: Option<(&'a HostFacts, &'a Nic)>,
        refused: Option<u64>,
        passes: impl Fn() -> Option<Message>,
    ) -> End {
        if let Some((host, nic)) = known {
            if let Some(port) = self.short_port(host, nic) {
                return End::Guilty(
                    say("hole.short-port")
                        .with("port", &port.name)
                        .with("nic", &nic.name)
                        .with("host", &host.name)
                        .count("mtu", port.mtu)
                        .count("own", nic.mtu),
                    say("fix.port-mtu")
                        .with("port", &port.name)
                        .with("host", &host.name)
                        .count("wanted", self.wanted)
                        .with("nic", &nic.name),
                );
            }
            if let Some((counted, refused)) = self.proof.vanished.zip(refused)
                && counted.are_all(Some(refused))
            {
                return End::Guilty(
                    say("hole.refused")
                        .with("nic", &nic.name)
                        .with("host", &host.name)
                        .count("refused", refused)
                        .count("sent", counted.sent)
                        .count("size", counted.size),
                    say("fix.look-at-nic")
                        .with("nic", &nic.name)
                        .with("host", &host.name),
                );
            }
        }
        if let Some(why) = passes() {
            return End::Shown(why);
        }
        let is_set = |(host, nic): &(&HostFacts, &Nic)| {
            nic.mtu >= self.wanted && ports(host, nic).all(|port| port.mtu >= self.wanted)
        };
        // Whoever takes less than it is set to takes less of one direction only; a switch of both.
        match known.filter(is_set).filter(|_| self.only_way().is_none()) {
            Some(_) => End::Set,
            None => End::Unknown,
        }
    }

    /// A port below an end's NIC whose MTU is just what passes.
    fn short_port(&self, host: &'a HostFacts, nic: &Nic) -> Option<&'a Nic> {
        let explains =
            |port: &&Nic| (port.mtu..=port.mtu.saturating_add(TAG_BYTES)).contains(&self.most);
        let largest = ports(host, nic).max_by_key(|port| port.mtu)?;
        Some(largest).filter(explains)
    }

    /// Whether another proof shows as much of an end as this one asks: what only went there says nothing
    /// of what comes back.
    const fn tells_as_much(&self, other: &MtuProof) -> bool {
        !other.forward_only || self.proof.forward_only
    }

    /// Whether packets passed elsewhere of the size that vanishes here.
    fn is_larger(&self, answered: Option<u32>) -> bool {
        let vanishes = self.proof.unanswered.unwrap_or(self.wanted);
        answered.is_some_and(|answered| answered >= vanishes)
    }

    fn is_counted_both_ways(&self) -> bool {
        self.proof
            .vanished
            .is_some_and(|counted| counted.is_bidirectional())
    }

    /// Where they are known to vanish in one of the two directions only.
    fn only_way(&self) -> Option<&'static str> {
        let counted = self.proof.vanished?;
        if counted.are_all(counted.seen_by_client) {
            Some("hole.to-server-only")
        } else if counted.are_all(counted.seen_by_server) {
            Some("hole.to-client-only")
        } else {
            None
        }
    }
}

/// What is below a bridge or a bond.
fn ports<'a>(host: &'a HostFacts, nic: &Nic) -> impl Iterator<Item = &'a Nic> {
    let name = nic.name.clone();
    let nics = host.nics.iter();
    nics.filter(move |port| port.port_of.as_ref() == Some(&name) && port.state != LinkState::Down)
}

/// Whether nobody but one NIC of the server can be who answers for an address: of two in one subnet either
/// may.
fn is_only_nic_there(seen: &Evidence, remote: IpAddr) -> bool {
    let network = &seen.network;
    match network.server {
        Some(server) => {
            let nics = server
                .nics
                .iter()
                .filter(|nic| nic.state != LinkState::Down);
            nics.filter(|nic| nic.has(remote) || in_subnet(nic, remote))
                .count()
                == 1
        }
        None => {
            let nears = network.client.into_iter().flat_map(|client| &client.nics);
            let mut entries = nears.flat_map(|nic| &nic.addresses);
            let Some(subnet) = entries.find(|entry| entry.contains(remote)) else {
                return false;
            };
            let listed = network.advertised.iter();
            listed
                .filter(|entry| subnet.contains(entry.address))
                .count()
                == 1
        }
    }
}
