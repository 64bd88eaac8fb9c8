//! Two NICs of one host in a subnet that both hosts are in: the routes send all by one of them.

use std::net::IpAddr;

use locale::say;
use record::{HostFacts, InterfaceAddress, LinkState, Medium, Nic, Rung};

use super::{Advice, DIRECTIONS, Decider, Evidence, Finding};
use crate::diagnosis::nic_pairs::{in_subnet, is_link_local};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let current = seen.used.first()?;
    let used = seen.used.iter().map(|pair| pair.remote);
    // An IPv6 prefix that all NICs have in common says nothing of what sends by IPv4.
    let others = seen.network.near_remotes().into_iter();
    let others = others.filter(|other| other.is_ipv4() == current.remote.is_ipv4());
    // Our one NIC in their subnet has no use for both of the server's, if it is full.
    let mut directions = DIRECTIONS.into_iter();
    let fills = directions.all(|direction| seen.fills_in(direction));
    let is_full = |remote| {
        let mut ours = current.near.addresses.iter();
        fills && (remote == current.remote || ours.any(|entry| entry.contains(remote)))
    };
    let (host, one, other, remote) = used.chain(others).find_map(|remote| {
        let at_server = || twins_at_server(seen, remote).filter(|_| !is_full(remote));
        twins_at_client(seen, remote).or_else(at_server)
    })?;
    let is_client = |client: &HostFacts| client.name == host.name;
    let sender = seen
        .path
        .and_then(|path| path.addresses.first())
        .filter(|path| path.address == remote)
        .and_then(|path| path.nic.clone())
        .filter(|_| seen.network.client.is_some_and(is_client));
    let text = say("two-nics-one-subnet")
        .with("one", &one.name)
        .with("other", &other.name)
        .with("host", &host.name);
    let text = match sender {
        Some(nic) => text.with("sender", say("sends-by").with("nic", nic)),
        None => text,
    };
    let advice = say("fix.own-subnets")
        .with("other", &other.name)
        .with("one", &one.name);
    let advice = Advice::new(advice);
    Some(match shares_a_nic(seen) {
        true => Finding::counted(text, advice).of_channels(),
        false => Finding::suspected(text, Decider::Hand("decide.two-sessions"), advice).off_path(),
    })
}

/// Whether two channels from different addresses were counted on one NIC.
fn shares_a_nic(seen: &Evidence) -> bool {
    let trials = seen.trials.iter();
    let mut trials = trials.filter(|trial| trial.rung == Rung::Channels);
    trials.any(|trial| {
        let locals: Vec<IpAddr> = trial
            .result
            .connections
            .iter()
            .map(|one| one.local.ip().to_canonical())
            .collect();
        let loads = trial.record.loads.iter().take(1);
        let busy = loads.flat_map(|load| &load.nics).filter(|load| {
            let moved = load.received.get().max(load.sent.get());
            moved as f64 * 10.0 > trial.result.bytes().get() as f64
        });
        locals.iter().any(|one| Some(one) != locals.first()) && busy.count() == 1
    })
}

/// A host, two NICs of it, and the address of the server in whose subnet both are.
type Twins<'a> = (&'a HostFacts, &'a Nic, &'a Nic, IpAddr);

fn twins_at_client<'a>(seen: &Evidence<'a>, remote: IpAddr) -> Option<Twins<'a>> {
    let client = seen.network.client?;
    let leads = |nic: &&Nic| in_subnet(nic, remote);
    let used = seen.used.iter().find(|pair| pair.remote == remote);
    let up = |nic: &&Nic| nic.state != LinkState::Down;
    let nic = match used {
        Some(pair) => pair.near,
        None => client.nics.iter().filter(up).find(leads)?,
    };
    // Behind a router any of its networks may be the one that leads there.
    let is_routed = !leads(&nic);
    let twin = twin(client, nic, |entry| match is_routed {
        true => entry.address.is_ipv4() == remote.is_ipv4(),
        false => entry.contains(remote),
    })?;
    Some((client, nic, twin, remote))
}

fn twins_at_server<'a>(seen: &Evidence<'a>, remote: IpAddr) -> Option<Twins<'a>> {
    let server = seen.network.server?;
    let is_it = |entry: &InterfaceAddress| entry.address.to_canonical() == remote;
    let mut nics = server.nics.iter();
    let nic = nics.find(|nic| nic.addresses.iter().any(is_it))?;
    let twin = twin(server, nic, is_it)?;
    Some((server, nic, twin, remote))
}

/// Another NIC of a host in the same subnet as one of these addresses of a NIC.
fn twin<'a>(
    host: &'a HostFacts,
    nic: &Nic,
    is_meant: impl Fn(&InterfaceAddress) -> bool,
) -> Option<&'a Nic> {
    let global = |entry: &&InterfaceAddress| !is_link_local(entry.address);
    let is_wireless = |nic: &Nic| nic.medium == Some(Medium::Wireless);
    let ours = nic.addresses.iter().filter(global);
    let ours: Vec<&InterfaceAddress> = ours.filter(|entry| is_meant(entry)).collect();
    host.nics.iter().find(|other| {
        let is_bridge_port = nic.mac.is_some() && nic.mac == other.mac;
        let mut theirs = other.addresses.iter().filter(global);
        // Wi-Fi and a cable are another matter: the routes are meant to choose.
        other.index != nic.index
            && other.state != LinkState::Down
            && !is_bridge_port
            && !is_wireless(nic)
            && !is_wireless(other)
            && theirs.any(|entry| ours.iter().any(|own| own.contains(entry.address)))
    })
}
