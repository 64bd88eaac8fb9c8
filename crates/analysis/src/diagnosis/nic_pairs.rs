//! Which NICs a connection used, which others could be used, and what fits through them.

mod line_speeds;
mod payload_ceiling;
mod usable_pairs;

use std::net::IpAddr;

use locale::{Message, say};
use record::{ConnectionUse, HostFacts, Nic, ServerInterface};

pub(super) use line_speeds::{bit_rate, has_no_line, line_bits};
pub(super) use payload_ceiling::is_only_advertised;

/// Kinds of NICs of which several may share one line.
const PARTS: [&str; 3] = ["vlan", "macvlan", "ipvlan"];

/// The least ratio of two line rates that counts as different.
pub(super) const FASTER: f64 = 1.5;
/// What a link runs at when its cable is bad, in bits per second.
pub(super) const SLOW_BITS: u64 = 100_000_000;
/// The same for a link that is not slow.
pub(super) const GOOD_BITS: u64 = 1_000_000_000;

/// What is known of both ends.
#[derive(Clone, Copy)]
pub(super) struct Network<'a> {
    pub(super) client: Option<&'a HostFacts>,
    pub(super) server: Option<&'a HostFacts>,
    /// The server's own list, true or not.
    pub(super) advertised: &'a [ServerInterface],
    /// Whether nothing that was measured contradicts the speeds in it.
    pub(super) believed: bool,
    /// Whether a shaper, which limits what its NIC sends, stands for a line that receives as much.
    pub(super) shapers_are_lines: bool,
    pub(super) ports: Ports,
}

/// What the ports of a bond or a bridge carry of what goes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ports {
    /// One connection: a bond sends it by one port, and a bridge by the only real one.
    OfOne,
    /// Several: all ports of a bond do.
    OfSeveral,
    /// What was measured contradicts that, or nobody compared: only what the NIC itself tells counts.
    Unknown,
}

/// The server's end of a path, as well as it is known.
#[derive(Clone, Copy)]
pub(super) enum FarEnd<'a> {
    Nic(&'a Nic),
    Advertised(&'a ServerInterface),
    Address,
}

/// A NIC of the client and the server's end that it talks to.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) near: &'a Nic,
    pub(super) far: FarEnd<'a>,
    pub(super) remote: IpAddr,
}

impl PartialEq for Pair<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.near.index == other.near.index && self.same_far(other)
    }
}

impl<'a> Pair<'a> {
    /// Whether it is another pair that has one of the two NICs.
    pub(super) fn shares_an_end(&self, other: &Self) -> bool {
        self != other && (self.near.index == other.near.index || self.same_far(other))
    }

    /// Whether one of its NICs is a part of another one, whose line it shares with its other parts.
    pub(super) fn is_part_of_a_link(&self) -> bool {
        let mut nics = [Some(self.near), self.far_nic()].into_iter().flatten();
        nics.any(|nic| {
            let kind = nic.kind.as_deref();
            kind.is_some_and(|kind| PARTS.contains(&kind))
        })
    }

    pub(super) fn same_far(&self, other: &Self) -> bool {
        match (self.far, other.far) {
            (FarEnd::Nic(one), FarEnd::Nic(two)) => one.index == two.index,
            (FarEnd::Advertised(one), FarEnd::Advertised(two)) => {
                one.address == two.address || (has_index(one) && one.index == two.index)
            }
            _ => self.remote == other.remote,
        }
    }

    /// The address of our NIC that the server answers to.
    pub(super) fn own_address(&self) -> Option<IpAddr> {
        let mut ours = self.near.addresses.iter().map(|entry| entry.address);
        ours.find(|address| address.is_ipv4() == self.remote.is_ipv4() && !is_link_local(*address))
    }

    /// The server's NIC, where its facts are known.
    pub(super) const fn far_nic(&self) -> Option<&'a Nic> {
        match self.far {
            FarEnd::Nic(nic) => Some(nic),
            FarEnd::Advertised(_) | FarEnd::Address => None,
        }
    }

    /// The MTU that both ends have; only ours where the far one is not known.
    pub(super) fn mtu(&self) -> u32 {
        match self.far {
            FarEnd::Nic(nic) => self.near.mtu.min(nic.mtu),
            FarEnd::Advertised(_) | FarEnd::Address => self.near.mtu,
        }
    }

    pub(super) fn name(&self) -> Message {
        let ends = say("ends").with("nic", &self.near.name);
        match self.far {
            FarEnd::Nic(nic) => ends.with("address", &nic.name),
            FarEnd::Advertised(_) | FarEnd::Address => ends.with("address", self.remote),
        }
    }
}

impl<'a> Network<'a> {
    /// The NIC pair of a connection.
    ///
    /// # Errors
    /// A sentence when our end is on no NIC that is known.
    pub(super) fn pair(&self, connection: &ConnectionUse) -> Result<Pair<'a>, Message> {
        let local = connection.local.ip().to_canonical();
        let remote = connection.remote.ip().to_canonical();
        let near = self
            .client
            .and_then(|client| client.nic_with(local))
            .ok_or_else(|| say("unmeasured.our-end").with("address", local))?;
        Ok(Pair {
            near,
            far: self.far_end(remote),
            remote,
        })
    }

    fn far_end(&self, remote: IpAddr) -> FarEnd<'a> {
        if let Some(nic) = self.server.and_then(|server| server.nic_with(remote)) {
            return FarEnd::Nic(nic);
        }
        match self.advertisement(remote) {
            Some(interface) => FarEnd::Advertised(interface),
            None => FarEnd::Address,
        }
    }

    pub(super) fn advertisement(&self, remote: IpAddr) -> Option<&'a ServerInterface> {
        self.advertised
            .iter()
            .find(|interface| interface.address.to_canonical() == remote)
    }
}

fn has_index(interface: &ServerInterface) -> bool {
    interface.index != 0 && interface.index != u32::MAX
}

/// Whether an address is in a network of a NIC.
pub(super) fn in_subnet(nic: &Nic, peer: IpAddr) -> bool {
    nic.addresses.iter().any(|entry| entry.contains(peer))
}

pub(super) fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local() || address.is_loopback(),
        IpAddr::V6(address) => address.is_unicast_link_local() || address.is_loopback(),
    }
}

#[cfg(test)]
mod line_and_pair_tests;
