//! What was seen on a host. A fact that could not be read is `None`, never a guess.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{BitsPerSecond, Bytes, HostName};

/// The kind of operating system a host runs; run-time data, never a `cfg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum System {
    /// Any Linux.
    Linux,
    /// Windows 10, Server 2016 or newer.
    Windows,
    /// macOS 12 or newer.
    Macos,
}

/// Tells whether two ids of a machine are the same without holding them: other programs know a machine
/// by the id of `/etc/machine-id` too, and who reads a run file must not find it there. The same id gives
/// the same fingerprint in every run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Fingerprint(String);

impl Fingerprint {
    /// What BLAKE3 derives its key from, so that no other program comes to the same hash.
    const CONTEXT: &str = "linerate 2026-11-24 ids of machines in run files";
    const MARK: &str = "blake3:";
    /// Half of the hash: nothing is proven with it, it only has to be another one for another machine.
    const BYTES: usize = 16;

    /// The fingerprint of `/etc/machine-id`, of the id of a boot, or of their equivalents.
    #[must_use]
    pub fn of(id: &str) -> Self {
        let hash = blake3::derive_key(Self::CONTEXT, id.as_bytes());
        let digits = hash[..Self::BYTES].iter();
        let digits: String = digits.map(|byte| format!("{byte:02x}")).collect();
        Self(format!("{}{digits}", Self::MARK))
    }
}

/// Older files hold the id itself.
impl From<String> for Fingerprint {
    fn from(written: String) -> Self {
        let digits = written.strip_prefix(Self::MARK).unwrap_or_default();
        let is_one = digits.len() == 2 * Self::BYTES
            && digits
                .bytes()
                .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        match is_one {
            true => Self(written),
            false => Self::of(&written),
        }
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.0
    }
}

/// Everything `linerate` looks at on one host, at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// The host as the user named it: `local`, `lab://demo/client`.
    pub name: HostName,
    /// Its operating system.
    pub system: System,
    /// Kernel release, as `uname -r` prints it.
    pub kernel: String,
    /// Which installation this is.
    #[serde(alias = "machine_id")]
    pub machine: Option<Fingerprint>,
    /// Which boot of it this is.
    #[serde(alias = "boot_id")]
    pub boot: Option<Fingerprint>,
    /// Logical processors that are online.
    pub cores: u32,
    /// Memory installed.
    pub memory: Option<Bytes>,
    /// Network interfaces without the loopback, in the order of their index.
    pub nics: Vec<Nic>,
    /// IPv4 and IPv6 routes of the main table.
    pub routes: Vec<Route>,
    /// Settings and limits of TCP.
    pub tcp: TcpFacts,
}

/// Whether a link has a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    /// Up, with a carrier.
    Up,
    /// Down, or up without a carrier.
    Down,
    /// The driver does not say.
    Unknown,
}

/// What carries the packets of a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// A line of its own.
    Cable,
    /// Wi-Fi.
    Wireless,
    /// Packets of another interface: a VPN, or another tunnel.
    Tunnel,
    /// The other ports of a bridge.
    Bridge,
}

/// One network interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nic {
    /// Interface name.
    pub name: String,
    /// Interface index.
    pub index: u32,
    /// Hardware address, six bytes in hexadecimal with colons.
    pub mac: Option<String>,
    /// Largest IP packet in bytes.
    pub mtu: u32,
    /// Largest MTU the driver takes, where it says so.
    pub mtu_max: Option<u32>,
    /// Line rate the driver reports. Virtual NICs report inventions, see `shaped`.
    pub speed: Option<BitsPerSecond>,
    /// Rate of a shaper (`htb`, `tbf`) on the NIC's way out, in bits per second of frames without
    /// preamble, FCS and gap. It, not `speed`, is the ceiling where it is lower.
    pub shaped: Option<BitsPerSecond>,
    /// Whether there is a carrier.
    pub state: LinkState,
    /// Kernel driver.
    pub driver: Option<String>,
    /// Kind of a virtual link as `ip` names it (`veth`, `bridge`, `vlan`).
    pub kind: Option<String>,
    /// What carries its packets, as far as the system tells. A virtual machine's NIC is a cable to it.
    pub medium: Option<Medium>,
    /// The bridge or bond that it is a port of.
    pub port_of: Option<String>,
    /// What it and the other end of its cable offer; none where that was not read, empty where its driver says that
    /// it negotiates nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<LinkModes>,
    /// Addresses.
    pub addresses: Vec<InterfaceAddress>,
    /// Offloads by ethtool's long name (`tcp-segmentation-offload`).
    pub offloads: BTreeMap<String, Offload>,
    /// Receive queues in use. More than one is what others call capable of RSS.
    pub rx_queues: Option<u32>,
    /// Transmit queues in use.
    pub tx_queues: Option<u32>,
}

/// Rates that the two ends of a cable offer to each other (IEEE 802.3 clause 28, `ethtool`'s link modes), each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkModes {
    /// What the NIC can.
    pub own: Vec<BitsPerSecond>,
    /// What the other end says that it can; empty where it does not say.
    pub partner: Vec<BitsPerSecond>,
}

/// An address with the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceAddress {
    /// The address.
    pub address: IpAddr,
    /// Bits of the prefix, 0 to 32 or 128.
    pub prefix: u8,
}

impl HostFacts {
    /// The NIC of this name.
    #[must_use]
    pub fn nic(&self, name: &str) -> Option<&Nic> {
        self.nics.iter().find(|nic| nic.name == name)
    }

    /// The NIC that has this address.
    #[must_use]
    pub fn nic_with(&self, address: IpAddr) -> Option<&Nic> {
        self.nics.iter().find(|nic| nic.has(address))
    }
}

impl Nic {
    /// Whether it has this address.
    #[must_use]
    pub fn has(&self, address: IpAddr) -> bool {
        let mut own = self.addresses.iter();
        own.any(|entry| entry.address.to_canonical() == address.to_canonical())
    }
}

impl InterfaceAddress {
    /// Whether another address is in the subnet of this one. A prefix of 0 is no subnet, and one of
    /// all bits has nobody else in it.
    #[must_use]
    pub fn contains(&self, other: IpAddr) -> bool {
        let (ours, theirs, bits) = match (self.address.to_canonical(), other.to_canonical()) {
            (IpAddr::V4(one), IpAddr::V4(two)) => {
                (u32::from(one).into(), u32::from(two).into(), 32)
            }
            (IpAddr::V6(one), IpAddr::V6(two)) => (u128::from(one), u128::from(two), 128),
            _ => return false,
        };
        match bits - i32::from(self.prefix) {
            left if left <= 0 || left >= bits => false,
            left => ours >> left == theirs >> left,
        }
    }
}

/// One offload of a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offload {
    /// Whether it is on.
    pub on: bool,
    /// Whether the driver refuses to change it.
    pub fixed: bool,
}

/// One route of the main table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// `default`, or a network as `10.77.1.0/24`.
    pub destination: String,
    /// The next hop, where there is one.
    pub gateway: Option<IpAddr>,
    /// The interface it leaves by.
    pub nic: String,
    /// Preferred source address.
    pub source: Option<IpAddr>,
    /// Metric; the lower one wins.
    pub metric: Option<u32>,
}

/// Settings of TCP that decide how fast one stream can be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpFacts {
    /// Congestion control of new connections.
    pub congestion_control: Option<String>,
    /// The ones that can be chosen now.
    pub congestion_control_available: Vec<String>,
    /// Receive buffer: smallest, first, largest, in bytes.
    pub receive_buffer: Option<[u64; 3]>,
    /// Send buffer: smallest, first, largest, in bytes.
    pub send_buffer: Option<[u64; 3]>,
    /// Whether window scaling is on.
    pub window_scaling: Option<bool>,
    /// Whether timestamps are on.
    pub timestamps: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As files had it before a NIC told what carries its packets.
    #[test]
    fn an_older_nic_is_read() {
        let text = r#"{"name":"wlan0","index":3,"mac":null,"mtu":1500,"mtu_max":null,"speed":null,
            "shaped":null,"state":"up","driver":"iwlwifi","kind":null,"addresses":[],"offloads":{},
            "rx_queues":1,"tx_queues":1}"#;
        let nic: Nic = serde_json::from_str(text).expect("a NIC of an older file");
        assert_eq!((nic.medium, nic.port_of), (None, None));
    }

    #[test]
    fn a_fingerprint_is_the_same_in_every_run_and_does_not_hold_the_id() {
        let id = "4c4c4544004d3510805ab7c04f4e3032";
        let written = serde_json::to_string(&Fingerprint::of(id)).expect("a string");
        assert_eq!(written, r#""blake3:7e7f68b3b0b434b4b6f91a8b8d58d4b6""#);
        let read: Fingerprint = serde_json::from_str(&written).expect("as it was written");
        assert_eq!(read, Fingerprint::of(id));
        assert_ne!(read, Fingerprint::of("another"));
    }

    #[test]
    fn an_older_file_with_the_id_itself_is_read_as_the_same_machine() {
        let text = r#"{"name":"local","system":"linux","kernel":"6.1","machine_id":"one",
            "boot_id":"two","cores":1,"memory":null,"nics":[],"routes":[],"tcp":{
            "congestion_control":null,"congestion_control_available":[],"receive_buffer":null,
            "send_buffer":null,"window_scaling":null,"timestamps":null}}"#;
        let facts: HostFacts = serde_json::from_str(text).expect("facts of an older file");
        assert_eq!(facts.machine, Some(Fingerprint::of("one")));
        assert_eq!(facts.boot, Some(Fingerprint::of("two")));
        let written = serde_json::to_string(&facts).expect("JSON");
        assert!(
            !written.contains("machine_id") && !written.contains("\"one\""),
            "{written}"
        );
        assert!(
            !written.contains("boot_id") && !written.contains("\"two\""),
            "{written}"
        );
    }

    #[test]
    fn subnets() {
        let shares = |ours: &str, prefix: u8, theirs: &str| {
            let address = ours.parse().expect("an address");
            let ours = InterfaceAddress { address, prefix };
            ours.contains(theirs.parse().expect("an address"))
        };
        assert!(shares("10.77.1.1", 24, "10.77.1.2"));
        assert!(!shares("10.77.1.1", 24, "10.77.2.2"));
        assert!(shares("fd00::1", 64, "fd00::2"));
        assert!(!shares("fd00::1", 64, "fd00:0:0:1::2"));
        assert!(!shares("10.77.1.1", 0, "10.77.1.2"));
        assert!(!shares("10.77.1.1", 32, "10.77.1.1"));
        assert!(!shares("10.77.1.1", 200, "10.77.1.2"));
        assert!(!shares("10.77.1.1", 24, "fd00::2"));
    }
}
