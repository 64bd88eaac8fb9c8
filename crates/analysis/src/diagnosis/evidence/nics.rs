//! NICs and pairs of them: what they run at, whether anything answers there, and where they lead.

use std::net::IpAddr;

use record::{Direction, LinkState, MtuProof, Nic, Rung, ServerInterface};

use super::Evidence;
use crate::diagnosis::ladder_and_probe_trials::{Measured, bytes_of};
use crate::diagnosis::nic_pairs::{
    FASTER, FarEnd, Pair, has_no_line, in_subnet, is_link_local, line_bits,
};

/// The part of what was moved that is most of it.
const MOST: f64 = 0.8;

/// NICs of the client, each with what its line carries, in bits per second.
pub(in crate::diagnosis) struct ReturnPath<'a> {
    /// The one whose address the server is called from, or the server's, if that carries less.
    pub(in crate::diagnosis) called: (&'a Nic, u64),
    /// The one by which the answers come.
    pub(in crate::diagnosis) answers: (&'a Nic, u64),
}

/// What is known of the rate of a pair.
#[derive(Clone, Copy)]
pub(in crate::diagnosis) enum PairRate {
    /// What its slower end runs at.
    Known(u64),
    /// The most that it was seen to carry, where neither end says anything: it is no slower.
    Carried(u64),
}

impl PairRate {
    pub(in crate::diagnosis) const fn bits(&self) -> u64 {
        match self {
            Self::Known(bits) | Self::Carried(bits) => *bits,
        }
    }
}

impl<'a> Evidence<'a> {
    /// By which other NIC the server's answers come, where that has the slower line and fills it: its routes, or those in
    /// between, choose another path back.
    pub(in crate::diagnosis) fn slower_return_path(&self) -> Option<ReturnPath<'a>> {
        let pair = *self.used.first()?;
        let back = Pair {
            near: self.answered_at()?,
            ..pair
        };
        let [own, _] = self.network.end_bits(&back);
        let [near, far] = self.network.end_bits(&pair);
        let far = far.or_else(|| self.network.advertised_bits(&pair));
        let (bits, called) = (own?, near?.min(far.unwrap_or(u64::MAX)));
        // Two NICs of ours in one network are another matter: there it is who answers for an address.
        let is_beside = in_subnet(back.near, pair.remote);
        let is_held = self.moves_as(&back, Direction::Read, bits);
        let is_slower = called as f64 >= bits as f64 * FASTER;
        (is_slower && is_held && !is_beside).then_some(ReturnPath {
            called: (pair.near, called),
            answers: (back.near, bits),
        })
    }

    /// The NIC of the client at which what it read came in, in each trial of one pair, where that is another one than the
    /// one whose address it has.
    fn answered_at(&self) -> Option<&'a Nic> {
        let trials = self.trials.iter();
        let reads = trials.filter(|trial| {
            let is_meant = matches!(trial.rung, Rung::Tcp | Rung::Share);
            is_meant && trial.direction == Direction::Read && trial.pairs.len() == 1
        });
        let mut found = reads.map(|trial| self.received_elsewhere(trial));
        let first = found.next()??;
        let is_same = |nic: Option<&Nic>| nic.is_some_and(|nic| nic.index == first.index);
        found.all(is_same).then_some(first)
    }

    fn received_elsewhere(&self, trial: &Measured<'a>) -> Option<&'a Nic> {
        let client = self.network.client?;
        let near = trial.pairs.first()?.near;
        let connections = trial.result.connections.iter();
        let moved: f64 = connections.map(bytes_of).sum();
        let mut loads = trial.record.loads.iter();
        let load = loads.find(|load| load.host == client.name)?;
        let received = |nic: &Nic| {
            let mut nics = load.nics.iter();
            let load = nics.find(|load| load.nic == nic.name)?;
            Some(load.received.get() as f64 / moved)
        };
        let is_elsewhere = received(near)? < 1.0 - MOST;
        let mut nics = client.nics.iter().filter(|nic| nic.index != near.index);
        nics.find(|nic| is_elsewhere && received(nic).is_some_and(|part| part > MOST))
    }

    /// Whether anything answers at an address by a NIC; nothing where the look did not try.
    pub(in crate::diagnosis) fn has_answered(&self, nic: &Nic, remote: IpAddr) -> Option<bool> {
        let mut proofs = self.path?.mtus.iter();
        let proof = proofs.find(|proof| proof.nic == nic.name && proof.remote == Some(remote))?;
        Some(proof.answered.is_some() || proof.far_mtu.is_some())
    }

    /// Whether the look has shown that nothing answers there.
    pub(in crate::diagnosis) fn is_dead(&self, nic: &Nic, remote: IpAddr) -> bool {
        self.has_answered(nic, remote) == Some(false)
    }

    /// Whether a router is between a NIC of ours and an address of the server.
    pub(in crate::diagnosis) fn is_routed(&self, near: &Nic, remote: IpAddr) -> bool {
        let mut ways = self.path.into_iter().flat_map(|path| &path.addresses);
        let way = ways.find(|way| way.address == remote && way.nic.is_some());
        match way {
            Some(way) => way.gateway.is_some(),
            None => !in_subnet(near, remote),
        }
    }

    /// The most that a pair carried in a trial of some rungs, in bits per second.
    pub(in crate::diagnosis) fn carried(
        &self,
        pair: &Pair,
        is_meant: impl Fn(Rung) -> bool,
    ) -> Option<u64> {
        let ends_have_lines =
            !has_no_line(pair.near) && !matches!(pair.far, FarEnd::Nic(nic) if has_no_line(nic));
        let trials = self.trials.iter().filter(|trial| is_meant(trial.rung));
        let rates = trials.filter_map(|trial| trial.carried(pair));
        let most = rates.max_by(f64::total_cmp).filter(|_| ends_have_lines)?;
        (most > 0.0).then_some(most as u64)
    }

    pub(in crate::diagnosis) fn pair_rate(&self, pair: &Pair) -> Option<PairRate> {
        let carried = || self.carried(pair, |_| true).map(PairRate::Carried);
        let known = self.pair_bits(pair).map(PairRate::Known);
        known.or_else(carried)
    }

    /// What the slower end of a pair runs at; nothing where an end has no line.
    pub(in crate::diagnosis) fn pair_bits(&self, pair: &Pair) -> Option<u64> {
        let has_lines =
            !has_no_line(pair.near) && !matches!(pair.far, FarEnd::Nic(nic) if has_no_line(nic));
        let ends = self.network.end_bits(pair).into_iter().flatten();
        ends.min().filter(|_| has_lines)
    }

    /// Whether the server is known to have another address where a NIC of the client leads.
    pub(in crate::diagnosis) fn shows_server(&self, nic: &Nic) -> bool {
        let is_other = |remote: IpAddr| {
            self.used.iter().all(|pair| pair.remote != remote) && in_subnet(nic, remote)
        };
        self.path.is_some_and(|path| {
            let answers = |proof: &MtuProof| {
                proof.nic == nic.name
                    && (proof.answered.is_some() || proof.far_mtu.is_some())
                    && proof.remote.is_some_and(is_other)
            };
            path.addresses.iter().any(|way| is_other(way.address)) || path.mtus.iter().any(answers)
        })
    }

    /// Whether a NIC of the client is known to lead elsewhere.
    pub(in crate::diagnosis) fn leads_elsewhere(&self, nic: &Nic) -> bool {
        let mut routes = self
            .network
            .client
            .into_iter()
            .flat_map(|host| &host.routes);
        let mut neighbours = self.path.into_iter().flat_map(|path| &path.neighbours);
        routes.any(|route| route.nic == nic.name && leads_on(route))
            || neighbours.any(|neighbour| neighbour.nic == nic.name)
    }

    /// A NIC of the client as good as the one in use of which it is not known where it leads, as the server's own
    /// NICs are not known.
    pub(in crate::diagnosis) fn nic_to_nowhere(&self) -> Option<&'a Nic> {
        if self.network.server.is_some() {
            return None;
        }
        let is_listed = |nic: &Nic| {
            let listed = self.network.advertised.iter();
            let mut listed = listed.filter(|entry| !is_link_local(entry.address));
            listed.any(|entry| in_subnet(nic, entry.address))
        };
        let leads_somewhere =
            |nic: &Nic| self.shows_server(nic) || self.leads_elsewhere(nic) || is_listed(nic);
        let mut others = self.other_nics_as_good().into_iter();
        others.find(|nic| !leads_somewhere(nic))
    }

    /// Whether the server's own NIC is known to be what its list says of RSS. (The queues of virtual NICs
    /// are as many as were asked for.)
    pub(in crate::diagnosis) fn says_rss_rightly(&self, entry: &ServerInterface) -> bool {
        let mut nics = self.network.server.into_iter().flat_map(|host| &host.nics);
        let nic = nics.find(|nic| nic.addresses.iter().any(|own| own.address == entry.address));
        let queues = nic
            .filter(|nic| nic.kind.is_none())
            .and_then(|nic| nic.rx_queues);
        queues.is_some_and(|queues| (queues > 1) == entry.rss)
    }

    /// NICs of the client that are not used, and not slower than the one that is.
    pub(in crate::diagnosis) fn other_nics_as_good(&self) -> Vec<&'a Nic> {
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
                .any(|entry| !is_link_local(entry.address));
            idle && addressed
                && nic.state == LinkState::Up
                && used.is_some_and(|used| line_bits(nic).is_some_and(|bits| bits >= used))
        })
        .collect()
    }

    /// What a link to one of the server's addresses really runs at, by the server's own facts. Our end of it says nothing of
    /// that: a switch may be between the two.
    pub(in crate::diagnosis) fn real_bits(&self, address: IpAddr) -> Option<u64> {
        line_bits(self.network.server?.nic_with(address)?)
    }

    /// The NIC of ours that leads to an address, and what its line carries.
    pub(in crate::diagnosis) fn near(&self, address: IpAddr) -> Option<(&'a Nic, u64)> {
        let mut nics = self.network.client?.nics.iter();
        let near = nics.find(|nic| in_subnet(nic, address) && !is_link_local(address))?;
        Some((near, line_bits(near)?))
    }
}

/// Whether a route leads out of the NIC's own networks.
fn leads_on(route: &record::Route) -> bool {
    route.gateway.is_some() || route.destination == "default"
}
