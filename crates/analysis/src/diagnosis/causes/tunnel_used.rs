//! A tunnel is used though there is a direct path, or something may be lost in it.

use std::net::IpAddr;

use locale::say;
use record::{HostFacts, Medium, Nic, System};

use super::{Advice, Decider, Evidence, Finding};
use crate::diagnosis::egress_nics::{needless, sends_over, tunnel_name};

pub(in crate::diagnosis) fn find(seen: &Evidence) -> Option<Finding> {
    let sender = sends_over(seen, Medium::Tunnel)?;
    let name = tunnel_name(sender.nic);
    match needless(seen, sender) {
        Some((near, remote)) => Some(needless_tunnel(sender.host, near, remote, name)),
        None if seen.network_may_lose() => {
            let text = say("tunnel-used")
                .with("host", &sender.host.name)
                .with("tunnel", name);
            let advice = Advice::of("fix.around-tunnel");
            let decider = Decider::Hand("decide.without-tunnel");
            Some(Finding::suspected(text, decider, advice))
        }
        None => None,
    }
}

fn needless_tunnel(host: &HostFacts, near: &Nic, remote: IpAddr, tunnel: String) -> Finding {
    let text = say("tunnel-used.needless")
        .with("host", &host.name)
        .with("tunnel", &tunnel)
        .with("nic", &near.name)
        .with("remote", remote);
    let advice = say("fix.around-needless-tunnel")
        .with("remote", remote)
        .with("nic", &near.name)
        .with("tunnel", tunnel);
    let advice = Advice::new(advice).commands(route_to(host, remote));
    Finding::suspected(text, Decider::Probe, advice)
}

fn route_to(host: &HostFacts, remote: IpAddr) -> [String; 1] {
    let command = match host.system {
        System::Linux => format!("ip route get {remote}"),
        System::Macos => format!("route -n get {remote}"),
        System::Windows => format!("Find-NetRoute -RemoteIPAddress {remote}"),
    };
    [format!("{command}  # at {}", host.name)]
}
