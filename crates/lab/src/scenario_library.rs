//! The library of labs in which something is wrong, and of a few in which nothing is.

use crate::{Error, Topology};

/// Names and texts, those without a fault first.
const LIBRARY: [(&str, &str); 97] = [
    ("healthy-1g", include_str!("../scenarios/healthy-1g.toml")),
    (
        "healthy-two-links",
        include_str!("../scenarios/healthy-two-links.toml"),
    ),
    (
        "healthy-jumbo",
        include_str!("../scenarios/healthy-jumbo.toml"),
    ),
    (
        "healthy-switch",
        include_str!("../scenarios/healthy-switch.toml"),
    ),
    (
        "healthy-two-speeds",
        include_str!("../scenarios/healthy-two-speeds.toml"),
    ),
    (
        "healthy-delay",
        include_str!("../scenarios/healthy-delay.toml"),
    ),
    (
        "healthy-encrypted",
        include_str!("../scenarios/healthy-encrypted.toml"),
    ),
    (
        "healthy-ipv6",
        include_str!("../scenarios/healthy-ipv6.toml"),
    ),
    (
        "healthy-signed",
        include_str!("../scenarios/healthy-signed.toml"),
    ),
    (
        "healthy-spin-up",
        include_str!("../scenarios/healthy-spin-up.toml"),
    ),
    (
        "healthy-two-nics-one-subnet",
        include_str!("../scenarios/healthy-two-nics-one-subnet.toml"),
    ),
    (
        "healthy-one-nic-two-of-nas",
        include_str!("../scenarios/healthy-one-nic-two-of-nas.toml"),
    ),
    (
        "healthy-old-advice-v6",
        include_str!("../scenarios/healthy-old-advice-v6.toml"),
    ),
    (
        "switch-swallows-jumbo",
        include_str!("../scenarios/switch-swallows-jumbo.toml"),
    ),
    (
        "jumbo-at-one-end",
        include_str!("../scenarios/jumbo-at-one-end.toml"),
    ),
    ("wrong-nic", include_str!("../scenarios/wrong-nic.toml")),
    (
        "two-nics-one-subnet",
        include_str!("../scenarios/two-nics-one-subnet.toml"),
    ),
    (
        "tunnel-beside-lan",
        include_str!("../scenarios/tunnel-beside-lan.toml"),
    ),
    ("slow-link", include_str!("../scenarios/slow-link.toml")),
    (
        "multichannel-off",
        include_str!("../scenarios/multichannel-off.toml"),
    ),
    (
        "advertised-wrong",
        include_str!("../scenarios/advertised-wrong.toml"),
    ),
    ("old-dialect", include_str!("../scenarios/old-dialect.toml")),
    (
        "signing-cmac",
        include_str!("../scenarios/signing-cmac.toml"),
    ),
    (
        "encryption-ccm",
        include_str!("../scenarios/encryption-ccm.toml"),
    ),
    (
        "offloads-off",
        include_str!("../scenarios/offloads-off.toml"),
    ),
    (
        "offloads-off-client",
        include_str!("../scenarios/offloads-off-client.toml"),
    ),
    (
        "small-buffers",
        include_str!("../scenarios/small-buffers.toml"),
    ),
    ("loss", include_str!("../scenarios/loss.toml")),
    (
        "server-processor",
        include_str!("../scenarios/server-processor.toml"),
    ),
    (
        "client-processor",
        include_str!("../scenarios/client-processor.toml"),
    ),
    ("slow-disk", include_str!("../scenarios/slow-disk.toml")),
    (
        "slow-disk-and-link",
        include_str!("../scenarios/slow-disk-and-link.toml"),
    ),
    ("few-credits", include_str!("../scenarios/few-credits.toml")),
    ("synchronous", include_str!("../scenarios/synchronous.toml")),
    (
        "blocked-port",
        include_str!("../scenarios/blocked-port.toml"),
    ),
    (
        "socket-options",
        include_str!("../scenarios/socket-options.toml"),
    ),
    (
        "one-slow-of-three",
        include_str!("../scenarios/one-slow-of-three.toml"),
    ),
    (
        "loss-one-way",
        include_str!("../scenarios/loss-one-way.toml"),
    ),
    (
        "advertised-foreign",
        include_str!("../scenarios/advertised-foreign.toml"),
    ),
    (
        "small-requests",
        include_str!("../scenarios/small-requests.toml"),
    ),
    ("slow-hop", include_str!("../scenarios/slow-hop.toml")),
    (
        "shaper-one-way",
        include_str!("../scenarios/shaper-one-way.toml"),
    ),
    (
        "slow-hop-one-way",
        include_str!("../scenarios/slow-hop-one-way.toml"),
    ),
    ("rate-shaped", include_str!("../scenarios/rate-shaped.toml")),
    ("rate-hidden", include_str!("../scenarios/rate-hidden.toml")),
    (
        "link-trained-low",
        include_str!("../scenarios/link-trained-low.toml"),
    ),
    ("flow-hash", include_str!("../scenarios/flow-hash.toml")),
    (
        "other-traffic",
        include_str!("../scenarios/other-traffic.toml"),
    ),
    (
        "other-traffic-half",
        include_str!("../scenarios/other-traffic-half.toml"),
    ),
    (
        "neighbour-on-port",
        include_str!("../scenarios/neighbour-on-port.toml"),
    ),
    (
        "dead-second-link",
        include_str!("../scenarios/dead-second-link.toml"),
    ),
    (
        "lossy-second-link",
        include_str!("../scenarios/lossy-second-link.toml"),
    ),
    ("loss-small", include_str!("../scenarios/loss-small.toml")),
    ("client-busy", include_str!("../scenarios/client-busy.toml")),
    (
        "server-stops",
        include_str!("../scenarios/server-stops.toml"),
    ),
    (
        "disk-latency",
        include_str!("../scenarios/disk-latency.toml"),
    ),
    ("sync-writes", include_str!("../scenarios/sync-writes.toml")),
    (
        "busy-a-third",
        include_str!("../scenarios/busy-a-third.toml"),
    ),
    ("busy-nas", include_str!("../scenarios/busy-nas.toml")),
    (
        "credits-over-distance",
        include_str!("../scenarios/credits-over-distance.toml"),
    ),
    (
        "disk-and-loss",
        include_str!("../scenarios/disk-and-loss.toml"),
    ),
    (
        "healthy-mixed-speeds",
        include_str!("../scenarios/healthy-mixed-speeds.toml"),
    ),
    (
        "healthy-routed-jumbo",
        include_str!("../scenarios/healthy-routed-jumbo.toml"),
    ),
    (
        "healthy-v6-far-encrypted",
        include_str!("../scenarios/healthy-v6-far-encrypted.toml"),
    ),
    (
        "healthy-second-nics-elsewhere",
        include_str!("../scenarios/healthy-second-nics-elsewhere.toml"),
    ),
    (
        "healthy-two-nics-one-of-nas",
        include_str!("../scenarios/healthy-two-nics-one-of-nas.toml"),
    ),
    (
        "hop-and-credits",
        include_str!("../scenarios/hop-and-credits.toml"),
    ),
    (
        "nas-receive-buffer",
        include_str!("../scenarios/nas-receive-buffer.toml"),
    ),
    (
        "policer-writes",
        include_str!("../scenarios/policer-writes.toml"),
    ),
    (
        "router-shapes-reads",
        include_str!("../scenarios/router-shapes-reads.toml"),
    ),
    (
        "server-cable-low",
        include_str!("../scenarios/server-cable-low.toml"),
    ),
    ("stale-route", include_str!("../scenarios/stale-route.toml")),
    (
        "sync-writes-ssd",
        include_str!("../scenarios/sync-writes-ssd.toml"),
    ),
    (
        "tiny-loss-far",
        include_str!("../scenarios/tiny-loss-far.toml"),
    ),
    (
        "uplink-eats-1500",
        include_str!("../scenarios/uplink-eats-1500.toml"),
    ),
    (
        "window-scaling-off",
        include_str!("../scenarios/window-scaling-off.toml"),
    ),
    (
        "writes-lose-v6",
        include_str!("../scenarios/writes-lose-v6.toml"),
    ),
    (
        "bursts-on-trunk",
        include_str!("../scenarios/bursts-on-trunk.toml"),
    ),
    (
        "three-members-reads",
        include_str!("../scenarios/three-members-reads.toml"),
    ),
    (
        "weak-server-v6",
        include_str!("../scenarios/weak-server-v6.toml"),
    ),
    (
        "aio-off-slow-disk",
        include_str!("../scenarios/aio-off-slow-disk.toml"),
    ),
    (
        "policer-and-sync",
        include_str!("../scenarios/policer-and-sync.toml"),
    ),
    (
        "answers-by-slow-cable",
        include_str!("../scenarios/answers-by-slow-cable.toml"),
    ),
    (
        "third-nic-not-in-smbconf",
        include_str!("../scenarios/third-nic-not-in-smbconf.toml"),
    ),
    (
        "transit-1g-between-2g5-v6",
        include_str!("../scenarios/transit-1g-between-2g5-v6.toml"),
    ),
    (
        "second-link-old-switch",
        include_str!("../scenarios/second-link-old-switch.toml"),
    ),
    (
        "odd-send-buffer",
        include_str!("../scenarios/odd-send-buffer.toml"),
    ),
    (
        "disk-between-one-and-two",
        include_str!("../scenarios/disk-between-one-and-two.toml"),
    ),
    (
        "thin-client-two-cables-v6",
        include_str!("../scenarios/thin-client-two-cables-v6.toml"),
    ),
    (
        "autotuning-off-v6",
        include_str!("../scenarios/autotuning-off-v6.toml"),
    ),
    (
        "backup-on-second-nic",
        include_str!("../scenarios/backup-on-second-nic.toml"),
    ),
    (
        "both-answers-by-first",
        include_str!("../scenarios/both-answers-by-first.toml"),
    ),
    (
        "old-disk-behind-old-switch",
        include_str!("../scenarios/old-disk-behind-old-switch.toml"),
    ),
    (
        "second-trained-1g-of-2g5",
        include_str!("../scenarios/second-trained-1g-of-2g5.toml"),
    ),
    (
        "thin-client-encrypts",
        include_str!("../scenarios/thin-client-encrypts.toml"),
    ),
    (
        "trunk-under-two-links",
        include_str!("../scenarios/trunk-under-two-links.toml"),
    ),
    (
        "v6-by-old-router-v4-direct",
        include_str!("../scenarios/v6-by-old-router-v4-direct.toml"),
    ),
];

/// A lab of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// The lab, with its faults and its lesson.
    pub topology: Topology,
}

/// All labs of the library, in order.
///
/// # Errors
/// When a text of the library is no topology, which a test rules out.
pub fn scenarios() -> Result<Vec<Scenario>, Error> {
    LIBRARY
        .iter()
        .map(|(name, text)| {
            let topology = Topology::parse(text)?;
            Ok(Scenario { name, topology })
        })
        .collect()
}

/// One lab of the library.
///
/// # Errors
/// When there is none of this name.
pub fn scenario(name: &str) -> Result<Scenario, Error> {
    let found = LIBRARY.iter().find(|(known, _)| *known == name);
    let (name, text) = found.ok_or_else(|| Error::NoSuchScenario {
        name: name.to_owned(),
        others: LIBRARY.map(|(name, _)| name.to_owned()).into(),
    })?;
    let topology = Topology::parse(text)?;
    Ok(Scenario { name, topology })
}

#[cfg(test)]
mod tests {
    use locale::Language;

    use super::*;

    #[test]
    fn every_scenario_is_a_topology_with_a_lesson() {
        let all = scenarios().unwrap();
        for scenario in &all {
            let lesson = scenario.topology.lesson.as_ref().unwrap();
            assert!(!lesson.title.is_empty());
            let healthy = scenario.name.starts_with("healthy-");
            let causes = &lesson.both_ends.causes;
            assert_eq!(causes.is_empty(), healthy, "{}", scenario.name);
            let client = &lesson.client;
            let answered = !client.causes.is_empty() || !client.not_knowable.is_empty();
            assert_eq!(answered, !healthy, "{}", scenario.name);
            assert!(scenario.topology.samba.is_some());
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(all.len(), files, "each file is one of them");
        assert_eq!(scenario("loss").unwrap().topology.faults.len(), 2);
        let error = scenario("none").unwrap_err();
        let hint = Language::English.say(&error.hint().unwrap());
        assert!(hint.contains("slow-disk"), "{hint}");
    }
}
