//! Pairs of addresses for hosts as they are found: several links, RSS, odd lists and speeds.

use super::*;

const GBIT: u64 = 1_000_000_000;

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn nic(name: &str, speed: Option<u64>, rss: bool, addresses: &[&str]) -> LocalNic {
    let address = |text: &&str| {
        let (address, length) = text.split_once('/').expect("with a prefix length");
        LocalAddress {
            address: ip(address),
            prefix_length: length.parse().expect("a number"),
        }
    };
    LocalNic {
        name: name.into(),
        addresses: addresses.iter().map(address).collect(),
        speed_bits_per_second: speed,
        rss,
    }
}

fn entry(index: u32, speed: u64, rss: bool, address: &str) -> ServerInterface {
    let address = ip(address);
    ServerInterface {
        index,
        rss,
        rdma: false,
        speed_bits_per_second: speed,
        address,
    }
}

fn pair(local: &str, remote: &str) -> Pair {
    Pair {
        local: ip(local),
        remote: ip(remote),
    }
}

fn linerate(local: &[LocalNic], server: &[ServerInterface], primary: Pair) -> Plan {
    plan(
        &Rules::Linerate(LinerateRules::default()),
        local,
        server,
        primary,
    )
}

fn reason(plan: &Plan, address: &str) -> Option<RejectReason> {
    let address = Some(ip(address));
    let about = |reject: &&Reject| reject.remote == address || reject.local == address;
    plan.rejects.iter().find(about).map(|reject| reject.reason)
}

/// Two hosts, two links back to back, a Samba that numbers nothing: the published study.
#[test]
fn two_links_without_interface_numbers() {
    let local = [
        nic("a0", Some(GBIT), false, &["10.0.1.1/24"]),
        nic("a1", Some(GBIT), false, &["10.0.2.1/24"]),
    ];
    let server = [
        entry(u32::MAX, GBIT, true, "10.0.2.2"),
        entry(u32::MAX, GBIT, true, "10.0.1.2"),
    ];
    let got = linerate(&local, &server, pair("10.0.1.1", "10.0.1.2"));
    assert_eq!(
        got.pairs,
        [pair("10.0.1.1", "10.0.1.2"), pair("10.0.2.1", "10.0.2.2")]
    );
    assert_eq!(got.rejects, []);
}

#[test]
fn rss_on_both_sides_gives_further_channels_in_turn() {
    let local = [
        nic("a0", Some(10 * GBIT), true, &["10.0.1.1/24"]),
        nic("a1", Some(10 * GBIT), true, &["10.0.2.1/24"]),
    ];
    let server = [
        entry(1, 10 * GBIT, true, "10.0.1.2"),
        entry(2, 10 * GBIT, true, "10.0.2.2"),
    ];
    let (one, two) = (pair("10.0.1.1", "10.0.1.2"), pair("10.0.2.1", "10.0.2.2"));
    let got = linerate(&local, &server, one);
    assert_eq!(got.pairs, [one, two, one, two, one, two, one, two]);
    let rules = LinerateRules {
        channels_max: 3,
        ..LinerateRules::default()
    };
    let got = plan(&Rules::Linerate(rules), &local, &server, one);
    assert_eq!(got.pairs, [one, two, one]);
}

#[test]
fn a_second_address_of_a_nic_is_no_second_nic() {
    let local = [nic(
        "a0",
        Some(GBIT),
        false,
        &["10.0.1.1/24", "10.0.3.1/24"],
    )];
    let server = [
        entry(2, GBIT, false, "10.0.1.2"),
        entry(2, GBIT, false, "10.0.3.2"),
    ];
    let got = linerate(&local, &server, pair("10.0.1.1", "10.0.1.2"));
    assert_eq!(got.pairs.len(), 1);
    assert_eq!(reason(&got, "10.0.3.2"), Some(RejectReason::SameNic));
    assert_eq!(reason(&got, "10.0.3.1"), Some(RejectReason::SameNic));
}

#[test]
fn useless_entries_are_rejected_with_a_reason() {
    let local = [nic("a0", Some(GBIT), false, &["10.0.1.1/24"])];
    let server = [
        entry(1, GBIT, false, "169.254.3.3"),
        entry(2, GBIT, false, "127.0.0.1"),
        entry(3, GBIT, false, "0.0.0.0"),
        entry(4, GBIT, false, "224.0.0.1"),
        entry(5, GBIT, false, "255.255.255.255"),
        entry(6, GBIT, false, "fe80::1"),
        entry(7, GBIT, false, "::"),
        entry(8, GBIT, false, "2001:db8::1"),
        entry(9, GBIT, false, "172.17.0.1"),
        entry(10, GBIT, false, "10.0.1.2"),
        entry(11, GBIT, false, "10.0.1.2"),
        entry(12, GBIT, false, "10.0.1.3"),
    ];
    let got = linerate(&local, &server, pair("10.0.1.1", "10.0.1.2"));
    assert_eq!(got.pairs.len(), 1);
    for (address, why) in [
        ("169.254.3.3", RejectReason::LinkLocal),
        ("127.0.0.1", RejectReason::NotAHost),
        ("0.0.0.0", RejectReason::NotAHost),
        ("224.0.0.1", RejectReason::NotAHost),
        ("255.255.255.255", RejectReason::NotAHost),
        ("fe80::1", RejectReason::LinkLocal),
        ("::", RejectReason::NotAHost),
        ("2001:db8::1", RejectReason::OtherFamily),
        ("172.17.0.1", RejectReason::OtherSubnet),
        ("10.0.1.2", RejectReason::Duplicate),
        ("10.0.1.3", RejectReason::NoPartner),
    ] {
        assert_eq!(reason(&got, address), Some(why), "{address}");
    }
}

#[test]
fn a_primary_that_is_not_listed_still_comes_first() {
    // through NAT: the server knows none of the addresses we use
    let local = [nic("a0", Some(GBIT), false, &["192.168.1.5/24"])];
    let primary = pair("192.168.1.5", "203.0.113.1");
    let got = linerate(&local, &[entry(1, GBIT, true, "10.0.0.2")], primary);
    assert_eq!(got.pairs, [primary]);
    assert_eq!(reason(&got, "10.0.0.2"), Some(RejectReason::OtherSubnet));
}

#[test]
fn without_a_list_the_rules_say_how_many() {
    let rules = LinerateRules {
        channels_without_list: 4,
        ..LinerateRules::default()
    };
    let primary = pair("10.0.1.1", "10.0.1.2");
    let got = plan(&Rules::Linerate(rules), &[], &[], primary);
    assert_eq!(got.pairs, [primary; 4]);
    assert_eq!(linerate(&[], &[], primary).pairs, [primary]);
}

#[test]
fn absurd_and_missing_speeds_do_not_matter() {
    let absurd = 4_294_967_295 * 1_000_000;
    let local = [
        nic("a0", None, false, &["10.0.1.1/24"]),
        nic("a1", None, false, &["10.0.2.1/24"]),
        nic("a2", Some(25 * GBIT), false, &["10.0.3.1/24"]),
    ];
    let server = [
        entry(u32::MAX, 0, false, "10.0.1.2"),
        entry(u32::MAX, absurd, false, "10.0.2.2"),
        entry(u32::MAX, u64::MAX, false, "10.0.3.2"),
    ];
    let got = linerate(&local, &server, pair("10.0.1.1", "10.0.1.2"));
    let second = pair("10.0.3.1", "10.0.3.2");
    let third = pair("10.0.2.1", "10.0.2.2");
    assert_eq!(
        got.pairs,
        [pair("10.0.1.1", "10.0.1.2"), second, third],
        "fastest first"
    );
}

#[test]
fn as_many_nics_as_possible_are_used() {
    // the fast NIC could take either, the slow one only `10.0.1.3`
    let local = [
        nic("a0", Some(GBIT), false, &["10.0.9.1/24"]),
        nic(
            "a1",
            Some(10 * GBIT),
            false,
            &["10.0.1.1/24", "10.0.2.1/24"],
        ),
        nic("a2", Some(GBIT), false, &["10.0.1.2/24"]),
    ];
    let server = [
        entry(1, 10 * GBIT, false, "10.0.1.3"),
        entry(2, 10 * GBIT, false, "10.0.2.3"),
        entry(3, GBIT, false, "10.0.9.3"),
    ];
    let got = linerate(&local, &server, pair("10.0.9.1", "10.0.9.3"));
    assert!(got.pairs.contains(&pair("10.0.2.1", "10.0.2.3")));
    assert!(got.pairs.contains(&pair("10.0.1.2", "10.0.1.3")));
    assert!(
        got.rejects
            .iter()
            .all(|reject| reject.reason == RejectReason::SameNic)
    );
}

#[test]
fn slow_nics_share_a_fast_one() {
    let local = [
        nic("a0", Some(GBIT), false, &["10.0.1.1/24"]),
        nic("a1", Some(GBIT), false, &["10.0.1.2/24"]),
    ];
    let primary = pair("10.0.1.1", "10.0.1.9");
    let got = linerate(&local, &[entry(1, 10 * GBIT, false, "10.0.1.9")], primary);
    assert_eq!(got.pairs, [primary, pair("10.0.1.2", "10.0.1.9")]);
    let got = linerate(&local, &[entry(1, GBIT, false, "10.0.1.9")], primary);
    assert_eq!(got.pairs, [primary]);
    assert_eq!(reason(&got, "10.0.1.2"), Some(RejectReason::NoPartner));
}

#[test]
fn prefixes_of_any_length() {
    let reaches = |ours: &str, length, theirs: &str| {
        LocalAddress {
            address: ip(ours),
            prefix_length: length,
        }
        .reaches(ip(theirs))
    };
    assert!(reaches("10.0.0.1", 0, "192.0.2.1"));
    assert!(!reaches("10.0.0.1", 32, "10.0.0.2"));
    assert!(reaches("10.0.0.1", 31, "10.0.0.0"));
    assert!(!reaches("10.0.0.1", 255, "10.0.0.2"));
    assert!(reaches("2001:db8::1", 0, "3fff::1"));
    assert!(reaches("2001:db8::1", 64, "2001:db8::2"));
    assert!(!reaches("2001:db8::1", 64, "2001:db8:0:1::2"));
    assert!(!reaches("10.0.0.1", 0, "2001:db8::1"));
    assert!(!reaches("10.0.0.1", 24, "10.0.0.1"), "not ourselves");
}
