//! What a fault of a lab file can be, and the commands that make it.
//!
//! A lab file comes from anybody, and its faults are made as root. So a fault is named, not scripted:
//! each field is a number in a range, an address, a word of a fixed list or the name of an interface
//! that the lab itself has made. No text of the file becomes a part of a command.

mod from_toml;

use std::net::IpAddr;
use std::time::Duration;

use host::exec::Command;
use record::BitsPerSecond;
use serde::Deserialize;

use super::Address;
pub(super) use from_toml::{WrittenFault, faults};

/// The port of VXLAN (RFC 7348, section 5).
const VXLAN_PORT: u16 = 4789;
/// Least bytes that a limit of the rate lets pass at once: one unsegmented packet of TSO.
const BURST_BYTES_MIN: u64 = 128 << 10;
/// Something that is broken on a host or switch once the lab is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The host or switch.
    pub node: String,
    /// What is broken.
    pub effect: Effect,
}

/// What a fault is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A share of the packets that arrive is dropped at random.
    Loss {
        /// Where they arrive.
        nic: String,
        /// Thousandths of a percent, 1 to 100,000.
        millipercent: u32,
    },
    /// Packets to a TCP port are dropped.
    Block {
        /// Where they arrive.
        nic: String,
        /// The port.
        tcp_port: u16,
    },
    /// What arrives faster than this is dropped, once it has been so for a while: the kernel saves up a
    /// second's worth and the burst (`nft_limit_init`), so that a short trial sees nothing of it.
    Rate {
        /// Where it arrives.
        nic: String,
        /// The limit.
        rate: BitsPerSecond,
    },
    /// The interface has another MTU than its link.
    Mtu {
        /// The interface.
        nic: String,
        /// Its MTU.
        bytes: u32,
    },
    /// Offloads are switched off.
    Offloads {
        /// The interface.
        nic: String,
        /// Which of them.
        off: Vec<OffloadName>,
    },
    /// A kernel parameter of the node's network has another value.
    Sysctl {
        /// One of a fixed list.
        key: &'static str,
        /// Its numbers or its word, as the kernel takes them.
        value: String,
    },
    /// The interface has one more address.
    Address {
        /// The interface.
        nic: String,
        /// The address.
        address: Address,
    },
    /// A destination is reached by another interface.
    Route {
        /// The interface.
        nic: String,
        /// The destination.
        to: Address,
    },
    /// A destination is reached by routers; by several, each flow by one of them.
    Via {
        /// The destination.
        to: Address,
        /// Addresses of the routers, 1 to 8.
        routers: Vec<IpAddr>,
    },
    /// A VXLAN tunnel between two addresses.
    Tunnel(Tunnel),
    /// The interface is down.
    Down {
        /// The interface.
        nic: String,
    },
    /// The node sends to another host over TCP, whatever else goes on.
    Traffic(Traffic),
    /// The processes of the Samba server are stopped and go on, many times a second.
    Stops {
        /// How often a second, 1 to 200.
        per_second: u32,
        /// For how much of the time they are stopped, in percent, 1 to 95.
        percent: u32,
    },
    /// Programs that take all the processor time they get.
    Busy {
        /// How many, 1 to 16.
        processes: u32,
    },
}

/// What a node sends apart from the file share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Address of the host that takes it.
    pub to: IpAddr,
    /// How fast at most; none is as fast as TCP can.
    pub rate: Option<BitsPerSecond>,
    /// For how long it sends, and then rests, by turns; none is all of the time.
    pub turns: Option<(Duration, Duration)>,
}

/// One end of a VXLAN tunnel (RFC 7348).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// Name of the interface that it makes.
    pub nic: String,
    /// Its VXLAN identifier.
    pub id: u32,
    /// Address of this end, outside the tunnel.
    pub from: IpAddr,
    /// Address of the other end, outside the tunnel.
    pub to: IpAddr,
    /// Address of this end, inside the tunnel.
    pub address: Address,
}

/// An offload, as `ethtool -K` abbreviates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OffloadName {
    /// Cutting segments of TCP by the NIC.
    Tso,
    /// Cutting segments by the kernel, as late as possible.
    Gso,
    /// Joining segments by the kernel.
    Gro,
    /// Joining segments by the NIC.
    Lro,
    /// Checksums of what arrives.
    Rx,
    /// Checksums of what leaves.
    Tx,
    /// Packets from several pieces of memory.
    Sg,
}

impl OffloadName {
    const fn word(self) -> &'static str {
        match self {
            Self::Tso => "tso",
            Self::Gso => "gso",
            Self::Gro => "gro",
            Self::Lro => "lro",
            Self::Rx => "rx",
            Self::Tx => "tx",
            Self::Sg => "sg",
        }
    }
}

impl Effect {
    /// The commands that make it, on the network of its node. `number` is that of the fault in its lab.
    pub(crate) fn commands(&self, number: usize) -> Vec<Command> {
        match self {
            Self::Loss { nic, millipercent } => {
                // A number below 100,000 is always so, which `nft` takes for a mistake.
                let rule = match millipercent {
                    100_000 => "drop".to_owned(),
                    _ => format!("numgen random mod 100000 < {millipercent} drop"),
                };
                vec![ingress(number, nic, &rule)]
            }
            Self::Rate { nic, rate } => {
                let bytes = rate.get() / 8;
                // A hundredth of a second: less would drop packets of a sender that keeps the rate.
                let burst = (bytes / 100).max(BURST_BYTES_MIN);
                let rule = format!("limit rate over {bytes} bytes/second burst {burst} bytes drop");
                vec![ingress(number, nic, &rule)]
            }
            Self::Block { nic, tcp_port } => vec![Command::new([
                "nft".to_owned(),
                format!(
                    "add table inet fault{number}; \
                     add chain inet fault{number} in {{ type filter hook input priority 0; }}; \
                     add rule inet fault{number} in iifname \"{nic}\" tcp dport {tcp_port} drop"
                ),
            ])],
            Self::Mtu { nic, bytes } => {
                let bytes = bytes.to_string();
                let words = ["ip", "link", "set", "dev", nic, "mtu", &bytes];
                vec![Command::new(words)]
            }
            Self::Offloads { nic, off } => {
                let words = off.iter().flat_map(|offload| [offload.word(), "off"]);
                let words = ["ethtool", "-K", nic.as_str()].into_iter().chain(words);
                vec![Command::new(words)]
            }
            Self::Sysctl { key, value } => {
                let setting = format!("{key}={value}");
                vec![Command::new(["sysctl", "-q", "-w", &setting])]
            }
            Self::Address { nic, address } => vec![add_address(nic, *address)],
            Self::Route { nic, to } => {
                let to = to.to_string();
                vec![Command::new(["ip", "route", "add", &to, "dev", nic])]
            }
            Self::Via { to, routers } => vec![via(*to, routers)],
            Self::Tunnel(tunnel) => tunnel.commands(),
            Self::Down { nic } => vec![Command::new(["ip", "link", "set", "dev", nic, "down"])],
            // What goes on all the time is done by the supervisor itself.
            Self::Traffic(_) | Self::Stops { .. } | Self::Busy { .. } => Vec::new(),
        }
    }
}

impl Tunnel {
    fn commands(&self) -> Vec<Command> {
        let nic = self.nic.as_str();
        let (id, port) = (self.id.to_string(), VXLAN_PORT.to_string());
        let (from, to) = (self.from.to_string(), self.to.to_string());
        vec![
            Command::new([
                "ip", "link", "add", "name", nic, "type", "vxlan", "id", &id, "local", &from,
                "remote", &to, "dstport", &port,
            ]),
            add_address(nic, self.address),
            Command::new(["ip", "link", "set", "dev", nic, "up"]),
        ]
    }
}

fn add_address(nic: &str, address: Address) -> Command {
    let address = address.to_string();
    Command::new(["ip", "address", "add", &address, "dev", nic])
}

fn via(to: Address, routers: &[IpAddr]) -> Command {
    let mut words = ["ip", "route", "add"].map(str::to_owned).to_vec();
    words.push(to.to_string());
    for router in routers {
        if routers.len() > 1 {
            words.push("nexthop".to_owned());
        }
        words.extend(["via".to_owned(), router.to_string()]);
    }
    Command::new(words)
}

/// A rule for what arrives at an interface, in a table of its own.
fn ingress(number: usize, nic: &str, rule: &str) -> Command {
    Command::new([
        "nft".to_owned(),
        format!(
            "add table netdev fault{number}; \
             add chain netdev fault{number} in \
             {{ type filter hook ingress device \"{nic}\" priority 0; }}; \
             add rule netdev fault{number} in {rule}"
        ),
    ])
}

#[cfg(test)]
mod tests {
    use crate::{Topology, scenario};

    const LAN: &str = r#"[[host]]
name = "a"
[[switch]]
name = "s"
[[link]]
from = { host = "a", nic = "lan1", address = "10.0.0.1/24" }
to = { switch = "s" }
[[fault]]
"#;

    fn commands(topology: &Topology) -> Vec<String> {
        let faults = topology.faults.iter().enumerate();
        let commands = faults.flat_map(|(number, fault)| fault.effect.commands(number));
        commands.map(|command| command.argv.join(" ")).collect()
    }

    fn of(fault: &str) -> Vec<String> {
        commands(&Topology::parse(&format!("{LAN}{fault}\n")).unwrap())
    }

    #[test]
    fn each_fault_is_made_by_its_commands() {
        let chain = "add table netdev fault0; add chain netdev fault0 in \
                     { type filter hook ingress device \"lan1\" priority 0; }; \
                     add rule netdev fault0 in";
        for (fault, expected) in [
            (
                "on = \"a\"\nloss = { nic = \"lan1\", percent = 0.3 }",
                format!("nft {chain} numgen random mod 100000 < 300 drop"),
            ),
            (
                "on = \"s\"\nmtu = { nic = \"port1\", bytes = 1400 }",
                "ip link set dev port1 mtu 1400".to_owned(),
            ),
            (
                "on = \"a\"\nrate = { nic = \"lan1\", rate = \"600Mbit\" }",
                format!(
                    "nft {chain} limit rate over 75000000 bytes/second burst 750000 bytes drop"
                ),
            ),
            (
                "on = \"a\"\naddress = { nic = \"lan1\", add = \"10.1.0.1/16\" }",
                "ip address add 10.1.0.1/16 dev lan1".to_owned(),
            ),
            (
                "on = \"a\"\ndown = { nic = \"lan1\" }",
                "ip link set dev lan1 down".to_owned(),
            ),
            (
                "on = \"a\"\nsysctl = { key = \"net.ipv4.tcp_congestion_control\", value = \"reno\" }",
                "sysctl -q -w net.ipv4.tcp_congestion_control=reno".to_owned(),
            ),
        ] {
            assert_eq!(of(fault), [expected], "{fault}");
        }
    }

    /// Wants labs of the library that are older than the vocabulary of faults to break what they broke
    /// with command lines.
    fn assert_broken(library: &[(&str, Vec<String>)]) {
        for (name, expected) in library {
            let topology = scenario(name).unwrap().topology;
            assert_eq!(&commands(&topology), expected, "{name}");
        }
    }

    #[test]
    fn the_library_sets_what_it_set_with_command_lines() {
        let offloads = "ethtool -K lan1 tso off gso off gro off";
        assert_broken(&[
            ("offloads-off", vec![offloads.to_owned()]),
            ("offloads-off-client", vec![offloads.to_owned()]),
            (
                "jumbo-at-one-end",
                vec!["ip link set dev lan1 mtu 9000".to_owned()],
            ),
            (
                "small-buffers",
                vec!["sysctl -q -w net.ipv4.tcp_rmem=4096 65536 131072".to_owned()],
            ),
        ]);
    }

    #[test]
    fn the_library_drops_what_it_dropped_with_command_lines() {
        let drop_at = |nic: &str, number: u32, millipercent: u32| {
            format!(
                "nft add table netdev fault{number}; add chain netdev fault{number} in \
                 {{ type filter hook ingress device \"{nic}\" priority 0; }}; \
                 add rule netdev fault{number} in numgen random mod 100000 < {millipercent} drop"
            )
        };
        let drop = |number, millipercent| drop_at("lan1", number, millipercent);
        assert_broken(&[
            ("loss", vec![drop(0, 1000), drop(1, 1000)]),
            ("loss-one-way", vec![drop(0, 3000)]),
            ("loss-small", vec![drop(0, 300), drop(1, 300)]),
            (
                "lossy-second-link",
                vec![drop_at("lan2", 0, 2000), drop_at("lan2", 1, 2000)],
            ),
            (
                "dead-second-link",
                vec![
                    drop_at("lan2", 0, 1).replace("numgen random mod 100000 < 1 ", ""),
                    drop_at("lan2", 1, 1).replace("numgen random mod 100000 < 1 ", ""),
                ],
            ),
            (
                "blocked-port",
                vec![
                    "nft add table inet fault0; add chain inet fault0 in \
                     { type filter hook input priority 0; }; \
                     add rule inet fault0 in iifname \"lan2\" tcp dport 445 drop"
                        .to_owned(),
                ],
            ),
        ]);
    }

    #[test]
    fn what_goes_on_all_of_the_time_is_no_command() {
        let none = Vec::new;
        assert_broken(&[
            ("other-traffic", none()),
            ("other-traffic-half", none()),
            ("neighbour-on-port", none()),
            ("server-stops", none()),
            ("client-busy", none()),
        ]);
    }

    #[test]
    fn the_library_routes_what_it_routed_with_command_lines() {
        assert_broken(&[
            (
                "flow-hash",
                [
                    "sysctl -q -w net.ipv4.ip_forward=1",
                    "sysctl -q -w net.ipv4.ip_forward=1",
                    "sysctl -q -w net.ipv4.fib_multipath_hash_policy=1",
                    "sysctl -q -w net.ipv4.fib_multipath_hash_policy=1",
                    "ip route add 10.77.2.0/24 via 10.77.1.254",
                    "ip route add 10.77.1.0/24 via 10.77.2.254",
                    "ip route add 10.77.2.0/24 nexthop via 10.77.8.2 nexthop via 10.77.8.6",
                    "ip route add 10.77.1.0/24 nexthop via 10.77.8.1 nexthop via 10.77.8.5",
                ]
                .map(str::to_owned)
                .into(),
            ),
            (
                "tunnel-beside-lan",
                [
                    "ip link add name vpn type vxlan id 5 local 10.77.9.1 remote 10.77.9.2 dstport 4789",
                    "ip address add 10.99.0.1/24 dev vpn",
                    "ip link set dev vpn up",
                    "ip route add 10.77.1.2/32 dev vpn",
                    "ip link add name vpn type vxlan id 5 local 10.77.9.2 remote 10.77.9.1 dstport 4789",
                    "ip address add 10.99.0.2/24 dev vpn",
                    "ip link set dev vpn up",
                ]
                .map(str::to_owned)
                .into(),
            ),
        ]);
    }
}
