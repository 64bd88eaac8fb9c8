//! Which pairs of addresses to connect: a pure function of rules, our NICs and the server's list.

use std::net::IpAddr;

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
    #[error("it is link-local")]
    LinkLocal,
    /// Loopback, unspecified, multicast or broadcast.
    #[error("it is not the address of a host")]
    NotAHost,
    /// The same address occurs twice in the list.
    #[error("it is listed twice")]
    Duplicate,
    /// Another address of the same NIC is used already.
    #[error("another address of the same NIC is used")]
    SameNic,
    /// None of our NICs is in its subnet.
    #[error("none of our NICs is in its subnet")]
    OtherSubnet,
    /// Nothing at the other end is left for this NIC.
    #[error("the other end has no NIC left for it")]
    NoPartner,
    /// It is much slower than the best.
    #[error("the limit of channels is reached")]
    Limit,
}

/// Chooses the pairs. `primary` is the connection that exists; it comes first and need not be in
/// the server's list.
pub fn plan(rules: &Rules, local: &[LocalNic], server: &[ServerInterface], primary: Pair) -> Plan {
    let _ = (rules, local, server);
    Plan {
        pairs: vec![primary],
        rejects: Vec::new(),
    }
}
