//! What this machine is, as its system reports it without starting another one.

use std::net::IpAddr;

#[cfg_attr(windows, path = "windows.rs")]
#[cfg_attr(not(windows), path = "not_windows.rs")]
mod imp;

/// This machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The system's version, as `10.0.22631`.
    pub version: String,
    /// Processors that run now.
    pub cores: u32,
    /// Memory in bytes, where it is known.
    pub memory: Option<u64>,
    /// Which installation it is, where it is known.
    pub installation: Option<String>,
    /// Its interfaces without the loopback, up or not.
    pub nics: Vec<Nic>,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nic {
    /// The name that people see.
    pub name: String,
    /// What its driver calls it.
    pub description: String,
    /// Its number, by which routes and PowerShell know it.
    pub index: u32,
    /// The same for IPv6.
    pub index_ipv6: u32,
    /// Its hardware address, where it has one.
    pub hardware_address: Option<[u8; 6]>,
    /// Largest IP packet in bytes.
    pub mtu: u32,
    /// Whether packets can leave by it.
    pub is_up: bool,
    /// Line rate in bits per second, where its driver says one.
    pub bits_per_second: Option<u64>,
    /// What it is, by the number of the IANA (`ifType`).
    pub interface_type: u32,
    /// Its addresses.
    pub addresses: Vec<AddressAndPrefix>,
}

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressAndPrefix {
    /// The address.
    pub address: IpAddr,
    /// Bits of its prefix.
    pub prefix: u8,
}

/// What the system itself keeps in a file of an absolute path of POSIX, as `proc(5)` does; none where it has no such paths, for
/// there any user might make them.
#[must_use]
pub fn system_file(path: &str) -> Option<String> {
    let text = || std::fs::read_to_string(path).ok();
    crate::HAS_POSIX_FILES.then(text).flatten()
}

/// The language in which the system speaks to this user, as `ja-JP`; none where variables of the environment say it.
#[must_use]
pub fn language() -> Option<String> {
    imp::language()
}

/// This machine; none on systems whose programs tell more, and where it cannot be known.
#[must_use]
pub fn this() -> Option<Machine> {
    imp::this()
}
