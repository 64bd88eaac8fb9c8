//! The knobs of macOS, with what people want to know about them.

use super::smb_session::Session;
use super::{Form, Mac, mac, nsmb, nsmb_fixed, sysctl};
use crate::knob::{Knob, TargetKind};

/// Where it is known from.
const NETWORKSETUP: &str = "networksetup(8)";
const XNU: &str = "xnu 11417, `bsd/netinet` and `bsd/net`; ifconfig(8)";
const NSMB: &str = "nsmb.conf(5); SMBClient 494";
/// Why a protection is only looked at, for [`locale::say`].
const PROTECTION: &str = "knob-fixed.protection";
/// Why nothing is known of the hardware's queues.
const NO_COMMAND: &str = "error-macos.no-command";

/// The knobs of macOS.
pub(in crate::knob) const KNOBS: &[Knob] = &[
    Knob {
        id: "nic.mtu",
        title: "MTU",
        meaning: "largest IP packet that the interface sends",
        unit: Some("bytes"),
        values: "1280 to what the driver takes, often 1500 or 9000",
        default: "1500",
        rule_of_thumb: "9000 when every device of the segment agrees, otherwise 1500",
        source: NETWORKSETUP,
        ..mac(TargetKind::Nic, Mac::Mtu)
    },
    Knob {
        id: "nic.link_speed",
        title: "speed of the link",
        meaning: "what both ends agreed on",
        unit: Some("Mbit/s"),
        default: "what both ends can",
        rule_of_thumb: "compare it with what the interface and the switch can do",
        source: "ifconfig(8)",
        ..mac(TargetKind::Nic, Mac::Speed)
    },
    Knob {
        id: "nic.speed_duplex",
        title: "medium",
        meaning: "`autoselect` lets both ends agree; anything else forces a medium with its options",
        values: "autoselect, and what `networksetup -listValidMedia` lists",
        default: "autoselect",
        rule_of_thumb: "autoselect: one forced end alone gives half duplex or no link",
        source: NETWORKSETUP,
        ..mac(TargetKind::Nic, Mac::Medium)
    },
    Knob {
        id: "nic.flow_control",
        title: "flow control",
        meaning: "pause frames of Ethernet, as an option of the medium",
        default: "what both ends agreed on",
        rule_of_thumb: "leave it",
        source: XNU,
        ..mac(TargetKind::Nic, Mac::MediumOption("flow-control"))
    },
    Knob {
        id: "nic.eee",
        title: "energy-efficient Ethernet",
        meaning: "the link sleeps when it is idle, as an option of the medium",
        default: "on with the ports of Apple",
        rule_of_thumb: "leave it; turn it off at the switch where links come and go",
        source: XNU,
        ..mac(
            TargetKind::Nic,
            Mac::MediumOption("energy-efficient-ethernet"),
        )
    },
    Knob {
        id: "nic.tso",
        title: "TCP segmentation offload",
        meaning: "the NIC cuts packets of up to 64 KiB into frames",
        default: "on",
        rule_of_thumb: "on",
        source: XNU,
        ..mac(TargetKind::Nic, Mac::Capability(&["TSO4", "TSO6"], "tso"))
    },
    Knob {
        id: "nic.lro",
        title: "large receive offload",
        meaning: "the NIC joins received frames",
        default: "the driver's choice",
        rule_of_thumb: "on from 10 Gbit/s on, where the driver has it",
        source: XNU,
        ..mac(TargetKind::Nic, Mac::Capability(&["LRO"], "lro"))
    },
    Knob {
        id: "nic.tx_checksum",
        title: "checksums on sending",
        meaning: "the NIC computes the checksums of what is sent; off takes `nic.tso` with it",
        default: "on",
        rule_of_thumb: "on",
        source: XNU,
        ..mac(TargetKind::Nic, Mac::Capability(&["TXCSUM"], "txcsum"))
    },
    Knob {
        id: "nic.rx_checksum",
        title: "checksums on receiving",
        meaning: "the NIC verifies the checksums of what is received",
        default: "on",
        rule_of_thumb: "on",
        source: XNU,
        ..mac(TargetKind::Nic, Mac::Capability(&["RXCSUM"], "rxcsum"))
    },
    Knob {
        id: "nic.rss",
        title: "receive-side scaling",
        meaning: "over how many queues received connections are spread",
        default: "the driver's choice",
        rule_of_thumb: "nothing to choose",
        source: XNU,
        ..mac(TargetKind::Nic, Mac::Nothing(NO_COMMAND))
    },
    Knob {
        id: "nic.channels",
        title: "queues",
        meaning: "pairs of queues, each with an interrupt of its own",
        default: "the driver's choice",
        rule_of_thumb: "nothing to choose",
        source: XNU,
        ..mac(TargetKind::Nic, Mac::Nothing(NO_COMMAND))
    },
    Knob {
        id: "nic.ring_rx",
        title: "length of the receive queues",
        meaning: "frames that the NIC can hold before the driver fetches them",
        default: "the driver's choice",
        rule_of_thumb: "nothing to choose",
        source: XNU,
        ..mac(TargetKind::Nic, Mac::Nothing(NO_COMMAND))
    },
    Knob {
        id: "nic.ring_tx",
        title: "length of the transmit queues",
        meaning: "frames that wait in the NIC",
        default: "the driver's choice",
        rule_of_thumb: "nothing to choose",
        source: XNU,
        ..mac(TargetKind::Nic, Mac::Nothing(NO_COMMAND))
    },
    Knob {
        id: "nic.interrupt_moderation",
        title: "interrupt moderation",
        meaning: "how long interrupts wait for company",
        default: "the driver's choice",
        rule_of_thumb: "nothing to choose",
        source: XNU,
        ..mac(TargetKind::Nic, Mac::Nothing(NO_COMMAND))
    },
    Knob {
        id: "route.interface_metric",
        title: "order of the network services",
        meaning: "the first service that is up has the default route",
        values: "all services with ` > ` between them",
        default: "the order in which they were made",
        rule_of_thumb: "the fastest wired one first",
        source: NETWORKSETUP,
        ..mac(TargetKind::Host, Mac::Order)
    },
    Knob {
        id: "power.plan",
        title: "power mode",
        meaning: "0 is automatic, 1 saves power, 2 is full power, while the mains supply it",
        values: "0 to 2, on older machines 0 to 1",
        default: "0",
        rule_of_thumb: "2 where it is offered, while the last tenth of a fast link counts",
        source: "pmset(1)",
        ..mac(TargetKind::Host, Mac::Power)
    },
    Knob {
        id: "tcp.window_autotuning",
        title: "window auto-tuning",
        meaning: "the receive buffer grows with the connection",
        default: "on",
        rule_of_thumb: "on",
        source: XNU,
        ..sysctl("net.inet.tcp.doautorcvbuf", Form::Switch)
    },
    Knob {
        id: "tcp.window_autotuning_send",
        title: "auto-tuning of the send buffer",
        meaning: "the send buffer grows with the connection",
        default: "on",
        rule_of_thumb: "on",
        source: XNU,
        ..sysctl("net.inet.tcp.doautosndbuf", Form::Switch)
    },
    Knob {
        id: "tcp.rmem_max",
        title: "largest receive buffer of TCP",
        meaning: "how far the receive buffer grows; no more than `net.rmem_max`",
        unit: Some("bytes"),
        values: "65536 to 1073741824",
        default: "2097152 to 8388608, by memory",
        rule_of_thumb: "leave it up to 10 Gbit/s; 16777216 at 25",
        source: XNU,
        ..sysctl("net.inet.tcp.autorcvbufmax", Form::Number(65_536, 1 << 30))
    },
    Knob {
        id: "tcp.wmem_max",
        title: "largest send buffer of TCP",
        meaning: "how far the send buffer grows; no more than `net.rmem_max`",
        unit: Some("bytes"),
        values: "65536 to 1073741824",
        default: "2097152 to 8388608, by memory",
        rule_of_thumb: "leave it up to 10 Gbit/s; 16777216 at 25",
        source: XNU,
        ..sysctl("net.inet.tcp.autosndbufmax", Form::Number(65_536, 1 << 30))
    },
    Knob {
        id: "tcp.congestion_control",
        title: "congestion control",
        meaning: "how fast a new TCP connection sends",
        values: "cubic, newreno",
        default: "cubic",
        rule_of_thumb: "cubic",
        source: XNU,
        ..sysctl(
            "net.inet.tcp.use_newreno",
            Form::Choice(&["cubic", "newreno"]),
        )
    },
    Knob {
        id: "tcp.mtu_probing",
        title: "detection of black holes",
        meaning: "TCP sends smaller packets where large ones vanish, down to 1200 bytes",
        default: "on",
        rule_of_thumb: "on: a path that swallows jumbo frames then works, slowly",
        source: XNU,
        ..sysctl("net.inet.tcp.pmtud_blackhole_detection", Form::Switch)
    },
    Knob {
        id: "tcp.mtu_discovery",
        title: "discovery of the path MTU",
        meaning: "TCP heeds what routers say of the largest packet",
        default: "on",
        rule_of_thumb: "on",
        source: XNU,
        ..sysctl("net.inet.tcp.path_mtu_discovery", Form::Switch)
    },
    Knob {
        id: "tcp.timestamps",
        title: "TCP timestamps",
        meaning: "12 bytes in each segment for the round trip and against old segments",
        default: "on",
        rule_of_thumb: "on",
        source: XNU,
        ..mac(TargetKind::Host, Mac::Always("net.inet.tcp.rfc1323"))
    },
    Knob {
        id: "tcp.sack",
        title: "selective acknowledgements",
        meaning: "the receiver names what it has beyond a loss",
        default: "on",
        rule_of_thumb: "on",
        source: "RFC 2018",
        ..sysctl("net.inet.tcp.sack", Form::Switch)
    },
    Knob {
        id: "tcp.delayed_ack",
        title: "delayed acknowledgements",
        meaning: "0 sends each at once, 1 and 2 wait, 3 finds out by itself",
        values: "0 to 3",
        default: "3",
        rule_of_thumb: "3; 0 only where small files stall by 40 ms and more each",
        source: XNU,
        ..sysctl("net.inet.tcp.delayed_ack", Form::Number(0, 3))
    },
    Knob {
        id: "tcp.task_offload_global",
        title: "segmentation offload of all interfaces",
        meaning: "the switch above every interface's `nic.tso`",
        default: "on",
        rule_of_thumb: "on",
        source: XNU,
        ..sysctl("net.inet.tcp.tso", Form::Switch)
    },
    Knob {
        id: "net.rmem_max",
        title: "largest buffer of a socket",
        meaning: "bounds what programs ask for and what TCP grows to",
        unit: Some("bytes"),
        values: "65536 to 1073741824",
        default: "8388608",
        rule_of_thumb: "leave it up to 10 Gbit/s; 16777216 at 25",
        source: XNU,
        ..sysctl("kern.ipc.maxsockbuf", Form::Number(65_536, 1 << 30))
    },
    Knob {
        id: "net.somaxconn",
        title: "waiting connections",
        meaning: "connections that may wait until a server takes them",
        unit: Some("connections"),
        values: "1 to 32767",
        default: "128",
        rule_of_thumb: "leave it",
        source: XNU,
        ..sysctl("kern.ipc.somaxconn", Form::Number(1, 32_767))
    },
    Knob {
        id: "smb.large_mtu",
        title: "largest read of the client",
        meaning: "most bytes of one read; there only while a share is mounted",
        unit: Some("bytes"),
        values: "65536 to 67108864",
        default: "8388608",
        rule_of_thumb: "8388608",
        source: NSMB,
        ..sysctl("net.smb.fs.maxread", Form::Number(65_536, 1 << 26))
    },
    Knob {
        id: "smb.large_mtu_write",
        title: "largest write of the client",
        meaning: "most bytes of one write; there only while a share is mounted",
        unit: Some("bytes"),
        values: "65536 to 67108864",
        default: "8388608",
        rule_of_thumb: "8388608",
        source: NSMB,
        ..sysctl("net.smb.fs.maxwrite", Form::Number(65_536, 1 << 26))
    },
    Knob {
        id: "smb.client.signing_required",
        title: "signing, demanded by the client",
        meaning: "servers that do not sign are refused",
        default: "off",
        rule_of_thumb: "as the site's rules say",
        source: NSMB,
        ..nsmb_fixed("signing_required", Form::Switch, PROTECTION)
    },
    Knob {
        id: "smb.client.encryption",
        title: "encryption, demanded by the client",
        meaning: "sessions that are not encrypted are refused",
        default: "off",
        rule_of_thumb: "as the site's rules say",
        source: NSMB,
        ..nsmb_fixed("force_sess_encrypt", Form::Switch, PROTECTION)
    },
    Knob {
        id: "smb.client.dialects",
        title: "dialects of the client",
        meaning: "the sum of 1 for SMB 1, 2 for SMB 2 and 4 for SMB 3",
        default: "7",
        rule_of_thumb: "6",
        source: NSMB,
        ..nsmb_fixed("protocol_vers_map", Form::Number(0, 7), PROTECTION)
    },
    Knob {
        id: "smb.client.multichannel",
        title: "multichannel of the client",
        meaning: "one session over several connections and interfaces, from the next mount on",
        default: "on since macOS 11.3",
        rule_of_thumb: "on: interfaces of the same speed are used at once, others wait",
        source: NSMB,
        ..nsmb("mc_on", Form::Switch)
    },
    Knob {
        id: "smb.client.prefer_wired",
        title: "wired before Wi-Fi",
        meaning: "the main connection goes over a cable where there is one, from the next mount on",
        default: "off",
        rule_of_thumb: "on where Wi-Fi and a cable are up at once",
        source: NSMB,
        ..nsmb("mc_prefer_wired", Form::Switch)
    },
    Knob {
        id: "smb.client.max_channels",
        title: "channels of the client",
        meaning: "most connections of one session, from the next mount on",
        unit: Some("channels"),
        values: "1 to 64, unset",
        default: "9",
        rule_of_thumb: "leave it",
        source: NSMB,
        ..nsmb("mc_max_channels", Form::Number(1, 64))
    },
    Knob {
        id: "smb.client.max_channels_per_server",
        title: "channels of an interface of the server",
        meaning: "connections to an interface of the server that has RSS, from the next mount on",
        unit: Some("channels"),
        values: "1 to 64, unset",
        default: "4",
        rule_of_thumb: "leave it; 8 at 100 Gbit/s",
        source: NSMB,
        ..nsmb("mc_srvr_rss_channels", Form::Number(1, 64))
    },
    Knob {
        id: "smb.client.nic_rss",
        title: "channels of an interface of the client",
        meaning: "connections of an interface of this machine that has RSS, from the next mount on",
        unit: Some("channels"),
        values: "1 to 64, unset",
        default: "4",
        rule_of_thumb: "leave it",
        source: NSMB,
        ..nsmb("mc_clnt_rss_channels", Form::Number(1, 64))
    },
    Knob {
        id: "smb.compression",
        title: "compression",
        meaning: "how SMB 3.1.1 compresses; 0 is off, from the next mount on",
        values: "0 to 255, unset",
        default: "0",
        rule_of_thumb: "0 from 1 Gbit/s on",
        source: NSMB,
        ..nsmb("comp_algorithms_map", Form::Number(0, 255))
    },
    Knob {
        id: "smb.dir_cache",
        title: "longest memory of folders",
        meaning: "how long a listing is believed at most, from the next mount on",
        unit: Some("s"),
        values: "0 to 3600, unset",
        default: "60",
        rule_of_thumb: "leave it",
        source: NSMB,
        ..nsmb("dir_cache_max", Form::Number(0, 3600))
    },
    Knob {
        id: "smb.dir_cache_min",
        title: "shortest memory of folders",
        meaning: "how long a listing is believed at least, from the next mount on",
        unit: Some("s"),
        values: "0 to 3600, unset",
        default: "30",
        rule_of_thumb: "leave it",
        source: NSMB,
        ..nsmb("dir_cache_min", Form::Number(0, 3600))
    },
    Knob {
        id: "smb.dir_cache_off",
        title: "no memory of folders",
        meaning: "every listing is asked for again, from the next mount on",
        default: "off",
        rule_of_thumb: "off: large folders are slow without",
        source: NSMB,
        ..nsmb("dir_cache_off", Form::Switch)
    },
    Knob {
        id: "smb.client.notify_off",
        title: "no notes of changes",
        meaning: "the server does not tell of changes, from the next mount on",
        default: "off",
        rule_of_thumb: "off",
        source: NSMB,
        ..nsmb("notify_off", Form::Switch)
    },
    Knob {
        id: "smb.server.signing_required",
        title: "signing, demanded by the server",
        meaning: "whether clients of the built-in server must sign",
        default: "off",
        rule_of_thumb: "as the site's rules say",
        source: "com.apple.smb.server; smbd(8)",
        ..mac(TargetKind::Host, Mac::Server("SigningRequired", PROTECTION))
    },
    Knob {
        id: "smb.server.multichannel",
        title: "multichannel of the server",
        meaning: "clients may spread one session over several connections",
        default: "the server's choice",
        rule_of_thumb: "nothing to choose",
        source: NSMB,
        ..mac(
            TargetKind::Host,
            Mac::Nothing("error-macos.no-server-setting"),
        )
    },
    Knob {
        id: "smb.session.dialect",
        title: "dialect of a mount",
        meaning: "the version of SMB that was agreed on",
        default: "the newest of both",
        rule_of_thumb: "SMB_3.1.1",
        source: "smbutil(1)",
        ..mac(
            TargetKind::Mount,
            Mac::Session(Session::Word("SMB_VERSION")),
        )
    },
    Knob {
        id: "smb.session.signing",
        title: "signing of a mount",
        meaning: "how everything is signed",
        default: "as both ends wish",
        rule_of_thumb: "AES-128-GMAC where it is signed: it is the fastest",
        source: "smbutil(1)",
        ..mac(
            TargetKind::Mount,
            Mac::Session(Session::Word("SMB_CURR_SIGN_ALGORITHM")),
        )
    },
    Knob {
        id: "smb.session.encryption",
        title: "encryption of a mount",
        meaning: "how everything is encrypted",
        default: "as both ends wish",
        rule_of_thumb: "AES-128-GCM where it is encrypted: it is the fastest",
        source: "smbutil(1)",
        ..mac(
            TargetKind::Mount,
            Mac::Session(Session::Word("SMB_CURR_ENCRYPT_ALGORITHM")),
        )
    },
    Knob {
        id: "smb.session.channels",
        title: "channels of a mount",
        meaning: "connections of the session that are at work",
        unit: Some("channels"),
        default: "1, more with multichannel",
        rule_of_thumb: "compare it with the interfaces of both ends",
        source: "smbutil(1)",
        ..mac(TargetKind::Mount, Mac::Session(Session::Channels))
    },
];
