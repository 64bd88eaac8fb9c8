//! The network interfaces of this machine.

use std::net::IpAddr;

use locale::say;
use os::network::interface_addresses;
use smb_proto::multichannel_plan::{LocalAddress, LocalNic};

use super::system;
use crate::error::Error;

/// This machine's interfaces that are up, without the loopback, as
/// [`Session::add_channels`](crate::Session::add_channels) takes them.
///
/// # Errors
/// When the system does not tell.
pub fn local_nics() -> Result<Vec<LocalNic>, Error> {
    let addresses = interface_addresses()
        .map_err(|source| system(say("error-smb.cannot-list-nics"), source))?;
    let mut nics: Vec<LocalNic> = Vec::new();
    for found in addresses {
        let address = LocalAddress {
            address: found.address,
            prefix_length: found.prefix,
        };
        match nics.iter_mut().find(|nic| nic.name == found.nic) {
            Some(nic) => nic.addresses.push(address),
            None => nics.push(LocalNic {
                name: found.nic,
                addresses: vec![address],
                speed_bits_per_second: found.bits_per_second,
                rss: found.queues.is_some_and(|queues| queues > 1),
            }),
        }
    }
    Ok(nics)
}

/// The interface an address belongs to, where the system tells.
pub(super) fn nic_of(address: IpAddr) -> Option<String> {
    let addresses = interface_addresses().ok()?;
    addresses
        .into_iter()
        .find(|found| found.address == address)
        .map(|found| found.nic)
}
