//! A Samba server that is the controller of an Active Directory domain: KDC, name server, users.

use std::net::IpAddr;
use std::thread;
use std::time::{Duration, Instant};

use host::exec::Command;
use locale::say;

use super::namespace_holder::Node;
use super::samba_paths::own_folder;
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
    node.run(say("error-lab.make-domain"), &[scripts, provision])
}

/// Waits until the server can tell the numbers of the domain's users: a login fails before.
pub(crate) fn await_users(node: &Node) -> Result<(), Error> {
    let began = Instant::now();
    let ping = [Command::new(["wbinfo", "--ping"])];
    while let Err(error) = node.run(say("error-lab.await-users"), &ping) {
        if began.elapsed() > USERS_LIMIT {
            return Err(error);
        }
        thread::sleep(LOOK_INTERVAL);
    }
    Ok(())
}
