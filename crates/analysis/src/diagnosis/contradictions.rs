//! What the two ends of a path do not agree about, found by looking alone.

use std::net::IpAddr;

use record::{
    HostFacts, HostName, InterfaceAddress, LinkState, Nic, Route, Setting, System, Target, Value,
};

use super::network::{bit_rate, is_link_local, line_bits};

/// The least ratio of two line rates that counts as different.
const FASTER: f64 = 1.5;
/// Windows has levels of it.
const AUTOTUNING: &str = "tcp.window_autotuning";
/// Settings of a host that both ends should have on, and what is lost otherwise.
const BOTH_ON: [(&str, &str, &str); 4] = [
    (
        "tcp.window_scaling",
        "on",
        "no window is larger than 64 KiB, 131 MB/s at a round trip of 0.5 ms",
    ),
    (
        AUTOTUNING,
        "on",
        "the window does not grow with the connection",
    ),
    (
        "tcp.sack",
        "on",
        "after a loss more is sent again than was lost",
    ),
    (
        "tcp.timestamps",
        "1",
        "old segments are taken for new ones when sequence numbers wrap, every 3.4 s at 10 Gbit/s",
    ),
];

/// A NIC of each of two hosts with addresses of one subnet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedLink<'a> {
    /// The NIC of the first host.
    pub near: &'a Nic,
    /// The NIC of the second host.
    pub far: &'a Nic,
}

/// Something that the two ends do not agree about, or that one end has and does not use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// A word for programs: `mtu`, `speed`, `queues`.
    pub kind: &'static str,
    /// What is so, in a sentence.
    pub text: String,
    /// What to do.
    pub hint: String,
}

/// The pairs of NICs that have a subnet in common, in the order of the first host's.
#[must_use]
pub fn shared_links<'a>(near: &'a HostFacts, far: &'a HostFacts) -> Vec<SharedLink<'a>> {
    let mut links = Vec::new();
    for one in &near.nics {
        let meets = |other: &&Nic| meet((near, one), (far, other));
        for other in far.nics.iter().filter(meets) {
            links.push(SharedLink {
                near: one,
                far: other,
            });
        }
    }
    links
}

/// Whether a NIC of one host has an address in a subnet of the other's.
fn meet(near: (&HostFacts, &Nic), far: (&HostFacts, &Nic)) -> bool {
    let has = |host: &HostFacts, address: IpAddr| host.nic_with(address).is_some();
    let global = |entry: &&InterfaceAddress| !is_link_local(entry.address);
    near.1.addresses.iter().filter(global).any(|ours| {
        // Bridges of containers and virtual machines have the same address on every host, and lead nowhere.
        far.1.addresses.iter().filter(global).any(|theirs| {
            ours.contains(theirs.address)
                && !has(far.0, ours.address)
                && !has(near.0, theirs.address)
        })
    })
}

/// What the two ends do not agree about. `settings` are those of both hosts as they were read; what
/// could not be read is not in them, and nothing is concluded from that.
#[must_use]
pub fn contradictions(
    near: &HostFacts,
    far: &HostFacts,
    settings: &[Setting],
) -> Vec<Contradiction> {
    let links = shared_links(near, far);
    let ends = Ends {
        near,
        far,
        settings,
    };
    let mut found = Vec::new();
    if links.is_empty() {
        found.push(Contradiction {
            kind: "subnet",
            text: format!("{} and {} have no subnet in common", near.name, far.name),
            hint: "between them is a router, which limits what they can do; or an address or prefix is wrong".into(),
        });
    }
    for link in &links {
        found.extend(ends.of_link(link));
    }
    for (host, own, other) in [
        (
            near,
            links.iter().map(|link| link.near).collect::<Vec<_>>(),
            far,
        ),
        (far, links.iter().map(|link| link.far).collect(), near),
    ] {
        found.extend(unused(host, &own, other));
        found.extend(routed(host, other));
    }
    found.extend(ends.of_hosts());
    found
}

struct Ends<'a> {
    near: &'a HostFacts,
    far: &'a HostFacts,
    settings: &'a [Setting],
}

impl Ends<'_> {
    fn value(&self, host: &HostName, target: &Target, id: &str) -> Option<&Value> {
        self.settings.iter().find_map(|setting| match setting {
            Setting::Knob {
                host: of,
                target: on,
                id: knob,
                value,
            } if of == host && on == target && knob.as_str() == id => Some(value),
            _ => None,
        })
    }

    /// The values of a knob at both ends of a link.
    fn both(&self, link: &SharedLink<'_>, id: &str) -> Option<(&Value, &Value)> {
        let near = Target::Nic(link.near.name.clone());
        let far = Target::Nic(link.far.name.clone());
        let near = self.value(&self.near.name, &near, id)?;
        Some((near, self.value(&self.far.name, &far, id)?))
    }

    fn of_link(&self, link: &SharedLink<'_>) -> Vec<Contradiction> {
        let ours = format!("`{}` of {}", link.near.name, self.near.name);
        let theirs = format!("`{}` of {}", link.far.name, self.far.name);
        let mut found = of_nics(link, &ours, &theirs);
        found.extend(self.of_nic_settings(link, &ours, &theirs));
        found
    }

    fn of_nic_settings(
        &self,
        link: &SharedLink<'_>,
        ours: &str,
        theirs: &str,
    ) -> Vec<Contradiction> {
        let mut found = Vec::new();
        if let Some((Value::Text(one), Value::Text(two))) = self.both(link, "nic.flow_control")
            && !self.pauses_agree(one, two)
        {
            let text =
                format!("flow control is asymmetric: `{one}` at {ours}, `{two}` at {theirs}");
            let hint =
                "set `nic.flow_control` alike: one end sends pauses that the other does not obey";
            found.push(contradiction("flow_control", text, hint));
        }
        for (id, what) in [
            ("nic.tso", "segmentation offload"),
            ("nic.tx_checksum", "checksum offload on sending"),
            ("nic.rx_checksum", "checksum offload on receiving"),
        ] {
            if let Some((Value::Switch(one), Value::Switch(two))) = self.both(link, id)
                && one != two
            {
                let off = if *one { theirs } else { ours };
                let text = format!("{what} is off at {off} only");
                let hint =
                    format!("set `{id}=on` there, unless somebody turned it off for a reason");
                found.push(contradiction("offload", text, &hint));
            }
        }
        if let Some((one, two)) = self.both(link, "nic.eee")
            && one != two
        {
            let text = format!("energy-efficient Ethernet is {one} at {ours}, {two} at {theirs}");
            let hint = "turn it off at both ends where latency counts";
            found.push(contradiction("eee", text, hint));
        }
        found
    }

    /// Drivers of Windows do not tell whether the ends agreed or it is forced; whichever it is, what
    /// they do has to fit.
    fn pauses_agree(&self, one: &str, two: &str) -> bool {
        let systems = [self.near.system, self.far.system];
        if !systems.contains(&System::Windows) {
            return pauses_agree(one, two);
        }
        let is_auto = |text: &str| text.starts_with("auto");
        is_auto(one) || is_auto(two) || pauses_agree(one, two)
    }

    fn of_hosts(&self) -> Vec<Contradiction> {
        let mut found = Vec::new();
        for (id, on, loss) in BOTH_ON {
            for host in [self.near, self.far] {
                let on = match self.value(&host.name, &Target::Host, id) {
                    Some(Value::Switch(false) | Value::Integer(0)) => on,
                    Some(Value::Text(word)) if word == "disabled" && id == AUTOTUNING => "normal",
                    _ => continue,
                };
                found.push(Contradiction {
                    kind: "tcp",
                    text: format!("`{id}` is off at {}: {loss}", host.name),
                    hint: format!("`linerate set {} {id}={on}`", host.name),
                });
            }
        }
        for (client, server) in [(self.near, self.far), (self.far, self.near)] {
            found.extend(self.multichannel(client, server));
            found.extend(self.signing(client, server));
        }
        found
    }

    /// What one host does as an SMB client, and the other as a server.
    fn both_roles(
        &self,
        client: &HostFacts,
        server: &HostFacts,
        what: &str,
    ) -> Option<(&Value, &Value)> {
        let value = |host: &HostFacts, role: &str| {
            self.value(&host.name, &Target::Host, &format!("smb.{role}.{what}"))
        };
        Some((value(client, "client")?, value(server, "server")?))
    }

    fn multichannel(&self, client: &HostFacts, server: &HostFacts) -> Option<Contradiction> {
        let (off, role) = match self.both_roles(client, server, "multichannel")? {
            (Value::Switch(true), Value::Switch(false)) => (server, "server"),
            (Value::Switch(false), Value::Switch(true)) => (client, "client"),
            _ => return None,
        };
        let (one, other) = (&client.name, &server.name);
        Some(Contradiction {
            kind: "multichannel",
            text: format!(
                "multichannel from {one} to {other} is off at {} only: a session has one connection",
                off.name
            ),
            hint: format!("`linerate set {} smb.{role}.multichannel=on`", off.name),
        })
    }

    fn signing(&self, client: &HostFacts, server: &HostFacts) -> Option<Contradiction> {
        let client_side = self.value(&client.name, &Target::Host, "smb.client.signing_required")?;
        let server_side = self.value(&server.name, &Target::Host, "smb.server.signing_required")?;
        let (here, there) = (demands(client_side)?, demands(server_side)?);
        if here == there {
            return None;
        }
        let (who, other) = match here {
            true => (&client.name, &server.name),
            false => (&server.name, &client.name),
        };
        Some(Contradiction {
            kind: "signing",
            text: format!(
                "{who} demands signing and {other} does not: all that {} asks of {} is signed",
                client.name, server.name
            ),
            hint:
                "it is a protection: keep it, and have both ends speak 3.1.1, where it costs least"
                    .into(),
        })
    }
}

fn contradiction(kind: &'static str, text: String, hint: &str) -> Contradiction {
    Contradiction {
        kind,
        text,
        hint: hint.to_owned(),
    }
}

/// What the facts of the two NICs of a link contradict each other in.
fn of_nics(link: &SharedLink<'_>, ours: &str, theirs: &str) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let (near, far) = (link.near, link.far);
    for (nic, name) in [(near, ours), (far, theirs)] {
        if nic.state == LinkState::Down {
            let hint = "plug in the cable, or look at the port at the other end";
            found.push(contradiction(
                "down",
                format!("{name} has no carrier"),
                hint,
            ));
        }
    }
    if near.mtu != far.mtu {
        let text = format!(
            "the MTU differs: {} at {ours}, {} at {theirs}",
            near.mtu, far.mtu
        );
        let hint = "set the same at both ends and at every switch between them: large frames vanish without a word";
        found.push(contradiction("mtu", text, hint));
    }
    if let (Some(one), Some(two)) = (line_bits(near), line_bits(far))
        && differ(one, two)
    {
        let text = format!(
            "the speed differs: {} at {ours}, {} at {theirs}",
            bit_rate(one),
            bit_rate(two)
        );
        let hint = "the slower one decides; look at its cable, its port, and what it has agreed on";
        found.push(contradiction("speed", text, hint));
    }
    if let (Some(one), Some(two)) = (near.rx_queues, far.rx_queues)
        && (one > 1) != (two > 1)
    {
        let text =
            format!("only one end has several receive queues: {one} at {ours}, {two} at {theirs}");
        let hint = "SMB multichannel over one NIC wants them at both ends; see `nic.channels`";
        found.push(contradiction("queues", text, hint));
    }
    found
}

/// Whether signing is demanded; `None` where the word tells nothing.
fn demands(value: &Value) -> Option<bool> {
    match value {
        Value::Switch(on) => Some(*on),
        Value::Text(word) => match word.to_ascii_lowercase().as_str() {
            "mandatory" | "required" | "force" | "forced" => Some(true),
            "default" | "auto" | "if_required" | "desired" | "disabled" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// A NIC that is up, faster than any that reaches the other host, and reaches it not.
fn unused(host: &HostFacts, used: &[&Nic], other: &HostFacts) -> Option<Contradiction> {
    let fastest = used.iter().filter_map(|nic| line_bits(nic)).max()?;
    let slow = used
        .iter()
        .find(|nic| line_bits(nic) == Some(fastest))
        .map(|nic| nic.name.as_str())?;
    let better = host.nics.iter().find(|nic| {
        let is_up = nic.state == LinkState::Up;
        let is_faster = line_bits(nic).is_some_and(|bits| bits as f64 >= fastest as f64 * FASTER);
        is_up && is_faster && used.iter().all(|known| known.index != nic.index)
    })?;
    let rate = line_bits(better).unwrap_or_default();
    Some(Contradiction {
        kind: "unused",
        text: format!(
            "`{}` of {} runs at {} and does not reach {}; `{slow}` does, at {}",
            better.name,
            host.name,
            bit_rate(rate),
            other.name,
            bit_rate(fastest)
        ),
        hint: "give both ends of the faster link addresses of one subnet of its own, and use that address".into(),
    })
}

/// Two NICs of a host in one subnet with the other host, and the route leaves by the slower one.
fn routed(host: &HostFacts, other: &HostFacts) -> Option<Contradiction> {
    other.nics.iter().find_map(|far| {
        let meets = |nic: &&Nic| meet((host, nic), (other, far));
        let own: Vec<&Nic> = host.nics.iter().filter(meets).collect();
        let fastest = own.iter().max_by_key(|nic| line_bits(nic))?;
        let chosen = far.addresses.iter().find_map(|to| chosen(host, &own, to.address))?;
        let (slow, fast) = (line_bits(chosen)?, line_bits(fastest)?);
        let text = format!(
            "what {} sends to {} leaves by `{}` at {}, and `{}` of the same subnet runs at {}",
            host.name,
            other.name,
            chosen.name,
            bit_rate(slow),
            fastest.name,
            bit_rate(fast)
        );
        (slow < fast && differ(slow, fast)).then(|| Contradiction {
            kind: "route",
            text,
            hint: "give each link a subnet of its own, or the route of the faster one the lower metric: see `route.interface_metric`".into(),
        })
    })
}

/// The one of several NICs by which a host sends to an address on their subnet: the route of the lowest
/// metric, and of several the first.
fn chosen<'a>(host: &HostFacts, nics: &[&'a Nic], to: IpAddr) -> Option<&'a Nic> {
    let leads_there = |route: &&Route| {
        let network = route
            .destination
            .split_once('/')
            .and_then(|(address, prefix)| {
                let (address, prefix) = (address.parse().ok()?, prefix.parse().ok()?);
                Some(InterfaceAddress { address, prefix })
            });
        route.gateway.is_none() && network.is_some_and(|network| network.contains(to))
    };
    let routes = host.routes.iter().filter(leads_there);
    let by_our_nics = routes.filter_map(|route| {
        let nic = nics.iter().find(|nic| nic.name == route.nic)?;
        Some((route.metric.unwrap_or(0), *nic))
    });
    by_our_nics
        .min_by_key(|(metric, _)| *metric)
        .map(|(_, nic)| nic)
}

fn differ(one: u64, two: u64) -> bool {
    one.max(two) as f64 >= one.min(two) as f64 * FASTER
}

/// Whoever sends pauses must be obeyed. Ends that agree by themselves do.
fn pauses_agree(one: &str, two: &str) -> bool {
    let ways = |text: &str| {
        let has = |way| text.split('+').any(|part| part == way);
        (has("rx"), has("tx"))
    };
    if one.starts_with("auto") || two.starts_with("auto") {
        return one.starts_with("auto") == two.starts_with("auto");
    }
    let ((obeys, sends), (other_obeys, other_sends)) = (ways(one), ways(two));
    obeys == other_sends && sends == other_obeys
}

#[cfg(test)]
mod tests;
