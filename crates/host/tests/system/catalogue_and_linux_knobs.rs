//! The catalogue, and each knob on the model host.

use std::collections::BTreeSet;

use host::Host;
use host::change::{Change, UndoMode};
use host::journal::Journal;
use host::knob::{self, Allowed, Disturbance, KNOBS, Knob, Refusal, State, TargetKind};
use record::{KnobId, Setting, System, Target, Value};

use crate::english;
use crate::journals::restore_from_journal;
use crate::simulated_linux_host::Model;

fn target(knob: &Knob) -> Target {
    match knob.on {
        TargetKind::Host => Target::Host,
        TargetKind::Nic => Target::Nic("a0".into()),
        TargetKind::Share => Target::Share("media".into()),
        TargetKind::Mount => Target::Mount("/mnt/my nas".into()),
    }
}

fn read(host: &Host, knob: &Knob) -> Result<State, Refusal> {
    let target = target(knob);
    let outputs = host.exec.run(&knob.read(&target)?).unwrap();
    knob.parse(&target, &outputs)
}

fn refusal(model: &Model, id: &str, to: Value) -> String {
    let knob = knob::find(System::Linux, id).unwrap();
    let state = read(&model.host(), knob).unwrap();
    english(&knob.plan(&target(knob), &state, &to).unwrap_err().reason)
}

#[test]
fn every_entry_is_unique_and_complete() {
    let ids: BTreeSet<_> = KNOBS
        .iter()
        .map(|knob| (format!("{:?}", knob.system), knob.id))
        .collect();
    assert_eq!(ids.len(), KNOBS.len());
    for knob in KNOBS {
        let texts = [
            knob.id,
            knob.title,
            knob.meaning,
            knob.values,
            knob.default,
            knob.rule_of_thumb,
            knob.source,
        ];
        for text in texts {
            assert!(!text.trim().is_empty(), "{} lacks a text", knob.id);
            assert!(!text.ends_with('.'), "{}: {text}", knob.id);
        }
        let (part, name) = knob.id.split_once('.').unwrap();
        assert!(part != "nic" || knob.on == TargetKind::Nic, "{}", knob.id);
        assert!(
            name.chars()
                .all(|character| character.is_ascii_lowercase() || "._".contains(character))
        );
    }
}

/// Another value than the present one, for each kind of values.
fn another(state: &State) -> Value {
    match (&state.allowed, &state.value) {
        (Allowed::Switch, Value::Switch(on)) => Value::Switch(!on),
        (Allowed::Range { min, max }, Value::Integer(now)) if *now == max.value => {
            Value::Integer(min.value)
        }
        (Allowed::Range { max, .. }, _) => Value::Integer(max.value),
        (Allowed::Words(words), Value::Text(now)) => {
            Value::Text(words.iter().find(|word| *word != now).unwrap().clone())
        }
        (Allowed::Words(words), Value::Unset) => Value::Text(words[0].clone()),
        (Allowed::Sizes, _) => Value::Text("4096 65536 33554432".into()),
        (Allowed::Processors { .. }, _) => Value::Text("2-3".into()),
        (Allowed::Bytes(count), _) => Value::Text(vec!["aa"; *count].join(":")),
        (Allowed::AsRead, Value::Text(now)) => {
            let other = now.replace("nocache-copy:off", "nocache-copy:on");
            Value::Text(other.replace("vers=3.0", "vers=3.1.1"))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn read_set_read_undo_read() {
    for knob in KNOBS.iter().filter(|knob| knob.system == System::Linux) {
        let model = Model::new("model");
        let (host, before) = (model.host(), model.now());
        let state = read(&host, knob).unwrap();
        if let Some(because) = &state.fixed_because {
            let other = Value::Text("other".into());
            let refusal = knob.plan(&target(knob), &state, &other).unwrap_err();
            assert_eq!(refusal.reason, *because);
            continue;
        }
        let to = another(&state);
        let steps = knob.plan(&target(knob), &state, &to).unwrap();
        assert!(!steps.is_empty(), "{}", knob.id);
        for step in &steps {
            assert_eq!(step.disturbs, knob.disturbs);
            assert_eq!(step.run.privilege, knob.needs);
        }
        // Undo is harmless when the step never ran.
        for step in steps.iter().rev() {
            assert_eq!(
                host.exec.run(std::slice::from_ref(&step.undo)).unwrap()[0].status,
                0
            );
        }
        assert_eq!(model.now(), before, "{}", knob.id);
        for step in &steps {
            assert_eq!(
                host.exec.run(std::slice::from_ref(&step.run)).unwrap()[0].status,
                0
            );
        }
        let after = read(&host, knob).unwrap();
        assert_eq!(after.value, to, "{}", knob.id);
        assert_eq!(knob.plan(&target(knob), &after, &to), Ok(Vec::new()));
        if let Some(unset) = &after.unset {
            let steps = knob.plan(&target(knob), &after, &Value::Unset).unwrap();
            for step in &steps {
                host.exec.run(std::slice::from_ref(&step.run)).unwrap();
            }
            assert_eq!(read(&host, knob).unwrap().value, *unset, "{}", knob.id);
        }
        // And harmless when it runs twice.
        for step in steps.iter().rev().chain(steps.iter().rev()) {
            assert_eq!(
                host.exec.run(std::slice::from_ref(&step.undo)).unwrap()[0].status,
                0
            );
        }
        assert_eq!(model.now(), before, "{}", knob.id);
    }
}

/// With what the systems are to set at their start, under each of those who set up interfaces.
#[test]
fn every_knob_is_put_back_from_what_the_journal_says_of_it() {
    for manager in MANAGERS {
        let model = Model::new("model");
        model.with(|machine| machine.manager = manager);
        let (host, before) = (model.host(), model.now());
        let mut count = 0;
        for knob in KNOBS.iter().filter(|knob| knob.system == System::Linux) {
            let twin = knob::find(System::Linux, &format!("{}.at_start", knob.id));
            for own in [Some(knob), twin].into_iter().flatten() {
                let state = read(&host, own).unwrap();
                if state.fixed_because.is_some() || own.only_in_snapshots {
                    continue;
                }
                let to = another(&read(&host, knob).unwrap());
                let setting = Setting::Knob {
                    host: host.name.clone(),
                    target: target(knob),
                    id: KnobId::new(own.id),
                    value: match own.id == knob.id {
                        true => to,
                        false => Value::Text(to.to_string()),
                    },
                };
                restore_from_journal(&host, &[setting]);
                assert_eq!(model.now(), before, "{} with {manager}", own.id);
                count += 1;
            }
        }
        assert!(count >= 80, "{count} with {manager}");
    }
}

/// A value that was measured under the one is not looked for under the other.
#[test]
fn a_file_is_taken_away_where_it_is_whoever_sets_the_interface_up_by_then() {
    for (then, now) in [(0, 2), (1, 0), (3, 1), (0, 3)] {
        let model = Model::new("model");
        model.with(|machine| machine.manager = MANAGERS[then]);
        let before = model.now();
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), "test").unwrap();
        let setting = Setting::Knob {
            host: model.name.clone(),
            target: Target::Nic("a0".into()),
            id: KnobId::new("nic.mtu.at_start"),
            value: Value::Text("9000".into()),
        };
        let change = Change::plan(&[model.host()], &[setting], "test").unwrap();
        let mut open = journal.begin(change).unwrap();
        open.apply().unwrap();
        open.keep().unwrap();
        assert!(!model.now().kept.is_empty());
        model.with(|machine| machine.manager = MANAGERS[now]);
        let undone = journal.undo(None, UndoMode::Ours, &|_| Ok(model.host()));
        assert!(undone.unwrap()[0].closed, "{then} {now}");
        assert_eq!(model.now().kept, before.kept, "{then} {now}");
    }
}

/// What the look tells of each of those who set up interfaces.
const MANAGERS: [&str; 5] = [
    "manager ifupdown\n",
    "manager netplan\n",
    "manager networkmanager 1234\n",
    "manager udev\npath pci-0000:02:00.0\nlink /usr/lib/systemd/network/99-default.link\n\
     option NamePolicy=keep kernel database onboard slot path\noption MACAddressPolicy=persistent\n",
    "manager udev\nlink /etc/systemd/network/50-storage.link\noption MTUBytes=1500\n",
];

/// Every knob that a restart resets, under each manager: kept, read, given up; or there is a reason.
#[test]
fn what_is_kept_over_a_restart_is_a_file_of_our_own_or_has_a_reason() {
    for manager in MANAGERS {
        let mut kept = 0;
        for knob in KNOBS.iter().filter(|knob| knob.system == System::Linux) {
            let Some(twin) = knob::find(System::Linux, &format!("{}.at_start", knob.id)) else {
                continue;
            };
            let model = Model::new("model");
            model.with(|machine| machine.manager = manager);
            let (host, before, place) = (model.host(), model.now(), target(knob));
            let state = read(&host, twin).unwrap();
            assert_eq!(state.value, Value::Unset, "{}", twin.id);
            let live = read(&host, knob).unwrap();
            let to = Value::Text(another(&live).to_string());
            if state.fixed_because.is_some() {
                assert!(twin.plan(&place, &state, &to).is_err(), "{}", twin.id);
                continue;
            }
            kept += 1;
            let steps = twin.plan(&place, &state, &to).unwrap();
            for command in [&steps[0].undo, &steps[0].run] {
                assert_eq!(
                    host.exec.run(std::slice::from_ref(command)).unwrap()[0].status,
                    0
                );
            }
            let after = read(&host, twin).unwrap();
            assert_eq!(after.value, to, "{} with {manager}", twin.id);
            let gone = twin.plan(&place, &after, &Value::Unset).unwrap();
            assert_eq!(gone[0].run, steps[0].undo, "{}", twin.id);
            host.exec.run(&[gone[0].run.clone()]).unwrap();
            assert_eq!(model.now(), before, "{} with {manager}", twin.id);
        }
        assert!(kept >= 20, "{kept} with {manager}");
    }
}

/// The very files, for one setting each.
#[test]
fn files_that_keep_settings_are_what_their_readers_know() {
    let file = |manager: &'static str, id: &str, value: &str| {
        let model = Model::new("model");
        model.with(|machine| machine.manager = manager);
        let twin = knob::find(System::Linux, &format!("{id}.at_start")).unwrap();
        let state = read(&model.host(), twin).unwrap();
        let steps = twin.plan(&target(twin), &state, &Value::Text(value.into()));
        knob::shown(&steps.unwrap()[0].run)
    };
    insta::assert_snapshot!([
        file(MANAGERS[0], "tcp.rmem", "4096 131072 16777216"),
        file(MANAGERS[0], "route.rp_filter", "2"),
        file(MANAGERS[0], "nic.flow_control", "auto rx"),
        file(MANAGERS[1], "nic.tso", "off"),
        file(MANAGERS[2], "nic.mtu", "9000"),
        file(MANAGERS[2], "nic.eee", "off"),
        file(MANAGERS[3], "nic.rx_usecs", "16"),
        file(MANAGERS[4], "nic.mtu", "9000"),
    ].join("\n"), @r#"
    write `/etc/sysctl.d/99-zz-linerate-tcp.rmem.conf`:
        # linerate keeps: tcp.rmem = 4096 131072 16777216
        # `linerate undo` takes this file away.
        net.ipv4.tcp_rmem = 4096 131072 16777216
    write `/etc/sysctl.d/99-zz-linerate-route.rp_filter-a0.conf`:
        # linerate keeps: route.rp_filter@a0 = 2
        # `linerate undo` takes this file away.
        net/ipv4/conf/a0/rp_filter = 2
    write `/etc/network/if-up.d/linerate-nic-flow_control-a0`:
        #!/bin/sh
        # linerate keeps: nic.flow_control@a0 = auto rx
        # `linerate undo` takes this file away.
        [ "$IFACE" = a0 ] || exit 0
        PATH=$PATH:/usr/sbin:/sbin
        ethtool -A a0 autoneg on rx on tx off
    write `/etc/netplan/90-linerate-nic.tso-a0.yaml`:
        # linerate keeps: nic.tso@a0 = off
        # `linerate undo` takes this file away.
        network:
          version: 2
          ethernets:
            "a0":
              tcp-segmentation-offload: false
              tcp6-segmentation-offload: false
    nmcli connection modify uuid 1234 802-3-ethernet.mtu 9000
    write `/etc/NetworkManager/dispatcher.d/90-linerate-nic.eee-a0`:
        #!/bin/sh
        # linerate keeps: nic.eee@a0 = off
        # `linerate undo` takes this file away.
        [ "$2" = up ] && [ "$1" = a0 ] || exit 0
        PATH=$PATH:/usr/sbin:/sbin
        ethtool --set-eee a0 eee off
    write `/etc/systemd/network/10-linerate-a0.link.d/90-linerate-nic.rx_usecs-a0.conf`:
        # linerate keeps: nic.rx_usecs@a0 = 16
        # `linerate undo` takes this file away.
        [Link]
        RxCoalesceSec=16us
      and, where it is not there, write `/etc/systemd/network/10-linerate-a0.link`:
        # Written by linerate for what is in `/etc/systemd/network/10-linerate-a0.link.d`; `linerate undo` takes it away.
        [Match]
        Path=pci-0000:02:00.0
        
        [Link]
        NamePolicy=keep kernel database onboard slot path
        MACAddressPolicy=persistent
    write `/etc/systemd/network/10-linerate-a0.link.d/90-linerate-nic.mtu-a0.conf`:
        # linerate keeps: nic.mtu@a0 = 9000
        # `linerate undo` takes this file away.
        [Link]
        MTUBytes=9000
      and, where it is not there, write `/etc/systemd/network/10-linerate-a0.link`:
        # Written by linerate for what is in `/etc/systemd/network/10-linerate-a0.link.d`; `linerate undo` takes it away.
        [Match]
        OriginalName=a0
        
        [Link]
        MTUBytes=1500
    "#);
}

#[test]
fn what_would_not_have_the_last_word_is_not_kept() {
    let because = |manager: &'static str, id: &str| {
        let model = Model::new("model");
        model.with(|machine| machine.manager = manager);
        let twin = knob::find(System::Linux, &format!("{id}.at_start")).unwrap();
        let state = read(&model.host(), twin).unwrap();
        english(&state.fixed_because.unwrap())
    };
    assert_eq!(
        because("late net.ipv4.tcp_sack = 0\n", "tcp.sack"),
        "`/etc/sysctl.conf` sets it, and has the last word"
    );
    assert_eq!(
        because(
            "manager udev\nmtu /etc/systemd/network/lan.network\n",
            "nic.mtu"
        ),
        "`/etc/systemd/network/lan.network` sets it, and has the last word"
    );
    assert!(because("", "nic.mtu").starts_with("nothing that linerate knows"));
    assert!(because("manager netplan\n", "nic.ring_rx").contains("`netplan`"));
    assert!(because(MANAGERS[3], "nic.eee").contains("`udev`"));
    assert_eq!(
        because(
            "manager udev\nlink /etc/systemd/network/05-lan.link\n",
            "nic.mtu"
        ),
        "`/etc/systemd/network/05-lan.link` is read before any file of ours, and only one is"
    );
}

#[test]
fn an_mtu_that_would_cost_ipv6_is_refused() {
    let model = Model::new("model");
    assert_eq!(
        refusal(&model, "nic.mtu", Value::Integer(1279)),
        "it takes 1280 at least, because Linux deletes the interface's IPv6 addresses below that"
    );
    model.with(|machine| machine.nics.get_mut("a0").unwrap().ipv6 = false);
    let mtu = knob::find(System::Linux, "nic.mtu").unwrap();
    let state = read(&model.host(), mtu).unwrap();
    assert!(
        mtu.plan(&target(mtu), &state, &Value::Integer(1279))
            .is_ok()
    );
    assert_eq!(
        refusal(&model, "nic.mtu", Value::Integer(67)),
        "it takes 68 at least, because the driver takes no less"
    );
}

#[test]
fn what_cannot_be_set_is_refused_with_the_reason() {
    let model = Model::new("model");
    let cases = [
        (
            "nic.mtu",
            Value::Integer(9001),
            "it takes 9000 at most, because the driver takes no more",
        ),
        (
            "nic.mtu",
            Value::Text("9000".into()),
            "it takes a whole number",
        ),
        ("nic.tso", Value::Integer(1), "it takes `on` and `off`"),
        ("nic.features", Value::Switch(true), "it is only put back"),
        (
            "nic.features",
            Value::Text("x:on".into()),
            "the driver's offloads are not those it had",
        ),
        (
            "tcp.congestion_control",
            Value::Text("-w net.ipv4.ip_forward=1".into()),
            "it takes one of `reno`, `cubic`, `bbr`",
        ),
        (
            "tcp.congestion_control",
            Value::Unset,
            "it always has a value, so it cannot be unset",
        ),
    ];
    for (id, to, reason) in cases {
        assert_eq!(refusal(&model, id, to), reason, "{id}");
    }
    model.with(|machine| {
        let nic = machine.nics.get_mut("a0").unwrap();
        nic.requested.insert("tx-checksum-ip-generic", false);
        nic.fixed.push("generic-receive-offload");
    });
    assert_eq!(
        refusal(&model, "nic.tso", Value::Switch(true)),
        "it needs `tx-checksumming`, which is off"
    );
    assert_eq!(
        refusal(&model, "nic.gro", Value::Switch(true)),
        "the driver does not let it be changed"
    );
}

#[test]
fn targets_that_are_none_are_refused() {
    let host = Model::new("model").host();
    let mtu = knob::find(System::Linux, "nic.mtu").unwrap();
    for name in ["-j", "", "a b", "x/y", "../../etc"] {
        assert!(mtu.read(&Target::Nic(name.into())).is_err(), "{name:?}");
    }
    assert!(mtu.read(&Target::Host).is_err());
    let absent = Target::Nic("nosuch".into());
    for id in ["nic.mtu", "nic.tso", "nic.features"] {
        let knob = knob::find(System::Linux, id).unwrap();
        let outputs = host.exec.run(&knob.read(&absent).unwrap()).unwrap();
        assert!(knob.parse(&absent, &outputs).is_err(), "{id}");
        assert!(knob.parse(&absent, &[]).is_err(), "{id}");
    }
}

#[test]
fn segmentation_comes_back_without_the_members_that_were_off() {
    let model = Model::new("model");
    let tso = knob::find(System::Linux, "nic.tso").unwrap();
    let state = read(&model.host(), tso).unwrap();
    let steps = tso
        .plan(&target(tso), &state, &Value::Switch(false))
        .unwrap();
    assert_eq!(steps[0].run.argv.join(" "), "ethtool -K a0 tso off");
    assert_eq!(
        steps[0].undo.argv.join(" "),
        "ethtool -K a0 tx-tcp-segmentation on tx-tcp-mangleid-segmentation off tx-tcp6-segmentation on"
    );
}

#[test]
fn disturbances_are_ordered_by_what_they_cost() {
    let disturbs = |id| knob::find(System::Linux, id).unwrap().disturbs;
    assert!(disturbs("nic.tso") < disturbs("tcp.congestion_control"));
    assert!(disturbs("tcp.congestion_control") < Disturbance::Session);
    assert_eq!(disturbs("nic.mtu"), Disturbance::LinkReset);
}

/// Links on links, as `ip` prints them.
#[test]
fn an_mtu_minds_the_links_above_and_below() {
    let text = r#"[
        {"ifindex":2,"ifname":"a0","mtu":9000,"min_mtu":68,"max_mtu":9216,"operstate":"UP"},
        {"ifindex":3,"ifname":"a0.10","link":"a0","mtu":9000,"min_mtu":0,"max_mtu":65535,
         "linkinfo":{"info_kind":"vlan"}},
        {"ifindex":4,"ifname":"v0","link":"a0","mtu":9000,"linkinfo":{"info_kind":"veth"}}]"#;
    let output = host::exec::Output {
        status: 0,
        stdout: text.as_bytes().to_vec(),
        stderr: Vec::new(),
    };
    let mtu = knob::find(System::Linux, "nic.mtu").unwrap();
    let limits = |nic: &str| {
        let state = mtu
            .parse(&Target::Nic(nic.into()), std::slice::from_ref(&output))
            .unwrap();
        let Allowed::Range { min, max } = state.allowed else {
            panic!("no range")
        };
        let [least, most] = [&min.because, &max.because].map(english);
        (min.value, least, max.value, most)
    };
    let (min, because, max, _) = limits("a0");
    assert_eq!((min, max), (9000, 9216));
    assert_eq!(
        because,
        "`a0.10` lies on it and would be cut to it for good"
    );
    let (min, _, max, because) = limits("a0.10");
    assert_eq!((min, max), (68, 9000));
    assert_eq!(because, "that is the MTU of `a0`, on which it lies");
    assert_eq!(limits("v0").2, 65_535);
}

#[test]
fn what_people_type_becomes_a_value_of_the_knobs_kind() {
    let typed = |id: &str, text: &str| {
        let knob = knob::find(System::Linux, id).unwrap();
        let state = read(&Model::new("model").host(), knob).unwrap();
        state.allowed.value_of(text)
    };
    assert_eq!(typed("nic.mtu", "9000"), Value::Integer(9000));
    assert_eq!(typed("nic.mtu", "big"), Value::Text("big".into()));
    assert_eq!(typed("nic.tso", "off"), Value::Switch(false));
    assert_eq!(typed("nic.tso", "yes"), Value::Switch(true));
    let sizes = Value::Text("4096 131072 6291456".into());
    assert_eq!(typed("tcp.rmem", "4096,131072,6291456"), sizes);
    let pause = Value::Text("auto rx+tx".into());
    assert_eq!(typed("nic.flow_control", "auto rx+tx"), pause);
}

#[test]
fn sizes_are_three_and_grow() {
    let model = Model::new("model");
    for wrong in [
        "4096 131072",
        "4096 16384 8192",
        "0 1 2",
        "+1 2 3",
        "1 2 x",
        "1  2 3",
    ] {
        let reason = refusal(&model, "tcp.rmem", Value::Text(wrong.into()));
        assert!(reason.contains("three sizes"), "{wrong}: {reason}");
    }
}

/// What real tools print of knobs that a NIC of the model does not show so.
#[test]
fn what_drivers_leave_out_is_refused_and_never_guessed() {
    let state = |id: &str, text: &str, status: i32| {
        let knob = knob::find(System::Linux, id).unwrap();
        let output = host::exec::Output {
            status,
            stdout: if status == 0 { text.into() } else { Vec::new() },
            stderr: if status == 0 { Vec::new() } else { text.into() },
        };
        let target = target(knob);
        let count = knob.read(&target).unwrap().len();
        knob.parse(&target, &vec![output; count])
    };
    let veth_channels = "Channel parameters for kbv0:\nPre-set maximums:\nRX:\t\t2\nTX:\t\t2\n\
        Other:\t\tn/a\nCombined:\tn/a\nCurrent hardware settings:\nRX:\t\t1\nTX:\t\t1\n\
        Other:\t\tn/a\nCombined:\tn/a\n";
    let found = state("nic.channels", veth_channels, 0).unwrap();
    assert_eq!(found.value, Value::Integer(1));
    let channels = knob::find(System::Linux, "nic.channels").unwrap();
    let steps = channels.plan(&target(channels), &found, &Value::Integer(2));
    assert_eq!(
        steps.unwrap()[0].run.argv.join(" "),
        "ethtool -L a0 rx 2 tx 2"
    );
    let virtio = "Coalesce parameters for eth0:\nAdaptive RX: off  TX: n/a\nstats-block-usecs: n/a\n\n\
        rx-usecs: 0\nrx-frames: 1\nrx-usecs-irq: n/a\n\ntx-usecs: 0\ntx-frames: 1\n";
    assert_eq!(
        state("nic.adaptive_rx", virtio, 0).unwrap().value,
        Value::Switch(false)
    );
    let unknown = "the driver does not know it";
    assert_eq!(
        english(&state("nic.adaptive_tx", virtio, 0).unwrap_err().reason),
        unknown
    );
    assert_eq!(
        state("nic.rx_frames", virtio, 0).unwrap().value,
        Value::Integer(1)
    );
    let ring = "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t256\nRX Mini:\tn/a\n\
        RX Jumbo:\tn/a\nTX:\t\t256\nCurrent hardware settings:\nRX:\t\t128\nRX Mini:\tn/a\n\
        RX Jumbo:\tn/a\nTX:\t\t256\nRX Buf Len:\t\tn/a\nCQE Size:\t\tn/a\nTX Push:\toff\n";
    assert_eq!(
        state("nic.ring_rx", ring, 0).unwrap().value,
        Value::Integer(128)
    );
    assert_eq!(
        state("nic.ring_tx", ring, 0).unwrap().value,
        Value::Integer(256)
    );
    let inactive = "EEE settings for eth0:\n\tEEE status: enabled - inactive\n\tTx LPI: disabled\n";
    let eee = state("nic.eee", inactive, 0).unwrap();
    assert_eq!(eee.value, Value::Switch(true));
    assert!(eee.remark.is_some());
    let pause = "Pause parameters for enp1s0f0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\ton\n\n";
    let pause = state("nic.flow_control", pause, 0).unwrap();
    assert_eq!(pause.value, Value::Text("rx+tx".into()));
    for id in ["nic.flow_control", "nic.ring_rx", "nic.rx_usecs", "nic.eee"] {
        let said = "netlink error: Operation not supported";
        let reason = state(id, said, 76).unwrap_err().reason;
        assert_eq!(english(&reason), unknown, "{id}");
        assert!(state(id, "", 0).is_err(), "{id}");
        assert!(
            state(id, "no device matches name", 1)
                .unwrap_err()
                .target_is_missing
        );
    }
}

/// A namespace has not all of the keys, and cannot set what it sees of the machine.
#[test]
fn sysctls_of_another_namespace_are_seen_and_not_set() {
    let output = host::exec::Output {
        status: 0,
        stdout: b"net.ipv4.tcp_congestion_control = bbr\n\
            net.ipv4.tcp_available_congestion_control = reno bbr cubic\n\
            net.ipv4.tcp_allowed_congestion_control = reno\n\
            net.core.rmem_max = 4194304\nnet.ipv4.tcp_rmem = 4096\t131072\t33554432\n"
            .to_vec(),
        stderr: Vec::new(),
    };
    let state = |id: &str| {
        let knob = knob::find(System::Linux, id).unwrap();
        knob.parse(&Target::Host, std::slice::from_ref(&output))
    };
    let words = ["reno", "bbr"].map(str::to_owned).to_vec();
    assert_eq!(
        state("tcp.congestion_control").unwrap().allowed,
        Allowed::Words(words)
    );
    let largest = state("net.rmem_max").unwrap();
    assert!(english(&largest.fixed_because.unwrap()).contains("first network namespace"));
    let buffer = Value::Text("4096 131072 33554432".into());
    assert_eq!(state("tcp.rmem").unwrap().value, buffer);
    let reason = state("net.netdev_backlog").unwrap_err().reason;
    assert_eq!(
        english(&reason),
        "the kernel has no `net.core.netdev_max_backlog` there"
    );
}

/// `docs/knobs.md` is made by this test when `LINERATE_BLESS` is set.
#[test]
fn the_reference_is_what_the_catalogue_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/knobs.md");
    if std::env::var_os("LINERATE_BLESS").is_some() {
        std::fs::write(path, knob::reference()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == knob::reference(),
        "docs/knobs.md is stale: run `LINERATE_BLESS=1 cargo test -p host reference`"
    );
}

#[test]
fn what_never_met_a_real_system_says_so_in_each_page_and_once_in_the_reference() {
    for knob in KNOBS {
        let is_said = knob::page(knob).contains("- unproven: ");
        assert_eq!(is_said, knob.system != System::Linux, "{}", knob.id);
    }
    let reference = knob::reference();
    assert_eq!(reference.matches("Unproven: ").count(), 2);
    assert!(reference.contains("never run on a real Mac."));
}

#[test]
fn a_line_of_samba_is_added_and_taken_out_and_nobody_elses_is_touched() {
    let model = Model::new("model");
    let host = model.host();
    let sendfile = knob::find(System::Linux, "smb.server.sendfile").unwrap();
    let media = target(sendfile);
    let state = read(&host, sendfile).unwrap();
    let steps = sendfile.plan(&media, &state, &Value::Switch(true)).unwrap();
    let words = |argv: &[String]| argv[4..].join("|");
    let mark = "/etc/samba/smb.conf|use sendfile of media";
    assert_eq!(
        words(&steps[0].run.argv),
        format!("{mark}|media|use sendfile = yes")
    );
    assert_eq!(words(&steps[0].undo.argv), mark);
    host.exec.run(&[steps[0].run.clone()]).unwrap();
    // An earlier line of ours gets its value again.
    let state = read(&host, sendfile).unwrap();
    assert_eq!(state.value, Value::Switch(true));
    let steps = sendfile
        .plan(&media, &state, &Value::Switch(false))
        .unwrap();
    assert_eq!(
        words(&steps[0].undo.argv),
        format!("{mark}|media|use sendfile = yes")
    );

    let absent = Target::Share("none".into());
    let outputs = host.exec.run(&sendfile.read(&absent).unwrap()).unwrap();
    assert!(
        sendfile
            .parse(&absent, &outputs)
            .unwrap_err()
            .target_is_missing
    );
    for odd in ["", "a]b", "a\nb", " a", "%U"] {
        assert!(
            sendfile.read(&Target::Share(odd.into())).is_err(),
            "{odd:?}"
        );
    }
}

#[test]
fn a_configuration_elsewhere_is_looked_at_and_not_edited() {
    let output = |stdout: &str, stderr: &str| host::exec::Output {
        status: 0,
        stdout: stdout.into(),
        stderr: stderr.into(),
    };
    let multichannel = knob::find(System::Linux, "smb.server.multichannel").unwrap();
    let said = "[global]\n\tServer Multi Channel Support = No\n[x]\n\tpath = /x\n";
    let shown = output(
        said,
        "Load smb config files from /opt/smb.conf\nLoaded services file OK.\n",
    );
    let state = multichannel.parse(&Target::Host, &[shown, output("", ""), output("", "")]);
    let state = state.unwrap();
    assert_eq!(state.value, Value::Switch(false));
    assert!(english(&state.fixed_because.unwrap()).contains("/opt/smb.conf"));
    for garbage in [
        "",
        "[global]\n\tserver multi channel support = maybe\n",
        "\0\n=\n[\n",
    ] {
        let outputs = [output(garbage, ""), output("", ""), output("", "")];
        assert!(
            multichannel.parse(&Target::Host, &outputs).is_err(),
            "{garbage:?}"
        );
    }
}
