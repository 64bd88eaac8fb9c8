//! What was seen of a path before anything was measured on it, and of its hosts while it was.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HostName, MissingFact, Nanoseconds, NicLoad, Setting, ShareMount, SmbSession};

/// The path between a client and a server as it looks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PathFacts {
    /// The addresses that the server's name stands for, in the order in which they are tried, but the one
    /// first that answers.
    pub addresses: Vec<AddressRoute>,
    /// Those that are tried before it, in vain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<IpAddr>,
    /// The largest packets that pass, for each pair of NICs that was tried.
    pub mtus: Vec<MtuProof>,
    /// The other machines on the segments of the client's interfaces, as far as its kernel knew them.
    pub neighbours: Vec<NeighbourMtu>,
    /// The settings of the hosts, as far as they can be read.
    pub settings: Vec<Setting>,
    /// What was agreed with the server when somebody first knocked.
    pub session: Option<SmbSession>,
    /// The share as the client's system has it mounted, where the check was asked for its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount: Option<ShareMount>,
    /// Facts that could not be had.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingFact>,
}

/// One address of the server, seen from the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddressRoute {
    /// The address.
    pub address: IpAddr,
    /// The client's interface that the routes choose for it.
    pub nic: Option<String>,
    /// The client's address that they choose.
    pub source: Option<IpAddr>,
    /// The router on the way, where there is one.
    pub gateway: Option<IpAddr>,
}

/// What a machine on the same segment takes, which is neither the client nor the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourMtu {
    /// The client's interface on that segment.
    pub nic: String,
    /// The machine's address.
    pub address: IpAddr,
    /// The largest IP packet that it was sent: what the interface's own MTU allows.
    pub tried: u32,
    /// The largest one that it answered; none where it answers nothing.
    pub answered: Option<u32>,
}

impl NeighbourMtu {
    /// Whether it answers, and not at the size that the interface sends.
    #[must_use]
    pub fn takes_less(&self) -> bool {
        self.answered.is_some_and(|answered| answered < self.tried)
    }
}

/// What probes that no router may cut have shown of one pair of NICs. Sizes are those of whole IP
/// packets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MtuProof {
    /// The client's interface.
    pub nic: String,
    /// The server's address.
    pub remote: Option<IpAddr>,
    /// MTU of the client's interface: nothing larger was tried.
    pub near_mtu: u32,
    /// MTU of the server's interface as its TCP announces it.
    pub far_mtu: Option<u32>,
    /// The largest packet that was answered; none where not even a small one was.
    pub answered: Option<u32>,
    /// The smallest packet that had no answer, however often it was sent.
    pub unanswered: Option<u32>,
    /// Whether anybody on the way said of any of them that it is too big.
    #[serde(rename = "told")]
    pub too_big_reported: bool,
    /// Whether the answers are those of the server's TCP, because it answers no echo requests, or none
    /// of that size: then only the way there is proven.
    #[serde(rename = "one_way")]
    pub forward_only: bool,
    /// The largest packet that the server was seen to send us, where it can be asked to.
    #[serde(rename = "back")]
    pub reverse_mtu: Option<u32>,
    /// Where larger ones vanish: what the two ends counted of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vanished: Option<Vanished>,
    /// Round trip of a small packet.
    pub round_trip: Option<Nanoseconds>,
    /// How long all of it took.
    pub took: Nanoseconds,
}

impl MtuProof {
    /// What both ends would send to each other.
    #[must_use]
    pub fn wanted(&self) -> u32 {
        self.near_mtu.min(self.far_mtu.unwrap_or(u32::MAX))
    }

    /// The largest packet that passes and that both ends take; none where nothing is known. (A NIC
    /// often takes a few bytes more than it sends, so the answers alone may say too much.)
    #[must_use]
    pub fn path_mtu(&self) -> Option<u32> {
        Some(self.answered?.min(self.wanted()))
    }

    /// Whether packets that both ends would send vanish, and nobody says so.
    #[must_use]
    pub fn is_black_hole(&self) -> bool {
        // What the far end would send must be known: its NIC takes nothing larger than that anyway.
        !self.too_big_reported
            && self.far_mtu.is_some()
            && self.path_mtu().is_some_and(|most| most < self.wanted())
    }
}

/// What the two ends of a pair counted while packets were sent each way of which no answer comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Vanished {
    /// Size of these packets.
    pub size: u32,
    /// How many were sent, each way.
    pub sent: u64,
    /// How many of ours the server's system saw; none where they cannot be read there.
    #[serde(rename = "there")]
    pub seen_by_server: Option<u64>,
    /// How many of the server's our system saw; none where the server cannot be asked to send any.
    #[serde(rename = "back")]
    pub seen_by_client: Option<u64>,
    /// Packets that our NIC refused as faulty meanwhile.
    pub near_refused: Option<u64>,
    /// The same of the server's NIC.
    pub far_refused: Option<u64>,
}

impl Vanished {
    /// Whether so many packets of a count are all that were sent.
    #[must_use]
    pub fn are_all(&self, counted: Option<u64>) -> bool {
        self.sent > 0 && counted.is_some_and(|counted| counted >= self.sent)
    }

    /// Whether they were lost each way, each for itself.
    #[must_use]
    pub fn is_bidirectional(&self) -> bool {
        self.sent > 0 && self.seen_by_server == Some(0) && self.seen_by_client == Some(0)
    }
}

/// What a host had to do in some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostLoad {
    /// The host.
    pub host: HostName,
    /// How long was looked.
    pub duration: Nanoseconds,
    /// Its processors, in their order.
    pub processors: Vec<ProcessorLoad>,
    /// Segments of TCP that it sent again.
    pub resent: Option<u64>,
    /// Packets that its NICs dropped, in both directions.
    pub dropped: Option<u64>,
    /// Pause frames that its NICs saw or sent, where a driver counts them.
    pub pauses: Option<u64>,
    /// How long its processes, or those of its file server, were not allowed to run by a limit.
    pub throttled: Option<Nanoseconds>,
    /// How long processors worked for the processes of its file server, where that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Nanoseconds>,
    /// How long one or more of its programs waited for a disk and did nothing else (`some` of `/proc/pressure/io`); none
    /// where the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_waited: Option<Nanoseconds>,
    /// What passed its NICs, of all programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nics: Vec<NicLoad>,
    /// Mean clock of its processors in MHz, at the end; none where the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub megahertz: Option<u32>,
}

/// What one processor did in some time, as shares of 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessorLoad {
    /// Everything but waiting.
    pub busy: f64,
    /// Of that, work for the network that no process asked for at that moment.
    pub softirq: f64,
    /// Time that a hypervisor gave to others; no part of `busy`.
    #[serde(default)]
    pub steal: f64,
}
