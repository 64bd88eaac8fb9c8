//! What a host of a lab has to know of the lab's domain: where its KDC and its name server are.

use std::fmt::Write as _;
use std::net::IpAddr;

use crate::Topology;

/// What a host of the lab has to know of the domain: its files in `/etc` with their texts.
pub(crate) fn files(topology: &Topology, host: &str) -> Vec<(&'static str, String)> {
    let Some((samba, domain)) = topology.domain() else {
        return Vec::new();
    };
    let (realm, name) = (&domain.realm, domain.dns_name());
    let kerberos = format!(
        "[libdefaults]\n\tdefault_realm = {realm}\n\n[realms]\n\t{realm} = {{\n\t\tkdc = {}.{name}\n\t}}\n",
        samba.host
    );
    let mut resolver = format!("search {name}\n");
    if let Some(server) = controller_for(topology, &samba.host, host) {
        // Writing to a string cannot fail.
        writeln!(resolver, "nameserver {server}").ok();
    }
    vec![("/etc/krb5.conf", kerberos), ("/etc/resolv.conf", resolver)]
}

/// The address of the controller in a network of this host; its first one where it has none.
fn controller_for(topology: &Topology, controller: &str, host: &str) -> Option<IpAddr> {
    let theirs = || topology.ends_of(controller).filter_map(|end| end.address);
    let near = theirs().find(|&their| {
        let mut ours = topology.ends_of(host).filter_map(|end| end.address);
        ours.any(|our| our.shares_subnet_with(their))
    });
    near.or_else(|| theirs().next()).map(|address| address.ip)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_host_finds_the_controller_in_its_own_network() {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/domain.toml");
        let topology = Topology::read(&example).unwrap();
        let files = files(&topology, "client");
        let (_, kerberos) = &files[0];
        assert!(kerberos.contains("LAB.EXAMPLE = {\n\t\tkdc = dc.lab.example\n"));
        assert_eq!(files[1].1, "search lab.example\nnameserver 10.78.1.2\n");
        let of = |host| controller_for(&topology, "dc", host).map(|address| address.to_string());
        assert_eq!(of("dc").as_deref(), Some("10.78.1.2"));
        assert_eq!(of("stranger").as_deref(), Some("10.78.1.2"));
    }
}
