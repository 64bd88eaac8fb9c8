//! What a lab consists of, as a TOML file says it and as it is meant.

mod written;

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::Path;

use record::{BitsPerSecond, Bytes};

use crate::Error;

pub(crate) use written::BRIDGE;

/// Most bytes of a topology file.
pub const FILE_BYTES_MAX: u64 = 256 << 10;
/// Most hosts in a lab. Each is a few processes and one copy of `/etc` in memory.
pub const HOSTS_MAX: usize = 16;
/// Most switches in a lab.
pub const SWITCHES_MAX: usize = 8;
/// Most links in a lab.
pub const LINKS_MAX: usize = 64;
/// Most shares of the Samba server.
pub const SHARES_MAX: usize = 16;
/// Most free parameters of the Samba server.
pub const PARAMETERS_MAX: usize = 64;
/// Longest name of a lab, host, switch or share: what fits a DNS label and a NetBIOS-free SMB name.
pub const NAME_CHARS_MAX: usize = 32;
/// Longest name of a NIC, which is the kernel's own limit.
pub const NIC_NAME_CHARS_MAX: usize = 15;
/// Smallest and largest MTU. IPv6 wants the lower one; a bridge and a veth both take the upper one.
pub const MTU_RANGE: std::ops::RangeInclusive<u32> = 1280..=65_535;
/// MTU of a link or switch that names none.
pub const MTU_DEFAULT: u32 = 1500;
/// Slowest and fastest line rate. Faster ones are better left out: the machine is the limit then.
pub const RATE_BITS_RANGE: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000_000;
/// Smallest and largest size of a share in memory.
pub const SHARE_BYTES_RANGE: std::ops::RangeInclusive<u64> = (1 << 20)..=(1 << 40);

/// A lab as it is meant: every name resolved, every limit checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    text: String,
    /// Names of the hosts.
    pub hosts: Vec<String>,
    /// The switches.
    pub switches: Vec<Switch>,
    /// The links.
    pub links: Vec<Link>,
    /// The Samba server, where there is one.
    pub samba: Option<Samba>,
}

/// A switch: it forwards what fits its MTU and drops the rest without a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// MTU of the bridge and of each port.
    pub mtu: u32,
}

/// A cable with what is plugged in at both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The two ends.
    pub ends: [End; 2],
    /// Line rate in each direction; none is as fast as the machine can.
    pub rate: Option<BitsPerSecond>,
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Name of the host or switch.
    pub node: String,
    /// Name of the interface there.
    pub nic: String,
    /// MTU it starts with.
    pub mtu: u32,
    /// Its address. A port of a switch has none.
    pub address: Option<Address>,
}

/// An address with the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// Bits of the prefix.
    pub prefix: u8,
}

/// The Samba server of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samba {
    /// The host it runs on.
    pub host: String,
    /// Whether it offers several connections per session.
    pub multichannel: bool,
    /// What it shares.
    pub shares: Vec<Share>,
    /// Free parameters of `[global]`, written last, so that they win.
    pub global: BTreeMap<String, String>,
}

/// One share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its name.
    pub name: String,
    /// What it lies on.
    pub medium: Medium,
    /// Room on it.
    pub size: Bytes,
}

/// What a share lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    /// A file system in memory, which vanishes with the lab.
    Memory,
}

impl Topology {
    /// Reads a topology file.
    ///
    /// # Errors
    /// When it cannot be read, is not a topology, or names what does not exist.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let read_error = |source| Error::ReadTopology {
            path: path.to_owned(),
            source,
        };
        let length = fs::metadata(path).map_err(read_error)?.len();
        if length > FILE_BYTES_MAX {
            return Err(read_error(std::io::Error::other(format!(
                "it is longer than {FILE_BYTES_MAX} bytes"
            ))));
        }
        let text = fs::read_to_string(path).map_err(read_error)?;
        written::parse(&text, &path.display().to_string())
    }

    /// Reads the text of a topology.
    ///
    /// # Errors
    /// When it is not a topology, or names what does not exist.
    pub fn parse(text: &str) -> Result<Self, Error> {
        written::parse(text, "topology")
    }

    /// The text it came from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The ends that are plugged into a host or switch.
    pub fn ends_of<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a End> {
        let ends = self.links.iter().flat_map(|link| link.ends.iter());
        ends.filter(move |end| end.node == node)
    }
}

impl Link {
    /// The largest packet that passes in both directions: TCP agrees on it, and so does the frame
    /// overhead that the line rate has to pay for.
    #[must_use]
    pub fn mtu(&self) -> u32 {
        self.ends[0].mtu.min(self.ends[1].mtu)
    }
}

impl Address {
    /// Whether two addresses are in the same subnet.
    fn shares_subnet_with(self, other: Self) -> bool {
        let network = |address: Self| match address.ip {
            IpAddr::V4(ip) => (4, u128::from(u32::from(ip)) << 96),
            IpAddr::V6(ip) => (6, u128::from(ip)),
        };
        let ((family, bits), (other_family, other_bits)) = (network(self), network(other));
        let differing = (bits ^ other_bits).leading_zeros();
        family == other_family && self.prefix == other.prefix && differing >= self.prefix.into()
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.ip, self.prefix)
    }
}

/// Why a name of a lab, host, switch or share is not allowed.
pub(crate) fn name_problem(name: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > NAME_CHARS_MAX {
        return Some(format!("a name has 1 to {NAME_CHARS_MAX} characters"));
    }
    let well_formed = name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(allowed);
    (!well_formed).then(|| {
        "a name consists of `a` to `z`, `0` to `9` and `-`, starts with a letter and does not end \
         with `-`"
            .to_owned()
    })
}
