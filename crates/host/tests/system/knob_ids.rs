//! The list of all that linerate is to know, by system, against what the catalogue has.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

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
    (
        "smb.server.signing_required",
        &["smb.server.signing_required"],
    ),
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
    (
        "smb.server.strict_sync",
        &["smb.server.strict_sync", "smb.server.sync_always"],
    ),
    ("route.rp_filter", &["route.rp_filter"]),
    ("route.source_rule", &["route.source_rule"]),
    ("route.interface_metric", &["route.interface_metric"]),
    ("arp.ignore", &["arp.ignore"]),
    ("arp.announce", &["arp.announce"]),
    ("arp.filter", &["arp.filter"]),
    ("power.plan", &["power.governor", "power.energy_preference"]),
];

const WINDOWS: &[Row] = &[
    ("check.smb_session", &["check.smb_session"]),
    (
        "check.smb_sockets",
        &["check.smb_sockets", "check.smb_multichannel"],
    ),
    ("nic.mtu", &["nic.mtu"]),
    ("nic.link_speed", &["nic.link_speed"]),
    ("nic.speed_duplex", &["nic.speed_duplex"]),
    ("nic.tso", &["nic.tso"]),
    ("nic.lro", &["nic.lro"]),
    ("nic.rsc", &["nic.lro", "tcp.rsc_global"]),
    ("nic.tx_checksum", &["nic.tx_checksum"]),
    ("nic.rx_checksum", &["nic.rx_checksum"]),
    ("nic.flow_control", &["nic.flow_control"]),
    ("nic.rss", &["nic.rss"]),
    ("nic.channels", &["nic.channels"]),
    ("nic.ring_rx", &["nic.ring_rx"]),
    ("nic.ring_tx", &["nic.ring_tx"]),
    ("nic.interrupt_moderation", &["nic.interrupt_moderation"]),
    ("nic.coalesce", &["nic.interrupt_rate"]),
    ("nic.eee", &["nic.eee"]),
    (
        "nic.power_save",
        &["nic.power_save", "nic.sleep_on_disconnect"],
    ),
    ("tcp.window_autotuning", &["tcp.window_autotuning"]),
    ("tcp.congestion_control", &["tcp.congestion_control"]),
    ("tcp.timestamps", &["tcp.timestamps"]),
    ("tcp.rss_global", &["tcp.rss_global"]),
    ("tcp.rsc_global", &["tcp.rsc_global"]),
    ("tcp.task_offload_global", &["tcp.task_offload_global"]),
    (
        "tcp.delayed_ack",
        &["tcp.delayed_ack", "tcp.delayed_ack_timeout"],
    ),
    ("tcp.ecn", &["tcp.ecn"]),
    ("tcp.mtu_probing", &["tcp.mtu_probing", "tcp.mtu_discovery"]),
    (
        "smb.client.signing_required",
        &["smb.client.signing_required"],
    ),
    (
        "smb.server.signing_required",
        &["smb.server.signing_required"],
    ),
    ("smb.client.multichannel", &["smb.client.multichannel"]),
    ("smb.server.multichannel", &["smb.server.multichannel"]),
    (
        "smb.client.max_channels",
        &[
            "smb.client.max_channels",
            "smb.client.max_channels_per_server",
            "smb.client.nic_rss",
        ],
    ),
    ("smb.server.max_channels", &["smb.server.max_channels"]),
    (
        "smb.client.multichannel_threshold",
        &["smb.client.multichannel_threshold"],
    ),
    (
        "smb.dialect_min",
        &["smb.client.dialect_min", "smb.server.dialect_min"],
    ),
    (
        "smb.dialect_max",
        &["smb.client.dialect_max", "smb.server.dialect_max"],
    ),
    (
        "smb.encryption",
        &["smb.client.encryption", "smb.server.encryption"],
    ),
    ("smb.large_mtu", &["smb.large_mtu"]),
    ("smb.bandwidth_throttling", &["smb.bandwidth_throttling"]),
    (
        "smb.server_aio",
        &["smb.server_aio", "smb.server.async_credits"],
    ),
    ("smb.credits", &["smb.server.credits"]),
    (
        "smb.compression",
        &["smb.compression", "smb.compression_request"],
    ),
    (
        "smb.dir_cache",
        &[
            "smb.dir_cache",
            "smb.dir_cache_entries",
            "smb.dir_cache_entry_size",
            "smb.file_info_cache",
            "smb.file_info_cache_entries",
            "smb.not_found_cache",
            "smb.not_found_cache_entries",
        ],
    ),
    ("smb.server.leases", &["smb.server.leases"]),
    ("route.interface_metric", &["route.interface_metric"]),
    ("net.profile_firewall", &["net.profile_firewall"]),
    ("power.plan", &["power.plan"]),
];

const MACOS: &[Row] = &[
    ("nic.mtu", &["nic.mtu"]),
    ("nic.link_speed", &["nic.link_speed"]),
    ("nic.speed_duplex", &["nic.speed_duplex"]),
    ("nic.tso", &["nic.tso"]),
    ("nic.lro", &["nic.lro"]),
    ("nic.tx_checksum", &["nic.tx_checksum"]),
    ("nic.rx_checksum", &["nic.rx_checksum"]),
    ("nic.flow_control", &["nic.flow_control"]),
    ("nic.rss", &["nic.rss"]),
    ("nic.channels", &["nic.channels"]),
    ("nic.ring_rx", &["nic.ring_rx"]),
    ("nic.ring_tx", &["nic.ring_tx"]),
    ("nic.coalesce", &["nic.interrupt_moderation"]),
    ("nic.interrupt_moderation", &["nic.interrupt_moderation"]),
    ("nic.eee", &["nic.eee"]),
    (
        "tcp.window_autotuning",
        &[
            "tcp.window_autotuning",
            "tcp.window_autotuning_send",
            "tcp.rmem_max",
            "tcp.wmem_max",
        ],
    ),
    ("tcp.congestion_control", &["tcp.congestion_control"]),
    ("tcp.mtu_probing", &["tcp.mtu_probing", "tcp.mtu_discovery"]),
    ("tcp.timestamps", &["tcp.timestamps"]),
    ("tcp.sack", &["tcp.sack"]),
    ("tcp.delayed_ack", &["tcp.delayed_ack"]),
    ("tcp.task_offload_global", &["tcp.task_offload_global"]),
    ("net.rmem_max", &["net.rmem_max"]),
    ("net.somaxconn", &["net.somaxconn"]),
    (
        "smb.client.signing_required",
        &["smb.client.signing_required", "smb.session.signing"],
    ),
    (
        "smb.server.signing_required",
        &["smb.server.signing_required"],
    ),
    (
        "smb.client.multichannel",
        &["smb.client.multichannel", "smb.client.prefer_wired"],
    ),
    ("smb.server.multichannel", &["smb.server.multichannel"]),
    (
        "smb.client.max_channels",
        &[
            "smb.client.max_channels",
            "smb.client.max_channels_per_server",
            "smb.client.nic_rss",
            "smb.session.channels",
        ],
    ),
    (
        "smb.dialect_min",
        &["smb.client.dialects", "smb.session.dialect"],
    ),
    ("smb.dialect_max", &["smb.client.dialects"]),
    (
        "smb.encryption",
        &["smb.client.encryption", "smb.session.encryption"],
    ),
    ("smb.large_mtu", &["smb.large_mtu", "smb.large_mtu_write"]),
    ("smb.compression", &["smb.compression"]),
    (
        "smb.dir_cache",
        &["smb.dir_cache", "smb.dir_cache_min", "smb.dir_cache_off"],
    ),
    ("smb.client.notify", &["smb.client.notify_off"]),
    ("route.interface_metric", &["route.interface_metric"]),
    ("power.plan", &["power.plan"]),
];

/// Entries beyond the list.
const MORE: [(System, &str); 2] = [
    (System::Linux, "nic.features"),
    (System::Linux, "smb.client.fstab_entry"),
];

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

#[test]
fn every_id_of_windows_has_its_place() {
    check(System::Windows, WINDOWS);
}

#[test]
fn every_id_of_macos_has_its_place() {
    check(System::Macos, MACOS);
}

/// What the diagnosis looks for under a name that no knob has is never found on a real host.
#[test]
fn every_id_that_the_diagnosis_names_is_in_the_catalogue() {
    let begins: BTreeSet<&str> = KNOBS
        .iter()
        .filter_map(|it| it.id.split('.').next())
        .collect();
    let is_id = |text: &str| {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let begin = text.split_once('.').map(|(begin, _)| begin);
        begin.is_some_and(|begin| begins.contains(begin))
            && text.split('.').all(|it| it.chars().all(is_word))
    };
    let mut folders = vec![PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../analysis/src"
    ))];
    let mut named = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            // What stands between two strings never looks like an id.
            for id in text.split('"').filter(|text| is_id(text)) {
                named += 1;
                let is_known = KNOBS.iter().any(|knob| knob.id == id);
                assert!(is_known, "{} looks for `{id}`", path.display());
            }
        }
    }
    assert!(named > 20, "{named}");
}
