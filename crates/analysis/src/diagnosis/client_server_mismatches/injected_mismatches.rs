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
fn assert_named<const N: usize>(cases: [(&'static str, Message, Message, Inject); N]) {
    for (kind, text, hint, inject) in cases {
        let (mut near, mut far, mut settings) = pair();
        inject(&mut near, &mut far, &mut settings);
        let found = contradictions(&near, &far, &settings);
        assert_eq!(found, [contradiction(kind, text, hint)]);
    }
}

fn client_end() -> Message {
    say("contradiction.end")
        .with("nic", "a")
        .with("host", "client")
}

fn server_end() -> Message {
    say("contradiction.end")
        .with("nic", "b")
        .with("host", "server")
}

fn at_either_end(id: &'static str, client: Argument, server: Argument) -> Message {
    say(id)
        .with("near", client_end())
        .with("one", client)
        .with("far", server_end())
        .with("two", server)
}

#[test]
fn each_of_the_nics_that_is_injected_is_named_and_no_other() {
    let different =
        |id, client, server| at_either_end(id, Argument::Count(client), Argument::Count(server));
    assert_named([
        (
            "mtu",
            different("contradiction.mtu", 1500, 9000),
            say("hint-contradiction.mtu"),
            |_, far, _| far.nics[0].mtu = 9000,
        ),
        (
            "speed",
            at_either_end(
                "contradiction.speed",
                "100 Mbit/s".into(),
                "1 Gbit/s".into(),
            ),
            say("hint-contradiction.speed"),
            |near, _, _| {
                // both of them: a faster one that is not used is a contradiction of its own
                for nic in &mut near.nics {
                    nic.speed = Some(BitsPerSecond::new(100_000_000));
                }
            },
        ),
        (
            "queues",
            different("contradiction.queues", 4, 1),
            say("hint-contradiction.queues"),
            |_, far, _| far.nics[0].rx_queues = Some(1),
        ),
        (
            "down",
            say("contradiction.down").with("end", server_end()),
            say("hint-contradiction.down"),
            |_, far, _| far.nics[0].state = LinkState::Down,
        ),
        (
            "subnet",
            say("contradiction.subnet")
                .with("near", "client")
                .with("far", "server"),
            say("hint-contradiction.subnet"),
            |_, far, _| far.nics[0].addresses.clear(),
        ),
        (
            "unused",
            say("contradiction.unused")
                .with("fast", "y")
                .with("host", "server")
                .with("fast_rate", "10 Gbit/s")
                .with("other", "client")
                .with("slow", "b")
                .with("slow_rate", "1 Gbit/s"),
            say("hint-contradiction.unused"),
            |_, far, _| far.nics[1].speed = Some(BitsPerSecond::new(10_000_000_000)),
        ),
    ]);
}

#[test]
fn each_of_the_settings_of_nics_that_is_injected_is_named_and_no_other() {
    let offload = |id: &str| say("hint-contradiction.offload").with("knob", id);
    assert_named([
        (
            "flow_control",
            at_either_end("contradiction.flow-control", "rx+tx".into(), "off".into()),
            say("hint-contradiction.flow-control"),
            |_, _, settings| {
                let off = Value::Text("off".into());
                set(settings, "server", "nic.flow_control", off);
            },
        ),
        (
            "offload",
            say("contradiction.tso").with("end", client_end()),
            offload("nic.tso"),
            |_, _, settings| set(settings, "client", "nic.tso", Value::Switch(false)),
        ),
        (
            "offload",
            say("contradiction.tx-checksum").with("end", server_end()),
            offload("nic.tx_checksum"),
            |_, _, settings| set(settings, "server", "nic.tx_checksum", Value::Switch(false)),
        ),
        (
            "offload",
            say("contradiction.rx-checksum").with("end", server_end()),
            offload("nic.rx_checksum"),
            |_, _, settings| set(settings, "server", "nic.rx_checksum", Value::Switch(false)),
        ),
        (
            "eee",
            at_either_end("contradiction.eee", "on".into(), "off".into()),
            say("hint-contradiction.eee"),
            |_, _, settings| set(settings, "server", "nic.eee", Value::Switch(false)),
        ),
    ]);
}

#[test]
fn each_of_tcp_that_is_injected_is_named_and_no_other() {
    assert_named([
        (
            "tcp",
            say("contradiction.window-scaling").with("host", "server"),
            to_set("server", "tcp.window_scaling", "on"),
            |_, _, settings| {
                let off = Value::Switch(false);
                set(settings, "server", "tcp.window_scaling", off);
            },
        ),
        (
            "tcp",
            say("contradiction.sack").with("host", "client"),
            to_set("client", "tcp.sack", "on"),
            |_, _, settings| set(settings, "client", "tcp.sack", Value::Switch(false)),
        ),
        (
            "tcp",
            say("contradiction.timestamps").with("host", "client"),
            to_set("client", "tcp.timestamps", "1"),
            |_, _, settings| set(settings, "client", "tcp.timestamps", Value::Integer(0)),
        ),
    ]);
}

fn to_set(host: &str, knob: &str, value: &str) -> Message {
    say("hint-contradiction.set")
        .with("host", host)
        .with("knob", knob)
        .with("value", value)
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
        found.into_iter().find(|found| found.kind == "route")
    };
    assert_eq!(named(&near), None, "nothing is known of the routes");
    let text = say("contradiction.route")
        .with("host", "client")
        .with("other", "server")
        .with("slow", "a")
        .with("slow_rate", "1 Gbit/s")
        .with("fast", "x")
        .with("fast_rate", "10 Gbit/s");
    let by_the_slower = contradiction("route", text, say("hint-contradiction.route"));
    for (routes, expected) in [
        ([route("a", None), route("x", None)], Some(&by_the_slower)),
        ([route("x", None), route("a", None)], None),
        (
            [route("x", Some(200)), route("a", Some(100))],
            Some(&by_the_slower),
        ),
        ([route("a", Some(200)), route("x", Some(100))], None),
    ] {
        near.routes = routes.into();
        assert_eq!(named(&near).as_ref(), expected);
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
fn assert_named_from_either_end(
    (host, id, to): (&str, &str, Value),
    (kind, text, hint): (&'static str, Message, Message),
) {
    let (near, far, mut settings) = with_windows();
    set(&mut settings, host, id, to);
    let expected = [contradiction(kind, text, hint)];
    assert_eq!(contradictions(&near, &far, &settings), expected);
    assert_eq!(contradictions(&far, &near, &settings), expected);
}

#[test]
fn windows_and_samba_agree_unless_somebody_made_them_not() {
    let (near, far, settings) = with_windows();
    assert_eq!(contradictions(&near, &far, &settings), []);
    let off = say("contradiction.window-autotuning").with("host", "client");
    let hint = to_set("client", "tcp.window_autotuning", "normal");
    let disabled = Value::Text("disabled".into());
    assert_named_from_either_end(
        ("client", "tcp.window_autotuning", disabled),
        ("tcp", off, hint),
    );
    for (host, knob) in [
        ("client", "smb.client.multichannel"),
        ("server", "smb.server.multichannel"),
    ] {
        let off = say("contradiction.multichannel")
            .with("client", "client")
            .with("server", "server")
            .with("host", host);
        assert_named_from_either_end(
            (host, knob, Value::Switch(false)),
            ("multichannel", off, to_set(host, knob, "on")),
        );
    }
    let required = Value::Text("mandatory".into());
    for (who, other, knob, to) in [
        (
            "client",
            "server",
            "smb.client.signing_required",
            Value::Switch(true),
        ),
        ("server", "client", "smb.server.signing_required", required),
    ] {
        let demanded = say("contradiction.signing")
            .with("who", who)
            .with("other", other)
            .with("client", "client")
            .with("server", "server");
        assert_named_from_either_end(
            (who, knob, to),
            ("signing", demanded, say("hint-contradiction.signing")),
        );
    }
}

/// Linux tells that the ends agreed, and Windows does not.
#[test]
fn pauses_that_the_ends_may_have_agreed_on_are_none() {
    let (near, far, mut settings) = with_windows();
    for (host, word, kinds) in [
        ("client", "off", &["flow_control"][..]),
        ("server", "auto rx+tx", &[]),
        ("client", "auto", &[]),
    ] {
        let word = Value::Text(word.into());
        set(&mut settings, host, "nic.flow_control", word);
        for (near, far) in [(&near, &far), (&far, &near)] {
            let found = contradictions(near, far, &settings);
            let found: Vec<&str> = found.iter().map(|one| one.kind).collect();
            assert_eq!(found, kinds);
        }
    }
}
