//! The knobs of Linux and of Samba on it, with what people want to know about them.

use super::Knob;
use super::cifs_mount::{Mount, mount};
use super::ethtool::{Ethtool, ethtool, feature};
use super::fstab::fstab;
use super::ip_link::{Link, link};
use super::qdisc_and_affinity::{Queue, queue};
use super::routing_and_arp::{Route, route};
use super::samba::{self, ksmbd, samba, samba_fixed, samba_share, samba_share_fixed};
use super::sysctl::{File, Form, file, sysctl};
use crate::fstab_entry::FstabEntry;

/// Where most of it is known from.
const ETHTOOL: &str =
    "ethtool(8); kernel documentation, `Documentation/networking/ethtool-netlink.rst`";
const IP_SYSCTL: &str = "kernel documentation, `Documentation/networking/ip-sysctl.rst`";
const NET_SYSCTL: &str = "kernel documentation, `Documentation/admin-guide/sysctl/net.rst`";
const SMB_CONF: &str = "smb.conf(5)";
const MOUNT_CIFS: &str = "mount.cifs(8); Linux, `fs/smb/client/fs_context.c`";
const SCALING: &str = "kernel documentation, `Documentation/networking/scaling.rst`";
/// Why a protection is only looked at, for [`locale::say`].
const PROTECTION: &str = "knob-fixed.protection";
const SEGMENTATION: &str =
    "kernel documentation, `Documentation/networking/segmentation-offloads.rst`";

/// The knobs of Linux.
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        id: "nic.mtu",
        title: "MTU",
        meaning: "largest IP packet that the interface sends; headers of Ethernet do not count",
        unit: Some("bytes"),
        values: "68 to what the driver takes, often 9000; 1280 at least where IPv6 is in use",
        default: "1500",
        rule_of_thumb: "9000 when every device of the segment agrees, otherwise 1500",
        source: "94.15 % of the line rate is payload at 1500, 99.00 % at 9000; RFC 8200 section 5 for the minimum",
        ..link(Link::Mtu)
    },
    Knob {
        id: "nic.tso",
        title: "TCP segmentation offload",
        meaning: "the NIC cuts packets of up to 64 KiB into frames, so that the processor need not",
        default: "on",
        rule_of_thumb: "on; off only where the driver corrupts or stalls",
        source: "without it 812 744 frames a second at 10 Gbit/s and MTU 1500 go through the processor",
        ..feature(
            "tso",
            "tcp-segmentation-offload",
            &["tx-checksumming", "scatter-gather"],
        )
    },
    Knob {
        id: "nic.gso",
        title: "generic segmentation offload",
        meaning: "packets are cut into frames as late as possible, in software where the NIC cannot",
        default: "on",
        rule_of_thumb: "on",
        source: SEGMENTATION,
        ..feature("gso", "generic-segmentation-offload", &["scatter-gather"])
    },
    Knob {
        id: "nic.gro",
        title: "generic receive offload",
        meaning: "received frames of one connection are joined before the protocol stack sees them",
        default: "on, off on a `veth`",
        rule_of_thumb: "on, for hosts and routers alike",
        source: SEGMENTATION,
        ..feature("gro", "generic-receive-offload", &[])
    },
    Knob {
        id: "nic.lro",
        title: "large receive offload",
        meaning: "the NIC joins received frames and forgets where they were cut, so that they cannot be passed on",
        default: "off, or not to be changed with most drivers",
        rule_of_thumb: "off wherever the host bridges or routes; else `nic.gro` does as well",
        source: SEGMENTATION,
        ..feature("lro", "large-receive-offload", &["rx-checksumming"])
    },
    Knob {
        id: "nic.tx_checksum",
        title: "checksums on sending",
        meaning: "the NIC computes the checksums of what is sent; off takes `nic.tso` with it, and on does not bring that back",
        default: "on",
        rule_of_thumb: "on; off only to find out whether the NIC corrupts",
        source: "seen with ethtool 6.1 on Linux 6.18",
        ..feature("tx", "tx-checksumming", &[])
    },
    Knob {
        id: "nic.rx_checksum",
        title: "checksums on receiving",
        meaning: "the NIC verifies the checksums of what is received; off takes joining in hardware with it",
        default: "on",
        rule_of_thumb: "on",
        source: ETHTOOL,
        ..feature("rx", "rx-checksumming", &[])
    },
    Knob {
        id: "nic.features",
        title: "all offloads",
        meaning: "every offload of the NIC that can be changed, because one can take another with it",
        values: "what was read before",
        default: "the driver's choice",
        rule_of_thumb: "put back as it was",
        source: "`tx off` takes `tso` with it; seen with ethtool 6.1 on Linux 6.18",
        only_in_snapshots: true,
        ..ethtool(Ethtool::Features)
    },
    Knob {
        id: "nic.flow_control",
        title: "flow control",
        meaning: "pause frames of Ethernet: `rx` obeys those of the other end, `tx` sends them when the receive queue fills; `auto` lets both ends agree",
        values: "off, rx, tx, rx+tx, each also as `auto ...`",
        default: "the driver's choice",
        rule_of_thumb: "the same at both ends; on where the NIC drops received frames, off where a slow receiver stalls the others",
        source: "IEEE 802.3 annex 31B; ethtool(8)",
        ..ethtool(Ethtool::Pause)
    },
    Knob {
        id: "nic.channels",
        title: "queues",
        meaning: "pairs of queues, each with an interrupt of its own; one TCP connection uses one of them",
        unit: Some("queues"),
        values: "1 to what the hardware has",
        default: "as many as processors, where the hardware has so many",
        rule_of_thumb: "up to 4 at 1 Gbit/s, 8 at 10, 16 at 25: no more than processors near the NIC",
        source: ETHTOOL,
        ..ethtool(Ethtool::Channels)
    },
    Knob {
        id: "nic.ring_rx",
        title: "length of the receive queues",
        meaning: "frames that the NIC can hold before the driver fetches them",
        unit: Some("descriptors"),
        values: "1 to what the hardware has; drivers round",
        default: "256 to 1024",
        rule_of_thumb: "leave it; 2048 to 4096 at 10 Gbit/s where the NIC counts missed frames",
        source: "bursts of 64 KiB overflow 256 descriptors; ethtool(8)",
        ..ethtool(Ethtool::RingRx)
    },
    Knob {
        id: "nic.ring_tx",
        title: "length of the transmit queues",
        meaning: "frames that wait in the NIC to be sent",
        unit: Some("descriptors"),
        values: "1 to what the hardware has; drivers round",
        default: "256 to 1024",
        rule_of_thumb: "leave it",
        source: ETHTOOL,
        ..ethtool(Ethtool::RingTx)
    },
    Knob {
        id: "nic.adaptive_rx",
        title: "adaptive moderation on receiving",
        meaning: "the driver chooses by itself how long received frames wait for an interrupt",
        default: "on with most drivers from 25 Gbit/s on",
        rule_of_thumb: "on",
        source: ETHTOOL,
        ..ethtool(Ethtool::Adaptive("adaptive-rx"))
    },
    Knob {
        id: "nic.adaptive_tx",
        title: "adaptive moderation on sending",
        meaning: "the driver chooses by itself how long sent frames wait for an interrupt",
        default: "on with most drivers from 25 Gbit/s on",
        rule_of_thumb: "on",
        source: ETHTOOL,
        ..ethtool(Ethtool::Adaptive("adaptive-tx"))
    },
    Knob {
        id: "nic.rx_usecs",
        title: "delay of the receive interrupt",
        meaning: "longest time from a received frame to its interrupt, where the driver does not choose",
        unit: Some("µs"),
        values: "0 to 1000; drivers round",
        default: "the driver's choice, often 3 to 50",
        rule_of_thumb: "8 to 30 for many small files at 10 Gbit/s; else leave it",
        source: ETHTOOL,
        ..ethtool(Ethtool::Coalesce("rx-usecs"))
    },
    Knob {
        id: "nic.rx_frames",
        title: "frames of a receive interrupt",
        meaning: "most received frames before an interrupt",
        unit: Some("frames"),
        values: "0 to 1000",
        default: "the driver's choice",
        rule_of_thumb: "leave it",
        source: ETHTOOL,
        ..ethtool(Ethtool::Coalesce("rx-frames"))
    },
    Knob {
        id: "nic.tx_usecs",
        title: "delay of the transmit interrupt",
        meaning: "longest time from a sent frame to its interrupt, where the driver does not choose",
        unit: Some("µs"),
        values: "0 to 1000; drivers round",
        default: "the driver's choice",
        rule_of_thumb: "leave it",
        source: ETHTOOL,
        ..ethtool(Ethtool::Coalesce("tx-usecs"))
    },
    Knob {
        id: "nic.tx_frames",
        title: "frames of a transmit interrupt",
        meaning: "most sent frames before an interrupt",
        unit: Some("frames"),
        values: "0 to 1000",
        default: "the driver's choice",
        rule_of_thumb: "leave it",
        source: ETHTOOL,
        ..ethtool(Ethtool::Coalesce("tx-frames"))
    },
    Knob {
        id: "nic.eee",
        title: "energy-efficient Ethernet",
        meaning: "the link sleeps when it is idle, and needs microseconds to wake up",
        default: "on over copper where both ends know it",
        rule_of_thumb: "off where latency counts or the link comes and goes",
        source: "IEEE 802.3az: 16.5 µs to wake up at 1000BASE-T, about 7 µs at 10GBASE-T",
        ..ethtool(Ethtool::Eee)
    },
    Knob {
        id: "nic.txqueuelen",
        title: "length of the queue above the driver",
        meaning: "packets that wait for the driver, with queueing disciplines that have no limit of their own",
        unit: Some("packets"),
        values: "1 to 1000000",
        default: "1000",
        rule_of_thumb: "leave it",
        source: "ip-link(8)",
        ..link(Link::QueueLength)
    },
    Knob {
        id: "nic.link_speed",
        title: "speed of the link",
        meaning: "what both ends agreed on; a port that came up slower than it could is the commonest reason for a slow share",
        unit: Some("Mbit/s"),
        values: "only looked at",
        default: "what both ends can",
        rule_of_thumb: "compare it with what the NIC and the switch can do; a worn cable costs a step",
        source: "IEEE 802.3 clause 28; ethtool(8)",
        ..ethtool(Ethtool::Speed)
    },
    Knob {
        id: "nic.speed_duplex",
        title: "choice of speed",
        meaning: "`auto` lets both ends agree; anything else forces a mode, and the other end must be forced to the same",
        values: "auto, and the modes of the hardware, `100 full`",
        default: "auto",
        rule_of_thumb: "auto: one forced end alone gives half duplex or no link",
        source: "IEEE 802.3 clause 28; ethtool(8)",
        ..ethtool(Ethtool::Modes)
    },
    Knob {
        id: "nic.rss",
        title: "queues that receive (RSS)",
        meaning: "over how many queues received connections are spread, evenly; one connection always stays on one queue",
        unit: Some("queues"),
        values: "1 to what the interface has; unset for the driver's own",
        default: "all of them",
        rule_of_thumb: "all of them, or as many as processors of the NIC's NUMA node",
        source: SCALING,
        ..ethtool(Ethtool::Spread)
    },
    Knob {
        id: "nic.rss_key",
        title: "key of RSS",
        meaning: "the key of the hash that chooses a connection's queue",
        values: "as many bytes as the driver has, in hexadecimal with colons",
        default: "random",
        rule_of_thumb: "leave it; `6d:5a` again and again brings both directions of a connection to one queue",
        source: SCALING,
        ..ethtool(Ethtool::SpreadKey)
    },
    Knob {
        id: "nic.rss_fields",
        title: "fields of RSS",
        meaning: "what of a TCP packet over IPv4 chooses its queue: `s` and `d` the addresses, `f` and `n` the ports",
        values: "sd, sdfn",
        default: "sdfn",
        rule_of_thumb: "sdfn: without the ports all connections of two hosts share one queue",
        source: "ethtool(8)",
        ..ethtool(Ethtool::SpreadFields)
    },
    Knob {
        id: "nic.rps",
        title: "processors that receive (RPS)",
        meaning: "the processors to which received packets are passed on in software, for NICs with fewer queues than processors",
        default: "off",
        rule_of_thumb: "off where `nic.rss` spreads; all processors with a NIC of one queue from 1 Gbit/s on",
        source: SCALING,
        ..queue(Queue::Receive)
    },
    Knob {
        id: "nic.xps",
        title: "processors that send (XPS)",
        meaning: "the processors that send on each queue",
        default: "the driver's choice",
        rule_of_thumb: "leave it",
        source: SCALING,
        ..queue(Queue::Send)
    },
    Knob {
        id: "nic.irq_affinity",
        title: "processors of the interrupts",
        meaning: "the processors that take the NIC's interrupts; `irqbalance` moves them again where it runs",
        default: "all, or the choice of `irqbalance`",
        rule_of_thumb: "leave it up to 10 Gbit/s; the NIC's NUMA node beyond",
        source: "kernel documentation, `Documentation/core-api/irq/irq-affinity.rst`",
        ..queue(Queue::Interrupts)
    },
    Knob {
        id: "nic.qdisc",
        title: "queueing discipline",
        meaning: "in which order waiting packets leave",
        default: "unset: the kernel takes `net.default_qdisc`",
        rule_of_thumb: "leave it on a LAN; fq where a congestion control paces",
        source: "tc(8)",
        ..queue(Queue::Discipline)
    },
    Knob {
        id: "nic.power_save",
        title: "power saving of the NIC",
        meaning: "whether the kernel may put the device to sleep (`auto`) or not (`on`: it stays awake)",
        values: "on, auto",
        default: "on, or auto where a power profile says so",
        rule_of_thumb: "on at a server",
        source: "kernel documentation, `Documentation/ABI/testing/sysfs-devices-power`",
        ..file(File::RuntimePower)
    },
    Knob {
        id: "power.governor",
        title: "clock of the processors",
        meaning: "how the clock of all processors follows their load",
        values: "those of the clock's driver, `scaling_available_governors`",
        default: "schedutil, or powersave with `intel_pstate`",
        rule_of_thumb: "performance while latency or the last tenth of a fast link counts",
        source: "kernel documentation, `Documentation/admin-guide/pm/cpufreq.rst`",
        ..file(File::Governor)
    },
    Knob {
        id: "power.energy_preference",
        title: "speed or saving",
        meaning: "what the processors lean to while they choose their clock by themselves",
        values: "those of the processor, `energy_performance_available_preferences`",
        default: "balance_performance",
        rule_of_thumb: "performance while latency or the last tenth of a fast link counts",
        source: "kernel documentation, `Documentation/admin-guide/pm/intel_pstate.rst`",
        ..file(File::EnergyPreference)
    },
    Knob {
        id: "tcp.congestion_control",
        title: "congestion control",
        meaning: "how fast a new TCP connection sends, and what it takes for a sign of congestion",
        values: "the modules that are loaded, `net.ipv4.tcp_available_congestion_control`",
        default: "cubic",
        rule_of_thumb: "cubic on a LAN; dctcp only where every switch marks",
        source: "RFC 9438; RFC 8257 for dctcp",
        ..sysctl("net.ipv4.tcp_congestion_control", Form::Congestion)
    },
    Knob {
        id: "tcp.rmem",
        title: "receive buffer of TCP",
        meaning: "least, first and largest buffer of a connection; the last bounds the window",
        unit: Some("bytes"),
        values: "three sizes, `4096,131072,6291456`",
        default: "4096 131072 6291456",
        rule_of_thumb: "leave it on a LAN up to 10 Gbit/s; 16 MiB at 25, 32 MiB at 100",
        source: "twice the rate times the round trip: 1.2 MiB at 10 Gbit/s and 0.5 ms; ip-sysctl",
        ..sysctl("net.ipv4.tcp_rmem", Form::Sizes)
    },
    Knob {
        id: "tcp.wmem",
        title: "send buffer of TCP",
        meaning: "least, first and largest buffer of a connection",
        unit: Some("bytes"),
        values: "three sizes, `4096,16384,4194304`",
        default: "4096 16384 4194304",
        rule_of_thumb: "leave it on a LAN up to 10 Gbit/s; 16 MiB at 25, 32 MiB at 100",
        source: IP_SYSCTL,
        ..sysctl("net.ipv4.tcp_wmem", Form::Sizes)
    },
    Knob {
        id: "tcp.window_autotuning",
        title: "window auto-tuning",
        meaning: "the receive buffer grows with the connection, up to the last size of `tcp.rmem`",
        default: "on",
        rule_of_thumb: "on",
        source: IP_SYSCTL,
        ..sysctl("net.ipv4.tcp_moderate_rcvbuf", Form::Switch)
    },
    Knob {
        id: "tcp.window_scaling",
        title: "window scaling",
        meaning: "windows of more than 64 KiB; both ends must have it",
        default: "on",
        rule_of_thumb: "on: 64 KiB at 0.5 ms are 131 MB/s",
        source: "RFC 7323 section 2",
        ..sysctl("net.ipv4.tcp_window_scaling", Form::Switch)
    },
    Knob {
        id: "tcp.timestamps",
        title: "TCP timestamps",
        meaning: "12 bytes in each segment for the round trip and against old segments: 0 is off, 1 on, 2 on without a random start",
        values: "0 to 2",
        default: "1",
        rule_of_thumb: "1: off gains 0.78 % at MTU 1500, and sequence numbers wrap every 3.4 s at 10 Gbit/s",
        source: "RFC 7323 sections 3 and 5",
        ..sysctl("net.ipv4.tcp_timestamps", Form::Number(0, 2))
    },
    Knob {
        id: "tcp.sack",
        title: "selective acknowledgements",
        meaning: "the receiver names what it has beyond a loss, so that only the loss is sent again",
        default: "on",
        rule_of_thumb: "on",
        source: "RFC 2018",
        ..sysctl("net.ipv4.tcp_sack", Form::Switch)
    },
    Knob {
        id: "tcp.mtu_probing",
        title: "probing of the path MTU",
        meaning: "TCP finds out itself how long packets may be: 0 never, 1 when large ones vanish, 2 always",
        values: "0 to 2",
        default: "0",
        rule_of_thumb: "1 wherever MTU 9000 is used, 0 elsewhere",
        source: "RFC 4821; 20 MB over a switch that drops large frames: never at 0, 3.2 s at 1",
        ..sysctl("net.ipv4.tcp_mtu_probing", Form::Number(0, 2))
    },
    Knob {
        id: "tcp.slow_start_after_idle",
        title: "slow start after idle",
        meaning: "a connection that was idle begins slowly again",
        default: "on",
        rule_of_thumb: "off at a file server from 10 Gbit/s on: its traffic comes in bursts",
        source: IP_SYSCTL,
        ..sysctl("net.ipv4.tcp_slow_start_after_idle", Form::Switch)
    },
    Knob {
        id: "net.rmem_max",
        title: "largest receive buffer that a program may ask for",
        meaning: "bounds `SO_RCVBUF`; TCP that tunes itself does not mind it",
        unit: Some("bytes"),
        values: "2304 to 1073741824",
        default: "212992",
        rule_of_thumb: "leave it, and let no program ask for a buffer",
        source: NET_SYSCTL,
        ..sysctl("net.core.rmem_max", Form::Number(2304, 1 << 30))
    },
    Knob {
        id: "net.wmem_max",
        title: "largest send buffer that a program may ask for",
        meaning: "bounds `SO_SNDBUF`; TCP that tunes itself does not mind it",
        unit: Some("bytes"),
        values: "4608 to 1073741824",
        default: "212992",
        rule_of_thumb: "leave it, and let no program ask for a buffer",
        source: NET_SYSCTL,
        ..sysctl("net.core.wmem_max", Form::Number(4608, 1 << 30))
    },
    Knob {
        id: "net.netdev_backlog",
        title: "backlog of received packets",
        meaning: "packets that wait for each processor when they come faster than it takes them",
        unit: Some("packets"),
        values: "1 to 1000000",
        default: "1000",
        rule_of_thumb: "5000 only where the second column of `/proc/net/softnet_stat` grows",
        source: NET_SYSCTL,
        ..sysctl("net.core.netdev_max_backlog", Form::Number(1, 1_000_000))
    },
    Knob {
        id: "net.netdev_budget",
        title: "packets of one polling round",
        meaning: "most packets that a processor takes before it does something else",
        unit: Some("packets"),
        values: "1 to 100000",
        default: "300",
        rule_of_thumb: "600 only where the third column of `/proc/net/softnet_stat` grows",
        source: NET_SYSCTL,
        ..sysctl("net.core.netdev_budget", Form::Number(1, 100_000))
    },
    Knob {
        id: "net.default_qdisc",
        title: "default queueing discipline",
        meaning: "what interfaces get that come up from now on",
        values: "pfifo_fast, fq, fq_codel, cake, sfq",
        default: "pfifo_fast, or fq_codel with systemd",
        rule_of_thumb: "leave it on a LAN; fq where a congestion control paces",
        source: NET_SYSCTL,
        ..sysctl("net.core.default_qdisc", Form::Discipline)
    },
    Knob {
        id: "tcp.ecn",
        title: "explicit congestion notification",
        meaning: "whether new connections ask switches to mark packets instead of dropping them: 0 never, 1 ask for it, 2 when the other end asks",
        values: "0 to 2, 5 with newer kernels",
        default: "2",
        rule_of_thumb: "2; 1 only where every switch marks",
        source: "RFC 3168; ip-sysctl",
        ..sysctl("net.ipv4.tcp_ecn", Form::Number(0, 5))
    },
    Knob {
        id: "tcp.delayed_ack",
        title: "delayed acknowledgements",
        meaning: "acknowledgements to the interface's own network wait up to 40 ms for company; off sends each at once",
        default: "on",
        rule_of_thumb: "on; off only where small files stall by 40 ms each",
        source: "RFC 1122 section 4.2.3.2; ip-route(8), `quickack`",
        ..route(Route::DelayedAcknowledgements)
    },
    Knob {
        id: "net.netdev_budget_usecs",
        title: "time of one polling round",
        meaning: "longest time that a processor takes packets before it does something else",
        unit: Some("µs"),
        values: "1 to 1000000",
        default: "2000 to 8000",
        rule_of_thumb: "8000 only where the third column of `/proc/net/softnet_stat` grows",
        source: NET_SYSCTL,
        ..sysctl("net.core.netdev_budget_usecs", Form::Number(1, 1_000_000))
    },
    Knob {
        id: "net.somaxconn",
        title: "waiting connections",
        meaning: "connections that may wait until a server takes them",
        unit: Some("connections"),
        values: "1 to 65535",
        default: "4096",
        rule_of_thumb: "leave it",
        source: NET_SYSCTL,
        ..sysctl("net.core.somaxconn", Form::Number(1, 65_535))
    },
    Knob {
        id: "route.rp_filter",
        title: "reverse-path filter",
        meaning: "whether packets are dropped whose sender would be answered over another interface: 0 never, 1 strictly, 2 only where it would not be answered at all",
        values: "0 to 2; the larger of this and of all interfaces counts",
        default: "0, and 2 with systemd",
        rule_of_thumb: "2 where two interfaces are in one network: 1 drops all that comes in on the second",
        source: IP_SYSCTL,
        ..route(Route::Number("rp_filter", 2))
    },
    Knob {
        id: "arp.ignore",
        title: "ARP for other interfaces",
        meaning: "1 answers only for addresses of the interface that was asked, 0 for all of the host's",
        values: "0 to 8; the larger of this and of all interfaces counts",
        default: "0",
        rule_of_thumb: "1 where two interfaces are in one network",
        source: IP_SYSCTL,
        ..route(Route::Number("arp_ignore", 8))
    },
    Knob {
        id: "arp.announce",
        title: "sender of ARP",
        meaning: "which address questions carry: 0 any of the host, 2 the best one for who is asked",
        values: "0 to 2; the larger of this and of all interfaces counts",
        default: "0",
        rule_of_thumb: "2 where two interfaces are in one network",
        source: IP_SYSCTL,
        ..route(Route::Number("arp_announce", 2))
    },
    Knob {
        id: "arp.filter",
        title: "ARP by route",
        meaning: "answers only where the reply would leave by the interface that was asked",
        default: "off",
        rule_of_thumb: "off; `arp.ignore` is better: without source rules only the wrong interface answers",
        source: IP_SYSCTL,
        ..route(Route::Switch("arp_filter"))
    },
    Knob {
        id: "route.source_rule",
        title: "rule for the interface's address",
        meaning: "what comes from the interface's address leaves by the interface, by a table of its own",
        default: "off",
        rule_of_thumb: "on where two interfaces are in one network: otherwise one of them sends for both",
        source: "ip-rule(8); seen on Linux 6.18",
        ..route(Route::SourceRule)
    },
    Knob {
        id: "route.interface_metric",
        title: "metric of the interface's network",
        meaning: "of several interfaces in one network the one with the smallest metric sends",
        default: "0",
        rule_of_thumb: "smallest at the fastest one",
        source: "ip-route(8)",
        ..route(Route::Metric)
    },
    Knob {
        id: "smb.server.multichannel",
        title: "multichannel of the server",
        meaning: "clients may spread one session over several connections and NICs; those that are connected must connect again to see it",
        default: "on since Samba 4.15, off before",
        rule_of_thumb: "on",
        source: SMB_CONF,
        ..samba("server multi channel support", samba::Form::Switch)
    },
    Knob {
        id: "smb.server.signing_required",
        title: "signing, demanded by the server",
        meaning: "whether clients must sign what they send",
        default: "as clients wish",
        rule_of_thumb: "as the site's rules say",
        source: SMB_CONF,
        ..samba_fixed("server signing", samba::Form::Text, PROTECTION)
    },
    Knob {
        id: "smb.server.encryption",
        title: "encryption by the server",
        meaning: "whether clients must encrypt",
        default: "as clients wish",
        rule_of_thumb: "as the site's rules say",
        source: SMB_CONF,
        ..samba_fixed("server smb encrypt", samba::Form::Text, PROTECTION)
    },
    Knob {
        id: "smb.server.dialect_min",
        title: "oldest dialect of the server",
        meaning: "clients that speak nothing newer are refused",
        default: "SMB2_02",
        rule_of_thumb: "SMB3_00 where every client can: multichannel and encryption need it",
        source: SMB_CONF,
        ..samba_fixed("server min protocol", samba::Form::Text, PROTECTION)
    },
    Knob {
        id: "smb.server.dialect_max",
        title: "newest dialect of the server",
        meaning: "nothing newer is agreed on",
        default: "SMB3",
        rule_of_thumb: "SMB3",
        source: SMB_CONF,
        ..samba_fixed("server max protocol", samba::Form::Text, PROTECTION)
    },
    Knob {
        id: "smb.server.max_read",
        title: "largest read of the server",
        meaning: "most bytes of one read, as the server tells its clients",
        unit: Some("bytes"),
        values: "65536 to 8388608",
        default: "8388608",
        rule_of_thumb: "8388608",
        source: "[MS-SMB2] section 2.2.4; smb.conf(5)",
        ..samba("smb2 max read", samba::Form::Number(65_536, 8_388_608))
    },
    Knob {
        id: "smb.server.max_write",
        title: "largest write of the server",
        meaning: "most bytes of one write, as the server tells its clients",
        unit: Some("bytes"),
        values: "65536 to 8388608",
        default: "8388608",
        rule_of_thumb: "8388608",
        source: "[MS-SMB2] section 2.2.4; smb.conf(5)",
        ..samba("smb2 max write", samba::Form::Number(65_536, 8_388_608))
    },
    Knob {
        id: "smb.server.max_trans",
        title: "largest other request of the server",
        meaning: "most bytes of one listing or other request, as the server tells its clients",
        unit: Some("bytes"),
        values: "65536 to 8388608",
        default: "8388608",
        rule_of_thumb: "8388608",
        source: "[MS-SMB2] section 2.2.4; smb.conf(5)",
        ..samba("smb2 max trans", samba::Form::Number(65_536, 8_388_608))
    },
    Knob {
        id: "smb.server.credits",
        title: "credits of the server",
        meaning: "requests that a client may have in flight on one connection",
        unit: Some("credits"),
        values: "128 to 65535",
        default: "8192",
        rule_of_thumb: "8192",
        source: SMB_CONF,
        ..samba("smb2 max credits", samba::Form::Number(128, 65_535))
    },
    Knob {
        id: "smb.server.leases",
        title: "leases",
        meaning: "clients may cache what nobody else has open",
        default: "on",
        rule_of_thumb: "on",
        source: SMB_CONF,
        ..samba("smb2 leases", samba::Form::Switch)
    },
    Knob {
        id: "smb.server.socket_options",
        title: "socket options of the server",
        meaning: "what the server asks of every connection; `SO_RCVBUF` and `SO_SNDBUF` in it switch window auto-tuning off",
        default: "TCP_NODELAY",
        rule_of_thumb: "TCP_NODELAY and nothing else",
        source: SMB_CONF,
        ..samba_fixed("socket options", samba::Form::Text, "knob-fixed.old-advice")
    },
    Knob {
        id: "smb.server.aio_read",
        title: "asynchronous reads",
        meaning: "reads from this size on are done beside each other; 0 is never",
        unit: Some("bytes"),
        values: "0 to 1073741824; only 0 and 1 make sense",
        default: "1 since Samba 4.5",
        rule_of_thumb: "1",
        source: SMB_CONF,
        ..samba_share("aio read size", samba::Form::Number(0, 1 << 30))
    },
    Knob {
        id: "smb.server.aio_write",
        title: "asynchronous writes",
        meaning: "writes from this size on are done beside each other; 0 is never",
        unit: Some("bytes"),
        values: "0 to 1073741824; only 0 and 1 make sense",
        default: "1 since Samba 4.5",
        rule_of_thumb: "1",
        source: SMB_CONF,
        ..samba_share("aio write size", samba::Form::Number(0, 1 << 30))
    },
    Knob {
        id: "smb.server.sendfile",
        title: "sendfile",
        meaning: "the kernel sends files by itself, where nothing is signed or encrypted",
        default: "off",
        rule_of_thumb: "off; try it from 10 Gbit/s on where nothing is signed",
        source: SMB_CONF,
        ..samba_share("use sendfile", samba::Form::Switch)
    },
    Knob {
        id: "smb.server.strict_sync",
        title: "strict sync",
        meaning: "the server writes to the disk when a client asks for it",
        default: "on since Samba 4.7",
        rule_of_thumb: "on",
        source: SMB_CONF,
        ..samba_share_fixed(
            "strict sync",
            samba::Form::Switch,
            "knob-fixed.power-failure",
        )
    },
    Knob {
        id: "smb.server.sync_always",
        title: "sync always",
        meaning: "the server has every write on the disk before it answers",
        default: "off",
        rule_of_thumb: "off; on where a power failure may lose nothing that was written",
        source: SMB_CONF,
        ..samba_share_fixed(
            "sync always",
            samba::Form::Switch,
            "knob-fixed.power-failure",
        )
    },
    Knob {
        id: "smb.server.interfaces",
        title: "interfaces of the server",
        meaning: "the addresses that the server offers to multichannel, and speeds and capabilities that are forced",
        default: "empty: all of them",
        rule_of_thumb: "leave it; `;capability=RSS` only where the driver hides its queues",
        source: SMB_CONF,
        ..samba_fixed("interfaces", samba::Form::Text, "knob-fixed.read-at-start")
    },
    Knob {
        id: "smb.server.multichannel_ksmbd",
        title: "multichannel of the kernel's server",
        meaning: "the same for `ksmbd`",
        default: "off",
        rule_of_thumb: "off",
        source: "kernel documentation, `Documentation/filesystems/smb/ksmbd.rst`; ksmbd.conf(5)",
        ..ksmbd("server multi channel support", "knob-fixed.may-corrupt")
    },
    Knob {
        id: "smb.client.signing_samba",
        title: "signing by Samba's own clients",
        meaning: "whether `smbclient` and its library sign",
        default: "as servers wish",
        rule_of_thumb: "as the site's rules say",
        source: SMB_CONF,
        ..samba_fixed("client signing", samba::Form::Text, PROTECTION)
    },
    Knob {
        id: "smb.client.encryption_samba",
        title: "encryption by Samba's own clients",
        meaning: "whether `smbclient` and its library encrypt",
        default: "as servers wish",
        rule_of_thumb: "as the site's rules say",
        source: SMB_CONF,
        ..samba_fixed("client smb encrypt", samba::Form::Text, PROTECTION)
    },
    Knob {
        id: "smb.client.multichannel",
        title: "multichannel of a mount",
        meaning: "one session over several connections and NICs",
        default: "off",
        rule_of_thumb: "on where the server has several NICs, or one with RSS",
        source: MOUNT_CIFS,
        ..mount(Mount::Flag("multichannel"))
    },
    Knob {
        id: "smb.client.max_channels",
        title: "channels of a mount",
        meaning: "most connections of one session",
        unit: Some("channels"),
        default: "1, and 2 with `multichannel`",
        rule_of_thumb: "4 at 10 Gbit/s, 8 at 25 and more, where the server has RSS",
        source: MOUNT_CIFS,
        ..mount(Mount::Number("max_channels", Some(1)))
    },
    Knob {
        id: "smb.client.signing_required",
        title: "signing of a mount",
        meaning: "everything is signed",
        default: "as the server wishes",
        rule_of_thumb: "as the site's rules say",
        source: MOUNT_CIFS,
        ..mount(Mount::Signing)
    },
    Knob {
        id: "smb.client.encryption",
        title: "encryption of a mount",
        meaning: "everything is encrypted",
        default: "as the server wishes",
        rule_of_thumb: "as the site's rules say",
        source: MOUNT_CIFS,
        ..mount(Mount::Flag("seal"))
    },
    Knob {
        id: "smb.client.dialect",
        title: "dialect of a mount",
        meaning: "the version of SMB that was agreed on",
        default: "the newest of both",
        rule_of_thumb: "3.1.1",
        source: MOUNT_CIFS,
        ..mount(Mount::Word("vers"))
    },
    Knob {
        id: "smb.client.max_read",
        title: "largest read of a mount",
        meaning: "most bytes of one read",
        unit: Some("bytes"),
        default: "4194304",
        rule_of_thumb: "leave it up to 10 Gbit/s, 8388608 beyond",
        source: MOUNT_CIFS,
        ..mount(Mount::Number("rsize", None))
    },
    Knob {
        id: "smb.client.max_write",
        title: "largest write of a mount",
        meaning: "most bytes of one write",
        unit: Some("bytes"),
        default: "4194304",
        rule_of_thumb: "leave it up to 10 Gbit/s, 8388608 beyond",
        source: MOUNT_CIFS,
        ..mount(Mount::Number("wsize", None))
    },
    Knob {
        id: "smb.client.cache",
        title: "cache of a mount",
        meaning: "what the client remembers of files: `strict` asks the server, `loose` can corrupt with several writers",
        default: "strict",
        rule_of_thumb: "strict",
        source: MOUNT_CIFS,
        ..mount(Mount::Word("cache"))
    },
    Knob {
        id: "smb.client.attribute_cache",
        title: "attributes that a mount remembers",
        meaning: "how long sizes and times are believed without asking",
        unit: Some("s"),
        default: "1",
        rule_of_thumb: "leave it",
        source: MOUNT_CIFS,
        ..mount(Mount::Number("actimeo", Some(1)))
    },
    Knob {
        id: FstabEntry::KNOB,
        title: "line of `/etc/fstab` of a mount",
        meaning: "what mounts the share when the system starts; `tune --persist` puts into it what it has proven",
        default: "unset",
        rule_of_thumb: "the options that `tune` has proven, and user and password in a file of `credentials=`",
        source: "fstab(5); mount.cifs(8)",
        ..fstab()
    },
];
