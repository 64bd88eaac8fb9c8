//! The knobs of Windows, with what people want to know about them.

use super::super::{Disturbance, Knob, TargetKind};
use super::adapter::Adapter;
use super::driver_property::{Codes, Property};
use super::smb_status::SmbStatus;
use super::tcp_smb_and_power::{
    Form, Offload, Registry, SERVER_KEY, Setting, Side, Smb, TCP_KEY, Tcp,
};
use super::{Windows, adapter, setting, windows};
use crate::exec::Privilege;

/// Where most of it is known from.
const NDIS: &str = "Microsoft, standardized INF keywords for network devices";
const POWERSHELL: &str = "Microsoft, PowerShell modules NetAdapter and NetTCPIP";
const TUNING: &str = "Microsoft, performance tuning network adapters";
const SMB: &str = "Microsoft, `Set-SmbClientConfiguration`";
const SMB_SERVER: &str = "Microsoft, `Set-SmbServerConfiguration`";
const CLIENT_TUNING: &str = "Microsoft, performance tuning for SMB clients";
/// Why a protection is only looked at, for [`locale::say`].
const PROTECTION: &str = "knob-fixed.protection";

/// The knobs of Windows.
pub(in super::super) const KNOBS: &[Knob] = &[
    Knob {
        id: "nic.mtu",
        title: "MTU",
        meaning: "largest IP packet that is sent: the smaller one of what the driver takes (`*JumboPacket`, which counts 14 bytes more) and of what the protocol stack sends (`NlMtu`); both are set",
        unit: Some("bytes"),
        values: "576 to what the driver takes; 1280 at least where IPv6 is in use",
        default: "1500",
        rule_of_thumb: "9000 when every device of the segment agrees, otherwise 1500",
        source: NDIS,
        ..adapter(Adapter::Mtu)
    },
    Knob {
        id: "nic.link_speed",
        title: "speed of the link",
        meaning: "what the ends of the link agreed on",
        unit: Some("Mbit/s"),
        values: "only looked at",
        default: "what the cable and both ends can",
        rule_of_thumb: "the fastest that both ends can",
        source: POWERSHELL,
        ..adapter(Adapter::Speed)
    },
    Knob {
        id: "nic.speed_duplex",
        title: "forced speed",
        meaning: "whether the ends of the link agree on the speed by themselves, or it is forced",
        values: "auto, 10M half, 10M full, 100M half, 100M full, 1G full, 10G full, 20G full, 40G full, 100G full, as far as the driver has them",
        default: "auto",
        rule_of_thumb: "auto; a forced speed that the other end does not have is no link",
        source: NDIS,
        ..adapter(Adapter::Property(Property {
            keywords: &["*SpeedDuplex"],
            names: &["Speed & Duplex", "速度とデュプレックス"],
            codes: Codes::Words(&[
                ("0", "auto"),
                ("1", "10M half"),
                ("2", "10M full"),
                ("3", "100M half"),
                ("4", "100M full"),
                ("6", "1G full"),
                ("7", "10G full"),
                ("8", "20G full"),
                ("9", "40G full"),
                ("10", "100G full"),
            ]),
        }))
    },
    Knob {
        id: "nic.tso",
        title: "large send offload",
        meaning: "the NIC cuts packets of up to 64 KiB into frames, so that the processor need not",
        values: "on, off, ipv4, ipv6: the latter two where only one of them is on",
        default: "on",
        rule_of_thumb: "on; off only where the driver corrupts or stalls",
        source: NDIS,
        ..adapter(Adapter::Pair {
            keywords: ["*LsoV2IPv4", "*LsoV2IPv6"],
            bit: 1,
        })
    },
    Knob {
        id: "nic.lro",
        title: "receive segment coalescing",
        meaning: "the NIC joins received frames of one connection before the protocol stack sees them (RSC)",
        values: "on, off, ipv4, ipv6: the latter two where only one of them is on",
        default: "on where the driver can",
        rule_of_thumb: "on; drivers that capture, Wireshark's among them, keep it from working",
        source: POWERSHELL,
        ..adapter(Adapter::Pair {
            keywords: ["*RscIPv4", "*RscIPv6"],
            bit: 1,
        })
    },
    Knob {
        id: "nic.tx_checksum",
        title: "checksums on sending",
        meaning: "the NIC computes the checksums of the TCP packets that are sent; off keeps `nic.tso` from working",
        values: "on, off, ipv4, ipv6: the latter two where only one of them is on",
        default: "on",
        rule_of_thumb: "on; off only to find out whether the NIC corrupts",
        source: NDIS,
        ..adapter(Adapter::Pair {
            keywords: ["*TCPChecksumOffloadIPv4", "*TCPChecksumOffloadIPv6"],
            bit: 1,
        })
    },
    Knob {
        id: "nic.rx_checksum",
        title: "checksums on receiving",
        meaning: "the NIC verifies the checksums of the TCP packets that are received; off keeps `nic.lro` from working",
        values: "on, off, ipv4, ipv6: the latter two where only one of them is on",
        default: "on",
        rule_of_thumb: "on",
        source: NDIS,
        ..adapter(Adapter::Pair {
            keywords: ["*TCPChecksumOffloadIPv4", "*TCPChecksumOffloadIPv6"],
            bit: 2,
        })
    },
    Knob {
        id: "nic.flow_control",
        title: "flow control",
        meaning: "pause frames of Ethernet: `rx` obeys those of the other end, `tx` sends them when the receive queue fills; `auto` leaves it to both ends",
        values: "off, tx, rx, rx+tx, auto",
        default: "rx+tx with most drivers",
        rule_of_thumb: "the same at both ends; on where the NIC drops received frames, off where a slow receiver stalls the others",
        source: NDIS,
        ..adapter(Adapter::Property(Property {
            keywords: &["*FlowControl"],
            names: &["Flow Control", "フロー制御"],
            codes: Codes::Words(&[
                ("0", "off"),
                ("1", "tx"),
                ("2", "rx"),
                ("3", "rx+tx"),
                ("4", "auto"),
            ]),
        }))
    },
    Knob {
        id: "nic.rss",
        title: "receive side scaling",
        meaning: "received connections are spread over several queues and processors; SMB multichannel opens several connections over a NIC only with it",
        values: "on, off",
        default: "on",
        rule_of_thumb: "on",
        source: NDIS,
        ..adapter(Adapter::Property(Property {
            keywords: &["*RSS"],
            names: &[
                "Receive Side Scaling",
                "Receive-Side Scaling",
                "受信側スケーリング",
            ],
            codes: Codes::Switch,
        }))
    },
    Knob {
        id: "nic.channels",
        title: "queues",
        meaning: "queues that receive, each on a processor of its own; one TCP connection uses one of them",
        unit: Some("queues"),
        values: "those that the driver has",
        default: "2 to 16, as the driver chooses",
        rule_of_thumb: "up to 4 at 1 Gbit/s, 8 at 10, 16 at 25: no more than processors near the NIC",
        source: TUNING,
        ..adapter(Adapter::Queues)
    },
    Knob {
        id: "nic.ring_rx",
        title: "length of the receive queues",
        meaning: "frames that the NIC can hold before the driver fetches them",
        unit: Some("descriptors"),
        values: "those that the driver has",
        default: "256 to 512",
        rule_of_thumb: "the most that the driver has where `Get-NetAdapterStatistics` counts discarded packets",
        source: TUNING,
        ..adapter(Adapter::Property(Property {
            keywords: &["*ReceiveBuffers"],
            names: &["Receive Buffers", "受信バッファー", "受信バッファ"],
            codes: Codes::Number,
        }))
    },
    Knob {
        id: "nic.ring_tx",
        title: "length of the transmit queues",
        meaning: "frames that wait in the NIC to be sent",
        unit: Some("descriptors"),
        values: "those that the driver has",
        default: "128 to 512",
        rule_of_thumb: "leave it",
        source: NDIS,
        ..adapter(Adapter::Property(Property {
            keywords: &["*TransmitBuffers"],
            names: &["Transmit Buffers", "送信バッファー", "送信バッファ"],
            codes: Codes::Number,
        }))
    },
    Knob {
        id: "nic.interrupt_moderation",
        title: "interrupt moderation",
        meaning: "received frames wait for each other, so that one interrupt serves several",
        values: "on, off",
        default: "on",
        rule_of_thumb: "on; off only where latency counts more than the processor",
        source: TUNING,
        ..adapter(Adapter::Property(Property {
            keywords: &["*InterruptModeration"],
            names: &["Interrupt Moderation", "割り込み加減"],
            codes: Codes::Switch,
        }))
    },
    Knob {
        id: "nic.interrupt_rate",
        title: "rate of interrupts",
        meaning: "how long frames wait for an interrupt, with drivers of Intel",
        values: "adaptive, off, low, medium, high, extreme",
        default: "adaptive",
        rule_of_thumb: "adaptive",
        source: "Intel, advanced settings for Ethernet adapters; Microsoft, performance tuning network adapters",
        ..adapter(Adapter::Property(Property {
            keywords: &["ITR"],
            names: &["Interrupt Moderation Rate", "割り込み加減率"],
            codes: Codes::Words(&[
                ("65535", "adaptive"),
                ("0", "off"),
                ("200", "low"),
                ("488", "medium"),
                ("950", "high"),
                ("2000", "extreme"),
            ]),
        }))
    },
    Knob {
        id: "nic.eee",
        title: "energy-efficient Ethernet",
        meaning: "the link sleeps when it is idle, and needs microseconds to wake up; drivers have names of their own for it",
        values: "on, off",
        default: "on over copper where both ends know it",
        rule_of_thumb: "off where latency counts or the link comes and goes",
        source: "IEEE 802.3az: 16.5 µs to wake up at 1000BASE-T, about 7 µs at 10GBASE-T",
        ..adapter(Adapter::Property(Property {
            keywords: &[
                "*EEE",
                "EEELinkAdvertisement",
                "EnableGreenEthernet",
                "AdvancedEEE",
                "PowerSavingMode",
                "GigaLite",
            ],
            names: &[
                "Energy-Efficient Ethernet",
                "Energy Efficient Ethernet",
                "省電力イーサネット",
            ],
            codes: Codes::Switch,
        }))
    },
    Knob {
        id: "nic.power_save",
        title: "selective suspend",
        meaning: "whether the system may put the NIC to sleep when it is idle",
        values: "on, off",
        default: "on with laptops and USB",
        rule_of_thumb: "off at a server and with USB",
        source: POWERSHELL,
        ..adapter(Adapter::Power("SelectiveSuspend"))
    },
    Knob {
        id: "nic.sleep_on_disconnect",
        title: "sleep without a link",
        meaning: "whether the NIC sleeps while there is no link",
        values: "on, off",
        default: "the driver's choice",
        rule_of_thumb: "off where the link comes and goes",
        source: POWERSHELL,
        ..adapter(Adapter::Power("DeviceSleepOnDisconnect"))
    },
    Knob {
        id: "route.interface_metric",
        title: "metric of the interface",
        meaning: "which of several interfaces is used where more than one leads there: the one with the lower metric",
        values: "1 to 9999, or unset, where the system chooses by speed",
        default: "unset",
        rule_of_thumb: "unset; equal metrics in one subnet mean that plain TCP uses one NIC",
        source: "Microsoft, automatic metric for IPv4 routes",
        ..interface(Adapter::Metric)
    },
    Knob {
        id: "net.profile_firewall",
        title: "network profile",
        meaning: "whether the firewall takes the network for a private one; on a public one nobody reaches the shares of this host. Private opens them to that network",
        values: "public, private; domain is only looked at",
        default: "public where there is no gateway",
        rule_of_thumb: "private on a network of one's own, public elsewhere",
        source: POWERSHELL,
        ..interface(Adapter::Profile)
    },
    Knob {
        id: "smb.client.nic_rss",
        title: "RSS, as the SMB client sees it",
        meaning: "whether SMB multichannel opens several connections over the NIC: it must do RSS over more than one queue",
        values: "only looked at",
        default: "what the driver can",
        rule_of_thumb: "on",
        source: "Microsoft, `Get-SmbClientNetworkInterface`; [MS-SMB2] section 3.2.4.20.8",
        ..interface(Adapter::SmbRss)
    },
    Knob {
        id: "power.plan",
        title: "power scheme",
        meaning: "how the system trades speed for power",
        values: "those of the machine: balanced, high-performance, power-saver, ultimate",
        default: "balanced",
        rule_of_thumb: "high-performance from 10 Gbit/s on; many laptops have balanced alone",
        source: TUNING,
        disturbs: Disturbance::Nothing,
        needs: Privilege::User,
        ..windows(TargetKind::Host, Windows::System(Setting::Scheme))
    },
    Knob {
        id: "tcp.window_autotuning",
        title: "window auto-tuning",
        meaning: "how far the receive window of a connection may grow: not at all, by 2 or 4 bits, to 16 MiB, or to 1 GiB",
        values: "disabled, highlyrestricted, restricted, normal, experimental",
        default: "normal",
        rule_of_thumb: "normal; anything else is somebody's old advice",
        source: TUNING,
        ..setting(Setting::Tcp(Tcp {
            property: "AutoTuningLevelLocal",
            labels: &[
                "Receive Window Auto-Tuning Level",
                "受信ウィンドウ自動チューニング レベル",
            ],
            netsh: "tcp set global autotuninglevel",
            form: Form::Words(&[
                "disabled",
                "highlyrestricted",
                "restricted",
                "normal",
                "experimental",
            ]),
        }))
    },
    Knob {
        id: "tcp.congestion_control",
        title: "congestion control",
        meaning: "how fast a new TCP connection sends, and what it takes for a sign of congestion",
        values: "default, newreno, ctcp, dctcp, cubic, bbr2, as far as this Windows has them",
        default: "cubic since Windows 10 1709",
        rule_of_thumb: "cubic on a LAN; bbr2 breaks connections within the machine in several versions",
        source: POWERSHELL,
        ..setting(Setting::Tcp(Tcp {
            property: "CongestionProvider",
            labels: &[
                "Add-On Congestion Control Provider",
                "アドオン輻輳制御プロバイダー",
            ],
            netsh: "tcp set supplemental template=internet congestionprovider",
            form: Form::Words(&["default", "newreno", "ctcp", "dctcp", "cubic", "bbr2"]),
        }))
    },
    Knob {
        id: "tcp.timestamps",
        title: "TCP timestamps",
        meaning: "12 bytes in each segment for the round trip and against old segments; `allowed` answers who asks for them",
        values: "disabled, enabled, allowed",
        default: "allowed, disabled before Windows 11 and Server 2022",
        rule_of_thumb: "leave it",
        source: "RFC 7323 sections 3 and 5",
        ..setting(Setting::Tcp(Tcp {
            property: "Timestamps",
            labels: &["RFC 1323 Timestamps", "RFC 1323 タイムスタンプ"],
            netsh: "tcp set global timestamps",
            form: Form::Words(&["disabled", "enabled", "allowed"]),
        }))
    },
    Knob {
        id: "tcp.ecn",
        title: "explicit congestion notification",
        meaning: "switches mark packets instead of dropping them, where both ends agree",
        values: "disabled, enabled, default",
        default: "disabled",
        rule_of_thumb: "leave it; enabled only where every switch marks",
        source: "RFC 3168",
        ..setting(Setting::Tcp(Tcp {
            property: "EcnCapability",
            labels: &["ECN Capability", "ECN 機能"],
            netsh: "tcp set global ecncapability",
            form: Form::Words(&["disabled", "enabled", "default"]),
        }))
    },
    Knob {
        id: "tcp.delayed_ack",
        title: "segments of an acknowledgement",
        meaning: "received segments until one acknowledgement is sent for them",
        unit: Some("segments"),
        values: "1 to 255",
        default: "2",
        rule_of_thumb: "2",
        source: POWERSHELL,
        ..setting(Setting::Tcp(Tcp {
            property: "DelayedAckFrequency",
            labels: &[],
            netsh: "tcp set supplemental template=internet delayedackfrequency",
            form: Form::Number(1, 255),
        }))
    },
    Knob {
        id: "tcp.delayed_ack_timeout",
        title: "delay of an acknowledgement",
        meaning: "longest time until an acknowledgement is sent",
        unit: Some("ms"),
        values: "10 to 600",
        default: "40",
        rule_of_thumb: "leave it",
        source: POWERSHELL,
        ..setting(Setting::Tcp(Tcp {
            property: "DelayedAckTimeout",
            labels: &[],
            netsh: "tcp set supplemental template=internet delayedacktimeout",
            form: Form::Number(10, 600),
        }))
    },
    Knob {
        id: "tcp.rss_global",
        title: "receive side scaling of the system",
        meaning: "off, no adapter spreads what it receives, whatever `nic.rss` says, and SMB opens one connection for each NIC",
        values: "on, off",
        default: "on",
        rule_of_thumb: "on",
        source: POWERSHELL,
        ..setting(Setting::Offload(Offload {
            property: "ReceiveSideScaling",
            labels: &["Receive-Side Scaling State", "Receive-Side Scaling 状態"],
            netsh: "tcp set global rss",
        }))
    },
    Knob {
        id: "tcp.rsc_global",
        title: "receive segment coalescing of the system",
        meaning: "off, no adapter joins what it receives, whatever `nic.lro` says",
        values: "on, off",
        default: "on",
        rule_of_thumb: "on",
        source: POWERSHELL,
        ..setting(Setting::Offload(Offload {
            property: "ReceiveSegmentCoalescing",
            labels: &[
                "Receive Segment Coalescing State",
                "Receive Segment Coalescing 状態",
            ],
            netsh: "tcp set global rsc",
        }))
    },
    Knob {
        id: "tcp.task_offload_global",
        title: "offloads of the system",
        meaning: "off, no adapter computes checksums or cuts packets, whatever it could",
        values: "on, off",
        default: "on",
        rule_of_thumb: "on; off is old advice that costs most of a 10 Gbit/s link",
        source: POWERSHELL,
        ..setting(Setting::Offload(Offload {
            property: "TaskOffload",
            labels: &["Task Offload", "タスク オフロード"],
            netsh: "ip set global taskoffload",
        }))
    },
    Knob {
        id: "tcp.mtu_probing",
        title: "detection of black holes",
        meaning: "TCP sends smaller packets when large ones vanish without a word: 0 never, 1 when that happens; counts after a restart",
        values: "0 to 1, or unset",
        default: "unset, which is 0",
        rule_of_thumb: "1 wherever MTU 9000 is used",
        source: "Microsoft, TCP/IP and NBT configuration parameters",
        ..setting(Setting::Registry(Registry {
            key: TCP_KEY,
            name: "EnablePMTUBHDetect",
            max: 1,
            service: None,
        }))
    },
    Knob {
        id: "tcp.mtu_discovery",
        title: "discovery of the path MTU",
        meaning: "0 sends no packet of more than 576 bytes beyond the own subnet; counts after a restart",
        values: "0 to 1, or unset",
        default: "unset, which is 1",
        rule_of_thumb: "unset",
        source: "Microsoft, TCP/IP and NBT configuration parameters",
        ..setting(Setting::Registry(Registry {
            key: TCP_KEY,
            name: "EnablePMTUDiscovery",
            max: 1,
            service: None,
        }))
    },
    Knob {
        id: "smb.client.multichannel",
        title: "multichannel of the client",
        meaning: "one session over several connections and NICs",
        values: "on, off",
        default: "on",
        rule_of_thumb: "on",
        source: "[MS-SMB2] section 3.2.4.20.8; Microsoft, `Set-SmbClientConfiguration`",
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "EnableMultiChannel",
            form: Form::Switch,
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.client.max_channels",
        title: "connections over one NIC",
        meaning: "connections that the client opens over a NIC with RSS",
        unit: Some("connections"),
        values: "1 to 16",
        default: "4",
        rule_of_thumb: "4 up to 25 Gbit/s, 8 to 16 at 100; more than the NIC has queues bring nothing",
        source: "[MS-SMB2] section 3.2.4.20.8; Microsoft, `Set-SmbClientConfiguration`",
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "ConnectionCountPerRssNetworkInterface",
            form: Form::Number(1, 16),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.client.max_channels_per_server",
        title: "connections to one server",
        meaning: "connections that the client opens to one server over all NICs",
        unit: Some("connections"),
        values: "1 to 64",
        default: "32",
        rule_of_thumb: "leave it",
        source: "[MS-SMB2] section 3.2.4.20.8; Microsoft, `Set-SmbClientConfiguration`",
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "MaximumConnectionCountPerServer",
            form: Form::Number(1, 64),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.client.multichannel_threshold",
        title: "when to use more connections",
        meaning: "requests under way at which the client opens more connections: an idle share shows one",
        unit: Some("requests"),
        values: "1 to 65535",
        default: "8, 1 on a server",
        rule_of_thumb: "1 from 25 Gbit/s on, or to copy few files",
        source: "[MS-SMB2] section 3.2.4.20.8; Microsoft, `Set-SmbClientConfiguration`",
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "WindowSizeThreshold",
            form: Form::Number(1, 65_535),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.client.signing_required",
        title: "signing, demanded by the client",
        meaning: "whether every server must sign",
        values: "on, off",
        default: "on since Windows 11 24H2 and Server 2025, but for Home; off before",
        rule_of_thumb: "as the site's rules say",
        source: SMB,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "RequireSecuritySignature",
            form: Form::Switch,
            fixed_because: Some(PROTECTION),
        }))
    },
    Knob {
        id: "smb.client.encryption",
        title: "encryption, demanded by the client",
        meaning: "whether every server must encrypt",
        values: "on, off",
        default: "off",
        rule_of_thumb: "as the site's rules say",
        source: SMB,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "RequireEncryption",
            form: Form::Switch,
            fixed_because: Some(PROTECTION),
        }))
    },
    Knob {
        id: "smb.client.dialect_min",
        title: "oldest dialect of the client",
        meaning: "nothing older is spoken",
        values: "only looked at",
        default: "none, which is no limit",
        rule_of_thumb: "smb300 where every server can",
        source: SMB,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "Smb2DialectMin",
            form: Form::Words(&["none", "smb202", "smb210", "smb300", "smb302", "smb311"]),
            fixed_because: Some(PROTECTION),
        }))
    },
    Knob {
        id: "smb.client.dialect_max",
        title: "newest dialect of the client",
        meaning: "nothing newer is spoken",
        values: "only looked at",
        default: "none, which is no limit",
        rule_of_thumb: "none",
        source: SMB,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "Smb2DialectMax",
            form: Form::Words(&["none", "smb202", "smb210", "smb300", "smb302", "smb311"]),
            fixed_because: Some(PROTECTION),
        }))
    },
    Knob {
        id: "smb.large_mtu",
        title: "large requests",
        meaning: "requests of more than 64 KiB",
        values: "on, off",
        default: "on",
        rule_of_thumb: "on: off is one round trip for each 64 KiB",
        source: SMB,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "EnableLargeMtu",
            form: Form::Switch,
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.bandwidth_throttling",
        title: "throttling",
        meaning: "the client holds itself back where the round trip is long",
        values: "on, off",
        default: "on",
        rule_of_thumb: "off over more than 20 ms; on a LAN it does nothing",
        source: SMB,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "EnableBandwidthThrottling",
            form: Form::Switch,
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.compression",
        title: "compression",
        meaning: "whether the client may compress what it sends and asks for",
        values: "on, off",
        default: "on: allowed, and not asked for",
        rule_of_thumb: "on up to 1 Gbit/s, off above",
        source: SMB,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "DisableCompression",
            form: Form::Inverse,
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.compression_request",
        title: "compression, asked for",
        meaning: "whether the client always asks for compression",
        values: "on, off",
        default: "off",
        rule_of_thumb: "off",
        source: SMB,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "RequestCompression",
            form: Form::Switch,
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.dir_cache",
        title: "life of a listing",
        meaning: "how long the client believes a listing of a folder",
        unit: Some("s"),
        values: "0 to 86400",
        default: "10",
        rule_of_thumb: "leave it: longer shows what is no longer so",
        source: CLIENT_TUNING,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "DirectoryCacheLifetime",
            form: Form::Number(0, 86_400),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.dir_cache_entries",
        title: "listings that are kept",
        meaning: "folders whose listing the client keeps",
        unit: Some("folders"),
        values: "0 to 65536",
        default: "16",
        rule_of_thumb: "4096 for many small files",
        source: CLIENT_TUNING,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "DirectoryCacheEntriesMax",
            form: Form::Number(0, 65_536),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.dir_cache_entry_size",
        title: "longest listing that is kept",
        meaning: "bytes of one listing that the client keeps",
        unit: Some("bytes"),
        values: "0 to 16777216",
        default: "65536",
        rule_of_thumb: "leave it",
        source: CLIENT_TUNING,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "DirectoryCacheEntrySizeMax",
            form: Form::Number(0, 16_777_216),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.file_info_cache",
        title: "life of what is known of a file",
        meaning: "how long the client believes size and times of a file",
        unit: Some("s"),
        values: "0 to 86400",
        default: "10",
        rule_of_thumb: "leave it",
        source: CLIENT_TUNING,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "FileInfoCacheLifetime",
            form: Form::Number(0, 86_400),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.file_info_cache_entries",
        title: "files of which something is known",
        meaning: "files whose size and times the client keeps",
        unit: Some("files"),
        values: "0 to 65536",
        default: "64",
        rule_of_thumb: "32768 for many small files",
        source: CLIENT_TUNING,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "FileInfoCacheEntriesMax",
            form: Form::Number(0, 65_536),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.not_found_cache",
        title: "life of an absence",
        meaning: "how long the client believes that there is no such file",
        unit: Some("s"),
        values: "0 to 86400",
        default: "5",
        rule_of_thumb: "leave it: 0 where others create files that this host waits for",
        source: CLIENT_TUNING,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "FileNotFoundCacheLifetime",
            form: Form::Number(0, 86_400),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.not_found_cache_entries",
        title: "absences that are kept",
        meaning: "names of which the client keeps that there is no such file",
        unit: Some("files"),
        values: "0 to 65536",
        default: "128",
        rule_of_thumb: "32768 for many small files",
        source: CLIENT_TUNING,
        ..setting(Setting::Smb(Smb {
            side: Side::Client,
            property: "FileNotFoundCacheEntriesMax",
            form: Form::Number(0, 65_536),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.server.multichannel",
        title: "multichannel of the server",
        meaning: "clients may spread one session over several connections and NICs",
        values: "on, off",
        default: "on",
        rule_of_thumb: "on",
        source: SMB_SERVER,
        ..setting(Setting::Smb(Smb {
            side: Side::Server,
            property: "EnableMultiChannel",
            form: Form::Switch,
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.server.max_channels",
        title: "connections of one session",
        meaning: "connections over which a client may spread one session",
        unit: Some("connections"),
        values: "1 to 64",
        default: "32",
        rule_of_thumb: "leave it",
        source: SMB_SERVER,
        ..setting(Setting::Smb(Smb {
            side: Side::Server,
            property: "MaxChannelPerSession",
            form: Form::Number(1, 64),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.server.signing_required",
        title: "signing, demanded by the server",
        meaning: "whether clients must sign what they send",
        values: "on, off",
        default: "on since Windows 11 24H2, but for Home, and on domain controllers; else off",
        rule_of_thumb: "as the site's rules say",
        source: SMB_SERVER,
        ..setting(Setting::Smb(Smb {
            side: Side::Server,
            property: "RequireSecuritySignature",
            form: Form::Switch,
            fixed_because: Some(PROTECTION),
        }))
    },
    Knob {
        id: "smb.server.encryption",
        title: "encryption by the server",
        meaning: "whether clients must encrypt",
        values: "on, off",
        default: "off",
        rule_of_thumb: "as the site's rules say",
        source: SMB_SERVER,
        ..setting(Setting::Smb(Smb {
            side: Side::Server,
            property: "EncryptData",
            form: Form::Switch,
            fixed_because: Some(PROTECTION),
        }))
    },
    Knob {
        id: "smb.server.dialect_min",
        title: "oldest dialect of the server",
        meaning: "clients that speak nothing newer are refused",
        values: "only looked at",
        default: "none, which is no limit",
        rule_of_thumb: "smb300 where every client can",
        source: SMB_SERVER,
        ..setting(Setting::Smb(Smb {
            side: Side::Server,
            property: "Smb2DialectMin",
            form: Form::Words(&["none", "smb202", "smb210", "smb300", "smb302", "smb311"]),
            fixed_because: Some(PROTECTION),
        }))
    },
    Knob {
        id: "smb.server.dialect_max",
        title: "newest dialect of the server",
        meaning: "nothing newer is agreed on",
        values: "only looked at",
        default: "none, which is no limit",
        rule_of_thumb: "none",
        source: SMB_SERVER,
        ..setting(Setting::Smb(Smb {
            side: Side::Server,
            property: "Smb2DialectMax",
            form: Form::Words(&["none", "smb202", "smb210", "smb300", "smb302", "smb311"]),
            fixed_because: Some(PROTECTION),
        }))
    },
    Knob {
        id: "smb.server.credits",
        title: "credits of the server",
        meaning: "requests that a client may have in flight on one connection",
        unit: Some("credits"),
        values: "512 to 65535",
        default: "8192",
        rule_of_thumb: "8192",
        source: SMB_SERVER,
        ..setting(Setting::Smb(Smb {
            side: Side::Server,
            property: "Smb2CreditsMax",
            form: Form::Number(512, 65_535),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.server.async_credits",
        title: "asynchronous requests of the server",
        meaning: "requests of one connection that may wait for something else at the same time",
        unit: Some("requests"),
        values: "64 to 65535",
        default: "512",
        rule_of_thumb: "leave it",
        source: SMB_SERVER,
        ..setting(Setting::Smb(Smb {
            side: Side::Server,
            property: "AsynchronousCredits",
            form: Form::Number(64, 65_535),
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.server.leases",
        title: "leases",
        meaning: "clients may cache what nobody else has open",
        values: "on, off",
        default: "on",
        rule_of_thumb: "on",
        source: SMB_SERVER,
        ..setting(Setting::Smb(Smb {
            side: Side::Server,
            property: "EnableLeasing",
            form: Form::Switch,
            fixed_because: None,
        }))
    },
    Knob {
        id: "smb.server_aio",
        title: "threads of the server",
        meaning: "threads for requests that wait, of each NUMA node; setting it restarts the server, which ends all sessions",
        unit: Some("threads"),
        values: "1 to 256 is sensible, or unset",
        default: "unset, which is 20",
        rule_of_thumb: "unset; more only where the work queue of the server stays above 100",
        source: "Microsoft, performance tuning for SMB file servers",
        disturbs: Disturbance::Session,
        ..setting(Setting::Registry(Registry {
            key: SERVER_KEY,
            name: "MaxThreadsPerNumaNode",
            max: 256,
            service: Some("LanmanServer"),
        }))
    },
    Knob {
        id: "check.smb_session",
        title: "sessions of the SMB client",
        meaning: "the servers that this host is connected to, and what was agreed on with each",
        values: "only looked at",
        default: "none",
        rule_of_thumb: "3.1.1",
        source: "Microsoft, `Get-SmbConnection`",
        ..status(SmbStatus::Sessions)
    },
    Knob {
        id: "check.smb_sockets",
        title: "connections to SMB servers",
        meaning: "TCP connections to port 445, by their two ends",
        values: "only looked at",
        default: "none",
        rule_of_thumb: "more than one where multichannel is at work; it begins with traffic",
        source: "Microsoft, `Get-NetTCPConnection`",
        ..status(SmbStatus::Connections)
    },
    Knob {
        id: "check.smb_multichannel",
        title: "channels of the SMB client",
        meaning: "the ways to each server that multichannel chose, with the channels over each and most there could be",
        values: "only looked at",
        default: "none",
        rule_of_thumb: "4 over a NIC with RSS at both ends",
        source: "Microsoft, `Get-SmbMultichannelConnection`",
        ..status(SmbStatus::Channels)
    },
];

/// What belongs to an adapter and does not restart it.
const fn interface(backend: Adapter) -> Knob {
    Knob {
        disturbs: Disturbance::Nothing,
        ..windows(TargetKind::Nic, Windows::Adapter(backend))
    }
}

/// What can only be looked at, by an administrator.
const fn status(status: SmbStatus) -> Knob {
    windows(TargetKind::Host, Windows::Status(status))
}
