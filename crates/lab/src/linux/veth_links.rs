//! Links: pairs of virtual interfaces, with a line rate in each direction.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::Sender;
use std::thread;

use host::exec::{Command, Local, run_one};
use locale::say;
use record::BitsPerSecond;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketFlags, SocketType};

use super::namespace_exec::Namespace;
use super::namespace_holder::Node;
use super::supervisor_event::Event;
use super::tap;
use super::tap_delay_line;
use crate::topology::BRIDGE;
use crate::{End, Error, Topology};

/// What the kernel counts of a frame beside the packet: the Ethernet header.
const FRAME_BYTES_COUNTED: u32 = 14;
/// What a frame takes on a wire beside the packet: preamble, header, check sum and gap.
const FRAME_BYTES_ON_WIRE: u32 = 38;
/// Least burst: one offloaded segment, which leaves as a whole.
const BURST_BYTES_MIN: u64 = 64 << 10;
/// How late a shaper may wake without losing rate. On a machine whose processors are all busy it
/// often wakes a millisecond late; longer would let those who pause catch up on a wire that cannot.
const BURST_MICROSECONDS: u64 = 2000;
/// Bytes a class may send before the next one's turn. There is only one; without this `tc` warns.
const QUANTUM_BYTES: u32 = 60_000;
/// Netlink's protocol for links, addresses and routes, which is number 0.
const ROUTE_PROTOCOL: Option<Protocol> = None;
/// Congestion control of a host's connections: the first that the machine lets a namespace have.
/// Never the machine's own default, so that figures of a lab can be compared; and none that paces
/// by timers, such as `bbr`, which on two processors brought 8.5 instead of 9.4 Gbit/s. On a LAN
/// without loss the second, which is always there, does as well as the first.
const CONGESTION_CONTROLS: [&str; 2] = ["cubic", "reno"];
/// The kernel's multicast group of news about links.
const LINK_NEWS: u32 = 1;

/// Makes all links, each directly in the namespaces of its ends, so that nothing of them is ever
/// on the machine itself.
pub(crate) fn connect(topology: &Topology, nodes: &[Node]) -> Result<(), Error> {
    let error = Error::running(say("error-lab.make-links"), say("error-lab.the-lab"));
    let mut batch = String::new();
    for link in &topology.links {
        let [one, other] = &link.ends;
        let at = |end: &End| {
            let node = nodes.iter().find(|node| node.name == end.node);
            node.map(|node| (&node.namespace, node.namespace.holder()))
        };
        let (Some((here, holder)), Some((there, other_holder))) = (at(one), at(other)) else {
            continue;
        };
        if link.delay.is_some() || link.could.is_some() {
            let ends = [(one, here), (other, there)];
            tap_delay_line::join(ends, link.delay.unwrap_or_default())?;
            if let (Some(rate), Some(could)) = (link.rate, link.could) {
                for (end, namespace) in ends {
                    tap::pretend(end, namespace, rate, could)?;
                }
            }
            continue;
        }
        let words = |end: &End, holder| format!("name {} mtu {} netns {holder}", end.nic, end.mtu);
        // Writing to a string cannot fail, here and below.
        writeln!(
            batch,
            "link add {} type veth peer {}",
            words(one, holder),
            words(other, other_holder)
        )
        .ok();
    }
    let command = Command::new(["ip", "-batch", "-"]).with_stdin(batch);
    run_one(&Local::new(), &command).map_err(error)?;
    for node in nodes {
        let is_switch = !topology.hosts.contains(&node.name);
        let batch = if is_switch {
            switch_batch(topology, &node.name)
        } else {
            host_batch(topology, &node.name)
        };
        let command = Command::new(["ip", "-batch", "-"]).with_stdin(batch);
        node.run(say("error-lab.set-up-links"), &[command])?;
        for end in topology.ends_of(&node.name) {
            keep_order(node, &end.nic)?;
        }
        choose_congestion_control(node)?;
    }
    Ok(())
}

fn choose_congestion_control(node: &Node) -> Result<(), Error> {
    let path = "/proc/sys/net/ipv4/tcp_congestion_control";
    let set = |name: &str| {
        let command = Command::new(["tee", path]).with_stdin(name);
        node.run(say("error-lab.choose-congestion-control"), &[command])
    };
    let [preferred, fallback] = CONGESTION_CONTROLS;
    set(preferred).or_else(|_refused| set(fallback))
}

/// Makes a wire of what is a shared memory: it keeps the order of frames. The kernel hands frames
/// over on whichever processor sends, so two of them can overtake each other; given to a processor
/// by their flow they cannot. Kernels without that do without.
fn keep_order(node: &Node, nic: &str) -> Result<(), Error> {
    let path = format!("/sys/class/net/{nic}/queues/rx-0/rps_cpus");
    let path = node.namespace.path(path);
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match fs::write(&path, processor_mask(processors)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written.map_err(|source| Error::System {
            action: say("error-lab.write"),
            subject: path.display().to_string().into(),
            source,
        }),
    }
}

/// The first processors as the kernel reads them: words of 32 bits in hexadecimal, highest first.
fn processor_mask(processors: usize) -> String {
    let (full, rest) = (processors / 32, processors % 32);
    let mut words = vec!["ffffffff".to_owned(); full];
    if rest > 0 {
        words.insert(0, format!("{:x}", (1_u32 << rest) - 1));
    }
    words.join(",")
}

fn host_batch(topology: &Topology, host: &str) -> String {
    let mut batch = "link set dev lo up\n".to_owned();
    for end in topology.ends_of(host) {
        let nic = &end.nic;
        if let Some(address) = end.address {
            // Nobody else can have an IPv6 address, so it need not wait to find out.
            let option = if address.ip.is_ipv6() { " nodad" } else { "" };
            writeln!(batch, "address add {address} dev {nic}{option}").ok();
        }
        writeln!(batch, "link set dev {nic} mtu {} up", end.mtu).ok();
    }
    batch
}

fn switch_batch(topology: &Topology, switch: &str) -> String {
    let mtu = topology.switches.iter().find(|one| one.name == switch);
    let mtu = mtu.map_or(crate::topology::MTU_DEFAULT, |switch| switch.mtu);
    let mut batch = format!(
        "link add name {BRIDGE} type bridge stp_state 0 forward_delay 0 mcast_snooping 0\n"
    );
    for End { nic, mtu, .. } in topology.ends_of(switch) {
        writeln!(batch, "link set dev {nic} master {BRIDGE}").ok();
        writeln!(batch, "link set dev {nic} mtu {mtu} up").ok();
    }
    // After the ports, whose smallest MTU it would take otherwise, and for ever after.
    writeln!(batch, "link set dev {BRIDGE} mtu {mtu} up").ok();
    batch
}

/// The line rates of a lab. They follow the MTU, because what the kernel does not count of each
/// frame has to be paid for by the rate.
pub(crate) struct Shaper {
    cables: Vec<Cable>,
}

struct Cable {
    /// The MTU for which the rates are set now.
    mtu: Option<u32>,
    plugs: [Plug; 2],
}

struct Plug {
    node: String,
    nic: String,
    /// At which rate it sends.
    rate: BitsPerSecond,
    namespace: Namespace,
}

impl Shaper {
    /// Gives every link with a rate a shaper at both ends, and tells `events` whenever something
    /// about a link changes from now on.
    pub(crate) fn start(
        topology: &Topology,
        nodes: &[Node],
        events: &Sender<Event>,
    ) -> Result<Self, Error> {
        let plug = |end: &End, rate: Option<BitsPerSecond>| {
            let node = nodes.iter().find(|node| node.name == end.node);
            node.zip(rate).map(|(node, rate)| Plug {
                node: end.node.clone(),
                nic: end.nic.clone(),
                rate,
                namespace: node.namespace.clone(),
            })
        };
        let mut shaper = Self { cables: Vec::new() };
        for link in &topology.links {
            let [one, other] = &link.ends;
            let back = link.rate_back.or(link.rate);
            if let (Some(one), Some(other)) = (plug(one, link.rate), plug(other, back)) {
                for plug in [&one, &other] {
                    plug.tc(&format!(
                        "qdisc add dev {} root handle 1: htb default 10",
                        plug.nic
                    ))?;
                    plug.tc(&class("add", &plug.nic, plug.rate, link.mtu()))?;
                }
                shaper.cables.push(Cable {
                    mtu: Some(link.mtu()),
                    plugs: [one, other],
                });
            }
        }
        if !shaper.cables.is_empty() {
            for node in nodes {
                watch(node, events)?;
            }
        }
        // For what changed before the watch began.
        shaper.adjust()?;
        Ok(shaper)
    }

    /// Sets the rate of each link whose MTU has changed.
    pub(crate) fn adjust(&mut self) -> Result<(), Error> {
        for cable in &mut self.cables {
            let [one, other] = &cable.plugs;
            // A NIC that somebody removed has no rate to set.
            let (Ok(mtu), Ok(other_mtu)) = (one.mtu(), other.mtu()) else {
                continue;
            };
            let mtu = mtu.min(other_mtu);
            if cable.mtu != Some(mtu) {
                // Unknown until both are set, so that a failure is made good at the next change.
                cable.mtu = None;
                for plug in &cable.plugs {
                    plug.tc(&class("change", &plug.nic, plug.rate, mtu))?;
                }
                cable.mtu = Some(mtu);
            }
        }
        Ok(())
    }
}

impl Plug {
    fn mtu(&self) -> io::Result<u32> {
        let path = format!("/sys/class/net/{}/mtu", self.nic);
        let text = fs::read_to_string(self.namespace.path(path))?;
        text.trim().parse().map_err(io::Error::other)
    }

    fn tc(&self, arguments: &str) -> Result<(), Error> {
        let command = Command::new(["tc"].into_iter().chain(arguments.split_whitespace()));
        let failed = Error::running(say("error-lab.set-line-rate"), self.node.as_str());
        run_one(&self.namespace, &command).map(drop).map_err(failed)
    }
}

fn class(verb: &str, nic: &str, rate: BitsPerSecond, mtu: u32) -> String {
    let counted = counted_rate(rate, mtu);
    let burst = BURST_BYTES_MIN.max(rate.get() / 8 * BURST_MICROSECONDS / 1_000_000);
    format!(
        "class {verb} dev {nic} parent 1: classid 1:10 htb rate {counted}bit burst {burst} \
         cburst {burst} quantum {QUANTUM_BYTES}"
    )
}

/// A line rate in terms of the bytes that the kernel counts when all frames are full.
fn counted_rate(rate: BitsPerSecond, mtu: u32) -> u64 {
    let counted = u128::from(mtu) + u128::from(FRAME_BYTES_COUNTED);
    let on_wire = u128::from(mtu) + u128::from(FRAME_BYTES_ON_WIRE);
    let bits = u128::from(rate.get()) * counted / on_wire;
    // Smaller than the rate, which fits.
    u64::try_from(bits).unwrap_or(u64::MAX)
}

/// Tells `events` about every change of a link in `node`, on a thread that ends with the process.
fn watch(node: &Node, events: &Sender<Event>) -> Result<(), Error> {
    let open = || {
        let kind = SocketType::RAW;
        let flags = SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, kind, flags, ROUTE_PROTOCOL)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, LINK_NEWS))?;
        Ok(socket)
    };
    let opened = node.namespace.in_network(open);
    let socket = opened.map_err(|source| Error::System {
        action: say("error-lab.watch-links"),
        subject: node.name.as_str().into(),
        source,
    })?;
    let events = events.clone();
    thread::spawn(move || while hear(&socket) && events.send(Event::LinksMoved).is_ok() {});
    Ok(())
}

/// Waits for news. What they say does not matter: who hears them looks for himself, so that lost
/// and shortened news do no harm.
fn hear(socket: &OwnedFd) -> bool {
    let mut start = [0_u8; 64];
    loop {
        match rustix::net::recv(socket, &mut start, RecvFlags::empty()) {
            Err(Errno::INTR) => {}
            Ok(_) | Err(Errno::NOBUFS) => return true,
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_rate_pays_for_what_the_kernel_does_not_count() {
        let gigabit = BitsPerSecond::new(1_000_000_000);
        // 10^9 x 1514 / 1538 and 10^9 x 9014 / 9038.
        assert_eq!(counted_rate(gigabit, 1500), 984_395_318);
        assert_eq!(counted_rate(gigabit, 9000), 997_344_545);
    }

    #[test]
    fn processors_are_named_in_words_of_32() {
        assert_eq!(processor_mask(1), "1");
        assert_eq!(processor_mask(2), "3");
        assert_eq!(processor_mask(31), "7fffffff");
        assert_eq!(processor_mask(32), "ffffffff");
        assert_eq!(processor_mask(72), "ff,ffffffff,ffffffff");
    }

    #[test]
    fn the_fastest_rate_does_not_overflow() {
        assert_eq!(
            counted_rate(BitsPerSecond::new(u64::MAX), 65_535),
            18_439_992_486_047_418_889
        );
    }
}
