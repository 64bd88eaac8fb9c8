//! A look at a path before anything is measured on it: addresses, routes, packets that pass, settings.

use std::net::IpAddr;

use host::Host;
use host::exec::{Command, Output};
use measure::{MtuTarget, Stop};
use record::{AddressLook, HostFacts, LinkState, MtuProof, Nic, PathLook, ServerInterface};
use serde::Deserialize;

use crate::failure::CommandError;
use crate::inspect;
use crate::path::{SharePath, addresses};

/// Addresses of a server that are looked at.
const ADDRESSES_MAX: usize = 16;
/// Pairs of NICs that are tried.
const PAIRS_MAX: usize = 16;
/// Bytes of an IP packet that are no payload of an echo request.
const ECHO_HEADER_BYTES: u32 = 28;

/// What `ip -j route get` says.
#[derive(Deserialize)]
struct Chosen {
    dev: Option<String>,
    prefsrc: Option<IpAddr>,
    gateway: Option<IpAddr>,
}

/// Looks at the way to each address of the server, and proves what passes on the way that is used.
pub fn at_path(
    path: &SharePath,
    facts: &[HostFacts],
    stop: &Stop,
) -> Result<PathLook, CommandError> {
    let addresses = ways(path)?;
    let mut look = PathLook {
        addresses,
        ..PathLook::default()
    };
    let first = look.addresses.first().and_then(|way| {
        let nic = nic_named(facts.first()?, way.nic.as_deref()?)?;
        Some(target(nic, way.address, path))
    });
    look.mtus = prove(path, facts, &first.into_iter().collect::<Vec<_>>(), stop);
    for (host, facts) in path.hosts().into_iter().zip(facts) {
        look.settings.extend(inspect::settings_of(host, facts)?);
    }
    Ok(look)
}

/// Proves what passes between the other pairs of NICs, now that the server has told its addresses.
pub fn at_other_pairs(
    path: &SharePath,
    facts: &[HostFacts],
    listed: &[ServerInterface],
    look: &mut PathLook,
    stop: &Stop,
) {
    let Some(client) = facts.first() else { return };
    let mut remotes: Vec<IpAddr> = listed.iter().map(|entry| entry.address).collect();
    if let Some(server) = facts.get(1) {
        let up = server
            .nics
            .iter()
            .filter(|nic| nic.state != LinkState::Down);
        remotes.extend(up.flat_map(|nic| nic.addresses.iter().map(|entry| entry.address)));
    }
    let mut targets: Vec<MtuTarget> = Vec::new();
    for nic in client
        .nics
        .iter()
        .filter(|nic| nic.state != LinkState::Down)
    {
        let near = |remote: &&IpAddr| nic.addresses.iter().any(|entry| entry.contains(**remote));
        let other = |remote: &&IpAddr| !has_address(client, **remote);
        let routed = |remote: &&IpAddr| !is_link_local(**remote);
        for remote in remotes.iter().filter(routed).filter(near).filter(other) {
            let target = target(nic, *remote, path);
            let known = look
                .mtus
                .iter()
                .any(|proof| proof.nic == nic.name && proof.remote == Some(*remote));
            if !known && !targets.contains(&target) && targets.len() < PAIRS_MAX {
                targets.push(target);
            }
        }
    }
    look.mtus.extend(prove(path, facts, &targets, stop));
}

fn target(nic: &Nic, remote: IpAddr, path: &SharePath) -> MtuTarget {
    MtuTarget {
        nic: nic.name.clone(),
        mtu: nic.mtu,
        remote,
        port: path.share.address.port,
    }
}

fn nic_named<'a>(host: &'a HostFacts, name: &str) -> Option<&'a Nic> {
    host.nics.iter().find(|nic| nic.name == name)
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn has_address(host: &HostFacts, address: IpAddr) -> bool {
    let mut addresses = host.nics.iter().flat_map(|nic| &nic.addresses);
    addresses.any(|entry| entry.address == address)
}

/// A check goes on without the proof: what could not be proven is not in it.
fn prove(
    path: &SharePath,
    facts: &[HostFacts],
    targets: &[MtuTarget],
    stop: &Stop,
) -> Vec<MtuProof> {
    if targets.is_empty() {
        return Vec::new();
    }
    let mut proofs = path.runner.prove_mtus(targets, stop).unwrap_or_default();
    if let (Some(server), Some(client)) = (&path.server, facts.first()) {
        for proof in &mut proofs {
            proof.back = back(server, client, proof);
        }
    }
    proofs
}

/// Has the server send a packet of the size that passed on the way there.
fn back(server: &Host, client: &HostFacts, proof: &MtuProof) -> Option<u32> {
    let size = proof.path_mtu()?;
    let remote = proof.remote.filter(IpAddr::is_ipv4)?;
    let nic = nic_named(client, &proof.nic)?;
    let ours = nic.addresses.iter().find(|entry| entry.contains(remote))?;
    let payload = size.checked_sub(ECHO_HEADER_BYTES)?.to_string();
    let (from, to) = (remote.to_string(), ours.address.to_string());
    let ping = [
        "ping", "-n", "-q", "-c", "2", "-i", "0.2", "-W", "1", "-M", "do", "-s", &payload, "-I",
        &from, &to,
    ];
    let outputs = server.exec.run(&[Command::new(ping)]).ok()?;
    (outputs.first()?.status == 0).then_some(size)
}

/// The server's addresses and the routes that the client chooses for them.
fn ways(path: &SharePath) -> Result<Vec<AddressLook>, CommandError> {
    let mut addresses = addresses(&path.client, &path.share.address.server)?;
    addresses.truncate(ADDRESSES_MAX);
    let commands: Vec<Command> = addresses
        .iter()
        .map(|address| Command::new(["ip", "-j", "route", "get", &address.to_string()]))
        .collect();
    let outputs = path.client.exec.run(&commands)?;
    let ways = addresses.iter().zip(&outputs);
    Ok(ways
        .map(|(&address, output)| way(address, output))
        .collect())
}

fn way(address: IpAddr, output: &Output) -> AddressLook {
    let chosen: Option<Vec<Chosen>> = output
        .text()
        .and_then(|text| serde_json::from_str(&text).ok());
    let chosen = chosen.and_then(|mut routes| routes.pop());
    AddressLook {
        address,
        nic: chosen.as_ref().and_then(|chosen| chosen.dev.clone()),
        source: chosen.as_ref().and_then(|chosen| chosen.prefsrc),
        gateway: chosen.and_then(|chosen| chosen.gateway),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_read_and_nonsense_is_no_route() {
        let address = "10.0.0.2".parse().unwrap();
        let said = |text: &str| {
            way(
                address,
                &Output {
                    status: 0,
                    stdout: text.as_bytes().to_vec(),
                    stderr: Vec::new(),
                },
            )
        };
        let found = said(
            r#"[{"dst":"10.0.0.2","gateway":"10.9.9.1","dev":"eth0","prefsrc":"10.9.9.7","flags":[],"uid":0,"cache":[]}]"#,
        );
        assert_eq!(found.nic.as_deref(), Some("eth0"));
        assert_eq!(found.source, Some("10.9.9.7".parse().unwrap()));
        assert_eq!(found.gateway, Some("10.9.9.1".parse().unwrap()));
        for nonsense in ["", "[]", "{}", "RTNETLINK answers: Network is unreachable"] {
            assert_eq!(said(nonsense).nic, None, "{nonsense}");
        }
    }
}
