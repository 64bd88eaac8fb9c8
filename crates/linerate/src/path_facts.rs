//! A look at a path before anything is measured on it: addresses, routes, packets that pass, settings.

use std::net::IpAddr;

use host::exec::{Command, Output};
use measure::{MtuTarget, Stop};
use record::{
    AddressRoute, HostFacts, LinkState, MtuProof, NeighbourMtu, Nic, PathFacts, ServerInterface,
};
use serde::Deserialize;

use crate::client_to_share_path::{SharePath, addresses};
use crate::failure::CommandError;
use crate::{optional_host_facts, reverse_path_probe};

/// Addresses of a server that are looked at.
const ADDRESSES_MAX: usize = 16;
/// Pairs of NICs that are tried.
const PAIRS_MAX: usize = 16;
/// Neighbours that are asked what they take.
const NEIGHBOURS_MAX: usize = 16;

/// How often the path in use is tried where one end or the other was not heard.
const TRIES: usize = 2;

/// What `ip -j route get` says.
#[derive(Deserialize)]
struct Chosen {
    dev: Option<String>,
    prefsrc: Option<IpAddr>,
    gateway: Option<IpAddr>,
}

/// One line of `ip -j neigh show`.
#[derive(Deserialize)]
struct Known {
    dst: IpAddr,
    dev: String,
    lladdr: Option<String>,
    #[serde(default)]
    state: Vec<String>,
}

/// Looks at the path to each address of the server, and proves what passes on the one that is used: to the
/// address that is known to answer, or else to the first.
pub fn gather(
    path: &SharePath,
    facts: &[HostFacts],
    answers: Option<IpAddr>,
    stop: &Stop,
) -> Result<PathFacts, CommandError> {
    let mut observed = PathFacts {
        addresses: routes(path)?,
        ..PathFacts::default()
    };
    if let Some(answers) = answers {
        put_first(&mut observed, answers);
    }
    let first = observed.addresses.first().and_then(|route| {
        let nic = facts.first()?.nic(route.nic.as_deref()?)?;
        Some(target(nic, route.address, path))
    });
    let first: Vec<MtuTarget> = first.into_iter().collect();
    // Where a black hole is missed every session runs into it, and each is given up after half a minute.
    for _ in 0..TRIES {
        observed.mtus = prove(path, facts, &first, stop);
        if first.is_empty() || stop.is_asked() || observed.mtus.first().is_some_and(is_sure) {
            break;
        }
    }
    for (host, facts) in path.hosts().into_iter().zip(facts) {
        let (settings, missing) = optional_host_facts::settings(host, facts);
        observed.settings.extend(settings);
        observed.missing.extend(missing);
    }
    Ok(observed)
}

/// Whether a proof tells both what passes and what the far end would send.
fn is_sure(proof: &MtuProof) -> bool {
    proof.answered.is_some() && proof.far_mtu.is_some()
}

/// Whoever comes before the one that answers is tried in vain.
fn put_first(observed: &mut PathFacts, answers: IpAddr) {
    let mut tried = observed.addresses.iter();
    if let Some(place) = tried.position(|route| route.address == answers) {
        let before = observed.addresses[..place].iter();
        observed.silent = before.map(|route| route.address).collect();
        observed.addresses[..=place].rotate_right(1);
    }
}

/// Proves what passes between the other pairs of NICs, now that the server has listed its addresses.
pub fn gather_other_pairs(
    path: &SharePath,
    facts: &[HostFacts],
    listed: &[ServerInterface],
    observed: &mut PathFacts,
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
        let other = |remote: &&IpAddr| client.nic_with(**remote).is_none();
        let routed = |remote: &&IpAddr| !is_link_local(**remote);
        for remote in remotes.iter().filter(routed).filter(near).filter(other) {
            let target = target(nic, *remote, path);
            let known = observed
                .mtus
                .iter()
                .any(|proof| proof.nic == nic.name && proof.remote == Some(*remote));
            if !known && !targets.contains(&target) && targets.len() < PAIRS_MAX {
                targets.push(target);
            }
        }
    }
    observed.mtus.extend(prove(path, facts, &targets, stop));
    let mut known: Vec<IpAddr> = observed
        .addresses
        .iter()
        .map(|route| route.address)
        .collect();
    known.extend(remotes);
    observed.neighbours = neighbours(path, client, &known, &observed.mtus, stop);
}

/// Asks those on the segments of the pairs' NICs what they take, without looking for anybody whom the
/// client's kernel does not know already.
fn neighbours(
    path: &SharePath,
    client: &HostFacts,
    ends: &[IpAddr],
    proofs: &[MtuProof],
    stop: &Stop,
) -> Vec<NeighbourMtu> {
    let command = Command::new(["ip", "-j", "neigh", "show"]);
    let outputs = path.client.exec.run(&[command]).unwrap_or_default();
    let is_end = |address: IpAddr| ends.contains(&address) || client.nic_with(address).is_some();
    let targets: Vec<MtuTarget> = outputs
        .first()
        .map_or_else(Vec::new, known_neighbours)
        .into_iter()
        .filter(|(nic, address)| !is_end(*address) && proofs.iter().any(|proof| proof.nic == *nic))
        .filter_map(|(nic, remote)| {
            let mtu = client.nic(&nic)?.mtu;
            Some(MtuTarget {
                nic,
                mtu,
                remote,
                port: None,
            })
        })
        .take(NEIGHBOURS_MAX)
        .collect();
    if targets.is_empty() {
        return Vec::new();
    }
    let proofs = path.runner.prove_mtus(&targets, stop).unwrap_or_default();
    let answers = proofs.into_iter().filter_map(|proof| {
        Some(NeighbourMtu {
            nic: proof.nic,
            address: proof.remote?,
            tried: proof.near_mtu,
            answered: proof.answered,
        })
    });
    answers.collect()
}

/// The machines in the kernel's table that were heard of, each with one address on one interface.
fn known_neighbours(output: &Output) -> Vec<(String, IpAddr)> {
    let rows: Vec<serde_json::Value> = output
        .text()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let rows = rows
        .into_iter()
        .filter_map(|row| serde_json::from_value::<Known>(row).ok());
    let heard = |row: &Known| {
        let mut states = row.state.iter();
        states.any(|state| ["REACHABLE", "STALE", "DELAY"].contains(&state.as_str()))
    };
    let mut seen: Vec<(String, Option<String>)> = Vec::new();
    let mut found = Vec::new();
    for row in rows.filter(heard) {
        let machine = (row.dev.clone(), row.lladdr.clone());
        let again = row.lladdr.is_some() && seen.contains(&machine);
        if !is_link_local(row.dst) && !again {
            seen.push(machine);
            found.push((row.dev, row.dst));
        }
    }
    found
}

fn target(nic: &Nic, remote: IpAddr, path: &SharePath) -> MtuTarget {
    MtuTarget {
        nic: nic.name.clone(),
        mtu: nic.mtu,
        remote,
        port: Some(path.share.address.port),
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
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
    let known = |(index, host)| reverse_path_probe::Known {
        host,
        facts: facts.get(index),
    };
    let mut hosts = path.hosts().into_iter().enumerate().map(known);
    if let Some(client) = hosts.next().filter(|_| !stop.is_asked()) {
        // A server that did not say what it is does not answer to this either.
        let server = hosts.next().filter(|server| server.facts.is_some());
        reverse_path_probe::complete(client, server, &mut proofs);
    }
    proofs
}

/// The server's addresses and the routes that the client chooses for them.
fn routes(path: &SharePath) -> Result<Vec<AddressRoute>, CommandError> {
    let mut addresses = addresses(&path.client, &path.share.address.server)?;
    addresses.truncate(ADDRESSES_MAX);
    let commands: Vec<Command> = addresses
        .iter()
        .map(|address| Command::new(["ip", "-j", "route", "get", &address.to_string()]))
        .collect();
    let outputs = path.client.exec.run(&commands)?;
    let routes = addresses.iter().zip(&outputs);
    Ok(routes
        .map(|(&address, output)| route(address, output))
        .collect())
}

fn route(address: IpAddr, output: &Output) -> AddressRoute {
    let chosen: Option<Vec<Chosen>> = output
        .text()
        .and_then(|text| serde_json::from_str(&text).ok());
    let chosen = chosen.and_then(|mut routes| routes.pop());
    AddressRoute {
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
    fn the_address_that_answers_comes_first_and_those_before_it_are_told() {
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        let observed = |answers| {
            let silence = Output {
                status: 1,
                stdout: Vec::new(),
                stderr: Vec::new(),
            };
            let mut observed = PathFacts {
                addresses: [1, 2, 3].map(|last| route(address(last), &silence)).into(),
                ..PathFacts::default()
            };
            put_first(&mut observed, address(answers));
            let order = observed.addresses.iter().map(|route| route.address);
            (order.collect::<Vec<_>>(), observed.silent)
        };
        let said = |first: [u8; 3], silent: &[u8]| {
            let silent = silent.iter().map(|last| address(*last)).collect();
            (first.map(address).to_vec(), silent)
        };
        assert_eq!(observed(1), said([1, 2, 3], &[]));
        assert_eq!(observed(3), said([3, 1, 2], &[1, 2]));
        assert_eq!(observed(9), said([1, 2, 3], &[]));
    }

    #[test]
    fn neighbours_are_machines_that_were_heard_of_each_once() {
        let said = |text: &str| Output {
            status: 0,
            stdout: text.as_bytes().to_vec(),
            stderr: Vec::new(),
        };
        let table = r#"[
            {"dst":"10.77.1.2","dev":"lan1","lladdr":"02:00:00:00:00:02","state":["REACHABLE"]},
            {"dst":"10.77.1.3","dev":"lan1","lladdr":"02:00:00:00:00:03","state":["STALE"]},
            {"dst":"10.77.1.9","dev":"lan1","state":["FAILED"]},
            {"dst":"10.77.1.8","dev":"lan1","state":["INCOMPLETE"]},
            {"dst":"fe80::3","dev":"lan1","lladdr":"02:00:00:00:00:03","router":null,"state":["STALE"]},
            {"dst":"fd00::3","dev":"lan1","lladdr":"02:00:00:00:00:03","state":["STALE"]},
            {"dst":"fd00::4","dev":"lan1","lladdr":"02:00:00:00:00:04","state":["DELAY"]},
            {"dst":"10.77.2.3","dev":"lan2","lladdr":"02:00:00:00:00:03","state":["STALE"]},
            {"dst":"nonsense","dev":"lan1","state":["STALE"]},
            {"dst":"ff02::1","dev":"lan1","lladdr":"33:33:00:00:00:01","state":["NOARP"]}]"#;
        let found = known_neighbours(&said(table));
        let found: Vec<String> = found
            .iter()
            .map(|(nic, address)| format!("{nic} {address}"))
            .collect();
        assert_eq!(
            found,
            [
                "lan1 10.77.1.2",
                "lan1 10.77.1.3",
                "lan1 fd00::4",
                "lan2 10.77.2.3"
            ]
        );
        for nonsense in ["", "{}", "[{}]", "Object \"neigh\" is unknown"] {
            assert!(known_neighbours(&said(nonsense)).is_empty(), "{nonsense}");
        }
    }

    #[test]
    fn a_route_is_read_and_nonsense_is_no_route() {
        let address = "10.0.0.2".parse().unwrap();
        let said = |text: &str| {
            route(
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
