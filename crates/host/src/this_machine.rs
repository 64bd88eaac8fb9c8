//! What the system reports to this very process of the machine that it runs on, where no program of it does.

use std::collections::BTreeMap;

use record::{
    BitsPerSecond, Bytes, Fingerprint, HostFacts, InterfaceAddress, LinkState, Nic, TcpFacts,
};

use crate::Host;
use crate::tool_output::windows::medium_by_number;

/// What the system reports to this very process, where the host is this machine; less than its programs would.
pub(crate) fn facts(host: &Host) -> Option<HostFacts> {
    let found = host
        .exec
        .is_this_machine()
        .then(os::machine::this)
        .flatten()?;
    Some(HostFacts {
        name: host.name.clone(),
        system: host.system,
        kernel: found.version,
        machine: found.installation.as_deref().map(Fingerprint::of),
        boot: None,
        cores: found.cores,
        memory: found.memory.map(Bytes::new),
        nics: found.nics.into_iter().map(nic).collect(),
        routes: Vec::new(),
        tcp: TcpFacts::default(),
    })
}

/// An interface as the system reports it to this very process: no driver's file, no offloads and no queues.
fn nic(found: os::machine::Nic) -> Nic {
    let bytes = |bytes: [u8; 6]| bytes.map(|byte| format!("{byte:02x}")).join(":");
    Nic {
        // Where IPv4 is not bound to it, that has none for it.
        index: match found.index {
            0 => found.index_ipv6,
            index => index,
        },
        mac: found.hardware_address.map(bytes),
        mtu: found.mtu,
        mtu_max: None,
        speed: found.bits_per_second.map(BitsPerSecond::new),
        shaped: None,
        state: match found.is_up {
            true => LinkState::Up,
            false => LinkState::Down,
        },
        driver: Some(found.description).filter(|text| !text.is_empty()),
        kind: None,
        medium: medium_by_number(found.interface_type),
        port_of: None,
        modes: None,
        addresses: (found.addresses.iter())
            .map(|found| InterfaceAddress {
                address: found.address,
                prefix: found.prefix,
            })
            .collect(),
        offloads: BTreeMap::new(),
        rx_queues: None,
        tx_queues: None,
        name: found.name,
    }
}
