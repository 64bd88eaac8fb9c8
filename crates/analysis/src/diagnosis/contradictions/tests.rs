//! Contradictions that are injected into two ends which agree.

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

/// Each is found where it is injected, and no other.
fn assert_named(cases: &[(&str, &str, Inject)]) {
    for (kind, text, inject) in cases {
        let (mut near, mut far, mut settings) = pair();
        inject(&mut near, &mut far, &mut settings);
        let found = contradictions(&near, &far, &settings);
        assert_eq!(found.len(), 1, "{kind}: {found:#?}");
        assert_eq!(found[0].kind, *kind);
        assert!(found[0].text.contains(*text), "{}", found[0].text);
        assert!(!found[0].hint.is_empty());
    }
}

#[test]
fn each_of_a_link_that_is_injected_is_named_and_no_other() {
    let cases: [(&str, &str, Inject); 10] = [
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
    ];
    assert_named(&cases);
}

#[test]
fn each_of_tcp_that_is_injected_is_named_and_no_other() {
    let cases: [(&str, &str, Inject); 3] = [
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
    assert_named(&cases);
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

/// With one setting changed one contradiction is found, whichever of the two is the near end.
fn assert_named_from_either_end((host, id, to): (&str, &str, Value), kind: &str, hint: &str) {
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
        assert_named_from_either_end((host, id, to), kind, hint);
    }
}

/// Linux tells that the ends agreed, and Windows does not.
#[test]
fn pauses_that_the_ends_agreed_on_are_none() {
    let (near, far, mut settings) = with_windows();
    for (host, word) in [("server", "auto rx+tx"), ("client", "auto")] {
        set(
            &mut settings,
            host,
            "nic.flow_control",
            Value::Text(word.into()),
        );
        assert_eq!(contradictions(&near, &far, &settings), [], "{word}");
    }
}
