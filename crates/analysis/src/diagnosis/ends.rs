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
        let mut found = Vec::new();
        let (near, far) = (link.near, link.far);
        let ours = format!("`{}` of {}", near.name, self.near.name);
        let theirs = format!("`{}` of {}", far.name, self.far.name);
        let mut say = |kind, text: String, hint: &str| {
            found.push(Contradiction {
                kind,
                text,
                hint: hint.to_owned(),
            });
        };
        for (nic, name) in [(near, &ours), (far, &theirs)] {
            if nic.state == LinkState::Down {
                let hint = "plug in the cable, or look at the port at the other end";
                say("down", format!("{name} has no carrier"), hint);
            }
        }
        if near.mtu != far.mtu {
            let text = format!(
                "the MTU differs: {} at {ours}, {} at {theirs}",
                near.mtu, far.mtu
            );
            let hint = "set the same at both ends and at every switch between them: large frames vanish without a word";
            say("mtu", text, hint);
        }
        if let (Some(one), Some(two)) = (line_bits(near), line_bits(far))
            && differ(one, two)
        {
            let text = format!(
                "the speed differs: {} at {ours}, {} at {theirs}",
                bit_rate(one),
                bit_rate(two)
            );
            let hint =
                "the slower one decides; look at its cable, its port, and what it has agreed on";
            say("speed", text, hint);
        }
        if let (Some(one), Some(two)) = (near.rx_queues, far.rx_queues)
            && (one > 1) != (two > 1)
        {
            let text = format!(
                "only one end has several receive queues: {one} at {ours}, {two} at {theirs}"
            );
            let hint = "SMB multichannel over one NIC wants them at both ends; see `nic.channels`";
            say("queues", text, hint);
        }
        if let Some((Value::Text(one), Value::Text(two))) = self.both(link, "nic.flow_control")
            && !self.pauses_agree(one, two)
        {
            let text =
                format!("flow control is asymmetric: `{one}` at {ours}, `{two}` at {theirs}");
            let hint =
                "set `nic.flow_control` alike: one end sends pauses that the other does not obey";
            say("flow_control", text, hint);
        }
        for (id, what) in [
            ("nic.tso", "segmentation offload"),
            ("nic.tx_checksum", "checksum offload on sending"),
            ("nic.rx_checksum", "checksum offload on receiving"),
        ] {
            if let Some((Value::Switch(one), Value::Switch(two))) = self.both(link, id)
                && one != two
            {
                let off = if *one { &theirs } else { &ours };
                let hint =
                    format!("set `{id}=on` there, unless somebody turned it off for a reason");
                say("offload", format!("{what} is off at {off} only"), &hint);
            }
        }
        if let Some((one, two)) = self.both(link, "nic.eee")
            && one != two
        {
            let text = format!("energy-efficient Ethernet is {one} at {ours}, {two} at {theirs}");
            say("eee", text, "turn it off at both ends where latency counts");
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
mod tests {
    use std::collections::BTreeMap;

    use record::{BitsPerSecond, KnobId, TcpFacts};

    use super::*;

    fn nic(name: &str, address: &str) -> Nic {
        Nic {
            name: name.into(),
            index: u32::from(name.as_bytes()[0]),
            mac: None,
            mtu: 1500,
            mtu_max: None,
            speed: Some(BitsPerSecond::new(1_000_000_000)),
            shaped: None,
            state: LinkState::Up,
            driver: Some("igb".into()),
            kind: None,
            medium: None,
            port_of: None,
            modes: None,
            addresses: vec![
                InterfaceAddress {
                    address: address.parse().unwrap(),
                    prefix: 24,
                },
                InterfaceAddress {
                    address: "fe80::1".parse().unwrap(),
                    prefix: 64,
                },
            ],
            offloads: BTreeMap::new(),
            rx_queues: Some(4),
            tx_queues: Some(4),
        }
    }

    fn host(name: &str, nics: Vec<Nic>) -> HostFacts {
        HostFacts {
            name: HostName::new(name),
            system: System::Linux,
            kernel: "6.1".into(),
            machine: None,
            boot: None,
            cores: 4,
            memory: None,
            nics,
            routes: Vec::new(),
            tcp: TcpFacts::default(),
        }
    }

    fn pair() -> (HostFacts, HostFacts, Vec<Setting>) {
        let near = host("client", vec![nic("a", "10.0.0.1"), nic("x", "10.9.0.1")]);
        let far = host("server", vec![nic("b", "10.0.0.2"), nic("y", "10.8.0.1")]);
        let mut settings = Vec::new();
        for (host, name) in [("client", "a"), ("server", "b")] {
            let mut set = |target: &Target, id: &str, value: Value| {
                settings.push(Setting::Knob {
                    host: HostName::new(host),
                    target: target.clone(),
                    id: KnobId::new(id),
                    value,
                });
            };
            let nic = Target::Nic(name.into());
            set(&nic, "nic.flow_control", Value::Text("rx+tx".into()));
            for id in ["nic.tso", "nic.tx_checksum", "nic.rx_checksum", "nic.eee"] {
                set(&nic, id, Value::Switch(true));
            }
            for (id, on, _) in BOTH_ON {
                let on = if on == "on" {
                    Value::Switch(true)
                } else {
                    Value::Integer(1)
                };
                set(&Target::Host, id, on);
            }
        }
        (near, far, settings)
    }

    fn set(settings: &mut [Setting], host: &str, id: &str, to: Value) {
        let found = settings.iter_mut().find_map(|setting| match setting {
            Setting::Knob {
                host: of,
                id: knob,
                value,
                ..
            } if of.as_str() == host && knob.as_str() == id => Some(value),
            _ => None,
        });
        *found.unwrap() = to;
    }

    #[test]
    fn a_clean_pair_has_none_and_what_is_not_known_is_none() {
        let (near, far, settings) = pair();
        assert_eq!(contradictions(&near, &far, &settings), []);
        assert_eq!(contradictions(&near, &far, &[]), []);
        assert_eq!(shared_links(&near, &far).len(), 1);
        let (mut near, far, _) = pair();
        near.nics[0].speed = None;
        near.nics[0].rx_queues = None;
        assert_eq!(contradictions(&near, &far, &[]), []);
    }

    type Inject = fn(&mut HostFacts, &mut HostFacts, &mut Vec<Setting>);

    #[test]
    fn each_that_is_injected_is_named_and_no_other() {
        let cases: [(&str, &str, Inject); 13] = [
            ("mtu", "the MTU differs: 1500", |_, far, _| {
                far.nics[0].mtu = 9000
            }),
            ("speed", "100 Mbit/s", |near, _, _| {
                // both of them: a faster one that is not used is a contradiction of its own
                for nic in &mut near.nics {
                    nic.speed = Some(BitsPerSecond::new(100_000_000));
                }
            }),
            ("queues", "1 at `b` of server", |_, far, _| {
                far.nics[0].rx_queues = Some(1);
            }),
            ("down", "`b` of server has no carrier", |_, far, _| {
                far.nics[0].state = LinkState::Down;
            }),
            ("subnet", "no subnet in common", |_, far, _| {
                far.nics[0].addresses.clear();
            }),
            ("unused", "`y` of server runs at 10 Gbit/s", |_, far, _| {
                far.nics[1].speed = Some(BitsPerSecond::new(10_000_000_000));
            }),
            ("flow_control", "`rx+tx` at `a`", |_, _, settings| {
                set(
                    settings,
                    "server",
                    "nic.flow_control",
                    Value::Text("off".into()),
                );
            }),
            (
                "offload",
                "segmentation offload is off at `a`",
                |_, _, settings| {
                    set(settings, "client", "nic.tso", Value::Switch(false));
                },
            ),
            ("offload", "on sending is off at `b`", |_, _, settings| {
                set(settings, "server", "nic.tx_checksum", Value::Switch(false));
            }),
            ("eee", "is on at `a` of client, off at", |_, _, settings| {
                set(settings, "server", "nic.eee", Value::Switch(false));
            }),
            (
                "tcp",
                "`tcp.window_scaling` is off at server",
                |_, _, settings| {
                    set(
                        settings,
                        "server",
                        "tcp.window_scaling",
                        Value::Switch(false),
                    );
                },
            ),
            ("tcp", "`tcp.sack` is off at client", |_, _, settings| {
                set(settings, "client", "tcp.sack", Value::Switch(false));
            }),
            (
                "tcp",
                "`tcp.timestamps` is off at client",
                |_, _, settings| {
                    set(settings, "client", "tcp.timestamps", Value::Integer(0));
                },
            ),
        ];
        for (kind, text, inject) in cases {
            let (mut near, mut far, mut settings) = pair();
            inject(&mut near, &mut far, &mut settings);
            let found = contradictions(&near, &far, &settings);
            assert_eq!(found.len(), 1, "{kind}: {found:#?}");
            assert_eq!(found[0].kind, kind);
            assert!(found[0].text.contains(text), "{}", found[0].text);
            assert!(!found[0].hint.is_empty());
        }
    }

    #[test]
    fn a_route_by_the_slower_of_two_nics_of_one_subnet_is_named() {
        let (mut near, mut far, settings) = pair();
        near.nics[1] = nic("x", "10.0.0.3");
        let fast = Some(BitsPerSecond::new(10_000_000_000));
        (near.nics[1].speed, far.nics[0].speed) = (fast, fast);
        let route = |nic: &str, metric| Route {
            destination: "10.0.0.0/24".into(),
            gateway: None,
            nic: nic.into(),
            source: None,
            metric,
        };
        let named = |near: &HostFacts| {
            let found = contradictions(near, &far, &settings);
            let mut routed = found.into_iter().filter(|found| found.kind == "route");
            routed.next().map(|found| found.text)
        };
        assert_eq!(named(&near), None, "nothing is known of the routes");
        for (routes, leaves_by) in [
            ([route("a", None), route("x", None)], Some("`a`")),
            ([route("x", None), route("a", None)], None),
            ([route("x", Some(200)), route("a", Some(100))], Some("`a`")),
            ([route("a", Some(200)), route("x", Some(100))], None),
        ] {
            near.routes = routes.into();
            let text = named(&near);
            assert_eq!(text.is_some(), leaves_by.is_some(), "{text:?}");
            assert!(text.is_none_or(|text| text.contains("leaves by `a` at 1 Gbit/s")));
        }
        // Two of the same rate are no reason to complain.
        near.nics[1].speed = near.nics[0].speed;
        near.routes = [route("a", None), route("x", None)].into();
        assert_eq!(named(&near), None);
    }

    #[test]
    fn a_bridge_that_every_host_has_is_no_link_between_two() {
        let (mut near, mut far, settings) = pair();
        for host in [&mut near, &mut far] {
            let mut bridge = nic("docker0", "172.17.0.1");
            bridge.state = LinkState::Down;
            host.nics.push(bridge);
        }
        assert_eq!(contradictions(&near, &far, &settings), []);
        let links = shared_links(&near, &far);
        assert_eq!((links.len(), links[0].near.name.as_str()), (1, "a"));
        // It is no subnet in common either.
        far.nics[0].addresses.clear();
        let found = contradictions(&near, &far, &settings);
        assert_eq!((found.len(), found[0].kind), (1, "subnet"));
    }

    #[test]
    fn pauses_agree_where_one_end_obeys_what_the_other_sends() {
        for (one, two, agree) in [
            ("off", "off", true),
            ("rx", "tx", true),
            ("rx+tx", "rx+tx", true),
            ("auto rx+tx", "auto off", true),
            ("rx", "rx", false),
            ("rx+tx", "rx", false),
            ("auto rx+tx", "rx+tx", false),
        ] {
            assert_eq!(pauses_agree(one, two), agree, "{one} {two}");
            assert_eq!(pauses_agree(two, one), agree, "{two} {one}");
        }
    }

    /// A Windows client of a Samba server, as both are where nobody set anything.
    fn with_windows() -> (HostFacts, HostFacts, Vec<Setting>) {
        let (mut near, far, mut settings) = pair();
        near.system = System::Windows;
        set(
            &mut settings,
            "client",
            "tcp.window_autotuning",
            Value::Text("normal".into()),
        );
        set(
            &mut settings,
            "client",
            "tcp.timestamps",
            Value::Text("disabled".into()),
        );
        for (host, id, value) in [
            ("client", "smb.client.multichannel", Value::Switch(true)),
            (
                "client",
                "smb.client.signing_required",
                Value::Switch(false),
            ),
            ("client", "smb.server.multichannel", Value::Switch(true)),
            (
                "client",
                "smb.server.signing_required",
                Value::Switch(false),
            ),
            ("server", "smb.server.multichannel", Value::Switch(true)),
            (
                "server",
                "smb.server.signing_required",
                Value::Text("default".into()),
            ),
        ] {
            settings.push(Setting::Knob {
                host: HostName::new(host),
                target: Target::Host,
                id: KnobId::new(id),
                value,
            });
        }
        (near, far, settings)
    }

    #[test]
    fn windows_and_samba_agree_unless_somebody_made_them_not() {
        let (near, far, settings) = with_windows();
        assert_eq!(contradictions(&near, &far, &settings), []);
        let text = |word: &str| Value::Text(word.into());
        let cases = [
            (
                "client",
                "tcp.window_autotuning",
                text("disabled"),
                "tcp",
                "=normal`",
            ),
            (
                "client",
                "smb.client.multichannel",
                Value::Switch(false),
                "multichannel",
                "set client",
            ),
            (
                "server",
                "smb.server.multichannel",
                Value::Switch(false),
                "multichannel",
                "set server",
            ),
            (
                "client",
                "smb.client.signing_required",
                Value::Switch(true),
                "signing",
                "protection",
            ),
            (
                "server",
                "smb.server.signing_required",
                text("mandatory"),
                "signing",
                "protection",
            ),
            (
                "client",
                "nic.flow_control",
                text("off"),
                "flow_control",
                "alike",
            ),
        ];
        for (host, id, to, kind, hint) in cases {
            for swapped in [false, true] {
                let (near, far, mut settings) = with_windows();
                set(&mut settings, host, id, to.clone());
                let ends = if swapped {
                    (&far, &near)
                } else {
                    (&near, &far)
                };
                let found = contradictions(ends.0, ends.1, &settings);
                assert_eq!(found.len(), 1, "{id}: {found:#?}");
                assert_eq!(found[0].kind, kind);
                assert!(found[0].hint.contains(hint), "{}", found[0].hint);
            }
        }
        // Linux tells that the ends agreed, and Windows does not.
        let (near, far, mut settings) = with_windows();
        for (host, word) in [("server", "auto rx+tx"), ("client", "auto")] {
            set(&mut settings, host, "nic.flow_control", text(word));
            assert_eq!(contradictions(&near, &far, &settings), [], "{word}");
        }
    }
}
