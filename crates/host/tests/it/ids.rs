//! The list of all that linerate is to know, by system, against what the catalogue has.

use std::collections::BTreeSet;

use host::knob::{self, KNOBS};
use record::System;

/// A row of the list: its name there, and the entries of the catalogue that stand for it.
type Row = (&'static str, &'static [&'static str]);

const LINUX: &[Row] = &[
    ("nic.mtu", &["nic.mtu"]),
    ("nic.link_speed", &["nic.link_speed"]),
    ("nic.speed_duplex", &["nic.speed_duplex"]),
    ("nic.tso", &["nic.tso"]),
    ("nic.gso", &["nic.gso"]),
    ("nic.gro", &["nic.gro"]),
    ("nic.lro", &["nic.lro"]),
    ("nic.tx_checksum", &["nic.tx_checksum"]),
    ("nic.rx_checksum", &["nic.rx_checksum"]),
    ("nic.flow_control", &["nic.flow_control"]),
    ("nic.rss", &["nic.rss", "nic.rss_key", "nic.rss_fields"]),
    ("nic.channels", &["nic.channels"]),
    ("nic.ring_rx", &["nic.ring_rx"]),
    ("nic.ring_tx", &["nic.ring_tx"]),
    (
        "nic.coalesce",
        &[
            "nic.adaptive_rx",
            "nic.adaptive_tx",
            "nic.rx_usecs",
            "nic.rx_frames",
            "nic.tx_usecs",
            "nic.tx_frames",
        ],
    ),
    (
        "nic.interrupt_moderation",
        &["nic.adaptive_rx", "nic.rx_usecs"],
    ),
    ("nic.eee", &["nic.eee"]),
    ("nic.power_save", &["nic.power_save"]),
    ("nic.txqueuelen", &["nic.txqueuelen"]),
    ("nic.qdisc", &["nic.qdisc", "net.default_qdisc"]),
    (
        "nic.irq_affinity",
        &["nic.irq_affinity", "nic.rps", "nic.xps"],
    ),
    ("tcp.rmem", &["tcp.rmem"]),
    ("tcp.wmem", &["tcp.wmem"]),
    ("tcp.window_autotuning", &["tcp.window_autotuning"]),
    ("tcp.congestion_control", &["tcp.congestion_control"]),
    ("tcp.mtu_probing", &["tcp.mtu_probing"]),
    ("tcp.timestamps", &["tcp.timestamps"]),
    ("tcp.sack", &["tcp.sack", "tcp.window_scaling"]),
    ("tcp.slow_start_after_idle", &["tcp.slow_start_after_idle"]),
    ("tcp.delayed_ack", &["tcp.delayed_ack"]),
    ("tcp.ecn", &["tcp.ecn"]),
    ("net.rmem_max", &["net.rmem_max"]),
    ("net.wmem_max", &["net.wmem_max"]),
    ("net.netdev_backlog", &["net.netdev_backlog"]),
    (
        "net.netdev_budget",
        &["net.netdev_budget", "net.netdev_budget_usecs"],
    ),
    ("net.somaxconn", &["net.somaxconn"]),
    (
        "smb.client.signing_required",
        &["smb.client.signing_required"],
    ),
    (
        "smb.client.signing_required_samba",
        &["smb.client.signing_samba"],
    ),
    ("smb.server.signing_required", &["smb.server.signing"]),
    ("smb.client.multichannel", &["smb.client.multichannel"]),
    ("smb.server.multichannel", &["smb.server.multichannel"]),
    (
        "smb.server.multichannel_ksmbd",
        &["smb.server.multichannel_ksmbd"],
    ),
    ("smb.client.max_channels", &["smb.client.max_channels"]),
    ("smb.dialect_min", &["smb.client.dialect"]),
    ("smb.dialect_max", &["smb.client.dialect"]),
    ("smb.dialect_min_server", &["smb.server.dialect_min"]),
    ("smb.dialect_max_server", &["smb.server.dialect_max"]),
    (
        "smb.encryption",
        &["smb.client.encryption", "smb.client.encryption_samba"],
    ),
    ("smb.encryption_server", &["smb.server.encryption"]),
    (
        "smb.large_mtu",
        &["smb.client.max_read", "smb.client.max_write"],
    ),
    (
        "smb.large_mtu_server",
        &[
            "smb.server.max_read",
            "smb.server.max_write",
            "smb.server.max_trans",
        ],
    ),
    (
        "smb.server_aio",
        &["smb.server.aio_read", "smb.server.aio_write"],
    ),
    ("smb.credits", &["smb.server.credits"]),
    ("smb.dir_cache", &["smb.client.attribute_cache"]),
    ("smb.client.cache", &["smb.client.cache"]),
    ("smb.server.interfaces", &["smb.server.interfaces"]),
    ("smb.server.leases", &["smb.server.leases"]),
    ("smb.server.sendfile", &["smb.server.sendfile"]),
    ("smb.server.socket_options", &["smb.server.socket_options"]),
    ("smb.server.strict_sync", &["smb.server.strict_sync"]),
    ("route.rp_filter", &["route.rp_filter"]),
    ("route.source_rule", &["route.source_rule"]),
    ("route.interface_metric", &["route.interface_metric"]),
    ("arp.ignore", &["arp.ignore"]),
    ("arp.announce", &["arp.announce"]),
    ("arp.filter", &["arp.filter"]),
    ("power.plan", &["power.governor", "power.energy_preference"]),
];

/// Entries beyond the list.
const MORE: [(System, &str); 1] = [(System::Linux, "nic.features")];

fn check(system: System, rows: &[Row]) {
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    for (row, ids) in rows {
        assert!(!ids.is_empty(), "{row}");
        for id in *ids {
            assert!(knob::find(system, id).is_some(), "{system:?} has no `{id}`");
            listed.insert(id);
        }
    }
    let own = KNOBS.iter().filter(|knob| knob.system == system);
    let unlisted: Vec<&str> = own
        .map(|knob| knob.id)
        .filter(|id| !listed.contains(id) && !MORE.contains(&(system, id)))
        .collect();
    assert!(unlisted.is_empty(), "not in the list: {unlisted:?}");
}

#[test]
fn every_id_of_linux_has_its_place() {
    check(System::Linux, LINUX);
}
