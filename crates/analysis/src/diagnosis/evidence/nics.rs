//! NICs and pairs of them: what they run at, whether anything answers there, and where they lead.

use std::net::IpAddr;

use record::{LinkState, MtuProof, Nic, Rung, ServerInterface};

use super::Evidence;
use crate::diagnosis::nic_pairs::{FarEnd, Pair, has_no_line, is_link_local, line_bits};

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
            None => !near.addresses.iter().any(|entry| entry.contains(remote)),
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
            self.used.iter().all(|pair| pair.remote != remote)
                && nic.addresses.iter().any(|entry| entry.contains(remote))
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
        let others = self.other_nics_as_good();
        let is_known = self.network.server.is_some();
        if is_known || others.iter().any(|nic| self.shows_server(nic)) {
            return None;
        }
        others.into_iter().find(|nic| !self.leads_elsewhere(nic))
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

    /// What a link to one of the server's addresses really runs at: by the server's own facts, or else
    /// by our end of it where all of our ends are alike.
    pub(in crate::diagnosis) fn real_bits(&self, address: IpAddr) -> Option<u64> {
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

    pub(in crate::diagnosis) fn near_bits(&self, address: IpAddr) -> Option<u64> {
        let mut nics = self.network.client?.nics.iter();
        let near = nics.find(|nic| nic.addresses.iter().any(|entry| entry.contains(address)))?;
        line_bits(near)
    }
}

/// Whether a route leads out of the NIC's own networks.
fn leads_on(route: &record::Route) -> bool {
    route.gateway.is_some() || route.destination == "default"
}
