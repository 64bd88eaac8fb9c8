//! A Samba server that is the controller of an Active Directory domain: KDC, name server, users.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::thread;
use std::time::{Duration, Instant};

use host::exec::Command;

use super::node::Node;
use super::samba::own_folder;
use crate::{Domain, Error, Samba, Topology};

/// How long making the domain may take: several seconds of one processor, of which there may be
/// little.
const PROVISION_LIMIT: Duration = Duration::from_secs(240);
/// How long the numbers of its users may take after everything else answers.
const USERS_LIMIT: Duration = Duration::from_secs(20);
/// How often we ask for them.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Where a controller answers beside the file server's port: KDC, name server.
pub(crate) const PORTS: [u16; 2] = [88, 53];

/// The domain of a topology, with its server.
pub(crate) fn of(topology: &Topology) -> Option<(&Samba, &Domain)> {
    let samba = topology.samba.as_ref()?;
    Some((samba, samba.domain.as_ref()?))
}

/// Settings of `[global]` that make a server the controller.
pub(crate) fn settings(samba: &Samba, domain: &Domain) -> Vec<(&'static str, String)> {
    // Replication, dynamic names and the like would only cost processor time, and TLS seconds
    // for its keys.
    let services = "s3fs, rpc, ldap, cldap, kdc, winbindd, dns";
    let endpoints = "epmapper, samr, netlogon, lsarpc, drsuapi";
    vec![
        (
            "server role",
            "active directory domain controller".to_owned(),
        ),
        ("realm", domain.realm.clone()),
        ("workgroup", domain.netbios_name().to_owned()),
        ("netbios name", samba.host.to_ascii_uppercase()),
        ("server services", services.to_owned()),
        ("dcerpc endpoint servers", endpoints.to_owned()),
        ("tls enabled", "no".to_owned()),
    ]
}

/// The shares that every controller must have.
pub(crate) fn shares(domain: &Domain) -> String {
    let sysvol = sysvol();
    let scripts = scripts(domain);
    format!(
        "\n[sysvol]\npath = {sysvol}\nread only = no\n\n[netlogon]\npath = {scripts}\nread only = no\n"
    )
}

fn sysvol() -> String {
    format!("{}/sysvol", own_folder("state directory"))
}

fn scripts(domain: &Domain) -> String {
    format!("{}/{}/scripts", sysvol(), domain.dns_name())
}

/// Makes the domain. The folders of the configuration are there; the administrator's password is
/// random and known to nobody.
pub(crate) fn provision(
    topology: &Topology,
    domain: &Domain,
    node: &Node,
    configuration: &str,
) -> Result<(), Error> {
    let mut words = vec![
        "samba-tool".to_owned(),
        "domain".to_owned(),
        "provision".to_owned(),
        format!("--configfile={configuration}"),
        format!("--realm={}", domain.realm),
        format!("--domain={}", domain.netbios_name()),
        format!("--host-name={}", node.name),
        "--server-role=dc".to_owned(),
        "--dns-backend=SAMBA_INTERNAL".to_owned(),
        "--quiet".to_owned(),
    ];
    let ends = topology.ends_of(&node.name);
    let addresses: Vec<IpAddr> = ends.filter_map(|end| Some(end.address?.ip)).collect();
    let v4 = addresses.iter().find(|address| address.is_ipv4());
    let v6 = addresses.iter().find(|address| address.is_ipv6());
    words.extend(v4.map(|address| format!("--host-ip={address}")));
    words.extend(v6.map(|address| format!("--host-ip6={address}")));
    let scripts = Command::new(["mkdir", "-p", &scripts(domain)]);
    let provision = Command::new(words).with_timeout(PROVISION_LIMIT);
    node.run("make the domain on", &[scripts, provision])
}

/// Waits until the server can tell the numbers of the domain's users: a login fails before.
pub(crate) fn await_users(node: &Node) -> Result<(), Error> {
    let began = Instant::now();
    let ping = [Command::new(["wbinfo", "--ping"])];
    while let Err(error) = node.run("wait for the users of the domain on", &ping) {
        if began.elapsed() > USERS_LIMIT {
            return Err(error);
        }
        thread::sleep(LOOK_INTERVAL);
    }
    Ok(())
}

/// What a host of the lab has to know of the domain: its files in `/etc` with their texts.
pub(crate) fn files(topology: &Topology, host: &str) -> Vec<(&'static str, String)> {
    let Some((samba, domain)) = of(topology) else {
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
