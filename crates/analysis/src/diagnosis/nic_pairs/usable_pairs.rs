//! Which NICs of the two hosts could be used together.

use std::net::IpAddr;

use record::{LinkState, Nic};

use super::{Network, Pair, in_subnet, is_link_local};

/// NICs and advertised interfaces that are looked at.
const ENDS_MAX: usize = 256;

impl<'a> Network<'a> {
    /// As many pairs as can be used at once, each NIC in one of them: the used ones first, then
    /// whatever shares a subnet.
    pub(in crate::diagnosis) fn usable_pairs(&self, used: &[Pair<'a>]) -> Vec<Pair<'a>> {
        let Some(client) = self.client else {
            return used.to_vec();
        };
        let nears: Vec<&'a Nic> = client.nics.iter().take(ENDS_MAX).collect();
        let mut edges: Vec<Vec<Pair<'a>>> = vec![Vec::new(); nears.len()];
        let mut far_ends: Vec<Pair<'a>> = Vec::new();
        for (near, edges) in nears.iter().zip(&mut edges) {
            edges.extend(used.iter().filter(|pair| pair.near.index == near.index));
            if near.state != LinkState::Down {
                let found = self.candidates(near).filter(|pair| !used.contains(pair));
                edges.extend(found.take(ENDS_MAX));
            }
            for pair in edges {
                if !far_ends.iter().any(|known| known.same_far(pair)) {
                    far_ends.push(*pair);
                }
            }
        }
        // Maximum matching by augmenting paths. NICs in use go first and once matched stay matched.
        let mut order: Vec<usize> = (0..nears.len()).collect();
        order.sort_by_key(|&near| !used.iter().any(|pair| pair.near.index == nears[near].index));
        let mut matched: Vec<Option<(usize, Pair<'a>)>> = vec![None; far_ends.len()];
        for near in order {
            let mut seen = vec![false; far_ends.len()];
            augment(near, &edges, &far_ends, &mut matched, &mut seen);
        }
        let mut pairs: Vec<Pair<'a>> = matched
            .into_iter()
            .flatten()
            .map(|(_, pair)| pair)
            .collect();
        pairs.sort_by_key(|pair| (!used.contains(pair), pair.near.index));
        pairs
    }

    /// Every pair of NICs between the two, used or not.
    pub(in crate::diagnosis) fn all_pairs(&self, used: &[Pair<'a>]) -> Vec<Pair<'a>> {
        let mut pairs = used.to_vec();
        let nears = self.client.into_iter().flat_map(|client| &client.nics);
        let up = nears.filter(|nic| nic.state != LinkState::Down);
        for near in up.take(ENDS_MAX) {
            for pair in self.candidates(near).take(ENDS_MAX) {
                if !pairs.contains(&pair) && pairs.len() < ENDS_MAX {
                    pairs.push(pair);
                }
            }
        }
        pairs
    }

    /// The addresses of the server that a NIC of ours reaches without a router.
    pub(in crate::diagnosis) fn near_remotes(&self) -> Vec<IpAddr> {
        let nears = self.client.into_iter().flat_map(|client| &client.nics);
        let up = nears.filter(|nic| nic.state != LinkState::Down);
        let mut remotes = Vec::new();
        for near in up.take(ENDS_MAX) {
            for pair in self.candidates(near).take(ENDS_MAX) {
                if !remotes.contains(&pair.remote) && remotes.len() < ENDS_MAX {
                    remotes.push(pair.remote);
                }
            }
        }
        remotes
    }

    fn candidates(&self, near: &'a Nic) -> impl Iterator<Item = Pair<'a>> {
        let network = *self;
        let from_facts = self.server.into_iter().flat_map(|server| {
            let up = server.nics.iter().take(ENDS_MAX);
            up.filter(|nic| nic.state != LinkState::Down)
                .flat_map(|nic| {
                    nic.addresses
                        .iter()
                        .map(|entry| entry.address.to_canonical())
                })
        });
        let listed = self.advertised.iter().take(ENDS_MAX);
        let from_list = listed
            .map(|entry| entry.address.to_canonical())
            .filter(move |_| network.server.is_none());
        from_facts
            .chain(from_list)
            .filter(move |&remote| network.reaches(near, remote))
            .map(move |remote| Pair {
                near,
                far: network.far_end(remote),
                remote,
            })
    }

    /// Whether an address of the server is in a subnet of this NIC and is another machine's. (Bridges
    /// of virtual machines have the same address on every host.)
    fn reaches(&self, near: &Nic, remote: IpAddr) -> bool {
        let ours = self
            .client
            .is_some_and(|client| client.nic_with(remote).is_some());
        let advertised = self.advertised.is_empty() || self.advertisement(remote).is_some();
        !ours && advertised && !is_link_local(remote) && in_subnet(near, remote)
    }
}

fn augment<'a>(
    near: usize,
    edges: &[Vec<Pair<'a>>],
    far_ends: &[Pair<'a>],
    matched: &mut [Option<(usize, Pair<'a>)>],
    seen: &mut [bool],
) -> bool {
    for pair in &edges[near] {
        let Some(far) = far_ends.iter().position(|known| known.same_far(pair)) else {
            continue;
        };
        if std::mem::replace(&mut seen[far], true) {
            continue;
        }
        let free = match matched[far] {
            None => true,
            Some((other, _)) => augment(other, edges, far_ends, matched, seen),
        };
        if free {
            matched[far] = Some((near, *pair));
            return true;
        }
    }
    false
}
