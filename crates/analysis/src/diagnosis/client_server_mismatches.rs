//! What the two ends of a path do not agree about, found by looking alone.

use std::net::IpAddr;

use locale::{Argument, Message, say};
use record::{
    HostFacts, HostName, InterfaceAddress, LinkState, Nic, Route, Setting, System, Target, Value,
};

use super::nic_pairs::{bit_rate, is_link_local, line_bits};

/// The least ratio of two line rates that counts as different.
const FASTER: f64 = 1.5;
/// Windows has levels of it.
const AUTOTUNING: &str = "tcp.window_autotuning";
/// Settings of a host that both ends should have on, to what, and what is said where they are off.
const BOTH_ON: [(&str, &str, &str); 4] = [
    ("tcp.window_scaling", "on", "contradiction.window-scaling"),
    (AUTOTUNING, "on", "contradiction.window-autotuning"),
    ("tcp.sack", "on", "contradiction.sack"),
    ("tcp.timestamps", "1", "contradiction.timestamps"),
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
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// A word for programs: `mtu`, `speed`, `queues`.
    pub kind: &'static str,
    /// What is so, in a sentence.
    pub text: Message,
    /// What to do.
    pub hint: Message,
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
        let text = say("contradiction.subnet")
            .with("near", &near.name)
            .with("far", &far.name);
        let hint = say("hint-contradiction.subnet");
        found.push(contradiction("subnet", text, hint));
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
        let ends = [(link.near, self.near), (link.far, self.far)].map(|(nic, host)| {
            say("contradiction.end")
                .with("nic", &nic.name)
                .with("host", &host.name)
        });
        let mut found = of_nics(link, &ends);
        found.extend(self.of_nic_settings(link, &ends));
        found
    }

    fn of_nic_settings(&self, link: &SharedLink<'_>, ends: &[Message; 2]) -> Vec<Contradiction> {
        let mut found = Vec::new();
        if let Some((Value::Text(one), Value::Text(two))) = self.both(link, "nic.flow_control")
            && !self.pauses_agree(one, two)
        {
            let text = side_by_side("contradiction.flow-control", ends, [one, two]);
            let hint = say("hint-contradiction.flow-control");
            found.push(contradiction("flow_control", text, hint));
        }
        for (id, sentence) in [
            ("nic.tso", "contradiction.tso"),
            ("nic.tx_checksum", "contradiction.tx-checksum"),
            ("nic.rx_checksum", "contradiction.rx-checksum"),
        ] {
            if let Some((Value::Switch(one), Value::Switch(two))) = self.both(link, id)
                && one != two
            {
                let [ours, theirs] = ends;
                let off = if *one { theirs } else { ours };
                let text = say(sentence).with("end", off.clone());
                let hint = say("hint-contradiction.offload").with("knob", id);
                found.push(contradiction("offload", text, hint));
            }
        }
        if let Some((one, two)) = self.both(link, "nic.eee")
            && one != two
        {
            let values = [one, two].map(ToString::to_string);
            let text = side_by_side("contradiction.eee", ends, values);
            let hint = say("hint-contradiction.eee");
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
        for (id, on, sentence) in BOTH_ON {
            for host in [self.near, self.far] {
                let on = match self.value(&host.name, &Target::Host, id) {
                    Some(Value::Switch(false) | Value::Integer(0)) => on,
                    Some(Value::Text(word)) if word == "disabled" && id == AUTOTUNING => "normal",
                    _ => continue,
                };
                let text = say(sentence).with("host", &host.name);
                let hint = hint_to_set(&host.name, id, on);
                found.push(contradiction("tcp", text, hint));
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
        let (off, knob) = match self.both_roles(client, server, "multichannel")? {
            (Value::Switch(true), Value::Switch(false)) => (server, "smb.server.multichannel"),
            (Value::Switch(false), Value::Switch(true)) => (client, "smb.client.multichannel"),
            _ => return None,
        };
        let text = say("contradiction.multichannel")
            .with("client", &client.name)
            .with("server", &server.name)
            .with("host", &off.name);
        let hint = hint_to_set(&off.name, knob, "on");
        Some(contradiction("multichannel", text, hint))
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
        let text = say("contradiction.signing")
            .with("who", who)
            .with("other", other)
            .with("client", &client.name)
            .with("server", &server.name);
        let hint = say("hint-contradiction.signing");
        Some(contradiction("signing", text, hint))
    }
}

fn contradiction(kind: &'static str, text: Message, hint: Message) -> Contradiction {
    Contradiction { kind, text, hint }
}

fn hint_to_set(host: &HostName, knob: &str, value: &str) -> Message {
    say("hint-contradiction.set")
        .with("host", host)
        .with("knob", knob)
        .with("value", value)
}

/// A sentence that names both ends of a link and what each of them has.
fn side_by_side(
    id: &'static str,
    ends: &[Message; 2],
    [one, two]: [impl Into<Argument>; 2],
) -> Message {
    let [near, far] = ends.clone();
    say(id)
        .with("near", near)
        .with("one", one)
        .with("far", far)
        .with("two", two)
}

/// What the facts of the two NICs of a link contradict each other in.
fn of_nics(link: &SharedLink<'_>, ends: &[Message; 2]) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let (near, far) = (link.near, link.far);
    for (nic, end) in [near, far].into_iter().zip(ends) {
        if nic.state == LinkState::Down {
            let text = say("contradiction.down").with("end", end.clone());
            let hint = say("hint-contradiction.down");
            found.push(contradiction("down", text, hint));
        }
    }
    let count = |number: u32| Argument::Count(number.into());
    if near.mtu != far.mtu {
        let text = side_by_side("contradiction.mtu", ends, [near.mtu, far.mtu].map(count));
        let hint = say("hint-contradiction.mtu");
        found.push(contradiction("mtu", text, hint));
    }
    if let (Some(one), Some(two)) = (line_bits(near), line_bits(far))
        && differ(one, two)
    {
        let text = side_by_side("contradiction.speed", ends, [one, two].map(bit_rate));
        let hint = say("hint-contradiction.speed");
        found.push(contradiction("speed", text, hint));
    }
    if let (Some(one), Some(two)) = (near.rx_queues, far.rx_queues)
        && (one > 1) != (two > 1)
    {
        let text = side_by_side("contradiction.queues", ends, [one, two].map(count));
        let hint = say("hint-contradiction.queues");
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
    let text = say("contradiction.unused")
        .with("fast", &better.name)
        .with("host", &host.name)
        .with("fast_rate", bit_rate(rate))
        .with("other", &other.name)
        .with("slow", slow)
        .with("slow_rate", bit_rate(fastest));
    let hint = say("hint-contradiction.unused");
    Some(contradiction("unused", text, hint))
}

/// Two NICs of a host in one subnet with the other host, and the route leaves by the slower one.
fn routed(host: &HostFacts, other: &HostFacts) -> Option<Contradiction> {
    other.nics.iter().find_map(|far| {
        let meets = |nic: &&Nic| meet((host, nic), (other, far));
        let own: Vec<&Nic> = host.nics.iter().filter(meets).collect();
        let fastest = own.iter().max_by_key(|nic| line_bits(nic))?;
        let chosen = far
            .addresses
            .iter()
            .find_map(|to| chosen(host, &own, to.address))?;
        let (slow, fast) = (line_bits(chosen)?, line_bits(fastest)?);
        (slow < fast && differ(slow, fast)).then(|| {
            let text = say("contradiction.route")
                .with("host", &host.name)
                .with("other", &other.name)
                .with("slow", &chosen.name)
                .with("slow_rate", bit_rate(slow))
                .with("fast", &fastest.name)
                .with("fast_rate", bit_rate(fast));
            contradiction("route", text, say("hint-contradiction.route"))
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
mod injected_mismatches;
